"""The graph: taken as it is or numbered anew, without the vertices that no edge touches, and how it is shown."""

from __future__ import annotations

import numpy as np
import pytest
from graphs.listing import NAMED, listed, refused
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.graphs import graph as module
from semiring.graphs.graph import SHOWN, Graph, as_graph


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
    with refused("n = -1: the number of vertices cannot be negative"):
        as_graph([], -1)
    with refused("outside of a graph without vertices"):
        as_graph([(0, 0)], 0)


def test_a_graph_iterates_over_its_edges():
    graph = as_graph(NAMED)
    assert list(graph) == list(graph.edges()) and len(list(graph)) == len(graph) == 4
    assert [(a, b) for a, b in as_graph([(0, 1), (1, 0)])] == [(0, 1), (1, 0)]


def test_repr_of_a_graph():
    assert repr(as_graph(NAMED, directed=False)) == (
        "Graph(3 vertices, 4 edges, undirected, weights float64, names 'a', 'b', 'c')"
    )
    assert repr(as_graph([(0, 0)])) == "Graph(1 vertex, 1 edge, directed, no weights)"
    assert repr(as_graph([("abcd", "x" * 99), (1, 2)])).endswith("names 'abcd', 'xxxxxxxxxxxxxx…, 1, …)")


@st.composite
def graphs(draw):
    n, m = draw(st.integers(1, 5)), draw(st.integers(0, 25))
    ends = [draw(st.lists(st.integers(0, n - 1), min_size=m, max_size=m)) for _ in range(2)]
    weights = draw(st.none() | st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=m, max_size=m))
    return Graph(*ends, n, weights, draw(st.sampled_from([None, list("abcdef"[:n])])), draw(st.booleans()))


@settings(max_examples=60)
@given(graphs(), st.data())
def test_edges_turned_round_and_of_some_vertices(graph, data):
    edges = list(graph.edges())
    assert [(*e, None)[:3] for e in edges] == listed(graph)
    assert list(graph.reverse().edges()) == [(b, a, *w) for a, b, *w in edges]
    calls = graph.names or range(graph.n)
    chosen = data.draw(st.lists(st.sampled_from(calls), unique=True))
    part = graph.subgraph(chosen)
    assert part.directed is graph.directed and [part.index(v) for v in chosen] == list(range(part.n))
    assert list(part.edges()) == [e for e in edges if e[0] in chosen and e[1] in chosen]
    M = sr.adjacency(graph, sr.min_plus, dtype=float)
    assert np.all(sr.adjacency(part, sr.min_plus, dtype=float) == M[chosen])
    turned = sr.adjacency(graph.reverse(), sr.min_plus, dtype=float)
    assert np.all(turned == (M.T if graph.directed else M))


def test_vertices_of_a_part_that_are_refused():
    graph = as_graph(NAMED)
    for vertices in ("ab", 3, None):
        with refused("vertices must be a sequence"):
            graph.subgraph(vertices)
    with refused("no vertex is called 'd'"):
        graph.subgraph(["d"])
    with refused("two vertices are called 'a'"):
        graph.subgraph(["a", "b", "a"])


def test_edges_come_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = as_graph([(i, i + 1, float(i)) for i in range(7)])
    whole = list(graph.edges())
    monkeypatch.setattr(module, "EDGES_AT_ONCE", 3)
    assert list(graph.edges()) == whole and len(whole) == 7


def test_html_of_a_graph():
    page = as_graph([("<a>", "b", 2.0)])._repr_html_()
    assert "<td>b</td><td>2</td>" in page and '<th scope="row">&lt;a&gt;</th>' in page and ">Graph(2 vertices" in page
    many = as_graph([(i, i + 1) for i in range(SHOWN + 1)])._repr_html_()
    assert many.count("<tr>") == 2 + SHOWN and '<th scope="row">…</th><td>…</td>' in many
