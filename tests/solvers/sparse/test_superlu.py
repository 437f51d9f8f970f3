"""Sparse equations by SuperLU, against exact fractions and the other solvers; what is singular is refused."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sparse_patterns import Edges, patterns, touched

import semiring as sr
from semiring.operands.read import read
from semiring.solvers.sparse import elimination
from semiring.solvers.sparse.analysis import analysis_of, lowering_of
from semiring.solvers.sparse.elimination import decomposed, envelope, filled


def solved(A: list[list[Fraction]], b: list[Fraction]) -> list[Fraction] | None:
    """X = A X + b by Gauss's algorithm with exchanges, or None where there is not one solution."""
    n = len(A)
    rows = [[Fraction(i == j) - A[i][j] for j in range(n)] + [b[i]] for i in range(n)]
    for k in range(n):
        found = next((i for i in range(k, n) if rows[i][k]), None)
        if found is None:
            return None
        rows[k], rows[found] = rows[found], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(n):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[n] for row in rows]


def lu_of(A: sp.csr_array) -> Any:
    given = read(A, sr.plus_times, "A")
    return decomposed(given, lowering_of(given, room=True))


@settings(max_examples=60)
@given(st.integers(1, 7), st.integers(0, 2**32 - 1), st.sampled_from(["f4", "f8", "c8", "c16"]),
       st.sampled_from([2, 8, 32]), st.floats(0, 1))
def test_solutions_are_those_of_fractions(n: int, seed: int, dtype: str, scale: int, density: float) -> None:
    random = np.random.default_rng(seed)
    whole = random.integers(-4, 5, (n, n)) * (random.random((n, n)) < density)
    b = random.integers(-4, 5, n)
    A = sp.csr_array((whole / scale).astype(dtype))
    exact = solved([[Fraction(int(x), scale) for x in row] for row in whole], [Fraction(int(x)) for x in b])
    if exact is None:
        with pytest.raises(sr.NoClosureError, match="singular"):
            lu_of(A)
        return
    lu = lu_of(A)
    expected = np.array([float(x) for x in exact])
    error = np.abs(lu.solve(b.astype(dtype)) - expected).max()
    condition = np.linalg.cond(np.eye(n) - A.toarray())
    assert error <= 1e4 * np.finfo(dtype).eps * n * (1 + np.abs(expected).max()) * condition


def ring(n: int, dtype: str = "f8") -> sp.csr_array:
    """Every vertex leads on to two others."""
    i = np.arange(n)
    columns = np.stack([(i + 1) % n, (i * 7 + 3) % n]).ravel()
    return sp.csr_array((np.linspace(0.1, 0.4, 2 * n).astype(dtype), (np.tile(i, 2), columns)), (n, n))


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_it_solves_what_came_in(dtype: str) -> None:
    A = ring(300, dtype)
    plan = sr.plan("solve", A, np.ones(300, dtype), sr.plus_times)
    assert plan.method == "SuperLU" and "SuperLU" in str(plan)
    B = np.random.default_rng(0).normal(size=(300, 3)).astype(dtype)
    expected = np.linalg.solve(np.eye(300) - A.toarray().astype("c16"), B)
    tolerance = 1e-4 if dtype in ("f4", "c8") else 1e-12
    for right, wanted in ((B, expected), (B[:, 1], expected[:, 1]), (B[:, :0], expected[:, :0])):
        found = sr.solve(A, right, sr.plus_times)
        assert found.dtype == np.dtype(dtype) and found.shape == right.shape
        np.testing.assert_allclose(found, wanted, atol=tolerance)
    told: list[float] = []
    sr.solve(A, B, sr.plus_times, progress=told.append)
    assert told[-1] == 1.0 and told == sorted(told)


def test_others_take_what_it_leaves() -> None:
    """Numbers that overflow; where a pivot is 1, or cancels, rows are exchanged."""
    b = np.ones(4)
    no_star = sp.csr_array(np.diag([0.5, 1.0, 0.5, 0.5]))
    with pytest.raises(sr.NoClosureError, match="I − A is singular: going round the cycle 1 → 1"):
        sr.solve(no_star, b, sr.plus_times)
    found = sr.solve(sp.csr_array(np.array([[1.0, 1.0], [1.0, 0.0]])), np.ones(2), sr.plus_times)
    np.testing.assert_allclose(found, [-2.0, -1.0])
    swap = sp.csr_array(np.array([[0, 0, 0, 0.5], [0.0, 1 - 1e-9, 3.0, 0], [0, 5.0, 1 - 1e-9, 0], [0, 0, 0, 0]]))
    expected = np.linalg.solve(np.eye(4) - swap.toarray(), b)
    np.testing.assert_allclose(sr.solve(swap, b, sr.plus_times), expected, rtol=1e-14)
    huge = sp.csr_array(np.array([[0, 2.0, 0], [0, 0, 0], [0, 0, 0.5]]))
    found = sr.solve(huge, np.array([1.0, 1.7e308, 1.0]), sr.plus_times, check=False)
    assert found.tolist() == [np.inf, 1.7e308, 2.0]


