"""Equations and rows of acyclic graphs by substitution, against the oracle and the search, over every algebra."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import families
import numpy as np
import oracle
import pytest
import scipy.sparse as sp
import strategies
from bridge import CASES, ours
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.operands.convert import as_sparse
from semiring.operands.read import read
from semiring.solvers import costs
from semiring.solvers.dense import schedules
from semiring.solvers.sparse import traversals
from semiring.solvers.sparse.traversals import heights_of, levels_of

inf = np.inf
SETTINGS = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def of_any_size(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(traversals, "SMALL", 0)
    monkeypatch.setattr(traversals, "SHALLOW", 0)
    monkeypatch.setattr(schedules, "LEAST_TRAVERSED", 1)
    monkeypatch.setattr(traversals, "dense_seconds", lambda n, rate: inf)
    yield


@pytest.mark.usefixtures("of_any_size")
@pytest.mark.parametrize("columns", [None, 0, 1, 3])
@SETTINGS
@given(st.sampled_from([c for c in CASES if c[1].kind != "O"]), st.data())
def test_solutions_are_the_oracles(columns: int | None, case: Any, data: st.DataObject) -> None:
    name, dtype = case
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    T = ours(S)
    assume(not T.product_only)
    A = data.draw(strategies.acyclic(S, dtype))
    shape = (len(A), 1 if columns is None else columns)
    B = data.draw(strategies.matrices(S, dtype, shape))
    star = oracle.closure_by_elimination(S, oracle.from_numpy(S, A))
    expected = oracle.matmul(S, star, oracle.from_numpy(S, B), shape[1])
    assume(oracle.fits(S, star, dtype) and oracle.fits(S, expected, dtype))
    given_, right = as_sparse(read(A, T)), B[:, 0] if columns is None else B
    assert sr.plan("solve", given_, right, T).method in ("substitution", "work list")
    found = sr.solve(given_, right, T)
    assert found.shape == right.shape and (found.dtype == dtype or dtype.names)
    oracle.assert_same(S, expected, found.reshape(shape))


@pytest.mark.usefixtures("of_any_size")
@SETTINGS
@given(st.sampled_from([c for c in CASES if c[0] in ("min_plus", "max_plus", "max_times", "shortest_hops")]), st.data())
def test_rows_are_the_oracles(case: Any, data: st.DataObject) -> None:
    name, dtype = case
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    T = ours(S)
    A = data.draw(strategies.acyclic(S, dtype))
    star = oracle.closure_by_elimination(S, oracle.from_numpy(S, A))
    assume(len(A) and oracle.fits(S, star, dtype))
    sources = data.draw(st.lists(st.integers(0, len(A) - 1), max_size=4))
    given_ = as_sparse(read(A, T))
    oracle.assert_same(S, [star[s] for s in sources], sr.closure_rows(given_, T, sources))


@pytest.mark.usefixtures("of_any_size")
@pytest.mark.parametrize("reflexive", [True, False])
@SETTINGS
@given(st.sampled_from(CASES), st.data())
def test_closures_are_the_oracles(reflexive: bool, case: Any, data: st.DataObject) -> None:
    """From entries and from arrays; vertices are numbered in any order."""
    name, dtype = case
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    T = ours(S)
    assume(not T.product_only and name != "regex")
    A = data.draw(strategies.acyclic(S, dtype))
    star = oracle.closure_by_elimination(S, oracle.from_numpy(S, A))
    assume(len(A) and oracle.fits(S, star, dtype))
    given_ = as_sparse(read(A, T))
    methods = {sr.plan("closure", M, T, reflexive=reflexive).method for M in (A, given_)}
    assert methods == {"substitution"} or given_.nnz == 0 or methods <= {"substitution", "components", "floyd-warshall"}
    if not reflexive:
        for i in range(len(A)):
            star[i][i] = S.zero
    for M in (A, given_):
        oracle.assert_same(S, star, np.asarray(sr.closure(M, T, reflexive=reflexive)))


@pytest.mark.usefixtures("of_any_size")
@pytest.mark.parametrize("said", ["never", "always"])
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from([c for c in CASES if c[0] in ("min_max", "max_min")]), st.booleans(), st.data())
def test_bottlenecks_of_symmetric_entries_are_those_of_a_schedule(
    said: str, case: Any, reflexive: bool, data: st.DataObject
) -> None:
    name, dtype = case
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    A = data.draw(strategies.matrices(S, dtype))
    assume(len(A))
    T, below = ours(S), np.tri(len(A), k=-1, dtype=bool)
    A[below] = A.T[below]
    given_ = as_sparse(read(A, T))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEMIRING_COMPILE", said)
        assert sr.plan("closure", given_, T, reflexive=reflexive).method in ("spanning tree", "components")
        found = np.asarray(sr.closure(given_, T, reflexive=reflexive))
    expected = np.asarray(sr.closure(A, T, reflexive=reflexive, method="floyd-warshall"))
    assert found.dtype == expected.dtype and np.array_equal(found, expected)
    B = A.copy()
    if len(A) > 1 and B[0, 1] != B[1, 1]:
        B[0, 1] = B[1, 1]
        assert sr.plan("closure", as_sparse(read(B, T)), T).method != "spanning tree"


GEN_KILL = sr.Semiring(  # of facts: those that a walk makes, those that it keeps, and whether there is one
    "gen-kill", fields={"gen": "u1", "keep": "u1", "on": "?"}, zero=(0, 0, False), one=(0, 255, True),
    add=lambda x, y: (x.gen | y.gen, x.keep | y.keep, x.on | y.on),
    mul=lambda x, y: (np.where(x.on & y.on, (x.gen & y.keep) | y.gen, 0), np.where(x.on & y.on, x.keep & y.keep, 0),
                      x.on & y.on),
    carrier=lambda x: x.on | ((x.gen == 0) & (x.keep == 0)))
STEPS = sr.Semiring(  # two-by-two matrices over min-plus, of numbers that are not negative
    "steps", fields={"a": "f8", "b": "f8", "c": "f8", "d": "f8"}, zero=(inf,) * 4, one=(0, inf, inf, 0),
    add=lambda x, y: (np.minimum(x.a, y.a), np.minimum(x.b, y.b), np.minimum(x.c, y.c), np.minimum(x.d, y.d)),
    mul=lambda x, y: (np.minimum(x.a + y.a, x.b + y.c), np.minimum(x.a + y.b, x.b + y.d),
                      np.minimum(x.c + y.a, x.d + y.c), np.minimum(x.c + y.b, x.d + y.d)),
    carrier=lambda x: (x.a >= 0) & (x.b >= 0) & (x.c >= 0) & (x.d >= 0))


@pytest.mark.usefixtures("of_any_size")
@pytest.mark.parametrize("S", [GEN_KILL, STEPS])
@pytest.mark.parametrize("left", [True, False])
@SETTINGS
@given(st.integers(1, 9), st.sampled_from([None, 0, 1, 3]), st.integers(0, 2**32 - 1), st.data())
def test_work_lists_solve_where_factors_do_not_commute(
    S: sr.Semiring, left: bool, n: int, count: int | None, seed: int, data: st.DataObject
) -> None:
    """From either side, with cycles, loops and several columns, as A* and a product do."""
    random, shape = np.random.default_rng(seed), (1 if count is None else count, n)
    A, B = (np.full(some, np.array(S.zero, S.element_dtype)) for some in ((n, n), shape))
    for X in (A, B):
        stored = random.random(X.shape) < 0.3
        for f in S.element_dtype.names:
            X[f][stored] = random.integers(0, 4, int(stored.sum())) if f != "on" else True
    closed = np.asarray(sr.closure(A, S, method="floyd-warshall"))
    expected = sr.matmul(B, closed, S) if left else sr.matmul(closed, B.T.copy(), S)
    given_, right = as_sparse(read(A, S)), B if left else B.T.copy()
    right = right.ravel() if count is None else right
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(costs, "least_to_eliminate", lambda low, A, enough: inf)
        plan = sr.plan("solve", given_, right, S, left=left)
        found = sr.solve(given_, right, S, left=left)
    assert plan.method == "work list" or (not count and count is not None) or plan.method == "substitution"
    assert found.shape == right.shape and np.array_equal(found.reshape(expected.shape), expected)
    assert np.array_equal(sr.solve(A, right, S, left=left).reshape(expected.shape), expected)
    if left:  # factors that are kept do the same
        for turned in (A.T, as_sparse(read(np.ascontiguousarray(A.T), S.opposite))):
            assert np.array_equal(sr.factor(turned, S.opposite).solve(right.T).T.reshape(expected.shape), expected)


def test_facts_that_reach_each_block() -> None:
    """At the first call nothing is compiled; a cycle that never settles is left to elimination."""
    n = 300
    i, j = np.concatenate([np.arange(n - 1), [250, 200]]), np.concatenate([np.arange(1, n), [40, 90]])
    W = np.zeros(len(i), GEN_KILL.element_dtype)
    W["gen"], W["keep"], W["on"] = np.where(i % 50 == 0, 1 << (i // 50), 0), np.where(i % 70 == 0, 1, 255), True
    B = np.full(n, np.array(GEN_KILL.zero, W.dtype))
    B[0] = GEN_KILL.one
    G = sr.Graph(i, j, n, W)
    plan = sr.plan("solve", G, B, GEN_KILL, left=True)
    assert plan.method == "work list" and plan.algebra is GEN_KILL
    found = sr.solve(G, B, GEN_KILL, left=True)
    assert found["gen"][30] == 0b1 and found["on"].all()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(traversals, "PASSES", 0)
        assert np.array_equal(sr.solve(G, B, GEN_KILL, left=True), found)


def test_a_first_call_loads_what_it_needs() -> None:
    """Not the ways that come later, and not Numba for work of a millisecond, whatever other processes kept."""
    code = """
