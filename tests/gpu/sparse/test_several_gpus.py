"""Sparse factors and closures on several GPUs: the bits of one, rows dealt out, and answers where they should be."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from gpu.sparse.test_fronts import equal, graph, matrices_of_counts

import semiring as sr
from semiring.kernels.cuda.sparse import fronts, spread


@pytest.fixture(params=[1, 2, 4])
def count(request: pytest.FixtureRequest) -> int:
    """How many GPUs; as many as this host has."""
    import cupy

    if request.param > cupy.cuda.runtime.getDeviceCount():
        pytest.skip("this host has fewer GPUs")
    return int(request.param)


@pytest.fixture(params=[1, 256])
def alone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """From how many rows on GPUs share them, and fewer rows are sent together."""
    monkeypatch.setattr(spread, "ALONE", request.param)
    if request.param == 1:
        monkeypatch.setattr(fronts, "SLAB", 700 * 8 * 300)


CASES = [
    ("min_plus", "f4"), ("min_plus", "i4"), ("max_min", "f4"), ("plus_times", "f8"), ("log", "f8"), ("boolean", "?"),
]


def bits(found: Any, expected: Any) -> bool:
    found, expected = (x.get() if hasattr(x, "get") else x for x in (found, expected))
    return found.dtype == expected.dtype and found.shape == expected.shape and bool((found == expected).all())


@pytest.mark.parametrize(("n", "degree"), [(0, 0.0), (1, 1.0), (3, 1.0), (701, 1.5), (1200, 2.5)])
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_closures_rows_and_equations_are_those_of_one(
    name: str, dtype: str, n: int, degree: float, count: int, alone: None
) -> None:
    import cupy

    S, A = sr.catalogue[name], graph(name, dtype, n, degree)
    F, G, H = sr.factor(A, S, devices=count), sr.factor(A, S, device="gpu"), sr.factor(A, S, device="cpu")
    rng = np.random.default_rng(1)
    for reflexive in (True, False):
        D = sr.closure(A, S, method="sparse" if n else "auto", devices=count, reflexive=reflexive)
        expected = G.closure(reflexive=reflexive)
        assert isinstance(D, np.ndarray) and bits(D, expected) and equal(D, H.closure(reflexive=reflexive))
        assert bits(F.closure(reflexive=reflexive), expected)
        for some in (1, n // 2, n):
            sources, ends = rng.permutation(n)[:some], rng.permutation(n)[: n // 9 + 1]
            assert bits(F.rows(sources, reflexive=reflexive), G.rows(sources, reflexive=reflexive))
            found, wanted = (X.rows(sources, targets=ends, reflexive=reflexive).to_numpy() for X in (F, G))
            assert bits(found, wanted)
        for in_order in (True, False):
            for (v, block), (w, other) in zip(F.blocks(100, reflexive=reflexive, in_order=in_order),
                                              G.blocks(100, reflexive=reflexive, in_order=in_order), strict=True):
                assert block.device.id == 0 and (v == w).all() and bits(block, other)
    if n and dtype != "?":
        B = rng.integers(1, 5, (n, 300)).astype(dtype)
        assert bits(F.solve(B), G.solve(B)) and bits(F.solve(cupy.asarray(B)), G.solve(B))
        assert bits(F.solve(B[:, 0]), G.solve(B[:, 0]))


def test_records_and_products_that_do_not_commute(count: int, alone: None) -> None:
    A = graph("min_plus", "f8", 300, 1.5)
    A.data += 1
    F, G = (sr.factor(sr.as_graph(A), sr.shortest_hops, **where) for where in ({"devices": count}, {"device": "cpu"}))
    found, expected = F.rows(np.arange(300)).get(), G.rows(np.arange(300))
    assert all((found[f] == expected[f]).all() for f in expected.dtype.names)
    S, rng, n = matrices_of_counts, np.random.default_rng(5), 60
    edges = np.full((n, n), S.zero_in(S.default_dtype), S.default_dtype)
    for _ in range(150):
        i, j = sorted(rng.choice(n, 2, replace=False))
        edges[i, j] = tuple(rng.integers(0, 2, 4))
    rows, columns = np.nonzero(S.zero_in(edges.dtype) != edges)
    given = sr.Graph(rows, columns, n, edges[rows, columns])
    F, G = (sr.factor(given, S, **where) for where in ({"devices": count}, {"device": "cpu"}))
    assert (F.closure().to_numpy() == G.closure().to_numpy()).all()


def test_reductions_new_weights_and_pickles(count: int, alone: None) -> None:
    A = graph("min_plus", "f4", 1500, 1.4)
    F, G = sr.factor(A, sr.min_plus, devices=count), sr.factor(A, sr.min_plus, device="gpu")
    assert F.reduce("mean") == pytest.approx(G.reduce("mean"), rel=1e-12)
    assert bits(F.reduce("eccentricities"), G.reduce("eccentricities"))
    for what, options in (("histogram", {"bins": 9}), ("nearest", {"k": 5})):
        for found, expected in zip(F.reduce(what, **options), G.reduce(what, **options), strict=True):
            assert bits(found, expected)
    assert bits(F.reduce(lambda v, rows: rows.min(axis=1)), G.reduce(lambda v, rows: rows.min(axis=1)))
    assert F.weight(3, 70) == G.weight(3, 70) and F.path(3, 70) == G.path(3, 70)
    weights = A.data * 3 + 1
    assert bits(F.refactor(weights).closure(), G.refactor(weights).closure())
    assert bits(pickle.loads(pickle.dumps(F)).row(5), G.row(5))


def test_matrices_of_cupys_and_a_list_of_gpus(count: int) -> None:
    import cupy
    import cupyx.scipy.sparse as cs

    A = graph("min_plus", "f8", 400, 2.0)
    devices = list(range(count))[::-1]
    for method in ("sparse", "auto"):
        D = sr.closure(cs.csr_matrix(sp.csr_matrix(A)), sr.min_plus, devices=devices, method=method)
        assert isinstance(D, cupy.ndarray) and equal(D, sr.closure(A, sr.min_plus, device="cpu"))
        assert method == "auto" or D.device.id == devices[0]
    F = sr.factor(A, sr.min_plus, devices=devices)
    with cupy.cuda.Device(count - 1):
        assert F.row(3).device.id == devices[0] and bits(F.closure(), sr.factor(A, sr.min_plus).closure())
        assert bits(F.reduce("eccentricities"), sr.factor(A, sr.min_plus).reduce("eccentricities"))


def test_negative_cycles_are_named(count: int) -> None:
    A = graph("min_plus", "f8", 400, 2.0)
    A[3, 5], A[5, 3] = -2.0, 1.0
    with pytest.raises(sr.NoClosureError, match="cycle"):
        sr.factor(A, sr.min_plus, devices=count)
    with pytest.raises(sr.NoClosureError, match="cycle"):
        sr.closure(A, sr.min_plus, devices=count, method="sparse")
