"""Buffers of one tile each, and lanes that wait for each other: immediate on the host, streams on a GPU.

The thread that computes and those that move tiles have a lane each, in which work is done in order. On the host each
call does its work. On a GPU (`semiring.kernels.cuda.dense.arena`) a lane is a stream: a call returns before its work is
done, and a mark is a point in the stream for which other lanes wait, so that no thread has to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


class HostLane:
    """The work of one thread, in order; on the host it is done at once."""

    def mark(self) -> Any:
        """A mark after all work that was started."""

    def after(self, mark: Any) -> None:
        """Let later work wait for a mark of any lane; None is the beginning."""

    def wait(self) -> None:
        """Wait until all work that was started is done."""


class HostArena:
    """Buffers of one tile each, in the host's memory.

    Parameters
    ----------
    count, side : int
        The number of buffers, and the order of a tile.
    storage : dtype

    Examples
    --------
    >>> arena = HostArena(2, 3, np.dtype("f4"))
    >>> len(arena), arena.whole(1).shape, arena.tile(1, 2, 3).shape
    (2, (9,), (2, 3))
    """

    def __init__(self, count: int, side: int, storage: np.dtype):
        self._buffers = np.empty((count, side * side), storage)

    def __len__(self) -> int:
        return len(self._buffers)

    def tile(self, buffer: int, rows: int, columns: int) -> np.ndarray:
        """The first elements of a buffer as a matrix, for the kernel."""
        return self._buffers[buffer, : rows * columns].reshape(rows, columns)

    def whole(self, buffer: int) -> np.ndarray:
        """All elements of a buffer, contiguous."""
        return self._buffers[buffer]

    @contextmanager
    def lane(self) -> Iterator[HostLane]:
        """A lane for the thread that enters it."""
        yield HostLane()


@contextmanager
def pinned_memory() -> Iterator[Callable[[int, np.dtype], np.ndarray]]:
    """A context with a function that allocates pinned memory of the host for so many elements, until it is left."""
    from semiring.kernels.cuda.dense.carry import Pinned

    with Pinned() as pinned:
        pinned.begin()

        def allocate(count: int, dtype: np.dtype) -> np.ndarray:
            array = np.empty(count, dtype)
            pinned.add(array, fresh=True)
            pinned.wait()
            return array

        yield allocate
