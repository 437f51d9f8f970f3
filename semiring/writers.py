"""Matrices to files: each format's writer."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np

from .graph import Matrix
from .streams import OPENERS, open_file, suffix
from .texts import is_same


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
        with open_file(path, "wb") as file:
            copyfileobj(plain, file)


def write_npy(path: Path, M: Matrix) -> None:
    with _created(path) as file:
        np.save(file, M.array, allow_pickle=False)


def write_npz(path: Path, M: Matrix) -> None:
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


def write_table(path: Path, M: Matrix) -> None:
    zero = M.semiring.zero_in(M.dtype)
    vertices = range(M.n) if M.names is None else M.names
    with open_file(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t" if suffix(path) == ".tsv" else ",", lineterminator="\n")
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


def write_mtx(path: Path, M: Matrix) -> None:
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
