"""Sparse times dense on the device against the CPU: algebras, dtypes, widths, views."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr

CASES = [
    ("boolean", "?"), ("min_plus", "f4"), ("min_plus", "f8"), ("min_plus", "i4"), ("max_min", "f4"),
    ("plus_times", "f8"),
    ("counting", "i8"), ("log", "f8"), ("gf2", "?"), ("bitset_must", "u2"), ("max_times", "f4"),
]


def operands(dtype: str, m: int, k: int, n: int) -> tuple[Any, np.ndarray, np.ndarray]:
    random = np.random.default_rng(n)
    A = sp.random_array((m, k), density=0.05, random_state=random, format="csr")
    values, B, C = (random.integers(0, 2 if dtype == "?" else 9, s).astype(dtype) for s in (A.nnz, (k, n), (m, n)))
    return sp.csr_array((values, A.indices, A.indptr), shape=(m, k)), B, C


@pytest.mark.parametrize("width", [1, 3, 32, 64, 65, 300])
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_products_are_the_cpus(name: str, dtype: str, width: int) -> None:
    import cupy

    S = sr.catalogue[name]
    A, B, C = operands(dtype, 120, 90, width)
    expected = sr.matmul(A, B, S, accumulate=C)
    for b in (cupy.asarray(B), cupy.asarray(np.asfortranarray(B))):
        found = sr.matmul(A, b, S, accumulate=C)
        assert isinstance(found, cupy.ndarray) and found.dtype == expected.dtype
        assert np.allclose(found.get().astype(float), expected.astype(float), rtol=1e-6)
    plain = sr.matmul(A, B, S, device="gpu")
    assert isinstance(plain, np.ndarray)
    assert np.allclose(plain.astype(float), sr.matmul(A, B, S).astype(float), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["i2", "i4", "i8", "f4"])
def test_rows_without_entries_are_zero(dtype: str) -> None:
    A = sp.csr_array((np.array([1000, -3], dtype), ([0, 2], [1, 0])), shape=(4, 2))
    found = sr.matmul(A, np.array([[7, 1], [2, 5]], dtype), sr.min_plus, device="gpu")
    zero = sr.min_plus.zero_in(dtype)
    assert found.tolist() == [[1002, 1005], [zero, zero], [4, -2], [zero, zero]]


def test_vectors_and_matrices_on_the_device() -> None:
    import cupy
    import cupyx.scipy.sparse as cs

    A = cs.csr_matrix(sp.csr_matrix(([3.0, 4.0], ([0, 1], [1, 2])), shape=(3, 3)))
    assert sr.matmul(A, cupy.asarray([9.0, 9, 0]), sr.min_plus).tolist() == [12, 4, np.inf]
    out = np.empty(3)
    assert sr.matmul(A, np.array([9.0, 9, 0]), sr.min_plus, out=out) is out and out.tolist() == [12, 4, np.inf]
    with pytest.raises(sr.SemiringError, match="format csr"):
        sr.matmul(A.tocsc(), cupy.ones(3), sr.min_plus)
    with pytest.raises(sr.SemiringError, match="NaN"):
        sr.matmul(A, cupy.asarray([9.0, np.nan, 0]), sr.min_plus)
    with pytest.raises(sr.SemiringError, match="a sparse A can only be multiplied by a dense B"):
        sr.matmul(cupy.ones((2, 3)), A, sr.min_plus)
    with pytest.raises(sr.SemiringError, match="do not fit"):
        sr.matmul(A, cupy.ones(4), sr.min_plus)
