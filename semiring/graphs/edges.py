"""Read edges in any format as columns: sources, targets, weights, and the vertices as positions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semiring.algebra.masks import is_masked
from semiring.errors import GraphError

from .columns import (
    IF_CLEAR,
    MISSING,
    WeightColumns,
    attribute_weights,
    go_both_ways,
    in_records,
    only_attribute,
    table_columns,
    turned,
)
from .exports import edges_of
from .foreign import as_array, as_scipy, is_foreign, unpadded
from .frames import edge_columns, has_index, is_frame, is_square, library_of
from .names import as_names, check_names, is_hashable, is_integer, is_missing, is_whole, near, refuse_table, span_text
from .operators import Operators
from .texts import clip_repr, quoted

# Integers are positions, unless the largest is beyond MANY_VERTICES and beyond NUMBERS_PER_END times the ends of edges:
# then they are names, as of places on a map of the world, and nothing is allocated for the numbers between them.
MANY_VERTICES = 1 << 20
NUMBERS_PER_END = 64


ENTRIES = ("the sources", "the targets", "the weights")  # of edges, in messages


class Columns(NamedTuple):
    """Edges as columns."""

    sources: Any  # arrays of numbers, or lists of hashables
    targets: Any
    weights: Any = None
    n: int | None = None  # the number of vertices, if the data has it
    vertices: list[Any] | None = None  # the vertices, if the data lists them
    directed: bool = True
    library: str | None = None  # the library of the data frame
    called: str = ""  # the columns of the table, for messages


def columns_of(
    edges: Any, weight: WeightColumns, default: Any, source: str | int | None = None, target: str | int | None = None,
    directed: bool = True,
) -> Columns:
    """Read edges in any format but a `Graph` as columns; see `semiring.graphs.graph.as_graph` for the formats."""
    if (entries := as_scipy(edges, "edges", lambda fill: bool(abs(fill) == np.inf))) is not None:
        edges = entries
    elif is_foreign(edges):
        edges = as_array(edges, "edges")
        if edges.shape == (2, 3) and edges.dtype.kind in "iu":
            raise GraphError("a tensor of shape (2, 3) could be 2 edges with weights, one per row, or the sources and "
                             "the targets of 3 edges, as an edge_index: pass columns, tuple(edges.T) or tuple(edges)")
    if has_index(edges) and getattr(edges.index, "nlevels", 1) > 1:  # a series of pandas, by its ends
        edges = edges.to_frame("weight" if edges.name in (None, *edges.index.names) else edges.name)
    if not isinstance(edges, np.ndarray) and is_frame(edges):
        refuse_table(edges, "edges")
        if is_square(edges):
            raise GraphError("this data frame is a matrix, whose index and columns are vertices: pass "
                             "sr.from_dense(frame, S) instead, with an algebra S such as sr.min_plus; edges have "
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
        data = list(edges.edges(data=True))
        return _from_attributes(data, weight, default, list(edges.nodes), edges.is_directed())
    if isinstance(edges, np.ndarray):
        return _from_array(edges)
    refuse_table(edges, "edges")
    if isinstance(edges, Operators):
        return _from_matrix(edges)
    if _is_view(edges):
        if "Edge" not in type(edges).__name__:
            raise GraphError(f"a {type(edges).__name__} of NetworkX holds no edges: give the graph itself")
        return _from_view(edges, weight, default)
    if isinstance(edges, Mapping):
        return _from_mapping(edges, weight, default)
    if hasattr(edges, "edge_index"):
        return _from_index(edges)
    if isinstance(edges, tuple) and len(edges) in (2, 3):
        if (hasattr(edges[0], "__array__") or is_foreign(edges[0])) and getattr(edges[0], "ndim", True):
            return Columns(*_pad([as_array(part, what) for part, what in zip(edges, ENTRIES, strict=False)]))
        if any(isinstance(part, list) for part in edges):
            raise GraphError(
                "a tuple of lists could be columns or edges: pass columns as NumPy arrays, or a list of edges"
            )
    if isinstance(edges, (str, bytes)) or not isinstance(edges, Iterable):
        raise GraphError(
            f"{type(edges).__name__} is not a set of edges: pass tuples (from, to, weight), an array, SciPy sparse, a "
            "NetworkX graph, a data frame, or read_graph(path)"
        )
    return _from_rows(edges, weight, default)


def _pad(columns: list[Any]) -> tuple[Any, Any, Any]:
    """Two or three columns as three, the weights None where there are two."""
    return columns[0], columns[1], columns[2] if len(columns) == 3 else None


def _from_rows(edges: Iterable[Any], weight: str | int | None, default: Any) -> Columns:
    rows: list[Any] = list(edges)
    for kind in set(map(type, rows)):
        bad = issubclass(kind, (str, bytes, Mapping)) or not (hasattr(kind, "__len__") and hasattr(kind, "__getitem__"))
        if bad or hasattr(kind, "__dlpack__"):  # an array may have no axis, and then has no length
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
    if length == 3 and all(isinstance(row[2], Mapping) for row in rows):
        return _from_attributes(rows, weight, default)
    return Columns(*_pad([_plain([row[k] for row in rows], ENTRIES[k]) for k in range(length)]))


def _plain(column: list[Any], what: str) -> list[Any]:
    """A column of hashables; arrays without an axis, such as 0-d tensors, become Python numbers."""
    held = {kind for kind in set(map(type, column)) if hasattr(kind, "item") and not issubclass(kind, np.generic)}
    if not held:
        return column
    return [as_array(x, what).item() if type(x) in held and getattr(x, "ndim", 1) == 0 else x for x in column]


def _from_matrix(M: Operators) -> Columns:
    """The entries other than the algebra's zero; truth values are edges without weights, as in a sparse matrix."""
    rows, columns, values = edges_of(M)
    return Columns(rows, columns, values if M.dtype.kind != "b" else None, M.n, M.names, library=M.library)


