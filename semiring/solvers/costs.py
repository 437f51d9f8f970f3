"""What elimination on the sparse structure would cost, beside what else could be done, before any of it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from math import sqrt
from typing import Any, Final, NamedTuple

import numpy as np

from semiring.algebra.expression import postorder
from semiring.algebra.rounding import nothing_improves
from semiring.algorithms.sparse.analysis import Analysis
from semiring.algorithms.sparse.costs import (
    ALONE,
    SETUP,
    Rates,
    Work,
    analysis_seconds,
    bucket_seconds,
    dense_seconds,
    level_seconds,
    rates,
    settle_seconds,
    sweep_seconds,
    work_of,
)
from semiring.algorithms.sparse.ordering import NARROW, Spread
from semiring.kernels.build import PURPOSES, affordable, code_of, sums_numbers
from semiring.kernels.cpu.sparse.sweeps import LANES
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy.fronts import TOGETHER
from semiring.machine.memory import available_bytes, in_words
from semiring.machine.threads import thread_count
from semiring.operands.sparse import Sparse

from .plan import Plan, nothing

SMALL = 100  # vertices below which the dense methods are used
SLOW = frozenset("exp exp2 expm1 log log2 log1p power logaddexp logaddexp2 gcd lcm".split())
TRANSCENDENTAL_COST = 40  # instructions that such an operation takes
MANY = 24  # edges a vertex with which graphs without small separators fill
FEW = 4  # terms an edge and source: two levels and what it takes to read the edge
ANALYSIS_BUDGET = 0.4  # share of the dense closure's time that looking for a faster way may take
MUCH = 1 << 28  # bytes of factors that are held against free memory when they are planned
WITHOUT_FACTORS = (
    "closure_rows (for all or a sample of the sources), nearest, diameter, eccentricities and mean_weight search the "
    "graph without factors"
)
MET = 4.0  # times that NumPy meets a vertex, at most, when it finds some rows together
FACTORING = 9  # steps of k in which NumPy eliminates a vertex from its front
OBJECT = 2000  # instructions that an operation on Python objects takes


@dataclass(eq=False, repr=False, kw_only=True)
class PredictedPlan(Plan):
    """What will be done with a sparse matrix, beside what else could be.

    Attributes
    ----------
    nnz : int
        Entries of the matrix.
    seconds : dict
        Predicted, by way.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> import semiring as sr
    >>> p = sr.plan("closure", sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus, method="search")
    >>> p.method, p.nnz, sorted(p.seconds)
    ('search', 2, ['dense', 'search'])
    """

    nnz: Final[int] = 0
    seconds: Final[dict[str, float]] = field(default_factory=dict)

    def rows(self) -> dict[str, str]:
        """What is printed, by name.

        Returns
        -------
        dict of str to str

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> import semiring as sr
        >>> p = sr.plan("closure", sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus, method="search")
        >>> p.rows()["operation"]
        'closure over min-plus, 2 × 2, float64, with 2 edges'
        """
        rows = super().rows()
        rows["operation"] += f", with {self.nnz} edges"
        times = sorted(self.seconds.items(), key=lambda item: item[1])
        return rows | {"predicted": ", ".join(f"{name} {_time(t)}" for name, t in times)}


@dataclass(eq=False, repr=False, kw_only=True)
class SparsePlan(PredictedPlan):
    """What will be done with a sparse matrix, and why; `print` it.

    Attributes
    ----------
    nnz : int
        Entries of the matrix.
    order : str
        What found the order of elimination: "amd", "levels", "metis" or "natural"; "given" by the caller.
    fill : int
        Pairs of vertices that elimination joins or finds joined.
    fronts : int
        Number of supernodes.
    largest : int
        Order of the largest front.
    panels : int
        Σ s u over the fronts, of s vertices that are eliminated and u that they touch: terms that a row of the closure
        takes on the way down, and half of the elements of the factors outside the diagonal blocks.
    height : int
        Fronts from the root of the tallest tree of elimination down to its deepest leaf, both counted.
    load : Work
        Terms, by stage.
    seconds : dict
        Predicted, for "elimination" and "dense", and for "search" where that was asked and can be done.
    prepared : float
        Seconds of the analysis, which is done.
    factors : int
        Bytes that factoring takes: the factors, and the fronts on their way.
    threads : int
        How many will work.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> import semiring as sr
    >>> p = sr.plan("factor", sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus)
    >>> p.method, p.nnz, p.fill, sorted(p.seconds)
    ('sparse elimination', 2, 1, ['dense', 'elimination'])
    """

    order: Final[str] = ""
    fill: Final[int] = 0
    fronts: Final[int] = 0
    largest: Final[int] = 0
    load: Final[Work | None] = None
    prepared: Final[float] = 0.0
    factors: Final[int] = 0
    threads: Final[int] = 1
    panels: Final[int] = 0
    height: Final[int] = 0

    def rows(self) -> dict[str, str]:
        """What is printed, by name.

        Returns
        -------
        dict of str to str

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> import semiring as sr
        >>> p = sr.plan("factor", sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus)
        >>> p.rows()["fronts"]
        '1, the largest of order 2'
        """
        n = self.shape[0]
        names = {"amd": "approximate minimum degree", "levels": "nested dissection by level sets",
                 "metis": "nested dissection by METIS", "natural": "as the vertices are numbered",
                 "given": "as given"}
        rows = super().rows()
        predicted = rows.pop("predicted")
        rows["order"] = f"{names[self.order]}  ({self.fill} pairs joined, {self.fill / max(n, 1):.1f} a vertex)"
        rows["fronts"] = f"{self.fronts}, the largest of order {self.largest}"
        rows["tree"] = f"{self.height} fronts high, Σ s u = {self.panels}"
        return rows | {"predicted": predicted}


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


@lru_cache(1024)
def lowering_rates(low: Lowering) -> Rates:
    """Terms a second for a lowering: by the bytes of an element and the instructions of ⊗ and ⊕."""
    threads = min(thread_count(), 16)
    if low.kind == "objects":
        return rates(4, OBJECT, 1)
    steps = postorder((*low.add.outputs, *low.mul.outputs))
    counted = [e.op for e in steps if e.op not in ("input", "constant", "cast")]
    operations = sum(TRANSCENDENTAL_COST if op in SLOW else 1 for op in counted)
    return rates(max(low.storage.itemsize, 2), 2 if low.fused_sum else operations, threads)


class Estimate(NamedTuple):
    """What elimination of one structure is predicted to cost for one lowering."""

    load: Work
    seconds: dict[str, float]  # as in `SparsePlan`
    prepared: float
    factors: int  # bytes of factoring
    memory: int  # and with the answer, but without what each thread takes
    terms: float
    largest: int  # order of the largest front


@lru_cache(16)
def estimate(low: Lowering, analysis: Analysis, nnz: int, answer: bool) -> Estimate:
    """The same for all weights on the same edges; `answer` is false for the factors alone."""
    n, load, rate = analysis.n, work_of(analysis), lowering_rates(low)
    written = low.matrix_bytes(n) if answer else 0
    decoded = n * n * low.dtype.itemsize if answer and not low.is_identity and low.storage != low.dtype else 0
    prepared = analysis_seconds(n, nnz)
    seconds = {
        "elimination": prepared + (load.seconds(n, rate, written) if answer else load.factor_seconds(rate)),
        "dense": dense_seconds(n, rate) / (1 if answer else 3),
    }
    factors = (load.stored + load.stack) * low.storage.itemsize
    largest = int((analysis.pivots + analysis.reach).max(initial=0))
    return Estimate(
        load, seconds, prepared, factors, written + decoded + factors, load.terms(n, answer), largest
    )


def plan(
    operation: str, low: Lowering, analysis: Analysis, nnz: int, run: Callable[[Any], Any] = nothing, *,
    answer: bool = True, there: bool = True,
) -> SparsePlan:
    """The plan for a closure by elimination, or for factors only (`answer` false).

    On the host an answer is always `there`.
    """
    n, threads, found = analysis.n, thread_count(), estimate(low, analysis, nnz, answer)
    if not code_of(low, "fronts").bought:
        steps = FACTORING * n + (rows_steps(analysis, found.load, n) if answer else 0.0)
        low = affordable(low, steps, found.terms, "fronts")
    load, seconds, prepared = found.load, found.seconds, found.prepared
    pays = seconds["elimination"] - prepared <= seconds["dense"]  # the analysis is done
    why = "predicted to be faster than the dense closure" if pays else "the dense closure is predicted to be faster"
    available = available_bytes() if found.factors > MUCH else None
    if available is not None and found.factors > available:
        why = (f"{why}, and the factors need {in_words(found.factors)} where {in_words(available)} is available: the "
               f"graph has no small separators; {WITHOUT_FACTORS}")
    advice = ("use a narrower dtype, fewer vertices, or rows and blocks of rows of factors instead of the whole"
              if answer else f"use a narrower dtype; {WITHOUT_FACTORS}")
    subject = f"the closure of {n} × {n} {low.dtype}" if answer else f"factoring {n} × {n} {low.dtype}"
    return SparsePlan(
        operation=operation, algebra=low.algebra, shape=(n, n), method="sparse elimination", lowering=low,
        place=f"CPU, {threads} threads" if low.compiled else "", work=found.terms,
        memory=found.memory + threads * n * 64 * low.storage.itemsize, runner=run,
        needs=(f"{subject} ({load.fill} pairs joined)", advice), reasons={"method": why}, nnz=nnz,
        seconds=dict(seconds), order=analysis.method, fill=load.fill,
        fronts=len(analysis.parent), largest=found.largest, load=load, prepared=prepared, factors=found.factors,
        threads=threads, panels=int(load.down), height=int(analysis.depths.max(initial=-1)) + 1,
    )


def least_by_numpy(low: Lowering, A: Sparse, answer: bool) -> float:
    """Seconds that NumPy hardly ever takes less than for A's factors, and with `answer` the closure, before analysis.

    Rows of the closure of a connected graph pass each edge, and together they meet as many vertices as is counted.
    """
    n, rows = A.n, A.n if answer else 0
    return PURPOSES["fronts"].seconds(low, (FACTORING + MET * -(-rows // TOGETHER)) * n, float(rows) * A.nnz)


def rows_steps(analysis: Analysis, load: Work, rows: int) -> float:
    """Steps of k in which NumPy finds rows from factors: up from each source, and down to all vertices.

    On its way up a row meets some vertices, and has about half the square of their number in terms.
    """
    n = analysis.n
    met = rows * sqrt(2 * load.up / max(n, 1))
    return -(-rows // TOGETHER) * (float(analysis.reach.sum()) + min(met, MET * n))


def factoring_share(plan: SparsePlan) -> float:
    """The part of a closure's predicted time that factoring takes."""
    low, n, load = plan.lowering, plan.shape[0], plan.load
    assert load is not None
    rate = lowering_rates(low)
    return load.factor_seconds(rate) / load.seconds(n, rate, low.matrix_bytes(n))


