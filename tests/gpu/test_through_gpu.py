"""Matrices of the host through little of a GPU's memory: bit for bit the closures of the whole."""

from __future__ import annotations

import numpy as np
import pytest
from gpu.elements import algebra, draw

import semiring as sr

CASES = [("min_plus", "f4"), ("min_plus", "f8"), ("min_plus", "i4"), ("min_plus", "i2"), ("min_plus", "f2"),
         ("max_min", "f4"), ("bitset_may", "u8"), ("users", "f4")]


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("n", [1, 200, 1100])
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_it_is_the_closure(name: str, dtype: str, n: int, overwrite: bool) -> None:
    S = algebra(name)
    A = draw(S, np.dtype(dtype), (n, n), np.random.default_rng(n))
    kept, expected = A.copy(), sr.closure(A, S, device="gpu")
    found = sr.closure(A, S, device="gpu", memory="3M", overwrite=overwrite)
    assert overwrite or np.array_equal(A, kept)
    if dtype == "f2" or name == "users":
        np.testing.assert_allclose(found.astype(float), expected.astype(float), rtol=1e-3 if dtype == "f2" else 1e-5)
    else:
        np.testing.assert_array_equal(found, expected)


def test_sums_and_records() -> None:
    n = 700
    A = np.random.default_rng(0).random((n, n)) / n
    np.testing.assert_allclose(
        sr.closure(A, sr.plus_times, device="gpu", memory="3M"), np.linalg.inv(np.eye(n) - A), rtol=1e-6, atol=1e-9
    )
    S, random = sr.shortest_hops, np.random.default_rng(2)
    R = S.array([[(float(random.integers(1, 9)), 1) for _ in range(300)] for _ in range(300)])
    R[random.random((300, 300)) < 0.9] = S.zero_in(R.dtype)
    np.testing.assert_array_equal(sr.closure(R, S, device="gpu", memory="6M"), sr.closure(R, S, device="cpu"))


def test_what_has_no_closure() -> None:
    A = np.full((500, 500), 3.0, np.float32)
    A[7, 8] = A[8, 7] = -1
    with pytest.raises(sr.NoClosureError) as refused:
        sr.closure(A, sr.min_plus, device="gpu", memory="1M")
    assert refused.value.weight == -2
    A[3, 4] = np.nan
    with pytest.raises(sr.SemiringError, match=r"A\[3, 4\] is NaN"):
        sr.closure(A, sr.min_plus, device="gpu", memory="1M")
    with pytest.raises(sr.NoClosureError):
        sr.closure(np.eye(300, dtype=np.float32), sr.plus_times, device="gpu", memory="1M")
