"""Blocked Floyd–Warshall in three phases a round, which Katz and Kider brought to the shared memory of a GPU.

    [ X C X ]     1    D ← D*                one block of threads
    [ R D R ]     2    R ← D R,  C ← C D     a block of threads for each block of the two panels
    [ X C X ]     3    X ← X ⊕ C R           a block of threads for each block of the rest

A phase is a launch: what it reads was written by those before it. A block of threads brings the blocks of the matrix
that it needs to its shared memory once and reads each of their elements as often as a block has rows.

Phase 2 as it stands is for D D = D, which holds where ⊕ is idempotent. Elsewhere C has to wait: X takes C R with the
old C and the new R, in which D stands once, and only then is C ← C D.

G. J. Katz, J. T. Kider, All-pairs shortest-paths for large graphs on the GPU, Graphics Hardware (2008), after
G. Venkataraman, S. Sahni, S. Mukhopadhyaya (2003).
"""

from __future__ import annotations

from typing import Protocol


class PhaseKernel(Protocol):
    """A matrix in blocks, on which a phase is one launch."""

    blocks: int  #: of a row of the matrix
    idempotent: bool  #: whether x ⊕ x = x

    def close(self, k: int) -> None:
        """D ← D*."""

    def panels(self, k: int) -> None:
        """R ← D R and C ← C D, in one launch."""

    def rows(self, k: int) -> None:
        """R ← D R."""

    def columns(self, k: int) -> None:
        """C ← C D."""

    def rest(self, k: int) -> None:
        """X ← X ⊕ C R."""


def katz_kider(kernel: PhaseKernel) -> None:
    """A ← A*."""
    for k in range(kernel.blocks):
        kernel.close(k)
        if kernel.idempotent:
            kernel.panels(k)
            kernel.rest(k)
        else:
            kernel.rows(k)
            kernel.rest(k)
            kernel.columns(k)
