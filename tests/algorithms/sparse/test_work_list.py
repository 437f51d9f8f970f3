"""Work lists: orders of depth-first searches, and values of sets against rounds over all edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from semiring.algorithms.sparse.work_list import reverse_postorder, settle


def compressed(n: int, edges: set[tuple[int, int]]) -> tuple[list[int], list[int]]:
    found = sorted(edges)
    return np.searchsorted([u for u, _ in found], np.arange(n + 1)).tolist(), [v for _, v in found]


@st.composite
def graphs(draw: st.DrawFn, acyclic: bool = False) -> tuple[int, set[tuple[int, int]]]:
    n = draw(st.integers(1, 12))
    ends = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    edges = draw(st.sets(ends, max_size=30))
    return n, {(u, v) for u, v in edges if u < v} if acyclic else edges


@given(graphs(acyclic=True), st.randoms())
def test_the_order_of_an_acyclic_graph_is_topological(graph: Any, random: Any) -> None:
    n, edges = graph
    names = list(range(n))
    random.shuffle(names)
    edges = {(names[u], names[v]) for u, v in edges}
    roots = [v for v in range(n) if random.random() < 0.5]
    order = reverse_postorder(*compressed(n, edges), roots)
    place = {v: i for i, v in enumerate(order)}
    assert len(place) == len(order) and all(place[u] < place[v] for u, v in edges if u in place)
    assert set(roots) <= set(order)


@given(graphs(), st.data())
def test_values_are_those_of_rounds(graph: Any, data: st.DataObject) -> None:
    """Sets of facts that edges add to, and take from: such functions do not commute."""
    n, edges = graph
    start, heads = compressed(n, edges)
    sets = st.frozensets(st.integers(0, 3), max_size=3)
    acts = data.draw(st.lists(st.tuples(sets, sets), min_size=len(heads), max_size=len(heads)))
    given_ = data.draw(st.lists(st.none() | sets, min_size=n, max_size=n))

    def after(x: Any, p: int) -> Any:
        return None if x is None else (x - acts[p][0]) | acts[p][1]

    def joined(old: Any, x: Any, p: int) -> Any:
        new = after(x, p)
        new = old if new is None else new if old is None else old | new
        return None if new == old else new

    expected = list(given_)
    for _ in range(5 * n):
        for u in range(n):
            for p in range(start[u], start[u + 1]):
                new = joined(expected[heads[p]], expected[u], p)
                expected[heads[p]] = expected[heads[p]] if new is None else new
    found = list(given_)
    order = reverse_postorder(start, heads, [v for v, x in enumerate(given_) if x is not None])
    assert settle(start, heads, order, found, joined, 10**6)
    assert found == expected


def test_it_ends_when_values_change_too_long() -> None:
    x = [0, 0]
    assert not settle([0, 1, 2], [1, 0], [0, 1], x, lambda old, new, p: new + 1, 100)
    assert sum(x) > 90
