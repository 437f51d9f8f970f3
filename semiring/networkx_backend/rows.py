"""Lengths of shortest paths from many vertices, some rows at a time, and the vertex before each one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order

from semiring import csgraph
from semiring.graphs.foreign import with_entries

from .graph import BackendGraph, Lengths

AT_ONCE = 1 << 22  # lengths that are held


def refuse_negative(lengths: Lengths) -> Lengths:
    """Refuse negative lengths: with Dijkstra's algorithm NetworkX's answers then depend on the order of its heap.

    Raises
    ------
    NotImplementedError
    """
    if lengths.negative:
        raise NotImplementedError("a weight is negative, and NetworkX's search depends on its order then")
    return lengths


def unbounded(compute: Callable[[], Any]) -> Any:
    """Call `compute`, with NetworkX's error for negative cycles.

    Raises
    ------
    networkx.NetworkXUnbounded
    """
    try:
        return compute()
    except csgraph.NegativeCycleError:
        raise nx.NetworkXUnbounded("Negative cycle detected.") from None


def blocks(lengths: Lengths, sources: Sequence[int] | None = None, limit: float = np.inf) -> Iterator[Any]:
    """Positions of sources and their rows of lengths, ∞ without a path, bit by bit those of NetworkX.

    Searches add along the path from the source, as NetworkX's do, and rounding keeps the order of sums of numbers that
    are not negative. So each search finds the same bits. Closures add in other orders, and are not used.

    Raises
    ------
    networkx.NetworkXUnbounded
        If a source reaches a negative cycle; the rows of the sources before it are yielded first.
    """
    n = lengths.matrix.shape[0]
    chosen = np.arange(n) if sources is None else np.asarray(sources, np.int64)
    step = max(1, AT_ONCE // max(n, 1))
    for first in range(0, len(chosen), step):
        some = chosen[first:first + step]
        yield from _searched(lengths, some, limit)


def _searched(lengths: Lengths, some: np.ndarray, limit: float) -> Iterator[Any]:
    if not lengths.negative:
        yield some, csgraph.dijkstra(lengths.matrix, indices=some, limit=limit)
        return
    matrix, cyclic = _without_negative_loops(lengths.matrix)
    try:
        found = csgraph.bellman_ford(matrix, indices=some)
    except csgraph.NegativeCycleError:
        if len(some) == 1:
            raise nx.NetworkXUnbounded("Negative cycle detected.") from None
        for one in some:
            yield from _searched(lengths, np.array([one]), limit)
        return
    bad = np.flatnonzero(np.isfinite(found[:, cyclic]).any(axis=1))
    good = bad[0] if len(bad) else len(some)
    if good:
        yield some[:good], found[:good]
    if len(bad):
        raise nx.NetworkXUnbounded("Negative cycle detected.")


def _without_negative_loops(matrix: Any) -> tuple[Any, np.ndarray]:
    """The lengths without negative loops, and the vertices with one: a negative cycle for sources that reach it."""
    tails = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    kept = (tails != matrix.indices) | (matrix.data >= 0)
    return with_entries(matrix, kept), tails[~kept]


class Before:
    """For rows of lengths the vertex before each one on a shortest path, and whether there is only one choice."""

    def __init__(self, lengths: Lengths):
        edges = lengths.matrix.tocoo()
        other = np.flatnonzero(edges.row != edges.col)
        order = other[np.argsort(edges.col[other], kind="stable")]
        self.tails, self.heads, self.data = edges.row[order], edges.col[order], edges.data[order]
        self.reached, self.first = np.unique(self.heads, return_index=True)
        self.n = lengths.matrix.shape[0]

    def __call__(self, sources: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Predecessors, −1 for none, and for each source whether its paths are the only shortest ones."""
        before = np.full(rows.shape, -1, np.int32)
        if not len(self.heads):
            return before, np.ones(len(rows), bool)
        tight = rows[:, self.tails] + self.data == rows[:, self.heads]
        tight &= np.isfinite(rows[:, self.heads])
        tight &= self.heads[None, :] != np.asarray(sources)[:, None]
        count = np.add.reduceat(tight, self.first, axis=1, dtype=np.int32)
        last = np.maximum.reduceat(np.where(tight, self.tails, -1), self.first, axis=1)
        before[:, self.reached] = last
        must = np.isfinite(rows).sum(axis=1) - 1
        only = (count <= 1).all(axis=1) & ((before >= 0).sum(axis=1) == must)
        return before, only


def breadth_first(G: BackendGraph, source: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices in NetworkX's order, the position in it of the one before each, and hops from the source."""
    order, before = breadth_first_order(G.structure, source, return_predecessors=True)
    place = np.empty(len(G), np.int64)
    place[order] = np.arange(len(order))
    parents = place[before[order[1:]]]
    hops = np.zeros(len(order), np.int64)
    start, stop, level = 0, 1, 0
    while stop < len(order):
        # what follows from vertices start … stop − 1 is the next level, because parents do not decrease
        start, stop, level = stop, 1 + int(np.searchsorted(parents, stop)), level + 1
        hops[start:stop] = level
    return order, parents, hops


def is_connected(G: BackendGraph) -> bool:
    """Whether each vertex reaches each other one."""
    count, _ = sp.csgraph.connected_components(G.structure, True, "strong", True)
    return bool(count == 1)
