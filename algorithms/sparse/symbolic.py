"""What elimination in a given order will touch, from the pattern alone.

Eliminating vertex k joins all its later neighbours to each other. The first of these is its parent in the elimination
tree, and what k touches is a part of what its parent touches, plus the parent: trees carry the whole analysis.

J. W. H. Liu, The role of elimination trees in sparse factorization (1990).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.kernels.cpu.compile.plain import compiled


@compiled
def elimination_tree(start: Any, neighbours: Any) -> Any:
    """The parent of every vertex, −1 at the roots; the vertices are eliminated in the order of their numbers."""
    n = len(start) - 1
    parent, ancestor = np.full(n, -1), np.full(n, -1)
    for k in range(n):
        for q in range(start[k], start[k + 1]):
            i = neighbours[q]
            while i != -1 and i < k:
                above = ancestor[i]
                ancestor[i] = k  # the path is shortened for the next who climb it
                if above == -1:
                    parent[i] = k
                i = above
    return parent


@compiled
def postorder(parent: Any) -> Any:
    """The vertices in an order in which every subtree stands together, its root last; children keep their order."""
    n = len(parent)
    child, sibling = np.full(n + 1, -1), np.full(n, -1)  # n stands above the roots
    for v in range(n - 1, -1, -1):
        above = parent[v] if parent[v] >= 0 else n
        sibling[v], child[above] = child[above], v
    order, size = np.empty(n, np.int64), 0
    path, depth = np.empty(n + 1, np.int64), 0
    path[0] = n
    while depth >= 0:
        v = path[depth]
        c = child[v]
        if c >= 0:
            child[v] = sibling[c]
            depth += 1
            path[depth] = c
        else:
            depth -= 1
            if v < n:
                order[size] = v
                size += 1
    return order


@compiled
def column_counts(start: Any, neighbours: Any, parent: Any) -> Any:
    """How many later vertices each vertex touches when it is eliminated, fill included.

    Vertex k is touched by every vertex on the paths of the tree from its earlier neighbours up to k.
    """
    n = len(start) - 1
    count, seen = np.zeros(n, np.int64), np.full(n, -1)
    for k in range(n):
        seen[k] = k
        for q in range(start[k], start[k + 1]):
            i = neighbours[q]
            while i < k and seen[i] != k:
                count[i] += 1
                seen[i] = k
                i = parent[i]
    return count
