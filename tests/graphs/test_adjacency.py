"""Matrices of graphs and of dense data: parallel edges, both directions, and what would not fit."""

from __future__ import annotations

import random

import numpy as np
import pytest
from graphs.listing import NAMED, refused
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.graphs.adjacency import adjacency, from_dense, require_rows
from semiring.graphs.graph import as_graph
from semiring.machine import memory

INF = np.inf


def test_adjacency_of_named_edges():
    M = adjacency(NAMED, sr.min_plus)
    assert M.names == ["a", "b", "c"] and M.semiring is sr.min_plus and M.dtype == np.float64
    assert M.array.tolist() == [[INF, 3.0, INF], [INF, INF, 0.0], [INF, INF, 1.5]]


def test_undirected_edges_go_both_ways_and_self_loops_count_once():
    edges = [(0, 1, 2.0), (1, 1, 5.0)]
    assert adjacency(edges, sr.plus_times, directed=False).array.tolist() == [[0.0, 2.0], [2.0, 5.0]]
    assert adjacency(as_graph(edges, directed=False), sr.plus_times).array.tolist() == [
        [0.0, 2.0],
        [2.0, 5.0],
    ]


def test_the_order_of_parallel_edges_does_not_touch_the_input():
    weights = np.array([5.0, 3.0, 4.0])
    ends = np.zeros(3, int), np.ones(3, int)
    assert adjacency((*ends, weights), sr.max_plus)[0, 1] == 5.0
    assert weights.tolist() == [5.0, 3.0, 4.0]


ADDITIONS = {
    "min_plus": (sr.min_plus, lambda a, b: min(a, b), INF, st.integers(-9, 9).map(float)),
    "max_min": (sr.max_min, lambda a, b: max(a, b), -INF, st.integers(-9, 9).map(float)),
    "plus_times": (sr.plus_times, lambda a, b: a + b, 0.0, st.integers(-9, 9).map(float)),
    "bitset_may": (sr.bitset_may, lambda a, b: a | b, 0, st.integers(0, 255)),
    "gf2": (sr.gf2, lambda a, b: a ^ b, 0, st.integers(0, 1)),
    "gcd_lcm": (sr.gcd_lcm, np.gcd, 0, st.integers(0, 60)),
    "shortest_count": (
        sr.shortest_count,
        lambda a, b: min(a, b) if a[0] != b[0] else (a[0], a[1] + b[1]),
        (INF, 0.0),
        st.tuples(st.integers(0, 3).map(float), st.integers(1, 9).map(float)),
    ),
}


@settings(max_examples=40)
@given(data=st.data(), n=st.integers(1, 4), directed=st.booleans())
@pytest.mark.parametrize("name", ADDITIONS)
def test_parallel_edges_against_a_loop(name, data, n, directed):
    S, add, zero, weights = ADDITIONS[name]
    vertex = st.integers(0, n - 1)
    edges = data.draw(st.lists(st.tuples(vertex, vertex, weights), max_size=60))
    expected = [[zero] * n for _ in range(n)]
    for a, b, w in edges:
        expected[a][b] = add(expected[a][b], w)
        if not directed and a != b:
            expected[b][a] = add(expected[b][a], w)
    M = adjacency(edges, S, n, directed=directed)
    assert M.array.tolist() == expected


def test_parallel_edges_of_many_groups_and_wide_keys():
    chance = random.Random(7)
    edges = [(chance.randrange(50), chance.randrange(50), float(chance.randrange(100))) for _ in range(20_000)]
    edges += [(3, 4, float(k)) for k in range(1000, 1500)]
    chance.shuffle(edges)
    expected = np.zeros((50, 50))
    for a, b, w in edges:
        expected[a, b] += w
    np.testing.assert_array_equal(adjacency(edges, sr.plus_times), expected)


def test_a_matrix_that_would_not_fit_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 10_000)
    with refused(
        "a 1000000 × 1000000 matrix of float64 needs 7.3 TiB of memory and 9.8 KiB is available: "
        "use a narrower dtype or a part of the graph",
        sr.SemiringError,
    ):
        adjacency([(0, 999_999, 1.0)], sr.min_plus)
    with refused("needs 312.5 KiB of memory", sr.SemiringError):
        from_dense(np.zeros((200, 200)), sr.min_plus)
    assert adjacency([(0, 9, 1.0)], sr.min_plus).n == 10


