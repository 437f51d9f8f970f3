"""The closure of a matrix that does not fit in memory: tile by tile from a file to a file, with commits on the way."""

from __future__ import annotations

import errno
import hashlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from semiring import __version__
from semiring.algorithms.blocks import UndefinedStar
from semiring.errors import NoClosureError, SemiringError
from semiring.graphs.texts import shown
from semiring.kernels.build import affordable
from semiring.kernels.facts import Facts, together
from semiring.kernels.lowering.base import Lowering
from semiring.machine.memory import in_words, require
from semiring.operands.convert import as_dense
from semiring.operands.dense import carried_by
from semiring.operands.devices import require_gpu
from semiring.operands.examine import examine
from semiring.operands.operand import Operand, order_of_one
from semiring.operands.sparse import Sparse
from semiring.operands.stored import Stored
from semiring.scale.eviction import HOST, Traffic
from semiring.scale.executor import AHEAD, Ends, Executor
from semiring.scale.files import LOCK, claimed, sync_folder
from semiring.scale.program import Program
from semiring.scale.scratch import MANIFEST, Scratch, read_manifest, write_manifest
from semiring.scale.stores import ArraySource, Output, RowsSource, Source, draft, opened, slabs
from semiring.scale.storing import Storing

from .cycles import may_diverge
from .forms import told
from .levels import MOVERS, Layout, levels, on_gpu, on_their_way, planned, reader, writer
from .methods import SCHEDULES
from .stored_cycles import mend, settle, undefined
from .stored_diagonal import keep, kept, of_walks_with_edges, put
from .stored_plan import StoredPlan
from .task import Task
from .tolerance import Loosened, loosened, refuse_without_tolerance, weights_as_given

FORMAT = 4  # of manifests
METHODS = ("r-kleene", "blocked", "elimination")  # which are products of tiles
LAYOUT = ("side", "room", "order", "beside")  # of what is told of a layout in a manifest
BESIDE = "beside"  # how the draft of another matrix is called
FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG}


class Stage(NamedTuple):
    """What follows when the closure is on the disk, and is put in its place together with it.

    Attributes
    ----------
    path : Path
        Of another matrix of the same order.
    dtype : dtype
        Of its elements.
    run : callable
        Of the operand, its source, the closure, the other matrix, the plan, the column to begin with, what commits
        columns that are done (or None), and what is told the part that is done.
    """

    path: Path
    dtype: np.dtype
    run: Callable[..., None]


@dataclass(frozen=True)
class Attempt:
    """A matrix, the form in which it is computed, and the program of its tiles.

    With a tolerance there may be two: of the matrix, and where it has no closure, of edges that are worse.
    """

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
        """Bytes of what computes: of the GPU's memory, if it does."""
        return (self.layout.room + AHEAD) * self.tile_bytes

    @property
    def host(self) -> int:
        """Bytes of the host's memory."""
        if not self.low.on_gpu:
            return self.memory
        return self.traffic.held * self.tile_bytes + on_their_way(self.layout.side, self.low)


def offer(task: Task) -> StoredPlan:
    """The closure into a file."""
    return offered(task)


