"""R-Kleene on an engine that writes down what it is asked, and where matrices are cut."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semiring.algorithms.blocks import UndefinedStar
from semiring.algorithms.r_kleene import half, r_kleene


@pytest.mark.parametrize(
    ("n", "tile"), [(0, 1), (1, 1), (1, 3), (2, 1), (3, 2), (4, 4), (5, 1), (5, 2), (5, 3), (5, 4), (5, 9)]
)
def test_every_walk_is_found_once(n: int, tile: int, plain: SimpleNamespace) -> None:
    """⊕ is not idempotent, and ⊗ does not commute."""
    A, kernel = plain.edges(n), plain.Kernel(plain.WALKS)
    r_kleene(A, kernel, tile)
    assert A.read() == plain.all_walks(n)
    assert kernel.work == n**3


@pytest.mark.parametrize("n", [13, 16, 17])
@pytest.mark.parametrize(("tile", "align"), [(1, 1), (3, 1), (4, 4), (8, 4)])
def test_larger_matrices_with_ragged_blocks(n: int, tile: int, align: int, plain: SimpleNamespace) -> None:
    A, kernel = plain.lengths(n, n), plain.Kernel(plain.LENGTHS, tile, align)
    expected = plain.distances(A)
    r_kleene(A, kernel, tile)
    assert A.read() == expected
    assert kernel.work == n**3, "as progress counts"
    assert all(span[1] - span[0] <= tile for name, span, *_ in kernel.calls if name == "close")


def test_halves_go_as_the_picture_says(plain: SimpleNamespace) -> None:
    kernel = plain.Kernel(plain.WALKS)
    r_kleene(plain.edges(5), kernel, 3)
    P, Q, Y, Z = (0, 2, 0, 2), (0, 2, 2, 5), (2, 5, 0, 2), (2, 5, 2, 5)
    assert kernel.calls == [
        ("close", P), ("left", P, Q), ("multiply_add", Z, Y, Q), ("right", Y, P),
        ("close", Z), ("left", Z, Y), ("multiply_add", P, Q, Y), ("right", Q, Z),
    ]


@pytest.mark.parametrize("tile", [1, 2, 3, 5])
def test_a_pivot_without_a_star_is_named_by_its_place_in_the_matrix(tile: int, plain: SimpleNamespace) -> None:
    A = plain.edges(5)
    A.rows[4][4] = plain.WALKS.one
    with pytest.raises(UndefinedStar) as caught:
        r_kleene(A, plain.Kernel(plain.WALKS), tile)
    assert caught.value.pivot == 4


@given(st.integers(1, 40), st.sampled_from([1, 4, 64]), st.integers(1, 2000))
def test_a_cut_is_near_the_middle_on_a_bound_of_blocks(tiles: int, align: int, more: int) -> None:
    tile = tiles * align
    n = tile + more
    h = half(n, tile, align)
    assert 0 < h < n and h % align == 0
    if n >= 2 * tile:
        assert h % tile == 0 and abs(2 * h - n) <= 2 * tile
    else:
        assert max(h, n - h) <= tile, "neither half is cut again"


def test_a_matrix_with_fewer_rows_than_a_bound_needs_is_cut_all_the_same() -> None:
    assert half(3, 1, 64) == 1 and half(50, 20, 64) == 40 and half(30, 20, 64) == 15
