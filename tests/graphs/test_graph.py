"""Edges of every make as graphs and matrices."""

from __future__ import annotations

import os
import random
import re
from fractions import Fraction

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.graphs.adjacency import adjacency, from_dense
from semiring.graphs.graph import Graph, as_graph
from semiring.graphs.matrix import Matrix
from semiring.machine import memory

INF = np.inf
EDGES = [("a", "b", 4.0), ("b", "c", 0.0), ("a", "b", 3.0), ("c", "c", 1.5)]


def listed(graph: Graph) -> list[tuple]:
    """The edges of a graph as tuples."""
    name = (lambda v: int(v)) if graph.names is None else (lambda v: graph.names[v])
    weights = [None] * len(graph) if graph.weights is None else graph.weights.tolist()
    return [(name(a), name(b), w) for a, b, w in zip(graph.sources, graph.targets, weights, strict=True)]


def refused(message: str, error: type[Exception] = sr.GraphError) -> pytest.RaisesExc:
    return pytest.raises(error, match=re.escape(message))


# What edges may be


def test_tuples_with_names_are_numbered_in_order_of_appearance():
    graph = as_graph(EDGES)
    assert graph.names == ["a", "b", "c"] and graph.n == 3 and len(graph) == 4
    assert listed(graph) == EDGES
    assert graph.sources.dtype == graph.targets.dtype == np.int64


def test_integers_are_positions():
    graph = as_graph([(0, 5), (2, 1)])
    assert (graph.n, graph.names, graph.weights) == (6, None, None)
    assert as_graph([(0, 5), (2, 1)], 9).n == 9


def test_vertices_may_be_any_hashable():
    edges = [((0, 1), frozenset("x"), 1), (3, "3", 2), ("3", (0, 1), 3)]
    graph = as_graph(edges)
    assert graph.names == [(0, 1), frozenset("x"), 3, "3"]
    assert listed(graph) == edges


@pytest.mark.parametrize(
    "edges",
    [
        [(0, 1, 2.5), (1, 2, 0.0)],
        ((0, 1, 2.5), (1, 2, 0.0)),
        iter([(0, 1, 2.5), (1, 2, 0.0)]),
        [[0, 1, 2.5], np.array([1, 2, 0.0])],
        np.array([[0, 1, 2.5], [1, 2, 0.0]]),
        (np.array([0, 1]), np.array([1, 2]), np.array([2.5, 0.0])),
        (np.array([0, 1], np.uint8), [1, 2], [2.5, 0.0]),
        (pd.Series([0, 1]), pd.Series([1, 2]), pd.Series([2.5, 0.0])),
        np.array([(0, 1, 2.5), (1, 2, 0.0)], dtype=[("x", "i4"), ("y", "u8"), ("z", "f8")]),
        pd.DataFrame({"weight": [2.5, 0.0], "to": [1, 2], "from": [0, 1]}),
        pd.DataFrame({"km": [2.5, 0.0], "Source": [0, 1], "Target": [1, 2]}),
        pd.DataFrame([[0, 1, 2.5], [1, 2, 0.0]]),
        sp.coo_array(([2.5, 0.0], ([0, 1], [1, 2])), shape=(3, 3)),
    ],
)
def test_every_make_of_the_same_edges(edges):
    graph = as_graph(edges)
    assert listed(graph) == [(0, 1, 2.5), (1, 2, 0.0)]
    assert (graph.n, graph.names, graph.directed) == (3, None, True)
    assert graph.weights.dtype == np.float64


@pytest.mark.parametrize("edges", [[], np.empty((0, 3)), (np.array([], int), np.array([], int)), nx.DiGraph()])
def test_no_edges(edges):
    assert as_graph(edges).n == 0
    M = adjacency(edges, sr.min_plus, 2 if not isinstance(edges, nx.Graph) else None)
    assert M.shape == ((0, 0) if isinstance(edges, nx.Graph) else (2, 2))
    assert np.isposinf(M.array).all()


