"""The compiled loops of the packed Boolean engine: packing, products by tables, closures, components.

They take addresses and row strides in words, so that a view, an owned matrix and a read-only one share one compiled
specialisation; `semiring.kernels.cpu.bits.engine` calls them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.kernels.blocks.bits import WORD
from semiring.kernels.cpu.compile import raw

from .vectors import (
    PIVOTS,
    SUBSET,
    TABLES,
    VECTOR,
    compiled,
    disjoin,
    load,
    load_byte,
    lookup,
    meet,
    pack_bytes,
    remove,
    store,
    store_byte,
    transpose_tile,
    unpack_bytes,
)

trailing_zeros: Any = raw.trailing_zeros  # a type checker would ask the callers for the typing context
PANEL = WORD * VECTOR  # pivots whose columns fill one vector: the diagonal block of the closure
CHUNK = 1024  # rows of C that share a set of tables: enough to repay building them, few enough for the cache


@compiled
def bit(j: int) -> Any:
    """The word with bit j % 64 set."""
    return np.uint64(1) << np.uint64(j & 63)


@compiled
def clear(target: int, vectors: int) -> None:
    for i in range(VECTOR * vectors):
        store(target + 8 * i, np.uint64(0))


@compiled
def gather(target: int, source: int, stride: int, rows: int, words: int) -> None:
    """Rows of at most eight words as adjacent vectors, filled up with zeros."""
    for i in range(rows):
        row = source + 8 * i * stride
        vector = target + 8 * VECTOR * i
        if words == VECTOR:
            disjoin(vector, row, row)
        else:
            clear(vector, 1)
            for w in range(words):
                store(vector + 8 * w, load(row + 8 * w))


@compiled
def scatter(target: int, stride: int, source: int, rows: int, words: int) -> None:
    """The reverse of `gather`."""
    for i in range(rows):
        row = target + 8 * i * stride
        vector = source + 8 * VECTOR * i
        if words == VECTOR:
            disjoin(row, vector, vector)
        else:
            for w in range(words):
                store(row + 8 * w, load(vector + 8 * w))


# Packing, unpacking, transposing. Columns that fill no whole word are handled by the 64 columns that end at the
# last one, which overlap the word before; only a matrix narrower than a word goes byte by byte.


@compiled
def pack_rows(target: int, target_stride: int, source: int, source_stride: int, rows: int, columns: int) -> None:
    """Bits from bytes; every word of the target row is written, the padding with zeros."""
    full, rest = columns // 64, columns % 64
    for i in range(rows):
        row = target + 8 * i * target_stride
        entries = source + i * source_stride
        for w in range(full):
            store(row + 8 * w, pack_bytes(entries + 64 * w))
        for w in range(full, target_stride):
            store(row + 8 * w, np.uint64(0))
        if rest:
            tail = np.uint64(0)
            if full:
                tail = pack_bytes(entries + columns - 64) >> np.uint64(64 - rest)
            else:
                for j in range(columns):
                    if load_byte(entries + j):
                        tail |= bit(j)
            store(row + 8 * full, tail)


@compiled
def unpack_rows(target: int, target_stride: int, source: int, source_stride: int, rows: int, columns: int) -> None:
    """Bytes of 0 and 1 from bits."""
    full, rest = columns // 64, columns % 64
    for i in range(rows):
        row = source + 8 * i * source_stride
        entries = target + i * target_stride
        for w in range(full):
            unpack_bytes(entries + 64 * w, load(row + 8 * w))
        if rest:
            tail = load(row + 8 * full)
            if full:
                before = load(row + 8 * (full - 1)) >> np.uint64(rest)
                unpack_bytes(entries + columns - 64, before | (tail << np.uint64(64 - rest)))
            else:
                for j in range(columns):
                    store_byte(entries + j, np.uint8((tail >> np.uint64(j)) & np.uint64(1)))


@compiled
def add_row(vector: int, row: int, words: int) -> None:
    """vector ← vector | a row of at most eight words."""
    if words == VECTOR:
        disjoin(vector, vector, row)
    else:
        for w in range(words):
            store(vector + 8 * w, load(vector + 8 * w) | load(row + 8 * w))


@compiled
def transpose_unions(
    target: int,
    target_stride: int,
    source: int,
    source_stride: int,
    members: Any,
    offsets: Any,
    columns: int,
    first: int,
    last: int,
) -> None:
    """Transpose the matrix whose rows are the disjunctions of the source rows of each group of members.

    Panels ``first:last`` of a source of so many columns, 512 each: rows of the target, which are whole vectors. Squares
    of 512 × 512 bits are taken apart into tiles of 64 × 64, so that every cache line is read and written whole.
    """
    tiles, union = np.empty(VECTOR * PANEL, np.uint64), np.zeros(VECTOR, np.uint64)
    corner, vector = np.int64(tiles.ctypes.data), np.int64(union.ctypes.data)  # good while the arrays are used below
    groups = len(offsets) - 1
    words = (columns + 63) // 64
    for w0 in range(VECTOR * first, min(VECTOR * last, words), VECTOR):
        width = min(VECTOR, words - w0)
        for r0 in range(0, target_stride, VECTOR):
            present = min(PANEL, groups - 64 * r0)
            for g in range(present):
                begin, end = offsets[64 * r0 + g], offsets[64 * r0 + g + 1]
                row = source + 8 * (members[begin] * source_stride + w0)
                if end - begin == 1:
                    for w in range(width):
                        tiles[PANEL * w + g] = load(row + 8 * w)
                else:
                    for k in range(begin, end):
                        add_row(vector, source + 8 * (members[k] * source_stride + w0), width)
                    for w in range(width):
                        tiles[PANEL * w + g], union[w] = union[w], 0
            for w in range(width):
                tiles[PANEL * w + present : PANEL * (w + 1)] = 0
                row = target + 8 * (64 * (w0 + w) * target_stride + r0)
                for r in range(VECTOR):
                    tile = PANEL * w + 64 * r
                    transpose_tile(corner + 8 * tile)
                    for j in range(min(64, columns - 64 * (w0 + w))):
                        store(row + 8 * (j * target_stride + r), tiles[tile + j])


# The four-Russians product.


@compiled
def build_tables(tables: int, rows: int) -> None:
    """The disjunction of every subset of each six of 64 adjacent vectors."""
    for table in range(TABLES):
        base = tables + (8 * VECTOR << SUBSET) * table
        clear(base, 1)
        for b in range(min(SUBSET, PIVOTS - SUBSET * table)):
            row = rows + 8 * VECTOR * (SUBSET * table + b)
            for subset in range(1 << b):
                disjoin(base + 8 * VECTOR * ((1 << b) + subset), base + 8 * VECTOR * subset, row)


@compiled
def multiply_rows(
    C: int,
    C_stride: int,
    A: int,
    A_stride: int,
    B: int,
    B_stride: int,
    rows: int,
    words: int,
    pivots: int,
    accumulate: bool,
    room: int,
) -> None:
    """C ← A ⊗ B, or C ← C ⊕ A ⊗ B, for some rows of C and A and some words of C and B; room for `MULTIPLY` bytes.

    With at most `PANEL` pivots C may be B itself (of at most `CHUNK` rows), and A may lie within C: A is copied
    first, and a vector of every row of B is read before that of C is written.
    """
    chunk = min(rows, CHUNK)
    left = room
    result = left + 8 * VECTOR * chunk
    pivot_rows = result + 8 * VECTOR * chunk
    tables = pivot_rows + 8 * VECTOR * PIVOTS
    for i0 in range(0, rows, chunk):
        m = min(chunk, rows - i0)
        for k0 in range(0, pivots, PANEL):
            panel_words = (min(PANEL, pivots - k0) + 63) // 64
            gather(left, A + 8 * (i0 * A_stride + k0 // 64), A_stride, m, panel_words)
            for w in range(0, words, VECTOR):
                width = min(VECTOR, words - w)
                target = C + 8 * (i0 * C_stride + w)
                if accumulate or k0 > 0:
                    gather(result, target, C_stride, m, width)
                else:
                    clear(result, m)
                for p in range(panel_words):
                    k = k0 + 64 * p
                    present = min(PIVOTS, pivots - k)
                    gather(pivot_rows, B + 8 * (k * B_stride + w), B_stride, present, width)
                    clear(pivot_rows + 8 * VECTOR * present, PIVOTS - present)
                    build_tables(tables, pivot_rows)
                    for i in range(m):
                        word = load(left + 8 * (VECTOR * i + p))
                        if word:
                            lookup(result + 8 * VECTOR * i, tables, word)
                scatter(target, C_stride, result, m, width)


# The four-Russians closure.


@compiled
def close_word(x: Any, n: int) -> None:
    """Warshall's algorithm on at most 64 vertices, one word a row, without the identity."""
    for k in range(n):
        pivot = x[k]
        for i in range(n):
            x[i] |= pivot & (np.uint64(0) - ((x[i] >> np.uint64(k)) & np.uint64(1)))


