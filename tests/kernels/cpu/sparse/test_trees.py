"""Compiled trees of best walks against those of NumPy, and lanes against lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engines import slow_but
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import semiring as sr
from semiring.algorithms.trees import Edges, predecessors
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.compile.price import always
from semiring.kernels.cpu.sparse import trees
from semiring.kernels.cpu.sparse.edge_numbers import EdgeNumbers
from semiring.kernels.cpu.sparse.structure import transpose
from semiring.kernels.cpu.sparse.trees import (
    HubTreeKernel,
    TreeKernel,
    is_monotone,
)
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


def vertices_of(found: EdgeNumbers | np.ndarray) -> np.ndarray:
    return found.vertices() if isinstance(found, EdgeNumbers) else found


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


@pytest.mark.parametrize(("name", "dtype", "weights"), slow_but(ALGEBRAS, 0, 1))
def test_they_are_those_of_numpy(name: str, dtype: str, weights: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    S = sr.catalogue[name]
    low = general(S, dtype_of(S, dtype))

    @settings(max_examples=30)
    @given(st.integers(0, 10**6), st.sampled_from([1, 2, 9, 40, 70]), st.sampled_from([1, 3]),
           st.sampled_from([1, 5, 32, 65, 128]), st.booleans(), st.booleans(), st.sampled_from([2.5, 7.0]),
           st.booleans(), st.sampled_from([TreeKernel, HubTreeKernel]), st.booleans())
    def check(
        seed: int, n: int, threads: int, lanes: int, across: bool, tied: bool, degree: float, permuted: bool,
        kind: type[TreeKernel], lossless: bool,
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
        found, lost, guessed = kind(kind.program_of(low), threads).predecessors(
            entering, X, np.arange(n), bounded, tied, lossless, order
        )
        P = vertices_of(found)
        edges = Edges(entering.offsets, entering.columns, entering.values, (leaving.offsets, leaving.columns))
        expected, none, rows = predecessors(edges, T, X, np.arange(n), bounded)
        assert (expected == P).all() and none == [] and (lost < 0).all() and P.dtype == np.int32
        assert np.flatnonzero(guessed).tolist() == rows
        assert isinstance(found, EdgeNumbers) == (kind is TreeKernel)
        assert P.flags.f_contiguous if across and n > 1 and not A.dtype.names else P.flags.c_contiguous

    check()


@pytest.mark.parametrize("lossless", [False, True])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(("name", "dtype", "weights"), slow_but(ALGEBRAS, 0, 1))
def test_more_lanes_than_one_strip_has(
    name: str, dtype: str, weights: list[Any], tied: bool, lossless: bool
) -> None:
    S, n, lanes = sr.catalogue[name], 60, 1100
    A = drawn(5, n, S, dtype, weights, 5.0)
    A[:, 7] = S.zero_in(A.dtype)  # it is not reached
    A[9, 9] = weights[2]  # a loop
    X, roots = np.asarray(sr.closure(A, S)), np.random.default_rng(5).integers(0, n, lanes)
    leaving = compressed(A, S.zero_in(A.dtype))
    entering, bounded = transpose(leaving), np.min(weights) >= 0
    assert set(np.diff(entering.offsets)) >= set(range(8))
    kernel = TreeKernel.of(general(S, A.dtype))
    assert lanes > kernel.module.STRIP
    found, lost, guessed = kernel.predecessors(
        entering, np.asfortranarray(X[roots]), roots, bounded, tied, lossless
    )
    P = vertices_of(found)
    edges = Edges(entering.offsets, entering.columns, entering.values, (leaving.offsets, leaving.columns))
    expected, none, rows = predecessors(edges, S.over(A.dtype), X, np.arange(n), bounded)
    assert (expected[roots] == P).all() and none == [] and (lost < 0).all()
    assert (guessed == np.isin(roots, rows)).all()


@pytest.mark.parametrize(("name", "dtype", "weights"), slow_but([
    ("min_plus", "f4", [0.0, 1.5, 2.0, 3.0]), ("viterbi", "f8", [1.0, 0.5, 0.3]),
    ("shortest_hops", "home", [(0.0, 1.0), (1.0, 1.0), (0.3, 1.0)]),
], 0, 2))
def test_every_number_of_edges(name: str, dtype: str, weights: list[Any]) -> None:
    """Few are looked at together, others in turn."""
    S, n = sr.catalogue[name], 70
    A, rng = drawn(1, n, S, dtype, weights, float(n)), np.random.default_rng(2)
    for v in range(n):
        A[rng.permutation(n)[v % 23 :], v] = S.zero_in(A.dtype)
        A[v, v] = S.zero_in(A.dtype)
    X, T = np.asarray(sr.closure(A, S)), S.over(A.dtype)
    leaving = compressed(A, S.zero_in(A.dtype))
    entering = transpose(leaving)
    assert set(np.diff(entering.offsets)) >= set(range(20))
    edges = Edges(entering.offsets, entering.columns, entering.values, (leaving.offsets, leaving.columns))
    expected, _, _ = predecessors(edges, T, X, np.arange(n), True)
    found, _, _ = TreeKernel.of(general(S, A.dtype)).predecessors(
        entering, np.asfortranarray(X), np.arange(n), True
    )
    assert (expected == vertices_of(found)).all()


@pytest.mark.parametrize("bounded", [True, False])
def test_lost_walks_are_told_in_every_strip(bounded: bool) -> None:
    A = np.full((6, 6), inf, np.float32)
    A[0, 1] = A[1, 2] = A[1, 3] = 3e38
    A[4, 5] = 1
    X = np.where(np.eye(6) > 0, np.float32(0), A)  # from 0 a walk to 2 is too long for the dtype
    before = np.where(np.isfinite(A), np.arange(6)[:, None], -1)
    roots = np.random.default_rng(1).integers(0, 6, 1100)
    leaving = compressed(A, inf)
    found, lost, guessed = TreeKernel.of(general(sr.min_plus, np.dtype("f4"))).predecessors(
        transpose(leaving), np.asfortranarray(X[roots]), roots, bounded
    )
    assert (lost == np.where(roots == 0, 2, -1)).all() and not guessed.any()
    assert (before[roots] == vertices_of(found)).all()


@pytest.mark.parametrize("bounded", [True, False])
def test_lost_walks_are_told(bounded: bool) -> None:
    A = np.full((4, 4), inf, np.float32)
    A[0, 1] = A[1, 2] = A[1, 3] = 3e38
    X = np.array([[0, 3e38, inf, inf]], np.float32)
    leaving = compressed(A, inf)
    kernel = TreeKernel.of(general(sr.min_plus, np.dtype("f4")))
    for order in (None, np.array([3, 1, 2, 0])):
        found, lost, guessed = kernel.predecessors(
            transpose(leaving), X, np.array([0]), bounded, order=order
        )
        assert lost.tolist() == [2] and vertices_of(found).tolist() == [[-1, 0, -1, -1]] and not guessed.any()


def test_walks_to_the_root_are_extended_in_front() -> None:
    S = sr.Semiring("left", add=np.minimum, mul=lambda a, b: a + 2 * b, zero=inf, one=0.0, product_only=True)
    A = np.full((4, 4), inf)
    A[0, 1], A[0, 2], A[1, 3], A[2, 3] = 5.0, 1.0, 1.0, 2.0
    X = np.array([[5.0, 1.0, 2.0, 0.0]])  # 1 + 2 · 2 through either, and 5 + 2 · 1 through 1 is worse
    leaving = compressed(A, inf)
    kernel = TreeKernel.of(general(S, np.dtype("f8")), exchange=True)
    found, _, _ = kernel.predecessors(leaving, X, np.array([3]), True)
    assert vertices_of(found).tolist() == [[2, 3, 3, -1]]


def test_their_name_on_disk() -> None:
    low = general(sr.min_plus, np.dtype("f8"))
    (one,), (other,) = TreeKernel.code(low), HubTreeKernel.code(low)
    assert one.name == other.name == "grow" and one.on_disk != other.on_disk


@pytest.mark.parametrize("leaves", [126, 127, 128, 300])
def test_vertices_of_many_edges(leaves: int) -> None:
    A = np.full((leaves + 2, leaves + 2), inf)
    A[0, 1 : leaves + 1] = A[1 : leaves + 1, 0] = np.random.default_rng(leaves).permutation(leaves) + 1.0
    A[0, leaves + 1] = A[leaves + 1, 0] = 0.5
    rows = compressed(A, inf)
    G = csr_array((rows.values, rows.columns, rows.offsets), A.shape)
    with always():
        R = sr.paths(G, sr.min_plus)
    expected = np.broadcast_to(np.arange(leaves + 2)[None], A.shape).copy()
    expected[1:, 1:] = 0
    np.fill_diagonal(expected, -1)
    assert (R.next_hop == expected).all() and R[leaves, leaves - 1].vertices == [leaves, 0, leaves - 1]
    assert (R.predecessors[0, 1:] == 0).all() and R.predecessors[3, 5] == 0


def test_a_best_edge_that_rounding_hides() -> None:
    # From 0 to 1 costs so little that 1 is as far from 2 and 3 as 0 is: the general rule decides there.
    A = np.full((4, 4), inf, np.float32)
    for a, b, w in ((0, 1, 1e-9), (1, 2, 1.0), (2, 3, 1.0), (0, 3, 3.0)):
        A[a, b] = A[b, a] = w
    X = np.asarray(sr.closure(A, sr.min_plus))
    leaving = compressed(A, inf)
    low = general(sr.min_plus, A.dtype)
    assert is_monotone(low) and X[0, 2] == X[1, 2]
    edges = Edges(leaving.offsets, leaving.columns, leaving.values, (leaving.offsets, leaving.columns))
    expected, _, _ = predecessors(edges, sr.min_plus.over(A.dtype), X, np.arange(4), True)
    for lossless in (False, True):
        for values in (X, np.asfortranarray(X)):
            found, _, _ = TreeKernel.of(low).predecessors(leaving, values, np.arange(4), True, False, lossless)
            assert (vertices_of(found) == expected).all()


@pytest.mark.parametrize("dtype", ["f4", pytest.param("f8", marks=pytest.mark.slow)])
def test_products_of_zero_that_are_no_numbers(dtype: str) -> None:
    """Loss rates that compound: ∞ + 0 + ∞ · 0 is NaN, as the first of three products here."""
    S = sr.Semiring("compound", add=np.minimum, mul=lambda a, b: a + b + a * b, zero=inf, one=0, star=lambda a: 0.0,
                    carrier=lambda a: a >= 0)
    A = np.full((5, 5), inf, dtype)
    A[4, :3], A[1, 3], A[2, 3] = (0.0, 0.1, 10.0), 1.0, 0.5
    with always():
        R = sr.paths(explicit(A), S)
    assert R[4, 3].vertices == [4, 1, 3] and R.next_hop[4].tolist() == [0, 1, 2, 1, -1]


def explicit(A: np.ndarray) -> csr_array:
    rows = compressed(A, inf)
    return csr_array((rows.values, rows.columns, rows.offsets), A.shape)
