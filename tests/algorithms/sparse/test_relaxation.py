"""Improving cycles found on compressed rows, where there are any."""

from __future__ import annotations

import numpy as np
import oracle
from hypothesis import given, settings
from hypothesis import strategies as st
from sparse_patterns import patterns, rows

import semiring as sr
from semiring.algorithms.sparse.relaxation import edges_of, improving_cycle


@settings(max_examples=150, deadline=None)
@given(patterns(12), st.data())
def test_a_cycle_is_found_where_there_is_one(pattern: tuple, data: st.DataObject) -> None:
    n, edges = pattern
    edges = sorted(edges)
    weights = np.array(data.draw(st.lists(st.integers(-2, 8), min_size=len(edges), max_size=len(edges))), float)
    indptr, indices = rows(n, edges)
    A = [[np.inf] * n for _ in range(n)]
    for (u, v), w in zip(edges, weights, strict=True):
        A[u][v] = w
    cycle, weight = improving_cycle(indptr, indices, weights, sr.min_plus, list(range(n)))
    assert (cycle is not None) == oracle.has_improving_cycle(oracle.ALGEBRAS["min_plus"], A)
    if cycle is not None:
        assert cycle[0] == cycle[-1] and weight < 0
        assert sum(weights[q] for q in edges_of(indptr, indices, cycle)) == weight


def test_rounding_does_not_make_a_cycle() -> None:
    weights = np.array([0.1, 0.2, -0.3])  # 0.1 + 0.2 − 0.3 is above zero in floats, and below in exact arithmetic
    three = np.arange(4), np.array([1, 2, 0])
    exact = [float(w).as_integer_ratio() for w in weights]
    improves = sum(a * 2**60 // b for a, b in exact) < 0
    cycle, _ = improving_cycle(*three, weights, sr.min_plus, [0])
    assert (cycle is not None) == improves
