"""Elimination on the structure of a sparse matrix on several GPUs: closures and factors, rows dealt out to them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from semiring.errors import NoClosureError, SemiringError
from semiring.machine.memory import require
from semiring.operands.convert import as_sparse
from semiring.operands.operand import order_of
from semiring.operands.sparse import Sparse

from .costs import SMALL, SparsePlan
from .elimination_gpu import FACTORING
from .forms import part_of, told
from .fronts import analysis_of
from .methods import SPARSE, resolve_method
from .plan import Plan
from .several_gpus import METHODS, gpus_of
from .task import LARGE, Declined, Task

if TYPE_CHECKING:
    from .sparse_factors_gpus import SpreadSparseFactors


def offer(task: Task) -> Plan | None:
    """Factors on several GPUs, or a closure where that is asked for or predicted to be faster than the dense one."""
    devices, given = gpus_of(task), task.operands[0]
    if task.verb == "closure":
        return _closure(task, devices)
    if given.kind != "sparse":
        what = "a packed matrix" if given.kind == "packed" else "an array"
        raise SemiringError(f"factor with devices= is for sparse matrices and graphs, and A is {what}: leave out "
                            "devices, or give A by its entries, as scipy.sparse.csr_array(A) does")
    order_of(given.shape)
    return _factors(task, as_sparse(given), devices)


def _closure(task: Task, devices: tuple[int, ...]) -> Plan | None:
    from .sparse_factors_gpu import lowering_on_gpu
    from .sparse_factors_gpus import plan_on_gpus

    o, came = task.options, task.operands[0]
    n = order_of(came.shape)
    method = o.method if o.method in METHODS else resolve_method(o.method, task.S)
    wanted = method == SPARSE
    if wanted and o.tile is not None:
        raise SemiringError("tile is for the dense schedules; method='sparse' eliminates front by front")
    other = o.packed or o.on_divergence != "raise" or o.tile is not None
    if other or not (wanted or (method == "auto" and n >= SMALL and came.dtype.kind != "b")):
        return None  # by blocks, or refused there
    given = as_sparse(came)
    there = came.on_gpu and not given.of_graph
    analysis, run = analysis_of(given, o.order), partial(_close, task, given, there, devices)
    plan = plan_on_gpus("closure", lowering_on_gpu(given), analysis, given.nnz, devices, run, there=there)
    if wanted:
        plan.reasons["method"] = "as asked"
    elif plan.seconds["elimination"] - plan.prepared > plan.seconds["dense"]:  # the analysis is done
        return None
    return plan


def _factors(task: Task, given: Sparse, devices: tuple[int, ...]) -> Plan:
    from .sparse_factors_gpu import lowering_on_gpu
    from .sparse_factors_gpus import plan_on_gpus

    analysis, run = analysis_of(given, task.options.order), partial(_run, task, given, devices)
    return plan_on_gpus(task.verb, lowering_on_gpu(given), analysis, given.nnz, devices, run, answer=False)


def _close(task: Task, given: Sparse, there: bool, devices: tuple[int, ...], plan: SparsePlan) -> Any:
    """The closure: on the first GPU, where the matrix is on one; else, and of graphs, in the host's memory."""
    o, n, dtype = task.options, given.n, plan.lowering.dtype
    with told(o.progress, f"{task.S.name} closure") as report:
        if not there and (size := n * n * dtype.itemsize) > LARGE:
            advice = "factor the matrix, and take rows, blocks or reductions of the factors"
            require(size, f"the closure of {n} × {n} {dtype}", advice)
        F = _eliminated(task, given, devices, plan, part_of(report, 0.0, FACTORING))
        expanding = part_of(report, FACTORING, 1.0)
        closed = F._whole(o.reflexive, expanding) if there else F.on_host(o.reflexive, expanding)
    return closed if there else given.wrap(closed)


def _run(task: Task, given: Sparse, devices: tuple[int, ...], plan: SparsePlan) -> Any:
    with told(task.options.progress, f"{task.S.name} {task.verb}") as report:
        return _eliminated(task, given.copy(), devices, plan, report)


def _eliminated(
    task: Task, given: Sparse, devices: tuple[int, ...], plan: SparsePlan, report: Any
) -> SpreadSparseFactors:
    from .sparse_factors_gpus import SpreadSparseFactors

    o = task.options
    try:
        return SpreadSparseFactors(given, analysis_of(given, o.order), devices=devices, check=o.check, plan=plan,
                                   report=report)
    except NoClosureError as e:
        # Where stars differ from 1, one may be undefined in one order of elimination only.
        if task.S.has_unit_stars or task.verb == "factor" or o.method == SPARSE:
            raise
        raise Declined from e
