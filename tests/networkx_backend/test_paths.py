"""Shortest paths between all vertices against NetworkX's own, with the types and the bits of each number."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest
from networkx_cases import Roads, graphs, made, ours, same, theirs

LENGTHS = ["all_pairs_dijkstra_path_length", "all_pairs_bellman_ford_path_length"]
PATHS = ["johnson", "all_pairs_dijkstra", "all_pairs_dijkstra_path", "all_pairs_bellman_ford_path"]
HOPS = ["all_pairs_shortest_path", "all_pairs_shortest_path_length"]
FLOYD = ["floyd_warshall", "floyd_warshall_numpy"]


@pytest.mark.parametrize("graph", graphs())
@pytest.mark.parametrize("name", [*LENGTHS, *PATHS])
def test_lengths_and_paths(name: str, graph: Any) -> None:
    for weight in ("weight", "toll", "nothing", None):
        assert same(ours(name, graph, weight=weight), theirs(name, graph, weight=weight)), weight


@pytest.mark.parametrize("graph", graphs(30))
@pytest.mark.parametrize("name", [name for name in [*LENGTHS, *PATHS] if "dijkstra" in name])
def test_cutoffs_and_functions(name: str, graph: Any) -> None:
    for cutoff in (0, 0.5, 2, -1, float("inf")):
        assert same(ours(name, graph, cutoff=cutoff), theirs(name, graph, cutoff=cutoff)), cutoff
    for weight in (lambda u, v, d: None if len(str((u, v))) % 3 else 2, lambda u, v, d: len(str(u)) / 8):
        assert same(ours(name, graph, weight=weight), theirs(name, graph, weight=weight))


@pytest.mark.parametrize("graph", graphs(40))
@pytest.mark.parametrize("name", HOPS)
def test_hops(name: str, graph: Any) -> None:
    for cutoff in (None, 0, 1, 2, 2.5):
        own, wanted = ours(name, graph, cutoff=cutoff), theirs(name, graph, cutoff=cutoff)
        assert same(own, wanted)
        assert [list(found) for _, found in own] == [list(found) for _, found in wanted], "in the same order"


@pytest.mark.parametrize("graph", graphs(40))
@pytest.mark.parametrize("name", FLOYD)
def test_floyd_and_warshall(name: str, graph: Any) -> None:
    for weight in ("weight", "toll", None):
        own, wanted = ours(name, graph, weight=weight), theirs(name, graph, weight=weight)
        if isinstance(own, dict):
            assert {type(row) for row in own.values()} == {type(row) for row in wanted.values()}
            own, wanted = ({v: dict(row) for v, row in found.items()} for found in (own, wanted))
        assert same(own, wanted, rounded=True)


def test_floyd_and_warshall_with_a_list_of_vertices() -> None:
    G = made(13, nx.DiGraph, connected=True)
    chosen = sorted(G, key=str)
    own, wanted = (found("floyd_warshall_numpy", G, nodelist=chosen) for found in (ours, theirs))
    assert same(own, wanted, rounded=True)
    for wrong in (chosen[:2], [*chosen[1:], chosen[1]], [*chosen[1:], "elsewhere"]):
        own, wanted = (found("floyd_warshall_numpy", G, nodelist=wrong) for found in (ours, theirs))
        assert own[0] is wanted[0] is nx.NetworkXError
    cycle = nx.Graph([(0, 1, {"weight": -1})])  # the list is looked at before the lengths are
    assert ours("floyd_warshall_numpy", cycle, nodelist=[0, "x"]) == theirs("floyd_warshall_numpy", cycle,
                                                                            nodelist=[0, "x"])
    assert same(ours("floyd_warshall_numpy", nx.Graph()), theirs("floyd_warshall_numpy", nx.Graph()))


@pytest.mark.parametrize("seed", range(30))
def test_the_vertex_before_each_on_the_only_shortest_path(seed: int) -> None:
    G = made(seed, (nx.Graph, nx.DiGraph, nx.MultiDiGraph)[seed % 3], connected=True)
    for i, (_, _, data) in enumerate(G.edges(data=True)):
        data["weight"] = 2**i % 10007 + (0 if seed % 2 else 0.5)
    name = "floyd_warshall_predecessor_and_distance"
    try:
        before, lengths = ours(name, G)
    except NotImplementedError as error:
        assert "several shortest paths" in str(error.__cause__)
        return
    wanted = theirs(name, G)
    assert same(before, wanted[0])
    assert same([dict(lengths[v]) for v in G], [dict(wanted[1][v]) for v in G])


def test_two_shortest_paths_are_left_to_networkx_or_found_by_its_search() -> None:
    G = nx.grid_2d_graph(4, 4)
    with pytest.raises(NotImplementedError):
        ours("floyd_warshall_predecessor_and_distance", G)
    for name in PATHS:
        assert same(ours(name, G), theirs(name, G)), name


@pytest.mark.parametrize("seed", range(40))
def test_negative_edges(seed: int) -> None:
    kind = (nx.DiGraph, nx.MultiDiGraph, Roads)[seed % 3]
    G = made(seed, kind, integers=True, connected=True, negative=True)
    for name in ("all_pairs_bellman_ford_path_length", "all_pairs_bellman_ford_path", "johnson", *FLOYD):
        try:
            own = ours(name, G)
        except NotImplementedError as error:
            assert name == "johnson" and "several shortest paths" in str(error.__cause__)
            continue
        wanted = theirs(name, G)
        if name == "floyd_warshall":
            own, wanted = ({v: dict(row) for v, row in found.items()} for found in (own, wanted))
        assert same(own, wanted), name
    if any(weight < 0 for _, _, weight in G.edges(data="weight", default=1)):
        with pytest.raises(NotImplementedError):
            ours("all_pairs_dijkstra", G)


@pytest.mark.parametrize("edges", [[(0, 1, 1), (1, 2, -3), (2, 1, 2)], [(0, 1, 1.0), (1, 1, -0.5)]])
def test_negative_cycles(edges: Any) -> None:
    G = nx.DiGraph()
    G.add_weighted_edges_from(edges)
    error = nx.NetworkXUnbounded, "Negative cycle detected."
    for name in ("johnson", "all_pairs_bellman_ford_path", "all_pairs_bellman_ford_path_length"):
        assert ours(name, G) == theirs(name, G) == error
    assert ours("floyd_warshall", G) == error, "NetworkX to 3.6 gives lengths that mean nothing"


def test_a_negative_cycle_that_few_reach() -> None:
    G = nx.DiGraph()
    G.add_weighted_edges_from([("a", "b", 1), ("c", "c", -1), ("d", "a", 1)])
    assert ours("johnson", G) == theirs("johnson", G)
    for name in ("all_pairs_bellman_ford_path", "all_pairs_bellman_ford_path_length"):
        for backend in ("semiring", "networkx"):
            found = getattr(nx, name)(G, backend=backend)
            assert [next(found)[0], next(found)[0]] == ["a", "b"]
            with pytest.raises(nx.NetworkXUnbounded):
                next(found)


def test_lengths_come_from_near_to_far() -> None:
    G = nx.gnm_random_graph(30, 90, seed=3)
    for i, (_, _, data) in enumerate(G.edges(data=True)):
        data["weight"] = 1 + 2**i % 10007 / 10007
    for (v, own), (u, wanted) in zip(ours(LENGTHS[0], G), theirs(LENGTHS[0], G), strict=True):
        assert v == u and list(own) == list(wanted)
    ties = dict(ours(LENGTHS[0], nx.grid_2d_graph(5, 5)))
    assert all(a <= b for row in ties.values() for a, b in pairwise(row.values()))


def test_floats_of_numpy_stay_floats_of_numpy() -> None:
    G = nx.DiGraph()
    G.add_weighted_edges_from([(0, 1, np.float64(0.1)), (1, 2, np.float64(0.2))])
    for name in (*LENGTHS, *PATHS):
        assert same(ours(name, G), theirs(name, G)), name


def test_edges_that_add_nothing() -> None:
    G = nx.DiGraph()
    G.add_weighted_edges_from([(3, 1, 0), (1, 0, 0), (0, 2, 0), (2, 4, 1), (5, 3, 1e17), (6, 7, 1)], weight="w")
    for name in PATHS:
        assert same(ours(name, G, weight="nothing"), theirs(name, G, weight="nothing"))
    H = nx.DiGraph()
    H.add_weighted_edges_from([(3, 1, 0.0), (1, 0, 0.0), (0, 2, 0.0), (2, 4, 1.0), (5, 3, 1e17)])
    for name in PATHS:
        assert same(ours(name, H), theirs(name, H)), name


@pytest.mark.parametrize("name", [*LENGTHS, *PATHS, *HOPS, "floyd_warshall"])
def test_no_vertices(name: str) -> None:
    assert same(ours(name, nx.DiGraph()), theirs(name, nx.DiGraph()))
