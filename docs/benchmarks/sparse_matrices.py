"""Compare sparse elimination with other libraries in one run; the table is in docs/site/benchmarks.md.

    python docs/benchmarks/sparse_matrices.py [--threads 2] [--quick] [--write]

The times hold everything: reading the matrix, the order, the analysis, the factors, and the dense answer of all pairs.
Every row is a ratio within this run, on the same cores. Answers are compared with SciPy's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from graphs import barabasi_albert, erdos_renyi, geometric, grid, minnesota, rmat
from report import Row, main, median, once
from searches import best_paths, from_sources, reachability, reachable_pairs, traversals
from sparse_products import few_columns, sparse_times_dense, sparse_times_sparse, triangles


def searched(name: str, A: Any) -> list[Row]:
    """Compare all pairs of a graph that fills with Dijkstra's algorithm elsewhere, extrapolated from some sources."""
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
    assert np.allclose(D[some], answer[0], rtol=1e-12)  # to the bit by searches; other methods round elsewhere
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
    planned = sr.plan("closure", A, sr.min_plus)
    print(f"{name}: {planned.method}, predicted {min(planned.seconds.values()) / ours:.2f} of the time measured",
          file=sys.stderr)
    return [Row(f"{name}, all pairs, float64", ours, f"{peer}, extrapolated", t, "1.5×") for peer, t in peers.items()]


def all_pairs(name: str, A: Any, need: tuple[str, str]) -> list[Row]:
    """Compare the closure in both precisions with Dijkstra's algorithm from every vertex."""
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
        planned = sr.plan("closure", B, sr.min_plus)
        off = min(planned.seconds.values()) / ours
        print(f"{name}, {B.dtype}: predicted {off:.2f} of the time measured", file=sys.stderr)
        rows.append(Row(f"{name}, all pairs, {B.dtype}", ours, "SciPy dijkstra", theirs, least))
    return rows


def other_libraries(name: str, A: Any) -> list[Row]:
    """Compare with igraph's Dijkstra, and with Bellman–Ford as a GraphBLAS user would write it."""
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
    """Measure 64 rows of a closure from existing factors."""
    import numpy as np
    from scipy.sparse.csgraph import dijkstra

    import semiring as sr

    A = grid(side)
    sources = np.random.default_rng(0).choice(A.shape[0], 64, replace=False)
    F = sr.factor(A, sr.min_plus)
    assert np.allclose(F.rows(sources), dijkstra(A, indices=sources))
    return [Row(f"grid of {side**2:,}, 64 sources from its factors, float64", median(lambda: F.rows(sources), 51),
                "SciPy dijkstra", median(lambda: dijkstra(A, indices=sources), 3), need)]


def streamed(side: int, need: str) -> list[Row]:
    """Measure the mean distance of all pairs without storing them."""
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


def equations(side: int) -> list[Row]:
    """Measure equations: a random walk on a grid that ends with probability ½ at every step."""
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


def page_rank(n: int) -> list[Row]:
    """Measure equations that would fill in: PageRank of pages of which few are popular, and a tenth links to none."""
    import numpy as np
    from scipy.sparse import csr_array, diags_array

    import semiring as sr

    random, popular = np.random.default_rng(0), 1 / np.arange(1, n + 1) ** 0.8
    tails = random.choice(np.flatnonzero(random.random(n) > 0.1), 8 * n)
    links = csr_array((np.ones(8 * n), (tails, random.choice(n, 8 * n, p=popular / popular.sum()))), (n, n))
    A = csr_array(diags_array(0.85 / np.maximum(links.sum(axis=1), 1)) @ links)
    b, backward, ends = np.full(n, 0.15 / n), csr_array(A.T), np.diff(links.indptr) == 0

    def by_powers() -> Any:
        x = np.full(n, 1 / n)
        for _ in range(100):
            x = backward @ x + 0.85 / n * x[ends].sum() + b
        return x

    def by_solve() -> Any:
        x = sr.solve(A, b, sr.plus_times, left=True)
        return x / x.sum()

    assert np.allclose(by_solve(), by_powers(), rtol=1e-6)
    return [Row(f"PageRank of {n:,}, to 16 machine epsilons", median(by_solve, 5), "100 power iterations with SciPy",
                median(by_powers, 5), "0.5×")]


def rows(quick: bool) -> list[Row]:
    """Return all rows of the table."""
    small = 8 if quick else 1
    less = small.bit_length() - 1  # in exponents of 2
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
    for name, make, _ in graphs[1 if quick else 0 : 2]:
        found += other_libraries(name, make())
    for name, make in (
        (f"Erdős–Rényi, {5_000 // small:,}, average degree 16", lambda: erdos_renyi(5_000 // small, 16)),
        (f"Erdős–Rényi, {10_000 // small:,}, average degree 8", lambda: erdos_renyi(10_000 // small, 8)),
        (f"Barabási–Albert, {10_000 // small:,}, m = 4", lambda: barabasi_albert(10_000 // small, 4)),
        (f"Barabási–Albert, {10_000 // small:,}, m = 10", lambda: barabasi_albert(10_000 // small, 10)),
        (f"R-MAT, {2**14 // small:,}, degree 16", lambda: rmat(14 - less, 16)),
    ):
        found += searched(name, make())
    found += best_paths(100 // small) + traversals(5000 // small)
    found += from_sources(f"grid of {(1000 // small) ** 2:,}", grid(1000 // small), "1×")
    directed = rmat(18 - 2 * less, 16)
    found += from_sources(f"R-MAT, {2 ** (18 - 2 * less):,}, degree 16", directed, "1×")
    both = directed.maximum(directed.T).tocsr()
    found += from_sources(f"R-MAT, {2 ** (18 - 2 * less):,}, undirected", both, "1×")
    found += few_sources(150 // small, "30×") + streamed(316 // small, "25 s")
    found += reachability(20_000 // small) + reachable_pairs(14 - less)
    found += sparse_times_dense(100_000 // small) + few_columns(1_000_000 // small**2)
    found += sparse_times_sparse(100_000 // small) + triangles(131_072 // small**2) + equations(300 // small)
    return found + page_rank(12_000 // small) + page_rank(50_000 // small)


if __name__ == "__main__":
    main(__doc__, "sparse-benchmark", rows, ["edsger", "graphblas", "igraph", "networkit", "pandas", "rustworkx"])
