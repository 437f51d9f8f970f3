"""Eccentricities, diameter, radius and means of graphs, from searches, factors or a closure, against the closure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algorithms.sparse import eccentricity
from semiring.results import measures
from semiring.solvers.paths import measures as by_rows
from semiring.solvers.sparse.factors import SparseFactors

inf = np.inf
ALGEBRAS = [
    ("min_plus", "f8"), ("min_plus", "f4"), ("min_plus", "i4"), ("max_min", "f8"), ("max_min", "i2"), ("min_max", "f4"),
    ("viterbi", "f8"), ("max_plus", "f8"),
]


def expected(A: Any, S: sr.Semiring) -> tuple[np.ndarray, Any, Any]:
    """Eccentricities, diameter and radius from every pair of the closure."""
    D = np.array(sr.closure(A, S))
    zero, ascending = S.zero_in(D.dtype), S.add(0.5, 1.0) == 0.5  # the numbers have ∞ as a float, of integers too
    worst, best = (max, min) if ascending else (min, max)
    found = []
    for v, row in enumerate(D):
        others = [d for w, d in enumerate(row) if w != v and d != zero]
        found.append(worst(others) if others else zero)
    there = [e for e in found if e != zero]
    return np.array(found, D.dtype), worst(there) if there else S.zero, best(there) if there else S.zero


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches, wherever they are allowed, and few rows at a time."""
    monkeypatch.setattr(measures, "_fills_in", lambda given: True)
    monkeypatch.setattr(eccentricity, "TOGETHER", 4)


@st.composite
def graphs(draw: st.DrawFn, dtype: str, name: str) -> sp.csr_array:
    """A small sparse matrix, often symmetric, of few values."""
    n = draw(st.integers(1, 9))
    ends = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=3 * n, unique=True))
    weights = draw(st.lists(st.integers(0, 4), min_size=len(ends), max_size=len(ends)))
    values = np.array(weights, float)
    values = {"viterbi": (values + 1) / 8, "max_plus": -values}.get(name, values)
    A = dict(zip(ends, values.tolist(), strict=True))
    if draw(st.booleans()):
        A |= {(j, i): w for (i, j), w in A.items()}
    rows, columns = np.array(list(A), int).reshape(-1, 2).T
    return sp.csr_array((np.array(list(A.values())).astype(dtype), (rows, columns)), shape=(n, n))


@pytest.mark.usefixtures("searched")
@pytest.mark.parametrize(("name", "dtype"), ALGEBRAS)
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_searches_give_what_the_closure_does(name: str, dtype: str, data: st.DataObject) -> None:
    S = sr.catalogue[name]
    A = data.draw(graphs(dtype, name))
    each, far, near = expected(A, S)
    found = sr.eccentricities(A, S)
    assert found.dtype == each.dtype
    np.testing.assert_allclose(found, each, rtol=1e-12 if dtype == "f8" else 1e-6)
    assert [sr.diameter(A, S), sr.radius(A, S)] == pytest.approx([far, near], rel=1e-12 if dtype == "f8" else 1e-6)


@pytest.mark.parametrize("kind", ["rmat", "uniform", "planar"])
@pytest.mark.parametrize("name", ["min_plus", "max_min", "min_max"])
def test_large_graphs_of_every_kind(kind: str, name: str) -> None:
    S = sr.catalogue[name]
    options: dict[str, Any] = {"degree": (1, 6)} if kind == "uniform" else {}
    A = sr.random_graph(1500, kind, weights=(1.0, 9.0), seed=4, **options)
    each, far, near = expected(A, S)
    np.testing.assert_allclose(sr.eccentricities(A, S), each, rtol=1e-12)
    assert [sr.diameter(A, S), sr.radius(A, S)] == pytest.approx([far, near], rel=1e-12)


def test_who_finds_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    for name in ("by_searches", "by_factors", "of_closure"):
        whole = getattr(by_rows, name)
        monkeypatch.setattr(by_rows, name, lambda *a, name=name, whole=whole: asked.append(name) or whole(*a))
    social, roads = sr.random_graph(1500, "rmat", degree=8, seed=1), sr.random_graph(1500, "grid")
    for A, S in ((social, sr.min_plus), (roads, sr.min_plus), (np.ones((4, 4)), sr.min_plus)):
        sr.diameter(A, S)
    assert asked == ["by_searches", "by_factors", "of_closure"]
    asked.clear()
    F = sr.factor(social, sr.min_plus)
    assert isinstance(F, SparseFactors)
    assert sr.diameter(F, sr.min_plus) == F.reduce("diameter") and asked == ["by_factors", "by_factors"]


