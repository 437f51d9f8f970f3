"""Real and complex matrices whose closures are known, and every way to ask for (1 − A)⁻¹."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import semiring as sr

WORST = 1e6  # condition numbers that are drawn
BOUND = 1e-12  # errors beside the largest entry and for a condition number of 1
METHODS = ("floyd-warshall", "blocked", "r-kleene", "elimination")


class Case(NamedTuple):
    """A matrix, its closure to more digits than doubles have, and the condition number of 1 − A."""

    A: np.ndarray
    closure: np.ndarray
    condition: float


def drawn(random: np.random.Generator, most: int = 200) -> Case:
    """A random matrix of order 1 … `most`, mostly small, whose 1 − A has a condition number below `WORST`."""
    while True:
        n = int(random.integers(1, 13)) if random.random() < 0.9 else int(most ** random.random()) + 1
        n = min(n, most)
        A = KINDS[random.integers(len(KINDS))](random, n)
        if random.random() < 0.3:
            A = A * (random.random((n, n)) < random.choice([0.2, 0.6]))
        if random.random() < 0.2:
            A = A + 1j * A.T * random.choice([1, 0.5])
        M = np.eye(n) - A
        condition = float(np.linalg.cond(M, 1))
        if not condition < WORST:
            continue
        wide = np.clongdouble if A.dtype.kind == "c" else np.longdouble
        exact, X = np.eye(n, dtype=wide) - A.astype(wide), np.linalg.inv(M).astype(wide)
        for _ in range(2):  # Newton's method doubles the digits
            X += X @ (np.eye(n, dtype=wide) - exact @ X)
        return Case(A, X, condition)


def _integers(random: np.random.Generator, n: int) -> np.ndarray:
    return random.integers(-2, 3, (n, n)).astype(float)


def _fractions(random: np.random.Generator, n: int) -> np.ndarray:
    return random.integers(-3, 4, (n, n)) / random.choice([2, 3, 4, 7, 10])


def _signs(random: np.random.Generator, n: int) -> np.ndarray:
    return random.choice([-1.0, 1.0], (n, n)) * random.choice([1, 0.5, 1 / 3])


def _cancelling(random: np.random.Generator, n: int) -> np.ndarray:
    """Every vertex takes the same part of all others, so that a pivot is 1 but for rounding."""
    return (np.ones((n, n)) - np.eye(n)) / random.choice([3, 5, 10, 30])


def _sums_of_one(random: np.random.Generator, n: int) -> np.ndarray:
    """A first pivot that is 1 but for rounding, within the rest."""
    A = random.integers(-3, 4, (n, n)) / 4
    A[0, 0] = 0.7 + 0.2 + 0.1
    return A


def _chain(random: np.random.Generator, n: int) -> np.ndarray:
    """A Markov chain that ends."""
    P = random.random((n, n))
    return P / P.sum(1, keepdims=True) * random.choice([0.5, 0.9, 0.999])


def _normal(random: np.random.Generator, n: int) -> np.ndarray:
    return random.normal(size=(n, n)) * random.choice([1, 1 / np.sqrt(n)])


KINDS: tuple[Callable[[np.random.Generator, int], np.ndarray], ...] = (
    _integers, _fractions, _signs, _cancelling, _sums_of_one, _chain, _normal,
)


def asked(case: Case, random: np.random.Generator, few: bool = False) -> Iterator[tuple[str, Callable[[], Any], Any]]:
    """Ways to ask, in words, with what the answer is; `few` leaves most of them out, at random."""
    A, X, S, n = case.A, case.closure, sr.plus_times, len(case.A)
    B = random.integers(-2, 3, (n, 2)).astype(A.dtype)
    right, left = X @ B, B.T @ X
    sparse, one = sp.csr_array(A), np.eye(n)
    stack = np.stack([A, np.zeros_like(A), A])
    ways: list[tuple[str, Callable[[], Any], Any]] = [
        ("closure", lambda: sr.closure(A, S), X),
        ("closure, reflexive=False", lambda: sr.closure(A, S, reflexive=False), X - one),
        ("closure of a stack", lambda: sr.closure(stack, S), np.stack([X, one, X])),
        ("closure of a sparse matrix", lambda: sr.closure(sparse, S), X),
        ("sparse closure", lambda: sr.closure(sparse, S, method="sparse"), X),
        ("solve", lambda: sr.solve(A, B, S), right),
        ("solve a vector", lambda: sr.solve(A, B[:, 0], S), right[:, 0]),
        ("solve, left", lambda: sr.solve(A, B.T.copy(), S, left=True), left),
        ("solve a stack", lambda: sr.solve(stack, B, S), np.stack([right, B, right])),
        ("solve a sparse matrix", lambda: sr.solve(sparse, B, S), right),
        ("solve a sparse matrix, left", lambda: sr.solve(sparse, B.T.copy(), S, left=True), left),
        ("factors", lambda: sr.factor(A, S).closure(), X),
        ("factors, solve", lambda: sr.factor(A, S).solve(B), right),
        ("factors, solve, left", lambda: sr.factor(A, S).solve(B.T.copy(), left=True), left),
        ("factors, rows", lambda: sr.factor(A, S).rows([0, n - 1]), X[[0, n - 1]]),
        ("sparse factors", lambda: sr.factor(sparse, S).closure(), X),
        ("sparse factors, solve", lambda: sr.factor(sparse, S).solve(B), right),
        ("sparse factors, solve, left", lambda: sr.factor(sparse, S).solve(B.T.copy(), left=True), left),
        ("sparse factors, row", lambda: sr.factor(sparse, S).row(n - 1), X[n - 1]),
        ("rows of factors", lambda: sr.closure_rows(sr.factor(A, S), S, [0]), X[[0]]),
    ]
    for method in METHODS:
        tile = int(random.integers(1, n + 1))
        ways.append((f"{method}, tile {tile}", lambda m=method, t=tile: sr.closure(A, S, method=m, tile=t), X))
    yield from (ways[i] for i in random.choice(len(ways), 3, replace=False)) if few else ways


def differs(case: Case, found: Any, expected: np.ndarray) -> float:
    """The error, where 1 is what is allowed."""
    size = max(float(np.abs(case.closure).max()), 1.0)
    error = float(np.abs(np.asarray(found) - expected).max(initial=0)) / size
    return error / (BOUND * case.condition) if np.isfinite(error) else np.inf
