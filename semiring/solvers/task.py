"""A task, and computing it by the first way that does not decline.

    a verb and its operands → Task → compute(task): the first way that does not decline → Plan.run() → the answer

`semiring.solvers.options` has the table of options, `semiring.solvers.ways` that of ways. What `semiring.plan` prints
is the plan that would run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from math import inf, prod
from typing import Any

import numpy as np

from semiring.algebra.dtypes import refuse_sums
from semiring.algebra.lexicographic import in_order
from semiring.algebra.operations import BITWISE
from semiring.algebra.semiring import Semiring
from semiring.algorithms.blocks import UndefinedStar
from semiring.errors import LawError, NoClosureError, SemiringError
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.machine.memory import require
from semiring.operands.align import aligned, in_one_order
from semiring.operands.convert import as_bits, as_dense, of_floats
from semiring.operands.devices import LEAST_WORK, exceeds_gpu
from semiring.operands.operand import Operand
from semiring.operands.place import place
from semiring.operands.read import operand as as_operand
from semiring.operands.sparse import Sparse

from .forms import restored
from .options import READ, Options
from .plan import Plan
from .refusals import star_undefined
from .ways import TO_GPU, offer_of, taking, ways_of

MEETS_CYCLES = ("closure", "factor", "solve", "closure_rows", "path", "paths", "nearest")  # verbs
BY_FACTORS = ("path", "closure_rows")  # verbs that take factors for their matrix
UNCHECKED_BYTES = 1 << 26  # larger allocations are checked against free memory
NAMES = ("A", "B", "accumulate")  # of operands, in messages


def options(**given: Any) -> Options:
    """Return checked options; equal ones are the same object.

    Raises
    ------
    SemiringError
        For a value that an option cannot have.

    Examples
    --------
    >>> options(device="cuda").device
    'gpu'
    """
    # Functions, orders, masks and connections are not cached: they would outlive the call.
    lives = given.get("on") is not None or given.get("mask") is not None
    if not (lives or callable(given.get("progress"))) and isinstance(given.get("order", ""), str):
        try:
            return _earlier(**given)
        except (TypeError, ValueError):  # a value cannot be hashed: the error names its option
            pass
    return _read(given)


@lru_cache(256, typed=True)
def _earlier(**given: Any) -> Options:
    return _read(given)


def _read(given: dict[str, Any]) -> Options:
    return Options(**{name: READ[name](x) if name in READ and x is not None else x for name, x in given.items()})


class Declined(Exception):
    """A running solver leaves the task to the next one: a guess was wrong, or it needs more bits or another order."""


class Task:
    """A verb, an algebra, operands and options.

    Parameters
    ----------
    verb : str
        That has rows in `semiring.solvers.ways.WAYS`.
    S : Semiring, str or None
        None: that of an operand, a `Matrix` or one that was prepared.
    given : sequence
        The operands as the caller passed them: anything that `semiring.operands.read.read` takes, or operands.
    options : Options
    arguments : tuple
        Further arguments of the verb: `out`, sources and targets, or an exponent.

    Attributes
    ----------
    given : list of Operand
        As the caller passed them.
    operands : list of Operand
        The same on the device where they are computed on.
    kind : str
    asked : frozenset of str
        The operands and the options for which `semiring.solvers.ways` has ways.
    finish : callable, optional
        Makes the answer of a verb of `semiring.api` from the task and what a solver found; None for a solver's own
        tasks.
    observers : list of callable
        Called with the plan that succeeded.
    strict : bool
        Whether an improving cycle is an error even if a star sums its walks, as for values from which trees are made.

    Raises
    ------
    LawError
        For an algebra that was declared with ``product_only=True``, unless the verb is "matmul".
    SemiringError
        For an unknown algebra, or none, what is not a matrix over it, or a GPU that does not exist.
    GraphError
        When the vertices of two operands have names, and not the same ones.
    """

    __slots__ = ("S", "arguments", "asked", "finish", "given", "kind", "observers", "operands", "options", "strict",
                 "verb")

    def __init__(
        self, verb: str, S: Semiring | str | None, given: Sequence[Any], options: Options,
        arguments: tuple[Any, ...] = (),
    ):
        S = algebra_for(verb, given, S)
        self._ask(verb, S, options, arguments)
        if self.asked:  # before anything is read
            ways_of(verb, "dense", self.asked)
        self._place(self._read(given))

    @classmethod
    def within(
        cls, verb: str, given: Operand, options: Options, arguments: tuple[Any, ...] = (), strict: bool = False,
        beside: Sequence[Operand] = (),
    ) -> Task:
        """Make a task of a solver on operands that were read and examined before."""
        made = cls.__new__(cls)
        made._ask(verb, given.S, options, arguments)
        made.strict = strict
        made._place([given, *beside])
        return made

    def _ask(self, verb: str, S: Semiring, options: Options, arguments: tuple[Any, ...]) -> None:
        """Set everything but the operands."""
        self.verb, self.S, self.options, self.strict = verb, S, options, False
        # Iterators are read now: offers, plans and the matrices of a stack need their elements more than once.
        self.arguments: tuple[Any, ...] = tuple([list(x) if hasattr(x, "__next__") else x for x in arguments])
        self.asked: frozenset[str] = options.asked
        if verb == "paths" and arguments and arguments[0] is not None:
            self.asked |= {"sources"}
        self.observers: list[Callable[[Plan], None]] = []
        self.finish: Callable[[Task, Any], Any] | None = None

    def _read(self, given: Sequence[Any]) -> list[Operand]:
        """Read the operands, and align their vertices."""
        verb, S, options = self.verb, self.S, self.options
        reader = as_bits if options.packed else as_operand
        operands: list[Operand] = []
        packed = False
        first: Operand | None = None  # of those over vertices
        labelled = False
        for what, A in zip(NAMES, given, strict=False):
            if verb == "solve" and what == "B":
                A = restored(A, operands[0], options.left)
            if what == "B" and verb == "matmul" and A is given[0] and isinstance(operands[0], Sparse):
                _ = operands[0].rows  # inspected once for both
                operand: Operand = operands[0].changed(what=what)
            else:
                operand = reader(A, S, what)
            if operand.of_graph:
                first = operand if first is None else first
                operand = aligned(operand, first, what)
            if what == "accumulate" and operand.kind == "sparse" and not packed:
                operand = as_dense(operand)  # the answer is, and the factors decide how it is computed
            if operand.factors is not None and verb not in BY_FACTORS:
                raise SemiringError(f"{what} holds factors of a matrix: call their own methods, F.solve(B), "
                                    f"F.closure() or F.rows(…), or pass the matrix to {verb}")
            labelled |= operand.labels is not None
            operands.append(operand)
            packed |= operand.kind == "packed"
        if len(operands) > 1 and operands[0].dtype != operands[1].dtype and (
            {A.dtype for A in operands if not A.of_graph} == {np.dtype(np.float64)}
        ):
            operands = [of_floats(A) for A in operands]
        if labelled:
            operands = in_one_order(operands, verb == "matmul", options.left, keep=verb == "factor")
        if verb != "matmul" or (options.check and packed):  # sparse products look when it suits them
            for operand in operands:
                if not operand.examined:
                    operand.look()
        if verb == "solve":  # the answer is of B's kind, in A's byte order
            operands[1] = operands[1].answering_in(operands[0].callers_dtype)
        return operands

    def _place(self, operands: list[Operand]) -> None:
        """Choose the device and the kind of operands, which decides the ways."""
        verb, options = self.verb, self.options
        self.given = self.operands = operands
        kinds, on_gpu = {operand.kind for operand in operands}, any(operand.on_gpu for operand in operands)
        device, to_gpu = options.device, False
        work = 0.0  # multiply-adds, for verbs that may take the host's arrays to a GPU
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
        stays |= verb in ("closure_rows", "path", "paths", "nearest", "cycle_mean")
        stays |= options.storing is not None or options.devices is not None or options.gpu_memory is not None
        stays |= options.mask is not None
        stays |= verb == "matmul" and "sparse" in kinds and "packed" not in kinds
        if not stays and operands[0].kind == "sparse" and device != "cpu" and not options.packed:
            to_gpu = stays = bool(taking(verb, TO_GPU, self.asked))
        if not stays and verb == "closure" and len(shape) == 2 and kinds == {"dense"} and not options.packed:
            in_parts = self.asked | {"gpu_memory"}
            if taking(verb, "dense", in_parts) and exceeds_gpu(operands[0], device):
                stays, self.asked = True, in_parts
        if not stays:
            self.operands = place(operands, device, work)
            kinds = {operand.kind for operand in self.operands}
        on_gpu = to_gpu or device == "gpu" or options.devices is not None or options.gpu_memory is not None
        if verb != "matmul" and any((on_gpu or X.on_gpu) and X.dtype.kind == "c" for X in self.operands):
            raise SemiringError(f"{self.S.name}: in {verb} complex numbers are computed on the CPU only; use "
                                "device='cpu'")
        if to_gpu:
            self.kind = TO_GPU
        elif len(kinds) == 1:
            (self.kind,) = kinds
        else:
            self.kind = next(k for k in ("packed", "sparse", "device", "dense") if k in kinds)

    @property
    def names(self) -> Any:
        """The names of the vertices."""
        return self.operands[0].names

    def answer(self) -> Any:
        """Compute the answer of the verb."""
        return compute(self)

    def plan(self) -> Plan:
        """Return the plan that would run first."""
        return first_offer(self)


@dataclass(frozen=True, eq=False)
class SpreadTask:
    """A closure that several processes compute together; each process has such a task.

    Attributes
    ----------
    A : matrix, or the part of one that this process has
    S : Semiring, str or None
    options : Options
        With `on`.
    """

    A: Any
    S: Semiring | str | None
    options: Options

    @property
    def module(self) -> Any:
        """The solver for such processes."""
        kind = self.options.on.kind  # type: ignore[union-attr]
        return import_module(f"semiring.solvers.{ways_of('closure', kind, frozenset({'on'}))[0].module}")

    def answer(self) -> Any:
        """The closure, or this process's part of it."""
        return self.module.closure(self.options.on, self.A, self.S, self.options)

    def plan(self) -> Plan:
        """What would be done, the same on every process."""
        planned: Plan = self.module.plan(self.options.on, self.A, self.S, self.options)
        return planned