def _from_array(array: np.ndarray) -> Columns:
    if array.ndim == 2 and array.shape in ((2, 2), (3, 3)) and array.dtype.kind in "biufc":
        side = array.shape[0]
        raise GraphError(
            f"an array of shape ({side}, {side}) could be {side} edges or a matrix of {side} vertices: pass edges as "
            "columns, tuple(array.T), and a matrix to from_dense"
        )
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise GraphError(
            f"an array of shape {array.shape}: edges need shape (m, 2) or (m, 3), one per row; "
            + ("if its two rows are columns, as in an edge_index, pass tuple(edges)" if array.shape[:1] == (2,) else
               "for a dense matrix of weights use from_dense")
        )
    return Columns(*_pad(list(array.T)))


def _from_sparse(matrix: Any) -> Columns:
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphError(f"a graph's matrix must be square, but this sparse one has shape {matrix.shape}")
    entries = unpadded(matrix).tocoo()
    rows, columns, data = entries.row, entries.col, entries.data
    if data.dtype == bool:
        rows, columns, data = rows[data], columns[data], data[data]
    return Columns(rows, columns, None if data.dtype == bool else data, matrix.shape[0])


def _from_view(view: Any, weight: str | int | None, default: Any) -> Columns:
    """Read the `edges` of a NetworkX graph, or the result of calling it."""
    if hasattr(view, "_viewer"):
        if getattr(view, "keys", False) is True:
            raise GraphError("edges with the keys of parallel ones: pass G.edges(data=True), or the graph itself")
        return _from_rows(view, weight, default)._replace(directed=view._viewer._graph.is_directed())
    graph = view._graph
    return _from_attributes(list(view(data=True)), weight, default, list(graph.nodes), graph.is_directed())


