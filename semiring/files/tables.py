"""Matrices as text: labelled tables, vertices in the first line and the first column, and rows of plain numbers.

A label in quotation marks is a text, such as a vertex called "7". Other labels are integers if all of them are integers
in canonical spelling. An empty cell means no edge. If no cell off the diagonal is empty, 0 and ±∞ mean no edge, as in a
NumPy array. For a matrix over an algebra every entry is an element.
"""

from __future__ import annotations

import ast
import csv
import dataclasses
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import GraphError
from semiring.graphs.adjacency import adjacency
from semiring.graphs.columns import IF_CLEAR, names_ends, says_edges
from semiring.graphs.graph import Graph
from semiring.graphs.matrix import Matrix
from semiring.graphs.texts import infinities, quoted, shown
from semiring.graphs.weights import as_weights

from .arrays import doubt_zeros, from_matrix, literal, refuse_absent
from .format import Options
from .numerals import CANONICAL, INTEGER, NUMBER, integers, is_number, number
from .rows import is_passed_over, separator_of
from .streams import BLANKS, numbered_lines, text_of, warn
from .text import read_edges

INFINITIES = (np.inf, -np.inf)
TRUTH = ("true", "false")
# comments of SNAP and KONECT, and the first line of Matrix Market
SAYS_EDGES = re.compile(r"%%matrixmarket|[ #%]*((un)?directed graph|a?sym\b|bip\b|fromnodeid|nodes: *[0-9])")
NEVER = ("false",)  # cells that mean no edge, besides empty ones
WORDS = re.compile(rf'"(?:[^"]|"")*"|[^{BLANKS}]+')  # what blanks separate
CORNER = re.compile(r' *(?:"" *|absent=([^ ,;\t"]+) *)?([,;\t])')  # what a table begins with
EXACT = 2**53  # floats hold every integer up to here
REAL = NUMBER.pattern
COMPLEX = re.compile(rf"\(?(?:{REAL})?[+-]?(?:{REAL})j\)?", re.IGNORECASE)
TOKEN = re.compile(rf"({REAL})|[][(),]", re.IGNORECASE)
CELL_CHARACTERS = 4000  # characters of a cell; Python refuses to read longer integers


class Label(NamedTuple):
    """A vertex as the table spells it, and its place."""

    text: str
    marked: bool  # whether in quotation marks
    line: int
    field: int  # counted from 1


@dataclasses.dataclass(frozen=True)
class Cells:
    """A table as edges: its cells that are not empty."""

    names: list[Any] | None
    n: int
    sources: list[int]
    targets: list[int]
    values: list[Any]  # integers, floats, complex numbers, or tuples of the components of records

    @property
    def is_full(self) -> bool:
        """Whether no cell off the diagonal is empty, so another mark may mean no edge."""
        return self.off_diagonal(lambda x: True) == self.n * (self.n - 1)

    def off_diagonal(self, has: Callable[[Any], bool]) -> int:
        """How many values off the diagonal have a property."""
        return sum(i != j and has(x) for i, j, x in zip(self.sources, self.targets, self.values, strict=True))

    def graph(self, path: Path, options: Options) -> Graph:
        """The graph of the edges."""
        return self.edges(path, options).as_edges(options)

    def edges(self, path: Path, options: Options) -> Cells:
        """The cells that are edges: all but `absent`, and in full tables all but 0 and ±∞.

        If 0 or ±∞ are only on the diagonal, they are weights, as in a table of distances.
        """
        if options.absent is not None:
            return self._without(lambda x: x == options.absent)
        full, zeros = self.is_full, self.off_diagonal(lambda x: x == 0)
        empty, infinite = len(self.values) < self.n * self.n, full and self.off_diagonal(lambda x: x in INFINITIES)
        if zeros and empty and (full or set(self.values) <= {0, 1}):
            read = "was read as no edge" if full else "was read as an edge of weight 0"
            warn(f"{shown(path)} has empty cells, which mean no edge, and 0, which {read}: pass absent=0 if 0 means no "
                 "edge, absent=numpy.nan if it is a weight")
        elif zeros and infinite:
            warn(f"{shown(path)} holds 0 and ±∞, and both were read as no edge: pass absent=0 or absent=numpy.inf if "
                 "only that means no edge, absent=numpy.nan if both are weights")
        gone = (0,) * bool(full and zeros) + INFINITIES * bool(infinite)
        return self._without(lambda x: x in gone) if gone else self

    def _without(self, gone: Callable[[Any], bool]) -> Cells:
        kept = [k for k, x in enumerate(self.values) if not gone(x)]
        columns = ([column[k] for k in kept] for column in (self.sources, self.targets, self.values))
        return Cells(self.names, self.n, *columns)

    def as_edges(self, options: Options) -> Graph:
        """The graph of all cells that are not empty."""
        weights = None if options.weight is None else _as_written(self.values)
        ends = np.array(self.sources, np.int64), np.array(self.targets, np.int64)
        return Graph(*ends, self.n, weights, self.names, options.one_way)


