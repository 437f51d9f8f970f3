"""Graphs from text: lists of edges.

Files of plain numbers are read by a fast reader; other files, and those with an error, line by line.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Sequence
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semiring.errors import GraphError
from semiring.graphs.columns import (
    MISSING,
    attribute_weights,
    go_both_ways,
    in_records,
    names_ends,
    only_attribute,
    table_columns,
    turned,
)
from semiring.graphs.graph import Graph, as_graph
from semiring.graphs.texts import quoted, shown
from semiring.graphs.weights import as_weights

from .format import Options
from .numerals import CANONICAL, INTEGER, integer, integers, is_number, table
from .rows import COMMENTS, DECIMAL, SEPARATES, fields_of, first_record, rows_of, separator_of
from .streams import BLANKS, about, fail, numbered_lines, warn

MATRIX_MARKET = "%%matrixmarket"
COUNTED = re.compile(r"nodes[:=]?\s*([0-9]{1,18})\b")  # a comment in files of SNAP
DICT = re.compile(r"([^{}]*[^{}\s,;])[\s,;]+(\{.*\})")  # two vertices, and their attributes in Python's spelling
MARKS = {".": "point", ",": "comma"}
NULL = r"\N"
# Words that may be weights in another spelling: other numerals, units, marks for missing values.
MEANT = re.compile(r"[^\w\s]{0,2}\s*\d|[-+−]?∞|(?:na|n/a|null|none|true|false|[-–—?.]*)$", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class _Layout:
    """How a list of edges is written."""

    first: int  # line number of the first edge
    start: int  # position of its line in the text
    header: list[str] | None  # names of the columns
    row: list[str]  # the first edge
    separator: str | None  # None: any run of blanks
    ends: tuple[int, int]  # columns of the source and the target
    weights: tuple[int, ...]  # columns of weights: none, one, or several that make records
    ways: int | None  # column that says which edges go both ways
    undirected: bool
    vertices: int | None  # stated in a comment, as SNAP does

    @property
    def width(self) -> int:
        return len(self.header or self.row)

    def called(self, k: int) -> str:
        """A column in a message; empty if it is clear which one is meant."""
        if self.header is None or not self.header[k]:
            return f" in column {k}" if self.width > 3 else ""
        return f" in the column {quoted(self.header[k])}"


def read_edges(path: Path, text: str, options: Options) -> Graph:
    layout = _layout(path, text, options)
    if layout is None:
        return _read_dicts(path, text, options)
    directed = not layout.undirected if options.directed is None else options.directed
    plain = options.names is None and layout.ways is None and options.decimal == "."
    columns = _fast_columns(text, layout) if plain else None
    if columns is None:
        columns, both = _careful_columns(path, text, layout, options)
        if both is not None:
            columns, directed = turned(columns, both)
    with about(str(path)):
        if isinstance(options.weight, (list, tuple)):
            labels = [k if layout.header is None else layout.header[k] for k in layout.weights]
            columns[2:] = [in_records(labels, columns[2:])]
        graph = dataclasses.replace(as_graph(tuple(columns)), directed=directed)
    if not options.compact and (said := _gaps(graph, layout.vertices)):
        warn(f"{path}: {said}")
    return graph


def _gaps(graph: Graph, vertices: int | None) -> str:
    """A remark on vertices without edges: numbers from 1, or more vertices than the file states."""
    if graph.names is not None or not len(graph):
        return ""
    first = int(min(graph.sources.min(), graph.targets.min()))
    if vertices is not None and graph.n - min(first, 1) > vertices:
        return (f"vertices are 0 to {graph.n - 1}, but a comment counts {vertices}: pass compact=True to leave out "
                "those without edges")
    if first == 1:
        return "vertices are counted from 1, so vertex 0 has no edges: pass compact=True to leave it out"
    return f"vertices 0 to {first - 1} have no edges: pass compact=True to leave them out" if first else ""


class _Opening(NamedTuple):
    """The first line of data, and what the comments above it say."""

    line: int
    raw: str
    undirected: bool
    bipartite: bool
    vertices: int | None  # how many, if a comment states it as SNAP does
    separator: str  # stated in a line for Excel; else empty
    doubtful: list[tuple[int, str]]  # comments that may be edges, with their lines


def _opening(path: Path, text: str) -> _Opening:
    undirected = bipartite = False
    vertices, separator = None, ""
    doubtful: list[tuple[int, str]] = []
    for line, raw in numbered_lines(text):
        bare = raw.strip(BLANKS)
        if bare.lower().startswith(MATRIX_MARKET):  # otherwise its sizes would be an edge
            fail(path, line, quoted(bare), 'edges; format="mtx" reads Matrix Market')
        if bare.startswith(COMMENTS):
            # as SNAP and KONECT write it
            said = bare.lstrip("#% ").lower()
            undirected |= said.startswith("undirected graph") or said.split()[:1] == ["sym"]
            bipartite |= bare.startswith("%") and said.split()[:1] == ["bip"]
            if bare.lstrip("#%")[:1].strip(BLANKS):
                doubtful.append((line, bare))
            if counted := COUNTED.match(said):
                vertices = int(counted[1])
        elif marked := SEPARATES.fullmatch(bare):
            separator = marked[1]
        elif bare:
            return _Opening(line, raw, undirected, bipartite, vertices, separator, doubtful)
    raise GraphError(f"{shown(path)} holds no edges, only comments and empty lines")


def _layout(path: Path, text: str, options: Options) -> _Layout | None:
    """What the comments and the first two lines of data say; None if lines end with a dict."""
    above = _opening(path, text)
    line, bare = above.line, above.raw.strip(BLANKS)
    if (found := DICT.fullmatch(bare)) and len(_ends_of(path, line, found[1], options)) == 2:
        return None
    separator = above.separator or separator_of(first_record(text, line, above.raw), options.decimal)
    given = rows_of(path, numbered_lines(text, line), separator, lambda row: _may_be_edge(row, separator, options))
    begin = list(islice(given, 2))
    if not begin:
        raise GraphError(f"{shown(path)} holds no edges, only empty fields")
    lines, rows = zip(*begin, strict=True)
    if len(rows[0]) < 2:
        fail(path, line, quoted(bare), "a source and a target vertex")
    header = _header(rows, options)
    if header is None and rows[0][0] == "":
        fail(path, line, "an empty first field", "a source vertex (is this a table of a matrix?)")
    if header is not None and len(rows) == 1:
        raise GraphError(f"{shown(path)} holds no edges, only the line of column names {quoted(header)}")
    first = 0 if header is None else 1

    def sample(k: int) -> Any:
        text = rows[first][k] if k < len(rows[first]) else ""
        value = options.number(text)
        return text if value is None else value

    with about(f"{path}, line {line}"):
        labels = list(range(len(rows[0]))) if header is None else header
        chosen = table_columns(labels, options.weight, options.source, options.target, sample=sample)
    ends = chosen.source, chosen.target
    if above.bipartite and max(ends) < len(rows[first]) and all(rows[first][end].isdecimal() for end in ends):
        fail(path, lines[first], "a bipartite graph, whose left and right vertices are both numbered from 1",
             'different names on the two sides, such as "L1" and "R1"')
    if header is None and chosen.weights:
        _doubt_comments(path, above.doubtful, separator, chosen.weights, len(labels), options)
    start = sum(len(before) for _, before in takewhile(lambda found: found[0] < lines[first], numbered_lines(text)))
    ways = None if options.directed is not None else chosen.ways
    return _Layout(lines[first], start, header, rows[first], separator, ends, chosen.weights, ways, above.undirected,
                   above.vertices)


def _doubt_comments(
    path: Path, comments: list[tuple[int, str]], separator: str | None, weights: Sequence[int], width: int,
    options: Options,
) -> None:
    """Warn of comments above the first edge that have the fields of an edge."""
    for line, text in comments:
        fields = fields_of(text, separator)
        values = [options.number(fields[k].strip(BLANKS)) for k in weights if k < len(fields)]
        if len(fields) == width and None not in values:
            warn(f"{path}, line {line} was read as a comment, but has the fields of an edge: move it below another "
                 "edge, or below a line of column names, if it is an edge")


def _header(rows: Sequence[list[str]], options: Options) -> list[str] | None:
    """The names of the columns, if the first line has them.

    R leaves out the name of the first column, which holds the names of rows.
    """
    short = len(rows) > 1 and len(rows[1]) == len(rows[0]) + 1 and options.header is not False
    if short and (options.header or names_ends(rows[0]) or _is_asked_for(rows[0], options)):
        return ["", *rows[0]]
    return rows[0] if _is_header(rows, options) else None


def _is_asked_for(row: list[str], options: Options) -> bool:
    """Whether the caller names columns that the first line has."""
    weights = options.weight if isinstance(options.weight, (list, tuple)) else [options.weight]
    names = [name for name in (options.source, options.target, *weights) if isinstance(name, str) and name != "weight"]
    plain = [field.lower() for field in row]
    return any(name.strip().lower() in plain and not name.isdecimal() for name in names)


def _is_header(rows: Sequence[list[str]], options: Options) -> bool:
    """Whether the first row names the columns: it has known names, or words where the next row has a number.

    It does not if the word may be a weight in another spelling: the reader of weights then reports it.
    """
    if options.header is not None:
        return options.header
    if names_ends(rows[0]) or _is_asked_for(rows[0], options):
        return True
    if len(rows) < 2 or any(map(is_number, rows[0])):
        return False
    ends = {end if isinstance(end, int) else k for k, end in enumerate((options.source, options.target))}
    numbers = [k for k, field in enumerate(rows[1]) if options.number(field) is not None and (k or rows[0][0])]
    weights = [rows[0][k] for k in numbers if k < len(rows[0]) and k not in ends and options.weight is not None]
    return bool(numbers) and not any(map(MEANT.match, weights))


def _may_be_edge(fields: list[str], separator: str | None, options: Options) -> bool:
    """Whether a line that begins like a comment, with as many fields as an edge, may be an edge."""
    return separator is not None or len(fields) == 2 or any(options.number(field) is not None for field in fields[1:])


def _read_dicts(path: Path, text: str, options: Options) -> Graph:
    """The edges of lines that end with a dict of attributes, as networkx.write_edgelist writes them."""
    ends: list[list[str]] = [[], []]
    attributes: list[dict[str, Any]] = []
    lines: list[int] = []
    for line, raw in numbered_lines(text):
        bare = raw.strip(BLANKS)
        parts = DICT.fullmatch(bare)
        if not bare or (parts is None and bare.startswith(COMMENTS)):
            continue
        two = _ends_of(path, line, parts[1], options) if parts else []
        data = _dict_of(parts[2]) if parts else None
        if data is None or len(two) != 2:
            fail(path, line, quoted(bare), "two vertices and a dict of attributes, as in the lines above")
        for column, vertex in zip(ends, two, strict=True):
            column.append(vertex)
        attributes.append(data)
        lines.append(line)
    vertices = _careful_vertices(path, ends, lines, options, ("", ""))
    weight = options.weight
    with about(str(path)):
        if weight == "weight" and not any(weight in data for data in attributes):
            weight = only_attribute(attributes, weight)
        names: Sequence[Any] = weight if isinstance(weight, (list, tuple)) else [] if weight is None else [weight]
        columns = []
        known = sorted({str(name) for data in attributes for name in data})
        for name in names:
            values = [data.get(name, MISSING) for data in attributes]
            found = attribute_weights((ends[0], ends[1]), values, name, None, lambda: known)
            columns += [] if found is None else [as_weights(found)]
        if isinstance(weight, (list, tuple)):
            columns = [in_records(names, columns)]
        graph = as_graph((*vertices, *columns), directed=options.one_way)
    if not options.compact and (said := _gaps(graph, None)):
        warn(f"{path}: {said}")
    return graph


def _ends_of(path: Path, line: int, text: str, options: Options) -> list[str]:
    return next((row for _, row in rows_of(path, [(line, text)], separator_of(text, options.decimal))), [])


def _dict_of(text: str) -> dict[str, Any] | None:
    """A dict as Python writes it, also with NumPy's numbers and infinities; None for other texts."""
    spelled = re.sub(r"\bnp\.\w+\(([^()]*)\)", r"\1", re.sub(r"(?<=: )(-?)inf\b", r"\g<1>1e999", text))
    for plain in (text, spelled):
        try:
            found = ast.literal_eval(plain)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
        return found if isinstance(found, dict) else None
    return None


