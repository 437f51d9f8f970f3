"""The field on the device by cuSOLVER, against the CPU: closures, equations, and what elimination has to judge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.cuda.dense import library

N = library.LEAST


def dominant(n: int, dtype: str, seed: int = 0) -> np.ndarray:
    return (np.random.default_rng(seed).random((n, n)) / (2 * n)).astype(dtype)


def near(found: Any, expected: np.ndarray) -> None:
    import cupy

    assert isinstance(found, cupy.ndarray) and found.dtype == expected.dtype and found.shape == expected.shape
    size = 1000 * float(np.finfo(expected.dtype).eps) * np.abs(expected).max()
    np.testing.assert_allclose(found.get(), expected, rtol=0, atol=size)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [N, 1500])
def test_closures(n: int, dtype: str, order: str) -> None:
    import cupy

    A = dominant(n, dtype)
    D = cupy.asarray(A, order=order)
    for reflexive in (True, False):
        expected = sr.closure(A, sr.plus_times, reflexive=reflexive, device="cpu")
        found = sr.closure(D, sr.plus_times, reflexive=reflexive)
        assert found.flags.c_contiguous
        near(found, expected)
    np.testing.assert_array_equal(D.get(), A)
    near(sr.closure(D, sr.plus_times, check=False), sr.closure(A, sr.plus_times, device="cpu"))
    work = cupy.asarray(A)
    sr.closure(work, sr.plus_times, overwrite=True)
    near(work, sr.closure(A, sr.plus_times, device="cpu"))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_equations(dtype: str) -> None:
    import cupy

    A, B = dominant(N, dtype), np.random.default_rng(1).random((N, 8)).astype(dtype)
    F = sr.factor(cupy.asarray(A), sr.plus_times)
    assert F._decomposition is not None
    near(F.closure(), sr.closure(A, sr.plus_times, device="cpu"))
    for b in (B[:, 0], B[:, :1], B):
        expected = sr.solve(A, b, sr.plus_times, device="cpu")
        near(F.solve(cupy.asarray(b)), expected)
        near(sr.solve(cupy.asarray(A), cupy.asarray(b), sr.plus_times), expected)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("layout", ["rows", "columns", "both"])
def test_decompositions(layout: str, dtype: str) -> None:
    """Where only rows, or only columns, are dominant one of 1 − A and its transpose is without exchanges."""
    import cupy

    n = 200
    A = dominant(n, dtype) / 10
    if layout != "both":
        A[:, 0] = 0.9
    A = A.T if layout == "columns" else A
    A = A * np.exp(1j * np.arange(n)).astype(dtype) if dtype[0] == "c" else A
    found = library.decomposed(cupy.asarray(A))
    assert found is not None and (found.transposed or layout == "columns")
    inverse = np.linalg.inv(np.eye(n) - A.astype("c16"))
    expected = (inverse if dtype[0] == "c" else inverse.real).astype(dtype)
    near(found.closure(), expected)
    B = cupy.asarray(A[:, :8].copy())
    assert found.solve(B)
    near(B, (expected @ A[:, :8]).astype(dtype))


def test_what_elimination_has_to_judge_is_left_to_it() -> None:
    import cupy

    A = dominant(200, "f8")
    swap, late, one, nearly, infinite, large = (A.copy() for _ in range(6))
    swap[:2, :2] = [[0.9, 3], [3, 0.9]]
    late[150:152, 150:152] = [[0.9, 3], [3, 0.9]]
    one[0, :], one[0, 0] = 0, 1
    nearly[0, :], nearly[0, 0] = 0, 1 - 1e-15
    infinite[3, 4] = np.inf
    large[3, 4] = large[4, 3] = 1e308
    for unruly in (swap, late, one, nearly, infinite, large):
        assert library.decomposed(cupy.asarray(unruly)) is None


def test_exchanged_rows_and_pivots_near_one_have_the_cpus_answers() -> None:
    import cupy

    for block in ([[0.9, 3], [3, 0.9]], [[1 - 1e-9, 0], [0, 0]]):
        A = dominant(N, "f8")
        A[:2, :2] = block
        b = np.ones(N)
        closed, solved = (f(A, *more, sr.plus_times, device="cpu") for f, more in ((sr.closure, ()), (sr.solve, (b,))))
        for found, expected in (
            (sr.closure(cupy.asarray(A), sr.plus_times), closed),
            (sr.solve(cupy.asarray(A), cupy.asarray(b), sr.plus_times), solved),
        ):
            np.testing.assert_allclose(found.get(), expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


def test_a_pivot_of_one_is_refused() -> None:
    import cupy

    A = np.full((N, N), 0.01 / N)
    A[N - 2, :], A[N - 2, N - 2] = 0, 1
    D, b = cupy.asarray(A), cupy.ones(N)
    for verb in (sr.closure, sr.factor, lambda A, S: sr.solve(A, b, S)):
        with pytest.raises(sr.NoClosureError, match=f"eliminating vertex {N - 2} "):
            verb(D, sr.plus_times)


def test_numbers_that_overflow_spread_to_nothing_that_they_do_not_lead_to() -> None:
    import cupy

    A, b = np.zeros((N, N)), np.full(N, 1.0)
    A[0, 1], b[1] = 2.0, 1.7e308
    found = sr.factor(cupy.asarray(A), sr.plus_times).solve(cupy.asarray(b)).get()
    assert found[0] == np.inf and np.array_equal(found[1:], b[1:])


def test_complex_matrices_are_for_the_cpu() -> None:
    import cupy

    with pytest.raises(sr.SemiringError, match="device='cpu'"):
        sr.closure(cupy.zeros((N, N), "c16"), sr.plus_times)
