"""Graphs in: edges of any make become a matrix over an algebra, with the names of its vertices."""

from __future__ import annotations

import dataclasses
import difflib
import html
import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .errors import GraphError, SemiringError
from .memory import require

if TYPE_CHECKING:
    from .core import Semiring

# column names of an edge's two ends
ENDS = (("from", "to"), ("source", "target"), ("src", "dst"), ("u", "v"))
SHOWN = 10  # rows and columns of a matrix that `repr` shows in full
CLOSE = 20_000  # names that are searched for a near one
LABEL = 16  # characters of a name or an element that a table shows


class _Named:
    """Vertices that are called by name, or by position where they have no names."""

    n: int
    names: list | None

    @cached_property
    def _positions(self) -> dict[Hashable, int]:
        return {name: i for i, name in enumerate(self.names or ())}

    def index(self, name: Hashable) -> int:
        """Position of a vertex.

        Parameters
        ----------
        name : hashable
            A vertex's name; its position, where the vertices have no names.

        Raises
        ------
        GraphError
            There is no such vertex; the message suggests a near name.
        """
        if self.names is not None:
            try:
                return self._positions[name]
            except (KeyError, TypeError):
                raise GraphError(f"no vertex is called {name!r}{near(name, self.names)}") from None
        span = f"the vertices have no names, they are the integers {span_text(self.n)}"
        try:
            position = operator.index(name)  # type: ignore[arg-type]
        except TypeError:
            raise GraphError(f"vertex {name!r}: {span}") from None
        if not 0 <= position < self.n:
            raise GraphError(f"vertex {position}: {span}")
        return position

    def _check_names(self) -> None:
        if self.names is None:
            return
        if len(self.names) != self.n:
            raise GraphError(f"{len(self.names)} names for {self.n} vertices: give one for each")
        seen: set[Hashable] = set()
        if len(set(self.names)) < self.n:
            for i, name in enumerate(self.names):
                if name in seen:
                    raise GraphError(f"two vertices are called {name!r} (the second is number {i})")
                seen.add(name)


@dataclass(frozen=True, eq=False, repr=False)
class Graph(_Named):
    """A weighted graph as arrays of edges; parallel edges and self-loops are allowed.

    `len(graph)` is the number of edges. `as_graph` makes one from whatever edges are in.

    Parameters
    ----------
    sources, targets : int64 array, shape (m,)
        The ends of each edge, positions from 0 to n − 1.
    n : int
        Number of vertices.
    weights : array, shape (m,), optional
        Numbers, records or objects. None: the edges have no weights.
    names : list of hashable, optional
        Names of the vertices. None: they are called by position.
    directed : bool
        False: every edge, listed once, goes both ways.

    Examples
    --------
    >>> import numpy as np
    >>> from semiring.graph import Graph
    >>> Graph(np.array([0, 1]), np.array([1, 2]), 3, weights=np.array([2.5, 0.0]))
    Graph(3 vertices, 2 edges, directed, weights float64)
    """

    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    n: int
    weights: np.ndarray | None = None
    names: list | None = None
    directed: bool = True

    def __post_init__(self) -> None:
        lengths = {"sources": len(self.sources), "targets": len(self.targets)}
        if self.weights is not None:
            lengths["weights"] = len(self.weights)
        if len(set(lengths.values())) > 1:
            counts = ", ".join(f"{count} {what}" for what, count in lengths.items())
            raise GraphError(f"{counts}: an edge needs one of each")
        for end, vertices in (("source", self.sources), ("target", self.targets)):
            if len(vertices) and (vertices.min() < 0 or vertices.max() >= self.n):
                i = int(np.flatnonzero((vertices < 0) | (vertices >= self.n))[0])
                raise GraphError(_bad_vertex(i, end, int(vertices[i]), self.n))
        if self.weights is not None:
            _refuse_nan(self.weights, self._edge)
        self._check_names()

    def __len__(self) -> int:
        return len(self.sources)

    def __repr__(self) -> str:
        facts = [
            _count(self.n, "vertex", "vertices"),
            _count(len(self), "edge", "edges"),
            "directed" if self.directed else "undirected",
            "no weights" if self.weights is None else f"weights {_dtype_text(self.weights.dtype)}",
        ]
        if self.names is not None:
            facts.append("names " + ", ".join(map(_clip_repr, self.names[:3])) + ", …" * (self.n > 3))
        return f"Graph({', '.join(facts)})"

    def _edge(self, i: int) -> str:
        ends = self.sources[i], self.targets[i]
        a, b = ends if self.names is None else (repr(self.names[v]) for v in ends)
        return f"edge {i} ({a} → {b})"

    def compact(self) -> Graph:
        """The same edges without the vertices that no edge touches; names keep what the vertices were called.

        For files whose vertices are numbers with large gaps.

        Examples
        --------
        >>> from semiring.graph import as_graph
        >>> as_graph([(7, 1_000_000, 2.0)]).compact()
        Graph(2 vertices, 1 edge, directed, weights float64, names 7, 1000000)
        """
        touched, ends = np.unique(np.concatenate([self.sources, self.targets]), return_inverse=True)
        m, n = len(self), len(touched)
        if n == self.n:
            return self
        if self.names is not None:
            names: list | None = [self.names[v] for v in touched]
        else:
            names = touched.tolist() if n and touched[-1] >= n else None
        return dataclasses.replace(self, sources=ends[:m], targets=ends[m:], n=n, names=names)


