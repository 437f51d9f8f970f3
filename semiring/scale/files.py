"""Files that threads read and write at their own positions, and that survive a power cut once synchronized."""

from __future__ import annotations

import errno
import mmap
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from semiring.errors import SemiringError
from semiring.graphs.texts import shown

LOCK = "lock"
ZEROS_BYTES = 1 << 22  # bytes of zeros that are written at once
BINARY = getattr(os, "O_BINARY", 0)  # otherwise Windows changes line ends
_place = threading.Lock()  # guards a file's position on systems whose reads and writes cannot take one


def read_at(file: int, out: np.ndarray, at: int) -> None:
    """Fill a contiguous array from a file, starting at a position.

    Raises
    ------
    EOFError
        If the file is too short.
    """
    view = out.reshape(-1).view(np.uint8).data
    while view:
        done = _read(file, view, at)
        if not done:
            raise EOFError
        view, at = view[done:], at + done


def write_at(file: int, elements: np.ndarray, at: int) -> None:
    """Write a contiguous array to a file, at a position."""
    view = elements.reshape(-1).view(np.uint8).data
    while view:
        done = _write(file, view, at)
        view, at = view[done:], at + done


def _read(file: int, view: memoryview, at: int) -> int:
    if hasattr(os, "preadv"):
        return os.preadv(file, [view], at)
    with _place:
        os.lseek(file, at, os.SEEK_SET)
        data = os.read(file, len(view))
    view[: len(data)] = data
    return len(data)


def _write(file: int, view: memoryview, at: int) -> int:
    if hasattr(os, "pwrite"):
        return os.pwrite(file, view, at)
    with _place:
        os.lseek(file, at, os.SEEK_SET)
        return os.write(file, view)


class Mapped:
    """A matrix in a file; none of its pages stays in memory for longer than copying a block takes.

    The rows of a block are not contiguous in the file, and many small reads or writes take far longer than page faults.

    Parameters
    ----------
    file : int
    at : int
        The position of the first element.
    shape : (int, int)
    dtype : dtype
    writable : bool
        The file must have its room on the disk, see `reserve`: otherwise writing to the map may kill the process.
    """

    def __init__(self, file: int, at: int, shape: tuple[int, int], dtype: np.dtype, writable: bool = False):
        self._at, self._line = at, shape[1] * dtype.itemsize
        self._map = mmap.mmap(file, 0, access=mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ)
        self._array: np.ndarray = np.ndarray(shape, dtype, self._map, at)

    def read(self, rows: slice, columns: slice, out: np.ndarray) -> None:
        """Copy a block to an array."""
        out[...] = self._array[rows, columns]
        self._leave(rows)

    def write(self, rows: slice, columns: slice, elements: np.ndarray) -> None:
        """Copy an array to a block."""
        self._array[rows, columns] = elements
        self._leave(rows)

    def _leave(self, rows: slice) -> None:
        """Release pages to the system's cache, which keeps what was written."""
        if hasattr(mmap, "MADV_DONTNEED") and rows.start < rows.stop:
            begin = (self._at + rows.start * self._line) // mmap.PAGESIZE * mmap.PAGESIZE
            self._map.madvise(mmap.MADV_DONTNEED, begin, self._at + rows.stop * self._line - begin)

    def sync(self) -> None:
        """Hand what was written to the system; `sync` of the file then makes it safe."""
        self._map.flush()

    def close(self) -> None:
        """Close the map."""
        del self._array
        self._map.close()


def reserve(file: int, size: int) -> None:
    """Set the size of a file and reserve its room on the disk, so that the disk cannot be full later.

    If the file system cannot reserve room, zeros are written.

    Raises
    ------
    OSError
        If the disk does not have the room.
    """
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(file, 0, size)
            return
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
                raise
    zeros = np.zeros(ZEROS_BYTES, np.uint8)
    for at in range(os.fstat(file).st_size, size, ZEROS_BYTES):
        write_at(file, zeros[: size - at], at)


def sync(file: int) -> None:
    """Synchronize the data of a file with the disk, to survive a power cut."""
    try:
        from fcntl import F_FULLFSYNC, fcntl  # type: ignore[attr-defined]  # macOS: fsync leaves them in the drive
    except ImportError:
        getattr(os, "fdatasync", os.fsync)(file)
    else:
        fcntl(file, F_FULLFSYNC)


def writing_rate(folder: Path, size: int = 16 << 20) -> float:
    """Measure the bytes per second that are written to a folder and synchronized, with an unnamed file."""
    data = np.zeros(size, np.uint8)
    with tempfile.TemporaryFile(dir=folder) as file:
        write_at(file.fileno(), data[:4096], 0)
        sync(file.fileno())
        start = time.perf_counter()
        write_at(file.fileno(), data, 0)
        sync(file.fileno())
        return size / max(time.perf_counter() - start, 1e-9)


def sync_file(path: Path) -> None:
    """Synchronize a file that is not open."""
    file = os.open(path, os.O_RDWR | BINARY)
    try:
        sync(file)
    finally:
        os.close(file)


def sync_folder(path: Path) -> None:
    """Synchronize the names in a folder with the disk; Windows has no such call."""
    if os.name == "nt":
        return
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Claim a folder for this process; make it if it does not exist.

    At the end, files in it stay, and an empty folder is removed. The system releases the claim when a process ends for
    any reason.

    Raises
    ------
    SemiringError
        If another process, or another thread, has claimed it.
    """
    while True:
        if not folder.is_dir():
            folder.mkdir(exist_ok=True)
            sync_folder(folder.absolute().parent)
        try:
            file = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | BINARY, 0o600)
        except FileNotFoundError:  # removed by another process, which has finished
            continue
        mine = False
        try:
            if not _locked(file):
                raise SemiringError(f"{shown(folder)}: another process is working on this closure; wait for it, or "
                                    "choose another out=")
            mine = _is(file, folder / LOCK)
            if mine:
                yield
                return
        finally:
            if mine and os.name != "nt":  # while the claim is held
                _leave(folder)
            os.close(file)
            if mine and os.name == "nt":  # Windows keeps open files
                _leave(folder)


def _locked(file: int) -> bool:
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _is(file: int, path: Path) -> bool:
    """Whether an open file still has this name."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def _leave(folder: Path) -> None:
    """Remove the folder, if only the lock is in it."""
    if [path.name for path in folder.iterdir()] == [LOCK]:
        (folder / LOCK).unlink()
        folder.rmdir()
