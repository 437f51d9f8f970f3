"""The compiled loops of the derivatives of chains; `semiring.kernels.cpu.dense.step_gradients` has the equations.

They take addresses of numbers of 4 or 8 bytes, compute in double precision, and serve all algebras. Steps, rows and
columns are distances in bytes. A job is ten integers, for one sequence: the addresses of its rows, of their own
derivatives, of the matrix of the first step, of the emissions, of the derivatives of that matrix and of the emissions,
of a double for each element of a row, and of the terms that won; and two numbers of rows. Addresses are those of row 0,
and step k leads from row k − 1 to row k. Rows count from where chains begin, which with `backwards` is the last row. A
sequence has the rows from the second of its numbers on, as many as the first less the second.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.kernels.cpu.compile import raw
from semiring.kernels.cpu.compile.jit import njit

bits_as: Any = raw.bits_as  # a type checker would ask the callers for the typing context
fetch: Any = raw.fetch
floor: Any = raw.floor
load: Any = raw.load
put: Any = raw.put
select: Any = raw.select
store: Any = raw.store

WIDE = 8  # numbers to a multiple of which rows are filled up with zeros
JOB = 80  # bytes of a job
MATRIX, TOTAL, LEFT, RIGHT, ROW = raw.PANEL, raw.ROW_0, raw.ROW_1, raw.ROW_2, raw.ROW_3  # regions of scratch memory
LOWEST = -708.0  # logarithm of the least power that is a normal number
UNIT = 1.4426950408889634  # of log 2
HALF, REST = 0.693147180369123816490, 1.90821492927058770002e-10  # log 2 in a few bits, and what it lacks
LEAST = 2.0**-500  # a sum of powers that is not less has lost nothing that matters
MOST = 1e100  # derivatives up to which quotients by such sums stay far from the largest number
ADD, MULTIPLY, MINIMUM, MAXIMUM = 0, 1, 2, 3  # forms of ⊗

Number = np.float64
part = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
inline = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)
summing = njit(
    error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract", "nsz", "reassoc"})
compiled = njit(nogil=True, error_model="numpy", cache=True)


@inline
def power(x: float) -> float:
    """exp(x) for x ≤ 0, or 0 where that is not a normal number; without a branch."""
    y = select(x < LOWEST, LOWEST, x)
    k = floor(y * UNIT + 0.5)
    r = (y - k * HALF) - k * REST
    p = 1.6059043836821613e-10
    p = p * r + 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 0.0001984126984126984
    p = p * r + 0.001388888888888889
    p = p * r + 0.008333333333333333
    p = p * r + 0.041666666666666664
    p = p * r + 0.16666666666666666
    p = p * r + 0.5
    p = (p * r + 1.0) * r + 1.0
    scale = bits_as(Number, (np.int64(k) + np.int64(1023)) << np.int64(52))
    return select(x < LOWEST, 0.0, p * scale)


@inline
def number(element: Any, address: int) -> float:
    """The number at an address."""
    return Number(fetch(element, address, 0))


@inline
def write(element: Any, address: int, x: float) -> None:
    """Make x the number at an address."""
    put(element, address, 0, element(x))


@inline
def sum_of(x: float, y: float) -> float:
    """x + y, or −∞ where either is."""
    return select((x == -np.inf) | (y == -np.inf), -np.inf, x + y)


@part
def read_matrix(
    element: Any, item: int, source: int, row: int, column: int, scale: float, n: int, width: int, matrix: int,
    tops: int,
) -> bool:
    """Copy a matrix, or if `scale` is not 0 its powers, each relative to the largest of its column; whether it can."""
    absent = 0.0 if scale == 0.0 else -np.inf
    factor = 1.0 if scale == 0.0 else scale
    for i in range(n):
        here = source + i * row
        if column == item:
            for j in range(n):
                store(Number, matrix, 0, i * width + j, MATRIX, factor * Number(fetch(element, here, j)))
        else:
            for j in range(n):
                store(Number, matrix, 0, i * width + j, MATRIX, factor * number(element, here + j * column))
        for j in range(n, width):
            store(Number, matrix, 0, i * width + j, MATRIX, absent)
    if scale == 0.0:
        return True
    fine = True
    for first in range(0, width, WIDE):
        for j in range(first, first + WIDE):
            store(Number, tops, 0, j, RIGHT, -np.inf)
        for i in range(n):
            for j in range(first, first + WIDE):
                x, top = load(Number, matrix, 0, i * width + j, MATRIX), load(Number, tops, 0, j, RIGHT)
                store(Number, tops, 0, j, RIGHT, select(x > top, x, top))
        for j in range(first, first + WIDE):
            top = load(Number, tops, 0, j, RIGHT)
            fine &= top < np.inf
            store(Number, tops, 0, j, RIGHT, select(top == -np.inf, 0.0, top))
        for i in range(n):
            for j in range(first, first + WIDE):
                x = load(Number, matrix, 0, i * width + j, MATRIX) - load(Number, tops, 0, j, RIGHT)
                store(Number, matrix, 0, i * width + j, MATRIX, power(x))
    return fine


@part
def read_row(
    element: Any, row: int, item: int, emitted: int, emitted_column: int, scale: float, n: int, left: int
) -> bool:
    """u ← the row that a step multiplies, where it emits y ⊗ e, as numbers or natural logarithms; whether it can."""
    fine = True
    for i in range(n):
        x = number(element, row + i * item)
        if scale == 0.0:
            if emitted:
                x *= number(element, emitted + i * emitted_column)
            fine &= x > -np.inf
        else:
            x *= scale
            if emitted:
                x = sum_of(x, scale * number(element, emitted + i * emitted_column))
        fine &= x < np.inf
        store(Number, left, 0, i, LEFT, x)
    return fine


@part
def powers_of_row(n: int, left: int) -> None:
    """u ← powers relative to the largest."""
    top = -np.inf
    for i in range(n):
        x = load(Number, left, 0, i, LEFT)
        top = select(x > top, x, top)
    top = select(top == -np.inf, 0.0, top)
    for i in range(n):
        store(Number, left, 0, i, LEFT, power(load(Number, left, 0, i, LEFT) - top))


@summing
def row_times_matrix(n: int, width: int, left: int, matrix: int, right: int) -> None:
    """s ← u M."""
    for j in range(width):
        store(Number, right, 0, j, RIGHT, 0.0)
    for i in range(n):
        x = load(Number, left, 0, i, LEFT)
        for j in range(width):
            total = load(Number, right, 0, j, RIGHT) + x * load(Number, matrix, 0, i * width + j, MATRIX)
            store(Number, right, 0, j, RIGHT, total)


@summing
def matrix_times_column(n: int, width: int, matrix: int, right: int, row: int) -> None:
    """z ← M h."""
    for i in range(n):
        total = 0.0
        for j in range(width):
            total += load(Number, matrix, 0, i * width + j, MATRIX) * load(Number, right, 0, j, RIGHT)
        store(Number, row, 0, i, ROW, total)


@summing
def add_products(n: int, width: int, left: int, right: int, total: int, fresh: bool) -> None:
    """T ← T + uᵀ h, or if `fresh` only that."""
    for i in range(n):
        x = load(Number, left, 0, i, LEFT)
        if fresh:
            for j in range(width):
                store(Number, total, 0, i * width + j, TOTAL, x * load(Number, right, 0, j, RIGHT))
        else:
            for j in range(width):
                value = load(Number, total, 0, i * width + j, TOTAL) + x * load(Number, right, 0, j, RIGHT)
                store(Number, total, 0, i * width + j, TOTAL, value)


@part
def quotients(n: int, width: int, carry: int, right: int) -> int:
    """h ← Y / s; how many there are with sums too small or derivatives too large for that, which become 0."""
    doubt = 0
    for j in range(n):
        s, y = load(Number, right, 0, j, RIGHT), fetch(Number, carry, j)
        sure = (s >= LEAST) & (abs(y) <= MOST)
        store(Number, right, 0, j, RIGHT, select(sure, y / s, 0.0))
        doubt += select(sure | (y == 0.0), 0, 1)
    for j in range(n, width):
        store(Number, right, 0, j, RIGHT, 0.0)
    return doubt


@part
def scale_total(n: int, width: int, scale: float, matrix: int, total: int, others: int, doubted: bool) -> None:
    """T ← the derivatives of a matrix: T, for log-sum-exp times the powers, and those of columns in doubt."""
    if scale != 0.0:
        for j in range(n * width):
            x = load(Number, total, 0, j, TOTAL) * load(Number, matrix, 0, j, MATRIX)
            store(Number, total, 0, j, TOTAL, x)
    if doubted:
        for j in range(n * width):
            store(Number, total, 0, j, TOTAL, load(Number, total, 0, j, TOTAL) + fetch(Number, others, j))


@part
def add_up(n: int, width: int, total: int, target: int, row: int, column: int) -> None:
    """Add T to sums in double precision."""
    for i in range(n):
        for j in range(n):
            place = target + i * row + j * column
            put(Number, place, 0, fetch(Number, place, 0) + load(Number, total, 0, i * width + j, TOTAL))


@part
def write_matrix(element: Any, item: int, n: int, width: int, total: int, target: int, row: int, column: int) -> None:
    """Write T as numbers of `element`."""
    for i in range(n):
        here = target + i * row
        if column == item:
            for j in range(n):
                put(element, here, j, element(load(Number, total, 0, i * width + j, TOTAL)))
        else:
            for j in range(n):
                write(element, here + j * column, load(Number, total, 0, i * width + j, TOTAL))


@part
def by_terms(
    element: Any, n: int, width: int, scale: float, item: int, row: int, emitted: int, emitted_column: int, given: int,
    a_row: int, a_column: int, carry: int, right: int, z: int, others: int,
) -> None:
    """The shares of the terms of sums whose powers may be lost, each relative to the largest term."""
    for j in range(n):
        y = fetch(Number, carry, j)
        if y == 0.0 or load(Number, right, 0, j, RIGHT) != 0.0:
            continue
        top, whole = -np.inf, 0.0
        for turn in range(3):
            for i in range(n):
                x = scale * number(element, row + i * item)
                if emitted:
                    x = sum_of(x, scale * number(element, emitted + i * emitted_column))
                x = sum_of(x, scale * number(element, given + i * a_row + j * a_column))
                if turn == 0:
                    top = max(top, x)
                elif top > -np.inf:
                    share = power(x - top)
                    if turn == 1:
                        whole += share
                    else:
                        mine = share / whole * y
                        store(Number, z, 0, i, ROW, load(Number, z, 0, i, ROW) + mine)
                        put(Number, others, i * width + j, fetch(Number, others, i * width + j) + mine)


@compiled
def linear(
    element: Any, jobs: int, count: int, group: int, n: int, high: int, low: int, item: int, scale: float,
    row_step: int, a_step: int, a_row: int, a_column: int, e_step: int, e_column: int, d_step: int, d_row: int,
    d_column: int, de_step: int, emits: int, backwards: int, room: int,
) -> int:
    """The steps `high` to `low` + 1 of each sequence, over the reals, or with `scale` over log-sum-exp.

    If a_step is not 0, each `group` of jobs has the same matrices, whose derivatives are written as numbers of
    `element`. Else `group` is 1, and derivatives are added to doubles. `room` is scratch memory for 3 n + 3 rows of
    doubles, filled up to a multiple of `WIDE`. The row of doubles of a job is Y, of step `high` at the beginning and of
    step `low` at the end.

    Returns −1, or the number of a job with something that is not a finite number.
    """
    width = (n + WIDE - 1) // WIDE * WIDE
    matrix, total, others = room, room + 8 * n * width, room + 16 * n * width
    left = room + 24 * n * width
    right, z = left + 8 * width, left + 16 * width
    known, target, fresh, doubted = np.int64(0), np.int64(0), True, False
    after, before = emits and not backwards, emits and backwards
    for first in range(0, count, group):
        given, end = fetch(np.int64, jobs + first * JOB, 2), min(first + group, count)
        rows: Any = np.int64(0)
        for s in range(first, end):
            rows = max(rows, fetch(np.int64, jobs + s * JOB, 8))
        of_given = fetch(np.int64, jobs + first * JOB, 4)
        if a_step == 0 and of_given != target:
            if target and not fresh:
                scale_total(n, width, scale, matrix, total, others, doubted)
                add_up(n, width, total, target, d_row, d_column)
            target, fresh, doubted = of_given, True, False
        for k in range(min(rows - 1, high), low, -1):
            here = given + (k - 1) * a_step
            if here != known:
                if not read_matrix(element, item, here, a_row, a_column, scale, n, width, matrix, right):
                    return first
                known = here
            if a_step:
                fresh, doubted = True, False
            for s in range(first, end):
                job = jobs + s * JOB
                if fetch(np.int64, job, 8) <= k or fetch(np.int64, job, 9) >= k:
                    continue
                row, own = fetch(np.int64, job, 0) + (k - 1) * row_step, fetch(np.int64, job, 1) + (k - 1) * row_step
                emitted = k - 1 if backwards else k
                e, of_e = fetch(np.int64, job, 3) + emitted * e_step, fetch(np.int64, job, 5) + emitted * de_step
                carry, e_before = fetch(np.int64, job, 6), e if before else 0
                if not read_row(element, row, item, e_before, e_column, scale, n, left):
                    return s
                doubt = 0
                if scale != 0.0:
                    powers_of_row(n, left)
                    row_times_matrix(n, width, left, matrix, right)
                    if after:
                        for j in range(n):
                            write(element, of_e + j * item, fetch(Number, carry, j))
                    doubt = quotients(n, width, carry, right)
                else:
                    if after:
                        row_times_matrix(n, width, left, matrix, right)
                    for j in range(n):
                        y = fetch(Number, carry, j)
                        if after:
                            write(element, of_e + j * item, load(Number, right, 0, j, RIGHT) * y)
                            y *= number(element, e + j * e_column)
                        store(Number, right, 0, j, RIGHT, y)
                    for j in range(n, width):
                        store(Number, right, 0, j, RIGHT, 0.0)
                matrix_times_column(n, width, matrix, right, z)
                add_products(n, width, left, right, total, fresh)
                fresh = False
                if scale != 0.0:
                    for i in range(n):
                        store(Number, z, 0, i, ROW, load(Number, z, 0, i, ROW) * load(Number, left, 0, i, LEFT))
                if doubt:
                    if not doubted:
                        for j in range(n * width):
                            put(Number, others, j, 0.0)
                        doubted = True
                    by_terms(
                        element, n, width, scale, item, row, e_before, e_column, here, a_row, a_column, carry, right, z,
                        others,
                    )
                fine = True
                for i in range(n):
                    y, dy = number(element, row + i * item), load(Number, z, 0, i, ROW)
                    if before:
                        write(element, of_e + i * item, dy * y if scale == 0.0 else dy)
                        if scale == 0.0:
                            dy *= number(element, e + i * e_column)
                    if scale == 0.0 or scale * y != -np.inf:
                        dy += number(element, own + i * item)
                    fine &= abs(dy) < np.inf
                    put(Number, carry, i, dy)
                if not fine:
                    return s
            if a_step:
                scale_total(n, width, scale, matrix, total, others, doubted)
                write_matrix(element, item, n, width, total, of_given + (k - 1) * d_step, d_row, d_column)
    if target and not fresh:
        scale_total(n, width, scale, matrix, total, others, doubted)
        add_up(n, width, total, target, d_row, d_column)
    return -1


@inline
def product(form: int, x: float, y: float) -> float:
    """x ⊗ y."""
    if form == ADD:
        return x + y
    if form == MULTIPLY:
        return x * y
    return min(x, y) if form == MINIMUM else max(x, y)


@inline
def shares(form: int, x: float, y: float) -> tuple[float, float]:
    """∂(x ⊗ y)/∂x and ∂(x ⊗ y)/∂y; the first of equal operands of min or max counts."""
    if form == ADD:
        return 1.0, 1.0
    if form == MULTIPLY:
        return y, x
    first = x <= y if form == MINIMUM else x >= y
    return (1.0, 0.0) if first else (0.0, 1.0)


@compiled
def follow(
    element: Any, index: Any, jobs: int, count: int, n: int, high: int, low: int, item: int, form: int, zero: float,
    row_step: int, a_step: int, a_row: int, a_column: int, e_step: int, e_column: int, d_step: int, d_row: int,
    d_column: int, de_step: int, back_step: int, emits: int, backwards: int, room: int,
) -> int:
    """The same if ⊕ selects: each derivative goes to the term that won, whose number is an `index`.

    `room` has a row of doubles.
    """
    for s in range(count):
        job = jobs + s * JOB
        rows, given, of_given = fetch(np.int64, job, 0), fetch(np.int64, job, 2), fetch(np.int64, job, 4)
        carry, own = fetch(np.int64, job, 6), fetch(np.int64, job, 1)
        for k in range(min(fetch(np.int64, job, 8) - 1, high), max(fetch(np.int64, job, 9), low), -1):
            row, won, emitted = rows + (k - 1) * row_step, fetch(np.int64, job, 7) + k * back_step, k
            matrix, of_matrix = given + (k - 1) * a_step, of_given + (k - 1) * d_step
            if backwards:
                emitted = k - 1
            e, of_e = fetch(np.int64, job, 3) + emitted * e_step, fetch(np.int64, job, 5) + emitted * de_step
            for i in range(n):
                put(Number, room, i, 0.0)
            for j in range(n):
                y = fetch(Number, carry, j)
                if y == 0.0:
                    continue
                source = np.int64(fetch(index, won, j))
                u, a = number(element, row + source * item), number(element, matrix + source * a_row + j * a_column)
                if backwards:
                    if emits:
                        u = product(form, number(element, e + source * e_column), u)
                    by_a, by_u = shares(form, a, u)
                else:
                    by_u, by_a = shares(form, u, a)
                    if emits:
                        by_s, by_e = shares(form, product(form, u, a), number(element, e + j * e_column))
                        write(element, of_e + j * item, y * by_e)
                        y *= by_s
                if y != 0.0:
                    put(Number, room, source, fetch(Number, room, source) + y * by_u)
                    place = of_matrix + source * d_row + j * d_column
                    if a_step:
                        write(element, place, number(element, place) + y * by_a)
                    else:
                        put(Number, place, 0, fetch(Number, place, 0) + y * by_a)
            fine = True
            for i in range(n):
                dy = fetch(Number, room, i)
                if emits and backwards and dy != 0.0:
                    by_e, by_y = shares(form, number(element, e + i * e_column), number(element, row + i * item))
                    write(element, of_e + i * item, dy * by_e)
                    dy *= by_y
                if number(element, row + i * item) != zero:
                    dy += number(element, own + (k - 1) * row_step + i * item)
                fine &= abs(dy) < np.inf
                put(Number, carry, i, dy)
            if not fine:
                return s
    return -1
