"""Closures and products on a GPU in 16 bits, where values are few or small: twice the rate, and tried at run time.

Wide values that are only compared go by ranks in any case: in 16 bits, or in 32.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from semiring.kernels.facts import Facts
from semiring.operands.operand import order_of_one

from ..plan import Plan
from ..task import Declined, Task
from . import ranks, saturating
from .methods import close_best
from .products import finish_product

RANKS_REPAY = 2e11  # multiply-adds of a closure or product from which looking for few distinct values pays on a GPU
WIDE_REPAY = 5e9  # the same for 8 bytes, which are sorted where the values are many, and
DEPTH = 700  # multiply-adds for each of them
REASON = "tried first; what does not fit runs as another plan says"
SORTED = "values of 8 bytes are only compared, and compare faster by their ranks, in 16 bits or 32"


def offer(task: Task) -> Plan | None:
    """A closure or product whose values may have a place in 16 bits."""
    return _closure(task) if task.verb == "closure" else _product(task)


def _closure(task: Task) -> Plan | None:
    o, S, given = task.options, task.S, task.operands[0]
    if not (o.check and o.reflexive and o.method == "auto" and o.tile is None and not o.packed):
        return None
    if len(given.shape) != 2:
        return None
    n = order_of_one(given.shape)
    facts, low = given.form(n)
    if low.kind != "cuda":
        return None
    array = given.array  # type: ignore[attr-defined]
    ranked = _may_be_ranked(S, array.dtype, float(n) ** 3, n * n)
    if not ranked and not saturating.may_repay(S, array, facts):
        return None
    return _plan(task, given.shape, float(n) ** 3, low, ranked, partial(_close, task, facts))


def _may_be_ranked(S: Any, dtype: Any, work: float, elements: int) -> bool:
    from semiring.kernels.cuda.choose import can_be_ranked

    enough = work >= max(WIDE_REPAY, DEPTH * elements) if dtype.itemsize == 8 else work >= RANKS_REPAY
    return enough and can_be_ranked(S, dtype)


def _close(task: Task, facts: Facts, plan: Plan) -> Any:
    S, given = task.S, task.operands[0]
    array = given.array  # type: ignore[attr-defined]
    way = saturating if saturating.repays(S, array, facts) else ranks
    short = way.closure(S, array, close_best)
    if short is None:
        raise Declined
    if task.options.overwrite and getattr(array.flags, "writeable", True):
        array[...] = short
        short = array
    return given.wrap(short)


def _product(task: Task) -> Plan | None:
    A, B, *rest = task.operands
    if rest or not (task.options.check and A.on_gpu and B.on_gpu and len(A.shape) == len(B.shape) == 2):
        return None
    work = float(A.shape[0]) * A.shape[1] * B.shape[1]
    if A.dtype != B.dtype or A.shape[1] != B.shape[0] or not _may_be_ranked(
        task.S, A.dtype, work, A.shape[0] * A.shape[1] + B.shape[0] * B.shape[1]
    ):
        return None
    _, low = A.form(3, beside=(B,))
    if low.kind != "cuda":
        return None
    return _plan(task, (A.shape[0], B.shape[1]), work, low, True, partial(_multiply, task, low))


def _multiply(task: Task, low: Any, plan: Plan) -> Any:
    A, B = task.operands
    short = ranks.product(low.algebra, A.array, B.array)  # type: ignore[attr-defined]
    if short is None:
        raise Declined
    return finish_product(task, short)


def _plan(task: Task, shape: tuple[int, ...], work: float, low: Any, ranked: bool, run: Any) -> Plan:
    memory = 2 * low.matrix_bytes(max(shape))  # with less than that no other way would do
    wide = ranked and low.dtype.itemsize == 8
    return Plan(
        operation=task.verb, algebra=task.S, shape=shape, method="ranks" if wide else "16 bits", lowering=low,
        work=work, memory=memory, runner=run, reasons={"method": SORTED if wide else REASON},
    )
