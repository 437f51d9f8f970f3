"""Streams of work on several GPUs of one host, with asynchronous copies between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from threading import local
from typing import Any, TypeVar

Answer = TypeVar("Answer")
MOST_URGENT = -5  # of the priorities that CUDA knows; drivers clamp the number
ENABLED = 704  # the runtime's cudaErrorPeerAccessAlreadyEnabled


def connect(devices: Sequence[int]) -> None:
    """Let GPUs copy into each other's memory without the host, where the machine has such links."""
    from cupy.cuda import Device, runtime

    for one in devices:
        with Device(one):
            for other in devices:
                if one != other and runtime.deviceCanAccessPeer(one, other):
                    try:
                        runtime.deviceEnablePeerAccess(other)
                    except runtime.CUDARuntimeError as e:
                        if e.status != ENABLED:
                            raise


def on_each(devices: Sequence[int], work: Callable[[int], Answer]) -> list[Answer]:
    """What a function answers for 0, 1, …, each called by a thread whose current GPU is the one at that place.

    The calls begin when the GPU has done what the caller's current stream was given, and this returns when each GPU
    has done what its call asked for, so that any stream may go on with the memory.
    """
    from cupy.cuda import Device, get_current_stream

    get_current_stream().synchronize()

    def there(number: int) -> Answer:
        with Device(devices[number]):
            try:
                return work(number)
            finally:
                get_current_stream().synchronize()

    if getattr(_inside, "busy", False):  # threads that are kept may all be waiting for this call
        with ThreadPoolExecutor(len(devices)) as threads:
            return list(threads.map(there, range(len(devices))))
    return list(_threads(len(devices)).map(there, range(len(devices))))


_inside = local()


@lru_cache(8)
def _threads(count: int) -> ThreadPoolExecutor:
    """Threads that are kept: a new one takes a millisecond until it has launched something."""
    return ThreadPoolExecutor(count, initializer=lambda: setattr(_inside, "busy", True))


def marked() -> Any:
    """An event after all work that the current stream was given."""
    import cupy

    event = cupy.cuda.Event(disable_timing=True)
    event.record(cupy.cuda.get_current_stream())
    return event


def waits_for(mark: Any) -> None:
    """Let later work of the current stream wait for an event of any GPU."""
    from cupy.cuda import get_current_stream

    get_current_stream().wait_event(mark)


class GpuStream:
    """A stream of one GPU: work that it does in order, while the caller continues.

    Parameters
    ----------
    device : int
    urgent : bool
        Whether its launches go before those of other streams of the GPU.
    """

    def __init__(self, device: int, urgent: bool):
        import cupy

        self._device = cupy.cuda.Device(device)
        with self._device:
            self._stream = cupy.cuda.Stream(non_blocking=True, priority=MOST_URGENT if urgent else 0)

    def do(self, work: Callable[..., None], *arguments: Any) -> None:
        """Call a function with this stream as CuPy's current one; if it waits for the GPU, so does the caller."""
        with self._device, self._stream:
            work(*arguments)

    def send(self, rows: Any, target: Any) -> None:
        """target ← rows: arrays or packed bits of any GPUs, rows at equal distances, with what is between."""
        from cupy.cuda import runtime

        source, goal = _memory(rows), _memory(target)
        assert source.shape == goal.shape and source.strides == goal.strides and source.strides[1] == source.itemsize
        size = (len(source) - 1) * source.strides[0] + source.shape[1] * source.itemsize
        with self._device:
            runtime.memcpyPeerAsync(
                goal.data.ptr, goal.device.id, source.data.ptr, source.device.id, size, self._stream.ptr
            )

    def mark(self) -> Any:
        """An event after all work that was started."""
        import cupy

        with self._device:
            event = cupy.cuda.Event(disable_timing=True)
            event.record(self._stream)
        return event

    def after(self, mark: Any) -> None:
        """Let later work wait for an event of any GPU."""
        self._stream.wait_event(mark)

    def wait(self) -> None:
        """Wait until all work is done."""
        self._stream.synchronize()


def _memory(rows: Any) -> Any:
    """The array that holds rows."""
    return getattr(rows, "words", rows)
