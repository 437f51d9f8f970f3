"""Graphs from files and matrices to files."""

from __future__ import annotations

import bz2
import csv
import dataclasses
import gzip
import lzma
import os
import re
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, Any, NoReturn

import numpy as np

from .errors import GraphError, SemiringError
from .graph import ENDS, Graph, Matrix, as_graph, is_same, near, pick_columns
from .memory import require

OPENERS: dict[str, Callable] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
FORMATS = {
    ".csv": "csv", ".tsv": "tsv", ".txt": "edges", ".edges": "edges", ".edgelist": "edges", ".el": "edges",
    ".mtx": "mtx", ".gr": "gr", ".npy": "npy", ".npz": "npz", ".graphml": "graphml",
}  # fmt: skip
COMMENTS = ("#", "%")
INTEGER = re.compile(r"[+-]?[0-9]+")
NPZ_ENDS = (("row", "col"), ("sources", "targets"), *ENDS)
NPZ_WEIGHTS = ("data", "weights", "weight")


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
        with _open(path, "rb") as file:
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
    kind = FORMATS.get(_suffix(path))
    if kind not in WRITERS:
        raise SemiringError(f"{path}: a matrix is written as {', '.join('.' + w for w in WRITERS)}")
    if M.dtype.hasobject and kind not in ("csv", "tsv"):
        raise SemiringError(f"{path}: elements of {M.semiring.name} are Python objects, which only .csv and .tsv hold")
    if M.dtype.names and kind == "mtx":
        raise SemiringError(f"{path}: elements of {M.semiring.name} are records, which .npz and .csv hold, .mtx not")
    WRITERS[kind](path, M)


# What a path says


def _suffix(path: Path) -> str:
    """The ending that names the format, without that of a compression."""
    endings = [ending.lower() for ending in path.suffixes]
    if endings and endings[-1] in OPENERS:
        endings.pop()
    return endings[-1] if endings else ""


def _kind(path: Path, format: str | None) -> str:
    if format is not None:
        if format not in READERS:
            raise GraphError(
                f"no format is called {format!r}{near(format, list(READERS))}; known: {', '.join(READERS)}"
            )
        return format
    suffix = _suffix(path)
    if suffix not in FORMATS:
        ending = f"ends in {suffix!r}" if suffix else "has no ending"
        raise GraphError(f"{path} {ending}; graphs are read from {', '.join(FORMATS)}: pass format= to say what it is")
    return FORMATS[suffix]


def _open(path: Path, mode: str, **options: Any) -> IO[Any]:
    return OPENERS.get(path.suffix.lower(), open)(path, mode, **options)


def _text(path: Path) -> IO[str]:
    return _open(path, "rt", encoding="utf-8-sig", newline="")


def _fail(path: Path, line: int, found: str, expected: str) -> NoReturn:
    raise GraphError(f"{path}, line {line}: found {found}, expected {expected}")


@contextmanager
def _about(where: str) -> Iterator[None]:
    """Errors of the code inside say which file, and perhaps line, they are about."""
    try:
        yield
    except GraphError as e:
        raise GraphError(f"{where}: {e}") from None


