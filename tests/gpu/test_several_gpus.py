"""Closures on several GPUs of one host: bit for bit those of one, from the host's memory and from a GPU's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu.elements import algebra, draw

import semiring as sr


@pytest.fixture(params=[1, 2, 3, 4])
def count(request: pytest.FixtureRequest) -> int:
    """How many GPUs; as many as this host has."""
    import cupy

    if request.param > cupy.cuda.runtime.getDeviceCount():
        pytest.skip("this host has fewer GPUs")
    return int(request.param)


CASES = [("min_plus", "f4"), ("min_plus", "f8"), ("min_plus", "i4"), ("min_plus", "i2"), ("min_plus", "f2"),
         ("max_min", "f4"), ("viterbi", "f4"), ("counting", "i8"), ("bitset_may", "u8"), ("users", "f4")]


@pytest.mark.parametrize("n", [1, 130, 700])
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_it_is_the_closure_of_one_gpu(name: str, dtype: str, n: int, count: int) -> None:
    S = algebra(name)
    A = draw(S, np.dtype(dtype), (n, n), np.random.default_rng(n))
    if name == "counting":
        A[np.tri(n, dtype=bool)] = 0
        A[np.random.default_rng(1).random((n, n)) < 1 - 2 / n] = 0
    kept = A.copy()
    found, expected = sr.closure(A, S, devices=count), sr.closure(A, S, device="gpu")
    assert isinstance(found, np.ndarray) and found.dtype == A.dtype and np.array_equal(A, kept)
    if name == "viterbi" or dtype == "f2" or name == "users":
        np.testing.assert_allclose(found.astype(float), expected.astype(float), rtol=1e-3 if dtype == "f2" else 1e-5)
    else:
        np.testing.assert_array_equal(found, expected)


def test_distances_that_round_not_at_all(count: int) -> None:
    A = np.random.default_rng(0).integers(1, 1000, (1500, 1500)).astype(np.float32)
    np.testing.assert_array_equal(sr.closure(A, sr.min_plus, devices=count), sr.closure(A, sr.min_plus, device="gpu"))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_ordinary_numbers(dtype: str, count: int) -> None:
    """By the library's products; with infinities by the general ones."""
    n = 900
    A = (np.random.default_rng(0).random((n, n)) / n).astype(dtype)
    expected = np.linalg.inv(np.eye(n) - A.astype(float))
    np.testing.assert_allclose(sr.closure(A, sr.plus_times, devices=count), expected, rtol=1e-3, atol=1e-4)
    A = np.zeros((300, 300), dtype)
    A[0, 1] = A[1, 2] = 1e30 if dtype == "f4" else 1e300  # and their product is infinite
    np.testing.assert_array_equal(
        sr.closure(A, sr.plus_times, devices=count), sr.closure(A, sr.plus_times, device="gpu")
    )


def test_records(count: int) -> None:
    S = sr.shortest_hops
    random = np.random.default_rng(2)
    A = S.array([[(float(random.integers(1, 9)), 1) for _ in range(300)] for _ in range(300)])
    A[random.random((300, 300)) < 0.9] = S.zero_in(A.dtype)
    np.testing.assert_array_equal(sr.closure(A, S, devices=count), sr.closure(A, S, device="cpu"))


def test_log(count: int) -> None:
    A = np.log(np.random.default_rng(3).random((600, 600)) / 1200)
    np.testing.assert_allclose(
        sr.closure(A, sr.log, devices=count), sr.closure(A, sr.log, device="gpu"), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("n", [1, 100, 1000, 2600])
def test_truth_values(n: int, count: int) -> None:
    import cupy

    A = np.random.default_rng(n).random((n, n)) < 1.2 / n
    expected = sr.closure(A, sr.boolean, device="cpu")
    np.testing.assert_array_equal(sr.closure(A, sr.boolean, devices=count), expected)
    packed = sr.closure(A, sr.boolean, devices=count, packed=True)
    assert isinstance(packed, sr.PackedMatrix) and np.array_equal(packed.to_dense(), expected)
    there = sr.closure(sr.pack(A).to_device("gpu"), sr.boolean, devices=count)
    assert there.device != "cpu" and there == packed
    there = sr.closure(cupy.asarray(A), sr.boolean, devices=count)
    assert isinstance(there, cupy.ndarray) and np.array_equal(there.get(), expected)


def test_an_array_on_a_gpu_stays_there(count: int) -> None:
    import cupy

    A = np.random.default_rng(4).integers(1, 1000, (640, 640)).astype(np.float32)
    D = cupy.asarray(A)
    found = sr.closure(D, sr.min_plus, devices=count)
    assert isinstance(found, cupy.ndarray) and found.device.id == D.device.id
    np.testing.assert_array_equal(found.get(), sr.closure(A, sr.min_plus, device="gpu"))
    np.testing.assert_array_equal(D.get(), A)


def test_stacks(count: int) -> None:
    A = np.random.default_rng(5).random((7, 200, 200)).astype(np.float32)
    np.testing.assert_array_equal(sr.closure(A, sr.min_plus, devices=count), sr.closure(A, sr.min_plus, device="gpu"))
    A[3, 0, 0] = -1
    with pytest.raises(sr.NoClosureError) as refused:
        sr.closure(A, sr.min_plus, devices=count)
    assert refused.value.index == (3,)


def test_what_has_no_closure(count: int) -> None:
    M = sr.adjacency([("a", "b", 1.0), ("b", "c", -3.0), ("c", "a", 1.0)], sr.min_plus)
    with pytest.raises(sr.NoClosureError) as refused:
        sr.closure(M, devices=count)
    assert refused.value.weight == -1
    A = np.zeros((400, 400), np.float32)
    A[333, 333] = 1
    with pytest.raises(sr.NoClosureError, match="333"):
        sr.closure(A, sr.plus_times, devices=count)
    A[5, 6] = np.nan
    with pytest.raises(sr.SemiringError, match="NaN"):
        sr.closure(A, sr.min_plus, devices=count)


def test_unchecked_and_told(count: int) -> None:
    A = np.random.default_rng(6).integers(1, 1000, (1000, 1000)).astype(np.float32)
    told: list[float] = []
    found: Any = sr.closure(A, sr.min_plus, devices=count, check=False, progress=told.append, tile=128)
    np.testing.assert_array_equal(found, sr.closure(A, sr.min_plus, device="gpu"))
    assert told == sorted(told) and told[-1] == 1 and len(told) > 5
