"""Layered drawings: places on every level, edges that run through no vertex, fewer crossings than there were."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.teach.layers import crossings, layers


@st.composite
def graphs(draw: Any) -> tuple[list[int], list[tuple[int, int]]]:
    """Levels without gaps, and edges upward."""
    height = draw(st.integers(1, 4))
    levels = [*range(height), *draw(st.lists(st.integers(0, height - 1), max_size=6))]
    upward = [(i, j) for i in range(len(levels)) for j in range(len(levels)) if levels[i] < levels[j]]
    return levels, draw(st.lists(st.sampled_from(upward), unique=True)) if upward else []


@settings(max_examples=80)
@given(graphs())
def test_no_edge_runs_through_a_vertex(graph: tuple[list[int], list[tuple[int, int]]]) -> None:
    levels, edges = graph
    across, routes = layers(levels, edges)
    taken = [(x, level) for x, level in zip(across, levels, strict=True)]
    for (low, high), route in zip(edges, routes, strict=True):
        assert route[0] == (across[low], levels[low]) and route[-1] == (across[high], levels[high])
        assert [level for _, level in route] == list(range(levels[low], levels[high] + 1))
        taken += route[1:-1]
    assert len(set(taken)) == len(taken), "every vertex and every edge on its way has a place of its own"
    for level in set(levels):
        row = sorted(x for x, y in taken if y == level)
        assert row[0] == -row[-1] and all(b - a == 1 for a, b in pairwise(row)), "levels are centred, without gaps"


@settings(max_examples=80)
@given(graphs())
def test_crossings_are_counted_and_do_not_grow(graph: tuple[list[int], list[tuple[int, int]]]) -> None:
    levels, edges = graph
    _, routes = layers(levels, edges)
    steps = [(a[1], a[0], b[0]) for route in routes for a, b in pairwise(route)]
    found = sum(p[0] == q[0] and (p[1] - q[1]) * (p[2] - q[2]) < 0 for p, q in combinations(steps, 2))
    if all(levels[b] - levels[a] == 1 for a, b in edges):
        rows = [[v for v, level in enumerate(levels) if level == y] for y in range(max(levels) + 1)]
        above: list[list[int]] = [[] for _ in levels]
        for low, high in edges:
            above[low].append(high)
        place = {v: row.index(v) for row in rows for v in row}
        obvious = sum(levels[a] == levels[c] and (place[a] - place[c]) * (place[b] - place[d]) < 0
                      for (a, b), (c, d) in combinations(edges, 2))
        assert crossings(rows, above) == obvious
        assert found <= obvious


def test_a_crossing_that_need_not_be_is_undone() -> None:
    across, _ = layers([0, 0, 1, 1], [(0, 3), (1, 2)])
    assert (across[0] - across[1]) * (across[3] - across[2]) > 0
    assert layers([], []) == ([], [])
