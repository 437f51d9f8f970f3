"""Measure elimination on sparse structure beside its peers, in one run; its table is in docs/site/benchmarks.md.

    python docs/benchmarks/sparse.py [--threads 2] [--quick] [--write]

The times hold everything: reading the matrix, the order, the analysis, the factors, and the dense answer of all pairs.
Every row is a ratio within this run, on the same cores. Answers are compared with SciPy's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from report import Row, main, median, once


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


def searched(name: str, A: Any) -> list[Row]:
    """All pairs of a graph that fills, beside Dijkstra's algorithm by others, from some sources extrapolated."""
    import networkit
    import numpy as np
    import rustworkx
    from scipy.sparse.csgraph import dijkstra

    import semiring as sr

    n = A.shape[0]
    some = np.arange(0, n, n // 64)[:64]
    answer: list[Any] = []
    peers = {"SciPy dijkstra": once(lambda: answer.append(dijkstra(A, indices=some))) * n / len(some)}
    D = sr.closure(A, sr.min_plus)
    assert np.array_equal(D[some], answer[0])
    del D
    ours = median(lambda: sr.closure(A, sr.min_plus), 3)
    edges = A.tocoo()
    graph = networkit.GraphFromCoo((edges.data, (edges.row, edges.col)), n=n, weighted=True, directed=True)
    theirs = networkit.distance.SPSP(graph, some.tolist())
    peers["networkit SPSP"] = once(theirs.run) * n / len(some)
    other = rustworkx.PyDiGraph()
    other.add_nodes_from(range(n))
    other.add_edges_from(list(zip(edges.row.tolist(), edges.col.tolist(), edges.data.tolist(), strict=True)))
    few = some[:: len(some) // 8].tolist()
    peers["rustworkx dijkstra"] = n / len(few) * once(
        lambda: [rustworkx.dijkstra_shortest_path_lengths(other, v, float) for v in few]
    )
    planned = sr.plan(A, sr.min_plus)
    print(f"{name}: {planned.method}, predicted {min(planned.seconds.values()) / ours:.2f} of the time measured",
          file=sys.stderr)
    return [Row(f"{name}, all pairs, float64", ours, f"{peer}, extrapolated", t, "1.5×") for peer, t in peers.items()]


def all_pairs(name: str, A: Any, need: tuple[str, str]) -> list[Row]:
    """The closure in both precisions beside Dijkstra's algorithm from every vertex."""
    import numpy as np
    from scipy.sparse.csgraph import dijkstra

    import semiring as sr

    answer: list[Any] = []
    theirs = once(lambda: answer.append(dijkstra(A)))
    rows = []
    for dtype, least in zip(("f4", "f8"), need, strict=True):
        B = A.astype(dtype)
        assert np.allclose(sr.closure(B, sr.min_plus), answer[0], rtol=1e-4 if dtype == "f4" else 1e-9)
        ours = median(lambda B=B: sr.closure(B, sr.min_plus), 3)
        planned = sr.plan(B, sr.min_plus)
        off = min(planned.seconds.values()) / ours
        print(f"{name}, {B.dtype}: predicted {off:.2f} of the time measured", file=sys.stderr)
        rows.append(Row(f"{name}, all pairs, {B.dtype}", ours, "SciPy dijkstra", theirs, least))
    return rows


def other_libraries(name: str, A: Any) -> list[Row]:
    """igraph's Dijkstra, and Bellman–Ford from all vertices at once as a GraphBLAS user would write it."""
    import graphblas as gb
    import igraph
    import numpy as np

    import semiring as sr

    ours = median(lambda: sr.closure(A, sr.min_plus), 3)
    edges = A.tocoo()
    one_way = edges.row < edges.col
    g = igraph.Graph(A.shape[0], np.c_[edges.row, edges.col][one_way].tolist())
    weights = edges.data[one_way].tolist()
    work = f"{name}, all pairs, float64"
    rows = [Row(work, ours, "igraph distances", once(lambda: g.distances(weights=weights)), "")]
    M = gb.Matrix.from_coo(edges.row, edges.col, edges.data, nrows=A.shape[0], ncols=A.shape[0])

    def bellman_ford() -> Any:
        D = gb.Matrix.from_coo(np.arange(A.shape[0]), np.arange(A.shape[0]), np.zeros(A.shape[0]))
        while True:
            before = D.dup()
            D(gb.binary.min) << gb.semiring.min_plus(D @ M)
            if before.isequal(D):
                return D

    if A.shape[0] < 3000:
        rows.append(Row(work, ours, "python-graphblas, Bellman–Ford", once(bellman_ford), ""))
    return rows


def few_sources(side: int, need: str) -> list[Row]:
    """64 rows of a closure whose factors are there."""
    import numpy as np
    from scipy.sparse.csgraph import dijkstra

    import semiring as sr

    A = grid(side)
    sources = np.random.default_rng(0).choice(A.shape[0], 64, replace=False)
    F = sr.factor(A, sr.min_plus)
    assert np.allclose(F.rows(sources), dijkstra(A, indices=sources))
    return [Row(f"grid of {side**2:,}, 64 sources from its factors, float64", median(lambda: F.rows(sources), 51),
                "SciPy dijkstra", median(lambda: dijkstra(A, indices=sources), 3), need)]


def from_sources(name: str, A: Any, need: str) -> list[Row]:
    """Distances from one vertex and from 16, with weights and without; peers have read their graphs before."""
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
        ours = median(lambda B=B: sr.closure_rows(B, sr.min_plus, sources), 3)
        peers = {
            "SciPy dijkstra": once(lambda B=B: dijkstra(B, indices=sources)),
            "networkit SPSP": once(lambda g=graph: networkit.distance.SPSP(g, sources.tolist()).run()),
            "edsger": once(lambda o=other: [o.run(vertex_idx=int(v)) for v in sources]),
        }
        found += [Row(f"{name}, 16 sources, {what}, float64", ours, peer, t, need) for peer, t in peers.items()]
    return found


def best_paths(side: int) -> list[Row]:
    """All pairs of the roads of Minnesota with next hops, and one pair of a grid."""
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


def streamed(side: int, need: str) -> list[Row]:
    """The mean distance of all pairs, of which there are too many to hold."""
    import numpy as np
    from scipy.sparse.csgraph import dijkstra

    import semiring as sr

    A = grid(side).astype("f4")
    found: list[float] = []
    sr.factor(grid(10).astype("f4"), sr.min_plus).reduce("mean")  # what has to be compiled is
    ours = once(lambda: found.append(sr.factor(A, sr.min_plus).reduce("mean")))
    some = np.random.default_rng(0).choice(A.shape[0], 8, replace=False)
    times: list[Any] = []
    theirs = once(lambda: times.append(dijkstra(A, indices=some))) * A.shape[0] / len(some)
    F = sr.factor(A, sr.min_plus)
    assert np.allclose(F.rows(some), times[0], rtol=1e-4)
    sample = F.rows(np.random.default_rng(1).choice(A.shape[0], 256, replace=False)).mean()
    assert abs(found[0] - sample) < 0.1 * sample
    return [Row(f"grid of {A.shape[0]:,}, mean distance of all pairs, streamed, float32", ours,
                "SciPy dijkstra, from 8 sources extrapolated", theirs, need)]


def digraph(n: int, degree: int, acyclic: bool) -> Any:
    """Random edges; ascending along a random order of the vertices where they are to make no cycle."""
    import numpy as np
    from scipy.sparse import csr_array

    rng = np.random.default_rng(n)
    ends = rng.integers(0, n, (2, n * degree))
    if acyclic:
        ends = np.sort(ends[:, ends[0] != ends[1]], axis=0)
    order = rng.permutation(n)
    return csr_array((np.ones(ends.shape[1], bool), (order[ends[0]], order[ends[1]])), (n, n))


def reachability(n: int) -> list[Row]:
    """Transitive closures, as bool arrays."""
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
    """How many pairs of vertices have a path, beside SciPy's components and a Python integer for each of them."""
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


def sparse_times_dense(n: int) -> list[Row]:
    """Eight entries a row, 64 columns, beside SciPy's ordinary product."""
    import numpy as np
    from scipy.sparse import csr_array

    import semiring as sr

    rng = np.random.default_rng(2)
    columns = rng.integers(0, n, (n, 8))
    found = []
    for dtype in ("f4", "f8"):
        A = csr_array((rng.random(8 * n).astype(dtype), columns.ravel(), np.arange(0, 8 * n + 1, 8)), (n, n))
        A.sum_duplicates()
        B = rng.random((n, 64)).astype(dtype)
        C, i = sr.matmul(A, B, sr.min_plus), int(rng.integers(n))
        part = slice(A.indptr[i], A.indptr[i + 1])
        assert np.allclose(C[i], (A.data[part, None] + B[A.indices[part]]).min(axis=0))
        found.append(Row(f"sparse × dense, {n:,} rows of 8, 64 columns, min-plus, {A.dtype}",
                         median(lambda A=A, B=B: sr.matmul(A, B, sr.min_plus), 9), "SciPy's (+, ×)",
                         median(lambda A=A, B=B: A @ B, 9), "0.5×"))
    return found


def few_columns(n: int) -> list[Row]:
    """Eight entries a row near the diagonal, times a vector and eight columns, read anew and prepared."""
    import numpy as np
    from scipy.sparse import csr_array

    import semiring as sr

    rng = np.random.default_rng(2)
    columns = (np.arange(n)[:, None] + np.sort(rng.integers(-500, 500, (n, 8)), axis=1)) % n
    A = csr_array((rng.random(8 * n), columns.ravel().astype("i4"), np.arange(0, 8 * n + 1, 8, dtype="i4")), (n, n))
    A.sum_duplicates()
    B, prepared = rng.random((n, 8)), sr.prepare(A, sr.min_plus)
    found = []
    for what, right in (("a vector", B[:, 0].copy()), ("8 columns", B)):
        peer, theirs = "SciPy's (+, ×)", median(lambda b=right: A @ b, 9)
        product = graphblas_product(A, right)
        if product is not None:
            peer, theirs = "python-graphblas", median(product, 9)
        for how, given, check in (("", A, True), (", unchecked", A, False), (", prepared", prepared, True)):
            ours = median(lambda M=given, b=right, c=check: sr.matmul(M, b, sr.min_plus, check=c), 9)
            found.append(Row(f"sparse × {what}, {n:,} rows of 8, min-plus{how}", ours, peer, theirs, "1×"))
    return found


def graphblas_product(A: Any, B: Any) -> Callable[[], object] | None:
    """The product over min-plus by python-graphblas, where it is installed."""
    try:
        import graphblas
    except ImportError:
        return None
    left = graphblas.io.from_scipy_sparse(A)
    if getattr(B, "ndim", 0) == 2:
        sparse = not hasattr(B, "flags")
        right = graphblas.io.from_scipy_sparse(B) if sparse else graphblas.Matrix.from_dense(B)
        return lambda: left.mxm(right, graphblas.semiring.min_plus).new().wait()
    vector = graphblas.Vector.from_dense(B)
    return lambda: left.mxv(vector, graphblas.semiring.min_plus).new().wait()


def sparse_times_sparse(n: int) -> list[Row]:
    """A random matrix of eight entries a row times itself; SciPy's columns are sorted too."""
    import numpy as np
    from scipy.sparse import csr_array

    import semiring as sr

    rng = np.random.default_rng(2)
    A = csr_array((rng.random(8 * n), rng.integers(0, n, 8 * n), np.arange(0, 8 * n + 1, 8)), (n, n))
    A.sum_duplicates()
    what = f"sparse × sparse, {n:,} rows of 8"
    found = [Row(f"{what}, plus-times", median(lambda: sr.matmul(A, A, sr.plus_times)), "SciPy, sorted",
                 median(lambda: (A @ A).sort_indices()), "1×")]
    product = graphblas_product(A, A)
    if product is not None:
        found.append(Row(f"{what}, min-plus", median(lambda: sr.matmul(A, A, sr.min_plus)), "python-graphblas",
                         median(product), "2×"))
    return found


def equations(side: int) -> list[Row]:
    """A walk on a grid that ends with probability one half at every step, solved for one right-hand side."""
    import numpy as np
    from scipy.sparse import diags_array, eye_array
    from scipy.sparse.linalg import splu

    import semiring as sr

    G = grid(side)
    A = (diags_array(0.5 / np.asarray(G.sum(axis=1)).ravel()) @ G).tocsr()
    n, one = A.shape[0], eye_array(A.shape[0], format="csc")
    b = np.random.default_rng(0).random(n)
    assert np.allclose(sr.solve(A, b, sr.plus_times), splu((one - A).tocsc()).solve(b))
    return [Row(f"equations over plus-times, grid of {n:,}", median(lambda: sr.solve(A, b, sr.plus_times), 3),
                "SciPy splu", median(lambda: splu((one - A).tocsc()).solve(b), 3), "0.95×")]


def rows(quick: bool) -> list[Row]:
    """All rows of the table."""
    small = 4 if quick else 1
    graphs: list[tuple[str, Callable[[], Any], tuple[str, str]]] = [
        ("Minnesota roads (2,642)", minnesota, ("22×", "18×")),
        (f"grid of {(100 // small) ** 2:,}", lambda: grid(100 // small), ("40×", "25×")),
        (f"random geometric, {10_000 // small:,}, average degree 8", lambda: geometric(10_000 // small, 8),
         ("40×", "28×")),
        (f"Erdős–Rényi, {5_000 // small:,}, average degree 4", lambda: erdos_renyi(5_000 // small, 4), ("11×", "8×")),
        (f"grid of {(150 // small) ** 2:,}", lambda: grid(150 // small), ("28×", "18×")),
    ]
    found = []
    for name, make, need in graphs:
        found += all_pairs(name, make(), need)
    for name, make, _ in graphs[:2]:
        found += other_libraries(name, make())
    for name, make in (
        (f"Erdős–Rényi, {5_000 // small:,}, average degree 16", lambda: erdos_renyi(5_000 // small, 16)),
        (f"Erdős–Rényi, {10_000 // small:,}, average degree 8", lambda: erdos_renyi(10_000 // small, 8)),
        (f"Barabási–Albert, {10_000 // small:,}, m = 4", lambda: barabasi_albert(10_000 // small, 4)),
        (f"Barabási–Albert, {10_000 // small:,}, m = 10", lambda: barabasi_albert(10_000 // small, 10)),
        (f"R-MAT, {2**14 // small:,}, degree 16", lambda: rmat(14 - small // 2, 16)),
    ):
        found += searched(name, make())
    found += best_paths(100 // small)
    found += from_sources(f"grid of {(1000 // small) ** 2:,}", grid(1000 // small), "1×")
    found += from_sources(f"R-MAT, {2 ** (18 - small // 2):,}, degree 16", rmat(18 - small // 2, 16), "1×")
    found += few_sources(150 // small, "30×") + streamed(316 // small, "25 s")
    found += reachability(20_000 // small) + reachable_pairs(14 - small // 2)
    found += sparse_times_dense(100_000 // small) + few_columns(1_000_000 // small)
    return found + sparse_times_sparse(100_000 // small) + equations(300 // small)


if __name__ == "__main__":
    main(__doc__, "sparse-benchmark", rows)
