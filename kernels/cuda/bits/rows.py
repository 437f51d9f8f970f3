"""Block rows of a packed matrix on one of several GPUs: they arrive while the first pivot is eliminated from others,
and leave while the last one is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.cuda.compile.launch import multiprocessors, synchronize
from semiring.kernels.cuda.compile.staging import event_after, upload
from semiring.kernels.cuda.dense.product import NO_GAP
from semiring.kernels.cuda.dense.rows import here, put

from . import product
from .closure import schedule
from .engine import strips, transposed
from .matrix import DevicePackedMatrix

SPARE = 8  # multiprocessors for the next pivot, beside products of other rows


class Rows:
    """Block rows of a square matrix on the current GPU, one below the other, and which of their tiles are full.

    The matrix is on the host or on any GPU, and so is the answer. Products pass over full tiles. A thread copies the
    rows here, the first block row before this returns, and back.

    Parameters
    ----------
    matrix, answer : PackedMatrix or DevicePackedMatrix, shape (n, n)
    spans : sequence of slice
        Which rows; each is a block row.
    ready : callable
        Returns when the answer's memory may be written.
    """

    def __init__(self, matrix: PackedMatrix, spans: Sequence[slice], answer: PackedMatrix, ready: Callable[[], None]):
        import cupy

        self._matrix, self._answer, self._ready = matrix, answer.words, ready
        self._device, n, start = cupy.cuda.Device(), matrix.shape[1], 0
        self.held = DevicePackedMatrix.zeros(sum(s.stop - s.start for s in spans), n)
        looks = schedule(n).skip  # as the closure on one GPU does
        tiles: tuple[product.Known, Any] = product.known_tiles(self.held.bits) if looks else (product.NOTHING, None)
        self._known, self._memory = tiles
        synchronize()  # other streams fill this memory
        self._turned: tuple[int, list[Any]] = -1, []  # the pivot's rows as right operands, in strips
        self._thread = ThreadPoolExecutor(1)
        self._coming: deque[tuple[int, Future[None]]] = deque()  # where block rows begin that may not be here yet
        self._staying: dict[int, tuple[slice, slice]] = {}  # block rows by where they begin: here, and in the matrix
        self._going: list[Future[None]] = []
        for span in spans:
            place = slice(start, start + span.stop - span.start)
            self._coming.append((start, self._thread.submit(self._take, span, place)))
            self._staying[start] = place, span
            start = place.stop
        self._await(1)

    def __contains__(self, part: DevicePackedMatrix) -> bool:
        here, address = self.held.bits, part.bits.address
        return here.address <= address < here.address + here.rows * here.ld

    def eliminate(self, A: DevicePackedMatrix, R: DevicePackedMatrix, k: slice, beside: bool = False) -> None:
        """X ← X ⊕ C R, C ← C D for some of the rows, by the rows of a pivot, whose columns k are D.

        One product does both, since C ⊕ C D is C D if D contains the identity. C may change while X is computed from
        it: a bit that is set stays set, and belongs to the answer.

        Parameters
        ----------
        A, R : DevicePackedMatrix
        k : slice
        beside : bool
            Leave some multiprocessors to more urgent work. All such calls for one pivot are on one stream.
        """
        m, n = A.shape
        top = self._place(A)
        self._await(top + m)
        blocks = max(multiprocessors() - SPARE, 1) if beside else 0
        for first, last, T, _kept in self._right_operands(R, k, beside):
            part, C = A.bits.part(0, m, first, last), A.bits.part(0, m, k.start, k.stop)
            known, _settled = product.settled(part, C, T, NO_GAP, self._known.part(top, first))
            product.multiply(part, C, T, True, known=known, blocks=blocks)
        if k.stop == n:
            for rows in (R, A) if R in self else (A,):
                self._leave(self._place(rows))

    def finish(self) -> None:
        """Return when all rows are in the answer; this GPU's work on them is done."""
        for start in list(self._staying):
            self._leave(start)
        for going in self._going:
            going.result()

    def end(self) -> None:
        """Stop copying; the memory may be freed then."""
        self._thread.shutdown(cancel_futures=True)

    def _place(self, part: DevicePackedMatrix) -> int:
        """The row at which a part begins."""
        return (part.bits.address - self.held.bits.address) // self.held.bits.ld

    def _await(self, stop: int) -> None:
        """Return when the rows before this one are here."""
        while self._coming and self._coming[0][0] < stop:
            self._coming.popleft()[1].result()

    def _right_operands(self, R: DevicePackedMatrix, k: slice, kept: bool) -> list[Any]:
        """The rows of a pivot transposed, in strips of columns."""
        if kept and self._turned[0] == k.start:
            return self._turned[1]
        found = [(first, last, *transposed(R.bits.part(0, R.shape[0], first, last)))
                 for first, last in strips(R.shape[1], k.stop - k.start)]
        if kept:
            self._turned = k.start, found
        return found

    def _take(self, span: slice, place: slice) -> None:
        """Copy a block row to its place, and wait."""
        used = self._matrix.used_words
        source, goal = self._matrix.words[span, :used], self.held.words[place, :used]
        with self._device:
            if isinstance(source, np.ndarray) and goal.flags.c_contiguous:
                upload(source, goal)
            else:
                goal[...] = here(source)
                synchronize()

    def _leave(self, start: int) -> None:
        """Copy a block row into the answer when the current stream has come so far."""
        from cupy.cuda import get_current_stream

        if start not in self._staying:
            return
        place, span = self._staying.pop(start)
        event = event_after(get_current_stream())

        def copy() -> None:
            with self._device:
                self._ready()
                event.synchronize()
                put(self.held.words[place], self._answer[span])
                synchronize()

        self._going.append(self._thread.submit(copy))
