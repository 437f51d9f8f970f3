"""Distances as SciPy's functions return them: by SciPy's own search where that takes less time."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph as theirs

from semiring import csgraph as ours
from semiring import distances


@pytest.fixture(autouse=True)
def by_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distances, "SCIPY_WORK", 0)


def test_small_work_is_scipys(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same answers by either library; negative edges are never given away."""
    A = np.array([[0, 2.0, 9.0], [0, 0, 3.0], [0, 0, 0]])
    here = ours.floyd_warshall(A, return_predecessors=True)
    assert "closure over min-plus" in ours.plan(A) and "rows over min-plus" in ours.plan(A, indices=[0])
    monkeypatch.setattr(distances, "SCIPY_WORK", 1e9)
    assert "SciPy's own" in ours.plan(A)
    there = ours.floyd_warshall(A, return_predecessors=True)
    assert all(np.array_equal(x, y) for x, y in zip(here, there, strict=True))
    A[1, 2] = -3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ours.floyd_warshall(A)[0, 2] == -1
    assert "closure" in ours.plan(A)


def test_plan_knows_of_predecessors(monkeypatch: pytest.MonkeyPatch) -> None:
    """With them more is SciPy's, and `plan` says what the functions do."""
    A = np.array([[0, 2.0, 9.0], [0, 0, 3.0], [0, 0, 0]])
    asked: list[bool] = []
    real = theirs.dijkstra
    monkeypatch.setattr(theirs, "dijkstra", lambda graph, return_predecessors=False: (
        asked.append(return_predecessors), real(graph, return_predecessors=return_predecessors))[1])
    monkeypatch.setattr(distances, "SCIPY_WORK", 10)  # the work here is 3 · (9 + 3)
    for wanted in (False, True):
        ours.floyd_warshall(A, return_predecessors=wanted)
        assert ("SciPy's own" in ours.plan(A, return_predecessors=wanted)) == (wanted in asked) == wanted


def test_the_plan_knows_that_trees_are_given_away_for_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    A = np.array([[0, 2.0, 9.0], [0, 0, 3.0], [0, 0, 0]])
    monkeypatch.setattr(distances, "SCIPY_WORK", 3 * (9 + 3) / distances.WITH_PREDECESSORS + 1)
    assert "closure" in ours.plan(A) and "SciPy's own" in ours.plan(A, return_predecessors=True)


def test_the_shortest_of_parallel_edges_counts_and_each_goes_both_ways() -> None:
    A = sp.csr_array((np.array([5.0, 2.0, 7.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    assert distances.single(A).toarray().tolist() == [[0, 2], [7, 0]]
    assert distances.single(distances.graph_of(A, False, False)).toarray().tolist() == [[0, 2], [2, 0]]
