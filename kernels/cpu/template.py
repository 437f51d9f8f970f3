"""The CPU kernels of one semiring: C ⊕ A ⊗ B by packed tiles, and the closure of a small block.

Never imported as it stands. The engine takes the text below the line ``# Template``, puts a header (element type,
constants, sizes) and the semiring's ⊕, ⊗ and star before it, repeats the lines that end in ``# each …``, and writes
the result to the cache directory. The lines above stand for that header, so that an editor and a type checker see a
whole program: min-plus in float32, nothing unrolled.

    line  # each I        once for every row I of a group, in order
    line  # each K I      once for every step K, and within it for every row I

Matrices come as 3-D arrays (a stack) of their first component, of any strides; below the entry points there are only
addresses, byte strides and sizes. Every entry of C takes its terms in ascending k, whatever the tiles and whoever
computes them, so that a result does not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64, njit, types, void

from semiring.kernels.cpu.raw import (
    ANY,
    PANEL,
    ROW_0,
    as_element,
    fetch,
    first_component,
    load,
    put,
    store,
    take,
)

ELEMENT = np.float32  # or a tuple of scalar classes
ZERO = np.float32(np.inf)
SIZE = 4  # bytes of a packed element
ITEM = 4  # bytes of an element in a matrix
ROWS = 1  # rows of C that the micro-kernel updates at once
DEPTH = 1  # steps of k that it takes at once
CHUNK = 36  # steps of k for which a tile keeps A and B packed
LANES = 16  # elements of the smallest component in 64 bytes: packed rows are a multiple of it
ROW_I = ROW_0
I = K = 0  # replaced by each row and each step
MATRIX = types.Array(types.float32, 3, "A", readonly=True, aligned=False)
compiled = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
inline = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)


def entry(*arguments: Any) -> Any:
    return njit([void(*arguments)], error_model="numpy", no_cfunc_wrapper=True, nogil=True, cache=True)


@inline
def times(a: Any, b: Any, unit: Any) -> Any:
    return a + b


@inline
def plus(x: Any, t: Any) -> Any:
    return t if t < x else x


@inline
def star(a: Any) -> Any:
    return np.float32(0)


@inline
def defined(a: Any) -> Any:
    return a >= np.float32(0)


# Template


@inline
def combine(x: Any, a: Any, b: Any, unit: Any) -> Any:
    """x ⊕ a ⊗ b in the element's own types."""
    return as_element(ELEMENT, plus(x, as_element(ELEMENT, times(a, b, unit))))


@inline
def round_up(number: int, multiple: int) -> int:
    return (number + multiple - 1) // multiple * multiple


@compiled
def micro(
    a: int, a_plane: int, a_first: int, a_row: int, b: int, b_plane: int, c: int, c_plane: int, c_first: int,
    width: int, depth: int, unit: Any,
) -> None:
    """c[i, j] ← c[i, j] ⊕ (a[i, 0] ⊗ b[0, j]) ⊕ … ⊕ (a[i, depth − 1] ⊗ b[depth − 1, j]) for ROWS rows i.

    All three are packed (see raw.py). Row i of a starts at element ``a_first + i · a_row``; row k of b at ``k · width``;
    row i of c at ``c_first + i · width``. Calls that share a buffer c must start at rows that are multiples of ROWS.
    A width that is a multiple of LANES runs without a scalar tail. A client inside a compiled loop gathers the rows of
    its right operand into b with `pack` (one call for each run of rows) and calls this for every ROWS rows of a; rows
    past the last are computed and must exist in a and c.
    """
    whole = depth - depth % DEPTH
    for k in range(0, whole, DEPTH):
        a_I_K = load(ELEMENT, a, a_plane, a_first + I * a_row + k + K, ANY)  # each I K
        for j in range(width):
            x_I = load(ELEMENT, c, c_plane, c_first + I * width + j, ROW_I)  # each I
            b_K = load(ELEMENT, b, b_plane, (k + K) * width + j, PANEL)  # each K
            x_I = combine(x_I, a_I_K, b_K, unit)  # each K I
            store(ELEMENT, c, c_plane, c_first + I * width + j, ROW_I, x_I)  # each I
    for k in range(whole, depth):
        a_I = load(ELEMENT, a, a_plane, a_first + I * a_row + k, ANY)  # each I
        for j in range(width):
            b_0 = load(ELEMENT, b, b_plane, k * width + j, PANEL)
            x_I = load(ELEMENT, c, c_plane, c_first + I * width + j, ROW_I)  # each I
            store(ELEMENT, c, c_plane, c_first + I * width + j, ROW_I, combine(x_I, a_I, b_0, unit))  # each I


