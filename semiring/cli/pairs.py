"""Values of a closure and best paths for pairs of vertices, a few sources at a time, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from semiring.api import closure, closure_rows, matmul, path, paths, solve
from semiring.graphs.texts import is_same
from semiring.machine.progress import told

from .inputs import Given, label_of

TOGETHER = 1 << 22  # elements of rows in memory at once

Progress = bool | Callable[[float], None]


class Pair(NamedTuple):
    """Two vertices, the value of the best walk between them, and its vertices; by name if there are names."""

    source: Any
    target: Any
    value: Any
    walk: Sequence[Any] = ()


class Asked(NamedTuple):
    """The pairs to compute, and how.

    Parameters
    ----------
    sources, targets : list of int, optional
        Positions; None: all vertices.
    walks : bool
        Whether to return the vertices of walks.
    limit : element, optional
        Leave out pairs with a worse value.
    method : str
    reflexive : bool
    tol : float, optional
        As of `semiring.closure`.
    """

    sources: list[int] | None = None
    targets: list[int] | None = None
    walks: bool = False
    limit: Any = None
    method: str = "auto"
    reflexive: bool = True
    tol: float | None = None

    def together(self, count: int, n: int) -> int:
        """How many sources are computed at a time: all of them with `tol`, which must apply to all or none."""
        return max(1, count if self.tol is not None else TOGETHER // max(n, 1))


def pairs(given: Given, asked: Asked, progress: Progress = False) -> Iterator[Pair]:
    """Yield the pairs source by source, as they are found."""
    n = given.graph.n
    starts = list(range(n)) if asked.sources is None else asked.sources
    ends = list(range(n)) if asked.targets is None else asked.targets
    if asked.walks or asked.limit is not None:
        yield from _best_paths(given, starts, ends, asked, progress)
        return
    called = [label_of(given.graph, v) for v in ends]
    for sources, rows in _values(given, starts, ends, asked, progress):
        for start, row in zip(sources, rows, strict=True):
            source = label_of(given.graph, start)
            yield from (Pair(source, target, value) for target, value in zip(called, row, strict=True))


def _best_paths(given: Given, starts: list[int], ends: list[int], asked: Asked, progress: Progress) -> Iterator[Pair]:
    graph, S, A = given.graph, given.S, given.A
    called = [label_of(graph, v) for v in ends]
    if len(starts) == len(ends) == 1 and asked.limit is None and asked.method == "auto":
        source, target = label_of(graph, starts[0]), called[0]
        with told(progress, "searching"):
            value, vertices = path(A, S, source, target, tol=asked.tol)  # may repeat a cycle
        yield Pair(source, target, value, vertices or ())
        return
    whole = asked.method != "auto"  # a method of the closure gives all rows at once
    step = max(1, len(starts)) if whole else asked.together(len(starts), graph.n)
    with told(False if whole else progress, "searching") as tell:
        for begin in range(0, len(starts), step):
            part = [label_of(graph, v) for v in starts[begin : begin + step]]
            some = {"method": asked.method, "progress": progress} if whole else {"sources": part}
            R: Any = paths(A, S, targets=called, limit=asked.limit, tol=asked.tol, **some)
            rows = R.weights[np.array(starts)] if whole else R.weights
            for source, row in zip(part, rows, strict=True):
                walks = R.walk(source, called) if asked.walks else [None] * len(called)
                zero = S.zero_in(row.dtype)
                for target, value, walk in zip(called, row, walks, strict=True):
                    if asked.limit is None or not is_same(value, zero):
                        yield Pair(source, target, value, walk or ())
            tell(min(begin + step, len(starts)) / len(starts))


def _values(
    given: Given, starts: list[int], ends: list[int], asked: Asked, progress: Progress
) -> Iterator[tuple[list[int], np.ndarray]]:
    """Yield rows of the closure at the targets, a few sources at a time."""
    graph, S, A = given.graph, given.S, given.A
    as_given = asked.tol is None or asked.reflexive  # otherwise tol would change A in A ⊗ A* too
    if asked.method != "auto" or asked.sources is asked.targets is None or not as_given:
        C = closure(A, S, method=asked.method, reflexive=asked.reflexive, progress=progress, tol=asked.tol)
        yield starts, C.array[np.ix_(starts, ends)]
        return
    by_rows = len(starts) <= len(ends)
    if S.selective and asked.reflexive and by_rows:
        step = asked.together(len(starts), graph.n)
        with told(progress, "searching") as tell:
            for begin in range(0, len(starts), step):
                part = starts[begin : begin + step]
                yield part, closure_rows(A, S, [label_of(graph, v) for v in part], tol=asked.tol)[:, ends]
                tell((begin + len(part)) / len(starts))
    elif S.selective and asked.reflexive and "commutative" in S.flags:
        with told(progress, "searching"):
            columns = closure_rows(given.reversed(), S, [label_of(graph, v) for v in ends], tol=asked.tol)
        yield starts, columns[:, starts].T
    elif by_rows:  # X = X ⊗ A ⊕ B has the solution B ⊗ A*, and A⁺ = A ⊗ A*
        B = given.units(starts)
        X = solve(A, B if asked.reflexive else matmul(B, A, S), S, left=True, tol=asked.tol, progress=progress)
        yield starts, np.asarray(X)[:, ends]
    else:
        B = given.units(ends).T
        X = solve(A, B if asked.reflexive else matmul(A, B, S), S, tol=asked.tol, progress=progress)
        yield starts, np.asarray(X)[starts]
