"""Elimination by fronts for one size of element: eliminate supernodes, then solve for many right-hand sides.

Never imported as it stands; see `fronts.py`, which puts a header and the packing of `template.py` before the text below
the line ``# Template``. The sections from ``# Elimination`` on become modules of their own, compiled when first needed;
``# Solutions`` goes into those after it. The lines above the template stand for what is put before, so that an editor
sees a whole program. What ⊕, ⊗ and star do is in functions of the algebra, whose addresses are arguments.

Everything is packed (see raw.py). A *front* is a matrix over S, then U. The *panel* of a supernode holds three
blocks, one after the other, each row-major and with rows up to a multiple of ROWS:

    own, s × s      down, s × u              up, u × s
    S*              S* ⊗ F[S, U]             F[U, S] ⊗ S*               to solve X = A ⊗ X ⊕ B by columns
    S*ᵀ             (F[U, S] ⊗ S*)ᵀ          (S* ⊗ F[S, U])ᵀ            to solve X = X ⊗ A ⊕ B by rows, transposed

Right-hand sides stand side by side in W, a row of `width` for each vertex, in the order of elimination. A solution
takes them up the tree (W[U] ← W[U] ⊕ up ⊗ W[S], W[S] ← own ⊗ W[S]) and down again (W[S] ← W[S] ⊕ down ⊗ W[U]). By rows
the elements of W stand on the left of ⊗: unless it commutes, the functions are those with the operands exchanged.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float64, int64

from semiring.kernels.cpu.compile.raw import ANY, PANEL, ROW_0, call, fetch, load, put, select, stay_apart, store, take
from semiring.kernels.cpu.dense.template import (
    DEPTH,
    ELEMENT,
    LANES,
    MATRIX,
    ROWS,
    SIZE,
    compiled,
    copy,
    entry,
    fill,
    inline,
    move_columns,
    one_of,
    round_up,
    zero_of,
)

BATCH = 1  # vertices that `spread` takes at once
V = 0  # replaced by each vertex
inf = np.inf
INDEX = int64[::1]

# Template

INDEX = int64[::1]


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


# Solutions


@compiled
def gather(
    vertices: Any, begin: int, count: int, W: int, w_plane: int, width: int, column: int, columns: int,
    target: int, target_plane: int,
) -> None:
    """Some columns of rows of W side by side."""
    stay_apart()
    for i in range(count):
        copy(W, w_plane, vertices[begin + i] * width + column, target, target_plane, i * columns, columns)


@compiled
def scatter(
    vertices: Any, begin: int, count: int, W: int, w_plane: int, width: int, column: int, columns: int,
    source: int, source_plane: int,
) -> None:
    """And back."""
    stay_apart()
    for i in range(count):
        copy(source, source_plane, i * columns, W, w_plane, vertices[begin + i] * width + column, columns)


@compiled
def lift(
    S: int, s: int, W: int, w_plane: int, width: int, column: int, columns: int, target: int, target_plane: int
) -> None:
    """Some columns of the rows of W from S on side by side."""
    stay_apart()
    for i in range(s):
        copy(W, w_plane, (S + i) * width + column, target, target_plane, i * columns, columns)


@compiled
def lower(
    S: int, s: int, W: int, w_plane: int, width: int, column: int, columns: int, source: int, source_plane: int
) -> None:
    """And back."""
    stay_apart()
    for i in range(s):
        copy(source, source_plane, i * columns, W, w_plane, (S + i) * width + column, columns)


@compiled
def climb(
    S: int, s: int, u: int, boundary: Any, begin: int, panel: int, panels: int, panel_plane: int,
    W: int, w_plane: int, width: int, column: int, columns: int, right: int, left: int, plane: int,
    multiply: int, zero: Any, one: int,
) -> None:
    """W[U] ← W[U] ⊕ up ⊗ W[S], W[S] ← own ⊗ W[S], for some columns."""
    padded = round_up(s, ROWS)
    lift(S, s, W, w_plane, width, column, columns, right, plane)
    if u:
        height = round_up(u, ROWS)
        gather(boundary, begin, u, W, w_plane, width, column, columns, left, plane)
        fill(left, plane, u * columns, (height - u) * columns, zero)
        up = panel + padded * (s + u)
        call(multiply, (panels, panel_plane, up, s, right, plane, left, plane, 0, columns, height, s, one))
        scatter(boundary, begin, u, W, w_plane, width, column, columns, left, plane)
    fill(left, plane, int64(0), padded * columns, zero)
    call(multiply, (panels, panel_plane, panel, s, right, plane, left, plane, 0, columns, padded, s, one))
    lower(S, s, W, w_plane, width, column, columns, left, plane)


@compiled
def descend(
    s: int, u: int, boundary: Any, begin: int, panel: int, panels: int, panel_plane: int,
    W: int, w_plane: int, width: int, right: int, target: int, target_plane: int, S: int, plane: int, multiply: int,
    one: int,
) -> None:
    """W[S] ← W[S] ⊕ down ⊗ W[U]; W[S] are the rows of the target from S on.

    Rows of the target up to a multiple of ROWS are combined with zeros, which changes nothing.
    """
    padded = round_up(s, ROWS)
    gather(boundary, begin, u, W, w_plane, width, int64(0), width, right, plane)
    call(multiply, (
        panels, panel_plane, panel + padded * s, u, right, plane, target, target_plane, S * width, width, padded, u,
        one,
    ))


@compiled
def rise(
    first: Any, pointer: Any, boundary: Any, parent: Any, owner: Any, lowest: Any, panel_at: Any, sources: Any,
    begin: int, count: int, panels: int, panel_plane: int, W: int, w_plane: int, width: int, right: int, left: int,
    plane: int, seen: Any, chunk: int, multiply: int, constants: int, one: int,
) -> None:
    """1 for every source in a column of its own, and all of them up the tree; `seen` marks the supernodes touched.

    Sources ascend, so those in the subtree of a supernode stand in adjacent columns; the others are zero there.
    """
    zero, first_step, start = zero_of(constants), one_of(constants), len(parent)
    for j in range(begin, begin + count):
        a = owner[sources[j]]
        start = min(start, a)
        while a >= 0 and seen[a] != chunk:
            seen[a] = chunk
            fill(W, w_plane, first[a] * width, (first[a + 1] - first[a]) * width, zero)
            a = parent[a]
    for j in range(count):
        store(ELEMENT, W, w_plane, sources[begin + j] * width + j, ANY, first_step)
    for a in range(start, len(parent)):
        if seen[a] == chunk:
            head = 0
            while sources[begin + head] < lowest[a]:
                head += 1
            tail = head
            while tail < count and sources[begin + tail] < first[a + 1]:
                tail += 1
            column = head // LANES * LANES
            columns = round_up(tail, LANES) - column
            climb(
                first[a], first[a + 1] - first[a], pointer[a + 1] - pointer[a], boundary, pointer[a], panel_at[a],
                panels, panel_plane, W, w_plane, width, column, columns, right, left, plane, multiply, zero, one,
            )


# Rows


@compiled
def spread(
    ends: Any, W: int, w_plane: int, width: int, out: int, stride: int, targets: Any, begin: int, count: int
) -> None:
    """Columns of W as rows of a matrix, `stride` bytes apart, of the vertices `ends` in their order."""
    stay_apart()
    whole = len(ends) - len(ends) % BATCH
    for v in range(0, whole, BATCH):
        w_V = ends[v + V] * width  # each V
        for j in range(count):
            row = out + targets[begin + j] * stride
            put(ELEMENT, row, v + V, load(ELEMENT, W, w_plane, w_V + j, PANEL))  # each V
    for v in range(whole, len(ends)):
        for j in range(count):
            row = out + targets[begin + j] * stride
            put(ELEMENT, row, v, load(ELEMENT, W, w_plane, ends[v] * width + j, PANEL))


@inline
def mark(vertex: int, owner: Any, parent: Any, wanted: Any) -> None:
    """The supernodes of a vertex and above it are wanted."""
    a = owner[vertex]
    while a >= 0 and not wanted[a]:
        wanted[a] = 1
        a = parent[a]


@entry(INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, MATRIX,
       int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, INDEX, INDEX, int64, int64,
       int64, int64, int64, int64)
def solve_rows(
    first: Any, pointer: Any, boundary: Any, parent: Any, owner: Any, lowest: Any, ends: Any, panel_at: Any,
    sources: Any, targets: Any, column_pointer: Any, column_row: Any, column_entry: Any, out: Any,
    panels: int, panel_plane: int, weights: int, weights_plane: int, W: int, w_plane: int, buffers: int, plane: int,
    width: int, settled: int, seen: Any, wanted: Any, reflexive: int, counter: int,
    multiply: int, combine_entries: int, constants: int, one: int,
) -> None:
    """Rows of A*, or of A⁺ if not `reflexive`: row `targets[j]` of `out` takes the one of vertex `sources[j]`.

    Sources are in the order of elimination, and go up the tree together, `width` at a time. Only their ancestors are
    touched on the way up; on the way down, only trees that they stand in, and in these only the ancestors of `ends`,
    whose columns `out` takes. Where ⊕ selects and no cycle improves, the diagonal is known to be 1: then `settled` is
    set. The matrix by columns serves A⁺_jj = ⊕ A*_jk ⊗ A_kj.
    """
    zero, diagonal = zero_of(constants), one_of(constants)
    right, left = buffers, buffers + plane * SIZE
    m, chunks = len(first) - 1, (len(sources) + width - 1) // width
    whole = int64(len(ends) == len(owner))
    for a in range(m):
        seen[a] = -1
        wanted[a] = whole
    if not whole:
        for v in ends:
            mark(v, owner, parent, wanted)
        for v in sources[: 0 if reflexive else len(sources)]:
            for q in range(column_pointer[v], column_pointer[v + 1]):
                mark(column_row[q], owner, parent, wanted)
    chunk = take(counter) if counter else 0
    while chunk < chunks:
        begin = chunk * width
        count = min(width, len(sources) - begin)
        rise(
            first, pointer, boundary, parent, owner, lowest, panel_at, sources, begin, count, panels, panel_plane,
            W, w_plane, width, right, left, plane, seen, chunk, multiply, constants, one,
        )
        for a in range(m - 1, -1, -1):
            s, u = first[a + 1] - first[a], pointer[a + 1] - pointer[a]
            if not wanted[a]:
                continue
            if seen[a] != chunk:
                fill(W, w_plane, first[a] * width, s * width, zero)
                if parent[a] < 0 or seen[parent[a]] < chunk:
                    continue
                seen[a] = chunk
            if u:
                descend(
                    s, u, boundary, pointer[a], panel_at[a], panels, panel_plane, W, w_plane, width, right,
                    W, w_plane, first[a], plane, multiply, one,
                )
        if settled:
            for j in range(count):
                store(ELEMENT, W, w_plane, sources[begin + j] * width + j, ANY, diagonal)
        for j in range(0 if reflexive else count):
            q = column_pointer[sources[begin + j]]
            call(combine_entries, (
                weights, weights_plane, int64(column_entry.ctypes.data) + 8 * q, W, w_plane,
                int64(column_row.ctypes.data) + 8 * q, width, j, column_pointer[sources[begin + j] + 1] - q,
                buffers, plane, j, one,
            ))
        for j in range(0 if reflexive else count):
            x = load(ELEMENT, buffers, plane, j, ANY)
            store(ELEMENT, W, w_plane, sources[begin + j] * width + j, ANY, x)
        spread(ends, W, w_plane, width, int64(out.ctypes.data), out.strides[1], targets, begin, count)
        chunk = take(counter) if counter else chunk + 1


# Walks


@compiled
def ask(
    v: int, first: Any, pointer: Any, boundary: Any, parent: Any, owner: Any, panel_at: Any, panels: int,
    panel_plane: int, W: int, w_plane: int, width: int, right: int, plane: int, seen: Any, waiting: Any, multiply: int,
    zero: Any, one: int,
) -> None:
    """The value of v in W, and those of the supernodes above it: each comes down once, when it is first asked for.

    `seen` says of a supernode −1: not touched, 0: the source is in it or below, 1: it came down, 2: nothing comes down.
    """
    stay_apart()
    a, count = owner[v], int64(0)
    while a >= 0 and seen[a] < 1:
        waiting[count] = a
        count += 1
        a = parent[a]
    for i in range(count - 1, -1, -1):
        a = waiting[i]
        s, u = first[a + 1] - first[a], pointer[a + 1] - pointer[a]
        if seen[a] < 0:
            fill(W, w_plane, first[a] * width, s * width, zero)
            if parent[a] < 0 or seen[parent[a]] == 2:
                seen[a] = 2
                continue
        seen[a] = 1
        if u:
            descend(
                s, u, boundary, pointer[a], panel_at[a], panels, panel_plane, W, w_plane, width, right,
                W, w_plane, first[a], plane, multiply, one,
            )


@entry(INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, int64, INDEX, INDEX, INDEX, MATRIX, INDEX,
       int64, int64, int64, int64, int64, int64, int64, int64, int64, INDEX, INDEX, INDEX,
       int64, int64, int64, int64)
def walk_back(
    first: Any, pointer: Any, boundary: Any, parent: Any, owner: Any, lowest: Any, panel_at: Any, order: Any,
    sources: Any, target: int, column_pointer: Any, column_row: Any, column_entry: Any, out: Any, edges: Any,
    panels: int, panel_plane: int, weights: int, weights_plane: int, W: int, w_plane: int, buffers: int, plane: int,
    width: int, seen: Any, waiting: Any, count: Any, multiply: int, last_edge: int, constants: int, one: int,
) -> None:
    """The edges of a best walk from the one source to the target, the last first, and how many: −1 without a walk.

    Back from the target, along the row of the source, which is computed only where it is looked at; `out` takes its
    values at the source and the target. Edges are numbers of entries by columns. Each comes from a better vertex than
    the one before, so none is met again.
    """
    zero, m = zero_of(constants), len(first) - 1
    right, left = buffers, buffers + plane * SIZE
    for a in range(m):
        seen[a] = -1
    rise(
        first, pointer, boundary, parent, owner, lowest, panel_at, sources, int64(0), int64(1), panels, panel_plane,
        W, w_plane, width, right, left, plane, seen, int64(0), multiply, constants, one,
    )
    source, v, length, q = sources[0], target, int64(0), int64(0)
    for end in range(2):
        ask(
            source if end == 0 else target, first, pointer, boundary, parent, owner, panel_at, panels, panel_plane,
            W, w_plane, width, right, plane, seen, waiting, multiply, zero, one,
        )
        place = (source if end == 0 else target) * width
        put(ELEMENT, int64(out.ctypes.data), end, load(ELEMENT, W, w_plane, place, ANY))
    while v != source and q >= 0 and length < len(edges):
        begin, end = column_pointer[v], column_pointer[v + 1]
        for e in range(begin, end):
            if seen[owner[column_row[e]]] < 1:
                ask(
                    column_row[e], first, pointer, boundary, parent, owner, panel_at, panels, panel_plane,
                    W, w_plane, width, right, plane, seen, waiting, multiply, zero, one,
                )
        q = call(last_edge, (
            v, weights, weights_plane, int64(column_entry.ctypes.data) + 8 * begin, W, w_plane,
            int64(column_row.ctypes.data) + 8 * begin, width, end - begin, int64(order.ctypes.data), one,
        ))
        if q >= 0:
            edges[length] = begin + q
            length += 1
            v = column_row[begin + q]
    count[0] = length if v == source else -1


# Columns


@entry(INDEX, INDEX, INDEX, int64, int64, int64, int64)
def turn(first: Any, pointer: Any, panel_at: Any, by_rows: int, by_columns: int, plane: int, constants: int) -> None:
    """The panels to solve by columns, from those to solve by rows."""
    zero, one_step = zero_of(constants), int64(1)
    for a in range(len(first) - 1):
        s, u = first[a + 1] - first[a], pointer[a + 1] - pointer[a]
        own, padded = panel_at[a], round_up(s, ROWS)
        down, up = own + padded * s, own + padded * (s + u)
        block(by_rows, plane, own, one_step, s, s, s, by_columns, plane, own, zero)
        block(by_rows, plane, up, one_step, s, s, u, by_columns, plane, down, zero)
        block(by_rows, plane, down, one_step, u, u, s, by_columns, plane, up, zero)


@entry(INDEX, INDEX, INDEX, INDEX, INDEX, MATRIX,
       int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64)
def solve_columns(
    first: Any, pointer: Any, boundary: Any, order: Any, panel_at: Any, B: Any,
    panels: int, panel_plane: int, W: int, w_plane: int, buffers: int, plane: int, width: int, counter: int,
    multiply: int, constants: int, one: int,
) -> None:
    """B ← A* B, `width` columns at a time."""
    zero = zero_of(constants)
    right, left = buffers, buffers + plane * SIZE
    m, n, columns = len(first) - 1, len(order), B.shape[2]
    row, column = B.strides[1], B.strides[2]
    chunk = take(counter) if counter else 0
    while chunk * width < columns:
        count = min(width, columns - chunk * width)
        address = int64(B.ctypes.data) + chunk * width * column
        for k in range(n):
            for j in range(count):
                store(ELEMENT, W, w_plane, k * width + j, ANY, fetch(ELEMENT, address + order[k] * row + j * column, 0))
            fill(W, w_plane, k * width + count, width - count, zero)
        for a in range(m):
            climb(
                first[a], first[a + 1] - first[a], pointer[a + 1] - pointer[a], boundary, pointer[a], panel_at[a],
                panels, panel_plane, W, w_plane, width, int64(0), width, right, left, plane, multiply, zero, one,
            )
        for a in range(m - 1, -1, -1):
            if pointer[a + 1] > pointer[a]:
                descend(
                    first[a + 1] - first[a], pointer[a + 1] - pointer[a], boundary, pointer[a], panel_at[a],
                    panels, panel_plane, W, w_plane, width, right, W, w_plane, first[a], plane, multiply, one,
                )
        for k in range(n):
            for j in range(count):
                put(ELEMENT, address + order[k] * row + j * column, 0, load(ELEMENT, W, w_plane, k * width + j, ANY))
        chunk = take(counter) if counter else chunk + 1


# Summaries


@compiled
def accumulate(source: int, begin: int, rows: int, width: int, sums: Any, zero: Any) -> None:
    """Rows of W taken into the sums of each column: total, number, least and most of all that is not zero."""
    for i in range(rows):
        for j in range(width):
            x = load(ELEMENT, source, 0, begin + i * width + j, ANY)
            there = x != zero
            number = np.float64(x)
            sums[0, j] += select(there, number, np.float64(0))
            sums[1, j] += select(there, np.float64(1), np.float64(0))
            sums[2, j] = min(sums[2, j], select(there, number, np.float64(inf)))
            sums[3, j] = max(sums[3, j], select(there, number, np.float64(-inf)))


@entry(INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, float64[:, ::1], float64[:, ::1],
       int64, int64, int64, int64, int64, int64, int64, INDEX, int64, int64, int64, int64)
def summarise(
    first: Any, pointer: Any, boundary: Any, parent: Any, owner: Any, lowest: Any, child: Any, panel_at: Any,
    sources: Any, sums: Any, out: Any, panels: int, panel_plane: int, W: int, w_plane: int, buffers: int, plane: int,
    width: int, seen: Any, counter: int, multiply: int, constants: int, one: int,
) -> None:
    """Total, number, least and most of each row of A* that `solve_rows` would give, the diagonal left out.

    Rows of W that are not needed again, those of supernodes without children, never leave the cache.
    """
    zero = zero_of(constants)
    right, left = buffers, buffers + plane * SIZE
    m, chunks = len(first) - 1, (len(sources) + width - 1) // width
    for a in range(m):
        seen[a] = -1
    chunk = take(counter) if counter else 0
    while chunk < chunks:
        begin = chunk * width
        count = min(width, len(sources) - begin)
        rise(
            first, pointer, boundary, parent, owner, lowest, panel_at, sources, begin, count, panels, panel_plane,
            W, w_plane, width, right, left, plane, seen, chunk, multiply, constants, one,
        )
        sums[:2] = 0.0
        sums[2] = inf
        sums[3] = -inf
        for a in range(m - 1, -1, -1):
            s, u = first[a + 1] - first[a], pointer[a + 1] - pointer[a]
            passed = seen[a] == chunk
            if not passed:
                if parent[a] < 0 or seen[parent[a]] < chunk:
                    continue
                seen[a] = chunk
            kept = passed or child[a] >= 0
            target, S = (W, first[a]) if kept else (left, int64(0))
            if not passed:
                fill(target, w_plane, S * width, s * width, zero)
            if u:
                descend(
                    s, u, boundary, pointer[a], panel_at[a], panels, panel_plane, W, w_plane, width, right,
                    target, w_plane, S, plane, multiply, one,
                )
            for j in range(count if passed else 0):  # sources among these vertices stand aside
                v = sources[begin + j]
                if first[a] <= v < first[a + 1]:
                    store(ELEMENT, right, 0, j, ANY, load(ELEMENT, W, 0, v * width + j, ANY))
                    store(ELEMENT, W, 0, v * width + j, ANY, zero)
            accumulate(target, S * width, s, width, sums, zero)
            for j in range(count if passed else 0):
                v = sources[begin + j]
                if first[a] <= v < first[a + 1]:
                    store(ELEMENT, W, 0, v * width + j, ANY, load(ELEMENT, right, 0, j, ANY))
        for j in range(count):
            for k in range(4):
                out[begin + j, k] = sums[k, j]
        chunk = take(counter) if counter else chunk + 1
