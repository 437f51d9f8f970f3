"""Directed graphs without cycles: reduced to the edges that matter, and made of any graph by its condensation."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from semiring.algebra.catalogue import boolean
from semiring.algorithms.sparse import reduction
from semiring.errors import GraphError
from semiring.graphs.graph import as_graph
from semiring.graphs.texts import shown
from semiring.kernels.blocks.bits import WORD
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.operands.pack import before_preparing, is_matrix, pack, pack_named
from semiring.solvers.task import Task, compute, options

from .reachability import Reachability, check_square, transitive_closure

SHOWN = 12  # vertices of a cycle that a message lists


def transitive_reduction(A: Any) -> Any:
    """The least graph that reaches the same: an acyclic graph without the edges that a longer path replaces.

    Parameters
    ----------
    A : graph, matrix or edges
        What `semiring.pack` takes, without cycles.

    Returns
    -------
    Graph or PackedMatrix
        A `Graph` for graphs and edges, with their weights and names (of parallel edges the first); for arrays, sparse
        matrices, a `Matrix` or a `PackedMatrix` a `PackedMatrix`.

    Raises
    ------
    GraphError
        When the graph has a cycle; the message names one. Of a graph with cycles reduce the `condensation`. When it is
        undirected, or what is given is neither a square matrix nor edges.
    SemiringError
        For NaN, and where the n² bits of a matrix would not fit in memory.

    Notes
    -----
    A ∧ ¬(A A⁺): an edge stays unless some path of two or more edges joins its ends (A. V. Aho, M. R. Garey,
    J. D. Ullman, The transitive reduction of a directed graph, 1972). Where there are fewer edges than n² / 64, A⁺ is
    never held, but some columns of it at a time; see `semiring.algorithms.sparse.reduction`.

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
    graph = as_graph(A)
    if not graph.directed:
        raise GraphError("an undirected graph has no transitive reduction: each edge is a cycle of two")
    chosen = np.arange(len(graph))
    if graph.weights is not None and graph.weights.dtype.kind == "b":
        chosen = np.flatnonzero(graph.weights)  # what is False is no edge
    keys, first = np.unique(graph.sources[chosen] * graph.n + graph.targets[chosen], return_index=True)
    if _is_dense(graph.n, len(keys)):
        reduced = _reduced(pack(graph), graph.names)
        kept = np.asarray(reduced[graph.sources[chosen[first]], graph.targets[chosen[first]]], bool)
    else:
        kept = _kept(*_compressed(graph.n, *np.divmod(keys, max(graph.n, 1))), graph.names)
    chosen = np.sort(chosen[first[kept]])
    weights = None if graph.weights is None else graph.weights[chosen]
    return replace(graph, sources=graph.sources[chosen], targets=graph.targets[chosen], weights=weights)


def condensation(A: Any) -> tuple[PackedMatrix, list[Any]]:
    """The acyclic graph of a graph's strongly connected components.

    Parameters
    ----------
    A : graph, matrix or edges
        What `semiring.pack` takes.

    Returns
    -------
    matrix : PackedMatrix
        True at (c, d) where an edge leads from component c to another component d.
    members : list
        The vertices of each component: lists of names, or int64 arrays of positions. Components are in the order of
        their first vertices.

    Raises
    ------
    GraphError
        When what is given is neither a square matrix nor edges.
    SemiringError
        For NaN, and where n² bits would not fit in memory.

    Notes
    -----
    Two vertices are in one component if each reaches the other; both are read off the transitive closure.

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
    for first, offsets, columns in matrix.neighbours():
        sources = np.repeat(labels[first : first + len(offsets) - 1], np.diff(offsets))
        targets = labels[columns]
        between = sources != targets
        result.set(sources[between], targets[between])
    return result, R.strongly_connected_components()


def _is_dense(n: int, edges: int) -> bool:
    """Whether so many edges take more room than a bit for every pair."""
    return edges > n * n // WORD


def _reduced(A: PackedMatrix, names: Sequence[Any] | None) -> PackedMatrix:
    n = A.shape[0]
    if _is_dense(n, A.count()):
        return _reduced_by_product(A, names)
    rows, columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for first, offsets, found in A.neighbours():
        rows.append(np.repeat(np.arange(first, first + len(offsets) - 1), np.diff(offsets)))
        columns.append(found)
    sources, targets = np.concatenate(rows), np.concatenate(columns)
    kept = _kept(*_compressed(n, sources, targets), names)
    return PackedMatrix.from_edges(sources[kept], targets[kept], n)


def _compressed(n: int, sources: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compressed rows of edges in the order of their sources."""
    return np.searchsorted(sources, np.arange(n + 1)), targets


def _kept(start: np.ndarray, heads: np.ndarray, names: Sequence[Any] | None) -> np.ndarray:
    """Which edges of compressed rows stay."""
    kept = reduction.transitive_reduction(start, heads)
    if kept is None:
        v = _first_on_a_cycle(start, heads)
        raise _cycle_error(_cycle(lambda u: heads[start[u] : start[u + 1]], len(start) - 1, v), names)
    return kept


def _first_on_a_cycle(start: np.ndarray, heads: np.ndarray) -> int:
    """The first vertex whose strongly connected component holds an edge."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = len(start) - 1
    matrix = csr_array((np.ones(len(heads), np.int8), heads, start), (n, n))
    labels = connected_components(matrix, connection="strong")[1]
    tails = np.repeat(np.arange(n), np.diff(start))
    return int(tails[labels[tails] == labels[heads]].min())


def _reduced_by_product(A: PackedMatrix, names: Sequence[Any] | None) -> PackedMatrix:
    """A ∧ ¬(A A⁺)."""
    closure = transitive_closure(A, reflexive=False)
    vertices = np.arange(A.shape[0])
    on_cycle = np.flatnonzero(closure[vertices, vertices])
    if len(on_cycle):
        raise _cycle_error(_cycle(lambda u: np.flatnonzero(A[u]), A.shape[0], int(on_cycle[0])), names)
    longer = compute(Task("matmul", boolean, (A, closure), options(), (None,)))
    kept: PackedMatrix = ~longer
    kept &= A
    return kept


def _cycle_error(vertices: list[int], names: Sequence[Any] | None) -> GraphError:
    cycle = [v if names is None else names[v] for v in vertices]
    listed = cycle if len(cycle) <= SHOWN else [*cycle[:SHOWN], f"… ({len(cycle) - 1} edges)"]
    route = " → ".join(map(shown, listed))
    return GraphError(f"the graph has a cycle, {route}: reduce its condensation, or leave an edge of the cycle out")


def _cycle(successors: Callable[[int], np.ndarray], n: int, v: int) -> list[int]:
    """A shortest cycle through a vertex that is on one, by breadth-first search; its first vertex ends it too."""
    before = np.full(n, -1)
    unseen = np.ones(n, bool)
    queue = deque([v])
    while unseen[v]:
        u = queue.popleft()
        new = successors(u)
        new = new[unseen[new]]
        before[new] = u
        unseen[new] = False
        queue.extend(new.tolist())
    cycle = [v]
    while len(cycle) == 1 or cycle[-1] != v:
        cycle.append(int(before[cycle[-1]]))
    return cycle[::-1]
