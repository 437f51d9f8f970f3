"""Graphs for the benchmarks: sparse symmetric matrices, except for R-MAT."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def undirected(n: int, ends: Any, weights: Any) -> Any:
    """Return a symmetric sparse matrix."""
    import numpy as np
    from scipy.sparse import csr_array

    rows, columns = np.concatenate([ends, ends[:, ::-1]]).T
    return csr_array((np.concatenate([weights, weights]), (rows, columns)), (n, n))


def minnesota() -> Any:
    """Return the roads of Minnesota, which the library contains."""
    import numpy as np

    import semiring

    path = Path(semiring.__file__).parent / "data" / "minnesota_roads.csv"
    roads = np.loadtxt(path, delimiter=",", skiprows=1)
    return undirected(int(roads[:, :2].max()) + 1, roads[:, :2].astype(int), roads[:, 2])


def matrix_of(graph: Any) -> Any:
    """Return the sparse matrix of a graph's weights."""
    import numpy as np
    from scipy.sparse import csr_array

    if not graph.directed:
        return undirected(graph.n, np.stack([graph.sources, graph.targets], axis=1), graph.weights)
    return csr_array((graph.weights, (graph.sources, graph.targets)), (graph.n, graph.n))


def grid(side: int) -> Any:
    """Return a square grid with random weights."""
    import semiring as sr

    return matrix_of(sr.random_graph(side * side, "grid", weights=(0.01, 1.01), seed=side))


def geometric(n: int, degree: float) -> Any:
    """Return points in the unit square with edges between near ones, weighted by distance."""
    import semiring as sr

    return matrix_of(sr.random_graph(n, "geometric", degree=degree, seed=n))


def planar(n: int) -> Any:
    """Return a planar graph like a road network: a tree and short edges of a triangulation, out-degree 2.57."""
    import semiring as sr

    return matrix_of(sr.random_graph(n, "planar"))


def erdos_renyi(n: int, degree: float) -> Any:
    """Return edges between random vertices, with random weights."""
    import numpy as np

    rng = np.random.default_rng(n)
    ends = np.unique(np.sort(rng.integers(0, n, (int(n * degree / 2), 2)), axis=1), axis=0)
    ends = ends[ends[:, 0] != ends[:, 1]]
    return undirected(n, ends, rng.random(len(ends)) + 0.01)


def barabasi_albert(n: int, m: int) -> Any:
    """Return a graph in which each vertex joins m earlier ones, chosen by their degree; random weights."""
    import numpy as np

    rng = np.random.default_rng(n + m)
    ends: list[tuple[int, int]] = [(v, u) for v in range(1, m + 1) for u in range(v)]
    often = [v for edge in ends for v in edge]  # each vertex once for each neighbour
    for v in range(m + 1, n):
        chosen: set[int] = set()
        while len(chosen) < m:
            chosen.add(often[int(rng.integers(len(often)))])
        for u in chosen:
            ends.append((v, u))
            often += (v, u)
    return undirected(n, np.array(ends), rng.random(len(ends)) + 0.01)


def rmat(scale: int, degree: int) -> Any:
    """Return a directed R-MAT graph of 2^scale vertices with random weights."""
    import semiring as sr

    return matrix_of(sr.random_graph(1 << scale, "rmat", degree=degree, weights=(0.01, 1.01), seed=scale))
