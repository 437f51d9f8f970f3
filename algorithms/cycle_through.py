"""Cycles through a vertex by other vertices that are given, shortest first: what its star sums when it is eliminated.

Eliminating v sums the walks from v to v by way of the vertices that were eliminated before it; each simple one is a
cycle. One search breadth first from v finds a shortest cycle by way of every last edge u → v.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from semiring.algebra.elements import full

from .labels import Graph, path_to


def cycles_through(G: Graph, zero: Any, v: int, between: np.ndarray) -> Iterator[list[int]]:
    """A shortest cycle for each last edge to v, those of few edges first.

    Parameters
    ----------
    G : Graph
    zero : element
        In place of a missing edge.
    v : int
    between : ndarray of bool, shape (n,)
        The vertices that a cycle may lead through.

    Yields
    ------
    list of int
        From v to v.

    Examples
    --------
    >>> from semiring.algorithms.labels import Dense
    >>> G = Dense(np.array([[0, 2, 0], [0, 0, 3], [5, 7, 0]]))
    >>> list(cycles_through(G, 0, 1, np.array([True, False, True])))
    [[1, 2, 1], [1, 2, 0, 1]]
    """
    before = np.full(G.n, -1)
    waiting = deque([v])
    while waiting:
        u = waiting.popleft()
        heads, weights = G.edges(u)
        heads = heads[weights != full(weights, zero)]
        if (heads == v).any():
            yield [*path_to(before, v, u), v]
        fresh = heads[between[heads] & (before[heads] < 0) & (heads != v)]
        before[fresh] = u
        waiting.extend(fresh.tolist())


def is_endless_chain(G: Graph, part: np.ndarray) -> bool:
    """Whether no edge leaves some vertices, and the weights out of each are shares that add up to 1."""
    if G.values.dtype.kind != "f":
        return False
    slack, inside = 4 * G.n * np.finfo(G.values.dtype).eps, np.zeros(G.n, bool)
    inside[part] = True
    rows = [G.edges(int(u)) for u in part]
    return all((w >= 0).all() and inside[v[w > 0]].all() and abs(w.sum() - 1) <= slack for v, w in rows)
