"""The symmetric pattern and its renumbering."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sparse_patterns import patterns, rows

from semiring.algorithms.sparse import pattern

quick = settings(max_examples=60)


def as_sets(start: np.ndarray, found: np.ndarray) -> list[list[int]]:
    return [found[start[i] : start[i + 1]].tolist() for i in range(len(start) - 1)]


@quick
@given(patterns())
def test_neighbours_are_those_of_both_directions(given_pattern: tuple) -> None:
    n, edges = given_pattern
    both = {(u, v) for u, v in edges if u != v} | {(v, u) for u, v in edges if u != v}
    assert as_sets(*pattern.symmetric(*rows(n, edges))) == [sorted(v for u, v in both if u == i) for i in range(n)]


@quick
@given(patterns(), st.integers(0, 3))
def test_columns_are_rows_of_the_transpose(given_pattern: tuple, wider: int) -> None:
    n, edges = given_pattern
    start, found, origin = pattern.transposed(*rows(n, edges), n + wider)
    assert as_sets(start, found) == [sorted(u for u, v in edges if v == j) for j in range(n + wider)]
    assert [sorted(edges)[q] for q in origin] == sorted(edges, key=lambda e: (e[1], e[0]))


@quick
@given(patterns(), st.randoms())
def test_renumbered_rows_hold_renumbered_columns(given_pattern: tuple, random: object) -> None:
    n, edges = given_pattern
    order = np.arange(n)
    random.shuffle(order)  # type: ignore[attr-defined]
    place = pattern.inverse(order)
    assert (order[place] == np.arange(n)).all()
    got = as_sets(*pattern.renumbered(*rows(n, edges), order, place))
    assert [sorted(row) for row in got] == [sorted(int(place[v]) for u, v in edges if u == i) for i in order]
