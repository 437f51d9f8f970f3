"""A row vector times one matrix after the other, and every row on the way. A template: see steps.py.

Never imported as it stands; the lines above ``# Template`` stand for what lanes.py puts before the text below it:
min-plus in float32. Matrices are addresses and strides in bytes, of any order and sign. Every entry takes its terms in
ascending k, as in products, so that answers are those of one product after the other, to the bit.
"""

from __future__ import annotations

import numpy as np

from semiring.kernels.cpu.compile.lane_steps import Steps
from semiring.kernels.cpu.compile.raw import fetch, put, wide_vectors
from semiring.kernels.cpu.dense.lanes_template import (
    COUNT,
    ELEMENT,
    HEIGHT,
    ITEM,
    MASKED,
    PARTS,
    SIDE,
    ZEROS,
    combine_vectors,
    inline,
    inside_vectors,
    operation,
    scaled_vectors,
)

# Template

by = Steps(PARTS, ZEROS, COUNT, HEIGHT, MASKED, combine_vectors, scaled_vectors, inside_vectors)
tiles, strangers, move, scale, winners = by.tiles(), by.strangers(), by.move(), by.scale(), by.winners()
room_for_matrix, room_for_row, room_for_other = by.room(SIDE, SIDE), by.room(1, SIDE), by.room(1, SIDE)
room_for_emissions, room_for_bytes = by.room(1, SIDE), by.room(SIDE, 4)


@inline
def is_direct(column: int, n: int) -> bool:
    """Whether rows are read and written as vectors where they lie."""
    return column == ITEM and (MASKED or n % COUNT == 0)


@inline
def copy_rows(
    source: int, row: int, column: int, target: int, other: int, other_column: int, rows: int, n: int
) -> None:
    """One element after the other."""
    for i in range(rows):
        for j in range(n):
            put(ELEMENT, target + i * other + j * other_column, 0, fetch(ELEMENT, source + i * row + j * column, 0))


@inline
def read_rows(source: int, row: int, column: int, target: int, width: int, rows: int, n: int, checked: int) -> int:
    """Copy rows to packed ones, whose other lanes become zero; 1 if `checked` and one has what is not an element."""
    if is_direct(column, n):
        for j in range(0, n, COUNT):
            move((source + j * ITEM, row, target + j * ITEM, width, rows, min(COUNT, n - j), 1))
    else:
        copy_rows(source, row, column, target, width, ITEM, rows, n)
    if checked:
        for j in range(0, n, COUNT):
            if strangers((target + j * ITEM, width, rows, min(COUNT, n - j) if MASKED else n - j)):
                return 1
    return 0


@inline
def write_row(source: int, target: int, column: int, n: int) -> None:
    if is_direct(column, n):
        for j in range(0, n, COUNT):
            move((source + j * ITEM, 0, target + j * ITEM, 0, 1, min(COUNT, n - j), 0))
    else:
        copy_rows(source, 0, ITEM, target, 0, column, 1, n)


@operation
def steps(
    jobs: int, count: int, n: int, x_column: int, a_step: int, a_row: int, a_column: int, e_row: int, e_column: int,
    out_row: int, out_column: int, back_row: int, emits: int, winning: int, backwards: int, checked: int, one: int,
) -> int:
    """x_0 ← x ⊗ e_0, x_t ← x_{t−1} ⊗ A_t ⊗ e_t for `count` sequences; with n ≤ SIDE elements a row.

    Steps, rows and columns are distances in bytes. A job is eight integers at `jobs`: the addresses of x, of the first
    matrix, of e, of the rows that come out and of bytes for the winning terms; the first row to compute and the end of
    those; and the address of a row that is kept for the job that goes on from there, or 0. Without `emits` there are no
    e, without `winning` no bytes. `backwards`: x_t ⊗ e goes on from a row, and x_t comes out.

    Returns −1, or where `checked` the number of the first job with an entry that is not an element.
    """
    wide_vectors()
    packed, state, other = room_for_matrix(()), room_for_row(()), room_for_other(())
    e, marks = room_for_emissions(()), room_for_bytes(())
    width, wide = (n + COUNT - 1) // COUNT * COUNT * ITEM, (n + COUNT - 1) // COUNT * COUNT
    for i in range(wide):
        put(np.uint8, marks + i, 0, np.uint8(0))
    known = 0
    for s in range(count):
        job = jobs + 64 * s
        x, matrix = fetch(np.int64, job, 0), fetch(np.int64, job + 8, 0)
        emitted, out = fetch(np.int64, job + 16, 0), fetch(np.int64, job + 24, 0)
        back, kept = fetch(np.int64, job + 32, 0), fetch(np.int64, job + 56, 0)
        begin, rows = fetch(np.int64, job + 40, 0), fetch(np.int64, job + 48, 0)
        if begin and begin < rows:
            read_rows(kept, 0, ITEM, state, width, 1, n, 0)
        if rows > 1 and a_step == 0 and matrix != known:
            if read_rows(matrix, a_row, a_column, packed, width, n, n, checked):
                return s
            known = matrix
        for t in range(begin, rows):
            if t == 0:
                if read_rows(x, 0, x_column, other, width, 1, n, checked):
                    return s
            else:
                here, row = packed, width
                if a_step:
                    here, row = matrix + (t - 1) * a_step, a_row
                    if not is_direct(a_column, n):
                        if read_rows(here, row, a_column, packed, width, n, n, checked):
                            return s
                        here, row = packed, width
                    elif checked:
                        for j in range(0, n, COUNT):
                            if strangers((here + j * ITEM, row, n, min(COUNT, n - j))):
                                return s
                for j in range(0, n, COUNT):
                    live, at = min(COUNT, n - j), j * ITEM
                    if winning:
                        winners((state, here + at, row, other + at, marks + j, n, live, one))
                    else:
                        tiles((state, 0, ITEM, here + at, row, other + at, 0, 1, n, live, 0, one))
            if winning:
                for j in range(n):
                    won = fetch(np.uint8, marks + j, 0)
                    put(np.uint8, back + t * back_row + j, 0, won if t else np.uint8(0))
            if emits and read_rows(emitted + t * e_row, 0, e_column, e, width, 1, n, checked):
                return s
            if backwards:
                write_row(other, out + t * out_row, out_column, n)
            for j in range(0, n, COUNT):
                if emits:
                    scale((other + j * ITEM, e + j * ITEM, state + j * ITEM, min(COUNT, n - j), one))
                else:
                    move((other + j * ITEM, 0, state + j * ITEM, 0, 1, min(COUNT, n - j), 1))
            if not backwards:
                write_row(state, out + t * out_row, out_column, n)
        if kept and begin < rows:
            write_row(state, kept, ITEM, n)
    return -1
