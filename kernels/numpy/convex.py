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
below. So only the j can win for which it is at most the sum at the step of the merge: those of an interval. One
interval is found for some neighbours of the answer, and all its j are looked at for all of these, by vectors of the
processor. So the answer has the bits of the definition again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from semiring.kernels.cpu.compile.plain import compiled, takes
from semiring.kernels.lowering.base import Lowering
from semiring.machine.pieces import parts_worth, ranges, share
from semiring.machine.threads import thread_count

from .dense import operations

WHOLE = 1 / 64  # whole numbers are exact up to this over the machine epsilon, as everywhere
LARGEST = 1 << 52  # integers that floats hold, and their differences
ROUNDING = 16 * float(np.finfo(np.float64).eps)  # of numbers of a hull, and their sums, relative to the largest
TINY = float(np.finfo(np.float64).tiny)  # what rounding to denormal numbers takes away
COST = 250  # terms that vectors take in the time of a candidate here
BLOCK = 32  # sums for which an interval is found
PART = 256  # differences after which it is known whether others matter
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
        least, most = (float(end(self.hull, initial=0.0)) for end in (np.min, np.max))
        return self.rounding + ROUNDING * max(-least, most)


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


@takes(1.0, light=False)
def differences(y: np.ndarray, high: np.ndarray, low: np.ndarray, eps: float) -> int:
    """Write the exact differences of a sequence as pairs; return whether they ascend, exactly or nearly."""
    n = len(y)
    whole, ascend, nearly = True, True, True
    for begin in range(0, n - 1, PART):
        before, end, finite = max(begin - 1, 0), min(begin + PART, n - 1), True
        z, slope, rest = y[before : end + 1], high[before:end], low[before:end]
        for i in range(len(slope)):
            h = z[i + 1] - z[i]
            back = h + z[i]
            slope[i], rest[i] = h, (z[i + 1] - back) - (z[i] - (back - h))
        for i in range(len(slope)):
            finite &= abs(slope[i]) < np.inf
            whole &= (z[i] == np.rint(z[i])) & (abs(z[i]) * eps <= WHOLE)
        for i in range(1, len(slope)):
            bend = slope[i] - slope[i - 1]
            ascend &= (bend > 0) | ((bend == 0) & (rest[i] >= rest[i - 1]))
            nearly &= bend >= -2 * eps * (abs(z[i - 1]) + 2 * abs(z[i]) + abs(z[i + 1]))
        if not finite or not (ascend or nearly):
            return NOT
    high[n - 1], low[n - 1] = np.inf, 0.0
    whole &= (y[n - 1] == np.rint(y[n - 1])) & (abs(y[n - 1]) * eps <= WHOLE)
    if not abs(y[n - 1]) < np.inf or (whole and not ascend):
        return NOT
    return EXACTLY if ascend else NEARLY


