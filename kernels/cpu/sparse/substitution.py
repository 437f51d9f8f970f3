"""Substitution in a triangular matrix in compressed rows, on the CPU: X ← A* X where A is strictly lower triangular.

Rows are passed once, in their order, and each takes what the rows before it have become. Threads share X's columns.
"""

from __future__ import annotations

import numpy as np

from semiring.kernels.blocks.rows import Rows
from semiring.machine.pieces import ranges, share
from semiring.machine.threads import scratch

from .product import PANEL, SparseKernel

LEAST_COLUMNS = 16  # columns that repay a pass over the matrix by a thread of its own


class SubstitutionKernel(SparseKernel):
    """Substitution, for one semiring in one storage type; see `SparseKernel`."""

    needs = ("substitute",)

    def substitute(self, X: np.ndarray, A: Rows, mirrored: bool = False) -> None:
        """X ← X ⊕ A ⊗ X row after row; each row of A has entries in columns before its own only.

        Parameters
        ----------
        X : ndarray, shape (n, m)
            C-contiguous.
        A : Rows
            Square, in storage.
        mirrored : bool
            Whether each term is x ⊗ a.
        """
        rows, columns = X.shape
        substitute, step = self.module.substitute, X.strides[0]
        addresses = [array.ctypes.data for array in (A.offsets, A.columns, A.values)]

        def panel(left: int, right: int) -> None:
            width = right - left
            _memory, sums = scratch(width * self.dtype.itemsize)
            first = X.ctypes.data + left * X.itemsize
            substitute(first, step, *addresses, width, int(mirrored), rows, sums, 1)

        parts = min(self.threads, -(-columns // LEAST_COLUMNS))
        share(panel, ranges(columns, max(parts, -(-columns // PANEL))), self.threads)
