"""Trees of best walks from values: the rule by which ties break, and what is not a tree."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algorithms.trees import DenseTails, Edges, better, predecessors, walk_back

inf = np.inf


def edges_of(A: np.ndarray, zero: float) -> Edges:
    heads, tails = np.nonzero(zero != A.T)
    rows, columns = np.nonzero(zero != A)
    n = np.arange(len(A) + 1)
    return Edges(np.searchsorted(heads, n), tails.astype(np.int32), A[tails, heads],
                 (np.searchsorted(rows, n), columns.astype(np.int32)))


def trees(A: np.ndarray, S: sr.Semiring, bounded: bool = True) -> np.ndarray:
    X = sr.closure(A, S)
    P, lost, _ = predecessors(edges_of(A, S.zero), S.over(A.dtype), X, np.arange(len(A)), bounded)
    assert lost == []
    return P


def test_of_equal_walks_the_least_vertex_comes_before() -> None:
    A = np.full((4, 4), inf)
    A[0, 1] = A[0, 2] = A[1, 3] = A[2, 3] = 1.0
    assert trees(A, sr.min_plus)[0].tolist() == [-1, 0, 0, 1]
    assert trees(A, sr.min_plus, bounded=False)[0].tolist() == [-1, 0, 0, 1]


def test_edges_that_cost_nothing_are_walked_breadth_first() -> None:
    A = np.full((5, 5), inf)
    A[0, 4] = 2.0
    A[4, 2] = A[2, 4] = A[2, 1] = A[1, 2] = A[1, 4] = A[4, 3] = A[3, 1] = 0.0
    assert trees(A, sr.min_plus)[0].tolist() == [-1, 2, 4, 4, 0]


def test_max_min_is_a_plateau() -> None:
    A = np.full((4, 4), -inf)
    A[0, 1] = A[1, 2] = A[2, 3] = A[3, 1] = A[2, 1] = 5.0
    assert trees(A, sr.max_min)[0].tolist() == [-1, 0, 1, 2]


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize(("backwards", "tree"), [(False, [-1, 0, 0]), (True, [-1, 0, 1])])
def test_factors_are_in_the_order_of_the_walk(backwards: bool, tree: list[int], bounded: bool) -> None:
    """Under 2 x + y, walks to vertex 2 weigh 3 and 4, by vertex 1, and backwards 6 and 5."""
    A = np.array([[inf, 1.0, 3.0], [inf, inf, 2.0], [inf, inf, inf]])
    T = SimpleNamespace(zero=inf, one=0.0, add=np.minimum, mul=lambda x, y: 2 * x + y)
    X = np.array([[0.0, 1.0, 2.5]])
    assert predecessors(edges_of(A, inf), T, X, np.array([0]), bounded, backwards)[0].tolist() == [tree]


def test_where_no_best_edge_leads_in_the_best_of_the_others_does() -> None:
    """Two vertices at a distance of 0 from each other, a digit nearer than the only edges to them say."""
    A = np.full((3, 3), inf)
    A[1, 2] = A[2, 1] = 0.0
    A[0, 1], A[0, 2] = 0.1 + 0.2, 0.5
    X = np.array([[0.0, 0.3, 0.3]])
    P, _, guessed = predecessors(edges_of(A, inf), sr.min_plus.over("f8"), X, np.array([0]), True)
    assert P.tolist() == [[-1, 0, 1]] and guessed == [0]
    X = np.array([[0.0, 0.1 + 0.2, 0.1 + 0.2]])
    assert predecessors(edges_of(A, inf), sr.min_plus.over("f8"), X, np.array([0]), True).guessed == []


@pytest.mark.parametrize("bounded", [True, False])
def test_lost_walks_are_told(bounded: bool) -> None:
    A = np.full((3, 3), inf, np.float16)
    A[0, 1] = A[1, 2] = 6e4
    X = np.array([[0, 6e4, inf]], np.float16)
    P, lost, _ = predecessors(edges_of(A, inf), sr.min_plus.over("f2"), X, np.array([0]), bounded)
    assert lost == [(0, 2)] and P.tolist() == [[-1, 0, -1]]


def test_what_cannot_be_reached_is_left_alone() -> None:
    A = np.full((3, 3), inf)
    A[1, 2] = 1.0
    X = np.array([[0.0, inf, 5.0]])  # no closure: its walk to 2 is lost on the way
    P, lost, _ = predecessors(edges_of(A, inf), sr.min_plus.over("f8"), X, np.array([0]), False)
    assert lost == [] and P.tolist() == [[-1, -1, -1]]


def test_walks_that_lead_to_the_root_are_extended_in_front() -> None:
    S = sr.Semiring("left", add=np.minimum, mul=lambda a, b: a + 2 * b, zero=inf, one=0.0, product_only=True)
    A = np.array([[inf, 3.0], [inf, inf]])
    X = np.array([[3.0, 0.0]])
    P, _, _ = predecessors(edges_of(A.T, inf), S.over("f8"), X, np.array([1]), True, True)
    assert P.tolist() == [[1, -1]]


def test_better() -> None:
    improves, best = better(sr.min_plus.over("f8"), np.array([2.0, 2.0]), np.array([1.0, 3.0]))
    assert improves.tolist() == [True, False] and best.tolist() == [1.0, 2.0]


@settings(max_examples=150)
@given(st.sampled_from(["min-plus", "max-min", "min-max", "viterbi"]), st.sampled_from(["f8", "f4", "i4"]),
       st.integers(1, 7), st.randoms(use_true_random=False))
def test_a_walk_back_is_that_of_the_tree(name: str, dtype: str, n: int, random: Any) -> None:
    """By Python's numbers where those are the algebra's, and by arrays elsewhere; or the whole tree is asked for."""
    S, kind = sr.catalogue[name.replace("-", "_")], "f8" if name == "viterbi" else dtype
    T = S.over(kind)
    weights = [T.zero, T.one] + [T.element(w) for w in ((0.25, 0.5) if name == "viterbi" else (1, 2, 3, 7))]
    A = np.array([random.choice(weights) for _ in range(n * n)], kind).reshape(n, n)
    there = T.zero != A
    rows, columns = np.nonzero(there.T)
    turned = Edges(np.concatenate([[0], np.cumsum(there.sum(axis=0))]), columns.astype(np.int32), A.T[there.T],
                   (np.concatenate([[0], np.cumsum(there.sum(axis=1))]), np.nonzero(there)[1].astype(np.int32)))
    assert len(rows) == there.sum()
    for source in range(n):
        x = np.asarray(sr.closure(A, S))[source]
        before = predecessors(turned, T, x[None], np.array([source]), True)[0][0]
        for target in np.flatnonzero(x != T.zero).tolist():
            expected = [target]
            while expected[-1] != source:
                expected.append(int(before[expected[-1]]))
            for edges in (turned, DenseTails(A)):
                found = walk_back(edges, T, x, source, target)
                assert found is None or found == expected[::-1]
                if all(bool(better(T, x[v : v + 1], x[u : u + 1])[0]) for v, u in pairwise(expected)):
                    assert found is not None
