"""Complex numbers on the GPU: products, sums, sequences and convolutions, against the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr

S = sr.plus_times
DOUBLED = sr.Semiring("doubled", add=np.add, mul=lambda a, b: 2 * a * b, zero=0, one=0.5, dtypes="fc",
                     carrier=np.isfinite)


def numbers(dtype: str, *shape: int) -> np.ndarray:
    rng = np.random.default_rng(len(shape))
    found = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    found[rng.random(shape) < 0.1] = 0
    return np.asarray(found, dtype)


def compare(verb: Callable[..., Any], *arrays: np.ndarray) -> None:
    import cupy

    wanted, found = verb(*arrays), verb(*map(cupy.asarray, arrays))
    assert isinstance(found, cupy.ndarray) and found.dtype == wanted.dtype and found.shape == wanted.shape
    near = 300 * float(np.finfo(wanted.dtype).eps)
    np.testing.assert_allclose(found.get(), wanted, rtol=near, atol=near * max(float(np.abs(wanted).max(initial=0)), 1))


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("A", [S, DOUBLED], ids=lambda A: A.name)
def test_products_and_sums(A: sr.Semiring, dtype: str) -> None:
    for a, b in (((3, 4), (4, 5)), ((70, 130), (130, 90)), ((300, 301), (301, 257)), ((5, 16, 16), (5, 16, 16)),
                 ((40, 3, 3), (3, 3)), ((64,), (64, 8)), ((64, 8), (8,)), ((0, 3), (3, 2)), ((2, 0), (0, 2))):
        compare(lambda x, y: sr.matmul(x, y, A), numbers(dtype, *a), numbers(dtype, *b))
    compare(lambda x, y, z: sr.einsum("ij,jk,kl->il", x, y, z, S=A), *(numbers(dtype, 6, 6) for _ in range(3)))
    compare(lambda x, y: sr.einsum("ij,ij->i", x, y, S=A), numbers(dtype, 60, 7), numbers(dtype, 60, 7))
    compare(lambda x, y: sr.einsum("i,j->ij", x, y, S=A), numbers(dtype, 60), numbers(dtype, 7))
    compare(lambda x: sr.einsum("iij->j", x, S=A), numbers(dtype, 9, 9, 5))
    x = numbers(dtype, 50, 7)
    for axis in (None, 0, 1):
        for verb in ("sum", "cumsum", "cumprod", "prod"):
            compare(lambda y, verb=verb, axis=axis: getattr(A, verb)(y, axis=axis), x / 9 + A.one)
    compare(lambda x, y: sr.convolve(x, y, A), numbers(dtype, 300), numbers(dtype, 70))
    compare(lambda x, y: sr.convolve(x, y, A, mode="same"), numbers(dtype, 9, 30), numbers(dtype, 4, 5))


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("n", [1, 3, 16, 40, 70])
def test_sequences(dtype: str, n: int) -> None:
    x, A, e = numbers(dtype, 3, n), numbers(dtype, 3, 12, n, n) / n, numbers(dtype, 3, 13, n)
    for reverse in (False, True):
        compare(lambda A, reverse=reverse: sr.scan(A, S, axis=1, reverse=reverse), A)
        compare(lambda x, A, e, r=reverse: sr.forward(x, A, S, emissions=e, reverse=r), x, A, e)
        compare(lambda x, A, e, r=reverse: sr.forward(x, A, S, emissions=e, reverse=r, lengths=[13, 0, 5]), x, A, e)
    compare(lambda x, A: sr.forward(x, A, S, steps=9), x, A[0, 0])
    compare(lambda A: sr.chain(A, S), A[0])


def test_what_is_refused() -> None:
    import cupy

    x = cupy.asarray(numbers("c16", 9, 9))
    for value, why in ((np.nan, "is NaN"), (complex(0, np.inf), "")):
        y = x.copy()
        y[4, 5] = value
        for verb in (lambda y: sr.matmul(x, y, S), S.prod, S.cumprod, lambda y: sr.scan(y[None], S),
                     lambda y: sr.forward(x[0], y, S, steps=3), lambda y: sr.convolve(x, y, S)):
            with pytest.raises(sr.SemiringError, match=why):
                verb(y)
    for refused in (lambda: sr.closure(x, S), lambda: sr.solve(x, x, S)):
        with pytest.raises(sr.SemiringError, match="complex numbers are computed on the CPU only; use device='cpu'"):
            refused()
