"""What writers of several formats share: names and entries as files hold them, and matrices as tables of text."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from semiring.errors import SemiringError
from semiring.graphs.exports import is_absent
from semiring.graphs.matrix import Matrix
from semiring.graphs.names import is_integer
from semiring.graphs.texts import infinities, quoted, readable, shown, shown_infinities, with_infinities

from .notes import single_kind
from .numerals import CANONICAL
from .streams import suffix, utf8, warn

SEPARATORS = ",;\t"
BLOCK = 1 << 16  # entries that are converted to text at once
EXACT = 2**53  # floats hold every integer up to here


def kept_names(path: Path, names: Sequence[Any]) -> list[int | str]:
    """Names as integers and texts; other names become texts, with a warning."""
    others = [name for name in names if not (isinstance(name, str) or is_integer(name))]
    if others:
        warn(f"{shown(path)}: names are stored as integers and texts: {quoted(others[0])} becomes "
             f"{quoted(str(others[0]))}")
    kept = [int(name) if is_integer(name) else str(name) for name in names]
    if len(set(kept)) < len(kept):
        raise SemiringError(f"{shown(path)}: names are stored as integers and texts, and two have the same text: "
                            "rename one")
    return kept


def texts_of(path: Path, M: Matrix, form: str, holds_no: Callable[[str], Any]) -> list[int | str] | None:
    """The names, all of one kind and each allowed by the format; None for positions."""
    if M.names is None:
        return None
    names = kept_names(path, M.names)
    single_kind(path, names)
    bad = next((name for name in names if holds_no(str(name))), None)
    if bad is not None:
        raise SemiringError(f"{shown(path)}: {form} cannot hold the name {quoted(bad)}: write .csv, or rename the "
                            "vertex")
    return names


def edges_of(path: Path, M: Matrix, form: str, largest: int) -> Iterator[tuple[int, int, int | float | None]]:
    """The entries that are not zero, as ends and weight; the weight of truth values is None."""
    rows, columns = np.nonzero(M.array != M.semiring.zero_in(M.dtype))
    meant = shown_infinities(M.semiring, M.dtype) if has_infinity(M) else {}
    for start in range(0, len(rows), BLOCK):
        i, j = rows[start : start + BLOCK], columns[start : start + BLOCK]
        values = M.array[i, j]
        weights: Sequence[Any]
        if values.dtype.kind == "b":
            wrong, weights = np.flatnonzero(~values), [None] * len(values)
        elif values.dtype.kind == "f":
            wrong, weights = np.empty(0, int), values.astype(np.float64).tolist()  # float64 texts are exact
        else:
            weights = [meant.get(w, w) for w in values.tolist()]
            wrong = np.flatnonzero([np.isfinite(w) and abs(w) > largest + (w < 0 and largest > EXACT) for w in weights])
        if len(wrong):
            at = int(wrong[0])
            entry = entry_text(M, int(i[at]), int(j[at]))
            raise SemiringError(f"{shown(path)}: {form} cannot hold entry {entry}, which is {values[at]}: write .npz "
                                "or .mtx")
        yield from zip(i.tolist(), j.tolist(), weights, strict=True)


def has_infinity(M: Matrix) -> bool:
    """Whether an integer that is not the algebra's zero represents ∞, and floats hold all entries exactly."""
    present = M.array[M.array != M.semiring.zero_in(M.dtype)]
    return present.dtype.kind in "iu" and with_infinities(present, M.semiring).dtype.kind == "f"


def entry_text(M: Matrix, i: int, j: int) -> str:
    """The two vertices of an entry, for a message."""
    return " → ".join(quoted(v if M.names is None else M.names[v]) for v in (i, j))


def write_table(path: Path, M: Matrix, separator: str = ",") -> None:
    """Write a labelled table. Texts that could be read as something else are in quotation marks."""
    names = [] if M.names is None else kept_names(path, M.names)
    bad = next((name for name in names if isinstance(name, str) and "\0" in name), None)
    if bad is not None:
        raise SemiringError(f"{shown(path)}: a table cannot hold the name {quoted(bad)}, which has a NUL character: "
                            "rename the vertex")
    if len(set(map(str, names))) < len(names):
        raise SemiringError(f"{shown(path)}: a table stores names as texts, and two have the same text: rename one")
    with utf8(path) as text:
        put_table(text, M, None if M.names is None else names, separator)


