"""Sparse closures that depend on reachability alone, through the front, against the dense closure and the oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.machine import progress
from semiring.operands.convert import as_sparse
from semiring.operands.read import read
from semiring.solvers.sparse.traversals import depends_on_reachability

# Algebras with 1 ⊕ 1 = 1* = 1, and their one.
BOOLEAN = [
    (sr.boolean, "?", True), (sr.min_plus, "f8", 0), (sr.min_plus, "i2", 0), (sr.max_min, "f4", np.inf),
    (sr.bitset_may, "u1", 255), (sr.viterbi, "f4", 1), (sr.gcd_lcm, "i4", 1), (sr.saturating_min_plus(9), "u1", 0),
]


@settings(max_examples=60)
@given(
    which=st.integers(0, len(BOOLEAN) - 1), n=st.integers(0, 40), seed=st.integers(0, 2**32 - 1),
    reflexive=st.booleans(), zeros=st.booleans(), kind=st.sampled_from(["csr", "csc", "coo"]),
)
def test_closures_are_the_dense_ones(
    which: int, n: int, seed: int, reflexive: bool, zeros: bool, kind: str
) -> None:
    S, dtype, one = BOOLEAN[which]
    random = np.random.default_rng(seed)
    m = random.integers(0, 3 * n + 1)
    values = np.full(m, one).astype(dtype)
    if zeros:
        values[random.random(m) < 0.3] = S.zero_in(dtype)
    A = sp.coo_array((values, (random.integers(0, max(n, 1), m), random.integers(0, max(n, 1), m))), shape=(n, n))
    dense = np.full((n, n), S.zero_in(dtype), dtype)
    for i, j, x in zip(A.row, A.col, A.data, strict=True):
        dense[i, j] = S.over(dtype).add(dense[i, j], x)
    if kind != "coo" and (A.nnz == 0 or len(set(zip(A.row.tolist(), A.col.tolist(), strict=True))) == m):
        A = A.asformat(kind)  # SciPy would add what lies in one place
    expected = sr.closure(dense, S, reflexive=reflexive)
    found = sr.closure(A, S, reflexive=reflexive)
    assert found.dtype == expected.dtype and (found == expected).all()
    if S.default_dtype.kind != "b":
        return
    bits = sr.closure(A, S, reflexive=reflexive, packed=True)
    assert isinstance(bits, PackedMatrix) and (bits.to_dense() == (expected == S.one_in(dtype))).all()


def test_graphs_keep_their_names() -> None:
    graph = sr.as_graph([("a", "b"), ("b", "c"), ("c", "b")])
    found = sr.closure(graph, sr.boolean)
    assert found["a", "c"] and found["c", "b"] and not found["b", "a"]
    assert (np.asarray(found) == np.asarray(sr.closure(graph, sr.boolean))).all()
    assert sr.closure(graph, "boolean", reflexive=False, packed=True).count() == 6


@pytest.mark.parametrize("n", [0, 4])
@pytest.mark.parametrize("packed", [False, True])
def test_progress_rises_to_one(n: int, packed: bool) -> None:
    told: list[float] = []
    sr.closure(sp.csr_array((n, n), dtype=bool), sr.boolean, packed=packed, progress=told.append)
    assert told == sorted(told) and told[-1] == 1.0 and len(told) > 1


def test_a_bar_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    @contextmanager
    def bar(what: str, work: float) -> Iterator[Callable[[float], None]]:
        yield lambda part: shown.append(f"{what} {part}")

    monkeypatch.setattr(progress, "bar", bar)
    sr.closure(sp.csr_array(np.eye(3, dtype=bool)), sr.boolean, progress=True)
    assert shown[-1] == "boolean closure 1.0"


def test_numbers_are_edges_also_where_they_are_zero() -> None:
    A = sp.csr_array(([0.0, 2.5], ([0, 1], [1, 2])), shape=(3, 3))
    assert sr.closure(A, sr.boolean).sum() == 6
    assert A.data.tolist() == [0, 2.5]


def test_what_depends_on_reachability() -> None:
    ones = sp.csr_array(np.ones((2, 2)))
    weights = sp.csr_array(np.array([[1.0, 0.5], [0, 1]]))
    for S, A, expected in (
        (sr.boolean, ones.astype(bool), True), (sr.viterbi, ones, True), (sr.viterbi, weights, False),
        (sr.min_plus, ones, False), (sr.counting, ones, False), (sr.plus_times, ones, False),
        (sr.bitset_may, sp.csr_array(np.array([[255, 0], [0, 255]], "u1")), True),
        (sr.bitset_may, sp.csr_array((np.array([255, 0], "u1"), ([0, 1], [1, 0]))), True),
        (sr.bitset_may, sp.csr_array(np.array([[255, 1], [0, 255]], "u1")), False),
        (sr.gf2, ones.astype(bool), False), (sr.shortest_hops, sr.as_graph([(0, 1, (0.0, 0))]), False),
    ):
        assert depends_on_reachability(S, as_sparse(read(A, S))) is expected, S
    assert sr.plan("closure", ones, sr.viterbi).method == "components" != sr.plan("closure", weights, sr.viterbi).method
    with pytest.raises(sr.SemiringError, match="square"):
        sr.closure(sp.csr_array(np.ones((2, 3), bool)), sr.boolean)
    with pytest.raises(sr.SemiringError, match=r"needs .* of memory"):
        sr.closure(sp.csr_array((10**7, 10**7), dtype=bool), sr.boolean)


def test_components_are_not_offered_where_weights_matter() -> None:
    graph, method = sr.as_graph([("a", "b"), ("b", "c")]), lambda A, S: sr.plan("closure", A, S).method
    assert method(graph, sr.boolean) == "components" and sr.closure(graph, sr.boolean)["a", "c"]
    assert method(graph, sr.min_plus) != "components"  # an edge counts one, which is not the algebra's one
    assert method(sr.as_graph([(0, 1, 0), (1, 2, 0)]), sr.min_plus) == "components"
    with pytest.raises(sr.SemiringError, match="one bit per pair is only enough for algebras of False and True"):
        sr.closure(sr.as_graph([(0, 1, 0), (1, 2, 0)]), sr.min_plus, packed=True)
    weights = sp.csr_array(np.array([[0, 2.0], [1, 0]]))
    for S in (sr.min_plus, sr.max_plus, sr.plus_times, sr.counting):
        assert method(weights, S) != "components"
    assert method(weights, sr.boolean) == "components" and sr.closure(weights, sr.boolean).all()
    assert method(sr.as_graph([(0, 1, (0.0, 0))]), sr.shortest_hops) != "components"
