"""Label correcting (Bellman–Ford–Moore) for algebras whose ⊕ selects: one best path, or a cycle that improves for ever.

    x_v ← x_v ⊕ x_u ⊗ a_uv, and u becomes the predecessor of v wherever that improves x_v
"""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from semiring.laws import is_nan


def relax(A: np.ndarray, S: Any, sources: list[int]) -> tuple[np.ndarray, np.ndarray, list[int] | None]:
    """Best weights from the sources, predecessors (−1 for none), and an improving cycle if one was met.

    Parameters
    ----------
    A : ndarray, shape (n, n)
    S : Arithmetic
        Of the dtype of A, with a selective ⊕.
    sources : list of int
        Vertices to start from with weight one.
    """
    n = A.shape[0]
    x = np.empty(n, A.dtype)
    x[...] = S.zero
    x[sources] = S.one
    predecessor = np.full(n, -1)
    queue, queued = deque(sources), np.zeros(n, bool)
    queued[sources] = True
    while queue:
        u = queue.popleft()
        queued[u] = False
        candidate = np.asarray(S.mul(np.broadcast_to(x[u], n), A[u]))
        best = np.asarray(S.add(x, candidate))
        better = np.flatnonzero(~(best == x) & ~is_nan(best))
        if not better.size:
            continue
        x[better] = best[better]
        predecessor[better] = u
        fresh = better[~queued[better]]
        queue.extend(fresh.tolist())
        queued[fresh] = True
        # The edge u → v closes a cycle of predecessors exactly if v is u or one of its ancestors.
        improved = np.zeros(n, bool)
        improved[better] = True
        v = u
        while v >= 0 and not improved[v]:
            v = int(predecessor[v])
        if v >= 0:
            return x, predecessor, cycle_of(predecessor, v)
    return x, predecessor, None


def cycle_of(predecessor: np.ndarray, v: int) -> list[int] | None:
    """The cycle that the predecessors of v run into, in the direction of the edges and closed; ``None`` if they end.

    Examples
    --------
    >>> cycle_of(np.array([2, 0, 1]), 0)
    [0, 1, 2, 0]
    """
    seen: dict[int, int] = {}
    path: list[int] = []
    while v >= 0 and v not in seen:
        seen[v] = len(path)
        path.append(int(v))
        v = int(predecessor[v])
    if v < 0:
        return None
    cycle = path[seen[v] :][::-1]
    start = cycle.index(min(cycle))
    cycle = cycle[start:] + cycle[:start]
    return [*cycle, cycle[0]]


def weight_of(A: np.ndarray, S: Any, vertices: list[int]) -> Any:
    """The ⊗-product along a walk."""
    weight = np.array([S.one], A.dtype) if A.dtype.kind != "O" else None
    if weight is None:
        total = S.one
        for u, v in pairwise(vertices):
            total = S.scalar["mul"](total, A[u, v])
        return total
    for u, v in pairwise(vertices):
        weight = np.asarray(S.mul(weight, A[u, v][None] if A.dtype.names else np.array([A[u, v]], A.dtype)))
    return weight[0]


def path_to(predecessor: np.ndarray, source: int, target: int) -> list[int]:
    """The vertices from the source to a target that was reached."""
    path = [target]
    while path[-1] != source:
        path.append(int(predecessor[path[-1]]))
    return path[::-1]


def improving_cycle(A: np.ndarray, S: Any, vertex: int) -> tuple[list[int] | None, Any, bool]:
    """A cycle that improves for ever, reached from a vertex on one; its weight; whether exact arithmetic confirms it.

    Parameters
    ----------
    A : ndarray, shape (n, n)
    S : Semiring
        With a selective ⊕.
    """
    arithmetic = S.over(A.dtype)
    cycle = relax(A, arithmetic, [vertex])[2]
    if cycle is None:
        return None, None, False
    weight = weight_of(A, arithmetic, cycle)
    if A.dtype.kind != "f":
        return cycle, weight, True
    exact = weight_of(_rational(A, cycle), S.over(object), [*range(len(cycle) - 1), 0])
    return cycle, weight, S.over(object).scalar["add"](S.one, exact) != S.one


def _rational(A: np.ndarray, cycle: list[int]) -> np.ndarray:
    """The matrix of a cycle's vertices, in their order, as fractions."""
    rows = cycle[:-1]
    result = np.empty((len(rows), len(rows)), object)
    for i, u in enumerate(rows):
        for j, v in enumerate(rows):
            a = float(A[u, v])
            result[i, j] = Fraction(a) if np.isfinite(a) else a
    return result
