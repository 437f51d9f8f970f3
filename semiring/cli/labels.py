"""Where names stand in a picture: beside their points, not on each other, and crossing few lines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Offsets from a point to the middle of its name, in halves of the name's size, best first.
SIDES = np.array([(1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1)], np.float64)
NEAR, FAR = 1.0, 2.2  # distances at which names are tried, in gaps


def free_places(
    points: ArrayLike, sizes: ArrayLike, gap: float, *, taken: ArrayLike = (), lines: ArrayLike = (),
    needed: Sequence[bool] = (),
) -> list[tuple[float, float] | None]:
    """Return the lower left corners of names, each beside its point; None if no place is free.

    One after the other, each in the place that covers the fewest points of lines, of those that cover nothing else: J.
    Christensen, J. Marks, S. Shieber, An empirical study of algorithms for point-feature label placement (1995).

    Parameters
    ----------
    points, sizes : array_like, shape (k, 2)
        The point of each name, and its width and height, in the same unit.
    gap : float
        Between a point and its name.
    taken : array_like, shape (m, 4)
        Boxes that no name may cover: left, low, right, high.
    lines : array_like, shape (p, 2)
        Points on lines that names should not cover.
    needed : sequence of bool
        Whether each name must be placed, even if no place is free. Default: none must.

    Examples
    --------
    >>> free_places([(0, 0), (0, 0)], [(10, 4), (10, 4)], 2)
    [(2.0, 2.0), (2.0, -6.0)]
    """
    boxes = np.asarray(taken, np.float64).reshape(-1, 4)
    dots = np.asarray(lines, np.float64).reshape(-1, 2)
    found: list[tuple[float, float] | None] = []
    for i, (point, size) in enumerate(
        zip(np.asarray(points, np.float64).reshape(-1, 2), np.asarray(sizes, np.float64).reshape(-1, 2), strict=True)
    ):
        tried = _around(point, size, gap)
        covered = _shared(tried, boxes)
        best = int(np.lexsort((_inside(tried, dots), covered))[0])
        if covered[best] and not (len(needed) and needed[i]):
            found.append(None)
            continue
        found.append((float(tried[best, 0]), float(tried[best, 1])))
        boxes = np.vstack([boxes, tried[best]])
    return found


def _around(point: NDArray[np.float64], size: NDArray[np.float64], gap: float) -> NDArray[np.float64]:
    """Boxes of one size around a point: left, low, right, high."""
    middles = np.concatenate([point + SIDES * (size / 2 + gap * distance) for distance in (NEAR, FAR)])
    return np.concatenate([middles - size / 2, middles + size / 2], axis=1)


def _shared(tried: NDArray[np.float64], boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """The total area that each box shares with others."""
    low, high = np.maximum(tried[:, None, :2], boxes[:, :2]), np.minimum(tried[:, None, 2:], boxes[:, 2:])
    area: NDArray[np.float64] = np.prod(np.maximum(high - low, 0), axis=2).sum(axis=1)
    return area


def _inside(tried: NDArray[np.float64], dots: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many points lie within each box."""
    within = (dots >= tried[:, None, :2]) & (dots <= tried[:, None, 2:])
    count: NDArray[np.int64] = np.count_nonzero(within.all(axis=2), axis=1)
    return count
