"""Rows of closures, and best paths, against the oracle, the closure itself, and SciPy's algorithms."""

from __future__ import annotations

import sys
from itertools import pairwise, product
from types import ModuleType
from typing import Any

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
import strategies
from bridge import ours
from engines import slow_but
from exported import Exported
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csgraph

import semiring as sr
from semiring.api import closure_rows
from semiring.kernels.cpu.sparse.search import CpuSearchKernel
from semiring.operands.convert import as_sparse
from semiring.operands.devices import gpu_name
from semiring.operands.read import read
from semiring.operands.sparse import Sparse
from semiring.solvers.paths.search import Search, form_of, on_the_host

inf = np.inf
quick = settings(max_examples=40, suppress_health_check=list(HealthCheck))
# One for each form of arithmetic; every (algebra, dtype) here is compiled, which takes a second or two.
CASES = [
    ("boolean", "?"), ("min_plus", "f4"), ("min_plus", "f8"), ("min_plus", "i4"), ("min_plus", "u1"),
    ("max_plus", "f8"), ("max_plus", "i2"), ("max_min", "f4"), ("min_max", "i4"), ("viterbi", "f8"),
    ("max_times", "f8"), ("lukasiewicz", "f4"), ("saturating_min_plus(100)", "u1"),
]
RECORDS = [("shortest_hops", 1), ("widest_shortest", 0)]


def sparse(array: np.ndarray, zero: Any) -> Any:
    rows, columns = np.nonzero(array != zero)
    return sp.coo_array((array[rows, columns], (rows, columns)), shape=array.shape)


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_rows_are_the_oracles(name: str, dtype: str) -> None:
    S = oracle.for_dtype(oracle.ALGEBRAS[name.partition("(")[0]], np.dtype(dtype))
    T = ours(S)

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        A = data.draw(strategies.matrices(S, dtype))
        n = len(A)
        expected = oracle.closure_by_elimination(S, oracle.from_numpy(S, A))
        assume(oracle.fits(S, expected, dtype) and n)
        sources = data.draw(st.lists(st.integers(0, n - 1), max_size=4))
        given_ = data.draw(st.sampled_from([A, sparse(A, T.zero_in(dtype))]))
        X, P = closure_rows(given_, T, sources, predecessors=True)
        assert X.shape == P.shape == (len(sources), n) and X.dtype == A.dtype
        oracle.assert_same(S, [expected[s] for s in sources], X, f"A = {A!r}, sources {sources}")
        assert (closure_rows(given_, T, sources) == X).all()
        for i, s in enumerate(sources):
            check_tree(T, A, s, X[i], P[i])

    check()


def check_tree(S: sr.Semiring, A: np.ndarray, source: int, x: np.ndarray, before: np.ndarray) -> None:
    """Predecessors lead to the source, and each is the tail of an edge that gives the value."""
    assert before[source] == -1
    for v in range(len(x)):
        assert v == source or (before[v] < 0) == (x[v] == S.zero_in(A.dtype))
        steps, u = 0, v
        while before[u] >= 0 and steps <= len(x):
            assert x[u] == S.over(A.dtype).mul(x[before[u]], A[before[u], u])
            u, steps = before[u], steps + 1
        assert steps <= len(x)


@pytest.mark.parametrize(("name", "which"), RECORDS)
def test_records_of_graphs(name: str, which: int) -> None:
    S = oracle.ALGEBRAS[name]
    T = ours(S)
    dtype = strategies.dtypes(S)[which]

    @settings(quick, max_examples=25)
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        A = data.draw(strategies.matrices(S, dtype))
        zero = T.zero_in(T.resolve_dtype(A.dtype))
        edges = [(i, j) for i in range(len(A)) for j in range(len(A)) if tuple(A[i, j]) != tuple(zero)]
        assume(edges)
        ends = np.array(edges)
        graph = sr.Graph(ends[:, 0], ends[:, 1], len(A), weights=A[ends[:, 0], ends[:, 1]])
        expected = oracle.closure_by_elimination(S, oracle.from_numpy(S, A))
        assume(oracle.fits(S, expected, dtype))
        found = closure_rows(graph, T, range(len(A)))
        oracle.assert_same(S, expected, found, f"A = {A!r}")  # ∞ of integers is a float there

    check()


