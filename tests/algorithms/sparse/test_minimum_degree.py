"""Approximate minimum degree: an order of all vertices, as good as exact degrees where that matters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sparse_patterns import patterns, rows, touched

from semiring.algorithms.sparse import minimum_degree as module
from semiring.algorithms.sparse.minimum_degree import minimum_degree
from semiring.algorithms.sparse.pattern import symmetric

Edges = list[tuple[int, int]]


def exact(n: int, edges: Edges) -> int:
    """Pairs that are joined in the end if a vertex of truly least degree goes first, the lowest number among equals."""
    near: list[set[int]] = [set() for _ in range(n)]
    for u, v in edges:
        if u != v:
            near[u].add(v)
            near[v].add(u)
    left, total = set(range(n)), 0
    while left:
        v = min(left, key=lambda i: (len(near[i]), i))
        left.remove(v)
        total += len(near[v])
        for u in near[v]:
            near[u] |= near[v] - {u}
            near[u].discard(v)
    return total


def fill(n: int, edges: Edges, order: np.ndarray) -> int:
    return sum(map(len, touched(n, edges, order)))


@settings(max_examples=150)
@given(patterns(60), st.sampled_from([0.0, 1.0, 10.0]))
@example((7, [(0, 1), (0, 2), (0, 3), (1, 4), (2, 5), (3, 6)]), 10.0)
def test_every_vertex_has_one_place(given_pattern: tuple[int, Edges], dense: float) -> None:
    """Whether none, some or most are set aside as dense, which takes more than 16 neighbours."""
    n, edges = given_pattern
    before, module.DENSE = module.DENSE, dense
    try:
        order = minimum_degree(*symmetric(*rows(n, edges)))
    finally:
        module.DENSE = before
    assert sorted(order.tolist()) == list(range(n))


@settings(max_examples=100)
@given(patterns(40))
def test_it_joins_about_as_few_as_exact_degrees(given_pattern: tuple[int, Edges]) -> None:
    """Bounds on degrees and ties change the order, so that the fill differs a little either way."""
    n, edges = given_pattern
    order = minimum_degree(*symmetric(*rows(n, edges)))
    assert fill(n, edges, order) <= 1.25 * exact(n, edges) + 6


@pytest.mark.parametrize("seed", range(3))
def test_a_forest_does_not_fill(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 200
    edges = [(int(rng.integers(0, v)), v) for v in range(1, n) if v % 17]
    order = minimum_degree(*symmetric(*rows(n, edges)))
    assert fill(n, edges, order) == len(edges)


def test_a_chordal_graph_does_not_fill() -> None:
    """Cliques of five that share two vertices with the next."""
    edges = [(u, v) for a in range(0, 60, 3) for u in range(a, a + 5) for v in range(u + 1, a + 5)]
    order = minimum_degree(*symmetric(*rows(62, sorted(set(edges)))))
    assert fill(62, edges, order) == len(set(edges))


def test_lists_move_when_they_need_room() -> None:
    """A random graph fills so much that the first array cannot hold all elements."""
    rng = np.random.default_rng(1)
    n = 400
    edges = sorted({(int(min(e)), int(max(e))) for e in rng.integers(0, n, (1600, 2)) if e[0] != e[1]})
    order = minimum_degree(*symmetric(*rows(n, edges)))
    assert sorted(order.tolist()) == list(range(n))
    assert fill(n, edges, order) <= 1.1 * exact(n, edges)


def test_hubs_come_last() -> None:
    """The one with most neighbours at the very end."""
    n = 400
    edges = [(0, v) for v in range(2, n)] + [(1, v) for v in range(2, 300)] + [(v, v + 1) for v in range(2, n - 1)]
    order = minimum_degree(*symmetric(*rows(n, sorted(edges))))
    assert order[-2:].tolist() == [1, 0]
    assert fill(n, edges, order) <= 5 * n


def test_nothing_and_no_edges() -> None:
    assert minimum_degree(np.zeros(1, np.int64), np.zeros(0, np.int64)).tolist() == []
    assert sorted(minimum_degree(np.zeros(5, np.int64), np.zeros(0, np.int64)).tolist()) == [0, 1, 2, 3]
