"""`Bits`: a matrix of truth values, one bit each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.cpu.bits.words import write

from .exports import is_absent
from .held import Array, Compare, Held, Place, to_write
from .held_entries import Entries

if TYPE_CHECKING:
    from semiring.algebra.arithmetic import Arithmetic
    from semiring.algebra.semiring import Semiring

TRUTH = np.dtype(bool)


class Bits(Held):
    """A matrix of truth values over an algebra of *or* and *and*, one bit each; a word of bits is combined at once.

    Its memory is never written, because others may read the same words.
    """

    kind = "packed"

    def __init__(self, matrix: PackedMatrix, S: Semiring):
        self.matrix, self.S = matrix, S

    @classmethod
    def of(cls, held: Held) -> Bits:
        """The bits of elements that are True."""
        return cls(marks(held), held.S)

    def _entries(self) -> Entries:
        found = self.matrix.to_sparse()
        ones = np.full(found.nnz, self.S.one_in(TRUTH))
        rows = Rows(found.indptr.astype(np.int64), found.indices.astype(np.int32, copy=False), ones, self.shape[1])
        return Entries(rows, self.S)

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.matrix.shape
        return rows, columns

    @property
    def dtype(self) -> np.dtype:
        return TRUTH

    @property
    def elements(self) -> np.ndarray:
        return np.empty(0, TRUTH)  # every bit is an element

    @property
    def T(self) -> Bits:
        return Bits(self.matrix.transpose(), self.S)

    def all(self) -> np.ndarray:
        return self.matrix.to_dense()

    def rows(self) -> Rows:
        return self._entries().rows()

    def entries(self) -> PackedEntries:
        return PackedEntries(self._entries().rows(), self.S)

    def count(self) -> int:
        return self.matrix.count()

    def has(self, rows: np.ndarray, columns: np.ndarray) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self.matrix[rows, columns]
        return found

    def at(self, rows: Place, columns: Place) -> Any:
        if isinstance(rows, np.ndarray) and isinstance(columns, np.ndarray):
            return self.matrix[rows, columns]
        if isinstance(rows, np.ndarray):
            return self.matrix[:, columns][rows]
        line = self.matrix[rows, columns if isinstance(columns, int) else slice(None)]
        return line[columns] if isinstance(columns, (slice, np.ndarray)) and isinstance(rows, int) else np.asarray(
            line)[()]

    def part(self, rows: Place, columns: Place) -> Bits:
        return Bits(self.matrix[rows][:, columns], self.S)

    def where(self, mask: Held, complement: bool) -> Bits:
        marked = marks(mask)
        return Bits(self.matrix & (~marked if complement else marked), self.S)

    def put(self, rows: Place, columns: Place, given: Any) -> Bits:
        matrix = self.matrix.copy()
        write(matrix, *to_write(self, rows, columns, given))
        return Bits(matrix, self.S)

    def union(self, other: Bits, T: Arithmetic) -> Bits:
        return Bits(self.matrix | other.matrix, self.S)

    def times(self, other: Bits, T: Arithmetic) -> Bits:
        return Bits(self.matrix & other.matrix, self.S)

    def compared(self, other: Bits, equal: Compare) -> NDArray[np.bool_]:
        return (~(self.matrix ^ other.matrix)).to_dense()

    def same(self, other: Bits, equal: Compare) -> bool:
        return bool(self.matrix == other.matrix)

    def kron(self, other: Bits, T: Arithmetic) -> Bits:
        return Bits.of(self._entries().kron(other._entries(), T))


def marks(held: Held) -> PackedMatrix:
    """A bit for each entry other than zero."""
    if isinstance(held, Bits):
        return held.matrix
    if isinstance(held, Array):
        return PackedMatrix.from_dense(~is_absent(held.array, held.S))
    return PackedMatrix.from_edges(*Entries(held.rows(), held.S).places(), held.shape)


class PackedEntries(Entries):
    """The entries of a packed matrix: some of them are packed again."""

    def kept(self, which: NDArray[np.bool_]) -> Any:
        return Bits.of(super().kept(which))

    def filled(self, values: np.ndarray, S: Semiring) -> Any:
        found = super().filled(values, S)
        return Bits.of(found) if S is self.S and values.dtype == TRUTH else found
