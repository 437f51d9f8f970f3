"""Policy iteration against the means of all cycles, and its potentials against their inequality."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sparse_patterns import Edges, patterns, rows

from semiring.algorithms.sparse.cycle_mean import least_means


def means_of(edges: Edges, weights: list[float]) -> list[float]:
    G = nx.DiGraph()
    G.add_weighted_edges_from((u, v, w) for (u, v), w in zip(edges, weights, strict=True))
    cycles = [[*c, c[0]] for c in nx.simple_cycles(G)]
    return [sum(G[a][b]["weight"] for a, b in pairwise(c)) / (len(c) - 1) for c in cycles]


@settings(max_examples=100)
@given(patterns(6), st.randoms())
def test_means_and_potentials(given_pattern: tuple[int, Edges], random: Any) -> None:
    n, edges = given_pattern
    edges = sorted({*edges, *((v, (v + 1) % n) for v in range(n))})  # each vertex reaches each cycle
    weights = [float(random.randint(-9, 9)) for _ in edges]
    start, heads = rows(n, edges)
    mean, potential, follows = least_means(start, heads, np.array(weights), 1e-9, 1000)
    if not n:
        return
    assert mean == pytest.approx([min(means_of(edges, weights))] * n)
    for (u, v), w in zip(edges, weights, strict=True):
        assert w - mean[u] + potential[v] - potential[u] >= -1e-8
    assert all(start[u] <= follows[u] < start[u + 1] for u in range(n))


@pytest.mark.usefixtures("machine_code")
def test_machine_code_finds_the_same() -> None:
    random = np.random.default_rng(0)
    edges = sorted({(v, int(u)) for v in range(40) for u in random.integers(0, 40, 3)})
    arguments = (*rows(40, edges), random.normal(size=len(edges)), 1e-12, 1000)
    for x, y in zip(least_means.__wrapped__(*arguments), least_means.machine_code(*arguments), strict=True):
        assert np.allclose(x, y)


def test_it_stops() -> None:
    start, heads = rows(3, [(0, 1), (1, 0), (1, 2), (2, 2)])
    weights = np.array([1.0, 1.0, 5.0, -1.0])
    assert least_means(start, heads, weights, 0.0, 1)[0].tolist() == [1, 1, -1], "one look at the first policy"
    assert least_means(start, heads, weights, 0.0, 9)[0].tolist() == [-1, -1, -1]
