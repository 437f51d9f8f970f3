"""Equations: factor, solve and the closure from factors, against closures and against the oracle."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
import strategies
from bridge import CASES, ours, same_bits, to_library
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algorithms import elimination
from semiring.kernels.lowering.general import general
from semiring.machine.interrupts import interruptible
from semiring.solvers.dense.fields import caller, is_for_lapack
from semiring.solvers.sparse import substitution

inf = np.inf
quick = settings(max_examples=12, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize(("name", "dtype"), CASES, ids=str)
def test_least_solutions_are_the_oracles(name: str, dtype: np.dtype) -> None:
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    T = ours(S)

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        A = data.draw(strategies.matrices(S, dtype))
        m = data.draw(st.integers(0, 3))
        B = data.draw(strategies.matrices(S, dtype, (A.shape[0], m)))
        a, b = oracle.from_numpy(S, A), oracle.from_numpy(S, B)
        assume(not (S.selective and oracle.has_improving_cycle(S, a)))
        try:
            star = oracle.closure_by_elimination(S, a)
        except (oracle.Undefined, OverflowError):
            assume(False)
        X = oracle.matmul(S, star, b, m)
        assume(oracle.fits(S, star, dtype) and oracle.fits(S, X, dtype))
        left, right = (data.draw(strategies.views(to_library(S, x))) for x in (A, B))
        before = left.copy(), right.copy()
        got = sr.solve(left, right, T)
        assert got.shape == B.shape
        # The matrix has larger numbers than the solution where sums cancel, and errors are relative to the largest.
        oracle.assert_same(S, X, got, f"A = {A!r}, B = {B!r}")
        iterated = oracle.solve_by_iteration(S, a, b, 30) if A.size and m else None
        if iterated is not None and not S.ulps:
            oracle.assert_same(S, iterated, got, f"A = {A!r}, B = {B!r}")
        assert (left == before[0]).all() and (right == before[1]).all(), "an operand was changed"

    check()


FEW = [
    ("min_plus", "f8"),
    ("min_plus", "f4"),
    ("min_plus", "f2"),
    ("min_plus", "i4"),
    ("max_plus", "i2"),
    ("max_min", "f4"),
    ("boolean", "?"),
    ("plus_times", "f8"),
    ("log", "f8"),
    ("counting", "i8"),
    ("mod_p", "i4"),
    ("viterbi", "f8"),
    ("bitset_may", "u2"),
]


def acyclic(S: sr.Semiring, dtype: np.dtype, n: int, random: np.random.Generator) -> np.ndarray:
    """A strictly upper triangular matrix: whatever the algebra, it has a closure."""
    pool = S.samples()
    pool = (pool[np.isfinite(pool)] if pool.dtype.kind == "f" else pool).astype(dtype)
    if dtype.kind == "i" and S.is_tropical:
        pool = np.arange(1, 9).astype(dtype)
    A = random.choice(pool, (n, n))
    few = 0.97 if S is sr.counting else 0.8  # of all walks, whose number 64 bits hold
    A[(random.random((n, n)) < few) | (np.tri(n, dtype=bool))] = S.zero_in(dtype)
    return A


@pytest.mark.parametrize(("name", "dtype"), FEW)
@pytest.mark.parametrize("n", [1, 63, 65, 130])
def test_factors_hold_for_more_than_one_tile(name: str, dtype: str, n: int) -> None:
    S, random = sr.catalogue[name], np.random.default_rng(n)
    A = acyclic(S, np.dtype(dtype), n, random)
    order = random.permutation(n)
    A = A[np.ix_(order, order)]
    F = sr.factor(A, S)
    closed = sr.closure(A, S)
    exact = np.array_equal if A.dtype.kind != "f" or S.selective else close
    assert exact(F.closure(), closed)
    B = A[:, : min(n, 5)]
    X = F.solve(B)
    assert exact(X, sr.matmul(closed, B, S))
    assert exact(X, sr.matmul(A, X, S, accumulate=B)), "X = A X ⊕ B"
    assert exact(F.solve(B[:, 0]), X[:, 0])
    assert exact(F.closure(), closed), "solving leaves the factors as they are"
    assert exact(F.solve(S.eye(n, A.dtype)), closed)
    assert X.dtype == F.closure().dtype == A.dtype
    assert repr(F) == f"Factors of a {n} × {n} matrix over {S.name}, {np.dtype(dtype)}"


def close(x: np.ndarray, y: np.ndarray) -> bool:
    return bool(np.allclose(x, y, rtol=1e-9, atol=1e-12))


def test_cycles_in_large_systems() -> None:
    random = np.random.default_rng(2)
    n = 150
    lengths = np.where(random.random((n, n)) < 0.05, random.integers(0, 50, (n, n)), np.inf)
    flows = random.random((n, n)) / n
    B = random.random((n, 4))
    for S, A in ((sr.min_plus, lengths), (sr.plus_times, flows), (sr.log, np.log(flows))):
        X = sr.solve(A, B, S)
        assert np.allclose(sr.matmul(sr.closure(A, S), B, S), X, rtol=1e-9)
        assert np.allclose(sr.matmul(A, X, S, accumulate=B), X, rtol=1e-9)
    assert np.allclose(sr.solve(flows, B, sr.plus_times), np.linalg.solve(np.eye(n) - flows, B))


def test_expressions_do_not_commute() -> None:
    """X = A X ⊕ B over regular expressions: Arden's rule, with the words in the order of the edges."""
    a, b, c = map(sr.letter, "abc")
    none = sr.regex.zero
    A = np.array([[a, b], [none, c]], object)
    B = np.array([none, sr.regex.one], object)
    X = sr.solve(A, B, sr.regex)
    for word, first, second in [
        ("abcc", True, False),
        ("b", True, False),
        ("ba", False, False),
        ("cb", False, False),
        ("", False, True),
        ("cc", False, True),
        ("aab", True, False),
        ("ac", False, False),
    ]:
        assert X[0].matches(word) is first, word
        assert X[1].matches(word) is second, word
    F = sr.factor(A, sr.regex)
    assert (F.closure() == sr.closure(A, sr.regex)).all()
    assert (F.solve(np.stack([B, B], axis=1))[:, 1] == X).all()