class Matrix(_Named):
    """A square matrix over an algebra whose rows and columns are vertices.

    `M[a, b]` is the element from vertex a to vertex b, `M[a]` a row, `M[:, b]` a column; vertices are called by
    name where they have names, else by position. (A tuple that is itself a name selects that vertex's row.)
    NumPy takes it as an array.

    Parameters
    ----------
    array : array, shape (n, n)
        Held, not copied.
    semiring : Semiring
    names : sequence of hashable, optional

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> M = sr.Matrix(np.array([[0.0, 2.5], [np.inf, 0.0]]), sr.min_plus, names=["a", "b"])
    >>> float(M["a", "b"])
    2.5
    >>> np.asarray(M).shape
    (2, 2)
    """

    def __init__(self, array: np.ndarray, semiring: Semiring, names: Sequence[Hashable] | None = None) -> None:
        array = np.asarray(array)
        if array.ndim != 2 or array.shape[0] != array.shape[1]:
            raise GraphError(f"a matrix over vertices is square, this array has shape {array.shape}")
        self.array = array
        self.semiring = semiring
        self.n = array.shape[0]
        self.names = None if names is None else list(names)
        self._check_names()

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, self.n

    @property
    def dtype(self) -> np.dtype:
        return self.array.dtype

    def __len__(self) -> int:
        return self.n

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(self.array)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple) and not (_is_hashable(key) and key in self._positions):
            if len(key) != 2:
                raise GraphError(f"a matrix takes a row, or a row and a column, not {len(key)} vertices")
            return self.array[self._place(key[0]), self._place(key[1])]
        return self.array[self._place(key)]

    def _place(self, key: Any) -> int | slice:
        return key if isinstance(key, slice) else self.index(key)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.array, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        rows = self._table()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(text.rjust(w) for text, w in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([self._title(), *lines] if self.n else [self._title()])

    def _repr_html_(self) -> str:
        head, *rows = [[html.escape(text) for text in row] for row in self._table()]
        body = "".join(f"<tr><th>{row[0]}</th>{''.join(f'<td>{t}</td>' for t in row[1:])}</tr>" for row in rows)
        return (
            f"<table><caption>{html.escape(self._title())}</caption>"
            f"<thead><tr>{''.join(f'<th>{t}</th>' for t in head)}</tr></thead><tbody>{body}</tbody></table>"
        )

    def _title(self) -> str:
        return f"Matrix {self.n} × {self.n} over {self.semiring.name}, {_dtype_text(self.dtype)}"

    def _table(self) -> list[list[str]]:
        """Texts of the heading row and of the rows shown, each led by its vertex."""
        half = SHOWN // 2
        shown: list[int | None] = list(range(self.n))
        if self.n > SHOWN:
            shown = [*range(half), None, *range(self.n - half, self.n)]
        labels = ["…" if i is None else _clip(str(i if self.names is None else self.names[i])) for i in shown]
        zero = self.semiring.zero_in(self.dtype)
        table = [["", *labels]]
        for label, i in zip(labels, shown, strict=True):
            cells = ["…" if i is None or j is None else element_text(self.array[i, j], zero, absent="·") for j in shown]
            table.append([label, *cells])
        return table


def as_graph(
    edges: Any,
    n: int | None = None,
    *,
    directed: bool = True,
    weight: str | int | None = "weight",
    default: Any = None,
    names: Sequence[Hashable] | None = None,
) -> Graph:
    """Edges of any make as a `Graph`.

    Parameters
    ----------
    edges : Graph, iterable, array, tuple of arrays, SciPy sparse, NetworkX graph or data frame
        - tuples (from, to) or (from, to, weight), all of one length, vertices being any hashable objects;
        - an array of shape (m, 2) or (m, 3), or a structured array of two or three fields;
        - a tuple of arrays (from, to) or (from, to, weight);
        - a square SciPy sparse matrix or array. Each stored entry is an edge, an explicit 0 too; the formats
          that store blocks or diagonals (BSR, DIA) cannot tell a 0 from padding, there it is no edge. In a
          matrix of bool the True entries are edges without weights;
        - a NetworkX graph; an undirected one gives an undirected graph;
        - a data frame with columns from and to (or source and target, src and dst, u and v, else the first
          two) and a column of weights: the one called `weight`, else the only other one.
    n : int, optional
        Number of vertices. Default: one more than the largest, or as many as there are names.
    directed : bool
        False: every edge, listed once, goes both ways.
    weight : str, int or None
        Edge attribute or column that holds the weights. None: leave the weights out.
    default : optional
        Weight of the edges of a NetworkX graph that lack the attribute which others have, 1 if left out.
    names : sequence of hashable, optional
        Names of the vertices in the order of their positions. Edges then give names, or positions if they are
        integers and no name is. Default: integers are positions, and other vertices, or all nodes of a NetworkX
        graph that are not 0 … n − 1, are numbered in order of appearance and keep their names.

    Raises
    ------
    GraphError
        A vertex, weight or edge that is none, with its position.

    Examples
    --------
    >>> from semiring.graph import as_graph
    >>> as_graph([("home", "mill", 3), ("mill", "shop", 0)])
    Graph(3 vertices, 2 edges, directed, weights int64, names 'home', 'mill', 'shop')
    """
    if isinstance(edges, Graph) and n is None and names is None:
        dropped = edges.weights if weight is not None else None
        return dataclasses.replace(edges, weights=dropped, directed=edges.directed and directed)
    found = _columns(edges, weight, default)
    if n is not None:
        n = operator.index(n)
        if n < 0:
            raise GraphError(f"n = {n}: a graph has no negative number of vertices")
    if len(found.sources) != len(found.targets):
        raise GraphError(f"{len(found.sources)} sources, {len(found.targets)} targets: an edge needs one of each")
    sources, targets, n, names = _number(found, n, names)
    weights = None if weight is None or found.weights is None else _as_weights(found.weights)
    return Graph(sources, targets, n, weights, names, directed and found.directed)


def adjacency(
    edges: Any,
    S: Semiring,
    n: int | None = None,
    *,
    dtype: DTypeLike | None = None,
    directed: bool = True,
    weight: str | int | None = "weight",
    default: Any = None,
    names: Sequence[Hashable] | None = None,
) -> Matrix:
    """The matrix of a graph over an algebra: element (i, j) is the weight of the edge from i to j.

    Where there is no edge stands the algebra's zero, on the diagonal too. Parallel edges combine with ⊕. A weight
    that is the number 0 is an edge all the same.

    Parameters
    ----------
    edges, n, directed, weight, names
        See `as_graph`.
    S : Semiring
    dtype : optional
        Of the matrix. Default: what the algebra uses for the weights' dtype. A Boolean matrix takes every edge with
        a number for weight as True, also if it is 0, because the edge is there.
    default : optional
        Weight of edges that have none. Default: 1 where elements are numbers (an edge counts one hop in min-plus and
        is True in boolean); records and objects have no natural weight, there it must be given.

    Returns
    -------
    Matrix

    Raises
    ------
    GraphError
        A vertex, weight or edge that is none, with its position; a weight that the dtype cannot hold.
    SemiringError
        The matrix would not fit in memory, or the algebra cannot live in the dtype.

    Examples
    --------
    >>> import semiring as sr
    >>> M = sr.adjacency([("a", "b", 4.0), ("a", "b", 3.0), ("b", "c", 0.0)], sr.min_plus)
    >>> float(M["a", "b"]), float(M["b", "c"]), float(M["c", "a"])
    (3.0, 0.0, inf)
    """
    graph = as_graph(edges, n, directed=directed, weight=weight, default=default, names=names)
    if graph.weights is not None:
        values = _elements(S, graph.weights, dtype, graph._edge)
    elif len(graph):
        values = np.repeat(_unweighted(S, dtype, default), len(graph))
    else:
        values = np.empty(0, dtype=S.resolve_dtype(S.default_dtype if dtype is None else dtype))
    array = _zeros(S, graph.n, values.dtype)
    sources, targets = graph.sources, graph.targets
    if not graph.directed:
        back = sources != targets  # a self-loop already goes both ways
        sources, targets = np.concatenate([sources, targets[back]]), np.concatenate([targets, sources[back]])
        values = np.concatenate([values, values[back]])
    _scatter(array.reshape(-1), sources * graph.n + targets, values, S.add)
    return Matrix(array, S, graph.names)


def from_dense(
    array: Any,
    S: Semiring,
    *,
    absent: Any = 0,
    dtype: DTypeLike | None = None,
    names: Sequence[Hashable] | None = None,
) -> Matrix:
    """The matrix over an algebra of dense data in which one value means "no edge".

    Parameters
    ----------
    array : array_like, shape (n, n)
        It is copied.
    S : Semiring
    absent : optional
        The value that means no edge; `float("nan")` for NaN.
    dtype, names
        See `adjacency`.

    Examples
    --------
    >>> import semiring as sr
    >>> M = sr.from_dense([[0, 5], [0, 0]], sr.min_plus, dtype=float)
    >>> np.asarray(M).tolist()
    [[inf, 5.0], [inf, inf]]
    """
    data = np.asarray(array)
    if data.ndim != 2 or data.shape[0] != data.shape[1]:
        raise GraphError(f"a matrix of edges is square, this array has shape {data.shape}")
    if data.dtype.names:
        present = data != np.array(absent, dtype=data.dtype)
    elif isinstance(absent, float) and absent != absent:
        present = data == data
    elif data.dtype.kind == "O":
        present = np.array([x != absent for x in data.flat], dtype=bool).reshape(data.shape)
    else:
        present = np.asarray(data != absent)
    where = None

    def entry(i: int) -> str:
        nonlocal where
        where = np.flatnonzero(present) if where is None else where
        row, column = divmod(int(where[i]), data.shape[1])
        return f"entry ({row}, {column})"

    given = data[present]
    _refuse_nan(given, entry)
    values = _elements(S, given, dtype, entry)
    result = _zeros(S, data.shape[0], values.dtype)
    result[present] = values
    return Matrix(result, S, names)


# Edges of every make, as columns


class _Columns(NamedTuple):
    sources: Any  # arrays of numbers, or lists of hashables
    targets: Any
    weights: Any = None
    n: int | None = None  # where the data says how many vertices there are
    vertices: list | None = None  # where the data lists its vertices
    directed: bool = True


def _columns(edges: Any, weight: str | int | None, default: Any) -> _Columns:
    if isinstance(edges, Graph):
        names = edges.names
        ends: list[Any] = [edges.sources, edges.targets]
        if names is not None:
            ends = [[names[v] for v in end] for end in ends]
        return _Columns(ends[0], ends[1], edges.weights, edges.n, names, edges.directed)
    if hasattr(edges, "tocoo"):
        return _from_sparse(edges)
    if hasattr(edges, "is_multigraph") and hasattr(edges, "adj"):
        return _from_networkx(edges, weight, default)
    if hasattr(edges, "columns") and hasattr(edges, "to_numpy"):
        return _from_frame(edges, weight)
    if isinstance(edges, np.ndarray):
        return _from_array(edges)
    if isinstance(edges, Mapping):
        raise GraphError(
            "edges in a dict: give [(a, b, w) for (a, b), w in edges.items()], or a networkx.DiGraph of it"
        )
    if isinstance(edges, tuple) and len(edges) in (2, 3):
        if hasattr(edges[0], "__array__"):
            return _Columns(*_pad([np.asarray(part) for part in edges]))
        if any(isinstance(part, list) for part in edges):
            raise GraphError(
                "a tuple of lists could be columns or edges: give columns as NumPy arrays, or a list of edges"
            )
    if isinstance(edges, (str, bytes)) or not isinstance(edges, Iterable):
        raise GraphError(
            f"{type(edges).__name__} is no set of edges: give tuples (from, to, weight), an array, SciPy sparse, a "
            "NetworkX graph, a data frame, or read_graph(path)"
        )
    return _from_rows(edges)


def _pad(columns: list) -> tuple[Any, Any, Any]:
    """Two or three columns as three, the weights None where there are two."""
    return columns[0], columns[1], columns[2] if len(columns) == 3 else None


def _from_rows(edges: Iterable) -> _Columns:
    rows = list(edges)
    for kind in set(map(type, rows)):
        if issubclass(kind, (str, bytes, Mapping)) or not (hasattr(kind, "__len__") and hasattr(kind, "__getitem__")):
            i = next(i for i, row in enumerate(rows) if type(row) is kind)
            raise GraphError(f"edge {i} is {rows[i]!r}: an edge is (from, to) or (from, to, weight)")
    lengths = set(map(len, rows))
    if not lengths:
        return _Columns([], [])
    length = len(rows[0])
    if length not in (2, 3):
        raise GraphError(f"edge 0 is {rows[0]!r}: an edge is (from, to) or (from, to, weight)")
    if len(lengths) > 1:
        i = next(i for i, row in enumerate(rows) if len(row) != length)
        raise GraphError(
            f"edge {i} has {len(rows[i])} entries, {rows[i]!r}, and edge 0 has {length}: "
            "give every edge a weight or none"
        )
    return _Columns(*_pad([[row[k] for row in rows] for k in range(length)]))


def _from_array(array: np.ndarray) -> _Columns:
    if array.dtype.names and array.ndim == 1 and len(array.dtype.names) in (2, 3):
        return _Columns(*_pad([array[field] for field in array.dtype.names]))
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise GraphError(
            f"an array of shape {array.shape}: edges are (m, 2) or (m, 3), one a row; "
            "for a dense matrix of weights use from_dense"
        )
    return _Columns(*_pad(list(array.T)))


def _from_sparse(matrix: Any) -> _Columns:
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphError(f"a graph's matrix is square, this sparse one has shape {matrix.shape}")
    entries = matrix.tocoo()
    rows, columns, data = entries.row, entries.col, entries.data
    if matrix.format == "bsr" or data.dtype == bool:
        stored = data != 0
        rows, columns, data = rows[stored], columns[stored], data[stored]
    return _Columns(rows, columns, None if data.dtype == bool else data, matrix.shape[0])


_MISSING = object()


def _from_networkx(graph: Any, weight: str | int | None, default: Any) -> _Columns:
    triples = list(graph.edges(data=weight, default=_MISSING)) if weight else [(*e, _MISSING) for e in graph.edges()]
    sources, targets, weights = [t[0] for t in triples], [t[1] for t in triples], [t[-1] for t in triples]
    vertices = list(graph.nodes)
    found = _Columns(sources, targets, None, len(vertices), vertices, graph.is_directed())
    lacking = [i for i, w in enumerate(weights) if w is _MISSING]
    if len(lacking) == len(weights):
        if weights and weight not in (None, "weight"):
            attributes = {name for *_, data in islice(graph.edges(data=True), 1000) for name in data}
            hint = near(weight, sorted(map(str, attributes)))
            raise GraphError(f"no edge has the attribute {weight!r}{hint}; weight=None leaves weights out")
        return found
    if lacking and default is None:
        if not all(w is _MISSING or isinstance(w, Number) for w in weights):
            i = lacking[0]
            raise GraphError(
                f"edge {i} ({sources[i]!r} → {targets[i]!r}) has no {weight!r} and others do: give default="
            )
        default = 1
    for i in lacking:
        weights[i] = default
    return found._replace(weights=weights)


def _from_frame(frame: Any, weight: str | int | None) -> _Columns:
    header = list(frame.columns)
    chosen = pick_columns(header, weight)
    return _Columns(*_pad([frame[header[k]].to_numpy() for k in chosen if k is not None]))


def pick_columns(header: Sequence, weight: str | int | None) -> tuple[int, int, int | None]:
    """Which columns of a table hold the source, the target and the weight (None: there is none)."""
    if len(header) < 2:
        raise GraphError(f"a table of edges has two columns or more, this one has {list(header)}")
    plain = [str(name).strip().lower() for name in header]
    ends = next(((plain.index(a), plain.index(b)) for a, b in ENDS if a in plain and b in plain), (0, 1))
    others = [k for k in range(len(header)) if k not in ends]
    if weight is None:
        return *ends, None
    if weight in header:
        return *ends, list(header).index(weight)
    rest = [header[k] for k in others]
    if weight != "weight":
        raise GraphError(f"no column is called {weight!r}{near(weight, rest)}; the columns are {list(header)}")
    if len(others) > 1:
        raise GraphError(
            f"which of the columns {rest} is the weight? Pass weight={rest[0]!r}, say, or weight=None for none"
        )
    return *ends, (others[0] if others else None)


# Vertices


def _number(
    found: _Columns, n: int | None, names: Sequence[Hashable] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], int, list | None]:
    """Positions of the ends, the number of vertices and their names."""
    sources, targets = _vertices(found.sources, "source"), _vertices(found.targets, "target")
    if names is None and found.vertices is not None and not _are_positions(found.vertices, n):
        names = found.vertices
    if isinstance(sources, list) or isinstance(targets, list) or (names and any(map(_is_integer, names))):
        sources, targets = _listed(sources), _listed(targets)
        if names is None:
            names = _appearance(sources, targets)
            if n is not None and n != len(names):
                raise GraphError(
                    f"n = {n} and the edges name {len(names)} vertices: leave n out, or list all names in names="
                )
        sources, targets = _called(sources, names, "source"), _called(targets, names, "target")
    if names is not None:
        if n is not None and n != len(names):
            raise GraphError(f"n = {n} and {len(names)} names: leave n out, or name every vertex")
        n = len(names)
    if n is None:
        n = found.n
    if n is None:
        n = 1 + max(int(end.max()) if len(end) else -1 for end in (sources, targets))
    return sources, targets, max(n, 0), None if names is None else list(names)


