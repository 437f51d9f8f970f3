"""Matrices in compressed rows, whatever their elements: checks, transposes, and which entries a product has.

Row i holds the entries ``offsets[i]`` to ``offsets[i + 1]``, each with its column in ``columns``. Loops are compiled
(structure_loops.py), or NumPy does the work where that takes less time than compiling them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.compile.price import Code
from semiring.kernels.cpu.compile.rounds import Pace
from semiring.kernels.numpy import structure as by_numpy
from semiring.kernels.numpy.structure import BROKEN, COLUMN, FINE, OFFSET, SORTED, UNSORTED, product_work
from semiring.machine.pieces import PIECES, equal_shares, parts_worth, ranges, share
from semiring.machine.threads import thread_count

__all__ = ["BROKEN", "COLUMN", "FINE", "OFFSET", "SORTED", "UNSORTED", "product_work"]

MOST_COLUMNS = int(np.iinfo(COLUMN).max)  # rows and columns of a matrix
PARALLEL_ENTRIES = 1 << 20  # rows and entries that repay looking at them on several threads
PART = 1 << 16  # indices that are looked at, and then narrowed, while they are in the cache
WORK = 1 << 15  # steps that repay handing a part of the work to another thread
TYPICAL = "inspect", "scatter", "union_of_rows"  # what most work with compressed rows needs

CODE = Code.of_loops(Path(__file__).with_name("structure_loops.py"), TYPICAL)
UNIONS = Pace()


def state_of(offsets: np.ndarray, columns: np.ndarray, width: int) -> int:
    """`FINE`, `SORTED` (with repetitions), `UNSORTED`, or `BROKEN`: columns outside, or offsets that descend."""
    rows, entries = len(offsets) - 1, len(columns)
    if CODE.bought or CODE.repays((rows + entries) * by_numpy.LOOK):
        from .structure_loops import inspect  # it loads Numba

        if offsets[0] != 0 or offsets[-1] > entries:
            return BROKEN
        first_offset, first_column, found = offsets.ctypes.data, columns.ctypes.data, [FINE]
        if rows + entries < PARALLEL_ENTRIES:
            return int(inspect(first_offset, first_column, rows, width, entries))

        def look(first: int, last: int) -> None:
            found.append(inspect(first_offset + OFFSET.itemsize * first, first_column, last - first, width, entries))

        share(look, ranges(rows, parts_worth(rows + entries, thread_count())), None)
        return int(max(found))
    return CODE.rent(by_numpy.state_of, offsets, columns, width)


def goes_both_ways(A: Rows) -> bool:
    """Whether for every entry i, j of a square matrix there is one j, i, whatever their values.

    Where that is not so, the first few entries show it as a rule; where it is, it takes as long as some searches.

    Examples
    --------
    >>> A = Rows(np.array([0, 1, 2]), np.array([1, 0], np.int32), np.array([2.0, 5.0]), 2)
    >>> goes_both_ways(A), goes_both_ways(Rows(A.offsets, np.array([1, 1], np.int32), A.values, 2))
    (True, False)
    """
    from .structure_loops import goes_both_ways as compare  # it loads Numba

    met = np.empty(A.shape[0], OFFSET)
    return bool(compare(A.offsets.ctypes.data, A.columns.ctypes.data, len(met), met.ctypes.data))


def narrowed(indices: np.ndarray) -> np.ndarray | None:
    """Indices of any integer dtype as columns, by all threads; None where one is below 0 or no column can be as large.

    Examples
    --------
    >>> narrowed(np.array([3, 1])), narrowed(np.array([-1])), narrowed(np.array([1 << 31]))
    (array([3, 1], dtype=int32), None, None)
    """
    if indices.dtype == COLUMN:
        return np.ascontiguousarray(indices)
    columns, inside = np.empty(len(indices), COLUMN), []

    def copy(first: int, last: int) -> None:
        part = indices[first:last]
        if part.dtype == np.int64:  # without their signs those below 0 are large: one pass, not two
            inside.append(int(part.view(np.uint64).max()) <= MOST_COLUMNS)
        else:
            inside.append(int(part.min()) >= 0 and int(part.max()) <= MOST_COLUMNS)
        columns[first:last] = part

    share(copy, ranges(len(indices), len(indices) // PART + 1), None)
    return columns if all(inside) else None


def alike(values: np.ndarray) -> bool:
    """Whether all of some numbers are equal, to the bit where there are many; numbers that are not are found soon.

    Examples
    --------
    >>> alike(np.ones(9)), alike(np.arange(9))
    (True, False)
    """
    def equal(part: np.ndarray) -> bool:
        return bool((part == values[:1]).all())

    size = values.itemsize
    if not equal(values[:256]):
        return False
    words = values.dtype.kind in "biuf" and size <= 8 and values.flags.c_contiguous
    if len(values) < max(PARALLEL_ENTRIES, 8) or not words:
        return equal(values)
    count, first = values.nbytes // 8, values[: 8 // size]
    if not CODE.repays(count * by_numpy.LOOK):
        return bool(CODE.rent(equal, values))
    from .structure_loops import all_equal

    found = [bool((first.view(np.uint8).reshape(-1, size) == first[:1].view(np.uint8)).all())]
    start, word = values.ctypes.data, int(first.view(np.int64)[0])

    def look(begin: int, end: int) -> None:
        found.append(all_equal(start + 8 * begin, end - begin, word))

    share(look, ranges(count, parts_worth(count, thread_count())), None)
    return all(found) and equal(values[8 * count // size :])


def transposed(offsets: np.ndarray, columns: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Offsets and columns of the transposed matrix, ascending, and which entry each of its entries was.

    Examples
    --------
    >>> transposed(np.array([0, 2, 3]), np.array([0, 2, 2], np.int32), 3)
    (array([0, 1, 1, 3]), array([0, 0, 1], dtype=int32), array([0, 1, 2]))
    """
    rows, entries = len(offsets) - 1, int(offsets[-1])
    if not (CODE.bought or CODE.repays(entries * by_numpy.SORT)):
        return CODE.rent(by_numpy.transposed, offsets, columns, width)
    from .structure_loops import scatter

    result = by_numpy.column_offsets(columns[:entries], width)
    place, source, order = result[:-1].copy(), np.empty(entries, COLUMN), np.empty(entries, OFFSET)
    scatter(
        offsets.ctypes.data, columns.ctypes.data, rows, place.ctypes.data, source.ctypes.data, order.ctypes.data
    )
    return result, source, order


