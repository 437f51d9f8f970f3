"""Matrices of the host through a GPU that holds a few tiles, which is NumPy arrays here."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from solvers.beyond.test_gpus import chosen, matrix
from strategies import nearly_consistent

import semiring as sr
from semiring.kernels.cuda import choose as on_gpu
from semiring.kernels.cuda.compile import launch
from semiring.kernels.cuda.dense import arena, carry, rows
from semiring.kernels.lowering.general import general
from semiring.operands import devices
from semiring.scale.arena import HostArena

KINDS = ["min_plus", "max_min", "plus_times", "viterbi", "log", "counting", "shortest_count"]


def copied(source: np.ndarray, target: np.ndarray) -> None:
    assert source.shape == target.shape
    target[...] = source


def taken_in(low: Any, elements: np.ndarray, out: np.ndarray) -> None:
    out[...] = low.encode(elements.copy(), True)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(isnan=np.isnan))
    for module, values in {
        arena: {"GpuArena": HostArena, "own_lane": nullcontext},
        launch: {"current_device": lambda: 0},
        carry: {"stage": copied, "taken_in": taken_in,
                "encoded": lambda low, values: low.encode(values, True)},
        rows: {"here": lambda array: array},
        on_gpu: {"choose": chosen, "without_facts": chosen, "general_on_device": general},
        devices: {"gpu_name": lambda: "faked"},
    }.items():
        for name, value in values.items():
            monkeypatch.setattr(module, name, value)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(("overwrite", "reflexive"), [(False, True), (True, True), (False, False), (True, False)])
@given(n=st.integers(1, 24), tiles=st.integers(9, 30), seed=st.integers(0, 99))
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_answer_is_that_of_one_processor(
    name: str, overwrite: bool, reflexive: bool, gpu: None, n: int, tiles: int, seed: int
) -> None:
    S, A = sr.catalogue[name], matrix(name, n, seed)
    kept, expected = A.copy(), sr.closure(A, S, device="cpu", reflexive=reflexive)
    memory = tiles * 16 * A.dtype.itemsize
    found = sr.closure(A, S, device="gpu", memory=memory, tile=4, overwrite=overwrite, reflexive=reflexive)
    assert np.array_equal(A, kept) or overwrite
    same = np.array_equal(found, expected) if name not in ("plus_times", "log", "viterbi") else (
        np.allclose(found, expected, rtol=1e-9))
    assert same, f"A = np.array({kept.tolist()}, {A.dtype!s}); memory={memory}"


def test_names_stay_and_cycles_are_named(gpu: None) -> None:
    M = sr.adjacency([("a", "b", 1.0), ("b", "c", -3.0), ("c", "a", 4.0)], sr.min_plus)
    C = sr.closure(M, device="gpu", memory="1M")
    assert C.names == M.names and C["a", "c"] == -2
    with pytest.raises(sr.NoClosureError, match="improving") as refused:
        sr.closure(sr.adjacency([("a", "b", 1.0), ("b", "a", -3.0)], sr.min_plus), device="gpu", memory="1M")
    assert refused.value.weight == -2


@pytest.mark.parametrize("seed", range(3))
def test_a_tolerance_is_that_of_one_processor(gpu: None, seed: int) -> None:
    """Where cycles improve by less than it; by more they are named as without."""
    A = nearly_consistent(20, seed)
    with pytest.raises(sr.NoClosureError, match="improving"):
        sr.closure(A, sr.min_plus, device="gpu", memory="1M")
    found = sr.closure(A, sr.min_plus, device="gpu", memory="1M", tile=4, tol=0.002)
    np.testing.assert_allclose(found, sr.closure(A, sr.min_plus, device="cpu", tol=0.002), rtol=0, atol=1e-12)
    plan = sr.plan("closure", A, sr.min_plus, device="gpu", memory="1M", tol=0.002)
    assert plan.method == "r-kleene, through the GPU"
    A[0, 1] -= 1
    with pytest.raises(sr.NoClosureError, match="improving"):
        sr.closure(A, sr.min_plus, device="gpu", memory="1M", tol=0.002)


def test_the_plan_says_what_is_moved(gpu: None) -> None:
    plan = sr.plan("closure", np.zeros((4000, 4000), np.float32), sr.min_plus, device="gpu", memory="8M")
    assert plan.method == "r-kleene, through the GPU" and plan.tile == 256 and plan.memory <= 8 << 20
    assert "times the matrix" in str(plan)


@pytest.mark.parametrize(("options", "said"), [
    ({"memory": "1K"}, "at least"), ({"memory": "much"}, "number of bytes"),
    ({"memory": "1M", "method": "squaring"}, "must be r-kleene"), ({"memory": "1M", "packed": True}, "leave out"),
])
def test_what_does_not_go_is_refused(options: dict[str, Any], said: str, gpu: None) -> None:
    A = np.ones((300, 300), bool) if "packed" in options else np.ones((300, 300))
    with pytest.raises(sr.SemiringError, match=said):
        sr.closure(A, sr.boolean if "packed" in options else sr.min_plus, device="gpu", **options)


def test_memory_without_a_file_or_a_gpu_is_refused() -> None:
    with pytest.raises(sr.SemiringError, match="or device='gpu'"):
        sr.closure(np.ones((3, 3)), sr.min_plus, memory="1M")


def test_a_matrix_that_does_not_fit_goes_this_way_by_itself(gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "ONE_GPU_BYTES", 1)
    monkeypatch.setattr("semiring.machine.memory.available_on_device", lambda: 8 * 500 * 500)
    A = np.random.default_rng(0).random((400, 400))
    assert sr.plan("closure", A, sr.min_plus, device="gpu").method == "r-kleene, through the GPU"
    np.testing.assert_allclose(sr.closure(A, sr.min_plus, device="gpu"), sr.closure(A, sr.min_plus, device="cpu"))
