"""Factors on several GPUs that NumPy plays give what those on one give; each launches in its own memory."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from gpu.host import Array, Device
from solvers.sparse.test_elimination_gpu import gpu, roads
from solvers.sparse.test_elimination_gpus import gpus
from solvers.sparse.test_factors_gpu import same

import semiring as sr
from semiring.operands.device import Device as DeviceArray
from semiring.solvers.paths import measures
from semiring.solvers.sparse import on_gpus
from semiring.solvers.sparse.substitution import stable_closure

__all__ = ["gpu", "gpus"]


@pytest.fixture(params=[1, 2, 3, [2, 0]], ids=str)
def pair(gpus: Any, request: Any) -> tuple[Any, Any]:
    gpus("min_plus")
    F = sr.factor(roads(), sr.min_plus, devices=request.param)
    assert F.devices is not None
    return F, sr.factor(roads(), sr.min_plus)


def on_first(F: Any, found: Any, expected: Any) -> bool:
    """The same bits, on the first GPU."""
    assert isinstance(found, Array) and found.device.id == F.devices[0]
    return found.dtype == expected.dtype and found.shape == expected.shape and bool((found == expected).all())


def test_rows_blocks_and_closures(pair: tuple[Any, Any], tmp_path: Any) -> None:
    there, here = pair
    assert on_first(there, there.row(3), here.row(3))
    some = np.random.default_rng(0).integers(0, here.n, 90)
    for sources in ([5, 1, 5], some):
        for reflexive in (True, False):
            asked = {"reflexive": reflexive}
            assert on_first(there, there.rows(sources, **asked), here.rows(sources, **asked))
            assert same(there.rows(sources, targets=[7, 0], **asked), here.rows(sources, targets=[7, 0], **asked))
    for reflexive in (True, False):
        assert on_first(there, there.closure(reflexive=reflexive), here.closure(reflexive=reflexive))
    told: list[float] = []
    assert on_first(there, there.closure(progress=told.append), here.closure())
    assert told == sorted(told) and told[-1] == 1
    for asked in ({}, {"reflexive": False}, {"in_order": True}):
        for (v, block), (w, other) in zip(there.blocks(7, **asked), here.blocks(7, **asked), strict=True):
            assert (v == w).all() and on_first(there, block, other)
    begun = there.blocks(7)
    assert on_first(there, next(begun)[1], next(here.blocks(7))[1])
    begun.close()
    assert (there.save(tmp_path / "d.npy") == here.closure()).all()
    assert there.path(3, 50) == here.path(3, 50)
    sources, targets = np.random.default_rng(0).integers(0, here.n, (2, 70))
    assert there.weight(3, 50) == here.weight(3, 50) and type(there.weight(3, 50)) is float
    assert (there.weight(sources, targets) == here.weight(sources, targets)).all()
    assert there.nbytes > 0 and there.predict().memory > 0
    with pytest.raises(sr.SemiringError, match="labels are of factors on the CPU"):
        there.labels()


def test_new_weights_and_pickles_are_on_the_same_gpus(pair: tuple[Any, Any]) -> None:
    there, here = pair
    weights = np.arange(len(roads().data), dtype=float) % 7
    again = there.refactor(weights)
    assert again.devices == there.devices and (again.closure() == here.refactor(weights).closure()).all()
    again = pickle.loads(pickle.dumps(there))
    assert again.devices == there.devices
    assert (again.row(7) == here.row(7)).all()


def test_reductions(pair: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    there, here = pair
    for _ in range(2):
        assert there.reduce("mean") == pytest.approx(here.reduce("mean"))
        assert (there.reduce("eccentricities") == here.reduce("eccentricities")).all()
        assert sr.diameter(there) == sr.diameter(here) and there.reduce("radius") == here.reduce("radius")
        for bins in (7, [0.0, 10.0, 20.0, 1000.0]):
            pairs = zip(there.reduce("histogram", bins=bins), here.reduce("histogram", bins=bins), strict=True)
            assert all((found == expected).all() for found, expected in pairs)
        for found, expected in zip(there.reduce("nearest", k=4), here.reduce("nearest", k=4), strict=True):
            assert (found == expected).all()
        monkeypatch.setattr(measures, "summaries", lambda _: None)  # by rows instead
        monkeypatch.setattr(on_gpus, "BLOCK_BYTES", 8 * 120 * 7)
    places: set[int] = set()

    def farthest(vertices: np.ndarray, rows: Any) -> Any:
        assert isinstance(rows, Array) and rows.device.id == rows.host.number and len(rows) <= 7
        places.add(rows.device.id)
        return rows.max(axis=1)

    assert (there.reduce(farthest) == here.reduce(lambda v, rows: rows.max(axis=1))).all()
    assert places == set(there.devices)


def test_a_dense_closure_answers_where_factors_are_unstable(pair: tuple[Any, Any]) -> None:
    there, here = pair
    by = there._by
    with by.engine.current():
        by.closed = by.engine.put(by.lowering, stable_closure(by.A))
    assert (there.rows([4, 2], reflexive=False) == here.rows([4, 2], reflexive=False)).all()
    assert same(there.rows([4, 2], targets=[1, 2]), here.rows([4, 2], targets=[1, 2]))
    assert (there.closure() == here.closure()).all()
    assert (by.engine.on_host(by, True, None) == here.closure()).all()
    assert there.reduce("mean") == pytest.approx(here.reduce("mean"))
    assert all((a[1] == b[1]).all() for a, b in zip(there.blocks(50), here.blocks(50), strict=True))


def test_rounding_that_looks_like_a_cycle_is_settled_on_every_gpu(gpus: Any) -> None:
    gpus("min_plus")
    w = 0.1 + 0.2
    edges = sr.as_graph([("a", "b", w), ("b", "a", -0.3)])  # their sum is a rounding away from nothing
    there, here = sr.factor(edges, sr.min_plus, devices=3), sr.factor(edges, sr.min_plus, device="gpu")
    for part in there._by.fronts.parts:
        assert (part.pivots == here._by.fronts.pivots).all()
    assert (there.closure().to_numpy() == here.closure().to_numpy()).all()


@pytest.mark.parametrize("name", ["plus_times", "max_min"])
@pytest.mark.parametrize("devices", [2, 3])
def test_other_algebras_have_the_bits_of_one_gpu(gpus: Any, name: str, devices: int) -> None:
    gpus(name)
    S, A = sr.catalogue[name], roads(123, 3)
    A = sp.block_diag([A, roads(31, 4)]).tocsr()  # which no edge joins
    A.data = A.data / 64 if name == "plus_times" else A.data
    there, one = sr.factor(A, S, devices=devices), sr.factor(A, S, device="gpu")
    assert on_first(there, there.closure(), one.closure())
    np.testing.assert_allclose(there.closure(), sr.closure(A, S, device="cpu"), rtol=1e-12)
    B = np.random.default_rng(0).random((154, 11))
    for right in (B, B[:, 0], B[:, :1]):
        assert type(there.solve(right)) is np.ndarray and (there.solve(right) == one.solve(right)).all()
        rows = right.T.copy()
        assert (there.solve(rows, left=True) == one.solve(rows, left=True)).all()
    host = there.closure().host
    for number in range(3):
        with Device(host, number):
            right = DeviceArray(host.array(B), S, "B")
        assert on_first(there, there._solution(right), one.solve(B))


def test_the_callers_current_gpu_does_not_matter(gpus: Any) -> None:
    host = gpus("min_plus")
    here = sr.factor(roads(), sr.min_plus)
    with Device(host, 1):
        there = sr.factor(roads(), sr.min_plus, devices=[2, 0])
        assert host.number == 1
        assert on_first(there, there.rows(np.arange(50)), here.rows(np.arange(50)))
        assert (there.reduce("eccentricities") == here.reduce("eccentricities")).all()
        assert (sr.closure(roads(), sr.min_plus, devices=[0, 2], method="sparse") == here.closure()).all()
        assert host.number == 1


@pytest.mark.parametrize("devices", [2, 3])
def test_truth_values(gpus: Any, devices: int) -> None:
    gpus("boolean", dtype="?")
    A = sp.block_diag([roads(70, 1), roads(50, 2)]).tocsr().astype(bool)
    there, here = sr.factor(A, sr.boolean, devices=devices), sr.factor(A, sr.boolean, device="cpu")
    assert on_first(there, there.closure(), here.closure())
    assert on_first(there, there.rows(np.arange(60), reflexive=False), here.rows(np.arange(60), reflexive=False))
    D = sr.closure(A, sr.boolean, devices=devices, method="sparse")
    assert type(D) is np.ndarray and D.dtype == bool and (here.closure() == D).all()


def test_records(gpus: Any) -> None:
    S = sr.shortest_hops
    gpus("shortest_hops", dtype=S.default_dtype)
    G = sr.as_graph(roads(40))
    there, here = sr.factor(G, S, devices=3), sr.factor(G, S, device="cpu")
    assert (there.closure().to_numpy() == here.closure().to_numpy()).all()
    assert (np.asarray(there.rows(np.arange(20))) == here.rows(np.arange(20))).all()
    assert (sr.closure(G, S, devices=2, method="sparse").to_numpy() == here.closure().to_numpy()).all()
    B = here.closure().to_numpy()[:, :7].copy()
    assert (there.solve(B) == here.solve(B)).all()
