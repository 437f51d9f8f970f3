"""Closures and best paths that do not fit in memory: tile by tile from a file to a file, with commits on the way.

A closure is written to one file. Best paths are written to two: the closure, and the next hops that follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from semiring import __version__
from semiring.algorithms import labels
from semiring.algorithms.blocks import UndefinedStar
from semiring.errors import LawError, NoClosureError, SemiringError
from semiring.graphs.texts import shown
from semiring.kernels.build import affordable
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.machine.memory import in_words, require
from semiring.machine.progress import told
from semiring.operands.convert import as_dense
from semiring.operands.dense import Dense, carried_by
from semiring.operands.devices import require_gpu
from semiring.operands.operand import Operand, order_of_one
from semiring.operands.sparse import Sparse
from semiring.operands.stored import Loosened, Stored, StoredGraph, look_through
from semiring.scale.eviction import HOST, Traffic
from semiring.scale.executor import AHEAD, Ends, Executor
from semiring.scale.files import claimed
from semiring.scale.program import Program
from semiring.scale.scratch import (
    FORMAT,
    Scratch,
    clear,
    clear_files,
    explained,
    fingerprint,
    keep_diagonal,
    kept_diagonal,
    read_manifest,
    refuse_other,
    unfinished,
    write_manifest,
)
from semiring.scale.stores import ArraySource, Output, RowsSource, Source, draft, opened
from semiring.scale.storing import Storing

from ..close import Home, closed, diagonal_of_product, method_among, stored_vector
from ..cycles import FINE, Verdict, search_elements, sources_of
from ..dense import fields
from ..dense.derived import loosened, refuse_without_tolerance, weights_as_given
from ..dense.schedules import SCHEDULES
from ..refusals import Index, undefined_star
from ..task import Task
from . import levels
from .levels import HOP, MOVERS, Layout, StoredPlan, elements_of
from .stored_paths import next_hops

METHODS = ("r-kleene", "blocked", "elimination")  # products of tiles; the first is the default
LAYOUT = ("side", "room", "order", "beside")  # fields of a layout in a manifest
HOPS = "beside"  # the name of the draft of next hops


@dataclass(frozen=True)
class Attempt:
    """One computation: a matrix, its form, and the program of its tiles.

    With a tolerance there may be two: of the matrix, and if it has no closure, of edges that are worse.
    """

    as_given: Operand
    given: Operand
    source: Source
    facts: Facts
    low: Lowering
    layout: Layout
    made: Program
    traffic: Traffic
    method: str
    loosened: bool

    @property
    def tile_bytes(self) -> int:
        return self.layout.side**2 * self.low.storage.itemsize

    @property
    def memory(self) -> int:
        """Bytes where products are computed: of the GPU's memory if it computes, else of the host's."""
        return (self.layout.room + AHEAD) * self.tile_bytes

    @property
    def host(self) -> int:
        """Bytes of the host's memory for tiles."""
        if not self.low.on_gpu:
            return self.memory
        return self.traffic.held * self.tile_bytes + levels.on_their_way(self.layout.side, self.low)


def offer(task: Task) -> StoredPlan:
    """The closure into a file, or best paths into two."""
    o, storing = task.options, task.options.storing
    assert storing is not None
    given = task.operands[0] if task.verb == "closure" else _of_paths(task)
    if given.on_gpu:
        raise SemiringError("out= takes a matrix in a file or in the host's memory: copy a matrix on a GPU to the host")
    if o.tol is not None:
        refuse_without_tolerance(task.S, given.dtype)
    given = given if isinstance(given, Sparse) else as_dense(given)
    order_of_one(given.shape, f"with out= {given.what}")
    if given.dtype.kind == "O":
        raise SemiringError(f"{task.S.name}: its elements are Python objects, which cannot be written to a file: leave "
                            "out out=, or use an algebra of numbers or records")
    if given.dtype.names and storing.out.suffix == ".zarr":
        raise SemiringError(f"{task.S.name}: its elements are records, which zarr cannot store: give out= a path that "
                            "ends in .npy")
    method = method_among(METHODS, o.method, "with out=")
    if o.device == "gpu":
        require_gpu(task.S, "gpu", given.dtype)
    source = source_of(given)
    for path in (storing.out, storing.hops):
        if path is not None and source.path is not None and _is_same(source.path, path):
            raise SemiringError(f"{shown(path)} is the file of {given.what}, which would be overwritten: give another "
                                "name")
    saved = unfinished(storing)
    refuse_other(storing, saved, {"algebra": task.S.name, "method": method})
    later = saved is not None and bool(saved.get("loosened")) and o.tol is not None
    first = _attempt(task, given, method, saved, later)
    if saved is not None:
        _refuse_other_room(storing, first.host, first.layout, o.tile)
    return _plan(task, first, saved)


