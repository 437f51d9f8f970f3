"""Operations that Numba has not, or has with other answers than NumPy at the edges; the rule table calls them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .jit import njit

inline = njit(error_model="numpy", nogil=True)


@inline
def logaddexp(x: Any, y: Any) -> Any:
    """log(eˣ + eʸ); also right where both are the same infinity."""
    high = x if x > y else y
    if x == y:
        return high + type_like(math.log(2.0), high)
    return high + np.log1p(np.exp(-abs(x - y)))


@inline
def logaddexp2(x: Any, y: Any) -> Any:
    """log2(2ˣ + 2ʸ)."""
    high = x if x > y else y
    if x == y:
        return high + type_like(1.0, high)
    return high + np.log1p(np.exp2(-abs(x - y))) * type_like(1.0 / math.log(2.0), high)


@inline
def type_like(number: float, like: Any) -> Any:
    """A constant in the precision of another value, so that float32 stays float32."""
    return like * 0 + number if like * 0 == 0 else number


@inline
def floor_divide(x: Any, y: Any) -> Any:
    """x // y for integers; 0 where y is 0, and the least integer over −1 is itself, as NumPy has it."""
    if y == 0 or y == -1:  # zero as x − x: a literal 0 would make a float of 64 bits without a sign
        return x - x if y == 0 else (x - x) - x
    return x // y


@inline
def floor_divide_floating(x: Any, y: Any) -> Any:
    """x // y for floats, NaN for infinite x, as NumPy has it."""
    if y == 0:
        return x / y
    rest = np.fmod(x, y)
    quotient = (x - rest) / y
    if rest != 0 and (y < 0) != (rest < 0):
        quotient -= type_like(1.0, quotient)
    floor = np.floor(quotient)
    return floor + type_like(1.0, floor) if quotient - floor > 0.5 else floor


@inline
def remainder(x: Any, y: Any) -> Any:
    """x mod y for integers, with the sign of y; 0 where y is 0, as NumPy has it."""
    return x % y if y != 0 else x - x


@inline
def fmod(x: Any, y: Any) -> Any:
    """x − y · trunc(x / y) for integers, with the sign of x; 0 where y is 0, as NumPy has it."""
    if y == 0 or y == -1:
        return x - x
    rest = x % y
    return rest - y if rest != 0 and (x < 0) != (y < 0) else rest


@inline
def sign_floating(x: Any) -> Any:
    """−1, 0 or 1, and NaN of NaN."""
    return x if x != x else type_like((x > 0) * 1.0 - (x < 0) * 1.0, x)


@inline
def heaviside(x: Any, middle: Any) -> Any:
    """0 below 0, 1 above, `middle` there."""
    if x != x:
        return x
    return middle if x == 0 else type_like((x > 0) * 1.0, x)


@inline
def bitwise_count(x: Any) -> Any:
    """How many bits of |x| are set, counted in pairs, fours and bytes at once."""
    bits = np.uint64(x) if x >= 0 else np.uint64(0) - np.uint64(x)
    bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (bits * np.uint64(0x0101010101010101)) >> np.uint64(56)


@inline
def power(x: Any, y: Any) -> Any:
    """x to the power of y ≥ 0 for integers, by squaring, as it wraps.

    Numba's own goes through a float from y = 65,537 on, and in version 0.61 wherever the answer exceeds 53 bits.
    """
    result, bit = (x - x) - ~(x - x), (y - y) - ~(y - y)  # 1 and 1; a literal would turn 64 bits without sign to floats
    factor = x + (x - x)
    while y > 0:
        if y & bit != 0:
            result = result * factor
        factor = factor * factor
        y = y >> bit
    return result


@inline
def left_shift(x: Any, y: Any, bits: int) -> Any:
    """x << y; 0 once all bits have left, where the machine's instruction would wrap the count."""
    return x << y if 0 <= y < bits else x - x


@inline
def right_shift(x: Any, y: Any, bits: int) -> Any:
    """x >> y; only the sign is left once all bits have left."""
    if 0 <= y < bits:
        return x >> y
    return x - x if x >= 0 else ~(x - x)


@inline
def gcd(x: Any, y: Any) -> Any:
    """Greatest common divisor, by Euclid."""
    x, y = abs(x), abs(y)
    while y != 0:
        x, y = y, x % y
    return abs(x)  # the least integer has no absolute value, and leaves its sign


@inline
def lcm(x: Any, y: Any) -> Any:
    """Least common multiple; 0 where either is 0."""
    if x == 0 or y == 0:
        return x - x
    return abs(x) // gcd(x, y) * abs(y)


@inline
def saturating_add_narrow(x: Any, y: Any, low: Any, high: Any) -> Any:
    """x + y within the limits, for dtypes of at most 32 bits."""
    return min(max(np.int64(x) + np.int64(y), np.int64(low)), np.int64(high))


@inline
def saturating_multiply_narrow(x: Any, y: Any, low: Any, high: Any) -> Any:
    """x · y within the limits, for dtypes whose products fit in 63 bits."""
    return min(max(np.int64(x) * np.int64(y), np.int64(low)), np.int64(high))


@inline
def saturating_add_uint32(x: Any, y: Any, low: Any, high: Any) -> Any:
    """x + y within the limits of uint32."""
    return min(np.uint64(x) + np.uint64(y), np.uint64(high))


@inline
def saturating_multiply_uint32(x: Any, y: Any, low: Any, high: Any) -> Any:
    """x · y within the limits of uint32: the product fits in 64 bits without a sign."""
    return min(np.uint64(x) * np.uint64(y), np.uint64(high))


@inline
def saturating_add_int64(x: Any, y: Any, low: Any, high: Any) -> Any:
    """x + y within the limits of int64: it overflowed if both have one sign and the sum the other."""
    total = np.int64(x + y)
    if (x ^ total) & (y ^ total) < 0:
        return low if x < 0 else high
    return total


@inline
def saturating_multiply_int64(x: Any, y: Any, low: Any, high: Any) -> Any:
    """x · y within the limits of int64, tested by division."""
    if x == 0 or y == 0:
        return np.int64(0)
    negative = (x < 0) != (y < 0)
    limit = np.uint64(high) + np.uint64(negative)
    size_x = np.uint64(x) if x > 0 else ~np.uint64(x) + np.uint64(1)
    size_y = np.uint64(y) if y > 0 else ~np.uint64(y) + np.uint64(1)
    if size_x > limit // size_y:
        return low if negative else high
    return np.int64(x * y)


@inline
def saturating_add_uint64(x: Any, y: Any, low: Any, high: Any) -> Any:
    """x + y within the limits of uint64."""
    total = np.uint64(x + y)
    return high if total < x else total


@inline
def saturating_multiply_uint64(x: Any, y: Any, low: Any, high: Any) -> Any:
    """x · y within the limits of uint64, tested by division."""
    if y != 0 and x > high // y:
        return high
    return np.uint64(x * y)
