"""Closures in device memory: few launches, pivots closed ahead of the bulk, graphs where launches would dominate.

    [ X C X ]
    [ R D R ]     D ← D*,   R ← D R,   X ← X ⊕ C R,   C ← C D
    [ X C X ]

Three sizes of the same step. A small matrix is closed by one block of threads. Up to `TILE`, pivots are blocks that
one block of threads closes, and a step is two launches. From `HUGE` on, pivots are matrices of the second kind, and X
is one large product; in between, the halves of R-Kleene (`semiring.algorithms.r_kleene`) are faster.

Where ⊕ is idempotent (D* D* = D*), C may be scaled before X needs it, so the next pivot's row and column can be
finished, and the pivot closed, on a second stream while the rest of X is still being computed.

A stack of matrices is closed by halves, all of its matrices in the same launches: there are enough of them to fill the
device, so nothing needs to be ahead of anything else.

Small matrices over log-sum-exp are closed by their powers, in a thirtieth of the time, and if that is too narrow, by
their logarithms after all: the device decides, without synchronization.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from threading import Lock, get_ident
from typing import Any

import numpy as np

from semiring.kernels.cuda.compile.geometry import LARGEST_STACKED, CloseGeometry, panel_geometry, stack_geometry
from semiring.kernels.cuda.compile.launch import (
    RECORDING,
    Function,
    Module,
    current_device,
    keeping,
    memory,
    minus_ones,
)
from semiring.kernels.cuda.compile.program import Program

from .product import EVERY, Gap, Product, View

TILE = 1024  # order up to which pivots are closed by one block of threads each
HUGE = 6144  # order from which on pivots are blocks of `outer_block` rows
AHEAD = 4  # blocks of the matrix from which on looking ahead pays for its events
WIDTH = 32  # rows and columns of the smallest tiles of a product, which all others are multiples of
WHOLE = 128  # orders of recorded closures are multiples of this, so that rows are aligned and tiles whole


class Closure:
    """A ← A* for one program, on the current stream."""

    def __init__(self, text: Program, product: Product, idempotent: bool, powers: Program | None = None):
        self.text, self.product, self.idempotent, self.powers = text, product, idempotent, powers
        self.size = text.size
        self._graphs: dict[tuple[int, int], Graph] = {}
        self._recording = Lock()

    def __call__(self, A: View) -> Any:
        """Close a matrix; returns a device array of one integer: −1, or the first pivot without a star."""

        failed = minus_ones(1)
        self._close(A, 0, failed.data.ptr)
        return failed

    def stack(self, A: View, D: View, batch: int, failed: int) -> None:
        """D[s] ← A[s]* for small matrices in one launch; `failed` is the address of so many integers, or 0."""
        self._small(A, D, batch, 0, failed)

    @property
    def side(self) -> int:
        """Blocks of stacks whose sides are multiples of this are cut into whole tiles."""
        return WIDTH * self.product.elements

    def stack_by_halves(self, A: View, n: int, batch: int, failed: int, start: int = 0) -> None:
        """A[s] ← A[s]* for matrices of n rows and columns; what A has beyond them is zero, and need not be kept.

            A = [ P Q ]     P ← P*,   S ← P Q,   Z ← Z ⊕ Y S,   T ← Y P,
                [ Y Z ]     Z ← Z*,   Y ← Z T,   P ← P ⊕ S Y,   Q ← S Z

        R-Kleene (see `semiring.algorithms.r_kleene`) with S and T in memory of their own, so that no product has to
        copy an operand first. `failed` is as for `stack`, and `start` is the first row of A in the whole matrix.
        """
        if n <= LARGEST_STACKED:
            whole = A.part(slice(n), slice(n), self.size)
            self._small(whole, whole, batch, start, failed)
            return
        h, size = half(n, self.side), self.size
        first, last = slice(h), slice(h, None)
        P, Q, Y, Z = (A.part(i, j, size) for i in (first, last) for j in (first, last))
        self.stack_by_halves(P, h, batch, failed, start)
        taken = memory(2 * batch * Q.rows * Q.columns * size)
        S = View(taken.ptr, Q.columns * size, Q.rows * Q.columns * size, Q.rows, Q.columns)
        T = View(taken.ptr + batch * S.next, Y.columns * size, S.next, Y.rows, Y.columns)
        self.product.cover(S, P, Q, batch, False)
        self.product.cover(Z, Y, S, batch, True)
        self.product.cover(T, Y, P, batch, False)
        self.stack_by_halves(Z, n - h, batch, failed, start + h)
        self.product.cover(Y, Z, T, batch, False)
        self.product.cover(P, S, Y, batch, True)
        self.product.cover(Q, S, Z, batch, False)

    def has_graph(self, n: int) -> bool:
        """Whether launches would take longer than the closure itself, so that they are recorded once."""
        import cupy

        return self._order < n <= TILE and not cupy.cuda.get_current_stream().is_capturing()

    @contextmanager
    def graph(self, n: int) -> Iterator[Graph]:
        """The recorded closure of order n, at least, for the one who has it until the end of the context."""
        order = -(-n // WHOLE) * WHOLE
        key = (order, current_device())
        graph = self._graphs.get(key)
        if graph is None:
            with self._recording:
                graph = self._graphs.get(key) or Graph(self, order)
                self._graphs[key] = graph
        with graph.alone():
            yield graph

    @property
    def _order(self) -> int:
        return panel_geometry(self.size, self.text.light).ORDER

    def _close(self, A: View, start: int, failed: int, ahead: bool = True) -> None:
        """A ← A*, whose first row is `start` of the whole matrix."""
        n = A.rows
        if n <= self._order:
            self._small(A, A, 1, start, failed)
        elif n <= TILE or not self.takes(A):
            self._by_panels(A, start, failed, ahead)
        else:
            self._by_products(A, outer_block(n), start, failed)

    def takes(self, A: View) -> bool:
        """Whether this is how to close the matrix: up to `TILE` any, beyond if it is huge and cut into whole tiles."""
        g, block = self.product.large, outer_block(A.rows)
        whole = not (A.rows % block or block % g.BM or block % (2 * g.BN)) and g.has_whole_tiles(self.product.size)
        return A.rows <= TILE or (A.rows >= HUGE and whole and A.is_aligned)

    def _by_panels(self, A: View, start: int, failed: int, ahead: bool) -> None:
        panels, strips, rest = self._step
        blocks = -(-A.rows // self._order)
        others = blocks - 1
        taken = memory(2 * self._order**2 * self.size)
        matrix = (A.address, A.ld, A.rows)
        side = [taken.ptr, taken.ptr + self._order**2 * self.size]
        if not self.idempotent:
            for k in range(blocks):
                panels(2 * others, 1, *matrix, k, 1, side[0], start, failed)
                rest(others**2 + 1, 1, *matrix, k, 1, side[0])
                panels(2 * others, 1, *matrix, k, 2, side[0], start, failed)
        elif not ahead or blocks < AHEAD:
            for k in range(blocks):
                panels(4 * others, 1, *matrix, k, 0, side[0], start, failed)
                rest(others**2 + 1, 1, *matrix, k, 1, side[0])
        else:
            panels(4 * others, 1, *matrix, 0, 0, side[0], start, failed)
            for k in range(others):
                with _second_stream() as done:
                    strips(2 * (2 * others - 1), 1, *matrix, k)
                    panels(4 * others, 1, *matrix, k + 1, 0, side[(k + 1) % 2], start, failed)
                rest((others - 1) ** 2 + 1, 1, *matrix, k, 2, side[k % 2])
                done.wait()
            rest(others**2 + 1, 1, *matrix, others, 1, side[others % 2])

    def _by_products(self, A: View, block: int, start: int, failed: int) -> None:
        n = A.rows
        taken = memory(block * n * self.size)
        if not self.idempotent:
            for o in range(0, n, block):
                self._close(self._part(A, o, block), start + o, failed)
                self._scale_row(A, o, block, taken.ptr)
                self._rest(A, Gap(o, block), o, block)
                self._scale_column(A, o, block, taken.ptr)
            return

        def pivot(o: int) -> None:
            self._close(self._part(A, o, block), start + o, failed, ahead=False)
            self._scale_row(A, o, block, taken.ptr)
            self._scale_column(A, o, block, taken.ptr)

        pivot(0)
        for o in range(0, n - block, block):
            after = o + block
            with _second_stream() as done:
                self._next_row_and_column(A, o, block)
                pivot(after)
            self._rest(A, Gap(o, 2 * block), o, block)
            done.wait()
        self._rest(A, Gap(n - block, block), n - block, block)

    def _part(self, A: View, o: int, block: int) -> View:
        return A.part(slice(o, o + block), slice(o, o + block), self.size)

    def _panels(self, A: View, o: int, block: int) -> tuple[View, View]:
        """The pivot's rows and columns, the pivot itself among them."""
        pivot = slice(o, o + block)
        return A.part(pivot, EVERY, self.size), A.part(EVERY, pivot, self.size)

    def _scale_row(self, A: View, o: int, block: int, memory_at: int) -> None:
        """R ← D R, from a copy of R."""
        R, _ = self._panels(A, o, block)
        old = View(memory_at, A.columns * self.size, 0, block, A.columns)
        _copy(old, R, A.columns * self.size)
        g = self.product.geometry(block, A.columns - block, 1)
        self.product.whole(g, R, self._part(A, o, block), old, 1, False, columns=Gap(o, block))

    def _scale_column(self, A: View, o: int, block: int, memory_at: int) -> None:
        """C ← C D, from a copy of C."""
        _, C = self._panels(A, o, block)
        old = View(memory_at, block * self.size, 0, A.rows, block)
        _copy(old, C, block * self.size)
        g = self.product.geometry(A.rows - block, block, 1)
        self.product.whole(g, C, old, self._part(A, o, block), 1, False, rows=Gap(o, block))

    def _rest(self, A: View, gap: Gap, o: int, block: int) -> None:
        """X ← X ⊕ C R outside the gap."""
        R, C = self._panels(A, o, block)
        left = A.rows - gap.size
        if left:
            self.product.whole(self.product.geometry(left, left, 1), A, C, R, 1, True, gap, gap)

    def _next_row_and_column(self, A: View, o: int, block: int) -> None:
        """X ← X ⊕ C R in the rows and the columns of the next pivot only."""
        R, C = self._panels(A, o, block)
        n, after, size = A.rows, slice(o + block, o + 2 * block), self.size
        g = self.product.geometry(block, n - block, 1)
        rows, columns = A.part(after, EVERY, size), A.part(EVERY, after, size)
        self.product.whole(g, rows, C.part(after, EVERY, size), R, 1, True, columns=Gap(o, block))
        self.product.whole(g, columns, C, R.part(EVERY, after, size), 1, True, rows=Gap(o, 2 * block))

    def _small(self, A: View, D: View, batch: int, start: int, failed: int) -> None:
        """D[s] ← A[s]* by one block of threads for each matrix; A may be D."""
        by_powers, by_elements, matrices = self._small_functions(A.rows)
        places, blocks = (A.address, A.ld, A.next, D.address, D.ld, D.next, A.rows, batch), -(-batch // matrices)
        if by_powers is None:
            by_elements(blocks, 1, *places, start, failed, 0)
        else:
            left = memory(4 * batch)
            by_powers(blocks, 1, *places, left.ptr)
            by_elements(blocks, 1, *places, start, failed, left.ptr)

    @lru_cache(1024)  # noqa: B019 (kernels live as long as the process)
    def _small_functions(self, n: int) -> tuple[Function | None, Function, int]:
        """`close_powers`, where there is one, `close_stack`, and how many matrices of order n a block closes."""
        g, powers = stack_geometry(self.size, n, self.text.light), None
        if self.powers is not None:
            narrow = stack_geometry(self.size, n, self.powers.light)
            powers = self._function(self.powers.powers, narrow, "close_powers")
        return powers, self._function(self.text.stack, g, "close_stack"), g.MATRICES

    def needed(self, n: int, stacked: bool) -> list[Function]:
        """The kernels by which blocks of a matrix of order n are closed."""
        if stacked or n <= self._order:
            return [function for function in self._small_functions(n)[:2] if function is not None]
        return list(self._step)

    @lru_cache(64)  # noqa: B019
    def _function(self, source: Callable[[CloseGeometry], str], g: CloseGeometry, name: str) -> Function:
        return Module(source(g)).function(name, g.threads)

    @cached_property
    def _step(self) -> tuple[Function, Function, Function]:
        g = panel_geometry(self.size, self.text.light)
        module, shared = Module(self.text.panels()), g.shared_bytes(self.size)
        panels, strips, rest = (module.function(name, g.threads, shared) for name in ("panels", "strips", "rest"))
        return panels, strips, rest


def outer_block(n: int) -> int:
    """Rows of a pivot block of a huge closure: enough steps of k for the product, yet a small share of the matrix."""
    return 512 if n < 12_288 else 1024


def half(n: int, side: int) -> int:
    """The cut of a matrix of a stack: near the middle, so that the first part is closed in whole blocks."""
    step = LARGEST_STACKED if n >= 2 * LARGEST_STACKED else side
    return -(-n // 2 // step) * step


class Graph:
    """The closure of a matrix in memory of its own, recorded once and launched as a whole."""

    def __init__(self, closure: Closure, order: int):
        import cupy
        from cupy.cuda import runtime

        size = closure.size
        self._memory = cupy.cuda.alloc(order * order * size)
        self.matrix = View(self._memory.ptr, order * size, 0, order, order)
        self.failed = cupy.empty(1, np.int32)
        self._lock, self._done, self._stream = Lock(), cupy.cuda.Event(disable_timing=True), None
        stream = cupy.cuda.Stream(non_blocking=True)
        with RECORDING, keeping() as self._kept, stream:
            stream.begin_capture()
            runtime.memsetAsync(self.failed.data.ptr, 0xFF, 4, stream.ptr)
            closure._close(self.matrix, 0, self.failed.data.ptr)
            self._graph = stream.end_capture()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """What the current stream is given inside comes after what others were given."""
        import cupy

        stream = cupy.cuda.get_current_stream()
        with self._lock:
            if self._stream is not None and self._stream != stream.ptr:
                stream.wait_event(self._done)
            yield
            self._done.record(stream)
            self._stream = stream.ptr

    def launch(self) -> None:
        """matrix ← matrix*, and `failed`."""
        import cupy

        self._graph.launch(cupy.cuda.get_current_stream())


class _Join:
    """The end of what a second stream does."""

    def __init__(self) -> None:
        import cupy

        self.first = cupy.cuda.get_current_stream()
        self.event = cupy.cuda.Event(disable_timing=True)

    def wait(self) -> None:
        """What the first stream is given from now on comes after it."""
        self.first.wait_event(self.event)


@contextmanager
def _second_stream() -> Iterator[_Join]:
    """Launches inside go to a stream of high priority, after all that the current stream was given before."""
    import cupy

    join = _Join()
    begin = cupy.cuda.Event(disable_timing=True)
    begin.record(join.first)
    second = _urgent(current_device(), get_ident())
    second.wait_event(begin)
    with second:
        yield join
        join.event.record(second)


@lru_cache(64)
def _urgent(device: int, thread: int) -> Any:
    """A stream of the highest priority (drivers clamp the number), one for each thread: another's may be recording."""
    import cupy

    return cupy.cuda.Stream(non_blocking=True, priority=-5)


def _copy(target: View, source: View, width: int) -> None:
    """Rows of `width` bytes from one place on the device to another."""
    from cupy.cuda import get_current_stream, runtime

    runtime.memcpy2DAsync(
        target.address, target.ld, source.address, source.ld, width, source.rows,
        runtime.memcpyDeviceToDevice, get_current_stream().ptr,
    )