def _of_paths(task: Task) -> Operand:
    """The matrix whose closure and next hops go to files.

    Raises
    ------
    LawError
        If ⊕ does not select.
    SemiringError
        For options that files do not have.
    """
    S, given, storing = task.S, task.given[0], task.options.storing
    if not S.selective or S.product_only:
        raise LawError(f"best paths need a selective ⊕ of a semiring, and {S.name} has none: "
                       f"{S._law_report.flags['selective']}")
    sources, limit, targets = task.arguments
    if not sources is limit is targets is None:
        raise SemiringError("out= is for paths between all vertices: leave out sources, targets and limit")
    assert storing is not None
    if storing.out.suffix != ".npy" or storing.hops is None:
        raise SemiringError(f"out={shown(storing.out)}: weights of paths are written as .npy, next hops beside them")
    order_of_one(given.shape, f"with out= {given.what}")
    return given.plain if isinstance(given, Sparse) else as_dense(given)


def _attempt(task: Task, given: Operand, method: str, saved: dict[str, Any] | None, later: bool) -> Attempt:
    """Plan the computation of the matrix, or if `later`, of the matrix whose edges are worse by `tol`."""
    o = task.options
    assert o.storing is not None
    source, as_given = source_of(given), given
    if later and isinstance(given, Sparse):
        given = loosened(given, float(o.tol or 0))
        source = source_of(given)
    elif later:
        source = Loosened(source, given.S, given.dtype, float(o.tol or 0))
    if saved is not None:
        facts = Facts(**saved["facts"])
    elif isinstance(source, Loosened) or (isinstance(given, Stored) and "facts" not in vars(given)):
        facts = look_through(given, source) or Facts(two_valued=True)
    else:
        facts = given.facts
    n = order_of_one(given.shape)
    if o.device == "gpu":
        low = levels.on_gpu(task.S, given.dtype, facts, n)
    else:
        low = affordable(given.lowering(facts, n, packed=False), n, float(n) ** 3)
    schedule = SCHEDULES[method]
    if saved is None:
        cut, made, plan = levels.planned(n, low, o.storing, o.tile, schedule)
    else:
        cut, made, plan = Layout(n, *(saved[name] for name in LAYOUT)).planned(schedule)
    return Attempt(as_given, given, source, facts, low, cut, made, plan, method, later)


def _plan(task: Task, attempt: Attempt, saved: dict[str, Any] | None) -> StoredPlan:
    o, given, low, cut, plan = task.options, attempt.given, attempt.low, attempt.layout, attempt.traffic
    assert o.storing is not None
    n, method = cut.n, attempt.method
    reasons = {
        "method": "most of its work is in products of tiles" if o.method == "auto" else "as asked",
        "memory": f"{cut.room} tiles of {cut.side} × {cut.side}, and {AHEAD} on their way",
    }
    if low.on_gpu:
        reasons["device"] = "tiles go from the disk through the host's memory to the GPU and back"
        reasons["memory"] = (f"on the GPU: {reasons['memory']}; in the host's memory: {plan.held} that the GPU "
                             f"evicts, and {2 * MOVERS} on their way, {in_words(attempt.host)}")
    run = partial(_run, task, attempt, saved)
    moved = {way: attempt.tile_bytes * sum(count for (to, place), count in plan.moved.items()
                                           if to == way and place != HOST) for way in ("read", "write")}
    bus = attempt.tile_bytes * sum(plan.moved.values()) if low.on_gpu else 0
    item = low.dtype.itemsize + (0 if o.storing.hops is None else HOP.itemsize)
    return StoredPlan(
        operation=task.verb, algebra=task.S, shape=given.shape, method=f"{method}, out of core", lowering=low,
        work=float(n) ** 3, memory=attempt.memory, runner=run, reasons=reasons, tile=cut.side, storing=o.storing,
        read=moved["read"], written=moved["write"], output=n * n * item,
        scratch=plan.slots * attempt.tile_bytes, kept=(plan.slots + cut.room + plan.held) * attempt.tile_bytes,
        done=saved["operation"] / max(len(attempt.made.operations), 1) if saved else 0.0, host=attempt.host, bus=bus,
    )


