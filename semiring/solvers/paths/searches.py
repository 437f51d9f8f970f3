"""Solvers by search, where ⊕ selects: closures from every vertex, one path from its source, the nearest places."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from semiring.algebra.elements import full
from semiring.algebra.overflow import may_leave
from semiring.algebra.rounding import nothing_improves
from semiring.algebra.vectors import convert
from semiring.algorithms import trees
from semiring.algorithms.labels import Dense as DenseGraph
from semiring.algorithms.labels import Graph, best_walks, path_to, weight_of
from semiring.algorithms.sparse.costs import dense_seconds
from semiring.errors import GraphError, LawError, SemiringError
from semiring.graphs.names import is_hashable
from semiring.graphs.texts import is_same
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.build import affordable, element_kernel, repays, sums_numbers
from semiring.kernels.choose import choose
from semiring.kernels.cpu.sparse.buckets import CpuBucketKernel
from semiring.kernels.cpu.sparse.structure import transposed
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.sums import narrow, widen
from semiring.kernels.numpy.rows import by_rank
from semiring.operands.convert import as_sparse, on_host
from semiring.operands.operand import Operand, order_of, order_of_one
from semiring.operands.sparse import Sparse

from .. import costs
from ..dense.schedules import SEARCH, resolve_method
from ..plan import Plan
from ..sparse.analysis import lowering_of
from ..task import Task, first_offer, options
from .search import (
    Form,
    Positions,
    Search,
    form_of,
    improving_along,
    on_the_host,
    place_of,
    positions,
    refuse_sums,
    rows_in_parts,
    way_of,
)
from .trees import best_trees, origins_of
from .walks import fits, not_held, nothing_in

ROOT = object()  # the name of the vertex with an edge to every source, if vertices have names


def offer(task: Task) -> Plan | None:
    """Search from every vertex, from the source of a path, or from all places at once."""
    return {"closure": _closure, "path": _one_path, "nearest": _nearest}[task.verb](task)


def _closure(task: Task) -> Plan | None:
    """Search if this method is asked for; otherwise `sparse.elimination` has chosen."""
    o, given = task.options, task.operands[0]
    if not isinstance(given, Sparse) or o.packed or o.method == "auto" or resolve_method(o.method, task.S) != SEARCH:
        return None
    order_of(given.shape)
    if o.tile is not None:
        raise SemiringError("tile is for the dense schedules; method='search' follows the edges from every vertex")
    form, seconds = form_of(given), {}
    if form.bounded and form.low.kind != "objects":
        rate = costs.lowering_rates(lowering_of(given, room=False))
        search = costs.search_times(form.low, given, given.n, given.alike)
        seconds = {"search": search.seconds, "dense": dense_seconds(given.n, rate)}
    return _plan(task, given, form, seconds, "as asked")


def closure_if_faster(task: Task, given: Sparse, low: Lowering, seconds: dict[str, float]) -> Plan | None:
    """Search from every vertex, if this is the fastest way and compiling it repays.

    Parameters
    ----------
    task : Task
    given : Sparse
    low : Lowering
        Of the closure by other methods.
    seconds : dict
        What they are predicted to take, by name.
    """
    rival = min(seconds.values())
    if not given.S.selective or low.kind == "objects":
        return None
    form = form_of(given)
    if not form.bounded or form.low.kind == "objects":
        return None
    times = costs.search_times(form.low, given, given.n, given.alike)
    search, way = times.seconds, times.way
    if search >= rival or not repays(form.low, rival, way):
        return None
    return _plan(task, given, form, {"search": search} | seconds, "predicted to be faster than what else could be done",
                 times)


def _plan(
    task: Task, given: Sparse, form: Form, seconds: dict[str, float], why: str, times: costs.Searches | None = None
) -> Plan:
    n = given.n
    form = on_the_host(given, form, n, times=times)
    low = form.low
    decoded = 0 if low.storage == low.dtype else low.dtype.itemsize
    return Plan(
        operation="closure", algebra=task.S, shape=(n, n), method=SEARCH, lowering=low, place=place_of(low),
        work=float(given.nnz) * n, memory=n * n * (low.storage.itemsize + decoded),
        runner=partial(_run, task, given, form),
        needs=("", "use a narrower dtype, fewer vertices, or closure_rows for some sources at a time"),
        reasons={"method": f"{way_of(form)[0]}, {why}"}, nnz=given.nnz, seconds=seconds,
    )


def _run(task: Task, given: Sparse, form: Form, plan: Plan) -> Any:
    o, vertices, search = task.options, np.arange(given.n), Search(task.S, given, form)
    X, _ = rows_in_parts(search, vertices, None, False, o.progress, "closure")
    if not o.reflexive:
        X[vertices, vertices] = _cycles(search, X)
    return given.wrap(X)


def _cycles(search: Search, X: np.ndarray) -> np.ndarray:
    """Return the diagonal of A⁺ = A* A: for every vertex the best closed walk that is not empty."""
    low, rows = search.form.low, search.given.rows
    offsets, sources, order = transposed(rows.offsets, rows.columns, rows.width)
    kernel = element_kernel(low, "search")
    best = kernel.zeros((len(X), 1, 1))
    for some, entries in by_rank(offsets):
        walks, total = low.encode(X[some, sources[entries]], True), best[some]
        kernel.multiply_add_stack(total, walks[:, None, None], search.stored.values[order[entries], None, None])
        best[some] = total
    return low.decode(best[:, 0, 0])


def _one_path(task: Task) -> Plan:
    """Find one best path by a search from its source."""
    S, (source, target), given = task.S, task.arguments, task.operands[0]
    if not S.selective:
        raise LawError(f"a best path needs a selective ⊕, and in {S.name} {S._law_report.flags['selective']}")
    n = order_of_one(given.shape)
    start, end = positions([source, target], given.names, n)[1].tolist()
    wanted = given.callers_dtype
    given = on_host(given)  # one source at a time is too little work for a GPU
    facts = given.facts
    low = choose(S, given.dtype, facts, n, in_place=False, packed=False)
    size = float(as_sparse(given).nnz) if given.kind != "dense" else float(n) * n
    return Plan(
        operation="path", algebra=S, shape=(n,), method="search", lowering=low, place="CPU, 1 thread", work=size,
        memory=0, runner=partial(_path, given, facts, start, end, wanted), reasons={"method": "from one source"},
    )


def _path(
    given: Operand, facts: Facts, start: int, end: int, wanted: np.dtype, plan: Plan
) -> tuple[Any, list[Any] | None]:
    S, graph = given.S, wide_graph(given, facts)
    products = not S.is_tropical and may_leave(S, given.dtype)  # may leave it at vertices that were not asked about
    if not products and fits(given, facts) and nothing_improves(S.over(graph.values.dtype), graph.values):
        weight, walk = _walk_by_values(given, start, end)
    else:
        found = best_walks(graph, S, start)
        if found.cycle is not None:
            raise improving_along(given, graph, found.cycle, narrow(S, found.weight, given.dtype))
        walk = found.walk_to(start, end)
        if walk is not None and start != end and found.rounds is None:
            other = _walk_by_labels(given, graph, found.labels, start, end)
            # If ⊗ rounds, an edge may look best though its walk is not.
            if other is not None and is_same(weight_of(graph, S, other), weight_of(graph, S, walk)):
                walk = other
        weight = None if walk is None else narrow(S, weight_of(graph, S, walk), given.dtype)
        if products and isinstance(weight, int):
            raise not_held(given, start, end, False)
    return spelt(given, weight, walk, wanted)


def wide_graph(given: Operand, facts: Facts) -> Graph:
    """Return the graph of a matrix; integers become Python's, whose sums along walks are exact."""
    graph = given.graph()
    return graph.with_values(widen(given.S, graph.values, facts))