@pytest.mark.parametrize("container", [sp.coo_matrix, sp.coo_array])
@pytest.mark.parametrize("format", ["coo", "csr", "csc", "lil", "dok"])
def test_sparse_entries_are_edges_also_where_they_are_zero(format, container):
    data = np.array([0.0, 7.0, 2.0])
    matrix = container((data, ([2, 0, 1], [0, 1, 1])), shape=(4, 4)).asformat(format)
    M = adjacency(matrix, sr.min_plus)
    expected = np.full((4, 4), INF)
    expected[2, 0], expected[0, 1], expected[1, 1] = 0.0, 7.0, 2.0
    np.testing.assert_array_equal(M, expected)


def test_sparse_duplicates_combine_with_plus_and_indices_may_be_int64_and_unsorted():
    indices = np.array([2, 0, 2, 1]), np.array([0, 3, 2, 3])  # row 0 lists column 2 twice, around column 0
    matrix = sp.csr_array((np.array([5.0, 1.0, 3.0, 2.0]), indices[0], np.array([0, 3, 4, 4])), shape=(3, 3))
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    assert not matrix.has_sorted_indices
    before = matrix.data.copy(), matrix.indices.copy()
    expected = [[1.0, INF, 3.0], [INF, 2.0, INF], [INF, INF, INF]]
    assert adjacency(matrix, sr.min_plus).array.tolist() == expected
    assert adjacency(matrix, sr.plus_times).array.tolist() == [
        [1.0, 0.0, 8.0],
        [0.0, 2.0, 0.0],
        [0.0, 0.0, 0.0],
    ]
    np.testing.assert_array_equal(matrix.data, before[0])
    np.testing.assert_array_equal(matrix.indices, before[1])


@pytest.mark.parametrize("format", ["bsr", "dia"])
def test_padding_of_blocks_and_diagonals_is_no_edge(format):
    dense = np.array([[1.0, 0.0], [3.0, 4.0]])
    expected = [[1.0, INF], [3.0, 4.0]]
    assert adjacency(sp.csr_array(dense).asformat(format), sr.min_plus).array.tolist() == expected


def test_sparse_bool_is_a_pattern():
    pattern = sp.csr_array(np.array([[False, True], [False, False]]))
    assert as_graph(pattern).weights is None
    assert adjacency(pattern, sr.min_plus).array.tolist() == [[INF, 1.0], [INF, INF]]


def test_networkx_keeps_names_direction_and_isolated_nodes():
    G = nx.DiGraph()
    G.add_node("z")
    G.add_edge("a", "b", weight=2, km=0.5)
    graph = as_graph(G)
    assert graph.names == ["z", "a", "b"] and listed(graph) == [("a", "b", 2)] and graph.directed
    assert listed(as_graph(G, weight="km")) == [("a", "b", 0.5)]
    assert as_graph(G, weight=None).weights is None
    assert not as_graph(nx.Graph(G)).directed
    M = adjacency(nx.Graph(G), sr.min_plus)
    assert M["a", "b"] == M["b", "a"] == 2 and (M["z"] == sr.min_plus.zero_in(M.dtype)).all()


def test_networkx_integer_nodes():
    G = nx.Graph([(2, 0), (0, 1)])
    assert as_graph(G).names is None and as_graph(G).n == 3
    assert listed(as_graph(G)) == [(2, 0, None), (0, 1, None)]
    H = nx.DiGraph([(7, 5)])
    assert as_graph(H).names == [7, 5]
    assert as_graph(H, 10).names is None and as_graph(H, 10).n == 10
    assert list(as_graph(nx.path_graph(3, create_using=nx.DiGraph)).targets) == [1, 2]


def test_networkx_multigraph_combines_parallel_edges():
    G = nx.MultiDiGraph()
    G.add_weighted_edges_from([("a", "b", 5.0), ("a", "b", 2.0), ("b", "a", 1.0)])
    assert adjacency(G, sr.min_plus)["a", "b"] == 2.0
    assert adjacency(G, sr.plus_times)["a", "b"] == 7.0


def test_networkx_edges_that_lack_the_attribute():
    G = nx.DiGraph()
    G.add_edge("a", "b", weight=5)
    G.add_edge("b", "c")
    assert listed(as_graph(G)) == [("a", "b", 5), ("b", "c", 1)]
    assert listed(as_graph(G, default=9)) == [("a", "b", 5), ("b", "c", 9)]
    assert adjacency(nx.DiGraph([("a", "b")]), sr.min_plus, default=3)["a", "b"] == 3
    G["a"]["b"]["weight"] = (1.0, 1)
    with refused("edge 1 ('b' → 'c') has no 'weight' and others do: give default="):
        as_graph(G)
    with refused("no edge has the attribute 'wieght'; did you mean 'weight'?"):
        as_graph(G, weight="wieght")


