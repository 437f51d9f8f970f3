"""One graph under several algebras: the same edges, other questions, other answers."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from semiring.algebra.by_name import algebra
from semiring.algebra.semiring import Semiring
from semiring.algebra.tables import html_table
from semiring.api import closure
from semiring.errors import LawError, NoClosureError, SemiringError
from semiring.graphs.graph import Graph
from semiring.graphs.matrix import Matrix
from semiring.graphs.tables import cells, lines
from semiring.graphs.texts import clip, count_text, quoted, shown

from .layout import circle
from .svg import HEIGHT, LINE, Drawing, Point, half_width, width_of, widths_of
from .tables import abreast, beside, texts
from .weights import given_weights, graph_of, weighted

DRAWN = 16  # vertices of a graph that is drawn
WRAPPED = 40  # characters of a line of prose above or below a table
PAGE = 800  # pixels beside the graph; tables that do not fit go below the others


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The closures of one graph under several algebras; `semiring.compare` makes it.

    Printed, it is text, side by side; a notebook shows the graph and tables. `C[S]` is the closure under S.

    Attributes
    ----------
    graph : Graph
    algebras : list of Semiring
    matrices : dict of Semiring to Matrix
        The edges with the weights of each algebra.
    closures : dict of Semiring to Matrix
        Of those under which the closure exists.
    failures : dict of Semiring to SemiringError
        Why it does not exist, of the others.
    source, target : hashable or None
        The vertices that are shown; all where there is none.

    Examples
    --------
    >>> import semiring as sr
    >>> roads = sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0)])
    >>> C = sr.compare(roads, [sr.min_plus, sr.max_min], source="a")
    >>> print(C)
    Closures of 3 vertices and 3 edges under 2 algebras, from a
    <BLANKLINE>
    min-plus                          max-min
    shortest paths, negative cycles   widest (bottleneck) paths, Schulze's
                                      vote, fuzzy relations (Gödel)
       a  b  c                           a  b  c
    a  0  3  7                        a  ∞  3  9
    >>> float(C[sr.max_min]["a", "c"])
    9.0
    """

    graph: Graph
    algebras: list[Semiring]
    matrices: dict[Semiring, Matrix]
    closures: dict[Semiring, Matrix]
    failures: dict[Semiring, SemiringError]
    source: Any = None
    target: Any = None

    def __getitem__(self, S: Semiring | str) -> Matrix:
        S = algebra(S)
        if S in self.failures:
            raise self.failures[S]
        if S not in self.closures:
            raise SemiringError(f"{S.name} was not compared: there are {', '.join(x.name for x in self.algebras)}")
        return self.closures[S]

    @property
    def _vertices(self) -> Sequence[Any]:
        return range(self.graph.n) if self.graph.names is None else self.graph.names

    def _table(self, S: Semiring) -> list[list[str]]:
        """The texts of a closure, or of the part that is shown."""
        rows, columns = ([self.graph.index(v)] if v is not None else list(range(self.graph.n))
                         for v in (self.source, self.target))
        part = self.closures[S].array[np.ix_(rows, columns)]
        return cells(part, S, [self._vertices[i] for i in rows], [self._vertices[j] for j in columns])

    def _title(self) -> str:
        size = f"{count_text(self.graph.n, 'vertex', 'vertices')} and {count_text(len(self.graph), 'edge', 'edges')}"
        ends = [f"{word} {clip(shown(v))}" for word, v in (("from", self.source), ("to", self.target)) if v is not None]
        under = f"Closures of {size} under {count_text(len(self.algebras), 'algebra', 'algebras')}"
        return ", ".join([under, " ".join(ends)] if ends else [under])

    def _blocks(self) -> list[list[str]]:
        """A block of lines for each algebra."""
        heads = [[S.name, *textwrap.wrap(S.description, WRAPPED)] for S in self.algebras]
        height = max(map(len, heads))
        blocks = []
        for S, told in zip(self.algebras, heads, strict=True):
            head = [*told, *[""] * (height - len(told))]
            if S in self.closures:
                blocks.append([*head, *lines(self._table(S), self.closures[S].dtype)])
            else:
                blocks.append([*head, *textwrap.wrap(f"No closure: {self.failures[S]}", WRAPPED)])
        return blocks

    def __repr__(self) -> str:
        return "\n".join([self._title(), "", *beside(self._blocks(), gap=3)])

    def _edges(self) -> dict[tuple[int, int], str]:
        """The weights of edges as text: those of all algebras, each once, as far as there is room."""
        found: dict[tuple[int, int], str] = {}
        for i, j in dict.fromkeys(zip(self.graph.sources.tolist(), self.graph.targets.tolist(), strict=True)):
            values = [texts(S, self.matrices[S].array[i : i + 1, j])[0] for S in self.algebras]
            found[i, j] = clip(" | ".join(dict.fromkeys(values)))
        return found

    def _draw(self, drawing: Drawing) -> None:
        """Draw the graph, its vertices on a circle."""
        n, names = self.graph.n, [clip(shown(v)) for v in self._vertices]
        if n > DRAWN:
            drawing.text((0, 0), f"{n} vertices, of which at most {DRAWN} are drawn", anchor="start")
            return
        edges = self._edges()
        radius = max(70.0, 26.0 * n, 0.9 * max(map(width_of, edges.values()), default=0)) if n > 1 else 0.0
        around: list[Point] = [(2 * x - 1, 2 * y - 1) for x, y in circle(n, edges)]
        places = [(radius * x, radius * y) for x, y in around]
        for (i, j), label in edges.items():
            if i == j:
                drawing.loop(places[i], label, around[i])
            elif self.graph.directed:
                drawing.arrow(places[i], places[j], label, 14 if (j, i) in edges else 6, half_width(names[j]) + 2)
            elif (j, i) not in edges or i < j:
                drawing.line([places[i], places[j]])
                middle = tuple((a + b) / 2 for a, b in zip(places[i], places[j], strict=True))
                drawing.text((middle[0], middle[1] - 9), label, "sr-label")
        for name, place in zip(names, places, strict=True):
            drawing.vertex(place, name)

    def _description(self) -> str:
        names = self._vertices
        edges = ""
        if self.graph.n <= DRAWN:
            told = (f"{shown(names[i])} to {shown(names[j])}, {text}" for (i, j), text in self._edges().items())
            edges = f" Edges: {'; '.join(told)}."
        return f"{self._title()}.{edges}"

    def _repr_svg_(self) -> str:
        told = " ".join("; ".join(" ".join(line.split()) for line in block) + "." for block in self._blocks())
        drawing = Drawing(self._title(), f"{self._description()} {told}")
        self._draw(drawing)
        left, top = drawing.right + 50, drawing.top + HEIGHT / 2
        x, y, low = left, top, top
        for S in self.algebras:
            about = textwrap.wrap(S.description, WRAPPED)
            failure = [] if S in self.closures else textwrap.wrap(f"No closure: {self.failures[S]}", WRAPPED)
            rows = self._table(S) if S in self.closures else []
            width = max([*map(width_of, [S.name, *about, *failure]),
                         sum(widths_of(rows))])
            if x > left and x + width > left + PAGE:
                x, y = left, low + HEIGHT
            drawing.text((x, y), S.name, "sr-strong", "start")
            line = y + LINE
            for text in (*about, *failure):
                drawing.text((x, line), text, anchor="start")
                line += LINE
            if rows:
                line = drawing.table((x, line), rows)
            low = max(low, line)
            x += width + 40
        return str(drawing)

    def _repr_html_(self) -> str:
        drawing = Drawing(self._title(), self._description())
        self._draw(drawing)
        pages = [f"{drawing}"]
        for S in self.algebras:
            caption = f"{S.name}: {S.description}" if S.description else S.name
            if S in self.closures:
                head, *rows = self._table(S)
                pages.append(html_table(caption, rows, head))
            else:
                pages.append(html_table(caption, [("no closure", str(self.failures[S]))]))
        return abreast(pages)


