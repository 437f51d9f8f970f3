"""The compiled searches against labels that plain Python corrects, and the trees that they leave."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.compile import rounds
from semiring.kernels.cpu.compile.program import program
from semiring.kernels.cpu.sparse.search import CpuSearchKernel
from semiring.kernels.lowering.general import general

LOW = general(sr.min_plus, np.dtype("f8"))
inf = float("inf")
quick = settings(max_examples=60)


def kernel(threads: int = 1) -> CpuSearchKernel:
    return CpuSearchKernel(program(LOW), threads)


def compressed(n: int, edges: dict[tuple[int, int], float]) -> Rows:
    found = sorted((u, v, w) for (u, v), w in edges.items())
    offsets = np.searchsorted([u for u, _, _ in found], np.arange(n + 1)).astype(np.int64)
    columns, values = np.array([v for _, v, _ in found], np.int32), np.array([w for _, _, w in found], float)
    return Rows(offsets, columns, values, n)


def best(n: int, edges: dict[tuple[int, int], float], source: int) -> tuple[list[float], bool]:
    """Bellman and Ford: lengths from a source, and whether some cycle there improves."""
    length = [inf] * n
    length[source] = 0
    for _ in range(n):
        before = list(length)
        for (u, v), w in edges.items():
            length[v] = min(length[v], before[u] + w)
    return length, any(length[u] + w < length[v] for (u, v), w in edges.items())


def reached_by(n: int, edges: dict[tuple[int, int], float], source: int) -> set[int]:
    found, todo = {source}, [source]
    while todo:
        u = todo.pop()
        more = {v for (a, v), w in edges.items() if a == u and w < inf} - found
        found |= more
        todo += more
    return found


@st.composite
def graphs(draw: st.DrawFn, weights: list[float]) -> tuple[int, dict[tuple[int, int], float]]:
    n = draw(st.integers(1, 8))
    ends = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    return n, draw(st.dictionaries(ends, st.sampled_from(weights), max_size=20))


def check_tree(n: int, edges: dict[tuple[int, int], float], source: int, x: np.ndarray, before: np.ndarray) -> None:
    """Every vertex that is reached is led to from the source, by edges as long as the label says."""
    for v in range(n):
        if v == source or x[v] == inf:
            assert before[v] == -1
            continue
        walk, u = 0.0, v
        for _ in range(n):
            walk += edges[int(before[u]), u]
            u = int(before[u])
            if u == source:
                break
        assert u == source and walk == x[v]


@quick
@given(graphs([0, 0, 1, 1.5, 2, 7, inf]), st.lists(st.integers(0, 7), max_size=5), st.sampled_from([1, 2, 3]))
def test_settling_and_correcting_where_no_edge_improves(
    graph: tuple[int, dict[tuple[int, int], float]], some: list[int], threads: int
) -> None:
    """The same sources may be asked for more than once."""
    n, edges = graph
    sources, A = np.array([s % n for s in some], np.int64), compressed(*graph)
    expected = [best(n, edges, s)[0] for s in sources.tolist()]
    X = kernel(threads).settle(A, sources)
    assert X.shape == (len(sources), n) and X.tolist() == expected
    Y, P, failed = kernel(threads).correct(A, sources, True)
    assert Y.tolist() == expected and P.dtype == np.int32 and failed.tolist() == [-1] * len(sources)
    for s, y, before in zip(sources.tolist(), Y, P, strict=True):
        check_tree(n, edges, s, y, before)


@quick
@given(graphs([0, 1, 2, 2, 3, -1, -2, inf]), st.sampled_from([1, 3]), st.booleans())
def test_correcting_where_edges_improve(
    graph: tuple[int, dict[tuple[int, int], float]], threads: int, predecessors: bool
) -> None:
    n, edges = graph
    X, P, failed = kernel(threads).correct(compressed(*graph), np.arange(n), predecessors)
    assert (P is not None) == predecessors
    for s in range(n):
        length, improves = best(n, edges, s)
        assert (failed[s] >= 0) == improves
        if improves:  # the vertex lies on a cycle that improves
            v = int(failed[s])
            assert v in reached_by(n, edges, s)
            again, _ = best(n, edges, v)
            assert again[v] < 0
        else:
            assert X[s].tolist() == length
            if P is not None:
                check_tree(n, edges, s, X[s], P[s])


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_sources_are_shared_out(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "LEAST_STEPS", 100)
    monkeypatch.setattr(rounds, "ROUND", 1e-6)  # seconds: a thread takes one source after the other
    random, n = np.random.default_rng(3), 60
    dense = np.where(random.random((n, n)) < 0.1, random.integers(0, 20, (n, n)).astype(float), inf)
    edges = {(int(u), int(v)): float(dense[u, v]) for u, v in np.argwhere(dense < inf)}
    closed = np.minimum(dense, np.where(np.eye(n), 0, inf))
    for k in range(n):
        closed = np.minimum(closed, closed[:, k, None] + closed[k])
    A, sources = compressed(n, edges), random.permutation(n)
    for X in (kernel(threads).settle(A, sources), kernel(threads).correct(A, sources, True)[0]):
        assert np.array_equal(X, closed[sources])


def test_a_path_of_many_vertices() -> None:
    """As long as labels can travel; and a cycle at its end that improves."""
    n = 3000
    edges = {(v, v + 1): -1.0 for v in range(n - 1)}
    X, P, failed = kernel().correct(compressed(n, edges), np.array([0, n - 1]), True)
    assert X[0].tolist() == [-v for v in range(n)] and P[0].tolist() == list(range(-1, n - 1))
    assert X[1].tolist() == [inf] * (n - 1) + [0] and failed.tolist() == [-1, -1]
    edges[n - 1, n - 3] = 1.5
    _, _, failed = kernel().correct(compressed(n, edges), np.array([0]), False)
    assert n - 3 <= failed[0] < n


def test_without_edges_or_sources() -> None:
    for A in (compressed(3, {}), compressed(1, {})):
        n = A.width
        assert np.array_equal(kernel().settle(A, np.arange(n)), np.where(np.eye(n), 0, inf))
        assert kernel(2).settle(A, np.empty(0, np.int64)).shape == (0, n)


def test_what_reads_alike_is_one_kernel() -> None:
    twin = sr.Semiring("twin", add=np.minimum, mul=np.add, zero=inf, one=0, star=lambda a: np.where(a < 0, -inf, 0))
    assert CpuSearchKernel.of(general(twin, np.dtype("f8"))) is CpuSearchKernel.of(LOW)
    assert CpuSearchKernel.of(LOW) is not CpuSearchKernel.of(general(sr.max_plus, np.dtype("f8")))
    (function,) = CpuSearchKernel.code(LOW)
    assert kernel().module.__name__.endswith(function.on_disk.removesuffix(".settle")) and function.name == "settle"