def offered(task: Task, stage: Stage | None = None) -> StoredPlan:
    """The closure into a file, and what follows from it into another one."""
    o, given = task.options, task.operands[0]
    storing = o.storing
    assert storing is not None
    if given.on_gpu:
        raise SemiringError("out= takes a matrix in a file or in the host's memory: copy a matrix on a GPU to the host")
    if o.tol is not None:
        refuse_without_tolerance(task.S, given.dtype)
    given = given if isinstance(given, Sparse) else as_dense(given)
    order_of_one(given.shape, f"with out= {given.what}")
    if given.dtype.kind == "O":
        raise SemiringError(f"{task.S.name}: its elements are Python objects, which are not written to a file: leave "
                            "out out=, or take an algebra of numbers or of records")
    if given.dtype.names and storing.out.suffix == ".zarr":
        raise SemiringError(f"{task.S.name}: its elements are records, which zarr does not keep: give out= a path that "
                            "ends in .npy")
    method = "r-kleene" if o.method == "auto" else o.method
    if method not in METHODS:
        raise SemiringError(f"out= goes by {', '.join(METHODS)}, and not by method={o.method!r}")
    if o.device == "gpu":
        require_gpu(task.S, "gpu", given.dtype)
    source = source_of(given)
    for path in (storing.out, *([stage.path] if stage is not None else [])):
        if source.path is not None and _is_same(source.path, path):
            raise SemiringError(f"{shown(path)} is the file of {given.what}, which is only read: give another "
                            "name")
    saved = unfinished(storing)
    later = saved is not None and bool(saved.get("loosened")) and o.tol is not None
    first = _attempt(task, given, method, saved, later)
    if saved is not None:
        _refuse_other_room(storing, first.host, first.layout, o.tile)
    return _plan(task, stage, first, saved)


def _attempt(task: Task, given: Operand, method: str, saved: dict[str, Any] | None, later: bool) -> Attempt:
    """One way through the tiles: of the matrix, or where that has no closure, of edges that are worse by tol."""
    o = task.options
    assert o.storing is not None
    source = source_of(given)
    if later and isinstance(given, Sparse):
        given = loosened(given, float(o.tol or 0))
        source = source_of(given)
    elif later:
        source = Loosened(source, given.S, given.dtype, float(o.tol or 0))
    facts = Facts(**saved["facts"]) if saved is not None else _facts(given, source)
    n = order_of_one(given.shape)
    if o.device == "gpu":
        low = on_gpu(task.S, given.dtype, facts, n)
    else:
        low = given.lowering(facts, n, packed=False)
        low = affordable(low, n, float(n) ** 3)
    schedule = SCHEDULES[method]
    if saved is None:
        cut, made, plan = planned(n, low, o.storing, o.tile, schedule)
    else:
        cut, made, plan = Layout(n, *(saved[name] for name in LAYOUT)).planned(schedule)
    return Attempt(given, source, facts, low, cut, made, plan, method, later)


def _plan(task: Task, stage: Stage | None, attempt: Attempt, saved: dict[str, Any] | None) -> StoredPlan:
    o, given, low, cut, plan = task.options, attempt.given, attempt.low, attempt.layout, attempt.traffic
    assert o.storing is not None
    n, method = cut.n, attempt.method
    reasons = {
        "method": "most of its work is in products of tiles" if o.method == "auto" else "as asked",
        "memory": f"{cut.room} tiles of {cut.side} × {cut.side}, and {AHEAD} on their way",
    }
    if low.on_gpu:
        reasons["device"] = "tiles go from the disk through the host's memory to the GPU, and back"
        reasons["memory"] = (f"on the GPU: {reasons['memory']}; in the host's memory: {plan.held} that the GPU puts "
                             f"away, and {2 * MOVERS} on their way, {in_words(attempt.host)}")
    run = partial(_run, task, stage, attempt, saved)
    moved = {way: attempt.tile_bytes * sum(count for (to, place), count in plan.moved.items()
                                           if to == way and place != HOST) for way in ("read", "write")}
    bus = attempt.tile_bytes * sum(plan.moved.values()) if low.on_gpu else 0
    return StoredPlan(
        operation="closure", algebra=task.S, shape=given.shape, method=f"{method}, out of core", lowering=low,
        work=float(n) ** 3, memory=attempt.memory, runner=run, reasons=reasons, tile=cut.side, storing=o.storing,
        read=moved["read"], written=moved["write"], output=n * n * low.dtype.itemsize,
        scratch=plan.slots * attempt.tile_bytes, kept=(plan.slots + cut.room + plan.held) * attempt.tile_bytes,
        done=saved["operation"] / max(len(attempt.made.operations), 1) if saved else 0.0, host=attempt.host, bus=bus,
    )


