"""The closure of a matrix by several processes of MPI's, each with a part of it.

What rank 0 has, what each has some rows of, or what is in a file that all can read, becomes tiles on a grid of
processes; `semiring.scale.spread` closes these, and the answer goes back the way that the matrix came, or to a file.
"""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from semiring import __version__
from semiring.algebra.laws import full
from semiring.algebra.semiring import Semiring
from semiring.algorithms.blocks import UndefinedStar
from semiring.algorithms.r_kleene import close_by_halves
from semiring.errors import NoClosureError, SemiringError, SemiringWarning
from semiring.graphs.texts import clip_repr, shown
from semiring.kernels.build import affordable, code_of
from semiring.kernels.build import kernel as build_kernel
from semiring.kernels.choose import choose
from semiring.kernels.cpu.compile.threads import thread_count
from semiring.kernels.facts import Facts
from semiring.kernels.interface import Kernel
from semiring.kernels.lowering.base import Lowering
from semiring.machine.memory import in_words, require
from semiring.operands.dense import Dense, carried_by
from semiring.operands.stored import Stored
from semiring.scale.connection import MPI
from semiring.scale.grid import Grid
from semiring.scale.program import Program
from semiring.scale.ranks import Agreed, Ranks, agreed, ending_together, message_rate, raw, threads_of
from semiring.scale.scratch import write_manifest
from semiring.scale.spread import Spread
from semiring.scale.stores import Output, draft, opened

from .brought import Given, facts_of, identity_of, of_first, one_algebra, read
from .cycles import FINE, Verdict, improving, is_slack, look_for_cycles, may_diverge, star_undefined, undefined_star
from .forms import refuse_overflow, told
from .methods import resolve_method
from .out_of_core import FORMAT, LEAST, fingerprint, refuse_other, unfinished
from .plan import Plan, nothing
from .schedules import stable_closure
from .spread_plan import SpreadPlan
from .task import Options

SIDES = (1024, 768, 512, 384, 256, 192, 128, 64, 32)  # of tiles
ROUNDS = 8  # steps, for each process of the longer side of the grid, below which too many wait too often
ALIGNED = 16  # of what the side of a tile is a multiple
BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def closure(connection: MPI, A: Any, S: Any, asked: Options) -> Any:
    """The closure by all processes of a connection, which all call this."""
    world = connection.world
    with ending_together(world):
        given, facts, low, grid, about, saved = _prepared(world, A, S, asked)
        ranks = Ranks(world, grid.rows, grid.columns)
        try:
            run = _Run(world, given, facts, low, asked, Spread(grid, ranks, low.storage), about, saved)
            return run.answer()
        finally:
            ranks.free()


def plan(connection: MPI, A: Any, S: Any, asked: Options) -> SpreadPlan:
    """What `closure` would do, the same on every process; all of a connection call this."""
    world = connection.world
    with ending_together(world):
        given, _, low, grid, about, saved = _prepared(world, A, S, asked)
        item, work = low.storage.itemsize, float(given.n) ** 3
        received = max(world.allgather(grid.received)) * item
        memory = max(world.allgather(_part_bytes(grid, item)))
        done = 0.0 if saved is None else saved["step"] / max(grid.count, 1)
        threads = min(world.allgather(threads_of(world)))
        return SpreadPlan(
            "closure", low.algebra, (given.n, given.n), about["method"], low,
            f"{world.size} processes, {threads} threads each", work, memory,
            lambda plan: closure(connection, A, low.algebra, asked), None,
            {"method": "panels are broadcast, and the next pivot is ahead",
             "memory": "of the process that has most"}, grid.side,
            (grid.rows, grid.columns), received, threads, message_rate(world), done)


def _prepared(
    world: Any, A: Any, S: Any, asked: Options
) -> tuple[Given, Facts, Lowering, Grid, dict[str, Any], dict[str, Any] | None]:
    """What all processes agree on before anything is computed."""
    S = one_algebra(world, A, S)
    agreed(world, lambda: _refuse(S, asked))
    _refuse_differences(world, asked)
    saved = of_first(world, lambda: None if asked.storing is None else unfinished(asked.storing))
    given = read(world, A, S, saved)
    facts = facts_of(world, given) if saved is None else Facts(**saved["facts"])
    low = _lowering(world, S, given, facts)
    grid = Grid(given.n, _side(given.n, world.size, asked.tile) if saved is None else saved["side"], world.size,
                world.rank)
    about = {
        "format": FORMAT, "library": __version__, "input": identity_of(given), "algebra": S.name,
        "form": fingerprint(low), "method": "blocked, spread", "side": grid.side, "ranks": world.size,
        "room": LEAST, "facts": asdict(facts),
    }
    agreed(world, lambda: _refuse_before(given, low, grid, asked, saved, about))
    return given, facts, low, grid, about, saved


