"""Place the vertices of a small graph on a circle, in an order in which few edges cross."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations

Place = tuple[float, float]


def circle(n: int, edges: Iterable[tuple[int, int]]) -> list[Place]:
    """Places in the unit square, the first vertex at the left, in an order with few crossings.

    Vertices are exchanged two by two for as long as that takes away crossings, or shortens edges with as many; the same
    graph always gets the same places.

    Examples
    --------
    >>> circle(2, [(0, 1)])
    [(0.0, 0.5), (1.0, 0.5)]
    """
    if n == 1:
        return [(0.5, 0.5)]
    links = sorted({(min(u, v), max(u, v)) for u, v in edges if u != v})
    order = list(range(n))
    best = _cost(order, links)
    improved = True
    while improved:
        improved = False
        for i, j in combinations(range(1, n), 2):
            for tried in (_exchanged(order, i, j), _reversed(order, i, j)):
                if (cost := _cost(tried, links)) < best:
                    order, best, improved = tried, cost, True
    places: list[Place] = [(0.0, 0.0)] * n
    for at, vertex in enumerate(order):
        angle = 2 * math.pi * at / n
        places[vertex] = (round(0.5 - 0.5 * math.cos(angle), 4), round(0.5 - 0.5 * math.sin(angle), 4))
    return places


def _cost(order: Sequence[int], links: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Crossings, and the lengths of edges in steps around the circle."""
    n, at = len(order), {vertex: i for i, vertex in enumerate(order)}
    spans = [(min(at[u], at[v]), max(at[u], at[v])) for u, v in links]
    crossings = sum(a < c < b < d or c < a < d < b for (a, b), (c, d) in combinations(spans, 2))
    return crossings, sum(min(b - a, n - b + a) for a, b in spans)


def _exchanged(order: Sequence[int], i: int, j: int) -> list[int]:
    result = list(order)
    result[i], result[j] = result[j], result[i]
    return result


def _reversed(order: Sequence[int], i: int, j: int) -> list[int]:
    return [*order[:i], *reversed(order[i : j + 1]), *order[j + 1 :]]


def fitted(places: Sequence[Sequence[float]]) -> list[Place]:
    """Given places moved into the unit square, in which y points down as in pictures.

    >>> fitted([(10, 0), (20, 5), (10, 10)])
    [(0.0, 1.0), (1.0, 0.5), (0.0, 0.0)]
    """
    xs, ys = [float(p[0]) for p in places], [float(p[1]) for p in places]
    wide, high = max(xs) - min(xs), max(ys) - min(ys)
    size = max(wide, high) or 1.0
    return [(round((x - min(xs) + (size - wide) / 2) / size, 4), round((max(ys) - y + (size - high) / 2) / size, 4))
            for x, y in zip(xs, ys, strict=True)]
