"""Graphs from files and matrices to files, in the format that the path ends in."""

from __future__ import annotations

import dataclasses
import lzma
import os
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import DTypeLike

from semiring.algebra.by_name import algebra
from semiring.algebra.semiring import Semiring
from semiring.errors import GraphError, SemiringError
from semiring.graphs.adjacency import adjacency
from semiring.graphs.columns import WeightColumns
from semiring.graphs.exports import as_declared
from semiring.graphs.graph import Graph
from semiring.graphs.matrix import Matrix
from semiring.graphs.names import near
from semiring.graphs.texts import quoted, shown
from semiring.graphs.weights import refuse_nan

from . import matrix_market, notes, parquet
from .archives import matrix_of_npz, read_npz
from .arrays import matrix_of_npy, read_npy, whole_again
from .gml import read_gml
from .graph_writers import write_dimacs, write_gml, write_graphml, write_pajek
from .graphml import read_graphml
from .pajek import read_pajek
from .streams import OPENERS, Opened, read_bytes, suffix
from .tables import matrix_of_text, read_lines
from .text import Options, read_dimacs
from .writers import write_mtx, write_npy, write_npz, write_parquet, write_table

FORMATS = {
    ".csv": "csv", ".tsv": "tsv", ".txt": "edges", ".edges": "edges", ".edgelist": "edges", ".el": "edges",
    ".mtx": "mtx", ".gr": "gr", ".npy": "npy", ".npz": "npz", ".graphml": "graphml",
    ".gml": "gml", ".net": "pajek", ".pajek": "pajek", ".parquet": "parquet", ".pq": "parquet",
}


READERS: dict[str, Callable[[Path, bytes, Options], Graph]] = {
    "csv": read_lines, "tsv": read_lines, "edges": read_lines, "mtx": matrix_market.read_mtx, "gr": read_dimacs,
    "npy": read_npy, "npz": read_npz, "graphml": read_graphml, "gml": read_gml, "pajek": read_pajek,
    "parquet": parquet.read_parquet,
}
# what a file says of a matrix, and a graph does not hold
WHOLE: dict[str, Callable[[Path, bytes, Semiring, np.dtype | None, Options], Matrix | None]] = {
    "csv": matrix_of_text, "tsv": matrix_of_text, "edges": matrix_of_text, "npy": matrix_of_npy,
    "npz": matrix_of_npz, "parquet": parquet.matrix_of_parquet,
}
NOTED: dict[str, Callable[[Path, bytes, Semiring], np.dtype | None]] = {
    "mtx": matrix_market.noted_dtype, "parquet": parquet.noted_dtype, "graphml": notes.noted_dtype,
    "gml": notes.noted_dtype, "pajek": notes.noted_dtype, "gr": notes.noted_dtype,
}
# formats that others read, by ending: what makes of the path something that a verb takes
ELSEWHERE = {
    ".gexf": "networkx.read_gexf({})",
    ".dot": "networkx.nx_pydot.read_dot({})", ".gv": "networkx.nx_pydot.read_dot({})",
    ".adjlist": "networkx.read_adjlist({}, create_using=networkx.DiGraph)",
    ".multiadj": "networkx.read_multiline_adjlist({}, create_using=networkx.DiGraph)",
    ".json": "networkx.node_link_graph(json.load(open({})))",
    ".g6": "networkx.read_graph6({})", ".s6": "networkx.read_sparse6({})",
    ".leda": "networkx.read_leda({})", ".p2g": "networkx.read_p2g({})",
    ".pickle": "pickle.load(open({}, 'rb'))", ".pkl": "pickle.load(open({}, 'rb'))",
    ".xlsx": "pandas.read_excel({})", ".xls": "pandas.read_excel({})", ".ods": "pandas.read_excel({})",
    ".feather": "pandas.read_feather({})", ".arrow": "pandas.read_feather({})",
    ".mat": "scipy.io.loadmat({})['NAME']",
}
MORE = {
    ".json": "; of other keys than nodes and edges, see networkx.node_link_graph",
    ".mat": "; NAME is what the matrix is called there",
}
UNPACKED = (".zip", ".tar", ".tgz", ".7z", ".rar", ".zst", ".lz4")  # archives and compressions that are not undone
LISTS = ("csv", "tsv", "edges")  # formats that may have a line of column names, and name vertices as they like
NAMED = (*LISTS, "graphml", "gml", "pajek", "parquet")  # formats whose vertices and attributes have names
LISTED = (".edges", ".edgelist", ".el")  # endings of lists of edges, where .csv, .tsv and .txt may be matrices
LABELLED = ("gml", "pajek")
MATRICES = (*LISTS, "mtx", "npy", "npz", "pajek", "parquet")  # formats that may write every entry of a matrix
WRITERS: dict[str, Callable[[Path, Matrix], None]] = {
    "npy": write_npy, "npz": write_npz, "csv": write_table, "tsv": partial(write_table, separator="\t"),
    "mtx": write_mtx, "parquet": write_parquet, "graphml": write_graphml, "gml": write_gml, "pajek": write_pajek,
    "gr": write_dimacs,
}
GRAPHS = ("graphml", "gml", "pajek", "gr")  # formats of graphs, whose edges have one plain number each


