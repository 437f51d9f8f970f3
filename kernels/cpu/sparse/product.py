"""Products of matrices in compressed rows over any semiring whose operations compile.

The compiled loops are generated for each semiring, from product_template.py; which entries a product of two
sparse matrices has is found before, by code that serves all semirings (structure.py). Rows go to threads in pieces of
equal work.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.compile.cache import Function
from semiring.kernels.cpu.compile.program import Program, source
from semiring.kernels.cpu.compile.rounds import Pace, share_in_rounds
from semiring.kernels.lowering.base import Lowering
from semiring.machine.pieces import ranges, share
from semiring.machine.threads import scratch

from .kernel import RowsKernel
from .structure import pieces_of, product_structure, product_work, transpose

PANEL = 512  # columns that a row of sums has at most: it stays in the first-level cache
STRIP = 64  # rows of a dense left operand that are turned into columns at once


class SparseKernel(RowsKernel):
    """Products with compressed rows, for one semiring in one storage type.

    Parameters
    ----------
    program : Program
    threads : int, optional
        As for `CpuKernel`. Results do not depend on it.
    """

    template, needs = Path(__file__).with_name("product_template.py"), ("times_dense",)

    def __init__(self, program: Program, threads: int | None = None):
        super().__init__(program, threads)
        self._dense_pace, self._sparse_pace = Pace(), Pace()

    @classmethod
    def text_of(cls, text: Program) -> tuple[str, str]:
        return f"sparse_{text.name}", source(text, cls.template)

    @classmethod
    def seldom(cls, lowering: Lowering) -> list[Function]:
        """Products with vectors and with other sparse matrices."""
        text = cls.text_of(cls.program_of(lowering))
        return [Function(*text, name) for name in ("times_vector", "times_sparse")]

    def times_dense(
        self, C: np.ndarray, A: Rows, B: np.ndarray, *, accumulate: bool = False, mirrored: bool = False
    ) -> None:
        """C ← A ⊗ B, or C ⊕ A ⊗ B; C does not overlap B, both are of any strides. Mirrored, each term is b ⊗ a."""
        if B.shape[1] == 1:
            self._times_vector(C[:, 0], A, np.ascontiguousarray(B[:, 0]), accumulate, mirrored)
            return
        self.module.times_dense.made()
        if B.strides[1] == B.itemsize or not B.size:
            for left, right in ranges(B.shape[1], -(-B.shape[1] // PANEL)):
                to, panel = C[:, left:right], B[:, left:right]
                self._in_rounds(A, right - left, partial(self._dense, to, A, panel, accumulate, mirrored))
            return
        for left, right in ranges(B.shape[1], -(-B.shape[1] // STRIP)):
            strip = np.ascontiguousarray(B[:, left:right])
            self.times_dense(C[:, left:right], A, strip, accumulate=accumulate, mirrored=mirrored)

    def times_vector(self, c: np.ndarray, A: Rows, b: np.ndarray, *, accumulate: bool = False) -> bool:
        """c ← A ⊗ b, or c ⊕ A ⊗ b, for unchecked rows; for numbers, not for records.

        Parameters
        ----------
        c : ndarray, shape (rows,)
        A : Rows
            As many entries as the last offset says. Offsets may be int32 too: threads widen those of a piece while they
            lie in the cache.
        b : ndarray, shape (A.width,)
            Contiguous.
        accumulate : bool, optional

        Returns
        -------
        bool
            Whether columns ascend and lie inside, and no value is NaN; if not, `c` holds nothing of use.
        """
        failed = np.zeros(1, np.int64)
        out = np.ascontiguousarray(c)
        size, wide = self.dtype.itemsize, np.dtype(np.int64)
        look, begin = self.module.times_vector_looking.made(), out.ctypes.data
        addresses = [array.ctypes.data for array in (A.columns, A.values, b)]

        def rows(first: int, last: int) -> None:
            memory, address = scratch((last - first + 1) * wide.itemsize)
            offsets = np.frombuffer(memory, wide, last - first + 1, address - memory.ctypes.data)
            offsets[...] = A.offsets[first : last + 1]
            look(begin + first * size, address, *addresses, int(accumulate), 0, last - first, A.width, len(A.columns),
                 failed.ctypes.data, 1)

        self._in_rounds(A, 1, rows)
        if out is not c:
            c[...] = out
        return not failed[0]

    def dense_times(self, C: np.ndarray, A: np.ndarray, B: Rows, *, accumulate: bool = False) -> None:
        """C ← A ⊗ B, or C ⊕ A ⊗ B, with a dense A, as the transposed product; any strides."""
        T = transpose(B)
        if A.shape[0] == 1:
            self._times_vector(C[0], T, np.ascontiguousarray(A[0]), accumulate, True)
            return

        self.module.times_dense.made()

        def strip(top: int, bottom: int) -> None:
            part = np.ascontiguousarray(A[top:bottom].T)
            self._dense(C[top:bottom].T, T, part, accumulate, True, 0, T.shape[0])

        strips = ranges(A.shape[0], -(-A.shape[0] // STRIP))
        if len(strips) >= self.threads and _work(T)[-1] * STRIP <= self._dense_pace.most / self.threads:
            share_in_rounds(strip, strips, self.threads)
            return
        for top, bottom in strips:
            part = np.ascontiguousarray(A[top:bottom].T)
            self._in_rounds(T, bottom - top, partial(self._dense, C[top:bottom].T, T, part, accumulate, True))

    def times_sparse(self, A: Rows, B: Rows) -> Rows:
        """A ⊗ B in compressed rows, every entry that has a term; entries may be zero."""
        offsets, columns = product_structure((A.offsets, A.columns), (B.offsets, B.columns), B.width, self.threads)
        C = Rows(offsets, columns, np.empty(len(columns), A.values.dtype), B.width)
        addresses = [array.ctypes.data for X in (C, A, B) for array in (X.offsets, X.columns, X.values)]
        times_sparse = self.module.times_sparse.made()

        def values(first: int, last: int) -> None:
            _memory, sums = scratch(B.width * self.dtype.itemsize)
            times_sparse(*addresses, first, last, sums, 1)

        work = product_work(A.offsets, A.columns, B.offsets)
        for first, last in self._sparse_pace.rounds(work):
            share(values, pieces_of(work, self.threads, first, last), self.threads)
        return C

    def _dense(
        self, C: np.ndarray, A: Rows, B: np.ndarray, accumulate: bool, mirrored: bool, first: int, last: int
    ) -> None:
        width = B.shape[1]
        _memory, sums = scratch(width * self.dtype.itemsize)
        self.module.times_dense(
            C.ctypes.data, *C.strides, A.offsets.ctypes.data, A.columns.ctypes.data, A.values.ctypes.data,
            B.ctypes.data, B.strides[0], width, int(accumulate), int(mirrored), first, last, sums, 1,
        )

    def _times_vector(self, c: np.ndarray, A: Rows, b: np.ndarray, accumulate: bool, mirrored: bool) -> None:
        out = np.ascontiguousarray(c)
        addresses = [array.ctypes.data for array in (out, A.offsets, A.columns, A.values, b)]
        times_vector = self.module.times_vector.made()
        self._in_rounds(A, 1, lambda first, last: times_vector(
            *addresses, int(accumulate), int(mirrored), first, last, 1
        ))
        if out is not c:
            c[...] = out

    def _in_rounds(self, A: Rows, width: int, function: Callable[[int, int], None]) -> None:
        """Call a function with ranges of rows that cover A, on the threads, round by round."""
        work = _work(A)
        for first, last in self._dense_pace.rounds(work, width):
            share(function, pieces_of(work, self.threads, first, last, width), self.threads)


def _work(A: Rows) -> np.ndarray:
    """The work in all rows before each: an entry costs as much as a row, which counts where entries are few."""
    rows = len(A.offsets) - 1
    return A.offsets if A.offsets[-1] >= 2 * rows else A.offsets + np.arange(rows + 1)
