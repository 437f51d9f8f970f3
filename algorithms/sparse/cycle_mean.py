"""The least mean weight of a cycle by policy iteration: each vertex follows an edge, and changes to a better one.

    λ(u), h(u)   the mean of the cycle that following leads to, and h(u) = w(u, v) − λ(u) + h(v) along the way
    u takes an edge to v instead where λ(v) < λ(u); where there is none, where w(u, v) − λ(u) + h(v) < h(u)

When no vertex changes, w(u, v) − λ + h(v) − h(u) ≥ 0 on all edges for the least λ, so no cycle has a smaller mean. In
floats this holds up to rounding. A search for a cycle that is better, in exact arithmetic if weights are whole, then
finds such a cycle or shows that there is none. Edges too heavy for any cycle of least mean are left out before: the
precision of floats depends on the heaviest.

R. A. Howard, Dynamic programming and Markov processes (1960); J. Cochet-Terrasson, G. Cohen, S. Gaubert, M. McGettrick,
J.-P. Quadrat, Numerical computation of spectral elements in max-plus algebra (1998).
"""

from __future__ import annotations

from fractions import Fraction
from math import fsum
from typing import Any

import numpy as np

from semiring.algebra.catalogue import min_plus
from semiring.algorithms.labels import improving_cycle
from semiring.algorithms.sparse import traversal
from semiring.algorithms.sparse.pattern import Index
from semiring.algorithms.sparse.relaxation import CompressedRows
from semiring.kernels.cpu.compile.plain import compiled

SLACK = 16  # machine epsilons of the largest weight by which a policy has to be better
ROUNDS = 1000  # of policy iteration, which takes some tens
UNSEEN, SEEN = -1, -2  # in place of the number of the walk on which a vertex was met


@compiled
def least_means(start: Any, heads: Any, weights: Any, slack: float, rounds: int) -> Any:
    """For each vertex the mean λ, the potential h and the edge that it follows.

    Parameters
    ----------
    start, heads : int64 array
        Compressed rows, none of which is empty.
    weights : float64 array
        Finite.
    slack : float
        By how much a change has to be better.
    rounds : int
        After so many it stops in any case: rounding of large potentials could keep it going.
    """
    n = len(start) - 1
    follows, mean, potential = np.empty(n, np.int64), np.zeros(n), np.zeros(n)
    met, walk = np.empty(n, np.int64), np.empty(n, np.int64)
    for u in range(n):
        follows[u] = start[u]
        for p in range(start[u], start[u + 1]):
            if weights[p] < weights[follows[u]]:
                follows[u] = p
    for _ in range(rounds):
        met[:] = UNSEEN
        for root in range(n):
            u, length = root, 0
            while met[u] == UNSEEN:
                met[u] = root
                walk[length] = u
                length += 1
                u = heads[follows[u]]
            if met[u] == root:  # the walk has closed a cycle, which begins and ends at u
                total, count, v = weights[follows[u]], 1, heads[follows[u]]
                while v != u:
                    total += weights[follows[v]]
                    count += 1
                    v = heads[follows[v]]
                mean[u] = total / count
                met[u] = SEEN
            for i in range(length - 1, -1, -1):
                v = walk[i]
                if met[v] == root:
                    ahead = heads[follows[v]]
                    mean[v] = mean[ahead]
                    potential[v] = weights[follows[v]] - mean[v] + potential[ahead]
                    met[v] = SEEN
        changed = False
        for u in range(n):
            best = mean[u] - slack
            for p in range(start[u], start[u + 1]):
                if mean[heads[p]] < best:
                    best, follows[u], changed = mean[heads[p]], p, True
        if changed:
            continue
        for u in range(n):
            best = potential[u] - slack
            for p in range(start[u], start[u + 1]):
                v = heads[p]
                if mean[v] <= mean[u] + slack and weights[p] - mean[u] + potential[v] < best:
                    best, follows[u], changed = weights[p] - mean[u] + potential[v], p, True
        if not changed:
            break
    return mean, potential, follows


def light_enough(n: int, tails: np.ndarray, heads: Index, weights: np.ndarray) -> np.ndarray:
    """Find the edges that a cycle of least mean can have; heavier ones would cost precision.

        d = w − min w,   t: a power of 2 for which the edges with d ≤ t have a cycle, so that the least mean of d is ≤ t
        a cycle of k ≤ n edges, one of which has d > n t, has a mean above t, since no d is negative

    Parameters
    ----------
    n : int
    tails, heads : ndarray of int64
        Ends of edges, some of which make a cycle; tails ascend.
    weights : ndarray of floats
        Finite.

    Examples
    --------
    >>> light_enough(2, np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([2.5, 1e20, 2.0]))
    array([ True, False,  True])
    """
    d = weights / 2 - weights.min() / 2  # halves do not overflow
    size = np.where(d > 0, np.frexp(d)[1], np.iinfo(np.int32).min)
    sizes = np.unique(size)
    low, high = 0, len(sizes) - 1
    while low < high:
        middle = (low + high) // 2
        some = size <= sizes[middle]
        if len(traversal.topological_order(starts_of(n, tails[some]), heads[some])) < n:
            high = middle
        else:
            low = middle + 1
    few = int(2 * n).bit_length()  # n t, and room for rounding
    return np.asarray(size <= int(sizes[low]) + few)


