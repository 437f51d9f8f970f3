"""Cycles through a vertex: each is one, by vertices that are allowed, and shortest for its last edge."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from semiring.algorithms.cycle_through import cycles_through
from semiring.algorithms.labels import Dense


def simple_cycles(A: np.ndarray, v: int, others: list[int]) -> Iterator[list[int]]:
    """All of them, by trying."""
    for k in range(len(others) + 1):
        for between in permutations(others, k):
            walk = [v, *between, v]
            if all(A[i, j] for i, j in pairwise(walk)):
                yield walk


@given(st.data())
def test_a_shortest_cycle_for_each_last_edge(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 5))
    A = np.array(data.draw(st.lists(st.lists(st.integers(0, 1), min_size=n, max_size=n), min_size=n, max_size=n)))
    between = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    v = data.draw(st.integers(0, n - 1))
    found = list(cycles_through(Dense(A), 0, v, between))
    every = list(simple_cycles(A, v, [u for u in range(n) if between[u] and u != v]))
    shortest: dict[int, int] = {}
    for walk in every:
        shortest[walk[-2]] = min(shortest.get(walk[-2], n + 2), len(walk))
    assert all(walk in every for walk in found)
    assert {walk[-2]: len(walk) for walk in found} == shortest and len(found) == len(shortest)
    assert [len(walk) for walk in found] == sorted(len(walk) for walk in found)
