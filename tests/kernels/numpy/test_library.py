"""Products by the BLAS in pieces, against NumPy's whole ones; closures by LAPACK against elimination in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.kernels.numpy import library

COMPLEX = np.dtype([("real", "f8"), ("imag", "f8")])


@settings(max_examples=60)
@given(
    st.integers(0, 3), st.tuples(*[st.integers(0, 20)] * 3), st.integers(0, 2**32 - 1), st.booleans(),
    st.integers(1, 500), st.booleans(),
)
def test_pieces_make_the_whole(
    batch: int, shape: tuple[int, int, int], seed: int, accumulate: bool, most: int, records: bool
) -> None:
    (m, k, n), random = shape, np.random.default_rng(seed)

    def drawn(*shape: int) -> np.ndarray:
        return random.integers(-9, 10, shape).astype(complex if records else float)

    A, B, C = drawn(batch, m, k), drawn(batch, k, n), drawn(batch, m, n)
    expected = A @ B + (C if accumulate else 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library, "CALL_TERMS", most)
        patch.setattr(library, "STEP", 2)
        assert library.product(*(x.view(COMPLEX) if records else x for x in (C, A, B)), accumulate)
    assert np.array_equal(C, expected)


@pytest.mark.parametrize("unruly", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_is_left(unruly: float) -> None:
    A, C = np.eye(3)[None], np.ones((1, 3, 3))
    A[0, 1, 2] = unruly
    for factors in ((A, np.eye(3)[None]), (np.eye(3)[None], A)):
        assert not library.product(C, *factors, True)
    assert (C == 1).all()


def test_a_repeated_matrix() -> None:
    A = np.arange(24.0).reshape(2, 3, 4)
    B = np.broadcast_to(np.arange(20.0).reshape(4, 5), (2, 4, 5))
    C = np.empty((2, 3, 5))
    assert library.product(C, A, B, False)
    assert np.array_equal(C, A @ B)


def inverted(A: list[list[Fraction]]) -> list[list[Fraction]] | None:
    """(1 − A)⁻¹ by Gauss's algorithm with exchange of rows, or None where there is none."""
    n = len(A)
    rows = [[(i == j) - A[i][j] for j in range(n)] + [Fraction(i == j) for j in range(n)] for i in range(n)]
    for k in range(n):
        found = next((i for i in range(k, n) if rows[i][k]), None)
        if found is None:
            return None
        rows[k], rows[found] = rows[found], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(n):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[n:] for row in rows]


@settings(max_examples=150)
@given(
    st.integers(1, 6), st.integers(0, 2**32 - 1), st.sampled_from(["f4", "f8", "c8", "c16"]),
    st.sampled_from([1, 2, 4, 16]), st.booleans(), st.sampled_from([0.3, 0.7, 1.0]),
)
def test_the_closure_is_the_inverse_wherever_there_is_one(
    n: int, seed: int, dtype: str, scale: int, records: bool, density: float
) -> None:
    """Against fractions: where 1 − A is regular it is inverted and equations are solved, else it is refused."""
    random = np.random.default_rng(seed)
    whole = random.integers(-4, 5, (n, n)) * (random.random((n, n)) < density)
    exact = inverted([[Fraction(int(x), scale) for x in row] for row in whole])
    A = (whole / scale).astype(dtype)
    D = A.view([("real", f"f{A.itemsize // 2}"), ("imag", f"f{A.itemsize // 2}")]) if records and "c" in dtype else A
    before, eps = A.copy(), float(np.finfo(dtype).eps)
    if exact is None:
        with pytest.raises(library.Singular):
            found = library.decomposed(D)
            assert found is not None
            found.refuse_singular(eps)
        with pytest.raises(library.Singular):
            library.closure(D, eps)
        return
    expected = np.array([[float(x) for x in row] for row in exact])
    condition = np.linalg.cond(np.eye(n) - before.astype(complex), np.inf)
    size = 20 * n * eps * condition * np.abs(expected).max()
    X = library.closure(D, eps)
    np.testing.assert_allclose(X, expected, rtol=0, atol=size)
    assert np.array_equal(A, before) and X is not None
    found = library.decomposed(D)
    assert found is not None
    found.refuse_singular(eps)
    for turned in (False, True):
        B = random.integers(-4, 5, (n, 2)).astype(dtype)
        right = B.copy()
        assert found.solve(right, turned)
        np.testing.assert_allclose(right, (expected.T if turned else expected) @ B, rtol=0, atol=9 * n * size)


