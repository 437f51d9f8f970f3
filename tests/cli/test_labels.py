"""Where names stand in a picture: not on each other, on nothing that is taken, and on few lines."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.cli.labels import free_places

GAP = 2.0
NUMBERS = st.integers(-40, 40)
POINTS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=12)
Box = tuple[float, float, float, float]


def area(a: Box, b: Box) -> float:
    """What two boxes share."""
    return max(min(a[2], b[2]) - max(a[0], b[0]), 0) * max(min(a[3], b[3]) - max(a[1], b[1]), 0)


def boxes_of(corners: list, sizes: list) -> list[Box]:
    return [(*c, c[0] + s[0], c[1] + s[1]) for c, s in zip(corners, sizes, strict=True) if c is not None]


@settings(max_examples=100)
@given(POINTS, st.lists(st.tuples(NUMBERS, NUMBERS, st.integers(1, 20), st.integers(1, 20)), max_size=6), st.data())
def test_names_cover_no_names_and_nothing_that_is_taken(points: list, given_boxes: list, data: st.DataObject) -> None:
    sizes = [(data.draw(st.integers(1, 30)), data.draw(st.integers(1, 9))) for _ in points]
    taken = [(x, y, x + w, y + h) for x, y, w, h in given_boxes]
    found = free_places(points, sizes, GAP, taken=taken)
    placed = boxes_of(found, sizes)
    for i, box in enumerate(placed):
        assert not any(area(box, other) for other in [*taken, *placed[:i]])
    for point, size, corner in zip(points, sizes, found, strict=True):
        if corner is not None:  # beside its point, and not on it
            right, high = corner[0] + size[0], corner[1] + size[1]
            off = max(corner[0] - point[0], point[0] - right), max(corner[1] - point[1], point[1] - high)
            assert GAP <= max(off) <= 3 * GAP


@settings(max_examples=50)
@given(POINTS)
def test_a_name_that_is_needed_is_there_and_others_only_where_they_fit(points: list) -> None:
    sizes, wall = [(10, 4)] * len(points), [(-200, -200, 200, 200)]
    assert free_places(points, sizes, GAP, taken=wall) == [None] * len(points)
    needed = [i % 2 == 0 for i in range(len(points))]
    found = free_places(points, sizes, GAP, taken=wall, needed=needed)
    assert [corner is not None for corner in found] == needed


def test_a_name_keeps_off_lines() -> None:
    across = np.stack([np.linspace(-50, 50, 200), np.linspace(-50, 50, 200)], axis=1)
    (corner,) = free_places([(0, 0)], [(12, 4)], GAP, lines=across)
    assert corner == (2.0, -6.0), "below the line that goes up"
    assert free_places([(0, 0)], [(12, 4)], GAP) == [(2.0, 2.0)]


def test_nothing_has_no_place() -> None:
    assert free_places([], [], GAP) == []
