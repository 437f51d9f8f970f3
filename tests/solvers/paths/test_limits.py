"""What a limit leaves: as much as cutting afterwards does, and the search goes no further."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from engines import slow_but
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algorithms.labels import Dense, settle
from semiring.graphs.texts import with_infinities
from semiring.operands.read import read
from semiring.solvers.paths.trees import best_trees, cut_off, trees_within
from semiring.solvers.paths.walks import beyond, limit_of

inf = np.inf
# Weights none of which is better than one, the algebra's zero first.
WEIGHTS: dict[str, tuple[sr.Semiring, list[Any]]] = {
    "min-plus": (sr.min_plus, [inf, 0.0, 1.0, 1.5, 4.0]), "max-plus": (sr.max_plus, [-inf, 0.0, -1.0, -2.5]),
    "max-min": (sr.max_min, [-inf, 1.0, 2.0, inf]), "min-max": (sr.min_max, [inf, 1.0, 2.0, -inf]),
    "viterbi": (sr.viterbi, [0.0, 0.25, 0.5, 1.0]), "boolean": (sr.boolean, [False, True]),
    "shortest-hops": (sr.shortest_hops, [(inf, inf), (0.0, 1.0), (1.0, 1.0), (1.0, 2.0)]),
}


@st.composite
def limited(draw: st.DrawFn) -> tuple[sr.Semiring, np.ndarray, list[int], Any]:
    """An algebra, a matrix, sources and a limit."""
    S, weights = WEIGHTS[draw(st.sampled_from(sorted(WEIGHTS)))]
    n = draw(st.integers(1, 7))
    cells = st.lists(st.sampled_from([weights[0], *weights]), min_size=n * n, max_size=n * n)
    A = S.array(draw(cells), S.default_dtype).reshape(n, n)
    if S is sr.min_plus and draw(st.booleans()):
        whole = np.where(inf == A, np.iinfo(np.int32).max, np.floor(np.where(inf == A, 0, A)))
        A = whole.astype(np.int32)
    sources = draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=3))
    sums = [*weights, 2.5, 7.0] if S is sr.min_plus and A.dtype.kind == "f" else weights
    return S, A, sources, draw(st.sampled_from(sums if A.dtype.kind != "i" else [inf, 0, 1, 3, 7]))


def as_given(A: np.ndarray, S: sr.Semiring, kind: str) -> Any:
    if kind == "dense":
        return A
    there = S.zero_in(A.dtype) != A
    rows, columns = np.nonzero(there)
    return sr.Graph(rows, columns, len(A), A[there])


@settings(max_examples=150)
@given(limited(), st.sampled_from(["dense", "graph"]))
def test_a_limit_known_before_is_as_cutting_afterwards(case: tuple[Any, ...], kind: str) -> None:
    S, A, sources, limit = case
    A = as_given(A, S, kind)
    R, whole = (sr.paths(A, S, sources=sources, limit=x) for x in (limit, None))
    values = np.asarray(whole.weights).copy()
    bound = S.over(values.dtype).element(limit)
    far = beyond(S, values, np.array([bound], values.dtype))
    expected = np.where(far, -1, whole.predecessors)
    values[far] = S.zero_in(values.dtype)

    def same(found: Any, wanted: np.ndarray) -> None:
        """Integers of graphs show ∞ as the float where there is one."""
        np.testing.assert_array_equal(with_infinities(np.asarray(found), S), with_infinities(wanted, S))

    same(R.weights, values)
    np.testing.assert_array_equal(R.predecessors, expected)
    same(sr.closure_rows(A, S, sources, limit=limit), values)
    targets = [0, len(values[0]) - 1]
    found = sr.closure_rows(A, S, sources, targets=targets, limit=limit)
    same(found, values[:, targets])
    rows, before = sr.closure_rows(A, S, sources, limit=limit, predecessors=True)
    same(rows, values)
    assert not (before[far] >= 0).any()


def grid(side: int, whole: bool = False) -> sp.csr_array:
    i, random = np.arange(side * side), np.random.default_rng(0)
    right, down = i[i % side < side - 1], i[: -side]
    tails = np.concatenate([right, right + 1, down, down + side])
    heads = np.concatenate([right + 1, right, down + side, down])
    weights = random.integers(1, 10, len(tails)) if whole else random.uniform(1, 10, len(tails))
    return sp.csr_array((weights, (tails, heads)), shape=(side * side,) * 2)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("S", slow_but([[sr.min_plus], [sr.min_max], [sr.max_plus]], 0))
def test_compiled_searches_stop(S: sr.Semiring, whole: bool) -> None:
    """Labels in buckets, a heap, and of one value breadth first."""
    A, limit = grid(60, whole), 15
    if S is sr.max_plus:
        A, limit = -A, -15
    alike = sp.csr_array((np.full(A.nnz, A.data[0]), A.indices, A.indptr), shape=A.shape)
    for B in (A, alike):
        bound = limit if S is not sr.min_max else 5
        row = sr.closure_rows(B, S, [1830])[0]
        far = row < limit if S is sr.max_plus else row > bound
        expected = np.where(far, S.zero_in(row.dtype), row)
        np.testing.assert_array_equal(sr.closure_rows(B, S, [1830], limit=bound)[0], expected)
        R = sr.paths(B, S, sources=[1830, 7], limit=bound)
        np.testing.assert_array_equal(R.weights[0], expected)
        whole_tree = sr.paths(B, S, sources=[1830, 7]).predecessors
        np.testing.assert_array_equal(R.predecessors[0], np.where(far, -1, whole_tree[0]))


def test_a_search_within_a_limit_leaves_the_rest_alone() -> None:
    """Each vertex within the limit is settled, and no other one is looked at."""
    n, asked = 50, []

    class Line(Dense):
        def edges(self, u: int) -> tuple[np.ndarray, np.ndarray]:
            asked.append(u)
            return super().edges(u)

    A = np.full((n, n), inf)
    A[np.arange(n - 1), np.arange(1, n)] = 1.0
    found = settle(Line(A), sr.min_plus.over("f8"), 0, np.array([3.0]))
    assert asked == [0, 1, 2, 3] and found.labels[:5].tolist() == [0.0, 1.0, 2.0, 3.0, inf]


@settings(max_examples=60)
@given(limited())
def test_trees_on_the_reached_part_are_the_whole_ones(case: tuple[Any, ...]) -> None:
    S, A, sources, _ = case
    G, roots = read(as_given(A, S, "graph"), S), np.array(sources)
    X = np.asarray(sr.closure_rows(A, S, sources))
    np.testing.assert_array_equal(trees_within(G, X, roots), best_trees(G, X, roots))
    every = G.part(np.arange(len(A)))
    np.testing.assert_array_equal(every.array(), G.array())


def test_what_a_limit_needs() -> None:
    for verb in (lambda A, x: sr.closure_rows(A, sr.min_plus, [0], limit=x),
                 lambda A, x: sr.paths(A, sr.min_plus, sources=[0], limit=x), lambda A, x: sr.paths(
                     A, sr.min_plus, limit=x)):
        with pytest.raises(sr.LawError, match="a limit needs that no edge is better than 0 in min-plus"):
            verb(np.array([[0.0, -1.0], [inf, 0.0]]), 3.0)
        for bad in ("far", [1.0, 2.0], 1j, np.nan):
            with pytest.raises(sr.SemiringError, match="limit"):
                verb(np.array([[0.0, 1.0], [inf, 0.0]]), bad)


@pytest.mark.parametrize("limit", ["5", np.str_("5"), b"5", np.array("5"), ["5"]])
def test_text_is_no_limit(limit: Any) -> None:
    A = np.array([[0.0, 1.0], [inf, 0.0]])
    for S, matrix in ((sr.min_plus, A), (sr.min_plus, np.array([[0, 1], [9, 0]])), (sr.boolean, A == 0)):
        for verb in (sr.closure_rows, sr.paths):
            with pytest.raises(sr.SemiringError, match=r"limit must be an element of .*text is not a number"):
                verb(matrix, S, sources=[0], limit=limit)
    roads = sr.as_graph([(0, 1, (3.0, 1))])
    with pytest.raises(sr.SemiringError, match="text is not a number"):
        sr.closure_rows(roads, sr.shortest_hops, [0], limit=(3.0, "1"))


def test_cutting_off() -> None:
    X, tree = np.array([[0.0, 2.0, 5.0]]), np.array([[-1, 0, 1]], np.int32)
    A = sp.csr_array(([2.0, 3.0], ([0, 1], [1, 2])), shape=(3, 3))
    G = read(A, sr.min_plus)
    cut_off(G, X, tree, limit_of(G, 2))
    assert X.tolist() == [[0.0, 2.0, inf]] and tree.tolist() == [[-1, 0, -1]]


@pytest.mark.parametrize(("S", "dtype", "limit"), [
    (sr.max_min, "i8", 5.5), (sr.min_max, "i4", -2.5), (sr.min_plus, "u1", Fraction(9, 2)), (sr.boolean, "?", 0.5),
], ids=str)
def test_a_limit_between_whole_numbers_is_refused_and_not_cut_off(S: sr.Semiring, dtype: str, limit: Any) -> None:
    """5.5 as an integer is 5, and lets pass what is 5 wide."""
    A = np.full((2, 2), S.one_in(dtype), dtype)
    with pytest.raises(sr.SemiringError, match=r"limit must be an element of .* it does not fit"):
        sr.closure_rows(A, S, [0], limit=limit)


def test_a_limit_of_a_record_is_not_cut_off() -> None:
    S = sr.lexicographic(sr.max_plus, sr.min_plus)
    whole = np.dtype([(f, "i4") for f in S.default_dtype.names or ()])
    B = np.zeros((1, 1), whole)
    by_name = dict(zip(whole.names or (), (-1, 2), strict=True))
    for limit in ((-1, 2), (-1.0, inf), np.array([(-1, 2)], whole)[0], by_name):
        assert sr.closure_rows(B, S, [0], limit=limit).tolist() == [[(0, 0)]]
    assert sr.closure_rows(B, S, [0], limit=(1, 0)).tolist() == [[S.zero_in(whole).item()]]
    with pytest.raises(sr.SemiringError, match="it does not fit int32"):
        sr.closure_rows(B, S, [0], limit=(-1, 2.5))


def test_a_limit_beyond_all_floats_leaves_out_nothing() -> None:
    A = np.array([[inf, 60000.0], [inf, inf]], np.float16)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sr.closure_rows(A, sr.min_plus, [0], limit=70000).tolist() == [[0.0, 60000.0]]
