"""Compiling and launching through CuPy, which this package imports here, and only when something runs.

Each kernel of a text is compiled by itself when it is first asked for, or before: `compile_ahead` has threads compile
all kernels that a call is expected to need. So a first call takes about as long as the slowest of them.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from ctypes import addressof, c_longlong, c_void_p
from functools import cached_property, lru_cache
from threading import Lock, local
from typing import Any, NamedTuple

import numpy as np

from semiring.kernels.cpu.compile.cache import Entries

from .program import OPTIONS

RECORDING = Lock()  # who has it records a graph, or waits for a device as a whole: not both at once

NO_CONTEXT = 201  # the driver's CUDA_ERROR_INVALID_CONTEXT
MOST_THREADS = 16  # that compile at once
STATIC_SHARED = 48 << 10  # bytes of shared memory that a block gets without asking


class Module:
    """CUDA text, of which each kernel is compiled when it is asked for; machine code is kept on disk.

    CuPy's own compilation flushes denormal numbers to zero, so NVRTC is called directly.
    """

    def __init__(self, source: str):
        self.source = source
        self._loaded: dict[tuple[int, str], Any] = {}  # for each device and kernel
        self._loading, self._asking = Lock(), Lock()
        self._room: dict[int, int] = {}  # the most dynamic shared memory that each kernel may take

    def loaded(self, device: int, name: str) -> Any:
        """The code of a kernel on the current device, whose number this is."""
        with self._loading:  # a second module would replace the first, and its functions would be gone
            module = self._loaded.get((device, name))
            if module is None:
                import cupy

                module = cupy.cuda.function.Module()
                module.load(_machine_code(only(self.source, name), architecture()))
                self._loaded[device, name] = module
        return module

    def function(self, name: str, threads: int, shared: int = 0) -> Function:
        """A kernel, to be launched with so many threads and bytes of dynamic shared memory a block."""
        return Function(self, name, threads, shared)

    def handle(self, device: int, name: str, shared: int) -> int:
        """The driver's kernel of a name on the current device, allowed so many bytes of dynamic shared memory a block.

        Functions of one name share the kernel, and its allowance with it: one that needs less must not lower it.
        """
        kernel: int = self.loaded(device, name).get_function(name).ptr
        with self._asking:
            if shared > self._room.get(kernel, STATIC_SHARED):
                _set_attribute(kernel, "MAX_DYNAMIC_SHARED_SIZE_BYTES", shared)
                self._room[kernel] = shared
            if shared:
                _set_attribute(kernel, "PREFERRED_SHARED_MEMORY_CARVEOUT", 100)
        return kernel


class Function:
    """A kernel with its block size. Arguments are Python integers: addresses, numbers, byte counts.

    Launches go to the driver directly, with 8 bytes for each argument (narrower ones lie in the first of them): for
    small matrices the conversion of Python objects would take longer than the kernel.
    """

    def __init__(self, module: Module, name: str, threads: int, shared: int):
        self.module, self.name, self.threads, self.shared = module, name, threads, shared
        self._kernels: dict[int, int] = {}  # handles, for each device
        self._slots = local()

    def __call__(self, across: int, down: int, *arguments: int) -> None:
        """Launch on the current stream."""
        try:
            values, at, _ = self._slots.own
        except AttributeError:
            values, at, _ = self._slots.own = self._made_slots(len(arguments))
        values[:] = arguments
        cuda = _cuda()
        handle = self._kernels.get(cuda.device()) or self._load()
        grid = (handle, across, down, 1, self.threads, 1, 1, self.shared, cuda.stream().ptr, at, 0)
        try:
            cuda.launch(*grid)
        except cuda.error as e:
            if e.status != NO_CONTEXT:
                raise
            cuda.runtime.free(0)  # a new thread
            cuda.launch(*grid)

    def begins(self, count: int) -> Iterable[int]:
        """The numbers with which arguments begin: each is an argument of its own."""
        return range(count)

    def _made_slots(self, count: int) -> tuple[Any, int, Any]:
        """Room for the arguments of a thread, the address of their places, and the places."""
        values = (c_longlong * count)()
        places = [addressof(values) + 8 * i for i in self.begins(count)]
        room = (c_void_p * len(places))(*places)
        return values, addressof(room), room

    @property
    def text(self) -> str:
        """What has to be compiled; empty if that is loaded on the current device."""
        return "" if current_device() in self._kernels else self._alone

    def at_hand(self) -> bool:
        """Whether the current device or the disk has its code, or no thread can compile it while others run."""
        if not (text := self.text) or _threads() is None:
            return True
        begun = _begun.get((text, target := architecture()))
        return begun.done() if begun is not None else _found(text, target)[-1] is not None

    @cached_property
    def _alone(self) -> str:
        return only(self.module.source, self.name)

    def _load(self) -> int:
        device = current_device()
        handle = self._kernels[device] = self.module.handle(device, self.name, self.shared)
        return handle


def _set_attribute(kernel: int, name: str, value: int) -> None:
    from cupy.cuda import driver

    driver.funcSetAttribute(kernel, getattr(driver, f"CU_FUNC_ATTRIBUTE_{name}"), value)


class _Cuda(NamedTuple):
    """What a launch needs of CuPy and the driver, looked up once."""

    runtime: Any
    device: Callable[[], int]
    stream: Callable[[], Any]
    launch: Callable[..., None]
    error: Any  # the exception that a launch raises


@lru_cache(1)
def _cuda() -> _Cuda:
    import cupy
    from cupy.cuda import driver

    runtime = cupy.cuda.runtime
    return _Cuda(
        runtime, runtime.getDevice, cupy.cuda.get_current_stream, driver.launchKernel, driver.CUDADriverError
    )


def in_use() -> bool:
    """Whether something was launched in this process."""
    return _cuda.cache_info().currsize > 0


def current_device() -> int:
    """The number of CuPy's current device."""
    return _cuda().device()


