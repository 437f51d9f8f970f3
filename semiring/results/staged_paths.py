"""Best paths in two stages; paths from one source do not form a tree, and each is found when it is asked for."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property, partial

import numpy as np

from semiring.algebra.elements import equal, full
from semiring.errors import GraphError, LawError
from semiring.graphs.graph import Graph
from semiring.graphs.texts import clip_repr
from semiring.operands.operand import Operand
from semiring.solvers.paths.stages import Stages
from semiring.solvers.paths.trees import best_trees

from .paths import Paths, followed


class StagedPaths(Paths):
    """Best paths by one algebra, with ties broken by another; `semiring.paths` makes them.

    Like `Paths`, but the beginning of a best path need not be a best path itself, because another one may be wider than
    the whole path. So there are no next hops, predecessors and trees.

    Parameters
    ----------
    given : Operand
        The graph, over an algebra with stages.
    weights : ndarray of records, shape (k, n)
        The values of both stages.
    tree : None
    sources, targets : ndarray of int64, shape (k,), optional
        Positions; None: all vertices.
    """

    def __init__(
        self, given: Operand, weights: np.ndarray, tree: None, sources: np.ndarray | None = None,
        targets: np.ndarray | None = None, limited: bool = False,
    ):
        super().__init__(given, weights, np.empty((0, 0), np.int32), sources, targets, limited)

    @property
    def next_hop(self) -> np.ndarray:
        """Missing: best paths in two stages have no next hops and no predecessors.

        Raises
        ------
        LawError
            Always: a neighbour on a path may have a better path of its own.
        """
        raise LawError(self._no("next hops and no predecessors"))

    predecessors = next_hop

    def tree(self, source: Hashable) -> Graph:
        """Missing: best paths in two stages have no trees.

        Raises
        ------
        LawError
            Always.
        """
        raise LawError(self._no(f"tree from {clip_repr(source)}"))

    def _no(self, what: str) -> str:
        return (f"best paths by {self.semiring.name} have no {what}: a part of a best path need not be one. Ask for "
                "the paths themselves, R[source, target] or R.walk(sources, targets)")

    @cached_property
    def _stages(self) -> Stages:
        return Stages(self._given)

    @cached_property
    def _led(self) -> np.ndarray:
        starts = np.arange(self.n) if self._starts is None else self._starts
        led = ~np.asarray(equal(self._host, full(self._host, self.semiring.zero_in(self._host.dtype))), bool)
        led[np.arange(len(starts)), starts] = False
        return led

    def _walks(self, rows: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> list[list[int] | None]:
        """The positions along many walks: for each value of the first stage, trees of the edges that are as good."""
        asked = ends if self._ends is None else np.intersect1d(ends, self._ends)
        for v in np.setdiff1d(ends, asked)[:1].tolist():
            raise GraphError(f"vertex {clip_repr(self._given.position(v))} was not among the targets: pass it in "
                             "targets=")
        walks: list[list[int] | None] = [[int(s)] if s == e else None for s, e in zip(starts, ends, strict=True)]
        left = np.flatnonzero(self._led[rows, ends])
        values = self._stages.part(self._host[rows, ends], 0)
        for value in np.unique(values[left]):
            here = left[equal(values[left], full(values[left], value))]
            graph = self._stages.within(value)
            roots, row = np.unique(starts[here], return_inverse=True)
            wanted = np.zeros((len(roots), self.n), bool)
            wanted[row, ends[here]] = True
            before = best_trees(graph, self._stages.from_sources(graph, roots), roots, wanted=wanted)
            found = followed(partial(_before, before, row), ends[here], starts[here])
            for i, walk in zip(here.tolist(), found, strict=True):
                walks[i] = None if walk is None else walk[::-1]
        return walks


def _before(tree: np.ndarray, rows: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """The vertex before each in a row of its own."""
    return np.asarray(tree[rows, vertices])
