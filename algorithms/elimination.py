"""Elimination: the LU decomposition of a closed semiring, to solve X = A X ⊕ B for many B, or to expand into A*.

`factor` eliminates the rows below each pivot block only, a third of the closure's work:

    A = [ D R ]     D ← D*,   R ← D R,   X ← X ⊕ C R,   and on into X
        [ C X ]

`solve` then takes a right-hand side forward (Y_k ← D Y_k, Y_below ← Y_below ⊕ C Y_k) and backward
(Y_k ← Y_k ⊕ R Y_after), and `solve_left` rows forward (Y_after ← Y_after ⊕ Y_k R) and backward
(Y_k ← (Y_k ⊕ Y_after C) D). `expand` turns the factors into A*, from the last pivot to the first, X* being known:

    C ← X* C D,   D ← D ⊕ R C,   R ← R X*

B. Carré, Graphs and networks (1979); over the reals it is LU without pivoting.
"""

from __future__ import annotations

from semiring.kernels.interface import AnyBlock, Kernel

from .blocks import spans
from .r_kleene import close_by_halves


def elimination(A: AnyBlock, kernel: Kernel[AnyBlock], tile: int) -> None:
    """A ← A* in place: factor, then expand."""
    factor(A, kernel, tile)
    expand(A, kernel, tile)


def factor(A: AnyBlock, kernel: Kernel[AnyBlock], tile: int) -> None:
    """A ← its factors: D*, D* R and C for every pivot block."""
    n = A.shape[0]
    for k in spans(n, tile):
        close_by_halves(A[k, k], kernel, kernel.tile, k.start)
        if k.stop < n:
            rest = slice(k.stop, n)
            D, R, C, X = A[k, k], A[k, rest], A[rest, k], A[rest, rest]
            kernel.left(D, R)
            kernel.multiply_add(X, C, R)


def expand(A: AnyBlock, kernel: Kernel[AnyBlock], tile: int) -> None:
    """A ← A*, from what `factor` left."""
    n = A.shape[0]
    for k in reversed(spans(n, tile)[:-1]):
        rest = slice(k.stop, n)
        D, R, C, X = A[k, k], A[k, rest], A[rest, k], A[rest, rest]
        kernel.right(C, D)
        kernel.left(X, C)
        kernel.multiply_add(D, R, C)
        kernel.right(R, X)


def solve(A: AnyBlock, B: AnyBlock, kernel: Kernel[AnyBlock], tile: int) -> None:
    """B ← A* B, the least solution of X = A X ⊕ B, from what `factor` left in A."""
    n, columns = B.shape
    every = slice(0, columns)
    for k in spans(n, tile):
        rest = slice(k.stop, n)
        kernel.left(A[k, k], B[k, every])
        if k.stop < n:
            kernel.multiply_add(B[rest, every], A[rest, k], B[k, every])
    for k in reversed(spans(n, tile)[:-1]):
        rest = slice(k.stop, n)
        kernel.multiply_add(B[k, every], A[k, rest], B[rest, every])


def solve_left(A: AnyBlock, B: AnyBlock, kernel: Kernel[AnyBlock], tile: int) -> None:
    """B ← B A*, the least solution of X = X A ⊕ B, from what `factor` left in A."""
    n, rows = A.shape[0], B.shape[0]
    every = slice(0, rows)
    for k in spans(n, tile):
        if k.stop < n:
            kernel.multiply_add(B[every, k.stop : n], B[every, k], A[k, k.stop : n])
    for k in reversed(spans(n, tile)):
        if k.stop < n:
            kernel.multiply_add(B[every, k], B[every, k.stop : n], A[k.stop : n, k])
        kernel.right(B[every, k], A[k, k])
