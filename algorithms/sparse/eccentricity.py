"""Eccentricities, diameter and radius: by bounds from few rows of a closure, or from all rows.

With ≤ for "no worse than", d for A* and e(v) for the worst d(v, w) of all other vertices w that v reaches,

    d(v, u)  ≤  e(v)  ≤  d(v, u) ⊗ e(u)        where u and v reach each other.

The left side is the definition. The right side holds over every closed semiring in which ⊕ is the minimum or the
maximum: A* ⊗ A* = A* says d(v, w) ≤ d(v, u) ⊗ d(u, w), and ⊗ distributes over ⊕, so it keeps the order. It needs no
inverses, and holds for weights of any sign and edges in any direction. In the same way e(v) ≤ a(v, w) ⊗ e(w) for the
worst of v's edges. So each row bounds every eccentricity, together with the column of its vertex if the matrix is not
symmetric. Rows are computed for vertices that may still decide, half of them at the rim and half in the middle, until
no such vertex is left. Rows come from sparse factors, or from searches if fill-in is likely.

F. W. Takes, W. A. Kosters, Computing the eccentricity distribution of large graphs (2013); M. Borassi et al., Fast
diameter and radius BFS-based computation in (weakly connected) real-world graphs (2015).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple, Protocol

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.sparse.structure import is_symmetric
from semiring.kernels.lowering.sums import as_floats, from_floats
from semiring.machine.pieces import ranges, share

TOGETHER = 16  # rows that are looked at together; fewer take as long
PASSES = 2  # along edges after each look; each takes as long as a part of a search
PIECE = 1 << 14  # vertices whose bounds are improved at once, and stay in cache
APART = 16  # units in the last place by which two sums of the same weights may differ

Choice = Callable[["Bounds"], tuple[np.ndarray, np.ndarray]]


class Measure(NamedTuple):
    """A measure: all eccentricities, or one of them.

    Attributes
    ----------
    choice : callable
        Gives the vertices on which the answer may still depend, and some of them to look at.
    worst : bool or None
        Whether the worst eccentricity of a vertex that reaches another is wanted, or the best; None: all of them.
    """

    choice: Choice
    worst: bool | None

    def of(self, found: np.ndarray, zero: Any, ascending: bool) -> Any:
        """Return all eccentricities, or one as a Python number; zero if no vertex reaches another."""
        if self.worst is None:
            return found
        found = found[found != zero]
        if not len(found):
            return zero.item()
        return (found.max() if self.worst == ascending else found.min()).item()


def decided(bounds: Bounds, choice: Choice, looks: int | None = None) -> Bounds | None:
    """Look at rows until the bounds decide; return the bounds, or None if that takes more looks than allowed."""
    bounds.look(bounds.source.first())
    for _ in count(1) if looks is None else range(1, looks):
        open_, wanted = choice(bounds)
        if not len(open_):
            return bounds
        ends = bounds.ends[~bounds.known[bounds.ends]]  # the rim, which the vertices of the first look are far from
        bounds.look(np.unique(np.concatenate([ends, wanted])[:TOGETHER]))
    return None


class Source(Protocol):
    """Gives rows of a closure.

    Attributes
    ----------
    S : Semiring
    edges : Rows
        The graph.
    order, place : int64 array
        The vertices in an order in which neighbours stand together, by which all others number them; its inverse.
    threads : int
    """

    S: Semiring
    edges: Rows
    order: np.ndarray
    place: np.ndarray
    threads: int

    def first(self) -> np.ndarray:
        """Choose the vertices whose rows are looked at first."""

    def rows(self, places: np.ndarray) -> np.ndarray:
        """Return the rows of some vertices, in a new array."""

    def columns(self, places: np.ndarray) -> np.ndarray:
        """Return the columns of some vertices, one in each row."""


class Bounds:
    """Bounds of all eccentricities, as floats that are larger where the weight is worse.

    Parameters
    ----------
    source : Source
        Of rows; vertices are numbered in its order.
    ascending : bool
        Whether less is better.

    Attributes
    ----------
    least, most : ndarray, shape (n,)
        No eccentricity is better, or worse, than this.
    known : ndarray of bool, shape (n,)
        Whose rows were looked at, and those that reach no other.
    alone : ndarray of bool, shape (n,)
        That reach no other.
    ends : ndarray
        The farthest vertices of the rows that were looked at last.
    slack : float
        The relative error of two sums of the same weights.
    """

    def __init__(self, source: Source, ascending: bool):
        S, edges = source.S, source.edges
        given = edges.values.dtype
        dtype: np.dtype = given if given.kind == "f" else np.dtype(float)
        self.source, self._S, self._T = source, S, S.over(dtype)
        self._sign = 1 if ascending else -1
        self._zero = S.zero_in(given)
        self._nothing = dtype.type(self._sign * self._T.zero)
        values = self._floats(edges.values)
        self._worst_edge = self._sign * (self._sign * values).max(initial=self._sign * self._T.one)
        self._symmetric = S.commutative and is_symmetric(edges)
        self.least, self.most = np.full(edges.width, -np.inf, dtype), np.full(edges.width, self._nothing, dtype)
        self.alone = (np.diff(edges.offsets) == 0)[source.order]
        self.known, self.ends = self.alone.copy(), np.zeros(0, np.int64)
        assert S.traced is not None
        exact = given.kind != "f" or S.traced.raw_mul.is_plain("minimum", "maximum")
        self.slack = 0.0 if exact else APART * float(np.finfo(given).eps)

    def _floats(self, array: np.ndarray) -> np.ndarray:
        """Convert elements to floats."""
        if array.dtype.kind == "f":
            return array
        if self._S.is_tropical:
            return as_floats(self._S, array)
        result = array.astype(float)
        result[array == self._zero] = self._T.zero
        return result

    def eccentricities(self, measure: Measure) -> np.ndarray:
        """Return the lower bounds as elements, of all vertices or of those whose rows were looked at."""
        dtype = self.source.edges.values.dtype
        found = np.where(self.alone, self._T.zero, self._sign * self.least).astype(self._T.dtype)
        found = found[self.source.place] if measure.worst is None else found[self.known]
        if dtype.kind == "f":
            return found
        if self._S.is_tropical:
            return from_floats(self._S, found, dtype)
        none = found == self._T.zero
        found = np.where(none, 0, found).astype(dtype)
        found[none] = self._zero
        return found

    def look(self, places: np.ndarray) -> None:
        """Compute the rows of some vertices, and improve all bounds by them."""
        own, n, threads = np.arange(len(places)), self.source.edges.width, self.source.threads
        rows = self._floats(self.source.rows(places))
        rows[own, places] = self._T.zero
        columns = rows
        if not self._symmetric:
            columns = self._floats(self.source.columns(places))
            columns[own, places] = self._T.zero
        pieces = ranges(n, -(-n // PIECE))
        parts: dict[int, tuple[np.ndarray, np.ndarray]] = {}

        def farthest(begin: int, end: int) -> None:
            badness = self._reached(self._sign * rows[:, begin:end], -np.inf)
            at = badness.argmax(axis=1)
            parts[begin] = badness[own, at], begin + at

        share(farthest, pieces, threads)
        found, at = (np.stack([part[k] for part in parts.values()]) for k in range(2))
        best = found.argmax(axis=0)
        worst, self.ends = found[best, own], np.unique(at[best, own])
        alone = np.array([bad == -np.inf and bool((row == self._T.zero).all())
                          for bad, row in zip(worst, rows, strict=True)])
        factors = self._factors(worst, alone)

        def improve(begin: int, end: int) -> None:
            part = slice(begin, end)
            to, fro = columns[:, part], rows[:, part]
            bound = self._sign * np.asarray(self._T.mul(to, factors))
            if columns is not rows:
                np.copyto(bound, self._nothing, where=fro == self._T.zero)
            np.copyto(bound, self._nothing, where=to == self._T.zero)
            np.minimum(self.most[part], bound.min(axis=0), out=self.most[part])
            badness = self._reached(self._sign * to, -np.inf)
            np.maximum(self.least[part], badness.max(axis=0), out=self.least[part])

        share(improve, pieces, threads)
        self.known[places] = True
        self.alone[places] = alone
        self.least[places] = self.most[places] = worst
        if not self._symmetric:  # many may not be reached from where they lead
            for _ in range(PASSES):
                self._pass_back()

    def _pass_back(self) -> None:
        """Improve the upper bounds by those of the vertices that edges lead to: e(v) ≤ a(v, w) ⊗ e(w) for one of them.

        Rounded sums are padded by an error bound because they are propagated over many edges.
        """
        weights, sources, targets, begin = self._edges
        if not len(begin):
            return
        one = self._sign * self._T.one
        worst = self._sign * np.where(self.alone, one, np.maximum(self.most, one)).astype(self._T.dtype)
        bound = self._sign * np.asarray(self._T.mul(weights, worst[targets]))
        bound = np.maximum.reduceat(bound, begin)
        finite = np.isfinite(bound)
        bound[finite] += self.slack / 8 * np.abs(bound[finite])
        self.most[sources] = np.minimum(self.most[sources], bound)

    @cached_property
    def _edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Weights and ends of all edges that join two vertices, source by source: each source once, and its first edge.

        Vertices without such an edge are none of the sources.
        """
        edges, place = self.source.edges, self.source.place
        weights = self._floats(edges.values)
        tails = np.repeat(np.arange(edges.width), np.diff(edges.offsets))
        kept = (edges.columns != tails) & (weights != self._T.zero)
        tails = tails[kept]
        begin = np.flatnonzero(np.diff(tails, prepend=-1))
        return weights[kept], place[tails[begin]], place[edges.columns[kept]], begin

    def _reached(self, badness: np.ndarray, other: float) -> np.ndarray:
        """Replace the value of missing walks by another number, in place."""
        np.copyto(badness, other, where=badness == self._nothing)
        return badness

    def _factors(self, worst: np.ndarray, alone: np.ndarray) -> np.ndarray:
        """What ⊗ d(v, u) bounds e(v), for each u: e(u), or 1 if that is worse, since u is another vertex for v.

        Zero where a product of weights is, as it may be where floats underflow: then u may reach more than is seen.
        """
        one = self._sign * self._T.one
        found = self._sign * np.where(alone, one, np.maximum(worst, one)).astype(self._T.dtype)
        further = np.asarray(self._T.mul(found, np.full(len(found), self._worst_edge, self._T.dtype)))
        return np.where(further == self._T.zero, self._T.zero, found)[:, None]


