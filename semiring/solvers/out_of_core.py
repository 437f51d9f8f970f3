"""The closure of a matrix that does not fit in memory: tile by tile from a file to a file, with commits on the way."""

from __future__ import annotations

import errno
import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from semiring import __version__
from semiring.algorithms.blocks import UndefinedStar
from semiring.errors import NoClosureError, SemiringError
from semiring.graphs.texts import shown
from semiring.kernels.build import affordable, code_of
from semiring.kernels.build import kernel as build_kernel
from semiring.kernels.facts import Facts, together
from semiring.kernels.lowering.base import Lowering
from semiring.machine.memory import available_bytes, in_words
from semiring.operands.convert import as_dense
from semiring.operands.dense import Dense, carried_by
from semiring.operands.examine import examine
from semiring.operands.operand import order_of_one
from semiring.operands.stored import Stored
from semiring.scale.eviction import Traffic, traffic
from semiring.scale.executor import AHEAD, Ends, Executor
from semiring.scale.program import Program, program
from semiring.scale.scratch import Scratch, read_manifest, write_manifest
from semiring.scale.stores import ArraySource, Output, block, draft, opened
from semiring.scale.storing import Storing

from .cycles import improving, is_slack, may_diverge, undefined_star
from .forms import refuse_overflow, told
from .methods import SCHEDULES
from .plan import Plan
from .task import Task

FORMAT = 1  # of manifests
METHODS = ("r-kleene", "blocked", "elimination")  # which are products of tiles
TILES = 48  # that should fit in memory; with fewer more is moved
SIDES = (2048, 1536, 1024, 768, 512, 384, 256, 192, 128, 64)  # of tiles
LEAST = 3 + AHEAD  # tiles without which nothing goes


@dataclass(frozen=True)
class Layout:
    """How a matrix is cut, and how many tiles are in memory."""

    n: int
    side: int
    room: int


def offer(task: Task) -> Plan:
    """The closure into a file."""
    o, given = task.options, task.operands[0]
    storing = o.storing
    assert storing is not None
    if given.kind == "device":
        raise SemiringError("out= takes a matrix in a file or in the host's memory, and A is on a GPU")
    dense = as_dense(given)
    n = order_of_one(dense.shape)
    if not o.reflexive or o.packed or o.overwrite or o.tol or o.max_edges is not None or o.on_divergence != "raise":
        raise SemiringError("out= gives the closure A*, of elements, or an error: leave out reflexive, packed, "
                            "overwrite, tol, max_edges and on_divergence")
    if dense.dtype.kind == "O":
        raise SemiringError(f"{task.S.name}: its elements are Python objects, which are not written to a file")
    method = "r-kleene" if o.method == "auto" else o.method
    if method not in METHODS:
        raise SemiringError(f"out= goes by {', '.join(METHODS)}, and not by method={o.method!r}")
    source = dense.source if isinstance(dense, Stored) else ArraySource(dense.array)
    saved = unfinished(storing)
    facts = _facts(dense, source) if saved is None else Facts(**saved["facts"])
    low = dense.lowering(facts, n, packed=False)
    if not code_of(low).bought:
        low = affordable(low, n, float(n) ** 3)
    layout = _layout(n, low, storing, o.tile) if saved is None else Layout(n, saved["side"], saved["room"])
    made = program(SCHEDULES[method], n, layout.side, layout.room)
    plan = traffic(made, layout.room)
    tile_bytes = layout.side**2 * low.storage.itemsize
    memory = (layout.room + AHEAD) * tile_bytes
    moved = sum(plan.moved.values())
    reasons = {
        "method": "most of its work is in products of tiles" if o.method == "auto" else "as asked",
        "memory": f"{layout.room} tiles of {layout.side} × {layout.side}, and {AHEAD} on their way",
        "work": f"moves {in_words(moved * tile_bytes)}, {moved / max(made.count**2, 1):.1f} times the matrix",
    }
    about = {
        "format": FORMAT, "library": __version__, "input": source.identity(), "algebra": task.S.name,
        "form": fingerprint(low), "method": method, "side": layout.side, "room": layout.room,
        "facts": asdict(facts),
    }
    run = partial(_run, task, dense, source, facts, made, plan, layout, about, saved)
    return Plan("closure", task.S, dense.shape, f"{method}, out of core", low, "", float(n) ** 3, memory, run, None,
                reasons, layout.side)


