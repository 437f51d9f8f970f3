"""Rows of tables: distances from some vertices, best paths and reachability, compared with other libraries."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from graphs import grid, minnesota, rmat
from report import Row, median, once


def from_sources(name: str, A: Any, need: str) -> list[Row]:
    """Measure distances from one vertex and from 16, with and without weights; peers have read their graphs before.

    A matrix that was prepared is one that we have read before, as they have.
    """
    import networkit
    import numpy as np
    import pandas
    from edsger.path import Dijkstra
    from scipy.sparse.csgraph import breadth_first_order, dijkstra

    import semiring as sr

    n, edges = A.shape[0], A.tocoo()
    sources = np.random.default_rng(0).choice(np.flatnonzero(np.diff(A.indptr)), 16, replace=False)
    found = []
    for what, data in (("weighted", A.data), ("unweighted", np.ones_like(A.data))):
        B = A.copy()
        B.data = data
        graph = networkit.GraphFromCoo((data, (edges.row, edges.col)), n=n, weighted=what == "weighted", directed=True)
        table = pandas.DataFrame({"tail": edges.row, "head": edges.col, "weight": data})
        other = Dijkstra(table, orientation="out", check_edges=False)
        one = int(sources[0])
        search = networkit.distance.Dijkstra if what == "weighted" else networkit.distance.BFS
        row = sr.closure_rows(B, sr.min_plus, one)
        assert np.array_equal(row, dijkstra(B, indices=one))
        ours = median(lambda B=B, one=one: sr.closure_rows(B, sr.min_plus, one))
        peers = {
            "SciPy dijkstra": median(lambda B=B, one=one: dijkstra(B, indices=one), 3),
            "networkit": median(lambda s=search, g=graph, v=one: s(g, v, storePaths=False).run(), 3),
            "edsger": median(lambda o=other, v=one: o.run(vertex_idx=v), 3),
        }
        if what == "unweighted":
            peers["SciPy breadth_first_order, no distances"] = median(
                lambda B=B, v=one: breadth_first_order(B, v, return_predecessors=False), 3
            )
        found += [Row(f"{name}, one source, {what}, float64", ours, peer, t, need) for peer, t in peers.items()]
        prepared = sr.prepare(B, sr.min_plus)
        assert np.array_equal(sr.closure_rows(prepared, sr.min_plus, one), row)
        ours = median(lambda P=prepared, v=one: sr.closure_rows(P, sr.min_plus, v))
        found += [Row("the same, prepared", ours, peer, t, need) for peer, t in peers.items()]
        ours = median(lambda B=B: sr.closure_rows(B, sr.min_plus, sources), 3)
        peers = {
            "SciPy dijkstra": once(lambda B=B: dijkstra(B, indices=sources)),
            "networkit SPSP": once(lambda g=graph: networkit.distance.SPSP(g, sources.tolist()).run()),
            "edsger": once(lambda o=other: [o.run(vertex_idx=int(v)) for v in sources]),
        }
        found += [Row(f"{name}, 16 sources, {what}, float64", ours, peer, t, need) for peer, t in peers.items()]
    return found


def best_paths(side: int) -> list[Row]:
    """Measure next hops of the roads of Minnesota, and one pair of a grid."""
    import numpy as np
    from scipy.sparse.csgraph import dijkstra, shortest_path

    import semiring as sr

    A, found = minnesota(), []
    theirs: list[Any] = []
    peer = once(lambda: theirs.append(shortest_path(A, return_predecessors=True)))
    for dtype in ("f4", "f8"):
        B = A.astype(dtype)
        R = sr.paths(B, sr.min_plus)
        assert np.allclose(R.weights, theirs[0][0], rtol=1e-4)
        ours = median(lambda B=B: sr.paths(B, sr.min_plus))
        what = f"Minnesota roads, all pairs with next hops, {B.dtype}"
        found += [Row(what, ours, "SciPy shortest_path with predecessors", peer, "10×"),
                  Row(what, ours, "our closure alone", median(lambda B=B: sr.closure(B, sr.min_plus)), "0.67×")]
    G = grid(side)
    n = G.shape[0]
    weight, vertices = sr.path(G, sr.min_plus, 0, n - 1)
    assert vertices is not None and np.isclose(weight, dijkstra(G, indices=0)[-1])
    found.append(Row(f"one path across a grid of {n:,}", median(lambda: sr.path(G, sr.min_plus, 0, n - 1)),
                     "SciPy dijkstra with predecessors",
                     median(lambda: dijkstra(G, indices=0, return_predecessors=True)), "15 ms"))
    return found


def traversals(n: int) -> list[Row]:
    """Measure closures by a spanning tree and in topological order."""
    import numpy as np
    from scipy.cluster.hierarchy import cophenet, linkage
    from scipy.sparse import csr_array
    from scipy.spatial.distance import pdist, squareform

    import semiring as sr

    rng = np.random.default_rng(n)
    lengths = pdist(rng.random((n, 2)))
    points = squareform(lengths)
    theirs = squareform(cophenet(linkage(lengths, "single")))
    assert np.array_equal(np.maximum(sr.closure(points, sr.min_max), 0), theirs)
    tasks = np.repeat(np.arange(n), 3)
    later = tasks + rng.integers(1, 200, len(tasks))
    kept = later < n
    durations = rng.integers(1, 9, int(kept.sum())).astype(float)
    A = csr_array((durations, (tasks[kept], later[kept])), (n, n))

    def by_rows() -> np.ndarray:
        X = np.full((n, n), -np.inf)
        for v in range(n - 1, -1, -1):  # the order is known
            X[v, v] = 0
            for p in range(A.indptr[v], A.indptr[v + 1]):
                np.maximum(X[v], A.data[p] + X[A.indices[p]], out=X[v])
        return X

    assert np.array_equal(sr.closure(A, sr.max_plus), by_rows())
    return [
        Row(f"minimax distances of {n:,} points, float64", median(lambda: sr.closure(points, sr.min_max)),
            "SciPy linkage, cophenet and squareform",
            once(lambda: squareform(cophenet(linkage(lengths, "single"))), 3), "1.5×"),
        Row(f"longest walks between all pairs of {n:,} tasks, float64", median(lambda: sr.closure(A, sr.max_plus)),
            "NumPy, row by row", once(by_rows, 3), "2×"),
    ]


def digraph(n: int, degree: int, acyclic: bool) -> Any:
    """Return random edges, without cycles on request."""
    import numpy as np
    from scipy.sparse import csr_array

    rng = np.random.default_rng(n)
    ends = rng.integers(0, n, (2, n * degree))
    if acyclic:
        ends = np.sort(ends[:, ends[0] != ends[1]], axis=0)
    order = rng.permutation(n)
    return csr_array((np.ones(ends.shape[1], bool), (order[ends[0]], order[ends[1]])), (n, n))


def reachability(n: int) -> list[Row]:
    """Measure transitive closures as bool arrays."""
    import igraph
    import numpy as np

    import semiring as sr

    found = []
    for what, acyclic, need in (("", False, "60 ms"), ("acyclic, ", True, "250 ms")):
        A = digraph(n, 8, acyclic)
        R = sr.closure(A, sr.boolean)
        graph = igraph.Graph(n, list(zip(*A.nonzero(), strict=True)), directed=True)
        some = np.random.default_rng(0).choice(n, 200, replace=False).tolist()
        reached: list[Any] = []
        theirs = once(lambda g=graph, r=reached, v=some: r.extend(g.subcomponent(x, mode="out") for x in v))
        assert all(set(np.flatnonzero(R[v])) == set(r) for v, r in zip(some, reached, strict=True))
        del R
        found.append(Row(f"transitive closure, {what}{n:,}, average degree 8, as bool",
                         median(lambda A=A: sr.closure(A, sr.boolean)),
                         "igraph subcomponent, from 200 extrapolated", theirs * n / len(some), need))
    return found


def reachable_pairs(scale: int) -> list[Row]:
    """Count connected pairs, compared with SciPy's components and Python integers as bit sets."""
    import numpy as np
    from scipy.sparse.csgraph import connected_components

    import semiring as sr

    A = rmat(scale, 16).astype(bool)
    n = A.shape[0]

    def by_integers() -> int:
        count, label = connected_components(A, connection="strong")
        sizes, rows = np.bincount(label, minlength=count), np.repeat(np.arange(n), np.diff(A.indptr))
        edges = np.unique(label[rows] * count + label[A.indices])
        sources, targets = np.divmod(edges, count)
        starts = np.searchsorted(sources, np.arange(count + 1)).tolist()
        following, reached, pairs = targets.tolist(), [0] * count, 0
        single = sizes == 1  # a bit for each of them, by its label; the few others are looked at one by one
        large = np.flatnonzero(~single).tolist()
        mask = sum(1 << c for c in large)
        weight = sizes.tolist()
        for c in range(count):  # a component's label is larger than those of whom it reaches
            bits = 1 << c
            for d in following[starts[c] : starts[c + 1]]:
                if not bits >> d & 1:
                    bits |= reached[d]
            reached[c] = bits
            whole = bits & ~mask
            pairs += weight[c] * (whole.bit_count() + sum(weight[d] for d in large if bits >> d & 1))
        return pairs

    def ours() -> int:
        return int(sr.reach(A).descendant_counts().sum()) + n

    assert ours() == by_integers()
    return [Row(f"reachable pairs, R-MAT, {n:,}, degree 16", median(ours), "SciPy's components, Python's integers",
                median(by_integers), "1×")]
