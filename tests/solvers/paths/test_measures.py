"""Means, eccentricities, histograms and nearest vertices from rows that come and go, against the whole closure."""

from __future__ import annotations

from math import isnan
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sparse_patterns import grid

import semiring as sr
from semiring.solvers.paths import measures
from semiring.solvers.paths.measures import is_whole
from semiring.solvers.sparse import substitution

inf = np.inf


def random_graph(n: int, degree: float, seed: int) -> sp.csr_array:
    """A random graph with weights in (0, 1], a few vertices apart."""
    rng = np.random.default_rng(seed)
    size = int(n * degree)
    A = sp.coo_array((rng.integers(1, 65, size) / 64, (rng.integers(0, n, size), rng.integers(0, n, size))), (n, n))
    return A.tocsr()


def test_reductions_are_those_of_the_closure() -> None:
    F = sr.factor(random_graph(200, 1.2, 10), sr.min_plus)
    D = F.closure()
    off = ~np.eye(200, dtype=bool) & np.isfinite(D)
    assert off.sum() < 200 * 199
    assert F.reduce("mean") == pytest.approx(D[off].mean())
    others = np.where(off, D, -inf).max(axis=1)
    np.testing.assert_array_equal(F.reduce("eccentricities"), np.where(np.isneginf(others), inf, others))
    counts, edges = F.reduce("histogram", bins=7)
    np.testing.assert_array_equal(counts, np.histogram(D[off], edges)[0])
    assert counts.sum() == off.sum()
    near, weights = F.reduce("nearest", k=3)
    masked = np.where(off, D, inf)
    for v in range(200):
        order = np.argsort(masked[v], kind="stable")[:3]
        order = order[np.isfinite(masked[v][order])]
        assert near[v].tolist() == order.tolist() + [-1] * (3 - len(order))
        np.testing.assert_array_equal(weights[v, : len(order)], masked[v][order])
    np.testing.assert_array_equal(F.reduce(lambda vertices, rows: np.isfinite(rows).sum(1)), np.isfinite(D).sum(1))
    with pytest.raises(sr.SemiringError, match="unknown reduction"):
        F.reduce("median")
    with pytest.raises(sr.LawError, match="order"):
        sr.factor(random_graph(20, 1, 0) * 0.01, sr.plus_times).reduce("eccentricities")


@pytest.mark.parametrize(("name", "dtype"), [("max_min", "f4"), ("min_plus", "i2"), ("max_plus", "f8")])
def test_reductions_of_elements_stored_in_other_ways(name: str, dtype: str) -> None:
    A = random_graph(150, 1.3, 12).tocoo()
    A.data = (-1 if name == "max_plus" else 1) * np.ceil(A.data * 4)
    T = sr.catalogue[name]
    F = sr.factor(sp.csr_array(A.astype(dtype)), T)
    D = F.closure()
    assert D.dtype == dtype
    off = ~np.eye(150, dtype=bool) & (T.zero_in(D.dtype) != D)
    assert F.reduce("mean") == pytest.approx(D[off].mean(dtype=float))
    worst = max if T.add(1.0, 2.0) == 1 else min
    meant = [worst(row[there]) if there.any() else T.zero_in(D.dtype) for row, there in zip(D, off, strict=True)]
    assert F.reduce("eccentricities").tolist() == meant


@pytest.mark.parametrize(("what", "given", "message"), [
    ("nearest", {}, "nearest needs k"), ("nearest", {"k": -1}, "nearest needs k"),
    ("nearest", {"k": 2.5}, "nearest needs k"), ("nearest", {"k": "two"}, "nearest needs k"),
    ("mean", {"k": 3}, "mean has no option 'k'; it has none"),
    ("histogram", {"k": 3}, "histogram has no option 'k'; it has bins"),
    (lambda vertices, rows: rows.sum(1), {"k": 3}, "a function has no option 'k'"),
    *(("histogram", {"bins": b}, "bins must be") for b in (0, -1, 2.5, "few", None, [], [1], [3, 1], [0, np.nan])),
])
def test_reductions_refuse_options_by_name(what: Any, given: dict[str, Any], message: str) -> None:
    F = sr.factor(grid(3), sr.min_plus)
    with pytest.raises(sr.SemiringError, match=message):
        F.reduce(what, **given)


def test_a_histogram_of_nothing_has_its_bins() -> None:
    counts, edges = sr.factor(sp.csr_array((0, 0)), sr.min_plus).reduce("histogram", bins=3)
    assert counts.tolist() == [0, 0, 0] and len(edges) == 4


