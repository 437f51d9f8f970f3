"""Supernodes and their boundaries: what may be one, what each touches, and when merging stops."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sparse_patterns import analysed, analyses, patterns, rows, touched

from semiring.algorithms.sparse import pattern as patterned
from semiring.algorithms.sparse import symbolic
from semiring.algorithms.sparse.analysis import analyse
from semiring.algorithms.sparse.costs import work_of
from semiring.algorithms.sparse.supernodes import LARGEST, boundaries, supernodes

quick = settings(max_examples=80)


@quick
@given(patterns(), analyses)
def test_a_boundary_holds_all_that_its_vertices_touch(pattern: tuple, how: tuple) -> None:
    a, later = analysed(pattern, how)
    assert a.first[0] == 0 and a.first[-1] == a.n and (a.pivots > 0).all()
    for k in range(len(a.parent)):
        S = range(a.first[k], a.first[k + 1])
        U = a.boundary[a.pointer[k] : a.pointer[k + 1]].tolist()
        assert (a.owner[S.start : S.stop] == k).all() and sorted(U) == U
        assert set().union(*(later[v] for v in S)) - set(S) <= set(U)
        if not how[2] and how[1] == 0:  # fundamental supernodes hold no zeros
            assert all(later[v] == {*range(v + 1, S.stop), *U} for v in S)
        assert a.parent[k] == (a.owner[U[0]] if U else -1)


@quick
@given(patterns(), st.sampled_from([0, 1, 2, 5, 32]), st.booleans())
def test_supernodes_are_runs_of_vertices_that_hang_together(pattern: tuple, leaf: int, merge: bool) -> None:
    """All vertices but the last have their parents within, and those of a small subtree are all in one."""
    n, edges = pattern
    start, near = patterned.symmetric(*rows(n, edges))
    order = symbolic.postorder(symbolic.elimination_tree(start, near))
    place = patterned.inverse(order)
    start, near = patterned.renumbered(start, near, order, place)
    parent = symbolic.elimination_tree(start, near)
    first = supernodes(parent, symbolic.column_counts(start, near, parent), leaf=leaf, merge=merge)
    assert first[0] == 0 and first[-1] == n and (np.diff(first) > 0).all()
    below = [{v} for v in range(n)]
    for v in range(n):
        if parent[v] >= 0:
            below[parent[v]] |= below[v]
    home = np.repeat(np.arange(len(first) - 1), np.diff(first))
    for begin, end in pairwise(first.tolist()):
        for v in range(begin, end - 1):
            assert v < parent[v] < end
    for v in range(n):
        if len(below[v]) <= leaf:
            assert len({int(home[w]) for w in below[v]}) == 1
    if not merge and leaf == 0:
        later = touched(n, edges, order)
        for v in range(n - 1):  # a chain goes on exactly where the next vertex touches the same but itself
            together = parent[v] == v + 1 and later[v] == later[v + 1] | {v + 1}
            assert (home[v] == home[v + 1]) == together


def test_a_path_stays_in_pieces_and_a_clique_does_not() -> None:
    n = 3 * LARGEST
    chain, ones = np.append(np.arange(1, n), -1), np.append(np.ones(n - 1, int), 0)
    for leaf, merge in ((0, False), (32, True)):
        sizes = np.diff(supernodes(chain, ones, leaf=leaf, merge=merge))
        assert sizes.sum() == n
        assert 32 <= sizes.max() <= LARGEST if merge else (sizes[:-1] == 1).all()
    counts = np.arange(n - 1, -1, -1)
    assert supernodes(chain, counts, leaf=0, merge=False).tolist() == [0, n], "whatever touches the same is one"
    assert supernodes(np.array([], int), np.array([], int)).tolist() == [0]


@pytest.mark.parametrize(("half", "pieces"), [(LARGEST // 2, 1), (LARGEST // 2 + 1, 2)])
def test_what_is_merged_has_a_limit(half: int, pieces: int) -> None:
    """Two cliques that nearly are one: it would be cheaper as one."""
    n = 2 * half
    chain = np.append(np.arange(1, n), -1)
    counts = np.arange(n - 1, -1, -1) - (np.arange(n) < half)
    assert len(supernodes(chain, counts, leaf=0, merge=False)) == 3
    assert len(supernodes(chain, counts, leaf=0)) == pieces + 1


def test_boundaries_of_few_vertices() -> None:
    """0 – 1 – 4 – 3 – 2 with supernodes {0, 1}, {2}, {3, 4}."""
    start, near = patterned.symmetric(*rows(5, [(0, 1), (1, 4), (4, 3), (3, 2)]))
    pointer, found, parent, owner = boundaries(start, near, np.array([0, 2, 3, 5]))
    assert pointer.tolist() == [0, 1, 2, 2] and found.tolist() == [4, 3]
    assert parent.tolist() == [2, 2, -1] and owner.tolist() == [0, 0, 1, 2, 2]
    nothing = boundaries(np.array([0]), np.array([], int), np.array([0]))
    assert [part.tolist() for part in nothing] == [[0], [], [], []]


def test_one_giant_supernode() -> None:
    n = 60
    a = analyse(*rows(n, [(u, v) for u in range(n) for v in range(n) if u != v]))
    assert a.pivots.tolist() == [n] and work_of(a).stored == n * n


def test_merging_lowers_the_number_of_supernodes() -> None:
    side = 40
    edges = [(v, v + 1) for v in range(side**2) if v % side != side - 1]
    edges += [(v, v + side) for v in range(side**2 - side)]
    apart, merged = (analyse(*rows(side**2, edges), leaf=leaf, merge=leaf > 0) for leaf in (0, 32))
    assert len(merged.parent) < len(apart.parent) / 4
    assert work_of(merged).down < 2 * work_of(apart).down
