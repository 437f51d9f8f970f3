"""Edges of every make as columns: sources, targets, weights, and the vertices as positions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain, islice
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .errors import GraphError
from .names import is_hashable, is_integer, is_missing, near, span_text

# column names of an edge's two ends
ENDS = (("from", "to"), ("source", "target"), ("src", "dst"), ("u", "v"))


class Columns(NamedTuple):
    """Edges as columns."""

    sources: Any  # arrays of numbers, or lists of hashables
    targets: Any
    weights: Any = None
    n: int | None = None  # where the data says how many vertices there are
    vertices: list | None = None  # where the data lists its vertices
    directed: bool = True


def columns_of(edges: Any, weight: str | int | None, default: Any) -> Columns:
    """The columns of edges of any make but a `Graph`; see `semiring.graph.as_graph` for what they may be."""
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
            return Columns(*_pad([np.asarray(part) for part in edges]))
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


def _from_rows(edges: Iterable) -> Columns:
    rows = list(edges)
    for kind in set(map(type, rows)):
        if issubclass(kind, (str, bytes, Mapping)) or not (hasattr(kind, "__len__") and hasattr(kind, "__getitem__")):
            i = next(i for i, row in enumerate(rows) if type(row) is kind)
            raise GraphError(f"edge {i} is {rows[i]!r}: an edge is (from, to) or (from, to, weight)")
    lengths = set(map(len, rows))
    if not lengths:
        return Columns([], [])
    length = len(rows[0])
    if length not in (2, 3):
        raise GraphError(f"edge 0 is {rows[0]!r}: an edge is (from, to) or (from, to, weight)")
    if len(lengths) > 1:
        i = next(i for i, row in enumerate(rows) if len(row) != length)
        raise GraphError(
            f"edge {i} has {len(rows[i])} entries, {rows[i]!r}, and edge 0 has {length}: "
            "give every edge a weight or none"
        )
    return Columns(*_pad([[row[k] for row in rows] for k in range(length)]))


def _from_array(array: np.ndarray) -> Columns:
    if array.dtype.names and array.ndim == 1 and len(array.dtype.names) in (2, 3):
        return Columns(*_pad([array[field] for field in array.dtype.names]))
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise GraphError(
            f"an array of shape {array.shape}: edges are (m, 2) or (m, 3), one a row; "
            "for a dense matrix of weights use from_dense"
        )
    return Columns(*_pad(list(array.T)))


def _from_sparse(matrix: Any) -> Columns:
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphError(f"a graph's matrix is square, this sparse one has shape {matrix.shape}")
    entries = matrix.tocoo()
    rows, columns, data = entries.row, entries.col, entries.data
    if matrix.format == "bsr" or data.dtype == bool:
        stored = data != 0
        rows, columns, data = rows[stored], columns[stored], data[stored]
    return Columns(rows, columns, None if data.dtype == bool else data, matrix.shape[0])


_MISSING = object()


def _from_networkx(graph: Any, weight: str | int | None, default: Any) -> Columns:
    triples = list(graph.edges(data=weight, default=_MISSING)) if weight else [(*e, _MISSING) for e in graph.edges()]
    sources, targets, weights = [t[0] for t in triples], [t[1] for t in triples], [t[-1] for t in triples]
    vertices = list(graph.nodes)
    found = Columns(sources, targets, None, len(vertices), vertices, graph.is_directed())
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


def _from_frame(frame: Any, weight: str | int | None) -> Columns:
    header = list(frame.columns)
    chosen = pick_columns(header, weight)
    return Columns(*_pad([frame[header[k]].to_numpy() for k in chosen if k is not None]))


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


def numbered(
    found: Columns, n: int | None, names: Sequence[Hashable] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], int, list | None]:
    """Positions of the ends, the number of vertices and their names."""
    sources, targets = _vertices(found.sources, "source"), _vertices(found.targets, "target")
    if names is None and found.vertices is not None and not _are_positions(found.vertices, n):
        names = found.vertices
    if isinstance(sources, list) or isinstance(targets, list) or (names and any(map(is_integer, names))):
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


def _are_positions(vertices: list, n: int | None) -> bool:
    """Whether listed vertices are 0 … n − 1 in any order (some of them, if n is given)."""
    if not all(map(is_integer, vertices)) or (vertices and min(vertices) < 0):
        return False
    return not vertices or max(vertices) < (len(vertices) if n is None else n)


def _appearance(sources: list, targets: list) -> list:
    """The different vertices in order of appearance, source before target."""
    try:
        distinct = dict.fromkeys(chain.from_iterable(zip(sources, targets, strict=True)))
    except TypeError:
        for what, column in (("source", sources), ("target", targets)):
            for i, vertex in enumerate(column):
                if not is_hashable(vertex):
                    raise GraphError(
                        f"edge {i}: {what} vertex {vertex!r} is not hashable: "
                        "name vertices by strings, numbers or tuples"
                    ) from None
        raise
    if any(map(is_missing, distinct)):
        for what, column in (("source", sources), ("target", targets)):
            for i, vertex in enumerate(column):
                if is_missing(vertex):
                    raise GraphError(f"edge {i}: the {what} vertex is missing ({vertex!r})")
    return list(distinct)


def _called(column: list, names: Sequence[Hashable], what: str) -> NDArray[np.int64]:
    """Positions of vertices given by name."""
    positions = {name: i for i, name in enumerate(names)}
    for i, name in enumerate(column):
        if not is_hashable(name) or name not in positions:
            raise GraphError(f"edge {i}: {what} vertex {name!r} is not among the names{near(name, names)}")
    return np.fromiter(map(positions.__getitem__, column), dtype=np.int64, count=len(column))


def bad_vertex(i: int, end: str, vertex: int, n: int | None) -> str:
    """The message about an integer that is no vertex."""
    if vertex < 0:
        return f"edge {i}: {end} vertex {vertex} is negative; integer vertices count from 0"
    return f"edge {i}: {end} vertex {vertex} is outside {span_text(n or 0)}; pass n = {vertex + 1} or more"
