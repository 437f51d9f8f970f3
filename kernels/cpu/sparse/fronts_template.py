"""Elimination by fronts for one size of element: eliminate one supernode after the other.

Never imported as it stands; see `fronts.py`, which puts a header and the packing of `template.py` before the text below
the line ``# Template``. The part before ``# Elimination`` goes into the modules of front_solutions_template.py too. All
are compiled when first needed. The lines above the template stand for what is put before, so that an editor sees a
whole program. What ⊕, ⊗ and star do is in functions of the algebra, whose addresses are arguments.

Everything is packed (see raw.py). A *front* is a matrix over S, then U. The *panel* of a supernode holds three
blocks, one after the other, each row-major and with rows up to a multiple of ROWS:

    own, s × s      down, s × u              up, u × s
    S*              S* ⊗ F[S, U]             F[U, S] ⊗ S*               to solve X = A ⊗ X ⊕ B by columns
    S*ᵀ             (F[U, S] ⊗ S*)ᵀ          (S* ⊗ F[S, U])ᵀ            to solve X = X ⊗ A ⊕ B by rows, transposed
"""

from __future__ import annotations

from typing import Any

from numba import int64, types

from semiring.kernels.cpu.compile.raw import ANY, PANEL, ROW_0, call, load, stay_apart, store
from semiring.kernels.cpu.dense.template import (
    DEPTH,
    ELEMENT,
    LANES,
    ROWS,
    SIZE,
    compiled,
    copy,
    entry,
    fill,
    move_columns,
    round_up,
    zero_of,
)

# Template

INDEX = int64[::1]
TREE = types.UniTuple(INDEX, 7)  # first, pointer, boundary, parent, owner and lowest of `Analysis`, and panel_at


@compiled
def block(
    source: int, source_plane: int, begin: int, row: int, column: int, rows: int, columns: int,
    target: int, plane: int, first: int, zero: Any,
) -> None:
    """A packed block with any strides as adjacent rows, up to a multiple of ROWS, the last of them zero."""
    stay_apart()
    for i in range(rows):
        for j in range(columns):
            x = load(ELEMENT, source, source_plane, begin + i * row + j * column, ROW_0)
            store(ELEMENT, target, plane, first + i * columns + j, PANEL, x)
    fill(target, plane, first + rows * columns, (round_up(rows, ROWS) - rows) * columns, zero)


# Elimination


@compiled
def close_part(
    memory: int, plane: int, front: int, n: int, pivots: int, width: int, panel: int, factors: int,
    multiply: int, close_pivots: int, zero: Any, one: int,
) -> int:
    """Gauss–Jordan on the first `pivots` vertices of a front, DEPTH at a time; −1, or the first without a star.

    Row i of the front starts at front + i · width, and rows up to a multiple of ROWS exist. What is left: own and down
    in the pivots' rows, up and F[U, U] ⊕ F[U, S] ⊗ S* ⊗ F[S, U] in the others. See `close` in template.py.
    """
    height, p_plane, start = round_up(n, ROWS), DEPTH * width, int64(0)
    f_plane = round_up(height * DEPTH, LANES)
    for p in range(0, pivots, DEPTH):
        taken = min(DEPTH, pivots - p)
        copy(memory, plane, front + p * width, panel, p_plane, start, taken * width)
        failed = call(close_pivots, (panel, p_plane, width, p, taken, one))
        if failed >= 0:
            return p + failed
        move_columns(memory, plane, front, width, p, taken, height, factors, f_plane, zero)
        call(multiply, (
            factors, f_plane, 0, DEPTH, panel, p_plane, memory, plane, front, width, height, taken, one,
        ))
        copy(panel, p_plane, start, memory, plane, front + p * width, taken * width)  # they went through the sweep too
    return -1


@entry(INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX,
       int64, int64, int64, int64, int64, int64, int64, INDEX, int64, int64, int64, int64, int64)
def eliminate(
    first: Any, pointer: Any, child: Any, sibling: Any, position: Any, entry_pointer: Any, entry_number: Any,
    entry_row: Any, entry_column: Any, update_at: Any, front_at: Any, panel_at: Any, large: Any,
    weights: int, weights_plane: int, memory: int, plane: int, panels: int, panel_plane: int, workspace: int,
    state: Any, multiply: int, close_pivots: int, add_scattered: int, constants: int, one: int,
) -> None:
    """Eliminate supernodes from state[0] on, until one whose front is large was assembled, or all are done.

    A large front is closed by the caller, who then sets state[1] and calls again. state[2] takes the first vertex
    whose star does not exist. Panels are those to solve by rows.
    """
    zero, positions = zero_of(constants), int64(position.ctypes.data)
    for a in range(state[0], len(first) - 1):
        s, u = first[a + 1] - first[a], pointer[a + 1] - pointer[a]
        n = s + u
        width, height, front = round_up(n, LANES), round_up(n, ROWS), front_at[a]
        if not state[1]:
            fill(memory, plane, front, height * width, zero)
            for q in range(entry_pointer[a], entry_pointer[a + 1]):
                x = load(ELEMENT, weights, weights_plane, entry_number[q], ANY)
                store(ELEMENT, memory, plane, front + entry_row[q] * width + entry_column[q], ANY, x)
            c = child[a]
            while c >= 0:
                call(add_scattered, (
                    memory, update_at[c], memory, front, width, plane, positions + 8 * pointer[c],
                    pointer[c + 1] - pointer[c],
                ))
                c = sibling[c]
            if large[a]:
                state[0] = a
                return
            factors = workspace + DEPTH * width * SIZE
            failed = close_part(
                memory, plane, front, n, s, width, workspace, factors, multiply, close_pivots, zero, one
            )
            if failed >= 0:
                state[0], state[2] = a, first[a] + failed
                return
        state[1] = 0
        own, padded, one_step = panel_at[a], round_up(s, ROWS), int64(1)
        down, up = own + padded * s, own + padded * n
        block(memory, plane, front, one_step, width, s, s, panels, panel_plane, own, zero)
        block(memory, plane, front + s * width, one_step, width, s, u, panels, panel_plane, down, zero)
        block(memory, plane, front + s, one_step, width, u, s, panels, panel_plane, up, zero)
        for i in range(u):  # to where the children's were: never ahead of what is still to be read
            for j in range(u):
                x = load(ELEMENT, memory, plane, front + (s + i) * width + s + j, ANY)
                store(ELEMENT, memory, plane, update_at[a] + i * u + j, ANY, x)
    state[0] = len(first) - 1
