"""Elimination on the structure of a sparse matrix on a GPU: closures, factors and equations."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from semiring.errors import NoClosureError, SemiringError
from semiring.operands.convert import as_sparse
from semiring.operands.dense import Dense
from semiring.operands.devices import COPY_RATE, FIRST_USE, gpu_name, require_gpu, to_host
from semiring.operands.operand import order_of
from semiring.operands.sparse import Sparse

from . import costs
from .costs import SMALL, SparsePlan
from .factors import right_of
from .forms import part_of, told
from .fronts import analysis_of, lowering_of
from .methods import SPARSE, resolve_method
from .plan import Plan
from .task import Declined, Task

if TYPE_CHECKING:
    from .sparse_factors_gpu import DeviceSparseFactors

FACTORING = 0.05  # of a closure's time, about


def offer(task: Task) -> Plan | None:
    """Elimination on the GPU where the work is to be done there; or where that is predicted to be sooner done.

    A closure whose dense form is predicted to be faster, and fits, is left to it.
    """
    given, o = task.operands[0], task.options
    order_of(given.shape)
    there = given.on_gpu or o.device in ("gpu", "cuda")
    if o.packed or (not there and (gpu_name() is None or o.device is not None)):
        return None
    if there:
        require_gpu(task.S, "gpu", given.dtype)
    matrix = as_sparse(given)
    if task.verb == "closure":
        return _closure(task, matrix, there)
    return _factors(task, matrix) if there else None


def _closure(task: Task, given: Sparse, there: bool) -> Plan | None:
    from .sparse_factors_gpu import lowering_on_gpu, plan_on_gpu

    o = task.options
    method = o.method if o.method == "auto" else resolve_method(o.method, task.S)
    wanted = method == SPARSE
    if wanted and o.tile is not None:
        raise SemiringError("tile is for the dense schedules; method='sparse' eliminates front by front")
    if not wanted and (method != "auto" or o.tile is not None or given.n < SMALL or given.dtype.kind == "b"):
        return None
    if not there and (given.dtype.kind in "Oc" or given.n**2 * given.dtype.itemsize / COPY_RATE < FIRST_USE / 8):
        return None
    low = lowering_on_gpu(given)
    analysis = analysis_of(given, o.order)
    plan = plan_on_gpu("closure", low, analysis, given.nnz, partial(_close, task, given, there))
    if wanted:
        plan.reasons["method"] = "as asked"
        return plan
    seconds = plan.seconds["elimination"] - plan.prepared  # the analysis is done
    if there:
        return plan if seconds <= plan.seconds["dense"] else None
    seconds += given.n**2 * given.dtype.itemsize / COPY_RATE + FIRST_USE
    beside = costs.plan("closure", lowering_of(given, room=False), analysis, given.nnz).seconds
    plan.reasons["device"] = "predicted to be faster, with what is copied"
    return plan if seconds < min(beside.values()) else None


def _factors(task: Task, given: Sparse) -> Plan:
    from .sparse_factors_gpu import lowering_on_gpu, plan_on_gpu

    low = lowering_on_gpu(given)
    right = right_of(task, low.dtype)
    analysis = analysis_of(given, task.options.order)
    return plan_on_gpu(task.verb, low, analysis, given.nnz, partial(_run, task, given, right), answer=False)


def _close(task: Task, given: Sparse, there: bool, plan: SparsePlan) -> Any:
    """The closure: a CuPy array, where the work was to be done; else, and of graphs, in the host's memory."""
    with told(task.options.progress, f"{task.S.name} closure") as report:
        F = _eliminated(task, given, plan, part_of(report, 0.0, FACTORING))
        closed = F._whole(task.options.reflexive, part_of(report, FACTORING, 1.0))
    return closed if there and not given.of_graph else given.wrap(to_host(closed))


def _run(task: Task, given: Sparse, right: Dense | None, plan: SparsePlan) -> Any:
    with told(task.options.progress, f"{task.S.name} {task.verb}") as report:
        F = _eliminated(task, given if right is not None else given.copy(), plan, report)
    return F if right is None else F._solution(right)


def _eliminated(task: Task, given: Sparse, plan: SparsePlan, report: Any) -> DeviceSparseFactors:
    from .sparse_factors_gpu import DeviceSparseFactors

    o = task.options
    try:
        return DeviceSparseFactors(given, analysis_of(given, o.order), check=o.check, plan=plan, report=report)
    except NoClosureError as e:
        # Where stars differ from 1, one may be undefined in one order of elimination only.
        if task.S.has_unit_stars or task.verb == "factor" or o.method == SPARSE:
            raise
        raise Declined from e
