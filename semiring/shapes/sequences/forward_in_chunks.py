"""Long chains of rows in the memory of a GPU: each sequence is cut into chunks, which are computed at once.

A step of a row waits for the one before it, so that a few long sequences leave a GPU idle. The product of all matrices
of a chunk takes n times the terms, but all chunks are multiplied side by side. With N_t = diag(e_{t−1}) A_t a row
before its emissions is y_t = y_{t−1} ⊗ N_t, so

    M_c = N_{cL+1} ⊗ … ⊗ N_{(c+1)L},    y_{(c+1)L} = y_{cL} ⊗ M_c,    and the rows of each chunk from y_{cL}.

The rows y_{cL} are a shorter chain, which is computed in the same way. Kernels of chains multiply small matrices;
larger ones take a product of the engine for each step, of all chunks at once. G. E. Blelloch, Prefix sums and their
applications (1990), section 1.3.

A product M may leave the numbers of a dtype where rows do not. The data bound sums under min, max or log-sum-exp,
comparisons, and small integers. Products of floats by × have no such bounds, so their chunks are compared at the
*seams*: the first row of each chunk is computed again from the last row before it. If all agree up to rounding, the
rows are those of a walk step by step whose elements are rounded a little more at the seams; if not, that walk is made
instead. Seams also tell which terms won the first row of a chunk.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.kernels.cpu.dense.steps import Sequences
from semiring.kernels.cuda.dense.chains import chains
from semiring.kernels.cuda.dense.exchange import Report
from semiring.kernels.cuda.dense.outer import outer
from semiring.kernels.cuda.dense.steps import geometry_of, walk
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.comparing import only_compares
from semiring.operands.devices import module_of

from . import forward_by_products as by_products

TERMS = 4e12  # terms of products of matrices a second in all, of 4 bytes each
LAUNCHES = 1.5e-3  # seconds of the launches for a sequence, and of a look at its elements
LEAST_LENGTH = 16  # of a chunk
EACH = 2.5e-4  # and of those for every other sequence of the same length
FEW = 64  # sequences
WORTH = 0.8  # of the time one row after the other, in which chunks are worth another order of rounding
BYTES = 1 << 30  # of matrices with emissions that are made at once


class Times(NamedTuple):
    """Seconds of a step, as long as few are taken at once, and how long chunks should be."""

    row: float  # of a row
    product: float  # of a product of matrices
    power: float  # of the rows of a sequence, which a chunk has


SHORT = Times(1e-6, 1.5e-6, 0.4)  # in a launch: a step waits for memory
LONG = Times(1e-4, 4e-5, 0.3)  # launches of their own


def length_of(rows: int, step: Times) -> int:
    """Return how many rows a chunk has: so few that the first rows of all chunks are a chain worth cutting again."""
    return max(round(rows**step.power), LEAST_LENGTH)


def seconds(rows: int, n: int, itemsize: int, step: Times, count: int = 1) -> float:
    """Predict the time of some sequences of so many rows, side by side, in chunks if that is faster.

    Examples
    --------
    >>> seconds(100, 16, 4, SHORT) == 100 * SHORT.row
    True
    >>> seconds(10**6, 16, 4, SHORT) < 10**6 * SHORT.row / 100
    True
    """
    one_by_one = rows * step.row
    if rows <= 2 * LEAST_LENGTH:
        return one_by_one
    length = length_of(rows, step)
    products = max(length * step.product, float(rows) * count * n**3 * itemsize / (4 * TERMS))
    launches = LAUNCHES + (count - 1) * EACH
    in_chunks = launches + products + length * step.row + seconds(-(-rows // length), n, itemsize, step, count)
    return min(one_by_one, in_chunks)


def in_all(lengths: np.ndarray, n: int, itemsize: int, step: Times) -> float:
    """Predict the time of all sequences: those of equal length are cut side by side."""
    there, counts = np.unique(lengths[lengths > 0], return_counts=True)
    pairs = zip(there.tolist(), counts.tolist(), strict=True)
    return sum(seconds(rows, n, itemsize, step, count) for rows, count in pairs)


def are_faster(lengths: np.ndarray, n: int, itemsize: int, step: Times, row: float | None = None) -> bool:
    """Whether sequences of these lengths should be cut; one after the other, a row takes `row` seconds if given."""
    if not 0 < np.count_nonzero(lengths) <= FEW:
        return False
    return in_all(lengths, n, itemsize, step) < WORTH * int(lengths.max()) * (step.row if row is None else row)


def multiplies(S: Semiring, low: Any) -> bool:
    """Whether ⊗ is × of floats, under +, min or max: rows are then compared at the seams of chunks."""
    if low.dtype.names or low.dtype.kind != "f" or S.product_only or not low.is_identity or S.traced is None:
        return False
    mul = S.traced.raw_mul
    return mul.is_plain("multiply", "saturating_multiply") and low.add.is_plain("add", "minimum", "maximum")


def stay_within(S: Semiring, low: Any, facts: Facts, rows: int) -> bool:
    """Whether products of so many matrices and emissions have the values of real arithmetic, up to rounding."""
    if low.dtype.names or low.dtype.kind == "c" or S.product_only or low.may_leave:
        return False
    if low.storage.itemsize > low.dtype.itemsize:
        return False
    if low.dtype.kind != "f" or only_compares(low):
        return True
    if S.traced is None or not S.traced.raw_mul.is_plain("add", "saturating_add"):
        return False
    if not (low.log_sum or low.add.is_plain("minimum", "maximum")):
        return False
    return 4.0 * float(facts.largest) * rows < float(np.finfo(low.dtype).max)


class ShortRows:
    """Rows that registers hold, and products by the kernels of chains; operands are data.

    Parameters
    ----------
    low : CudaLowering
        With `backwards` of the exchanged algebra.
    found : Report
        Gets what is found in the rows.
    """

    step, transposed = SHORT, False

    def __init__(self, low: Any, found: Report):
        found.clear()
        self.low, self.host = low, found.host
        self.kept: list[Any] = []  # what launches read, until they have run

    @staticmethod
    def fit(low: Any, n: int) -> bool:
        """Whether the kernels take rows and matrices of this order."""
        return geometry_of(low, n) is not None and chains(low, False, False).fits(n, n)

    def clear(self) -> None:
        """Keep what other launches found."""

    def walk(self, given: Sequences, out: Any, backwards: bool, back: Any = None) -> None:
        """The rows of some sequences, one after the other, and the terms that won."""
        self.kept += [given, walk(self.low, given, out, back, backwards, self, False)]  # type: ignore[arg-type]

    def stored(self, array: Any) -> Any:
        """Data in storage."""
        return array if self.low.is_identity else self.low.encode(array, True)

    def data(self, stored: Any) -> Any:
        """Storage as data."""
        return self.low.decode(stored)

    def product(self, stacks: Any) -> Any:
        """The product of each stack of matrices in storage."""
        return chains(self.low, False, False).product(stacks)[:, 0]


class LongRows:
    """Rows and products by the engine; operands are in storage, and with `backwards` matrices are transposed."""

    step, transposed = LONG, True

    def __init__(self, low: Any, engine: Any, winners: Any = None):
        self.low, self.engine, self.winners = low, engine, winners

    def walk(self, given: Sequences, out: Any, backwards: bool, back: Any = None) -> None:
        """The rows of some sequences, one after the other, and the terms that won."""
        by_products.walk(self.engine, self.winners, partial(outer, self.low), given, out, back, backwards)

    def stored(self, array: Any) -> Any:
        """The operand, which is in storage."""
        return array

    data = stored

    def product(self, stacks: Any) -> Any:
        """The product of each stack of matrices, a step of all at once."""
        total = stacks[:, 0]
        for t in range(1, stacks.shape[1]):
            longer = self.low.empty(total.shape)
            self.engine.multiply_stack(longer, total, stacks[:, t])
            total = longer
        return total


def walk_in_chunks(
    by: ShortRows | LongRows, given: Sequences, out: Any, backwards: bool, back: Any = None, compares: bool = False
) -> bool:
    """out[t] ← x ⊗ A₁ ⊗ … ⊗ A_t for all t and every sequence.

    Parameters
    ----------
    by : ShortRows or LongRows
    given : Sequences
    out : array, shape (rows, n)
    backwards : bool
    back : array of unsigned integers, shape (rows, n), optional
        Gets the least k of the term that won.
    compares : bool
        Whether rows are to be compared at the seams of chunks.

    Returns
    -------
    bool
        Whether they agree up to rounding; if not, the rows are of no use.
    """
    agree = True
    for rows in np.unique(given.lengths[given.lengths > 0]).tolist():
        same = _some(given, given.lengths == rows)
        length, starts = _walk_equal(by, same, out, backwards, back)
        if starts is not None and (compares or back is not None):
            agree = _sewn(by, same, length, starts, out, backwards, back, compares) and agree
    return agree


def _some(given: Sequences, chosen: Any) -> Sequences:
    """Some of the sequences."""
    return given._replace(**{
        name: getattr(given, name)[chosen] for name in ("x_at", "a_at", "e_at", "rows_at", "lengths")
    })


def _walk_equal(
    by: ShortRows | LongRows, given: Sequences, out: Any, backwards: bool, back: Any = None
) -> tuple[int, Any]:
    """The rows of sequences of equal length; the length of their chunks, and the first row of each, or None."""
    rows, n, count = int(given.lengths[0]), given.x.shape[-1], len(given.lengths)
    if seconds(rows, n, by.low.dtype.itemsize, by.step, count) >= rows * by.step.row:
        by.walk(given, out, backwards, back)
        return rows, None
    length = length_of(rows, by.step)
    begins = np.arange(0, rows, length)
    ends, chunks = np.minimum(begins + length, rows), len(begins)
    made = [_totals(by, _some(given, slice(s, s + 1)), length, chunks - 1, backwards) for s in range(count)]
    totals = made[0] if count == 1 else module_of(out).concatenate(made)
    starts, which = module_of(out).empty((count * chunks, n), out.dtype), np.arange(count)
    _walk_equal(by, Sequences(
        given.x, totals, None, given.x_at, which * (chunks - 1), 0 * which, which * chunks,
        np.full(count, chunks), 1,
    ), starts, False)
    first = rows - ends if backwards else begins
    by.walk(Sequences(
        starts, given.A, given.e, np.arange(count * chunks), _each(given.a_at, given.a_step * first),
        _each(given.e_at, first), _each(given.rows_at, first), np.tile(ends - begins, count), given.a_step,
    ), out, backwards, back)
    return length, starts


def _each(places: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """The places of some steps of every sequence, one sequence after the other."""
    return (places[:, None] + steps).reshape(-1)


def _sewn(
    by: ShortRows | LongRows, given: Sequences, length: int, starts: Any, out: Any, backwards: bool, back: Any,
    compares: bool,
) -> bool:
    """Compute the first row of each chunk but the first from the row before; whether it is the row that was there.

    These are sequences of two rows, the first of which is there, with its emissions unless `backwards`.
    """
    xp, rows, count = module_of(out), int(given.lengths[0]), len(given.lengths)
    steps = np.arange(length, rows, length)
    before, now = (rows - steps, rows - 1 - steps) if backwards else (steps - 1, steps)
    first, seams = np.minimum(before, now), count * len(steps)
    two = xp.empty((2 * seams, out.shape[1]), out.dtype)
    which: Any = None if back is None else xp.zeros(two.shape, back.dtype)
    sewn = Sequences(
        out, given.A, given.e if backwards else None, _each(given.rows_at, before),
        _each(given.a_at, given.a_step * first), _each(given.e_at, first), 2 * np.arange(seams), np.full(seams, 2),
        given.a_step,
    )
    by.walk(sewn, two, backwards, which)
    again = slice(0 if backwards else 1, None, 2)
    if which is not None:
        back[xp.asarray(_each(given.rows_at, now))] = which[again]
    there = starts.reshape(count, -1, out.shape[1])[:, 1:].reshape(seams, out.shape[1])
    return not compares or _are_near(by, sewn, there, two, again, length, backwards)


def _are_near(
    by: ShortRows | LongRows, sewn: Sequences, starts: Any, two: Any, again: slice, length: int, backwards: bool
) -> bool:
    """Whether rows at seams differ by no more than the rounding of a chunk.

    It is relative to an element, or to the sum of the sizes of its terms, of which some may be negative. Numbers that
    underflow differ by a few of the least ones.
    """
    xp, n, numbers = module_of(two), two.shape[1], np.finfo(two.dtype)
    found, sizes = two[again], two
    if by.low.add.is_plain("add"):

        def absolute(array: Any, places: np.ndarray) -> Any:
            return xp.ascontiguousarray(xp.abs(array[xp.asarray(places)]))

        count, sizes = len(found), xp.empty(two.shape, two.dtype)
        matrices, which = np.unique(sewn.a_at, return_inverse=True)
        both = None if sewn.e is None else absolute(sewn.e, (sewn.e_at[:, None] + np.arange(2)).reshape(-1))
        by.walk(Sequences(
            absolute(sewn.x, sewn.x_at), absolute(sewn.A, matrices), both, np.arange(count), which, sewn.rows_at,
            sewn.rows_at, sewn.lengths, sewn.a_step,
        ), sizes, backwards)
    rounding = 2 * (n + 4) * length
    least = two.dtype.type(rounding * numbers.smallest_subnormal)
    most = xp.abs(sizes[again]) * two.dtype.type(rounding * numbers.eps) + least
    with np.errstate(invalid="ignore"):  # ∞ − ∞, which is not near
        return bool((xp.abs(found - starts) <= most).all())


def _totals(by: ShortRows | LongRows, given: Sequences, length: int, count: int, backwards: bool) -> Any:
    """The product of the matrices and emissions of each chunk but the last one.

    Backwards these are the transposes, in the order in which steps come, over the exchanged algebra.
    """
    xp, n = module_of(given.A), given.x.shape[-1]
    rows = int(given.lengths[0])
    A, e = given.A[int(given.a_at[0]) :][: rows - 1 if given.a_step else 1], None
    if given.e is not None:
        e = given.e[int(given.e_at[0]) :][:rows]
    if backwards:
        A, e = A[::-1], None if e is None else e[::-1]
        if not by.transposed:
            A = A.swapaxes(1, 2) if e is not None else by_products.turned(A)
    totals = by.low.empty((count, n, n))
    at_once = max(BYTES // (length * n * n * by.low.storage.itemsize), 1)
    for some in (slice(first, min(first + at_once, count)) for first in range(0, count, at_once)):
        shape = some.stop - some.start, length
        steps = slice(some.start * length, some.stop * length)
        a = by.stored(A[steps].reshape(*shape, n, n) if given.a_step else A[None])
        if e is not None:
            a = outer(by.low, by.stored(e[steps].reshape(*shape, n, 1)), a)
        elif a.strides[-1] != a.itemsize:
            a = xp.ascontiguousarray(a)
        totals[some] = by.product(xp.broadcast_to(a, (*shape, n, n)))
    return by.data(totals)
