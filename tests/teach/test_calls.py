"""Schedules as data: what `kernel_calls` returns closes a matrix, and costs n³ steps."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr

METHODS = ("floyd-warshall", "blocked", "r-kleene", "elimination")


def replayed(A: np.ndarray, calls: list) -> np.ndarray:
    """The closure over min-plus, by plain loops over the blocks of each call."""
    def times(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return (X[:, :, None] + Y[None]).min(1)

    A = A.copy()
    for call in calls:
        views = [A[b.rows.start:b.rows.stop, b.columns.start:b.columns.stop] for b in call.blocks]
        match call.operation, *views:
            case "close", D:
                for k in range(len(D)):
                    D[:] = np.minimum(D, D[:, [k]] + D[[k]])
                np.fill_diagonal(D, np.minimum(D.diagonal(), 0))
            case "left", D, R:
                R[:] = times(D, R)
            case "right", C, D:
                C[:] = times(C, D)
            case "multiply_add", C, X, Y:
                C[:] = np.minimum(C, times(X, Y))
            case _:
                raise AssertionError(call.operation)
    return A


@pytest.mark.parametrize("method", METHODS)
def test_the_calls_close_a_matrix(method: str) -> None:
    A = np.random.default_rng(3).integers(1, 50, (13, 13)).astype(float)
    for tile in (1, 4, 5, 13):
        assert np.array_equal(replayed(A, sr.kernel_calls(method, 13, tile)), sr.closure(A, sr.min_plus))


@pytest.mark.parametrize("method", METHODS)
def test_every_schedule_has_the_same_number_of_steps(method: str) -> None:
    def steps(call) -> int:
        match call.operation, *(block.shape for block in call.blocks):
            case "close", (n, _):
                return n**3
            case "left", (n, _), (_, columns):
                return n * n * columns
            case "right", (rows, _), (n, _):
                return rows * n * n
            case "multiply_add", (rows, columns), (_, inner), _:
                return rows * columns * inner
        raise AssertionError(call.operation)

    assert sum(map(steps, sr.kernel_calls(method, 24, 4))) == 24**3


def test_names_are_those_of_closure_and_others_are_refused() -> None:
    assert sr.kernel_calls("fw", 5) == sr.kernel_calls("floyd-warshall", 5, 2)
    with pytest.raises(sr.SemiringError, match="did you mean 'blocked'"):
        sr.kernel_calls("blockd", 5)
    for method in ("auto", "sparse", "search"):
        with pytest.raises(sr.SemiringError, match="choose one of floyd-warshall, blocked"):
            sr.kernel_calls(method, 5)
