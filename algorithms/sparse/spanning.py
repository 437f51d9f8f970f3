"""A best spanning forest as an order of the vertices, in which each of its edges joins two runs.

J. B. Kruskal, On the shortest spanning subtree of a graph and the traveling salesman problem (1956).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.kernels.cpu.compile.plain import compiled


@compiled
def joined_runs(tails: Any, heads: Any, order: Any, edges: Any) -> Any:
    """Join the runs of two vertices for each edge in turn, the best first; write the vertices' order to `order`.

    `edges` gets the edge by which the run that ends at a place was joined to what is before it; −1 where a tree begins.
    """
    n = len(order)
    above, first, last, size = np.arange(n), np.arange(n), np.arange(n), np.ones(n, np.int64)
    after, via = np.full(n, -1), np.full(n, -1)
    for e in range(len(tails)):
        a, b = tails[e], heads[e]
        while above[a] != a:
            above[a] = above[above[a]]
            a = above[a]
        while above[b] != b:
            above[b] = above[above[b]]
            b = above[b]
        if a == b:
            continue
        if size[a] < size[b]:
            a, b = b, a
        above[b] = a
        size[a] += size[b]
        after[last[a]] = first[b]
        via[first[b]] = e
        last[a] = last[b]
    at = 0
    for root in range(n):
        if above[root] == root:
            v = first[root]
            while v >= 0:
                order[at], edges[at] = v, via[v]
                at += 1
                v = after[v]
    return at