def read_graph(
    path: str | os.PathLike[str] | IO[Any],
    *,
    format: str | None = None,
    directed: bool | None = None,
    weight: WeightColumns = "weight",
    header: bool | None = None,
    names: type[str] | None = None,
    source: str | int | None = None,
    target: str | int | None = None,
    absent: float | None = None,
    label: str | None = None,
    decimal: str = ".",
    compact: bool = False,
) -> Graph:
    """Read a graph from a file.

    A file is opened and read once, so that it may also be a pipe.

    Parameters
    ----------
    path : path or file object
        What gzip, bzip2 or xz have compressed is decompressed on the way. An open file or a `BytesIO` is read from
        where it stands to its end; its format is that of its name, if it has one, else `format`.

        - .mtx: Matrix Market; vertices count from 0 here, a symmetric matrix is an undirected graph, a skew-symmetric
          or hermitian one has an edge each way;
        - .csv, .tsv, .txt, .edges, .edgelist, .el: one edge a line, from, to and perhaps a weight, with or
          without a line of column names, or two vertices and a dict, as networkx.write_edgelist writes it. Lines that
          begin with # or % are comments; behind the first edge those with as many fields, and no blank behind the
          mark, are edges. Vertices are positions if all
          are integers (names if those are far apart, see `as_graph`; `Graph.compact` closes gaps), else names.
          An integer has one spelling, in ASCII without sign or leading zeros: 007 makes all vertices names. Or, where
          the first field is empty, the table of a matrix, as `write_matrix` and data frames write it: vertices in the
          first line and column, empty cells where there is no edge; a label in quotation marks is a text. Where no cell
          is empty, but on the diagonal, 0 and ±∞ off it mean no edge. Or a square of plain numbers, as `numpy.savetxt`
          writes it, which is read as .npy; one that could be edges as well is refused, as by `as_graph`, unless
          `header`, `weight`, `source` or `format` say that it is edges, or `absent` that it is a matrix;
        - .gr: DIMACS shortest paths; vertices count from 0 here;
        - .npy: a square matrix, in which 0, NaN and ±∞ mean no edge unless `write_matrix` wrote it, or an array of
          edges, shape (m, 2) or (m, 3), but not square;
        - .npz: what `scipy.sparse.save_npz` or `write_matrix` wrote, or arrays row, col and data (or sources,
          targets and weights; with n and names if they like);
        - .graphml: one graph; what is nested in its vertices, as groups of yEd are, belongs to it. Ids that are all
          integers become integers. Where some edges are directed and others are not, these go each way;
        - .gml, and .net or .pajek: GML and Pajek. Vertices are called by their labels, if they have some, else by
          their ids; those of Pajek count from 1 there. Of the sections of Pajek, ``*Arcs``, ``*Edges``,
          ``*Arcslist``, ``*Edgeslist`` and ``*Matrix`` are read, of one relation;
        - .parquet, .pq: Parquet, through PyArrow: what `write_matrix` wrote, or an edge a row, with columns as those of
          a data frame.
    format : str, optional
        One of csv, tsv, edges, mtx, gr, npy, npz, graphml, gml, pajek, parquet, where the ending of the path does not
        say.
    directed : bool, optional
        Whether edges go one way. Default: what the file says, directed if it says nothing. True does not make a
        symmetric matrix or an undirected GraphML graph directed.
    weight : str, int, sequence of them or None
        The column, by its name or its number from 0, or edge attribute that holds the weights. Default: the one called
        weight, else the only one there is, or the only one of numbers, beside ids and keys. Several columns of a list
        of edges, or attributes in GraphML, make records, whose components are called as they are: for algebras with as
        many components, which take them in their order (by name, where these are the names of the components). None:
        leave the weights out.
    header : bool, optional
        Whether the first line of a list of edges names its columns. Default: it does if it has names that are known
        (those of `as_graph`), or no number where the next line has one.
    names : str, optional
        ``names=str``: vertices of formats other than arrays are names, whatever they look like.
    source, target : str or int, optional
        The columns of a list of edges, or of Parquet, that hold the ends, by their names or their numbers from 0.
        Default: those whose names say so, as for `as_graph`; else the first two, if there are no more than these and
        a weight, or columns have no names.
    absent : float, optional
        The number that means no edge in a matrix whose every entry is written, as ``absent=0``; NaN for one in which
        all that is written is an edge. Empty cells of a table mean none in any case. Default: see the formats.
    label : str, optional
        The attribute of vertices in GML that they are called by, as ``label="id"`` where labels are not all different;
        in Pajek ``"id"`` or ``"label"``.
    decimal : {".", ","}
        What stands before the decimals of weights in text.
    compact : bool
        True: vertices without edges are left out, as by `Graph.compact`: vertex 0 of lists that count from 1, and gaps.

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
    SemiringError
        PyArrow, which reads Parquet, is not installed.

    Warns
    -----
    SemiringWarning
        The first line was read as names of columns or as an edge, and what follows contradicts it; `header=`
        settles it. A line that begins as comments do was read as an edge. Vertices from 0 on have no edges, as in lists
        that count from 1; `compact=` leaves them out. A matrix holds 0 and
        ±∞, or 0 and empty cells, or 0 where another element means no edge; `absent=` says what does.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import semiring as sr
    >>> sr.read_graph(files("semiring.data") / "minnesota_roads.csv", directed=False)
    Graph(2642 vertices, 3303 edges, undirected, weights float64)
    """
    file, name = named(path)
    kind = _kind(name, format)
    said = Options(directed, weight, header, names, source, target, absent, label, decimal, compact)
    options = _options(name, kind, said, format)
    graph = READERS[kind](name, read_file(file, name), options)
    return graph.compact() if compact else graph