@dataclasses.dataclass(frozen=True)
class Form:
    """How a matrix is written as text."""

    labelled: bool  # vertices in the first line and column
    separator: str | None  # None: any run of blanks
    cornerless: bool = False  # the first line has no corner, as R writes it
    absent: float | None = None  # the element that means no edge, if the table says it
    names: list[str] | None = None  # in a line above plain numbers
    rows: list[list[str]] = dataclasses.field(default_factory=list)  # the plain numbers
    doubtful: bool = False  # plain numbers that could be edges as well

    def said(self, options: Options) -> Options:
        """Options with the table's `absent`, unless the caller passes one."""
        return options if options.absent is not None else dataclasses.replace(options, absent=self.absent)


def form_of(text: str, options: Options) -> Form | None:
    """How a text writes a matrix; None if it is a list of edges, or the caller says so.

    >>> form_of(",a,b\\na,0,1\\nb,0,0", Options()).labelled, form_of("a,b,3", Options()) is None
    (True, True)
    >>> form_of("0 1 1\\n1 0 1\\n1 1 0", Options()).doubtful, form_of("0 .5\\n.5 0", Options()).doubtful
    (True, False)
    """
    if (options.header, options.source, options.target) != (None, None, None):
        return None
    raw = _data(text)
    first = next(raw, "")
    corner = CORNER.match(first)
    if first.strip(BLANKS) == '""':
        return Form(True, ",")
    if first.strip(BLANKS) != "" and corner:
        header, *below = csv.reader([first, *islice(raw, 1)], delimiter=corner[2], skipinitialspace=True)
        asked = isinstance(options.weight, str) and options.weight != "weight" and options.weight in header
        of_edges = names_ends(header) or header[1:2] == [""]  # as an index with several levels has them
        of_edges = of_edges or any(map(_is_text, below[0][1:] if below else ()))
        if asked or (of_edges and below and below[0][:1] and below[0][0] not in header):
            return None  # edges that were saved with their index
        return Form(True, corner[2], absent=number(corner[1]) if corner[1] else None)
    if options.weight not in ("weight", IF_CLEAR, None):
        return None  # a column
    separator = separator_of(first, options.decimal)
    head = _fields(first, separator)
    body = [_fields(line, separator) for line in islice(raw, len(head) + 1)]
    if options.decimal != ".":
        head, *body = ([cell.replace(options.decimal, ".") for cell in row] for row in (head, *body))
    return _labelled(head, body, separator) or _plain(head, body, separator, options) if head else None


def _is_text(cell: str) -> bool:
    """Whether a cell that should be an element is a name."""
    return cell.strip(BLANKS)[:1].isalpha() and not is_number(cell.strip(BLANKS))


def _data(text: str) -> Iterator[str]:
    """The lines that are neither empty nor comments; stops at a comment that says that edges follow."""
    for _, line in numbered_lines(text):
        if not is_passed_over(line):
            yield line
        elif SAYS_EDGES.match(line.lower()):
            return


def _labelled(head: list[str], body: list[list[str]], separator: str | None) -> Form | None:
    """A table whose corner holds a word or is missing; rows and columns have the same labels."""
    rows = [row for row in body if row]
    cornerless = len(rows) == len(head) and rows != []
    across = head if cornerless else head[1:]
    sure = len(across) > 1 or cornerless or head[0].lower() == "from"  # as data frames without an index write it
    fits = (
        len(rows) == len(across) > 0 and all(len(row) == len(across) + 1 for row in rows) and sure
        and sorted(row[0] for row in rows) == sorted(across) and len(set(across)) == len(across)
        and (cornerless or not is_number(head[0]))
        and all(cell == "" or cell.lower() in TRUTH or is_number(cell) for row in rows for cell in row[1:])
    )
    return Form(True, separator, cornerless) if fits else None


def _plain(head: list[str], body: list[list[str]], separator: str | None, options: Options) -> Form | None:
    """A square of plain numbers, with or without a line of names above it."""
    names = None if all(map(is_number, head)) else head
    rows = body if names else [head, *body]
    n = len(head)
    if len(rows) != n or any(len(row) != n or not all(map(is_number, row)) for row in rows):
        return None
    if names and (len(set(names)) < n or "" in names or any(map(is_number, names)) or says_edges(names)):
        return None
    edges = n > 1 and all(INTEGER.fullmatch(cell) and cell[0] != "-" for row in rows for cell in row[:2])
    if edges and options.listed:
        return None
    matrix = n > 3 and (
        all(rows[i][i] == rows[0][0] for i in range(n)) or {cell for row in rows for cell in row} <= {"0", "1"}
        or rows == [list(column) for column in zip(*rows, strict=True)]
    )
    return Form(False, separator, names=names, rows=rows, doubtful=edges and not matrix)


