"""The loops over components, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from semiring.kernels.cpu.sparse.bottleneck_loops import (
    FAR,
    breadth_first,
    component,
    count_places,
    lay_out,
    merge,
)


def test_a_component_is_its_root_and_the_way_there_is_halved() -> None:
    of = np.array([0, 0, 1, 2, 4], np.int32)
    assert [component(of, v) for v in range(5)] == [0, 0, 0, 0, 4]
    assert (of[of] == [0, 0, 0, 0, 4]).all()


def test_edges_of_one_rank_join_what_was_there_before_them() -> None:
    """A triangle of rank 5, one more edge of it beside, both joined at 3 by two edges; vertex 5 is alone."""
    tails, heads = np.array([0, 1, 0, 3, 2, 2], np.int32), np.array([1, 2, 2, 4, 3, 4], np.int32)
    ranks, n = np.array([5, 5, 5, 5, 3, 3], np.int32), 6
    of, node, across = np.arange(n, dtype=np.int32), np.arange(n, dtype=np.int32), np.full((2, 6), -1, np.int32)
    parent, left = np.full((2, 12), -1, np.int32)
    level, size = np.full(12, 9, np.int32), np.ones(12, np.int32)
    count = merge(tails, heads, ranks, of, node, across, parent, level, left, size)
    assert count == 10 and level[n:count].tolist() == [5, 5, 5, 3] and size[n:count].tolist() == [2, 3, 2, 5]
    assert across.tolist() == [[0, 1, 0, 3, 7, 7], [1, 2, 2, 4, 8, 8]], "the ends of rank 5 are vertices"
    top, start, above, children, base = np.zeros((5, count), np.int32)
    lay_out(parent[:count], level[:count], left[:count], size[:count], top, start, above, children)
    assert above.tolist() == [7, 7, 7, 8, 8, -1, -1, 9, 9, -1], "6 is a part of 7"
    assert children.tolist() == [0] * 7 + [3, 2, 2] and sorted(start[:n].tolist()) == list(range(n))
    for x in (7, 8, 9):
        own = [v for v in range(n) if above[v] == x or above[above[v]] == x]
        assert sorted(start[own].tolist()) == list(range(start[x], start[x] + size[x]))
    count_places(above, top, children, base)
    assert base[[5, 7, 8, 9]].tolist() == [1, 2, 2, 1] and base[[0, 3]].tolist() == [4, 3]


@pytest.mark.parametrize("bits", [5, 26, 29])
def test_the_least_tail_of_the_round_before_is_kept(bits: int) -> None:
    """0 leads to 1 and 2, both lead to 3, and 3 to 4; their names descend."""
    n, names = 5, np.array([9, 8, 7, 6, 5], np.int32)
    leads = [[1, 2], [3], [3], [4], []]
    blocks = np.array([0, 1, 2, 3, 4, 5], np.int32)
    active = np.array([[*heads, *[n] * (4 - len(heads))] for heads in leads], np.int32)
    key, queue = np.array([3, FAR, FAR, FAR, FAR, -1], np.int32), np.zeros(n + 8, np.int32)
    breadth_first(1, 0, n, 1 << bits, (1 << bits) - 1, *(a.ctypes.data for a in (names, blocks, active)), n,
                  key.ctypes.data, queue.ctypes.data)
    assert (key[:n] & ((1 << bits) - 1)).tolist() == [3, 9, 9, 7, 6] and key[n] == -1
