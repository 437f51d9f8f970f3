"""Limits of best walks: what is worse than an element is left out, and where that is known before, not searched for."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np

from semiring.algebra.laws import equal, full, show
from semiring.algebra.semiring import Semiring
from semiring.algorithms.trees import better
from semiring.errors import LawError, SemiringError
from semiring.graphs.texts import clip_repr, infinities
from semiring.kernels.cpu.sparse.edge_numbers import EdgeNumbers
from semiring.operands.devices import is_on_gpu
from semiring.operands.operand import Operand

from .trees import best_trees, cut_off_on_gpu, least_or_greatest


def limit_of(given: Operand, limit: Any) -> np.ndarray:
    """A limit of walks in a graph as an array of one element.

    Raises
    ------
    LawError
        When an edge is better than one, so that a walk within the limit may begin with one beyond it.
    SemiringError
        When the limit is not an element.
    """
    S = given.S
    bound = element_of(S, limit, given.dtype)
    if not given.bounded:
        raise LawError(f"a limit needs that no edge is better than {show(S.over(given.dtype).one)} in {S.name}, for "
                       "else a walk within it may begin with one beyond it; compare the weights with it instead")
    return bound


def cut_off(given: Operand, values: Any, tree: Any, bound: np.ndarray) -> Any:
    """Leave out the walks that are worse than a limit: their values become zero, and nothing comes before them.

    Parameters
    ----------
    given : Operand
    values : array, shape (k, n)
        May be overwritten.
    tree : array of int32, shape (k, n), or EdgeNumbers
        Is overwritten.
    bound : ndarray, shape (1,)
        What `limit_of` made of the limit.

    Returns
    -------
    array, shape (k, n)
        The values that are left.
    """
    if is_on_gpu(values):
        return cut_off_on_gpu(given, values, tree, bound)
    far = beyond(given.S, values, bound)
    np.copyto(values, full(values[:1, :1], given.S.zero_in(values.dtype)), where=far)
    np.copyto(tree.numbers if isinstance(tree, EdgeNumbers) else tree, -1, where=far)
    return values


def beyond(S: Semiring, values: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """Which values are worse than a limit, an array of one element."""
    direction = least_or_greatest(S)
    if direction:
        return np.asarray(values > bound[0] if direction < 0 else values < bound[0])
    T = S.over(values.dtype)
    return np.stack([better(T, row, full(row, bound[0]))[0] for row in values]) if len(values) else values == T.zero


def trees_within(given: Operand, X: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """What `best_trees` finds for rows of which a search left out what is beyond a limit.

    Only the edges between vertices that some root reaches are looked at. Vertices stay in order, so that ties break the
    same way. No walk is lost: one whose value would be zero is beyond the limit.

    Examples
    --------
    >>> import semiring as sr
    >>> from semiring.operands.read import read
    >>> G = read(sr.as_graph([(0, 1, 3.0), (1, 2, 4.0), (2, 3, 1.0)]), sr.min_plus)
    >>> trees_within(G, np.array([[0.0, 3.0, np.inf, np.inf]]), np.array([0]))
    array([[-1,  0, -1, -1]], dtype=int32)
    """
    reached = ~equal(X, full(X[:1, :1], given.S.zero_in(X.dtype)))
    alone = ~reached[np.arange(len(roots)), roots]  # even the walk of no edge is beyond the limit
    rows, vertices = np.flatnonzero(~alone), np.flatnonzero(reached.any(axis=0))
    if len(rows) == len(roots) and len(vertices) == X.shape[1]:
        return np.asarray(best_trees(given, X, roots, within=True))
    found = np.full(X.shape, -1, np.int32)
    if rows.size:
        part = np.ix_(rows, vertices)
        inside = best_trees(given.part(vertices), np.ascontiguousarray(X[part]),
                            np.searchsorted(vertices, roots[rows]), within=True)
        found[part] = np.where(inside >= 0, vertices[inside], -1)
    return found


def element_of(S: Semiring, limit: Any, dtype: np.dtype) -> np.ndarray:
    """A limit as an array of one element."""
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
    """A limit as an array of one element, infinities of integers being the limits of their dtype.

    Raises
    ------
    TypeError
        For text, which NumPy would read as a number, or as a true value.
    ValueError
        For numbers that integers cut off: 5.5 would let pass what is 5 wide.
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
            raise ValueError(f"it has no place in {held.dtype}")
    return bound
