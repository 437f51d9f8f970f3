"""What `semiring.plan` shows of `Semiring.sum`, `prod`, `cumsum` and `cumprod`, which shapes/sums.py computes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod as product
from typing import Any

from semiring.algebra.by_name import algebra
from semiring.algebra.semiring import Semiring
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.machine.threads import cpu_place
from semiring.operands.device import Device
from semiring.operands.packed import Packed
from semiring.operands.sparse import DeviceSparse, Sparse
from semiring.solvers.forms import plain_form
from semiring.solvers.plan import Plan
from semiring.solvers.task import own_algebra

from ..planned import Computation
from . import on_gpu
from .folding import fold_of
from .sums import NEEDS, VERBS, accumulated, by_dims, read_accumulated, read_reduced, reduced

PREFIXES = ("cumsum", "cumprod")
Axes = int | str | tuple[int | str, ...] | None


class Reduction:
    """A verb along axes that is to be computed.

    Parameters
    ----------
    make : callable
        Makes the plan.
    """

    def __init__(self, make: Callable[[], Plan]):
        self._make = make

    def plan(self) -> Plan:
        """Return the plan that gives the answer."""
        return self._make()


def _reduced(op: str, x: Any, S: Semiring | str | None, axis: Any, keepdims: Any, initial: Any, out: Any) -> Reduction:
    over = own_algebra(VERBS[op][0], (x,)) if S is None else algebra(S)

    def plan() -> Plan:
        given, axes, shape = read_reduced(x, over, op, by_dims(x, axis), keepdims)
        if isinstance(given, Sparse):
            return _plan(over, VERBS[op][0], given, shape, "runs of stored entries", given.nnz, out, run)
        if isinstance(given, DeviceSparse):
            return _plan(over, VERBS[op][0], given, shape, "runs of stored entries", given.nnz, out, run,
                         on_gpu.form(over, op, given.dtype))
        if isinstance(given, Packed):
            return _plan(over, VERBS[op][0], given, shape, "a word of bits at a time", product(given.shape), out, run)
        if isinstance(given, Device):
            return _plan(over, VERBS[op][0], given, shape, "one pass over the GPU's memory", given.array.size, out, run,
                         on_gpu.form(over, op, given.dtype))
        method = fold_of(over, op, given.dtype).method(given.array, axes)
        return _plan(over, VERBS[op][0], given, shape, method, given.array.size, out, run)

    run = partial(reduced, over, op, x, axis, keepdims, initial, out)
    return Reduction(plan)


def _accumulated(op: str, x: Any, S: Semiring | str | None, axis: Any, out: Any) -> Reduction:
    over = own_algebra(VERBS[op][1], (x,)) if S is None else algebra(S)

    def plan() -> Plan:
        given, number, shape = read_accumulated(x, over, op, by_dims(x, axis))
        if isinstance(given, Device):
            return _plan(over, VERBS[op][1], given, shape, "chunks, and what stands before them", given.array.size,
                         out, run, on_gpu.form(over, op, given.dtype))
        method = fold_of(over, op, given.dtype).running_method(given.array.reshape(shape), number)
        return _plan(over, VERBS[op][1], given, shape, method, given.array.size, out, run)

    run = partial(accumulated, over, op, x, axis, out)
    return Reduction(plan)


def _plan(
    S: Semiring, verb: str, given: Any, shape: tuple[int, ...], method: str, work: int, out: Any,
    run: Callable[[], Any], low: Lowering | None = None,
) -> Plan:
    return Plan(
        operation=verb, algebra=S, shape=shape, method=method, lowering=low or plain_form(S, given.dtype, Facts(), 3),
        work=float(work), memory=0 if out is not None else product(shape) * given.dtype.itemsize,
        runner=lambda plan: run(), place=cpu_place() if low is None else "",
        needs=NEEDS if verb in PREFIXES else ("", ""),
        nnz=given.nnz if isinstance(given, (Sparse, DeviceSparse)) else None,
    )


def sum(
    x: Any, S: Semiring | str | None = None, axis: Axes = None, *, keepdims: bool = False, initial: Any = None,
    out: Any = None,
) -> Reduction:
    """``S.sum(x, axis)``, to be planned."""
    return _reduced("add", x, S, axis, keepdims, initial, out)


def prod(
    x: Any, S: Semiring | str | None = None, axis: Axes = None, *, keepdims: bool = False, initial: Any = None,
    out: Any = None,
) -> Reduction:
    """``S.prod(x, axis)``, to be planned."""
    return _reduced("mul", x, S, axis, keepdims, initial, out)


def cumsum(x: Any, S: Semiring | str | None = None, axis: int | str | None = None, *, out: Any = None) -> Reduction:
    """``S.cumsum(x, axis)``, to be planned."""
    return _accumulated("add", x, S, axis, out)


def cumprod(x: Any, S: Semiring | str | None = None, axis: int | str | None = None, *, out: Any = None) -> Reduction:
    """``S.cumprod(x, axis)``, to be planned."""
    return _accumulated("mul", x, S, axis, out)


REDUCTIONS: dict[str, Callable[..., Computation]] = {f.__name__: f for f in (sum, prod, cumsum, cumprod)}
