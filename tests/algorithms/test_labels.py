"""Labels and predecessors: each way to set them against walks counted out in Python, and cycles of predecessors."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algorithms.labels import (
    Dense,
    Walks,
    along_tree,
    best_walks,
    by_length,
    cycle_of,
    cycle_weight,
    edges_along,
    follow,
    improving_cycle,
    path_to,
    settle,
    some_cycle,
    truly_improves,
    walk_by_rounds,
    weight_of,
)

inf = np.inf
quick = settings(max_examples=40)
MIN_PLUS = sr.min_plus.over("f8")


def capped(most: int) -> sr.Semiring:
    """Longest paths up to a bound: going round a cycle improves until the bound is reached."""
    return sr.Semiring(
        f"capped at {most}", add=np.maximum, mul=lambda a, b: np.where((a < 0) | (b < 0), -1, np.minimum(a + b, most)),
        zero=-1, one=0, carrier=lambda a: (a >= -1) & (a <= most) & (np.floor(a) == a), dtypes="fi",
    )


CAPPED = capped(20)


@st.composite
def matrices(draw: st.DrawFn, least: int, most: int, zero: float = inf) -> np.ndarray:
    """Whole weights of few vertices, and many places without an edge."""
    n = draw(st.integers(1, 7))
    weights = st.one_of(st.just(zero), st.just(zero), st.integers(least, most))
    return np.array(draw(st.lists(st.lists(weights, min_size=n, max_size=n), min_size=n, max_size=n)), float)


def distances(A: np.ndarray) -> list[float]:
    """Of the shortest walks from vertex 0, as Bellman's equations have them after n − 1 rounds."""
    W, n = A.tolist(), len(A)
    x = [0.0] + [inf] * (n - 1)
    for _ in range(n - 1):
        x = [min([x[v], *(x[u] + W[u][v] for u in range(n))]) for v in range(n)]
    return x


@quick
@given(matrices(0, 9))
def test_four_ways_to_shortest_distances(A: np.ndarray) -> None:
    G, expected = Dense(A), distances(A)
    for found in (best_walks(G, sr.min_plus, 0), settle(G, MIN_PLUS, 0), follow(G, MIN_PLUS, [0]),
                  by_length(G, MIN_PLUS, 0)):
        assert found.labels.tolist() == expected and found.cycle is None
        for v, x in enumerate(expected):
            walk = found.walk_to(0, v)
            assert (walk is None) == (x == inf)
            if walk is not None:
                assert (walk[0], walk[-1]) == (0, v) and len(set(walk)) == len(walk)
                assert x == sum(A[u, w] for u, w in pairwise(walk)) == weight_of(G, sr.min_plus, walk)


@quick
@given(matrices(-3, 9))
def test_correction_ends_in_distances_or_in_a_cycle_that_improves(A: np.ndarray) -> None:
    found = follow(Dense(A), MIN_PLUS, [0])
    if found.cycle is None:
        assert found.labels.tolist() == distances(A)
        assert (along_tree(Dense(A), MIN_PLUS, [0], found.predecessor) == found.labels).all()
    else:
        assert sum(A[u, v] for u, v in pairwise(found.cycle)) < 0 and distances(A)[found.cycle[0]] < inf
        assert cycle_weight(Dense(A), sr.min_plus, found.cycle) == sum(A[u, v] for u, v in pairwise(found.cycle))


@quick
@given(matrices(0, 9, zero=-inf))
def test_widest_paths(A: np.ndarray) -> None:
    """Any ⊕ that selects will do; here is max, and ⊗ is min."""
    S, n = oracle.ALGEBRAS["max_min"], len(A)
    expected = oracle.closure_by_walks(S, A.tolist())
    found = best_walks(Dense(A), sr.max_min, 0)
    assert found.labels.tolist() == expected[0]
    for v in range(n):
        walk = found.walk_to(0, v)
        assert (walk is None) == (expected[0][v] == -inf)
        assert walk is None or min([inf, *(A[u, w] for u, w in pairwise(walk))]) == expected[0][v]


