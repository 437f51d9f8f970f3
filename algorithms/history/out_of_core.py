"""The same three phases where the matrix stays in the host's memory, and blocks of it go through the GPU.

    [ X C X ]     D to the GPU,  D ← D*,  and back
    [ R D R ]     each R to the GPU,  R ← D R,  and back
    [ X C X ]     each C to the GPU;  with it each X and its R,  X ← X ⊕ C R,  and back;  C ← C D,  and back

Blocks are so large that four of them fit on the GPU, each closed and multiplied there as a matrix of its own. Of b
blocks a row, a round moves about 3 b² of them for the b² products of a block: the copies take as long as the work where
a block has few rows, and less than that where it has thousands. C is scaled last, so that ⊕ need not be idempotent.

G. J. Katz, J. T. Kider, All-pairs shortest-paths for large graphs on the GPU, Graphics Hardware (2008); J. M. Kemp,
All-pairs shortest path algorithms using CUDA, a thesis at Durham University (2012).
"""

from __future__ import annotations

from typing import Any, Protocol

from semiring.algorithms.blocks import close
from semiring.kernels.interface import Kernel


class HostMatrix(Protocol):
    """A matrix in the host's memory, in blocks."""

    blocks: int  #: of a row of the matrix
    side: int  #: rows of a block

    def fetch(self, i: int, j: int) -> Any:
        """A block on the GPU."""

    def put_back(self, i: int, j: int, block: Any) -> None:
        """The block into its place in the host's memory."""


def out_of_core(A: HostMatrix, kernel: Kernel[Any]) -> None:
    """A ← A*, with four blocks on the GPU at a time."""
    for k in range(A.blocks):
        others = [i for i in range(A.blocks) if i != k]
        D = A.fetch(k, k)
        close(D, kernel, k * A.side)
        A.put_back(k, k, D)
        for j in others:
            R = A.fetch(k, j)
            kernel.left(D, R)
            A.put_back(k, j, R)
        for i in others:
            C = A.fetch(i, k)
            for j in others:
                X = A.fetch(i, j)
                kernel.multiply_add(X, C, A.fetch(k, j))
                A.put_back(i, j, X)
            kernel.right(C, D)
            A.put_back(i, k, C)
