"""Boolean matrices with one bit an entry on the CPU: packing, the four-Russians product, two transitive closures.

The unit of work is a *vector* of eight words: 512 columns of one row, one cache line. Compiled functions take
addresses and row strides (in words), so that a view, an owned matrix and a read-only one share one compiled
specialisation; the Python functions below take `PackedRows` blocks, and hand out ranges of rows to threads, which call
the compiled functions.

A product takes 64 pivots (one word of A) at a time: eleven tables hold the disjunction of every subset of six rows
of B (four in the last), and a row of C takes eleven look-ups. At one vector a table row they are 44 KiB and stay
near the core, which tables of 256 rows for eight pivots do not.

References
----------
V. Arlazarov, E. Dinic, M. Kronrod, I. Faradžev, "On economical construction of the transitive closure of a directed
graph", 1970 (the tables). A. Goralčíková, V. Koubek, "A reduct-and-closure algorithm for graphs", 1979 (successors in
topological order, those already reached skipped).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from semiring.errors import SemiringError
from semiring.kernels.blocks.bits import WORD, AnyRows, PackedRows, check_writable
from semiring.kernels.cpu.compile.rounds import share_in_rounds
from semiring.kernels.numpy.bits import BitsKernel
from semiring.machine.pieces import parts_worth, ranges, share
from semiring.machine.threads import cpu_place, scratch, thread_count

from .loops import (
    CHUNK,
    PANEL,
    clear_diagonal,
    close_diagonal,
    multiply_rows,
    pack_rows,
    propagate,
    set_diagonal,
    strong_components,
    transpose_unions,
    unite_rows,
    unpack_rows,
)
from .vectors import PIVOTS, SUBSET, TABLES, VECTOR

TABLE_BYTES = 8 * VECTOR * (PIVOTS + (TABLES << SUBSET))  # the tables, and the rows that they are made from
MULTIPLY = 8 * VECTOR * 2 * CHUNK + TABLE_BYTES
CLOSE = 8 * VECTOR * PANEL + TABLE_BYTES
PIECE = 1 << 23  # words of 64 pivots that a piece of a product looks up for a vector: some hundredths of a second
BUFFER_ROWS = 64  # rows converted at once where the entries are not adjacent bytes
TABLES_ORDER = 768  # vertices up to which the four-Russians closure is the faster one whatever the edges are
UNIONS_A_LOOKUP = 0.6  # vectors united in half the time of a look-up, half the look-ups being of empty words


def pack(matrix: PackedRows, array: np.ndarray, threads: int | None = None) -> None:
    """Fill an owned matrix from a bool or numeric array of its shape."""
    rows, columns = matrix.shape
    words, stride, threads = _address(matrix), _stride(matrix), thread_count(threads)
    parts = parts_worth(rows * columns * array.dtype.itemsize // 64, threads)
    if _as_bytes(array):
        entries, step = array.ctypes.data, array.strides[0]

        def work(first: int, last: int) -> None:
            pack_rows(words + 8 * first * stride, stride, entries + first * step, step, last - first, columns)
    else:
        parts = max(parts, rows // BUFFER_ROWS)

        def work(first: int, last: int) -> None:
            part = np.ascontiguousarray(array[first:last] != 0)
            pack_rows(words + 8 * first * stride, stride, part.ctypes.data, columns, last - first, columns)

    share(work, ranges(rows, parts), threads)


def unpack(matrix: PackedRows, out: np.ndarray, threads: int | None = None) -> None:
    """Write a matrix to an array of its shape."""
    rows, columns = matrix.shape
    words, stride, threads = _address(matrix), _stride(matrix), thread_count(threads)
    parts = parts_worth(rows * columns * out.dtype.itemsize // 64, threads)
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

    share(work, ranges(rows, parts), threads)


def _as_bytes(array: np.ndarray) -> bool:
    """Whether the entries of a row are adjacent single bytes."""
    return array.dtype.itemsize == 1 and array.dtype.kind in "biu" and array.strides[1] == 1


def transposed(source: AnyRows, threads: int | None = None) -> AnyRows:
    """The transposed matrix, in words of its own."""
    (rows, columns), threads = source.shape, thread_count(threads)
    result = type(source).empty(columns, rows)
    to, width, origin, stride = _address(result), _stride(result), _address(source), _stride(source)
    each = np.arange(rows + 1)
    panels = ranges(-(-columns // PANEL), parts_worth(rows * columns // WORD, threads))
    share(partial(transpose_unions, to, width, origin, stride, each, each, columns), panels, threads)
    return result


def multiply(
    C: PackedRows, A: PackedRows, B: PackedRows, threads: int | None = None, *, accumulate: bool = False
) -> None:
    """C ← A ⊗ B, or C ⊕ A ⊗ B, by four-Russians tables; C overlaps neither A nor B."""
    (rows, columns), pivots = C.shape, A.shape[1]
    if A.shape[0] != rows or B.shape != (pivots, columns):
        raise SemiringError(f"shapes do not fit: {C.shape} ← {A.shape} ⊗ {B.shape}")
    check_writable(C)
    words = -(-columns // WORD)
    if pivots == 0:
        if not accumulate:
            C.words[:, :words] = 0
        return
    threads, c, a, b = thread_count(threads), _address(C), _address(A), _address(B)
    c_stride, a_stride, b_stride = _stride(C), _stride(A), _stride(B)

    def work(top: int, bottom: int, left: int, right: int) -> None:
        multiply_rows(
            c + 8 * (top * c_stride + left), c_stride,
            a + 8 * top * a_stride, a_stride,
            b + 8 * left, b_stride,
            bottom - top, right - left, pivots, accumulate, _room(MULTIPLY),
        )

    vectors = -(-words // VECTOR)
    steps = rows * vectors * -(-pivots // PIVOTS)
    parts = max(parts_worth(steps, threads), steps // PIECE)
    bands = ranges(rows, min(parts, max(1, rows // (CHUNK // 2))))
    panels = ranges(vectors, -(-parts // max(1, len(bands))))
    pieces = [(*band, VECTOR * left, min(VECTOR * right, words)) for band in bands for left, right in panels]
    share_in_rounds(work, pieces, threads)


def four_russians_closure(R: PackedRows, reflexive: bool = True, threads: int | None = None) -> None:
    """R ← R* (or R⁺) in place, blocked by 512 pivots, in n³ / 64 bit-parallel steps whatever the entries are.

    ::

            [ · C · ]
        R = [ P D P ]     D ← D⁺,  P ← D* P,  every other row ← itself ⊕ C ⊗ (P D P)
            [ · C · ]
    """
    n = _check_square(R)
    _close_by_tables(_address(R), _stride(R), n, reflexive, thread_count(threads))


def _close_by_tables(address: int, stride: int, n: int, reflexive: bool, threads: int) -> None:
    words = -(-n // WORD)
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
        share(panel, ranges(vectors, parts_worth(size * steps, threads)), threads)
        parts = min(parts_worth((n - size) * steps, threads), max(1, n // (CHUNK // 4)))
        above = ranges(k, -(-parts * k // n))
        below = ranges(n - k - size, parts - len(above))
        share(rest, above + [(k + size + top, k + size + bottom) for top, bottom in below], threads)
    if reflexive:
        set_diagonal(address, stride, n)


def transitive_closure(R: PackedRows, reflexive: bool = True, threads: int | None = None) -> None:
    """R ← R* (or R⁺) in place, by whichever closure is faster.

    Up to `TABLES_ORDER` vertices four-Russians; above, components: which condensations are slow that way is known only
    once their transitive reduction is, so the bit sets are given about half the time that four-Russians needs for the
    condensation, and what is not done by then is left to it.
    """
    if len(R.words) <= TABLES_ORDER:
        four_russians_closure(R, reflexive, threads)
    else:
        closure_by_components(R, reflexive, threads, UNIONS_A_LOOKUP)


def closure_by_components(
    R: PackedRows, reflexive: bool = True, threads: int | None = None, patience: float | None = None
) -> None:
    """R ← R* (or R⁺) in place, by strongly connected components and bit sets united along the condensation.

    Takes O(n² / 64) steps, and n / 64 more for each edge of the condensation's transitive reduction; room for one
    more matrix. For the `patience` see `rows_of_components`. Components are c and d, vertices u and v. R and one
    further matrix take turns at each step.

    ::

        T ← Rᵀ                        from both, the components, sinks first
        T[v, c] ← ⋁ R[u, v], u ∈ c    c has an edge to v
        R[d, c] ← ⋁ T[v, c], v ∈ d    c has an edge into d
        R ← R*                        c reaches d
        T[c, v] ← R[d, c], v ∈ d      c reaches v
        R[u, v] ← T[c, v], u ∈ c      u reaches v
    """
    n, threads = _check_square(R), thread_count(threads)
    vectors = -(-n // PANEL)
    stride = VECTOR * vectors
    if not _stride(R) == R.words.shape[1] == stride:  # rows are taken as whole, adjacent vectors
        owned = R.copy()
        closure_by_components(owned, reflexive, threads, patience)
        width = -(-n // WORD)
        R.words[:, :width] = owned.words[:, :width]
        return
    room = _room(8 * stride)
    further = PackedRows.empty(n, n)
    r, t = R.words.ctypes.data, further.words.ctypes.data
    each = np.arange(n + 1)  # groups of one row

    panels = ranges(vectors, parts_worth(n * (vectors + n // WORD), threads))
    share(partial(transpose_unions, t, stride, r, stride, each, each, n), panels, threads)
    label, members, offsets, cyclic = strong_components(t, r, stride, n, room)  # of Rᵀ: its sources are the sinks of R
    count = len(offsets) - 1
    width = VECTOR * -(-count // PANEL)
    panels = ranges(vectors, parts_worth(n * (vectors + count // WORD), threads))
    share(partial(transpose_unions, t, width, r, stride, members, offsets, n), panels, threads)
    components = ranges(count, parts_worth(n * width // VECTOR, threads))
    share(partial(unite_rows, r, t, width, members, offsets), components, threads)
    rows_of_components(t, stride, r, count, label, room, patience, threads)
    vertices = ranges(n, parts_worth(n * vectors, threads))
    share(partial(unite_rows, r, t, stride, label, each), vertices, threads)
    if not reflexive:
        clear_diagonal(r, stride, cyclic)


def rows_of_components(
    rows: int, stride: int, edges: int, count: int, label: Any, room: int, patience: float | None, threads: int
) -> None:
    """Which vertices each strongly connected component reaches, itself included.

    Parameters
    ----------
    rows, stride : int
        Address of the result, a row for each component, and words of a row. All rows here are whole vectors.
    edges : int
        Address of the transposed matrix of edges between components, numbered sinks first. Its closure replaces it.
    count : int
        Components.
    label : ndarray of int64
        Component of every vertex.
    room : int
        Address of room for a row of `edges`.
    patience : float or None
        Vectors to unite for each look-up that four-Russians would take, before the rest is left to it. None: no limit.
    threads : int
    """
    n, width = len(label), VECTOR * -(-count // PANEL)
    lookups = count * width // VECTOR * -(-count // PIVOTS)
    budget = int(patience * lookups / threads) if patience is not None else np.iinfo(np.int64).max
    if not propagate(edges, width, count, budget, room):
        _close_by_tables(edges, width, count, True, threads)
    panels = ranges(width // VECTOR, parts_worth(n * count // WORD, threads))
    share(partial(transpose_unions, rows, stride, edges, width, label, np.arange(n + 1), count), panels, threads)


class BooleanKernel(BitsKernel):
    """The kernel interface over packed matrices; see `semiring.kernels.interface`.

    Parameters
    ----------
    threads : int, optional
        Threads of every operation; by default those of the process-wide setting.
    """

    tile = PANEL  #: columns of one vector: the whole diagonal block is worked on in the cache

    def __init__(self, threads: int | None = None):
        super().__init__()
        self.threads = thread_count(threads)

    @property
    def place(self) -> str:
        """The place of the computation, in words."""
        return cpu_place(self.threads)

    def multiply_add(self, C: PackedRows, A: PackedRows, B: PackedRows) -> None:
        """C ← C ⊕ A ⊗ B; C overlaps neither A nor B."""
        multiply(C, A, B, self.threads, accumulate=True)

    def multiply(self, C: PackedRows, A: PackedRows, B: PackedRows) -> None:
        """C ← A ⊗ B; C overlaps neither A nor B."""
        multiply(C, A, B, self.threads)

    def close(self, D: PackedRows) -> int:
        """D ← D*, the identity included; −1, since every star is defined."""
        transitive_closure(D, True, self.threads)
        return -1

    def close_plus(self, D: PackedRows) -> int:
        """D ← D⁺ = D ⊗ D*: what Warshall's algorithm leaves; −1."""
        transitive_closure(D, False, self.threads)
        return -1

    def diagonal(self, A: PackedRows, D: PackedRows) -> np.ndarray:
        """Whether any k has a_ik and d_ki."""
        used = A.used_words
        return np.asarray((A.words[:, :used] & transposed(D, self.threads).words[:, :used]).any(axis=1))


def _address(matrix: PackedRows) -> int:
    return matrix.words.ctypes.data


def _stride(matrix: PackedRows) -> int:
    rows, width = matrix.words.shape
    return matrix.words.strides[0] // 8 if rows > 1 and width else width


def _check_square(matrix: PackedRows) -> int:
    rows, columns = matrix.shape
    if rows != columns:
        raise SemiringError(f"only a square matrix has a closure, not one of shape {matrix.shape}")
    check_writable(matrix)
    return rows


def _room(size: int) -> int:
    """Address of scratch memory of this thread, at most `threads.KEEP_BYTES` bytes, until it asks again."""
    return scratch(size)[1]
