"""Rows of a closure for a few sources over compressed rows, on the CPU, for semirings whose ⊕ selects.

The compiled loops are generated for each semiring, from search_template.py. A thread takes one source after the
other: where no edge is better than 1 vertices settle best first, elsewhere labels are corrected. See buckets.py
for sums, levels.py for edges of one value, and sweeps.py for many sources at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np

from semiring.kernels.blocks.rows import Rows
from semiring.machine.threads import scratch

from .kernel import RowsKernel, aligned

INDEX = np.dtype(np.int32)  # of predecessors
PASSES = 8  # times that an edge is looked at where labels are corrected, about


class CpuSearchKernel(RowsKernel):
    """Best walks from many sources, for one semiring in one storage type; see `RowsKernel`."""

    template = Path(__file__).with_name("search_template.py")
    needs: ClassVar[tuple[str, ...]] = ("settle",)

    def settle(self, A: Rows, sources: np.ndarray, limit: np.ndarray | None = None) -> np.ndarray:
        """The rows of A* for the sources; no edge may be better than 1.

        Parameters
        ----------
        A : Rows
            Square, in storage.
        sources : ndarray of int64, shape (k,)
        limit : ndarray, shape (1,), optional
            An element in storage: walks that are worse are left out.

        Returns
        -------
        ndarray, shape (k, n)
        """
        n = A.shape[0]
        X = self._rows(A, len(sources))
        settle = self.module.settle.made()
        shared = [array.ctypes.data for array in (sources, A.offsets, A.columns, A.values)]

        def rows(first: int, last: int) -> None:
            _memory, place = scratch(n * (self.dtype.itemsize + 2 * INDEX.itemsize))
            settle(X.ctypes.data, *shared, n, first, last, address(limit), 0, place, 1)

        self._share("settle", rows, len(sources), len(A.columns) + n)
        return X

    def correct(
        self, A: Rows, sources: np.ndarray, predecessors: bool
    ) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
        """The same for any edges; the vertices before, if wanted; and of every source a vertex on an improving cycle.

        Parameters
        ----------
        A, sources
            As for `settle`.
        predecessors : bool

        Returns
        -------
        X : ndarray, shape (k, n)
        P : ndarray of int32, shape (k, n), or None
            −1 for none. A cycle of them improves; of equally good ones it is the first that was found.
        failed : ndarray of int64, shape (k,)
            −1 where there is no such cycle.
        """
        n = A.shape[0]
        X, P = self._rows(A, len(sources)), np.empty((len(sources), n), INDEX) if predecessors else None
        failed = np.empty(len(sources), np.int64)
        correct = self.module.correct.made()
        shared = [array.ctypes.data for array in (sources, A.offsets, A.columns, A.values)]

        def rows(first: int, last: int) -> None:
            spare = n * INDEX.itemsize
            _memory, place = scratch(aligned(spare) + 3 * spare + n)
            predecessor, step = (place, 0) if P is None else (P.ctypes.data, spare)
            correct(
                X.ctypes.data, predecessor, step, *shared, n, failed.ctypes.data, first, last,
                place + aligned(spare), 1,
            )

        self._share("correct", rows, len(sources), PASSES * (len(A.columns) + n))
        return X, P, failed

    def _rows(self, A: Rows, count: int) -> np.ndarray:
        return np.empty((count, A.shape[0]), A.values.dtype)


def address(limit: np.ndarray | None) -> int:
    """The address of an element; 0 if there is none."""
    return 0 if limit is None else limit.ctypes.data
