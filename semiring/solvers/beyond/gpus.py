"""Closures by GPUs of matrices that one GPU does not hold: tiles that visit it, or rows on several GPUs of one host.

A matrix in the host's memory goes through one GPU tile by tile. G. J. Katz and J. T. Kider (2008) and J. M. Kemp
(All-pairs shortest path algorithms using CUDA, 2012) sent blocks of such matrices through a GPU. Here the recorded
schedule says which tile is needed when, so the traffic is planned in advance. Tiles travel while the GPU multiplies.

On several GPUs each has some block rows of one matrix, or some matrices of a stack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from math import prod
from threading import Thread
from typing import Any

import numpy as np

from semiring.algorithms.block_rows import block_rows
from semiring.algorithms.blocks import UndefinedStar, spans
from semiring.algorithms.r_kleene import r_kleene
from semiring.errors import NoClosureError, SemiringError
from semiring.kernels.build import kernel as build_kernel
from semiring.kernels.facts import Facts, together
from semiring.kernels.interface import Kernel
from semiring.kernels.lowering.boolean import is_boolean
from semiring.machine.memory import in_words
from semiring.machine.progress import told
from semiring.machine.threads import thread_count
from semiring.operands.convert import as_dense, as_packed, on_host
from semiring.operands.dense import Dense
from semiring.operands.device import Device
from semiring.operands.devices import existing, require_gpu, to_host
from semiring.operands.examine import examine, stacked
from semiring.operands.operand import Operand, order_of, order_of_one
from semiring.scale.eviction import Traffic, traffic
from semiring.scale.executor import AHEAD, Ends, Executor
from semiring.scale.grid import Deal
from semiring.scale.program import Program, Tile, program
from semiring.scale.shelves import InPlace
from semiring.scale.team import Devices, Worker

from ..close import Home, closed, method_among
from ..cycles import GONE, improves_on_gpu
from ..dense.derived import Closures
from ..forms import is_finite, plain_form, refuse_overflow, without_library
from ..plan import Plan
from ..refusals import of_stack
from ..task import Task, compute
from .levels import SHARE, SIDES_ON_GPU, fitted, sides_on_gpu

TILES = 16  # that should fit on the GPU: large tiles hide their transfers better than many save transfers,
TILES_OF_LARGEST = 32  # and of the largest tiles, which products hardly need
SLAB_BYTES = 128 << 20  # of rows that are examined together,
EXAMINERS = 3  # by so many threads, whose copies take turns on the bus
ALIGN = 128  # products have whole tiles of so many rows and columns
SIDES = ((32_768, 2048), (12_288, 1024), (0, 512))  # from this order on, rows of a block row
SIDES_OF_BITS = ((131_072, 8192), (65_536, 4096), (0, 2048))  # the same for packed bits, whose short products are slow
MIDDLE, FEW_BLOCK_ROWS = 1024, 5  # rows of a block row that are halved if a GPU would have fewer block rows
BLOCK_ROWS_OF_A_GPU = 2  # at least, so that all GPUs have work until late


def gpus_of(task: Task) -> tuple[int, ...]:
    """Return the GPUs that a task asks for.

    Raises
    ------
    SemiringError
        If one does not exist, or the elements cannot be on a GPU.
    """
    devices = existing(task.options.devices or ())
    if task.options.device == "cpu":
        raise SemiringError("devices= names GPUs, and device= is 'cpu': leave out one of the two")
    require_gpu(task.S, "gpu", task.operands[0].dtype)
    return devices


def place_of(devices: tuple[int, ...]) -> str:
    """Some GPUs, as plans name them."""
    return f"{len(devices)} GPU{'s' * (len(devices) > 1)}: {', '.join(map(str, devices))}"


def offer(task: Task) -> Plan | None:
    """The closure on several GPUs where these are asked for, or else through one."""
    return _through_one(task) if task.options.devices is None else _on_several(task)


def _on_several(task: Task) -> Plan | None:
    """The closure of a matrix whose rows are on several GPUs, or of a stack whose matrices are."""
    o, given = task.options, task.operands[0]
    devices = gpus_of(task)
    method_among(("blocked",), o.method, "on several GPUs")
    n, stack = order_of(given.shape), given.shape[:-2]
    if not prod(given.shape):  # there is nothing to distribute
        return None
    if stack:
        return _plan(task, as_dense(given), devices[: prod(stack)], "of each matrix, by one GPU", 0, _stack)
    if o.on_divergence != "raise":
        raise SemiringError("with devices=, on_divergence='mask' is for stacks: leave out devices= for one matrix")
    if not o.reflexive and (given.kind == "packed" or o.packed):
        raise SemiringError("with devices=, reflexive=False is not for packed bits: leave out devices=")
    boolean = o.reflexive and given.dtype.kind == "b" and is_boolean(task.S, given.dtype)
    if given.kind == "packed" or o.packed or boolean:
        deal = _deal(n, len(devices), o.tile, SIDES_OF_BITS)
        return _plan(task, given, devices, "blocked", deal.side, partial(_bits, deal), bits=True)
    dense = as_dense(given)
    if given.kind == "sparse" and given.on_gpu:  # and so is the answer
        dense = Device(dense.array, given.S, given.what)
    padded = task.S.absorbs and not dense.dtype.names
    deal = _deal(_up(n) if padded else n, len(devices), o.tile)
    return _plan(task, dense, devices, "blocked", deal.side, lambda *there: closed(SeveralGpus(dense, deal, *there)))


def _plan(
    task: Task, given: Operand, devices: tuple[int, ...], method: str, side: int,
    run: Callable[[Task, tuple[int, ...]], Any], bits: bool = False,
) -> Plan:
    from semiring.kernels.cuda.choose import general_on_device, packed_on_device

    n, stack = order_of(given.shape), given.shape[:-2]
    low = (packed_on_device if bits else general_on_device)(task.S, given.dtype)
    one = low.matrix_bytes(n)
    share = -(-prod(stack) // len(devices)) * 2 * one if stack else one * 2 // len(devices) + 2 * one * side // n
    reasons = {
        "method": "block rows are distributed cyclically, and the next pivot is ahead" if not stack else "",
        "elements": "or a faster form, when the GPUs have seen the elements",
        "memory": f"on each GPU, of {in_words(one * max(prod(stack), 1))} in all",
    }
    return Plan(
        operation="closure", algebra=task.S, shape=given.shape, method=method, lowering=low, place=place_of(devices),
        work=prod(stack) * float(n) ** 3, memory=share, runner=lambda plan: run(task, devices), reasons=reasons,
        tile=side, devices=devices,
    )


def _deal(n: int, count: int, tile: int | None, sides: tuple[tuple[int, int], ...] = SIDES) -> Deal:
    """The distribution of block rows that are high enough for products, and numerous enough."""
    if tile is not None:
        side = _up(tile)
    else:
        side = next(side for least, side in sides if n >= least)
        if side == MIDDLE and n < side * count * FEW_BLOCK_ROWS:
            side //= 2  # otherwise GPUs would wait for pivots
        while side > ALIGN and n < side * count * BLOCK_ROWS_OF_A_GPU:
            side //= 2
    return Deal(n, side, min(count, -(-n // side)))


def _up(n: int) -> int:
    return -(-n // ALIGN) * ALIGN


# One matrix of numbers

class _NotFinite(Exception):
    """The products of a library met infinities, for which they do not have 0 · ∞ = 0."""


class SeveralGpus(Home):
    """A matrix whose rows are on several GPUs."""

    def __init__(self, given: Dense, deal: Deal, task: Task, devices: tuple[int, ...]):
        super().__init__(given, task.options.check, task.options.reflexive)
        self.deal, self.task, self.devices, self.n = deal, task, devices[: deal.workers], given.shape[-1]
        self.gaps: dict[int, bool] = {}
        self.spans = [[slice(s.start, min(s.stop, self.n)) for s in deal.spans(w)] for w in range(deal.workers)]
        self.real = [sum(s.stop - s.start for s in spans) for spans in self.spans]  # rows

    def on_each(self, work: Callable[[int], Any]) -> list[Any]:
        """Call a function for each worker, with its GPU as the current one; return the results."""
        from semiring.kernels.cuda.compile.streams import on_each

        return on_each(self.devices, work)

    def close(self) -> None:
        """See `Home`; again with compiled products if those of a library met infinities."""
        from semiring.kernels.cuda.compile.streams import connect

        connect(self.devices)
        try:
            self._close()
            return
        except _NotFinite:
            self.rows.clear()
        self._close(without_library(self.low))

    def _close(self, low: Any = None) -> None:
        from semiring.kernels.cuda.choose import choose, without_facts
        from semiring.kernels.cuda.dense.rows import into_storage, taken

        source, deal, n, dtype = self.given.array, self.deal, self.n, self.given.dtype
        self.rows: list[Any] = [None] * deal.workers
        rows = self.rows

        def bring(w: int) -> Facts:
            rows[w] = taken(source, self.spans[w], deal.rows(w), deal.n)
            return self._facts(w) if self.check else Facts()

        self.facts = together(self.on_each(bring))
        if low is None:
            low = choose(self.S, dtype, self.facts, n, in_place=False) if self.check else without_facts(self.S, dtype)
        self.low = low

        def store(w: int) -> Any:
            rows[w] = into_storage(low, rows[w], self.real[w], n)
            return tuple(_like(rows[w], deal.side) for _ in range(2))

        spares = self.on_each(store)
        engine = build_kernel(low)
        self.answer = _empty_like(source)
        try:
            with _mapped(self.answer):
                _close(rows, spares, deal, self.devices, engine if self.check else engine.unchecked, self.task)
        except UndefinedStar:
            if low.blas and self.check:
                raise _NotFinite from None
            raise
        if low.blas and self.check and not all(
                self.on_each(lambda w: is_finite(rows[w][: self.real[w], :n]))):
            raise _NotFinite

    def _facts(self, worker: int) -> Facts:
        """Facts about a worker's elements; a value that is not an element is refused with its position."""
        try:
            whole = self.rows[worker][: self.real[worker], : self.n]
            return examine(self.S, self.given.dtype, ((self.given.what, whole),))
        except SemiringError:  # the position is not that in the matrix
            return self._facts_of_spans(worker)

    def _facts_of_spans(self, worker: int) -> Facts:
        """The same, one block row after the other."""
        found, start = [], 0
        for span in self.spans[worker]:
            rows = self.rows[worker][start : start + span.stop - span.start, : self.n]
            found.append(examine(self.S, self.given.dtype, ((self.given.what, rows),), (span.start, 0)))
            start += len(rows)
        return together(found)

    def diagonal(self) -> np.ndarray:
        """See `Home`; ones for a GPU if no cycle of its rows looks better than one. The rows are handed out, too."""
        def diagonals(worker: int) -> list[tuple[int, Any]]:
            blocks = [(self.deal.span(i), self.rows[worker][self.deal.place(i), self.deal.span(i)])
                      for i in range(worker, self.deal.count, self.deal.workers)]
            improving = improves_on_gpu(self.low, *(D for _, D in blocks))
            found = [(span.start, to_host(D.diagonal())) for span, D in blocks] if improving else []
            self._hand_out(worker)
            return found

        diagonal = np.full(self.deal.n, self.low.unit, self.low.storage)
        for start, values in (part for parts in self.on_each(diagonals) for part in parts):
            diagonal[start : start + len(values)] = values
        return diagonal[: self.n]

    def _hand_out(self, worker: int) -> None:
        """Decode a worker's rows into the answer; note whether there is a NaN."""
        from semiring.kernels.cuda.dense.rows import handed_out

        low: Any = self.low
        look = self.check and not low.drops_nan
        self.gaps[worker] = handed_out(low, self.rows[worker], self.spans[worker], self.answer, look)

    def decode(self) -> None:
        if not self.gaps:  # the diagonal was not needed
            self.on_each(self._hand_out)
        self.rows.clear()
        if any(self.gaps.values()):
            refuse_overflow(plain_form(self.S, self.given.dtype, Facts(), self.n), to_host(self.answer))


