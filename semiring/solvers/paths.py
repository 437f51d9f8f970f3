"""Best paths between all vertices, or from some: values by whichever solver is best for them, then the trees."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from semiring.algebra.laws import full, show
from semiring.algebra.rounding import nothing_improves
from semiring.algebra.semiring import Semiring
from semiring.algorithms.trees import better
from semiring.errors import LawError, SemiringError
from semiring.graphs.texts import clip_repr, infinities
from semiring.operands.convert import as_sparse, on_device, on_host
from semiring.operands.dense import Dense, as_is
from semiring.operands.devices import is_on_gpu, to_host, upload
from semiring.operands.operand import Operand, order_of_one
from semiring.operands.sparse import Sparse

from .plan import Plan
from .search import positions
from .task import Options, Task, compute, first_offer
from .trees import best_trees
from .trees_gpu import cut_off_on_gpu, improves_on_gpu


def offer(task: Task) -> Plan:
    """Values by a closure, or by searches where sources are given."""
    S, o, given = task.S, task.options, task.given[0]
    if not S.selective:
        raise LawError(f"best paths need a selective ⊕, and in {S.name} {S._law_report.flags['selective']}")
    n, (sources, limit, _) = order_of_one(given.shape), task.arguments
    plain = unnamed(given)
    if sources is None:
        starts = None
        values = Task("closure", S, (plain,), replace(o, predecessors=False))
    else:
        starts = positions(sources, given.names, n)[1]
        values = Task("rows", S, (plain,), Options(device=o.device), ([plain.position(v) for v in starts.tolist()],))
    found = first_offer(values)
    lines = n if starts is None else len(starts)
    run = partial(_run, plain, values, starts, limit)
    return Plan(
        "paths", S, (lines, n), found.method, found.lowering, found.place, found.work, found.memory + lines * n * 4,
        run, found.needs, dict(found.reasons), found.tile,
    )


def unnamed(given: Operand) -> Operand:
    """The operand, to be answered by an array; its names serve in messages."""
    if isinstance(given, Sparse):
        return Sparse(given.rows, given.S, given.what, given.names, examined=given.examined)
    if isinstance(given, Dense):
        return type(given)(given.array, given.S, given.what, as_is, given.names)
    return as_sparse(on_host(given))


def _run(
    given: Operand, values: Task, starts: np.ndarray | None, limit: Any, plan: Plan
) -> tuple[Any, Any, np.ndarray | None]:
    """The values; next hops of all pairs, or predecessors of the rows; and the vertices of the rows."""
    taken_there = isinstance(given, Dense) and not given.on_gpu and plan.lowering.on_gpu and starts is None
    if taken_there:
        given = unnamed(on_device(given))
        values = Task("closure", given.S, (given,), values.options)
    X = compute(values)
    X = upload(X) if given.on_gpu and not is_on_gpu(X) else X  # rows come to the host
    if starts is None:
        tree = best_trees(given, X.T, np.arange(len(X)), backwards=True).T
    else:
        tree = best_trees(given, X, starts)
    if limit is not None:
        X = cut_off(given, X, tree, limit)
    return (to_host(X), to_host(tree), starts) if taken_there else (X, tree, starts)


def cut_off(given: Operand, values: Any, tree: Any, limit: Any) -> Any:
    """Leave out the walks that are worse than a limit: their values become zero, and nothing comes before them.

    Parameters
    ----------
    given : Operand
    values : array, shape (k, n)
        May be overwritten.
    tree : array of int32, shape (k, n)
        Is overwritten.
    limit : element

    Returns
    -------
    array, shape (k, n)
        The values that are left.

    Raises
    ------
    LawError
        When an edge is better than one, so that a walk within the limit may begin with one beyond it.
    SemiringError
        When the limit is not an element.
    """
    S = given.S
    if is_on_gpu(values):
        assert isinstance(given, Dense)
        improves = improves_on_gpu(given)
    else:
        weights = given.array if isinstance(given, Dense) else as_sparse(given).values
        improves = not nothing_improves(S.over(given.dtype), weights)
    bound = _element(S, limit, given.dtype)
    if improves:
        raise LawError(f"a limit needs that no edge is better than {show(S.over(given.dtype).one)} in {S.name}, for "
                       "else a walk within it may begin with one beyond it; compare the weights with it instead")
    if is_on_gpu(values):
        return cut_off_on_gpu(given, values, tree, bound)  # type: ignore[arg-type]
    far = beyond(S, values, limit)
    values[far], tree[far] = S.zero_in(values.dtype), -1
    return values


def beyond(S: Semiring, values: np.ndarray, limit: Any) -> np.ndarray:
    """Which values are worse than a limit.

    Raises
    ------
    SemiringError
        When the limit is not an element.
    """
    T, bound = S.over(values.dtype), _element(S, limit, values.dtype)
    return np.stack([better(T, row, full(row, bound[0]))[0] for row in values]) if len(values) else values == T.zero


def _element(S: Semiring, limit: Any, dtype: np.dtype) -> np.ndarray:
    """A limit as an array of one element."""
    try:
        if np.iscomplexobj(limit) and dtype.kind != "c":
            raise TypeError("a complex number")
        if S.is_record and np.isscalar(limit):
            raise TypeError(f"it has the components {', '.join(S.default_dtype.names or ())}")
        limits = {x: i for i, x in infinities(S, dtype).items()}
        bound = S.array([limits.get(limit, limit) if isinstance(limit, (float, np.floating)) else limit], dtype)
    except (TypeError, ValueError, OverflowError) as e:
        raise SemiringError(f"limit must be an element of {S.name}, and is {clip_repr(limit)}: {e}") from None
    if bound.shape != (1,):
        raise SemiringError(f"limit must be one element of {S.name}, and is {clip_repr(limit)}")
    if not np.all(S.over(dtype).contains(bound)):
        raise SemiringError(f"limit is {show(bound[0])}, outside the carrier of {S.name}")
    return bound
