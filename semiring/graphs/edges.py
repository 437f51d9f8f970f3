"""Edges of every make as columns: sources, targets, weights, and the vertices as positions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import chain, islice
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semiring.algebra.constants import outside
from semiring.errors import GraphError

from .columns import IF_CLEAR, WeightColumns, go_both_ways, in_records, only_attribute, table_columns, turned
from .exports import entries_of
from .foreign import as_array, as_scipy, is_foreign, unpadded
from .frames import edge_columns, has_index, is_frame, is_square, library_of
from .masks import is_masked
from .names import as_names, is_hashable, is_integer, is_missing, near, refuse_table, span_text
from .operators import Operators
from .texts import quoted

# Integers are positions, unless the largest is beyond FEW and beyond SPREAD times the ends of edges: then they are
# names, as of places on a map of the world, and nothing is allocated for the numbers between them.
FEW = 1 << 20
SPREAD = 64


ENTRIES = ("the sources", "the targets", "the weights")  # of edges, in messages


class Columns(NamedTuple):
    """Edges as columns."""

    sources: Any  # arrays of numbers, or lists of hashables
    targets: Any
    weights: Any = None
    n: int | None = None  # where the data says how many vertices there are
    vertices: list[Any] | None = None  # where the data lists its vertices
    directed: bool = True
    library: str | None = None  # of the data frame that it was
    called: str = ""  # the columns of a table that it was, for messages


def columns_of(
    edges: Any, weight: WeightColumns, default: Any, source: str | int | None = None, target: str | int | None = None,
    directed: bool = True,
) -> Columns:
    """The columns of edges of any make but a `Graph`; see `semiring.graphs.graph.as_graph` for what they may be."""
    if (entries := as_scipy(edges, "edges", lambda fill: bool(abs(fill) == np.inf))) is not None:
        edges = entries
    elif is_foreign(edges):
        edges = as_array(edges, "edges")
        if edges.shape == (2, 3) and edges.dtype.kind in "iu":
            raise GraphError("a tensor of shape (2, 3) could be 2 edges with weights, one a row, or the sources and "
                             "the targets of 3 edges, as an edge_index: give columns, tuple(edges.T) or tuple(edges)")
    if has_index(edges) and getattr(edges.index, "nlevels", 1) > 1:  # a series of pandas, by its ends
        edges = edges.to_frame("weight" if edges.name in (None, *edges.index.names) else edges.name)
    if not isinstance(edges, np.ndarray) and is_frame(edges):
        refuse_table(edges, "edges")
        if is_square(edges):
            raise GraphError("this data frame is a matrix, whose index and columns are vertices: give "
                             "sr.from_dense(frame, S) in its place, with an algebra S such as sr.min_plus; edges have "
                             "columns from, to and weight")
        found = from_table(*edge_columns(edges), weight, source, target, directed)
        return found._replace(library=library_of(edges))
    if isinstance(edges, np.ndarray) and edges.dtype.names and edges.ndim == 1:
        sample: Any = (lambda k: edges[edges.dtype.names[k]][0].item()) if len(edges) else (lambda k: None)
        column = lambda k: edges[edges.dtype.names[k]]  # noqa: E731
        return from_table(list(edges.dtype.names), column, sample, 0, weight, source, target, directed)
    if isinstance(weight, (list, tuple)):
        raise GraphError("several weights are columns of a data frame or of a file; of other edges a weight is a "
                         "tuple or a record")
    if source is not None or target is not None:
        raise GraphError("source= and target= name columns of a data frame or of a file; other edges are tuples "
                         "(from, to, weight), or arrays of them")
    if hasattr(edges, "tocoo"):
        return _from_sparse(edges)
    if hasattr(edges, "is_multigraph") and hasattr(edges, "adj"):
        return _from_networkx(edges, weight, default)
    if isinstance(edges, np.ndarray):
        return _from_array(edges)
    refuse_table(edges, "edges")
    if isinstance(edges, Operators):
        return _from_matrix(edges)
    if isinstance(edges, Mapping):
        if not isinstance(edges, dict) and hasattr(edges, "data"):
            raise GraphError(f"{type(edges).__name__} is a view of a graph of NetworkX: give the graph")
        if edges and all(isinstance(row, Mapping) for row in edges.values()):
            raise GraphError("edges in a dict of dicts: give [(a, b, w) for a, row in edges.items() for b, w in "
                             "row.items()]")
        raise GraphError("edges in a dict: give [(a, b, w) for (a, b), w in edges.items()]; of a dict of columns a "
                         "data frame, such as pandas.DataFrame(edges)")
    if isinstance(edges, tuple) and len(edges) in (2, 3):
        if (hasattr(edges[0], "__array__") or is_foreign(edges[0])) and getattr(edges[0], "ndim", True):
            return Columns(*_pad([as_array(part, what) for part, what in zip(edges, ENTRIES, strict=False)]))
        if any(isinstance(part, list) for part in edges):
            raise GraphError(
                "a tuple of lists could be columns or edges: give columns as NumPy arrays, or a list of edges"
            )
    if isinstance(edges, (str, bytes)) or not isinstance(edges, Iterable):
        raise GraphError(
            f"{type(edges).__name__} is not a set of edges: give tuples (from, to, weight), an array, SciPy sparse, a "
            "NetworkX graph, a data frame, or read_graph(path)"
        )
    return _from_rows(edges)


def _pad(columns: list[Any]) -> tuple[Any, Any, Any]:
    """Two or three columns as three, the weights None where there are two."""
    return columns[0], columns[1], columns[2] if len(columns) == 3 else None


def _from_rows(edges: Iterable[Any]) -> Columns:
    rows: list[Any] = list(edges)
    for kind in set(map(type, rows)):
        bad = issubclass(kind, (str, bytes, Mapping)) or not (hasattr(kind, "__len__") and hasattr(kind, "__getitem__"))
        if bad or hasattr(kind, "__dlpack__"):  # an array may have no axis, and then no length either
            of_kind = ((i, row) for i, row in enumerate(rows) if type(row) is kind)
            i = next((i for i, row in of_kind if bad or not getattr(row, "ndim", True)), None)
            if i is not None:
                raise GraphError(f"edge {i} is {quoted(rows[i])}: an edge is (from, to) or (from, to, weight)")
    lengths = set(map(len, rows))
    if not lengths:
        return Columns([], [])
    length = len(rows[0])
    if length not in (2, 3):
        raise GraphError(f"edge 0 is {quoted(rows[0])}: an edge is (from, to) or (from, to, weight)")
    if len(lengths) > 1:
        i = next(i for i, row in enumerate(rows) if len(row) != length)
        raise GraphError(
            f"edge {i} has {len(rows[i])} entries, {quoted(rows[i])}, and edge 0 has {length}: "
            "give every edge a weight or none"
        )
    return Columns(*_pad([_plain([row[k] for row in rows], ENTRIES[k]) for k in range(length)]))


def _plain(column: list[Any], what: str) -> list[Any]:
    """A column of hashables: numbers that arrays without an axis hold, such as 0-d tensors, as Python's."""
    held = {kind for kind in set(map(type, column)) if hasattr(kind, "item") and not issubclass(kind, np.generic)}
    if not held:
        return column
    return [as_array(x, what).item() if type(x) in held and getattr(x, "ndim", 1) == 0 else x for x in column]