def read_matrix(
    path: str | os.PathLike[str] | IO[Any],
    S: Semiring | str,
    *,
    dtype: DTypeLike | None = None,
    format: str | None = None,
    **options: Any,
) -> Matrix:
    """Read a matrix over an algebra from a file: what `write_matrix` wrote as it was, of any other its graph's matrix.

    Parameters
    ----------
    path : path or file object
        - What `write_matrix` wrote: elements, names and dtype are as they were. Tables (.csv, .tsv) do not tell their
          dtype: integers become int64 and floats float64, where `dtype` says nothing else.
        - Another .npy file of a square array, a table or a square of plain numbers: its elements, taken literally; over
          truth values, and with ``absent=``, the matrix of its graph.
        - All that `read_graph` reads: the graph's matrix, as `adjacency` makes it.
    S : Semiring or str
        That of the matrix; over another one, edges and their weights are taken over.
    dtype : dtype or what `numpy.dtype` takes, optional
        Of the matrix. Default: that of the file, as far as it tells, else what the algebra uses for its weights.
    format : str, optional
        As for `read_graph`.
    **options : optional
        Those of `read_graph`.

    Returns
    -------
    Matrix

    Raises
    ------
    GraphError
        As `read_graph`, and for what is not an element of the algebra, with its place.
    SemiringError
        The algebra is unknown, or cannot live in the dtype; or the matrix would not fit in memory.
    TypeError
        For an option that does not exist.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import semiring as sr
    >>> M = sr.adjacency([("a", "b", 3.0), ("b", "007", 0.0)], sr.min_plus)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sr.write_matrix(Path(folder) / "roads.csv", M)
    ...     again = sr.read_matrix(Path(folder) / "roads.csv", sr.min_plus)
    >>> again.names, bool((again == M).all())
    (['a', 'b', '007'], True)
    """
    S, (file, path) = algebra(S), named(path)
    wanted = None if dtype is None else S.resolve_dtype(np.dtype(dtype))
    kind = _kind(path, format)
    said = _options(path, kind, Options(**options), format)
    data = read_file(file, path)
    if kind in WHOLE and (M := WHOLE[kind](path, data, S, wanted, said)) is not None:
        if said.compact:
            raise GraphError(f"{shown(path)} holds a matrix, whose vertices all stay: compact= is for graphs")
        return M
    graph = READERS[kind](path, data, said)
    graph = graph.compact() if said.compact else graph
    if wanted is None and kind in NOTED:
        noted = NOTED[kind](path, data, S)
        wanted = noted if noted in S.dtypes else None
        if wanted is not None and graph.weights is not None:
            graph = replace(graph, weights=whole_again(graph.weights, np.zeros((), wanted)))
    return adjacency(graph, S, dtype=wanted, weight=None if said.weight is None else "weight")


