"""The transitive reduction of an acyclic graph: sets of the vertices that are reached, for some targets at a time.

Vertices are taken in topological order, sinks first, and the successors of each ascending in it:

    reached(u) = {u} ∪ ⋃ reached(v)      the edge u → v stays unless v is reached through a successor before it

The sets are rows of bits. They are made for a block of targets after the other, ascending, so that n² bits are never
held; an edge is decided in the block of its head, and one that was dropped is not followed in the blocks after it.

A. Goralčíková, V. Koubek, A reduct-and-closure algorithm for graphs (1979).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semiring.kernels.cpu.compile.plain import compiled

from .pattern import Index, inverse
from .traversal import topological_order

BLOCK_TARGETS = 4096  # targets of a block, at most: 512 bytes a row
LINE_TARGETS = 512  # and at least: a cache line
BLOCK_BYTES = 128 << 20  # bytes that a block's rows should not exceed


def transitive_reduction(start: Index, heads: Index) -> NDArray[np.bool_] | None:
    """Which edges of a graph no longer path replaces, or None where the graph has a cycle.

    Parameters
    ----------
    start : int64 array, shape (n + 1,)
    heads : int64 array, shape (m,)
        Compressed rows; the heads of each vertex in any order, none twice.

    Returns
    -------
    bool array, shape (m,), or None

    Examples
    --------
    >>> transitive_reduction(np.array([0, 2, 3, 3]), np.array([1, 2, 2]))
    array([ True, False,  True])
    >>> transitive_reduction(np.array([0, 1]), np.array([0])) is None
    True
    """
    n = len(start) - 1
    order = topological_order(start, heads)
    if len(order) < n:
        return None
    place = inverse(order)
    tails = np.repeat(place, np.diff(start))
    sequence = np.argsort(tails * max(n, 1) + place[heads])
    after = np.concatenate([[0], np.cumsum(np.diff(start)[order])])
    ordered, kept = place[heads[sequence]], np.ones(len(heads), bool)
    width = min(max(BLOCK_BYTES * 8 // max(n, 1) // LINE_TARGETS * LINE_TARGETS, LINE_TARGETS), BLOCK_TARGETS)
    reached = np.empty((n, width // 8), np.uint8)
    for first in range(0, n, width):
        drop_replaced(after, ordered, kept, first, min(first + width, n), reached)
    result = np.empty(len(heads), bool)
    result[sequence] = kept
    return result


@compiled
def drop_replaced(start: Any, heads: Any, kept: Any, first: Any, last: Any, reached: Any) -> Any:
    """Drop the edges into the vertices ``first:last`` that a path replaces; vertices are in topological order.

    Heads ascend in each row. What has been decided of edges into earlier vertices is made use of.
    """
    for u in range(last - 1, -1, -1):
        row = reached[u]
        row[:] = 0
        for p in range(start[u], start[u + 1]):
            v = heads[p]
            if v >= last:
                break
            if v >= first and row[(v - first) >> 3] >> ((v - first) & 7) & 1:
                kept[p] = False
            if kept[p]:
                row |= reached[v]
        if u >= first:
            row[(u - first) >> 3] |= np.uint8(1 << ((u - first) & 7))
