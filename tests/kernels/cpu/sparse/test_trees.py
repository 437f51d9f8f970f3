"""Compiled trees of best walks against those of NumPy, and lanes against lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algorithms.trees import Edges, predecessors
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.compile.program import program
from semiring.kernels.cpu.sparse import trees
from semiring.kernels.cpu.sparse.structure import transpose
from semiring.kernels.cpu.sparse.trees import TreeKernel, names_of, tree_kernel
from semiring.kernels.lowering.general import general

inf = float("inf")
# An algebra, a dtype, and weights of many ties.
ALGEBRAS: list[tuple[str, str, list[Any]]] = [
    ("min_plus", "f8", [0.0, 0.0, 0.1, 0.3, 1e-20, 2.0]), ("min_plus", "f4", [-1.0, 0.0, 1.5, 3.0]),
    ("max_min", "f4", [1.0, 2.0, 3.0]), ("viterbi", "f8", [1.0, 0.5, 0.3]),
    ("shortest_hops", "home", [(0.0, 1.0), (0.0, 0.0), (1.0, 1.0), (1.0, 2.0), (0.3, 1.0)]),
]


def dtype_of(S: sr.Semiring, name: str) -> np.dtype:
    return S.dtypes[0] if name == "home" else np.dtype(name)


def drawn(seed: int, n: int, S: sr.Semiring, name: str, weights: list[Any], degree: float) -> np.ndarray:
    rng, dtype = np.random.default_rng(seed), dtype_of(S, name)
    A = rng.choice(np.array(weights, dtype), (n, n))
    A[rng.random((n, n)) < 1 - degree / n] = S.zero_in(dtype)
    if np.min(weights) < 0:  # no cycle
        A = np.where(np.tri(n, dtype=bool), S.zero_in(dtype), A)
    return A


def compressed(A: np.ndarray, zero: Any) -> Rows:
    rows, columns = np.nonzero(zero != A)
    offsets = np.searchsorted(rows, np.arange(len(A) + 1))
    return Rows(offsets, columns.astype(np.int32), A[rows, columns], len(A))


@pytest.mark.parametrize(("name", "dtype", "weights"), ALGEBRAS)
def test_they_are_those_of_numpy(name: str, dtype: str, weights: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    S = sr.catalogue[name]
    low = general(S, dtype_of(S, dtype))

    @settings(max_examples=30, deadline=None)
    @given(st.integers(0, 10**6), st.sampled_from([1, 2, 9, 40, 70]), st.sampled_from([1, 3]),
           st.sampled_from([1, 5, 32, 65, 128]), st.booleans(), st.booleans(), st.sampled_from([2.5, 7.0]),
           st.booleans())
    def check(
        seed: int, n: int, threads: int, lanes: int, across: bool, tied: bool, degree: float, permuted: bool
    ) -> None:
        for width in ("LANES", "WIDE", "TIED"):
            monkeypatch.setattr(trees, width, lanes)
        A = drawn(seed, n, S, dtype, weights, degree)
        X, T = np.asarray(sr.closure(A, S)), S.over(A.dtype)
        leaving = compressed(A, S.zero_in(A.dtype))
        entering = transpose(leaving)
        bounded = np.min(weights) >= 0
        X = np.asfortranarray(X) if across else X
        order = np.random.default_rng(seed).permutation(n) if permuted else None
        P, lost, guessed = TreeKernel(program(low), threads).predecessors(
            entering, leaving, X, np.arange(n), bounded, tied, order
        )
        edges = Edges(entering.offsets, entering.columns, entering.values, (leaving.offsets, leaving.columns))
        expected, none, rows = predecessors(edges, T, X, np.arange(n), bounded)
        assert (expected == P).all() and none == [] and (lost < 0).all() and P.dtype == np.int32
        assert np.flatnonzero(guessed).tolist() == rows
        assert P.flags.f_contiguous if across and n > 1 and not A.dtype.names else P.flags.c_contiguous

    check()


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(("name", "dtype", "weights"), ALGEBRAS)
def test_more_lanes_than_one_strip_has(name: str, dtype: str, weights: list[Any], tied: bool) -> None:
    S, n, lanes = sr.catalogue[name], 60, 1100
    A = drawn(5, n, S, dtype, weights, 5.0)
    A[:, 7] = S.zero_in(A.dtype)  # it is not reached
    A[9, 9] = weights[2]  # a loop
    X, roots = np.asarray(sr.closure(A, S)), np.random.default_rng(5).integers(0, n, lanes)
    leaving = compressed(A, S.zero_in(A.dtype))
    entering, bounded = transpose(leaving), np.min(weights) >= 0
    assert set(np.diff(entering.offsets)) >= set(range(8))
    kernel = TreeKernel(program(general(S, A.dtype)), 1)
    assert lanes > kernel.module.STRIP
    P, lost, guessed = kernel.predecessors(
        entering, leaving, np.asfortranarray(X[roots]), roots, bounded, tied
    )
    edges = Edges(entering.offsets, entering.columns, entering.values, (leaving.offsets, leaving.columns))
    expected, none, rows = predecessors(edges, S.over(A.dtype), X, np.arange(n), bounded)
    assert (expected[roots] == P).all() and none == [] and (lost < 0).all()
    assert (guessed == np.isin(roots, rows)).all()


@pytest.mark.parametrize("bounded", [True, False])
def test_lost_walks_are_told_in_every_strip(bounded: bool) -> None:
    A = np.full((6, 6), inf, np.float32)
    A[0, 1] = A[1, 2] = A[1, 3] = 3e38
    A[4, 5] = 1
    X = np.where(np.eye(6) > 0, np.float32(0), A)  # from 0 a walk to 2 is too long for the dtype
    before = np.where(np.isfinite(A), np.arange(6)[:, None], -1)
    roots = np.random.default_rng(1).integers(0, 6, 1100)
    leaving = compressed(A, inf)
    P, lost, guessed = TreeKernel(program(general(sr.min_plus, np.dtype("f4"))), 1).predecessors(
        transpose(leaving), leaving, np.asfortranarray(X[roots]), roots, bounded
    )
    assert (lost == np.where(roots == 0, 2, -1)).all() and not guessed.any()
    assert (before[roots] == P).all()


@pytest.mark.parametrize("bounded", [True, False])
def test_lost_walks_are_told(bounded: bool) -> None:
    A = np.full((4, 4), inf, np.float32)
    A[0, 1] = A[1, 2] = A[1, 3] = 3e38
    X = np.array([[0, 3e38, inf, inf]], np.float32)
    leaving = compressed(A, inf)
    kernel = tree_kernel(general(sr.min_plus, np.dtype("f4")))
    for order in (None, np.array([3, 1, 2, 0])):
        P, lost, guessed = kernel.predecessors(
            transpose(leaving), leaving, X, np.array([0]), bounded, order=order
        )
        assert lost.tolist() == [2] and P.tolist() == [[-1, 0, -1, -1]] and not guessed.any()


def test_walks_to_the_root_are_extended_in_front() -> None:
    S = sr.Semiring("left", add=np.minimum, mul=lambda a, b: a + 2 * b, zero=inf, one=0.0, product_only=True)
    A = np.full((4, 4), inf)
    A[0, 1], A[0, 2], A[1, 3], A[2, 3] = 5.0, 1.0, 1.0, 2.0
    X = np.array([[5.0, 1.0, 2.0, 0.0]])  # 1 + 2 · 2 through either, and 5 + 2 · 1 through 1 is worse
    leaving = compressed(A, inf)
    kernel = tree_kernel(general(S, np.dtype("f8")), exchange=True)
    P, _, _ = kernel.predecessors(leaving, transpose(leaving), X, np.array([3]), True)
    assert P.tolist() == [[2, 3, 3, -1]]


def test_their_name_on_disk() -> None:
    (name,) = names_of(general(sr.min_plus, np.dtype("f8")))
    assert name.endswith(".grow")
