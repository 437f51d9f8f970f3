"""Checks of best walks: a weight that the dtype cannot hold, a walk that repeats a cycle or exceeds a limit."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Number
from typing import Any

import numpy as np

from semiring.algebra.elements import full, show
from semiring.algebra.rounding import fractions, least_or_greatest, over_fractions, rounds
from semiring.algebra.semiring import Semiring
from semiring.algorithms.labels import best_walks
from semiring.algorithms.sparse.relaxation import CompressedRows
from semiring.algorithms.trees import better
from semiring.errors import LawError, SemiringError
from semiring.graphs.texts import clip_repr, infinities, quoted, with_infinities
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.sparse.structure import transpose
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.sums import widen
from semiring.machine.pieces import equal_shares
from semiring.operands.convert import as_sparse, on_host
from semiring.operands.operand import Operand
from semiring.operands.sparse import Sparse

NEAR_ROUNDINGS = 4  # by which the weight of a walk may differ from the value of the best one, for each vertex
VALUES_AT_ONCE = 1 << 22
FRACTIONS_AT_ONCE = 1 << 14


def no_tree(S: Semiring) -> LawError:
    """Make the error for best walks that form no tree.

    Examples
    --------
    >>> import semiring as sr
    >>> str(no_tree(sr.max_plus))[:37]
    'max-plus: best walks go round a cycle'
    """
    return LawError(
        f"{S.name}: best walks go round a cycle here several times, so they do not form a tree; ask sr.path for one "
        "walk at a time, or sr.closure_rows for values alone"
    )


def refuse_false_walks(given: Operand, X: np.ndarray, roots: np.ndarray, P: np.ndarray, backwards: bool) -> None:
    """Raise an error if the weight of a walk along a tree differs from X, because the best walk repeats a cycle.

    This can happen only in algebras in which a cycle may improve a walk for some rounds and then stops. In all others
    an improving cycle was refused before. The vertex after such a cycle has a best edge from the cycle, or none from
    outside it.
    """
    S = given.S
    if not (S.has_reached_star or S.sums_cycles) or not S.selective or given.bounded:
        return
    sparse = as_sparse(given)
    rows = transpose(sparse.rows) if backwards else sparse.rows
    T, step = S.over(rows.values.dtype), max(VALUES_AT_ONCE // max(X.shape[1], 1), 1)
    for begin in range(0, len(roots), step):
        some = slice(begin, begin + step)
        weights, values = _weights_along(T, rows, P[some], roots[some], backwards), X[some]
        told = P[some] >= 0
        if not _are_near(weights, values, rows.values)[told].all():
            raise no_tree(S)


def mend(given: Operand, X: np.ndarray, roots: np.ndarray, P: np.ndarray, backwards: bool) -> None:
    """Search again the lines with a guessed edge in which the weight of a walk differs from X.

    Edges are better than one here, and floats round. A cycle whose weight is one up to rounding may have best edges
    from within only, and none from outside; then the edge that enters it is a guess. In all other lines walks consist
    of best edges, and their weights are products of these up to rounding.
    """
    S, sparse = given.S, as_sparse(given)
    if not rounds(sparse.values) or (backwards and not S.commutative):
        return
    rows = sparse.rows if not backwards else transpose(sparse.rows)
    graph, T = CompressedRows(rows.offsets, rows.columns, rows.values), S.over(rows.values.dtype)
    step = max(VALUES_AT_ONCE // max(X.shape[1], 1), 1)
    for begin in range(0, len(roots), step):
        some = slice(begin, begin + step)
        weights = _weights_along(T, rows, P[some], roots[some])
        for i in (begin + np.flatnonzero(~_are_near(weights, X[some], rows.values).all(axis=1))).tolist():
            found = best_walks(graph, S, int(roots[i]))
            if found.cycle is None and found.rounds is None:
                P[i] = found.predecessor


def _weights_along(T: Any, rows: Rows, P: np.ndarray, roots: np.ndarray, backwards: bool = False) -> np.ndarray:
    """Return the weights of walks along trees; zero where there is none. If `backwards`, walks lead to the roots.

    For each vertex the walk from a vertex `before` it is known, first of one edge. Each round prepends the walk to
    `before`, which doubles the number of edges, until all walks begin at their roots.
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
        near = np.isfinite(size) & (np.abs(x - y) <= NEAR_ROUNDINGS * x.shape[1] * np.finfo(x.dtype).eps * size)
        return np.asarray((x == y) | near, bool)


