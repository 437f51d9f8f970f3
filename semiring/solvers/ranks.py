"""Algebras that only compare, on few distinct values: exact in 16 bits, whatever the values are.

⊕ and ⊗ of max-min and its like pick one of their operands, so any order-preserving replacement of the values commutes
with them. With at most 65,536 values the replacement is their ranks, and two elements share a word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.kernels.cuda.choose import can_be_ranked, kernel, ranked
from semiring.kernels.cuda.compile.launch import Function, Module, multiprocessors
from semiring.kernels.cuda.compile.program import rank_source

MOST_VALUES = 65_536
SAMPLE = 1 << 18  # elements that are looked at before all of them are
ROOM = 1 << 20  # elements lacking in the table that one pass collects
PASSES = 3  # over the data, until the table is whole or given up
THREADS = 256
RESIDENT = 8  # blocks of a multiprocessor


class Ranks:
    """Matrices replaced by ranks, and the way back.

    Attributes
    ----------
    matrices : list of cupy.ndarray
        Of 16-bit integers.
    kernel : CudaKernel
        That of the algebra on ranks.
    """

    def __init__(self, S: Semiring, table: Any, matrices: list[Any], up: bool):
        self.table, self.matrices = table, matrices
        self.kernel = kernel(ranked(S, table.dtype, up))

    def values(self, ranks: Any) -> Any:
        """The elements that a matrix of ranks, in C order, stands for."""
        import cupy

        result = cupy.empty(ranks.shape, self.table.dtype)
        _functions(self.table.dtype)[1](
            _blocks(ranks.size), 1, ranks.data.ptr, ranks.size, self.table.data.ptr, len(self.table), result.data.ptr
        )
        return result


def ranks(S: Semiring, matrices: Sequence[Any]) -> Ranks | None:
    """The matrices as ranks among all their values, or None where there are too many; waits for the device.

    Parameters
    ----------
    S : Semiring
    matrices : sequence of cupy.ndarray
        Of one dtype, without NaN.
    """
    import cupy

    dtype = matrices[0].dtype
    if not can_be_ranked(S, dtype):
        return None
    matrices = [cupy.ascontiguousarray(m) for m in matrices]
    zero, one = (S.over(dtype).zero, S.over(dtype).one)
    step = max(sum(m.size for m in matrices) // SAMPLE, 1)
    table = cupy.unique(cupy.concatenate([cupy.array([zero, one], dtype), *(m.reshape(-1)[::step] for m in matrices)]))
    for _ in range(PASSES):
        if len(table) > MOST_VALUES:
            return None
        found, missing = _look_up(matrices, table)
        if missing is None:
            first, last = table[0].item(), table[-1].item()
            if {first, last} != {zero.item(), one.item()} or first == last:
                return None
            return Ranks(S, table, found, up=first == zero.item())
        table = cupy.unique(cupy.concatenate([table, missing]))
    return None


def _look_up(matrices: Sequence[Any], table: Any) -> tuple[list[Any], Any]:
    """The ranks in the table, and values that it lacks, or None."""
    import cupy

    results = [cupy.empty(m.shape, np.uint16) for m in matrices]
    missing, lacking = cupy.empty(ROOM, table.dtype), cupy.zeros(1, np.uint64)
    for m, out in zip(matrices, results, strict=True):
        _functions(table.dtype)[0](
            _blocks(m.size), 1, m.data.ptr, m.size, table.data.ptr, len(table), out.data.ptr,
            missing.data.ptr, ROOM, lacking.data.ptr,
        )
    count = int(lacking[0])
    return results, missing[: min(count, ROOM)] if count else None


@lru_cache(16)
def _functions(dtype: np.dtype) -> tuple[Function, Function]:
    module = Module(rank_source(dtype))
    return module.function("rank", THREADS), module.function("value", THREADS)


def _blocks(count: int) -> int:
    return max(min(-(-count // THREADS), multiprocessors() * RESIDENT), 1)


def closure(S: Semiring, A: Any, close: Callable[[Any, Any], None]) -> Any:
    """The closure of a square CuPy array, or None where its values are too many.

    Parameters
    ----------
    S : Semiring
    A : cupy.ndarray, shape (n, n)
    close : callable
        `close(matrix, kernel)` closes a matrix in place.
    """
    found = ranks(S, [A])
    if found is None:
        return None
    (work,) = found.matrices
    close(work, found.kernel)
    return found.values(work)


def product(S: Semiring, A: Any, B: Any) -> Any:
    """A ⊗ B of CuPy matrices, or None where their values are too many."""
    import cupy

    found = ranks(S, [A, B])
    if found is None:
        return None
    C = cupy.empty((A.shape[0], B.shape[1]), np.uint16)
    found.kernel.multiply(C, *found.matrices)
    return found.values(C)
