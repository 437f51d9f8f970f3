"""Tiles between the host's memory and the current GPU, on the current stream.

Each is there when a function returns, but for `begin_carry`.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from semiring.kernels.cuda.compile.launch import current_device, synchronize
from semiring.kernels.cuda.compile.staging import download, touch, upload
from semiring.machine.threads import thread_count

from .exchange import exchange

if TYPE_CHECKING:
    from semiring.kernels.cuda.lowering import CudaLowering

class Pinned:
    """Memory of the host that the system does not page out as long as this is open: copies run at the bus's rate.

    A thread pins it, while the caller does other work. Several threads first touch pages that are not mapped yet,
    because mapping them is most of the time of pinning, and CUDA maps them one after another. While CUDA pins, other
    copies are slow, so this begins when the caller says so. If the system does not allow it, copies are slower, but
    still right.
    """

    def __init__(self) -> None:
        self._device, self._threads = current_device(), thread_count(None)
        self._arrays: list[np.ndarray] = []  # whose memory must not go before it is released
        self._work: list[threading.Thread] = []
        self._held: list[int] = []
        self._begun, self._given_up = threading.Event(), False

    def add(self, array: np.ndarray, fresh: bool) -> None:
        """Pin an array in C order, of which a fresh one is touched now. Once for the same memory."""
        if not array.nbytes or any(np.may_share_memory(array, other) for other in self._arrays):
            return
        self._arrays.append(array)
        self._work.append(threading.Thread(target=self._pin, args=(array, fresh), daemon=True))
        self._work[-1].start()

    def begin(self) -> None:
        """Pin what was added, and what will be."""
        self._begun.set()

    def wait(self) -> None:
        """Until all that was added is pinned: no copy from or to it may begin before."""
        for thread in self._work:
            thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        from cupy.cuda import runtime

        self._given_up = not self._begun.is_set()
        self.begin()
        self.wait()
        for address in self._held:
            runtime.hostUnregister(address)

    def _pin(self, array: np.ndarray, fresh: bool) -> None:
        from cupy.cuda import Device, runtime

        if fresh:
            touch(array, self._threads)
        self._begun.wait()
        if self._given_up:
            return
        try:
            with Device(self._device):
                runtime.hostRegister(array.ctypes.data, array.nbytes, 0)
        except runtime.CUDARuntimeError:
            return
        self._held.append(array.ctypes.data)


def stage(source: Any, target: Any) -> None:
    """target ← source: one of them anywhere on the host, the other in C order on the GPU; matrices of one shape."""
    assert source.shape == target.shape and source.dtype.itemsize == target.dtype.itemsize
    if hasattr(source, "get"):  # on the GPU
        download(source.view(target.dtype), target)
    else:
        upload(source.view(target.dtype), target)


def carry(source: Any, target: Any) -> None:
    """target ← source: one of them pinned, the other on the GPU, of one shape, elements of a row side by side."""
    begin_carry(source, target)
    synchronize()


def begin_carry(source: Any, target: Any) -> None:
    """The same, without waiting: the current stream copies it in its turn."""
    from cupy.cuda import get_current_stream, runtime

    assert source.shape == target.shape and source.dtype.itemsize == target.dtype.itemsize
    size, (rows, columns) = source.dtype.itemsize, source.shape
    assert size in (source.strides[1], target.strides[1]) or columns <= 1
    up = isinstance(source, np.ndarray)
    runtime.memcpy2DAsync(
        _address(target), target.strides[0], _address(source), source.strides[0], columns * size, rows,
        runtime.memcpyHostToDevice if up else runtime.memcpyDeviceToHost, get_current_stream().ptr,
    )


def taken_in(low: CudaLowering, elements: np.ndarray, out: Any) -> None:
    """out ← elements of the host in storage."""
    exchange(low).take_in(upload(elements), out)


def encoded(low: CudaLowering, values: np.ndarray) -> np.ndarray:
    """A vector of elements in storage, on the host."""
    return np.asarray(low.encode(upload(values[None]), True).get())[0]


def _address(array: Any) -> int:
    return int(array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr)
