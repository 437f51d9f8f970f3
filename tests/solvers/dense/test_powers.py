"""Walks of exactly, and of at most, so many edges against repeated products of the oracle, over every algebra."""

from __future__ import annotations

from typing import Any

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
import strategies
from bridge import CASES, ours
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.operands.convert import as_sparse
from semiring.operands.read import read
from semiring.solvers.dense import derived
from semiring.solvers.task import Task, options

inf = np.inf
SETTINGS = settings(max_examples=80)
NUMBERS = [c for c in CASES if c[1].kind != "O"]


def walks(S: oracle.Algebra, A: oracle.Matrix, k: int, at_most: bool) -> oracle.Matrix:
    one = oracle.identity(S, len(A))
    X = one
    for _ in range(k):
        X = oracle.matmul(S, A, X, len(A))
        X = oracle.matadd(S, one, X) if at_most else X
    return X


@SETTINGS
@given(st.sampled_from(NUMBERS), st.data(), st.integers(0, 6), st.booleans(), st.booleans())
def test_walks_are_the_oracles(case: Any, data: st.DataObject, k: int, sparse: bool, reflexive: bool) -> None:
    name, dtype = case
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    T = ours(S)
    assume(not T.product_only and T.absorbs)
    array = data.draw(strategies.matrices(S, dtype, data.draw(st.integers(0, 4)), safe=False))
    A = oracle.from_numpy(S, array)
    steps = [walks(S, A, i, True) for i in range(k + 1)] + [walks(S, A, i, False) for i in range(k + 1)]
    assume(all(oracle.fits(S, X, dtype) for X in steps))
    given_: Any = as_sparse(read(array, T)) if sparse else array
    expected = walks(S, A, k, True)
    if not reflexive:
        zero = oracle.from_numpy(S, np.asarray(oracle.to_numpy(S, [[S.zero] * len(A)] * len(A), dtype, array.shape)))
        expected = oracle.matmul(S, A, walks(S, A, k - 1, True), len(A)) if k else zero
    oracle.assert_same(S, expected, sr.closure(given_, T, max_edges=k, reflexive=reflexive))
    if not sparse:
        oracle.assert_same(S, walks(S, A, k, False), sr.power(array, T, k))


@pytest.mark.parametrize("S", [sr.min_plus, sr.plus_times, sr.boolean], ids=str)
def test_both_ways_give_the_same(S: sr.Semiring, monkeypatch: pytest.MonkeyPatch) -> None:
    """Squaring of 1 ⊕ A, and Horner's rule, which is chosen where A is sparse or ⊕ is not idempotent."""
    random = np.random.default_rng(3)
    A = np.where(random.random((20, 20)) < 0.1, random.integers(1, 5, (20, 20)), 0)
    stored = sp.csr_array(A.astype(bool if S is sr.boolean else float))
    dense = sr.closure(stored, S)[:0]  # the dtype
    array = as_sparse(read(stored, S)).array().astype(dense.dtype)
    for k in (0, 1, 2, 9):
        for reflexive in (True, False):
            asked = {"max_edges": k, "reflexive": reflexive}
            assert np.array_equal(sr.closure(stored, S, **asked), sr.closure(array, S, **asked))
    assert sr.plan("closure", stored, S, max_edges=2).method == "Horner's rule"
    wanted = "Horner's rule" if S is sr.plus_times else "repeated squaring"
    assert sr.plan("closure", array, S, max_edges=9).method == wanted


def test_it_exists_where_the_closure_does_not() -> None:
    A = np.array([[inf, -1.0], [-1.0, inf]])
    with pytest.raises(sr.NoClosureError):
        sr.closure(A, sr.min_plus)
    assert sr.closure(A, sr.min_plus, max_edges=3).tolist() == [[-2, -3], [-3, -2]]
    assert sr.closure(np.array([[2.0]]), sr.plus_times, max_edges=3).tolist() == [[15]]
    assert sr.power(A, sr.min_plus, 10**9).tolist() == [[-(10.0**9), inf], [inf, -(10.0**9)]]


