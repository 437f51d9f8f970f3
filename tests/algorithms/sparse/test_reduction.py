"""The transitive reduction by blocks of targets, against the definition on dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sparse_patterns import patterns, rows

from semiring.algorithms.sparse import reduction

quick = settings(max_examples=60)


def walks(n: int, edges: list[tuple[int, int]]) -> np.ndarray:
    """Which vertices are joined by a walk of one edge or more (Warshall)."""
    R = np.zeros((n, n), bool)
    for u, v in edges:
        R[u, v] = True
    for k in range(n):
        R |= R[:, k, None] & R[k]
    return R


@quick
@given(patterns(), st.randoms(), st.sampled_from([8, 16, 4096]))
def test_an_edge_stays_unless_a_longer_path_replaces_it(given_pattern: tuple, random: object, width: int) -> None:
    n, edges = given_pattern
    order = list(range(n))
    random.shuffle(order)  # type: ignore[attr-defined]
    edges = sorted({(order[u], order[v]) for u, v in edges if u < v})
    R = walks(n, edges)
    expected = [not (R[u] & R[:, v]).any() for u, v in edges]
    with pytest.MonkeyPatch.context() as patch:  # several blocks
        patch.setattr(reduction, "BLOCK_TARGETS", width)
        patch.setattr(reduction, "LINE_TARGETS", 8)
        assert list(reduction.transitive_reduction(*rows(n, edges))) == expected


@quick
@given(patterns())
def test_a_graph_with_a_cycle_has_none(given_pattern: tuple) -> None:
    n, edges = given_pattern
    on_cycle = walks(n, edges).diagonal().any()
    assert (reduction.transitive_reduction(*rows(n, edges)) is None) == on_cycle


def test_many_vertices_take_narrow_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduction, "BLOCK_BYTES", 1000)
    n = 3000
    chain = [(i, i + 1) for i in range(n - 1)]
    skips = [(i, i + 700) for i in range(0, n - 700, 7)]
    edges = sorted(chain + skips)
    kept = reduction.transitive_reduction(*rows(n, edges))
    assert [e for e, k in zip(edges, kept, strict=True) if k] == chain
