"""Closures from file to file: which tiles are where, and what that moves and takes.

    disk ⇄ host                 the host computes
    disk ⇄ host ⇄ GPU           the GPU computes; the host's memory keeps what the GPU evicts, as far as it suffices

Both run the same program with the same executor and commits. A GPU evicts the tile that it needs again last: to the
host's memory if a place there saves most, and otherwise through it to the disk.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.graphs.texts import shown
from semiring.kernels.build import kernel as build_kernel
from semiring.kernels.facts import Facts
from semiring.kernels.interface import Kernel
from semiring.kernels.lowering.base import Lowering
from semiring.machine.memory import available_bytes, available_on_device, in_words
from semiring.operands.dense import carried_by
from semiring.operands.devices import COPY_RATE, GPU_RATE
from semiring.scale.arena import HostArena, pinned_memory
from semiring.scale.eviction import HOST, Traffic, through_memory, traffic
from semiring.scale.executor import AHEAD, READERS, WRITERS
from semiring.scale.files import writing_rate
from semiring.scale.program import Program, Schedule, Tile, program
from semiring.scale.scratch import Scratch
from semiring.scale.shelves import Held, Passing, Shelf
from semiring.scale.stores import Output, Source
from semiring.scale.storing import Storing

from ..costs import lowering_rates
from ..forms import without_library
from ..plan import Plan

SIDES = (2048, 1536, 1024, 768, 512, 384, 256, 192, 128, 64)  # orders of tiles that the host multiplies
TILES = 48  # that should fit in memory; with fewer tiles more is moved
SIDES_ON_GPU = (8192, 4096, 2048, 1024, 512, 256, 128)
TILES_ON_GPU = 32  # that should fit on a GPU: large tiles hide their transfers better than many tiles save transfers
TILES_IN_A_ROW = 8  # that the matrix should have, if a GPU computes
TILES_ON_HOST = 4  # that should fit in the host's memory, besides tiles on their way
SHARE = 0.8  # part of the GPU's free memory that may be used
NEEDED_TILES = 3 + AHEAD  # in the memory where products are computed
MOVERS = READERS + WRITERS  # threads; each moves one tile through the host's memory, in storage and as elements
DISK_RATE = 2e9  # bytes a second, to compare two orders of operations
HOP = np.dtype(np.int32)  # of next hops in files


@dataclass(frozen=True)
class Layout:
    """The size of tiles, and how many of them each memory holds.

    Attributes
    ----------
    n, side : int
        The order of the matrix and of a tile.
    room : int
        Tiles in the memory where products are computed.
    order : int
        Tiles for whose number the operations are ordered.
    beside : int
        Evicted tiles that the host's memory holds, if a GPU computes.
    """

    n: int
    side: int
    room: int
    order: int
    beside: int = 0

    def planned(self, schedule: Schedule) -> Planned:
        """The operations of a schedule, and the traffic of tiles."""
        made = program(schedule, self.n, self.side, self.order)
        plan = traffic(made, self.room)
        return Planned(self, made, through_memory(plan, self.beside) if self.beside else plan)


class Planned(NamedTuple):
    """A layout, the operations of a schedule, and the traffic of tiles."""

    layout: Layout
    made: Program
    traffic: Traffic


@dataclass(eq=False, repr=False, kw_only=True)
class LongPlan(Plan):
    """The plan of a closure that takes long, and predicts how long.

    Attributes
    ----------
    done : float
        The part that an earlier run has done, if this one continues it.
    """

    done: Final[float] = 0.0

    def predicted(self) -> tuple[dict[str, float], float]:
        """Predict the seconds of each part by name, all at the same time; measure the bytes per second of the last."""
        raise NotImplementedError

    def details(self) -> dict[str, str]:
        """The rows that are printed besides those of all plans, by name."""
        raise NotImplementedError

    def product_seconds(self, share: float) -> float:
        """Seconds for the products, predicted from ⊕ and ⊗, at a multiple of this machine's rate or of a GPU's."""
        if self.lowering.on_gpu:
            return self.work * max(self.lowering.storage.itemsize, 4) / 4 / (GPU_RATE * share)
        return self.work / (lowering_rates(self.lowering).product * share)

    def rows(self) -> dict[str, str]:
        """The rows that are printed, by name.

        Returns
        -------
        dict of str to str
        """
        rows = super().rows() | self.details()
        seconds, rate = self.predicted()
        longest = max(seconds, key=seconds.__getitem__)
        parts = ", ".join(f"{time_in_words(value)} of {name}" for name, value in seconds.items())
        if self.done:
            rows["done"] = f"{100 * self.done:.1f} %, by an earlier run"
        rows["predicted"] = f"{time_in_words(seconds[longest])}, bound by {longest}: {parts}"
        rows["predicted"] += f" at {in_words(int(rate))}/s" if rate < inf else ""
        return rows


@dataclass(eq=False, repr=False, kw_only=True)
class StoredPlan(LongPlan):
    """The plan of a closure that goes tile by tile from file to file; `print` it.

    Attributes
    ----------
    storing : Storing
        The options of the output.
    read, written : int
        Bytes of tiles that are moved, including the input and the output.
    output, scratch : int
        Bytes on the disk: for the answer, and at most for evicted tiles, without `kept`.
    kept : int
        Bytes that commits may need in addition.
    host : int
        Bytes of the host's memory for tiles; if a GPU computes, `memory` is the GPU's.
    bus : int
        Bytes of tiles that are moved between the host's memory and a GPU.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> p = sr.plan("closure", np.zeros((300, 300)), sr.min_plus, out="d.npy", memory="1M")
    >>> p.method, p.tile, p.output
    ('r-kleene, out of core', 64, 720000)
    """

    storing: Final[Storing] = field(default_factory=lambda: Storing(Path()))
    read: Final[int] = 0
    written: Final[int] = 0
    output: Final[int] = 0
    scratch: Final[int] = 0
    kept: Final[int] = 0
    host: Final[int] = 0
    bus: Final[int] = 0

    def predicted(self) -> tuple[dict[str, float], float]:
        """See `LongPlan`; the disk's rate is measured on a few MiB."""
        left, rate = 1 - self.done, writing_rate(self.storing.out.absolute().parent)
        found = {"products": left * self.product_seconds(1.0)}
        if self.lowering.on_gpu:
            found["copies to the GPU and back"] = left * self.bus / COPY_RATE
        return found | {"reading and writing": left * (self.read + self.written) / rate}, rate

    def details(self) -> dict[str, str]:
        """See `LongPlan`.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> sr.plan("closure", np.zeros((300, 300)), sr.min_plus, out="d.npy").rows()["commits"]
        'none: a power cut loses everything; checkpoint= makes commits'
        """
        matrix = max(self.shape[0] ** 2 * self.lowering.storage.itemsize, 1)
        rows = {"moved": f"{in_words(self.read)} read, {in_words(self.written)} written: "
                         f"{(self.read + self.written) / matrix:.1f} times the matrix"}
        if self.lowering.on_gpu:
            rows["bus"] = (f"{in_words(self.bus)} between the host's memory and the GPU: {self.bus / matrix:.1f} times "
                           "the matrix")
        free = shutil.disk_usage(self.storing.out.absolute().parent).free
        rows["disk"] = f"{in_words(self.output)} for the answer, {in_words(self.scratch)} for evicted tiles"
        rows["disk"] += f", up to {in_words(self.kept)} for commits" if self.storing.checkpoint is not None else ""
        rows["disk"] += f"; {in_words(free)} is free"
        rows["commits"] = "none: a power cut loses everything; checkpoint= makes commits"
        if self.storing.checkpoint is not None:
            rows["commits"] = f"one every {self.storing.checkpoint:g} s"
        return rows

    def require_disk(self) -> None:
        """Refuse a closure for which the disk has no room.

        Raises
        ------
        SemiringError
        """
        place = self.storing.out.absolute().parent
        there = sum(file.stat().st_blocks * 512 if hasattr(file.stat(), "st_blocks") else file.stat().st_size
                    for file in self.storing.folder.rglob("*") if file.is_file())
        free, needed = shutil.disk_usage(place).free, self.output + self.scratch - there
        if needed > free:
            raise SemiringError(
                f"{shown(place)} has {in_words(free)} free, and {in_words(needed)} more are needed: the closure takes "
                f"{in_words(self.output)}, evicted tiles {in_words(self.scratch)}. Make room, use a narrower dtype, "
                "give more memory=, or write to another disk")


