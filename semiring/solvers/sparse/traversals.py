"""Sparse matrices that one traversal of the graph answers, without elimination.

Closures that depend on reachability alone: strongly connected components, and bit sets along the condensation.

Symmetric matrices in which a walk is worth its worst edge: a best spanning forest, by the edges in their order.

Equations, closures, and rows of closures of acyclic graphs: substitution in topological order, whatever the algebra.

    X = A ⊗ X ⊕ B      vertices by the most edges of a walk from them:  A is strictly lower triangular
    x_i ← b_i ⊕ ⊕_{j<i} a_ij ⊗ x_j      in that order, so that each edge is looked at once

No star is needed. A* is the solution for B = 1. Rows of A* for some sources are X = X ⊗ A ⊕ B with a 1 for each source:
the same with Aᵀ, in which the element of X comes first in every ⊗.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.algebra.elements import equal, full, sequence
from semiring.algebra.evaluate import scalar_function
from semiring.algebra.expression import constant
from semiring.algebra.semiring import Semiring
from semiring.algorithms.sparse import traversal, work_list
from semiring.algorithms.sparse.costs import dense_seconds
from semiring.algorithms.sparse.spanning import joined_runs
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.build import PURPOSES, affordable, renting, sparse_kernel
from semiring.kernels.cpu.bits.choose import CODE
from semiring.kernels.cpu.bits.lowering import packed_bits
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.cpu.sparse.spanning import SpanningKernel
from semiring.kernels.cpu.sparse.structure import transpose
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.boolean import is_boolean
from semiring.kernels.lowering.general import general
from semiring.kernels.lowering.objects import python_integers
from semiring.kernels.numpy import bits
from semiring.kernels.numpy import components as by_numpy
from semiring.kernels.numpy import spanning as trees
from semiring.kernels.numpy.dense import operations
from semiring.kernels.numpy.structure import stable_order
from semiring.machine.progress import told
from semiring.machine.threads import cpu_place
from semiring.operands.dense import Dense
from semiring.operands.operand import Operand, order_of, order_of_one
from semiring.operands.sparse import Sparse

from .. import costs
from ..costs import SMALL
from ..dense.factors import right_of
from ..forms import Apply, refuse_overflow, solution
from ..paths.search import answered, ends_of, form_of, positions
from ..plan import Plan
from ..task import Declined, Task
from .analysis import lowering_of

if TYPE_CHECKING:
    from semiring.kernels.cpu.sparse.substitution import SubstitutionKernel

A_ROW_A_COMPONENT = "a row a component"  # the argument of a task whose answer may be a `Reach` instead
METHOD = PURPOSE = "substitution"
TREE = "spanning tree"
SHALLOW = 64  # edges of a longest walk up to which correcting labels takes no longer
WIDE = 1024  # columns of X from which on NumPy takes row after row: copies of some take longer than calls for each
TAKEN, PASSED, JOINED = 1e-6, 2e-6, 1.5e-5  # seconds in which a work list takes a vertex, passes an edge, by arrays
PASSES = 16  # times that a work list passes all edges before another way is tried
REACHED = 0.5  # of all pairs, one reaches the other in an acyclic graph
REASON = "the graph is acyclic: in topological order each edge is looked at once"


def offer(task: Task) -> Plan | None:
    """Closures of zeros and ones, and acyclic graphs, except for rows that a search finds faster."""
    o, given = task.options, task.operands[0]
    if not isinstance(given, Sparse) or o.device not in (None, "cpu"):
        return None
    if task.verb == "closure":
        return _closure(task, given)
    if order_of_one(given.shape) < SMALL:
        return None
    return _solve(task, given) if task.verb == "solve" else _rows(task, given)


def _closure(task: Task, given: Sparse) -> Plan | None:
    """The closure of a matrix that holds only zero and one."""
    o, S = task.options, task.S
    if o.method != "auto" or o.tile is not None:
        return None
    if not depends_on_reachability(S, given):
        return None if o.packed or given.n < SMALL else _tree(task, given) or acyclic_closure(task, given, given)
    n, dtype = order_of(given.shape), given.dtype
    size = n * n // 8 if o.packed else n * n * dtype.itemsize
    low = packed_bits(S, np.dtype(bool)) if o.packed else general(S, dtype)
    if not CODE.repays(bits.seconds(n, float(n) ** 3)):
        low = low.interpreted
    return Plan(
        operation="closure", algebra=S, shape=given.shape, method="components", lowering=low,
        place=cpu_place() if low.compiled else "", work=float(given.nnz),
        memory=size + n * n // 4, runner=partial(_closed, task, given),
        reasons={"method": "only reachability counts: components, and bit sets along the condensation"},
    )


def _tree(task: Task, given: Sparse) -> Plan | None:
    """The plan of a symmetric matrix's closure by a spanning forest, if ⊗ takes the worse of two elements."""
    rows, n = given.rows, given.n
    low = lowering_of(given, room=False) if task.S.is_bottleneck else None
    if low is None or low.kind != "numba" or not trees.is_ordered(low):
        return None
    if not np.array_equal(np.bincount(rows.columns, minlength=n), np.diff(rows.offsets)):
        return None
    there = transpose(rows)
    if not (np.array_equal(there.columns, rows.columns) and np.array_equal(there.values, rows.values)):
        return None
    low = affordable(low, n, float(n) ** 2, TREE)
    return Plan(
        operation="closure", algebra=task.S, shape=given.shape, method=TREE, lowering=low, work=float(n) ** 2,
        place=cpu_place() if low.compiled else "", memory=2 * n * n * low.storage.itemsize,
        runner=partial(_by_tree, task, given), nnz=given.nnz,
        reasons={"method": "A is symmetric, and a walk is worth its worst edge"},
    )


