"""Shelves for cells that are not on the GPU: in the host's memory, in a file, or in the matrix itself.

`Held` keeps them in buffers, `Passing` carries them on to a file, and `semiring.scale.eviction.through_memory` decides
which. `InPlace` keeps them in the matrix to which they belong. A tile's place in the answer is its home, first for
intermediate values of the tile, and in the end for the tile of the closure. While a panel is multiplied there are two
cells for one tile; the second one is kept outside the matrix until the first is finished. So the host holds the matrix
that was passed, the answer (perhaps the same), and little more.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from .program import Program, Tile
from .scratch import Scratch

Carry = Callable[[Any, Any], None]


class Shelf(Protocol):
    """A place to which cells are evicted, and from which they are loaded."""

    def write(self, cell: int, elements: Any) -> None:
        """Store an evicted cell: all elements of its buffer."""

    def read(self, cell: int, out: Any) -> None:
        """Load it again."""

    def drop(self, cell: int) -> None:
        """Forget it: it is not needed again."""


class Held(Shelf):
    """Cells that stay in the host's memory.

    Parameters
    ----------
    buffers : ndarray of shape (m, t, t)
        Room for m cells, of elements in storage.
    carry : function of a source and a target
        Copies a matrix between the host and the device, and waits for the end.
    scratch : Scratch
        Saves cells.
    """

    def __init__(self, buffers: np.ndarray, carry: Carry, scratch: Scratch):
        self._buffers, self._carry, self._scratch = buffers, carry, scratch
        self._places: dict[int, int] = {}
        self._free = list(range(len(buffers)))
        self._lock = threading.Lock()

    def write(self, cell: int, elements: Any) -> None:
        with self._lock:
            place = self._places.get(cell)
            if place is None:
                place = self._places[cell] = self._free.pop()
        buffer = self._buffers[place]
        self._carry(elements.reshape(buffer.shape), buffer)

    def read(self, cell: int, out: Any) -> None:
        with self._lock:
            buffer = self._buffers[self._places[cell]]
        self._carry(buffer, out.reshape(buffer.shape))

    def drop(self, cell: int) -> None:
        """Forget it; nothing happens if it is not in memory."""
        with self._lock:
            place = self._places.pop(cell, None)
            if place is not None:
                self._free.append(place)

    def save(self, cell: int) -> None:
        """Save a copy of a cell in the scratch file."""
        self._scratch.write(cell, self._buffers[self._places[cell]].reshape(-1))


class Passing(Shelf):
    """Cells that pass through the host's memory to a file and back.

    Parameters
    ----------
    buffers : ndarray of shape (m, t, t)
        One for each thread that moves cells at the same time; other threads wait.
    carry : function of a source and a target
        As for `Held`.
    scratch : Scratch
    """

    def __init__(self, buffers: np.ndarray, carry: Carry, scratch: Scratch):
        self._carry, self._scratch = carry, scratch
        self._free: queue.SimpleQueue[np.ndarray] = queue.SimpleQueue()
        for buffer in buffers:
            self._free.put(buffer)

    def write(self, cell: int, elements: Any) -> None:
        buffer = self._free.get()
        try:
            self._carry(elements.reshape(buffer.shape), buffer)
            self._scratch.write(cell, buffer.reshape(-1))
        finally:
            self._free.put(buffer)

    def read(self, cell: int, out: Any) -> None:
        buffer = self._free.get()
        try:
            self._scratch.read(cell, buffer.reshape(-1))
            self._carry(buffer, out.reshape(buffer.shape))
        finally:
            self._free.put(buffer)

    def drop(self, cell: int) -> None:
        self._scratch.drop(cell)


class InPlace(Shelf):
    """The places of cells that are not on the device.

    Parameters
    ----------
    made : Program
    stored, answer : ndarray of shape (n, n)
        For elements in storage and for those of the closure; they may share memory.
    carry : function of a source and a target
        Copies a matrix between the host and the device, and waits for the end.
    room : function of a number and a dtype
        Allocates an array of so many elements on the host.
    inhabited : bool
        Whether `answer` holds the matrix to be closed, whose tiles are at home until they are finished.
    """

    def __init__(
        self, made: Program, stored: np.ndarray, answer: np.ndarray, carry: Callable[[Any, Any], None],
        room: Callable[[int, np.dtype], np.ndarray] = np.empty, inhabited: bool = False,
    ):
        self._made, self._stored, self._answer, self._carry, self._room = made, stored, answer, carry, room
        self._shared = np.may_share_memory(stored, answer)
        self._tiles = made.tiles()
        first = range(made.count**2) if inhabited else ()
        self._owners = {self._tiles[cell]: cell for cell in first}  # cells that are at home
        self._guests: dict[int, np.ndarray] = {}  # cells outside the matrix
        self._whole: dict[Tile, int] = {}  # … by their tile, once they are complete
        self._read: dict[int, int] = {}  # cells that are being read, and how often
        self._ready: dict[Tile, np.ndarray] = {}  # tiles of the closure whose home is not free
        self._free: list[np.ndarray] = []
        self._taken = 0
        self._lock = threading.Lock()

    @property
    def beside(self) -> int:
        """The most tiles that were outside the matrix at a time."""
        return self._taken

    def write(self, cell: int, elements: Any) -> None:
        """Store an evicted cell: at home, unless another cell of the tile is there."""
        tile = self._tiles[cell]
        with self._lock:
            self._leave(cell)  # its old value is not needed, because it is written anew
            if self._owners.setdefault(tile, cell) != cell:
                self._guests[cell] = self._spare()
            target = self._where(cell)
        self._carry(self._matrix(elements, tile), target)
        with self._lock:
            if cell in self._guests:
                self._whole[tile] = cell
                self._settle(tile)

    def read(self, cell: int, out: Any) -> None:
        with self._lock:
            source = self._where(cell)
            self._read[cell] = self._read.get(cell, 0) + 1
        self._carry(source, self._matrix(out, self._tiles[cell]))
        with self._lock:
            self._read[cell] -= 1

    def drop(self, cell: int) -> None:
        """Forget a cell; a tile of the closure that waits for its home moves there."""
        tile = self._tiles[cell]
        with self._lock:
            self._leave(cell)
            if self._owners.get(tile) == cell:
                del self._owners[tile]
                self._settle(tile)

    def finish(self, tile: Tile, elements: Any) -> None:
        """Put a tile of the closure into its home, now or as soon as that is free."""
        rows, columns = self._made.shape(tile)
        with self._lock:
            guest = self._spare() if self._shared and tile in self._owners else None
        if guest is None:
            self._carry(elements, self._answer[self._made.block(tile)])
            return
        self._carry(elements, guest.view(self._answer.dtype)[: rows * columns].reshape(rows, columns))
        with self._lock:
            self._ready[tile] = guest
            self._settle(tile)

    def _settle(self, tile: Tile) -> None:
        """Move a waiting cell or tile of the closure to a home, if it is free."""
        if tile in self._owners:
            return
        if tile in self._ready:
            guest = self._ready.pop(tile)
            self._answer[self._made.block(tile)] = self._matrix(guest.view(self._answer.dtype), tile)
            self._free.append(guest)
        elif (cell := self._whole.get(tile)) is not None and not self._read.get(cell):
            self._stored[self._made.block(tile)] = self._where(cell)
            self._owners[tile] = cell
            self._leave(cell)

    def _leave(self, cell: int) -> None:
        """Remove a cell from those outside the matrix."""
        guest = self._guests.pop(cell, None)
        if guest is not None:
            self._free.append(guest)
        if self._whole.get(self._tiles[cell]) == cell:
            del self._whole[self._tiles[cell]]

    def _where(self, cell: int) -> np.ndarray:
        tile = self._tiles[cell]
        guest = self._guests.get(cell)
        return self._stored[self._made.block(tile)] if guest is None else self._matrix(guest, tile)

    def _matrix(self, elements: Any, tile: Tile) -> Any:
        """The first elements as a tile."""
        rows, columns = self._made.shape(tile)
        return elements[: rows * columns].reshape(rows, columns)

    def _spare(self) -> np.ndarray:
        if self._free:
            return self._free.pop()
        self._taken += 1
        return self._room(self._made.side**2, self._stored.dtype)
