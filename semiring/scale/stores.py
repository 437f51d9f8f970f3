"""Where tiles come from and where they go: arrays and files that are read, and written, a tile at a time.

An input is never written to. An output grows under another name, and takes its own when it is whole.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from semiring.errors import SemiringError
from semiring.graphs.texts import shown

from .program import Program, Tile

ENDINGS = (".npy", ".zarr")  # of outputs


class Source(Protocol):
    """A matrix that is read a tile at a time, by several threads."""

    shape: tuple[int, ...]
    dtype: np.dtype

    def read(self, rows: slice, columns: slice, out: np.ndarray) -> None:
        """Write a block of it into an array."""

    def identity(self) -> dict[str, Any]:
        """What tells it from others, also after a restart."""


class ArraySource:
    """Anything with two axes that is cut like an array: NumPy's own and memory maps, zarr arrays, HDF5 datasets.

    Parameters
    ----------
    array : array_like of two axes
    path : Path, optional
        Of the file that it is, whose size and time of change tell it from others.
    """

    def __init__(self, array: Any, path: Path | None = None):
        self.array, self.path = array, path
        self.shape, self.dtype = tuple(array.shape), np.dtype(array.dtype)

    def read(self, rows: slice, columns: slice, out: np.ndarray) -> None:
        """Write a block of it into an array."""
        out[...] = self.array[rows, columns]

    def identity(self) -> dict[str, Any]:
        """Shape and dtype; of a file also its path, its size and when it was changed."""
        known = {"shape": list(self.shape), "dtype": self.dtype.str}
        if self.path is None:
            return known
        path = self.path / "zarr.json" if self.path.is_dir() else self.path
        status = path.stat()
        return known | {"path": str(self.path.resolve()), "size": status.st_size, "changed": status.st_mtime_ns}


def opened(path: Path) -> ArraySource:
    """The matrix in a file: .npy, or zarr.

    Raises
    ------
    SemiringError
        When it holds no matrix, or is of another kind.
    """
    if path.suffix == ".zarr" or path.is_dir():
        array = _zarr().open_array(path, mode="r")
    elif path.suffix == ".npy":
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise SemiringError(f"{shown(path)}: {error}") from None
    else:
        raise SemiringError(f"{shown(path)}: a matrix is read in parts from a .npy file or a zarr array")
    return ArraySource(array, path)


def draft(path: Path, folder: Path) -> Path:
    """Where an output grows, which is gone once it has taken its place.

    >>> draft(Path("c.npy"), Path("c.npy.partial")).name
    'output.npy'
    """
    return folder / f"output{path.suffix}"


class Output:
    """The closure, written a tile at a time beside its place; `finish` puts it there.

    Parameters
    ----------
    path : Path
        Ends in .npy or .zarr.
    folder : Path
        Where it grows.
    made : Program
    dtype : dtype
    again : bool
        Whether part of it is there already.

    Raises
    ------
    SemiringError
        When the path has another ending.
    """

    def __init__(self, path: Path, folder: Path, made: Program, dtype: np.dtype, again: bool):
        self.path, self._draft, self._made = path, draft(path, folder), made
        shape = made.n, made.n
        if path.suffix == ".npy":
            self._array: Any = np.lib.format.open_memmap(
                self._draft, mode="r+" if again else "w+", dtype=dtype, shape=shape)
        elif path.suffix == ".zarr":
            zarr = _zarr()
            self._array = zarr.open_array(self._draft, mode="r+") if again else zarr.create_array(
                self._draft, shape=shape, dtype=dtype, chunks=(made.side, made.side), compressors=None)
        else:
            raise SemiringError(f"{shown(path)}: a closure is written as {' or '.join(ENDINGS)}")

    def write(self, tile: Tile, elements: np.ndarray) -> None:
        """Write one tile."""
        rows, columns = block(self._made, tile)
        self._array[rows, columns] = elements

    def write_diagonal(self, places: np.ndarray, value: Any) -> None:
        """Write one element at places of the diagonal."""
        for v in places.tolist():
            self._array[v, v] = value

    def diagonal(self) -> np.ndarray:
        """The elements on it."""
        found = np.empty(self._made.n, self._array.dtype)
        for k in range(self._made.count):
            rows, columns = block(self._made, (k, k))
            found[rows] = np.asarray(self._array[rows, columns]).diagonal()
        return found

    def sync(self) -> None:
        """Return when what was written would survive a power cut."""
        if self.path.suffix == ".npy":
            self._array.flush()
        else:
            for folder, _, files in os.walk(self._draft):
                for name in files:
                    _sync(Path(folder) / name)
                _sync(Path(folder))

    def finish(self) -> None:
        """Put the whole closure in its place."""
        self.sync()
        self._array = None
        if self.path.is_dir():
            shutil.rmtree(self.path)
        os.replace(self._draft, self.path)
        _sync(self.path.absolute().parent)


def block(made: Program, tile: Tile) -> tuple[slice, slice]:
    """Where a tile lies in the matrix."""
    rows, columns = (slice(k * made.side, min((k + 1) * made.side, made.n)) for k in tile)
    return rows, columns


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _zarr() -> Any:
    try:
        import zarr
    except ImportError:
        raise SemiringError("zarr arrays need the package zarr: pip install 'semiring[zarr]'") from None
    return zarr
