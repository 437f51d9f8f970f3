"""Log-sum-exp on the device by powers, against the kernels that take ⊕ of each term; also where powers underflow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import semiring as sr

SOFT_MIN = sr.Semiring(
    "soft minimum", add=lambda a, b: -np.logaddexp(-a, -b), mul=np.add, zero=np.inf, product_only=True
)
BINARY = sr.Semiring("binary", add=np.logaddexp2, mul=np.add, zero=-np.inf, product_only=True)


def near(found: Any, wanted: Any, scale: float) -> None:
    eps = 64 * float(np.finfo(found.dtype).eps)
    np.testing.assert_allclose(found.get(), wanted.get(), rtol=eps, atol=eps * (16 + scale))


@pytest.mark.parametrize("scale", [1.0, 30.0, 1000.0])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("S", [sr.log, SOFT_MIN, BINARY], ids=lambda S: S.name)
def test_powers_and_terms(S: sr.Semiring, dtype: str, scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    import cupy

    from semiring.kernels.cuda.choose import array_kernel, general_on_device
    from semiring.kernels.cuda.dense import logsum
    from semiring.kernels.cuda.dense.engine import CudaKernel

    monkeypatch.setattr(logsum, "LEAST_TERMS", 1)
    low = general_on_device(S, np.dtype(dtype))
    by_powers, by_terms = CudaKernel(low), array_kernel(replace(low, log_sum=None))
    rng = np.random.default_rng(0)
    for batch, m, k, n in ((2, 33, 40, 65), (1, 129, 257, 100), (1, 4, 1000, 3)):
        A, B, C = (rng.normal(size=(batch, *s), scale=scale) for s in ((m, k), (k, n), (m, n)))
        for X in (A, B, C):
            X[rng.random(X.shape) < 0.1] = S.zero
        A[0, 1, 2], B[0, 3, 1] = np.inf, np.nan
        a, b, c = (cupy.asarray(X.astype(dtype)) for X in (A, B, C))
        found, wanted = c.copy(), c.copy()
        by_powers.multiply_add_stack(found, a, b)
        by_terms.multiply_add_stack(wanted, a, b)
        near(found, wanted, scale)
        views = cupy.empty((batch, n, m), dtype).swapaxes(1, 2), cupy.empty((batch, m, n), dtype)
        by_powers.multiply_stack(views[0], a, b)
        by_terms.multiply_stack(views[1], a, b)
        near(views[0], views[1], scale)


def test_the_front_door() -> None:
    import cupy

    A = np.random.default_rng(1).normal(size=(700, 700)).astype("f4")
    found = sr.matmul(cupy.asarray(A), cupy.asarray(A), sr.log).get()
    np.testing.assert_allclose(found, sr.matmul(A, A, sr.log, device="cpu"), rtol=1e-4, atol=1e-5)
