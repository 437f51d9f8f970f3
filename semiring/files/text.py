"""Graphs from text: lists of edges, and the DIMACS format of shortest paths.

Files of plain numbers go through a fast reader; any others, and those with a mistake, line by line.
"""

from __future__ import annotations

import csv
import dataclasses
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semiring.errors import GraphError, SemiringWarning
from semiring.graphs.columns import WeightColumns, go_both_ways, in_records, names_ends, table_columns, turned
from semiring.graphs.graph import Graph, as_graph
from semiring.graphs.texts import quoted, shown

from .numerals import CANONICAL, INTEGER, integer, integers, number, table
from .streams import about, fail, numbered_lines, text_of

COMMENTS = ("#", "%")
MATRIX_MARKET = "%%matrixmarket"
BLANKS = " \t\n\r\f\v"
WORD = re.compile(f"[^{BLANKS}]+")
DECIMAL = re.compile(r"[-+]?\d+,\d+")  # as many languages write it
# What stands for a weight and does not read as one: other numerals, units, marks for what is missing.
MEANT = re.compile(r"[^\w\s]{0,2}\s*\d|[-+−]?∞|(?:na|n/a|null|none|true|false|[-–—?.]*)$", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class Options:
    """What the caller of `read_graph` says of a file."""

    directed: bool | None = None
    weight: WeightColumns = "weight"
    header: bool | None = None
    names: type[str] | None = None
    source: str | int | None = None
    target: str | int | None = None
    absent: float | None = None  # the element of a matrix that means no edge
    label: str | None = None  # the attribute that vertices are called by

    @property
    def one_way(self) -> bool:
        """The direction of edges in a file that does not tell it."""
        return self.directed is not False


@dataclasses.dataclass(frozen=True)
class _Layout:
    """How a list of edges is written."""

    first: int  # line number of the first edge
    start: int  # where its line begins in the text
    header: list[str] | None  # names of the columns
    row: list[str]  # the first edge
    separator: str | None  # None: any run of blanks
    ends: tuple[int, int]  # columns of the source and the target
    weights: tuple[int, ...]  # of the weights: none, one, or several that make records
    ways: int | None  # of what says which edges go both ways
    undirected: bool

    @property
    def width(self) -> int:
        return len(self.header or self.row)


def read_edges(path: Path, text: str, options: Options) -> Graph:
    layout = _layout(path, text, options)
    directed = not layout.undirected if options.directed is None else options.directed
    columns = None if options.names is str or layout.ways is not None else _fast_columns(text, layout)
    if columns is None:
        columns, both = _careful_columns(path, text, layout, options)
        if both is not None:
            columns, directed = turned(columns, both)
    with about(str(path)):
        if isinstance(options.weight, (list, tuple)):
            labels = [k if layout.header is None else layout.header[k] for k in layout.weights]
            columns[2:] = [in_records(labels, columns[2:])]
        graph = as_graph(tuple(columns))
    return dataclasses.replace(graph, directed=directed)


def _layout(path: Path, text: str, options: Options) -> _Layout:
    """What the comments and the first two lines of data say."""
    undirected = sides = False
    line, bare, raw = 0, "", ""
    for line, raw in numbered_lines(text):
        bare = raw.strip(BLANKS)
        if bare.lower().startswith(MATRIX_MARKET):  # else its sizes would be an edge
            fail(path, line, quoted(bare), 'edges; format="mtx" reads Matrix Market')
        if bare.startswith(COMMENTS):
            # as in the collections of SNAP and KONECT
            said = bare.lstrip("#% ").lower()
            undirected |= said.startswith("undirected graph") or said.split()[:1] == ["sym"]
            sides |= bare.startswith("%") and said.split()[:1] == ["bip"]
        elif bare:
            break
    if not bare or bare.startswith(COMMENTS):
        raise GraphError(f"{shown(path)} holds no edges, only comments and empty lines")
    separator = _separator(_first_record(text, line, raw))
    lines, rows = zip(*islice(rows_of(path, numbered_lines(text, line), separator), 2), strict=True)
    if len(rows[0]) < 2:
        fail(path, line, quoted(bare), "a source and a target vertex")
    if rows[0][0] == "":
        fail(path, line, "an empty first field", "a source vertex (is this a table of a matrix?)")
    header = rows[0] if _is_header(rows, options) else None
    if header is not None and len(rows) == 1:
        raise GraphError(f"{shown(path)} holds no edges, only the line of column names {quoted(header)}")
    first = 0 if header is None else 1

    def sample(k: int) -> Any:
        text = rows[first][k] if k < len(rows[first]) else ""
        value = number(text)
        return text if value is None else value

    with about(f"{path}, line {line}"):
        labels = list(range(len(rows[0]))) if header is None else header
        chosen = table_columns(labels, options.weight, options.source, options.target, sample=sample)
    ends = chosen.source, chosen.target
    if sides and max(ends) < len(rows[first]) and all(rows[first][end].isdecimal() for end in ends):
        fail(path, lines[first], "a bipartite graph, whose left and right vertices are numbered apart",
             'names that tell them apart, such as "L1" and "R1"')
    start = sum(len(above) for _, above in takewhile(lambda found: found[0] < lines[first], numbered_lines(text)))
    ways = None if options.directed is not None else chosen.ways
    return _Layout(lines[first], start, header, rows[first], separator, ends, chosen.weights, ways, undirected)


def _first_record(text: str, line: int, raw: str) -> str:
    """The first line of data, with those that a quotation at its beginning goes on to."""
    if raw.lstrip(BLANKS).startswith('"'):
        more = numbered_lines(text, line + 1)
        while raw.count('"') % 2 and (found := next(more, None)):
            raw += found[1]
    return raw


QUOTATION = re.compile(r'"(?:[^"]|"")*"')


def _separator(line: str) -> str | None:
    """The mark that makes most fields of a line, None for blanks."""
    line = QUOTATION.sub("", line)
    mark = max("\t;,", key=line.count)
    if mark not in line:
        return None
    blanks = WORD.findall(line)
    if mark == "\t" and len(blanks) > len(line.split(mark)) and all(map(_is_number, blanks)):
        return None  # numbers between blanks and tabs mixed, not names that hold blanks
    if mark == "," and len(blanks) > 2 and all(DECIMAL.fullmatch(word) for word in blanks if mark in word):
        return None  # weights with a decimal comma between blanks, of which whoever reads them says so
    return mark


def _is_header(rows: Sequence[list[str]], options: Options) -> bool:
    """Whether the first row names the columns: it has known names, or words where the next has a number.

    Not where it has something else that stands for a weight and names no column: whoever reads that says what is wrong,
    if anybody does.
    """
    if options.header is not None:
        return options.header
    if names_ends(rows[0]):
        return True
    if len(rows) < 2 or any(map(_is_number, rows[0])):
        return False
    ends = {end if isinstance(end, int) else k for k, end in enumerate((options.source, options.target))}
    numbers = [k for k, field in enumerate(rows[1]) if _is_number(field)]
    weights = [rows[0][k] for k in numbers if k < len(rows[0]) and k not in ends and options.weight is not None]
    return bool(numbers) and not any(map(MEANT.match, weights))


def _is_number(text: str) -> bool:
    return number(text) is not None


def rows_of(path: Path, lines: Iterable[tuple[int, str]], separator: str | None) -> Iterator[tuple[int, list[str]]]:
    """The fields of numbered lines with the first line that they stand in, without empty lines and comments."""
    at = first = 0
    within = False  # whether the line before opened a quotation that it did not close

    def bare() -> Iterator[str]:
        nonlocal at, first, within
        for at, line in lines:
            if within:
                yield line
            else:
                first, within = at, True  # until the row is read to its end
                yield "" if line.lstrip(BLANKS).startswith(COMMENTS) else line

    if separator is None:
        found: Iterable[list[str]] = map(WORD.findall, bare())
    else:
        found = csv.reader(bare(), delimiter=separator, skipinitialspace=True, strict=True)
    try:
        for row in found:
            within = False
            fields = [field.strip(BLANKS) for field in row]
            if len(fields) > 1 or any(fields):
                yield first, fields
    except csv.Error as e:
        expected = 'fields quoted by "…" in full or not at all'
        raise GraphError(f"{shown(path)}, line {at}: {shown(e)}; expected {expected}") from None


def _fast_columns(text: str, layout: _Layout) -> list[np.ndarray] | None:
    """The columns of a file of numbers without any fault; None for all others."""
    body = text[layout.start :]
    first = {k: "i8" if k < len(layout.row) and INTEGER.fullmatch(layout.row[k]) else "f8" for k in layout.weights}
    tried = [first]
    if len(first) == 1 and "i8" in first.values():  # of several each is looked at by itself
        tried.append(dict.fromkeys(first, "f8"))
    for weights in tried:
        # columns that nobody asked for are read as one character
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
    """The columns, line by line, of a file with names, and which edges go both ways; errors say which line is wrong."""
    taken = (*layout.ends, *layout.weights, *(() if layout.ways is None else (layout.ways,)))
    texts: list[list[str]] = [[] for _ in taken]
    lines: list[int] = []
    wanted = f"{layout.width} fields" + ("" if layout.separator is None else f" separated by {layout.separator!r}")
    for line, row in rows_of(path, numbered_lines(text, layout.first), layout.separator):
        if len(row) != layout.width:
            fail(path, line, f"{len(row)} fields", wanted)
        for column, k in zip(texts, taken, strict=True):
            column.append(row[k])
        lines.append(line)
    columns = _careful_vertices(path, texts[:2], lines, options)
    guessed = options.header is None and layout.header is None and not any(map(_is_number, layout.row))
    weights = [_careful_weights(path, column, lines, guessed) for column in texts[2 : 2 + len(layout.weights)]]
    if columns[0].dtype.kind == "O":
        _doubt(path, texts[:2], lines, layout, options)
    both = None
    if layout.ways is not None and layout.header is not None:
        both = go_both_ways(layout.header[layout.ways], texts[-1], lambda i: f"{shown(path)}, line {lines[i]}")
    return [*columns, *weights], both


def _careful_vertices(path: Path, ends: list[list[str]], lines: list[int], options: Options) -> list[np.ndarray]:
    for what, column in zip(("source", "target"), ends, strict=True):
        if "" in column:
            fail(path, lines[column.index("")], f"no {what} vertex", "a name or an integer")
    if options.names is str or not all(CANONICAL.fullmatch(text) for column in ends for text in column):
        return [np.array(column, dtype=object) for column in ends]
    for what, column in zip(("source", "target"), ends, strict=True):
        for text, line in zip(column, lines, strict=True):
            if integer(text, 0) is None:
                expected = "an integer from 0 that fits 64 bits, or names (names=str reads all vertices as names)"
                fail(path, line, f"{what} vertex {text[:40]}", expected)
    return [np.array(list(map(int, column)), dtype=np.int64) for column in ends]


def _doubt(path: Path, ends: list[list[str]], lines: list[int], layout: _Layout, options: Options) -> None:
    """Warn where it was guessed whether the first line names the columns, and what follows speaks against the guess."""
    if options.header is not None:
        return
    if layout.header is not None:
        taken = [layout.header[k] for k in layout.ends]
        both = next((name for name in taken if name in ends[0] or name in ends[1]), None)
        if both is not None:
            line = min(lines[column.index(both)] for column in ends if both in column)
            _warn(
                f"{path}: the first line, {quoted(taken)}, was read as names of columns, and line {line} has a vertex "
                f"{quoted(both)}: header=False reads it as an edge, header=True says that it is not an edge"
            )
    elif len(lines) > 1 and not any(map(_is_number, layout.row)):
        a, b = ends[0][0], ends[1][0]
        if a != b and not any(name in column[1:] for name in (a, b) for column in ends):
            _warn(
                f"{path}, line {lines[0]}: {quoted([a, b])} was read as an edge, and neither end is named again: "
                "header=True reads the line as names of columns, header=False says that it is an edge"
            )


def _warn(message: str) -> None:
    warnings.warn(shown(message), SemiringWarning, stacklevel=7)


def _careful_weights(path: Path, texts: list[str], lines: list[int], guessed: bool = False) -> np.ndarray:
    """Weights as an array; `guessed` says that the first line might have named the columns."""
    for text, line in zip(texts, lines, strict=True):
        value = number(text)
        if value is None or value != value:
            marks = ", with a point before decimals and no other mark" if "," in text else ""
            found = f"the weight {quoted(text)}" if text else "no weight"
            named = ", or header=True where this line names the columns" if guessed and line == lines[0] else ""
            fail(path, line, found, f"a number that 64 bits hold{marks}{named}")
    if all(map(INTEGER.fullmatch, texts)):
        values = integers(texts)
        if values is not None:
            return values
    return np.array(list(map(float, texts)))


# DIMACS shortest paths: c comment, p sp n m, then m lines a source target weight, vertices from 1


def read_dimacs(path: Path, data: bytes, options: Options) -> Graph:
    text = text_of(path, data)
    line, start, n, m = _dimacs_problem(path, text)
    arcs = _fast_dimacs(text[start:], n)
    if arcs is None:
        arcs = _careful_dimacs(path, text, line, n)
    sources, targets, values = arcs
    if len(sources) != m:
        fail(path, line, f"a problem of {m} arcs", f"the {len(sources)} that the file holds")
    return Graph(sources - 1, targets - 1, n, None if options.weight is None else values, directed=options.one_way)


def _dimacs_problem(path: Path, text: str) -> tuple[int, int, int, int]:
    """The line of the problem, where the next begins, and the numbers of vertices and arcs."""
    at = 0
    for line, bare in numbered_lines(text):
        at += len(bare)
        words = WORD.findall(bare)
        if words and words[0] != "c":
            if words[:2] == ["p", "sp"] and len(words) == 4:
                n, m = (integer(word, 0) for word in words[2:])
                if n is not None and m is not None:
                    return line, at, n, m
            fail(path, line, quoted(bare.strip(BLANKS)), "'p sp VERTICES ARCS' before any arc")
    raise GraphError(f"{shown(path)} holds only comments: expected 'p sp VERTICES ARCS' and arcs")


def _fast_dimacs(body: str, n: int) -> list[np.ndarray] | None:
    """The arcs of a file of integers without any fault or comment among them; None for all others."""
    arcs = table(body, np.dtype([("a", "S2"), ("from", "i8"), ("to", "i8"), ("weight", "i8")]), None)
    if arcs is None or not (arcs["a"] == b"a").all():
        return None
    sources, targets = (np.ascontiguousarray(arcs[end]) for end in ("from", "to"))
    if min(sources.min(), targets.min()) < 1 or max(sources.max(), targets.max()) > n:
        return None
    return [sources, targets, np.ascontiguousarray(arcs["weight"])]


def _careful_dimacs(path: Path, text: str, problem: int, n: int) -> list[np.ndarray]:
    ends: list[tuple[int, ...]] = []
    weights: list[str] = []
    lines: list[int] = []
    for line, bare in numbered_lines(text, problem + 1):
        words = WORD.findall(bare)
        if not words or words[0] == "c":
            continue
        if words[0] != "a" or len(words) != 4:
            fail(path, line, quoted(bare.strip(BLANKS)), "'a SOURCE TARGET WEIGHT'")
        ends.append(vertices_from_one(path, line, words[1:3], n))
        weights.append(words[3])
        lines.append(line)
    pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
    return [pairs[:, 0], pairs[:, 1], _careful_weights(path, weights, lines)]


def vertices_from_one(path: Path, line: int, words: Sequence[str], n: int) -> tuple[int, ...]:
    """Vertices that count from 1, as they stand in a line."""
    found = []
    for word in words:
        vertex = integer(word, 1, n)
        if vertex is None:
            fail(path, line, f"vertex {quoted(word)}", f"an integer from 1 to {n}")
        found.append(vertex)
    return tuple(found)
