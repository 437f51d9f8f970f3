"""The least solution of x = x A ⊕ b by a work list: a vertex whose value changed passes it on along its edges.

Vertices wait in reverse postorder of a depth-first search: in an acyclic graph each is taken once, after all before it,
and the vertices of an inner cycle settle before those behind it. G. A. Kildall, A unified approach to global program
optimization (1973); J. B. Kam, J. D. Ullman, Global data flow analysis and iterative algorithms (1976).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Any


def reverse_postorder(start: Sequence[int], heads: Sequence[int], roots: Sequence[int]) -> list[int]:
    """The vertices that are reached from the roots; edges of an acyclic graph lead to later ones.

    Examples
    --------
    >>> reverse_postorder([0, 2, 3, 3, 3], [1, 2, 2], [0])
    [0, 1, 2]
    """
    n = len(start) - 1
    following, met, order = list(start[:n]), bytearray(n), list[int]()
    for root in reversed(roots):
        if met[root]:
            continue
        met[root], path = 1, [root]
        while path:
            u = path[-1]
            p = following[u]
            if p == start[u + 1]:
                order.append(path.pop())
                continue
            following[u] = p + 1
            v = heads[p]
            if not met[v]:
                met[v] = 1
                path.append(v)
    order.reverse()
    return order


def settle(
    start: Sequence[int], heads: Sequence[int], order: Sequence[int], x: list[Any],
    joined: Callable[[Any, Any, int], Any], most: float,
) -> bool:
    """Make x the least solution; return whether it was reached within so many terms.

    Parameters
    ----------
    start, heads : sequence of int
        Compressed rows: the edges from each vertex.
    order : sequence of int
        From `reverse_postorder`, of the vertices at which b is not zero.
    x : list
        b at first.
    joined : callable
        Of x_v, x_u and an edge from u to v: x_v ⊕ x_u ⊗ a, or None if this is x_v.
    most : float
    """
    place = [0] * (len(start) - 1)
    for i, v in enumerate(order):
        place[v] = i
    waiting, waits = list(range(len(order))), bytearray(b"\1" * len(order))  # sorted, and so a heap
    while waiting:
        i = heappop(waiting)
        u, waits[i] = order[i], 0
        most -= start[u + 1] - start[u]
        if most < 0:
            return False
        for p in range(start[u], start[u + 1]):
            v = heads[p]
            new = joined(x[v], x[u], p)
            if new is not None:
                x[v] = new
                if not waits[j := place[v]]:
                    waits[j] = 1
                    heappush(waiting, j)
    return True
