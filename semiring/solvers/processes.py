"""The closure of a matrix by several processes of MPI's, each with a part of it.

What rank 0 has, what each has some rows of, or what is in a file that all can read, becomes tiles on a grid of
processes; `semiring.scale.spread` closes these, and the answer goes back the way that the matrix came, or to a file.
Each process computes on its CPUs, or on a GPU that holds its tiles.
"""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from functools import partial, reduce
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from semiring import __version__
from semiring.algebra.laws import full
from semiring.algebra.rounding import rounds
from semiring.algebra.semiring import Semiring
from semiring.algorithms.blocks import UndefinedStar
from semiring.algorithms.r_kleene import close_by_halves
from semiring.errors import NoClosureError, SemiringError, SemiringWarning
from semiring.graphs.texts import clip_repr, shown
from semiring.kernels.build import affordable
from semiring.kernels.build import kernel as build_kernel
from semiring.kernels.choose import choose
from semiring.kernels.facts import Facts
from semiring.kernels.interface import Kernel
from semiring.kernels.lowering.base import Lowering
from semiring.machine.memory import in_words, require
from semiring.machine.threads import thread_count
from semiring.operands.dense import Dense, carried_by
from semiring.scale.connection import MPI
from semiring.scale.grid import Grid
from semiring.scale.memories import HostMemory, Memory
from semiring.scale.program import Program
from semiring.scale.ranks import Agreed, Ranks, agreed, ending_together, message_rate, raw, threads_of
from semiring.scale.scratch import write_manifest
from semiring.scale.spread import Spread
from semiring.scale.stores import Output, draft, opened

from . import fields
from .brought import Given, facts_of, identity_of, of_first, one_algebra, read, with_tolerance
from .cycles import FINE, Verdict, improving, is_slack, judge, may_diverge, star_undefined, undefined_star
from .forms import diagonal_of_blocks, refuse_overflow, told
from .levels import LEAST, on_gpu
from .methods import resolve_method
from .out_of_core import FORMAT, fingerprint, refuse_other, unfinished
from .plan import Plan, nothing
from .rank_gpus import Gpu, decoded, gpu_of, require_room, tiles_on
from .schedules import stable_closure
from .spread_plan import SpreadPlan
from .task import Options
from .tolerance import refuse_without_tolerance
from .ways import ways_of

SIDES = (1024, 768, 512, 384, 256, 192, 128, 64, 32)  # of tiles
ROUNDS = 8  # steps, for each process of the longer side of the grid, below which too many wait too often
ALIGNED = 16  # of what the side of a tile is a multiple
SIDES_ON_GPU = (2048, 1024, 512, 256, 128)  # the same for tiles on GPUs, where products need larger ones
ALIGNED_ON_GPU = 128
BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


@dataclass(frozen=True)
class Setup:
    """What all processes agree on before anything is computed.

    Attributes
    ----------
    given : Given
    facts : Facts
    low : Lowering
    grid : Grid
    gpu : Gpu or None
        Where this process computes; None: on the CPU.
    about : dict
        What a manifest tells.
    saved : dict or None
        What an earlier run told, where this one goes on.
    loosened : bool
        Whether edges are worse by `tol`.
    """

    given: Given
    facts: Facts
    low: Lowering
    grid: Grid
    gpu: Gpu | None
    about: dict[str, Any]
    saved: dict[str, Any] | None
    loosened: bool

    @property
    def part_bytes(self) -> int:
        """What a process holds where it computes: its tiles, and two steps' panels."""
        return (self.grid.shape[0] * self.grid.shape[1] + self.panel_elements) * self.low.storage.itemsize

    @property
    def panel_elements(self) -> int:
        """Of two steps: the pivot's star, and parts of its row and column."""
        height, width = self.grid.shape
        return 2 * self.grid.side * (height + width + (self.grid.side if self.gpu is not None else 0))


def closure(connection: MPI, A: Any, S: Any, asked: Options) -> Any:
    """The closure by all processes of a connection, which all call this."""
    world = connection.world
    with ending_together(world):
        setup = _prepared(world, A, S, asked)
        try:
            return _answer(world, setup, asked)
        except Agreed as e:
            if asked.tol is None or setup.loosened or not isinstance(e.args[0], NoClosureError):
                raise
        worse = with_tolerance(world, setup.given, float(asked.tol))
        return _answer(world, _setup(world, setup.low.algebra, worse, asked, setup.gpu, None, True), asked)