def spelt(given: Operand, weight: Any, walk: list[int] | None, wanted: np.dtype) -> tuple[Any, list[Any] | None]:
    """Return the weight and the vertices of a walk as the caller gets them."""
    S, names, dtype = given.S, given.names, given.dtype
    if walk is None:
        return nothing_in(S, wanted), None
    vertices = walk if names is None else [names[v] for v in walk]
    if wanted.names and wanted != dtype:  # a number has no byte order
        weight = convert(np.array([weight], dtype), wanted)[0]
    return given.number(weight), vertices


def _walk_by_values(given: Operand, start: int, end: int) -> tuple[Any, list[int] | None]:
    """Return the value of the best walks between two vertices, and the vertices of one of them, or None."""
    matrix = as_sparse(given)
    form = on_the_host(matrix, form_of(matrix), 1, True)
    x = Search(given.S, matrix, form).rows(np.array([start]), False)[0]
    before = best_trees(matrix, x, np.array([start]), wanted=np.arange(matrix.n) == end)[0]
    return x[0, end], path_to(before, start, end) if start == end or before[end] >= 0 else None


def _walk_by_labels(given: Operand, graph: Graph, labels: np.ndarray, start: int, end: int) -> list[int] | None:
    """Return the walk along the tree with the usual ties; None if rounding leaves none."""
    rows = as_sparse(given).rows
    tails = np.repeat(np.arange(graph.n), np.diff(rows.offsets))
    values = graph.along(tails, rows.columns) if isinstance(graph, DenseGraph) else graph.values
    edges, T = trees.Edges.of(Rows(rows.offsets, rows.columns, values, graph.n)), given.S.over(values.dtype)
    before = trees.predecessors(edges, T, labels[None], np.array([start]), nothing_improves(T, values)).predecessors[0]
    return path_to(before, start, end) if before[end] >= 0 else None


