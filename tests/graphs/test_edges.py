"""What edges may be: tuples, columns, sparse matrices, NetworkX graphs and data frames, and what is refused."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from graphs.listing import NAMED, listed, refused
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.graphs.adjacency import adjacency
from semiring.graphs.columns import table_columns
from semiring.graphs.edges import bad_vertex
from semiring.graphs.graph import as_graph

INF = np.inf


def test_tuples_with_names_are_numbered_in_order_of_appearance():
    graph = as_graph(NAMED)
    assert graph.names == ["a", "b", "c"] and graph.n == 3 and len(graph) == 4
    assert listed(graph) == NAMED
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
    assert M["a", "b"] == M["b", "a"] == 2 and np.isposinf(M["z"]).all()


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
    with refused("edge 1 ('b' → 'c') has no 'weight' and others do: pass default="):
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
    with refused("a table of edges needs two columns or more, but this one has ['from']"):
        as_graph(frame[["from"]])
    with refused("edge 1: the target vertex is missing"):
        as_graph(pd.DataFrame({"from": ["x", "y"], "to": ["y", None]}))
    nullable = pd.DataFrame({"from": [0, 1], "to": [1, pd.NA]}, dtype="Int64")
    with refused("edge 1: target vertex nan is not an integer"):
        as_graph(nullable)
    assert listed(as_graph(nullable[:1])) == [(0, 1, None)]


@pytest.mark.parametrize("kind", [int, float, np.float64, np.int32])
@pytest.mark.parametrize("names", [[2, 0, 1], [2.0, 0.0, 1.0], np.array([2.0, 0.0, 1.0])])
def test_whole_floats_are_names_like_the_integers_that_they_equal(kind, names):
    for edges in ([(kind(2), kind(1))], np.array([[2, 1]], kind)):
        graph = as_graph(edges, names=names)
        assert (graph.sources.tolist(), graph.targets.tolist(), graph.names) == ([0], [2], [2, 0, 1])


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


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([(0, 1), (1, -2)], "edge 1: target vertex -2 is negative, but integer vertices count from 0"),
        ([(0, 1.5)], "edge 0: target vertex 1.5 is not an integer"),
        ([(0, 1), (np.nan, 1)], "edge 1: source vertex nan is not an integer"),
        (np.array([[0, 1.0], [INF, 0], [0, 0]]), "edge 1: source vertex inf is not an integer"),
        ([(0, 2**70)], "edge 0: target vertex 1180591620717411303424 does not fit 64 bits"),
        ([(0, 2**64)], "edge 0: target vertex 18446744073709551616 does not fit 64 bits: pass all vertices as texts"),
        ([(0, 10**5000)], "edge 0: target vertex 0x31e2080103651… does not fit 64 bits"),
        ([(2**63, -1)], "edge 0: target vertex -1 is negative, but integer vertices count from 0: list all vertices in "
                        "names= to call them by any integers"),
        (np.array([[1.0, 1e19], [0, 2], [3, 4]]), "edge 0: target vertex 1e+19 is a float, and floats of this size"),
        ([("a", "b"), ("a", float("nan"))], "edge 1: the target vertex is missing (nan)"),
        ([("a", "b"), (None, "b")], "edge 1: the source vertex is missing (None)"),
        ([("a", "b"), ("a", np.datetime64("NaT"))], "edge 1: the target vertex is missing (np.datetime64('NaT'"),
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
        ((np.array([0]), np.array([1]), np.ones((1, 2))), "weights of shape (1, 2): pass one for each edge"),
        ((np.array([[0]]), np.array([1])), "the source vertices have shape (1, 1)"),
        (([0, 1], [1, 2]), "a tuple of lists could be columns or edges: pass columns as NumPy arrays"),
        (
            np.zeros((4, 4)),
            "an array of shape (4, 4): edges need shape (m, 2) or (m, 3), one per row; for a dense matrix",
        ),
        (sp.coo_array((2, 3)), "a graph's matrix must be square, but this sparse one has shape (2, 3)"),
        ({0: [1, 2]}, "edges in a dict are {from: {to: weight}} or {(from, to): weight}: pass lists of neighbours as"),
        ({"from": ["a"], "to": ["b"]}, "edges in a dict are {from: {to: weight}} or {(from, to): weight}"),
        ("roads.csv", "str is not a set of edges"),
        (7, "int is not a set of edges: pass tuples (from, to, weight)"),
    ],
)
def test_edges_that_are_refused(edges, message):
    with refused(message):
        as_graph(edges)


@pytest.mark.parametrize("side", [2, 3])
def test_an_array_that_could_be_a_matrix_or_edges_is_refused(side):
    array = np.zeros((side, side), int)
    message = f"an array of shape ({side}, {side}) could be {side} edges or a matrix of {side} vertices: pass edges as"
    with refused(message):
        sr.adjacency(array, sr.min_plus)
    assert len(sr.as_graph(tuple(array.T))) == side and sr.from_dense(array, sr.min_plus).n == side
    assert len(sr.as_graph(array.astype(str))) == side and len(sr.as_graph(array.tolist())) == side


@pytest.mark.parametrize(("header", "weight", "columns"), [
    (["from", "to"], "weight", (0, 1, None)), (["to", "from", "km"], "weight", (1, 0, 2)),
    (["km", " U ", "V"], "weight", (1, 2, 0)), (["a", "b"], "weight", (0, 1, None)),
    (["a", "b", "c"], "weight", (0, 1, 2)), (["weight", "a", "b"], "weight", (1, 2, 0)),
    (["a", "WEIGHT", "b"], "weight", (0, 2, 1)),
    (["a", "b", "weight", "km"], "weight", (0, 1, 2)), (["a", "b", "weight", "km"], "km", (0, 1, 3)),
    (["a", "b", "km"], None, (0, 1, None)), (["a", "weight", "b"], None, (0, 2, None)), ([0, 1, 2], 0, (1, 2, 0)),
    ([0, 1, 2, 3], 3, (0, 1, 3)), (["src", "dst", "source", "target", "x"], None, (2, 3, None)),
])
def test_which_columns_are_meant(header, weight, columns):
    assert table_columns(header, weight).taken == tuple(k for k in columns if k is not None)


@pytest.mark.parametrize(("header", "weight", "message"), [
    (["a"], None, "needs two columns or more, but this one has ['a']"),
    (["a", "weight"], "weight", "one is the weight, which leaves one for the two ends"),
    (["from", "to"], "to", "the column 'to' holds an end of the edges"),
    (["a", "b", "c", "d"], "weight", "which of the columns ['c', 'd'] is the weight? Pass weight='c', say"),
    (["a", "b", "km"], "mk", "no column is called 'mk'; did you mean 'km'?; the columns are ['a', 'b', 'km']"),
    ([0, 1, 2], 7, "no column is called 7"),
])
def test_columns_that_are_none(header, weight, message):
    with refused(message):
        table_columns(header, weight)


VERTEX = st.integers(0, 6) | st.sampled_from(["a", "b", (1, 2), None, 7.0])


@settings(max_examples=200)
@given(st.lists(st.tuples(VERTEX, VERTEX), min_size=1, max_size=8), st.booleans())
def test_ends_are_positions_or_names_in_order_of_appearance(edges, as_arrays):
    """As plain Python finds them."""
    given_ = edges
    if as_arrays:
        given_ = tuple(np.fromiter(column, object, len(edges)) for column in zip(*edges, strict=True))
    ends = [v for edge in edges for v in edge]
    if None in ends:
        with refused("vertex"):
            as_graph(given_)
        return
    graph = as_graph(given_)
    called = list(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))
    # A whole column of numbers is one of integers, also beside a column with names.
    whole = [all(isinstance(v, (int, float)) for v in column) for column in zip(*edges, strict=True)]
    if all(whole):
        assert graph.names is None and called == edges and graph.n == max(ends) + 1
    else:
        assert graph.names == list(dict.fromkeys(ends)) and graph.n == len(graph.names)
        assert [(graph.names[a], graph.names[b]) for a, b in called] == edges


def test_what_is_said_of_a_vertex_that_is_none():
    assert bad_vertex(3, "source", -2, 5) == (
        "edge 3: source vertex -2 is negative, but integer vertices count from 0: list all vertices in names= to call "
        "them by any integers, or pass them as texts (for a file names=str)")
    assert bad_vertex(0, "target", 5, 5) == "edge 0: target vertex 5 is outside 0 to 4; pass n = 6 or more"
    assert "outside of a graph without vertices" in bad_vertex(0, "target", 0, 0)


def test_several_columns_of_a_frame_are_records():
    frame = pd.DataFrame({"capacity": [9, 5], "to": ["b", "c"], "from": ["a", "b"], "latency": [0.5, 2]})
    graph = as_graph(frame, weight=["capacity", "latency"])
    assert listed(graph) == [("a", "b", (9, 0.5)), ("b", "c", (5, 2.0))]
    assert sr.adjacency(frame, sr.max_min, weight="capacity")["a", "b"] == 9
    with refused("several weights are columns of a data frame or of a file"):
        as_graph([(0, 1, 2.0)], weight=["a", "b"])
    frame["kind"] = ["fast", "slow"]
    with refused("but a component of a weight is a number"):
        as_graph(frame, weight=["capacity", "kind"])


@pytest.mark.parametrize(("header", "weight", "ends", "columns"), [
    (["from", "to"], "weight", (), (0, 1, ())), (["a", "b", "km"], "weight", (), (0, 1, (2,))),
    (["w", "v", "a", "b"], ["w", "v"], (), (2, 3, (0, 1))), (["w", "v", "a", "b"], ["v", "w"], (), (2, 3, (1, 0))),
    (["w", "to", "v", "from"], ["v", "w"], (), (3, 1, (2, 0))), ([0, 1, 2, 3], [3, 0], (), (1, 2, (3, 0))),
    (["a", "b", "c"], "weight", ("c", "a"), (2, 0, (1,))), (["a", "b", "c"], None, ("c", "a"), (2, 0, ())),
    (["from", "to", "via"], "weight", ("to", "via"), (1, 2, (0,))), ([0, 1, 2, 3], [0], (3, 1), (3, 1, (0,))),
])
def test_columns_of_tables(header, weight, ends, columns):
    assert table_columns(header, weight, *ends)[:3] == columns


# Places on a map of the world have numbers far apart: nothing may be allocated for those between them.

PLACES = [(2_398_472_983, 17, 1.0), (17, 2_398_472_984, 2.0), (2_398_472_984, 77, 4.0), (77, 17, 8.0)]


def _columns(kind: str) -> tuple[Any, Any, Any]:
    sources, targets, weights = zip(*PLACES, strict=True)
    return np.array(sources, kind), np.array(targets, kind), np.array(weights)


def _frame(kind: str) -> Any:
    return pd.DataFrame(dict(zip(("source", "target", "weight"), _columns(kind), strict=True)))


def _networkx() -> Any:
    G = nx.DiGraph()
    G.add_weighted_edges_from(PLACES)
    return G


def _file(folder: Path, name: str, separator: str) -> Path:
    path = folder / name
    path.write_text("".join(separator.join(map(str, edge)) + "\n" for edge in PLACES))
    return path


def _npz(folder: Path) -> Path:
    sources, targets, weights = _columns("i8")
    np.savez(folder / "places.npz", sources=sources, targets=targets, weights=weights)
    return folder / "places.npz"


DOORS: dict[str, Callable[[Path], Any]] = {
    "tuples": lambda _: sr.as_graph(PLACES), "array": lambda _: sr.as_graph(np.array(PLACES)),
    "columns": lambda _: sr.as_graph(_columns("i8")), "unsigned": lambda _: sr.as_graph(_columns("u8")),
    "records": lambda _: sr.as_graph(np.array(PLACES, [("a", "i8"), ("b", "i8"), ("w", "f8")])),
    "frame": lambda _: sr.as_graph(_frame("i8")), "floats": lambda _: sr.as_graph(_frame("f8")),
    "networkx": lambda _: sr.as_graph(_networkx()),
    "csv": lambda folder: sr.read_graph(_file(folder, "places.csv", ",")),
    "txt": lambda folder: sr.read_graph(_file(folder, "places.txt", " ")),
    "npz": lambda folder: sr.read_graph(_npz(folder)),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.usefixtures("by_numpy")  # to compile takes memory, too
def test_numbers_of_places_are_names(door: str, tmp_path: Path) -> None:
    def ask() -> None:
        graph = DOORS[door](tmp_path)
        first, last = PLACES[0][0], 77
        assert graph.n == 4 and sorted(map(int, graph.names)) == [17, 77, 2_398_472_983, 2_398_472_984]
        assert sr.path(graph, sr.min_plus, first, last) == (7.0, [first, 17, 2_398_472_984, last])
        assert np.sort(sr.closure_rows(graph, sr.min_plus, first)).tolist() == [0, 1, 3, 7]
        assert sr.closure(graph, sr.min_plus).shape == (4, 4)
        assert sr.factor(graph, sr.min_plus).path(first, last)[0] == 7
        assert sr.paths(graph, sr.min_plus)[first, last][0] == 7
        assert sr.reach(graph).reaches(first, last)
        assert sr.plan("closure", graph, sr.min_plus).shape == (4, 4)

    ask()  # what it imports takes memory
    tracemalloc.start()
    try:
        ask()
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


def test_a_size_that_is_stated_and_not_possible_is_told_with_what_to_do() -> None:
    sources, targets, weights = _columns("i8")
    A = sp.coo_array((weights, (sources, targets)), (1 << 32, 1 << 32))
    with pytest.raises(sr.SemiringError, match=r"as_graph\(A\)\.compact\(\)"):
        sr.closure_rows(A, sr.min_plus, [0])
    assert sr.closure(sr.as_graph(A).compact(), sr.min_plus).shape == (4, 4)


def test_the_edges_of_a_matrix_are_what_is_not_zero():
    """Its rows were read as edges: of whole numbers in silence."""
    M = adjacency(NAMED, sr.min_plus)
    graph = as_graph(M)
    assert graph.names == M.names and graph.weights.dtype == M.dtype
    assert listed(graph) == [("a", "b", 3.0), ("b", "c", 0.0), ("c", "c", 1.5)]
    assert listed(as_graph(sr.Matrix(np.arange(9).reshape(3, 3), sr.counting)))[:2] == [(0, 1, 1), (0, 2, 2)]
    assert as_graph(adjacency(NAMED, sr.boolean)).weights is None and as_graph(M, weight=None).weights is None
    assert listed(as_graph(adjacency(NAMED, sr.shortest_hops)))[0] == ("a", "b", (3.0, 1.0))
    assert (adjacency(M, sr.max_min) == sr.from_dense(M, sr.max_min, absent=INF)).all()
    assert as_graph(M, names=["c", "b", "a"]).names == ["c", "b", "a"]
    assert as_graph(sr.Matrix(np.empty((0, 0)), sr.min_plus)).n == 0
    with refused("edges is a Table, whose rows and columns are different vertices"):
        as_graph(sr.closure_rows(M, sources=["a"], targets=["b"]))


# Ids

IDS = [start + step for start in (2**62, 2**63, 2**64 - 100) for step in (0, 17, 4, 90)]


def kinds_of_ids(ids: list[int]) -> dict[str, Any]:
    """Edges between an id and the next, in every make that carries unsigned integers of 64 bits."""
    u = np.array(ids, "u8")
    ends, km = (u[:-1], u[1:]), np.arange(1.0, len(ids))
    frame = {"from": u[:-1], "to": u[1:], "km": km}
    nx = pytest.importorskip("networkx")
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(zip(ids, ids[1:], km.tolist(), strict=False))
    record = np.empty(len(km), [("from", "u8"), ("to", "u8"), ("km", "f8")])
    record["from"], record["to"], record["km"] = *ends, km
    mixed = (u[:-1].tolist(), u[1:])
    return {
        "columns": (*ends, km), "a frame of pandas": pd.DataFrame(frame), "records": record, "networkx": graph,
        "a nullable frame": pd.DataFrame(frame).astype({"from": "UInt64", "to": "UInt64"}),
        "an index of pandas": pd.DataFrame(frame).set_index(["from", "to"]),
        "polars": pytest.importorskip("polars").DataFrame(frame), "arrow": pytest.importorskip("pyarrow").table(frame),
        "tuples": list(zip(*map(list, (ids[:-1], ids[1:], km.tolist())), strict=True)),
        "tuples of NumPy's integers": list(zip(*ends, km, strict=True)),
        "a list beside an array": list(zip(*mixed, km, strict=True)),
        "a dict": {a: {b: w} for a, b, w in zip(ids, ids[1:], km.tolist(), strict=False)},
        "big-endian": (u[:-1].astype(">u8"), u[1:].astype(">u8"), km),
        "signed beside unsigned": (np.array([2**61, 2**61 + 1, 2**61]), u[1:], km),
    }


@pytest.mark.parametrize("kind", [*kinds_of_ids(IDS)])
@pytest.mark.parametrize("start", [2**62, 2**63, 2**64 - 100])
def test_ids_of_64_bits_are_names(kind, start):
    ids = [start + step for step in (0, 17, 4, 90)]
    edges = kinds_of_ids(ids)[kind]
    graph = sr.as_graph(edges)
    C = sr.closure(graph, sr.min_plus)
    if kind == "signed beside unsigned":
        assert graph.names == sorted([2**61, 2**61 + 1, *ids[1:]])
        assert C[2**61, ids[3]] == 3 and C[2**61 + 1, ids[2]] == 2
        return
    assert [C[ids[0], ids[3]], C[ids[1], ids[3]], C[ids[3], ids[0]]] == [6, 5, INF]
    assert C[np.uint64(ids[0]), np.uint64(ids[2])] == 3 and all(type(name) is int for name in graph.names)
    if kind not in ("networkx", "a dict"):  # which list their vertices
        assert graph.names == sorted(graph.names)
    rows = sr.closure_rows(graph, sr.min_plus, np.array(ids[1:3], "u8"))
    assert rows[0][graph.index(ids[3])] == 5
    named = sr.as_graph(edges, names=ids[::-1])
    assert named.names == ids[::-1] and named.index(ids[3]) == 0
    assert sr.as_graph(edges, names=np.array(ids, "u8")).names == ids
    if start >= 2**63 and kind not in ("networkx", "a dict"):
        with refused(f"vertex {ids[0]} is outside 0 to 4"):
            sr.as_graph(edges, 5)
        with refused("is outside 0 to 2; leave out n"):
            sr.as_graph(edges, names=["a", "b", "c"])
    if kind == "columns":
        with refused("is outside" if start < 2**63 else "is not a position; as_graph takes such numbers as names"):
            sr.Graph(edges[0], edges[1], 5)


def test_signed_and_unsigned_ends_do_not_meet_as_floats():
    far = np.array([2**63 + 1, 2**63 + 3], "u8")
    graph = sr.as_graph((far, np.array([5, 2**53 + 1])))
    assert graph.names == [5, 2**53 + 1, 2**63 + 1, 2**63 + 3]
    with refused("edge 1: target vertex -1 is negative"):
        sr.as_graph((far, np.array([5, -1])))
    assert sr.as_graph([(-1, 0), (0, -2)], names=[-1, 0, -2]).names == [-1, 0, -2]


# What NetworkX and dicts have of edges

def ours_and_theirs() -> list[tuple[Any, Any]]:
    nx = pytest.importorskip("networkx")
    G = nx.Graph([("a", "b", {"weight": 3}), ("b", "c", {"weight": 4})])
    G.add_node("alone")
    M = nx.MultiDiGraph([(0, 1, {"weight": 5}), (0, 1, {"weight": 2}), (1, 2, {"weight": 1})])
    D = nx.DiGraph(G)
    plain = {u: {v: d["weight"] for v, d in row.items()} for u, row in G.adj.items()}
    return [(G.edges, G), (G.edges(), G), (D.edges, D), (M.edges, M), (G.adj, D), (nx.to_dict_of_dicts(G), D),
            (D.adj, D), (M.adj, M), (nx.to_dict_of_dicts(M), M), (plain, D)]


@pytest.mark.parametrize("k", range(10))
def test_views_and_dicts_are_the_graph_that_they_show(k):
    shown, graph = ours_and_theirs()[k]
    found, right = sr.as_graph(shown), sr.as_graph(graph)
    assert (found.n, found.names, found.directed) == (right.n, right.names, right.directed)
    assert listed(found) == listed(right) and sr.as_graph(shown, weight=None).weights is None
    assert np.array_equal(sr.closure(shown, sr.min_plus).to_numpy(), sr.closure(graph, sr.min_plus).to_numpy())


def test_edges_with_attributes_in_dicts():
    nx = pytest.importorskip("networkx")
    G = nx.Graph([("a", "b", {"weight": 3, "toll": 1}), ("b", "c", {"weight": 4})])
    for edges in (G.edges(data=True), G.edges(data="weight"), G.edges("b", data=True)):
        found = sr.as_graph(edges)
        assert sorted(w for *_, w in found.edges()) == [3, 4] and not found.directed
    assert listed(sr.as_graph(list(G.edges(data=True)))) == [("a", "b", 3), ("b", "c", 4)]
    assert listed(sr.as_graph(G.edges(data=True), weight="toll", default=7)) == [("a", "b", 1), ("b", "c", 7)]
    assert listed(sr.as_graph({("a", "b"): {"weight": 3}, ("b", "c"): {"weight": 4}})) == [("a", "b", 3), ("b", "c", 4)]
    assert listed(sr.as_graph({("a", "b"): 3, ("b", "c"): 4})) == [("a", "b", 3), ("b", "c", 4)]
    assert listed(sr.as_graph({(0, 1): {(2, 3): 5}})) == [((0, 1), (2, 3), 5)]
    assert listed(sr.as_graph({"a": {}, "b": {"a": 2.5}})) == [("b", "a", 2.5)] and sr.as_graph({}).n == 0
    M = nx.MultiGraph([(0, 1, {"weight": 5}), (0, 1, {"weight": 2})])
    assert listed(sr.as_graph(M.edges(data=True))) == [(0, 1, 5), (0, 1, 2)]
    for bad, why in ((M.edges(data=True, keys=True), "the keys of parallel ones"), (G.nodes, "NodeView"),
                     (G.degree, "DegreeView")):
        with refused(why):
            sr.as_graph(bad)


class Data:
    """What PyTorch Geometric's class of that name has."""

    def __init__(self, **attributes: Any):
        vars(self).update(attributes)

    def __iter__(self):
        yield from vars(self).items()


def test_an_index_of_edges():
    index, heavy = np.array([[0, 1, 1], [1, 2, 0]]), np.array([1.0, 2.0, 4.0])
    for weights in ({"edge_weight": heavy}, {"edge_attr": heavy[:, None]}, {"edge_attr": heavy, "edge_weight": None}):
        graph = sr.as_graph(Data(edge_index=index, num_nodes=5, **weights))
        assert graph.n == 5 and listed(graph) == [(0, 1, 1), (1, 2, 2), (1, 0, 4)]
    assert sr.closure(Data(edge_index=index, num_nodes=3), sr.min_plus)[0, 2] == 2
    with refused("edge_attr has 2 columns: pass the one that is the weight"):
        sr.as_graph(Data(edge_index=index, edge_attr=np.ones((3, 2))))
    with refused("edge_index has shape (3, 2)"):
        sr.as_graph(Data(edge_index=index.T))
