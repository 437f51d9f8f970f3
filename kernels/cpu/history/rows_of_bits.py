"""Rows of bits united with each other, a word at a time, as Warshall's algorithm does it."""

from __future__ import annotations

import numpy as np
from numba import int64, void

from semiring.kernels.blocks.bits import PackedRows
from semiring.kernels.cpu.bits.engine import BooleanKernel
from semiring.kernels.cpu.bits.vectors import load, store
from semiring.kernels.cpu.compile.jit import njit


class BitRowsKernel(BooleanKernel):
    """The engine of packed bits, which also unites rows; one thread."""

    def __init__(self) -> None:
        super().__init__(1)

    def unite(self, A: PackedRows, k: int) -> None:
        """Row i ← row i ∪ row k, for every row i with a_ik."""
        words = A.words
        unite.made()(words.ctypes.data, words.strides[0], len(words), A.used_words, k)


@njit([void(*[int64] * 5)], nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def unite(address: int, stride: int, rows: int, used: int, k: int) -> None:
    """Row k into all rows that have bit k; rows are `stride` bytes apart, and `used` words of each hold entries."""
    source, word, bit = address + k * stride, 8 * (k // 64), np.uint64(1) << np.uint64(k & 63)
    for i in range(rows):
        target = address + i * stride
        if i != k and load(target + word) & bit:
            for w in range(used):
                store(target + 8 * w, load(target + 8 * w) | load(source + 8 * w))
