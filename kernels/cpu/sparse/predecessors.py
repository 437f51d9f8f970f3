"""Trees of best walks from values that a search found, on the CPU: one pass over the edges as they lie in memory.

    p_v = the least u of which x_u ⊗ a_uv is x_v, of those with x_u better than x_v;   then breadth first

That is what `semiring.algorithms.trees` says where the values are to the bit what the edges give: no product is better
than its head's value, and some product is as good. A search that ended leaves such values, and rounding elsewhere may
not: it is looked at on the way, and rows that are others are left to trees.py, which needs the edges by their heads.
The compiled loops are generated for each semiring, from predecessors_template.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from semiring.kernels.blocks.rows import Rows
from semiring.machine.threads import scratch

from .kernel import RowsKernel
from .search import INDEX


class PredecessorKernel(RowsKernel):
    """Predecessors of rows that a search found, for one semiring in one storage type; see `RowsKernel`."""

    template, needs = Path(__file__).with_name("predecessors_template.py"), ("lead",)

    def rows(
        self, A: Rows, X: np.ndarray, sources: np.ndarray, bounded: bool, cut: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """The vertex before each on a best walk from each source.

        Parameters
        ----------
        A : Rows
            Square, in storage.
        X : ndarray, shape (k, n)
            Rows of the closure, in storage, C-contiguous.
        sources : ndarray of int64, shape (k,)
        bounded : bool
            Whether no edge is better than one.
        cut : bool
            Whether walks beyond a limit are left out of X.

        Returns
        -------
        P : ndarray of int32, shape (k, n)
            −1 at the source, and where no walk leads.
        finished : ndarray of bool, shape (k,)
            Whether a row was written.
        """
        return self._lead(A, X, np.arange(len(sources) + 1), sources, False, bounded, cut)

    def origins(self, A: Rows, x: np.ndarray, sources: np.ndarray) -> np.ndarray | None:
        """The source that the best walk to each vertex comes from, where no edge is better than one.

        Parameters
        ----------
        A : Rows
            Square, in storage.
        x : ndarray, shape (n,)
            ⊕ of the rows of the sources, in storage.
        sources : ndarray of int64
            Each once.

        Returns
        -------
        ndarray of int32, shape (n,), or None
            −1 where no walk leads. None where x is not to the bit what the edges give.
        """
        P, finished = self._lead(A, x[None], np.array([0, len(sources)]), sources, True, True, True)
        return P[0] if finished[0] else None

    def _lead(
        self, A: Rows, X: np.ndarray, starts: np.ndarray, sources: np.ndarray, origins: bool, bounded: bool, cut: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        count, n = X.shape
        X, P, finished = np.ascontiguousarray(X), np.empty((count, n), INDEX), np.zeros(count, bool)
        lead: Callable[..., None] = self.module.lead.made()
        shared = [a.ctypes.data for a in (starts, sources, A.offsets, A.columns, A.values)]

        def lines(first: int, last: int) -> None:
            _memory, place = scratch(INDEX.itemsize * (n + 1))
            lead(X.ctypes.data, P.ctypes.data, origins, *shared, n, bounded, cut, first, last, finished.ctypes.data,
                 place, 1)

        self._share("lead", lines, count, float(len(A.columns) + n))
        return P, finished
