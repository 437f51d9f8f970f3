"""Closures by a search from every vertex of a sparse matrix or graph, where ⊕ selects."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from semiring.algorithms.sparse.costs import dense_seconds
from semiring.errors import SemiringError
from semiring.kernels.build import code_of, element_kernel
from semiring.kernels.cpu.sparse.structure import transposed
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy.rows import by_rank
from semiring.operands.operand import order_of
from semiring.operands.sparse import Sparse

from . import costs
from .costs import SMALL, PredictedPlan
from .forms import told
from .fronts import analysis_of, lowering_of
from .methods import SEARCH, resolve_method
from .plan import Plan
from .search import Form, Search, form_of, on_the_host, place_of, way_of
from .task import Task

STEPS = 50  # parts of a closure after which progress is reported


def offer(task: Task) -> Plan | None:
    """Searches where they are asked for, or predicted to be faster than the dense closure and elimination."""
    o, given = task.options, task.operands[0]
    if not isinstance(given, Sparse) or o.packed:
        return None
    order_of(given.shape)
    method = o.method if o.method == "auto" else resolve_method(o.method, task.S)
    if method == SEARCH:
        if o.tile is not None:
            raise SemiringError("tile is for the dense schedules; method='search' follows the edges from every vertex")
        form = form_of(given)
        seconds = _predicted(form.low, given) if form.bounded and form.low.kind != "objects" else {}
        return _plan(task, given, form, seconds, "as asked")
    if method != "auto" or o.tile is not None or given.n < SMALL:
        return None
    low = lowering_of(given, room=False)
    dense = dense_seconds(given.n, costs.lowering_rates(low))
    found = form_if_faster(given, low, dense) if dense > costs.least_search_seconds(low, given) else None
    if found is None:
        return None
    seconds = _predicted(found.low, given)
    if not costs.not_worth_a_look(low, given):  # elimination had that look
        estimate = costs.estimate(low, analysis_of(given, o.order), given.nnz, True)
        seconds["elimination"] = estimate.seconds["elimination"] - estimate.prepared
    return _plan(task, given, found, seconds, "predicted to be faster than what else could be done")


def form_if_faster(given: Sparse, low: Lowering, rival: float) -> Form | None:
    """How to search from every vertex, where that takes less than `rival` seconds and compiling repays beside them.

    Parameters
    ----------
    given : Sparse
    low : Lowering
        Of the closure by other methods.
    rival : float
        What the best of them takes.
    """
    if not given.S.selective or low.kind == "objects":
        return None
    form = form_of(given)
    if not form.bounded or form.low.kind == "objects":
        return None
    times = costs.search_times(form.low, given, given.n, given.alike)
    return form if times.seconds < rival and code_of(form.low, times.way).repays(rival) else None


def _predicted(low: Lowering, given: Sparse) -> dict[str, float]:
    rate = costs.lowering_rates(lowering_of(given, room=False))
    search = costs.search_times(low, given, given.n, given.alike)
    return {"search": search.seconds, "dense": dense_seconds(given.n, rate)}


def _plan(task: Task, given: Sparse, form: Form, seconds: dict[str, float], why: str) -> Plan:
    n = given.n
    form = on_the_host(given, form, n)
    low = form.low
    decoded = 0 if low.storage == low.dtype else low.dtype.itemsize
    return PredictedPlan(
        operation="closure", algebra=task.S, shape=(n, n), method=SEARCH, lowering=low, place=place_of(low),
        work=float(given.nnz) * n, memory=n * n * (low.storage.itemsize + decoded),
        runner=partial(_run, task, given, form),
        needs=(f"the closure of {n} × {n} {low.dtype}",
               "use a narrower dtype, fewer vertices, or closure_rows for some sources at a time"),
        reasons={"method": f"{way_of(form)[0]}, {why}"}, nnz=given.nnz, seconds=seconds,
    )


def _run(task: Task, given: Sparse, form: Form, plan: Plan) -> Any:
    o, n, search = task.options, given.n, Search(task.S, given, form)
    with told(o.progress, f"{task.S.name} closure") as report:
        if o.progress is False:
            X = search.rows(np.arange(n), False)[0]
        else:
            X, step = np.empty((n, n), given.dtype), max(-(-n // STEPS), 1)
            for begin in range(0, n, step):
                report(begin / n)
                X[begin : begin + step] = search.rows(np.arange(begin, min(begin + step, n)), False)[0]
        if not o.reflexive:
            X[np.arange(n), np.arange(n)] = _cycles(search, X)
    return given.wrap(X)


def _cycles(search: Search, X: np.ndarray) -> np.ndarray:
    """The diagonal of A⁺ = A* A: of every vertex the best closed walk that is not empty."""
    low, rows = search.form.low, search.given.rows
    offsets, sources, order = transposed(rows.offsets, rows.columns, rows.width)
    kernel = element_kernel(low, "search")
    best = kernel.zeros((len(X), 1, 1))
    for some, entries in by_rank(offsets):
        walks, total = low.encode(X[some, sources[entries]], True), best[some]
        kernel.multiply_add_stack(total, walks[:, None, None], search.stored.values[order[entries], None, None])
        best[some] = total
    return low.decode(best[:, 0, 0])
