"""For every vertex the best of some places to come from: one search from all of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import GraphError
from semiring.kernels.blocks.rows import Rows
from semiring.operands.convert import as_sparse, on_host
from semiring.operands.operand import Operand, order_of_one
from semiring.operands.sparse import Sparse
from semiring.solvers.search import positions
from semiring.solvers.task import Task, compute, options

ROOT = object()  # what the vertex with an edge to every place is called, where vertices have names


class Nearest(NamedTuple):
    """The value of a best walk from any of some places to each vertex, and the place that it comes from."""

    weights: np.ndarray
    places: np.ndarray


def nearest(A: Any, S: Semiring | str, places: Any) -> Nearest:
    """For every vertex the best of some places to come from, and how good the way is, where ⊕ selects.

    One search from all places at once. For the nearest place to go to, pass the reversed graph, or A.T.

    Parameters
    ----------
    A : array_like, sparse matrix or graph, shape (n, n)
        As for `closure`.
    S : Semiring or str
        With a selective ⊕.
    places : vertex or sequence of vertices
        By name where A has names, else by position; at least one.

    Returns
    -------
    weights : ndarray of A's dtype, shape (n,)
        ⊕ over all walks from any of the places; zero where none leads.
    places : ndarray, shape (n,)
        The place that the best walk comes from: names, as objects, where A has names (None where no walk leads), else
        positions of int32 (−1 where none does).

    Raises
    ------
    LawError
        When ⊕ does not select, or the algebra is not a semiring.
    NoClosureError
        When an improving cycle can be reached from a place.
    SemiringError
        For an unknown vertex, no place, or an entry that is not an element.

    Notes
    -----
    The search of `closure_rows` from a vertex with an edge of weight one to every place. M. Erwig, The graph Voronoi
    diagram with applications, Networks (2000).

    Examples
    --------
    >>> import semiring as sr
    >>> roads = sr.as_graph([("Ayr", "Bo", 3.0), ("Bo", "Cole", 1.0), ("Dale", "Cole", 2.0)])
    >>> found = sr.nearest(roads, sr.min_plus, ["Ayr", "Dale"])
    >>> found.weights, found.places.tolist()
    (array([0., 3., 2., 0.]), ['Ayr', 'Ayr', 'Dale', 'Dale'])
    """
    given = Task("rows", S, (A,), options(), (places,)).given[0]
    n = order_of_one(given.shape)
    starts = np.unique(positions(places, given.names, n)[1])
    if not starts.size:
        raise GraphError("nearest needs at least one place")
    whole = with_a_root(given, starts)
    root = n if given.names is None else ROOT
    x, before = compute(Task("rows", given.S, (whole,), options(predecessors=True), (root,)))
    origin = origins(before, starts)
    weights = given.in_callers_dtype(np.ascontiguousarray(x[:n]))
    if given.names is None:
        return Nearest(weights, origin)
    named = np.empty(n + 1, object)
    named[:n] = given.names
    return Nearest(weights, named[origin])


def with_a_root(given: Operand, starts: np.ndarray) -> Sparse:
    """The graph and one vertex more, with an edge of weight one to each of some."""
    rows = as_sparse(on_host(given)).rows
    ones = np.full(len(starts), given.S.one_in(given.dtype), given.dtype)
    offsets = np.append(rows.offsets, rows.offsets[-1] + len(starts))
    made = Rows(offsets, np.append(rows.columns, starts.astype(np.int32)), np.append(rows.values, ones), rows.width + 1)
    names = None if given.names is None else [*given.names, ROOT]
    return Sparse(made, given.S, given.what, names)


def origins(before: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The place at which the way back from each vertex ends; −1 where there is none."""
    n = len(before) - 1
    here = np.append(before[:n], np.int32(-1))
    here[starts] = np.where(here[starts] == n, starts, here[starts])  # a place that is no way of another ends its own
    while True:
        ahead = np.where(here < 0, here, here[here])
        if np.array_equal(ahead, here):
            return here[:n]
        here = ahead
