"""Log-sum-exp products of small matrices by powers. A template: see lanes.py, and lane_powers.py for the equations.

Never imported as it stands; the lines above ``# Template`` stand for what lanes.py puts before the text below it:
natural logarithms in float32. Matrices are addresses and strides in bytes, of any order and sign.
"""

from __future__ import annotations

import numpy as np

from semiring.kernels.cpu.compile.lane_powers import Powers
from semiring.kernels.cpu.compile.raw import fetch, put, wide_vectors
from semiring.kernels.cpu.dense.lanes_template import (
    COUNT,
    ELEMENT,
    HEIGHT,
    ITEM,
    MASKED,
    PARTS,
    SIDE,
    inline,
    inside,
    inside_vectors,
    operation,
)

ZERO = np.float32(-np.inf)
BINARY, NEGATED, FUSED = False, False, True


# Template

by = Powers(PARTS[0], COUNT, HEIGHT, MASKED, BINARY, NEGATED, FUSED, inside_vectors)
tiles, strangers, powers_of_rows, powers_of_columns, entries = (
    by.tiles(), by.strangers(), by.rows(), by.columns(), by.entries()
)
room_for_a, room_for_b, room_for_c = by.room(SIDE, SIDE), by.room(SIDE, SIDE), by.room(SIDE, SIDE)
room_for_e, room_for_f, room_for_g = by.room(SIDE, SIDE), by.room(SIDE, SIDE), by.room(SIDE, SIDE)
room_for_rows, room_for_columns = by.room(1, SIDE), by.room(1, SIDE)


@inline
def copy(
    source: int, row: int, column: int, target: int, other_row: int, other_column: int, rows: int, columns: int,
) -> None:
    """One number after the other."""
    for i in range(rows):
        for j in range(columns):
            put(ELEMENT, target + i * other_row + j * other_column, 0, fetch(ELEMENT, source + i * row + j * column, 0))


@inline
def fill(target: int, row: int, rows: int, first: int, last: int) -> None:
    """Zero to the lanes after a row."""
    for i in range(rows):
        for j in range(first, last):
            put(ELEMENT, target + i * row + j * ITEM, 0, ELEMENT(ZERO))


@inline
def have_strangers(address: int, row: int, column: int, rows: int, columns: int) -> int:
    """Whether a matrix has entries that are not elements: by vectors along whichever side lies together."""
    if column != ITEM and row == ITEM:
        row, column, rows, columns = column, row, columns, rows
    live = columns - columns % COUNT if not MASKED else columns
    if column != ITEM:
        live = 0
    for j in range(0, live, COUNT):
        if strangers((address + j * ITEM, row, rows, min(COUNT, live - j))):
            return 1
    for i in range(rows):
        for j in range(live, columns):
            if not inside(fetch(ELEMENT, address + i * row + j * column, 0)):
                return 1
    return 0


@operation
def product(
    a: int, a_step: int, a_row: int, a_column: int, b: int, b_step: int, b_row: int, b_column: int, c: int,
    c_step: int, c_row: int, c_column: int, count: int, m: int, k: int, n: int, more: int, checked: int, one: int,
) -> int:
    """As `product` in lanes_template.py; m, k and n are at most SIDE."""
    wide_vectors()
    e, f, g, r, tops = room_for_e(()), room_for_f(()), room_for_g(()), room_for_rows(()), room_for_columns(())
    packed_a, packed_b, packed_c = room_for_a(()), room_for_b(()), room_for_c(())
    copied = a_column != ITEM or b_column != ITEM or c_column != ITEM
    copied = copied or not (MASKED or (n % COUNT == 0 and k % COUNT == 0))
    wide_k, wide_n = (k + COUNT - 1) // COUNT * COUNT, (n + COUNT - 1) // COUNT * COUNT
    for s in range(count):
        left, right, target = a + s * a_step, b + s * b_step, c + s * c_step
        if checked:
            if have_strangers(left, a_row, a_column, m, k) or have_strangers(right, b_row, b_column, k, n):
                return s
            if more and have_strangers(target, c_row, c_column, m, n):
                return s
        left_row, right_row, target_row, place = a_row, b_row, c_row, target
        if copied:
            left_row, right_row, target_row = wide_k * ITEM, wide_n * ITEM, wide_n * ITEM
            copy(left, a_row, a_column, packed_a, left_row, ITEM, m, k)
            copy(right, b_row, b_column, packed_b, right_row, ITEM, k, n)
            left, right, target = packed_a, packed_b, packed_c
            if not MASKED:
                fill(left, left_row, m, k, wide_k)
                fill(right, right_row, k, n, wide_n)
            if more:
                copy(place, c_row, c_column, target, target_row, ITEM, m, n)
                fill(target, target_row, m, n, wide_n)
        powers_of_rows((left, left_row, m, k, e, wide_k * ITEM, r))
        for j in range(0, n, COUNT):
            live, at = min(COUNT, n - j), j * ITEM
            powers_of_columns((right + at, right_row, k, live, f + at, wide_n * ITEM, tops + at))
            tiles((e, wide_k * ITEM, ITEM, f + at, wide_n * ITEM, g + at, wide_n * ITEM, m, k, COUNT, 0, one))
            entries((
                left, left_row, right + at, right_row, g + at, wide_n * ITEM, r, tops + at, target + at, target_row, m,
                k, live, more,
            ))
        if copied:
            copy(target, target_row, ITEM, place, c_row, c_column, m, n)
    return -1