def test_data_frames():
    frame = pd.DataFrame({"from": ["x", "y"], "to": ["y", "z"], "km": [1, 2], "lanes": [2, 4]})
    assert listed(as_graph(frame, weight="lanes")) == [("x", "y", 2), ("y", "z", 4)]
    assert as_graph(frame, weight=None).weights is None
    assert listed(as_graph(frame[["from", "to"]])) == [("x", "y", None), ("y", "z", None)]
    with refused("which of the columns ['km', 'lanes'] is the weight? Pass weight='km', say, or weight=None"):
        as_graph(frame)
    with refused("no column is called 'lane'; did you mean 'lanes'?"):
        as_graph(frame, weight="lane")
    with refused("a table of edges has two columns or more, this one has ['from']"):
        as_graph(frame[["from"]])
    with refused("edge 1: the target vertex is missing"):
        as_graph(pd.DataFrame({"from": ["x", "y"], "to": ["y", None]}))
    nullable = pd.DataFrame({"from": [0, 1], "to": [1, pd.NA]}, dtype="Int64")
    with refused("edge 1: target vertex nan is not an integer"):
        as_graph(nullable)
    assert listed(as_graph(nullable[:1])) == [(0, 1, None)]


def test_names_given():
    assert listed(as_graph([(0, 1)], names=["x", "y", "z"])) == [("x", "y", None)]
    graph = as_graph([(30, 10)], names=[10, 20, 30])
    assert list(graph.sources) == [2] and graph.n == 3
    assert list(as_graph([("y", "x")], names=("x", "y")).sources) == [1]
    with refused("edge 0: source vertex 'yy' is not among the names; did you mean 'y'?"):
        as_graph([("yy", "x")], names=["x", "y"])
    with refused("two vertices are called 'x' (the second is number 1)"):
        as_graph([(0, 1)], names=["x", "x"])
    with refused("n = 3 and 2 names"):
        as_graph([(0, 1)], 3, names=["x", "y"])
    with refused("n = 3 and the edges name 2 vertices"):
        as_graph([("x", "y")], 3)
    with refused("edge 0: target vertex 2 is outside 0 to 1"):
        as_graph([(0, 2)], names=["x", "y"])


def test_a_graph_is_taken_as_it_is():
    graph = as_graph(EDGES)
    same = as_graph(graph)
    assert same.sources is graph.sources and same.weights is graph.weights
    assert as_graph(graph, weight=None).weights is None
    assert not as_graph(graph, directed=False).directed
    assert as_graph(as_graph([(0, 1)]), 5).n == 5
    assert list(as_graph(graph, names=["c", "b", "a"]).sources) == [2, 1, 2, 0]


