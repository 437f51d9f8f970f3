"""Boolean matrices with one bit an entry on the CPU: packing, the four-Russians product, two transitive closures.

The unit of work is a *vector* of eight words: 512 columns of one row, one cache line. Compiled functions take
addresses and row strides (in words), so that a view, an owned matrix and a read-only one share one compiled
specialisation; the Python functions below them take `PackedMatrix` blocks and hand out the work to threads.

A product takes 64 pivots (one word of A) at a time: eleven tables hold the disjunction of every subset of six rows
of B (four in the last), and a row of C takes eleven look-ups. At one vector a table row they are 45 kB and stay
near the core, which tables of 256 rows for eight pivots do not.

References
----------
V. Arlazarov, E. Dinic, M. Kronrod, I. Faradžev, "On economical construction of the transitive closure of a directed
graph", 1970 (the tables). A. Goralčíková, V. Koubek, "A reduct-and-closure algorithm for graphs", 1979 (successors in
topological order, those already reached skipped).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from semiring.errors import SemiringError
from semiring.kernels.cpu.threads import pool, scratch, thread_count
from semiring.kernels.packed import ROW_WORDS, WORD, PackedMatrix, row_words

VECTOR = ROW_WORDS  # words of a vector
PIVOTS = WORD  # pivots taken at once: one word of A
PANEL = WORD * VECTOR  # pivots whose columns fill one vector: the diagonal block of the closure
SUBSET = 6  # rows of B in one table: 64 vectors
TABLES = -(-PIVOTS // SUBSET)
CHUNK = 1024  # rows of C that share a set of tables: enough to repay building them, few enough for the cache

LANES = ir.VectorType(ir.IntType(64), VECTOR)
BYTES = ir.VectorType(ir.IntType(8), WORD)
WORD_TYPE = ir.IntType(64)


def compiled(function: Callable[..., Any]) -> Any:
    """Compile on the first call, without the GIL, and keep the machine code on disk."""
    dispatcher = njit(nogil=True, error_model="numpy")(function)
    with suppress(RuntimeError):  # Numba may write neither here nor to the user's cache: every process compiles
        dispatcher.enable_caching()
    return dispatcher


# Instructions on raw addresses; LLVM turns the vectors into whatever registers the machine has.

instruction: Any = intrinsic  # a type checker would ask the callers for the typing context


def _at(builder: Any, address: Any, kind: Any, offset: int = 0) -> Any:
    return builder.inttoptr(builder.add(address, WORD_TYPE(offset)), kind.as_pointer())


@instruction
def load(typingctx: Any, address: Any) -> Any:
    """The word at an address."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_at(builder, arguments[0], WORD_TYPE), align=8)

    return types.uint64(types.int64), emit


@instruction
def store(typingctx: Any, address: Any, word: Any) -> Any:
    """Write the word at an address."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[1], _at(builder, arguments[0], WORD_TYPE), align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.uint64), emit


@instruction
def disjoin(typingctx: Any, target: Any, left: Any, right: Any) -> Any:
    """target ← left | right, one vector each."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, left, right = (_at(builder, address, LANES) for address in arguments)
        builder.store(builder.or_(builder.load(left, align=8), builder.load(right, align=8)), target, align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), emit


@instruction
def remove(typingctx: Any, target: Any, source: Any) -> Any:
    """target ← target & ~source, one vector each."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, source = (_at(builder, address, LANES) for address in arguments)
        kept = builder.and_(builder.load(target, align=8), builder.not_(builder.load(source, align=8)))
        builder.store(kept, target, align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), emit


@instruction
def meet(typingctx: Any, left: Any, right: Any) -> Any:
    """Which of the eight words of two vectors share a bit: one bit a word."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        left, right = (builder.load(_at(builder, address, LANES), align=8) for address in arguments)
        shared = builder.icmp_unsigned("!=", builder.and_(left, right), LANES(None))
        return builder.zext(builder.bitcast(shared, ir.IntType(VECTOR)), WORD_TYPE)

    return types.uint64(types.int64, types.int64), emit


