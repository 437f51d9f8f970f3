"""Edges of a graph by the names of their ends."""

from __future__ import annotations

import numpy as np
from graphs.listing import refused

import semiring as sr

INF = np.inf


def test_edges_of_a_graph_by_name() -> None:
    graph = sr.as_graph([("a", "b", 3.0), ("a", "b", 2.0), ("b", "c", 4.0)])
    around = sr.as_graph([("a", "b", 3.0)], directed=False)
    assert "a" in graph and ("a", "b") in graph and ("b", "a") not in graph and "z" not in graph
    assert ("b", "a") in around
    assert ("a", "b", 2.0) in graph and ("a", "b", 7.0) not in graph and ("z", "a") not in graph
    assert graph.weight("b", "c") == 4.0 and around.weight("b", "a") == 3.0
    assert graph.weight("a", "b", "max-plus") == 3.0 and graph.weight("c", "a", sr.min_plus) == INF
    assert sr.as_graph([(0, 1)]).weight(0, 1, sr.min_plus) == 1.0
    for call, message in ((lambda: graph.weight("a", "b"), "2 edges from 'a' to 'b': pass S"),
                          (lambda: graph.weight("c", "a"), "no edge from 'c' to 'a': pass S"),
                          (lambda: sr.as_graph([(0, 1)]).weight(0, 1), "the edges have no weights: pass S"),
                          (lambda: graph.weight("a", "bb"), "no vertex is called 'bb'; did you mean 'b'?"),
                          (lambda: graph.to_sparse(sr.shortest_hops), "SciPy's sparse matrices hold numbers")):
        with refused(message):
            call()
    for other in (graph, np.eye(3)):
        for product in (lambda other=other: graph @ other, lambda other=other: other @ graph):
            with refused("a Graph has no algebra", sr.SemiringError):
                product()
    M = sr.adjacency(graph, sr.min_plus)
    assert ((graph @ M) == (M @ M)).all() and (graph.to_sparse("min-plus") != M.to_sparse()).nnz == 0
    assert graph.to_frame("pandas").values.tolist() == [["a", "b", 3.0], ["a", "b", 2.0], ["b", "c", 4.0]]
    assert list(sr.as_graph([(0, 1)]).to_frame("pandas").columns) == ["from", "to"]
