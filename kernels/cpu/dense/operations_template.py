"""What an algebra adds to the compiled kernels: runs of ⊕ and ⊗ over packed rows.

Never imported as it stands; `operations.py` takes the text below the line ``# Template``, puts a header and the
semiring's ⊕, ⊗ and star before it. The lines above stand for that header, so that an editor and a type checker see a
whole program: min-plus in float32, one row and one step at a time.

Tiles, fronts and trees are walked by code that is compiled once for all algebras whose elements have the same sizes
(template.py, ../sparse/fronts_template.py). It calls these functions by address: all arguments and results
are 64-bit integers. Packed rows are a multiple of LANES wide (see raw.py). Every entry takes its terms in ascending k,
in whichever thread, so that a result does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import int64, types

from semiring.kernels.cpu.compile.jit import njit
from semiring.kernels.cpu.compile.raw import (
    ANY,
    PANEL,
    ROW_0,
    as_element,
    combine_block,
    fetch,
    first_component,
    load,
    load_block,
    put,
    store,
    wide_vectors,
)

ELEMENT = np.float32  # or a tuple of scalar classes
ZERO = np.float32(np.inf)
ROWS = 1  # rows of C that `multiply` updates at once
DEPTH = 1  # steps of k that it takes at once
HALF = 1  # and those of what is left over
LANES = 16  # elements of the smallest component in 64 bytes
MATRIX = types.Array(types.float32, 3, "A", readonly=True, aligned=False)
inline = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)


def entry(*arguments: Any) -> Any:
    return njit([types.void(*arguments)], error_model="numpy", no_cfunc_wrapper=True, nogil=True, cache=True)


def operation(function: Callable[..., int]) -> Any:
    signature = int64(*[int64] * function.__code__.co_argcount)
    return njit([signature], error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True)(function)


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


@inline
def combine(x: Any, a: Any, b: Any, unit: Any) -> Any:
    return as_element(ELEMENT, plus(x, as_element(ELEMENT, times(a, b, unit))))


# Template


@operation
def multiply(
    a: int, a_plane: int, a_first: int, a_row: int, b: int, b_plane: int, c: int, c_plane: int, c_first: int,
    width: int, rows: int, depth: int, one: int,
) -> int:
    """c[i, j] ← c[i, j] ⊕ (a[i, 0] ⊗ b[0, j]) ⊕ … ⊕ (a[i, depth − 1] ⊗ b[depth − 1, j]) for every row i.

    Row i of a starts at element ``a_first + i · a_row``; row k of b at ``k · width``; row i of c at
    ``c_first + i · width``. Rows are taken by ROWS: those past the last are computed too, and must exist in a and c.
    Steps of k are taken by DEPTH, what is left by HALF, and then one by one. `one` is 1, and not known to the compiler.
    """
    wide_vectors()
    unit = first_component(ELEMENT, one)
    whole = depth - depth % DEPTH
    half = depth - depth % HALF
    for r in range(0, rows, ROWS):
        for k in range(0, whole, DEPTH):
            left = load_block(ELEMENT, a, a_plane, a_first + r * a_row + k, a_row, ROWS, DEPTH)
            for vector in range(0, width, LANES):  # an inner loop of fixed length leaves no remainder to spill for
                for j in range(vector, vector + LANES):
                    place = c_first + r * width + j
                    combine_block(
                        ELEMENT, combine, left, ROWS, b, b_plane, k * width + j, c, c_plane, place, width, unit
                    )
        for k in range(whole, half, HALF):
            some = load_block(ELEMENT, a, a_plane, a_first + r * a_row + k, a_row, ROWS, HALF)
            for vector in range(0, width, LANES):
                for j in range(vector, vector + LANES):
                    place = c_first + r * width + j
                    combine_block(
                        ELEMENT, combine, some, ROWS, b, b_plane, k * width + j, c, c_plane, place, width, unit
                    )
        for k in range(half, depth):
            single = load_block(ELEMENT, a, a_plane, a_first + r * a_row + k, a_row, ROWS, 1)
            for vector in range(0, width, LANES):
                for j in range(vector, vector + LANES):
                    place = c_first + r * width + j
                    combine_block(
                        ELEMENT, combine, single, ROWS, b, b_plane, k * width + j, c, c_plane, place, width, unit
                    )
    return 0


@operation
def close_pivots(panel: int, plane: int, width: int, p: int, pivots: int, one: int) -> int:
    """Gauss–Jordan on a panel of `pivots` rows whose pivots begin in column p, among themselves; all columns.

    s ← (a_kk)*, a_kj ← s ⊗ a_kj, a_ij ← a_ij ⊕ a_ik ⊗ a_kj, a_ik ← a_ik ⊗ s, a_kk ← s. The pivot's column is set to
    ZERO before a sweep over all columns, which leaves in it just the product that it has to hold. Returns −1, or the
    row of the first pivot whose star does not exist.
    """
    wide_vectors()
    unit = first_component(ELEMENT, one)
    for k in range(pivots):
        pivot = load(ELEMENT, panel, plane, k * width + p + k, ANY)
        if not defined(pivot):
            return k
        s = as_element(ELEMENT, star(pivot))
        for vector in range(0, width, LANES):
            for j in range(vector, vector + LANES):
                x = load(ELEMENT, panel, plane, k * width + j, ROW_0)
                store(ELEMENT, panel, plane, k * width + j, ROW_0, as_element(ELEMENT, scaled(s, x)))
        store(ELEMENT, panel, plane, k * width + p + k, ANY, s)
        for i in range(pivots):
            if i != k:
                f = load(ELEMENT, panel, plane, i * width + p + k, ANY)
                store(ELEMENT, panel, plane, i * width + p + k, ANY, ZERO)
                for vector in range(0, width, LANES):
                    for j in range(vector, vector + LANES):
                        x = load(ELEMENT, panel, plane, i * width + j, ROW_0)
                        r = load(ELEMENT, panel, plane, k * width + j, PANEL)
                        store(ELEMENT, panel, plane, i * width + j, ROW_0, combine(x, f, r, unit))
    return -1


@operation
def add_scattered(
    source: int, begin: int, target: int, first: int, width: int, plane: int, places: int, count: int
) -> int:
    """target[p_i, p_j] ← target[p_i, p_j] ⊕ source[i, j]; both in the same plane, p_i at the address `places`.

    The source has adjacent rows of `count` elements from `begin` on, the target rows of `width` from `first` on.
    """
    for i in range(count):
        row = first + load(np.int64, places, 0, i, ANY) * width
        for j in range(count):
            place = row + load(np.int64, places, 0, j, ANY)
            x = load(ELEMENT, target, plane, place, ANY)
            t = load(ELEMENT, source, plane, begin + i * count + j, ANY)
            store(ELEMENT, target, plane, place, ANY, as_element(ELEMENT, plus(x, t)))
    return 0


@operation
def combine_entries(
    weights: int, weights_plane: int, numbers: int, W: int, w_plane: int, rows: int, width: int, j: int, count: int,
    out: int, out_plane: int, place: int, one: int,
) -> int:
    """out[place] ← the ⊕ of weights[e] ⊗ W[r, j] over `count` pairs of an e at `numbers` and an r at `rows`."""
    unit = first_component(ELEMENT, one)
    x = as_element(ELEMENT, ZERO)
    for q in range(count):
        a = load(ELEMENT, weights, weights_plane, load(np.int64, numbers, 0, q, ANY), ANY)
        w = load(ELEMENT, W, w_plane, load(np.int64, rows, 0, q, ANY) * width + j, ANY)
        x = combine(x, a, w, unit)
    store(ELEMENT, out, out_plane, place, ANY, x)
    return 0


@operation
def add_multiples(
    w: int, w_plane: int, w_first: int, b: int, b_plane: int, b_first: int, b_row: int, c: int, c_plane: int,
    c_first: int, width: int, depth: int, one: int,
) -> int:
    """c[j] ← c[j] ⊕ (w[0] ⊗ b[0, j]) ⊕ … ⊕ (w[depth − 1] ⊗ b[depth − 1, j]) for every j below any `width`.

    Row k of b begins at element ``b_first + k · b_row``. As one row of `multiply`, but of any width.
    """
    wide_vectors()
    unit = first_component(ELEMENT, one)
    whole = depth - depth % DEPTH
    for k in range(0, whole, DEPTH):
        left = load_block(ELEMENT, w, w_plane, w_first + k, b_row, 1, DEPTH)
        for j in range(width):
            combine_block(
                ELEMENT, combine, left, 1, b, b_plane, b_first + k * b_row + j, c, c_plane, c_first + j, b_row, unit
            )
    for k in range(whole, depth):
        single = load_block(ELEMENT, w, w_plane, w_first + k, b_row, 1, 1)
        for j in range(width):
            combine_block(
                ELEMENT, combine, single, 1, b, b_plane, b_first + k * b_row + j, c, c_plane, c_first + j, b_row, unit
            )
    return 0


@operation
def total(
    x: int, x_plane: int, x_first: int, y: int, y_plane: int, y_first: int, count: int, sums: int, s_plane: int,
    out: int, out_plane: int, place: int, one: int,
) -> int:
    """out[place] ← (x[0] ⊗ y[0]) ⊕ … ⊕ (x[count − 1] ⊗ y[count − 1]), in LANES sums that are added up at the end."""
    wide_vectors()
    unit = first_component(ELEMENT, one)
    for j in range(LANES):
        store(ELEMENT, sums, s_plane, j, ROW_0, as_element(ELEMENT, ZERO))
    whole = count - count % LANES
    for i in range(0, whole, LANES):
        for j in range(LANES):
            c = load(ELEMENT, sums, s_plane, j, ROW_0)
            a, b = load(ELEMENT, x, x_plane, x_first + i + j, PANEL), load(ELEMENT, y, y_plane, y_first + i + j, PANEL)
            store(ELEMENT, sums, s_plane, j, ROW_0, combine(c, a, b, unit))
    for i in range(whole, count):
        c = load(ELEMENT, sums, s_plane, i - whole, ROW_0)
        a, b = load(ELEMENT, x, x_plane, x_first + i, PANEL), load(ELEMENT, y, y_plane, y_first + i, PANEL)
        store(ELEMENT, sums, s_plane, i - whole, ROW_0, combine(c, a, b, unit))
    found = load(ELEMENT, sums, s_plane, 0, ROW_0)
    for j in range(1, LANES):
        found = as_element(ELEMENT, plus(found, load(ELEMENT, sums, s_plane, j, ROW_0)))
    store(ELEMENT, out, out_plane, place, ANY, found)
    return 0


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
