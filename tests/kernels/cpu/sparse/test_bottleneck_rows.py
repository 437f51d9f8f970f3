"""What the rows of neighbours in the tree of components have in common, one loop at a time."""

from __future__ import annotations

import numpy as np
import pytest

from semiring.kernels.cpu.sparse.bottleneck import components
from semiring.kernels.cpu.sparse.bottleneck_rows import (
    GROUP,
    largest_holding,
    least_holding,
    mark,
    write_numbers,
    write_vertices,
)

TAILS, HEADS, RANKS = np.array([[0, 2, 0, 5], [1, 3, 2, 6], [9, 8, 3, 3]], np.int32)  # vertices 4 and 7 are alone
N = 8


def test_which_components_hold_two_vertices() -> None:
    tree = components(N, TAILS, HEADS, RANKS)
    names = np.empty(N, np.int32)
    names[tree.start[:N]] = np.arange(N)
    above, start, size = (a.ctypes.data for a in (tree.above, tree.start, tree.size))
    for p in range(N):
        for q in range(p, N):
            x = least_holding(p, q, above, start, size, names.ctypes.data)
            within = [c for c in range(len(tree.start)) if tree.start[c] <= p and q < tree.start[c] + tree.size[c]
                      and (c < N or tree.children[c] < tree.children[c + 1])]
            assert x == min(within, key=lambda c: tree.size[c], default=-1), (p, q)
        assert tree.size[largest_holding(p, above, names.ctypes.data)] == (1, 2, 4)[
            2 * int(names[p] < 4) + int(names[p] in (5, 6))]


@pytest.mark.parametrize("n", [5, 8, 21])
@pytest.mark.parametrize("count", [1, 3, GROUP])
def test_rows_are_hops_to_the_places_of_all_vertices(n: int, count: int) -> None:
    """To the first place there are none; as numbers, those of edges, which are in descending order here."""
    rng, places = np.random.default_rng(n), 4
    known, names = rng.integers(0, places, n, dtype=np.int32), rng.permutation(n).astype(np.int32)
    mark(1, 3, 2, names.ctypes.data, known.ctypes.data)
    assert (known[names[1:3]] == 2).all()
    edges = np.array([rng.permutation(n)[:3] for _ in range(n)], np.int32)
    edges[:] = np.sort(edges, axis=1)[:, ::-1]
    offsets, rows = 3 * np.arange(n + 1), np.zeros(GROUP, np.int64)
    count = min(count, n)
    rows[:count] = rng.permutation(n)[:count]
    number = rng.integers(0, 3, (places, GROUP))
    hops = edges[rows, number].astype(np.int32)
    hops[0] = -1
    expected = np.full((n, n), -7, np.int32)
    expected[rows[:count]] = hops[known][:, :count].T
    P = np.full((n, n), -7, np.int32)
    write_vertices(count, n, *(a.ctypes.data for a in (known, hops, rows, P)))
    assert (expected == P).all()
    numbers, workspace = np.full((n, n), -7, np.int8), np.zeros(GROUP * (places + n + 2) + n, np.uint8)
    number[0], known_rows = -1, rows[:count].copy()
    write_numbers(count, n, places, *(a.ctypes.data for a in (known, hops, rows, offsets, edges, numbers, workspace)))
    assert (numbers[known_rows] == number[known][:, :count].T).all()
    assert (np.delete(numbers, known_rows, axis=0) == -7).all()
