"""The compiled loops write only what they should, and read no further than there are edges."""

from __future__ import annotations

import numpy as np

from semiring.kernels.cpu.sparse.edge_numbers_loops import name_lines, name_rows

OFFSETS = np.array([0, 2, 2, 3, 3])  # the last vertex has no edge, and none stands behind its place
COLUMNS = np.array([7, 8, 9], np.int32)


def test_rows_of_vertices() -> None:
    numbers = np.array([[1, 0, -1], [-1, -1, -1], [0, -1, 0], [-1, -1, -1]], np.int8)
    found = np.full((4, 3), 5, np.int32)
    shared = [a.ctypes.data for a in (OFFSETS, COLUMNS, numbers, found)]
    name_rows(1, 3, 3, *shared)
    assert found.tolist() == [[5] * 3, [-1] * 3, [9, -1, 9], [5] * 3]
    name_rows(0, 4, 3, *shared)
    assert found.tolist() == [[8, 7, -1], [-1] * 3, [9, -1, 9], [-1] * 3]


def test_lines_of_trees() -> None:
    numbers = np.array([[1, -1, 0, -1], [0, -1, -1, -1], [-1, -1, 0, -1]], np.int8)
    found = np.full((3, 4), 5, np.int32)
    shared = [a.ctypes.data for a in (OFFSETS, COLUMNS, numbers, found)]
    name_lines(1, 2, 4, *shared)
    assert found.tolist() == [[5] * 4, [7, -1, -1, -1], [5] * 4]
    name_lines(0, 3, 4, *shared)
    assert found.tolist() == [[8, -1, 9, -1], [7, -1, -1, -1], [-1, -1, 9, -1]]