@pytest.mark.parametrize(("name", "dtype"), [("min_plus", "f8"), ("min_plus", "i2"), ("max_plus", "f4"),
                                             ("max_times", "f8")])
def test_improving_cycles_are_found_and_named(name: str, dtype: str) -> None:
    S = oracle.for_dtype(oracle.ALGEBRAS[name], np.dtype(dtype))
    T = ours(S)

    @settings(quick, max_examples=80)
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        n = data.draw(st.integers(1, 7))
        A = data.draw(strategies.matrices(S, dtype, (n, n), safe=False))
        rows = oracle.from_numpy(S, A)
        endless = -inf if name == "min_plus" else inf
        assume(not any(x == endless for row in rows for x in row))
        source = data.draw(st.integers(0, n - 1))
        reach = oracle.closure_by_elimination(oracle.boolean, [[x != S.zero for x in row] for row in rows])
        inside = [v for v in range(n) if reach[source][v]]
        improving = oracle.has_improving_cycle(S, [[rows[i][j] for j in inside] for i in inside])
        try:
            closure_rows(sparse(A, T.zero_in(dtype)), T, [source])
        except sr.NoClosureError as e:
            assert improving and e.cycle and e.cycle[0] == e.cycle[-1]
            assert oracle.is_improving(S, rows, e.cycle) and set(e.cycle) <= set(inside)
            assert float(e.weight) == float(oracle.weight_of(S, oracle.exactly(rows), e.cycle))
        except sr.SemiringError as e:
            assert "cannot hold" in str(e) and not improving
        else:
            assert not improving

    check()


def test_an_infinitely_good_cycle() -> None:
    A = np.array([[inf, -inf, inf], [5, inf, 1], [inf, inf, inf]])
    with pytest.raises(sr.NoClosureError, match="is improving"):
        closure_rows(A, sr.min_plus, 0)
    assert closure_rows(A, sr.min_plus, 2).tolist() == [inf, inf, 0]
    limits = np.iinfo("i4")
    whole = sp.csr_array(np.array([[0, limits.min], [7, 0]], "i4"))
    whole.eliminate_zeros()
    with pytest.raises(sr.NoClosureError):
        closure_rows(whole, sr.min_plus, 0)


def test_a_cycle_that_only_rounding_makes_improve() -> None:
    """1 + ε − 1 − ε is 0, and less where 1 + ε is rounded to 1."""
    tiny = 2.0**-60
    A = sp.csr_array((np.array([1, tiny, -1, 0.7, -tiny]), ([0, 1, 2, 2, 3], [1, 2, 3, 4, 0])), shape=(5, 5))
    assert ((1 + tiny) - 1) - tiny < 0
    X, P = closure_rows(A, sr.min_plus, [0, 4, 2], predecessors=True)
    np.testing.assert_allclose(X, [[0, 1, 1, 0, 1.7], [inf] * 4 + [0], [-1, 0, 0, -1, 0.7]], rtol=0, atol=2.0**-50)
    assert X[[0, 1, 2], [0, 4, 2]].tolist() == [0, 0, 0]
    assert P.tolist() == [[-1, 0, 1, 2, 2], [-1] * 5, [3, 0, -1, 2, 2]]
    A.data[2] = -1 - 2.0**-50
    with pytest.raises(sr.NoClosureError) as caught:
        closure_rows(A, sr.min_plus, 0)
    assert caught.value.cycle == [0, 1, 2, 3, 0]


def random_graph(n: int, m: int, seed: int, low: float = 0) -> Any:
    random = np.random.default_rng(seed)
    ends = random.integers(0, n, (2, m))
    A = sp.coo_array((random.integers(int(4 * low), 40, m) / 4, ends), shape=(n, n))
    return A


@pytest.mark.parametrize("seed", range(3))
def test_distances_are_those_of_dijkstra(seed: int) -> None:
    A = random_graph(700, 2500, seed, 0.25)
    B = without_duplicates(A)
    expected = csgraph.dijkstra(B, indices=range(100))
    assert (closure_rows(A, sr.min_plus, range(100)) == expected).all()
    assert (closure_rows(B.astype("f4"), sr.min_plus, range(100)) == expected.astype("f4")).all()


