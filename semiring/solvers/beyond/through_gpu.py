"""The closure of a matrix in the host's memory through a GPU whose memory it does not fit: tiles go there and back.

G. J. Katz and J. T. Kider (2008) and J. M. Kemp (All-pairs shortest path algorithms using CUDA, 2012) closed matrices
that a GPU does not hold by sending blocks of them through it. Here the recorded schedule says which tile is needed
when, so that of all ways to use the memory the best is planned, and tiles travel while the GPU multiplies.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from semiring.algorithms.blocks import spans
from semiring.algorithms.r_kleene import r_kleene
from semiring.errors import SemiringError
from semiring.kernels.build import kernel as build_kernel
from semiring.kernels.facts import Facts, together
from semiring.machine.memory import in_words
from semiring.operands.convert import as_dense
from semiring.operands.dense import Dense
from semiring.operands.devices import require_gpu
from semiring.operands.examine import examine
from semiring.operands.operand import order_of_one
from semiring.scale.eviction import Traffic, traffic
from semiring.scale.executor import AHEAD, Ends, Executor
from semiring.scale.program import Program, Tile, program
from semiring.scale.shelves import InPlace
from semiring.scale.stores import block

from ..close import Home, closed
from ..cycles import GONE
from ..forms import refuse_overflow, told
from ..plan import Plan
from ..task import Task
from .levels import SHARE, SIDES_ON_GPU, fitted, sides_on_gpu

METHODS = ("auto", "r-kleene")
TILES = 16  # that should fit on the GPU: large tiles hide their way there better than many save ways,
TILES_OF_LARGEST = 32  # and of the largest tiles, which products hardly need
SLAB = 128 << 20  # bytes of rows that are looked at together,
LOOKERS = 3  # by so many threads, whose copies take turns on the bus


def offer(task: Task) -> Plan | None:
    """The closure of an array on the host, tile by tile on a GPU."""
    from semiring.kernels.cuda.choose import general_on_device
    from semiring.machine.memory import available_on_device

    o, given = task.options, as_dense(task.operands[0])
    n = order_of_one(given.shape, given.what if o.gpu_memory is None else f"with memory= {given.what}")
    require_gpu(task.S, "gpu", given.dtype)
    if given.on_gpu:
        raise SemiringError("memory= is of matrices in the host's memory, and A is on a GPU: leave out memory")
    if o.method not in METHODS:
        raise SemiringError(f"through a GPU a closure goes by halves, and not by method={o.method!r}")
    if not n:
        return None
    low = general_on_device(task.S, given.dtype)
    memory = o.gpu_memory if o.gpu_memory is not None else int(available_on_device() * SHARE)
    item = low.storage.itemsize

    def suits(side: int) -> bool:
        return side**2 * item * (TILES_OF_LARGEST if side == SIDES_ON_GPU[0] else TILES) <= memory

    side, room = fitted(n, item, memory, sides_on_gpu(n, o.tile), suits, "{} of the GPU's memory hold")
    made = program(r_kleene, n, side, room)
    plan = traffic(made, room)
    tile_bytes = side * side * item
    moved = tile_bytes * sum(plan.moved.values())
    reasons = {
        "method": "most of its work is in products of tiles",
        "lowering": "or a faster form, when the GPU has seen the elements",
        "memory": f"on the GPU: {room} tiles of {side} × {side}, and {AHEAD} on their way",
        "work": f"moves {in_words(moved)}, {moved / (n * n * item):.1f} times the matrix",
    }
    return Plan(
        operation="closure", algebra=task.S, shape=given.shape, method="r-kleene, through the GPU", lowering=low,
        work=float(n) ** 3, memory=(room + AHEAD) * tile_bytes, runner=partial(_run, task, given, made, plan, room),
        reasons=reasons, tile=side,
    )


def _run(task: Task, given: Dense, made: Program, traffic: Traffic, room: int, plan: Plan) -> Any:
    return closed(ThroughGpu(task, given, made, traffic, room))


class ThroughGpu(Home):
    """A matrix in the host's memory, tiles of which visit a GPU."""

    def __init__(self, task: Task, given: Dense, made: Program, traffic: Traffic, room: int):
        from semiring.kernels.cuda.choose import choose, without_facts

        o, source = task.options, given.array
        super().__init__(given, o.check, o.reflexive)
        self.made, self.traffic, self.room, self.progress = made, traffic, room, o.progress
        self.facts = _facts(given, (room + AHEAD) * made.side**2 * source.itemsize) if o.check else Facts()
        self.low = (choose(self.S, given.dtype, self.facts, made.n, in_place=False) if o.check
                    else without_facts(self.S, given.dtype))
        in_place = o.overwrite and o.reflexive and source.flags.c_contiguous and source.flags.writeable
        self.shared = self.low.storage.itemsize == self.low.dtype.itemsize
        if in_place and self.shared:  # else tiles of the answer would take the place of what is read later
            self.kept, self.doubt, self.answer = False, GONE, source
        else:
            self.answer = np.empty(source.shape, source.dtype)

    def close(self) -> None:
        from semiring.kernels.cuda.dense.arena import GpuArena
        from semiring.kernels.cuda.dense.carry import stage, taken_in

        low: Any = self.low
        made, source = self.made, self.given.array
        stored = self.answer.view(low.storage) if self.shared else np.empty(source.shape, low.storage)
        homes = InPlace(made, stored, self.answer, stage, inhabited=not self.kept)
        looked_at = self.check and not low.drops_nan

        def read(tile: Tile, out: Any) -> None:
            taken_in(low, source[block(made, tile)], out)

        def write(tile: Tile, elements: Any) -> None:
            found = low.decode(elements)
            rows, columns = block(made, tile)
            if looked_at:
                refuse_overflow(low, found, first=(rows.start, columns.start))
            homes.finish(tile, found)

        engine = build_kernel(low)
        arena = GpuArena(self.room + AHEAD, made.side, low.storage)
        executor = Executor(made, self.traffic, self.room, engine if self.check else engine.unchecked, arena, homes,
                            Ends(read, write))
        with told(self.progress, f"{self.S.name} closure", float(made.n) ** 3) as report:
            executor.progress = report
            executor.run()


def _facts(given: Dense, memory: int) -> Facts:
    """What the GPU finds in all elements, within so many bytes; refuses what is not one, with the first place."""
    from semiring.kernels.cuda.compile.launch import current_device
    from semiring.kernels.cuda.dense.arena import own_lane
    from semiring.kernels.cuda.dense.rows import here

    device, row = current_device(), max(given.shape[0] * given.dtype.itemsize, 1)
    parts = list(spans(given.shape[0], max(min(SLAB, memory // (2 * LOOKERS)) // row, 1)))

    def look(part: slice) -> Facts:
        with own_lane(device):
            return examine(given.S, given.dtype, ((given.what, here(given.array[part])),), (part.start, 0))

    found = [look(parts[0])]  # compiles
    with ThreadPoolExecutor(LOOKERS) as pool:
        return together(found + list(pool.map(look, parts[1:])))
