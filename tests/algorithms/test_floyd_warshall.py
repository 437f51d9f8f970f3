"""The base case of all schedules: the whole matrix in one call of the engine."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from semiring.algorithms.blocks import UndefinedStar
from semiring.algorithms.floyd_warshall import floyd_warshall


@pytest.mark.parametrize("n", range(5))
@pytest.mark.parametrize("tile", [1, 7])
def test_the_engine_closes_the_whole_matrix_whatever_the_tile(n: int, tile: int, plain: SimpleNamespace) -> None:
    A, kernel = plain.edges(n), plain.Kernel(plain.WALKS)
    floyd_warshall(A, kernel, tile)
    assert kernel.calls == [("close", (0, n, 0, n))]
    assert A.read() == plain.all_walks(n)


@pytest.mark.parametrize("bad", [0, 2, 3])
def test_a_pivot_without_a_star_is_named(bad: int, plain: SimpleNamespace) -> None:
    A = plain.edges(4)
    A.rows[bad][bad] = A.rows[3][3] = plain.WALKS.one
    with pytest.raises(UndefinedStar) as caught:
        floyd_warshall(A, plain.Kernel(plain.WALKS), 2)
    assert caught.value.pivot == bad
