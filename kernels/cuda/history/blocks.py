"""The phases of blocked Floyd–Warshall on the GPU, a thread for each element of a block; blocks.cu has the kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np

from semiring.kernels.cuda.compile.launch import RECORDING, Function, Module
from semiring.kernels.cuda.compile.program import always_defined
from semiring.kernels.cuda.lowering import CudaLowering

from .forms import text_of, tile_of

NAMES = ("close", "panels", "rest", "first_hops", "look_for_ones")
BOTH, ROWS, COLUMNS = range(3)  # as `which` of blocks.cu
PARTS = 4  # streams


@dataclass(frozen=True)
class Variant:
    """How blocks are read."""

    shared: bool = True  # from shared memory
    padded: bool = False  # where rows are longer than a block by one element
    down: bool = False  # threads side by side take elements of a column
    hops: bool = False  # next hops are carried

    def constants(self, tile: int) -> str:
        """The text of the numbers of blocks.cu."""
        numbers = {"TILE": tile, "PITCH": tile + self.padded}
        truths = {"SHARED": self.shared, "DOWN": self.down}
        return "".join([
            *(f"constexpr int {name} = {value};\n" for name, value in numbers.items()),
            *(f"constexpr bool {name} = {'true' if value else 'false'};\n" for name, value in truths.items()),
            f"#define HOPS {int(self.hops)}\n",
        ])


KATZ_KIDER = Variant()


def source(low: CudaLowering, variant: Variant) -> str:
    """The text of all phases."""
    text = text_of(low)
    return text.source(variant.constants(tile_of(text.size)), "history/blocks.cu")


@lru_cache(256)
def functions(low: CudaLowering, variant: Variant) -> dict[str, Function]:
    """The kernels of a lowering by name."""
    module, tile = Module(source(low, variant)), tile_of(text_of(low).size)
    return {name: module.function(name, tile * tile) for name in NAMES}


class PhaseKernel:
    """A matrix in blocks, a launch a phase; see `semiring.algorithms.history.katz_kider`.

    Parameters
    ----------
    low : CudaLowering
    A : array, shape (n, n)
        In storage, in C order; overwritten.
    variant : Variant
        Next hops are only for algebras in which ⊕ selects.

    Attributes
    ----------
    answer : array
        A* in the end.
    hops : array of int32 or None
        h_ij is the vertex after i on the way to j, i on the diagonal, and −1 where j is not reachable. They lead
        there unless a cycle weighs 1.
    """

    def __init__(self, low: CudaLowering, A: Any, variant: Variant):
        import cupy

        self.answer, self.n, self.idempotent = A, len(A), low.algebra.idempotent
        self._tile = tile_of(A.dtype.itemsize)
        self.blocks = -(-self.n // self._tile)
        self._launch = functions(low, variant)
        self._checked = not always_defined(low)
        self._failed = cupy.full(1, -1, np.int32)
        self.hops = cupy.empty(A.shape, np.int32) if variant.hops else None
        self._places = A.data.ptr, 0 if self.hops is None else self.hops.data.ptr, self.n
        if self.hops is not None and self.n:
            self._launch["first_hops"](self.blocks, self.blocks, *self._places)

    def close(self, k: int) -> None:
        """D ← D*."""
        self._launch["close"](1, 1, *self._places, k, self._failed.data.ptr)

    def panels(self, k: int) -> None:
        """R ← D R and C ← C D, in one launch."""
        self._panels(k, BOTH, 0, self.blocks - 1)

    def rows(self, k: int) -> None:
        """R ← D R."""
        self._panels(k, ROWS, 0, self.blocks - 1)

    def columns(self, k: int) -> None:
        """C ← C D."""
        self._panels(k, COLUMNS, 0, self.blocks - 1)

    def rest(self, k: int) -> None:
        """X ← X ⊕ C R."""
        self._rest(k, 0, self.blocks - 1)

    def has_cycle_of_one(self, A: Any) -> bool:
        """Whether a cycle of the original matrix, in storage and C order, weighs 1; after all phases."""
        import cupy

        found = cupy.zeros(1, np.int32)
        if self.n:
            self._launch["look_for_ones"](
                self.blocks, self.blocks, A.data.ptr, self.answer.data.ptr, self.n, found.data.ptr
            )
        return bool(found[0])

    def _panels(self, k: int, which: int, first: int, count: int) -> None:
        """The panels, of `count` blocks from the `first` on; the pivot's is not counted."""
        if count > 0:
            self._launch["panels"](count, 2 if which == BOTH else 1, *self._places, k, which, first)

    def _rest(self, k: int, first: int, count: int) -> None:
        """The rest, of `count` rows of blocks from the `first` on."""
        if count > 0:
            self._launch["rest"](self.blocks - 1, count, *self._places, k, first)

    def forget(self) -> None:
        """No pivot is without a star so far."""
        self._failed[...] = -1

    def failed(self) -> int:
        """The first pivot without a star, or −1; waits for the device where a star may be missing."""
        return int(self._failed[0]) if self._checked else -1


