"""Compiled derivatives of chains, of a few steps that are written out; test_sequence_gradients.py has all algebras."""

from __future__ import annotations

import numpy as np
import pytest

from semiring.kernels.cpu.dense.step_gradients import FORMS, Derivatives, follow, linear
from semiring.kernels.cpu.dense.steps import Sequences


def chain(A: np.ndarray, x: np.ndarray, e: np.ndarray | None, steps: int) -> Sequences:
    zero = np.zeros(1, np.int64)
    return Sequences(x[None], A[None], e, zero, zero, zero, zero, np.array([steps + 1]), 0)


def derivatives(given: Sequences, rows: np.ndarray, G: np.ndarray) -> Derivatives:
    return Derivatives(rows, G, G[-1:].astype(float), np.zeros_like(given.A),
                       None if given.e is None else np.zeros_like(given.e))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [1, 3, 9])
def test_chains_over_the_reals(dtype: str, n: int) -> None:
    """y₂ = x A A with two derivatives of its own: for A they are xᵀ g₁ + (x A)ᵀ g₂."""
    random = np.random.default_rng(n)
    A, x = random.normal(size=(n, n)).astype(dtype), random.normal(size=n).astype(dtype)
    rows = np.array([x, x @ A, x @ A @ A])
    G = random.normal(size=(3, n)).astype(dtype)
    given = chain(A, x, None, 2)
    found = derivatives(given, rows, G)
    assert linear(given, found, False, 0.0)
    first = G[1] + A @ G[2]
    tolerance = 100 * n * np.finfo(dtype).eps
    np.testing.assert_allclose(found.Y[0], G[0] + A @ first, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(found.dA[0], np.outer(rows[0], first) + np.outer(rows[1], G[2]), rtol=tolerance,
                               atol=tolerance)


def test_chains_of_log_follow_the_posterior() -> None:
    """The derivative of the logarithm of the sum of a row for the first row is the share of walks from each state."""
    A, x = np.log([[0.8, 0.2], [0.3, 0.7]]), np.log([0.4, 0.6])
    y = np.log(np.exp(x) @ np.exp(A))
    G = np.array([[0, 0], np.exp(y) / np.exp(y).sum()])
    given = chain(A, x, None, 1)
    found = derivatives(given, np.array([x, y]), G)
    assert linear(given, found, False, 1.0)
    walks = np.exp(x)[:, None] * np.exp(A)
    np.testing.assert_allclose(found.Y[0], walks.sum(1) / walks.sum(), rtol=1e-12)
    np.testing.assert_allclose(found.dA[0], walks / walks.sum(), rtol=1e-12)


def test_numbers_that_are_not_finite_are_told() -> None:
    A, x = np.array([[np.inf]]), np.array([1.0])
    given = chain(A, x, None, 1)
    assert not linear(given, derivatives(given, np.array([[1.0], [np.inf]]), np.ones((2, 1))), False, 0.0)


def test_where_the_sum_selects_winners_get_all() -> None:
    A, x = np.array([[1.0, 5.0], [2.0, 1.0]]), np.array([3.0, 1.0])
    rows, back = np.array([x, [3.0, 2.0]]), np.array([[0, 0], [1, 1]], np.uint8)
    given = chain(A, x, None, 1)
    found = derivatives(given, rows, np.array([[0.0, 0.0], [10.0, 20.0]]))
    assert follow(given, found, False, "add", np.inf, back)
    assert found.Y[0].tolist() == [0, 30] and found.dA[0].tolist() == [[0, 0], [10, 20]]
    assert set(FORMS) == {"add", "multiply", "minimum", "maximum"}
