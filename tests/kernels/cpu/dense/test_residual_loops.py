"""The compiled loop that compares inverses with their equations: by sums in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.kernels.cpu.dense.residual_loops import compare


def compared(A: np.ndarray, X: np.ndarray, rounding: float, worth: float, room: float = 1.0) -> list[bool]:
    right, kind = np.empty(len(A), bool), X.dtype.type
    scratch = np.full((4, A.shape[1]), np.nan, X.dtype)
    compare(np.ascontiguousarray(A), np.ascontiguousarray(X), kind(rounding), kind(room), kind(worth), scratch, right)
    return right.tolist()


@settings(max_examples=60)
@given(st.sampled_from(["f4", "f8"]), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_the_bounds_are_those_of_the_equations(dtype: str, n: int, seed: int) -> None:
    """Just above the error and the sensitivity that exact sums find, all pass; just below either, none does."""
    random = np.random.default_rng(seed)
    A = random.uniform(-0.9 / n, 0.9 / n, (1, n, n)).astype(dtype)
    X = random.uniform(-2, 2, (1, n, n)).astype(dtype)
    a, x = A[0].astype("g"), X[0].astype("g")
    left, sizes = abs(x - a @ x - np.eye(n)), abs(x) + abs(a) @ abs(x)
    total = abs(x).sum(1)
    error, sensitivity = (left / sizes).max(), ((abs(x) @ (abs(np.eye(n) - a) @ total)) / total).max()
    eps = 40 * (n + 2) * float(np.finfo(dtype).eps)
    above, below = 1 + eps, 1 - eps
    rounding, worth = error * above + eps, 1 / (sensitivity * above)
    assert compared(A, X, rounding, worth) == compared(A, X, rounding, worth, 0.25) == [True]
    assert compared(A, X, rounding, 1 / (sensitivity * below)) == [False]
    if error > 2 * eps:
        assert compared(A, X, error * below - eps, worth) == [False]


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 0.0])
def test_each_matrix_has_its_own_answer(wrong: float) -> None:
    """NaN and ∞ never pass, and neither does a row of zeros, since its entries are divided by its sum."""
    A, X = np.zeros((3, 2, 2)), np.stack([np.eye(2)] * 3)
    X[1, 1] = wrong
    with np.errstate(all="ignore"):
        assert compared(A, X, 1e-12, 1e-12) == [True, False, True]


def test_no_matrix_and_no_rows() -> None:
    assert compared(np.zeros((0, 3, 3)), np.zeros((0, 3, 3)), 1, 1) == []
    assert compared(np.zeros((2, 0, 0)), np.zeros((2, 0, 0)), 1, 1) == [True, True]
