"""Products of matrices in compressed rows over one semiring. A template: see product.py, and template.py.

    C[i, :] ← C[i, :] ⊕ a_ip ⊗ B[p, :] for every entry a_ip of row i

Offsets are int64, columns int32, all arrays addresses. Every entry of C takes its terms in the order of A's entries,
in whichever thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64

from semiring.kernels.cpu.compile.raw import ROW_0, as_element, fetch, first_component, load, put, stay_apart, store
from semiring.kernels.cpu.dense.operations_template import ZERO, plus, times
from semiring.kernels.cpu.dense.template import DEPTH, ELEMENT, ITEM, compiled, entry, inline

ONE = np.float32(1)
K = 0  # replaced by each step

# Template


@inline
def combine(x: Any, a: Any, b: Any, unit: Any) -> Any:
    """x ⊕ a ⊗ b in the element's own types."""
    return as_element(ELEMENT, plus(x, as_element(ELEMENT, times(a, b, unit))))


@compiled
def add_rows(
    sums: int, width: int, columns: int, values: int, first: int, last: int, B: int, B_row: int, unit: Any
) -> None:
    """sums[j] ← sums[j] ⊕ the values ⊗ B[their columns, j], for the entries ``first:last`` of A and `width` columns."""
    stay_apart()
    whole = last - (last - first) % DEPTH
    for p in range(first, whole, DEPTH):
        a_K = fetch(ELEMENT, values, p + K)  # each K
        b_K = B + int64(fetch(np.int32, columns, p + K)) * B_row  # each K
        for j in range(width):
            x = load(ELEMENT, sums, width, j, ROW_0)
            x = combine(x, a_K, fetch(ELEMENT, b_K, j), unit)  # each K
            store(ELEMENT, sums, width, j, ROW_0, x)
    for p in range(whole, last):
        a = fetch(ELEMENT, values, p)
        b = B + int64(fetch(np.int32, columns, p)) * B_row
        for j in range(width):
            x = load(ELEMENT, sums, width, j, ROW_0)
            store(ELEMENT, sums, width, j, ROW_0, combine(x, a, fetch(ELEMENT, b, j), unit))


@compiled
def add_rows_mirrored(
    sums: int, width: int, columns: int, values: int, first: int, last: int, B: int, B_row: int, unit: Any
) -> None:
    """`add_rows` with the factors in the other order."""
    stay_apart()
    whole = last - (last - first) % DEPTH
    for p in range(first, whole, DEPTH):
        a_K = fetch(ELEMENT, values, p + K)  # each K
        b_K = B + int64(fetch(np.int32, columns, p + K)) * B_row  # each K
        for j in range(width):
            x = load(ELEMENT, sums, width, j, ROW_0)
            x = combine(x, fetch(ELEMENT, b_K, j), a_K, unit)  # each K
            store(ELEMENT, sums, width, j, ROW_0, x)
    for p in range(whole, last):
        a = fetch(ELEMENT, values, p)
        b = B + int64(fetch(np.int32, columns, p)) * B_row
        for j in range(width):
            x = load(ELEMENT, sums, width, j, ROW_0)
            store(ELEMENT, sums, width, j, ROW_0, combine(x, fetch(ELEMENT, b, j), a, unit))


@entry(*[int64] * 15)
def times_dense(
    C: int, C_row: int, C_column: int, offsets: int, columns: int, values: int, B: int, B_row: int, width: int,
    accumulate: int, mirrored: int, first: int, last: int, sums: int, one: int,
) -> None:
    """Rows ``first:last`` of C ← C ⊕ A ⊗ B, or A ⊗ B, for `width` columns; rows of B have unit stride.

    `mirrored`: the dense factor comes first in every ⊗. `sums` is room for a row.
    """
    unit = first_component(ELEMENT, one)
    for i in range(first, last):
        row = C + i * C_row
        begin, end = fetch(np.int64, offsets, i), fetch(np.int64, offsets, i + 1)
        for j in range(width):
            x = as_element(ELEMENT, ZERO)
            if accumulate:
                x = fetch(ELEMENT, row + j * C_column, 0)
            store(ELEMENT, sums, width, j, ROW_0, x)
        if mirrored:
            add_rows_mirrored(sums, width, columns, values, begin, end, B, B_row, unit)
        else:
            add_rows(sums, width, columns, values, begin, end, B, B_row, unit)
        if C_column == ITEM:
            for j in range(width):
                put(ELEMENT, row, j, load(ELEMENT, sums, width, j, ROW_0))
        else:
            for j in range(width):
                put(ELEMENT, row + j * C_column, 0, load(ELEMENT, sums, width, j, ROW_0))


