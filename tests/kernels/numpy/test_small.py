"""Small products and closures by NumPy: right, or declined."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.choose import by_element
from semiring.kernels.lowering.general import general
from semiring.kernels.numpy.small import SmallArrays, by_blas, fits
from semiring.matrices import BUILDERS

F8 = np.dtype("f8")
MIN_PLUS = SmallArrays(general(sr.min_plus, F8))


@pytest.mark.parametrize(("a", "b"), [((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((1, 1), (1, 1))])
def test_products(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    A, B = rng.random(a), rng.random(b)
    wanted = BUILDERS["matmul"](A, B, sr.min_plus).answer()
    found = MIN_PLUS.product(A, B)
    assert type(found) is type(wanted) and np.array_equal(found, wanted)


@pytest.mark.parametrize("mul", [lambda a, b: b, lambda a, b: a, lambda a, b: 1.0], ids=["second", "first", "one"])
@pytest.mark.parametrize(("a", "b"), [((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((3, 1), (1, 1)),
                                      ((3, 1), (1,)), ((1, 2), (2, 3))])
def test_products_whose_terms_take_one_operand_only(mul, a: tuple[int, ...], b: tuple[int, ...]) -> None:
    S = sr.Semiring("one operand", add=np.minimum, mul=mul, zero=np.inf, product_only=True)
    rng = np.random.default_rng(0)
    A, B = rng.random(a), rng.random(b)
    terms = np.frompyfunc(mul, 2, 1)(A[..., None] if len(b) == 2 else A, B).astype(float)
    wanted = terms.min(-2 if len(b) == 2 else -1)
    found = sr.matmul(A, B, S)
    assert np.shape(found) == np.shape(np.matmul(A, B)) and np.array_equal(found, wanted)


SOFT_MINIMUM = sr.Semiring("soft minimum", add=lambda a, b: -np.logaddexp(-a, -b), mul=np.add, zero=np.inf, one=0.0)


@pytest.mark.parametrize("S", [sr.log, SOFT_MINIMUM], ids=lambda S: S.name)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(("a", "b"), [((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((3, 1), (1, 2))])
def test_log_sums_take_a_power_for_each_element_where_none_is_lost(
    S: sr.Semiring, dtype: str, a: tuple[int, ...], b: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else, and where infinities or numbers near the largest one meet, a power for each term: of as many digits."""
    rng = np.random.default_rng(1)
    arrays, most, calls = SmallArrays(general(S, np.dtype(dtype))), float(np.finfo(dtype).max), []
    by_terms = arrays._terms
    monkeypatch.setattr(arrays, "_terms", lambda *operands: calls.append(1) or by_terms(*operands))
    most = most if S is sr.log else -most
    for scale, top, terms in [(1.0, 0.0, 0), (1.0, 30.0, 0), (1e4, 0.0, None), (1.0, S.zero, 1), (1.0, most, 1)]:
        A, B = ((scale * rng.normal(size=shape)).astype(dtype) for shape in (a, b))
        A.flat[0] = top
        if top == S.zero:
            A[...] = S.zero
        calls.clear()
        found, wanted = arrays.product(A, B), BUILDERS["matmul"](A.astype("f8"), B.astype("f8"), S).answer()
        assert terms is None or len(calls) == terms
        assert np.shape(found) == np.shape(wanted) and np.result_type(found) == dtype
        assert np.allclose(found, wanted.astype(dtype) if top == most else wanted, rtol=30 * np.finfo(dtype).eps,
                           atol=60 * np.finfo(dtype).eps)


@pytest.mark.parametrize(("dtype", "far"), [("f4", 100.0), ("f8", 740.0)])
def test_log_sums_of_powers_that_underflow_go_by_terms(dtype: str, far: float) -> None:
    """Such powers have few digits: without the least power that is believed, none of 8 digits would be right."""
    arrays = SmallArrays(general(sr.log, np.dtype(dtype)))
    A, B = np.array([[0, -far]], dtype), np.array([[-far], [0]], dtype)
    assert np.allclose(arrays.product(A, B), np.log(2) - far, rtol=4 * np.finfo(dtype).eps)


