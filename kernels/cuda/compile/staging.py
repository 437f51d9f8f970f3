"""Large host arrays to the device and back over pinned memory: a piece is copied by threads while another travels.

Memory that the system may page out is copied to the device at a fraction of the bus's rate, and pinning a whole array
takes longer than copying it. So a few pinned pieces are used in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np

from semiring.machine.threads import pool, thread_count

PIECE = 16 << 20  # bytes of a pinned piece
PIECES = 3  # in use at once: one is filled, one travels, one is about to
COPIERS = 8  # threads beyond which memory gets no faster
LEAST_BYTES = 4 << 20  # bytes below which CuPy's own copy is as fast
PAGE = 4096  # bytes: no system has smaller pages
STRETCH = 64 << 20  # bytes that a thread touches at a time
TOUCHERS = 16  # threads beyond which pages are mapped no faster


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
    stream = cupy.cuda.get_current_stream()
    pieces = [_Piece(array) for _ in range(PIECES)]
    for i, rows in enumerate(_runs(array)):
        piece, source, target = pieces[i % PIECES], array[rows], result[rows]
        piece.event.synchronize()
        part = piece.like(source)
        _copy(part, source)
        target.set(part, stream)
        piece.event.record(stream)
    stream.synchronize()  # the pieces go back to the pool
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
    stream = cupy.cuda.get_current_stream()
    pieces = [_Piece(array) for _ in range(PIECES)]
    under_way: list[tuple[_Piece, slice]] = []
    for i, rows in enumerate(_runs(array)):
        if len(under_way) == PIECES:
            _arrive(result, *under_way.pop(0))
        piece = pieces[i % PIECES]
        array[rows].get(stream, out=piece.like(array[rows]), blocking=False)
        piece.event.record(stream)
        under_way.append((piece, rows))
    for piece, rows in under_way:
        _arrive(result, piece, rows)
    return result


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


class _Piece:
    """Pinned memory for some rows of an array, and when it may be touched again."""

    def __init__(self, array: Any):
        import cupy

        self.memory = cupy.cuda.alloc_pinned_memory(max(PIECE, array.nbytes // len(array)))
        self.event = cupy.cuda.Event(disable_timing=True)

    def like(self, rows: Any) -> np.ndarray:
        """The memory as an array of the shape of these rows."""
        return np.frombuffer(self.memory, rows.dtype, rows.size).reshape(rows.shape)


def _runs(array: Any) -> Iterator[slice]:
    """Runs of rows, or of matrices of a stack, that fit in a piece."""
    step = max(PIECE // max(array.nbytes // len(array), 1), 1)
    for start in range(0, len(array), step):
        yield slice(start, min(start + step, len(array)))


def _arrive(result: np.ndarray, piece: _Piece, rows: slice) -> None:
    piece.event.synchronize()
    _copy(result[rows], piece.like(result[rows]))


def _copy(target: np.ndarray, source: np.ndarray) -> None:
    """target ← source, by a few threads."""
    parts = max(min(thread_count(None), COPIERS, len(target)), 1)
    cuts = [len(target) * i // parts for i in range(parts + 1)]
    tickets = count()

    def work() -> None:
        while (i := next(tickets)) < parts:
            np.copyto(target[cuts[i] : cuts[i + 1]], source[cuts[i] : cuts[i + 1]])

    pool.run(work, parts - 1)