import sys
import numpy as np
import semiring as sr
least = np.minimum
S = sr.Semiring("steps", fields={"a": "f8", "b": "f8", "c": "f8"}, zero=(np.inf,) * 3, one=(0, np.inf, 0),
                add=lambda x, y: (least(x.a, y.a), least(x.b, y.b), least(x.c, y.c)),
                mul=lambda x, y: (x.a + y.a, least(x.a + y.b, x.b + y.c), x.c + y.c),
                carrier=lambda x: (x.a >= 0) & (x.b >= 0) & (x.c >= 0))
i = np.arange(500)
W = np.ones(501, S.element_dtype)
G = sr.Graph(np.append(i, 400), np.append(i + 1, 20), 501, W)
B = np.full(501, np.array(S.zero, W.dtype))
B[0] = S.one
print(sr.plan("solve", G, B, S, left=True).method, sr.solve(G, B, S, left=True)["a"].max())
print(*sorted({"numba", "semiring.solvers.sparse.iteration", "semiring.solvers.sparse.elimination"} & {*sys.modules}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["work", "list", "500.0"]


@pytest.mark.usefixtures("of_any_size")
def test_python_objects() -> None:
    """Languages, whose words do not commute: X = A X ⊕ B."""
    a, b, c = map(sr.letter, "abc")
    G = sr.Graph(np.array([0, 1, 0]), np.array([1, 2, 2]), 3, np.array([a, b, c], object))
    B = np.array([sr.regex.zero, sr.regex.zero, a], object)
    assert sr.plan("solve", G, B, sr.regex).method == "work list"
    assert list(map(str, sr.solve(G, B, sr.regex))) == ["ca|aba", "ba", "a"]


@pytest.mark.usefixtures("of_any_size")
@settings(max_examples=30)
@given(st.integers(1, 30), st.integers(0, 2**32 - 1), st.sampled_from(["f8", "f4", "i8", "i2"]))
def test_rows_are_those_of_the_search(n: int, seed: int, dtype: str) -> None:
    """To the bit; the predecessors are wanted so that the search runs."""
    random = np.random.default_rng(seed)
    edges = np.triu(random.random((n, n)) < 0.3, 1)
    order, weights = random.permutation(n), random.integers(-9, 9, (n, n))
    i, j = np.nonzero(edges[np.ix_(order, order)])
    A = sp.csr_array((weights[i, j].astype(dtype), (i, j)), shape=(n, n))
    sources = random.integers(0, n, 3)
    found, searched = sr.closure_rows(A, sr.max_plus, sources), sr.closure_rows(A, sr.max_plus, sources,
                                                                               predecessors=True)[0]
    assert found.dtype == searched.dtype and np.array_equal(found, searched)
    assert np.array_equal(sr.closure_rows(A, sr.max_plus, int(sources[0])), searched[0])


def chain(n: int, weight: float = 1.0) -> sp.csr_array:
    return sp.csr_array((np.full(n - 1, weight), (np.arange(n - 1), np.arange(1, n))), shape=(n, n))


def test_where_it_runs() -> None:
    n = 200
    A, b = chain(n), np.where(np.arange(n) == n - 1, 0.0, inf)
    around = chain(n).tolil()
    around[n - 1, 0] = 1.0
    assert sr.plan("solve", A, b, sr.min_plus).method == "substitution"
    assert sr.plan("solve", A, np.ones(n), sr.plus_times).method == "substitution"
    assert sr.plan("solve", around.tocsr(), b, sr.min_plus).method != "substitution"
    assert sr.plan("solve", chain(20), b[:20], sr.min_plus).method != "substitution", "small"
    assert sr.plan("closure_rows", A, sr.max_plus, sources=0).method == "substitution"
    best_first = ("breadth-first search", "label setting")  # as it is compiled or not
    assert sr.plan("closure_rows", A, sr.min_plus, sources=0).method in best_first, "no edge is better than 1"
    assert sr.plan("closure_rows", A, sr.max_plus, sources=0, predecessors=True).method == "label correcting"
    assert sr.plan("closure_rows", chain(200)[:, ::-1].T[:, ::-1].tocsr(), sr.max_plus, sources=0).run()[0] == 0
    shallow = sp.csr_array((np.ones(n - 1), (np.arange(n - 1), np.full(n - 1, n - 1))), shape=(n, n))
    assert sr.plan("closure_rows", shallow, sr.max_plus, sources=0).method == "label correcting"
    assert sr.solve(A, b, sr.min_plus).tolist() == list(range(n - 1, -1, -1))
    assert sr.closure_rows(A, sr.max_plus, 0).tolist() == list(range(n))


@pytest.mark.parametrize("loop", [None, 0.0, 1.0])
def test_closures_of_tasks(loop: float | None) -> None:
    """Arrays with a loop at each vertex are acyclic too, if loops weigh one; others are closed by a schedule."""
    random, n = np.random.default_rng(5), 300
    D = np.where(np.triu(random.random((n, n)) < 0.02, 1), random.integers(1, 9, (n, n)), -inf)
    order = random.permutation(n)
    D = D[np.ix_(order, order)]
    expected = sr.closure(D, sr.max_plus, method="r-kleene")
    if loop is not None:
        np.fill_diagonal(D, loop)
    plan = sr.plan("closure", D, sr.max_plus)
    assert (plan.method == "substitution") == (loop != 1.0)
    if loop == 1.0:
        with pytest.raises(sr.NoClosureError):
            sr.closure(D, sr.max_plus)
        return
    assert np.array_equal(sr.closure(D, sr.max_plus), expected)
    assert sr.plan("closure", D, sr.max_plus, reflexive=False).method == ("r-kleene" if loop == 0 else "substitution")
    place = np.argsort(order)
    D[place[299], place[3]] = -5.0
    assert sr.plan("closure", D, sr.max_plus).method != "substitution"
    cyclic = as_sparse(read(D, sr.max_plus))
    assert sr.plan("closure", cyclic, sr.max_plus).method != "substitution"


def test_names_refusals_and_progress() -> None:
    n = 150
    names = [f"v{i}" for i in range(n)]
    G = sr.Graph(np.arange(n - 1), np.arange(1, n), n, np.ones(n - 1), names)
    told: list[float] = []
    assert sr.solve(G, np.zeros(n), sr.max_plus, progress=told.append)[0] == n - 1 and told[-1] == 1
    assert sr.closure_rows(G, sr.max_plus, "v0").tolist() == list(range(n))
    with pytest.raises(sr.GraphError, match="no vertex is called 'v150'; did you mean"):
        sr.closure_rows(G, sr.max_plus, "v150")
    with pytest.raises(sr.SemiringError, match="B must have shape"):
        sr.solve(G, np.zeros(3), sr.max_plus)
    heavy = sp.csr_array((np.full(n - 1, 1e307), (np.arange(n - 1), np.arange(1, n))), shape=(n, n))
    assert sr.solve(heavy, np.zeros(n), sr.max_plus)[0] == inf
    small = sp.csr_array((np.full(n - 1, 100, np.int8), (np.arange(n - 1), np.arange(1, n))), shape=(n, n))
    with pytest.raises(sr.SemiringError, match="int8"):
        sr.closure_rows(small, sr.max_plus, 0)


@pytest.mark.usefixtures("machine_code", "of_any_size")
def test_machine_code_solves_the_same() -> None:
    A = chain(40) + sp.csr_array(([2.5], ([3], [30])), shape=(40, 40))
    B = np.random.default_rng(0).normal(size=(40, 3))
    expected = [B[39]]
    for i in range(38, -1, -1):
        expected.append(np.maximum(B[i], np.maximum(expected[-1] + 1, expected[39 - 30] + 2.5 if i == 3 else -inf)))
    assert np.array_equal(sr.solve(A, B, sr.max_plus), expected[::-1])
    assert sr.closure_rows(A, sr.max_plus, [0, 35])[:, 39].tolist() == [39, 4]


def test_levels() -> None:
    A = as_sparse(read(np.array([[inf, 1.0, 2.0], [inf, inf, inf], [inf, 3.0, inf]]), sr.min_plus)).rows
    height = heights_of(A)
    assert height is not None and height.tolist() == [2, 0, 1]
    found = levels_of(A, height)
    assert (found.order.tolist(), found.bounds.tolist()) == ([1, 2, 0], [0, 1, 2, 3])
    assert found.rows is A
    assert heights_of(as_sparse(read(np.zeros((1, 1)), sr.min_plus)).rows) is None


FAMILIES = families.families()


def close(x: np.ndarray, y: np.ndarray) -> bool:
    """Equal, or up to rounding for floats."""
    if x.dtype.names:
        return all(close(x[f], y[f]) for f in x.dtype.names)
    if x.dtype.kind in "fc":
        return np.allclose(x, y, rtol=1e-8, atol=1e-6)
    return x.tolist() == y.tolist()


def answer(call: Any) -> np.ndarray | None:
    """What a call returns, or None if it refuses."""
    try:
        return np.asarray(call())
    except sr.SemiringError:
        return None


def in_an_order(A: np.ndarray, B: np.ndarray, S: sr.Semiring, exists: bool) -> np.ndarray | None:
    """B ⊗ A* by a schedule with the vertices in the first order in which all stars exist, or in which one does not."""
    for order in map(np.array, permutations(range(len(A)))):
        closure = answer(lambda order=order: sr.closure(A[np.ix_(order, order)], S, method="floyd-warshall"))
        if (closure is not None) is exists:
            back = np.argsort(order)
            return None if closure is None else np.asarray(sr.matmul(B, closure[np.ix_(back, back)], S))
    raise AssertionError(f"in no order {'all stars exist' if exists else 'a star is missing'}")


@pytest.mark.usefixtures("of_any_size")
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.sampled_from(sorted(FAMILIES)), st.integers(0, 2**32 - 1), st.booleans())
@example("field of 9", 11884, False)
def test_generated_algebras(name: str, seed: int, reflexive: bool) -> None:
    """Acyclic and symmetric matrices, and equations from the left, against a schedule and a product.

    In a field it depends on the order of elimination which stars are taken, and sparse elimination has an order of its
    own: it may answer or refuse if some order does.
    """
    family, random, n = FAMILIES[name], np.random.default_rng(seed), 6
    S = family.declare(sr)
    assume(not S.product_only)
    dtype, below = np.dtype(S.element_dtype), np.tri(n, dtype=bool)
    A, B = (np.asarray(family.draw(random, 1, n, dtype)[0]) for _ in range(2))
    acyclic, symmetric, order = A.copy(), A.copy(), random.permutation(n)
    acyclic[below] = S.over(dtype).element(S.zero)
    symmetric[below] = symmetric.T[below]
    for C in (acyclic[np.ix_(order, order)], symmetric):
        expected = answer(lambda C=C: sr.closure(C, S, method="floyd-warshall", reflexive=reflexive))
        for M in (C, as_sparse(read(C, S))):
            found = answer(lambda M=M: sr.closure(M, S, reflexive=reflexive))
            assert (found is None) == (expected is None) and (found is None or close(found, expected))
    expected = answer(lambda: sr.matmul(B[:2], sr.closure(A, S, method="floyd-warshall"), S))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(costs, "least_to_eliminate", lambda low, A, enough: inf)
        for M in (A, as_sparse(read(A, S))):
            found, wanted = answer(lambda M=M: sr.solve(M, B[:2], S, left=True)), expected
            if (found is None) != (expected is None) and not S.idempotent:
                assert sr.plan("solve", M, B[:2], S, left=True).method == "sparse elimination"
                wanted = in_an_order(A, B[:2], S, found is not None)
            assert (found is None) == (wanted is None) and (found is None or close(found, wanted))
