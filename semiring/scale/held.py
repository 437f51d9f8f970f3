"""Cells of a GPU in the host's memory, and on their way through it to the disk.

A GPU computes, the host's memory keeps what it puts away as far as there is room, and the rest goes on to a file:
`semiring.scale.eviction.through_memory` says which.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from .scratch import Scratch

Carry = Callable[[Any, Any], None]


class Held:
    """Cells that stay in the host's memory; a `semiring.scale.executor.MemoryShelf`.

    Parameters
    ----------
    buffers : ndarray of shape (m, t, t)
        Room for m cells, of elements in storage.
    carry : function of a source and a target
        Copies a matrix between the host and the device, and waits until it is there.
    scratch : Scratch
        Where cells are saved.
    """

    def __init__(self, buffers: np.ndarray, carry: Carry, scratch: Scratch):
        self._buffers, self._carry, self._scratch = buffers, carry, scratch
        self._places: dict[int, int] = {}
        self._free = list(range(len(buffers)))
        self._lock = threading.Lock()

    def write(self, cell: int, elements: Any) -> None:
        """Put a cell away: all elements of its buffer."""
        with self._lock:
            place = self._places.get(cell)
            if place is None:
                place = self._places[cell] = self._free.pop()
        buffer = self._buffers[place]
        self._carry(elements.reshape(buffer.shape), buffer)

    def read(self, cell: int, out: Any) -> None:
        """Bring it back."""
        with self._lock:
            buffer = self._buffers[self._places[cell]]
        self._carry(buffer, out.reshape(buffer.shape))

    def drop(self, cell: int) -> None:
        """It is not needed again; nothing happens where it is not in memory."""
        with self._lock:
            place = self._places.pop(cell, None)
            if place is not None:
                self._free.append(place)

    def save(self, cell: int) -> None:
        """Put a copy of a cell in the scratch file."""
        self._scratch.write(cell, self._buffers[self._places[cell]].reshape(-1))


class Passing:
    """Cells that pass through the host's memory to a file and back; a `semiring.scale.executor.Shelf`.

    Parameters
    ----------
    buffers : ndarray of shape (m, t, t)
        For as many threads as move cells at a time; others wait.
    carry : function of a source and a target
        As of `Held`.
    scratch : Scratch
    """

    def __init__(self, buffers: np.ndarray, carry: Carry, scratch: Scratch):
        self._carry, self._scratch = carry, scratch
        self._free: queue.SimpleQueue[np.ndarray] = queue.SimpleQueue()
        for buffer in buffers:
            self._free.put(buffer)

    def write(self, cell: int, elements: Any) -> None:
        """Put a cell away: all elements of its buffer."""
        buffer = self._free.get()
        try:
            self._carry(elements.reshape(buffer.shape), buffer)
            self._scratch.write(cell, buffer.reshape(-1))
        finally:
            self._free.put(buffer)

    def read(self, cell: int, out: Any) -> None:
        """Bring it back."""
        buffer = self._free.get()
        try:
            self._scratch.read(cell, buffer.reshape(-1))
            self._carry(buffer, out.reshape(buffer.shape))
        finally:
            self._free.put(buffer)

    def drop(self, cell: int) -> None:
        """It is not needed again."""
        self._scratch.drop(cell)