def test_what_is_declined() -> None:
    A = np.ones((3, 3))
    for B in (np.ones((1, 3)), np.ones((2, 3, 3)), np.array([[np.nan] * 3] * 3)):
        assert MIN_PLUS.product(A, B) is None
    assert MIN_PLUS.product(np.full((1, 1), np.inf), np.full((1, 1), -np.inf)) is None
    assert MIN_PLUS.closure(-A) is None and MIN_PLUS.closure(A[:2]) is None and MIN_PLUS.closure(A[None]) is None
    assert MIN_PLUS.product(np.ones((300, 300)), np.ones((300, 300))) is None  # whose terms would take much memory


def test_closures() -> None:
    A = np.random.default_rng(0).integers(1, 9, (7, 7)).astype(float)
    assert np.array_equal(MIN_PLUS.closure(A), BUILDERS["closure"](A, sr.min_plus).answer())


def test_integers() -> None:
    low = by_element(sr.min_plus, np.dtype("i1"))
    assert low is not None and fits(low)
    arrays, most = SmallArrays(low), 127
    A = np.array([[1, most], [2, 60]], "i1")
    assert arrays.product(A, A).tolist() == [[2, most], [3, 120]]
    assert arrays.product(A, np.array([most, most], "i1")).tolist() == [most, most]
    assert arrays.product(A[0], A[1]) == 3
    A[1, 0] = -128  # the other limit
    assert arrays.product(A, A) is None
    assert arrays.product(np.full((2, 2), 100, "i1"), np.full((2, 2), 100, "i1")) is None  # 200


def test_sums_of_products_come_of_finite_numbers() -> None:
    arrays, A = SmallArrays(general(sr.plus_times, F8)), np.eye(2)
    assert arrays.product(A, A).tolist() == A.tolist()
    A[0, 1] = np.inf
    assert arrays.product(A, A) is None


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize(("a", "b"), [
    ((m, k)[2 - x:], (k, n)[:y])
    for m in (1, 2, 5) for k in (1, 2, 5) for n in (1, 2, 5) for x in (1, 2) for y in (1, 2)])
def test_zeros_hide_nothing_that_is_not_finite(a: tuple[int, ...], b: tuple[int, ...], bad: float, dtype: str) -> None:
    """BLAS does not read what it would multiply by a single 0."""
    multiply = by_blas(general(sr.plus_times, np.dtype(dtype)))
    for left in (False, True):
        A, B = np.zeros(a, dtype), np.zeros(b, dtype)
        (A if left else B).flat[0] = bad
        assert multiply(A, B) is None
        with pytest.raises(sr.SemiringError, match=r"\] is (NaN|∞)"):
            sr.matmul(A, B, sr.plus_times)


def test_carriers_are_tested() -> None:
    arrays = SmallArrays(general(sr.viterbi, F8))
    assert arrays.product(np.full((1, 1), 0.5), np.ones((1, 1))) == 0.5
    assert arrays.product(np.full((1, 1), 0.5), np.full((1, 1), 2.0)) is None
    assert arrays.closure(np.full((1, 1), 2.0)) is None


def test_carriers_are_tested_before_numbers_are_multiplied_by_blas() -> None:
    S = sr.Semiring("shares", add=np.add, mul=np.multiply, zero=0, one=1, carrier=lambda a: (a >= 0) & (a < np.inf))
    shares, A = by_blas(general(S, F8)), np.array([[0.5, 0.25], [0.0, 1.0]])
    assert shares(A, A).tolist() == (A @ A).tolist() and shares(A[0], A).tolist() == (A[0] @ A).tolist()
    assert shares(A, -A) is None and shares(-A, A) is None and shares(A, np.full((2, 2), np.inf)) is None
    assert by_blas(general(sr.plus_times, F8))(A, -A).tolist() == (A @ -A).tolist()


@pytest.mark.parametrize(("S", "dtype"), [(sr.counting, "i8"), (sr.boolean, "i1"), (sr.min_plus, "f2")])
def test_what_numpy_has_no_function_for(S: sr.Semiring, dtype: str) -> None:
    assert not fits(general(S, np.dtype(dtype)))
