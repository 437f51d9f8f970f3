"""Constants of an expression: the value of a number in a dtype, and of an operation on numbers."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

# Dtypes in which an operation on constants must have the same value to be folded; narrow ones show how values wrap.
_HOMES = tuple(np.dtype(d) for d in ("f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "c16"))
_LARGEST_POWER = 2.0**65  # beyond every integer dtype


def outside(array: np.ndarray, low: int, high: int) -> np.ndarray:
    """Test which integers are below `low` ≤ 0 or above `high` ≥ 0, which need not fit the dtype of the array.

    NumPy itself compares with integers of any size. But before 2.2.2, if one does not fit and the array is not
    contiguous, it frees memory at an address that happens to be on the stack: numpy/numpy#28117. So avoid it.

    Examples
    --------
    >>> outside(np.array([-1, 0, 127], "i1"), 0, 255)
    array([ True, False, False])
    """
    if array.dtype.kind in "iu":
        limits = np.iinfo(array.dtype)
        low, high = max(low, int(limits.min)), min(high, int(limits.max))
    return (array < low) | (array > high)


def equal(array: np.ndarray, value: int) -> np.ndarray:
    """Test which integers equal a number that need not fit their dtype; see `outside`.

    Examples
    --------
    >>> equal(np.array([0, -1], "i1"), 255)
    array([False, False])
    """
    limits = np.iinfo(array.dtype)
    found: np.ndarray = array == value if limits.min <= value <= limits.max else np.zeros(array.shape, bool)
    return found


def cast_constant(value: Any, dtype: np.dtype) -> np.generic:
    """A Python number in a dtype; infinities become the limits of an integer dtype.

    Raises
    ------
    OverflowError
        If the number does not fit the dtype. Rounding is allowed, but a finite number must not become infinite, or
        lose digits because it is so small.
    """
    if dtype.kind == "c":
        z, part = complex(value), np.dtype(f"f{dtype.itemsize // 2}")
        number: np.generic = dtype.type(complex(cast_constant(z.real, part), cast_constant(z.imag, part)))
        return number
    if isinstance(value, complex):
        raise OverflowError(f"{value} is complex, and {dtype.name} is not")
    if dtype.kind == "b":
        if value in (0, 1, math.inf, -math.inf):
            return np.bool_(value == 1 or value == math.inf)
        raise OverflowError(f"{value} is not a truth value")
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if isinstance(value, float):
            if math.isinf(value):
                return dtype.type(limits.max if value > 0 else limits.min)
            if not value.is_integer():
                raise OverflowError(f"{value} is not an integer")
        if not limits.min <= int(value) <= limits.max:
            raise OverflowError(f"{value} is outside {dtype.name}, {limits.min} … {limits.max}")
        return dtype.type(int(value))
    try:
        exact = float(value)
    except OverflowError:
        raise OverflowError(f"{value} is too large for {dtype.name}") from None
    with np.errstate(all="ignore"):
        result = dtype.type(exact)
    largest, least = np.finfo(dtype).max, np.finfo(dtype).smallest_normal
    if np.isinf(result) and not math.isinf(exact):
        raise OverflowError(f"{value} is too large for {dtype.name}, whose largest number is {largest:g}")
    if abs(exact) < float(least) and float(result) != exact:
        raise OverflowError(f"{value} is too small for {dtype.name}, which is exact from {least:g} on")
    return result


def nearest_constant(value: Any, dtype: np.dtype) -> np.generic:
    """`cast_constant` that allows a float below the dtype's normal numbers to lose some, but not all, digits.

    Raises
    ------
    OverflowError
        If the number does not fit the dtype.
    """
    if dtype.kind == "f":
        with np.errstate(all="ignore"):
            number: np.generic = dtype.type(value)
            if np.isfinite(number) and bool(number):
                return number
    return cast_constant(value, dtype)


def fold(ufunc: np.ufunc, *values: Any) -> Any:
    """The value of an operation on constants if it is the same in every dtype that holds them; else None.

    Integers are exact, and all else is in double precision. 200 + 100 is not folded, because 8 bits wrap it; nor is
    ∞ + 1 or ∞ = 255, because there ∞ stands for the limit of an integer dtype.
    """
    return _fold(ufunc, values, tuple(f"{type(v).__name__} {v!r}" for v in values))


@lru_cache(4096)
def _fold(ufunc: np.ufunc, values: tuple[Any, ...], spelled: tuple[str, ...]) -> Any:
    """See `fold`; as cache keys 0 and −0 are equal, and so are 1 and 1.0, so their spelling is passed, too."""
    answer = _exactly(ufunc, values)
    if answer is None:
        return None
    # Among integers a whole constant is an integer, but the result of a square root is not.
    whole = not isinstance(answer, complex) and answer == answer // 1
    for home in _HOMES:
        try:
            operands = [np.bool_(v) if isinstance(v, bool) else cast_constant(v, home) for v in values]
            with np.errstate(all="ignore"):
                found = ufunc(*operands)
        except (OverflowError, TypeError, ValueError):
            continue  # the dtype does not hold the constants, lacks the operation, or refuses negative exponents
        if home.kind in "iub" and not isinstance(answer, bool):
            if math.isinf(answer) or found.dtype not in (home, np.float64):
                return None
            if found.dtype == np.float64:
                if whole:
                    return None
                continue
        try:
            expected = cast_constant(answer, found.dtype)
        except OverflowError:
            return None
        if not _same(expected, found):
            return None
    return answer


def _same(x: Any, y: Any) -> bool:
    if x.dtype.kind == "c":
        return _same(x.real, y.real) and _same(x.imag, y.imag)
    if x.dtype.kind != "f":
        return bool(x == y)
    if x == 0 or y == 0:
        return bool(x == y and np.signbit(x) == np.signbit(y))
    return bool(x == y or (np.isnan(x) and np.isnan(y)) or abs(x - y) <= 4 * np.finfo(x.dtype).eps * abs(x))


def _exactly(ufunc: np.ufunc, values: tuple[Any, ...]) -> Any:
    """The value as a Python number: for integers by Python's arithmetic if it has the operation."""
    whole = all(type(v) is int for v in values)
    scalar = np.complex128 if any(isinstance(v, complex) for v in values) else np.float64
    with np.errstate(all="ignore"):
        if ufunc is np.power and whole and abs(float(np.float64(values[0]) ** values[1])) > _LARGEST_POWER:
            return None
        if whole and not ufunc.__name__.startswith("logical"):
            try:
                found = ufunc(*(np.array(v, object) for v in values))
                return found if isinstance(found, (bool, int, float)) else found.item()
            except (ArithmeticError, AttributeError, TypeError, ValueError):
                pass  # computed in floats, as NumPy does
        try:
            return ufunc(*(np.bool_(v) if isinstance(v, bool) else scalar(v) for v in values)).item()
        except (ArithmeticError, TypeError):
            return None