def _fast_columns(text: str, layout: _Layout) -> list[np.ndarray] | None:
    """The columns of a file of numbers without errors; None for other files."""
    body = text[layout.start :]
    first = {k: "i8" if k < len(layout.row) and INTEGER.fullmatch(layout.row[k]) else "f8" for k in layout.weights}
    tried = [first]
    if len(first) == 1 and "i8" in first.values():  # several weights keep their own dtypes
        tried.append(dict.fromkeys(first, "f8"))
    for weights in tried:
        # unused columns are read as one character
        kinds = dict.fromkeys(layout.ends, "i8") | weights
        dtype = np.dtype([(f"c{k}", kinds.get(k, "S1")) for k in range(layout.width)])
        found = table(body, dtype, layout.separator, canonical=True)
        if found is not None:
            columns = [found[f"c{k}"].copy() for k in (*layout.ends, *layout.weights)]
            sound = columns[0].min() >= 0 and columns[1].min() >= 0
            return columns if sound else None
    return None


def _careful_columns(
    path: Path, text: str, layout: _Layout, options: Options
) -> tuple[list[np.ndarray], NDArray[np.bool_] | None]:
    """The columns of any file, read line by line, and which edges go both ways; errors name the line."""
    taken = (*layout.ends, *layout.weights, *(() if layout.ways is None else (layout.ways,)))
    texts: list[list[str]] = [[] for _ in taken]
    lines: list[int] = []
    marked: list[int] = []
    wanted = f"{layout.width} fields" + ("" if layout.separator is None else f" separated by {layout.separator!r}")

    def is_edge(row: list[str]) -> bool:
        weights = [options.number(row[k]) for k in layout.weights]
        return None not in weights and _may_be_edge(row, layout.separator, options)

    rows = rows_of(path, numbered_lines(text, layout.first), layout.separator, is_edge, layout.row, marked)
    for line, row in rows:
        if len(row) != layout.width:
            if layout.header is None:
                read = f"networkx.read_adjlist({str(path)!r}, create_using=networkx.DiGraph)"
                wanted += f"; lists of neighbours are read by NetworkX: sr.closure({read}, S), for example"
            fail(path, line, f"{len(row)} fields", wanted)
        for column, k in zip(texts, taken, strict=True):
            column.append(row[k])
        lines.append(line)
    source, target = map(layout.called, layout.ends)
    columns = _careful_vertices(path, texts[:2], lines, options, (source, target))
    guessed = options.header is None and layout.header is None and not any(map(is_number, layout.row))
    weights = [_careful_weights(path, column, lines, options, layout, k, guessed)
               for column, k in zip(texts[2:], layout.weights, strict=False)]
    if columns[0].dtype.kind == "O":
        _doubt(path, texts[:2], lines, layout, options)
        _doubt_marked(path, texts[:2], lines, marked)
    both = None
    if layout.ways is not None and layout.header is not None:
        both = go_both_ways(layout.header[layout.ways], texts[-1], lambda i: f"{shown(path)}, line {lines[i]}")
    return [*columns, *weights], both