def _from_matrix(M: Operators) -> Columns:
    """What is not the algebra's zero; as of a sparse matrix, truth values are edges without weights."""
    rows, columns, values = entries_of(M)
    return Columns(rows, columns, values if M.array.dtype.kind != "b" else None, M.n, M.names, library=M.library)


def _from_array(array: np.ndarray) -> Columns:
    if array.ndim == 2 and array.shape in ((2, 2), (3, 3)) and array.dtype.kind in "biufc":
        side = array.shape[0]
        raise GraphError(
            f"an array of shape ({side}, {side}) could be {side} edges or a matrix of {side} vertices: give edges as "
            "columns, tuple(array.T), and a matrix to from_dense"
        )
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise GraphError(
            f"an array of shape {array.shape}: edges are (m, 2) or (m, 3), one a row; "
            + ("its two rows are columns, as of an edge_index, if you give tuple(edges)" if array.shape[:1] == (2,) else
               "for a dense matrix of weights use from_dense")
        )
    return Columns(*_pad(list(array.T)))


def _from_sparse(matrix: Any) -> Columns:
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphError(f"a graph's matrix is square, this sparse one has shape {matrix.shape}")
    entries = unpadded(matrix).tocoo()
    rows, columns, data = entries.row, entries.col, entries.data
    if data.dtype == bool:
        rows, columns, data = rows[data], columns[data], data[data]
    return Columns(rows, columns, None if data.dtype == bool else data, matrix.shape[0])


