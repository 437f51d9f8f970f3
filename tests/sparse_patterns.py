"""Sparse patterns and graphs; elimination on sets of neighbours, the definition that the analysis has to agree with."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sp
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


def of_random_graph(n: int, degree: float, seed: int) -> Analysis:
    """The analysis of a random graph."""
    rng = np.random.default_rng(seed)
    m = int(n * degree)
    A = sp.csr_array((np.ones(m), (rng.integers(0, n, m), rng.integers(0, n, m))), shape=(n, n))
    A.sum_duplicates()
    return analyse(A.indptr.astype(np.int64), A.indices.astype(np.int64), leaf=4)


RANDOM = pytest.mark.parametrize(("n", "degree"), [(0, 0.0), (1, 0.0), (40, 0.5), (200, 1.5), (150, 3.0)])


def grid(side: int) -> sp.csr_array:
    """A square grid, undirected, all of whose edges are of length 1."""
    return _grid(side, np.ones(2 * side * (side - 1)))


def weighted_grid(side: int, seed: int = 0) -> sp.csr_array:
    """A square grid, undirected, of random multiples of 1/64."""
    return _grid(side, np.random.default_rng(seed).integers(1, 65, 2 * side * (side - 1)) / 64)


def _grid(side: int, lengths: np.ndarray) -> sp.csr_array:
    number = np.arange(side * side).reshape(side, side)
    across = np.c_[number[:, :-1].ravel(), number[:, 1:].ravel()]
    ends = np.concatenate([across, np.c_[number[:-1].ravel(), number[1:].ravel()]])
    rows, columns = np.concatenate([ends, ends[:, ::-1]]).T
    return sp.csr_array((np.concatenate([lengths, lengths]), (rows, columns)), (side * side, side * side))
