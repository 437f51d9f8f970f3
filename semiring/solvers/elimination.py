"""Elimination on the structure of a sparse matrix or graph: closures, factors and equations, never dense in between."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import Any

from semiring.algorithms.sparse.analysis import Analysis
from semiring.errors import NoClosureError, SemiringError
from semiring.kernels.interface import Report
from semiring.operands.dense import Dense
from semiring.operands.operand import order_of
from semiring.operands.sparse import Sparse

from . import costs, fields, superlu
from .ahead import with_another_process
from .costs import SMALL, SparsePlan
from .elimination_gpu import on_gpu_if_faster
from .factors import right_of
from .forms import part_of, told
from .fronts import analysis_of, lowering_of
from .methods import SPARSE, resolve_method
from .plan import Plan
from .searches import form_if_faster
from .sparse_factors import SparseFactors
from .task import Declined, Task

SECONDS_FOR_A_GPU = 0.5  # of work from which on a GPU may be faster, copies included


def offer(task: Task) -> Plan | None:
    """Elimination where it is asked for, or predicted to be faster than the other methods; factors in any case."""
    o, given = task.options, task.operands[0]
    if not isinstance(given, Sparse) or o.packed:
        return None
    order_of(given.shape)
    return _closure(task, given) if task.verb == "closure" else _factors(task, given)


def _closure(task: Task, given: Sparse) -> Plan | None:
    o = task.options
    method = o.method if o.method == "auto" else resolve_method(o.method, task.S)
    wanted = method == SPARSE
    if wanted and o.tile is not None:
        raise SemiringError("tile is for the dense schedules; method='sparse' eliminates front by front")
    if not wanted and (method != "auto" or o.tile is not None or given.n < SMALL):
        return None
    low = lowering_of(given, room=False)
    if not wanted and costs.not_worth_a_look(low, given):
        return None
    analysis = analysis_of(given, o.order, partial(with_another_process, low, given, True))
    plan = costs.plan("closure", low, analysis, given.nnz, partial(_close, task, given, analysis))
    if wanted:
        plan.reasons["method"] = "as asked"
        return plan
    seconds = plan.seconds["elimination"] - plan.prepared  # the analysis is done
    least = min(seconds, plan.seconds["dense"])
    if o.device is None and least > SECONDS_FOR_A_GPU and (there := on_gpu_if_faster(task, given, analysis, least)):
        return there
    if seconds > plan.seconds["dense"]:
        return None
    rival = costs.search_estimate(low, analysis, given.alike)
    return None if rival < seconds and form_if_faster(given, low, seconds) is not None else plan


def _close(task: Task, given: Sparse, analysis: Analysis, plan: SparsePlan) -> Any:
    if task.options.progress is False:
        return _closed(task, given, analysis, plan, None, None)
    with told(task.options.progress, f"{task.S.name} closure") as report:
        share = costs.factoring_share(plan)
        return _closed(task, given, analysis, plan, part_of(report, 0.0, share), part_of(report, share, 1.0))


def _closed(
    task: Task, given: Sparse, analysis: Analysis, plan: SparsePlan, factoring: Report | None, expanding: Report | None
) -> Any:
    o = task.options
    try:
        factors = SparseFactors(given, analysis, check=o.check, plan=plan, report=factoring)
    except NoClosureError as e:
        # Where stars differ from 1, one may be undefined in one order of elimination only.
        if task.S.has_unit_stars or o.method == SPARSE:
            raise
        raise Declined from e
    return factors._expanded(o.reflexive, expanding)


def _factors(task: Task, given: Sparse) -> Plan:
    low = lowering_of(given, room=True)
    right = right_of(task, low.dtype)
    analysis = analysis_of(given, task.options.order, partial(with_another_process, low, given, False))
    run = partial(_factor, task, given, analysis) if right is None else partial(_solve, task, given, analysis, right)
    return costs.plan(task.verb, low, analysis, given.nnz, run, answer=False)


def _factor(task: Task, given: Sparse, analysis: Analysis, plan: SparsePlan) -> SparseFactors:
    o = task.options
    if task.verb == "factor":  # what is kept may be eliminated anew, and the caller's arrays may change till then
        given = given.copy()
    with nullcontext() if o.progress is False else told(o.progress, f"{task.S.name} {task.verb}") as report:
        return SparseFactors(given, analysis, check=o.check, plan=plan, report=report, mend=task.verb == "factor")


def _solve(task: Task, given: Sparse, analysis: Analysis, right: Dense, plan: SparsePlan) -> Any:
    try:
        factors = _factor(task, given, analysis, plan)
    except fields.Distrusted:
        return superlu.solve(task, given, right)
    except NoClosureError as e:
        if task.S.has_unit_stars:
            raise
        raise Declined from e
    return factors._solution(right)