@compiled
def close_diagonal(R: int, stride: int, n: int, reflexive: bool, room: int) -> None:
    """R ← R⁺ or R*, of at most `PANEL` vertices, by blocks of 64 pivots; room for `CLOSE` bytes."""
    small = np.empty(64, np.uint64)
    if n <= 64:
        for i in range(n):
            small[i] = load(R + 8 * i * stride)
        close_word(small, n)
        for i in range(n):
            store(R + 8 * i * stride, small[i] | bit(i) if reflexive else small[i])
        return
    words = (n + 63) // 64
    rows = room
    closed = rows + 8 * VECTOR * 64 * words
    tables = closed + 8 * VECTOR * PIVOTS
    gather(rows, R, stride, n, words)
    clear(rows + 8 * VECTOR * n, 64 * words - n)
    for p in range(words):
        block = rows + 8 * VECTOR * 64 * p
        for i in range(64):
            small[i] = load(block + 8 * (VECTOR * i + p))
        close_word(small, 64)
        build_tables(tables, block)
        clear(closed, 64)
        for i in range(64):
            lookup(closed + 8 * VECTOR * i, tables, small[i] | bit(i))
        for i in range(64):
            disjoin(block + 8 * VECTOR * i, closed + 8 * VECTOR * i, closed + 8 * VECTOR * i)
        build_tables(tables, block)
        for i in range(n):
            if i // 64 != p:
                word = load(rows + 8 * (VECTOR * i + p))
                if word:
                    lookup(rows + 8 * VECTOR * i, tables, word)
    if reflexive:
        for i in range(n):
            vertex = rows + 8 * (VECTOR * i + i // 64)
            store(vertex, load(vertex) | bit(i))
    scatter(R, stride, rows, n, words)


@compiled
def set_diagonal(R: int, stride: int, n: int) -> None:
    for i in range(n):
        vertex = R + 8 * (i * stride + i // 64)
        store(vertex, load(vertex) | bit(i))


# Closure by strongly connected components. All rows are whole vectors here.


@compiled
def fill(row: int, words: int, n: int) -> None:
    """Set the first n bits of a row and clear the others."""
    for w in range(words):
        store(row + 8 * w, ~np.uint64(0) if 64 * w + 64 <= n else np.uint64(0))
    if n % 64:
        store(row + 8 * (n // 64), bit(n) - np.uint64(1))


@compiled
def strong_components(A: int, reverse: int, stride: int, n: int, todo: int) -> Any:
    """Strongly connected components, sources of the condensation first (Kosaraju–Sharir on bit sets).

    `reverse` is the transposed matrix, both of `stride` words a row; `todo` is room for one row. A row is searched
    only for vertices that were not visited, a vector at a time, so both passes together take O(n² / 512) steps
    whatever the number of edges.

    Returns
    -------
    label : component of every vertex
    members : the vertices, component by component
    offsets : where each component begins in `members`, and n
    cyclic : which vertices lie on a cycle
    """
    fill(todo, stride, n)
    finished = np.empty(n, np.int64)
    path = np.empty(n, np.int64)
    resume = np.empty(n, np.int64)  # the vector of its row at which the search of a vertex on the path goes on
    count = 0
    left = n
    lowest = 0  # no vertex before this word is unvisited
    for root in range(n):
        if not load(todo + 8 * (root // 64)) & bit(root):
            continue
        depth = 0
        child = root
        while True:
            if child >= 0:
                word = todo + 8 * (child // 64)
                store(word, load(word) & ~bit(child))
                left -= 1
                path[depth] = child
                while lowest < stride and not meet(todo + 8 * lowest, todo + 8 * lowest):
                    lowest += VECTOR
                resume[depth] = lowest
                depth += 1
            v = path[depth - 1]
            w = max(resume[depth - 1], lowest)
            child = -1
            while left > 0 and w < stride:
                row = A + 8 * (v * stride + w)
                hits = meet(row, todo + 8 * w)
                if hits:
                    k = w + trailing_zeros(hits)
                    child = 64 * k + trailing_zeros(load(A + 8 * (v * stride + k)) & load(todo + 8 * k))
                    break
                w += VECTOR
            resume[depth - 1] = w
            if child < 0:
                finished[count] = v
                count += 1
                depth -= 1
                if depth == 0:
                    break

    fill(todo, stride, n)
    label = np.empty(n, np.int64)
    members = path
    offsets = np.empty(n + 1, np.int64)
    offsets[0] = 0
    cyclic = np.empty(n, np.bool_)
    components = 0
    found = 0
    lowest = 0
    for i in range(n - 1, -1, -1):
        root = finished[i]
        word = todo + 8 * (root // 64)
        if not load(word) & bit(root):
            continue
        store(word, load(word) & ~bit(root))
        members[found] = root
        head = found
        found += 1
        while head < found:
            v = members[head]
            head += 1
            label[v] = components
            while lowest < stride and not meet(todo + 8 * lowest, todo + 8 * lowest):
                lowest += VECTOR
            for w in range(lowest, stride, VECTOR):
                hits = meet(reverse + 8 * (v * stride + w), todo + 8 * w)
                while hits:
                    k = w + trailing_zeros(hits)
                    hits &= hits - np.uint64(1)
                    word = todo + 8 * k
                    new = load(reverse + 8 * (v * stride + k)) & load(word)
                    store(word, load(word) & ~new)
                    while new:
                        members[found] = 64 * k + trailing_zeros(new)
                        found += 1
                        new &= new - np.uint64(1)
        first = offsets[components]
        components += 1
        offsets[components] = found
        if found - first > 1:
            for k in range(first, found):
                cyclic[members[k]] = True
        else:
            cyclic[root] = (load(A + 8 * (root * stride + root // 64)) & bit(root)) != 0
    return label, members, offsets[: components + 1], cyclic


@compiled
def unite_rows(target: int, source: int, words: int, members: Any, offsets: Any, first: int, last: int) -> None:
    """Rows ``first:last`` of the target ← the disjunction of the source rows of each group of members."""
    for group in range(first, last):
        row = target + 8 * group * words
        start = source + 8 * members[offsets[group]] * words
        for w in range(0, words, VECTOR):
            disjoin(row + 8 * w, start + 8 * w, start + 8 * w)
        for k in range(offsets[group] + 1, offsets[group + 1]):
            other = source + 8 * members[k] * words
            for w in range(0, words, VECTOR):
                disjoin(row + 8 * w, row + 8 * w, other + 8 * w)


@compiled
def clear_diagonal(R: int, stride: int, kept: Any) -> None:
    """Take the diagonal bit from every vertex that is not kept."""
    for i in range(kept.shape[0]):
        if not kept[i]:
            vertex = R + 8 * (i * stride + i // 64)
            store(vertex, load(vertex) & ~bit(i))


@compiled
def propagate(Q: int, stride: int, n: int, budget: int, missing: int) -> bool:
    """Q ← Q* for an upper triangular Q (edges ascend), from the last vertex to the first.

    The successors of a vertex are taken in ascending order and those already reached are skipped, so that a row is
    united with another only for an edge of the transitive reduction. Gives up after so many vectors united; Q is
    then a matrix with the same closure. Returns whether it came to the end. `missing` is room for one row: the
    complement of what the vertex at work reaches.
    """
    for v in range(n - 1, -1, -1):
        row = Q + 8 * v * stride
        start = v // PANEL * VECTOR
        for w in range(start, stride):
            store(missing + 8 * w, ~np.uint64(0))
        store(missing + 8 * (v // 64), ~bit(v))
        for w0 in range(start, stride, VECTOR):
            hits = meet(row + 8 * w0, missing + 8 * w0)
            while hits:
                w = w0 + trailing_zeros(hits)
                hits &= hits - np.uint64(1)
                new = load(row + 8 * w) & load(missing + 8 * w)
                while new:
                    successor = Q + 8 * (64 * w + trailing_zeros(new)) * stride
                    for u in range(w0, stride, VECTOR):
                        remove(missing + 8 * u, successor + 8 * u)
                    budget -= (stride - w0) // VECTOR
                    new = load(row + 8 * w) & load(missing + 8 * w)
        for w in range(start, stride):
            store(row + 8 * w, ~load(missing + 8 * w))
        if budget < 0 and v > 0:
            return False
    return True