def _careful_vertices(
    path: Path, ends: list[list[str]], lines: list[int], options: Options, called: tuple[str, str]
) -> list[np.ndarray]:
    for what, column, where in zip(("source", "target"), ends, called, strict=True):
        if "" in column:
            fail(path, lines[column.index("")], f"no {what} vertex{where}", "a name or an integer")
        if NULL in column:
            found = f"{NULL}, which databases write for a missing value, as the {what} vertex{where}"
            fail(path, lines[column.index(NULL)], found, "a name or an integer: remove such lines")
    if options.names is str or not all(CANONICAL.fullmatch(text) for column in ends for text in column):
        return [np.array(column, dtype=object) for column in ends]
    for what, column, where in zip(("source", "target"), ends, called, strict=True):
        for text, line in zip(column, lines, strict=True):
            if integer(text, 0, 2**64 - 1) is None:
                expected = "an integer from 0 that fits 64 bits, or names (names=str reads all vertices as names)"
                fail(path, line, f"{what} vertex {text[:40]}{where}", expected)
    ids = [list(map(int, column)) for column in ends]
    dtype = np.uint64 if max(map(max, ids), default=0) >= 2**63 else np.int64
    return [np.array(column, dtype=dtype) for column in ids]


def _doubt(path: Path, ends: list[list[str]], lines: list[int], layout: _Layout, options: Options) -> None:
    """Warn if it was guessed whether the first line names the columns, and later lines contradict the guess."""
    if options.header is not None:
        return
    if layout.header is not None:
        taken = [layout.header[k] for k in layout.ends]
        both = next((name for name in taken if name in ends[0] or name in ends[1]), None)
        if both is not None:
            line = min(lines[column.index(both)] for column in ends if both in column)
            warn(
                f"{path}: the first line, {quoted(taken)}, was read as names of columns, and line {line} has a vertex "
                f"{quoted(both)}: pass header=False if it is an edge, header=True if it is not"
            )
    elif len(lines) > 1 and not any(map(is_number, layout.row)):
        a, b = ends[0][0], ends[1][0]
        if a != b and not any(name in column[1:] for name in (a, b) for column in ends):
            warn(
                f"{path}, line {lines[0]}: {quoted([a, b])} was read as an edge, but neither end occurs again: pass "
                "header=True if the line names the columns, header=False if it is an edge"
            )


