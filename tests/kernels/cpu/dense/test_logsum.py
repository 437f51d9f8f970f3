"""The engine of log-sum-exp against compiled sums of terms: products, closures, factors, stacks, whatever the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.choose import by_element
from semiring.kernels.cpu.dense.engine import DenseKernel
from semiring.kernels.cpu.dense.logsum import LogSumKernel
from semiring.kernels.cpu.dense.small import closes_by_powers, ufunc
from semiring.kernels.lowering.general import general

inf, nan = np.inf, np.nan
SOFT_MIN = sr.Semiring("soft minimum", add=lambda a, b: -np.logaddexp(-a, -b), mul=np.add, zero=inf, one=0.0,
                       star=lambda a: np.where(a > 0, np.log1p(-np.exp(-np.maximum(a, 0))), -inf))
BINARY = sr.Semiring("powers of two", add=np.logaddexp2, mul=np.add, zero=-inf, product_only=True)
WALKS_OF_TWO = sr.Semiring("walks of powers of two", add=np.logaddexp2, mul=np.add, zero=-inf, one=0.0,
                           star=lambda a: np.where(a < 0, -np.log2(-np.expm1(np.minimum(a, 0) * np.log(2))), inf))


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


def close_by_powers(S: sr.Semiring, D: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The closures of a stack, and which are left to the general way."""
    low = by_element(S, D.dtype)
    assert low is not None and closes_by_powers(low)
    found, strange = ufunc(low, "closure")(D)
    return found, strange


@settings(max_examples=60)
@given(
    st.sampled_from([sr.log, SOFT_MIN, WALKS_OF_TWO]), st.sampled_from(["f4", "f8"]), st.integers(0, 40),
    st.sampled_from([0.0, 1.0, 30.0, 100.0, 1000.0]), st.sampled_from([0.0, 0.2, 0.9]), st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_small_closures_by_powers(
    S: sr.Semiring, dtype: str, n: int, scale: float, absent: float, beyond: bool, seed: int
) -> None:
    """What is not left to the general way is what that has, in any layout; and near numbers are never left to it."""
    random, low = np.random.default_rng(seed), general(S, np.dtype(dtype))
    A = -np.abs(random.normal(size=(5, n, n), scale=scale)) - np.log(max(n, 1)) - 1
    if beyond:  # cycles are less than 1, though some edges are more
        A += (far := random.normal(size=(5, n, 1), scale=scale)) - far.swapaxes(1, 2)
    A[random.random(A.shape) < absent] = -inf
    D = np.asarray(-A if S is SOFT_MIN else A / np.log(2) if S is WALKS_OF_TWO else A, dtype)
    wanted = D.copy()
    assert (DenseKernel(low).close_stack(wanted) < 0).all()
    for X in (D, np.repeat(D, 2, 2)[:, ::-1, ::2][:, ::-1], D.swapaxes(1, 2).copy().swapaxes(1, 2)):
        found, strange = close_by_powers(S, X)
        assert not strange.any() or scale * max(n, 1) > 100
        near(found[~strange], wanted[~strange], 8 * scale)
    kernel = LogSumKernel(low)
    kernel.walks_repay = lambda lowering, terms: True
    found = D.copy()
    assert (kernel.close_stack(found) < 0).all()
    near(found, wanted, 8 * scale)


@pytest.mark.parametrize("S", [sr.log, SOFT_MIN, WALKS_OF_TWO])
def test_paths_whose_powers_underflow_are_found(S: sr.Semiring) -> None:
    sign = -1.0 if S is SOFT_MIN else 1.0
    D = np.full((3, 6, 6), -inf)
    D[0, range(5), range(1, 6)] = -400  # 2 edges are less than any number
    D[1, range(5), range(1, 6)] = -20
    D[2], D[2, 0, 1] = -30, -800  # and there is a better walk
    found, strange = close_by_powers(S, sign * D)
    assert strange.tolist() == [True, False, False] and np.isclose(sign * found[1, 0, 5], -100)
    assert np.isclose(sign * found[2, 0, 1], -60 + np.log(4) / (np.log(2) if S is WALKS_OF_TWO else 1))
    answer = sr.closure(sign * D, S)
    assert np.isclose(sign * answer[0, 0, 5], -2000) and np.allclose(answer[1:], found[1:])


@pytest.mark.parametrize("wrong", [nan, inf, 0.0, 800.0, 1e308, -1e-17])
def test_what_has_no_sum_of_powers_is_left_to_the_general_way(wrong: float) -> None:
    for n in (1, 3, 9):
        D = np.full((3, n, n), -4.0)
        D[1, n // 2, n // 2] = wrong
        assert close_by_powers(sr.log, D)[1].tolist() == [False, True, False]
        D[1] = np.triu(np.full((n, n), 300.0), 1)
        D[1][np.tril_indices(n)] = -inf
        assert close_by_powers(sr.log, D)[1].tolist() == [False, n > 1, False]


def test_small_stars_keep_their_digits() -> None:
    for a in (-0.5, -5.0, -50.0, -500.0):
        found, strange = close_by_powers(sr.log, np.array([[[a]]]))
        assert not strange.any() and np.isclose(found[0, 0, 0], -np.log1p(-np.exp(a)), rtol=1e-14, atol=0)


def test_other_stars_go_term_by_term() -> None:
    """Those that exist for less, as derived ones do, have their own refusals."""
    near_one = sr.Semiring("walks that leave", add=np.logaddexp, mul=np.add, zero=-inf, one=0.0,
                           star=lambda a: np.where(a < -0.1, -np.log1p(-np.exp(np.minimum(a, 0))), nan))
    derived = sr.Semiring("derived", add=np.logaddexp, mul=np.add, zero=-inf, one=0.0)
    for S in (near_one, derived):
        assert not closes_by_powers(general(S, np.dtype("f8")))
        with pytest.raises(sr.SemiringError):
            sr.closure(np.full((1, 1), -1e-9), S)


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
