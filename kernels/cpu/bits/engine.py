"""Boolean matrices with one bit an entry on the CPU: packing, the four-Russians product, two transitive closures.

The unit of work is a *vector* of eight words: 512 columns of one row, one cache line. Compiled functions take
addresses and row strides (in words), so that a view, an owned matrix and a read-only one share one compiled
specialisation; the Python functions below them take `PackedRows` blocks and hand out the work to threads.

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

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from semiring.errors import SemiringError
from semiring.kernels.blocks.bits import WORD, AnyRows, PackedRows, row_words
from semiring.kernels.cpu.compile.pieces import ranges, share
from semiring.kernels.cpu.compile.threads import scratch, thread_count

from .loops import (
    CHUNK,
    PANEL,
    clear_diagonal,
    close_diagonal,
    multiply_rows,
    pack_rows,
    pick_rows,
    propagate,
    set_diagonal,
    strong_components,
    transpose_rows,
    unite_rows,
    unpack_rows,
)
from .vectors import PIVOTS, SUBSET, TABLES, VECTOR

TABLE_BYTES = 8 * VECTOR * (PIVOTS + (TABLES << SUBSET))  # the tables, and the rows that they are made from
MULTIPLY = 8 * VECTOR * 2 * CHUNK + TABLE_BYTES
CLOSE = 8 * VECTOR * PANEL + TABLE_BYTES
ENOUGH = 1 << 14  # steps (vectors or look-ups) that repay handing a part of the work to another thread
BUFFER_ROWS = 64  # rows converted at once where the entries are not adjacent bytes
SMALL = 768  # vertices up to which the four-Russians closure is the faster one whatever the edges are
UNIONS_A_LOOKUP = 0.6  # vectors united in half the time of a look-up, half the look-ups being of empty words


def pack(matrix: PackedRows, array: np.ndarray, threads: int | None = None) -> None:
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

    share(work, ranges(rows, parts), threads)


def unpack(matrix: PackedRows, out: np.ndarray, threads: int | None = None) -> None:
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

    share(work, ranges(rows, parts), threads)


def _as_bytes(array: np.ndarray) -> bool:
    """Whether the entries of a row are adjacent single bytes."""
    return array.dtype.itemsize == 1 and array.dtype.kind in "biu" and array.strides[1] == 1


def transpose(target: PackedRows, source: PackedRows, threads: int | None = None) -> None:
    """Fill an owned matrix with the transposed source."""
    rows, columns = source.shape
    to, width, origin, stride = _address(target), _stride(target), _address(source), _stride(source)

    def work(first: int, last: int) -> None:
        transpose_rows(to, width, origin, stride, rows, PANEL * first, min(PANEL * last, columns), _room(8 * WORD))

    share(work, ranges(-(-columns // PANEL), _parts(rows * columns // 64, threads)), threads)


def transposed(source: AnyRows, threads: int | None = None) -> AnyRows:
    """The transposed matrix, in words of its own."""
    result = type(source).empty(source.shape[1], source.shape[0])
    transpose(result, source, threads)
    return result


def multiply_add(C: PackedRows, A: PackedRows, B: PackedRows, threads: int | None = None) -> None:
    """C ← C ⊕ A ⊗ B by four-Russians tables; C overlaps neither A nor B."""
    _multiply(C, A, B, True, threads)


def multiply(C: PackedRows, A: PackedRows, B: PackedRows, threads: int | None = None) -> None:
    """C ← A ⊗ B by four-Russians tables; C overlaps neither A nor B."""
    _multiply(C, A, B, False, threads)


def _multiply(C: PackedRows, A: PackedRows, B: PackedRows, accumulate: bool, threads: int | None) -> None:
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
        )

    vectors = -(-words // VECTOR)
    parts = _parts(rows * vectors * -(-pivots // PIVOTS), threads)
    bands = ranges(rows, min(parts, max(1, rows // (CHUNK // 2))))
    panels = ranges(vectors, -(-parts // max(1, len(bands))))
    pieces = [(*band, VECTOR * left, min(VECTOR * right, words)) for band in bands for left, right in panels]
    share(work, pieces, threads)


def four_russians_closure(R: PackedRows, reflexive: bool = True, threads: int | None = None) -> None:
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
        share(panel, ranges(vectors, _parts(size * steps, threads)), threads)
        parts = min(_parts((n - size) * steps, threads), max(1, n // (CHUNK // 4)))
        above = ranges(k, -(-parts * k // n))
        below = ranges(n - k - size, parts - len(above))
        share(rest, above + [(k + size + top, k + size + bottom) for top, bottom in below], threads)
    if reflexive:
        set_diagonal(address, stride, n)


def closure_by_components(R: PackedRows, reflexive: bool = True, threads: int | None = None) -> None:
    """R ← R* (or R⁺) by strongly connected components and bit sets united along the condensation.

    Takes O(n² / 64) steps, and n / 64 more for each edge of the condensation's transitive reduction; room for two
    more matrices.
    """
    _close_components(R, reflexive, threads, None)


def transitive_closure(R: PackedRows, reflexive: bool = True, threads: int | None = None) -> None:
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


def _close_components(R: PackedRows, reflexive: bool, threads: int | None, patience: float | None) -> None:
    n = _check_square(R)
    if not _stride(R) == R.words.shape[1] == row_words(n):  # rows are taken as whole, adjacent vectors
        owned = R.copy()
        _close_components(owned, reflexive, threads, patience)
        width = -(-n // WORD)
        R.words[:, :width] = owned.words[:, :width]
        return
    stride = _stride(R)
    reverse = transposed(R, threads)
    label, members, offsets, cyclic = strong_components(_address(R), _address(reverse), stride, n, _room(8 * stride))

    def condensation() -> PackedRows:
        nonlocal reverse
        into = _unite(reverse, members, offsets, threads)  # [d, v]: v has an edge into component d
        del reverse  # as everywhere here, so that no more than two further matrices are alive
        out_of = transposed(into, threads)
        del into
        return _unite(out_of, members, offsets, threads)

    pick(R, rows_of_components(condensation, label, patience, threads), label, threads)
    if not reflexive:
        clear_diagonal(_address(R), stride, cyclic)


def rows_of_components(
    condensation: Callable[[], PackedRows], label: Any, patience: float | None, threads: int | None
) -> PackedRows:
    """Which vertices each strongly connected component reaches, itself included.

    Parameters
    ----------
    condensation : callable
        Makes the matrix of edges between components; all ascend. It is made here to be gone early.
    label : ndarray of int
        Component of every vertex.
    patience : float or None
        Vectors to unite for each look-up that four-Russians would take, before the rest is left to it. None: no limit.
    threads : int or None
    """
    Q = condensation()
    count = Q.shape[0]
    lookups = count * _stride(Q) // VECTOR * -(-count // PIVOTS)
    budget = int(patience * lookups / thread_count(threads)) if patience is not None else np.iinfo(np.int64).max
    if not propagate(_address(Q), _stride(Q), count, budget, _room(8 * _stride(Q))):
        four_russians_closure(Q, True, threads)
    sources = transposed(Q, threads)  # [d, c]: component c reaches d
    del Q
    reached = type(sources).empty(len(label), count)  # [v, c]: component c reaches v
    pick(reached, sources, label, threads)
    del sources
    return transposed(reached, threads)


class PackedKernel:
    """The operations that the schedules use, over `PackedRows` blocks.

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

    def multiply_add(self, C: PackedRows, A: PackedRows, B: PackedRows) -> None:
        """C ← C ⊕ A ⊗ B; C overlaps neither A nor B."""
        _multiply(C, A, B, True, self.threads)

    def multiply(self, C: PackedRows, A: PackedRows, B: PackedRows) -> None:
        """C ← A ⊗ B; C overlaps neither A nor B."""
        _multiply(C, A, B, False, self.threads)

    def left(self, D: PackedRows, R: PackedRows) -> None:
        """R ← D ⊗ R."""
        _multiply(R, D, R.copy(), False, self.threads)

    def right(self, C: PackedRows, D: PackedRows) -> None:
        """C ← C ⊗ D."""
        _multiply(C, C.copy(), D, False, self.threads)

    def close(self, D: PackedRows) -> int:
        """D ← D*, the identity included; −1, since every star is defined."""
        transitive_closure(D, True, self.threads)
        return -1

    def close_plus(self, D: PackedRows) -> int:
        """D ← D⁺ = D ⊗ D*: what Warshall's algorithm leaves; −1."""
        transitive_closure(D, False, self.threads)
        return -1


