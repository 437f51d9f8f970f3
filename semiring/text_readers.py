"""Graphs from text: lists of edges, and the DIMACS format of shortest paths.

Files of plain numbers go through a fast reader; any others, and those with a mistake, line by line.
"""

from __future__ import annotations

import csv
import dataclasses
import re
import warnings
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from .edges import ENDS, pick_columns
from .errors import GraphError
from .graph import Graph, as_graph
from .streams import about, fail, open_text

COMMENTS = ("#", "%")
INTEGER = re.compile(r"[+-]?[0-9]+")


def _parsed(lines: Iterable[str], dtype: np.dtype, separator: str | None) -> np.ndarray | None:
    """Lines of numbers by NumPy's fast reader, or None if any is not just what the dtype says."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.loadtxt(lines, dtype=dtype, delimiter=separator, comments=None, ndmin=1)
        except (ValueError, Warning):
            return None


@dataclasses.dataclass(frozen=True)
class _Layout:
    """How a list of edges is written."""

    first: int  # line number of the first edge
    width: int  # columns
    separator: str | None  # None: any run of blanks
    columns: tuple[int, int, int | None]  # of the source, the target, the weight
    integers: bool  # whether the first edge has an integer weight
    undirected: bool


def read_edges(path: Path, directed: bool | None, weight: str | int | None) -> Graph:
    layout = _layout(path, weight)
    columns = _fast_columns(path, layout) or _careful_columns(path, layout)
    graph = as_graph(tuple(columns))
    return dataclasses.replace(graph, directed=not layout.undirected if directed is None else directed)


def _layout(path: Path, weight: str | int | None) -> _Layout:
    """What the comments and the first two lines of data say."""
    undirected = False
    data: list[tuple[int, str]] = []
    with open_text(path) as file:
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
        fail(path, first, repr(line.strip()), "a source and a target vertex")
    if rows[0][0] == "":
        fail(path, first, "an empty first field", "a source vertex (is this a table of a matrix?)")
    names: list = list(range(len(rows[0])))
    if _is_header(rows):
        if len(data) == 1:
            raise GraphError(f"{path} holds no edges, only the line of column names {rows[0]}")
        names, first = rows.pop(0), data[1][0]
    with about(f"{path}, line {data[0][0]}"):
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
        with open_text(path) as file:
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
    with open_text(path) as file:
        body = islice(enumerate(file, 1), layout.first - 1, None)
        for number, row in _rows(path, body, layout.separator):
            if len(row) != layout.width:
                fail(path, number, f"{len(row)} fields", wanted)
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
            fail(path, lines[column.index("")], f"no {what} vertex", "a name or an integer")
    if not all(INTEGER.fullmatch(text) for column in ends for text in column):
        return [np.array(column, dtype=object) for column in ends]
    for what, column in zip(("source", "target"), ends, strict=True):
        for text, line in zip(column, lines, strict=True):
            if not 0 <= int(text) < 2**63:
                fail(path, line, f"{what} vertex {text}", "an integer from 0 that fits 64 bits, or names")
    return [np.array(list(map(int, column)), dtype=np.int64) for column in ends]


def _careful_weights(path: Path, texts: list[str], lines: list[int]) -> np.ndarray:
    for text, line in zip(texts, lines, strict=True):
        if not _is_number(text) or float(text) != float(text):
            fail(path, line, f"the weight {text!r}" if text else "no weight", "a number")
    if texts and all(map(INTEGER.fullmatch, texts)):
        values = list(map(int, texts))
        if min(values) >= -(2**63) and max(values) < 2**63:
            return np.array(values, dtype=np.int64)
    return np.array(list(map(float, texts)))


# DIMACS shortest paths: c comment, p sp n m, then m lines a source target weight, vertices from 1


def read_dimacs(path: Path, directed: bool | None, weight: str | int | None) -> Graph:
    line, n, m = _dimacs_problem(path)
    arcs = _fast_dimacs(path, line, n)
    if arcs is None:
        arcs = _careful_dimacs(path, line, n)
    if len(arcs) != m:
        fail(path, line, f"a problem of {m} arcs", f"the {len(arcs)} that the file holds")
    weights = None if weight is None else np.ascontiguousarray(arcs["weight"])
    return Graph(arcs["from"] - 1, arcs["to"] - 1, n, weights, directed=directed is not False)


def _dimacs_problem(path: Path) -> tuple[int, int, int]:
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            words = line.split()
            if words and words[0] != "c":
                if words[:2] == ["p", "sp"] and len(words) == 4 and all(map(str.isdecimal, words[2:])):
                    return number, int(words[2]), int(words[3])
                fail(path, number, repr(line.strip()), "'p sp VERTICES ARCS' before any arc")
    raise GraphError(f"{path} holds only comments: expected 'p sp VERTICES ARCS' and arcs")


def _fast_dimacs(path: Path, problem: int, n: int) -> np.ndarray | None:
    """The arcs of a file of integers without any fault or comment among them; None for all others."""
    with open_text(path) as file:
        lines = islice(file, problem, None)
        arcs = _parsed(lines, np.dtype([("a", "S2"), ("from", "i8"), ("to", "i8"), ("weight", "i8")]), None)
    if arcs is None or not (arcs["a"] == b"a").all():
        return None
    ends = np.concatenate([arcs["from"], arcs["to"]])
    return arcs if ends.min() >= 1 and ends.max() <= n else None


def _careful_dimacs(path: Path, problem: int, n: int) -> np.ndarray:
    ends, weights, lines = [], [], []
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            words = line.split()
            if number <= problem or not words or words[0] == "c":
                continue
            if words[0] != "a" or len(words) != 4:
                fail(path, number, repr(line.strip()), "'a SOURCE TARGET WEIGHT'")
            for word in words[1:3]:
                if not INTEGER.fullmatch(word) or not 1 <= int(word) <= n:
                    fail(path, number, f"vertex {word!r}", f"an integer from 1 to {n}")
            ends.append((int(words[1]), int(words[2])))
            weights.append(words[3])
            lines.append(number)
    values = _careful_weights(path, weights, lines)
    arcs = np.empty(len(ends), dtype=[("from", "i8"), ("to", "i8"), ("weight", values.dtype)])
    arcs["from"], arcs["to"] = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    arcs["weight"] = values
    return arcs
