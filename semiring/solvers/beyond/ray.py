"""The closure of a matrix by Ray tasks: the operations of a recorded program, tile by tile, on any free workers."""

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
from semiring.machine.progress import told
from semiring.operands.convert import as_dense
from semiring.operands.dense import Dense
from semiring.operands.operand import order_of_one
from semiring.operands.read import operand
from semiring.scale.connection import Ray
from semiring.scale.program import program
from semiring.scale.ranks import using
from semiring.scale.tasks import Work, carry_out, done

from ..close import Home, closed, method_among
from ..dense import fields
from ..dense.derived import refuse_without_tolerance, within_tolerance
from ..dense.schedules import SCHEDULES, resolve_method, stable_closure
from ..options import Options
from ..refusals import star_undefined
from ..task import algebra_for
from ..ways import ways_of
from .files import METHODS

SIDE = 1024  # order of a tile; a task takes a millisecond in addition to its products
SMALLEST_SIDE = 64
TILES_IN_A_ROW = 8  # with fewer tiles workers wait for each other
ALL_CELLS = 1 << 40  # more cells than any program has: all fit in the store


def closure(connection: Ray, A: Any, S: Any, asked: Options) -> Any:
    """The closure by the workers of a cluster; called by the one process that has the matrix."""
    S = algebra_for("closure", (A,), S)
    method = _refuse(S, asked)
    given = as_dense(operand(A, S, "A"))
    if given.kind == "device":
        raise SemiringError("on= computes on the workers' CPUs, and A is on a GPU: pass A.get()")
    if asked.tol is not None:
        refuse_without_tolerance(S, given.dtype)

    def close(A: Dense) -> Any:
        return closed(RayStore(connection, method, asked, A))

    try:
        return within_tolerance(close, given, asked.tol)
    except NoClosureError:
        if S.completed is None:
            raise
        return close(given.changed(S=S.completed))


class RayStore(Home):
    """A matrix whose tiles are in the object store of a Ray cluster."""

    def __init__(self, connection: Ray, method: str, asked: Options, given: Dense):
        super().__init__(given, asked.check, asked.reflexive)
        self.connection, self.method, self.asked = connection, method, asked
        n, self.facts = order_of_one(given.shape), given.facts
        self.low = choose(given.S, given.dtype, self.facts, n, in_place=False, packed=False)
        if self.low.kind != "numba":
            raise SemiringError(f"{given.S.name}: these {given.dtype} are computed on as {self.low.name}, which "
                                "workers cannot send to each other: leave out on=")
        self.low = affordable(self.low, n, float(n) ** 3)
        require(2 * self.low.matrix_bytes(n), "the tiles in Ray's store, and the answer,", "use sr.connect('mpi')")

    def close(self) -> None:
        given, low, ray, n = self.given, self.low, self.connection.ray, self.given.shape[0]
        side = self.asked.tile or max(SMALLEST_SIDE, min(SIDE, n // TILES_IN_A_ROW // 16 * 16))
        made = program(SCHEDULES[self.method], n, side, ALL_CELLS)
        task = ray.remote(num_cpus=1, max_retries=3)(_task)
        about, stored = ray.put((self.S, given.dtype, self.facts, n, low.compiled)), {}
        for i in range(made.count):
            for j in range(made.count):
                part = given.array[made.block((i, j))]
                stored[i, j] = ray.put(low.encode(np.ascontiguousarray(part), True))
        found = carry_out(made, stored, lambda work, target, factors: task.remote(about, work, side, target, *factors))
        del stored
        self.work = np.empty((n, n), low.storage)
        with told(self.asked.progress, f"{self.S.name} closure") as report:
            try:
                for at, (tile, held) in enumerate(found.items()):
                    self.work[made.block(tile)] = ray.get(held)
                    report((at + 1) / len(found))
            except ray.exceptions.RayTaskError as error:
                if not isinstance(error.cause, UndefinedStar):
                    raise
                raise error.cause from None

    def refuse(self, error: UndefinedStar) -> None:
        if not fields.is_for_lapack(self.low):
            raise star_undefined(self.given, error, gone=False) from None
        self.work[...] = np.zeros((), self.low.storage)  # `mend` exchanges rows

    def diagonal(self) -> np.ndarray:
        return self.work.diagonal()

    def close_again(self) -> None:
        self.work = stable_closure(self.low, self.given.array, None, self.facts, self.names)

    def decode(self) -> None:
        self.answer = self.decoded(self.work)


@lru_cache(8)
def _lowering(S: Semiring, dtype: np.dtype, facts: Facts, n: int, compiled: bool) -> Lowering:
    """The form in which a worker computes, the same as in the process that has the matrix."""
    low = choose(S, dtype, facts, n, in_place=False, packed=False)
    return low.in_machine_code if compiled else low.interpreted


def _task(form: Any, work: Work, side: int, target: np.ndarray, *factors: np.ndarray) -> np.ndarray:
    """Compute a tile, on one processor of a worker."""
    low = _lowering(*form)
    kernel = build_kernel(low)
    with using(kernel, low, 1):
        return done(work, side, kernel, target, list(factors))


def plan(connection: Ray, A: Any, S: Any, asked: Options) -> NoReturn:
    """Refuse a plan: Ray does not say beforehand what moves.

    Raises
    ------
    SemiringError
    """
    raise SemiringError("Ray gives tiles to any free worker, so the traffic is not known before, and there is no plan: "
                        "leave out on=, or use sr.connect('mpi')")


def _refuse(S: Semiring, o: Options) -> str:
    """Refuse what closures by tasks do not have; return the schedule."""
    if S.traced is None:
        raise SemiringError(f"{S.name}: its elements are Python objects, which workers cannot send to each other: "
                            "leave out on=")
    method = method_among(METHODS, resolve_method(o.method, S), "with on= and Ray")
    ways_of("closure", "ray", o.asked)
    if o.device not in (None, "cpu"):
        raise SemiringError("Ray's workers compute on their CPUs, and device= asks for a GPU: leave out device=, or "
                            "use sr.connect('mpi'), with which each process has a GPU")
    return method
