"""The three loops over matrices as they lie in memory. A template: see plain.py, and ../dense/operations_template.py.

Rows of a matrix are contiguous; a matrix is the address of its first element, and the bytes from row to row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64

from semiring.kernels.cpu.compile.raw import as_element, fetch, first_component, put
from semiring.kernels.cpu.dense.operations_template import ZERO, combine, defined, scaled, star
from semiring.kernels.cpu.dense.template import ELEMENT, ITEM, compiled, entry

# Template


@compiled
def extend(c: int, f: Any, b: int, n: int, unit: Any) -> None:
    """c_j ← c_j ⊕ f ⊗ b_j for a row."""
    for j in range(n):
        put(ELEMENT, c, j, combine(fetch(ELEMENT, c, j), f, fetch(ELEMENT, b, j), unit))


@entry(*[int64] * 7)
def eliminate(a: int, stride: int, n: int, first: int, last: int, failed: int, one: int) -> None:
    """The vertices ``first:last``, one after the other, from all rows; `failed` takes the first without a star, or −1.

    The pivot's column is set to ZERO before a row is extended, which leaves in it just the product that belongs there.
    """
    unit = first_component(ELEMENT, one)
    put(np.int64, failed, 0, int64(-1))
    for k in range(first, last):
        row = a + k * stride
        pivot = fetch(ELEMENT, row, k)
        if not defined(pivot):
            put(np.int64, failed, 0, int64(k))
            break
        s = as_element(ELEMENT, star(pivot))
        for j in range(n):
            put(ELEMENT, row, j, as_element(ELEMENT, scaled(s, fetch(ELEMENT, row, j))))
        put(ELEMENT, row, k, s)
        for i in range(n):
            if i != k:
                line = a + i * stride
                f = fetch(ELEMENT, line, k)
                put(ELEMENT, line, k, as_element(ELEMENT, ZERO))
                extend(line, f, row, n, unit)


@entry(*[int64] * 11)
def by_entries(
    c: int, c_stride: int, a: int, a_stride: int, b: int, b_stride: int, m: int, n: int, depth: int, accumulate: int,
    one: int,
) -> None:
    """C ← C ⊕ A ⊗ B, or A ⊗ B: each entry is the ⊕ over a row of A and a column of B."""
    unit = first_component(ELEMENT, one)
    for i in range(m):
        for j in range(n):
            x = fetch(ELEMENT, c + i * c_stride, j) if accumulate else as_element(ELEMENT, ZERO)
            for k in range(depth):
                x = combine(x, fetch(ELEMENT, a + i * a_stride, k), fetch(ELEMENT, b + k * b_stride, j), unit)
            put(ELEMENT, c + i * c_stride, j, x)


@entry(*[int64] * 13)
def by_rows(
    c: int, c_stride: int, a: int, a_stride: int, b: int, b_stride: int, m: int, n: int, depth: int, accumulate: int,
    tile: int, width: int, one: int,
) -> None:
    """C ← C ⊕ A ⊗ B, or A ⊗ B: each row is the ⊕ of rows of B, each multiplied by an entry of A.

    B is taken in tiles of `tile` rows and `width` columns, which stay in the cache while rows of C take their terms.
    """
    unit = first_component(ELEMENT, one)
    for left in range(0, n, width):
        columns = min(width, n - left)
        for first in range(0, max(depth, 1), tile):
            for i in range(m):
                row = c + i * c_stride + left * ITEM
                if not accumulate and not first:
                    for j in range(columns):
                        put(ELEMENT, row, j, as_element(ELEMENT, ZERO))
                for k in range(first, min(first + tile, depth)):
                    factor = fetch(ELEMENT, a + i * a_stride, k)
                    extend(row, factor, b + k * b_stride + left * ITEM, columns, unit)