def put_table(text: TextIO, M: Matrix, names: Sequence[int | str] | None, separator: str) -> None:
    """Write a matrix as lines of text: vertices in the first line and column, an empty cell for zero.

    If 0 or ±∞ are elements and could be read as no edge, the first field states the element that means no edge.
    """
    mixed = len({is_integer(name) for name in names or ()}) == 2
    labels = [_label(name, mixed) for name in (range(M.n) if names is None else names)]
    infinite = infinities(M.semiring, M.dtype)
    zero = np.array([M.semiring.zero_in(M.dtype)], M.dtype)
    # a line of blanks would be skipped
    corner = f"absent={_cells(zero, np.zeros(1, bool), infinite)[0]}" if _is_doubtful(M, infinite) else ""
    text.write(separator.join([corner or '""' if labels in ([], ['""']) else corner, *labels]) + "\n")
    cells = csv.writer(text, delimiter=separator, lineterminator="\n")
    for label, row in zip(labels, M.array, strict=True):
        text.write(label + separator)
        found = _cells(row, is_absent(row, M.semiring), infinite)
        if found == [""]:
            text.write("\n")  # csv would write quotation marks for a single empty field
        else:
            cells.writerow(found)


def _is_doubtful(M: Matrix, infinite: Mapping[Any, Any]) -> bool:
    """Whether elements could be read as no edge: 0 or ±∞ off the diagonal, no empty cell there, or only 0 and 1."""
    if M.dtype.kind not in "biuf" or M.n < 2:
        return False
    apart = ~np.eye(M.n, dtype=bool)
    present = ~is_absent(M.array, M.semiring) & apart
    values = M.array[present]
    zeros = bool((values == 0).any())
    full = len(values) == M.n * (M.n - 1)
    unbounded = bool(np.isinf(values).any() if values.dtype.kind == "f" else np.isin(values, list(infinite)).any())
    return (full and (zeros or unbounded)) or (zeros and bool(np.isin(values, (0, 1)).all()))


PLAIN = re.compile(r"[^\s#%\"](?:.*[^\s])?")  # not a comment, and without blanks at the ends


def _label(name: int | str, mixed: bool) -> str:
    """A vertex in a table; texts in quotation marks if they could be read as something else."""
    if isinstance(name, int):
        return str(name)
    doubtful = mixed or CANONICAL.fullmatch(name) or not PLAIN.fullmatch(name) or any(c in name for c in '"\r\n,;\t')
    if doubtful:
        return '"' + name.replace('"', '""') + '"'
    return name


def write_lines(path: Path, rows: Iterable[Sequence[Any]]) -> None:
    """Write rows to a .csv or .tsv file, one by one."""
    with utf8(path) as text:
        put_lines(text, rows, "\t" if suffix(path) == ".tsv" else ",")


def put_lines(text: TextIO, rows: Iterable[Sequence[Any]], separator: str) -> None:
    """Write rows as lines of text, for readers that guess the separator.

    In a row in which a text contains another separator or would begin a comment, all texts are in quotation marks.
    """
    plain = csv.writer(text, delimiter=separator, lineterminator="\n")
    marked = csv.writer(text, delimiter=separator, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    doubtful = re.compile(f"[{SEPARATORS.replace(separator, '')}]|^[#%]").search
    for row in rows:
        (marked if any(isinstance(x, str) and doubtful(x) for x in row) else plain).writerow(row)


def _cells(row: np.ndarray, absent: np.ndarray, infinite: Mapping[Any, Any]) -> list[Any]:
    """The elements of a row as a table shows them; zero is an empty text."""
    values: list[Any]
    if row.dtype.kind in "OV":
        values = [None if gone else readable(x, infinite) for x, gone in zip(row, absent.tolist(), strict=True)]
    elif row.dtype.kind == "b":
        values = row.astype(np.uint8).tolist()
    elif row.dtype in (np.float16, np.float32):
        values = list(map(str, row))  # the shortest text in its own precision
    else:
        values = row.tolist()
    for limit, x in infinite.items() if row.dtype.kind != "V" else ():
        for j in np.flatnonzero(row == limit):
            values[j] = x
    return ["" if gone else value for value, gone in zip(values, absent.tolist(), strict=True)]