class PartsKernel(PhaseKernel):
    """Block rows in parts, each on a stream of its own; see `semiring.algorithms.history.zuccato_lena`."""

    def __init__(self, low: CudaLowering, A: Any, variant: Variant):
        import cupy

        super().__init__(low, A, variant)
        self.parts = max(min(PARTS, self.blocks), 1)
        self._bounds = [self.blocks * p // self.parts for p in range(self.parts + 1)]
        self._streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(self.parts)]

    def part_of(self, k: int) -> int:
        """The part that has block row k."""
        return next(p for p in range(self.parts) if k < self._bounds[p + 1])

    def close_and_scale(self, k: int) -> None:
        """D ← D*, R ← D R, in the part of row k."""
        with self._streams[self.part_of(k)]:
            self.close(k)
            self.rows(k)

    def columns_of(self, k: int, part: int) -> None:
        """C ← C D in the rows of a part."""
        with self._streams[part]:
            self._panels(k, COLUMNS, *self._without(k, part))

    def rest_of(self, k: int, part: int) -> None:
        """X ← X ⊕ C R in the rows of a part."""
        with self._streams[part]:
            self._rest(k, *self._without(k, part))

    def _without(self, k: int, part: int) -> tuple[int, int]:
        """The first block row of a part and how many it has, block row k not counted."""
        first, end = self._bounds[part], self._bounds[part + 1]
        return first - (first > k), end - first - (first <= k < end)

    def mark(self, part: int) -> Any:
        """What the part was given so far."""
        return _mark(self._streams[part])

    def wait(self, part: int, mark: Any) -> None:
        """What the part is given from now on comes after the mark."""
        self._streams[part].wait_event(mark)

    def run(self, schedule: Callable[[PartsKernel], None]) -> None:
        """The schedule on the streams, between what the current stream was given and what it will be."""
        import cupy

        with self._forked(cupy.cuda.get_current_stream()):
            schedule(self)

    def recorded(self, schedule: Callable[[PartsKernel], None]) -> Any:
        """The same as a graph, which is not launched yet."""
        import cupy

        with RECORDING, cupy.cuda.Stream(non_blocking=True) as stream:
            stream.begin_capture()
            with self._forked(stream):
                schedule(self)
            return stream.end_capture()

    @contextmanager
    def _forked(self, origin: Any) -> Iterator[None]:
        begin = _mark(origin)
        for part in range(self.parts):
            self.wait(part, begin)
        yield
        for part in range(self.parts):
            origin.wait_event(self.mark(part))


class RecordedParts:
    """Closures of matrices of one order by a graph that is recorded once, in memory of its own.

    Parameters
    ----------
    low : CudaLowering
    n : int
    variant : Variant
        Without next hops.
    schedule : callable
        What is recorded.
    """

    def __init__(self, low: CudaLowering, n: int, variant: Variant, schedule: Callable[[PartsKernel], None]):
        import cupy

        self._parts = PartsKernel(low, cupy.empty((n, n), low.storage), variant)
        self._graph = self._parts.recorded(schedule)
        self._lock = Lock()

    def close(self, A: Any) -> int:
        """A ← A*; −1, or the first pivot without a star. Waits for the device: others may use the memory then."""
        import cupy

        with self._lock:
            stream = cupy.cuda.get_current_stream()
            self._parts.answer[...] = A
            self._parts.forget()
            self._graph.launch(stream)
            A[...] = self._parts.answer
            stream.synchronize()
            return self._parts.failed()


def _mark(stream: Any) -> Any:
    import cupy

    event = cupy.cuda.Event(disable_timing=True)
    event.record(stream)
    return event
