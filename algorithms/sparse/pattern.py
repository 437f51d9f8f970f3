"""The pattern of a square sparse matrix: made symmetric for the analysis, and renumbered."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semiring.kernels.cpu.compile.plain import compiled

Index = NDArray[np.int64]


def symmetric(indptr: Index, indices: Index) -> tuple[Index, Index]:
    """The neighbours of every vertex, whichever way an edge goes, ascending and without the vertex itself.

    Parameters
    ----------
    indptr, indices : int64 array
        Compressed rows; indices ascending in each row.

    Examples
    --------
    >>> [x.tolist() for x in symmetric(np.array([0, 2, 2, 3]), np.array([0, 1, 1]))]
    [[0, 1, 3, 4], [1, 0, 2, 1]]
    """
    back_ptr, back, _ = transposed(indptr, indices, len(indptr) - 1)
    start, found = _merge(indptr, indices, back_ptr, back)
    return start, found[: start[-1]]


@compiled
def transposed(indptr: Any, indices: Any, width: int) -> Any:
    """Compressed columns: pointers, rows ascending in each column, and the place of each entry in the rows."""
    size = len(indices)
    start = np.zeros(width + 1, np.int64)
    for q in range(size):
        start[indices[q] + 1] += 1
    for j in range(width):
        start[j + 1] += start[j]
    free = start[:-1].copy()
    rows, origin = np.empty(size, np.int64), np.empty(size, np.int64)
    for i in range(len(indptr) - 1):
        for q in range(indptr[i], indptr[i + 1]):
            place = free[indices[q]]
            rows[place], origin[place] = i, q
            free[indices[q]] = place + 1
    return start, rows, origin


@compiled
def _merge(indptr: Any, indices: Any, back_ptr: Any, back: Any) -> Any:
    n = len(indptr) - 1
    start, found, size = np.zeros(n + 1, np.int64), np.empty(2 * len(indices), np.int64), 0
    for i in range(n):
        p, q = indptr[i], back_ptr[i]
        while p < indptr[i + 1] or q < back_ptr[i + 1]:
            right = indices[p] if p < indptr[i + 1] else n
            left = back[q] if q < back_ptr[i + 1] else n
            j = min(right, left)
            p += right == j
            q += left == j
            if j != i:
                found[size] = j
                size += 1
        start[i + 1] = size
    return start, found


@compiled
def renumbered(start: Any, neighbours: Any, order: Any, place: Any) -> Any:
    """The pattern of the matrix whose row k is row `order[k]`, columns likewise; `place` is the inverse of `order`."""
    n = len(order)
    new, found, size = np.zeros(n + 1, np.int64), np.empty(len(neighbours), np.int64), 0
    for k in range(n):
        for q in range(start[order[k]], start[order[k] + 1]):
            found[size] = place[neighbours[q]]
            size += 1
        new[k + 1] = size
    return new, found


def inverse(order: Index) -> Index:
    """The position of each vertex in an order."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place
