"""Constants in a dtype, and operations on constants that have one value in every dtype."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from watched import watched

from semiring.algebra import expression as ex
from semiring.algebra.constants import cast_constant, equal, fold, nearest_constant, outside

inf, nan = math.inf, math.nan


@pytest.mark.parametrize(
    ("op", "values", "expected"),
    [
        ("add", (2, 3), 5), ("multiply", (10**10, 10**10), None), ("add", (200, 100), None), ("negative", (1,), None),
        ("subtract", (2, 5), None), ("multiply", (1e10, 0.5), 5e9), ("divide", (1, 3), 1 / 3), ("divide", (1, 0), None),
        ("power", (2, -1), 0.5), ("power", (10**10, 10**10), None), ("add", (inf, 1), None),
        ("equal", (inf, 255), None), ("equal", (inf, 2.5), False), ("less", (-1, inf), True), ("less", (1, inf), None),
        ("invert", (5,), None), ("power", (0, 0), None),
        ("bitwise_and", (inf, 3), None), ("left_shift", (1, 3), None), ("logical_and", (True, False), False),
        ("sqrt", (-0.5,), None), ("multiply", (10**20, 3), 3 * 10**20), ("remainder", (7, 0), None),
        ("floor_divide", (7, 2), 3), ("equal", (2**53, 2**53 + 1), None),
    ],
)
def test_what_is_folded(op: str, values: tuple, expected: Any) -> None:
    e = ex.apply(op, *map(ex.constant, values))
    if expected is None:
        assert e.op != "constant"
    else:
        assert e is ex.constant(expected)


@pytest.mark.parametrize(
    ("value", "dtype", "reason"),
    [
        (1e40, "f4", "too large for float32"), (-1e40, "f4", "too large"), (1e-40, "f4", "too small for float32"),
        (70000, "f2", "65504"), (1e-7, "f2", "too small for float16"), (10**400, "f8", "too large for float64"),
        (300, "u1", "0 … 255"), (0.5, "i8", "not an integer"), (nan, "i8", "not an integer"), (2, "?", "truth value"),
    ],
)
def test_constants_without_a_place(value: Any, dtype: str, reason: str) -> None:
    with pytest.raises(OverflowError, match=reason):
        cast_constant(value, np.dtype(dtype))


def test_constants_with_a_place() -> None:
    for value, dtype in [(0.1, "f2"), (inf, "f4"), (-0.0, "f4"), (2.0**-140, "f4"), (5e-324, "f8"), (65504, "f2")]:
        assert cast_constant(value, np.dtype(dtype)) == np.dtype(dtype).type(value)


INTEGERS = [np.dtype(d) for d in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_infinities_are_the_limits_of_integers(dtype: np.dtype) -> None:
    limits = np.iinfo(dtype)
    assert cast_constant(inf, dtype) == limits.max and cast_constant(-inf, dtype) == limits.min
    for value in (limits.min, limits.max, 1, True, 3.0):
        found = cast_constant(value, dtype)
        assert found == value and found.dtype == dtype
    for value in (limits.min - 1, limits.max + 1, 2.0**64, 10**400):
        with pytest.raises(OverflowError, match=f"is outside {dtype}"):
            cast_constant(value, dtype)


def test_truth_values_and_complex_numbers() -> None:
    kept = [cast_constant(v, np.dtype(bool)) for v in (0, 1, True, inf, -inf)]
    assert kept == [False, True, True, True, False] and all(type(v) is np.bool_ for v in kept)
    assert cast_constant(2 - 3j, np.dtype("c16")) == 2 - 3j and cast_constant(2, np.dtype("c8")).dtype == np.complex64
    with pytest.raises(OverflowError, match="is complex, and int64 is not"):
        cast_constant(2 + 0j, np.dtype("i8"))


@pytest.mark.parametrize(("value", "dtype"), [
    (1e-40, "f4"), (1e-7, "f2"), (6e-8, "f2"), (0.1, "f2"), (5e-324, "f8"), (-1e-45, "f4"), (65504.0, "f2"),
])
def test_the_nearest_constant_may_lose_digits(value: float, dtype: str) -> None:
    found = nearest_constant(value, np.dtype(dtype))
    assert found == np.dtype(dtype).type(value) != 0 and found.dtype == dtype


@pytest.mark.parametrize(("value", "dtype", "reason"), [
    (1e-50, "f4", "too small"), (1e-9, "f2", "too small"), (70000.0, "f2", "65504"), (1e39, "f4", "too large"),
    (10**400, "f8", "too large"), (300, "u1", "outside uint8"),
])
def test_but_not_all_of_them(value: float, dtype: str, reason: str) -> None:
    with pytest.raises(OverflowError, match=reason):
        nearest_constant(value, np.dtype(dtype))


def test_zeros_infinities_and_nan_stay_what_they_are() -> None:
    for place in (cast_constant, nearest_constant):
        for dtype in map(np.dtype, ("f2", "f4", "f8")):
            assert place(inf, dtype) == inf and place(-inf, dtype) == -inf and np.isnan(place(nan, dtype))
            assert np.signbit(place(-0.0, dtype)) and not np.signbit(place(0.0, dtype))


EXACTLY = {np.add: int.__add__, np.subtract: int.__sub__, np.multiply: int.__mul__, np.minimum: min, np.maximum: max,
           np.gcd: math.gcd, np.bitwise_xor: int.__xor__}


@settings(max_examples=300)
@given(st.sampled_from(sorted(EXACTLY, key=lambda u: u.__name__)), st.integers(-300, 300), st.integers(-300, 300))
@example(np.add, 127, 1)
@example(np.add, 1, 1)
@example(np.add, 128, 127)
@example(np.subtract, 5, 5)
@example(np.multiply, 2**40, 2**40)
@example(np.multiply, 16, 16)
def test_integers_are_folded_where_no_dtype_that_holds_them_wraps(ufunc: np.ufunc, x: int, y: int) -> None:
    exact = EXACTLY[ufunc](x, y)
    ends = [(0, 1), *((limits.min, limits.max) for limits in map(np.iinfo, INTEGERS))]  # of truth values too
    homes = [(low, high) for low, high in ends if low <= min(x, y) and max(x, y) <= high]
    wraps = any(not low <= exact <= high for low, high in homes)
    found = fold(ufunc, x, y)
    assert type(found) in (int, type(None))
    if wraps or min(x, y) >= 0:
        assert found == (None if wraps else exact)
    else:  # products of negative numbers may be −0 among floats or complex numbers, which is another constant
        assert found in (None, exact)


def test_what_is_folded_keeps_its_kind() -> None:
    assert fold(np.add, 2, 3.5) == 5.5 and fold(np.less, 2, 3) is True and fold(np.logical_not, True) is False
    assert type(fold(np.add, 2.0, 3.5)) is float and type(fold(np.add, True, True)) is not int
    assert math.isnan(fold(np.add, nan, 1.5)) and fold(np.multiply, 1j, 1j) == -1


def test_zeros_of_both_signs_are_folded_apart() -> None:
    for first in (-0.0, 0.0, -0.0):
        i = complex(first, 1)
        found, wanted = fold(np.multiply, i, i), np.complex128(i) * np.complex128(i)
        assert found == wanted and np.signbit(found.imag) == np.signbit(wanted.imag)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i4", "u4", "i8", "u8"])
def test_integers_are_compared_with_any_others(dtype: str) -> None:
    limits = np.iinfo(dtype)
    values = [int(limits.min), int(limits.max), 0, 1, 100]
    array = watched(values, dtype)
    ends = [0, 1, 127, 255, 2**31 - 1, 2**63 - 1, 2**64 - 1]
    for low in (-x - 1 for x in ends):
        for high in ends:
            assert outside(array, low, high).tolist() == [not low <= x <= high for x in values]
            assert outside(array, 0, high).tolist() == [not 0 <= x <= high for x in values]
    for value in (-128, -1, *ends, -(2**63), 2**70):
        assert equal(array, value).tolist() == [x == value for x in values]


def test_floats_and_truth_values_are_compared_as_they_are() -> None:
    assert outside(np.array([-inf, -0.5, 1, 255.5]), 0, 255).tolist() == [True, True, False, True]
    assert not outside(np.array([True, False]), -128, 127).any()
