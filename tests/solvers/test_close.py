"""What follows when a matrix is closed, wherever it lies: the diagonal of walks that have edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.lowering.general import general
from semiring.operands.dense import Dense
from semiring.solvers import close
from semiring.solvers.close import diagonal_of_product, put_diagonal, stored_vector


@pytest.mark.parametrize("block", [1, 3, 4, 512])
@pytest.mark.parametrize("name", ["min_plus", "plus_times", "counting", "shortest_hops"])
def test_walks_of_no_edge_are_left_out_of_the_diagonal(
    name: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By blocks of any size, of numbers and of records; x_ii is not needed any more when it is replaced."""
    monkeypatch.setattr(close, "DIAGONAL_BLOCK", block)
    S, rng = sr.catalogue[name], np.random.default_rng(block)
    edges = [(i, j) for i in range(7) for j in range(7) if rng.random() < 0.4 and (name != "counting" or i < j)]
    weight: dict[str, Callable[[], Any]] = {
        "plus_times": lambda: rng.random() / 20, "shortest_hops": lambda: (float(rng.integers(1, 9)), 1),
    }
    A = sr.adjacency([(i, j, weight.get(name, lambda: int(rng.integers(1, 9)))()) for i, j in edges], S, n=7).array
    X = np.array(sr.closure(A, S))
    home = close.Home(Dense(A, S), True, False)
    home.answer = X
    home.leave_out_empty_walks()
    expected = sr.closure(A, S, reflexive=False)
    assert np.allclose(X, expected, rtol=1e-12) if name == "plus_times" else np.array_equal(X, expected)


@pytest.mark.parametrize("block", [1, 7, 512])
@pytest.mark.parametrize("n", [0, 1, 30])
def test_it_is_the_diagonal_of_the_product(n: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(close, "DIAGONAL_BLOCK", block)
    random = np.random.default_rng(n)
    A, X = random.random((n, n)), random.random((n, n))
    found = diagonal_of_product(sr.plus_times.over(A.dtype), n, lambda *at: A[at], lambda *at: X[at])
    np.testing.assert_allclose(found, (A @ X).diagonal(), rtol=1e-12)


def test_a_block_takes_its_part_of_a_diagonal() -> None:
    block = np.zeros((3, 3))
    put_diagonal(block, 4, [3, 4, 6, 7], np.array([1.0, 2.0, 3.0, 4.0]))
    assert np.array_equal(block, np.diag([2.0, 0.0, 3.0]))
    put_diagonal(block, 0, range(3), np.array(9.0))
    assert np.array_equal(block, np.diag([9.0] * 3))


def test_a_vector_goes_into_storage_on_the_host() -> None:
    low = general(sr.min_plus, np.dtype("f4"))
    assert np.array_equal(stored_vector(low, np.arange(6, dtype=np.float32)), np.arange(6))
