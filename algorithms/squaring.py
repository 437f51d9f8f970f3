"""Repeated squaring: 1 ⊕ A, squared until nothing changes.

    A ← 1 ⊕ A;   A ← A A   (after i rounds: all paths of at most 2^i edges)

Right only where ⊕ is idempotent, since a walk is found in many ways, and where there is no improving cycle (1 bounds
every element, or ⊕ selects and the diagonal shows it): then a best path has fewer than n edges and ⌈log₂ n⌉ rounds
suffice. E. L. Lawler, Combinatorial optimization: networks and matroids (1976); on GPUs Q.-N. Tran, Designing efficient
many-core parallel algorithms for all-pairs shortest-paths using CUDA (2010).
"""

from __future__ import annotations

from semiring.kernels.interface import AnyBlock, Kernel


def squaring(A: AnyBlock, kernel: Kernel[AnyBlock], tile: int) -> None:
    """A ← A* in place, with one more matrix of the same size."""
    kernel.add_one(A)
    B = kernel.like(A)
    for _ in range(max(A.shape[0] - 1, 0).bit_length()):
        kernel.multiply(B, A, A)
        if kernel.equal(A, B):
            return
        kernel.assign(A, B)
