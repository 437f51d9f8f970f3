"""Rows, tables and best paths from factors: those of the closure and of the search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from engines import slow_but
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.build import code_of
from semiring.operands.read import read
from semiring.solvers.paths.factored import Factored, settled, units
from semiring.solvers.sparse import factors
from semiring.solvers.sparse.factors import SparseFactors

inf = np.inf
WEIGHTS: dict[str, tuple[sr.Semiring, list[Any]]] = {
    "min-plus": (sr.min_plus, [inf, 0.0, 1.0, 2.5, 7.0]), "negative": (sr.min_plus, [inf, 4.0, 1.0, -0.5]),
    "max-min": (sr.max_min, [-inf, 1.0, 2.0, 3.0]), "min-max": (sr.min_max, [inf, 1.0, 2.0, 3.0]),
    "viterbi": (sr.viterbi, [0.0, 0.25, 0.5, 1.0]), "boolean": (sr.boolean, [False, True]),
    "shortest-hops": (sr.shortest_hops, [(inf, inf), (0.0, 1.0), (1.0, 1.0), (2.0, 1.0)]),
    "plus-times": (sr.plus_times, [0.0, 0.0, 0.125, 0.0625]), "counting": (sr.shortest_count, [(inf, 0), (1.0, 1)]),
}


@st.composite
def matrices(draw: st.DrawFn) -> tuple[sr.Semiring, np.ndarray]:
    S, weights = WEIGHTS[draw(st.sampled_from(sorted(WEIGHTS)))]
    n = draw(st.integers(1, 7))
    cells = st.lists(st.sampled_from([weights[0], *weights]), min_size=n * n, max_size=n * n)
    A = S.array(draw(cells), S.default_dtype).reshape(n, n)
    if S is sr.min_plus and draw(st.booleans()) and -0.5 not in weights:
        A = np.where(inf == A, np.iinfo(np.int32).max, np.where(inf == A, 0, A).astype(int)).astype(np.int32)
    return S, A


def as_matrix(A: np.ndarray, S: sr.Semiring) -> sr.Matrix:
    return sr.Matrix(A, S, names=[f"v{i}" for i in range(len(A))])


def as_graph(A: np.ndarray, S: sr.Semiring) -> sr.Graph:
    there = S.zero_in(A.dtype) != A
    rows, columns = np.nonzero(there)
    return sr.Graph(rows, columns, len(A), A[there], [f"v{i}" for i in range(len(A))])


MAKES: dict[str, Callable[..., Any]] = {"Matrix": as_matrix, "Graph": as_graph}


@settings(max_examples=120)
@given(matrices(), st.sampled_from(sorted(MAKES)), st.data())
def test_rows_and_tables_are_parts_of_the_closure(case: tuple[sr.Semiring, np.ndarray], make: str, data: Any) -> None:
    S, A = case
    try:
        F = sr.factor(MAKES[make](A, S), S)
    except sr.NoClosureError:
        return
    C = np.asarray(F.closure())
    names = [f"v{i}" for i in range(len(A))]
    some = st.lists(st.sampled_from(names), max_size=5)
    sources, targets = data.draw(some), data.draw(some)
    starts, ends = ([names.index(v) for v in vertices] for vertices in (sources, targets))

    def same(found: Any, expected: np.ndarray) -> None:
        if S is sr.plus_times:
            np.testing.assert_allclose(found, expected, rtol=1e-12)
        else:
            np.testing.assert_array_equal(np.asarray(found), expected)

    rows, T = F.rows(sources), F.rows(sources, targets=targets)
    endless = A.dtype.kind == "i" and bool(np.isin(C[starts], (inf, -inf)).any())  # integers show ∞ as the float
    assert type(rows) is np.ndarray and rows.dtype == (np.float64 if endless else A.dtype)
    same(rows, C[starts])
    assert isinstance(T, sr.Table) and (T.sources, T.targets, T.dtype) == (sources, targets, A.dtype)
    same(T, C[np.ix_(starts, ends)])
    same(sr.closure_rows(F, sources=sources, targets=targets), C[np.ix_(starts, ends)])
    if S.selective and make == "Graph":
        same(sr.closure_rows(as_graph(A, S), S, sources, targets=targets), C[np.ix_(starts, ends)])
        same(sr.closure_rows(as_graph(A, S), S, names * 4, targets=names[:1]), np.tile(C[:, :1], (4, 1)))


@settings(max_examples=120)
@given(matrices(), st.sampled_from(sorted(MAKES)))
def test_paths_from_factors_are_those_of_the_search(case: tuple[sr.Semiring, np.ndarray], make: str) -> None:
    S, A = case
    given = MAKES[make](A, S)
    try:
        F = sr.factor(given, S)
    except sr.NoClosureError:
        return
    if not S.selective:
        with pytest.raises(sr.LawError, match="a best path needs a selective"):
            F.path("v0", "v0")
        return
    for a in F._edges.names or ():
        for b in F._edges.names or ():
            expected, found = sr.path(given, S, a, b), F.path(a, b)
            assert found[0] == expected[0] and found == sr.path(F, source=a, target=b)
            if F._bounded:
                assert found[1] == expected[1]


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize(("S", "dtype"), slow_but([(sr.min_plus, "f8"), (sr.min_plus, "i4"), (sr.max_min, "f8")], 0))
def test_walks_from_compiled_factors_are_those_of_whole_rows(S: sr.Semiring, dtype: str) -> None:
    """The same vertices, whose ties break alike, without a row: also where all of it is needed in the end.

    Of floats that are only compared half of the zeros are −0.
    """

    @settings(max_examples=40)
    @given(st.integers(1, 25), st.sampled_from([0.5, 1.5, 3.0]), st.booleans(), st.booleans(),
           st.integers(0, 2**32 - 1))
    def check(n: int, degree: float, ties: bool, rounds: bool, seed: int) -> None:
        random = np.random.default_rng(seed)
        edges = np.nonzero(random.random((n, n)) < degree / n)
        weights = random.integers(0 if ties else 1, 3 if ties else 10**6, len(edges[0]))
        if dtype == "f8":
            weights = weights / (10 if rounds else 8)
        if S is sr.max_min:
            weights *= random.choice([-1, 1], len(weights))
        G = sr.Graph(*edges, n, weights.astype(dtype), [f"v{i}" for i in range(n)])
        F = sr.factor(G, S)
        assert isinstance(F, SparseFactors) and F.lowering.compiled
        for a, b in random.integers(0, n, (10, 2)).tolist():
            assert F._walk(a, b)[0] == Factored._walk(F, a, b)[0]
            found, expected = F.path(f"v{a}", f"v{b}"), sr.path(G, S, f"v{a}", f"v{b}")
            assert type(found[0]) is type(expected[0])
            assert found == expected or (rounds and dtype == "f8" and found[0] == pytest.approx(expected[0]))

    check()


def test_a_walk_is_compiled_when_that_repays(monkeypatch: pytest.MonkeyPatch, machine_code: None) -> None:
    F = sr.factor(sp.csr_array(np.diag([1.0, 2.0], 1)), sr.min_plus)
    asked: list[str] = []

    def not_yet(low: Any, rounds: float, terms: float, purpose: str) -> Any:
        asked.append(purpose)
        return low.interpreted

    monkeypatch.setattr(factors, "affordable", not_yet)
    code = code_of(F.lowering, "walks")
    before = code.spent
    assert F.path(0, 2) == (3.0, [0, 1, 2]) and asked == ["walks"] and code.spent > before


def test_larger_graphs_floats_and_numbers_of_python() -> None:
    random = np.random.default_rng(0)
    A = sp.random_array((300, 300), density=0.02, random_state=random, format="csr")
    G, D = sr.factor(A, sr.min_plus), sr.factor(np.where(A.toarray() == 0, inf, A.toarray()), sr.min_plus)
    for a, b in random.integers(0, 300, (20, 2)).tolist():
        weight, walk = sr.path(A, sr.min_plus, a, b)
        for F in (G, D):
            found = F.path(a, b)
            assert found == (weight, walk) and type(found[0]) is float
    many, few = np.arange(300), [5, 17]
    for F in (G, D):
        C = F.closure()
        np.testing.assert_allclose(F.rows(many, targets=few), C[:, few], rtol=1e-12)
        np.testing.assert_allclose(F.rows(few, targets=many), C[few], rtol=1e-12)
    np.testing.assert_allclose(G.rows(few, targets=many, reflexive=False), G.rows(few, reflexive=False))


def test_the_caller_s_array_may_change() -> None:
    A = np.array([[inf, 3.0, 9.0], [inf, inf, 4.0], [inf, inf, inf]])
    F = sr.factor(A, sr.min_plus)
    A[:] = inf
    assert F.path(0, 2) == (7.0, [0, 1, 2])


def test_packed_bits_and_what_factors_are_not_for() -> None:
    A = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], bool)
    F = sr.factor(sr.pack(A), sr.boolean)
    assert F.path(0, 2) == (True, [0, 1, 2]) and F.rows([0]).tolist() == [[True, True, True]]
    assert F.rows([0, 1, 2], targets=[0]).to_numpy().tolist() == [[True], [False], [False]]
    for verb in (sr.closure, sr.factor, lambda F: sr.matmul(F, F), lambda F: sr.solve(F, np.eye(3, dtype=bool))):
        with pytest.raises(sr.SemiringError, match=r"A holds factors of a matrix: call their own methods, F\.solve"):
            verb(F)
    plan = sr.plan("path", F, source=0, target=2)
    assert plan.method in ("substitution", "search")
    assert sr.plan("closure_rows", sr.factor(A, sr.boolean), sources=[0]).method == "substitution"
    with pytest.raises(sr.GraphError):
        F.path(0, 3)
    with pytest.raises(sr.SemiringError, match="predecessors of targets"):
        sr.closure_rows(A, sr.boolean, [0], targets=[1], predecessors=True)


def test_units_and_ones() -> None:
    G = read(np.array([[0.0, 1.0], [2.0, 0.0]]), sr.min_plus)
    assert units(G, np.array([1])).tolist() == [[inf, 0.0]]
    X = settled(sr.min_plus, np.array([[-1e-17, 1.0]]), np.array([0]), None)
    assert X.tolist() == [[0.0, 1.0]]
    assert settled(sr.min_plus, np.array([[3.0, -1e-17]]), np.array([0]), np.array([1, 0])).tolist() == [[3.0, 0.0]]


@pytest.mark.parametrize("sparse", [False, True])
def test_walks_that_go_round_a_cycle_before_it_stops_improving(sparse: bool) -> None:
    """Round the loop at 1, which no tree of walks from 0 tells: the search of `path` does."""
    S = sr.Semiring(
        "capped at 10", add=np.maximum, mul=lambda a, b: np.where((a < 0) | (b < 0), -1, np.minimum(a + b, 10)),
        zero=-1, one=0, carrier=lambda a: (a >= -1) & (a <= 10) & (np.floor(a) == a),
    )
    edges = [(0, 1, 1.0), (1, 1, 7.0), (1, 2, 0.0)]
    F = sr.factor(sr.as_graph(edges) if sparse else sr.adjacency(edges, S), S)
    assert F.path(0, 2) == (10.0, [0, 1, 1, 1, 2])
    assert F.path(1, 2) == sr.path(sr.as_graph(edges), S, 1, 2)
    assert F.path(0, 0) == (0.0, [0])
    for sources in (None, [0]):
        with pytest.raises(sr.LawError, match="go round a cycle"):
            sr.paths(sr.as_graph(edges), S, sources=sources)
