"""Matrices to files: each format's writer."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TextIO

import numpy as np

from semiring.errors import SemiringError
from semiring.graphs.exports import by_components, is_absent
from semiring.graphs.matrix import Matrix
from semiring.graphs.names import integers_of, is_integer
from semiring.graphs.texts import infinities, quoted, readable, shown, with_infinities

from . import parquet
from .matrix_market import comments
from .numerals import CANONICAL
from .streams import created, suffix, warn

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


def save_edges(path: Path, n: int, sources: np.ndarray, targets: np.ndarray, weights: np.ndarray | None = None) -> None:
    """A .npz file of SciPy's sparse matrices; of edges without weights, true where there is one."""
    from scipy.sparse import coo_array, save_npz

    values = np.ones(len(sources), bool) if weights is None else weights
    with created(path) as file:
        save_npz(file, coo_array((values, (sources, targets)), (n, n)))


def write_npy(path: Path, M: Matrix) -> None:
    save_array(path, _shown(M), _zero(M), *([] if M.names is None else [_names(path, M.names)]))


def write_npz(path: Path, M: Matrix) -> None:
    arrays = {"matrix": _shown(M), "zero": _zero(M), "algebra": np.array(M.semiring.name)}
    if M.names is not None:
        arrays["names"] = _names(path, M.names)
    with created(path) as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def _shown(M: Matrix) -> np.ndarray:
    """The elements; integers beside ∞ as floats, where these hold all, of which the zero tells the dtype."""
    stored = by_components(M.array)
    found = stored if stored.dtype.names else with_infinities(stored, M.semiring)
    return found if found.dtype.kind == "f" else stored


def _zero(M: Matrix) -> np.ndarray:
    """What stands for no edge."""
    dtype = by_components(M.array).dtype
    return np.array(M.semiring.zero_in(dtype), dtype)


def kept_names(path: Path, names: Sequence[Any]) -> list[int | str]:
    """Names as files hold them, integers and texts; any others become texts, of which it is warned."""
    others = [name for name in names if not (isinstance(name, str) or is_integer(name))]
    if others:
        warn(f"{shown(path)}: names are kept as integers and texts, so that {quoted(others[0])} will be "
             f"{quoted(str(others[0]))}")
    kept = [int(name) if is_integer(name) else str(name) for name in names]
    if len(set(kept)) < len(kept):
        raise SemiringError(f"{shown(path)}: names are kept as integers and texts, and two of them have the same text")
    return kept


def _names(path: Path, names: list[Any]) -> np.ndarray:
    """Names as an array of integers of 64 bits or of texts."""
    if (whole := integers_of(names)) is not None:
        return whole
    texts = list(map(str, names))
    array = np.array(texts, dtype=np.str_)
    form = suffix(path)
    changed = next((i for i, text in enumerate(array.tolist()) if text != texts[i]), None)
    if changed is not None:
        raise SemiringError(f"{shown(path)}: {form} cannot hold the name {quoted(texts[changed])}, which ends in NUL")
    if len(set(texts)) < len(texts):
        raise SemiringError(f"{shown(path)}: {form} holds names as texts, and two of them have the same text")
    others = [name for name in names if not isinstance(name, str)]
    if others:
        warn(f"{shown(path)}: {form} holds names as texts, so that {quoted(others[0])} will be "
             f"{quoted(str(others[0]))}")
    return array


def write_table(path: Path, M: Matrix, separator: str = ",") -> None:
    """A labelled table, whose texts are in quotation marks where they would be read as something else."""
    names = [] if M.names is None else kept_names(path, M.names)
    bad = next((name for name in names if isinstance(name, str) and "\0" in name), None)
    if bad is not None:
        raise SemiringError(f"{shown(path)}: a table cannot hold the name {quoted(bad)}, which has a NUL character")
    if len(set(map(str, names))) < len(names):
        raise SemiringError(f"{shown(path)}: two vertices have the same text, and a table holds names as texts")
    with utf8(path) as text:
        put_table(text, M, None if M.names is None else names, separator)