class Searches(NamedTuple):
    """What searches from many vertices are predicted to take."""

    settle: float  # seconds, one after the other with a heap
    buckets: float  # with labels in buckets
    sweep: float  # and many at once
    levels: float  # and breadth first, where all edges have one value

    @property
    def seconds(self) -> float:
        """By the fastest way."""
        return min(self)

    @property
    def way(self) -> str:
        """The purpose of the code for it, in `semiring.kernels.build`."""
        return ("search", "buckets", "sweep", "levels")[self.index(min(self))]


def search_times(low: Lowering, A: Sparse, count: int, alike: bool) -> Searches:
    """Searches from `count` vertices where no edge is better than 1, and all have one value if they are `alike`."""
    return _search_times(low, A.n, A.nnz, A.spread, -(-count * A.occupied // max(A.n, 1)), count, alike)


@lru_cache(64)
def _search_times(low: Lowering, n: int, nnz: int, spread: Spread, going: int, count: int, alike: bool) -> Searches:
    """The same, where `going` searches have an edge to begin with: the others end where they begin."""
    rate, size = lowering_rates(low), sum(component.itemsize for component in low.components)
    written = written_seconds(low, count, n)
    sweep = sweep_seconds(n, spread, going, max(LANES // size, 1), rate, size)
    return Searches(
        ALONE + settle_seconds(n, nnz, going, rate) + written,
        ALONE + bucket_seconds(n, nnz, going, rate) + written if sums_numbers(low) else np.inf, sweep + written,
        ALONE + level_seconds(nnz, going, rate) + written if alike else np.inf,
    )


def written_seconds(low: Lowering, rows: int, columns: int) -> float:
    """What it takes to write so many values."""
    return rows * columns * low.storage.itemsize / lowering_rates(low).write


def all_searches(low: Lowering, A: Sparse) -> float | None:
    """Seconds for a search from every vertex; None where an edge may be better than 1, or for Python objects."""
    if not low.algebra.selective or low.kind == "objects" or not nothing_improves(A.S.over(A.dtype), A.values):
        return None
    return search_times(low, A, A.n, A.alike).seconds


def least_search_seconds(low: Lowering, A: Sparse) -> float:
    """What searches from every vertex hardly ever fall below, known without one: each edge is passed a few times."""
    rate = lowering_rates(low)
    return SETUP + A.n * (FEW * A.nnz / rate.sweep + A.n * low.storage.itemsize / rate.write)


def not_worth_a_look(low: Lowering, A: Sparse) -> bool:
    """Whether the dense closure takes no longer than the least that elimination can, or fill-in is likely.

    It is not where a breadth-first search stays narrow, so that separators are small. Elsewhere many edges a vertex
    fill the factors, and with few the analysis must not take too much of the time there is to save.
    """
    n, nnz, rate = A.n, A.nnz, lowering_rates(low)
    stake, dense = analysis_seconds(n, nnz), dense_seconds(n, rate)
    if dense <= stake + SETUP + n * n * low.storage.itemsize / rate.write:
        return True
    many, dear = nnz > MANY * n, stake > ANALYSIS_BUDGET * dense
    return (many or dear) and A.spread.widest > NARROW * n
