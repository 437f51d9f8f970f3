"""The compiled loops over the structure of compressed rows; `semiring.kernels.cpu.sparse.structure` calls them.

They take addresses, so that one specialisation serves every array.

F. G. Gustavson, Two fast algorithms for sparse matrices: multiplication and permuted transposition (1978).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.kernels.cpu.bits.vectors import compiled
from semiring.kernels.cpu.compile import raw
from semiring.kernels.numpy.structure import BROKEN, FINE, SORTED, UNSORTED

fetch: Any = raw.fetch  # a type checker would ask the callers for the typing context
put: Any = raw.put
select: Any = raw.select
trailing_zeros: Any = raw.trailing_zeros
BLOCK = 1 << 9  # rows that are looked at together: their columns stay in the cache
BATCH = 1 << 20  # entries that are counted in 32 bits


@compiled
def goes_both_ways(offsets: int, columns: int, n: int, met: int) -> bool:
    """Whether for every entry i, j there is one j, i; columns ascend. `met` has room for n numbers.

    Entries are met row by row, and so those of any column in ascending order, which has to be the order of the columns
    of that row.
    """
    for i in range(n):
        put(np.int64, met, i, fetch(np.int64, offsets, i))
    for i in range(n):
        for p in range(fetch(np.int64, offsets, i), fetch(np.int64, offsets, i + 1)):
            j = np.int64(fetch(np.int32, columns, p))
            q = fetch(np.int64, met, j)
            if q == fetch(np.int64, offsets, j + 1) or fetch(np.int32, columns, q) != i:
                return False
            put(np.int64, met, j, q + 1)
    return True


@compiled
def inspect(offsets: int, columns: int, rows: int, width: int, entries: int) -> int:
    """Whether columns ascend (`FINE`), do so with repetitions (`SORTED`), do not, or lie outside, in some rows."""
    if fetch(np.int64, offsets, 0) < 0 or fetch(np.int64, offsets, rows) > entries:
        return BROKEN
    descends = False
    for i in range(rows):
        descends |= fetch(np.int64, offsets, i) > fetch(np.int64, offsets, i + 1)
    if descends:
        return BROKEN
    found = FINE
    for first in range(0, rows, BLOCK):
        last = min(first + BLOCK, rows)
        begin, end = fetch(np.int64, offsets, first), fetch(np.int64, offsets, last)
        if begin == end:
            continue
        # As if the rows were one, which vectorises: steps that do not ascend may lead from a row to the next only.
        if fetch(np.uint32, columns, begin) >= np.uint32(width):
            return BROKEN
        steps, between = np.int64(0), np.int64(0)
        for start in range(begin + 1, end, BATCH):
            outside, some = np.int32(0), np.int32(0)
            for p in range(start, min(start + BATCH, end)):
                j = fetch(np.int32, columns, p)
                outside = np.int32(outside | select(np.uint32(j) >= np.uint32(width), np.int32(1), np.int32(0)))
                some = np.int32(some + select(j <= fetch(np.int32, columns, p - 1), np.int32(1), np.int32(0)))
            if outside:
                return BROKEN
            steps += some
        for i in range(first, last):
            p = fetch(np.int64, offsets, i)
            if begin < p < fetch(np.int64, offsets, i + 1):
                between += np.int64(fetch(np.int32, columns, p) <= fetch(np.int32, columns, p - 1))
        if steps > between and found != UNSORTED:
            found = max(found, order_of_columns(offsets, columns, first, last))
    return found


@compiled
def order_of_columns(offsets: int, columns: int, first: int, last: int) -> int:
    """What `inspect` finds of columns inside, row by row."""
    found = FINE
    for i in range(first, last):
        for p in range(fetch(np.int64, offsets, i) + 1, fetch(np.int64, offsets, i + 1)):
            before, j = fetch(np.int32, columns, p - 1), fetch(np.int32, columns, p)
            if j <= before:
                found = max(found, SORTED if j == before else UNSORTED)
    return found


@compiled
def all_equal(words: int, count: int, word: int) -> bool:
    """Whether each of some words of 64 bits is this one."""
    for start in range(0, count, BATCH):
        differs = np.int64(0)
        for i in range(start, min(start + BATCH, count)):
            differs |= fetch(np.int64, words, i) ^ word
        if differs:
            return False
    return True


@compiled
def scatter(offsets: int, columns: int, rows: int, next_place: int, source: int, order: int) -> None:
    """For every entry, row by row: its row and its number, to the next free place of its column."""
    for i in range(rows):
        for p in range(fetch(np.int64, offsets, i), fetch(np.int64, offsets, i + 1)):
            j = np.int64(fetch(np.int32, columns, p))
            place = fetch(np.int64, next_place, j)
            put(np.int64, next_place, j, place + 1)
            put(np.int32, source, place, np.int32(i))
            put(np.int64, order, place, p)


@compiled
def longer_than_wanted(
    wanted: int, A_offsets: int, A_columns: int, B_offsets: int, lengths: int, first: int, last: int, later: int,
    steps: int,
) -> None:
    """Which entries of some rows of A meet a row of B whose length in `lengths` exceeds that of the mask's row.

    `wanted` are the mask's offsets. `steps` becomes the steps that each row takes: each term as many as the shorter of
    the two rows.
    """
    for i in range(first, last):
        count = fetch(np.int64, wanted, i + 1) - fetch(np.int64, wanted, i)
        total = count + np.int64(1)
        for p in range(fetch(np.int64, A_offsets, i), fetch(np.int64, A_offsets, i + 1)):
            k = np.int64(fetch(np.int32, A_columns, p))
            put(np.uint8, later, p, np.uint8(fetch(np.float64, lengths, k) > np.float64(count)))
            total += min(count, fetch(np.int64, B_offsets, k + 1) - fetch(np.int64, B_offsets, k)) + np.int64(1)
        put(np.int64, steps, i, total)


@compiled
def union_of_rows(
    A_offsets: int, A_columns: int, B_offsets: int, B_columns: int, first: int, last: int, width: int, bits: int,
    counts: int, found: int,
) -> int:
    """Columns of the rows ``first:last`` of a product, in ascending order, and their number for each row.

    `bits` are a bit a column and then a bit a word of those, all clear, as they are again in the end.
    """
    above = bits + 8 * ((width + 63) // 64)
    total: Any = np.int64(0)
    for i in range(first, last):
        for p in range(fetch(np.int64, A_offsets, i), fetch(np.int64, A_offsets, i + 1)):
            k = np.int64(fetch(np.int32, A_columns, p))
            for q in range(fetch(np.int64, B_offsets, k), fetch(np.int64, B_offsets, k + 1)):
                j = np.int64(fetch(np.int32, B_columns, q))
                word = fetch(np.uint64, bits, j >> 6)
                if word == 0:
                    high = fetch(np.uint64, above, j >> 12) | (np.uint64(1) << np.uint64(j >> 6 & 63))
                    put(np.uint64, above, j >> 12, high)
                put(np.uint64, bits, j >> 6, word | (np.uint64(1) << np.uint64(j & 63)))
        before = total
        for h in range((width + 4095) // 4096):
            high = fetch(np.uint64, above, h)
            put(np.uint64, above, h, np.uint64(0))
            while high:
                w = 64 * h + trailing_zeros(high)
                high &= high - np.uint64(1)
                word = fetch(np.uint64, bits, w)
                put(np.uint64, bits, w, np.uint64(0))
                while word:
                    put(np.int32, found, total, np.int32(64 * w + trailing_zeros(word)))
                    total += 1
                    word &= word - np.uint64(1)
        put(np.int64, counts, i, total - before)
    return total
