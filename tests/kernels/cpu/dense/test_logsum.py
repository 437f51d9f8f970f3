"""The engine of log-sum-exp against compiled sums of terms: products, closures, factors, stacks, whatever the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cpu.dense.engine import DenseKernel
from semiring.kernels.cpu.dense.logsum import LogSumKernel
from semiring.kernels.lowering.general import general

inf, nan = np.inf, np.nan
SOFT_MIN = sr.Semiring("soft minimum", add=lambda a, b: -np.logaddexp(-a, -b), mul=np.add, zero=inf, one=0.0,
                       star=lambda a: np.where(a > 0, np.log1p(-np.exp(-np.maximum(a, 0))), -inf))
BINARY = sr.Semiring("powers of two", add=np.logaddexp2, mul=np.add, zero=-inf, product_only=True)


def drawn(S: sr.Semiring, dtype: str, *shape: int, scale: float = 1.0, seed: int = 0) -> np.ndarray:
    """Numbers of one scale, a fifth of them absent."""
    random = np.random.default_rng(seed)
    X = random.normal(size=shape, scale=scale).astype(dtype)
    X[random.random(shape) < 0.2] = S.zero
    return X


def near(found: np.ndarray, wanted: np.ndarray, scale: float = 1.0) -> None:
    rtol = 64 * float(np.finfo(found.dtype).eps)
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol * (16 + scale))


@settings(max_examples=30)
@given(
    st.sampled_from([sr.log, SOFT_MIN, BINARY]), st.sampled_from(["f4", "f8"]), st.sampled_from([1.0, 40.0, 1000.0]),
    st.tuples(*[st.integers(1, 40)] * 3), st.booleans(), st.integers(0, 2**32 - 1),
)
def test_products(
    S: sr.Semiring, dtype: str, scale: float, shape: tuple[int, int, int], accumulate: bool, seed: int
) -> None:
    (m, k, n), low = shape, general(S, np.dtype(dtype))
    A, B = drawn(S, dtype, 2, m, k, scale=scale, seed=seed), drawn(S, dtype, 2, k, n, scale=scale, seed=seed + 1)
    C = drawn(S, dtype, 2, m, n, scale=scale, seed=seed + 2)
    wanted = C.copy()
    for kernel, out in ((LogSumKernel(low), C), (DenseKernel(low), wanted)):
        (kernel.multiply_add_stack if accumulate else kernel.multiply_stack)(out, A, B)
    near(C, wanted, scale)


@pytest.mark.parametrize("unruly", [inf, nan])
def test_what_is_no_number_has_the_general_answer(unruly: float) -> None:
    low = general(sr.log, np.dtype("f8"))
    A, B, C = (drawn(sr.log, "f8", 40, 40, seed=i) for i in range(3))
    A[3, 4], B[5, 6], C[7, 8] = unruly, unruly, unruly
    found, wanted = C.copy(), C.copy()
    LogSumKernel(low).multiply_add(found, A, B)
    DenseKernel(low).multiply_add(wanted, A, B)
    assert np.array_equal(np.isfinite(found), np.isfinite(wanted)) and np.array_equal(np.isnan(found), np.isnan(wanted))
    near(found, wanted)
    for line in (np.s_[3], np.s_[:, 6]):
        assert np.array_equal(found[line], wanted[line], equal_nan=True)


def test_in_place_and_nothing_is_compiled() -> None:
    kernel = LogSumKernel(general(sr.log, np.dtype("f8")))
    D, R = (drawn(sr.log, "f8", 50, 50, seed=i) for i in (1, 2))
    left, right = R.copy(), R.copy()
    kernel.left(D, left)
    kernel.right(right, D)
    for found, a, b in ((left, D, R), (right, R, D)):
        near(found, np.logaddexp.reduce(a[:, :, None] + b[None], axis=1))
    assert "module" not in vars(kernel) and "module" not in vars(kernel._compiled)


@pytest.mark.parametrize(("n", "scale"), [(60, 200.0), (700, 5.0)])
def test_threads_do_not_count(n: int, scale: float) -> None:
    """Neither for what is believed, nor for the strips, which are many in the larger one."""
    low = general(sr.log, np.dtype("f4"))
    A, found = drawn(sr.log, "f4", n, n, scale=scale), []
    for threads in (1, 2):
        kernel = LogSumKernel(low)
        kernel.threads = kernel._compiled.threads = threads
        found.append(np.empty_like(A))
        kernel.multiply(found[-1], A, A.T)
    assert np.array_equal(*found)


def test_what_a_strip_raises_is_raised() -> None:
    kernel, done = LogSumKernel(general(sr.log, np.dtype("f4"))), []
    kernel.threads = 3

    def work(s: slice, rows: slice) -> None:
        done.append(rows.start)
        if rows.start == 7:
            raise MemoryError("of a strip")

    strips = [(slice(1), slice(i, i + 1)) for i in range(40)]
    with pytest.raises(MemoryError, match="of a strip"):
        kernel._each(work, strips)
    done.clear()
    kernel._each(lambda s, rows: done.append(rows.start), strips)
    assert sorted(done) == list(range(40))


def paths(A: np.ndarray) -> np.ndarray:
    """log of (1 − eᴬ)⁻¹."""
    return np.asarray(np.log(np.linalg.inv(np.eye(len(A)) - np.exp(A))))


@pytest.mark.parametrize("compiled", ["always", "never"])
@pytest.mark.parametrize("method", ["auto", "blocked", "r-kleene", "elimination"])
def test_closures(method: str, compiled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", compiled)
    A = np.random.default_rng(4).normal(size=(200, 200)) - 8
    for S, D, wanted in ((sr.log, A, paths(A)), (SOFT_MIN, -A, -paths(A))):
        np.testing.assert_allclose(sr.closure(D, S, method=method, tile=48), wanted, rtol=1e-12, atol=1e-13)


def test_factors_solve() -> None:
    A, b = np.random.default_rng(5).normal(size=(150, 150)) - 8, np.random.default_rng(6).normal(size=(150, 7))
    wanted = np.log(np.linalg.solve(np.eye(150) - np.exp(A), np.exp(b)))
    np.testing.assert_allclose(sr.solve(A, b, sr.log), wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_the_front_door(dtype: str) -> None:
    A, B, C = (drawn(sr.log, dtype, 3, 50, 50, seed=i) for i in range(3))
    wide: list[Any] = [x.astype("f8") for x in (A, B, C)]
    wanted = np.logaddexp(wide[2], np.logaddexp.reduce(wide[0][..., None] + wide[1][:, None], axis=2))
    found = sr.matmul(A, B, sr.log, accumulate=C)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, wanted, rtol=8 * float(np.finfo(dtype).eps), atol=8 * float(np.finfo(dtype).eps))


def test_a_first_product_needs_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", "auto")
    S = sr.Semiring("new", add=lambda a, b: np.logaddexp2(b, a), mul=lambda a, b: b + a, zero=-inf, product_only=True)
    A = np.zeros((1000, 1000), np.float32)
    assert "NumPy" in str(sr.plan("matmul", A, A, S))
