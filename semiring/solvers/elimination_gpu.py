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

from .costs import SMALL, SparsePlan
from .factors import right_of
from .forms import part_of, told
from .fronts import analysis_of
from .methods import SPARSE, resolve_method
from .plan import Plan
from .task import Declined, Task

if TYPE_CHECKING:
    from semiring.algorithms.sparse.analysis import Analysis

    from .sparse_factors_gpu import DeviceSparseFactors

FACTORING = 0.05  # of a closure's time, about


def offer(task: Task) -> Plan | None:
    """Elimination on the GPU, where the work is to be done.

    A closure whose dense form is predicted to be faster, and fits, is left to it.
    """
    given = task.operands[0]
    order_of(given.shape)
    require_gpu(task.S, "gpu", given.dtype)
    matrix = as_sparse(given)
    return _closure(task, matrix) if task.verb == "closure" else _factors(task, matrix)


def _closure(task: Task, given: Sparse) -> Plan | None:
    from .sparse_factors_gpu import lowering_on_gpu, plan_on_gpu

    o = task.options
    method = o.method if o.method == "auto" else resolve_method(o.method, task.S)
    wanted = method == SPARSE
    if wanted and o.tile is not None:
        raise SemiringError("tile is for the dense schedules; method='sparse' eliminates front by front")
    if not wanted and (method != "auto" or o.tile is not None or given.n < SMALL or given.dtype.kind == "b"):
        return None
    analysis, run = analysis_of(given, o.order), partial(_close, task, given, True)
    plan = plan_on_gpu("closure", lowering_on_gpu(given), analysis, given.nnz, run)
    if wanted:
        plan.reasons["method"] = "as asked"
    elif plan.seconds["elimination"] - plan.prepared > plan.seconds["dense"]:  # the analysis is done
        return None
    return plan


def on_gpu_if_faster(task: Task, given: Sparse, analysis: Analysis, seconds: float) -> Plan | None:
    """The closure of a matrix on the host by elimination on the GPU, where that is predicted to take less time."""
    size = given.n**2 * given.dtype.itemsize
    if gpu_name() is None or given.dtype.kind in "Oc" or size / COPY_RATE + FIRST_USE > seconds:
        return None
    from .sparse_factors_gpu import lowering_on_gpu, plan_on_gpu

    run = partial(_close, task, given, False)
    plan = plan_on_gpu("closure", lowering_on_gpu(given), analysis, given.nnz, run)
    plan.reasons["device"] = "predicted to be faster, with what is copied"
    takes = plan.seconds["elimination"] - plan.prepared + size / COPY_RATE + FIRST_USE
    return plan if takes < seconds else None


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