def device_name() -> str:
    """What the current device calls itself."""
    return _device_name(current_device())


@lru_cache(16)
def _device_name(device: int) -> str:
    import cupy

    return str(cupy.cuda.runtime.getDeviceProperties(device)["name"].decode())


def synchronize() -> None:
    """Wait for the current stream."""
    _cuda().stream().synchronize()


def synchronize_device(device: Any) -> None:
    """Wait for all that a device was given, by whatever stream, when no graph is being recorded.

    What is recorded on a device that another thread waits for as a whole would be invalid.
    """
    with RECORDING:
        device.synchronize()


_KERNEL = 'extern "C" __global__ '


def only(source: str, name: str) -> str:
    """A text in which one of its kernels is compiled; others become templates that nothing uses.

    Examples
    --------
    >>> print(only('extern "C" __global__ void f() {} extern "C" __global__ void g() { f(); }', "g"))
    template <int> __global__ void f() {} extern "C" __global__ void g() { f(); }
    """
    first, *kernels = source.split(_KERNEL)
    named = re.compile(rf"[^{{;]*\b{name}\(")
    return first + "".join((_KERNEL if named.match(text) else "template <int> __global__ ") + text for text in kernels)


_begun: dict[tuple[str, str], Future[bytes]] = {}  # what threads compile, until it is asked for


def compile_ahead(functions: Iterable[Function]) -> None:
    """Have threads compile some kernels, the slowest first, unless they are loaded; nothing waits for them."""
    if (pool := _threads()) is None:
        return
    target = architecture()
    for function in functions:
        key = function.text, target
        if key[0] and key not in _begun:
            _begun[key] = pool.submit(_made, *key)


def wait_for_threads() -> None:
    """Return when all kernels are compiled that threads have begun with, so that timing finds the fastest."""
    wait(list(_begun.values()))


def begin_context() -> None:
    """Have a thread make the context of the current device, which takes as long as compiling a kernel."""
    if (pool := _threads()) is not None:
        pool.submit(_make_context, current_device())


def _make_context(device: int) -> None:
    import cupy

    with cupy.cuda.Device(device):
        cupy.cuda.runtime.free(0)


@lru_cache(1)
def _threads() -> ThreadPoolExecutor | None:
    """Threads that compile while others do; None where there is one core."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return ThreadPoolExecutor(min(cores, MOST_THREADS), "semiring-nvrtc") if cores > 1 else None


def _machine_code(source: str, target: str) -> bytes:
    """A source's machine code, as a thread compiles it, as it was kept, or as it is compiled now."""
    begun = _begun.pop((source, target), None)
    return _made(source, target) if begun is None else begun.result()


def _made(source: str, target: str) -> bytes:
    """The machine code as it was kept, or as it is compiled now."""
    entries, key, code = _found(source, target)
    if code is None:
        code = _compile(source, _options(target))
        entries.save(key, code)
    return code


def _found(source: str, target: str) -> tuple[Entries, str, bytes | None]:
    """The place of machine code on disk, its key there, and the code, or None."""
    import cupy
    from cupy.cuda import nvrtc

    entries = Entries(f"cuda_{hashlib.sha256(source.encode()).hexdigest()[:24]}")
    versions = str(nvrtc.getVersion()), cupy.__version__
    key = hashlib.sha256("\0".join([*_options(target), *versions]).encode()).hexdigest()
    return entries, key, entries.load(key)


def _options(target: str) -> tuple[str, ...]:
    return (*OPTIONS, f"--gpu-architecture={target}")