def without_duplicates(A: Any) -> Any:
    """The least of parallel edges, for SciPy, which would add them."""
    rows = as_sparse(read(A, sr.min_plus)).rows
    return sp.csr_array((rows.values, rows.columns, rows.offsets.astype(np.int32)), shape=A.shape)


@pytest.mark.parametrize("seed", range(3))
def test_negative_weights_are_those_of_johnson(seed: int) -> None:
    random = np.random.default_rng(seed)
    A = random_graph(300, 1500, seed, 0.25)
    potential = random.integers(-100, 100, 300) / 4
    A.data += potential[A.row] - potential[A.col]
    A.data[A.data == 0] = 0.25  # SciPy takes a zero for no edge
    expected = csgraph.johnson(without_duplicates(A))
    assert (closure_rows(A, sr.min_plus, range(300)) == expected).all()
    A.data -= 12
    with pytest.raises(csgraph.NegativeCycleError):
        csgraph.johnson(without_duplicates(A))
    with pytest.raises(sr.NoClosureError) as caught:
        closure_rows(A, sr.min_plus, range(300))
    cycle, W = caught.value.cycle, without_duplicates(A).todok()
    assert sum(W[u, v] for u, v in pairwise(cycle)) == caught.value.weight < 0


def test_results_do_not_depend_on_the_threads() -> None:
    given_ = as_sparse(read(random_graph(400, 1600, 5), sr.min_plus))
    search = Search(sr.min_plus, given_, form_of(given_))
    sources = np.arange(0, 400, 3)
    text = CpuSearchKernel.of(search.form.low).program
    assert search.form.bounded
    one = CpuSearchKernel(text, 1).settle(search.stored, sources)
    many = CpuSearchKernel(text, 5).settle(search.stored, sources)
    corrected, _, failed = CpuSearchKernel(text, 3).correct(search.stored, sources, True)
    assert (one == many).all() and (one == corrected).all() and (failed == -1).all()


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize(("S", "weight"), slow_but([(sr.min_plus, 0.125), (sr.viterbi, 0.5), (sr.max_min, 3.0)], 0))
def test_edges_of_one_weight_are_searched_breadth_first(S: sr.Semiring, weight: float) -> None:
    A = without_duplicates(random_graph(300, 900, 1, 0.25))
    A.data[:] = weight
    one, other = (read(B, S) for B in (A, A.copy()))
    assert on_the_host(as_sparse(one), form_of(as_sparse(one)), 1).alike
    X, P = closure_rows(A, S, range(300), predecessors=True)
    assert np.array_equal(X, sr.closure(A, S, method="sparse"))
    before = P[0] >= 0
    assert (X[0][before] == S.over(A.dtype).mul(X[0][P[0][before]], weight)).all()
    other.values[-1] = S.over(A.dtype).mul(weight, weight) if S is not sr.max_min else 2.0
    assert not on_the_host(as_sparse(other), form_of(as_sparse(other)), 1).alike
    better = A.copy()
    better.data[:] = {"min-plus": -1.0, "viterbi": 1.0, "max-min": np.inf}[S.name]
    given_ = as_sparse(read(better, S))
    assert on_the_host(given_, form_of(given_), 1).alike is (S is not sr.min_plus), "which improves round a cycle"


@pytest.mark.usefixtures("machine_code")
def test_whether_edges_go_both_ways_is_asked_where_many_searches_want_to_know(monkeypatch: pytest.MonkeyPatch) -> None:
    A = without_duplicates(random_graph(300, 3000, 1, 0.25))
    B = (abs(A) + abs(A.T)).tocsr()
    B.data[:] = 0.5
    asked = []
    know = Sparse.both_ways.func
    monkeypatch.setattr(Sparse, "both_ways", property(lambda given: asked.append(know(given)) or asked[-1]))
    expected = sr.closure(B, sr.min_plus, method="sparse")
    assert np.array_equal(sr.closure_rows(B, sr.min_plus, [4]), expected[[4]])
    assert not asked
    P = sr.prepare(B, sr.min_plus)
    assert np.array_equal(sr.closure_rows(P, sr.min_plus, [4]), expected[[4]])
    assert asked == [True]
    assert np.array_equal(sr.closure_rows(B, sr.min_plus, range(20)), expected[:20])
    assert asked == [True, True]
    A.data[:] = 0.5
    assert np.array_equal(sr.closure_rows(A, sr.min_plus, range(20)), sr.closure(A, sr.min_plus, method="sparse")[:20])
    assert asked == [True, True, False]


