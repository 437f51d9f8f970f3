"""Places of vertices: on a circle without needless crossings, or as given."""

from __future__ import annotations

import math

import pytest

from semiring.teach.layout import _cost, circle, fitted


def test_a_cycle_in_any_order_has_no_crossing() -> None:
    order = [3, 0, 5, 1, 4, 2]
    edges = [(order[i], order[(i + 1) % 6]) for i in range(6)]
    places = circle(6, edges)
    around = sorted(range(6), key=lambda v: math.atan2(places[v][1] - 0.5, places[v][0] - 0.5))
    assert _cost(around, sorted({(min(e), max(e)) for e in edges}))[0] == 0
    assert circle(6, edges) == places


@pytest.mark.parametrize("n", range(1, 13))
def test_places_are_apart_and_inside(n: int) -> None:
    places = circle(n, [(u, (u * 5 + 3) % n) for u in range(n)])
    assert len(set(places)) == n
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in places)


def test_given_places_keep_their_shape() -> None:
    assert fitted([(5, 5)]) == [(0.5, 0.5)]
    assert fitted([(0, 0), (4, 2)]) == [(0.0, 0.75), (1.0, 0.25)]
