"""Closures that do not exist: finding the vertex and the cycle, and telling them from rounding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from semiring.algebra.laws import show
from semiring.algebra.rounding import rounds
from semiring.algebra.semiring import Semiring
from semiring.algorithms.labels import Dense, improving_cycle
from semiring.errors import NoClosureError
from semiring.graphs.texts import shown
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.sums import narrow, widen
from semiring.operands.devices import to_host


def undefined_star(S: Semiring, names: Sequence[Any] | None, pivot: int) -> NoClosureError:
    vertex = names[pivot] if names is not None else pivot
    return NoClosureError(
        f"the closure over {S.name} does not exist: eliminating vertex {vertex!r} needs the star of an element that "
        "has none (a cycle through it has no limit, or its weight leaves the dtype's range). The input is unchanged "
        "unless overwrite=True",
        vertex=vertex,
    )


def may_diverge(low: Lowering) -> bool:
    """Whether there can be an improving cycle; on packed bits, and where one is the best element, none can."""
    return low.algebra.may_diverge and low.kind != "packed"


def check_cycles(
    low: Lowering, work: np.ndarray, array: np.ndarray | None, facts: Facts, names: Sequence[Any] | None,
    *, stable: bool = False,
) -> bool:
    """Refuse a closure with an improving cycle (in min-plus a negative one): on the diagonal, 1 ⊕ a ≠ 1.

    A cycle improves if its weight is better than one by more than the rounding of its edges explains: floats are known
    to two machine epsilons of their size, whole numbers are exact; see `semiring.algebra.rounding`. A cycle of weight
    one that rounding made look better is none, but elimination lets rounding errors double at every pivot of such
    cycles.

    Parameters
    ----------
    work : ndarray
        The closure, or factors, in storage.
    array : ndarray or None
        The matrix, if it is still there to look for a cycle in.
    stable : bool
        Whether errors did not grow, as in squaring.

    Returns
    -------
    bool
        False if the closure has to be computed anew, without growing errors.
    """
    S = low.algebra
    if low.kind == "cuda" and not _improves_on_gpu(low, work):
        return True
    flat = to_host(work.diagonal(0, -2, -1)).reshape(-1)
    one = low.one[0] if not low.storage.names else np.array(low.one, low.storage)
    improved = np.flatnonzero(low.add_one(flat) != one)
    if not improved.size:
        return True
    n = work.shape[-1]
    inexact = rounds(flat)
    slack = _is_slack(low, flat[improved], facts, n)
    for matrix in np.unique(improved // n):
        here = improved // n == matrix
        vertices = improved[here] % n
        certain = vertices[~slack[here]]
        where = int(matrix) if work.ndim > 2 else None
        if array is not None:
            _refuse_cycle(S, to_host(array.reshape(-1, n, n)[matrix]), vertices.tolist(), facts, names, where)
        if certain.size and (array is None or not inexact):
            raise improving(S, names, int(certain[0]), None, None, where, unsure=inexact)
        if certain.size and not stable:
            return False
        place = tuple(map(int, np.unravel_index(matrix, work.shape[:-2])))
        for v in vertices.tolist():
            work[(*place, v, v)] = one
    return True


def _improves_on_gpu(low: Any, work: Any) -> bool:
    """Whether 1 ⊕ a ≠ 1 anywhere on the diagonals; what comes back is one number."""
    from semiring.kernels.cuda.dense.exchange import IMPROVED, exchange, report

    if not work.size:
        return False
    found = report()
    exchange(low).inspect(work if work.ndim == 2 else work.reshape(-1, *work.shape[-2:]), 0, found)
    return bool(found.read().flags & IMPROVED)


def _refuse_cycle(
    S: Semiring, A: np.ndarray, vertices: list[int], facts: Facts, names: Sequence[Any] | None, matrix: int | None
) -> None:
    """Raise if a cycle through one of the vertices improves by more than rounding."""
    # Beyond an infinitely good edge nothing improves any more, so that one source could hide the cycle of another.
    endless = (facts.low_limit and S.zero != -np.inf) or (facts.high_limit and S.zero != np.inf)
    for sources in [[v] for v in vertices] if endless else [vertices]:
        cycle, weight = improving_cycle(Dense(widen(S, A, facts)), S, sources)
        if cycle is not None:
            raise improving(S, names, cycle[0], cycle, narrow(S, weight, A.dtype), matrix)


def _is_slack(low: Lowering, values: np.ndarray, facts: Facts, n: int) -> np.ndarray:
    """Whether the distance from one is no more than n roundings of sums (or products) could make; numbers only."""
    if low.storage.kind != "f":
        return np.zeros(len(values), bool)
    sums = low.algebra.traced is not None and low.algebra.traced.raw_mul.is_plain("add")
    scale = float(facts.largest) if sums else np.abs(values)
    return np.isfinite(values) & (np.abs(values - low.one[0]) <= n * np.finfo(low.dtype).eps * scale)


def improving(
    S: Semiring, names: Sequence[Any] | None, vertex: int, cycle: list[int] | None, weight: Any, matrix: int | None,
    *, unsure: bool = False,
) -> NoClosureError:
    """The refusal; unsure where the matrix is gone, and with it the means to tell an improvement from rounding."""
    label = (lambda v: names[v]) if names is not None else (lambda v: v)
    where = "" if matrix is None else f" of matrix {matrix} of the stack"
    if cycle is None:
        found = f"an improving cycle goes through vertex {label(vertex)!r}{where}"
        found += ", or rounding errors grew: without overwrite=True one is told from the other" if unsure else ""
        labels = None
    else:
        labels = [label(v) for v in cycle]
        route = " → ".join(map(shown, labels if len(labels) <= 12 else [*labels[:6], "…", *labels[-5:]]))
        found = f"the cycle {route}{where} of weight {show(weight)} is improving: each further round is better"
    return NoClosureError(
        f"the closure over {S.name} does not exist: {found}. Remove or mend one of its edges",
        vertex=label(vertex), cycle=labels, weight=weight,
    )
