"""The wanted entries of a product on the device, one by one; masked.cu has the kernels."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from semiring.kernels.cuda.compile.launch import Function, Module, in_c_order, multiprocessors
from semiring.kernels.cuda.compile.program import program

from .product import DeviceRows

if TYPE_CHECKING:
    from semiring.kernels.cuda.lowering import CudaLowering

THREADS = 128  # as in masked.cu
RESIDENT = 16  # blocks of a multiprocessor

Places = tuple[Any, Any]  # rows and columns of the wanted entries: int32, in any order


def dots(low: CudaLowering, A: Any, B: Any, places: Places) -> Any:
    """The wanted entries of A ⊗ B, of two matrices in storage."""
    import cupy

    rows, columns = places
    values = cupy.empty(len(rows), low.storage)
    if len(rows):
        a, b = in_c_order(A), in_c_order(B.T)
        _launch(low, "dots", len(rows), a.data.ptr, b.data.ptr, rows.data.ptr, columns.data.ptr, values.data.ptr,
                len(rows), A.shape[1])
    return values


def pairs(low: CudaLowering, A: DeviceRows, B: DeviceRows, places: Places) -> Any:
    """The wanted entries of A ⊗ B, of A and the transpose of B with ascending columns, and elements in storage."""
    import cupy

    rows, columns = places
    values = cupy.empty(len(rows), low.storage)
    if len(rows):
        parts = [x.data.ptr for X in (A, B) for x in (X.offsets, X.columns, X.values)]
        _launch(low, "pairs", len(rows), *parts, rows.data.ptr, columns.data.ptr, values.data.ptr, len(rows))
    return values


def _launch(low: CudaLowering, name: str, count: int, *arguments: int) -> None:
    blocks = min(-(-count // (THREADS // 32)), multiprocessors() * RESIDENT)
    _function(low, name)(blocks, 1, *arguments)


def source(low: CudaLowering) -> str:
    """The text of the kernels."""
    return program(low).source("", "sparse/masked.cu")


@lru_cache(64)
def _module(low: CudaLowering) -> Module:
    return Module(source(low))


@lru_cache(128)
def _function(low: CudaLowering, name: str) -> Function:
    return _module(low).function(name, THREADS)
