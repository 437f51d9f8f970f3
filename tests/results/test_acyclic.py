"""Acyclic graphs: the least with the same closure, and the one behind any graph, against slow and obvious answers."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.results import acyclic
from semiring.results.acyclic import condensation, transitive_reduction

SIZES = st.one_of(st.sampled_from([0, 1, 2, 63, 64, 65, 130]), st.integers(0, 40))
SETTINGS = settings(max_examples=40)
ROADS = [("Ayr", "Bute"), ("Bute", "Coll"), ("Coll", "Bute"), ("Coll", "Dale"), ("Eigg", "Dale")]


def digraph(n: int, seed: int, acyclic: bool = False) -> np.ndarray:
    rng = np.random.default_rng(seed)
    A = rng.random((n, n)) < rng.choice([0, 0.5, 1, 2, n]) / max(n, 1)
    if acyclic:
        order = rng.permutation(n)
        A = np.triu(A, 1)[np.ix_(order, order)]
    return A


def star(A: np.ndarray, reflexive: bool = True) -> np.ndarray:
    """Warshall."""
    R = A.copy()
    for k in range(len(A)):
        R |= R[:, k, None] & R[k]
    return R | np.eye(len(A), dtype=bool) if reflexive else R


def refused(message: str, call, *arguments) -> None:
    with pytest.raises(sr.GraphError, match=message):
        call(*arguments)


@SETTINGS
@given(SIZES, st.integers(0, 10**6))
def test_reduction_is_the_least_graph_with_the_same_closure(n: int, seed: int) -> None:
    A = digraph(n, seed, acyclic=True)
    found = transitive_reduction(A).to_dense()
    assert not (found & ~A).any() and np.array_equal(star(found), star(A))
    for i, j in np.argwhere(found)[:20]:
        without = found.copy()
        without[i, j] = False
        assert not star(without)[i, j]


@SETTINGS
@given(SIZES, st.integers(0, 10**6), st.booleans())
def test_few_edges_and_many_are_reduced_alike(n: int, seed: int, cyclic: bool) -> None:
    """By blocks of targets, or by a product of packed matrices; refusals too, word for word."""
    A = digraph(n, seed, acyclic=not cyclic)
    G = sr.Graph(*np.nonzero(A), n)
    found = []
    for dense in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(acyclic, "_is_dense", lambda n, edges, dense=dense: dense)
            try:
                matrix, graph = transitive_reduction(A).to_dense(), transitive_reduction(G)
                assert list(zip(graph.sources, graph.targets, strict=True)) == list(zip(*matrix.nonzero(), strict=True))
                found.append(matrix.tolist())
            except sr.GraphError as e:
                found.append(str(e))
                refused(re.escape(str(e)), transitive_reduction, G)
    assert found[0] == found[1]


def test_reduction_of_graphs_keeps_names_and_weights() -> None:
    edges = [("a", "b", 1.5), ("b", "c", 2.5), ("a", "c", 9.0), ("b", "c", 7.0), ("c", "d", 0.0), ("a", "d", 1.0)]
    G = transitive_reduction(edges)
    assert isinstance(G, sr.Graph) and G.names == ["a", "b", "c", "d"]
    assert list(zip(G.sources.tolist(), G.targets.tolist(), G.weights.tolist(), strict=True)) == [
        (0, 1, 1.5), (1, 2, 2.5), (2, 3, 0.0),
    ]
    chosen = sr.Graph(np.array([0, 0, 1]), np.array([1, 2, 2]), 3, np.array([True, True, False]))
    G = transitive_reduction(chosen)
    assert (G.sources.tolist(), G.targets.tolist()) == ([0, 0], [1, 2])
    assert isinstance(transitive_reduction(sp.csr_array(np.eye(3, k=1))), PackedMatrix)
    assert transitive_reduction(sr.adjacency(edges, sr.min_plus)).count() == 3


@SETTINGS
@given(st.integers(1, 70), st.integers(0, 10**6))
def test_a_cycle_is_named(n: int, seed: int) -> None:
    A = digraph(n, seed, acyclic=True)
    rng = np.random.default_rng(seed)
    length = int(rng.integers(1, min(n, 9) + 1))
    loop = rng.permutation(n)[:length]
    A[loop, np.roll(loop, -1)] = True
    with pytest.raises(sr.GraphError, match="the graph has a cycle") as caught:
        transitive_reduction(A)
    cycle = [int(v) for v in str(caught.value).partition("cycle, ")[2].partition(":")[0].split(" → ")]
    assert cycle[0] == cycle[-1] and len(cycle) >= 2
    assert all(A[a, b] for a, b in itertools.pairwise(cycle))


def test_cycles_by_name_and_long_ones() -> None:
    refused("a cycle, Bute → Coll → Bute: reduce its condensation", transitive_reduction, ROADS)
    refused("a cycle, a → a:", transitive_reduction, [("a", "a")])
    refused("undirected", transitive_reduction, sr.as_graph(ROADS, directed=False))
    ring = [(i, (i + 1) % 50) for i in range(50)]
    refused(r"0 → 1 → .* → 11 → … \(50 edges\): reduce", transitive_reduction, ring)


@SETTINGS
@given(SIZES, st.integers(0, 10**6))
def test_condensation(n: int, seed: int) -> None:
    A = digraph(n, seed)
    matrix, members = condensation(A)
    labels = np.empty(n, np.int64)
    for c, group in enumerate(members):
        labels[group] = c
    expected = np.zeros((len(members), len(members)), bool)
    i, j = np.nonzero(A)
    expected[labels[i], labels[j]] = True
    np.fill_diagonal(expected, False)
    assert np.array_equal(matrix, expected)
    assert not (star(expected, False) & np.eye(len(members), dtype=bool)).any()
    assert np.array_equal(star(expected)[np.ix_(labels, labels)], star(A))
    transitive_reduction(matrix)


def test_condensation_by_name() -> None:
    matrix, members = condensation(ROADS)
    assert members == [["Ayr"], ["Bute", "Coll"], ["Dale"], ["Eigg"]]
    assert np.argwhere(matrix.to_dense()).tolist() == [[0, 1], [1, 2], [3, 2]]


def test_of_parallel_edges_the_first_stays() -> None:
    edges = [("b", "c", 7.0), ("a", "b", 2.0), ("b", "c", 1.0), ("a", "b", 3.0), ("a", "c", 0.0)]
    G = transitive_reduction(edges)
    found = [(G.names[i], G.names[j]) for i, j in zip(G.sources, G.targets, strict=True)]
    assert sorted(zip(found, G.weights.tolist(), strict=True)) == [(("a", "b"), 2.0), (("b", "c"), 7.0)]


def test_an_edge_that_is_false_is_none() -> None:
    twice = sr.Graph(np.array([0, 0, 1]), np.array([1, 1, 2]), 3, np.array([False, True, True]))
    G = transitive_reduction(twice)
    assert (G.sources.tolist(), G.targets.tolist(), G.weights.tolist()) == ([0, 1], [1, 2], [True, True])


def test_of_several_cycles_a_shortest_through_its_vertex_is_named() -> None:
    refused("a cycle, 0 → 2 → 0:", transitive_reduction, [(0, 1), (1, 2), (2, 0), (0, 2), (3, 3)])
    refused("a cycle, 3 → 3:", transitive_reduction, [(0, 1), (3, 3), (3, 0)])
    exactly = [(i, (i + 1) % 11) for i in range(11)]
    refused(r"0 → 1 → .* → 9 → 10 → 0: reduce", transitive_reduction, exactly)


def test_what_is_no_square_matrix() -> None:
    for verb in (transitive_reduction, condensation):
        refused("square", verb, np.zeros((2, 3)))
        with pytest.raises(sr.SemiringError, match=r"A\[1, 0\] is NaN"):
            verb(np.array([[0, 1], [np.nan, 0]]))
