"""Products of compressed rows and arrays that say which term won, on the CPU, for semirings whose ⊕ selects.

An array is compressed rows without a gap. The compiled loops are generated for each semiring, from
winners_template.py; elements are machine numbers, records of which are left to NumPy.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from semiring.kernels.blocks.rows import Rows

from .kernel import RowsKernel
from .search import INDEX

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
