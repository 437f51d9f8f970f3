"""The compiled loops over compressed rows against plain Python, by address."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.kernels.cpu.sparse.structure_loops import BLOCK, all_equal, inspect, scatter, union_of_rows
from semiring.kernels.numpy.structure import BROKEN, FINE, SORTED, UNSORTED, state_of

ROWS = st.lists(st.lists(st.integers(0, 8), max_size=6), max_size=6)


def compressed(rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return offsets, np.array([j for row in rows for j in row], np.int32)


def look(offsets: np.ndarray, columns: np.ndarray, width: int, entries: int | None = None) -> int:
    entries = len(columns) if entries is None else entries
    return int(inspect(offsets.ctypes.data, columns.ctypes.data, len(offsets) - 1, width, entries))


@settings(max_examples=200)
@given(ROWS, st.integers(0, 9))
def test_inspect(rows: list[list[int]], width: int) -> None:
    found = look(*compressed(rows), width)
    if any(j >= width for row in rows for j in row):
        assert found == BROKEN
    elif all(row == sorted(set(row)) for row in rows):
        assert found == FINE
    else:
        assert found == (SORTED if all(row == sorted(row) for row in rows) else UNSORTED)


def test_offsets_that_descend_or_lead_too_far_are_broken() -> None:
    columns = np.zeros(3, np.int32)
    for offsets in ([-1, 2], [0, 2, 1], [0, 4]):
        assert look(np.array(offsets), columns, 5) == BROKEN
    assert look(np.array([0, 3]), np.array([0, -1, 2], np.int32), 5) == BROKEN


@settings(max_examples=200)
@given(
    st.sampled_from([BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 3 * BLOCK]), st.integers(0, 3), st.integers(0, 2**32),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(-1, 40)), max_size=3),
)
def test_inspect_across_blocks(rows: int, most: int, seed: int, changes: list[tuple[int, int]]) -> None:
    """Where blocks of rows meet, and with rows that are empty; what NumPy finds is expected."""
    lengths = np.random.default_rng(seed).integers(0, most + 1, rows)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    columns = (np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)).astype(np.int32) * 13
    for place, value in changes if len(columns) else ():
        columns[place % len(columns)] = value
    assert look(offsets, columns, 40) == state_of(offsets, columns, 40)


@settings(max_examples=100)
@given(st.integers(0, 100), st.integers(-(2**63), 2**63 - 1), st.lists(st.integers(0, 99), max_size=2))
def test_all_equal(count: int, word: int, others: list[int]) -> None:
    words = np.full(count, word)
    for place in others:
        words[place % max(count, 1) : count] ^= np.int64(1) << np.int64(place % 63)
    assert all_equal(words.ctypes.data, count, word) == (words.tolist() == [word] * count)


@settings(max_examples=100)
@given(ROWS)
def test_scatter_goes_row_by_row(rows: list[list[int]]) -> None:
    offsets, columns = compressed(rows)
    place = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=9))[:-1]]).astype(np.int64)
    source, order = np.empty(len(columns), np.int32), np.empty(len(columns), np.int64)
    scatter(*(x.ctypes.data for x in (offsets, columns)), len(rows), *(x.ctypes.data for x in (place, source, order)))
    entries = sorted((j, e) for e, j in enumerate(columns.tolist()))
    assert order.tolist() == [e for _, e in entries]
    assert source.tolist() == [int(np.searchsorted(offsets, e, "right")) - 1 for _, e in entries]


@settings(max_examples=100)
@given(st.lists(st.lists(st.integers(0, 3), max_size=4), max_size=5), st.lists(
    st.sets(st.sampled_from([0, 1, 63, 64, 4095, 4096, 9000])), min_size=4, max_size=4
))
def test_union_of_rows(left: list[list[int]], right: list[set[int]]) -> None:
    width = 9001
    A, B = compressed(left), compressed([sorted(row) for row in right])
    bits = np.zeros((width + 63) // 64 + (width + 4095) // 4096, np.uint64)
    wanted = [sorted(set().union(*(right[k] for k in row))) for row in left]
    counts, found = np.zeros(len(left), np.int64), np.empty(1 + sum(map(len, wanted)), np.int32)
    arrays = [x.ctypes.data for x in (*A, *B)]
    total = union_of_rows(*arrays, 0, len(left), width, bits.ctypes.data, counts.ctypes.data, found.ctypes.data)
    assert total == len(found) - 1 and counts.tolist() == [len(row) for row in wanted]
    assert found[:total].tolist() == [j for row in wanted for j in row]
    assert not bits.any(), "all clear, as they were"
