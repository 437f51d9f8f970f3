"""Measures of distance and centrality against NetworkX's own; all but a few sums to the bit."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from networkx_cases import graphs, made, ours, same, theirs

DISTANCES = ["average_shortest_path_length", "eccentricity", "diameter", "radius", "center", "periphery", "barycenter",
             "wiener_index"]
TREES = ("center", "barycenter")
CONNECTED = [made(seed, (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)[seed % 4], connected=True)
             for seed in range(40)]


def agree(name: str, graph: Any, rounded: bool = False, **arguments: Any) -> None:
    try:
        own = ours(name, graph, **arguments)
    except NotImplementedError as error:
        assert name in TREES and "tree" in str(error.__cause__)
        assert not graph.is_directed() and graph.number_of_edges() == max(len(graph) - 1, 0)
        return
    assert same(own, theirs(name, graph, **arguments), rounded), arguments


@pytest.mark.parametrize("name", DISTANCES)
def test_distances(name: str) -> None:
    for graph in [*CONNECTED, *(param.values[0] for param in graphs(20))]:
        for weight in (None, "weight", "toll", "nothing", lambda u, v, d: len(str(u)) / 8):
            agree(name, graph, weight=weight)


def test_averages_by_other_methods() -> None:
    for graph in CONNECTED[:12]:
        for method in ("unweighted", "dijkstra", "bellman-ford"):
            for weight in (None, "weight"):
                # Bellman's and Ford's algorithm finds vertices, whose lengths are added, in an order of its own
                agree("average_shortest_path_length", graph, method == "bellman-ford", weight=weight, method=method)
        agree("average_shortest_path_length", graph, method="unheard of")


@pytest.mark.parametrize("name", DISTANCES)
def test_graphs_without_an_answer(name: str) -> None:
    for kind in (nx.Graph, nx.DiGraph):
        parts = kind([(0, 1), (2, 3), (3, 4), (2, 4)])
        for graph in (parts, kind(), nx.empty_graph(1, kind), nx.empty_graph(3, kind)):
            if len(graph) or name not in ("diameter", "radius", "periphery"):
                agree(name, graph)
            else:
                assert ours(name, graph)[0] is theirs(name, graph)[0] is ValueError


@pytest.mark.parametrize("graph", graphs(40))
def test_closeness(graph: Any) -> None:
    for arguments in ({}, {"wf_improved": False}, {"distance": "weight"}, {"distance": "toll", "wf_improved": False}):
        agree("closeness_centrality", graph, **arguments)


@pytest.mark.parametrize("graph", graphs(40))
def test_harmonic(graph: Any) -> None:
    some = list(graph)[:2]
    for arguments in ({}, {"distance": "weight"}, {"nbunch": some}, {"sources": some, "distance": "toll"},
                      {"nbunch": some[:1], "sources": some}, {"nbunch": some, "sources": []}):
        agree("harmonic_centrality", graph, rounded=True, **arguments)


def test_harmonic_sums_of_floats_of_numpy_stay_floats_of_numpy() -> None:
    G = nx.DiGraph()
    G.add_weighted_edges_from([("a", "b", np.float64(0.5)), ("b", "c", np.float64(4))])
    for arguments in ({}, {"nbunch": ["c"]}):
        agree("harmonic_centrality", G, distance="weight", **arguments)


def test_functions_that_see_the_edges_turned_round() -> None:
    G = made(13, nx.DiGraph, connected=True)
    for name, arguments in (("closeness_centrality", {}), ("harmonic_centrality", {"nbunch": list(G)[:1]})):
        with pytest.raises(NotImplementedError):
            ours(name, G, distance=lambda u, v, d: 1, **arguments)
        agree(name, G.to_undirected(), rounded=True, distance=lambda u, v, d: 2, **arguments)


def test_efficiency() -> None:
    for graph in [made(seed, (nx.Graph, nx.MultiGraph)[seed % 2]) for seed in range(30)]:
        agree("global_efficiency", graph)
    agree("global_efficiency", nx.Graph())


@pytest.mark.parametrize("graph", graphs(40))
def test_betweenness(graph: Any) -> None:
    for arguments in ({}, {"normalized": False}, {"endpoints": True}, {"endpoints": True, "normalized": False}):
        agree("betweenness_centrality", graph, rounded=True, **arguments)


def test_betweenness_in_blocks_and_of_no_vertices(monkeypatch: pytest.MonkeyPatch) -> None:
    G = made(13, nx.DiGraph, connected=True)
    monkeypatch.setattr("semiring.networkx_backend.rows.AT_ONCE", 3 * len(G))
    for name in ("betweenness_centrality", "harmonic_centrality", "closeness_centrality", "wiener_index"):
        agree(name, G, rounded=True)
    for name in ("betweenness_centrality", "harmonic_centrality", "closeness_centrality"):
        agree(name, nx.Graph())


def test_long_paths_have_too_many_levels() -> None:
    with pytest.raises(NotImplementedError):
        ours("betweenness_centrality", nx.path_graph(100))


def test_katz() -> None:
    ran = 0
    for seed in range(40):
        G = made(seed, (nx.Graph, nx.DiGraph)[seed % 2])
        if len(G) < 2:
            continue
        beta = {v: i - 1.5 for i, v in enumerate(G)}
        for arguments in ({}, {"weight": "weight"}, {"normalized": False}, {"beta": 2}, {"beta": beta}):
            agree("katz_centrality_numpy", G, rounded=True, alpha=0.01, **arguments)
            ran += 1
        for beta in ({"elsewhere": 1}, "much"):
            own, wanted = (found("katz_centrality_numpy", G, beta=beta) for found in (ours, theirs))
            assert own[0] is wanted[0] is nx.NetworkXError
    assert ran > 100
    for G, alpha in ((nx.complete_graph(20), 0.1), (nx.path_graph(1), 0.1), (nx.path_graph(3), np.float32(0.1))):
        with pytest.raises(NotImplementedError):
            ours("katz_centrality_numpy", G, alpha=alpha)
    for odd in (np.nan, np.inf):  # NetworkX computes with them
        for arguments in ({"alpha": odd}, {"beta": odd}, {"beta": {0: 1.0, 1: odd, 2: 0.0}}):
            with pytest.raises(NotImplementedError):
                ours("katz_centrality_numpy", nx.path_graph(3), **arguments)
    with pytest.raises(NotImplementedError):  # NetworkX looks for an attribute with this name, and calls nothing
        ours("katz_centrality_numpy", nx.path_graph(3), weight=lambda u, v, d: 3)
    assert ours("katz_centrality_numpy", nx.Graph()) == {}


def test_an_edge_that_is_hidden_for_some_searches_only() -> None:
    G = nx.cycle_graph(4)
    nx.set_edge_attributes(G, {(0, 1): None, (1, 2): 1, (2, 3): 1, (0, 3): 1}, "weight")
    for name in ("eccentricity", "diameter", "barycenter"):
        agree(name, G, weight="weight")
    for name in ("average_shortest_path_length", "wiener_index"):
        with pytest.raises(NotImplementedError):
            ours(name, G, weight="weight")


def test_negative_weights_are_left_to_networkx() -> None:
    G = nx.DiGraph()
    G.add_weighted_edges_from([(0, 1, -1), (1, 0, 2)])
    for name in DISTANCES:
        with pytest.raises(NotImplementedError):
            ours(name, G, weight="weight")
