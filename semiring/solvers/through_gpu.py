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

from semiring.algorithms.blocks import UndefinedStar, spans
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
from semiring.scale.homes import Homes
from semiring.scale.program import Program, Tile, program
from semiring.scale.stores import block

from . import fields
from .cycles import FINE, judge, may_diverge
from .forms import leave_out_empty_walks, refuse_overflow, told
from .plan import Plan
from .task import Declined, Task

METHODS = ("auto", "r-kleene")
SIDES = (8192, 4096, 2048, 1024, 512, 256, 128)  # of tiles
TILES = 16  # that should fit on the GPU: large tiles hide their way there better than many save ways,
LARGEST = 32  # and of the largest tiles, which products hardly need
ACROSS = 8  # tiles that the matrix should have in a row
SHARE = 0.8  # of the memory that is free, where the caller says nothing
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
    side, room = _layout(n, low.storage.itemsize, memory, o.tile)
    made = program(r_kleene, n, side, room)
    plan = traffic(made, room)
    tile_bytes = side * side * low.storage.itemsize
    moved = tile_bytes * sum(plan.moved.values())
    reasons = {
        "method": "most of its work is in products of tiles",
        "lowering": "or a faster form, when the GPU has seen the elements",
        "memory": f"on the GPU: {room} tiles of {side} × {side}, and {AHEAD} on their way",
        "work": f"moves {in_words(moved)}, {moved / (n * n * low.storage.itemsize):.1f} times the matrix",
    }
    return Plan(
        operation="closure", algebra=task.S, shape=given.shape, method="r-kleene, through the GPU", lowering=low,
        work=float(n) ** 3, memory=(room + AHEAD) * tile_bytes, runner=partial(_run, task, given, made, plan, room),
        reasons=reasons, tile=side,
    )


def _layout(n: int, item: int, memory: int, tile: int | None) -> tuple[int, int]:
    """The order of a tile, and how many are on the GPU.

    Raises
    ------
    SemiringError
        When there is too little memory.
    """
    sides = (tile,) if tile is not None else [min(side, n) for side in SIDES if side * ACROSS <= n or side == SIDES[-1]]
    side = next((side for side in sides
                 if side**2 * item * (LARGEST if side == SIDES[0] else TILES) <= memory), sides[-1])
    fit, least = memory // (side**2 * item), 3 + AHEAD
    if fit < least:
        raise SemiringError(f"{in_words(memory)} of the GPU's memory hold {fit} tiles of {side} × {side}: at least "
                            f"{in_words(least * side**2 * item)} are needed")
    count = -(-n // side)
    return side, max(3, min(fit - AHEAD, 2 * count * count))


def _run(task: Task, given: Dense, made: Program, traffic: Traffic, room: int, plan: Plan) -> Any:
    """The closure in the host's memory."""
    from semiring.kernels.cuda.choose import choose, without_facts
    from semiring.kernels.cuda.dense.arena import GpuArena
    from semiring.kernels.cuda.dense.carry import stage, taken_in

    S, o, n, source = task.S, task.options, made.n, given.array
    in_place = o.overwrite and o.reflexive and source.flags.c_contiguous and source.flags.writeable
    facts = _facts(given, (room + AHEAD) * made.side**2 * source.itemsize) if o.check else Facts()
    low = choose(S, given.dtype, facts, n, in_place=False) if o.check else without_facts(S, given.dtype)
    shared = low.storage.itemsize == low.dtype.itemsize
    overwritten = in_place and shared  # else tiles of the answer would take the place of what is read later
    answer = source if overwritten else np.empty(source.shape, source.dtype)
    stored = answer.view(low.storage) if shared else np.empty(source.shape, low.storage)
    homes = Homes(made, stored, answer, stage, inhabited=overwritten)
    looked_at = o.check and not low.drops_nan

    def read(tile: Tile, out: Any) -> None:
        taken_in(low, source[block(made, tile)], out)

    def write(tile: Tile, elements: Any) -> None:
        found = low.decode(elements)
        rows, columns = block(made, tile)
        if looked_at:
            refuse_overflow(low, found, first=(rows.start, columns.start))
        homes.finish(tile, found)

    engine = build_kernel(low)
    arena = GpuArena(room + AHEAD, made.side, low.storage)
    executor = Executor(made, traffic, room, engine if o.check else engine.unchecked, arena, homes,
                        Ends(read, write))
    with told(o.progress, f"{S.name} closure", plan.work) as report:
        executor.progress = report
        try:
            executor.run()
        except UndefinedStar:
            if overwritten or not (low.inverts or low.dual):
                raise
            raise Declined("rows have to be exchanged") from None
    if not overwritten:
        answer = fields.corrected(given, answer)
    if o.check and may_diverge(low):
        _settle(given, low, facts, answer, overwritten)
    if not o.reflexive:
        leave_out_empty_walks(S, source, answer)
    return given.wrap(answer)


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


def _settle(given: Dense, low: Any, facts: Facts, answer: np.ndarray, overwritten: bool) -> None:
    """Whether the diagonal shows an improving cycle; where only rounding made one look so, it becomes 1.

    Raises
    ------
    NoClosureError
    """
    from semiring.kernels.cuda.dense.carry import encoded

    diagonal = encoded(low, answer.diagonal().copy())
    verdict = judge(low, diagonal, None if overwritten else given.array, facts, given.names)
    if verdict is FINE:
        return
    if verdict.error is not None:
        raise verdict.error
    if verdict.unstable:
        raise Declined("rounding errors grew")
    for v, _ in verdict.rounded:
        answer[v, v] = given.S.one_in(given.dtype)
