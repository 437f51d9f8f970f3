"""NetworkX's functions for reachability, and for the longest path of an acyclic graph."""

from __future__ import annotations

from itertools import pairwise, repeat
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order

from semiring.algebra.catalogue import boolean, max_plus
from semiring.api import closure, closure_rows
from semiring.graphs.graph import Graph
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.operands.read import read
from semiring.results.acyclic import transitive_reduction as reduction
from semiring.solvers.paths.searches import with_a_root

from .graph import BackendGraph


def ancestors(G: BackendGraph, source: Any) -> set[Any]:
    reversed_edges = G.structure.T.tocsr()
    return _reached(G, reversed_edges, source)


def descendants(G: BackendGraph, source: Any) -> set[Any]:
    return _reached(G, G.structure, source)


def _reached(G: BackendGraph, edges: Any, source: Any) -> set[Any]:
    G.graph.neighbors(source)  # NetworkX's error for an unknown vertex
    order = breadth_first_order(edges, G.index[source], return_predecessors=False)
    return set(G.objects[order[1:]].tolist())


def transitive_closure(G: BackendGraph, reflexive: Any = False) -> Any:
    if reflexive not in {None, True, False}:
        raise nx.NetworkXError("Incorrect value for the parameter `reflexive`")
    if reflexive is not None and type(reflexive) is not bool:
        raise NotImplementedError("reflexive is 0 or 1, for which NetworkX returns the graph as it was")
    return _closed(G, reflexive)


def transitive_closure_dag(G: BackendGraph, topo_order: Any = None) -> Any:
    _refuse_cycles(G)
    return _closed(G, False)


def _refuse_cycles(G: BackendGraph) -> None:
    """NetworkX's error for a cycle, with its words."""
    if not _is_acyclic(G):
        list(nx.topological_sort.orig_func(G.graph))


def _is_acyclic(G: BackendGraph) -> bool:
    count = sp.csgraph.connected_components(G.structure, True, "strong", False)
    return bool(count == len(G)) and not G.structure.diagonal().any()


def _closed(G: BackendGraph, reflexive: bool | None) -> Any:
    """A copy of the graph with an edge to each vertex that is reached.

    On the diagonal NetworkX has a loop for each vertex on a cycle (False), for every vertex (True), or what was
    there before (None).
    """
    made, n = G.graph.copy(), len(G)
    if not n:
        return made
    edges = PackedMatrix.from_edges(*_ends(G.structure), n)
    diagonal = PackedMatrix.from_edges(np.arange(n), np.arange(n), n)
    closed = closure(edges, boolean, packed=True, reflexive=reflexive is not False)
    if reflexive is None:
        closed &= ~diagonal
    closed &= ~edges
    if type(made) in (nx.DiGraph, nx.MultiDiGraph):
        _fill(made, G, closed)
        return made
    for first, offsets, heads in closed.neighbours():
        for i, v in enumerate(G.names[first:first + len(offsets) - 1]):
            made.add_edges_from(zip(repeat(v), G.objects[heads[offsets[i]:offsets[i + 1]]].tolist(), strict=False))
    return made


def _ends(structure: Any) -> tuple[np.ndarray, np.ndarray]:
    return np.repeat(np.arange(structure.shape[0]), np.diff(structure.indptr)), structure.indices.astype(np.int64)


def _fill(made: Any, G: BackendGraph, new: PackedMatrix) -> None:
    """Add edges without attributes, a row and a column of the adjacency at a time, with the same dictionaries."""
    columns = list(map(made._pred.__getitem__, G.names))
    parallel = made.is_multigraph()
    for first, offsets, heads in new.neighbours():
        ahead, names = heads.tolist(), G.objects[heads].tolist()
        for i, v in enumerate(G.names[first:first + len(offsets) - 1]):
            start, stop = int(offsets[i]), int(offsets[i + 1])
            row: list[Any] = [{0: {}} for _ in range(stop - start)] if parallel else [{} for _ in range(stop - start)]
            made._succ[v].update(zip(names[start:stop], row, strict=True))
            for u, edge in zip(ahead[start:stop], row, strict=True):
                columns[u][v] = edge
    nx._clear_cache(made)


def transitive_reduction(G: BackendGraph) -> Any:
    if not _is_acyclic(G):
        raise nx.NetworkXError("Directed Acyclic Graph required for transitive_reduction")
    made = nx.DiGraph()
    made.add_nodes_from(G.names)
    if G.structure.nnz:
        kept = reduction(Graph(*_ends(G.structure), len(G)))
        made.add_edges_from(zip(G.objects[kept.sources].tolist(), G.objects[kept.targets].tolist(), strict=True))
    return made


def dag_longest_path(
    G: BackendGraph, weight: Any = "weight", default_weight: Any = 1, topo_order: Any = None
) -> list[Any]:
    if not len(G):
        return []
    if callable(weight):
        raise NotImplementedError("the weight is to be the name of an attribute")
    _refuse_cycles(G)
    matrix = G.lengths(weight, default_weight, longest=True).matrix
    lengths = _longest(matrix)
    last = np.flatnonzero(lengths == lengths.max())
    if len(last) > 1:  # the first of NetworkX's order
        ends = set(last.tolist())
        v = next(G.index[u] for u in nx.topological_sort.orig_func(G.graph) if G.index[u] in ends)
    else:
        v = int(last[0])
    path = [v]
    columns = matrix.tocsc()
    while (before := _best_before(G, columns, lengths, v)) is not None:
        path.append(before)
        v = before
    return [G.names[u] for u in reversed(path)]


def _longest(matrix: Any) -> np.ndarray:
    """Lengths of longest paths to each vertex, at least 0: from a new vertex with an edge of length 0 to each."""
    n = matrix.shape[0]
    return np.asarray(closure_rows(with_a_root(read(matrix, max_plus), np.arange(n)), max_plus, n))[:n]


def _best_before(G: BackendGraph, columns: Any, lengths: np.ndarray, v: int) -> int | None:
    """The vertex before v on a longest path, the first in the graph's order of predecessors; None if v is the first."""
    part = slice(columns.indptr[v], columns.indptr[v + 1])
    tails = columns.indices[part]
    best = set(tails[lengths[tails] + columns.data[part] == lengths[v]].tolist())
    return next((G.index[u] for u in G.graph._pred[G.names[v]] if G.index[u] in best), None)


def dag_longest_path_length(G: BackendGraph, weight: Any = "weight", default_weight: Any = 1) -> Any:
    path, total = dag_longest_path(G, weight, default_weight), 0
    for u, v in pairwise(path):
        data = G.graph._adj[u][v]
        if G.is_multigraph():
            total += max(edge.get(weight, default_weight) for edge in data.values())
        else:
            total += data.get(weight, default_weight)
    return total
