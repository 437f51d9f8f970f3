"""Sparse factors on the CPU: fronts eliminated and right-hand sides solved by code compiled for the semiring."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semiring.algebra.proofs import commutes
from semiring.kernels.cpu.compile import cache
from semiring.kernels.cpu.compile.program import Geometry, geometry, name_of, shared_source, text_of, unroll, words_of
from semiring.kernels.cpu.compile.rounds import Pace
from semiring.kernels.cpu.dense.choose import dense_kernel
from semiring.kernels.cpu.dense.operations import Operations, exchanged, operations
from semiring.kernels.cpu.dense.walk import TEMPLATE as BLOCKS
from semiring.kernels.interface import CloseFront, Report
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy.panels import move
from semiring.machine import threads

if TYPE_CHECKING:
    from semiring.algorithms.sparse.analysis import Analysis

TEMPLATE, SOLUTIONS = (Path(__file__).with_name(f"{name}_template.py") for name in ("fronts", "front_solutions"))
WIDTH = 64  # right-hand sides that are solved together, as a rule
NEAR = 11 << 18  # bytes of W that stay in a second-level cache well enough; half as many right-hand sides may do so
FAR = 16 << 20  # bytes of W beyond which it is better to take twice as many, and the panels half as often
BATCH = 4  # vertices whose weights are written together, in every row of the answer
KEEP_BYTES = 32 << 20  # bytes that the memory of a solve may have to be kept for the next
LARGE_ORDER = 320  # order of a front that the dense engine closes, with all threads
LARGE_PIVOTS = 64  # and the pivots that it must have
UNCUT_TERMS = 1 << 28  # terms of solutions that are done at once: some hundredths of a second, or one if ⊗ takes long
REPORTS = 50  # parts of the elimination that are reported, if anybody wants to know


@functools.lru_cache(256)
def exchanged_operations(lowering: Lowering) -> Operations:
    """The semiring with the elements of right-hand sides on the left of ⊗."""
    given = dense_kernel(lowering).program
    return operations(given if commutes(lowering.mul) else exchanged(given))


@functools.cache
def _sections() -> dict[str, str]:
    """The text of each section of the templates, by its heading."""
    headings = r"^# (Elimination|Solutions|Rows|Walks|Columns|Summaries)$"
    parts = re.split(headings, f"# Common\n{text_of(TEMPLATE)}{text_of(SOLUTIONS)}", flags=re.MULTILINE)
    return {"Common": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


@functools.lru_cache(256)
def _module(components: tuple[np.dtype, ...], section: str) -> ModuleType:
    """The compiled code for elements of one type, or of one size, and for one purpose."""
    return cache.load(*_source(components, section), shown=False)


def _source(components: tuple[np.dtype, ...], section: str) -> tuple[str, str]:
    """Name and text of the generated module."""
    sections = _sections()
    basic = text_of(BLOCKS).partition("\n@entry(")[0]
    own = sections["Common"] + ("" if section == "Elimination" else sections["Solutions"]) + sections[section]
    text = f"BATCH = {BATCH}\n{basic}\n{unroll(own, V=BATCH)}"
    return f"fronts_{section.lower()}_{name_of(components)}", shared_source(components, TEMPLATE, text)


def code(lowering: Lowering) -> list[cache.Function]:
    """The compiled functions of most closures, in the order in which a closure asks for them."""
    components, first, second = words_of(lowering.components), dense_kernel(lowering).operations, exchanged_operations
    return [
        *first.code("multiply", "close_pivots", "add_scattered"),
        cache.Function(*_source(components, "Elimination"), "eliminate", shown=False),
        *([] if second(lowering) is first else second(lowering).code("multiply")),
        cache.Function(*_source(components, "Rows"), "solve_rows", shown=False),
    ]


def seldom(lowering: Lowering) -> list[cache.Function]:
    """What columns and single elements need besides."""
    return [cache.Function(*_source(words_of(lowering.components), "Columns"), "turn", shown=False)]


def code_of_walks(lowering: Lowering) -> cache.Function:
    """The compiled function that walks back along a row."""
    return cache.Function(*_source(words_of(lowering.components), "Walks"), "walk_back", shown=False)


class Planes:
    """Memory for packed elements: a plane for each component (see raw.py).

    Parameters
    ----------
    components : tuple of dtype
    plane : int
        Number of elements.
    memory : uint8 array, optional
        Theirs, where they are there already; it begins at a multiple of `threads.ALIGNMENT` bytes.
    """

    def __init__(self, components: tuple[np.dtype, ...], plane: int, memory: np.ndarray | None = None):
        self.plane = plane
        sizes = [c.itemsize for c in components]
        room = np.empty(plane * sum(sizes) + threads.ALIGNMENT, np.uint8) if memory is None else memory
        skip = -room.ctypes.data % threads.ALIGNMENT if memory is None else 0
        self.bytes = room[skip : skip + plane * sum(sizes)]
        self.parts = []
        for component, size in zip(components, sizes, strict=True):
            self.parts.append(room[skip : skip + plane * size].view(component))
            skip += plane * size
        self.address = self.parts[0].ctypes.data if plane else room.ctypes.data

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.parts)

    def fill_from(self, array: np.ndarray) -> None:
        """Take the elements of a vector in storage."""
        for part, values in zip(self.parts, fields(array), strict=True):
            part[: len(array)] = values


def fields(array: np.ndarray) -> list[np.ndarray]:
    """The components of an array in storage."""
    return [array[f] for f in array.dtype.names] if array.dtype.names else [array]


class Layout(NamedTuple):
    """The layout of fronts and factors of one structure, for any weights; places are numbers of elements."""

    sizes: Geometry
    order: np.ndarray  # of each front
    panel_at: np.ndarray  # where the factors of each front begin, and behind the last
    pivot_at: np.ndarray  # where the diagonal of S* lies for each vertex
    update_at: np.ndarray  # on the stack: what each front leaves
    front_at: np.ndarray  # and the front itself
    top: int  # the most that the stack holds
    wide: int  # columns of the widest front, and a vector
    depth: int  # rows of the deepest one, and a tile


@functools.lru_cache(4)
def layout_of(analysis: Analysis, components: tuple[np.dtype, ...]) -> Layout:
    """The layout for elements of some components."""
    sizes, s, u = geometry(components), analysis.pivots, analysis.reach
    rows, order, owner = sizes.rows, s + u, analysis.owner
    padded, high = -(-s // rows) * rows, -(-u // rows) * rows
    panel_at = np.concatenate([[0], np.cumsum(padded * order + high * s)]).astype(np.int64)
    pivot_at = panel_at[owner] + (np.arange(analysis.n) - analysis.first[owner]) * (s[owner] + 1)
    update_at, front_at, top = analysis.stack_layout(sizes.lanes, rows)
    wide, deep = int(order.max(initial=0)), int((-(-order // rows) * rows).max(initial=0))
    return Layout(sizes, order, panel_at, pivot_at, update_at, front_at, top, wide + sizes.lanes, deep + rows)


class Fronts:
    """The factors of a sparse matrix whose elements a lowering stores as numbers or records.

    Parameters
    ----------
    analysis : Analysis
    lowering : Lowering
        Of kind "numba".
    thread_count : int, optional
        Default: as many as `semiring.machine.threads.thread_count` says.

    Attributes
    ----------
    pivots : ndarray, shape (n,)
        The diagonal of every S*, in the order of elimination: evidence of cycles that improve.
    panels : Planes
        Of all supernodes, to solve by rows.
    layout : Layout
        Where they lie.
    operations : Operations
        ⊕ and ⊗ in machine code.
    """

    def __init__(self, analysis: Analysis, lowering: Lowering, thread_count: int | None = None):
        self.analysis, self.lowering = analysis, lowering
        self._dense = dense_kernel(lowering)
        self.operations = self._dense.operations
        self._components = lowering.components
        self.layout = layout_of(analysis, self._components)
        self._words = words_of(self._components)
        self._sizes, self._panel_at, a = self.layout.sizes, self.layout.panel_at, analysis
        self._tree = a.first, a.pointer, a.boundary, a.parent, a.owner, a.lowest, self._panel_at
        self.threads = thread_count or threads.thread_count()
        self._free: list[np.ndarray] = []  # memory of solves, kept for the next
        self._turned: Planes | None = None  # the panels to solve by columns, once they were needed

    @functools.cached_property
    def _pace(self) -> Pace:
        """The time per term of solutions."""
        return Pace()

    @property
    def nbytes(self) -> int:
        """What the factors take."""
        return int(self._panel_at[-1]) * self._sizes.size

    def factor(self, values: np.ndarray, close: CloseFront, report: Report | None = None) -> int:
        """Eliminate all vertices; −1, or the place of the first without a star in the order of elimination.

        Parameters
        ----------
        values : ndarray in storage, shape (nnz,)
            The entries of the compressed rows that were analysed.
        close : callable
            Eliminates the pivots of a large front by dense operations, with all threads.
        report : callable, optional
            Called with the part of the elimination that is done, before each batch of fronts.
        """
        a, at, sizes = self.analysis, self.layout, self._sizes
        self._weights = Planes(self._components, len(values))
        self._weights.fill_from(values)
        self.panels = Planes(self._components, int(self._panel_at[-1]))
        self._turned = None
        memory = Planes(self._components, at.top)
        child, sibling = a.children
        large = (at.order >= LARGE_ORDER) & (a.pivots >= LARGE_PIVOTS) & (len(self._components) == 1)
        by_others = large.astype(np.int64)
        _scratch, workspace = threads.scratch(sizes.depth * 2 * (at.wide + sizes.lanes + sizes.rows) * sizes.size)
        state, eliminate = np.array([0, 0, -1]), _module(self._words, "Elimination").eliminate
        by = self.operations
        for end in self._batches(report):
            first = a.first[: end + 1]
            while state[0] < end:
                eliminate(
                    first, a.pointer, child, sibling, a.position, a.entry_pointer, a.entry, a.entry_row, a.entry_column,
                    at.update_at, at.front_at, at.panel_at, by_others, self._weights.address,
                    self._weights.plane, memory.address, memory.plane, self.panels.address, self.panels.plane,
                    workspace, state, by.multiply, by.close_pivots, by.add_scattered, by.constants, 1,
                )
                if state[2] >= 0:
                    return int(state[2])
                if state[0] < end:
                    number = int(state[0])
                    front = self._front(memory.parts[0], int(at.front_at[number]), int(at.order[number]))
                    close(front, int(a.pivots[number]), self._dense, int(a.first[number]))
                    state[1] = 1
        return -1

    def _batches(self, report: Report | None) -> Iterator[int]:
        """The ends of batches of fronts: of about equal work if progress is reported, else a single batch."""
        fronts = len(self.analysis.parent)
        if report is None:
            yield fronts
            return
        done = np.cumsum(self.analysis.pivots * self.layout.order.astype(float) ** 2)
        ends = np.unique(np.searchsorted(done, np.linspace(0, 1, REPORTS + 1)[1:] * done[-1:].sum()) + 1)
        for begin, end in pairwise([0, *ends.clip(max=fronts).tolist()]):
            report(float(done[begin - 1] / done[-1]) if begin else 0.0)
            yield end

    def _front(self, memory: np.ndarray, begin: int, n: int) -> np.ndarray:
        """A front as a matrix."""
        width = -(-n // self._sizes.lanes) * self._sizes.lanes
        return memory[begin : begin + n * width].reshape(n, width)[:, :n]

    def kept(self) -> tuple[int, np.ndarray]:
        """The rows for which panels are laid out, and their bytes."""
        return self._sizes.rows, self.panels.bytes

    def restore(self, values: np.ndarray, rows: int, panels: Sequence[np.ndarray]) -> None:
        """Take factors from elsewhere in place of eliminating.

        Parameters
        ----------
        values : ndarray in storage, shape (nnz,)
        rows : int
            For which panels are laid out.
        panels : sequence of ndarray
            Their components.
        """
        self._weights = Planes(self._components, len(values))
        self._weights.fill_from(values)
        self.panels = Planes(self._components, int(self._panel_at[-1]))
        self._turned = None
        move(self.analysis, panels, rows, self.panels.parts, self._sizes.rows, self.lowering.zero)

    @property
    def pivots(self) -> np.ndarray:
        result = np.empty(self.analysis.n, self.lowering.storage)
        for values, part in zip(fields(result), self.panels.parts, strict=True):
            values[...] = part[self.layout.pivot_at]
        return result

    def settle(self, vertices: np.ndarray) -> None:
        """Put 1 where rounding left something else on the diagonal of S*; vertices in the order of elimination."""
        for one, part in zip(self.lowering.one, self.panels.parts, strict=True):
            part[self.layout.pivot_at[vertices]] = one
        self._turned = None

    def rows(
        self, sources: np.ndarray, out: np.ndarray, *, reflexive: bool = True, settled: bool = False,
        targets: np.ndarray | None = None, ends: np.ndarray | None = None, thread_count: int | None = None,
    ) -> None:
        """Rows of the closure of some vertices.

        Parameters
        ----------
        sources : int64 array, shape (k,)
        out : ndarray in storage, shape (k, n) or (k, t)
            Takes the rows; the elements of each are adjacent.
        reflexive : bool
            Whether the empty walk counts.
        settled : bool
            Whether the diagonal of A* is known to be 1.
        targets : int64 array, shape (k,), optional
            Which row of `out` each source's goes to. Default: its own.
        ends : int64 array, shape (t,), optional
            Whose columns are wanted; what stands above none of them is left out. Default: all vertices.
        """
        a = self.analysis
        places = a.place[sources]
        together = np.argsort(places, kind="stable")
        width = self._width(len(sources), thread_count)
        columns = a.columns if not reflexive else (_NONE, _NONE, _NONE)
        first = fields(out)[0][None].view(self._words[0])
        where = together if targets is None else targets[together]
        asked = a.place if ends is None else a.place[ends]
        places = places[together]
        m, solve_rows = len(a.parent), _module(self._words, "Rows").solve_rows
        by = exchanged_operations(self.lowering)
        combine_entries = 0 if reflexive else by.combine_entries

        def work(begin: int, end: int, counter: int) -> None:
            with self._buffers(width) as (W, buffers):
                solve_rows(
                    self._tree, asked, places[begin:end], where[begin:end], *columns, first, self.panels.address,
                    self.panels.plane, self._weights.address, self._weights.plane, *W, *buffers, width, int(settled),
                    np.empty(m, np.int64), np.empty(m, np.int64), int(reflexive), counter, by.multiply,
                    combine_entries, by.constants, 1,
                )

        self._share(work, len(sources), width, thread_count)

    def walk(self, source: int, target: int, last_edge: int) -> tuple[np.ndarray, np.ndarray | None]:
        """A best walk, back from its target along the row of its source, which is computed where it is looked at.

        Parameters
        ----------
        source, target : int
        last_edge : int
            Address of the function that chooses an edge: see walks.py.

        Returns
        -------
        values : ndarray in storage, shape (2,)
            Of the row of A* at the source and at the target.
        edges : int64 array
            The numbers of the edges; None where the way back ends elsewhere.
        """
        a, by = self.analysis, exchanged_operations(self.lowering)
        out, count, m = self.lowering.empty((2,)), np.empty(1, np.int64), len(a.parent)
        edges, (pointer, tails, entries) = np.empty(a.n, np.int64), a.columns
        walk_back, width = _module(self._words, "Walks").walk_back, self._sizes.lanes
        with self._buffers(width) as (W, buffers):
            walk_back(
                self._tree, a.order, a.place[[source]], int(a.place[target]), pointer, tails, entries,
                fields(out)[0][None, None].view(self._words[0]), edges, self.panels.address, self.panels.plane,
                self._weights.address, self._weights.plane, *W, *buffers, width, np.empty(m, np.int64),
                np.empty(m, np.int64), count, by.multiply, last_edge, by.constants, 1,
            )
        return out, None if count[0] < 0 else entries[edges[: count[0]][::-1]]

    def summaries(self) -> np.ndarray | None:
        """For every vertex the total, number, least and most of its row of A*, but for the diagonal and zeros.

        Returns
        -------
        ndarray of float64, shape (n, 4)
            Or None where elements are not floats that are stored as they are.
        """
        if len(self._components) > 1 or self._components[0].kind != "f" or not self.lowering.is_identity:
            return None
        a, width = self.analysis, self._width(self.analysis.n, None)
        places, found = np.arange(a.n), np.empty((a.n, 4))
        m, summarise = len(a.parent), _module(self._components, "Summaries").summarise
        by = exchanged_operations(self.lowering)

        def work(begin: int, end: int, counter: int) -> None:
            with self._buffers(width) as (W, buffers):
                summarise(
                    self._tree, a.children[0], places[begin:end], np.empty((4, width)), found[begin:end],
                    self.panels.address, self.panels.plane, *W, *buffers, width, np.empty(m, np.int64), counter,
                    by.multiply, by.constants, 1,
                )

        self._share(work, a.n, width, None)
        return found[a.place]

    def by_columns(self) -> Planes:
        """The panels to solve by columns."""
        if self._turned is not None:
            return self._turned
        panels = Planes(self._components, self.panels.plane)
        a = self.analysis
        turn = _module(self._words, "Columns").turn
        turn(
            a.first, a.pointer, self._panel_at, self.panels.address, panels.address, panels.plane,
            self.operations.constants,
        )
        self._turned = panels
        return panels

    def columns(self, B: np.ndarray, thread_count: int | None = None) -> None:
        """B ← A* B, in storage."""
        self._solve(B, self.by_columns(), self.operations, 2, thread_count)

    def left(self, B: np.ndarray) -> None:
        """B ← B A*, in storage: as columns of which the elements stand on the left of ⊗."""
        self._solve(B, self.panels, exchanged_operations(self.lowering), 1, None)

    def _solve(self, B: np.ndarray, panels: Planes, by: Operations, axis: int, thread_count: int | None) -> None:
        """Right-hand sides, side by side along an axis of B after the planes: up the tree, and down again."""
        a, count = self.analysis, B.shape[axis - 1]
        width, solve_columns = self._width(count, thread_count), _module(self._words, "Columns").solve_columns
        first = fields(B)[0][None].view(self._words[0]).swapaxes(axis, 2)

        def work(begin: int, end: int, counter: int) -> None:
            with self._buffers(width) as (W, buffers):
                solve_columns(
                    self._tree, a.order, first[:, :, begin:end], panels.address, panels.plane, *W, *buffers, width,
                    counter, by.multiply, by.constants, 1,
                )

        self._share(work, count, width, thread_count)

    def _width(self, count: int, thread_count: int | None) -> int:
        """Right-hand sides of a chunk: few are shared out among the threads."""
        lanes = self._sizes.lanes
        size = WIDTH * self.analysis.n * self._sizes.size
        width = 2 * WIDTH if size > FAR else WIDTH // 2 if size // 2 <= NEAR < size else WIDTH
        share = -(-count // (thread_count or self.threads))
        return max(min(-(-share // lanes), -(-width // lanes)), 1) * lanes

    @contextmanager
    def _buffers(self, width: int) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        """Address and plane of W, and of two buffers for the rows of a front; for one thread at a time."""
        sizes = self._sizes
        w_plane, plane = (self.analysis.n + sizes.rows) * width, self.layout.depth * width
        begin = w_plane * sizes.size  # aligned too: `width` elements are whole vectors
        need = begin + 2 * plane * sizes.size + threads.ALIGNMENT
        try:
            memory = self._free.pop()
        except IndexError:
            memory = np.empty(0, np.uint8)
        if memory.size < need:
            memory = np.empty(need, np.uint8)
        address = -(-memory.ctypes.data // threads.ALIGNMENT) * threads.ALIGNMENT
        yield (address, w_plane), (address + begin, plane)
        if memory.size <= KEEP_BYTES:
            self._free.append(memory)

    def _share(
        self, work: Callable[[int, int, int], None], count: int, width: int, thread_count: int | None
    ) -> None:
        """Call a function with ranges of so many right-hand sides, on the threads, which share the chunks of a range.

        There is one range where that is short work. Else threads wait for each other between two ranges, each of which
        takes a fraction of a second.
        """
        chunks, terms, most = -(-count // width), int(self._panel_at[-1]) * width, thread_count or self.threads
        ranges: Iterable[tuple[int, int]] = [(0, chunks)]
        if chunks * terms > UNCUT_TERMS:
            work(0, 0, 0)  # compiles before anything is timed
            ranges = self._pace.rounds(np.arange(chunks + 1), terms, least=most)
        for first, last in ranges:
            helpers, counter = min(most, last - first) - 1, np.zeros(1, np.int64)
            begin, end = first * width, min(last * width, count)
            if helpers < 1:
                work(begin, end, 0)
            else:
                threads.pool.run(functools.partial(work, begin, end, counter.ctypes.data), helpers)


_NONE = np.zeros(0, np.int64)
