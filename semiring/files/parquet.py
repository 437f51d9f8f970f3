"""Graphs from Parquet files and matrices to them, through PyArrow: one edge per row, in columns from, to and weight.

`write_matrix` stores the number of vertices, their names and the dtype in the metadata.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import GraphError, SemiringError
from semiring.graphs.columns import IF_CLEAR
from semiring.graphs.edges import from_table
from semiring.graphs.exports import by_components, entries_of
from semiring.graphs.frames import CORNER, columns_in, edge_columns, has_labels, matrix_of, side_by_side
from semiring.graphs.graph import Graph, as_graph
from semiring.graphs.matrix import Matrix
from semiring.graphs.names import integers_of
from semiring.graphs.texts import quoted, shown

from .arrays import from_matrix, literal, refuse_absent
from .format import Options
from .streams import about, created
from .writers import kept_names

NOTE = b"semiring"  # the key of the metadata


class Noted(NamedTuple):
    """What `write_matrix` stores in the metadata."""

    n: int
    names: list[Any] | None
    algebra: str
    dtype: np.dtype | None  # None for records
    weights: list[str]  # their columns; empty for truth values


def _pyarrow(path: Path) -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise SemiringError(f"{shown(path)}: Parquet needs PyArrow: pip install pyarrow") from None
    return pyarrow


def _table(path: Path, data: bytes) -> Any:
    pyarrow = _pyarrow(path)
    try:
        return pyarrow.parquet.read_table(pyarrow.BufferReader(data))
    except (pyarrow.ArrowException, OSError) as e:
        raise GraphError(f"{shown(path)} is not a Parquet file that PyArrow reads: {shown(e)}") from None


def _square(path: Path, table: Any, options: Options) -> tuple[np.ndarray, list[Any] | None] | None:
    """The matrix in a data frame, and the names of its vertices; None for edges."""
    if (options.source, options.target) != (None, None) or options.weight not in ("weight", IF_CLEAR, None):
        return None
    try:
        (index,) = json.loads((table.schema.metadata or {})[b"pandas"])["index_columns"]
    except (LookupError, ValueError, TypeError, RecursionError):
        index = None
    if isinstance(index, str) and index in table.column_names:
        others = [name for name in table.column_names if name != index]
        if CORNER not in others:
            table = table.select([index, *others]).rename_columns([CORNER, *others])
    elif isinstance(index, dict) and table.column_names == list(map(str, range(table.num_rows))) != []:
        if table.num_rows in (2, 3) and options.absent is None:
            raise GraphError(f"{shown(path)} could be {table.num_rows} edges or a matrix of {table.num_rows} vertices: "
                             'pass source="0" and target="1" for edges, absent=0 for a matrix in which 0 means no edge')
        return side_by_side([columns_in(table)[1](k) for k in range(table.num_rows)], table.num_rows), None
    return matrix_of(table, None) if has_labels(table) else None


def matrix_of_parquet(
    path: Path, data: bytes, S: Semiring, dtype: np.dtype | None, options: Options
) -> Matrix | None:
    """The matrix of a data frame over an algebra; None for edges."""
    table = _table(path, data)
    found = None if _noted(path, table) is not None else _square(path, table, options)
    return None if found is None else literal(path, found[0], None, found[1], S, dtype, options)


def read_parquet(path: Path, data: bytes, options: Options) -> Graph:
    table = _table(path, data)
    noted = _noted(path, table)
    if noted is None and (square := _square(path, table, options)) is not None:
        return from_matrix(path, square[0], options, names=square[1])
    if options.absent is not None:
        refuse_absent(path, "edges")
    weight = options.weight
    if noted is not None and weight == "weight":
        weight = noted.weights if len(noted.weights) > 1 else noted.weights[0] if noted.weights else None
    with about(str(path)):
        found = from_table(*edge_columns(table), weight, options.source, options.target, options.directed is None)
        ends, weights = [found.sources, found.targets], [] if found.weights is None else [found.weights]
        names = None if noted is None else noted.names
        if options.names is str:
            ends = [np.array(list(map(str, end.tolist())), dtype=object) for end in ends]
            names = None if names is None else list(map(str, names))
        elif names is not None and integers_of(names) is None:  # the columns hold texts
            called = {str(name): name for name in names}
            ends = [np.fromiter((called.get(x, x) for x in end.tolist()), object, len(end)) for end in ends]
        n = noted.n if noted is not None and names is None and options.names is None else None
        return as_graph((*ends, *weights), n, directed=options.one_way and found.directed, names=names)


def noted_dtype(path: Path, data: bytes, S: Semiring) -> np.dtype | None:
    """The dtype that `write_matrix` noted for a matrix over this algebra; None for records and in other files."""
    noted = _noted(path, _table(path, data))
    return noted.dtype if noted is not None and noted.algebra == S.name else None


def _noted(path: Path, table: Any) -> Noted | None:
    text = (table.schema.metadata or {}).get(NOTE)
    if text is None:
        return None
    try:
        found = json.loads(text)
        n, names, name, dtype, weights = (found[key] for key in Noted._fields)
        sound = type(n) is int and n >= 0 and (names is None or len(names) == n)
        sound = sound and all(type(name) in (int, str) for name in names or ())
        sound = sound and isinstance(weights, list) and set(weights) <= set(table.column_names)
        dtype = None if dtype is None else np.dtype(dtype)
    except (ValueError, TypeError, KeyError, RecursionError):
        sound = False
    if not sound or (dtype is not None and dtype.kind not in "biuf"):
        raise GraphError(f"{shown(path)}: its metadata {quoted(NOTE.decode())} is not as write_matrix writes it: "
                         "write the file again")
    return Noted(n, names, name, dtype, weights)


def write_parquet(path: Path, M: Matrix) -> None:
    pyarrow = _pyarrow(path)
    names = None if M.names is None else kept_names(path, M.names)
    rows, columns, values = entries_of(M)
    ends: dict[str, Any] = {"from": rows, "to": columns}
    if names is not None:
        whole = integers_of(names)
        called = np.array(list(map(str, names)), object) if whole is None else whole
        ends = {end: called[at] for end, at in ends.items()}
    if values.dtype.names:
        values = by_components(values)
        weights = {f: np.ascontiguousarray(values[f]) for f in values.dtype.names or ()}
        if {"from", "to"} & set(weights):
            raise SemiringError(f"{shown(path)}: a component of {M.semiring.name} is called from or to, as the "
                                "ends of edges are: write .npz")
    else:
        weights = {} if values.dtype.kind == "b" else {"weight": values}
    noted = Noted(M.n, names, M.semiring.name, M.dtype if M.dtype.names is None else None, list(weights))
    text = json.dumps({**noted._asdict(), "dtype": None if noted.dtype is None else noted.dtype.name})
    texts = names is not None and ends["from"].dtype.kind == "O"
    try:
        arrays = [pyarrow.array(end, pyarrow.string() if texts else None) for end in ends.values()]
    except UnicodeEncodeError as e:
        raise SemiringError(f"{shown(path)}: {quoted(e.object[e.start])} cannot be encoded as UTF-8: rename the "
                            "vertex") from None
    table = pyarrow.table([*arrays, *map(pyarrow.array, weights.values())], [*ends, *weights])
    with created(path) as file:
        pyarrow.parquet.write_table(table.replace_schema_metadata({NOTE: text}), file)