@pytest.mark.usefixtures("searched")
def test_edges_better_than_one_are_left_to_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_rows, "by_searches", None)
    A = [("a", "b", -1.0), ("b", "c", 3.0), ("c", "a", 1.0)]
    assert sr.eccentricities(A, sr.min_plus).tolist() == [2, 4, 1]
    with pytest.raises(sr.NoClosureError, match="improving"):
        sr.diameter([("a", "b", -1.0), ("b", "a", 0.0)], sr.min_plus)


@pytest.mark.usefixtures("searched")
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_graphs_without_edges(n: int) -> None:
    for A in (sp.csr_array((n, n)), np.full((n, n), inf)):
        assert sr.eccentricities(A, sr.min_plus).tolist() == [inf] * n
        assert sr.diameter(A, sr.min_plus) == sr.radius(A, sr.min_plus) == inf


def test_the_algebra_of_a_matrix_and_what_is_prepared() -> None:
    M = sr.adjacency([("a", "b", 3.0), ("b", "c", 4.0), ("c", "a", 9.0)], sr.min_plus)
    assert sr.eccentricities(M).tolist() == [7, 13, 12] and sr.diameter(M) == 13 and type(sr.radius(M)) is float
    assert sr.diameter(sr.prepare(M, sr.min_plus)) == 13
    with pytest.raises(sr.SemiringError):
        sr.diameter(M, sr.max_min)


@pytest.mark.parametrize("measure", [sr.eccentricities, sr.diameter, sr.radius])
def test_what_has_no_order_is_refused(measure: Any) -> None:
    with pytest.raises(sr.LawError, match="plus-times does not order its elements"):
        measure(np.eye(3) / 4, sr.plus_times)
    with pytest.raises(sr.SemiringError, match="one square matrix, and has shape"):
        measure(np.ones((2, 3, 3)), sr.min_plus)
    with pytest.raises(sr.SemiringError, match="algebra"):
        measure(np.ones((3, 3)))


@pytest.mark.parametrize("kind", ["rmat", "grid"])
@pytest.mark.parametrize("name", ["min_plus", "max_min"])
def test_the_mean_of_all_rows_is_that_of_the_closure(kind: str, name: str) -> None:
    S = sr.catalogue[name]
    A = sr.random_graph(300, kind, weights=(1.0, 9.0), seed=2)
    found = sr.mean_weight(A, S, rows=10**6)
    assert found.rows == 300 and found.error == 0
    assert found.mean == pytest.approx(sr.factor(A, S).reduce("mean"))


def test_the_mean_of_some_rows_is_within_its_error() -> None:
    """Of 60 estimates two thirds should be within one standard error, and all within four."""
    A = sr.random_graph(400, "rmat", degree=6, weights=(1.0, 9.0), seed=2)
    exact = sr.mean_weight(A, sr.min_plus, rows=400).mean
    found = [sr.mean_weight(A, sr.min_plus, rows=100, seed=seed) for seed in range(60)]
    away = np.array([abs(f.mean - exact) / f.error for f in found])
    assert (away < 4).all() and 0.45 < (away < 1).mean() < 0.9
    assert sr.mean_weight(A, sr.min_plus, rows=100, seed=7) == found[7]
    assert sr.mean_weight(A, sr.min_plus, rows=100, seed=np.random.default_rng(7)) == found[7]


def test_means_of_what_is_small_or_named() -> None:
    roads = [("a", "b", 3.0), ("b", "c", 4.0)]
    assert sr.mean_weight(roads, sr.min_plus) == (pytest.approx(14 / 3), 0.0, 3)
    assert sr.mean_weight(sr.adjacency(roads, sr.min_plus)).rows == 3
    assert np.isnan(sr.mean_weight(sp.csr_array((4, 4)), sr.min_plus).mean)
    one = sr.mean_weight(sr.random_graph(50, "grid", seed=1), sr.min_plus, rows=1)
    assert one.rows == 1 and np.isnan(one.error) and one.mean > 0
    assert sr.mean_weight(np.empty((0, 0)), sr.min_plus).rows == 0


@pytest.mark.parametrize("rows", [0, -1, 2.5, True, "all", None])
def test_rows_are_a_number_of_them(rows: Any) -> None:
    with pytest.raises(sr.SemiringError, match="rows must be a whole number ≥ 1"):
        sr.mean_weight(np.ones((3, 3)), sr.min_plus, rows=rows)


@pytest.mark.parametrize("seed", [-1, "x", 1.5])
def test_seeds(seed: Any) -> None:
    with pytest.raises(sr.SemiringError, match="seed must be"):
        sr.mean_weight(np.ones((3, 3)), sr.min_plus, seed=seed)