def _compile(source: str, options: tuple[str, ...]) -> bytes:
    from cupy.cuda import nvrtc

    handle = nvrtc.createProgram(source, "semiring.cu", [], [])
    try:
        nvrtc.compileProgram(handle, list(options))
        return bytes(nvrtc.getCUBIN(handle))
    except nvrtc.NVRTCError as e:
        raise RuntimeError(f"NVRTC refused a generated kernel: {e}\n{nvrtc.getProgramLog(handle)}") from None
    finally:
        nvrtc.destroyProgram(handle)


def architecture() -> str:
    """What the compiler calls the current device."""
    major, minor = capability(current_device())
    return f"sm_{major}{minor}a" if (major, minor) == (9, 0) else f"sm_{major}{minor}"


@lru_cache(16)
def capability(device: int) -> tuple[int, int]:
    """Compute capability of a device."""
    import cupy

    number = cupy.cuda.Device(device).compute_capability
    return int(number[:-1]), int(number[-1])


def multiprocessors() -> int:
    """How many multiprocessors the current device has."""
    return _multiprocessors(current_device())


@lru_cache(16)
def _multiprocessors(device: int) -> int:
    import cupy

    return int(cupy.cuda.Device(device).attributes["MultiProcessorCount"])


def total_memory() -> int:
    """Bytes of memory that the current device has, in use or not."""
    return _total_memory(current_device())


@lru_cache(16)
def _total_memory(device: int) -> int:
    import cupy

    return int(cupy.cuda.Device(device).mem_info[1])


def rows_of(block: Any) -> Any:
    """The block itself if the elements of a row lie side by side, else a copy in which they do."""
    if block.shape[-1] <= 1 or block.strides[-1] == block.dtype.itemsize:
        return block
    import cupy

    return cupy.ascontiguousarray(block)


def in_words(array: Any) -> Any:
    """A view of an array as numbers: CuPy has no kernels for records, whose elements get an axis of words, the last."""
    if array.dtype.names is None:
        return array
    import cupy

    size = next(n for n in (8, 4, 2, 1) if array.itemsize % n == 0)
    shape = *array.shape, array.itemsize // size
    return cupy.ndarray(shape, f"u{size}", array.data, (*array.strides, size))


def in_c_order(array: Any) -> Any:
    """The array itself if it lies in C order, else a copy that does."""
    if array.flags.c_contiguous:
        return array
    import cupy

    copy = cupy.ascontiguousarray(in_words(array))
    return copy if array.dtype.names is None else cupy.ndarray(array.shape, array.dtype, copy.data)


def empty_like_rows(block: Any) -> Any:
    """A matrix of the same shape and dtype in C order, holding anything."""
    import cupy

    return cupy.empty(block.shape, block.dtype)


def copy_of(block: Any) -> Any:
    """A copy in C order."""
    result = empty_like_rows(block)
    while block.ndim > 2 and len(block) == 1:  # its one matrix may have rows that the driver copies
        block = block[0]
    across = block.shape[-1] * block.itemsize if block.ndim else block.itemsize
    if not block.size:
        return result
    if block.flags.c_contiguous:
        from cupy.cuda import get_current_stream, runtime

        runtime.memcpyAsync(
            result.data.ptr, block.data.ptr, block.nbytes, runtime.memcpyDeviceToDevice, get_current_stream().ptr
        )
    elif block.ndim == 2 and block.strides[1] == block.itemsize and block.strides[0] >= across:
        copy_rows(result.data.ptr, block.data.ptr, block.strides[0], across, len(block))
    else:
        result.reshape(block.shape)[...] = block
    return result


def copy_rows(target: int, source: int, pitch: int, across: int, rows: int) -> None:
    """Copy rows that begin `pitch` bytes apart so that they lie one after the other, by the driver.

    A kernel of CuPy's would be compiled first.
    """
    from cupy.cuda import get_current_stream, runtime

    runtime.memcpy2DAsync(
        target, across, source, pitch, across, rows, runtime.memcpyDeviceToDevice, get_current_stream().ptr
    )


def minus_ones(count: int) -> Any:
    """So many integers −1 on the device: memory whose bits are all set, for which nothing is compiled."""
    import cupy

    numbers = cupy.empty(count, np.int32)
    if count:
        stream = cupy.cuda.get_current_stream().ptr
        cupy.cuda.runtime.memsetAsync(numbers.data.ptr, 0xFF, numbers.nbytes, stream)
    return numbers


_kept = local()


@contextmanager
def keeping() -> Iterator[list[Any]]:
    """Scratch memory that this thread takes inside lives as long as the list: a graph will use it again."""
    _kept.memory = []
    try:
        yield _kept.memory
    finally:
        _kept.memory = None


def memory(count: int) -> Any:
    """Scratch memory of the current stream, free again for later work on it once the object is gone."""
    import cupy

    taken = cupy.cuda.alloc(count)
    kept = getattr(_kept, "memory", None)
    if kept is not None:
        kept.append(taken)
    return taken
