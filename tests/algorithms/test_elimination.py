"""Factors, what they hold, and what is made of them, on an engine that writes down what it is asked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from semiring.algorithms.blocks import UndefinedStar
from semiring.algorithms.elimination import elimination, expand, factor, solve, solve_left

SIZES = [(0, 1), (1, 1), (1, 3), (2, 1), (3, 2), (4, 4), (5, 1), (5, 2), (5, 3), (5, 4), (5, 9)]
LARGER = [(13, 4), (16, 4), (17, 5), (17, 16), (11, 1)]


@pytest.mark.parametrize(("n", "tile"), SIZES)
def test_every_walk_is_found_once(n: int, tile: int, plain: SimpleNamespace) -> None:
    """⊕ is not idempotent, and ⊗ does not commute."""
    A, kernel = plain.edges(n), plain.Kernel(plain.WALKS)
    elimination(A, kernel, tile)
    assert A.read() == plain.all_walks(n)
    assert kernel.work == n**3


@pytest.mark.parametrize(("n", "tile"), SIZES)
def test_what_factors_hold(n: int, tile: int, plain: SimpleNamespace) -> None:
    """D and R: walks through the pivot block and those before it; C: through those before it alone."""
    A = plain.edges(n)
    factor(A, plain.Kernel(plain.WALKS), tile)
    for i, row in enumerate(A.read()):
        for j, found in enumerate(row):
            above = i // tile <= j // tile
            assert found == plain.walks(i, j, min((i // tile + 1) * tile, n) if above else j // tile * tile), (i, j)


@pytest.mark.parametrize(("n", "tile"), SIZES)
@pytest.mark.parametrize("columns", [0, 1, 2])
def test_solutions_are_products_with_the_closure(n: int, tile: int, columns: int, plain: SimpleNamespace) -> None:
    A, kernel = plain.edges(n), plain.Kernel(plain.WALKS)
    factor(A, kernel, tile)
    before = A.read()
    B = plain.Block([[{((i, n + j),): 1} for j in range(columns)] for i in range(n)], (0, n, 0, columns))
    solve(A, B, kernel, tile)
    assert A.read() == before, "factors stay"
    # A walk to a column of B is one of at most two edges within A, and then the edge of its last vertex.
    expected = [
        [{(*w, (k, n + j)): 1 for k in range(n) for w in plain.walks(i, k, n, 2)} for j in range(columns)]
        for i in range(n)
    ]
    assert B.read() == expected
    expand(A, kernel, tile)
    assert A.read() == plain.all_walks(n)


@pytest.mark.parametrize(("n", "tile"), SIZES)
@pytest.mark.parametrize("rows", [0, 1, 2])
def test_solutions_from_the_left(n: int, tile: int, rows: int, plain: SimpleNamespace) -> None:
    A, kernel = plain.edges(n), plain.Kernel(plain.WALKS)
    factor(A, kernel, tile)
    before = A.read()
    B = plain.Block([[{((n + j, i),): 1} for i in range(n)] for j in range(rows)], (0, rows, 0, n))
    solve_left(A, B, kernel, tile)
    assert A.read() == before, "factors stay"
    # An edge from a row of B, and then a walk of at most two edges within A.
    expected = [
        [{((n + j, k), *w): 1 for k in range(n) for w in plain.walks(k, i, n, 2)} for i in range(n)]
        for j in range(rows)
    ]
    assert B.read() == expected


@pytest.mark.parametrize(("n", "tile"), LARGER)
def test_larger_matrices_with_ragged_blocks(n: int, tile: int, plain: SimpleNamespace) -> None:
    A, kernel = plain.lengths(n, n), plain.Kernel(plain.LENGTHS, tile=4)
    expected = plain.distances(A)
    elimination(A, kernel, tile)
    assert A.read() == expected
    assert kernel.work == n**3, "as progress counts"


def test_factors_take_a_third_of_the_work(plain: SimpleNamespace) -> None:
    kernel: Any = plain.Kernel(plain.LENGTHS)
    factor(plain.lengths(30, 1), kernel, 1)
    assert kernel.work == sum(1 + r + r * r for r in range(30)) < 1.06 * 30**3 / 3


def test_the_steps_of_a_pivot_are_those_of_the_picture(plain: SimpleNamespace) -> None:
    kernel = plain.Kernel(plain.WALKS)
    A = plain.edges(3)
    D, R, C, X = (0, 2, 0, 2), (0, 2, 2, 3), (2, 3, 0, 2), (2, 3, 2, 3)
    factor(A, kernel, 2)
    assert kernel.calls == [("close", D), ("left", D, R), ("multiply_add", X, C, R), ("close", X)]
    kernel.calls.clear()
    expand(A, kernel, 2)
    assert kernel.calls == [("right", C, D), ("left", X, C), ("multiply_add", D, R, C), ("right", R, X)]
    kernel.calls.clear()
    B = plain.Block([[{}] for _ in range(3)])
    solve(A, B, kernel, 2)
    first, last = (0, 2, 0, 1), (2, 3, 0, 1)
    assert kernel.calls == [
        ("left", D, first), ("multiply_add", last, C, first), ("left", X, last), ("multiply_add", first, R, last),
    ]


@pytest.mark.parametrize("tile", [1, 2, 3, 5])
def test_a_pivot_without_a_star_is_named_by_its_place_in_the_matrix(tile: int, plain: SimpleNamespace) -> None:
    A = plain.edges(5)
    A.rows[4][4] = plain.WALKS.one
    with pytest.raises(UndefinedStar) as caught:
        factor(A, plain.Kernel(plain.WALKS), tile)
    assert caught.value.pivot == 4
