"""Chains of rows on the device: the kernel runs on the host, and is compared with `forward` on the CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu.compiled import Report, host_of, is_available
from gpu.host import Host

import semiring as sr
from semiring.kernels.cuda.choose import choose
from semiring.kernels.cuda.dense import steps
from semiring.kernels.cuda.dense.exchange import NOT_A_NUMBER
from semiring.kernels.facts import DeviceFacts
from semiring.shapes.sequences.layout import layout

pytestmark = pytest.mark.skipif(not is_available(), reason="there is no compiler for the host")


def stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Host:
    host = host_of(monkeypatch, folder, steps)
    steps._function.cache_clear()
    return host


def numbers(S: sr.Semiring, dtype: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    found = rng.normal(size=shape, scale=9) if S is sr.log else rng.integers(0, 9, shape)
    found = found.astype(dtype)
    found[rng.random(shape) < 0.2] = S.zero
    return found


@pytest.mark.parametrize(("S", "dtype", "n"), [
    (sr.min_plus, "f4", 5), (sr.max_plus, "f8", 16), (sr.log, "f4", 7), (sr.log, "f8", 4), (sr.min_plus, "f4", 40),
])
@pytest.mark.parametrize("reverse", [False, True])
def test_rows_of_sequences(host: Host, S: sr.Semiring, dtype: str, n: int, reverse: bool) -> None:
    """One matrix and many, with emissions and not, of different lengths, which may be 0."""
    x, e = numbers(S, dtype, (3, n), 0), numbers(S, dtype, (3, 9, n), 1)
    low = choose(S, np.dtype(dtype), DeviceFacts(), 19, in_place=False)
    for A, emissions, lengths in (
        (numbers(S, dtype, (n, n), 2), e, [9, 0, 4]), (numbers(S, dtype, (3, 8, n, n), 3), e, None),
        (numbers(S, dtype, (8, n, n), 4), None, [1, 9, 8]),
    ):
        found = layout(x.shape, A.shape, None if emissions is None else e.shape, lengths, None)
        given = found.sequences(*(None if X is None else host.array(X) for X in (x, A, emissions)))  # type: ignore
        out, back = host.array(np.full((27, n), S.zero, dtype)), host.array(np.zeros((27, n), "u1"))
        for wins in (False, True) if S.selective else (False,):
            seen = Report(host)
            steps.walk(low, given, out, back if wins else None, reverse, seen, True)  # type: ignore[arg-type]
            options: Any = {"emissions": emissions, "lengths": lengths, "reverse": reverse}
            wanted = sr.forward(x, A, S, **options)
            if S is sr.log:
                eps = np.finfo(dtype).eps
                np.testing.assert_allclose(np.array(out).reshape(3, 9, n), wanted, rtol=99 * eps, atol=999 * eps)
            else:
                np.testing.assert_array_equal(np.array(out).reshape(3, 9, n), wanted)
            if wins:
                best = sr.forward(x, A, S, argmax=True, **options)
                there = np.ones((3, 9), bool)
                there[:, -1 if reverse else 0] = False
                for s, length in enumerate(lengths or []):
                    there[s, length:] = False
                    there[s, max(length - 1, 0) if reverse else 0] = False
                mean = there[..., None] & (wanted != S.zero)
                np.testing.assert_array_equal(np.array(back).reshape(3, 9, n)[mean], best.back[mean])
            assert not seen.flags


def test_what_is_not_an_element_is_seen(host: Host) -> None:
    low = choose(sr.min_plus, np.dtype("f4"), DeviceFacts(), 19, in_place=False)
    for which in range(3):
        arrays = [np.ones((4,), "f4"), np.ones((4, 4), "f4"), np.ones((6, 4), "f4")]
        arrays[which][(*[-1] * (arrays[which].ndim - 1), 2)] = np.nan
        found = layout((4,), (4, 4), (6, 4), None, None)
        seen = Report(host)
        given = found.sequences(*map(host.array, arrays))  # type: ignore[arg-type]
        steps.walk(low, given, host.empty((6, 4), "f4"), None, False, seen, True)  # type: ignore[arg-type]
        assert seen.flags & NOT_A_NUMBER