MISSING = object()


def _from_networkx(graph: Any, weight: str | int | None, default: Any) -> Columns:
    if weight in ("weight", IF_CLEAR):
        named = any("weight" in data for *_, data in graph.edges(data=True))
        weight = "weight" if named else only_attribute((data for *_, data in graph.edges(data=True)), weight)
    if weight is None:
        triples = [(*edge, MISSING) for edge in graph.edges()]
    else:
        triples = list(graph.edges(data=weight, default=MISSING))
    sources, targets, weights = [t[0] for t in triples], [t[1] for t in triples], [t[-1] for t in triples]
    vertices = list(graph.nodes)
    found = Columns(sources, targets, weights, len(vertices), vertices, graph.is_directed())

    def attributes() -> list[str]:
        return sorted({str(name) for *_, data in islice(graph.edges(data=True), 1000) for name in data})

    return attribute_weights(found, weight, default, attributes)


def attribute_weights(
    found: Columns, weight: str | int | None, default: Any, attributes: Callable[[], list[str]]
) -> Columns:
    """Columns whose weights are an attribute that may be MISSING: from some edges, or from all."""
    sources, targets, weights = found.sources, found.targets, found.weights
    lacking = [i for i, w in enumerate(weights) if w is MISSING]
    if len(lacking) == len(weights):
        if weights and weight not in (None, "weight"):
            hint = near(weight, attributes())
            raise GraphError(f"no edge has the attribute {quoted(weight)}{hint}; weight=None leaves weights out")
        return found._replace(weights=None)
    if lacking and default is None:
        if not all(w is MISSING or isinstance(w, Number) for w in weights):
            i = lacking[0]
            raise GraphError(
                f"edge {i} ({quoted(sources[i])} → {quoted(targets[i])}) has no {quoted(weight)} and others do: give "
                "default="
            )
        default = 1
    return found._replace(weights=[default if w is MISSING else w for w in weights])


def from_table(
    header: list[Any], column: Callable[[int], np.ndarray], sample: Callable[[int], Any], levels: int,
    weight: WeightColumns, source: Any, target: Any, ways: bool,
) -> Columns:
    """The edges of a table, in columns that are asked for one by one; see `table_columns`.

    Where `ways`, a column that says so makes edges go both ways.
    """
    chosen = table_columns(header, weight, source, target, levels, sample)
    columns = [column(k) for k in chosen.taken]
    if isinstance(weight, (list, tuple)):
        columns[2:] = [in_records([header[k] for k in chosen.weights], columns[2:])]
    called = quoted([header[k] for k in chosen.taken])
    if chosen.ways is None or not ways:
        return Columns(*_pad(columns), called=called)
    both = go_both_ways(header[chosen.ways], column(chosen.ways).tolist(), lambda i: f"edge {i}")
    columns, directed = turned(columns, both)
    return Columns(*_pad(columns), directed=directed, called=called)


# Vertices


def numbered(
    found: Columns, n: int | None, names: Sequence[Hashable] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], int, list[Any] | None]:
    """Positions of the ends, the number of vertices and their names."""
    names = as_names(names)
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
        if n > FEW and n > SPREAD * (len(sources) + len(targets)):
            sources, targets, names = _compacted(sources, targets)
            n = len(names)
    return sources, targets, max(n, 0), as_names(names)


def _compacted(sources: NDArray[np.int64], targets: NDArray[np.int64]) -> tuple[Any, Any, list[Any]]:
    """Integers that are far apart as names, in increasing order."""
    for what, end in (("source", sources), ("target", targets)):
        if end.min() < 0:
            i = int(np.argmax(end < 0))
            raise GraphError(bad_vertex(i, what, int(end[i]), None))
    touched, ends = np.unique(np.concatenate([sources, targets]), return_inverse=True)
    return ends[: len(sources)], ends[len(sources) :], touched.tolist()


