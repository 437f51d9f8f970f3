"""Predict what elimination on the sparse structure costs, and what searches and the dense closure cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import Any, Final, NamedTuple

import numpy as np

from semiring.algebra.expression import postorder
from semiring.algebra.rounding import nothing_improves
from semiring.algebra.tables import dtype_text
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
from semiring.graphs.texts import count_text
from semiring.kernels.build import PURPOSES, affordable, code_of, sums_numbers
from semiring.kernels.cpu.sparse.sweeps import LANES
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy.fronts import TOGETHER
from semiring.machine.memory import available_bytes, in_words
from semiring.machine.threads import cpu_place, thread_count
from semiring.operands.sparse import Sparse

from .plan import Plan, nothing

SMALL = 100  # vertices below which the dense methods are used
TRANSCENDENTAL = frozenset("exp exp2 expm1 log log2 log1p power logaddexp logaddexp2 gcd lcm".split())
TRANSCENDENTAL_COST = 40  # instructions that such an operation takes
FILLING_EDGES = 24  # edges a vertex above which graphs without small separators fill in
LEAST_TERMS = 4  # for each edge and source: two levels, and reading the edge
ANALYSIS_BUDGET = 0.4  # share of the dense closure's time that the analysis may take
CHECKED_FACTORS = 1 << 28  # bytes of factors above which a plan compares them with free memory
WITHOUT_FACTORS = (
    "closure_rows (for all or a sample of the sources), nearest, diameter, eccentricities and mean_weight search the "
    "graph without factors"
)
MEETINGS = 4.0  # times that NumPy meets a vertex, at most, for rows that it computes together
FACTORING_STEPS = 9  # steps of k in which NumPy eliminates a vertex from its front
ELIMINATED = 2e-5  # seconds in which compiled code eliminates a vertex with few neighbours, and solves for it
OBJECT_COST = 2000  # instructions that an operation on Python objects takes


@dataclass(eq=False, repr=False, kw_only=True)
class SparsePlan(Plan):
    """The plan of an elimination on the structure of a sparse matrix; `print` it.

    Attributes
    ----------
    order : str
        The method that found the order of elimination: "amd", "levels", "metis" or "natural"; "given" by the caller.
    fill : int
        Pairs of vertices that are joined after the elimination.
    fronts : int
        Number of supernodes.
    largest : int
        Order of the largest front.
    panels : int
        Σ s u over the fronts, each of which eliminates s vertices next to u others: the terms of a row of the closure
        from the root down, and half of the elements of the factors outside the diagonal blocks.
    height : int
        Fronts from the root of the tallest elimination tree down to its deepest leaf, counting both.
    load : Work
        Terms, by stage.
    prepared : float
        Seconds of the analysis, which is done.
    factors : int
        Bytes that factoring takes: the factors, and the fronts meanwhile.
    threads : int
        How many threads work.

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

    @property
    def shortage(self) -> tuple[str, str]:
        """Text for the out-of-memory error: what needs the memory, and what to try."""
        what, advice = self.needs
        if not what:
            does = "factoring" if self.operation in ("factor", "solve") else "the closure of"
            matrix = f"{self.shape[0]} × {self.shape[0]} {dtype_text(self.lowering.dtype)}"
            what = f"{does} {matrix} ({count_text(self.fill, 'pair', 'pairs')} joined)"
        return what, advice

    def _structure(self) -> dict[str, str]:
        names = {"amd": "approximate minimum degree", "levels": "nested dissection by level sets",
                 "metis": "nested dissection by METIS", "natural": "as the vertices are numbered",
                 "given": "as given"}
        edges = self.fill / max(self.shape[0], 1)
        joined = f"{count_text(self.fill, 'pair', 'pairs')} joined, {edges:.1f} a vertex"
        return {
            "order": f"{names[self.order]}  ({joined})",
            "fronts": f"{self.fronts}, {'' if self.fronts == 1 else 'the largest '}of order {self.largest}",
            "tree": f"{count_text(self.height, 'level', 'levels')} of fronts",
        }


