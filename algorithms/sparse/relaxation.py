"""Compressed rows as a graph on which best walks are searched; see `algorithms/labels.py`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .pattern import Index


@dataclass(frozen=True, eq=False)
class CompressedRows:
    """The graph of a square matrix in compressed rows, whose columns ascend in each row and occur once.

    Examples
    --------
    >>> import semiring as sr
    >>> from semiring.algorithms.labels import improving_cycle
    >>> G = CompressedRows(np.array([0, 1, 2]), np.array([1, 0]), np.array([1.0, -3.0]))
    >>> improving_cycle(G, sr.min_plus, [0])
    ([0, 1, 0], np.float64(-2.0))
    """

    indptr: Index
    indices: Index
    values: np.ndarray

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(self.indptr) - 1

    def edges(self, u: int) -> tuple[np.ndarray, np.ndarray]:
        """The heads of a vertex's edges, and the weights."""
        row = slice(self.indptr[u], self.indptr[u + 1])
        return self.indices[row], self.values[row]

    def along(self, tails: Any, heads: Any) -> np.ndarray:
        """The weights of some edges."""
        return self.values[[self._number(u, v) for u, v in zip(tails, heads, strict=True)]]

    def _number(self, u: int, v: int) -> int:
        first, last = self.indptr[u], self.indptr[u + 1]
        return int(first + np.searchsorted(self.indices[first:last], v))

    def with_values(self, values: np.ndarray) -> CompressedRows:
        """Other weights on the same edges."""
        return replace(self, values=values)