def time_in_words(seconds: float) -> str:
    """Return a time as text, in seconds, minutes or hours.

    >>> time_in_words(90.0), time_in_words(3600.0)
    ('90 s', '60 min')
    """
    return f"{seconds:.3g} s" if seconds < 600 else f"{seconds / 60:.0f} min" if seconds < 7200 else (
        f"{seconds / 3600:.1f} h")


def on_gpu(S: Semiring, dtype: np.dtype, facts: Facts, n: int) -> Lowering:
    """The form for a GPU, with compiled products, because those of a library do not have 0 · ∞ = 0."""
    from semiring.kernels.cuda.choose import choose

    low = choose(S, dtype, facts, n, in_place=False)
    return without_library(low) if low.blas else low


def memory_for_tiles(storing: Storing) -> int:
    """Bytes of the host's memory for tiles: the caller's, or half of what is free."""
    return storing.memory or (available_bytes() or 1 << 31) // 2


def planned(n: int, low: Lowering, storing: Storing, tile: int | None, schedule: Schedule) -> Planned:
    """Plan a schedule on the largest tiles of which enough fit in memory.

    Raises
    ------
    SemiringError
        If there is too little memory.
    """
    memory, item = memory_for_tiles(storing), low.storage.itemsize
    if not low.on_gpu:
        sides = [tile] if tile is not None else [side for side in SIDES if side < n] or [max(n, 1)]
        side, room = fitted(n, item, memory, sides, lambda side: side**2 * item * TILES <= memory, "memory={} holds")
        return Layout(n, side, room, room).planned(schedule)
    cut = _layout_on_gpu(n, low, memory, tile)
    plain = cut.planned(schedule)
    if not plain.traffic.slots:
        return plain
    # The order for the GPU's memory saves the bus, that for both memories saves the disk.
    other = replace(cut, order=cut.room + cut.beside).planned(schedule)
    return min(plain, other, key=lambda choice: _moving(choice.traffic))