def _from_attributes(
    edges: Sequence[tuple[Any, Any, Mapping[Any, Any]]], weight: str | int | None, default: Any,
    vertices: list[Any] | None = None, directed: bool = True,
) -> Columns:
    """Edges (from, to, attributes), as in NetworkX."""
    if weight in ("weight", IF_CLEAR):
        named = any("weight" in data for *_, data in edges)
        weight = "weight" if named else only_attribute((data for *_, data in edges), weight)
    weights = [MISSING if weight is None else data.get(weight, MISSING) for *_, data in edges]
    n = None if vertices is None else len(vertices)
    sources, targets = [e[0] for e in edges], [e[1] for e in edges]

    def attributes() -> list[str]:
        return sorted({str(name) for *_, data in islice(edges, 1000) for name in data})

    found = attribute_weights((sources, targets), weights, weight, default, attributes)
    return Columns(sources, targets, found, n, vertices, directed)


def _from_mapping(edges: Mapping[Any, Any], weight: str | int | None, default: Any) -> Columns:
    """Weights or attributes by the ends, {(from, to): weight}, or by rows, {from: {to: weight}}."""
    rows = list(edges.values())
    pairs = all(isinstance(key, tuple) and len(key) == 2 for key in edges)
    are_rows = all(isinstance(row, Mapping) for row in rows)
    if are_rows and not (edges and pairs and not any(isinstance(key, tuple) for row in rows for key in row)):
        triples = [(u, v, w) for u, row in edges.items() for v, w in row.items()]
        parallel = all(isinstance(w, Mapping) and all(isinstance(d, Mapping) for d in w.values()) for *_, w in triples)
        if parallel and any(w for *_, w in triples):  # the adjacency of a multigraph
            triples = [(u, v, d) for u, v, w in triples for d in w.values()]
        vertices = list(dict.fromkeys(chain(edges, (v for _, v, _ in triples))))
        found = _from_rows(triples, weight, default)
        return found._replace(n=len(vertices), vertices=vertices)
    if pairs and not any(isinstance(row, (list, set)) for row in rows):
        return _from_rows([(*ends, w) for ends, w in edges.items()], weight, default)
    raise GraphError(
        "edges in a dict are {from: {to: weight}} or {(from, to): weight}: pass lists of neighbours as "
        "[(a, b) for a in edges for b in edges[a]], and columns as a data frame or a tuple of arrays"
    )


def _from_index(data: Any) -> Columns:
    """Read a graph of PyTorch Geometric: an index of the ends, of shape (2, m), and weights."""
    ends = as_array(data.edge_index, "edge_index")
    if ends.ndim != 2 or ends.shape[0] != 2:
        raise GraphError(f"edge_index has shape {ends.shape}, but must be (2, m): sources and targets")
    weights = next((w for name in ("edge_weight", "edge_attr") if (w := getattr(data, name, None)) is not None), None)
    if weights is not None:
        weights = as_array(weights, "the weights")
        if weights.ndim == 2 and weights.shape[1] > 1:
            raise GraphError(f"edge_attr has {weights.shape[1]} columns: pass the one that is the weight, as "
                             "sr.as_graph((*data.edge_index, data.edge_attr[:, 0]))")
        weights = weights.reshape(-1)
    return Columns(ends[0], ends[1], weights, getattr(data, "num_nodes", None))


def are_edges(edges: Any) -> bool:
    """Whether the type of an object shows that it holds edges: a dict, NetworkX's views, an edge_index.

    >>> are_edges({("a", "b"): 3}), are_edges([("a", "b", 3)])
    (True, False)
    """
    return isinstance(edges, Mapping) or hasattr(edges, "edge_index") or _is_view(edges)


def _is_view(edges: Any) -> bool:
    return type(edges).__module__ == "networkx.classes.reportviews"


