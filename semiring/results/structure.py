"""The structure of a graph by the names of its vertices: an order, cycles, components, bridges, longest paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from semiring.algebra.arguments import truth_value
from semiring.algebra.catalogue import boolean, max_plus
from semiring.algorithms.labels import weight_of
from semiring.algorithms.sparse import traversal
from semiring.algorithms.sparse.relaxation import CompressedRows
from semiring.errors import GraphError
from semiring.graphs.adjacency import require_rows
from semiring.graphs.columns import IF_CLEAR
from semiring.graphs.graph import graph_for
from semiring.graphs.names import position_of
from semiring.graphs.texts import shown
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.lowering.sums import narrow, widen
from semiring.kernels.numpy.structure import stable_order
from semiring.operands.convert import as_sparse, on_host
from semiring.operands.operand import Operand, order_of_one
from semiring.operands.pack import before_preparing, is_matrix, pack_named
from semiring.operands.read import operand, read

from .reachability import check_square, is_by_entries

SHOWN = 12  # vertices of a cycle that a message lists
NO_WALK = -2  # in `traversal.longest_walks`: no vertex before this one


def topological_order(A: Any) -> Any:
    """Return the vertices of an acyclic graph, each before those its edges lead to.

    Parameters
    ----------
    A : graph, matrix or edges
        What `semiring.pack` takes, without cycles.

    Returns
    -------
    list of names, or int64 array of positions, shape (n,)
        First the vertices without incoming edges, in the order of the vertices; then the others, as soon as all
        vertices with an edge to them are listed.

    Raises
    ------
    GraphError
        If the graph has a cycle; the message names one. Also if the graph is undirected, or A is neither a square
        matrix nor edges.
    SemiringError
        For NaN.

    Notes
    -----
    A. B. Kahn, Topological sorting of large networks (1962).

    Examples
    --------
    >>> import semiring as sr
    >>> sr.topological_order([("shirt", "tie"), ("tie", "jacket"), ("trousers", "jacket")])
    ['shirt', 'trousers', 'tie', 'jacket']
    """
    found = edges_of(A)
    if not found.directed:
        raise GraphError("an undirected graph has no topological order: each edge is a cycle of two")
    start, heads = found.rows()
    order = traversal.topological_order(start, heads)
    if len(order) < found.n:
        raise cycle_error(start, heads, found.names, "order its condensation, or leave an edge of the cycle out")
    return found.called(order)


def find_cycle(A: Any) -> list[Any] | None:
    """Find a cycle of a graph, or None if there is none.

    Parameters
    ----------
    A : graph, matrix or edges
        What `semiring.pack` takes. A cycle of an undirected graph uses no edge twice.

    Returns
    -------
    list or None
        The vertices in the direction of the edges, by name or by position; the first one is also the last. For a
        directed graph a shortest cycle through the first vertex that is on one.

    Raises
    ------
    GraphError
        If A is neither a square matrix nor edges.
    SemiringError
        For NaN.

    Notes
    -----
    The first vertex whose strongly connected component has an edge, and a breadth-first search from it; for undirected
    graphs a depth-first search. R. E. Tarjan, Depth-first search and linear graph algorithms (1972).

    Examples
    --------
    >>> import semiring as sr
    >>> sr.find_cycle([("a", "b"), ("b", "c"), ("c", "d"), ("d", "b")])
    ['b', 'c', 'd', 'b']
    >>> sr.find_cycle([("a", "b"), ("b", "c"), ("a", "c")]) is None
    True
    """
    found = edges_of(A)
    walk = traversal.cycle(*found.rows()) if found.directed else traversal.undirected_cycle(*found.both_ways())
    if walk is None or not len(walk):
        return None
    return list(found.called(walk)) if found.names is not None else walk.tolist()


def components(A: Any, *, weak: bool = False) -> list[Any]:
    """Return the strongly connected components: sets that reach one another.

    Parameters
    ----------
    A : graph, matrix or edges
        What `semiring.pack` takes.
    weak : bool
        Ignore the direction of edges: vertices are together if any edges connect them. For an undirected
        graph this changes nothing.

    Returns
    -------
    list of lists of names, or of int64 arrays of positions, shape (k,)
        In the order of their first vertices; the vertices of each in their order. ``len`` gives the number of
        components.

    Raises
    ------
    GraphError
        If A is neither a square matrix nor edges.
    SemiringError
        For NaN.

    Notes
    -----
    R. E. Tarjan, Depth-first search and linear graph algorithms (1972). Memory is proportional to the vertices and
    edges; the `condensation` also connects components by edges.

    Examples
    --------
    >>> import semiring as sr
    >>> edges = [("a", "b"), ("b", "a"), ("b", "c"), ("d", "e")]
    >>> sr.components(edges)
    [['a', 'b'], ['c'], ['d'], ['e']]
    >>> sr.components(edges, weak=True)
    [['a', 'b', 'c'], ['d', 'e']]
    """
    weak, found = truth_value(weak, "weak"), edges_of(A)
    rows = found.rows() if found.directed and not weak else found.both_ways()[:2]
    label = traversal.strong_components(*rows)
    _, first, label = np.unique(label, return_index=True, return_inverse=True)
    label = first[label.reshape(-1)]  # the first vertex of a component represents it
    order = stable_order(label, max(found.n, 1))
    ends = np.flatnonzero(np.diff(label[order])) + 1
    bounds = [0, *ends.tolist(), found.n] if found.n else [0]
    return [found.called(order[begin:end]) for begin, end in pairwise(bounds)]


def bridges(A: Any) -> Any:
    """Find the bridges of a graph: without a bridge its ends are no longer connected.

    Parameters
    ----------
    A : graph, matrix or edges
        What `semiring.pack` takes. The direction of edges is ignored: in a directed graph or a matrix the edges from
        a to b and from b to a are one edge. Two edges in the same direction, or two that an undirected graph lists,
        are parallel, and not bridges.

    Returns
    -------
    list of pairs of names, or int64 array of positions, shape (k, 2)
        The vertex that comes first in the order of the vertices is first in its pair, and pairs ascend.

    Raises
    ------
    GraphError
        If A is neither a square matrix nor edges.
    SemiringError
        For NaN.

    Notes
    -----
    R. E. Tarjan, A note on finding the bridges of a graph (1974).

    Examples
    --------
    >>> import semiring as sr
    >>> sr.bridges([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])
    [('c', 'd')]
    """
    found = edges_of(A)
    joined, single = found.joined()
    start, heads, numbers = joined.both_ways()
    chosen = np.flatnonzero(traversal.bridges(start, heads, numbers, len(joined.sources)) & single)
    pairs = np.stack([joined.sources[chosen], joined.targets[chosen]], axis=1)
    names = found.names
    return pairs if names is None else [(names[u], names[v]) for u, v in pairs.tolist()]


def longest_path(A: Any, source: Any = None, target: Any = None) -> tuple[Any, list[Any] | None]:
    """Find a longest path of an acyclic graph: the critical path of a schedule.

    Parameters
    ----------
    A : graph, matrix or edges
        What `semiring.path` takes with `max_plus`, or edges as `semiring.as_graph` takes them, without cycles. Weights
        may be negative; an edge without one weighs 1. In an array −∞ is not an edge.
    source, target : vertex, optional
        The first and the last vertex, by name if the vertices of A have names, else by position. None: any.

    Returns
    -------
    weight : scalar
        The sum along the path, 0 if it has no edge, −∞ if there is no path. Of A's dtype; a sum of integers that leaves
        the dtype, or equals its infinity, is a Python int, and −∞ of integers is a float.
    vertices : list or None
        From the first to the last vertex, by name or by position; None if there is no path.

    Raises
    ------
    GraphError
        If the graph has a cycle, which makes longest paths hard to find; the message names one. Also if the graph is
        undirected, A is neither a square matrix nor edges, or a vertex is unknown.
    SemiringError
        If A is not a matrix over `max_plus`.

    Notes
    -----
    Labels are corrected in topological order, so each edge is used once. J. E. Kelley, Critical-path planning
    and scheduling: mathematical basis (1961).

    Examples
    --------
    >>> import semiring as sr
    >>> tasks = [("dig", "wall", 3.0), ("wall", "roof", 5.0), ("dig", "pipes", 2.0), ("pipes", "roof", 1.0)]
    >>> sr.longest_path(tasks)
    (np.float64(8.0), ['dig', 'wall', 'roof'])
    >>> sr.longest_path(tasks, source="pipes")
    (np.float64(1.0), ['pipes', 'roof'])
    """
    if not (isinstance(A, Operand) or is_matrix(A)):
        A = graph_for(A)
        if not A.directed:
            raise GraphError("an undirected graph has no longest path: each edge is a cycle of two")
    given = as_sparse(on_host(operand(A, max_plus)))
    n = order_of_one(given.shape)
    index = {name: i for i, name in enumerate(given.names or ())}
    begin, end = (-1 if v is None else position_of(v, n, given.names, index) for v in (source, target))
    given = given.without_zeros()
    values, start, heads = widen(max_plus, given.values, given.facts), given.indptr, given.indices
    order = traversal.topological_order(start, heads)
    if len(order) < n:
        raise cycle_error(start, heads, given.names, "longest paths are of acyclic graphs; leave an edge of it out")
    loop: Callable[..., Any] = traversal.longest_walks
    if values.dtype == object:  # Python integers, for which nothing is compiled
        loop = traversal.longest_walks.function
    sums, before = loop(start, heads, values.astype(np.result_type(values, np.float64), copy=False), order, begin)
    ends = np.arange(n) if end < 0 else np.array([end])
    reached = ends[before[ends] != NO_WALK]
    if not len(reached):
        return -np.inf if given.dtype.kind in "iu" else given.S.zero_in(given.dtype), None
    walk = [int(reached[sums[reached].argmax()])]
    while before[walk[-1]] >= 0:
        walk.append(int(before[walk[-1]]))
    walk.reverse()
    weight = narrow(max_plus, weight_of(CompressedRows(start, heads, values), max_plus, walk), given.dtype)
    return weight, walk if given.names is None else [given.names[v] for v in walk]


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of a graph, without weights; of an undirected one each once."""

    n: int
    sources: np.ndarray
    targets: np.ndarray
    names: Sequence[Any] | None
    directed: bool = True

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Compressed rows, whose heads ascend."""
        return _compressed(self.n, self.sources, self.targets)[:2]

    def both_ways(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Compressed rows in which each edge is in the rows of both its ends, and the numbers of the edges."""
        numbers = np.arange(len(self.sources))
        tails, heads = np.concatenate([self.sources, self.targets]), np.concatenate([self.targets, self.sources])
        start, heads, order = _compressed(self.n, tails, heads)
        return start, heads, np.concatenate([numbers, numbers])[order]

    def joined(self) -> tuple[Edges, np.ndarray]:
        """The pairs of vertices that edges connect, each once and ascending, and whether by one edge."""
        low, high = np.minimum(self.sources, self.targets), np.maximum(self.sources, self.targets)
        width = max(self.n, 1)
        keys, place = np.unique(low * width + high, return_inverse=True)
        forward = self.sources <= self.targets if self.directed else np.ones(len(low), bool)
        counts = [np.bincount(place.reshape(-1)[chosen], minlength=len(keys)) for chosen in (forward, ~forward)]
        return Edges(self.n, *np.divmod(keys, width), self.names, False), np.maximum(*counts) == 1

    def called(self, positions: np.ndarray) -> Any:
        """Vertices by name, if they have names."""
        return positions if self.names is None else [self.names[v] for v in positions.tolist()]


