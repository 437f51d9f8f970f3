"""Acyclic graphs: the transitive reduction, and the condensation of any graph to an acyclic one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from semiring.algebra.catalogue import boolean
from semiring.algorithms.sparse import reduction
from semiring.errors import GraphError
from semiring.graphs.adjacency import require_rows
from semiring.graphs.columns import IF_CLEAR
from semiring.graphs.graph import graph_for
from semiring.kernels.blocks.bits import WORD
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.operands.pack import before_preparing, is_matrix, pack, pack_named
from semiring.solvers.task import Task, compute, options

from .reachability import Reachability, check_square, transitive_closure
from .structure import Edges, cycle_error, entries_of_packed

ADVICE = "reduce its condensation, or leave an edge of the cycle out"  # for a graph with a cycle


def transitive_reduction(A: Any) -> Any:
    """Remove the edges of an acyclic graph that a longer path replaces.

    This leaves the smallest graph in which every vertex reaches the same vertices.

    Parameters
    ----------
    A : graph, matrix or edges
        What `semiring.pack` takes, without cycles.

    Returns
    -------
    Graph or PackedMatrix
        For graphs and edges a `Graph`, with their weights and names (the first of parallel edges); for arrays, sparse
        matrices, a `Matrix` or a `PackedMatrix` a `PackedMatrix`.

    Raises
    ------
    GraphError
        If the graph has a cycle; the message names one, and you can reduce the `condensation`. If the graph is
        undirected, or A is neither a square matrix nor edges.
    SemiringError
        For NaN, and if the n² bits of a matrix do not fit in memory.

    Notes
    -----
    A ∧ ¬(A A⁺): an edge stays unless a path of two or more edges connects its ends (A. V. Aho, M. R. Garey,
    J. D. Ullman, The transitive reduction of a directed graph, 1972). If there are fewer edges than n² / 64, only some
    columns of A⁺ are held at a time; see `semiring.algorithms.sparse.reduction`.

    Examples
    --------
    >>> import semiring as sr
    >>> G = sr.transitive_reduction([("a", "b"), ("b", "c"), ("a", "c")])
    >>> [(G.names[i], G.names[j]) for i, j in zip(G.sources, G.targets)]
    [('a', 'b'), ('b', 'c')]
    """
    A = before_preparing(A)
    if is_matrix(A):
        matrix, names = pack_named(A)
        check_square(matrix)
        return _reduced(matrix, names)
    graph = graph_for(A, weight=IF_CLEAR)
    require_rows(graph.n)
    if not graph.directed:
        raise GraphError("an undirected graph has no transitive reduction: each edge is a cycle of two")
    chosen = np.arange(len(graph))
    if graph.weights is not None and graph.weights.dtype.kind == "b":
        chosen = np.flatnonzero(graph.weights)  # False is not an edge
    keys, first = np.unique(graph.sources[chosen] * graph.n + graph.targets[chosen], return_index=True)
    if _is_dense(graph.n, len(keys)):
        reduced = _reduced(pack(graph), graph.names)
        kept = np.asarray(reduced[graph.sources[chosen[first]], graph.targets[chosen[first]]], bool)
    else:
        kept = _kept(Edges(graph.n, *np.divmod(keys, max(graph.n, 1)), graph.names))
    chosen = np.sort(chosen[first[kept]])
    weights = None if graph.weights is None else graph.weights[chosen]
    return replace(graph, sources=graph.sources[chosen], targets=graph.targets[chosen], weights=weights)


def condensation(A: Any) -> tuple[PackedMatrix, list[Any]]:
    """Return the acyclic graph of a graph's strongly connected components.

    Parameters
    ----------
    A : graph, matrix or edges
        What `semiring.pack` takes.

    Returns
    -------
    matrix : PackedMatrix
        True at (c, d) if an edge leads from component c to a different component d.
    members : list
        The vertices of each component: lists of names, or int64 arrays of positions. Components are in the order of
        their first vertices.

    Raises
    ------
    GraphError
        If A is neither a square matrix nor edges.
    SemiringError
        For NaN, and if n² bits do not fit in memory.

    Notes
    -----
    Two vertices are in the same component if each reaches the other; both follow from the transitive closure.

    Examples
    --------
    >>> import semiring as sr
    >>> matrix, members = sr.condensation([("a", "b"), ("b", "a"), ("b", "c")])
    >>> members, matrix[0, 1], matrix.count()
    ([['a', 'b'], ['c']], True, 1)
    """
    matrix, names = pack_named(A)
    check_square(matrix)
    R = Reachability(transitive_closure(matrix), names)
    labels = R.component_labels()
    count = int(labels.max(initial=-1)) + 1
    result = PackedMatrix.zeros(count, count)
    for first, offsets, columns in matrix.get().neighbours():
        sources = np.repeat(labels[first : first + len(offsets) - 1], np.diff(offsets))
        targets = labels[columns]
        between = sources != targets
        result.set(sources[between], targets[between])
    return result.to_device("cpu" if matrix.device == "cpu" else "gpu"), R.strongly_connected_components()


def _is_dense(n: int, edges: int) -> bool:
    """Whether so many edges take more room than a bit for every pair."""
    return edges > n * n // WORD


def _reduced(A: PackedMatrix, names: Sequence[Any] | None) -> PackedMatrix:
    n = A.shape[0]
    if _is_dense(n, A.count()):
        return _reduced_by_product(A, names)
    sources, targets = entries_of_packed(A)
    kept = _kept(Edges(n, sources, targets, names))
    return type(A).from_edges(sources[kept], targets[kept], n)


def _kept(edges: Edges) -> np.ndarray:
    """The edges that stay, as truth values; edges are in the order of their ends."""
    kept = reduction.transitive_reduction(*edges.rows())
    if kept is None:
        raise cycle_error(*edges.rows(), edges.names, ADVICE)
    return kept


def _reduced_by_product(A: PackedMatrix, names: Sequence[Any] | None) -> PackedMatrix:
    """A ∧ ¬(A A⁺)."""
    closure = transitive_closure(A, reflexive=False)
    vertices = np.arange(A.shape[0])
    if closure[vertices, vertices].any():
        raise cycle_error(*Edges(A.shape[0], *entries_of_packed(A), names).rows(), names, ADVICE)
    longer = compute(Task("matmul", boolean, (A, closure), options(), (None,)))
    kept: PackedMatrix = ~longer
    kept &= A
    return kept
