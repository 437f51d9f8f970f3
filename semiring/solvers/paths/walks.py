"""Walks along trees, checked: those that a dtype cannot hold, that weigh something else, or that lead round a cycle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from semiring.algebra.laws import full, show
from semiring.algebra.rounding import fractions, over_fractions, rounds
from semiring.algebra.semiring import Semiring
from semiring.algorithms.labels import best_walks
from semiring.algorithms.sparse.relaxation import CompressedRows
from semiring.errors import LawError, SemiringError
from semiring.graphs.texts import quoted
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.sparse.structure import transpose
from semiring.machine.pieces import equal_shares
from semiring.operands.convert import as_sparse
from semiring.operands.operand import Operand
from semiring.operands.sparse import Sparse

from ..forms import fits

NEAR = 4  # roundings by which the weight of a walk may differ from the value of the best one, for each vertex
ALL = 1 << 22  # values that are looked at together
LOOKED = 1 << 14  # edges that are looked at together as fractions


def no_tree(S: Semiring) -> LawError:
    """That the best walks from a vertex make no tree, and what to ask for instead.

    Examples
    --------
    >>> import semiring as sr
    >>> str(no_tree(sr.max_plus))[:37]
    'max-plus: best walks go round a cycle'
    """
    return LawError(
        f"{S.name}: best walks go round a cycle here before that stops improving, which no tree of walks can tell; "
        "ask sr.path for one walk at a time, or sr.closure_rows for values alone"
    )


def refuse_false_walks(given: Operand, X: np.ndarray, roots: np.ndarray, P: np.ndarray, backwards: bool) -> None:
    """Raise where a walk along a tree weighs something else than X says, because the best one goes round a cycle.

    Only where cycles may improve for some rounds, and then no more: elsewhere those that improve are refused. A vertex
    before which that happens has a best edge from the cycle, or none from outside it.
    """
    S = given.S
    if not (S.has_reached_star or S.sums_cycles) or not S.selective or given.bounded:
        return
    sparse = as_sparse(given)
    rows = transpose(sparse.rows) if backwards else sparse.rows
    T, step = S.over(rows.values.dtype), max(ALL // max(X.shape[1], 1), 1)
    for begin in range(0, len(roots), step):
        some = slice(begin, begin + step)
        weights, values = _weights_along(T, rows, P[some], roots[some], backwards), X[some]
        told = P[some] >= 0
        if not _are_near(weights, values, rows.values)[told].all():
            raise no_tree(S)


def mend(given: Operand, X: np.ndarray, roots: np.ndarray, P: np.ndarray, backwards: bool) -> None:
    """Make walks weigh what X says in lines with a guess, where edges are better than one and floats round.

    A cycle that is one but for rounding may look best from within, so that no edge into it does from outside; then the
    edge by which it is entered is a guess. Lines in which that went wrong are searched, which keeps the edges that it
    goes along. Elsewhere a walk goes along best edges alone, whose values are each other's products up to a rounding.
    """
    S, sparse = given.S, as_sparse(given)
    if not rounds(sparse.values) or (backwards and not S.commutative):
        return
    rows = sparse.rows if not backwards else transpose(sparse.rows)
    graph, T = CompressedRows(rows.offsets, rows.columns, rows.values), S.over(rows.values.dtype)
    step = max(ALL // max(X.shape[1], 1), 1)
    for begin in range(0, len(roots), step):
        some = slice(begin, begin + step)
        weights = _weights_along(T, rows, P[some], roots[some])
        for i in (begin + np.flatnonzero(~_are_near(weights, X[some], rows.values).all(axis=1))).tolist():
            found = best_walks(graph, S, int(roots[i]))
            if found.cycle is None and found.rounds is None:
                P[i] = found.predecessor


def _weights_along(T: Any, rows: Rows, P: np.ndarray, roots: np.ndarray, backwards: bool = False) -> np.ndarray:
    """What the walks along trees weigh; zero where there is none. If `backwards`, walks lead to the roots.

    Of each vertex the walk from a vertex `before` it is known, of one edge at first. Then that to `before` is put
    ahead of it, which doubles the edges, until all walks begin at their roots.
    """
    weights = full(np.empty(P.shape, T.dtype), T.zero)
    weights[np.arange(len(roots)), roots] = T.one
    i, v = np.nonzero(P >= 0)
    before = P.astype(np.int64)
    tails = np.repeat(np.arange(len(rows.offsets) - 1), np.diff(rows.offsets))
    entries = np.searchsorted(tails * rows.width + rows.columns, before[i, v] * rows.width + v)
    weights[i, v] = rows.values[entries]
    for _ in range(P.shape[1].bit_length()):
        i, v = np.nonzero(before >= 0)
        u = before[i, v]
        with np.errstate(all="ignore"):
            walked = T.mul(weights[i, v], weights[i, u]) if backwards else T.mul(weights[i, u], weights[i, v])
        weights[i, v], before[i, v] = walked, before[i, u]
    return weights


def _are_near(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Whether elements differ by no more than the roundings of a long walk."""
    if x.dtype.names:
        return np.logical_and.reduce([_are_near(x[f], y[f], weights[f]) for f in x.dtype.names])
    if x.dtype.kind != "f":
        return np.asarray(x == y, bool)
    finite = np.abs(weights[np.isfinite(weights)])
    size = np.maximum(np.maximum(np.abs(x), np.abs(y)), finite.max(initial=0.0))
    with np.errstate(invalid="ignore"):
        near = np.isfinite(size) & (np.abs(x - y) <= NEAR * x.shape[1] * np.finfo(x.dtype).eps * size)
        return np.asarray((x == y) | near, bool)


