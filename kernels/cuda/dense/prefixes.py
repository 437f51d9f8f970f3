"""All prefixes along an axis of an array on the device; prefixes.cu has the kernels.

    x   with its axes in the order of memory
      → lines, or rows        one launch, if there are many
      → or totals of chunks   of a long line, or of few columns, by folds.cu
        → their prefixes
        → chunks              each with what stands before it

The order of operands is kept, and how an array is cut depends on its shape and on the device alone: each call has the
same bits.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from semiring.kernels.cuda.compile.folds import fold_source, prefix_geometry
from semiring.kernels.cuda.compile.launch import Function, Module, memory, multiprocessors

from .exchange import Report
from .folds import FULL, LINE, PARTS, RUNS, Group, folds, joined, power_of_two

if TYPE_CHECKING:
    from semiring.kernels.cuda.lowering import CudaLowering

WAVES = 8  # blocks for each multiprocessor that share a long line
LEAST_TILES = 4  # of a chunk of a line
LEAST_ROWS = 64  # of a chunk of columns
MOST_TILES = 64  # that follow one another, if ∘ rounds
OUTER = 2  # groups of axes above rows, or above the lines that lie together


class Prefixes:
    """The prefixes over ⊕ or ⊗ of a lowering; parameters as of `Folds`.

    Parameters
    ----------
    low : CudaLowering
    op : {"add", "mul"}
    looks : bool
    """

    def __init__(self, low: CudaLowering, op: str, looks: bool):
        self.folds = folds(low, op, looks)
        self.geometry = prefix_geometry(self.folds.geometry, low.storage.itemsize, self.folds.part)

    def along(self, x: Any, axis: int, found: Report | None = None) -> Any:
        """All prefixes along an axis of an array that is not empty.

        Parameters
        ----------
        x : cupy.ndarray
            Of the data's dtype, or of that of storage.
        axis : int
        found : Report, optional
            As for `Folds.along`.

        Returns
        -------
        cupy.ndarray
            Of the same shape, in memory of its own, in any order of axes.
        """
        import cupy

        if found:
            found.clear()
        order = sorted(range(x.ndim), key=lambda a: -abs(x.strides[a]))
        given, at = x.transpose(order), order.index(axis)
        out = cupy.empty(given.shape, self.folds.dtype)
        above, below = (joined([Group(given.shape[a], given.strides[a]) for a in some if given.shape[a] > 1])
                        for some in (range(at), range(at + 1, x.ndim)))
        if len(below) > 1 or len(above) > OUTER + (not below):
            return self.along(cupy.ascontiguousarray(x), axis, found)
        run = self._rows if below else self._lines
        run(given, Group(given.shape[at], given.strides[at]), above, below, out, found.host if found else 0)
        return out.transpose([order.index(a) for a in range(x.ndim)])

    def _lines(self, x: Any, terms: Group, above: list[Group], _: list[Group], out: Any, report: int) -> None:
        (n_0, s_0), (n_1, s_1), (n_2, s_2) = (above[::-1] + [Group(1, 0)] * 3)[:3]
        g, place, lines = self.geometry, x.data.ptr, n_0 * n_1 * n_2
        size, run = x.itemsize, g.VECTOR * x.itemsize
        whole = terms.stride == size and g.VECTOR > 1 and not (place | s_0 | s_1 | s_2 | out.data.ptr) % run
        whole = whole and (lines == 1 or not terms.length % g.VECTOR)
        lanes = min(LINE, g.THREADS, power_of_two(-(-terms.length // g.ITEMS)))
        while lanes < g.THREADS and lines * lanes < multiprocessors() * FULL and lanes * g.ITEMS < terms.length:
            lanes *= 2
        while self.folds.rounds and lanes < g.THREADS and MOST_TILES * lanes * g.ITEMS < terms.length:
            lanes *= 2
        blocks, tile = -(-lines // (g.THREADS // lanes)), lanes * g.ITEMS
        count = max(min(multiprocessors() * WAVES // blocks, terms.length // (tile * LEAST_TILES)), 1)
        count = max(count, -(-terms.length // (tile * MOST_TILES)) if self.folds.rounds else 1)
        chunk = -(-terms.length // (count * tile)) * tile
        parts = -(-terms.length // chunk)
        at, how, kept = (n_0, s_0, n_1, s_1, s_2), RUNS * whole, None
        if parts > 1:
            kept, wide = memory((parts - 1) * lines * self.folds.part), self.folds.geometry.THREADS
            over = -(-lines // (wide // lanes))
            self.folds.function("fold_lines")(
                over * (parts - 1), 1, place, terms.stride, terms.length, chunk, lines, *at, lanes, kept.ptr,
                PARTS | how, report,
            )
            self._scan_parts(kept, parts - 1, lines, report)
        self._function("scan_lines")(
            blocks * parts, 1, place, terms.stride, terms.length, chunk, lines, *at, lanes, out.data.ptr,
            0 if kept is None else kept.ptr, how, report,
        )

    def _rows(
        self, x: Any, terms: Group, above: list[Group], below: list[Group], out: Any, report: int
    ) -> None:
        (n_1, s_1), (n_2, s_2) = (above[::-1] + [Group(1, 0)] * OUTER)[:OUTER]
        ((columns, s_0),) = below
        g, place, outer = self.geometry, x.data.ptr, n_1 * n_2
        run = g.VECTOR * x.itemsize
        whole = s_0 == x.itemsize and g.VECTOR > 1 and not (place | terms.stride | s_1 | s_2 | out.data.ptr) % run
        whole = whole and not columns % g.VECTOR
        unit = g.VECTOR if whole else 1
        strips = -(-columns // (g.THREADS * unit))
        few = multiprocessors() * FULL // (columns // unit * outer)
        count = max(min(few, terms.length // LEAST_ROWS), 1)
        count = max(count, -(-terms.length // (g.ITEMS // unit * MOST_TILES)) if self.folds.rounds else 1)
        chunk = -(-terms.length // count)
        parts = -(-terms.length // chunk)
        at, how, kept = (columns, s_0, n_1, s_1, outer, s_2), RUNS * whole, None
        if parts > 1:
            kept = memory((parts - 1) * outer * columns * self.folds.part)
            across = min(LINE, power_of_two(columns // unit))
            over = -(-columns // (across * unit))
            self.folds.function("fold_rows")(
                over * outer * (parts - 1), 1, place, terms.stride, terms.length, chunk, *at, across, kept.ptr,
                PARTS | how, report,
            )
            self._scan_parts(kept, parts - 1, outer * columns, report)
        self._function("scan_rows")(
            strips * outer * parts, 1, place, terms.stride, terms.length, chunk, *at, out.data.ptr,
            0 if kept is None else kept.ptr, how, report,
        )

    def _scan_parts(self, kept: Any, parts: int, columns: int, report: int) -> None:
        across = min(LINE, power_of_two(columns), self.geometry.THREADS)
        while across > 1 and parts * across > MOST_TILES * self.geometry.THREADS:
            across //= 2
        self._function("scan_parts")(-(-columns // across), 1, kept.ptr, parts, columns, across, report)

    @lru_cache(8)  # noqa: B019 (kernels live as long as the process)
    def _function(self, name: str) -> Function:
        return self._module.function(name, self.geometry.THREADS)

    @cached_property
    def _module(self) -> Module:
        f = self.folds
        return Module(fold_source(f.low, f.op, self.geometry, f.looks, f.ordered, "prefixes"))


_made: dict[tuple[Any, str, bool], Prefixes] = {}


def prefixes(low: CudaLowering, op: str, looks: bool) -> Prefixes:
    """The kernels of a lowering; threads share them."""
    key = low, op, looks
    return _made.get(key) or _made.setdefault(key, Prefixes(low, op, looks))
