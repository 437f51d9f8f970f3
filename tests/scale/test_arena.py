"""Buffers in the host's memory: a tile is the first part of its buffer, and there is nothing to wait for."""

from __future__ import annotations

import numpy as np

from semiring.scale.arena import HostArena


def test_tiles_are_parts_of_their_buffers() -> None:
    arena = HostArena(3, 4, np.dtype("i4"))
    assert len(arena) == 3
    arena.whole(1)[...] = np.arange(16)
    tile = arena.tile(1, 2, 3)
    assert tile.tolist() == [[0, 1, 2], [3, 4, 5]] and tile.flags.c_contiguous
    tile[...] = -1
    assert arena.whole(1)[:7].tolist() == [-1] * 6 + [6]
    assert not np.shares_memory(arena.whole(0), arena.whole(1))


def test_a_lane_waits_for_nobody() -> None:
    with HostArena(1, 1, np.dtype("f8")).lane() as lane:
        mark = lane.mark()
        lane.after(mark)
        lane.wait()
    assert mark is None
