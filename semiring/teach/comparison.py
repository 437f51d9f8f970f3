"""Compare one graph under several algebras: the same edges, other questions, other answers."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import hypot
from typing import Any

import numpy as np

from semiring.algebra.by_name import algebra
from semiring.algebra.elements import MINUS
from semiring.algebra.semiring import Semiring
from semiring.algebra.tables import Cut, html_table
from semiring.api import closure, path
from semiring.errors import LawError, NoClosureError, SemiringError
from semiring.graphs.graph import Graph
from semiring.graphs.held import Array
from semiring.graphs.matrix import Matrix
from semiring.graphs.tables import cells, lines
from semiring.graphs.texts import clip, count_text, quoted, shown

from .labels import on_edges
from .layout import Place, placed
from .svg import HEIGHT, LINE, Drawing, Point, control_of, half_width, width_of
from .tables import WIDTH, abreast, beside, texts
from .weights import given_weights, graph_of, weighted

DRAWN = 16  # the most vertices of a graph that is drawn
WRAPPED = 40  # characters of a line of prose above or below a table
PAGE = 1120  # pixels of a drawing; further panels go below the others
BEND = 12  # pixels by which an edge bends if there is one back


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Closures of one graph under several algebras; `semiring.compare` makes it.

    It prints as text: one row per algebra if a source or target is given, else matrices side by side. A notebook
    shows a panel for each algebra: the graph with the weights for this algebra, and the closure. Vertices have the same
    places in all panels, and a best walk is highlighted if source and target are given. `C[S]` is the closure under S.

    Attributes
    ----------
    graph : Graph
    algebras : list of Semiring
    matrices : dict of Semiring to Matrix
        The edges with the weights for each algebra.
    closures : dict of Semiring to Matrix
        The closures that exist.
    failures : dict of Semiring to SemiringError
        The errors of the other algebras.
    walks : dict of Semiring to list
        The vertices of a best walk from `source` to `target`, if both are given, ⊕ selects and there is a walk.
    source, target : hashable or None
        The vertices that are shown; None: all.
    places : list of (float, float)
        Where the vertices are drawn, in the unit square.

    Examples
    --------
    >>> import semiring as sr
    >>> roads = sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0)])
    >>> C = sr.compare(roads, [sr.min_plus, sr.max_min], source="a", target="c")
    >>> print(C)
    Closures of 3 vertices and 3 edges under 2 algebras, from a to c
    <BLANKLINE>
              c
    min-plus  7  a → b → c
    max-min   9  a → c
    <BLANKLINE>
    min-plus: shortest paths, negative cycles
    max-min: widest (bottleneck) paths, Schulze's vote, fuzzy relations (Gödel)
    >>> float(C[sr.max_min]["a", "c"])
    9.0
    """

    graph: Graph
    algebras: list[Semiring]
    matrices: dict[Semiring, Matrix]
    closures: dict[Semiring, Matrix]
    failures: dict[Semiring, SemiringError]
    walks: dict[Semiring, list[Any]]
    source: Any = None
    target: Any = None
    places: list[Place] = field(default_factory=list)

    def __getitem__(self, S: Semiring | str) -> Matrix:
        S = algebra(S)
        if S in self.failures:
            raise self.failures[S]
        if S not in self.closures:
            raise SemiringError(f"{S.name} was not compared, only {', '.join(x.name for x in self.algebras)}")
        return self.closures[S]

    @property
    def _vertices(self) -> Sequence[Any]:
        return range(self.graph.n) if self.graph.names is None else self.graph.names

    def _table(self, S: Semiring) -> list[list[str]]:
        """The texts of a closure, or of the part that is shown."""
        rows, columns = ([self.graph.index(v)] if v is not None else list(range(self.graph.n))
                         for v in (self.source, self.target))
        part = self.closures[S].array[np.ix_(rows, columns)]
        return cells(Array(part, S), S, [self._vertices[i] for i in rows], [self._vertices[j] for j in columns], MINUS)

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

    def _rows(self) -> list[str]:
        """A row of elements from the source, or to the target, for each algebra that has a closure."""
        found = [S for S in self.algebras if S in self.closures]
        columns: list[list[str]] = [["", *(S.name for S in found)]]
        for S in found:
            table = self._table(S)
            if self.source is None:
                table = [list(row) for row in zip(*table, strict=True)]
            heads, values = table[0][1:], table[1][1:]
            if len(columns) == 1:
                columns += [[head] for head in heads]
            for column, value in zip(columns[1:], values, strict=True):
                column.append(value)
        if self.walks:
            columns.append(["", *(_spelled(self.walks.get(S, [])) for S in found)])
        widths = [max(map(len, column)) for column in columns]
        rows = ["  ".join(text.ljust(w) for text, w in zip(row, widths, strict=True)).rstrip()
                for row in zip(*columns, strict=True)]
        about = [f"{S.name}: {S.description}" for S in found if S.description]
        why = [f"{S.name}: {failure}" for S, failure in self.failures.items()]
        told = [line for text in (*about, *why) for line in textwrap.wrap(text, WIDTH, subsequent_indent="  ")]
        return [*(rows if found else []), *([""] if found and told else []), *told]

    def __repr__(self) -> str:
        one = self.source is not None or self.target is not None
        return "\n".join([self._title(), "", *(self._rows() if one else beside(self._blocks(), gap=3))])

    def _edges(self, S: Semiring) -> dict[tuple[int, int], str]:
        """The weights of edges as text."""
        ends = dict.fromkeys(zip(self.graph.sources.tolist(), self.graph.targets.tolist(), strict=True))
        matrix = self.matrices[S].array
        return {(i, j): clip(texts(S, matrix[i : i + 1, j])[0]) for i, j in ends}

    def _draw(self, S: Semiring) -> Drawing:
        """The graph with the weights of an algebra."""
        n, names, edges = self.graph.n, [clip(shown(v)) for v in self._vertices], self._edges(S)
        walk = [self.graph.index(v) for v in self.walks.get(S, [])]
        told = "; ".join(f"{_whole(names[i])} to {_whole(names[j])}, {_whole(text)}" for (i, j), text in edges.items())
        best = f" The walk {' → '.join(_whole(names[v]) for v in walk)} stands out." if walk else ""
        drawing = Drawing(f"The graph under {S.name}", (f"Edges: {told}." if n <= DRAWN else "") + best)
        if n > DRAWN:
            drawing.text((0, 0), f"{n} vertices are too many to draw (at most {DRAWN})", anchor="start")
            return drawing
        radius = max(76.0, 16.0 * n) if n > 1 else 0.0
        around: list[Point] = [(2 * x - 1, 2 * y - 1) for x, y in self.places]
        places = [(radius * x, radius * y) for x, y in around]
        labels = self._labels(edges)
        curves = {}
        for i, j in edges:
            kind = "sr-walk" if (i, j) in pairwise(walk) or (
                not self.graph.directed and (j, i) in pairwise(walk)) else ""
            if i == j:
                far = hypot(*around[i])  # away from the middle
                away = (around[i][0] / far, around[i][1] / far) if far > 0.1 else (0.0, -1.0)
                drawing.loop(places[i], labels.get((i, j), ""), away)
            elif self.graph.directed:
                bend = BEND if (j, i) in edges else 0
                drawing.arrow(places[i], places[j], bend=bend, room=half_width(names[j]) + 2, kind=kind)
                curves[i, j] = (places[i], control_of(places[i], places[j], bend), places[j])
            elif (j, i) not in edges or i < j:
                drawing.line([places[i], places[j]], kind)
                curves[i, j] = (places[i], control_of(places[i], places[j], 0), places[j])
        if labels:
            widths = [width_of(labels[ends]) for ends in curves]
            boxes = [(place, half_width(name)) for name, place in zip(names, places, strict=True)]
            for ends, place in zip(curves, on_edges([*curves.values()], widths, boxes), strict=True):
                drawing.text(place, labels[ends], "sr-label sr-on")
        for name, place in zip(names, places, strict=True):
            drawing.vertex(place, name)
        return drawing

    def _labels(self, edges: Mapping[tuple[int, int], str]) -> Mapping[tuple[int, int], str]:
        """The labels of edges: none if all have the same weight, which is then named below the graph."""
        return edges if len({*edges.values()}) > 1 else {}

    def _told(self, S: Semiring) -> list[str]:
        """The caption below the name of an algebra."""
        weights = {*self._edges(S).values()}
        same = [f"every edge has the weight {next(iter(weights))}"] if len(weights) == 1 else []
        walk = [f"by {_spelled(self.walks[S])}"] if S in self.walks else []
        failure = [f"No closure: {self.failures[S]}"] if S in self.failures else []
        return [*([S.description] if S.description else []), *same, *walk, *failure]

    def _panel(self, S: Semiring) -> Drawing:
        """Name, graph, caption and closure, one below the other, aligned with neighbouring graphs."""
        panel = Drawing("", "")
        panel.text((0, 0), S.name, "sr-strong", "start")
        panel.put(self._draw(S), (0, LINE))
        line = panel.bottom + LINE
        for text in (line for told in self._told(S) for line in textwrap.wrap(told, WRAPPED)):
            panel.text((0, line), text, anchor="start")
            line += LINE
        if S in self.closures:
            panel.table((0, line + LINE / 2), self._table(S))
        return panel

    def _repr_svg_(self) -> str:
        told = " ".join("; ".join(" ".join(line.split()) for line in block) + "." for block in self._blocks())
        graphs = " ".join(f"{S.name}: {self._draw(S).description}" for S in self.algebras)
        drawing = Drawing(self._title(), f"{self._title()}. {graphs} {told}")
        x = y = low = 0.0
        for S in self.algebras:
            panel = self._panel(S)
            width = panel.right - panel.left
            if x and x + width > PAGE:
                x, y = 0.0, low + 2 * HEIGHT
            drawing.put(panel, (x, y))
            low = max(low, drawing.bottom)
            x += width + 40
        return str(drawing)

    def _repr_html_(self) -> str:
        pages = []
        for S in self.algebras:
            about = "".join(f"<div>{html.escape(shown(text))}</div>" for text in self._told(S))
            table = ""
            if S in self.closures:
                head, *rows = self._table(S)
                table = html_table(f"A* over {S.name}", rows, head, "right")
            pages.append(f"<strong>{html.escape(shown(S.name))}</strong><div>{self._draw(S)}</div>"
                         f'<div style="max-width: 15em">{about}</div>{table}')
        return abreast(pages)