def algebra_for(verb: str, given: Sequence[Any], S: Semiring | str | None) -> Semiring:
    """Return the algebra that the caller passed, or that of an operand.

    Raises
    ------
    LawError
        If it has products only, and the verb needs more.
    SemiringError
        If there is none, or it is unknown.
    """
    if not isinstance(S, Semiring):
        S = own_algebra(verb, given) if S is None else in_order(S)
    if S.product_only:  # a semiring has all that is needed
        if verb != "matmul" and not (S.stages and verb == "paths"):
            refuse_closures(S, verb)
        refuse_sums(S, of_any=len(given) > 2)  # with accumulate
    return S


def own_algebra(verb: str, given: Sequence[Any]) -> Semiring:
    """Return the algebra of the first operand that has one.

    Raises
    ------
    SemiringError
        If no operand has one.
    """
    for A in given:
        if isinstance(A, Operand):
            return A.S
        if isinstance(S := getattr(A, "semiring", None), Semiring):  # of a Matrix, or of factors
            return S
    kinds = " and ".join(type(A).__name__ for A in given)
    usual = "sr.boolean" if any(isinstance(A, PackedMatrix) for A in given) else "sr.min_plus"
    raise SemiringError(f"{verb} of {kinds} needs an algebra, which only a Matrix has: give one as S, such as {usual}")


