"""Sparse factors on the GPU, level by level of the tree of supernodes, and solutions; fronts.cu has the kernels.

Fronts that fit in shared memory are eliminated by a block of threads each, all of a height in one launch; larger ones
by dense operations. Solutions go up and down with many right-hand sides at once, so that a launch for each level is
little beside what it moves: every element of the answer is written once on its way down, in the order of elimination,
and once where its row and column belong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.kernels.cuda.compile.launch import Function, copy_rows, multiprocessors, total_memory
from semiring.kernels.cuda.compile.streams import MOST_URGENT, marked, waits_for
from semiring.kernels.cuda.dense.engine import CudaKernel
from semiring.kernels.cuda.lowering import CudaLowering
from semiring.kernels.interface import CloseFront, Report

from .front_code import ASSEMBLERS, LONGEST, MOST, SQUARE, TOGETHER, begin_large, function
from .front_structure import Structure
from .pieces import Pieces, chosen, geometry

if TYPE_CHECKING:
    from semiring.algorithms.sparse.analysis import Analysis

BLOCKS = 8  # of threads, for each multiprocessor, that a level should have
MOST_SHARED = 224 << 10  # bytes of a front that is eliminated in shared memory
WIDE = 48 << 10  # and from how many bytes on more threads do it
SHARED = (24 << 10, 48 << 10, 96 << 10, MOST_SHARED)  # sizes of shared memory that blocks are launched with
SLAB = 4 << 30  # bytes of right-hand sides that go up and down together, about: launches take the host long enough
SHARE = 16  # but no more than one byte in so many of the device
KEPT = 64 << 20  # bytes of the chunks of a range that are kept with the structure, at most
PARTS = 64  # ranges of vertices that are summed up apart
NONE = np.iinfo(np.int32).max  # of a vertex without a star


def slab() -> int:
    """Bytes of right-hand sides that go up and down together on the current device, about."""
    return min(SLAB, total_memory() // SHARE)


def memory_of(analysis: Analysis, size: int) -> tuple[int, int]:
    """Bytes of the factors, and of what elimination and solutions need besides, for elements of so many bytes."""
    s, u = analysis.pivots, analysis.reach
    return int((s * (s + 2 * u)).sum()) * size, max(int((u * u).sum()) * size, 2 * min(slab(), analysis.n**2 * size))


@dataclass(frozen=True)
class Chunk:
    """Right-hand sides that go up and down together, on the device; `width` of them with those that fill up."""

    count: int
    width: int
    spans: Any  # int32, where those of each supernode begin and end
    levels: list[tuple[int, int]]  # of the pieces that something rises through
    parts: Any  # these pieces
    touched: Any  # int32: supernodes that something comes to
    sources: Any  # int32, shape (count,), or None

    @property
    def nbytes(self) -> int:
        """What it takes on the device."""
        return sum(part.nbytes for part in (self.spans, self.parts, self.touched, self.sources))


class DeviceFronts:
    """The factors of a sparse matrix in a GPU's memory; see `semiring.kernels.interface.FrontEngine`.

    Values, right-hand sides and answers are CuPy arrays in storage. All work goes to the current stream, and nothing
    waits but `factor`, where a star may be missing.

    Parameters
    ----------
    structure : Structure
    lowering : CudaLowering
    """

    threads = 1

    def __init__(self, structure: Structure, lowering: CudaLowering):
        self.structure, self.lowering, self.analysis = structure, lowering, structure.analysis
        self.dense = CudaKernel(lowering)
        self._size = lowering.storage.itemsize
        self._geometry = geometry(self.dense.size, self.dense.program.light)
        self._lanes = self._geometry.LANES

    @property
    def nbytes(self) -> int:
        """What the factors take."""
        return self.structure.elements * self._size

    # Elimination

    def factor(self, values: Any, close: CloseFront, report: Report | None = None) -> int:
        """Eliminate all vertices; −1, or the place of a vertex without a star in the order of elimination.

        Parameters
        ----------
        values : CuPy array in storage, shape (nnz,)
        close : callable
            Eliminates the pivots of a front that does not fit in shared memory by dense operations.
        report : callable, optional
            Called with the part of the elimination that has been launched.
        """
        import cupy

        at = self.structure
        self._values = values
        self._panels = cupy.empty(at.elements, self.lowering.storage)
        updates = cupy.empty(int(at.update_at[-1]), self.lowering.storage)
        failed = cupy.asarray(np.full(1, NONE, np.int32))
        bytes_needed = at.order * ((at.order | 1) + 2 * TOGETHER) * self._size
        by_height = np.lexsort((bytes_needed, at.height))
        ends = np.searchsorted(at.height[by_height], np.arange(at.height.max(initial=-1) + 2))
        fronts = cupy.asarray(by_height.astype(np.int32))
        if (large := bytes_needed > SHARED[-1]).any():
            begin_large(self.lowering, tuple(zip(
                self.analysis.pivots[large].tolist(), self.analysis.reach[large].tolist(), strict=True)))
        shared = (
            at.child, at.sibling, at.position, at.entry_pointer, at.entry, at.entry_row, at.entry_column, values,
            at.updates, updates,
        )
        for begin, end in pairwise(ends.tolist()):
            if report is not None:
                report(begin / len(by_height))
            lower = begin
            for room in SHARED:
                upper = begin + int(np.searchsorted(bytes_needed[by_height[begin:end]], room, side="right"))
                if upper > lower:
                    self._function("eliminate", MOST if room > WIDE else SQUARE, shared=room)(
                        upper - lower, 1, fronts.data.ptr + 4 * lower,
                        *_addresses(at.first, at.pointer, *shared, at.tops, at.lows, self._panels, failed),
                    )
                lower = upper
            for number in by_height[lower:end].tolist():
                self._eliminate_large(number, shared, updates, close)
        first = NONE if self.dense.always_defined else int(failed.get()[0])
        return -1 if first == NONE else first

    def _eliminate_large(self, number: int, shared: tuple[Any, ...], updates: Any, close: CloseFront) -> None:
        a, at = self.analysis, self.structure
        s, n = int(a.pivots[number]), int(at.order[number])
        F = self.lowering.empty((n, n))
        self.dense.clear(F)
        self._function("assemble", ASSEMBLERS)(
            1, 1, number, *_addresses(F, at.first, at.pointer, *shared)
        )
        close(F, s, self.dense, int(a.first[number]))
        top, low, left = (int(x[number]) for x in (at.top_at, at.low_at, at.update_at))
        for part, target, begin in (
            (F[:s], self._panels, top), (F[s:, :s], self._panels, low), (F[s:, s:], updates, left),
        ):
            if part.size:
                across = part.shape[1] * self._size
                copy_rows(target.data.ptr + begin * self._size, part.data.ptr, n * self._size, across, len(part))

    @property
    def pivots(self) -> np.ndarray:
        """The diagonal of every S*, in the order of elimination, on the host."""
        import cupy

        with self._panels.device:  # a launch reaches the current one's memory
            found: np.ndarray = self.dense.pick(self._panels, cupy.asarray(self.structure.pivot_at)).get()
        return found

    def settle(self, vertices: np.ndarray) -> None:
        """Put 1 on the diagonal of S*; vertices in the order of elimination."""
        import cupy

        places = cupy.asarray(self.structure.pivot_at[vertices])
        self._panels[places] = cupy.asarray(np.asarray(self.lowering.unit, self.lowering.storage))

    # Solutions

    def rows(
        self, sources: np.ndarray, out: Any, *, reflexive: bool = True, settled: bool = False,
        targets: np.ndarray | None = None, ends: np.ndarray | None = None, thread_count: int | None = None,
    ) -> None:
        """Rows of A*, or of A⁺; of some columns, if `ends` says which.

        Parameters
        ----------
        sources : int64 array, shape (k,)
        out : CuPy array in storage, shape (k, n) or (k, t)
        reflexive, settled, targets, ends
            As for `semiring.kernels.cpu.sparse.fronts.Fronts.rows`.
        """
        import cupy

        a, at = self.analysis, self.structure
        places = a.place[sources]
        together = np.argsort(places, kind="stable")
        where = cupy.asarray(together if targets is None else targets[together])
        columns, falling, parts = at.place, at.falling, at.all_falling
        if ends is not None:
            columns = cupy.asarray(a.place[ends].astype(np.int32))
            looked_at = a.place[ends] if reflexive else np.concatenate([a.place[ends], self._before(places)])
            falling = chosen(falling, a.above(looked_at))
            parts = cupy.asarray(falling.parts)
        tile = self._geometry

        def spread(begin: int, chunk: Chunk, X: Any) -> None:
            if not reflexive:
                self._launch("cycles", -(-chunk.width // LONGEST), 1, chunk, chunk.sources, chunk.count,
                             *at.columns, self._values, X, chunk.width)
            self._function("spread", SQUARE)(
                -(-len(columns) // tile.ENDS), -(-chunk.count // tile.SOURCES), X.data.ptr, chunk.width,
                columns.data.ptr, len(columns), chunk.sources.data.ptr, where[begin:].data.ptr, chunk.count,
                out.data.ptr, out.strides[0] // self._size, int(settled and reflexive),
            )

        if len(places) > self._together(len(places)):
            self._ahead(places[together], falling, parts, spread)
            return
        step = self._together(len(places))
        begin = 0
        for chunk, X in self._solved(self._chunks(places[together], step), step, falling, parts):
            spread(begin, chunk, X)
            begin += chunk.count

    def _before(self, places: np.ndarray) -> np.ndarray:
        """The tails of the edges into some vertices, all in the order of elimination."""
        pointer, rows, _ = self.analysis.columns
        return np.concatenate([rows[:0], *(rows[pointer[v] : pointer[v + 1]] for v in places.tolist())])

    def _solved(
        self, chunks: Iterable[Chunk], step: int, falling: Pieces, parts: Any
    ) -> Iterator[tuple[Chunk, Any]]:
        """Rows of the sources of chunks, of at most `step` each: the chunk, and X, in which the next one will be."""
        memory = self._memory(step)
        for chunk in chunks:
            W, X = (m[: self.analysis.n * chunk.width] for m in memory)
            self._solve(chunk, W, X, falling, parts)
            yield chunk, X

    def _chunks(self, places: np.ndarray, step: int) -> Iterator[Chunk]:
        """Sources in the order of elimination, so many at once."""
        spans = np.stack(self.analysis.spans(places), axis=1)
        for begin in range(0, len(places), step):
            some = places[begin : begin + step]
            yield self._chunk(some, np.clip(spans - begin, 0, len(some)))

    def _range(self, first: int, last: int, step: int) -> Iterator[Chunk]:
        """The same for a range of vertices, whose chunks are kept: threads of several GPUs would wait for each other.

        Making a chunk takes the host about as long as launching its work.
        """
        at, key = self.structure, (first, last, step, self._lanes)
        if at.range is not None and at.range[0] == key:
            _, mark, chunks = at.range
            waits_for(mark)
            yield from chunks
            return
        made, size = [], 0
        for chunk in self._chunks(np.arange(first, last), step):
            size += chunk.nbytes
            if size <= KEPT:
                made.append(chunk)
            yield chunk
        if size <= KEPT:
            at.range = key, marked(), made

    def _ahead(
        self, places: np.ndarray, falling: Pieces, parts: Any, use: Callable[[int, Chunk, Any], None]
    ) -> None:
        """Rows of many sources: an urgent stream finds a chunk while the current one uses the one before.

        Solving keeps the multiprocessors busy, and writing rows keeps the memory busy.
        """
        step, n, urgent = self._together(len(places), 3), self.analysis.n, self._urgent
        W, *rooms = self._memory(step, 3)
        used: list[Any] = [marked(), None]
        chunks, kept = self._chunks(places, step), []
        try:
            for turn, begin in enumerate(range(0, len(places), step)):
                X = rooms[turn % 2]
                with urgent:
                    if (mark := used[turn % 2]) is not None:
                        waits_for(mark)
                    chunk = next(chunks)
                    kept.append(chunk)
                    self._solve(chunk, W, X[: n * chunk.width], falling, parts)
                    found = marked()
                waits_for(found)
                use(begin, chunk, X)
                used[turn % 2] = marked()
        finally:  # each stream may go on with memory that the other has used
            with urgent:
                for mark in filter(None, used):
                    waits_for(mark)
                last = marked()
            waits_for(last)

    @cached_property
    def _urgent(self) -> Any:
        """A stream of the current device whose launches go before those of others."""
        import cupy

        return cupy.cuda.Stream(non_blocking=True, priority=MOST_URGENT)

    def _solve(self, chunk: Chunk, W: Any, X: Any, falling: Pieces, parts: Any) -> None:
        """X ← the rows of a chunk."""
        threads = self._threads(chunk)
        self._function("begin", threads)(
            len(chunk.touched), chunk.width // (threads * self._lanes),
            *_addresses(chunk.touched, self.structure.first, chunk.sources, chunk.count, W, chunk.width),
        )
        self._climb(chunk, W, X)
        self._descend(chunk, X, falling, parts)

    def _together(self, count: int, buffers: int = 2) -> int:
        """Right-hand sides of a chunk, in whole blocks of threads, where so many buffers share two slabs."""
        fit = 2 * slab() // max(buffers * self.analysis.n * self._size, 1)
        return self._padded(max(min(fit, count), 1))

    def _memory(self, step: int, buffers: int = 2) -> list[Any]:
        import cupy

        return [cupy.empty(self.analysis.n * step, self.lowering.storage) for _ in range(buffers)]

    def _chunk(self, places: np.ndarray, spans: np.ndarray) -> Chunk:
        """Sources in the order of elimination, and which of them are below each supernode; copied at once."""
        import cupy

        touched = spans[:, 0] < spans[:, 1]
        rising = chosen(self.structure.rising, touched)
        lists = spans.ravel(), rising.parts.ravel(), np.flatnonzero(touched), places
        ends = np.cumsum([len(some) for some in lists])
        held = np.empty(ends[-1], np.int32)
        for some, end in zip(lists, ends.tolist(), strict=True):
            held[end - len(some) : end] = some
        there = cupy.asarray(held)
        a, b, c = ends[:3].tolist()
        levels = rising.levels
        return Chunk(len(places), self._padded(len(places)), there[:a], levels, there[a:b], there[b:c], there[c:])

    def _padded(self, count: int) -> int:
        """So many right-hand sides and those that fill up blocks of threads."""
        unit = self._lanes * (LONGEST if count > 32 * self._lanes else 32)
        return -(-count // unit) * unit

    def _threads(self, chunk: Chunk) -> int:
        """The threads of a block."""
        return min(LONGEST, chunk.width // self._lanes)

    def _climb(self, chunk: Chunk, W: Any, X: Any) -> None:
        """Up the tree, for rows."""
        climb = self._walk("up", chunk, chunk.parts, (W, X, W))
        for begin, end in chunk.levels:
            climb(begin, end)

    def _climb_by_columns(self, chunk: Chunk, W: Any, X: Any, Y: Any) -> None:
        """Up the tree, for columns: what children left is collected before."""
        at, threads = self.structure, min(LONGEST, chunk.width)
        climb, collect = self._walk("up", chunk, chunk.parts, (W, X, Y), True), self._function("collect", threads)
        shared = _addresses(at.first, at.pointer, at.child, at.sibling, at.position, W, Y, chunk.width)
        for (first, last), (begin, end) in zip(pairwise(at.rising_bounds.tolist()), chunk.levels, strict=True):
            collect(last - first, chunk.width // threads, at.rising_fronts.data.ptr + 4 * first, *shared)
            climb(begin, end)

    def _descend(self, chunk: Chunk, X: Any, falling: Pieces, parts: Any, by_columns: bool = False) -> None:
        """Down the tree."""
        descend = self._walk("down", chunk, parts, (X,), by_columns)
        for begin, end in falling.levels:
            descend(begin, end)

    def _walk(
        self, name: str, chunk: Chunk, parts: Any, memory: tuple[Any, ...], by_columns: bool = False
    ) -> Callable[[int, int], None]:
        """What launches a kernel for the pieces of a level."""
        at, threads = self.structure, self._threads(chunk)
        walk, across = self._function(name, threads, by_columns), chunk.width // (threads * self._lanes)
        enough = BLOCKS * multiprocessors()
        shared = _addresses(
            at.first, at.pointer, at.boundary, at.tops, at.lows, self._panels, *memory, chunk.width, chunk.spans
        )

        def launch(begin: int, end: int) -> None:
            if begin < end:
                blocks = min(across, -(-enough // (end - begin)))  # which go on with what others have not
                walk(end - begin, blocks, parts.data.ptr + 8 * begin, *shared)

        return launch

    def _function(self, name: str, threads: int, by_columns: bool = False, shared: int = 0) -> Function:
        return function(self.lowering, name, threads, by_columns, shared)

    def _launch(self, name: str, across: int, down: int, chunk: Chunk, *arguments: Any) -> None:
        self._function(name, LONGEST)(across, down, *_addresses(*arguments))

    def summaries(self) -> Any:
        """For every vertex the total, number, least and most of its row of A*, but for the diagonal and zeros.

        Returns
        -------
        CuPy array of float64, shape (n, 4)
            Or None where elements are not numbers that are stored as they are.
        """
        found = self.summarised(0, self.analysis.n)
        return None if found is None else found[self.structure.place]

    def summarised(self, first: int, last: int) -> Any:
        """The same for a range of vertices in the order of elimination, in which they come; shape (last − first, 4)."""
        import cupy

        low = self.lowering
        if len(low.components) > 1 or low.components[0].kind not in "fiu" or not low.is_identity:
            return None
        a, at, count = self.analysis, self.structure, last - first
        step = self._together(count)
        result, rows, begin = cupy.empty((count, 4)), -(-a.n // PARTS), 0
        found = cupy.empty(PARTS * 4 * step)
        for chunk, X in self._solved(self._range(first, last, step), step, at.falling, at.all_falling):
            across = -(-chunk.width // LONGEST)
            self._launch("summarise", across, PARTS, chunk, X, a.n, chunk.width, chunk.sources, chunk.count, rows,
                         found)
            self._launch("unite", across, 1, chunk, found, -(-a.n // rows), chunk.width, chunk.count, result[begin:])
            begin += chunk.count
        return result

    def columns(self, B: Any, thread_count: int | None = None) -> None:
        """B ← A* B, in storage."""
        import cupy

        a, at, many = self.analysis, self.structure, B.shape[1]
        if not B.size:
            return
        step = self._together(many)
        memory, left = self._memory(step), self.lowering.empty((max(len(a.boundary), 1) * step,))
        rising = cupy.asarray(at.rising.parts)
        for begin in range(0, many, step):
            count = min(step, many - begin)
            width = self._padded(count)
            everywhere = cupy.asarray(np.tile(np.array([0, width], np.int32), (len(a.parent), 1)))
            chunk = Chunk(count, width, everywhere, at.rising.levels, rising, None, None)
            (W, X), Y = (m[: a.n * width] for m in memory), left[: len(a.boundary) * width]
            some = B[:, begin : begin + count]
            ld = B.strides[0] // self._size
            shape = a.n, -(-width // LONGEST)
            self._launch("take_in", *shape, chunk, at.by_place, some, ld, count, W, width)
            self._climb_by_columns(chunk, W, X, Y)
            self._descend(chunk, X, at.falling, at.all_falling, True)
            self._launch("hand_out", *shape, chunk, at.by_place, X, width, some, ld, count)


def _addresses(*values: Any) -> list[int]:
    """Arguments of a launch: integers as they are, arrays by where they begin."""
    return [v if isinstance(v, int) else v.data.ptr for v in values]
