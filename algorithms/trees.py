"""The trees of best walks, from their values alone, where ⊕ selects.

    x_s = 1,   x_v = ⊕_u x_u ⊗ a_uv     the row of the closure of a source s
    p_v = the least u of which x_u ⊗ a_uv is best, of those with x_u better than x_v

Values come from any method, and the edges say what came before them: what no method decides, none can decide
otherwise, so that ties break the same way however the values were computed. Where no edge is better than 1, walks get
worse from vertex to vertex, and a predecessor that is better than its vertex cannot come after it again.

That leaves the vertices whose best edges come from vertices that are no better than themselves: an edge that costs
nothing (of weight 0 in min-plus, all of them in max-min), or an edge that may even improve a walk. They are reached
from the others breadth first, along best edges: of those that can be reached in one step each takes its least
predecessor, then of those that can be reached from these, and so on. Rounding may leave no best edge into a set of
vertices that are the same to the last digit; then the best of the edges that lead into it is taken, and so on from
there. That is a guess where an edge may be better than 1: walks of such rows may weigh something else.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from semiring.algebra.elements import choose, full, is_nan
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.sparse.structure import transpose

NONE = -1
# What ⊗ is in Python.
PYTHON: dict[str, Callable[[Any, Any], Any]] = {"add": operator.add, "minimum": min, "maximum": max}


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of a graph by their heads, tails ascending, and by their tails.

    Attributes
    ----------
    offsets : ndarray of int64, shape (n + 1,)
        Edges ``offsets[v]`` to ``offsets[v + 1]`` lead to v.
    tails : ndarray of int32
    weights : ndarray
    leaving : tuple of ndarray
        Offsets and heads of the edges of each vertex.
    """

    offsets: np.ndarray
    tails: np.ndarray
    weights: np.ndarray
    leaving: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(cls, rows: Rows) -> Edges:
        """Take the edges of compressed rows."""
        turned = transpose(rows)
        return cls(turned.offsets, turned.columns, turned.values, (rows.offsets, rows.columns))

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(self.offsets) - 1

    def into(self, v: int) -> tuple[np.ndarray, np.ndarray]:
        """Tails and weights of the edges to a vertex, but for a loop."""
        tails = self.tails[self.offsets[v] : self.offsets[v + 1]]
        weights = self.weights[self.offsets[v] : self.offsets[v + 1]]
        others = tails != v
        return tails[others], weights[others]

    def heads(self, u: int) -> np.ndarray:
        """The heads of the edges of a vertex."""
        offsets, heads = self.leaving
        return heads[offsets[u] : offsets[u + 1]]

    def by_rank(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Vertices with a first edge to them and that edge, those with a second one, and so on."""
        lengths = np.diff(self.offsets)
        some, rank = np.flatnonzero(lengths), 0
        while some.size:
            yield some, self.offsets[some] + rank
            rank += 1
            some = some[lengths[some] > rank]


class Trees(NamedTuple):
    """Trees of best walks, a row each, and what is to be said of them.

    Attributes
    ----------
    predecessors : ndarray of int32, shape (k, n)
        −1 at the root, and where there is no walk.
    lost : list of tuple
        Rows and the first vertex of each whose value is zero though that of a vertex before it is not.
    guessed : list of int
        Rows in which rounding left no best edge to some vertices.
    """

    predecessors: np.ndarray
    lost: list[tuple[int, int]]
    guessed: list[int]


def predecessors(
    edges: Edges, T: Any, X: np.ndarray, roots: np.ndarray, bounded: bool, backwards: bool = False
) -> Trees:
    """The vertex before each on a best walk from each root.

    Parameters
    ----------
    edges : Edges
    T : Arithmetic
        Of the dtype of the values and weights, with a selective ⊕.
    X : ndarray, shape (k, n)
        Rows of the closure.
    roots : ndarray of int, shape (k,)
        The vertex of each row.
    bounded : bool
        Whether no edge is better than one.
    backwards : bool
        Whether walks lead to the roots: X holds columns of the closure, edges are turned, and products are a ⊗ x.

    Returns
    -------
    Trees

    Examples
    --------
    >>> import semiring as sr
    >>> ring = Edges(np.array([0, 1, 2, 3]), np.array([2, 0, 1]), np.array([1.0, 1.0, 5.0]),
    ...              (np.array([0, 1, 2, 3]), np.array([1, 2, 0])))
    >>> predecessors(ring, sr.min_plus.over("f8"), np.array([[0.0, 1.0, 6.0]]), np.array([0]), True)[0]
    array([[-1,  0,  1]], dtype=int32)
    """
    P = np.full(X.shape, NONE, np.int32)
    best, every = full(X, T.zero), full(X, T.zero)
    rows = np.arange(len(X))
    line = Line(edges, T, backwards)
    for heads, e in edges.by_rank() if bounded else ():
        tails = edges.tails[e]
        x_u, x_v = X[:, tails], X[:, heads]
        c = line.extended(x_u, edges.weights[e], tails != heads)
        every[:, heads] = better(T, every[:, heads], c)[1]
        improves = better(T, best[:, heads], c)[0] | (P[:, heads] == NONE)
        taken = better(T, x_v, x_u)[0] & improves
        best[:, heads] = choose(taken, c, best[:, heads])
        P[:, heads] = np.where(taken, tails, P[:, heads])
    empty = full(X, T.zero) == X
    open_ = ~empty & ((P == NONE) | better(T, best, every)[0])
    open_[rows, roots] = False
    lost = _first_of_each(empty & (P != NONE) if bounded else empty & _reached(edges, empty))
    P[empty] = NONE
    P[open_] = NONE
    some = np.flatnonzero(open_.any(axis=1)).tolist()
    guessed = [i for i in some if line.reach(X[i], P[i], open_[i], ~empty[i] & ~open_[i])]
    return Trees(P, lost, guessed)


class Tails(Protocol):
    """A graph that is asked for the edges to a vertex."""

    def into(self, v: int) -> tuple[np.ndarray, np.ndarray]:
        """Tails, ascending, and weights of the edges to a vertex, but for a loop."""


class DenseTails:
    """The edges of a square matrix."""

    def __init__(self, A: np.ndarray):
        self._A, self._all = A, np.arange(len(A))

    def into(self, v: int) -> tuple[np.ndarray, np.ndarray]:
        """See `Tails`."""
        others = self._all != v
        return self._all[others], self._A[others, v]


def walk_back(edges: Tails, T: Any, x: np.ndarray, source: int, target: int) -> list[int] | None:
    """A best walk to one vertex, from the values x of all walks from its source: back along the tree of `predecessors`.

    None where a best edge comes from a vertex that is no better than its head, so that the whole tree is needed. Where
    ⊕ is the lesser or the greater of two numbers, and Python's own operations are ⊗ to the bit, these do.

    Examples
    --------
    >>> import semiring as sr
    >>> A = np.array([[0.0, 1.0, 9.0], [np.inf, 0.0, 2.0], [np.inf, np.inf, 0.0]])
    >>> walk_back(DenseTails(A), sr.min_plus.over("f8"), np.array([0.0, 1.0, 3.0]), 0, 2)
    [0, 1, 2]
    """
    walk, plain = [target], plain_operations(T)
    while walk[-1] != source:
        v = walk[-1]
        tails, weights = edges.into(v)
        reached = (x[tails] != full(x[tails], T.zero)) & (weights != full(weights, T.zero))
        tails, weights = tails[reached], weights[reached]
        if not len(tails):
            return None
        u = _tail(T, x, v, tails, weights) if plain is None else _plain_tail(plain, x, v, tails, weights)
        if u is None:
            return None
        walk.append(u)
    return walk[::-1]


def _tail(T: Any, x: np.ndarray, v: int, tails: np.ndarray, weights: np.ndarray) -> int | None:
    """The least vertex that is better than v and from which a best edge leads to it."""
    with np.errstate(all="ignore"):
        c = np.asarray(T.mul(x[tails], weights))
    taken = better(T, full(x[tails], x[v]), x[tails])[0] & best_ones(T, c)
    return int(tails[taken.argmax()]) if taken.any() else None


def _plain_tail(
    plain: tuple[int, Callable[[Any, Any], Any]], x: np.ndarray, v: int, tails: np.ndarray, weights: np.ndarray
) -> int | None:
    sign, times = plain
    here, values, last = sign * x[v].item(), x[tails].tolist(), tails.tolist()
    c = [sign * times(a, w) for a, w in zip(values, weights.tolist(), strict=True)]
    best = min(c)
    return next((u for u, a, p in zip(last, values, c, strict=True) if p == best and sign * a < here), None)


def plain_operations(T: Any) -> tuple[int, Callable[[Any, Any], Any]] | None:
    """The operations on Python numbers: 1 if less is better, −1 if more is, and ⊗; None if the algebra has others.

    Examples
    --------
    >>> import semiring as sr
    >>> plain_operations(sr.max_min.over("f8"))
    (-1, <built-in function min>)
    >>> plain_operations(sr.min_plus.over("f4")), plain_operations(sr.plus_times.over("f8"))
    (None, None)
    """
    S = T.semiring
    if S.traced is None or S.fields or not (T.dtype == np.float64 or T.dtype.kind in "iu"):
        return None
    signs = [sign for name, sign in (("minimum", 1), ("maximum", -1)) if S.traced.add.is_plain(name)]
    products = [call for name, call in PYTHON.items() if S.traced.raw_mul.is_plain(name)]
    return (signs[0], products[0]) if signs and products else None


class Line:
    """The edges, and the arithmetic in which they extend walks."""

    def __init__(self, edges: Edges, T: Any, backwards: bool):
        self._edges, self._T, self._backwards = edges, T, backwards

    def extended(self, x: np.ndarray, weights: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """x_u ⊗ a_uv for some edges and all rows; zero for edges that do not count, and after what is zero."""
        zero = full(x, self._T.zero)
        found = self._product(x, np.broadcast_to(weights, x.shape))
        return choose((x == zero) | ~np.broadcast_to(counts, x.shape), zero, found)

    def _product(self, x: np.ndarray, weights: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(self._T.mul(weights, x) if self._backwards else self._T.mul(x, weights))

    def reach(self, x: np.ndarray, p: np.ndarray, open_: np.ndarray, done: np.ndarray) -> bool:
        """Predecessors of the open vertices of a row, breadth first from those that are done; whether one is a guess.
        """
        waiting, guessed = np.flatnonzero(open_).tolist(), False
        while open_.any():
            found = [(v, u) for v in waiting if (u := self._best_tail(x, v, done)) is not None]
            if not found:
                found, guessed = self._nearest(x, open_, done), True
            if not found:  # a walk to them was lost
                break
            for v, u in found:
                p[v], open_[v] = u, False
            done[[v for v, _ in found]] = True
            heads = np.unique(np.concatenate([self._edges.heads(v) for v, _ in found]))
            waiting = heads[open_[heads]].tolist()
        return guessed

    def _best_tail(self, x: np.ndarray, v: int, done: np.ndarray) -> int | None:
        """The least tail of a best edge to v that is done; None where there is none."""
        tails, weights = self._edges.into(v)
        reached = x[tails] != full(x[tails], self._T.zero)
        tails, weights = tails[reached], weights[reached]
        if not len(tails):
            return None
        c = self._product(x[tails], weights)
        right = done[tails] & best_ones(self._T, c)
        return int(tails[right][0]) if right.any() else None

    def _nearest(self, x: np.ndarray, open_: np.ndarray, done: np.ndarray) -> list[tuple[int, int]]:
        """The open vertex that is best reached from one that is done, and that one, if there is any."""
        found, values = [], []
        for v in np.flatnonzero(open_).tolist():
            tails, weights = self._edges.into(v)
            weights, tails = weights[done[tails]], tails[done[tails]]
            if len(tails):
                c = self._product(x[tails], weights)
                best = int(best_ones(self._T, c).argmax())
                found.append((v, int(tails[best])))
                values.append(c[best : best + 1])
        return [found[int(best_ones(self._T, np.concatenate(values)).argmax())]] if found else []


def better(T: Any, x: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Test which t improve x; return also the better of both."""
    total = np.asarray(T.add(x, t))
    improves = np.asarray(~(total == x) & ~is_nan(total), bool)
    return improves, choose(improves, total, x)


def best_of(T: Any, x: np.ndarray) -> int:
    """The position of the best element: pairs of elements are compared, and the better ones go on."""
    left = np.arange(len(x))
    while len(left) > 1:
        half = len(left) // 2
        a, b = left[:half], left[half : 2 * half]
        second, _ = better(T, x[a], x[b])
        left = np.concatenate([np.where(second, b, a), left[2 * half :]])
    return int(left[0])


def best_ones(T: Any, c: np.ndarray) -> np.ndarray:
    """Test which elements are as good as the best."""
    return ~better(T, c, full(c, c[best_of(T, c)]))[0]


def _reached(edges: Edges, empty: np.ndarray) -> np.ndarray:
    """The heads of the edges from vertices whose values are not zero."""
    reached = np.zeros_like(empty)
    for heads, e in edges.by_rank():
        reached[:, heads] |= ~empty[:, edges.tails[e]]
    return reached


def _first_of_each(where: np.ndarray) -> list[tuple[int, int]]:
    return [(i, int(where[i].argmax())) for i in np.flatnonzero(where.any(axis=1)).tolist()]
