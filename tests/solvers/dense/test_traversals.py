"""Bottleneck closures of symmetric matrices by a spanning tree, against a schedule, to the bit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import oracle
import pytest
import strategies
from bridge import CASES, ours, read_only, reversed_memory, strided
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.operands.dense import Dense
from semiring.solvers.dense import schedules, traversals

inf = np.inf
FIXED = HealthCheck.function_scoped_fixture
TREE = "spanning tree"
BY_BRANCHES = sr.Semiring(
    "minimax by branches", add=lambda a, b: a if a < b else b, mul=lambda a, b: b if a < b else a, zero=inf, one=-inf)
PAIRS = sr.Semiring(
    "pairs in order", fields={"a": "i4", "b": "f8"}, zero=(100, 0.0), one=(-100, 0.0),
    add=lambda x, y: x if (x.a < y.a) | ((x.a == y.a) & (x.b <= y.b)) else y,
    mul=lambda x, y: y if (x.a < y.a) | ((x.a == y.a) & (x.b <= y.b)) else x,
    carrier=lambda x: (np.abs(x.a) < 100) | ((np.abs(x.a) == 100) & (x.b == 0)))


@pytest.fixture(params=["by_numpy", "machine_code"])
def of_any_size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    request.getfixturevalue(request.param)
    monkeypatch.setattr(schedules, "LEAST_TRAVERSED", 1)
    for name in ("VERTEX", "ELEMENT"):
        monkeypatch.setattr(traversals, name, 0)
    yield


def symmetric(A: np.ndarray) -> np.ndarray:
    A = A.copy()
    A[np.tri(len(A), k=-1, dtype=bool)] = A.T[np.tri(len(A), k=-1, dtype=bool)]
    return A


def same(x: Any, y: Any) -> bool:
    """To the bit, padding of records aside."""
    parts = [(x[f], y[f]) for f in x.dtype.names] if x.dtype.names else [(x, y)]
    signs = all(np.array_equal(np.signbit(p), np.signbit(q)) for p, q in parts if p.dtype.kind == "f")
    return x.dtype == y.dtype and signs and all(np.array_equal(p, q) for p, q in parts)


@pytest.mark.usefixtures("of_any_size")
@settings(max_examples=60, suppress_health_check=[FIXED])
@given(st.sampled_from([c for c in CASES if c[0] in ("min_max", "max_min")]), st.booleans(),
       st.sampled_from([np.array, np.asfortranarray, read_only, strided, reversed_memory]), st.data())
def test_closures_are_those_of_a_schedule(case: Any, reflexive: bool, layout: Any, data: st.DataObject) -> None:
    name, dtype = case
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    T = ours(S)
    A = symmetric(data.draw(strategies.matrices(S, dtype)))
    assume(A.size)
    if dtype.kind == "f" and data.draw(st.booleans()):
        A[A == 0] = -0.0
    given_ = layout(A)
    found = sr.closure(given_, T, reflexive=reflexive)
    assert same(found, np.asarray(sr.closure(A, T, reflexive=reflexive, method="floyd-warshall")))
    assert same(np.asarray(given_), A)
    by_tree = sr.plan("closure", A, T).method == TREE  # unless bits will do
    if given_.flags.writeable:
        again = sr.closure(given_, T, reflexive=reflexive, overwrite=True)
        assert same(again, found) and (not by_tree or (again is given_) == reflexive)


@pytest.mark.usefixtures("of_any_size")
@pytest.mark.parametrize("S", [BY_BRANCHES, PAIRS, sr.min_max])
def test_algebras_are_found_by_their_laws(S: sr.Semiring, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    A = np.empty((40, 40), S.element_dtype)
    if S is PAIRS:
        A["a"], A["b"] = random.integers(0, 4, A.shape), random.integers(0, 3, A.shape)
    else:
        A[...] = random.integers(-9, 9, A.shape)
    A = symmetric(A)
    A[:15, 15:], A[15:, :15] = S.zero_in(A.dtype), S.zero_in(A.dtype)
    compiled = sr.plan("closure", A, S).lowering.compiled
    assert S.is_bottleneck and (sr.plan("closure", A, S).method == TREE) == (compiled or S is not PAIRS)
    for reflexive in (True, False):
        expected = np.asarray(sr.closure(A, S, reflexive=reflexive, method="floyd-warshall"))
        assert same(np.asarray(sr.closure(A, S, reflexive=reflexive)), expected)


def test_other_algebras_have_no_such_order() -> None:
    found = {name for name, S in sr.catalogue.items() if S.is_bottleneck}
    assert found == {"min_max", "max_min", "boolean"}
    assert not sr.Semiring("no worse one", add=np.minimum, mul=np.minimum, zero=inf, one=inf, product_only=True
                           ).is_bottleneck


@settings(max_examples=100)
@given(st.sampled_from([2, 3, 255, 256, 257, 300, 513]), st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 2]))
def test_one_element_that_differs_from_its_opposite_is_found(n: int, seed: int, near: int) -> None:
    """Wherever it is: beside the diagonal, in a block on it, or far away."""
    random = np.random.default_rng(seed)
    A = symmetric(random.integers(0, 3, (n, n)))
    assert traversals.is_symmetric(A)
    i = int(random.integers(0, n))
    j = int(random.integers(max(i - [1, 100, n][near], 0), min(i + [1, 100, n][near], n - 1), endpoint=True))
    assume(i != j)
    A[i, j] += 1
    assert not traversals.is_symmetric(A)


@pytest.mark.usefixtures("by_numpy")
def test_where_it_runs() -> None:
    random = np.random.default_rng(2)
    A = symmetric(random.random((400, 400)))
    assert sr.plan("closure", A, sr.min_max).method == TREE
    assert sr.plan("closure", A, sr.min_max, reflexive=False).method == TREE
    assert sr.plan("closure", A[:90, :90], sr.min_max).method != TREE, "small"
    assert sr.plan("closure", A, sr.min_plus).method != TREE
    assert sr.plan("closure", A, sr.min_max, method="blocked").method == "blocked"
    assert sr.plan("closure", np.stack([A, A]), sr.min_max).method != TREE
    for at in ((0, 1), (399, 7), (255, 256)):
        B = A.copy()
        B[at] += 1
        assert sr.plan("closure", B, sr.min_max).method != TREE, at
        assert not np.array_equal(sr.closure(B, sr.min_max), sr.closure(B, sr.min_max).T) or B[at] > A[at]
    with pytest.raises(sr.SemiringError, match=r"A\[3, 4\] is NaN"):
        B = A.copy()
        B[3, 4] = B[4, 3] = np.nan
        sr.closure(B, sr.min_max)
    assert sr.closure(A, sr.min_max, progress=(parts := []).append) is not None and parts[-1] == 1.0


@pytest.mark.usefixtures("by_numpy")
def test_names_and_byte_order_stay() -> None:
    random = np.random.default_rng(3)
    A = symmetric(random.random((220, 220))).astype(">f4")
    found = sr.closure(A, sr.max_min)
    assert found.dtype == np.dtype(">f4")
    assert same(found.astype("f4"), sr.closure(A.astype("f4"), sr.max_min, method="floyd-warshall"))
    names = [f"v{i}" for i in range(220)]
    M = sr.from_dense(A.astype("f8"), sr.max_min, names=names)
    assert sr.closure(M)["v3", "v7"] == found[3, 7]


def test_bits_are_closed_in_less_time_than_it_takes_to_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traversals, "one_way", lambda *_: pytest.fail("looked"))
    random = np.random.default_rng(4)
    for A in (np.triu(random.random((400, 400)) < 0.01, 1), symmetric(random.random((400, 400)) < 0.01)):
        assert np.array_equal(sr.closure(A, sr.boolean), sr.closure(A, sr.boolean, method="floyd-warshall"))


@pytest.mark.parametrize("n", [300, 5000])
def test_a_random_graph_with_cycles_is_known_by_a_few_walks(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    A = np.full((n, n), inf, "f4")
    A[random.integers(0, n, 8 * n), random.integers(0, n, 8 * n)] = 1
    assert not Dense(A, sr.min_plus).may_be_acyclic()
    assert Dense(np.where(np.tri(n, k=-1, dtype=bool), A, np.float32(inf)), sr.min_plus).may_be_acyclic()
