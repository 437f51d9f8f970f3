"""A broken law as a small graph on which the order of elimination changes the answer.

To eliminate a vertex k is to let ways pass through it: X ← X ⊕ C ⊗ R for the edges C into it and R out of it. On a
graph without cycles no star is needed, and every order gives the same answer if the laws hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from semiring.algebra.laws import Arithmetic, Law, Verdict, equal, show
from semiring.graphs.texts import shown

from .svg import Drawing, Point

STEP = 130  # pixels between the vertices of a drawing
ONE = "one"  # the edge of the 1 of ⊗, which leaves a way as it is

# Edges of the operands of a law, from s by way of u and v to t, and where the vertices are drawn.
SHAPES: Mapping[str, tuple[Mapping[str, str], Mapping[str, Point]]] = {
    "⊕ is associative": (
        {"st": "a", "su": "b", "sv": "c", "vu": ONE, "ut": ONE},
        {"s": (0, 0), "v": (1, -1.1), "u": (2, -0.55), "t": (3, 0)},
    ),
    "⊕ is commutative": (
        {"su": "a", "ut": ONE, "sv": "b", "vt": ONE},
        {"s": (0, 0), "u": (1.5, -0.55), "v": (1.5, 0.55), "t": (3, 0)},
    ),
    "⊗ is associative": (
        {"su": "a", "uv": "b", "vt": "c"},
        {"s": (0, 0), "u": (1, 0), "v": (2, 0), "t": (3, 0)},
    ),
    "⊗ distributes on the left": (
        {"su": "a", "ut": "b", "uv": "c", "vt": ONE},
        {"s": (0, 0), "u": (1, 0), "v": (2, -0.7), "t": (3, 0)},
    ),
    "⊗ distributes on the right": (
        {"su": "a", "sv": "b", "vu": ONE, "ut": "c"},
        {"s": (0, 0), "v": (1, -0.7), "u": (2, 0), "t": (3, 0)},
    ),
}


@dataclass(frozen=True, eq=False, repr=False)
class LawGraph:
    """A graph on which a broken law makes the answer depend on the elimination order.

    The `graph()` of a verdict makes it, as in `check_laws(S).failures` and in the `failures` of a `LawError`. It prints
    as text, and a notebook shows a drawing. Both orders were computed.

    Attributes
    ----------
    law : Law
        With `name` and ``formula``.
    vertices : tuple of str
        The answer is the element from the first to the last.
    edges : list of (str, str, element)
    orders : tuple of (tuple of str, tuple of str)
        Two orders of eliminating the other vertices.
    answers : tuple of (element, element)
        The element from the first vertex to the last, after each order.
    sides : tuple of (str, str)
        Which side of the law each answer is.

    Examples
    --------
    >>> import semiring as sr
    >>> print(sr.check_laws(sr.plus_min).failures[0].graph())
    ⊗ does not distribute on the left: the order of elimination changes the answer from s to t
      s → u: a = 1
      u → t: b = 1
      u → v: c = 1
      v → t: ∞, the 1 of ⊗
    v, then u: 1 = a ⊗ (b ⊕ c)
    u, then v: 2 = (a ⊗ b) ⊕ (a ⊗ c)
    """

    law: Law
    vertices: tuple[str, ...]
    edges: list[tuple[str, str, Any]]
    orders: tuple[tuple[str, ...], tuple[str, ...]]
    answers: tuple[Any, Any]
    sides: tuple[str, str]

    @classmethod
    def of(cls, verdict: Verdict) -> LawGraph | None:
        """Make the graph of a law that does not hold.

        Parameters
        ----------
        verdict : Verdict
            The result of testing one law.

        Returns
        -------
        LawGraph or None
            None if the law holds, is not about the order of operations, or both orders give the same on that graph
            (for example, because 1 is not neutral).

        Examples
        --------
        >>> import semiring as sr
        >>> sr.LawGraph.of(sr.check_laws(sr.min_plus).axioms[0])
        """
        if verdict.breach is None or verdict.law.name not in SHAPES:
            return None
        shape, places = SHAPES[verdict.law.name]
        A = verdict.breach.arithmetic
        if A.one is None and ONE in shape.values():
            return None
        operands = {**dict(zip("abc", verdict.witness, strict=False)), ONE: A.one}
        weights = {(edge[0], edge[1]): operands[what] for edge, what in shape.items()}
        sides = dict(zip(verdict.law.formula.split(" = "), (verdict.left, verdict.right), strict=True))
        between = [v for v in places if v not in "st"]
        found = []
        for order in permutations(sorted(between, reverse=True)):
            answer = eliminated(A, weights, order)["s", "t"]
            # The sides differ by more than rounding: an answer that is one of them, to the bit, is not another one.
            side = [text for text, value in sides.items() if equal(_alone(answer, A), _alone(value, A))[0]]
            found += [(order, answer, text) for text in side]
        if len({text for _, _, text in found}) != 2 or len(found) != 2:
            return None
        orders, answers, told = zip(*found, strict=True)
        edges = [(start, end, weight) for (start, end), weight in weights.items()]
        return cls(verdict.law, tuple(places), edges, orders, answers, told)

    def _lines(self) -> list[str]:
        return [f"{', then '.join(order)}: {shown(show(answer))} = {side}"
                for order, answer, side in zip(self.orders, self.answers, self.sides, strict=True)]

    def _title(self) -> str:
        return f"{self.law.broken}: the order of elimination changes the answer from s to t"

    def _edges(self) -> list[tuple[str, str, str, str]]:
        """Ends, which operand it is, and its value as text."""
        kinds = SHAPES[self.law.name][0].values()
        return [(start, end, kind, shown(show(value)))
                for (start, end, value), kind in zip(self.edges, kinds, strict=True)]

    def __repr__(self) -> str:
        rows = [f"  {start} → {end}: " + (f"{value}, the 1 of ⊗" if kind == ONE else f"{kind} = {value}")
                for start, end, kind, value in self._edges()]
        return "\n".join([self._title(), *rows, *self._lines()])

    def _repr_svg_(self) -> str:
        told = "; ".join(f"{start} to {end}, {value}" for start, end, _, value in self._edges())
        drawing = Drawing(self._title(), f"Edges: {told}. Eliminating {'. Eliminating '.join(self._lines())}.")
        widest = max(len(value) for *_, value in self._edges())
        step = max(STEP, 60 + 9 * widest)
        places = {v: (x * step, y * STEP) for v, (x, y) in SHAPES[self.law.name][1].items()}
        for start, end, kind, value in self._edges():
            label = value if kind == ONE else f"{kind} = {value}"
            drawing.arrow(places[start], places[end], label, bend=8)
        for vertex, place in places.items():
            drawing.vertex(place, vertex)
        low, high = (pick(y for _, y in places.values()) for pick in (max, min))
        drawing.text((0, high - 60), self.law.broken + ": " + self.law.formula + " does not hold", "sr-strong", "start")
        for k, line in enumerate(self._lines()):
            drawing.text((0, low + 50 + 22 * k), f"eliminating {line}", anchor="start")
        return str(drawing)

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x: auto">{self._repr_svg_()}</div>'


def eliminated(
    A: Arithmetic, weights: Mapping[tuple[str, str], Any], order: Sequence[str]
) -> dict[tuple[str, str], Any]:
    """What is left of an acyclic graph when vertices are eliminated, by the algebra's NumPy arithmetic.

    Parameters
    ----------
    A : Arithmetic
    weights : mapping of (str, str) to element
        Of the edges.
    order : sequence of str
        The vertices to eliminate.

    Returns
    -------
    dict of (str, str) to element
        Between the other vertices.

    Examples
    --------
    >>> import semiring as sr
    >>> A = sr.min_plus.over("f8")
    >>> left = eliminated(A, {("s", "t"): 5.0, ("s", "u"): 1.0, ("u", "t"): 3.0}, "u")
    >>> {ends: float(value) for ends, value in left.items()}
    {('s', 't'): 4.0}
    """
    left = {ends: _alone(value, A) for ends, value in weights.items()}
    with np.errstate(all="ignore"):
        for k in order:
            into = [(i, c) for (i, end), c in left.items() if end == k]
            out = [(j, r) for (start, j), r in left.items() if start == k]
            left = {ends: x for ends, x in left.items() if k not in ends}
            for i, c in into:
                for j, r in out:
                    way = A.mul(c, r)
                    left[i, j] = A.add(left[i, j], way) if (i, j) in left else way
    return {ends: x[0] for ends, x in left.items()}


def _alone(value: Any, A: Arithmetic) -> np.ndarray:
    """An array of one element."""
    array = np.empty(1, A.dtype)
    array[0] = value
    return array
