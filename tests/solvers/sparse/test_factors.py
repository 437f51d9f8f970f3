"""Elimination on sparse structure against the oracle, the dense methods and SciPy."""

from __future__ import annotations

import os
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
import strategies
from bridge import ours, stored, to_library
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra, johnson
from sparse_patterns import ORDERS, weighted_grid

import semiring as sr
from semiring.algorithms.sparse.analysis import analyse
from semiring.graphs import texts
from semiring.graphs.graph import Graph
from semiring.kernels.cpu.sparse import fronts
from semiring.operands.read import read
from semiring.solvers import cycles
from semiring.solvers.sparse import substitution
from semiring.solvers.sparse.factors import SparseFactors
from semiring.solvers.sparse.substitution import Substitution

inf = np.inf
quick = settings(max_examples=25, suppress_health_check=list(HealthCheck))
# One dtype for most algebras, several where they are stored in different ways.
MORE = {"min_plus": 4, "max_plus": 2}
SOLVED = {"min_plus", "max_plus", "plus_times", "log", "shortest_count", "counting", "pareto", "regex"}
SOME = [
    (name, dtype)
    for name, S in oracle.ALGEBRAS.items()
    for dtype in strategies.dtypes(S)[-1 - MORE.get(S.base, 0) :: 2]
]


@st.composite
def patterns(draw: st.DrawFn, n: int) -> list[tuple[int, int]]:
    """Edges of a sparse graph: trees, grids, stars, cliques joined by bridges, paths, anything; some one-way."""
    kind = draw(st.sampled_from(["tree", "grid", "star", "cliques", "path", "cycle", "random", "none"]))
    edges: list[tuple[int, int]] = []
    if kind == "tree":
        edges = [(draw(st.integers(0, v - 1)), v) for v in range(1, n)]
    elif kind == "grid":
        edges = [(v, v + 1) for v in range(n - 1) if v % 3 != 2] + [(v, v + 3) for v in range(n - 3)]
    elif kind == "star":
        edges = [(0, v) for v in range(1, n)]
    elif kind == "cliques":
        edges = [(u, v) for v in range(n) for u in range(v) if u // 3 == v // 3 or (v == u + 1 and v % 3 == 0)]
    elif kind in ("path", "cycle"):
        edges = [(v, v + 1) for v in range(n - 1)] + [(n - 1, 0)] * (kind == "cycle" and n > 0)
    elif kind == "random":
        edges = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=2 * n)) if n else []
    ways = draw(st.sampled_from(["out", "back", "both", "mixed"]))
    found = set()
    for u, v in edges:
        way = draw(st.sampled_from(["out", "back", "both"])) if ways == "mixed" else ways
        found |= {(u, v)} if way != "back" else set()
        found |= {(v, u)} if way != "out" else set()
    if draw(st.booleans()):
        found |= {(v, v) for v in draw(st.sets(st.integers(0, n - 1), max_size=3))} if n else set()
    new = draw(st.permutations(range(n)))
    return sorted((new[u], new[v]) for u, v in found)


@st.composite
def sparse_matrices(draw: st.DrawFn, S: oracle.Algebra, dtype: np.dtype) -> tuple[Graph, np.ndarray]:
    """A graph over an algebra, and its dense matrix as the oracle writes it."""
    n = draw(st.integers(0, strategies.most_vertices(S)))
    edges = draw(patterns(n))
    weights = draw(
        st.lists(strategies.elements(S, dtype, safe=True), min_size=len(edges), max_size=len(edges))
    )
    A = [[S.zero] * n for _ in range(n)]
    for (u, v), w in zip(edges, weights, strict=True):
        A[u][v] = w
    array = oracle.to_numpy(S, A, dtype, (n, n))
    rows, columns = (np.array(end, np.int64) for end in (zip(*edges, strict=True) if edges else ((), ())))
    values = to_library(S, array)[rows, columns]
    return Graph(rows, columns, n, values), array


def factors(graph: Graph, T: sr.Semiring, data: st.DataObject) -> SparseFactors:
    """Factors with supernodes of any size, in any order."""
    A = read(graph, T)
    method: Any = data.draw(st.sampled_from([*ORDERS, "given"]))
    if method == "given":
        method = np.array(data.draw(st.permutations(range(A.n))), np.int64)
    leaf, merge = data.draw(st.sampled_from([0, 2, 32])), data.draw(st.booleans())
    return SparseFactors(Substitution(A, analyse(A.indptr, A.indices, method=method, leaf=leaf, merge=merge)))