def _about(task: Task, stage: Stage | None, attempt: Attempt) -> dict[str, Any]:
    """What a manifest tells, and what is compared with it: all but the input, which may take long to look at."""
    o = task.options
    return {
        "format": FORMAT, "library": __version__, "algebra": task.S.name, "method": attempt.method,
        "reflexive": bool(o.reflexive), "tol": None if o.tol is None else float(o.tol), "loosened": attempt.loosened,
        "form": fingerprint(attempt.low), "facts": asdict(attempt.facts),
        **{name: getattr(attempt.layout, name) for name in LAYOUT},
        "next_hops": None if stage is None else str(stage.path.absolute()),
    }


def source_of(given: Operand) -> Source:
    """What tiles are read from: of a sparse matrix they are filled as they are read."""
    if isinstance(given, Stored):
        return given.source
    if isinstance(given, Sparse):
        return RowsSource(given.rows, given.S.zero_in(given.dtype))
    return ArraySource(as_dense(given).array)


def _is_same(path: Path, other: Path) -> bool:
    return path.resolve() == other.resolve() or (other.exists() and path.samefile(other))


def _run(
    task: Task, stage: Stage | None, attempt: Attempt, saved: dict[str, Any] | None, plan: StoredPlan
) -> Any:
    storing, about = plan.storing, _about(task, stage, attempt)
    folder = storing.folder
    plan.loosened = attempt.loosened
    if attempt.low.on_gpu:  # whose memory was looked at before
        require(attempt.host, *plan.shortage)
    if storing.checkpoint is not None or saved is not None:  # else nobody asks
        about = {**about, "input": attempt.source.identity()}
    with _disk(storing, len(attempt.made.operations)), claimed(folder):
        if read_manifest(folder) != saved:
            raise SemiringError(f"{shown(folder)} was changed by another process: call again")
        refuse_other(storing, saved, about)
        if saved is not None and saved.get("fresh"):  # nothing was written since the closure was known not to exist
            _clear_files(folder)
            saved = None
        elif saved is None:
            _clear(folder)
        elif not draft(storing.out, folder).exists():  # it was put in its place, and no more
            _clear(folder, finished=True)
            return opened(storing.out).array
        tol = task.options.tol
        with nullcontext() if tol is None else weights_as_given(task.operands[0], float(tol)):
            if not _done(task, stage, attempt, about, saved, plan):
                plan.loosened = True
                _again(task, stage, attempt, plan)
        _clear(folder, finished=True)
    return opened(storing.out).array


def _again(task: Task, stage: Stage | None, attempt: Attempt, plan: StoredPlan) -> None:
    """The closure of edges that are worse by tol, of a matrix that has none; commits say from now on that it has none.

    Raises
    ------
    NoClosureError
        When it has none either.
    """
    folder = plan.storing.folder
    second = _attempt(task, attempt.given, attempt.method, None, True)
    plan_of_second, about = _plan(task, stage, second, None), _about(task, stage, second)
    if read_manifest(folder) is not None:
        about = {**about, "input": second.source.identity()}
        write_manifest(folder, {**about, "operation": 0, "slots": {}, "fresh": True})
        _clear_files(folder)
    else:
        _clear(folder)
    with _disk(plan.storing, len(second.made.operations)):
        _done(task, stage, second, about, None, plan_of_second)


def _done(
    task: Task, stage: Stage | None, attempt: Attempt, about: dict[str, Any], saved: dict[str, Any] | None,
    plan: StoredPlan,
) -> bool:
    """Whether the closure is in its place; else it does not exist, and a tolerance is yet to be tried.

    Raises
    ------
    NoClosureError
        When it does not exist, and there is no tolerance, or edges are worse by it already.
    """
    folder = plan.storing.folder
    try:
        plan.require_disk()
        _close(task, stage, attempt, about, saved, plan)
    except BaseException as error:
        undecided = task.options.tol is not None and not attempt.loosened
        if undecided and isinstance(error, (UndefinedStar, NoClosureError)):
            return False
        if isinstance(error, (UndefinedStar, SemiringError)) or read_manifest(folder) is None:
            _clear(folder)  # there is nothing to go on with
        if isinstance(error, UndefinedStar):
            raise undefined(task.S, attempt.source, attempt.given.names, error.pivot) from None
        raise
    return True