def test_a_long_path_with_a_cycle_at_its_end() -> None:
    n = 50_000
    rows = np.append(np.arange(n - 1), n - 1)
    columns = np.append(np.arange(1, n), n - 3)
    weights = np.full(n, 1.0)
    A = sp.csr_array((weights, (rows, columns)), shape=(n, n))
    assert closure_rows(A, sr.min_plus, 0)[-1] == n - 1
    A.data[-1] = -2.5
    with pytest.raises(sr.NoClosureError) as caught:
        closure_rows(A, sr.min_plus, 0)
    assert caught.value.cycle == [n - 3, n - 2, n - 1, n - 3] and caught.value.weight == -0.5


def test_names_and_single_vertices() -> None:
    graph = sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0)], directed=False)
    assert closure_rows(graph, sr.min_plus, "a").tolist() == [0, 3, 7]
    assert closure_rows(graph, "min-plus", ["c", "a"]).tolist() == [[7, 4, 0], [0, 3, 7]]
    row, before = closure_rows(graph, sr.min_plus, "a", predecessors=True)
    assert row.shape == before.shape == (3,) and before.tolist() == [-1, 0, 1]
    tuples = sr.as_graph([((0, 0), (0, 1), 1.0)])
    assert closure_rows(tuples, sr.min_plus, (0, 0)).tolist() == [0, 1]
    assert closure_rows(tuples, sr.min_plus, []).shape == (0, 2)


def test_what_is_refused() -> None:
    A = sp.csr_array(np.array([[0, 1.0], [2, 0]]))
    for call, error, message in (
        (lambda: closure_rows(A, sr.plus_times, 0), sr.LawError, "does not select"),
        (lambda: closure_rows(A, sr.plus_min, 0), sr.LawError, "no closure"),
        (lambda: closure_rows(A, sr.min_plus, 2), sr.SemiringError, "^vertex 2: the vertices have no names"),
        (lambda: closure_rows(A, sr.min_plus, [True]), sr.SemiringError, "^vertex True: the vertices have no"),
        (lambda: closure_rows(A, sr.min_plus, ["a"]), sr.SemiringError, "^vertex 'a': the vertices have no"),
        (lambda: closure_rows(sr.as_graph([("a", "b", 1.0)]), sr.min_plus, "x"), sr.SemiringError, "is called 'x'"),
        (lambda: closure_rows(sp.csr_array((2, 3)), sr.min_plus, 0), sr.SemiringError, "square"),
        (lambda: closure_rows(A, sr.min_plus, 0, device="tpu"), sr.SemiringError, "device must be 'cpu' or 'gpu'"),
        (lambda: closure_rows(sp.csr_array((10**7, 10**7)), sr.min_plus, range(10**6)), sr.SemiringError, "memory"),
        (lambda: closure_rows(sp.csr_array(np.array([[np.nan]])), sr.min_plus, 0), sr.SemiringError, r"A\[0, 0\]"),
    ):
        with pytest.raises(error, match=message):
            call()


NAMED = sr.adjacency([("home", "mill", 1.0), ("mill", "shop", 2.0)], sr.min_plus)
NUMBERED = sr.Matrix(NAMED.array, sr.min_plus)
ENTRIES = sparse(NUMBERED.array, inf)
VERTEX_VERBS = {
    "closure_rows": lambda A, v: closure_rows(A, sr.min_plus, [v]),
    "closure_rows of one": lambda A, v: closure_rows(A, sr.min_plus, v),
    "path from": lambda A, v: sr.path(A, sr.min_plus, v, A.names[0] if A.names else 0),
    "path to": lambda A, v: sr.path(A, sr.min_plus, A.names[0] if A.names else 0, v),
    "row": lambda A, v: factors(A).row(v), "rows": lambda A, v: factors(A).rows([v]),
    "reaches": lambda A, v: sr.reach(A).reaches(v, v), "pairs": lambda A, v: sr.reach(A).pairs([v], [v]),
    "descendants": lambda A, v: sr.reach(A).descendants(v), "ancestors": lambda A, v: sr.reach(A).ancestors(v),
    "a row of a matrix": lambda A, v: A[v], "an element": lambda A, v: A[v, v],
    "index": lambda A, v: A.index(v),
}


