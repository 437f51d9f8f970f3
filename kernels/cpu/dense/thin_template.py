"""Products of a matrix with a few vectors over one semiring, at the speed of memory. A template: see thin.py.

The matrix is read once, where it lies, by rows of adjacent elements. It is the left operand of every ⊗. A sum along a
row of the matrix runs in several parts side by side, which are added up at the end, always in the same order; other
sums are kept packed (raw.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64

from semiring.kernels.cpu.compile.lane_rows import Rows
from semiring.kernels.cpu.compile.raw import (
    ROW_0,
    as_element,
    fetch,
    first_component,
    load,
    put,
    select,
    stay_apart,
    store,
    wide_vectors,
)
from semiring.kernels.cpu.dense.lanes_template import (
    COUNT,
    HEIGHT,
    MASKED,
    combine_vectors,
    inside_vectors,
    scaled_vectors,
)
from semiring.kernels.cpu.dense.operations_template import ZERO, combine, plus
from semiring.kernels.cpu.dense.template import DEPTH, ELEMENT, ITEM, compiled, entry, inline

K = 0  # replaced by each step
KEY = np.int32  # an integer of the size of an element's first component
PARTS, ZEROS = (np.float32,), (ZERO,)


@inline
def inside(a: Any) -> Any:
    return a == a


def plus_of_vectors(v: Any, x: Any, t: Any) -> Any:
    return v.minimum(x, t)


# Template

by = Rows(PARTS, ZEROS, COUNT, HEIGHT, MASKED, combine_vectors, scaled_vectors, inside_vectors)
lines, looking_lines = by.lines(plus_of_vectors, False), by.lines(plus_of_vectors, True)


@compiled
def add_rows(
    sums: int, plane: int, place: int, width: int, M: int, M_row: int, x: int, x_step: int, depth: int, unit: Any
) -> None:
    """`width` sums from `place` on ← themselves ⊕ M[k, j] ⊗ x[k], for `depth` rows k of M."""
    stay_apart()
    wide_vectors()
    whole = depth - depth % DEPTH
    for k in range(0, whole, DEPTH):
        x_K = fetch(ELEMENT, x + (k + K) * x_step, 0)  # each K
        row_K = M + (k + K) * M_row  # each K
        for j in range(width):
            s = load(ELEMENT, sums, plane, place + j, ROW_0)
            s = combine(s, fetch(ELEMENT, row_K, j), x_K, unit)  # each K
            store(ELEMENT, sums, plane, place + j, ROW_0, s)
    for k in range(whole, depth):
        single, row = fetch(ELEMENT, x + k * x_step, 0), M + k * M_row
        for j in range(width):
            s = load(ELEMENT, sums, plane, place + j, ROW_0)
            store(ELEMENT, sums, plane, place + j, ROW_0, combine(s, fetch(ELEMENT, row, j), single, unit))


@compiled
def find_outside(row: int, width: int, found: Any) -> Any:
    """1 if one of the first elements of a row is outside the carrier, else what was `found` before."""
    stay_apart()
    wide_vectors()
    for j in range(width):
        found = select(inside(fetch(ELEMENT, row, j)), found, KEY(1))
    return found


@entry(*[int64] * 18)
def times_columns(
    M: int, M_row: int, x: int, x_row: int, out: int, out_row: int, out_step: int, count: int, accumulate: int,
    first: int, last: int, begin: int, end: int, piece: int, sums: int, failed: int, looks: int, one: int,
) -> None:
    """out[i, c] ← the ⊕ of M[i, k] ⊗ x[c, k] over the k ``begin:end``, for rows ``first:last`` and all vectors c.

    Pieces of rows stay in the cache for all vectors, whose elements are adjacent. `sums` is room for HEIGHT elements.
    With `looks`, `failed` becomes 1 if an element of M is outside the carrier.
    """
    wide_vectors()
    unit, outside = first_component(ELEMENT, one), int64(0)
    for i in range(first, last, HEIGHT):
        rows = min(HEIGHT, last - i)
        for k in range(begin, end, piece):
            depth = min(piece, end - k)
            vectors, place = depth // COUNT, M + i * M_row + k * ITEM
            live = depth - vectors * COUNT
            for c in range(count):
                right = x + c * x_row + k * ITEM
                if looks and c == 0:
                    outside |= looking_lines((place, M_row, right, sums, rows, vectors, live, one))
                else:
                    lines((place, M_row, right, sums, rows, vectors, live, one))
                for r in range(rows):
                    s = fetch(ELEMENT, sums, r)
                    if not MASKED:
                        for e in range(depth - live, depth):
                            m = fetch(ELEMENT, place + r * M_row, e)
                            outside |= int64(not inside(m))
                            s = combine(s, m, fetch(ELEMENT, right, e), unit)
                    target = out + (i + r) * out_row + c * out_step
                    if accumulate or k > begin:
                        s = as_element(ELEMENT, plus(fetch(ELEMENT, target, 0), s))
                    put(ELEMENT, target, 0, s)
    if looks and outside:
        put(np.int64, failed, 0, int64(1))


@entry(*[int64] * 18)
def times_rows(
    M: int, M_row: int, x: int, x_row: int, x_step: int, out: int, out_row: int, out_step: int, count: int,
    accumulate: int, first: int, last: int, begin: int, end: int, sums: int, failed: int, looks: int, one: int,
) -> None:
    """out[c, j] ← the ⊕ of M[k, j] ⊗ x[c, k] over the rows k ``begin:end``, for columns ``first:last`` and all c.

    `sums` is room for so many columns of each vector. `failed` and `looks` as above.
    """
    unit, outside, width = first_component(ELEMENT, one), KEY(0), last - first
    plane = count * width
    for c in range(count):
        for j in range(width):
            s = as_element(ELEMENT, ZERO)
            if accumulate:
                s = fetch(ELEMENT, out + c * out_row + (first + j) * out_step, 0)
            store(ELEMENT, sums, plane, c * width + j, ROW_0, s)
    for k in range(begin, end, DEPTH):
        depth, row, place = min(DEPTH, end - k), M + k * M_row + first * ITEM, x + k * x_step
        if looks:
            for i in range(depth):
                outside = find_outside(row + i * M_row, width, outside)
        for c in range(count):
            add_rows(sums, plane, c * width, width, row, M_row, place + c * x_row, x_step, depth, unit)
    for c in range(count):
        for j in range(width):
            s = load(ELEMENT, sums, plane, c * width + j, ROW_0)
            put(ELEMENT, out + c * out_row + (first + j) * out_step, 0, s)
    if outside:
        put(np.int64, failed, 0, int64(1))


@entry(*[int64] * 3)
def add_up(target: int, other: int, count: int) -> None:
    """target[j] ← target[j] ⊕ other[j]; both are contiguous, and apart."""
    for j in range(count):
        put(ELEMENT, target, j, as_element(ELEMENT, plus(fetch(ELEMENT, target, j), fetch(ELEMENT, other, j))))