@pytest.mark.parametrize("n", [0, 1, 2])
def test_where_no_vertex_reaches_another(n: int) -> None:
    F = sr.factor(sp.csr_array((n, n)), sr.min_plus)
    assert isnan(F.reduce("mean")) and F.reduce("eccentricities").tolist() == [inf] * n
    counts, edges = F.reduce("histogram", bins=[0, 1, 5])
    assert counts.tolist() == [0, 0] and edges.tolist() == [0, 1, 5]
    near, weights = F.reduce("nearest", k=4)
    assert near.shape == weights.shape == (n, max(n - 1, 0)), "there are no more others than that"
    assert (near == -1).all() and (weights == inf).all()
    assert F.reduce("nearest", k=0)[0].shape == (n, 0)
    assert F.reduce(lambda vertices, rows: rows.sum(1)).shape == (n,)


def test_ties_go_to_the_lower_number() -> None:
    near, weights = sr.factor(grid(3), sr.min_plus).reduce("nearest", k=4)
    assert near[4].tolist() == [1, 3, 5, 7] and weights[4].tolist() == [1, 1, 1, 1]
    assert near[0].tolist() == [1, 3, 2, 4] and weights[0].tolist() == [1, 1, 2, 2]
    assert sr.factor(grid(3), sr.min_plus).reduce("nearest", k=np.int32(3))[0].tolist() == near[:, :3].tolist()


def test_where_more_is_better_the_nearest_are_those_with_most() -> None:
    wide = sp.csr_array((np.array([5, 3, 9, 3], "f4"), ([0, 0, 0, 2], [1, 2, 3, 1])), (4, 4))
    near, weights = sr.factor(wide, sr.max_min).reduce("nearest", k=2)
    assert near.tolist() == [[3, 1], [-1, -1], [1, -1], [-1, -1]] and weights[0].tolist() == [9, 5]
    assert weights[1].tolist() == [-inf, -inf]
    assert sr.factor(wide, sr.max_min).reduce("eccentricities").tolist() == [3, -inf, 3, -inf]
    assert sr.factor(wide, sr.max_min).reduce("mean") == (5 + 3 + 9 + 3) / 4


def test_pairs_count_where_they_are_reached_also_at_no_distance() -> None:
    """A distance of 0 to another vertex is a pair; the diagonal is not."""
    A = sp.csr_array((np.array([0.0, 4.0]), ([0, 0], [1, 2])), (3, 3))
    F = sr.factor(A, sr.min_plus)
    assert F.reduce("mean") == 2 and F.reduce("eccentricities").tolist() == [4, inf, inf]
    counts, edges = F.reduce("histogram", bins=2)
    assert counts.tolist() == [1, 1] and edges.tolist() == [0, 2, 4]
    assert F.reduce("histogram", bins=[0, 0.5])[0].tolist() == [1]
    assert F.reduce("nearest", k=1)[0].tolist() == [[1], [-1], [-1]]


def test_zero_of_the_algebra_is_no_weight_also_where_it_is_a_number() -> None:
    """In viterbi it is 0, whose addition would not show."""
    A = sp.csr_array((np.array([0.5, 0.25], "f4"), ([0, 1], [1, 2])), (4, 4))
    F = sr.factor(A, sr.viterbi)
    assert F.reduce("mean") == (0.5 + 0.25 + 0.125) / 3
    assert F.reduce("eccentricities").tolist() == [0.125, 0.25, 0, 0]
    assert F.reduce("histogram", bins=[0, 0.2, 1])[0].tolist() == [1, 2]


def test_a_vertex_is_no_pair_with_itself_also_where_that_has_a_weight() -> None:
    """In min-times the empty walk weighs 1."""
    F = sr.factor(sp.csr_array((np.array([2.0, 3.0]), ([0, 1], [1, 2])), (3, 3)), sr.min_times)
    assert F.reduce("mean") == (2 + 3 + 6) / 3


def test_infinite_weights_have_no_bin() -> None:
    F = sr.factor(sp.csr_array((np.array([inf, 2, 4], "f4"), ([0, 0, 2], [1, 2, 3])), (4, 4)), sr.max_min)
    counts, edges = F.reduce("histogram", bins=2)
    assert edges.tolist() == [2, 3, 4] and counts.tolist() == [2, 1]
    assert F.reduce("histogram", bins=[0, 2, 2, 4])[0].tolist() == [0, 0, 3], "edges may be equal, as NumPy's may"


