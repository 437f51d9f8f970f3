"""Closures on several GPUs, which are NumPy arrays here, with copies and products that come late."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu.host import Host
from gpu.played_bits import Bits
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scale.faked import FakedHost, FakedStream
from strategies import nearly_consistent

import semiring as sr
from semiring.kernels import choose as on_host
from semiring.kernels.cuda import choose as on_gpu
from semiring.kernels.cuda.bits import rows as bit_rows
from semiring.kernels.cuda.bits.closure import Schedule
from semiring.kernels.cuda.compile import streams
from semiring.kernels.cuda.dense import rows
from semiring.kernels.cuda.dense import rows as dense_rows
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.general import general
from semiring.operands import devices
from semiring.solvers.beyond import gpus as solver
from semiring.solvers.task import Task, compute

GPUS = 4
KINDS = ["min_plus", "max_min", "plus_times", "boolean", "viterbi", "log", "counting", "shortest_count"]


class Exchange:
    """Into storage, the semiring's zero beyond."""

    def __init__(self, low: Any):
        self.low = low

    def take_in(self, A: np.ndarray, target: np.ndarray) -> None:
        inside = self.low.encode(A.copy(), True)
        target[...] = self.low.zero if len(self.low.zero) > 1 else self.low.zero[0]
        target[: len(A), : A.shape[1]] = inside


def chosen(S: sr.Semiring, dtype: np.dtype, *_: Any, **__: Any) -> Any:
    """A form of the host."""
    return on_host.choose(S, dtype, Facts(), 1, in_place=False, packed=False).interpreted


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakedHost]:
    """Four of them, in a host that works late."""
    host = FakedHost(1, 0.3)

    def on_each(numbers: Any, work: Any) -> list[Any]:
        return [work(i) for i in range(len(numbers))]

    cupy = SimpleNamespace(
        empty=np.empty, isnan=np.isnan, isfinite=np.isfinite, ascontiguousarray=np.ascontiguousarray,
        copyto=np.copyto, cuda=SimpleNamespace(runtime=SimpleNamespace(getDeviceCount=lambda: GPUS)),
    )
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    for module, values in {
        streams: {"connect": lambda numbers: None, "on_each": on_each, "GpuStream": lambda *_: FakedStream(host)},
        rows: {"upload": np.array, "download": lambda a, out: np.copyto(out, a), "synchronize": lambda: None,
               "exchange": Exchange},
        on_gpu: {"choose": chosen, "without_facts": chosen, "general_on_device": general},
        devices: {"gpu_name": lambda: "faked"},
        solver: {
            "improves_on_gpu": lambda low, *some: any(
                bool((low.add_one(D.diagonal().copy()) != low.unit).any()) for D in some)
        },
    }.items():
        for name, value in values.items():
            monkeypatch.setattr(module, name, value)
    yield host


def matrix(name: str, n: int, seed: int) -> np.ndarray:
    """Some elements of an algebra, many of them 0."""
    S, random = sr.catalogue[name], np.random.default_rng(seed)
    if name in ("plus_times", "log"):
        A = random.random((n, n)) / (2 * n)
        A = np.log(A) if name == "log" else A
    elif name in ("counting", "shortest_count"):
        samples = S.array([(1.0, 1), (2.0, 1)]) if name == "shortest_count" else np.array([1, 2])
        A = samples[random.integers(0, 2, (n, n))]
        if name == "counting":
            A[np.tri(n, dtype=bool)] = 0
    else:
        samples = S.samples()
        samples = samples[S.over(samples.dtype).contains(samples)]
        samples = samples[samples >= 0] if name == "min_plus" else samples
        A = samples[random.integers(0, len(samples), (n, n))]
    A = np.array(A)
    A[random.random((n, n)) < 0.4] = S.zero_in(A.dtype)
    return A