@compiled
def fill(target: int, plane: int, first: int, count: int) -> None:
    """ZERO into `count` packed elements from `first` on."""
    for e in range(first, first + count):
        store(ELEMENT, target, plane, e, ANY, ZERO)


@compiled
def pack(
    source: int, row: int, column: int, rows: int, columns: int, target: int, plane: int, first: int, width: int
) -> None:
    """Copy a block of a matrix into a packed buffer with rows of `width`, the rest of each row filled with ZERO."""
    if column == ITEM:
        for i in range(rows):
            for j in range(columns):
                store(ELEMENT, target, plane, first + i * width + j, ANY, fetch(ELEMENT, source + i * row, j))
    else:  # eight columns at a time: cache lines of a column-major source are used up before they are evicted
        for j0 in range(0, columns, 8):
            for i in range(rows):
                for j in range(j0, min(j0 + 8, columns)):
                    x = fetch(ELEMENT, source + i * row + j * column, 0)
                    store(ELEMENT, target, plane, first + i * width + j, ANY, x)
    if columns < width:
        for i in range(rows):
            fill(target, plane, first + i * width + columns, width - columns)


@compiled
def unpack(
    source: int, plane: int, width: int, target: int, row: int, column: int, rows: int, columns: int
) -> None:
    """Copy a packed buffer with rows of `width` into a block of a matrix."""
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


@compiled
def tile(
    c: int, c_row: int, c_column: int, a: int, a_row: int, a_column: int, b: int, b_row: int, b_column: int,
    rows: int, columns: int, depth: int, accumulate: int, workspace: int, unit: Any,
) -> None:
    """One tile of C, kept packed in the workspace while k runs over the whole of A and B."""
    width = round_up(columns, LANES)
    height = round_up(rows, ROWS)
    c_plane, b_plane, a_plane = height * width, CHUNK * width, round_up(height * CHUNK, LANES)
    packed_c = workspace
    packed_b = packed_c + c_plane * SIZE
    packed_a = packed_b + b_plane * SIZE
    if accumulate:
        pack(c, c_row, c_column, rows, columns, packed_c, c_plane, 0, width)
        fill(packed_c, c_plane, rows * width, (height - rows) * width)
    else:
        fill(packed_c, c_plane, 0, c_plane)
    fill(packed_a, a_plane, rows * CHUNK, (height - rows) * CHUNK)
    for k in range(0, depth, CHUNK):
        steps = min(CHUNK, depth - k)
        pack(b + k * b_row, b_row, b_column, steps, columns, packed_b, b_plane, 0, width)
        pack(a + k * a_column, a_row, a_column, rows, steps, packed_a, a_plane, 0, CHUNK)
        for i in range(0, height, ROWS):
            micro(
                packed_a, a_plane, i * CHUNK, CHUNK, packed_b, b_plane, packed_c, c_plane, i * width,
                width, steps, unit,
            )  # fmt: skip
    unpack(packed_c, c_plane, width, c, c_row, c_column, rows, columns)


@entry(MATRIX, MATRIX, MATRIX, int64, int64, int64, int64, int64, int64, int64)
def product(
    C: Any, A: Any, B: Any, height: int, width: int, accumulate: int, tasks: int, counter: int, workspace: int, one: int
) -> None:
    """C ← C ⊕ A ⊗ B, or C ← A ⊗ B, on every matrix of a stack.

    The tiles are numbered from 0 to `tasks`; each call takes the next number from the counter (an address; 0: this call
    does them all) until none is left. `one` is 1, and not known to the compiler.
    """
    unit = first_component(ELEMENT, one)
    m, n, k = C.shape[1], C.shape[2], A.shape[2]
    down, across = (m + height - 1) // height, (n + width - 1) // width
    c, a, b = C.ctypes.data, A.ctypes.data, B.ctypes.data
    task = take(counter) if counter else 0
    while task < tasks:
        i = task % down * height
        j = task // down % across * width
        s = task // (down * across)
        tile(
            c + s * C.strides[0] + i * C.strides[1] + j * C.strides[2], C.strides[1], C.strides[2],
            a + s * A.strides[0] + i * A.strides[1], A.strides[1], A.strides[2],
            b + s * B.strides[0] + j * B.strides[2], B.strides[1], B.strides[2],
            min(height, m - i), min(width, n - j), k, accumulate, workspace, unit,
        )  # fmt: skip
        task = take(counter) if counter else task + 1