def expected_closure(S: oracle.Algebra, array: np.ndarray) -> list | None:
    """A* by the oracle, or None where it does not exist or does not fit the dtype."""
    found = oracle.expected_closure(S, array)
    return found if found is not None and oracle.fits(S, found, array.dtype) else None


@pytest.mark.parametrize(("name", "dtype"), SOME, ids=str)
def test_answers_are_the_oracles(name: str, dtype: np.dtype) -> None:
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    T = ours(S)

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        graph, array = data.draw(sparse_matrices(S, dtype))
        expected = expected_closure(S, array)
        assume(expected is not None)
        try:
            F = factors(graph, T, data)
        except sr.NoClosureError:
            # Another order may meet a star that is undefined, where elements have no order.
            assert not S.selective and not S.bounded
            return
        text = f"{array!r}, {F.analysis.method}"
        oracle.assert_same(S, expected, stored(S, np.asarray(F.closure()), dtype), text)
        n = len(array)
        plus = oracle.matmul(S, oracle.from_numpy(S, array), expected, n)
        if oracle.fits(S, plus, array.dtype):
            oracle.assert_same(S, plus, stored(S, np.asarray(F.closure(reflexive=False)), dtype), text)
        if S.base in SOLVED:
            B = data.draw(strategies.matrices(S, dtype, (n, data.draw(st.integers(0, 3)))))
            X = oracle.matmul(S, expected, oracle.from_numpy(S, B), B.shape[1])
            if oracle.fits(S, X, array.dtype):
                solved = F.solve(to_library(S, B))
                assert solved.dtype == array.dtype
                oracle.assert_same(S, X, solved, text)
        some = data.draw(st.lists(st.integers(0, n - 1), max_size=3)) if n else []
        got = stored(S, F.rows(some), dtype)
        assert got.shape == (len(some), n)
        for i, v in enumerate(some):
            oracle.assert_same(S, [expected[v]], got[i : i + 1], text)
        others = data.draw(st.lists(st.integers(0, n - 1), max_size=3)) if n else []
        table = stored(S, np.asarray(F.rows(some, targets=others)), dtype)
        oracle.assert_same(S, [[expected[v][w] for w in others] for v in some], table, text)
        pairs = [(v, w) for v in some for w in others]
        if pairs:
            told = np.asarray(F.weight(*(list(ends) for ends in zip(*pairs, strict=True))))
            oracle.assert_same(S, [[expected[v][w]] for v, w in pairs], stored(S, told[:, None], dtype), text)
        part = F._by.by_rows(np.array(some, np.int64), np.array(others, np.int64))
        np.testing.assert_array_equal(part, got[:, others], text)
        if oracle.fits(S, plus, array.dtype):
            table = stored(S, np.asarray(F.rows(some, targets=others, reflexive=False)), dtype)
            rows = stored(S, F.rows(some, reflexive=False), dtype)
            np.testing.assert_array_equal(table, rows[:, others], text)

    check()


@pytest.mark.parametrize("compiled", [False, True])
def test_weights_of_pairs_by_name(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", "always" if compiled else "never")
    roads = sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0), ("d", "a", 0.5)])
    F = sr.factor(roads, sr.min_plus)
    assert F.weight("a", "c") == 7 and type(F.weight("a", "c")) is float
    assert F.weight("c", "a") == inf and F.weight("c", "c") == 0
    assert F.weight("d", ["a", "b", "d"]).tolist() == [0.5, 3.5, 0.0]
    assert F.weight(["a", "b"], "c").tolist() == [7, 4] and F.weight(["a"], "c").shape == (1,)
    assert F.weight(["d", "a"], ["c", "b"]).tolist() == [7.5, 3] and F.weight([], []).shape == (0,)
    assert F.table(["d", "a"], ["c"])["d", "c"] == 7.5
    with pytest.raises(sr.GraphError, match="'e'"):
        F.weight("e", "a")
    with pytest.raises(sr.SemiringError, match="2 sources and 3 targets"):
        F.weight(["a", "b"], ["a", "b", "c"])
    other = F.refactor(sr.as_graph([("a", "b", 1.0), ("b", "c", 1.0), ("a", "c", 9.0), ("d", "a", 1.0)]))
    assert other.weight("d", "c") == 3 and F.weight("d", "c") == 7.5
    tuples = sr.factor(sr.as_graph([((0, 0), (0, 1), 2.0)]), sr.min_plus)
    assert tuples.weight((0, 0), (0, 1)) == 2


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_path_whose_weight_leaves_the_dtype_is_not_absent(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", "always" if compiled else "never")
    far = Graph(np.arange(3), np.arange(1, 4), 4, np.full(3, 6e4, "f2"))
    rare = Graph(np.arange(400), np.arange(1, 401), 401, np.full(400, 0.1, "f8"))
    for graph, S, end in ((far, sr.min_plus, 3), (rare, sr.viterbi, 400)):
        for F in (sr.factor(graph, S), sr.factor(sr.adjacency(graph, S).to_numpy(), S)):
            with pytest.raises(sr.SemiringError, match="as if there were no walk"):
                F.path(0, end)
            assert F.path(end, 0)[1] is None and F.path(0, 1)[1] == [0, 1]
    assert sr.factor(far, sr.min_plus).weight(0, 3) == inf, "as of closure"


def random_graph(n: int, degree: float, seed: int, *, directed: bool = True) -> sp.csr_array:
    """A random graph with weights in (0, 1], a few vertices apart."""
    rng = np.random.default_rng(seed)
    size = int(n * degree)
    A = sp.coo_array((rng.integers(1, 65, size) / 64, (rng.integers(0, n, size), rng.integers(0, n, size))), (n, n))
    A = A.tocsr()
    return A if directed else sp.csr_array(A.maximum(A.T))


def for_csgraph(A: sp.csr_array) -> sp.csr_array:
    """With 32-bit indices, which scipy.sparse.csgraph insisted on before SciPy 1.15."""
    return sp.csr_array((A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32)), A.shape)