def test_compact_closes_gaps_and_keeps_names():
    graph = as_graph([(900, 7, 1.0), (7, 900, 2.0)]).compact()
    assert (graph.n, graph.names) == (2, [7, 900]) and listed(graph) == [(900, 7, 1.0), (7, 900, 2.0)]
    assert as_graph([(0, 1)], 5).compact().names is None
    named = as_graph([("b", "d")], names=["a", "b", "c", "d"]).compact()
    assert named.names == ["b", "d"] and listed(named) == [("b", "d", None)]
    full = as_graph(EDGES)
    assert full.compact() is full


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([(0, 1), (1, -2)], "edge 1: target vertex -2 is negative; integer vertices count from 0"),
        ([(0, 1.5)], "edge 0: target vertex 1.5 is not an integer"),
        ([(0, 1), (np.nan, 1)], "edge 1: source vertex nan is not an integer"),
        (np.array([[0, 1.0], [INF, 0], [0, 0]]), "edge 1: source vertex inf is not an integer"),
        ([(0, 2**70)], "edge 0: target vertex 1180591620717411303424 does not fit 64 bits"),
        (
            (np.array([0], np.uint64), np.array([2**63], np.uint64)),
            "edge 0: target vertex 9223372036854775808",
        ),
        ([("a", "b"), ("a", float("nan"))], "edge 1: the target vertex is missing (nan)"),
        ([("a", "b"), (None, "b")], "edge 1: the source vertex is missing (None)"),
        ([("a", ["b"])], "edge 0: target vertex ['b'] is not hashable"),
        ([("a", ("b", []))], "edge 0: target vertex ('b', []) is not hashable"),
        ([(0, True)], "edge 0: target vertex True is a truth value"),
        (
            [(0, 1, 2.0), (1, 2)],
            "edge 1 has 2 entries, (1, 2), and edge 0 has 3: give every edge a weight or none",
        ),
        ([(0, 1, 2, 3)], "edge 0 is (0, 1, 2, 3): an edge is (from, to) or (from, to, weight)"),
        ([(0, 1), 5], "edge 1 is 5: an edge is (from, to)"),
        (["ab"], "edge 0 is 'ab': an edge is (from, to)"),
        ([{0, 1}], "edge 0 is {0, 1}: an edge is (from, to)"),
        ([(0, 1, 2.0), (1, 2, float("nan"))], "edge 1 (1 → 2): the weight is NaN"),
        (
            [("a", "b", None)],
            "edge 0 ('a' → 'b'): the weight is None; leave the edge out, or give it a weight",
        ),
        ((np.array([0, 1]), np.array([1])), "2 sources, 1 targets: an edge needs one of each"),
        (
            (np.array([0]), np.array([1]), np.ones(2)),
            "1 sources, 1 targets, 2 weights: an edge needs one of each",
        ),
        ((np.array([0]), np.array([1]), np.ones((1, 2))), "weights of shape (1, 2): give one for each edge"),
        ((np.array([[0]]), np.array([1])), "the source vertices have shape (1, 1)"),
        (([0, 1], [1, 2]), "a tuple of lists could be columns or edges: give columns as NumPy arrays"),
        (
            np.zeros((4, 4)),
            "an array of shape (4, 4): edges are (m, 2) or (m, 3), one a row; for a dense matrix",
        ),
        (sp.coo_array((2, 3)), "a graph's matrix is square, this sparse one has shape (2, 3)"),
        ({(0, 1): 2.0}, "edges in a dict: give [(a, b, w) for (a, b), w in edges.items()]"),
        ("roads.csv", "str is not a set of edges"),
        (7, "int is not a set of edges: give tuples (from, to, weight)"),
    ],
)
def test_edges_that_are_refused(edges, message):
    with refused(message):
        as_graph(edges)


def test_n_that_is_refused():
    with refused("edge 1: source vertex 5 is outside 0 to 3; pass n = 6 or more"):
        as_graph([(0, 1), (5, 1)], 4)
    with refused("n = -1: a graph has no negative number of vertices"):
        as_graph([], -1)
    with refused("outside of a graph without vertices"):
        as_graph([(0, 0)], 0)


def test_repr_of_a_graph():
    assert repr(as_graph(EDGES, directed=False)) == (
        "Graph(3 vertices, 4 edges, undirected, weights float64, names 'a', 'b', 'c')"
    )
    assert repr(as_graph([(0, 0)])) == "Graph(1 vertex, 1 edge, directed, no weights)"
    assert repr(as_graph([("abcd", "x" * 99), (1, 2)])).endswith("names 'abcd', 'xxxxxxxxxxxxxx…, 1, …)")


