"""Sums under min or max of a convex sequence and any other: n log n steps in place of n².

If b is convex, the terms a_j + b_{i−j} are a Monge matrix: its best columns never go back from one row to the next. So
the best column of the middle row bounds those of both halves, and on each of log n levels every column is looked at
once, or twice where two rows meet. A. Aggarwal, M. M. Klawe, S. Moran, P. Shor, R. Wilber, Geometric applications of a
matrix-searching algorithm (1987), who save the logarithm.

Terms are compared as exact sums, as in convex.py, so that the answer is that of the definition to the bit.
"""

from __future__ import annotations

import numpy as np

from semiring.kernels.cpu.compile.plain import takes
from semiring.kernels.lowering.base import Lowering

from .convex import LARGEST, Slopes
from .dense import operations

COST = 100  # terms that vectors take in the time of a step here


def repays(left: int, right: int, terms: float) -> bool:
    """Whether a search takes less than so many terms, for sequences of such lengths."""
    total = left + right
    return terms > COST * total * total.bit_length()


def are_exact(low: Lowering, x: np.ndarray, convex: Slopes) -> bool:
    """Whether sums of a sequence in storage and a convex one can be compared exactly: whether none overflows."""
    limit, largest = (LARGEST if low.storage.kind == "i" else np.inf), 0.0
    with np.errstate(over="ignore"):
        for values in (x[x != low.zero[0]], convex.values):
            sizes = np.abs(values.astype(np.float64))
            largest += float(sizes.max(where=np.isfinite(sizes), initial=0.0))
    return convex.exact and largest < limit


def with_convex(low: Lowering, x: np.ndarray, convex: Slopes, count: int) -> np.ndarray:
    """The convolution, with so many elements, of a sequence in storage and a convex one, for which `are_exact`."""
    c = operations(low).zeros((count,))
    if not len(convex.values):
        return c
    upward = 1.0 if low.add.is_plain("minimum") else -1.0
    a, b = (values.astype(np.float64) * upward for values in (x, convex.values))
    a[x == low.zero[0]] = np.inf
    some = c[convex.first : convex.first + len(x) + len(b) - 1]
    with np.errstate(invalid="ignore"):
        row_minima(some, x, convex.values, a, b, np.empty(len(some), np.int64), np.empty(len(some), np.int64))
    return c


@takes(20.0)
def row_minima(
    c: np.ndarray, x: np.ndarray, y: np.ndarray, a: np.ndarray, b: np.ndarray, least: np.ndarray, most: np.ndarray
) -> None:
    """c_i ← x_j + y_{i−j} for the j with the least a_j + b_{i−j}; where all are infinite, c_i stays.

    `least` and `most` are room for the bounds that a row sets for those before and after it.
    """
    rows, step = len(c), 1
    while step < len(c):
        step *= 2
    while step:
        for i in range(step - 1, rows, 2 * step):
            first, last = max(i - len(b) + 1, 0), min(i, len(a) - 1)
            if i >= step:
                first = max(first, least[i - step])
            if i + step < rows:
                last = min(last, most[i + step])
            best, rest, at = np.inf, 0.0, -1
            for j in range(first, last + 1):
                s = a[j] + b[i - j]
                if s <= best and s < np.inf:
                    part = s - a[j]
                    lacks = (a[j] - (s - part)) + (b[i - j] - part)
                    if s < best or lacks < rest:
                        best, rest, at = s, lacks, j
            least[i], most[i] = (first, last) if at < 0 else (at, at)
            if at >= 0:
                c[i] = x[at] + y[i - at]
        step //= 2
