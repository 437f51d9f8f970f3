"""Eccentricities, diameter and radius from sparse factors: by bounds from few rows, or from all rows.

With ≤ for "no worse than", d for A* and e(v) for the worst d(v, w) of all other vertices w that v reaches,

    d(v, u)  ≤  e(v)  ≤  d(v, u) ⊗ e(u)        where u and v reach each other.

The left side is the definition. The right side holds over every closed semiring in which ⊕ is the minimum or the
maximum: A* ⊗ A* = A* says d(v, w) ≤ d(v, u) ⊗ d(u, w), and ⊗ distributes over ⊕, so that it keeps the order. Nothing
is asked of inverses, signs of weights or directions of edges. Each row, beside the column of its vertex where the
matrix is not symmetric, thus bounds every eccentricity. Rows are taken from vertices that may still decide, half of
them at the rim and half in the middle, until none is left that may.

F. W. Takes, W. A. Kosters, Computing the eccentricity distribution of large graphs (2013); M. Borassi et al., Fast
diameter and radius BFS-based computation in (weakly connected) real-world graphs (2015).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.kernels.cpu.compile.pieces import ranges, share
from semiring.kernels.cpu.sparse.structure import transposed
from semiring.kernels.lowering.sums import as_floats, from_floats

from . import costs
from .all_rows import ascends, best_possible, by_vertex, summaries, without_own

if TYPE_CHECKING:
    from .sparse_factors import SparseFactors

TOGETHER = 16  # rows that are looked at together; fewer take as long
LOOK, ROW = 1e-3, 5e-9  # seconds that a look takes, and each of its rows for a vertex
FEWEST = 4  # looks that bounds need at least, so that all rows are better where these take no longer
SHARE = 0.5  # of the time that all rows are predicted to take, which bounds may: then all rows are taken
PIECE = 1 << 14  # vertices whose bounds are improved at once, and stay in cache
APART = 16  # units in the last place by which two sums of the same weights may differ
EXACT = 1 << 53  # integers below are floats

Choice = Callable[["Bounds"], tuple[np.ndarray, np.ndarray]]


def eccentricities(F: SparseFactors) -> np.ndarray:
    """For every vertex the worst weight to another that it reaches, zero where it reaches none; shape (n,).

    Where ⊗ rounds, sums of the same weights that differ in the last places alone are not told apart.
    """
    ascending = ascends(F)
    bounds = _looked_at(F, ascending, _undecided)
    return _from_all_rows(F, ascending) if bounds is None else bounds.eccentricities()


def diameter(F: SparseFactors) -> Any:
    """The worst of all eccentricities of vertices that reach another, as a number of Python's."""
    return _extreme(F, _may_be_worst, worst=True)


def radius(F: SparseFactors) -> Any:
    """The best of all eccentricities of vertices that reach another, as a number of Python's."""
    return _extreme(F, _may_be_best, worst=False)


def _extreme(F: SparseFactors, choice: Choice, worst: bool) -> Any:
    ascending, zero = ascends(F), F.lowering.algebra.zero_in(F.lowering.dtype)
    bounds = _looked_at(F, ascending, choice)
    found = _from_all_rows(F, ascending) if bounds is None else bounds.eccentricities(bounds.known)
    found = found[found != zero]
    if not len(found):
        return zero.item()
    return (found.max() if worst == ascending else found.min()).item()


def _from_all_rows(F: SparseFactors, ascending: bool) -> np.ndarray:
    """The eccentricities from every row of the closure."""
    zero = F.lowering.algebra.zero_in(F.lowering.dtype)
    if (found := summaries(F)) is not None:
        extreme = found[:, 3 if ascending else 2]
        return np.where(found[:, 1] > 0, extreme, zero).astype(F.lowering.dtype)

    def worst(vertices: np.ndarray, rows: Any) -> Any:
        xp = without_own(vertices, rows, zero)
        others = xp.where(rows == zero, best_possible(rows.dtype, ascending), rows)
        found = others.max(axis=1) if ascending else others.min(axis=1)
        return xp.where((rows != zero).any(axis=1), found, rows.dtype.type(zero))

    return by_vertex(F, worst, dtype=F.lowering.dtype)


