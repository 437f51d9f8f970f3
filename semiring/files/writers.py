"""Matrices to files: each format's writer."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TextIO

import numpy as np

from semiring.errors import SemiringError, SemiringWarning
from semiring.graphs.matrix import Matrix
from semiring.graphs.names import is_integer
from semiring.graphs.texts import infinities, is_same, quoted, readable, shown

from .streams import created, suffix

SEPARATORS = ",;\t"
BLOCK = 1 << 16  # entries of a matrix that are text at a time


class _Sink:
    """A file that NumPy does not know for one: it writes through Python then, and an error keeps its reason."""

    def __init__(self, file: IO[bytes]) -> None:
        self.write = file.write


def save_array(path: Path, *arrays: np.ndarray) -> None:
    """A .npy file of an array, and of further ones behind it."""
    with created(path) as file:
        for array in arrays:
            np.lib.format.write_array(_Sink(file), np.asanyarray(array), allow_pickle=False)


def write_npy(path: Path, M: Matrix) -> None:
    save_array(path, M.array, _zero(M))


def write_npz(path: Path, M: Matrix) -> None:
    arrays = {"matrix": M.array, "zero": _zero(M), "algebra": np.array(M.semiring.name)}
    if M.names is not None:
        arrays["names"] = _names(path, M.names)
    with created(path) as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def _zero(M: Matrix) -> np.ndarray:
    """What stands for no edge."""
    return np.array(M.semiring.zero_in(M.dtype), M.dtype)


def _names(path: Path, names: list[Any]) -> np.ndarray:
    """Names as an array of integers of 64 bits or of texts."""
    if all(is_integer(name) and -(2**63) <= name < 2**63 for name in names):
        return np.array(names, dtype=np.int64)
    texts = list(map(str, names))
    array = np.array(texts, dtype=np.str_)
    changed = next((i for i, text in enumerate(array.tolist()) if text != texts[i]), None)
    if changed is not None:
        raise SemiringError(f"{shown(path)}: .npz cannot hold the name {quoted(texts[changed])}, which ends in NUL")
    if len(set(texts)) < len(texts):
        raise SemiringError(f"{shown(path)}: .npz holds names as texts, and two of them have the same text")
    other = next((name for name in names if not isinstance(name, str)), None)
    if other is not None:
        warnings.warn(
            f"{shown(path)}: .npz holds names as texts, so that {quoted(other)} will be {quoted(str(other))}",
            SemiringWarning,
            stacklevel=4,
        )
    return array


def write_table(path: Path, M: Matrix) -> None:
    write_lines(path, table_of(M))


def write_lines(path: Path, rows: Iterable[Sequence[Any]]) -> None:
    """A .csv or .tsv file of rows, one after the other."""
    with created(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        try:
            put_lines(text, rows, "\t" if suffix(path) == ".tsv" else ",")
        except UnicodeEncodeError as e:
            letter = quoted(e.object[e.start])
            raise SemiringError(f"{shown(path)}: {letter} is not a character that UTF-8 has") from None
        finally:
            text.detach()


def put_lines(text: TextIO, rows: Iterable[Sequence[Any]], separator: str) -> None:
    """Rows as lines of text, which read as they were, whatever separates fields is guessed to be by who reads them.

    So texts are in quotation marks in a row in which one holds another separator than that of the lines, or would begin
    a comment.
    """
    plain = csv.writer(text, delimiter=separator, lineterminator="\n")
    marked = csv.writer(text, delimiter=separator, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    doubtful = re.compile(f"[{SEPARATORS.replace(separator, '')}]|^[#%]").search
    for row in rows:
        (marked if any(isinstance(x, str) and doubtful(x) for x in row) else plain).writerow(row)


def table_of(M: Matrix) -> Iterator[list[Any]]:
    """The rows of a table with vertices in the first row and column, one by one; the zero is an empty cell."""
    zero, infinite = M.semiring.zero_in(M.dtype), infinities(M.semiring, M.dtype)
    vertices = range(M.n) if M.names is None else M.names
    yield ["", *vertices]
    for vertex, row in zip(vertices, M.array, strict=True):
        yield [vertex, *_cells(row, zero, infinite)]


def _cells(row: np.ndarray, zero: Any, infinite: Mapping[Any, Any]) -> list[Any]:
    """The elements of a row as a table shows them, the zero as an empty text."""
    if row.dtype.kind in "OV":
        return ["" if is_same(x, zero) else readable(x, infinite) for x in row]
    if row.dtype.kind == "b":
        values = row.astype(np.uint8).tolist()
    elif row.dtype in (np.float16, np.float32):
        values = list(map(str, row))  # the shortest text of a short float, not its digits as a double
    else:
        values = row.tolist()
    for limit, x in infinite.items():
        for j in np.flatnonzero(row == limit):
            values[j] = x
    return ["" if absent else value for value, absent in zip(values, (row == zero).tolist(), strict=True)]


def write_mtx(path: Path, M: Matrix) -> None:
    rows, columns = np.nonzero(M.array != M.semiring.zero_in(M.dtype))
    values = M.array[rows, columns]
    kind = {"b": "pattern", "i": "integer", "u": "integer", "c": "complex"}.get(values.dtype.kind, "real")
    numbers = {"pattern": [], "complex": [values.real, values.imag]}.get(kind, [values])
    if kind in ("real", "complex"):
        numbers = [part.astype(np.float64) for part in numbers]  # whose shortest texts are exact
    line = " ".join(["{}"] * (2 + len(numbers))) + "\n"
    with created(path) as file:
        file.write(f"%%MatrixMarket matrix coordinate {kind} general\n{M.n} {M.n} {len(values)}\n".encode())
        for start in range(0, len(values), BLOCK):
            part = slice(start, start + BLOCK)
            lists = [column[part].tolist() for column in (rows + 1, columns + 1, *numbers)]
            file.write("".join(map(line.format, *lists)).encode())