def _by_tree(task: Task, given: Sparse, plan: Plan) -> Any:
    """Join runs of vertices by edges, the best first, and fill the closure along their order."""
    low, rows, n, o = plan.lowering, given.rows, given.n, task.options
    with told(o.progress, f"{task.S.name} closure"):
        stored, tails = low.encode(rows.values, True), np.repeat(np.arange(n), np.diff(rows.offsets))
        half = np.flatnonzero(tails < rows.columns)
        by_value = half[np.argsort(stored[half], kind="stable")]
        best_first = by_value if low.add.is_plain("minimum") else by_value[::-1]
        order, edges = np.empty(n, np.int64), np.empty(n, np.int64)
        joined_runs(tails[best_first], rows.columns[best_first].astype(np.int64), order, edges)
        weights = np.full(n, low.zero[0], low.storage)
        weights[edges >= 0] = stored[best_first[edges[edges >= 0]]]
        D, loops = np.empty((n, n), low.storage), tails == rows.columns
        if not o.reflexive:
            np.fill_diagonal(D, low.zero[0])
            D[tails[loops], tails[loops]] = stored[loops]
            np.fill_diagonal(D, trees.recoded(D.diagonal(), low.flipped))
        kernel = SpanningKernel.of(low) if low.compiled else trees.ArraySpanning(low)
        with renting(low, TREE):
            kernel.fill(D, order.astype(np.int32), weights, o.reflexive, low.flipped)
    return given.wrap(D.view(given.dtype) if low.flipped else low.decode(D))


