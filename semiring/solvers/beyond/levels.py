"""Where tiles of a closure from file to file are: on the disk and in the host's memory, or in a GPU's memory as well.

    disk ⇄ host                 the host computes
    disk ⇄ host ⇄ GPU           the GPU computes, and the host's memory keeps what the GPU puts away, as far as it goes

Both are the same program, executor and commits. With a GPU tiles have four places: what the GPU needs again last is put
away, to the host's memory where a place there saves most, and else through it to the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.kernels.build import kernel as build_kernel
from semiring.kernels.facts import Facts
from semiring.kernels.interface import Kernel
from semiring.kernels.lowering.base import Lowering
from semiring.machine.memory import available_bytes, available_on_device, in_words
from semiring.operands.dense import carried_by
from semiring.operands.devices import COPY_RATE
from semiring.scale.arena import Arena, HostArena
from semiring.scale.eviction import HOST, Traffic, through_memory, traffic
from semiring.scale.executor import AHEAD, READERS, WRITERS, MemoryShelf, Shelf
from semiring.scale.program import Program, Schedule, Tile, program
from semiring.scale.scratch import Scratch
from semiring.scale.shelves import Held, Passing
from semiring.scale.stores import Output, Source, block
from semiring.scale.storing import Storing

from ..forms import refuse_overflow, without_library

SIDES = (2048, 1536, 1024, 768, 512, 384, 256, 192, 128, 64)  # of tiles that the host multiplies
TILES = 48  # of those that should fit in memory; with fewer more is moved
SIDES_ON_GPU = (8192, 4096, 2048, 1024, 512, 256, 128)
TILES_ON_GPU = 32  # that should fit there: large tiles hide their way there better than many save ways,
ACROSS = 8  # which the matrix should have in a row,
BESIDE = 4  # and that should fit in the host's memory beside those on their way
SHARE = 0.8  # of the GPU's memory that is free
LEAST = 3 + AHEAD  # tiles without which nothing goes
MOVERS = READERS + WRITERS  # threads: each has a tile in storage on its way through the host's memory, or of elements
DISK_RATE = 2e9  # bytes a second, where two orders of operations are compared


@dataclass(frozen=True)
class Layout:
    """How a matrix is cut, and how many tiles are where.

    Attributes
    ----------
    n, side : int
        The order of the matrix and of a tile.
    room : int
        Tiles in the memory of what computes.
    order : int
        Tiles for which the operations are put in order.
    beside : int
        Tiles for which the host's memory has room, where a GPU computes.
    """

    n: int
    side: int
    room: int
    order: int
    beside: int = 0

    def planned(self, schedule: Schedule) -> Planned:
        """Operations of a schedule, and which tiles are where when."""
        made = program(schedule, self.n, self.side, self.order)
        plan = traffic(made, self.room)
        return Planned(self, made, through_memory(plan, self.beside) if self.beside else plan)


class Planned(NamedTuple):
    """A layout, the operations of a schedule, and which tiles are where when."""

    layout: Layout
    made: Program
    traffic: Traffic


class Levels(NamedTuple):
    """What an executor works with.

    Attributes
    ----------
    kernel : Kernel
    arena : Arena
    scratch : Shelf
        On the disk.
    memory : MemoryShelf or None
        In the host's memory, where a GPU computes.
    """

    kernel: Kernel[Any]
    arena: Arena
    scratch: Shelf
    memory: MemoryShelf | None = None


def on_gpu(S: Semiring, dtype: np.dtype, facts: Facts, n: int) -> Lowering:
    """The form for a GPU, with compiled products: a library's do not know 0 · ∞ = 0."""
    from semiring.kernels.cuda.choose import choose

    low = choose(S, dtype, facts, n, in_place=False)
    return without_library(low) if low.blas else low


