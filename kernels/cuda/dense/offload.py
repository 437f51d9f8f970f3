"""An engine on the host's blocks whose work a GPU does: blocks go there in pieces that it holds, and come back.

Schedules of matrices that are in files, or spread over processes, keep their tiles in the host's memory, and compute on
GPUs by this. A product of s × s pieces moves 4 s² elements for s³ multiply-adds, so that pieces are as large as the
GPU's memory allows.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from copy import copy
from functools import cached_property
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.kernels.cuda.compile.launch import current_device
from semiring.kernels.cuda.compile.staging import download, upload

from .carry import carry
from .engine import CudaKernel

if TYPE_CHECKING:
    from semiring.kernels.cuda.lowering import CudaLowering

PIECES = 8  # that the GPU has room for: three operands, copies of them in whole tiles, and what a closure needs
ALIGN = 128  # what the order of a piece is a multiple of


class Offload:
    """The operations on blocks of the host's memory, carried out on a GPU; a `semiring.kernels.interface.Kernel`.

    Parameters
    ----------
    lowering : CudaLowering
        Blocks are NumPy arrays of its storage, with the elements of a row side by side.
    memory : int
        Bytes of the GPU that may be used.
    device : int, optional
        Its number; the current one when absent. Any thread may call.
    """

    align = ALIGN

    def __init__(self, lowering: CudaLowering, memory: int, device: int | None = None):
        self.lowering = lowering
        self._device = current_device() if device is None else device
        fit = isqrt(memory // (PIECES * lowering.storage.itemsize))
        self.tile = max(fit // ALIGN, 1) * ALIGN  #: order of a block that `close` takes directly, and of a piece
        self._engine = CudaKernel(lowering)

    @property
    def place(self) -> str:
        """Where it computes, in words."""
        return f"{self._engine.place}, from the host's memory"

    @cached_property
    def unchecked(self) -> Offload:
        """The same kernel, but nothing looks for pivots without a star."""
        twin = copy(self)
        twin._engine = self._engine.unchecked
        return twin

    # Products

    def multiply_add(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        """C ← C ⊕ A ⊗ B. C overlaps neither A nor B."""
        self._product(C, A, B, True)

    def multiply(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        """C ← A ⊗ B; what C held is not read. C overlaps neither A nor B."""
        self._product(C, A, B, False)

    def left(self, D: np.ndarray, R: np.ndarray) -> None:
        """R ← D ⊗ R in place; D is square and does not overlap R."""
        with self._there():
            first = self._up(D) if len(D) <= self.tile else None
            for columns in self._pieces(R.shape[1]) if len(D) else ():
                strip = R[:, columns]
                if first is None:
                    self._product(strip, D, strip.copy(), False)
                else:
                    there = self._like(strip)
                    self._engine.multiply(there, first, self._up(strip))
                    carry(there, strip)

    def right(self, C: np.ndarray, D: np.ndarray) -> None:
        """C ← C ⊗ D in place; D is square and does not overlap C."""
        with self._there():
            second = self._up(D) if len(D) <= self.tile else None
            for rows in self._pieces(C.shape[0]) if len(D) else ():
                strip = C[rows]
                if second is None:
                    self._product(strip, strip.copy(), D, False)
                else:
                    there = self._like(strip)
                    self._engine.multiply(there, self._up(strip), second)
                    carry(there, strip)

    def _product(self, C: np.ndarray, A: np.ndarray, B: np.ndarray, accumulate: bool) -> None:
        inner = self._pieces(A.shape[1]) or [slice(0, 0)]
        with self._there():
            for rows in self._pieces(C.shape[0]):
                first = self._up(A[rows, inner[0]]) if len(inner) == 1 else None  # for all columns
                for columns in self._pieces(C.shape[1]):
                    target = self._up(C[rows, columns]) if accumulate else self._like(C[rows, columns])
                    adds = accumulate
                    for k in inner:
                        left = self._up(A[rows, k]) if first is None else first
                        product = self._engine.multiply_add if adds else self._engine.multiply
                        product(target, left, self._up(B[k, columns]))
                        adds = True
                    carry(target, C[rows, columns])

    # Closures

    def close(self, D: np.ndarray) -> int:
        """D ← D* in place; −1, or the first pivot whose star does not exist. The GPU holds D."""
        if not D.size:
            return -1
        with self._there():
            there = self._up(D)
            pivot = self._engine.close(there)
            carry(there, D)
            return pivot

    def closes_whole(self, n: int) -> bool:
        """Whether the GPU holds a matrix of this order."""
        return n <= self.tile

    # Elements

    def add_one(self, A: np.ndarray) -> None:
        """A ← 1 ⊕ A: ones join the diagonal."""
        with self._there():
            for k in self._pieces(min(A.shape)):
                there = self._up(A[k, k])
                self._engine.add_one(there)
                carry(there, A[k, k])

    def diagonal(self, A: np.ndarray, D: np.ndarray) -> np.ndarray:
        """The vector of ⊕ over k of A[i, k] ⊗ D[k, i]: of each piece's product with the rows of D."""
        found = np.empty(len(A), A.dtype)
        with self._there():
            for rows in self._pieces(len(A)):
                order = rows.stop - rows.start
                sums = np.empty((order, order), A.dtype)
                self._product(sums, A[rows], D[:, rows], False)
                found[rows] = sums.diagonal()
        return found

    def set_diagonal(self, A: np.ndarray, values: np.ndarray) -> None:
        """a_ii ← the values."""
        places = np.arange(min(A.shape))
        A[places, places] = values

    def like(self, A: np.ndarray) -> np.ndarray:
        """A matrix of the same shape, holding anything."""
        return np.empty(A.shape, A.dtype)

    def equal(self, A: np.ndarray, B: np.ndarray) -> bool:
        """Whether both hold the same elements."""
        with self._there():
            return A.shape == B.shape and all(
                self._engine.equal(self._up(A[rows, columns]), self._up(B[rows, columns]))
                for rows in self._pieces(A.shape[0]) for columns in self._pieces(A.shape[1]))

    def assign(self, A: np.ndarray, B: np.ndarray) -> None:
        """A ← B."""
        A[...] = B

    # There and back

    def _there(self) -> AbstractContextManager[Any]:
        import cupy

        device: AbstractContextManager[Any] = cupy.cuda.Device(self._device)
        return device

    def _pieces(self, n: int) -> list[slice]:
        return [slice(i, min(i + self.tile, n)) for i in range(0, n, self.tile)]

    def _like(self, block: np.ndarray) -> Any:
        import cupy

        return cupy.empty(block.shape, block.dtype)

    def _up(self, block: np.ndarray) -> Any:
        there = self._like(block)
        if block.size:
            carry(block, there)
        return there


def into_storage(low: CudaLowering, elements: np.ndarray, device: int) -> np.ndarray:
    """Elements in storage, on the host; itself where storage holds them as they are."""
    if low.is_identity or not elements.size:
        return elements if low.is_identity else np.empty(elements.shape, low.storage)
    import cupy

    with cupy.cuda.Device(device):
        rows = elements if elements.ndim == 2 else elements[None]
        stored: np.ndarray = download(low.encode(upload(rows), True))
        return stored.reshape(elements.shape)


def out_of_storage(low: CudaLowering, stored: np.ndarray, device: int) -> np.ndarray:
    """The opposite.

    Raises
    ------
    SemiringError
        When a result is outside the dtype.
    """
    if low.is_identity or not stored.size:
        return stored if low.is_identity else np.empty(stored.shape, low.dtype)
    import cupy

    with cupy.cuda.Device(device):
        found: np.ndarray = download(low.decode(upload(stored)))
        return found
