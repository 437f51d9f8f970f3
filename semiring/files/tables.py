"""Labelled tables of a matrix in CSV: vertices in the first line and the first column, elements between them.

What stands in quotation marks is a text, as a vertex called "7" is; without them, labels that are all integers, each in
its one spelling, are integers. Where a cell is empty there is no edge.
"""

from __future__ import annotations

import ast
import csv
import dataclasses
import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import GraphError
from semiring.graphs.adjacency import adjacency
from semiring.graphs.columns import names_ends
from semiring.graphs.graph import Graph
from semiring.graphs.matrix import Matrix
from semiring.graphs.texts import infinities, quoted, shown
from semiring.graphs.weights import as_weights

from .numerals import CANONICAL, INTEGER, NUMBER, number
from .streams import numbered_lines, text_of
from .text import BLANKS, COMMENTS, SEPARATES, Options

CORNER = re.compile(r' *(?:"" *)?([,;\t])')  # what a table begins with
EXACT = 2**53  # up to which a double holds every integer
REAL = NUMBER.pattern
COMPLEX = re.compile(rf"\(?(?:{REAL})?[+-]?(?:{REAL})j\)?", re.IGNORECASE)
TOKEN = re.compile(rf"({REAL})|[][(),]", re.IGNORECASE)
LONGEST = 4000  # characters of a cell; Python reads no integer of more digits


class Label(NamedTuple):
    """A vertex as the table spells it."""

    text: str
    marked: bool  # whether in quotation marks
    line: int
    field: int  # which counts from 1


@dataclasses.dataclass(frozen=True)
class Cells:
    """A table as edges: what is in its cells that are not empty."""

    names: list[Any] | None
    n: int
    sources: list[int]
    targets: list[int]
    values: list[Any]  # integers, floats, complex numbers, or tuples of the components of records

    def graph(self, options: Options) -> Graph:
        """The edges, with what they weigh."""
        weights = None if options.weight is None else _as_written(self.values)
        ends = np.array(self.sources, np.int64), np.array(self.targets, np.int64)
        return Graph(*ends, self.n, weights, self.names, options.one_way)


def is_table(text: str, options: Options) -> bool:
    """Whether a text is a table of a matrix: the first field of its first line is empty.

    >>> is_table(",a,b", Options()), is_table("a,b,3", Options())
    (True, False)
    """
    if (options.header, options.source, options.target) != (None, None, None):
        return False  # the caller says that it is a list of edges
    rows = [line for _, line in islice(((at, x) for at, x in numbered_lines(text) if not _is_passed_over(x)), 2)]
    if not rows or (mark := CORNER.match(rows[0])) is None:
        return bool(rows) and rows[0].strip(BLANKS) == '""'
    header, *below = csv.reader(rows, delimiter=mark[1], skipinitialspace=True)
    asked = isinstance(options.weight, str) and options.weight != "weight" and options.weight in header
    return not asked and not (names_ends(header) and below and below[0][:1] and below[0][0] not in header)


def _is_passed_over(line: str) -> bool:
    """Whether a line that begins a row is empty, or a comment."""
    bare = line.strip(" \r\n")
    return not bare or bare.startswith(COMMENTS) or SEPARATES.fullmatch(bare) is not None


def read_table(path: Path, text: str, options: Options) -> Graph:
    """The graph of a table: an edge for each cell that is not empty."""
    return parse_table(path, text, options).graph(options)


def matrix_of_table(path: Path, data: bytes, S: Semiring, dtype: np.dtype | None, options: Options) -> Matrix | None:
    """The matrix of a table over an algebra; None where the text is a list of edges."""
    text = text_of(path, data)
    if not is_table(text, options):
        return None
    cells = parse_table(path, text, options)
    if dtype is None and cells.values and all(map(_is_whole, cells.values)):
        dtype = _integers_of(S)
    if dtype is not None and not (dtype.names and set(dtype.names) != set(S.fields or ())):  # no vectors
        limits = infinities(S, dtype)
        cells = dataclasses.replace(cells, values=[_finite(x, dtype, limits) for x in cells.values])
    return adjacency(cells.graph(options), S, dtype=dtype)


def _is_whole(x: Any) -> bool:
    """Whether a cell is an integer, or the infinity of a matrix of integers."""
    return type(x) is int or x in (np.inf, -np.inf)


def _integers_of(S: Semiring) -> np.dtype | None:
    """Integers of 64 bits, where the algebra lives in them."""
    whole = np.dtype(np.int64)
    return whole if whole in S.dtypes and S.default_dtype.kind != "b" else None


def _finite(x: Any, dtype: np.dtype, limits: Mapping[Any, Any]) -> Any:
    """An element with integers where a table says inf and the dtype has an integer for it."""
    if dtype.names is not None:
        if not isinstance(x, tuple) or len(x) != len(dtype.names):
            return x  # what is wrong is said by who takes it
        return tuple(_finite(part, dtype[f].base, limits.get(f, {})) for f, part in zip(dtype.names, x, strict=True))
    if isinstance(x, list):
        return [_finite(part, dtype, limits) for part in x]
    return next((limit for limit, infinite in limits.items() if x == infinite), x)


def _as_written(values: list[Any]) -> np.ndarray:
    """Weights as an array, objects where doubles would change an integer that stands beside floats."""
    kinds = set(map(type, values))
    if {int, float} <= kinds and any(type(x) is int and abs(x) > EXACT for x in values):
        return np.fromiter(values, dtype=object, count=len(values))
    return as_weights(values)


