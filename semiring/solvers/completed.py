"""Solver: closures with improving cycles, where a star was declared that sums them.

A cycle that is better than 1 goes on improving, and its walks have a limit only by the star of the algebra. Where one
was declared the task is computed again over `Semiring.completed`, whose kernels ask the star at every pivot.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.algebra.witnesses import is_finite
from semiring.algorithms.labels import by_length
from semiring.errors import NoClosureError
from semiring.graphs.texts import shown
from semiring.operands.convert import as_sparse, on_host
from semiring.operands.operand import Operand
from semiring.operands.sparse import Sparse, compressed_rows

from .cycles import improving
from .forms import as_python
from .one_path import graph_of, spelt, wide_graph
from .search import positions
from .task import Task, compute, options

SUMMED = ("closure", "factor", "solve")


def needs_stars_at_once(task: Task) -> bool:
    """Whether improving cycles would not be noticed, or a file would be begun twice."""
    o = task.options
    return task.verb in SUMMED and (not o.check or o.storing is not None)


def by_stars(task: Task, error: NoClosureError | None) -> Any:
    """The answer to a task that meets improving cycles.

    Raises
    ------
    NoClosureError
        Where a star that is needed does not exist, and for questions that need a best walk where there is none.
    """
    S = task.S.completed
    over, asked = [given.changed(S=S) for given in task.given], task.options
    if S.is_tropical and over[0].dtype.kind in "iu":  # which are Python's, where an infinity of the other side occurs
        over, asked = [on_host(given) for given in over], replace(asked, device="cpu", devices=None, gpu_memory=None)
    if task.verb in SUMMED:
        return compute(Task(task.verb, S, over, asked, task.arguments))
    assert error is not None
    if task.verb == "rows" and task.arguments[2] is None and not task.options.predecessors:
        return compute(Task("rows", S, (_factored(over[0]),), task.options, task.arguments))
    if task.verb == "path":
        return _path(task, over[0])
    raise NoClosureError(
        f"{error}; sr.closure(A, S) sums it by the star that was declared, and no walk is best", vertex=error.vertex,
        cycle=error.cycle, weight=error.weight, index=error.index,
    )


def _factored(given: Operand) -> Any:
    return compute(Task("factor", given.S, (on_host(given),), options(device="cpu")))


def _path(task: Task, over: Operand) -> tuple[Any, list[Any] | None]:
    """A best walk among the vertices between the two, whatever cycles there are elsewhere."""
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
        value = _value(graph.changed(S=over.S), *ends)
        walk = _walk_of(graph, value, *ends)
        if walk is None:
            cycle = [int(vertices[v]) for v in e.cycle or ()]
            raise _endless(S, names, cycle, e.weight, start, end) from None
        weight = value
    return as_python(weight), None if walk is None else [given.position(int(vertices[v])) for v in walk]


def _walk_of(graph: Sparse, value: Any, start: int, end: int) -> list[int] | None:
    """A walk that weighs as much as all walks together; None where none of so many rounds does."""
    wide, endless = wide_graph(graph, graph.facts), ~is_finite(graph.values)
    overflows = not is_finite(np.array([value], graph.dtype))[0]
    if overflows and not endless.any():
        return None  # a walk of finite edges is finite, but for overflow
    found = by_length(wide, graph.S.over(wide.values.dtype), start, (end, value))
    walk = None if found is None else found.walk_to(start, end)
    if walk is not None and overflows and is_finite(graph_of(graph).along(walk[:-1], walk[1:])).all():
        return None
    return walk


def _value(graph: Operand, start: int, end: int) -> Any:
    """The sum over all walks between two vertices, by the stars."""
    row = compute(Task("rows", graph.S, (_factored(graph),), options(), (start, None, None)))
    return np.asarray(row)[end]


def _between(given: Sparse, start: int, end: int) -> tuple[Sparse, np.ndarray] | None:
    """The part of a graph that lies on walks between two vertices, and which vertices it has; None without walks."""
    rows = given.rows
    tails, heads = np.repeat(np.arange(given.n), np.diff(rows.offsets)), rows.columns.astype(np.int64)
    inside = _reached(tails, heads, given.n, start) & _reached(heads, tails, given.n, end)
    if not inside[start]:
        return None
    vertices = np.flatnonzero(inside)
    edges = inside[tails] & inside[heads]
    place = np.cumsum(inside) - 1
    kept = compressed_rows(given.S, place[tails[edges]], place[heads[edges]], rows.values[edges],
                           (len(vertices), len(vertices)))
    return Sparse(kept, given.S, given.what), vertices


def _reached(tails: np.ndarray, heads: np.ndarray, n: int, start: int) -> np.ndarray:
    reached, count = np.zeros(n, bool), 0
    reached[start] = True
    while count != (count := int(reached.sum())):
        reached[heads[reached[tails]]] = True
    return reached


def _endless(S: Semiring, names: Any, cycle: list[int], weight: Any, start: int, end: int) -> NoClosureError:
    source, target = (shown(v if names is None else names[v]) for v in (start, end))
    error = improving(S, names, cycle[0] if cycle else start, cycle or None, weight, None)
    return NoClosureError(
        f"no walk from {source} to {target} is best: {error}; sr.closure_rows(A, S, {source}) has the sum over all "
        "walks, by the star that was declared", vertex=error.vertex, cycle=error.cycle, weight=error.weight,
    )