def _vertices(column: Any, what: str) -> NDArray[np.int64] | list[Any]:
    """A column of integers as int64, any other as a list of hashables."""
    if isinstance(column, np.ndarray) and column.dtype.kind == "c":
        raise GraphError(f"the {what} vertices are complex numbers; vertices are integers from 0, or names")
    if isinstance(column, np.ndarray) and column.dtype.kind not in "iuf":
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
        column = column.astype(np.result_type(column, np.float64), copy=False)  # in which 2⁶³ is a number
        bad = ~(np.isfinite(column) & (np.floor(column) == column) & (np.abs(column) < 2.0**63))
    else:
        bad = outside(column, -(2**63), 2**63 - 1)
    if bad.any():
        i = int(np.argmax(bad))
        raise GraphError(
            f"edge {i}: {what} vertex {column[i]} is not an integer; vertices are integers from 0, or names"
        )
    return column.astype(np.int64, copy=False)


def as_positions(column: Any, what: str) -> NDArray[np.int64]:
    """A column of vertices that are positions.

    Raises
    ------
    GraphError
        When one is not an integer; the message names its edge.
    """
    if is_masked(column) and np.ma.is_masked(column):
        raise GraphError("edges have no mask: leave out those that are masked")
    if not isinstance(column, np.ndarray):
        if isinstance(column, str) or not is_iterable(column):
            raise GraphError(f"the {what} vertices must be a sequence of integers, not {quoted(column)}")
        as_one = hasattr(column, "__array__") or is_foreign(column)
        column = as_array(column, f"the {what} vertices") if as_one else list(column)
    if isinstance(column, np.ndarray) and column.ndim != 1:
        raise GraphError(f"the {what} vertices have shape {column.shape}: give one for each edge")
    found = column if getattr(column, "dtype", None) == np.int64 else _vertices(column, what)
    if isinstance(found, list):
        i = next(i for i, v in enumerate(found) if not isinstance(v, (int, float, np.integer, np.floating)))
        raise GraphError(f"edge {i}: {what} vertex {quoted(found[i])} is not a position; as_graph takes edges by name")
    return found


def is_iterable(column: Any) -> bool:
    """Whether elements come from it one by one; a COO array of SciPy before 1.15 says so, and has no first one."""
    return isinstance(column, Iterable) and (hasattr(column, "__getitem__") or not hasattr(column, "tocoo"))


def _listed(column: Any) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else column


def _are_positions(vertices: list[Any], n: int | None) -> bool:
    """Whether listed vertices are 0 … n − 1 in any order (some of them, if n is given)."""
    if not all(map(is_integer, vertices)) or (vertices and min(vertices) < 0):
        return False
    return not vertices or max(vertices) < (len(vertices) if n is None else n)


def _appearance(sources: list[Any], targets: list[Any]) -> list[Any]:
    """The different vertices in order of appearance, source before target."""
    try:
        distinct = dict.fromkeys(chain.from_iterable(zip(sources, targets, strict=True)))
    except TypeError:
        for what, column in (("source", sources), ("target", targets)):
            for i, vertex in enumerate(column):
                if not is_hashable(vertex):
                    raise GraphError(
                        f"edge {i}: {what} vertex {quoted(vertex)} is not hashable: "
                        "name vertices by strings, numbers or tuples"
                    ) from None
        raise
    if any(map(is_missing, distinct)):
        for what, column in (("source", sources), ("target", targets)):
            for i, vertex in enumerate(column):
                if is_missing(vertex):
                    raise GraphError(f"edge {i}: the {what} vertex is missing ({quoted(vertex)})")
    return list(distinct)


def _called(column: list[Any], names: Sequence[Hashable], what: str) -> NDArray[np.int64]:
    """Positions of vertices given by name."""
    positions = {name: i for i, name in enumerate(names)}
    for i, name in enumerate(column):
        if not is_hashable(name) or name not in positions:
            raise GraphError(f"edge {i}: {what} vertex {quoted(name)} is not among the names{near(name, names)}")
    return np.fromiter(map(positions.__getitem__, column), dtype=np.int64, count=len(column))


def bad_vertex(i: int, end: str, vertex: int, n: int | None) -> str:
    """The message about an integer that is not a vertex."""
    if vertex < 0:
        return f"edge {i}: {end} vertex {vertex} is negative; integer vertices count from 0"
    return f"edge {i}: {end} vertex {vertex} is outside {span_text(n or 0)}; pass n = {vertex + 1} or more"