# The 2 × 2 matrices of counts: ⊗ does not commute.
matrices_of_counts = sr.Semiring(
    "matrices", "(N^(2×2), +, ×, 0, I)", fields={"a": "f8", "b": "f8", "c": "f8", "d": "f8"},
    zero=(0, 0, 0, 0), one=(1, 0, 0, 1),
    add=lambda x, y: (x.a + y.a, x.b + y.b, x.c + y.c, x.d + y.d),
    mul=lambda x, y: (
        x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d
    ),
    star=lambda x: (
        np.where((x.a == 0) & (x.b == 0) & (x.c == 0) & (x.d == 0), 1, np.nan), 0, 0, 1
    ),
    samples=[(0, 0, 0, 0), (1, 0, 0, 1), (1, 2, 0, 1), (0, 1, 1, 0)],
)


@pytest.mark.parametrize("whole", [False, True])
def test_operands_of_a_product_that_does_not_commute_keep_their_sides(whole: bool) -> None:
    T = matrices_of_counts
    assert not T.commutative
    rng = np.random.default_rng(5)
    n = 60
    dense = np.zeros((n, n), T.default_dtype)
    for _ in range(150):
        i, j = sorted(rng.choice(n, 2, replace=False))
        dense[i, j] = tuple(rng.integers(0, 2, 4))
    new = rng.permutation(n)
    dense = dense[np.ix_(new, new)]
    rows, columns = np.nonzero(dense != T.zero_in(dense.dtype))
    A = read(Graph(rows, columns, n, dense[rows, columns]), T)
    F = SparseFactors(Substitution(A, analyse(A.indptr, A.indices, leaf=32 if whole else 2)))
    expected = sr.closure(dense, T)
    np.testing.assert_array_equal(np.asarray(F.closure()), expected)
    np.testing.assert_array_equal(F.solve(expected[:, :3]), sr.matmul(expected, expected[:, :3], T))
    np.testing.assert_array_equal(np.asarray(F.closure(reflexive=False)), sr.closure(dense, T, reflexive=False))


@quick
@given(st.integers(1, 12), st.integers(0, 2**32 - 1), st.booleans())
def test_factors_of_a_matrix_that_changes_stay_its_factors(n: int, seed: int, wide: bool) -> None:
    """Also where they are eliminated anew: in Python's integers, or in compiled code."""
    random = np.random.default_rng(seed)
    edges = np.nonzero(random.random((n, n)) < 0.3)
    A = sp.csr_array((random.integers(1, 9, len(edges[0])), edges), (n, n))
    B = random.integers(0, 9, (n, 2)) + (2**62 if wide else 0)
    F, G = sr.factor(A, sr.min_plus), sr.factor(A.copy(), sr.min_plus)
    A.data[:], A.indices[:] = 0, 0
    np.testing.assert_array_equal(F.solve(B), G.solve(B))
    np.testing.assert_array_equal(F.closure(reflexive=False), G.closure(reflexive=False))
    weights = np.arange(1, len(edges[0]) + 1)
    np.testing.assert_array_equal(F.refactor(weights).closure(), G.refactor(weights).closure())


