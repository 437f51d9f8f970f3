"""Products of sequences on the device: their kernels run on the host, and are compared with scans on the CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu.compiled import Report, host_of, is_available
from gpu.host import Host
from gpu.sums import TRIANGULAR
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cuda.choose import choose
from semiring.kernels.cuda.dense import chains
from semiring.kernels.cuda.dense.chains import Before, Chains
from semiring.kernels.cuda.dense.exchange import NOT_A_NUMBER, OUTSIDE
from semiring.kernels.facts import DeviceFacts

pytestmark = pytest.mark.skipif(not is_available(), reason="there is no compiler for the host")

CASES = {
    "min-plus f4": (sr.min_plus, "f4"), "max-min f8": (sr.max_min, "f8"), "plus-times f8": (sr.plus_times, "f8"),
    "log f4": (sr.log, "f4"), "log f8": (sr.log, "f8"), "boolean": (sr.boolean, "?"),
    "plus-min f8": (sr.plus_min, "f8"),
    "triangular": (TRIANGULAR, TRIANGULAR.default_dtype),
}


def stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Host:
    host = host_of(monkeypatch, folder, chains, multiprocessors=1)
    chains._module.cache_clear()
    chains._made.clear()
    return host


def kernels(name: str, reverse: bool = False, steps: int = 9) -> tuple[sr.Semiring, Chains]:
    S, dtype = CASES[name]
    low = choose(S, np.dtype(dtype), DeviceFacts(), max(steps + 2, 4), in_place=False)
    return S, Chains(low, True, reverse)


def numbers(S: sr.Semiring, dtype: Any, shape: tuple[int, ...], seed: int, zeros: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.names:
        found = np.empty(shape, dtype)
        for f in dtype.names:
            found[f] = rng.integers(0, 9, shape)
    elif S.is_tropical or S.selective or S is sr.plus_min:
        found = rng.integers(0, 9, shape).astype(dtype)
    elif S is sr.plus_times:
        found = rng.normal(size=shape, scale=shape[-1] ** -0.5).astype(dtype)
    else:
        found = rng.normal(size=shape, scale=9).astype(dtype)
    found[rng.random(shape) < zeros] = S.zero_in(dtype)
    return found


def folded(S: sr.Semiring, A: np.ndarray, X: np.ndarray | None, reverse: bool) -> np.ndarray:
    """All products, one after the other."""
    total, found = X, []
    for t in range(A.shape[1]):
        pair = (A[:, t], total) if reverse else (total, A[:, t])
        total = A[:, t] if total is None else sr.matmul(*pair, S, device="cpu")
        found.append(total)
    return np.stack(found, 1)


def compare(S: sr.Semiring, found: Any, wanted: np.ndarray) -> None:
    found = np.array(found)
    if S in (sr.log, sr.plus_times):
        eps, steps = np.finfo(wanted.dtype).eps, wanted.shape[1]
        np.testing.assert_allclose(found, wanted, rtol=8 * eps * steps, atol=64 * steps * eps)
    else:
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.slow
@settings(max_examples=24, deadline=None)
@given(
    name=st.sampled_from(list(CASES)), n=st.sampled_from([1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 20, 33]),
    steps=st.sampled_from([1, 2, 5, 40, 131, 300]), batch=st.sampled_from([1, 1, 3]), reverse=st.booleans(),
    m=st.sampled_from([None, None, 1, 3, 20]), zeros=st.sampled_from([0, 0.2, 0.9]), gaps=st.booleans(),
    length=st.sampled_from([2, 5, 16]),
)
def test_all_products_of_sequences(
    folder: Path, name: str, n: int, steps: int, batch: int, reverse: bool, m: int | None, zeros: float, gaps: bool,
    length: int,
) -> None:
    steps = min(steps, 40 if n < 12 else 9) if n > 4 else steps
    with pytest.MonkeyPatch.context() as monkeypatch:
        check(stand_in(monkeypatch, folder), monkeypatch, name, n, steps, batch, reverse, m, zeros, gaps, length)


@pytest.mark.parametrize(("name", "n", "steps", "batch", "reverse", "m", "gaps"), [
    ("min-plus f4", 4, 40, 2, False, None, False), ("min-plus f4", 5, 9, 1, True, 3, True),
    ("log f4", 4, 40, 1, True, None, False), ("plus-min f8", 3, 12, 2, False, 1, False),
])
def test_some_sequences(
    host: Host, monkeypatch: pytest.MonkeyPatch, name: str, n: int, steps: int, batch: int, reverse: bool,
    m: int | None, gaps: bool,
) -> None:
    check(host, monkeypatch, name, n, steps, batch, reverse, m, 0.2, gaps, 5)


def check(
    host: Host, monkeypatch: pytest.MonkeyPatch, name: str, n: int, steps: int, batch: int, reverse: bool,
    m: int | None, zeros: float, gaps: bool, length: int,
) -> None:
    """All products, and the last ones, in chunks of this length if there are several."""
    monkeypatch.setattr(chains, "LEAST_LENGTH", length)
    monkeypatch.setattr(chains, "OVERHEAD", 0)
    S, kernel = kernels(name, reverse, steps)
    dtype = CASES[name][1]
    A = numbers(S, dtype, (batch, steps, n, n), steps, zeros)
    X = None if m is None else numbers(S, dtype, (batch, *((n, m) if reverse else (m, n))), 1, zeros)
    if not kernel.fits(n, m or n):
        assert np.dtype(dtype).itemsize > 4
        return
    a = host.array(A)
    if gaps:
        wide = host.array(np.zeros((batch, steps, n + 1, n + 3), A.dtype))
        wide[:, :, 1:, 3:] = A
        a = wide[:, :, 1:, 3:]
    stored = None if X is None else host.array(X if kernel.low.is_identity else ordered(X))
    before = Before() if stored is None else Before(stored.data.ptr, (m or 0) * n)
    P, found = host.empty((batch, steps, *(A.shape[2:] if X is None else X.shape[1:])), A.dtype), Report(host)
    associative = not S.product_only
    kernel.prefixes(P, a, before, found, True, associative)  # type: ignore[arg-type]
    compare(S, P, folded(S, A, X, reverse))
    assert not found.flags
    if X is None:
        sums = np.array(kernel.product(a, found, True, associative))  # type: ignore[arg-type]
        last = sums if kernel.low.is_identity else ordered(sums).view(kernel.low.dtype)
        compare(S, last, folded(S, A, None, reverse)[:, -1:])


def ordered(X: np.ndarray) -> np.ndarray:
    """Floats that are only compared, as integers of their order; and back."""
    bits = X.view(f"i{X.itemsize}")
    return bits ^ (bits >> (8 * X.itemsize - 1) & np.iinfo(bits.dtype).max)


def test_elements_that_are_none_are_seen_wherever_they_are(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the first chunk and the last one, which needs no product of its own, and if there is one chunk."""
    monkeypatch.setattr(chains, "OVERHEAD", 0)
    S = sr.viterbi
    kernel = Chains(choose(S, np.dtype("f4"), DeviceFacts(), 99, in_place=False), True, False)
    for steps in (3, 40):
        monkeypatch.setattr(chains, "LEAST_LENGTH", 5)
        for value, flag in ((np.nan, NOT_A_NUMBER), (-1, OUTSIDE), (0.5, 0)):
            for at in ((0, 0, 0), (steps // 2, 3, 1), (steps - 1, 3, 3)):
                A = np.ones((1, steps, 4, 4), "f4")
                A[(0, *at)] = value
                found = Report(host)
                kernel.prefixes(host.empty(A.shape, "f4"), host.array(A), found=found, looks=True)  # type: ignore
                assert found.flags & (NOT_A_NUMBER | OUTSIDE) == flag or (flag and found.flags & flag)
