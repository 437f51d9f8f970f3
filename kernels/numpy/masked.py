"""Some entries of a product by NumPy: what `semiring.kernels.cpu.sparse.masked` compiles, and Python objects."""

from __future__ import annotations

import numpy as np

from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.compile.price import Code
from semiring.kernels.lowering.base import Lowering
from semiring.machine.pieces import equal_shares

from .rows import ArrayRowsKernel, by_rank
from .structure import product_work, rows_of, terms_of, transposed

TERMS = 1 << 21  # terms of a product that are made at once

Pattern = tuple[np.ndarray, np.ndarray]  # offsets and columns of the entries that are wanted


class ArrayMaskedKernel(ArrayRowsKernel):
    """The operations of `MaskedKernel` and `DotsKernel`, on arrays in a lowering's storage.

    Parameters
    ----------
    lowering : Lowering
    code : Code, optional
        As for `ArrayRowsKernel`.
    exchange : bool
        With the operands of ⊗ exchanged.
    """

    def __init__(self, lowering: Lowering, code: Code | None = None, exchange: bool = False):
        super().__init__(lowering, code)
        self._exchange = exchange

    def by_rows(self, C: np.ndarray, wanted: Pattern, A: Rows, B: Rows) -> None:
        """C ← C ⊕ A ⊗ B at the wanted entries, by rows of B."""
        offsets, columns = wanted
        width = max(B.width, 1)
        keys = rows_of(offsets) * width + columns
        work = product_work(A.offsets, A.columns, B.offsets)
        with self._renting():
            for first, last in equal_shares(work, int(work[-1]) // TERMS + 1):
                begin, end = offsets[first], offsets[last]
                if begin == end:
                    continue
                part = A.offsets[first : last + 1] - A.offsets[first]
                some = slice(int(A.offsets[first]), int(A.offsets[last]))
                rows, found, a, b = terms_of((part, A.columns[some]), (B.offsets, B.columns))
                found = (rows + first) * width + found
                places = np.minimum(np.searchsorted(keys[begin:end], found), end - begin - 1) + begin
                terms = np.flatnonzero(keys[places] == found)
                terms = terms[np.argsort(places[terms], kind="stable")]
                places = places[terms]
                starts = np.flatnonzero(np.diff(places, prepend=-1))
                met = places[starts]
                for which, at in by_rank(np.concatenate([starts, [len(terms)]])):
                    these = C[met[which]]
                    self._accumulate(these, A.values[some][a[terms[at]]], B.values[b[terms[at]]])
                    C[met[which]] = these

    def by_pairs(self, C: np.ndarray, wanted: Pattern, A: Rows, T: Rows) -> None:
        """C ← C ⊕ A ⊗ B at the wanted entries, by B transposed: as arrays it is the same work as by rows of B."""
        offsets, columns, order = transposed(T.offsets, T.columns, T.width)
        self.by_rows(C, wanted, A, Rows(offsets, columns, T.values[order], T.shape[0]))

    def by_dots(self, C: np.ndarray, wanted: Pattern, A: Rows | np.ndarray, B: np.ndarray) -> None:
        """C ← C ⊕ A ⊗ B at the wanted entries; A is an array or compressed rows, B an array."""
        rows, columns = rows_of(wanted[0]), wanted[1]
        with self._renting():
            if not isinstance(A, Rows):
                for k in range(A.shape[1]):
                    self._accumulate(C, A[rows, k], B[k, columns])
                return
            begin, lengths = A.offsets[rows], np.diff(A.offsets)[rows]
            left, rank = np.flatnonzero(lengths), 0
            while len(left):
                e, some = begin[left] + rank, C[left]
                self._accumulate(some, A.values[e], B[A.columns[e], columns[left]])
                C[left] = some
                rank += 1
                left = left[lengths[left] > rank]

    def _accumulate(self, C: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
        self._operations.accumulate(C, *((b, a) if self._exchange else (a, b)))
