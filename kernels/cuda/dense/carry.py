"""Tiles between the host's memory and the current GPU, on the current stream; each is there when a function returns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.kernels.cuda.compile.launch import synchronize
from semiring.kernels.cuda.compile.staging import upload

from .exchange import exchange

if TYPE_CHECKING:
    from semiring.kernels.cuda.lowering import CudaLowering


@contextmanager
def pinned(*arrays: np.ndarray) -> Iterator[None]:
    """Memory of the host that the system does not page out meanwhile, so that copies run at the bus's rate.

    Where the system does not allow it, copies are slower and as right.
    """
    from cupy.cuda import runtime

    held = []
    for address, size in {(array.ctypes.data, array.nbytes) for array in arrays}:
        try:
            runtime.hostRegister(address, size, 0)
            held.append(address)
        except runtime.CUDARuntimeError:
            continue
    try:
        yield
    finally:
        for address in held:
            runtime.hostUnregister(address)


def pinned_room(count: int, dtype: np.dtype) -> np.ndarray:
    """An array of so many elements in memory that is pinned."""
    import cupy

    return np.frombuffer(cupy.cuda.alloc_pinned_memory(count * dtype.itemsize), dtype, count)


def carry(source: Any, target: Any) -> None:
    """target ← source: one of them on the host, the other on the GPU, of one shape, elements of a row side by side."""
    from cupy.cuda import get_current_stream, runtime

    assert source.shape == target.shape and source.dtype.itemsize == target.dtype.itemsize
    size, (rows, columns) = source.dtype.itemsize, source.shape
    assert size in (source.strides[1], target.strides[1]) or columns <= 1
    up = isinstance(source, np.ndarray)
    runtime.memcpy2DAsync(
        _address(target), target.strides[0], _address(source), source.strides[0], columns * size, rows,
        runtime.memcpyHostToDevice if up else runtime.memcpyDeviceToHost, get_current_stream().ptr,
    )
    synchronize()


def taken_in(low: CudaLowering, elements: np.ndarray, out: Any) -> None:
    """out ← elements of the host in storage."""
    exchange(low).take_in(upload(elements), out)


def encoded(low: CudaLowering, values: np.ndarray) -> np.ndarray:
    """A vector of elements in storage, on the host."""
    return np.asarray(low.encode(upload(values[None]), True).get())[0]


def _address(array: Any) -> int:
    return int(array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr)
