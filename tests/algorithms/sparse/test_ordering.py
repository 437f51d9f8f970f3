"""Orders: that each is one, and that each keeps fill low where that is known to be possible."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from sparse_patterns import ORDERS, patterns, rows, touched

from semiring.algorithms.sparse import ordering, pattern, symbolic


@pytest.mark.parametrize("method", ORDERS)
@settings(max_examples=60)
@given(given_pattern=patterns(150))
def test_every_vertex_has_one_place(method: str, given_pattern: tuple) -> None:
    n, edges = given_pattern
    order, name, *_ = ordering.order(*pattern.symmetric(*rows(n, edges)), method)
    assert sorted(order.tolist()) == list(range(n)) and name == method


@settings(max_examples=60)
@given(given_pattern=patterns(12))
def test_what_found_an_order_has_a_name(given_pattern: tuple) -> None:
    n, edges = given_pattern
    order, name, *_ = ordering.order(*pattern.symmetric(*rows(n, edges)))
    assert sorted(order.tolist()) == list(range(n)) and name in ("amd", "levels", "natural")


@settings(max_examples=60)
@given(given_pattern=patterns(150))
def test_the_tree_and_the_counts_are_those_of_the_order(given_pattern: tuple) -> None:
    n, edges = given_pattern
    given = pattern.symmetric(*rows(n, edges))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordering, "FEW_VERTICES", 0)
        patch.setattr(ordering, "NARROW", 1.0)
        order, _, tree, count = ordering.order(*given)
    if tree is None:
        assert not edges or all(u == v for u, v in edges)
        return
    ordered = pattern.renumbered(*given, order, pattern.inverse(order))
    assert (tree == symbolic.elimination_tree(*ordered)).all()
    assert (count == symbolic.column_counts(*ordered, tree)).all()


def grid(side: int) -> tuple[int, list]:
    across = [(v, v + 1) for v in range(side**2) if v % side != side - 1]
    return side**2, across + [(v, v + side) for v in range(side**2 - side)]


@pytest.mark.parametrize("method", [name for name in ORDERS if name != "natural"])
def test_a_grid_fills_as_dissection_should(method: str) -> None:
    n, edges = grid(30)

    def fill(name: str) -> int:
        order, *_ = ordering.order(*pattern.symmetric(*rows(n, edges)), name)
        return sum(map(len, touched(n, edges, order)))

    # n log n with a small factor; in the order of the rows it is n^1.5.
    assert fill(method) < 16_000 < 25_000 < fill("natural")


@pytest.mark.parametrize("method", [name for name in ORDERS if name != "natural"])
def test_a_tree_does_not_fill(method: str) -> None:
    rng = np.random.default_rng(0)
    n = 60
    edges = [(int(rng.integers(0, v)), v) for v in range(1, n)]
    order, *_ = ordering.order(*pattern.symmetric(*rows(n, edges)), method)
    assert sum(map(len, touched(n, edges, order))) <= (n - 1 if method == "levels" else 2 * n)


def test_auto_takes_the_cheaper_order_of_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mesh is cut by separators; a random graph, and what is small, is ordered by degree."""
    rng = np.random.default_rng(0)
    mesh = grid(40)
    random = 1600, sorted({(int(u), int(v)) for u, v in rng.integers(0, 1600, (2400, 2))})
    names = {}
    for name, shape in (("mesh", mesh), ("random", random), ("small", grid(12))):
        found = pattern.symmetric(*rows(*shape))
        order, names[name], *_ = ordering.order(*found)
        assert order.tolist() == ordering.order(*found, names[name])[0].tolist()
        terms = {way: ordering._compared("", *found, ordering.order(*found, way)[0])[0] for way in ("amd", "levels")}
        assert name == "small" or terms[names[name]] == min(terms.values())
    assert names["random"] == names["small"] == "amd"


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [
        ((5, [(0, 1), (1, 2), (2, 3), (3, 4)]), 1),
        ((6, [(0, v) for v in range(1, 6)]), 4),
        ((4, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]), 3),
        (grid(9), 9),
        ((3, []), 0),
    ],
    ids=["path", "star", "clique", "grid", "no edges"],
)
def test_widest_level(shape: tuple[int, list], wanted: int) -> None:
    assert ordering.spread(*pattern.symmetric(*rows(*shape))).widest == wanted


@settings(max_examples=60)
@given(patterns(20))
def test_levels_and_the_edges_of_what_is_reached(given_pattern: tuple) -> None:
    n, edges = given_pattern
    start, neighbours = rows(n, edges)
    found = ordering.spread(start, neighbours)
    if not len(neighbours):
        assert found == (0, 0, 0)
        return
    searches = []
    for source in range(n):
        levels = [{source}]
        while levels[-1]:
            seen = set().union(*levels)
            levels.append({int(w) for v in levels[-1] for w in neighbours[start[v] : start[v + 1]]} - seen)
        reached = set().union(*levels)
        out = sum(int(start[v + 1] - start[v]) for v in reached)
        searches.append((max(map(len, levels)), len(levels) - 1, out))
    assert tuple(found) in searches
    hub = int(np.diff(start).argmax())
    assert found.edges >= searches[hub][2]


def test_two_orders_at_the_same_time_are_those_of_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of large graphs each is looked for by a thread of its own."""
    rng = np.random.default_rng(0)
    n = 3000
    A = sp.csr_array((np.ones(4000), (rng.integers(0, n, 4000), rng.integers(0, n, 4000))), shape=(n, n))
    start, neighbours = pattern.symmetric(*(x.astype(np.int64) for x in (A.indptr, A.indices)))
    one_by_one = ordering.order(start, neighbours)
    monkeypatch.setattr(ordering, "APART", 0)
    for threads in (1, 2):
        monkeypatch.setattr(ordering, "thread_count", lambda threads=threads: threads)
        found = ordering.order(start, neighbours)
        assert found[1] == one_by_one[1] and (found[0] == one_by_one[0]).all()


@settings(max_examples=60)
@given(given_pattern=patterns(150))
def test_separators_alone_take_no_more_terms_than_all(given_pattern: tuple) -> None:
    """So dissection that is given up would have lost: with its own terms as the limit it is finished."""
    pattern_ = pattern.symmetric(*rows(*given_pattern))
    found = ordering._dissection(*pattern_)
    terms = ordering._compared("", *pattern_, found)[0]
    assert (ordering._dissection(*pattern_, np.array([terms + 1])) == found).all()


def test_dissection_is_given_up_when_its_separators_lose() -> None:
    found = pattern.symmetric(*rows(*grid(40)))
    assert len(ordering._dissection(*found, np.array([1000.0]))) == 0
