"""The choice of a counterexample to a law: small whole numbers first, infinities and NaN last."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
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
    combinations : tuple of ndarray of int
        The positions of the first, second and third elements in each combination that breaks the law.
    """

    def __init__(self, law: Law, S: Arithmetic, elements: np.ndarray, combinations: tuple[np.ndarray, ...]):
        self.law, self.arithmetic = law, S
        self._elements, self._combinations = elements, combinations

    @cached_property
    def simplest(self) -> tuple[tuple[Any, ...], Any, Any]:
        """The elements, and the two sides; finite ones if there are any."""
        operands = [self._elements[c] for c in self._combinations]
        left, right = self.law.sides(self.arithmetic, *operands)
        place = ranks(self._elements)
        f = simplest([place[c] for c in self._combinations], ~(is_finite(left) & is_finite(right)))
        return tuple(x[f] for x in operands), left[f], right[f]


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


def simplest(combinations: Sequence[np.ndarray], endless: np.ndarray) -> int:
    """The position of the simplest of some combinations: the one whose least simple element is simplest.

    Ties are decided by the sum of the ranks, then by the elements from the first to the last.

    Parameters
    ----------
    combinations : sequence of ndarray of int, shape (m,)
        The ranks of the first elements of m combinations, of the second ones, and so on.
    endless : ndarray of bool, shape (m,)
        Combinations that are only chosen if all are such.

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
    keys = [*reversed(chosen), chosen.sum(axis=0), chosen.max(axis=0), endless]
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
