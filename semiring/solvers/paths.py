"""A best path between two vertices, where ⊕ selects."""

from __future__ import annotations

from typing import Any

from semiring.algebra.by_name import closable
from semiring.algebra.semiring import Semiring
from semiring.algorithms.labels import Dense, best_walks, weight_of
from semiring.errors import LawError, SemiringError
from semiring.kernels.lowering.sums import narrow, widen
from semiring.operands.devices import to_host
from semiring.operands.operand import check_square, examine, operand

from .cycles import improving
from .search import positions


def path(A: Any, S: Semiring | str, source: Any, target: Any) -> tuple[Any, list | None]:
    """One best path between two vertices, where ⊕ selects.

    Parameters
    ----------
    A : array_like, shape (n, n)
        As for `closure`; with a `Matrix` or a graph, vertices are given and returned by name.
    S : Semiring or str
        With a selective ⊕.
    source, target : int or hashable

    Returns
    -------
    weight : scalar
        ⊗ along the path; zero if there is none.
    vertices : list or None
        From source to target, or ``None``. Vertices occur twice only where going round a cycle is better than not, and
        stops being so after some rounds.

    Raises
    ------
    LawError
        When ⊕ does not select, so that no single path is best, or the algebra is not a semiring.
    NoClosureError
        When an improving cycle can be reached from the source: one that improves by more than the rounding of its
        edges explains.

    Examples
    --------
    >>> import semiring as sr
    >>> roads = sr.adjacency([("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0)], sr.min_plus)
    >>> sr.path(roads, sr.min_plus, "a", "c")
    (np.float64(7.0), ['a', 'b', 'c'])
    """
    S = closable(S)
    if not S.selective:
        raise LawError(f"a best path needs a selective ⊕, and in {S.name} {S._law_report.flags['selective']}")
    given = operand(A, S)
    array, names = given.array, given.names
    if array.ndim != 2:
        raise SemiringError(f"A must be one square matrix, and has shape {array.shape}")
    n = check_square(array)
    array = to_host(array)  # one source at a time is no work for a GPU
    facts = examine(S, array.dtype, [("A", array)])
    start, end = positions([source, target], names, n)[1].tolist()
    graph = Dense(widen(S, array, facts))
    found = best_walks(graph, S, start)
    if found.cycle is not None:
        raise improving(S, names, found.cycle[0], found.cycle, narrow(S, found.weight, array.dtype), None)
    vertices, weight, walk = None, found.labels[end], found.walk_to(start, end)
    if walk is not None:
        vertices, weight = walk if names is None else [names[v] for v in walk], weight_of(graph, S, walk)
    return narrow(S, weight, array.dtype), vertices
