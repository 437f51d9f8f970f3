"""Sources and outputs of tiles: arrays and files that are read and written a tile at a time.

An input is never written. An output is written under a temporary name and renamed when it is complete.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol
from weakref import finalize

import numpy as np

from semiring.algebra.vectors import convert, flattened
from semiring.errors import SemiringError
from semiring.graphs.texts import shown
from semiring.kernels.blocks.rows import Rows

from .files import BINARY, Mapped, reserve, sync, sync_file, sync_folder
from .program import Program

ENDINGS = (".npy", ".zarr")  # of outputs
SLAB_BYTES = 16 << 20  # bytes that are read at once if a whole matrix is checked
FORMED = ("zarr.json", ".zarray")  # files that show that a folder is a zarr array


class Source(Protocol):
    """A matrix that is read a tile at a time, by several threads."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the elements."""

    @property
    def path(self) -> Path | None:
        """The path of its file, if it is a file."""

    def read(self, rows: slice, columns: slice, out: np.ndarray) -> None:
        """Copy a block to a contiguous array of its dtype."""

    def identity(self) -> dict[str, Any]:
        """An identification that is the same after a restart."""


class ArraySource:
    """Anything with two axes that can be sliced like an array: NumPy arrays, zarr arrays, HDF5 datasets.

    Parameters
    ----------
    array : array_like of two axes
    path : Path, optional
        Its file or folder, whose sizes and times of change identify it; without a path, its elements do.
    """

    def __init__(self, array: Any, path: Path | None = None):
        self.array, self.path = array, path
        self.shape, self.dtype = tuple(array.shape), np.dtype(array.dtype)
        self.chunks: tuple[int, int] | None = getattr(array, "chunks", None)  # rows and columns stored together

    def read(self, rows: slice, columns: slice, out: np.ndarray) -> None:
        """Copy a block to an array."""
        out[...] = self.array[rows, columns]

    def identity(self) -> dict[str, Any]:
        """Shape and dtype; for a file also its path, its size and time of change, else a digest."""
        known = {"shape": list(self.shape), "dtype": self.dtype.str}
        if self.path is None:
            return known | {"digest": self._digest()}
        files = [p for p in self.path.rglob("*") if p.is_file()] if self.path.is_dir() else [self.path]
        found = [file.stat() for file in files]
        return known | {"path": str(self.path.resolve()), "size": sum(status.st_size for status in found),
                        "changed": max(status.st_mtime_ns for status in found)}

    def _digest(self) -> str:
        digest = hashlib.sha256()
        for rows, columns in slabs(self):
            digest.update(np.ascontiguousarray(self.array[rows, columns]).view(np.uint8).data)
        return digest.hexdigest()


class FileSource(ArraySource):
    """The matrix in a .npy file.

    Parameters
    ----------
    array : memmap
    path : Path
    """

    def __init__(self, array: np.memmap, path: Path):
        super().__init__(array, path)
        self._by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
        self.chunks = (self.shape[0], 1) if self._by_columns else None
        shape = self.shape[::-1] if self._by_columns else self.shape
        self._file, self._end = os.open(path, os.O_RDONLY | BINARY), array.offset + array.nbytes
        finalize(self, os.close, self._file)
        self._mapped = Mapped(self._file, array.offset, shape, self.dtype)

    def read(self, rows: slice, columns: slice, out: np.ndarray) -> None:
        """Copy a block to an array."""
        if os.fstat(self._file).st_size < self._end:  # reading a map beyond the end would kill the process
            raise SemiringError(f"{shown(self.path)} has become shorter than its header says: write it again")
        if self._by_columns:
            self._mapped.read(columns, rows, out.T)
        else:
            self._mapped.read(rows, columns, out)


