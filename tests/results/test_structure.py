"""Order, cycles, components, bridges and longest paths, against NetworkX and brute force, in every form of a graph."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from reachable import makes
from sparse_patterns import Edges, patterns

import semiring as sr
from semiring.machine import memory
from semiring.results import structure
from semiring.results.structure import bridges, components, find_cycle, longest_path, topological_order

inf = np.inf
SETTINGS = settings(max_examples=40)
EVERY = (topological_order, find_cycle, components, bridges)
ROADS = [("Ayr", "Bute"), ("Bute", "Coll"), ("Coll", "Bute"), ("Coll", "Dale"), ("Eigg", "Dale")]


def digraph(n: int, edges: Edges) -> nx.DiGraph:
    G = nx.DiGraph()
    G.add_nodes_from(range(n))
    G.add_edges_from(edges)
    return G


def of(n: int, edges: Any, **more: Any) -> sr.Graph:
    i, j = (np.array([e[k] for e in edges], np.int64) for k in (0, 1))
    return sr.Graph(i, j, n, **more)


def lists(groups: list[Any]) -> list[list[int]]:
    return [g.tolist() for g in groups]


@SETTINGS
@given(patterns(), st.booleans())
def test_order_and_cycles(given_pattern: tuple[int, Edges], acyclic: bool) -> None:
    n, edges = given_pattern
    edges = [e for e in edges if e[0] < e[1] or not acyclic]
    A, cycle = of(n, edges), find_cycle(of(n, edges))
    assert (cycle is None) == nx.is_directed_acyclic_graph(digraph(n, edges))
    if cycle is None:
        order = topological_order(A).tolist()
        assert sorted(order) == list(range(n))
        assert all(order.index(u) < order.index(v) for u, v in edges)
        return
    assert cycle[0] == cycle[-1] and len(cycle) > 1 and set(pairwise(cycle)) <= set(edges)
    for verb in (topological_order, longest_path):
        with pytest.raises(sr.GraphError, match="the graph has a cycle, " + " → ".join(map(str, cycle[:12]))):
            verb(A)


@SETTINGS
@given(patterns())
def test_components(given_pattern: tuple[int, Edges]) -> None:
    n, edges = given_pattern
    A, G = of(n, edges), digraph(n, edges)
    for weak, theirs in ((False, nx.strongly_connected_components), (True, nx.weakly_connected_components)):
        assert lists(components(A, weak=weak)) == sorted(map(sorted, theirs(G)))
    undirected = sr.Graph(A.sources, A.targets, n, directed=False)
    assert lists(components(undirected)) == lists(components(A, weak=True)) == lists(components(undirected, weak=True))


@SETTINGS
@given(patterns(), st.booleans())
def test_bridges_and_cycles_of_undirected_graphs(given_pattern: tuple[int, Edges], parallel: bool) -> None:
    n, edges = given_pattern
    G: Any = nx.MultiGraph() if parallel else nx.Graph()
    G.add_nodes_from(range(n))
    G.add_edges_from(edges)
    assert sorted(map(tuple, bridges(G).tolist())) == sorted({(min(e), max(e)) for e in nx.bridges(G)})
    cycle = find_cycle(G)
    assert (cycle is None) == (n == 0 or nx.is_forest(G))
    if cycle is not None:
        left = [tuple(sorted(e[:2])) for e in G.edges()]
        for step in pairwise(cycle):
            left.remove(tuple(sorted(step)))


@SETTINGS
@given(patterns(8), st.randoms(), st.sampled_from(["f8", "f4", "i8", "i2"]), st.data())
def test_longest_path(given_pattern: tuple[int, Edges], random: Any, dtype: str, data: Any) -> None:
    n, edges = given_pattern
    edges = [e for e in edges if e[0] < e[1]]
    weights = np.array([random.randint(-6, 9) for _ in edges], dtype)
    vertex = st.none() | st.integers(0, n - 1) if n else st.none()
    source, target = data.draw(vertex), data.draw(vertex)
    best: dict[int, int] = {v: 0 for v in range(n) if source in (None, v)}
    for (u, v), w in zip(edges, weights.tolist(), strict=True):  # sources ascend, so that labels are final
        if u in best:
            best[v] = max(best.get(v, -(10**9)), best[u] + int(w))
    ends = [w for v, w in best.items() if target in (None, v)]
    weight, path = longest_path(of(n, edges, weights=weights), source, target)
    if not ends:  # −∞ of integers is a float
        assert isinstance(weight, np.dtype(dtype).type if dtype[0] == "f" else float)
        assert path is None and weight == -inf
        return
    assert isinstance(weight, np.dtype(dtype).type)
    assert path is not None and weight == max(ends)
    assert (source is None or path[0] == source) and (target is None or path[-1] == target)
    along = dict(zip(edges, weights.tolist(), strict=True))
    assert sum(along[step] for step in pairwise(path)) == weight


def test_every_form_of_a_graph() -> None:
    dense = np.zeros((6, 6), bool)
    dense[[0, 1, 1, 3, 4], [1, 2, 3, 4, 3]] = True
    expected = [[0], [1], [2], [3, 4], [5]]
    for what, A in makes(dense).items():
        assert lists(components(A)) == expected, what
        assert lists(components(A, weak=True)) == [[0, 1, 2, 3, 4], [5]], what
        assert find_cycle(A) == [3, 4, 3], what
        assert bridges(A).tolist() == [[0, 1], [1, 2], [1, 3], [3, 4]], what
    dense[4, 3] = False
    for what, A in makes(dense).items():
        assert topological_order(A).tolist() == [0, 5, 1, 2, 3, 4], what
        if what not in ("bool", "int", "float", "packed", "min-plus"):  # whose zeros are weights, or that have none
            assert longest_path(A)[1] is not None, what


def test_by_name() -> None:
    assert components(ROADS) == [["Ayr"], ["Bute", "Coll"], ["Dale"], ["Eigg"]]
    assert components(ROADS, weak=True) == [["Ayr", "Bute", "Coll", "Dale", "Eigg"]]
    assert find_cycle(ROADS) == ["Bute", "Coll", "Bute"]
    assert bridges(ROADS) == [("Ayr", "Bute"), ("Bute", "Coll"), ("Coll", "Dale"), ("Dale", "Eigg")]
    A = sr.adjacency([("a", "b", 2.0), ("b", "c", -3.0), ("d", "b", 4.0)], sr.max_plus)
    assert topological_order(A) == ["a", "d", "b", "c"]
    assert longest_path(A) == (4, ["d", "b"])
    assert longest_path(A, "a", "c") == (-1, ["a", "b", "c"])
    assert longest_path(A, target="a") == (0, ["a"])
    assert longest_path(A, "c", "a") == (-inf, None)
    with pytest.raises(sr.GraphError, match="no vertex is called 'e'"):
        longest_path(A, "e")


def test_weights_of_longest_paths() -> None:
    assert longest_path([("a", "b"), ("b", "c"), ("a", "c")]) == (2, ["a", "b", "c"])
    big = of(3, [(0, 1), (1, 2)], weights=np.array([2**62, 2**62]))
    assert longest_path(big) == (2**63, [0, 1, 2])
    assert longest_path(np.array([[-inf, 3.0], [-inf, -inf]])) == (3, [0, 1])
    stored = sp.csr_array(([0.0, -inf], ([0, 1], [1, 0])), shape=(2, 2))  # −∞ is not an edge, and 0 is one
    assert longest_path(stored, 0, 1) == (0, [0, 1])
    assert longest_path(of(0, [])) == (-inf, None)
    assert longest_path(of(2, [(0, 1)], weights=np.array([inf]))) == (inf, [0, 1])


def test_parallel_edges() -> None:
    assert bridges([(0, 1), (0, 1), (1, 2)]).tolist() == [[1, 2]]
    assert bridges([(0, 1), (1, 0), (1, 2)]).tolist() == [[0, 1], [1, 2]], "the two directions of one edge"
    twice = of(2, [(0, 1), (1, 0)], directed=False)
    assert bridges(twice).tolist() == [] and find_cycle(twice) == [0, 1, 0]
    assert find_cycle(of(2, [(0, 1)], directed=False)) is None
    assert find_cycle(of(1, [(0, 0)], directed=False)) == find_cycle([(0, 0)]) == [0, 0]
    false = sr.Graph(np.array([0, 1]), np.array([1, 0]), 2, np.array([True, False]))
    assert find_cycle(false) is None
    assert find_cycle(sp.csr_array(np.array([[True, True], [False, False]]))) == [0, 0]
    explicit = sp.csr_array((np.array([False, True]), ([0, 1], [0, 0])), shape=(2, 2))
    assert find_cycle(explicit) is None


def test_what_is_refused() -> None:
    for verb in EVERY:
        with pytest.raises(sr.GraphError, match="square"):
            verb(np.zeros((2, 3)))
        for A in (np.array([[0, 1], [np.nan, 0]]), sp.csr_array(np.array([[0, 1], [np.nan, 0]]))):
            with pytest.raises(sr.SemiringError, match=r"A\[1, 0\] is NaN"):
                verb(A)
    for verb in (topological_order, longest_path):
        with pytest.raises(sr.GraphError, match="undirected"):
            verb(sr.as_graph(ROADS, directed=False))
    ring = [(i, (i + 1) % 50) for i in range(50)]
    with pytest.raises(sr.GraphError, match=r"0 → 1 → .* → 11 → … \(50 edges\): order its condensation"):
        topological_order(ring)


def test_nothing_is_found_in_nothing() -> None:
    for A in (np.zeros((0, 0)), of(0, []), sp.csr_array((0, 0))):
        assert topological_order(A).tolist() == [] and find_cycle(A) is None
        assert components(A) == [] and bridges(A).shape == (0, 2)


def test_rows_of_edges_in_any_order() -> None:
    E = structure.edges_of([(2, 1), (0, 2), (0, 1)])
    start, heads = E.rows()
    assert (start.tolist(), heads.tolist()) == ([0, 2, 2, 3], [1, 2, 1])


def test_more_vertices_than_memory_has_room_for_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of one edge may say that there are milliards of vertices: what asks for memory first says so."""
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**30)
    verbs = (components, bridges, topological_order, find_cycle, longest_path, sr.transitive_reduction)
    for n, message in ((10**9, r"needs 44\.7 GiB of memory and 1\.0 GiB is"), (10**12, "up to 2147483647 rows")):
        graph = sr.as_graph((np.array([0]), np.array([1])), n)
        for verb in verbs:
            with pytest.raises(sr.SemiringError, match=message):
                verb(graph)
        assert topological_order(graph.compact()).tolist() == [0, 1]
