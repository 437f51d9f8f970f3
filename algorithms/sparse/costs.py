"""What an answer will cost, from the structure alone: by elimination, by the dense closure, by searches.

Counts are of terms, one ⊗ and one ⊕ each. Rates were measured on two cores of a server with 512-bit vectors, under
min-plus, while nothing else ran; `rates` scales them to other elements. What decides between methods is their ratio,
which varies less between machines than the rates do. docs/benchmarks/choice.py prints how far each prediction is off:
beside what other work disturbs predictions are too short, up to twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import log2
from typing import Any

import numpy as np

from semiring.kernels.cpu.compile.plain import compiled

from .analysis import Analysis
from .ordering import Spread
from .pattern import Index

CHUNK = 64  # right-hand sides that are solved together
LANES = 16  # columns of a front are rounded up to such a multiple
DENSE_ORDER = 320  # order of a front that is eliminated by the dense engine
TOUCH = 17  # terms that take as long as to gather, fill and store one element of a right-hand side
SETUP = 0.38e-3  # seconds for a call, whatever the size
ALONE = 0.2e-3  # and for one whose searches are made one by one
VERTEX, EDGE = 1.2e-6, 0.4e-6  # seconds that the analysis takes for each
EMPTY, GLANCE = 4.5e-8, 2e-9  # seconds to take one of n vertices from its bucket, and to look at an edge of it
SETTLE, LOOK = 6.5e-9, 4e-9  # seconds to settle one of n vertices, over log2 n, and to look at an edge of it
PASS = 2.8e-9  # seconds to pass an edge where all have one value
SHORTEST, SHORT = 5, 7  # levels of a graph between which labels pass each edge about once for every level
LONG = 0.15  # and how many times they do for every further one
CACHE, MISS = 2 << 20, 0.5  # bytes of labels that stay near a core, and what a term takes more where they do not
HEAD = 8  # terms that take as long as to read an edge for all searches that are made at once


@dataclass(frozen=True)
class Rates:
    """Terms and bytes a second.

    Attributes
    ----------
    front : float
        Terms of a small front, on one core.
    large : float
        Terms of large fronts, on all cores.
    product : float
        Terms of large products, on all cores.
    solve : float
        Terms of a solve, on all cores.
    write : float
        Bytes of the answer, on all cores.
    sweep : float
        Terms of searches from many sources at once, on all cores.
    threads : int
        Number of cores.
    """

    front: float
    large: float
    product: float
    solve: float
    write: float
    sweep: float
    threads: int


def rates(itemsize: int, operations: float, threads: int) -> Rates:
    """Rates for elements of so many bytes and terms of so many instructions (2 for min-plus).

    Examples
    --------
    >>> rates(4, 2, 2).product / rates(8, 2, 2).product
    2.0
    """
    slower = max(itemsize / 4, 0.5) * max(operations, 1) / 2
    return Rates(
        12e9 / slower, 16e9 * threads / slower, 48e9 * threads / slower, 45e9 * threads / slower, 4e9 * threads,
        8.5e9 * threads / slower, threads,
    )


@dataclass(frozen=True)
class Work:
    """Terms of an elimination.

    Attributes
    ----------
    small, large : float
        Of all small fronts, and of all large ones: Σ s (s + u)².
    down : float
        Of one right-hand side on its way down: Σ s u.
    touched : int
        Elements of one right-hand side that are gathered: Σ s + u.
    up : float
        Of all right-hand sides on their way up.
    stored : int
        Elements of the factors: Σ s² + 2 s u.
    fill : int
        Pairs of vertices that elimination joins or finds joined: Σ s (s − 1) / 2 + s u.
    stack : int
        The most elements that fronts take at once.
    """

    small: float
    large: float
    down: float
    touched: int
    up: float
    stored: int
    fill: int
    stack: int

    def seconds(self, count: int, rate: Rates, answer_bytes: int) -> float:
        """For `count` right-hand sides, the factoring included; `answer_bytes` are written."""
        solve = (count * (self.down + TOUCH * self.touched) + self.up) / rate.solve
        return SETUP + self.factor_seconds(rate) + solve + answer_bytes / rate.write

    def terms(self, count: int, answer: bool) -> float:
        """The terms of the factors, and of `count` right-hand sides if an answer is wanted."""
        return self.small + self.large + (count * self.down + self.up if answer else 0)

    def factor_seconds(self, rate: Rates) -> float:
        """For the factors alone."""
        return self.small / rate.front + self.large / rate.large


@lru_cache(16)
def work_of(analysis: Analysis) -> Work:
    """Count the terms of a closure.

    Examples
    --------
    A path of three is one supernode: 27 terms to eliminate, and its block once for 64 sources.

    >>> from semiring.algorithms.sparse.analysis import analyse
    >>> found = work_of(analyse(np.array([0, 1, 2, 2]), np.array([1, 2])))
    >>> found.small, found.down, found.stored
    (27.0, 0.0, 9)
    """
    a = analysis
    s, u = a.pivots.astype(float), a.reach.astype(float)
    fronts = s * (s + u) ** 2
    big = s + u >= DENSE_ORDER
    return Work(
        small=float(fronts[~big].sum()), large=float(fronts[big].sum()), down=float((s * u).sum()),
        touched=int((s + u).sum()), up=float(_paths(a.first, a.pointer, a.parent, a.owner, np.arange(a.n))),
        stored=int((s * s + 2 * s * u).sum()), fill=int((s * (s - 1) / 2 + s * u).sum()),
        stack=a.stack_layout(LANES, 1)[2],
    )


@compiled
def _paths(first: Any, pointer: Any, parent: Any, owner: Any, places: Any) -> Any:
    """Terms on the way up, the sources of each chunk together."""
    seen, total = np.full(len(parent), -1), 0.0
    for begin in range(0, len(places), CHUNK):
        end = min(begin + CHUNK, len(places))
        for j in range(begin, end):
            a = owner[places[j]]
            while a >= 0 and seen[a] != begin:
                seen[a] = begin
                s, u = first[a + 1] - first[a], pointer[a + 1] - pointer[a]
                total += float(s) * (s + u) * (end - begin)
                a = parent[a]
    return total


def work_between(analysis: Analysis, starts: Index, ends: Index) -> tuple[float, float]:
    """The terms of the rows of some vertices, up the tree from each of them and down to some others only.

    Second, the steps of k of all products with blocks of factors, where all rows are solved together.

    Examples
    --------
    Of a path of three, where the other two make the supernode above the first: 1 · 2 and 2 · 2 terms up from the
    first, and down to it 1 · 1 terms, which the last does not need.

    >>> from semiring.algorithms.sparse.analysis import analyse
    >>> found = analyse(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]), method="levels", leaf=0, merge=False)
    >>> work_between(found, np.array([0]), np.array([2]))[0], work_between(found, np.array([0]), np.array([0]))[0]
    (6.0, 7.0)
    """
    a = analysis
    terms, steps = _between(a.first, a.pointer, a.parent, a.owner, a.place[starts], a.place[ends])
    return float(terms), float(steps)


@compiled
def _between(first: Any, pointer: Any, parent: Any, owner: Any, starts: Any, ends: Any) -> Any:
    up, wanted, climbed = np.zeros(len(parent)), np.zeros(len(parent), np.int64), np.zeros(len(parent), np.int64)
    terms, down, steps = 0.0, 0.0, 0.0
    for a in range(len(parent) - 1, -1, -1):
        s, u = first[a + 1] - first[a], pointer[a + 1] - pointer[a]
        up[a] = float(s) * (s + u) + (up[parent[a]] if parent[a] >= 0 else 0.0)
    for v in ends:
        a = owner[v]
        while a >= 0 and not wanted[a]:
            wanted[a] = 1
            steps += pointer[a + 1] - pointer[a]
            down += float(first[a + 1] - first[a]) * (pointer[a + 1] - pointer[a])
            a = parent[a]
    for v in starts:
        a = owner[v]
        terms += up[a]
        while a >= 0 and not climbed[a]:
            climbed[a] = 1
            steps += 2 * (first[a + 1] - first[a])
            a = parent[a]
    return terms + len(starts) * down, steps


@lru_cache(1024)
def analysis_seconds(n: int, nnz: int) -> float:
    """For the order and the symbolic analysis; a graph that fills much takes five times as long."""
    return VERTEX * n + EDGE * nnz


@lru_cache(1024)
def dense_seconds(n: int, rate: Rates) -> float:
    """For making the dense matrix and closing it: n³ terms, fewer a second while the matrix is small."""
    return SETUP + float(n) ** 3 / rate.product * (1 + 900 / max(n, 1))


def settle_seconds(n: int, nnz: int, count: int, rate: Rates) -> float:
    """For `count` runs of Dijkstra's algorithm with a heap, each on one core."""
    return max(count / rate.threads, min(count, 1)) * (SETTLE * n * log2(max(n, 2)) + LOOK * nnz)


def bucket_seconds(n: int, nnz: int, count: int, rate: Rates) -> float:
    """For `count` searches by labels in buckets, each on one core."""
    return max(count / rate.threads, min(count, 1)) * (EMPTY * n + GLANCE * nnz)


def level_seconds(nnz: int, count: int, rate: Rates) -> float:
    """For `count` breadth-first searches, each on one core."""
    return max(count / rate.threads, min(count, 1)) * PASS * nnz


def sweep_seconds(n: int, spread: Spread, count: int, width: int, rate: Rates, size: int) -> float:
    """For searches from `count` vertices, up to `width` of them at once, with labels of so many bytes.

    Labels pass the edges about as often as there are levels, as long as those are few.
    """
    passes = min(max(spread.levels, SHORTEST), SHORT) + LONG * max(spread.levels - SHORT, 0)
    lanes = min(width, max(-(-count // rate.threads), 1))
    groups = -(-count // lanes)
    terms = max(groups / rate.threads, min(groups, 1)) * (lanes + HEAD) * passes * spread.edges
    far = 1 + MISS * min(n * lanes * size / CACHE, 1)
    return SETUP + terms * far * rate.threads / rate.sweep