def _vertices(column: Any, what: str) -> NDArray[np.int64] | list:
    """A column of integers as int64, any other as a list of hashables."""
    if isinstance(column, np.ndarray):
        if column.ndim != 1:
            raise GraphError(f"the {what} vertices have shape {column.shape}: give one for each edge")
        if column.dtype.kind not in "iuf":
            column = column.tolist() if column.dtype.kind in "OUST" else list(column)
    if not isinstance(column, np.ndarray):
        kinds = set(map(type, column))
        if bool in kinds or np.bool_ in kinds:
            i = next(i for i, v in enumerate(column) if isinstance(v, (bool, np.bool_)))
            raise GraphError(f"edge {i}: {what} vertex {column[i]} is a truth value; vertices are integers or names")
        if not all(issubclass(k, (int, float, np.integer, np.floating)) for k in kinds):
            return column
        if any(issubclass(k, (float, np.floating)) for k in kinds):
            column = np.array(column, dtype=np.float64)
        else:
            try:
                return np.array(column, dtype=np.int64)
            except OverflowError:
                i, v = next((i, v) for i, v in enumerate(column) if not -(2**63) <= v < 2**63)
                raise GraphError(f"edge {i}: {what} vertex {v} does not fit 64 bits: call it str({v})") from None
    if column.dtype.kind == "f":
        bad = ~(np.isfinite(column) & (np.floor(column) == column) & (np.abs(column) < 2.0**63))
    else:
        bad = column > np.iinfo(np.int64).max
    if bad.any():
        i = int(np.argmax(bad))
        raise GraphError(
            f"edge {i}: {what} vertex {column[i]} is not an integer; vertices are integers from 0, or names"
        )
    return column.astype(np.int64, copy=False)