def _close(
    task: Task, stage: Stage | None, attempt: Attempt, about: dict[str, Any], saved: dict[str, Any] | None,
    plan: StoredPlan,
) -> None:
    """The closure in its place."""
    storing, low, made, source = plan.storing, attempt.low, attempt.made, attempt.source
    folder = storing.folder
    slots = {int(cell): slot for cell, slot in saved["slots"].items()} if saved is not None else None
    output = Output(storing.out, folder, made, low.dtype, attempt.given.callers_dtype, saved is not None)
    scratch = Scratch(folder, attempt.tile_bytes, slots)
    try:
        if saved is None and storing.checkpoint is not None:  # now that there is all that it speaks of
            write_manifest(folder, {**about, "operation": 0, "slots": {}})

        def commit(at: int) -> None:
            output.sync()
            scratch.commit({**about, "operation": at})

        start = saved["operation"] if saved is not None else 0
        read, write = reader(task.S, source, low, made), writer(low, made, output, task.options.check)
        ends = Ends(read, write, commit, storing.checkpoint) if storing.checkpoint else Ends(read, write)
        with levels(low, attempt.layout, attempt.traffic, scratch) as there, (
                told(task.options.progress, f"{task.S.name} closure", plan.work)) as report:
            sound, field = True, low.inverts or low.dual
            try:
                Executor(made, attempt.traffic, attempt.layout.room, there.kernel, there.arena, there.scratch, ends,
                         start, report, there.memory).run()
            except UndefinedStar:
                if not field:
                    raise
                sound = False
        replaced = saved is not None and saved.get("diagonal", False)  # perhaps in part
        if field and not replaced:
            mend(task.S, source, attempt.given.names, output, sound)
        if task.options.check and may_diverge(low) and not replaced:
            settle(task.S, source, low, attempt.facts, attempt.given.names, output)
        if not task.options.reflexive:
            values = kept(folder) if replaced else of_walks_with_edges(task.S, source, output)
            if read_manifest(folder) is not None and not replaced:  # tiles that a restart finds are of A* until then
                commit(len(made.operations))
                keep(folder, values)
                write_manifest(folder, {**about, "operation": len(made.operations), "slots": {}, "diagonal": True})
            put(values, output)
        if stage is not None:
            saved_columns = saved.get("columns", 0) if saved is not None else 0
            if storing.checkpoint is not None and not saved_columns:
                commit(len(made.operations))
            _follow(task, stage, attempt.given, source, made, output, plan,
                    {**about, "operation": len(made.operations), "slots": {}}, saved_columns)
        output.finish()
    finally:
        scratch.close()
        output.close()


def _follow(
    task: Task, stage: Stage, given: Operand, source: Source, made: Program, closure: Output, plan: StoredPlan,
    about: dict[str, Any], start: int,
) -> None:
    """The other matrix, in its place; it is there before the closure, which says that all is done."""
    storing = plan.storing
    there = draft(stage.path, storing.folder, BESIDE).exists()
    if start == made.n > 0 and not there:
        return  # an earlier run was killed between the two
    other = Output(stage.path, storing.folder, made, stage.dtype, stage.dtype, bool(start), BESIDE)
    try:
        def commit(column: int) -> None:
            other.sync()
            write_manifest(storing.folder, {**about, "columns": column})

        with told(task.options.progress, f"{task.S.name} next hops") as report:
            stage.run(given, source, closure, other, plan, start, commit if storing.checkpoint else None, report)
        if storing.checkpoint is not None:
            commit(made.n)
        other.finish()
    finally:
        other.close()


