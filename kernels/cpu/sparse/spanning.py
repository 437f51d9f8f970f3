"""Bottleneck closures of symmetric matrices by a spanning tree, on the CPU: n² steps in place of n³.

If ⊕ takes the better and ⊗ the worse of two elements, a walk has the weight of its worst edge, and best walks follow a
best spanning tree. Let v₀, v₁, … be the order in which Prim's algorithm adds vertices, by edges of weights w₁, w₂, ….
Then for i < j

    A*[vᵢ, vⱼ] = wᵢ₊₁ ⊗ … ⊗ wⱼ

so that a row is a running product to either side, and a permutation. The same holds for any order of the vertices in
which each edge of the tree joins two runs of them, with its weight where they meet; Kruskal's algorithm makes one.

R. C. Prim, Shortest connection networks and some generalizations (1957); J. C. Gower, G. J. S. Ross, Minimum spanning
trees and single linkage cluster analysis (1969).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from semiring.kernels.cpu.compile.program import Program
from semiring.machine.pieces import ranges, share
from semiring.machine.threads import scratch

from .kernel import RowsKernel, comparing
from .search import INDEX

STEPS = 1 << 27  # that compiled code does before an interrupt is heard
LEAST_ROWS = 32  # rows that are worth the running product that they begin with
RECODED = '''\
@inline
def recoded(x, mask):
    return {}


'''


class SpanningKernel(RowsKernel):
    """Spanning trees and closures by them, for one semiring in one storage type; see `RowsKernel`.

    `mask`: the bits that are flipped in negative elements of a matrix to make elements in storage, and back.
    """

    template, needs = Path(__file__).with_name("spanning_template.py"), ("span", "fill")

    @classmethod
    def text_of(cls, text: Program) -> tuple[str, str]:
        kind, code = text.components[0], "x"
        if len(text.components) == 1 and kind.kind == "i":
            name = f"np.{kind.name}"
            code = f"as_element(ELEMENT, x ^ ((x >> {name}({8 * kind.itemsize - 1})) & {name}(mask)))"
        return comparing(replace(text, prelude=RECODED.format(code) + text.prelude), cls.template)

    def tree(self, A: np.ndarray, mask: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """The order in which Prim's algorithm adds the vertices, and the weights of the edges that add them.

        Parameters
        ----------
        A : ndarray, shape (n, n)
            Symmetric, C-contiguous; its diagonal is not read. n is at least 1.
        mask : int
        """
        n, size = len(A), self.dtype.itemsize
        order, weights = np.zeros(n, INDEX), np.empty(n, self.dtype)
        _memory, room = scratch(n * (size + INDEX.itemsize) + 64)
        span, step = self.module.span.made(), max(STEPS // n, 1)
        for first in range(1, max(n, 2), step):
            span(A.ctypes.data, A.strides[0], n, order.ctypes.data, weights.ctypes.data, room + n * size, room, first,
                 min(first + step, n), mask, 1)
        return order, weights

    def fill(self, D: np.ndarray, order: np.ndarray, weights: np.ndarray, reflexive: bool, mask: int = 0) -> None:
        """D ← A*, or A⁺ where D has A's diagonal.

        Parameters
        ----------
        D : ndarray, shape (n, n)
            C-contiguous.
        order, weights : ndarray
            Of `tree`, or a like order.
        reflexive : bool
        mask : int
        """
        n, fill = len(order), self.module.fill.made()
        place = np.empty(n, INDEX)
        place[order] = np.arange(n)
        shared = [array.ctypes.data for array in (order, place, weights)]

        def part(first: int, last: int) -> None:
            _memory, row = scratch(n * self.dtype.itemsize)
            fill(D.ctypes.data, D.strides[0], n, *shared, first, last, int(reflexive), row, mask, 1)

        parts = max(self.threads, -(-n * n // STEPS))
        share(part, ranges(n, min(parts, -(-n // LEAST_ROWS))), self.threads)