def from_table(
    header: list[Any], column: Callable[[int], np.ndarray], sample: Callable[[int], Any], levels: int,
    weight: WeightColumns, source: Any, target: Any, ways: bool,
) -> Columns:
    """Read the edges of a table, whose columns are fetched one by one; see `table_columns`.

    With `ways`, a column may say which edges go both ways.
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
    check_names(names, len(names or ()), "vertex", "vertices")
    sources, targets = _of_one_kind(_vertices(found.sources, "source"), _vertices(found.targets, "target"))
    if names is None and found.vertices is not None and not _are_positions(found.vertices, n):
        names = found.vertices
    if isinstance(sources, list) or isinstance(targets, list) or (names and any(map(is_whole, names))):
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
    if n is not None:
        sources, targets = _positions(sources, "source", n), _positions(targets, "target", n)
    if n is None:
        n = 1 + max(int(end.max()) if len(end) else -1 for end in (sources, targets))
        if n > MANY_VERTICES and n > NUMBERS_PER_END * (len(sources) + len(targets)):
            sources, targets, names = _compacted(sources, targets)
            n = len(names)
    return sources, targets, max(n, 0), as_names(names)


def _of_one_kind(sources: Any, targets: Any) -> tuple[Any, Any]:
    """Make both columns unsigned if one is, because NumPy would convert signed and unsigned integers to floats.

    Raises
    ------
    GraphError
        If the other one has a negative vertex.
    """
    if any(isinstance(end, list) for end in (sources, targets)) or sources.dtype == targets.dtype:
        return sources, targets
    _refuse_negative(sources, targets)
    return sources.astype(np.uint64), targets.astype(np.uint64)


def _refuse_negative(sources: np.ndarray, targets: np.ndarray) -> None:
    """Refuse negative vertices.

    Raises
    ------
    GraphError
    """
    for what, end in (("source", sources), ("target", targets)):
        if len(end) and end.min() < 0:
            i = int(np.argmax(end < 0))
            raise GraphError(bad_vertex(i, what, int(end[i]), None))


def _positions(column: Any, what: str, n: int) -> NDArray[np.int64]:
    """Convert positions to int64.

    Raises
    ------
    GraphError
        For a position ≥ 2⁶³; others are compared with n when the graph is made.
    """
    if len(column) and column.dtype == np.uint64 and column.max() >= 2**63:
        i = int(np.argmax(column >= 2**63))
        raise GraphError(f"edge {i}: {what} vertex {column[i]} is outside {span_text(n)}; leave out n, so that such "
                         "numbers are names")
    return column.astype(np.int64, copy=False)


def _compacted(sources: NDArray[np.int64], targets: NDArray[np.int64]) -> tuple[Any, Any, list[Any]]:
    """Integers that are far apart as names, in increasing order."""
    _refuse_negative(sources, targets)
    touched, ends = np.unique(np.concatenate([sources, targets]), return_inverse=True)
    return ends[: len(sources)], ends[len(sources) :], touched.tolist()


def _vertices(column: Any, what: str) -> NDArray[np.int64] | NDArray[np.uint64] | list[Any]:
    """A column of integers as int64, or as uint64 if one is ≥ 2⁶³; any other as a list of hashables."""
    if isinstance(column, np.ndarray) and column.dtype.kind == "c":
        raise GraphError(f"the {what} vertices are complex numbers; vertices are integers from 0, or names")
    if isinstance(column, np.ndarray) and column.dtype.kind not in "iuf":
        column = column.tolist() if column.dtype.kind in "OUST" else list(column)
    if not isinstance(column, np.ndarray):
        kinds = set(map(type, column))
        if bool in kinds or np.bool_ in kinds:
            i = next(i for i, v in enumerate(column) if isinstance(v, (bool, np.bool_)))
            raise GraphError(f"edge {i}: {what} vertex {column[i]} is a truth value; vertices are integers or names")
        if np.timedelta64 in kinds or not all(issubclass(k, (int, float, np.integer, np.floating)) for k in kinds):
            return column
        if any(issubclass(k, (float, np.floating)) for k in kinds):
            column = np.array(column, dtype=np.float64)
        else:
            try:
                return np.array(column, dtype=np.int64)
            except OverflowError:
                return _unsigned(column, what)
    if column.dtype.kind == "f":
        column = column.astype(np.result_type(column, np.float64), copy=False)  # in which 2⁶³ has a value
        bad = ~(np.isfinite(column) & (np.floor(column) == column))
        if bad.any():
            i = int(np.argmax(bad))
            raise GraphError(
                f"edge {i}: {what} vertex {column[i]} is not an integer; vertices are integers from 0, or names"
            )
        if (large := np.abs(column) >= 2.0**63).any():
            i = int(np.argmax(large))
            raise GraphError(f"edge {i}: {what} vertex {column[i]} is a float, and floats of this size are not exact: "
                             "pass the vertices as integers, or as texts")
    elif len(column) and column.dtype.kind == "u" and column.max() >= 2**63:
        return column.astype(np.uint64, copy=False)
    return column.astype(np.int64, copy=False)


def _unsigned(column: Sequence[int], what: str) -> NDArray[np.uint64]:
    """Integers, one of which does not fit 64 bits with a sign.

    Raises
    ------
    GraphError
        If one does not fit without a sign either.
    """
    for i, v in enumerate(column):
        if v < 0:
            raise GraphError(bad_vertex(i, what, int(v), None))
        if v >= 2**64:
            raise GraphError(f"edge {i}: {what} vertex {v if v < 10**40 else clip_repr(v)} does not fit 64 bits: pass "
                             "all vertices as texts, str(vertex)")
    return np.array(list(map(int, column)), dtype=np.uint64)


def as_positions(column: Any, what: str) -> NDArray[np.int64]:
    """A column of vertices that are positions.

    Raises
    ------
    GraphError
        If one is not an integer; the message names its edge.
    """
    if is_masked(column) and np.ma.is_masked(column):
        raise GraphError("edges have no mask: leave out those that are masked")
    if not isinstance(column, np.ndarray):
        if isinstance(column, str) or not is_iterable(column):
            raise GraphError(f"the {what} vertices must be a sequence of integers, not {quoted(column)}")
        as_one = hasattr(column, "__array__") or is_foreign(column)
        column = as_array(column, f"the {what} vertices") if as_one else list(column)
    if isinstance(column, np.ndarray) and column.ndim != 1:
        raise GraphError(f"the {what} vertices have shape {column.shape}: pass one for each edge")
    found = column if getattr(column, "dtype", None) == np.int64 else _vertices(column, what)
    if isinstance(found, list):
        i = next(i for i, v in enumerate(found) if not isinstance(v, (int, float, np.integer, np.floating)))
        raise GraphError(f"edge {i}: {what} vertex {quoted(found[i])} is not a position; as_graph takes edges by name")
    if found.dtype == np.uint64:
        i = int(np.argmax(found >= 2**63))
        raise GraphError(f"edge {i}: {what} vertex {found[i]} is not a position; as_graph takes such numbers as names")
    return found  # type: ignore[return-value]


def is_iterable(column: Any) -> bool:
    """Whether one can iterate over it; a COO array of SciPy before 1.15 claims so, but has no first element."""
    return isinstance(column, Iterable) and (hasattr(column, "__getitem__") or not hasattr(column, "tocoo"))


def _listed(column: Any) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else column


def _are_positions(vertices: list[Any], n: int | None) -> bool:
    """Whether the listed vertices are 0 … n − 1 in any order (or some of them, if n is given)."""
    if not all(map(is_integer, vertices)) or (vertices and min(vertices) < 0):
        return False
    return not vertices or max(vertices) < (len(vertices) if n is None else n)


def _appearance(sources: list[Any], targets: list[Any]) -> list[Any]:
    """The different vertices in order of appearance, source before target."""
    ends = ((what, i, v) for what, end in (("source", sources), ("target", targets)) for i, v in enumerate(end))
    try:
        distinct = dict.fromkeys(chain.from_iterable(zip(sources, targets, strict=True)))
    except TypeError:
        what, i, vertex = next(end for end in ends if not is_hashable(end[2]))
        raise GraphError(f"edge {i}: {what} vertex {quoted(vertex)} is not hashable: name vertices by strings, numbers "
                         "or tuples") from None
    if any(map(is_missing, distinct)):
        what, i, vertex = next(end for end in ends if is_missing(end[2]))
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
        return (f"edge {i}: {end} vertex {vertex} is negative, but integer vertices count from 0: list all vertices in "
                "names= to call them by any integers, or pass them as texts (for a file names=str)")
    return f"edge {i}: {end} vertex {vertex} is outside {span_text(n or 0)}; pass n = {vertex + 1} or more"
