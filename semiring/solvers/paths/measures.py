"""Measures of a graph: reductions of the rows of its closure, eccentricities, and the best mean weight of a cycle.

Rows are computed and dropped, so no n × n matrix is stored. Pairs without a path do not count, nor does a vertex with
itself. Eccentricities, diameter and radius come from bounds by a few rows, if this is predicted to be faster than all
rows; see `semiring.algorithms.sparse.eccentricity`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.algorithms.sparse import eccentricity
from semiring.algorithms.sparse.cycle_mean import least_mean, light_enough, on_cycles
from semiring.algorithms.sparse.eccentricity import DIAMETER, EACH, RADIUS, Bounds, Measure, decided
from semiring.algorithms.sparse.relaxation import CompressedRows
from semiring.errors import LawError, SemiringError
from semiring.graphs.texts import clip_repr, shown
from semiring.kernels.choose import choose
from semiring.kernels.lowering.sums import widen
from semiring.machine.threads import thread_count
from semiring.operands.convert import as_sparse, on_host
from semiring.operands.devices import is_on_gpu, module_of, to_host
from semiring.operands.operand import Operand, order_of_one
from semiring.operands.sparse import Sparse

from .. import costs
from ..plan import Plan
from ..task import Task
from .search import Form, Search, form_of, on_the_host, some_rows

if TYPE_CHECKING:
    from ..sparse.substitution import Reduction, Substitution

EXTREMES = {"eccentricities": EACH, "diameter": DIAMETER, "radius": RADIUS}
LOOK_SECONDS, ROW_SECONDS = 1e-3, 5e-9  # of a look, and of each of its rows for a vertex
FEWEST_LOOKS = 4  # that bounds need at least: if all rows take no longer, these are better
BOUNDS_SHARE = 0.5  # of the predicted time of all rows that bounds may take; after that all rows are computed
EXACT_BELOW = 1 << 53  # integers below are exact as floats
OPTIONS = {"histogram": "bins", "nearest": "k"}  # of those that have one


def offer(task: Task) -> Plan:
    """Find the best mean weight of a cycle by policy iteration; the algebra has sums under min or max.

    It is the eigenvalue of an irreducible matrix.
    """
    S = task.S
    if not S.is_tropical:
        raise LawError(
            "the mean weight of a cycle needs sums under min or max, as in min_plus and max_plus; "
            f"{S.name} is {S.notation}"
        )
    order_of_one(task.operands[0].shape)
    given = as_sparse(on_host(task.operands[0]))
    if given.dtype.kind == "O":
        raise SemiringError(f"{given.what} holds Python objects, and the mean weight of a cycle is of numbers: convert "
                            "it with .astype(…), to float64 or int64")
    low = choose(S, given.dtype, given.facts, given.n, in_place=False, packed=False)
    return Plan(
        operation="cycle_mean", algebra=S, shape=given.shape, method="policy iteration", lowering=low,
        place="CPU, 1 thread", work=float(given.nnz), memory=8 * given.nbytes, runner=partial(_cycle_mean, given),
        reasons={"method": "and an exact search for a better cycle"},
    )


def _cycle_mean(given: Sparse, plan: Plan) -> tuple[Any, list[Any] | None]:
    S, dtype = given.S, given.dtype
    given = given.without_zeros()
    heads, tails = given.indices, np.repeat(np.arange(given.n), np.diff(given.indptr))
    values = widen(S, given.values, given.facts)
    values = values if S.zero == np.inf else -values  # the least mean is looked for
    edges = np.flatnonzero(on_cycles(given.n, tails, heads))
    if not len(edges):
        return _mean_in(dtype, S.zero), None
    if values.dtype.kind == "f" and values[edges].min() != -np.inf:
        edges = edges[light_enough(given.n, tails[edges], heads[edges], values[edges])]
        edges = edges[on_cycles(given.n, tails[edges], heads[edges])]
    values = values[edges]
    if values.min() != -np.inf and 4.0 * given.n * float(np.abs(values).max()) == np.inf:
        raise SemiringError(f"{given.what} has weights up to {shown(np.abs(values).max())} on cycles, whose sums leave "
                            "the range of floats: divide all weights by one number")
    vertices, places = np.unique(tails[edges], return_inverse=True)
    place = np.full(given.n, -1)
    place[vertices] = np.arange(len(vertices))
    start = np.concatenate([[0], np.cumsum(np.bincount(places.reshape(-1), minlength=len(vertices)))])
    mean, cycle = least_mean(CompressedRows(start, place[heads[edges]], values))
    weight = _mean_in(dtype, mean if S.zero == np.inf else -mean)
    return weight, [given.position(v) for v in vertices[cycle].tolist()]


def _mean_in(dtype: np.dtype, mean: Any) -> Any:
    """Return a mean of weights as a float; no integer stands for infinity there."""
    return dtype.type(mean) if dtype.kind == "f" else np.float64(mean)


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
    """Return eccentricities, or the worst or best of them, by bounds from a few rows or from all rows.

    If ⊗ rounds, sums that differ in the last places only count as equal.
    """
    S, dtype = F.lowering.algebra, F.lowering.dtype
    ascending = ascends(S, dtype)
    found = by_factors(F, measure, ascending)
    found = _from_all_rows(F, ascending) if found is None else found
    return for_caller(F.A, measure.of(found, S.zero_in(dtype), ascending))


def for_caller(given: Operand, found: Any) -> Any:
    """Return eccentricities, or one of them, as the caller gets them."""
    return given.as_shown(found) if isinstance(found, np.ndarray) else given.number(given.dtype.type(found))


def _from_all_rows(F: Substitution, ascending: bool) -> np.ndarray:
    """Return eccentricities from all rows of the closure."""
    zero = F.lowering.algebra.zero_in(F.lowering.dtype)
    if (found := summaries(F)) is not None:
        extreme = found[:, 3 if ascending else 2]
        return np.where(found[:, 1] > 0, extreme, zero).astype(F.lowering.dtype)

    return by_vertex(F, lambda vertices, rows: _worst(vertices, rows, zero, ascending), dtype=F.lowering.dtype)


def of_closure(closed: np.ndarray, S: Semiring, measure: Measure) -> Any:
    """Return eccentricities from a whole closure, which is overwritten."""
    zero, ascending = S.zero_in(closed.dtype), ascends(S, closed.dtype)
    found = _worst(np.arange(len(closed)), closed, zero, ascending) if len(closed) else closed.reshape(0)
    return measure.of(found, zero, ascending)


def _worst(vertices: np.ndarray, rows: Any, zero: Any, ascending: bool) -> Any:
    """Return the worst of each row without its own vertex; zero if it reaches no other."""
    xp = without_own(vertices, rows, zero)
    others = xp.where(rows == zero, best_possible(rows.dtype, ascending), rows)
    found = others.max(axis=1) if ascending else others.min(axis=1)
    return xp.where((rows != zero).any(axis=1), found, rows.dtype.type(zero))


def mean(F: Substitution) -> float:
    """Return the mean weight of all pairs with a path: with min_plus the mean distance."""
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
    """Whether a sum may be finite although a summand is zero, which ∞ would show."""
    return dtype.kind != "f" or not np.isinf(zero)


def histogram(F: Substitution, bins: Any = 50) -> tuple[np.ndarray, np.ndarray]:
    """Count pairs by weight.

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
    """Count the values in each bin."""
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
    """Find the k best other vertices of every vertex, best first; ties go to the lower number.

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
    """Map numbers to others in the reverse order, exactly.

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
    """Return the results of a function of rows, in the order of the vertices.

    Raises
    ------
    SemiringError
        If it does not return a value for each row.
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
    """Return total, number, least and greatest of each row, if compiled code can find them on the way; else None."""
    found = F.fronts.summaries() if F.closed is None else None
    return None if found is None else to_host(found)


def require_numbers(S: Semiring, dtype: np.dtype) -> None:
    if dtype.kind not in "fiu":
        raise SemiringError(f"the elements of {S.name} are not numbers: call reduce of sparse factors with a function "
                            "of rows")


def ascends(S: Semiring, dtype: np.dtype) -> bool:
    """Whether less is better."""
    require_numbers(S, dtype)
    if S.traced is None or not S.traced.add.is_plain("minimum", "maximum"):
        raise LawError(f"{S.name} does not order its elements: ⊕ must be the minimum or the maximum")
    return S.traced.add.is_plain("minimum")


def best_possible(dtype: np.dtype, ascending: bool) -> Any:
    """Return a number that is never the worst."""
    if dtype.kind == "f":
        return dtype.type(-np.inf if ascending else np.inf)
    limits = np.iinfo(dtype)
    return dtype.type(limits.min if ascending else limits.max)


def without_own(vertices: np.ndarray, rows: Any, zero: Any) -> Any:
    """Write zero where a vertex meets itself; NumPy, or CuPy for rows on a GPU."""
    xp = module_of(rows)
    rows[xp.arange(len(rows)), xp.asarray(vertices)] = zero
    return xp


# Eccentricities by bounds


def by_factors(F: Substitution, measure: Measure, ascending: bool) -> np.ndarray | None:
    """Return eccentricities from rows of factors; None if all rows are not slower than bounds."""
    looks = _affordable_looks(F)
    if looks < FEWEST_LOOKS or not applies(F.A):
        return None
    bounds = decided(Bounds(RowsOfFactors(F), ascending), measure.choice, looks)
    return None if bounds is None else bounds.eccentricities(measure)


def by_searches(given: Sparse, form: Form, measure: Measure, ascending: bool) -> np.ndarray:
    """Return eccentricities from searches, in the worst case from every vertex; bounds must apply to the graph."""
    bounds = decided(Bounds(RowsOfSearches(given, form), ascending), measure.choice)
    assert bounds is not None  # every look leaves fewer vertices unknown
    return bounds.eccentricities(measure)


def _affordable_looks(F: Substitution) -> int:
    """Return the number of looks that take no more than a share of the time of all rows."""
    low, n = F.lowering, F.n
    if low.on_gpu or low.kind == "objects" or F.closed is not None:
        return 0
    load = costs.estimate(low, F.analysis, F.analysis.nnz, True).load
    look = LOOK_SECONDS + eccentricity.TOGETHER * n * ROW_SECONDS
    return int(BOUNDS_SHARE * load.seconds(n, costs.lowering_rates(low), 0) / look)


def applies(given: Sparse) -> bool:
    """Whether numbers and products of them are floats, or exact as floats."""
    S, facts = given.S, given.facts
    assert S.traced is not None
    if given.dtype.kind == "f":
        return True
    chosen = S.traced.raw_mul.is_plain("minimum", "maximum")
    return (chosen or S.is_tropical) and int(facts.largest) * (1 if chosen else 2 * given.n) < EXACT_BELOW


class RowsOfFactors:
    """See `Source`: in the order of elimination."""

    def __init__(self, F: Substitution):
        self._F, self.S, self.edges, self.threads = F, F.A.S, F.A.rows, F.fronts.threads
        self.order, self.place = F.analysis.order, F.analysis.place

    def first(self) -> np.ndarray:
        """See `Source`."""
        return np.linspace(0, self._F.n - 1, eccentricity.TOGETHER).astype(np.int64)

    def rows(self, places: np.ndarray) -> np.ndarray:
        """See `Source`."""
        stored = self._F.lowering.empty((len(places), self._F.n))
        self._F.fill(self.order[places], stored, ends=self.order)
        return self._F.checked(stored)

    def columns(self, places: np.ndarray) -> np.ndarray:
        """See `Source`."""
        F, low, dtype = self._F, self._F.lowering, self.edges.values.dtype
        B = np.full((F.n, len(places)), self.S.zero_in(dtype), dtype)
        B[self.order[places], np.arange(len(places))] = self.S.one_in(dtype)
        stored = low.encode(B, True)
        F.fronts.columns(stored)
        return F.checked(np.ascontiguousarray(stored[self.order].T))


class RowsOfSearches:
    """See `Source`: in the order of the vertices. ⊗ commutes, so that columns are rows of the graph turned around."""

    def __init__(self, given: Sparse, form: Form):
        self._given, self._form, self.threads = given, form, thread_count()
        self.S, self.edges, self.order = given.S, given.rows, np.arange(given.n)
        self.place = self.order

    @cached_property
    def _forwards(self) -> Search:
        return Search(self.S, self._given, on_the_host(self._given, self._form, eccentricity.TOGETHER))

    @cached_property
    def _backwards(self) -> Search:
        turned = self._given.T
        return Search(turned.S, turned, on_the_host(turned, form_of(turned), eccentricity.TOGETHER))

    def first(self) -> np.ndarray:
        """See `Source`: half of them are those with most edges, from where all is near."""
        degree, half = np.diff(self.edges.offsets), eccentricity.TOGETHER // 2
        most = np.argsort(-degree, kind="stable")[:half]
        return np.unique(np.concatenate([most, np.linspace(0, len(degree) - 1, half).astype(np.int64)]))

    def rows(self, places: np.ndarray) -> np.ndarray:
        """See `Source`."""
        return some_rows(self._forwards, places, None, False, False)[0]

    def columns(self, places: np.ndarray) -> np.ndarray:
        """See `Source`."""
        return some_rows(self._backwards, places, None, False, False)[0]
