"""The closure of a matrix by several MPI processes, each with a part of it.

Rank 0 passes the matrix, or each process some rows, or all the path of one file. The matrix becomes tiles on a grid of
processes, and `semiring.scale.spread` closes it. The answer goes back as the matrix came, or to a file. Each process
computes on its CPUs, or on a GPU that holds its tiles.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial, reduce
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any, Final

import numpy as np

from semiring.algebra.elements import full
from semiring.algorithms.blocks import UndefinedStar
from semiring.algorithms.r_kleene import close_by_halves
from semiring.errors import NoClosureError, SemiringError
from semiring.graphs.texts import shown
from semiring.kernels.build import kernel as build_kernel
from semiring.kernels.choose import choose
from semiring.kernels.interface import Kernel
from semiring.kernels.lowering.base import Lowering
from semiring.machine.memory import in_words, require
from semiring.machine.progress import told
from semiring.machine.threads import thread_count
from semiring.operands.dense import carried_by
from semiring.operands.devices import COPY_RATE
from semiring.scale.connection import MPI
from semiring.scale.memories import Memory
from semiring.scale.program import Program
from semiring.scale.rank_gpus import decoded, tiles_on
from semiring.scale.ranks import Agreed, agreed, agreeing, ending_together, message_rate, raw, threads_of, using
from semiring.scale.scratch import write_manifest
from semiring.scale.spread import Spread
from semiring.scale.stores import Output, draft, opened

from ..close import Home, closed, diagonal_of_blocks, put_diagonal
from ..cycles import FINE, Verdict
from ..dense import fields
from ..dense.derived import weights_as_given
from ..dense.schedules import stable_closure
from ..forms import refuse_overflow
from ..options import Options
from ..refusals import star_undefined, undefined_star
from .brought import Setup, of_first, prepared, setup_of, with_tolerance
from .levels import LongPlan, elements_of

PREDICTED_THREADS = 16  # the most for which rates of products are predicted
CLOSURE_ROWS = "sr.closure_rows from that vertex shows which of the two it is"


def closure(connection: MPI, A: Any, S: Any, asked: Options) -> Any:
    """The closure by all processes of a connection, which all call this."""
    world = connection.world
    with ending_together(world):
        setup = prepared(world, A, S, asked)
        try:
            return _answer(world, setup, asked)
        except Agreed as e:
            if asked.tol is None or setup.loosened or not isinstance(e.args[0], NoClosureError):
                raise
        worse = with_tolerance(setup.given, float(asked.tol))
        return _answer(world, setup_of(world, setup.low.algebra, worse, asked, setup.gpu, None, True), asked)


def _answer(world: Any, setup: Setup, asked: Options) -> Any:
    with _engine(world, setup) as (kernel, memory):
        spread = Spread(setup.grid, world, memory)
        try:
            return Processes(world, setup, asked, spread, kernel).run()
        finally:
            spread.free()


@contextmanager
def _engine(world: Any, setup: Setup) -> Iterator[tuple[Kernel[Any], Memory]]:
    """The engine, and the memory of this process's tiles."""
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
        yield kernel, Memory(low.storage)


def plan(connection: MPI, A: Any, S: Any, asked: Options) -> SpreadPlan:
    """The plan of `closure`, the same on every process; all processes of a connection call this."""
    world = connection.world
    with ending_together(world):
        setup = prepared(world, A, S, asked)
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


def warm(kernel: Kernel[Any], low: Lowering, side: int) -> None:
    """Compile what the engine needs for tiles of a size."""
    S, dtype = low.algebra, low.dtype
    D, C, R = (low.encode(full(np.empty((side, side), dtype), S.zero_in(dtype)), True) for _ in range(3))
    close_by_halves(D, kernel, kernel.tile, 0)
    kernel.left(D, R)
    kernel.multiply_add(C, D, R)
    kernel.right(C, D)


