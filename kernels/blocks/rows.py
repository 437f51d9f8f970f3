"""A matrix in compressed rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Rows:
    """A matrix in compressed rows.

    Attributes
    ----------
    offsets : ndarray of int64, shape (rows + 1,)
    columns : ndarray of int32
        Of the entries, row by row, ascending.
    values : ndarray
    width : int
        Number of columns.
    """

    offsets: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    width: int

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return len(self.offsets) - 1, self.width

    def where(self, kept: np.ndarray) -> Rows:
        """The rows with some of their entries, in the same order.

        Examples
        --------
        >>> A = Rows(np.array([0, 2, 3]), np.array([0, 1, 1], np.int32), np.array([4.0, 5.0, 6.0]), 2)
        >>> A.where(A.values > 4).offsets
        array([0, 1, 2])
        """
        before = np.zeros(len(kept) + 1, np.int64)
        np.cumsum(kept, out=before[1:])
        places = np.flatnonzero(kept)
        return Rows(before[self.offsets], self.columns[places], self.values[places], self.width)
