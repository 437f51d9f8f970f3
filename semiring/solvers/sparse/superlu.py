"""Equations over the real or the complex field with a sparse matrix, by SuperLU: X = A X + B is (1 − A) X = B."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from semiring.algorithms.sparse.analysis import Analysis
from semiring.kernels.build import code_of
from semiring.kernels.interface import Report
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy import library
from semiring.machine.threads import interruptible, thread_count
from semiring.operands.dense import Dense
from semiring.operands.operand import order_of
from semiring.operands.sparse import Sparse

from .. import costs
from ..cycles import singular
from ..dense import factors, fields
from ..dense.factors import right_of
from ..dense.fields import relative_cost
from ..forms import solution, told
from ..plan import Plan
from ..task import Declined, Task
from .analysis import analysis_of, is_analysed, lowering_of

SMALL_PIVOT = 0.01  # of the largest entry below it: SuperLU exchanges rows where a pivot is smaller
VERTEX, ENTRY, TERM = 2e-6, 2.4e-8, 5e-10  # seconds that SuperLU takes for each, of doubles, on its one core
SOLVED = 6e-10  # and for an entry of the factors and a column of B
LAPACK, PASSES = 1.4e-10, 5e-8  # seconds for a term, on a core, and for an entry of a matrix that is made and checked
COPIES = 3  # of the factors: as they grow, and as SciPy shows them
LOOK, MUCH = 0.1, 1 << 30  # seconds, and bytes, up to which a bound will do in place of an analysis
# In an order that keeps the factors small.
FEW_EXCHANGES = {
    "permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": SMALL_PIVOT, "options": {"SymmetricMode": True},
}
LEAST = 4  # order from which a norm is estimated
WAIT = 0.3  # seconds for which an interrupt may have to wait


Caller = Callable[[Callable[[], Any]], Any]


class Fill(NamedTuple):
    """What a decomposition is made of."""

    entries: float  # of both factors
    terms: float


def offer(task: Task) -> Plan | None:
    """Sparse equations in the field, or LAPACK on the dense matrix where that is predicted to be faster.

    Where fronts are compiled and have been analysed the next solver takes SuperLU's place.
    """
    given = task.operands[0]
    if not isinstance(given, Sparse):
        return None
    n, low = order_of(given.shape), lowering_of(given, room=True)
    if not low.inverts or not n:
        return None
    right = right_of(task, low.dtype)
    assert right is not None
    columns, cost = right.shape[1] if len(right.shape) > 1 else 1, relative_cost(low.dtype)
    dense = cost * (LAPACK * (n**3 / 3 + n**2 * columns) / min(thread_count(), 16) + PASSES * n**2)
    analysed = is_analysed(given)
    if analysed and code_of(low, "fronts").bought:
        found = costs.estimate(low, analysis_of(given), given.nnz, False)
        return None if found.seconds["elimination"] - found.prepared <= max(dense, LOOK) else _dense(task)
    fill = filled(analysis_of(given)) if analysed else envelope(given)
    seconds = predicted(fill, n, columns, cost)
    if not analysed and (seconds > max(dense, LOOK) or memory(fill, n, low.dtype) > MUCH):
        fill = filled(analysis_of(given))
        seconds = predicted(fill, n, columns, cost)
    if seconds > max(dense, LOOK):
        return _dense(task)
    return costs.PredictedPlan(
        operation="solve", algebra=task.S, shape=given.shape, method="SuperLU", lowering=low, place="CPU, 1 thread",
        work=fill.terms, memory=memory(fill, n, low.dtype), runner=partial(_run, task, given, right, seconds),
        needs=(f"the factors of {n} × {n} {given.dtype} (about {fill.entries:.3g} entries)",
               "use a narrower dtype or fewer vertices"),
        reasons={"method": "⊕ and ⊗ are the ordinary sum and product"}, nnz=given.nnz,
        seconds={"SuperLU": seconds, "dense": dense},
    )


def _dense(task: Task) -> Plan:
    plan = factors.offer(task)
    why = f"{plan.reasons['method']}, of the dense matrix: the sparse one is predicted to fill in"
    return replace(plan, reasons=plan.reasons | {"method": why})


def predicted(fill: Fill, n: int, columns: int, cost: float) -> float:
    """Seconds that SuperLU takes for so many columns of B, where a multiply-add costs more than one of doubles."""
    return cost * (VERTEX * n + ENTRY * fill.entries + TERM * fill.terms + SOLVED * fill.entries * columns)


def memory(fill: Fill, n: int, dtype: np.dtype) -> int:
    """Bytes that SuperLU takes."""
    return int(COPIES * (fill.entries * (dtype.itemsize + np.dtype(np.int32).itemsize) + n * dtype.itemsize))


def filled(analysis: Analysis) -> Fill:
    """What the factors hold in the order of an analysis, entries that merged supernodes have too many included.

    Examples
    --------
    A path of three is one supernode.

    >>> from semiring.algorithms.sparse.analysis import analyse
    >>> filled(analyse(np.array([0, 1, 2, 2]), np.array([1, 2])))
    Fill(entries=12.0, terms=9.0)
    """
    s, u = analysis.pivots.astype(float), analysis.reach.astype(float)
    return Fill(float((s * (s + 1) + 2 * s * u).sum()), float((s**3 / 3 + s * s * u + s * u * u).sum()))


def envelope(A: Sparse) -> Fill:
    """What the factors can hold at most where neighbours are numbered together, found without an analysis.

    No entry fills in before the first one of its row or column. E. Cuthill, J. McKee, Reducing the bandwidth of sparse
    symmetric matrices (1969).
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    pattern = csr_array((np.ones(A.nnz, np.int8), A.rows.columns, A.rows.offsets), shape=A.shape)
    place = np.empty(A.n, np.int64)
    place[reverse_cuthill_mckee(csr_array(pattern + pattern.T), symmetric_mode=True)] = np.arange(A.n)
    row, column = place[np.repeat(np.arange(A.n), np.diff(A.indptr))], place[A.rows.columns]
    first = np.arange(A.n)
    np.minimum.at(first, np.maximum(row, column), np.minimum(row, column))
    length = (np.arange(A.n) - first).astype(float)
    return Fill(float(2 * (length + 1).sum()), float((length * (length + 1)).sum()))