def _run(
    task: Task, given: Dense, source: ArraySource, facts: Facts, made: Program, traffic: Traffic, layout: Layout,
    about: dict[str, Any], saved: dict[str, Any] | None, plan: Plan,
) -> Any:
    storing, low = task.options.storing, plan.lowering
    assert storing is not None
    refuse_other(storing, saved, about)
    start = saved["operation"] if saved is not None else 0
    folder = storing.folder
    if saved is not None and not draft(storing.out, folder).exists():  # it was put in its place, and no more
        shutil.rmtree(folder)
        return opened(storing.out).array
    if saved is None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    with _disk(storing, len(made.operations)):
        slots = {int(cell): slot for cell, slot in saved["slots"].items()} if saved is not None else None
        scratch = Scratch(folder, layout.side**2 * low.storage.itemsize, slots)
        output = Output(storing.out, folder, made, low.dtype, saved is not None)
        if saved is None and storing.checkpoint is not None:  # now that there is all that it speaks of
            write_manifest(folder, {**about, "operation": 0, "slots": {}})

        def read(tile: tuple[int, int], out: np.ndarray) -> None:
            rows, columns = block(made, tile)
            elements = np.empty(out.shape, source.dtype)
            source.read(rows, columns, elements)
            out[...] = low.encode(carried_by(elements, task.S), True)

        def write(tile: tuple[int, int], elements: np.ndarray) -> None:
            found = low.decode(elements)
            if task.options.check and not low.drops_nan:
                refuse_overflow(low, found)
            output.write(tile, found)

        def commit(at: int) -> None:
            output.sync()
            scratch.commit({**about, "operation": at})

        ends = Ends(read, write, commit, storing.checkpoint) if storing.checkpoint else Ends(read, write)
        executor = Executor(made, traffic, layout.room, build_kernel(low), low.storage, scratch, ends, start)
        try:
            with told(task.options.progress, f"{task.S.name} closure") as report:
                executor.progress = report
                executor.run()
            if task.options.check and may_diverge(low):
                _settle(given, low, facts, output)
        except UndefinedStar as error:
            shutil.rmtree(folder)  # there is no closure to go on with
            raise undefined_star(task.S, None, None, error.pivot) from None
        except NoClosureError:
            shutil.rmtree(folder)
            raise
        finally:
            scratch.close()
        output.finish()
        shutil.rmtree(folder)
    return opened(storing.out).array


def unfinished(storing: Storing) -> dict[str, Any] | None:
    """What there is to go on from, if that is wanted.

    Raises
    ------
    SemiringError
        When something is there and nobody wants it.
    """
    saved = read_manifest(storing.folder)
    if saved is not None and not storing.resume:
        raise SemiringError(f"{shown(storing.folder)} holds an unfinished closure, {saved['operation']} operations of "
                            "it: pass resume=True to go on with it, or remove the folder")
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


def _facts(given: Dense, source: ArraySource) -> Facts:
    """What is known of all elements, read once, some rows at a time; refuses what is not one, with its place."""
    if "facts" in vars(given):
        return given.facts
    n = source.shape[0]
    rows = max(1, (64 << 20) // max(source.shape[1] * source.dtype.itemsize, 1))
    found = [Facts(two_valued=True)] if n == 0 else []
    for start in range(0, n, rows):
        part = slice(start, min(start + rows, n))
        elements = np.empty((part.stop - start, source.shape[1]), source.dtype)
        source.read(part, slice(0, source.shape[1]), elements)
        found.append(examine(given.S, given.dtype, ((f"{given.what}[{start}:]", carried_by(elements, given.S)),)))
    return together(found)


def _layout(n: int, low: Lowering, storing: Storing, tile: int | None) -> Layout:
    """The largest tiles of which enough fit in memory.

    Raises
    ------
    SemiringError
        When there is too little.
    """
    free = available_bytes()
    memory = storing.memory or (free // 2 if free is not None else 1 << 30)
    item = low.storage.itemsize
    sides = (tile,) if tile is not None else [side for side in SIDES if side < n] or [max(n, 1)]
    fitting = next((side for side in sides if side**2 * item * TILES <= memory), sides[-1])
    fit = memory // (fitting**2 * item)
    if fit < LEAST:
        raise SemiringError(f"memory={in_words(memory)} holds {fit} tiles of {fitting} × {fitting}: at least "
                            f"{in_words(LEAST * fitting**2 * item)} are needed")
    count = -(-n // fitting)
    return Layout(n, fitting, max(3, min(fit - AHEAD, 2 * count * count)))


def fingerprint(low: Lowering) -> str:
    """What tells an algebra in the form in which it is computed from all others."""
    return hashlib.sha256(repr((low.name, str(low.storage), low.key)).encode()).hexdigest()[:32]


@contextmanager
def _disk(storing: Storing, operations: int) -> Iterator[None]:
    """A full disk is told of with what is kept.

    Raises
    ------
    SemiringError
    """
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        saved = read_manifest(storing.folder)
        kept = "nothing is kept, since there was no checkpoint" if saved is None else (
            f"{saved['operation']} of {operations} operations are kept: make room, and pass resume=True")
        raise SemiringError(f"{shown(storing.folder)}: the disk is full; {kept}") from None


def _settle(given: Dense, low: Lowering, facts: Facts, output: Output) -> None:
    """Whether the diagonal shows an improving cycle; where only rounding made one look so, it becomes 1.

    Raises
    ------
    NoClosureError
    """
    diagonal = low.encode(carried_by(output.diagonal(), given.S), True)
    improved = np.flatnonzero(low.add_one(diagonal) != low.unit)
    if not improved.size:
        return
    slack = is_slack(low, diagonal[improved], facts, len(diagonal))
    if not slack.all():
        vertex = int(improved[~slack][0])
        doubt = "sr.closure_rows from that vertex tells one from the other" if low.storage.kind == "f" else ""
        raise improving(given.S, None, vertex, None, None, None, doubt=doubt)
    output.write_diagonal(improved, given.S.one_in(low.dtype))
