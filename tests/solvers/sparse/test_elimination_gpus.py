"""Closures and factors of sparse matrices on several GPUs that NumPy plays: answers, plans, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from gpu.host import Array
from solvers.sparse.test_elimination_gpu import gpu, roads

import semiring as sr
from semiring.kernels.cuda.sparse import fronts, spread
from semiring.operands import convert
from semiring.operands.sparse import DeviceSparse, Sparse
from semiring.solvers import task
from semiring.solvers.beyond import gpus as solver
from semiring.solvers.sparse import on_gpus

__all__ = ["gpu"]
inf = np.inf


@pytest.fixture
def gpus(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Three of them, which share the work from two right-hand sides on, ten rows of the closure at a time."""
    monkeypatch.setattr(spread, "ALONE", 2)
    monkeypatch.setattr(fronts, "SLAB", 120 * 8 * 10)
    return lambda name, count=3, dtype=None: gpu(name, count, dtype)


@pytest.mark.parametrize("devices", [1, 2, 3, [2, 0]])
@pytest.mark.parametrize("reflexive", [True, False])
def test_a_closure_is_where_the_matrix_was(gpus: Any, devices: Any, reflexive: bool) -> None:
    gpus("min_plus")
    A, told = roads(), []
    D = sr.closure(A, sr.min_plus, devices=devices, method="sparse", reflexive=reflexive, progress=told.append)
    assert type(D) is np.ndarray and (sr.closure(A, sr.min_plus, device="cpu", reflexive=reflexive) == D).all()
    assert told == sorted(told) and told[-1] == 1 and len(told) > 10


