"""Compiling and launching through CuPy, which this package imports here, and only when something runs."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

from .program import OPTIONS

STATIC_SHARED = 48 << 10  # bytes of shared memory that a block gets without asking


class Module:
    """CUDA text, compiled when its first function is asked for; CuPy keeps what it compiled on disk."""

    def __init__(self, source: str):
        self.source = source

    @cached_property
    def _module(self) -> Any:
        import cupy

        return cupy.RawModule(code=self.source, options=OPTIONS)

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


