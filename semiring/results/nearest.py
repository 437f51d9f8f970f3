"""For every vertex the best of some places, found by one search from all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.elements import MINUS
from semiring.algebra.tables import dtype_text, html_table
from semiring.graphs.texts import clip, count_text, element_text, infinities, is_same, shown
from semiring.operands.operand import Operand
from semiring.solvers.task import Task

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
            rows.append([vertex, origin, element_text(weight, self._zero, "·", self._infinite, MINUS)])
        if len(self.weights) > SHOWN:
            rows.append(["…"] * 3)
        return html_table(repr(self), rows, ["vertex", "nearest", "weight"])


def nearest_of(task: Task, found: tuple[np.ndarray, np.ndarray]) -> Nearest:
    """Turn a solver's result into a `Nearest`, with the places by name."""
    given, (x, origin) = task.given[0], found
    n = given.shape[0]
    weights = given.as_shown(x)
    if given.names is None:
        return Nearest.of(weights, origin, given)
    named = np.empty(n + 1, object)
    named[:n] = given.names
    return Nearest.of(weights, named[origin], given)