def test_index():
    graph = as_graph([("Duluth", "Rochester"), ("Rochester", "3")])
    assert graph.index("Rochester") == 1
    with refused("no vertex is called 'Rochster'; did you mean 'Rochester'?"):
        graph.index("Rochster")
    with refused("no vertex is called 3; did you mean '3'?"):
        graph.index(3)
    with refused("no vertex is called ['Duluth']"):
        graph.index(["Duluth"])
    plain = as_graph([(0, 2)])
    assert plain.index(np.int32(2)) == 2
    with refused("vertex 3: the vertices have no names, they are the integers 0 to 2"):
        plain.index(3)
    with refused("vertex -1: the vertices have no names"):
        plain.index(-1)
    with refused("vertex 'a': the vertices have no names"):
        plain.index("a")
    with refused("vertex 0x"):  # Python writes no integer of so many digits in full
        plain.index(10**5000)
    with refused("no vertex is called 0x"):
        graph.index(10**5000)
    for truth in (True, False, np.True_):
        with refused(f"vertex {bool(truth)}: the vertices have no names, they are the integers 0 to 2"):
            plain.index(truth)
        with refused(f"no vertex is called {bool(truth)}"):
            sr.as_graph([(0, 1)], names=[1, 0]).index(truth)
    assert Matrix(np.eye(2), sr.min_plus, [True, False]).index(True) == 0
    with refused("vertex 0: the graph has no vertices"):
        as_graph([]).index(0)


# Matrices of graphs


def test_adjacency_of_named_edges():
    M = adjacency(EDGES, sr.min_plus)
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


@pytest.mark.parametrize(
    ("edges", "S", "options", "dtype"),
    [
        ([(0, 1, 2)], sr.min_plus, {}, np.int64),
        ([(0, 1, 2.0)], sr.min_plus, {}, np.float64),
        ([(0, 1, 2.0)], sr.min_plus, {"dtype": np.int16}, np.int16),
        ([(0, 1, 2.5)], sr.min_plus, {"dtype": "f4"}, np.float32),
        ((np.array([0]), np.array([1]), np.array([3], np.uint8)), sr.max_min, {}, np.uint8),
        ([(0, 1, 2)], sr.plus_times, {}, np.float64),  # plus-times does not live in integers
        ([(0, 1)], sr.min_plus, {}, np.float64),
        ([(0, 1)], sr.min_plus, {"dtype": np.int8}, np.int8),
        ([(0, 1, 6)], sr.bitset_may, {}, np.uint64),
        ([(0, 1, True)], sr.boolean, {}, bool),
        ([(0, 1, 3)], sr.boolean, {}, bool),
        ([(0, 1, 1.0)], sr.boolean, {"dtype": np.uint8}, np.uint8),
        ([(0, 1, Fraction(1, 3))], sr.min_plus, {}, object),
        ([(0, 1, Fraction(1, 4))], sr.min_plus, {"dtype": float}, np.float64),
        ([(0, 1, 2**80)], sr.min_plus, {}, object),
    ],
)
def test_dtype(edges, S, options, dtype):
    M = adjacency(edges, S, **options)
    assert M.dtype == dtype
    expected = edges[0][2] if isinstance(edges, list) and len(edges[0]) == 3 else None
    if expected is not None and dtype is not bool:
        assert M[0, 1] == expected
    assert M[0, 0] == S.zero_in(M.dtype)


def test_any_number_is_an_edge_in_the_boolean_algebra_and_false_is_none():
    M = adjacency([(0, 1, 0.0), (1, 2, 3.25)], sr.boolean)
    assert M.array.tolist() == [[False, True, False], [False, False, True], [False, False, False]]
    assert not adjacency([(0, 1, False)], sr.boolean)[0, 1]


def test_numbers_in_the_two_element_field_stay_what_they_are():
    M = adjacency([(0, 1, 0), (1, 0, 1), (1, 1, 1), (1, 1, 1)], sr.gf2, dtype=bool)
    assert M.array.tolist() == [[False, False], [True, False]]
    with refused("edge 0 (0 → 1): the weight 2 does not fit bool"):
        adjacency([(0, 1, 2)], sr.gf2, dtype=bool)


@pytest.mark.parametrize(
    ("S", "value"),
    [(sr.min_plus, 1.0), (sr.max_min, 1.0), (sr.boolean, True), (sr.viterbi, 1.0), (sr.counting, 1.0)],
)
def test_an_edge_without_weight_counts_one(S, value):
    M = adjacency([(0, 1)], S)
    assert M[0, 1] == value and M[1, 0] == S.zero_in(M.dtype)


