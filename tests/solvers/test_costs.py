"""Predictions before anything is eliminated: rates by the lowering, a plan of it, and when a look does not repay."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sparse_patterns import Edges, grid, patterns

import semiring as sr
from semiring.algorithms.sparse.analysis import Analysis, analyse
from semiring.algorithms.sparse.costs import Work
from semiring.kernels.choose import choose
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general
from semiring.kernels.lowering.objects import python_objects
from semiring.kernels.numpy.fronts import seconds as seconds_by_numpy
from semiring.operands.read import read
from semiring.operands.sparse import Sparse
from semiring.solvers import costs
from semiring.solvers.costs import (
    FILLING_EDGES,
    all_searches,
    estimate,
    least_search_seconds,
    lowering_rates,
    not_worth_a_look,
    search_times,
)

LOW = general(sr.min_plus, np.dtype("f8"))


def analysed(A: Any, method: str = "natural") -> Analysis:
    rows = read(A, sr.min_plus).rows  # type: ignore[attr-defined]
    return analyse(rows.offsets, rows.columns.astype(np.int64), method=method)


def low_of(name: str, dtype: str) -> Lowering:
    return general(sr.catalogue[name], np.dtype(dtype))


@settings(max_examples=60)
@given(patterns(6), st.sampled_from(["closure", "sparse", "search", "factor", "solve", "closure_rows"]),
       st.sampled_from([sr.min_plus, sr.plus_times]), st.booleans())
def test_every_plan_of_a_sparse_matrix_can_be_printed(
    pattern: tuple[int, Edges], way: str, S: sr.Semiring, loops: bool
) -> None:
    n, edges = pattern
    edges = [(v, v) for v in range(n)] if loops else edges
    A = sp.csr_array((np.full(len(edges), 0.125), np.array(edges, int).reshape(-1, 2).T), (n, n))
    if S is sr.plus_times and way in ("search", "closure_rows"):
        return
    verb, more = ("closure", {"method": way}) if way in ("sparse", "search") else (way, {})
    given = (A, np.zeros(n), S) if way == "solve" else (A, S, list(range(n))) if way == "closure_rows" else (A, S)
    plan = sr.plan(verb, *given, **more)
    assert f"{n} × {n}" in str(plan) or way == "closure_rows"
    if way == "factor":
        factors = plan.run()
        assert f"{n} × {n}" in str(factors.plan) and f"{n} × {n}" in str(factors.predict())
    else:
        plan.run()


def test_a_plan_says_what_it_would_do() -> None:
    A = grid(40)
    A.data = 1 + np.arange(A.nnz) / A.nnz  # of one value they would be searched breadth first
    text = str(sr.factor(A, sr.min_plus).predict())
    parts = "closure over min-plus, 1600 × 1600, float64, with 6240 edges", "order", "search", "MiB"
    for part in parts:
        assert part in text
    found = sr.plan("closure", A, sr.min_plus)
    assert isinstance(found, sr.SparsePlan) and found.method == "sparse elimination"
    assert found.seconds["elimination"] < found.seconds["dense"]


def test_rates_go_by_bytes_and_by_what_an_operation_takes() -> None:
    base = lowering_rates(LOW)
    assert lowering_rates(low_of("min_plus", "f4")).product == 2 * base.product
    assert lowering_rates(low_of("max_min", "f8")).product == base.product, "two instructions as well"
    dear = lowering_rates(low_of("log", "f8"))
    assert dear.product < base.product / 10, "⊕ takes logarithms"
    fused = replace(low_of("log", "f8"), fused_sum=True)
    assert lowering_rates(fused).product == base.product, "a sum and a comparison, whatever stands there"
    objects = lowering_rates(python_objects(sr.regex, np.dtype(object), "for the test"))
    assert objects.product < base.product / 100
    assert lowering_rates(low_of("boolean", "?")).product == lowering_rates(low_of("bitset_may", "u2")).product


def test_an_estimate_adds_up() -> None:
    A = grid(12)
    analysis = analysed(A)
    whole, factors = (estimate(LOW, analysis, A.nnz, answer) for answer in (True, False))
    assert whole.load is factors.load and whole.factors == factors.factors == factors.memory
    assert whole.memory == whole.factors + 144 * 144 * 8, "and the answer"
    assert whole.factors == 8 * (whole.load.stored + whole.load.stack)
    assert whole.terms > factors.terms == whole.load.small + whole.load.large
    assert factors.seconds["elimination"] < whole.seconds["elimination"]
    assert factors.seconds["dense"] == pytest.approx(whole.seconds["dense"] / 3), "a third of a closure's work"
    assert whole.prepared > 0
    assert whole.largest == max(analysis.pivots + analysis.reach)
    half = estimate(low_of("min_plus", "f4"), analysis, A.nnz, True)
    assert half.factors == whole.factors / 2 and half.seconds["elimination"] < whole.seconds["elimination"]
    nothing = estimate(LOW, analysed(sp.csr_array((0, 0))), 0, True)
    assert nothing.largest == nothing.memory == nothing.terms == 0


@pytest.mark.parametrize("kind", ["grid", "planar", "geometric"])
@pytest.mark.parametrize("n", [200, 900, 4000])
def test_the_least_by_numpy_is_known_before_analysis(kind: str, n: int) -> None:
    A = read(sr.random_graph(n, kind, seed=n), sr.min_plus)
    assert isinstance(A, Sparse)
    analysis = analyse(A.indptr, A.indices)
    for answer in (True, False):
        found = estimate(LOW, analysis, A.nnz, answer)
        steps = costs.FACTORING_STEPS * A.n + (costs.rows_steps(analysis, found.load, A.n) if answer else 0.0)
        predicted = seconds_by_numpy(LOW, steps, found.terms)
        assert 0.2 * predicted < costs.least_by_numpy(LOW, A, answer) <= predicted


def test_what_storage_needs_besides_the_answer() -> None:
    """Small integers are stored in 16 bits, and the answer is there in both at once."""
    low = choose(sr.min_plus, np.dtype("i4"), Facts(largest=3), 17, in_place=False, packed=False)
    assert low.storage == np.dtype("i2")
    found = estimate(low, analysed(grid(4)), 48, True)
    assert found.memory == found.factors + 256 * 2 + 256 * 4


def test_a_plan_of_a_structure() -> None:
    A = grid(12)
    analysis = analysed(A)
    made = costs.plan("closure", LOW, analysis, A.nnz)
    found = estimate(LOW, analysis, A.nnz, True)
    predicted = dict(found.seconds)
    assert (made.operation, made.shape, made.method, made.nnz) == ("closure", (144, 144), "sparse elimination", A.nnz)
    assert (made.order, made.fill, made.fronts) == ("natural", found.load.fill, len(analysis.parent))
    assert made.seconds == found.seconds and made.factors == found.factors and made.work == found.terms
    assert made.memory >= found.memory and made.run() is None
    sizes = list(zip(analysis.pivots.tolist(), analysis.reach.tolist(), strict=True))
    assert made.panels == sum(s * u for s, u in sizes) > 0
    ways = [0] * len(sizes)
    for a in reversed(range(len(ways))):
        parent = int(analysis.parent[a])
        ways[a] = 1 if parent < 0 else ways[parent] + 1
    assert made.height == max(ways) > 1
    assert made.rows()["tree"] == f"{made.height} levels of fronts"
    made.seconds["dense"] = -1.0
    assert costs.plan("closure", LOW, analysis, A.nnz).seconds == predicted, "a plan is its caller's own"
    assert made.shortage[0] == f"the closure of 144 × 144 float64 ({found.load.fill} pairs joined)"
    factors = costs.plan("factor", LOW, analysis, A.nnz, answer=False)
    assert factors.shortage[0].startswith("factoring 144 × 144 float64 (") and factors.memory < made.memory


def test_a_plan_says_that_factors_do_not_fit_and_what_does(monkeypatch: pytest.MonkeyPatch) -> None:
    A = grid(12)
    analysis = analysed(A)
    monkeypatch.setattr(costs, "CHECKED_FACTORS", 0)
    needed = costs.plan("factor", LOW, analysis, A.nnz, answer=False).factors
    for available, told in ((needed - 1, True), (needed, False), (None, False)):
        monkeypatch.setattr(costs, "available_bytes", lambda available=available: available)
        made = costs.plan("factor", LOW, analysis, A.nnz, answer=False)
        assert ("is available: the graph has no small separators" in str(made)) == told
        assert ("closure_rows" in str(made)) == told and "closure_rows" in made.shortage[1]


@pytest.mark.parametrize(("method", "text"), [
    ("natural", "as the vertices are numbered"), ("levels", "nested dissection by level sets"),
    ("amd", "approximate minimum degree"),
])
def test_rows_that_are_printed_of_a_sparse_plan(method: str, text: str) -> None:
    A = grid(4)
    rows = costs.plan("closure", LOW, analysed(A, method), A.nnz).rows()
    assert rows["operation"] == "closure over min-plus, 16 × 16, float64, with 48 edges"
    assert rows["order"].startswith(text + "  (") and "a vertex)" in rows["order"]
    assert "search" not in rows["predicted"] and rows["fronts"].endswith("of order 16")
    one = costs.plan("factor", LOW, analysed(sp.csr_array([[0, 2.0], [3.0, 0]]), method), 1).rows()
    assert (one["fronts"], one["tree"]) == ("1, of order 2", "1 level of fronts") and "(1 pair joined, " in one["order"]
    assert one["operation"].endswith("with 1 edge")
    plan = costs.plan("closure", LOW, analysed(A, method), A.nnz)
    assert "search 1 ms" in replace(plan, seconds=plan.seconds | {"search": 0.001}).rows()["predicted"]
    nothing = costs.plan("closure", LOW, analysed(sp.csr_array((0, 0))), 0).rows()
    assert "(0 pairs joined, 0.0 a vertex)" in nothing["order"]


@pytest.mark.parametrize(("seconds", "text"), [
    (1.0, "elimination 1 s, dense 1 s"), (0.9994, "elimination 999 ms, dense 999 ms"), (123.4, "123 s"), (0, "0 ms"),
    (1.5e-6, "0.0015 ms"),
])
def test_times_are_printed_in_words(seconds: float, text: str) -> None:
    made = costs.plan("closure", LOW, analysed(grid(2)), 8)
    made.seconds.update(elimination=seconds, dense=seconds)
    assert text in made.rows()["predicted"]


def random_graph(n: int, degree: int) -> sp.csr_array:
    rng = np.random.default_rng(n)
    ends = rng.integers(0, n, (2, n * degree))
    return sp.coo_array((np.ones(n * degree), ends), (n, n)).tocsr()


@pytest.mark.parametrize(("A", "look"), [
    (grid(50), True), (sp.csr_array((2500, 2500)), True), (random_graph(60, 3), False),
    (random_graph(4000, 2 * FILLING_EDGES), False), (random_graph(4000, 2), True),
    (sp.csr_array(np.ones((300, 300))), False), (sp.csr_array((0, 0)), False),
], ids=["grid", "no edges", "small", "many edges", "few edges", "dense", "nothing"])
def test_when_a_look_repays(A: sp.csr_array, look: bool) -> None:
    assert not_worth_a_look(LOW, read(A, sr.min_plus)) is not look  # type: ignore[arg-type]


def test_many_edges_repay_where_levels_are_narrow() -> None:
    """A long band: every vertex touches the 60 before it, and a search sees few of them at once."""
    n, width = 4000, 60
    band = sp.diags_array([np.ones(n - k) for k in range(1, width)], offsets=range(1, width), format="csr")
    assert band.nnz > FILLING_EDGES * n
    assert not not_worth_a_look(LOW, read(band, sr.min_plus))  # type: ignore[arg-type]


def test_objects_repay_a_look_early() -> None:
    """Where every term takes long, the dense closure is never fast."""
    low = python_objects(sr.regex, np.dtype(object), "for the test")
    assert not not_worth_a_look(low, read(grid(9), sr.min_plus))  # type: ignore[arg-type]
    assert not_worth_a_look(LOW, read(grid(9), sr.min_plus))  # type: ignore[arg-type]


def test_searches_are_predicted_where_they_can_be_made() -> None:
    A = read(random_graph(500, 4), sr.min_plus)
    assert isinstance(A, Sparse)
    both = search_times(LOW, A, A.n, A.alike)
    assert all_searches(LOW, A) == both.seconds == min(both) == both.sweep and both.way == "sweep"
    one = search_times(LOW, A, 1, A.alike)
    assert one.seconds == one.buckets < one.settle < both.seconds
    for S, shift, found in ((sr.min_plus, -2, False), (sr.plus_times, 0, False), (sr.max_plus, -2, True)):
        B = read(random_graph(500, 4) + shift * (random_graph(500, 4) != 0), S)
        assert isinstance(B, Sparse)
        assert (all_searches(general(S, np.dtype("f8")), B) is not None) is found, S.name
    objects = python_objects(sr.min_plus, np.dtype("f8"), "for the test")
    assert all_searches(objects, A) is None
    assert 0 < least_search_seconds(LOW, A) < both.seconds


def test_edges_of_one_value_are_passed_once() -> None:
    A = read(grid(20), sr.min_plus)
    assert isinstance(A, Sparse) and A.alike
    assert search_times(LOW, A, A.n, A.alike).way == search_times(LOW, A, 1, A.alike).way == "levels"


def test_sources_without_edges_take_no_time() -> None:
    A = random_graph(400, 4)
    lone = sp.csr_array((A.data, A.indices, np.r_[A.indptr, np.full(1200, A.nnz)]), (1600, 1600))
    with_edges, all_of_them = (read(B, sr.min_plus) for B in (A, lone))
    assert isinstance(with_edges, Sparse) and isinstance(all_of_them, Sparse)
    written = 1600 * 1600 * 8 / lowering_rates(LOW).write
    whole, quarter = search_times(LOW, all_of_them, 1600, False), search_times(LOW, with_edges, 400, False)
    assert whole.sweep - written < 2 * quarter.sweep


def test_the_load_is_kept_in_the_plan() -> None:
    made = costs.plan("closure", LOW, analysed(grid(3)), 24)
    assert isinstance(made.load, Work) and made.load.fill == made.fill