def reached_from(A: Rows, source: int) -> np.ndarray:
    """Return which vertices can be reached from one of them, itself included: bool, shape (n,).

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


def fits(given: Operand, facts: Facts) -> bool:
    """Return whether no sum of integers along a walk leaves their dtype."""
    dtype = given.dtype
    return dtype.kind not in "iu" or int(facts.largest) * given.shape[-1] < int(np.iinfo(dtype).max) // 2


def widened(given: Operand) -> Operand | None:
    """Return the graph with integers as exact floats or Python integers; None if no sum leaves their dtype."""
    given = on_host(given)
    if given.dtype.kind not in "iu" or not given.S.is_tropical or fits(given, given.facts):
        return None
    return given.with_elements(widen(given.S, given.elements, given.facts)).plain


def narrowed(S: Semiring, wide: np.ndarray, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Return sums of `widened` weights in their own dtype, zero if it has no such number; and where it has none.

    Examples
    --------
    >>> import semiring as sr
    >>> narrowed(sr.min_plus, np.array([5.0, 200.0, np.inf]), np.dtype("i1"))
    (array([  5, 127, 127], dtype=int8), array([False,  True, False]))
    """
    limits = np.iinfo(dtype)
    finite = np.abs(wide) != np.inf
    low, high = limits.min + bool(limits.min), limits.max - bool(S.zero == np.inf or limits.min)
    lost = np.asarray(finite & ((wide < low) | (wide > high)), bool)
    kept = np.where(finite & ~lost, wide, 0).astype(dtype)
    kept[lost] = S.zero_in(dtype)
    for infinity in (np.inf, -np.inf):
        kept[np.asarray(wide == infinity, bool)] = limits.max if infinity > 0 else limits.min
    return kept, lost


def may_be_lost(given: Operand) -> bool:
    """Whether the weight of a walk may be too large or too small for the dtype, which then reads zero."""
    dtype = given.dtype
    if dtype.kind != "f":
        return dtype.names is not None or not fits(given, given.facts)
    return not given.S.is_tropical or float(given.facts.largest) * given.shape[0] > float(np.finfo(dtype).max)