def test_commutativity_is_read_off_the_expression() -> None:
    from semiring.algebra.proofs import commutes

    assert commutes(sr.min_plus.traced.mul) and commutes(sr.expectation.traced.mul)
    assert commutes(sr.log.traced.mul) and commutes(sr.shortest_count.traced.mul)
    assert not commutes(matrices_of_counts.traced.mul)
    first = sr.Semiring("sub", add=np.minimum, mul=lambda a, b: a - b, zero=inf, one=0.0, product_only=True)
    assert not commutes(first.traced.mul)


DENSE = [
    ("min_plus", "f8"), ("min_plus", "f4"), ("min_plus", "i4"), ("max_min", "f8"), ("plus_times", "f8"),
    ("log", "f8"), ("counting", "f8"), ("viterbi", "f4"), ("shortest_count", None),
]


@pytest.mark.parametrize(("name", "dtype"), DENSE)
@pytest.mark.parametrize("large", [False, True], ids=["small fronts", "large fronts"])
def test_larger_graphs_are_as_the_dense_methods_have_them(
    name: str, dtype: str | None, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    T = sr.catalogue[name]
    if large:
        monkeypatch.setattr(fronts, "LARGE_ORDER", 24)
        monkeypatch.setattr(fronts, "LARGE_PIVOTS", 4)
    for A in (random_graph(300, 2.5, 1), random_graph(150, 4, 2, directed=False), weighted_grid(15)):
        edges = A.tocoo()
        rows, columns, w = edges.row, edges.col, edges.data
        if name == "shortest_count":
            w = np.array([(x, 1.0) for x in w], T.default_dtype)
        elif name == "counting":
            rows, columns, w = rows[rows < columns], columns[rows < columns], w[rows < columns]
            w = np.ones(len(w))
        elif name == "plus_times":
            w = w / 16
        elif name == "log":
            w = -4 - w
        elif name == "viterbi":
            w = np.minimum(w, 1)
        elif dtype == "i4":
            w = (w * 64).astype("i4")
        graph = Graph(rows.astype(np.int64), columns.astype(np.int64), A.shape[0], w.astype(dtype) if dtype else w)
        F = sr.factor(graph, T)
        dense = sr.adjacency(graph, T).array
        assert dense.dtype == graph.weights.dtype
        for reflexive in (True, False):
            got, expected = F.closure(reflexive=reflexive).array, sr.closure(dense, T, reflexive=reflexive)
            assert got.dtype == expected.dtype
            if got.dtype.names or got.dtype.kind != "f":
                np.testing.assert_array_equal(got, expected)
            else:
                np.testing.assert_allclose(got, expected, rtol=1e-4 if dtype == "f4" else 1e-9, atol=1e-12)
        B = dense[:, :5].copy()
        found, meant = F.solve(B), sr.solve(dense, B, T)
        if found.dtype.kind == "f":
            np.testing.assert_allclose(found, meant, rtol=1e-4 if dtype == "f4" else 1e-9, atol=1e-12)
        else:
            np.testing.assert_array_equal(found, meant)


@pytest.mark.usefixtures("machine_code")
def test_threads_change_no_bit() -> None:
    A = random_graph(700, 3, 4)
    F = sr.factor(A * 0.1, sr.plus_times)
    sources = np.arange(700)
    found = []
    for threads in (1, 2, 3):
        out = np.empty((700, 700))
        F._by.fronts.rows(sources, out, thread_count=threads)
        X = np.ascontiguousarray(out[:, :130])
        F._by.fronts.columns(X, thread_count=threads)
        found.append((out, X))
    for out, X in found[1:]:
        assert (out == found[0][0]).all() and (found[0][1] == X).all()
    few = np.array([5, 600, 3])
    assert (F.rows(few) == found[0][0][few]).all(), "a row does not depend on those beside it"


def test_minnesota_roads_are_as_dijkstra_has_them() -> None:
    roads = np.loadtxt(Path(sr.__file__).parent / "data" / "minnesota_roads.csv", delimiter=",", skiprows=1)
    ends, km = roads[:, :2].astype(np.int64), roads[:, 2]
    graph = Graph(ends[:, 0], ends[:, 1], int(ends.max()) + 1, km, directed=False)
    got = np.asarray(sr.closure(graph, sr.min_plus))
    rows, columns = np.concatenate([ends, ends[:, ::-1]]).T
    S = sp.csr_array((np.concatenate([km, km]), (rows, columns)), (graph.n, graph.n))
    np.testing.assert_allclose(got, dijkstra(for_csgraph(S)), rtol=1e-12)


def test_negative_weights_are_as_johnson_has_them() -> None:
    A = random_graph(400, 4, 7)
    potential = np.random.default_rng(1).integers(-8, 8, 400) / 8
    coo = A.tocoo()
    A = sp.csr_array((coo.data + potential[coo.row] - potential[coo.col], (coo.row, coo.col)), A.shape)
    assert (A.data < 0).any()
    np.testing.assert_allclose(sr.factor(A, sr.min_plus).closure(), johnson(for_csgraph(A)), atol=1e-12)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
def test_an_improving_cycle_is_named(dtype: str) -> None:
    A = random_graph(300, 2, 3).tocoo()
    w = (A.data * 64).astype(dtype)
    rows, columns, w = [*A.row, 7, 190, 33], [*A.col, 190, 33, 7], [*w, -300, 5, 6]
    broken = sp.coo_array((np.array(w, dtype), (rows, columns)), A.shape)
    with pytest.raises(sr.NoClosureError) as e:
        sr.factor(broken, sr.min_plus)
    cycle = e.value.cycle
    assert cycle[0] == cycle[-1] and e.value.vertex in cycle
    D = read(broken, sr.min_plus).array()
    weight = sum(float(D[u, v]) for u, v in pairwise(cycle))
    assert weight < 0 and weight == pytest.approx(float(e.value.weight))


def test_a_named_vertex_without_a_star_is_named() -> None:
    loop = sr.as_graph([("a", "b", 0.5), ("b", "b", 1.0), ("b", "c", 0.25)])
    with pytest.raises(sr.NoClosureError, match="the cycle b → b of weight 1") as refused:
        sr.factor(loop, sr.plus_times)
    assert refused.value.vertex == "b"


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize("grown", [False, True], ids=["errors of roundings", "errors that grew"])
def test_rounding_on_cycles_of_weight_zero_is_no_improving_cycle(
    grown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(11)
    n = 120
    potential = rng.random(n) * 1e3
    u, v = rng.integers(0, n, 500), rng.integers(0, n, 500)
    # Rounded up, so that in exact arithmetic no cycle is below zero; sums of floats are.
    w = np.nextafter(np.r_[potential[u] - potential[v], potential[v] - potential[u]], inf)
    A = Graph(np.r_[u, v], np.r_[v, u], n, w)
    looked_at: list[int] = []

    def is_slack(low: object, values: np.ndarray, facts: object, n: int) -> np.ndarray:
        looked_at.append(len(values))
        return np.full(len(values), not grown)

    monkeypatch.setattr(cycles, "is_slack", is_slack)
    F = sr.factor(A, sr.min_plus)
    assert looked_at[0] > 0, "the case was to be met"
    D = np.asarray(F.closure())
    finite = np.isfinite(D)
    assert (np.diagonal(D) == 0).all()
    np.testing.assert_allclose(D[finite], (potential[:, None] - potential)[finite], atol=1e-6)
    np.testing.assert_array_equal(F.rows([3, 1]), D[[3, 1]])
    np.testing.assert_allclose(F.solve(D[:, :3]), D[:, :3], atol=1e-6)
    loops = np.asarray(F.closure(reflexive=False))
    np.testing.assert_array_equal(loops[~np.eye(n, dtype=bool)], D[~np.eye(n, dtype=bool)])
    assert (np.diagonal(loops)[np.unique(u)] < 1e-6).all()
    assert F.reduce("mean") == pytest.approx(D[finite & ~np.eye(n, dtype=bool)].mean(), abs=1e-6)


# What comes in


def test_bad_entries_are_refused_with_their_place() -> None:
    A = sp.csr_array(([1.0, np.nan], ([0, 2], [1, 1])), (3, 3))
    with pytest.raises(sr.SemiringError, match=r"A\[2, 1\] is NaN"):
        sr.factor(A, sr.min_plus)
    A.data[1] = 7.0
    with pytest.raises(sr.SemiringError, match=r"A\[2, 1\] is 7.*carrier"):
        sr.factor(A, sr.viterbi)
    with pytest.raises(sr.SemiringError, match="square"):
        sr.factor(sp.csr_array((3, 4)), sr.min_plus)
    with pytest.raises(sr.SemiringError, match="order must be"):
        sr.factor(A, sr.min_plus, order="best")


@pytest.mark.parametrize("n", [0, 1, 5])
def test_graphs_without_edges(n: int) -> None:
    F = sr.factor(sp.csr_array((n, n)), sr.min_plus)
    np.testing.assert_array_equal(F.closure(), np.where(np.eye(n) == 1, 0, inf))
    np.testing.assert_array_equal(F.closure(reflexive=False), np.full((n, n), inf))
    assert F.solve(np.ones((n, 2))).shape == (n, 2)
    assert list(F.blocks()) == [] if n == 0 else len(list(F.blocks())) == 1
    assert F.reduce("eccentricities").shape == (n,)


def test_what_would_not_fit_is_said_before_it_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    from semiring.machine import memory

    monkeypatch.setattr(substitution, "UNCHECKED_BYTES", 0)
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 22)
    A = weighted_grid(40)
    with pytest.raises(sr.SemiringError, match=r"closure of 1600 × 1600 .* needs 19\.5 MiB"):
        sr.factor(A, sr.min_plus).closure()
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 10)
    with pytest.raises(sr.SemiringError, match=r"factoring 1600 × 1600 .* needs"):
        sr.factor(A, sr.min_plus)


