"""Graphs from files and matrices to files, in the format that the path ends in."""

from __future__ import annotations

import lzma
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .array_readers import read_graphml, read_mtx, read_numpy
from .errors import GraphError, SemiringError
from .graph import Graph, Matrix
from .names import near
from .streams import open_file, suffix
from .text_readers import read_dimacs, read_edges
from .writers import write_mtx, write_npy, write_npz, write_table

FORMATS = {
    ".csv": "csv", ".tsv": "tsv", ".txt": "edges", ".edges": "edges", ".edgelist": "edges", ".el": "edges",
    ".mtx": "mtx", ".gr": "gr", ".npy": "npy", ".npz": "npz", ".graphml": "graphml",
}  # fmt: skip
READERS: dict[str, Callable[[Path, bool | None, Any], Graph]] = {
    "csv": read_edges, "tsv": read_edges, "edges": read_edges, "mtx": read_mtx, "gr": read_dimacs,
    "npy": read_numpy, "npz": read_numpy, "graphml": read_graphml,
}  # fmt: skip
WRITERS: dict[str, Callable[[Path, Matrix], None]] = {
    "npy": write_npy, "npz": write_npz, "csv": write_table, "tsv": write_table, "mtx": write_mtx,
}  # fmt: skip


def read_graph(
    path: str | os.PathLike,
    *,
    format: str | None = None,
    directed: bool | None = None,
    weight: str | int | None = "weight",
) -> Graph:
    """Read a graph from a file.

    Parameters
    ----------
    path : path
        Files that end in .gz, .bz2 or .xz are decompressed on the way.

        - .mtx: Matrix Market; vertices count from 0 here, a symmetric matrix is an undirected graph;
        - .csv, .tsv, .txt, .edges, .edgelist, .el: one edge a line, from, to and perhaps a weight, with or
          without a line of column names; lines that begin with # or % are comments. Vertices are positions if all
          are integers (`Graph.compact` closes gaps), else names;
        - .gr: DIMACS shortest paths; vertices count from 0 here;
        - .npy: a square matrix, in which 0, NaN and ±∞ mean no edge, or an array of edges, shape (m, 2) or (m, 3);
        - .npz: what `scipy.sparse.save_npz` or `write_matrix` wrote, or arrays row, col and data (or sources,
          targets and weights; with n and names if they like);
        - .graphml: through NetworkX; ids that are all integers become integers.
    format : str, optional
        One of csv, tsv, edges, mtx, gr, npy, npz, graphml, where the ending of the path does not say.
    directed : bool, optional
        Whether edges go one way. Default: what the file says, directed if it says nothing. True does not make a
        symmetric matrix or an undirected GraphML graph directed.
    weight : str, int or None
        The column (counted from 0 where columns have no names) or edge attribute that holds the weights. Default:
        the one called weight, else the only one there is. None: leave the weights out.

    Raises
    ------
    GraphError
        The file is not there or does not parse; the message gives the line, what is there and what should be.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import semiring as sr
    >>> sr.read_graph(files("semiring.data") / "minnesota_roads.csv", directed=False)
    Graph(2642 vertices, 3303 edges, undirected, weights float64)
    """
    path = Path(path)
    kind = _kind(path, format)
    if path.is_dir():
        raise GraphError(f"{path} is a folder: give a file in it")
    if not path.exists():
        siblings = sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
        raise GraphError(f"there is no file {path}{near(path.name, siblings)}")
    try:
        with open_file(path, "rb") as file:
            if not file.read(1):
                raise GraphError(f"{path} is empty")
        return READERS[kind](path, directed, weight)
    except UnicodeDecodeError as e:
        raise GraphError(f"{path} is not UTF-8 text ({e.reason} at byte {e.start} of a block)") from None
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as e:
        raise GraphError(f"{path} cannot be read: {e}") from None


def write_matrix(path: str | os.PathLike, M: Matrix) -> None:
    """Write a matrix to a file, in the format that the path ends in.

    Parameters
    ----------
    path : path
        - .npy: the array alone;
        - .npz: the array, the zero, the names and the name of the algebra; `read_graph` reads it back;
        - .csv, .tsv: a table with vertices in the first line and column; the algebra's zero is an empty cell;
        - .mtx: Matrix Market, the entries that are not zero; names are not kept.

        A further .gz, .bz2 or .xz compresses.
    M : Matrix

    Raises
    ------
    SemiringError
        The format is unknown, or cannot hold elements of this dtype.
    """
    path = Path(path)
    kind = FORMATS.get(suffix(path))
    if kind not in WRITERS:
        raise SemiringError(f"{path}: a matrix is written as {', '.join('.' + w for w in WRITERS)}")
    if M.dtype.hasobject and kind not in ("csv", "tsv"):
        raise SemiringError(f"{path}: elements of {M.semiring.name} are Python objects, which only .csv and .tsv hold")
    if M.dtype.names and kind == "mtx":
        raise SemiringError(f"{path}: elements of {M.semiring.name} are records, which .npz and .csv hold, .mtx not")
    WRITERS[kind](path, M)


def _kind(path: Path, format: str | None) -> str:
    if format is not None:
        if format not in READERS:
            raise GraphError(
                f"no format is called {format!r}{near(format, list(READERS))}; known: {', '.join(READERS)}"
            )
        return format
    found = suffix(path)
    if found not in FORMATS:
        ending = f"ends in {found!r}" if found else "has no ending"
        raise GraphError(f"{path} {ending}; graphs are read from {', '.join(FORMATS)}: pass format= to say what it is")
    return FORMATS[found]