def _clear(folder: Path, finished: bool = False) -> None:
    """Take away what a run left, but for the claim: the manifest first, or where all is done last, so that a kill in
    between finds no manifest of what is gone, or one that says that all is done.
    """
    manifest = folder / MANIFEST
    if not finished:
        manifest.unlink(missing_ok=True)
        sync_folder(folder)
    _clear_files(folder)
    manifest.unlink(missing_ok=True)


def _clear_files(folder: Path) -> None:
    """Take away all but the claim and the manifest."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name not in (LOCK, MANIFEST):
            path.unlink()


def unfinished(storing: Storing) -> dict[str, Any] | None:
    """What there is to go on from, if that is wanted.

    Raises
    ------
    SemiringError
        When something is there and nobody wants it, or another version has begun it.
    """
    saved = read_manifest(storing.folder)
    if saved is None:
        return None
    if not storing.resume:
        raise SemiringError(f"{shown(storing.folder)} holds an unfinished closure, {saved.get('operation')} operations "
                            "of it: pass resume=True to go on with it, or remove the folder")
    refuse_other(storing, saved, {"format": FORMAT, "library": __version__})
    return saved


def refuse_other(storing: Storing, saved: dict[str, Any] | None, about: dict[str, Any]) -> None:
    """What was begun with another input, algebra or library is not gone on with.

    Raises
    ------
    SemiringError
        It names the difference.
    """
    for name, now in about.items() if saved is not None else ():
        then = saved.get(name)  # type: ignore[union-attr]
        if then != now:
            raise SemiringError(f"{shown(storing.folder)} was begun with {name} {then!r}, and now it is {now!r}: mend "
                                "that, or remove the folder and begin anew")


def _refuse_other_room(storing: Storing, memory: int, layout: Layout, tile: int | None) -> None:
    """What was begun with more memory, or another tile, is not gone on with.

    Raises
    ------
    SemiringError
    """
    if tile is not None and tile != layout.side:
        raise SemiringError(f"{shown(storing.folder)} was begun with tile={layout.side}, and now it is {tile}: mend "
                            "that, or remove the folder and begin anew")
    if storing.memory is not None and memory > storing.memory:
        raise SemiringError(f"{shown(storing.folder)} was begun with tiles that take {in_words(memory)}, and now "
                            f"memory= is {in_words(storing.memory)}: give as much, or remove the folder and begin anew")


def _facts(given: Operand, source: Source) -> Facts:
    """What is known of all elements, read once, a block at a time; refuses what is not one, with its place."""
    if not isinstance(source, Loosened) and (not isinstance(given, Stored) or "facts" in vars(given)):
        return given.facts
    found = [Facts(two_valued=True)] if source.shape[0] == 0 else []
    for rows, columns in slabs(source):
        elements = np.empty((rows.stop - rows.start, columns.stop - columns.start), source.dtype)
        source.read(rows, columns, elements)
        place = rows.start, columns.start
        found.append(examine(given.S, given.dtype, ((given.what, carried_by(elements, given.S)),), place))
    return together(found)


def fingerprint(low: Lowering) -> str:
    """What tells an algebra in the form in which it is computed from all others."""
    return hashlib.sha256(repr((low.name, str(low.storage), low.key)).encode()).hexdigest()[:32]


@contextmanager
def _disk(storing: Storing, operations: int) -> Iterator[None]:
    """What a disk refuses is told with what is kept.

    Raises
    ------
    SemiringError
    """
    try:
        yield
    except OSError as error:
        saved = read_manifest(storing.folder)
        kept = "nothing is kept, since there was no checkpoint" if saved is None else (
            f"{saved['operation']} of {operations} operations are kept: mend that, and pass resume=True")
        why = "the disk is full" if error.errno in FULL else f"{error.strerror or error}"
        where = storing.folder if error.filename is None else Path(str(error.filename))
        raise SemiringError(f"{shown(where)}: {why}; {kept}") from None
