"""Chains over log-sum-exp by powers. A template: see steps.py, and lane_steps.py for the equations.

Never imported as it stands; the lines above ``# Template`` stand for what lanes.py puts before the text below it:
natural logarithms in float32. Matrices are addresses and strides in bytes, of any order and sign.
"""

from __future__ import annotations

import numpy as np

from semiring.kernels.cpu.compile.lane_steps import StepPowers
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
    inside_vectors,
    operation,
)

ZERO = np.float32(-np.inf)
BINARY, NEGATED, FUSED = False, False, True


# Template

by = StepPowers(PARTS[0], COUNT, HEIGHT, MASKED, BINARY, NEGATED, FUSED, inside_vectors)
powers_of_columns, certain, terms, settle, start = by.columns(), by.certain(), by.terms(), by.settle(), by.start()
room_for_matrix, room_for_powers, room_for_tops = by.room(SIDE, SIDE), by.room(SIDE, SIDE), by.room(1, SIDE)
room_for_logs, room_for_state, room_for_sums = by.room(1, SIDE), by.room(1, SIDE), by.room(1, SIDE)
room_for_emissions, room_for_out, room_for_total = by.room(1, SIDE), by.room(1, SIDE), by.room(1, 8)


@inline
def is_direct(column: int, n: int) -> bool:
    """Whether rows are read and written as vectors where they lie."""
    return column == ITEM and (MASKED or n % COUNT == 0)


@inline
def copy_rows(
    source: int, row: int, column: int, target: int, other: int, other_column: int, rows: int, n: int
) -> None:
    """One number after the other."""
    for i in range(rows):
        for j in range(n):
            put(ELEMENT, target + i * other + j * other_column, 0, fetch(ELEMENT, source + i * row + j * column, 0))


@inline
def fill(target: int, row: int, rows: int, first: int, last: int) -> None:
    """Zero to the lanes after a row."""
    for i in range(rows):
        for j in range(first, last):
            put(ELEMENT, target + i * row + j * ITEM, 0, ELEMENT(ZERO))


@inline
def grade_of(matrix: int, row: int, powers: int, width: int, tops: int, n: int) -> int:
    """The powers of a matrix, and what `certain` finds of them."""
    least = 2
    for j in range(0, n, COUNT):
        live, at = min(COUNT, n - j), j * ITEM
        powers_of_columns((matrix + at, row, n, live, powers + at, width, tops + at))
        least = min(least, certain((matrix + at, row, n, live, powers + at, width)))
    return least


@operation
def steps(
    jobs: int, count: int, n: int, x_column: int, a_step: int, a_row: int, a_column: int, e_row: int, e_column: int,
    out_row: int, out_column: int, back_row: int, emits: int, winning: int, backwards: int, checked: int, one: int,
) -> int:
    """As `steps` in steps_template.py, without winning terms; a row is kept as powers and logarithms, and their offset.

    Returns −1, or the number of the first job with an entry that is not an element, or so large that sums of two may
    not be finite.
    """
    wide_vectors()
    packed, powers, tops = room_for_matrix(()), room_for_powers(()), room_for_tops(())
    logs, state, sums, total = room_for_logs(()), room_for_state(()), room_for_sums(()), room_for_total(())
    e_room, out_room = room_for_emissions(()), room_for_out(())
    wide = (n + COUNT - 1) // COUNT * COUNT
    width, direct_e, direct_out = wide * ITEM, is_direct(e_column, n), is_direct(out_column, n)
    known, of_matrix, here, row = 0, 2, packed, width
    fill(packed, width, n, n, wide)
    fill(e_room, width, 1, n, wide)
    for s in range(count):
        job = jobs + 64 * s
        x, matrix = fetch(np.int64, job, 0), fetch(np.int64, job + 8, 0)
        emitted, out, kept = fetch(np.int64, job + 16, 0), fetch(np.int64, job + 24, 0), fetch(np.int64, job + 56, 0)
        begin, rows = fetch(np.int64, job + 40, 0), fetch(np.int64, job + 48, 0)
        put(np.float64, total, 0, 0.0)
        of_state = 2
        if begin and begin < rows:
            put(np.float64, total, 0, fetch(np.float64, kept, 0))
            of_state = fetch(np.int64, kept + 8, 0)
            copy_rows(kept + 16, 0, ITEM, logs, width, ITEM, 1, wide)
            copy_rows(kept + 16 + width, 0, ITEM, state, width, ITEM, 1, wide)
        for t in range(begin, rows):
            if t == 0:
                copy_rows(x, 0, x_column, out_room, width, ITEM, 1, n)
                fill(out_room, width, 1, n, wide)
                for j in range(0, n, COUNT):
                    if not start((out_room + j * ITEM, sums + j * ITEM, min(COUNT, n - j))):
                        return s
            else:
                place = matrix + (t - 1) * a_step
                if place != known or a_step:
                    here, row, known = place, a_row, place
                    if not is_direct(a_column, n):
                        copy_rows(place, a_row, a_column, packed, width, ITEM, n, n)
                        here, row = packed, width
                    of_matrix = grade_of(here, row, powers, width, tops, n)
                    if of_matrix == 0:
                        return s
                sure = 1 if of_matrix + of_state == 4 else 0
                for j in range(0, n, COUNT):
                    live, at = min(COUNT, n - j), j * ITEM
                    terms((
                        state, logs, powers + at, width, tops + at, here + at, row, sums + at, n, live, sure,
                    ))
            e = emitted + t * e_row if emits else e_room
            if emits and not direct_e:
                copy_rows(e, 0, e_column, e_room, width, ITEM, 1, n)
                e = e_room
            row_out = out + t * out_row if direct_out else out_room
            joins = 0
            if emits:
                joins = 2 if backwards else 1
            of_state = settle((sums, e, logs, state, row_out, total, n, joins))
            if of_state == 0:
                return s
            if not direct_out:
                copy_rows(out_room, 0, ITEM, out + t * out_row, 0, out_column, 1, n)
        if kept and begin < rows:
            put(np.float64, kept, 0, fetch(np.float64, total, 0))
            put(np.int64, kept + 8, 0, of_state)
            copy_rows(logs, 0, ITEM, kept + 16, width, ITEM, 1, wide)
            copy_rows(state, 0, ITEM, kept + 16 + width, width, ITEM, 1, wide)
    return -1