def parse_table(path: Path, text: str, options: Options) -> Cells:
    """The cells of a table.

    Raises
    ------
    GraphError
        Where a line has too many fields or too few, a vertex comes twice or is only a row or only a column, or a cell
        holds no element; the message says the line and the field.
    """
    if options.weight not in (None, "weight"):
        raise GraphError(f"{shown(path)} is a table of a matrix, which has no column called {quoted(options.weight)}: "
                         "leave weight= out")
    records = _records(path, text)
    header, _ = next(records)
    across, down, rows = header[1:], [], []
    for labels, fields in records:
        if len(labels) != len(header):
            _fail(path, labels[0], f"{len(labels)} fields", f"{len(header)}, as in line {header[0].line}")
        down.append(labels[0])
        rows.append(fields)
    for labels, what in ((across, "columns"), (down, "rows")):
        _refuse_twice(path, labels, what)
    place = {label.text: k for k, label in enumerate(down)}
    columns = {label.text for label in across}
    for label in across:
        if label.text not in place:
            _fail(path, label, f"the column {quoted(label.text)}", "a row of the same vertex")
    for label in down:
        if label.text not in columns:
            _fail(path, label, f"the row {quoted(label.text)}", "a column of the same vertex")
    order = [place[label.text] for label in across]
    found = Cells(_names(down, across, options), len(down), [], [], [])
    for i, (label, fields) in enumerate(zip(down, rows, strict=True)):
        for k, cell in enumerate(fields[1:]):
            if bare := cell.strip(BLANKS):
                found.sources.append(i)
                found.targets.append(order[k])
                plain = bare if options.decimal == "." else bare.replace(options.decimal, ".")
                found.values.append(_element(path, label._replace(field=k + 2), plain))
    return found


def _records(path: Path, text: str) -> Iterator[tuple[list[Label], list[str]]]:
    """Each row of a table: its fields as labels, of which a row's own needs the first only, and as they are."""
    lines = iter(numbered_lines(text))
    line, parts = 0, list[str]()

    def bare() -> Iterator[str]:
        nonlocal line
        for at, raw in lines:
            if not parts:
                line = at
                if _is_passed_over(raw):
                    continue
            parts.append(raw)
            yield raw

    first = next(bare())
    mark = CORNER.match(first)
    separator = mark[1] if mark else ","
    lines, parts = iter(numbered_lines(text)), []
    try:
        for fields in csv.reader(bare(), delimiter=separator, skipinitialspace=True, strict=True):
            marks = _marks("".join(parts).rstrip("\r\n"), separator)
            yield [Label(field if marked else field.strip(BLANKS), marked, line, k)
                   for k, (field, marked) in enumerate(zip(fields, marks, strict=True), 1)], fields
            parts.clear()
    except csv.Error as e:
        where = Label("", False, line, 0)
        _fail(path, where, shown(e), 'fields quoted by "…" in full or not at all')


def _marks(record: str, separator: str) -> list[bool]:
    """Which fields of a row are in quotation marks."""
    field = re.compile(rf' *(?:("(?:[^"]|"")*") *|[^{separator}]*)')
    marks, at = [], 0
    while at <= len(record):
        found = field.match(record, at)
        assert found is not None  # nothing at all is a field
        marks.append(found[1] is not None)
        at = found.end() + 1
    return marks


def _fail(path: Path, label: Label, found: str, expected: str) -> NoReturn:
    where = f", field {label.field}" if label.field > 1 else ""
    raise GraphError(f"{shown(path)}, line {label.line}{where}: found {found}, expected {expected}")


def _refuse_twice(path: Path, labels: Sequence[Label], what: str) -> None:
    seen: dict[str, Label] = {}
    for label in labels:
        first = seen.setdefault(label.text, label)
        if first is not label:
            before = f"line {first.line}" if first.line != label.line else f"field {first.field}"
            _fail(path, label, f"{quoted(label.text)} again, which {before} is called too", f"{what} that all differ")


def _names(down: Sequence[Label], across: Sequence[Label], options: Options) -> list[Any] | None:
    """What the vertices are called, in the order of the rows; None where they are counted from 0."""
    texts = [label.text for label in down]
    plain = [label.text for label in (*down, *across) if not label.marked]
    if options.names is str or not all(map(CANONICAL.fullmatch, plain)) or any(len(x) > LONGEST for x in plain):
        return texts
    names = [label.text if label.marked else int(label.text) for label in down]
    return None if names == list(range(len(names))) and texts == [label.text for label in across] else names


def _element(path: Path, where: Label, text: str) -> Any:
    """What a cell holds: an integer, a float, a complex number, or a tuple."""
    if len(text) <= LONGEST:
        if INTEGER.fullmatch(text):
            return int(text)
        value = number(text)
        if value is not None and value == value:
            return value
        try:
            if COMPLEX.fullmatch(text):
                return complex(text)
            if text.startswith("("):
                return _record(text)
        except ValueError:
            pass
    _fail(path, where, quoted(text), "a number, a tuple of numbers for a record, or nothing where there is no edge")


def _record(text: str) -> tuple[Any, ...]:
    """The components of a record, as Python writes a tuple, whose vectors are lists and whose infinities are inf.

    Raises
    ------
    ValueError
        For anything else.
    """
    plain = text.replace("'", "").replace(" ", "")  # shorter floats are texts
    tokens = list(TOKEN.finditer(plain))
    numbers = [token[1] is not None for token in tokens]
    if "".join(token[0] for token in tokens) != plain or any(map(operator.and_, numbers, numbers[1:])):
        raise ValueError(text)
    code = "".join(token[0].lower().replace("infinity", "inf").replace("inf", "1e999") for token in tokens)
    try:
        found = ast.literal_eval(code)
    except (SyntaxError, RecursionError, MemoryError):  # brackets that do not match
        raise ValueError(text) from None
    if not isinstance(found, tuple):
        raise ValueError(text)
    return found
