"""Lengths in blocks of rows, the vertex before each, and searches by breadth."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from networkx_cases import graphs, made

from semiring.networkx_backend import rows
from semiring.networkx_backend.graph import BackendGraph


def test_parts_of_the_rows_are_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    G = BackendGraph(made(13, nx.DiGraph, connected=True))
    whole = list(rows.blocks(G.lengths("weight")))
    monkeypatch.setattr(rows, "AT_ONCE", 3 * len(G))
    parts = list(rows.blocks(G.lengths("weight")))
    assert len(whole) == 1 and len(parts) > 1
    assert np.array_equal(whole[0][1], np.concatenate([part for _, part in parts]))
    assert [sources.tolist() for sources, _ in rows.blocks(G.hops, [4, 2])] == [[4, 2]]


def test_rows_before_a_negative_cycle_come_first() -> None:
    G = nx.DiGraph([(0, 1), (2, 1), (2, 3), (3, 2)])
    nx.set_edge_attributes(G, {(0, 1): 1, (2, 1): 1, (2, 3): -2, (3, 2): 1}, "weight")
    found = rows.blocks(BackendGraph(G).lengths("weight"))
    assert [next(found)[0].tolist() for _ in range(2)] == [[0], [1]]
    with pytest.raises(nx.NetworkXUnbounded, match=r"Negative cycle detected\."):
        next(found)


@pytest.mark.parametrize("graph", graphs(40))
def test_breadth_first_is_in_the_order_of_networkx(graph: Any) -> None:
    G = BackendGraph(graph)
    for source in range(len(G)):
        order, parents, hops = rows.breadth_first(G, source)
        wanted = nx.single_source_shortest_path_length.orig_func(graph, G.names[source])
        assert [(G.names[v], d) for v, d in zip(order, hops, strict=True)] == list(wanted.items())
        for v, parent in zip(order[1:], parents, strict=True):
            assert graph.has_edge(G.names[order[parent]], G.names[v])


def test_two_paths_are_told_from_one() -> None:
    G = nx.DiGraph()
    G.add_weighted_edges_from([(0, 1, 1), (1, 3, 1), (0, 2, 1), (2, 3, 1), (4, 3, 1), (3, 3, 0)])
    lengths = BackendGraph(G).lengths("weight")
    ((sources, found),) = rows.blocks(lengths)
    before, only = rows.Before(lengths)(sources, found)
    assert only.tolist() == [False, True, True, True, True]  # vertices in the order 0, 1, 3, 2, 4
    assert before[1].tolist() == [-1, -1, 1, -1, -1]


def test_who_reaches_all() -> None:
    assert rows.is_connected(BackendGraph(nx.cycle_graph(4, create_using=nx.DiGraph)))
    assert not rows.is_connected(BackendGraph(nx.path_graph(4, create_using=nx.DiGraph)))
    assert rows.is_connected(BackendGraph(nx.path_graph(4)))


def test_errors_have_the_names_of_networkx() -> None:
    def negative() -> None:
        raise rows.csgraph.NegativeCycleError("here")

    with pytest.raises(nx.NetworkXUnbounded):
        rows.unbounded(negative)
    lengths = BackendGraph(made(3, nx.Graph)).hops._replace(negative=True)
    with pytest.raises(NotImplementedError, match="negative"):
        rows.refuse_negative(lengths)