def test_an_edge_without_weight_that_has_no_natural_one():
    with refused("the edges have no weights, and shortest-hops has no natural one: give default="):
        adjacency([(0, 1)], sr.shortest_hops)
    with refused("the edges have no weights, and regex has no natural one"):
        adjacency([(0, 1)], sr.regex)
    with refused("in saturating-min-plus(1) on uint64 the weight 1 means no edge: give default="):
        adjacency([(0, 1)], sr.saturating_min_plus(1))
    assert adjacency([(0, 1)], sr.shortest_hops, default=(1.0, 1))[0, 1].tolist() == (1.0, 1.0)
    assert adjacency([(0, 1)], sr.regex, default=sr.letter("x"))[0, 1] == sr.letter("x")


@pytest.mark.parametrize(
    ("weight", "dtype", "message"),
    [
        (300, "u1", "edge 0 (0 → 1): the weight 300 does not fit uint8: pass another dtype"),
        (-1, "u8", "the weight -1 does not fit uint64"),
        (2.5, "i4", "the weight 2.5 does not fit int32"),
        (INF, "i4", "the weight inf does not fit int32"),
        (2.0**63, "i8", "the weight 9.223372036854776e+18 does not fit int64"),
        (2**80, "i8", "the weight 1208925819614629174706176 does not fit int64"),
        (1e300, "f4", "the weight 1e+300 does not fit float32"),
        (1 + 2j, "f8", "the weight (1+2j) does not fit float64"),
        (1 + 0j, "i8", None),
        (Fraction(1, 3), "i8", "does not fit int64"),
        ("3", "f8", "edge 0 (0 → 1): the weight '3' is not a number"),
    ],
)
def test_weights_that_do_not_fit(weight, dtype, message):
    if message is None:
        with refused("the weight (1+0j) does not fit int64"):
            adjacency([(0, 1, weight)], sr.min_plus, dtype=dtype)
        return
    with refused(message):
        adjacency([(0, 1, weight)], sr.min_plus, dtype=dtype)


def test_rounding_and_limits_that_fit():
    assert adjacency([(0, 1, 0.1)], sr.min_plus, dtype="f4")[0, 1] == np.float32(0.1)
    assert adjacency([(0, 1, INF)], sr.max_min, dtype="f4")[0, 1] == INF
    assert adjacency([(0, 1, 1 + 0j)], sr.min_plus, dtype="f8")[0, 1] == 1.0
    assert adjacency([(0, 1, -128.0)], sr.max_min, dtype="i1")[0, 1] == -128
    weights = np.array([2**63 + 1], np.uint64)
    assert adjacency((np.array([0]), np.array([1]), weights), sr.max_min)[0, 1] == 2**63 + 1


def test_records():
    S = sr.shortest_count
    tuples = adjacency([("a", "b", (2.0, 1)), ("a", "b", (2.0, 4)), ("a", "b", (3.0, 9))], S)
    assert tuples["a", "b"].tolist() == (2.0, 5.0) and tuples["b", "a"].tolist() == (INF, 0.0)
    records = np.array([(1, 2.0), (4, 2.0)], dtype=[("count", "i4"), ("dist", "f4")])
    M = adjacency((np.array([0, 0]), np.array([1, 1]), records), S)
    assert M[0, 1]["dist"] == 2.0 and M[0, 1]["count"] == 5
    assert M.dtype["dist"] == np.float32 and M.dtype["count"] == np.int32
    with refused("edge 1 (1 → 0): the weight is 3.0, and an element of shortest-count is a tuple (dist, count)"):
        adjacency([(0, 1, (1.0, 1)), (1, 0, 3.0)], S)
    with refused("edge 0 (0 → 1): the weight is (1.0, 1, 2), and an element of shortest-count is a tuple"):
        adjacency([(0, 1, (1.0, 1, 2))], S)
    with refused("weights are numbers (float64), and an element of shortest-count is a tuple (dist, count)"):
        adjacency([(0, 1, 1.0)], S)
    with refused("weights have the components (x), and an element of shortest-count is a tuple (dist, count)"):
        adjacency((np.array([0]), np.array([1]), np.zeros(1, [("x", "f8")])), S)
    with refused("edge 0 (0 → 1): the weight, component 'count', is NaN"):
        adjacency([(0, 1, (1.0, np.nan))], S)
    with refused("edge 0 (0 → 1): component 'count' of the weight is 'x', not a number"):
        adjacency([(0, 1, (1.0, "x"))], S)
    with refused("edge 0 (0 → 1): the weight 1.5 does not fit int32"):
        adjacency([(0, 1, (1.0, 1.5))], S, dtype=[("dist", "f8"), ("count", "i4")])
    with refused("weights are records (dist, count) and the elements of min-plus are numbers"):
        adjacency((np.array([0]), np.array([1]), np.zeros(1, S.default_dtype)), sr.min_plus)