def edges_of(A: Any) -> Edges:
    """The edges of anything that `semiring.pack` takes.

    Raises
    ------
    GraphError
        If it is neither a square matrix nor edges, or has 2³¹ vertices.
    SemiringError
        For NaN, and if its vertices do not fit in memory.
    """
    A = before_preparing(A)
    if not is_matrix(A):
        graph = graph_for(A, weight=IF_CLEAR)
        require_rows(graph.n)
        sources, targets = graph.sources, graph.targets
        if graph.weights is not None and graph.weights.dtype.kind == "b":  # False is not an edge
            sources, targets = sources[graph.weights], targets[graph.weights]
        return Edges(graph.n, sources, targets, graph.names, graph.directed)
    if is_by_entries(A):
        check_square(A)
        given = as_sparse(read(A, boolean))
        given.look()
        given = given.without_zeros()
        return Edges(given.n, np.repeat(np.arange(given.n), np.diff(given.indptr)), given.indices, None)
    matrix, names = pack_named(A)
    check_square(matrix)
    return Edges(matrix.shape[0], *entries_of_packed(matrix), names)


def entries_of_packed(matrix: PackedMatrix) -> tuple[np.ndarray, np.ndarray]:
    """The rows and the columns of the True entries, row by row."""
    rows, columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for first, offsets, found in matrix.get().neighbours():
        rows.append(np.repeat(np.arange(first, first + len(offsets) - 1), np.diff(offsets)))
        columns.append(found)
    return np.concatenate(rows), np.concatenate(columns).astype(np.int64, copy=False)


def _compressed(n: int, tails: np.ndarray, heads: np.ndarray) -> tuple[np.ndarray, np.ndarray, Any]:
    """The offsets of rows, the heads of each row, ascending, and the edge of each entry."""
    keys = tails * max(n, 1) + heads
    order: Any = slice(None) if (np.diff(keys) >= 0).all() else stable_order(keys, max(n * n, 1))
    start = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(tails, minlength=n), out=start[1:])
    return start, np.ascontiguousarray(heads[order]), order


def cycle_error(start: np.ndarray, heads: np.ndarray, names: Sequence[Any] | None, advice: str) -> GraphError:
    """The error for a graph with a cycle, which it names."""
    found = traversal.cycle(start, heads)
    assert found is not None
    vertices = [v if names is None else names[v] for v in found.tolist()]
    listed = vertices if len(vertices) <= SHOWN else [*vertices[:SHOWN], f"… ({len(vertices) - 1} edges)"]
    route = " → ".join(map(shown, listed))
    return GraphError(f"the graph has a cycle, {route}: {advice}")