def _close(
    rows: list[Any], spares: list[Any], deal: Deal, devices: tuple[int, ...], engine: Kernel[Any], task: Task,
    *how: Callable[..., None],
) -> None:
    """Close the matrix that has these rows."""
    from semiring.kernels.cuda.compile.streams import GpuStream

    workers = [Worker(held, spare, GpuStream(device, True), GpuStream(device, False))
               for held, spare, device in zip(rows, spares, devices, strict=True)]
    with told(task.options.progress, f"{task.S.name} closure") as report:
        team = Devices(engine, deal, workers, report, *how)
        try:
            block_rows(team)
        finally:
            team.wait()  # also if a pivot has no star: memory may be freed only after its last use


def _like(stored: Any, side: int) -> Any:
    """Allocate memory for a pivot's rows."""
    import cupy

    return cupy.empty((side, stored.shape[1]), stored.dtype)


def _empty_like(array: Any) -> Any:
    """Allocate an array of the same kind, in the host's memory or on its GPU."""
    if isinstance(array, np.ndarray):
        return np.empty(array.shape, array.dtype)
    import cupy

    with array.device:
        empty = cupy.empty(array.shape, array.dtype)
        cupy.cuda.get_current_stream().synchronize()  # the memory may have been another array's
        return empty


@contextmanager
def _mapped(array: Any) -> Iterator[Callable[[], None]]:
    """A context in which a thread maps the pages of an unused array in host memory; gives how to wait for that."""
    from semiring.kernels.cuda.compile.staging import touch

    if not isinstance(array, np.ndarray):
        yield lambda: None
        return
    thread = Thread(target=touch, args=(array, thread_count(None)), daemon=True)
    thread.start()
    try:
        yield thread.join
    finally:
        thread.join()


