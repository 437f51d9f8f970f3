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