# Bounds


def _looked_at(F: SparseFactors, ascending: bool, choice: Choice) -> Bounds | None:
    """Bounds that decide; None where they do not apply, or all rows are predicted to take less time than they would."""
    looks = _affordable_looks(F)
    if looks < FEWEST or not _applies(F):
        return None
    bounds = Bounds(F, ascending)
    bounds.look(np.linspace(0, F.n - 1, TOGETHER).astype(np.int64))
    for _ in range(looks - 1):
        open_, wanted = choice(bounds)
        if not len(open_):
            return bounds
        ends = bounds.ends[~bounds.known[bounds.ends]]  # the rim, which the vertices of the first look are far from
        bounds.look(np.unique(np.concatenate([ends, wanted])[:TOGETHER]))
    return None


def _affordable_looks(F: SparseFactors) -> int:
    """Looks that take no more than a share of the time of all rows."""
    low, n = F.lowering, F.n
    if low.on_gpu or low.kind == "objects" or F._closed is not None:
        return 0
    load = costs.estimate(low, F.analysis, F.analysis.nnz, True).load
    return int(SHARE * load.seconds(n, costs.lowering_rates(low), 0) / (LOOK + TOGETHER * n * ROW))


def _applies(F: SparseFactors) -> bool:
    """Whether numbers and products of them are floats, or exact as floats."""
    S, facts = F.lowering.algebra, F._A.facts
    assert S.traced is not None
    if F.lowering.dtype.kind == "f":
        return True
    chosen = S.traced.raw_mul.is_plain("minimum", "maximum")
    return (chosen or S.is_tropical) and int(facts.largest) * (1 if chosen else 2 * F.n) < EXACT