# Bits

def _bits(deal: Deal, task: Task, devices: tuple[int, ...]) -> Any:
    """Close packed truth values: every star is defined, and no cycle improves."""
    from semiring.kernels.cuda.bits.matrix import DevicePackedMatrix
    from semiring.kernels.cuda.bits.rows import Rows
    from semiring.kernels.cuda.choose import packed_on_device
    from semiring.kernels.cuda.compile.streams import connect, on_each

    given = task.operands[0]
    bits, devices, n = as_packed(given), devices[: deal.workers], deal.n
    connect(devices)
    spares = on_each(devices, lambda w: tuple(DevicePackedMatrix.zeros(deal.side, n) for _ in range(2)))
    result = type(bits.matrix).zeros(n, n)  # where A is
    with _mapped(result.words) as ready, ExitStack() as ends:
        def brought(w: int) -> Rows:
            rows = Rows(bits.matrix, list(deal.spans(w)), result, ready)
            ends.callback(rows.end)
            return rows

        held = on_each(devices, brought)

        def eliminate_bits(
            beside: bool, A: DevicePackedMatrix, R: DevicePackedMatrix, k: slice, _: Kernel[Any]
        ) -> None:
            next(there for there in held if A in there).eliminate(A, R, k, beside)

        _close([rows.held for rows in held], spares, deal, devices, build_kernel(packed_on_device(task.S, bits.dtype)),
               task, partial(eliminate_bits, False), partial(eliminate_bits, True))
        on_each(devices, lambda w: held[w].finish())
    if given.kind == "packed" or task.options.packed:
        return bits.wrap(result)
    return given.wrap(result.to_dense())


