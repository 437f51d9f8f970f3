"""The compiled loops of convolutions over log-sum-exp by their terms; `log_convolution.py` has the equations.

They take addresses of numbers in double precision, and serve all forms of log-sum-exp.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64

from semiring.kernels.cpu.compile import raw
from semiring.kernels.cpu.compile.jit import njit

from .step_gradients_loops import power as power_of

fetch: Any = raw.fetch  # a type checker would ask the callers for the typing context
power: Any = power_of
put: Any = raw.put
select: Any = raw.select
wide_vectors: Any = raw.wide_vectors

Number = np.float64
WIDE = 64  # entries of c that are computed side by side
NEAR = -50.0  # the logarithm of a share of the largest term below which a term is not added
entry = njit([int64(*[int64] * 8)], nogil=True, error_model="numpy", cache=True)


@entry
def largest(a: int, left: int, b: int, right: int, starts: int, m: int, begin: int, end: int) -> int:
    """m[r, q] ← the largest of m[r, q] and all a[i] + b[t] with i + t = starts[r] + q, for r from `begin` to `end`.

    Around the `left` numbers from a on there are WIDE more on either side, −∞; b has `right`.
    """
    wide_vectors()
    for r in range(begin, end):
        first, row = fetch(np.int64, starts, r), m + 8 * WIDE * r
        low, high = max(0, first - left + 1), min(right, first + WIDE)
        for t in range(low, high):
            place, y = a + 8 * (first - t), fetch(Number, b, t)
            for q in range(WIDE):
                x, z = fetch(Number, place, q) + y, fetch(Number, row, q)
                put(Number, row, q, select(z < x, x, z))
    return 0


@entry
def total(a: int, left: int, b: int, right: int, starts: int, sums: int, begin: int, end: int) -> int:
    """s[r, q] ← s[r, q] + the sum of the powers of all a[i] + b[t] − m[r, q] with i + t = starts[r] + q.

    At `sums` are a unit, by which differences are multiplied, and the addresses of m and s.
    """
    wide_vectors()
    unit = fetch(Number, sums, 0)
    m, s, near = fetch(np.int64, sums, 1), fetch(np.int64, sums, 2), NEAR / unit
    for r in range(begin, end):
        first, top, row = fetch(np.int64, starts, r), m + 8 * WIDE * r, s + 8 * WIDE * r
        low, high = max(0, first - left + 1), min(right, first + WIDE)
        for t in range(low, high):
            place, y, counted = a + 8 * (first - t), fetch(Number, b, t), 0
            for q in range(WIDE):
                counted += select(near < fetch(Number, place, q) + y - fetch(Number, top, q), 1, 0)
            if counted:
                for q in range(WIDE):
                    x = (fetch(Number, place, q) + y - fetch(Number, top, q)) * unit
                    put(Number, row, q, fetch(Number, row, q) + power(x))
    return 0