def test_a_closure_of_a_matrix_on_a_gpu_is_on_the_first(gpus: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    gpus("min_plus")
    A = roads()
    monkeypatch.setattr(convert, "read_scipy", lambda matrix, S, what: sr.prepare(matrix, S))
    there = DeviceSparse(A, sr.min_plus, "A")
    monkeypatch.setattr(A, "get", lambda: A, raising=False)
    D = sr.closure(there, sr.min_plus, devices=[2, 1], method="sparse")
    assert isinstance(D, Array) and D.device.id == 2
    assert (sr.closure(A, sr.min_plus, device="cpu") == D).all()
    assert "on GPU 2" in str(sr.plan("closure", there, sr.min_plus, devices=[2, 1], method="sparse"))


def test_a_graph_gets_a_matrix_by_name(gpus: Any) -> None:
    gpus("min_plus")
    G = sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0)])
    D = sr.closure(G, sr.min_plus, devices=3, method="sparse")
    assert D["a", "c"] == 7 and type(D.to_numpy()) is np.ndarray
    F = sr.factor(G, sr.min_plus, devices=3)
    assert F.path("a", "c") == (7.0, ["a", "b", "c"]) and F.closure()["a", "c"] == 7
    assert F.rows(["a"], targets=["c", "b"])["a", "b"] == 3


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_few_vertices(gpus: Any, n: int) -> None:
    gpus("min_plus")
    for nnz in (0, n):
        A = sp.csr_array((np.ones(nnz), (np.arange(nnz), np.arange(nnz)[::-1])), shape=(n, n))
        assert (sr.closure(A, sr.min_plus, devices=3, method="sparse") == sr.closure(A, sr.min_plus)).all()
        F = sr.factor(A, sr.min_plus, devices=3)
        assert (F.closure() == sr.closure(A, sr.min_plus)).all()
        assert F.reduce("eccentricities").shape == (n,) and len(list(F.blocks(2))) == -(-n // 2)


def test_the_plan_says_which_gpus_and_how_long(gpus: Any) -> None:
    gpus("min_plus")
    one, two = (sr.plan("closure", roads(), sr.min_plus, devices=d, method="sparse") for d in (1, [0, 2]))
    assert "2 GPUs: 0, 2" in str(two) and "1 GPU: 0" in str(one) and "on each GPU" in str(two)
    assert two.devices == (0, 2) and two.seconds["dense"] < one.seconds["dense"]
    shown = sr.plan("factor", roads(), sr.min_plus, devices=2)
    assert "rows are dealt out" in str(shown) and shown.factors > 0


def test_the_dense_closure_where_that_is_predicted_to_be_faster(gpus: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    gpus("min_plus")
    A = roads()
    assert sr.plan("closure", A, sr.min_plus, devices=2).method == "blocked"
    monkeypatch.setattr(on_gpus, "LAUNCH", 0.0)
    monkeypatch.setattr(on_gpus, "DENSE", 1.0)
    assert sr.plan("closure", A, sr.min_plus, devices=2).method == "sparse elimination"
    assert sr.plan("closure", A, sr.min_plus, devices=2, tile=128).method == "blocked"
    B = A.astype(bool)
    assert sr.plan("closure", B, sr.boolean, devices=2).method == "blocked"
    assert sr.plan("closure", A.toarray(), sr.min_plus, devices=2).method == "blocked"


def test_what_cannot_be_is_refused(gpus: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    gpus("min_plus")
    A = roads()
    for asked, message in (
        ({"method": "sparse", "tile": 3}, "tile is for the dense schedules"),
        ({"device": "cpu"}, "leave out one of the two"),
        ({"devices": 4}, "this host has 3 GPUs"),
        ({"method": "squaring"}, "the method must be blocked or auto"),
        ({"overwrite": True}, "has no option 'overwrite'"),
    ):
        with pytest.raises(sr.SemiringError, match=message):
            sr.closure(A, sr.min_plus, **({"devices": 2} | asked))
    bits = sr.PackedMatrix.from_dense(np.eye(3, dtype=bool))
    for given, message in ((A.toarray(), "an array"), (bits, "a packed matrix")):
        with pytest.raises(sr.SemiringError, match=f"{message}: leave out devices"):
            sr.factor(given, sr.boolean if given is bits else sr.min_plus, devices=2)
    G = sr.as_graph([(0, 1, 2j), (1, 0, 1j)])
    for refused in (
        lambda: sr.factor(G, sr.plus_times, devices=2), lambda: sr.closure(G, sr.plus_times, devices=2),
        lambda: sr.closure(np.eye(3) * 2j, sr.plus_times, devices=2),
        lambda: sr.closure(np.eye(3) * 2j, sr.plus_times, device="gpu", memory="1 MB"),
    ):
        with pytest.raises(sr.SemiringError, match="CPU only"):
            refused()
    A.data[:] = -1.0
    for verb in (lambda: sr.closure(A, sr.min_plus, devices=2, method="sparse"),
                 lambda: sr.factor(A, sr.min_plus, devices=2)):
        with pytest.raises(sr.NoClosureError, match="cycle"):
            verb()


def test_memory_is_asked_on_every_gpu(gpus: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    host = gpus("min_plus")
    A = roads()
    monkeypatch.setattr("semiring.machine.memory.available_on_device", lambda: 100 if host.number == 2 else 1 << 40)
    monkeypatch.setattr(task, "UNCHECKED_BYTES", 0)
    with pytest.raises(sr.SemiringError, match="GPU 2's memory"):
        sr.factor(A, sr.min_plus, devices=3)
    assert (sr.factor(A, sr.min_plus, devices=2).row(0) == sr.factor(A, sr.min_plus).row(0)).all()
    monkeypatch.setattr(on_gpus, "UNCHECKED_BYTES", 0)
    monkeypatch.setattr("semiring.machine.memory.available_bytes", lambda: 100)
    with pytest.raises(sr.SemiringError, match="reductions of the factors"):
        sr.closure(A, sr.min_plus, devices=2, method="sparse")


def test_no_order_is_refused_over_a_field_and_what_is_singular_is_left_to_the_dense_closure(
    gpus: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpus("plus_times")  # whose fronts know no star of 2: what they cannot close, LAPACK does
    asked: list[Any] = []
    monkeypatch.setattr(on_gpus, "LAUNCH", 0.0)
    monkeypatch.setattr(on_gpus, "DENSE", 1.0)
    monkeypatch.setattr(solver, "closed", lambda home: asked.append(home.given.shape[0]))
    loops = np.where(np.arange(120) % 2, 0.5, 2.0)
    for method in ("auto", "sparse"):
        found = sr.closure(sp.csr_array(sp.diags_array(loops)), sr.plus_times, devices=2, method=method)
        np.testing.assert_allclose(found, np.diag(1 / (1 - loops)), rtol=1e-15)
    assert asked == []
    loops[70] = 1.0
    A = sp.csr_array(sp.diags_array(loops))
    sr.closure(A, sr.plus_times, devices=2)
    assert asked == [120]
    with pytest.raises(sr.NoClosureError, match=r"I − A is singular: .* the cycle 70 → 70 of weight 1 has no limit"):
        sr.closure(A, sr.plus_times, devices=2, method="sparse")
    assert asked == [120]


def test_a_star_that_exists_in_another_order_is_left_to_the_dense_closure(
    gpus: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpus("plus_times")
    asked: list[Any] = []
    monkeypatch.setattr(on_gpus, "LAUNCH", 0.0)
    monkeypatch.setattr(on_gpus, "DENSE", 1.0)
    monkeypatch.setattr(solver, "closed", lambda home: asked.append(home.given.shape[0]))
    S = sr.Semiring("sums that converge", add=np.add, mul=np.multiply, zero=0.0, one=1.0, carrier=np.isfinite,
                    star=lambda a: np.where(abs(a) < 1, 1 / (1 - a), np.nan))
    A = sp.csr_array(sp.diags_array(np.where(np.arange(120) % 2, 0.5, 2.0)))
    sr.closure(A, S, devices=2)
    assert asked == [120]
    with pytest.raises(sr.NoClosureError):
        sr.closure(A, S, devices=2, method="sparse")


def test_a_tolerance(gpus: Any) -> None:
    gpus("min_plus")
    M = sr.as_graph([("a", "b", 0.1), ("b", "a", -0.1001)])
    with pytest.raises(sr.NoClosureError):
        sr.closure(M, sr.min_plus, devices=2, method="sparse")
    found = sr.closure(M, sr.min_plus, devices=2, method="sparse", tol=0.001)
    np.testing.assert_allclose(found.to_numpy(), sr.closure(M, sr.min_plus, tol=0.001).to_numpy())
    assert isinstance(sr.factor(M, sr.min_plus, devices=2, tol=0.001)._A, Sparse)


def test_best_paths_of_a_matrix_on_a_gpu_are_computed_there(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values by elimination, as closures are, unless another device is asked for."""
    gpu("min_plus", 1, None)
    A = roads()
    monkeypatch.setattr(convert, "read_scipy", lambda matrix, S, what: sr.prepare(matrix, S))
    monkeypatch.setattr(A, "get", lambda: A, raising=False)
    there = DeviceSparse(A, sr.min_plus, "A")
    places = [sr.plan("paths", there, sr.min_plus, method="sparse", device=device).device
              for device in (None, "gpu", "cpu")]
    assert places[0] == places[1] == "played by NumPy" and places[2].startswith("CPU")
