"""A matrix in the host's memory whose blocks go through the GPU; see `semiring.algorithms.history.out_of_core`."""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.kernels.cuda.compile.launch import synchronize


class HostMatrix:
    """A square matrix in pinned memory of the host.

    Parameters
    ----------
    n : int
    dtype : dtype
        Of the elements in storage.
    side : int
        Rows of a block.
    """

    def __init__(self, n: int, dtype: np.dtype, side: int):
        import cupy

        self.n, self.dtype, self.side = n, dtype, side
        self.blocks = -(-n // side)
        self._memory = cupy.cuda.alloc_pinned_memory(max(n * n * dtype.itemsize, 1))

    def fetch(self, i: int, j: int) -> Any:
        """A block on the GPU."""
        import cupy

        block = cupy.empty((self._length(i), self._length(j)), self.dtype)
        self._copy(block.data.ptr, block.strides[0], *self._place(i, j), block, cupy.cuda.runtime.memcpyHostToDevice)
        return block

    def put_back(self, i: int, j: int, block: Any) -> None:
        """The block into its place in the host's memory."""
        import cupy

        self._copy(*self._place(i, j), block.data.ptr, block.strides[0], block, cupy.cuda.runtime.memcpyDeviceToHost)

    def take(self, A: Any) -> None:
        """The whole matrix from the GPU."""
        for i in range(self.blocks):
            for j in range(self.blocks):
                self.put_back(i, j, A[self._span(i), self._span(j)])

    def give(self, A: Any) -> None:
        """The whole matrix to the GPU."""
        for i in range(self.blocks):
            for j in range(self.blocks):
                A[self._span(i), self._span(j)] = self.fetch(i, j)
        synchronize()  # the memory is given back after that

    def _span(self, i: int) -> slice:
        return slice(i * self.side, i * self.side + self._length(i))

    def _length(self, i: int) -> int:
        return min(self.side, self.n - i * self.side)

    def _place(self, i: int, j: int) -> tuple[int, int]:
        """The address of a block, and the bytes from row to row."""
        ld = self.n * self.dtype.itemsize
        return self._memory.ptr + i * self.side * ld + j * self.side * self.dtype.itemsize, ld

    def _copy(self, to: int, ld: int, of: int, ld_of: int, block: Any, kind: int) -> None:
        from cupy.cuda import get_current_stream, runtime

        rows, columns = block.shape
        runtime.memcpy2DAsync(
            to, ld, of, ld_of, columns * self.dtype.itemsize, rows, kind, get_current_stream().ptr
        )
