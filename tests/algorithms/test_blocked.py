"""Blocked Floyd–Warshall on an engine that writes down what it is asked."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from semiring.algorithms.blocked import blocked
from semiring.algorithms.blocks import UndefinedStar


@pytest.mark.parametrize(
    ("n", "tile"), [(0, 1), (1, 1), (1, 3), (2, 1), (3, 2), (4, 4), (5, 1), (5, 2), (5, 3), (5, 4), (5, 9)]
)
def test_every_walk_is_found_once(n: int, tile: int, plain: SimpleNamespace) -> None:
    """Also those through a pivot block many times: ⊕ is not idempotent, and ⊗ does not commute."""
    A, kernel = plain.edges(n), plain.Kernel(plain.WALKS)
    blocked(A, kernel, tile)
    assert A.read() == plain.all_walks(n)
    assert kernel.work == n**3


@pytest.mark.parametrize("n", [13, 16, 17])
@pytest.mark.parametrize("tile", [4, 5, 16])
def test_larger_matrices_with_ragged_blocks(n: int, tile: int, plain: SimpleNamespace) -> None:
    A, kernel = plain.lengths(n, n), plain.Kernel(plain.LENGTHS, tile=4)
    expected = plain.distances(A)
    blocked(A, kernel, tile)
    assert A.read() == expected
    assert kernel.work == n**3, "as progress counts"


def test_a_pivot_in_the_middle_goes_as_the_picture_says(plain: SimpleNamespace) -> None:
    kernel = plain.Kernel(plain.WALKS)
    blocked(plain.edges(5), kernel, 2)
    D, before, after = (2, 4), (0, 2), (4, 5)
    begin = kernel.calls.index(("close", (*D, *D)))
    assert kernel.calls[begin : begin + 9] == [
        ("close", (*D, *D)),
        ("left", (*D, *D), (*D, *before)),
        ("left", (*D, *D), (*D, *after)),
        ("multiply_add", (*before, *before), (*before, *D), (*D, *before)),
        ("multiply_add", (*before, *after), (*before, *D), (*D, *after)),
        ("multiply_add", (*after, *before), (*after, *D), (*D, *before)),
        ("multiply_add", (*after, *after), (*after, *D), (*D, *after)),
        ("right", (*before, *D), (*D, *D)),
        ("right", (*after, *D), (*D, *D)),
    ]


def test_pivot_blocks_larger_than_the_engines_are_closed_by_halves(plain: SimpleNamespace) -> None:
    kernel = plain.Kernel(plain.LENGTHS, tile=2, align=2)
    A = plain.lengths(11, 3)
    expected = plain.distances(A)
    blocked(A, kernel, 6)
    closed = [span for name, span, *_ in kernel.calls if name == "close"]
    assert [span[0] for span in closed] == [0, 2, 4, 6, 8, 10] and all(b - a <= 2 for a, b, *_ in closed)
    assert A.read() == expected


@pytest.mark.parametrize("tile", [1, 2, 3, 5])
def test_a_pivot_without_a_star_is_named_by_its_place_in_the_matrix(tile: int, plain: SimpleNamespace) -> None:
    A = plain.edges(5)
    A.rows[3][3] = plain.WALKS.one
    with pytest.raises(UndefinedStar) as caught:
        blocked(A, plain.Kernel(plain.WALKS), tile)
    assert caught.value.pivot == 3