@instruction
def lookup(typingctx: Any, target: Any, tables: Any, word: Any) -> Any:
    """target ← target | the rows of the tables that the bits of a word name."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, tables, word = arguments
        pointer = _at(builder, target, LANES)
        result = builder.load(pointer, align=8)
        for table in range(TABLES):
            subset = builder.and_(builder.lshr(word, WORD_TYPE(SUBSET * table)), WORD_TYPE((1 << SUBSET) - 1))
            row = builder.add(tables, builder.mul(subset, WORD_TYPE(8 * VECTOR)))
            entry = _at(builder, row, LANES, (8 * VECTOR << SUBSET) * table)
            result = builder.or_(result, builder.load(entry, align=8))
        builder.store(result, pointer, align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.uint64), emit


@instruction
def trailing_zeros(typingctx: Any, word: Any) -> Any:
    """Position of the lowest bit of a word that is not zero."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(types.uint64), emit


@instruction
def pack_bytes(typingctx: Any, address: Any) -> Any:
    """64 bytes as a word: a bit is set where the byte is not zero."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        entries = builder.load(_at(builder, arguments[0], BYTES), align=1)
        return builder.bitcast(builder.icmp_unsigned("!=", entries, BYTES(None)), WORD_TYPE)

    return types.uint64(types.int64), emit


@instruction
def unpack_bytes(typingctx: Any, address: Any, word: Any) -> Any:
    """Write the 64 bits of a word as bytes of 0 and 1."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        bits = builder.bitcast(arguments[1], ir.VectorType(ir.IntType(1), WORD))
        builder.store(builder.zext(bits, BYTES), _at(builder, arguments[0], BYTES), align=1)
        return context.get_dummy_value()

    return types.void(types.int64, types.uint64), emit


@instruction
def transpose_tile(typingctx: Any, address: Any) -> Any:
    """Transpose 64 × 64 bits, 64 adjacent words, in place: swap blocks of 32, 16, … 1 off the diagonal."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def every(value: int) -> Any:
            return ir.Constant(LANES, [WORD_TYPE(value)] * VECTOR)

        pointers = [_at(builder, arguments[0], LANES, 8 * VECTOR * i) for i in range(WORD // VECTOR)]
        rows = [builder.load(pointer, align=8) for pointer in pointers]
        block = WORD // 2
        while block:
            low = sum(1 << bit for bit in range(WORD) if not bit & block)  # columns of the left blocks
            shift, distance = every(block), block // VECTOR
            if distance:  # the rows to swap lie in two vectors
                for upper in (i for i in range(WORD // VECTOR) if not i & distance):
                    lower = upper + distance
                    swapped = builder.xor(builder.lshr(rows[upper], shift), rows[lower])
                    swapped = builder.and_(swapped, every(low))
                    rows[lower] = builder.xor(rows[lower], swapped)
                    rows[upper] = builder.xor(rows[upper], builder.shl(swapped, shift))
            else:  # in two lanes of one vector
                partners = ir.Constant(
                    ir.VectorType(ir.IntType(32), VECTOR), [ir.IntType(32)(i ^ block) for i in range(VECTOR)]
                )
                is_upper = [not i & block for i in range(VECTOR)]
                kept = ir.Constant(LANES, [WORD_TYPE(low if upper else low << block) for upper in is_upper])
                chosen = ir.Constant(ir.VectorType(ir.IntType(1), VECTOR), [ir.IntType(1)(upper) for upper in is_upper])
                for i, row in enumerate(rows):
                    other = builder.shuffle_vector(row, ir.Constant(LANES, ir.Undefined), partners)
                    from_lower = builder.shl(builder.and_(other, every(low)), shift)
                    from_upper = builder.and_(builder.lshr(other, shift), every(low))
                    moved = builder.select(chosen, from_lower, from_upper)
                    rows[i] = builder.or_(builder.and_(row, kept), moved)
            block //= 2
        for pointer, row in zip(pointers, rows, strict=True):
            builder.store(row, pointer, align=8)
        return context.get_dummy_value()

    return types.void(types.int64), emit


@instruction
def load_byte(typingctx: Any, address: Any) -> Any:
    """The byte at an address."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_at(builder, arguments[0], ir.IntType(8)))

    return types.uint8(types.int64), emit


