"""The real and the complex field on the CPU: products by the BLAS that NumPy links."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from semiring.kernels.lowering.base import Lowering

from .engine import DenseKernel


class BlasKernel(DenseKernel):
    """The real field: products go to the BLAS that NumPy links, the rest to the compiled engine.

    So do products with numbers that overflowed: to the BLAS 0 · ∞ is NaN, which would spread to entries that nothing
    infinite leads to.
    """

    def _product(self, C: np.ndarray, A: np.ndarray, B: np.ndarray, accumulate: int) -> None:
        c, a, b = map(_numbers, (C, A, B))
        if not _are_finite(a, b):
            super()._product(C, A, B, accumulate)
            return
        with np.errstate(all="ignore"):  # what overflows is infinite, as in every engine
            if accumulate:
                c += a @ b
            else:
                np.matmul(a, b, out=c)


def _numbers(block: np.ndarray) -> np.ndarray:
    """Pairs of real and imaginary parts as the complex numbers that they are."""
    return block.view(f"c{block.dtype.itemsize}") if block.dtype.names else block


def _are_finite(*blocks: np.ndarray) -> bool:
    """Whether no number is infinite or NaN, seen by their sums; a sum that overflows only costs time."""
    with np.errstate(all="ignore"):
        return all(np.isfinite(block.sum()) for block in blocks)


@lru_cache(1024)
def dense_kernel(lowering: Lowering) -> DenseKernel:
    """The engine of arrays for a lowering: the BLAS where it can be, and compiled code elsewhere."""
    return (BlasKernel if lowering.blas else DenseKernel)(lowering)
