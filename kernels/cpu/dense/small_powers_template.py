"""Small products and closures over log-sum-exp, by powers. A template, put after small_template.py: see small.py.

Never imported as it stands; the lines above ``# Template`` stand for what goes before the text below it: natural
logarithms in float32. Products are computed in the precision of the data, closures in double precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64

from semiring.kernels.cpu.compile.raw import (
    ANY,
    PANEL,
    ROW_0,
    ROW_1,
    call,
    clear_exceptions,
    fetch,
    load,
    put,
    room,
    select,
    stay_apart,
    store,
    wide_vectors,
)

from .small_template import FLAG, GIVEN, ROOM, TILE, compiled, hand_out, improves, inline, loop, strange, take_in
from .template import ELEMENT, LANES, ROWS, fill, round_up

FIRST = np.float32
SIGN = np.float32(1)  # −1 where all is negated
UNIT = np.float32(1)  # log 2 where the base is 2
LOWEST = np.float32(-np.inf)
LEAST = np.float32(2.0**-100)  # the least sum of powers that is believed, divided by the number of terms
LEAST_WALK = np.float32(2.0**-80)  # and the least of walks, divided by M²: see the last function
FARTHEST = np.float32(50)  # the sum of logarithms, all negative, whose power is far above LEAST_WALK
LARGEST = np.float32(1e15)  # of sums of walks: its square is a number
NARROW = 4  # rows of matrices that lie closely, for their vectors would be half empty
TILE_SPACE, TILE_ROW = 1 << 14, 256  # bytes of a tile, and of a row of one


@inline
def power(x: Any) -> Any:
    return np.exp(x)


@inline
def logarithm(x: Any) -> Any:
    return np.log(x)


# Template


@compiled
def take_powers(source: int, row: int, column: int, rows: int, columns: int, target: int, width: int, tops: int) -> Any:
    """A block of logarithms x as powers of x − t, t being the greatest of each column, at `tops`; is one strange?"""
    stay_apart()
    wide_vectors()
    found = FLAG(0)
    for j in range(width):
        store(ELEMENT, tops, 0, j, ROW_0, LOWEST)
    for i in range(rows):
        for j in range(columns):
            x = fetch(GIVEN, source + i * row + j * column, 0)
            found |= select(strange(x), FLAG(1), FLAG(0))
            store(ELEMENT, target, 0, i * width + j, ROW_1, SIGN * x)
        for j in range(columns, width):
            store(ELEMENT, target, 0, i * width + j, ROW_1, LOWEST)
        for j in range(width):
            x, top = load(ELEMENT, target, 0, i * width + j, ROW_1), load(ELEMENT, tops, 0, j, ROW_0)
            store(ELEMENT, tops, 0, j, ROW_0, select(x > top, x, top))
    for j in range(width):
        top = load(ELEMENT, tops, 0, j, ROW_0)
        store(ELEMENT, tops, 0, j, ROW_0, select(top > LOWEST, top, FIRST(0)))
    for i in range(rows):
        for j in range(width):
            x, top = load(ELEMENT, target, 0, i * width + j, ROW_0), load(ELEMENT, tops, 0, j, PANEL)
            store(ELEMENT, target, 0, i * width + j, ROW_0, power(x - top))
    return found


@compiled
def turned(source: int, rows: int, columns: int, width: int, target: int, target_width: int) -> None:
    """The transpose of a packed block of so many rows and columns."""
    stay_apart()
    for j in range(columns):
        for i in range(rows):
            x = load(ELEMENT, source, 0, i * width + j, PANEL)
            store(ELEMENT, target, 0, j * target_width + i, ROW_0, x)


@compiled
def by_terms(a: int, a_column: int, b: int, b_row: int, depth: int) -> Any:
    """An entry of a product whose sum of powers may have lost terms: the greatest term is taken out of its own sum."""
    stay_apart()
    top, total = LOWEST, FIRST(0)
    for k in range(depth):
        x = SIGN * fetch(GIVEN, a + k * a_column, 0) + SIGN * fetch(GIVEN, b + k * b_row, 0)
        top = select(x > top, x, top)
    if top == LOWEST:
        return top
    for k in range(depth):
        x = SIGN * fetch(GIVEN, a + k * a_column, 0) + SIGN * fetch(GIVEN, b + k * b_row, 0)
        total += power(x - top)
    return top + logarithm(total)


@loop
def small_powers(operands: int, dimensions: int, steps: int, data: int) -> None:
    """(m?,k),(k,n?)->(m?,n?),(): C ← A ⊗ B where ⊕ is a log-sum-exp, by powers, and whether anything is strange."""
    workspace = room(ROOM)
    multiply, one = load(np.int64, data, 0, 0, ANY), int64(1)
    zero = FIRST(0)
    count, m = fetch(np.int64, dimensions, 0), fetch(np.int64, dimensions, 1)
    depth, n = fetch(np.int64, dimensions, 2), fetch(np.int64, dimensions, 3)
    a_row, a_column = fetch(np.int64, steps, 4), fetch(np.int64, steps, 5)
    b_row, b_column = fetch(np.int64, steps, 6), fetch(np.int64, steps, 7)
    c_row, c_column = fetch(np.int64, steps, 8), fetch(np.int64, steps, 9)
    height, a_width, width = round_up(m, ROWS), round_up(m, LANES), round_up(n, LANES)
    F = workspace + TILE_SPACE
    E, rows = F + TILE_SPACE, F + 2 * TILE_SPACE
    columns = rows + TILE_ROW
    least = FIRST(depth) * LEAST
    for s in range(count):
        found = FLAG((m > TILE) | (n > TILE) | (depth > TILE))
        if found == 0:
            a = fetch(np.int64, operands, 0) + s * fetch(np.int64, steps, 0)
            b = fetch(np.int64, operands, 1) + s * fetch(np.int64, steps, 1)
            c = fetch(np.int64, operands, 2) + s * fetch(np.int64, steps, 2)
            found |= take_powers(a, a_column, a_row, depth, m, workspace, a_width, rows)
            turned(workspace, depth, m, a_width, E, TILE)
            fill(E, 0, m * TILE, (height - m) * TILE, zero)
            found |= take_powers(b, b_row, b_column, depth, n, F, width, columns)
            fill(workspace, 0, 0 * one, height * width, zero)
            call(multiply, (E, 0, 0, TILE, F, 0, workspace, 0, 0, width, height, depth, one))
            for i in range(m):
                top = load(ELEMENT, rows, 0, i, ANY)
                doubts = FLAG(0)
                for j in range(width):
                    x, high = load(ELEMENT, workspace, 0, i * width + j, ROW_0), load(ELEMENT, columns, 0, j, PANEL)
                    doubts |= select((x < least) & (j < n), FLAG(1), FLAG(0))
                    low = select(x < least, FIRST(-1), FIRST(1))
                    value = (top + high) + logarithm(select(x < least, FIRST(1), x))
                    store(ELEMENT, workspace, 0, i * width + j, ROW_0, value)
                    store(ELEMENT, E, 0, j, ROW_1, low)
                for j in range(n):
                    value = load(ELEMENT, workspace, 0, i * width + j, ANY)
                    if doubts != 0 and load(ELEMENT, E, 0, j, ANY) < zero:
                        value = by_terms(a + i * a_row, a_column, b + j * b_column, b_row, depth)
                    put(GIVEN, c + i * c_row + j * c_column, 0, SIGN * value)
        put(np.bool_, fetch(np.int64, operands, 3) + s * fetch(np.int64, steps, 3), 0, found != 0)
    clear_exceptions()


@compiled
def to_powers(matrix: int, n: int, width: int, bounds: int) -> Any:
    """P ← exp(A); 1 if a path, which enters each vertex once at most, may have none. At `bounds` is room for a row."""
    stay_apart()
    wide_vectors()
    for j in range(width):
        store(ELEMENT, bounds, 0, j, PANEL, FIRST(0))
    for i in range(n):
        for j in range(width):
            x, least = SIGN * load(ELEMENT, matrix, 0, i * width + j, ROW_0), load(ELEMENT, bounds, 0, j, PANEL)
            store(ELEMENT, bounds, 0, j, PANEL, select((x < least) & (x > LOWEST), x, least))
            p = power(select(x > FIRST(0), -x, x))
            store(ELEMENT, matrix, 0, i * width + j, ROW_0, select(x > FIRST(0), FIRST(1) / p, p))
    least = FIRST(0)
    for j in range(n):
        least += load(ELEMENT, bounds, 0, j, PANEL)
    return select(least < -FARTHEST, FLAG(1), FLAG(0))


@compiled
def sum_walks(matrix: int, n: int, width: int, pivots: int) -> Any:
    """P ← P + P² + P³ + … by Gauss–Jordan; 1 if a star is infinite. At `pivots` is room for a row.

    All terms are positive, and nothing is subtracted but a pivot from 1.
    """
    stay_apart()
    wide_vectors()
    for k in range(n):
        p = load(ELEMENT, matrix, 0, k * width + k, ANY)
        if not p < FIRST(1):
            return FLAG(1)
        s = FIRST(1) / (FIRST(1) - p)
        for j in range(width):
            store(ELEMENT, pivots, 0, j, PANEL, s * load(ELEMENT, matrix, 0, k * width + j, ROW_0))
        for i in range(n):
            x = load(ELEMENT, matrix, 0, i * width + k, ANY)
            if i != k and x != FIRST(0):
                for j in range(width):
                    y, z = load(ELEMENT, matrix, 0, i * width + j, ROW_0), load(ELEMENT, pivots, 0, j, PANEL)
                    store(ELEMENT, matrix, 0, i * width + j, ROW_0, y + x * z)
        for j in range(width):
            store(ELEMENT, matrix, 0, k * width + j, ROW_0, load(ELEMENT, pivots, 0, j, PANEL))
    return FLAG(0)


@compiled
def to_logarithms(matrix: int, n: int, width: int, diagonal: int, far: int) -> Any:
    """P ← log(1 + P); 1 if an entry is too large, or so small that it may have lost terms. There is room for two rows.

    Where powers may be `far` apart, so may be an entry of 0.
    """
    stay_apart()
    wide_vectors()
    for i in range(n):  # log(1 + x) is that of the rounded sum, times x over what was added
        x = load(ELEMENT, matrix, 0, i * width + i, ANY)
        y = FIRST(1) + x
        x = logarithm(y) * (x / (y - FIRST(1))) if y > FIRST(1) else x / UNIT
        store(ELEMENT, diagonal, 0, i, PANEL, SIGN * x)
        store(ELEMENT, matrix, 0, i * width + i, ANY, y)
    tops = diagonal + TILE_ROW
    for j in range(width):
        store(ELEMENT, tops, 0, j, PANEL, FIRST(1))
    for i in range(n):
        for j in range(width):
            x, top = load(ELEMENT, matrix, 0, i * width + j, ROW_0), load(ELEMENT, tops, 0, j, PANEL)
            store(ELEMENT, tops, 0, j, PANEL, select(x > top, x, top))
    found, most = FLAG(0), FIRST(1)
    for j in range(width):
        x = load(ELEMENT, tops, 0, j, PANEL)
        most = select(x > most, x, most)
        found |= select(x < LARGEST, FLAG(0), FLAG(1))
    least = LEAST_WALK * most * most
    if far:  # what fills up the rows is not looked at
        for i in range(n):
            fill(matrix, 0, i * width + n, width - n, FIRST(1))
    for j in range(n * width):
        x = load(ELEMENT, matrix, 0, j, ROW_0)
        found |= select((x >= least) | ((x == FIRST(0)) & (far == 0)), FLAG(0), FLAG(1))  # NaN is strange too
        y = logarithm(select(x > FIRST(0), x, FIRST(1)))
        store(ELEMENT, matrix, 0, j, ROW_0, SIGN * select(x > FIRST(0), y, LOWEST))
    for i in range(n):
        x = load(ELEMENT, diagonal, 0, i, PANEL)
        found |= select(improves(GIVEN(x)), FLAG(1), FLAG(0))
        store(ELEMENT, matrix, 0, i * width + i, ANY, x)
    return found


@loop
def small_log_closure(operands: int, dimensions: int, steps: int, data: int) -> None:
    """(n,n)->(n,n),(): C ← A* where ⊕ is a log-sum-exp, by powers in double precision, and whether anything is strange.

    With t the least normal number and M the largest entry of exp(A*), each product that underflows takes at most t M²
    from an entry. There are n³ at most: an entry is believed where it is far more, and one of 0 where no path can
    underflow.
    """
    workspace = int64(room(ROOM))
    row = workspace + TILE_SPACE
    count, n = fetch(np.int64, dimensions, 0), fetch(np.int64, dimensions, 1)
    width = n if n <= NARROW else round_up(n, LANES)
    for s in range(count):
        found = FLAG(n > TILE)
        if found == 0:
            a = fetch(np.int64, operands, 0) + s * fetch(np.int64, steps, 0)
            c = fetch(np.int64, operands, 1) + s * fetch(np.int64, steps, 1)
            found |= take_in(
                a, fetch(np.int64, steps, 3), fetch(np.int64, steps, 4), n, n, workspace, 0, width, SIGN * LOWEST)
        if found == 0:
            far = to_powers(workspace, n, width, row)
            found |= sum_walks(workspace, n, width, row)
        if found == 0:
            found |= to_logarithms(workspace, n, width, row, far)
            found |= hand_out(workspace, 0, width, c, fetch(np.int64, steps, 5), fetch(np.int64, steps, 6), n, n)
        put(np.bool_, fetch(np.int64, operands, 2) + s * fetch(np.int64, steps, 2), 0, found != 0)
    clear_exceptions()
