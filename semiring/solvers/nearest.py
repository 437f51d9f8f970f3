"""Solver: for every vertex the best of some sources, by one search from all of them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from semiring.algebra.laws import full
from semiring.errors import GraphError
from semiring.graphs.names import is_hashable
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.build import affordable, sums_numbers
from semiring.kernels.cpu.sparse.buckets import CpuBucketKernel
from semiring.kernels.lowering.base import Lowering
from semiring.operands.convert import as_sparse, on_host
from semiring.operands.operand import Operand, order_of_one
from semiring.operands.sparse import Sparse

from .plan import Plan
from .search import Search, form_of, place_of, positions, refuse_sums
from .task import Task, first_offer, options
from .trees import best_trees, origins_of

ROOT = object()  # what the vertex with an edge to every source is called, where vertices have names


def offer(task: Task) -> Plan:
    """Labels in buckets from all sources at once; elsewhere a search from a vertex with an edge of weight 1 to each."""
    S, given = task.S, task.operands[0]
    refuse_sums(S)
    n = order_of_one(given.shape)
    places = task.arguments[0]
    if isinstance(places, (set, frozenset)) and not (is_hashable(places) and places in (given.names or ())):
        places = list(places)
    starts = np.unique(positions(places, given.names, n, "places")[1])  # in which order they came does not matter
    if not starts.size:
        raise GraphError("nearest needs at least one place")
    matrix = as_sparse(on_host(given))
    form = form_of(matrix)
    if form.bounded and sums_numbers(form.low):
        low = affordable(form.low, float(n), float(n) ** 2, "buckets")
        if low.compiled:
            run = partial(_in_buckets, matrix, starts)
            return _plan(task, "labels in buckets", low, place_of(low), float(matrix.nnz), run)
    found = first_offer(_from_a_root(matrix, starts))
    run = partial(_by_predecessors, found, matrix, starts)
    return _plan(task, found.method, found.lowering, found.place, found.work, run)


def _plan(task: Task, method: str, low: Lowering, place: str, work: float, run: Any) -> Plan:
    given = task.operands[0]
    n = given.shape[0]
    return Plan(
        operation="nearest", algebra=task.S, shape=(n,), method=method, lowering=low, place=place, work=work,
        memory=n * (given.dtype.itemsize + 4), runner=run, reasons={"method": "one search from all places"},
    )


def _in_buckets(given: Sparse, starts: np.ndarray, plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    low, form = plan.lowering, form_of(given)
    stored = Search(given.S, given, form).stored
    found = CpuBucketKernel.of(low).nearest(stored, starts, float(form.facts.largest))
    if found is None:
        return _by_predecessors(first_offer(_from_a_root(given, starts)), given, starts, plan)
    x = low.decode(found)
    places = origins_of(given, x, starts)
    return x, _places(given, x, starts) if places is None else places


def _places(given: Sparse, x: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The place that the best walk to each vertex comes from, by the tree from a root before all places."""
    root = full(np.empty(1, given.dtype), given.S.one_in(given.dtype))
    X = np.concatenate([x, root])[None]
    return origins(best_trees(with_a_root(given, starts), X, np.array([given.n]), within=True)[0], starts)


def _by_predecessors(
    rooted: Plan, given: Sparse, starts: np.ndarray, plan: Plan
) -> tuple[np.ndarray, np.ndarray]:
    x, before = rooted.run()
    return np.ascontiguousarray(x[: given.n]), origins(before, starts)


def _from_a_root(given: Sparse, starts: np.ndarray) -> Task:
    root = given.n if given.names is None else ROOT
    made = Task("closure_rows", given.S, (with_a_root(given, starts),), options(predecessors=True), (root, None, None))
    made.strict = True  # where each comes from is asked of best walks
    return made


def with_a_root(given: Operand, starts: np.ndarray) -> Sparse:
    """The graph and one vertex more, with an edge of weight one to each of some."""
    rows = as_sparse(on_host(given)).rows
    ones = full(np.empty(len(starts), given.dtype), given.S.one_in(given.dtype))
    offsets = np.append(rows.offsets, rows.offsets[-1] + len(starts))
    made = Rows(offsets, np.append(rows.columns, starts.astype(np.int32)), np.append(rows.values, ones), rows.width + 1)
    names = None if given.names is None else [*given.names, ROOT]
    return Sparse(made, given.S, given.what, names)


def origins(before: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The place at which the way back from each vertex ends; −1 where there is none."""
    n = len(before) - 1
    here = np.append(before[:n], np.int32(-1))
    # A place that lies on no walk from another ends its own.
    here[starts] = np.where(here[starts] == n, starts, here[starts])
    while True:
        ahead = np.where(here < 0, here, here[here])
        if np.array_equal(ahead, here):
            return here[:n]
        here = ahead
