"""Place the labels of edges on their own edges, clear of each other, of vertices and of other edges.

A label on its edge, with a margin of paper around it, belongs to that edge alone; one beside it may belong to two.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .svg import HEIGHT, Point

# Where on an edge a label may stand, as shares of its length: the middle first.
SHARES = np.array([0.5, 0.42, 0.58, 0.35, 0.65, 0.28, 0.72, 0.22, 0.78])
SAMPLES = np.linspace(0.04, 0.96, 24)  # shares of an edge at which it is looked at
TALL = 16.0  # pixels of a label
LABEL, VERTEX, EDGE, OFF = 40.0, 60.0, 3.0, 2.0  # what it costs: covering one of these; being off the middle


def on_edges(
    edges: Sequence[tuple[Point, Point, Point]], widths: Sequence[float], vertices: Sequence[tuple[Point, float]]
) -> list[Point]:
    """Places of the middles of labels, one on each edge.

    The shortest edge, which has the least choice, is served first; each label takes the place that covers least, the
    middle of its edge among equals. The same drawing always gets the same places.

    Parameters
    ----------
    edges : sequence of (start, control point, end)
        Quadratic Bézier curves.
    widths : sequence of float
        Of the labels, in pixels.
    vertices : sequence of (place, half of the width)

    Returns
    -------
    list of pair of float

    Examples
    --------
    >>> cross = [((0, 0), (50, 50), (100, 100)), ((0, 100), (50, 50), (100, 0))]
    >>> on_edges(cross, [10, 10], [])
    [(42.0, 42.0), (42.0, 58.0)]
    """
    if not edges:
        return []
    curves = np.array(edges, float)
    drawn = _points(curves, SAMPLES)
    lengths = np.hypot(*np.diff(drawn, axis=1).transpose(2, 0, 1)).sum(axis=1)
    round_points = np.array([place for place, _ in vertices], float).reshape(-1, 2)
    round_sizes = np.array([(half, HEIGHT / 2) for _, half in vertices], float).reshape(-1, 2)
    places = np.zeros((len(edges), 2))
    sizes = np.array([(width / 2, TALL / 2) for width in widths])
    done: list[int] = []
    for e in np.argsort(lengths, kind="stable"):
        tried = _points(curves[e : e + 1], SHARES)[0]
        others = np.delete(drawn, e, axis=0).reshape(-1, 2)
        cost = OFF * np.abs(SHARES - 0.5).round(6).round(6)
        cost += EDGE * _covered(tried, sizes[e], others, np.zeros_like(others))
        cost += VERTEX * _covered(tried, sizes[e], round_points, round_sizes)
        cost += LABEL * _covered(tried, sizes[e], places[done], sizes[done])
        places[e] = tried[np.argmin(cost)]
        done.append(int(e))
    return [(float(x), float(y)) for x, y in places.round(2)]


def _points(curves: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Points of Bézier curves, shape (curves, shares, 2)."""
    t = shares[None, :, None]
    start, control, end = (curves[:, None, k] for k in range(3))
    return (1 - t) ** 2 * start + 2 * t * (1 - t) * control + t**2 * end


def _covered(middles: np.ndarray, size: np.ndarray, others: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """How many of some boxes a box covers in part, for each of its places; sizes are halves."""
    apart = np.abs(middles[:, None, :] - others[None])
    return (apart < size + sizes[None]).all(axis=2).sum(axis=1)
