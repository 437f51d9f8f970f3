"""Best walks and improving cycles, found alike on a matrix and on compressed rows."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sparse_patterns import patterns, rows

import semiring as sr
from semiring.algorithms.labels import Dense, Graph, best_walks, edges_along, improving_cycle
from semiring.algorithms.sparse.relaxation import CompressedRows

inf = np.inf
MIN_PLUS = oracle.ALGEBRAS["min_plus"]


def graphs(n: int, edges: list, weights: np.ndarray) -> tuple[list, list[Graph]]:
    """Rows for the oracle, and the graph in both kinds."""
    A = np.full((n, n), inf, weights.dtype)
    for (u, v), w in zip(edges, weights, strict=True):
        A[u, v] = w
    return A.tolist(), [Dense(A), CompressedRows(*rows(n, edges), weights)]


@settings(max_examples=150)
@given(patterns(12), st.data())
def test_a_cycle_is_found_where_there_is_one(pattern: tuple, data: st.DataObject) -> None:
    n, edges = pattern
    edges = sorted(edges)
    kind = data.draw(st.sampled_from([float, object]))
    weights = np.array(data.draw(st.lists(st.integers(-2, 8), min_size=len(edges), max_size=len(edges))), kind)
    A, both = graphs(n, edges, weights)
    for G in both:
        cycle, weight = improving_cycle(G, sr.min_plus, list(range(n)))
        assert (cycle is not None) == oracle.has_improving_cycle(MIN_PLUS, A)
        if cycle is not None:
            assert cycle[0] == cycle[-1] and weight < 0
            assert sum(edges_along(G, cycle)) == weight


@settings(max_examples=150)
@given(patterns(9), st.data())
def test_walks_are_best(pattern: tuple, data: st.DataObject) -> None:
    n, edges = pattern
    edges = sorted(edges)
    least = data.draw(st.sampled_from([-1, 0]))
    weights = np.array(data.draw(st.lists(st.integers(least, 8), min_size=len(edges), max_size=len(edges))), float)
    if data.draw(st.booleans()):
        weights = np.array([Fraction(int(w), 3) for w in weights] or None, object).reshape(-1)[: len(edges)]
    A, both = graphs(n, edges, weights)
    reach = oracle.closure_by_elimination(oracle.boolean, [[x != inf for x in row] for row in A])
    inside = [v for v in range(n) if reach[0][v]]
    part = [[A[u][v] for v in inside] for u in inside]
    for G in both if n else []:
        found = best_walks(G, sr.min_plus, 0)
        assert (found.cycle is not None) == oracle.has_improving_cycle(MIN_PLUS, part)
        if found.cycle is not None:
            assert oracle.is_improving(MIN_PLUS, A, found.cycle) and set(found.cycle) <= set(inside)
            continue
        expected = dict(zip(inside, oracle.closure_by_elimination(MIN_PLUS, part)[inside.index(0)], strict=True))
        for v in range(n):
            u = found.predecessor[v]
            assert found.labels[v] == expected.get(v, inf)
            assert (u < 0) == (v == 0 or v not in expected)
            assert u < 0 or found.labels[u] + A[u][v] == found.labels[v]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("by", [0, 1, 2, 40])
def test_what_rounding_explains_is_no_cycle(by: int, dtype: str) -> None:
    """0.1 + 0.2 − 0.3, and so many epsilons less: the three edges are known to about 1.2 epsilons."""
    weights = np.array([0.1, 0.2, -0.3], dtype)
    weights[2] -= np.asarray(by * np.finfo(dtype).eps / 2, dtype)
    exact = sum(Fraction(float(w)) for w in weights)
    for G in graphs(3, [(0, 1), (1, 2), (2, 0)], weights)[1]:
        cycle, weight = improving_cycle(G, sr.min_plus, [0])
        found = best_walks(G, sr.min_plus, 0)
        if by < 40:
            assert cycle is None and found.cycle is None
            assert found.predecessor.tolist() == [-1, 0, 1]
            np.testing.assert_allclose(found.labels, [0, 0.1, 0.3], rtol=1e-5)
        else:
            assert cycle == found.cycle == [0, 1, 2, 0]
            assert weight == found.weight == np.dtype(dtype).type(float(exact)) < 0
