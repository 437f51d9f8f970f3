"""Closures, equations and factors over the reals on a GPU are those of (1 − A)⁻¹, where pivots cancel too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr

S = sr.plus_times


def asked(A: np.ndarray, X: np.ndarray) -> list[tuple[str, Callable[[], Any], np.ndarray]]:
    """Ways to ask for A* = X, each with the answer."""
    import cupy

    D, edges, B = cupy.asarray(A), sp.csr_array(A), np.random.default_rng(0).random((len(A), 3)).astype(A.dtype)
    b = cupy.asarray(B)
    empty = np.eye(len(A))
    return [
        ("closure", lambda: sr.closure(D, S), X), ("like the last", lambda: sr.closure(D, S), X),
        ("of the host", lambda: sr.closure(A, S, device="gpu"), X),
        ("by halves", lambda: sr.closure(D, S, method="r-kleene"), X),
        ("stack", lambda: sr.closure(cupy.stack([D, D * 0, D]), S), np.stack([X, empty, X])),
        ("stack like the last", lambda: sr.closure(cupy.stack([D, D * 0, D]), S), np.stack([X, empty, X])),
        ("solve", lambda: sr.solve(D, b, S), X @ B),
        ("left", lambda: sr.solve(D, cupy.ascontiguousarray(b.T), S, left=True), B.T @ X),
        ("factors", lambda: sr.factor(D, S).closure(), X), ("factors solve", lambda: sr.factor(D, S).solve(b), X @ B),
        ("factors solve, left", lambda: sr.factor(D, S).solve(cupy.ascontiguousarray(b.T), left=True), B.T @ X),
        ("rows", lambda: sr.factor(D, S).rows([1, 0]), X[[1, 0]]),
        ("sparse", lambda: sr.closure(edges, S, device="gpu"), X),
        ("sparse, eliminated", lambda: sr.closure(edges, S, device="gpu", method="sparse"), X),
        ("sparse factors", lambda: sr.factor(edges, S, device="gpu").closure(), X),
        ("sparse factors, left", lambda: sr.factor(edges, S, device="gpu").solve(B.T.copy(), left=True), B.T @ X),
        ("sparse equations", lambda: sr.solve(edges, B, S, device="gpu"), X @ B),
    ]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [12, 100, 300])
def test_a_pivot_that_cancels(n: int, dtype: str) -> None:
    """All walks of the complete graph, a tenth for each step: the first eleven vertices alone have none."""
    import cupy

    A = ((np.ones((n, n)) - np.eye(n)) / 10).astype(dtype)
    X = np.linalg.inv(np.eye(n) - A.astype("f8"))
    for way, ask, expected in asked(A, X):
        np.testing.assert_allclose(
            cupy.asnumpy(ask()), expected, rtol=0, atol=np.abs(expected).max() * (1e-3 if dtype == "f4" else 1e-10),
            err_msg=way)


@pytest.mark.parametrize("n", [2, 20, 100, 300])
def test_random_matrices(n: int) -> None:
    import cupy

    A = np.random.default_rng(n).integers(-2, 3, (n, n)) / 3
    M = np.eye(n) - A
    X = np.linalg.inv(M)
    for way, ask, expected in asked(A, X):
        np.testing.assert_allclose(
            cupy.asnumpy(ask()), expected, rtol=0, atol=np.abs(expected).max() * 1e-13 * n * np.linalg.cond(M),
            err_msg=way)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [2, 12, 20, 100, 300])
def test_a_chain_that_nothing_leaves_is_refused(n: int, dtype: str) -> None:
    A = np.full((n, n), 1 / (2 * n), dtype)
    for way, ask, _ in asked(A, np.linalg.inv(np.eye(n) - A.astype("f8"))):  # which are remembered
        assert ask() is not None, way
    P = np.full((n, n), 1 / n, dtype)
    for way, ask, _ in asked(P, np.eye(n)):
        with pytest.raises(sr.NoClosureError):
            pytest.fail(f"{way} is answered: {ask()}")


@pytest.mark.parametrize("n", [20, 100, 300])
def test_over_log_such_a_chain_has_infinite_sums(n: int) -> None:
    import cupy

    A = cupy.full((n, n), -np.log(2.0 * n))
    for P in (A, A, A + np.log(2.0), A + np.log(2.0)):
        found = cupy.asnumpy(sr.closure(P, sr.log))
        assert np.isposinf(found).all() == (P is not A)
    endless, edges = A + np.log(2.0), sp.csr_array(cupy.asnumpy(A + np.log(2.0)))
    for F in (sr.factor(endless, sr.log), sr.factor(edges, sr.log, device="gpu")):
        assert np.isposinf(cupy.asnumpy(F.closure())).all()
        assert np.isposinf(cupy.asnumpy(F.solve(cupy.zeros((n, 2))))).all()
    assert np.isposinf(cupy.asnumpy(sr.solve(endless, cupy.zeros((n, 2)), sr.log))).all()