@quick
@given(matrices(0, 5, zero=-1))
def test_walks_go_round_as_often_as_that_improves(A: np.ndarray) -> None:
    """Longest walks up to 20: every cycle of positive weight is gone round until the bound is reached."""
    found = best_walks(Dense(A), CAPPED, 0)
    n = len(A)
    x = [0.0] + [-1.0] * (n - 1)
    for _ in range(20 * n + n):
        x = [max([x[v], *(min(x[u] + A[u, v], 20) for u in range(n) if min(x[u], A[u, v]) >= 0)]) for v in range(n)]
    assert found.labels.tolist() == x
    for v in range(n):
        walk = found.walk_to(0, v)
        assert (walk is None) == (x[v] == -1)
        if walk is not None:
            assert (walk[0], walk[-1]) == (0, v)
            assert min(sum(A[u, w] for u, w in pairwise(walk)), 20) == x[v] == weight_of(Dense(A), CAPPED, walk)


def test_records_and_python_numbers() -> None:
    S = sr.shortest_hops
    A = np.full((3, 3), S.zero_in(S.default_dtype))
    A[0, 1], A[1, 2], A[0, 2] = (1.0, 1), (1.0, 1), (2.0, 1)
    found = best_walks(Dense(A), S, 0)
    assert found.labels.tolist() == [(0, 0), (1, 1), (2, 1)] and found.predecessor.tolist() == [-1, 0, 0]
    thirds = np.full((3, 3), inf, object)
    thirds[0, 1], thirds[1, 2], thirds[2, 0] = Fraction(1, 3), Fraction(-1, 3), Fraction(1, 10**30)
    found = best_walks(Dense(thirds), sr.min_plus, 0)
    assert found.labels.tolist() == [0, Fraction(1, 3), 0] and found.cycle is None
    thirds[2, 0] = -thirds[2, 0]
    assert best_walks(Dense(thirds), sr.min_plus, 0)[2:4] == ([0, 1, 2, 0], Fraction(-1, 10**30))


def test_only_what_is_reached_counts() -> None:
    """1 → 2 → 1 improves, and vertex 0 does not reach it."""
    A = np.full((4, 4), inf)
    A[1, 2], A[2, 1], A[0, 3], A[1, 0] = 1, -2, 5, 1
    G = Dense(A)
    found = best_walks(G, sr.min_plus, 0)
    assert found.cycle is None and found.labels.tolist() == [0, inf, inf, 5]
    assert improving_cycle(G, sr.min_plus, [0]) == improving_cycle(G, sr.min_plus, [3]) == (None, None)
    for sources in ([1], [2], [0, 3, 2]):
        assert improving_cycle(G, sr.min_plus, sources) == ([1, 2, 1], -1)
    assert improving_cycle(Dense(np.empty((0, 0))), sr.min_plus, []) == (None, None)
    assert improving_cycle(Dense(np.empty((2, 2))), sr.max_min, [0, 1]) == (None, None), "none can"


def test_every_loop_is_weighed() -> None:
    """The loop of each vertex improves by more or less than is known of it."""
    eps = np.finfo(float).eps
    times, plus = sr.max_times, sr.min_plus
    for S, worth, improves in (
        (times, 1 + eps, False), (times, 1 + 9 * eps, True), (plus, -5e-324, False), (plus, -1e-9, True)
    ):
        G = Dense(np.full((1, 1), worth))
        assert (improving_cycle(G, S, [0])[0] == [0, 0]) == improves
        assert list(pairwise(best_walks(G, S, 0).cycle or [])) == [(0, 0)] * improves


def test_beyond_an_infinitely_good_edge_a_cycle_is_seen_all_the_same() -> None:
    """Nothing improves any more after the first round."""
    A = np.full((3, 3), inf)
    A[0, 1], A[1, 0], A[1, 2] = -inf, 5, 1
    assert best_walks(Dense(A), sr.min_plus, 0).cycle == [0, 1, 0]
    A[1, 0] = inf
    assert best_walks(Dense(A), sr.min_plus, 0).labels.tolist() == [0, -inf, -inf]


def test_a_weight_that_is_rounded_once() -> None:
    A = np.full((3, 3), inf)
    A[0, 1], A[1, 2], A[2, 0] = 0.1, 0.2, -0.3
    exact = sum(Fraction(float(w)) for w in (0.1, 0.2, -0.3))
    assert cycle_weight(Dense(A), sr.min_plus, [0, 1, 2, 0]) == float(exact) != 0.1 + 0.2 - 0.3
    assert cycle_weight(Dense(A.astype("f4")), sr.min_plus, [0, 1, 2, 0]).dtype == np.float32
    whole = np.array([[2**62, -(2**62)], [5, 1]])
    assert cycle_weight(Dense(whole), sr.min_plus, [0, 1, 0]) == 5 - 2**62
    A[2, 0] = inf
    assert cycle_weight(Dense(A), sr.min_plus, [0, 1, 2, 0]) == inf
    assert weight_of(Dense(A), sr.min_plus, [1]) == 0 and weight_of(Dense(A), sr.max_times, [1]) == 1