def acyclic_closure(task: Task, A: Sparse, given: Operand) -> Plan | None:
    """The plan of a closure row by row in topological order, unless A has a cycle or the dense closure is faster.

    `given` wraps the answer.
    """
    n = A.n
    if not may_be_acyclic(A.rows):
        return None
    low = lowering_of(A, room=False)
    rate, written = costs.lowering_rates(low), float(n) ** 2 * low.storage.itemsize
    seconds = {METHOD: REACHED * A.nnz * n / rate.sweep + written / rate.write, "dense": dense_seconds(n, rate)}
    if seconds[METHOD] >= seconds["dense"] or (height := heights_of(A.rows)) is None:
        return None
    levels = levels_of(A.rows, height)
    plan = _plan(task, A, low, levels, n, A.shape, partial(_expanded, task, given, levels))
    size = low.dtype.itemsize if low.storage != low.dtype else 0
    sorted_entries = 0 if plan.lowering.compiled else A.nnz * max(16, 12 + low.storage.itemsize)  # by NumPy's levels
    return replace(plan, memory=n * n * (low.storage.itemsize + size) + sorted_entries, seconds=seconds, nnz=A.nnz,
                   needs=("", "use a narrower dtype, fewer vertices, or closure_rows for some sources at a time"))


def _expanded(task: Task, given: Operand, levels: Levels, plan: Plan) -> Any:
    o, low = task.options, plan.lowering
    with told(o.progress, f"{task.S.name} closure"):
        X = low.decode(levels.closure(low))
    if o.check:
        refuse_overflow(low, X)
    if not o.reflexive:  # no walk comes back
        at = np.arange(len(X))
        X[at, at] = full(X[at, at], low.algebra.zero_in(X.dtype))
    return given.wrap(X)


def depends_on_reachability(S: Semiring, given: Sparse) -> bool:
    """Whether the closure of this matrix holds only zero and one: every edge weighs one, and 1 ⊕ 1 = 1* = 1."""
    values, part = given.values, _boolean_part(S, given.dtype)
    return part is not None and bool(((values == part[1]) | (values == part[0])).all())


@lru_cache(1024)
def _boolean_part(S: Semiring, dtype: np.dtype) -> tuple[Any, Any] | None:
    """Zero and one in a dtype, if they form a Boolean algebra within S."""
    return (S.zero_in(dtype), S.one_in(dtype)) if is_boolean(S, dtype) else None


def _closed(task: Task, given: Sparse, plan: Plan) -> Any:
    """Find strongly connected components, and unite bit sets along the condensation in topological order."""
    o, A, rows = task.options, task.S.over(given.dtype), given.rows
    stored = rows.values == A.one
    if not stored.all():  # a zero that is stored is not an edge
        rows = rows.where(stored)
    with told(o.progress, f"{task.S.name} closure") as report:
        found = _reach(plan, rows.offsets, rows.columns)
        report(0.5)  # what is left is to write a row for every vertex
        if task.arguments == (A_ROW_A_COMPONENT,) and found.shared:
            return found
        if o.packed:
            return PackedMatrix(found.packed(o.reflexive).words, given.n)
        return given.wrap(found.dense(A.zero, A.one, given.dtype, o.reflexive))


def _reach(plan: Plan, offsets: np.ndarray, columns: np.ndarray) -> Any:
    if not plan.lowering.compiled:
        return CODE.rent(by_numpy.reach, offsets, columns)
    from semiring.kernels.cpu.bits.components import reach  # it loads Numba

    return reach(offsets, columns)


def _solve(task: Task, given: Sparse) -> Plan | None:
    height = heights_of(given.rows) if may_be_acyclic(given.rows) else None
    if height is None and not _settles(task.S):
        return None
    low = lowering_of(given, room=True)
    right = right_of(task, low.dtype)
    assert right is not None
    count = right.shape[1] if len(right.shape) > 1 else 1
    if height is None:
        return _by_work_list(task, given, low, right, count, partial(costs.least_to_eliminate, low, given))
    levels = levels_of(given.rows, height)
    plan = _plan(task, given, low, levels, count, given.shape, partial(_solution, task, given, right, levels))
    objects, by_numpy = low.kind == "objects", PURPOSES[PURPOSE].seconds
    if plan.lowering.compiled and not objects:
        return plan
    seconds = np.inf if objects else by_numpy(low, len(levels.bounds) * _passes(given), plan.work)
    return _by_work_list(task, given, low, right, count, lambda _: seconds) or plan