def parse_graph(name: Path, data: bytes, format: str, options: Options) -> Graph:
    """The graph of what was read from elsewhere than a file, which has a name in messages."""
    kind = _kind(name, format)
    graph = READERS[kind](name, data, _options(name, kind, options, format))
    return graph.compact() if options.compact else graph


def named(path: str | os.PathLike[str] | IO[Any]) -> tuple[Path | IO[Any], Path]:
    """A file, and what messages call it, whose ending says the format.

    Raises
    ------
    GraphError
        For bytes.
    """
    if hasattr(path, "read") or hasattr(path, "write"):
        name = getattr(path, "name", None)
        return cast(IO[Any], path), Path(name if isinstance(name, str) else f"<{type(path).__name__}>")
    if isinstance(path, (bytes, bytearray, memoryview)):
        raise GraphError(f"{type(path).__name__} are not a path: give io.BytesIO(data) for what a file holds")
    found = Path(path)
    return found, found


def read_file(file: Path | IO[Any], name: Path) -> bytes:
    """All that a file holds, decompressed."""
    if isinstance(file, Path):
        if file.is_dir():
            raise GraphError(f"{shown(file)} is a folder: give a file in it")
        if not file.exists():
            siblings = sorted(p.name for p in file.parent.iterdir()) if file.parent.is_dir() else []
            raise GraphError(f"there is no file {shown(file)}{near(file.name, siblings)}")
    try:
        data = read_bytes(file, name)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as e:
        raise GraphError(f"{shown(name)} cannot be read: {shown(e)}") from None
    except ValueError as e:  # of file objects: closed, or opened as text and not UTF-8
        raise GraphError(f"{shown(name)} cannot be read: {shown(e)}; open it by open(path, 'rb')") from None
    if not data:
        behind = not isinstance(file, Path) and file.seekable() and file.tell() > 0
        raise GraphError(f"{shown(name)} is empty{' from where it stands; seek(0) goes to its beginning' * behind}")
    return data


def _options(path: Path, kind: str, options: Options, format: str | None) -> Options:
    """What the caller says, if the format has a meaning for it."""
    listed = format == "edges" or (format is None and suffix(path) in LISTED)
    options = dataclasses.replace(options, listed=listed)
    if options.header is not None and kind not in LISTS:
        raise GraphError(f"{shown(path)}: header= is for lists of edges ({', '.join(LISTS)}), not for {kind}")
    for what, given, kinds in (
        ("source= and target= are", (options.source, options.target) != (None, None), (*LISTS, "parquet")),
        ("several weights are", isinstance(options.weight, (list, tuple)), NAMED),
        ("label= is", options.label is not None, LABELLED),
        ("decimal= is", options.decimal != ".", LISTS),
        ("absent= is", options.absent is not None, MATRICES),
    ):
        if given and kind not in kinds:
            which = {LABELLED: "formats whose vertices have labels", MATRICES: "matrices"}.get(kinds, "lists of edges")
            raise GraphError(f"{shown(path)}: {what} for {which} ({', '.join(kinds)}), not for {kind}")
    if isinstance(options.weight, (list, tuple)) and not options.weight:
        raise GraphError("weight=[] names no column: pass weight=None to leave the weights out")
    if options.decimal not in (".", ","):
        raise GraphError(f"decimal={quoted(options.decimal)}: decimals stand behind '.' or ','")
    if options.names not in (None, str):
        raise GraphError(f"names={quoted(options.names)}: pass names=str to read all vertices as names")
    if options.names is str and kind not in NAMED:
        raise GraphError(f"{shown(path)}: names=str is for {', '.join(NAMED)}; in {kind} vertices are numbers")
    return options


