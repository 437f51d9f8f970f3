"""Elimination on the structure of a sparse matrix or graph: closures, factors and equations, never dense in between.

It runs on the host, a GPU or several GPUs by an engine of each; see `semiring.solvers.sparse.substitution`. Equations
over the real or the complex field, X = A X + B, are (1 − A) X = B: SuperLU solves them, which exchanges rows.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.tables import dtype_text
from semiring.algorithms.sparse.analysis import Analysis
from semiring.algorithms.sparse.costs import dense_seconds
from semiring.errors import NoClosureError, SemiringError
from semiring.kernels.build import code_of
from semiring.kernels.interface import Report
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy import library
from semiring.machine.interrupts import interruptible
from semiring.machine.progress import part_of, told
from semiring.machine.threads import thread_count
from semiring.operands.convert import as_sparse
from semiring.operands.dense import Dense
from semiring.operands.devices import COPY_RATE, FIRST_USE, gpu_name, require_gpu
from semiring.operands.operand import order_of
from semiring.operands.sparse import Sparse

from .. import costs
from ..beyond.gpus import gpus_of
from ..costs import SMALL, SparsePlan
from ..dense import factors, fields
from ..dense.factors import right_of
from ..dense.schedules import SPARSE, resolve_method
from ..forms import solution
from ..paths.searches import closure_if_faster
from ..plan import Plan
from ..refusals import singular
from ..task import Declined, Task
from .analysis import analysis_of, is_analysed, lowering_of
from .factors import SparseFactors
from .substitution import HOST, Engine, Substitution

SECONDS_FOR_A_GPU = 0.5  # of work from which on a GPU may be faster, copies included
SMALL_PIVOT = 0.01  # of the largest entry below it: SuperLU exchanges rows where a pivot is smaller
VERTEX, ENTRY, TERM = 2e-6, 2.4e-8, 5e-10  # seconds that SuperLU takes for each, of doubles, on its one core
SOLVED = 6e-10  # and for an entry of the factors and a column of B
LAPACK, PASSES = 1.4e-10, 5e-8  # seconds for a term, on a core, and for an entry of a matrix that is made and checked
COPIES = 3  # of the factors: as they grow, and as SciPy shows them
BOUND_SECONDS, BOUND_BYTES = 0.1, 1 << 30  # up to which a bound will do in place of an analysis
# In an order that keeps the factors small.
FEW_EXCHANGES = {
    "permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": SMALL_PIVOT, "options": {"SymmetricMode": True},
}
ESTIMATED_ORDER = 4  # above which the norm of an inverse is estimated
WAIT = 0.3  # seconds for which an interrupt may have to wait


Caller = Callable[[Callable[[], Any]], Any]  # calls a function, so that Ctrl-C works meanwhile or not


class Fill(NamedTuple):
    """The size of a decomposition."""

    entries: float  # of both factors
    terms: float


def offer(task: Task) -> Plan | None:
    """Elimination if it is asked for, or predicted to be the fastest method; factors in any case."""
    o, given = task.options, task.operands[0]
    devices = None if o.devices is None else gpus_of(task)
    on_gpu = devices is not None or o.device not in (None, "cpu") or given.on_gpu
    engine = _on_gpus(devices) if on_gpu else HOST
    if on_gpu:
        require_gpu(task.S, "gpu", given.dtype)
    elif not isinstance(given, Sparse) or o.packed:
        return None
    order_of(given.shape)
    if task.verb == "closure":
        return _closure(task, engine)
    if given.kind != "sparse":
        what = "a packed matrix" if given.kind == "packed" else "an array"
        raise SemiringError(f"factor with devices= is for sparse matrices and graphs, and A is {what}: leave out "
                            "devices, or pass a sparse matrix, such as scipy.sparse.csr_array(A)")
    given = as_sparse(given)
    by_superlu = _over_a_field(task, given) if task.verb == "solve" and engine is HOST else None
    return by_superlu or _factors(task, given, engine)


def _on_gpus(devices: tuple[int, ...] | None) -> Engine:
    """The engine of some GPUs, or of the current one."""
    from .on_gpus import Gpus

    return Gpus(devices)


def _closure(task: Task, engine: Engine) -> Plan | None:
    o, came = task.options, task.operands[0]
    method = o.method if o.method == "auto" else resolve_method(o.method, task.S)
    wanted = method == SPARSE
    if wanted and o.tile is not None:
        raise SemiringError("tile is for the dense schedules; method='sparse' eliminates front by front")
    if o.packed or o.on_divergence != "raise":
        return None
    on_host = engine is HOST
    bits = not on_host and came.dtype.kind == "b"
    if not wanted and (method != "auto" or o.tile is not None or came.shape[0] < SMALL or bits):
        return None
    given = came if isinstance(came, Sparse) else as_sparse(came)
    low = engine.lowering(given, room=False)
    if on_host and not wanted:
        return _fastest_on_host(task, given, low)
    analysis = analysis_of(given, o.order, low)
    there = not given.of_graph and (came.on_gpu or o.devices is None)
    plan = _plan(task, given, low, analysis, engine, there)
    if wanted:
        return replace(plan, reasons=plan.reasons | {"method": "as asked"})
    return plan if plan.seconds["elimination"] - plan.prepared <= plan.seconds["dense"] else None


def _fastest_on_host(task: Task, given: Sparse, low: Lowering) -> Plan | None:
    """Elimination or searches, whichever is predicted to be faster; None if the dense closure is."""
    o = task.options
    seconds = {"dense": dense_seconds(given.n, costs.lowering_rates(low))}
    if costs.not_worth_a_look(low, given):
        may_win = costs.least_search_seconds(low, given) < seconds["dense"]
        return closure_if_faster(task, given, low, seconds) if may_win else None
    analysis = analysis_of(given, o.order, low)
    given.spread = analysis.spread  # of the same edges
    found = costs.estimate(low, analysis, given.nnz, True)
    seconds["elimination"] = found.seconds["elimination"] - found.prepared  # the analysis is done
    fastest = min(seconds.values())
    if o.device is None and fastest > SECONDS_FOR_A_GPU and (
        plan := _on_gpu_if_faster(task, given, analysis, fastest)
    ):
        return plan
    if costs.search_times(low, given, given.n, given.alike).seconds < fastest and (
        plan := closure_if_faster(task, given, low, seconds)
    ):
        return plan
    if seconds["dense"] < seconds["elimination"]:
        return None
    return _plan(task, given, low, analysis, HOST, not given.of_graph)


def _plan(
    task: Task, given: Sparse, low: Lowering, analysis: Analysis, engine: Engine, there: bool
) -> SparsePlan:
    run = partial(_close, task, given, analysis, engine, there)
    return engine.plan("closure", low, analysis, given.nnz, run, there=there)


def _on_gpu_if_faster(task: Task, given: Sparse, analysis: Analysis, seconds: float) -> Plan | None:
    """The closure of a host matrix by elimination on the GPU, if that is predicted to take less time."""
    copies = given.n**2 * given.dtype.itemsize / COPY_RATE + FIRST_USE
    if gpu_name() is None or given.dtype.kind in "Oc" or copies > seconds:
        return None
    engine = _on_gpus(None)
    run = partial(_close, task, given, analysis, engine, False)
    plan = engine.plan("closure", engine.lowering(given, room=False), analysis, given.nnz, run)
    plan = replace(plan, reasons=plan.reasons | {"device": "predicted to be faster, with what is copied"})
    return plan if plan.seconds["elimination"] - plan.prepared + copies < seconds else None


def _factors(task: Task, given: Sparse, engine: Engine) -> Plan:
    low = engine.lowering(given, room=True)
    right = right_of(task, low.dtype)
    analysis = analysis_of(given, task.options.order, low, answer=False)
    run = partial(_run, task, given, analysis, engine, right)
    return engine.plan(task.verb, low, analysis, given.nnz, run, answer=False)


def _close(task: Task, given: Sparse, analysis: Analysis, engine: Engine, there: bool, plan: SparsePlan) -> Any:
    """The closure: `there`, on a GPU, or in the host's memory."""
    o = task.options
    if o.progress is False:
        return _eliminated(task, given, analysis, engine, plan, None).expanded(o.reflexive, None, there)
    with told(o.progress, f"{task.S.name} closure") as report:
        share = costs.factoring_share(plan)
        F = _eliminated(task, given, analysis, engine, plan, part_of(report, 0.0, share))
        return F.expanded(o.reflexive, part_of(report, share, 1.0), there)


