"""`Graph`, and `as_graph`, which makes one from edges in any format."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semiring.algebra.arguments import whole_number
from semiring.algebra.elements import MINUS
from semiring.algebra.masks import is_masked
from semiring.algebra.tables import Cut, dtype_text, html_table
from semiring.errors import GraphError

from .by_name import ByName
from .columns import Unclear, WeightColumns
from .edges import Columns, as_positions, bad_vertex, columns_of, is_iterable, numbered
from .foreign import as_array, is_foreign
from .names import as_names
from .texts import clip, clip_repr, count_text, plain_text, quoted, shown
from .weights import as_weights, refuse_nan

SHOWN = 10  # edges that a notebook shows
EDGES_AT_ONCE = 1 << 14  # edges that are read from the arrays at a time


@dataclass(frozen=True, eq=False, repr=False)
class Graph(ByName):
    """A weighted graph as arrays of edges; parallel edges and self-loops are allowed.

    `len(graph)` is the number of edges; iterating gives the edges. `as_graph` makes a graph from edges in any format.
    ``"a" in graph`` asks for a vertex, ``("a", "b") in graph`` for an edge. `graph @ M` is the product with a `Matrix`,
    over its algebra.
    The parameters are attributes.

    Parameters
    ----------
    sources, targets : array_like of int, shape (m,)
        The ends of each edge, positions from 0 to n − 1; stored as arrays of int64.
    n : int
        The number of vertices.
    weights : array_like, shape (m,), optional
        Numbers, records or objects. None: the edges have no weights.
    names : sequence of hashable, optional
        Names of the vertices, all different. None: vertices are called by position.
    directed : bool
        False: every edge is listed once and goes both ways.
    library : {None, "pandas", "polars", "pyarrow"}
        The library of the data frame with the edges, used for answers, too.

    Raises
    ------
    GraphError
        If the arrays differ in length, an end is not a position, a weight is NaN, or the names are not a sequence
        with one for each vertex, all different and hashable.
    SemiringError
        If n is not a whole number ≥ 0.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> sr.Graph(np.array([0, 1]), np.array([1, 2]), 3, weights=np.array([2.5, 0.0]))
    Graph(3 vertices, 2 edges, directed, weights float64)
    """

    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    n: int
    weights: np.ndarray | None = None
    names: list[Any] | None = None
    directed: bool = True
    library: str | None = None

    def __post_init__(self) -> None:
        weights = as_array(self.weights, "weights") if is_foreign(self.weights) else self.weights
        if weights is not None and not (isinstance(weights, np.ndarray) and weights.ndim == 1):
            if isinstance(weights, str) or not is_iterable(weights):
                raise GraphError(f"weights must be a sequence, one for each edge, not {quoted(weights)}")
            weights = as_weights(weights if isinstance(weights, np.ndarray) else list(weights))
        checked = {
            "sources": as_positions(self.sources, "source"), "targets": as_positions(self.targets, "target"),
            "n": whole_number(self.n, "n", 0), "weights": weights, "names": as_names(self.names),
        }
        for field, value in checked.items():
            object.__setattr__(self, field, value)  # the graph is frozen
        lengths = {"sources": len(self.sources), "targets": len(self.targets)}
        if self.weights is not None:
            lengths["weights"] = len(self.weights)
        if len(set(lengths.values())) > 1:
            counts = ", ".join(f"{count} {what}" for what, count in lengths.items())
            raise GraphError(f"{counts}: an edge needs one of each")
        for end, vertices in (("source", self.sources), ("target", self.targets)):
            if len(vertices) and (vertices.min() < 0 or vertices.max() >= self.n):
                i = int(np.flatnonzero((vertices < 0) | (vertices >= self.n))[0])
                raise GraphError(bad_vertex(i, end, int(vertices[i]), self.n))
        if self.weights is not None:
            refuse_nan(self.weights, self._edge)
        self._check_names()

    def __len__(self) -> int:
        return len(self.sources)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self.edges()

    def __repr__(self) -> str:
        return self._text(clip_repr)

    def _text(self, called: Callable[[Any], str]) -> str:
        facts = [
            count_text(self.n, "vertex", "vertices"),
            count_text(len(self), "edge", "edges"),
            "directed" if self.directed else "undirected",
            "no weights" if self.weights is None else f"weights {dtype_text(self.weights.dtype)}",
        ]
        if self.names is not None:
            facts.append("names " + ", ".join(map(called, self.names[:3])) + ", …" * (self.n > 3))
        return f"Graph({', '.join(facts)})"

    def _repr_html_(self) -> str:
        head = ["from", "to"] if self.weights is None else ["from", "to", "weight"]
        rows = [[*(clip(shown(v)) for v in edge[:2]), *(plain_text(w, minus=MINUS) for w in edge[2:])]
                for edge in islice(self.edges(), SHOWN)]
        if len(self) > SHOWN:
            rows.append(["…"] * len(head))
        text, whole = repr(self), self._text(lambda name: shown(repr(name)))
        return html_table(text if text == whole else Cut(text, whole), rows, head)

    def _edge(self, i: int) -> str:
        ends = self.sources[i], self.targets[i]
        a, b = ends if self.names is None else (quoted(self.names[v]) for v in ends)
        return f"edge {i} ({a} → {b}){f' of the columns {self._columns}' if self._columns else ''}"

    _columns = ""  # columns of the table with the edges, for messages

    def edges(self) -> Iterator[tuple[Any, ...]]:
        """Iterate over the edges in their order.

        Yields
        ------
        tuple
            (from, to, weight), or (from, to) if the edges have no weights; vertices by name if they have names,
            else by position. Weights are Python numbers, records tuples. An undirected edge occurs once.

        Examples
        --------
        >>> import semiring as sr
        >>> list(sr.as_graph([("home", "mill", 3), ("mill", "shop", 0)]).edges())
        [('home', 'mill', 3), ('mill', 'shop', 0)]
        """
        for start in range(0, len(self), EDGES_AT_ONCE):
            part = slice(start, start + EDGES_AT_ONCE)
            columns: list[list[Any]] = [self.sources[part].tolist(), self.targets[part].tolist()]
            if self.names is not None:
                columns = [[self.names[v] for v in end] for end in columns]
            if self.weights is not None:
                columns.append(self.weights[part].tolist())
            yield from zip(*columns, strict=True)

    def reverse(self) -> Graph:
        """Reverse every edge.

        Returns
        -------
        Graph
            The same vertices and edges, in the same order. For an undirected graph the same edges.

        Examples
        --------
        >>> import semiring as sr
        >>> list(sr.as_graph([("home", "mill", 3)]).reverse().edges())
        [('mill', 'home', 3)]
        """
        return replace(self, sources=self.targets, targets=self.sources)

    def subgraph(self, vertices: Iterable[Hashable]) -> Graph:
        """Return some vertices, and the edges between them.

        Parameters
        ----------
        vertices : sequence of vertices
            All different, by name if they have names, else by position, in the new order.

        Returns
        -------
        Graph
            Vertices keep their names, and edges their order.

        Raises
        ------
        GraphError
            If this is not a sequence, a vertex is unknown, or occurs twice.

        Examples
        --------
        >>> import semiring as sr
        >>> roads = sr.as_graph([("home", "mill", 3), ("mill", "shop", 0), ("shop", "home", 5)])
        >>> list(roads.subgraph(["shop", "mill"]).edges())
        [('mill', 'shop', 0)]
        """
        if isinstance(vertices, (str, bytes)) or not isinstance(vertices, Iterable):
            raise GraphError(f"vertices must be a sequence, and are {quoted(vertices)}")
        chosen = np.array([self.index(vertex) for vertex in vertices], np.int64)
        names: list[Any] | None = chosen.tolist() if self.names is None else [self.names[v] for v in chosen]
        if self.names is None and names == list(range(len(chosen))):
            names = None
        place = np.full(self.n, -1)
        place[chosen] = np.arange(len(chosen))
        kept = (place[self.sources] >= 0) & (place[self.targets] >= 0)
        return Graph(
            place[self.sources[kept]], place[self.targets[kept]], len(chosen),
            None if self.weights is None else self.weights[kept], names, self.directed, self.library,
        )

    def compact(self) -> Graph:
        """Remove the vertices without edges; names keep what the vertices were called.

        Use it for files whose vertices are numbers with large gaps.

        Returns
        -------
        Graph
            Vertices in their order; the graph itself if every vertex has an edge.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.as_graph([(7, 1_000_000, 2.0)]).compact()
        Graph(2 vertices, 1 edge, directed, weights float64, names 7, 1000000)
        """
        touched, ends = np.unique(np.concatenate([self.sources, self.targets]), return_inverse=True)
        m, n = len(self), len(touched)
        if n == self.n:
            return self
        if self.names is not None:
            names: list[Any] | None = [self.names[v] for v in touched]
        else:
            names = touched.tolist() if n and touched[-1] >= n else None
        return replace(self, sources=ends[:m], targets=ends[m:], n=n, names=names)


def as_graph(
    edges: Any,
    n: int | None = None,
    *,
    directed: bool = True,
    weight: WeightColumns = "weight",
    default: Any = None,
    names: Sequence[Hashable] | None = None,
    source: str | int | None = None,
    target: str | int | None = None,
) -> Graph:
    """Make a `Graph` from edges in any format.

    Parameters
    ----------
    edges : Graph, iterable, array, tuple of arrays, Matrix, sparse matrix, NetworkX graph or data frame
        - a `Graph`: returned as it is, or renumbered;
        - tuples (from, to) or (from, to, weight), all of the same length, vertices being any hashable objects;
        - an array of shape (m, 2) or (m, 3), or a structured array, whose fields are columns like those of a data
          frame; a numeric one of shape (2, 2) or (3, 3) could also be a matrix, and is refused;
        - a tuple of arrays (from, to) or (from, to, weight), of NumPy, PyTorch, JAX, CuPy or what exports DLPack;
        - a `Matrix`: the entries other than its algebra's zero; truth values become edges without weights;
        - a square SciPy sparse matrix or array. Each stored entry is an edge, even an explicit 0; formats
          that store blocks or diagonals (BSR, DIA) cannot distinguish a 0 from padding, so there it is not an edge. In
          a matrix of bool the True entries are edges without weights. Sparse arrays of PyData (with the fill value 0,
          NaN or ±∞), GraphBLAS, PyTorch, JAX and CuPy are read likewise;
        - a NetworkX graph; an undirected one gives an undirected graph. If no edge has the attribute weight, the
          only attribute with numbers is the weight. Its ``edges``, and tuples (from, to, attributes), are read
          likewise;
        - a dict {from: {to: weight}} or {(from, to): weight}, with a weight or a dict of attributes;
        - an object with an ``edge_index`` of shape (2, m), such as the data of PyTorch Geometric;
        - a data frame of pandas or Polars, a table of Arrow, or an object with Arrow's PyCapsule interface. The columns
          of the ends are recognized by their names: from and to, source and target, src and dst, origin and
          destination, start and end, u and v, and the like, alone or as in FromNodeId and ToNodeId, ``source airport``
          and ``destination airport``, node1 and node2; levels of a pandas index with names or several levels count too,
          also those of a series. If the names do not say so, the ends are the first two columns, if there are only
          these and a weight. A column Type with Directed and Undirected, as Gephi writes it, or directed or
          is_bidirectional with true and false, says of each edge whether it goes both ways.
    n : int, optional
        The number of vertices. Default: one more than the largest, or the number of names. With n, integers are always
        positions, however far apart.
    directed : bool
        False: every edge is listed once and goes both ways.
    weight : str, int, sequence of them or None
        The edge attribute or column with the weights, also a column's number from 0. Default: the one called
        weight, else the only one, or the only one with numbers, other than ends, ids and keys. Several columns of a
        data frame make records, for algebras with as many components. None: leave the weights out.
    default : optional
        The weight of NetworkX edges without the attribute that other edges have. Default: 1.
    names : sequence of hashable, optional
        Names of the vertices in the order of their positions. Edges then have names, or positions if they are
        integers and no name is. Default: integers are positions; other vertices, or all nodes of a NetworkX
        graph that are not 0 … n − 1, are numbered in order of appearance and keep their names. If the largest integer
        is beyond 2²⁰ and beyond 64 for each end of an edge, as in OpenStreetMap, integers are names, in increasing
        order: nothing is allocated for the numbers between them. They must fit 64 bits, with a sign or without.
    source, target : str or int, optional
        The columns of a data frame with the ends of edges, if their names do not show it: by name or by number.

    Returns
    -------
    Graph
        Edges in their order; weights that are numbers keep their dtype.

    Raises
    ------
    GraphError
        For a vertex, weight or edge that is not valid, with its position; names that are not a sequence; a table in
        which it is not clear which columns hold the ends and the weights.
    TypeError
        If n is not an integer.

    Examples
    --------
    >>> import semiring as sr
    >>> sr.as_graph([("home", "mill", 3), ("mill", "shop", 0)])
    Graph(3 vertices, 2 edges, directed, weights int64, names 'home', 'mill', 'shop')
    """
    if isinstance(edges, Graph) and (source, target) != (None, None):
        raise GraphError("a Graph has its ends already: source= and target= are for data frames and files")
    if isinstance(edges, Graph) and n is None and names is None:
        dropped = edges.weights if weight is not None else None
        return replace(edges, weights=dropped, directed=edges.directed and directed)
    for part in edges if isinstance(edges, tuple) else (edges,):
        if is_masked(part) and np.ma.is_masked(part):
            raise GraphError("edges have no mask: leave out those that are masked, or use from_dense for a matrix")
        if isinstance(part, np.ndarray) and part.dtype.kind in "mM":
            raise GraphError(f"edges of dtype {part.dtype}: convert times to numbers, such as .astype('int64')")
    found = _own_columns(edges) if isinstance(edges, Graph) else columns_of(
        edges, weight, default, source, target, directed
    )
    if n is not None:
        n = operator.index(n)
        if n < 0:
            raise GraphError(f"n = {n}: the number of vertices cannot be negative")
    for what, end in (("source", found.sources), ("target", found.targets)):
        if isinstance(end, np.ndarray) and end.ndim != 1:
            raise GraphError(f"the {what} vertices have shape {end.shape}: pass one for each edge")
    if len(found.sources) != len(found.targets):
        raise GraphError(f"{len(found.sources)} sources, {len(found.targets)} targets: an edge needs one of each")
    try:
        sources, targets, n, names = numbered(found, n, names)
        weights = None if weight is None or found.weights is None else as_weights(found.weights)
        graph = Graph(sources, targets, n, weights, names, directed and found.directed, found.library)
    except GraphError as e:
        raise GraphError(f"{e}; edges are of the columns {found.called}" if found.called else str(e)) from None
    object.__setattr__(graph, "_columns", found.called)
    return graph


def graph_for(edges: Any, n: int | None = None, directed: bool = True, weight: WeightColumns = "weight") -> Graph:
    """`as_graph` for verbs, which lack its options for columns: its errors say where to pass them.

    Raises
    ------
    GraphError
    """
    try:
        return as_graph(edges, n, directed=directed, weight=weight)
    except Unclear as e:
        raise Unclear(f"{e}: to sr.as_graph, whose graph this takes") from None


def _own_columns(graph: Graph) -> Columns:
    """A graph's edges with their vertices by name, to be renumbered."""
    ends: list[Any] = [graph.sources, graph.targets]
    if graph.names is not None:
        ends = [[graph.names[v] for v in end] for end in ends]
    return Columns(ends[0], ends[1], graph.weights, graph.n, graph.names, graph.directed, graph.library)
