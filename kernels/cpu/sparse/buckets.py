"""Rows of a closure from few sources over compressed rows, on the CPU, where ⊗ is a sum and no edge is better than 1.

Labels lie in buckets by their size, which are emptied in turn, and in which they may still improve: no heap is sorted.
The width of a bucket is a weight that about every second vertex has an edge below, so that few vertices leave their
bucket twice. A vertex that improves moves to another bucket at once. Rows are those of `settle` to the bit: sums,
rounded, keep the order of labels, so that the best of all walks does not depend on the order in which they are looked
at.

E. V. Denardo, B. L. Fox, Shortest-route methods 1: reaching, pruning, and buckets (1979); U. Meyer, P. Sanders,
Δ-stepping: a parallelizable shortest path algorithm (2003).
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from types import ModuleType

import numpy as np

from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.compile import cache
from semiring.kernels.lowering.base import Lowering
from semiring.machine.threads import scratch

from .kernel import comparing
from .search import CpuSearchKernel, address

TEMPLATE = Path(__file__).with_name("buckets_template.py")
VERTEX = 16  # bytes, as in the template
LARGEST_RING = 1 << 16  # buckets
SAMPLE = 4096  # weights that are looked at for the width of a bucket
TIMES = 3  # a vertex may leave its bucket, on average; by then a heap would have taken no longer


class CpuBucketKernel(CpuSearchKernel):
    """Best walks by labels in buckets, for one tropical semiring in one storage type; see `CpuSearchKernel`."""

    @cached_property
    def in_buckets(self) -> ModuleType:
        """The compiled module: ``pass_buckets``."""
        return cache.load(*comparing(self.program, TEMPLATE))

    @classmethod
    def code(cls, lowering: Lowering) -> list[cache.Function]:
        """The compiled functions that most work needs."""
        return [cache.Function(*comparing(cls.program_of(lowering), TEMPLATE), "pass_buckets")]

    def rows(self, A: Rows, sources: np.ndarray, largest: float, limit: np.ndarray | None = None) -> np.ndarray:
        """What `settle` finds; rows for which buckets take long are settled.

        Parameters
        ----------
        A : Rows
            Square, in storage, of one component.
        sources : ndarray of int64, shape (k,)
        largest : float
            No weight but an infinite one is larger.
        limit : ndarray, shape (1,), optional
            An element in storage: walks that are worse are left out.
        """
        X, finished = self._pass(A, np.arange(len(sources) + 1), sources, largest, limit)
        left = np.flatnonzero(finished == 0)
        if len(left):
            X[left] = self.settle(A, sources[left], limit)
        return X

    def nearest(self, A: Rows, sources: np.ndarray, largest: float) -> np.ndarray | None:
        """The best element of each column over the rows of different sources.

        Parameters
        ----------
        A, sources, largest
            As for `rows`.

        Returns
        -------
        ndarray, shape (n,), or None
            None where buckets take long.
        """
        X, finished = self._pass(A, np.array([0, len(sources)]), sources, largest)
        return X[0] if finished[0] else None

    def _pass(
        self, A: Rows, starts: np.ndarray, sources: np.ndarray, largest: float, limit: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """A row for each of the groups of sources that begin at `starts`, and which of them were finished."""
        n, count, width = A.shape[0], len(starts) - 1, width_of(A, largest)
        X, finished = self._rows(A, count), np.zeros(count, np.uint8)
        if not width:
            return X, finished
        scale, ring = np.array([1 / width]), 1 << max(int(largest / width) + 4, 63).bit_length()
        pass_buckets = self.in_buckets.pass_buckets.made()
        shared = [a.ctypes.data for a in (starts, sources, A.offsets, A.columns, A.values)]

        def rows(first: int, last: int) -> None:
            _memory, place = scratch(VERTEX * n + 4 * ring + ring // 8)
            pass_buckets(
                X.ctypes.data, *shared, n, scale.ctypes.data, ring, first, last, address(limit), TIMES * n,
                finished.ctypes.data, place, 1,
            )

        self._share("pass_buckets", rows, count, len(A.columns) + n)
        return X, finished


def width_of(A: Rows, largest: float) -> float:
    """How much labels in a bucket may differ by; 0 where buckets do not suit the weights.

    Examples
    --------
    >>> ring = Rows(np.arange(5), np.array([1, 2, 3, 0], np.int32), np.array([1.0, 2.0, 3.0, 4.0]), 4)
    >>> width_of(ring, 4.0)
    3.0
    """
    sizes = np.abs(A.values[:: max(len(A.values) // SAMPLE, 1)].astype(float))
    sizes = np.sort(sizes[(sizes > 0) & (sizes <= largest)])
    if not len(sizes):
        return 0.0
    light = len(sizes) * A.shape[0] // (2 * max(len(A.values), 1))  # one edge for every second vertex
    width = max(float(sizes[min(light, len(sizes) // 2)]), float(largest) / (LARGEST_RING // 2))
    return width if np.isfinite(1 / width) else 0.0