def _settles(S: Semiring) -> bool:
    """Whether values that are passed on along the edges of any graph stop changing, and then solve its equations."""
    if not S.idempotent or S.may_diverge:
        return False
    return S.bounded or (S.traced is not None and (S.has_reached_star or S.traced.defined == constant(True)))


def _by_work_list(
    task: Task, given: Sparse, low: Lowering, right: Dense, count: int, rival: Callable[[float], float]
) -> Plan | None:
    """The plan of equations by a work list, in Python, if its rival, which it tells its own seconds, takes more."""
    scalar = low.kind == "objects" or (low.kind == "numba" and _scalars(low) is not None)
    if not scalar and (low.kind != "numba" or given.S.commutative):
        return None
    alone = count if scalar else 1
    seconds = alone * ((TAKEN + PASSED * scalar) * given.n + (PASSED if scalar else JOINED) * given.nnz)
    if seconds >= rival(seconds):
        return None
    return Plan(
        operation="solve", algebra=task.S, shape=given.shape, method="work list", lowering=low, place="CPU, 1 thread",
        work=float(given.nnz) * count, memory=2 * given.nbytes, runner=partial(_listed, task, given, right),
        reasons={"method": "in the order of a depth-first search a few passes over the edges settle all values"},
        nnz=given.nnz, seconds={"work list": seconds},
    )


def _scalars(low: Lowering) -> tuple[Callable[..., Any], Callable[..., Any]] | None:
    """⊕ and ⊗ of tuples of Python numbers, if these compute the same."""
    add, mul = (scalar_function(traced.outputs, 2, low.components) for traced in (low.add, low.scale))
    return None if add is None or mul is None else (add, mul)


def _listed(task: Task, given: Sparse, right: Dense, plan: Plan) -> Any:
    low, rows = plan.lowering, given.rows
    order, tails = np.argsort(rows.columns, kind="stable"), np.repeat(np.arange(given.n), np.diff(rows.offsets))
    start = np.concatenate([[0], np.cumsum(np.bincount(rows.columns, minlength=given.n))]).tolist()
    values, heads = rows.values[order], tails[order].tolist()

    def engine(wide: bool) -> tuple[Lowering, Apply]:
        chosen = python_integers(given.S, given.dtype, low.reason) if wide else low
        return chosen, partial(_settle_columns, chosen, start, heads, chosen.encode(values, True))

    with told(task.options.progress, f"{task.S.name} solve"):
        return solution(given, right, low, engine, task.options.check)


def _settle_columns(low: Lowering, start: list[int], heads: list[int], values: np.ndarray, X: np.ndarray) -> None:
    """X ← A* X, in storage; the rows have the edges to each vertex."""
    objects, several = low.kind == "objects", bool(X.dtype.names)
    functions = None if objects else _scalars(low)
    if functions is None and not objects:
        _settle_arrays(low, start, heads, values, X)
        return
    if functions is None:
        scalar = low.algebra.over(object).scalar
        add, mul, zero = scalar["add"], scalar["mul"], low.algebra.zero
    else:
        (add, mul), zero = functions, tuple(np.asarray(z).item() for z in low.zero)
    wrapped = not objects and not several
    edges = [(a,) for a in values.tolist()] if wrapped else values.tolist()

    def joined(old: Any, x: Any, p: int) -> Any:
        new = add(old, mul(edges[p], x))
        return None if new == old else new

    for c in range(X.shape[1]):
        x = [(e,) for e in X[:, c].tolist()] if wrapped else X[:, c].tolist()
        _settle(start, heads, x, [v for v, e in enumerate(x) if e != zero], joined)
        X[:, c] = sequence([e for e, in x] if wrapped else x, X.dtype)


