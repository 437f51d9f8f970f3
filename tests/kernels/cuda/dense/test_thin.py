"""Small and thin products on the device: their kernels run on the host, and are compared with products on the CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu.compiled import Report, host_of, is_available
from gpu.host import Host
from gpu.sums import SOFT_MIN, TRIANGULAR
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cuda.choose import choose
from semiring.kernels.cuda.dense import thin
from semiring.kernels.cuda.dense.exchange import NOT_A_NUMBER, OUTSIDE
from semiring.kernels.cuda.dense.thin import Thin
from semiring.kernels.facts import DeviceFacts

pytestmark = pytest.mark.skipif(not is_available(), reason="there is no compiler for the host")

CASES = {
    "min-plus f4": (sr.min_plus, "f4"), "max-min f8": (sr.max_min, "f8"), "plus-times f8": (sr.plus_times, "f8"),
    "log f4": (sr.log, "f4"), "soft minimum f8": (SOFT_MIN, "f8"), "boolean": (sr.boolean, "?"),
}


def stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Host:
    host = host_of(monkeypatch, folder, thin)
    thin._module.cache_clear()
    return host


def kernels(name: str, looks: bool = True) -> tuple[sr.Semiring, Thin]:
    S, dtype = CASES[name]
    return S, Thin(choose(S, np.dtype(dtype), DeviceFacts(), 3, in_place=False), looks)


def numbers(S: sr.Semiring, dtype: str, shape: tuple[int, ...], seed: int, zeros: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    found = rng.normal(size=shape, scale=9) if S.name in ("log", "soft minimum") else rng.integers(0, 9, shape)
    found = found.astype(dtype)
    found[rng.random(shape) < zeros] = S.zero
    return found


def laid_out(host: Host, X: np.ndarray, layout: str) -> Any:
    """The matrices in memory by rows, by columns, or with gaps between rows and elements."""
    if layout == "columns":
        return host.array(np.ascontiguousarray(X.swapaxes(1, 2))).swapaxes(1, 2)
    if layout == "gaps":
        wide = host.array(np.zeros((len(X), X.shape[1] + 1, X.shape[2] + 3), X.dtype))
        wide[:, 1:, 3:] = X
        return wide[:, 1:, 3:]
    return host.array(X)


def compare(
    host: Host, name: str, shape: tuple[int, ...], layouts: tuple[str, str], accumulate: bool, zeros: float
) -> None:
    S, kernel = kernels(name)
    dtype, (batch, m, k, n) = CASES[name][1], shape
    A, B, C = (numbers(S, dtype, (batch, *s), i, zeros) for i, s in enumerate(((m, k), (k, n), (m, n))))
    assert kernel.fits(batch, m, k, n)
    c, found = laid_out(host, C, layouts[0]), Report(host)
    if layouts[0] == "columns":
        c = host.array(C)
    kernel(c, laid_out(host, A, layouts[0]), laid_out(host, B, layouts[1]), accumulate, found)  # type: ignore[arg-type]
    wanted = sr.matmul(A, B, S, device="cpu")
    if accumulate:
        wanted = S.over(wanted.dtype).add(C, wanted)
    if S.name in ("log", "soft minimum"):
        eps = np.finfo(wanted.dtype).eps
        np.testing.assert_allclose(np.array(c), wanted, rtol=8 * eps, atol=eps * (k + 64))
    else:
        np.testing.assert_array_equal(np.array(c), wanted)
    assert not found.flags


LAYOUTS = st.sampled_from(["rows", "columns", "gaps"])


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(list(CASES)), batch=st.sampled_from([1, 2, 9, 70]), m=st.integers(1, 33), k=st.integers(1, 33),
    n=st.integers(1, 33), layouts=st.tuples(LAYOUTS, LAYOUTS), accumulate=st.booleans(),
    zeros=st.sampled_from([0, 0.2, 0.9]),
)
def test_stacks_of_any_small_shape(
    folder: Path, name: str, batch: int, m: int, k: int, n: int, layouts: tuple[str, str], accumulate: bool,
    zeros: float,
) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        compare(stand_in(monkeypatch, folder), name, (batch, m, k, n), layouts, accumulate, zeros)


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(list(CASES)), batch=st.sampled_from([1, 3]), length=st.integers(65, 700),
    k=st.integers(65, 700), left=st.booleans(), layouts=st.tuples(LAYOUTS, LAYOUTS), accumulate=st.booleans(),
    zeros=st.sampled_from([0, 0.2, 1]),
)
def test_a_matrix_and_a_vector(
    folder: Path, name: str, batch: int, length: int, k: int, left: bool, layouts: tuple[str, str], accumulate: bool,
    zeros: float,
) -> None:
    m, n = (length, 1) if left else (1, length)
    with pytest.MonkeyPatch.context() as monkeypatch:
        compare(stand_in(monkeypatch, folder), name, (batch, m, k, n), layouts, accumulate, zeros)


@pytest.mark.parametrize("shape", [
    (1, 200, 16, 16), (1, 16, 5, 200), (1, 64, 64, 64), (1, 2, 30_000, 1), (1, 1, 30_000, 3), (1, 1, 9000, 1),
    (1, 130, 64, 33),
])
@pytest.mark.parametrize("name", ["min-plus f4", "log f4"])
def test_strips_and_parts(host: Host, name: str, shape: tuple[int, ...]) -> None:
    for layouts in (("rows", "rows"), ("columns", "columns")):
        compare(host, name, shape, layouts, False, 0.1)


@pytest.mark.parametrize("shape", [(7, 5, 6, 4), (1, 100, 90, 1), (1, 1, 90, 100)])
def test_elements_that_are_none_are_seen_wherever_they_are(host: Host, shape: tuple[int, ...]) -> None:
    """Each NaN, and each number outside of the carrier, in either operand."""
    batch, m, k, n = shape
    S, dtype = sr.viterbi, "f4"
    kernel, rng = Thin(choose(S, np.dtype(dtype), DeviceFacts(), 3, in_place=False), True), np.random.default_rng(0)
    for which, (rows, columns) in enumerate(((m, k), (k, n))):
        for value, flag in ((np.nan, NOT_A_NUMBER), (-1, OUTSIDE)):
            for at in [*rng.integers(0, batch * rows * columns, 6).tolist(), batch * rows * columns - 1]:
                operands = [np.ones((batch, *s), dtype) for s in ((m, k), (k, n))]
                operands[which].reshape(-1)[at] = value
                found = Report(host)
                kernel(host.empty((batch, m, n), dtype), *map(host.array, operands), found=found)  # type: ignore[arg-type]
                assert found.flags & flag


def test_arrays_as_they_lie(host: Host) -> None:
    """Vectors, matrices and stacks without a copy; others are left to copies."""
    S, kernel = kernels("min-plus f4")
    for shape, a, b in (
        ((1, 200, 90, 1), (200, 90), (90,)), ((1, 1, 90, 200), (90,), (90, 200)), ((1, 1, 9, 1), (9,), (9,)),
        ((7, 5, 6, 4), (7, 5, 6), (7, 6, 4)), ((7, 5, 6, 4), (5, 6), (7, 6, 4)), ((1, 5, 6, 1), (5, 6), (6,)),
    ):
        A, B = numbers(S, "f4", a, 0, 0.1), numbers(S, "f4", b, 1, 0.1)
        wanted = sr.matmul(A, B, S, device="cpu")
        for step in (1, 2):
            x, y = (host.array(np.repeat(X, step, axis=-1))[..., ::step] for X in (A, B))
            c = host.empty(np.shape(wanted) or (1,), "f4")
            copied = step == 2  # but columns of vectors have any step
            assert kernel.straight(shape, c, x, y) is not copied
            if not copied:
                np.testing.assert_array_equal(np.array(c).reshape(np.shape(wanted)), wanted)
    operands = (host.array(np.ones((2, 3, *s), "f4")) for s in ((5, 6), (6, 4)))
    assert not kernel.straight((6, 5, 6, 4), host.empty((6, 5, 4), "f4"), *operands)


def test_a_matrix_that_all_share(host: Host) -> None:
    S, kernel = kernels("min-plus f4")
    A, B = (numbers(S, "f4", s, 0, 0.1) for s in ((50, 8, 8), (8, 8)))
    b, c = host.array(B[None]), host.empty((50, 8, 8), "f4")
    shared = np.lib.stride_tricks.as_strided(b, (50, 8, 8), (0, *b.strides[1:]), subok=True)
    shared.host = b.host
    kernel(c, host.array(A), shared)
    np.testing.assert_array_equal(np.array(c), sr.matmul(A, B, S, device="cpu"))


def test_records_that_do_not_commute(host: Host) -> None:
    dtype = np.dtype([(name, "f8") for name in "pqr"])
    kernel, rng = Thin(choose(TRIANGULAR, dtype, DeviceFacts(), 3, in_place=False), True), np.random.default_rng(0)
    for batch, m, k, n in ((5, 7, 6, 5), (1, 90, 100, 1), (1, 1, 100, 90)):
        A, B = (np.zeros((batch, *s), dtype) for s in ((m, k), (k, n)))
        for X in (A, B):
            for name in "pqr":
                X[name] = rng.integers(0, 9, X.shape)
        for layout in ("rows", "columns"):
            c, found = host.empty((batch, m, n), dtype), Report(host)
            kernel(c, laid_out(host, A, layout), laid_out(host, B, layout), found=found)  # type: ignore[arg-type]
            np.testing.assert_array_equal(np.array(c), sr.matmul(A, B, TRIANGULAR, device="cpu"))
            assert not found.flags


def test_shapes_that_are_for_other_kernels() -> None:
    _, kernel = kernels("min-plus f4")
    assert not kernel.fits(1, 65, 65, 65) and not kernel.fits(9, 64, 65, 64) and not kernel.fits(0, 2, 2, 2)
    assert not kernel.fits(3, 0, 2, 2) and kernel.fits(1, 99, 9, 9) and not kernel.fits(2, 99, 9, 9)
