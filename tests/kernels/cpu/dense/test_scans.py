"""Compiled scans: cut into any number of chunks, from either end, they are products one after the other."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.cpu.dense import scans

inf = np.inf


def folded_numbers(A: np.ndarray, reverse: bool) -> np.ndarray:
    total = A[0]
    for B in A[1:]:
        left, right = (B, total) if reverse else (total, B)
        total = (left[:, :, None] + right[None]).min(1)
    return total


@pytest.mark.parametrize("chunks", [1, 2, 3, 7])
@pytest.mark.parametrize("reverse", [False, True])
def test_compiled_scans_are_cut_anywhere(monkeypatch: pytest.MonkeyPatch, chunks: int, reverse: bool) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", "always")
    monkeypatch.setattr(scans, "chunks_worth", lambda *_: chunks)
    rng = np.random.default_rng(chunks)
    A = rng.integers(0, 50, (20, 3, 6, 6)).astype("f4")
    A[rng.random(A.shape) < 0.3] = inf
    found = sr.scan(A, sr.min_plus, reverse=reverse)
    for b in range(3):
        for t in range(20):
            want = folded_numbers(A[t:, b][::-1] if reverse else A[: t + 1, b], reverse)
            assert np.array_equal(found[t, b], want)
    with_ones = sr.scan(A, sr.min_plus, reverse=reverse, initial=sr.min_plus.eye(6, "f4"))
    assert np.array_equal(with_ones, found)
    A[11, 1, 2, 3] = np.nan
    with pytest.raises(sr.SemiringError, match=r"stack\[11, 1, 2, 3\] is NaN"):
        sr.scan(A, sr.min_plus, reverse=reverse)


@pytest.mark.parametrize("chunks", [1, 2, 3, 4])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_product_out_of_range_is_refused_wherever_it_is(
    monkeypatch: pytest.MonkeyPatch, chunks: int, reverse: bool
) -> None:
    """One of two sequences meets ∞ − ∞ at one step, and the products after it are zero."""
    monkeypatch.setenv("SEMIRING_COMPILE", "always")
    monkeypatch.setattr(scans, "chunks_worth", lambda *_: chunks)
    for t in range(1, 13):
        A = np.broadcast_to(np.eye(2, dtype="f4"), (2, 13, 2, 2)).copy()
        B = A[1].swapaxes(-1, -2)[::-1] if reverse else A[1]
        B[0], B[t], B[t + 1 :] = [[3e38, 3e38], [0, 0]], [[2, 0], [0, -2]], 0
        at = 12 - t if reverse else t
        assert np.isinf(sr.scan(A, sr.plus_times, axis=1, reverse=reverse)[1, at, 0, 0])
        B[t] = [[2, 0], [-2, 0]]
        with pytest.raises(sr.OutOfRangeError, match=rf"no value at \[1, {at}, 0, 0\]"):
            sr.scan(A, sr.plus_times, axis=1, reverse=reverse)
        if t > 1:  # then the product of a chunk that ends here is in range
            B[t - 1] = 0.5
            with pytest.raises(sr.OutOfRangeError, match=rf"no value at \[1, {at}, 0, 0\]"):
                sr.scan(A, sr.plus_times, axis=1, reverse=reverse)