def _nearest(task: Task) -> Plan:
    """Search from all sources at once, in buckets; or from a vertex with an edge of weight 1 to each source."""
    S, given = task.S, task.operands[0]
    refuse_sums(S)
    n = order_of_one(given.shape)
    places = task.arguments[0]
    if isinstance(places, (set, frozenset)) and not (is_hashable(places) and places in (given.names or ())):
        places = list(places)
    starts = np.unique(positions(places, given.names, n, "places")[1])  # their order does not matter
    if not starts.size:
        raise GraphError("nearest needs at least one place")
    matrix = as_sparse(on_host(given))
    form = form_of(matrix)
    in_buckets, low = form.bounded and sums_numbers(form.low), form.low
    if in_buckets:
        low = affordable(low, float(n), float(n) ** 2, "buckets")
    if in_buckets and low.compiled:
        method, place, work = "labels in buckets", place_of(low), float(matrix.nnz)
        run: Any = partial(_in_buckets, matrix, starts)
    else:
        found = first_offer(_from_a_root(matrix, starts))
        method, low, place, work = found.method, found.lowering, found.place, found.work
        run = partial(_by_predecessors, found, matrix, starts)
    return Plan(
        operation="nearest", algebra=S, shape=(n,), method=method, lowering=low, place=place, work=work,
        memory=n * (given.dtype.itemsize + 4), runner=run, reasons={"method": "one search from all places"},
    )


def _in_buckets(given: Sparse, starts: np.ndarray, plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    low, form = plan.lowering, form_of(given)
    stored = Search(given.S, given, form).stored
    found = CpuBucketKernel.of(low).nearest(stored, starts, float(form.facts.largest))
    if found is None:
        return _by_predecessors(first_offer(_from_a_root(given, starts)), given, starts, plan)
    x = low.decode(found)
    places = origins_of(given, x, starts)
    return x, _places(given, x, starts) if places is None else places


def _places(given: Sparse, x: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the place that the best walk to each vertex comes from, by the tree from a root before all places."""
    root = full(np.empty(1, given.dtype), given.S.one_in(given.dtype))
    X = np.concatenate([x, root])[None]
    return origins(best_trees(with_a_root(given, starts), X, np.array([given.n]), within=True)[0], starts)


def _by_predecessors(
    rooted: Plan, given: Sparse, starts: np.ndarray, plan: Plan
) -> tuple[np.ndarray, np.ndarray]:
    x, before = rooted.run()
    return np.ascontiguousarray(x[0, : given.n]), origins(before[0], starts)


def _from_a_root(given: Sparse, starts: np.ndarray) -> Task:
    root = Positions(np.array([given.n]))
    return Task.within(
        "closure_rows", with_a_root(given, starts), options(predecessors=True), (root, None, None), strict=True
    )


def with_a_root(given: Operand, starts: np.ndarray) -> Sparse:
    """Return the graph with one more vertex, which has an edge of weight one to each start."""
    rows = as_sparse(on_host(given)).rows
    ones = full(np.empty(len(starts), given.dtype), given.S.one_in(given.dtype))
    offsets = np.append(rows.offsets, rows.offsets[-1] + len(starts))
    made = Rows(offsets, np.append(rows.columns, starts.astype(np.int32)), np.append(rows.values, ones), rows.width + 1)
    names = None if given.names is None else [*given.names, ROOT]
    return Sparse(made, given.S, given.what, names)


def origins(before: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the place at which the way back from each vertex ends; −1 if there is none."""
    n = len(before) - 1
    here = np.append(before[:n], np.int32(-1))
    # A place that no walk from another place passes through is its own origin.
    here[starts] = np.where(here[starts] == n, starts, here[starts])
    while True:
        ahead = np.where(here < 0, here, here[here])
        if np.array_equal(ahead, here):
            return here[:n]
        here = ahead
