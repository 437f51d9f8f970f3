"""Solver: one best path between two vertices, by a search from its source."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from semiring.algebra.overflow import may_leave
from semiring.algebra.rounding import nothing_improves
from semiring.algebra.vectors import convert
from semiring.algorithms import trees
from semiring.algorithms.labels import Dense as DenseGraph
from semiring.algorithms.labels import Graph, best_walks, edges_along, path_to, weight_of
from semiring.algorithms.sparse.relaxation import CompressedRows
from semiring.errors import LawError
from semiring.graphs.texts import is_same
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.choose import choose
from semiring.kernels.cpu.sparse.structure import transpose
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.sums import narrow, widen
from semiring.operands.convert import as_sparse, on_host
from semiring.operands.dense import Dense
from semiring.operands.operand import Operand, order_of_one

from .cycles import improving
from .forms import fits, nothing_in
from .plan import Plan
from .search import Search, form_of, on_the_host, positions
from .task import Task
from .trees import best_trees
from .walks import not_held


def offer(task: Task) -> Plan:
    """One best path, by searching from its source."""
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
            weight = narrow(S, found.weight, given.dtype)
            edges = edges_along(graph, found.cycle) if given.dtype.kind == "f" else None
            raise improving(S, given.names, found.cycle[0], found.cycle, weight, None, edges=edges)
        walk = found.walk_to(start, end)
        if walk is not None and start != end and found.rounds is None:
            other = _walk_by_labels(given, graph, found.labels, start, end)
            # Where ⊗ rounds an edge may look best whose walk is not.
            if other is not None and is_same(weight_of(graph, S, other), weight_of(graph, S, walk)):
                walk = other
        weight = None if walk is None else narrow(S, weight_of(graph, S, walk), given.dtype)
        if products and isinstance(weight, int):
            raise not_held(given, start, end, False)
    return spelt(given, weight, walk, wanted)


def graph_of(given: Operand) -> Graph:
    """The graph of a matrix."""
    if isinstance(given, Dense):
        return DenseGraph(given.array)
    rows = as_sparse(given).rows
    return CompressedRows(rows.offsets, rows.columns, rows.values)


def wide_graph(given: Operand, facts: Facts) -> Graph:
    """The graph of a matrix, with weights of integers in Python's, where sums along walks are exact."""
    graph = graph_of(given)
    return graph.with_values(widen(given.S, graph.values, facts))


def spelt(given: Operand, weight: Any, walk: list[int] | None, wanted: np.dtype) -> tuple[Any, list[Any] | None]:
    """The weight of a walk and its vertices, as the caller gets them."""
    S, names, dtype = given.S, given.names, given.dtype
    if walk is None:
        return nothing_in(S, wanted), None
    vertices = walk if names is None else [names[v] for v in walk]
    if wanted.names and wanted != dtype:  # a number has no byte order
        weight = convert(np.array([weight], dtype), wanted)[0]
    return given.number(weight), vertices


def _walk_by_values(given: Operand, start: int, end: int) -> tuple[Any, list[int] | None]:
    """The value of the best walks between two vertices, and the vertices of one of them; None where there is none."""
    matrix = as_sparse(given)
    form = on_the_host(matrix, form_of(matrix), 1, True)
    x = Search(given.S, matrix, form).rows(np.array([start]), False)[0]
    before = best_trees(matrix, x, np.array([start]), wanted=np.arange(matrix.n) == end)[0]
    return x[0, end], path_to(before, start, end) if start == end or before[end] >= 0 else None


def _walk_by_labels(given: Operand, graph: Graph, labels: np.ndarray, start: int, end: int) -> list[int] | None:
    """The walk along the tree that ties decide as everywhere; None where rounding leaves none."""
    rows = as_sparse(given).rows
    tails = np.repeat(np.arange(graph.n), np.diff(rows.offsets))
    values = graph.along(tails, rows.columns) if isinstance(graph, DenseGraph) else graph.values
    entering, T = transpose(Rows(rows.offsets, rows.columns, values, graph.n)), given.S.over(values.dtype)
    edges = trees.Edges(entering.offsets, entering.columns, entering.values, (rows.offsets, rows.columns))
    bounded = nothing_improves(T, values)
    before = trees.predecessors(edges, T, labels[None], np.array([start]), bounded).predecessors[0]
    return path_to(before, start, end) if before[end] >= 0 else None