def _fields(line: str, separator: str | None) -> list[str]:
    """The fields of a line; empty if a quotation does not end in it."""
    if separator is None:
        return [word.strip('"') for word in WORDS.findall(line)]
    try:
        return [field.strip(BLANKS) for row in csv.reader([line], delimiter=separator, skipinitialspace=True,
                                                          strict=True) for field in row]
    except csv.Error:
        return []


def read_lines(path: Path, data: bytes, options: Options) -> Graph:
    """The graph of a text: a list of edges, or a matrix."""
    text = text_of(path, data)
    form = form_of(text, options)
    if form is None:
        if options.absent is not None:
            refuse_absent(path, "a list of edges")
        return read_edges(path, text, options)
    if form.labelled:
        return parse_table(path, text, form, options).graph(path, form.said(options))
    if form.doubtful and options.absent is None:
        n = len(form.rows)
        raise GraphError(f"{shown(path)} could be {n} edges or a matrix of {n} vertices: pass "
                         f"header={form.names is not None} for edges, absent=0 for a matrix in which 0 means no edge, "
                         "or use read_matrix, which reads every entry as an element")
    return from_matrix(path, _numbers(form), options, names=form.names)


def _numbers(form: Form) -> np.ndarray:
    """A matrix of plain numbers: integers if all are integers, otherwise floats."""
    n = len(form.rows)
    cells = [cell for row in form.rows for cell in row]
    whole = integers(cells) if all(map(INTEGER.fullmatch, form.rows[0])) else None
    return (np.array(list(map(float, cells))) if whole is None else whole).reshape(n, n)


def matrix_of_text(path: Path, data: bytes, S: Semiring, dtype: np.dtype | None, options: Options) -> Matrix | None:
    """The matrix of a text over an algebra; None if the text is a list of edges."""
    text = text_of(path, data)
    form = form_of(text, options)
    if form is None:
        return None
    if not form.labelled:
        array = _numbers(form)
        if form.doubtful and options.absent is None:
            warn(f"{shown(path)} was read as a matrix of {len(array)} vertices, but could be {len(array)} edges: pass "
                 f"header={form.names is not None} for edges, absent=0 for a matrix in which 0 means no edge, "
                 "absent=numpy.nan for a matrix in which every entry is an element")
        return literal(path, array, None, form.names, S, dtype, options)
    cells, options = parse_table(path, text, form, options), form.said(options)
    if dtype is None and cells.values and all(map(_is_whole, cells.values)):
        dtype = _integers_of(S)
    if options.absent is not None or S.default_dtype.kind == "b":
        cells = cells.edges(path, options)
    elif cells.is_full:
        doubt_zeros(path, S, cells.off_diagonal(lambda x: x == 0))
    if dtype is not None and not (dtype.names and set(dtype.names) != set(S.fields or ())):  # without vectors
        limits = infinities(S, dtype)
        cells = dataclasses.replace(cells, values=[_finite(x, dtype, limits) for x in cells.values])
    return adjacency(cells.as_edges(options), S, dtype=dtype)


def _is_whole(x: Any) -> bool:
    """Whether a cell is an integer, or the infinity of a matrix of integers."""
    return type(x) is int or x in (np.inf, -np.inf)


def _integers_of(S: Semiring) -> np.dtype | None:
    """64-bit integers, if the algebra supports them."""
    whole = np.dtype(np.int64)
    return whole if whole in S.dtypes and S.default_dtype.kind != "b" else None


def _finite(x: Any, dtype: np.dtype, limits: Mapping[Any, Any]) -> Any:
    """An element in which the dtype's integers for ±∞ replace inf."""
    if dtype.names is not None:
        if not isinstance(x, tuple) or len(x) != len(dtype.names):
            return x  # the caller reports it
        return tuple(_finite(part, dtype[f].base, limits.get(f, {})) for f, part in zip(dtype.names, x, strict=True))
    if isinstance(x, list):
        return [_finite(part, dtype, limits) for part in x]
    return next((limit for limit, infinite in limits.items() if x == infinite), x)


def _as_written(values: list[Any]) -> np.ndarray:
    """Weights as an array; objects if floats would change an integer."""
    kinds = set(map(type, values))
    if {int, float} <= kinds and any(type(x) is int and abs(x) > EXACT for x in values):
        return np.fromiter(values, dtype=object, count=len(values))
    return as_weights(values)