class Bounds:
    """Bounds of all eccentricities, as floats that are larger where the weight is worse.

    Vertices are numbered in the order of elimination, in which neighbours stand together.

    Parameters
    ----------
    F : SparseFactors
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

    def __init__(self, F: SparseFactors, ascending: bool):
        S, given = F.lowering.algebra, F._A
        dtype: np.dtype = given.dtype if given.dtype.kind == "f" else np.dtype(float)
        self._F, self._S, self._T = F, S, S.over(dtype)
        self._sign = 1 if ascending else -1
        self._zero = S.zero_in(given.dtype)
        self._nothing = dtype.type(self._sign * self._T.zero)
        values = self._floats(given.values)
        self._worst_edge = self._sign * (self._sign * values).max(initial=self._sign * self._T.one)
        self._symmetric = S.commutative and _is_symmetric(given.rows.offsets, given.rows.columns, given.values)
        self.least, self.most = np.full(F.n, -np.inf, dtype), np.full(F.n, self._nothing, dtype)
        degree = np.diff(given.indptr)
        self.alone = (degree == 0)[F.analysis.order]
        self.known, self.ends = self.alone.copy(), np.zeros(0, np.int64)
        assert S.traced is not None
        exact = given.dtype.kind != "f" or S.traced.raw_mul.is_plain("minimum", "maximum")
        self.slack = 0.0 if exact else APART * float(np.finfo(given.dtype).eps)

    def _floats(self, array: np.ndarray) -> np.ndarray:
        """Elements as floats."""
        if array.dtype.kind == "f":
            return array
        if self._S.is_tropical:
            return as_floats(self._S, array)
        result = array.astype(float)
        result[array == self._zero] = self._T.zero
        return result

    def eccentricities(self, some: np.ndarray | None = None) -> np.ndarray:
        """The lower bounds as elements, where those are decided: of all vertices by number, or of `some`."""
        F, dtype = self._F, self._F._A.dtype
        found = np.where(self.alone, self._T.zero, self._sign * self.least).astype(self._T.dtype)
        found = found[F.analysis.place] if some is None else found[some]
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
        F, order = self._F, self._F.analysis.order
        stored, own = F._empty((len(places), F.n)), np.arange(len(places))
        F._fill(order[places], stored, ends=order)
        rows = self._floats(F._checked(stored))
        rows[own, places] = self._T.zero
        columns = rows if self._symmetric else self._columns(places)
        pieces = ranges(F.n, -(-F.n // PIECE))
        parts: dict[int, tuple[np.ndarray, np.ndarray]] = {}

        def farthest(begin: int, end: int) -> None:
            badness = self._reached(self._sign * rows[:, begin:end], -np.inf)
            at = badness.argmax(axis=1)
            parts[begin] = badness[own, at], begin + at

        share(farthest, pieces, F._fronts.threads)
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

        share(improve, pieces, F._fronts.threads)
        self.known[places] = True
        self.alone[places] = alone
        self.least[places] = self.most[places] = worst

    def _reached(self, badness: np.ndarray, other: float) -> np.ndarray:
        """The same, with another number where there is no walk."""
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

    def _columns(self, places: np.ndarray) -> np.ndarray:
        """The columns of some vertices, one in each row."""
        F, low = self._F, self._F.lowering
        order, own = F.analysis.order, np.arange(len(places))
        B = np.full((F.n, len(places)), self._T.zero if F._A.dtype.kind == "f" else self._zero, F._A.dtype)
        B[order[places], own] = F._A.S.one_in(F._A.dtype)
        stored = low.encode(B, True)
        F._fronts.columns(stored)
        columns = self._floats(F._checked(np.ascontiguousarray(stored[order].T)))
        columns[own, places] = self._T.zero
        return columns


def _is_symmetric(offsets: np.ndarray, columns: np.ndarray, values: np.ndarray) -> bool:
    """Whether a matrix in compressed rows is its transpose."""
    turned, sources, entries = transposed(offsets, columns, len(offsets) - 1)
    same = np.array_equal(turned, offsets) and np.array_equal(sources, columns)
    return bool(same and np.array_equal(values[entries], values))


# Which vertices may still decide, and which of them to look at


def _may_be_worst(bounds: Bounds) -> tuple[np.ndarray, np.ndarray]:
    """Vertices whose eccentricity may be the worst."""
    known = bounds.known & ~bounds.alone
    open_ = np.flatnonzero(~bounds.known & (bounds.most > bounds.least[known].max(initial=-np.inf)))
    half = TOGETHER // 2
    others = np.flatnonzero(~bounds.known)
    if len(others) > half:  # the middle, from where bounds are sharp for all
        others = others[np.argpartition(bounds.least[others], half)[:half]]
    return open_, np.concatenate([_apart(open_, bounds.most, half), others])


def _may_be_best(bounds: Bounds) -> tuple[np.ndarray, np.ndarray]:
    """Vertices whose eccentricity may be the best."""
    known = bounds.known & ~bounds.alone
    open_ = np.flatnonzero(~bounds.known & (bounds.least < bounds.least[known].min(initial=np.inf)))
    half = TOGETHER // 2
    return open_, np.concatenate([_apart(open_, -bounds.least, half), _apart(open_, bounds.most, half)])


def _undecided(bounds: Bounds) -> tuple[np.ndarray, np.ndarray]:
    """Vertices whose bounds differ."""
    with np.errstate(invalid="ignore"):
        gap = bounds.most - bounds.least
        same = np.isfinite(gap) & (gap <= bounds.slack * np.abs(bounds.least))
        open_ = np.flatnonzero(~bounds.known & ~same)
    half, quarter = TOGETHER // 2, TOGETHER // 4
    return open_, np.concatenate([
        _apart(open_, gap, half), _apart(open_, -bounds.least, quarter), _apart(open_, bounds.most, quarter)
    ])


def _apart(some: np.ndarray, key: np.ndarray, count: int) -> np.ndarray:
    """So many of some vertices with large keys, apart from each other: the largest in each part of the order."""
    if len(some) <= count:
        return some
    return np.array([part[key[part].argmax()] for part in np.array_split(some, count)])