@pytest.mark.parametrize("name", [k for k in KINDS if k != "boolean"])
@pytest.mark.parametrize("reflexive", [True, False])
@given(n=st.integers(1, 20), count=st.integers(1, GPUS), seed=st.integers(0, 99))
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_answer_is_that_of_one_processor(
    name: str, reflexive: bool, gpus: FakedHost, n: int, count: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With block rows of four rows, and zeros beyond the matrix."""
    monkeypatch.setattr(solver, "ALIGN", 4)
    S, A = sr.catalogue[name], matrix(name, n, seed)
    kept = A.copy()
    found = sr.closure(A, S, devices=count, tile=4, reflexive=reflexive)
    assert np.array_equal(A, kept)
    expected = sr.closure(A, S, device="cpu", reflexive=reflexive)
    same = np.array_equal(found, expected) if name not in ("plus_times", "log", "viterbi") else (
        np.allclose(found, expected, rtol=1e-9))
    assert same, f"A = np.array({A.tolist()}, {A.dtype!s}); devices={count}"


@pytest.mark.parametrize("packed", [True, False])
def test_truth_values_whatever_the_order_of_streams(packed: bool) -> None:
    """What is launched, copied and filled comes late, on GPUs that wait for each other only where they must."""
    for seed in range(40):
        with pytest.MonkeyPatch.context() as patch:
            host = Host(seed, 3)
            Bits(host, patch)
            patch.setattr(devices, "gpu_name", lambda: "played")
            patch.setattr(bit_rows, "synchronize", lambda host=host: host.current[-1].synchronize())
            A = np.random.default_rng(seed).random((400, 400)) < 1.5 / 400
            found = sr.closure(A, sr.boolean, devices=3, packed=packed, tile=128)
            for module in (bit_rows, dense_rows):
                patch.setattr(module, "synchronize", lambda host=host: host.current[-1].synchronize())
            patch.setattr(dense_rows, "synchronize_device", lambda device: device.synchronize())
            there = sr.closure(sr.pack(A).to_device("gpu"), sr.boolean, devices=3, tile=128)
            assert there.device == host.stand_in(patch).cuda.Device(0), "where A is"
            there = there.get()
        found = found.to_dense() if packed else found
        np.testing.assert_array_equal(there.to_dense(), found)
        np.testing.assert_array_equal(found, sr.closure(A, sr.boolean, device="cpu"), f"seed {seed}")


def test_full_and_empty_tiles_are_passed_over_on_several_gpus() -> None:
    """Where all is reached soon, and where some rows and columns stay empty; rows of a GPU lie in several runs."""
    passed = []
    for seed in range(12):
        with pytest.MonkeyPatch.context() as patch:
            host = Host(seed, 2)
            played = Bits(host, patch, (9, 0))
            patch.setattr(devices, "gpu_name", lambda: "played")
            patch.setattr(bit_rows, "synchronize", lambda host=host: host.current[-1].synchronize())
            patch.setattr(bit_rows, "schedule", lambda n: Schedule(skip=True))
            A = (np.random.default_rng(seed).random((1000, 1000)) < 6 / 1000) | np.eye(1000, k=1, dtype=bool)
            A[-1, 0] = True
            if seed % 3:
                A[200:500] = False
            if seed % 2:
                A[:, 100:700] = False
            found = sr.closure(A, sr.boolean, devices=2, packed=True, tile=128).to_dense()
        np.testing.assert_array_equal(found, sr.closure(A, sr.boolean, device="cpu"), f"seed {seed}")
        passed.append(played.passed)
    assert min(passed) > 0


def test_names_stay(gpus: FakedHost) -> None:
    M = sr.adjacency([("Ayr", "Dale", 3), ("Dale", "Esk", 4)], sr.min_plus)
    C = sr.closure(M, devices=2)
    assert C.names == M.names and C["Ayr", "Esk"] == 7


def test_a_negative_cycle_is_told_by_name(gpus: FakedHost) -> None:
    M = sr.adjacency([("a", "b", 1.0), ("b", "c", -3.0), ("c", "a", 1.0)], sr.min_plus)
    with pytest.raises(sr.NoClosureError, match="improving") as refused:
        sr.closure(M, devices=2)
    assert refused.value.cycle is not None and sorted(refused.value.cycle[1:]) == ["a", "b", "c"]
    assert refused.value.weight == -1


@given(n=st.integers(2, 16), count=st.integers(1, GPUS), seed=st.integers(0, 99))
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_tolerance_is_that_of_one_processor(gpus: FakedHost, n: int, count: int, seed: int) -> None:
    """Where cycles improve by less than it; by more they are refused as without."""
    A = nearly_consistent(n, seed)
    kept, found = A.copy(), sr.closure(A, sr.min_plus, devices=count, tol=0.002)
    expected = sr.closure(A, sr.min_plus, device="cpu", tol=0.002)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert np.array_equal(A, kept)
    A[0, 1] -= 1
    with pytest.raises(sr.NoClosureError, match="improving"):
        sr.closure(A, sr.min_plus, devices=count, tol=0.002)


def test_a_star_that_is_missing_is_told(gpus: FakedHost) -> None:
    gpus.answers = True
    with pytest.raises(sr.NoClosureError, match="vertex 1"):
        sr.closure(np.array([[0.0, 0.0], [0.0, 1.0]]), sr.plus_times, devices=2)


def test_what_is_no_element_is_refused_with_its_place(gpus: FakedHost) -> None:
    A = np.full((300, 300), 2.0)
    A[290, 7] = np.nan
    with pytest.raises(sr.SemiringError, match=r"A\[290, 7\] is NaN"):
        sr.closure(A, sr.min_plus, devices=2)


def test_the_plan_says_how_many_and_what_each_holds(gpus: FakedHost) -> None:
    plan = sr.plan("closure", np.zeros((5000, 5000), np.float32), sr.min_plus, devices=[1, 3])
    assert plan.method == "blocked" and plan.device == "2 GPUs: 1, 3" and plan.tile == 512
    assert plan.memory == 4 * 5000**2 + 2 * 4 * 5000 * 512
    small = sr.plan("closure", np.zeros((300, 300), np.float32), sr.min_plus, devices=4)
    assert small.tile == 128


@pytest.mark.parametrize(("given_devices", "said"), [
    (5, "has 4 GPUs"), ([0, 4], "but no number 4"), ([1, 1], "twice"), (0, "number of GPUs"), (True, "number of GPUs"),
    ([], "number of GPUs"), ("two", "number of GPUs"), (2.0, "number of GPUs"), ([-1], "number of GPUs"),
])
def test_gpus_that_are_not_there(given_devices: Any, said: str, gpus: FakedHost) -> None:
    with pytest.raises(sr.SemiringError, match=said):
        sr.closure(np.ones((3, 3)), sr.min_plus, devices=given_devices)


@pytest.mark.parametrize("options", [
    {"device": "cpu"}, {"overwrite": True}, {"max_edges": 2}, {"method": "squaring"},
    {"on_divergence": "mask"}, {"out": "c.npy"},
])
def test_what_does_not_go_together_is_refused(
    options: dict[str, Any], gpus: FakedHost, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(sr.SemiringError, match=r"leave out|must be blocked"):
        sr.closure(np.ones((3, 3)), sr.min_plus, devices=2, **options)


def test_packed_bits_have_ones_on_the_diagonal_there(gpus: FakedHost) -> None:
    with pytest.raises(sr.SemiringError, match="is not for packed bits"):
        sr.closure(np.ones((3, 3), bool), sr.boolean, devices=2, packed=True, reflexive=False)


def test_without_a_gpu_it_says_so() -> None:
    if devices.gpu_name() is None:
        with pytest.raises(sr.SemiringError, match="no GPU was found"):
            sr.closure(np.ones((3, 3)), sr.min_plus, devices=2)


def test_objects_stay_on_the_host(gpus: FakedHost) -> None:
    with pytest.raises(sr.SemiringError, match="CPU only"):
        sr.closure(np.array([[1, 2], [3, 4]], object), sr.min_plus, devices=2)


@pytest.fixture
def each_by_itself(gpus: FakedHost, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is given to one GPU is closed by the processor."""
    def closed(task: Task) -> Any:
        return compute(Task("closure", task.S, task.given, dataclasses.replace(task.options, device="cpu")))

    monkeypatch.setattr(solver, "compute", closed)
    monkeypatch.setattr("semiring.solvers.task.place", lambda operands, *_: list(operands))


@pytest.mark.parametrize("shape", [(1,), (5,), (2, 3), (7, 1)])
def test_the_matrices_of_a_stack_are_dealt_out(shape: tuple[int, ...], each_by_itself: None) -> None:
    A = np.random.default_rng(0).integers(1, 9, (*shape, 6, 6)).astype(float)
    found = sr.closure(A, sr.min_plus, devices=4)
    assert np.array_equal(found, sr.closure(A, sr.min_plus, device="cpu"))


def test_a_tolerance_is_for_the_matrices_of_a_stack_that_need_it(each_by_itself: None) -> None:
    rounded = nearly_consistent(12, 0)
    A = np.stack([rounded, np.abs(rounded), nearly_consistent(12, 1)])
    with pytest.raises(sr.NoClosureError, match="stack"):
        sr.closure(A, sr.min_plus, devices=2)
    found = sr.closure(A, sr.min_plus, devices=2, tol=0.002)
    np.testing.assert_allclose(found, sr.closure(A, sr.min_plus, device="cpu", tol=0.002), rtol=0, atol=1e-12)


def test_a_stack_of_which_some_have_no_closure(each_by_itself: None) -> None:
    A = np.ones((2, 3, 2, 2))
    A[1, 0, 0, 0] = -1
    found = sr.closure(A, sr.min_plus, devices=3, on_divergence="mask")
    assert found.exists.tolist() == [[True, True, True], [False, True, True]]
    assert np.isinf(found.values[1, 0]).all()
    with pytest.raises(sr.NoClosureError, match="stack") as refused:
        sr.closure(A, sr.min_plus, devices=3)
    assert refused.value.index == (1, 0) and refused.value.cycle == [0, 0]


def test_an_empty_matrix_is_closed(gpus: FakedHost) -> None:
    assert sr.closure(np.ones((0, 0)), sr.min_plus, devices=2).shape == (0, 0)
