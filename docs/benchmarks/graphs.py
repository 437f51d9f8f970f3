"""The graphs that programs beside this one measure on: sparse symmetric matrices, but for R-MAT."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def undirected(n: int, ends: Any, weights: Any) -> Any:
    """A symmetric sparse matrix."""
    import numpy as np
    from scipy.sparse import csr_array

    rows, columns = np.concatenate([ends, ends[:, ::-1]]).T
    return csr_array((np.concatenate([weights, weights]), (rows, columns)), (n, n))


def minnesota() -> Any:
    """The roads that come with the library."""
    import numpy as np

    import semiring

    path = Path(semiring.__file__).parent / "data" / "minnesota_roads.csv"
    roads = np.loadtxt(path, delimiter=",", skiprows=1)
    return undirected(int(roads[:, :2].max()) + 1, roads[:, :2].astype(int), roads[:, 2])


def grid(side: int) -> Any:
    """A square grid with random weights."""
    import numpy as np

    number = np.arange(side * side).reshape(side, side)
    across = np.c_[number[:, :-1].ravel(), number[:, 1:].ravel()]
    ends = np.concatenate([across, np.c_[number[:-1].ravel(), number[1:].ravel()]])
    return undirected(side * side, ends, np.random.default_rng(side).random(len(ends)) + 0.01)


def geometric(n: int, degree: float) -> Any:
    """Points in the unit square, joined where they are near, weighted by distance."""
    import numpy as np
    from scipy.spatial import cKDTree

    points = np.random.default_rng(n).random((n, 2))
    ends = cKDTree(points).query_pairs(np.sqrt(degree / (np.pi * n)), output_type="ndarray")
    return undirected(n, ends, np.linalg.norm(points[ends[:, 0]] - points[ends[:, 1]], axis=1))


def planar(n: int) -> Any:
    """A planar graph like a road network, of out-degree 2.57: a tree, and short edges of a triangulation."""
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import minimum_spanning_tree
    from scipy.spatial import Delaunay

    random = np.random.default_rng(0)
    points = random.random((n, 2))
    corners = Delaunay(points).simplices
    ends = np.unique(np.sort(np.concatenate([corners[:, pair] for pair in ([0, 1], [1, 2], [2, 0])]), axis=1), axis=0)
    length = np.linalg.norm(points[ends[:, 0]] - points[ends[:, 1]], axis=1)
    tree = minimum_spanning_tree(csr_array((length, ends.T), (n, n))).tocoo()
    key = np.sort(np.stack([tree.row, tree.col], axis=1).astype(np.int64), axis=1) @ [n, 1]
    kept = np.isin(ends @ [n, 1], key)
    kept |= (length < np.quantile(length, 0.8)) & (random.random(len(ends)) < 0.2)
    return undirected(n, ends[kept], length[kept])


def erdos_renyi(n: int, degree: float) -> Any:
    """Edges between random vertices, with random weights."""
    import numpy as np

    rng = np.random.default_rng(n)
    ends = np.unique(np.sort(rng.integers(0, n, (int(n * degree / 2), 2)), axis=1), axis=0)
    ends = ends[ends[:, 0] != ends[:, 1]]
    return undirected(n, ends, rng.random(len(ends)) + 0.01)


def barabasi_albert(n: int, m: int) -> Any:
    """Each vertex joins m earlier ones, as likely as they have neighbours, with random weights."""
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
    """A directed graph of 2^scale vertices; edges fall into quarters of the matrix again and again, 57 : 19 : 19 : 5.

    D. Chakrabarti, Y. Zhan, C. Faloutsos, R-MAT: a recursive model for graph mining (2004).
    """
    import numpy as np
    from scipy.sparse import csr_array

    rng, n = np.random.default_rng(scale), 1 << scale
    rows, columns = np.zeros((2, degree << scale), np.int64)
    for _ in range(scale):
        quarter = rng.random(len(rows))
        rows = 2 * rows + (quarter >= 0.76)
        columns = 2 * columns + (((quarter >= 0.57) & (quarter < 0.76)) | (quarter >= 0.95))
    keys = np.unique((rows * n + columns)[rows != columns])
    return csr_array((rng.random(len(keys)) + 0.01, (keys // n, keys % n)), (n, n))
