"""The CPU engine: products and small closures over any semiring whose operations compile.

`CpuKernel` walks over tiles (walk.py) with the compiled operations of an algebra (operations.py), on blocks: 2-D views
in any order, in place. Numba is imported when the first operation runs, not before.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from semiring.kernels.cpu.compile.cache import Function
from semiring.kernels.cpu.compile.program import (
    Geometry,
    Program,
    geometry,
    program,
    round_up,
    words_of,
)
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy.dense import ArrayBlocks
from semiring.kernels.numpy.library import check_shapes
from semiring.machine import threads

from .operations import Operations, operations
from .thin import FEW, thin_kernel, turned
from .walk import ArrayWalk, Tiling, Walk, walk

TILE_ROWS = 128  # height of a tile of C: with its panels it takes 430 KB, a part of a second-level cache
LEAST_ROWS = 24  # threads may cut tiles down to this height
PACKING = 12  # rows of work that packing a tile's share of B costs
PARALLEL = 4_000_000  # terms ⊗ below which the caller's thread does the work alone
STRIP_BYTES = 1 << 18  # memory that `left` and `right` may copy operands into, or
STRIP_SHARE = 20  # … this fraction (1/20) of the operand, where that is more
CLOSE_TILE = 128  # order of a block that `close` takes directly


@functools.lru_cache(4096)
def tiling(sizes: Geometry, batch: int, m: int, n: int, k: int, thread_count: int) -> Tiling:
    """Tiles as large as the cache allows, and cut so that the threads finish together."""
    down, across = max(-(-m // TILE_ROWS), 1), max(-(-n // sizes.width), 1)
    helpers = 0
    if thread_count > 1 and batch * m * n * k >= PARALLEL:

        def seconds(cut: tuple[int, int]) -> float:  # in units that do not matter
            height = round_up(-(-m // cut[0]), sizes.rows)
            width = round_up(-(-n // cut[1]), sizes.lanes)
            waves = -(-batch * cut[0] * cut[1] // thread_count)
            return waves * (height + PACKING) * (width + sizes.lanes / 2)

        most = max(-(-m // LEAST_ROWS), down)
        narrow = max(-(-n // (4 * sizes.lanes)), across)
        cuts = [
            (rows, columns)
            for columns in sorted({across, min(2 * across, narrow), min(4 * across, narrow)})
            for rows in range(down, min(most, down + 4 * thread_count) + 1)
        ]
        down, across = min(cuts, key=seconds)
    height = round_up(max(-(-m // down), 1), sizes.rows)
    width = round_up(max(-(-n // across), 1), sizes.lanes)
    tasks = batch * -(-m // height) * -(-n // width)
    if batch * m * n * k >= PARALLEL:
        helpers = min(thread_count, tasks) - 1
    return Tiling(height, width, tasks, max(helpers, 0), sizes.product_bytes(height, width))


class CpuKernel(ArrayBlocks):
    """The operations on blocks that the schedules are written in, for one program.

    Blocks are NumPy arrays of `dtype` (for records: any aligned structure with the same components in the same order),
    with any strides. Operands that are only read may be read-only. Shapes may contain 0.

    Parameters
    ----------
    program : Program
    threads : int, optional
        Threads to use; the default is ``SEMIRING_NUM_THREADS``, or the CPUs this process may run on. Results do not
        depend on it.
    """

    tile = CLOSE_TILE  #: order of a block that `close` takes directly

    def __init__(self, program: Program, threads: int | None = None):
        self.program = program
        self.dtype = program.dtype
        self.threads = _thread_count(threads)
        self._has_product = self._has_close = False  # whether machine code walks; once it does, it always will

    @property
    def place(self) -> str:
        """The place of the computation, in words."""
        return threads.cpu_place(self.threads)

    @functools.cached_property
    def geometry(self) -> Geometry:
        return geometry(self.program.components)

    @functools.cached_property
    def operations(self) -> Operations:
        """The compiled ⊕, ⊗ and star."""
        return operations(self.program)

    @functools.cached_property
    def walk(self) -> Walk:
        """The compiled walk over tiles of elements of these sizes, whatever the operations."""
        return walk(words_of(self.program.components))

    @functools.cached_property
    def array_walk(self) -> ArrayWalk:
        """The same by NumPy."""
        return ArrayWalk(self.operations, words_of(self.program.components))

    def left(self, D: np.ndarray, R: np.ndarray) -> None:
        """R ← D ⊗ R in place; D is square and does not overlap R."""
        k, n = R.shape
        width = self._strip(n, k, R.nbytes)
        memory = np.empty((k, width), R.dtype)
        for j in range(0, n, width):
            strip = R[:, j : j + width]
            copy = memory[:, : strip.shape[1]]
            copy[...] = strip
            self.multiply(strip, D, copy)

    def right(self, C: np.ndarray, D: np.ndarray) -> None:
        """C ← C ⊗ D in place; D is square and does not overlap C."""
        m, k = C.shape
        height = self._strip(m, k, C.nbytes)
        memory = np.empty((height, k), C.dtype)
        for i in range(0, m, height):
            strip = C[i : i + height]
            copy = memory[: len(strip)]
            copy[...] = strip
            self.multiply(strip, copy, D)

    def _strip(self, length: int, depth: int, size: int) -> int:
        """How many of `length` columns (rows) of `depth` elements fit in the memory that a copy may take."""
        limit = max(STRIP_BYTES, size // STRIP_SHARE)
        most = max(limit // max(depth * self.dtype.itemsize, 1), 1)
        count = max(-(-length // most), 1)
        return max(min(round_up(-(-length // count), self.geometry.lanes), most, length), 1)

    def close(self, D: np.ndarray) -> int:
        """D ← D* in place; returns −1, or the first pivot without a star, and then leaves D as it was.

        Any order works; it takes a packed copy of D, and one thread. Larger blocks are for the schedules.
        """
        return int(self.close_stack(D[None])[0])

    def close_stack(self, D: np.ndarray) -> np.ndarray:
        """D[s] ← D[s]* for every s; returns −1 or the first pivot without a star, for each."""
        batch, n, columns = D.shape
        if n != columns:
            raise ValueError(f"a block to close must be square, not {n} × {columns}")
        failed = np.empty(batch, np.int64)
        helpers = min(self.threads, batch) - 1 if batch * n**3 >= PARALLEL else 0
        self._has_close = self._has_close or self.walk.compiles_close(batch, n)
        if not self._has_close:
            self.array_walk.close(self._parts(D), failed, max(helpers, 0))
            return failed
        D = self._words(D)
        size = self.geometry.close_bytes(n)
        close, by = self.walk.module.close, self.operations
        functions = by.multiply, by.close_pivots, by.constants
        if helpers:
            self._run(lambda counter, scratch: close(D, failed, counter, scratch, *functions, 1), size, helpers)
        else:
            _memory, address = threads.scratch(size)
            close(D, failed, 0, address, *functions, 1)
        return failed

    def diagonal(self, A: np.ndarray, D: np.ndarray) -> np.ndarray:
        """The vector of ⊕ over k of A[i, k] ⊗ D[k, i]: the diagonal of A ⊗ D."""
        if A.shape != D.shape[::-1]:
            raise ValueError(f"shapes {A.shape} and {D.shape} do not fit")
        out = np.empty(A.shape[0], A.dtype)
        self.operations.module.diagonal(self._first(out[None, :, None]), self._first(A[None]), self._first(D[None]), 1)
        return out

    def _product(self, C: np.ndarray, A: np.ndarray, B: np.ndarray, accumulate: bool) -> None:
        (batch, m, n), k = C.shape, A.shape[2]
        if A.shape != (batch, m, k) or B.shape != (batch, k, n):
            check_shapes(C, A, B)  # refuses them; a call to find that they fit would take a microsecond
        plan = tiling(self.geometry, batch, m, n, k, self.threads)
        self._has_product = self._has_product or self.walk.compiles_product(plan, -(-k // self.geometry.chunk))
        if not self._has_product:
            self.array_walk.product(self._parts(C), self._parts(A), self._parts(B), plan, accumulate)
            return
        C, A, B = self._words(C), self._words(A), self._words(B)
        product, by = self.walk.module.product, self.operations
        cut, functions = (plan.height, plan.width, int(accumulate), plan.tasks), (by.multiply, by.constants)
        if plan.helpers:
            self._run(
                lambda counter, scratch: product(C, A, B, *cut, counter, scratch, *functions, 1),
                plan.scratch,
                plan.helpers,
            )
        else:
            _memory, address = threads.scratch(plan.scratch)
            product(C, A, B, *cut, 0, address, *functions, 1)

    def _first(self, block: np.ndarray) -> np.ndarray:
        """The view of component 0, whose address and strides are those of the block."""
        dtype = block.dtype
        if dtype != self.dtype and not _same_layout(dtype, self.dtype):
            raise TypeError(f"a block of {dtype} was given to a kernel for {self.dtype}")
        return block[dtype.names[0]] if dtype.names else block

    def _parts(self, block: np.ndarray) -> list[np.ndarray]:
        """The views of all components as integers of their sizes."""
        first = self._first(block)
        columns = [block[name] for name in block.dtype.names] if block.dtype.names else [first]
        return [column.view(word) for column, word in zip(columns, self.walk.words, strict=True)]

    def _words(self, block: np.ndarray) -> np.ndarray:
        """The same as integers of its size."""
        return self._first(block).view(self.walk.words[0])

    def _run(self, work: Callable[[int, int], None], size: int, helpers: int) -> None:
        """Call ``work(counter, scratch)`` on this thread and on helpers, with one counter and each its own memory."""
        counter = np.zeros(1, np.int64)
        place = counter.ctypes.data

        def share() -> None:
            _memory, address = threads.scratch(size)
            work(place, address)

        threads.pool.run(share, helpers)


class DenseKernel(CpuKernel):
    """The kernel interface over NumPy arrays in a lowering's storage; see `semiring.kernels.interface`."""

    few_repay: Callable[[Lowering, int], bool] = staticmethod(lambda lowering, elements: False)
    """Whether compiling for few vectors (thin.py) repays for a matrix of so many elements: the registry knows."""

    walks_repay: Callable[[Lowering, int], bool] = staticmethod(lambda lowering, terms: False)
    """Whether compiling closures of logarithms by powers (small.py) repays for so many terms: likewise."""

    align = 16

    def __init__(self, lowering: Lowering):
        super().__init__(program(lowering))
        self._add_one, self._lowering = lowering.add_one, lowering

    def _product(self, C: np.ndarray, A: np.ndarray, B: np.ndarray, accumulate: bool) -> None:
        if len(C) == 1 and min(C.shape[1:]) <= FEW:
            given = turned(C[0], A[0], B[0])
            if given is not None and self.few_repay(self._lowering, given.matrix.size):
                thin_kernel(self._lowering, given).product(given, accumulate)
                return
        super()._product(C, A, B, accumulate)


def code(lowering: Lowering) -> list[Function]:
    """The compiled functions of products and, where there are stars, of closures."""
    bare = lowering.algebra.product_only
    return operations(program(lowering)).code("multiply", *([] if bare else ["close_pivots"]))


_thread_count = threads.thread_count


@functools.lru_cache(256)
def _same_layout(given: np.dtype, wanted: np.dtype) -> bool:
    """Whether two structures have the same components at the same places, whatever the names."""

    def layout(dtype: np.dtype) -> Any:
        return dtype.itemsize, [dtype.fields[name][:2] for name in dtype.names or () if dtype.fields]

    return bool(given.names and wanted.names) and layout(given) == layout(wanted)
