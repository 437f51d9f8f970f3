"""Graphs from .npz archives and matrices to them: SciPy's sparse matrices, dense matrices, columns of edges."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.algebra.tables import dtype_text
from semiring.errors import GraphError
from semiring.graphs.columns import ENDS
from semiring.graphs.graph import Graph, as_graph
from semiring.graphs.matrix import Matrix
from semiring.graphs.texts import quoted, shown
from semiring.machine.memory import require

from .arrays import (
    from_array,
    from_matrix,
    literal,
    names_array,
    parse_npy,
    refuse_absent,
    shown_elements,
    zero_of,
)
from .format import Options
from .streams import CHUNK, about, created

NPZ_ENDS = (("row", "col"), ("sources", "targets"), *ENDS)
NPZ_WEIGHTS = ("data", "weights", "weight")
FORMATS = ("coo", "csr", "csc", "bsr", "dia")


class Entries(NamedTuple):
    """The stored entries of a sparse matrix."""

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray


def read_npz(path: Path, data: bytes, options: Options) -> Graph:
    archive = _Archive(path, data)
    if options.absent is not None and not ({"matrix"} & set(archive.members) or len(archive.members) == 1):
        refuse_absent(path, "stored entries")
    if "format" in archive.members:
        return _from_scipy(archive, options)
    names = archive.names()
    if "matrix" in archive.members:
        zero = archive.array("zero") if "zero" in archive.members else None
        return from_matrix(path, archive.matrix(), options, zero=zero, names=names)
    ends = next((pair for pair in NPZ_ENDS if set(pair) <= set(archive.members)), None)
    if ends is None:
        if len(archive.members) == 1:
            return from_array(path, archive.array(next(iter(archive.members))), options)
        held = ", ".join(map(shown, archive.members)) or "nothing"
        raise GraphError(f"{shown(path)} holds the arrays {held}; expected row and col, and data for weights")
    weights = next((name for name in NPZ_WEIGHTS if name in archive.members and name not in ends), None)
    columns = [archive.column(end, "iufU") for end in ends]
    if weights is not None and options.weight is not None:
        columns.append(archive.column(weights, "biufcV"))
    with about(str(path)):
        return as_graph(tuple(columns), archive.vertices(), directed=options.one_way, names=names)


def matrix_of_npz(path: Path, data: bytes, S: Semiring, dtype: np.dtype | None, options: Options) -> Matrix | None:
    """The matrix of an archive of `write_matrix`, over an algebra; None for other archives."""
    archive = _Archive(path, data)
    if not {"matrix", "zero"} <= set(archive.members):
        return None
    return literal(path, archive.matrix(), archive.array("zero"), archive.names(), S, dtype, options)


class _Archive:
    """The arrays of a .npz file; each is read and checked on first use."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        try:
            self.zip = ZipFile(BytesIO(data))
            entries = self.zip.infolist()
        except Exception as e:  # zipfile raises many types of errors for a damaged archive
            raise GraphError(f"{shown(path)} is not a file of NumPy arrays of numbers or texts: {shown(e)}") from None
        self.members = {entry.filename.removesuffix(".npy"): entry for entry in entries}
        if len(self.members) < len(entries):
            raise GraphError(f"{shown(path)} holds two arrays with the same name")
        for entry in entries:
            if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
                raise GraphError(f"{shown(path)} has a compression that NumPy does not use: save it again with "
                                 "numpy.savez")

    def array(self, name: str) -> np.ndarray:
        entry = self.members[name]
        what = f"{shown(self.path)}, array {quoted(name)},"
        if entry.file_size > CHUNK:
            require(2 * entry.file_size, what, "read a part of it")
        try:
            with self.zip.open(entry) as file:
                data = file.read()
        except Exception as e:  # as above
            raise GraphError(f"{what} cannot be read: {shown(e)}") from None
        array, end = parse_npy(self.path, data, member=name)
        if end < len(data):
            raise GraphError(f"{what} has {len(data) - end} extra bytes after its elements")
        return array

    def matrix(self) -> np.ndarray:
        """The array `matrix`, which must be square."""
        matrix = self.array("matrix")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise GraphError(f"{shown(self.path)} holds a matrix of shape {matrix.shape}: a graph needs a square "
                             "matrix")
        return matrix

    def column(self, name: str, kinds: str, dimensions: int = 1) -> np.ndarray:
        """An array, checked to have this many dimensions and elements of one of these kinds."""
        array = self.array(name)
        if array.ndim != dimensions or array.dtype.kind not in kinds:
            self.refuse(name, array, f"{dimensions}-D {' or '.join(sorted({KINDS[kind] for kind in kinds}))}")
        return array

    def refuse(self, name: str, array: np.ndarray, expected: str) -> None:
        raise GraphError(
            f"{shown(self.path)}: the array {quoted(name)} has shape {array.shape} and dtype "
            f"{dtype_text(array.dtype)}, expected {expected}"
        )

    def names(self) -> list[Any] | None:
        if "names" not in self.members:
            return None
        names: list[Any] = self.column("names", "iuU").tolist()
        return names

    def vertices(self) -> int | None:
        """The number of vertices, if the archive says it."""
        if "n" in self.members:
            n = self.column("n", "iu", 0)
            if n < 0:
                raise GraphError(f"{shown(self.path)}: n = {int(n)}, but a graph has 0 or more vertices")
            return int(n)
        return self.side() if "shape" in self.members else None

    def side(self) -> int:
        """The side of a square matrix, from the array `shape`."""
        shape = self.column("shape", "iu").tolist()
        if len(shape) != 2 or min(shape) < 0 or shape[0] != shape[1]:
            raise GraphError(f"{shown(self.path)} holds a matrix of shape {quoted(tuple(shape))}: a graph needs a "
                             "square matrix")
        side: int = shape[0]
        return side