def factors(A: sr.Matrix) -> Any:
    return sr.factor(sr.as_graph(ENTRIES, names=A.names), sr.min_plus)


@pytest.mark.parametrize("verb", VERTEX_VERBS)
def test_a_vertex_that_is_not_there_is_refused_in_one_wording(verb: str) -> None:
    span = "the vertices have no names, they are the integers 0 to 2"
    for A, vertex, text in (
        (NUMBERED, 99, f"vertex 99: {span}"), (NUMBERED, np.int32(3), f"vertex 3: {span}"),
        (NUMBERED, -1, f"vertex -1: {span}"), (NUMBERED, True, f"vertex True: {span}"),
        (NUMBERED, np.True_, f"vertex True: {span}"), (NUMBERED, 1.0, f"vertex 1.0: {span}"),
        (NUMBERED, "z", f"vertex 'z': {span}"), (NUMBERED, None, f"vertex None: {span}"),
        (NAMED, "zz", "no vertex is called 'zz'"), (NAMED, 99, "no vertex is called 99"),
        (NAMED, True, "no vertex is called True"), (NAMED, "mil", "no vertex is called 'mil'; did you mean 'mill'?"),
    ):
        with pytest.raises(sr.GraphError) as caught:
            VERTEX_VERBS[verb](A, vertex)
        assert str(caught.value) == text


def test_vertices_of_nothing_and_of_other_makes() -> None:
    with pytest.raises(sr.GraphError, match=r"^vertex 0: the graph has no vertices$"):
        closure_rows(np.zeros((0, 0)), sr.min_plus, 0)
    with pytest.raises(sr.GraphError, match=r"^no vertex is called True$"):
        closure_rows(sr.Matrix(NAMED.array, sr.min_plus, [0, 1, 2]), sr.min_plus, [True])
    for zero in (0, np.uint8(0), np.array(0)):
        assert closure_rows(NUMBERED, sr.min_plus, zero).tolist() == [0, 1, 3]
    assert closure_rows(NUMBERED, sr.min_plus, np.array([0], "u1")).tolist() == [[0, 1, 3]]


@pytest.mark.parametrize("dtype", ["<f8", ">f8", ">f4", ">i4", ">u2", "f2"])
@pytest.mark.parametrize("make", [np.asarray, lambda a: sr.Matrix(a, sr.min_plus, ["a", "b"])])
def test_rows_are_in_the_callers_byte_order(dtype: str, make: Any) -> None:
    A = make(np.array([[0, 1], [2, 0]], dtype))
    sources = [0, 1] if isinstance(A, np.ndarray) else ["a", "b"]
    X, P = closure_rows(A, sr.min_plus, sources, predecessors=True)
    assert X.dtype == sr.closure(A, sr.min_plus).dtype == np.dtype(dtype) and P.dtype == np.int32
    assert X.tolist() == [[0, 1], [2, 0]]
    row = closure_rows(A, sr.min_plus, sources[1])
    assert row.dtype == np.dtype(dtype) and row.tolist() == [2, 0]
    weight, _ = sr.path(A, sr.min_plus, *sources)
    assert weight == 1 and type(weight) is type(np.dtype(dtype).type(1).item())


def test_records_keep_the_order_of_their_fields() -> None:
    fields = [("hops", "i8"), ("cost", "f8")]
    A = np.array([[(0, 0), (1, 2)], [(1, 3), (0, 0)]], fields)
    for given_, names in ((A, [0, 1]), (sr.Matrix(A, sr.shortest_hops, "ab"), ["a", "b"])):
        X = closure_rows(given_, sr.shortest_hops, names)
        assert X.dtype == sr.closure(given_, sr.shortest_hops).dtype == np.dtype(fields)
        assert X.tolist() == A.tolist()
        weight, walk = sr.path(given_, sr.shortest_hops, *names)
        assert weight.dtype == np.dtype(fields) and weight.item() == (1, 2) and walk == names