def _answer(world: Any, setup: Setup, asked: Options) -> Any:
    ranks = Ranks(world, setup.grid.rows, setup.grid.columns)
    try:
        with _engine(world, setup) as (kernel, memory):
            return _Run(world, setup, asked, Spread(setup.grid, ranks, memory), kernel).answer()
    finally:
        ranks.free()


@contextmanager
def _engine(world: Any, setup: Setup) -> Iterator[tuple[Kernel[Any], Memory]]:
    """What computes, and where tiles are."""
    low = setup.low
    if setup.gpu is not None:
        with tiles_on(low, setup.gpu) as found:
            yield found
        return
    kernel = build_kernel(low)
    with using(kernel, low, threads_of(world)):
        if world.rank == 0 and low.compiled:
            warm(kernel, low, setup.grid.side)  # compiled once, and found on disk by the others
        world.Barrier()
        yield kernel, HostMemory(low.storage)


def plan(connection: MPI, A: Any, S: Any, asked: Options) -> SpreadPlan:
    """What `closure` would do, the same on every process; all of a connection call this."""
    world = connection.world
    with ending_together(world):
        setup = _prepared(world, A, S, asked)
        low, grid, given, saved = setup.low, setup.grid, setup.given, setup.saved
        work = float(given.n) ** 3
        received = max(world.allgather(grid.received)) * low.storage.itemsize
        memory = max(world.allgather(setup.part_bytes))
        done = 0.0 if saved is None else saved["step"] / max(grid.count, 1)
        if setup.gpu is not None:
            gpus, threads = setup.gpu.total, 0
            place = f"{world.size} processes on {gpus} GPU{'s' * (gpus > 1)}"
            where = "of the process that has most, on its GPU"
        else:
            gpus, threads = 0, min(world.allgather(threads_of(world)))
            place, where = f"{world.size} processes, {threads} threads each", "of the process that has most"
        return SpreadPlan(
            operation="closure", algebra=low.algebra, shape=(given.n, given.n), method=setup.about["method"],
            lowering=low, place=place, work=work, memory=memory,
            runner=lambda plan: closure(connection, A, low.algebra, asked),
            reasons={"method": "panels are broadcast, and the next pivot is ahead", "memory": where}, tile=grid.side,
            grid=(grid.rows, grid.columns), received=received, threads=threads, rate=message_rate(world), done=done,
            gpus=gpus,
        )


def _prepared(world: Any, A: Any, S: Any, asked: Options) -> Setup:
    """What is to be done, with what was brought, or with what an earlier run left of it."""
    S = one_algebra(world, A, S)
    S = S if S.completed is None or asked.tol is not None else S.completed  # which no process could ask for later
    agreed(world, lambda: _refuse(S, asked))
    _refuse_differences(world, asked)
    gpu = gpu_of(world) if asked.device == "gpu" else None
    saved = of_first(world, lambda: None if asked.storing is None else unfinished(asked.storing))
    given = read(world, A, S, saved)
    if asked.tol is not None:
        agreed(world, lambda: refuse_without_tolerance(S, given.dtype))
    loosened = saved is not None and bool(saved.get("loosened")) and asked.tol is not None
    if loosened:
        given = with_tolerance(world, given, float(asked.tol or 0))
    return _setup(world, S, given, asked, gpu, saved, loosened)


def _setup(
    world: Any, S: Semiring, given: Given, asked: Options, gpu: Gpu | None, saved: dict[str, Any] | None,
    loosened: bool,
) -> Setup:
    """How a matrix that was brought is computed."""
    facts = facts_of(world, given) if saved is None else Facts(**saved["facts"])
    low = _lowering(world, S, given, facts, gpu)
    side = _side(given.n, world.size, asked.tile, gpu is not None) if saved is None else saved["side"]
    grid = Grid(given.n, side, world.size, world.rank)
    about = {
        "format": FORMAT, "library": __version__, "input": identity_of(given), "algebra": S.name,
        "method": "blocked, spread", "device": "cpu" if gpu is None else "gpu", "form": fingerprint(low),
        "reflexive": bool(asked.reflexive), "tol": None if asked.tol is None else float(asked.tol),
        "loosened": loosened, "side": grid.side, "ranks": world.size, "room": LEAST, "order": LEAST, "beside": 0,
        "facts": asdict(facts),
    }
    setup = Setup(given, facts, low, grid, gpu, about, saved, loosened)
    agreed(world, lambda: _refuse_before(setup, asked))
    return setup


