"""The closure of a matrix by tasks of Ray's: the recorded program, tile by tile, on whatever workers there are."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.algorithms.blocks import UndefinedStar
from semiring.errors import NoClosureError, SemiringError
from semiring.kernels.build import affordable
from semiring.kernels.build import kernel as build_kernel
from semiring.kernels.choose import choose
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.machine.memory import require
from semiring.operands.convert import as_dense
from semiring.operands.dense import Dense
from semiring.operands.operand import order_of_one
from semiring.operands.read import operand
from semiring.scale.connection import Ray
from semiring.scale.program import program
from semiring.scale.stores import block
from semiring.scale.tasks import Work, carry_out, done

from . import fields
from .cycles import look_for_cycles, may_diverge, settle, star_undefined
from .forms import leave_out_empty_walks, refuse_overflow, told
from .methods import SCHEDULES, resolve_method
from .out_of_core import METHODS
from .plan import Plan, nothing
from .processes import using
from .schedules import stable_closure
from .task import Options, algebra_for
from .tolerance import loosened, refuse_without_tolerance, weights_as_given
from .ways import ways_of

SIDE = 1024  # of tiles: a task takes a millisecond beside its products
LEAST_SIDE = 64
ROUNDS = 8  # tiles in a row, below which workers wait for each other
EVERYTHING = 1 << 40  # cells that "fit in memory": those of the store do


def closure(connection: Ray, A: Any, S: Any, asked: Options) -> Any:
    """The closure by the workers of a cluster; called by the one process that has the matrix."""
    S = algebra_for("closure", (A,), S)
    method = _refuse(S, asked)
    given = as_dense(operand(A, S, "A"))
    if given.kind == "device":
        raise SemiringError("on= computes on the workers' CPUs, and A is on a GPU: pass A.get()")
    if asked.tol is not None:
        refuse_without_tolerance(S, given.dtype)
    try:
        return _within_tolerance(connection, given, method, asked)
    except NoClosureError:
        if S.completed is None:
            raise
        return _closed(connection, given.changed(S=S.completed), method, asked)


def _within_tolerance(connection: Ray, given: Dense, method: str, asked: Options) -> Any:
    """The closure, or where a cycle improves that of edges that are worse by a tolerance."""
    try:
        return _closed(connection, given, method, asked)
    except NoClosureError:
        if asked.tol is None:
            raise
        worse = loosened(given, float(asked.tol))
        assert isinstance(worse, Dense)
        with weights_as_given(given, float(asked.tol)):
            return _closed(connection, worse, method, asked)


def _closed(connection: Ray, given: Dense, method: str, asked: Options) -> Any:
    """The closure of a matrix on the host."""
    S = given.S
    n, facts = order_of_one(given.shape), given.facts
    low = choose(S, given.dtype, facts, n, in_place=False, packed=False)
    if low.kind != "numba":
        raise SemiringError(f"{S.name}: these {given.dtype} are computed on as {low.name}, which workers do not send "
                            "each other: leave out on=")
    low = affordable(low, n, float(n) ** 3)
    require(2 * low.matrix_bytes(n), "the tiles in Ray's store, and the answer,", "use sr.connect('mpi')")
    side = asked.tile or max(LEAST_SIDE, min(SIDE, n // ROUNDS // 16 * 16))
    made = program(SCHEDULES[method], n, side, EVERYTHING)
    ray, form = connection.ray, (S, given.dtype, facts, n, low.compiled)
    task = ray.remote(num_cpus=1, max_retries=3)(_task)
    about, stored = ray.put(form), {}
    for i in range(made.count):
        for j in range(made.count):
            part = given.array[block(made, (i, j))]
            stored[i, j] = ray.put(low.encode(np.ascontiguousarray(part), True))
    found = carry_out(made, stored, lambda work, target, factors: task.remote(about, work, side, target, *factors))
    del stored
    work = np.empty((n, n), low.storage)
    with told(asked.progress, f"{S.name} closure") as report:
        try:
            for at, (tile, held) in enumerate(found.items()):
                work[block(made, tile)] = ray.get(held)
                report((at + 1) / len(found))
        except ray.exceptions.RayTaskError as error:
            cause = error.cause
            if not isinstance(cause, UndefinedStar):
                raise
            if not fields.is_for_lapack(low):
                raise star_undefined(given, cause, gone=False) from None
            work[...] = np.zeros((), low.storage)  # rows have to be exchanged
    if fields.is_for_lapack(low):
        work = fields.mended(given, low, work, np.ones((), bool), None)
    elif low.log_sum:
        work = fields.endless(low, work)
    if asked.check and may_diverge(low):
        verdict = look_for_cycles(low, work, given.array, facts, given.names)
        if verdict.unstable and verdict.error is None:
            plan = Plan(
                operation="closure", algebra=S, shape=given.shape, method="squaring", lowering=low,
                work=float(n) ** 3, memory=0, runner=nothing,
            )
            work = stable_closure(plan, given.array, None, facts, given.names)
        else:
            settle(low, work, verdict)
    result = low.decode(work)
    if asked.check and not low.drops_nan:
        refuse_overflow(low, result)
    if not asked.reflexive:
        leave_out_empty_walks(S, given.array, result)
    return given.wrap(result)


@lru_cache(8)
def _lowering(S: Semiring, dtype: np.dtype, facts: Facts, n: int, compiled: bool) -> Lowering:
    """The form in which a worker computes: that of the process that has the matrix."""
    low = choose(S, dtype, facts, n, in_place=False, packed=False)
    return low.in_machine_code if compiled else low.interpreted


def _task(form: Any, work: Work, side: int, target: np.ndarray, *factors: np.ndarray) -> np.ndarray:
    """A tile, by a worker, on one processor."""
    low = _lowering(*form)
    kernel = build_kernel(low)
    with using(kernel, low, 1):
        return done(work, side, kernel, target, list(factors))


def plan(connection: Ray, A: Any, S: Any, asked: Options) -> NoReturn:
    """There is none.

    Raises
    ------
    SemiringError
    """
    raise SemiringError("a plan with on= is of sr.connect('mpi'): Ray gives tiles to whichever worker is free, so that "
                        "what moves is not known before")


def _refuse(S: Semiring, o: Options) -> str:
    """What closures by tasks do not have; the schedule."""
    if S.traced is None:
        raise SemiringError(f"{S.name}: its elements are Python objects, which workers do not send each other here: "
                            "leave out on=")
    method = resolve_method(o.method, S)
    method = "r-kleene" if method == "auto" else method
    if method not in METHODS:
        raise SemiringError(f"on= goes by {', '.join(METHODS)} with Ray, and not by method={o.method!r}")
    ways_of("closure", "ray", o.asked)
    if o.device not in (None, "cpu"):
        raise SemiringError("Ray's workers compute on their CPUs, and device= asks for a GPU: leave that out, or take "
                            "sr.connect('mpi'), with which each process has a GPU")
    return method
