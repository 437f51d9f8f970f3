"""Sparse factors over Python objects: the same elimination as `fronts.py`, in plain loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.kernels.cpu.dense.objects import ObjectKernel
from semiring.kernels.lowering.base import Lowering

if TYPE_CHECKING:
    from semiring.algorithms.sparse.analysis import Analysis

    from .fronts import CloseFront

Panel = tuple[np.ndarray, np.ndarray, np.ndarray]  # S*, S* ⊗ F[S, U], F[U, S] ⊗ S*


class ObjectFronts:
    """The factors of a sparse matrix of Python objects; see `semiring.kernels.cpu.sparse.fronts.Fronts`."""

    threads = 1

    def __init__(self, analysis: Analysis, lowering: Lowering):
        self.analysis, self.lowering = analysis, lowering
        self._kernel = ObjectKernel(lowering)
        self._scalar = lowering.algebra.over(object).scalar
        self.report: Callable[[float], None] | None = None

    @property
    def nbytes(self) -> int:
        """What the factors take, without the objects themselves."""
        s, u = self.analysis.pivots, self.analysis.reach
        return int((s * (s + 2 * u)).sum()) * self.lowering.storage.itemsize

    def _zeros(self, rows: int, columns: int) -> np.ndarray:
        zeros = np.empty((rows, columns), object)
        for place in np.ndindex(rows, columns):
            zeros[place] = self.lowering.zero[0]
        return zeros

    def factor(self, values: np.ndarray, close: CloseFront) -> int:
        """Eliminate all vertices; `values` are the entries of the compressed rows. What fails, `close` raises."""
        a, add = self.analysis, self._scalar["add"]
        self._values = values
        self._panels: list[Panel] = []
        left: dict[int, np.ndarray] = {}  # what fronts leave for their parents
        child, sibling = a.children
        for k in range(len(a.parent)):
            if self.report is not None:
                self.report(k / len(a.parent))
            s, n = int(a.pivots[k]), int(a.pivots[k] + a.reach[k])
            F = self._zeros(n, n)
            for q in range(a.entry_pointer[k], a.entry_pointer[k + 1]):
                F[a.entry_row[q], a.entry_column[q]] = values[a.entry[q]]
            c = int(child[k])
            while c >= 0:
                position, update = a.position[a.pointer[c] : a.pointer[c + 1]], left.pop(c)
                for i, j in np.ndindex(*update.shape):
                    place = position[i], position[j]
                    F[place] = add(F[place], update[i, j])
                c = int(sibling[c])
            close(F, s, self._kernel, int(a.first[k]))
            left[k] = F[s:, s:]
            self._panels.append((F[:s, :s], F[:s, s:], F[s:, :s]))
        return -1

    @property
    def pivots(self) -> np.ndarray:
        """The diagonal of every S*, in the order of elimination."""
        result = np.empty(self.analysis.n, object)
        for begin, (D, _, _) in zip(self.analysis.first, self._panels, strict=False):
            for i in range(len(D)):
                result[begin + i] = D[i, i]
        return result

    def settle(self, vertices: np.ndarray) -> None:
        """Put 1 on the diagonal of S*; vertices in the order of elimination."""
        for v in vertices.tolist():
            a = self.analysis.owner[v]
            i = v - self.analysis.first[a]
            self._panels[a][0][i, i] = self.lowering.one[0]

    def _parts(self, k: int) -> tuple[slice, np.ndarray]:
        """The vertices that a supernode eliminates, and its boundary."""
        a = self.analysis
        return slice(int(a.first[k]), int(a.first[k + 1])), a.boundary[a.pointer[k] : a.pointer[k + 1]]

    def rows(
        self, sources: np.ndarray, out: np.ndarray, *, reflexive: bool = True, settled: bool = False,
        targets: np.ndarray | None = None, thread_count: int | None = None,
    ) -> None:
        """Rows of A*, or of A⁺, one after the other."""
        a, kernel = self.analysis, self._kernel
        count = len(a.parent)
        for row, source in zip(range(len(sources)) if targets is None else targets, sources, strict=True):
            x = self._zeros(1, a.n)
            start = int(a.place[source])
            x[0, start] = self.lowering.one[0]
            k = int(a.owner[start])
            while k >= 0:
                S, U = self._parts(k)
                D, R, _ = self._panels[k]
                beyond = x[:, U]
                kernel.multiply_add(beyond, x[:, S], R)
                x[:, U] = beyond
                kernel.right(x[:, S], D)
                k = int(a.parent[k])
            for k in reversed(range(count)):
                S, U = self._parts(k)
                kernel.multiply_add(x[:, S], x[:, U], self._panels[k][2])
            if not reflexive:
                x[0, start] = self._cycle(x, start)
            elif settled:
                x[0, start] = self.lowering.one[0]
            out[row] = x[0, a.place]

    def _cycle(self, x: np.ndarray, v: int) -> Any:
        """⊕ over k of x_k ⊗ a_kv."""
        add, mul = self._scalar["add"], self._scalar["mul"]
        pointer, rows, entries = self.analysis.columns
        total = self.lowering.zero[0]
        for q in range(pointer[v], pointer[v + 1]):
            total = add(total, mul(x[0, rows[q]], self._values[entries[q]]))
        return total

    def summaries(self) -> None:
        """There is no short cut to what rows add up to."""

    def columns(self, B: np.ndarray, thread_count: int | None = None) -> None:
        """B ← A* B."""
        a, kernel = self.analysis, self._kernel
        X = B[a.order]
        for k in range(len(a.parent)):
            S, U = self._parts(k)
            D, _, C = self._panels[k]
            beyond = X[U]
            kernel.multiply_add(beyond, C, X[S])
            X[U] = beyond
            kernel.left(D, X[S])
        for k in reversed(range(len(a.parent))):
            S, U = self._parts(k)
            kernel.multiply_add(X[S], self._panels[k][1], X[U])
        B[a.order] = X