def test_objects():
    x, y = sr.letter("x"), sr.letter("y")
    M = adjacency([("p", "q", x), ("p", "q", y), ("q", "p", x)], sr.regex)
    assert M.dtype == object and str(M["p", "q"]) == "x|y" and M["p", "p"] == sr.regex.zero
    points = frozenset({(1.0, 2.0)})
    N = adjacency([(0, 1, points)], sr.pareto)
    assert N[0, 1] == points and N[1, 0] == frozenset()


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


@settings(max_examples=40, deadline=None)
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


def test_order_of_keys_too_wide_to_pack():
    from semiring.graphs.adjacency import stable_order

    keys = np.array([2**62, 5, 2**62, 0, 5])
    np.testing.assert_array_equal(stable_order(keys, 2**62 + 1), [3, 1, 4, 0, 2])
    np.testing.assert_array_equal(stable_order(keys % 7, 7), np.argsort(keys % 7, kind="stable"))


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


# Dense data


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
    with refused("a matrix of edges is square, this array has shape (2, 3)"):
        from_dense(np.zeros((2, 3)), sr.min_plus)


# The matrix as an object


def test_elements_rows_and_columns_by_name():
    M = adjacency(EDGES, sr.min_plus)
    assert M["a", "b"] == 3.0 and M["a"].tolist() == [INF, 3.0, INF] and M[:, "c"].tolist() == [INF, 0.0, 1.5]
    assert M["a", :].tolist() == M["a"].tolist() and len(M) == 3 and [r.tolist() for r in M] == M.array.tolist()
    with refused("no vertex is called 'd'"):
        M["a", "d"]
    with refused("no vertex is called 0"):
        M[0, 1]
    with refused("a row, or a row and a column, not 3 vertices"):
        M["a", "b", "c"]
    plain = Matrix(np.arange(4).reshape(2, 2), sr.min_plus)
    assert plain[1, 0] == 2 and plain[1].tolist() == [2, 3]
    with refused("vertex 2: the vertices have no names, they are the integers 0 to 1"):
        plain[2]


def test_a_tuple_that_is_a_name_selects_a_row():
    M = adjacency([((0, 0), (0, 1), 2.0)], sr.min_plus)
    assert M[(0, 0)].tolist() == [INF, 2.0] and M[(0, 0), (0, 1)] == 2.0


def test_numpy_takes_a_matrix_as_an_array():
    M = adjacency([(0, 1, 2.0)], sr.min_plus)
    assert np.asarray(M) is M.array
    assert np.array(M) is not M.array
    assert np.asarray(M, dtype="f4").dtype == np.float32
    assert np.array(M, copy=False) is M.array
    with pytest.raises(ValueError, match="copy"):
        np.array(M, dtype="f4", copy=False)
    assert np.minimum(M, 1.0).tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_a_matrix_is_square_with_a_name_for_each_vertex():
    with refused("a matrix over vertices is square, this array has shape (2, 3)"):
        Matrix(np.zeros((2, 3)), sr.min_plus)
    with refused("1 names for 2 vertices: give one for each"):
        Matrix(np.zeros((2, 2)), sr.min_plus, ["a"])


def test_repr_of_a_matrix():
    array = np.array([[0.0, 2.5, -INF], [INF, 0.0, 1 / 3], [INF, INF, 1e6]])
    assert repr(Matrix(array, sr.min_plus, ["a", "bb", "c"])).splitlines() == [
        "Matrix 3 × 3 over min-plus, float64",
        "    a   bb         c",
        " a  0  2.5        -∞",
        "bb  ·    0  0.333333",
        " c  ·    ·     1e+06",
    ]
    assert repr(Matrix(np.array([[INF]]), sr.max_min)).splitlines()[-1] == "0  ∞"
    assert repr(Matrix(np.array([[True, False]] * 2), sr.boolean)).splitlines()[-1] == "1  1  ·"
    assert repr(Matrix(np.zeros((0, 0)), sr.min_plus)) == "Matrix 0 × 0 over min-plus, float64"
    integers = adjacency([(0, 1, 5)], sr.min_plus)
    assert repr(integers).splitlines()[1:] == ["   0  1", "0  ·  5", "1  ·  ·"]


