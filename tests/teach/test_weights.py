"""Edges, and their weights under other algebras; what `compare` and `explain` take is tested with them."""

from __future__ import annotations

import re

import numpy as np
import pytest

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


def test_zeros_that_are_tuples_are_compared_as_a_whole() -> None:
    absent = (-9, -9)
    pairs = sr.Semiring(
        "pairs", add=max, mul=lambda a, b: absent if absent in (a, b) else (a[0] + b[0], a[1] + b[1]), zero=absent,
        one=(0, 0), star=lambda a: (0, 0), carrier=lambda a: a == absent or max(a) <= 0, dtype=object,
    )
    A = np.empty((2, 2), object)
    for place in np.ndindex(A.shape):
        A[place] = (-1, -2) if place == (0, 1) else absent
    graph = graph_of(A, pairs)
    assert list(zip(graph.sources, graph.targets, strict=True)) == [(0, 1)], A
    found = np.asarray(weighted(graph, pairs, {pairs: A}))
    assert found[0, 1] == (-1, -2) and found[1, 0] == absent, found
    turned = A.T.copy()
    with pytest.raises(sr.GraphError, match=re.escape("weights[1, 0] is (−1, −2), but there is no such edge")):
        weighted(graph, pairs, {pairs: turned})
