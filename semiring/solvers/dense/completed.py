"""Compute tasks with improving cycles, if a declared star, or the powers, sum them.

The walks round a cycle that is better than 1 go on improving, and have a limit only by the star of the algebra. If a
star was declared, the task is computed again over `Semiring.completed`, whose kernels use the star at every pivot.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from semiring.algebra.elements import equal, full
from semiring.algebra.semiring import Semiring
from semiring.algebra.witnesses import is_finite
from semiring.algorithms.labels import by_length
from semiring.errors import NoClosureError, SemiringError
from semiring.graphs.texts import shown
from semiring.operands.convert import as_dense, as_sparse, on_host
from semiring.operands.dense import Dense
from semiring.operands.operand import Operand
from semiring.operands.sparse import Sparse

from ..paths.search import answered, ends_of, positions
from ..paths.searches import spelt, wide_graph
from ..paths.walks import as_python, no_tree, reached_from
from ..refusals import improving, restated
from ..task import Task, compute, options
from .factors import of_closure

SUMMED = ("closure", "factor", "solve")
SQUARINGS = 64  # at most, so that walks of up to 2⁶⁴ edges are summed
SUMMED_VERTICES = 4096  # up to which a matrix is multiplied so often


def needs_stars_at_once(task: Task) -> bool:
    """Return whether improving cycles would not be noticed, or a file would be started twice."""
    o = task.options
    return task.verb in SUMMED and (not o.check or o.storing is not None)


def by_stars(task: Task, error: NoClosureError | None) -> Any:
    """Answer a task that meets improving cycles.

    Raises
    ------
    NoClosureError
        If a star that is needed does not exist, or no walk is best.
    """
    S = task.S.completed
    assert S is not None
    over, asked = [given.changed(S=S) for given in task.given], task.options
    if S.is_tropical and over[0].dtype.kind in "iu":  # Python's integers, if ∞ of the other sign occurs
        over, asked = [on_host(given) for given in over], replace(asked, device="cpu", devices=None, gpu_memory=None)
    if task.verb in SUMMED:
        return compute(Task(task.verb, S, over, asked, task.arguments))
    assert error is not None
    if task.verb == "closure_rows" and task.arguments[2] is None and not task.options.predecessors:
        return compute(Task("closure_rows", S, (_factored(over[0]),), task.options, task.arguments))
    if task.verb == "path":
        return _path(task, lambda graph, ends, start, end: _value(graph.changed(S=S), *ends))
    raise restated(error, f"{error}; sr.closure(A, S) sums it by the declared star, and sr.path(A, S, source, target) "
                   "finds a walk of that weight, if there is one")


def by_powers(task: Task, error: NoClosureError) -> Any:
    """Answer a task that meets a cycle without a star, if its powers reach their sum after all.

    A star is the expression of at most 128 powers. Products continue from there, see `sums`.

    Raises
    ------
    NoClosureError
        If no sum is reached.
    LawError
        For predecessors, limits and best paths of all pairs.
    """
    given, o = on_host(task.given[0]), task.options
    values = task.verb == "closure_rows" and task.arguments[2] is None and not o.predecessors
    asks = values or task.verb in (*SUMMED, "path")
    known = isinstance(given, (Dense, Sparse)) and error.weight is not None and given.shape[-1] <= SUMMED_VERTICES
    if o.storing is not None or not known or not _has_sum(task.S, error.weight, given.dtype):
        raise error
    if not asks:
        raise no_tree(task.S) from None
    A = as_dense(given)
    star, reached = sums(task.S, A.array)
    if not reached.all():
        raise error
    if task.verb == "closure":
        return A.wrap(star if o.reflexive else product(task.S, A.array, star))
    if task.verb == "factor":
        return of_closure(A.changed(S=task.S.summing), star)
    if task.verb == "solve":
        B = as_dense(on_host(task.given[1]))
        return B.wrap(product(task.S, B.array, star) if o.left else product(task.S, star, B.array))
    if task.verb == "path":
        return _path(task, lambda graph, ends, start, end: star[start, end])
    single, starts = positions(task.arguments[0], given.names, given.shape[0])
    ends = ends_of(task)
    return answered(task.given[0], star[starts] if ends is None else star[np.ix_(starts, ends)], starts, single, ends)


def _has_sum(S: Semiring, weight: Any, dtype: np.dtype) -> bool:
    """Whether the powers of a cycle alone have a sum; otherwise no matrix is multiplied."""
    try:
        return bool(sums(S, np.array([weight], dtype).reshape(1, 1))[1].all())
    except OverflowError:  # it leaves the dtype
        return False


def sums(S: Semiring, A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return A* of each matrix by products, and whether it is reached, and not by overflow or rounding only.

    If ⊕ is idempotent, (1 ⊕ A)^(2ᵏ) is A* if one more square is the same; in any case Π (1 ⊕ A^(2ᵏ)) is A* if a power
    is 0.
    """
    T, n, stack = S.over(A.dtype), A.shape[-1], A.reshape(-1, *A.shape[-2:])
    one = full(stack, T.zero)
    one[:, np.arange(n), np.arange(n)] = T.one
    X, power = np.array(T.add(one, stack)), stack.copy()
    reached, crept, left = np.zeros(len(stack), bool), np.zeros(len(stack), bool), np.arange(len(stack))
    for _ in range(SQUARINGS):
        if not left.size:
            break
        before, vanished = X[left], np.zeros(len(left), bool)
        try:
            if S.idempotent:
                after = product(S, before, before)
                done = equal(after, before).all((1, 2))
            else:
                last = power[left]
                power[left] = product(S, last, last)
                vanished = _left_floats(last, power[left])
                after = product(S, before, np.asarray(T.add(one[left], power[left])))
                done = T.is_zero(power[left]).all((1, 2))
        except SemiringError:  # a sum leaves the dtype
            break
        lost = ~np.asarray(T.contains(after)).all((1, 2)) | _left_floats(before, after) | vanished
        X[left] = after
        reached[left] = done & ~lost & ~crept[left]
        crept[left] = _crept(before, after)
        left = left[~done & ~lost]
    return X.reshape(A.shape), reached.reshape(A.shape[:-2])


