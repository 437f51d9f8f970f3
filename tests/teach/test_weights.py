"""Edges, and their weights under other algebras; what `compare` and `explain` take is tested with them."""

from __future__ import annotations

import numpy as np

import semiring as sr
from semiring.teach.weights import given_weights, graph_of, weighted

EDGES = [("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0)]


def test_the_graph_of_whatever_a_verb_takes() -> None:
    graph = sr.as_graph(EDGES)
    matrix = sr.adjacency(EDGES, sr.min_plus)
    for A in (graph, matrix, np.asarray(matrix), sr.pack(np.isfinite(np.asarray(matrix)))):
        found = graph_of(A, sr.min_plus)
        assert sorted(zip(found.sources.tolist(), found.targets.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 2)]


def test_one_meaning_of_weights_in_several_forms() -> None:
    graph = sr.as_graph(EDGES)
    wanted = np.array([[0, 0.5, 0.25], [0, 0, 1.0], [0, 0, 0]])
    for given in ([0.5, 1.0, 0.25], {("a", "b"): 0.5, ("b", "c"): 1.0, ("a", "c"): 0.25}, wanted):
        weights = given_weights({"viterbi": given}, [sr.viterbi])
        assert np.array_equal(np.asarray(weighted(graph, sr.viterbi, weights)), wanted)