def _listed(column: Any) -> list:
    return column.tolist() if isinstance(column, np.ndarray) else column


def _is_integer(name: Any) -> bool:
    return isinstance(name, (int, np.integer)) and not isinstance(name, bool)


def _are_positions(vertices: list, n: int | None) -> bool:
    """Whether listed vertices are 0 … n − 1 in any order (some of them, if n is given)."""
    if not all(map(_is_integer, vertices)) or (vertices and min(vertices) < 0):
        return False
    return not vertices or max(vertices) < (len(vertices) if n is None else n)


def _appearance(sources: list, targets: list) -> list:
    """The different vertices in order of appearance, source before target."""
    try:
        distinct = dict.fromkeys(chain.from_iterable(zip(sources, targets, strict=True)))
    except TypeError:
        for what, column in (("source", sources), ("target", targets)):
            for i, vertex in enumerate(column):
                if not _is_hashable(vertex):
                    raise GraphError(
                        f"edge {i}: {what} vertex {vertex!r} is not hashable: "
                        "name vertices by strings, numbers or tuples"
                    ) from None
        raise
    if any(map(_is_missing, distinct)):
        for what, column in (("source", sources), ("target", targets)):
            for i, vertex in enumerate(column):
                if _is_missing(vertex):
                    raise GraphError(f"edge {i}: the {what} vertex is missing ({vertex!r})")
    return list(distinct)


