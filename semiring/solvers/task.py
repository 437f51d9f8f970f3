"""A task, the offers to compute it, and computing it by the first offer that does not decline.

    a verb and its operands → Task → compute(task): the first offer that does not decline → Plan.run() → the answer

A solver is a module of this folder with a function `offer(task)`, which returns a `Plan` or None; the rows of `SOLVERS`
say which are asked, and in which order. What `semiring.plan` prints is the plan that would run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, fields
from functools import cache, cached_property, lru_cache
from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from semiring.algebra.arguments import whole_number
from semiring.algebra.lexicographic import in_order
from semiring.algebra.semiring import Semiring
from semiring.algorithms.blocks import UndefinedStar
from semiring.algorithms.sparse.analysis import Analysis
from semiring.errors import LawError, NoClosureError, SemiringError
from semiring.graphs.texts import clip_repr
from semiring.machine.memory import require
from semiring.operands.align import aligned, by_label
from semiring.operands.convert import as_bits, as_dense
from semiring.operands.devices import LEAST_WORK, device_numbers, exceeds_gpu
from semiring.operands.operand import Operand
from semiring.operands.place import place
from semiring.operands.read import operand as as_operand
from semiring.operands.read import refuse_edges
from semiring.scale.storing import Storing

from .cycles import star_undefined
from .forms import restored
from .plan import Plan

MEETS_CYCLES = ("closure", "factor", "solve", "rows", "path", "paths", "nearest")  # verbs
LARGE = 1 << 26  # bytes; larger allocations are checked against free memory
DEVICES = ("cpu", "gpu", "cuda")  # of which the last two are one
WHEN_DIVERGENT = ("raise", "mask")
ORDERS = ("auto", "amd", "levels", "metis", "natural")
NAMES = ("A", "B", "accumulate")  # of operands, in messages

# For each verb and kind of operand the solvers that are asked, one module each. A matrix by its entries, or packed,
# decides where operands are of several kinds.
SOLVERS: dict[str, dict[str, tuple[str, ...]]] = {
    "closure": {
        "dense": ("schedules",),
        "device": ("speculation", "sixteen_bits", "schedules"),
        "sparse": ("components", "elimination", "searches", "schedules"),
        "packed": ("schedules",),
    },
    "matmul": {
        "dense": ("products",),
        "device": ("speculation", "sixteen_bits", "products"),
        "sparse": ("sparse_products",),
        "packed": ("products",),
    },
    "factor": {
        "dense": ("stacks", "factors"),
        "device": ("stacks", "factors"),
        "sparse": ("elimination",),
        "packed": ("factors",),
    },
    "solve": {
        "dense": ("stacks", "factors"),
        "device": ("stacks", "factors"),
        "sparse": ("acyclic", "superlu", "elimination", "factors"),
        "packed": ("factors",),
    },
    "rows": {
        "dense": ("factored", "search"),
        "device": ("factored", "search"),
        "sparse": ("factored", "acyclic", "search"),
        "packed": ("factored", "search"),
    },
    "path": dict.fromkeys(("dense", "device", "sparse", "packed"), ("factored", "one_path")),
    "paths": {
        "dense": ("stages", "paths"),
        "device": ("stages", "paths"),
        "sparse": ("stages", "fewest_edges", "paths"),
        "packed": ("stages", "paths"),
    },
    "nearest": dict.fromkeys(("dense", "device", "sparse", "packed"), ("nearest",)),
    "power": dict.fromkeys(("dense", "device", "sparse", "packed"), ("powers",)),
    "cycle_mean": dict.fromkeys(("dense", "device", "sparse", "packed"), ("cycle_means",)),
    # Of matrices by their entries that are on a GPU, or are to be computed there.
    **{f"{verb}, sparse on gpu": {"sparse": ("elimination", "placed")} for verb in ("closure", "factor", "solve")},
    # Of verbs with an option that asks for something else.
    "closure, mask": dict.fromkeys(("dense", "device", "sparse", "packed"), ("existence",)),
    "closure, out": dict.fromkeys(("dense", "device", "sparse", "packed"), ("out_of_core",)),
    "closure, devices": {
        "dense": ("several_gpus", "schedules"),
        "device": ("several_gpus", "schedules"),
        "sparse": ("elimination", "several_gpus", "schedules"),
        "packed": ("several_gpus", "schedules"),
    },
    "factor, devices": dict.fromkeys(("dense", "device", "sparse", "packed"), ("elimination",)),
    "closure, memory": dict.fromkeys(("dense", "device", "sparse", "packed"), ("through_gpu", "schedules")),
    "paths, out": dict.fromkeys(("dense", "device", "sparse", "packed"), ("stored_paths",)),
    "closure, max_edges": dict.fromkeys(("dense", "device", "sparse", "packed"), ("powers",)),
    "matmul, argmax": dict.fromkeys(("dense", "device", "sparse", "packed"), ("argmax",)),
    "solve, left": dict.fromkeys(("dense", "device", "sparse", "packed"), ("left",)),
}

SOLVERS |= {f"{verb}, tol": dict.fromkeys(("dense", "device", "sparse", "packed"), ("tolerance",))
            for verb in ("closure", "factor", "solve", "rows", "path", "paths")}
SOLVERS["paths, sources"] = SOLVERS["paths"]

# The options that the solvers of each row honour. A task that asks for another one is refused: none is ever dropped.
HONOURED: dict[str, str] = {
    "closure": "method reflexive overwrite device tile check packed progress",
    "closure, tol": "tol method reflexive overwrite device tile packed progress on_divergence devices gpu_memory",
    "closure, mask": "on_divergence method reflexive overwrite device tile packed progress max_edges",
    "closure, max_edges": "max_edges reflexive overwrite device check packed progress",
    "closure, devices": "devices method reflexive device tile check packed progress on_divergence",
    "closure, memory": "gpu_memory method reflexive overwrite device tile check progress",
    "closure, out": "storing method reflexive device tile check progress tol",
    "closure, on mpi": "method reflexive device tile check progress tol storing",
    "closure, on ray": "method reflexive device tile check progress tol",
    "matmul": "device check",
    "matmul, argmax": "argmax device check",
    "factor": "device check order progress",
    "factor, tol": "tol device order progress devices",
    "factor, devices": "devices device check order progress",
    "solve": "device check progress",
    "solve, left": "left device check progress",
    "solve, tol": "tol left device progress",
    "rows": "device predecessors progress",
    "rows, tol": "tol device predecessors",
    "path": "",
    "path, tol": "tol",
    "paths": "method device progress",
    "paths, sources": "device progress",
    "paths, tol": "tol method device progress",
    "paths, out": "storing method device progress tol",
    "nearest": "",
    "power": "device check",
    "cycle_mean": "",
}
# Why a row has no more of them, and what to do.
ELEMENTS = "it gives the closure, of elements, or an error: leave out packed, overwrite, max_edges and on_divergence"
WHY = {
    "closure, max_edges": "method and tile are for closures; walks of at most max_edges edges are found by products",
    "closure, devices": "it gives the closure in memory: leave out out, overwrite and max_edges, and memory",
    "closure, memory": "it gives the closure, of elements, or an error: leave out packed, max_edges and on_divergence",
    "closure, out": ELEMENTS,
    "closure, on mpi": f"{ELEMENTS}; devices= are the GPUs of one process, which memory= is of, too",
    "closure, on ray": f"{ELEMENTS}; Ray's tiles are in its store, and the answer comes back as an array",
}
SPELT = {"storing": "out", "gpu_memory": "memory", "mask": "on_divergence"}  # as callers know them


@dataclass(frozen=True, eq=False)
class GivenOrder:
    """An order of elimination that the caller has.

    Attributes
    ----------
    vertices : sequence of vertices
        By name where the matrix has names, else by position; the first is eliminated first.
    """

    vertices: Sequence[Any] | np.ndarray


@dataclass(frozen=True)
class Options:
    """What a caller may ask for; each verb documents those that it has."""

    method: str = "auto"
    reflexive: bool = True
    overwrite: bool = False
    device: str | None = None
    tile: int | None = None
    check: bool = True
    packed: bool = False
    progress: bool | Callable[[float], None] = False
    order: str | GivenOrder | Analysis = "auto"
    predecessors: bool = False
    max_edges: int | None = None
    left: bool = False
    on_divergence: str = "raise"
    argmax: bool = False
    tol: float | None = None
    storing: Storing | None = None
    devices: tuple[int, ...] | None = None
    gpu_memory: int | None = None  # bytes

    def __post_init__(self) -> None:
        if not isinstance(self.method, str):
            raise SemiringError(f"method must be the name of one, such as 'auto', and is {clip_repr(self.method)}")
        if self.device is not None and not (isinstance(self.device, str) and self.device in DEVICES):
            raise SemiringError(
                f"unknown device {clip_repr(self.device)}: it is 'cpu', 'gpu', or None for the best of them"
            )
        order: Any = self.order
        if isinstance(order, GivenOrder):
            order, known = order.vertices, not isinstance(order.vertices, np.ndarray) or order.vertices.ndim == 1
        else:
            known = isinstance(order, Analysis) or (isinstance(order, str) and order in ORDERS)
        if not known:
            raise SemiringError("order must be 'auto', 'amd', 'levels', 'metis' or 'natural', or a list or an array of "
                                f"all vertices, and is {clip_repr(order)}")
        if not isinstance(self.on_divergence, str) or self.on_divergence not in WHEN_DIVERGENT:
            raise SemiringError(f"on_divergence must be 'raise' or 'mask', and is {clip_repr(self.on_divergence)}")
        tol: Any = self.tol
        number = isinstance(tol, (int, float, np.integer, np.floating)) and not isinstance(tol, bool)
        if tol is not None and not (number and 0 <= tol < np.inf):
            raise SemiringError(f"tol must be a number, 0 or more, and is {clip_repr(tol)}")
        tile = self.tile
        if tile is not None and (not isinstance(tile, (int, np.integer)) or isinstance(tile, bool) or tile < 1):
            raise SemiringError(f"tile must be a positive whole number, and is {clip_repr(tile)}")
        if self.progress is not False and self.progress is not True and not callable(self.progress):
            raise SemiringError(f"progress must be True, False or a function of a number, and is "
                                f"{clip_repr(self.progress)}")
        if self.max_edges is not None:
            whole_number(self.max_edges, "max_edges", 0)
        for name in ("reflexive", "overwrite", "check", "packed", "predecessors", "left", "argmax"):
            value = getattr(self, name)
            if value is not True and value is not False and not isinstance(value, (np.bool_, int)):
                raise SemiringError(f"{name} must be True or False, and is {clip_repr(value)}")

    @cached_property
    def asked(self) -> frozenset[str]:
        """The names of those that are not left as they are."""
        return frozenset(f.name for f in fields(self) if getattr(self, f.name) != f.default)

    @property
    def usual(self) -> bool:
        """Whether all is left as it is, but for the device."""
        return self.asked <= {"device"}


DEFAULTS = Options()


@lru_cache(256, typed=True)
def _options(*given: Any) -> Options:
    return Options(*given)


def options(
    method: str = "auto", reflexive: bool = True, overwrite: bool = False, device: str | None = None,
    tile: int | None = None, check: bool = True, packed: bool = False,
    progress: bool | Callable[[float], None] = False, order: Any = "auto", predecessors: bool = False,
    max_edges: int | None = None, left: bool = False, on_divergence: str = "raise", argmax: bool = False,
    tol: float | None = None, storing: Storing | None = None, devices: Any = None,
    gpu_memory: int | None = None,
) -> Options:
    """Checked options; those of an earlier call again."""
    if isinstance(device, str) and device == "cuda":
        device = "gpu"
    if isinstance(order, (list, tuple, range, np.ndarray)):
        order = GivenOrder(order)
    given = (method, reflexive, overwrite, device, tile, check, packed, progress, order, predecessors, max_edges,
             left, on_divergence, argmax, tol, storing,
             None if devices is None else device_numbers(devices), gpu_memory)
    if callable(progress) or isinstance(order, (GivenOrder, Analysis)):  # which nobody holds longer than the call
        return Options(*given)
    try:
        return _options(*given)
    except TypeError:  # what cannot be hashed is not an option, and is refused by name
        return Options(*given)


def honoured(verb: str) -> list[str]:
    """The options that some row of a verb honours."""
    known = {name for row, names in HONOURED.items() if row.partition(", ")[0] == verb for name in names.split()}
    return [f.name for f in fields(Options) if f.name in known]


# What a verb needs for a plan besides options, and of that what it can do without.
NEEDS = {"matmul": ["B"], "solve": ["B"], "rows": ["sources", "targets", "limit"], "path": ["sources"],
         "paths": ["sources", "targets", "limit"], "nearest": ["sources"], "power": ["k"]}
CAN_LACK = {("paths", "sources"), ("paths", "targets"), ("paths", "limit"), ("rows", "targets"), ("rows", "limit")}
WITHIN = {("rows", "progress")}  # which only other verbs ask for
# What each verb has of the options that a plan depends on, and what it needs besides.
TAKES = {
    verb: " ".join([*(name for name in honoured(verb) if name not in (*SPELT, "progress")), *NEEDS.get(verb, [])])
    for verb in HONOURED if ", " not in verb
}
BY_FACTORS = {"path", "rows"}  # verbs that take factors for their matrix


def refuse_what_has_no_meaning(
    verb: str, given: dict[str, Any], B: Any, sources: Any, k: Any = None, targets: Any = None, limit: Any = None
) -> None:
    """An option that a verb does not have, or what it lacks, is named."""
    if not isinstance(verb, str) or verb not in TAKES:
        raise SemiringError(f"unknown verb {verb!r}: it is {', '.join(TAKES)}")
    takes = TAKES[verb].split()
    reports = "progress" in honoured(verb) and (verb, "progress") not in WITHIN
    for name, value in given.items():
        usual = getattr(DEFAULTS, name)
        known = name in takes or (name == "progress" and reports)
        if not known and not (isinstance(value, type(usual)) and value == usual):
            raise SemiringError(f"{verb} has no option {name!r}; it has {', '.join(takes) or 'none'}")
    for name, value in (("B", B), ("sources", sources), ("k", k), ("targets", targets), ("limit", limit)):
        if (value is not None) != (name in takes) and not (value is None and (verb, name) in CAN_LACK):
            raise SemiringError(f"a plan for {verb} {'needs' if name in takes else 'has no'} {name}")
    if verb == "path" and not (isinstance(sources, (tuple, list, np.ndarray)) and len(sources) == 2):
        raise SemiringError(f"a plan for a path needs sources=(source, target), not {sources!r}")


def row_of(verb: str, o: Options, some: bool) -> str:
    """The row of `SOLVERS` for a verb with options: those that ask for something else have one of their own.

    `some`: whether sources are given.
    """
    if not o.asked and not some:
        return verb
    if o.tol is not None and o.storing is None:  # of a task without it, wherever that runs
        row = "tol"
    elif o.devices is not None:
        row = "devices"
    elif o.storing is not None:
        row = "out"
    elif o.gpu_memory is not None:
        row = "memory"
    elif o.on_divergence == "mask":
        row = "mask"
    elif o.max_edges is not None:
        row = "max_edges"
    elif o.left:
        row = "left"
    elif o.argmax:
        row = "argmax"
    elif some and verb == "paths":
        row = "sources"
    else:
        return verb
    return f"{verb}, {row}"


def refuse_not_honoured(row: str, asked: Options) -> None:
    """Refuse an option that the solvers of a row do not honour.

    Raises
    ------
    SemiringError

    Examples
    --------
    >>> refuse_not_honoured("path, tol", Options(tol=0.5, tile=16))
    Traceback (most recent call last):
    semiring.errors.SemiringError: path with tol= has no option 'tile': leave out one of the two; it has no others
    """
    names = HONOURED[row].split()
    lacking = asked.asked.difference(names)
    if not lacking:
        return
    verb, _, way = row.partition(", ")
    spelt = [SPELT.get(name, name) for name in [*names, min(lacking, key=[f.name for f in fields(asked)].index)]]
    *others, name = spelt
    way = SPELT.get(way, way).partition(" ")[0]
    others = [other for other in others if other != way]
    if not way:
        raise SemiringError(f"{verb} has no option {name!r}; it has {', '.join(others) or 'none'}")
    why = WHY.get(row, f"leave out one of the two; it has {', '.join(others) or 'no others'}")
    raise SemiringError(f"{verb} with {way}= has no option {name!r}: {why}")


class Declined(Exception):
    """A solver found while running that another has to do it: a wrong guess, too few bits, another order needed."""


class Task:
    """A verb, an algebra, operands and options.

    Parameters
    ----------
    verb : str
        A row of `SOLVERS`.
    S : Semiring, str or None
        None: that of an operand, a `Matrix` or one that was prepared.
    given : sequence
        The operands as they came in: whatever `semiring.operands.read.read` takes, or operands.
    options : Options
    arguments : tuple
        Of the verb, besides: `out`, sources and targets, or an exponent.

    Attributes
    ----------
    given : list of Operand
        As they came in.
    operands : list of Operand
        Where they will be computed on.
    row, kind : str
        Whose solvers are asked, in `SOLVERS`: those of the verb with such options, and such operands.
    observers : list of callable
        Who wants to know which plan was run.
    strict : bool
        Whether improving cycles are refused also where a star sums them: of values from which best walks are found.

    Raises
    ------
    LawError
        For an algebra that was declared with ``product_only=True``, unless the verb is "matmul".
    SemiringError
        For an unknown algebra, or none, what is not a matrix over it, or a GPU that does not exist.
    GraphError
        When the vertices of two operands have names, and not the same ones.
    """

    __slots__ = ("S", "arguments", "given", "kind", "observers", "operands", "options", "row", "strict",
                 "verb")

    def __init__(
        self, verb: str, S: Semiring | str | None, given: Sequence[Any], options: Options,
        arguments: tuple[Any, ...] = (),
    ):
        S = algebra_for(verb, given, S)
        self.row = row_of(verb, options, bool(arguments) and arguments[0] is not None)
        if options.asked:
            refuse_not_honoured(self.row, options)
        reader = as_bits if options.packed else as_operand
        operands: list[Operand] = []
        kinds, on_gpu = set(), 0
        first: Operand | None = None  # of those whose vertices have names
        labelled = False
        for what, A in zip(NAMES, given, strict=False):
            if verb == "solve" and what == "B":
                refuse_edges(A)
                A = restored(A, operands[0])
            operand = reader(A, S, what)
            if operand.names is not None and operand.of_graph:
                first = operand if first is None else first
                operand = aligned(operand, first, what)
            if what == "accumulate" and operand.kind == "sparse" and "packed" not in kinds:
                operand = as_dense(operand)  # the answer is, and the factors decide how it is computed
            if operand.factors is not None and verb not in BY_FACTORS:
                raise SemiringError(f"{what} holds factors of a matrix: call their own methods, F.solve(B), "
                                    f"F.closure() or F.rows(…), or pass the matrix to {verb}")
            labelled |= operand.labels is not None
            operands.append(operand)
            kinds.add(operand.kind)
            on_gpu += operand.on_gpu
        graph = next((A for A in operands if A.of_graph), None) if labelled else None
        if graph is not None:
            operands = [A if A.labels is None else by_label(A, graph, A.what) for A in operands]
        if verb != "matmul" or (options.check and "packed" in kinds):  # sparse products look when it suits them
            for operand in operands:
                if not operand.examined:
                    operand.look()
        if verb == "solve":  # the answer is of B's kind, in A's byte order
            operands[1] = operands[1].answering_in(operands[0].callers_dtype)
        # What can be read once only is read now: offers, plans and the matrices of a stack ask for it again.
        self.arguments: tuple[Any, ...] = tuple(list(x) if hasattr(x, "__next__") else x for x in arguments)
        self.verb, self.S, self.options, self.strict = verb, S, options, False
        self.observers: list[Callable[[Plan], None]] = []
        self.given = self.operands = operands
        device, work = options.device, 0.0  # multiply-adds, for verbs that may take the host's arrays to a GPU
        shape = operands[0].shape
        if verb == "closure" and shape:
            work = prod(shape) * float(shape[-1])
        elif verb == "matmul":
            right = operands[1].shape
            work = float(prod(shape)) * (right[-1] if len(right) > 1 else 1) * prod(right[:-2])
        if on_gpu:
            stays = kinds == {"device"} and device != "cpu"
        else:
            stays = device == "cpu" or (device is None and (work < LEAST_WORK or kinds != {"dense"}))
        # These solvers place their operands.
        stays |= verb in ("rows", "path", "paths", "nearest", "cycle_mean")
        stays |= options.storing is not None or options.devices is not None or options.gpu_memory is not None
        stays |= verb == "matmul" and "sparse" in kinds and "packed" not in kinds
        if not stays and operands[0].kind == "sparse" and device != "cpu" and not options.packed and self.row == verb:
            stays = verb in ("closure", "factor", "solve")
            self.row = f"{verb}, sparse on gpu" if stays else verb
        if not stays and self.row == "closure" and len(shape) == 2 and kinds == {"dense"}:
            stays = not options.packed and exceeds_gpu(operands[0], device)
            self.row = "closure, memory" if stays else self.row
        if not stays:
            self.operands = place(operands, device, work)
            kinds = {operand.kind for operand in self.operands}
        if len(kinds) == 1:
            (self.kind,) = kinds
        else:
            self.kind = next(k for k in ("packed", "sparse", "device", "dense") if k in kinds)

    @property
    def names(self) -> Any:
        """Of the vertices."""
        return self.operands[0].names


def algebra_for(verb: str, given: Sequence[Any], S: Semiring | str | None) -> Semiring:
    """The algebra that a caller asks for, or that of an operand.

    Raises
    ------
    LawError
        When it has products only, and more is wanted.
    SemiringError
        When there is none, or it is unknown.
    """
    if not isinstance(S, Semiring):
        S = own_algebra(verb, given) if S is None else in_order(S)
    if S.product_only and verb != "matmul" and not (S.stages and verb == "paths"):
        refuse_closures(S)
    return S


def own_algebra(verb: str, given: Sequence[Any]) -> Semiring:
    """The algebra of the first operand that has one, where the caller gives none.

    Raises
    ------
    SemiringError
        When no operand has one.
    """
    for A in given:
        if isinstance(A, Operand):
            return A.S
        if isinstance(S := getattr(A, "semiring", None), Semiring):  # of a Matrix, or of factors
            return S
    kinds = " and ".join(type(A).__name__ for A in given)
    raise SemiringError(f"{verb} of {kinds} needs an algebra, which only a Matrix has: give one as S, such as "
                        "sr.min_plus")


def refuse_closures(S: Semiring) -> None:
    """An algebra that is good for bare products only."""
    broken = S._law_report.failures
    why = broken[0] if broken else "it was declared with product_only=True"
    stages = "; sr.paths(A, (first, second)) finds best paths in two stages" if S.stages else ""
    raise LawError(f"{S.name} is not a semiring, so it has products but no closure: {why}{stages}", failures=broken)


@cache
def solvers(row: str, kind: str) -> tuple[Callable[[Task], Plan | None], ...]:
    """The functions that make offers, best first; their modules are loaded when they are first asked."""
    return tuple(import_module(f"semiring.solvers.{name}").offer for name in SOLVERS[row][kind])


def first_offer(task: Task) -> Plan:
    """The plan that a task begins with; to run it is to do all that the verb does, and by this plan, if it can be done.

    It may run more than once, and later: what has been compiled since then, or by others, does not change it.
    """
    asked = enumerate(solvers(task.row, task.kind))
    begin, made = next((i, plan) for i, offer in asked if (plan := offer(task)) is not None)
    shown = copy(made)  # which others may change
    shown.runner = lambda _: compute(task, begin, made)
    return shown


def compute(task: Task, begin: int = 0, made: Plan | None = None) -> Any:
    """The answer to a task; every verb ends here. The solver with which to `begin` may have `made` its offer."""
    S = task.S
    if task.strict or not (S.completed or S.sums_powers) or task.verb not in MEETS_CYCLES:
        return _computed(task, begin, made)
    completed = import_module("semiring.solvers.completed")
    if S.completed is not None and completed.needs_stars_at_once(task):
        return completed.by_stars(task, None)
    given: Any = task.given[0]
    array: Any = given.array if task.options.overwrite and given.kind in ("dense", "device") else None
    again = array is not None and (S.completed is not None or array.shape[-1] <= completed.LARGEST)
    kept = array.copy() if again else None
    try:
        return _computed(task, begin, made)
    except NoClosureError as e:
        if kept is not None and getattr(array.flags, "writeable", True):
            array[...] = kept
        return completed.by_stars(task, e) if S.completed is not None else completed.by_powers(task, e)


def _computed(task: Task, begin: int, made: Plan | None) -> Any:
    """The answer of the first solver that does not decline."""
    refused: Exception | None = None
    for i, offer in enumerate(solvers(task.row, task.kind)):
        if i < begin:
            continue
        plan = made if i == begin and made is not None else offer(task)
        if plan is None:
            continue
        if plan.memory > LARGE:
            require(plan.memory, *plan.shortage, on_gpu=plan.lowering.on_gpu, devices=plan.devices)
        try:
            answer = plan.runner(plan)
            for told in task.observers:
                told(plan)
            return answer
        except Declined as e:
            refused = e.__cause__  # type: ignore[assignment]
        except UndefinedStar as e:
            raise star_undefined(task.given[0], e, gone=task.options.overwrite) from None
        except OverflowError as e:
            if not any(A.dtype.kind == "O" for A in task.operands):
                raise
            raise SemiringError(
                f"{task.S.name}: an integer of the elements, or of what came of them, is larger than every float, and "
                f"a float met it ({e}); make the elements fractions.Fraction, which are exact at any size"
            ) from e
    assert refused is not None
    raise refused
