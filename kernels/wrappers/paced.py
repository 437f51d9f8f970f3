"""An engine around an engine, which cuts long products and stacks, so that an interrupt is heard in time."""

from __future__ import annotations

from time import perf_counter
from typing import Any, cast

import numpy as np

from semiring.kernels.cpu.compile.rounds import Pace
from semiring.kernels.cpu.dense.thin import turned
from semiring.kernels.interface import Kernel, StackKernel
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy.library import halves

UNCUT_TERMS = 10_000_000  # terms that are never cut
STEP = 64  # halves are a multiple of so many rows, columns or steps of k


class Paced:
    """The compiled engine of arrays, whose calls take a fraction of a second each.

    Every entry of C takes its terms in ascending k wherever a product is cut, so that results do not depend on it.
    """

    def __init__(self, kernel: StackKernel[np.ndarray]):
        self._kernel = kernel
        self._products, self._closures = Pace(), Pace()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)

    def multiply_add(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        """As the kernel does, in pieces."""
        self.product(C[None], A[None], B[None], True)

    def multiply(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        """As the kernel does, in pieces."""
        self.product(C[None], A[None], B[None], False)

    def multiply_add_stack(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        """As the kernel does, in pieces."""
        self.product(C, A, B, True)

    def multiply_stack(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        """As the kernel does, in pieces."""
        self.product(C, A, B, False)

    def close_stack(self, D: np.ndarray) -> np.ndarray:
        """As the kernel does, some matrices at a time."""
        batch, n = D.shape[0], D.shape[1]
        if batch * n**3 <= UNCUT_TERMS:
            return self._kernel.close_stack(D)
        self._kernel.close_stack(D[:0])  # compiles before anything is timed
        failed = np.empty(batch, np.int64)
        for first, last in self._closures.rounds(np.arange(batch + 1), n**3):
            failed[first:last] = self._kernel.close_stack(D[first:last])
        return failed

    def product(self, C: np.ndarray, A: np.ndarray, B: np.ndarray, accumulate: bool) -> None:
        """C ⊕ A ⊗ B if `accumulate`, else A ⊗ B, for stacks of matrices."""
        if C.size * A.shape[2] > UNCUT_TERMS and not (len(C) == 1 and turned(C[0], A[0], B[0])):
            self._whole(C[:0], A[:0], B[:0], accumulate)  # compiles before anything is timed
            self._in_pieces(C, A, B, accumulate)
        else:
            self._whole(C, A, B, accumulate)

    def _in_pieces(self, C: np.ndarray, A: np.ndarray, B: np.ndarray, accumulate: bool) -> None:
        terms = C.size * A.shape[2]
        if terms > max(UNCUT_TERMS, self._products.most) and (len(C) > 1 or max(*A.shape, C.shape[2]) > STEP):
            for part in halves(C, A, B, accumulate, STEP):
                self._in_pieces(*part)
            return
        began = perf_counter()
        self._whole(C, A, B, accumulate)
        self._products.learn(terms, perf_counter() - began)

    def _whole(self, C: np.ndarray, A: np.ndarray, B: np.ndarray, accumulate: bool) -> None:
        (self._kernel.multiply_add_stack if accumulate else self._kernel.multiply_stack)(C, A, B)


def paced(kernel: Kernel[Any], lowering: Lowering, terms: float) -> Kernel[Any]:
    """The engine for so many terms in all: in pieces where it is compiled and they may take long."""
    by_library = lowering.blas or lowering.log_sum  # which are cut by themselves, always in the same way
    compiled = lowering.kind == "numba" and lowering.compiled and not by_library
    return cast("Kernel[Any]", Paced(cast("StackKernel[Any]", kernel))) if compiled and terms > UNCUT_TERMS else kernel
