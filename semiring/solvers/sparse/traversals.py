"""Sparse matrices that one traversal of the graph answers, without elimination.

Closures that depend on reachability alone: strongly connected components, and bit sets along the condensation.

Equations, and rows of closures, of acyclic graphs: substitution in topological order, whatever the algebra.

    X = A ⊗ X ⊕ B      vertices by the most edges of a walk from them:  A is strictly lower triangular
    x_i ← b_i ⊕ ⊕_{j<i} a_ij ⊗ x_j      in that order, so that each edge is looked at once

No star is needed. Rows of A* for some sources are X = X ⊗ A ⊕ B with a 1 for each source: the same with Aᵀ, in which
the element of X comes first in every ⊗.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from semiring.algebra.laws import full
from semiring.algebra.semiring import Semiring
from semiring.algorithms.sparse import traversal
from semiring.algorithms.sparse.pattern import inverse
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.build import affordable, sparse_kernel
from semiring.kernels.cpu.bits.choose import CODE
from semiring.kernels.cpu.bits.lowering import packed_bits
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.cpu.sparse.structure import COLUMN, transpose
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.boolean import is_boolean
from semiring.kernels.lowering.general import general
from semiring.kernels.lowering.objects import python_integers
from semiring.kernels.numpy import bits
from semiring.kernels.numpy import components as by_numpy
from semiring.kernels.numpy.structure import stable_order
from semiring.machine.threads import thread_count
from semiring.operands.dense import Dense
from semiring.operands.operand import order_of, order_of_one
from semiring.operands.sparse import Sparse

from ..costs import SMALL
from ..dense.factors import right_of
from ..forms import Apply, refuse_overflow, solution, told
from ..paths.search import answered, ends_of, form_of, positions
from ..plan import Plan
from ..task import Task
from .analysis import lowering_of

A_ROW_A_COMPONENT = "a row a component"  # the argument of a task whose answer may be a `Reach` instead
METHOD = PURPOSE = "substitution"
SHALLOW = 64  # edges of a longest walk up to which correcting labels takes no longer
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
        return None
    n, dtype = order_of(given.shape), given.dtype
    size = n * n // 8 if o.packed else n * n * dtype.itemsize
    low = packed_bits(S, np.dtype(bool)) if o.packed else general(S, dtype)
    if not CODE.repays(bits.seconds(n, float(n) ** 3)):
        low = low.interpreted
    return Plan(
        operation="closure", algebra=S, shape=given.shape, method="components", lowering=low,
        place=f"CPU, {thread_count()} threads" if low.compiled else "", work=float(given.nnz),
        memory=size + n * n // 4, runner=partial(_closed, task, given),
        reasons={"method": "only reachability counts: components, and bit sets along the condensation"},
    )


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
    height = heights_of(given.rows)
    if height is None:
        return None
    levels, low = levels_of(given.rows, height), lowering_of(given, room=True)
    right = right_of(task, low.dtype)
    assert right is not None
    count = right.shape[1] if len(right.shape) > 1 else 1
    return _plan(task, given, low, levels, count, given.shape, partial(_solution, task, given, right, levels))


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
    work, passes = float(given.nnz) * count, float(len(levels.bounds)) * given.nnz / max(given.n, 1)
    low = affordable(low, passes, work, PURPOSE)
    size = 2 * given.n * count * low.storage.itemsize + given.nbytes
    compiled = low.compiled and low.kind != "objects"
    return Plan(
        operation=task.verb, algebra=task.S, shape=shape, method=METHOD, lowering=low,
        place=f"CPU, {thread_count() if compiled and count > 1 else 1} threads", work=work, memory=size, runner=run,
        needs=(f"{count} columns of {given.n} numbers", "solve for fewer at a time"), reasons={"method": REASON},
    )


@dataclass(frozen=True, eq=False)
class Levels:
    """The vertices of an acyclic graph by the most edges of a walk from them, and its matrix in that order."""

    order: np.ndarray
    rows: Rows
    bounds: np.ndarray  # where levels begin, and n

    def substitute(self, low: Lowering, X: np.ndarray, mirrored: bool) -> None:
        """X ← A* X, or the same with the factors in the other order, in storage."""
        work, A = np.ascontiguousarray(X[self.order]), self.rows
        if not low.is_identity:
            A = Rows(A.offsets, A.columns, low.encode(A.values, True), A.width)
        if low.compiled and low.kind != "objects":
            from semiring.kernels.cpu.sparse.substitution import SubstitutionKernel

            SubstitutionKernel.of(low).substitute(work, A, mirrored)
        else:
            kernel = sparse_kernel(low, PURPOSE)
            for begin, end in zip(self.bounds[1:-1].tolist(), self.bounds[2:].tolist(), strict=True):
                first, last = A.offsets[begin], A.offsets[end]
                level = Rows(A.offsets[begin : end + 1] - first, A.columns[first:last], A.values[first:last], begin)
                kernel.times_dense(work[begin:end], level, work[:begin], accumulate=True, mirrored=mirrored)
        X[self.order] = work


def heights_of(A: Rows) -> np.ndarray | None:
    """The most edges of a walk from each vertex, or None if the graph has a cycle."""
    start, heads = A.offsets, A.columns.astype(np.int64)
    if not traversal.topological_order.at_hand and traversal.leads_round(start, heads):
        return None
    order = traversal.topological_order(start, heads)
    return traversal.heights(start, heads, order) if len(order) == A.shape[0] else None


def levels_of(A: Rows, height: np.ndarray) -> Levels:
    """The levels of a square matrix, given numbers of levels that descend along each edge.

    Examples
    --------
    >>> A = Rows(np.array([0, 1, 1, 3]), np.array([1, 0, 1], np.int32), np.array([4.0, 5.0, 6.0]), 3)
    >>> found = levels_of(A, heights_of(A))
    >>> found.order, found.bounds, found.rows.columns
    (array([1, 0, 2]), array([0, 1, 2, 3]), array([0, 1, 0], dtype=int32))
    """
    n, start = A.shape[0], A.offsets
    order = stable_order(height, n)
    lengths, place = np.diff(start)[order], inverse(order)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    entries = np.repeat(start[order] - offsets[:-1], lengths) + np.arange(offsets[-1])
    rows = Rows(offsets, place[A.columns[entries]].astype(COLUMN), A.values[entries], n)
    return Levels(order, rows, np.concatenate([[0], np.cumsum(np.bincount(height))]))


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