def put_table(text: TextIO, M: Matrix, names: Sequence[int | str] | None, separator: str) -> None:
    """A matrix as lines of text, vertices in the first line and column; the zero is an empty cell.

    Where 0 or ±∞ are elements and could be read as no edge, the first field says what means none.
    """
    mixed = len({is_integer(name) for name in names or ()}) == 2
    labels = [_label(name, mixed) for name in (range(M.n) if names is None else names)]
    infinite = infinities(M.semiring, M.dtype)
    zero = np.array([M.semiring.zero_in(M.dtype)], M.dtype)
    # a line of blanks alone would not be seen
    corner = f"absent={_cells(zero, np.zeros(1, bool), infinite)[0]}" if _is_doubtful(M, infinite) else ""
    text.write(separator.join([corner or '""' if labels in ([], ['""']) else corner, *labels]) + "\n")
    cells = csv.writer(text, delimiter=separator, lineterminator="\n")
    for label, row in zip(labels, M.array, strict=True):
        text.write(label + separator)
        found = _cells(row, is_absent(row, M.semiring), infinite)
        if found == [""]:
            text.write("\n")  # where the writer of a single empty field would write quotation marks
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


PLAIN = re.compile(r"[^\s#%\"](?:.*[^\s])?")  # what no reader sees as a comment, or cuts blanks off


def _label(name: int | str, mixed: bool) -> str:
    """A vertex in a table: texts in quotation marks, unless they can be nothing else."""
    if isinstance(name, int):
        return str(name)
    doubtful = mixed or CANONICAL.fullmatch(name) or not PLAIN.fullmatch(name) or any(c in name for c in '"\r\n,;\t')
    if doubtful:
        return '"' + name.replace('"', '""') + '"'
    return name


def write_lines(path: Path, rows: Iterable[Sequence[Any]]) -> None:
    """A .csv or .tsv file of rows, one after the other."""
    with utf8(path) as text:
        put_lines(text, rows, "\t" if suffix(path) == ".tsv" else ",")


@contextmanager
def utf8(path: Path) -> Iterator[TextIO]:
    """A new file of text."""
    with created(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        try:
            yield text
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


def _cells(row: np.ndarray, absent: np.ndarray, infinite: Mapping[Any, Any]) -> list[Any]:
    """The elements of a row as a table shows them, the zero as an empty text."""
    values: list[Any]
    if row.dtype.kind in "OV":
        values = [None if gone else readable(x, infinite) for x, gone in zip(row, absent.tolist(), strict=True)]
    elif row.dtype.kind == "b":
        values = row.astype(np.uint8).tolist()
    elif row.dtype in (np.float16, np.float32):
        values = list(map(str, row))  # the shortest text of a short float, not its digits as a double
    else:
        values = row.tolist()
    for limit, x in infinite.items() if row.dtype.kind != "V" else ():
        for j in np.flatnonzero(row == limit):
            values[j] = x
    return ["" if gone else value for value, gone in zip(values, absent.tolist(), strict=True)]


def write_parquet(path: Path, M: Matrix) -> None:
    parquet.write_parquet(path, M, None if M.names is None else kept_names(path, M.names))


def write_mtx(path: Path, M: Matrix) -> None:
    rows, columns = np.nonzero(M.array != M.semiring.zero_in(M.dtype))
    values = M.array[rows, columns]
    readable_values = with_infinities(values, M.semiring)  # Python's numbers where floats would round: as they are then
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
        for comment in comments(M.semiring, M.dtype, names):
            file.write(comment.encode())
        file.write(f"{M.n} {M.n} {len(values)}\n".encode())
        for start in range(0, len(values), BLOCK):
            part = slice(start, start + BLOCK)
            lists = [column[part].tolist() for column in (rows + 1, columns + 1, *numbers)]
            file.write("".join(map(line.format, *lists)).encode())
