"""Arrays of bit sets split into packed matrices, one a bit, and the kernel that works on all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semiring.kernels.blocks.bits import WORD, PackedRows
from semiring.kernels.blocks.planes import Planes
from semiring.kernels.cpu.compile import raw
from semiring.machine.pieces import ranges, share
from semiring.machine.threads import scratch

from .engine import BooleanKernel
from .vectors import compiled, load, store, transpose_tile

fetch: Any = raw.fetch  # a type checker would ask the callers for the typing context
put: Any = raw.put
PARALLEL_ELEMENTS = 1 << 16  # elements that repay handing a part of the work to another thread


@compiled
def element(entries: int, size: int, i: int) -> Any:
    """Element i of unsigned integers of so many bytes."""
    if size == 1:
        return np.uint64(fetch(np.uint8, entries, i))
    if size == 2:
        return np.uint64(fetch(np.uint16, entries, i))
    if size == 4:
        return np.uint64(fetch(np.uint32, entries, i))
    return fetch(np.uint64, entries, i)


@compiled
def set_element(entries: int, size: int, i: int, value: Any) -> None:
    """The reverse; bits that do not fit are dropped."""
    if size == 1:
        put(np.uint8, entries, i, np.uint8(value))
    elif size == 2:
        put(np.uint16, entries, i, np.uint16(value))
    elif size == 4:
        put(np.uint32, entries, i, np.uint32(value))
    else:
        put(np.uint64, entries, i, value)


@compiled
def split_rows(
    planes: Any, stride: int, entries: int, size: int, columns: int, first: int, last: int, flip: Any, tile: int
) -> None:
    """Rows ``first:last`` of each plane, whose addresses are given; `tile` is room for 64 words."""
    words = (columns + 63) // 64
    for i in range(first, last):
        for w in range(words):
            present = min(64, columns - 64 * w)
            for j in range(present):
                store(tile + 8 * j, element(entries, size, i * columns + 64 * w + j) ^ flip)
            for j in range(present, 64):
                store(tile + 8 * j, np.uint64(0))
            transpose_tile(tile)
            for p in range(len(planes)):
                store(planes[p] + 8 * (i * stride + w), load(tile + 8 * p))
        for p in range(len(planes)):
            for w in range(words, stride):
                store(planes[p] + 8 * (i * stride + w), np.uint64(0))


@compiled
def join_rows(
    planes: Any, stride: int, entries: int, size: int, columns: int, first: int, last: int, flip: Any, higher: Any,
    tile: int,
) -> None:
    """The reverse; the bits in `higher` are those of the last plane."""
    count = len(planes)
    for i in range(first, last):
        for w in range((columns + 63) // 64):
            for p in range(count):
                store(tile + 8 * p, load(planes[p] + 8 * (i * stride + w)))
            for p in range(count, 64):
                store(tile + 8 * p, np.uint64(0))
            transpose_tile(tile)
            for j in range(min(64, columns - 64 * w)):
                value = load(tile + 8 * j)
                if value >> np.uint64(count - 1) & np.uint64(1):
                    value |= higher
                set_element(entries, size, i * columns + 64 * w + j, value ^ flip)


def split(array: np.ndarray, count: int, complement: bool) -> Planes:
    """The lowest bits of unsigned integers, or of their complements, each as a packed matrix."""
    array = np.ascontiguousarray(array)
    rows, columns = array.shape
    result = Planes([PackedRows.empty(rows, columns) for _ in range(count)])
    addresses, stride = _addresses(result), result.planes[0].words.shape[1]
    entries, size, flip = array.ctypes.data, array.dtype.itemsize, _flip(complement)

    def work(first: int, last: int) -> None:
        split_rows(addresses, stride, entries, size, columns, first, last, flip, scratch(8 * WORD)[1])

    share(work, ranges(rows, array.size // PARALLEL_ELEMENTS), None)
    return result


def join(planes: Planes, dtype: np.dtype, complement: bool) -> np.ndarray:
    """The unsigned integers of planes; bits past the last plane are as in that."""
    rows, columns = planes.shape
    result = np.empty(planes.shape, dtype)
    addresses, stride = _addresses(planes), planes.planes[0].words.shape[1]
    entries, size, flip = result.ctypes.data, dtype.itemsize, _flip(complement)
    higher = np.uint64(np.iinfo(np.uint64).max >> len(planes.planes) << len(planes.planes))

    def work(first: int, last: int) -> None:
        join_rows(addresses, stride, entries, size, columns, first, last, flip, higher, scratch(8 * WORD)[1])

    share(work, ranges(rows, result.size // PARALLEL_ELEMENTS), None)
    return result


def _addresses(planes: Planes) -> np.ndarray:
    return np.array([plane.words.ctypes.data for plane in planes.planes], np.int64)


def _flip(complement: bool) -> np.uint64:
    return np.uint64(np.iinfo(np.uint64).max if complement else 0)


class PlanesKernel(BooleanKernel):
    """The kernel interface over planes: what the packed Boolean engine does, for each; see
    `semiring.kernels.interface`."""

    def __init__(self) -> None:
        super().__init__()
        self._boolean, self._alone = BooleanKernel(), BooleanKernel(1)

    def _each(self, operation: Callable[[BooleanKernel], Callable[..., Any]], *operands: Planes) -> list[Any]:
        """Call an operation for every plane, planes side by side where there are enough for all threads."""
        pieces = list(zip(*(block.planes for block in operands), strict=True))
        if len(pieces) < self.threads:
            return [operation(self._boolean)(*planes) for planes in pieces]
        found: list[Any] = [None] * len(pieces)

        def work(p: int) -> None:
            found[p] = operation(self._alone)(*pieces[p])

        share(work, [(p,) for p in range(len(pieces))], self.threads)
        return found

    def multiply_add(self, C: Any, A: Any, B: Any) -> None:
        """C ← C ⊕ A ⊗ B; C overlaps neither A nor B."""
        self._each(lambda kernel: kernel.multiply_add, C, A, B)

    def multiply(self, C: Any, A: Any, B: Any) -> None:
        """C ← A ⊗ B; C overlaps neither A nor B."""
        self._each(lambda kernel: kernel.multiply, C, A, B)

    def close(self, D: Any) -> int:
        """D ← D*; −1, since every star is defined."""
        self._each(lambda kernel: kernel.close, D)
        return -1

    def add_one(self, A: Any) -> None:
        """A ← 1 ⊕ A."""
        self._each(lambda kernel: kernel.add_one, A)

    def like(self, A: Any) -> Any:
        """Planes of the same shape."""
        return Planes(self._each(lambda kernel: kernel.like, A))

    def equal(self, A: Any, B: Any) -> bool:
        """Whether both hold the same bits."""
        return all(self._each(lambda kernel: kernel.equal, A, B))

    def assign(self, A: Any, B: Any) -> None:
        """A ← B."""
        self._each(lambda kernel: kernel.assign, A, B)

    def diagonal(self, A: Any, D: Any) -> np.ndarray:
        """For each plane whether any k has a_ik and d_ki, shape (planes, n)."""
        return np.array(self._each(lambda kernel: kernel.diagonal, A, D))

    def set_diagonal(self, A: Any, values: np.ndarray) -> None:
        """a_ii ← the values of each plane."""
        for plane, ones in zip(A.planes, values, strict=True):
            self._boolean.set_diagonal(plane, ones)