def test_from_dense():
    assert from_dense([[0, 5], [2, 0]], sr.min_plus, dtype=float).array.tolist() == [[INF, 5.0], [2.0, INF]]
    nan = np.array([[np.nan, 0.0], [2.0, np.nan]])
    assert from_dense(nan, sr.min_plus, absent=float("nan")).array.tolist() == [[INF, 0.0], [2.0, INF]]
    named = from_dense([[-1, 5], [0, -1]], sr.max_plus, absent=-1, dtype="f4", names=["x", "y"])
    assert named["x", "y"] == 5.0 and named["y", "x"] == 0.0 and named["x", "x"] == -INF
    assert from_dense([[0, 5], [2, 0]], sr.boolean).array.tolist() == [[False, True], [True, False]]
    objects = np.array([[None, sr.letter("x")], [None, None]], dtype=object)
    assert from_dense(objects, sr.regex, absent=None)[0, 1] == sr.letter("x")
    records = np.array([[(0, 0), (2, 1)], [(0, 0), (0, 0)]], dtype=sr.shortest_count.default_dtype)
    assert from_dense(records, sr.shortest_count, absent=(0, 0))[0, 1].tolist() == (2.0, 1.0)
    data = np.array([[0.0, 1.0], [0.0, 0.0]])
    from_dense(data, sr.min_plus)
    assert data.tolist() == [[0.0, 1.0], [0.0, 0.0]]
    with refused("entry (1, 0): the weight is NaN"):
        from_dense(np.array([[0.0, 1.0], [np.nan, 0.0]]), sr.min_plus)
    with refused("entry (0, 1): the weight 2.5 does not fit int64"):
        from_dense([[0, 2.5], [0, 0]], sr.min_plus, dtype=int)
    with refused("a matrix of edges must be square, but this array has shape (2, 3)"):
        from_dense(np.zeros((2, 3)), sr.min_plus)


def test_rows_that_are_too_many(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 48 * 2**21)
    require_rows(2**20)  # of few rows nothing is asked
    require_rows(2**21)
    with refused("2097153 sparse rows needs 96.0 MiB of memory and 96.0 MiB is available: if the", sr.SemiringError):
        require_rows(2**21 + 1)
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    require_rows(2**31 - 1)
    with refused("sparse matrices have up to 2147483647 rows, but the graph has 2147483648 vertices"):
        require_rows(2**31)


def test_entries_that_mean_no_edge():
    dense = np.array([[1.0, 2.0], [3.0, INF]])
    for absent, expected in ((2, [[1, INF], [3, INF]]), (INF, [[1, 2], [3, INF]]), (99, [[1, 2], [3, INF]])):
        assert from_dense(dense, sr.min_plus, absent=absent).array.tolist() == expected
    assert from_dense(dense, sr.max_plus, absent=INF)[1, 1] == -INF
    masked = np.ma.array([[7.0, np.nan], [0.0, 5.0]], mask=[[True, True], [False, False]])
    assert from_dense(masked, sr.min_plus).array.tolist() == [[INF, INF], [INF, 5.0]]
    for wrong, message in (
        ([["a", "b"], ["c", "d"]], "the entries are <U1, which are not numbers"), ([1, 2], "this array has shape (2,)"),
        ([[1, 2], [3]], "this is not a matrix:"),
        (np.array([[1, "x"], [0, 0]], object), "entry (0, 1): the weight 'x' is not a number"),
        ([[0, 0], [0.5, 3]], "entry (1, 1): the weight 3 is outside the carrier of viterbi"),
    ):
        with refused(message):
            from_dense(wrong, sr.viterbi)


def test_a_default_where_edges_have_no_weight():
    assert adjacency([(0, 1)], sr.min_plus, default=7)[0, 1] == 7
    assert adjacency([(0, 1)], sr.min_plus, default=2.5, dtype="f4").dtype == np.float32
    for default, message in (
        (np.nan, "default: the weight nan is outside the carrier"), ("x", "default: the weight 'x' is not a number"),
        (-1, "default: the weight -1 is outside the carrier of viterbi"),
    ):
        with refused(message):
            adjacency([(0, 1)], sr.viterbi, default=default)