def refuse_closures(S: Semiring, verb: str = "closure") -> None:
    """Refuse an algebra that has products only; its powers may depend on the parentheses."""
    broken = S._law_report.failures
    why = broken[0] if broken else "it was declared with product_only=True"
    stages = "; sr.paths(A, (first, second)) finds best paths in two stages" if S.stages else ""
    chains = "; sr.chain([A] * k, S) is a product of k factors, from the left" if verb == "power" else ""
    raise LawError(f"{S.name} is not a semiring, so it has products but no closure: {why}{stages or chains}",
                   failures=broken)


def first_offer(task: Task) -> Plan:
    """Return the plan that a task begins with; running it does all that the verb does.

    If the plan declines, the next one runs. It may run later and more than once; code that was compiled in between does
    not change it.
    """
    ways, begin = ways_of(task.verb, task.kind, task.asked), 0
    while (made := offer_of(ways[begin].module)(task)) is None:
        begin += 1
    return replace(made, runner=lambda _: compute(task, begin, made))


def compute(task: Task, begin: int = 0, made: Plan | None = None) -> Any:
    """Compute the answer to a task; every verb ends here. The way with number `begin` may have `made` its plan."""
    answer = _summed(task, begin, made)
    return answer if task.finish is None else task.finish(task, answer)


def _summed(task: Task, begin: int, made: Plan | None) -> Any:
    """Compute the answer before `finish`, also if only a star sums the walks round a cycle."""
    S = task.S
    if task.strict or not (S.completed or S.sums_powers) or task.verb not in MEETS_CYCLES:
        return _computed(task, begin, made)
    if S.completed is not None and _completed().needs_stars_at_once(task):
        return _completed().by_stars(task, None)
    given: Any = task.given[0]
    array: Any = given.array if task.options.overwrite and given.kind in ("dense", "device") else None
    again = array is not None and (S.completed is not None or array.shape[-1] <= _completed().SUMMED_VERTICES)
    kept = array.copy() if again else None
    try:
        return _computed(task, begin, made)
    except NoClosureError as e:
        if kept is not None and getattr(array.flags, "writeable", True):
            array[...] = kept
        return (_completed().by_powers if S.completed is None else _completed().by_stars)(task, e)


def _completed() -> Any:
    return import_module("semiring.solvers.dense.completed")


def _computed(task: Task, begin: int, made: Plan | None) -> Any:
    """Return the answer of the first solver that does not decline."""
    refused: Exception | None = None
    for i, way in enumerate(ways_of(task.verb, task.kind, task.asked)):
        if i < begin:
            continue
        plan = made if i == begin and made is not None else offer_of(way.module)(task)
        if plan is None:
            continue
        if plan.memory > UNCHECKED_BYTES:
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
                f"{task.S.name}: an integer that is too large for a float was combined with a float ({e}); make the "
                "elements fractions.Fraction, which are exact at any size"
            ) from e
        except TypeError as e:
            of_bits = task.S.traced is not None and task.S.traced.add.operations() & BITWISE
            of_objects = any(A.dtype.kind == "O" for A in task.operands)
            if not (of_bits and of_objects) or inf not in (task.S.zero, task.S.one):
                raise
            raise SemiringError(
                f"{task.S.name}: ∞ stands for the limit of a dtype, and Python's integers have none ({e}); pass an "
                "array of integers of a fixed size, such as .astype(np.uint64)"
            ) from e
    assert refused is not None
    raise refused