@pytest.mark.parametrize(("units", "improves"), [(0, False), (1, False), (2, False), (40, True)])
def test_what_rounding_explains_does_not_improve(units: int, improves: bool) -> None:
    """0.1 + 0.2 − 0.3, and so many units in the last place less."""
    A = np.full((3, 3), inf)
    A[0, 1], A[1, 2] = 0.1, 0.2
    A[2, 0] = -0.3 - units * np.spacing(0.3)
    assert truly_improves(Dense(A), sr.min_plus, [0, 1, 2, 0]) is improves
    whole = np.array([[inf, 3.0], [-4.0, inf]])
    assert truly_improves(Dense(whole), sr.min_plus, [0, 1, 0]), "whole numbers are exact"
    assert truly_improves(Dense(np.array([[-1]])), sr.min_plus, [0, 0])


def test_a_dense_graph_is_its_matrix() -> None:
    A = np.arange(9.0).reshape(3, 3)
    G = Dense(A)
    heads, weights = G.edges(1)
    assert G.n == 3 and heads.tolist() == [0, 1, 2] and weights.tolist() == [3, 4, 5]
    assert edges_along(G, [0, 2, 1]).tolist() == [2, 7] and edges_along(G, [1]).tolist() == []
    assert G.with_values(-A).edges(2)[1].tolist() == [-6, -7, -8] and (A >= 0).all()


# Predecessors.


@quick
@given(st.lists(st.integers(-1, 11), min_size=1, max_size=12))
def test_cycles_of_predecessors(given_: list[int]) -> None:
    predecessor = np.array([min(u, len(given_) - 1) for u in given_])
    n = len(predecessor)

    def ends(v: int) -> bool:
        for _ in range(n):
            v = int(predecessor[v]) if v >= 0 else v
        return v < 0

    for v in range(n):
        check(predecessor, cycle_of(predecessor, v), none=ends(v))
    check(predecessor, some_cycle(predecessor), none=all(ends(v) for v in range(n)))


def test_a_long_way_that_ends_is_no_cycle() -> None:
    for n in (2, 3, 4, 7, 8, 9, 64, 65, 1000):
        chain = np.arange(-1, n - 1)
        assert some_cycle(chain) is None
        assert some_cycle(np.append(chain, [n + 1, n])) == [n, n + 1, n]
    assert some_cycle(np.array([], int)) is None


def check(predecessor: np.ndarray, cycle: list[int] | None, *, none: bool) -> None:
    assert (cycle is None) == none
    if cycle is not None:
        assert cycle[0] == cycle[-1] == min(cycle) and len(set(cycle)) == len(cycle) - 1
        assert all(predecessor[v] == u for u, v in pairwise(cycle)), "in the direction of the edges"


def test_paths_and_walks_are_read_backwards() -> None:
    assert path_to(np.array([2, -1, 1]), 1, 0) == [1, 2, 0] and path_to(np.array([-1]), 0, 0) == [0]
    found = Walks(np.array([0.0, 3.0, inf]), np.array([-1, 0, -1]))
    assert found.walk_to(0, 0) == [0] and found.walk_to(0, 1) == [0, 1] and found.walk_to(0, 2) is None
    rounds = [np.array([-1, 0, -1]), np.array([1, -1, 1])]
    assert walk_by_rounds(rounds, 0, 2) == [0, 1, 2] and walk_by_rounds(rounds, 0, 0) == [0, 1, 0]
    assert walk_by_rounds(rounds, 1, 2) is None and walk_by_rounds([], 0, 0) == [0]


def test_labels_along_a_tree_are_the_true_weights() -> None:
    """A source may have a predecessor itself, if it was reached on a better way from another."""
    A = np.array([[inf, 2.0, inf], [inf, inf, 4.0], [-9.0, inf, inf]])
    assert along_tree(Dense(A), MIN_PLUS, [0], np.array([-1, 0, 1])).tolist() == [0, 2, 6]
    assert along_tree(Dense(A), MIN_PLUS, [2, 0], np.array([2, 0, -1])).tolist() == [-9, -7, 0]
    assert along_tree(Dense(A), MIN_PLUS, [1], np.array([-1, -1, -1])).tolist() == [inf, 0, inf]