def fitted(
    n: int, item: int, memory: int, sides: Sequence[int], suits: Callable[[int], bool], hold: str
) -> tuple[int, int]:
    """Choose the order of a tile, and how many are in memory besides those on their way.

    Parameters
    ----------
    n, item, memory : int
        The order of the matrix; bytes of an element and of the memory.
    sides : sequence of int
        Orders to choose from, the best first; if none suits, the last one is used.
    suits : callable
        Whether an order suits.
    hold : str
        For the error: whose memory it is, and the verb.

    Raises
    ------
    SemiringError
        If there is too little memory.
    """
    side = next(filter(suits, sides), sides[-1])
    fit = memory // (side**2 * item)
    if fit < NEEDED_TILES:
        raise SemiringError(f"{hold.format(in_words(memory))} {fit} tiles of {side} × {side}: at least "
                            f"{in_words(NEEDED_TILES * side**2 * item)} are needed")
    return side, max(3, min(fit - AHEAD, _most(n, side)))


def sides_on_gpu(n: int, tile: int | None) -> list[int]:
    """Orders of tiles for a GPU, the largest first, that give the matrix enough tiles in a row; or the caller's."""
    if tile is not None:
        return [tile]
    return [min(side, max(n, 1)) for side in SIDES_ON_GPU if side * TILES_IN_A_ROW <= n or side == SIDES_ON_GPU[-1]]


