"""Sparse factors by an engine of arrays, front by front: for Python objects, and where compiling does not repay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.algebra.elements import full
from semiring.kernels.interface import CloseFront, ElementKernel, Report
from semiring.kernels.lowering.base import Lowering

from .dense import operations
from .panels import blocks_of, move

if TYPE_CHECKING:
    from semiring.algorithms.sparse.analysis import Analysis

TOGETHER = 256  # rows of the answer that are computed at once where that is not a loop in Python

Panel = tuple[np.ndarray, np.ndarray, np.ndarray]  # S*, S* ⊗ F[S, U], F[U, S] ⊗ S*


class ArrayFronts:
    """The factors of a sparse matrix; see `semiring.kernels.cpu.sparse.fronts.Fronts`.

    Parameters
    ----------
    analysis : Analysis
    lowering : Lowering
    kernel : ElementKernel
        The engine of the lowering.
    """

    threads = 1

    def __init__(self, analysis: Analysis, lowering: Lowering, kernel: ElementKernel):
        self.analysis, self.lowering, self._kernel = analysis, lowering, kernel
        self._together = 1 if lowering.kind == "objects" else TOGETHER

    @property
    def nbytes(self) -> int:
        """What the factors take, without the objects themselves."""
        s, u = self.analysis.pivots, self.analysis.reach
        return int((s * (s + 2 * u)).sum()) * self.lowering.storage.itemsize

    def factor(self, values: np.ndarray, close: CloseFront, report: Report | None = None) -> int:
        """Eliminate all vertices; `values` are the entries of the compressed rows. What fails, `close` raises."""
        a, kernel = self.analysis, self._kernel
        self._values = values
        self._panels: list[Panel] = []
        left: dict[int, np.ndarray] = {}  # what fronts leave for their parents
        child, sibling = a.children
        for k in range(len(a.parent)):
            if report is not None:
                report(k / len(a.parent))
            s, n = int(a.pivots[k]), int(a.pivots[k] + a.reach[k])
            F = kernel.zeros((n, n))
            entries = slice(a.entry_pointer[k], a.entry_pointer[k + 1])
            F[a.entry_row[entries], a.entry_column[entries]] = values[a.entry[entries]]
            c = int(child[k])
            while c >= 0:
                position = a.position[a.pointer[c] : a.pointer[c + 1]]
                place = np.ix_(position, position)
                F[place] = kernel.add(F[place], left.pop(c))
                c = int(sibling[c])
            close(F, s, kernel, int(a.first[k]))
            left[k] = F[s:, s:]
            self._panels.append((F[:s, :s], F[:s, s:], F[s:, :s]))
        return -1

    def kept(self) -> tuple[int, np.ndarray]:
        """The rows for which panels are laid out, and their bytes; not for Python objects."""
        blocks = [part.T.reshape(-1) for D, R, C in self._panels for part in (D, C, R)]
        stored = np.concatenate([*blocks, self.lowering.empty((0,))])
        parts = [stored[f] for f in stored.dtype.names] if stored.dtype.names else [stored]
        return 1, np.concatenate([np.ascontiguousarray(part).view(np.uint8) for part in parts])

    def restore(self, values: np.ndarray, rows: int, panels: Sequence[np.ndarray]) -> None:
        """Take factors from elsewhere in place of eliminating; see the other engine."""
        a, low = self.analysis, self.lowering
        blocks = blocks_of(a, 1)
        stored = low.empty((blocks.end,))
        names = stored.dtype.names
        move(a, panels, rows, [stored[f] for f in names] if names else [stored], 1, low.zero)
        parts = [stored[b : b + size] for b, size in zip(blocks.begins.tolist(), blocks.sizes.tolist(), strict=True)]
        shapes = list(zip(a.pivots.tolist(), a.reach.tolist(), strict=True))
        self._values, turned = values, np.ascontiguousarray  # BLAS rounds by the layout of what it is given
        self._panels = [
            (turned(parts[3 * k].reshape(s, s).T), turned(parts[3 * k + 2].reshape(u, s).T),
             turned(parts[3 * k + 1].reshape(s, u).T))
            for k, (s, u) in enumerate(shapes)
        ]

    @property
    def pivots(self) -> np.ndarray:
        """The diagonal of every S*, in the order of elimination."""
        return np.concatenate([np.diagonal(D) for D, _, _ in self._panels] or [self._kernel.zeros((0,))])

    def settle(self, vertices: np.ndarray) -> None:
        """Put 1 on the diagonal of S*; vertices in the order of elimination."""
        for v in vertices.tolist():
            a = self.analysis.owner[v]
            i = v - self.analysis.first[a]
            self._panels[a][0][i, i] = self.lowering.unit

    def _parts(self, k: int) -> tuple[slice, np.ndarray]:
        """The vertices that a supernode eliminates, and its boundary."""
        a = self.analysis
        return slice(int(a.first[k]), int(a.first[k + 1])), a.boundary[a.pointer[k] : a.pointer[k + 1]]

    def rows(
        self, sources: np.ndarray, out: np.ndarray, *, reflexive: bool = True, settled: bool = False,
        targets: np.ndarray | None = None, ends: np.ndarray | None = None, thread_count: int | None = None,
    ) -> None:
        """Rows of A*, or of A⁺; of some columns, if `ends` says which."""
        targets = np.arange(len(sources)) if targets is None else targets
        for begin in range(0, len(sources), self._together):
            some = slice(begin, begin + self._together)
            out[targets[some]] = self._rows(sources[some], reflexive, settled, ends)

    def _rows(self, sources: np.ndarray, reflexive: bool, settled: bool, ends: np.ndarray | None) -> np.ndarray:
        """Rows of some sources: up to the roots from where they are eliminated, and down to where they are wanted."""
        a, kernel, one = self.analysis, self._kernel, self.lowering.unit
        x, starts, line = kernel.zeros((len(sources), a.n)), a.place[sources], np.arange(len(sources))
        x[line, starts] = full(x[line, starts], one)  # whose elements may be tuples
        down = range(len(a.parent)) if ends is None else self._above(self._needed(starts, ends, reflexive))
        self._solve(x, self._above(starts), down)
        if not reflexive:
            for row, v in enumerate(starts.tolist()):
                x[row, v] = self._cycle(x[row : row + 1], v)
        elif settled:
            x[line, starts] = full(x[line, starts], one)
        return np.asarray(x[:, a.place if ends is None else a.place[ends]])

    def _solve(self, x: np.ndarray, up: Sequence[int], down: Sequence[int]) -> None:
        """Rows x ← x A*, in the order of elimination: up these supernodes, and down those."""
        kernel = self._kernel
        for k in up:
            S, U = self._parts(k)
            D, R, _ = self._panels[k]
            beyond = x[:, U]
            kernel.multiply_add(beyond, x[:, S], R)
            x[:, U] = beyond
            kernel.right(x[:, S], D)
        for k in reversed(down):
            S, U = self._parts(k)
            kernel.multiply_add(x[:, S], x[:, U], self._panels[k][2])

    def _needed(self, starts: np.ndarray, ends: np.ndarray, reflexive: bool) -> np.ndarray:
        """The places of the vertices that are wanted, and of those before the sources where walks have edges."""
        if reflexive:
            return self.analysis.place[ends]
        pointer, rows, _ = self.analysis.columns
        before = [rows[pointer[v] : pointer[v + 1]] for v in starts.tolist()]
        return np.concatenate([self.analysis.place[ends], *before])

    def _above(self, starts: np.ndarray) -> list[int]:
        """The supernodes of some vertices and all that are above them, in the order of elimination."""
        found: set[int] = set()
        for k in set(self.analysis.owner[starts].tolist()):
            while k >= 0 and k not in found:
                found.add(k)
                k = int(self.analysis.parent[k])
        return sorted(found)

    def _cycle(self, x: np.ndarray, v: int) -> Any:
        """⊕ over k of x_k ⊗ a_kv."""
        pointer, rows, entries = self.analysis.columns
        some = slice(pointer[v], pointer[v + 1])
        return self._kernel.diagonal(x[:, rows[some]], self._values[entries[some], None])[0]

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

    def left(self, B: np.ndarray) -> None:
        """B ← B A*."""
        a = self.analysis
        X, every = B[:, a.order], range(len(a.parent))
        self._solve(X, every, every)
        B[:, a.order] = X


def seconds(lowering: Lowering, rounds: float, terms: float) -> float:
    """What so many steps of k on fronts, with so many terms in all, are predicted to take."""
    return operations(lowering).seconds(rounds, terms)