def _run(task: Task, given: Sparse, analysis: Analysis, engine: Engine, right: Dense | None, plan: SparsePlan) -> Any:
    progress = task.options.progress
    try:
        with nullcontext() if progress is False else told(progress, f"{task.S.name} {task.verb}") as report:
            F = _eliminated(task, given, analysis, engine, plan, report)
    except fields.Distrusted:  # only of equations, on the host
        assert right is not None
        if not plan.lowering.inverts:
            raise Declined("dual numbers") from None
        return _superlu_solution(given, right, plan.lowering, interruptible, None, task.options.check)
    return SparseFactors(F) if right is None else F.solution(right)


def _eliminated(
    task: Task, given: Sparse, analysis: Analysis, engine: Engine, plan: SparsePlan, report: Report | None
) -> Substitution:
    o, kept = task.options, task.verb == "factor"
    if kept:  # it may be eliminated anew, and the caller's arrays may change till then
        given = given.copy()
    mend = task.verb != "solve" or plan.lowering.on_gpu  # on the host SuperLU solves what elimination cannot
    try:
        return Substitution(given, analysis, engine, check=o.check, plan=plan, report=report, mend=mend)
    except NoClosureError as e:
        # A star other than 1 may be undefined in one order of elimination only.
        if task.S.has_unit_stars or kept or o.method == SPARSE:
            raise
        raise Declined from e