class _Run:
    """One closure, all of whose processes agree on what is to be done."""

    def __init__(self, world: Any, setup: Setup, asked: Options, spread: Spread, kernel: Kernel[Any]):
        self.world, self.asked, self.spread, self.kernel = world, asked, spread, kernel
        self.given, self.facts, self.low = setup.given, setup.facts, setup.low
        self.gpu, self.about, self.saved = setup.gpu, setup.about, setup.saved
        self.slot = 0 if setup.saved is None else 1 - setup.saved["slot"]

    def answer(self) -> Any:
        storing = self.asked.storing
        if storing is not None:
            if self.saved is not None and not of_first(self.world, draft(storing.out, storing.folder).exists):
                agreed(self.world, partial(self._first_only, lambda: shutil.rmtree(storing.folder)))
                return opened(storing.out).array  # it was put in its place, and no more
            output = self._output()
        self._fill()
        try:
            self._close()
        except Agreed as e:
            if storing is not None and isinstance(e.args[0], NoClosureError):  # there is nothing to go on with
                agreed(self.world, partial(self._first_only, lambda: shutil.rmtree(storing.folder)))
            raise
        found = agreed(self.world, self._decoded)
        if not self.asked.reflexive:
            self._leave_out_empty_walks(found)
        if storing is not None:
            return self._written(output, found)
        return self._wrapped(found)

    def _first_only(self, function: Any) -> Any:
        return function() if self.world.rank == 0 else None

    # In

    def _fill(self) -> None:
        if self.saved is not None:
            agreed(self.world, self._put_back)
        elif self.given.source is not None:
            agreed(self.world, self._read_tiles)
        else:
            self.spread.take_rows(self.given.bounds, lambda rows: self._encoded(self._rows(rows)))

    def _rows(self, rows: slice) -> np.ndarray:
        """Rows of the matrix, of those that this process brought."""
        given, first = self.given, self.given.bounds[self.world.rank]
        assert given.operand is not None
        part = given.operand.array[rows.start - first : rows.stop - first]
        return carried_by(np.ascontiguousarray(part), self.low.algebra)

    def _encoded(self, elements: np.ndarray) -> np.ndarray:
        """Elements as the memory takes them in: a GPU's encodes them itself."""
        return elements if self.gpu is not None else np.asarray(self.low.encode(elements, True))

    def _block(self, rows: slice, columns: slice) -> np.ndarray:
        """A block of a matrix that all can read."""
        source = self.given.source
        assert source is not None
        elements = np.empty((rows.stop - rows.start, columns.stop - columns.start), source.dtype)
        source.read(rows, columns, elements)
        return carried_by(elements, self.low.algebra)

    def _read_tiles(self) -> None:
        grid, spread = self.spread.grid, self.spread
        for i in grid.tile_rows:
            for j in grid.tile_columns:
                elements = self._encoded(self._block(grid.span(i), grid.span(j)))
                spread.memory.put(elements, spread.local[grid.local_row(i), grid.local_column(j)])

    # The closure

    def _close(self) -> None:
        storing, check = self.asked.storing, self.asked.check
        due, last = None, monotonic()
        if storing is not None and storing.checkpoint is not None:
            interval = storing.checkpoint

            def due() -> bool:
                return monotonic() - last >= interval

        def put_away(step: int) -> None:
            nonlocal last
            agreed(self.world, self._put_away)
            agreed(self.world, partial(self._first_only, partial(self._refer, step)))  # when all is on disk
            self.slot = 1 - self.slot
            last = monotonic()

        start = 0 if self.saved is None else self.saved["step"]
        with told(self.asked.progress if self.world.rank == 0 else False, f"{self.low.algebra.name} closure") as report:
            try:
                self.spread.close(self.kernel, start=start, report=report, due=due, put_away=put_away)
            except UndefinedStar as e:
                if (self.low.inverts or self.low.dual) and self.given.way == "whole":  # rows have to be exchanged
                    self._stable(self.given.operand)
                    return
                pivot = e.pivot
                agreed(self.world, lambda: self._raise_undefined(pivot))
        if check and may_diverge(self.low):
            self._settle()

    def _raise_undefined(self, pivot: int) -> None:
        """The first process names the cycle, if it has the matrix."""
        if self.world.rank == 0:
            whole = self.given.operand if self.given.way == "whole" else None
            if whole is not None:
                raise star_undefined(whole, UndefinedStar(pivot), gone=False)
            raise undefined_star(self.low.algebra, None, None, pivot)

    def _settle(self) -> None:
        """Whether the diagonal shows an improving cycle; where only rounding made one look so, it becomes 1."""
        diagonal = self.spread.diagonal()
        whole = self.given.operand if self.given.way == "whole" else None

        def look() -> Any:
            if self.world.rank:
                return None
            if whole is None:
                return rounded_only(self.low, diagonal, self.facts)
            verdict = judge(self.low, diagonal, whole.array, self.facts, whole.names)
            if verdict.error is not None:
                raise verdict.error
            return verdict

        verdict = self.world.bcast(agreed(self.world, look) or FINE)
        if verdict.unstable:
            self._stable(whole)
        elif verdict.rounded:
            self.spread.set_diagonal(np.array([place[-1] for place in verdict.rounded]), self.low.unit)

    def _stable(self, whole: Dense | None) -> None:
        """Rounding errors grew: the first process closes the whole matrix in a way in which they do not."""
        n, low = self.spread.grid.n, self.low
        if self.gpu is not None:
            low = choose(low.algebra, low.dtype, self.facts, n, in_place=False, packed=False)
        plan = Plan(
            operation="closure", algebra=low.algebra, shape=(n, n), method="squaring", lowering=low,
            work=float(n) ** 3, memory=0, runner=nothing,
        )

        def closed() -> np.ndarray:
            assert whole is not None
            if fields.is_for_lapack(low):
                return np.asarray(fields.inverse(whole, low))
            stored = np.asarray(stable_closure(plan, whole.array, None, self.facts, whole.names))
            return stored if self.gpu is None else np.asarray(low.decode(stored))

        found = agreed(self.world, partial(self._first_only, closed))
        self.spread.take_rows(self.given.bounds, lambda rows: found[rows])

    # Commits

    def _part_of(self, slot: int) -> Path:
        assert self.asked.storing is not None
        return self.asked.storing.folder / f"rank{self.world.rank}.{slot}.bin"

    def _put_away(self) -> None:
        """Each process its part, into the file that the last commit does not refer to."""
        with open(self._part_of(self.slot), "wb") as file:
            file.write(raw(self.spread.memory.stored(self.spread.local)).data)
            file.flush()
            os.fsync(file.fileno())

    def _refer(self, step: int) -> None:
        assert self.asked.storing is not None
        about = {**self.about, "step": step, "operation": step, "slot": self.slot}
        write_manifest(self.asked.storing.folder, about)

    def _put_back(self) -> None:
        assert self.saved is not None
        grid, storage = self.spread.grid, self.low.storage
        path, nbytes = self._part_of(self.saved["slot"]), grid.shape[0] * grid.shape[1] * storage.itemsize
        found = np.fromfile(path, np.uint8)
        if found.nbytes != nbytes:
            raise SemiringError(f"{shown(path)} has {found.nbytes} bytes, and this process's part {nbytes}: "
                                "remove the folder and begin anew")
        self.spread.memory.store(found.view(storage).reshape(grid.shape), self.spread.local)

    # Out

    def _decoded(self) -> np.ndarray:
        decode = self.low.decode if self.gpu is None else partial(decoded, self.low)
        found = np.asarray(decode(self.spread.local))
        if self.asked.check and not self.low.drops_nan:
            refuse_overflow(self.low, found)
        return found

    def _leave_out_empty_walks(self, found: np.ndarray) -> None:
        """A⁺ from A*: x_ii = ⊕_k a_ik ⊗ x_ki, of which each process sums those of its x_ki.

        Parameters
        ----------
        found : ndarray
            The elements of this process's tiles of A*; where they are on the diagonal they become those of A⁺.
        """
        grid, T = self.spread.grid, self.low.algebra.over(self.low.dtype)
        sums: dict[int, np.ndarray] = {}  # by columns of tiles

        def add(i: int, rows: slice, edges: np.ndarray) -> None:
            if not edges.shape[1]:
                return
            start = grid.local_column(i).start + rows.start - grid.span(i).start
            some = diagonal_of_blocks(T, edges, found[:, start : start + rows.stop - rows.start])
            place = slice(rows.start - grid.span(i).start, rows.stop - grid.span(i).start)
            sums.setdefault(i, np.empty(grid.span(i).stop - grid.span(i).start, T.dtype))[place] = some

        if self.given.source is None:
            self.spread.meet_rows(self.given.bounds, self._rows, self.low.dtype, add)
        else:
            agreed(self.world, lambda: self._add_blocks(add))
        parts = self.spread.ranks.along_column.allgather(sums)
        for i in grid.tile_columns:
            if i in grid.tile_rows:
                total = reduce(T.add, [part[i] for part in parts if i in part])
                D = found[grid.local_row(i), grid.local_column(i)]
                D[np.arange(len(D)), np.arange(len(D))] = total

    def _add_blocks(self, add: Callable[[int, slice, np.ndarray], None]) -> None:
        """The same rows of a matrix that all can read."""
        grid = self.spread.grid
        for i in grid.tile_columns:
            blocks = [self._block(grid.span(i), grid.span(k)) for k in grid.tile_rows]
            if blocks:
                add(i, grid.span(i), np.concatenate(blocks, axis=1))

    def _wrapped(self, found: np.ndarray) -> Any:
        """The rows that this process brought, closed; rank 0 has all of them where no process brought a part."""
        grid, given, world = self.spread.grid, self.given, self.world
        bounds = given.bounds if given.source is None else [0, *[grid.n] * world.size]
        height = bounds[world.rank + 1] - bounds[world.rank]

        def room() -> np.ndarray:
            require(height * grid.n * found.dtype.itemsize, "the answer")
            return np.empty((height, grid.n), found.dtype)

        out = agreed(world, room)
        self.spread.give_rows(bounds, found, out)
        if given.way != "rows" and world.rank:
            return None
        assert given.operand is not None
        if given.way == "whole":
            out = fields.corrected(given.operand, out, plus=not self.asked.reflexive)
        return given.operand.wrap(out)

    def _output(self) -> Output:
        """The file, begun by the first process and then opened by all."""
        storing, grid, low = self.asked.storing, self.spread.grid, self.low
        assert storing is not None
        made = Program(grid.n, grid.side, grid.count)
        again, dtypes = self.saved is not None, (low.dtype, self.given.callers_dtype)

        def begun() -> Output | None:
            if self.world.rank:
                return None
            if not again:
                shutil.rmtree(storing.folder, ignore_errors=True)
                storing.folder.mkdir()
            return Output(storing.out, storing.folder, made, *dtypes, again)

        first = agreed(self.world, begun)
        return agreed(self.world, lambda: first or Output(storing.out, storing.folder, made, *dtypes, True))

    def _written(self, output: Output, found: np.ndarray) -> Any:
        storing, grid = self.asked.storing, self.spread.grid
        assert storing is not None

        def write() -> None:
            for i in grid.tile_rows:
                for j in grid.tile_columns:
                    output.write_block(grid.span(i), grid.span(j), found[grid.local_row(i), grid.local_column(j)])

        def finish() -> None:
            output.finish()
            shutil.rmtree(storing.folder)

        agreed(self.world, write)
        agreed(self.world, output.sync)  # when nobody writes any more
        agreed(self.world, partial(self._first_only, finish))
        return opened(storing.out).array


