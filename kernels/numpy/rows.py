"""Products with compressed rows by NumPy: what `semiring.kernels.cpu.sparse.product` compiles, and Python objects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from functools import cached_property

import numpy as np

from semiring.algebra.elements import full
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.compile.price import Code
from semiring.kernels.lowering.base import Lowering

from .dense import Operations, operations
from .structure import product_structure, terms_of, transposed


class Objects:
    """⊕ and ⊗ of arrays of Python objects, as `Operations` has them for machine numbers."""

    def __init__(self, lowering: Lowering):
        self._arithmetic = lowering.algebra.over(object)

    def accumulate(self, C: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
        """C ← C ⊕ a ⊗ b, element by element; a and b broadcast."""
        C[...] = self._arithmetic.add(C, self._arithmetic.mul(a, b))

    def clear(self, C: np.ndarray) -> None:
        """Make every element 0."""
        C[...] = full(C, self._arithmetic.zero)


class ArrayRowsKernel:
    """The operations of `SparseKernel`, on arrays in a lowering's storage.

    Parameters
    ----------
    lowering : Lowering
    code : Code, optional
        Called with the time of each piece of work; None for Python objects, which are not compiled.
    """

    def __init__(self, lowering: Lowering, code: Code | None = None):
        self._lowering, self._renting = lowering, nullcontext if code is None else code.renting

    @cached_property
    def _operations(self) -> Operations | Objects:
        return Objects(self._lowering) if self._lowering.kind == "objects" else operations(self._lowering)

    def times_dense(
        self, C: np.ndarray, A: Rows, B: np.ndarray, *, accumulate: bool = False, mirrored: bool = False
    ) -> None:
        """C ← A ⊗ B, or C ⊕ A ⊗ B; C does not overlap B. Mirrored, each term is b ⊗ a."""
        if not accumulate:
            self._operations.clear(C)
        with self._renting():
            if len(C) == 1:  # no rows are copied
                first, last = A.offsets.tolist()
                for e, k in enumerate(A.columns[first:last].tolist(), first):
                    factors = A.values[e : e + 1], B[k]
                    self._operations.accumulate(C[0], *(factors[::-1] if mirrored else factors))
                return
            for rows, entries in by_rank(A.offsets):
                some, factors = C[rows], (A.values[entries, None], B[A.columns[entries]])
                self._operations.accumulate(some, *(factors[::-1] if mirrored else factors))
                C[rows] = some

    def dense_times(self, C: np.ndarray, A: np.ndarray, B: Rows, *, accumulate: bool = False) -> None:
        """C ← A ⊗ B, or C ⊕ A ⊗ B, with a dense A."""
        if not accumulate:
            self._operations.clear(C)
        with self._renting():
            offsets, rows, order = transposed(B.offsets, B.columns, B.width)
            values = B.values[order]
            for columns, entries in by_rank(offsets):
                some = C[:, columns]
                self._operations.accumulate(some, A[:, rows[entries]], values[entries])
                C[:, columns] = some

    def times_sparse(self, A: Rows, B: Rows) -> Rows:
        """A ⊗ B in compressed rows, every entry that has a term; entries may be zero."""
        with self._renting():
            left, right = (A.offsets, A.columns), (B.offsets, B.columns)
            offsets, columns = product_structure(left, right, B.width)
            rows, found, a, b = terms_of(left, right)
            keys = rows * max(B.width, 1) + found
            order = np.argsort(keys, kind="stable")
            keys, a, b = keys[order], a[order], b[order]
            starts = np.concatenate([np.flatnonzero(np.diff(keys, prepend=-1)), [len(keys)]])
            values = np.empty(len(columns), A.values.dtype)
            self._operations.clear(values)
            for entries, terms in by_rank(starts):
                some = values[entries]
                self._operations.accumulate(some, A.values[a[terms]], B.values[b[terms]])
                values[entries] = some
        return Rows(offsets, columns, values, B.width)


def by_rank(offsets: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The rows that have a first entry, and where it is; then those that have a second; and so on.

    Examples
    --------
    >>> [(rows.tolist(), places.tolist()) for rows, places in by_rank(np.array([0, 2, 2, 3]))]
    [([0, 2], [0, 2]), ([0], [1])]
    """
    lengths = np.diff(offsets)
    rows, rank = np.flatnonzero(lengths), 0
    while len(rows):
        yield rows, offsets[rows] + rank
        rank += 1
        rows = rows[lengths[rows] > rank]


def seconds(lowering: Lowering, rounds: float, terms: float) -> float:
    """What so many terms, at most so many of them for one entry or row, are predicted to take."""
    return 3 * operations(lowering).seconds(rounds, terms)
