"""Closures of which some may not exist: each matrix of a stack by itself, and which of them have one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.laws import full
from semiring.errors import NoClosureError
from semiring.operands.devices import to_host, upload
from semiring.operands.operand import Operand, order_of

from ..plan import Plan
from ..task import Task, compute, first_offer
from . import schedules


class Closures(NamedTuple):
    """Closures, and which of them exist; `semiring.closure` gives both with ``on_divergence="mask"``.

    Attributes
    ----------
    values : array, shape (…, n, n)
        As the verb gives them; filled with the algebra's zero where there is none.
    exists : ndarray of bool, shape (…)
        Of every matrix whether it has a closure.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> sr.closure(np.array([[[1.0]], [[-1.0]]]), sr.min_plus, on_divergence="mask").exists
    array([ True, False])
    """

    values: Any
    exists: Any


def offer(task: Task) -> Plan:
    """A stack by a schedule, which goes on where a matrix has no closure; one matrix by whichever solver takes it."""
    given, o = task.operands[0], task.options
    order_of(given.shape)
    if len(given.shape) > 2 and o.max_edges is None:
        exists = np.ones(given.shape[:-2], bool)
        plan = schedules.offer(task, exists)
        return replace(plan, runner=partial(_stack, task, plan.runner, exists))
    inner = Task("closure", task.S, (task.given[0],), replace(o, on_divergence="raise"))
    found = first_offer(inner)
    return replace(found, runner=partial(_whole, task.given[0], found))


def _stack(task: Task, run: Any, exists: np.ndarray, plan: Plan) -> Closures:
    exists[...] = True
    S, given, o = task.S.completed, task.operands[0], task.options
    again = not task.strict and (S is not None or task.S.sums_powers)
    kept = given.array.copy() if again and o.overwrite else given.array  # type: ignore[attr-defined]
    values = run(plan)
    if not again or exists.all():
        return Closures(values, exists)
    places = [tuple(place) for place in np.argwhere(~exists).tolist()]
    array = np.stack([to_host(kept[place]) for place in places])
    if S is not None:  # those that a star sums
        found, there = compute(Task("closure", S, (array,), replace(o, overwrite=False)))
    else:
        completed = import_module("semiring.solvers.dense.completed")
        found, there = completed.sums(task.S, array)
        if not o.reflexive:
            found = completed.product(task.S, array, found)
    for place, one, is_there in zip(places, found, there, strict=True):
        if is_there:
            values[place], exists[place] = upload(one) if given.on_gpu else one, True
    return Closures(values, exists)


def _whole(given: Operand, found: Plan, plan: Plan) -> Closures:
    try:
        return Closures(found.run(), np.ones(given.shape[:-2], bool)[()])
    except NoClosureError:
        values = full(np.empty(given.shape, given.dtype), given.S.zero_in(given.dtype))
        return Closures(given.wrap(upload(values) if given.on_gpu else values), np.False_)
