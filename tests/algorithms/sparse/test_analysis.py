"""What each front begins with and passes on, where it lies on the stack, and the tree of fronts, level by level."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sparse_patterns import RANDOM, analyses, of_random_graph, patterns, rows

from semiring.algorithms.sparse.analysis import Analysis, analyse

quick = settings(max_examples=80)


def analysed(pattern: tuple, how: tuple) -> Analysis:
    (n, edges), (method, leaf, merge) = pattern, how
    return analyse(*rows(n, edges), method=method, leaf=leaf, merge=merge)


@quick
@given(patterns(), analyses)
def test_what_a_front_leaves_has_a_place_in_its_parents(pattern: tuple, how: tuple) -> None:
    a = analysed(pattern, how)
    for k, above in enumerate(a.parent):
        if above >= 0:
            front = [*range(a.first[above], a.first[above + 1]), *a.boundary[a.pointer[above] : a.pointer[above + 1]]]
            mine = slice(a.pointer[k], a.pointer[k + 1])
            assert [front[p] for p in a.position[mine]] == a.boundary[mine].tolist()


@quick
@given(patterns(), analyses)
def test_every_entry_stands_in_one_front(pattern: tuple, how: tuple) -> None:
    a = analysed(pattern, how)
    edges = sorted(pattern[1])
    assert sorted(a.entry.tolist()) == list(range(len(edges)))
    for k in range(len(a.parent)):
        front = [*range(a.first[k], a.first[k + 1]), *a.boundary[a.pointer[k] : a.pointer[k + 1]]]
        for q in range(a.entry_pointer[k], a.entry_pointer[k + 1]):
            u, v = edges[a.entry[q]]
            assert (front[a.entry_row[q]], front[a.entry_column[q]]) == (a.place[u], a.place[v])
            assert min(a.entry_row[q], a.entry_column[q]) < a.pivots[k]


@quick
@given(patterns(), analyses, st.sampled_from([(1, 1), (16, 3)]))
def test_fronts_on_the_stack_do_not_overlap_what_waits(pattern: tuple, how: tuple, rounded: tuple) -> None:
    a = analysed(pattern, how)
    lanes, height = rounded
    update, front, most = a.stack_layout(lanes, height)
    waiting: dict[int, tuple[int, int]] = {}
    for k in range(len(a.parent)):
        n = int(a.pivots[k] + a.reach[k])
        size = -(-n // height) * height * (-(-n // lanes) * lanes)
        assert all(end <= front[k] for _, end in waiting.values()) and front[k] + size <= most
        for c in [c for c in waiting if a.parent[c] == k]:
            del waiting[c]
        mine = (int(update[k]), int(update[k] + a.reach[k] ** 2))
        assert mine[0] <= front[k] and all(end <= mine[0] for _, end in waiting.values())
        if a.parent[k] >= 0:
            waiting[k] = mine


@quick
@given(patterns(), analyses)
def test_children_are_listed_under_their_parents(pattern: tuple, how: tuple) -> None:
    a = analysed(pattern, how)
    child, sibling = a.children
    for k in range(len(a.parent)):
        listed, c = [], child[k]
        while c >= 0:
            listed.append(int(c))
            c = sibling[c]
        assert listed == np.flatnonzero(a.parent == k).tolist()


@quick
@given(patterns(), analyses)
def test_a_subtree_stands_together(pattern: tuple, how: tuple) -> None:
    a = analysed(pattern, how)
    below = [set(range(a.first[k], a.first[k + 1])) for k in range(len(a.parent))]
    for k, above in enumerate(a.parent):
        if above >= 0:
            below[above] |= below[k]
    assert [sorted(vertices) for vertices in below] == [
        list(range(a.lowest[k], a.first[k + 1])) for k in range(len(a.parent))
    ]


@quick
@given(patterns(), analyses)
def test_columns_are_in_the_order_of_elimination(pattern: tuple, how: tuple) -> None:
    a = analysed(pattern, how)
    edges = sorted(pattern[1])
    start, found, entries = a.columns
    for k, v in enumerate(a.order):
        meant = [q for q, (_, head) in enumerate(edges) if head == v]
        assert entries[start[k] : start[k + 1]].tolist() == meant
        assert found[start[k] : start[k + 1]].tolist() == [a.place[edges[q][0]] for q in meant]


@RANDOM
def test_parents_are_higher_and_less_deep(n: int, degree: float) -> None:
    a = of_random_graph(n, degree, n)
    parent, height, depth = a.parent, a.heights, a.depths
    some = parent >= 0
    assert (height[parent[some]] > height[some]).all() and (depth[parent[some]] == depth[some] - 1).all()
    assert (depth[~some] == 0).all()
    leaves = np.setdiff1d(np.arange(len(parent)), parent)
    assert (height[leaves] == 0).all()


@RANDOM
def test_spans_say_which_vertices_are_below(n: int, degree: float) -> None:
    a = of_random_graph(n, degree, n)
    scattered = np.sort(np.random.default_rng(n).integers(0, max(n, 1), n // 3))
    for places in (scattered, np.arange(n // 2, 3 * n // 4), scattered[:0]):
        head, tail = a.spans(places)
        for b in range(len(a.parent)):
            c = [k for k, v in enumerate(places) if _is_above(a, b, int(a.owner[v]))]
            assert c == list(range(head[b], tail[b]))
        assert (a.above(places[::-1]) == (head < tail)).all()


def _is_above(a: Analysis, b: int, c: int) -> bool:
    while 0 <= c != b:
        c = int(a.parent[c])
    return c == b