def _is_hashable(value: Any) -> bool:
    # a tuple claims to be hashable also where what it holds is not
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _is_missing(value: Any) -> bool:
    """None, NaN, and what pandas writes for a value that is not there."""
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _called(column: list, names: Sequence[Hashable], what: str) -> NDArray[np.int64]:
    """Positions of vertices given by name."""
    positions = {name: i for i, name in enumerate(names)}
    for i, name in enumerate(column):
        if not _is_hashable(name) or name not in positions:
            raise GraphError(f"edge {i}: {what} vertex {name!r} is not among the names{near(name, names)}")
    return np.fromiter(map(positions.__getitem__, column), dtype=np.int64, count=len(column))


def _bad_vertex(i: int, end: str, vertex: int, n: int | None) -> str:
    if vertex < 0:
        return f"edge {i}: {end} vertex {vertex} is negative; integer vertices count from 0"
    return f"edge {i}: {end} vertex {vertex} is outside {span_text(n or 0)}; pass n = {vertex + 1} or more"


# Weights


def _as_weights(column: Any) -> np.ndarray:
    """A column of weights as an array: numbers or records as they are, anything else as objects."""
    if isinstance(column, np.ndarray):
        if column.ndim != 1:
            raise GraphError(f"weights of shape {column.shape}: give one for each edge (records as tuples)")
        if column.dtype.names or column.dtype.kind in "biufc":
            return column
        column = column.tolist()
    kinds = set(map(type, column))
    if kinds and all(issubclass(k, (int, np.integer)) and k is not bool for k in kinds):
        try:
            return np.array(column, dtype=np.int64)
        except OverflowError:
            return np.fromiter(column, dtype=object, count=len(column))  # Python's integers have no limit
    if all(issubclass(k, (int, float, complex, np.number, np.bool_)) for k in kinds):
        return np.array(column)
    return np.fromiter(column, dtype=object, count=len(column))


