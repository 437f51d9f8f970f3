"""Closures of packed matrices on the host by a GPU: rows travel while others are computed.

The rows of the first pivot go up first, and the other ones while their turn in its step comes. In the last pivot's step
rows are finished some at a time; they go down while the next ones are computed. In between, threads map the pages of
the answer's memory.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from threading import Condition
from typing import Any

from semiring.kernels.blocks.bits import row_words
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.cuda.compile.staging import event_after, fetch, send, touch
from semiring.machine.threads import thread_count

from .closure import Traffic, close
from .matrix import DevicePackedMatrix
from .words import set_diagonal

ROWS = 43 * 192  # rows that travel together: whole tiles of a product


def closed(matrix: PackedMatrix, reflexive: bool, in_place: bool = False) -> PackedMatrix:
    """The closure A*, or A⁺, of a square matrix on the host, on the host.

    Parameters
    ----------
    matrix : PackedMatrix, shape (n, n)
    reflexive : bool
    in_place : bool
        Whether the answer may take the place of the matrix.
    """
    with _Carrying(matrix, reflexive, in_place) as carrying:
        close(carrying.there.bits, traffic=carrying)
    return carrying.answer


class _Carrying(Traffic):
    """A matrix on its way up, and its closure on its way down; a thread for either way begins the copies."""

    rows = ROWS

    def __init__(self, matrix: PackedMatrix, reflexive: bool, in_place: bool):
        import cupy

        n, width = len(matrix.words), row_words(matrix.shape[1])
        self.matrix, self.reflexive, self.device = matrix, reflexive, cupy.cuda.Device()
        same = in_place and matrix.words.flags.writeable and matrix.words.shape[1] == width
        self.answer = matrix if same else PackedMatrix.empty(n, n)
        whole = matrix.words.shape[1] >= width
        self.there = DevicePackedMatrix.empty(n, n) if whole else DevicePackedMatrix.from_dense(matrix)
        self.waited = 0 if whole else n  # the rows above are there when the stream has come so far
        self.changed, self.ended = Condition(), False  # of the next two
        self.sent: dict[int, tuple[int, Any]] = {}  # by their first row, rows on their way and the event after them
        self.finished: list[tuple[int, Any]] = []  # how many rows are done, and the event after them
        self.threads = ThreadPoolExecutor(1), ThreadPoolExecutor(1)
        self.up = self.threads[0].submit(self._send, _now()) if whole else None
        self.touched = None if same else self.threads[0].submit(touch, self.answer.words, thread_count(None))
        self.down: Future[None] | None = None

    def __enter__(self) -> _Carrying:
        return self

    def __exit__(self, *error: Any) -> None:
        if error[0] is not None:
            self._end()
        for threads in reversed(self.threads):
            threads.shutdown(cancel_futures=error[0] is not None)
        if error[0] is None and self.down is not None:
            self.down.result()

    def need(self, top: int, bottom: int) -> None:
        """Let the current stream wait for rows on their way; return when they have set off."""
        from cupy.cuda import get_current_stream

        stream = get_current_stream()
        while self.waited < bottom:
            with self.changed:
                self.changed.wait_for(lambda: self.waited in self.sent or self.ended)
                if self.waited not in self.sent and self.up is not None:
                    self.up.result()  # raises what happened
                self.waited, event = self.sent.pop(self.waited)
            stream.wait_event(event)

    def done(self, top: int, bottom: int) -> None:
        """Send some rows down when the current stream has come so far."""
        if self.reflexive:
            set_diagonal(self.there.bits.part(top, bottom, top, bottom))
        event = _now()
        with self.changed:
            self.finished.append((bottom, event))
            self.changed.notify_all()
        if self.down is None:
            self.down = self.threads[1].submit(self._fetch, event)

    def _send(self, after: Any) -> None:
        def sent(rows: slice, event: Any) -> None:
            with self.changed:
                self.sent[rows.start] = rows.stop, event
                self.changed.notify_all()

        try:
            with self.device:
                send(self.matrix.words[:, : self.there.words.shape[1]], self.there.words, after, sent)
        except BaseException:
            self._end()
            raise

    def _fetch(self, after: Any) -> None:
        def ready(rows: slice) -> Any:
            with self.changed:
                self.changed.wait_for(lambda: self.ended or self.finished[-1][0] >= rows.stop)
                return next(event for bottom, event in self.finished if bottom >= rows.stop)

        if self.touched is not None:
            self.touched.result()  # which writes to each page
        with self.device:
            fetch(self.there.words, self.answer.words, after, ready)

    def _end(self) -> None:
        """Let nothing wait any more."""
        with self.changed:
            self.ended = True
            self.changed.notify_all()


def _now() -> Any:
    """An event after all that the current stream was given."""
    from cupy.cuda import get_current_stream

    return event_after(get_current_stream())