def parse_table(path: Path, text: str, form: Form, options: Options) -> Cells:
    """The cells of a table.

    Raises
    ------
    GraphError
        If a line has too many or too few fields, a vertex occurs twice or is only a row or only a column, or a cell is
        not an element; the message names the line and the field.
    """
    if options.weight not in (None, "weight", IF_CLEAR):
        raise GraphError(f"{shown(path)} is the table of a matrix and has no column of weights "
                         f"{quoted(options.weight)}: "
                         "leave weight= out")
    records = _records(path, text, form.separator)
    header, _ = next(records)
    if form.cornerless:
        header = [Label("", False, header[0].line, 0), *header]
    across, down, rows = header[1:], [], []
    for labels, fields in records:
        if len(labels) != len(header):
            _fail(path, labels[0], f"{len(labels)} fields", f"{len(header)}, as in line {header[0].line}")
        down.append(labels[0])
        rows.append(fields)
    counted = list(map(str, range(1, len(down) + 1)))  # a matrix without names, as R writes it
    if [label.text for label in down] == counted and [label.text for label in across] in (
            [letter + number for number in counted] for letter in "VX"):
        across = [label._replace(text=row.text, marked=row.marked) for label, row in zip(across, down, strict=True)]
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
            bare = cell.strip(BLANKS)
            if bare and bare.lower() not in NEVER:
                found.sources.append(i)
                found.targets.append(order[k])
                plain = bare if options.decimal == "." else bare.replace(options.decimal, ".")
                found.values.append(_element(path, label._replace(field=k + 2), plain))
    return found


def _records(path: Path, text: str, separator: str | None) -> Iterator[tuple[list[Label], list[str]]]:
    """The rows of a table: the fields of each as labels, and as texts."""
    lines = iter(numbered_lines(text))
    line, parts = 0, list[str]()

    def bare() -> Iterator[str]:
        nonlocal line
        for at, raw in lines:
            if not parts:
                line = at
                if is_passed_over(raw):
                    continue
            parts.append(raw if separator else "\t".join(WORDS.findall(raw)))
            yield parts[-1]

    delimiter = separator or "\t"
    try:
        for fields in csv.reader(bare(), delimiter=delimiter, skipinitialspace=True, strict=True):
            marks = _marks("".join(parts).rstrip("\r\n"), delimiter)
            yield [Label(field if marked else field.strip(BLANKS), marked, line, k)
                   for k, (field, marked) in enumerate(zip(fields, marks, strict=True), 1)], fields
            parts.clear()
    except csv.Error as e:
        where = Label("", False, line, 0)
        _fail(path, where, shown(e), 'fields that are in quotation marks as a whole or not at all')


def _marks(record: str, separator: str) -> list[bool]:
    """Which fields of a row are in quotation marks."""
    field = re.compile(rf' *(?:("(?:[^"]|"")*") *|[^{separator}]*)')
    marks, at = [], 0
    while at <= len(record):
        found = field.match(record, at)
        assert found is not None  # an empty field matches too
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
            _fail(path, label, f"{quoted(label.text)} again, as in {before}", f"{what} with different names")


def _names(down: Sequence[Label], across: Sequence[Label], options: Options) -> list[Any] | None:
    """The names of the vertices in the order of the rows; None if they count from 0."""
    texts = [label.text for label in down]
    plain = [label.text for label in (*down, *across) if not label.marked]
    if options.names is str or not all(map(CANONICAL.fullmatch, plain)) or any(len(x) > CELL_CHARACTERS for x in plain):
        return texts
    names = [label.text if label.marked else int(label.text) for label in down]
    return None if names == list(range(len(names))) and texts == [label.text for label in across] else names


def _element(path: Path, where: Label, text: str) -> Any:
    """The element in a cell: an integer, a float, a complex number, or a tuple."""
    if len(text) <= CELL_CHARACTERS:
        if INTEGER.fullmatch(text):
            return int(text)
        value = number(text)
        if value is not None and value == value:
            return value
        if text.lower() == "true":
            return 1
        try:
            if COMPLEX.fullmatch(text):
                return complex(text)
            if text.startswith("("):
                return _record(text)
        except ValueError:
            pass
    _fail(path, where, quoted(text), "a number, a tuple of numbers for a record, or an empty cell for no edge")


def _record(text: str) -> tuple[Any, ...]:
    """The components of a record, written as a Python tuple with lists for vectors and inf for infinities.

    Raises
    ------
    ValueError
        For anything else.
    """
    plain = text.replace("'", "").replace(" ", "")  # short floats are quoted
    tokens = list(TOKEN.finditer(plain))
    numbers = [token[1] is not None for token in tokens]
    if "".join(token[0] for token in tokens) != plain or any(map(operator.and_, numbers, numbers[1:])):
        raise ValueError(text)
    code = "".join(token[0].lower().replace("infinity", "inf").replace("inf", "1e999") for token in tokens)
    try:
        found = ast.literal_eval(code)
    except (SyntaxError, RecursionError, MemoryError):  # unbalanced brackets
        raise ValueError(text) from None
    if not isinstance(found, tuple):
        raise ValueError(text)
    return found
