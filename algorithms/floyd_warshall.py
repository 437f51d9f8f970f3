"""Floyd–Warshall: the definition, one pivot at a time.

For k = 0 … n − 1, with s = (a_kk)*:

    a_kj ← s ⊗ a_kj              j ≠ k
    a_ij ← a_ij ⊕ a_ik ⊗ a_kj    i, j ≠ k
    a_ik ← a_ik ⊗ s              i ≠ k
    a_kk ← s

With the star at every pivot this is Gauss–Jordan elimination, right for every closed semiring, also where ⊕ is not
idempotent and ⊗ not commutative. It is the base case of all other schedules, so an engine brings it as `close`.

R. W. Floyd, Algorithm 97 (1962); S. Warshall, A theorem on Boolean matrices (1962); B. Carré, An algebra for network
routing problems (1971); D. J. Lehmann, Algebraic structures for transitive closure (1977).
"""

from __future__ import annotations

from semiring.kernels.interface import AnyBlock, Kernel

from .blocks import UndefinedStar


def floyd_warshall(A: AnyBlock, kernel: Kernel[AnyBlock], tile: int) -> None:
    """A ← A* in place, as one block."""
    pivot = kernel.close(A)
    if pivot >= 0:
        raise UndefinedStar(pivot)