def test_records() -> None:
    S = sr.shortest_hops
    A = np.full((3, 3), S.zero_in(S.default_dtype))
    A[0, 1], A[1, 2], A[0, 2] = (1.0, 1), (1.0, 1), (2.0, 1)
    B = np.full(3, S.zero_in(S.default_dtype))
    B[2] = S.one_in(S.default_dtype)
    assert sr.solve(A, B, S).tolist() == [(2.0, 1.0), (1.0, 1.0), (0.0, 0.0)]
    k = sr.k_best(3)
    A = np.full((2, 2), k.zero_in(k.default_dtype))
    A[0, 0], A[0, 1] = (1, inf, inf), (2, inf, inf)
    B = np.array([k.zero_in(k.default_dtype), k.one_in(k.default_dtype)])
    assert sr.solve(A, B, k).tolist() == [(2.0, 3.0, 4.0), (0.0, inf, inf)]


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u4"])
def test_right_hand_sides_much_larger_than_the_matrix(dtype: str) -> None:
    """The matrix was factored before the right-hand side was known."""
    top = np.iinfo(dtype).max
    A = np.array([[top, 3, top], [top, top, 4], [0, top, top]], dtype)
    large = top - 20 if dtype != "i8" else 2**56
    B = np.array([top, large, top], dtype)
    F = sr.factor(A, sr.min_plus)
    assert F.solve(B).tolist() == [large + 3, large, large + 3]
    small = np.array([top, 1, top], dtype)
    assert F.solve(small).tolist() == [4, 1, 4]
    if dtype != "i8":
        with pytest.raises(sr.SemiringError, match="cannot hold"):
            F.solve(np.array([top, top - 2, top], dtype))


def test_right_hand_sides_that_leave_64_bits() -> None:
    """They are solved in Python's integers."""
    top, low = np.iinfo("i8").max, np.iinfo("i8").min
    A = np.array([[top, 3], [0, top]])
    F = sr.factor(A, sr.min_plus)
    assert F.solve(np.array([top, top - 10])).tolist() == [top - 7, top - 10]
    assert F.solve(np.array([[top, 1], [top - 10, 5]])).tolist() == [[top - 7, 1], [top - 10, 1]]
    with pytest.raises(sr.SemiringError, match="cannot hold"):
        F.solve(np.array([top, top - 2]))
    assert F.solve(np.array([top, low])).tolist() == [low, low]
    assert F.solve(np.array([top, top])).tolist() == [top, top]
    large = np.array([[top, 2**58], [top, top]])
    assert sr.solve(large, np.array([top, 2**60]), sr.min_plus).tolist() == [2**60 + 2**58, 2**60]
    mirrored = np.array([[low, -3], [0, low]])
    assert sr.solve(mirrored, np.array([low, low + 10]), sr.max_plus).tolist() == [low + 7, low + 10]


