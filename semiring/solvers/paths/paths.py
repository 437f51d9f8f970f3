"""Best paths between all vertices, or from some: values by whichever solver is best for them, then the trees.

With a limit searches may end there. All pairs are then searched for backwards from every vertex, where that is
predicted to take less time than all values: how far searches come is seen from a few vertices. Predecessors on turned
edges are next hops.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.algorithms.sparse.costs import dense_seconds
from semiring.errors import LawError, NoClosureError, SemiringError
from semiring.kernels.build import repays, sums_numbers
from semiring.kernels.cpu.compile.price import when
from semiring.kernels.cpu.sparse.edge_numbers import MOST, NUMBER, EdgeNumbers
from semiring.kernels.lowering.base import Lowering
from semiring.operands.convert import as_sparse, on_device
from semiring.operands.dense import Dense
from semiring.operands.devices import is_on_gpu, to_host, upload
from semiring.operands.operand import Operand, order_of, order_of_one
from semiring.operands.sparse import Sparse

from .. import costs
from ..costs import PredictedPlan
from ..cycles import of_stack
from ..dense.schedules import SEARCH
from ..forms import Encoded, narrowed, part_of, told, widened
from ..plan import Plan
from ..task import Options, Task, compute, first_offer
from .limits import beyond, cut_off, limit_of, trees_within
from .search import Positions, Search, form_of, on_the_host, place_of, positions, some_rows, way_of
from .trees import best_trees, form_for_trees
from .walks import not_held

TRIED = 8  # vertices from which searches tell how far a limit lets them come
HOP = 4  # bytes of a vertex
STEPS = 50  # parts of such searches after which progress is reported
VALUES = 0.8  # what values take of the time, about; trees have the rest


def offer(task: Task) -> Plan:
    """Values by a closure, or by searches where sources are given."""
    S, o, given = task.S, task.options, task.given[0]
    if not S.selective:
        raise LawError(f"best paths need a selective ⊕, and in {S.name} {S._law_report.flags['selective']}")
    if len(given.shape) > 2 and isinstance(given, Dense):
        return _stack(task, given)
    n, (sources, limit, ends) = order_of_one(given.shape), task.arguments
    if sources is None and o.device is None and given.on_gpu and given.kind == "sparse":
        o = replace(o, device="gpu")  # it is analysed on the host, and stays where it is all the same
    plain = given.plain.changed(goes_on=True) if isinstance(given, Sparse) else (
        given if isinstance(given, Dense) else as_sparse(given)).plain
    starts = None if sources is None else positions(sources, given.names, n)[1]
    found = first_offer(_values(plain, o.without("progress"), starts, limit))
    bound = None if limit is None else limit_of(plain, limit)
    lines = n if starts is None else len(starts)
    if starts is None and bound is not None and isinstance(plain, Sparse):
        ending = _ending_searches(task.S, o, plain, bound, found)
        if ending is not None:
            return ending
    run = partial(_run, plain, found, o, starts, ends, limit, bound, isinstance(given, Sparse) and given.of_graph)
    hops = lines * n * (hop_bytes(plain, found.lowering) if starts is None else HOP)
    return Plan(
        operation="paths", algebra=S, shape=(lines, n), method=found.method, lowering=found.lowering,
        place=found.place, work=found.work, memory=found.memory + hops, runner=run, needs=found.needs,
        reasons=dict(found.reasons), tile=found.tile,
    )


def _values(given: Operand, o: Options, starts: np.ndarray | None, limit: Any) -> Task:
    """The task of the values of paths: a closure, or rows of it."""
    if starts is None:
        return Task.within("closure", given, o, strict=True)
    return Task.within("closure_rows", given, o, (Positions(starts), None, limit), strict=True)


def hop_bytes(given: Operand, low: Lowering) -> int:
    """What a next hop takes while it is looked for: the number of an edge, from compiled code, a vertex, or both."""
    if not isinstance(given, Sparse) or low.kind != "numba" or when() == "never":
        return HOP
    offsets = given.rows.offsets
    if int(np.maximum.reduce(offsets[1:] - offsets[:-1], initial=0)) > MOST:
        return HOP
    return NUMBER.itemsize if given.bounded else NUMBER.itemsize + HOP


def _ending_searches(S: Semiring, o: Options, given: Sparse, bound: np.ndarray, found: Plan) -> Plan | None:
    """Searches from every vertex that end at a limit, where asked for, or predicted to be faster than all values."""
    n = given.n
    asked = o.method == SEARCH
    by_cpu = o.device != "gpu" and found.lowering.kind == "numba"
    if not S.commutative or not (asked or (o.method == "auto" and n >= costs.SMALL and by_cpu)):
        return None
    turned = given.T
    form, work, seconds, why = form_of(turned), float(given.nnz) * n, {}, "as asked"
    if not asked:
        known = found.seconds if isinstance(found, PredictedPlan) else {}
        rival = min(known.values(), default=dense_seconds(n, costs.lowering_rates(found.lowering)))
        purpose = "levels" if given.alike else "buckets" if sums_numbers(form.low) else "search"
        if not repays(form.low, rival, purpose):
            return None
    form = on_the_host(turned, form, n, True, True)
    search = Search(S, turned, form)
    if not asked:
        times, written = costs.search_times(form.low, turned, n, given.alike), costs.written_seconds(form.low, n, n)
        share = _share_within(search, bound)
        alone = written + share * (min(times.settle, times.buckets, times.levels) - written)
        if alone >= rival:
            return None
        work, seconds, why = work * share, {**known, "limit": alone}, "predicted to be faster than all values"
    low = form.low
    return PredictedPlan(
        operation="paths", algebra=S, shape=(n, n), method="searches up to the limit", lowering=low,
        place=place_of(low), work=work, memory=n * n * (2 * low.storage.itemsize + 4),
        runner=partial(_search_up_to, search, bound, o),
        needs=(f"best paths between {n} vertices", "use a narrower dtype, or ask for some sources at a time"),
        reasons={"method": f"{way_of(form, True)[0]}, {why}"}, nnz=given.nnz, seconds=seconds,
    )


def _share_within(search: Search, bound: np.ndarray) -> float:
    """Of all pairs those within a limit, as a few vertices have it that lie far from each other in number."""
    n = search.given.n
    values = search.rows(np.unique(np.linspace(0, n - 1, TRIED).astype(np.int64)), False, bound)[0]
    return 1 - float(np.mean(beyond(search.S, values, bound)))


def _search_up_to(search: Search, bound: np.ndarray, o: Options, plan: Plan) -> Found:
    n = search.given.n
    step = n if o.progress is False else max(-(-n // STEPS), 1)
    columns, hops = [], []
    with told(o.progress, f"{search.S.name} paths") as report:
        for begin in range(0, n, step):
            report(begin / n)
            X, P = some_rows(search, np.arange(begin, min(begin + step, n)), bound, False, True)
            columns.append(X)
            hops.append(P)
    return _together(columns).T, _together(hops).T, None


def _together(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


Found = tuple[Any, Any, np.ndarray | None]  # values, trees, and the vertices of the rows


def _stack(task: Task, given: Dense) -> Plan:
    """Values of all matrices by one closure of the stack, or row by row; then the trees of each."""
    sources, limit, ends = task.arguments
    order_of(given.shape)
    plain = given.plain
    count = prod(given.shape[:-2])
    if sources is None or not count:
        found = first_offer(_values(plain, task.options, None, None))
        matrices = [plain.matrix(place) for place in np.ndindex(given.shape[:-2])]
        bounds = [None if limit is None else limit_of(A, limit) for A in matrices]
        run: Any = partial(_closed_stack, plain, task, found, bounds, ends)
        return replace(found, operation="paths", shape=given.shape, runner=run)
    one = plain.matrix((0,) * (len(given.shape) - 2))
    found = first_offer(Task("paths", task.S, (one,), task.options, task.arguments))
    run = partial(_searched_stack, plain, task)
    return replace(found, operation="paths", shape=given.shape, runner=run, work=found.work * count)


def _closed_stack(
    given: Dense, task: Task, closure: Plan, bounds: list[np.ndarray | None], ends: np.ndarray | None, plan: Plan
) -> list[Found]:
    try:
        X = closure.run()
    except SemiringError as e:
        if type(e) is not SemiringError or (ends is None and bounds[:1] == [None]) or widened(given) is None:
            raise
        return _searched_stack(given, task, plan)
    places = np.ndindex(given.shape[:-2])
    return [with_trees(given.matrix(place), X[place], None, bound, ends)
            for place, bound in zip(places, bounds, strict=True)]


def _searched_stack(given: Dense, task: Task, plan: Plan) -> list[Found]:
    found, o, count = [], task.options, prod(given.shape[:-2])
    with told(o.progress, f"{task.S.name} paths") as report:
        for k, place in enumerate(np.ndindex(given.shape[:-2])):
            asked = replace(o, progress=o.progress and part_of(report, k / count, (k + 1) / count))
            try:
                one = Task("paths", task.S, (given.matrix(place),), asked, task.arguments)
                one.strict = True
                found.append(compute(one))
            except NoClosureError as e:
                raise of_stack(e, place) from None
    return found


def _run(
    given: Operand, values: Plan, o: Options, starts: np.ndarray | None, ends: np.ndarray | None, limit: Any,
    bound: np.ndarray | None, of_graph: bool, plan: Plan,
) -> Found:
    taken_there = isinstance(given, Dense) and not given.on_gpu and plan.lowering.on_gpu and starts is None
    if taken_there:
        given = on_device(given).plain
    with nullcontext() if o.progress is False else told(o.progress, f"{given.S.name} paths") as report:
        if taken_there or o.progress is not False:
            progress = report is not None and part_of(report, 0.0, VALUES)
            values = first_offer(_values(given, replace(o, progress=progress), starts, limit))
        try:
            X = values.run()
        except SemiringError as e:
            all_wanted = ends is None and limit is None
            wide = None if all_wanted or type(e) is not SemiringError else widened(given)
            if wide is None:
                raise
            return _run_wide(given, wide, o, starts, ends, limit)
        X, tree, starts = with_trees(given, X, starts, bound, ends)
    return (to_host(X), to_host(tree), starts) if taken_there or of_graph else (X, tree, starts)


def _run_wide(
    given: Operand, wide: Operand, o: Options, starts: np.ndarray | None, ends: np.ndarray | None, limit: Any
) -> Found:
    """With wider numbers: those that leave the dtype matter only where they are wanted."""
    bound = None if limit is None else limit_of(wide, limit)
    asked = replace(o, progress=False, device=None)
    W, tree, starts = with_trees(wide, compute(_values(wide, asked, starts, limit)), starts, bound, ends)
    X, lost = narrowed(given.S, W, given.dtype)
    for i, j in np.argwhere(lost if ends is None else lost[:, ends])[:1].tolist():
        root, end = i if starts is None else int(starts[i]), j if ends is None else int(ends[j])
        raise not_held(given, root, end, False)
    np.copyto(tree.numbers if isinstance(tree, EdgeNumbers) else tree, -1, where=lost)
    return X, tree, starts


def with_trees(
    given: Operand, X: Any, starts: np.ndarray | None, bound: np.ndarray | None, ends: np.ndarray | None = None
) -> Found:
    """The values; next hops of all pairs, or predecessors of the rows; and the vertices of the rows.

    A walk that the dtype cannot hold is an error if it leads to one of the `ends`, where these are given.
    """
    wanted = None
    if ends is not None:
        wanted = np.zeros(given.shape[0], bool)
        wanted[ends] = True
    X = upload(X) if given.on_gpu and not is_on_gpu(X) else X  # rows come to the host
    if starts is None:
        if isinstance(X, Encoded) and not X.is_as_in(form_for_trees(given)):
            X = X.decoded()
        asked = None if wanted is None else wanted[:, None]
        tree = best_trees(given, X.T, None, backwards=True, wanted=asked, numbers=True).T
        X = X.decoded() if isinstance(X, Encoded) else X
    elif bound is None or is_on_gpu(X):
        tree = best_trees(given, X, starts, wanted=wanted, within=bound is not None)
    else:
        return X, trees_within(given, X, starts), starts
    return X if bound is None else cut_off(given, X, tree, bound), tree, starts