@pytest.mark.usefixtures("machine_code")
def test_what_one_structure_needs_is_worked_out_once() -> None:
    A = weighted_grid(12)
    F = sr.factor(A, sr.min_plus)
    again = F.refactor(np.arange(A.nnz) + 1.0)
    assert again._by.fronts.layout is F._by.fronts.layout
    assert again._by.fronts.threads == again.plan.threads and f"{again.plan.threads} threads" in again.plan.place
    assert again.plan.seconds == F.plan.seconds
    F.plan.seconds.clear()  # a plan is its caller's own
    assert again.plan.seconds and again.refactor(np.ones(A.nnz)).plan.seconds == again.plan.seconds


def test_a_second_closure_asks_the_algebra_nothing() -> None:
    A, called = weighted_grid(20), set()
    home = os.path.join(os.path.dirname(sr.__file__), "algebra", "")

    def see(frame: Any, event: str, _: Any) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(home):
            called.add(f"{path.removeprefix(home)}: {frame.f_code.co_name}")

    first = sr.closure(A, sr.min_plus, method="sparse")
    before = sys.getprofile()
    sys.setprofile(see)
    try:
        second = sr.closure(A, sr.min_plus, method="sparse")
    finally:
        sys.setprofile(before)
    np.testing.assert_array_equal(second, first)
    assert not called


