"""Floyd's Algorithm 97: three loops over the whole matrix, a vertex at a time.

    for every vertex k:  a_ij ← a_ij ⊕ a_ik ⊗ a_kj    for all i and j

After round k, a_ij is the ⊕ of all walks from i to j whose inner vertices are among the first k. Each of the n rounds
reads and writes the whole matrix: once that does not fit in a cache, memory is what takes the time.

R. W. Floyd, Algorithm 97 (1962). Distances need no star. With that of the pivot, by which row k is multiplied first and
column k last, the loops are right without idempotence too: D. J. Lehmann, Algebraic structures for transitive closure
(1977).
"""

from __future__ import annotations

from typing import Any, Protocol

from semiring.algorithms.blocks import UndefinedStar
from semiring.kernels.interface import Block


class Pivots(Protocol):
    """An engine that eliminates one vertex from a whole matrix."""

    def eliminate(self, A: Any, k: int) -> bool:
        """s ← (a_kk)*, a_kj ← s ⊗ a_kj, a_ij ← a_ij ⊕ a_ik ⊗ a_kj, a_ik ← a_ik ⊗ s, a_kk ← s; whether s exists."""


def floyd(A: Block, engine: Pivots) -> None:
    """A ← A* in place."""
    for k in range(A.shape[0]):
        if not engine.eliminate(A, k):
            raise UndefinedStar(k)