def reached_from(A: Rows, source: int) -> np.ndarray:
    """Which vertices some walk leads to from one of them, or is there already: bool, shape (n,).

    Examples
    --------
    >>> reached_from(Rows(np.array([0, 1, 1, 2]), np.array([1, 0], np.int32), np.array([4.0, 5.0]), 3), 0)
    array([ True,  True, False])
    """
    from scipy.sparse import csr_array  # both take a while to import, and few calls come here
    from scipy.sparse.csgraph import breadth_first_order

    pattern = csr_array((np.ones(len(A.columns), np.int8), A.columns, A.offsets), shape=A.shape)
    reached = np.zeros(A.width, bool)
    reached[breadth_first_order(pattern, source, return_predecessors=False)] = True
    return reached


def _is_held(value: Any, dtype: np.dtype, zero: Any) -> bool:
    """Whether a dtype distinguishes a number from zero."""
    try:
        with np.errstate(all="ignore"):
            found = dtype.type(int(value)) if dtype.kind in "iu" else np.asarray(float(value)).astype(dtype)
    except OverflowError:
        return False
    return bool(found != zero)


def may_be_lost(given: Operand) -> bool:
    """Whether a walk may have a weight that its dtype reads as zero: too large or too small a number."""
    dtype = given.dtype
    if dtype.kind != "f":
        return dtype.names is not None or not fits(given, given.facts)
    return not given.S.is_tropical or float(given.facts.largest) * given.shape[0] > float(np.finfo(dtype).max)


def refuse_lost(
    given: Operand, rows: Rows, X: Any, roots: np.ndarray, lost: list[tuple[int, int]], backwards: bool,
    missing: np.ndarray | None,
) -> None:
    """Raise where a walk is lost because of its dtype, and is one that is wanted.

    `missing`: the walks that are wanted and were not found, whether or not there are any; None where all are wanted.
    """
    for i, v in _lost(given, rows if backwards else transpose(rows), X, lost, backwards):
        root = int(roots[i])
        if missing is None:
            raise not_held(given, root, v, backwards)
        ends = missing[i].copy()
        ends[root] = False
        if ends.any():
            edges = Sparse(rows, given.S, given.what).without_zeros().rows
            ends &= reached_from(transpose(edges) if backwards else edges, root)
        if ends.any():
            raise not_held(given, root, v if ends[v] else int(ends.argmax()), backwards)


def _lost(
    given: Operand, entering: Rows, X: Any, lost: list[tuple[int, int]], backwards: bool
) -> Iterator[tuple[int, int]]:
    """Lines, and vertices at which a product is zero only because its dtype ends before the number that it is.

    Other numbers that differ from zero by the rounding of sums, as 0.4 + 0.6 − 1 may, are what rounding makes of them.
    """
    S, dtype = given.S, given.dtype
    exact = over_fractions(S)
    if exact is None or S.fields:
        return
    T = S.over(dtype)
    lines, vertices = np.array(lost).T
    counts = np.diff(entering.offsets)[vertices]
    before = np.concatenate([[0], np.cumsum(counts)])
    parts = len(lost) if dtype.kind == "O" else 1 + int(before[-1]) // LOOKED
    for first, last in equal_shares(before, parts):
        of = np.repeat(np.arange(first, last), counts[first:last])
        edges = np.arange(before[first], before[last]) - before[of] + entering.offsets[vertices[of]]
        x, weights = X[lines[of], entering.columns[edges]], entering.values[edges]
        real = (x != full(x, T.zero)) & (weights != full(weights, T.zero))
        numbers = [fractions(part) for part in (x[real], weights[real])]
        if any(part is None for part in numbers):
            continue
        products = exact.mul(*reversed(numbers)) if backwards else exact.mul(*numbers)
        for k in np.flatnonzero(products != exact.zero).tolist():
            if not _is_held(products[k], dtype, T.zero):
                place = of[real][k]
                yield int(lines[place]), int(vertices[place])


def not_held(given: Operand, root: int, v: int, backwards: bool) -> SemiringError:
    """That the weight of a walk is a number that its dtype has not."""
    S, zero = given.S, given.S.over(given.dtype).zero
    a, b = (quoted(given.position(u)) for u in ([v, root] if backwards else [root, v]))
    return SemiringError(
        f"{S.name}: the best walk from {a} to {b} has a weight that {given.dtype} cannot hold: it would read "
        f"{show(zero)}, as if there were no walk. Convert the weights to a wider dtype, or scale them"
    )
