"""The structure of graphs by walking along their edges once: topological order, components, cycles, bridges.

Graphs are compressed rows: the heads of vertex u's edges are ``heads[start[u] : start[u + 1]]``, in any order. In an
undirected graph each edge is in the rows of both its ends, with its number, which distinguishes parallel edges.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.kernels.cpu.compile.plain import compiled

from .pattern import Index


@compiled
def topological_order(start: Any, heads: Any) -> Any:
    """The vertices, each before its successors; those that are on a cycle, or come after one, are left out.

    A. B. Kahn, Topological sorting of large networks (1962).
    """
    n = len(start) - 1
    waiting = np.zeros(n, np.int64)
    for p in range(len(heads)):
        waiting[heads[p]] += 1
    order, size, taken = np.empty(n, np.int64), 0, 0
    for v in range(n):
        if waiting[v] == 0:
            order[size] = v
            size += 1
    while taken < size:
        u = order[taken]
        taken += 1
        for p in range(start[u], start[u + 1]):
            v = heads[p]
            waiting[v] -= 1
            if waiting[v] == 0:
                order[size] = v
                size += 1
    return order[:size]


def leads_round(start: Index, heads: Index) -> bool:
    """Whether a walk is found that goes round a cycle; False says nothing.

    From each vertex the walk goes on to the head with most edges. It is followed in steps of 1, 2, 4, … edges.

    Examples
    --------
    >>> leads_round(np.array([0, 1, 2, 2]), np.array([1, 0])), leads_round(np.array([0, 1, 2, 2]), np.array([1, 2]))
    (True, False)
    """
    n = len(start) - 1
    degree = np.diff(start)
    tails = np.flatnonzero(degree)
    if not len(tails):
        return False
    reached, steps = np.full(n + 1, n), 1
    reached[tails] = np.maximum.reduceat((degree[heads] << 32) | heads, start[tails]) & 0xFFFFFFFF
    while steps < n:
        reached, steps = reached[reached], 2 * steps
    return bool((reached < n).any())


@compiled
def heights(start: Any, heads: Any, order: Any) -> Any:
    """The most edges of a walk from each vertex of an acyclic graph; `order` is topological."""
    n = len(start) - 1
    height = np.zeros(n, np.int64)
    for i in range(n - 1, -1, -1):
        u = order[i]
        for p in range(start[u], start[u + 1]):
            if height[heads[p]] >= height[u]:
                height[u] = height[heads[p]] + 1
    return height


@compiled
def strong_components(start: Any, heads: Any) -> Any:
    """The strongly connected component of every vertex, numbered so that edges lead to the same or a lower number.

    R. E. Tarjan, Depth-first search and linear graph algorithms (1972), without recursion.
    """
    n = len(start) - 1
    label, number = np.full(n, -1, np.int64), np.full(n, -1, np.int64)  # `number`: in the order of the search
    low, following = np.empty(n, np.int64), start[:-1].copy()  # the entry at which the search of a vertex goes on
    path, waiting = np.empty(n, np.int64), np.empty(n, np.int64)  # `waiting`: met, and without a component yet
    met, kept, found = 0, 0, 0
    for root in range(n):
        if number[root] >= 0:
            continue
        path[0], depth = root, 1
        while depth:
            v = path[depth - 1]
            if number[v] < 0:
                number[v] = low[v] = met
                met += 1
                waiting[kept] = v
                kept += 1
            while following[v] < start[v + 1]:
                w = heads[following[v]]
                following[v] += 1
                if number[w] < 0:
                    path[depth] = w
                    depth += 1
                    break
                if label[w] < 0 and number[w] < low[v]:
                    low[v] = number[w]
            if path[depth - 1] != v:
                continue
            depth -= 1
            if depth and low[v] < low[path[depth - 1]]:
                low[path[depth - 1]] = low[v]
            if low[v] == number[v]:
                while label[v] < 0:
                    kept -= 1
                    label[waiting[kept]] = found
                found += 1
    return label


def cycle(start: Index, heads: Index) -> Index | None:
    """A shortest cycle through the first vertex that is on one, which it begins and ends with; None if there is none.

    Examples
    --------
    >>> cycle(np.array([0, 1, 3, 4]), np.array([1, 2, 1, 0]))
    array([0, 1, 2, 0])
    >>> cycle(np.array([0, 1, 1]), np.array([1])) is None
    True
    """
    label = strong_components(start, heads)
    tails = np.repeat(np.arange(len(start) - 1), np.diff(start))
    inside = label[tails] == label[heads]
    if not inside.any():
        return None
    found: Index = shortest_cycle(start, heads, int(tails[inside.argmax()]))
    return found


@compiled
def shortest_cycle(start: Any, heads: Any, v: int) -> Any:
    """A shortest cycle through a vertex that is on one, breadth first; it begins and ends with the vertex."""
    n = len(start) - 1
    before, queue = np.full(n, -1, np.int64), np.empty(n, np.int64)
    queue[0], taken, size = v, 0, 1
    while before[v] < 0:
        u = queue[taken]
        taken += 1
        for p in range(start[u], start[u + 1]):
            w = heads[p]
            if before[w] < 0:
                before[w] = u
                if w != v:
                    queue[size] = w
                    size += 1
    length, u = 1, before[v]
    while u != v:
        length += 1
        u = before[u]
    walk = np.full(length + 1, v, np.int64)
    for i in range(length - 1, 0, -1):
        walk[i] = before[walk[i + 1]]
    return walk


@compiled
def undirected_cycle(start: Any, heads: Any, edges: Any) -> Any:
    """A cycle of an undirected graph, no edge of which is walked twice; empty if there is none.

    In a depth-first search an edge that leads to a vertex met before leads back along the path to it.
    """
    n = len(start) - 1
    before, entered = np.full(n, -2, np.int64), np.full(n, -1, np.int64)  # the vertex, and the edge that was taken
    following = start[:-1].copy()
    for root in range(n):
        if before[root] != -2:
            continue
        before[root], v = -1, root
        while v >= 0:
            if following[v] == start[v + 1]:
                v = before[v]
                continue
            p = following[v]
            following[v] += 1
            w = heads[p]
            if edges[p] == entered[v]:
                continue
            if before[w] == -2:
                before[w], entered[w], v = v, edges[p], w
                continue
            length, u = 1, v
            while u != w:
                length += 1
                u = before[u]
            walk = np.full(length + 1, w, np.int64)
            u = v
            for i in range(length - 1, 0, -1):
                walk[i] = u
                u = before[u]
            return walk
    return np.empty(0, np.int64)


@compiled
def bridges(start: Any, heads: Any, edges: Any, count: int) -> Any:
    """Which of the `count` edges of an undirected graph are bridges: without one its ends are no longer connected.

    An edge of the tree of a depth-first search is one where nothing below it leads past it back to the path.

    R. E. Tarjan, A note on finding the bridges of a graph (1974).
    """
    n = len(start) - 1
    number, low = np.full(n, -1, np.int64), np.empty(n, np.int64)
    before, entered = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    following, found, met = start[:-1].copy(), np.zeros(count, np.bool_), 0
    for root in range(n):
        v = root if number[root] < 0 else -1
        while v >= 0:
            if number[v] < 0:
                number[v] = low[v] = met
                met += 1
            if following[v] < start[v + 1]:
                p = following[v]
                following[v] += 1
                w = heads[p]
                if edges[p] == entered[v]:
                    continue
                if number[w] < 0:
                    before[w], entered[w], v = v, edges[p], w
                elif number[w] < low[v]:
                    low[v] = number[w]
                continue
            u = before[v]
            if u >= 0:
                if low[v] < low[u]:
                    low[u] = low[v]
                if low[v] > number[u]:
                    found[entered[v]] = True
            v = u
    return found


@compiled
def longest_walks(start: Any, heads: Any, weights: Any, order: Any, source: int) -> Any:
    """The greatest sum of weights along a walk to each vertex of an acyclic graph, and the vertex before it there.

    `order` is topological. Walks begin at the source, or anywhere where that is −1, and may have no edge. The vertex
    before is −1 where a walk begins, and −2 where none leads.
    """
    n = len(start) - 1
    sums = np.zeros(n, weights.dtype)
    before = np.full(n, -1 if source < 0 else -2, np.int64)
    if source >= 0:
        before[source] = -1
    for i in range(n):
        u = order[i]
        if before[u] == -2:
            continue
        for p in range(start[u], start[u + 1]):
            v, t = heads[p], sums[u] + weights[p]
            if before[v] == -2 or t > sums[v]:
                sums[v], before[v] = t, u
    return sums, before