def rounded_only(low: Lowering, diagonal: np.ndarray, facts: Facts) -> Verdict:
    """What the diagonal of a closure says where the matrix cannot be searched for cycles.

    Raises
    ------
    NoClosureError
        Where a vertex is on a cycle that improves, by more than n roundings explain.
    """
    improved = np.flatnonzero(low.add_one(diagonal) != low.unit)
    slack = is_slack(low, diagonal[improved], facts, len(diagonal))
    if not slack.all():
        doubt = "sr.closure_rows from that vertex tells one from the other" if rounds(diagonal) else ""
        raise improving(low.algebra, None, int(improved[~slack][0]), None, None, None, doubt=doubt)
    return Verdict(None, [(v, v) for v in improved.tolist()])


@contextmanager
def using(kernel: Kernel[Any], low: Lowering, threads: int) -> Iterator[None]:
    """An engine with so many threads, and its library with no more, as processes that share a machine need it."""
    host: Any = kernel  # which computes on the CPU
    before, host.threads = host.threads, threads
    try:
        with _bounded_library(threads) if low.by_library else nullcontext():
            yield
    finally:
        host.threads = before


def _bounded_library(threads: int) -> Any:
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        if threads < thread_count() and not any(name in os.environ for name in BLAS_THREADS):
            warnings.warn(
                f"each process computes products by the BLAS with {thread_count()} threads, and {threads} would be its "
                f"share: pip install threadpoolctl, or set {BLAS_THREADS[0]}={threads}", SemiringWarning, stacklevel=2)
        return nullcontext()
    return threadpool_limits(limits=threads, user_api="blas")