def test_other_stars_and_algebras_are_not_for_it() -> None:
    rates = sr.Semiring("rates", "([0, ∞], +, ×, 0, 1)", add=np.add, mul=np.multiply, zero=0, one=1,
                        star=lambda a: np.where(a < 1, 1 / (1 - a), np.inf), carrier=lambda a: a >= 0,
                        samples=[0, 0.5, 0.25, 2])
    for S in (rates, sr.min_plus):
        assert sr.plan("solve", ring(50), np.ones(50), S).method != "SuperLU"


def eliminated(n: int, edges: Edges, order: np.ndarray) -> tuple[int, int]:
    """Entries of both factors, and multiply-adds, counted vertex by vertex."""
    later = [len(some) for some in touched(n, edges, order)]
    return sum(2 * count + 2 for count in later), sum(count * count for count in later)


@settings(max_examples=60)
@given(patterns(30))
def test_predicted_fill_is_no_less_than_what_elimination_fills_in(pattern: tuple[int, Edges]) -> None:
    n, edges = pattern
    if not n:
        return
    A = read(sp.csr_array((np.full(len(edges), 0.01), np.array(edges, int).reshape(-1, 2).T), (n, n)), sr.plus_times)
    analysis = analysis_of(A)
    found, bound = filled(analysis), envelope(A)
    entries, terms = eliminated(n, edges, analysis.order)
    assert entries <= found.entries <= n * (n + 1) and terms <= found.terms <= n**3
    assert 2 * n <= bound.entries <= n * (n + 1) and bound.terms <= n**3
    band = list(range(n))  # of a band matrix as it is numbered the bound is what elimination fills in
    path = read(sp.csr_array((np.ones(n - 1), (band[:-1], band[1:])), (n, n)), sr.plus_times)
    assert envelope(path).entries == 2 * n + 2 * (n - 1) and envelope(path).terms == 2 * (n - 1)


@settings(max_examples=20)
@given(st.integers(2, 60), st.integers(0, 2**32 - 1), st.sampled_from(["f4", "f8", "c16"]))
def test_the_factors_fit_the_memory_that_the_plan_states(n: int, seed: int, dtype: str) -> None:
    A = sp.random_array((n, n), density=0.1, random_state=np.random.default_rng(seed)).tocsr()
    A = (A * (0.5 / n)).astype(dtype)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elimination, "is_analysed", lambda A: False)  # by another test
        plan = sr.plan("solve", A, np.ones(n, dtype), sr.plus_times)
    lu = lu_of(A)
    assert plan.method == "SuperLU"
    assert plan.memory >= sum(part.data.nbytes + part.indices.nbytes for part in (lu.lu.L, lu.lu.U))


@pytest.mark.parametrize("columns", [1, 300])
def test_what_fills_in_is_solved_as_a_dense_matrix(columns: int) -> None:
    """Random graphs fill in, and LAPACK uses the processor better; what has small separators stays sparse."""
    random, n = np.random.default_rng(columns), 2500
    filling = sp.random_array((n, n), density=16 / n, random_state=random).tocsr() * (1 / 4)
    B = random.normal(size=(n, columns))
    plan = sr.plan("solve", filling, B, sr.plus_times)
    assert plan.method == "elimination" and "of the dense matrix" in str(plan)
    assert plan.memory >= 2 * n * n * 8
    found = sr.solve(filling, B, sr.plus_times)
    np.testing.assert_allclose(found, np.linalg.solve(np.eye(n) - filling.toarray(), B), atol=1e-9)
    street = sp.diags_array([np.full(n - 1, 0.25)] * 2, offsets=[-1, 1], format="csr")
    assert sr.plan("solve", street, B, sr.plus_times).method == "SuperLU"


def test_long_calls_of_the_library_are_interruptible(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[object] = []

    def see(function: Callable[[], Any]) -> Any:
        called.append(function)
        return function()

    monkeypatch.setattr(elimination, "interruptible", see)
    A, b = ring(300), np.ones(300)
    expected = sr.solve(A, b, sr.plus_times)
    assert called == []
    monkeypatch.setattr(elimination, "WAIT", 0.0)
    assert np.array_equal(sr.solve(A, b, sr.plus_times), expected) and len(called) == 2