def _parsed(lines: Iterable[str], dtype: np.dtype, separator: str | None) -> np.ndarray | None:
    """Lines of numbers by NumPy's fast reader, or None if any is not just what the dtype says."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.loadtxt(lines, dtype=dtype, delimiter=separator, comments=None, ndmin=1)
        except (ValueError, Warning):
            return None


# Lists of edges. Files of plain numbers go through a fast reader; any others, and those with a mistake, line by line.


@dataclasses.dataclass(frozen=True)
class _Layout:
    """How a list of edges is written."""

    first: int  # line number of the first edge
    width: int  # columns
    separator: str | None  # None: any run of blanks
    columns: tuple[int, int, int | None]  # of the source, the target, the weight
    integers: bool  # whether the first edge has an integer weight
    undirected: bool


def _read_edges(path: Path, directed: bool | None, weight: str | int | None) -> Graph:
    layout = _layout(path, weight)
    columns = _fast_columns(path, layout) or _careful_columns(path, layout)
    graph = as_graph(tuple(columns))
    return dataclasses.replace(graph, directed=not layout.undirected if directed is None else directed)


def _layout(path: Path, weight: str | int | None) -> _Layout:
    """What the comments and the first two lines of data say."""
    undirected = False
    data: list[tuple[int, str]] = []
    with _text(path) as file:
        for number, line in enumerate(file, 1):
            text = line.strip()
            if text.startswith(COMMENTS):
                # as in the collections of SNAP and KONECT
                undirected |= text.lstrip("#% ").lower().startswith(("undirected graph", "sym "))
            elif text:
                data.append((number, line))
                if len(data) == 2:
                    break
    if not data:
        raise GraphError(f"{path} holds no edges, only comments and empty lines")
    first, line = data[0]
    separator = _separator(line)
    rows = [row for _, row in _rows(path, data, separator)]
    if len(rows[0]) < 2:
        _fail(path, first, repr(line.strip()), "a source and a target vertex")
    if rows[0][0] == "":
        _fail(path, first, "an empty first field", "a source vertex (is this a table of a matrix?)")
    names: list = list(range(len(rows[0])))
    if _is_header(rows):
        if len(data) == 1:
            raise GraphError(f"{path} holds no edges, only the line of column names {rows[0]}")
        names, first = rows.pop(0), data[1][0]
    with _about(f"{path}, line {data[0][0]}"):
        columns = pick_columns(names, weight)
    k = columns[2]
    integers = k is not None and k < len(rows[0]) and INTEGER.fullmatch(rows[0][k]) is not None
    return _Layout(first, len(names), separator, columns, integers, undirected)


def _separator(line: str) -> str | None:
    """The mark that makes most fields of a line, None for blanks."""
    mark = max("\t;,", key=line.count)
    if mark not in line:
        return None
    blanks = line.split()
    if mark == "\t" and len(blanks) > len(line.split(mark)) and all(map(_is_number, blanks)):
        return None  # numbers between blanks and tabs mixed, not names that hold blanks
    return mark


def _is_header(rows: list[list[str]]) -> bool:
    """Whether the first row names the columns: it has known names, or words where the next has a number."""
    plain = [field.lower() for field in rows[0]]
    if any(a in plain and b in plain for a, b in ENDS):
        return True
    return len(rows) == 2 and not any(map(_is_number, rows[0])) and any(map(_is_number, rows[1]))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text  # Python's digit separators are no number in a file


def _rows(path: Path, lines: Iterable[tuple[int, str]], separator: str | None) -> Iterator[tuple[int, list[str]]]:
    """The fields of numbered lines, without empty lines and comments."""
    number = 0

    def bare() -> Iterator[str]:
        nonlocal number
        for at, line in lines:
            number = at
            yield "" if line.lstrip().startswith(COMMENTS) else line

    if separator is None:
        found: Iterable[list[str]] = map(str.split, bare())
    else:
        found = csv.reader(bare(), delimiter=separator, skipinitialspace=True, strict=True)
    try:
        for row in found:
            fields = [field.strip() for field in row]
            if len(fields) > 1 or any(fields):
                yield number, fields
    except csv.Error as e:
        raise GraphError(f'{path}, line {number}: {e}; expected fields quoted by "…" in full or not at all') from None


def _fast_columns(path: Path, layout: _Layout) -> list[np.ndarray] | None:
    """The columns of a file of numbers without any fault; None for all others."""
    source, target, weight = layout.columns
    for kind in ("i8", "f8") if layout.integers else ("f8",):
        # columns that nobody asked for are read as one character
        kinds = {source: "i8", target: "i8", weight: kind}
        dtype = np.dtype([(f"c{k}", kinds.get(k, "S1")) for k in range(layout.width)])
        with _text(path) as file:
            table = _parsed(islice(file, layout.first - 1, None), dtype, layout.separator)
        if table is not None:
            columns = [table[f"c{k}"].copy() for k in layout.columns if k is not None]
            sound = columns[0].min() >= 0 and columns[1].min() >= 0 and not np.isnan(columns[-1]).any()
            return columns if sound else None
    return None


def _careful_columns(path: Path, layout: _Layout) -> list[np.ndarray]:
    """The columns, line by line, of a file with names; errors say which line is wrong."""
    texts: list[list[str]] = [[], [], []]
    lines: list[int] = []
    wanted = f"{layout.width} fields" + ("" if layout.separator is None else f" separated by {layout.separator!r}")
    with _text(path) as file:
        body = islice(enumerate(file, 1), layout.first - 1, None)
        for number, row in _rows(path, body, layout.separator):
            if len(row) != layout.width:
                _fail(path, number, f"{len(row)} fields", wanted)
            for column, k in zip(texts, layout.columns, strict=True):
                column.append("" if k is None else row[k])
            lines.append(number)
    columns = _careful_vertices(path, texts[:2], lines)
    if layout.columns[2] is not None:
        columns.append(_careful_weights(path, texts[2], lines))
    return columns


def _careful_vertices(path: Path, ends: list[list[str]], lines: list[int]) -> list[np.ndarray]:
    for what, column in zip(("source", "target"), ends, strict=True):
        if "" in column:
            _fail(path, lines[column.index("")], f"no {what} vertex", "a name or an integer")
    if not all(INTEGER.fullmatch(text) for column in ends for text in column):
        return [np.array(column, dtype=object) for column in ends]
    for what, column in zip(("source", "target"), ends, strict=True):
        for text, line in zip(column, lines, strict=True):
            if not 0 <= int(text) < 2**63:
                _fail(path, line, f"{what} vertex {text}", "an integer from 0 that fits 64 bits, or names")
    return [np.array(list(map(int, column)), dtype=np.int64) for column in ends]


def _careful_weights(path: Path, texts: list[str], lines: list[int]) -> np.ndarray:
    for text, line in zip(texts, lines, strict=True):
        if not _is_number(text) or float(text) != float(text):
            _fail(path, line, f"the weight {text!r}" if text else "no weight", "a number")
    if texts and all(map(INTEGER.fullmatch, texts)):
        values = list(map(int, texts))
        if min(values) >= -(2**63) and max(values) < 2**63:
            return np.array(values, dtype=np.int64)
    return np.array(list(map(float, texts)))


# DIMACS shortest paths: c comment, p sp n m, then m lines a source target weight, vertices from 1


def _read_dimacs(path: Path, directed: bool | None, weight: str | int | None) -> Graph:
    line, n, m = _dimacs_problem(path)
    arcs = _fast_dimacs(path, line, n)
    if arcs is None:
        arcs = _careful_dimacs(path, line, n)
    if len(arcs) != m:
        _fail(path, line, f"a problem of {m} arcs", f"the {len(arcs)} that the file holds")
    weights = None if weight is None else np.ascontiguousarray(arcs["weight"])
    return Graph(arcs["from"] - 1, arcs["to"] - 1, n, weights, directed=directed is not False)


def _dimacs_problem(path: Path) -> tuple[int, int, int]:
    with _text(path) as file:
        for number, line in enumerate(file, 1):
            words = line.split()
            if words and words[0] != "c":
                if words[:2] == ["p", "sp"] and len(words) == 4 and all(map(str.isdecimal, words[2:])):
                    return number, int(words[2]), int(words[3])
                _fail(path, number, repr(line.strip()), "'p sp VERTICES ARCS' before any arc")
    raise GraphError(f"{path} holds only comments: expected 'p sp VERTICES ARCS' and arcs")


def _fast_dimacs(path: Path, problem: int, n: int) -> np.ndarray | None:
    """The arcs of a file of integers without any fault or comment among them; None for all others."""
    with _text(path) as file:
        lines = islice(file, problem, None)
        arcs = _parsed(lines, np.dtype([("a", "S2"), ("from", "i8"), ("to", "i8"), ("weight", "i8")]), None)
    if arcs is None or not (arcs["a"] == b"a").all():
        return None
    ends = np.concatenate([arcs["from"], arcs["to"]])
    return arcs if ends.min() >= 1 and ends.max() <= n else None


def _careful_dimacs(path: Path, problem: int, n: int) -> np.ndarray:
    ends, weights, lines = [], [], []
    with _text(path) as file:
        for number, line in enumerate(file, 1):
            words = line.split()
            if number <= problem or not words or words[0] == "c":
                continue
            if words[0] != "a" or len(words) != 4:
                _fail(path, number, repr(line.strip()), "'a SOURCE TARGET WEIGHT'")
            for word in words[1:3]:
                if not INTEGER.fullmatch(word) or not 1 <= int(word) <= n:
                    _fail(path, number, f"vertex {word!r}", f"an integer from 1 to {n}")
            ends.append((int(words[1]), int(words[2])))
            weights.append(words[3])
            lines.append(number)
    values = _careful_weights(path, weights, lines)
    arcs = np.empty(len(ends), dtype=[("from", "i8"), ("to", "i8"), ("weight", values.dtype)])
    arcs["from"], arcs["to"] = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    arcs["weight"] = values
    return arcs


# Formats that other libraries read


def _through_scipy(path: Path, reader: Callable[[IO[bytes]], Any]) -> Any:
    try:
        with _open(path, "rb") as file:
            return reader(file)
    except (ValueError, OverflowError) as e:
        where = re.fullmatch(r"Line (\d+): (.*)", str(e), re.DOTALL)
        found = f", line {where[1]}: {where[2]}" if where else f": {e}"
        raise GraphError(f"{path}{found} Expected the Matrix Market format") from None


def _read_mtx(path: Path, directed: bool | None, weight: str | int | None) -> Graph:
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
    with _about(str(path)):
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
    with _about(str(path)):
        return Graph(sources, targets, len(matrix), weights, names, directed is not False)


def _read_numpy(path: Path, directed: bool | None, weight: str | int | None) -> Graph:
    from zipfile import BadZipFile

    try:
        with _open(path, "rb") as file:
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
    with _about(str(path)):
        graph = as_graph(array, directed=directed is not False)
    return graph if weight is not None else dataclasses.replace(graph, weights=None)


def _from_archive(path: Path, arrays: dict[str, np.ndarray], directed: bool | None, weight: str | int | None) -> Graph:
    names = arrays["names"].tolist() if "names" in arrays else None
    if "format" in arrays:
        import scipy.sparse

        try:
            with _open(path, "rb") as file:
                matrix = scipy.sparse.load_npz(file)
        except (ValueError, KeyError, NotImplementedError) as e:
            raise GraphError(f"{path} is no sparse matrix that SciPy can read: {e}") from None
        with _about(str(path)):
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
    with _about(str(path)):
        return as_graph(tuple(columns), n, directed=directed is not False, names=names)


def _read_graphml(path: Path, directed: bool | None, weight: str | int | None) -> Graph:
    from xml.etree.ElementTree import ParseError
    from xml.parsers.expat import ErrorString

    try:
        import networkx as nx
    except ImportError:
        raise SemiringError("GraphML is read by NetworkX: pip install 'semiring[networkx]'") from None
    try:
        with _open(path, "rb") as file:
            found = nx.read_graphml(file)
    except ParseError as e:
        raise GraphError(f"{path}, line {e.position[0]}: {ErrorString(e.code)}; expected GraphML") from None
    except (nx.NetworkXError, KeyError, ValueError) as e:
        raise GraphError(f"{path} is no GraphML that NetworkX can read: {e}") from None
    with _about(str(path)):
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


READERS: dict[str, Callable[[Path, bool | None, Any], Graph]] = {
    "csv": _read_edges, "tsv": _read_edges, "edges": _read_edges, "mtx": _read_mtx, "gr": _read_dimacs,
    "npy": _read_numpy, "npz": _read_numpy, "graphml": _read_graphml,
}  # fmt: skip


# Writing


@contextmanager
def _created(path: Path) -> Iterator[IO[bytes]]:
    """A new file in which a writer can also go back; what it wrote is compressed at the end if the path says so."""
    if path.suffix.lower() not in OPENERS:
        with open(path, "wb") as file:
            yield file
        return
    with TemporaryFile() as plain:
        yield plain
        plain.seek(0)
        with _open(path, "wb") as file:
            copyfileobj(plain, file)


def _write_npy(path: Path, M: Matrix) -> None:
    with _created(path) as file:
        np.save(file, M.array, allow_pickle=False)


def _write_npz(path: Path, M: Matrix) -> None:
    arrays = {
        "matrix": M.array,
        "zero": np.asarray(M.semiring.zero_in(M.dtype)),
        "algebra": np.array(M.semiring.name),
    }
    if M.names is not None:
        integers = all(isinstance(name, (int, np.integer)) and not isinstance(name, bool) for name in M.names)
        arrays["names"] = np.array(M.names, dtype=np.int64) if integers else np.array(list(map(str, M.names)))
    with _created(path) as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def _write_table(path: Path, M: Matrix) -> None:
    zero = M.semiring.zero_in(M.dtype)
    vertices = range(M.n) if M.names is None else M.names
    with _open(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t" if _suffix(path) == ".tsv" else ",", lineterminator="\n")
        writer.writerow(["", *vertices])
        for vertex, row in zip(vertices, M.array, strict=True):
            writer.writerow([vertex, *_cells(row, zero)])


def _cells(row: np.ndarray, zero: Any) -> list:
    """The elements of a row as a table shows them, the zero as an empty text."""
    if row.dtype.hasobject:
        return ["" if is_same(x, zero) else x for x in row]
    if row.dtype.kind == "b":
        values = row.astype(np.uint8).tolist()
    elif row.dtype in (np.float16, np.float32):
        values = list(map(str, row))  # the shortest text of a short float, not its digits as a double
    else:
        values = row.tolist()
    return ["" if absent else value for value, absent in zip(values, (row == zero).tolist(), strict=True)]


def _write_mtx(path: Path, M: Matrix) -> None:
    import scipy.io
    import scipy.sparse

    zero = M.semiring.zero_in(M.dtype)
    rows, columns = np.nonzero(M.array != zero)
    values = M.array[rows, columns]
    pattern = values.dtype.kind == "b"
    if pattern or values.dtype == np.float16:
        values = values.astype(np.int8 if pattern else np.float32)
    entries = scipy.sparse.coo_array((values, (rows, columns)), shape=M.shape)
    with _created(path) as file:
        scipy.io.mmwrite(file, entries, field="pattern" if pattern else None, symmetry="general")


WRITERS: dict[str, Callable[[Path, Matrix], None]] = {
    "npy": _write_npy, "npz": _write_npz, "csv": _write_table, "tsv": _write_table, "mtx": _write_mtx,
}  # fmt: skip