def warm(kernel: Kernel[Any], low: Lowering, side: int) -> None:
    """Have the engine compile what tiles of a size need."""
    S, dtype = low.algebra, low.dtype
    D, C, R = (low.encode(full(np.empty((side, side), dtype), S.zero_in(dtype)), True) for _ in range(3))
    close_by_halves(D, kernel, kernel.tile, 0)
    kernel.left(D, R)
    kernel.multiply_add(C, D, R)
    kernel.right(C, D)


def _refuse(S: Semiring, o: Options) -> None:
    """What closures by several processes do not have."""
    if S.traced is None:
        raise SemiringError(f"{S.name}: its elements are Python objects, which processes do not send each other here: "
                            "leave out on=")
    if resolve_method(o.method, S) not in ("auto", "blocked"):
        raise SemiringError(f"on= goes by blocked, and not by method={o.method!r}")
    ways_of("closure", "mpi", o.asked)
    if o.storing is not None and o.storing.memory is not None:
        raise SemiringError("memory= is of closures by one process: with on= each process holds its part of the matrix")


def _refuse_differences(world: Any, o: Options) -> None:
    """All processes ask for the same."""
    asked = {"method": o.method, "tile": o.tile, "check": o.check, "out": o.storing, "device": o.device,
             "reflexive": o.reflexive, "tol": o.tol}
    first = world.bcast(asked)

    def same() -> None:
        for name, value in asked.items():
            if value != first[name]:
                raise SemiringError(f"rank {world.rank} asks for {name}={clip_repr(value)}, and rank 0 for "
                                    f"{clip_repr(first[name])}: all processes pass the same")

    agreed(world, same)


