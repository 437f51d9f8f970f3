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
from semiring.graphs.order import over_vertices
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

    The file is opened and read once, so it may also be a pipe.

    Parameters
    ----------
    path : path or file object
        Files compressed by gzip, bzip2 or xz are decompressed. An open file or a ``BytesIO`` is read from its current
        position to its end; its format follows from its name, if it has one, or from `format`.

        - .mtx: Matrix Market. Vertices count from 0 in the graph. A symmetric matrix is an undirected graph; a
          skew-symmetric or hermitian matrix has an edge each way.
        - .csv, .tsv, .txt, .edges, .edgelist, .el: one edge per line (from, to and perhaps a weight), with or without
          a line of column names; or two vertices and a dict, as networkx.write_edgelist writes it. Lines that begin
          with # or % are comments; after the first edge, such a line is an edge if it has as many fields and no blank
          after the mark. If all vertices are integers they are positions (names if the integers are far apart, see
          `as_graph`; `Graph.compact` closes gaps); otherwise they are names. An integer has one spelling, in ASCII
          without sign or leading zeros: 007 makes all vertices names.

          If the first field is empty, the file is the table of a matrix, as `write_matrix` and data frames write it:
          vertices in the first line and column, empty cells for no edge; a label in quotation marks is a text. If no
          cell off the diagonal is empty, 0 and ±∞ off the diagonal mean no edge.

          A square of plain numbers, as `numpy.savetxt` writes it, is read like .npy. If it could be edges as well, it
          is refused, as by `as_graph`, unless `header`, `weight`, `source` or `format` say that it is edges, or
          `absent` says that it is a matrix.
        - .gr: DIMACS shortest paths. Vertices count from 0 in the graph.
        - .npy: a square matrix, in which 0, NaN and ±∞ mean no edge unless `write_matrix` wrote it; or an array of
          edges with shape (m, 2) or (m, 3), if it is not square.
        - .npz: a file of `scipy.sparse.save_npz` or `write_matrix`, or arrays row, col and data (or sources, targets
          and weights; optionally n and names).
        - .graphml: one graph, including graphs nested in its vertices, such as groups of yEd. If all ids are integers
          they become integers. If only some edges are directed, the others go each way.
        - .gml, and .net or .pajek: GML and Pajek. Vertices are called by their labels if they have labels, otherwise
          by their ids, which count from 1 in Pajek. In Pajek, ``*Arcs``, ``*Edges``, ``*Arcslist``, ``*Edgeslist`` and
          ``*Matrix`` are read, for one relation.
        - .parquet, .pq: Parquet, through PyArrow: a file of `write_matrix`, or one edge per row, with columns as in a
          data frame.
    format : str, optional
        One of csv, tsv, txt, edges, mtx, gr, npy, npz, graphml, gml, pajek, parquet, if the ending of the path does not
        say it.
    directed : bool, optional
        Whether edges go one way. Default: what the file says, or True. Symmetric matrices and undirected GraphML graphs
        stay undirected with True.
    weight : str, int, sequence of them or None
        The column (by name, or by number from 0) or edge attribute that holds the weights. Default: the one called
        weight, else the only one, or the only one of numbers besides ids and keys. Several columns of a list of edges,
        or attributes in GraphML, make records with these components, for algebras with as many components; they are
        matched by name if the names agree, otherwise by order. None: ignore weights.
    header : bool, optional
        Whether the first line of a list of edges names its columns. Default: True if it has known names (those of
        `as_graph`), or no number where the next line has a number.
    names : str, optional
        ``names=str``: all vertices are names, even if they look like numbers. Not for arrays.
    source, target : str or int, optional
        The columns with the ends of edges in a list of edges or in Parquet, by name or by number from 0. Default: the
        columns with known names, as in `as_graph`; otherwise the first two, if there are no others but a weight, or if
        columns have no names.
    absent : float, optional
        The number that means no edge in a matrix that writes every entry, such as ``absent=0``; NaN if every entry that
        is written is an edge. Empty cells of a table always mean no edge. Default: see the formats.
    label : str, optional
        The attribute that names vertices in GML, such as ``label="id"`` if labels repeat; in Pajek ``"id"`` or
        ``"label"``.
    decimal : {".", ","}
        The decimal mark of weights in text.
    compact : bool
        True: leave out vertices without edges, as `Graph.compact` does: vertex 0 of lists that count from 1, and gaps.

    Returns
    -------
    Graph
        Weights are int64 if all are integers of that size, otherwise float64 (complex128 if a Matrix Market file says
        so). Weights of a binary file keep their dtype.

    Raises
    ------
    GraphError
        The file does not exist or cannot be parsed; the message gives the line, what was found and what was expected.
        An option has no meaning for the format.
    SemiringError
        The file is Parquet and PyArrow is not installed.

    Warns
    -----
    SemiringWarning
        The first line was read as column names or as an edge, and later lines contradict that (`header=` decides). A
        line that begins like a comment was read as an edge. Vertices from 0 on have no edges, as in lists that count
        from 1 (`compact=` leaves them out). A matrix holds 0 and ±∞, or 0 and empty cells, or 0 although another
        element means no edge (`absent=` decides).

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
    """Read a matrix over an algebra from a file.

    Parameters
    ----------
    path : path or file object
        - A file of `write_matrix`: elements, names and dtype are as they were. Tables (.csv, .tsv) do not store the
          dtype: integers become int64 and floats float64, unless `dtype` says otherwise.
        - Another .npy file with a square array, a table, or a square of plain numbers: its entries are the elements.
          Over truth values, and with ``absent=``, it is read as a graph.
        - Any other file that `read_graph` reads: the graph's matrix, as `adjacency` makes it.
    S : Semiring or str
        The algebra. If the file was written over another algebra, its edges and weights are used.
    dtype : dtype or what `numpy.dtype` takes, optional
        Default: the dtype that the file states, otherwise the one that the algebra uses for these weights.
    format : str, optional
        As for `read_graph`.
    **options : optional
        The other options of `read_graph`.

    Returns
    -------
    Matrix

    Raises
    ------
    GraphError
        As `read_graph`; or an entry is not an element of the algebra, with its place.
    SemiringError
        The algebra is unknown or does not support the dtype, or the matrix would not fit in memory.
    TypeError
        An option does not exist.

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
            raise GraphError(f"{shown(path)} holds a matrix, and compact= is for graphs: leave it out")
        return M
    graph = _graph(form, path, data, said)
    if wanted is None and form.noted is not None:
        noted = form.noted(path, data, S)
        wanted = noted if noted in S.dtypes else None
        if wanted is not None and graph.weights is not None:
            graph = replace(graph, weights=whole_again(graph.weights, np.zeros((), wanted)))
    return adjacency(graph, S, dtype=wanted, weight=None if said.weight is None else "weight")


def parse_graph(name: Path, data: bytes, format: str, options: Options) -> Graph:
    """Return the graph of bytes that were not read from a path; messages call them by a name."""
    form = format_of(name, format)
    return _graph(form, name, data, accepted(name, form, options))


def _graph(form: Format, name: Path, data: bytes, options: Options) -> Graph:
    graph = form.read(name, data, options)
    return graph.compact() if options.compact else graph


def write_matrix(path: str | os.PathLike[str] | IO[Any], M: Matrix, *, format: str | None = None) -> None:
    """Write a matrix to a file, in the format of the path's ending.

    Parameters
    ----------
    path : path or file object
        - .npy: the array, followed by the zero and the names, which `numpy.load` ignores.
        - .npz: the array, the zero, the names and the name of the algebra.
        - .csv, .tsv: a table with vertices in the first line and column, and an empty cell for the algebra's zero.
          Names that could be read as something else, such as "7", are in quotation marks.
        - .mtx: Matrix Market, with the entries that are not zero; dtype and names are in comments.
        - .parquet, .pq: Parquet, through PyArrow: columns from, to and weight (one for each component of records), a
          row for each entry that is not zero; vertices and dtype are in the metadata.
        - .graphml, .gml, and .net or .pajek: GraphML, GML and Pajek, with an edge for each entry that is not zero. A
          comment states the dtype and whether names are integers. Weights in Pajek are floats.
        - .gr: DIMACS, with an arc for each entry that is not zero; only integer lengths, and no names.

        A further .gz, .bz2 or .xz compresses the file. An open file is written from its current position; for a text
        format it may be open in text mode.
    M : Matrix
    format : str, optional
        One of csv, tsv, mtx, gr, npy, npz, graphml, gml, pajek, parquet, if the ending of the path does not say it.

    Raises
    ------
    GraphError
        An element is NaN; the message names its place.
    SemiringError
        M is not a Matrix, the format is unknown or cannot hold these elements or a name, or PyArrow is missing.
    OSError
        The file cannot be written; the old file, if there was one, is unchanged.

    Warns
    -----
    SemiringWarning
        Names that are neither texts nor integers become texts; in .npy and .npz integers do too, if other names are
        texts.

    Notes
    -----
    `read_matrix` returns the same matrix, bit by bit except for the sign of 0 if 0 is the algebra's zero. For a table,
    pass it the dtype if that is not int64 or float64. Floats are written as the shortest text that reads back as the
    same number.

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
        raise SemiringError(f"M must be a Matrix, which knows its algebra, not {type(M).__name__}: pass "
                            "sr.Matrix(array, S) or sr.adjacency(graph, S)")
    M = over_vertices(M, "M", ": files have one list of names, so write the entries, M.to_frame(), by your library of "
                              "data frames, or the elements, M.to_numpy(), by numpy.save").hold("dense")
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
    """The two vertices of an entry, by its flat index."""
    return " → ".join(quoted(v if M.names is None else M.names[v]) for v in divmod(i, M.n))