def on_cycles(n: int, tails: np.ndarray, heads: Index) -> np.ndarray:
    """Find the edges on a cycle; tails ascend."""
    label = traversal.strong_components(starts_of(n, tails), heads)
    return np.asarray(label[tails] == label[heads])


def starts_of(n: int, tails: np.ndarray) -> Index:
    return np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=n))])


def least_mean(G: CompressedRows) -> tuple[Any, list[int]]:
    """Return the least mean of a cycle, and this cycle, closed; every vertex of the graph has an edge.

    Weights are finite or −∞; the mean is a `Fraction` of integers, exact, and else a float.

    Examples
    --------
    >>> least_mean(CompressedRows(np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([3.0, 1.0, 2.0])))
    (Fraction(3, 2), [0, 1, 0])
    """
    w, tails = G.values, np.repeat(np.arange(G.n), np.diff(G.indptr))
    endless = np.flatnonzero(w == -np.inf)
    if len(endless):
        return -np.inf, _cycle_along(G.indptr, G.indices, tails, int(endless[0]))
    rough = w.astype(np.float64)
    slack = SLACK * np.finfo(np.float64).eps * float(np.abs(rough).max())
    means, potential, follows = least_means(G.indptr, G.indices, rough, slack, ROUNDS)
    exact = w.dtype == object or bool((w == np.floor(w)).all())
    cycle = _followed(G.indices, follows, int(means.argmin()))
    mean, potential = _mean(G, cycle, exact), potential - potential[cycle[0]]  # multiples of 1 / len(cycle), if exact
    rounded = 0.0 if exact else slack + 4 * np.finfo(np.float64).eps * float(np.abs(potential).max())
    while True:
        shifted = _shifted(G, tails, mean, potential)
        if (shifted >= -rounded).all():
            return mean, cycle
        better, _ = improving_cycle(G.with_values(shifted), min_plus, list(range(G.n)))
        if better is None or not _mean(G, better, exact) < mean:
            return mean, cycle
        cycle, mean = better, _mean(G, better, exact)


def _mean(G: CompressedRows, cycle: list[int], exact: bool) -> Any:
    weights = G.along(cycle[:-1], cycle[1:]).tolist()
    return Fraction(sum(map(int, weights)), len(weights)) if exact else fsum(weights) / len(weights)


def _shifted(G: CompressedRows, tails: np.ndarray, mean: Any, potential: np.ndarray) -> np.ndarray:
    """w(u, v) − mean + h(v) − h(u), of integers times the mean's denominator: cycles keep the sign of their sum."""
    w, heads = G.values, G.indices
    if not isinstance(mean, Fraction):
        return np.asarray(w - mean + potential[heads] - potential[tails])
    p, q = mean.numerator, mean.denominator
    h = np.rint(potential * q)
    largest = (float(np.abs(w).max()) + abs(p / q)) * q + 2 * float(np.abs(h).max())
    if largest * max(G.n, 1) < 2**53:  # sums along walks are exact in floats
        return np.asarray(w.astype(np.float64) * q - p + h[heads] - h[tails])
    whole = np.array([int(x) for x in h.tolist()], object)
    return np.asarray(np.array([int(x) for x in w.tolist()], object) * q - p + whole[heads] - whole[tails])


def _followed(heads: Index, follows: Index, v: int) -> list[int]:
    """Follow edges from a vertex to a cycle, and return it from its least vertex on."""
    seen: dict[int, None] = {}
    while v not in seen:
        seen[v] = None
        v = int(heads[follows[v]])
    walk = list(seen)
    cycle = walk[walk.index(v) :]
    first = cycle.index(min(cycle))
    return [*cycle[first:], *cycle[: first + 1]]


def _cycle_along(start: Index, heads: Index, tails: np.ndarray, edge: int) -> list[int]:
    """Find a shortest cycle along an edge."""
    u = int(tails[edge])
    kept = tails != u
    kept[edge] = True
    before = np.concatenate([[0], np.cumsum(kept)])
    found: list[int] = traversal.shortest_cycle(before[start], heads[kept], u).tolist()
    return found