def _about(task: Task, attempt: Attempt) -> dict[str, Any]:
    """The contents of a manifest, except the input, which may take long to identify."""
    o, hops = task.options, task.options.storing.hops  # type: ignore[union-attr]
    return {
        "format": FORMAT, "library": __version__, "algebra": task.S.name, "method": attempt.method,
        "reflexive": bool(o.reflexive), "tol": None if o.tol is None else float(o.tol), "loosened": attempt.loosened,
        "form": fingerprint(attempt.low), "facts": asdict(attempt.facts),
        **{name: getattr(attempt.layout, name) for name in LAYOUT},
        "next_hops": None if hops is None else str(hops.absolute()),
    }


def source_of(given: Operand) -> Source:
    """The source of tiles; those of a sparse matrix are filled when they are read."""
    if isinstance(given, Stored):
        return given.source
    if isinstance(given, Sparse):
        return RowsSource(given.rows, given.S.zero_in(given.dtype))
    return ArraySource(as_dense(given).array)


def _is_same(path: Path, other: Path) -> bool:
    return path.resolve() == other.resolve() or (other.exists() and path.samefile(other))


def _run(task: Task, attempt: Attempt, saved: dict[str, Any] | None, plan: StoredPlan) -> Any:
    storing, about, is_loosened = plan.storing, _about(task, attempt), attempt.loosened
    folder = storing.folder
    if attempt.low.on_gpu:  # the GPU's memory was checked before
        require(attempt.host, *plan.shortage)
    if storing.checkpoint is not None or saved is not None:  # otherwise it is not compared
        about = {**about, "input": attempt.source.identity()}
    with explained(storing, len(attempt.made.operations)), claimed(folder):
        if read_manifest(folder) != saved:
            raise SemiringError(f"{shown(folder)} was changed by another process meanwhile: call again")
        refuse_other(storing, saved, about)
        if saved is not None and saved.get("fresh"):  # the second computation has written nothing yet
            clear_files(folder)
            saved = None
        elif saved is None:
            clear(folder)
        elif not draft(storing.out, folder).exists():  # an earlier run was killed after it renamed the file
            clear(folder, finished=True)
            return _answer(task, is_loosened)
        tol = task.options.tol
        with nullcontext() if tol is None else weights_as_given(attempt.as_given, float(tol)):
            if not _done(task, attempt, about, saved, plan):
                is_loosened = True
                _again(task, attempt, plan)
        clear(folder, finished=True)
    return _answer(task, is_loosened)


def _answer(task: Task, is_loosened: bool) -> Any:
    """The arrays in the files, with the edges of which paths consist."""
    storing = task.options.storing
    assert storing is not None
    values = opened(storing.out).array
    if storing.hops is None:
        return values
    if is_loosened:
        task.given[0] = loosened(task.given[0], float(task.options.tol or 0))
    return values, np.load(storing.hops, mmap_mode="r"), None


def _again(task: Task, attempt: Attempt, plan: StoredPlan) -> None:
    """Compute the closure of edges that are worse by `tol`; from now on commits say that the matrix itself has none.

    Raises
    ------
    NoClosureError
        If that closure does not exist either.
    """
    folder = plan.storing.folder
    second = _attempt(task, attempt.given, attempt.method, None, True)
    plan_of_second, about = _plan(task, second, None), _about(task, second)
    if read_manifest(folder) is not None:
        about = {**about, "input": second.source.identity()}
        write_manifest(folder, {**about, "operation": 0, "slots": {}, "fresh": True})
        clear_files(folder)
    else:
        clear(folder)
    with explained(plan.storing, len(second.made.operations)):
        _done(task, second, about, None, plan_of_second)