# Stacks

def _stack(task: Task, devices: tuple[int, ...]) -> Any:
    """Close some consecutive matrices on each GPU, as on one GPU."""
    from semiring.kernels.cuda.compile.streams import on_each
    from semiring.kernels.cuda.dense.engine import in_a_stack_of
    from semiring.kernels.cuda.dense.rows import here, put

    given, o = as_dense(task.operands[0]), task.options
    matrices = stacked(given.array)
    cuts = [len(matrices) * w // len(devices) for w in range(len(devices) + 1)]
    inner = replace(o, devices=None, device="gpu", on_divergence="mask" if o.check else "raise", progress=False)
    result = _empty_like(matrices)

    def some(worker: int) -> np.ndarray:
        part = slice(cuts[worker], cuts[worker + 1])
        with in_a_stack_of(len(matrices)):
            found = compute(Task("closure", task.S, (here(matrices[part]),), inner))
        values, exists = found if o.check else (found, np.ones(part.stop - part.start, bool))
        put(values, result[part])
        return np.asarray(exists)

    with told(o.progress, f"{task.S.name} closures"):
        exists = np.concatenate(on_each(devices, some)).reshape(given.shape[:-2])
    answer = given.wrap(result.reshape(given.shape))
    if o.on_divergence == "mask":
        return Closures(answer, exists)
    if not exists.all():
        place = tuple(map(int, np.argwhere(~exists)[0]))
        try:
            compute(Task("closure", task.S, (on_host(given.matrix(place)),), replace(inner, device="cpu",
                                                                                     on_divergence="raise")))
        except NoClosureError as e:
            raise of_stack(e, place) from None
        raise NoClosureError(f"the closure over {task.S.name} of matrix {place} of the stack does not exist",
                             index=place)
    return answer


# One matrix through one GPU

def _through_one(task: Task) -> Plan | None:
    """The closure of an array in the host's memory, tile by tile on a GPU."""
    from semiring.kernels.cuda.choose import general_on_device
    from semiring.machine.memory import available_on_device

    o, given = task.options, as_dense(task.operands[0])
    n = order_of_one(given.shape, given.what if o.gpu_memory is None else f"with memory= {given.what}")
    require_gpu(task.S, "gpu", given.dtype)
    if given.on_gpu:
        raise SemiringError("memory= is for matrices in the host's memory, and A is on a GPU: leave out memory=")
    method_among(("r-kleene",), o.method, "through a GPU")
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
        "elements": "or a faster form, when the GPU has seen the elements",
        "memory": f"on the GPU: {room} tiles of {side} × {side}, and {AHEAD} on their way",
        "work": f"moves {in_words(moved)}, {moved / (n * n * item):.1f} times the matrix",
    }
    return Plan(
        operation="closure", algebra=task.S, shape=given.shape, method="r-kleene, through the GPU", lowering=low,
        work=float(n) ** 3, memory=(room + AHEAD) * tile_bytes, reasons=reasons, tile=side,
        runner=lambda _: closed(ThroughGpu(task, given, made, plan, room)),
    )


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
        if in_place and self.shared:  # otherwise tiles of the answer would overwrite tiles that are read later
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

        def read(tile: Tile, out: Any) -> None:
            taken_in(low, source[made.block(tile)], out)

        def write(tile: Tile, elements: Any) -> None:
            rows, columns = made.block(tile)
            homes.finish(tile, self.decoded(elements, (rows.start, columns.start)))

        engine = build_kernel(low)
        arena = GpuArena(self.room + AHEAD, made.side, low.storage)
        executor = Executor(made, self.traffic, self.room, engine if self.check else engine.unchecked, arena, homes,
                            Ends(read, write))
        with told(self.progress, f"{self.S.name} closure", float(made.n) ** 3) as report:
            executor.progress = report
            executor.run()


def _facts(given: Dense, memory: int) -> Facts:
    """Examine all elements on the GPU, within so many bytes; refuse the first that is not an element."""
    from semiring.kernels.cuda.compile.launch import current_device
    from semiring.kernels.cuda.dense.arena import own_lane
    from semiring.kernels.cuda.dense.rows import here

    device, row = current_device(), max(given.shape[0] * given.dtype.itemsize, 1)
    parts = list(spans(given.shape[0], max(min(SLAB_BYTES, memory // (2 * EXAMINERS)) // row, 1)))

    def look(part: slice) -> Facts:
        with own_lane(device):
            return examine(given.S, given.dtype, ((given.what, here(given.array[part])),), (part.start, 0))

    found = [look(parts[0])]  # compiles
    with ThreadPoolExecutor(EXAMINERS) as pool:
        return together(found + list(pool.map(look, parts[1:])))
