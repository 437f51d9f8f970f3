"""Whether a cycle improves, so that a closure does not exist, or only rounding makes it look so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.rounding import rounds
from semiring.algebra.semiring import Semiring
from semiring.algorithms import labels
from semiring.algorithms.labels import improving_cycle
from semiring.algorithms.sparse.relaxation import CompressedRows
from semiring.errors import NoClosureError
from semiring.kernels.facts import Facts
from semiring.kernels.interface import FrontEngine
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.sums import narrow, widen
from semiring.operands.devices import to_host
from semiring.operands.sparse import Sparse

from .refusals import Index, improving

GONE = "rerun without overwrite=True to tell an improving cycle from rounding"


class Verdict(NamedTuple):
    """The verdict on the diagonal of a closure, or of factors: whether 1 ⊕ a ≠ 1 anywhere, and why.

    Attributes
    ----------
    error : NoClosureError or None
        If an improving cycle rules out a closure.
    rounded : sequence of tuple
        Places at which rounding alone makes a cycle look better than one.
    unstable : bool
        Whether rounding errors grew so far that the closure must be computed in another way.
    """

    error: NoClosureError | None = None
    rounded: Sequence[tuple[int, ...]] = ()
    unstable: bool = False


FINE = Verdict()


def may_diverge(low: Lowering) -> bool:
    """Return whether there can be an improving cycle; there is none in packed bits, or if one is the best element."""
    return low.algebra.may_diverge and low.kind != "packed"


def may_fail(low: Lowering) -> bool:
    """Return whether the closure may not exist, because a cycle improves or a star is undefined."""
    return may_diverge(low) or (low.kind != "packed" and not low.algebra.has_unit_stars)


def look_for_cycles(
    low: Lowering, work: np.ndarray, array: np.ndarray | None, facts: Facts, names: Sequence[Any] | None,
    exists: np.ndarray | None = None,
) -> Verdict:
    """Judge whether a closure, or factors, have an improving cycle (in min-plus a negative one): 1 ⊕ a ≠ 1.

    A cycle improves if its weight is better than one by more than the rounding errors of its edges: floats are known
    to within two machine epsilons, whole numbers are exact; see `semiring.algebra.rounding`. A cycle of weight one that
    only looks better does not improve, but in elimination rounding errors may double at every pivot of such cycles.

    Parameters
    ----------
    work : ndarray
        The closure, or factors, in storage.
    array : ndarray or None
        The matrix, if it was not overwritten, to search for a cycle.
    exists : ndarray of bool, optional
        Receives False for each matrix of a stack with an improving cycle; otherwise the first is an error.
    """
    if low.on_gpu and not improves_on_gpu(low, work):
        return FINE
    diagonal = work.diagonal(0, -2, -1)
    search = None if array is None else partial(search_elements, low.algebra, array, facts, names)
    return judge(low, to_host(diagonal) if low.on_gpu else diagonal, search, facts, names, exists,
                 doubt=GONE if array is None else None)


# The error, if a cycle through one of the vertices of a matrix, or of one of a stack, improves beyond rounding.
Search = Callable[[list[int], Index | None], NoClosureError | None]


def judge(
    low: Lowering, diagonal: np.ndarray, search: Search | None, facts: Facts, names: Sequence[Any] | None,
    exists: np.ndarray | None = None, doubt: str | None = None,
) -> Verdict:
    """Judge as `look_for_cycles` does, by the diagonals alone, in storage and on the host.

    Parameters
    ----------
    search : callable or None
        Searches the matrix for improving cycles, if it was not overwritten.
    doubt : str, optional
        What would show whether a cycle improves, or rounding errors grew. It is given if the closure cannot be
        computed in another way, and is part of the refusal.
    """
    S = low.algebra
    flat = diagonal.reshape(-1)
    (improved,) = low.improves(flat).nonzero()
    if not improved.size:
        return FINE
    n = diagonal.shape[-1]
    inexact = rounds(flat)
    slack = is_slack(low, flat[improved], facts, n)
    rounded: list[tuple[int, ...]] = []
    unstable = False
    for matrix in np.unique(improved // n):
        here = improved // n == matrix
        vertices = improved[here] % n
        certain = vertices[~slack[here]]
        place = tuple(map(int, np.unravel_index(matrix, diagonal.shape[:-1])))
        where = place or None
        error = None if search is None else search(vertices.tolist(), where)
        if error is not None and exists is None:
            return Verdict(error)
        if error is not None and exists is not None:
            exists[place] = False
            continue
        if certain.size and (doubt is not None or not inexact):
            doubt = doubt if doubt is not None and inexact else ""
            return Verdict(improving(S, names, int(certain[0]), None, None, where, doubt=doubt))
        unstable |= bool(certain.size)
        rounded += [(*place, v, v) for v in vertices.tolist()]
    return Verdict(None, rounded, unstable)


def search_elements(
    S: Semiring, array: Any, facts: Facts, names: Sequence[Any] | None, vertices: list[int], index: Index | None
) -> NoClosureError | None:
    """Search an array, or a matrix of a stack; see `Search`."""
    graph = labels.Dense(widen(S, to_host(array if index is None else array[index]), facts))
    return improving_through(S, graph, vertices, facts, names, array.dtype, index)


def settle(low: Lowering, work: Any, verdict: Verdict) -> None:
    """Raise the error of an improving cycle; write 1 where only rounding makes one look so.

    Raises
    ------
    NoClosureError
    """
    if verdict.error is not None:
        raise verdict.error
    for place in verdict.rounded:
        work[place] = low.unit


def look_at_fronts(low: Lowering, fronts: FrontEngine, A: Sparse) -> Verdict:
    """Judge as `look_for_cycles` does, by the pivots of a sparse matrix.

    `rounded` holds the numbers of pivots.
    """
    S, pivots, order, facts = A.S, fronts.pivots, fronts.analysis.order, A.facts
    improved = np.flatnonzero(low.improves(pivots))
    if not improved.size:
        return FINE
    slack = is_slack(low, pivots[improved], facts, A.n)
    graph = CompressedRows(A.indptr, A.indices, widen(S, A.values, facts))
    error = improving_through(S, graph, order[improved].tolist(), facts, A.names, A.dtype, None)
    certain = order[improved[~slack]]
    if error is None and certain.size and not rounds(A.values):
        error = improving(S, A.names, int(certain[0]), None, None, None)
    return Verdict(error, [(int(i),) for i in improved], bool(certain.size))


def improves_on_gpu(low: Any, *blocks: Any) -> bool:
    """Return whether 1 ⊕ a ≠ 1 anywhere on the diagonals; one number is copied from the GPU."""
    from semiring.kernels.cuda.dense.exchange import IMPROVED, exchange, report

    works = [work if work.ndim == 2 else work.reshape(-1, *work.shape[-2:]) for work in blocks if work.size]
    if not works:
        return False
    found = report()
    for work in works:
        exchange(low).inspect(work, 0, found, work is works[-1])
    return bool(found.read().flags & IMPROVED)


def improving_through(
    S: Semiring, graph: Any, vertices: list[int], facts: Facts, names: Sequence[Any] | None, dtype: np.dtype,
    index: Index | None,
) -> NoClosureError | None:
    """Return the error of a cycle through one of the vertices that improves by more than rounding, or None."""
    for sources in sources_of(S, facts, vertices):
        cycle, weight = improving_cycle(graph, S, sources)
        if cycle is not None:
            edges = labels.edges_along(graph, cycle) if dtype.kind == "f" else None
            return improving(S, names, cycle[0], cycle, narrow(S, weight, dtype), index, edges=edges)
    return None


def sources_of(S: Semiring, facts: Facts, vertices: list[int]) -> list[list[int]]:
    """Return the sets of vertices from which improving cycles are searched together.

    Beyond an infinitely good edge nothing improves, so one source could hide the cycle of another.
    """
    endless = (facts.low_limit and S.zero != -np.inf) or (facts.high_limit and S.zero != np.inf)
    return [[v] for v in vertices] if endless else [vertices]


def is_slack(low: Lowering, values: np.ndarray, facts: Facts, n: int) -> np.ndarray:
    """Return where n roundings of sums, or of products, explain the difference from one; for numbers only."""
    if low.storage.kind != "f":
        return np.zeros(len(values), bool)
    sums = low.algebra.traced is not None and low.algebra.traced.raw_mul.is_plain("add")
    scale = float(facts.largest) if sums else np.abs(values)
    return np.isfinite(values) & (np.abs(values - low.one[0]) <= n * np.finfo(low.dtype).eps * scale)
