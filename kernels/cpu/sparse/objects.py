"""Products with compressed rows of Python objects, entry by entry: for integers that no machine type holds."""

from __future__ import annotations

import numpy as np

from semiring.kernels.blocks.rows import Rows
from semiring.kernels.lowering.base import Lowering

from .structure import product_structure


class SparseObjectKernel:
    """The operations of `SparseKernel` on object arrays."""

    def __init__(self, lowering: Lowering):
        arithmetic = lowering.algebra.over(object)
        self._add, self._mul, self._zero = arithmetic.scalar["add"], arithmetic.scalar["mul"], arithmetic.zero

    def times_dense(
        self, C: np.ndarray, A: Rows, B: np.ndarray, *, accumulate: bool = False, mirrored: bool = False
    ) -> None:
        """C ← A ⊗ B, or C ⊕ A ⊗ B. Mirrored, each term is b ⊗ a."""
        if not accumulate:
            C.fill(self._zero)
        for i in range(A.shape[0]):
            for p in range(A.offsets[i], A.offsets[i + 1]):
                a = A.values[p]
                for j in range(B.shape[1]):
                    b = B[A.columns[p], j]
                    C[i, j] = self._add(C[i, j], self._mul(b, a) if mirrored else self._mul(a, b))

    def dense_times(self, C: np.ndarray, A: np.ndarray, B: Rows, *, accumulate: bool = False) -> None:
        """C ← A ⊗ B, or C ⊕ A ⊗ B, with a dense A."""
        if not accumulate:
            C.fill(self._zero)
        for k in range(B.shape[0]):
            for p in range(B.offsets[k], B.offsets[k + 1]):
                j = B.columns[p]
                for i in range(A.shape[0]):
                    C[i, j] = self._add(C[i, j], self._mul(A[i, k], B.values[p]))

    def times_sparse(self, A: Rows, B: Rows) -> Rows:
        """A ⊗ B in compressed rows."""
        offsets, columns = product_structure((A.offsets, A.columns), (B.offsets, B.columns), B.width)
        values = np.empty(len(columns), object)
        for i in range(A.shape[0]):
            sums = dict.fromkeys(columns[offsets[i] : offsets[i + 1]].tolist(), self._zero)
            for p in range(A.offsets[i], A.offsets[i + 1]):
                k = A.columns[p]
                for q in range(B.offsets[k], B.offsets[k + 1]):
                    j = int(B.columns[q])
                    sums[j] = self._add(sums[j], self._mul(A.values[p], B.values[q]))
            for p, element in zip(range(offsets[i], offsets[i + 1]), sums.values(), strict=True):
                values[p] = element  # one by one: they may be tuples
        return Rows(offsets, columns, values, B.width)
