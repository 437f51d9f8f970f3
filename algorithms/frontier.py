"""Best walks from a few sources of a sparse graph, for algebras whose ⊕ selects: Bellman–Ford–Moore with a frontier.

    x ← 1 at the source, 0 elsewhere;   F ← {source}
    while F is not empty:
        for every edge u → v with u in F:   x_v ← x_v ⊕ x_u ⊗ a_uv, and v joins F' where that improves x_v
        F ← F'

Row s of A* is x for the source s. After i rounds all walks of i edges have been seen, so that something left to do
after n rounds means an improving cycle. Predecessors show one earlier: u is the predecessor of v where
u → v was the last to improve x_v. A cycle of predecessors improves, and where a cycle improves there is one after a
while.

E. F. Moore, The shortest path through a maze (1959); B. V. Cherkassky, A. V. Goldberg, Negative-cycle detection
algorithms (1999); P. Harish, P. J. Narayanan, Accelerating large graph algorithms on the GPU using CUDA (2007).
"""

from __future__ import annotations

from typing import Any, Protocol


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
