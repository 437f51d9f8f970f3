"""Cheaper spellings of expressions: the same values, and to the bit where it is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semiring.algebra.evaluate import numpy_function
from semiring.algebra.expression import Traced
from semiring.algebra.proofs import EVERYTHING, Range
from semiring.algebra.tracing import trace
from semiring.kernels.lowering.cheaper import cheaper, factors_first

POSITIVE = Range(0.0, np.inf)


def traced(function: Any) -> Traced:
    return trace(function, 2)


def values(t: Traced, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    kind = (a.dtype,)
    return np.broadcast_to(numpy_function(t.outputs, 2, kind, kind)((a,), (b,))[0], a.shape)


@pytest.mark.parametrize(
    ("function", "inside", "text"),
    [
        (lambda a, b: (a - b) ** 2, EVERYTHING, "(a - b) · (a - b)"),
        (lambda a, b: a * b / 8, EVERYTHING, "(a · b) · 0.125"),
        (lambda a, b: a * b / -0.5, EVERYTHING, "(a · b) · -2"),
        (lambda a, b: np.abs(a - b) ** 1.5, EVERYTHING, "abs(a - b) · sqrt(abs(a - b))"),
        (lambda a, b: (a + b) ** 0.5, POSITIVE, "sqrt(a + b)"),
        (lambda a, b: (a + b) ** 0.5, EVERYTHING, "(a + b) ** 0.5"),
        (lambda a, b: a * b / 3, EVERYTHING, "(a · b) / 3"),
        (lambda a, b: a * b / 0, EVERYTHING, "(a · b) / 0"),
        (lambda a, b: 8 / a + b, EVERYTHING, "(8 / a) + b"),
        (lambda a, b: a ** 5 + b ** 0.7 + b ** -2, POSITIVE, "((a ** 5) + (b ** 0.7)) + (b ** -2)"),
        (lambda a, b: a.astype("i4") / 2 + b, EVERYTHING, "(int32(a) / 2) + b"),
    ],
)
def test_spellings(function: Any, inside: Range, text: str) -> None:
    assert str(cheaper(traced(function), np.dtype("f4"), inside)) == text


@pytest.mark.parametrize("dtype", ["i4", "?", "c16"])
def test_other_kinds_of_numbers_keep_theirs(dtype: str) -> None:
    t = traced(lambda a, b: a**2 / 4 + b)
    assert cheaper(t, np.dtype(dtype), EVERYTHING) is t


def test_a_divisor_without_a_reciprocal_stays() -> None:
    """1 / 2^-140 is not a number of single precision."""
    t = traced(lambda a, b: a * b / 2.0**-140)
    assert str(cheaper(t, np.dtype("f4"), EVERYTHING)) == str(t)
    assert "/" not in str(cheaper(t, np.dtype("f8"), EVERYTHING))


@given(
    st.lists(st.tuples(st.floats(width=32), st.floats(width=32)), min_size=1),
    st.integers(-60, 60), st.sampled_from([1, 2, 3, 4, 0.5, 1.5, 2.5, 3.5]), st.sampled_from(["f4", "f8"]),
)
def test_values_are_the_same(pairs: list, shift: int, exponent: float, dtype: str) -> None:
    """Quotients, squares and roots to the bit, other powers within three units in the last place."""
    a, b = (np.array(x, dtype) for x in zip(*pairs, strict=True))
    quotient, power = traced(lambda a, b: a * b / 2.0**shift), traced(lambda a, b: np.abs(a - b) ** exponent)
    with np.errstate(all="ignore"):
        for t, exact in ((quotient, True), (power, exponent in (1, 2, 0.5))):
            found = values(cheaper(t, a.dtype, EVERYTHING), a, b)
            wanted = values(t, a, b)
            if exact:
                np.testing.assert_array_equal(found, wanted)
            else:
                normal = (wanted >= np.finfo(dtype).smallest_normal) & np.isfinite(wanted) & np.isfinite(found)
                np.testing.assert_array_max_ulp(found[normal], wanted[normal], 3)
                assert (np.isnan(found) == np.isnan(wanted)).all()


SIZED = st.floats(2.0**-63, 2.0**60, width=32) | st.just(0.0)


@given(st.lists(st.tuples(SIZED, SIZED, st.booleans()), min_size=1), st.integers(0, 60))
def test_a_factor_joins_the_first_operand_to_the_bit(pairs: list, shift: int) -> None:
    """Of numbers that are not tiny, as long as the product is not tiny either."""
    t = traced(lambda a, b: a + b + a * b * 2.0**-shift)
    moved = factors_first(t, np.dtype("f4"))
    a = np.array([-x if s else x for x, _, s in pairs], "f4")
    b = np.array([y for _, y, _ in pairs], "f4")
    fits = (a == 0) | (b == 0) | (np.abs(a * b) * 2.0**-shift > 2.0**-126)
    np.testing.assert_array_equal(values(moved, a, b)[fits], values(t, a, b)[fits])


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda a, b: a + b + a * b * 0.125, "(a + b) + ((a · 0.125) · b)"),
        (lambda a, b: b * a * 0.5, "(a · 0.5) · b"), (lambda a, b: a * b * 1, "(a · 1) · b"),
        (lambda a, b: a * b * 3, "(a · b) · 3"), (lambda a, b: a * b * 2, "(a · b) · 2"),
        (lambda a, b: a * b * 2.0**-70, None), (lambda a, b: (a + b) * 0.5, "(a + b) · 0.5"),
    ],
)
def test_which_factors_join(function: Any, text: str | None) -> None:
    t = traced(function)
    assert str(factors_first(t, np.dtype("f4"))) == (text or str(t))
