"""`read_graph`, `read_matrix` and `write_matrix`: graphs from files and matrices to files, in every format."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

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
from semiring.graphs.texts import quoted, shown
from semiring.graphs.weights import refuse_nan

from .arrays import whole_again
from .format import Format, Options
from .formats import accepted, format_of, refuse_elements
from .streams import Opened, named, read_file


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
        One of csv, tsv, txt, edges, mtx, gr, npy, npz, graphml, gml, pajek, parquet, if the ending of the path does not
        say it.
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
    options = Options(directed=directed, weight=weight, header=header, names=names, source=source, target=target,
                      absent=absent, label=label, decimal=decimal, compact=compact)
    file, name = named(path)
    form = format_of(name, format)
    options = accepted(name, form, options)
    return _graph(form, name, read_file(file, name), options)


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
    form = format_of(path, format)
    said = accepted(path, form, Options(**options))
    data = read_file(file, path)
    if form.matrix is not None and (M := form.matrix(path, data, S, wanted, said)) is not None:
        if said.compact:
            raise GraphError(f"{shown(path)} holds a matrix, whose vertices all stay: compact= is for graphs")
        return M
    graph = _graph(form, path, data, said)
    if wanted is None and form.noted is not None:
        noted = form.noted(path, data, S)
        wanted = noted if noted in S.dtypes else None
        if wanted is not None and graph.weights is not None:
            graph = replace(graph, weights=whole_again(graph.weights, np.zeros((), wanted)))
    return adjacency(graph, S, dtype=wanted, weight=None if said.weight is None else "weight")


def parse_graph(name: Path, data: bytes, format: str, options: Options) -> Graph:
    """The graph of bytes that were read from elsewhere than a file, which messages call by a name."""
    form = format_of(name, format)
    return _graph(form, name, data, accepted(name, form, options))


def _graph(form: Format, name: Path, data: bytes, options: Options) -> Graph:
    graph = form.read(name, data, options)
    return graph.compact() if options.compact else graph


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
        One of csv, tsv, mtx, gr, npy, npz, graphml, gml, pajek, parquet, if the ending of the path does not say it.

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
    form = format_of(path, format, written=True)
    refuse_elements(path, form, M)
    if M.dtype.kind != "O":
        refuse_nan(M.array.reshape(-1), lambda i: f"{shown(path)}: entry {_entry(M, i)}", "element")
    assert form.write is not None
    form.write(path, Matrix(as_declared(M.array, M.semiring), M.semiring, M.names))


def _entry(M: Matrix, i: int) -> str:
    """The two vertices of an entry."""
    return " → ".join(quoted(v if M.names is None else M.names[v]) for v in divmod(i, M.n))
