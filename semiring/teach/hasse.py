"""Hasse diagrams: the natural order of an algebra whose ⊕ is idempotent, drawn by neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from semiring.algebra.catalogue import boolean, max_plus
from semiring.algebra.semiring import Semiring
from semiring.algebra.witnesses import ranks
from semiring.api import closure
from semiring.errors import LawError, SemiringError
from semiring.graphs.texts import count_text
from semiring.results.acyclic import transitive_reduction

from .layers import layers
from .svg import HEIGHT, Drawing, width_of
from .tables import different, some_elements, texts

STOREY_PIXELS = 64  # from level to level
CHAIN = 7  # elements of a total order that are shown, if the caller chooses none


@dataclass(frozen=True, eq=False, repr=False)
class HasseDiagram:
    """The natural order a ≤ b ⇔ a ⊕ b = b on some elements; `Semiring.hasse` makes it.

    It prints as text: the levels, highest first, and the pairs of neighbours. A notebook shows a drawing.

    Attributes
    ----------
    semiring : Semiring
    elements : ndarray, shape (k,)
    below : ndarray of bool, shape (k, k)
        True if the row's element is at most the column's.

    Notes
    -----
    Covers are the transitive reduction of the strict order, and heights its longest paths, a closure over max-plus.

    Examples
    --------
    >>> import semiring as sr
    >>> H = sr.gcd_lcm.hasse([1, 2, 3, 6])
    >>> print(H)
    Natural order of gcd-lcm on 4 elements: a ≤ b where a ⊕ b = b
      height 2: 1
      height 1: 2, 3
      height 0: 6
      2 < 1
      3 < 1
      6 < 2, 3
    >>> H.covers
    [(2, 1), (3, 1), (6, 2), (6, 3)]
    >>> H.levels
    {1: 2, 2: 1, 3: 1, 6: 0}
    """

    semiring: Semiring
    elements: np.ndarray
    below: np.ndarray

    @classmethod
    def of(cls, semiring: Semiring, elements: Any = None, dtype: Any = None) -> HasseDiagram:
        """Make the natural order on elements of an algebra.

        Parameters
        ----------
        semiring : Semiring
        elements, dtype : optional
            As for `Semiring.hasse`.

        Returns
        -------
        HasseDiagram

        Raises
        ------
        LawError, SemiringError
            As `Semiring.hasse` does.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.HasseDiagram.of(sr.boolean).covers
        [(False, True)]
        """
        verdict = semiring._law_report.flags["idempotent"]
        if not semiring.idempotent:
            raise LawError(f"{semiring.name} has no natural order, which needs an idempotent ⊕: {verdict}",
                           failures=[] if verdict.holds else [verdict])
        chosen = some_elements(semiring, elements, dtype)
        found = semiring.elements_in(chosen.dtype)
        samples = different(found.notable)
        whole = found.complete and len(different(np.concatenate([samples, found.random]))) == len(samples)
        if elements is None and not whole:
            below = _below(semiring, samples)
            if (below | below.T).all():
                chosen = samples[_milestones(samples, below, 1 if semiring.one is None else 2)]
        below = _below(semiring, chosen)
        _check_order(semiring, chosen, below)
        return cls(semiring, chosen, below)

    @cached_property
    def covers(self) -> list[tuple[Any, Any]]:
        """Pairs (a, b) of neighbours: a < b with nothing between; records are tuples."""
        items = self._items
        return [(items[i], items[j]) for i, j in self._edges]

    @cached_property
    def heights(self) -> np.ndarray:
        """The length of the longest chain up to each element, an array of integers."""
        steps = np.where(self._strict, 1.0, -np.inf)
        longest = np.asarray(closure(steps, max_plus))
        return longest.max(axis=0, initial=0).astype(np.int64)

    @property
    def levels(self) -> dict[Any, int]:
        """The height of each element, from 0 at the bottom.

        Raises
        ------
        SemiringError
            If elements are Python objects that cannot be keys; use `heights`, which has them by position.
        """
        try:
            return dict(zip(self._items, self.heights.tolist(), strict=True))
        except TypeError as e:
            raise SemiringError(f"elements of {self.semiring.name} cannot be keys ({e}): use heights, in the order of "
                                "the elements") from None

    @property
    def _strict(self) -> np.ndarray:
        return self.below & ~np.eye(len(self.elements), dtype=bool)

    @property
    def _items(self) -> list[Any]:
        return [*self.elements] if self.semiring.is_object else self.elements.tolist()

    @cached_property
    def _edges(self) -> list[tuple[int, int]]:
        reduced = transitive_reduction(self._strict).to_dense()
        return list(zip(*(places.tolist() for places in np.nonzero(reduced)), strict=True))

    def _title(self) -> str:
        count = count_text(len(self.elements), "element", "elements")
        return f"Natural order of {self.semiring.name} on {count}: a ≤ b where a ⊕ b = b"

    def _covered(self) -> list[str]:
        """A text for each element that is covered, with the elements that cover it."""
        names = texts(self.semiring, self.elements)
        above: dict[int, list[str]] = {}
        for low, high in self._edges:
            above.setdefault(low, []).append(names[high])
        return [f"{names[low]} < {', '.join(highs)}" for low, highs in above.items()]

    def __repr__(self) -> str:
        names = texts(self.semiring, self.elements)
        rows = [f"height {level}: " + ", ".join(names[i] for i in np.flatnonzero(self.heights == level))
                for level in range(self.heights.max(), -1, -1)]
        return "\n".join([self._title(), *(f"  {row}" for row in (*rows, *self._covered()))])

    def _repr_svg_(self) -> str:
        names = texts(self.semiring, self.elements)
        step = max(map(width_of, names)) + 40
        across, routes = layers(self.heights.tolist(), self._edges)
        told = "; ".join(self._covered()) or "no element is below another"
        drawing = Drawing(f"Hasse diagram of {self.semiring.name}",
                          f"Lines lead up from an element to those that cover it: {told}.")
        for route in routes:
            drawing.line([(x * step, -y * STOREY_PIXELS) for x, y in route])
        for name, x, y in zip(names, across, self.heights.tolist(), strict=True):
            drawing.vertex((x * step, -y * STOREY_PIXELS), name)
        top = -int(self.heights.max()) * STOREY_PIXELS - 2 * HEIGHT
        drawing.text((0, top), f"{self.semiring.name}: a ≤ b where a ⊕ b = b", "sr-strong")
        return str(drawing)

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x: auto">{self._repr_svg_()}</div>'


def _below(S: Semiring, elements: np.ndarray) -> np.ndarray:
    """Whether the row's element is at most the column's."""
    A = S.over(elements.dtype)
    with np.errstate(all="ignore"):
        sums = np.asarray(A.add(elements[:, None], elements[None, :]), A.dtype)
    return np.array([[bool(x == b) for x, b in zip(row, elements, strict=True)] for row in sums], bool)


def _milestones(samples: np.ndarray, below: np.ndarray, neutral: int) -> list[int]:
    """Some samples of a total order: zero and one, which come first, the two ends, and the simplest others."""
    height = below.sum(axis=0)
    simple = np.argsort(ranks(samples), kind="stable").tolist()
    first = [*range(neutral), int(height.argmin()), int(height.argmax()), *simple]
    return [*dict.fromkeys(first)][:CHAIN]


def _check_order(S: Semiring, elements: np.ndarray, below: np.ndarray) -> None:
    """Refuse a relation that is not a partial order: ⊕ of an algebra for bare products may lack the laws.

    Raises
    ------
    LawError
        If it is not a partial order.
    """
    names = texts(S, elements)
    beyond = np.asarray(closure(below, boolean)) & ~below
    mutual = below & below.T & ~np.eye(len(elements), dtype=bool)
    for wrong, why in ((beyond, "{} ⊕ … ⊕ {} leads up step by step, but the two are not in order"),
                       (mutual, "{} and {} are each at most the other")):
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            raise LawError(f"{S.name} has no natural order on these elements: {why.format(names[i], names[j])}; ⊕ must "
                           "be associative and commutative")
