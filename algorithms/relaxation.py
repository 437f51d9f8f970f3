"""Label correcting (Bellman–Ford–Moore) for algebras whose ⊕ selects: one best path, or a cycle that improves for ever.

    x_v ← x_v ⊕ x_u ⊗ a_uv, and u becomes the predecessor of v wherever that improves x_v
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
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
    everything = np.arange(n)
    return follow(n, A.dtype, S, sources, lambda u: (everything, A[u]))


def follow(
    n: int, dtype: np.dtype, S: Any, sources: list[int], edges: Callable[[int], tuple[np.ndarray, np.ndarray]]
) -> tuple[np.ndarray, np.ndarray, list[int] | None]:
    """`relax` where `edges(u)` gives the vertices that u has edges to, each once, and the weights of those edges."""
    x = np.empty(n, dtype)
    x[...] = S.zero
    x[sources] = S.one
    predecessor = np.full(n, -1)
    queue, queued = deque(sources), np.zeros(n, bool)
    queued[sources] = True
    while queue:
        u = queue.popleft()
        queued[u] = False
        targets, weights = edges(u)
        if not len(targets):
            continue
        before = x[targets]
        best = np.asarray(S.add(before, np.asarray(S.mul(np.broadcast_to(x[u], len(targets)), weights))))
        improved = ~(best == before) & ~is_nan(best)
        better = targets[improved]
        if not better.size:
            continue
        x[better] = best[improved]
        predecessor[better] = u
        fresh = better[~queued[better]]
        queue.extend(fresh.tolist())
        queued[fresh] = True
        # The edge u → v closes a cycle of predecessors exactly if v is u or one of its ancestors.
        closing, v = set(better.tolist()), u
        while v >= 0 and v not in closing:
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


def improving_cycle(A: np.ndarray, S: Any, sources: list[int]) -> tuple[list[int] | None, Any]:
    """A cycle that improves for ever and is reached from the sources, and its weight; floats are taken for exact.

    Parameters
    ----------
    A : ndarray, shape (n, n)
    S : Semiring
        With a selective ⊕.
    sources : list of int
    """
    _, _, cycle, weight = relax_exactly(A, S, sources)
    return cycle, weight


def relax_exactly(
    A: np.ndarray, S: Any, sources: list[int]
) -> tuple[np.ndarray, np.ndarray, list[int] | None, Any]:
    """`relax`, with the weight of the cycle; a cycle that only rounding makes improve is none.

    Floats are tried first, and are fractions where they find a cycle that does not improve in exact arithmetic.
    """
    arithmetic = S.over(A.dtype)
    x, predecessor, cycle = relax(A, arithmetic, sources)
    if cycle is None:
        return x, predecessor, None, None
    if A.dtype.kind == "f":
        exact = S.over(object)
        weight = weight_of(rational(A[np.ix_(cycle, cycle)]), exact, [*range(len(cycle))])
        if exact.scalar["add"](S.one, weight) == S.one:
            x, predecessor, cycle = relax(rational(A), exact, sources)
            x = x.astype(A.dtype)
    return x, predecessor, cycle, None if cycle is None else weight_of(A, arithmetic, cycle)


def rational(A: np.ndarray) -> np.ndarray:
    """Finite floats as the fractions that they are."""
    return np.frompyfunc(lambda a: Fraction(a) if np.isfinite(a) else a, 1, 1)(A.astype("f8").astype(object))
