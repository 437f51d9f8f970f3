"""Rows of a closure by breadth-first searches over compressed rows, on the CPU, where all edges have one value.

No walk is better than a part of it, so that the best to a vertex has the fewest edges, and its weight is a power of
that value: a level has one label, and no heap is needed. Which vertices were reached is a bit each, so that those of a
quarter of a million fit the first-level cache. Most edges of a graph of low diameter are those of one or two levels:
the vertices of such a level are taken in ascending order, as their rows lie in memory. Where each edge goes both ways,
those that were not reached look for one that was, and most edges of such a level are never looked at (S. Beamer, K.
Asanović, D. Patterson, Direction-optimizing breadth-first search, 2012). Elsewhere that needs the transposed matrix,
and to make it takes longer than a search.
"""

from __future__ import annotations

import numpy as np

from semiring.kernels.blocks.rows import Rows
from semiring.machine.threads import scratch

from .search import CpuSearchKernel, address


class CpuLevelKernel(CpuSearchKernel):
    """Best walks along edges of one value, for one semiring in one storage type; see `CpuSearchKernel`."""

    needs = ("pass_levels",)

    def levels(
        self, A: Rows, sources: np.ndarray, limit: np.ndarray | None = None, both_ways: bool = False
    ) -> np.ndarray:
        """What `settle` finds, where all edges have the same value; whether each is known to go both ways."""
        n = A.shape[0]
        X = self._rows(A, len(sources))
        pass_levels = self.module.pass_levels.made()
        shared = [array.ctypes.data for array in (sources, A.offsets, A.columns, A.values)]

        def rows(first: int, last: int) -> None:
            _memory, place = scratch((n + 2) // 2 * 8 + (n + 63) // 64 * 16)
            pass_levels(X.ctypes.data, *shared, n, first, last, address(limit), int(both_ways), place, 1)

        self._share("pass_levels", rows, len(sources), len(A.columns) + n)
        return X