# What goes out


def test_answers_are_of_the_kind_that_the_dense_methods_give() -> None:
    networkx = pytest.importorskip("networkx")
    A = weighted_grid(3)
    numbered = networkx.from_scipy_sparse_array(A)
    named = networkx.relabel_nodes(numbered, str)
    for edges in (A, sr.as_graph(A), numbered, named):
        got, expected = sr.closure(edges, sr.min_plus, method="sparse"), sr.closure(edges, sr.min_plus)
        assert type(got) is type(expected)
        assert getattr(got, "names", None) == getattr(expected, "names", None)
        np.testing.assert_array_equal(np.asarray(got), np.asarray(expected))


def test_names_are_kept() -> None:
    F = sr.factor(sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0)], directed=False), sr.min_plus)
    assert F.closure()["c", "a"] == 7 and F.row("b").tolist() == [3, 0, 4]
    with pytest.raises(sr.SemiringError, match="no vertex is called 'd'"):
        F.rows(["a", "d"])


def test_streams_are_the_closure(tmp_path: Path) -> None:
    A = random_graph(300, 2, 9)
    F = sr.factor(A, sr.min_plus)
    whole = F.closure()
    for in_order in (False, True):
        seen = []
        for vertices, block in F.blocks(rows=37, in_order=in_order):
            np.testing.assert_array_equal(block, whole[vertices])
            seen += vertices.tolist()
        assert (seen if in_order else sorted(seen)) == list(range(300))
    saved = F.save(tmp_path / "distances.npy")
    np.testing.assert_array_equal(saved, whole)
    np.testing.assert_array_equal(np.load(tmp_path / "distances.npy"), whole)


