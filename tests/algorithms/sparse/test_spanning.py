"""Orders of the vertices by Kruskal's algorithm: products of weights along them are best walks."""

from __future__ import annotations

import numpy as np
import pytest

from semiring.algorithms.sparse.spanning import joined_runs


@pytest.mark.parametrize("n", [1, 2, 9, 30])
@pytest.mark.parametrize("degree", [0, 1, 3])
def test_the_worst_edge_between_two_places_is_that_of_a_best_walk(n: int, degree: int) -> None:
    random = np.random.default_rng(10 * n + degree)
    ends = random.integers(0, n, (2, n * degree))
    weights = np.sort(random.integers(0, 9, ends.shape[1]))
    expected = np.full((n, n), 99)
    np.minimum.at(expected, (ends[0], ends[1]), weights)
    expected = np.minimum(expected, expected.T)
    for k in range(n):
        expected = np.minimum(expected, np.maximum(expected[:, k, None], expected[k]))
    order, edges = np.empty(n, np.int64), np.empty(n, np.int64)
    assert joined_runs(*ends, order, edges) == n and sorted(order.tolist()) == list(range(n))
    joints = [99 if e < 0 else weights[e] for e in edges.tolist()]
    for i in range(n):
        for j in range(i + 1, n):
            assert max(joints[i + 1 : j + 1]) == expected[order[i], order[j]]
