"""Buffers of one tile each, and who waits for whom: at once in the host's memory, later on a GPU.

The thread that computes and those that move tiles have a lane each: an order in which their work is done. In the host's
memory that is when it is asked for. On a GPU a lane is a stream: what is asked for is done later, and a mark is a point
in it for which other lanes wait, so that no thread does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

import numpy as np


class Lane(Protocol):
    """The work of one thread, in order."""

    def mark(self) -> Any:
        """The end of all that was asked for."""

    def after(self, mark: Any) -> None:
        """What is asked for now comes after a mark of any lane; None is the beginning."""

    def wait(self) -> None:
        """Until all that was asked for is done."""


class Arena(Protocol):
    """Buffers of one tile each."""

    def __len__(self) -> int:
        """How many."""

    def tile(self, buffer: int, rows: int, columns: int) -> Any:
        """The first elements of a buffer as a matrix, which the kernel takes."""

    def whole(self, buffer: int) -> Any:
        """All elements of a buffer, side by side."""

    def lane(self) -> AbstractContextManager[Lane]:
        """A lane for the thread that enters it."""


class HostLane:
    """Work that is done when it is asked for."""

    def mark(self) -> None:
        """There is nothing to wait for."""

    def after(self, mark: Any) -> None:
        """It is done."""

    def wait(self) -> None:
        """All is done."""


class HostArena:
    """Buffers in the host's memory.

    Parameters
    ----------
    count, side : int
        How many, and the order of a tile.
    storage : dtype
    room : function of a number and a dtype
        An array of so many elements.

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
        """A lane in which nobody waits."""
        yield HostLane()