# Which vertices may still decide, and which of them to look at


def _may_be_worst(bounds: Bounds) -> tuple[np.ndarray, np.ndarray]:
    """Find vertices whose eccentricity may be the worst."""
    known = bounds.known & ~bounds.alone
    open_ = np.flatnonzero(~bounds.known & (bounds.most > bounds.least[known].max(initial=-np.inf)))
    half = TOGETHER // 2
    others = np.flatnonzero(~bounds.known)
    if len(others) > half:  # the middle, from where bounds are sharp for all
        others = others[np.argpartition(bounds.least[others], half)[:half]]
    return open_, np.concatenate([_apart(open_, bounds.most, half), others])


def _may_be_best(bounds: Bounds) -> tuple[np.ndarray, np.ndarray]:
    """Find vertices whose eccentricity may be the best."""
    known = bounds.known & ~bounds.alone
    open_ = np.flatnonzero(~bounds.known & (bounds.least < bounds.least[known].min(initial=np.inf)))
    half = TOGETHER // 2
    return open_, np.concatenate([_apart(open_, -bounds.least, half), _apart(open_, bounds.most, half)])


def _undecided(bounds: Bounds) -> tuple[np.ndarray, np.ndarray]:
    """Find vertices whose bounds differ."""
    with np.errstate(invalid="ignore"):
        gap = bounds.most - bounds.least
        same = np.isfinite(gap) & (gap <= bounds.slack * np.abs(bounds.least))
        open_ = np.flatnonzero(~bounds.known & ~same)
    half, quarter = TOGETHER // 2, TOGETHER // 4
    return open_, np.concatenate([
        _apart(open_, gap, half), _apart(open_, -bounds.least, quarter), _apart(open_, bounds.most, quarter)
    ])


def _apart(some: np.ndarray, key: np.ndarray, count: int) -> np.ndarray:
    """Choose some vertices with large keys that are far apart: the largest in each part of the order."""
    if len(some) <= count:
        return some
    return np.array([part[key[part].argmax()] for part in np.array_split(some, count)])


EACH = Measure(_undecided, None)
DIAMETER = Measure(_may_be_worst, True)
RADIUS = Measure(_may_be_best, False)
