"""Products of a matrix with a few vectors: one pass over the matrix where it lies, at the speed of memory.

Tiles (engine.py) copy both operands into panels, which repays when each element is used often. Here an element of the
large operand is used once for each vector. The compiled loops are generated for each semiring, from thin_template.py.
They can also look whether every element of the large operand is in the carrier, while it is in the cache.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np

from semiring.kernels.cpu.compile import cache
from semiring.kernels.cpu.compile.program import Geometry, Program, geometry, source
from semiring.kernels.cpu.compile.rules import LANES, vectors
from semiring.kernels.lowering.base import Lowering
from semiring.machine.pieces import ranges, share
from semiring.machine.threads import scratch, thread_count

from .lanes import scalar_and_vectors
from .operations import exchanged

TEMPLATE = Path(__file__).with_name("thin_template.py")
FEW = 8  # vectors up to which a pass over the matrix is faster than tiles
LEAST = 1 << 14  # elements of the matrix below which a call takes longer than the work
PIECE = 1 << 15  # bytes of a row that stay in a cache for all vectors
SUMS = 1 << 14  # bytes of sums that stay in the first-level cache
TASK = 1 << 17  # elements of the matrix from which a share of the work is worth a call
LEAST_DEPTH = 64  # terms of a sum that are not cut
TASKS = 32  # shares at most: more than threads, so that they finish together


class Turned(NamedTuple):
    """A product C ← A ⊗ B as M ⊗ x for a large M whose rows have adjacent elements.

    Attributes
    ----------
    out : ndarray
        C, or its transpose: a row for each row of M if `along`, else a row for each vector.
    matrix : ndarray
        M.
    vectors : ndarray
        x, a row for each vector.
    along : bool
        Whether sums run along the rows of M; else its rows are added up.
    exchanged : bool
        Whether M is the right operand of ⊗.
    """

    out: np.ndarray
    matrix: np.ndarray
    vectors: np.ndarray
    along: bool
    exchanged: bool


def turned(C: np.ndarray, A: np.ndarray, B: np.ndarray) -> Turned | None:
    """A product of 2-D arrays with few rows or few columns as one with a few vectors; None for any other."""
    (m, k), n = A.shape, B.shape[1]
    item = A.itemsize
    if k * max(m, n) < LEAST or not min(m, k, n) or len(B) != k:
        return None
    if n <= FEW and n <= m:
        if A.strides[1] == item:
            return Turned(C, A, B.T, True, False)
        if A.strides[0] == item:
            return Turned(C.T, A.T, B.T, False, False)
    if m <= FEW:
        if B.strides[1] == item:
            return Turned(C, B, A, False, True)
        if B.strides[0] == item:
            return Turned(C.T, B.T, A, True, True)
    return None


class ThinKernel:
    """Products of a matrix with a few vectors, for one semiring in one storage type.

    Parameters
    ----------
    program : Program
        As `program_of` gives it.
    threads : int, optional
        As for `CpuKernel`. Results do not depend on it.
    """

    def __init__(self, program: Program, threads: int | None = None):
        self.program, self.threads = program, thread_count(threads)

    @classmethod
    def code(cls, lowering: Lowering) -> list[cache.Function]:
        """The compiled functions that most work needs; if ⊗ does not commute, with either operand as the matrix."""
        given = cls.program_of(lowering)
        texts = [given] if lowering.algebra.commutative else [given, exchanged(given)]
        return [cache.Function(*cls.text_of(text), name) for text in texts for name in ("times_columns", "times_rows")]

    @cached_property
    def module(self) -> ModuleType:
        """The compiled module, whose functions are compiled when they are first called."""
        return cache.load(*self.text_of(self.program))

    @classmethod
    def program_of(cls, lowering: Lowering) -> Program:
        """The Numba text of a lowering for elements and for vectors, with sizes, and ⊕ of vectors."""
        text, parts = scalar_and_vectors(lowering), lowering.components
        plus = vectors("plus_of_vectors", "x, t", lowering.add.outputs, parts, rules=replace(LANES, fused={}))
        key = f"KEY = np.int{8 * parts[0].itemsize}\n\n\n"
        imported = "from semiring.kernels.cpu.compile.lane_rows import Rows\n\n"
        return replace(text, prelude=f"{imported}{key}{text.prelude}{plus}\n\n")

    @classmethod
    def text_of(cls, text: Program) -> tuple[str, str]:
        prelude = text.prelude + text.combine
        if "def times_as_declared(" in prelude:  # the operands of ⊗ are exchanged, and of vectors too
            prelude = prelude.replace("def combine_vectors(v, x, a, b, unit)", "def combine_vectors(v, x, b, a, unit)")
        return text.name.replace("lanes_", "thin_", 1), source(replace(text, prelude=prelude), TEMPLATE)

    def product(self, given: Turned, accumulate: bool, look: bool = False) -> bool:
        """C ← A ⊗ B, or C ⊕ A ⊗ B.

        Parameters
        ----------
        given : Turned
        accumulate : bool
        look : bool
            Whether to test the elements of the matrix; for numbers of which `looks` says that it can be done.

        Returns
        -------
        bool
            Whether all of those that were tested are in the carrier.
        """
        M, out, accumulates = given.matrix, given.out, accumulate
        x = np.ascontiguousarray(given.vectors) if given.along else given.vectors
        lines, depth = M.shape if given.along else M.shape[::-1]
        strips, steps = cuts(lines, depth, lines if given.along else self._widest(len(x)))
        alone = len(steps) == 1
        targets = [out] if alone else list(np.empty((len(steps), *out.shape), out.dtype))
        failed = np.zeros(1, np.int64)
        shared = int(accumulate and alone), failed.ctypes.data, int(look)
        work = self._columns if given.along else self._rows
        pieces = [(target, *step, *strip) for strip in strips for target, step in zip(targets, steps, strict=True)]
        share(partial(work, M, x, shared), pieces, self.threads)
        if not alone:
            self._add_up(out, targets, accumulates)
        return not failed[0]

    def _columns(
        self, M: np.ndarray, x: np.ndarray, shared: tuple[int, int, int], out: np.ndarray, begin: int, end: int,
        first: int, last: int,
    ) -> None:
        """A share of the rows of M, and of the terms of their sums."""
        accumulate, *rest = shared
        _memory, sums = scratch(self.module.HEIGHT * M.itemsize)
        self.module.times_columns(
            M.ctypes.data, M.strides[0], x.ctypes.data, x.strides[0], out.ctypes.data, *out.strides, len(x),
            accumulate, first, last, begin, end, PIECE // M.itemsize, sums, *rest, 1,
        )

    def _rows(
        self, M: np.ndarray, x: np.ndarray, shared: tuple[int, int, int], out: np.ndarray, begin: int, end: int,
        first: int, last: int,
    ) -> None:
        """A share of the columns of M, and of the terms of their sums."""
        accumulate, *rest = shared
        _memory, sums = scratch(len(x) * (last - first) * self._sizes.size)
        self.module.times_rows(
            M.ctypes.data, M.strides[0], x.ctypes.data, *x.strides, out.ctypes.data, *out.strides, len(x), accumulate,
            first, last, begin, end, sums, *rest, 1,
        )

    def _add_up(self, out: np.ndarray, parts: list[np.ndarray], accumulate: bool) -> None:
        """out ← the ⊕ of the parts, in their order, and of out itself before them if `accumulate`."""
        total, *rest = [np.array(out), *parts] if accumulate else parts
        for part in rest:
            self.module.add_up(total.ctypes.data, part.ctypes.data, total.size)
        out[...] = total

    def _widest(self, count: int) -> int:
        """Columns for which the sums of so many vectors stay in the first-level cache."""
        return max(SUMS // (max(count, 1) * self._sizes.size), 4 * self._sizes.lanes)

    @cached_property
    def _sizes(self) -> Geometry:
        return geometry(self.program.components)


def thin_kernel(lowering: Lowering, given: Turned) -> ThinKernel:
    """The kernel of a lowering whose ⊗ has the matrix on the left; where the code is the same it is the same kernel."""
    return _kernel(lowering, given.exchanged and not lowering.algebra.commutative)


@lru_cache(1024)
def _kernel(lowering: Lowering, exchange: bool) -> ThinKernel:
    text = ThinKernel.program_of(lowering)
    return _made(exchanged(text) if exchange else text)


@lru_cache(1024)
def _made(text: Program) -> ThinKernel:
    return ThinKernel(text)


@lru_cache(1024)
def cuts(lines: int, depth: int, widest: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Shares of so many lines, of which one takes `widest` at most, and of the `depth` terms of their sums.

    They depend on the shape alone, so that results do not depend on the number of threads.

    Examples
    --------
    >>> cuts(4096, 8192, 1 << 20)[0][:2], cuts(1, 1 << 20, 1)[1][:2]
    ([(0, 128), (128, 256)], [(0, 131072), (131072, 262144)])
    """
    wanted = min(max(lines * depth // TASK, 1), TASKS)
    strips = ranges(lines, max(-(-lines // widest), min(lines, wanted) if widest >= lines else 1))
    return strips, ranges(depth, min(wanted // len(strips), depth // LEAST_DEPTH))


def fits(lowering: Lowering) -> bool:
    """Whether products with few vectors go this way: not those of powers."""
    return lowering.kind == "numba" and lowering.log_sum is None


def looks(lowering: Lowering) -> bool:
    """Whether compiled code can test if elements are in the carrier: those of floats, stored as they are."""
    return lowering.kind == "numba" and lowering.is_identity and lowering.dtype in (np.float32, np.float64)
