"""The real and the complex field on the CPU: products by the BLAS that NumPy links."""

from __future__ import annotations

import numpy as np

from semiring.kernels.numpy import library

from .engine import DenseKernel

STRIP_BYTES = 4 << 20  # memory that `left` and `right` may copy operands into, or
STRIP_SHARE = 5  # … this fraction (1/5) of the operand: the BLAS is slow on narrow strips


class BlasKernel(DenseKernel):
    """The real field: products go to the BLAS that NumPy links, the rest to the compiled engine.

    So do products with numbers that overflowed: to the BLAS 0 · ∞ is NaN, which would spread to entries that nothing
    infinite leads to.
    """

    tile = 256  #: order of a block that `close` takes directly: what is left to the BLAS are few, large products

    def _strip(self, length: int, depth: int, size: int) -> int:
        most = max(max(STRIP_BYTES, size // STRIP_SHARE) // max(depth * self.dtype.itemsize, 1), 1)
        strips = -(-length // most)
        return max(-(-length // max(strips, 1)), 1)

    def _product(self, C: np.ndarray, A: np.ndarray, B: np.ndarray, accumulate: bool) -> None:
        if not library.product(C, A, B, accumulate):
            super()._product(C, A, B, accumulate)