def test_repr_of_large_matrices_records_and_long_texts():
    lines = repr(Matrix(np.zeros((300, 300)), sr.min_plus)).splitlines()
    assert len(lines) == 13
    assert lines[1].split() == [*"01234", "…", *map(str, range(295, 300))]
    assert lines[7].split() == ["…"] * 12
    M = adjacency([("a", "b", (2.0, 3))], sr.shortest_count)
    assert repr(M).splitlines()[0] == "Matrix 2 × 2 over shortest-count, (dist float64, count float64)"
    assert "(2, 3)" in repr(M)
    long = adjacency([("n" * 40, "b", frozenset({(1.0, 2.0), (2.0, 1.0)}))], sr.pareto)
    assert max(map(len, repr(long).splitlines()[1:])) <= 3 * 16 + 4
    assert re.search(r"frozenset\(\{\([12]\.0…", repr(long))


def test_html_of_a_matrix_is_the_same_table_escaped():
    page = adjacency([("<a>", "b", 2.0)], sr.min_plus)._repr_html_()
    assert page.count("<tr>") == 3 and "<th>&lt;a&gt;</th><td>·</td><td>2</td>" in page and "<a>" not in page
    assert "<caption>Matrix 2 × 2 over min-plus, float64</caption>" in page


# Memory


def test_available_bytes_of_this_machine():
    available = memory.available_bytes()
    assert available is None or 0 < available < 2**60


def test_available_bytes_is_the_least_of_kernel_and_control_groups(tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemTotal: 900 kB\nMemAvailable: 700 kB\n")
    (tmp_path / "cgroup").write_text("5:cpu:/x\n0::/job/step\n4:memory:/v1\n")
    groups = tmp_path / "groups"
    for folder, limit in (("job", "500000"), ("job/step", "max")):
        (groups / folder).mkdir(parents=True)
        (groups / folder / "memory.max").write_text(limit + "\n")
        (groups / folder / "memory.current").write_text("300000\n")
        (groups / folder / "memory.stat").write_text("anon 5\ninactive_file 50000\n")
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "OWN_CGROUP", tmp_path / "cgroup")
    monkeypatch.setattr(memory, "CGROUPS", groups)
    assert memory.available_bytes() == 250_000
    (groups / "job" / "memory.max").write_text("max\n")
    assert memory.available_bytes() == 700 * 1024
    (groups / "memory" / "v1").mkdir(parents=True)
    (groups / "memory" / "memory.limit_in_bytes").write_text("1000")
    (groups / "memory" / "memory.usage_in_bytes").write_text("4000")
    (groups / "memory" / "memory.stat").write_text("inactive_file 7000\ntotal_inactive_file 20\n")
    assert memory.available_bytes() == 0


def test_a_system_that_counts_no_free_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "none")
    monkeypatch.setattr(memory, "OWN_CGROUP", tmp_path / "none")
    monkeypatch.setattr(os, "sysconf_names", {"SC_PHYS_PAGES": 1, "SC_PAGE_SIZE": 2})
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 100, "SC_PAGE_SIZE": 4096}.__getitem__)
    assert memory.available_bytes() == 409_600
    monkeypatch.setattr(os, "sysconf_names", {})
    assert memory.available_bytes() is None
    memory.require(10**30, "anything")  # nothing is known, so nothing is refused


def test_require(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 2048)
    memory.require(2048, "an answer")
    message = "an answer needs 2.0 KiB of memory and 2.0 KiB is available: use a narrower dtype or fewer vertices"
    with refused(message, sr.SemiringError):
        memory.require(2049, "an answer")
    assert [memory.in_words(b) for b in (0, 1023, 1024, 3 * 2**39)] == [
        "0 bytes",
        "1023 bytes",
        "1.0 KiB",
        "1.5 TiB",
    ]
