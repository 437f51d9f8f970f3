"""Which terms of products won, found on a GPU: those of the host, of every shape and kind."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from gpu.test_paths import ALGEBRAS

import semiring as sr

cupy = pytest.importorskip("cupy")
inf = np.inf


def matrix(S: sr.Semiring, dtype: str | None, shape: tuple[int, ...], few: int, seed: int) -> np.ndarray:
    """Elements of `few` values, so that many terms are equal, and some that are zero."""
    rng = np.random.default_rng(seed)
    if dtype is None:
        A = np.empty(shape, S.dtypes[0])
        first, second = A.dtype.names or ()
        A[first], A[second] = rng.integers(0, few, shape), rng.integers(1, few + 1, shape)
    elif dtype == "?":
        A = np.ones(shape, bool)
    elif S.name in ("viterbi", "max-times", "lukasiewicz", "łukasiewicz"):
        A = rng.choice(np.linspace(1, 0.5, few), shape).astype(dtype)
    else:
        A = rng.integers(0, few, shape).astype(dtype)
    A[rng.random(shape) < 0.3] = S.zero_in(A.dtype)
    return A


def check(A: np.ndarray, B: np.ndarray, S: sr.Semiring, check: bool = True) -> None:
    C, which = sr.matmul(cupy.asarray(A), cupy.asarray(B), S, argmax=True, check=check)
    assert isinstance(C, cupy.ndarray) and isinstance(which, cupy.ndarray) and which.dtype == np.int32
    expected, first = sr.matmul(A, B, S, argmax=True, device="cpu")
    assert (which.get() == first).all()
    product = sr.matmul(cupy.asarray(A), cupy.asarray(B), S).get()
    for field in expected.dtype.names or (...,):
        assert (C.get()[field] == expected[field]).all() and (C.get()[field] == product[field]).all()


@pytest.mark.parametrize(("name", "dtype"), ALGEBRAS)
def test_winners_are_those_of_the_host(name: str, dtype: str | None) -> None:
    S = sr.catalogue[name]
    shapes = (1, 1, 1), (7, 5, 3), (33, 65, 40), (130, 200, 97), (257, 96, 300)
    for (m, k, n), few in itertools.product(shapes, (2, 9)):
        check(matrix(S, dtype, (m, k), few, m), matrix(S, dtype, (k, n), few, n + 1), S)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_random_floats_large_and_small(dtype: str) -> None:
    rng = np.random.default_rng(0)
    for m, k, n in ((1000, 777, 900), (512, 2048, 256), (3, 5000, 2)):
        A, B = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)
        for S in (sr.min_plus, sr.max_min):
            check(A, B, S)
        check(np.abs(A), np.abs(B), sr.min_plus)
        check(A, B, sr.min_plus, check=False)


def test_zeros_and_empty_sides() -> None:
    for shape in ((0, 3, 2), (3, 0, 2), (3, 2, 0), (3, 4, 5)):
        check(np.full(shape[:2], inf), np.full(shape[1:], inf), sr.min_plus)
    C, which = sr.matmul(cupy.full((200, 130), inf), cupy.full((130, 150), inf), sr.min_plus, argmax=True)
    assert bool((which == -1).all()) and bool((inf == C).all())


def test_stacks_strides_and_vectors() -> None:
    A, B = matrix(sr.min_plus, "f4", (2, 1, 70, 40), 5, 0), matrix(sr.min_plus, "f4", (3, 40, 50), 5, 1)
    check(A, B, sr.min_plus)
    check(A[0, 0, ::2, ::-1], B[1].T[:, :].T[::-1], sr.min_plus)
    wide = matrix(sr.min_plus, "f4", (130, 130), 5, 2)
    C, which = sr.matmul(cupy.asarray(wide).T, cupy.asarray(wide)[::-1], sr.min_plus, argmax=True)
    expected = sr.matmul(wide.T, wide[::-1], sr.min_plus, argmax=True, device="cpu")
    assert (C.get() == expected[0]).all() and (which.get() == expected[1]).all()
    x, one = cupy.asarray(wide[0]), sr.matmul(wide[0], wide[:, 1], sr.min_plus, argmax=True, device="cpu")
    C, which = sr.matmul(x, cupy.asarray(wide[:, 1]), sr.min_plus, argmax=True)
    assert (float(C), int(which)) == one


def test_integers_whose_infinity_moves() -> None:
    A, B = matrix(sr.min_plus, "i4", (40, 60), 9, 3), matrix(sr.min_plus, "i4", (60, 50), 9, 4)
    check(np.where(sr.min_plus.zero_in(A.dtype) == A, A, A - 5).astype("i4"), B, sr.min_plus)


def test_arrays_of_the_host_come_back_there_and_plans_say_what_runs() -> None:
    A = matrix(sr.min_plus, "f4", (64, 64), 5, 5)
    C, which = sr.matmul(A, A, sr.min_plus, argmax=True, device="gpu")
    assert type(C) is type(which) is np.ndarray
    expected = sr.matmul(A, A, sr.min_plus, argmax=True, device="cpu")
    assert (expected[0] == C).all() and (expected[1] == which).all()
    plan = sr.plan("matmul", cupy.asarray(A), cupy.asarray(A), sr.min_plus, argmax=True)
    assert plan.method == "tiled product"
    D = cupy.asarray(A)
    D[3, 4] = np.nan
    with pytest.raises(sr.SemiringError, match=r"A\[3, 4\] is NaN"):
        sr.matmul(D, D, sr.min_plus, argmax=True)
