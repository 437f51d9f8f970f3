"""Blocked Floyd–Warshall: pivots are blocks, so nearly all work is in matrix products.

        [ X C X ]
    A = [ R D R ]     D ← D*,   R ← D R,   X ← X ⊕ C R,   C ← C D
        [ X C X ]

G. Venkataraman, S. Sahni, S. Mukhopadhyaya, A blocked all-pairs shortest-paths algorithm (2003); on GPUs G. J. Katz,
J. T. Kider (2008). Scaling C after X was updated, not before, makes it right without idempotence: D* D* is not D*.
"""

from __future__ import annotations

from semiring.kernels.interface import AnyBlock, Kernel

from .blocks import pivots
from .r_kleene import close_by_halves


def blocked(A: AnyBlock, kernel: Kernel[AnyBlock], tile: int) -> None:
    """A ← A* in place, with pivots of `tile` rows."""
    for k, D, R, C, X in pivots(A, tile):
        close_by_halves(D, kernel, kernel.tile, k.start)
        for r in R:
            kernel.left(D, r)
        for xs, c in zip(X, C, strict=True):
            for x, r in zip(xs, R, strict=True):
                kernel.multiply_add(x, c, r)
        for c in C:
            kernel.right(c, D)