def compare(
    A: Any, algebras: Sequence[Semiring | str], *, weights: Mapping[Any, Any] | None = None, source: Any = None,
    target: Any = None,
) -> Comparison:
    """The closures of one graph under several algebras, side by side.

    Parameters
    ----------
    A : Graph, Matrix, array, SciPy sparse or NetworkX graph
        Of an array, of shape (n, n), what is True is an edge, or what is not the zero of the first algebra.
    algebras : sequence of Semiring or str
    weights : mapping of Semiring or str to weights, optional
        For an algebra other weights than those that A brings: a matrix of shape (n, n) with an element for each edge
        and zeros elsewhere, a mapping of edges (from, to) to elements, or a sequence of one element for each edge of
        A, in their order. Algebras that are not in it take what A brings.
    source, target : vertex, optional
        Show the elements from, or to, one vertex only. The closures are whole.

    Returns
    -------
    Comparison
        With `closures` and `failures` by algebra; it prints side by side, and is a drawing and tables in notebooks.

    Raises
    ------
    GraphError
        When an algebra lacks weights, because those of A are not in its carrier, say; when weights are not one for each
        edge; when a vertex is unknown, or A is neither a square matrix nor a graph.
    SemiringError
        When `algebras` is not a sequence of algebras, an algebra of `weights` is not among them, or a closure does not
        fit in memory.

    Notes
    -----
    An algebra under which the closure does not exist, or that is good for bare products only, says so in its column.

    Examples
    --------
    >>> import semiring as sr
    >>> roads = sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0)])
    >>> safe = {("a", "b"): 0.5, ("b", "c"): 1.0, ("a", "c"): 0.25}
    >>> C = sr.compare(roads, ["min_plus", "viterbi"], weights={"viterbi": safe}, source="a", target="c")
    >>> [float(C[S]["a", "c"]) for S in C.algebras]
    [7.0, 0.5]
    >>> sr.compare(roads, [sr.viterbi])
    Traceback (most recent call last):
        ...
    semiring.errors.GraphError: viterbi lacks weights on this graph: edge 0 ('a' → 'b'): the weight 3 is outside ...
    """
    chosen = _algebras(algebras)
    graph = graph_of(A, chosen[0])
    given = given_weights(weights, chosen)
    for vertex in (source, target):
        if vertex is not None:
            graph.index(vertex)
    matrices = {S: weighted(graph, S, given) for S in chosen}
    closures: dict[Semiring, Matrix] = {}
    failures: dict[Semiring, SemiringError] = {}
    for S, matrix in matrices.items():
        try:
            closures[S] = closure(matrix, S)
        except (NoClosureError, LawError) as e:
            failures[S] = e
    return Comparison(graph, chosen, matrices, closures, failures, source, target)


def _algebras(given: Any) -> list[Semiring]:
    """The algebras, each once.

    Raises
    ------
    SemiringError
        When this is not a sequence of them, or there is none.
    """
    if not isinstance(given, (list, tuple)) or not given:
        raise SemiringError(f"algebras must be a list of them, such as [sr.min_plus, sr.max_min], not {quoted(given)}")
    return list(dict.fromkeys(map(algebra, given)))
