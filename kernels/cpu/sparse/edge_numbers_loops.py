"""The compiled loops that find vertices from numbers of edges; `semiring.kernels.cpu.sparse.edge_numbers` calls them.

They take addresses: of int8 for numbers, int64 for offsets, int32 for vertices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64

from semiring.kernels.cpu.bits.vectors import compiled
from semiring.kernels.cpu.compile import raw
from semiring.kernels.cpu.compile.raw import ROW_0, ROW_1, ROW_2

fetch: Any = raw.fetch  # a type checker would ask the callers for the typing context
load: Any = raw.load
store: Any = raw.store
select: Any = raw.select
NONE = np.int32(-1)


@compiled
def name_rows(first: int, last: int, width: int, offsets: int, columns: int, numbers: int, found: int) -> None:
    """Rows ``first:last``, each of a vertex, in so many lines."""
    for v in range(first, last):
        edges = columns + 4 * fetch(np.int64, offsets, v)
        if fetch(np.int64, offsets, v) == fetch(np.int64, offsets, v + 1):
            for j in range(width):
                store(np.int32, found, 0, v * width + j, ROW_2, NONE)
            continue
        for j in range(width):
            number = int64(load(np.int8, numbers, 0, v * width + j, ROW_0))
            tail = load(np.int32, edges, 0, max(number, 0), ROW_1)
            store(np.int32, found, 0, v * width + j, ROW_2, select(number < 0, NONE, tail))


@compiled
def name_lines(first: int, last: int, n: int, offsets: int, columns: int, numbers: int, found: int) -> None:
    """Lines ``first:last``, each of n vertices."""
    for i in range(first, last):
        for v in range(n):
            number = int64(load(np.int8, numbers, 0, i * n + v, ROW_0))
            tail = NONE
            if number >= 0:
                tail = load(np.int32, columns, 0, fetch(np.int64, offsets, v) + number, ROW_1)
            store(np.int32, found, 0, i * n + v, ROW_2, tail)
