"""Label correcting on compressed rows, to find a cycle that improves for ever; see `algorithms/relaxation.py`."""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import Any

import numpy as np

from semiring.algorithms.relaxation import _rational as rational
from semiring.algorithms.relaxation import cycle_of
from semiring.laws import is_nan

from .pattern import Index


def improving_cycle(
    indptr: Index, indices: Index, values: np.ndarray, S: Any, sources: list[int]
) -> tuple[list[int] | None, Any]:
    """A cycle that improves for ever and is reached from the sources, and its weight; floats are taken for exact.

    Parameters
    ----------
    indptr, indices : int64 array
    values : ndarray, shape (nnz,)
    S : Semiring
        With a selective ⊕.
    sources : list of int

    Examples
    --------
    >>> import semiring as sr
    >>> weights = np.array([1.0, -3.0])
    >>> improving_cycle(np.array([0, 1, 2]), np.array([1, 0]), weights, sr.min_plus, [0])
    ([0, 1, 0], np.float64(-2.0))
    """
    arithmetic = S.over(values.dtype)
    cycle = relax(indptr, indices, values, arithmetic, sources)
    if cycle is None:
        return None, None
    if values.dtype.kind == "f":
        exact, fractions = S.over(object), rational(values)
        weight = S.one
        for q in edges_of(indptr, indices, cycle):
            weight = exact.scalar["mul"](weight, fractions[q])
        if exact.scalar["add"](S.one, weight) == S.one:
            cycle = relax(indptr, indices, fractions, exact, sources)
            if cycle is None:
                return None, None
    if values.dtype.kind == "O":
        total = S.one
        for q in edges_of(indptr, indices, cycle):
            total = arithmetic.scalar["mul"](total, values[q])
        return cycle, total
    product = np.array([S.one_in(values.dtype)], values.dtype)
    for q in edges_of(indptr, indices, cycle):
        product = np.asarray(arithmetic.mul(product, values[q : q + 1]))
    return cycle, product[0]


def edges_of(indptr: Index, indices: Index, walk: list[int]) -> list[int]:
    """The numbers of the edges along a walk."""
    return [
        int(indptr[u] + np.searchsorted(indices[indptr[u] : indptr[u + 1]], v))
        for u, v in pairwise(walk)
    ]


def relax(indptr: Index, indices: Index, values: np.ndarray, S: Any, sources: list[int]) -> list[int] | None:
    """x_v ← x_v ⊕ x_u ⊗ a_uv until nothing improves (``None``) or predecessors close a cycle, which is returned."""
    n = len(indptr) - 1
    x = np.empty(n, values.dtype)
    x[...] = S.zero
    x[sources] = S.one
    predecessor = np.full(n, -1)
    queue, queued = deque(sources), np.zeros(n, bool)
    queued[sources] = True
    while queue:
        u = queue.popleft()
        queued[u] = False
        begin, end = indptr[u], indptr[u + 1]
        if begin == end:
            continue
        targets = indices[begin:end]
        candidate = np.asarray(S.mul(np.broadcast_to(x[u], end - begin), values[begin:end]))
        best = np.asarray(S.add(x[targets], candidate))
        improved = ~(best == x[targets]) & ~is_nan(best)
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
            return cycle_of(predecessor, v)
    return None
