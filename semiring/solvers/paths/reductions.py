"""Something about all pairs of vertices from rows that come and go, so that no n × n matrix is ever held.

Pairs without a path do not count, and no vertex is its own pair.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import LawError, SemiringError
from semiring.graphs.texts import clip_repr
from semiring.operands.devices import is_on_gpu, module_of, to_host
from semiring.operands.operand import Operand

from .eccentricity import DIAMETER, EACH, RADIUS, Measure, by_factors

if TYPE_CHECKING:
    from ..sparse.substitution import Reduction, Substitution

EXTREMES = {"eccentricities": EACH, "diameter": DIAMETER, "radius": RADIUS}
OPTIONS = {"histogram": "bins", "nearest": "k"}  # of those that have one


def reduce(F: Substitution, what: str | Reduction, /, **options: Any) -> Any:
    """Reduce the rows of the closure.

    Parameters
    ----------
    F : Substitution
    what : {"mean", "eccentricities", "diameter", "radius", "histogram", "nearest"} or callable
        A callable takes the numbers of some vertices, shape (k,), and their rows, shape (k, n), CuPy's where the
        factors are on a GPU, and returns an array of k values or rows; the answer holds them in the order of the
        vertices.
    **options
        For the function.
    """
    functions: dict[str, Callable[..., Any]] = {
        "mean": mean, **{name: partial(extremes, measure=measure) for name, measure in EXTREMES.items()},
        "histogram": histogram, "nearest": nearest,
    }
    if not callable(what) and not (isinstance(what, str) and what in functions):
        raise SemiringError(f"unknown reduction {clip_repr(what)}: it is one of {', '.join(functions)}, or a function")
    name = "a function" if callable(what) else what
    takes = OPTIONS.get(name)
    for option in options:
        if option != takes:
            raise SemiringError(f"reduce: {name} has no option {option!r}; it has {takes or 'none'}")
    return by_vertex(F, what) if callable(what) else functions[what](F, **options)


def extremes(F: Substitution, measure: Measure) -> Any:
    """Eccentricities, or the worst or the best of them: by bounds from few rows, or from all.

    Where ⊗ rounds, sums of the same weights that differ in the last places alone are not distinguished.
    """
    S, dtype = F.lowering.algebra, F.lowering.dtype
    ascending = ascends(S, dtype)
    found = by_factors(F, measure, ascending)
    return shown(F.A, measure.of(_from_all_rows(F, ascending) if found is None else found, S.zero_in(dtype), ascending))


def shown(given: Operand, found: Any) -> Any:
    """Eccentricities, or one of them, as the caller gets them."""
    return given.as_shown(found) if isinstance(found, np.ndarray) else given.number(given.dtype.type(found))


def _from_all_rows(F: Substitution, ascending: bool) -> np.ndarray:
    """The eccentricities from every row of the closure."""
    zero = F.lowering.algebra.zero_in(F.lowering.dtype)
    if (found := summaries(F)) is not None:
        extreme = found[:, 3 if ascending else 2]
        return np.where(found[:, 1] > 0, extreme, zero).astype(F.lowering.dtype)

    return by_vertex(F, lambda vertices, rows: _worst(vertices, rows, zero, ascending), dtype=F.lowering.dtype)


def of_closure(closed: np.ndarray, S: Semiring, measure: Measure) -> Any:
    """Eccentricities from a whole closure, which is written over."""
    zero, ascending = S.zero_in(closed.dtype), ascends(S, closed.dtype)
    found = _worst(np.arange(len(closed)), closed, zero, ascending) if len(closed) else closed.reshape(0)
    return measure.of(found, zero, ascending)


def _worst(vertices: np.ndarray, rows: Any, zero: Any, ascending: bool) -> Any:
    """The worst of each row beside its own vertex; zero where there is nothing else."""
    xp = without_own(vertices, rows, zero)
    others = xp.where(rows == zero, best_possible(rows.dtype, ascending), rows)
    found = others.max(axis=1) if ascending else others.min(axis=1)
    return xp.where((rows != zero).any(axis=1), found, rows.dtype.type(zero))


def mean(F: Substitution) -> float:
    """The mean weight over all pairs with a path: with min_plus the mean distance."""
    require_numbers(F.lowering.algebra, F.lowering.dtype)
    if (found := summaries(F)) is not None:
        pairs = found[:, 1].sum()
        return float(found[:, 0].sum() / pairs) if pairs else float("nan")
    zero = F.lowering.algebra.zero_in(F.lowering.dtype)

    def sums(vertices: np.ndarray, rows: np.ndarray) -> np.ndarray:
        rows = to_host(rows)
        rows[np.arange(len(rows)), vertices] = 0  # adds nothing
        total = rows.sum(axis=1, dtype=None if rows.dtype.kind == "f" else float).astype(float)
        count = np.full(len(rows), rows.shape[1] - 1)
        for i in np.flatnonzero(~np.isfinite(total) | _may_hide(rows.dtype, zero)):
            there = rows[i] != zero
            there[vertices[i]] = False
            total[i], count[i] = rows[i][there].sum(dtype=float), there.sum()
        return np.stack([total, count], axis=1)

    found = by_vertex(F, sums)
    pairs = found[:, 1].sum() if F.n else 0
    return float(found[:, 0].sum() / pairs) if pairs else float("nan")


def _may_hide(dtype: np.dtype, zero: Any) -> bool:
    """Whether a sum does not show that a summand was zero, as ∞ does."""
    return dtype.kind != "f" or not np.isinf(zero)


def histogram(F: Substitution, bins: Any = 50) -> tuple[np.ndarray, np.ndarray]:
    """How many pairs there are of what weight.

    Parameters
    ----------
    F : Substitution
    bins : int or array_like
        Edges of the bins, as in `numpy.histogram`; a number of bins of equal width takes one more pass, to find the
        extremes.

    Returns
    -------
    counts, edges : ndarray
    """
    require_numbers(F.lowering.algebra, F.lowering.dtype)
    _refuse_bins(bins)
    zero = F.lowering.algebra.zero_in(F.lowering.dtype)

    def others(vertices: np.ndarray, rows: Any) -> Any:
        xp = without_own(vertices, rows, zero)
        return rows[(rows != zero) & xp.isfinite(rows)] if rows.dtype.kind == "f" else rows[rows != zero]

    if np.ndim(bins) == 0:
        ends: list[tuple[float, float]] = []

        def look(vertices: np.ndarray, rows: np.ndarray) -> None:
            some = others(vertices, rows)
            if some.size:
                ends.append((float(some.min()), float(some.max())))

        F.engine.each_block(F, look)
        low = min((least for least, _ in ends), default=0.0)
        high = max((most for _, most in ends), default=1.0)
        bins = np.histogram_bin_edges(np.array([low, high]), bins=bins)
    edges = np.asarray(bins, float)
    counts: list[np.ndarray] = []
    F.engine.each_block(F, lambda vertices, rows: counts.append(_counted(others(vertices, rows), edges)))
    return np.sum(counts, axis=0) if counts else np.zeros(len(edges) - 1, int), edges


def _counted(values: Any, edges: np.ndarray) -> np.ndarray:
    """How many values are in each bin."""
    xp = module_of(values)
    return to_host(xp.histogram(values, xp.asarray(edges))[0])


def _refuse_bins(bins: Any) -> None:
    """Refuse what is neither a number of bins nor their edges."""
    if is_whole(bins, 1):
        return
    try:
        edges = np.asarray(bins, float)
        fine = np.ndim(bins) == 1 and len(edges) > 1 and bool((edges[:-1] <= edges[1:]).all())
    except (TypeError, ValueError, OverflowError):
        fine = False
    if not fine:
        raise SemiringError(
            f"histogram: bins must be a whole number, 1 or more, or two edges or more in ascending order, and is "
            f"{clip_repr(bins)}"
        )


def is_whole(value: Any, least: int) -> bool:
    """Whether this is a whole number that is large enough."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(value >= least)


