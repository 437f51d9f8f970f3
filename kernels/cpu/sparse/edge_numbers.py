"""Trees of best walks by edge numbers: a byte for each vertex, instead of the four bytes of a position.

The edge to a vertex is one of the edges that lead to it; most graphs have few of these, and the number of the edge
among them is known when it is chosen. For all pairs this takes a quarter of the memory, and of the time to allocate it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from semiring.kernels.cpu.compile.price import Code
from semiring.machine.pieces import parts_worth, ranges, share
from semiring.machine.threads import thread_count

VERTEX = np.dtype(np.int32)
NUMBER = np.dtype(np.int8)  # of an edge: distinguishes up to 127
MOST_EDGES = int(np.iinfo(NUMBER).max)
LOOK = 1.5e-9  # seconds in which NumPy finds a vertex from a number
STRIP = 1 << 16  # numbers that NumPy looks at together
NONE = -1

CODE = Code.of_loops(Path(__file__).with_name("edge_numbers_loops.py"), ("name_rows", "name_lines"), each=0.3)


@dataclass(frozen=True, eq=False)
class EdgeNumbers:
    """Trees, of which each vertex has the number of the edge to it, among all that lead to it in compressed rows.

    Parameters
    ----------
    numbers : ndarray of int8, shape (k, n) or (n, k)
        Negative where there is no edge.
    offsets : ndarray of int64, shape (n + 1,)
    columns : ndarray of int32
        Edge p of those to v comes from ``columns[offsets[v] + p]``.
    axis : {1, 0}
        Along which the vertices lie; lines of trees along the other.

    Examples
    --------
    >>> tree = EdgeNumbers(np.array([[-1, 0, 1]], np.int8), np.array([0, 0, 1, 3]), np.array([0, 0, 1], np.int32))
    >>> tree.vertices().tolist(), int(tree.at(0, 2))
    ([[-1, 0, 1]], 1)
    """

    numbers: np.ndarray
    offsets: np.ndarray
    columns: np.ndarray
    axis: int = 1

    def kept(self) -> EdgeNumbers:
        """A copy with edges of its own: the caller may change those of a matrix that was passed."""
        return EdgeNumbers(self.numbers, self.offsets.copy(), self.columns.copy(), self.axis)

    @property
    def T(self) -> EdgeNumbers:
        """The same with lines and vertices exchanged."""
        return EdgeNumbers(self.numbers.T, self.offsets, self.columns, 1 - self.axis)

    def at(self, rows: np.ndarray | int, columns: np.ndarray | int) -> np.ndarray:
        """The vertices that stand before some: elements of `vertices`, whose places broadcast."""
        numbers = np.asarray(self.numbers[rows, columns])
        there = numbers >= 0
        places = self.offsets[:-1][(rows, columns)[self.axis]] + numbers  # −1 is the last, as in arrays
        return np.where(there, self.columns[np.where(there, places, 0)] if len(self.columns) else NONE, NONE)

    def vertices(self) -> np.ndarray:
        """The vertex before each: an array of int32, −1 where there is none, in the order of the numbers in memory."""
        by_vertex = self.numbers if self.axis == 0 else self.numbers.T
        turned = by_vertex.strides[0] < by_vertex.strides[1]  # lines lie in memory one after the other
        lines = np.ascontiguousarray(by_vertex.T if turned else by_vertex)
        found = np.empty(lines.shape, VERTEX)
        if CODE.repays(lines.size * LOOK):
            self._compiled(lines, found, turned)
        else:
            CODE.rent(self._by_numpy, lines, found, turned)
        by_vertex = found.T if turned else found
        return by_vertex if self.axis == 0 else by_vertex.T

    def _compiled(self, lines: np.ndarray, found: np.ndarray, turned: bool) -> None:
        from .edge_numbers_loops import name_lines, name_rows  # they load Numba

        name = name_lines if turned else name_rows
        shared = [a.ctypes.data for a in (self.offsets, self.columns, lines, found)]
        width = lines.shape[1]
        share(lambda first, last: name(first, last, width, *shared),
              ranges(len(lines), parts_worth(lines.size, thread_count())), None)

    def _by_numpy(self, lines: np.ndarray, found: np.ndarray, turned: bool) -> None:
        if not turned:
            for v in range(len(lines)):
                edges = self.columns[self.offsets[v] : self.offsets[v + 1]]
                np.take(np.append(edges, VERTEX.type(NONE)), lines[v], mode="wrap", out=found[v])
            return
        step = max(STRIP // max(lines.shape[1], 1), 1)
        for begin in range(0, len(lines), step):
            some = np.s_[begin : begin + step]
            rows, vertices = np.arange(len(lines))[some, None], np.arange(lines.shape[1])
            found[some] = EdgeNumbers(lines, self.offsets, self.columns).at(rows, vertices)