def _done(
    task: Task, attempt: Attempt, about: dict[str, Any], saved: dict[str, Any] | None, plan: StoredPlan
) -> bool:
    """Compute a closure into its file; return False if it does not exist and a tolerance may help.

    Raises
    ------
    NoClosureError
        If it does not exist, and no tolerance is left to try.
    """
    folder = plan.storing.folder
    try:
        plan.require_disk()
        home = FileHome(task, attempt, about, saved, plan)
        try:
            closed(home)
        finally:
            home.scratch.close()
            home.output.close()
    except BaseException as error:
        undecided = task.options.tol is not None and not attempt.loosened
        if undecided and isinstance(error, NoClosureError):
            return False
        if isinstance(error, SemiringError) or read_manifest(folder) is None:
            clear(folder)  # nothing is left to continue
        raise
    return True


class FileHome(Home):
    """A matrix whose closure grows in a file, with commits."""

    doubt = "no cycle of the matrix explains it; without out= the closure is computed so that such errors stay small"

    def __init__(
        self, task: Task, attempt: Attempt, about: dict[str, Any], saved: dict[str, Any] | None, plan: StoredPlan
    ):
        self.S, self.names, self.low, self.facts = task.S, attempt.given.names, attempt.low, attempt.facts
        self.check, self.reflexive = task.options.check, task.options.reflexive
        self.task, self.attempt, self.plan = task, attempt, plan
        self.source, self.made, self.folder = attempt.source, attempt.made, plan.storing.folder
        self.saved = {"operation": 0} if saved is None else saved
        self.replaced = self.saved.get("diagonal", False)  # by the diagonal of A⁺, perhaps in part
        self.done = {**about, "operation": len(self.made.operations), "slots": {}}  # the manifest of a complete closure
        slots = None if saved is None else {int(cell): slot for cell, slot in saved["slots"].items()}
        again, dtypes = saved is not None, (self.low.dtype, attempt.given.callers_dtype)
        self.output = Output(plan.storing.out, self.folder, self.made, *dtypes, again)
        self.scratch = Scratch(self.folder, attempt.tile_bytes, slots)
        if not again and plan.storing.checkpoint is not None:  # after all that it refers to
            write_manifest(self.folder, {**about, "operation": 0, "slots": {}})

    def commit(self, at: int) -> None:
        """Make a commit, so that a restart begins with an operation."""
        self.output.sync()
        self.scratch.commit({**self.done, "operation": at})

    def close(self) -> None:
        attempt, low, made, checkpoint = self.attempt, self.low, self.made, self.plan.storing.checkpoint
        read, write = levels.reader(self.S, self.source, low, made), levels.writer(low, made, self.output, self.decoded)
        ends = Ends(read, write, self.commit, checkpoint) if checkpoint else Ends(read, write)
        with levels.allocated(low, attempt.layout, attempt.traffic, self.scratch) as (kernel, arena, shelf, memory), (
                told(self.task.options.progress, f"{self.S.name} closure", self.plan.work)) as report:
            Executor(made, attempt.traffic, attempt.layout.room, kernel, arena, shelf, ends, self.saved["operation"],
                     report, memory).run()

    def refuse(self, error: UndefinedStar) -> None:
        if not (self.low.inverts or self.low.dual):
            v, graph = error.pivot, StoredGraph(self.source, self.S)
            raise undefined_star(self.S, graph, self.names, v, np.arange(v)) from None

    def verdict(self) -> Verdict:
        return FINE if self.replaced else super().verdict()

    def diagonal(self) -> np.ndarray:
        return stored_vector(self.low, carried_by(self.output.diagonal(), self.S))

    def search(self, vertices: list[int], index: Index | None) -> NoClosureError | None:
        """See `Home`: labels are corrected on rows that are read when they are needed.

        Each edge is worsened by its rounding error. A cycle that is found is judged on the matrix of its own vertices.
        """
        S, facts = self.S, self.facts
        graph, plain = StoredGraph(self.source, S, facts), StoredGraph(self.source, S)
        for sources in sources_of(S, facts, vertices):
            cycle = labels.follow(graph, S.over(graph.values.dtype), sources).cycle
            if cycle is None:
                continue
            among = cycle[:-1]
            block = np.array([plain.edges(u)[1][among] for u in among], plain.values.dtype)
            called = among if self.names is None else [self.names[v] for v in among]
            error = search_elements(S, block, facts, called, [0], None)
            if error is not None:
                return error
        return None

    def put_diagonal(self, vertices: Iterable[int], values: Any) -> None:
        self.output.write_diagonal(vertices, np.asarray(values, self.low.dtype))

    def edges(self, rows: slice, columns: slice) -> np.ndarray:
        """A block of the matrix."""
        return elements_of(self.source, self.S, rows, columns)

    def walks(self, rows: slice, columns: slice) -> np.ndarray:
        """A block of the closure."""
        return np.asarray(carried_by(self.output.read_block(rows, columns), self.S))

    def mend(self, sound: bool) -> None:
        """See `Home`; a closure that has to be corrected is read into memory.

        Raises
        ------
        NoClosureError
        SemiringError
            If it does not fit.
        """
        n, every = self.made.n, slice(0, self.made.n)
        if self.replaced or not n or not (self.low.inverts or self.low.dual or self.low.log_sum):
            return
        low = fields.host_form(self.S, self.low.dtype)

        def rows_of(part: Callable[[slice, slice], np.ndarray]) -> Callable[[slice], np.ndarray]:
            return lambda rows: np.asarray(low.encode(part(rows, every), False))

        if low.log_sum:
            right = not fields.may_be_endless(low, low.encode(carried_by(self.output.diagonal(), self.S), False))
        else:
            right = sound and fields.holds(n, low, rows_of(self.edges), rows_of(self.walks))
        if right:
            return
        matrices = 3 if low.log_sum else 5
        require(matrices * low.matrix_bytes(n), f"the closure of a {n} × {n} matrix that is corrected in memory",
                "solve for the columns that you need, with sr.solve(A, B, S)")
        A = Dense(self.edges(every, every), self.S, names=self.names)
        self.output.write_block(every, every, fields.corrected(A, self.walks(every, every), sound))

    def with_edges(self) -> np.ndarray:
        return diagonal_of_product(self.S.over(self.low.dtype), self.made.n, self.edges, self.walks)

    def leave_out_empty_walks(self) -> None:
        """See `Home`; a restart finds A*, or all of the new diagonal."""
        values = kept_diagonal(self.folder) if self.replaced else self.with_edges()
        if read_manifest(self.folder) is not None and not self.replaced:
            self.commit(self.done["operation"])
            keep_diagonal(self.folder, values)
            write_manifest(self.folder, {**self.done, "diagonal": True})
        self.put_diagonal(range(self.made.n), values)

    def wrapped(self) -> Any:
        """Rename the files: next hops first, because the closure's name says that all is done."""
        storing = self.plan.storing
        if storing.hops is not None:
            columns = self.saved.get("columns", 0)
            if storing.checkpoint is not None and not columns:
                self.commit(self.done["operation"])
            self._write_hops(storing.hops, columns)
        self.output.finish()

    def _write_hops(self, path: Path, start: int) -> None:
        """Write the next hops from a column on, and rename their file."""
        storing, made = self.plan.storing, self.made
        if start == made.n > 0 and not draft(path, self.folder, HOPS).exists():
            return  # an earlier run was killed between the two
        hops = Output(path, self.folder, made, HOP, HOP, bool(start), HOPS)

        def commit(column: int) -> None:
            hops.sync()
            write_manifest(self.folder, {**self.done, "columns": column})

        try:
            with told(self.task.options.progress, f"{self.S.name} next hops") as report:
                last = monotonic()
                for column in next_hops(self.attempt.given, self.source, self.output, hops, self.plan, start):
                    report(column / made.n)
                    if storing.checkpoint is not None and monotonic() - last >= storing.checkpoint:
                        commit(column)
                        last = monotonic()
            if storing.checkpoint is not None:
                commit(made.n)
            hops.finish()
        finally:
            hops.close()


def _refuse_other_room(storing: Storing, memory: int, layout: Layout, tile: int | None) -> None:
    """Refuse to continue a run with less memory or another tile.

    Raises
    ------
    SemiringError
    """
    if tile is not None and tile != layout.side:
        raise SemiringError(f"{shown(storing.folder)} was begun with tile={layout.side}, but now it is {tile}: "
                            "change it back, or remove the folder and start again")
    if storing.memory is not None and memory > storing.memory:
        raise SemiringError(f"{shown(storing.folder)} was begun with tiles that take {in_words(memory)}, but now "
                            f"memory= is {in_words(storing.memory)}: give as much, or remove the folder and start "
                            "again")