def write_matrix(path: str | os.PathLike[str] | IO[Any], M: Matrix, *, format: str | None = None) -> None:
    """Write a matrix to a file, in the format that the path ends in.

    Parameters
    ----------
    path : path or file object
        - .npy: the array, and behind it the zero and the names, which `numpy.load` leaves;
        - .npz: the array, the zero, the names and the name of the algebra;
        - .csv, .tsv: a table with vertices in the first line and column; the algebra's zero is an empty cell. Names are
          in quotation marks where they could be read as something else, as "7" could;
        - .mtx: Matrix Market, the entries that are not zero; the dtype and the names are comments;
        - .parquet, .pq: Parquet, through PyArrow: columns from, to and weight, or one for each component of records, a
          row for each entry that is not zero; what vertices there are, and the dtype, stand beside the columns;
        - .graphml, .gml, and .net or .pajek: GraphML, GML and Pajek, an edge for each entry that is not zero. A comment
          says of which dtype weights and of which kind names are. Pajek's weights are floats;
        - .gr: DIMACS, an arc for each entry that is not zero; lengths are whole numbers, and vertices have no names.

        A further .gz, .bz2 or .xz compresses. An open file is written to from where it stands, one that was opened as
        text if the format is text.
    M : Matrix
    format : str, optional
        One of npy, npz, csv, tsv, mtx, parquet, graphml, gml, pajek, gr, where the ending of the path does not say.

    Raises
    ------
    GraphError
        An element is NaN; the message names its place.
    SemiringError
        M is not a Matrix; the format is unknown, or cannot hold elements of this dtype or a name; there is no PyArrow.
    OSError
        The file cannot be written; what was there is as it was.

    Warns
    -----
    SemiringWarning
        Names that are neither texts nor integers become texts; in .npy and .npz integers do, where others are texts.

    Notes
    -----
    `read_matrix` reads back what was written, to the bit but for the sign of 0 where that is the algebra's zero; of a
    table it has to be told the dtype, where that is not int64 or float64. Texts of floats are the shortest that read
    back as the same number.

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
    if not isinstance(M, Matrix):
        raise SemiringError(f"M must be a Matrix, which knows what an absent edge is, and is of type "
                            f"{type(M).__name__}: sr.Matrix(array, S) and sr.adjacency(graph, S) make one")
    file, path = named(path)
    if not isinstance(file, Path):
        path = Opened(path)
        path.file = file
    kind = FORMATS.get(suffix(path)) if format is None else format
    if kind not in WRITERS and format is not None:
        raise SemiringError(f"no format is called {quoted(format)}{near(format, list(WRITERS))}; a matrix is written "
                            f"as {', '.join(WRITERS)}")
    if kind not in WRITERS:
        known = ", ".join(ending for ending, form in FORMATS.items() if form in WRITERS and form not in LISTS[2:])
        raise SemiringError(f"{shown(path)}: a matrix is written as {known}: pass format= where the name does not say")
    if M.dtype.hasobject and kind not in ("csv", "tsv"):
        which = "Python objects, which only .csv and .tsv hold"
        raise SemiringError(f"{shown(path)}: elements of {M.semiring.name} are {which}")
    if M.dtype.names and kind in ("mtx", *GRAPHS):
        which = f"records, which .npz, .csv, .tsv and .parquet hold, {suffix(path)} not"
        raise SemiringError(f"{shown(path)}: elements of {M.semiring.name} are {which}")
    if M.dtype.kind == "c" and kind in GRAPHS:
        which = f"complex, which .npz, .csv, .tsv and .mtx hold, {suffix(path)} not"
        raise SemiringError(f"{shown(path)}: elements of {M.semiring.name} are {which}")
    if M.dtype.kind != "O":
        refuse_nan(M.array.reshape(-1), lambda i: f"{shown(path)}: entry {_entry(M, i)}", "element")
    WRITERS[kind](path, Matrix(as_declared(M.array, M.semiring), M.semiring, M.names))


def _entry(M: Matrix, i: int) -> str:
    """The two vertices of an entry."""
    return " → ".join(quoted(v if M.names is None else M.names[v]) for v in divmod(i, M.n))


def _kind(path: Path, format: str | None) -> str:
    if format is not None:
        if format not in READERS:
            _refuse_known(path, f".{str(format).lower()}")
            raise GraphError(
                f"no format is called {quoted(format)}{near(format, list(READERS))}; known: {', '.join(READERS)}"
            )
        return format
    found = suffix(path)
    if found not in FORMATS:
        ending = f"ends in {quoted(found)}" if found else "has no ending"
        _refuse_known(path, found)
        known = f"graphs are read from {', '.join(FORMATS)}"
        raise GraphError(f"{shown(path)} {ending}; {known}: pass format= to say what it is")
    return FORMATS[found]


def _refuse_known(path: Path, ending: str) -> None:
    """Say what reads a format that is not read here, where there is something.

    Raises
    ------
    GraphError
    """
    if ending in ELSEWHERE:
        call = ELSEWHERE[ending].format(repr(str(path)))
        library = call.partition(".")[0].replace("networkx", "NetworkX")
        raise GraphError(f"{shown(path)}: {ending} is not read here; {library} reads it: sr.closure({call}, S), for "
                         f"example{MORE.get(ending, '')}")
    if ending in UNPACKED:
        raise GraphError(f"{shown(path)} is an archive: unpack it; {', '.join(OPENERS)} are decompressed here")