@entry(*[int64] * 13)
def substitute(
    X: int, X_row: int, order: int, offsets: int, columns: int, values: int, width: int, left: int, met: int,
    mirrored: int, rows: int, sums: int, one: int,
) -> None:
    """X ← X ⊕ A ⊗ X row after row in an order in which each row of A has entries in columns of earlier rows only.

    `width` columns of X, of unit stride. `mirrored`: the element of X comes first in every ⊗. `sums` is room for a row.
    If `left` is not negative, X is not read: it begins as these columns of the identity, from `left` on, and `met` has
    room for a byte for each row, whether it has other elements than zero.
    """
    unit = first_component(ELEMENT, one)
    for i in range(rows):
        v = fetch(np.int64, order, i)
        row, begin, end = X + v * X_row, fetch(np.int64, offsets, v), fetch(np.int64, offsets, v + 1)
        if left >= 0:
            here = left <= v < left + width
            some = np.uint8(here)
            for p in range(begin, end):
                some |= fetch(np.uint8, met, int64(fetch(np.int32, columns, p)))
            put(np.uint8, met, v, np.uint8(some))
            if not some:
                for j in range(width):
                    put(ELEMENT, row, j, as_element(ELEMENT, ZERO))
                continue
            for j in range(width):
                store(ELEMENT, sums, width, j, ROW_0, as_element(ELEMENT, ZERO))
            if here:
                store(ELEMENT, sums, width, v - left, ROW_0, as_element(ELEMENT, ONE))
        elif begin == end:
            continue
        else:
            for j in range(width):
                store(ELEMENT, sums, width, j, ROW_0, fetch(ELEMENT, row, j))
        if mirrored:
            add_rows_mirrored(sums, width, columns, values, begin, end, X, X_row, unit)
        else:
            add_rows(sums, width, columns, values, begin, end, X, X_row, unit)
        for j in range(width):
            put(ELEMENT, row, j, load(ELEMENT, sums, width, j, ROW_0))


@entry(*[int64] * 10)
def times_vector(
    c: int, offsets: int, columns: int, values: int, b: int, accumulate: int, mirrored: int, first: int, last: int,
    one: int,
) -> None:
    """Rows ``first:last`` of c ← c ⊕ A ⊗ b, or A ⊗ b, of unit strides."""
    unit = first_component(ELEMENT, one)
    for i in range(first, last):
        x = as_element(ELEMENT, ZERO)
        if accumulate:
            x = fetch(ELEMENT, c, i)
        for p in range(fetch(np.int64, offsets, i), fetch(np.int64, offsets, i + 1)):
            a, y = fetch(ELEMENT, values, p), fetch(ELEMENT, b, int64(fetch(np.int32, columns, p)))
            x = combine(x, y, a, unit) if mirrored else combine(x, a, y, unit)
        put(ELEMENT, c, i, x)


@entry(*[int64] * 12)
def times_vector_looking(
    c: int, offsets: int, columns: int, values: int, b: int, accumulate: int, first: int, last: int, width: int,
    entries: int, failed: int, one: int,
) -> None:
    """`times_vector` for unchecked rows; `failed` becomes 1 if these or their values are invalid.

    Offsets that descend or lead behind the last entry, columns outside or not ascending, and NaN are unfit. Nothing
    outside the arrays is read.
    """
    unit = first_component(ELEMENT, one)
    end = fetch(np.int64, offsets, first)
    unfit = end < 0
    for i in range(first, last):
        begin, end = end, fetch(np.int64, offsets, i + 1)
        if unfit or end < begin or end > entries:
            unfit = True
            break
        x = as_element(ELEMENT, ZERO)
        if accumulate:
            x = fetch(ELEMENT, c, i)
        before = np.int32(-1)
        for p in range(begin, end):
            j, a = fetch(np.int32, columns, p), fetch(ELEMENT, values, p)
            if np.uint32(j) >= np.uint32(width):
                unfit = True
                break
            unfit |= (j <= before) | (a != a)
            before = j
            x = combine(x, a, fetch(ELEMENT, b, int64(j)), unit)
        put(ELEMENT, c, i, x)
    if unfit:
        put(np.int64, failed, 0, int64(1))


@entry(*[int64] * 13)
def times_sparse(
    C_offsets: int, C_columns: int, C_values: int, A_offsets: int, A_columns: int, A_values: int,
    B_offsets: int, B_columns: int, B_values: int, first: int, last: int, sums: int, one: int,
) -> None:
    """Values of the rows ``first:last`` of C ← A ⊗ B, whose entries are known; `sums` is room for a row of B."""
    unit = first_component(ELEMENT, one)
    for i in range(first, last):
        begin, end = fetch(np.int64, C_offsets, i), fetch(np.int64, C_offsets, i + 1)
        for r in range(begin, end):
            put(ELEMENT, sums, int64(fetch(np.int32, C_columns, r)), as_element(ELEMENT, ZERO))
        for p in range(fetch(np.int64, A_offsets, i), fetch(np.int64, A_offsets, i + 1)):
            k, a = int64(fetch(np.int32, A_columns, p)), fetch(ELEMENT, A_values, p)
            for q in range(fetch(np.int64, B_offsets, k), fetch(np.int64, B_offsets, k + 1)):
                j = int64(fetch(np.int32, B_columns, q))
                put(ELEMENT, sums, j, combine(fetch(ELEMENT, sums, j), a, fetch(ELEMENT, B_values, q), unit))
        for r in range(begin, end):
            put(ELEMENT, C_values, r, fetch(ELEMENT, sums, int64(fetch(np.int32, C_columns, r))))