def _over_a_field(task: Task, given: Sparse) -> Plan | None:
    """Equations by SuperLU, or by LAPACK on the dense matrix if that is predicted to be faster.

    None if fronts are compiled and have been analysed: they take SuperLU's place.
    """
    n, low = given.n, lowering_of(given, room=True)
    if not low.inverts or not n:
        return None
    right = right_of(task, low.dtype)
    assert right is not None
    columns, cost = right.shape[1] if len(right.shape) > 1 else 1, fields.relative_cost(low.dtype)
    dense = lapack_seconds(n, columns, cost)
    analysed = is_analysed(given)
    if analysed and code_of(low, "fronts").bought:
        found = costs.estimate(low, analysis_of(given), given.nnz, False)
        return None if found.seconds["elimination"] - found.prepared <= max(dense, BOUND_SECONDS) else _as_dense(task)
    fill = filled(analysis_of(given)) if analysed else envelope(given)
    seconds = superlu_seconds(fill, n, columns, cost)
    if not analysed and (seconds > max(dense, BOUND_SECONDS) or superlu_memory(fill, n, low.dtype) > BOUND_BYTES):
        fill = filled(analysis_of(given))
        seconds = superlu_seconds(fill, n, columns, cost)
    if seconds > max(dense, BOUND_SECONDS):
        return _as_dense(task)
    return Plan(
        operation="solve", algebra=task.S, shape=given.shape, method="SuperLU", lowering=low, place="CPU, 1 thread",
        work=fill.terms, memory=superlu_memory(fill, n, low.dtype),
        runner=partial(_solve_by_superlu, task, given, right, seconds),
        needs=(f"the factors of {n} × {n} {dtype_text(given.dtype)} (about {fill.entries:.3g} entries)",
               "use a narrower dtype or fewer vertices"),
        reasons={"method": "⊕ and ⊗ are the ordinary sum and product"}, nnz=given.nnz,
        seconds={"SuperLU": seconds, "dense": dense},
    )


def _as_dense(task: Task) -> Plan:
    plan = factors.offer(task)
    why = f"{plan.reasons['method']}, of the dense matrix: the sparse one is predicted to fill in"
    return replace(plan, reasons=plan.reasons | {"method": why})