def transpose(A: Rows) -> Rows:
    """The transposed matrix."""
    offsets, columns, order = transposed(A.offsets, A.columns, A.width)
    return Rows(offsets, columns, A.values[order], len(A.offsets) - 1)


def is_symmetric(A: Rows) -> bool:
    """Whether a square matrix, whose columns ascend, is its transpose.

    Examples
    --------
    >>> A = Rows(np.array([0, 1, 2]), np.array([1, 0], np.int32), np.array([2.0, 5.0]), 2)
    >>> is_symmetric(A), is_symmetric(Rows(A.offsets, A.columns, np.array([2.0, 2.0]), 2))
    (False, True)
    """
    offsets, columns, order = transposed(A.offsets, A.columns, A.width)
    same = np.array_equal(offsets, A.offsets) and np.array_equal(columns, A.columns)
    return bool(same and np.array_equal(A.values[order], A.values))


def product_structure(
    A: tuple[np.ndarray, np.ndarray], B: tuple[np.ndarray, np.ndarray], width: int, threads: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and columns (ascending) of A ⊗ B, from those of A and of B; `width` is the number of B's columns."""
    work = product_work(A[0], A[1], B[0])
    if not CODE.repays(float(work[-1]) * by_numpy.SORT):
        return CODE.rent(by_numpy.product_structure, A, B, width)
    from .structure_loops import union_of_rows

    rows = len(A[0]) - 1
    addresses = tuple(array.ctypes.data for array in (*A, *B))
    counts = np.zeros(rows + 1, OFFSET)
    found: dict[int, np.ndarray] = {}

    def union(first: int, last: int) -> None:
        room = np.empty(int(work[last] - work[first]), COLUMN)
        bits = np.zeros((width + 63) // 64 + (width + 4095) // 4096, np.uint64)
        count = union_of_rows(
            *addresses, first, last, width, bits.ctypes.data, counts.ctypes.data + 8, room.ctypes.data
        )
        found[first] = room[:count].copy()  # most terms may have met in a few entries

    union(0, 0)  # compiles before anything is timed
    for first, last in UNIONS.rounds(work):
        share(union, pieces_of(work, threads, first, last), threads)
    columns = np.concatenate([found[first] for first in sorted(found)]) if found else np.empty(0, COLUMN)
    return np.cumsum(counts), columns


def pieces_of(
    work: np.ndarray, threads: int | None, first: int = 0, last: int | None = None, each: int = 1
) -> list[tuple[int, int]]:
    """Ranges that make up the rows ``first:last``, for the threads, given the work before each (see `equal_shares`).

    `each` is how many steps a unit of work takes.
    """
    last = len(work) - 1 if last is None else last
    before = work[first : last + 1]
    if first:
        before = before - before[0]
    parts = min(PIECES * thread_count(threads), int(before[-1]) * each // WORK + 1)
    return [(first + top, first + bottom) for top, bottom in equal_shares(before, parts)]
