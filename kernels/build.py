"""From a lowering to the engine that runs it. Engines with the same expressions share their compiled code."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, cast

from .interface import Kernel, StackKernel
from .lowering.base import Lowering

if TYPE_CHECKING:
    from .cpu.sparse.objects import SparseObjectKernel
    from .cpu.sparse.product import SparseKernel


@lru_cache(1024)
def kernel(lowering: Lowering) -> Kernel:
    """The engine of a lowering."""
    if lowering.on_gpu:
        from .cuda.choose import kernel as cuda_kernel  # it needs CuPy
        from .cuda.lowering import CudaLowering

        assert isinstance(lowering, CudaLowering)
        return cuda_kernel(lowering)
    return _kernel(_Keyed(lowering))


def stack_kernel(lowering: Lowering) -> StackKernel:
    """The engine of a lowering whose matrices are arrays."""
    return cast(StackKernel, kernel(lowering))


@lru_cache(1024)
def sparse_kernel(lowering: Lowering) -> SparseKernel | SparseObjectKernel:
    """The engine of compressed rows of a lowering."""
    if lowering.kind == "objects":
        from .cpu.sparse.objects import SparseObjectKernel

        return SparseObjectKernel(lowering)
    from .cpu.sparse.product import sparse_kernel

    return sparse_kernel(lowering)


class _Keyed:
    """A lowering that equals another when the code for both is the same."""

    def __init__(self, lowering: Lowering):
        self.lowering, self.key = lowering, lowering.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Keyed) and self.key == other.key


@lru_cache(256)
def _kernel(keyed: _Keyed) -> Kernel:
    lowering = keyed.lowering
    if lowering.kind == "objects":
        from .cpu.dense.objects import ObjectKernel

        return ObjectKernel(lowering)
    if lowering.kind == "packed":
        from .cpu.bits.engine import BooleanKernel

        return BooleanKernel()
    if lowering.kind == "planes":
        from .cpu.bits.planes import PlanesKernel

        return PlanesKernel()
    from .cpu.dense.blas import dense_kernel

    return dense_kernel(lowering)
