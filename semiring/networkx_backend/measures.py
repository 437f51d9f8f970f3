"""NetworkX's functions that compute a number for each vertex, or for the graph, from the lengths of shortest paths."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from math import inf
from typing import Any

import networkx as nx
import numpy as np

from semiring.algebra.catalogue import plus_times
from semiring.api import matmul, solve

from .graph import BackendGraph, Lengths
from .rows import blocks, is_connected, refuse_negative

DEEPEST = 48  # levels of a search, each one product of all: beyond 56 NetworkX takes about as long


def _lengths(G: BackendGraph, weight: Any) -> Lengths:
    return G.hops if weight is None else refuse_negative(G.lengths(weight))


def _sums(lengths: Lengths, rows: np.ndarray) -> list[Any]:
    """Sums of rows without ∞, bit by bit those of NetworkX: it adds from near to far, from the integer 0 on."""
    if lengths.kind is int:
        return np.where(np.isfinite(rows), rows, 0).astype(np.int64).sum(axis=1).tolist()
    return [sum(chain((0,), lengths.boxed(row)[1:])) for row in _near_to_far(rows)]


def _near_to_far(rows: np.ndarray) -> Iterator[np.ndarray]:
    """Finite lengths of each row in increasing order."""
    for row in np.sort(rows, axis=1):
        yield row[:np.searchsorted(row, inf)]


def _total(lengths: Lengths) -> Any:
    """The sum of all lengths: of floats one after another."""
    if lengths.kind is int:
        return sum(sum(_sums(lengths, rows)) for _, rows in blocks(lengths))
    in_order = (row for _, rows in blocks(lengths) for row in _near_to_far(rows))
    return sum(chain.from_iterable(chain((0,), lengths.boxed(row)[1:]) for row in in_order))


def average_shortest_path_length(G: BackendGraph, weight: Any = None, method: str | None = None) -> Any:
    if method is None:
        method = "unweighted" if weight is None else "dijkstra"
    if method not in ("unweighted", "dijkstra", "bellman-ford", "floyd-warshall", "floyd-warshall-numpy"):
        raise ValueError(f"method not supported: {method}")
    n = len(G)
    if n == 0:
        raise nx.NetworkXPointlessConcept(
            "the null graph has no paths, thus there is no average shortest path length"
        )
    if n == 1:
        return 0
    if not is_connected(G):
        raise nx.NetworkXError(f"Graph is not {'strongly ' if G.is_directed() else ''}connected.")
    lengths = G.hops if method == "unweighted" else refuse_negative(G.all_lengths(weight))
    return _total(lengths) / (n * (n - 1))


def eccentricity(G: BackendGraph, v: Any = None, sp: Any = None, weight: Any = None) -> dict[Any, Any]:
    lengths, found = _lengths(G, weight), []
    for _, rows in blocks(lengths):
        most = rows.max(axis=1)
        if np.isinf(most).any():
            why = ("Found infinite path length because the digraph is not strongly connected" if G.is_directed() else
                   "Found infinite path length because the graph is not connected")
            raise nx.NetworkXError(why)
        found += [value or 0 for value in lengths.boxed(most)]  # the length 0 is the integer of the vertex itself
    return dict(zip(G.names, found, strict=True))


def diameter(G: BackendGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    return max(eccentricity(G, weight=weight).values())


def radius(G: BackendGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    return min(eccentricity(G, weight=weight).values())


def center(G: BackendGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Any]:
    if weight is None:
        _refuse_trees(G)
    found = eccentricity(G, weight=weight)
    least = min(found.values())
    return [v for v, far in found.items() if far == least]


def periphery(G: BackendGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Any]:
    found = eccentricity(G, weight=weight)
    most = max(found.values())
    return [v for v, far in found.items() if far == most]


def _refuse_trees(G: BackendGraph) -> None:
    if not G.is_directed() and (not len(G) or G.graph.number_of_edges() == len(G) - 1):
        raise NotImplementedError("NetworkX treats trees separately, without lengths")


def barycenter(G: BackendGraph, weight: Any = None, attr: Any = None, sp: Any = None) -> list[Any]:
    if weight is None:
        _refuse_trees(G)
    lengths, sums = _lengths(G, weight), []
    for _, rows in blocks(lengths):
        if np.isinf(rows).any():
            raise nx.NetworkXNoPath(
                f"Input graph {G.graph} is disconnected, so every induced subgraph has infinite barycentricity."
            )
        sums += _sums(lengths, rows)
    least = min(sums, default=0)
    return [v for v, total in zip(G.names, sums, strict=True) if total == least]


def wiener_index(G: BackendGraph, weight: Any = None) -> Any:
    if not len(G):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    lengths = G.hops if weight is None else refuse_negative(G.all_lengths(weight))
    if not is_connected(G):
        return inf
    total = _total(lengths)
    return total if G.is_directed() else total / 2


def closeness_centrality(
    G: BackendGraph, u: Any = None, distance: Any = None, wf_improved: bool = True
) -> dict[Any, float]:
    if callable(distance) and G.is_directed():
        raise NotImplementedError("NetworkX calls the function with the ends of each edge exchanged")
    lengths, n, found = _towards(G, _lengths(G, distance)), len(G), {}
    for sources, rows in blocks(lengths):
        counts = np.isfinite(rows).sum(axis=1).tolist()
        for s, count, total in zip(sources.tolist(), counts, _sums(lengths, rows), strict=True):
            value = 0.0
            if total > 0.0 and n > 1:
                value = (count - 1.0) / total
                if wf_improved:
                    value *= (count - 1.0) / (n - 1)
            found[G.names[s]] = value
    return found


def _towards(G: BackendGraph, lengths: Lengths) -> Lengths:
    """Lengths of the reversed edges."""
    return lengths._replace(matrix=lengths.matrix.T.tocsr()) if G.is_directed() else lengths


def harmonic_centrality(
    G: BackendGraph, nbunch: Any = None, distance: Any = None, sources: Any = None
) -> dict[Any, Any]:
    wanted = set(G.names if nbunch is None else G.graph.nbunch_iter(nbunch))
    begins = set(G.names if sources is None else G.graph.nbunch_iter(sources))
    lengths, turned = _lengths(G, distance), len(wanted) < len(begins)
    if turned and callable(distance) and G.is_directed():
        raise NotImplementedError("NetworkX calls the function with the ends of each edge exchanged")
    near = sorted(G.index[v] for v in wanted)
    far = sorted(G.index[v] for v in begins)
    sums = np.zeros(len(G))
    for some, rows in blocks(_towards(G, lengths) if turned else lengths, near if turned else far):
        part = rows[:, far if turned else near]
        inverse = np.divide(1.0, part, out=np.zeros(part.shape), where=part != 0)
        if turned:
            sums[some] = inverse.sum(axis=1)
        else:
            sums[near] += inverse.sum(axis=0)
    values = list(sums) if lengths.kind is np.float64 else sums.tolist()  # reciprocals have the type of the lengths
    return {v: values[G.index[v]] or 0 for v in wanted}  # if nothing is reached, the sum stays the integer 0


def global_efficiency(G: BackendGraph) -> Any:
    n = len(G)
    if n < 2:
        return 0
    total = np.zeros(1)
    for _, rows in blocks(G.hops):
        for row in _near_to_far(rows):
            if len(row) > 1:  # one by one, as NetworkX adds them
                total = np.add.accumulate(np.concatenate([total, 1 / row[1:]]))[-1:]
    return float(total[0]) / (n * (n - 1))


def betweenness_centrality(
    G: BackendGraph, k: Any = None, normalized: bool = True, weight: Any = None, endpoints: bool = False,
    seed: Any = None,
) -> dict[Any, float]:
    """U. Brandes, A faster algorithm for betweenness centrality (2001), one level of many searches at a time."""
    n = len(G)
    hops, found = G.hops, np.zeros(n)
    back = hops.matrix.T.tocsr()
    for sources, rows in blocks(hops):
        level = np.where(np.isfinite(rows), rows, -1).astype(np.int32).T
        counts = np.zeros(level.shape)  # shortest paths from each source
        counts[sources, np.arange(len(sources))] = 1
        deepest = int(level.max(initial=0))
        if deepest > DEEPEST:
            raise NotImplementedError("paths are so long that NetworkX's search is as fast")
        for depth in range(1, deepest + 1):
            # σ(w) = Σ σ(v) for edges v → w from the level before
            ahead = matmul(back, np.where(level == depth - 1, counts, 0.0), plus_times)
            counts = np.where(level == depth, ahead, counts)
        share = np.zeros(level.shape)
        for depth in range(deepest, 0, -1):
            # δ(v) = Σ σ(v) / σ(w) (1 + δ(w)) for edges v → w to the level after
            behind = level == depth
            each = np.divide(1.0 + share, counts, out=np.zeros(level.shape), where=behind)
            share = np.where(level == depth - 1, counts * matmul(hops.matrix, each, plus_times), share)
        share[sources, np.arange(len(sources))] = 0.0
        found += share.sum(axis=1)
        if endpoints:
            others = level > 0
            found += others.sum(axis=1)
            found[sources] += others.sum(axis=0)
    pairs = n if endpoints else n - 1
    if pairs >= 2:
        found *= 1 / (pairs * (pairs - 1)) if normalized else 1.0 if G.is_directed() else 0.5
    return dict(zip(G.names, found.tolist(), strict=True))


def katz_centrality_numpy(
    G: BackendGraph, alpha: float = 0.1, beta: Any = 1.0, normalized: bool = True, weight: Any = None
) -> dict[Any, float]:
    n = len(G)
    if not n:
        return {}
    if type(alpha) not in (int, float) or n == 1:
        raise NotImplementedError("NetworkX's own equations: for one vertex, or a factor that is not a float")
    if callable(weight):
        raise NotImplementedError("NetworkX treats a function as the name of an attribute")
    if hasattr(beta, "keys"):
        if set(beta) != set(G):
            raise nx.NetworkXError("beta dictionary must have a value for every node")
        names, given = list(beta), np.array(list(beta.values()), dtype=float)
    else:
        names = G.names
        try:
            given = (np.ones((n, 1)) * beta).reshape(n)
        except (TypeError, ValueError, AttributeError) as error:
            raise nx.NetworkXError("beta must be a number") from error
    lengths = G.hops if weight is None else G.all_lengths(weight)
    places = [G.index[v] for v in names]
    right = np.empty(n)
    right[places] = given
    into = (alpha * lengths.matrix.T).tocsr()
    degrees = np.bincount(lengths.matrix.indices, np.abs(lengths.matrix.data), n)
    if not np.isfinite(given).all():
        raise NotImplementedError("NetworkX's own equations: beta is not finite")
    if not abs(alpha) * degrees.max() < 1:  # or alpha is NaN
        raise NotImplementedError("elimination without pivots may be inaccurate: weights into a vertex are too large")
    found = solve(into, right, plus_times)[places]
    norm = np.sign(sum(found)) * np.linalg.norm(found) if normalized else 1
    return dict(zip(names, (found / norm).tolist(), strict=True))