def _run(task: Task, given: Sparse, right: Dense, seconds: float, plan: Plan) -> Any:
    call = interruptible if seconds > WAIT else _at_once
    with told(task.options.progress, f"{task.S.name} solve") as report:
        return _solution(given, right, plan.lowering, call, report, task.options.check)


def solve(task: Task, given: Sparse, right: Dense) -> Any:
    """Equations of which elimination without exchange of rows made something wrong."""
    low = lowering_of(given, room=True)
    if not low.inverts:
        raise Declined("dual numbers")
    return _solution(given, right, low, interruptible, None, task.options.check)


def _solution(
    given: Sparse, right: Dense, low: Lowering, call: Caller, report: Report | None, check: bool
) -> Any:
    lu = call(partial(decomposed, given, low))
    if report is not None:
        report(0.9)
    return solution(given, right, low, lambda wide: (low, partial(_apply, lu, call)), check)


def _at_once(function: Callable[[], Any]) -> Any:
    return function()


def _apply(lu: Decomposed, call: Caller, X: np.ndarray) -> None:
    numbers = library.numbers(X)
    found = call(lambda: lu.solve(numbers))
    if not library.are_finite(found):
        raise Declined("numbers overflow")
    numbers[...] = found


class Decomposed(NamedTuple):
    """The transpose of 1 − A, decomposed by SuperLU."""

    lu: Any
    matrix: Any

    def solve(self, B: np.ndarray) -> np.ndarray:
        """A* B, refined by one step where the residual of an entry is more than rounding: R. D. Skeel (1980)."""
        X = self.lu.solve(B, trans="T")
        with np.errstate(all="ignore"):
            left = B - self.matrix.T @ X
            explained = (len(X) + 8) * np.finfo(X.dtype).eps * (abs(self.matrix.T) @ abs(X) + abs(B))
            if (abs(left) > explained).any() and library.are_finite(left):
                X += self.lu.solve(left, trans="T")
        return np.asarray(X)


def decomposed(A: Sparse, low: Lowering) -> Decomposed:
    """The transpose of 1 − A as SuperLU decomposes it: with few exchanges of rows, and with all that it needs.

    X. S. Li, An overview of SuperLU (2005).

    Raises
    ------
    NoClosureError
        Where 1 − A is singular, or rounding hides whether it is.
    Declined
        Where the factors do not fit.
    """
    from scipy.sparse import csc_array, eye_array
    from scipy.sparse.linalg import splu

    rows = A.stored(low, False)
    values = library.numbers(rows.values)
    transposed = csc_array((values, rows.columns, rows.offsets), shape=A.shape)
    matrix = eye_array(A.n, dtype=values.dtype, format="csc") - transposed
    for options in FEW_EXCHANGES, {}:
        try:
            found = Decomposed(splu(matrix, **options), matrix)
        except MemoryError as e:
            raise Declined(str(e)) from e
        except RuntimeError:  # a pivot is 0, and no other can be had
            continue
        if fields.is_trusted(rows, low, partial(_in_place, found)):
            return found
    raise singular(A.S, A.graph(), A.names, _condition(matrix), A.dtype)


def _in_place(lu: Decomposed, X: np.ndarray) -> None:
    numbers = library.numbers(X)
    numbers[...] = lu.solve(numbers)


def _condition(matrix: Any) -> float:
    """The condition number of a sparse matrix, as W. W. Hager's method estimates it; ∞ where it is singular."""
    from scipy.sparse.linalg import LinearOperator, onenormest, splu

    try:
        lu = splu(matrix)
    except RuntimeError:
        return np.inf
    if matrix.shape[0] <= LEAST:
        return float(np.linalg.cond(matrix.toarray(), 1))

    def solve(v: np.ndarray, trans: str = "N") -> np.ndarray:
        return np.asarray(lu.solve(v.astype(matrix.dtype), trans=trans))

    with np.errstate(all="ignore"):
        inverse = LinearOperator(matrix.shape, solve, partial(solve, trans="H"), dtype=matrix.dtype)
        return float(onenormest(inverse) * abs(matrix).sum(0).max())
