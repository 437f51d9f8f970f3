"""The engine of arrays for a lowering: a library where products are ordinary ones, and compiled code elsewhere."""

from __future__ import annotations

from functools import lru_cache

from semiring.kernels.lowering.base import Lowering

from .blas import BlasKernel
from .engine import DenseKernel
from .logsum import LogSumKernel


@lru_cache(1024)
def dense_kernel(lowering: Lowering) -> DenseKernel:
    """The engine of arrays for a lowering; equal lowerings have one."""
    if lowering.log_sum:
        return LogSumKernel(lowering)
    return (BlasKernel if lowering.blas else DenseKernel)(lowering)