def _settle_arrays(low: Lowering, start: list[int], heads: list[int], values: np.ndarray, X: np.ndarray) -> None:
    """The same for operations that Python does not compute alike, and all columns at once."""
    kernel, zero = operations(low), full(np.empty(X.shape[1], X.dtype), np.array(tuple(low.zero), X.dtype)[()]
                                         if X.dtype.names else low.zero[0])

    def joined(old: np.ndarray, x: np.ndarray, p: int) -> np.ndarray | None:
        new = old.copy()
        kernel.accumulate(new, values[p : p + 1], x)
        return None if equal(new, old).all() else new

    x = list(X)
    _settle(start, heads, x, [v for v, e in enumerate(x) if not equal(e, zero).all()], joined)
    X[...] = np.stack(x) if x else X


def _settle(start: list[int], heads: list[int], x: list[Any], roots: list[int], joined: Callable[..., Any]) -> None:
    order = work_list.reverse_postorder(start, heads, roots)
    if not work_list.settle(start, heads, order, x, joined, PASSES * (len(heads) + len(start))):
        raise Declined("values change longer than expected")


def _rows(task: Task, given: Sparse) -> Plan | None:
    sources, _, limit = task.arguments
    if not given.S.selective or task.options.predecessors or limit is not None:
        return None
    form = form_of(given)
    if form.bounded:
        return None
    height = heights_of(given.rows)
    if height is None or height.max(initial=0) < SHALLOW:
        return None
    levels = levels_of(transpose(given.rows), height.max(initial=0) - height)
    single, starts = positions(sources, given.names, given.n)
    ends = ends_of(task)
    shape = len(starts), given.n if ends is None else len(ends)
    run = partial(_searched, given, starts, single, ends, levels)
    return _plan(task, given, form.low, levels, len(starts), shape, run)


def _plan(
    task: Task, given: Sparse, low: Lowering, levels: Levels, count: int, shape: tuple[int, ...],
    run: Callable[[Any], Any],
) -> Plan:
    work = float(given.nnz) * count
    low = affordable(low, len(levels.bounds) * _passes(given), work, PURPOSE)
    size = 2 * given.n * count * low.storage.itemsize + given.nbytes
    compiled = low.compiled and low.kind != "objects"
    return Plan(
        operation=task.verb, algebra=task.S, shape=shape, method=METHOD, lowering=low,
        place=cpu_place(None if compiled and count > 1 else 1), work=work, memory=size, runner=run,
        needs=(f"{count} columns of {given.n} numbers", "solve for fewer at a time"), reasons={"method": REASON},
    )


def _passes(given: Sparse) -> float:
    """The entries of a row, on average: NumPy takes so many steps for a level."""
    return given.nnz / max(given.n, 1)


@dataclass(frozen=True, eq=False)
class Levels:
    """The vertices of an acyclic graph by the most edges of a walk from them, and its matrix."""

    order: np.ndarray
    rows: Rows
    bounds: np.ndarray  # where levels begin, and n

    def substitute(self, low: Lowering, X: np.ndarray, mirrored: bool) -> None:
        """X ← A* X, or the same with the factors in the other order, in storage."""
        A = self._stored(low)
        if not low.compiled or low.kind == "objects":
            self._by_numpy(low, A, X, mirrored)
        elif X.size:
            work = X if X.strides[1] == X.itemsize else np.ascontiguousarray(X)
            _substitution(low).substitute(work, A, self.order, mirrored)
            if work is not X:
                X[...] = work

    def closure(self, low: Lowering) -> np.ndarray:
        """A*, in storage."""
        n, A = len(self.order), self._stored(low)
        if low.compiled and low.kind != "objects":
            X = np.empty((n, n), low.storage)
            _substitution(low).closure(X, A, self.order)
        else:
            X = low.encode(low.algebra.eye(n, low.dtype), False)
            self._by_numpy(low, A, X, False)
        return X

    def _stored(self, low: Lowering) -> Rows:
        A = self.rows
        return A if low.is_identity else Rows(A.offsets, A.columns, low.encode(A.values, True), A.width)

    def _by_numpy(self, low: Lowering, A: Rows, X: np.ndarray, mirrored: bool) -> None:
        """Substitute level by level."""
        kernel, order, lengths = sparse_kernel(low, PURPOSE), self.order, np.diff(A.offsets)[self.order]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        entries = np.repeat(A.offsets[order] - offsets[:-1], lengths)
        entries += np.arange(offsets[-1])
        columns, values = A.columns[entries], A.values[entries]
        del entries
        bounds = self.bounds[1:]
        if X.shape[1] >= WIDE and len(bounds):
            bounds = np.arange(bounds[0], len(order) + 1)
        for begin, end in pairwise(bounds.tolist()):
            first, last = offsets[begin], offsets[end]
            level = Rows(offsets[begin : end + 1] - first, columns[first:last], values[first:last], A.width)
            one = int(order[begin])
            some = X[one : one + 1] if end - begin == 1 else X[order[begin:end]]
            kernel.times_dense(some, level, X, accumulate=True, mirrored=mirrored)
            if end - begin > 1:
                X[order[begin:end]] = some