def memory_for_tiles(storing: Storing) -> int:
    """Bytes of the host's memory: what the caller says, or half of what is free."""
    free = available_bytes()
    return storing.memory or (free // 2 if free is not None else 1 << 30)


def planned(n: int, low: Lowering, storing: Storing, tile: int | None, schedule: Schedule) -> Planned:
    """A schedule on the largest tiles such that enough of them fit in memory.

    Raises
    ------
    SemiringError
        When there is too little.
    """
    if not low.on_gpu:
        return _layout_on_host(n, low, storing, tile).planned(schedule)
    cut = _layout_on_gpu(n, low, storing, tile)
    plain = cut.planned(schedule)
    if not plain.traffic.slots:
        return plain
    # The order for the GPU's memory saves the bus, that for both memories saves the disk.
    other = replace(cut, order=cut.room + cut.beside).planned(schedule)
    return min(plain, other, key=lambda choice: _moving(choice.traffic))


def fitted(
    n: int, item: int, memory: int, sides: Sequence[int], suits: Callable[[int], bool], hold: str
) -> tuple[int, int]:
    """The order of a tile, and how many are in memory beside those on their way.

    Parameters
    ----------
    n, item, memory : int
        The order of the matrix; bytes of an element and of the memory.
    sides : sequence of int
        Orders to choose from, the best first; the last one is taken where none suits.
    suits : callable
        Whether an order does.
    hold : str
        For the error: whose memory it is, and the verb.

    Raises
    ------
    SemiringError
        When there is too little memory.
    """
    side = next(filter(suits, sides), sides[-1])
    fit = memory // (side**2 * item)
    if fit < LEAST:
        raise SemiringError(f"{hold.format(in_words(memory))} {fit} tiles of {side} × {side}: at least "
                            f"{in_words(LEAST * side**2 * item)} are needed")
    return side, max(3, min(fit - AHEAD, _most(n, side)))


def sides_on_gpu(n: int, tile: int | None) -> list[int]:
    """Orders of tiles for a GPU, the largest first, such that the matrix has enough in a row; or as asked."""
    if tile is not None:
        return [tile]
    return [min(side, max(n, 1)) for side in SIDES_ON_GPU if side * ACROSS <= n or side == SIDES_ON_GPU[-1]]


def _layout_on_host(n: int, low: Lowering, storing: Storing, tile: int | None) -> Layout:
    memory, item = memory_for_tiles(storing), low.storage.itemsize
    sides = [tile] if tile is not None else [side for side in SIDES if side < n] or [max(n, 1)]
    side, room = fitted(n, item, memory, sides, lambda side: side**2 * item * TILES <= memory, "memory={} holds")
    return Layout(n, side, room, room)


def _layout_on_gpu(n: int, low: Lowering, storing: Storing, tile: int | None) -> Layout:
    memory, item, there = memory_for_tiles(storing), low.storage.itemsize, int(available_on_device() * SHARE)

    def suits(side: int) -> bool:
        beside = on_their_way(side, low) + BESIDE * side**2 * item
        return side**2 * item * TILES_ON_GPU <= there and beside <= memory

    side, room = fitted(n, item, there, sides_on_gpu(n, tile), suits, "{} of the GPU's memory hold")
    left = memory - on_their_way(side, low)
    if left < 0:
        raise SemiringError(f"memory={in_words(memory)} of the host does not hold {2 * MOVERS} tiles of {side} × "
                            f"{side} on their way to the GPU: {in_words(on_their_way(side, low))} are needed")
    beside = min(left // (side**2 * item), _most(n, side))
    return Layout(n, side, room, room, beside)


def _most(n: int, side: int) -> int:
    """Tiles that there are at a time: those of the matrix, and such as replace them."""
    return 2 * (-(-n // side)) ** 2


def _moving(plan: Traffic) -> float:
    """How long tiles take to be moved, in units that do not matter."""
    disk = sum(count for (_, place), count in plan.moved.items() if place != HOST)
    return max(disk / DISK_RATE, sum(plan.moved.values()) / COPY_RATE)


def on_their_way(side: int, low: Lowering) -> int:
    """Bytes of the host's memory for tiles that threads move between the disk and a GPU."""
    return MOVERS * side**2 * (low.storage.itemsize + low.dtype.itemsize)


@contextmanager
def levels(low: Lowering, cut: Layout, plan: Traffic, scratch: Scratch) -> Iterator[Levels]:
    """What an executor works with, and pinned memory of the host as long as this is open."""
    if not low.on_gpu:
        yield Levels(build_kernel(low), HostArena(cut.room + AHEAD, cut.side, low.storage), scratch)
        return
    from semiring.kernels.cuda.dense.arena import GpuArena
    from semiring.kernels.cuda.dense.carry import Pinned, carry

    arena = GpuArena(cut.room + AHEAD, cut.side, low.storage)
    with Pinned() as pinned:
        pinned.begin()
        buffers = np.empty((MOVERS + plan.held, cut.side, cut.side), low.storage)
        pinned.add(buffers, fresh=True)
        pinned.wait()
        yield Levels(build_kernel(low), arena, Passing(buffers[:MOVERS], carry, scratch),
                     Held(buffers[MOVERS:], carry, scratch))


def reader(S: Semiring, source: Source, low: Any, made: Program) -> Callable[[Tile, Any], None]:
    """Tiles of the input in storage: where that is what the input holds, they are read to their place."""
    straight = not low.on_gpu and low.is_identity and source.dtype == low.storage

    def read(tile: Tile, out: Any) -> None:
        rows, columns = block(made, tile)
        if straight:
            source.read(rows, columns, out)
            return
        elements = np.empty(out.shape, source.dtype)
        source.read(rows, columns, elements)
        given = carried_by(elements, S)
        if low.on_gpu:
            from semiring.kernels.cuda.dense.carry import taken_in

            taken_in(low, given, out)
        else:
            out[...] = low.encode(given, copy=False)

    return read


def writer(low: Any, made: Program, output: Output, check: bool) -> Callable[[Tile, Any], None]:
    """Tiles of the closure as elements of the caller's dtype; what has no value there is refused by its place."""
    looked_at = check and not low.drops_nan

    def write(tile: Tile, elements: Any) -> None:
        found = low.decode(elements)
        rows, columns = block(made, tile)
        if looked_at:
            refuse_overflow(low, found, first=(rows.start, columns.start))
        if low.on_gpu:
            from semiring.kernels.cuda.dense.carry import stage

            there, found = found, np.empty(found.shape, low.dtype)
            stage(there, found)
        output.write_block(rows, columns, found)

    return write