def test_what_has_no_numbers_or_no_order() -> None:
    records = sr.factor(sr.as_graph([("a", "b", (1.0, 1))]), sr.shortest_count)
    truths = sr.factor(sp.csr_array(np.eye(2, dtype=bool)), sr.boolean)
    for F in (records, truths):
        for what, more in (("mean", {}), ("eccentricities", {}), ("histogram", {}), ("nearest", {"k": 1})):
            with pytest.raises(sr.SemiringError, match=r"are not numbers: call reduce of sparse factors with"):
                F.reduce(what, **more)
        assert len(F.reduce(lambda vertices, rows: rows[:, 0])) == 2
    sums = sr.factor(sp.csr_array(np.array([[0, 0.5], [0.25, 0]])), sr.plus_times)
    for what, more in (("eccentricities", {}), ("nearest", {"k": 1})):
        with pytest.raises(sr.LawError, match=r"^plus-times does not order its elements: ⊕ must be"):
            sums.reduce(what, **more)
    D = sums.closure()
    assert sums.reduce("mean") == pytest.approx((D[0, 1] + D[1, 0]) / 2)


def test_what_is_no_reduction() -> None:
    F = sr.factor(grid(2), sr.min_plus)
    for what in ("median", "", None, 3, ["mean"]):
        with pytest.raises(sr.SemiringError, match=r"^unknown reduction .*: it is one of mean, eccentric"):
            F.reduce(what)  # type: ignore[arg-type]


@pytest.mark.parametrize(("value", "whole"), [
    (0, True), (3, True), (np.uint8(3), True), (-1, False), (True, False), (2.0, False), ("3", False), (None, False),
])
def test_whole_numbers(value: Any, whole: bool) -> None:
    assert is_whole(value, 0) is whole
    assert not is_whole(value, 4)


def test_nearest_tells_integers_apart_that_are_the_same_as_floats() -> None:
    wide = 2**60
    A = sp.csr_array(np.array([[0, wide, wide + 1, wide + 2], [0] * 4, [0] * 4, [0] * 4]))
    vertices, weights = sr.factor(A, sr.max_min).reduce("nearest", k=3)
    assert vertices[0].tolist() == [3, 2, 1]
    assert weights[0].tolist() == [wide + 2, wide + 1, wide]


@pytest.mark.parametrize("function", [
    lambda vertices, rows: rows.max(), lambda vertices, rows: None, lambda vertices, rows: rows.max(axis=1)[:-1],
    lambda vertices, rows: np.zeros((1, len(vertices))),
])
def test_functions_return_a_value_for_each_row(function: Any) -> None:
    """The greatest of a block, for one, would depend on what rows are in it."""
    F = sr.factor(sp.csr_array(([1.0, 2.0, 3.0], ([0, 1, 2], [1, 2, 0])), shape=(3, 3)), sr.min_plus)
    with pytest.raises(sr.SemiringError, match=r"^reduce: the function must return a value, or a row, for each of"):
        F.reduce(function)


def test_what_functions_return_is_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(substitution, "CHUNK_ROWS", 2)
    F = sr.factor(sp.csr_array([[0, 1.0, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]), sr.min_plus)
    mixed = measures.by_vertex(F._by, lambda vertices, rows: vertices if 0 in vertices else vertices + 0.5)
    assert mixed.dtype == np.float64 and sorted(np.floor(mixed).tolist()) == [0, 1, 2, 3]
    assert measures.by_vertex(F._by, lambda vertices, rows: [3] * len(vertices), dtype="i1").dtype == np.int8
    blocks: list[list[int]] = []
    F._by.engine.each_block(F._by, lambda vertices, rows: blocks.append(vertices.tolist()))
    assert sorted(map(len, blocks)) == [2, 2]


def test_which_algebras_order_their_elements() -> None:
    double = np.dtype("f8")
    assert measures.ascends(sr.min_plus, double) and not measures.ascends(sr.max_min, double)
    with pytest.raises(sr.LawError, match="does not order"):
        measures.ascends(sr.plus_times, double)
    with pytest.raises(sr.SemiringError, match="not numbers"):
        measures.ascends(sr.shortest_count, np.dtype("f8,i8"))


@pytest.mark.parametrize("dtype", ["f4", "i2", "u1"])
def test_nothing_is_better_than_the_best(dtype: str) -> None:
    least, most = (measures.best_possible(np.dtype(dtype), ascending) for ascending in (True, False))
    numbers = np.array([0, 3, 100], dtype)
    assert (least <= numbers).all() and (numbers <= most).all()
