"""The CPU kernels of one size of element over any algebra: C ⊕ A ⊗ B by packed tiles, and the closure of a block.

Never imported as it stands: walk.py puts a header (element type, sizes) before the text below the line ``# Template``.
The lines above stand for that header, so that an editor and a type checker see a whole program: float32.

What ⊕, ⊗ and star do is in functions of the algebra, whose addresses are arguments (operations_template.py), and so
are its zero and one: ``constants`` is the address of both, packed. Matrices come as 3-D arrays (a stack) of their first
component, of any strides; below the entry points there are only addresses, byte strides and sizes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64, types, void

from semiring.kernels.cpu.compile.jit import njit
from semiring.kernels.cpu.compile.raw import ANY, PANEL, ROW_0, call, fetch, load, put, stay_apart, store, take

ELEMENT = np.float32  # or a tuple of scalar classes
SIZE = 4  # bytes of a packed element
ITEM = 4  # bytes of an element in a matrix
ROWS = 1  # rows of C that `multiply` updates at once
DEPTH = 1  # pivots that are closed at once
CHUNK = 64  # steps of k for which a tile keeps A and B packed
LANES = 16  # elements of the smallest component in 64 bytes: packed rows are a multiple of it
MATRIX = types.Array(types.float32, 3, "A", readonly=True, aligned=False)
compiled = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
inline = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)


def entry(*arguments: Any) -> Any:
    return njit([void(*arguments)], error_model="numpy", no_cfunc_wrapper=True, nogil=True, cache=True)


# Template


@inline
def round_up(number: int, multiple: int) -> int:
    return (number + multiple - 1) // multiple * multiple


@inline
def zero_of(constants: int) -> Any:
    return load(ELEMENT, constants, 2, 0, ANY)


@inline
def one_of(constants: int) -> Any:
    return load(ELEMENT, constants, 2, 1, ANY)


@compiled
def fill(target: int, plane: int, first: int, count: int, value: Any) -> None:
    """An element into `count` packed elements from `first` on."""
    stay_apart()
    for e in range(first, first + count):
        store(ELEMENT, target, plane, e, ANY, value)


@inline
def copy(source: int, source_plane: int, begin: int, target: int, target_plane: int, first: int, count: int) -> None:
    """`count` packed elements from `begin` on to `first` on; the buffers, or the ranges, are apart."""
    for j in range(count):
        store(ELEMENT, target, target_plane, first + j, PANEL, load(ELEMENT, source, source_plane, begin + j, ROW_0))


@compiled
def move_columns(
    matrix: int, plane: int, first: int, width: int, p: int, pivots: int, height: int, factors: int, f_plane: int,
    zero: Any,
) -> None:
    """The columns from p on as rows of DEPTH elements, for every row; in the matrix they become zero."""
    stay_apart()
    for i in range(height):
        for k in range(pivots):
            place = first + i * width + p + k
            store(ELEMENT, factors, f_plane, i * DEPTH + k, ANY, load(ELEMENT, matrix, plane, place, ANY))
            store(ELEMENT, matrix, plane, place, ANY, zero)


@compiled
def pack(
    source: int, row: int, column: int, rows: int, columns: int, target: int, plane: int, width: int, zero: Any
) -> None:
    """Copy a block of a matrix into a packed buffer with rows of `width`, the rest of each row filled with zero."""
    stay_apart()
    if column == ITEM:
        for i in range(rows):
            for j in range(columns):
                store(ELEMENT, target, plane, i * width + j, ANY, fetch(ELEMENT, source + i * row, j))
    else:  # eight columns at a time: cache lines of a column-major source are used up before they are evicted
        for j0 in range(0, columns, 8):
            for i in range(rows):
                for j in range(j0, min(j0 + 8, columns)):
                    x = fetch(ELEMENT, source + i * row + j * column, 0)
                    store(ELEMENT, target, plane, i * width + j, ANY, x)
    if columns < width:
        for i in range(rows):
            fill(target, plane, i * width + columns, width - columns, zero)


@compiled
def unpack(
    source: int, plane: int, width: int, target: int, row: int, column: int, rows: int, columns: int
) -> None:
    """Copy a packed buffer with rows of `width` into a block of a matrix."""
    stay_apart()
    if column == ITEM:
        for i in range(rows):
            for j in range(columns):
                put(ELEMENT, target + i * row, j, load(ELEMENT, source, plane, i * width + j, ANY))
    else:
        for j0 in range(0, columns, 8):
            for i in range(rows):
                for j in range(j0, min(j0 + 8, columns)):
                    x = load(ELEMENT, source, plane, i * width + j, ANY)
                    put(ELEMENT, target + i * row + j * column, 0, x)


@entry(MATRIX, MATRIX, MATRIX, int64, int64, int64, int64, int64, int64, int64, int64, int64)
def product(
    C: Any, A: Any, B: Any, height: int, width: int, accumulate: int, tasks: int, counter: int, workspace: int,
    multiply: int, constants: int, one: int,
) -> None:
    """C ← C ⊕ A ⊗ B, or C ← A ⊗ B, on every matrix of a stack.

    The tiles of C, `height` × `width` but for the last, are numbered from 0 to `tasks`; each call takes the next number
    from the counter (an address; 0: this call does them all) until none is left. A tile is kept packed while k runs
    over the whole of A and B. `one` is 1.
    """
    zero = zero_of(constants)
    a_width = int64(CHUNK)  # a type, not a literal: Numba would compile `pack` anew for each
    m, n, depth = C.shape[1], C.shape[2], A.shape[2]
    down, across = (m + height - 1) // height, (n + width - 1) // width
    task = take(counter) if counter else 0
    while task < tasks:
        i, j, s = task % down * height, task // down % across * width, task // (down * across)
        rows, columns = min(height, m - i), min(width, n - j)
        c = int64(C.ctypes.data) + s * C.strides[0] + i * C.strides[1] + j * C.strides[2]
        a = int64(A.ctypes.data) + s * A.strides[0] + i * A.strides[1]
        b = int64(B.ctypes.data) + s * B.strides[0] + j * B.strides[2]
        c_rows, c_width = round_up(rows, ROWS), round_up(columns, LANES)
        c_plane, b_plane, a_plane = c_rows * c_width, CHUNK * c_width, round_up(c_rows * CHUNK, LANES)
        packed_c = workspace
        packed_b = packed_c + c_plane * SIZE
        packed_a = packed_b + b_plane * SIZE
        kept = rows if accumulate else 0
        pack(c, C.strides[1], C.strides[2], kept, columns, packed_c, c_plane, c_width, zero)
        fill(packed_c, c_plane, kept * c_width, (c_rows - kept) * c_width, zero)
        fill(packed_a, a_plane, rows * CHUNK, (c_rows - rows) * CHUNK, zero)
        for k in range(0, depth, CHUNK):
            steps = min(CHUNK, depth - k)
            pack(b + k * B.strides[1], B.strides[1], B.strides[2], steps, columns, packed_b, b_plane, c_width, zero)
            pack(a + k * A.strides[2], A.strides[1], A.strides[2], rows, steps, packed_a, a_plane, a_width, zero)
            call(multiply, (
                packed_a, a_plane, 0, CHUNK, packed_b, b_plane, packed_c, c_plane, 0, c_width, c_rows, steps, one,
            ))
        unpack(packed_c, c_plane, c_width, c, C.strides[1], C.strides[2], rows, columns)
        task = take(counter) if counter else task + 1


@entry(MATRIX, int64[::1], int64, int64, int64, int64, int64, int64)
def close(
    D: Any, failed: Any, counter: int, workspace: int, multiply: int, close_pivots: int, constants: int, one: int
) -> None:
    """D ← D* on every matrix of a stack, handed out like the tiles of `product`.

    `failed` takes −1, or the first pivot whose star does not exist, and that matrix stays as it was.

    A packed copy is closed by Gauss–Jordan, DEPTH pivots P at a time: first the rows P among themselves
    (`close_pivots`). Then every other row i takes all of them at once: a_ij ← a_ij ⊕ a_iP ⊗ a_Pj, a_iP ← a_iP ⊗ a_PP.
    The pivots' columns are set to zero before the sweep over all columns, which leaves in them just that product.
    """
    zero, start = zero_of(constants), int64(0)
    n = D.shape[1]
    width, height = round_up(n, LANES), round_up(n, ROWS)
    plane, p_plane, f_plane = height * width, DEPTH * width, round_up(height * DEPTH, LANES)
    matrix = workspace
    panel = matrix + plane * SIZE
    factors = panel + p_plane * SIZE
    task = take(counter) if counter else 0
    while task < D.shape[0]:
        d = int64(D.ctypes.data) + task * D.strides[0]
        pack(d, D.strides[1], D.strides[2], n, n, matrix, plane, width, zero)
        fill(matrix, plane, n * width, (height - n) * width, zero)
        failure = -1
        for p in range(0, n, DEPTH):
            pivots = min(DEPTH, n - p)
            copy(matrix, plane, p * width, panel, p_plane, start, pivots * width)
            failure = call(close_pivots, (panel, p_plane, width, p, pivots, one))
            if failure >= 0:
                failure += p
                break
            move_columns(matrix, plane, start, width, p, pivots, height, factors, f_plane, zero)
            call(multiply, (
                factors, f_plane, 0, DEPTH, panel, p_plane, matrix, plane, 0, width, height, pivots, one,
            ))
            copy(panel, p_plane, start, matrix, plane, p * width, pivots * width)  # they went through the sweep too
        if failure < 0:
            unpack(matrix, plane, width, d, D.strides[1], D.strides[2], n, n)
        failed[task] = failure
        task = take(counter) if counter else task + 1
