"""`explain`: a closure as steps that people can read, iterate over, and click through in a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from semiring.algebra.by_name import algebra
from semiring.algebra.catalogue import catalogue
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.graphs.texts import infinities, is_same
from semiring.kernels.wrappers.recording import Call, recorded
from semiring.operands.convert import as_dense, on_host
from semiring.operands.operand import Operand, order_of_one
from semiring.operands.read import operand
from semiring.solvers.dense.schedules import SCHEDULES, resolve_method
from semiring.solvers.task import own_algebra, refuse_closures

from .elements import Elements
from .layout import Place, placed
from .page import matrix, page, refusals
from .questions import OFFERED, Edges
from .replay import Failure, Replay, Step
from .shown import Shown
from .weights import graph_of, weighted
from .words import Line, line, walks_text

MOST_VERTICES = 12  # that can be distinguished in a drawing
NAMES = {
    "floyd-warshall": ("Floyd–Warshall", "one pivot vertex after the other"),
    "blocked": ("blocked Floyd–Warshall", "pivots are blocks of vertices: most of the work is matrix products"),
    "r-kleene": ("R-Kleene", "the closure of the halves, and products that join them"),
    "squaring": ("repeated squaring", "walks of at most 1, 2, 4, 8 … edges"),
    "elimination": ("elimination", "forwards and backwards, as equations are solved"),
}


class Explanation(Shown):
    """The steps of a closure over a small graph; `semiring.explain` makes it.

    It iterates over its steps, prints those that change an entry, and a notebook shows it as the page that `save`
    writes. There the reader clicks through the steps, changes edges, algebra and method, and can enter an algebra.

    Attributes
    ----------
    semiring : Semiring
    method : str
    names : list of str
        The names of the vertices.
    edges : list of (int, int)
    calls : list of Call
        The recorded calls of the schedule to a kernel: an operation, and its blocks.
    steps : list of Step
        Every write to an entry: the call, the kind of step, the entries read, the old and the new value, and the
        walks that each combines.
    closure : list of lists, or None
        A*, if it exists.
    failure : Failure or None
        Why it does not exist.
    title : str
        The title of the page.
    height : int
        The height of a notebook's frame in pixels, where the page cannot choose it.

    Examples
    --------
    >>> import semiring as sr
    >>> E = sr.explain(sr.as_graph([("a", "b", 3), ("b", "c", 4), ("a", "c", 9)]), sr.min_plus)
    >>> print(E)
    min-plus, Floyd–Warshall: 3 vertices, 27 operations, 4 of them changes
    All walks from a back to a
      d(a, a) ← d(a, a)*  = (∞)* = 0  by staying at a
    Let walks pass through b
      d(a, c) ← d(a, c) ⊕ d(a, b) ⊗ d(b, c)  = min(9, 3 + 4) = 7  by a → b → c
    All walks from b back to b
      d(b, b) ← d(b, b)*  = (∞)* = 0  by staying at b
    All walks from c back to c
      d(c, c) ← d(c, c)*  = (∞)* = 0  by staying at c
    """

    def __init__(
        self, elements: Elements, method: str, tile: int, names: list[str], weights: Mapping[Semiring, list[Any]],
        edges: list[tuple[int, int]], positions: list[Place], title: str, lengths: list[float],
    ):
        self.elements, self.semiring, self.method, self.names, self.edges = elements, elements.S, method, names, edges
        self.weights, self.positions, self.title, self.lengths = weights, positions, title, lengths
        n = len(names)
        self.height = 720 + 44 * n  # where the page cannot choose it
        self.methods: dict[str, tuple[str, str, list[Call]]] = {
            key: (*NAMES[key], recorded(schedule, n, n if key == "floyd-warshall" else tile))
            for key, schedule in SCHEDULES.items()
        }
        self.calls = self.methods[method][2]
        self.keys = {T: _key(T, at) for at, T in enumerate(weights)}

    @cached_property
    def _replay(self) -> Replay:
        return Replay(self.elements, self.calls, matrix(self, self.elements))

    @property
    def steps(self) -> list[Step]:
        """All entries that are written, in order."""
        return self._replay.steps

    @property
    def failure(self) -> Failure | None:
        """Why there is no closure."""
        return self._replay.failure

    @property
    def closure(self) -> list[list[Any]] | None:
        """A*, if it exists."""
        limits = self.elements.limits
        if self.failure or not limits:
            return None if self.failure else self._replay.values["A"]
        return [[limits.get(int(x), x) for x in row] for row in self._replay.values["A"]]

    @property
    def changes(self) -> list[Step]:
        """The steps that change an entry."""
        return [step for step in self.steps if step.changed]

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __getitem__(self, at: int) -> Step:
        return self.steps[at]

    def words(self, step: Step) -> Line:
        """Describe a step in words.

        The words are a title, the equation over blocks, the rule of the entry, its numbers, and its walks.

        Parameters
        ----------
        step : Step

        Returns
        -------
        Line
            A tuple of the five texts, by name.

        Examples
        --------
        >>> import semiring as sr
        >>> E = sr.explain([[0.5]], sr.plus_times)
        >>> E.words(E[0]).numbers
        '= (0.5)* = 2'
        """
        return line(step, self.names, self.elements)

    def __repr__(self) -> str:
        return f"<Explanation: {self._summary()}>"

    def __str__(self) -> str:
        lines, title = [self._summary()], ""
        for step in self.changes:
            words = self.words(step)
            if words.title != title:
                title = words.title
                lines.append(title)
            by = "" if not words.walks or words.walks.startswith("combines") else "by "
            lines.append(f"  {words.rule}  {words.numbers}  {by}{words.walks}".rstrip())
        if self.failure:
            lines.append(self._failure_text(self.failure))
        return "\n".join(lines)

    def _page(self) -> str:
        return page(self)

    def _summary(self) -> str:
        n = len(self.names)
        return (f"{self.semiring.name}, {NAMES[self.method][0]}: {n} {'vertex' if n == 1 else 'vertices'}, "
                f"{len(self.steps)} operations, {len(self.changes)} of them changes")

    def _failure_text(self, failure: Failure) -> str:
        weight, cycle = self.elements.text(failure.weight), walks_text(failure.walks, self.names, True)
        if failure.improves:
            return f"No closure: the cycle {cycle} has the weight {weight}, and each round is better."
        return f"No closure: the star of {weight}, the loops at {self.names[failure.vertex]}, does not exist."


def explain(
    A: Any,
    S: Semiring | str | None = None,
    *,
    method: str = "floyd-warshall",
    tile: int = 2,
    weights: Mapping[Semiring | str, Any] | None = None,
    positions: Any = None,
    title: str | None = None,
) -> Explanation:
    """Compute a closure step by step, to read, to teach with, or to click through.

    Parameters
    ----------
    A : array_like, sparse matrix or graph, shape (n, n)
        As for `closure`, of 1 to 12 vertices.
    S : Semiring or str, optional
        Default: the algebra of A, if it is a `Matrix`.
    method : str
        "floyd-warshall", "blocked", "r-kleene", "squaring" or "elimination". A page offers all that the laws allow.
    tile : int
        Vertices of a block, for methods with blocks.
    weights : mapping of Semiring or str, optional
        Further algebras for the page, each with its weights as for `compare`: a matrix, a mapping of edges
        to elements, or a sequence of one element for each edge of A, in their order. If a value is None, or the
        mapping is missing, weights are made from those of A: lengths if the algebra's carrier has them, otherwise
        probabilities and shares.
    positions : mapping or sequence of pairs, optional
        Coordinates of the vertices, with y pointing up. Default: on a circle with few crossings.
    title : str, optional
        The title of the page.

    Returns
    -------
    Explanation
        Its `steps` are data; it prints, notebooks show it, and `save` writes the page.

    Raises
    ------
    SemiringError
        If there are more than 12 vertices or none, or the method is unknown.
    GraphError
        If weights do not fit the edges or the carrier, or a vertex is unknown.
    LawError
        If the algebra lacks a law that the method needs, or is not a semiring.

    Notes
    -----
    The library's own method runs, and its calls are recorded. Numbers are computed in double precision, integers of 64
    bits as such if doubles would round them, records in the precision of their fields. The walks of a value come from
    the free algebra, which runs in parallel to S: if ⊕ selects, the one walk that won, else the union, cut to the four
    shortest. A cycle counts as improving if it improves by more than 10⁻¹² of the largest weight.

    Examples
    --------
    >>> import semiring as sr
    >>> roads = sr.as_graph([("a", "b", 7.0), ("a", "c", 2.0), ("c", "b", 1.0)])
    >>> E = sr.explain(roads, sr.min_plus, method="elimination")
    >>> E.closure[0][1]
    np.float64(3.0)
    >>> step = E.changes[-1]
    >>> step.kind, E.words(step).numbers
    ('product', '= min(7, 2 + 1) = 3')
    """
    S = algebra(S) if S is not None else own_algebra("explain", [A])
    if S.product_only:
        refuse_closures(S)
    method = resolve_method(method, S)
    if method not in SCHEDULES:
        raise SemiringError(f"explain can step through {', '.join(SCHEDULES)}, but not through method={method!r}")
    if not isinstance(tile, int) or isinstance(tile, bool) or tile < 1:
        raise SemiringError(f"tile must be a number of vertices, 1 or more, not {tile!r}")
    given = operand(A, S)
    n = order_of_one(given.shape)
    if not 0 < n <= MOST_VERTICES:
        hint = "pass some of them, as in M[[\"a\", \"b\"]] of a Matrix" if n else "it has no steps"
        raise SemiringError(f"explain shows graphs of 1 to {MOST_VERTICES} vertices, but this one has {n}: {hint}")
    elements = _elements(given, tile)
    own = entries_of(given, elements)
    others = _others(A, S, weights)
    edges = sorted({*own, *(edge for entries in others.values() for edge in entries or ())})
    lengths = [length_of(own.get(edge), at) for at, edge in enumerate(edges)]
    found = {}
    for T, entries in {S: own, **others}.items():
        E = elements if T is S else Elements(T)
        made = _made(E, lengths, edges) if entries is None else [entries.get(edge, E.zero) for edge in edges]
        if made is not None:
            found[T] = made
    names = [str(v) for v in (range(n) if given.names is None else given.names)]
    drawn = placed(positions, n, edges, given.names)
    return Explanation(elements, method, tile, names, found, edges, drawn,
                       title or "All walks, step by step", lengths)


Entries = dict[tuple[int, int], Any]  # elements by rows and columns


def _elements(given: Operand, tile: int) -> Elements:
    """The elements of a page: integers of 64 bits if doubles round some, and no method leaves the 64 bits."""
    plain, n = Elements(given.S), given.shape[0]
    if plain.dtype != np.float64 or given.dtype not in (np.int64, np.uint64):
        return plain
    wide = Elements(given.S, given.dtype)
    own = entries_of(given, wide)
    weights = [[own.get((i, j), wide.zero) for j in range(n)] for i in range(n)]
    largest = 0
    for method in SCHEDULES.keys() - refusals(given.S).keys():
        try:
            calls = recorded(SCHEDULES[method], n, n if method == "floyd-warshall" else tile)
            steps = Replay(wide, calls, weights).steps
        except SemiringError:
            return plain
        values = [int(x) for step in steps if step.kind != "copy" for x in (step.old, step.new)]
        largest = max([largest, *(abs(x) for x in values if x not in wide.limits)])
    return wide if largest >= 2**53 else plain


def entries_of(given: Operand, elements: Elements) -> Entries:
    """The entries that are not zero, as elements of a page."""
    dense = as_dense(on_host(given))
    _ = dense.facts  # refuses anything that is not an element, with its place
    array = np.asarray(dense.array)
    zero = given.S.zero_in(array.dtype)
    infinite = infinities(given.S, array.dtype)
    if elements.dtype.names:
        infinite = {f: table for f, table in infinite.items() if elements.dtype[f].base.kind == "f"}
    elif elements.dtype.kind != "f":
        infinite = {}
    found = ((place, array[place]) for place in np.ndindex(array.shape))
    return {place: elements.element(_with_infinities(x, infinite) if infinite else x)
            for place, x in found if not is_same(x, zero)}


def _with_infinities(x: Any, infinite: Mapping[Any, Any]) -> Any:
    """An element with ∞ for the limits of integers that stand for it; in a record for each component."""
    if isinstance(x, np.void):
        return tuple(_with_infinities(x[f], infinite.get(f, {})) for f in x.dtype.names or ())
    return infinite.get(x, x)


def _others(
    A: Any, S: Semiring, asked: Mapping[Semiring | str, Any] | None
) -> dict[Semiring, Entries | None]:
    """The entries under the other algebras; None if they are to be made from lengths."""
    if asked is None:
        return {T: None for T in map(catalogue.__getitem__, OFFERED) if T is not S}
    if not isinstance(asked, Mapping):
        raise SemiringError(f"weights is a mapping from algebras to weights, not of type {type(asked).__name__}")
    given = {algebra(T): values for T, values in asked.items()}
    graph = graph_of(A, S) if any(values is not None for values in given.values()) else None
    found: dict[Semiring, Entries | None] = {}
    for T, values in given.items():
        if T.product_only:
            refuse_closures(T)
        if graph is None or values is None:
            found[T] = None
        else:
            found[T] = entries_of(operand(weighted(graph, T, {T: values}), T), Elements(T))
    found.pop(S, None)
    return found


def _made(elements: Elements, lengths: Sequence[float], edges: Edges) -> list[Any] | None:
    """Weights made from lengths: as OFFERED says, else the lengths, else ones; None if none fits."""
    maker = next((m for name, m in OFFERED.items() if catalogue[name] is elements.S), None)
    tried = [maker(lengths, edges)] if maker else [list(lengths), [elements.one] * len(edges)]
    for weights in tried:
        try:
            return weights and [elements.element(x) for x in weights]
        except (SemiringError, OverflowError):
            continue
    return None


def length_of(value: Any, at: int) -> float:
    """A number for the weight of an edge: the first number of a record; its position if it is not a number."""
    if isinstance(value, np.void):
        value = value[0]
    if isinstance(value, (bool, np.bool_)):
        return 1.0
    if isinstance(value, (int, float, np.number)) and np.isfinite(value):
        return float(value)
    return float(at % 9 + 1)


def _key(S: Semiring, at: int) -> str:
    """The name of an algebra in links: its Python name, if it is built in."""
    return next((name for name in OFFERED if S.origin and catalogue[name] is S), f"algebra-{at}")
