"""Dense matrices on the CPU: the compiled engine, plus the few operations that need no compiling."""

from __future__ import annotations

import numpy as np

from ..lowering import Lowering
from .engine import CpuKernel, Program


class DenseKernel(CpuKernel):
    """The kernel interface over NumPy arrays in a lowering's storage; see `semiring.kernels.interface`."""

    align = 16

    def __init__(self, lowering: Lowering, program: Program):
        super().__init__(program)
        self._add_one = lowering.add_one

    def closes_whole(self, n: int) -> bool:
        """Whether `close` is the best way to close a whole matrix of this order."""
        return n <= self.tile

    def add_one(self, A: np.ndarray) -> None:
        """A ← 1 ⊕ A."""
        i = np.arange(A.shape[0])
        A[i, i] = self._add_one(A[i, i])

    def like(self, A: np.ndarray) -> np.ndarray:
        """A matrix of the same shape, in C order."""
        return np.empty(A.shape, A.dtype)

    def equal(self, A: np.ndarray, B: np.ndarray) -> bool:
        """Whether both hold the same elements."""
        return bool(np.array_equal(A, B))

    def assign(self, A: np.ndarray, B: np.ndarray) -> None:
        """A ← B."""
        A[...] = B

    def set_diagonal(self, A: np.ndarray, values: np.ndarray) -> None:
        """a_ii ← the values."""
        i = np.arange(A.shape[0])
        A[i, i] = values


class BlasKernel(DenseKernel):
    """The real field: products go to the BLAS that NumPy links, the rest to the compiled engine.

    So do products with numbers that overflowed: to the BLAS 0 · ∞ is NaN, which would spread to entries that nothing
    infinite leads to.
    """

    def multiply(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        """C ← A B."""
        c, a, b = map(_numbers, (C, A, B))
        if _are_finite(a, b):
            np.matmul(a, b, out=c)
        else:
            super().multiply(C, A, B)

    def multiply_add(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        """C ← C + A B."""
        c, a, b = map(_numbers, (C, A, B))
        if _are_finite(a, b):
            c += a @ b
        else:
            super().multiply_add(C, A, B)

    def multiply_stack(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        """C[s] ← A[s] B[s]."""
        c, a, b = map(_numbers, (C, A, B))
        if _are_finite(a, b):
            np.matmul(a, b, out=c)
        else:
            super().multiply_stack(C, A, B)

    def multiply_add_stack(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        """C[s] ← C[s] + A[s] B[s]."""
        c, a, b = map(_numbers, (C, A, B))
        if _are_finite(a, b):
            c += a @ b
        else:
            super().multiply_add_stack(C, A, B)


def _numbers(block: np.ndarray) -> np.ndarray:
    """Pairs of real and imaginary parts as the complex numbers that they are."""
    return block.view(f"c{block.dtype.itemsize}") if block.dtype.names else block


def _are_finite(*blocks: np.ndarray) -> bool:
    """Whether no number is infinite or NaN, seen by their sums; a sum that overflows only costs time."""
    with np.errstate(all="ignore"):
        return all(np.isfinite(block.sum()) for block in blocks)