def test_rows_of_an_array_of_another_library(monkeypatch: pytest.MonkeyPatch) -> None:
    library = ModuleType("exporting")
    library.from_dlpack = lambda array: Exported(np.from_dlpack(array))
    monkeypatch.setitem(sys.modules, "exporting", library)
    monkeypatch.setattr(Exported, "__module__", "exporting")
    X = closure_rows(Exported(NUMBERED.array), sr.min_plus, [0])
    assert isinstance(X, np.ndarray) and X.tolist() == [[0, 1, 3]]
    assert sr.path(Exported(NUMBERED.array), sr.min_plus, 0, 2) == (3, [0, 1, 2])


@pytest.mark.skipif(gpu_name() is not None, reason="there is a GPU")
def test_a_gpu_that_is_not_there() -> None:
    with pytest.raises(sr.SemiringError, match="no GPU was found"):
        closure_rows(sp.csr_array(np.eye(2)), sr.min_plus, 0, device="gpu")


@pytest.mark.parametrize(("S", "weight", "n"), [(sr.viterbi, 0.1, 401), (sr.min_times, 2, 70)])
def test_a_path_is_refused_where_its_own_weight_has_no_value(S: sr.Semiring, weight: Any, n: int) -> None:
    """A chain whose far end is out of reach of the dtype, and a vertex that no edge leads to."""
    ends = np.arange(n - 2), np.arange(1, n - 1)
    chain = sp.coo_array((np.full(n - 2, weight), ends), shape=(n, n)).tocsr()
    for A in (chain, sr.prepare(chain, S)):
        assert sr.path(A, S, 0, 0) == (1, [0]) and sr.path(A, S, 0, 3)[1] == [0, 1, 2, 3]
        assert sr.path(A, S, 0, n - 1) == (S.zero, None)
        with pytest.raises(sr.SemiringError, match=r"has a weight that .* cannot hold"):
            sr.path(A, S, 0, n - 2)


def test_integers_beyond_the_machine() -> None:
    big = 2**62
    A = sp.csr_array((np.array([big, -big, 5]), ([0, 1, 2], [1, 2, 3])), shape=(4, 4))
    assert closure_rows(A, sr.min_plus, 0).tolist() == [0, big, 0, 5]
    A.data[1] = big
    with pytest.raises(sr.SemiringError, match="cannot hold"):
        closure_rows(A, sr.min_plus, 0)
    A = sp.csr_array((np.array([big, -big - 1]), ([0, 1], [1, 0])), shape=(2, 2))
    with pytest.raises(sr.NoClosureError) as caught:
        closure_rows(A, sr.min_plus, 0)
    assert caught.value.weight == -1


# Best paths where ⊗ rounds: the weight is the closure's, the ⊗ along the vertices, and nothing is refused.


def declared(name: str, mul: object, *, zero: float = inf, one: float = 0.0, high: float = inf) -> sr.Semiring:
    add = np.minimum if zero > one else np.maximum
    low, high = (0.0, high) if zero > one else (0.0, 1.0)
    return sr.Semiring(name, add=add, mul=mul, zero=zero, one=one, carrier=lambda a: (a >= low) & (a <= high))


def rooted(p: float) -> sr.Semiring:
    return declared(f"root {p}", lambda a, b: np.power(np.power(a, 1 / p) + np.power(b, 1 / p), p))


BOUNDED = [
    rooted(2), rooted(3), rooted(1 / 2), rooted(5),
    declared("norm", lambda a, b: np.sqrt(a * a + b * b)),
    declared("log of sum", lambda a, b: np.log1p(np.expm1(a) + np.expm1(b)), high=inf),
    declared("velocities", lambda a, b: (a + b) / (1 + a * b), zero=1.0, high=1.0),
    declared("logs", lambda a, b: np.exp(np.log(a) + np.log(b)), zero=0.0, one=1.0),
    declared("thirds", lambda a, b: a * b / (a + b - a * b), zero=0.0, one=1.0),
]


def elements(S: sr.Semiring, shape: tuple, random: np.random.Generator) -> np.ndarray:
    """Few different ones, so that paths tie and loops nearly do."""
    whole = random.integers(0, 9, shape)
    A = whole / 9.0 if S.zero <= 1 else whole.astype(float) ** 3
    A[random.random(shape) < 0.3] = S.zero
    A[random.random(shape) < 0.1] = S.one
    return A


