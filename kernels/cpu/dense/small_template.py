"""The loops of ufuncs for small products and closures: they test what they read, and compute, in one call.

Never imported as it stands: small.py puts a header (element types, sizes, conversions) before the text below the line
``# Template``, and the text of template.py. The lines above stand for that header: float32, as it is.

NumPy calls a loop with the addresses of its operands, its dimensions and its strides in bytes. ⊕ and ⊗ are functions of
the algebra (operations_template.py), whose addresses are at `data`. They get the same packed elements in the same order
as in template.py, so that the answers are the same bits. A loop raises nothing: if anything is unusual it sets its last
operand, and the caller asks the general way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64, void

from semiring.kernels.cpu.compile.jit import njit
from semiring.kernels.cpu.compile.raw import (
    ANY,
    call,
    clear_exceptions,
    fetch,
    load,
    put,
    room,
    select,
    stay_apart,
    store,
)

from .template import CHUNK, DEPTH, ELEMENT, LANES, ROWS, SIZE, copy, fill, move_columns, round_up, zero_of

GIVEN = np.float32  # an element of the data, or a tuple of its parts
BITS = np.float32  # the same as it is converted: integers of its bits where these are what enters storage
ITEM = 4  # bytes of an element of the data
FLAG = np.int32  # an integer of such a size
TILE = 64  # rows and columns of C that are computed at once, and the largest matrix that is closed
ROOM = 1 << 17  # bytes that this takes
inline = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)
compiled = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)


def loop(function: Any) -> Any:
    return njit([void(*[int64] * 4)], error_model="numpy", no_cpython_wrapper=True, cache=True)(function)


@inline
def enter(x: Any) -> Any:
    return x


@inline
def leave(x: Any) -> Any:
    return x


@inline
def strange(x: Any) -> Any:
    return x != x


@inline
def leaves(x: Any) -> Any:
    return x != x


@inline
def improves(x: Any) -> Any:
    return x < np.float32(0)


# Template


@compiled
def take_in(
    source: int, row: int, column: int, rows: int, columns: int, target: int, plane: int, width: int, zero: Any
) -> Any:
    """A block of a matrix into a packed buffer, each row filled up with zero: is an element strange?"""
    stay_apart()
    found = FLAG(0)
    if column == ITEM:
        for i in range(rows):
            for j in range(columns):
                store(ELEMENT, target, plane, i * width + j, ANY, enter(fetch(BITS, source + i * row, j)))
                found |= select(strange(fetch(GIVEN, source + i * row, j)), FLAG(1), FLAG(0))
    else:
        for i in range(rows):
            for j in range(columns):
                place = source + i * row + j * column
                store(ELEMENT, target, plane, i * width + j, ANY, enter(fetch(BITS, place, 0)))
                found |= select(strange(fetch(GIVEN, place, 0)), FLAG(1), FLAG(0))
    if columns < width:
        for i in range(rows):
            fill(target, plane, i * width + columns, width - columns, zero)
    return found


@compiled
def hand_out(source: int, plane: int, width: int, target: int, row: int, column: int, rows: int, columns: int) -> Any:
    """A packed buffer into a block of a matrix: has one of its elements none there?"""
    stay_apart()
    found = FLAG(0)
    if column == ITEM:
        for i in range(rows):
            for j in range(columns):
                x = load(ELEMENT, source, plane, i * width + j, ANY)
                put(BITS, target + i * row, j, leave(x))
                found |= select(leaves(x), FLAG(1), FLAG(0))
    else:
        for i in range(rows):
            for j in range(columns):
                x = load(ELEMENT, source, plane, i * width + j, ANY)
                put(BITS, target + i * row + j * column, 0, leave(x))
                found |= select(leaves(x), FLAG(1), FLAG(0))
    return found


@compiled
def products(operands: int, dimensions: int, steps: int, data: int, given: int) -> None:
    """C ← A ⊗ B, or D ⊕ A ⊗ B if another operand is `given`, and whether anything is strange."""
    workspace = int64(room(ROOM))
    multiply, constants = load(np.int64, data, 0, 0, ANY), load(np.int64, data, 0, 2, ANY)
    zero = zero_of(constants)
    a_width, step = int64(CHUNK), int64(1)
    last, own = 2 + given, 4 + given  # of the operands before the flag, and of the first stride within a matrix
    count, m = fetch(np.int64, dimensions, 0), fetch(np.int64, dimensions, 1)
    depth, n = fetch(np.int64, dimensions, 2), fetch(np.int64, dimensions, 3)
    a_row, a_column = fetch(np.int64, steps, own), fetch(np.int64, steps, own + 1)
    b_row, b_column = fetch(np.int64, steps, own + 2), fetch(np.int64, steps, own + 3)
    d_row, d_column = fetch(np.int64, steps, own + 4), fetch(np.int64, steps, own + 5)
    c_row, c_column = fetch(np.int64, steps, own + 4 + 2 * given), fetch(np.int64, steps, own + 5 + 2 * given)
    for s in range(count):
        a = fetch(np.int64, operands, 0) + s * fetch(np.int64, steps, 0)
        b = fetch(np.int64, operands, 1) + s * fetch(np.int64, steps, 1)
        d = fetch(np.int64, operands, 2) + s * fetch(np.int64, steps, 2)
        c = fetch(np.int64, operands, last) + s * fetch(np.int64, steps, last)
        found = FLAG(0)
        for i in range(0, m, TILE):
            for j in range(0, n, TILE):
                rows, columns = min(TILE, m - i), min(TILE, n - j)
                c_rows, c_width = round_up(rows, ROWS), round_up(columns, LANES)
                c_plane, b_plane, a_plane = c_rows * c_width, CHUNK * c_width, round_up(c_rows * CHUNK, LANES)
                packed_b = workspace + c_plane * SIZE
                packed_a = packed_b + b_plane * SIZE
                fill(workspace, c_plane, 0 * step, c_plane, zero)
                if given:
                    found |= take_in(
                        d + i * d_row + j * d_column, d_row, d_column, rows, columns, workspace, c_plane, c_width, zero)
                fill(packed_a, a_plane, rows * CHUNK, (c_rows - rows) * CHUNK, zero)
                for k in range(0, depth, CHUNK):
                    some = min(CHUNK, depth - k)
                    found |= take_in(
                        b + k * b_row + j * b_column, b_row, b_column, some, columns, packed_b, b_plane, c_width, zero)
                    found |= take_in(
                        a + i * a_row + k * a_column, a_row, a_column, rows, some, packed_a, a_plane, a_width, zero)
                    call(multiply, (
                        packed_a, a_plane, 0, CHUNK, packed_b, b_plane, workspace, c_plane, 0, c_width, c_rows, some,
                        step,
                    ))
                found |= hand_out(
                    workspace, c_plane, c_width, c + i * c_row + j * c_column, c_row, c_column, rows, columns)
        put(np.bool_, fetch(np.int64, operands, last + 1) + s * fetch(np.int64, steps, last + 1), 0, found != 0)
    clear_exceptions()


@loop
def small_product(operands: int, dimensions: int, steps: int, data: int) -> None:
    """(m?,k),(k,n?)->(m?,n?),(): C ← A ⊗ B."""
    products(operands, dimensions, steps, data, 0)


@loop
def small_sum(operands: int, dimensions: int, steps: int, data: int) -> None:
    """(m?,k),(k,n?),(m?,n?)->(m?,n?),(): C ← D ⊕ A ⊗ B."""
    products(operands, dimensions, steps, data, 1)


@loop
def small_closure(operands: int, dimensions: int, steps: int, data: int) -> None:
    """(n,n)->(n,n),(): C ← A*, and whether anything is strange; as `close` in template.py."""
    workspace = int64(room(ROOM))
    multiply, close_pivots = load(np.int64, data, 0, 0, ANY), load(np.int64, data, 0, 1, ANY)
    constants = load(np.int64, data, 0, 2, ANY)
    zero, step = zero_of(constants), int64(1)
    start = 0 * step
    count, n = fetch(np.int64, dimensions, 0), fetch(np.int64, dimensions, 1)
    width, height = round_up(n, LANES), round_up(n, ROWS)
    plane, p_plane, f_plane = height * width, DEPTH * width, round_up(height * DEPTH, LANES)
    panel = workspace + plane * SIZE
    factors = panel + p_plane * SIZE
    for s in range(count):
        found = FLAG(n > TILE)
        if found == 0:
            a = fetch(np.int64, operands, 0) + s * fetch(np.int64, steps, 0)
            c = fetch(np.int64, operands, 1) + s * fetch(np.int64, steps, 1)
            found |= take_in(
                a, fetch(np.int64, steps, 3), fetch(np.int64, steps, 4), n, n, workspace, plane, width, zero)
            fill(workspace, plane, n * width, (height - n) * width, zero)
            for p in range(0, n, DEPTH):
                pivots = min(DEPTH, n - p)
                copy(workspace, plane, p * width, panel, p_plane, start, pivots * width)
                if call(close_pivots, (panel, p_plane, width, p, pivots, step)) >= 0:
                    found |= FLAG(1)
                    break
                move_columns(workspace, plane, start, width, p, pivots, height, factors, f_plane, zero)
                call(multiply, (
                    factors, f_plane, 0, DEPTH, panel, p_plane, workspace, plane, 0, width, height, pivots, step,
                ))
                copy(panel, p_plane, start, workspace, plane, p * width, pivots * width)
            for i in range(n):
                found |= select(improves(load(ELEMENT, workspace, plane, i * width + i, ANY)), FLAG(1), FLAG(0))
            found |= hand_out(
                workspace, plane, width, c, fetch(np.int64, steps, 5), fetch(np.int64, steps, 6), n, n)
        put(np.bool_, fetch(np.int64, operands, 2) + s * fetch(np.int64, steps, 2), 0, found != 0)
    clear_exceptions()
