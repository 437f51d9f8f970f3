"""Closures against what SciPy, NetworkX and NumPy answer to the same questions, on graphs of a few hundred vertices."""

from __future__ import annotations

from importlib.resources import files
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import scipy.special
from methods import METHODS
from scipy.sparse import csgraph

import semiring as sr

inf = np.inf
SIZES = (1, 2, 17, 64, 65, 130, 300)


def digraph(n: int, degree: float, seed: int, low: float = 0.0, high: float = 10.0) -> sp.coo_array:
    """A random directed graph with positive float lengths."""
    random = np.random.default_rng(seed)
    present = random.random((n, n)) < degree / max(n, 1)
    rows, columns = np.nonzero(present)
    return sp.coo_array((random.uniform(low, high, len(rows)), (rows, columns)), shape=(n, n))


@pytest.mark.parametrize("n", SIZES)
def test_shortest_paths(n: int) -> None:
    graph = digraph(n, 4, n, low=0.01)
    A = np.asarray(sr.adjacency(graph, sr.min_plus))
    expected = csgraph.floyd_warshall(graph.tocsr())
    for method in METHODS if n in (65, 130) else ("auto",):
        assert np.allclose(sr.closure(A, sr.min_plus, method=method), expected, rtol=1e-12), method
    assert np.allclose(sr.closure(A.astype("f4"), sr.min_plus), expected, rtol=1e-5)
    assert np.allclose(-sr.closure(-A, sr.max_plus), expected, rtol=1e-12)


@pytest.mark.parametrize("n", (17, 65, 130, 200))
def test_negative_lengths(n: int) -> None:
    """Integer lengths of both signs without negative cycles, by Johnson's algorithm and in every dtype."""
    random = np.random.default_rng(n)
    present = random.random((n, n)) < 5 / n
    height = random.integers(-40, 40, n)
    rows, columns = np.nonzero(present)
    lengths = random.integers(1, 20, len(rows)) + height[rows] - height[columns]
    keep = lengths != 0  # csgraph takes a 0 for no edge
    lengths = lengths[keep]
    rows, columns = (ends[keep].astype(np.int32) for ends in (rows, columns))  # the only ones before SciPy 1.15
    graph = sp.csr_array((lengths.astype(float), (rows, columns)), shape=(n, n))
    expected = csgraph.johnson(graph)
    for dtype in ("f8", "f4", "i4", "i2"):
        A = np.asarray(sr.adjacency((rows, columns, lengths), sr.min_plus, n=n, dtype=dtype))
        for method in METHODS if n == 65 and dtype in ("f8", "i4") else ("auto",):
            got = sr.closure(A, sr.min_plus, method=method).astype(float)
            got[got == (np.iinfo(dtype).max if dtype[0] == "i" else inf)] = inf
            assert np.array_equal(got, expected), (dtype, method)
    for target in range(0, n, 7):
        weight, path = sr.path(A, sr.min_plus, 0, target)
        assert (path is None) == np.isinf(expected[0, target])
        if path is not None:
            assert weight == expected[0, target] and (path[0], path[-1]) == (0, target)
            assert sum(int(A[i, j]) for i, j in pairwise(path)) == weight


@pytest.mark.parametrize("n", SIZES)
def test_reachability(n: int) -> None:
    graph = digraph(n, 1.3, n)
    A = np.asarray(sr.adjacency(graph, sr.boolean))
    network = nx.from_scipy_sparse_array(graph, create_using=nx.DiGraph)
    for reflexive in (True, False):
        closed = nx.transitive_closure(network, reflexive=reflexive)
        expected = nx.to_numpy_array(closed, nodelist=range(n), weight=None).astype(bool)
        assert np.array_equal(sr.closure(A, sr.boolean, reflexive=reflexive), expected), reflexive
    for method in METHODS if n in (65, 300) else ():
        assert np.array_equal(sr.closure(A, sr.boolean, method=method), sr.closure(A, sr.boolean)), method


def test_strong_components() -> None:
    graph = digraph(300, 1.5, 5)
    closed = sr.closure(np.asarray(sr.adjacency(graph, sr.boolean)), sr.boolean)
    together = closed & closed.T
    count, labels = csgraph.connected_components(graph, connection="strong")
    assert np.array_equal(together, labels[:, None] == labels)
    assert len(np.unique(together, axis=0)) == count