DOMINANT = np.random.default_rng(5).random((50, 50)) / 60


@pytest.mark.parametrize("scaled", ["rows", "columns", "both", "neither"])
def test_no_scale_makes_a_matrix_singular(scaled: str) -> None:
    A = DOMINANT.copy()
    scale = 4.0 ** np.arange(50)[::-1] / 4.0**49
    A = {"rows": A * scale, "columns": A * scale[:, None], "both": A * scale / scale[:, None], "neither": A}[scaled]
    expected = np.linalg.inv(np.eye(50) - DOMINANT) * scale / scale[:, None] if scaled == "both" else np.linalg.inv(
        np.eye(50) - A)
    X, found = library.closure(A, 2.0**-52), library.decomposed(A)
    np.testing.assert_allclose(X, expected, rtol=1e-12)
    assert found is not None
    found.refuse_singular(2.0**-52)


@settings(max_examples=50)
@given(st.integers(1, 40), st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.5, 1.0]))
def test_acyclic_graphs_are_closed_to_the_last_digits_and_stay_sparse(n: int, seed: int, density: float) -> None:
    """Whatever their weights, which make condition numbers of 1e100; where no walk leads there is 0, to the bit."""
    random = np.random.default_rng(seed)
    A = np.triu(random.random((n, n)) * 10.0 ** random.integers(-5, 6, (n, n)), 1) * (random.random((n, n)) < density)
    expected = np.eye(n)
    for i in reversed(range(n)):
        expected[i] += A[i] @ expected
    place = random.permutation(n)
    A, expected = A[np.ix_(place, place)], expected[np.ix_(place, place)]
    X, found = library.closure(A, 2.0**-52), library.decomposed(A)
    np.testing.assert_allclose(X, expected, rtol=1e-12, atol=0)
    assert X is not None and np.array_equal(X != 0, expected != 0) and found is not None
    found.refuse_singular(2.0**-52)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 40, 200])
def test_what_rounding_makes_regular_is_refused(dtype: str, n: int) -> None:
    for seed in range(20):
        P = np.random.default_rng(seed).random((n, n))
        P = (P / P.sum(1, keepdims=True)).astype(dtype)
        with pytest.raises(library.Singular):
            library.closure(P, float(np.finfo(dtype).eps))
        with pytest.raises(library.Singular):
            found = library.decomposed(P)
            assert found is not None
            found.refuse_singular(float(np.finfo(dtype).eps))
        ends = (0.99 * P).astype(dtype)
        np.testing.assert_allclose(library.closure(ends, float(np.finfo(dtype).eps)).sum(1), 100, rtol=1e-3)


def test_overflow_is_left_to_others() -> None:
    found, infinite = library.decomposed(DOMINANT), DOMINANT.copy()
    infinite[3, 4] = np.inf
    assert found is not None and library.decomposed(infinite) is None
    B = np.full((50, 1), 1.7e308)
    assert not found.solve(B) and (B == 1.7e308).all()


def test_shapes_that_do_not_fit_are_refused_before_anything_is_cut() -> None:
    A = np.zeros((1, 200, 300))
    with pytest.raises(ValueError, match=r"shapes \(1, 200, 200\), \(1, 200, 300\) and \(1, 200, 300\) do not fit"):
        library.halves(np.zeros((1, 200, 200)), A, A, False, 64)
