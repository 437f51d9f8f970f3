"""The folder of an unfinished closure: cells in slots of a file, and commits, from which it can continue.

A slot that a commit refers to is not written again before the next commit, so whatever is lost after a commit, its own
data are complete. A commit writes the data of the slots to disk, then a manifest next to the old one, and then renames
the new manifest to the old name.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from semiring import __version__
from semiring.errors import SemiringError
from semiring.graphs.texts import shown
from semiring.kernels.lowering.base import Lowering

from .files import BINARY, LOCK, read_at, sync, sync_folder, write_at
from .storing import Storing

MANIFEST, SLOTS, DIAGONAL = "manifest.json", "slots.bin", "diagonal.npy"
FORMAT = 4  # of manifests
FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG}


class Scratch:
    """Slots of one size in a file, by cell.

    Parameters
    ----------
    folder : Path
    size : int
        Bytes of a slot.
    slots : mapping of int to int, optional
        The slot of each cell at the last commit.
    """

    def __init__(self, folder: Path, size: int, slots: Mapping[int, int] | None = None):
        flags = os.O_RDWR | BINARY | (0 if slots is not None else os.O_CREAT | os.O_TRUNC)
        self._file = os.open(folder / SLOTS, flags, 0o600)
        self._folder, self._size, self._lock = folder, size, threading.Lock()
        self._slots = dict(slots or {})
        self._committed = set(self._slots.values())
        self._top = max(self._committed, default=-1) + 1
        self._free = sorted(set(range(self._top)) - self._committed, reverse=True)

    def write(self, cell: int, elements: np.ndarray) -> None:
        """Store an evicted cell."""
        with self._lock:
            slot = self._slots.get(cell)
            if slot is None or slot in self._committed:
                slot = self._free.pop() if self._free else self._top
                self._top = max(self._top, slot + 1)
                self._slots[cell] = slot
        write_at(self._file, elements, slot * self._size)

    def read(self, cell: int, out: np.ndarray) -> None:
        """Load it again."""
        with self._lock:
            slot = self._slots[cell]
        try:
            read_at(self._file, out, slot * self._size)
        except EOFError:
            raise SemiringError(f"{shown(self._folder / SLOTS)} is shorter than it was written: another program has "
                                f"cut it. Remove the folder {shown(self._folder)}, and start again") from None

    def drop(self, cell: int) -> None:
        """Forget a cell; its slot is free again, unless the last commit refers to it."""
        with self._lock:
            slot = self._slots.pop(cell, None)
            if slot is not None and slot not in self._committed:
                self._free.append(slot)

    def commit(self, about: Mapping[str, Any]) -> None:
        """Make all stored cells, and a description of the state, available to a restart."""
        sync(self._file)
        with self._lock:
            slots = dict(self._slots)
        write_manifest(self._folder, {**about, "slots": {str(cell): slot for cell, slot in slots.items()}})
        with self._lock:
            self._committed = set(slots.values())
            self._free = sorted(set(range(self._top)) - set(self._slots.values()) - self._committed, reverse=True)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def write_manifest(folder: Path, about: Mapping[str, Any]) -> None:
    """Replace the manifest by a new one, which is on disk before it is renamed."""
    draft = folder / f"{MANIFEST}.new"
    with open(draft, "w", encoding="utf-8") as file:
        json.dump(about, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, folder / MANIFEST)
    sync_folder(folder)


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The contents of the last commit; None if there is none.

    Raises
    ------
    SemiringError
        If it is damaged.
    """
    try:
        text = (folder / MANIFEST).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise SemiringError(f"{shown(folder / MANIFEST)} is damaged: remove the folder, and start again")
    return found


def clear(folder: Path, finished: bool = False) -> None:
    """Remove the files of a run, except the claim: the manifest first, or last if the run has finished.

    So after a kill in between there is no manifest of removed files, or one that says that the run has finished.
    """
    manifest = folder / MANIFEST
    if not finished:
        manifest.unlink(missing_ok=True)
        sync_folder(folder)
    clear_files(folder)
    manifest.unlink(missing_ok=True)


def clear_files(folder: Path) -> None:
    """Remove all but the claim and the manifest."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name not in (LOCK, MANIFEST):
            path.unlink()


def unfinished(storing: Storing) -> dict[str, Any] | None:
    """The manifest of an earlier run, if `resume` is set.

    Raises
    ------
    SemiringError
        If there is one and `resume` is False, or a different version of the library wrote it.
    """
    saved = read_manifest(storing.folder)
    if saved is None:
        return None
    if not storing.resume:
        raise SemiringError(f"{shown(storing.folder)} holds an unfinished closure, {saved.get('operation')} operations "
                            "of it: pass resume=True to go on with it, or remove the folder")
    refuse_other(storing, saved, {"format": FORMAT, "library": __version__})
    return saved


def refuse_other(storing: Storing, saved: dict[str, Any] | None, about: dict[str, Any]) -> None:
    """Refuse to continue a run with a different input, algebra or library.

    Raises
    ------
    SemiringError
        The message names the difference.
    """
    for name, now in about.items() if saved is not None else ():
        then = saved.get(name)  # type: ignore[union-attr]
        if then != now:
            raise SemiringError(f"{shown(storing.folder)} was begun with {name} {then!r}, but now it is {now!r}: "
                                "change it back, or remove the folder and start again")


@contextmanager
def explained(storing: Storing, operations: int) -> Iterator[None]:
    """A context in which errors of the disk say how much of the closure the last commit has.

    Raises
    ------
    SemiringError
    """
    try:
        yield
    except OSError as error:
        saved = read_manifest(storing.folder)
        kept = "nothing is kept, since there was no checkpoint" if saved is None else (
            f"{saved['operation']} of {operations} operations are kept: mend that, and pass resume=True")
        why = "the disk is full" if error.errno in FULL else f"{error.strerror or error}"
        where = storing.folder if error.filename is None else Path(str(error.filename))
        raise SemiringError(f"{shown(where)}: {why}; {kept}") from None


def keep_diagonal(folder: Path, values: np.ndarray) -> None:
    """Keep the diagonal of A⁺, and return when it would survive a power cut.

    It is kept before its first element is written: a restart needs A*, or all of the new diagonal.
    """
    with open(folder / DIAGONAL, "wb") as file:
        np.save(file, values)
        file.flush()
        os.fsync(file.fileno())
    sync_folder(folder)


def kept_diagonal(folder: Path) -> np.ndarray:
    """The diagonal that `keep_diagonal` wrote.

    Raises
    ------
    SemiringError
        If it is damaged.
    """
    path = folder / DIAGONAL
    try:
        return np.asarray(np.load(path))
    except (OSError, ValueError, EOFError):
        raise SemiringError(f"{shown(path)} is damaged: remove the folder, and start again") from None


def fingerprint(low: Lowering) -> str:
    """A digest that identifies an algebra in the form in which it is computed."""
    return hashlib.sha256(repr((low.name, str(low.storage), low.key)).encode()).hexdigest()[:32]
