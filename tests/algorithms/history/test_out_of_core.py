"""Blocks that are fetched and put back, on an engine whose elements are sets of walks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from semiring.algorithms.history.out_of_core import out_of_core


class Stored:
    """A matrix whose blocks are counted when they move."""

    def __init__(self, A: Any, side: int):
        self.A, self.side, self.blocks = A, side, -(-A.shape[0] // side)
        self.moved = 0

    def place(self, i: int, j: int) -> tuple[slice, slice]:
        n = self.A.shape[0]
        rows, columns = (slice(k * self.side, min((k + 1) * self.side, n)) for k in (i, j))
        return rows, columns

    def fetch(self, i: int, j: int) -> Any:
        self.moved += 1
        return self.A[self.place(i, j)]

    def put_back(self, i: int, j: int, block: Any) -> None:
        self.moved += 1
        assert block.read() == self.A[self.place(i, j)].read()


@pytest.mark.parametrize(("n", "side"), [(1, 1), (4, 2), (5, 2), (5, 5), (5, 7), (4, 1)])
def test_every_walk_is_found_once(n: int, side: int, plain: SimpleNamespace) -> None:
    """⊕ is not idempotent, and ⊗ does not commute."""
    A, kernel = plain.edges(n), plain.Kernel(plain.WALKS)
    matrix = Stored(A, side)
    out_of_core(matrix, kernel)
    assert A.read() == plain.all_walks(n)
    others = matrix.blocks - 1
    assert matrix.moved == matrix.blocks * (2 + 4 * others + 3 * others**2)
