"""Run a program: threads load tiles ahead and write them behind, while the kernel works on those in memory."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from semiring.algorithms.r_kleene import close_pivot
from semiring.kernels.interface import Kernel

from .eviction import HOST, INPUT, NOWHERE, SCRATCH, Move, Traffic, cells_of
from .program import Program, Tile
from .shelves import Held, Shelf

READERS, WRITERS = 2, 2  # threads
AHEAD = 6  # tiles that may be loaded before they are needed, or wait to be written
PATIENCE = 0.05  # seconds after which a waiting thread checks whether another has failed


class Ends(NamedTuple):
    """Functions that read tiles of the input and write tiles of the closure; several threads call them.

    Attributes
    ----------
    read : function of a tile and an array
        Fills the array with elements in storage.
    write : function of a tile and an array
    commit : function of an operation's number, optional
        Makes all written data, and what a restart at this operation needs, survive a power cut.
    interval : float
        Seconds between commits.
    """

    read: Callable[[Tile, Any], None]
    write: Callable[[Tile, Any], None]
    commit: Callable[[int], None] | None = None
    interval: float = np.inf


class _Stopped(Exception):
    """Another thread has failed."""


class _Order(NamedTuple):
    """A cell to be written; its buffer is free afterwards, unless the cell stays in memory."""

    cell: int
    buffer: int
    mark: Any  # of the computing lane: after it, the cell has its new value
    place: str
    stays: bool = False


@dataclass
class Executor:
    """One run of a program.

    Attributes
    ----------
    made : Program
    plan : Traffic
        The plan for that program.
    room : int
        The number of cells that the plan keeps in memory; there are `AHEAD` more.
    kernel : Kernel
        It works on tiles of the arena.
    arena : HostArena or GpuArena
        It has `room` + `AHEAD` buffers.
    scratch : Shelf
        Keeps cells on the disk, and what commits need.
    ends : Ends
    start : int
        The first operation to run: those before it were done before the last commit.
    progress : function of a number from 0 to 1, optional
    memory : Held, optional
        Keeps cells in the host's memory, if the arena is on a GPU.
    moved : dict of (str, str) to int
        Tiles that were moved, as `Traffic.moved` counts them, without those that commits write.
    commits : int
    """

    made: Program
    plan: Traffic
    room: int
    kernel: Kernel[Any]
    arena: Any
    scratch: Shelf
    ends: Ends
    start: int = 0
    progress: Callable[[float], None] | None = None
    memory: Held | None = None
    moved: dict[tuple[str, str], int] = field(default_factory=dict)
    commits: int = 0

    def __post_init__(self) -> None:
        self._free: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()  # with the mark of their last work
        for buffer in range(len(self.arena)):
            self._free.put((buffer, None))
        self._orders: queue.SimpleQueue[_Order | None] = queue.SimpleQueue()
        self._tiles = self.made.tiles()
        self._loads = iter(self._all_loads())
        self._turn = threading.Lock()  # held by the reader that takes the next load and a buffer for it
        self._state = threading.Condition()
        self._arrived: dict[tuple[int, int], tuple[int, Any]] = {}  # by operation and cell, with its mark
        self._leaving: dict[int, int] = {}  # the number of orders for a cell
        self._unsaved: set[int] = set()  # cells whose only copy is in the host's memory
        self._reached = self.start - 1  # evictions before this operation have been ordered
        self._failure: BaseException | None = None

    def run(self) -> None:
        """Run the program from its start.

        Raises
        ------
        UndefinedStar
            When a pivot has no star.
        OSError
            If something cannot be read or written.
        """
        with self.arena.lane() as lane:
            try:
                self._run(lane)
            finally:
                lane.wait()  # the buffers must not be used afterwards

    def _run(self, lane: Any) -> None:
        inside = self._restored(lane)  # before tiles are loaded ahead, which would take the buffers
        threads = [threading.Thread(target=self._guarded, args=(work,), daemon=True)
                   for work in [self._reads] * READERS + [self._writes] * WRITERS]
        for thread in threads:
            thread.start()
        try:
            self._computes(lane, inside)
            self._wait(lambda: not self._leaving)
        except BaseException as error:
            self._fail(error)
            raise self._failure from None  # type: ignore[misc]
        finally:
            for _ in range(WRITERS):
                self._orders.put(None)
            for thread in threads:
                thread.join()

    # The computing thread

    def _computes(self, lane: Any, inside: dict[int, int]) -> None:
        changed = set[int]()
        last, operations = time.monotonic(), self.made.operations
        for at in range(self.start, len(operations)):
            operation, step = operations[at], self.plan.steps[at]
            self._evict(lane, step.away, inside, changed)
            with self._state:
                self._reached = at
                self._state.notify_all()
            for move in step.loads:
                inside[move.cell], mark = self._arrival(at, move.cell)
                lane.after(mark)
            for cell in step.freed:
                self._free_copy(cell, changed)
            operands = [self._view(inside[cell], cell) for cell in operation[1:4] if cell >= 0]
            if operation.kind == "close":
                close_pivot(operands[0], self.kernel, operation.tile[0] * self.made.side)
            elif operation.kind == "multiply":
                self.kernel.multiply(*operands)
            else:
                self.kernel.multiply_add(*operands)
            changed.add(operation.target)
            for move in step.after:
                self.scratch.drop(move.cell)
            self._evict(lane, step.after, inside, changed)
            if self.progress is not None:
                self.progress((at + 1) / len(operations))
            if self.ends.commit is not None and time.monotonic() - last >= self.ends.interval:
                self._commits(lane, at + 1, inside, changed)
                last = time.monotonic()

    def _free_copy(self, cell: int, changed: set[int]) -> None:
        """Forget cells in the host's memory that were loaded, unless the next commit needs them."""
        if self.memory is not None:
            self.memory.drop(cell)
        if cell in self._unsaved:
            self._unsaved.discard(cell)
            changed.add(cell)

    def _evict(self, lane: Any, moves: tuple[Move, ...], inside: dict[int, int], changed: set[int]) -> None:
        for move in moves:
            buffer = inside.pop(move.cell)
            changed.discard(move.cell)
            if move.place == NOWHERE:
                self._free.put((buffer, lane.mark()))
            else:
                if move.place == HOST:
                    self._unsaved.add(move.cell)
                self._order(_Order(move.cell, buffer, lane.mark(), move.place))

    def _order(self, order: _Order) -> None:
        with self._state:
            self._leaving[order.cell] = self._leaving.get(order.cell, 0) + 1
        self._orders.put(order)

    def _commits(self, lane: Any, at: int, inside: dict[int, int], changed: set[int]) -> None:
        """Save a copy of all cells that have changed, and refer to it."""
        assert self.ends.commit is not None
        for cell in sorted(changed):
            self._order(_Order(cell, inside[cell], lane.mark(), SCRATCH, stays=True))
        changed.clear()
        self._wait(lambda: not self._leaving)
        for cell in sorted(self._unsaved):
            assert self.memory is not None
            self.memory.save(cell)
        self._unsaved.clear()
        self.ends.commit(at)
        self.commits += 1

    def _restored(self, lane: Any) -> dict[int, int]:
        """Load the cells that the plan has in memory at the start, after a restart."""
        cells: dict[int, None] = {}
        written = set()
        for operation, step in zip(self.made.operations[: self.start], self.plan.steps, strict=False):
            for move in step.away:
                cells.pop(move.cell)
            cells.update(dict.fromkeys(cells_of(operation)))
            written.add(operation.target)
            for move in step.after:
                cells.pop(move.cell)
        inside = {cell: self._free.get()[0] for cell in cells}
        for cell, buffer in inside.items():
            self._fetch(cell, buffer, SCRATCH if cell in written else INPUT)
        lane.wait()
        return inside

    def _arrival(self, at: int, cell: int) -> tuple[int, Any]:
        self._wait(lambda: (at, cell) in self._arrived)
        return self._arrived.pop((at, cell))

    # The threads that move tiles

    def _all_loads(self) -> list[tuple[int, Move, int]]:
        """Loads in order, each with its operation and with the operation before which the cell was evicted last."""
        away: dict[int, int] = {}
        held = set[int]()  # in the host's memory; after a restart, cells are where they were committed
        found = []
        for at in range(self.start, len(self.plan.steps)):
            step = self.plan.steps[at]
            away.update((move.cell, at) for move in step.away)
            held.update(move.cell for move in step.away if move.place == HOST)
            for move in step.loads:
                place = SCRATCH if move.place == HOST and move.cell not in held else move.place
                found.append((at, Move(move.cell, place), away.get(move.cell, -1)))
            held.difference_update(step.freed)
        return found

    def _reads(self, lane: Any) -> None:
        while True:
            with self._turn:  # a later load must not take a buffer while an earlier one waits for one
                at, move, away = next(self._loads, (-1, None, -1))
                if move is None:
                    return
                buffer, mark = self._buffer()
            lane.after(mark)
            if move.place in (SCRATCH, HOST):
                self._wait_for_copy(move.cell, away)
            self._fetch(move.cell, buffer, move.place)
            with self._state:
                self._count("read", move.place)
                self._arrived[at, move.cell] = buffer, lane.mark()
                self._state.notify_all()

    def _wait_for_copy(self, cell: int, away: int) -> None:
        """Wait until a cell that is evicted before an operation has been stored."""
        self._wait(lambda: self._reached >= away and cell not in self._leaving)

    def _buffer(self) -> tuple[int, Any]:
        while True:
            try:
                return self._free.get(timeout=PATIENCE)
            except queue.Empty:
                if self._failure is not None:
                    raise _Stopped from None

    def _fetch(self, cell: int, buffer: int, place: str) -> None:
        if place == INPUT:
            self.ends.read(self._tiles[cell], self._view(buffer, cell))
        elif place in (SCRATCH, HOST):
            self._shelf(place).read(cell, self.arena.whole(buffer))

    def _writes(self, lane: Any) -> None:
        while (order := self._orders.get()) is not None and self._failure is None:
            lane.after(order.mark)
            if order.place in (SCRATCH, HOST):
                self._shelf(order.place).write(order.cell, self.arena.whole(order.buffer))
            else:
                self.ends.write(self._tiles[order.cell], self._view(order.buffer, order.cell))
            lane.wait()  # until other threads can load it
            with self._state:
                if not order.stays:
                    self._count("write", order.place)
                    self._free.put((order.buffer, None))
                self._leaving[order.cell] -= 1
                if not self._leaving[order.cell]:
                    del self._leaving[order.cell]
                self._state.notify_all()

    # Shared by all threads

    def _shelf(self, place: str) -> Shelf:
        if place == SCRATCH:
            return self.scratch
        assert self.memory is not None, "the plan keeps cells in memory"
        return self.memory

    def _view(self, buffer: int, cell: int) -> Any:
        return self.arena.tile(buffer, *self.made.shape(self._tiles[cell]))

    def _count(self, direction: str, place: str) -> None:
        if place != NOWHERE:
            self.moved[direction, place] = self.moved.get((direction, place), 0) + 1

    def _wait(self, ready: Callable[[], bool]) -> None:
        with self._state:
            while not ready():
                if self._failure is not None:
                    raise _Stopped
                self._state.wait(PATIENCE)

    def _fail(self, error: BaseException) -> None:
        """Keep the first error, which the run raises."""
        with self._state:
            if self._failure is None:
                self._failure = error
            self._state.notify_all()

    def _guarded(self, work: Callable[[Any], None]) -> None:
        try:
            with self.arena.lane() as lane:
                try:
                    work(lane)
                finally:
                    lane.wait()
        except BaseException as error:
            self._fail(error)
