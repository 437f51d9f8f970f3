"""Closures, factors and equations of sparse matrices on a GPU that NumPy plays: what comes back, and from where."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from gpu.host import Array, Host
from gpu.played_fronts import forget_kernels, played, played_over

import semiring as sr
from semiring.solvers.sparse import elimination, on_gpus

inf = np.inf


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(elimination, "gpu_name", lambda: "played by NumPy")
    monkeypatch.setattr(elimination, "require_gpu", lambda *_: None)
    monkeypatch.setattr(on_gpus, "device_name", lambda: "played by NumPy")

    def begin(name: str, count: int = 1, dtype: Any = None) -> Host:
        host = (played(monkeypatch, name, count) if dtype is None else
                played_over(monkeypatch, sr.catalogue[name], np.dtype(dtype), count))
        monkeypatch.setattr(on_gpus, "current_device", lambda: host.number)
        monkeypatch.setattr(on_gpus, "synchronize", host.finish)
        return host

    yield begin
    forget_kernels()
    on_gpus._structures.cache_clear()


def roads(n: int = 120, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    ring = np.arange(n)
    rows = np.concatenate([ring, rng.integers(0, n, n // 2)])
    columns = np.concatenate([(ring + 1) % n, (rows[n:] + rng.integers(1, 4, n // 2)) % n])
    A = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    A.sum_duplicates()
    A.data = rng.integers(0, 9, A.nnz).astype(float)
    return A


def test_a_closure_is_a_cupy_array(gpu: Any) -> None:
    gpu("min_plus")
    A = roads()
    for reflexive in (True, False):
        D = sr.closure(A, sr.min_plus, device="gpu", method="sparse", reflexive=reflexive)
        assert isinstance(D, Array) and (sr.closure(A, sr.min_plus, device="cpu", reflexive=reflexive) == D).all()
    told: list[float] = []
    sr.closure(A, sr.min_plus, device="gpu", method="sparse", progress=told.append)
    assert told == sorted(told) and told[-1] == 1


def test_a_graph_gets_a_matrix_by_name(gpu: Any) -> None:
    gpu("min_plus")
    G = sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0)])
    D = sr.closure(G, sr.min_plus, device="gpu", method="sparse")
    assert D["a", "c"] == 7 and type(D.to_numpy()) is np.ndarray
    F = sr.factor(G, sr.min_plus, device="gpu")
    assert F.path("a", "c") == (7.0, ["a", "b", "c"])
    assert F.rows(["a"], targets=["c", "b"])["a", "b"] == 3


def test_equations_come_back_where_the_right_hand_side_was(gpu: Any) -> None:
    gpu("plus_times")
    A = roads()
    A.data = A.data / 64
    B = np.random.default_rng(0).random((120, 3))
    expected = sr.solve(A, B, sr.plus_times, device="cpu")
    found = sr.solve(A, B, sr.plus_times, device="gpu")
    assert type(found) is np.ndarray and np.allclose(found, expected)
    F = sr.factor(A, sr.plus_times, device="gpu")
    assert np.allclose(F.solve(B[:, 0]), expected[:, 0])
    for right in (B.T.copy(), B[:, 0]):
        found = F.solve(right, left=True)
        assert type(found) is np.ndarray
        assert np.allclose(found, sr.solve(A, right, sr.plus_times, left=True, device="cpu"))


def test_the_plan_says_where_and_how(gpu: Any) -> None:
    gpu("min_plus")
    shown = str(sr.plan("closure", roads(), sr.min_plus, device="gpu", method="sparse"))
    assert "sparse elimination  (as asked)" in shown and "played by NumPy" in shown and "elimination" in shown
    assert "level by level" in str(sr.plan("factor", roads(), sr.min_plus, device="gpu"))


def test_what_cannot_be_is_refused(gpu: Any) -> None:
    gpu("min_plus")
    A = roads()
    with pytest.raises(sr.SemiringError, match="tile is for the dense schedules"):
        sr.closure(A, sr.min_plus, device="gpu", method="sparse", tile=3)
    A.data[:] = -1.0
    for verb in (lambda: sr.closure(A, sr.min_plus, device="gpu", method="sparse"),
                 lambda: sr.factor(A, sr.min_plus, device="gpu")):
        with pytest.raises(sr.NoClosureError, match="cycle"):
            verb()
    with pytest.raises(sr.SemiringError, match="CPU only"):
        sr.factor(sr.as_graph([(0, 1, 2j), (1, 0, 1j)]), sr.plus_times, device="gpu")


def test_a_closure_on_the_host_goes_there_only_where_that_pays(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elimination, "closure_if_faster", lambda *given: None)  # by many threads searches would win
    gpu("min_plus")
    A = roads()
    assert "played" not in str(sr.plan("closure", A, sr.min_plus))
    monkeypatch.setattr(elimination, "SECONDS_FOR_A_GPU", 0.0)
    assert "played" not in str(sr.plan("closure", A, sr.min_plus))  # a second until the kernels are there
    monkeypatch.setattr(elimination, "FIRST_USE", -1.0)
    monkeypatch.setattr(on_gpus, "LAUNCH", 0.0)
    plan = sr.plan("closure", A, sr.min_plus)
    assert "played" in str(plan) and "with what is copied" in str(plan)
    D = sr.closure(A, sr.min_plus)
    assert type(D) is np.ndarray and (sr.closure(A, sr.min_plus, device="cpu") == D).all()
    assert "played" not in str(sr.plan("closure", A, sr.min_plus, device="cpu"))
    monkeypatch.setattr(elimination, "COPY_RATE", 1.0)
    assert "played" not in str(sr.plan("closure", A, sr.min_plus))
