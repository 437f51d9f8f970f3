"""Directed graphs without cycles: reduced to the edges that matter, and made of any graph by its condensation."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from semiring.algebra.catalogue import boolean
from semiring.errors import GraphError
from semiring.graphs.graph import as_graph
from semiring.graphs.texts import shown
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.operands.pack import is_matrix, pack, pack_named
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
        For NaN, and where n² bits would not fit in memory.

    Notes
    -----
    A ∧ ¬(A A⁺): an edge stays unless some path of two or more edges joins its ends (A. V. Aho, M. R. Garey,
    J. D. Ullman, The transitive reduction of a directed graph, 1972).

    Examples
    --------
    >>> import semiring as sr
    >>> G = sr.transitive_reduction([("a", "b"), ("b", "c"), ("a", "c")])
    >>> [(G.names[i], G.names[j]) for i, j in zip(G.sources, G.targets)]
    [('a', 'b'), ('b', 'c')]
    """
    if is_matrix(A):
        matrix, names = pack_named(A)
        return _reduced(matrix, names)
    graph = as_graph(A)
    if not graph.directed:
        raise GraphError("an undirected graph has no transitive reduction: each edge is a cycle of two")
    reduced = _reduced(pack(graph), graph.names)
    keep = np.asarray(reduced[graph.sources, graph.targets], bool)
    if graph.weights is not None and graph.weights.dtype.kind == "b":
        keep &= graph.weights
    chosen = np.flatnonzero(keep)
    keys = graph.sources[chosen] * graph.n + graph.targets[chosen]
    chosen = np.sort(chosen[np.unique(keys, return_index=True)[1]])
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


def _reduced(A: PackedMatrix, names: Sequence[Any] | None) -> PackedMatrix:
    """A ∧ ¬(A A⁺)."""
    check_square(A)
    closure = transitive_closure(A, reflexive=False)
    vertices = np.arange(A.shape[0])
    on_cycle = np.flatnonzero(closure[vertices, vertices])
    if len(on_cycle):
        cycle = [v if names is None else names[v] for v in _cycle(A, int(on_cycle[0]))]
        listed = cycle if len(cycle) <= SHOWN else [*cycle[:SHOWN], f"… ({len(cycle) - 1} edges)"]
        route = " → ".join(map(shown, listed))
        raise GraphError(f"the graph has a cycle, {route}: reduce its condensation, or leave an edge of the cycle out")
    longer = compute(Task("matmul", boolean, (A, closure), options(), (None,)))
    kept: PackedMatrix = ~longer
    kept &= A
    return kept


def _cycle(A: PackedMatrix, v: int) -> list[int]:
    """A shortest cycle through a vertex that is on one, by breadth-first search; its first vertex ends it too."""
    before = np.full(A.shape[0], -1)
    unseen = np.ones(A.shape[0], bool)
    queue = deque([v])
    while unseen[v]:
        u = queue.popleft()
        new = np.flatnonzero(A[u] & unseen)
        before[new] = u
        unseen[new] = False
        queue.extend(new.tolist())
    cycle = [v]
    while len(cycle) == 1 or cycle[-1] != v:
        cycle.append(int(before[cycle[-1]]))
    return cycle[::-1]
