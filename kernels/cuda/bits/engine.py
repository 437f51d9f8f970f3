"""The packed Boolean engine of the GPU behind the kernel interface."""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.errors import SemiringError
from semiring.kernels.cuda.compile.launch import device_name

from . import product, words
from .closure import SMALLEST, close
from .matrix import DevicePackedMatrix
from .words import Bits

MANY_ROWS = 8  # share of all rows, as a divisor, from which a closure takes as long as a few products
ROUND = 256  # a product of few rows takes as long as the closure of so many: it reads the whole matrix
LEAST_ROUNDS = 8
STRIP_BYTES = 1 << 30  # memory that an operand may be transposed or copied into at once


class BooleanKernel:
    """The kernel interface over `DevicePackedMatrix` blocks; see `semiring.kernels.interface`.

    All work goes to CuPy's current stream; only `equal` waits for it.
    """

    tile = SMALLEST  #: order of a block that `close` takes in one launch; it takes any
    align = 128  #: bounds of blocks are multiples of this, so that rows of blocks begin on 16 bytes

    @property
    def place(self) -> str:
        """The place of the computation, in words."""
        return device_name()

    @property
    def unchecked(self) -> BooleanKernel:
        """Itself: every star is defined, so that there is nothing to ask the device."""
        return self

    def multiply_add(self, C: DevicePackedMatrix, A: DevicePackedMatrix, B: DevicePackedMatrix) -> None:
        """C ← C ⊕ A ⊗ B; C overlaps neither A nor B."""
        self._multiply(C, A, B, True)

    def multiply(self, C: DevicePackedMatrix, A: DevicePackedMatrix, B: DevicePackedMatrix) -> None:
        """C ← A ⊗ B; C overlaps neither A nor B."""
        self._multiply(C, A, B, False)

    def left(self, D: DevicePackedMatrix, R: DevicePackedMatrix) -> None:
        """R ← D ⊗ R in place; what is read of R is its transposed copy."""
        self._multiply(R, D, R, False)

    def right(self, C: DevicePackedMatrix, D: DevicePackedMatrix) -> None:
        """C ← C ⊗ D in place."""
        c, (T, _kept) = C.bits, transposed(D.bits)
        for top, bottom in strips(c.rows, c.columns):
            rows = c.part(top, bottom, 0, c.columns)
            old, _memory = words.scratch(rows.rows, rows.columns)
            words.copy(old, rows)
            product.multiply(rows, old, T, False)

    def _multiply(self, C: DevicePackedMatrix, A: DevicePackedMatrix, B: DevicePackedMatrix, accumulate: bool) -> None:
        (m, n), k = C.shape, A.shape[1]
        if A.shape[0] != m or B.shape != (k, n):
            raise SemiringError(f"shapes do not fit: {C.shape} ← {A.shape} ⊗ {B.shape}")
        c, a, b = C.bits, A.bits, B.bits
        for first, last in strips(n, k):
            T, _kept = transposed(b.part(0, k, first, last))
            product.multiply(c.part(0, m, first, last), a, T, accumulate)

    def close(self, D: DevicePackedMatrix) -> int:
        """D ← D*, the identity included, for any order; −1, since every star is defined."""
        self.close_plus(D)
        self.add_one(D)
        return -1

    def close_plus(self, D: DevicePackedMatrix) -> int:
        """D ← D⁺ = D ⊗ D*; −1."""
        if D.shape[0] != D.shape[1]:
            raise SemiringError(f"only a square matrix has a closure, not one of shape {D.shape}")
        if D.bits.is_aligned:
            close(D.bits)
        else:
            work = D.copy()
            close(work.bits)
            self.assign(D, work)
        return -1

    def star_rows(self, A: DevicePackedMatrix, sources: Any) -> DevicePackedMatrix:
        """Rows of A*, by products X ← X ⊕ X A; by the closure if they are many or walks are long."""
        n, count = A.shape[0], len(sources)
        X = DevicePackedMatrix.from_edges(np.arange(count), sources, (count, n))
        if count * MANY_ROWS <= n and n:
            T, _kept = transposed(A.bits)
            for _ in range(max(n // ROUND, LEAST_ROUNDS)):
                before = X.copy()
                product.multiply(X.bits, before.bits, T, True)
                if before == X:
                    return X
        closed = A.copy()
        self.close(closed)
        found: DevicePackedMatrix = closed[np.asarray(sources)]
        return found

    def closes_whole(self, n: int) -> bool:
        """Whether `close` is the best way to close a whole matrix of this order."""
        return True

    def add_one(self, A: DevicePackedMatrix) -> None:
        """A ← 1 ⊕ A."""
        words.set_diagonal(A.bits)

    def set_diagonal(self, A: DevicePackedMatrix, values: Any) -> None:
        """a_ii ← the truth values."""
        import cupy

        truths = cupy.ascontiguousarray(cupy.asarray(values, bool))
        words.set_diagonal(A.bits, truths.data.ptr)

    def diagonal(self, A: DevicePackedMatrix, D: DevicePackedMatrix) -> Any:
        """Whether any k has a_ik and d_ki, as truth values on the device."""
        import cupy

        a, d = A.bits, D.bits
        if a.columns != d.rows or a.rows != d.columns:
            raise SemiringError(f"shapes {A.shape} and {D.shape} do not fit")
        out = cupy.zeros(a.rows, bool)
        for first, last in strips(a.rows, a.columns) if a.columns else ():
            T, _kept = transposed(d.part(0, d.rows, first, last))
            words.words_function("meets")(
                last - first, 1, a.address + first * a.ld, a.ld, T.address, T.ld, a.pairs, out.data.ptr + first
            )
        return out

    def like(self, A: DevicePackedMatrix) -> DevicePackedMatrix:
        """A matrix of the same shape, all False."""
        return DevicePackedMatrix.zeros(*A.shape)

    def equal(self, A: DevicePackedMatrix, B: DevicePackedMatrix) -> bool:
        """Whether both hold the same bits; waits for the device."""
        return bool(A == B)

    def assign(self, A: DevicePackedMatrix, B: DevicePackedMatrix) -> None:
        """A ← B."""
        words.copy(A.bits, B.bits)


def transposed(M: Bits) -> tuple[Bits, Any]:
    """The transposed matrix, and the memory it is in."""
    T, kept = words.scratch(M.columns, M.rows)
    if M.rows and M.columns:
        words.transpose(M, T)
    return T, kept


def strips(count: int, length: int) -> list[tuple[int, int]]:
    """Ranges of rows or columns, which have `length` entries each, that fit in a strip; bounds as views allow them."""
    step = max(8 * STRIP_BYTES // max(length, 1) // 512 * 512, 512)
    return [(first, min(first + step, count)) for first in range(0, count, step)]