@compiled
def close_rows(panel: int, plane: int, width: int, first: int, pivots: int, unit: Any) -> int:
    """Gauss–Jordan on the rows of `pivots` pivots alone, all columns; the first pivot without a star, else −1.

    Pivot k stands at column ``first + k``. Where the equations treat the pivot's column apart, the column is set to
    ZERO before the sweep: ZERO ⊕ a_ik ⊗ s is what it has to hold.
    """
    for k in range(pivots):
        pivot = load(ELEMENT, panel, plane, k * width + first + k, ANY)
        if not defined(pivot):
            return first + k
        s = as_element(ELEMENT, star(pivot))
        for j in range(width):
            x = load(ELEMENT, panel, plane, k * width + j, ANY)
            store(ELEMENT, panel, plane, k * width + j, ANY, as_element(ELEMENT, times(s, x, unit)))
        store(ELEMENT, panel, plane, k * width + first + k, ANY, s)
        for i in range(pivots):
            if i != k:
                f = load(ELEMENT, panel, plane, i * width + first + k, ANY)
                store(ELEMENT, panel, plane, i * width + first + k, ANY, ZERO)
                for j in range(width):
                    x = load(ELEMENT, panel, plane, i * width + j, ANY)
                    r = load(ELEMENT, panel, plane, k * width + j, ANY)
                    store(ELEMENT, panel, plane, i * width + j, ANY, combine(x, f, r, unit))
    return -1


@compiled
def close_block(d: int, row: int, column: int, n: int, workspace: int, unit: Any) -> int:
    """D ← D* on a packed copy, DEPTH pivots at a time; D stays as it was when a pivot has no star.

    With the rows P of these pivots closed among themselves, every other row i takes all of them at once:
    a_ij ← a_ij ⊕ a_iP ⊗ a_Pj, and a_iP ← a_iP ⊗ a_PP (the same sum from ZERO).
    """
    width = round_up(n, LANES)
    height = round_up(n, ROWS)
    plane, p_plane, f_plane = height * width, DEPTH * width, round_up(height * DEPTH, LANES)
    matrix = workspace
    panel = matrix + plane * SIZE
    factors = panel + p_plane * SIZE
    pack(d, row, column, n, n, matrix, plane, 0, width)
    fill(matrix, plane, n * width, (height - n) * width)
    for p in range(0, n, DEPTH):
        pivots = min(DEPTH, n - p)
        for j in range(pivots * width):
            store(ELEMENT, panel, p_plane, j, ANY, load(ELEMENT, matrix, plane, p * width + j, ANY))
        failed = close_rows(panel, p_plane, width, p, pivots, unit)
        if failed >= 0:
            return failed
        for i in range(height):
            for k in range(pivots):
                store(ELEMENT, factors, f_plane, i * DEPTH + k, ANY, load(ELEMENT, matrix, plane, i * width + p + k, ANY))
                store(ELEMENT, matrix, plane, i * width + p + k, ANY, ZERO)
        for i in range(0, height, ROWS):
            micro(
                factors, f_plane, i * DEPTH, DEPTH, panel, p_plane, matrix, plane, i * width, width, pivots, unit
            )  # fmt: skip
        for j in range(pivots * width):  # the pivots' own rows went through the sweep too
            store(ELEMENT, matrix, plane, p * width + j, ANY, load(ELEMENT, panel, p_plane, j, ANY))
    unpack(matrix, plane, width, d, row, column, n, n)
    return -1


@entry(MATRIX, int64[::1], int64, int64, int64)
def close(D: Any, failed: Any, counter: int, workspace: int, one: int) -> None:
    """D ← D* on every matrix of a stack, handed out like the tiles of `product`; `failed` takes pivots or −1."""
    unit = first_component(ELEMENT, one)
    task = take(counter) if counter else 0
    while task < D.shape[0]:
        d = D.ctypes.data + task * D.strides[0]
        failed[task] = close_block(d, D.strides[1], D.strides[2], D.shape[1], workspace, unit)
        task = take(counter) if counter else task + 1


@entry(MATRIX, MATRIX, MATRIX, int64)
def diagonal(out: Any, A: Any, D: Any, one: int) -> None:
    """out[s, i, 0] ← the ⊕ of A[s, i, k] ⊗ D[s, k, i] over k."""
    unit = first_component(ELEMENT, one)
    for s in range(out.shape[0]):
        for i in range(out.shape[1]):
            a = A.ctypes.data + s * A.strides[0] + i * A.strides[1]
            d = D.ctypes.data + s * D.strides[0] + i * D.strides[2]
            x = as_element(ELEMENT, ZERO)
            for k in range(A.shape[2]):
                left, right = fetch(ELEMENT, a + k * A.strides[2], 0), fetch(ELEMENT, d + k * D.strides[1], 0)
                x = combine(x, left, right, unit)
            put(ELEMENT, out.ctypes.data + s * out.strides[0] + i * out.strides[1], 0, x)
