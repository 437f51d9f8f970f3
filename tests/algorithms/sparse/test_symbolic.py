"""The elimination tree, its postorder and the column counts, against elimination on sets."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from sparse_patterns import patterns, rows, touched

from semiring.algorithms.sparse import pattern, symbolic

quick = settings(max_examples=80)


@quick
@given(patterns())
def test_the_parent_is_the_first_vertex_touched(given_pattern: tuple) -> None:
    n, edges = given_pattern
    start, neighbours = pattern.symmetric(*rows(n, edges))
    tree = symbolic.elimination_tree(start, neighbours)
    later = touched(n, edges, np.arange(n))
    assert tree.tolist() == [min(beyond, default=-1) for beyond in later]
    assert symbolic.column_counts(start, neighbours, tree).tolist() == [len(beyond) for beyond in later]


@quick
@given(patterns())
def test_a_postorder_keeps_subtrees_together_and_the_fill(given_pattern: tuple) -> None:
    n, edges = given_pattern
    tree = symbolic.elimination_tree(*pattern.symmetric(*rows(n, edges)))
    order = symbolic.postorder(tree)
    place = pattern.inverse(order)
    below = [{v} for v in range(n)]
    for v in range(n):
        if tree[v] >= 0:
            below[tree[v]] |= below[v]
    for v in range(n):
        places = sorted(int(place[w]) for w in below[v])
        assert places == list(range(int(place[v]) - len(places) + 1, int(place[v]) + 1))
    before, after = touched(n, edges, np.arange(n)), touched(n, edges, order)
    assert [len(before[v]) for v in order] == list(map(len, after))
