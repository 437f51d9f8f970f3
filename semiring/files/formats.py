"""Graphs from files and matrices to files, in the format that the path ends in."""

from __future__ import annotations

import lzma
import os
import zlib
from collections.abc import Callable
from pathlib import Path

from semiring.errors import GraphError, SemiringError
from semiring.graphs.edges import WeightColumns
from semiring.graphs.graph import Graph
from semiring.graphs.matrix import Matrix
from semiring.graphs.names import near
from semiring.graphs.texts import quoted, shown

from .archives import read_npz
from .arrays import read_npy
from .graphml import read_graphml
from .matrix_market import read_mtx
from .streams import read_bytes, suffix
from .text import Options, read_dimacs, read_edges
from .writers import write_mtx, write_npy, write_npz, write_table

FORMATS = {
    ".csv": "csv", ".tsv": "tsv", ".txt": "edges", ".edges": "edges", ".edgelist": "edges", ".el": "edges",
    ".mtx": "mtx", ".gr": "gr", ".npy": "npy", ".npz": "npz", ".graphml": "graphml",
}
READERS: dict[str, Callable[[Path, bytes, Options], Graph]] = {
    "csv": read_edges, "tsv": read_edges, "edges": read_edges, "mtx": read_mtx, "gr": read_dimacs,
    "npy": read_npy, "npz": read_npz, "graphml": read_graphml,
}
LISTS = ("csv", "tsv", "edges")  # formats that may have a line of column names, and name vertices as they like
WRITERS: dict[str, Callable[[Path, Matrix], None]] = {
    "npy": write_npy, "npz": write_npz, "csv": write_table, "tsv": write_table, "mtx": write_mtx,
}


def read_graph(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    directed: bool | None = None,
    weight: WeightColumns = "weight",
    header: bool | None = None,
    names: type[str] | None = None,
    source: str | int | None = None,
    target: str | int | None = None,
) -> Graph:
    """Read a graph from a file.

    A file is opened and read once, so that it may also be a pipe.

    Parameters
    ----------
    path : path
        Files that end in .gz, .bz2 or .xz are decompressed on the way.

        - .mtx: Matrix Market; vertices count from 0 here, a symmetric matrix is an undirected graph, a skew-symmetric
          or hermitian one has an edge each way;
        - .csv, .tsv, .txt, .edges, .edgelist, .el: one edge a line, from, to and perhaps a weight, with or
          without a line of column names; lines that begin with # or % are comments. Vertices are positions if all
          are integers (names if those are far apart, see `as_graph`; `Graph.compact` closes gaps), else names.
          An integer has one spelling, in ASCII without sign or leading zeros: 007 makes all vertices names;
        - .gr: DIMACS shortest paths; vertices count from 0 here;
        - .npy: a square matrix, in which 0, NaN and ±∞ mean no edge unless `write_matrix` wrote it, or an array of
          edges, shape (m, 2) or (m, 3), but not square;
        - .npz: what `scipy.sparse.save_npz` or `write_matrix` wrote, or arrays row, col and data (or sources,
          targets and weights; with n and names if they like);
        - .graphml: one graph without nested ones; ids that are all integers become integers.
    format : str, optional
        One of csv, tsv, edges, mtx, gr, npy, npz, graphml, where the ending of the path does not say.
    directed : bool, optional
        Whether edges go one way. Default: what the file says, directed if it says nothing. True does not make a
        symmetric matrix or an undirected GraphML graph directed.
    weight : str, int, sequence of them or None
        The column (counted from 0 where columns have no names) or edge attribute that holds the weights. Default:
        the one called weight, else the only one there is. Several columns of a list of edges, or attributes in
        GraphML, make records, whose components are called as they are: for algebras with as many components, which take
        them in their order (by name, where these are the names of the components). None: leave the weights out.
    header : bool, optional
        Whether the first line of a list of edges names its columns. Default: it does if it has names that are known
        (from and to, source and target, src and dst, u and v), or no number where the next line has one.
    names : str, optional
        ``names=str``: vertices of lists of edges and of GraphML are names, whatever they look like.
    source, target : str or int, optional
        The columns of a list of edges that hold the ends. Default: those with names that are known, else the first two
        that hold no weights.

    Returns
    -------
    Graph
        Weights are int64 where all are integers of that size, else float64 (complex128 where a Matrix Market file says
        so); those of a binary file keep their dtype.

    Raises
    ------
    GraphError
        The file does not exist or does not parse; the message gives the line, what is there and what should be. An
        option has no meaning for the format.

    Warns
    -----
    SemiringWarning
        The first line was read as names of columns or as an edge, and what follows contradicts it; `header=`
        settles it. A matrix in a foreign .npy file holds both 0 and ∞.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import semiring as sr
    >>> sr.read_graph(files("semiring.data") / "minnesota_roads.csv", directed=False)
    Graph(2642 vertices, 3303 edges, undirected, weights float64)
    """
    path = Path(path)
    kind = _kind(path, format)
    options = _options(path, kind, Options(directed, weight, header, names, source, target))
    return READERS[kind](path, read_file(path), options)


