"""Best paths in two stages, where pairs make no semiring: the widest, and of the widest the shortest.

    w_st = the best value of a path from s to t by the first algebra
    d_st = the best value by the second, of the paths whose edges are all no worse than w_st by the first

⊗ of the first algebra selects, and no element is better than one, so that a path is as good as the worst of its edges:
the paths of value w_st are those whose edges are all no worse, as none is better than w_st. The edges that are left
depend on w_st, and so on the target, so that paths from one source make no tree. Values are taken one by one. Each pair
that has the value is searched for from its source or from its target, whichever has more of such pairs. Where all edges
go both ways, the pairs of one value lie between sets of vertices that become connected there, and the searches are two
for each vertex of the smaller one: n log₂ n in all, and n for the paths of no edges.

Z. Wang, J. Crowcroft, Quality-of-service routing for supporting multimedia applications (1996).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from semiring.algebra.elements import equal, full
from semiring.algebra.semiring import Semiring
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.interface import Report
from semiring.machine.progress import part_of, told
from semiring.operands.convert import as_sparse, on_host
from semiring.operands.devices import to_host
from semiring.operands.operand import Operand, order_of_one
from semiring.operands.sparse import Sparse

from ..options import Options
from ..plan import Plan
from ..task import Task, compute, first_offer, options
from .search import Positions, positions
from .trees import best_trees
from .walks import beyond, element_of

FIRST_SHARE = 0.5  # of the time, about, that the first stage takes


def offer(task: Task) -> Plan:
    """Find values of the first algebra by a closure or by searches, and values of the second by searches."""
    given, o = task.given[0], task.options
    n, (sources, limit, ends) = order_of_one(given.shape), task.arguments
    stages = Stages(given)
    starts = None if sources is None else positions(sources, given.names, n)[1]
    found = first_offer(stages.task_of_first(starts, o.without("progress")))
    lines = n if starts is None else len(starts)
    return Plan(
        operation="paths", algebra=task.S, shape=(lines, n),
        method=f"two stages: {found.method}, then searches for each value", lowering=found.lowering,
        place=found.place, work=found.work, memory=found.memory + lines * n * 2 * given.dtype.itemsize,
        runner=partial(_run, stages, found, starts, ends, limit, o), needs=found.needs,
        reasons=found.reasons | {"method": "what is better so far may end worse, so that pairs make no semiring"},
        tile=found.tile,
    )


def _run(
    stages: Stages, first: Plan, starts: np.ndarray | None, ends: np.ndarray | None, limit: Any, o: Options, plan: Plan
) -> tuple[np.ndarray, None, np.ndarray | None]:
    """Return the values of both stages, no tree, and the vertices of the rows."""
    with told(o.progress, f"{plan.algebra.name} paths") as report:
        if o.progress is not False:
            asked = replace(o, progress=part_of(report, 0.0, FIRST_SHARE))
            first = first_offer(stages.task_of_first(starts, asked))
        W = np.asarray(to_host(first.run()))
        roots = np.arange(len(W)) if starts is None else starts
        X = stages.both(W, roots, ends, o.device, limit is not None, part_of(report, FIRST_SHARE, 1.0))
    if limit is not None:
        S = stages.edges.S
        X[beyond(S, X, element_of(S, limit, X.dtype))] = stages.edges.S.zero_in(X.dtype)
    return X, None, starts


class Stages:
    """The edges of a graph by both algebras.

    Parameters
    ----------
    given : Operand
        Over an algebra with stages.

    Attributes
    ----------
    edges : Sparse
        The edges that are there, on the host.
    """

    def __init__(self, given: Operand):
        self.edges = as_sparse(on_host(given)).without_zeros()
        assert given.S.stages is not None
        self.first, self.second = given.S.stages
        self._names = np.split(np.array(given.dtype.names), [len(self.first.over(self.first.default_dtype).components)])
        self._decides = self.part(self.edges.values, 0)

    def part(self, pairs: np.ndarray, which: int) -> np.ndarray:
        """Return one component of pairs, as elements of its algebra."""
        S, names = (self.first, self.second)[which], self._names[which].tolist()
        if not S.is_record:
            return np.ascontiguousarray(pairs[names[0]])
        own = list(S.default_dtype.names or ())
        dtype = np.dtype([(f, pairs.dtype[g]) for f, g in zip(own, names, strict=True)], align=True)
        made = np.empty(pairs.shape, dtype)
        for f, g in zip(own, names, strict=True):
            made[f] = pairs[g]
        return made

    def paired(self, decides: np.ndarray, ties: np.ndarray) -> np.ndarray:
        """Make pairs of elements."""
        made = np.empty(decides.shape, self.edges.dtype)
        for names, part in zip(self._names, (decides, ties), strict=True):
            for f, g in zip(names.tolist(), part.dtype.names or (None,), strict=True):
                made[f] = part if g is None else part[g]
        return made

    def task_of_first(self, starts: np.ndarray | None, o: Options) -> Task:
        """Make the task of the values by the first algebra: a closure, or rows of it."""
        graph = self._graph(self.edges.rows, self._decides, self.first)
        return Task.within("closure", graph, o) if starts is None else _rows(graph, starts, o)

    def within(self, value: Any) -> Sparse:
        """Return the edges that are no worse than a value by the first algebra, with their weights by the second."""
        T, weights = self.first.over(self._decides.dtype), self._decides
        kept = np.asarray(equal(np.asarray(T.add(weights, full(weights, value))), weights), bool)
        made = self.edges.rows.where(kept)
        return self._graph(made, self.part(made.values, 1), self.second)

    def from_sources(self, graph: Sparse, starts: np.ndarray, device: str | None = "cpu") -> np.ndarray:
        """Return the best values from some vertices by the second algebra."""
        return np.asarray(compute(_rows(graph, starts, options(device=device))))

    def both(
        self, W: np.ndarray, starts: np.ndarray, ends: np.ndarray | None, device: str | None, limited: bool,
        report: Report,
    ) -> np.ndarray:
        """Return pairs of both values; zero if there is no path, and for targets that are not asked for.

        Raises
        ------
        SemiringError
            If the dtype cannot hold the second value of a path, unless there is a limit: it is beyond that.
        """
        T = self.second.over(self.part(self.edges.values, 1).dtype)
        D = full(np.empty(W.shape, T.dtype), T.zero)
        for done, value, (i, j) in self._places(W, ends):
            report(done)
            graph = self.within(value)
            forwards = np.full(len(i), True)
            if self.second.commutative:  # one search finds all pairs of its source, or of its target
                forwards = np.bincount(i, minlength=len(starts))[i] >= np.bincount(j, minlength=W.shape[1])[j]
            s, t = i[forwards], j[forwards]
            D[s, t] = self._between(graph, starts[s], t, device, limited)
            if not forwards.all():
                s, t = i[~forwards], j[~forwards]
                D[s, t] = self._between(graph, t, starts[s], device, limited, backwards=True)
        X = self.paired(W, D)
        X[equal(D, full(D, T.zero))] = self.edges.S.zero_in(X.dtype)
        return X

    def _between(
        self, graph: Sparse, tails: np.ndarray, heads: np.ndarray, device: str | None, limited: bool,
        backwards: bool = False,
    ) -> np.ndarray:
        """Return the best values of pairs, by one search from each tail; with `backwards`, to each tail."""
        roots, row = np.unique(tails, return_inverse=True)
        if not roots.size:
            return graph.values[:0]
        X = self.from_sources(graph.T if backwards else graph, roots, device)
        found = X[row, heads]
        lost = equal(found, full(found, graph.S.zero_in(found.dtype)))
        if not limited and lost.any():
            wanted = np.zeros(X.shape, bool)
            wanted[row[lost], heads[lost]] = True
            some = wanted.any(axis=1)
            best_trees(graph, X[some], roots[some], backwards=backwards, wanted=wanted[some])
        return found

    def _places(
        self, W: np.ndarray, ends: np.ndarray | None
    ) -> Iterator[tuple[float, Any, tuple[np.ndarray, np.ndarray]]]:
        """Yield the part of the work that is done, a value that is not zero, and the rows and columns that have it."""
        wanted = ~np.asarray(equal(W, full(W, self.first.zero_in(W.dtype))), bool)
        if ends is not None:
            others = np.full(W.shape[1], True)
            others[ends] = False
            wanted[:, others] = False
        places = np.flatnonzero(wanted)
        values, which = np.unique(W.reshape(-1)[places], return_inverse=True)
        order = np.argsort(which, kind="stable")
        bounds = np.concatenate([[0], np.cumsum(np.bincount(which, minlength=len(values)))])
        for k, value in enumerate(values):
            rows, columns = np.divmod(places[order[bounds[k] : bounds[k + 1]]], W.shape[1])
            yield float(bounds[k] / len(order)), value, (rows, columns)

    def _graph(self, rows: Rows, values: np.ndarray, S: Semiring) -> Sparse:
        stored = values.astype(S.resolve_dtype(values.dtype), copy=False)
        return Sparse(replace(rows, values=stored), S, self.edges.what, self.edges.names)


def _rows(graph: Sparse, starts: np.ndarray, o: Options) -> Task:
    return Task.within("closure_rows", graph, o, (Positions(starts), None, None))
