"""Best paths between all vertices, or from some: first the values, by the solver that is best for them, then the trees.

A limit may end searches early. If that is predicted to be faster than all values, each vertex is searched from
backwards, up to the limit; searches from a few vertices show how many pairs are within it. Predecessors on reversed
edges are next hops.

If all edges weigh the same, and every walk as much as one of them, best paths have the fewest edges, and lengths in
edges are enough.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from semiring.algebra.catalogue import min_plus
from semiring.algebra.semiring import Semiring
from semiring.algorithms.sparse.costs import dense_seconds
from semiring.errors import LawError, NoClosureError, OutOfRangeError, SemiringError
from semiring.kernels.build import repays, sums_numbers
from semiring.kernels.cpu.compile.price import when
from semiring.kernels.cpu.sparse.edge_numbers import NUMBER, EdgeNumbers
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.parts import each_part, like
from semiring.machine.memory import available_bytes
from semiring.machine.progress import part_of, told
from semiring.operands.convert import as_sparse, on_device
from semiring.operands.dense import Dense
from semiring.operands.devices import is_on_gpu, to_host, upload
from semiring.operands.operand import Operand, order_of, order_of_one
from semiring.operands.sparse import Sparse

from .. import costs
from ..costs import SparsePlan
from ..dense.schedules import SEARCH
from ..forms import Encoded
from ..options import Options
from ..plan import Plan
from ..refusals import of_stack
from ..task import UNCHECKED_BYTES, Task, compute, first_offer
from . import stages
from .search import Positions, Search, form_of, on_the_host, place_of, positions, rows_in_parts, way_of
from .trees import best_trees, cut_off, form_for_trees, has_hubs, trees_within
from .walks import beyond, limit_of, narrowed, not_held, widened

SAMPLED_SOURCES = 8  # from which the share of pairs within a limit is estimated
VERTEX_BYTES = 4  # of a vertex
VALUES_SHARE = 0.8  # of the time, about; trees take the rest
TREE_SECONDS = 1e-8  # in which compiled code finds a next hop, where best edges join equal values
LENGTH = np.dtype("f4")  # of a walk in edges, which is exact below 2²⁴

Found = tuple[Any, Any, np.ndarray | None]  # values, trees, and the vertices of the rows


@dataclass(frozen=True)
class Wanted:
    """Which paths are wanted.

    Attributes
    ----------
    starts, ends : ndarray of int64, or None
        Where they begin and end; None: everywhere.
    limit : element, or None
        Worse paths are left out.
    bound : ndarray, shape (1,), or None
        The limit in the dtype of the weights.
    """

    starts: np.ndarray | None = None
    ends: np.ndarray | None = None
    limit: Any = None
    bound: np.ndarray | None = None

    def values(self, given: Operand, o: Options, progress: Any = False) -> Task:
        """Make the task of the values of the paths: a closure, or rows of it."""
        o = replace(o, progress=progress) if progress else o.without("progress")
        if self.starts is None:
            return Task.within("closure", given, o, strict=True)
        return Task.within("closure_rows", given, o, (Positions(self.starts), None, self.limit), strict=True)

    def within(self, given: Operand) -> Wanted:
        """Add the limit in the dtype of a graph, whose edges must not improve a walk."""
        return self if self.limit is None else replace(self, bound=limit_of(given, self.limit))


def offer(task: Task) -> Plan:
    """Find values by a closure, or by searches if there are sources; then the trees."""
    S, o, given = task.S, task.options, task.given[0]
    if S.stages is not None:
        return stages.offer(task)
    if not S.selective:
        raise LawError(f"best paths need a selective ⊕, and in {S.name} {S._law_report.flags['selective']}")
    if len(given.shape) > 2 and isinstance(given, Dense):
        return _stack(task, given)
    n, (sources, limit, ends) = order_of_one(given.shape), task.arguments
    if sources is None and o.device is None and given.on_gpu and given.kind == "sparse":
        o = replace(o, device="gpu")  # it is analysed on the host, and stays where it is all the same
    plain: Operand = (given if isinstance(given, (Dense, Sparse)) else as_sparse(given)).plain
    if isinstance(given, Sparse):
        plain = plain.changed(goes_on=True)
    wanted = Wanted(None if sources is None else positions(sources, given.names, n)[1], ends, limit)
    found = first_offer(wanted.values(plain, o))
    wanted = wanted.within(plain)
    if isinstance(plain, Sparse) and sources is None:
        other = _fewest_edges(task, plain, found) if limit is None else _ending_searches(S, o, plain, wanted, found)
        if other is not None:
            return other
    lines, hop = n, hop_bytes(plain, found.lowering)
    if wanted.starts is not None:
        lines, hop = len(wanted.starts), VERTEX_BYTES
    return Plan(
        operation="paths", algebra=S, shape=(lines, n), method=found.method, lowering=found.lowering,
        place=found.place, work=found.work, needs=found.needs, reasons=dict(found.reasons), tile=found.tile,
        memory=found.memory + lines * n * hop,
        runner=partial(_run, plain, found, o, wanted, isinstance(given, Sparse) and given.of_graph),
    )


def hop_bytes(given: Operand, low: Lowering) -> int:
    """Return the bytes of a next hop while it is computed: a vertex, the number of an edge, or both."""
    if not isinstance(given, Sparse) or low.kind != "numba" or when() == "never":
        return VERTEX_BYTES
    if has_hubs(given.rows):
        return VERTEX_BYTES
    return NUMBER.itemsize if given.bounded else NUMBER.itemsize + VERTEX_BYTES


def _ending_searches(S: Semiring, o: Options, given: Sparse, wanted: Wanted, found: Plan) -> Plan | None:
    """Search from every vertex up to the limit, if asked for, or if predicted to be faster than all values."""
    n, bound = given.n, wanted.bound
    assert bound is not None
    asked = o.method == SEARCH
    by_cpu = o.device != "gpu" and found.lowering.kind == "numba"
    if not S.commutative or not (asked or (o.method == "auto" and n >= costs.SMALL and by_cpu)):
        return None
    turned = given.T
    form, work, seconds, why = form_of(turned), float(given.nnz) * n, {}, "as asked"
    if not asked:
        known = found.seconds
        rival = min(known.values(), default=dense_seconds(n, costs.lowering_rates(found.lowering)))
        purpose = "levels" if given.alike else "buckets" if sums_numbers(form.low) else "search"
        if not repays(form.low, rival, purpose):
            return None
    form = on_the_host(turned, form, n, True, True)
    search = Search(S, turned, form)
    if not asked:
        times, written = costs.search_times(form.low, turned, n, given.alike), costs.written_seconds(form.low, n, n)
        share = _share_within(search, bound)
        alone = written + share * (min(times.settle, times.buckets, times.levels) - written)
        if alone >= rival:
            return None
        work, seconds, why = work * share, {**known, "limit": alone}, "predicted to be faster than all values"
    low = form.low
    return Plan(
        operation="paths", algebra=S, shape=(n, n), method="searches up to the limit", lowering=low,
        place=place_of(low), work=work, memory=n * n * (2 * low.storage.itemsize + 4),
        runner=partial(_search_up_to, search, bound, o),
        needs=(f"best paths between {n} vertices", "use a narrower dtype, or ask for some sources at a time"),
        reasons={"method": f"{way_of(form, True)[0]}, {why}"}, nnz=given.nnz, seconds=seconds,
    )


def _share_within(search: Search, bound: np.ndarray) -> float:
    """Estimate the share of all pairs within a limit, from a few sources."""
    n = search.given.n
    values = search.rows(np.unique(np.linspace(0, n - 1, SAMPLED_SOURCES).astype(np.int64)), False, bound)[0]
    return 1 - float(np.mean(beyond(search.S, values, bound)))


def _search_up_to(search: Search, bound: np.ndarray, o: Options, plan: Plan) -> Found:
    X, P = rows_in_parts(search, np.arange(search.given.n), bound, True, o.progress, "paths")
    assert P is not None
    return X.T, P.T, None


def _stack(task: Task, given: Dense) -> Plan:
    """Find the values of all matrices by one closure of the stack, or by rows; then the trees of each matrix."""
    sources, limit, ends = task.arguments
    order_of(given.shape)
    plain = given.plain
    count = prod(given.shape[:-2])
    if sources is None or not count:
        wanted = Wanted(None, ends, limit)
        found = first_offer(wanted.values(plain, task.options, task.options.progress))
        each = [(A, wanted.within(A)) for A in map(plain.matrix, np.ndindex(given.shape[:-2]))]
        return replace(found, operation="paths", shape=given.shape,
                       runner=partial(_closed_stack, plain, task, found, each))
    one = plain.matrix((0,) * (len(given.shape) - 2))
    found = first_offer(Task.within("paths", one, task.options, task.arguments))
    run = partial(_searched_stack, plain, task)
    return replace(found, operation="paths", shape=given.shape, runner=run, work=found.work * count)


def _closed_stack(
    given: Dense, task: Task, closure: Plan, each: list[tuple[Dense, Wanted]], plan: Plan
) -> list[Found]:
    try:
        X = closure.run()
    except SemiringError as e:
        _, limit, ends = task.arguments
        if type(e) not in (SemiringError, OutOfRangeError) or ends is limit is None or widened(given) is None:
            raise
        return _searched_stack(given, task, plan)
    places = np.ndindex(given.shape[:-2])
    return [with_trees(A, X[place], wanted) for place, (A, wanted) in zip(places, each, strict=True)]


def _searched_stack(given: Dense, task: Task, plan: Plan) -> list[Found]:
    found, o, count = [], task.options, prod(given.shape[:-2])
    with told(o.progress, f"{task.S.name} paths") as report:
        for k, place in enumerate(np.ndindex(given.shape[:-2])):
            asked = replace(o, progress=o.progress and part_of(report, k / count, (k + 1) / count))
            try:
                found.append(compute(Task.within("paths", given.matrix(place), asked, task.arguments, strict=True)))
            except NoClosureError as e:
                raise of_stack(e, place) from None
    return found


def _run(given: Operand, values: Plan, o: Options, wanted: Wanted, of_graph: bool, plan: Plan) -> Found:
    taken_there = isinstance(given, Dense) and not given.on_gpu and plan.lowering.on_gpu and wanted.starts is None
    if taken_there:
        given = on_device(given).plain
    with nullcontext() if o.progress is False else told(o.progress, f"{given.S.name} paths") as report:
        if taken_there or report is not None:
            progress = report is not None and part_of(report, 0.0, VALUES_SHARE)
            values = first_offer(wanted.values(given, o, progress))
        try:
            X, tree, starts = with_trees(given, values.runner(values), wanted)
        except SemiringError as e:
            all_wanted = wanted.ends is None and wanted.limit is None
            wide = None if all_wanted or type(e) not in (SemiringError, OutOfRangeError) else widened(given)
            if wide is None:
                raise
            return _run_wide(given, wide, o, wanted)
    return (to_host(X), to_host(tree), starts) if taken_there or of_graph else (X, tree, starts)


def _run_wide(given: Operand, wide: Operand, o: Options, wanted: Wanted) -> Found:
    """Find paths with wider numbers: a weight that the dtype cannot hold is an error only if it is wanted."""
    wanted, ends = wanted.within(wide), wanted.ends
    W, tree, starts = with_trees(wide, compute(wanted.values(wide, o.without("device"))), wanted)
    X, lost = narrowed(given.S, W, given.dtype)
    for i, j in np.argwhere(lost if ends is None else lost[:, ends])[:1].tolist():
        root, end = i if starts is None else int(starts[i]), j if ends is None else int(ends[j])
        raise not_held(given, root, end, False)
    np.copyto(tree.numbers if isinstance(tree, EdgeNumbers) else tree, -1, where=lost)
    return X, tree, starts


def with_trees(given: Operand, X: Any, wanted: Wanted) -> Found:
    """Return the values; next hops of all pairs, or predecessors of the rows; and the vertices of the rows.

    A walk that the dtype cannot hold is an error if it leads to one of the ends that are wanted.
    """
    starts, bound, ends = wanted.starts, wanted.bound, None
    if wanted.ends is not None:
        ends = np.zeros(given.shape[0], bool)
        ends[wanted.ends] = True
    X = upload(X) if given.on_gpu and not is_on_gpu(X) else X  # rows come to the host
    if starts is None:
        if isinstance(X, Encoded) and not X.is_as_in(form_for_trees(given)):
            X = X.decoded()
        asked = None if ends is None else ends[:, None]
        tree = best_trees(given, X.T, None, backwards=True, wanted=asked, numbers=True).T
        X = X.decoded() if isinstance(X, Encoded) else X
    elif bound is None or is_on_gpu(X):
        tree = best_trees(given, X, starts, wanted=ends, within=bound is not None)
    else:
        return X, trees_within(given, X, starts), starts
    return X if bound is None else cut_off(given, X, tree, bound), tree, starts


def _fewest_edges(task: Task, given: Sparse, values: Plan) -> Plan | None:
    """Find lengths in edges, over min-plus, if all edges weigh the same and every walk as much as one of them.

    Best paths have the fewest edges. Their lengths show which vertices are reached, and next hops are final where
    lengths decrease, so that vertices of equal value need no search. For all pairs, on the host, if elimination is
    predicted to take less time than the values and such a search.
    """
    o, n = task.options, given.n
    if o.method != "auto" or o.device is not None or task.given[0].on_gpu or n < costs.SMALL:
        return None
    if not weighs_as_an_edge(given):
        return None
    edges = replace(given.rows, values=np.ones(given.nnz, LENGTH))
    graph = Sparse(edges, min_plus, given.what, given.names)
    lengths = first_offer(Task.within("closure", graph, o.without("progress")))
    if not isinstance(lengths, SparsePlan):  # searches take as long as they save
        return None
    if min(lengths.seconds.values()) >= predicted(values) + TREE_SECONDS * n * n:
        return None
    memory = lengths.memory + n * n * (given.dtype.itemsize + hop_bytes(given, lengths.lowering))
    if memory > UNCHECKED_BYTES and memory > (available_bytes() or memory):  # values take less room
        return None
    return replace(
        lengths, operation="paths", algebra=task.S, method=f"fewest edges, {lengths.method}", memory=memory,
        lowering=replace(lengths.lowering, dtype=given.dtype), runner=partial(_weighed, given, graph, lengths, o),
        reasons={**lengths.reasons, "method": "all edges weigh the same, and a walk as much as an edge",
                 "elements": "of lengths in edges, over min-plus"},
    )


def predicted(plan: Plan) -> float:
    """Return the predicted seconds of the fastest way; 0 if they were not predicted."""
    return min(plan.seconds.values(), default=0.0)


def weighs_as_an_edge(given: Sparse) -> bool:
    """Whether every walk of one edge or more has the one weight that all edges have, a number that is not zero."""
    S, weight = given.S, given.values[:1]
    if given.dtype.kind not in "biuf" or not (given.nnz and given.alike and given.bounded):
        return False
    T = S.over(given.dtype)
    return bool((weight != T.zero).all() and (T.mul(weight, weight) == weight).all())


def _weighed(given: Sparse, graph: Sparse, lengths: Plan, o: Options, plan: Plan) -> Found:
    """Find lengths in edges and next hops, and turn the lengths into weights."""
    if o.progress is not False:
        with told(o.progress, f"{given.S.name} paths") as report:
            found = first_offer(Task.within("closure", graph, replace(o, progress=report))).run()
    else:
        found = lengths.run()
    L, tree, starts = with_trees(graph, found, Wanted())
    T, weight = given.S.over(given.dtype), given.values[0]
    X = L if L.dtype == given.dtype else like(L, given.dtype)

    def weigh(target: np.ndarray, part: np.ndarray) -> None:
        whole = part.max(initial=0) < np.inf  # all are reached
        target[...] = weight if whole else np.where(part < np.inf, weight, T.zero)

    each_part(weigh, X, L)
    np.fill_diagonal(X, T.one)
    return X, tree, starts
