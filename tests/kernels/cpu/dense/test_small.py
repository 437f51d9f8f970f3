"""The ufuncs of small products and closures: NumPy's shapes, strides and stacks; anything unusual is reported."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.choose import by_element
from semiring.kernels.cpu.dense.small import CLOSURES, PRODUCTS, fits, ufunc

F8 = np.dtype("f8")


def of(S: sr.Semiring, dtype: str, verb: str = "product") -> Any:
    low = by_element(S, np.dtype(dtype))
    assert low is not None and fits(low)
    return ufunc(low, verb)


def test_shapes_are_those_of_matmul() -> None:
    product, rng = of(sr.min_plus, "f8"), np.random.default_rng(0)
    for a, b in [((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((2, 1, 3, 4), (5, 4, 2)),
                 ((130, 70), (70, 90)), ((1, 200), (200, 1))]:
        A, B = rng.random(a), rng.random(b)
        C, strange = product(A, B)
        assert C.shape == np.matmul(A, B).shape and not np.any(strange)
        left, right = np.atleast_2d(A), B[:, None] if B.ndim == 1 else B
        wanted = (left[..., :, :, None] + right[..., None, :, :]).min(-2)
        assert np.array_equal(np.ravel(C), np.ravel(wanted))


def test_one_strange_matrix_of_a_stack_is_reported() -> None:
    A = np.zeros((3, 2, 2))
    A[1, 0, 1] = np.nan
    assert of(sr.min_plus, "f8")(A, np.zeros((2, 2)))[1].tolist() == [False, True, False]
    A[1, 0, 1], A[2, 0, 0] = 0.0, -1.0  # a negative cycle
    assert of(sr.min_plus, "f8", "closure")(A)[1].tolist() == [False, False, True]


def test_orders_above_the_tile_are_reported() -> None:
    close = of(sr.min_plus, "f8", "closure")
    assert not close(np.full((64, 64), np.inf))[1] and close(np.full((65, 65), np.inf))[1]


@pytest.mark.parametrize(("dtype", "wrong"), [("i1", -128), ("i4", -(2**31)), ("i8", 2**60), ("u8", 2**60)])
def test_integers_that_are_no_usual_elements_are_reported(dtype: str, wrong: int) -> None:
    product, A = of(sr.min_plus, dtype), np.full((2, 2), 3, dtype)
    most = np.iinfo(dtype).max
    assert not product(A, A)[1] and product(A, A)[0].tolist() == [[6, 6], [6, 6]]
    A[0] = most  # which stands for ∞
    C, strange = product(A, A)
    assert not strange and C.tolist() == [[most, most], [6, 6]]
    A[0, 0] = wrong
    assert product(A, A)[1]


def test_sums_that_leave_their_dtype_are_reported() -> None:
    A = np.full((2, 2), 100, "i1")
    assert of(sr.min_plus, "i1")(A, A)[1] and of(sr.counting, "i1")(A, A)[1]


def test_carriers_are_tested() -> None:
    product, A = of(sr.viterbi, "f8"), np.full((2, 2), 0.5)
    assert not product(A, A)[1]
    A[1, 1] = 1.5
    assert product(A, A)[1]


def test_what_is_compiled_for_a_purpose() -> None:
    low = by_element(sr.min_plus, F8)
    assert low is not None
    assert [f.name for f in PRODUCTS.code(low)] == ["small_product", "multiply"]
    assert [f.name for f in CLOSURES.code(low)] == ["small_closure", "multiply", "close_pivots"]


def test_algebras_whose_elements_enter_alike_share_a_module() -> None:
    lows = [by_element(S, F8) for S in (sr.min_plus, sr.max_plus)]
    names = {PRODUCTS.code(low)[0].text for low in lows if low is not None}
    assert len(names) == 1


@pytest.mark.parametrize("dtype", ["f2", "O"])
def test_what_has_no_ufunc(dtype: str) -> None:
    low = by_element(sr.min_plus, np.dtype(dtype))
    assert low is None or not fits(low)


def test_carriers_may_call_functions_that_the_operations_do_not() -> None:
    """Here the remainder, which the compiled module imports."""
    S = sr.Semiring("divisors of 60", add=np.lcm, mul=np.gcd, zero=1, one=60,
                    carrier=lambda a: (a > 0) & (60 % np.maximum(a, 1) == 0))
    A = np.array([[12, 1], [30, 20]], "i4")
    C, strange = of(S, "i4")(A, A)
    assert not strange and C.tolist() == [[12, 1], [30, 20]]
    assert of(S, "i4")(A, A - 5)[1]