KINDS = {"b": "truth values", "i": "integers", "u": "integers", "f": "numbers", "c": "numbers", "U": "texts",
         "V": "records"}


def _from_scipy(archive: _Archive, options: Options) -> Graph:
    """A sparse matrix of `scipy.sparse.save_npz`; each index is checked before it is used."""
    path = archive.path
    word = archive.array("format")
    text = word.item() if word.shape == () and word.dtype.kind in "US" else None
    kind = text.decode("latin-1") if isinstance(text, bytes) else text
    if kind not in FORMATS:
        raise GraphError(f"{shown(path)} is not a sparse matrix as scipy.sparse.save_npz writes it: its format is "
                         f"{quoted(kind)}")
    needed = {"coo": ("row", "col"), "dia": ("offsets",)}.get(kind, ("indices", "indptr"))
    if kind == "coo" and "coords" in archive.members:
        needed = ("coords",)
    for name in ("shape", "data", *needed):
        if name not in archive.members:
            raise GraphError(f"{shown(path)} is not a sparse matrix as scipy.sparse.save_npz writes it: it has no "
                             f"array {name!r}")
    n = archive.side()
    found = _stored(archive, kind, n)
    for what, index in (("row", found.rows), ("column", found.columns)):
        if len(index) and (index.min() < 0 or index.max() >= n):
            worst = int(index.min()) if index.min() < 0 else int(index.max())
            raise GraphError(f"{shown(path)} has an entry in {what} {worst}, but the matrix is {n} × {n}")
    if kind in ("bsr", "dia") or found.values.dtype.kind == "b":
        present = found.values != 0  # drop the padding of blocks and diagonals; only True is an edge
        found = Entries(*(part[present] for part in found))
    weights = None if options.weight is None or found.values.dtype.kind == "b" else found.values
    ends = found.rows.astype(np.int64), found.columns.astype(np.int64)
    with about(str(path)):
        return Graph(*ends, n, weights, directed=options.one_way)