@dataclass(eq=False, repr=False, kw_only=True)
class SpreadPlan(LongPlan):
    """The plan of a closure by several processes; `print` it.

    Attributes
    ----------
    grid : (int, int)
        Rows and columns of processes.
    received : int
        The most bytes that a process receives while the matrix is closed, without the input and the answer.
    threads : int
        The number of threads of a process that computes on the CPU.
    rate : float
        Bytes per second that a process receives, measured on a few MiB.
    gpus : int
        The number of GPUs of all processes; 0 if they compute on the CPU.
    """

    grid: Final[tuple[int, int]] = (1, 1)
    received: Final[int] = 0
    threads: Final[int] = 1
    rate: Final[float] = inf
    gpus: Final[int] = 0

    def predicted(self) -> tuple[dict[str, float], float]:
        """See `LongPlan`; messages to a GPU also cross a bus."""
        left = 1 - self.done
        threads = self.grid[0] * self.grid[1] * self.threads / min(thread_count(), PREDICTED_THREADS)
        bus = self.received / COPY_RATE if self.gpus else 0.0
        return {"products": left * self.product_seconds(self.gpus or threads),
                "messages": left * (self.received / self.rate + bus)}, self.rate

    def details(self) -> dict[str, str]:
        """See `LongPlan`."""
        matrix = max(self.shape[0] ** 2 * self.lowering.storage.itemsize, 1)
        moved = f"{in_words(self.received)} to a process, at most: {self.received / matrix:.2f} times the matrix"
        return {"processes": f"a grid of {self.grid[0]} × {self.grid[1]}", "moved": moved}


