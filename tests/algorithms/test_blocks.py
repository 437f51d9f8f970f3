"""Cutting into blocks: every entry lies in exactly one part of each picture, and parts are views."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semiring.algorithms.blocks import UndefinedStar, close, pivots, spans

ORDERS = st.integers(0, 40)
TILES = st.integers(1, 50)


@given(ORDERS, TILES)
def test_spans_follow_each_other_to_the_end(n: int, tile: int) -> None:
    found = spans(n, tile)
    assert [i for s in found for i in range(s.start, s.stop)] == list(range(n))
    assert all(s.stop - s.start == tile for s in found[:-1]) and all(0 < s.stop - s.start <= tile for s in found)


@given(ORDERS, TILES)
def test_each_pivot_has_the_whole_matrix_in_its_parts(n: int, tile: int) -> None:
    A = np.zeros((n, n), int)
    last = 0
    for turn, (k, D, R, C, X) in enumerate(pivots(A, tile), 1):
        assert (k.start, D.shape) == (last, (k.stop - k.start,) * 2)
        last = k.stop
        for part in (D, *R, *C, *(x for row in X for x in row)):
            assert part.size, "no part is empty"
            part += 1
        assert (turn == A).all(), "each entry in one part, which is a view"
        assert len(R) == len(C) == len(X) == (k.start > 0) + (k.stop < n)
        assert [r.shape[0] for r in R] == [D.shape[0]] * len(R) and [c.shape[1] for c in C] == [D.shape[0]] * len(C)
        for c, row in zip(C, X, strict=True):  # a part of X has the rows of its C, and the columns of its R
            assert [x.shape for x in row] == [(c.shape[0], r.shape[1]) for r in R]
    assert last == n


def test_parts_before_a_pivot_come_before_those_after_it() -> None:
    A = np.arange(25).reshape(5, 5)
    _, (k, D, R, C, X), _ = pivots(A, 2)
    assert (k, D.tolist()) == (slice(2, 4), [[12, 13], [17, 18]])
    assert [r.tolist() for r in R] == [[[10, 11], [15, 16]], [[14], [19]]]
    assert [c.tolist() for c in C] == [[[2, 3], [7, 8]], [[22, 23]]]
    assert [[x.tolist() for x in row] for row in X] == [[[[0, 1], [5, 6]], [[4], [9]]], [[[20, 21]], [[24]]]]


def test_a_pivot_without_a_star_is_counted_from_the_matrix_on(plain: SimpleNamespace) -> None:
    A, kernel = plain.edges(5), plain.Kernel(plain.WALKS)
    close(A[:2, :2], kernel, 0)
    A.rows[3][3] = plain.WALKS.one
    with pytest.raises(UndefinedStar, match=r"^the star at pivot 3 does not exist$") as caught:
        close(A[2:5, 2:5], kernel, 2)
    assert caught.value.pivot == 3