def test_what_is_read_of_factors_of_integers_is_a_right_hand_side(tmp_path: Path) -> None:
    """∞ is read of a graph as a float, and equations of the graph take it."""
    counted = [("dist", "i4"), ("count", "i4")]
    for S, weights in ((sr.min_plus, np.array([4, 3], "i4")), (sr.min_plus, np.array([2**60 + 1, 3])),
                       (sr.shortest_count, np.array([(4, 1), (3, 1)], counted))):
        graph = Graph(np.array([0, 1]), np.array([1, 2]), 3, weights)
        F, stored = sr.factor(graph, S), sr.closure(graph, S).array
        rows = F.rows([0, 1, 2])
        assert (rows["dist"] if S is sr.shortest_count else rows)[2, 0] == inf and stored.dtype == F._A.dtype
        blocks = [row for _, block in F.blocks(1, in_order=True) for row in block.tolist()]
        assert blocks[2] == rows.tolist()[2] and blocks[0] == stored[0].tolist()  # ∞ is in the last ones only
        assert (F.save(tmp_path / "rows.npy") == stored).all()
        dense = sr.adjacency(graph, S).array
        for left in (False, True):
            meant = sr.solve(dense, stored, S, left=left)
            assert meant.dtype == stored.dtype
            for found in (sr.solve(graph, rows, S, left=left), *([] if left else [F.solve(rows)])):
                assert found.tolist() == texts.with_infinities(meant, S).tolist()
    F = sr.factor(Graph(np.array([0]), np.array([1]), 2, np.array([4], "i1")), sr.min_plus)
    for B in ([1.5, inf], [np.nan, inf], [127.0, inf], [200.0, inf], [1.0, 2.0], [-inf, 2.5]):
        with pytest.raises(sr.SemiringError, match="A is int8 and B is float64"):
            F.solve(np.array(B))
    with pytest.raises(sr.SemiringError, match="A is int8 and B is float64"):
        sr.factor(np.array([[1, 2], [3, 4]], "i1"), sr.min_plus).solve(np.array([1.0, inf]))


def test_new_weights_use_the_analysis_again() -> None:
    A = weighted_grid(12)
    F = sr.factor(A, sr.min_plus)
    doubled = F.refactor(A * 2)
    assert doubled.analysis is F.analysis
    np.testing.assert_allclose(doubled.closure(), 2 * F.closure())
    np.testing.assert_array_equal(F.refactor(read(A * 2, sr.min_plus).values).closure(), doubled.closure())
    with pytest.raises(sr.SemiringError, match="same edges"):
        F.refactor(weighted_grid(12).tolil()[::-1].tocsr())
    with pytest.raises(sr.SemiringError, match="3 weights for"):
        F.refactor(np.ones(3))


def test_progress_is_reported_and_changes_nothing() -> None:
    F, told = sr.factor(weighted_grid(14), sr.min_plus), []
    np.testing.assert_array_equal(F.closure(progress=told.append), F.closure())
    assert told == sorted(told) and told[-1] == 1.0 and len(told) > 10


@pytest.mark.parametrize("n", [0, 1, 4])
def test_the_last_report_is_that_all_is_done(n: int) -> None:
    A, B, one = sp.csr_array((n, n)), np.zeros(n), frozenset([frozenset()])
    objects = Graph(np.arange(n), np.arange(n), n, np.array([one] * n, object))
    F = sr.factor(A, sr.min_plus)
    for call in (
        lambda report: sr.closure(A, sr.min_plus, method="sparse", progress=report),
        lambda report: sr.factor(A, sr.min_plus, progress=report),
        lambda report: sr.solve(A, B, sr.min_plus, progress=report),
        lambda report: F.closure(progress=report),
        lambda report: sr.factor(objects, sr.catalogue["why"], progress=report),
    ):
        told: list[float] = []
        call(told.append)
        assert told == sorted(told) and told[-1] == 1.0, told


