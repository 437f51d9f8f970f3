"""Products of compressed rows and arrays that say which term won, on the CPU, for semirings whose ⊕ selects.

All entries, or those that a mask in compressed rows wants. An array is compressed rows without a gap. The compiled
loops are generated for each semiring, from winners_template.py; of all entries elements are machine numbers, records
of which are left to NumPy.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.compile.rounds import share_in_rounds

from .kernel import RowsKernel
from .masked import Pattern
from .search import INDEX, address
from .structure import pieces_of

ROOM = 1 << 18  # bytes of B's columns that stay in a thread's cache
NARROWEST = 64  # columns that are worth a pass over A's rows


class WinnersKernel(RowsKernel):
    """Products and their winners for one semiring in one storage type; see `RowsKernel`."""

    template, needs = Path(__file__).with_name("winners_template.py"), ("multiply",)

    def multiply(self, A: Rows, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A ⊗ B, and the least k of the terms that each entry is; −1 where it is zero.

        Parameters
        ----------
        A : Rows
            In storage.
        B : ndarray, shape (A.width, n)
            In storage, C-contiguous.

        Returns
        -------
        C : ndarray, shape (m, n)
        which : ndarray of int32, shape (m, n)
        """
        rows, width = A.shape[0], B.shape[1]
        C, which = np.empty((rows, width), self.dtype), np.empty((rows, width), INDEX)
        strip = min(max(ROOM // max(A.width * self.dtype.itemsize, 1), NARROWEST), max(width, 1))
        shared = [a.ctypes.data for a in (C, which, A.offsets, A.columns, A.values, B)]
        multiply = self.module.multiply

        def part(first: int, last: int) -> None:
            multiply(*shared, first, last, width, strip, 1)

        each = float(len(A.columns)) / max(rows, 1) * width
        self._share("multiply", part, rows, each)
        return C, which


class MaskedWinnersKernel(RowsKernel):
    """Wanted entries of products and their winners, for one semiring in one storage type; see `RowsKernel`.

    Wanted entries are offsets and columns, as of compressed rows. C holds them in this order, in storage, and begins as
    zero. Each answer is, as int32, the least k of the terms that each entry is; −1 where it is zero.
    """

    template, needs = Path(__file__).with_name("winners_template.py"), ("by_rows",)

    def by_rows(self, C: np.ndarray, wanted: Pattern, A: Rows, B: Rows) -> np.ndarray:
        """C ← A ⊗ B of compressed rows, by rows of B."""
        which, function = np.full(len(C), -1, INDEX), self.module.by_rows.made()
        arrays = (C, which, *wanted, A.offsets, A.columns, A.values, B.offsets, B.columns, B.values)
        addresses = [address(array) for array in arrays]

        def rows(first: int, last: int) -> None:
            table = np.zeros(max(B.width, 1), INDEX)
            function(*addresses, first, last, address(table), 1)

        work = np.concatenate([[0], np.cumsum(np.diff(B.offsets)[A.columns])])[A.offsets] + wanted[0]
        share_in_rounds(rows, pieces_of(work, self.threads), self.threads)
        return which

    def by_dots(self, C: np.ndarray, wanted: Pattern, A: Rows | np.ndarray, B: np.ndarray) -> np.ndarray:
        """C ← A ⊗ B; A is an array, C-contiguous, or compressed rows; B of any strides."""
        which, function = np.full(len(C), -1, INDEX), self.module.by_dots.made()
        if isinstance(A, Rows):
            offsets, columns, values = A.offsets, address(A.columns), A.values
        else:
            offsets, columns, values = np.arange(len(A) + 1) * A.shape[1], 0, A
        addresses = [*map(address, (C, which, *wanted, offsets)), columns, address(values), address(B), *B.strides]
        work = np.concatenate([[0], np.cumsum(np.diff(wanted[0]) * np.diff(offsets))])
        share_in_rounds(lambda first, last: function(*addresses, first, last, 1), pieces_of(work, self.threads),
                        self.threads)
        return which


class DotWinnersKernel(MaskedWinnersKernel):
    """The same for a dense B."""

    needs = ("by_dots",)
