"""Label correcting on compressed rows, to find a cycle that improves for ever; see `algorithms/relaxation.py`."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from semiring.algorithms.relaxation import follow, rational

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

    def edges(u: int) -> tuple[np.ndarray, np.ndarray]:
        row = slice(indptr[u], indptr[u + 1])
        return indices[row], values[row]

    return follow(len(indptr) - 1, values.dtype, S, sources, edges)[2]
