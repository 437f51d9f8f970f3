"""A launch for each pivot, and rounds of all pairs: each by NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from semiring.algorithms.history.harish_narayanan import Unsettled
from semiring.algorithms.history.tran import floyd_warshall, relaxation


class Pairs:
    """Lengths of walks between all pairs."""

    def __init__(self, A: np.ndarray):
        self.A, self.n, self.rounds = A, len(A), 0
        self.D = np.where(np.eye(self.n, dtype=bool), 0.0, np.inf)

    def step(self, k: int) -> None:
        self.D = np.minimum(self.D, self.D[:, k, None] + self.D[k])

    def relax(self) -> bool:
        self.rounds += 1
        old = self.D
        self.D = np.minimum(old, (old[:, :, None] + self.A).min(axis=1, initial=np.inf))
        return not np.array_equal(old, self.D)


def test_both_find_the_same() -> None:
    rng = np.random.default_rng(5)
    A = rng.integers(1, 9, (25, 25)).astype(float)
    A[rng.random((25, 25)) < 0.85] = np.inf
    by_pivots, by_rounds = Pairs(A), Pairs(A)
    by_pivots.D = np.minimum(by_pivots.D, A)
    floyd_warshall(by_pivots)
    relaxation(by_rounds)
    np.testing.assert_array_equal(by_pivots.D, by_rounds.D)
    assert 2 < by_rounds.rounds < 25


def test_a_cycle_that_improves_ends_after_n_rounds() -> None:
    A = np.full((4, 4), np.inf)
    A[0, 1], A[1, 0] = 1, -2
    kernel = Pairs(A)
    with pytest.raises(Unsettled):
        relaxation(kernel)
    assert kernel.rounds == 4
    relaxation(Pairs(np.empty((0, 0))))