def _stored(archive: _Archive, kind: str, n: int) -> Entries:
    if kind == "dia":
        return _diagonals(archive, n)
    data = archive.column("data", "biufc", 3 if kind == "bsr" else 1)
    if kind == "coo":
        if "coords" in archive.members:
            coords = archive.column("coords", "iu", 2)
            if len(coords) != 2:
                archive.refuse("coords", coords, "two rows of indices")
            rows, columns = coords
        else:
            rows, columns = archive.column("row", "iu"), archive.column("col", "iu")
        if not len(rows) == len(columns) == len(data):
            lengths = f"{len(rows)} row indices, {len(columns)} column indices and {len(data)} values"
            raise GraphError(f"{shown(archive.path)} holds {lengths}: these numbers must be equal")
        return Entries(rows, columns, data)
    indices, offsets = archive.column("indices", "iu"), archive.column("indptr", "iu")
    height, width = data.shape[1:] if kind == "bsr" else (1, 1)
    step = (width if kind == "csc" else height) or 1
    sound = (
        len(offsets) == n // step + 1 and n % step == 0 and offsets[0] == 0 and (offsets[1:] >= offsets[:-1]).all()
        and offsets[-1] <= min(len(indices), len(data))
    )
    if not sound:
        raise GraphError(
            f"{shown(archive.path)}: the offsets in 'indptr' do not fit {len(indices)} indices of a {n} × {n} matrix"
        )
    stored = int(offsets[-1])
    counts = (offsets[1:] - offsets[:-1]).astype(np.int64)
    major = np.repeat(np.arange(len(counts)), counts)
    minor = indices[:stored]
    if kind == "csc":
        return Entries(minor, major, data[:stored])
    if kind == "csr":
        return Entries(major, minor, data[:stored])
    if len(minor) and (minor.min() < 0 or minor.max() > n):
        archive.refuse("indices", indices, f"columns of blocks of a {n} × {n} matrix")
    if not stored:
        return Entries(major, minor, np.empty(0, data.dtype))
    shape = (stored, height, width)
    rows = np.broadcast_to(major[:, None, None] * height + np.arange(height)[:, None], shape)
    columns = np.broadcast_to(minor.astype(np.int64)[:, None, None] * width + np.arange(width), shape)
    return Entries(rows.reshape(-1), columns.reshape(-1), data[:stored].reshape(-1))


def _diagonals(archive: _Archive, n: int) -> Entries:
    data, offsets = archive.column("data", "biufc", 2), archive.column("offsets", "iu")
    if len(data) != len(offsets):
        raise GraphError(f"{shown(archive.path)} holds {len(offsets)} offsets and {len(data)} diagonals: these "
                         "numbers must be equal")
    if len(offsets) and (int(offsets.min()) < -n or int(offsets.max()) > n):
        archive.refuse("offsets", offsets, f"diagonals of a {n} × {n} matrix")
    if len(set(offsets.tolist())) < len(offsets):
        archive.refuse("offsets", offsets, "different diagonals")
    if not data.size:
        nothing = np.empty(0, np.int64)
        return Entries(nothing, nothing, np.empty(0, data.dtype))
    columns = np.broadcast_to(np.arange(data.shape[1]), data.shape)
    rows = columns - offsets.astype(np.int64)[:, None]
    inside = (rows >= 0) & (rows < n) & (columns < n)
    return Entries(rows[inside], columns[inside], data[inside])


def write_npz(path: Path, M: Matrix) -> None:
    arrays = {"matrix": shown_elements(M), "zero": zero_of(M), "algebra": np.array(M.semiring.name)}
    if M.names is not None:
        arrays["names"] = names_array(path, M.names)
    with created(path) as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def save_edges(path: Path, n: int, sources: np.ndarray, targets: np.ndarray, weights: np.ndarray | None = None) -> None:
    """Write edges as a sparse matrix of SciPy; without weights its entries are true."""
    from scipy.sparse import coo_array, save_npz

    values = np.ones(len(sources), bool) if weights is None else weights
    with created(path) as file:
        save_npz(file, coo_array((values, (sources, targets)), (n, n)))