def refuse_lost(
    given: Operand, rows: Rows, X: Any, roots: np.ndarray, lost: list[tuple[int, int]], backwards: bool,
    missing: np.ndarray | None,
) -> None:
    """Raise an error if a walk that is wanted is lost because the dtype cannot hold its weight.

    `missing`: where a walk is wanted and none was found, whether or not it exists; None if all are wanted.
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
    """Yield lines and vertices at which a product is zero only because the dtype cannot hold it.

    Numbers that become zero by the rounding of sums, as 0.4 + 0.6 − 1 may, are left as they are.
    """
    S, dtype = given.S, given.dtype
    exact = over_fractions(S)
    if exact is None or S.fields:
        return
    T = S.over(dtype)
    lines, vertices = np.array(lost).T
    counts = np.diff(entering.offsets)[vertices]
    before = np.concatenate([[0], np.cumsum(counts)])
    parts = len(lost) if dtype.kind == "O" else 1 + int(before[-1]) // FRACTIONS_AT_ONCE
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
    """Make the error for a walk whose weight the dtype cannot hold."""
    S, zero = given.S, given.S.over(given.dtype).zero
    a, b = (quoted(given.position(u)) for u in ([v, root] if backwards else [root, v]))
    return SemiringError(
        f"{S.name}: the best walk from {a} to {b} has a weight that {given.dtype} cannot hold: it would read "
        f"{show(zero)}, as if there were no walk. Convert the weights to a wider dtype, or scale them"
    )


def limit_of(given: Operand, limit: Any) -> np.ndarray:
    """Read the limit of walks in a graph, as an array of one element.

    Raises
    ------
    LawError
        If an edge is better than one: a walk beyond the limit may then become better again.
    SemiringError
        When the limit is not an element.
    """
    S = given.S
    bound = element_of(S, limit, given.dtype)
    if not given.bounded:
        raise LawError(f"a limit needs that no edge is better than {show(S.over(given.dtype).one)} in {S.name}: "
                       "otherwise a walk beyond it may become better again; filter the result by its weights instead")
    return bound


def beyond(S: Semiring, values: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """Return which values are worse than a limit, an array of one element."""
    direction = least_or_greatest(S)
    if direction:
        return np.asarray(values > bound[0] if direction < 0 else values < bound[0])
    T = S.over(values.dtype)
    return np.stack([better(T, row, full(row, bound[0]))[0] for row in values]) if len(values) else values == T.zero


def as_python(value: Any) -> Any:
    """Return a number as a Python number; records and objects as they are."""
    return value.item() if isinstance(value, np.generic) and not isinstance(value, np.void) else value


def nothing_in(S: Semiring, dtype: np.dtype) -> Any:
    """Return the weight of "no walk": zero, as a Python number or a record, in which ∞ is a float."""
    return with_infinities(np.asarray(S.zero_in(dtype), dtype), S)[()] if dtype.names else as_python(S.zero)


def element_of(S: Semiring, limit: Any, dtype: np.dtype) -> np.ndarray:
    """Read a limit as an array of one element, and check it."""
    try:
        if np.iscomplexobj(limit) and dtype.kind != "c":
            raise TypeError("a complex number")
        if S.is_record and np.isscalar(limit) and not isinstance(limit, np.void):
            raise TypeError(f"it has the components {', '.join(S.default_dtype.names or ())}")
        bound = _as_array(S, limit, dtype)
    except (TypeError, ValueError, KeyError, OverflowError) as e:
        raise SemiringError(f"limit must be an element of {S.name}, and is {clip_repr(limit)}: {e}") from None
    if bound.shape != (1,):
        raise SemiringError(f"limit must be one element of {S.name}, and is {clip_repr(limit)}")
    if not np.all(S.over(dtype).contains(bound)):
        raise SemiringError(f"limit is {show(bound[0])}, outside the carrier of {S.name}")
    return bound


def _as_array(S: Semiring, limit: Any, dtype: np.dtype) -> np.ndarray:
    """Read a limit as an array of one element; for integers the ends of the dtype stand for infinities.

    Raises
    ------
    TypeError
        For text, which NumPy would read as a number, or as a true value.
    ValueError
        For a number that an integer dtype would round: 5.5 would become 5.
    """
    infinite, names = infinities(S, dtype), dtype.names
    if names:
        parts = list(S.components_of(limit.tolist() if isinstance(limit, (np.void, np.ndarray)) else limit))
        tables, kinds = [infinite.get(f, {}) for f in names], [dtype[f].kind for f in names]
    else:
        parts, tables, kinds = [limit], [infinite], [dtype.kind]
    for k, (part, table, kind) in enumerate(zip(parts, tables, kinds, strict=True)):
        if kind != "O" and np.asarray(part).dtype.kind in "US":
            raise TypeError("text is not a number; leave out the quotes")
        endless = isinstance(part, (float, np.floating)) and np.isinf(part)
        parts[k] = next((i for i, x in table.items() if x == part), part) if endless else part
    with np.errstate(over="ignore"):  # what is beyond the largest float is beyond all weights
        bound = S.array([tuple(parts) if names else parts[0]], dtype)
    fields: tuple[Any, ...] = names or (...,)
    for f, part in zip(fields, parts, strict=True):
        held = bound[f].reshape(-1)[:1]
        if held.dtype.kind in "biu" and isinstance(part, Number) and part != held[0].item():
            raise ValueError(f"it does not fit {held.dtype}")
    return bound