def _refuse_nan(values: np.ndarray, place: Callable[[int], str], what: str = "weight") -> None:
    """NaN is no element of any algebra, nor is None; both are refused, in the components of records too."""
    dtype = values.dtype
    if dtype.names:
        for field in dtype.names:
            _refuse_nan(values[field], place, f"weight, component {field!r},")
        return
    if dtype.kind == "O":
        bad = np.fromiter(map(_is_missing, values), dtype=bool, count=len(values))
    elif dtype.kind in "fc":
        bad = np.isnan(values)
    else:
        return
    if bad.any():
        i = int(np.argwhere(bad)[0][0])
        value = "None" if dtype.kind == "O" and values[i] is None else "NaN"
        raise GraphError(f"{place(i)}: the {what} is {value}; leave the edge out, or give it a weight")


def _unweighted(S: Semiring, dtype: DTypeLike | None, default: Any) -> np.ndarray:
    """The weight of edges that have none, an array of one element."""
    if default is not None:
        return _elements(S, _as_weights([default]), dtype, lambda i: "default")
    if S.is_record or S.is_object:
        raise GraphError(
            f"the edges have no weights, and {S.name} has no natural one: give default=, the weight of an edge"
        )
    target = S.resolve_dtype(S.default_dtype if dtype is None else np.dtype(dtype))
    one = np.ones(1, dtype=target)
    if target.kind == "b":
        one[0] = S.one_in(target)
    if one[0] == S.zero_in(target):
        raise GraphError(
            f"the edges have no weights, and in {S.name} on {target} the weight 1 means no edge: give default="
        )
    return one


