"""The graph: taken as it is or numbered anew, without the vertices that no edge touches, and how it is shown."""

from __future__ import annotations

from graphs.listing import NAMED, listed, refused

from semiring.graphs.graph import as_graph


def test_a_graph_is_taken_as_it_is():
    graph = as_graph(NAMED)
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
    full = as_graph(NAMED)
    assert full.compact() is full


def test_n_that_is_refused():
    with refused("edge 1: source vertex 5 is outside 0 to 3; pass n = 6 or more"):
        as_graph([(0, 1), (5, 1)], 4)
    with refused("n = -1: a graph has no negative number of vertices"):
        as_graph([], -1)
    with refused("outside of a graph without vertices"):
        as_graph([(0, 0)], 0)


def test_repr_of_a_graph():
    assert repr(as_graph(NAMED, directed=False)) == (
        "Graph(3 vertices, 4 edges, undirected, weights float64, names 'a', 'b', 'c')"
    )
    assert repr(as_graph([(0, 0)])) == "Graph(1 vertex, 1 edge, directed, no weights)"
    assert repr(as_graph([("abcd", "x" * 99), (1, 2)])).endswith("names 'abcd', 'xxxxxxxxxxxxxx…, 1, …)")
