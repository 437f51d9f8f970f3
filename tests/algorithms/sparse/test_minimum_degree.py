"""Approximate minimum degree: an order of all vertices, as good as exact degrees where that matters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sparse_patterns import patterns, rows, touched

from semiring.algorithms.sparse import minimum_degree as module
from semiring.algorithms.sparse.minimum_degree import minimum_degree
from semiring.algorithms.sparse.ordering import _compared
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
@given(patterns(80), st.integers(1, 12), st.sampled_from([0.0, 1.0, 10.0]), st.integers(1, 9))
def test_pieces_give_the_order_whatever_the_threads(
    given_pattern: tuple[int, Edges], piece: int, dense: float, few: int
) -> None:
    """Each vertex once, and the same order with one thread and with three; pieces may have no vertex."""
    n, edges = given_pattern
    pattern = symmetric(*rows(n, edges))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ("PIECE", piece), ("PIECES", 1), ("FEW", few), ("DENSE", dense), ("INSIDE", 0):
            patch.setattr(module, name, value)
        found = []
        for threads in "1", "3":
            patch.setenv("SEMIRING_NUM_THREADS", threads)
            found.append(minimum_degree(*pattern).tolist())
    assert found[0] == found[1] and sorted(found[0]) == list(range(n))


def test_pieces_of_a_planar_graph_join_as_few() -> None:
    """A mesh with holes is cut into five; a random graph is not, since most edges would be cut."""
    rng = np.random.default_rng(3)
    side = 150
    across = [(v, v + 1) for v in range(side**2) if v % side != side - 1]
    edges = [e for e in across + [(v, v + side) for v in range(side**2 - side)] if rng.random() < 0.7]
    pattern = symmetric(*rows(side**2, edges))
    whole, pieces = terms_of(pattern, 1 << 20), terms_of(pattern, 5)
    assert pieces != whole and pieces < 1.2 * whole
    random = symmetric(*rows(2000, sorted({(int(u), int(v)) for u, v in rng.integers(0, 2000, (3000, 2))})))
    light = np.ones(2000, bool)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PIECE", 100)
        assert module._piece_by_piece(*random, light) == []


def terms_of(pattern: tuple[np.ndarray, np.ndarray], pieces: int) -> float:
    """Terms of elimination if graphs of so many pieces are cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PIECES", pieces)
        return _compared("", *pattern, minimum_degree(*pattern))[0]


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


def test_a_large_graph_is_ordered_by_compiled_code(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    monkeypatch.setattr(module._eliminate, "repays", lambda elements: bool(asked.append(elements)) or elements > 1e5)
    assert module.is_compiled(100_000, 600_000) and not module.is_compiled(100, 600)
    assert asked == [1.4e6, 1400]
