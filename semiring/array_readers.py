"""Graphs from matrices and archives: the formats that SciPy, NumPy and NetworkX read."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np

from .edges import ENDS
from .errors import GraphError, SemiringError
from .graph import Graph, as_graph
from .memory import require
from .streams import about, open_file
from .text_readers import INTEGER

NPZ_ENDS = (("row", "col"), ("sources", "targets"), *ENDS)
NPZ_WEIGHTS = ("data", "weights", "weight")


def _through_scipy(path: Path, reader: Callable[[IO[bytes]], Any]) -> Any:
    try:
        with open_file(path, "rb") as file:
            return reader(file)
    except (ValueError, OverflowError) as e:
        where = re.fullmatch(r"Line (\d+): (.*)", str(e), re.DOTALL)
        found = f", line {where[1]}: {where[2]}" if where else f": {e}"
        raise GraphError(f"{path}{found} Expected the Matrix Market format") from None


def read_mtx(path: Path, directed: bool | None, weight: str | int | None) -> Graph:
    import scipy.io

    rows, columns, _, layout, field, symmetry = _through_scipy(path, scipy.io.mminfo)
    if layout == "array":
        require(8 * rows * columns, f"{path}, a dense {rows} × {columns} matrix,", "read a part of it")
    matrix = _through_scipy(path, scipy.io.mmread)
    if rows != columns:
        raise GraphError(f"{path} holds a {rows} × {columns} matrix; a graph's is square")
    if layout == "array":
        return _dense(path, matrix, directed, weight)
    ends = matrix.row.astype(np.int64), matrix.col.astype(np.int64)
    weights = None if weight is None or field == "pattern" else matrix.data
    if symmetry == "symmetric":
        # the reader gives both halves
        half = ends[0] >= ends[1]
        ends = ends[0][half], ends[1][half]
        weights = None if weights is None else weights[half]
    with about(str(path)):
        return Graph(*ends, rows, weights, directed=symmetry != "symmetric" and directed is not False)


def _dense(
    path: Path, matrix: np.ndarray, directed: bool | None, weight: str | int | None, names: list | None = None,
    zero: Any = None,
) -> Graph:  # fmt: skip
    """The graph of a matrix in which `zero` means no edge; 0, NaN and ±∞ do if it is None."""
    if zero is not None:
        present = matrix != zero
    elif matrix.dtype.kind in "biufc":
        present = (matrix != 0) & np.isfinite(matrix)
    else:
        raise GraphError(f"{path} holds a matrix of {matrix.dtype}, not of numbers: write_matrix to .npz keeps those")
    sources, targets = np.nonzero(present)
    weights = None if weight is None or matrix.dtype.kind == "b" else matrix[present]
    with about(str(path)):
        return Graph(sources, targets, len(matrix), weights, names, directed is not False)


def read_numpy(path: Path, directed: bool | None, weight: str | int | None) -> Graph:
    from zipfile import BadZipFile

    try:
        with open_file(path, "rb") as file:
            found = np.load(file, allow_pickle=False)
            arrays = None if isinstance(found, np.ndarray) else dict(found)
    except (ValueError, BadZipFile) as e:
        raise GraphError(f"{path} is no file of NumPy arrays of numbers or texts: {e}") from None
    if arrays is None:
        return _from_array(path, found, directed, weight)
    return _from_archive(path, arrays, directed, weight)


def _from_array(path: Path, array: np.ndarray, directed: bool | None, weight: str | int | None) -> Graph:
    if array.ndim == 2 and array.shape[0] == array.shape[1]:
        return _dense(path, array, directed, weight)
    with about(str(path)):
        graph = as_graph(array, directed=directed is not False)
    return graph if weight is not None else dataclasses.replace(graph, weights=None)


def _from_archive(path: Path, arrays: dict[str, np.ndarray], directed: bool | None, weight: str | int | None) -> Graph:
    names = arrays["names"].tolist() if "names" in arrays else None
    if "format" in arrays:
        import scipy.sparse

        try:
            with open_file(path, "rb") as file:
                matrix = scipy.sparse.load_npz(file)
        except (ValueError, KeyError, NotImplementedError) as e:
            raise GraphError(f"{path} is no sparse matrix that SciPy can read: {e}") from None
        with about(str(path)):
            return as_graph(matrix, directed=directed is not False, weight=weight)
    if "matrix" in arrays:
        matrix = arrays["matrix"]
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise GraphError(f"{path} holds a matrix of shape {matrix.shape}; a graph's is square")
        return _dense(path, matrix, directed, weight, names, arrays.get("zero"))
    ends = next((pair for pair in NPZ_ENDS if set(pair) <= set(arrays)), None)
    if ends is None:
        if len(arrays) == 1:
            return _from_array(path, next(iter(arrays.values())), directed, weight)
        raise GraphError(f"{path} holds the arrays {', '.join(arrays)}; expected row and col, and data for weights")
    weights = next((arrays[name] for name in NPZ_WEIGHTS if name in arrays), None)
    columns = [arrays[ends[0]], arrays[ends[1]], *([] if weight is None or weights is None else [weights])]
    n = int(arrays["n"]) if "n" in arrays else int(arrays["shape"][0]) if "shape" in arrays else None
    with about(str(path)):
        return as_graph(tuple(columns), n, directed=directed is not False, names=names)


def read_graphml(path: Path, directed: bool | None, weight: str | int | None) -> Graph:
    from xml.etree.ElementTree import ParseError
    from xml.parsers.expat import ErrorString

    try:
        import networkx as nx
    except ImportError:
        raise SemiringError("GraphML is read by NetworkX: pip install 'semiring[networkx]'") from None
    try:
        with open_file(path, "rb") as file:
            found = nx.read_graphml(file)
    except ParseError as e:
        raise GraphError(f"{path}, line {e.position[0]}: {ErrorString(e.code)}; expected GraphML") from None
    except (nx.NetworkXError, KeyError, ValueError) as e:
        raise GraphError(f"{path} is no GraphML that NetworkX can read: {e}") from None
    with about(str(path)):
        graph = as_graph(found, directed=directed is not False, weight=weight)
    return _with_integer_names(graph)


def _with_integer_names(graph: Graph) -> Graph:
    """Names that are all integers as integers, and as positions if they are 0 … n − 1."""
    integers = [int(name) for name in graph.names or [] if INTEGER.fullmatch(str(name))]
    if len(set(integers)) < graph.n:
        return graph
    if set(integers) != set(range(graph.n)):
        return dataclasses.replace(graph, names=integers)
    position = np.array(integers, dtype=np.int64)
    return dataclasses.replace(graph, sources=position[graph.sources], targets=position[graph.targets], names=None)
