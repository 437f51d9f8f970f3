"""Floyd's Algorithm 97: three loops over the whole matrix, a vertex at a time.

    for every vertex k:  a_ij ← a_ij ⊕ a_ik ⊗ a_kj    for all i and j

After round k, a_ij is the ⊕ of all walks from i to j whose inner vertices are among the first k. Each of the n rounds
reads and writes the whole matrix: once that does not fit in a cache, memory is what takes the time.

R. W. Floyd, Algorithm 97 (1962). The star at the pivot, which Floyd needs not, is S. Warshall's A theorem on Boolean
matrices (1962) turned by D. J. Lehmann, Algebraic structures for transitive closure (1977), into what is right without
idempotence: row k is multiplied by it first, column k last.
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
