"""Graphs from Matrix Market files, and matrices to them.

R. F. Boisvert, R. Pozo, K. A. Remington: The Matrix Market exchange formats, initial design, NIST (1996).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from semiring.errors import GraphError
from semiring.graphs.graph import Graph
from semiring.graphs.matrix import Matrix
from semiring.graphs.texts import quoted, shown, with_infinities

from .arrays import differs, refuse_absent
from .format import Options
from .notes import Note, comment, noted
from .numerals import integer, table
from .streams import BLANKS, WORD, about, created, fail, numbered_lines, text_of, vertices_from_one, weight_of
from .writers import BLOCK, kept_names

BANNER = "%%matrixmarket"
LAYOUTS = ("coordinate", "array")
# words of the first line: numbers per value, and their dtype
FIELDS = {"real": (1, "f8"), "double": (1, "f8"), "integer": (1, "i8"), "unsigned-integer": (1, "i8"),
          "complex": (2, "f8"), "pattern": (0, "f8")}
SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
VERTEX = "%vertex"


@dataclass(frozen=True)
class _Head:
    """The header: everything above the entries."""

    layout: str
    field: str
    symmetry: str
    size_line: int  # the line of the size
    start: int  # where the next line begins in the text
    n: int
    entries: int
    names: list[Any] | None = None  # if `write_matrix` wrote them
    dtype: np.dtype | None = None  # likewise

    @property
    def width(self) -> int:
        """How many numbers a line has."""
        return FIELDS[self.field][0] + (2 if self.layout == "coordinate" else 0)


def read_mtx(path: Path, data: bytes, options: Options) -> Graph:
    text = text_of(path, data, errors="replace")  # comments are in any encoding; numbers are ASCII
    head = _head(path, text, noted(path, data))
    found = _fast_entries(text, head)
    if found is None:
        found = _careful_entries(path, text, head)
    ends, values = found
    if len(values) != head.entries:
        fail(path, head.size_line, f"a size of {head.entries} entries", f"the {len(values)} that the file holds")
    if head.layout == "array":
        if head.symmetry == "general":
            values = values.reshape(head.n, head.n).T.reshape(-1)
        ends = _dense_ends(head)
        present = (values != 0) & np.isfinite(values) if options.absent is None else differs(values, options.absent)
        ends, values = ends[:, present], values[present]
    elif options.absent is not None:
        refuse_absent(path, "a list of entries")
    elif head.symmetry != "general":
        _refuse_both_halves(path, ends, head)
    _refuse_diagonal(path, text, ends, values, head)
    with about(str(path)):
        return _graph(path, head, ends - 1, values, options)


def _head(path: Path, text: str, note: Note | None) -> _Head:
    at = 0
    words: list[str] = []
    names: list[Any] | None = [] if note is not None and note.names is not None else None
    for line, raw in numbered_lines(text):
        at += len(raw)
        if names is not None and raw.startswith(VERTEX + " "):
            names.append(_name(path, line, raw))
        if line == 1:
            words = raw.lower().split()
            if len(words) != 5 or words[:2] != [BANNER, "matrix"]:
                expected = "'%%MatrixMarket matrix LAYOUT FIELD SYMMETRY'"
                fail(path, line, quoted(raw.strip(BLANKS)), expected)
            for word, known in zip(words[2:], (LAYOUTS, tuple(FIELDS), SYMMETRIES), strict=True):
                if word not in known:
                    fail(path, line, quoted(word), "one of " + ", ".join(known))
            pattern, symmetry = words[3] == "pattern", words[4]
            if pattern and (words[2] == "array" or symmetry == "skew-symmetric"):
                fail(path, line, "a pattern", "numbers: an array or a skew-symmetric matrix cannot be a pattern")
            if symmetry == "hermitian" and words[3] != "complex":
                fail(path, line, f"a hermitian matrix of {words[3]} entries", "complex entries")
        elif raw.strip(BLANKS) and not raw.lstrip(BLANKS).startswith("%"):
            head = _sized(path, words, line, at, raw)
            if names is not None and len(names) != head.n:
                fail(path, line, f"the names of {len(names)} vertices", f"{head.n}, one for each row")
            return replace(head, names=names, dtype=None if note is None else note.dtype)
    raise GraphError(f"{shown(path)} ends before the line with its size")


def comments(M: Matrix, names: Sequence[int | str] | None) -> Iterator[str]:
    r"""The comments in which `write_matrix` stores dtype and names.

    >>> import semiring as sr
    >>> M = sr.adjacency([("Ayr", "Lee", 3.0)], sr.min_plus, dtype="f4")
    >>> print(*list(comments(M, ["Ayr", 7]))[1:], sep="", end="")
    %vertex "Ayr"
    %vertex 7
    """
    if names is None and M.semiring.default_dtype.kind != "b" and M.dtype in (np.int64, np.float64, np.complex128):
        return  # readers assume these without a note
    yield f"% {comment(M, names)}\n"
    for name in names or ():
        yield f"{VERTEX} {json.dumps(name)}\n"


def _name(path: Path, line: int, raw: str) -> int | str:
    """The name in a comment of `write_matrix`."""
    try:
        name = json.loads(raw.removeprefix(VERTEX))
    except (ValueError, RecursionError):
        name = None
    if type(name) not in (int, str):
        fail(path, line, quoted(raw.strip(BLANKS)), f'a name, as in {VERTEX} "Ayr"')
    return name


def _sized(path: Path, words: list[str], line: int, at: int, raw: str) -> _Head:
    _, _, layout, field, symmetry = words
    wanted = 3 if layout == "coordinate" else 2
    sizes = [integer(word, 0) for word in WORD.findall(raw)]
    if len(sizes) != wanted or None in sizes:
        expected = "the numbers of rows and columns" + (" and entries" if wanted == 3 else "")
        fail(path, line, quoted(raw.strip(BLANKS)), expected)
    rows, columns, *entries = (size or 0 for size in sizes)
    if rows != columns:
        raise GraphError(f"{shown(path)} holds a {rows} × {columns} matrix: a graph needs a square matrix")
    if layout == "array":
        held = {"general": rows * rows, "skew-symmetric": rows * (rows - 1) // 2}
        entries = [held.get(symmetry, rows * (rows + 1) // 2)]
    return _Head(layout, field, symmetry, line, at, rows, entries[0])


def _fast_entries(text: str, head: _Head) -> tuple[np.ndarray, np.ndarray] | None:
    """The ends (counted from 1) and values of a file without errors; None for other files."""
    numbers, kind = FIELDS[head.field]
    ends = head.width - numbers
    dtype = np.dtype([(f"c{k}", "i8" if k < ends else kind) for k in range(head.width)])
    found = table(text[head.start :], dtype, None)
    if found is None:
        return None
    columns = [np.ascontiguousarray(found[f"c{k}"]) for k in range(head.width)]
    if any(column.min() < 1 or column.max() > head.n for column in columns[:ends]):
        return None
    if head.field == "unsigned-integer" and columns[-1].min() < 0:
        return None
    return np.array(columns[:ends]), _values(columns[ends:], len(found))


def _values(columns: list[np.ndarray], count: int) -> np.ndarray:
    if len(columns) == 2:
        result = np.empty(count, np.complex128)
        result.real, result.imag = columns
        return result
    return columns[0] if columns else np.ones(count, bool)


def _careful_entries(path: Path, text: str, head: _Head) -> tuple[np.ndarray, np.ndarray]:
    """The same, line by line, with errors that name the line."""
    numbers, kind = FIELDS[head.field]
    ends: list[tuple[int, ...]] = []
    parts: list[float] = []
    for line, words in _entries(text, head):
        if len(words) != head.width:
            fail(path, line, f"{len(words)} numbers",
                 f"{head.width}, as {head.layout} matrices of {head.field} entries have")
        ends.append(vertices_from_one(path, line, words[: head.width - numbers], head.n))
        parts.extend(_weight(path, line, word, head.field) for word in words[head.width - numbers :])
    if kind == "i8" and max(parts, default=0) >= 2**63:
        if min(parts) < 0:
            raise GraphError(f"{shown(path)} holds both negative weights and weights of 2⁶³ or more: no 64-bit "
                             "integers hold both")
        kind = "u8"
    column = np.array(parts, kind)
    columns = [column[k::numbers] for k in range(numbers)]
    return np.array(ends, np.int64).reshape(len(ends), head.width - numbers).T, _values(columns, len(ends))


def _entries(text: str, head: _Head) -> Iterator[tuple[int, list[str]]]:
    for line, raw in numbered_lines(text, head.size_line + 1):
        if raw.strip(BLANKS) and not raw.lstrip(BLANKS).startswith("%"):
            yield line, WORD.findall(raw)


def _weight(path: Path, line: int, word: str, field: str) -> float:
    if FIELDS[field][1] == "i8":
        whole = integer(word, 0 if field == "unsigned-integer" else -(2**63), 2**64 - 1)
        if whole is None:
            fail(path, line, f"the weight {quoted(word)}", "an integer that fits 64 bits")
        return whole
    return weight_of(path, line, word)


def _dense_ends(head: _Head) -> np.ndarray:
    """The ends of all entries of an array: row by row, or the lower triangle column by column."""
    n = head.n
    if head.symmetry == "general":
        return np.indices((n, n)).reshape(2, -1) + 1
    below = head.symmetry == "skew-symmetric"
    counts = np.arange(n - below, -1 if below else 0, -1)[:n]
    columns = np.repeat(np.arange(n), counts)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.array([columns + within + below, columns]) + 1


def _refuse_both_halves(path: Path, ends: np.ndarray, head: _Head) -> None:
    """Refuse an entry whose mirror image is also written: it would count twice."""
    upper = ends[0] < ends[1]
    if not upper.any():
        return
    rows, columns = ends
    mirrored = set(zip(columns[upper].tolist(), rows[upper].tolist(), strict=True))
    for row, column in zip(rows[~upper].tolist(), columns[~upper].tolist(), strict=True):
        if (row, column) in mirrored:
            raise GraphError(
                f"{shown(path)} is {head.symmetry} and holds both entry ({row}, {column}) and entry ({column}, {row}): "
                "remove one of them, or declare the matrix general"
            )


def _refuse_diagonal(path: Path, text: str, ends: np.ndarray, values: np.ndarray, head: _Head) -> None:
    """Refuse a diagonal entry that is not its own negative, or its own conjugate."""
    if head.symmetry not in ("skew-symmetric", "hermitian"):
        return
    skew = head.symmetry == "skew-symmetric"
    wrong = np.flatnonzero((ends[0] == ends[1]) & ((values if skew else values.imag) != 0))
    if len(wrong):
        k, at = int(wrong[0]), int(ends[0][wrong[0]])
        lines = (line for line, _ in _entries(text, head))
        where = f", line {next(islice(lines, k, None))}" if head.layout == "coordinate" else ""
        what = "has only zeros" if skew else "is real"
        raise GraphError(f"{shown(path)}{where}: entry ({at}, {at}) is {values[k]}: a {head.symmetry} matrix {what} on "
                         "its diagonal")


def _graph(path: Path, head: _Head, ends: np.ndarray, values: np.ndarray, options: Options) -> Graph:
    sources, targets = (np.ascontiguousarray(end) for end in ends)
    directed = head.symmetry != "symmetric" and options.one_way
    if head.symmetry in ("skew-symmetric", "hermitian"):
        apart = sources != targets
        mirrored = _negated(values[apart]) if head.symmetry == "skew-symmetric" else values[apart].conj()
        sources, targets = np.concatenate([sources, targets[apart]]), np.concatenate([targets, sources[apart]])
        values = np.concatenate([values, mirrored])
    weights = None if options.weight is None or head.field == "pattern" else values
    if weights is not None and head.dtype is not None:
        weights = _narrowed(weights, head)
    return Graph(sources, targets, head.n, weights, head.names, directed)


def _narrowed(values: np.ndarray, head: _Head) -> np.ndarray:
    """Values in their original dtype, if that is exact."""
    assert head.dtype is not None
    if values.dtype.kind == "c" and head.dtype.kind != "c":
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = values.astype(head.dtype)
    return narrow if np.array_equal(narrow, values) else values


def _negated(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "u" or (values.dtype.kind == "i" and len(values) and values.min() == -(2**63)):
        raise GraphError("a skew-symmetric matrix holds each weight and its negative, and one of them does not fit 64 "
                         "bits")
    return -values


def write_mtx(path: Path, M: Matrix) -> None:
    rows, columns = np.nonzero(M.array != M.semiring.zero_in(M.dtype))
    values = M.array[rows, columns]
    readable_values = with_infinities(values, M.semiring)  # objects if floats would round: keep the integers then
    values = values if readable_values.dtype.kind == "O" else readable_values
    kind = {"b": "pattern", "i": "integer", "u": "integer", "c": "complex"}.get(values.dtype.kind, "real")
    if values.dtype == np.uint64 and len(values) and values.max() >= 2**63:
        kind = "unsigned-integer"
    numbers = {"pattern": [], "complex": [values.real, values.imag]}.get(kind, [values])
    if kind in ("real", "complex"):
        numbers = [part.astype(np.float64) for part in numbers]  # whose shortest texts are exact
    line = " ".join(["{}"] * (2 + len(numbers))) + "\n"
    names = None if M.names is None else kept_names(path, M.names)
    with created(path) as file:
        file.write(f"%%MatrixMarket matrix coordinate {kind} general\n".encode())
        file.writelines(text.encode() for text in comments(M, names))
        file.write(f"{M.n} {M.n} {len(values)}\n".encode())
        for start in range(0, len(values), BLOCK):
            part = slice(start, start + BLOCK)
            lists = [column[part].tolist() for column in (rows + 1, columns + 1, *numbers)]
            file.write("".join(map(line.format, *lists)).encode())
