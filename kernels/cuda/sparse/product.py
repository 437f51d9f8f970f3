"""A matrix in compressed rows times a dense one, on the GPU; product.cu has the kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.kernels.cuda.choose import choose, general_on_device
from semiring.kernels.cuda.compile.launch import Function, Module, multiprocessors, rows_of
from semiring.kernels.cuda.compile.program import program
from semiring.kernels.cuda.lowering import CudaLowering
from semiring.kernels.facts import Facts

THREADS = 256  # as in product.cu
RESIDENT = 8  # blocks of a multiprocessor
MOST_DOWN = 65_535  # blocks in the second direction of a grid


@dataclass(frozen=True, eq=False)
class DeviceRows:
    """A matrix in compressed rows on the device: int64 offsets, int32 columns, values, and the number of columns."""

    offsets: Any
    columns: Any
    values: Any
    width: int

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return len(self.offsets) - 1, self.width


def with_zero(S: Semiring, dtype: np.dtype, facts: Facts) -> Facts:
    """The same facts where zeros occur too, between the entries: as one of the limits of the dtype, if zero is one."""
    if dtype.kind not in "iuf":
        return facts
    low, high = (-np.inf, np.inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    zero = S.zero_in(dtype)
    return replace(facts, low_limit=facts.low_limit or zero == low, high_limit=facts.high_limit or zero == high)


def lowering_for(S: Semiring, dtype: np.dtype, facts: Facts) -> CudaLowering:
    """The fastest form for a few terms an entry: a pass over the dense operand costs more than it saves."""
    low = choose(S, dtype, with_zero(S, dtype, facts), 3, in_place=False)
    plain = general_on_device(S, dtype) if dtype in (np.float32, np.float64) else low
    return plain if plain.is_identity else low


def times_dense(low: CudaLowering, A: DeviceRows, B: Any, C: Any = None) -> Any:
    """A ⊗ B, or C ⊕ A ⊗ B, for arrays of the data's dtype on the device; C stays as it is."""
    import cupy

    values, B = low.encode(A.values, not low.is_identity), rows_of(low.encode(B, not low.is_identity))
    width = B.shape[1]
    target = cupy.empty((A.shape[0], width), low.storage)
    if C is not None:
        target[...] = low.encode(C, True)
    if target.size:
        wide, per = lanes_of(width)
        across = -(-A.shape[0] * wide // THREADS)
        panel = MOST_DOWN * wide * per
        for left in range(0, width, panel):
            columns = min(panel, width - left)
            _function(low, wide, per)(
                min(across, RESIDENT * multiprocessors()), -(-columns // (wide * per)),
                A.offsets.data.ptr, A.columns.data.ptr, values.data.ptr, A.shape[0],
                B.data.ptr + left * B.itemsize, B.strides[0] // B.itemsize,
                target.data.ptr + left * B.itemsize, width, columns, int(C is not None),
            )
    return low.decode(target)


def lanes_of(width: int) -> tuple[int, int]:
    """Threads for a row of C, and columns for each: all threads of a warp where there are columns for them."""
    wide = min(1 << max(width - 1, 0).bit_length(), 32)
    return wide, 1 if width <= 32 else 2 if width <= 64 else 4


def source(low: CudaLowering, wide: int, per: int) -> str:
    """The text of the kernel for so many threads a row and columns a thread."""
    return program(low).source(f"constexpr int WIDE = {wide};\nconstexpr int PER = {per};\n", "sparse/product.cu")


@lru_cache(64)
def _function(low: CudaLowering, wide: int, per: int) -> Function:
    return Module(source(low, wide, per)).function("times_dense", THREADS)
