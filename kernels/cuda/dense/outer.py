"""⊗ by element of arrays on the device that broadcast; outer.cu has the kernel."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.kernels.cuda.compile.launch import Function, Module, multiprocessors
from semiring.kernels.cuda.compile.program import program

if TYPE_CHECKING:
    from semiring.kernels.cuda.lowering import CudaLowering

THREADS = 256  # as in outer.cu
RESIDENT = 8  # blocks of a multiprocessor


def outer(low: CudaLowering, a: Any, b: Any) -> Any:
    """a ⊗ b by element, of arrays in storage with equally many axes, which broadcast."""
    import cupy

    shape = np.broadcast_shapes(a.shape, b.shape)
    c = cupy.empty(shape, low.storage)
    if size := prod(shape):
        axes = merged(shape, *(tuple(0 if n == 1 else step for n, step in zip(x.shape, x.strides, strict=True))
                               for x in (a, b)))
        table = cupy.asarray(np.array(axes or [(1, 0, 0)], np.int64))
        blocks = min(-(-size // THREADS), multiprocessors() * RESIDENT)
        _function(low)(blocks, 1, a.data.ptr, b.data.ptr, c.data.ptr, size, table.data.ptr, len(axes))
    return c


def merged(shape: tuple[int, ...], *strides: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Sizes and strides of axes, of which neighbours that lie in one run are one.

    Examples
    --------
    >>> merged((2, 3, 1, 4), (12, 4, 4, 1), (0, 0, 9, 0))
    [(24, 1, 0)]
    >>> merged((2, 3), (3, 1), (0, 1))
    [(2, 3, 0), (3, 1, 1)]
    """
    found: list[tuple[int, ...]] = []
    for n, *steps in zip(shape, *strides, strict=True):
        if n == 1:
            continue
        if found and all(before == step * n for before, step in zip(found[-1][1:], steps, strict=True)):
            found[-1] = (found[-1][0] * n, *steps)
        else:
            found.append((n, *steps))
    return found


@lru_cache(256)
def _function(low: CudaLowering) -> Function:
    return Module(source(low)).function("outer", THREADS)


def source(low: CudaLowering) -> str:
    """The text of the kernel."""
    return program(low).source("", "dense/outer.cu")