@pytest.mark.parametrize("k", [0, 1, 2, 5])
def test_what_is_sparse_stays_so_and_names_survive(k: int) -> None:
    edges = [("a", "b", 3.0), ("b", "c", 4.0), ("c", "a", 5.0)]
    G, M = sr.as_graph(edges), sr.adjacency(edges, sr.min_plus)
    stored = sp.csr_array(([3.0, 4, 5], ([0, 1, 2], [1, 2, 0])), shape=(3, 3))
    for A, kind in ((G, sr.Graph), (M, sr.Matrix), (stored, sp.csr_array), (M.array, np.ndarray)):
        found = sr.power(A, sr.min_plus, k)
        assert type(found) is kind
        assert getattr(found, "names", None) == getattr(A, "names", None)
        array = np.asarray(sr.closure(found, sr.min_plus, max_edges=1, reflexive=False))
        assert np.array_equal(array, sr.power(M.array, sr.min_plus, k)), "the walk of one edge of the power"
    for A in (G, M):
        closed = sr.closure(A, sr.min_plus, max_edges=k)
        assert isinstance(closed, sr.Matrix) and closed.names == ["a", "b", "c"]
    for A, parts in ((M.array, np.asarray), (G, lambda A: A.weights), (stored, lambda A: A.data)):
        assert not np.shares_memory(parts(sr.power(A, sr.min_plus, k)), parts(A))
    stack = np.stack([M.array, M.array + 1])
    for A, found in zip(stack, sr.power(stack, sr.min_plus, k), strict=True):
        assert np.array_equal(found, sr.power(A, sr.min_plus, k))