class RowsSource:
    """A sparse matrix; a tile is filled with its elements and zeros when it is read.

    Parameters
    ----------
    rows : Rows
        Columns ascend in every row.
    zero : element
        The value of entries that are not stored.
    """

    path = None

    def __init__(self, rows: Rows, zero: Any):
        self._rows, self._zero = rows, zero
        self.shape, self.dtype = (len(rows.offsets) - 1, rows.width), rows.values.dtype

    def read(self, rows: slice, columns: slice, out: np.ndarray) -> None:
        """Copy a block to an array."""
        out[...] = self._zero
        offsets = self._rows.offsets[rows.start : rows.stop + 1]
        here = self._rows.columns[offsets[0] : offsets[-1]]
        inside = np.flatnonzero((here >= columns.start) & (here < columns.stop))
        lines = np.searchsorted(offsets, inside + offsets[0], side="right") - 1
        out[lines, here[inside] - columns.start] = self._rows.values[offsets[0] : offsets[-1]][inside]

    def identity(self) -> dict[str, Any]:
        """Shape and dtype, and a digest of places and elements."""
        digest = hashlib.sha256()
        for part in (self._rows.offsets, self._rows.columns, self._rows.values):
            digest.update(np.ascontiguousarray(part).view(np.uint8).data)
        return {"shape": list(self.shape), "dtype": self.dtype.str, "digest": digest.hexdigest()}