class Processes(Home):
    """A matrix whose tiles several processes have, which agree on each step."""

    def __init__(self, world: Any, setup: Setup, asked: Options, spread: Spread, kernel: Kernel[Any]):
        self.S, self.check, self.reflexive = setup.low.algebra, asked.check, asked.reflexive
        self.world, self.asked, self.spread, self.kernel = world, asked, spread, kernel
        self.brought, self.facts, self.low = setup.given, setup.facts, setup.low
        self.gpu, self.about, self.saved = setup.gpu, setup.about, setup.saved
        self.slot = 0 if setup.saved is None else 1 - setup.saved["slot"]
        self.kept = setup.given.way == "whole"  # by rank 0, which judges
        self.doubt = None if self.kept else CLOSURE_ROWS
        if self.kept and setup.given.operand is not None:
            self.given = setup.given.operand
        self.names = None if setup.given.operand is None else setup.given.operand.names

    def run(self) -> Any:
        """The closure, or this process's part of it."""
        storing = self.asked.storing
        if storing is not None:
            if self.saved is not None and not of_first(self.world, draft(storing.out, storing.folder).exists):
                self._remove(storing.folder)
                return opened(storing.out).array  # an earlier run was killed after it renamed the file
            self.output = self._begun()
        self._fill()
        try:
            return closed(self)
        except Agreed as e:
            if storing is not None and isinstance(e.args[0], NoClosureError):  # there is nothing to go on with
                self._remove(storing.folder)
            raise

    def _remove(self, folder: Path) -> None:
        """Remove the folder of an unfinished closure, by the first process."""
        with agreeing(self.world):
            if self.world.rank == 0:
                shutil.rmtree(folder)

    # The input

    def _fill(self) -> None:
        if self.saved is not None:
            agreed(self.world, self._put_back)
        elif self.brought.source is not None:
            agreed(self.world, self._read_tiles)
        else:
            self.spread.take_rows(self.brought.bounds, lambda rows: self._encoded(self._rows(rows)))

    def _rows(self, rows: slice) -> np.ndarray:
        """Some of the rows that this process passed."""
        given, first = self.brought, self.brought.bounds[self.world.rank]
        assert given.operand is not None
        part = given.operand.array[rows.start - first : rows.stop - first]
        return carried_by(np.ascontiguousarray(part), self.S)

    def _encoded(self, elements: np.ndarray) -> np.ndarray:
        """Elements as the memory takes them: a GPU encodes them itself."""
        return elements if self.gpu is not None else np.asarray(self.low.encode(elements, True))

    def _block(self, rows: slice, columns: slice) -> np.ndarray:
        """A block of a matrix that all processes can read."""
        assert self.brought.source is not None
        return elements_of(self.brought.source, self.S, rows, columns)

    def _read_tiles(self) -> None:
        grid, spread = self.spread.grid, self.spread
        for i in grid.tile_rows:
            for j in grid.tile_columns:
                elements = self._encoded(self._block(grid.span(i), grid.span(j)))
                spread.memory.put(elements, spread.local[grid.local_row(i), grid.local_column(j)])

    # The closure

    def close(self) -> None:
        storing = self.asked.storing
        due, last = None, monotonic()
        if storing is not None and storing.checkpoint is not None:
            interval = storing.checkpoint

            def due() -> bool:
                return monotonic() - last >= interval

        def commit(step: int) -> None:
            nonlocal last
            with agreeing(self.world):
                self._store_part()
            with agreeing(self.world):  # when all is on disk
                if self.world.rank == 0:
                    self._write_manifest(step)
            self.slot = 1 - self.slot
            last = monotonic()

        start = 0 if self.saved is None else self.saved["step"]
        with told(self.asked.progress if self.world.rank == 0 else False, f"{self.S.name} closure") as report:
            self.spread.close(self.kernel, start=start, report=report, due=due, commit=commit)

    def refuse(self, error: UndefinedStar) -> None:
        """See `Home`; the first process names the cycle, if it has the matrix."""
        if self.kept and (self.low.inverts or self.low.dual):  # rows have to be exchanged
            self.close_again()
            return
        with agreeing(self.world):
            if self.world.rank == 0 and self.kept:
                raise star_undefined(self.given, UndefinedStar(error.pivot), gone=False)
            if self.world.rank == 0:
                raise undefined_star(self.S, None, None, error.pivot)

    def verdict(self) -> Verdict:
        """See `Home`; the first process judges."""
        self._diagonal, found, as_given = self.spread.diagonal(), FINE, self.brought.as_given
        with agreeing(self.world):
            if self.world.rank == 0:
                with nullcontext() if as_given is None else weights_as_given(as_given, float(self.asked.tol or 0)):
                    found = super().verdict()
        found = self.world.bcast(found)
        return found

    def diagonal(self) -> np.ndarray:
        return self._diagonal

    def close_again(self) -> None:
        """See `Home`; the first process closes the whole matrix."""
        low = self.low
        if self.gpu is not None:
            low = choose(self.S, low.dtype, self.facts, self.spread.grid.n, in_place=False, packed=False)

        found = np.empty(0)
        with agreeing(self.world):
            if self.world.rank == 0 and fields.is_for_lapack(low):
                found = np.asarray(fields.inverse(self.given, low))
            elif self.world.rank == 0:
                found = np.asarray(stable_closure(low, self.given.array, None, self.facts, self.names))
                found = found if self.gpu is None else np.asarray(low.decode(found))
        self.spread.take_rows(self.brought.bounds, lambda rows: found[rows])

    # Commits

    def _part_of(self, slot: int) -> Path:
        assert self.asked.storing is not None
        return self.asked.storing.folder / f"rank{self.world.rank}.{slot}.bin"

    def _store_part(self) -> None:
        """Write this process's part to the file that the last commit does not refer to."""
        with open(self._part_of(self.slot), "wb") as file:
            file.write(raw(self.spread.memory.stored(self.spread.local)).data)
            file.flush()
            os.fsync(file.fileno())

    def _write_manifest(self, step: int) -> None:
        assert self.asked.storing is not None
        about = {**self.about, "step": step, "operation": step, "slot": self.slot}
        write_manifest(self.asked.storing.folder, about)

    def _put_back(self) -> None:
        assert self.saved is not None
        grid, storage = self.spread.grid, self.low.storage
        path, nbytes = self._part_of(self.saved["slot"]), grid.shape[0] * grid.shape[1] * storage.itemsize
        found = np.fromfile(path, np.uint8)
        if found.nbytes != nbytes:
            raise SemiringError(f"{shown(path)} has {found.nbytes} bytes, and this process's part has {nbytes}: "
                                "remove the folder, and start again")
        self.spread.memory.store(found.view(storage).reshape(grid.shape), self.spread.local)

    # The answer

    def decode(self) -> None:
        """See `Home`; `answer` is this process's tiles."""
        decode = self.low.decode if self.gpu is None else partial(decoded, self.low)
        with agreeing(self.world):
            self.answer = np.asarray(decode(self.spread.local))
            if self.check:
                refuse_overflow(self.low, self.answer)

    def put_diagonal(self, vertices: Iterable[int], values: Any) -> None:
        grid = self.spread.grid
        for i in grid.tile_columns:
            if i in grid.tile_rows:
                D = self.answer[grid.local_row(i), grid.local_column(i)]
                put_diagonal(D, grid.span(i).start, vertices, np.asarray(values, self.low.dtype))

    def mend(self, sound: bool) -> None:
        """See `Home`: `wrapped` does it, where the answer is whole."""

    def leave_out_empty_walks(self) -> None:
        """See `Home`: each process sums the terms a_ik ⊗ x_ki of its own x_ki."""
        if self.kept and self.asked.storing is None:
            return  # the first process does it, when it has the whole matrix
        grid, T = self.spread.grid, self.S.over(self.low.dtype)
        sums: dict[int, np.ndarray] = {}  # by columns of tiles

        def add(i: int, rows: slice, edges: np.ndarray) -> None:
            if not edges.shape[1]:
                return
            start = grid.local_column(i).start + rows.start - grid.span(i).start
            some = diagonal_of_blocks(T, edges, self.answer[:, start : start + rows.stop - rows.start])
            place = slice(rows.start - grid.span(i).start, rows.stop - grid.span(i).start)
            sums.setdefault(i, np.empty(grid.span(i).stop - grid.span(i).start, T.dtype))[place] = some

        if self.brought.source is None:
            self.spread.meet_rows(self.brought.bounds, self._rows, self.low.dtype, add)
        else:
            agreed(self.world, lambda: self._add_blocks(add))
        parts = self.spread.along_column.allgather(sums)
        for i in grid.tile_columns:
            if i in grid.tile_rows:
                self.put_diagonal(range(grid.span(i).start, grid.span(i).stop),
                                  reduce(T.add, [part[i] for part in parts if i in part]))

    def _add_blocks(self, add: Callable[[int, slice, np.ndarray], None]) -> None:
        """Add the terms of a matrix that all processes can read."""
        grid = self.spread.grid
        for i in grid.tile_columns:
            blocks = [self._block(grid.span(i), grid.span(k)) for k in grid.tile_rows]
            if blocks:
                add(i, grid.span(i), np.concatenate(blocks, axis=1))

    def wrapped(self) -> Any:
        """The file, or the closure's rows for this process: those that it passed, or all of them for rank 0."""
        if self.asked.storing is not None:
            return self._written()
        grid, given, world = self.spread.grid, self.brought, self.world
        bounds = given.bounds if given.source is None else [0, *[grid.n] * world.size]
        height = bounds[world.rank + 1] - bounds[world.rank]
        with agreeing(world):
            require(height * grid.n * self.low.dtype.itemsize, "the answer")
            out = np.empty((height, grid.n), self.low.dtype)
        self.spread.give_rows(bounds, self.answer, out)
        with agreeing(world):
            if self.kept and world.rank == 0:
                self.answer = out
                super().mend(True)
                if not self.reflexive:
                    put_diagonal(self.answer, 0, range(grid.n), self.with_edges())
                out = self.answer
        if given.way != "rows" and world.rank:
            return None
        assert given.operand is not None
        return given.operand.wrap(out)

    def _begun(self) -> Output:
        """The file, which the first process makes and then all open."""
        storing, grid, low = self.asked.storing, self.spread.grid, self.low
        assert storing is not None
        made = Program(grid.n, grid.side, grid.count)
        again, dtypes = self.saved is not None, (low.dtype, self.brought.callers_dtype)
        with agreeing(self.world):
            if self.world.rank == 0 and not again:
                shutil.rmtree(storing.folder, ignore_errors=True)
                storing.folder.mkdir()
            if self.world.rank == 0:
                found = Output(storing.out, storing.folder, made, *dtypes, again)
        with agreeing(self.world):
            if self.world.rank:
                found = Output(storing.out, storing.folder, made, *dtypes, True)
        return found

    def _written(self) -> Any:
        storing, grid, output, found = self.asked.storing, self.spread.grid, self.output, self.answer
        assert storing is not None
        with agreeing(self.world):
            for i in grid.tile_rows:
                for j in grid.tile_columns:
                    output.write_block(grid.span(i), grid.span(j), found[grid.local_row(i), grid.local_column(j)])
        with agreeing(self.world):  # after all have written
            output.sync()
        with agreeing(self.world):
            if self.world.rank == 0:
                output.finish()
                shutil.rmtree(storing.folder)
        return opened(storing.out).array
