"""Products and closures of small matrices, each lane of a vector in another matrix. A template: see stacks.py.

Never imported as it stands; the lines above ``# Template`` stand for what stacks.py puts before the text below it.
Matrices are addresses and strides in bytes, of any order and sign. Every entry takes its terms in ascending k,
beginning with zero, as in lanes_template.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.kernels.cpu.compile.jit import njit
from semiring.kernels.cpu.compile.lane_stacks import Stacks
from semiring.kernels.cpu.compile.raw import put, stay_apart, wide_vectors
from semiring.kernels.cpu.dense.lanes_template import (
    HEIGHT,
    ITEM,
    MASKED,
    PARTS,
    ZEROS,
    combine_vectors,
    inline,
    inside_vectors,
    operation,
    scaled_vectors,
)

MATRICES = 16  # that are computed at once: the lanes of the vectors
SIDE, WIDTH = 32, 8  # rows of a factor, and columns of a product and of a matrix that is closed, at most
SLOTS, OTHERS = 1024, 256  # entries of the left factor, and of another matrix
apart = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)


def star_vectors(v: Any, a: Any) -> Any:
    return v.constant(np.float32(0))


def defined_vectors(v: Any, a: Any) -> Any:
    return v.less_equal(v.constant(np.float32(0)), a)


# Template

by = Stacks(
    PARTS, ZEROS, MATRICES, HEIGHT, MASKED, combine_vectors, scaled_vectors, inside_vectors, star_vectors,
    defined_vectors,
)
enter, leave, approach, pivots, sums = by.enter(), by.leave(), by.approach(), by.pivots(), by.sums()
room_for_a, room_for_b, room_for_c = by.slots(SLOTS, SIDE), by.slots(OTHERS, WIDTH), by.slots(OTHERS, WIDTH)


@inline
def sides(row: int, rows: int, column: int, columns: int) -> tuple[int, ...]:
    """The outer side of matrices, the inner one along which elements lie closest, and distances of slots along both."""
    if columns == 1 or (rows > 1 and abs(row) < abs(column)):
        return column, columns, row, rows, 1, columns
    if row == columns * column:
        return row, 1, column, rows * columns, 0, 1
    return row, rows, column, columns, columns, 1


@apart
def fill(place: int, step: int, live: int, row: int, rows: int, column: int, columns: int, room: int) -> int:
    """Copy matrices to slots; 1 if an entry is not an element, else 0."""
    stay_apart()
    wide_vectors()
    outer, many, inner, few, down, along = sides(row, rows, column, columns)
    if 0 < step <= 2 * rows * columns * ITEM:
        approach((place + live * step, live * step))
    return enter((place, step, live, outer, many, inner, few, room, down, along))


@operation
def close(d: int, step: int, row: int, column: int, failed: int, count: int, n: int, checked: int, one: int) -> int:
    """D ← D* as `close` of lanes_template.py does it, of order n ≤ WIDTH, n² ≤ OTHERS.

    At `failed` are integers, one for each. −2 is written where a matrix, or another of the same vector, has a pivot
    without a star; then these stay as they were. Returns −1; or where `checked` the number of a matrix that has, or is
    near one that has, an entry which is not an element, and then none from there on is computed.
    """
    wide_vectors()
    room, other = room_for_b(()), room_for_c(())
    answer = other if n & 1 else room
    outer, rows, inner, columns, down, along = sides(row, n, column, n)
    for s in range(0, count, MATRICES):
        live, place = min(MATRICES, count - s), d + s * step
        if 0 < step <= 2 * n * n * ITEM:
            approach((place + live * step, live * step))
        if enter((place, step, live, outer, rows, inner, columns, room, down, along)) and checked:
            return s
        if pivots((room, other, n, one)):
            for i in range(s, s + live):
                put(np.int64, failed + 8 * i, 0, -2)
        else:
            leave((place, step, live, outer, rows, inner, columns, answer, down, along))
    return -1


@operation
def product(
    a: int, a_step: int, a_row: int, a_column: int, b: int, b_step: int, b_row: int, b_column: int, c: int,
    c_step: int, c_row: int, c_column: int, count: int, m: int, k: int, n: int, more: int, checked: int, one: int,
) -> int:
    """As `product` in lanes_template.py, of m, k ≤ SIDE, n ≤ WIDTH, m k ≤ SLOTS, k n ≤ OTHERS and m n ≤ OTHERS.

    Where `checked` the number that is returned is that of a matrix which has, or is near one that has, an entry that is
    not an element.
    """
    wide_vectors()
    left, right, target = room_for_a(()), room_for_b(()), room_for_c(())
    outer, rows, inner, columns, down, along = sides(c_row, m, c_column, n)
    for s in range(0, count, MATRICES):
        live, place = min(MATRICES, count - s), c + s * c_step
        strange = fill(a + s * a_step, a_step, live, a_row, m, a_column, k, left)
        if s == 0 or b_step != 0:
            strange |= fill(b + s * b_step, b_step, live, b_row, k, b_column, n, right)
        if more:
            strange |= fill(place, c_step, live, c_row, m, c_column, n, target)
        if strange and checked:
            return s
        sums((left, right, target, m, k, n, more, one))
        leave((place, c_step, live, outer, rows, inner, columns, target, down, along))
    return -1
