"""Repeated squaring, its products in tiles: as many terms as before, from blocks that stay where access is quick.

    A ← 1 ⊕ A;   A ← A A,  as  B_IJ ← A_I1 ⊗ A_1J ⊕ A_I2 ⊗ A_2J ⊕ …     until nothing changes

With tiles of t rows each element is read n / t times from memory, and not n times. On a GPU the tiles are copied to
shared memory, on a CPU they stay in the cache by being used again soon. `semiring.algorithms.squaring` says where
squaring is right.

C.-L. Deng's closures square on a GPU; we know no publication of them. The tiles are from M. S. Lam, E. E. Rothberg,
M. E. Wolf, The cache performance and optimizations of blocked algorithms (1991).
"""

from __future__ import annotations

from semiring.algorithms.blocks import spans
from semiring.kernels.interface import AnyBlock, Kernel


def tiled_squaring(A: AnyBlock, kernel: Kernel[AnyBlock], tile: int) -> None:
    """A ← A* in place, with one more matrix of the same size."""
    kernel.add_one(A)
    B = kernel.like(A)
    for _ in range(max(A.shape[0] - 1, 0).bit_length()):
        tiled_product(B, A, A, kernel, tile)
        if kernel.equal(A, B):
            return
        kernel.assign(A, B)


def tiled_product(C: AnyBlock, A: AnyBlock, B: AnyBlock, kernel: Kernel[AnyBlock], tile: int) -> None:
    """C ← A ⊗ B, in tiles of at most `tile` rows and columns."""
    (m, depth), n = A.shape, B.shape[1]
    for i in spans(m, tile):
        for j in spans(n, tile):
            for k in spans(depth, tile):
                multiply = kernel.multiply_add if k.start else kernel.multiply
                multiply(C[i, j], A[i, k], B[k, j])
