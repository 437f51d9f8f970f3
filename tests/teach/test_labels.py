"""Labels of edges: each on its own edge, and none over another where there is room."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from semiring.teach.labels import TALL, on_edges
from semiring.teach.layout import circle
from semiring.teach.svg import Point, control_of


def curves(n: int, edges: list[tuple[int, int]], radius: float) -> tuple[list[tuple[Point, Point, Point]], list[Point]]:
    places = [((2 * x - 1) * radius, (2 * y - 1) * radius) for x, y in circle(n, edges)]
    bends = [12 if (v, u) in edges else 0 for u, v in edges]
    return [(places[u], control_of(places[u], places[v], bend), places[v])
            for (u, v), bend in zip(edges, bends, strict=True)], places


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("count", [9, 14, 20])
def test_no_label_covers_another_or_a_vertex(count: int, seed: int) -> None:
    random, n = np.random.default_rng(seed), 6 if count == 9 else 10
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v]
    edges = [pairs[k] for k in random.choice(len(pairs), count, replace=False)]
    lines, places = curves(n, edges, max(76.0, 16.0 * n))
    width = 24.0
    found = on_edges(lines, [width] * count, [(place, 12.0) for place in places])
    covered = sum(abs(a[0] - b[0]) < width and abs(a[1] - b[1]) < TALL for a, b in combinations(found, 2))
    assert not covered
    for x, y in found:
        assert all(abs(x - a) > 12 or abs(y - b) > 12 for a, b in places)
    for (x, y), (start, control, end) in zip(found, lines, strict=True):
        t = np.linspace(0, 1, 401)[:, None]
        on = (1 - t) ** 2 * np.array(start) + 2 * t * (1 - t) * np.array(control) + t**2 * np.array(end)
        assert np.hypot(*(on - (x, y)).T).min() < 1, "a label is on its own edge"
    assert found == on_edges(lines, [width] * count, [(place, 12.0) for place in places])


def test_an_edge_alone_has_its_label_in_the_middle() -> None:
    assert on_edges([((0, 0), (50, 0), (100, 0))], [20], [((0, 0), 12), ((100, 0), 12)]) == [(50.0, 0.0)]
    assert on_edges([], [], []) == []


def test_a_crossing_is_left_free() -> None:
    lines: list[tuple[Point, Point, Point]] = [((0, 0), (50, 50), (100, 100)), ((0, 100), (50, 50), (100, 0))]
    assert all(place != (50.0, 50.0) for place in on_edges(lines, [10, 10], []))