def test_zero_cycles_do_not_let_rounding_grow() -> None:
    """Differences of potentials: cycles weigh 0 but for rounding, and elimination doubles errors at each pivot."""
    random = np.random.default_rng(1)
    height = random.normal(size=90) * 1e3
    A = np.nextafter(np.nextafter(height[:, None] - height, inf), inf)
    B = np.full((90, 2), inf)
    B[[3, 70], [0, 1]] = 0
    expected = (height[:, None] - height)[:, [3, 70]]
    F = sr.factor(A, sr.min_plus)
    assert np.allclose(F.solve(B), expected, rtol=0, atol=1e-9)
    assert np.allclose(F.solve(B[:, 0]), expected[:, 0], rtol=0, atol=1e-9)
    assert np.allclose(F.closure(), height[:, None] - height, rtol=0, atol=1e-9)


def test_minus_infinity_on_the_right() -> None:
    A = np.array([[inf, 3.0], [inf, inf]])
    assert sr.solve(A, np.array([inf, -inf]), sr.min_plus).tolist() == [-inf, -inf]
    least = np.iinfo("i4").min
    top = np.iinfo("i4").max
    A = np.array([[top, 3], [top, top]], "i4")
    assert sr.solve(A, np.array([top, least], "i4"), sr.min_plus).tolist() == [least, least]


def test_right_hand_sides_of_other_kinds() -> None:
    A = np.array([[inf, 3.0], [inf, inf]])
    assert sr.solve(A, [inf, 1.0], sr.min_plus).tolist() == [4, 1]
    roads = sr.adjacency([("a", "b", 3.0)], sr.min_plus)
    assert sr.solve(roads, np.array([inf, 1.0]), sr.min_plus).tolist() == [4, 1]
    assert sr.factor(roads, sr.min_plus).closure()["a", "b"] == 3


@pytest.mark.parametrize(("B", "message"), [
    (np.zeros(3), r"B must have shape \(2,\) or \(2, m\), and has \(3,\)"),
    (np.zeros((1, 2, 2)), r"B must have shape"),
    (np.float64(1), r"B must have shape"),
    (np.zeros(2, "f4"), "A is float64 and B is float32; convert"),
    (np.array([0, np.nan]), r"B\[1\] is NaN"),
])
def test_bad_right_hand_sides(B: np.ndarray, message: str) -> None:
    with pytest.raises(sr.SemiringError, match=message):
        sr.solve(np.full((2, 2), inf), B, sr.min_plus)


