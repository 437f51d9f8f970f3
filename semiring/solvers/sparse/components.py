"""Closures that depend on reachability alone, of sparse matrices and graphs: components and bit sets."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.kernels.cpu.bits.choose import CODE
from semiring.kernels.cpu.bits.lowering import packed_bits
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.lowering.boolean import is_boolean
from semiring.kernels.lowering.general import general
from semiring.kernels.numpy import bits
from semiring.kernels.numpy import components as by_numpy
from semiring.machine.threads import thread_count
from semiring.operands.operand import order_of
from semiring.operands.sparse import Sparse

from ..forms import told
from ..plan import Plan
from ..task import Task

A_ROW_A_COMPONENT = "a row a component"  # the argument of a task whose answer may be a `Reach` instead


def offer(task: Task) -> Plan | None:
    """The closure of a matrix by its entries where it holds only zero and one, by whether there is a walk."""
    o, S, given = task.options, task.S, task.operands[0]
    if not isinstance(given, Sparse) or o.method != "auto" or o.tile is not None or o.device not in (None, "cpu"):
        return None
    if not depends_on_reachability(S, given):
        return None
    n, dtype = order_of(given.shape), given.dtype
    size = n * n // 8 if o.packed else n * n * dtype.itemsize
    low = packed_bits(S, np.dtype(bool)) if o.packed else general(S, dtype)
    if not CODE.repays(bits.seconds(n, float(n) ** 3)):
        low = low.interpreted
    return Plan(
        operation="closure", algebra=S, shape=given.shape, method="components", lowering=low,
        place=f"CPU, {thread_count()} threads" if low.compiled else "", work=float(given.nnz),
        memory=size + n * n // 4, runner=partial(_run, task, given),
        reasons={"method": "only reachability counts: components, and bit sets along the condensation"},
    )


def depends_on_reachability(S: Semiring, given: Sparse) -> bool:
    """Whether the closure of this matrix holds only zero and one: every edge weighs one, and 1 ⊕ 1 = 1* = 1."""
    values, part = given.values, _boolean_part(S, given.dtype)
    return part is not None and bool(((values == part[1]) | (values == part[0])).all())


@lru_cache(1024)
def _boolean_part(S: Semiring, dtype: np.dtype) -> tuple[Any, Any] | None:
    """Zero and one in a dtype, where they are the Boolean algebra within S."""
    return (S.zero_in(dtype), S.one_in(dtype)) if is_boolean(S, dtype) else None


def _run(task: Task, given: Sparse, plan: Plan) -> Any:
    """Strongly connected components are found, and bit sets united along the condensation in topological order."""
    o, A, rows = task.options, task.S.over(given.dtype), given.rows
    stored = rows.values == A.one
    if not stored.all():  # a zero that is stored is not an edge
        rows = rows.where(stored)
    with told(o.progress, f"{task.S.name} closure") as report:
        found = _reach(plan, rows.offsets, rows.columns)
        report(0.5)  # what is left is to write a row for every vertex
        if task.arguments == (A_ROW_A_COMPONENT,) and found.shared:
            return found
        if o.packed:
            return PackedMatrix(found.packed(o.reflexive).words, given.n)
        return given.wrap(found.dense(A.zero, A.one, given.dtype, o.reflexive))


def _reach(plan: Plan, offsets: np.ndarray, columns: np.ndarray) -> Any:
    if not plan.lowering.compiled:
        return CODE.rent(by_numpy.reach, offsets, columns)
    from semiring.kernels.cpu.bits.components import reach  # it loads Numba

    return reach(offsets, columns)