class _Run:
    """One closure, all of whose processes agree on what is to be done."""

    def __init__(
        self, world: Any, given: Given, facts: Facts, low: Lowering, asked: Options, spread: Spread,
        about: dict[str, Any], saved: dict[str, Any] | None,
    ):
        self.world, self.given, self.facts, self.low, self.asked = world, given, facts, low, asked
        self.spread, self.about, self.saved = spread, about, saved
        heights = world.allgather(given.height)
        self.bounds = [0, *np.cumsum(heights).tolist()]
        self.slot = 0 if saved is None else 1 - saved["slot"]

    def answer(self) -> Any:
        storing = self.asked.storing
        if storing is not None:
            if self.saved is not None and not of_first(self.world, draft(storing.out, storing.folder).exists):
                agreed(self.world, partial(self._first_only, lambda: shutil.rmtree(storing.folder)))
                return opened(storing.out).array  # it was put in its place, and no more
            output = self._output()
        kernel = build_kernel(self.low)
        with using(kernel, self.low, threads_of(self.world)):
            if self.world.rank == 0 and self.low.compiled:
                warm(kernel, self.low, self.spread.grid.side)  # compiled once, and found on disk by the others
            self.world.Barrier()
            self._fill()
            try:
                self._close(kernel)
            except Agreed as e:
                if storing is not None and isinstance(e.args[0], NoClosureError):  # there is nothing to go on with
                    agreed(self.world, partial(self._first_only, lambda: shutil.rmtree(storing.folder)))
                raise
        found = agreed(self.world, self._decoded)
        if storing is not None:
            return self._written(output, found)
        return self._wrapped(found)

    def _first_only(self, function: Any) -> Any:
        return function() if self.world.rank == 0 else None

    # In

    def _fill(self) -> None:
        low, S, given = self.low, self.low.algebra, self.given
        if self.saved is not None:
            agreed(self.world, self._put_back)
        elif given.way == "stored":
            agreed(self.world, self._read_tiles)
        else:
            first = self.bounds[self.world.rank]

            def encoded(rows: slice) -> np.ndarray:
                assert given.operand is not None
                part = given.operand.array[rows.start - first : rows.stop - first]
                return np.asarray(low.encode(carried_by(np.ascontiguousarray(part), S), True))

            self.spread.take_rows(self.bounds, encoded)

    def _read_tiles(self) -> None:
        grid, low = self.spread.grid, self.low
        assert isinstance(self.given.operand, Stored)
        source = self.given.operand.source
        for i in grid.tile_rows:
            for j in grid.tile_columns:
                rows, columns = grid.span(i), grid.span(j)
                elements = np.empty((rows.stop - rows.start, columns.stop - columns.start), source.dtype)
                source.read(rows, columns, elements)
                self.spread.local[grid.local_row(i), grid.local_column(j)] = low.encode(
                    carried_by(elements, low.algebra), True)

    # The closure

    def _close(self, kernel: Kernel[Any]) -> None:
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
                self.spread.close(kernel, start=start, report=report, due=due, put_away=put_away)
            except UndefinedStar as e:
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
        diagonal, n = self.spread.diagonal(), self.spread.grid.n
        whole = self.given.operand if self.given.way == "whole" else None

        def look() -> Any:
            if self.world.rank:
                return None
            if whole is None:
                return rounded_only(self.low, diagonal, self.facts)
            alone = np.broadcast_to(diagonal, (n, n))  # a matrix with this diagonal, of which nothing else is read
            verdict = look_for_cycles(self.low, alone, whole.array, self.facts, whole.names)
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
        plan = Plan("closure", low.algebra, (n, n), "squaring", low, "", float(n) ** 3, 0, nothing)

        def closed() -> np.ndarray:
            assert whole is not None
            return np.asarray(stable_closure(plan, whole.array, None, self.facts, whole.names))

        found = agreed(self.world, partial(self._first_only, closed))
        bounds = [0, *[n] * self.world.size]
        self.spread.take_rows(bounds, lambda rows: found[rows])

    # Commits

    def _part_of(self, slot: int) -> Path:
        assert self.asked.storing is not None
        return self.asked.storing.folder / f"rank{self.world.rank}.{slot}.bin"

    def _put_away(self) -> None:
        """Each process its part, into the file that the last commit does not refer to."""
        with open(self._part_of(self.slot), "wb") as file:
            file.write(raw(self.spread.local).data)
            file.flush()
            os.fsync(file.fileno())

    def _refer(self, step: int) -> None:
        assert self.asked.storing is not None
        about = {**self.about, "step": step, "operation": step, "slot": self.slot}
        write_manifest(self.asked.storing.folder, about)

    def _put_back(self) -> None:
        assert self.saved is not None
        local = self.spread.local
        path = self._part_of(self.saved["slot"])
        found = np.fromfile(path, np.uint8)
        if found.nbytes != local.nbytes:
            raise SemiringError(f"{shown(path)} has {found.nbytes} bytes, and this process's part {local.nbytes}: "
                                "remove the folder and begin anew")
        raw(local)[...] = found

    # Out

    def _decoded(self) -> np.ndarray:
        found = self.low.decode(self.spread.local)
        if self.asked.check and not self.low.drops_nan:
            refuse_overflow(self.low, found)
        return np.asarray(found)

    def _wrapped(self, found: np.ndarray) -> Any:
        """The rows that this process brought, closed; rank 0 has all of them where no process brought a part."""
        grid, given, world = self.spread.grid, self.given, self.world
        bounds = self.bounds if given.way != "stored" else [0, *[grid.n] * world.size]
        height = bounds[world.rank + 1] - bounds[world.rank]

        def room() -> np.ndarray:
            require(height * grid.n * found.dtype.itemsize, "the answer")
            return np.empty((height, grid.n), found.dtype)

        out = agreed(world, room)
        self.spread.give_rows(bounds, found, out)
        if given.way != "rows" and world.rank:
            return None
        assert given.operand is not None
        return given.operand.wrap(out)

    def _output(self) -> Output:
        """The file, begun by the first process and then opened by all."""
        storing, grid, low = self.asked.storing, self.spread.grid, self.low
        assert storing is not None
        made = Program(grid.n, grid.side, grid.count)
        again = self.saved is not None

        def begun() -> Output | None:
            if self.world.rank:
                return None
            if not again:
                shutil.rmtree(storing.folder, ignore_errors=True)
                storing.folder.mkdir()
            return Output(storing.out, storing.folder, made, low.dtype, again)

        first = agreed(self.world, begun)
        return agreed(self.world, lambda: first or Output(storing.out, storing.folder, made, low.dtype, True))

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
        doubt = "sr.closure_rows from that vertex tells one from the other" if low.storage.kind == "f" else ""
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
    if not o.reflexive or o.packed or o.overwrite or o.tol or o.max_edges is not None or o.on_divergence != "raise":
        raise SemiringError("on= gives the closure A*, of elements, or an error: leave out reflexive, packed, "
                            "overwrite, tol, max_edges and on_divergence")
    if o.device not in (None, "cpu") or o.devices is not None:
        raise SemiringError("on= computes on the processes' CPUs, and device= or devices= asks for a GPU: leave "
                            "out one of the two")
    if o.storing is not None and o.storing.memory is not None:
        raise SemiringError("memory= is of closures by one process: with on= each process holds its part of the matrix")


