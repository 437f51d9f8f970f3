"""Powers and logarithms as polynomials in Python text, of which LLVM makes vectors; to base e or 2.

    eˣ = 2ᵏ eʳ        k = ⌊x / log 2 + ½⌋,  |r| ≤ log 2 / 2,  and eʳ by its Taylor series
    log x = k log 2 + log y        x = 2ᵏ y with y from √½ to √2,  log y = 2 artanh((y − 1) / (y + 1))

log 2 is the sum of two numbers. The first has so few digits that its products with k are exact, so that r loses none.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .program import has_fma


class Format(NamedTuple):
    """A float type: its digits, and terms that are enough for them."""

    word: str  # the integer of its size
    digits: int  # of the fraction
    bias: int  # of the exponent
    root: int  # the bits of √½
    high: float  # log 2 with few digits,
    low: float  # and the rest
    least: float  # the exponent below which a power is 0
    power_terms: int
    log_terms: int


FORMATS = {
    np.dtype("f8"): Format("np.int64", 52, 1023, 0x3FE6A09E667F3BCD, 0.693147180369123816490,
                           1.90821492927058770002e-10, -1021.0, 13, 10),
    np.dtype("f4"): Format("np.int32", 23, 127, 0x3F3504F3, 0.693359375, -2.12194440e-4, -125.0, 7, 5),
}


def text(dtype: np.dtype, binary: bool) -> str:
    """The functions ``power(x)``, for x ≤ 0 and 0 below the least normal number, and ``logarithm(x)``, for x normal."""
    f = FORMATS[dtype]
    least = f.least if binary else f.least * math.log(2)
    half = _sum("y", "FIRST(1.0)" if binary else f"FIRST({1 / math.log(2)!r})", "FIRST(0.5)")
    rest = f"(y - k) * FIRST({math.log(2)!r})" if binary else _sum(
        "k", f"FIRST({-f.low!r})", _sum("k", f"FIRST({-f.high!r})", "y"))
    whole = "k" if binary else _sum("k", f"FIRST({f.high!r})", _sum("k", f"FIRST({f.low!r})", "p"))
    if binary:
        whole = _sum("p", f"FIRST({1 / math.log(2)!r})", "k")
    series = _polynomial("r", [1 / math.factorial(d) for d in range(f.power_terms + 1)])
    logs = _polynomial("z", [2 / (2 * d + 1) for d in range(1, f.log_terms + 1)])
    return f"""\
@inline
def power(x):
    y = select(x > FIRST({least!r}), x, FIRST({least!r}))
    k = floor({half})
    r = {rest}
    scale = bits_as(FIRST, {f.word}(({f.word}(k) + {f.bias}) << {f.digits}))
    return select(x < FIRST({least!r}), FIRST(0.0), {series} * scale)


@inline
def logarithm(x):
    e = {f.word}({f.word}(bits_as({f.word}, x) - {f.root}) >> {f.digits})
    y = bits_as(FIRST, {f.word}(bits_as({f.word}, x) - {f.word}(e << {f.digits})))
    k = FIRST(e)
    s = (y - FIRST(1.0)) / (y + FIRST(1.0))
    z = s * s
    p = {_sum(f"({logs} * z)", "s", "s * FIRST(2.0)")}
    return {whole}


"""


def _sum(x: str, y: str, z: str) -> str:
    """x y + z."""
    return f"fma({x}, {y}, {z})" if has_fma() else f"({x} * {y} + {z})"


def _polynomial(x: str, coefficients: list[float]) -> str:
    """The polynomial with these coefficients, the constant first."""
    *others, found = [f"FIRST({c!r})" for c in coefficients]
    for c in reversed(others):
        found = _sum(found, x, c)
    return found
