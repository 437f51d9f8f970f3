"""For every vertex the best of some places, found by one search from all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.algebra.tables import html_table
from semiring.errors import SemiringError
from semiring.graphs.texts import clip, count_text, dtype_text, element_text, infinities, is_same, shown
from semiring.operands.operand import Operand, order_of_one
from semiring.solvers.task import Task, options, verb

SHOWN = 10  # vertices that a notebook shows


class _Pair(NamedTuple):
    weights: np.ndarray
    places: np.ndarray


class Nearest(_Pair):
    """The value of a best walk from any of some places to each vertex, and the place where it begins."""

    _over: str  # the algebra's name; an algebra may not be picklable
    _zero: Any
    _infinite: Mapping[Any, Any]
    _names: Sequence[Any] | None  # names of the vertices

    @classmethod
    def of(cls, weights: np.ndarray, places: np.ndarray, given: Operand) -> Nearest:
        """Make it from a solver's result."""
        found = cls(weights, places)
        found._over, found._names = given.S.name, given.names
        found._zero, found._infinite = given.S.zero_in(weights.dtype), infinities(given.S, weights.dtype)
        return found

    def __repr__(self) -> str:
        n, kind = len(self.weights), dtype_text(self.weights.dtype)
        return f"Nearest({count_text(n, 'vertex', 'vertices')} over {self._over}, {kind})"

    def _repr_html_(self) -> str:
        rows = []
        for v, (weight, place) in enumerate(zip(self.weights[:SHOWN], self.places[:SHOWN], strict=True)):
            vertex = clip(shown(v if self._names is None else self._names[v]))
            origin = "·" if is_same(weight, self._zero) else clip(shown(place))
            rows.append([vertex, origin, element_text(weight, self._zero, "·", self._infinite)])
        if len(self.weights) > SHOWN:
            rows.append(["…"] * 3)
        return html_table(repr(self), rows, ["vertex", "nearest", "weight"])


@verb
def nearest(A: Any, S: Semiring | str | None = None, places: Any = ...) -> Nearest:
    """Find for every vertex the best of some places, and the value of its walk.

    ⊕ must select. One search starts in all places at once. For the nearest place to go to, pass the reversed graph, or
    A.T.

    Parameters
    ----------
    A : array_like, sparse matrix or graph, shape (n, n)
        As for `closure`.
    S : Semiring or str, optional
        With a selective ⊕. Default: the algebra of A, if it is a `Matrix` or was prepared: ``nearest(A, places=…)``.
    places : vertex, or sequence or set of vertices
        Required; at least one. By name if the vertices of A have names, else by position.

    Returns
    -------
    weights : ndarray of A's dtype, shape (n,)
        ⊕ over all walks from any of the places; zero if there is none. For a graph or a `Matrix` of integers float64 if
        there is an ∞, as in `Matrix.to_numpy`.
    places : ndarray, shape (n,)
        The place where the best walk begins: names, as objects, if A has names (None if there is no walk), else
        positions of int32 (−1 if there is no walk). Ties are broken as `paths` does for a source with an edge to every
        place, not by the order of the places.

    Raises
    ------
    LawError
        If ⊕ does not select, the algebra is not a semiring, or best walks repeat a cycle.
    NoClosureError
        If an improving cycle can be reached from a place.
    SemiringError
        For an unknown vertex, no place, or an entry that is not an element.

    Notes
    -----
    The search of `closure_rows` from all places at once, or from a vertex with an edge of weight one to each. M. Erwig,
    The graph Voronoi diagram with applications, Networks (2000). Floats are rounded as in `closure`.

    Examples
    --------
    >>> import semiring as sr
    >>> roads = sr.as_graph([("Ayr", "Bo", 3.0), ("Bo", "Cole", 1.0), ("Dale", "Cole", 2.0)])
    >>> found = sr.nearest(roads, sr.min_plus, ["Ayr", "Dale"])
    >>> found.weights, found.places.tolist()
    (array([0., 3., 2., 0.]), ['Ayr', 'Ayr', 'Dale', 'Dale'])
    """
    if places is ...:
        raise SemiringError("nearest needs places: call nearest(A, S, places), or nearest(A, places=…) if A is a "
                            "Matrix (which has its algebra)")
    task = Task("nearest", S, (A,), options(), (places,))
    task.finish = lambda found: nearest_of(task.given[0], found)
    return task  # type: ignore[return-value]


def nearest_of(given: Operand, found: tuple[np.ndarray, np.ndarray]) -> Nearest:
    """Turn a solver's result into a `Nearest`, with the places by name."""
    n, (x, origin) = order_of_one(given.shape), found
    weights = given.as_shown(x)
    if given.names is None:
        return Nearest.of(weights, origin, given)
    named = np.empty(n + 1, object)
    named[:n] = given.names
    return Nearest.of(weights, named[origin], given)