def lapack_seconds(n: int, columns: int, cost: float) -> float:
    """Seconds that LAPACK takes for the dense matrix and so many columns of B; `cost` as for `superlu_seconds`."""
    return cost * (LAPACK * (n**3 / 3 + n**2 * columns) / min(thread_count(), 16) + PASSES * n**2)


def superlu_seconds(fill: Fill, n: int, columns: int, cost: float) -> float:
    """Seconds that SuperLU takes for so many columns of B; `cost` is that of a multiply-add, 1 for doubles."""
    return cost * (VERTEX * n + ENTRY * fill.entries + TERM * fill.terms + SOLVED * fill.entries * columns)


def superlu_memory(fill: Fill, n: int, dtype: np.dtype) -> int:
    """Bytes that SuperLU takes."""
    return int(COPIES * (fill.entries * (dtype.itemsize + np.dtype(np.int32).itemsize) + n * dtype.itemsize))


def filled(analysis: Analysis) -> Fill:
    """The size of the factors in the order of an analysis, with the zeros that merged supernodes store.

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
    """A bound on the size of the factors if neighbours are numbered together, found without an analysis.

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


def _solve_by_superlu(task: Task, given: Sparse, right: Dense, seconds: float, plan: Plan) -> Any:
    call = interruptible if seconds > WAIT else _at_once
    try:
        with told(task.options.progress, f"{task.S.name} solve") as report:
            return _superlu_solution(given, right, plan.lowering, call, report, task.options.check)
    except Declined:  # the factors do not fit, or numbers overflow
        return _factors(task, given, HOST).run()


def _superlu_solution(
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
    matrix: Any  # 1 − A, by rows
    sizes: Any  # |1 − A|

    def solve(self, B: np.ndarray) -> np.ndarray:
        """A* B, refined by one step where the residual of an entry is more than rounding: R. D. Skeel (1980)."""
        X = self.lu.solve(B, trans="T")
        with np.errstate(all="ignore"):
            left = B - self.matrix @ X
            explained = (len(X) + 8) * np.finfo(X.dtype).eps * (self.sizes @ abs(X) + abs(B))
            if (abs(left) > explained).any() and library.are_finite(left):
                X += self.lu.solve(left, trans="T")
        return np.asarray(X)


def decomposed(A: Sparse, low: Lowering) -> Decomposed:
    """Decompose the transpose of 1 − A by SuperLU: with few exchanges of rows, or with as many as it needs.

    X. S. Li, An overview of SuperLU (2005).

    Raises
    ------
    NoClosureError
        If 1 − A is singular, or rounding hides whether it is.
    Declined
        If the factors do not fit in memory.
    """
    from scipy.sparse import csc_array, eye_array
    from scipy.sparse.linalg import splu

    rows = A.stored(low, False)
    values = library.numbers(rows.values)
    transposed = csc_array((values, rows.columns, rows.offsets), shape=A.shape)
    matrix = eye_array(A.n, dtype=values.dtype, format="csc") - transposed
    by_rows = matrix.T
    sizes = abs(by_rows)
    for options in FEW_EXCHANGES, {}:
        try:
            found = Decomposed(splu(matrix, **options), by_rows, sizes)
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
    """The condition number of a sparse matrix by W. W. Hager's estimate; ∞ if it is singular."""
    from scipy.sparse.linalg import LinearOperator, onenormest, splu

    try:
        lu = splu(matrix)
    except RuntimeError:
        return np.inf
    if matrix.shape[0] <= ESTIMATED_ORDER:
        return float(np.linalg.cond(matrix.toarray(), 1))

    def solve(v: np.ndarray, trans: str = "N") -> np.ndarray:
        return np.asarray(lu.solve(v.astype(matrix.dtype), trans=trans))

    with np.errstate(all="ignore"):
        inverse = LinearOperator(matrix.shape, solve, partial(solve, trans="H"), dtype=matrix.dtype)
        return float(onenormest(inverse) * abs(matrix).sum(0).max())
