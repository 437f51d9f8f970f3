"""R-Kleene: the closure of a matrix from the closures of its halves.

    A = [ P Q ]     P ← P*,   Q ← P Q,   Z ← Z ⊕ Y Q,   Y ← Y P,
        [ Y Z ]     Z ← Z*,   Y ← Z Y,   P ← P ⊕ Q Y,   Q ← Q Z

P. D'Alberto, A. Nicolau, R-Kleene: a high-performance divide-and-conquer algorithm for the all-pair shortest path for
densely connected networks (2007); A. Buluç, J. R. Gilbert, C. Budak, Solving path problems on the GPU (2010). There it
needs idempotence. In this order, with Y scaled only after Z has used it and with panels that are replaced rather than
accumulated into, it is block elimination and right for every closed semiring, still in place.
"""

from __future__ import annotations

from semiring.kernels.interface import AnyBlock, Kernel

from .blocks import close


def r_kleene(A: AnyBlock, kernel: Kernel[AnyBlock], tile: int) -> None:
    """A ← A* in place; blocks of at most `tile` rows are closed directly."""
    close_by_halves(A, kernel, tile, 0)


def close_by_halves(A: AnyBlock, kernel: Kernel[AnyBlock], tile: int, start: int) -> None:
    """A ← A* for a block that begins at row `start` of the whole matrix."""
    n = A.shape[0]
    if n <= tile:
        close(A, kernel, start)
        return
    h = half(n, tile, kernel.align)
    P, Q = A[:h, :h], A[:h, h:]
    Y, Z = A[h:, :h], A[h:, h:]
    close_by_halves(P, kernel, tile, start)
    kernel.left(P, Q)
    kernel.multiply_add(Z, Y, Q)
    kernel.right(Y, P)
    close_by_halves(Z, kernel, tile, start + h)
    kernel.left(Z, Y)
    kernel.multiply_add(P, Q, Y)
    kernel.right(Q, Z)


def close_pivot(D: AnyBlock, kernel: Kernel[AnyBlock], start: int) -> None:
    """D ← D* for a pivot block that begins at row `start`: whole where that is the engine's best way, or by halves."""
    close_by_halves(D, kernel, D.shape[0] if kernel.closes_whole(D.shape[0]) else kernel.tile, start)


def half(n: int, tile: int, align: int) -> int:
    """The cut of n > tile: near the middle, on a multiple of the tile, or of the alignment if that is too coarse."""
    step = tile if n >= 2 * tile else align
    return max(step, (n // 2 + step - 1) // step * step) if n > step else n // 2