def _substitution(low: Lowering) -> SubstitutionKernel:
    from semiring.kernels.cpu.sparse.substitution import SubstitutionKernel

    return SubstitutionKernel.of(low)


def heights_of(A: Rows) -> np.ndarray | None:
    """The most edges of a walk from each vertex, or None if the graph has a cycle."""
    start, heads = A.offsets, A.columns.astype(np.int64)
    if not traversal.topological_order.at_hand and traversal.leads_round(start, heads):
        return None
    order = traversal.topological_order(start, heads)
    return traversal.heights(start, heads, order) if len(order) == A.shape[0] else None


def may_be_acyclic(A: Rows) -> bool:
    """Whether the walks along the first edge of each vertex all end.

    Examples
    --------
    >>> may_be_acyclic(Rows(np.array([0, 1, 2]), np.array([1, 0], np.int32), np.array([4.0, 5.0]), 2))
    False
    """
    goes_on = A.offsets[1:] > A.offsets[:-1]
    end = np.arange(len(goes_on))
    end[goes_on] = A.columns[A.offsets[:-1][goes_on]]
    for _ in range(len(end).bit_length()):
        end = end[end]
    return not goes_on[end].any()


def levels_of(A: Rows, height: np.ndarray) -> Levels:
    """The levels of a square matrix, given numbers of levels that descend along each edge.

    Examples
    --------
    >>> A = Rows(np.array([0, 1, 1, 3]), np.array([1, 0, 1], np.int32), np.array([4.0, 5.0, 6.0]), 3)
    >>> found = levels_of(A, heights_of(A))
    >>> found.order, found.bounds
    (array([1, 0, 2]), array([0, 1, 2, 3]))
    """
    order = stable_order(height, A.shape[0]).astype(np.int64, copy=False)
    return Levels(order, A, np.concatenate([[0], np.cumsum(np.bincount(height))]))


def _solution(task: Task, given: Sparse, right: Dense, levels: Levels, plan: Plan) -> Any:
    low = plan.lowering
    with told(task.options.progress, f"{task.S.name} solve"):

        def engine(wide: bool) -> tuple[Lowering, Apply]:
            chosen = python_integers(given.S, given.dtype, low.reason) if wide else low
            return chosen, lambda X: levels.substitute(chosen, X, False)

        return solution(given, right, low, engine, task.options.check)


def _searched(
    given: Sparse, starts: np.ndarray, single: bool, ends: np.ndarray | None, levels: Levels, plan: Plan
) -> Any:
    low, T = plan.lowering, given.S.over(given.dtype)
    X = full(np.empty((given.n, len(starts)), given.dtype), T.zero)
    X[starts, np.arange(len(starts))] = full(X[0, : len(starts)], T.one)
    X = low.encode(X, False)
    levels.substitute(low, X, True)
    rows = np.ascontiguousarray(low.decode(X).T)
    refuse_overflow(low, rows)
    return answered(given, rows if ends is None else rows[:, ends], starts, single, ends)