@pytest.mark.parametrize(
    ("S", "dtype"),
    slow_but([*((S, "f8") for S in BOUNDED), *((S, "f4") for S in BOUNDED[:2])], *range(0, len(BOUNDED) + 2, 3)),
    ids=lambda x: getattr(x, "name", x),
)
def test_bounded_algebras_whose_product_rounds(S: sr.Semiring, dtype: str) -> None:
    assert S.selective and S.bounded
    rtol = 1e-9 if dtype == "f8" else 1e-3
    for seed in range(6):
        random = np.random.default_rng(seed)
        n = int(random.integers(1, 9))
        A = elements(S, (n, n), random).astype(dtype)
        closed = sr.closure(A, S)
        edges = np.nonzero(S.zero != A)
        graph = sp.csr_array((A[edges], edges), shape=(n, n))
        rows, before = sr.closure_rows(graph, S, range(n), predecessors=True)
        np.testing.assert_allclose(rows, closed, rtol=rtol, atol=1e-6)
        assert (before[rows == S.zero_in(dtype)] < 0).all()
        for source, target in product(range(n), range(n)):
            weight, vertices = sr.path(A, S, source, target)
            np.testing.assert_allclose(weight, closed[source, target], rtol=rtol, atol=1e-6)
            assert (vertices is None) == (weight == S.zero)
            if vertices is not None:
                assert (vertices[0], vertices[-1]) == (source, target) and len(set(vertices)) == len(vertices)
                along = S.one_in(dtype)
                for u, v in pairwise(vertices):
                    along = S.mul(along, A[u, v])
                np.testing.assert_allclose(weight, along, rtol=1e-6)


def cubes(a: np.ndarray) -> np.ndarray:
    return np.sign(a) * np.abs(a) ** 3


CUBIC = sr.Semiring(  # min-plus moved by x³, so that edges may be better than one, and no product is exact
    "cubic", add=np.minimum, zero=inf, one=0.0,
    mul=lambda a, b: np.power(
        np.where(a < 0, -np.power(-a, 1 / 3), np.power(a, 1 / 3))
        + np.where(b < 0, -np.power(-b, 1 / 3), np.power(b, 1 / 3)), 3),
)