def slabs(source: Source, begin: int = 0, end: int | None = None) -> Iterator[tuple[slice, slice]]:
    """Blocks that cover some or all rows of a matrix, along the chunks in which it is stored."""
    (n, width), most = source.shape, max(SLAB_BYTES // source.dtype.itemsize, 1)
    n = n if end is None else end
    tall, wide = getattr(source, "chunks", None) or (1, max(width, 1))
    wide = min(max(most // (tall * wide), 1) * wide, max(width, 1))
    tall = max(most // (tall * wide), 1) * tall
    for i in range(begin, n, tall):
        for j in range(0, width, wide):
            yield slice(i, min(i + tall, n)), slice(j, min(j + wide, width))


def opened(path: Path) -> ArraySource:
    """Open the matrix in a file: .npy, or zarr.

    Raises
    ------
    SemiringError
        If it does not hold a matrix, or is of a different format.
    """
    if path.suffix == ".zarr" or path.is_dir():
        return ArraySource(_zarr_array(path), path)
    if path.suffix != ".npy":
        raise SemiringError(f"{shown(path)}: only a .npy file or a zarr array can be read in parts")
    with open(path, "rb") as file:
        if file.read(6) != b"\x93NUMPY":
            raise SemiringError(f"{shown(path)} is not a .npy file, which begins with the word NUMPY")
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        why = str(error)
        if "Python objects" in why:
            why = "its elements are Python objects, which cannot be read from files: save numbers, or pass the array"
        raise SemiringError(f"{shown(path)}: {why}") from None
    return FileSource(array, path) if array.ndim == 2 else ArraySource(array, path)


def _zarr_array(path: Path) -> Any:
    if not any((path / name).is_file() for name in FORMED):
        raise SemiringError(f"{shown(path)} is {'a folder without' if path.is_dir() else 'a file, and no folder of'} a "
                            "zarr array: only a .npy file or a zarr array can be read in parts")
    zarr = _zarr()
    try:
        return zarr.open_array(path, mode="r")
    except (ValueError, TypeError, KeyError, OSError) as error:  # versions of zarr raise different errors
        raise SemiringError(f"{shown(path)} cannot be read as a zarr array: {shown(error)}") from None


def draft(path: Path, folder: Path, name: str = "output") -> Path:
    """The temporary name of an output, which is renamed in the end.

    >>> draft(Path("c.npy"), Path("c.npy.partial")).name
    'output.npy'
    """
    return folder / f"{name}{path.suffix}"


class Output:
    """A matrix that is written a tile at a time under a temporary name; `finish` renames it.

    Parameters
    ----------
    path : Path
        Ends in .npy or .zarr.
    folder : Path
        The folder of the temporary file.
    made : Program
    dtype : dtype
        The dtype of the elements that are written and read.
    told : dtype
        The dtype in the file: `dtype`, perhaps in another byte order or layout of records, with vectors as fields.
    again : bool
        Whether part of it exists already.
    name : str
        The temporary name.

    Raises
    ------
    SemiringError
        If zarr is missing.
    OSError
        If the disk has no room for it.
    """

    def __init__(
        self, path: Path, folder: Path, made: Program, dtype: np.dtype, told: np.dtype, again: bool,
        name: str = "output",
    ):
        self.path, self._draft, self._made = path, draft(path, folder, name), made
        shape, self.dtype = (made.n, made.n), dtype
        self._held = dtype if _is_view(told, dtype) else told
        self._by_name = self._held != dtype and bool(dtype.names)
        self._file = -1
        self._mapped: Mapped | None = None
        if path.suffix == ".npy":
            mode = "r+" if again else "w+"
            self._at = np.lib.format.open_memmap(self._draft, mode, None if again else told, shape).offset
            self._file = os.open(self._draft, os.O_RDWR | BINARY)
            try:
                reserve(self._file, self._at + made.n**2 * told.itemsize)
                self._mapped = Mapped(self._file, self._at, shape, self._held, writable=True)
            except OSError:
                self.close()
                raise
        else:
            zarr = _zarr()
            self._array = zarr.open_array(self._draft, mode="r+") if again else zarr.create_array(
                self._draft, shape=shape, dtype=told, chunks=(max(made.side, 1), max(made.side, 1)), compressors=None)

    def write_block(self, rows: slice, columns: slice, elements: np.ndarray) -> None:
        """Write some rows and columns."""
        if self._mapped is None:
            self._array[rows, columns] = elements
        else:
            # NumPy converts byte orders as it copies; but it would match fields of records by place, not by name.
            self._mapped.write(rows, columns, convert(elements, self._held) if self._by_name else elements)

    def read_block(self, rows: slice, columns: slice) -> np.ndarray:
        """Read some rows and columns."""
        if self._mapped is None:
            return np.asarray(self._array[rows, columns], self.dtype)
        out = np.empty((rows.stop - rows.start, columns.stop - columns.start),
                       self._held if self._by_name else self.dtype)
        self._mapped.read(rows, columns, out)
        return convert(out, self.dtype) if self._by_name else out

    def write_diagonal(self, places: Iterable[int], values: np.ndarray) -> None:
        """Write elements, or one, at places of the diagonal."""
        where = list(places)
        for v, value in zip(where, np.broadcast_to(values, len(where)), strict=True):
            self.write_block(slice(v, v + 1), slice(v, v + 1), np.full((1, 1), value, self.dtype))

    def diagonal(self) -> np.ndarray:
        """The elements of the diagonal."""
        found = np.empty(self._made.n, self.dtype)
        for k in range(self._made.count):
            rows, columns = self._made.block((k, k))
            found[rows] = self.read_block(rows, columns).diagonal()
        return found

    def sync(self) -> None:
        """Synchronize what was written with the disk, to survive a power cut."""
        if self._mapped is not None:
            self._mapped.sync()
            sync(self._file)
        else:
            for folder, _, files in os.walk(self._draft):
                for name in files:
                    sync_file(Path(folder) / name)
                sync_folder(Path(folder))

    def close(self) -> None:
        """Close the file, and keep what was written."""
        if self._mapped is not None:
            self._mapped.close()
            self._mapped = None
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def finish(self) -> None:
        """Rename the complete matrix to its place; an older one is removed."""
        self.sync()
        self.close()
        if self.path.is_dir():
            os.replace(self.path, self._draft.with_name("older"))
        os.replace(self._draft, self.path)
        sync_folder(self.path.absolute().parent)


def _is_view(told: np.dtype, dtype: np.dtype) -> bool:
    """Whether two dtypes have the same memory layout, except that vectors in one are single fields in the other."""
    if not told.names or not dtype.names:
        return told == dtype
    starts = [told.fields[f][1] for f in told.names]  # type: ignore[index]
    ours = [dtype.fields[f if f in dtype.names else f"{f}.0"][1] for f in told.names]  # type: ignore[index]
    return told.itemsize == dtype.itemsize and starts == ours and flattened(told) == dtype


def _zarr() -> Any:
    try:
        import zarr
    except ImportError:
        raise SemiringError("zarr arrays need the package zarr: pip install 'semiring[zarr]'") from None
    return zarr
