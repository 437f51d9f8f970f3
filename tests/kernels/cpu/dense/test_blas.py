"""Products over the real and the complex field by the BLAS: exact on whole numbers, and no NaN out of 0 · ∞."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cpu.dense.blas import BlasKernel
from semiring.kernels.cpu.dense.choose import dense_kernel
from semiring.kernels.lowering.general import general

REAL, COMPLEX = general(sr.plus_times, np.dtype("f8")), general(sr.plus_times, np.dtype("c16"))
inf, nan = np.inf, np.nan


def product(A: Any, B: Any, start: Any = 0) -> Any:
    """Sums of the terms none of whose factors is 0."""
    total = np.zeros((len(A), B.shape[1]), A.dtype) + start
    with np.errstate(all="ignore"):
        for i, k, j in np.ndindex(len(A), len(B), B.shape[1]):
            if A[i, k] != 0 and B[k, j] != 0:
                total[i, j] += A[i, k] * B[k, j]
    return total


def strided(array: np.ndarray, layout: str) -> np.ndarray:
    if layout == "fortran":
        return np.asfortranarray(array)
    if layout == "sliced":
        return np.repeat(np.repeat(array, 2, axis=0), 3, axis=1)[::2, ::3]
    return array[::-1].copy()[::-1] if layout == "reversed" else array


@settings(max_examples=60)
@given(
    st.tuples(*[st.integers(0, 6)] * 3), st.sampled_from([REAL, COMPLEX]), st.integers(0, 2**32 - 1),
    st.tuples(*[st.sampled_from(["c", "fortran", "sliced", "reversed"])] * 3),
)
def test_whole_numbers_are_exact(shape: tuple[int, int, int], low: Any, seed: int, layouts: tuple[str, ...]) -> None:
    (m, k, n), random, kernel = shape, np.random.default_rng(seed), BlasKernel(low)

    def drawn(*shape: int) -> np.ndarray:
        parts = random.integers(-9, 10, (2, *shape)).astype(float)
        return parts[0] if low is REAL else parts[0] + 1j * parts[1]

    A, B, C = (strided(drawn(*s), layout) for s, layout in zip(((m, k), (k, n), (m, n)), layouts, strict=True))
    expected = product(A, B)
    total = product(A, B, C)
    if low is COMPLEX and layouts[2] == "sliced":
        C = C.copy()  # a view as records needs elements in one piece
    a, b, c = (low.encode(x, False) if x.flags.c_contiguous else low.encode(x, True) for x in (A, B, C))
    kernel.multiply_add(c, a, b)
    assert np.array_equal(low.decode(c), total)
    kernel.multiply(c, a, b)
    assert np.array_equal(low.decode(c), expected)
    assert "module" not in vars(kernel)  # nothing was compiled


def test_stacks() -> None:
    random = np.random.default_rng(1)
    A, B, C = (random.integers(-9, 10, shape).astype(float) for shape in ((3, 4, 5), (5, 2), (3, 4, 2)))
    repeated = np.broadcast_to(B, (3, 5, 2))
    expected = np.array([product(a, B, c) for a, c in zip(A, C, strict=True)])
    dense_kernel(REAL).multiply_add_stack(C, A, repeated)
    assert np.array_equal(C, expected)
    dense_kernel(REAL).multiply_stack(C, A, repeated)
    assert np.array_equal(C, np.array([product(a, B) for a in A]))


@pytest.mark.parametrize("unruly", [inf, -inf, nan, 1.7e308])
@pytest.mark.parametrize("where", ["left", "right", "both"])
def test_numbers_that_overflowed_stay_on_their_walks(unruly: float, where: str) -> None:
    """To the BLAS 0 · ∞ is NaN, in every entry of a row or a column."""
    A, B = np.array([[1.0, 0], [2, 0], [0, 3]]), np.array([[1.0, 0, 2], [0, 4, 0]])
    if where in ("left", "both"):
        A[0, 0] = A[1, 0] = unruly
    if where in ("right", "both"):
        B[0, 0] = unruly
    C = np.ones((3, 3))
    expected, total = product(A, B), product(A, B, C)
    assert np.isfinite(expected).sum() >= 5
    with np.errstate(over="ignore"):
        dense_kernel(REAL).multiply_add(C, A, B)
        np.testing.assert_array_equal(C, total)
        dense_kernel(REAL).multiply(C, A, B)
        np.testing.assert_array_equal(C, expected)


def test_large_numbers_whose_sum_overflows_are_finite_numbers() -> None:
    A, B = np.full((2, 3), 1.5e308), np.full((3, 2), 2.0**-900)
    C = np.empty((2, 2))
    dense_kernel(REAL).multiply(C, A, B)
    assert np.array_equal(C, A @ B) and np.isfinite(C).all()


def test_the_rest_is_compiled() -> None:
    D = np.random.default_rng(0).random((9, 9)) / 20
    expected = np.linalg.inv(np.eye(9) - D)
    assert dense_kernel(REAL).close(D) == -1
    np.testing.assert_allclose(D, expected, rtol=1e-12)


@pytest.mark.filterwarnings("error")
def test_what_overflows_is_infinite_without_a_warning() -> None:
    engine, C = dense_kernel(general(sr.plus_times, np.dtype("f8"))), np.zeros((1, 1))
    A, B = np.array([[1.7e308, 1.0]]), np.array([[2.0], [1.0]])
    engine.multiply(C, A, B)
    assert C[0, 0] == np.inf
    C[...] = 0
    engine.multiply_add(C, A, B)
    assert C[0, 0] == np.inf
