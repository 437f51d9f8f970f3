"""A broken law as a small graph on which it changes an answer.

For most laws it is a graph on which the order of elimination matters. To eliminate a vertex k is to let walks pass
through it: X ← X ⊕ C ⊗ R for the edges C into it and R out of it. On a graph without cycles no star is needed, and
every order gives the same answer if the laws hold. Other laws say what an edge means: weight 0 is a missing edge, a
weight of 1 changes nothing, and a star sums the rounds of a loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.elements import MINUS, equal, show
from semiring.algebra.laws import Arithmetic, Law, Verdict
from semiring.graphs.texts import shown

from .svg import Drawing, Point

STEP = 130  # pixels between the vertices of a drawing
BEND = 32.0  # by which edges between the same vertices bend
ZERO, ONE = "zero", "one"  # edges of the 0 of ⊕, a missing edge, and of the 1 of ⊗, which leaves a walk as it is

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


class Picture(NamedTuple):
    """A law that is not about the order of elimination, as edges, and as two readings of them, one for each side."""

    edges: Sequence[tuple[str, str, str]]  # from, to, and which operand
    about: str
    readings: tuple[str, str]


PAIR, CHAIN = (("s", "t", "a"), ("s", "t", "b")), (("s", "u", "a"), ("u", "t", "b"))
PICTURES: Mapping[str, Picture] = {
    "0 is neutral for ⊕": Picture(
        (("s", "t", ZERO), ("s", "t", "a")), "an edge of weight 0, which stands for a missing edge, changes the answer",
        ("with both edges", "with the edge a alone")),
    "1 is neutral on the left": Picture(
        (("s", "u", ONE), ("u", "t", "a")), "an edge of weight 1, which stands for staying, changes the answer",
        ("from s to t", "from u to t")),
    "1 is neutral on the right": Picture(
        (("s", "u", "a"), ("u", "t", ONE)), "an edge of weight 1, which stands for staying, changes the answer",
        ("from s to t", "from s to u")),
    "0 absorbs on the left": Picture(
        (("s", "u", ZERO), ("u", "t", "a")), "a walk uses an edge of weight 0, which stands for a missing edge",
        ("from s to t", "without a walk")),
    "0 absorbs on the right": Picture(
        (("s", "u", "a"), ("u", "t", ZERO)), "a walk uses an edge of weight 0, which stands for a missing edge",
        ("from s to t", "without a walk")),
    "⊕ stays in the carrier": Picture(PAIR, "two edges have no weight together", ("both edges", "")),
    "⊗ stays in the carrier": Picture(CHAIN, "a walk of two edges has no weight", ("from s to t", "")),
    "star unfolds on the left": Picture(
        (("s", "s", "a"),), "the rounds of a loop have two sums", ("all rounds", "no round, or one and all others")),
    "star unfolds on the right": Picture(
        (("s", "s", "a"),), "the rounds of a loop have two sums", ("all rounds", "no round, or all others and one")),
    "⊕ is idempotent": Picture(
        (("s", "t", "a"), ("s", "t", "a")), "an edge that is there twice changes the answer",
        ("both edges", "one of them")),
    "⊕ is selective": Picture(PAIR, "the sum is the weight of neither edge", ("both edges", "")),
    "1 bounds every element": Picture(
        (("s", "s", "a"),), "a round of a loop changes the answer", ("no round, or one", "no round")),
    "⊗ is commutative": Picture(CHAIN, "the order of the edges of a walk changes its weight",
                                ("from s to t", "with the edges exchanged")),
    # The laws of SHAPES, if the orders of elimination do not show them: for example, because 1 is not neutral.
    "⊕ is associative": Picture(
        (("s", "t", "a"), ("s", "t", "b"), ("s", "t", "c")), "the order in which edges are added changes the answer",
        ("the first two first", "the last two first")),
    "⊕ is commutative": Picture(PAIR, "the order in which edges are added changes the answer",
                                ("one order", "the other")),
    "⊗ is associative": Picture(
        (("s", "u", "a"), ("u", "v", "b"), ("v", "t", "c")), "where a walk is cut changes its weight",
        ("cut at v", "cut at u")),
    "⊗ distributes on the left": Picture(
        (("s", "u", "a"), ("u", "t", "b"), ("u", "t", "c")), "adding before u or after changes the answer",
        ("the edges first", "the walks first")),
    "⊗ distributes on the right": Picture(
        (("s", "u", "a"), ("s", "u", "b"), ("u", "t", "c")), "adding before u or after changes the answer",
        ("the edges first", "the walks first")),
}


@dataclass(frozen=True, eq=False, repr=False)
class LawGraph:
    """A graph on which a broken law changes an answer.

    The `graph()` of a verdict makes it, as in `check_laws(S).failures` and in the `failures` of a `LawError`. It prints
    as text, and a notebook shows a drawing. If the law is about the order of operations, the answer depends on the
    elimination order, and both orders were computed; otherwise the edges are read in two ways, which are the two sides
    of the law.

    Attributes
    ----------
    law : Law
        With `name` and ``formula``.
    vertices : tuple of str
        The answer is the element from the first to the last.
    edges : list of (str, str, element)
    orders : tuple of tuple of str
        Two orders of eliminating the other vertices; empty if the law is not about the order.
    answers : tuple of (element, element)
        The element from the first vertex to the last, after each order, or in each reading.
    sides : tuple of (str, str)
        Which side of the law each answer is.

    Examples
    --------
    >>> import semiring as sr
    >>> print(sr.check_laws(sr.plus_min).failures[0].graph())
    ⊗ does not distribute on the left: the order of elimination changes the answer from s to t
      s → u: a = 2
      u → t: b = 3
      u → v: c = 5
      v → t: ∞, the 1 of ⊗
    v, then u: a ⊗ (b ⊕ c) = 2
    u, then v: (a ⊗ b) ⊕ (a ⊗ c) = 4
    >>> print(sr.check_laws(sr.plus_times).flags["idempotent"].graph())
    ⊕ is not idempotent: an edge that is there twice changes the answer
      s → t: a = 2
      s → t: a = 2
    both edges: a ⊕ a = 4
    one of them: a = 2
    """

    law: Law
    vertices: tuple[str, ...]
    edges: list[tuple[str, str, Any]]
    orders: tuple[tuple[str, ...], ...]
    answers: tuple[Any, ...]
    sides: tuple[str, ...]

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
            None if the law holds.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.LawGraph.of(sr.check_laws(sr.min_plus).axioms[0])
        """
        if verdict.breach is None:
            return None
        A, law = verdict.breach.arithmetic, verdict.law
        operands = {**dict(zip("abc", verdict.witness, strict=False)), ZERO: A.zero, ONE: A.one}
        sides = law.formula.removesuffix(" ∈ S").removesuffix(" ∈ {a, b}").split(" = ")
        results = dict(zip(sides, (verdict.left, verdict.right), strict=False))
        if law.name in SHAPES and not (A.one is None and ONE in SHAPES[law.name][0].values()):
            shape, places = SHAPES[law.name]
            weights = {(edge[0], edge[1]): operands[what] for edge, what in shape.items()}
            found = _orders(A, weights, [v for v in places if v not in "st"], results)
            if len({text for _, _, text in found}) == len(found) == 2:
                orders, answers, told = zip(*found, strict=True)
                edges = [(start, end, weight) for (start, end), weight in weights.items()]
                return cls(law, tuple(places), edges, orders, answers, told)
        picture = PICTURES[law.name]
        edges = [(start, end, operands[what]) for start, end, what in picture.edges]
        vertices = tuple(sorted({v for edge in picture.edges for v in edge[:2]}, key="suvt".index))
        return cls(law, vertices, edges, (), tuple(results.values()), tuple(results))

    def _lines(self) -> list[str]:
        """What each order of elimination gives, or each reading."""
        ways = [", then ".join(order) for order in self.orders] or PICTURES[self.law.name].readings
        told = (shown(show(answer, MINUS)).replace("nan", "NaN") for answer in self.answers)
        return [f"{way}: {answer}" if side in ("0", "1") else f"{way}: {side} = {answer}"
                for way, answer, side in zip(ways, told, self.sides, strict=False)]

    def _title(self) -> str:
        about = "the order of elimination changes the answer from s to t"
        return f"{self.law.broken}: {about if self.orders else PICTURES[self.law.name].about}"

    def _edges(self) -> list[tuple[str, str, str, str]]:
        """Ends, which operand it is, and its value as text."""
        kinds = SHAPES[self.law.name][0].values() if self.orders else [e[2] for e in PICTURES[self.law.name].edges]
        return [(start, end, kind, shown(show(value, MINUS)))
                for (start, end, value), kind in zip(self.edges, kinds, strict=True)]

    def __repr__(self) -> str:
        told = {ONE: "{}, the 1 of ⊗", ZERO: "{}, the 0 of ⊕"}
        rows = [f"  {start} → {end}: " + told.get(kind, f"{kind} = {{}}").format(value)
                for start, end, kind, value in self._edges()]
        return "\n".join([self._title(), *rows, *self._lines()])

    def _repr_svg_(self) -> str:
        edges = self._edges()
        told = "; ".join(f"{start} to {end}, {value}" for start, end, _, value in edges)
        first = "Eliminating " if self.orders else ""
        drawing = Drawing(self._title(), f"Edges: {told}. {first}{f'. {first}'.join(self._lines())}.")
        step = max(STEP, 60 + 9 * max(len(value) for *_, value in edges))
        shape = SHAPES[self.law.name][1] if self.orders else {v: (k, 0) for k, v in enumerate(self.vertices)}
        places = {v: (x * step, y * STEP) for v, (x, y) in shape.items()}
        for (start, end, kind, value), bend in zip(edges, _bends([edge[:2] for edge in edges]), strict=True):
            label = value if kind in (ONE, ZERO) else f"{kind} = {value}"
            if start == end:
                drawing.loop(places[start], label, (1, 0))
            else:
                drawing.arrow(places[start], places[end], label, bend=bend)
        for vertex, place in places.items():
            drawing.vertex(place, vertex)
        high, low = drawing.top, drawing.bottom
        drawing.text((0, high - 24), self.law.broken + ": " + self.law.formula + " does not hold", "sr-strong", "start")
        for k, line in enumerate(self._lines()):
            drawing.text((0, low + 26 + 22 * k), f"eliminating {line}" if self.orders else line, anchor="start")
        return str(drawing)

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x: auto">{self._repr_svg_()}</div>'


def _bends(ends: Sequence[tuple[str, str]]) -> list[float]:
    """How far each edge bends: edges between the same vertices lie apart.

    >>> _bends([("s", "u"), ("u", "t"), ("u", "t")])
    [8.0, 32.0, -32.0]
    """
    alike = [[k for k, other in enumerate(ends) if other == pair] for pair in ends]
    return [8.0 if len(same) == 1 else BEND * (len(same) - 1 - 2 * same.index(k)) for k, same in enumerate(alike)]


def _orders(
    A: Arithmetic, weights: Mapping[tuple[str, str], Any], between: Sequence[str], results: Mapping[str, Any]
) -> list[tuple[tuple[str, ...], Any, str]]:
    """The orders of elimination whose answer is a side of the law, with the answer and that side."""
    found = []
    for order in permutations(sorted(between, reverse=True)):
        answer = eliminated(A, weights, order)["s", "t"]
        # The sides differ by more than rounding: an answer that is one of them, to the bit, is not another one.
        found += [(order, answer, text) for text, value in results.items()
                  if equal(_alone(answer, A), _alone(value, A))[0]]
    return found


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
