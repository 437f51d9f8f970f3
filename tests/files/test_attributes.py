"""Graphs of formats that list vertices and edges: directions, what vertices are called, and weights."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from files.reading import listed, refused
from hypothesis import given
from hypothesis import strategies as st

from semiring.files.attributes import Listing
from semiring.files.format import Options

EDGES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans(), st.integers(1, 9)), max_size=6)


def graph_of(vertices, edges, options, **more):
    columns = [[edge[k] for edge in edges] for k in range(3)]
    weights = [{"weight": edge[3]} for edge in edges]
    return Listing(vertices, *columns, weights, {"weight"}).graph(Path("g"), b"", options, **more)


@given(EDGES, st.sampled_from([None, True, False]))
def test_each_edge_goes_where_the_file_says(edges, directed):
    """Among directed edges an undirected one is there twice, a loop once; without any the graph is undirected."""
    graph = graph_of(list("abcd"), edges, Options(directed=directed))
    ways = {way for _, _, way, _ in edges}
    assert graph.directed == (directed is not False and ways != {False})
    arcs = Counter(("abcd"[u], "abcd"[v], w) for u, v, _, w in edges)
    if graph.directed:
        arcs += Counter(("abcd"[v], "abcd"[u], w) for u, v, way, w in edges if not way and u != v)
    assert Counter(listed(graph)) == arcs


def test_vertices_that_are_integers():
    edges = [(0, 1, True, 5)]
    assert graph_of([4, 9], edges, Options()).names == [4, 9]
    graph = graph_of([1, 0], edges, Options())
    assert listed(graph) == [(1, 0, 5)] and graph.names is None
    assert graph_of(["1", "0"], edges, Options()).names == ["1", "0"]
    assert graph_of(["1", "0"], edges, Options(), from_texts=True).names is None
    assert graph_of(["1", "00"], edges, Options(), from_texts=True).names == ["1", "00"]
    assert graph_of([1, 0], edges, Options(names=str)).names == ["1", "0"]


def test_weights_by_name():
    edges = [(0, 1, True, 5)]
    assert graph_of(list("ab"), edges, Options(weight=None)).weights is None
    assert graph_of(list("ab"), edges, Options(weight=["weight"])).weights.tolist() == [(5,)]
    with refused("no edge has the attribute 'km'"):
        graph_of(list("ab"), edges, Options(weight="km"))
