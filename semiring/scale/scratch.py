"""A file of slots for cells that are put away, and commits: what a closure goes on from after a power cut.

A slot that a commit refers to is not written again before the next commit, so that whatever is lost after a commit,
what it refers to is whole. A commit is: the slots' data on disk, then a manifest beside the old one, then its name
exchanged for the old one's.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from semiring.errors import SemiringError
from semiring.graphs.texts import shown

from .files import BINARY, read_at, sync, sync_folder, write_at

MANIFEST, SLOTS = "manifest.json", "slots.bin"


class Scratch:
    """Slots of one size in a file, by cell.

    Parameters
    ----------
    folder : Path
    size : int
        Bytes of a slot.
    slots : mapping of int to int, optional
        Which slot holds a cell, as the last commit has it.
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
        """Put a cell away."""
        with self._lock:
            slot = self._slots.get(cell)
            if slot is None or slot in self._committed:
                slot = self._free.pop() if self._free else self._top
                self._top = max(self._top, slot + 1)
                self._slots[cell] = slot
        write_at(self._file, elements, slot * self._size)

    def read(self, cell: int, out: np.ndarray) -> None:
        """Bring a cell back."""
        with self._lock:
            slot = self._slots[cell]
        try:
            read_at(self._file, out, slot * self._size)
        except EOFError:
            raise SemiringError(f"{shown(self._folder / SLOTS)} is shorter than it was written: something else has cut "
                                f"it. Remove the folder {shown(self._folder)}, and begin anew") from None

    def drop(self, cell: int) -> None:
        """Forget a cell; its slot is free again, unless the last commit refers to it."""
        with self._lock:
            slot = self._slots.pop(cell, None)
            if slot is not None and slot not in self._committed:
                self._free.append(slot)

    def commit(self, about: Mapping[str, Any]) -> None:
        """Make all that was put away, and what there is to say about it, what a restart finds."""
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
    """Exchange the manifest for a new one, which is on disk before it takes its name."""
    draft = folder / f"{MANIFEST}.new"
    with open(draft, "w", encoding="utf-8") as file:
        json.dump(about, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, folder / MANIFEST)
    sync_folder(folder)


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """What the last commit says; None where there is none.

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
        raise SemiringError(f"{shown(folder / MANIFEST)} is damaged: remove the folder, and begin anew")
    return found
