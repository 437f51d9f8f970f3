"""Small sparse patterns, and elimination on sets of neighbours: the definition that the analysis has to agree with."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
from hypothesis import strategies as st

from semiring.algorithms.sparse.analysis import Analysis, analyse

Edges = list[tuple[int, int]]
ORDERS = ["amd", "levels", "natural"] + ["metis"] * (find_spec("pymetis") is not None)
analyses = st.tuples(st.sampled_from(ORDERS), st.sampled_from([0, 2, 5, 32]), st.booleans())  # how to make one


@st.composite
def patterns(draw: st.DrawFn, largest: int = 24) -> tuple[int, Edges]:
    """Directed edges over n vertices, few or many, with loops."""
    n = draw(st.integers(0, largest))
    if not n:
        return 0, []
    vertex = st.integers(0, n - 1)
    edges = draw(st.sets(st.tuples(vertex, vertex), max_size=draw(st.sampled_from([0, n, 3 * n]))))
    return n, sorted(edges)


def rows(n: int, edges: Edges) -> tuple[np.ndarray, np.ndarray]:
    """Compressed rows."""
    indptr = np.zeros(n + 1, np.int64)
    for u, _ in edges:
        indptr[u + 1] += 1
    return np.cumsum(indptr), np.array([v for _, v in sorted(edges)], np.int64)


def touched(n: int, edges: Edges, order: np.ndarray) -> list[set[int]]:
    """For the k-th vertex of an order, the later ones (as places) that its elimination touches."""
    place = {int(v): k for k, v in enumerate(order)}
    near: list[set[int]] = [set() for _ in range(n)]
    for u, v in edges:
        if u != v:
            near[place[u]].add(place[v])
            near[place[v]].add(place[u])
    later = []
    for k in range(n):
        beyond = {j for j in near[k] if j > k}
        for j in beyond:
            near[j] |= beyond - {j}
        later.append(beyond)
    return later


def analysed(pattern: tuple[int, Edges], how: tuple[str, int, bool]) -> tuple[Analysis, list[set[int]]]:
    """The analysis of a pattern, and what `touched` finds in its order."""
    (n, edges), (method, leaf, merge) = pattern, how
    found = analyse(*rows(n, edges), method=method, leaf=leaf, merge=merge)
    return found, touched(n, edges, found.order)