def _lowering(world: Any, S: Semiring, given: Given, facts: Facts, gpu: Gpu | None) -> Lowering:
    """The form in which all processes compute, compiled on all or on none."""
    if gpu is not None:
        found: Lowering = agreed(world, lambda: on_gpu(S, given.dtype, facts, given.n))
        return found
    low = choose(S, given.dtype, facts, given.n, in_place=False, packed=False)
    if low.kind != "numba":
        return low
    if world.rank == 0:
        low = affordable(low, given.n, float(given.n) ** 3)
    return low.in_machine_code if world.bcast(low.compiled) else low.interpreted


def _side(n: int, size: int, tile: int | None, on_gpu: bool = False) -> int:
    """The order of tiles: large enough for products, and so small that all processes have something to do."""
    sides, aligned = (SIDES_ON_GPU, ALIGNED_ON_GPU) if on_gpu else (SIDES, ALIGNED)
    if tile is not None:
        return -(-tile // aligned) * aligned
    longer = Grid(n, 1, size, 0).columns
    return next((side for side in sides if side * ROUNDS * longer <= n), sides[-1])


def _refuse_before(setup: Setup, asked: Options) -> None:
    """What cannot be done, before anything is sent."""
    given, low, gpu = setup.given, setup.low, setup.gpu
    if low.kind != "numba" and gpu is None:
        raise SemiringError(f"{low.algebra.name}: these {given.dtype} need Python's integers ({low.reason}), which "
                            "processes do not send each other: convert the data, for example with .astype('float64')")
    if asked.storing is not None:
        refuse_other(asked.storing, setup.saved, setup.about)
    what = f"this process's part of {in_words(given.n**2 * low.storage.itemsize)}"
    if gpu is not None:
        require_room(gpu, setup.part_bytes, what)
        height, width = setup.grid.shape
        nbytes = height * width * low.dtype.itemsize + setup.panel_elements * low.storage.itemsize
        require(nbytes, "this process's part of the answer, and panels in pinned memory,", "use more machines")
    else:
        require(setup.part_bytes, what, "use more processes")
