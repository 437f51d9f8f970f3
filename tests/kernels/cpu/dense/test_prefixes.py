"""Compiled prefixes of lines, rows and chunks, beside those that NumPy makes of pairs."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.cpu.dense import prefixes
from semiring.shapes.sums.folding import Fold

SHAPES = [(1, 1, 1), (3, 1, 1), (9, 130, 1), (17, 5, 1), (2, 300, 3), (1, 700, 40), (3, 129, 600), (1, 9001, 1)]
slow = pytest.mark.slow
FIRST = sr.Semiring("first", add=np.maximum, mul=lambda a, b: np.where(a == 0, a, b), zero=0.0, product_only=True,
                    carrier=lambda a: a >= 0, dtypes="f")


def kernel_of(S: sr.Semiring, op: str, dtype: Any) -> tuple[Fold, prefixes.PrefixKernel]:
    fold = Fold(S, op, np.dtype(dtype))
    assert fold.running is not None
    return fold, fold.running


def compiled(fold: Fold, kernel: prefixes.PrefixKernel, x: np.ndarray, axis: int) -> np.ndarray:
    return fold.compiled_prefixes(x, axis)


@pytest.mark.parametrize(("S", "op", "dtype"), [
    (sr.plus_times, "add", "f8"), (sr.min_plus, "add", "i4"), pytest.param(sr.viterbi, "mul", "f4", marks=slow),
    pytest.param(sr.log, "add", "f4", marks=slow), pytest.param(sr.boolean, "add", "?", marks=slow),
    pytest.param(sr.plus_times, "mul", "c16", marks=slow), pytest.param(FIRST, "mul", "f8", marks=slow),
    pytest.param(sr.max_plus, "mul", "f2", marks=slow),
], ids=lambda x: getattr(x, "name", x))
def test_any_shape(S: sr.Semiring, op: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, (fold, kernel) = np.random.default_rng(1), kernel_of(S, op, dtype)
    monkeypatch.setattr(prefixes, "LONG", 2000)
    monkeypatch.setattr(prefixes, "CHUNK", 256)
    monkeypatch.setattr(prefixes, "STRIP", 64)
    monkeypatch.setattr(prefixes, "TASK", 1000)
    for shape in SHAPES:
        x = 0.9 + rng.random(shape) / 10 if dtype != "c16" else np.exp(1j * rng.random(shape))
        x = (9 * rng.random(shape) > 8 if dtype == "?" else 1000 * x if dtype == "i4" else x).astype(dtype)
        found, wanted = compiled(fold, kernel, x, 1), fold._prefixes_by_numpy(x, 1)
        assert found.shape == shape and found.dtype == x.dtype and found.flags.c_contiguous
        if kernel.exact or S is FIRST:
            assert np.array_equal(found, wanted), shape
        else:
            assert np.allclose(found, wanted, rtol=300 * np.finfo(x.dtype).eps), shape


@pytest.mark.slow
def test_records() -> None:
    rng = np.random.default_rng(2)
    x = np.empty((40, 300), np.dtype([("cost", "f8"), ("hops", "f8")], align=True))
    x["cost"], x["hops"] = rng.integers(0, 500, x.shape), rng.integers(0, 9, x.shape)
    for op in ("add", "mul"):
        fold, kernel = kernel_of(sr.shortest_hops, op, x.dtype)
        for axis in (0, 1):
            assert np.array_equal(compiled(fold, kernel, x, axis), fold._prefixes_by_numpy(x, axis))


def test_sums_pass_few_roundings() -> None:
    fold, kernel = kernel_of(sr.plus_times, "add", "f8")
    x = np.random.default_rng(3).random(200_000)
    exact = [float(s) for s in accumulate(int(t * 2**53) for t in x.tolist())]  # in units of 2⁻⁵³
    wanted = np.array(exact) / 2**53
    for given, axis in [(x.reshape(1, -1, 1), 1), (np.repeat(x[:, None], 20, 1), 0)]:
        found = compiled(fold, kernel, given, axis).reshape(len(x), -1)[:, 0]
        bound = (prefixes.BLOCK + 2 * math.log2(len(x))) * 2.0**-53
        assert np.all(np.abs(found - wanted) <= bound * wanted)


@pytest.mark.parametrize("shape", [(5, 300, 1), (2, 300, 3), (1, 300, 20), (1, 9000, 1)])
def test_what_is_not_an_element_is_seen_everywhere(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    _, kernel = kernel_of(sr.plus_times, "add", "f8")
    monkeypatch.setattr(prefixes, "LONG", 2000)
    for place in np.random.default_rng(4).permutation(math.prod(shape))[:40].tolist():
        x = np.full(shape, 0.5)
        assert kernel.prefixes(x, np.cumsum) is not None
        for bad in (np.nan, np.inf):
            x.flat[place] = bad
            assert kernel.prefixes(x, np.cumsum) is None


def test_by_the_methods_of_an_algebra(machine_code: None) -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(0, 1000, (70, 90)).astype("i4")
    assert sr.plan("cumsum", x, sr.min_plus, 0).method == "compiled lines or rows"
    for given in (x, np.asfortranarray(x), x[::-1, ::2], x.astype(">i4"), np.broadcast_to(x[:1], x.shape)):
        for axis in (0, 1, -1, None):
            wanted = np.minimum.accumulate(given if axis is not None else given.reshape(-1), axis=axis or 0)
            found = sr.min_plus.cumsum(given, axis)
            assert np.array_equal(found, wanted) and found.dtype == given.dtype
    y = rng.random((70, 90))
    assert np.allclose(sr.plus_times.cumsum(y, 1), np.cumsum(y, 1), rtol=1e-13)
    y[3, 50] = np.nan
    with pytest.raises(sr.SemiringError, match=r"x\[3, 50\] is NaN"):
        sr.plus_times.cumsum(y, 0)
