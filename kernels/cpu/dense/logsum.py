"""Log-sum-exp on the CPU: products of powers by the BLAS, and by compiled code where powers would underflow."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy.logsum import HOST, LogSumProduct, Strip
from semiring.machine import threads

from .blas import BlasKernel
from .engine import DenseKernel

ROUND = 1 << 26  # terms of compiled code between which an interrupt is heard, about a third of a second
ALONE = 8  # strips that are not worth waking other threads for


class LogSumKernel(BlasKernel):
    """Products as `semiring.kernels.numpy.logsum` has them; closures of blocks, and what it leaves, are compiled.

    Parameters
    ----------
    lowering : Lowering
        Whose ⊕ is a log-sum-exp.
    """

    tile = 32  #: order of a block that `close` takes directly: a term of it costs as much as fifty of a product

    def __init__(self, lowering: Lowering):
        super().__init__(lowering)
        assert lowering.log_sum
        self._log_sums = LogSumProduct(lowering.log_sum, replace(HOST, each=self._each))
        self._compiled = DenseKernel(lowering)

    def _product(self, C: np.ndarray, A: np.ndarray, B: np.ndarray, accumulate: bool) -> None:
        self._log_sums(C, A, B, accumulate, self._by_terms)

    def _each(self, work: Strip, strips: Iterable[tuple[slice, slice]]) -> None:
        """Strips on all threads: beside a fast product powers and logarithms by one would take most of the time."""
        left = deque(strips)

        def share() -> None:
            with np.errstate(all="ignore"):  # which holds for a thread
                while True:
                    try:
                        strip = left.popleft()
                    except IndexError:
                        return
                    work(*strip)

        threads.pool.run(share, min(self.threads, len(left)) - 1 if len(left) > ALONE else 0)

    def _by_terms(self, C: np.ndarray, A: np.ndarray, B: np.ndarray, accumulate: bool) -> None:
        """By compiled code, some matrices or rows at a time."""
        batch, m, n = C.shape
        terms = A.shape[2] * n
        if batch * m * terms <= ROUND:
            self._compiled._product(C, A, B, accumulate)
            return
        step, height = max(ROUND // max(m * terms, 1), 1), max(ROUND // terms, 1)
        for s in (slice(i, i + step) for i in range(0, batch, step)):
            for rows in (slice(i, i + height) for i in range(0, m, height)):
                self._compiled._product(C[s, rows], A[s, rows], B[s], accumulate)
