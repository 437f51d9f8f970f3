"""The functions that Numba lacks, compiled, against Python's integers and fractions and decimals of many digits."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.kernels.cpu.compile import scalar
from semiring.kernels.cpu.compile.jit import njit

compiled = njit(error_model="numpy", cache=True)
quick = settings(max_examples=30)
floor_divide, remainder, fmod, power = scalar.floor_divide, scalar.remainder, scalar.fmod, scalar.power
left_shift, right_shift, gcd, lcm = scalar.left_shift, scalar.right_shift, scalar.gcd, scalar.lcm
bitwise_count, sign_floating, heaviside = scalar.bitwise_count, scalar.sign_floating, scalar.heaviside
logaddexp, logaddexp2, floor_divide_floating = scalar.logaddexp, scalar.logaddexp2, scalar.floor_divide_floating
add_int64, multiply_int64 = scalar.saturating_add_int64, scalar.saturating_multiply_int64
add_uint64, multiply_uint64 = scalar.saturating_add_uint64, scalar.saturating_multiply_uint64
add_uint32, multiply_uint32 = scalar.saturating_add_uint32, scalar.saturating_multiply_uint32
add_narrow, multiply_narrow = scalar.saturating_add_narrow, scalar.saturating_multiply_narrow


@compiled
def of_two(x: Any, y: Any, count: Any, out: Any) -> None:
    """All functions of two integers; `count` is not negative."""
    for i in range(len(x)):
        out[0, i] = floor_divide(x[i], y[i])
        out[1, i] = remainder(x[i], y[i])
        out[2, i] = fmod(x[i], y[i])
        out[3, i] = power(x[i], count[i])
        out[4, i] = left_shift(x[i], count[i], 64)
        out[5, i] = right_shift(x[i], count[i], 64)
        out[6, i] = gcd(x[i], y[i])
        out[7, i] = lcm(x[i], y[i])
        out[8, i] = bitwise_count(x[i])


def truncated(x: int, y: int) -> int:
    """The remainder with the sign of x."""
    return (abs(x) % abs(y)) * (-1 if x < 0 else 1)


MEANINGS = (
    lambda x, y, c: x // y if y else 0, lambda x, y, c: x % y if y else 0, lambda x, y, c: truncated(x, y) if y else 0,
    lambda x, y, c: pow(x, c, 2**64), lambda x, y, c: x << c if c < 64 else 0, lambda x, y, c: x >> min(c, 64),
    lambda x, y, c: math.gcd(x, y), lambda x, y, c: math.lcm(x, y), lambda x, y, c: abs(x).bit_count(),
)


def integers(dtype: str) -> st.SearchStrategy[int]:
    limits = np.iinfo(dtype)
    ends = [limits.min, limits.min + 1, limits.max, limits.max - 1, 0, 1, 2, 65_536, *([-1, -2] if limits.min else [])]
    return st.sampled_from(ends) | st.integers(limits.min, limits.max) | st.integers(max(limits.min, -99), 99)


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_integers(dtype: str) -> None:
    @quick
    @given(st.lists(st.tuples(integers(dtype), integers(dtype)), min_size=1), st.data())
    def check(pairs: list[tuple[int, int]], data: st.DataObject) -> None:
        counts = st.sampled_from([0, 1, 63, 64, 65, 65_537, 2**63 - 1]) | st.integers(0, 70)
        count = data.draw(st.lists(counts, min_size=len(pairs), max_size=len(pairs)))
        x, y = np.array(pairs, dtype).T.copy()
        out = np.zeros((len(MEANINGS), len(pairs)), dtype)
        of_two(x, y, np.array(count, dtype), out)
        for k, (meaning, row) in enumerate(zip(MEANINGS, out, strict=True)):
            for (p, q), c, found in zip(pairs, count, row.tolist(), strict=True):
                if k == 7 and -(2**63) in (p, q):
                    continue  # the least integer has no absolute value
                exact = meaning(p, q, c)
                assert (found - exact) % 2**64 == 0, (k, p, q, c)  # as integers wrap

    check()


@compiled
def saturating(x: Any, y: Any, out: Any) -> None:
    """Sums and products of the dtypes of 64 bits."""
    for i in range(len(x)):
        out[0, i] = add_int64(np.int64(x[i]), np.int64(y[i]), np.int64(-(2**63)), np.int64(2**63 - 1))
        out[1, i] = multiply_int64(np.int64(x[i]), np.int64(y[i]), np.int64(-(2**63)), np.int64(2**63 - 1))


@compiled
def saturating_unsigned(x: Any, y: Any, out: Any) -> None:
    for i in range(len(x)):
        out[0, i] = add_uint64(x[i], y[i], np.uint64(0), np.uint64(2**64 - 1))
        out[1, i] = multiply_uint64(x[i], y[i], np.uint64(0), np.uint64(2**64 - 1))


@compiled
def saturating_half_size(x: Any, y: Any, u: Any, v: Any, out: Any, unsigned: Any) -> None:
    for i in range(len(x)):
        out[0, i] = add_narrow(x[i], y[i], np.int32(-(2**31)), np.int32(2**31 - 1))
        out[1, i] = multiply_narrow(x[i], y[i], np.int32(-(2**31)), np.int32(2**31 - 1))
        unsigned[0, i] = add_uint32(u[i], v[i], np.uint32(0), np.uint32(2**32 - 1))
        unsigned[1, i] = multiply_uint32(u[i], v[i], np.uint32(0), np.uint32(2**32 - 1))


def pairs_of(dtype: str) -> Any:
    return st.lists(st.tuples(integers(dtype), integers(dtype)), min_size=1, max_size=8)


def clipped(pairs: list[tuple[int, int]], dtype: str) -> list[list[int]]:
    limits = np.iinfo(dtype)
    return [
        [min(max(exact, limits.min), limits.max) for exact in exactly]
        for exactly in ([x + y for x, y in pairs], [x * y for x, y in pairs])
    ]


@quick
@given(pairs_of("i8"), pairs_of("u8"))
def test_saturating_64_bits(signed: list[tuple[int, int]], unsigned: list[tuple[int, int]]) -> None:
    for pairs, dtype, run in ((signed, "i8", saturating), (unsigned, "u8", saturating_unsigned)):
        x, y = np.array(pairs, dtype).T.copy()
        out = np.zeros((2, len(x)), dtype)
        run(x, y, out)
        assert out.tolist() == clipped(pairs, dtype)


@quick
@given(pairs_of("i4"), pairs_of("u4"))
def test_saturating_32_bits(signed: list[tuple[int, int]], unsigned: list[tuple[int, int]]) -> None:
    count = min(len(signed), len(unsigned))
    signed, unsigned = signed[:count], unsigned[:count]
    (x, y), (u, v) = np.array(signed, "i4").T.copy(), np.array(unsigned, "u4").T.copy()
    out, above = np.zeros((2, count), "i4"), np.zeros((2, count), "u4")
    saturating_half_size(x, y, u, v, out, above)
    assert out.tolist() == clipped(signed, "i4")
    assert above.tolist() == clipped(unsigned, "u4")


@compiled
def floating(x: Any, y: Any, out: Any) -> None:
    for i in range(len(x)):
        out[0, i] = logaddexp(x[i], y[i])
        out[1, i] = logaddexp2(x[i], y[i])
        out[2, i] = floor_divide_floating(x[i], y[i])
        out[3, i] = sign_floating(x[i])
        out[4, i] = heaviside(x[i], y[i])


def floats(dtype: str) -> Any:
    width = 8 * np.dtype(dtype).itemsize
    finite = st.floats(-700, 700, width=width) | st.integers(-20, 20).map(float)
    some = finite | st.sampled_from([math.inf, -math.inf, 0.0, -0.0])
    return st.lists(st.tuples(some, some), min_size=1, max_size=9)


def log_of_sum(x: float, y: float, base: int | None) -> Decimal | float:
    """log(bˣ + bʸ), b = e or 2, to 30 digits."""
    if math.inf in (x, y) or x == y == -math.inf:
        return max(x, y)
    with localcontext() as context:
        context.prec = 30
        unit = Decimal(1) if base is None else Decimal(base).ln()
        terms = [(Decimal(z) * unit).exp() for z in (x, y) if z != -math.inf]
        return sum(terms).ln() / unit


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_floats(dtype: str) -> None:
    eps = float(np.finfo(dtype).eps)

    @quick
    @given(floats(dtype))
    def check(pairs: list[tuple[float, float]]) -> None:
        x, y = np.array(pairs, dtype).T.copy()
        out = np.zeros((5, len(pairs)), dtype)
        with np.errstate(all="ignore"):
            floating(x, y, out)
            for row, numpys in ((2, np.floor_divide(x, y)), (3, np.sign(x)), (4, np.heaviside(x, y))):
                np.testing.assert_array_equal(out[row], numpys)
        for (p, q), natural, binary, quotient in zip(pairs, *out[:3].tolist(), strict=True):
            for found, exact in ((natural, log_of_sum(p, q, None)), (binary, log_of_sum(p, q, 2))):
                near = 4 * eps * max(1, abs(p), abs(q))
                assert found == exact or abs(Decimal(found) - exact) <= Decimal(near), (p, q)
            if math.isfinite(p) and math.isfinite(q) and q and abs(Fraction(p) / Fraction(q)) < 1 / eps / 4:
                assert quotient == math.floor(Fraction(p) / Fraction(q)), (p, q)

    check()


def test_nan_goes_through() -> None:
    some = np.array([math.nan, 1.0, math.nan])
    out = np.zeros((5, 3))
    floating(some, some[::-1].copy(), out)
    assert np.isnan(out).tolist() == [[True, False, True]] * 5