def _elements(S: Semiring, values: np.ndarray, dtype: DTypeLike | None, place: Callable[[int], str]) -> np.ndarray:
    """Weights as elements of the algebra, in the dtype that it uses for them."""
    wanted = None if dtype is None else S.resolve_dtype(np.dtype(dtype))
    if S.is_object:
        return values.astype(object)
    if S.is_record:
        return _records(S, values, wanted, place)
    if values.dtype.names:
        fields = ", ".join(values.dtype.names)
        raise GraphError(f"weights are records ({fields}) and the elements of {S.name} are numbers")
    for i, value in enumerate(values if values.dtype.kind == "O" else ()):
        if not isinstance(value, Number):
            raise GraphError(f"{place(i)}: the weight {value!r} is not a number")
    if wanted is None:
        wanted = _home(S, values.dtype)
    if wanted.kind == "b" and values.dtype.kind != "b":
        one = S.one_in(wanted)
        if S.add(np.array([one]), np.array([one]))[0] == one:
            return np.full(len(values), one)
    return _cast(values, wanted, place)


def _home(S: Semiring, dtype: np.dtype) -> np.dtype:
    """The dtype for weights of a dtype: the algebra's own choice, else its default, which must hold every weight."""
    if S.default_dtype.kind == "b":
        return S.default_dtype
    try:
        return S.resolve_dtype(dtype)
    except SemiringError:
        return S.default_dtype


def _cast(values: np.ndarray, target: np.dtype, place: Callable[[int], str]) -> np.ndarray:
    """Values in another dtype. Rounding to a shorter float is allowed, changing an integer or a magnitude is not."""
    if values.dtype == target or target.kind == "O" or not len(values):
        return values.astype(target, copy=False)
    if values.dtype.kind == "O":
        values = _numbers(values, target, place)
    if target.kind in "biu":
        low, high = (0, 1) if target.kind == "b" else (int(np.iinfo(target).min), int(np.iinfo(target).max))
        if values.dtype.kind == "c":
            fits = values.imag != values.imag
        elif values.dtype.kind == "f":
            # the float above `high` is exact, `high` itself need not be
            fits = (values >= float(low)) & (values < float(high + 1)) & (np.floor(values) == values)
        else:
            # NumPy compares an integer array with any Python integer exactly
            fits = (values >= low) & (values <= high)
    elif values.dtype.kind == "c" and target.kind == "f":
        fits = values.imag == 0
        values = values.real if fits.all() else values
    else:
        with np.errstate(over="ignore"):
            fits = np.isinf(values) | ~np.isinf(values.astype(target))
    if not fits.all():
        i = int(np.argmin(fits))
        raise GraphError(f"{place(i)}: the weight {values[i]} does not fit {target}: pass another dtype")
    return values.astype(target)


def _numbers(values: np.ndarray, target: np.dtype, place: Callable[[int], str]) -> np.ndarray:
    """Numbers that are objects as an array of integers if the target is one and they are, else of floats."""
    try:
        if target.kind in "iu" and all(map(_is_integer, values)):
            return np.array(values.tolist(), dtype=target)
        return values.astype(np.float64)
    except (OverflowError, TypeError, ValueError):
        for i, value in enumerate(values):
            try:
                target.type(value)
            except (OverflowError, TypeError, ValueError):
                raise GraphError(f"{place(i)}: the weight {value!r} does not fit {target}") from None
        raise