def _doubt_marked(path: Path, ends: list[list[str]], lines: list[int], marked: list[int]) -> None:
    """Warn of edges that may be comments, unless others have such vertices too."""
    others = [*ends[1], *(a for a, line in zip(ends[0], lines, strict=True) if line not in set(marked))]
    if marked and not any(name.startswith(COMMENTS) for name in others):
        a, b = (column[lines.index(marked[0])] for column in ends)
        warn(f"{path}, line {marked[0]}: {quoted([a, b])} was read as an edge, since the line has as many fields as "
              "the others: put a blank after its first mark to make it a comment")


def _careful_weights(
    path: Path, texts: list[str], lines: list[int], options: Options, layout: _Layout, k: int, guessed: bool
) -> np.ndarray:
    """Weights as an array; `guessed` says that the first line might have named the columns."""
    values = list(map(options.number, texts))
    for text, value, line in zip(texts, values, lines, strict=True):
        if value is None or value != value:
            marks = ""
            if options.decimal != "." or "," in text:
                marks = f", with a decimal {MARKS[options.decimal]} and no other mark"
            if options.decimal == "." and DECIMAL.fullmatch(text):
                marks += "; pass decimal=',' for decimal commas"
            found = (f"the weight {quoted(text)}" if text else "no weight") + layout.called(k)
            named = ", or header=True if this line names the columns" if guessed and line == lines[0] else ""
            taken = _taken(layout, k, options) if line == lines[0] else ""
            fail(path, line, found, f"a number that fits 64 bits{marks}{named}{taken}")
    if all(map(INTEGER.fullmatch, texts)):
        whole = integers(texts)
        if whole is not None:
            return whole
    return np.array(values, np.float64)


def _taken(layout: _Layout, k: int, options: Options) -> str:
    """Why a column was read as the weight, if that was guessed."""
    if layout.header is None or options.weight != "weight" or layout.header[k].lower() == "weight":
        return ""
    ends = quoted([layout.header[end] for end in layout.ends])
    return (f"; the columns {ends} were read as the ends of edges, and this one as their weights: pass source=, "
            "target= and weight= for others, weight=None for no weights")