@pytest.mark.parametrize("compile", ["never", "auto"])
@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_packed(k: int, compile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", compile)
    A = np.random.default_rng(1).random((70, 70)) < 0.02
    for given_ in (sr.pack(A), A, sp.csr_array(A)):
        found = sr.closure(given_, sr.boolean, max_edges=k, packed=True)
        assert isinstance(found, sr.PackedMatrix)
        assert np.array_equal(found.to_dense(), sr.closure(A, sr.boolean, max_edges=k))
    power = sr.power(sr.pack(A), sr.boolean, k)
    assert np.array_equal(power.to_dense(), np.linalg.matrix_power(A.astype(int), k) > 0)


def test_what_is_refused() -> None:
    A = np.array([[inf, 1.0], [1.0, inf]])
    for k in (-1, 2.5, None, True, "two"):
        with pytest.raises(sr.SemiringError, match="k must be a whole number of at least 0"):
            sr.power(A, sr.min_plus, k)  # type: ignore[arg-type]
    for k in (-1, 2.5, True):
        with pytest.raises(sr.SemiringError, match="max_edges must be a whole number, 0 or more"):
            sr.closure(A, sr.min_plus, max_edges=k)  # type: ignore[arg-type]
    with pytest.raises(sr.SemiringError, match="must be a square matrix"):
        sr.power(np.zeros((2, 3)), sr.min_plus, 2)
    with pytest.raises(sr.LawError, match="products but no closure"):
        sr.power(A, sr.plus_min, 2)
    with pytest.raises(sr.LawError, match=r"; sr.chain\(\[A\] \* k, S\) is a product of k factors, from the left$"):
        _ = sr.Matrix(A, sr.plus_min) ** 2
    for asked in ({"method": "squaring"}, {"tile": 4}):
        with pytest.raises(sr.SemiringError, match="closure with max_edges= has no option"):
            sr.closure(A, sr.min_plus, max_edges=2, **asked)
    with pytest.raises(sr.SemiringError, match="power needs k"):
        sr.plan("power", A, sr.min_plus)


def test_progress() -> None:
    told: list[float] = []
    sr.closure(np.array([[0.5]]), sr.plus_times, max_edges=4, progress=told.append)
    assert told == [0.25, 0.5, 0.75, 1]


def test_plans_count_products() -> None:
    A = np.full((4, 4), 1.0)
    for k, products in ((0, 0), (1, 0), (2, 1), (3, 2), (8, 3), (15, 6)):
        plan = sr.plan("power", A, sr.min_plus, k=k)
        assert plan.reasons["method"].startswith(f"{products} products: ") and plan.work == 64 * products
        made: list[Task] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(derived, "compute", lambda task, made=made: made.append(task) or A)
            derived._power(Task("power", sr.min_plus, (A,), options(), (k,)), read(A, sr.min_plus), k)
        assert len(made) == products


def test_the_algebra_is_that_of_the_matrix() -> None:
    M = sr.adjacency([("a", "b", 1.0), ("b", "a", 2.0)], sr.min_plus)
    assert np.array_equal(sr.power(M, k=3), sr.power(M, sr.min_plus, 3))
    with pytest.raises(sr.SemiringError, match=r"power needs k, the exponent: call power\(A, S, k\)"):
        sr.power(M, sr.min_plus)
    with pytest.raises(sr.SemiringError, match="power of ndarray needs an algebra"):
        sr.power(M.array, k=2)


@SETTINGS
@given(st.sampled_from([sr.min_plus, sr.max_plus]), st.data(), st.integers(0, 6), st.sampled_from("dsgp"),
       st.booleans())
def test_integers_may_leave_their_dtype_on_the_way(
    T: sr.Semiring, data: st.DataObject, k: int, form: str, reflexive: bool
) -> None:
    """What fits at the end is found, and what does not is refused, whatever sums there were before."""
    n, least = data.draw(st.integers(1, 3)), T is sr.min_plus
    weight = st.sampled_from([None, None, -120, -60, 0, 1, 60, 120])
    weights = [[data.draw(weight) for _ in range(n)] for _ in range(n)]
    limits, zero = np.iinfo("i1"), T.zero_in("i1")
    array = np.array([[zero if w is None else w for w in row] for row in weights], "i1")
    exact: Any = np.array([[T.zero if w is None else w for w in row] for row in weights], "f8")
    X = np.where(np.eye(n, dtype=bool), 0.0, T.zero)
    sums = [X]
    for _ in range(k):
        X = (np.min if least else np.max)(X[:, :, None] + exact[None], axis=1)
        sums.append(X)
    walked = sums if reflexive else [*sums[1:], np.full((n, n), T.zero)]
    expected = sums[-1] if form == "p" else (np.min if least else np.max)(walked, axis=0)
    i, j = np.nonzero(array != zero)
    G: Any = {"d": array, "p": array, "s": sp.csr_array((array[i, j], (i, j)), (n, n)),
              "g": sr.as_graph((i, j, array[i, j]), n)}[form]
    fits = bool(np.all(np.isinf(expected) | ((expected > limits.min) & (expected < limits.max))))
    ask = (lambda: sr.power(G, T, k)) if form == "p" else (lambda: sr.closure(G, T, max_edges=k, reflexive=reflexive))
    if not fits:
        with pytest.raises(sr.SemiringError, match="which int8 cannot hold"):
            ask()
        return
    answer = ask()
    if form == "g":  # ∞ is read of it as a float
        read = np.asarray(answer)
        assert read.dtype == (np.float64 if np.isinf(expected).any() else np.int8)
        assert np.array_equal(read, expected), (weights, k)
        answer = answer.array
    found = np.asarray(answer)
    assert found.dtype == np.int8
    assert np.array_equal(np.where(found == zero, T.zero, found.astype(float)), expected), (weights, k)


def test_sparse_powers_come_back_in_their_dtype() -> None:
    edges = sp.csr_array((np.array([100, 100, -120], "i1"), ([0, 1, 2], [1, 2, 3])), (4, 4))
    found = sr.power(edges, sr.min_plus, 3)
    assert sp.issparse(found) and found.dtype == np.int8 and found.toarray()[0, 3] == 80
    graph = sr.power(sr.as_graph([("a", "b", 100), ("b", "c", 100), ("c", "d", -120)], names="abcd"), sr.min_plus, 3)
    assert isinstance(graph, sr.Graph) and list(graph.edges()) == [("a", "d", 80)]


def test_products_are_checked_unless_the_caller_leaves_that_out() -> None:
    """Infinities of both signs meet in the real part of (1 + i)² for large numbers: there is no value, or NaN."""
    A = np.array([[1e200 + 1e200j]])
    for asked in (sr.power, lambda A, S, k, **more: sr.closure(A, S, max_edges=k, **more)):
        with pytest.raises(sr.SemiringError, match=r"no value at \[0, 0\]"):
            asked(A, sr.plus_times, 2)
        assert np.isnan(asked(A, sr.plus_times, 2, check=False)).all()


@pytest.mark.parametrize("k", [1, 3, 5])
def test_a_plan_counts_the_multiply_adds_of_all_columns(k: int) -> None:
    """In a ring an edge for each column; in its array, n² entries for each column and product."""
    n = 30
    ring = sp.csr_array((np.ones(n), (np.arange(n), np.roll(np.arange(n), 1))))
    for S in (sr.min_plus, sr.plus_times):
        assert sr.plan("closure", ring, S, max_edges=k).work == n * n * k
        dense = sr.plan("closure", ring.toarray(), S, max_edges=k)
        assert dense.work == n**3 * int(dense.reasons["method"].split()[0])
