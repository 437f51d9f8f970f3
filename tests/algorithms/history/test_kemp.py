"""Several sources at a time on one array of labels: a round by NumPy, in an order that seeds have."""

from __future__ import annotations

import numpy as np
import pytest

from semiring.algorithms.history.harish_narayanan import Unsettled
from semiring.algorithms.history.kemp import kemp


class Labels:
    """Lengths of walks from some sources; vertices of a round come in any order, and see what the others did."""

    def __init__(self, A: np.ndarray, together: int, seed: int = 0):
        self.A, self.n, self.together = A, len(A), together
        self.answer, self.random = np.full(A.shape, np.nan), np.random.default_rng(seed)

    def begin(self, sources: slice) -> None:
        self.x = np.where(np.eye(self.n, dtype=bool)[sources], 0.0, np.inf)
        self.marked = self.x == 0

    def relax(self) -> bool:
        now, self.marked = np.argwhere(self.marked), np.zeros(self.x.shape, bool)
        for s, v in self.random.permutation(now):
            better = self.x[s, v] + self.A[v] < self.x[s]
            self.x[s, better] = (self.x[s, v] + self.A[v])[better]
            self.marked[s] |= better
        return bool(self.marked.any())

    def end(self, sources: slice) -> None:
        self.answer[sources] = self.x


@pytest.mark.parametrize("together", [1, 4, 30])
def test_rows_are_distances(together: int) -> None:
    rng = np.random.default_rng(3)
    A = rng.integers(1, 9, (30, 30)).astype(float)
    A[rng.random((30, 30)) < 0.9] = np.inf
    wanted = np.where(np.eye(30, dtype=bool), 0.0, A)
    for k in range(30):
        wanted = np.minimum(wanted, wanted[:, k, None] + wanted[k])
    for seed in range(3):
        kernel = Labels(A, together, seed)
        kemp(kernel)
        np.testing.assert_array_equal(kernel.answer, wanted)


def test_a_cycle_that_improves_is_of_one_of_the_sources() -> None:
    A = np.full((6, 6), np.inf)
    A[4, 5], A[5, 4] = 1, -2
    with pytest.raises(Unsettled) as raised:
        kemp(Labels(A, 2))
    assert raised.value.sources == range(4, 6)
