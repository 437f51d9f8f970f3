"""Sums under min or max of two convex sequences by merging their slopes: n steps in place of n².

The epigraph of the convolution is the sum of two epigraphs, which are convex. So its edges are the edges of both, by
ascending slope; each step of the answer goes a step further in the sequence with the lesser slope left. For max the
sequences are concave. See J.-Y. Le Boudec, P. Thiran, Network calculus (2001), theorem 3.1.6.

Rounding is monotone: the least of the rounded sums is the rounded least sum. So if the slopes are ordered as exact
numbers are, the answer is that of the definition to the bit. A difference of two floats is held as a pair of floats
whose sum is exact (T. J. Dekker, A floating-point technique for extending the available precision, 1971; D. E. Knuth,
The art of computer programming, volume 2).

Floats of a convex function are rounded, and then convex no more where it is nearly straight. As everywhere in this
library, a float is known to two machine epsilons of its size, and a whole number is exact. A sequence that may be a
convex one within that counts as convex, with the slopes of its convex hull, above which it lies by 4 ε max |a| at most.
The answer is then the sum a_j + b_k of one pair at each place, with which it exceeds that of the definition by at most

    16 ε (max |a| + max |b|)

where ε is the machine epsilon of the data: twice 4 ε max |a| because the pair is that of the hulls, and twice 4 ε
max |a| because slopes are rounded, and a convex sequence rises and falls by 4 max |a| in all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from semiring.kernels.cpu.compile.plain import compiled
from semiring.kernels.lowering.base import Lowering

from .dense import operations

WHOLE = 1 / 64  # whole numbers are exact up to this over the machine epsilon, as everywhere
LARGEST = 1 << 52  # integers that floats hold, and their differences
NOT, NEARLY, EXACTLY = 0, 1, 2  # convex


@dataclass(frozen=True, eq=False)
class Slopes:
    """A convex sequence: numbers from `first` on, zero before and after them, and the slopes between them.

    Attributes
    ----------
    values : ndarray
        The numbers, in storage.
    first : int
    high, low : ndarray
        Slopes, which ascend, and what they lack; ∞ comes after the last.
    exact : bool
        Whether slopes are those of the sequence, exactly; else those of its hull.
    """

    values: np.ndarray
    first: int
    high: np.ndarray
    low: np.ndarray
    exact: bool


def applies(low: Lowering) -> bool:
    """Whether ⊕ is min or max and ⊗ the sum of numbers, with the infinity that ⊕ ignores as zero."""
    return low.kind == "numba" and low.algebra.is_tropical and len(low.components) == 1 and low.storage.kind in "fi"


def slopes(low: Lowering, x: np.ndarray) -> Slopes | None:
    """The slopes of a sequence in storage; None if it is not convex, for min, or concave, for max.

    Examples
    --------
    >>> import semiring as sr
    >>> from semiring.kernels.lowering.general import general
    >>> low = general(sr.min_plus, np.dtype("f8"))
    >>> slopes(low, np.array([np.inf, 4.0, 1.0, 0.0, 2.0])).high.tolist()
    [-3.0, -1.0, 2.0, inf]
    >>> slopes(low, np.array([0.0, 2.0, 1.0])) is None
    True
    """
    there = x != low.zero[0]
    first, last = int(there.argmax()), len(x) - int(there[::-1].argmax())
    if not there[first:last].all():
        return None if there.any() else Slopes(x[:0], 0, np.empty(0), np.empty(0), True)
    values = x[first:last]
    if values.dtype.kind == "i" and max(-int(values.min()), int(values.max())) > LARGEST:
        return None
    y = values.astype(np.float64)
    if low.add.is_plain("maximum"):
        np.negative(y, out=y)
    high, rest = np.empty((2, len(y)))
    eps = float(np.finfo(low.dtype).eps) if low.dtype.kind == "f" else 0.0
    with np.errstate(all="ignore"):
        found = differences(y, high, rest, eps)
        if found == NEARLY and not (eps and hull(y, high, rest, np.empty(len(y), np.int64), eps)):
            found = NOT
    return None if found == NOT else Slopes(values, first, high, rest, found == EXACTLY)


@compiled
def differences(y: np.ndarray, high: np.ndarray, low: np.ndarray, eps: float) -> int:
    """Write the exact differences of a sequence as pairs; return whether they ascend, exactly or nearly."""
    n, found, whole, size = len(y), EXACTLY, True, 0.0
    for i in range(n - 1):
        h = y[i + 1] - y[i]
        back = h + y[i]
        high[i] = h
        low[i] = (y[i + 1] - back) - (y[i] - (back - h))
        if not abs(h) < np.inf:
            return NOT
        if i and (h < high[i - 1] or (h == high[i - 1] and low[i] < low[i - 1])):
            if h - high[i - 1] < -2 * eps * (abs(y[i - 1]) + 2 * abs(y[i]) + abs(y[i + 1])):
                return NOT
            found = NEARLY
        whole = whole and y[i] == np.rint(y[i])
        size = max(size, abs(y[i]))
    high[n - 1], low[n - 1] = np.inf, 0.0
    whole = whole and y[n - 1] == np.rint(y[n - 1]) and max(size, abs(y[n - 1])) * eps <= WHOLE
    return NOT if not abs(y[n - 1]) < np.inf or (found == NEARLY and whole) else found


@compiled
def hull(y: np.ndarray, high: np.ndarray, low: np.ndarray, corners: np.ndarray, eps: float) -> bool:
    """Write the slopes of the hull of a sequence; whether no number lies above it by more than rounding explains."""
    n, count = len(y), 1  # low holds slopes between corners
    corners[0] = 0
    for i in range(1, n):
        slope = (y[i] - y[corners[count - 1]]) / (i - corners[count - 1])
        while count > 1 and low[count - 1] >= slope:
            count -= 1
            slope = (y[i] - y[corners[count - 1]]) / (i - corners[count - 1])
        low[count], corners[count] = slope, i
        count += 1
    for c in range(1, count):
        begin, end, slope = corners[c - 1], corners[c], low[c]
        ends = max(abs(y[begin]), abs(y[end]))
        for i in range(begin, end):
            if y[i] - (y[begin] + slope * (i - begin)) > 4 * eps * max(ends, abs(y[i])):
                return False
            high[i] = slope
    for i in range(n):
        low[i] = 0.0
    return True


def merged(low: Lowering, a: Slopes, b: Slopes, count: int) -> np.ndarray:
    """The convolution of two convex sequences, in storage, with so many elements in all."""
    c = operations(low).zeros((count,))
    if len(a.values) and len(b.values):
        begin = a.first + b.first
        some = c[begin : begin + len(a.values) + len(b.values) - 1]
        with np.errstate(over="ignore"):
            merge(some, a.values, a.high, a.low, b.values, b.high, b.low)
    return c


@compiled
def merge(
    c: np.ndarray, a: np.ndarray, a_high: np.ndarray, a_low: np.ndarray, b: np.ndarray, b_high: np.ndarray,
    b_low: np.ndarray,
) -> None:
    """c ← a_j + b_k, where j or k goes on with the lesser slope."""
    j = k = 0
    for i in range(len(c)):
        c[i] = a[j] + b[k]
        if a_high[j] < b_high[k] or (a_high[j] == b_high[k] and a_low[j] <= b_low[k] and j + 1 < len(a)):
            j += 1
        else:
            k += 1
