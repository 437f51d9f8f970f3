"""Closures of data that are consistent up to a tolerance only: where a cycle improves, each edge is made worse by that.

    A′ = A with each edge worse by tol:   w + tol (min-plus), w − tol (max-plus), w / (1 + tol) (max-times), …

A cycle of k edges improves in A′ if it is better than one by more than k tol in A. So A is tried first, and A′ where
that has no closure. Values, rows, solutions, paths and trees are then all those of one matrix that has one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from semiring.algebra.rounding import is_relative, knows_tolerance, worse_by
from semiring.algebra.semiring import Semiring
from semiring.algorithms.labels import cycle_weight, edges_along
from semiring.errors import LawError, NoClosureError, SemiringError
from semiring.kernels.interface import Report
from semiring.operands.convert import as_sparse, on_host
from semiring.operands.dense import Dense
from semiring.operands.devices import to_host, upload
from semiring.operands.operand import Operand
from semiring.operands.stored import Loosened, Stored

from ..cycles import improving
from ..forms import told
from ..plan import Plan
from ..task import Task, compute, first_offer
from .existence import Closures


def offer(task: Task) -> Plan:
    """The plan without a tolerance."""
    refuse_without_tolerance(task.S, task.given[0].dtype)
    found = first_offer(_with(task, task.given[0], task.options.on_divergence, False))
    return replace(found, runner=partial(_run, task, found))


def refuse_without_tolerance(S: Semiring, dtype: np.dtype) -> None:
    """Refuse algebras and dtypes in which there is nothing to be a tolerance.

    Raises
    ------
    LawError
        Unless ⊕ selects, and ⊗ is + or × of numbers.
    SemiringError
        When weights are exact.
    """
    if not knows_tolerance(S):
        raise LawError(f"tol needs that ⊕ selects and that ⊗ adds or multiplies numbers, so that a cycle is better by "
                       f"some amount; {S.name} is {S.notation}")
    if dtype.kind != "f":
        raise SemiringError(f"tol is for weights that are rounded, and those of dtype {dtype} are exact: leave it out, "
                            "or convert A to floats")


def _with(task: Task, given: Operand, on_divergence: str, progress: bool | Report) -> Task:
    """The task without a tolerance, of another matrix."""
    asked = replace(task.options, tol=None, overwrite=False, on_divergence=on_divergence, progress=progress)
    made = Task(task.verb, task.S, (given, *task.given[1:]), asked, task.arguments)
    made.strict = True
    return made


def _run(task: Task, strict: Plan, plan: Plan) -> Any:
    o = task.options
    if o.progress is False:
        return _found(task, strict, False)
    with told(o.progress, f"{task.S.name} {task.verb}") as report:  # of both attempts, the later one from where it was
        return _found(task, first_offer(_with(task, task.given[0], o.on_divergence, report)), report)


def _found(task: Task, strict: Plan, progress: bool | Report) -> Any:
    given, wanted = task.given[0], task.options.on_divergence
    try:
        found = strict.run()
    except NoClosureError:
        # Of a stack the closures that exist are kept, so that none depends on the others.
        kept = task.verb == "closure" and len(given.shape) > 2
        found = compute(_with(task, given, "mask", progress)) if kept else None
    if found is not None and (not isinstance(found, Closures) or np.all(found.exists)):
        return found
    worse = loosened(given, float(task.options.tol or 0))
    with weights_as_given(given, float(task.options.tol or 0)):
        second = compute(_with(task, worse, wanted, progress))
    if task.verb == "paths":
        task.given[0] = worse  # whose edges they consist of
    if found is not None and len(given.shape) > 2:
        values = second.values if isinstance(second, Closures) else second
        for place in np.argwhere(found.exists).tolist():
            values[tuple(place)] = found.values[tuple(place)]
    return second


def within_tolerance(close: Callable[[Any], Any], given: Operand, tol: float | None) -> Any:
    """The closure of a matrix, or where a cycle improves that of edges that are worse by a tolerance.

    Raises
    ------
    NoClosureError
    """
    try:
        return close(given)
    except NoClosureError:
        if tol is None:
            raise
    with weights_as_given(given, float(tol)):
        return close(loosened(given, float(tol)))


@contextmanager
def weights_as_given(given: Operand, tol: float) -> Iterator[None]:
    """A context in which a cycle of edges that were made worse is refused with its weight on the edges as given.

    Raises
    ------
    NoClosureError
    """
    try:
        yield
    except NoClosureError as e:
        if e.cycle is None:
            raise
        graph = given.graph(e.index)
        position: Any = int if given.names is None else {name: v for v, name in enumerate(given.names)}.__getitem__
        cycle = [position(v) for v in e.cycle]
        edges, weight = edges_along(graph, cycle), cycle_weight(graph, given.S, cycle)
        raise improving(given.S, given.names, cycle[0], cycle, weight, e.index, edges=edges, tol=tol) from None


def loosened(given: Operand, tol: float) -> Operand:
    """The operand with each edge worse by a tolerance, where it was."""
    S, T = given.S, given.S.over(given.dtype)
    relative = is_relative(S)
    if not isinstance(given, Dense):
        matrix = as_sparse(on_host(given))
        return matrix.with_values(worse_by(T, matrix.values, tol, relative))
    if isinstance(given, Stored):
        return given.through(Loosened(given.source, S, given.dtype, tol))
    array = worse_by(T, to_host(given.array), tol, relative)
    return given.with_elements(upload(array) if given.on_gpu else array)
