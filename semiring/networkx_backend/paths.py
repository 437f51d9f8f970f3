"""NetworkX's functions for shortest paths between all vertices."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from math import ceil, inf, isinf, isnan
from typing import Any

import networkx as nx
import numpy as np

from semiring import csgraph
from semiring.graphs.foreign import with_entries

from .graph import BackendGraph, Lengths
from .rows import AT_ONCE, Before, blocks, breadth_first, refuse_negative, unbounded


def floyd_warshall_numpy(G: BackendGraph, nodelist: Any = None, weight: Any = "weight") -> Any:
    n = len(G)
    if nodelist is not None and not (len(nodelist) == n == len(set(nodelist))):
        raise nx.NetworkXError(
            "nodelist must contain every node in G with no repeats."
            "If you wanted a subgraph of G use G.subgraph(nodelist)"
        )
    if nodelist is not None and any(name not in G for name in nodelist):
        raise nx.NetworkXError(f"Nodes {set(nodelist) - set(G)} in nodelist is not in G")
    lengths = _for_all(G, weight, as_floats=True)
    distances = unbounded(lambda: csgraph.floyd_warshall(_without_loops(lengths.matrix)))
    if nodelist is None:
        return distances
    chosen = [G.index[name] for name in nodelist]
    return distances[np.ix_(chosen, chosen)]


def floyd_warshall(G: BackendGraph, weight: Any = "weight") -> dict[Any, Any]:
    lengths = _for_all(G, weight, default=1.0)
    distances = unbounded(lambda: csgraph.floyd_warshall(lengths.matrix))
    return {name: _completed(G, lengths, i, row) for i, (name, row) in enumerate(zip(G.names, distances, strict=True))}


def floyd_warshall_predecessor_and_distance(G: BackendGraph, weight: Any = "weight") -> tuple[Any, Any]:
    lengths = _for_all(G, weight, default=1.0)
    find, pred, dist = Before(lengths), {}, {}
    loops = set(np.flatnonzero(_loops(G.structure)).tolist())
    for sources, rows in _in_parts(lengths):
        before, only = find(sources, rows)
        if not only.all():
            raise NotImplementedError("there are several shortest paths between some vertices")
        for s, row, prior in zip(sources.tolist(), rows, before, strict=True):
            name = G.names[s]
            dist[name] = _completed(G, lengths, s, row)
            reached = np.flatnonzero(prior >= 0)
            entries = dict(zip(G.objects[reached].tolist(), G.objects[prior[reached]].tolist(), strict=True))
            if s in loops:
                entries[name] = name
            if entries:
                pred[name] = entries
    return pred, dist


def _for_all(G: BackendGraph, weight: Any, default: Any = 1, as_floats: bool = False) -> Lengths:
    if callable(weight):
        raise NotImplementedError("the meaning of a function depends on NetworkX's release")
    return G.all_lengths(weight, default, as_floats)


def _loops(matrix: Any) -> np.ndarray:
    """Test which vertices have a loop."""
    edges = matrix.tocoo()
    found = np.zeros(matrix.shape[0], bool)
    found[edges.row[edges.row == edges.col]] = True
    return found


def _without_loops(matrix: Any) -> Any:
    """The lengths without those of loops, because the diagonal becomes zero."""
    edges = matrix.tocoo()
    return with_entries(matrix, edges.row != edges.col)


def _completed(G: BackendGraph, lengths: Lengths, source: int, row: np.ndarray) -> dict[Any, Any]:
    """One row with ∞ for unreached vertices."""
    reached = np.isfinite(row)
    if reached.all():
        values = lengths.boxed(row)
    else:
        values = [inf] * len(row)
        for i, value in zip(np.flatnonzero(reached).tolist(), lengths.boxed(row[reached]), strict=True):
            values[i] = value
    loops = lengths.matrix.data[(part := slice(*lengths.matrix.indptr[source:source + 2]))]
    if not (loops[lengths.matrix.indices[part] == source] == 0).any():
        values[source] = 0  # otherwise the zero of a loop
    return defaultdict(_infinity, zip(G.names, values, strict=True))


def _infinity() -> float:
    return inf


def all_pairs_dijkstra(G: BackendGraph, cutoff: Any = None, weight: Any = "weight") -> Iterator[Any]:
    lengths, far = refuse_negative(G.lengths(weight)), _limit(cutoff)
    return _paths(G, lengths, far, _dijkstra(G, cutoff, weight), True)


def all_pairs_dijkstra_path(G: BackendGraph, cutoff: Any = None, weight: Any = "weight") -> Iterator[Any]:
    lengths, far = refuse_negative(G.lengths(weight)), _limit(cutoff)
    return ((name, paths) for name, (_, paths) in _paths(G, lengths, far, _dijkstra(G, cutoff, weight), False))


def all_pairs_dijkstra_path_length(G: BackendGraph, cutoff: Any = None, weight: Any = "weight") -> Iterator[Any]:
    return _distances(G, refuse_negative(G.lengths(weight)), _limit(cutoff))


def all_pairs_bellman_ford_path(G: BackendGraph, weight: Any = "weight") -> Iterator[Any]:
    lengths = G.all_lengths(weight)

    def anew(source: Any) -> Any:
        return nx.single_source_bellman_ford.orig_func(G.graph, source, weight=weight)

    return ((name, paths) for name, (_, paths) in _paths(G, lengths, inf, anew, False))


def all_pairs_bellman_ford_path_length(G: BackendGraph, weight: Any = "weight") -> Iterator[Any]:
    return _distances(G, G.all_lengths(weight), inf)


def johnson(G: BackendGraph, weight: Any = "weight") -> dict[Any, Any]:
    lengths, anew = G.all_lengths(weight), _dijkstra(G, None, weight)
    if lengths.negative:
        unbounded(lambda: csgraph.johnson(lengths.matrix, indices=[0]))  # finds negative cycles before any search
        anew = _refuse_ties
    return {name: paths for name, (_, paths) in _paths(G, lengths, inf, anew, False)}


def _refuse_ties(source: Any) -> Any:
    raise NotImplementedError("there are several shortest paths between some vertices, and a weight is negative")


def _limit(cutoff: Any) -> float:
    if cutoff is None:
        return inf
    if type(cutoff) not in (int, float) or isnan(cutoff):
        raise NotImplementedError("the cutoff is not a number")
    return float(cutoff)


def _dijkstra(G: BackendGraph, cutoff: Any, weight: Any) -> Callable[[Any], Any]:
    """NetworkX's own search, if a choice among paths depends on its heap."""
    return lambda source: nx.single_source_dijkstra.orig_func(G.graph, source, cutoff=cutoff, weight=weight)