def product(S: Semiring, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.asarray(compute(Task("matmul", S, (Dense(A, S), Dense(B, S, "B")), options(device="cpu"), (None,))))


def _left_floats(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """For each matrix whether a number overflowed, or nearly underflows."""
    if after.dtype.names:
        return np.logical_or.reduce([_left_floats(before[f], after[f]) for f in after.dtype.names])
    if after.dtype.kind != "f":
        return np.zeros(len(after), bool)
    vanishing = (before != 0) & (np.abs(before) < np.sqrt(np.finfo(after.dtype).tiny))
    changed = (before != after) & np.isfinite(before)
    return np.asarray((changed & (np.isinf(after) | vanishing)).any((1, 2)))


def _crept(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """For each matrix whether a number changed only a little: rounding may end changes that would go on forever."""
    if after.dtype.names:
        return np.logical_or.reduce([_crept(before[f], after[f]) for f in after.dtype.names])
    if after.dtype.kind != "f":
        return np.zeros(len(after), bool)
    with np.errstate(invalid="ignore"):
        by = np.abs(before - after)
        small = by <= np.sqrt(np.finfo(after.dtype).eps) * np.minimum(np.abs(before), np.abs(after))
    return np.asarray(((before != after) & np.isfinite(before) & small).any((1, 2)))


def _factored(given: Operand) -> Any:
    return compute(Task("factor", given.S, (on_host(given),), options(device="cpu")))


def _path(task: Task, value_of: Callable[..., Any]) -> tuple[Any, list[Any] | None]:
    """A best walk among the vertices between the two, whatever cycles are elsewhere."""
    given, S = on_host(task.given[0]), task.S
    start, end = positions(list(task.arguments), given.names, given.shape[0])[1].tolist()
    between, names = _between(as_sparse(given), start, end), given.names
    if between is None:
        return spelt(given, None, None, given.callers_dtype)
    graph, vertices = between
    ends = [int(np.searchsorted(vertices, v)) for v in (start, end)]
    inner = Task("path", S, (graph,), options(), tuple(ends))
    inner.strict = True
    try:
        weight, walk = compute(inner)
    except NoClosureError as e:
        value = value_of(graph, ends, start, end)
        walk = _walk_of(graph, value, *ends)
        if walk is None and S.completed is None:
            raise
        if walk is None:
            cycle = [int(vertices[v]) for v in e.cycle or ()]
            raise _endless(S, names, cycle, e.weight, start, end) from None
        weight = value
    return as_python(weight), None if walk is None else [given.position(int(vertices[v])) for v in walk]


def _walk_of(graph: Sparse, value: Any, start: int, end: int) -> list[int] | None:
    """A walk whose weight equals the sum over all walks; None if the search finds none."""
    wide, endless = wide_graph(graph, graph.facts), ~is_finite(graph.values)
    overflows = not is_finite(np.array([value], graph.dtype))[0]
    if overflows and not endless.any():
        return None  # a walk of finite edges is finite unless it overflows
    found = by_length(wide, graph.S.over(wide.values.dtype), start, (end, value))
    walk = None if found is None else found.walk_to(start, end)
    if walk is not None and overflows and is_finite(graph.graph().along(walk[:-1], walk[1:])).all():
        return None
    return walk


def _value(graph: Operand, start: int, end: int) -> Any:
    """The sum over all walks between two vertices, by the stars."""
    row = compute(Task("closure_rows", graph.S, (_factored(graph),), options(), (start, None, None)))
    return np.asarray(row)[end]


def _between(given: Sparse, start: int, end: int) -> tuple[Sparse, np.ndarray] | None:
    """The subgraph of all walks between two vertices, and its vertices; None if there is no walk."""
    inside = reached_from(given.rows, start) & reached_from(given.T.rows, end)
    if not inside[start]:
        return None
    vertices = np.flatnonzero(inside)
    return given.part(vertices).plain.changed(names=None), vertices


def _endless(S: Semiring, names: Any, cycle: list[int], weight: Any, start: int, end: int) -> NoClosureError:
    source, target = (shown(v if names is None else names[v]) for v in (start, end))
    error = improving(S, names, cycle[0] if cycle else start, cycle or None, weight, None)
    return restated(error, f"no walk from {source} to {target} is best: {error}; sr.closure_rows(A, S, {source}) sums "
                    "all walks by the declared star")