@lru_cache(1024)
def lowering_rates(low: Lowering) -> Rates:
    """Return terms a second, from the bytes of an element and the instructions of ⊗ and ⊕."""
    threads = min(thread_count(), 16)
    if low.kind == "objects":
        return rates(4, OBJECT_COST, 1)
    steps = postorder((*low.add.outputs, *low.mul.outputs))
    counted = [e.op for e in steps if e.op not in ("input", "constant", "cast")]
    operations = sum(TRANSCENDENTAL_COST if op in TRANSCENDENTAL else 1 for op in counted)
    return rates(max(low.storage.itemsize, 2), 2 if low.fused_sum else operations, threads)


class Estimate(NamedTuple):
    """The predicted cost of eliminating one structure in one lowering."""

    load: Work
    seconds: dict[str, float]  # as in `SparsePlan`
    prepared: float
    factors: int  # bytes of factoring
    memory: int  # and with the answer, but without what each thread takes
    terms: float
    largest: int  # order of the largest front


@lru_cache(16)
def estimate(low: Lowering, analysis: Analysis, nnz: int, answer: bool) -> Estimate:
    """Predict the cost for all weights on the same edges; `answer` is false for the factors alone."""
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
    """Return the plan of a closure by elimination, or of the factors alone (`answer` false).

    On the host an answer is always `there`.
    """
    n, threads, found = analysis.n, thread_count(), estimate(low, analysis, nnz, answer)
    if not code_of(low, "fronts").bought:
        steps = FACTORING_STEPS * n + (rows_steps(analysis, found.load, n) if answer else 0.0)
        low = affordable(low, steps, found.terms, "fronts")
    load, seconds, prepared = found.load, found.seconds, found.prepared
    pays = seconds["elimination"] - prepared <= seconds["dense"]  # the analysis is done
    why = "predicted to be faster than the dense closure" if pays else "the dense closure is predicted to be faster"
    available = available_bytes() if found.factors > CHECKED_FACTORS else None
    if available is not None and found.factors > available:
        why = (f"{why}, and the factors need {in_words(found.factors)}, but {in_words(available)} is available: the "
               f"graph has no small separators; {WITHOUT_FACTORS}")
    advice = ("use a narrower dtype or fewer vertices, or compute rows from factors instead of the whole closure"
              if answer else f"use a narrower dtype; {WITHOUT_FACTORS}")
    return SparsePlan(
        operation=operation, algebra=low.algebra, shape=(n, n), method="sparse elimination", lowering=low,
        place=cpu_place(threads) if low.compiled else "", work=found.terms,
        memory=found.memory + threads * n * 64 * low.storage.itemsize, runner=run,
        needs=("", advice), reasons={"method": why}, nnz=nnz,
        seconds=dict(seconds), order=analysis.method, fill=load.fill,
        fronts=len(analysis.parent), largest=found.largest, load=load, prepared=prepared, factors=found.factors,
        threads=threads, panels=int(load.down), height=int(analysis.depths.max(initial=-1)) + 1,
    )


