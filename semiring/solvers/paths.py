"""Best paths between all vertices, or from some: values by whichever solver is best for them, then the trees."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from semiring.errors import LawError, NoClosureError
from semiring.operands.convert import as_sparse, on_device, on_host
from semiring.operands.dense import Dense, as_is
from semiring.operands.devices import is_on_gpu, to_host, upload
from semiring.operands.operand import Operand, order_of, order_of_one
from semiring.operands.sparse import Sparse

from .cycles import of_stack
from .limits import cut_off, limit_of, trees_within
from .plan import Plan
from .search import positions
from .task import Options, Task, compute, first_offer
from .trees import best_trees


def offer(task: Task) -> Plan:
    """Values by a closure, or by searches where sources are given."""
    S, o, given = task.S, task.options, task.given[0]
    if not S.selective:
        raise LawError(f"best paths need a selective ⊕, and in {S.name} {S._law_report.flags['selective']}")
    if len(given.shape) > 2 and isinstance(given, Dense):
        return _stack(task, given)
    n, (sources, limit, _) = order_of_one(given.shape), task.arguments
    plain = unnamed(given)
    if sources is None:
        starts = None
        values = Task("closure", S, (plain,), replace(o, predecessors=False))
    else:
        starts = positions(sources, given.names, n)[1]
        values = Task("rows", S, (plain,), Options(device=o.device),
                      ([plain.position(v) for v in starts.tolist()], None, limit))
    found = first_offer(values)
    lines = n if starts is None else len(starts)
    run = partial(_run, plain, found, o, starts, limit)
    return Plan(
        "paths", S, (lines, n), found.method, found.lowering, found.place, found.work, found.memory + lines * n * 4,
        run, found.needs, dict(found.reasons), found.tile,
    )


Found = tuple[Any, Any, np.ndarray | None]  # values, trees, and the vertices of the rows


def _stack(task: Task, given: Dense) -> Plan:
    """Values of all matrices by one closure of the stack, or row by row; then the trees of each."""
    sources, limit, _ = task.arguments
    order_of(given.shape)
    plain = unnamed(given)
    assert isinstance(plain, Dense)
    count = prod(given.shape[:-2])
    if sources is None or not count:
        values = Task("closure", task.S, (plain,), replace(task.options, predecessors=False))
        found = first_offer(values)
        plan = copy(found)
        plan.runner = partial(_closed_stack, plain, found, limit)
    else:
        one = plain.matrix((0,) * (len(given.shape) - 2))
        plan = first_offer(Task("paths", task.S, (one,), task.options, task.arguments))
        plan.runner, plan.work = partial(_searched_stack, plain, task), plan.work * count
    plan.operation, plan.shape = "paths", given.shape
    return plan


def _closed_stack(given: Dense, closure: Plan, limit: Any, plan: Plan) -> list[Found]:
    X = closure.run()
    matrices = [(given.matrix(place), X[place]) for place in np.ndindex(given.shape[:-2])]
    return [_trees(A, x, None, None if limit is None else limit_of(A, limit)) for A, x in matrices]


def _searched_stack(given: Dense, task: Task, plan: Plan) -> list[Found]:
    found = []
    for place in np.ndindex(given.shape[:-2]):
        try:
            found.append(compute(Task("paths", task.S, (given.matrix(place),), task.options, task.arguments)))
        except NoClosureError as e:
            raise of_stack(e, place) from None
    return found


def unnamed(given: Operand) -> Operand:
    """The operand, to be answered by an array; its names serve in messages."""
    if isinstance(given, Sparse):
        _ = given.rows, given.bounded  # which are known of the operand from now on
        return given.changed(of_graph=False, callers_dtype=given.dtype)
    if isinstance(given, Dense):
        return type(given)(given.array, given.S, given.what, as_is, given.names)
    return as_sparse(on_host(given))


def _run(
    given: Operand, values: Plan, o: Options, starts: np.ndarray | None, limit: Any, plan: Plan
) -> Found:
    taken_there = isinstance(given, Dense) and not given.on_gpu and plan.lowering.on_gpu and starts is None
    if taken_there:
        given = unnamed(on_device(given))
        values = first_offer(Task("closure", given.S, (given,), replace(o, predecessors=False)))
    bound = None if limit is None else limit_of(given, limit)
    X, tree, starts = _trees(given, values.run(), starts, bound)
    return (to_host(X), to_host(tree), starts) if taken_there else (X, tree, starts)


def _trees(given: Operand, X: Any, starts: np.ndarray | None, bound: np.ndarray | None) -> Found:
    """The values; next hops of all pairs, or predecessors of the rows; and the vertices of the rows."""
    X = upload(X) if given.on_gpu and not is_on_gpu(X) else X  # rows come to the host
    if starts is None:
        tree = best_trees(given, X.T, np.arange(len(X)), backwards=True).T
    elif bound is None or is_on_gpu(X):
        tree = best_trees(given, X, starts, within=bound is not None)
    else:
        return X, trees_within(given, X, starts), starts
    return X if bound is None else cut_off(given, X, tree, bound), tree, starts
