"""Blocked elimination with block rows dealt out to workers, who need of each other only the pivot's rows.

    row k, where it is:      D ← D*,  R ← D R,         and everybody gets R, with D in it
    row i, where it is:      X ← X ⊕ C R,  C ← C D     for every i ≠ k

C is scaled after X was updated, as in `blocked`, which makes it right without idempotence. Row k + 1 is updated before
the others and becomes the next pivot while they are: each worker always has products to compute, and R travels
meanwhile. It begins first, since a GPU interrupts nothing that has begun. Such look-ahead is as old as LU decomposition
on several processors (J. J. Dongarra, P. Luszczek, A. Petitet, The LINPACK benchmark: past, present and future, 2003);
P. Sao et al., Scalable all-pairs shortest paths for huge graphs on multi-GPU clusters (2021), have it for distances.
"""

from __future__ import annotations

from typing import Protocol

from semiring.kernels.interface import AnyBlock, Kernel

from .r_kleene import close_pivot


class Team(Protocol):
    """Workers, to each of whom some block rows were dealt. What they are asked for, they begin in that order."""

    @property
    def count(self) -> int:
        """How many block rows there are."""

    def pivot(self, k: int) -> None:
        """Make row k the pivot's, and send it to everybody."""

    def update(self, i: int, k: int) -> None:
        """Eliminate pivot k from row i, before all else."""

    def update_rest(self, k: int) -> None:
        """Eliminate pivot k from all rows but its own and the next."""


def block_rows(team: Team) -> None:
    """Close the matrix that was dealt out."""
    team.pivot(0)
    for k in range(team.count):
        if k + 1 < team.count:
            team.update(k + 1, k)
        team.update_rest(k)
        if k + 1 < team.count:
            team.pivot(k + 1)


def scale_row(R: AnyBlock, k: slice, kernel: Kernel[AnyBlock]) -> None:
    """D ← D*, R ← D R for the pivot's rows, whose columns k are D.

    Raises
    ------
    UndefinedStar
    """
    D = R[:, k]
    close_pivot(D, kernel, k.start)
    for columns in _beside(k, R.shape[1]):
        kernel.left(D, R[:, columns])


def eliminate(A: AnyBlock, R: AnyBlock, k: slice, kernel: Kernel[AnyBlock]) -> None:
    """X ← X ⊕ C R, C ← C D for some rows, by the pivot's, whose columns k are D.

    One product for all columns: it begins with zero in those of C. Cut in three, it would leave a GPU idle more often.
    """
    C = kernel.like(A[:, k])
    kernel.assign(C, A[:, k])
    kernel.multiply(A[:, k], C[:, :0], R[:0, k])
    kernel.multiply_add(A, C, R)


def _beside(k: slice, n: int) -> list[slice]:
    """The columns before some and after them."""
    return [s for s in (slice(0, k.start), slice(k.stop, n)) if s.start < s.stop]
