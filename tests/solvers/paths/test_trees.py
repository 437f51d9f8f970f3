"""Which edges are looked at, by whom, and what is refused."""

from __future__ import annotations

import functools
import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from engines import by_both, slow_but
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algebra.elements import full
from semiring.kernels.blocks.rows import Rows
from semiring.operands.read import read
from semiring.operands.sparse import Sparse
from semiring.solvers.paths import search, searches, trees
from semiring.solvers.paths.trees import best_trees, has_hubs, least_or_greatest, loses_nothing

inf = np.inf


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("name", ["min_plus", "max_min", "min_max", "viterbi", "lukasiewicz"])
def test_edges_that_are_left_out_are_of_no_best_walk(
    name: str, backwards: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    S = sr.catalogue[name]

    @settings(max_examples=60)
    @given(st.integers(0, 10**6), st.integers(1, 12), st.floats(0, 1))
    def check(seed: int, n: int, filled: float) -> None:
        rng = np.random.default_rng(seed)
        A = rng.choice([0.5, 1.0, 0.25], (n, n)) if name == "viterbi" else rng.integers(0, 9, (n, n)).astype(float)
        A = rng.integers(6, 11, (n, n)) / 10 if name == "lukasiewicz" else A  # 1 + a − 1 may be more than a
        A[rng.random((n, n)) > filled] = S.zero
        X = sr.closure(A, S)
        X = X.T if backwards else X
        operand, roots = read(A, S), np.arange(n)
        found = best_trees(operand, X, roots, backwards=backwards)
        with monkeypatch.context() as patch:
            patch.setattr(trees, "least_or_greatest", lambda S: 0)
            assert (best_trees(operand, X, roots, backwards=backwards) == found).all()
        for some in (roots[: n // 2 + 1], rng.permutation(n), rng.integers(0, n, n)):
            assert (best_trees(operand, X[some], some, backwards=backwards) == found[some]).all()

    check()


def test_what_is_the_lesser_and_what_the_greater() -> None:
    assert least_or_greatest(sr.min_plus) == -1 and least_or_greatest(sr.max_min) == 1
    assert least_or_greatest(sr.shortest_hops) == least_or_greatest(sr.plus_times) == 0


def always_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether compiled code is affordable is asked even if it was compiled before."""
    monkeypatch.setattr(trees, "code_of", lambda *_: SimpleNamespace(bought=False))


@pytest.mark.parametrize("name", slow_but([["max_min"], ["min_max"]], 0))
def test_where_values_only_compare_trees_are_those_of_the_general_way(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plateaus, forwards and backwards, of graphs that are their own mirror image and of others."""
    S = sr.catalogue[name]
    always_asks(monkeypatch)
    monkeypatch.setattr(trees, "affordable", lambda low, *_: low)
    asked: list[str] = []
    search = trees._from_a_search
    monkeypatch.setattr(trees, "_from_a_search", lambda *given: asked.append("search") or search(*given))

    @settings(max_examples=40)
    @given(st.integers(0, 10**6), st.integers(1, 12), st.floats(0, 1), st.booleans(), st.booleans())
    def check(seed: int, n: int, filled: float, both_ways: bool, backwards: bool) -> None:
        rng = np.random.default_rng(seed)
        A = rng.integers(0, 4, (n, n)).astype(float)
        A[rng.random((n, n)) > filled] = S.zero
        A = np.maximum(A, A.T) if both_ways else A
        X = np.asarray(sr.closure(A, S))
        X = X.T if backwards else X
        rows = read(sp.csr_array(np.where(S.zero == A, 0, 1)), S).rows  # the same edges, of which some weigh 0
        graph = Sparse(Rows(rows.offsets, rows.columns, A[S.zero != A], n), S, "A")
        for given_ in (read(A, S), graph):
            for roots in (np.arange(n), rng.permutation(n)[: n // 2 + 1]):
                asked.clear()
                x = np.ascontiguousarray(X[roots])
                found = best_trees(given_, x, roots, backwards=backwards)
                across = best_trees(given_, np.asfortranarray(x), roots, backwards=backwards)
                assert set(asked) == (set() if backwards else {"search"})
                with monkeypatch.context() as patch:
                    patch.setattr(trees, "affordable", lambda low, *_: low.interpreted)
                    expected = best_trees(given_, x, roots, backwards=backwards)
                assert (across == expected).all()
                assert (found == expected).all()

    check()


def test_what_is_no_better_than_zero_is_no_edge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of capacities, where no walk is worth 0, an edge of 0 leads nowhere; nor does one to the worst infinity."""
    monkeypatch.setenv("SEMIRING_COMPILE", "always")
    S = sr.Semiring("capacity", add=np.maximum, mul=np.minimum, zero=0.0, one=inf, carrier=lambda a: a >= 0)
    rows = Rows(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32), np.array([0.0, 0.0, 3.0, 3.0]), 3)
    graph = Sparse(rows, S, "A")
    X = np.array([[inf, 0.0, 0.0], [0.0, inf, 3.0], [0.0, 3.0, inf]])
    found = best_trees(graph, np.asfortranarray(X), np.arange(3), backwards=True)
    assert found.tolist() == [[-1, -1, -1], [-1, -1, 1], [-1, 2, -1]]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i2", "u1"])
@given(st.data(), st.sampled_from(["min_plus", "max_plus", "viterbi", "shortest_hops", "min_max"]), st.integers(1, 300))
def test_products_that_are_said_not_to_be_zero_are_not(dtype: str, data: Any, name: str, n: int) -> None:
    S, kind = sr.catalogue[name], np.dtype(dtype)
    if S.fields:
        weights = np.array([(1.0, 1.0)], S.dtypes[0])
    elif name == "viterbi":
        kind = np.dtype("f4") if kind.kind != "f" else kind
        weights = np.array(data.draw(st.lists(st.floats(0, 1, width=16), min_size=1, max_size=4)), kind)
    else:
        top = float((np.finfo if kind.kind == "f" else np.iinfo)(kind).max)
        sizes = [x for x in (0.0, 1.0, 7.0, top / 2 // n, top / n, top, inf) if x <= top or kind.kind == "f"]
        with np.errstate(over="ignore"):
            weights = np.array(data.draw(st.lists(st.sampled_from(sizes), min_size=1, max_size=4))).astype(kind)
        weights = -weights if name == "max_plus" and kind.kind != "u" else weights
    if name == "max_plus" and kind.kind == "u":
        return
    if loses_nothing(S, weights, n):
        T = S.over(weights.dtype)
        some = [w for w in weights if w != T.zero]
        for start in some:
            total, exact = start, float(start) if kind.kind in "iu" else 0.0
            for k in range(1, n):
                total, exact = T.mul(total, some[k % len(some)]), exact + float(some[k % len(some)])
            assert total != T.zero and (kind.kind == "f" or abs(exact) < np.iinfo(kind).max)


def test_hubs_have_more_edges_than_a_byte_numbers() -> None:
    star = Rows(np.array([0, *[0] * 127, 127]), np.arange(127, dtype=np.int32), np.ones(127), 128)
    more = Rows(np.array([0, *[0] * 128, 128]), np.arange(128, dtype=np.int32), np.ones(128), 129)
    assert not has_hubs(star) and has_hubs(more)


def test_a_root_that_is_no_unit_is_refused() -> None:
    with pytest.raises(sr.LawError, match="go round a cycle"):
        best_trees(read(np.eye(2), sr.min_plus), np.array([[-1.0, 0.0]]), np.array([0]))


def capped(most: int) -> sr.Semiring:
    """Max-plus that stops at a number, so that going round a cycle is better until there."""
    return sr.Semiring(
        f"capped at {most}", add=np.maximum, mul=lambda a, b: np.where((a < 0) | (b < 0), -1, np.minimum(a + b, most)),
        zero=-1, one=0, carrier=lambda a: (a >= -1) & (a <= most) & (np.floor(a) == a), dtypes="fi",
    )


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", ["f8", "i4"])
def test_trees_tell_the_best_walks_or_are_refused(dtype: str, sparse: bool) -> None:
    """A best walk that goes round a cycle away from its ends, or round a loop, is in no tree."""
    S = capped(10)

    @settings(max_examples=60)
    @given(st.integers(0, 10**6), st.integers(1, 6), st.booleans())
    def check(seed: int, n: int, backwards: bool) -> None:
        rng = np.random.default_rng(seed)
        A = rng.choice([-1, -1, -1, 0, 1, 7], (n, n)).astype(dtype)
        rows, columns = np.nonzero(A >= 0)
        G = sr.as_graph((rows, columns, A[rows, columns]), n=n) if sparse and rows.size else A
        X, B = sr.closure(A, S), A.T if backwards else A
        for v in range(n):
            x = X[:, v] if backwards else X[v]
            try:
                before = best_trees(read(G, S), x[None], np.array([v]), backwards=backwards)[0]
            except sr.LawError:
                assert x[v] > 0 or np.any((x >= 0) & ~reached_along_best_edges(B, x, v, 10)), "there is a tree"
                continue
            for end in np.flatnonzero(x >= 0).tolist():
                weight, u = 0, end
                while u != v:
                    weight, u = weight + B[before[u], u], int(before[u])
                assert min(weight, 10) == x[end]

    check()


def reached_along_best_edges(A: np.ndarray, x: np.ndarray, root: int, most: int) -> np.ndarray:
    """The vertices that a tree of best walks from a root can hold, by their values."""
    reached = np.arange(len(A)) == root
    for _ in range(len(A)):
        for u, v in np.argwhere((A >= 0) & reached[:, None]).tolist():
            reached[v] |= min(x[u] + A[u, v], most) == x[v]
    return reached


def test_integers_beyond_64_bits_are_looked_at_one_by_one() -> None:
    big = np.int64(2**62)
    A = np.array([[0, big, -1], [-1, 0, 1], [-1, -1, 0]])
    A[A == -1] = np.iinfo(np.int64).max
    X = sr.closure(A, sr.min_plus)
    assert best_trees(read(A, sr.min_plus), X, np.arange(3)).tolist() == [[-1, 0, 1], [-1, -1, 1], [-1, -1, -1]]


# An algebra, a dtype, weights of many ties, and how many vertices at most.
TIES: list[tuple[str, str, list[Any], int]] = [
    ("min_plus", "f8", [0.0, 1.0, 2.0], 7), ("min_plus", "f8", [1.0], 7), ("min_plus", "f8", [0.0, 1.0, 2.0, -1.0], 5),
    ("min_plus", "i8", [0, 1, 2], 6), ("min_plus", "O", [0.0, 1.0, 2.0], 6), ("boolean", "?", [True], 7),
    ("max_min", "f4", [1.0, 2.0, 3.0], 7), ("max_plus", "f8", [0.0, -1.0, -2.0], 6),
    ("shortest_hops", "home", [(0.0, 1.0), (1.0, 1.0), (0.0, 0.0), (1.0, 0.0)], 6),
]


def tree_by_the_rule(A: np.ndarray, T: Any, x: np.ndarray, root: int, bounded: bool) -> list[int]:
    """What docs/design.md says of ties, one vertex and one edge after the other."""
    n, zero, one = len(A), full(x[:1], T.zero)[0], full(x[:1], T.one)[0]

    def better(a: Any, b: Any) -> bool:
        return T.add(np.array([b], A.dtype), np.array([a], A.dtype))[0] != b

    def product(u: int, v: int) -> Any:
        return T.mul(np.array([x[u]], A.dtype), np.array([A[u, v]], A.dtype))[0]

    assert x[root] == one
    reached = [v for v in range(n) if x[v] != zero]
    best = {v: [u for u in reached if u != v and A[u, v] != zero and product(u, v) == x[v]] for v in reached}
    before = {root: -1}
    for v in reached:
        from_better = [u for u in best[v] if bounded and better(x[u], x[v])]
        if from_better and v != root:
            before[v] = min(from_better)
    while len(before) < len(reached):
        found = {v: min(u for u in best[v] if u in before) for v in reached if v not in before and
                 any(u in before for u in best[v])}
        assert found
        before |= found
    return [before.get(v, -1) for v in range(n)]


@pytest.mark.parametrize(("kind", "compile"), by_both(([kind] for kind in TIES), 0, 1, 2, 6))
def test_ties_break_alike_whatever_searches(
    kind: tuple[str, str, list[Any], int], compile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Heaps, buckets, levels, corrected labels, NumPy and objects: one tree, one path, and one nearest place."""
    name, spelt, weights, most = kind
    S = sr.catalogue[name]
    dtype = S.dtypes[0] if spelt == "home" else np.dtype(spelt)
    T, zero = S.over(dtype), S.zero_in(dtype)
    always_asks(monkeypatch)
    for module in (trees, search, searches):
        monkeypatch.setattr(module, "affordable", lambda low, *_: low if compile == "always" else low.interpreted)

    @settings(max_examples=40)
    @given(st.data(), st.integers(1, most), st.booleans())
    def check(data: st.DataObject, n: int, heap: bool) -> None:
        ends = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
        edges = data.draw(st.dictionaries(ends, st.sampled_from(weights), max_size=4 * n), "edges")
        sources = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=3), "sources")
        bounded = name != "min_plus" or min(edges.values(), default=0) >= 0
        A = np.empty((n, n), dtype)
        A[...] = zero
        for (u, v), w in edges.items():
            A[u, v] = w
        G = sr.Graph([u for u, _ in edges], [v for _, v in edges], n, np.array(list(edges.values()), dtype))
        try:
            X = np.asarray(sr.closure(A, S))
        except sr.NoClosureError:
            return
        with monkeypatch.context() as patch:
            if heap:
                patch.setattr(search, "sums_numbers", lambda low: False)
                patch.setattr(searches, "sums_numbers", lambda low: False)
            expected = [tree_by_the_rule(A, T, X[s], s, bounded) for s in sources]
            rows, before = sr.closure_rows(G, S, sources, predecessors=True)
            assert rows.tolist() == shown(X)[sources].tolist() and before.tolist() == expected
            assert sr.paths(G, S, sources=sources).predecessors.tolist() == expected
            if bounded:
                within = sr.closure_rows(G, S, sources, predecessors=True, limit=worst(T, X))[1]
                assert within.tolist() == expected
            for v in range(n):
                walk = sr.path(G, S, sources[0], v)[1]
                assert walk is None or walk[:-1] == back(expected[0], v)
            check_places(A, T, G, X, sorted(set(sources)), bounded)

    check()


def shown(X: np.ndarray) -> np.ndarray:
    """As answers about a graph come: ∞ is a float, not the limit of integers that stands for it."""
    if X.dtype.kind != "i":
        return X
    return np.where(np.iinfo(X.dtype).max == X, np.inf, X)


def worst(T: Any, X: np.ndarray) -> Any:
    """An element than which nothing that is reached is worse."""
    zero = full(X, T.zero)
    values = X[zero != X]
    worst = values[0]
    for value in values[1:]:
        if T.add(np.array([worst], X.dtype), np.array([value], X.dtype))[0] == worst:
            worst = value
    return np.array([worst], X.dtype).tolist()[0]


def back(before: list[int], v: int) -> list[int]:
    """The vertices before one."""
    walk: list[int] = []
    while before[v] >= 0:
        v = before[v]
        walk.append(v)
    return walk[::-1]


def check_places(A: np.ndarray, T: Any, G: sr.Graph, X: np.ndarray, places: list[int], bounded: bool) -> None:
    n = len(A)
    larger = np.empty((n + 1, n + 1), A.dtype)
    larger[...] = full(larger, T.zero)
    larger[:n, :n], larger[n, places] = A, full(larger[0, :1], T.one)
    x = X[places[0]]
    for p in places[1:]:
        x = np.asarray(T.add(x, X[p]))
    before = tree_by_the_rule(larger, T, np.append(x, full(x[:1], T.one)), n, bounded)
    expected = [-1 if before[v] < 0 else (*back(before, v), v)[1] for v in range(n)]
    found = sr.nearest(G, T.semiring, places)
    assert found.weights.tolist() == shown(x).tolist() and found.places.tolist() == expected


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("sources", [None, "all"])
def test_cycles_that_are_one_but_for_rounding(seed: int, sources: str | None) -> None:
    """Every walk weighs what is said, though the best edges to a cycle's vertices may all be its own."""
    random = np.random.default_rng(seed)
    n = int(random.integers(3, 12))
    height = random.normal(size=n) * 100
    A = height[:, None] - height + np.where(random.random((n, n)) < 0.6, 0, random.random((n, n)))
    A[random.random((n, n)) < 0.4] = np.inf
    np.fill_diagonal(A, np.inf)
    for S, B in ((sr.min_plus, A), (sr.max_plus, -A)):
        R = sr.paths(B, S) if sources is None else sr.paths(B, S, sources=list(range(n)))
        for s, t in np.ndindex(n, n):
            weight, vertices = R[s, t]
            if s != t and vertices is not None:
                assert (vertices[0], vertices[-1]) == (s, t)
                walked = functools.reduce(S.mul, [B[u, v] for u, v in itertools.pairwise(vertices)])
                np.testing.assert_allclose(walked, weight, rtol=1e-9, atol=1e-9 * 300)
