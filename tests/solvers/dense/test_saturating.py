"""Closures that stop at 32,767: exact or refused. NumPy stands in for CuPy, and Python for the kernels."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.facts import DeviceFacts, Facts
from semiring.solvers.dense import narrow
from semiring.solvers.dense.narrow import (
    RELAXATIONS,
    SATURATING_VERTICES,
    M,
    leads_out,
    may_saturate,
    saturates,
    saturating_closure,
    sums_lengths,
)

quick = settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
DTYPES = ["i4", "u4", "i8", "i2", "u2", "u1"]
SMALL = DeviceFacts(largest=100, least=0)


class Fetched(np.ndarray):
    """An array that can be fetched, as CuPy's can."""

    def get(self) -> np.ndarray:
        return np.asarray(self)


class Filler:
    """Truth values as they are, where the GPU makes words of them."""

    def filled(self, truths: np.ndarray, stride: int) -> tuple[np.ndarray, None]:
        return truths, None


def add_product(C: np.ndarray, A: np.ndarray, B: np.ndarray, batch: int, accumulate: bool) -> None:
    """C ← C or A B, of rows of words."""
    assert batch == 1 and accumulate
    for c, a in zip(C, A, strict=True):
        for k in np.flatnonzero(a):
            c |= B[k]


def shortest_edge(A: np.ndarray, x: np.ndarray, absent: Any, axis: int) -> np.ndarray:
    return np.where(absent == A, np.inf, x + A).min(axis=axis, initial=np.inf)


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    cupy = ModuleType("cupy")
    cupy.__dict__.update({name: value for name, value in vars(np).items() if not name.startswith("__")})
    cupy.stack = lambda parts: np.stack(parts).view(Fetched)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(narrow, "kernel", lambda low: low)
    monkeypatch.setattr(narrow, "_filler", Filler)
    monkeypatch.setattr(narrow, "_boolean", lambda: add_product)
    monkeypatch.setattr(narrow, "_view", lambda matrix: matrix)
    monkeypatch.setattr(narrow, "_relaxation", lambda: shortest_edge)


def distances(A: np.ndarray) -> list[list[float]]:
    """Shortest distances in Python's integers."""
    absent = np.iinfo(A.dtype).max
    n = len(A)
    D: list[list[float]] = [[float("inf") if x == absent else x for x in row] for row in A.tolist()]
    for i in range(n):
        D[i][i] = 0
    for k in range(n):
        for i in range(n):
            for j in range(n):
                D[i][j] = min(D[i][j], D[i][k] + D[k][j])
    return D


def close(work: np.ndarray, low: Any) -> None:
    """A ← A* with sums that stop at M, as the engine of the lowering that is chosen."""
    assert (low.storage, low.name) == (np.dtype("u2"), "uint16 sums") and work.dtype == np.uint16
    D = work.astype(int)
    np.fill_diagonal(D, 0)
    for k in range(len(D)):
        D = np.minimum(D, np.minimum(D[:, k, None] + D[k], M))
    work[...] = D


@quick
@given(data=st.data(), n=st.integers(1, 7), dtype=st.sampled_from(DTYPES))
def test_the_answer_is_exact_or_there_is_none(data: st.DataObject, n: int, dtype: str) -> None:
    absent = int(np.iinfo(dtype).max)
    weights = [x for x in (0, 1, 5, 120, 254, 10_000, 32_766, 32_767, 32_768, 60_000) if x < absent]
    entries = st.one_of(st.just(absent), st.sampled_from(weights))
    A = np.array(data.draw(st.lists(st.lists(entries, min_size=n, max_size=n), min_size=n, max_size=n)), dtype)
    before = A.copy()
    expected = distances(A)
    exact = all(x == float("inf") or x < min(M, absent) for row in expected for x in row)
    found = saturating_closure(sr.min_plus, A, close)
    assert (found is not None) == exact
    if exact:
        assert found.dtype == A.dtype
        assert found.tolist() == [[absent if x == float("inf") else x for x in row] for row in expected]
    assert (before == A).all()


