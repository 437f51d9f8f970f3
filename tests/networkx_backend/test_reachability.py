"""Closures, reductions and longest paths against NetworkX's own: attributes, order, shared dictionaries, errors."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest
from networkx_cases import Roads, acyclic, graphs, made, ours, same, theirs

DIRECTED = (nx.DiGraph, nx.MultiDiGraph, Roads)


def are_equal(own: Any, wanted: Any) -> None:
    """The same graph: type, attributes, both sides of the adjacency, and one dictionary for both."""
    assert type(own) is type(wanted)
    assert own.graph == wanted.graph and own._node == wanted._node and list(own) == list(wanted)
    assert own._adj == wanted._adj and own._pred == wanted._pred
    assert all(own._pred[v][u] is edge for u, row in own._succ.items() for v, edge in row.items())
    edges = [id(edge) for row in own._succ.values() for edge in row.values()]
    assert len(edges) == len(set(edges)), "no two edges share their attributes"


@pytest.mark.parametrize("graph", graphs(48, DIRECTED))
@pytest.mark.parametrize("reflexive", [False, True, None])
def test_closures(reflexive: bool | None, graph: Any) -> None:
    before = {v: dict(row) for v, row in graph.adj.items()}
    own = nx.transitive_closure(graph, reflexive, backend="semiring")
    are_equal(own, nx.transitive_closure(graph, reflexive, backend="networkx"))
    assert all(list(own.adj[v])[:len(row)] == list(row) for v, row in before.items()), "what was there comes first"
    assert {v: dict(row) for v, row in graph.adj.items()} == before


@pytest.mark.parametrize("seed", range(30))
def test_acyclic_graphs(seed: int) -> None:
    graph = acyclic(seed, DIRECTED[seed % 3])
    for name in ("transitive_closure_dag", "transitive_reduction", "transitive_closure"):
        are_equal(*(getattr(nx, name)(graph, backend=backend) for backend in ("semiring", "networkx")))
    for weight, default in (("weight", 1), ("nothing", 3), ("nothing", 0.5), ("nothing", -1)):
        for name in ("dag_longest_path", "dag_longest_path_length"):
            arguments = {"weight": weight, "default_weight": default}
            assert same(ours(name, graph, **arguments), theirs(name, graph, **arguments)), (name, weight, default)


@pytest.mark.parametrize("name", ["transitive_closure_dag", "transitive_reduction", "dag_longest_path",
                                  "dag_longest_path_length"])
def test_cycles_are_refused_in_the_words_of_networkx(name: str) -> None:
    for edges in ([(0, 1), (1, 0)], [(0, 0)], [(0, 1), (1, 2), (2, 1)]):
        own, wanted = (found(name, nx.DiGraph(edges)) for found in (ours, theirs))
        assert own == wanted and issubclass(own[0], nx.NetworkXException)


def test_other_errors() -> None:
    G = nx.DiGraph([(0, 1)])
    for arguments in ({"reflexive": "wrong"}, {"reflexive": 7}):
        assert ours("transitive_closure", G, **arguments) == theirs("transitive_closure", G, **arguments)
    for number in (0, 1, 0.0):  # equal to a truth value, which is not enough for NetworkX
        with pytest.raises(NotImplementedError):
            ours("transitive_closure", G, reflexive=number)
    for name in ("ancestors", "descendants"):
        assert ours(name, G, "elsewhere") == theirs(name, G, "elsewhere")
    for name in ("transitive_reduction", "transitive_closure_dag", "dag_longest_path"):
        assert issubclass(outcome_of_undirected(name), nx.NetworkXNotImplemented)


def outcome_of_undirected(name: str) -> type:
    with pytest.raises(nx.NetworkXNotImplemented) as caught:
        getattr(nx, name)(nx.path_graph(3), backend="semiring")
    return caught.type


@pytest.mark.parametrize("graph", graphs(40))
def test_who_is_reached(graph: Any) -> None:
    for v in list(graph)[:4]:
        for name in ("ancestors", "descendants"):
            assert same(ours(name, graph, v), theirs(name, graph, v))


def test_no_vertices() -> None:
    empty = nx.DiGraph(name="empty")
    for name in ("transitive_closure", "transitive_closure_dag", "transitive_reduction"):
        are_equal(*(getattr(nx, name)(empty, backend=backend) for backend in ("semiring", "networkx")))
    assert ours("dag_longest_path", empty) == [] and ours("dag_longest_path_length", empty) == 0


def test_a_class_with_methods_of_its_own_is_filled_through_them() -> None:
    class Loud(nx.DiGraph):  # type: ignore[misc]
        def add_edges_from(self, edges: Any, **attributes: Any) -> None:
            super().add_edges_from(edges, **attributes)
            self.graph["told"] = self.graph.get("told", 0) + 1

    G = Loud([(0, 1), (1, 2)])
    own = nx.transitive_closure(G, backend="semiring")
    assert type(own) is Loud and own.graph["told"] >= 1 and own.has_edge(0, 2)


def test_a_closure_with_many_edges() -> None:
    G = made(5, nx.DiGraph)
    G.add_edges_from((f"a{i}", f"a{(i + 1) % 150}") for i in range(150))
    are_equal(*(nx.transitive_closure(G, backend=backend) for backend in ("semiring", "networkx")))
