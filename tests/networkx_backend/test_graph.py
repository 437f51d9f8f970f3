"""A NetworkX graph by position, and its lengths with their types."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import networkx as nx
import numpy as np
import pytest

from semiring.networkx_backend.graph import BackendGraph, convert_from_nx, convert_to_nx


def of(*edges: Any, kind: Any = nx.DiGraph) -> BackendGraph:
    G = kind()
    G.add_weighted_edges_from(edges)
    return convert_from_nx(G)


def test_vertices_and_edges_keep_their_order() -> None:
    G = of(("b", "c", 1), ("b", "a", 2), ("b", "d", 3), ((1, 2), "b", 4))
    assert G.names == ["b", "c", "a", "d", (1, 2)] and G.objects[4] == (1, 2)
    assert G.structure.indices.tolist() == [1, 2, 3, 0] and G.structure.indptr.tolist() == [0, 3, 3, 3, 3, 4]
    assert G.lengths("weight").matrix.data.tolist() == [1, 2, 3, 4]
    assert (len(G), list(G), "a" in G, G.is_directed(), G.is_multigraph()) == (5, G.names, True, True, False)


def test_there_and_back() -> None:
    G = nx.path_graph(3)
    assert convert_to_nx(convert_from_nx(G)) is G
    assert convert_from_nx(convert_from_nx(G)).graph is G
    assert convert_to_nx(7, name="radius") == 7


def test_undirected_edges_go_both_ways_and_loops_once() -> None:
    G = of((0, 1, 5), (1, 1, 2), kind=nx.Graph)
    assert G.lengths("weight").matrix.toarray().tolist() == [[0, 5], [5, 2]]


def test_parallel_edges() -> None:
    G = of((0, 1, 5), (0, 1, 3), kind=nx.MultiDiGraph)
    assert G.lengths("weight").matrix.data.tolist() == [3]
    assert G.lengths("weight", longest=True).matrix.data.tolist() == [5]
    assert G.lengths(lambda u, v, edges: len(edges)).matrix.data.tolist() == [2]


def test_missing_weights_have_the_default_and_those_that_are_none_hide_the_edge() -> None:
    G = of((0, 1, None), (0, 2, 3), (2, 1, 4))
    assert G.lengths("weight").matrix.toarray().tolist() == [[0, 0, 3], [0, 0, 0], [0, 4, 0]]
    assert G.lengths("toll").matrix.data.tolist() == [1, 1, 1]
    assert G.lengths("toll", 2.5).kind is float
    with pytest.raises(NotImplementedError, match="weight None"):
        G.lengths("weight", longest=True)
    with pytest.raises(NotImplementedError, match="parallel edges has the weight None"):
        of((0, 1, None), (0, 1, 2), kind=nx.MultiGraph).lengths("weight")


@pytest.mark.parametrize(("weights", "kind", "boxed"), [
    ((1, 2), int, [3]), ((1.0, 2.0), float, [3.0]), ((np.float64(1), np.float64(2)), np.float64, [np.float64(3)])])
def test_sums_have_the_type_of_the_weights(weights: Any, kind: type, boxed: list[Any]) -> None:
    lengths = of((0, 1, weights[0]), (1, 2, weights[1])).lengths("weight")
    assert lengths.kind is kind and lengths.boxed(np.array([3.0])) == boxed
    assert type(lengths.boxed(np.array([3.0]))[0]) is kind


@pytest.mark.parametrize(("weights", "why"), [
    ((1, 2.0), "float, int"), ((True, False), "bool"), ((float("nan"), 1.0), "NaN"), ((float("inf"), 1.0), "infinite"),
    ((2**60, 1), "too large"), ((10**400, 1), "53 bits"), ((1e308, 1e308), "too large"), ((Decimal(1),) * 2, "Decimal"),
    ((np.int8(1), np.int8(2)), "int8"), (("3", "4"), "str")])
def test_what_networkx_adds_in_its_own_way_is_left_to_it(weights: Any, why: str) -> None:
    with pytest.raises(NotImplementedError, match=why):
        of((0, 1, weights[0]), (1, 2, weights[1])).lengths("weight")


def test_parallel_edges_of_several_types_are_left_to_networkx() -> None:
    for weights in ((1, 1.0), (float("nan"), 1.0)):
        with pytest.raises(NotImplementedError):
            of((0, 1, weights[0]), (0, 1, weights[1]), kind=nx.MultiGraph).lengths("weight")


def test_what_scipy_sorts_in_place_is_a_copy() -> None:
    G = of((1, 2, 0), (0, 2, 1), (0, 1, 2))
    for matrix in (G.hops.matrix, G.lengths("weight").matrix):
        matrix.sort_indices()
    assert G.names == [1, 2, 0] and G.structure.indices.tolist() == [1, 1, 0]


def test_weights_are_read_anew_by_each_call() -> None:
    G = of((0, 1, 5))
    assert G.lengths("weight").matrix.data.tolist() == [5]
    G.graph[0][1]["weight"] = 7
    assert G.lengths("weight").matrix.data.tolist() == [7]