class BooleanKernel(PackedKernel):
    """The kernel interface over packed matrices; see `semiring.kernels.interface`."""

    align = 64

    def __init__(self) -> None:
        super().__init__(thread_count(None))

    @property
    def place(self) -> str:
        """Where it computes, in words."""
        return f"CPU, {self.threads} threads" if self.threads != 1 else "CPU, 1 thread"

    @property
    def unchecked(self) -> Self:
        """Itself: nothing on the host waits."""
        return self

    def closes_whole(self, n: int) -> bool:
        """Whether `close` is the best way to close a whole matrix of this order."""
        return True

    def add_one(self, A: PackedRows) -> None:
        """A ← 1 ⊕ A."""
        self.set_diagonal(A, np.ones(A.shape[0], bool))

    def like(self, A: PackedRows) -> PackedRows:
        """A packed matrix of the same shape."""
        return type(A).zeros(*A.shape)

    def equal(self, A: PackedRows, B: PackedRows) -> bool:
        """Whether both hold the same bits."""
        return bool(A == B)

    def assign(self, A: PackedRows, B: PackedRows) -> None:
        """A ← B."""
        used = -(-A.shape[1] // 64)
        A.words[:, :used] = B.words[:, :used]

    def diagonal(self, A: PackedRows, D: PackedRows) -> np.ndarray:
        """Whether any k has a_ik and d_ki."""
        used = -(-A.shape[1] // 64)
        return np.asarray((A.words[:, :used] & transposed(D, self.threads).words[:, :used]).any(axis=1))

    def set_diagonal(self, A: PackedRows, values: np.ndarray) -> None:
        """a_ii ← the values."""
        i = np.arange(A.shape[0])
        bit = np.uint64(1) << (i % 64).astype(np.uint64)
        word = A.words[i, i // 64]
        A.words[i, i // 64] = np.where(values, word | bit, word & ~bit)


def _unite(source: PackedRows, members: Any, offsets: Any, threads: int | None) -> PackedRows:
    groups, words = len(offsets) - 1, _stride(source)
    result = type(source).empty(groups, source.shape[1])
    to, origin = _address(result), _address(source)

    def work(first: int, last: int) -> None:
        unite_rows(to, origin, words, members, offsets, first, last)

    share(work, ranges(groups, _parts(len(members) * words // VECTOR, threads)), threads)
    return result


def pick(result: PackedRows, source: PackedRows, label: Any, threads: int | None) -> None:
    """Rows of the result ← the source rows that the labels name; all rows are whole vectors."""
    rows, words = len(label), _stride(source)
    to, origin = _address(result), _address(source)

    def work(first: int, last: int) -> None:
        pick_rows(to, origin, words, label, first, last)

    share(work, ranges(rows, _parts(rows * words // VECTOR, threads)), threads)


def _address(matrix: PackedRows) -> int:
    return matrix.words.ctypes.data


def _stride(matrix: PackedRows) -> int:
    rows, width = matrix.words.shape
    return matrix.words.strides[0] // 8 if rows > 1 and width else width


def _check_writable(matrix: PackedRows) -> None:
    if not matrix.words.flags.writeable:
        raise SemiringError("the packed matrix to write to is read-only; pass a copy()")


def _check_square(matrix: PackedRows) -> int:
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
