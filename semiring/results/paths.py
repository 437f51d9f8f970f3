"""Best paths as one object: weights, next hops, predecessors, and single paths."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.elements import MINUS, equal, full, show
from semiring.algebra.semiring import Semiring
from semiring.algebra.tables import Cut, dtype_text, html_table
from semiring.errors import GraphError
from semiring.graphs.frames import frame_library, made_of
from semiring.graphs.graph import Graph
from semiring.graphs.names import position_of
from semiring.graphs.texts import clip, clip_repr, count_text, element_text, infinities, plain_text, shown
from semiring.kernels.cpu.sparse.edge_numbers import EdgeNumbers
from semiring.machine.memory import require
from semiring.operands.convert import on_host
from semiring.operands.devices import is_on_gpu, to_host, upload
from semiring.operands.operand import Operand
from semiring.solvers.paths.search import positions
from semiring.solvers.paths.trees import best_trees
from semiring.solvers.paths.walks import may_be_lost, nothing_in

SHOWN = 10  # paths, and vertices of a path, that a notebook shows


class Path(NamedTuple):
    """One best path: its weight, and the vertices from its source to its target (None if there is no path)."""

    weight: Any
    vertices: list[Any] | None

    def __repr__(self) -> str:
        weight, text = self.weight, repr(self.weight)
        if isinstance(weight, np.void):  # its own text would show the dtype
            fields = weight.dtype.names or ()
            text = f"({', '.join(f'{field}={weight[field].tolist()!r}' for field in fields)})"
        elif isinstance(weight, (set, frozenset)):
            text = shown(show(weight))
        return f"Path(weight={text}, vertices={self.vertices!r})"

    def _repr_html_(self) -> str:
        if self.vertices is None:
            return html_table("No path", [("weight", plain_text(self.weight, minus=MINUS))])
        count = count_text(len(self.vertices) - 1, "edge", "edges")
        return html_table(f"Path of {count}", [("weight", plain_text(self.weight, minus=MINUS)),
                                               ("vertices", steps(self.vertices))])


def steps(vertices: Sequence[Any]) -> str:
    """The vertices of a walk for a table: those in the middle of a long one, and the ends of long names, are cut.

    >>> steps(["a", "b"]), steps(range(20))
    ('a → b', '0 → 1 → 2 → 3 → 4 → … → 15 → 16 → 17 → 18 → 19')
    """
    every = [shown(v) for v in vertices]
    called = every if len(every) <= SHOWN else [*every[: SHOWN // 2], "…", *every[-SHOWN // 2 :]]
    text, whole = " → ".join(map(clip, called)), " → ".join(every)
    return text if text == whole else Cut(text, whole)


class Paths:
    """Best paths between the vertices of a graph; `semiring.paths` makes them.

    `R[a, b]` is the path from a to b, with vertices called by name if the graph has names, else by position.
    Iterating gives ``(from, to, weight, vertices)`` for every path from a source to a different target.

    Attributes
    ----------
    semiring : Semiring
        The algebra of the weights.
    n : int
        The number of vertices.
    names : list or None
        The names of the vertices.

    Examples
    --------
    >>> import semiring as sr
    >>> R = sr.paths(sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0)]), sr.min_plus)
    >>> R["a", "c"]
    Path(weight=7.0, vertices=['a', 'b', 'c'])
    >>> R.weights["a", "c"], R.next_hop[0]
    (np.float64(7.0), array([-1,  1,  1], dtype=int32))
    """

    def __init__(
        self, given: Operand, weights: Any, tree: Any, sources: np.ndarray | None = None,
        targets: np.ndarray | None = None, limited: bool = False,
    ):
        self._limited = limited
        self._given, self._values, self._tree = given, weights, tree
        self._starts, self._ends = sources, targets
        self.semiring: Semiring = given.S.declared
        self.n = int(given.shape[0])
        self.names = None if given.names is None else list(given.names)

    @cached_property
    def weights(self) -> Any:
        """The value of a best walk from each source to each target; zero if there is none.

        As `semiring.closure` returns it if all vertices are sources and targets, else an array with a row per source.
        """
        if self._starts is None and self._ends is None:
            return self._given.wrap(self._values)
        rows = self._values if self._ends is None else self._values[:, self._ends]
        return self._given.as_shown(rows)

    @property
    def sources(self) -> list[Any]:
        """The sources of the paths, by name if there are names."""
        return self._called(self._starts)

    @property
    def targets(self) -> list[Any]:
        """The targets of the paths."""
        return self._called(self._ends)

    @cached_property
    def next_hop(self) -> Any:
        """The next vertex on the path to each vertex, by position: int32, shape (k, n).

        −1 at the source itself, and if there is no path. It is on a GPU if the weights are there. If edges can be
        numbered in a byte, as in most sparse graphs, paths follow these numbers, and this matrix is made from them on
        first use.
        """
        self._refuse_lost(np.arange(len(self._values)), slice(None))
        if self._starts is None and isinstance(self._tree, EdgeNumbers):
            advice = "R.walk and R[source, target] need no such matrix"
            require(self._tree.numbers.size * 4, f"the matrix of next hops between {self.n} vertices", advice)
            return self._tree.vertices()
        if self._starts is None:
            return self._tree
        rows = np.arange(len(self._starts))[:, None]
        tree, own = self._host_tree, np.arange(self.n, dtype=np.int32)
        before = np.where(tree == self._starts[:, None], own, tree)
        for _ in range(self.n.bit_length()):  # pointer jumping, until all are a source's neighbours
            before = np.where(before >= 0, before[rows, before], before)
        return upload(before) if is_on_gpu(self._tree) else before

    @cached_property
    def predecessors(self) -> Any:
        """The vertex before each one on a best path, by position: int32, shape (k, n).

        −1 at the source itself, and if there is no path. A row is a tree: see `tree`. If no sources were given and
        there are several best paths, next hops, which `R[source, target]` follows, may follow a different one. It is on
        a GPU if the weights are there.
        """
        if self._starts is not None:
            self._refuse_lost(np.arange(len(self._values)), slice(None))
            return self._tree
        there = is_on_gpu(self._values)
        return best_trees(self._given if there else self._graph, self._values, np.arange(self.n), within=self._limited)

    def __getitem__(self, ends: tuple[Hashable, Hashable]) -> Path:
        if not isinstance(ends, tuple) or len(ends) != 2:
            raise GraphError(f"a path has two ends, R[source, target], and {clip_repr(ends)} is not a pair of vertices")
        row, target, walk = self._walk(*ends)
        if walk is None:
            return Path(nothing_in(self.semiring, self._given.callers_dtype), None)
        found = self._given.in_callers_dtype(self._host[row, target : target + 1])
        return Path(self._given.number(found[0]), self._by_name(walk))

    def _walk(self, source: Hashable, target: Hashable) -> tuple[int, int, list[int] | None]:
        """The row of a source, the position of a target, and the positions on the path."""
        (row, start), end = self._row(source), position_of(target, self.n, self.names, self._positions)
        return row, end, self._walks(np.array([row]), np.array([start]), np.array([end]))[0]

    def walk(self, sources: Sequence[Hashable], targets: Sequence[Hashable]) -> list[list[Any] | None]:
        """Return the vertices of many paths at once.

        Parameters
        ----------
        sources, targets : sequence of vertices
            Of the same length; or one of the two a single vertex.

        Returns
        -------
        list of list
            From source to target; None if there is no path.

        Raises
        ------
        GraphError
            For an unknown vertex, or one that is not a source or target, and if the lengths differ.

        Examples
        --------
        >>> import semiring as sr
        >>> R = sr.paths(sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0)]), sr.min_plus)
        >>> R.walk("a", ["b", "c", "a"])
        [['a', 'b'], ['a', 'b', 'c'], ['a']]
        """
        one, starts = positions(sources, self.names, self.n)
        single, ends = positions(targets, self.names, self.n, "targets")
        if len(starts) != len(ends) and not (one or single):
            raise GraphError(f"{len(starts)} sources and {len(ends)} targets: pass one of each for every path")
        starts, ends = np.broadcast_arrays(starts, ends)
        rows = np.array([self._row_of(int(s)) for s in starts], np.int64)
        return [self._by_name(walk) for walk in self._walks(rows, starts, ends)]

    def edges(self, source: Hashable, target: Hashable) -> list[tuple[Any, Any, Any]]:
        """Return the edges of a path with their weights.

        Parameters
        ----------
        source, target : vertex

        Returns
        -------
        list of tuple
            (from, to, weight) of every edge; empty if there is no path, or it has no edge.

        Raises
        ------
        GraphError
            For an unknown vertex.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.paths(sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0)]), sr.min_plus).edges("a", "c")
        [('a', 'b', 3.0), ('b', 'c', 4.0)]
        """
        _, _, walk = self._walk(source, target)
        if walk is None or len(walk) < 2:
            return []
        weights = self._weights_along(walk[:-1], walk[1:])
        called = self._by_name(walk) or []
        return [(a, b, self._given.number(w)) for a, b, w in zip(called, called[1:], weights, strict=False)]

    def tree(self, source: Hashable) -> Graph:
        """Return best paths from one source to all vertices, as a graph (a tree).

        Parameters
        ----------
        source : vertex

        Returns
        -------
        Graph
            It has one edge to every reached vertex except the source, as in `predecessors`.

        Raises
        ------
        GraphError
            For an unknown vertex, or one that is not a source.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.paths(sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0)]), sr.min_plus).tree("a")
        Graph(3 vertices, 2 edges, directed, weights float64, names 'a', 'b', 'c')
        """
        row, start = self._row(source)
        if self._starts is None and "predecessors" not in self.__dict__:
            before = best_trees(self._graph, self._host[row : row + 1], np.array([start]), within=self._limited)[0]
        else:
            self._refuse_lost(np.array([row]), slice(None))
            before = (self._host_tree if self._starts is not None else to_host(self.predecessors))[row]
        heads = np.flatnonzero(before >= 0)
        tails = before[heads].astype(np.int64)
        return Graph(tails, heads, self.n, self._weights_along(tails, heads), self.names, library=self._given.library)

    def to_frame(self, library: str | None = None) -> Any:
        """Return a table of all paths, with the columns from, to, weight and vertices.

        Parameters
        ----------
        library : {None, "pandas", "polars", "pyarrow"}
            None: that of the data frame which was passed; else pandas or Polars, the first that the program has loaded;
            else the first that is installed.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table

        Raises
        ------
        SemiringError
            If there is no such library.

        Examples
        --------
        >>> import semiring as sr
        >>> R = sr.paths(sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0)]), sr.min_plus, sources="a")
        >>> print(R.to_frame("pandas"))
          from to  weight   vertices
        0    a  b     3.0     [a, b]
        1    a  c     7.0  [a, b, c]
        """
        found = list(self)
        columns = {name: [row[i] for row in found] for i, name in enumerate(("from", "to", "weight", "vertices"))}
        return made_of(columns, *frame_library(library or self._given.library))

    def __iter__(self) -> Iterator[tuple[Any, Any, Any, list[Any]]]:
        for weight, walk in self._found():
            called = self._by_name(walk)
            assert called is not None
            yield called[0], called[-1], self._given.number(weight), called

    def _found(self, most: int | None = None) -> Iterator[tuple[Any, list[int]]]:
        """The weight and the positions of every path, or of the first ones."""
        ends = np.arange(self.n) if self._ends is None else self._ends
        values, led = self._given.in_callers_dtype(self._host), self._led
        for row in range(len(values)):
            start = row if self._starts is None else int(self._starts[row])
            there = ends[led[row, ends]][:most]
            walks = self._walks(np.full(len(there), row), np.full(len(there), start), there)
            for target, walk in zip(there.tolist(), walks, strict=True):
                assert walk is not None
                yield values[row, target], walk
            if most is not None and (most := most - len(there)) <= 0:
                return

    def __len__(self) -> int:
        ends = slice(None) if self._ends is None else self._ends
        return int(np.count_nonzero(self._led[:, ends]))

    def __repr__(self) -> str:
        lines, ends = len(self._values), self.n if self._ends is None else len(self._ends)
        kind = dtype_text(self._given.callers_dtype)
        return (f"Paths({count_text(len(self), 'path', 'paths')} from {count_text(lines, 'source', 'sources')} to "
                f"{count_text(ends, 'target', 'targets')} over {self.semiring.name}, {kind})")

    def _repr_html_(self) -> str:
        kind = self._given.callers_dtype
        zero, infinite = self.semiring.zero_in(kind), infinities(self.semiring, kind)
        rows = []
        for weight, walk in self._found(SHOWN):
            called = self._by_name(walk) or []
            text = element_text(weight, zero, "·", infinite, MINUS)
            rows.append([clip(shown(called[0])), clip(shown(called[-1])), text, steps(called)])
        if len(self) > SHOWN:
            rows.append(["…"] * 4)
        return html_table(repr(self), rows, ["from", "to", "weight", "vertices"])

    # Walks

    @property
    def _led(self) -> np.ndarray:
        """The second vertex of each path of at least one edge: (k, n)."""
        tree = self._tree.numbers if isinstance(self._tree, EdgeNumbers) else self._host_tree
        return np.asarray(tree >= 0)

    @cached_property
    def _host(self) -> np.ndarray:
        return np.asarray(to_host(self._values))

    @cached_property
    def _host_tree(self) -> np.ndarray:
        return np.asarray(to_host(self._tree))

    @cached_property
    def _graph(self) -> Operand:
        return on_host(self._given)

    @cached_property
    def _positions(self) -> dict[Hashable, int]:
        return {name: i for i, name in enumerate(self.names or ())}

    @cached_property
    def _rows(self) -> dict[int, int]:
        assert self._starts is not None
        return {int(v): i for i, v in enumerate(self._starts)}

    def _row(self, source: Hashable) -> tuple[int, int]:
        """The row of a source, and its position."""
        start = position_of(source, self.n, self.names, self._positions)
        return self._row_of(start), start

    def _row_of(self, start: int) -> int:
        if self._starts is None:
            return start
        if start not in self._rows:
            raise GraphError(f"vertex {clip_repr(self._given.position(start))} was not among the sources: pass it in "
                             "sources=")
        return self._rows[start]

    def _called(self, vertices: np.ndarray | None) -> list[Any]:
        found = range(self.n) if vertices is None else vertices.tolist()
        return [self._given.position(v) for v in found]

    def _by_name(self, walk: list[int] | None) -> list[Any] | None:
        return walk if walk is None or self.names is None else [self.names[v] for v in walk]

    def _refuse_lost(self, rows: np.ndarray, ends: Any) -> None:
        """Raise an error if a walk to a vertex outside the targets has a weight that the dtype cannot hold."""
        if self._ends is None or self._limited or not may_be_lost(self._given):
            return
        some, row = np.unique(rows, return_inverse=True)
        wanted = np.zeros((len(some), self.n), bool)
        wanted[row, ends] = True
        wanted[:, self._ends] = False
        values = self._host[some]
        lost = (wanted & equal(values, full(values, self.semiring.zero_in(values.dtype)))).any(axis=1)
        if lost.any():
            starts = some if self._starts is None else self._starts[some]
            best_trees(self._graph, values[lost], starts[lost], wanted=wanted[lost])

    def _walks(self, rows: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> list[list[int] | None]:
        """The positions along many walks, which all advance one step at a time."""
        self._refuse_lost(rows, ends)
        if self._starts is None:
            walks = followed(lambda here: self._hop(here, ends), starts, ends)
        else:
            back = followed(lambda here: self._host_tree[rows, here], ends, starts)
            walks = [None if walk is None else walk[::-1] for walk in back]
        values = self._host[rows, ends]  # a limit may also leave out the empty walk
        nothing = values == full(values, self.semiring.zero_in(values.dtype))
        return [None if none else walk for walk, none in zip(walks, nothing.tolist(), strict=True)]

    def _hop(self, here: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """The next vertex on each of many walks."""
        return self._tree.at(here, ends) if isinstance(self._tree, EdgeNumbers) else self._host_tree[here, ends]

    def _weights_along(self, tails: Any, heads: Any) -> np.ndarray:
        return np.asarray(self._given.in_callers_dtype(self._graph.graph().along(tails, heads)))


def followed(ahead: Callable[[np.ndarray], np.ndarray], here: np.ndarray, goal: np.ndarray) -> list[list[int] | None]:
    """The vertices on many paths, one step at a time; None for a path that ends earlier."""
    steps = [here.astype(np.int64)]
    while True:
        here = steps[-1]
        going = (here >= 0) & (here != goal)
        if not going.any():
            break
        steps.append(np.where(going, ahead(here), -1))
    table = np.stack(steps, axis=1)
    arrived = (table == goal[:, None]).any(axis=1)
    lines = zip(table.tolist(), arrived.tolist(), strict=True)
    return [[v for v in line if v >= 0] if there else None for line, there in lines]

