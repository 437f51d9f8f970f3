"""The compiled engine with long products and stacks cut, so that an interrupt is heard in time."""

from __future__ import annotations

from functools import cached_property
from time import perf_counter

import numpy as np

from semiring.kernels.cpu.compile.rounds import Pace

from .engine import DenseKernel

SHORT = 10_000_000  # terms that are never cut, nor timed
STEP = 64  # halves are a multiple of so many rows, columns or steps of k


class PacedKernel(DenseKernel):
    """`DenseKernel`, whose compiled calls take a fraction of a second each.

    Every entry of C takes its terms in ascending k wherever a product is cut, so that results do not depend on it.
    """

    @cached_property
    def _pace(self) -> Pace:
        return Pace()

    @cached_property
    def _closing(self) -> Pace:
        return Pace()

    def _product(self, C: np.ndarray, A: np.ndarray, B: np.ndarray, accumulate: int) -> None:
        terms = C.size * A.shape[2]
        if terms <= SHORT:
            super()._product(C, A, B, accumulate)
        elif terms <= self._pace.most or max(*A.shape, C.shape[2]) <= STEP:
            began = perf_counter()
            super()._product(C, A, B, accumulate)
            self._pace.learn(terms, perf_counter() - began)
        else:
            for part in halves(C, A, B, accumulate):
                self._product(*part)

    def close_stack(self, D: np.ndarray) -> np.ndarray:
        """D[s] ← D[s]* for every s; returns −1 or the first pivot without a star, for each."""
        batch, n = D.shape[0], D.shape[1]
        if batch * n**3 <= SHORT:
            return super().close_stack(D)
        failed = np.empty(batch, np.int64)
        for first, last in self._closing.rounds(np.arange(batch + 1) * n**3):
            failed[first:last] = super().close_stack(D[first:last])
        return failed


Product = tuple[np.ndarray, np.ndarray, np.ndarray, int]


def halves(C: np.ndarray, A: np.ndarray, B: np.ndarray, accumulate: int) -> tuple[Product, Product]:
    """A stack of products C ← A ⊗ B, or C ⊕ A ⊗ B, as two, to be done in this order.

    Raises
    ------
    ValueError
        When shapes do not fit.
    """
    (batch, m, n), k = C.shape, A.shape[2]
    if A.shape != (batch, m, k) or B.shape != (batch, k, n):
        raise ValueError(f"shapes {C.shape}, {A.shape} and {B.shape} do not fit")
    if batch > 1:
        h = batch // 2
        return (C[:h], A[:h], B[:h], accumulate), (C[h:], A[h:], B[h:], accumulate)
    longest = max(m, n, k)
    h = -(-longest // (2 * STEP)) * STEP
    if m == longest:
        return (C[:, :h], A[:, :h], B, accumulate), (C[:, h:], A[:, h:], B, accumulate)
    if n == longest:
        return (C[:, :, :h], A, B[:, :, :h], accumulate), (C[:, :, h:], A, B[:, :, h:], accumulate)
    return (C, A[:, :, :h], B[:, :h], accumulate), (C, A[:, :, h:], B[:, h:], 1)