@pytest.mark.parametrize("n", (2, 17, 65, 300))
def test_bottlenecks_are_those_of_spanning_trees(n: int) -> None:
    """The minimax path between two vertices runs in the minimum spanning tree; the widest in the maximum one."""
    random = np.random.default_rng(n)
    weights = np.triu(random.permutation(n * n).reshape(n, n) + 1.0, 1)
    weights[random.random((n, n)) < 0.5] = 0
    graph = sp.csr_array(weights)
    for S, sign in ((sr.min_max, 1), (sr.max_min, -1)):
        tree = csgraph.minimum_spanning_tree(
            graph if sign > 0 else sp.csr_array(np.where(weights, n * n + 1 - weights, 0))
        )
        tree = nx.from_scipy_sparse_array(tree)
        got = sr.closure(np.asarray(sr.adjacency(graph, S, directed=False)), S)
        for source in {0, n // 2, n - 1}:
            worst = {source: -inf}
            for u, v in nx.bfs_edges(tree, source):
                worst[v] = max(worst[u], tree[u][v]["weight"])
            expected = np.full(n, inf)
            expected[list(worst)] = list(worst.values())
            if sign < 0:
                expected = n * n + 1 - expected
            assert np.array_equal(got[source], expected)


@pytest.mark.parametrize("n", (5, 40, 90))
def test_numbers_of_shortest_paths(n: int) -> None:
    random = np.random.default_rng(n)
    network = nx.gnm_random_graph(n, 3 * n if n > 5 else 6, seed=n, directed=True)
    for u, v in network.edges:
        network[u][v]["weight"] = int(random.integers(1, 4))
    S = sr.shortest_count
    A = np.full((n, n), S.zero_in(S.default_dtype))
    for u, v, w in network.edges(data="weight"):
        A[u, v] = (w, 1)
    closed = sr.closure(A, S)
    for source in range(0, n, 7):
        # Paths counted along the edges that lie on shortest ones, in order of distance, as in Brandes' betweenness.
        distance = nx.single_source_dijkstra_path_length(network, source)
        count = dict.fromkeys(distance, 0) | {source: 1}
        for v in sorted(distance, key=distance.get):
            for u in network.predecessors(v):
                if v != source and u in distance and distance[u] + network[u][v]["weight"] == distance[v]:
                    count[v] += count[u]
        for v in range(n):
            expected = (distance[v], count[v]) if v in distance else (inf, 0)
            assert closed[source, v].item() == expected, (source, v)
    middle = 3
    pairs = [
        (s, t) for s in range(n) for t in range(n)
        if len({s, t, middle}) == 3 and np.isfinite(closed["dist"][s, t])
    ]
    through = sum(
        closed["count"][s, middle] * closed["count"][middle, t] / closed["count"][s, t]
        for s, t in pairs
        if closed["dist"][s, middle] + closed["dist"][middle, t] == closed["dist"][s, t]
    )
    assert through == pytest.approx(nx.betweenness_centrality(network, weight="weight", normalized=False)[middle])


@pytest.mark.parametrize("dtype", ["f8", "i8", "u8"])
def test_numbers_of_paths_in_a_dag(dtype: str) -> None:
    random = np.random.default_rng(3)
    n = 70
    present = np.triu(random.random((n, n)) < 0.1, 1)
    counts = [[int(i == j) for j in range(n)] for i in range(n)]
    for i in reversed(range(n)):
        for k in np.flatnonzero(present[i]):
            counts[i] = [a + b for a, b in zip(counts[i], counts[k], strict=True)]
    got = sr.closure(present.astype(dtype), sr.counting)
    assert got.tolist() == counts
    chain = np.triu(np.ones((80, 80), dtype), 1)  # 2^(j − i − 1) paths, more than 64 bits hold
    exact = [1, *[2**j for j in range(79)]]
    assert sr.closure(chain.astype(object), sr.counting)[0].tolist() == exact
    if dtype == "f8":
        assert sr.closure(chain, sr.counting)[0].tolist() == exact
        return
    fits = {"i8": 64, "u8": 65}[dtype]  # vertices, the last of them reached by 2⁶² or 2⁶³ paths
    assert sr.closure(chain[:fits, :fits], sr.counting)[0].tolist() == exact[:fits]
    for n in (fits + 1, 80):
        with pytest.raises(sr.SemiringError, match=r"which u?int64 cannot hold; .*\.astype\(object\), which is exact"):
            sr.closure(chain[:n, :n], sr.counting)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_real_closures_are_inverses(n: int, dtype: str) -> None:
    random = np.random.default_rng(n)
    A = (random.normal(size=(n, n)) / (4 * np.sqrt(n))).astype(dtype)
    expected = np.linalg.inv(np.eye(n) - A.astype("f8"))
    for method in ("auto", "floyd-warshall", "blocked", "r-kleene", "elimination") if n in (65, 130) else ("auto",):
        tolerance = 1e-12 if dtype == "f8" else 1e-4
        assert np.allclose(sr.closure(A, sr.plus_times, method=method), expected, rtol=0, atol=tolerance), method
    B = random.normal(size=(n, 3)).astype(dtype)
    assert np.allclose(sr.solve(A, B, sr.plus_times), expected @ B, rtol=0, atol=1e-11 if dtype == "f8" else 1e-3)


@pytest.mark.parametrize("n", (1, 17, 65, 130))
def test_log_products_are_logsumexp(n: int) -> None:
    random = np.random.default_rng(n)
    A, B = random.normal(size=(2, n, n)) * 30
    A[random.random((n, n)) < 0.2] = -inf
    expected = scipy.special.logsumexp(A[:, :, None] + B[None], axis=1)
    assert np.allclose(sr.matmul(A, B, sr.log), expected, rtol=1e-12)
    weak = np.log(random.random((n, n)) / (2 * n))
    assert np.allclose(sr.closure(weak, sr.log), np.log(np.linalg.inv(np.eye(n) - np.exp(weak))), rtol=1e-9)


def test_reliability_is_the_shortest_path_of_logarithms() -> None:
    random = np.random.default_rng(2)
    A = np.where(random.random((150, 150)) < 0.05, random.uniform(0.1, 1, (150, 150)), 0)
    expected = np.exp(-csgraph.dijkstra(sp.csr_array(np.where(A > 0, -np.log(np.where(A > 0, A, 1)), 0))))
    assert np.allclose(sr.closure(A, sr.viterbi), expected, rtol=1e-9)


def test_k_shortest_walks() -> None:
    """In a graph without cycles walks are paths, which NetworkX lists by length."""
    random = np.random.default_rng(4)
    n = 9
    S = sr.k_best(3)
    network = nx.DiGraph()
    network.add_nodes_from(range(n))
    A = np.full((n, n), S.zero_in(S.default_dtype))
    for i in range(n):
        for j in range(i + 1, n):
            if random.random() < 0.6:
                w = float(random.integers(0, 8))
                network.add_edge(i, j, weight=w)
                A[i, j] = (w, inf, inf)
    closed = sr.closure(A, S)
    for i in range(n):
        for j in range(i + 1, n):
            lengths = sorted(nx.path_weight(network, p, "weight") for p in nx.all_simple_paths(network, i, j))
            assert closed[i, j].item() == tuple([*lengths, inf, inf, inf][:3])


def test_the_roads_of_minnesota() -> None:
    """400 junctions around a road of length 0; some roads have length 0, which are roads all the same."""
    graph = sr.read_graph(files("semiring.data") / "minnesota_roads.csv", directed=False)
    whole = sp.csr_array((np.ones(len(graph)), (graph.sources, graph.targets)), shape=(graph.n, graph.n))
    start = graph.sources[graph.weights == 0][0]
    inside = csgraph.breadth_first_order(whole, start, directed=False, return_predecessors=False)[:400]
    A = np.asarray(sr.adjacency(graph, sr.min_plus))[np.ix_(inside, inside)]
    assert (A == 0).any(), "roads of length 0 are there"
    network = nx.Graph()
    network.add_nodes_from(range(400))
    network.add_weighted_edges_from((i, j, A[i, j]) for i, j in zip(*np.nonzero(np.isfinite(A)), strict=True))
    closed = sr.closure(A, sr.min_plus)
    for source in range(0, 400, 20):
        expected = np.full(400, inf)
        for v, d in nx.single_source_dijkstra_path_length(network, source).items():
            expected[v] = d
        assert np.allclose(closed[source], expected, rtol=1e-12)
    assert np.array_equal(np.isfinite(closed), sr.closure(np.isfinite(A), sr.boolean))
    assert np.allclose(closed, closed.T, rtol=1e-12)