@instruction
def store_byte(typingctx: Any, address: Any, value: Any) -> Any:
    """Write the byte at an address."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[1], _at(builder, arguments[0], ir.IntType(8)))
        return context.get_dummy_value()

    return types.void(types.int64, types.uint8), emit


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
def transpose_rows(
    target: int, target_stride: int, source: int, source_stride: int, rows: int, first: int, last: int, tile: int
) -> None:
    """Rows ``first:last`` of the transposed matrix, from a source of so many rows; `first` a multiple of 512.

    Tiles of 64 × 64 bits (`tile`: room for one), in squares of 8 × 8 so that every cache line is used whole.
    """
    words = (last + 63) // 64
    for w0 in range(first // 64, words, VECTOR):
        for r0 in range(0, target_stride, VECTOR):
            for w in range(w0, min(w0 + VECTOR, words)):
                for r in range(r0, r0 + VECTOR):
                    present = max(0, min(64, rows - 64 * r))
                    for i in range(present):
                        store(tile + 8 * i, load(source + 8 * ((64 * r + i) * source_stride + w)))
                    for i in range(present, 64):
                        store(tile + 8 * i, np.uint64(0))
                    transpose_tile(tile)
                    for j in range(min(64, last - 64 * w)):
                        store(target + 8 * ((64 * w + j) * target_stride + r), load(tile + 8 * j))


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
def pick_rows(target: int, source: int, words: int, label: Any, first: int, last: int) -> None:
    """Rows ``first:last`` of the target ← the source rows that the labels name."""
    for i in range(first, last):
        row = target + 8 * i * words
        origin = source + 8 * label[i] * words
        for w in range(0, words, VECTOR):
            disjoin(row + 8 * w, origin + 8 * w, origin + 8 * w)


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


# From here on plain Python: blocks, threads, the choice between the two closures.

TABLE_BYTES = 8 * VECTOR * (PIVOTS + (TABLES << SUBSET))  # the tables, and the rows that they are made from
MULTIPLY = 8 * VECTOR * 2 * CHUNK + TABLE_BYTES
CLOSE = 8 * VECTOR * PANEL + TABLE_BYTES
ENOUGH = 1 << 14  # steps (vectors or look-ups) that repay handing a part of the work to another thread
BUFFER_ROWS = 64  # rows converted at once where the entries are no adjacent bytes
SMALL = 768  # vertices up to which the four-Russians closure is the faster one whatever the edges are
UNIONS_A_LOOKUP = 0.6  # vectors united in half the time of a look-up, half the look-ups being of empty words


def pack(matrix: PackedMatrix, array: np.ndarray, threads: int | None = None) -> None:
    """Fill an owned matrix from a bool or numeric array of its shape."""
    rows, columns = matrix.shape
    words, stride = _address(matrix), _stride(matrix)
    parts = _parts(rows * columns * array.dtype.itemsize // 64, threads)
    if _as_bytes(array):
        entries, step = array.ctypes.data, array.strides[0]

        def work(first: int, last: int) -> None:
            pack_rows(words + 8 * first * stride, stride, entries + first * step, step, last - first, columns)
    else:
        parts = max(parts, rows // BUFFER_ROWS)

        def work(first: int, last: int) -> None:
            part = np.ascontiguousarray(array[first:last] != 0)
            pack_rows(words + 8 * first * stride, stride, part.ctypes.data, columns, last - first, columns)

    _run(work, _ranges(rows, parts), threads)


def unpack(matrix: PackedMatrix, out: np.ndarray, threads: int | None = None) -> None:
    """Write a matrix to an array of its shape."""
    rows, columns = matrix.shape
    words, stride = _address(matrix), _stride(matrix)
    parts = _parts(rows * columns * out.dtype.itemsize // 64, threads)
    if _as_bytes(out):
        entries, step = out.ctypes.data, out.strides[0]

        def work(first: int, last: int) -> None:
            unpack_rows(entries + first * step, step, words + 8 * first * stride, stride, last - first, columns)
    else:
        parts = max(parts, rows // BUFFER_ROWS)

        def work(first: int, last: int) -> None:
            part = np.empty((last - first, columns), bool)
            unpack_rows(part.ctypes.data, columns, words + 8 * first * stride, stride, last - first, columns)
            out[first:last] = part

    _run(work, _ranges(rows, parts), threads)


def _as_bytes(array: np.ndarray) -> bool:
    """Whether the entries of a row are adjacent single bytes."""
    return array.dtype.itemsize == 1 and array.dtype.kind in "biu" and array.strides[1] == 1


def transpose(target: PackedMatrix, source: PackedMatrix, threads: int | None = None) -> None:
    """Fill an owned matrix with the transposed source."""
    rows, columns = source.shape
    to, width, origin, stride = _address(target), _stride(target), _address(source), _stride(source)

    def work(first: int, last: int) -> None:
        transpose_rows(to, width, origin, stride, rows, PANEL * first, min(PANEL * last, columns), _room(8 * WORD))

    _run(work, _ranges(-(-columns // PANEL), _parts(rows * columns // 64, threads)), threads)


def multiply_add(C: PackedMatrix, A: PackedMatrix, B: PackedMatrix, threads: int | None = None) -> None:
    """C ← C ⊕ A ⊗ B by four-Russians tables; C overlaps neither A nor B."""
    _multiply(C, A, B, True, threads)


def multiply(C: PackedMatrix, A: PackedMatrix, B: PackedMatrix, threads: int | None = None) -> None:
    """C ← A ⊗ B by four-Russians tables; C overlaps neither A nor B."""
    _multiply(C, A, B, False, threads)


def _multiply(C: PackedMatrix, A: PackedMatrix, B: PackedMatrix, accumulate: bool, threads: int | None) -> None:
    (rows, columns), pivots = C.shape, A.shape[1]
    if A.shape[0] != rows or B.shape != (pivots, columns):
        raise SemiringError(f"shapes do not fit: {C.shape} ← {A.shape} ⊗ {B.shape}")
    _check_writable(C)
    words = -(-columns // WORD)
    if pivots == 0:
        if not accumulate:
            C.words[:, :words] = 0
        return
    c, a, b = _address(C), _address(A), _address(B)
    c_stride, a_stride, b_stride = _stride(C), _stride(A), _stride(B)

    def work(top: int, bottom: int, left: int, right: int) -> None:
        multiply_rows(
            c + 8 * (top * c_stride + left), c_stride,
            a + 8 * top * a_stride, a_stride,
            b + 8 * left, b_stride,
            bottom - top, right - left, pivots, accumulate, _room(MULTIPLY),
        )  # fmt: skip

    vectors = -(-words // VECTOR)
    parts = _parts(rows * vectors * -(-pivots // PIVOTS), threads)
    bands = _ranges(rows, min(parts, max(1, rows // (CHUNK // 2))))
    panels = _ranges(vectors, -(-parts // max(1, len(bands))))
    pieces = [(*band, VECTOR * left, min(VECTOR * right, words)) for band in bands for left, right in panels]
    _run(work, pieces, threads)


def four_russians_closure(R: PackedMatrix, reflexive: bool = True, threads: int | None = None) -> None:
    """R ← R* (or R⁺) in place, blocked by 512 pivots, in n³ / 64 bit-parallel steps whatever the entries are.

    ::

            [ · C · ]
        R = [ P D P ]     D ← D⁺,  P ← D* P,  every other row ← itself ⊕ C ⊗ (P D P)
            [ · C · ]
    """
    n = _check_square(R)
    address, stride, words = _address(R), _stride(R), -(-n // WORD)
    if n <= PANEL:
        close_diagonal(address, stride, n, reflexive, _room(CLOSE))
        return
    vectors = -(-words // VECTOR)
    for k in range(0, n, PANEL):
        size = min(PANEL, n - k)
        pivot_rows = address + 8 * k * stride
        diagonal = pivot_rows + 8 * (k // WORD)
        close_diagonal(diagonal, stride, size, False, _room(CLOSE))

        def panel(first: int, last: int, size: int = size, pivot_rows: int = pivot_rows, D: int = diagonal) -> None:
            P = pivot_rows + 8 * VECTOR * first
            width = min(VECTOR * last, words) - VECTOR * first
            multiply_rows(P, stride, D, stride, P, stride, size, width, size, True, _room(MULTIPLY))

        def rest(top: int, bottom: int, k: int = k, size: int = size, pivot_rows: int = pivot_rows) -> None:
            row = address + 8 * top * stride
            left = row + 8 * (k // WORD)
            count = bottom - top
            multiply_rows(row, stride, left, stride, pivot_rows, stride, count, words, size, True, _room(MULTIPLY))

        steps = -(-size // PIVOTS) * vectors
        _run(panel, _ranges(vectors, _parts(size * steps, threads)), threads)
        parts = min(_parts((n - size) * steps, threads), max(1, n // (CHUNK // 4)))
        above = _ranges(k, -(-parts * k // n))
        below = _ranges(n - k - size, parts - len(above))
        _run(rest, above + [(k + size + top, k + size + bottom) for top, bottom in below], threads)
    if reflexive:
        set_diagonal(address, stride, n)


def closure_by_components(R: PackedMatrix, reflexive: bool = True, threads: int | None = None) -> None:
    """R ← R* (or R⁺) by strongly connected components and bit sets united along the condensation.

    Takes O(n² / 64) steps, and n / 64 more for each edge of the condensation's transitive reduction; room for two
    more matrices.
    """
    _close_components(R, reflexive, threads, None)


def transitive_closure(R: PackedMatrix, reflexive: bool = True, threads: int | None = None) -> None:
    """R ← R* (or R⁺) in place, by whichever closure is faster.

    Up to `SMALL` vertices four-Russians; above, components: which condensations are slow that way is known only
    once their transitive reduction is, so the bit sets are given about half the time that four-Russians needs for the
    condensation, and what is not done by then is left to it.
    """
    n = _check_square(R)
    if n <= SMALL:
        four_russians_closure(R, reflexive, threads)
    else:
        _close_components(R, reflexive, threads, UNIONS_A_LOOKUP)


def _close_components(R: PackedMatrix, reflexive: bool, threads: int | None, patience: float | None) -> None:
    n = _check_square(R)
    if not _stride(R) == R.words.shape[1] == row_words(n):  # rows are taken as whole, adjacent vectors
        owned = R.copy()
        _close_components(owned, reflexive, threads, patience)
        width = -(-n // WORD)
        R.words[:, :width] = owned.words[:, :width]
        return
    stride = _stride(R)
    reverse = R.transpose(threads)
    label, members, offsets, cyclic = strong_components(_address(R), _address(reverse), stride, n, _room(8 * stride))
    count = len(offsets) - 1

    into = _unite(reverse, members, offsets, threads)  # [d, v]: v has an edge into component d
    del reverse  # as everywhere here, so that no more than two further matrices are alive
    out_of = into.transpose(threads)
    del into
    Q = _unite(out_of, members, offsets, threads)  # [c, d]: an edge from component c to d
    del out_of
    lookups = count * _stride(Q) // VECTOR * -(-count // PIVOTS)
    budget = int(patience * lookups / thread_count(threads)) if patience is not None else np.iinfo(np.int64).max
    if not propagate(_address(Q), _stride(Q), count, budget, _room(8 * _stride(Q))):
        four_russians_closure(Q, True, threads)

    sources = Q.transpose(threads)  # [d, c]: component c reaches d
    del Q
    reached = PackedMatrix.empty(n, count)  # [v, c]: component c reaches v
    _pick(reached, sources, label, threads)
    del sources
    _pick(R, reached.transpose(threads), label, threads)
    if not reflexive:
        clear_diagonal(_address(R), stride, cyclic)


def dense_closure(
    array: Any, reflexive: bool = True, threads: int | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """Transitive closure of a square bool or numeric array as a bool array: pack, `transitive_closure`, unpack."""
    matrix = PackedMatrix.from_dense(array, threads)
    transitive_closure(matrix, reflexive, threads)
    return matrix.to_dense(out=out, threads=threads)


class PackedKernel:
    """The operations that the schedules use, over `PackedMatrix` blocks.

    Parameters
    ----------
    threads : int, optional
        Threads of every operation; by default those of the process-wide setting.

    Attributes
    ----------
    tile : int
        Size of the diagonal blocks that suit `close`, which takes any size.
    """

    tile = PANEL  # columns of one vector: the whole diagonal block is worked on in the cache

    def __init__(self, threads: int | None = None):
        self.threads = threads

    def multiply_add(self, C: PackedMatrix, A: PackedMatrix, B: PackedMatrix) -> None:
        """C ← C ⊕ A ⊗ B; C overlaps neither A nor B."""
        _multiply(C, A, B, True, self.threads)

    def multiply(self, C: PackedMatrix, A: PackedMatrix, B: PackedMatrix) -> None:
        """C ← A ⊗ B; C overlaps neither A nor B."""
        _multiply(C, A, B, False, self.threads)

    def left(self, D: PackedMatrix, R: PackedMatrix) -> None:
        """R ← D ⊗ R."""
        _multiply(R, D, R.copy(), False, self.threads)

    def right(self, C: PackedMatrix, D: PackedMatrix) -> None:
        """C ← C ⊗ D."""
        _multiply(C, C.copy(), D, False, self.threads)

    def close(self, D: PackedMatrix) -> int:
        """D ← D*, the identity included; −1, since every star is defined."""
        transitive_closure(D, True, self.threads)
        return -1

    def close_plus(self, D: PackedMatrix) -> int:
        """D ← D⁺ = D ⊗ D*: what Warshall's algorithm leaves; −1."""
        transitive_closure(D, False, self.threads)
        return -1


