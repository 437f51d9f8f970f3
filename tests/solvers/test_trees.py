"""Which edges are looked at, by whom, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.operands.read import read
from semiring.solvers import trees
from semiring.solvers.trees import best_trees, least_or_greatest

inf = np.inf


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("name", ["min_plus", "max_min", "min_max", "viterbi", "lukasiewicz"])
def test_edges_that_are_left_out_are_of_no_best_walk(
    name: str, backwards: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    S = sr.catalogue[name]

    @settings(max_examples=60, deadline=None)
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


def test_a_root_that_is_no_unit_is_refused() -> None:
    with pytest.raises(sr.LawError, match="go round a cycle"):
        best_trees(read(np.eye(2), sr.min_plus), np.array([[-1.0, 0.0]]), np.array([0]))


def test_integers_beyond_64_bits_are_looked_at_one_by_one() -> None:
    big = np.int64(2**62)
    A = np.array([[0, big, -1], [-1, 0, 1], [-1, -1, 0]])
    A[A == -1] = np.iinfo(np.int64).max
    X = sr.closure(A, sr.min_plus)
    assert best_trees(read(A, sr.min_plus), X, np.arange(3)).tolist() == [[-1, 0, 1], [-1, -1, 1], [-1, -1, -1]]
