"""Topological order, components, cycles, bridges and longest walks against Warshall's definition and brute force."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sparse_patterns import Edges, patterns, rows

from semiring.algorithms.sparse import traversal
from semiring.kernels.cpu.compile.plain import Loop

quick = settings(max_examples=80)


def walks(n: int, edges: Edges, both: bool = False) -> np.ndarray:
    """Which vertices are joined by a walk of one edge or more (Warshall)."""
    R = np.zeros((n, n), bool)
    for u, v in edges:
        R[u, v] = True
        R[v, u] |= both
    for k in range(n):
        R |= R[:, k, None] & R[k]
    return R


def both_ways(n: int, edges: Edges) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each edge in the rows of both its ends, with its number."""
    entries = sorted((a, b, i) for i, (u, v) in enumerate(edges) for a, b in ((u, v), (v, u)))
    start = np.searchsorted([u for u, _, _ in entries], np.arange(n + 1))
    return start, np.array([v for _, v, _ in entries], np.int64), np.array([i for _, _, i in entries], np.int64)


@quick
@given(patterns())
def test_every_vertex_comes_before_its_successors(given_pattern: tuple[int, Edges]) -> None:
    n, edges = given_pattern
    R = walks(n, edges)
    cyclic = R.diagonal()
    order = traversal.topological_order(*rows(n, edges)).tolist()
    assert sorted(order) == [v for v in range(n) if not (cyclic[v] or R[cyclic, v].any())]
    assert all(order.index(u) < order.index(v) for u, v in edges if v in order)


@quick
@given(patterns(10))
def test_heights(given_pattern: tuple[int, Edges]) -> None:
    n, edges = given_pattern
    edges = [(u, v) for u, v in edges if u < v]
    expected = [0] * n
    for u, v in reversed(edges):  # tails ascend
        expected[u] = max(expected[u], expected[v] + 1)
    start, heads = rows(n, edges)
    assert traversal.heights(start, heads, traversal.topological_order(start, heads)).tolist() == expected


@quick
@given(patterns())
def test_vertices_of_one_component_reach_one_another(given_pattern: tuple[int, Edges]) -> None:
    n, edges = given_pattern
    R = walks(n, edges) | np.eye(n, dtype=bool)
    label = traversal.strong_components(*rows(n, edges))
    assert np.array_equal(label[:, None] == label, R & R.T)
    assert sorted(set(label.tolist())) == list(range(len(set(label.tolist()))))
    assert all(label[u] >= label[v] for u, v in edges)


@quick
@given(patterns())
def test_a_cycle_is_a_shortest_one_through_the_first_vertex_on_one(given_pattern: tuple[int, Edges]) -> None:
    n, edges = given_pattern
    cyclic = np.flatnonzero(walks(n, edges).diagonal())
    found = traversal.cycle(*rows(n, edges))
    if not len(cyclic):
        assert found is None
        return
    assert found is not None and found[0] == found[-1] == cyclic[0]
    assert set(pairwise(found.tolist())) <= set(edges)
    A = np.zeros((n, n), np.int64)
    for u, v in edges:
        A[u, v] = 1
    reached, lengths = A.copy(), 1
    while not reached[cyclic[0], cyclic[0]]:
        reached, lengths = np.minimum(reached @ A, 1), lengths + 1
    assert len(found) == lengths + 1


@quick
@given(patterns(10), st.booleans())
def test_an_undirected_cycle_walks_along_no_edge_twice(given_pattern: tuple[int, Edges], parallel: bool) -> None:
    n, edges = given_pattern
    if not parallel:
        edges = sorted({(min(u, v), max(u, v)) for u, v in edges})
    found = traversal.undirected_cycle(*both_ways(n, edges)).tolist()
    groups: list[set[int]] = [{v} for v in range(n)]  # a forest joins two groups by each of its edges
    forest = True
    for u, v in edges:
        a, b = (next(g for g in groups if w in g) for w in (u, v))
        forest &= a is not b
        if a is not b:
            groups.remove(b)
            a |= b
    assert (found == []) == forest
    if found:
        assert found[0] == found[-1] and len(set(found)) == len(found) - 1
        left = [tuple(sorted(e)) for e in edges]
        for step in pairwise(found):
            left.remove(tuple(sorted(step)))  # each edge once


@quick
@given(patterns(10), st.booleans())
def test_without_a_bridge_its_ends_are_not_connected(given_pattern: tuple[int, Edges], parallel: bool) -> None:
    n, edges = given_pattern
    if not parallel:
        edges = sorted({(min(u, v), max(u, v)) for u, v in edges})
    found = traversal.bridges(*both_ways(n, edges), len(edges)).tolist()
    expected = [u != v and not walks(n, edges[:i] + edges[i + 1 :], both=True)[u, v] for i, (u, v) in enumerate(edges)]
    assert found == expected


@quick
@given(patterns(10), st.randoms(), st.integers(-1, 9))
def test_longest_walks(given_pattern: tuple[int, Edges], random: Any, source: int) -> None:
    n, edges = given_pattern
    source = min(source, n - 1)
    number = list(range(n))
    random.shuffle(number)
    edges = sorted({(number[u], number[v]) for u, v in edges if u < v})
    weights = [random.randint(-5, 5) for _ in edges]
    best: dict[int, int] = {v: 0 for v in range(n) if source in (-1, v)}
    for _ in range(n):
        for (u, v), w in zip(edges, weights, strict=True):
            if u in best:
                best[v] = max(best.get(v, -(10**9)), best[u] + w)
    start, heads = rows(n, edges)
    order = traversal.topological_order(start, heads)
    sums, before = traversal.longest_walks(start, heads, np.array(weights, float), order, source)
    assert {v: int(sums[v]) for v in range(n) if before[v] != -2} == best
    weight = dict(zip(edges, weights, strict=True))
    for v in range(n):
        u = int(before[v])
        assert u < 0 or sums[v] == sums[u] + weight[u, v]


@pytest.mark.usefixtures("machine_code")
def test_machine_code_finds_the_same() -> None:
    rng = np.random.default_rng(4)
    n = 60
    edges = sorted({(int(u), int(v)) for u, v in rng.integers(0, n, (90, 2))})
    start, heads = rows(n, edges)
    upward = rows(n, [e for e in edges if e[0] < e[1]])
    order = traversal.topological_order(*upward)
    weights = rng.normal(size=len(upward[1]))
    for loop, arguments in (
        (traversal.strong_components, (start, heads)), (traversal.shortest_cycle, (start, heads, 0)),
        (traversal.undirected_cycle, both_ways(n, edges)), (traversal.bridges, (*both_ways(n, edges), len(edges))),
        (traversal.longest_walks, (*upward, weights, order, -1)), (traversal.topological_order, upward),
    ):
        assert isinstance(loop, Loop)
        if loop is traversal.shortest_cycle:
            arguments = (start, heads, int(traversal.cycle(start, heads)[0]))
        expected, found = loop.__wrapped__(*arguments), loop.machine_code(*arguments)
        for x, y in zip(*((a if isinstance(a, tuple) else (a,)) for a in (expected, found)), strict=True):
            assert np.array_equal(x, y)