@pytest.mark.parametrize("last", [1, 2, 40_000])
def test_the_certificate_sees_the_limit(last: int) -> None:
    """A path of 32,765 + last: one more than 16 bits hold is refused, also where nothing else is far."""
    A = np.full((50, 50), np.iinfo("i4").max, "i4")
    A[0, 1], A[1, 2] = 32_765, last
    found = saturating_closure(sr.min_plus, A, close)
    assert (found is not None) == (last == 1)
    assert found is None or found[0, 2] == 32_766


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_the_dtype_cannot_hold_is_refused(dtype: str) -> None:
    """A sum of its greatest number, which means that there is no walk, or more."""
    absent = int(np.iinfo(dtype).max)
    most = min(absent, M) - 1
    A = np.full((3, 3), absent, dtype)
    A[0, 1], A[1, 2] = most - 1, 1
    expected = [[0, most - 1, most], [absent, 0, 1], [absent, absent, 0]]
    assert saturating_closure(sr.min_plus, A, close).tolist() == expected
    A[1, 2] = 2
    assert saturating_closure(sr.min_plus, A, close) is None


@quick
@given(
    data=st.data(), n=st.sampled_from([1, 2, 31, 32, 33, 70]), rows=st.sampled_from([1, 3, 100]),
    width=st.sampled_from([32, 64]),
)
def test_an_edge_that_leads_out(data: st.DataObject, n: int, rows: int, width: int) -> None:
    random = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    inside = random.random((n, n)) < random.choice([0.5, 0.97, 1])
    edges = random.random((n, n)) < random.choice([0, 0.01, 0.1])
    if data.draw(st.booleans()):  # what can be reached is closed
        inside = np.linalg.matrix_power((edges | np.eye(n, dtype=bool)).astype(object), n).astype(bool)
    reached = (inside.astype(int) @ edges.astype(int)) > 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(narrow, "CERTIFIED_ROWS", rows)
        patch.setattr(narrow, "TILE_BITS", width)
        assert leads_out(inside, edges) == bool((reached & ~inside).any())


# When it is tried.


@pytest.mark.parametrize(("S", "dtype", "least", "fits"), [
    (sr.min_plus, "i4", 0, True), (sr.min_plus, "u1", 5, True), (sr.min_plus, "i8", np.inf, True),
    (sr.min_plus, "i4", -1, False), (sr.min_plus, "f4", 0, False), (sr.max_plus, "i4", 0, False),
    (sr.max_min, "i4", 0, False), (sr.min_max, "u4", 0, False),
])
def test_it_is_for_lengths_in_whole_numbers(S: sr.Semiring, dtype: str, least: float, fits: bool) -> None:
    assert sums_lengths(S, np.dtype(dtype), DeviceFacts(least=least)) is fits


@pytest.mark.parametrize(("more", "dtype", "facts", "may"), [
    (0, "i4", SMALL, True), (-1, "i4", SMALL, False), (0, "u2", SMALL, False), (0, "i2", SMALL, False),
    (0, "i8", SMALL, True), (0, "i4", Facts(), False), (0, "i4", DeviceFacts(least=-1), False),
])
def test_it_repays_for_many_vertices_and_wide_numbers(more: int, dtype: str, facts: Facts, may: bool) -> None:
    n = SATURATING_VERTICES + more
    A = np.broadcast_to(np.ones((), dtype), (n, n))  # of which nothing is stored
    assert may_saturate(sr.min_plus, A, facts) is may
    assert not may_saturate(sr.max_min, A, facts)


def path(lengths: list[int]) -> np.ndarray:
    """Roads from each vertex to the next."""
    n = len(lengths) + 1
    A = np.full((n, n), np.iinfo("i4").max, "i4")
    A[np.arange(n - 1), np.arange(1, n)] = lengths
    return A


FAR = path([30_000, 5_000])
UNREACHED = path([5, 30_000, 30_000])
UNREACHED[0, 1] = np.iinfo("i4").max


@pytest.mark.parametrize(("A", "short"), [
    (path([10] * 5), True), (FAR, False), (path([M - 1]), True), (path([M]), False), (UNREACHED, True),
    (path([1] * (RELAXATIONS - 1)), True), (path([1] * (RELAXATIONS + 3)), False), (path([]), True),
    (np.zeros((9, 9), "i4"), True),
], ids=["short", "far", "at the limit", "beyond", "not reached", "many steps", "too many steps", "one vertex", "zeros"])
def test_the_forecast_looks_from_the_first_vertex(A: np.ndarray, short: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narrow, "SATURATING_VERTICES", 1)
    assert saturates(sr.min_plus, A, SMALL) is short
    assert not saturates(sr.min_plus, A, DeviceFacts(least=-1)), "the device is not synchronized"
