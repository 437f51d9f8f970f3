"""Blocks of the host's memory that a GPU multiplies, which is NumPy arrays here: piece by piece, whatever it holds."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algorithms.r_kleene import close_pivot
from semiring.kernels.build import kernel as build_kernel
from semiring.kernels.cuda.dense import offload as module
from semiring.kernels.cuda.dense.offload import Offload, into_storage, out_of_storage
from semiring.kernels.lowering.general import general

BYTES = 8


def copied(source: np.ndarray, target: np.ndarray) -> None:
    assert source.shape == target.shape and source.size and source.strides[1] == target.strides[1] == BYTES
    target[...] = source


@pytest.fixture(autouse=True)
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    cupy = SimpleNamespace(empty=np.empty, cuda=SimpleNamespace(Device=lambda number: nullcontext()))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    for name, value in {"carry": copied, "CudaKernel": build_kernel, "current_device": lambda: 0, "ALIGN": 2,
                        "upload": np.array, "download": np.array}.items():
        monkeypatch.setattr(module, name, value)


def made(name: str, pieces: int) -> tuple[Any, Any]:
    """The engine with pieces of that order, and the one of the host."""
    low = general(sr.catalogue[name], np.dtype("f8")).interpreted
    offloaded: Any = Offload(low, module.PIECES * BYTES * pieces**2)  # type: ignore[arg-type]
    assert offloaded.tile == pieces
    return offloaded, build_kernel(low)


def elements(*shape: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(1, 9, shape) / 256


@pytest.mark.parametrize("name", ["min_plus", "plus_times"])
@given(m=st.integers(0, 9), k=st.integers(0, 9), n=st.integers(0, 9), pieces=st.sampled_from([2, 4, 6]))
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_products_are_those_of_the_engine(name: str, m: int, k: int, n: int, pieces: int) -> None:
    offloaded, host = made(name, pieces)
    A, B, C, D = (elements(*shape, seed=i) for i, shape in enumerate([(m, k), (k, n), (m, n), (m, m)]))
    for engine_call, blocks in (("multiply_add", (A, B)), ("multiply", (A, B)), ("left", (D,)), ("right", (D,))):
        found, expected = (C.T.copy(), C.T.copy()) if engine_call == "right" else (C.copy(), C.copy())
        if engine_call == "left":
            offloaded.left(D, found)
            host.left(D, expected)
        else:
            getattr(offloaded, engine_call)(found, *blocks)
            getattr(host, engine_call)(expected, *blocks)
        np.testing.assert_allclose(found, expected, rtol=1e-12, err_msg=engine_call)


@pytest.mark.parametrize("n", [0, 1, 4, 5, 13])
def test_closures_of_what_the_gpu_holds_and_of_more(n: int) -> None:
    offloaded, _ = made("plus_times", 4)
    A = elements(n, n, seed=n)
    found = A.copy()
    close_pivot(found, offloaded, 0)
    np.testing.assert_allclose(found, np.linalg.inv(np.eye(n) - A), rtol=1e-9)
    assert offloaded.closes_whole(4) and not offloaded.closes_whole(5)


def test_a_pivot_without_a_star_is_told() -> None:
    offloaded, _ = made("plus_times", 4)
    assert offloaded.close(np.diag([0.0, 0.0, 1.0])) == 2
    assert offloaded.unchecked.tile == offloaded.tile


def test_elements() -> None:
    offloaded, host = made("min_plus", 4)
    A, D = elements(7, 5, seed=1), elements(5, 7, seed=2)
    np.testing.assert_array_equal(offloaded.diagonal(A, D), host.diagonal(A, D))
    B, expected = elements(7, 7, seed=3), elements(7, 7, seed=3)
    offloaded.add_one(B)
    host.add_one(expected)
    np.testing.assert_array_equal(B, expected)
    offloaded.set_diagonal(B, np.arange(7.0))
    assert B.diagonal().tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert offloaded.equal(B, B.copy()) and not offloaded.equal(B, expected) and not offloaded.equal(B, A)
    offloaded.assign(expected, B)
    assert np.array_equal(expected, B) and offloaded.like(A).shape == A.shape
    assert offloaded.place.endswith("from the host's memory")


@pytest.mark.parametrize("shape", [(3,), (2, 5), (0, 4)])
def test_into_storage_and_out_of_it(shape: tuple[int, ...]) -> None:
    low: Any = SimpleNamespace(is_identity=False, storage=np.dtype("i4"), dtype=np.dtype("i2"),
                               encode=lambda A, copy: A.astype("i4") * 2, decode=lambda A: (A // 2).astype("i2"))
    A = np.arange(np.prod(shape), dtype="i2").reshape(shape)
    stored = into_storage(low, A, 0)
    assert stored.dtype == "i4" and np.array_equal(stored, 2 * A.astype("i4"))
    back = out_of_storage(low, stored.reshape(-1, shape[-1]), 0)
    assert back.dtype == "i2" and np.array_equal(back.reshape(shape), A)
    same: Any = SimpleNamespace(is_identity=True)
    assert into_storage(same, A, 0) is A and out_of_storage(same, A, 0) is A