@pytest.mark.parametrize(("B", "message"), [
    (np.zeros(7), r"B must have shape \(2,\) or \(2, m\), and has \(7,\)"),
    (np.zeros(2, "f4"), "A is float64 and B is float32; convert"),
    (np.array([0, np.nan]), r"B\[1\] is NaN"),
])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_bad_right_hand_sides_are_refused_before_anything_is_eliminated(
    kind: Callable, B: np.ndarray, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def eliminated(*_: Any) -> None:
        raise AssertionError("it was eliminated")

    monkeypatch.setattr(elimination, "factor", eliminated)
    monkeypatch.setattr(substitution, "eliminate", eliminated)
    A = kind(np.array([[0.0, 2.0], [3.0, 0.0]]))
    for call in (lambda: sr.solve(A, B, sr.min_plus), lambda: sr.plan("solve", A, B, sr.min_plus)):
        with pytest.raises(sr.SemiringError, match=message):
            call()


@pytest.mark.parametrize("kind", ["dense", "packed"])
def test_an_order_is_for_sparse_matrices(kind: str) -> None:
    A = sr.pack(np.eye(2, dtype=bool)) if kind == "packed" else np.eye(2, dtype=bool)
    for call in (sr.factor, lambda *a, **o: sr.plan("factor", *a, **o)):
        with pytest.raises(sr.SemiringError, match="order is for sparse matrices and graphs"):
            call(A, sr.boolean, order="natural")
        call(A, sr.boolean, order="auto")


def test_names_are_those_that_both_have() -> None:
    """The answer has A's rows and B's columns, as a product has."""
    W = np.array([[inf, 3.0, 9.0], [inf, inf, 4.0], [1.0, inf, inf]])
    M, N, X, none = (sr.Matrix(W, sr.min_plus, names) for names in (list("abc"), list("abc"), list("xyz"), None))
    graph = sr.as_graph([("a", "b", 3.0), ("a", "c", 9.0), ("b", "c", 4.0), ("c", "a", 1.0)])
    expected = sr.solve(W, W, sr.min_plus)
    for A in (M, W, none, graph, sp.csr_array(np.where(np.isinf(W), 0, W))):
        if getattr(A, "names", None) is not None:
            for call in (sr.solve, sr.matmul, lambda A, B, S: sr.factor(A, S).solve(B)):
                with pytest.raises(sr.GraphError, match="A and B have different vertices: 'a' is in A and not in B"):
                    call(A, X, sr.min_plus)
        for B in (N, none, W) if getattr(A, "names", None) is not None else (N, X, none, W):
            solved, product = sr.solve(A, B, sr.min_plus), sr.matmul(A, B, sr.min_plus)
            later = sr.factor(A, sr.min_plus).solve(B)
            for found in (solved, later):
                assert type(found) is type(product)
                assert getattr(found, "names", None) == getattr(product, "names", None)
                np.testing.assert_array_equal(np.asarray(found), expected)


def test_empty_systems() -> None:
    A = np.empty((0, 0))
    assert sr.solve(A, np.empty(0), sr.min_plus).shape == (0,)
    assert sr.solve(A, np.empty((0, 3)), sr.min_plus).shape == (0, 3)
    assert sr.solve(np.full((2, 2), inf), np.empty((2, 0)), sr.min_plus).shape == (2, 0)
    assert same_bits(sr.factor(A, sr.min_plus).closure(), A)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("exchanged", [False, True])
def test_the_field_by_lapack(dtype: str, exchanged: bool) -> None:
    """Whether rows are exchanged or not, it is the inverse."""
    n = 150
    random = np.random.default_rng(3)
    A = (random.normal(size=(n, n)) / np.sqrt(n) if exchanged else random.random((n, n)) / (2 * n)).astype(dtype)
    B = random.normal(size=(n, 3)).astype(dtype)
    F = sr.factor(A, sr.plus_times)
    assert F._decomposition is not None and F._decomposition.decomposition.transposed != exchanged
    tolerance = 1e-4 if dtype in ("f4", "c8") else 1e-12
    inverse = np.linalg.inv(np.eye(n) - A.astype("c16"))
    for found, expected in ((F.solve(B), inverse @ B), (F.solve(B[:, 0]), inverse @ B[:, 0]), (F.closure(), inverse),
                            (sr.solve(A, B, sr.plus_times), inverse @ B), (sr.closure(A, sr.plus_times), inverse)):
        assert found.dtype == A.dtype
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def test_numbers_that_overflow_spread_to_nothing_that_they_do_not_lead_to() -> None:
    n = 80
    A = np.zeros((n, n))
    A[0, 1] = 2.0
    b = np.full(n, 1.0)
    b[1] = 1.7e308
    found = sr.factor(A, sr.plus_times, check=False).solve(b)
    assert found[0] == np.inf and np.array_equal(found[1:], b[1:])


@given(st.integers(32, 48), st.sampled_from(["f4", "f8", "c8", "c16"]), st.integers(0, 2**32 - 1))
@quick
def test_factors_of_a_matrix_that_changes_stay_its_factors(n: int, dtype: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    A = (np.diag(random.random(n) / 4) + np.triu(random.random((n, n)) / n, 1) * (random.random((n, n)) < 0.1))
    A = A.astype(dtype)
    big = np.ones(n, dtype)
    big[n // 2] = np.finfo(dtype).max * 0.9
    kept = A.copy()
    for check in (True, False):
        F, G = sr.factor(A, sr.plus_times, check=False), sr.factor(kept, sr.plus_times, check=False)
        A[:] = np.eye(n) * 0.9 if check else np.nan
        np.testing.assert_array_equal(F.solve(big), G.solve(big))
        np.testing.assert_array_equal(F.closure(), G.closure())
        A[:] = kept


def test_factors_after_their_matrix_changed_where_numbers_overflow() -> None:
    n = 40
    A = np.diag(np.r_[0.5, np.full(n - 1, 0.25)])
    F = sr.factor(A, sr.plus_times)
    A[:] = np.eye(n) * 0.9
    b = np.ones(n)
    b[0] = 1.7e308
    np.testing.assert_allclose(F.solve(b), np.r_[inf, np.full(n - 1, 4 / 3)])


@pytest.mark.parametrize(("dtype", "n", "short"), [
    ("f8", 1, True), ("f8", 4096, True), ("f8", 4097, False), ("f4", 5160, True), ("f4", 5161, False),
    ("c16", 2580, True), ("c16", 2581, False), ("c8", 3250, True), ("c8", 3252, False),
])
def test_interrupts_are_heard_where_a_call_of_lapack_is_long(dtype: str, n: int, short: bool) -> None:
    """An interrupt waits for the end of that call, and complex numbers take four times as long as real ones."""
    low = general(sr.plus_times, np.dtype(dtype))
    assert is_for_lapack(low) and (caller(low, n) is interruptible) != short
    assert not is_for_lapack(general(sr.min_plus, np.dtype("f8")))


@pytest.mark.parametrize("verb", ["factor", "solve"])
def test_plans_say_who_eliminates(verb: str) -> None:
    A = np.full((40, 40), 0.01)
    given = (A, np.ones(40)) if verb == "solve" else (A,)
    assert "(by LAPACK, with exchange of rows)" in str(sr.plan(verb, *given, sr.plus_times))
    assert "(an LU decomposition)" in str(sr.plan(verb, *given, sr.min_plus))


def test_a_pivot_of_one_is_refused_at_every_size() -> None:
    for n in (3, 40, 200):
        A = np.full((n, n), 0.01 / n)
        A[n - 2, :] = 0
        A[n - 2, n - 2] = 1
        for verb in (sr.closure, sr.factor, lambda A, S, n=n: sr.solve(A, np.ones(n), S)):
            with pytest.raises(sr.NoClosureError, match="I − A is singular") as refused:
                verb(A, sr.plus_times)
            assert (refused.value.vertex, refused.value.cycle, refused.value.weight) == (n - 2, [n - 2, n - 2], 1.0)


PICKLED = {
    "by LAPACK": (sr.plus_times, np.full((40, 40), 0.01)),
    "by the schedule": (sr.plus_times, np.full((9, 9), 0.01, "f4")),
    "of integers": (sr.min_plus, np.array([[2**31 - 1, 3, 9], [1, 2**31 - 1, 4], [5, 6, 2**31 - 1]], "i4")),
    "of narrow integers": (sr.min_plus, np.array([[250, 3], [7, 255]], "u1")),
    "that compare": (sr.max_min, np.arange(64.0).reshape(8, 8)),
    "of truth values": (sr.boolean, np.eye(5, k=1, dtype=bool)),
    "of records": (sr.shortest_count, sr.shortest_count.array([[(1, 1), (2, 1)], [(3, 1), (1, 2)]])),
    "of a stack": (sr.min_plus, np.arange(8.0).reshape(2, 2, 2)),
    "of an empty matrix": (sr.min_plus, np.empty((0, 0))),
    "of sparse edges": (sr.min_plus, sp.csr_array(np.diag(np.arange(1.0, 30.0), 1))),
    "of a matrix with names": (sr.min_plus, sr.adjacency([("a", "b", 1.0), ("b", "c", 2.0)], sr.min_plus)),
    "whose rounding grew": (sr.min_plus, np.array([[0.0, 0.1, 7], [-0.1, 0.0, 0.3], [9, -0.3, 0.0]])),
}


@pytest.mark.parametrize("case", PICKLED)
def test_factors_are_pickled(case: str) -> None:
    S, A = PICKLED[case]
    F = sr.factor(A, S)
    assert copy.deepcopy(F) is F is copy.copy(F)
    for G in (pickle.loads(pickle.dumps(F)), pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(F))))):
        assert type(G) is type(F) and repr(G) == repr(F) and repr(G.plan) != ""
        assert np.array_equal(np.asarray(G.closure()), np.asarray(F.closure()))
        B = np.asarray(F.closure())
        assert np.array_equal(G.solve(B), F.solve(B))


def test_a_plan_is_not_pickled() -> None:
    plan = sr.plan("closure", np.eye(3), sr.min_plus)
    for twin in (copy.deepcopy(plan), copy.copy(plan)):
        assert twin is not plan and str(twin) == str(plan)
    with pytest.raises(pickle.PicklingError, match=r"call sr\.plan where you read them"):
        pickle.dumps(plan)
