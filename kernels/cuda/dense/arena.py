"""Buffers of one tile each on the current GPU, with a stream for each thread; see `semiring.scale.arena`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from semiring.kernels.cuda.compile.launch import current_device, synchronize_device


class GpuLane:
    """A stream, as a lane."""

    def __init__(self, stream: Any):
        self._stream = stream

    def mark(self) -> Any:
        """An event."""
        import cupy

        event = cupy.cuda.Event(disable_timing=True)
        event.record(self._stream)
        return event

    def after(self, mark: Any) -> None:
        """What comes now waits for an event."""
        if mark is not None:
            self._stream.wait_event(mark)

    def wait(self) -> None:
        """Until the stream is empty."""
        self._stream.synchronize()


class GpuArena:
    """Buffers on the current GPU.

    Parameters
    ----------
    count, side : int
        How many, and the order of a tile, a multiple of 128 if products are to run at full speed.
    storage : dtype
    """

    def __init__(self, count: int, side: int, storage: np.dtype):
        import cupy

        self._number = current_device()
        self._buffers = cupy.empty((count, side * side), storage)
        synchronize_device(cupy.cuda.Device(self._number))

    def __len__(self) -> int:
        return len(self._buffers)

    def tile(self, buffer: int, rows: int, columns: int) -> Any:
        """The first elements of a buffer as a matrix."""
        return self._buffers[buffer, : rows * columns].reshape(rows, columns)

    def whole(self, buffer: int) -> Any:
        """All elements of a buffer."""
        return self._buffers[buffer]

    def lane(self) -> AbstractContextManager[GpuLane]:
        """A stream of its own for the thread that enters it, CuPy's current one inside."""
        return own_lane(self._number)


@contextmanager
def own_lane(device: int) -> Iterator[GpuLane]:
    """A stream of its own for the thread that enters it, CuPy's current one inside; of a GPU by number."""
    import cupy

    with cupy.cuda.Device(device):
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            yield GpuLane(stream)
