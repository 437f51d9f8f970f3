"""Closures of packed Boolean matrices on the device, in place: blocked Warshall with pivot blocks within pivot blocks.

        [ X C X ]
    A = [ R D R ]     D ← D⁺,   R ← R ⊕ D R,   X ← X ⊕ C R   (and C ← C ⊕ C D, being columns of X)
        [ X C X ]

D is closed by the same step with smaller pivots, down to blocks that are closed by squaring, D ← D ⊕ D D, in one
launch a time: up to a few thousand rows a product takes little longer than a launch. The smallest are closed by one
block of threads. A product needs its right operand transposed: R is transposed once, and the product that makes the
new R writes that transposed as well.

⊕ is "or", so a bit once set stays, and every bit that is ever set belongs in the answer. Hence C may change while X is
computed from it, and D while it is squared: what one tile reads of another's new entries does no harm.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from threading import get_ident
from typing import Any, NamedTuple

from semiring.kernels.cuda.compile.launch import current_device, multiprocessors
from semiring.kernels.cuda.dense.product import NO_GAP, Gap

from .product import NOTHING, Known, known_tiles, multiply, settled
from .words import Bits, close_block, scratch, transpose

SMALLEST = 512  # order up to which one block of threads closes a block


class Schedule(NamedTuple):
    """How a matrix is cut.

    Attributes
    ----------
    blocks : tuple of int
        Orders of the pivot blocks, outermost first; multiples of 128. The innermost, or the matrix if there are none,
        is closed by squaring.
    spare : int
        Multiprocessors that are left free for the next pivot, which is closed while X is computed; 0: nothing is done
        ahead.
    skip : bool
        Whether tiles that are full or have empty operands are looked for, to pass them over.
    """

    blocks: tuple[int, ...] = ()
    spare: int = 0
    skip: bool = False


def schedule(n: int) -> Schedule:
    """The fastest cut for an order, as measured on an H200; from 131,073 on as measured on an H100."""
    if n <= 3072:
        return Schedule()
    if n <= 12_288:
        return Schedule((2048,))
    if n <= 24_576:
        return Schedule((4096, 2048), 24)
    if n <= 49_152:
        return Schedule((8192, 2048), 8)
    if n <= 131_072:
        return Schedule((8192, 2048), 8, True)
    return Schedule((16_384, 2048), 4, True)


class Traffic:
    """Rows that come while the first pivot uses them, and go when the last one has changed them: here all are there.

    Attributes
    ----------
    rows : int
        How many come or go together, a multiple of 64; 0: all.
    """

    rows = 0

    def need(self, top: int, bottom: int) -> None:
        """Return when some rows are there."""

    def done(self, top: int, bottom: int) -> None:
        """Take away rows that the current stream changes no more after what it was given."""


def close(A: Bits, how: Schedule | None = None, traffic: Traffic | None = None) -> None:
    """A ← A⁺ = A ⊕ A² ⊕ …, on the current stream; rows of A begin on multiples of 16 bytes."""
    traffic = traffic or Traffic()
    if A.rows > SMALLEST:
        _Closure(A, how or schedule(A.rows), traffic).run()
    elif A.rows:
        traffic.need(0, A.rows)
        close_block(A)
        traffic.done(0, A.rows)


class _Closure:
    """One closure, with the memory for panels of every level."""

    def __init__(self, A: Bits, how: Schedule, traffic: Traffic):
        self.A, self.how, self.traffic = A, how, traffic
        self.blocks = tuple(b for b in how.blocks if b < A.rows)
        orders = (A.rows, *self.blocks)
        self._panels = [(scratch(n, b), scratch(n, b)) for n, b in pairwise(orders)]
        self._square = scratch(orders[-1], orders[-1])
        self._known = known_tiles(A) if how.skip else (NOTHING, None)

    def run(self) -> None:
        n, known = self.A.rows, self._known[0]
        if not self.blocks:
            self.traffic.need(0, n)
            self._close(self.A, 0)
            self.traffic.done(0, n)
            return
        block = self.blocks[0]
        self.traffic.need(0, min(block, n))
        self._close(self._block(self.A, 0), 1)
        for o in range(0, n, block):
            after = min(o + block, n)
            T = self._row(self.A, o, after, 0, known)
            if after < n and self.how.spare:
                self._rest_and_next(o, after, T, known)
            else:
                self._all_rest(o, after, T, Gap(o, after - o), known)
                if after < n:
                    self._close(self._block(self.A, after), 1)

    def _block(self, A: Bits, o: int) -> Bits:
        stop = min(o + self.blocks[0], A.rows)
        return A.part(o, stop, o, stop)

    def _close(self, A: Bits, level: int) -> None:
        """A ← A⁺ for a block of a level, on the current stream."""
        if A.rows <= SMALLEST:
            close_block(A)
        elif level == len(self.blocks):
            T = self._square[0]._replace(rows=A.rows, columns=A.columns)
            transpose(A, T)
            multiply(A, A, T, True, T, times=(A.rows - 1).bit_length())
        else:
            block = self.blocks[level]
            for o in range(0, A.rows, block):
                after = min(o + block, A.rows)
                self._close(A.part(o, after, o, after), level + 1)
                T = self._row(A, o, after, level)
                self._rest(A, o, after, T, Gap(o, after - o))

    def _row(self, A: Bits, o: int, after: int, level: int, known: Known = NOTHING) -> Bits:
        """R ← R ⊕ D R; returns R^T."""
        (old, _), (new, _) = self._panels[level]
        old, new = (t._replace(rows=A.columns, columns=after - o) for t in (old, new))
        R = A.part(o, after, 0, A.columns)
        transpose(R, old)
        multiply(R, A.part(o, after, o, after), old, True, new, known=known.part(o))
        return new

    def _rest(
        self, A: Bits, o: int, after: int, T: Bits, gap: Gap, known: Known = NOTHING, blocks: int = 0
    ) -> None:
        """X ← X ⊕ C R outside the gap."""
        C = A.part(0, A.rows, o, after)
        known, _kept = settled(A, C, T, gap, known)
        multiply(A, C, T, True, gap=gap, known=known, blocks=blocks)

    def _all_rest(self, o: int, after: int, T: Bits, gap: Gap, known: Known, blocks: int = 0) -> None:
        """The same of the whole matrix: some rows at a time where they come or go."""
        n, A = self.A.rows, self.A
        some = self.traffic.rows if o == 0 or after == n else 0
        for top in range(0, n, some or n):
            bottom = min(top + (some or n), n)
            self.traffic.need(top, bottom)
            at, stop = (min(max(end, top), bottom) - top for end in (gap.at, gap.at + gap.size))
            inside = Gap(at, stop - at) if stop > at else NO_GAP
            self._rest(A.part(top, bottom, 0, A.columns), o, after, T, inside, known.part(top), blocks)
            if after == n:
                self.traffic.done(top, bottom)

    def _rest_and_next(self, o: int, after: int, T: Bits, known: Known) -> None:
        """The rows of the next pivot first; then that is closed on a second stream while the others are computed."""
        import cupy

        A, stop = self.A, min(after + self.blocks[0], self.A.rows)
        self.traffic.need(after, stop)
        multiply(A.part(after, stop, 0, A.columns), A.part(after, stop, o, after), T, True)
        first, second = cupy.cuda.get_current_stream(), _urgent(current_device(), get_ident())
        ready, closed = (cupy.cuda.Event(disable_timing=True) for _ in range(2))
        ready.record(first)
        there = multiprocessors()
        self._all_rest(o, after, T, Gap(o, stop - o), known, there - min(self.how.spare, there // 4))
        second.wait_event(ready)
        with second:
            self._close(self._block(A, after), 1)
            closed.record(second)
        first.wait_event(closed)


@lru_cache(64)
def _urgent(device: int, thread: int) -> Any:
    """A stream of the highest priority (drivers clamp the number), one for each thread: another's may be recording."""
    import cupy

    return cupy.cuda.Stream(non_blocking=True, priority=-5)
