"""Substitution in compressed rows, on the CPU: X ← A* X, where the graph of A has no cycle.

Rows are passed once, in an order in which each takes what earlier ones have become. Threads share X's columns.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from semiring.kernels.blocks.rows import Rows
from semiring.machine.pieces import ranges, share
from semiring.machine.threads import scratch

from .product import PANEL, SparseKernel

WIDE = 2048  # columns of a closure that are found at once: memory is written in long runs, and rows fit a core's cache
PIECES = 2  # for each thread, which take unequal time
LEAST_COLUMNS = 16  # columns that repay a pass over the matrix by a thread of its own


class SubstitutionKernel(SparseKernel):
    """Substitution, for one semiring in one storage type; see `SparseKernel`."""

    needs = ("substitute",)

    def substitute(self, X: np.ndarray, A: Rows, order: np.ndarray, mirrored: bool = False) -> None:
        """X ← X ⊕ A ⊗ X row after row.

        Parameters
        ----------
        X : ndarray, shape (n, m)
            Its rows C-contiguous.
        A : Rows
            Square, in storage.
        order : ndarray of int64, shape (n,)
            In which rows are taken; each row of A has entries in columns of earlier rows only.
        mirrored : bool
            Whether each term is x ⊗ a.
        """
        columns = X.shape[1]
        parts = min(self.threads, -(-columns // LEAST_COLUMNS))
        panels = [(*panel, False) for panel in ranges(columns, max(parts, -(-columns // PANEL)))]
        share(partial(self._panel, X, A, order, mirrored), panels, self.threads)

    def closure(self, X: np.ndarray, A: Rows, order: np.ndarray) -> None:
        """X ← A*, shape (n, n); what X held is not read. The parameters are those of `substitute`."""
        n = len(order)
        parts = min(PIECES * self.threads, -(-n // LEAST_COLUMNS))
        panels = [(*panel, True) for panel in ranges(n, max(parts, -(-n // WIDE)))]
        share(partial(self._panel, X, A, order, False), panels, self.threads)

    def _panel(
        self, X: np.ndarray, A: Rows, order: np.ndarray, mirrored: bool, left: int, right: int, identity: bool
    ) -> None:
        """Some columns of X; they begin as those of the identity, or as they are."""
        width, rows = right - left, len(order)
        size = width * self.dtype.itemsize
        _memory, sums = scratch(size + rows)
        self.module.substitute(
            X.ctypes.data + left * X.itemsize, X.strides[0], order.ctypes.data, A.offsets.ctypes.data,
            A.columns.ctypes.data, A.values.ctypes.data, width, left if identity else -1, sums + size, int(mirrored),
            rows, sums, 1)
