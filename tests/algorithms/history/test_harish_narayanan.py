"""A source at a time, in two steps a round: each step by NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from semiring.algorithms.history.harish_narayanan import Unsettled, harish_narayanan


class Labels:
    """Lengths of walks from a source in two arrays, and which vertices are marked."""

    def __init__(self, A: np.ndarray):
        self.A, self.n, self.answer, self.rounds = A, len(A), np.full(A.shape, np.nan), 0

    def begin(self, source: int) -> None:
        self.c = np.where(np.arange(self.n) == source, 0.0, np.inf)
        self.u, self.marked = self.c.copy(), self.c == 0

    def relax(self) -> None:
        self.rounds += 1
        offered = (self.c[:, None] + self.A)[self.marked].min(axis=0, initial=np.inf)
        self.u, self.marked = np.minimum(self.u, offered), np.zeros(self.n, bool)

    def settle(self) -> bool:
        self.marked, self.c = self.u < self.c, np.minimum(self.c, self.u)
        return bool(self.marked.any())

    def end(self, source: int) -> None:
        self.answer[source] = self.c


def path(n: int) -> np.ndarray:
    A = np.full((n, n), np.inf)
    A[np.arange(n - 1), np.arange(1, n)] = 1
    return A


def test_rows_are_distances() -> None:
    kernel = Labels(path(9))
    harish_narayanan(kernel)
    steps = np.subtract.outer(np.arange(9), np.arange(9)).T.astype(float)
    np.testing.assert_array_equal(kernel.answer, np.where(steps < 0, np.inf, steps))
    assert kernel.rounds == sum(range(1, 10))  # for each source as many as edges ahead, and one that finds nothing


def test_a_cycle_that_improves_ends_after_n_rounds() -> None:
    A = path(5)
    A[3, 2] = -2
    kernel = Labels(A)
    with pytest.raises(Unsettled, match="0 to 0") as raised:
        harish_narayanan(kernel)
    assert raised.value.sources == range(1) and kernel.rounds == 5


def test_no_vertex() -> None:
    harish_narayanan(Labels(np.empty((0, 0))))
