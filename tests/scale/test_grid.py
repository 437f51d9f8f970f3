"""Tiles dealt out to processes: each belongs to one, and lies where its owner says."""

from __future__ import annotations

import numpy as np
import pytest

from semiring.scale.grid import Grid, without


@pytest.mark.parametrize("size", [1, 2, 3, 4, 6, 7, 12, 16])
@pytest.mark.parametrize(("n", "side"), [(0, 4), (1, 4), (8, 4), (9, 4), (23, 4), (100, 7)])
def test_each_entry_is_one_processs(size: int, n: int, side: int) -> None:
    owners = np.zeros((n, n), int)
    for rank in range(size):
        g = Grid(n, side, size, rank)
        assert g.rows * g.columns == size and g.rows <= g.columns and g.rank == g.row * g.columns + g.column
        local = np.zeros(g.shape, int)
        for i in range(g.count):
            for j in range(g.count):
                part = g.local_row(i), g.local_column(j)
                mine = i in g.tile_rows and j in g.tile_columns
                assert (local[part].size > 0) == mine
                if mine:
                    local[part] += 1
                    assert local[part].shape == owners[g.span(i), g.span(j)].shape
                    owners[g.span(i), g.span(j)] += 1
        assert (local == 1).all()
    assert (owners == 1).all()


def test_runs_that_leave_out_others() -> None:
    assert without(0) == [] and without(5) == [slice(0, 5)]
    assert without(5, slice(0, 2), slice(4, 5)) == [slice(2, 4)]
    assert without(5, slice(3, 4), slice(0, 0), slice(1, 2)) == [slice(0, 1), slice(2, 3), slice(4, 5)]
    assert without(4, slice(0, 4)) == []
