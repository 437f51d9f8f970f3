"""The library's own engine with one of its steps left out, to see what the step is worth."""

from __future__ import annotations

from copy import copy
from functools import lru_cache

from semiring.kernels.cuda.dense.closure import Closure
from semiring.kernels.cuda.dense.engine import CudaKernel


@lru_cache(64)
def in_turn(kernel: CudaKernel) -> CudaKernel:
    """The same engine without look-ahead: no pivot is closed before all else of the round before is done.

    That is the order for algebras in which ⊕ is not idempotent, and right for all.
    """
    twin = copy(kernel)
    twin.closure = Closure(kernel.program, kernel.words or kernel.product, False)
    return twin
