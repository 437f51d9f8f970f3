"""One product of small matrices of floats on a GPU: one launch, one wait, and little Python.

The kernel is that of stacks (thin.cu). It looks at every element that it multiplies, and writes a flag into memory that
the host can read if one is unusual. So nothing is read back from a product without a flag.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cupy

from semiring.kernels.cuda.compile.launch import current_device, synchronize

from .thin import DENSE_A, DENSE_B, RUNS_OF_C, SIDE, thin

if TYPE_CHECKING:
    from semiring.kernels.cuda.lowering import CudaLowering

FLAGS = 2  # where a report has its flags, in words of 8 bytes
ndarray = cupy.ndarray


class SmallProduct:
    """A ⊗ B for one lowering, whatever the elements are.

    Parameters
    ----------
    low : CudaLowering
    """

    def __init__(self, low: CudaLowering):
        self.dtype, self._kernels = low.dtype, thin(low, True)
        self._size = low.dtype.itemsize
        self._ways: dict[tuple[int, int, int], Any] = {}  # for m, k, n: the kernel, and elements that lie in one run
        self._free: list[tuple[Any, Any, int]] = []  # memory of the host for flags, a view of it, and its address

    def __call__(self, A: Any, B: Any) -> Any:
        """The product on the current device; None if shapes do not fit or are large, or anything is unusual."""
        m, k = A.shape
        rows, n = B.shape
        way = self._ways.get((m, k, n))
        if way is None:
            way = self._ways[m, k, n] = self._way(m, k, n)
        size, (ld_a, step_a), (ld_b, step_b) = self._size, A.strides, B.strides
        if k != rows or not way or step_a != size or step_b != size:
            return None
        function, unit, whole_a, whole_b, whole_c = way
        C, a, b = ndarray((m, n), self.dtype), A.data.ptr, B.data.ptr
        how = whole_c
        if ld_a == k * size and not a % unit:
            how |= whole_a
        if ld_b == n * size and not b % unit:
            how |= whole_b
        try:
            flags = self._free.pop()
        except IndexError:
            flags = _flags()
        function(1, 1, a, ld_a, 0, b, ld_b, 0, C.data.ptr, n * size, 0, 1, m, k, n, 1, how, flags[2])
        synchronize()
        view = flags[1]
        if view[FLAGS]:
            view[FLAGS] = 0
            C = None
        self._free.append(flags)
        return C

    def _way(self, m: int, k: int, n: int) -> Any:
        """What a product of a shape needs; False if it is not for this kernel."""
        found = self._kernels.single(m, k, n)
        if found is None or max(m, k, n) > SIDE:
            return False
        function, g = found
        run, whole = g.VECTOR, ((m * k, DENSE_A), (k * n, DENSE_B), (n, RUNS_OF_C))
        return function, run * self._size, *(bit * (count % run == 0) for count, bit in whole)


def _flags() -> tuple[Any, Any, int]:
    """Memory of the host for a report, whose flags are 0."""
    pinned = cupy.cuda.alloc_pinned_memory(8 * (FLAGS + 1))
    view = memoryview(pinned).cast("B")[: 8 * (FLAGS + 1)].cast("q")
    view[FLAGS] = 0
    return pinned, view, pinned.ptr


def here(*arrays: Any) -> bool:
    """Whether all arrays are on the current device."""
    device = current_device()
    return all(array.data.device_id == device for array in arrays)
