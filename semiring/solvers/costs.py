"""What elimination on the sparse structure would cost, beside what else could be done, before any of it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from semiring.algebra.expression import postorder
from semiring.algorithms.sparse.analysis import Analysis
from semiring.algorithms.sparse.costs import (
    SETUP,
    Rates,
    Work,
    analysis_seconds,
    dense_seconds,
    dijkstra_seconds,
    rates,
    work_of,
)
from semiring.algorithms.sparse.ordering import widest_level
from semiring.kernels.cpu.compile.threads import thread_count
from semiring.kernels.lowering.base import Lowering

from .task import Plan, nothing

SLOW = frozenset("exp exp2 expm1 log log2 log1p power logaddexp logaddexp2 gcd lcm".split())
TRANSCENDENTAL_COST = 40  # instructions that such an operation takes
NARROW = 0.25  # the share of all vertices up to which a level of a search is called narrow
MANY = 24  # edges a vertex with which graphs without small separators fill
ANALYSIS_BUDGET = 0.4  # share of the dense closure's time that looking for a faster way may take
OBJECT = 2000  # instructions that an operation on Python objects takes


@dataclass(eq=False)
class SparsePlan(Plan):
    """What will be done with a sparse matrix, and why; `print` it.

    Attributes
    ----------
    nnz : int
        Entries of the matrix.
    order : str
        What found the order of elimination: "metis", "levels" or "natural".
    fill : int
        Pairs of vertices that elimination joins or finds joined.
    fronts : int
        Number of supernodes.
    largest : int
        Order of the largest front.
    load : Work
        Terms, by stage.
    seconds : dict
        Predicted, for "elimination", "dense" and "dijkstra" (which only algebras with a selective ⊕ could use).
    """

    nnz: int = 0
    order: str = ""
    fill: int = 0
    fronts: int = 0
    largest: int = 0
    load: Work | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    prepared: float = 0.0  # seconds of the analysis, which is done

    def rows(self) -> dict[str, str]:
        """What is printed, by name."""
        s, n = self.seconds, self.shape[0]
        names = {"metis": "nested dissection by METIS", "levels": "nested dissection by level sets",
                 "natural": "as the vertices are numbered"}
        rows = super().rows()
        rows["operation"] += f", with {self.nnz} edges"
        rows["order"] = f"{names[self.order]}  ({self.fill} pairs joined, {self.fill / max(n, 1):.1f} a vertex)"
        rows["fronts"] = f"{self.fronts}, the largest of order {self.largest}"
        rows["predicted"] = f"elimination {_time(s['elimination'])}, dense {_time(s['dense'])}"
        if self.algebra.selective:
            rows["predicted"] += f", Dijkstra from every vertex {_time(s['dijkstra'])}"
        return rows


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


def plan(
    operation: str, low: Lowering, analysis: Analysis, nnz: int, run: Callable[[Any], Any] = nothing, *,
    answer: bool = True,
) -> SparsePlan:
    """The plan for a closure by elimination, or for factors only (`answer` false)."""
    n, S = analysis.n, low.algebra
    load, rate = work_of(analysis), lowering_rates(low)
    size = low.storage.itemsize
    written = n * n * size if answer else 0
    prepared = analysis_seconds(n, nnz, analysis.method)
    seconds = {
        "elimination": prepared + (load.seconds(n, rate, written) if answer else load.factor_seconds(rate)),
        "dense": dense_seconds(n, rate) / (1 if answer else 3),
        "dijkstra": dijkstra_seconds(n, nnz, n),
    }
    threads = thread_count()
    memory = written + (0 if low.is_identity or low.storage == low.dtype or not answer else n * n * low.dtype.itemsize)
    memory += factor_memory(load, low) + threads * n * 64 * size
    pays = seconds["elimination"] - prepared <= seconds["dense"]  # the analysis is done
    why = "predicted to be faster than the dense closure" if pays else "the dense closure is predicted to be faster"
    fronts = analysis.pivots + analysis.reach
    advice = "use a narrower dtype, fewer vertices, or rows and blocks of rows of factors instead of the whole"
    subject = f"the closure of {n} × {n} {low.dtype}" if answer else f"factoring {n} × {n} {low.dtype}"
    return SparsePlan(
        operation, S, (n, n), "sparse elimination", low, f"CPU, {threads} threads", load.terms(n, answer), memory, run,
        (f"{subject} ({load.fill} pairs joined)", advice), {"method": why}, 0,
        nnz, analysis.method, load.fill, len(analysis.pivots), int(fronts.max(initial=0)), load, seconds, prepared,
    )


def not_worth_a_look(low: Lowering, indptr: np.ndarray, indices: np.ndarray) -> bool:
    """Whether the dense closure takes no longer than the least that elimination can, or fill-in is likely.

    It is not where a breadth-first search stays narrow, so that separators are small. Elsewhere many edges a vertex
    fill the factors, and with few the analysis must not take too much of the time there is to save.
    """
    n, nnz, rate = len(indptr) - 1, len(indices), lowering_rates(low)
    stake, dense = analysis_seconds(n, nnz, "metis"), dense_seconds(n, rate)
    if dense <= stake + SETUP + n * n * low.storage.itemsize / rate.write:
        return True
    many, dear = nnz > MANY * n, stake > ANALYSIS_BUDGET * dense
    return (many or dear) and widest_level(indptr, indices) > NARROW * n


def factor_memory(load: Work, low: Lowering) -> int:
    """Bytes that factoring takes: the factors, and the fronts on their way."""
    return (load.stored + load.stack) * low.storage.itemsize
