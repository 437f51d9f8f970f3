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
        patch.setattr(library, "MOST", most)
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


def eliminated(A: list[list[Fraction]]) -> list[list[Fraction]] | None:
    """A*, a vertex after the other, or None where a pivot is 1."""
    n = len(A)
    A = [row.copy() for row in A]
    for k in range(n):
        if A[k][k] == 1:
            return None
        star = 1 / (1 - A[k][k])
        row, column = [star * x for x in A[k]], [A[i][k] for i in range(n)]
        for i in range(n):
            for j in range(n):
                if i != k and j != k:
                    A[i][j] += column[i] * row[j]
            if i != k:
                A[i][k] = column[i] * star
                A[k][i] = row[i]
        A[k][k] = star
    return A


@settings(max_examples=80)
@given(
    st.integers(1, 6), st.integers(0, 2**32 - 1), st.sampled_from(["f4", "f8", "c8", "c16"]),
    st.sampled_from([1, 4, 16, 64]), st.booleans(),
)
def test_what_lapack_closes_is_the_closure(n: int, seed: int, dtype: str, scale: int, records: bool) -> None:
    """Against exact elimination in the order of the vertices; where a pivot is 1 nothing is closed."""
    random = np.random.default_rng(seed)
    whole = random.integers(-4, 5, (n, n))
    exact = eliminated([[Fraction(int(x), scale) for x in row] for row in whole])
    A = (whole / scale).astype(dtype)
    D = A.view([("real", f"f{A.itemsize // 2}"), ("imag", f"f{A.itemsize // 2}")]) if records and "c" in dtype else A
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library, "LEAST", 1)
        before, B = A.copy(), random.integers(-4, 5, (n, 2)).astype(dtype)
        found = library.decomposed(D)
        right = B.copy()
        if found is None:
            assert not library.close(D) and np.array_equal(A, before)
            return
        assert exact is not None
        expected = np.array([[float(x) for x in row] for row in exact])
        size = np.finfo(dtype).eps * 100 * n * (1 + np.abs(before).max()) * np.abs(expected).max() ** 2
        assert library.close(D)
        np.testing.assert_allclose(A, expected, rtol=0, atol=size)
        assert found.solve(right)
        np.testing.assert_allclose(right, expected @ B, rtol=0, atol=10 * n * size)


DOMINANT = np.random.default_rng(5).random((50, 50)) / 60


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("scaled", ["rows", "columns", "neither"])
def test_dominant_rows_or_columns_are_closed(order: str, scaled: str) -> None:
    A = DOMINANT.copy()
    scale = 4.0 ** np.arange(50)[::-1] / 4.0**49
    if scaled != "neither":
        A = A * scale if scaled == "rows" else A * scale[:, None]
    expected = np.linalg.inv(np.eye(50) - A)
    D = np.asarray(A, order=order)
    assert library.close(D)
    np.testing.assert_allclose(D, expected, rtol=1e-12)


def test_what_elimination_has_to_judge_is_left_to_it() -> None:
    swap = DOMINANT.copy()
    swap[:2, :2] = [[0.9, 3], [3, 0.9]]  # rows are exchanged, whichever way it is read
    one, nearly, infinite = DOMINANT.copy(), DOMINANT.copy(), DOMINANT.copy()
    one[0, :], one[0, 0] = 0, 1
    nearly[0, :], nearly[0, 0] = 0, 1 - 1e-15
    infinite[3, 4] = np.inf
    for A in (swap, one, nearly, infinite, DOMINANT[:5, :5].copy()):
        before = A.copy()
        assert not library.close(A) and np.array_equal(A, before)


def test_overflow_is_left_to_others() -> None:
    found = library.decomposed(DOMINANT)
    assert found is not None
    B = np.full((50, 1), 1.7e308)
    assert not found.solve(B) and (B == 1.7e308).all()


@settings(max_examples=200)
@given(
    st.integers(1, 5), st.integers(0, 2**32 - 1), st.sampled_from(["f4", "f8", "c8", "c16"]), st.integers(1, 40)
)
def test_a_dominant_diagonal_is_that_of_fractions(n: int, seed: int, dtype: str, scale: int) -> None:
    """What is called dominant is, in rows or columns, and then no pivot is 1."""
    random = np.random.default_rng(seed)
    A = (random.integers(-4, 5, (n, n)) / scale).astype(dtype)
    whole = [[Fraction(float(x.real)) for x in row] for row in A]
    rows, columns = (
        all(abs(1 - lines[i][i]) > sum(abs(x) for j, x in enumerate(lines[i]) if j != i) for i in range(n))
        for lines in (whole, list(zip(*whole, strict=True)))
    )
    if library.is_dominant(A):
        assert rows or columns
        assert eliminated(whole) is not None
    edges = np.abs(A.astype("c16")) * (1 - np.eye(n))
    ahead = np.abs(1 - A.diagonal()) - 1e-4
    if (edges.sum(1) < ahead).all() or (edges.sum(0) < ahead).all():
        assert library.is_dominant(A)


def test_a_large_dominant_matrix_of_single_precision_is_closed() -> None:
    """In n² roundings a pivot could be anything; in n it could not."""
    n = 3000
    A = np.full((n, n), 0.5 / n, "f4")
    assert n * n * np.finfo("f4").eps > 1
    assert library.decomposed(A) is not None
    A[:, ::2] *= -3  # of which pivots are as far from 1, but n entries outweigh the diagonal
    assert not library.is_dominant(A) and library.decomposed(A) is None


def test_shapes_that_do_not_fit_are_refused_before_anything_is_cut() -> None:
    A = np.zeros((1, 200, 300))
    with pytest.raises(ValueError, match=r"shapes \(1, 200, 200\), \(1, 200, 300\) and \(1, 200, 300\) do not fit"):
        library.halves(np.zeros((1, 200, 200)), A, A, False, 64)
