"""Graphs in: edges of any make become a matrix over an algebra, with the names of its vertices."""

from __future__ import annotations

import dataclasses
import html
import operator
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from semiring.algebra.by_name import algebra
from semiring.errors import GraphError
from semiring.machine.memory import require

from .edges import FEW, Columns, bad_vertex, columns_of, numbered
from .masks import mask_of, unmasked
from .names import Named, is_hashable
from .texts import clip, clip_repr, count_text, dtype_text, element_text, quoted, shown
from .weights import as_weights, elements, refuse_nan, unweighted

if TYPE_CHECKING:
    from semiring.algebra.semiring import Semiring

CLOSE_GAPS = "if the vertices are numbers with gaps, as_graph(edges).compact() closes them"
MOST_ROWS = 2**31 - 1  # so that a column fits 32 bits, and a row and a column together 64
BYTES_A_ROW = 48  # offsets, counts and an order of the rows, made at the same time
SHOWN = 10  # rows and columns of a matrix that `repr` shows in full


@dataclass(frozen=True, eq=False, repr=False)
class Graph(Named):
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
    >>> from semiring.graphs.graph import Graph
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
                raise GraphError(bad_vertex(i, end, int(vertices[i]), self.n))
        if self.weights is not None:
            refuse_nan(self.weights, self._edge)
        self._check_names()

    def __len__(self) -> int:
        return len(self.sources)

    def __repr__(self) -> str:
        facts = [
            count_text(self.n, "vertex", "vertices"),
            count_text(len(self), "edge", "edges"),
            "directed" if self.directed else "undirected",
            "no weights" if self.weights is None else f"weights {dtype_text(self.weights.dtype)}",
        ]
        if self.names is not None:
            facts.append("names " + ", ".join(map(clip_repr, self.names[:3])) + ", …" * (self.n > 3))
        return f"Graph({', '.join(facts)})"

    def _edge(self, i: int) -> str:
        ends = self.sources[i], self.targets[i]
        a, b = ends if self.names is None else (quoted(self.names[v]) for v in ends)
        return f"edge {i} ({a} → {b})"

    def compact(self) -> Graph:
        """The same edges without the vertices that no edge touches; names keep what the vertices were called.

        For files whose vertices are numbers with large gaps.

        Examples
        --------
        >>> from semiring.graphs.graph import as_graph
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


class Matrix(Named):
    """A square matrix over an algebra whose rows and columns are vertices.

    `M[a, b]` is the element from vertex a to vertex b, `M[a]` a row, `M[:, b]` a column; vertices are called by
    name where they have names, else by position. (A tuple that is itself a name selects that vertex's row.)
    NumPy takes it as an array.

    Parameters
    ----------
    array : array, shape (n, n)
        Held, not copied.
    semiring : Semiring or str
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

    def __init__(self, array: np.ndarray, semiring: Semiring | str, names: Sequence[Hashable] | None = None) -> None:
        semiring = algebra(semiring)
        array = unmasked(array, semiring) if isinstance(array, np.ma.MaskedArray) else _as_array(array)
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
        if isinstance(key, tuple) and not (is_hashable(key) and key in self._positions):
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
        return f"Matrix {self.n} × {self.n} over {self.semiring.name}, {dtype_text(self.dtype)}"

    def _table(self) -> list[list[str]]:
        """Texts of the heading row and of the rows shown, each led by its vertex."""
        half = SHOWN // 2
        chosen: list[int | None] = list(range(self.n))
        if self.n > SHOWN:
            chosen = [*range(half), None, *range(self.n - half, self.n)]
        labels = ["…" if i is None else clip(shown(i if self.names is None else self.names[i])) for i in chosen]
        zero = self.semiring.zero_in(self.dtype)
        table = [["", *labels]]
        for label, i in zip(labels, chosen, strict=True):
            row = None if i is None else self.array[i]
            cells = ["…" if row is None or j is None else element_text(row[j], zero, absent="·") for j in chosen]
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
        - an array of shape (m, 2) or (m, 3), or a structured array of two or three fields; a numeric one of shape
          (2, 2) or (3, 3) could also be a matrix, and is refused;
        - a tuple of arrays (from, to) or (from, to, weight);
        - a square SciPy sparse matrix or array. Each stored entry is an edge, an explicit 0 too; the formats
          that store blocks or diagonals (BSR, DIA) cannot tell a 0 from padding, there it is not an edge. In a
          matrix of bool the True entries are edges without weights;
        - a NetworkX graph; an undirected one gives an undirected graph;
        - a data frame with columns from and to (or source and target, src and dst, u and v, else the first
          two) and a column of weights: the one called `weight`, else the only other one.
    n : int, optional
        Number of vertices. Default: one more than the largest, or as many as there are names. Integers are then
        positions, however far apart.
    directed : bool
        False: every edge, listed once, goes both ways.
    weight : str, int or None
        Edge attribute or column that holds the weights. None: leave the weights out.
    default : optional
        Weight of the edges of a NetworkX graph that lack the attribute which others have, 1 if left out.
    names : sequence of hashable, optional
        Names of the vertices in the order of their positions. Edges then give names, or positions if they are
        integers and no name is. Default: integers are positions, and other vertices, or all nodes of a NetworkX
        graph that are not 0 … n − 1, are numbered in order of appearance and keep their names. Integers of which the
        largest is beyond 2²⁰ and beyond 64 for each end of an edge, as in OpenStreetMap, are names, in increasing
        order: nothing is allocated for the numbers between them.

    Raises
    ------
    GraphError
        A vertex, weight or edge that is none, with its position.

    Examples
    --------
    >>> from semiring.graphs.graph import as_graph
    >>> as_graph([("home", "mill", 3), ("mill", "shop", 0)])
    Graph(3 vertices, 2 edges, directed, weights int64, names 'home', 'mill', 'shop')
    """
    if isinstance(edges, Graph) and n is None and names is None:
        dropped = edges.weights if weight is not None else None
        return dataclasses.replace(edges, weights=dropped, directed=edges.directed and directed)
    for part in edges if isinstance(edges, tuple) else (edges,):
        if isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part):
            raise GraphError("edges have no mask: leave out those that are masked, or use from_dense for a matrix")
        if isinstance(part, np.ndarray) and part.dtype.kind in "mM":
            raise GraphError(f"edges of dtype {part.dtype}: convert times to numbers, such as .astype('int64')")
    found = _own_columns(edges) if isinstance(edges, Graph) else columns_of(edges, weight, default)
    if n is not None:
        n = operator.index(n)
        if n < 0:
            raise GraphError(f"n = {n}: a graph has no negative number of vertices")
    for what, end in (("source", found.sources), ("target", found.targets)):
        if isinstance(end, np.ndarray) and end.ndim != 1:
            raise GraphError(f"the {what} vertices have shape {end.shape}: give one for each edge")
    if len(found.sources) != len(found.targets):
        raise GraphError(f"{len(found.sources)} sources, {len(found.targets)} targets: an edge needs one of each")
    sources, targets, n, names = numbered(found, n, names)
    weights = None if weight is None or found.weights is None else as_weights(found.weights)
    return Graph(sources, targets, n, weights, names, directed and found.directed)


def _own_columns(graph: Graph) -> Columns:
    """A graph's edges with their vertices by name, to be numbered anew."""
    ends: list[Any] = [graph.sources, graph.targets]
    if graph.names is not None:
        ends = [[graph.names[v] for v in end] for end in ends]
    return Columns(ends[0], ends[1], graph.weights, graph.n, graph.names, graph.directed)


def adjacency(
    edges: Any,
    S: Semiring | str,
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
    S : Semiring or str
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
    S = algebra(S)
    graph = as_graph(edges, n, directed=directed, weight=weight, default=default, names=names)
    if graph.weights is not None:
        values = elements(S, graph.weights, dtype, graph._edge)
    elif len(graph):
        values = np.repeat(unweighted(S, dtype, default), len(graph))
    else:
        values = np.empty(0, dtype=S.resolve_dtype(S.default_dtype if dtype is None else dtype))
    array = _zeros(S, graph.n, values.dtype)
    sources, targets = graph.sources, graph.targets
    if not graph.directed:
        back = sources != targets  # a self-loop already goes both ways
        sources, targets = np.concatenate([sources, targets[back]]), np.concatenate([targets, sources[back]])
        values = np.concatenate([values, values[back]])
    _scatter(array.reshape(-1), sources * graph.n + targets, values, S.over(values.dtype).add)
    if S.is_record and array.dtype == S.default_dtype:
        array = array.view(S.element_dtype)
    return Matrix(array, S, graph.names)


def from_dense(
    array: Any,
    S: Semiring | str,
    *,
    absent: Any = 0,
    dtype: DTypeLike | None = None,
    names: Sequence[Hashable] | None = None,
) -> Matrix:
    """The matrix over an algebra of dense data in which one value means "no edge".

    Parameters
    ----------
    array : array_like, shape (n, n)
        It is copied. A masked entry is not an edge.
    S : Semiring or str
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
    S = algebra(S)
    data = _as_array(array)
    if data.dtype.kind not in "biufcO" and not (data.dtype.names and S.is_record):
        raise GraphError(f"the entries are {data.dtype}, which are not numbers; convert them with .astype(…)")
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
    mask = mask_of(array, "array")
    if mask is not None:
        present &= ~mask
    where = None

    def entry(i: int) -> str:
        nonlocal where
        where = np.flatnonzero(present) if where is None else where
        row, column = divmod(int(where[i]), data.shape[1])
        return f"entry ({row}, {column})"

    given = data[present]
    refuse_nan(given, entry)
    values = elements(S, given, dtype, entry)
    result = _zeros(S, data.shape[0], values.dtype)
    result[present] = values
    return Matrix(result, S, names)


def _as_array(array: Any) -> np.ndarray:
    try:
        return np.asarray(array)
    except (ValueError, TypeError, OverflowError) as e:
        raise GraphError(f"this is not a matrix: {e}; give rows of one length") from None


def _zeros(S: Semiring, n: int, dtype: np.dtype) -> np.ndarray:
    require(
        n * n * dtype.itemsize,
        f"a {n} × {n} matrix of {dtype_text(dtype)}",
        f"use a narrower dtype or a part of the graph; {CLOSE_GAPS}",
    )
    array = np.empty((n, n), dtype=dtype)
    array.fill(S.zero_in(dtype))
    return array


def require_rows(n: int) -> None:
    """Refuse more vertices than compressed rows may have, or than there is memory for, before anything is allocated."""
    if n > MOST_ROWS:
        raise GraphError(f"sparse matrices have up to {MOST_ROWS} rows, and the graph has {n} vertices: {CLOSE_GAPS}")
    if n > FEW:  # asking costs as much as a small closure
        require(BYTES_A_ROW * n, f"{n} sparse rows", CLOSE_GAPS)


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