def _distances(G: BackendGraph, lengths: Lengths, limit: float) -> Iterator[Any]:
    for sources, rows in blocks(lengths, limit=max(limit, 0.0)):
        for s, row in zip(sources.tolist(), rows, strict=True):
            yield G.names[s], _ordered(G, lengths, s, row, limit)[1]


def _ordered(G: BackendGraph, lengths: Lengths, source: int, row: np.ndarray, limit: float) -> tuple[np.ndarray, Any]:
    """The positions of vertices within the limit, from near to far, the source first; and lengths by name."""
    order = np.argsort(row, kind="stable" if lengths.kind is int else None)  # ties are rare among floats
    near = row[order]
    if near[-1] > limit or near[-1] == inf:
        end = np.searchsorted(near, limit, side="right" if limit < inf else "left")
        order, near = order[:end], near[:end]
    if not len(order) or order[0] != source:  # the source may tie with others, and a cutoff may be below 0
        order = np.concatenate([[source], order[order != source]])
        near = row[order]
    values = lengths.boxed(near)
    values[0] = 0  # also where the others are floats
    return order, dict(zip(G.objects[order].tolist(), values, strict=True))


def _in_parts(lengths: Lengths, limit: float = inf) -> Iterator[Any]:
    """Rows, few enough for a comparison of all edges in each."""
    step = max(1, AT_ONCE // max(lengths.matrix.nnz, lengths.matrix.shape[0], 1))
    for sources, rows in blocks(lengths, limit=limit):
        for first in range(0, len(sources), step):
            yield sources[first:first + step], rows[first:first + step]


def _paths(
    G: BackendGraph, lengths: Lengths, limit: float, anew: Callable[[Any], Any], wanted: bool
) -> Iterator[Any]:
    """Lengths, if they are wanted, and paths from each vertex; those of vertices with ties are searched for anew."""
    find = Before(lengths)
    for sources, rows in _in_parts(lengths, max(limit, 0.0)):
        before, only = find(sources, rows)
        for s, row, prior, certain in zip(sources.tolist(), rows, before, only.tolist(), strict=True):
            name = G.names[s]
            if not certain:
                yield name, anew(name)
                continue
            order, dist = _ordered(G, lengths, s, row, limit)
            order = _parents_first(order, prior)
            yield name, (dist if wanted else None, _walked(G, order, prior))


def _walked(G: BackendGraph, order: np.ndarray, prior: np.ndarray) -> dict[Any, Any]:
    """Paths by name, each one vertex longer than that of the vertex before."""
    names = G.objects[order].tolist()
    paths = {names[0]: [names[0]]}
    for name, parent in zip(names[1:], G.objects[prior[order[1:]]].tolist(), strict=True):
        paths[name] = [*paths[parent], name]
    return paths


def _parents_first(order: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """The order, if each vertex is behind the one before it on its path; else by edges from the source.

    A vertex behind a negative edge is nearer than the one before it, behind an edge that adds nothing as near.
    """
    place = np.empty(len(prior), np.int64)
    place[order] = np.arange(len(order))
    if (place[prior[order[1:]]] < place[order[1:]]).all():
        return order
    depth, above = np.zeros(len(prior), np.int64), prior
    while (further := above >= 0).any():
        depth += further
        above = np.where(further, prior[above], -1)
    return order[np.argsort(depth[order], kind="stable")]


def all_pairs_shortest_path(G: BackendGraph, cutoff: Any = None) -> Iterator[Any]:
    return _by_hops(G, _level(cutoff), True)


def all_pairs_shortest_path_length(G: BackendGraph, cutoff: Any = None) -> Iterator[Any]:
    return _by_hops(G, _level(cutoff), False)


def _level(cutoff: Any) -> float:
    """The last level: NetworkX begins another one as long as the cutoff is beyond the one before."""
    limit = _limit(cutoff)
    return limit if isinf(limit) else ceil(limit)


def _by_hops(G: BackendGraph, limit: float, paths: bool) -> Iterator[Any]:
    for s, name in enumerate(G.names):
        order, parents, hops = breadth_first(G, s)
        near = order[:max(1, int(np.searchsorted(hops, limit, side="right")))]
        names = G.objects[near].tolist()
        if not paths:
            yield name, dict(zip(names, hops[:len(near)].tolist(), strict=True))
            continue
        found = [[name]]
        for other, parent in zip(names[1:], parents[:len(near) - 1].tolist(), strict=True):
            found.append([*found[parent], other])
        yield name, dict(zip(names, found, strict=True))
