"""The engine of plain loops: one core, no packing, and the order in memory that a matrix has.

It shows what an algorithm gains by itself, before anything is done about registers, vectors or threads.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import ModuleType

import numpy as np

from semiring.kernels.cpu.compile import cache
from semiring.kernels.cpu.compile.program import program, source
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy.dense import ArrayBlocks
from semiring.kernels.numpy.library import check_shapes

TEMPLATE = Path(__file__).with_name("plain_template.py")
TILE = 64  # rows of a tile
WIDTH = 1024  # columns of one that is multiplied by: 256 KiB of float32; long rows gain more than the first cache does


class PlainKernel(ArrayBlocks):
    """The kernel interface in plain loops over matrices whose rows are contiguous; see `semiring.kernels.interface`.

    Parameters
    ----------
    lowering : Lowering
        Of machine numbers or records of them.
    entries : bool, optional
        Whether a product takes its entries one after the other, each the ⊕ along a row and a column. Else it takes
        rows, each the ⊕ of rows of the right factor.
    """

    tile = TILE  #: order of a block that `close` takes directly
    align = 1
    threads = 1
    place = "CPU, 1 thread"

    def __init__(self, lowering: Lowering, entries: bool = False):
        self.program, self.entries, self._add_one = program(lowering), entries, lowering.add_one

    @cached_property
    def module(self) -> ModuleType:
        """The compiled loops: ``eliminate``, ``by_entries`` and ``by_rows``."""
        text = replace(self.program, prelude=self.program.prelude + self.program.combine)
        return cache.load(f"plain_{text.name}", source(text, TEMPLATE))

    def eliminate(self, A: np.ndarray, k: int) -> bool:
        """Vertex k from the whole matrix: a_ij ← a_ij ⊕ a_ik ⊗ a_kj; whether (a_kk)* exists."""
        return self._eliminate(A, k, k + 1) < 0

    def close(self, D: np.ndarray) -> int:
        """D ← D* in place; −1, or the first pivot whose star does not exist."""
        return self._eliminate(D, 0, len(D))

    def diagonal(self, A: np.ndarray, D: np.ndarray) -> np.ndarray:
        """The vector of ⊕ over k of A[i, k] ⊗ D[k, i]."""
        out = np.empty(len(A), A.dtype)
        for i in range(len(A)):
            self.multiply(out[None, i : i + 1], A[i : i + 1], np.ascontiguousarray(D[:, i : i + 1]))
        return out

    def _eliminate(self, A: np.ndarray, first: int, last: int) -> int:
        failed = np.empty(1, np.int64)
        self.module.eliminate(*_rows(A), len(A), first, last, failed.ctypes.data, 1)
        return int(failed[0])

    def _product(self, C: np.ndarray, A: np.ndarray, B: np.ndarray, accumulate: bool) -> None:
        check_shapes(C, A, B)
        for c, a, b in zip(C, A, B, strict=True):
            given = (*_rows(c), *_rows(a), *_rows(b), *c.shape, a.shape[1], int(accumulate))
            if self.entries:
                self.module.by_entries(*given, 1)
            else:
                self.module.by_rows(*given, TILE, WIDTH, 1)


def _rows(A: np.ndarray) -> tuple[int, int]:
    """The address of a matrix, and the bytes from row to row."""
    if A.shape[1] > 1 and A.strides[1] != A.itemsize:
        raise ValueError(f"rows must be contiguous, and their elements are {A.strides[1]} bytes apart")
    return A.ctypes.data, A.strides[0]