def parse_graph(name: Path, data: bytes, format: str, options: Options) -> Graph:
    """The graph of what was read from elsewhere than a file, which has a name in messages."""
    kind = _kind(name, format)
    return READERS[kind](name, data, _options(name, kind, options))


def read_file(path: Path) -> bytes:
    """All that a file holds, decompressed."""
    if path.is_dir():
        raise GraphError(f"{shown(path)} is a folder: give a file in it")
    if not path.exists():
        siblings = sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
        raise GraphError(f"there is no file {shown(path)}{near(path.name, siblings)}")
    try:
        data = read_bytes(path)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as e:
        raise GraphError(f"{shown(path)} cannot be read: {shown(e)}") from None
    if not data:
        raise GraphError(f"{shown(path)} is empty")
    return data


def _options(path: Path, kind: str, options: Options) -> Options:
    """What the caller says, if the format has a meaning for it."""
    if options.header is not None and kind not in LISTS:
        raise GraphError(f"{shown(path)}: header= is for lists of edges ({', '.join(LISTS)}), not for {kind}")
    for what, given in (("source= and target= are", (options.source, options.target) != (None, None)),
                        ("several weights are", isinstance(options.weight, (list, tuple)))):
        kinds = (*LISTS, "graphml") if what == "several weights are" else LISTS
        if given and kind not in kinds:
            raise GraphError(f"{shown(path)}: {what} for lists of edges ({', '.join(kinds)}), not for {kind}")
    if isinstance(options.weight, (list, tuple)) and not options.weight:
        raise GraphError("weight=[] names no column: pass weight=None to leave the weights out")
    if options.names not in (None, str):
        raise GraphError(f"names={quoted(options.names)}: pass names=str to read all vertices as names")
    if options.names is str and kind not in (*LISTS, "graphml"):
        raise GraphError(f"{shown(path)}: names=str is for lists of edges and GraphML; in {kind} vertices are numbers")
    return options


def write_matrix(path: str | os.PathLike[str], M: Matrix) -> None:
    """Write a matrix to a file, in the format that the path ends in.

    Parameters
    ----------
    path : path
        - .npy: the array, and behind it the zero, which `read_graph` finds and `numpy.load` leaves; names are not kept;
        - .npz: the array, the zero, the names and the name of the algebra; `read_graph` reads it back;
        - .csv, .tsv: a table with vertices in the first line and column; the algebra's zero is an empty cell;
        - .mtx: Matrix Market, the entries that are not zero; names are not kept.

        A further .gz, .bz2 or .xz compresses.
    M : Matrix

    Raises
    ------
    SemiringError
        The format is unknown, or cannot hold elements of this dtype or a name.
    OSError
        The file cannot be written; what was there is as it was.

    Warns
    -----
    SemiringWarning
        Names that are neither texts nor integers become texts in .npz.

    Notes
    -----
    Texts of floats are the shortest that read back as the same number; .mtx holds float16 and float32 as doubles.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import semiring as sr
    >>> M = sr.adjacency([("a", "b", 3.0), ("b", "a", 0.5)], sr.min_plus)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "roads.csv"
    ...     sr.write_matrix(file, M)
    ...     print(file.read_text(), end="")
    ,a,b
    a,,3.0
    b,0.5,
    """
    path = Path(path)
    kind = FORMATS.get(suffix(path))
    if kind not in WRITERS:
        raise SemiringError(f"{shown(path)}: a matrix is written as {', '.join('.' + w for w in WRITERS)}")
    if M.dtype.hasobject and kind not in ("csv", "tsv"):
        which = "Python objects, which only .csv and .tsv hold"
        raise SemiringError(f"{shown(path)}: elements of {M.semiring.name} are {which}")
    if M.dtype.names and kind == "mtx":
        which = "records, which .npz, .csv and .tsv hold, .mtx not"
        raise SemiringError(f"{shown(path)}: elements of {M.semiring.name} are {which}")
    WRITERS[kind](path, M)


def _kind(path: Path, format: str | None) -> str:
    if format is not None:
        if format not in READERS:
            raise GraphError(
                f"no format is called {quoted(format)}{near(format, list(READERS))}; known: {', '.join(READERS)}"
            )
        return format
    found = suffix(path)
    if found not in FORMATS:
        ending = f"ends in {quoted(found)}" if found else "has no ending"
        known = f"graphs are read from {', '.join(FORMATS)}"
        raise GraphError(f"{shown(path)} {ending}; {known}: pass format= to say what it is")
    return FORMATS[found]
