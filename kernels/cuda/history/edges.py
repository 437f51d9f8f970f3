"""Closures along the edges of a graph on the GPU, a thread for each vertex; edges.cu has the kernels.

Labels that several threads improve at once are words of 4 or 8 bytes, which the hardware compares and swaps; narrower
elements have a word of 4. ⊕ as one atomic step is then a loop: read, compute, and swap if the word is unchanged.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from semiring.kernels.cuda.compile.launch import Function, Module, synchronize
from semiring.kernels.cuda.lowering import CudaLowering

from .forms import text_of

THREADS = 256  # as in edges.cu
WIDEST = 8  # bytes of an element that can be compared and swapped
LABELS = 1 << 22  # labels of the sources that Kemp's version takes at once, about
MOST_ROWS = 65_535  # rows of blocks of threads in a launch


def source(low: CudaLowering) -> str:
    """The text of all kernels."""
    return text_of(low).source("", "history/edges.cu")


class Edges(NamedTuple):
    """Compressed rows, or columns, in device memory: line i has the entries from offsets_i to offsets_(i + 1)."""

    offsets: Any  # int64, shape (n + 1,)
    ends: Any  # int32: where in its line an entry lies
    weights: Any

    @property
    def addresses(self) -> tuple[int, int, int]:
        return self.offsets.data.ptr, self.ends.data.ptr, self.weights.data.ptr


@lru_cache(64)
def functions(low: CudaLowering) -> dict[str, Function]:
    """The kernels of a lowering by name."""
    module = Module(source(low))
    names = ("count_edges gather_edges begin relax_marked settle_labels relax_atomically identity "
             "relax_pairs write_rows").split()
    return {name: module.function(name, THREADS) for name in names}


class EdgeKernel:
    """What the three versions share: the edges of a matrix, and the answer.

    Parameters
    ----------
    low : CudaLowering
    A : array, shape (n, n)
        In storage, in C order. A zero means that there is no edge.
    into : bool
        Whether the edges into a vertex lie side by side, not those out of it.
    """

    def __init__(self, low: CudaLowering, A: Any, into: bool = False):
        self.n = len(A)
        self.functions = functions(low)
        self.word = np.dtype(np.uint64 if low.storage.itemsize == WIDEST else np.uint32)
        self.edges = self._gathered(A, *A.strides[::-1] if into else A.strides)
        self.answer = A  # which is not read any more: its edges are gathered

    def _gathered(self, A: Any, across: int, along: int) -> Edges:
        import cupy

        counts = cupy.zeros(self.n + 1, np.int64)
        self.launch("count_edges", 1, A.data.ptr, across, along, self.n, counts.data.ptr + counts.itemsize)
        offsets = cupy.cumsum(counts)
        total = int(offsets[-1])
        edges = Edges(offsets, cupy.empty(max(total, 1), np.int32), cupy.empty(max(total, 1), A.dtype))
        self.launch("gather_edges", 1, A.data.ptr, across, along, self.n, *edges.addresses)
        return edges

    def launch(self, name: str, rows: int, *arguments: int) -> None:
        """A kernel with a thread for each vertex, in so many rows of blocks."""
        if self.n:
            self.functions[name](-(-self.n // THREADS), rows, *arguments)


class HarishNarayananKernel(EdgeKernel):
    """Two arrays of labels of one source; see `semiring.algorithms.history.harish_narayanan`."""

    def __init__(self, low: CudaLowering, A: Any):
        import cupy

        super().__init__(low, A)
        self._labels = cupy.empty((2, self.n), self.word)
        self._marks = cupy.empty((2, self.n), np.int32)  # of which one is used

    def begin(self, source: int) -> None:
        """Labels and marks before the first round."""
        (c, u), (marked, other) = self._labels, self._marks
        self.launch("begin", 1, *(a.data.ptr for a in (c, u, marked, other)), self.n, source)

    def relax(self) -> None:
        """The first launch of a round."""
        c, u = self._labels
        self.launch("relax_marked", 1, *self.edges.addresses, self.n, *(a.data.ptr for a in (c, u, self._marks[0])))

    def settle(self) -> bool:
        """The second launch; whether any vertex is marked, which is copied to the host."""
        import cupy

        (c, u), flag = self._labels, cupy.zeros(1, np.int32)
        self.launch("settle_labels", 1, *(a.data.ptr for a in (c, u, self._marks[0])), self.n, flag.data.ptr)
        return bool(flag[0])

    def end(self, source: int) -> None:
        """The labels are a row of the answer."""
        self.launch("write_rows", 1, self._labels[0].data.ptr, self.answer[source].data.ptr, self.n)


class KempKernel(EdgeKernel):
    """One array of labels of several sources, and a flag on the host; see `semiring.algorithms.history.kemp`."""

    def __init__(self, low: CudaLowering, A: Any):
        import cupy

        super().__init__(low, A)
        self.together = min(max(LABELS // max(self.n, 1), 1), max(self.n, 1), MOST_ROWS)
        self._labels = cupy.empty((self.together, self.n), self.word)
        self._marks = [cupy.empty((self.together, self.n), np.int32) for _ in range(2)]
        self._pinned = cupy.cuda.alloc_pinned_memory(4)
        self._flag = np.frombuffer(self._pinned, np.int32, 1)

    def begin(self, sources: slice) -> None:
        """Labels and marks before the first round."""
        labels, marks = self._labels.data.ptr, [m.data.ptr for m in self._marks]
        self._rows = sources.stop - sources.start
        self.launch("begin", self._rows, labels, labels, *marks, self.n, sources.start)

    def relax(self) -> bool:
        """A round; whether any vertex is marked, which the kernel writes where the host can read it."""
        now, later = self._marks
        self._flag[0] = 0
        self.launch("relax_atomically", self._rows, *self.edges.addresses, self.n, self._labels.data.ptr,
                    now.data.ptr, later.data.ptr, self._pinned.ptr)
        self._marks = [later, now]
        synchronize()
        return bool(self._flag[0])

    def end(self, sources: slice) -> None:
        """The labels are rows of the answer."""
        self.launch("write_rows", self._rows, self._labels.data.ptr, self.answer[sources].data.ptr, self.n)


class TranKernel(EdgeKernel):
    """Labels of all pairs in two matrices; see `semiring.algorithms.history.tran`."""

    def __init__(self, low: CudaLowering, A: Any):
        import cupy

        super().__init__(low, A, into=True)
        self._other = cupy.empty(A.shape, A.dtype)
        for rows in self._runs():
            self.launch("identity", rows.stop - rows.start, A[rows].data.ptr, self.n, rows.start)

    def relax(self) -> bool:
        """D ← D ⊕ D A; whether anything changed, which is copied to the host."""
        import cupy

        D, E, flag = self.answer, self._other, cupy.zeros(1, np.int32)
        for rows in self._runs():
            self.launch("relax_pairs", rows.stop - rows.start, *self.edges.addresses, self.n, D[rows].data.ptr,
                        E[rows].data.ptr, flag.data.ptr)
        self.answer, self._other = E, D
        return bool(flag[0])

    def _runs(self) -> list[slice]:
        """The sources that a launch takes."""
        return [slice(first, min(first + MOST_ROWS, self.n)) for first in range(0, self.n, MOST_ROWS)]