def nearest(F: Substitution, k: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The k best other vertices of every vertex, best first; ties go to the lower number.

    Returns
    -------
    vertices : int64 array, shape (n, k)
        −1 where a vertex reaches fewer.
    weights : ndarray, shape (n, k)
        Zero of the algebra there.
    """
    ascending = ascends(F.lowering.algebra, F.lowering.dtype)
    if k is None or not is_whole(k, 0):
        raise SemiringError(f"nearest needs k, how many vertices: a whole number, 0 or more, and k is {clip_repr(k)}")
    zero = F.lowering.algebra.zero_in(F.lowering.dtype)
    k = min(k, max(F.n - 1, 0))
    chosen = np.full((F.n, k), -1)
    weights = np.full((F.n, k), zero, F.lowering.dtype)

    def pick(vertices: np.ndarray, rows: Any) -> None:
        if is_on_gpu(rows):
            chosen[vertices], weights[vertices] = _nearest_on_gpu(vertices, rows, k, ascending, zero)
            return
        for v, row in zip(vertices, rows, strict=True):
            row[v] = zero
            reached = np.flatnonzero(row != zero)
            values = row[reached]
            if len(reached) > k:
                limit = np.partition(values, k - 1 if ascending else -k)[k - 1 if ascending else -k] if k else None
                keep = (values <= limit if ascending else values >= limit) if k else np.zeros(len(values), bool)
                reached, values = reached[keep], values[keep]
            order = np.argsort(values if ascending else _turned(values), kind="stable")[:k]
            chosen[v, : len(order)], weights[v, : len(order)] = reached[order], values[order]

    F.engine.each_block(F, pick)
    return chosen, weights


def _turned(values: Any) -> Any:
    """Numbers that ascend where these descend, exactly.

    Examples
    --------
    >>> _turned(np.array([2**60 + 1, -5])), _turned(np.array([0, 255], np.uint8))
    (array([-1152921504606846978,                    4]), array([255,   0], dtype=uint8))
    """
    return -values if values.dtype.kind == "f" else ~values


def _nearest_on_gpu(
    vertices: np.ndarray, rows: Any, k: int, ascending: bool, zero: Any
) -> tuple[np.ndarray, np.ndarray]:
    """The same for rows on a GPU, by sorting them."""
    xp = without_own(vertices, rows, zero)
    number = rows.dtype.type
    best_last = rows if ascending else _turned(rows)
    last = best_possible(best_last.dtype, False)  # which comes after all others, in ascending order
    order = xp.argsort(xp.where(rows == zero, last, best_last), axis=1, kind="stable")[:, :k]
    missing = xp.arange(k)[None] >= (rows != zero).sum(axis=1)[:, None]
    picked = xp.where(missing, number(zero), xp.take_along_axis(rows, order, axis=1))
    return to_host(xp.where(missing, -1, order)), to_host(picked)


def by_vertex(F: Substitution, function: Reduction, dtype: Any = None) -> np.ndarray:
    """What a function returns for each row, in the order of the vertices.

    Raises
    ------
    SemiringError
        When it does not return a value for each row: one for all of a block would depend on which rows those are.
    """
    parts: list[tuple[np.ndarray, np.ndarray]] = []

    def look(vertices: np.ndarray, rows: Any) -> None:
        part = np.asarray(to_host(function(vertices, rows)))
        if part.shape[:1] != vertices.shape:
            raise SemiringError(f"reduce: the function must return a value, or a row, for each of the {len(vertices)} "
                                f"rows that it is given, and what it returned has shape {part.shape}")
        parts.append((vertices, part))

    F.engine.each_block(F, look)
    if not parts:
        return np.empty(0, dtype or float)
    first = parts[0][1]
    out = np.empty((F.n, *first.shape[1:]), dtype or np.result_type(*{part.dtype for _, part in parts}))
    for vertices, part in parts:
        out[vertices] = part
    return out


def summaries(F: Substitution) -> np.ndarray | None:
    """Total, number, least and most of each row where compiled code can find them on the way, else None."""
    found = F.fronts.summaries() if F.closed is None else None
    return None if found is None else to_host(found)


def require_numbers(S: Semiring, dtype: np.dtype) -> None:
    if dtype.kind not in "fiu":
        raise SemiringError(f"the elements of {S.name} are not numbers: reduce, of sparse factors, takes a function "
                            "of rows instead")


def ascends(S: Semiring, dtype: np.dtype) -> bool:
    """Whether less is better."""
    require_numbers(S, dtype)
    if S.traced is None or not S.traced.add.is_plain("minimum", "maximum"):
        raise LawError(f"{S.name} does not order its elements: ⊕ must be the minimum or the maximum")
    return S.traced.add.is_plain("minimum")


def best_possible(dtype: np.dtype, ascending: bool) -> Any:
    """A number that is never the worst."""
    if dtype.kind == "f":
        return dtype.type(-np.inf if ascending else np.inf)
    limits = np.iinfo(dtype)
    return dtype.type(limits.min if ascending else limits.max)


def without_own(vertices: np.ndarray, rows: Any, zero: Any) -> Any:
    """Write zero where a vertex meets itself; NumPy, or CuPy for rows on a GPU."""
    xp = module_of(rows)
    rows[xp.arange(len(rows)), xp.asarray(vertices)] = zero
    return xp