@pytest.mark.parametrize("large", [False, True], ids=["small fronts", "large fronts"])
def test_elimination_reports_batches_of_fronts(large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if large:
        monkeypatch.setattr(fronts, "LARGE_ORDER", 24)
        monkeypatch.setattr(fronts, "LARGE_PIVOTS", 4)
    A, told, B = weighted_grid(40), [], np.random.default_rng(0).random(1600)
    F = sr.factor(A, sr.min_plus, progress=told.append)
    assert told == sorted(told) and told[0] == 0 and told[-1] == 1.0 and len(told) > 10
    np.testing.assert_array_equal(F.closure(), sr.factor(A, sr.min_plus).closure())
    told.clear()
    np.testing.assert_array_equal(sr.solve(A, B, sr.min_plus, progress=told.append), F.solve(B))
    assert told == sorted(told) and told[-1] == 1.0 and len(told) > 10


@pytest.mark.parametrize("progress", [3, 0, "yes", None, []])
def test_what_is_no_progress_is_refused(progress: Any) -> None:
    with pytest.raises(sr.SemiringError, match="progress must be True, False or a function"):
        sr.factor(weighted_grid(3), sr.min_plus).closure(progress=progress)


# Options


def test_without_checks_numbers_may_overflow() -> None:
    D = np.zeros((6, 6))
    D[0, 1] = D[1, 3] = D[0, 2] = 1e200
    D[2, 3] = -1e200
    A = sp.csr_array(D)
    F = sr.factor(A, sr.plus_times, check=False)
    expected = sr.factor(D, sr.plus_times, check=False).closure()
    assert np.isnan(expected[0, 3]) and np.isnan(expected).sum() == 1
    for found in (
        F.closure(), sr.closure(A, sr.plus_times, method="sparse", check=False), F.rows(range(6)),
        np.concatenate([block for _, block in F.blocks(in_order=True)]), F.solve(np.eye(6)),
    ):
        np.testing.assert_array_equal(found, expected)
    for call in (lambda: sr.factor(A, sr.plus_times).closure(), lambda: sr.closure(A, sr.plus_times, method="sparse")):
        with pytest.raises(sr.SemiringError, match=r"no value at \[0, 3\]"):
            call()


# Elements of other kinds


def test_objects_come_by_graphs() -> None:
    T = sr.catalogue["why"]
    weights = np.empty(2, object)
    weights[:] = [frozenset([frozenset("x")]), frozenset([frozenset("y")])]
    F = sr.factor(Graph(np.array([0, 1]), np.array([1, 2]), 3, weights), T)
    assert F.closure()[0, 2] == frozenset([frozenset("xy")])


def test_integers_too_large_for_sums_of_64_bits() -> None:
    big = 2**61
    ends = np.array([0, 1, 2, 0]), np.array([1, 2, 3, 3])
    graph = Graph(*ends, 4, np.array([big, big, -big, 5]))
    F = sr.factor(graph, sr.min_plus)
    assert F.lowering.kind == "objects"
    got, expected = F.closure(), sr.closure(sr.adjacency(graph, sr.min_plus), sr.min_plus)
    np.testing.assert_array_equal(np.asarray(got), np.asarray(expected))
    with pytest.raises(sr.NoClosureError) as e:
        sr.factor(Graph(np.array([0, 1]), np.array([1, 0]), 2, np.array([-big, 5])), sr.min_plus)
    assert e.value.cycle == [0, 1, 0]


def test_a_right_hand_side_too_large_for_the_factors() -> None:
    graph = Graph(np.array([0, 1]), np.array([1, 2]), 3, np.array([3, 4]))
    F = sr.factor(graph, sr.min_plus)
    top = np.iinfo(np.int64).max
    B = np.array([top, top - 100, -(2**62)])
    np.testing.assert_array_equal(F.solve(B), [7 - 2**62, 4 - 2**62, -(2**62)])
    with pytest.raises(sr.SemiringError, match="int64 cannot hold"):
        F.solve(np.array([top, top, top - 2]))
    with pytest.raises(sr.SemiringError, match=r"shape \(3,\)"):
        F.solve(np.ones(4, np.int64))
    with pytest.raises(sr.SemiringError, match="A is int64 and B is float64"):
        F.solve(np.ones(3))


def test_reachability_alone_goes_by_components() -> None:
    networkx = pytest.importorskip("networkx")
    A = random_graph(300, 1.5, 3) > 0
    G = networkx.relabel_nodes(networkx.from_scipy_sparse_array(A, create_using=networkx.DiGraph), str)
    for edges in (A, G):
        for reflexive in (True, False):
            reached = networkx.transitive_closure(G, reflexive=reflexive)
            expected = networkx.to_numpy_array(reached, nodelist=list(G), weight=None).astype(bool)
            got = sr.closure(edges, sr.boolean, reflexive=reflexive)
            assert type(got) is (sr.Matrix if edges is G else np.ndarray)
            np.testing.assert_array_equal(np.asarray(got), expected)
            slow = sr.closure(edges, sr.boolean, method="sparse", reflexive=reflexive)
            np.testing.assert_array_equal(np.asarray(slow), expected)


@pytest.mark.parametrize("rows", [0, -1, 1.5, "2", True, None])
def test_rows_of_a_block_are_a_whole_number(rows: Any, tmp_path: Path) -> None:
    """A file that is there stays as it is."""
    F = sr.factor(sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus)
    with pytest.raises(sr.SemiringError, match=r"^rows must be a whole number of at least 1, and is "):
        next(F.blocks(rows=rows))
    path = tmp_path / "closure.npy"
    F.save(path)
    with pytest.raises(sr.SemiringError, match=r"^rows must be a whole number of at least 1, and is "):
        F.save(path, rows=rows)
    assert np.load(path).tolist() == [[0.0, 2.0], [3.0, 0.0]]