def _unite(source: PackedMatrix, members: Any, offsets: Any, threads: int | None) -> PackedMatrix:
    groups, words = len(offsets) - 1, _stride(source)
    result = PackedMatrix.empty(groups, source.shape[1])
    to, origin = _address(result), _address(source)

    def work(first: int, last: int) -> None:
        unite_rows(to, origin, words, members, offsets, first, last)

    _run(work, _ranges(groups, _parts(len(members) * words // VECTOR, threads)), threads)
    return result


def _pick(result: PackedMatrix, source: PackedMatrix, label: Any, threads: int | None) -> None:
    rows, words = len(label), _stride(source)
    to, origin = _address(result), _address(source)

    def work(first: int, last: int) -> None:
        pick_rows(to, origin, words, label, first, last)

    _run(work, _ranges(rows, _parts(rows * words // VECTOR, threads)), threads)


def _address(matrix: PackedMatrix) -> int:
    return matrix.words.ctypes.data


def _stride(matrix: PackedMatrix) -> int:
    rows, width = matrix.words.shape
    return matrix.words.strides[0] // 8 if rows > 1 and width else width


def _check_writable(matrix: PackedMatrix) -> None:
    if not matrix.words.flags.writeable:
        raise SemiringError("the packed matrix to write to is read-only; pass a copy()")


def _check_square(matrix: PackedMatrix) -> int:
    rows, columns = matrix.shape
    if rows != columns:
        raise SemiringError(f"only a square matrix has a closure, not one of shape {matrix.shape}")
    _check_writable(matrix)
    return rows


def _room(size: int) -> int:
    """Address of scratch memory of this thread, at most `threads.KEEP` bytes, until it asks again."""
    return scratch(size)[1]


def _parts(steps: int, threads: int | None) -> int:
    """How many pieces to make of so much work: a few for every thread, or one if that would not repay the threads."""
    return 1 if steps < 2 * ENOUGH else min(4 * thread_count(threads), steps // ENOUGH)


def _ranges(count: int, parts: int) -> list[tuple[int, int]]:
    """About so many ranges of equal size, none empty, that cover ``range(count)``."""
    size = -(-count // max(1, parts))
    return [(first, min(first + size, count)) for first in range(0, count, max(1, size))]


def _run(function: Callable[..., None], pieces: Sequence[tuple[int, ...]], threads: int | None) -> None:
    """Call a function with each of the pieces, on so many threads."""
    if len(pieces) <= 1:
        for piece in pieces:
            function(*piece)
        return
    remaining = deque(pieces)

    def work() -> None:
        while True:
            try:
                piece = remaining.popleft()
            except IndexError:  # asking first whether any is left would let another thread take it in between
                return
            function(*piece)

    pool.run(work, min(thread_count(threads), len(pieces)) - 1)
