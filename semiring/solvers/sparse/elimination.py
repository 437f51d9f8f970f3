"""Elimination on the structure of a sparse matrix or graph: closures, factors and equations, never dense in between.

It runs on the host, a GPU or several GPUs by an engine of each; see `semiring.solvers.sparse.substitution`.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

from semiring.algorithms.sparse.analysis import Analysis
from semiring.algorithms.sparse.costs import dense_seconds
from semiring.errors import NoClosureError, SemiringError
from semiring.kernels.interface import Report
from semiring.kernels.lowering.base import Lowering
from semiring.operands.convert import as_sparse
from semiring.operands.dense import Dense
from semiring.operands.devices import COPY_RATE, FIRST_USE, gpu_name, require_gpu
from semiring.operands.operand import order_of
from semiring.operands.sparse import Sparse

from .. import costs
from ..beyond.gpus import gpus_of
from ..costs import SMALL, SparsePlan
from ..dense import fields
from ..dense.factors import right_of
from ..dense.schedules import SPARSE, resolve_method
from ..forms import part_of, told
from ..paths.searches import closure_if_faster
from ..plan import Plan
from ..task import Declined, Task
from . import superlu
from .analysis import analysis_of
from .factors import SparseFactors
from .substitution import HOST, Engine, Substitution

SECONDS_FOR_A_GPU = 0.5  # of work from which on a GPU may be faster, copies included


def offer(task: Task) -> Plan | None:
    """Elimination where it is asked for, or predicted to be faster than the other methods; factors in any case."""
    o, given = task.options, task.operands[0]
    devices = None if o.devices is None else gpus_of(task)
    on_gpu = devices is not None or o.device not in (None, "cpu") or given.on_gpu
    engine = _on_gpus(devices) if on_gpu else HOST
    if on_gpu:
        require_gpu(task.S, "gpu", given.dtype)
    elif not isinstance(given, Sparse) or o.packed:
        return None
    order_of(given.shape)
    if task.verb == "closure":
        return _closure(task, engine)
    if given.kind != "sparse":
        what = "a packed matrix" if given.kind == "packed" else "an array"
        raise SemiringError(f"factor with devices= is for sparse matrices and graphs, and A is {what}: leave out "
                            "devices, or give A by its entries, as scipy.sparse.csr_array(A) does")
    return _factors(task, as_sparse(given), engine)


def _on_gpus(devices: tuple[int, ...] | None) -> Engine:
    """The engine of some GPUs, or of the current one."""
    from .on_gpus import Gpus

    return Gpus(devices)


def _closure(task: Task, engine: Engine) -> Plan | None:
    o, came = task.options, task.operands[0]
    method = o.method if o.method == "auto" else resolve_method(o.method, task.S)
    wanted = method == SPARSE
    if wanted and o.tile is not None:
        raise SemiringError("tile is for the dense schedules; method='sparse' eliminates front by front")
    if o.packed or o.on_divergence != "raise":
        return None
    on_host = engine is HOST
    bits = not on_host and came.dtype.kind == "b"
    if not wanted and (method != "auto" or o.tile is not None or came.shape[0] < SMALL or bits):
        return None
    given = came if isinstance(came, Sparse) else as_sparse(came)
    low = engine.lowering(given, room=False)
    if on_host and not wanted:
        return _fastest_on_host(task, given, low)
    analysis = analysis_of(given, o.order, low)
    there = not given.of_graph and (came.on_gpu or o.devices is None)
    plan = _plan(task, given, low, analysis, engine, there)
    if wanted:
        return replace(plan, reasons=plan.reasons | {"method": "as asked"})
    return plan if plan.seconds["elimination"] - plan.prepared <= plan.seconds["dense"] else None


def _fastest_on_host(task: Task, given: Sparse, low: Lowering) -> Plan | None:
    """Elimination or searches, whichever is predicted to be faster; None where the dense closure is."""
    o = task.options
    seconds = {"dense": dense_seconds(given.n, costs.lowering_rates(low))}
    if costs.not_worth_a_look(low, given):
        may_win = costs.least_search_seconds(low, given) < seconds["dense"]
        return closure_if_faster(task, given, low, seconds) if may_win else None
    analysis = analysis_of(given, o.order, low)
    given.spread = analysis.spread  # of the same edges
    found = costs.estimate(low, analysis, given.nnz, True)
    seconds["elimination"] = found.seconds["elimination"] - found.prepared  # the analysis is done
    fastest = min(seconds.values())
    if o.device is None and fastest > SECONDS_FOR_A_GPU and (
        plan := _on_gpu_if_faster(task, given, analysis, fastest)
    ):
        return plan
    if costs.search_times(low, given, given.n, given.alike).seconds < fastest and (
        plan := closure_if_faster(task, given, low, seconds)
    ):
        return plan
    if seconds["dense"] < seconds["elimination"]:
        return None
    return _plan(task, given, low, analysis, HOST, not given.of_graph)


def _plan(
    task: Task, given: Sparse, low: Lowering, analysis: Analysis, engine: Engine, there: bool
) -> SparsePlan:
    run = partial(_close, task, given, analysis, engine, there)
    return engine.plan("closure", low, analysis, given.nnz, run, there=there)


def _on_gpu_if_faster(task: Task, given: Sparse, analysis: Analysis, seconds: float) -> Plan | None:
    """The closure of a matrix on the host by elimination on the GPU, where that is predicted to take less time."""
    copies = given.n**2 * given.dtype.itemsize / COPY_RATE + FIRST_USE
    if gpu_name() is None or given.dtype.kind in "Oc" or copies > seconds:
        return None
    engine = _on_gpus(None)
    run = partial(_close, task, given, analysis, engine, False)
    plan = engine.plan("closure", engine.lowering(given, room=False), analysis, given.nnz, run)
    plan = replace(plan, reasons=plan.reasons | {"device": "predicted to be faster, with what is copied"})
    return plan if plan.seconds["elimination"] - plan.prepared + copies < seconds else None


def _factors(task: Task, given: Sparse, engine: Engine) -> Plan:
    low = engine.lowering(given, room=True)
    right = right_of(task, low.dtype)
    analysis = analysis_of(given, task.options.order, low, answer=False)
    run = partial(_run, task, given, analysis, engine, right)
    return engine.plan(task.verb, low, analysis, given.nnz, run, answer=False)


def _close(task: Task, given: Sparse, analysis: Analysis, engine: Engine, there: bool, plan: SparsePlan) -> Any:
    """The closure: `there`, on a GPU, or in the host's memory."""
    o = task.options
    if o.progress is False:
        return _eliminated(task, given, analysis, engine, plan, None).expanded(o.reflexive, None, there)
    with told(o.progress, f"{task.S.name} closure") as report:
        share = costs.factoring_share(plan)
        F = _eliminated(task, given, analysis, engine, plan, part_of(report, 0.0, share))
        return F.expanded(o.reflexive, part_of(report, share, 1.0), there)


def _run(task: Task, given: Sparse, analysis: Analysis, engine: Engine, right: Dense | None, plan: SparsePlan) -> Any:
    progress = task.options.progress
    try:
        with nullcontext() if progress is False else told(progress, f"{task.S.name} {task.verb}") as report:
            F = _eliminated(task, given, analysis, engine, plan, report)
    except fields.Distrusted:  # only of equations, on the host
        assert right is not None
        return superlu.solve(task, given, right)
    return SparseFactors(F) if right is None else F.solution(right)


def _eliminated(
    task: Task, given: Sparse, analysis: Analysis, engine: Engine, plan: SparsePlan, report: Report | None
) -> Substitution:
    o, kept = task.options, task.verb == "factor"
    if kept:  # it may be eliminated anew, and the caller's arrays may change till then
        given = given.copy()
    mend = task.verb != "solve" or plan.lowering.on_gpu  # on the host SuperLU solves what elimination cannot
    try:
        return Substitution(given, analysis, engine, check=o.check, plan=plan, report=report, mend=mend)
    except NoClosureError as e:
        # Where stars differ from 1, one may be undefined in one order of elimination only.
        if task.S.has_unit_stars or kept or o.method == SPARSE:
            raise
        raise Declined from e
