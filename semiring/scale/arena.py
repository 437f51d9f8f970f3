"""Buffers of one tile each, and lanes that wait for each other: immediate on the host, streams on a GPU.

The thread that computes and those that move tiles have a lane each, in which work is done in order. On the host each
call does its work. On a GPU a lane is a stream: a call returns before its work is done, and a mark is a point in the
stream for which other lanes wait, so that no thread has to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

import numpy as np


class Lane(Protocol):
    """The work of one thread, in order."""

    def mark(self) -> Any:
        """A mark after all work that was started."""

    def after(self, mark: Any) -> None:
        """Let later work wait for a mark of any lane; None is the beginning."""

    def wait(self) -> None:
        """Wait until all work that was started is done."""


class Arena(Protocol):
    """Buffers of one tile each."""

    def __len__(self) -> int:
        """The number of buffers."""

    def tile(self, buffer: int, rows: int, columns: int) -> Any:
        """The first elements of a buffer as a matrix, for the kernel."""

    def whole(self, buffer: int) -> Any:
        """All elements of a buffer, contiguous."""

    def lane(self) -> AbstractContextManager[Lane]:
        """A lane for the thread that enters it."""


class HostLane:
    """Work that is done at once."""

    def mark(self) -> None:
        """Nothing: there is no later work to mark."""

    def after(self, mark: Any) -> None:
        """Nothing: the work is done."""

    def wait(self) -> None:
        """Nothing: all work is done."""


class HostArena:
    """Buffers in the host's memory.

    Parameters
    ----------
    count, side : int
        The number of buffers, and the order of a tile.
    storage : dtype
    room : function of a number and a dtype
        Allocates an array of so many elements.

    Examples
    --------
    >>> arena = HostArena(2, 3, np.dtype("f4"))
    >>> len(arena), arena.whole(1).shape, arena.tile(1, 2, 3).shape
    (2, (9,), (2, 3))
    """

    def __init__(
        self, count: int, side: int, storage: np.dtype, room: Callable[[int, np.dtype], np.ndarray] = np.empty
    ):
        self._buffers = room(count * side * side, storage).reshape(count, side * side)

    def __len__(self) -> int:
        return len(self._buffers)

    def tile(self, buffer: int, rows: int, columns: int) -> np.ndarray:
        """The first elements of a buffer as a matrix."""
        return self._buffers[buffer, : rows * columns].reshape(rows, columns)

    def whole(self, buffer: int) -> np.ndarray:
        """All elements of a buffer."""
        return self._buffers[buffer]

    @contextmanager
    def lane(self) -> Iterator[HostLane]:
        """A lane without waiting."""
        yield HostLane()
