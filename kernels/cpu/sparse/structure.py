"""Matrices in compressed rows, whatever their elements: checks, transposes, and which entries a product has.

Row i holds the entries ``offsets[i]`` to ``offsets[i + 1]``, each with its column in ``columns``. Compiled functions
take addresses, so that one specialisation serves every array; the Python functions below them take arrays.

F. G. Gustavson, Two fast algorithms for sparse matrices: multiplication and permuted transposition (1978).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.bits.vectors import compiled, trailing_zeros
from semiring.kernels.cpu.compile import raw
from semiring.kernels.cpu.compile.pieces import PIECES, equal_shares, share
from semiring.kernels.cpu.compile.threads import thread_count

OFFSET = np.dtype(np.int64)
COLUMN = np.dtype(np.int32)
MOST = int(np.iinfo(COLUMN).max)  # rows and columns of a matrix
FINE, SORTED, UNSORTED, BROKEN = 0, 1, 2, 3
WORK = 1 << 15  # steps that repay handing a part of the work to another thread
fetch: Any = raw.fetch  # a type checker would ask the callers for the typing context
put: Any = raw.put


@compiled
def inspect(offsets: int, columns: int, rows: int, width: int, entries: int) -> int:
    """Whether columns ascend (`FINE`), do so with repetitions (`SORTED`), do not, or lie outside the matrix."""
    if fetch(np.int64, offsets, 0) != 0 or fetch(np.int64, offsets, rows) > entries:
        return BROKEN
    for i in range(rows):
        if fetch(np.int64, offsets, i) > fetch(np.int64, offsets, i + 1):
            return BROKEN
    found = FINE
    for i in range(rows):
        before = np.int64(-1)
        for p in range(fetch(np.int64, offsets, i), fetch(np.int64, offsets, i + 1)):
            j = np.int64(fetch(np.int32, columns, p))
            if j < 0 or j >= width:
                return BROKEN
            if j <= before:
                found = max(found, SORTED if j == before else UNSORTED)
            before = j
    return found


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


def state_of(offsets: np.ndarray, columns: np.ndarray, width: int) -> int:
    """`FINE`, `SORTED` (with repetitions), `UNSORTED`, or `BROKEN`: columns outside, or offsets that descend."""
    return int(inspect(offsets.ctypes.data, columns.ctypes.data, len(offsets) - 1, width, len(columns)))


def transposed(offsets: np.ndarray, columns: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Offsets and columns of the transposed matrix, ascending, and which entry each of its entries was.

    Examples
    --------
    >>> transposed(np.array([0, 2, 3]), np.array([0, 2, 2], np.int32), 3)
    (array([0, 1, 1, 3]), array([0, 0, 1], dtype=int32), array([0, 1, 2]))
    """
    rows, entries = len(offsets) - 1, int(offsets[-1])
    result = np.zeros(width + 1, OFFSET)
    np.cumsum(np.bincount(columns[:entries], minlength=width), out=result[1:])
    place, source, order = result[:-1].copy(), np.empty(entries, COLUMN), np.empty(entries, OFFSET)
    scatter(
        offsets.ctypes.data, columns.ctypes.data, rows, place.ctypes.data, source.ctypes.data, order.ctypes.data
    )
    return result, source, order


def transpose(A: Rows) -> Rows:
    """The transposed matrix."""
    offsets, columns, order = transposed(A.offsets, A.columns, A.width)
    return Rows(offsets, columns, A.values[order], A.shape[0])


def product_work(A_offsets: np.ndarray, A_columns: np.ndarray, B_offsets: np.ndarray) -> np.ndarray:
    """How many terms the rows of A ⊗ B before each row have; the last number is that of all."""
    terms = np.zeros(int(A_offsets[-1]) + 1, OFFSET)
    np.cumsum(np.diff(B_offsets)[A_columns[: len(terms) - 1]], out=terms[1:])
    return terms[A_offsets]


def product_structure(
    A: tuple[np.ndarray, np.ndarray], B: tuple[np.ndarray, np.ndarray], width: int, threads: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and columns (ascending) of A ⊗ B, from those of A and of B; `width` is the number of B's columns."""
    rows = len(A[0]) - 1
    addresses = tuple(array.ctypes.data for array in (*A, *B))
    work = product_work(A[0], A[1], B[0])
    counts = np.zeros(rows + 1, OFFSET)
    found: dict[int, np.ndarray] = {}

    def union(first: int, last: int) -> None:
        room = np.empty(int(work[last] - work[first]), COLUMN)
        bits = np.zeros((width + 63) // 64 + (width + 4095) // 4096, np.uint64)
        count = union_of_rows(
            *addresses, first, last, width, bits.ctypes.data, counts.ctypes.data + 8, room.ctypes.data
        )
        found[first] = room[:count].copy()  # most terms may have met in a few entries

    share(union, pieces_of(work, threads), threads)
    columns = np.concatenate([found[first] for first in sorted(found)]) if found else np.empty(0, COLUMN)
    return np.cumsum(counts), columns


def pieces_of(work: np.ndarray, threads: int | None) -> list[tuple[int, int]]:
    """Ranges of rows for the threads, given the work before each row (see `equal_shares`)."""
    parts = min(PIECES * thread_count(threads), int(work[-1]) // WORK + 1)
    return equal_shares(work, parts)
