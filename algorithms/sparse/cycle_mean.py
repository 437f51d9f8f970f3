"""The least mean weight of a cycle by policy iteration: each vertex follows an edge, and changes to a better one.

    λ(u), h(u)   the mean of the cycle that following leads to, and h(u) = w(u, v) − λ(u) + h(v) along the way
    u takes an edge to v instead where λ(v) < λ(u); where there is none, where w(u, v) − λ(u) + h(v) < h(u)

When no vertex changes, w(u, v) − λ + h(v) − h(u) ≥ 0 on all edges for the least λ, so no cycle has a smaller mean.

R. A. Howard, Dynamic programming and Markov processes (1960); J. Cochet-Terrasson, G. Cohen, S. Gaubert, M. McGettrick,
J.-P. Quadrat, Numerical computation of spectral elements in max-plus algebra (1998).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.kernels.cpu.compile.plain import compiled

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
