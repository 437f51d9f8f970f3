"""Compiling and launching through CuPy, which this package imports here, and only when something runs."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from semiring.kernels.cpu.cache import cache_directory

from .program import OPTIONS

STATIC_SHARED = 48 << 10  # bytes of shared memory that a block gets without asking


class Module:
    """CUDA text, compiled when its first function is asked for; machine code is kept on disk.

    CuPy's own compilation flushes denormal numbers to zero, so NVRTC is called directly.
    """

    def __init__(self, source: str):
        self.source = source

    @cached_property
    def _module(self) -> Any:
        import cupy

        return cupy.RawModule(path=str(_machine_code(self.source)))

    def function(self, name: str, threads: int, shared: int = 0) -> Function:
        """A kernel, to be launched with so many threads and bytes of dynamic shared memory a block."""
        kernel = self._module.get_function(name)
        if shared > STATIC_SHARED:
            kernel.max_dynamic_shared_size_bytes = shared
        if shared:
            kernel.preferred_shared_memory_carveout = 100
        return Function(kernel, threads, shared)


class Function:
    """A compiled kernel with its block size. Arguments are Python integers: addresses, numbers, byte counts."""

    def __init__(self, kernel: Any, threads: int, shared: int):
        self.kernel, self.block, self.shared = kernel, (threads,), shared

    def __call__(self, across: int, down: int, *arguments: int) -> None:
        """Launch on the current stream."""
        self.kernel((across, down), self.block, arguments, shared_mem=self.shared)


def _machine_code(source: str) -> Path:
    """The file with a source's machine code for the current device."""
    import cupy
    from cupy.cuda import nvrtc

    options = (*OPTIONS, f"--gpu-architecture={architecture()}")
    text = "\0".join([source, *options, str(nvrtc.getVersion()), cupy.__version__])
    path = cache_directory() / f"cuda_{hashlib.sha256(text.encode()).hexdigest()[:24]}.cubin"
    if not path.exists():
        descriptor, draft = tempfile.mkstemp(suffix=".cubin", dir=path.parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(_compile(source, options))
        os.replace(draft, path)  # another process may have done the same: same name, same code
    return path


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


@lru_cache(1)
def architecture() -> str:
    """What the compiler calls the current device."""
    import cupy

    capability = cupy.cuda.Device().compute_capability
    return f"sm_{capability}a" if capability == "90" else f"sm_{capability}"


@lru_cache(1)
def multiprocessors() -> int:
    """How many multiprocessors the current device has."""
    import cupy

    return int(cupy.cuda.Device().attributes["MultiProcessorCount"])


def rows_of(block: Any) -> Any:
    """The block itself if the elements of a row lie side by side, else a copy in which they do."""
    if block.shape[-1] <= 1 or block.strides[-1] == block.dtype.itemsize:
        return block
    import cupy

    return cupy.ascontiguousarray(block)


def empty_like_rows(block: Any) -> Any:
    """A matrix of the same shape and dtype in C order, holding anything."""
    import cupy

    return cupy.empty(block.shape, block.dtype)


def copy_of(block: Any) -> Any:
    """A copy in C order."""
    result = empty_like_rows(block)
    result[...] = block
    return result


_kept: list[list] = []


@contextmanager
def keeping() -> Iterator[list]:
    """Scratch memory that is taken inside lives as long as the list: a graph will use it again."""
    _kept.append([])
    try:
        yield _kept[-1]
    finally:
        _kept.pop()


def memory(count: int) -> Any:
    """Scratch memory of the current stream, free again for later work on it once the object is gone."""
    import cupy

    taken = cupy.cuda.alloc(count)
    if _kept:
        _kept[-1].append(taken)
    return taken
