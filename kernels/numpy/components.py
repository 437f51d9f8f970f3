"""The transitive closure of a graph in compressed rows by NumPy: Warshall's algorithm on packed bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semiring.kernels.blocks.bits import PackedRows

from . import bits
from .structure import rows_of


@dataclass(frozen=True, eq=False)
class Reach:
    """The transitive closure of a graph; see `semiring.kernels.cpu.bits.components.Reach`."""

    walks: PackedRows  # of one edge or more
    shared = False  # every vertex has a row of its own

    def packed(self, reflexive: bool = True) -> PackedRows:
        """The closure, a bit a pair."""
        result = self.walks.copy()
        if reflexive:
            bits.set_diagonal(result, np.ones(result.shape[0], bool))
        return result

    def dense(self, zero: Any, one: Any, dtype: Any, reflexive: bool = True) -> np.ndarray:
        """The closure as an array of two values."""
        out = np.empty(self.walks.shape, bool)
        bits.unpack(self.packed(reflexive), out)
        return np.where(out, np.array(one, dtype), np.array(zero, dtype))


def reach(offsets: np.ndarray, columns: np.ndarray) -> Reach:
    """The transitive closure of a graph whose edges are entries of compressed rows, in any order.

    Examples
    --------
    >>> found = reach(np.array([0, 1, 2, 2]), np.array([1, 0], np.int32))
    >>> found.dense(0, 1, int).tolist()
    [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    """
    n = len(offsets) - 1
    walks = PackedRows.zeros(n, n)
    bits.set_entries(walks, rows_of(offsets), columns[: offsets[-1]].astype(np.int64))
    bits.close_plus(walks)
    return Reach(walks)
