"""Zuccato and Lena's versions of the blocked algorithm, of which each changes one thing.

    1    three launches a round, everything read from where it lies: Katz and Kider's phases without shared memory
    2    blocks in shared memory, rows of which are as long as there are banks of it
    2.1  the same with rows that are longer by one element, so that threads that read a column ask 32 banks, not one
    3    block rows in parts, each on a stream of its own, which waits for no more than it reads
    4    what is done in 3 recorded once as a CUDA graph, and launched as a whole

The first three are `katz_kider` on other kernels. In the last two, block rows are dealt out to parts:

    part of row k:    D ← D*,  R ← D R
    each part:        C ← C D,  X ← X ⊕ C R     in its own rows, after those two

A part reads nothing of another one but D and R, and so waits for the part of row k alone. One thing more has to wait:
the part of row k writes that row again in the round after, when all others must have read it.

Next hops travel beside the values: where a_ij improves by way of a block's vertex p, the hop from i to j is that from
i to p. They are right where ⊕ selects and no cycle weighs 1. One vertex after the other, such a cycle does no harm:
what improves is strictly better than before. A block that is closed first may lead back by vertices that come later.

F. Zuccato, E. Lena, a project in parallel architectures (2022); no publication is known to us.
"""

from __future__ import annotations

from typing import Any, Protocol


class PartsKernel(Protocol):
    """A matrix in blocks whose block rows lie in parts; a part does its work in the order in which it is given."""

    blocks: int  #: of a row of the matrix
    parts: int  #: among which block rows are dealt out
    idempotent: bool  #: whether x ⊕ x = x

    def part_of(self, k: int) -> int:
        """The part that has block row k."""

    def close_and_scale(self, k: int) -> None:
        """D ← D*, R ← D R, in the part of row k."""

    def columns_of(self, k: int, part: int) -> None:
        """C ← C D in the rows of a part."""

    def rest_of(self, k: int, part: int) -> None:
        """X ← X ⊕ C R in the rows of a part."""

    def mark(self, part: int) -> Any:
        """What the part was given so far."""

    def wait(self, part: int, mark: Any) -> None:
        """What the part is given from now on comes after the mark."""


def in_parts(kernel: PartsKernel) -> None:
    """A ← A*."""
    before: list[Any] = []
    for k in range(kernel.blocks):
        kernel.close_and_scale(k)
        pivot = kernel.mark(kernel.part_of(k))
        for part in range(kernel.parts):
            kernel.wait(part, pivot)
            if k and part == kernel.part_of(k - 1):
                for mark in before:
                    kernel.wait(part, mark)
            if kernel.idempotent:
                kernel.columns_of(k, part)
                kernel.rest_of(k, part)
            else:
                kernel.rest_of(k, part)
                kernel.columns_of(k, part)
        before = [kernel.mark(part) for part in range(kernel.parts)]
