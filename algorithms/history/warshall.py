"""Warshall's algorithm on rows of bits: a row is united with another, a machine word at a time.

    for every vertex k:  for every row i with a_ik:  row i ← row i ∪ row k

A word holds as many entries as it has bits, so that the innermost of the three loops is shorter by that factor. The
rows that do not lead to k are left alone.

S. Warshall, A theorem on Boolean matrices (1962).
"""

from __future__ import annotations

from typing import Any, Protocol

from semiring.kernels.interface import Block


class BitRows(Protocol):
    """An engine that unites rows of bits."""

    def unite(self, A: Any, k: int) -> None:
        """Row i ← row i ∪ row k, for every row i with a_ik."""

    def add_one(self, A: Any) -> None:
        """A ← 1 ⊕ A: ones join the diagonal."""


def warshall(A: Block, engine: BitRows) -> None:
    """A ← A* in place."""
    for k in range(A.shape[0]):
        engine.unite(A, k)
    engine.add_one(A)
