"""Sums under min or max of two convex sequences by merging their slopes: n steps in place of n².

The epigraph of the convolution is the sum of two epigraphs, which are convex. So its edges are the edges of both, by
ascending slope; each step of the answer goes a step further in the sequence with the lesser slope left. For max the
sequences are concave. See J.-Y. Le Boudec, P. Thiran, Network calculus (2001), theorem 3.1.6.

Rounding is monotone: the least of the rounded sums is the rounded least sum. So if the slopes are ordered as exact
numbers are, the answer is that of the definition to the bit. A difference of two floats is held as a pair of floats
whose sum is exact (T. J. Dekker, A floating-point technique for extending the available precision, 1971; D. E. Knuth,
The art of computer programming, volume 2).

Floats of a convex function are rounded, and then convex no more where it is nearly straight. Their convex hulls are
close. For each place of the answer the sum of both hulls, a convex function of j, bounds the sums a_j + b_{i−j} from
below. So only the j can win for which it is at most the sum at the step of the merge: those of an interval,
which mostly has one or two. All of them are looked at, and the answer has the bits of the definition again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from semiring.kernels.cpu.compile.plain import compiled, takes
from semiring.kernels.lowering.base import Lowering

from .dense import operations

WHOLE = 1 / 64  # whole numbers are exact up to this over the machine epsilon, as everywhere
LARGEST = 1 << 52  # integers that floats hold, and their differences
ROUNDING = 16 * float(np.finfo(np.float64).eps)  # of numbers of a hull, and their sums, relative to the largest
TINY = float(np.finfo(np.float64).tiny)  # what rounding to denormal numbers takes away
COST = 50  # terms that vectors take in the time of a candidate here
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
    hull : ndarray
        Floats whose exact piecewise linear function is convex, turned upside down for max.
    rounding : float
        The hull lies above the sequence by at most so much. 0 if the sequence is convex, and slopes are its own.
    """

    values: np.ndarray
    first: int
    high: np.ndarray
    low: np.ndarray
    hull: np.ndarray
    rounding: float

    @property
    def exact(self) -> bool:
        """Whether the sequence is convex, without rounding."""
        return not self.rounding

    @property
    def margin(self) -> float:
        """By how much a number computed from the hull can exceed one of the sequence."""
        return self.rounding + ROUNDING * float(np.abs(self.hull).max(initial=0.0))


def applies(low: Lowering) -> bool:
    """Whether ⊕ is min or max and ⊗ the sum of numbers, with the infinity that ⊕ ignores as zero."""
    return low.kind == "numba" and low.algebra.is_tropical and len(low.components) == 1 and low.storage.kind in "fi"


def slopes(low: Lowering, x: np.ndarray) -> Slopes | None:
    """The slopes of a sequence in storage; None if it is not convex, for min, or concave, for max, but for rounding.

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
        return None if there.any() else Slopes(x[:0], 0, np.empty(0), np.empty(0), np.empty(0), 0.0)
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
        if found == EXACTLY:
            return Slopes(values, first, high, rest, y, 0.0)
        if found == NOT or not eps:
            return None
        above = hull(y, high, rest, np.empty(len(y), np.int64))
    rest[:] = 0.0
    return Slopes(values, first, high, rest, y, above + TINY) if above < np.inf else None


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
def hull(y: np.ndarray, high: np.ndarray, low: np.ndarray, corners: np.ndarray) -> float:
    """Replace a sequence by its hull, and write the slopes of this; return the most by which this lies above."""
    n, count, above = len(y), 1, 0.0  # low holds slopes between corners
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
        for i in range(begin, end):
            line = y[begin] + slope * (i - begin)
            above = max(above, line - y[i])
            y[i], high[i] = line, slope
    return above


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


class Candidates(NamedTuple):
    """For each sum of two nearly convex sequences, where the j begin and end that can be the best ones.

    Attributes
    ----------
    begins, ends : ndarray of int64
    total : int
        How many these are in all.
    """

    begins: np.ndarray
    ends: np.ndarray
    total: int


def candidates(low: Lowering, a: Slopes, b: Slopes) -> Candidates:
    """Those by the hulls: a j beyond an end has a sum of hulls that is greater than a sum of the sequences."""
    length = len(a.values) + len(b.values) - 1 if len(a.values) and len(b.values) else 0
    begins, ends = np.empty((2, length), np.int64)
    if not length:
        return Candidates(begins, ends, 0)
    with np.errstate(over="ignore"):
        count = intervals(begins, ends, _upward(low), a.margin + b.margin, *_arrays(a), *_arrays(b))
    return Candidates(begins, ends, int(count))


def least(low: Lowering, a: Slopes, b: Slopes, found: Candidates, count: int) -> np.ndarray:
    """The convolution of two nearly convex sequences, in storage, with so many elements in all."""
    c = operations(low).zeros((count,))
    if found.total:
        begin = a.first + b.first
        some = c[begin : begin + len(found.begins)]
        with np.errstate(over="ignore"):
            least_sums(some, a.values, b.values, _upward(low), found.begins, found.ends)
    return c


def _upward(low: Lowering) -> float:
    return 1.0 if low.add.is_plain("minimum") else -1.0


def _arrays(x: Slopes) -> tuple[np.ndarray, ...]:
    return x.values, x.hull, x.high, x.low


@takes(10.0)
def intervals(
    begins: np.ndarray, ends: np.ndarray, upward: float, margin: float, a: np.ndarray, a_hull: np.ndarray,
    a_high: np.ndarray, a_low: np.ndarray, b: np.ndarray, b_hull: np.ndarray, b_high: np.ndarray, b_low: np.ndarray,
) -> int:
    """Write the bounds of `Candidates`; return how many these are."""
    j = k = count = 0
    for i in range(len(begins)):
        most = upward * a[j] + upward * b[k] + margin
        for side in (-1, 1):
            limit = min(i, len(a) - 1) - j + 1 if side > 0 else j - max(i - len(b) + 1, 0) + 1
            inside, outside, step = 0, limit, 1  # steps from j: the first is one that can win, the second none
            while inside + step < outside:
                at = j + side * (inside + step)
                if a_hull[at] + b_hull[i - at] <= most:
                    inside += step
                    step *= 2
                else:
                    outside = inside + step
            while outside - inside > 1:
                middle = (inside + outside) // 2
                at = j + side * middle
                if a_hull[at] + b_hull[i - at] <= most:
                    inside = middle
                else:
                    outside = middle
            if side > 0:
                ends[i] = j + outside
            else:
                begins[i] = j - outside + 1
        count += ends[i] - begins[i]
        if a_high[j] < b_high[k] or (a_high[j] == b_high[k] and a_low[j] <= b_low[k] and j + 1 < len(a)):
            j += 1
        else:
            k += 1
    return count


@compiled
def least_sums(
    c: np.ndarray, a: np.ndarray, b: np.ndarray, upward: float, begins: np.ndarray, ends: np.ndarray
) -> None:
    """c_i ← a_j + b_{i−j} for the j within bounds that has the least sum."""
    for i in range(len(c)):
        best, at = np.inf, begins[i]
        for j in range(begins[i], ends[i]):
            s = upward * a[j] + upward * b[i - j]
            if s < best:
                best, at = s, j
        c[i] = a[at] + b[i - at]
