"""Closures of packed matrices on the host by a GPU: rows travel while others are computed.

The rows of the first pivot go up first, and the other ones while their turn in its step comes. In the last pivot's step
rows are finished some at a time; they go down while the next ones are computed. In between, threads map the pages of
the answer's memory.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from semiring.kernels.blocks.bits import row_words
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.cuda.compile.staging import fetch, send, touch
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
        self.parts = [(top, min(top + ROWS, n)) for top in range(0, n, ROWS)]
        if matrix.words.shape[1] < width:
            self.there, self.parts = DevicePackedMatrix.from_dense(matrix), []
        else:
            self.there = DevicePackedMatrix.empty(n, n)
        self.threads = ThreadPoolExecutor(1), ThreadPoolExecutor(1)
        up, _ = self.threads
        begun = _now()  # memory of the device may be in use until then
        self.sent: list[Future[None]] = [up.submit(self._send, *part, begun) for part in self.parts]
        self.touched = None if same else up.submit(touch, self.answer.words, thread_count(None))
        self.fetched: list[Future[None]] = []

    def __enter__(self) -> _Carrying:
        return self

    def __exit__(self, *error: Any) -> None:
        for threads in reversed(self.threads):
            threads.shutdown(cancel_futures=error[0] is not None)
        if error[0] is None:
            for part in self.fetched:
                part.result()

    def need(self, top: int, bottom: int) -> None:
        """Return when some rows are there."""
        for part in self.sent[top // ROWS : -(-bottom // ROWS)]:
            part.result()

    def done(self, top: int, bottom: int) -> None:
        """Begin to send some rows down when the current stream has come so far."""
        if self.reflexive:
            set_diagonal(self.there.bits.part(top, bottom, top, bottom))
        _, down = self.threads
        self.fetched.append(down.submit(self._fetch, top, bottom, _now()))

    def _send(self, top: int, bottom: int, after: Any) -> None:
        with self.device:
            rows = self.there.words[top:bottom]
            send(self.matrix.words[top:bottom, : rows.shape[1]], rows, after)

    def _fetch(self, top: int, bottom: int, after: Any) -> None:
        if self.touched is not None:
            self.touched.result()  # which writes to each page
        with self.device:
            fetch(self.there.words[top:bottom], self.answer.words[top:bottom], after)


def _now() -> Any:
    """An event after all that the current stream was given."""
    import cupy

    event = cupy.cuda.Event(disable_timing=True)
    event.record(cupy.cuda.get_current_stream())
    return event
