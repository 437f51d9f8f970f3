"""Trees for values that a search left, in one pass, against those for any values, and the best of several sources."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engines import slow_but
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algorithms.trees import Edges, predecessors
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.compile.program import program
from semiring.kernels.cpu.sparse.predecessors import PredecessorKernel
from semiring.kernels.cpu.sparse.search import CpuSearchKernel
from semiring.kernels.cpu.sparse.structure import transpose
from semiring.kernels.lowering.general import general
from semiring.solvers.paths.searches import origins

from .test_trees import ALGEBRAS, compressed, drawn, dtype_of

inf = float("inf")


def general_trees(A: Rows, T: Any, X: np.ndarray, sources: np.ndarray, bounded: bool) -> np.ndarray:
    by_heads = transpose(A)
    edges = Edges(by_heads.offsets, by_heads.columns, by_heads.values, (A.offsets, A.columns))
    return predecessors(edges, T, X, sources, bounded)[0]


@pytest.mark.parametrize(("name", "dtype", "weights"), slow_but(ALGEBRAS, 0))
def test_they_are_those_for_any_values(name: str, dtype: str, weights: list[Any]) -> None:
    S = sr.catalogue[name]
    low = general(S, dtype_of(S, dtype))
    bounded = np.min(weights) >= 0

    @settings(max_examples=60)
    @given(st.integers(0, 10**6), st.sampled_from([1, 2, 5, 9, 40]), st.sampled_from([2.5, 8]),
           st.sampled_from([1, 3]), st.booleans())
    def check(seed: int, n: int, degree: float, threads: int, cut: bool) -> None:
        array = drawn(seed, n, S, dtype, weights, degree)
        A, T, sources = compressed(array, S.zero_in(array.dtype)), S.over(array.dtype), np.arange(n)
        text = program(low)
        X = CpuSearchKernel(text).correct(A, sources, False)[0]
        P, finished = PredecessorKernel(text, threads).rows(A, X, sources, bounded, cut)
        assert finished.all() and P.dtype == np.int32
        assert P.tolist() == general_trees(A, T, X, sources, bounded).tolist()
        if bounded:
            starts = np.unique(np.random.default_rng(seed).integers(0, n, 3))
            check_origins(A, array, S, X, starts, PredecessorKernel(text, threads))

    check()


def check_origins(
    A: Rows, array: np.ndarray, S: sr.Semiring, X: np.ndarray, starts: np.ndarray, kernel: PredecessorKernel
) -> None:
    """Against the tree from a vertex more, with an edge of weight one to each start."""
    T, n = S.over(array.dtype), len(array)
    x = X[starts[0]]
    for row in X[starts[1:]]:
        x = np.asarray(T.add(x, row))
    found = kernel.origins(A, x, starts)
    larger = np.empty((n + 1, n + 1), array.dtype)
    larger[...] = S.zero_in(array.dtype)
    larger[:n, :n], larger[n, starts] = array, S.one_in(array.dtype)
    rooted = np.append(x, np.array([S.one_in(array.dtype)], array.dtype))[None]
    before = general_trees(compressed(larger, S.zero_in(array.dtype)), T, rooted, np.array([n]), True)[0]
    assert found is not None and found.tolist() == origins(before, starts).tolist()


def test_values_that_no_search_leaves_are_told() -> None:
    array = np.full((3, 3), inf)
    array[0, 1] = array[1, 2] = 1.0
    A, kernel = compressed(array, inf), PredecessorKernel.of(general(sr.min_plus, np.dtype("f8")))
    X = np.array([[0, 1, 2], [0, 1, 2.5], [0, 1, 1.5], [0, 1, inf], [0.5, 1, 2]])
    P, finished = kernel.rows(A, X, np.zeros(5, np.int64), True, False)
    assert finished.tolist() == [True, False, False, False, False] and P[0].tolist() == [-1, 0, 1]
    P, finished = kernel.rows(A, X[3:4], np.zeros(1, np.int64), True, True)
    assert finished.all() and P.tolist() == [[-1, 0, -1]], "beyond a limit"
    assert kernel.origins(A, X[1], np.array([0])) is None


def test_many_rounds_and_none() -> None:
    """A path of edges that cost nothing, its vertices in descending order; and no vertex or edge."""
    n = 500
    A = Rows(np.concatenate([[0], np.arange(n)]), np.arange(n - 1, dtype=np.int32), np.zeros(n - 1), n)
    kernel = PredecessorKernel.of(general(sr.min_plus, np.dtype("f8")))
    P, finished = kernel.rows(A, np.zeros((1, n)), np.array([n - 1]), True, False)
    assert finished.all() and P[0].tolist() == [*range(1, n), -1]
    for size in (0, 1):
        nothing = Rows(np.zeros(size + 1, np.int64), np.empty(0, np.int32), np.empty(0), size)
        P, finished = kernel.rows(nothing, np.zeros((size, size)), np.zeros(size, np.int64), True, False)
        assert P.shape == (size, size) and (P == -1).all() and finished.all()


def test_their_name_on_disk() -> None:
    (function,) = PredecessorKernel.code(general(sr.min_plus, np.dtype("f8")))
    assert function.on_disk.startswith("predecessors_") and function.name == "lead"
