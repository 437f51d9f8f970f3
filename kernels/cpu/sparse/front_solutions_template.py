"""Solutions by the factors of fronts: rows and columns of the closure, walks, and sums of rows.

Never imported as it stands; see `fronts.py`, which puts a header, the packing of `template.py` and the common part of
`fronts_template.py` before. Each section from ``# Rows`` on becomes a module of its own, after ``# Solutions``.

Right-hand sides stand side by side in W, a row of `width` for each vertex, in the order of elimination. A solution
takes them up the tree (W[U] ← W[U] ⊕ up ⊗ W[S], W[S] ← own ⊗ W[S]) and down again (W[S] ← W[S] ⊕ down ⊗ W[U]). By rows
the elements of W stand on the left of ⊗: unless it commutes, the functions are those with the operands exchanged.

Functions take what they have in common as two records: `tree`, the structure (see `TREE`), and `work`, the panels and
their plane; W, its plane and its width; two buffers and their plane; multiply, zero, and a 1 that is known at run time
only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float64, int64

from semiring.kernels.cpu.compile.raw import ANY, PANEL, call, fetch, load, put, select, stay_apart, store, take
from semiring.kernels.cpu.dense.template import (
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
    one_of,
    round_up,
    zero_of,
)

from .fronts_template import INDEX, TREE, block

BATCH = 1  # vertices that `spread` takes at once
V = 0  # replaced by each vertex
inf = np.inf

# Template

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
def climb(tree: Any, work: Any, a: int, column: int, columns: int) -> None:
    """W[U] ← W[U] ⊕ up ⊗ W[S], W[S] ← own ⊗ W[S], for some columns, of supernode a."""
    first, pointer, boundary, _, _, _, panel_at = tree
    panels, panel_plane, W, w_plane, width, right, left, plane, multiply, zero, one = work
    s, u, panel = first[a + 1] - first[a], pointer[a + 1] - pointer[a], panel_at[a]
    padded = round_up(s, ROWS)
    lift(first[a], s, W, w_plane, width, column, columns, right, plane)
    if u:
        height = round_up(u, ROWS)
        gather(boundary, pointer[a], u, W, w_plane, width, column, columns, left, plane)
        fill(left, plane, u * columns, (height - u) * columns, zero)
        up = panel + padded * (s + u)
        call(multiply, (panels, panel_plane, up, s, right, plane, left, plane, 0, columns, height, s, one))
        scatter(boundary, pointer[a], u, W, w_plane, width, column, columns, left, plane)
    fill(left, plane, int64(0), padded * columns, zero)
    call(multiply, (panels, panel_plane, panel, s, right, plane, left, plane, 0, columns, padded, s, one))
    lower(first[a], s, W, w_plane, width, column, columns, left, plane)


@compiled
def descend(tree: Any, work: Any, a: int, target: int, S: int) -> None:
    """W[S] ← W[S] ⊕ down ⊗ W[U], of supernode a where U is not empty; W[S] are the rows of the target from S on.

    Rows of the target up to a multiple of ROWS are combined with zeros, which changes nothing.
    """
    first, pointer, boundary, _, _, _, panel_at = tree
    panels, panel_plane, W, w_plane, width, right, _, plane, multiply, _, one = work
    s, u = first[a + 1] - first[a], pointer[a + 1] - pointer[a]
    if not u:
        return
    padded = round_up(s, ROWS)
    gather(boundary, pointer[a], u, W, w_plane, width, int64(0), width, right, plane)
    call(multiply, (
        panels, panel_plane, panel_at[a] + padded * s, u, right, plane, target, w_plane, S * width, width, padded, u,
        one,
    ))


@compiled
def rise(tree: Any, work: Any, sources: Any, begin: int, count: int, seen: Any, chunk: int, first_step: Any) -> None:
    """1 for every source in a column of its own, and all of them up the tree; `seen` marks the supernodes touched.

    Sources ascend, so those in the subtree of a supernode stand in adjacent columns; the others are zero there.
    """
    first, _, _, parent, owner, lowest, _ = tree
    _, _, W, w_plane, width, _, _, _, _, zero, _ = work
    start = len(parent)
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
            climb(tree, work, a, column, round_up(tail, LANES) - column)


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


@entry(TREE, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, MATRIX, int64, int64, int64, int64, int64, int64, int64, int64,
       int64, int64, INDEX, INDEX, int64, int64, int64, int64, int64, int64)
def solve_rows(
    tree: Any, ends: Any, sources: Any, targets: Any, column_pointer: Any, column_row: Any, column_entry: Any,
    out: Any, panels: int, panel_plane: int, weights: int, weights_plane: int, W: int, w_plane: int, buffers: int,
    plane: int, width: int, settled: int, seen: Any, wanted: Any, reflexive: int, counter: int,
    multiply: int, combine_entries: int, constants: int, one: int,
) -> None:
    """Rows of A*, or of A⁺ if not `reflexive`: row `targets[j]` of `out` takes the one of vertex `sources[j]`.

    Sources are in the order of elimination, and go up the tree together, `width` at a time. Only their ancestors are
    touched on the way up; on the way down, only trees that they stand in, and in these only the ancestors of `ends`,
    whose columns `out` takes. Where ⊕ selects and no cycle improves, the diagonal is known to be 1: then `settled` is
    set. The matrix by columns serves A⁺_jj = ⊕ A*_jk ⊗ A_kj.
    """
    zero, diagonal = zero_of(constants), one_of(constants)
    work = panels, panel_plane, W, w_plane, width, buffers, buffers + plane * SIZE, plane, multiply, zero, one
    first, _, _, parent, owner, _, _ = tree
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
        rise(tree, work, sources, begin, count, seen, chunk, diagonal)
        for a in range(m - 1, -1, -1):
            if not wanted[a]:
                continue
            if seen[a] != chunk:
                fill(W, w_plane, first[a] * width, (first[a + 1] - first[a]) * width, zero)
                if parent[a] < 0 or seen[parent[a]] < chunk:
                    continue
                seen[a] = chunk
            descend(tree, work, a, W, first[a])
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
def ask(tree: Any, work: Any, v: int, seen: Any, waiting: Any) -> None:
    """The value of v in W, and those of the supernodes above it: each comes down once, when it is first asked for.

    `seen` says of a supernode −1: not touched, 0: the source is in it or below, 1: it came down, 2: nothing comes down.
    """
    stay_apart()
    first, _, _, parent, owner, _, _ = tree
    _, _, W, w_plane, width, _, _, _, _, zero, _ = work
    a, count = owner[v], int64(0)
    while a >= 0 and seen[a] < 1:
        waiting[count] = a
        count += 1
        a = parent[a]
    for i in range(count - 1, -1, -1):
        a = waiting[i]
        if seen[a] < 0:
            fill(W, w_plane, first[a] * width, (first[a + 1] - first[a]) * width, zero)
            if parent[a] < 0 or seen[parent[a]] == 2:
                seen[a] = 2
                continue
        seen[a] = 1
        descend(tree, work, a, W, first[a])


@entry(TREE, INDEX, INDEX, int64, INDEX, INDEX, INDEX, MATRIX, INDEX, int64, int64, int64, int64, int64, int64, int64,
       int64, int64, INDEX, INDEX, INDEX, int64, int64, int64, int64)
def walk_back(
    tree: Any, order: Any, sources: Any, target: int, column_pointer: Any, column_row: Any, column_entry: Any,
    out: Any, edges: Any, panels: int, panel_plane: int, weights: int, weights_plane: int, W: int, w_plane: int,
    buffers: int, plane: int, width: int, seen: Any, waiting: Any, count: Any, multiply: int, last_edge: int,
    constants: int, one: int,
) -> None:
    """The edges of a best walk from the one source to the target, the last first, and how many: −1 without a walk.

    Back from the target, along the row of the source, which is computed only where it is looked at; `out` takes its
    values at the source and the target. Edges are numbers of entries by columns. Each comes from a better vertex than
    the one before, so none is met again.
    """
    zero, owner = zero_of(constants), tree[4]
    work = panels, panel_plane, W, w_plane, width, buffers, buffers + plane * SIZE, plane, multiply, zero, one
    for a in range(len(seen)):
        seen[a] = -1
    rise(tree, work, sources, int64(0), int64(1), seen, int64(0), one_of(constants))
    source, v, length, q = sources[0], target, int64(0), int64(0)
    for end in range(2):
        u = source if end == 0 else target
        ask(tree, work, u, seen, waiting)
        put(ELEMENT, int64(out.ctypes.data), end, load(ELEMENT, W, w_plane, u * width, ANY))
    while v != source and q >= 0 and length < len(edges):
        begin, end = column_pointer[v], column_pointer[v + 1]
        for e in range(begin, end):
            if seen[owner[column_row[e]]] < 1:
                ask(tree, work, column_row[e], seen, waiting)
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


@entry(TREE, INDEX, MATRIX, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64)
def solve_columns(
    tree: Any, order: Any, B: Any, panels: int, panel_plane: int, W: int, w_plane: int, buffers: int, plane: int,
    width: int, counter: int, multiply: int, constants: int, one: int,
) -> None:
    """B ← A* B, `width` columns at a time."""
    zero, first = zero_of(constants), tree[0]
    work = panels, panel_plane, W, w_plane, width, buffers, buffers + plane * SIZE, plane, multiply, zero, one
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
            climb(tree, work, a, int64(0), width)
        for a in range(m - 1, -1, -1):
            descend(tree, work, a, W, first[a])
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


@entry(TREE, INDEX, INDEX, float64[:, ::1], float64[:, ::1], int64, int64, int64, int64, int64, int64, int64, INDEX,
       int64, int64, int64, int64)
def summarise(
    tree: Any, child: Any, sources: Any, sums: Any, out: Any, panels: int, panel_plane: int, W: int, w_plane: int,
    buffers: int, plane: int, width: int, seen: Any, counter: int, multiply: int, constants: int, one: int,
) -> None:
    """Total, number, least and most of each row of A* that `solve_rows` would give, the diagonal left out.

    Rows of W that are not needed again, those of supernodes without children, never leave the cache.
    """
    zero, right, left = zero_of(constants), buffers, buffers + plane * SIZE
    work = panels, panel_plane, W, w_plane, width, right, left, plane, multiply, zero, one
    first, _, _, parent, _, _, _ = tree
    m, chunks = len(first) - 1, (len(sources) + width - 1) // width
    for a in range(m):
        seen[a] = -1
    chunk = take(counter) if counter else 0
    while chunk < chunks:
        begin = chunk * width
        count = min(width, len(sources) - begin)
        rise(tree, work, sources, begin, count, seen, chunk, one_of(constants))
        sums[:2] = 0.0
        sums[2] = inf
        sums[3] = -inf
        for a in range(m - 1, -1, -1):
            s, passed = first[a + 1] - first[a], seen[a] == chunk
            if not passed:
                if parent[a] < 0 or seen[parent[a]] < chunk:
                    continue
                seen[a] = chunk
            kept = passed or child[a] >= 0
            target, S = (W, first[a]) if kept else (left, int64(0))
            if not passed:
                fill(target, w_plane, S * width, s * width, zero)
            descend(tree, work, a, target, S)
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
