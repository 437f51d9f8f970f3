"""Elimination front by front (the multifrontal method): the dense step of each, and all of them in the tree's order.

    F = [ D R ]     D ← D*,   R ← D R,   X ← X ⊕ C R,   C ← C D
        [ C X ]

D are the pivots of a supernode, X what its boundary hands on to the parent, where it is added in.

I. S. Duff, J. K. Reid, The multifrontal solution of indefinite sparse symmetric linear equations (1983); R. E. Tarjan,
Fast algorithms for solving path problems (1981).
"""

from __future__ import annotations

from typing import Any

from semiring.algorithms.blocks import UndefinedStar
from semiring.algorithms.r_kleene import close_by_halves
from semiring.kernels.interface import AnyBlock, FrontEngine, Kernel, Report


def factor(fronts: FrontEngine, values: Any, report: Report | None = None) -> None:
    """Eliminate all vertices.

    Parameters
    ----------
    fronts : FrontEngine
        It has the analysis; it may close small fronts itself, and asks for the others to be closed.
    values : array in storage, shape (nnz,)
    report : callable, optional
        Called with the fraction that is done, from time to time.

    Raises
    ------
    UndefinedStar
        With the place of the vertex in the order of elimination.
    """
    failed = fronts.factor(values, close_front, report)
    if failed >= 0:
        raise UndefinedStar(failed)


def close_front(F: AnyBlock, pivots: int, kernel: Kernel[AnyBlock], start: int) -> None:
    """Eliminate the first vertices of a front, which are number `start` and following of the matrix."""
    S, U = slice(0, pivots), slice(pivots, F.shape[0])
    D, R, C, X = F[S, S], F[S, U], F[U, S], F[U, U]
    close_by_halves(D, kernel, kernel.tile, start)
    kernel.left(D, R)
    kernel.multiply_add(X, C, R)
    kernel.right(C, D)
