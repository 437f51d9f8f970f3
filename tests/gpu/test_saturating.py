"""Integer closures in 16 bits: exact, or refused by the certificate."""

from __future__ import annotations

import numpy as np
import pytest
from gpu.elements import closure_reference

import semiring as sr
from semiring.solvers.dense.schedules import close_best


def graph(n: int, dtype: str, weight: int, density: float, rng: np.random.Generator) -> np.ndarray:
    A = rng.integers(0, weight, (n, n)).astype(dtype)
    A[rng.random((n, n)) > density] = np.iinfo(dtype).max
    return A


@pytest.mark.parametrize("n", [1, 40, 130, 300])
@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "i2", "u1"])
@pytest.mark.parametrize("density", [0.002, 0.02, 0.5])
def test_small_distances_are_exact(n: int, dtype: str, density: float) -> None:
    import cupy

    from semiring.solvers.dense.narrow import M, saturating_closure

    rng = np.random.default_rng(n)
    A = graph(n, dtype, 20 if dtype == "u1" else 300, density, rng)
    wide = A.astype("i8")
    wide[np.iinfo(dtype).max == A] = np.iinfo("i8").max
    wanted = closure_reference(sr.min_plus, wide)
    finite = wanted < np.iinfo("i8").max
    small = not finite.any() or wanted[finite].max() < min(M, np.iinfo(dtype).max)
    got = saturating_closure(sr.min_plus, cupy.asarray(A), close_best)
    assert (got is not None) == small
    if got is not None:
        expected = np.where(finite, wanted, np.iinfo(dtype).max).astype(dtype)
        np.testing.assert_array_equal(cupy.asnumpy(got), expected)


@pytest.mark.parametrize("last", [1, 2, 3])
def test_certificate_sees_the_limit(last: int) -> None:
    """A path of 32,765 + last: one more than 16 bits hold is refused, also where nothing else is far."""
    import cupy

    from semiring.solvers.dense.narrow import saturating_closure

    A = np.full((50, 50), np.iinfo("i4").max, "i4")
    A[0, 1], A[1, 2] = 32_765, last
    got = saturating_closure(sr.min_plus, cupy.asarray(A), close_best)
    if last == 1:
        assert got is not None and int(got[0, 2]) == 32_766
    else:
        assert got is None


def test_components_that_do_not_reach_each_other() -> None:
    import cupy

    from semiring.solvers.dense.narrow import saturating_closure

    rng = np.random.default_rng(5)
    A = graph(150, "i4", 100, 0.3, rng)
    A[70:, :70] = np.iinfo("i4").max
    got = saturating_closure(sr.min_plus, cupy.asarray(A), close_best)
    assert got is not None
    np.testing.assert_array_equal(cupy.asnumpy(got), closure_reference(sr.min_plus, A))
