"""Large host arrays to the device and back over pinned memory: threads fill and empty pieces while others travel.

Memory that the system may page out is copied to the device at a fraction of the bus's rate, and pinning a whole array
takes longer than copying it. So each of some threads has a stream and two pinned pieces: while one of them travels, the
thread copies into or out of the other one. No thread waits for another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np

from semiring.machine.threads import pool, thread_count

PIECE = 8 << 20  # bytes of a pinned piece: each costs some changes of threads in Python
LEAST_PIECE = 1 << 20  # bytes of one of an array that has few for each thread
LANES = 12  # threads that copy beyond which the bus is full
LEAST_BYTES = 4 << 20  # bytes below which CuPy's own copy is as fast
PAGE = 4096  # bytes: no system has smaller pages
STRETCH = 32 << 20  # bytes that a thread touches at a time
TOUCHERS = 8  # threads beyond which pages are mapped no faster


def upload(array: np.ndarray, out: Any = None) -> Any:
    """A CuPy array of the same elements, in C order, or the one that is given, which is in C order."""
    import cupy

    if array.nbytes < LEAST_BYTES or array.ndim < 2:
        if out is None:
            return cupy.asarray(array, order="C")
        stream = cupy.cuda.get_current_stream()
        out.set(np.ascontiguousarray(array), stream)
        stream.synchronize()
        return out
    result = cupy.empty(array.shape, array.dtype) if out is None else out
    send(array, result)
    return result


def download(array: Any, out: np.ndarray | None = None) -> np.ndarray:
    """A NumPy array of the same elements, in C order, or the one that is given."""
    import cupy

    if array.nbytes < LEAST_BYTES or array.ndim < 2:
        if out is None:
            return np.asarray(array.get())
        out[...] = array.get()
        return out
    array = cupy.ascontiguousarray(array)
    result = np.empty(array.shape, array.dtype) if out is None else out
    fetch(array, result)
    return result


def send(
    array: np.ndarray, target: Any, after: Any = None, sent: Callable[[slice, Any], None] | None = None
) -> None:
    """target ← a host array, by streams of its own.

    Parameters
    ----------
    array : ndarray
    target : cupy.ndarray, in C order
    after : cupy.cuda.Event, optional
        When the copies may begin. Default: after all that the current stream was given.
    sent : callable, optional
        Is called with some rows, and an event after their copy. Rows come in order, but for some threads.
    """
    def move(lane: _Lane, rows: slice) -> None:
        piece = lane.free_piece()
        part = piece.like(array[rows])
        np.copyto(part, array[rows])
        target[rows].set(part, lane.stream)
        piece.event.record(lane.stream)
        if sent is not None:
            sent(rows, event_after(lane.stream))

    _by_lanes(array, move, after)


def fetch(
    array: Any, target: np.ndarray, after: Any = None, ready: Callable[[slice], Any] | None = None
) -> None:
    """target ← an array of the device in C order, by streams of its own.

    Parameters
    ----------
    array : cupy.ndarray
    target : ndarray
    after : cupy.cuda.Event, optional
        When the copies may begin. Default: after all that the current stream was given.
    ready : callable, optional
        Gives an event after which some rows may be copied; is called when their turn comes, and may wait.
    """
    def move(lane: _Lane, rows: slice) -> None:
        piece = lane.free_piece()
        part = piece.like(target[rows])
        if ready is not None:
            lane.stream.wait_event(ready(rows))
        array[rows].get(lane.stream, out=part, blocking=False)
        piece.event.record(lane.stream)
        piece.goal = target[rows]

    _by_lanes(array, move, after)


def touch(array: np.ndarray, threads: int) -> None:
    """Have every page of an array in C order mapped, by so many threads at most; what it held is lost.

    The system maps a page of new memory when it is first written, which takes longer than a copy into it.
    """
    memory = array.reshape(-1).view(np.uint8)
    parts = -(-memory.size // STRETCH)
    tickets = count()

    def work() -> None:
        while (i := next(tickets)) < parts:
            memory[i * STRETCH : (i + 1) * STRETCH : PAGE] = 0

    pool.run(work, max(min(threads, TOUCHERS, parts), 1) - 1)


def event_after(stream: Any) -> Any:
    """An event after all that a stream was given."""
    import cupy

    event = cupy.cuda.Event(disable_timing=True)
    event.record(stream)
    return event


_streams: dict[int, list[Any]] = {}  # of each device that no lane uses


class _Piece:
    """Pinned memory, when it may be touched again, and the rows that it must be copied to before."""

    def __init__(self, size: int):
        import cupy

        self.memory = cupy.cuda.alloc_pinned_memory(size)
        self.event = cupy.cuda.Event(disable_timing=True)
        self.goal: np.ndarray | None = None

    def like(self, rows: Any) -> np.ndarray:
        """The memory as an array of the shape of these rows."""
        return np.frombuffer(self.memory, rows.dtype, rows.size).reshape(rows.shape)

    def settle(self) -> None:
        """Wait until it has travelled, and hand out what has arrived."""
        self.event.synchronize()
        if self.goal is not None:
            np.copyto(self.goal, self.like(self.goal))
            self.goal = None


class _Lane:
    """A stream of copies, and two pieces in turn, which are pinned when they are first needed: that takes a while."""

    def __init__(self, stream: Any, size: int, after: Any):
        self.stream, self.size = stream, size
        self.stream.wait_event(after)
        self.pieces: list[_Piece] = []

    def free_piece(self) -> _Piece:
        """A new piece, or the one that was used before the last one."""
        if len(self.pieces) < 2:
            self.pieces.insert(0, _Piece(self.size))
        else:
            self.pieces.reverse()
            self.pieces[0].settle()
        return self.pieces[0]

    def settle(self) -> None:
        """Wait until both have travelled."""
        for piece in reversed(self.pieces):
            piece.settle()


def _by_lanes(array: Any, move: Callable[[_Lane, slice], None], after: Any) -> None:
    """Move each run of rows of an array by one of some lanes; all have arrived when this returns."""
    import cupy

    if after is None:
        after = event_after(cupy.cuda.get_current_stream())
    runs, device, tickets = list(_runs(array)), cupy.cuda.Device(), count()
    size, streams = max(_piece_bytes(array), array.nbytes // max(len(array), 1)), _streams.setdefault(device.id, [])

    def work() -> None:
        if (i := next(tickets)) >= len(runs):
            return
        with device:
            try:
                stream = streams.pop()
            except IndexError:
                stream = cupy.cuda.Stream(non_blocking=True)
            lane = _Lane(stream, size, after)
            try:
                while i < len(runs):
                    move(lane, runs[i])
                    i = next(tickets)
                lane.settle()
            finally:
                stream.synchronize()  # pieces go back to CuPy
            streams.append(stream)

    pool.run(work, max(min(thread_count(None), LANES, len(runs)), 1) - 1)


def _piece_bytes(array: Any) -> int:
    """Bytes of the pieces of an array: a power of 2, because CuPy keeps pinned memory by its size."""
    return min(max(1 << (array.nbytes // LANES).bit_length(), LEAST_PIECE), PIECE)


def _runs(array: Any) -> Iterator[slice]:
    """Runs of rows, or of matrices of a stack, that fit in a piece."""
    step = max(_piece_bytes(array) // max(array.nbytes // max(len(array), 1), 1), 1)
    for start in range(0, len(array), step):
        yield slice(start, min(start + step, len(array)))