def _refuse_differences(world: Any, o: Options) -> None:
    """All processes ask for the same."""
    asked = {"method": o.method, "tile": o.tile, "check": o.check, "out": o.storing}
    first = world.bcast(asked)

    def same() -> None:
        for name, value in asked.items():
            if value != first[name]:
                raise SemiringError(f"rank {world.rank} asks for {name}={clip_repr(value)}, and rank 0 for "
                                    f"{clip_repr(first[name])}: all processes pass the same")

    agreed(world, same)


def _lowering(world: Any, S: Semiring, given: Given, facts: Facts) -> Lowering:
    """The form in which all processes compute, compiled on all or on none."""
    low = choose(S, given.dtype, facts, given.n, in_place=False, packed=False)
    if low.kind != "numba":
        return low
    if world.rank == 0 and not code_of(low).bought:
        low = affordable(low, given.n, float(given.n) ** 3)
    return low.in_machine_code if world.bcast(low.compiled) else low.interpreted


def _side(n: int, size: int, tile: int | None) -> int:
    """The order of tiles: large enough for products, and so small that all processes have something to do."""
    if tile is not None:
        return -(-tile // ALIGNED) * ALIGNED
    longer = Grid(n, 1, size, 0).columns
    return next((side for side in SIDES if side * ROUNDS * longer <= n), SIDES[-1])


def _refuse_before(
    given: Given, low: Lowering, grid: Grid, asked: Options, saved: dict[str, Any] | None, about: dict[str, Any]
) -> None:
    """What cannot be done, before anything is sent."""
    if low.kind != "numba":
        raise SemiringError(f"{low.algebra.name}: these {given.dtype} need Python's integers ({low.reason}), which "
                            "processes do not send each other: convert the data, for example with .astype('float64')")
    if asked.storing is not None:
        refuse_other(asked.storing, saved, about)
    nbytes = _part_bytes(grid, low.storage.itemsize)
    require(nbytes, f"this process's part of {in_words(given.n**2 * low.storage.itemsize)}", "use more processes")


def _part_bytes(grid: Grid, item: int) -> int:
    """What a process holds: its tiles, and two steps' panels."""
    height, width = grid.shape
    return (height * width + 2 * grid.side * (height + width)) * item