def _whole(text: str) -> str:
    """All of a text, of which a drawing may show a part: for those who do not see it."""
    return text.whole if isinstance(text, Cut) else text


def _spelled(walk: Sequence[Any]) -> str:
    """The vertices of a walk as text.

    >>> _spelled(["a", "b"])
    'a → b'
    """
    return " → ".join(clip(shown(v)) for v in walk)


def compare(
    A: Any, algebras: Sequence[Semiring | str], *, weights: Mapping[Any, Any] | None = None, source: Any = None,
    target: Any = None, positions: Any = None,
) -> Comparison:
    """Compute the closures of one graph under several algebras, side by side.

    Parameters
    ----------
    A : Graph, Matrix, array, SciPy sparse or NetworkX graph
        In an array of shape (n, n), True is an edge, or an element other than the first algebra's zero.
    algebras : sequence of Semiring or str
    weights : mapping of Semiring or str to weights, optional
        Weights for some algebras, instead of those of A: a matrix of shape (n, n) with an element for each edge
        and zeros elsewhere, a mapping of edges (from, to) to elements, or a sequence of one element for each edge of
        A, in their order. All other algebras use the weights of A.
    source, target : vertex, optional
        Show only elements from, or to, one vertex; whole closures are computed. With both, a best walk is shown too,
        under algebras whose ⊕ selects.
    positions : mapping or sequence of pairs, optional
        Coordinates of the vertices, with y pointing up, as for `explain`. Default: on a circle with few crossings.

    Returns
    -------
    Comparison
        With `closures`, `failures` and `walks` by algebra; it prints side by side, and a notebook shows a panel for
        each algebra.

    Raises
    ------
    GraphError
        If an algebra lacks weights (for example, because those of A are not in its carrier), weights are not one for
        each edge, a vertex is unknown, or A is neither a square matrix nor a graph.
    SemiringError
        If `algebras` is not a sequence of algebras, an algebra of `weights` is not among them, positions are not one
        pair for each vertex, or a closure does not fit in memory.

    Notes
    -----
    The column of an algebra says if the closure does not exist, or if the algebra has products only.

    Examples
    --------
    >>> import semiring as sr
    >>> roads = sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0)])
    >>> safe = {("a", "b"): 0.5, ("b", "c"): 1.0, ("a", "c"): 0.25}
    >>> C = sr.compare(roads, ["min_plus", "viterbi"], weights={"viterbi": safe}, source="a", target="c")
    >>> [float(C[S]["a", "c"]) for S in C.algebras]
    [7.0, 0.5]
    >>> C.walks[sr.viterbi]
    ['a', 'b', 'c']
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
    walks: dict[Semiring, list[Any]] = {}
    if source is not None and target is not None:
        for S in closures:
            if S.selective and (walk := path(matrices[S], S, source, target)[1]) is not None:
                walks[S] = walk
    places = []
    if positions is not None or graph.n <= DRAWN:
        edges = zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)
        places = placed(positions, graph.n, edges, graph.names)
    return Comparison(graph, chosen, matrices, closures, failures, walks, source, target, places)


def _algebras(given: Any) -> list[Semiring]:
    """The algebras, each once.

    Raises
    ------
    SemiringError
        If this is not a sequence of algebras, or is empty.
    """
    if not isinstance(given, (list, tuple)) or not given:
        raise SemiringError(f"algebras must be a list, such as [sr.min_plus, sr.max_min], not {quoted(given)}")
    return list(dict.fromkeys(map(algebra, given)))
