"""The packed Boolean engine behind the kernel interface: the operations that schedules need beside the products."""

from __future__ import annotations

import numpy as np

from ..packed import PackedMatrix
from .packed import PackedKernel
from .threads import thread_count


class BooleanKernel(PackedKernel):
    """The kernel interface over packed matrices; see `semiring.kernels.interface`."""

    align = 64

    def __init__(self) -> None:
        super().__init__(thread_count(None))

    def closes_whole(self, n: int) -> bool:
        """Whether `close` is the best way to close a whole matrix of this order."""
        return True

    def add_one(self, A: PackedMatrix) -> None:
        """A ← 1 ⊕ A."""
        self.set_diagonal(A, np.ones(A.shape[0], bool))

    def like(self, A: PackedMatrix) -> PackedMatrix:
        """A packed matrix of the same shape."""
        return PackedMatrix.zeros(*A.shape)

    def equal(self, A: PackedMatrix, B: PackedMatrix) -> bool:
        """Whether both hold the same bits."""
        return bool(A == B)

    def assign(self, A: PackedMatrix, B: PackedMatrix) -> None:
        """A ← B."""
        used = -(-A.shape[1] // 64)
        A.words[:, :used] = B.words[:, :used]

    def diagonal(self, A: PackedMatrix, D: PackedMatrix) -> np.ndarray:
        """Whether any k has a_ik and d_ki."""
        used = -(-A.shape[1] // 64)
        return np.asarray((A.words[:, :used] & D.transpose().words[:, :used]).any(axis=1))

    def set_diagonal(self, A: PackedMatrix, values: np.ndarray) -> None:
        """a_ii ← the values."""
        i = np.arange(A.shape[0])
        bit = np.uint64(1) << (i % 64).astype(np.uint64)
        word = A.words[i, i // 64]
        A.words[i, i // 64] = np.where(values, word | bit, word & ~bit)