@compiled
def hull(y: np.ndarray, high: np.ndarray, low: np.ndarray, corners: np.ndarray) -> float:
    """Replace a sequence by its hull, and write the slopes of this; return the most by which this lies above."""
    n, count, above = len(y), 1, 0.0  # low holds slopes between corners
    corners[0] = 0
    for i in range(1, n):
        while count > 1 and low[count - 1] * (i - corners[count - 1]) >= y[i] - y[corners[count - 1]]:
            count -= 1
        low[count] = (y[i] - y[corners[count - 1]]) / (i - corners[count - 1])
        corners[count] = i
        count += 1
    for c in range(1, count):
        begin, end, slope = corners[c - 1], corners[c], low[c]
        start = y[begin]
        for i in range(begin, end):
            line = start + slope * (i - begin)
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
    """For each `BLOCK` sums of two nearly convex sequences, where the j begin and end that can be the best ones.

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
    begins, ends = np.empty((2, -(-length // BLOCK)), np.int64)
    if not length:
        return Candidates(begins, ends, 0)
    with np.errstate(over="ignore", invalid="ignore"):
        count = intervals(begins, ends, _upward(low), 4 * (a.margin + b.margin), *_arrays(a), *_arrays(b))
    return Candidates(begins, ends, int(count))


def least(low: Lowering, a: Slopes, b: Slopes, found: Candidates, count: int) -> np.ndarray:
    """The convolution of two nearly convex sequences, in storage, with so many elements in all."""
    c = operations(low).zeros((count,))
    if found.total:
        begin = a.first + b.first
        some = c[begin : begin + len(a.values) + len(b.values) - 1]
        given = some, a.values, b.values, low.add.is_plain("minimum"), found.begins, found.ends

        def part(first: int, last: int) -> None:
            with np.errstate(over="ignore"):
                least_sums(*given, first, last)

        threads = thread_count()
        share(part, ranges(len(found.begins), parts_worth(len(some), threads)), threads)
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
    """Write the bounds of `Candidates`; return how many these are.

    The j of a least sum has a sum of hulls that is above the least one of these by no more than the sum at the step of
    the merge is. While the most by which that happens in a block is allowed, neither the first nor the last such j
    goes back from one i to the next, because hulls are convex. So the first and the last i bound all j of a block.
    """
    j = k = count = 0
    for block in range(len(begins)):
        i, above = BLOCK * block, 0.0  # the most by which a least sum may lie above that of the hulls
        first, last, start, least = i, min(i + BLOCK, len(a) + len(b) - 1) - 1, j, a_hull[j] + b_hull[k]
        while True:
            beyond = upward * a[j] + upward * b[k] - (a_hull[j] + b_hull[k]) + margin
            above = beyond if beyond > above or not beyond < np.inf else above
            if i == last:
                break
            i += 1
            if a_high[j] < b_high[k] or (a_high[j] == b_high[k] and a_low[j] <= b_low[k] and j + 1 < len(a)):
                j += 1
            else:
                k += 1
        begins[block] = start - steps(first, start, -1, least + above, a_hull, b_hull)
        ends[block] = j + steps(last, j, 1, a_hull[j] + b_hull[k] + above, a_hull, b_hull) + 1
        count += ends[block] - begins[block]
        if a_high[j] < b_high[k] or (a_high[j] == b_high[k] and a_low[j] <= b_low[k] and j + 1 < len(a)):
            j += 1
        else:
            k += 1
    return count


@compiled
def steps(i: int, j: int, side: int, most: float, a: np.ndarray, b: np.ndarray) -> int:
    """How far from j to one side a_j + b_{i−j}, which is convex in j, is at most `most`; all the way if that is ∞."""
    inside, outside = 0, min(i, len(a) - 1) - j + 1 if side > 0 else j - max(i - len(b) + 1, 0) + 1
    if not most < np.inf:
        return outside - 1
    step = 1
    while inside + step < outside:
        at = j + side * (inside + step)
        if a[at] + b[i - at] <= most:
            inside += step
            step *= 2
        else:
            outside = inside + step
    while outside - inside > 1:
        middle = (inside + outside) // 2
        at = j + side * middle
        if a[at] + b[i - at] <= most:
            inside = middle
        else:
            outside = middle
    return inside


@takes(40.0, light=False)
def least_sums(
    c: np.ndarray, a: np.ndarray, b: np.ndarray, upward: bool, begins: np.ndarray, ends: np.ndarray,
    begin_block: int, end_block: int,
) -> None:
    """c_i ← the least, or the greatest, a_j + b_{i−j} for the j within bounds, in some blocks; c is zero before."""
    for block in range(begin_block, end_block):
        first, last = BLOCK * block, min(BLOCK * (block + 1), len(c))
        for j in range(begins[block], ends[block]):
            begin, end, x = max(first, j), min(last, j + len(b)), a[j]
            some, others = c[begin:end], b[begin - j : end - j]
            if upward:
                for t in range(len(some)):
                    s = x + others[t]
                    some[t] = s if s < some[t] else some[t]
            else:
                for t in range(len(some)):
                    s = x + others[t]
                    some[t] = s if s > some[t] else some[t]
