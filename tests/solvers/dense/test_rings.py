"""Algebras in which sums cancel, though nothing says that they are fields: an answer that is right, or a refusal."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.lowering.general import general
from semiring.solvers.dense import rings

# The reals, each number called by the next one.
MOVED = sr.Semiring(
    "moved", "(R, x + y − 1, …)", add=lambda x, y: x + y - 1, mul=lambda x, y: (x - 1) * (y - 1) + 1, zero=1, one=2,
    star=lambda x: 1 + 1 / (2 - x), carrier=np.isfinite,
)
PRIME = 7


def inverse_mod(M: np.ndarray) -> np.ndarray | None:
    """By Gauss's algorithm over the numbers modulo `PRIME`."""
    n = len(M)
    rows = [[*(int(x) for x in row), *(int(i == j) for j in range(n))] for i, row in enumerate(M % PRIME)]
    for k in range(n):
        found = next((i for i in range(k, n) if rows[i][k]), None)
        if found is None:
            return None
        rows[k], rows[found] = rows[found], rows[k]
        rows[k] = [x * pow(rows[k][k], -1, PRIME) % PRIME for x in rows[k]]
        for i in range(n):
            if i != k:
                rows[i] = [(x - rows[i][k] * y) % PRIME for x, y in zip(rows[i], rows[k], strict=True)]
    return np.array([row[n:] for row in rows])


@settings(max_examples=60)
@given(st.integers(1, 8), st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 3]), st.booleans())
def test_a_field_in_disguise_is_right_or_refused(n: int, seed: int, scale: int, cancelling: bool) -> None:
    random = np.random.default_rng(seed)
    A, B = random.integers(-2, 3, (n, n)) / scale, random.random((n, 2))
    A = (np.ones((20, 20)) - np.eye(20)) / 10 if cancelling else A
    B = random.random((len(A), 2))
    M = np.eye(len(A)) - A
    regular = np.linalg.cond(M) < 1e6
    X = np.linalg.inv(M) if regular else np.zeros_like(A)
    graph = sr.as_graph([(i, j, x + 1) for (i, j), x in np.ndenumerate(A)])
    for ask, expected in (
        (lambda: sr.closure(A + 1, MOVED), X), (lambda: sr.closure(np.stack([A + 1, A + 1]), MOVED)[1], X),
        (lambda: sr.solve(A + 1, B + 1, MOVED), X @ B), (lambda: sr.factor(A + 1, MOVED).solve(B + 1), X @ B),
        (lambda: sr.closure(graph, MOVED), X), (lambda: sr.solve(graph, B + 1, MOVED), X @ B),
        (lambda: sr.closure(graph, MOVED, method="sparse"), X), (lambda: sr.factor(graph, MOVED).closure(), X),
    ):
        try:
            found = np.asarray(ask()) - 1
        except sr.NoClosureError:  # no order without a pivot that cancels was found
            continue
        if regular:
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(X).max())


@settings(max_examples=60)
@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_over_a_finite_field_other_orders_are_tried(n: int, seed: int) -> None:
    A = np.random.default_rng(seed).integers(0, PRIME, (n, n))
    expected = inverse_mod(np.eye(n, dtype=int) - A)
    S = sr.mod_p(PRIME)
    for ask in (lambda: sr.closure(A, S), lambda: sr.factor(A, S).closure()):
        try:
            assert np.array_equal(ask(), expected)
        except sr.NoClosureError:
            assert expected is None or (A.diagonal() == 1).all() or n > 1


def test_an_order_that_has_stars_is_found() -> None:
    S = sr.mod_p(PRIME)
    A = np.array([[1, 1], [1, 0]])  # the first vertex has no star until the second is eliminated
    expected = inverse_mod(np.eye(2, dtype=int) - A)
    assert np.array_equal(sr.closure(A, S), expected) and np.array_equal(sr.factor(A, S).closure(), expected)
    with pytest.raises(sr.NoClosureError, match="eliminating vertex 0 needs the star"):
        sr.closure(np.array([[1, 0], [0, 0]]), S)


@pytest.mark.parametrize("A", [
    [[1, 1], [1, 0]], [[1, 1], [1, 1]], [[1, -1], [1, -1]], [[2]], [[0, 1, 1], [1, 1, 1], [1, 1, 2]],
])
def test_fractions_have_the_inverse_wherever_there_is_one(A: list[list[int]]) -> None:
    exact = np.array([[Fraction(x) for x in row] for row in A], object)
    X, one = sr.closure(exact, sr.plus_times), np.eye(len(A), dtype=int)
    assert ((one - exact) @ X == one).all()
    assert (sr.factor(exact, sr.plus_times).closure() == X).all()
    assert (sr.solve(exact, exact, sr.plus_times) == X @ exact).all()


def test_where_nothing_cancels_nothing_is_compared() -> None:
    for S, dtype in ((sr.counting, "i8"), (sr.log, "f8"), (sr.min_plus, "f8"), (sr.plus_times, "f8")):
        assert not rings.cancels(general(S, np.dtype(dtype)))
    assert rings.cancels(general(MOVED, np.dtype("f8"))) and rings.cancels(general(sr.mod_p(PRIME), np.dtype("i8")))
