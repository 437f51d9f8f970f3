"""Elimination on the device against that of the host: algebras, records, operands' sides, large fronts, chunks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from solvers.sparse.test_factors import matrices_of_counts

import semiring as sr
from semiring.graphs.texts import with_infinities
from semiring.kernels.cuda.sparse import front_code, fronts

inf = np.inf
CASES = [
    ("min_plus", "f4"), ("min_plus", "f8"), ("min_plus", "i4"), ("min_plus", "i8"), ("min_plus", "f2"),
    ("min_plus", "u1"), ("max_plus", "f4"), ("max_min", "f4"), ("max_min", "i2"), ("min_max", "f8"), ("viterbi", "f4"),
    ("plus_times", "f8"), ("log", "f8"), ("lukasiewicz", "f8"), ("boolean", "?"),
]


def graph(name: str, dtype: str, n: int, degree: float, seed: int = 0) -> Any:
    """A random graph whose closure exists, with parts that nothing reaches."""
    rng, m = np.random.default_rng(seed), int(n * degree)
    rows, columns = rng.integers(0, max(n - 3, 1), (2, m))
    A = sp.csr_array((np.ones(m), (rows, columns)), shape=(n, n))
    A.sum_duplicates()
    if dtype == "?":
        A.data = np.ones(A.nnz, bool)
    elif name == "plus_times":
        A.data = rng.integers(1, 4, A.nnz) / 64
    elif name == "log":
        A.data = np.log(rng.integers(1, 4, A.nnz) / 64)
    elif name in ("viterbi", "lukasiewicz"):
        A.data = rng.choice([1, 0.5, 0.25], A.nnz)
    else:
        A.data = rng.integers(0, 5, A.nnz) * (-1 if name == "max_plus" else 1)
    A.data = A.data.astype(dtype)
    return A


def equal(found: Any, expected: np.ndarray) -> bool:
    found = found.get() if hasattr(found, "get") else found
    assert found.dtype == expected.dtype and found.shape == expected.shape
    if found.dtype.kind == "f":
        return bool(np.allclose(found, expected, rtol=1e-5 if found.dtype == np.float32 else 1e-9, atol=0))
    return bool((found == expected).all())


@pytest.mark.parametrize(("n", "degree"), [(0, 0.0), (1, 1.0), (40, 1.0), (700, 1.5), (1200, 2.5)])
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_closures_rows_and_equations_are_the_hosts(name: str, dtype: str, n: int, degree: float) -> None:
    import cupy

    S, A = sr.catalogue[name], graph(name, dtype, n, degree)
    F, G = (sr.factor(A, S, device=device) for device in ("gpu", "cpu"))
    for reflexive in (True, False):
        D = sr.closure(A, S, method="sparse" if n else "auto", device="gpu", reflexive=reflexive)
        assert isinstance(D, cupy.ndarray) and equal(D, G.closure(reflexive=reflexive))
    rng = np.random.default_rng(1)
    for count in (1, 5, n // 2):
        sources, ends = rng.permutation(n)[:count], rng.permutation(n)[: n // 9 + 1]
        for reflexive in (True, False):
            assert equal(F.rows(sources, reflexive=reflexive), G.rows(sources, reflexive=reflexive))
            some = F.rows(sources, targets=ends, reflexive=reflexive).to_numpy()
            expected = with_infinities(G.rows(sources, reflexive=reflexive)[:, ends], S)  # as tables are read
            assert equal(some, expected)
    if n and dtype not in ("?", "u1", "i2", "f2"):
        B = graph(name, dtype, n, 1.0, 5)[:, : min(n, 7)].toarray().astype(dtype)
        B = np.where(B == 0, S.zero_in(np.dtype(dtype)), B)
        assert equal(F.solve(B), G.solve(B)) and equal(F.solve(cupy.asarray(B)), G.solve(B))


def test_a_front_that_needs_less_shared_memory_comes_between_two_that_need_more() -> None:
    """All are one kernel to the driver, which kept the allowance of the last that was loaded."""
    rng = np.random.default_rng(3)
    front_code._module.cache_clear()
    front_code._function.cache_clear()
    for n in (120, 80, 120):
        A = sp.csr_array(rng.random((n, n)) + 1)
        F, G = (sr.factor(A, sr.min_plus, device=device) for device in ("gpu", "cpu"))
        assert equal(F.closure(), G.closure())


@pytest.mark.parametrize("degree", [1.5, 4.0])
def test_records(degree: float) -> None:
    for S, lift in ((sr.shortest_hops, float), (sr.shortest_count, float)):
        A = graph("min_plus", "f8", 300, degree)
        A.data += 1
        edges = sr.as_graph(A)
        F, G = (sr.factor(edges, S, device=device) for device in ("gpu", "cpu"))
        found, expected = F.rows(np.arange(300)).get(), G.rows(np.arange(300))
        assert all((found[f] == expected[f]).all() for f in expected.dtype.names), lift


def test_operands_of_a_product_that_does_not_commute_keep_their_sides() -> None:
    S, rng, n = matrices_of_counts, np.random.default_rng(5), 60
    A = np.full((n, n), S.zero_in(S.default_dtype), S.default_dtype)
    for _ in range(150):
        i, j = sorted(rng.choice(n, 2, replace=False))
        A[i, j] = tuple(rng.integers(0, 2, 4))
    new = rng.permutation(n)
    A = A[np.ix_(new, new)]
    rows, columns = np.nonzero(S.zero_in(A.dtype) != A)
    edges = sr.Graph(rows, columns, n, A[rows, columns])
    F, G = (sr.factor(edges, S, device=device) for device in ("gpu", "cpu"))
    closed = np.asarray(G.closure())
    for what in (lambda X: X.rows(np.arange(n)), lambda X: X.solve(closed[:, :3].copy())):
        found, expected = what(F), np.asarray(what(G))
        found = found.get() if hasattr(found, "get") else np.asarray(found)
        assert all((found[f] == expected[f]).all() for f in "abcd")


@pytest.mark.parametrize("shared", [(8,), (4000,), fronts.SHARED])
def test_large_fronts_go_through_dense_operations(monkeypatch: pytest.MonkeyPatch, shared: tuple[int, ...]) -> None:
    monkeypatch.setattr(fronts, "SHARED", shared)
    for name, dtype in (("min_plus", "f4"), ("plus_times", "f8")):
        S, A = sr.catalogue[name], graph(name, dtype, 900, 3.0)
        assert equal(sr.factor(A, S, device="gpu").closure(), sr.factor(A, S).closure())


def test_many_right_hand_sides_go_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fronts, "SLAB", 900 * 4 * 300)
    A = graph("min_plus", "f4", 900, 1.5)
    F, G = (sr.factor(A, sr.min_plus, device=device) for device in ("gpu", "cpu"))
    assert equal(F.closure(), G.closure())
    B = np.random.default_rng(0).random((900, 1100)).astype("f4")
    assert equal(F.solve(B), G.solve(B))


def test_reductions_stream_on_the_device() -> None:
    import cupy

    A = graph("min_plus", "f4", 1500, 1.4)
    F, G = (sr.factor(A, sr.min_plus, device=device) for device in ("gpu", "cpu"))
    assert F.reduce("mean") == pytest.approx(G.reduce("mean"), rel=1e-6)
    assert equal(F.reduce("eccentricities"), G.reduce("eccentricities"))
    for options in ({"what": "histogram", "bins": 9}, {"what": "nearest", "k": 5}):
        what = options.pop("what")
        for found, expected in zip(F.reduce(what, **options), G.reduce(what, **options), strict=True):
            assert equal(found, expected)
    assert equal(F.reduce(lambda v, rows: cupy.sort(rows, axis=1)[:, 1]),
                 G.reduce(lambda v, rows: np.sort(rows, axis=1)[:, 1]))


def test_matrices_of_cupys_and_new_weights() -> None:
    import cupy
    import cupyx.scipy.sparse as cs

    A = graph("min_plus", "f8", 400, 2.0)
    F = sr.factor(cs.csr_matrix(sp.csr_matrix(A)), sr.min_plus)
    assert equal(F.closure(), sr.closure(A, sr.min_plus, device="cpu"))
    B = A.copy()
    B.data = B.data * 3 + 1
    assert equal(F.refactor(B.data).closure(), sr.closure(B, sr.min_plus, device="cpu"))
    D = sr.closure(cs.csr_matrix(sp.csr_matrix(A)), sr.min_plus)
    assert isinstance(D, cupy.ndarray) and equal(D, sr.closure(A, sr.min_plus, device="cpu"))


def test_negative_cycles_are_named() -> None:
    A = graph("min_plus", "f8", 400, 2.0)
    A[3, 5], A[5, 3] = -2.0, 1.0
    for verb in (lambda: sr.factor(A, sr.min_plus, device="gpu"),
                 lambda: sr.closure(A, sr.min_plus, device="gpu", method="sparse")):
        with pytest.raises(sr.NoClosureError, match="cycle"):
            verb()
    with pytest.raises(sr.NoClosureError):
        sr.factor(sp.csr_array(np.diag([1.0, 0.5])), sr.plus_times, device="gpu")
