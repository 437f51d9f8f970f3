"""Algebras that only compare, on ranks of their values: exact in 16 or 32 bits, whatever the values are.

⊕ and ⊗ of max-min and its like pick one of their operands, so any order-preserving replacement of the values commutes
with them. With at most 65,536 values the replacement is their ranks, and two elements share a word. Wide values that
are many are sorted, and each has its place for a rank: the GPU compares words of 32 bits five times as fast as of 64.
Equal values then have different ranks, which does no harm: the way back does not decrease, so it commutes with ⊕ and ⊗.
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
from semiring.machine.memory import available_on_device

SHORT, LONG = np.dtype("u2"), np.dtype("u4")
MOST_VALUES = 65_536
MOST_SORTED = 2**32 - 2  # elements: the first rank and the last are kept for zero and one
SORTING = 56  # bytes an element that sorting takes, with the ranks, the table and the answer
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
        Of unsigned integers.
    kernel : CudaKernel
        That of the algebra on ranks.
    """

    def __init__(self, S: Semiring, table: Any, matrices: list[Any], up: bool):
        self.table, self.matrices = table, matrices
        self.kernel = kernel(ranked(S, table.dtype, up, matrices[0].dtype))

    def values(self, ranks: Any) -> Any:
        """The elements that a matrix of ranks, in C order, stands for."""
        import cupy

        result = cupy.empty(ranks.shape, self.table.dtype)
        _functions(self.table.dtype, ranks.dtype)[2](
            _blocks(ranks.size), 1, ranks.data.ptr, ranks.size, self.table.data.ptr, len(self.table), result.data.ptr
        )
        return result


def ranks(S: Semiring, matrices: Sequence[Any]) -> Ranks | None:
    """The matrices as ranks among all their values, or None where they have none; waits for the device.

    Ranks are 16 bits where the values are few, else 32 where that is half of a value and there is memory to sort them.

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
    if zero == one:
        return None
    found = _among_few(matrices, zero, one)
    if found is None and dtype.itemsize > LONG.itemsize:
        found = _sorted(matrices, zero, one)
    return None if found is None else Ranks(S, *found, up=bool(zero < one))


def _among_few(matrices: Sequence[Any], zero: Any, one: Any) -> tuple[Any, list[Any]] | None:
    """A table of the distinct values, and ranks in it; None where they are too many, or not between zero and one."""
    import cupy

    dtype = matrices[0].dtype
    step = max(sum(m.size for m in matrices) // SAMPLE, 1)
    table = cupy.unique(cupy.concatenate([cupy.array([zero, one], dtype), *(m.reshape(-1)[::step] for m in matrices)]))
    for _ in range(PASSES):
        if len(table) > MOST_VALUES:
            return None
        found, missing = _look_up(matrices, table)
        if missing is None:
            ends = sorted([zero.item(), one.item()])
            return (table, found) if [table[0].item(), table[-1].item()] == ends else None
        table = cupy.unique(cupy.concatenate([table, missing]))
    return None


def _sorted(matrices: Sequence[Any], zero: Any, one: Any) -> tuple[Any, list[Any]] | None:
    """All elements in order between zero and one, and their places; None where they are not, or memory is short."""
    import cupy

    count, (least, greatest) = sum(m.size for m in matrices), sorted([zero, one])
    if count > MOST_SORTED or SORTING * count > available_on_device():
        return None
    flat = [m.reshape(-1) for m in matrices]
    elements = flat[0] if len(flat) == 1 else cupy.concatenate(flat)
    table, places = cupy.empty(count + 2, elements.dtype), cupy.empty(count, LONG)
    table[0], table[-1] = least, greatest
    _spread(elements, cupy.argsort(elements), places, table)
    if count and (table[1].item() < least.item() or table[-2].item() > greatest.item()):
        return None
    ends = np.cumsum([m.size for m in matrices]).tolist()
    return table, [places[end - m.size : end].reshape(m.shape) for m, end in zip(matrices, ends, strict=True)]


def _spread(elements: Any, order: Any, places: Any, table: Any) -> None:
    """The places of the elements in their order, and the elements in it from the table's second place on."""
    _functions(elements.dtype, places.dtype)[1](
        _blocks(elements.size), 1, elements.data.ptr, elements.size, order.data.ptr, places.data.ptr, table.data.ptr
    )


def _look_up(matrices: Sequence[Any], table: Any) -> tuple[list[Any], Any]:
    """The ranks in the table, and values that it lacks, or None."""
    import cupy

    results = [cupy.empty(m.shape, SHORT) for m in matrices]
    missing, lacking = cupy.empty(ROOM, table.dtype), cupy.zeros(1, np.uint64)
    for m, out in zip(matrices, results, strict=True):
        _functions(table.dtype, SHORT)[0](
            _blocks(m.size), 1, m.data.ptr, m.size, table.data.ptr, len(table), out.data.ptr,
            missing.data.ptr, ROOM, lacking.data.ptr,
        )
    count = int(lacking[0])
    return results, missing[: min(count, ROOM)] if count else None


@lru_cache(16)
def _functions(dtype: np.dtype, rank: np.dtype) -> tuple[Function, Function, Function]:
    module = Module(rank_source(dtype, rank))
    look_up, spread, value = (module.function(name, THREADS) for name in ("rank", "spread", "value"))
    return look_up, spread, value


def _blocks(count: int) -> int:
    return max(min(-(-count // THREADS), multiprocessors() * RESIDENT), 1)


def closure(S: Semiring, A: Any, close: Callable[[Any, Any], None]) -> Any:
    """The closure of a square CuPy array, or None where it has no ranks.

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
    """A ⊗ B of CuPy matrices, or None where they have no ranks."""
    import cupy

    found = ranks(S, [A, B])
    if found is None:
        return None
    C = cupy.empty((A.shape[0], B.shape[1]), found.matrices[0].dtype)
    found.kernel.multiply(C, *found.matrices)
    return found.values(C)
