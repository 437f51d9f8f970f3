"""Best walks from a few sources of a sparse graph, for algebras whose ⊕ selects: Bellman–Ford–Moore with a frontier.

    x ← 1 at the source, 0 elsewhere;   F ← {source}
    while F is not empty:
        for every edge u → v with u in F:   x_v ← x_v ⊕ x_u ⊗ a_uv, and v joins F' where that improves x_v
        F ← F'

Row s of A* is x for the source s. After i rounds all walks of i edges have been seen, so that something left to do
after n rounds means a cycle that improves for ever. Predecessors show one earlier: u is the predecessor of v where
u → v was the last to improve x_v. A cycle of predecessors improves, and where a cycle improves there is one after a
while.

E. F. Moore, The shortest path through a maze (1959); B. V. Cherkassky, A. V. Goldberg, Negative-cycle detection
algorithms (1999); P. Harish, P. J. Narayanan, Accelerating large graph algorithms on the GPU using CUDA (2007).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from .relaxation import cycle_of


class FrontierKernel(Protocol):
    """What the schedule asks of an engine: rows x of many sources, and their frontiers."""

    rounds: int  #: rounds that it takes at once

    def advance(self, state: Any, rounds: int) -> bool:
        """So many rounds for all sources; whether any frontier is left. A round that finds none changes nothing."""


def frontier(state: Any, kernel: FrontierKernel, n: int) -> bool:
    """Rounds until nothing improves; whether that came to an end within n + 1 rounds: else a cycle improves."""
    left = n + 1
    while left > 0:
        rounds = min(left, kernel.rounds)
        if not kernel.advance(state, rounds):
            return True
        left -= rounds
    return False


def correct_labels(
    edges: Callable[[int], Sequence[tuple[int, Any]]], n: int, scalar: dict[str, Callable[..., Any]],
    zero: Any, one: Any, source: int,
) -> tuple[list, np.ndarray, list[int] | None]:  # fmt: skip
    """Best weights from one source, predecessors (−1 for none), and a cycle that improves if there is one.

    For elements of any kind; the compiled kernel does the same.

    Parameters
    ----------
    edges : callable
        The heads and weights of a vertex's edges.
    n : int
        Number of vertices.
    scalar : dict
        "add" and "mul" of two elements.
    zero, one : element
    source : int

    Examples
    --------
    >>> graph = [[(1, 3), (2, 10)], [(2, 4)], []]
    >>> scalar = {"add": min, "mul": lambda a, b: a + b}
    >>> correct_labels(graph.__getitem__, 3, scalar, np.inf, 0, 0)
    ([0, 3, 7], array([-1,  0,  1]), None)
    """
    add, mul = scalar["add"], scalar["mul"]
    x = [zero] * n
    x[source] = one
    predecessor = np.full(n, -1)
    F, improved = [source], 0
    while F:
        following: dict[int, None] = {}  # in the order in which they improved
        for u in F:
            for v, a in edges(u):
                best = add(x[v], mul(x[u], a))
                if not (best == x[v] or best != best):
                    x[v], predecessor[v] = best, u
                    following[v] = None
                    improved += 1
            if improved > n:
                improved = 0
                cycle = some_cycle(predecessor)
                if cycle is not None:
                    return x, predecessor, cycle
        F = list(following)
    return x, predecessor, some_cycle(predecessor)


def some_cycle(predecessor: np.ndarray) -> list[int] | None:
    """A cycle of predecessors, in the direction of the edges and closed; ``None`` if there is none.

    Examples
    --------
    >>> some_cycle(np.array([-1, 0, 3, 2]))
    [2, 3, 2]
    """
    root_of = np.full(len(predecessor), -1)
    for root in range(len(predecessor)):
        v = root
        while v >= 0 and root_of[v] < 0:
            root_of[v] = root
            v = int(predecessor[v])
        if v >= 0 and root_of[v] == root:
            return cycle_of(predecessor, v)
    return None
