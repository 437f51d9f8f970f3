"""Rows of a closure for many sources at once over compressed rows, on the CPU, where no edge is better than 1.

Labels of several sources stand side by side in vectors, a lane each:

    for every vertex u whose label improved in some lane, again and again:   x_v ← x_v ⊕ x_u ⊗ a_uv   in all lanes

An edge is read a few times for all lanes together, and nothing is sorted. That suits graphs in which best walks are
short; elsewhere it is noticed, and vertices are settled. Vertices are numbered as a search from the one with most edges
settles them, so that a pass in that order carries labels far. Rows are those of `settle` to the bit where ⊗, rounded,
keeps the order of labels, as sums and products of numbers do: then the best of all walks does not depend on the order
in which they are looked at. For records in which one number decides where another is equal it may, by rounding.

M. Then, M. Kaufmann, F. Chirigati, T.-A. Hoang-Vu, K. Pham, A. Kemper, T. Neumann, H. T. Vo, The more the merrier:
efficient multi-source graph traversal (2014).
"""

from __future__ import annotations

import numpy as np

from semiring.kernels.blocks.rows import Rows
from semiring.machine.threads import scratch

from .search import INDEX, PASSES, CpuSearchKernel

LANES = 256  # bytes of the labels of a vertex that stand side by side
NARROWEST = 8  # sources that are searched from together, though threads could share them
ORDERED = 4  # groups of sources from which on renumbering the vertices repays
MOST_PASSES = 64  # times that the edges may be relaxed; by then settling vertices would have taken no longer


class CpuSweepKernel(CpuSearchKernel):
    """Best walks from many sources at once, for one semiring in one storage type; see `CpuSearchKernel`."""

    needs = "settle", "sweep"

    def sweep(self, A: Rows, sources: np.ndarray) -> np.ndarray:
        """What `settle` finds, for several sources at once; rows for which that takes long are settled."""
        n, count = len(A.offsets) - 1, len(sources)
        X, finished = np.empty((count, n), A.values.dtype), np.zeros(count, np.uint8)
        size = sum(component.itemsize for component in self.program.components)
        width = max(1, min(LANES // size, max(-(-count // self.threads), NARROWEST)))
        places, edges = np.arange(n, dtype=INDEX), A
        if count >= ORDERED * width:
            places, edges = self._renumbered(A)
        starts = places[sources].astype(np.int64)
        targets = np.argsort(starts, kind="stable")  # sources near each other are searched from together
        starts, most, sweep = starts[targets], MOST_PASSES * len(A.columns), self.module.sweep.made()
        arrays = X, places, targets, starts, edges.offsets, edges.columns, edges.values, finished
        *shared, done = [a.ctypes.data for a in arrays]

        def rows(first: int, last: int) -> None:
            labels = n * width * size
            _memory, place = scratch(labels + n + 8)
            begin, end = first * width, min(last * width, count)
            sweep(*shared, n, begin, end, width, most, done, place, 1)

        self._share("sweep", rows, -(-count // width), PASSES * (len(A.columns) + n))
        left = targets[finished == 0]
        if len(left):
            X[left] = self.settle(A, sources[left])
        return X

    def _renumbered(self, A: Rows) -> tuple[np.ndarray, Rows]:
        """New numbers of vertices: the order in which a search from the one with most edges settles them; the edges."""
        n, lengths = len(A.offsets) - 1, np.diff(A.offsets)
        order, row, hub = np.empty(n, INDEX), np.empty(n, A.values.dtype), np.array([lengths.argmax()])
        spare = n * INDEX.itemsize
        _memory, place = scratch(n * self.dtype.itemsize + 2 * spare)
        shared = [array.ctypes.data for array in (hub, A.offsets, A.columns, A.values)]
        self.module.settle(row.ctypes.data, *shared, n, 0, 1, 0, order.ctypes.data, place, 1)
        places = np.full(n, -1, INDEX)
        order = order[order >= 0]
        places[order] = np.arange(len(order))
        (others,) = (places < 0).nonzero()
        places[others] = np.arange(len(order), n)
        order = np.concatenate([order, others])
        offsets = np.concatenate([[0], np.cumsum(lengths[order])])
        entries = np.repeat(A.offsets[order] - offsets[:-1], lengths[order]) + np.arange(offsets[-1])
        return places, Rows(offsets, places[A.columns[entries]], A.values[entries], n)
