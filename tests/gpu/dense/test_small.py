"""The short way of one small product: the general way's answer, or nothing where that has something to say."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import semiring as sr

SHAPES = [(1, 1, 1), (16, 16, 16), (3, 5, 7), (33, 2, 1), (1, 33, 16), (40, 40, 40), (17, 31, 64), (2, 64, 3)]
NOISY = sr.Semiring("noisy", add=lambda a, b: a + b - a * b, mul=np.multiply, zero=0, product_only=True,
                    carrier=lambda a: (a >= 0) & (a <= 1))
COST = sr.Semiring("cost", add=np.minimum, mul=lambda a, b: a + b + a * b / 8, zero=np.inf, one=0,
                   carrier=lambda a: a >= 0, product_only=True)


def small(a: Any, b: Any, S: sr.Semiring) -> Any:
    from semiring.solvers.dense.speculation import small_product

    return small_product(a, b, S)


def general(a: Any, b: Any, S: sr.Semiring) -> Any:
    return sr.matmul(a, b, S, check=True, device="gpu")  # an option, so the general way


def data(S: sr.Semiring, shape: tuple[int, int], dtype: str, seed: int) -> Any:
    import cupy

    rng = np.random.default_rng(seed)
    A = rng.random(shape).astype(dtype)
    A[rng.random(shape) < 0.3] = S.zero_in(np.dtype(dtype))
    return cupy.asarray(A)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("S", [sr.min_plus, sr.max_min, sr.plus_times, sr.viterbi, sr.log, NOISY, COST])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_answer_is_that_of_the_general_way(S: sr.Semiring, dtype: str, shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    a, b = data(S, (m, k), dtype, 0), data(S, (k, n), dtype, 1)
    found, wanted = small(a, b, S), general(a, b, S)
    assert found is not None and found.dtype == wanted.dtype
    if S.selective and S in (sr.min_plus, sr.max_min):
        np.testing.assert_array_equal(found.get(), wanted.get())
    else:
        np.testing.assert_allclose(found.get(), wanted.get(), rtol=8 * np.finfo(dtype).eps, atol=np.finfo(dtype).eps)
    wide = np.empty((k, 2 * n), dtype)
    wide[:, :n] = b.get()
    import cupy

    cut = cupy.asarray(wide)[:, :n]
    np.testing.assert_array_equal(small(a, cut, S).get(), found.get())


def test_what_is_unusual_goes_the_general_way() -> None:
    """NaN, entries outside the carrier, sums without a value, shapes, dtypes, kinds of operands: each as ever."""
    import cupy

    a, b = data(sr.min_plus, (4, 5), "f8", 0), data(sr.min_plus, (5, 6), "f8", 1)
    assert small(a, b, sr.min_plus) is not None
    for wrong in (np.nan, -1.0):
        S = sr.min_plus if wrong != wrong else COST
        bad = a.copy()
        bad[3, 4] = wrong
        for left, right, name in ((bad, b, "A"), (a.T.copy() @ a, bad.T.copy(), "B")):
            for _ in range(2):
                assert small(left, right, S) is None
                with pytest.raises(sr.SemiringError, match=rf"{name}\[\d, \d\] is"):
                    sr.matmul(left, right, S)
        assert small(a, b, S) is not None, "the flag is gone with the call"
    huge = cupy.asarray(np.array([[1e30, -1e30]], "f4"))
    assert small(huge, cupy.asarray(np.array([[1e30], [1e30]], "f4")), sr.plus_times) is None
    for left, right in ((a, a), (a, b.astype("f4")), (a[0], b), (a, b.T), (a[:0], b), (a.get(), b), (a[None], b)):
        assert small(left, right, sr.min_plus) is None
    assert small(a.astype("i4"), b.astype("i4"), sr.min_plus) is None
    assert small(cupy.ones((65, 4)), cupy.ones((4, 4)), sr.min_plus) is None


def test_threads_have_flags_of_their_own() -> None:
    a, b = data(sr.min_plus, (16, 16), "f8", 0), data(sr.min_plus, (16, 16), "f8", 1)
    bad = a.copy()
    bad[0, 0] = np.nan
    wanted = small(a, b, sr.min_plus).get()

    def call(i: int) -> bool:
        if i % 2:
            return small(bad, b, sr.min_plus) is None
        return bool((small(a, b, sr.min_plus).get() == wanted).all())

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(call, range(400)))
