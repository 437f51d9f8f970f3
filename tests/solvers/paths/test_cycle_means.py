"""The best mean weight of a cycle against the means of all cycles, in exact arithmetic, and by name."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sparse_patterns import Edges, patterns

import semiring as sr

inf = np.inf


def means_of(weight: dict[tuple[int, int], Fraction]) -> list[Fraction]:
    cycles = [[*c, c[0]] for c in nx.simple_cycles(nx.DiGraph(list(weight)))]
    return [sum(weight[e] for e in pairwise(c)) / (len(c) - 1) for c in cycles]


@settings(max_examples=100)
@given(patterns(6), st.randoms(), st.sampled_from(["f8", "f4", "i8", "i2", "tenths"]),
       st.sampled_from([sr.min_plus, sr.max_plus]))
def test_means_are_those_of_all_cycles(
    given_pattern: tuple[int, Edges], random: Any, dtype: str, S: sr.Semiring
) -> None:
    n, edges = given_pattern
    numbers = np.array([random.randint(-9, 9) for _ in edges], "f8" if dtype == "tenths" else dtype)
    numbers = numbers / 10 if dtype == "tenths" else numbers
    A = sr.Graph(*(np.array([e[k] for e in edges], np.int64) for k in (0, 1)), n, numbers)
    weight = {e: Fraction(x) for e, x in zip(edges, numbers.tolist(), strict=True)}
    means = means_of(weight)
    mean, cycle = sr.cycle_mean(A, S)
    if not means:
        assert cycle is None and mean == S.zero  # of integers, too: the mean is a float, and no limit of the dtype
        return
    best = (min if S is sr.min_plus else max)(means)
    assert mean == pytest.approx(float(best), rel=1e-6 if dtype == "f4" else 1e-12, abs=1e-13)
    assert cycle is not None and cycle[0] == cycle[-1]
    along = [weight[e] for e in pairwise(cycle)]
    own = sum(along) / len(along)
    assert own == best or (dtype == "tenths" and abs(own - best) < 1e-14)


@settings(max_examples=60)
@given(st.integers(2, 5), st.integers(0, 10**6), st.sampled_from([1e9, 1e17, 1e40, 1e304]))
def test_heavy_edges_do_not_cost_the_others_their_digits(n: int, seed: int, heavy: float) -> None:
    rng = np.random.default_rng(seed)
    A = rng.integers(0, 100, (n, n)) / 10
    A[rng.random((n, n)) < 0.4] = heavy
    best = min(means_of({(i, j): Fraction(A[i, j]) for i in range(n) for j in range(n)}))
    for mean, cycle in (sr.cycle_mean(A, sr.min_plus), sr.cycle_mean(-A, sr.max_plus)):
        assert abs(mean) == pytest.approx(float(best), rel=1e-12, abs=1e-13) and cycle is not None
        assert sum(Fraction(A[e]) for e in pairwise(cycle)) / (len(cycle) - 1) == pytest.approx(float(best), rel=1e-12)


def test_sums_that_leave_the_range_are_refused() -> None:
    A = np.array([[inf, 1e308], [1.5e308, inf]])
    with pytest.raises(sr.SemiringError, match=r"A has weights up to 1.5e\+308 on cycles, whose sums leave the range"):
        sr.cycle_mean(A, sr.min_plus)
    A[0, 0] = 2.5
    assert sr.cycle_mean(A, sr.min_plus) == (2.5, [0, 0])


def test_means_that_differ_by_less_than_floats_tell() -> None:
    """Of integers the answer is exact: 2⁵⁵ and 2⁵⁵ + 1 are one float."""
    A = np.array([[2**55 + 1, 2**61], [2**61, 2**55]])
    assert sr.cycle_mean(A, sr.min_plus)[1] == [1, 1]
    assert sr.cycle_mean(-A, sr.max_plus)[1] == [1, 1]
    assert sr.cycle_mean(A[::-1, ::-1].copy(), sr.min_plus)[1] == [0, 0]


def test_kinds_and_names() -> None:
    edges = [("a", "b", 3.0), ("b", "a", 5.0), ("b", "b", 2.0), ("c", "a", 99.0)]
    for A in (sr.adjacency(edges, sr.max_plus), sr.as_graph(edges)):
        assert sr.cycle_mean(A, sr.max_plus) == (4, ["a", "b", "a"])
        assert sr.cycle_mean(A, "min-plus" if isinstance(A, sr.Graph) else "max-plus")[1] is not None
    stored = sp.csr_array(([3, 5, 2], ([0, 1, 1], [1, 0, 1])), shape=(2, 2))
    mean, cycle = sr.cycle_mean(stored, sr.min_plus)
    assert (mean, cycle, type(mean)) == (2, [1, 1], np.float64)
    assert type(sr.cycle_mean(stored.astype(np.float32), sr.min_plus)[0]) is np.float32
    plan = sr.plan("cycle_mean", stored, sr.min_plus)
    assert plan.method == "policy iteration" and plan.run() == (2, [1, 1])
    assert plan.rows()["operation"] == "cycle_mean over min-plus, 2 × 2, int64"
    nothing = sr.cycle_mean(sp.coo_array(([3], ([0], [1])), shape=(2, 2)), sr.min_plus)
    assert nothing == (inf, None) and type(nothing[0]) is np.float64


def test_infinite_weights() -> None:
    A = np.array([[inf, 1.0, inf], [-inf, inf, 2.0], [1.0, inf, inf]])
    assert sr.cycle_mean(A, sr.min_plus) == (-inf, [1, 0, 1])
    assert sr.cycle_mean(np.full((3, 3), inf), sr.min_plus) == (inf, None)
    assert sr.cycle_mean(np.zeros((0, 0)), sr.max_plus) == (-inf, None)


def test_what_has_no_mean() -> None:
    for S in (sr.max_min, sr.plus_times, sr.boolean):
        with pytest.raises(sr.LawError, match=r"needs sums under min or max, as in min_plus and max_plus; "):
            sr.cycle_mean(np.zeros((2, 2)), S)
    with pytest.raises(sr.SemiringError, match="A holds Python objects"):
        sr.cycle_mean(np.array([[Fraction(1, 3)]], object), sr.min_plus)
    with pytest.raises(sr.SemiringError, match="one square matrix"):
        sr.cycle_mean(np.zeros((2, 2, 2)), sr.min_plus)


def test_the_algebra_is_that_of_the_matrix() -> None:
    M = sr.adjacency([("a", "b", 1.0), ("b", "a", 2.0)], sr.min_plus)
    assert sr.cycle_mean(M) == sr.cycle_mean(M, sr.min_plus) == (1.5, ["a", "b", "a"])
