"""Long chains of rows in the memory of a GPU: each sequence is cut into chunks, which are computed at once.

A step of a row waits for the one before it, so that a few long sequences leave a GPU idle. The product of all matrices
of a chunk takes n times the terms, but all chunks are multiplied side by side. With N_t = diag(e_{t−1}) A_t a row
before its emissions is y_t = y_{t−1} ⊗ N_t, so

    M_c = N_{cL+1} ⊗ … ⊗ N_{(c+1)L},    y_{(c+1)L} = y_{cL} ⊗ M_c,    and the rows of each chunk from y_{cL}.

The rows y_{cL} are a shorter chain, which is computed in the same way. G. E. Blelloch, Prefix sums and their
applications (1990), section 1.3.

A product M may leave the numbers of a dtype where rows do not, so this is for algebras whose products stay within
bounds that the data tell: + under min, max or log-sum-exp, comparisons, and integers that are small enough.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.kernels.cpu.dense.steps import Sequences
from semiring.kernels.cuda.dense.chains import chains
from semiring.kernels.cuda.dense.exchange import Report
from semiring.kernels.cuda.dense.outer import outer
from semiring.kernels.cuda.dense.steps import walk
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.comparing import only_compares
from semiring.operands.devices import module_of

from .forward_by_products import turned

STEP = 1e-6  # seconds of a step of a row, which waits for memory
PRODUCT = 2.5e-6  # and of one that multiplies matrices
TERMS = 4e12  # terms of such products a second in all, of 4 bytes each
LAUNCHES = 2e-4  # seconds of the launches for a sequence
LEAST_LENGTH = 16  # of a chunk
FEW = 8  # sequences, one after the other
BYTES = 1 << 30  # of matrices with emissions that are made at once


def length_of(rows: int) -> int:
    """How many rows a chunk has: fewer than there are chunks, whose first rows are cut into chunks again."""
    return max(round(rows**0.4), LEAST_LENGTH)


def seconds(rows: int, n: int, itemsize: int) -> float:
    """Predict the time of a sequence of so many rows, in chunks if that is faster.

    Examples
    --------
    >>> seconds(100, 16, 4) == 100 * STEP
    True
    >>> seconds(10**6, 16, 4) < 10**6 * STEP / 100
    True
    """
    one_by_one = rows * STEP
    if rows <= 2 * LEAST_LENGTH:
        return one_by_one
    length = length_of(rows)
    products = max(length * PRODUCT, float(rows) * n**3 * itemsize / (4 * TERMS))
    in_chunks = LAUNCHES + products + length * STEP + seconds(-(-rows // length), n, itemsize)
    return min(one_by_one, in_chunks)


def are_faster(lengths: np.ndarray, n: int, itemsize: int) -> bool:
    """Whether sequences of these lengths should be cut."""
    there = lengths[lengths > 0].tolist()
    if not 0 < len(there) <= FEW:
        return False
    return sum(seconds(rows, n, itemsize) for rows in there) < 0.8 * max(there) * STEP


def stay_within(S: Semiring, low: Any, facts: Facts, rows: int) -> bool:
    """Whether products of so many matrices and emissions have the values of real arithmetic, up to rounding."""
    if low.dtype.names or S.product_only or low.storage.itemsize > low.dtype.itemsize or low.may_leave:
        return False
    if low.dtype.kind != "f" or only_compares(low):
        return True
    if S.traced is None or not S.traced.raw_mul.is_plain("add", "saturating_add"):
        return False
    if not (low.log_sum or low.add.is_plain("minimum", "maximum")):
        return False
    return 4.0 * float(facts.largest) * rows < float(np.finfo(low.dtype).max)


def fit(low: Any, n: int) -> bool:
    """Whether the kernels of chains take matrices of this order."""
    return chains(low, False, False).fits(n, n)


def walk_in_chunks(low: Any, given: Sequences, out: Any, backwards: bool, found: Report) -> list[Any]:
    """The rows of all sequences; parameters as for `kernels.cuda.dense.steps.walk`.

    Returns
    -------
    list of array
        What the launches read, until they have run.
    """
    kept: list[Any] = []
    found.clear()
    flags = Flags(found)
    for s in np.flatnonzero(given.lengths > 0):
        one = given._replace(**{
            name: getattr(given, name)[s : s + 1] for name in ("x_at", "a_at", "e_at", "rows_at", "lengths")
        })
        _walk_one(low, one, out, backwards, flags, kept)
    return kept


class Flags:
    """A report to which several launches add."""

    def __init__(self, found: Report):
        self.host = found.host

    def clear(self) -> None:
        """Keep what was found."""


def _walk_one(low: Any, given: Sequences, out: Any, backwards: bool, found: Any, kept: list[Any]) -> None:
    rows, n, itemsize = int(given.lengths[0]), given.x.shape[-1], low.dtype.itemsize
    if seconds(rows, n, itemsize) >= rows * STEP:
        kept.append(walk(low, given, out, None, backwards, found, False))
        return
    length = length_of(rows)
    begins = np.arange(0, rows, length)
    ends = np.minimum(begins + length, rows)
    totals = _totals(low, given, length, len(begins) - 1, backwards)
    starts = module_of(out).empty((len(begins), n), low.dtype)
    place = np.zeros(1, np.int64)
    _walk_one(low, Sequences(
        given.x, totals, None, given.x_at, place, place, place, np.array([len(begins)]), 1,
    ), starts, False, found, kept)
    first = rows - ends if backwards else begins
    kept.append(walk(low, Sequences(
        starts, given.A, given.e, np.arange(len(begins)), given.a_at + given.a_step * first,
        given.e_at + first, given.rows_at + first, ends - begins, given.a_step,
    ), out, None, backwards, found, False))
    kept += [totals, starts]


def _totals(low: Any, given: Sequences, length: int, count: int, backwards: bool) -> Any:
    """The product of the matrices and emissions of each chunk but the last one, as data.

    Backwards these are the transposes, in the order in which steps come, over the exchanged algebra.
    """
    xp, n = module_of(given.A), given.x.shape[-1]
    rows = int(given.lengths[0])
    A, e = given.A[int(given.a_at[0]) :][: rows - 1 if given.a_step else 1], None
    if given.e is not None:
        e = given.e[int(given.e_at[0]) :][:rows]
    if backwards:
        A, e = A[::-1].swapaxes(1, 2), None if e is None else e[::-1]
    if e is None and backwards:
        A = turned(A.swapaxes(1, 2))
    totals = low.empty((count, n, n))
    at_once = max(BYTES // (length * n * n * low.storage.itemsize), 1)
    for some in (slice(first, min(first + at_once, count)) for first in range(0, count, at_once)):
        shape = some.stop - some.start, length
        steps = slice(some.start * length, some.stop * length)
        a = A[steps].reshape(*shape, n, n) if given.a_step else A[None]
        a = _stored(low, a)
        if e is not None:
            a = outer(low, _stored(low, e[steps].reshape(*shape, n, 1)), a)
        elif a.strides[-1] != a.itemsize:
            a = xp.ascontiguousarray(a)
        a = xp.broadcast_to(a, (*shape, n, n))
        totals[some] = chains(low, False, False).product(a)[:, 0]
    return low.decode(totals)


def _stored(low: Any, array: Any) -> Any:
    return array if low.is_identity else low.encode(array, True)
