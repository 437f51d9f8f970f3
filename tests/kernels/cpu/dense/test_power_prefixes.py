"""Compiled prefixes of log-sum-exp, of columns, lines and chunks, beside sums in longer numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.cpu.dense import power_prefixes
from semiring.shapes.sums.folding import Fold

SHAPES = [(1, 1, 1), (3, 1, 1), (9, 130, 1), (17, 5, 1), (2, 300, 3), (1, 700, 40), (3, 129, 60), (1, 9001, 1)]
slow = pytest.mark.slow
SOFT_MIN = sr.Semiring("soft-min", add=lambda a, b: -np.logaddexp(-a, -b), mul=np.add, zero=np.inf, one=0.0, dtypes="f")
BITS = sr.Semiring("bits", add=np.logaddexp2, mul=np.add, zero=-np.inf, one=0.0, dtypes="f")


def kernel_of(S: sr.Semiring, dtype: Any) -> power_prefixes.PowerPrefixKernel:
    kernel = Fold(S, "add", np.dtype(dtype)).running
    assert isinstance(kernel, power_prefixes.PowerPrefixKernel)
    return kernel


def prefixes(S: sr.Semiring, x: np.ndarray) -> np.ndarray:
    fold = Fold(S, "add", x.dtype)
    return fold.compiled_prefixes(x, 1)


@pytest.mark.parametrize(("S", "dtype", "ufunc", "sign"), [
    (sr.log, "f8", np.logaddexp, 1), pytest.param(sr.log, "f4", np.logaddexp, 1, marks=slow),
    (SOFT_MIN, "f4", np.logaddexp, -1), pytest.param(BITS, "f8", np.logaddexp2, 1, marks=slow),
], ids=lambda x: getattr(x, "name", None))
def test_any_shape(S: sr.Semiring, dtype: str, ufunc: Any, sign: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power_prefixes, "LONG", 2000)
    monkeypatch.setattr(power_prefixes, "CHUNK", 1 << 11)
    monkeypatch.setattr(power_prefixes, "TASK", 1000)
    rng, eps = np.random.default_rng(1), np.finfo(dtype).eps
    for shape in SHAPES:
        for size in (1e-3, 1, 30, 1000):
            x = (size * rng.standard_normal(shape)).astype(dtype)
            x[rng.random(shape) < 0.1] = S.zero
            found = prefixes(S, x)
            wanted = sign * ufunc.accumulate(sign * x.astype(np.longdouble), axis=1)
            finite = np.isfinite(wanted)
            assert found.shape == shape and found.dtype == x.dtype and np.array_equal(finite, np.isfinite(found))
            bound = eps * (2 * np.abs(wanted[finite]) + 4 + 0.01 * shape[1])
            assert np.all(np.abs(found[finite] - wanted[finite]) <= bound), (shape, size)
            assert np.array_equal(found[~finite], wanted[~finite])


def test_sums_pass_few_roundings(monkeypatch: pytest.MonkeyPatch) -> None:
    n = 200_000
    for x in (np.zeros(n), -1e-9 * np.arange(n), 1e-9 * np.arange(n)):  # each maximum rises a little, or none does
        wanted = np.log(np.cumsum(np.exp(x.astype(np.longdouble))))
        for given in (x.reshape(1, -1, 1), np.repeat(x[:, None], 3, 1)[None]):
            found = prefixes(sr.log, given)[0, :, 0]
            bound = 2.0**-52 * (power_prefixes.BLOCK + 2 * math.log2(n) + 2 * np.abs(wanted))
            assert np.all(np.abs(found - wanted) <= bound)


def test_a_later_maximum_changes_nothing_before_it() -> None:
    x = np.array([-1e300, -700.0, 3.0, 1e-300, 800.0, 1e300, 5.0, np.inf, 7.0, -np.inf, np.inf])
    wanted = np.logaddexp.accumulate(x)
    for given in (x.reshape(1, -1, 1), np.repeat(x[:, None], 20, 1)[None], np.repeat(x[None], 20, 0)[..., None]):
        found = prefixes(sr.log, np.ascontiguousarray(given))
        assert np.allclose(found[0, :, 0], wanted, rtol=1e-15, atol=1e-15) and np.all(found == found[:1, :, :1])


@pytest.mark.parametrize("shape", [(5, 300, 1), (2, 300, 3), (1, 300, 20), (1, 9000, 1)])
def test_what_is_not_an_element_is_seen_everywhere(shape: tuple[int, ...]) -> None:
    kernel = kernel_of(sr.log, "f8")
    for place in np.random.default_rng(4).permutation(math.prod(shape))[:40].tolist():
        x = np.full(shape, 0.5)
        assert kernel.prefixes(x, np.logaddexp.accumulate) is not None
        x.flat[place] = np.nan
        assert kernel.prefixes(x, np.logaddexp.accumulate) is None
