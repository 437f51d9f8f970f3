"""Shapes of products as NumPy has them, and what an answer may be written to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.solvers.products.arrays import can_hold, product_shape

sides = st.integers(0, 3)
shapes = st.lists(sides, max_size=4).map(tuple)


@settings(max_examples=150)
@given(shapes, shapes)
def test_shapes_are_those_of_numpys_product(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    try:
        expected = np.matmul(np.zeros(a), np.zeros(b)).shape
    except ValueError:
        with pytest.raises(sr.SemiringError, match=r"do not fit|do not broadcast|not single numbers"):
            product_shape(a, b)
        return
    found = product_shape(a, b)
    assert found.final == expected and product_shape(a, b, expected) == found
    assert found.depth == a[-1]
    left, right = found.operands  # the same as matrices
    assert left == (a if len(a) > 1 else (1, *a)) and right == (b if len(b) > 1 else (*b, 1))
    assert np.matmul(np.zeros(left), np.zeros(right)).shape == found.full
    assert np.prod(found.full) == np.prod(expected)


def test_fitting_by_luck_is_not_fitting() -> None:
    """Sides that may be drawn too rarely."""
    found = product_shape((4, 1, 2, 5), (3, 5, 6))
    assert found.full == found.final == (4, 3, 2, 6) and found.depth == 5
    found = product_shape((5,), (3, 5, 6))
    assert (found.full, found.final) == ((3, 1, 6), (3, 6))
    found = product_shape((3, 2, 5), (5,))
    assert (found.full, found.final) == ((3, 2, 1), (3, 2))
    assert product_shape((5,), (5,)).final == ()


@pytest.mark.parametrize(("a", "b", "c", "text"), [
    ((), (3,), None, r"^A and B must be matrices or vectors, not single numbers; S\.mul multiplies elements$"),
    ((3,), (), None, "not single numbers"),
    ((2, 3), (2, 4), None, r"^A of shape \(2, 3\) and B of shape \(2, 4\) do not fit: A has 3 columns, B has 2 rows$"),
    ((3,), (2,), None, "A has 3 columns, B has 2 rows"),
    ((2, 3, 3), (3, 3, 3), None, r"^leading axes \(2,\) of A and \(3,\) of B do not broadcast$"),
    ((2, 3), (3, 4), (4, 2), r"^accumulate has shape \(4, 2\), the product \(2, 4\)$"),
    ((3,), (3, 4), (1, 4), r"^accumulate has shape \(1, 4\), the product \(4,\)$"),
])
def test_what_does_not_fit(a: tuple, b: tuple, c: tuple | None, text: str) -> None:
    with pytest.raises(sr.SemiringError, match=text):
        product_shape(a, b, c)


def test_what_an_answer_may_be_written_to() -> None:
    S, dtype = sr.min_plus, np.dtype("f8")
    A = np.zeros((2, 3))
    frozen = A.copy()
    frozen.flags.writeable = False
    for out, fits in (
        (A, True), (A.T, False), (A[:, ::-1], True), (np.asfortranarray(A), True), (A.astype("f4"), False),
        (A.astype("i8"), False), (A.ravel(), False), (A[None], False), (frozen, False), (A.tolist(), False),
        (np.ma.masked_array(A), False), (A.astype(">f8"), True), (A.astype("U3"), False), (None, False),
    ):
        assert can_hold(out, (2, 3), S, dtype) is fits, out
    assert can_hold(np.zeros(()), (), S, dtype) and not can_hold(np.float64(3), (), S, dtype)
