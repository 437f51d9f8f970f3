"""Equations X = A X + B by iteration, against the same in fractions and in long doubles."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st

from semiring.kernels.numpy.iteration import CLOSE, Equations, Unreached

WIDE = {"f4": np.longdouble, "f8": np.longdouble, "c8": np.clongdouble, "c16": np.clongdouble}


def drawn(random: np.random.Generator, n: int, dtype: str, norm: float, by_columns: bool) -> sp.csr_array:
    """A sparse matrix whose sums of absolute values along rows, or columns, are at most a norm."""
    A = random.normal(size=(n, n)) * (random.random((n, n)) < random.choice([0.1, 0.4, 1.0]))
    if random.random() < 0.5:
        A = abs(A)
    if dtype.startswith("c"):
        A = A * np.exp(1j * random.normal(size=(n, n)))
    if random.random() < 0.5:
        np.fill_diagonal(A, 0)
    A = A * 10.0 ** random.integers(-3, 4, n)
    A *= norm / np.maximum(abs(A).sum(1, keepdims=True), 1e-300) * (abs(A).sum(1, keepdims=True) > 0)
    return sp.csr_array((A.T if by_columns else A).astype(dtype))


def exact(A: sp.csr_array, b: np.ndarray) -> np.ndarray:
    """X in long doubles, by the power series with doubled exponents: of a norm of at most 0.99, by 2⁻⁷⁰."""
    wide = WIDE[A.dtype.str[1:]]
    term, X = A.toarray().astype(wide), b.astype(wide)
    for _ in range(13):
        X, term = X + term @ X, term @ term
    return X


@given(st.integers(1, 30), st.integers(0, 2**32 - 1), st.sampled_from(sorted(WIDE)), st.sampled_from([0.1, 0.7, 0.99]),
       st.booleans(), st.sampled_from([1.0, 1e-30, 1e-40, 1e-308, 1e25]))
@example(24, 63044, "c16", 0.1, False, 1.0)  # entries that only walks of many edges reach: 1e-16 of the largest
@example(24, 63044, "c16", 0.1, True, 1e-30)
@example(9, 1, "f4", 0.7, False, 1e-30)  # all of b is far below tiny / eps
@example(9, 1, "f4", 0.99, False, 1e-40)  # subnormal numbers
@example(9, 1, "c16", 0.99, False, 1e-308)
@example(29, 1394893697, "c8", 0.99, False, 1e-40)  # terms of the series would be rounded to multiples of 1.4e-45
@example(14, 595482567, "f8", 0.99, False, 1e-308)
def test_every_entry_has_the_residual_that_is_promised(
    n: int, seed: int, dtype: str, norm: float, by_columns: bool, size: float
) -> None:
    random = np.random.default_rng(seed)
    A = drawn(random, n, dtype, norm, by_columns)
    b = (random.normal(size=n) * (random.random(n) < random.choice([0.2, 1.0])) * size).astype(dtype)
    equations = Equations(A)
    assert equations.norm <= norm * (1 + 1e-4)
    X = equations.solve(b)
    assert X.dtype == A.dtype
    wide, eps = WIDE[dtype], np.finfo(dtype).eps
    dense = A.toarray().astype(wide)
    left = abs(b + dense @ X - X)
    terms = abs(dense) @ abs(X) + abs(X) + abs(b)
    floor = np.finfo(dtype).smallest_subnormal.astype(np.longdouble) * (4 * (n + 2) + 2 * abs(dense).sum(1))
    assert (left <= (CLOSE + 2 * (n + 2)) * eps * terms + floor).all()
    expected = exact(A, b)
    if not by_columns and expected.any():
        error, largest = abs(X - expected).max(), abs(expected).max()
        assert error <= ((1 + norm) * (CLOSE + 2 * (n + 2)) * eps * largest + floor.max()) / (1 - norm)


@given(st.integers(1, 20), st.integers(0, 2**32 - 1), st.sampled_from([1e-2, 1e-5, 1e-9]))
def test_a_larger_residual_takes_fewer_steps(n: int, seed: int, rtol: float) -> None:
    random = np.random.default_rng(seed)
    A, b = drawn(random, n, "f8", 0.9, False), random.random(n)
    near, far = Equations(A), Equations(A, rtol)
    near.solve(b)
    X = far.solve(b)
    assert far.steps <= near.steps
    left = abs(b + A @ X - X)
    assert (left <= (rtol + 1e-14) * (abs(A) @ abs(X) + abs(X) + abs(b))).all()


@pytest.mark.parametrize("way", ["_by_series", "_by_gmres"])
def test_others_take_over_where_bicgstab_breaks_down(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Equations, "_by_bicgstab", lambda self, r, end: np.zeros_like(r))
    random = np.random.default_rng(0)
    called: list[str] = []
    original = getattr(Equations, way)
    monkeypatch.setattr(
        Equations, way, lambda self, *given, **goal: called.append(way) or original(self, *given, **goal))
    A = drawn(random, 200, "f8", 0.9, False)
    if way == "_by_gmres":
        A.data[A.indptr[5] : A.indptr[6]] *= 9  # so that no norm is below 1
        A.data[A.indices == 5] *= 9
    b = random.random(200)
    np.testing.assert_allclose(Equations(A).solve(b), np.linalg.solve(np.eye(200) - A.toarray(), b), rtol=1e-9)
    assert called


def test_rotations_have_no_inner_product_with_their_image() -> None:
    """1 − A = [[0, −1], [1, 0]] turns every vector by a right angle: BiCGSTAB divides by 0."""
    A = sp.csr_array(np.array([[1.0, 1.0], [-1.0, 1.0]]))
    np.testing.assert_allclose(Equations(A).solve(np.array([1.0, 2.0])), [2.0, -1.0], rtol=1e-14)


@pytest.mark.parametrize("dtype", sorted(WIDE))
@pytest.mark.filterwarnings("error")
def test_sizes_at_both_ends_of_the_range(dtype: str) -> None:
    limits = np.finfo(dtype)
    A = sp.csr_array(np.array([[0.0, -0.5, 0.0], [0.25, 0.0, 0.0], [0.0, 0.0, 0.5]]).astype(dtype))
    for size in (limits.smallest_subnormal * 72, limits.tiny, limits.max / 72 * 16):
        X = Equations(A).solve(np.array([1, 0, 0], dtype) * size)
        np.testing.assert_allclose(X[:2], [size * (8 / 9), size * (2 / 9)], rtol=CLOSE * limits.eps)
        assert X[2] == 0


def test_entries_that_only_long_walks_reach_are_as_accurate_as_large_ones() -> None:
    """X of a chain is 1, 0.1, 0.01, …, 1e-249: no norm of X sees most of it."""
    n = 250
    chain = sp.csr_array((np.full(n - 1, 0.1), (range(1, n), range(n - 1))), shape=(n, n))
    np.testing.assert_allclose(Equations(chain).solve(np.eye(n)[0]), 0.1 ** np.arange(n), rtol=1e-12)


def test_what_has_no_solution_is_not_reached() -> None:
    with pytest.raises(Unreached, match=r"a residual of \d\S* after \d+ steps") as found:
        Equations(sp.csr_array(np.array([[1.0]]))).solve(np.array([1.0]))
    assert found.value.residual > 0.01 and found.value.steps < 100
    ring = sp.csr_array(([2.0] * 300, (range(300), [*range(1, 300), 0])))  # a solution, but after 300 steps
    with pytest.raises(Unreached):
        Equations(ring).solve(np.eye(300)[0], most=100)


def test_empty_and_without_entries() -> None:
    assert Equations(sp.csr_array((0, 0))).solve(np.empty(0)).shape == (0,)
    nothing = Equations(sp.csr_array((3, 3)))
    assert nothing.norm == 0 and nothing.solve(np.array([1.0, -2.0, 0.0])).tolist() == [1, -2, 0]


@pytest.mark.parametrize("n", [3, 30, 60])
@pytest.mark.parametrize("size", [2.0, 30.0, 1e8])
def test_small_regular_equations_are_reached_whatever_the_sizes_of_rows(n: int, size: float) -> None:
    """GMRES does not begin anew there, so that no spectral radius is too large, and no row too small."""
    for seed in range(2):
        random = np.random.default_rng(seed)
        A = random.standard_normal((n, n)) * size
        A[random.random(n) < 0.5, :] *= 1e-7
        A[np.arange(n), np.arange(n)] *= random.random(n) < 0.5
        assert np.linalg.cond((np.eye(n) - A) / np.abs(np.eye(n) - A).max(1, keepdims=True)) < 1e5
        for rtol in (None, 0.5):
            E, b = Equations(sp.csr_array(A), rtol), random.standard_normal(n)
            assert E.norm >= 1 or size == 2
            x = E.solve(b, 1000)
            assert E.residual(b + A @ x - x, x, b) < 1.1
            assert (abs(b + A @ x - x) <= 2 * E.most * (abs(A) @ abs(x) + abs(x) + abs(b))).all()


@pytest.mark.parametrize("n", [60, 200])
def test_gmres_takes_as_many_steps_as_there_are_vertices(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not thousands, in which rounding keeps it from the last epsilon."""
    monkeypatch.setattr(Equations, "_by_bicgstab", lambda self, r, end: np.zeros_like(r))
    random = np.random.default_rng(0)
    E = Equations(sp.csr_array(random.standard_normal((n, n)) * 30 / n**0.5))
    E.solve(random.standard_normal(n))
    assert E.steps <= 2 * n
