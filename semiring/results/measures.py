"""Measures of a whole graph from few rows of its closure: eccentricities, diameter, radius, and an estimated mean.

No n × n matrix is made from sparse ones. If the graph has small separators, like a road network, rows come from sparse
factors; otherwise, as for social networks, from searches.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.algorithms.sparse.ordering import NARROW
from semiring.errors import SemiringError
from semiring.graphs.texts import clip_repr
from semiring.operands.convert import as_sparse, on_host
from semiring.operands.operand import Operand, order_of_one
from semiring.operands.read import operand
from semiring.operands.sparse import Sparse
from semiring.solvers.paths import measures
from semiring.solvers.paths.measures import ascends, require_numbers
from semiring.solvers.paths.search import Positions, form_of
from semiring.solvers.sparse.analysis import analysis_of
from semiring.solvers.sparse.factors import SparseFactors
from semiring.solvers.sparse.substitution import Substitution
from semiring.solvers.task import Task, algebra_for, compute, options

FACTORED_VERTICES = 1000  # the most vertices for which factoring takes no noticeable time
ROWS_BYTES = 64 << 20  # bytes of rows that are computed at a time


def eccentricities(A: Any, S: Semiring | str | None = None) -> np.ndarray:
    """Return for every vertex the worst weight to another vertex that it reaches.

    With min_plus this is its eccentricity.

    Parameters
    ----------
    A : array_like, sparse matrix, graph or factors, shape (n, n)
        As for `closure`. Factors are used as they are.
    S : Semiring or str, optional
        Its ⊕ is the minimum or the maximum. Default: the algebra of A, if it is a `Matrix` or was prepared.

    Returns
    -------
    ndarray of A's dtype, shape (n,)
        In the order of the vertices; the algebra's zero if a vertex reaches no other. If ⊗ rounds, weights that
        differ by less than 16 units in the last place count as equal.

    Raises
    ------
    LawError
        If ⊕ is neither the minimum nor the maximum.
    NoClosureError
        If there is no closure, as with a negative cycle.
    SemiringError
        If A is not a square matrix or graph over S, or a result does not fit the dtype.

    Notes
    -----
    Rows of the closure from few vertices bound the eccentricities of all, and the next rows are taken from vertices
    whose bounds differ: F. W. Takes, W. A. Kosters, Computing the eccentricity distribution of large graphs (2013). The
    bounds hold over every closed semiring in which ⊕ is the minimum or the maximum. Rows come from sparse factors. But
    if a breadth-first search has a level of more than a quarter of all vertices, so that elimination fills in, they
    come from searches, provided that no edge is better than one and ⊗ commutes. Existing factors
    answer without eliminating again, as ``F.reduce("eccentricities")`` does.

    Examples
    --------
    >>> import semiring as sr
    >>> sr.eccentricities([("a", "b", 3.0), ("b", "c", 4.0), ("c", "a", 9.0)], sr.min_plus)
    array([ 7., 13., 12.])
    """
    return np.asarray(_measured("eccentricities", A, S))


def diameter(A: Any, S: Semiring | str | None = None) -> Any:
    """Return the worst weight of a pair with a path: the diameter.

    With min_plus it is the length of the longest of all shortest paths.

    Parameters
    ----------
    A : array_like, sparse matrix, graph or factors, shape (n, n)
        As for `closure`.
    S : Semiring or str, optional
        As for `eccentricities`.

    Returns
    -------
    number
        A Python number; the algebra's zero if no vertex reaches another.

    Raises
    ------
    LawError, NoClosureError, SemiringError
        As for `eccentricities`.

    Notes
    -----
    As for `eccentricities`; for most large graphs tens of rows are enough.

    Examples
    --------
    >>> import semiring as sr
    >>> A = sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0), ("c", "a", 9.0)])
    >>> sr.diameter(A, sr.min_plus), sr.radius(A, sr.min_plus)
    (13.0, 7.0)
    """
    return _measured("diameter", A, S)


def radius(A: Any, S: Semiring | str | None = None) -> Any:
    """Return the best eccentricity of a vertex that reaches another: the radius.

    With min_plus it is the eccentricity of a centre.

    Parameters
    ----------
    A : array_like, sparse matrix, graph or factors, shape (n, n)
        As for `closure`.
    S : Semiring or str, optional
        As for `eccentricities`.

    Returns
    -------
    number
        A Python number; the algebra's zero if no vertex reaches another.

    Raises
    ------
    LawError, NoClosureError, SemiringError
        As for `eccentricities`.

    Notes
    -----
    As for `eccentricities`.

    Examples
    --------
    >>> import semiring as sr
    >>> sr.radius([("a", "b", 3.0), ("b", "a", 4.0)], sr.min_plus)
    3.0
    """
    return _measured("radius", A, S)


class Estimate(NamedTuple):
    """A mean that was estimated from some rows.

    Attributes
    ----------
    mean : float
        NaN if none of the sources reaches another vertex.
    error : float
        Its standard error; 0 if all rows were used, and NaN for a single one of several.
    rows : int
        The number of rows used.

    Examples
    --------
    >>> import semiring as sr
    >>> sr.mean_weight([("a", "b", 3.0), ("b", "a", 4.0)], sr.min_plus)
    Estimate(mean=3.5, error=0.0, rows=2)
    """

    mean: float
    error: float
    rows: int


def mean_weight(
    A: Any, S: Semiring | str | None = None, *, rows: int = 256, seed: int | np.random.Generator = 0
) -> Estimate:
    """Estimate the mean weight over all pairs with a path, from random rows.

    With min_plus it is the mean distance.

    Parameters
    ----------
    A : array_like, sparse matrix or graph, shape (n, n)
        As for `closure_rows`.
    S : Semiring or str, optional
        With a selective ⊕, on numbers. Default: the algebra of A, if it is a `Matrix` or was prepared.
    rows : int, optional
        The number of sources, drawn uniformly without repetition; all vertices if there are no more than these.
    seed : int or numpy.random.Generator, optional
        The same seed gives the same sources.

    Returns
    -------
    Estimate
        ``mean``, its standard ``error``, and the number of ``rows``. Pairs of a vertex with itself do not count.

    Raises
    ------
    LawError
        If ⊕ does not select.
    NoClosureError
        If a source reaches a cycle that improves.
    SemiringError
        If A is not a square matrix or graph over S, the elements are not numbers, or rows is not a whole number ≥ 1.

    Notes
    -----
    Let t(v) be the sum and c(v) the number of the weights in the row of v. The mean R is estimated by Σ t / Σ c, and
    its variance by (1 − k/n) Σ (t − R c)² / (k (k − 1) c̄²): the ratio estimator, W. G. Cochran, Sampling Techniques
    (1977). ``factor(A, S).reduce("mean")`` is exact.

    Examples
    --------
    >>> import semiring as sr
    >>> A = sr.random_graph(2000, "rmat", degree=8, seed=1)
    >>> found = sr.mean_weight(A, sr.min_plus, rows=100)
    >>> exact = sr.mean_weight(A, sr.min_plus, rows=2000)
    >>> exact.error, abs(found.mean - exact.mean) < 4 * found.error
    (0.0, True)
    """
    if isinstance(rows, bool) or not isinstance(rows, (int, np.integer)) or rows < 1:
        raise SemiringError(f"rows must be a whole number ≥ 1, and is {clip_repr(rows)}")
    S = algebra_for("mean_weight", (A,), S)
    given = operand(A, S)
    n = order_of_one(given.shape, given.what)
    require_numbers(S, given.dtype)
    try:
        stream = np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise SemiringError(f"seed must be a whole number ≥ 0, or a numpy.random.Generator, and is "
                            f"{clip_repr(seed)}") from None
    sources = np.sort(stream.choice(n, min(int(rows), n), replace=False))
    found = [np.zeros((0, 2))]
    step = max(ROWS_BYTES // max(n * given.dtype.itemsize, 1), 1)
    for begin in range(0, len(sources), step):
        some = sources[begin : begin + step]
        found.append(_sums(given, some))
    return _estimate(np.concatenate(found), n)


def _sums(given: Operand, sources: np.ndarray) -> np.ndarray:
    """The total and the number of the weights to other vertices that each source reaches."""
    table = compute(Task.within("closure_rows", given, options(), (Positions(sources), None, None)))
    weights = np.asarray(table)
    there = weights != given.S.zero_in(weights.dtype)
    there[np.arange(len(sources)), sources] = False
    return np.stack([np.where(there, weights, 0).sum(axis=1, dtype=float), there.sum(axis=1)], axis=1)


def _estimate(sums: np.ndarray, n: int) -> Estimate:
    (total, pairs), k = sums.sum(axis=0), len(sums)
    if not pairs:
        return Estimate(float("nan"), float("nan"), k)
    mean = total / pairs
    if k == n:
        return Estimate(float(mean), 0.0, k)
    if k == 1:
        return Estimate(float(mean), float("nan"), k)
    squares = ((sums[:, 0] - mean * sums[:, 1]) ** 2).sum() / (k * (k - 1) * (pairs / k) ** 2)
    return Estimate(float(mean), float(np.sqrt((1 - k / n) * squares)), k)


def _measured(what: str, A: Any, S: Semiring | str | None) -> Any:
    S = algebra_for(what, (A,), S)
    came, measure = operand(A, S), measures.EXTREMES[what]
    order_of_one(came.shape, came.what)
    ascending = ascends(S, came.dtype)
    if isinstance(came.factors, SparseFactors):
        return came.factors.reduce(what)
    if came.kind != "sparse":
        closed = compute(Task("closure", S, (on_host(came),), options()))
        found = measures.of_closure(np.array(getattr(closed, "array", closed)), S, measure)
        return measures.for_caller(came, found)
    given = as_sparse(on_host(came))
    if given.n and _fills_in(given):
        form = form_of(given)
        if form.bounded and S.commutative and form.low.kind == "numba" and measures.applies(given):
            found = measures.by_searches(given, form, measure, ascending)
            return measures.for_caller(came, measure.of(found, S.zero_in(given.dtype), ascending))
    return measures.reduce(Substitution(given, analysis_of(given)), what)


def _fills_in(given: Sparse) -> bool:
    """Whether a breadth-first level is so large that separators are likely to be large."""
    return given.n > FACTORED_VERTICES and given.spread.widest > NARROW * given.n
