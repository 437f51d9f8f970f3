"""Places of the vertices of a small graph: as given, or on a circle in an order in which few edges cross."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from semiring.errors import SemiringError
from semiring.graphs.texts import count_text
from semiring.solvers.paths.search import positions as positions_of

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


def placed(
    positions: Any, n: int, edges: Iterable[tuple[int, int]], names: Sequence[Any] | None = None
) -> list[Place]:
    """Places in the unit square: those that the caller gives, or on a circle.

    Parameters
    ----------
    positions : mapping of vertex to pair, sequence of pairs, or None
        Coordinates with y pointing up.
    n : int
    edges : iterable of (int, int)
    names : sequence, optional

    Raises
    ------
    SemiringError
        If there is not one pair of finite numbers for each vertex.
    GraphError
        For an unknown vertex.

    Examples
    --------
    >>> placed({"b": (10, 0), "a": (0, 0)}, 2, [(0, 1)], ["a", "b"])
    [(0.0, 0.5), (1.0, 0.5)]
    """
    if positions is None:
        return circle(n, edges)
    if isinstance(positions, Mapping):
        found = dict(zip(positions_of(list(positions), names, n)[1].tolist(), positions.values(), strict=True))
        missing = [v for v in range(n) if v not in found]
        if missing:
            raise SemiringError(f"positions lacks the vertex {missing[0] if names is None else names[missing[0]]!r}")
        positions = [found[v] for v in range(n)]
    try:
        places = np.array([[float(x) for x in place] for place in positions]).reshape(n, 2)
    except (TypeError, ValueError):
        places = np.full((1, 2), np.nan)
    if not np.isfinite(places).all():
        pairs = count_text(n, "pair", "pairs")
        raise SemiringError(f"positions must be {pairs} of finite numbers, one for each vertex")
    return fitted(places.tolist())


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
