"""Products and closures of small matrices, whose rows are vectors of the processor. A template: see lanes.py.

Never imported as it stands: lanes.py puts a header, and the semiring's operations as scalars and as vectors, before the
text below the line ``# Template``. The lines above stand for that, so that an editor and a type checker see a whole
program: min-plus in float32.

Matrices are addresses and strides in bytes, of any order and sign. Rows of B and C are read and written as vectors
where their elements lie side by side; otherwise they go through a copy on the stack. Every entry takes its terms in
ascending k, beginning with zero, so that answers are those of `multiply` in operations_template.py, to the bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import int64

from semiring.kernels.cpu.compile.jit import njit
from semiring.kernels.cpu.compile.lane_rows import Rows
from semiring.kernels.cpu.compile.raw import as_element, fetch, put, wide_vectors

ELEMENT = np.float32  # or a tuple of scalar classes
PARTS, ZEROS = (np.float32,), (np.float32(np.inf),)
ITEM = 4  # bytes of an element in a matrix
COUNT = 16  # lanes of a vector
HEIGHT = 8  # rows of C that stay in registers
MASKED = True  # whether the processor reads and writes some lanes only
SIDE = 64  # rows and columns of the largest matrix that is copied
inline = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)


def operation(function: Callable[..., int]) -> Any:
    signature = int64(*[int64] * function.__code__.co_argcount)
    return njit([signature], error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True)(function)


@inline
def inside(a: Any) -> Any:
    return a == a


@inline
def star(a: Any) -> Any:
    return np.float32(0)


@inline
def defined(a: Any) -> Any:
    return a >= np.float32(0)


def combine_vectors(v: Any, x: Any, a: Any, b: Any, unit: Any) -> Any:
    return v.minimum(x, v.fma(b, unit, a))


def scaled_vectors(v: Any, a: Any, b: Any) -> Any:
    return v.add(a, b)


def inside_vectors(v: Any, a: Any) -> Any:
    return v.equal(a, a)


# Template

by = Rows(PARTS, ZEROS, COUNT, HEIGHT, MASKED, combine_vectors, scaled_vectors, inside_vectors)
tiles, strangers, move, update = by.tiles(), by.strangers(), by.move(), by.update()
packed_2, packed_4, packed_8 = by.packed(2), by.packed(4), by.packed(8)
room_for_b, room_for_c, room_for_star = by.room(SIDE, SIDE), by.room(SIDE, SIDE), by.room(1, 1)


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


@inline
def copy(
    source: int, row: int, column: int, target: int, other_row: int, other_column: int, rows: int, columns: int,
) -> None:
    """One element after the other."""
    for i in range(rows):
        for j in range(columns):
            put(ELEMENT, target + i * other_row + j * other_column, 0, fetch(ELEMENT, source + i * row + j * column, 0))


@inline
def multiply(
    a: int, a_row: int, a_column: int, b: int, b_row: int, b_column: int, c: int, c_row: int, c_column: int, m: int,
    k: int, n: int, more: int, one: int,
) -> None:
    """C ← A ⊗ B, or C ⊕ A ⊗ B, of one matrix."""
    packed, packed_row, target, target_row, height = b, b_row, c, c_row, m
    copied = b_column != ITEM or c_column != ITEM or not (MASKED or n % COUNT == 0)
    if copied:
        packed, target, height = room_for_b(()), room_for_c(()), SIDE
        packed_row = target_row = (n + COUNT - 1) // COUNT * COUNT * ITEM
        copy(b, b_row, b_column, packed, packed_row, ITEM, k, n)
    for i in range(0, m, max(height, 1)):
        rows, place = min(height, m - i), c + i * c_row
        if copied and more:
            copy(place, c_row, c_column, target, target_row, ITEM, rows, n)
        if not copied:
            target = place
        for j in range(0, n, COUNT):
            tiles((
                a + i * a_row, a_row, a_column, packed + j * ITEM, packed_row, target + j * ITEM, target_row, rows, k,
                min(COUNT, n - j), more, one,
            ))
        if copied:
            copy(target, target_row, ITEM, place, c_row, c_column, rows, n)


@operation
def product(
    a: int, a_step: int, a_row: int, a_column: int, b: int, b_step: int, b_row: int, b_column: int, c: int,
    c_step: int, c_row: int, c_column: int, count: int, m: int, k: int, n: int, more: int, checked: int, one: int,
) -> int:
    """C ← A ⊗ B, or C ⊕ A ⊗ B where `more`, on `count` matrices, the next of which are a step further.

    A is m × k, B is k × n; steps, rows and columns are distances in bytes; C overlaps neither A nor B. Where elements
    of the rows of B and C do not lie side by side, or the processor has no masks, k and n are at most SIDE. `one` is 1,
    and not known to the compiler.

    Returns −1; or where `checked` the number of the first matrix with an entry that is not an element, and then none
    from there on is computed.
    """
    wide_vectors()
    size = n * ITEM
    together = m == n and k == n and a_column == ITEM and b_column == ITEM and c_column == ITEM
    together = together and a_row == size and b_row == size and c_row == size
    if together and n == 2 and COUNT >= 2:
        for s in range(count):
            if packed_2((a + s * a_step, b + s * b_step, c + s * c_step, more, checked, one)):
                return s
        return -1
    if together and n == 4 and COUNT >= 4:
        for s in range(count):
            if packed_4((a + s * a_step, b + s * b_step, c + s * c_step, more, checked, one)):
                return s
        return -1
    if together and n == 8 and COUNT >= 8:
        for s in range(count):
            if packed_8((a + s * a_step, b + s * b_step, c + s * c_step, more, checked, one)):
                return s
        return -1
    for s in range(count):
        left, right, target = a + s * a_step, b + s * b_step, c + s * c_step
        if checked:
            if have_strangers(left, a_row, a_column, m, k) or have_strangers(right, b_row, b_column, k, n):
                return s
            if more and have_strangers(target, c_row, c_column, m, n):
                return s
        multiply(
            left, a_row, a_column, right, b_row, b_column, target, c_row, c_column, m, k, n, more, one
        )
    return -1


@operation
def close(d: int, step: int, row: int, column: int, failed: int, count: int, n: int, one: int) -> int:
    """D ← D* on `count` matrices of order n ≤ SIDE, the next of which are a step further, by Gauss–Jordan.

    At `failed` is an integer for each: it becomes −1, or the first pivot without a star, and that matrix stays as it
    was. Returns 0.
    """
    wide_vectors()
    matrix, found = room_for_b(()), room_for_star(())
    width = (n + COUNT - 1) // COUNT * COUNT * ITEM
    packed = column == ITEM and (MASKED or n % COUNT == 0)
    for s in range(count):
        source, failure = d + s * step, -1
        if packed:
            for j in range(0, n, COUNT):
                move((source + j * ITEM, row, matrix + j * ITEM, width, n, min(COUNT, n - j), 1))
        else:
            copy(source, row, column, matrix, width, ITEM, n, n)
        for k in range(n):
            pivot = fetch(ELEMENT, matrix + k * width + k * ITEM, 0)
            if not defined(pivot):
                failure = k
                break
            put(ELEMENT, found, 0, as_element(ELEMENT, star(pivot)))
            own = k // COUNT * COUNT
            for j in range(0, n, COUNT):
                if j != own:
                    update((matrix, width, n, k, j, found, one))
            update((matrix, width, n, k, own, found, one))
        if failure < 0 and packed:
            for j in range(0, n, COUNT):
                move((matrix + j * ITEM, width, source + j * ITEM, row, n, min(COUNT, n - j), 0))
        elif failure < 0:
            copy(matrix, width, ITEM, source, row, column, n, n)
        put(np.int64, failed + 8 * s, 0, failure)
    return 0
