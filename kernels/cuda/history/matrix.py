"""Whole matrices on the GPU, a thread for each element: pivots, and products with and without tiles.

`ElementsKernel` is an engine for the schedules of `algorithms/`, as those authors had it who multiplied with a thread
for each element: it has everything else from the library's engine.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from semiring.kernels.cuda.compile.launch import Function, Module, copy_of, rows_of
from semiring.kernels.cuda.compile.program import always_defined
from semiring.kernels.cuda.dense.engine import CudaKernel
from semiring.kernels.cuda.lowering import CudaLowering

from .blocks import KATZ_KIDER, PhaseKernel
from .forms import text_of, tile_of

NAMES = ("pivot_step", "naive_product", "tiled_product", "worst")


def source(low: CudaLowering) -> str:
    """The text of all kernels."""
    text = text_of(low)
    return text.source(f"constexpr int TILE = {tile_of(text.size)};\n", "history/matrix.cu")


@lru_cache(64)
def functions(low: CudaLowering) -> dict[str, Function]:
    """The kernels of a lowering by name."""
    module, tile = Module(source(low)), tile_of(text_of(low).size)
    return {name: module.function(name, tile * tile) for name in NAMES}


class PivotKernel:
    """A matrix that is eliminated vertex by vertex; see `semiring.algorithms.history.tran`.

    Parameters
    ----------
    low : CudaLowering
    A : array, shape (n, n)
        In storage, in C order. Where every star is 1 its diagonal holds ones.
    """

    def __init__(self, low: CudaLowering, A: Any):
        import cupy

        self.n, self.answer, self._tile = len(A), A, tile_of(A.dtype.itemsize)
        self._step = functions(low)["pivot_step"]
        self._checked = not always_defined(low)
        self._other = A if low.unit_pivots else cupy.empty(A.shape, A.dtype)
        self._failed = cupy.full(1, -1, np.int32)

    def step(self, k: int) -> None:
        """The launch for pivot k."""
        A, B, across = self.answer, self._other, -(-self.n // self._tile)
        self._step(across, across, A.data.ptr, B.data.ptr, A.strides[0], self.n, k, self._failed.data.ptr)
        self.answer, self._other = B, A

    def failed(self) -> int:
        """The first pivot without a star, or −1; waits for the device where a star may be missing."""
        return int(self._failed[0]) if self._checked else -1


class ElementsKernel(CudaKernel):
    """An engine whose products have a thread for each element of C.

    Parameters
    ----------
    lowering : CudaLowering
    product : {"naive_product", "tiled_product"}
        Whether operands come from memory for every step, or by tiles in shared memory.
    close : callable
        The schedule by which a block is closed on a `PhaseKernel`.
    tile : int
        Order of a block that is closed so.
    """

    def __init__(self, lowering: CudaLowering, product: str, close: Callable[[PhaseKernel], None], tile: int = 512):
        super().__init__(lowering)
        self.tile, self.align = tile, tile_of(self.size)
        self._side, self._schedule = tile_of(self.size), close
        self._multiply, self._worst = functions(lowering)[product], functions(lowering)["worst"]

    def _straight(self, C: Any, A: Any, B: Any, accumulate: bool) -> bool:
        return False

    def _product(self, C: Any, A: Any, B: Any, accumulate: bool) -> None:
        for target, left, right in zip(C, A, B, strict=True):
            self._of_matrices(target, rows_of(left), rows_of(right), accumulate)

    def _of_matrices(self, C: Any, A: Any, B: Any, accumulate: bool) -> None:
        (m, k), n = A.shape, B.shape[1]
        if C.shape != (m, n) or len(B) != k:
            raise ValueError(f"shapes {C.shape}, {A.shape} and {B.shape} do not fit")
        if not C.size:
            return
        work, side = rows_of(C), self._side
        self._multiply(-(-n // side), -(-m // side), A.data.ptr, A.strides[0], B.data.ptr, B.strides[0],
                       work.data.ptr, work.strides[0], m, n, k, accumulate)
        if work is not C:
            C[...] = work

    def closes_whole(self, n: int) -> bool:
        """Whether a matrix is one block."""
        return n <= self.tile

    def close(self, D: Any) -> int:
        """D ← D* in place; −1, or the first pivot without a star."""
        if not len(D):
            return -1
        phases = PhaseKernel(self.lowering, copy_of(D), KATZ_KIDER)
        self._schedule(phases)
        D[...] = phases.answer
        return phases.failed()

    def worst(self, A: Any) -> Any:
        """The worst element of a matrix that is not zero, where ⊕ selects the better of two; an array of one."""
        import cupy

        rows = cupy.empty((1, max(len(A), 1)), A.dtype)
        whole = cupy.empty(1, A.dtype)
        A = rows_of(A)
        if A.size:
            self._worst(len(A), 1, A.data.ptr, A.strides[0], A.shape[1], rows.data.ptr)
        self._worst(1, 1, rows.data.ptr, rows.strides[0], len(A), whole.data.ptr)
        return whole
