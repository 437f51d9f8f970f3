"""Eccentricities, diameter and radius by bounds, against those of the whole closure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring.solvers.paths import measures

inf = np.inf


@pytest.fixture
def forced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds are used whatever they are predicted to take."""
    monkeypatch.setattr(measures, "_affordable_looks", lambda F: 10**6)


def graph(n: int, degree: float, seed: int, symmetric: bool) -> sp.csr_array:
    """A random sparse matrix, whose stored weights are 1/64, 2/64, …, 1; about half of the vertices hang together."""
    rng = np.random.default_rng(seed)
    size = int(n * degree)
    rows, columns = rng.integers(0, n, (2, size)) // rng.choice([1, 2], size)
    if symmetric:
        rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
    keys = np.unique(rows * n + columns)
    A = sp.coo_array((rng.integers(1, 65, len(keys)) / 64, (keys // n, keys % n)), (n, n)).tocsr()
    return sp.csr_array(A.maximum(A.T) if symmetric else A)


def expected(F: Any) -> np.ndarray:
    """The eccentricities of the whole closure."""
    D = F.closure()
    S = F.semiring
    zero = S.zero_in(D.dtype)
    off = ~np.eye(len(D), dtype=bool) & (zero != D)
    worst = max if S.add(0.5, 1.0) == 0.5 else min
    return np.array([worst(row[t]) if t.any() else zero for row, t in zip(D, off, strict=True)], D.dtype)


def compare(F: Any, rounded: bool = False) -> None:
    meant = expected(F)
    zero = F.semiring.zero_in(meant.dtype)
    there = meant[meant != zero]
    worst, best = (max, min) if F.semiring.add(0.5, 1.0) == 0.5 else (min, max)
    far, near = (worst(there), best(there)) if len(there) else (zero, zero)
    found = sr.eccentricities(F)
    assert found.dtype == meant.dtype
    if rounded:
        np.testing.assert_allclose(found, meant, rtol=1e-12)
        assert [sr.diameter(F), sr.radius(F)] == pytest.approx([far, near], rel=1e-12)
    else:
        np.testing.assert_array_equal(found, meant)
        assert [sr.diameter(F), sr.radius(F)] == [far, near]


@pytest.mark.usefixtures("forced")
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("degree", [0.7, 1.5, 3])
@pytest.mark.parametrize(("name", "dtype", "scale"), [
    ("min_plus", "f8", 1), ("min_plus", "f4", 1), ("min_plus", "i4", 64), ("min_plus", "u2", 8), ("max_min", "f4", 1),
    ("min_max", "f8", 1), ("max_min", "i2", 64), ("max_plus", "f8", -1), ("viterbi", "f8", 1),
])
def test_bounds_give_what_the_closure_does(name: str, dtype: str, scale: int, degree: float, symmetric: bool) -> None:
    for seed in range(3):
        A = graph(90, degree, seed, symmetric) * scale
        A.data = np.ceil(A.data) if dtype[0] in "iu" else A.data
        compare(sr.factor(A.astype(dtype), sr.catalogue[name]), rounded=name == "viterbi")


@pytest.mark.usefixtures("forced")
def test_edges_may_be_negative_or_of_length_zero() -> None:
    rng = np.random.default_rng(5)
    for seed in range(5):
        A = graph(80, 2, seed, False).tocoo()
        level = rng.integers(0, 200, 80) / 64
        A.data = np.round(A.data) / 4 + level[A.row] - level[A.col]
        F = sr.factor(sp.csr_array(A), sr.min_plus)
        assert (F.closure() < 0).any()
        compare(F)


@pytest.mark.usefixtures("forced")
def test_a_weight_may_be_infinitely_good() -> None:
    edges = ([-inf, 3.0, 2.0, 1.0], ([0, 1, 3, 4], [1, 2, 4, 3]))
    compare(sr.factor(sp.csr_array(edges, (6, 6)), sr.min_plus))


@pytest.mark.usefixtures("forced")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_products_that_underflow_bound_nothing(dtype: str) -> None:
    """Far vertices of a long line are reached with probability 0, as floats have it, and count as out of reach."""
    n = 80
    weights = np.full(n - 1, 1e-3 if dtype == "f4" else 1e-20)
    weights[40:] = 0.75
    A = sp.diags_array([weights, weights], offsets=[1, -1], shape=(n, n)).tocsr().astype(dtype)
    F = sr.factor(A, sr.catalogue["viterbi"])
    assert (F.closure() == 0).any()
    np.testing.assert_allclose(sr.eccentricities(F), expected(F), rtol=1e-5)


@pytest.mark.usefixtures("forced")
def test_floats_are_those_of_rows_but_for_rounding() -> None:
    A = graph(400, 2, 1, True)
    A.data = np.random.default_rng(0).random(len(A.data))
    F = sr.factor(A.maximum(A.T), sr.min_plus)
    compare(F, rounded=True)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_small_graphs(n: int) -> None:
    F = sr.factor(sp.csr_array((n, n)), sr.min_plus)
    assert sr.eccentricities(F).tolist() == [inf] * n
    assert sr.diameter(F) == sr.radius(F) == inf


@pytest.mark.slow
def test_few_rows_decide_on_a_road_network(monkeypatch: pytest.MonkeyPatch) -> None:
    side = 160
    number = np.arange(side * side).reshape(side, side)
    ends = np.concatenate([np.c_[number[:, :-1].ravel(), number[:, 1:].ravel()],
                           np.c_[number[:-1].ravel(), number[1:].ravel()]])
    lengths = np.random.default_rng(1).integers(1, 1000, len(ends)).astype("f4")
    i, j = np.r_[ends, ends[:, ::-1]].T
    F = sr.factor(sp.csr_array((np.r_[lengths, lengths], (i, j)), (side * side, side * side)), sr.min_plus)
    looked: list[int] = []
    look = measures.Bounds.look

    def counted(bounds: measures.Bounds, places: np.ndarray) -> None:
        looked.append(len(places))
        look(bounds, places)

    monkeypatch.setattr(measures.Bounds, "look", counted)
    diameter, radius = sr.diameter(F), sr.radius(F)
    assert 0 < sum(looked) < 0.02 * side * side
    found = sr.eccentricities(F)
    assert 0 < sum(looked) < 0.2 * side * side
    assert (diameter, radius) == (found.max(), found.min())
    monkeypatch.setattr(measures, "_affordable_looks", lambda F: 0)
    np.testing.assert_array_equal(F.reduce("eccentricities"), found)


def test_all_rows_are_taken_where_bounds_do_not_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures, "_affordable_looks", lambda F: measures.FEWEST_LOOKS)
    looked: list[np.ndarray] = []
    monkeypatch.setattr(measures.Bounds, "look", lambda bounds, places: looked.append(places))
    F = sr.factor(graph(90, 1.5, 0, False), sr.min_plus)
    np.testing.assert_array_equal(sr.eccentricities(F), expected(F))
    assert len(looked) <= measures.FEWEST_LOOKS


def test_integers_beyond_those_of_floats_need_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures, "_affordable_looks", lambda F: 10**6)
    monkeypatch.setattr(measures, "Bounds", None)
    A = graph(40, 2, 0, False) * 64
    A.data = A.data.astype("i8") + (1 << 55)
    compare(sr.factor(A.astype("i8"), sr.min_plus))


def test_what_has_no_order_is_refused() -> None:
    F = sr.factor(graph(20, 1, 0, False) * 0.01, sr.plus_times)
    for ask in (sr.eccentricities, sr.diameter, sr.radius):
        with pytest.raises(sr.LawError, match="does not order"):
            ask(F)
