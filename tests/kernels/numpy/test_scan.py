"""Facts about values by NumPy against plain Python, value by value, and against the compiled pass."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.kernels.cpu.dense.scan import _compiled
from semiring.kernels.numpy.scan import scan, seconds

inf, nan = math.inf, math.nan
KINDS = ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
COMPILED = ("?", "i4", "u1", "f4", "f8")  # of others the same text is compiled
Found = tuple[bool, bool, bool, bool, bool, Any, Any]


def numbers(dtype: np.dtype) -> list[Any]:
    """Numbers of note: the ends, what is next to them, zeros of both signs, fractions, NaN."""
    if dtype.kind == "b":
        return [False, True]
    if dtype.kind == "f":
        limits = np.finfo(dtype)
        some = [0.0, 1.0, 2.5, float(limits.max), float(limits.smallest_subnormal), 2.0**limits.nmant + 1]
        return [sign * x for x in some for sign in (1, -1)] + [inf, -inf, nan]
    limits = np.iinfo(dtype)
    return [x for x in (0, 1, 7, -1, limits.max, limits.max - 1, limits.min, limits.min + 1)
            if limits.min <= x <= limits.max]


def facts(values: list[Any], dtype: np.dtype) -> Found:
    """The same of a list of Python numbers."""
    if dtype.kind == "f":
        rest = [x for x in values if math.isfinite(x)]
        order = sorted(rest, key=lambda x: (x, math.copysign(1, x)))
        return (
            any(map(math.isnan, values)), inf in values, -inf in values,
            any(x == 0 and math.copysign(1, x) < 0 for x in rest), any(not x.is_integer() for x in rest),
            *((order[0], order[-1]) if order else (None, None)),
        )
    low, high = (False, True) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    rest = [x for x in values if low < x < high]
    return False, high in values, low in values, False, False, min(rest, default=None), max(rest, default=None)


def assert_same(found: Found, wanted: Found) -> None:
    """Equal, the signs of zeros included, and of Python's own types, so that plans can print them."""
    assert [type(x) for x in found] == [type(x) for x in wanted]
    assert list(map(repr, found)) == list(map(repr, wanted))


@settings(max_examples=200)
@given(st.sampled_from(KINDS), st.integers(0, 4), st.integers(0, 4), st.integers(0, 3), st.data())
def test_facts_are_those_of_each_value(kind: str, m: int, n: int, axes: int, data: st.DataObject) -> None:
    dtype = np.dtype(kind)
    shape = {0: (m * n,), 1: (m, n), 2: (2, m, n), 3: (m, n)}[axes]
    some = data.draw(st.lists(st.sampled_from(numbers(dtype)), min_size=1, max_size=3))
    size = math.prod(shape)
    values = data.draw(st.lists(st.sampled_from(some), min_size=size, max_size=size))
    array = np.array(values, dtype).reshape(shape)
    if axes == 3:
        room = np.ones((2 * m, 3 * n), dtype)
        room[::2, ::3] = array
        array = room[::2, ::3][::-1, ::-1]
    array.flags.writeable = False
    with np.errstate(all="raise"):
        found = scan(array)
    assert_same(found, facts(array.ravel().tolist(), dtype))
    if kind in COMPILED and array.ndim > 1:
        assert_same(found, _compiled(array, 1))


@pytest.mark.parametrize("kind", KINDS)
def test_every_value_alone(kind: str) -> None:
    dtype = np.dtype(kind)
    for value in numbers(dtype):
        array = np.array([value], dtype)
        assert_same(scan(array), facts(array.tolist(), dtype))


def test_zeros_of_both_signs() -> None:
    for values, least, greatest in (
        ([0.0, -0.0], -0.0, 0.0), ([-0.0, -0.0], -0.0, -0.0), ([-0.0, 1.0], -0.0, 1.0), ([-1.0, -0.0], -1.0, -0.0),
        ([-1.0, -0.0, 0.0], -1.0, 0.0), ([0.0, 1.0], 0.0, 1.0),
    ):
        found = scan(np.array(values))
        assert list(map(repr, found[5:])) == [repr(least), repr(greatest)]
        assert found[3] == ("-0.0" in map(repr, values))


def test_more_elements_are_predicted_to_take_longer() -> None:
    assert 0 < seconds(0) < seconds(10**6) < seconds(10**7)
