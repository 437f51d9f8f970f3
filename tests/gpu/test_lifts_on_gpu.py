"""Plain numbers as records that a GPU makes, against those that the host makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.operands.devices import to_host, upload

inf = np.inf
lengths = sr.Semiring(
    "lengths and roads", fields={"km": "f4", "roads": "i2"}, zero=(inf, 0), one=(0, 0), lift=lambda w: (
        w, np.where(w == inf, 0, 1)), add=lambda x, y: np.where(x.km <= y.km, x, y),
    star=lambda a: (0, 0),
    mul=lambda x, y: (x.km + y.km, np.where((x.km == inf) | (y.km == inf), 0, x.roads + y.roads)),
    carrier=lambda a: (a.km >= 0) & (a.roads >= 0) & (a.roads < 99), product_only=True)
on_host_only = sr.Semiring(
    "by Python", fields={"km": "f8", "hops": "f8"}, zero=(inf, inf), one=(0, 0), star=lambda a: (0, 0),
    lift=lambda w: (np.array([float(x) for x in np.asarray(w).flat]).reshape(w.shape), np.where(w == inf, inf, 1)),
    add=lambda x, y: np.where((x.km < y.km) | ((x.km == y.km) & (x.hops <= y.hops)), x, y),
    mul=lambda x, y: (x.km + y.km, x.hops + y.hops),
    carrier=lambda a: (a.km >= 0) & (a.hops >= 0) & ((a.km < inf) | (a.hops == inf)))
KINDS = {"hops": sr.shortest_hops, "count": sr.shortest_count, "best": sr.k_best(3), "by Python": on_host_only}


def weights(n: int, dtype: str) -> np.ndarray:
    random = np.random.default_rng(n)
    A = random.integers(1, 50, (n, n)).astype(dtype)
    A[random.random((n, n)) < 0.5] = inf if A.dtype.kind == "f" else np.iinfo(dtype).max
    return A


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "i8", "u1"])
@pytest.mark.parametrize("n", [0, 1, 33, 300])
def test_closures_of_numbers_are_those_of_the_host(kind: str, dtype: str, n: int) -> None:
    S, A = KINDS[kind], weights(n, dtype)
    expected = sr.closure(A, S, device="cpu")
    for found in (sr.closure(A, S, device="gpu"), sr.closure(A.T.copy().T, S, device="gpu"), sr.closure(upload(A), S)):
        assert found.dtype == expected.dtype
        assert np.array_equal(to_host(found) if not isinstance(found, np.ndarray) else found, expected)


def test_components_that_are_narrower() -> None:
    A = weights(70, "f8")
    expected = sr.matmul(A, A, lengths, device="cpu")
    assert np.array_equal(sr.matmul(A, A, lengths, device="gpu"), expected)
    assert np.array_equal(to_host(sr.matmul(upload(A), upload(A), lengths)), expected)


@pytest.mark.parametrize("place", ["host", "device"])
@pytest.mark.parametrize(("value", "words"), [(np.nan, r"\[3, 4\] is"), (-1.0, r"\[3, 4\] is \(-1|−1|-1")])
def test_what_is_no_element_is_refused_with_its_place(place: str, value: float, words: str) -> None:
    A: Any = weights(40, "f8")
    A[3, 4] = value
    with pytest.raises(sr.SemiringError, match=words):
        sr.closure(upload(A) if place == "device" else A, sr.shortest_hops, device="gpu")


def test_large_records_of_floats_go_to_the_gpu() -> None:
    A = weights(1500, "f8")
    records = sr.shortest_count.lift(A)  # type: ignore[misc]
    sr.closure(A[:100, :100], sr.shortest_count, device="gpu")  # the first use of a GPU takes long
    for given in (A, records):
        plan = sr.plan("closure", given, sr.shortest_count)
        assert plan.lowering.on_gpu
    assert np.array_equal(sr.closure(A, sr.shortest_count), sr.closure(records, sr.shortest_count))
    found = sr.closure(A[:600, :600], sr.shortest_count, device="gpu")
    assert np.array_equal(found, sr.closure(A[:600, :600], sr.shortest_count, device="cpu"))