@pytest.mark.parametrize("seed", range(10))
def test_cycles_of_weight_one_under_a_product_that_rounds(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = 6
    height = random.normal(size=n) * 5
    true = height[:, None] - height + random.integers(0, 2, (n, n)) * random.random((n, n))
    A = cubes(true)
    expected = cubes(sr.closure(true, sr.min_plus))
    for source, target in product(range(n), range(n)):
        weight, vertices = sr.path(A, CUBIC, source, target)
        np.testing.assert_allclose(weight, expected[source, target], rtol=1e-6, atol=1e-9)
        assert vertices[0] == source and vertices[-1] == target
    np.testing.assert_allclose(sr.closure(A, CUBIC), expected, rtol=1e-6, atol=1e-9)
    A[1, 2] = cubes(true[1, 2] - 30)
    for call in (lambda: sr.path(A, CUBIC, 0, 3), lambda: sr.closure(A, CUBIC), lambda: sr.closure_rows(A, CUBIC, 0)):
        with pytest.raises(sr.NoClosureError) as caught:
            call()
        pairs = list(pairwise(caught.value.cycle))
        assert sum(np.cbrt(A[u, v]) for u, v in pairs) < 0


def test_records_with_costs_of_both_signs() -> None:
    """Potentials leave cycles of cost 0 up to rounding, which is not an improvement."""
    def cheaper(x, y):
        return np.where((x.cost < y.cost) | ((x.cost == y.cost) & (x.hops <= y.hops)), x, y)

    S = sr.Semiring(
        "hops", fields={"cost": "f8", "hops": "f8"}, zero=(inf, inf), one=(0, 0), add=cheaper,
        mul=lambda x, y: (x.cost + y.cost, x.hops + y.hops), selective=True, bounded=False,
        carrier=lambda a: (a.hops >= 0) & ((a.cost < inf) | (a.hops == inf)) & ((a.hops < inf) | (a.cost == inf)),
    )
    random = np.random.default_rng(1)
    for _ in range(20):
        height = random.normal(size=6) * 100
        A = np.empty((6, 6), S.default_dtype)
        A["cost"], A["hops"] = height[:, None] - height, 1
        closed = sr.closure(A, S)
        np.testing.assert_allclose(closed["cost"], height[:, None] - height, atol=1e-10)
        assert (closed["cost"].diagonal() == 0).all() and (closed["hops"].diagonal() == 0).all()
        weight, vertices = sr.path(A, S, 0, 5)
        np.testing.assert_allclose(weight["cost"], closed["cost"][0, 5], atol=1e-10)
        assert len(vertices) == weight["hops"] + 1
        A["cost"][2, 4] -= 1
        for call in (lambda: sr.closure(A, S), lambda: sr.path(A, S, 0, 5)):  # noqa: B023
            with pytest.raises(sr.NoClosureError, match="→"):
                call()


@pytest.mark.parametrize(
    ("S", "dtype", "first", "second"),
    [(sr.min_plus, "u8", 3, 2**64 - 2), (sr.min_plus, "u8", 1, 2**64 - 2), (sr.min_plus, "i8", 2**62, 2**62),
     (sr.min_plus, "i1", 5, 124), (sr.min_plus, "i1", 3, 124), (sr.min_plus, "i1", -100, -28),
     (sr.max_plus, "i1", 100, 27), (sr.max_plus, "i1", -100, -28), (sr.min_plus, "u1", 1, 254)],
)
def test_a_sum_that_leaves_the_dtype_is_told_as_an_integer(S: sr.Semiring, dtype: str, first: int, second: int) -> None:
    A = sp.csr_array((np.array([first, second], dtype), ([0, 1], [1, 2])), shape=(3, 3))
    weight, vertices = sr.path(A, S, 0, 2)
    assert type(weight) is int and weight == first + second and vertices == [0, 1, 2]
    with pytest.raises(sr.SemiringError, match=f"a result is {first + second}, which .* cannot hold"):
        sr.closure(A, S)
    part, _ = sr.path(A, S, 0, 1)
    assert type(part) is int and part == first
    nothing, walk = sr.path(A, S, 2, 0)
    assert type(nothing) is float and nothing == S.zero and walk is None  # an infinity, and no limit of the dtype


@pytest.mark.parametrize("compile", ["always", "never"])
@pytest.mark.parametrize("sign", [1, -1])
def test_an_explicit_infinity_is_no_edge(compile: str, sign: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also behind an edge below zero, where an infinity that is a number in storage would be a little less."""
    monkeypatch.setenv("SEMIRING_COMPILE", compile)
    S = sr.min_plus if sign > 0 else sr.max_plus
    nothing = S.zero_in(np.int32)
    A = sp.csr_array((np.array([-5 * sign, nothing, 3 * sign], np.int32), ([0, 1, 2], [1, 2, 3])), shape=(4, 4))
    x, before = sr.closure_rows(A, S, 0, predecessors=True)
    assert x.tolist() == [0, -5 * sign, nothing, nothing] and before.tolist() == [-1, 0, -1, -1]
    assert sr.nearest(A, S, 0).places.tolist() == [0, 0, -1, -1]


def test_sets_have_no_order_for_answers_to_stand_in() -> None:
    A = np.array([[0.0, 2.0], [1.0, 0.0]])
    for call in (lambda s: sr.closure_rows(A, sr.min_plus, s), lambda s: sr.paths(A, sr.min_plus, sources=s),
                 lambda s: sr.factor(sp.csr_array(A), sr.min_plus).rows(s)):
        for sources in ({0, 1}, frozenset([0])):
            with pytest.raises(sr.SemiringError, match="sources are a set, which has no order"):
                call(sources)
    with pytest.raises(sr.SemiringError, match="targets are a set"):
        sr.paths(A, sr.min_plus, targets={0, 1})
    assert sr.closure_rows(A, sr.min_plus, {1: "x", 0: "y"}.keys()).tolist() == [[1.0, 0.0], [0.0, 2.0]]
    named = sr.adjacency([(frozenset("a"), frozenset("b"), 1.0)], sr.min_plus)
    assert sr.closure_rows(named, sources=frozenset("a")).tolist() == [0.0, 1.0], "a name that is a set"