def _layout_on_gpu(n: int, low: Lowering, memory: int, tile: int | None) -> Layout:
    item, there = low.storage.itemsize, int(available_on_device() * SHARE)

    def suits(side: int) -> bool:
        beside = on_their_way(side, low) + TILES_ON_HOST * side**2 * item
        return side**2 * item * TILES_ON_GPU <= there and beside <= memory

    side, room = fitted(n, item, there, sides_on_gpu(n, tile), suits, "{} of the GPU's memory hold")
    left = memory - on_their_way(side, low)
    if left < 0:
        raise SemiringError(f"memory={in_words(memory)} of the host does not hold {2 * MOVERS} tiles of {side} × "
                            f"{side} on their way to the GPU: {in_words(on_their_way(side, low))} are needed")
    beside = min(left // (side**2 * item), _most(n, side))
    return Layout(n, side, room, room, beside)


def _most(n: int, side: int) -> int:
    """The most tiles that exist at a time: those of the matrix and their replacements."""
    return 2 * (-(-n // side)) ** 2


def _moving(plan: Traffic) -> float:
    """The time for moving tiles, in seconds per byte of a tile."""
    disk = sum(count for (_, place), count in plan.moved.items() if place != HOST)
    return max(disk / DISK_RATE, sum(plan.moved.values()) / COPY_RATE)


def on_their_way(side: int, low: Lowering) -> int:
    """Bytes of the host's memory for tiles that threads move between the disk and a GPU."""
    return MOVERS * side**2 * (low.storage.itemsize + low.dtype.itemsize)


@contextmanager
def allocated(
    low: Lowering, cut: Layout, plan: Traffic, scratch: Scratch
) -> Iterator[tuple[Kernel[Any], Any, Shelf, Held | None]]:
    """The engine, the arena where it computes, and shelves on the disk and, if a GPU computes, in pinned memory.

    The host's memory is pinned as long as this is open.
    """
    if not low.on_gpu:
        yield build_kernel(low), HostArena(cut.room + AHEAD, cut.side, low.storage), scratch, None
        return
    from semiring.kernels.cuda.dense.arena import GpuArena
    from semiring.kernels.cuda.dense.carry import carry

    arena, count = GpuArena(cut.room + AHEAD, cut.side, low.storage), MOVERS + plan.held
    with pinned_memory() as allocate:
        buffers = allocate(count * cut.side**2, low.storage).reshape(count, cut.side, cut.side)
        yield (build_kernel(low), arena, Passing(buffers[:MOVERS], carry, scratch),
               Held(buffers[MOVERS:], carry, scratch))


def elements_of(source: Source, S: Semiring, rows: slice, columns: slice) -> np.ndarray:
    """A block of a matrix that is read from a source, as elements of an algebra."""
    found = np.empty((rows.stop - rows.start, columns.stop - columns.start), source.dtype)
    source.read(rows, columns, found)
    return np.asarray(carried_by(found, S))


def reader(S: Semiring, source: Source, low: Any, made: Program) -> Callable[[Tile, Any], None]:
    """Return a function that reads tiles of the input and encodes them, directly into place if both are the same."""
    straight = not low.on_gpu and low.is_identity and source.dtype == low.storage

    def read(tile: Tile, out: Any) -> None:
        rows, columns = made.block(tile)
        if straight:
            source.read(rows, columns, out)
            return
        given = elements_of(source, S, rows, columns)
        if low.on_gpu:
            from semiring.kernels.cuda.dense.carry import taken_in

            taken_in(low, given, out)
        else:
            out[...] = low.encode(given, copy=False)

    return read


def writer(
    low: Any, made: Program, output: Output, decoded: Callable[[Any, tuple[int, int]], Any]
) -> Callable[[Tile, Any], None]:
    """Return a function that writes tiles of the closure, after `decoded` has decoded a block at a place."""
    def write(tile: Tile, elements: Any) -> None:
        rows, columns = made.block(tile)
        found = decoded(elements, (rows.start, columns.start))
        if low.on_gpu:
            from semiring.kernels.cuda.dense.carry import stage

            there, found = found, np.empty(found.shape, low.dtype)
            stage(there, found)
        output.write_block(rows, columns, found)

    return write
