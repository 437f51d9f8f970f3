"""Log-sum-exp on the CPU: products of powers by the BLAS, and by compiled code where powers would underflow."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from semiring.kernels.lowering.base import AS_IT_IS, Lowering
from semiring.kernels.numpy.logsum import HOST, LogSumProduct, Strip
from semiring.machine import threads
from semiring.machine.pieces import parts_worth, ranges, share

from .blas import BlasKernel
from .engine import DenseKernel
from .small import TILE, closes_by_powers, fits, ufunc

ROUND = 1 << 26  # terms of compiled code between which an interrupt is heard, about a third of a second
COPIED = 1 << 18  # bytes of matrices that are closed by powers at once, beside what they were,
LEFT = 1 << 22  # and term by term
ALONE = 8  # strips that are not worth waking other threads for


class LogSumKernel(BlasKernel):
    """Products as `semiring.kernels.numpy.logsum` has them; closures of blocks, and what it leaves, are compiled.

    Small closures are sums of walks of powers where these are not lost (small_powers_template.py); else they go term by
    term.

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
        stored = replace(lowering, dtype=lowering.storage, recode=None, clean=None, by_element=AS_IT_IS)
        self._by_powers = stored if closes_by_powers(stored) and fits(stored) else None
        if self._by_powers is not None:
            self.tile = TILE

    def close_stack(self, D: np.ndarray) -> np.ndarray:
        """D[s] ← D[s]* for every s; returns −1 or the first pivot without a star, for each."""
        low, (batch, n, _) = self._by_powers, D.shape
        if low is None or not 0 < n <= TILE or not self.walks_repay(low, D.size * n):
            return super().close_stack(D)
        close, strange = ufunc(low, "closure"), np.zeros(batch, bool)

        def part(first: int, last: int) -> None:
            some = D[first:last]
            found, wrong = close(some)
            np.copyto(some, found, where=~wrong[:, None, None])
            strange[first:last] = wrong

        parts = max(parts_worth(D.size * n, self.threads), D.nbytes // COPIED)
        share(part, ranges(batch, parts), self.threads)
        failed, left = np.full(batch, -1), np.flatnonzero(strange)
        step = max(LEFT // (n * n * D.itemsize), 1)
        for some in (left[i : i + step] for i in range(0, len(left), step)):
            again = D[some]
            failed[some] = super().close_stack(again)
            D[some] = again
        return failed

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
