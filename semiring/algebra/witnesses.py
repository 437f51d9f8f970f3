"""The choice of a counterexample to a law: small whole numbers first, infinities and NaN last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import combinations as subsets
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .laws import Arithmetic, Law

QUARTER, ODD = 8, 64  # factors by which multiples of 1/4, and other fractions, count as larger than they are
LARGEST_RANK = 1e300  # the rank of the largest finite numbers
INFINITE, NAN = 1e301, 1e302


class Breach:
    """Combinations of elements that break a law; the simplest one is found when needed.

    Parameters
    ----------
    law : Law
    S : Arithmetic
        The arithmetic in which the law was tested.
    elements : ndarray
    combinations : sequence of ndarray of int
        The positions of the first, second and third elements in each combination that breaks the law.
    more : callable, optional
        Further elements and combinations that break it, computed when a counterexample is needed.
    """

    def __init__(
        self, law: Law, S: Arithmetic, elements: np.ndarray, combinations: Sequence[np.ndarray],
        more: Callable[[], tuple[np.ndarray, Sequence[np.ndarray]]] | None = None,
    ):
        self.law, self.arithmetic = law, S
        self._elements, self._combinations, self._more = elements, combinations, more

    @cached_property
    def simplest(self) -> tuple[tuple[Any, ...], Any, Any]:
        """The elements, and the two sides.

        Finite sides are preferred, then elements other than 0, 1 and ∞, then positive ones, then different ones.
        """
        elements, places = self._elements, self._combinations
        if self._more is not None:
            others, found = self._more()
            places = [np.concatenate([c, f + len(elements)]) for c, f in zip(places, found, strict=True)]
            elements = np.concatenate([elements, others])
        operands = [elements[c] for c in places]
        left, right = self.law.sides(self.arithmetic, *operands)
        special, negative = (sum(count[c] for c in places) for count in _oddities(elements, self.arithmetic))
        alike = sum((_alike(x, y) for x, y in subsets(operands if elements.dtype != object else places, 2)),
                    np.zeros(len(left), np.int64))
        place = ranks(elements)
        f = simplest([place[c] for c in places], ~(is_finite(left) & is_finite(right)), [special, negative, alike])
        return tuple(x[f] for x in operands), left[f], right[f]


def _oddities(elements: np.ndarray, S: Arithmetic) -> tuple[np.ndarray, np.ndarray]:
    """How many components of each element are 0, 1, infinite or those of zero and one; and how many are negative."""
    neutral = [n for n in (S.zero, S.one) if n is not None]
    if elements.dtype == object:
        return np.array([any(bool(e == n) for n in neutral) for e in elements], np.int64), np.zeros(len(elements), int)
    constants = np.empty(len(neutral), elements.dtype)
    for i, n in enumerate(neutral):
        constants[i] = n
    special, negative = np.zeros((2, len(elements)), np.int64)
    for x, known in zip(_parts(elements), _parts(constants), strict=True):
        special += np.isin(x, [*known, 0, 1]) | ~np.isfinite(x)
        negative += (x.real < 0) | (x.imag < 0)
    return special, negative


def _alike(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How many components two elements share."""
    return np.sum([p == q for p, q in zip(_parts(x), _parts(y), strict=True)], axis=0)


def _parts(x: np.ndarray) -> list[np.ndarray]:
    return [part for field in x.dtype.names for part in _parts(x[field])] if x.dtype.names else [x]


def ranks(elements: np.ndarray) -> np.ndarray:
    """The rank of each element in the order of simplicity; equally simple elements have the same rank.

    Numbers are ordered by size; fractions come after somewhat larger whole numbers, and negative numbers after positive
    ones. Records are ordered by their worst component, then by the sum of all, then from the first to the last. Python
    objects that are not numbers are ordered by the length of their text.

    Parameters
    ----------
    elements : ndarray, shape (count,)
        Numbers, records or objects.

    Returns
    -------
    ndarray of int64, shape (count,)

    Examples
    --------
    >>> ranks(np.array([np.inf, 2, 0.5, -1, 0, 1, 1e9, 2])).tolist()
    [6, 3, 4, 2, 0, 1, 5, 3]
    """
    costs = _costs(elements)
    keys = [*reversed(costs), np.sum(costs, axis=0), np.max(costs, axis=0)]
    order = np.lexsort(keys)
    sorted_keys = np.array(keys)[:, order]
    place = np.empty(len(elements), np.int64)
    place[order] = np.cumsum([0, *(sorted_keys[:, 1:] != sorted_keys[:, :-1]).any(axis=0)])[: len(order)]
    return place


def simplest(combinations: Sequence[np.ndarray], endless: np.ndarray, first: Sequence[np.ndarray] = ()) -> int:
    """The position of the simplest of some combinations: the one whose least simple element is simplest.

    Ties are decided by the sum of the ranks, then by the elements from the first to the last.

    Parameters
    ----------
    combinations : sequence of ndarray of int, shape (m,)
        The ranks of the first elements of m combinations, of the second ones, and so on.
    endless : ndarray of bool, shape (m,)
        Combinations that are only chosen if all are such.
    first : sequence of ndarray of int, shape (m,)
        Counts that are to be small before ranks are, the most important first.

    Returns
    -------
    int
        The position.

    Examples
    --------
    >>> simplest([np.array([2, 0, 1, 0]), np.array([0, 3, 1, 1])], np.zeros(4, bool))
    3
    """
    chosen = np.array(combinations)
    keys = [*reversed(chosen), chosen.sum(axis=0), chosen.max(axis=0), *reversed(first), endless]
    return int(np.lexsort(keys)[0])


def is_finite(x: np.ndarray) -> np.ndarray:
    """Test which elements are finite: neither infinite nor NaN, in all components."""
    if x.dtype.names:
        return np.logical_and.reduce([is_finite(x[f]) for f in x.dtype.names])
    if x.dtype.kind == "O":
        endless = (np.inf, -np.inf)
        return np.array([not (isinstance(e, (float, np.floating)) and (e != e or e in endless)) for e in x], bool)
    return np.isfinite(x)


def _costs(elements: np.ndarray) -> list[np.ndarray]:
    """The cost of each component of the elements, one array for each."""
    dtype = elements.dtype
    if dtype.names:
        return [cost for field in dtype.names for cost in _costs(elements[field])]
    if dtype.kind == "c":
        return [*_costs(elements.real), *_costs(elements.imag)]
    if dtype.kind == "O":
        return [np.array([_cost_of_object(e) for e in elements], np.float64)]
    return [_cost_of_numbers(elements.astype(np.float64))]


def _cost_of_numbers(x: np.ndarray) -> np.ndarray:
    size = np.minimum(np.abs(x), LARGEST_RANK)  # NaN stays NaN
    whole, quarters = size == np.rint(size), 4 * size == np.rint(4 * size)
    cost = size + np.where(whole, 0, np.where(quarters, QUARTER, ODD)) + np.where(x < 0, 0.25, 0)
    return np.where(np.isfinite(x), cost, np.where(np.isnan(x), NAN, np.where(x < 0, 2 * INFINITE, INFINITE)))


def _cost_of_object(element: Any) -> float:
    if not isinstance(element, Real):
        return float(len(str(element)))
    size: Any = abs(element)
    if size >= LARGEST_RANK and size != np.inf:
        return LARGEST_RANK  # an integer or a fraction may be too large for a float
    return float(_cost_of_numbers(np.array([float(element)]))[0])
