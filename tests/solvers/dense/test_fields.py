"""Closures over the reals against inverses of more digits, in every way to ask; what rounding hides is refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from reals import METHODS, asked, differs, drawn

import semiring as sr
from semiring.kernels.lowering.general import general
from semiring.operands.dense import Dense
from semiring.solvers.dense import factors


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1))
def test_whatever_is_asked_is_the_inverse(seed: int) -> None:
    """Integers, fractions, signs, pivots that cancel, real and complex: no refusal, and no error but rounding."""
    random = np.random.default_rng(seed)
    case = drawn(random, 40)
    for way, ask, expected in asked(case, random):
        assert differs(case, ask(), expected) <= 1, way


def test_factors_of_which_one_residual_is_more_than_rounding_are_refined() -> None:
    random = np.random.default_rng(748224)
    case = drawn(random, 200)
    asked_for = [x for x in asked(case, random) if x[0] == "solve a sparse matrix, left"]
    for way, ask, expected in asked_for:
        assert differs(case, ask(), expected) <= 1, way
    assert len(asked_for) == 1


@pytest.mark.parametrize("kind", ["array", "stack", "sparse"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_weights_of_acyclic_graphs_may_be_as_large_as_numbers(dtype: str, kind: str) -> None:
    most = np.finfo(dtype).max
    for w in (most, most / 2, most**0.9, 1e10):
        for at in ((0, 1), (1, 0), (2, 0)):
            A = np.zeros((3, 3), dtype)
            A[at] = w
            given = {"array": A, "stack": A[None], "sparse": sp.csr_array(A)}[kind]
            for X in (sr.closure(given, sr.plus_times), sr.solve(given, np.eye(3, dtype=dtype), sr.plus_times)):
                right = np.eye(3, dtype=dtype) + A
                np.testing.assert_allclose(np.asarray(X).reshape(3, 3), right, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 40])
def test_a_chain_that_nothing_leaves_is_refused_in_every_way(dtype: str, n: int) -> None:
    P = np.full((n, n), 1 / n).astype(dtype)
    b = np.ones(n, dtype)
    edges = sr.as_graph([(i, j, x) for (i, j), x in np.ndenumerate(P)])
    for A in (P, edges) if dtype == "f2" else (P, sp.csr_array(P), edges):
        for ask in (
            lambda A=A: sr.closure(A, sr.plus_times), lambda A=A: sr.factor(A, sr.plus_times),
            lambda A=A: sr.solve(A, b, sr.plus_times), lambda A=A: sr.solve(A, b, sr.plus_times, left=True),
        ):
            with pytest.raises(sr.NoClosureError, match=r"I − A( of matrix 0 of the stack)? is singular"):
                ask()
    for method in METHODS:
        with pytest.raises(sr.NoClosureError, match="singular"):
            sr.closure(P, sr.plus_times, method=method)
    with pytest.raises(sr.NoClosureError, match="matrix 1 of the stack is singular"):
        sr.closure(np.stack([P * 0, P]), sr.plus_times)
    exists = sr.closure(np.stack([P * 0, P]), sr.plus_times, on_divergence="mask").exists
    assert exists.tolist() == [True, False]
    ends = sr.closure((P * 0.75).astype(dtype), sr.plus_times)
    np.testing.assert_allclose(ends.sum(1), 4, rtol=max(float(np.finfo(dtype).eps) * 8 * n, 1e-12))


@given(st.integers(2, 30), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_random_chains_that_nothing_leaves(n: int, seed: int) -> None:
    P = np.random.default_rng(seed).random((n, n))
    P /= P.sum(1, keepdims=True)
    with pytest.raises(sr.NoClosureError):
        sr.closure(P, sr.plus_times)
    log = np.log(P)
    assert np.isposinf(sr.closure(log, sr.log)).all()
    assert np.isposinf(sr.solve(log, np.zeros(n), sr.log)).all()
    edges = sr.as_graph([(i, j, x) for (i, j), x in np.ndenumerate(log)])
    assert np.isposinf(np.asarray(sr.closure(edges, sr.log))).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_over_log_only_what_passes_the_endless_part_is_infinite(sparse: bool) -> None:
    P = np.zeros((6, 6))
    P[0, 1], P[1:4, 1:4], P[3, 4], P[5, 0], P[4, 4] = 1e-30, 1 / 3, 0.5, 0.5, 0.2
    A = np.log(P, where=P > 0, out=np.full(P.shape, -np.inf))
    given = sr.as_graph([(i, j, A[i, j]) for i, j in np.argwhere(P > 0).tolist()]) if sparse else A
    expected = np.full((6, 6), -np.inf)
    expected[np.ix_([0, 1, 2, 3, 5], [1, 2, 3, 4])] = np.inf
    expected[[0, 5], [0, 5]] = 0
    expected[5, 0], expected[4, 4] = np.log(0.5), np.log(1.25)
    b = np.full(6, -np.inf)
    b[4] = 0
    for method in ("auto", "r-kleene", "elimination"):
        np.testing.assert_allclose(np.asarray(sr.closure(given, sr.log, method=method)), expected)
    F = sr.factor(given, sr.log)
    np.testing.assert_allclose(np.asarray(F.closure()), expected)
    np.testing.assert_allclose(F.rows([0, 4]), expected[[0, 4]])
    for found in (F.solve(b), sr.solve(given, b, sr.log)):
        np.testing.assert_allclose(np.asarray(found), expected[:, 4])
    assert sr.closure(np.array([[-1e-14]]), sr.log)[0, 0] < 33  # a star of its own, which is known


def test_expectations_are_those_of_dual_numbers() -> None:
    """The pivots of the first part cancel as those of its own matrix do."""
    S, random = sr.expectation, np.random.default_rng(0)
    for n in (1, 2, 5, 20, 130):
        P, R = random.integers(-3, 4, (n, n)) / 3, random.integers(-3, 4, (n, n)) / 2
        P = (np.ones((n, n)) - np.eye(n)) / 10 if n == 20 else P
        X = np.linalg.inv(np.eye(n) - P)
        A, B = np.empty((n, n), S.element_dtype), np.empty((n, 2), S.element_dtype)
        A["p"], A["r"], B["p"], B["r"] = P, R, random.random((n, 2)), random.random((n, 2))
        p = X @ B["p"]
        left = B["p"].T @ X
        F = sr.factor(A, S)
        for found, first, second in (
            (sr.closure(A, S), X, X @ R @ X), (sr.closure(A, S, method="r-kleene", tile=4), X, X @ R @ X),
            (sr.closure(np.stack([A, A]), S)[1], X, X @ R @ X), (F.closure(), X, X @ R @ X),
            (F.rows([0]), X[[0]], (X @ R @ X)[[0]]), (F.solve(B), p, X @ (B["r"] + R @ p)),
            (sr.solve(A, B, S), p, X @ (B["r"] + R @ p)),
            (sr.solve(A, B.T.copy(), S, left=True), left, (B["r"].T + left @ R) @ X),
        ):
            np.testing.assert_allclose(found["p"], first, rtol=0, atol=1e-9 * np.abs(X).max())
            np.testing.assert_allclose(found["r"], second, rtol=0, atol=1e-9 * np.abs(X).max() ** 2 * n)
    A["p"] = 1 / n
    with pytest.raises(sr.NoClosureError, match="singular within the rounding of float64"):
        sr.closure(A, S)


@pytest.mark.parametrize("star", [
    lambda a: 1 / (1 - a), lambda a: -1 / (a - 1), lambda a: np.where(a == 1, np.nan, (1 - a) ** -1.0),
    lambda a: 1 + a / (1 - a),
])
def test_the_field_is_recognised_however_its_star_is_written(star: object) -> None:
    S = sr.Semiring("mine", "(R, +, ×)", add=np.add, mul=np.multiply, zero=0, one=1, star=star, carrier=np.isfinite)
    assert general(S, np.dtype("f8")).inverts
    np.testing.assert_allclose(sr.closure(np.array([[1.0, 1.0], [1.0, 0.0]]), S), [[-1, -1], [-1, 0]])


def test_sums_of_what_is_never_negative_are_no_field() -> None:
    S = sr.Semiring("rates", "([0, ∞], +, ×)", add=np.add, mul=np.multiply, zero=0, one=1, carrier=lambda a: a >= 0,
                    star=lambda a: np.where(a < 1, 1 / (1 - a), np.inf))
    assert not general(S, np.dtype("f8")).inverts


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [2, 40])
def test_where_a_pivot_of_factors_has_no_star_the_closure_solves(n: int, dtype: str) -> None:
    """As on a GPU, whose factors are made without exchange of rows."""
    A = np.eye(n, dtype=dtype) * 0.25
    A[:2, :2] = [[1, 1], [1, 0]]
    X, B = np.linalg.inv(np.eye(n) - A), np.ones((n, 3), dtype)
    F = factors.of_closure(Dense(A, sr.plus_times), np.zeros_like(A))
    del F._star
    F._eliminate(False, lambda: pytest.fail("a pivot has no star"))
    np.testing.assert_allclose(F.solve(B), X @ B, rtol=1e-5)
    np.testing.assert_allclose(F.closure(), X, rtol=1e-5)