def least_by_numpy(low: Lowering, A: Sparse, answer: bool) -> float:
    """Return a lower estimate of NumPy's seconds for A's factors, and with `answer` the closure, before the analysis.

    Rows of the closure of a connected graph pass each edge, and together they meet the counted number of vertices.
    """
    n, rows = A.n, A.n if answer else 0
    return PURPOSES["fronts"].seconds(low, (FACTORING_STEPS + MEETINGS * -(-rows // TOGETHER)) * n, float(rows) * A.nnz)


def least_to_eliminate(low: Lowering, A: Sparse, enough: float = np.inf) -> float:
    """Return a lower estimate of the seconds for A's factors and a solution, before the analysis.

    Whether compiled code is at hand is only asked where that decides if the estimate is below `enough`.
    """
    analysed, compiled, by_numpy = analysis_seconds(A.n, A.nnz), ELIMINATED * A.n, least_by_numpy(low, A, False)
    if by_numpy <= compiled or analysed + compiled >= enough:
        return analysed + min(compiled, by_numpy)
    code = code_of(low, "fronts") if low.kind == "numba" else None
    return analysed + (compiled if code is not None and code.at_hand else by_numpy)


def rows_steps(analysis: Analysis, load: Work, rows: int) -> float:
    """Return the steps of k in which NumPy computes rows from factors: up from each source, and down to all vertices.

    Going up, a row meets some vertices, and has about half the square of their number in terms.
    """
    n = analysis.n
    met = rows * sqrt(2 * load.up / max(n, 1))
    return -(-rows // TOGETHER) * (float(analysis.reach.sum()) + min(met, MEETINGS * n))


def factoring_share(plan: SparsePlan) -> float:
    """Return the share of factoring in a closure's predicted time."""
    low, n, load = plan.lowering, plan.shape[0], plan.load
    assert load is not None
    rate = lowering_rates(low)
    return load.factor_seconds(rate) / load.seconds(n, rate, low.matrix_bytes(n))


class Searches(NamedTuple):
    """The predicted seconds of searches from many vertices."""

    settle: float  # one after the other, with a heap
    buckets: float  # one after the other, with labels in buckets
    sweep: float  # many at once
    levels: float  # breadth first, if all edges have one value

    @property
    def seconds(self) -> float:
        """The seconds of the fastest way."""
        return min(self)

    @property
    def way(self) -> str:
        """The purpose of the fastest way's code, in `semiring.kernels.build`."""
        return ("search", "buckets", "sweep", "levels")[self.index(min(self))]


def search_times(low: Lowering, A: Sparse, count: int, alike: bool) -> Searches:
    """Predict searches from `count` vertices if no edge is better than 1; `alike` edges have one value."""
    return _search_times(low, A.n, A.nnz, A.spread, -(-count * A.occupied // max(A.n, 1)), count, alike)


@lru_cache(64)
def _search_times(low: Lowering, n: int, nnz: int, spread: Spread, going: int, count: int, alike: bool) -> Searches:
    """The same if `going` sources have an edge: the other searches end where they begin."""
    rate, size = lowering_rates(low), sum(component.itemsize for component in low.components)
    written = written_seconds(low, count, n)
    sweep = sweep_seconds(n, spread, going, max(LANES // size, 1), rate, size)
    return Searches(
        ALONE + settle_seconds(n, nnz, going, rate) + written,
        ALONE + bucket_seconds(n, nnz, going, rate) + written if sums_numbers(low) else np.inf, sweep + written,
        ALONE + level_seconds(nnz, going, rate) + written if alike else np.inf,
    )


def written_seconds(low: Lowering, rows: int, columns: int) -> float:
    """Return the seconds to write so many values."""
    return rows * columns * low.storage.itemsize / lowering_rates(low).write


def all_searches(low: Lowering, A: Sparse) -> float | None:
    """Return the seconds of searches from all vertices; None if an edge may be better than 1, or for Python objects."""
    if not low.algebra.selective or low.kind == "objects" or not nothing_improves(A.S.over(A.dtype), A.values):
        return None
    return search_times(low, A, A.n, A.alike).seconds


def least_search_seconds(low: Lowering, A: Sparse) -> float:
    """Return a lower estimate of the seconds of searches from all vertices: each edge is passed a few times."""
    rate = lowering_rates(low)
    return SETUP + A.n * (LEAST_TERMS * A.nnz / rate.sweep + A.n * low.storage.itemsize / rate.write)


def not_worth_a_look(low: Lowering, A: Sparse) -> bool:
    """Return whether the dense closure surely takes no longer than elimination, or fill-in is likely.

    Fill-in is unlikely if a breadth-first search stays narrow, because separators are small then. Otherwise many edges
    a vertex fill the factors, and with few edges the analysis must not take too much of the time that can be saved.
    """
    n, nnz, rate = A.n, A.nnz, lowering_rates(low)
    stake, dense = analysis_seconds(n, nnz), dense_seconds(n, rate)
    if dense <= stake + SETUP + n * n * low.storage.itemsize / rate.write:
        return True
    many, dear = nnz > FILLING_EDGES * n, stake > ANALYSIS_BUDGET * dense
    return (many or dear) and A.spread.widest > NARROW * n
