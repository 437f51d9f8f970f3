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
from numba import int64, types, void

from semiring.kernels.cpu.compile.jit import njit
from semiring.kernels.cpu.compile.raw import (
    ANY,
    PANEL,
    ROW_0,
    as_element,
    fetch,
    first_component,
    load,
    put,
    stay_apart,
    store,
    take,
)

ELEMENT = np.float32  # or a tuple of scalar classes
ZERO = np.float32(np.inf)
SIZE = 4  # bytes of a packed element
ITEM = 4  # bytes of an element in a matrix
ROWS = 1  # rows of C that the micro-kernel updates at once
DEPTH = 1  # steps of k that it takes at once
CHUNK = 64  # steps of k for which a tile keeps A and B packed
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
def scaled(a: Any, b: Any) -> Any:
    return np.float32(np.inf) if a == np.float32(np.inf) or b == np.float32(np.inf) else a + b


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

    All three are packed (see raw.py). Row i of a starts at element ``a_first + i · a_row``; row k of b at
    ``k · width``; row i of c at ``c_first + i · width``. The width must be a multiple of LANES. A client inside a
    compiled loop gathers rows of its right operand into b with `pack` (one call for each run of rows), and calls this
    for every ROWS rows of a; rows past the last are computed too and must exist in a and c. Integers that differ
    between calls must have the type int64, not literals, or this is compiled again for each.
    """
    stay_apart()
    whole = depth - depth % DEPTH
    for k in range(0, whole, DEPTH):
        a_I_K = load(ELEMENT, a, a_plane, a_first + I * a_row + k + K, ANY)  # each I K
        for vector in range(0, width, LANES):  # an inner loop of fixed length leaves no remainder to spill for
            for j in range(vector, vector + LANES):
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
    stay_apart()
    for e in range(first, first + count):
        store(ELEMENT, target, plane, e, ANY, ZERO)


@compiled
def pack(
    source: int, row: int, column: int, rows: int, columns: int, target: int, plane: int, width: int
) -> None:
    """Copy a block of a matrix into a packed buffer with rows of `width`, the rest of each row filled with ZERO."""
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
            fill(target, plane, i * width + columns, width - columns)


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


@entry(MATRIX, MATRIX, MATRIX, int64, int64, int64, int64, int64, int64, int64)
def product(
    C: Any, A: Any, B: Any, height: int, width: int, accumulate: int, tasks: int, counter: int, workspace: int, one: int
) -> None:
    """C ← C ⊕ A ⊗ B, or C ← A ⊗ B, on every matrix of a stack.

    The tiles of C, `height` × `width` but for the last, are numbered from 0 to `tasks`; each call takes the next number
    from the counter (an address; 0: this call does them all) until none is left. A tile is kept packed while k runs
    over the whole of A and B. `one` is 1, and not known to the compiler.
    """
    unit = first_component(ELEMENT, one)
    a_width = int64(CHUNK)  # a type, not a literal: Numba would compile `micro` and `pack` anew for each
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
        pack(c, C.strides[1], C.strides[2], kept, columns, packed_c, c_plane, c_width)
        fill(packed_c, c_plane, kept * c_width, (c_rows - kept) * c_width)
        fill(packed_a, a_plane, rows * CHUNK, (c_rows - rows) * CHUNK)
        for k in range(0, depth, CHUNK):
            steps = min(CHUNK, depth - k)
            pack(b + k * B.strides[1], B.strides[1], B.strides[2], steps, columns, packed_b, b_plane, c_width)
            pack(a + k * A.strides[2], A.strides[1], A.strides[2], rows, steps, packed_a, a_plane, a_width)
            for r in range(0, c_rows, ROWS):
                micro(
                    packed_a, a_plane, r * CHUNK, a_width, packed_b, b_plane, packed_c, c_plane, r * c_width,
                    c_width, steps, unit,
                )
        unpack(packed_c, c_plane, c_width, c, C.strides[1], C.strides[2], rows, columns)
        task = take(counter) if counter else task + 1


@entry(MATRIX, int64[::1], int64, int64, int64)
def close(D: Any, failed: Any, counter: int, workspace: int, one: int) -> None:
    """D ← D* on every matrix of a stack, handed out like the tiles of `product`.

    `failed` takes −1, or the first pivot whose star does not exist, and that matrix stays as it was.

    A packed copy is closed by Gauss–Jordan, DEPTH pivots P at a time. First the rows P among themselves, all columns:
    s ← (a_kk)*, a_kj ← s ⊗ a_kj, a_ij ← a_ij ⊕ a_ik ⊗ a_kj, a_ik ← a_ik ⊗ s, a_kk ← s. Then every other row i takes all
    of them at once: a_ij ← a_ij ⊕ a_iP ⊗ a_Pj, a_iP ← a_iP ⊗ a_PP. Where the pivots' columns are treated apart, they
    are set to ZERO before a sweep over all columns, which leaves in them just the product that they have to hold.
    """
    unit = first_component(ELEMENT, one)
    n, f_width = D.shape[1], int64(DEPTH)
    width, height = round_up(n, LANES), round_up(n, ROWS)
    plane, p_plane, f_plane = height * width, DEPTH * width, round_up(height * DEPTH, LANES)
    matrix = workspace
    panel = matrix + plane * SIZE
    factors = panel + p_plane * SIZE
    task = take(counter) if counter else 0
    while task < D.shape[0]:
        d = int64(D.ctypes.data) + task * D.strides[0]
        pack(d, D.strides[1], D.strides[2], n, n, matrix, plane, width)
        fill(matrix, plane, n * width, (height - n) * width)
        failure = -1
        for p in range(0, n, DEPTH):
            pivots = min(DEPTH, n - p)
            for j in range(pivots * width):
                store(ELEMENT, panel, p_plane, j, ANY, load(ELEMENT, matrix, plane, p * width + j, ANY))
            for k in range(pivots):
                pivot = load(ELEMENT, panel, p_plane, k * width + p + k, ANY)
                if not defined(pivot):
                    failure = p + k
                    break
                s = as_element(ELEMENT, star(pivot))
                for j in range(width):
                    x = load(ELEMENT, panel, p_plane, k * width + j, ANY)
                    store(ELEMENT, panel, p_plane, k * width + j, ANY, as_element(ELEMENT, scaled(s, x)))
                store(ELEMENT, panel, p_plane, k * width + p + k, ANY, s)
                for i in range(pivots):
                    if i != k:
                        f = load(ELEMENT, panel, p_plane, i * width + p + k, ANY)
                        store(ELEMENT, panel, p_plane, i * width + p + k, ANY, ZERO)
                        for j in range(width):
                            x = load(ELEMENT, panel, p_plane, i * width + j, ANY)
                            r = load(ELEMENT, panel, p_plane, k * width + j, ANY)
                            store(ELEMENT, panel, p_plane, i * width + j, ANY, combine(x, f, r, unit))
            if failure >= 0:
                break
            for i in range(height):
                for k in range(pivots):
                    f = load(ELEMENT, matrix, plane, i * width + p + k, ANY)
                    store(ELEMENT, factors, f_plane, i * DEPTH + k, ANY, f)
                    store(ELEMENT, matrix, plane, i * width + p + k, ANY, ZERO)
            for i in range(0, height, ROWS):
                micro(
                    factors, f_plane, i * DEPTH, f_width, panel, p_plane, matrix, plane, i * width,
                    width, pivots, unit,
                )
            for j in range(pivots * width):  # the pivots' own rows went through the sweep too
                store(ELEMENT, matrix, plane, p * width + j, ANY, load(ELEMENT, panel, p_plane, j, ANY))
        if failure < 0:
            unpack(matrix, plane, width, d, D.strides[1], D.strides[2], n, n)
        failed[task] = failure
        task = take(counter) if counter else task + 1


@entry(MATRIX, MATRIX, MATRIX, int64)
def diagonal(out: Any, A: Any, D: Any, one: int) -> None:
    """out[s, i, 0] ← the ⊕ of A[s, i, k] ⊗ D[s, k, i] over k."""
    unit = first_component(ELEMENT, one)
    for s in range(out.shape[0]):
        for i in range(out.shape[1]):
            a = int64(A.ctypes.data) + s * A.strides[0] + i * A.strides[1]
            d = int64(D.ctypes.data) + s * D.strides[0] + i * D.strides[2]
            x = as_element(ELEMENT, ZERO)
            for k in range(A.shape[2]):
                left, right = fetch(ELEMENT, a + k * A.strides[2], 0), fetch(ELEMENT, d + k * D.strides[1], 0)
                x = combine(x, left, right, unit)
            put(ELEMENT, int64(out.ctypes.data) + s * out.strides[0] + i * out.strides[1], 0, x)