def _records(S: Semiring, values: np.ndarray, wanted: np.dtype | None, place: Callable[[int], str]) -> np.ndarray:
    """Weights that are records, component by component."""
    fields = S.default_dtype.names or ()
    shape = f"an element of {S.name} is a tuple ({', '.join(fields)})"
    if values.dtype.names:
        if set(values.dtype.names) != set(fields):
            raise GraphError(f"weights have the components ({', '.join(values.dtype.names)}), and {shape}")
        columns = {field: values[field] for field in fields}
        target = S.resolve_dtype(values.dtype) if wanted is None else wanted
    else:
        if values.dtype.kind != "O" and len(values):
            raise GraphError(
                f"weights are numbers ({values.dtype}), and {shape}: give such tuples or a structured array"
            )
        for i, value in enumerate(values):
            if not isinstance(value, (tuple, list)) or len(value) != len(fields):
                raise GraphError(f"{place(i)}: the weight is {value!r}, and {shape}")
        columns = {field: _as_weights([value[k] for value in values]) for k, field in enumerate(fields)}
        target = S.default_dtype if wanted is None else wanted
    result = np.empty(len(values), dtype=target)
    for field, column in columns.items():
        for i, part in enumerate(column if column.dtype.kind == "O" else ()):
            if not isinstance(part, Number):
                raise GraphError(f"{place(i)}: component {field!r} of the weight is {part!r}, not a number")
        result[field] = _cast(column, target[field], place)
    _refuse_nan(result, place)
    return result


# The matrix


def _zeros(S: Semiring, n: int, dtype: np.dtype) -> np.ndarray:
    require(
        n * n * dtype.itemsize,
        f"a {n} × {n} matrix of {_dtype_text(dtype)}",
        "use a narrower dtype or a part of the graph; if the vertices are numbers with gaps, "
        "as_graph(edges).compact() closes them",
    )
    array = np.empty((n, n), dtype=dtype)
    array.fill(S.zero_in(dtype))
    return array


def _scatter(flat: np.ndarray, keys: NDArray[np.int64], values: np.ndarray, add: Callable[[Any, Any], Any]) -> None:
    """Write values to flat[keys]; those of equal key combine with ⊕, pairs of neighbours at a time."""
    order = _stable_order(keys, flat.size)
    keys, values = keys[order], values[order]
    flat[keys] = values
    same = keys[1:] == keys[:-1]
    while same.any():
        parallel = np.concatenate([same, [False]]) | np.concatenate([[False], same])
        keys, values = keys[parallel], values[parallel]
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        rank = np.arange(len(keys)) - np.repeat(starts, np.diff(starts, append=len(keys)))
        first = rank % 2 == 0
        left = np.flatnonzero(first[:-1] & (keys[1:] == keys[:-1]))
        values[left] = add(values[left], values[left + 1])
        keys, values = keys[first], values[first]
        flat[keys] = values
        same = keys[1:] == keys[:-1]


def _stable_order(keys: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    """Like `argsort` for keys from 0 to limit − 1, equal ones in the order they stand in."""
    bits = len(keys).bit_length()
    if limit.bit_length() + bits > 63:
        return np.argsort(keys, kind="stable")
    # sorting numbers is faster than sorting their positions: each key carries its position in its low bits
    packed = (keys << bits) | np.arange(len(keys))
    packed.sort()
    return packed & ((1 << bits) - 1)


# Texts


def element_text(value: Any, zero: Any, absent: str) -> str:
    """An element for a table: `absent` if it is the algebra's zero, ∞ for infinities, long ones cut."""
    return absent if is_same(value, zero) else _clip(_plain(value))


def is_same(value: Any, other: Any) -> bool:
    """Whether two elements are equal, records and records of arrays included."""
    return bool(np.all(value == other))


def _plain(value: Any) -> str:
    if isinstance(value, np.void) and value.dtype.names:
        return "(" + ", ".join(_plain(value[field]) for field in value.dtype.names) + ")"
    if isinstance(value, np.ndarray):
        return "[" + ", ".join(map(_plain, value)) + "]"
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        if np.isinf(value):
            return "∞" if value > 0 else "-∞"
        return f"{value:.6g}"
    return str(value)


def _clip(text: str) -> str:
    return text if len(text) <= LABEL else text[: LABEL - 1] + "…"


def _clip_repr(name: Hashable) -> str:
    return _clip(repr(name))


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _dtype_text(dtype: np.dtype) -> str:
    if dtype.names is None:
        return str(dtype)
    return "(" + ", ".join(f"{field} {dtype[field]}" for field in dtype.names) + ")"


def span_text(n: int) -> str:
    """The positions of n vertices in words."""
    return f"0 to {n - 1}" if n else "of a graph without vertices"


def near(name: Any, names: Sequence) -> str:
    """The part of a message that suggests a name close to one that is unknown, empty if none is."""
    texts = {str(known): known for known in islice(names, CLOSE)}
    close = difflib.get_close_matches(str(name), texts, n=1, cutoff=0.5)  # half, so that "mk" finds "km"
    return f"; did you mean {texts[close[0]]!r}?" if close else ""
