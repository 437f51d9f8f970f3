"""Convolutions of arrays on a GPU: those of the host, of every algebra, dtype, shape and mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu.sums import TRIANGULAR
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr

cupy = pytest.importorskip("cupy")
MODES = ["full", "same", "valid"]
DEEPEST = 709  # how far below the greatest sum an entry may be that is computed by powers
CASES: list[tuple[sr.Semiring, str | None]] = [
    *((sr.min_plus, d) for d in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u4")), (sr.max_min, "f4"),
    (sr.max_min, "f8"), (sr.max_min, "i4"), (sr.plus_times, "f4"), (sr.plus_times, "f8"), (sr.counting, "i8"),
    (sr.log, "f4"), (sr.log, "f8"), (sr.viterbi, "f4"), (sr.viterbi, "f8"), (sr.boolean, "?"), (TRIANGULAR, None),
]


def elements(S: sr.Semiring, dtype: str | None, shape: tuple[int, ...], seed: int, zeros: float = 0.2) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if dtype is None:
        found = np.empty(shape, S.dtypes[0])
        for field in found.dtype.names or ():
            found[field] = rng.integers(0, 9, shape)
    elif S is sr.viterbi:
        found = rng.choice([1, 0.5, 0.25], shape).astype(dtype)
    elif S is sr.log:
        found = rng.normal(size=shape, scale=4).astype(dtype)
    else:
        found = rng.integers(0, 2 if dtype == "?" else 3, shape).astype(dtype)
    found[rng.random(shape) < zeros] = S.zero_in(found.dtype)
    return found


def check(S: sr.Semiring, a: np.ndarray, b: np.ndarray, mode: str, axes: Any = None) -> None:
    wanted = sr.convolve(a, b, S, mode=mode, axes=axes)
    found = sr.convolve(cupy.asarray(a), cupy.asarray(b), S, mode=mode, axes=axes)
    assert isinstance(found, cupy.ndarray) and found.dtype == wanted.dtype and found.shape == wanted.shape
    if S is sr.log:
        there = [(x > -np.inf).astype("f8") for x in (a, b)]
        terms = np.rint(sr.convolve(*there, sr.plus_times, mode=mode, axes=axes))
        exact = sr.convolve(a.astype("f8"), b.astype("f8"), S, mode=mode, axes=axes)
        within(found.get(), exact, terms, terms)
    else:
        np.testing.assert_array_equal(found.get(), wanted)


def within(found: np.ndarray, exact: np.ndarray, terms: np.ndarray, steps: np.ndarray) -> None:
    """Compare sums of `terms` powers with those of the host in double precision, by the bounds of both.

    Terms are added one after the other, and a sum of k of them differs by at most ε k (4 + |c| / 2): that is the bound
    in the reference, Rounding. A term far below the sum adds no more than itself. So `steps` of them count, one for all
    others, and one for the roundings of the terms themselves.
    """
    assert np.array_equal(found == -np.inf, exact == -np.inf)
    at = exact > -np.inf
    k, c, eps = terms[at], np.abs(exact[at]), np.finfo(found.dtype).eps
    here = eps * (np.minimum(steps[at] + 2, k) * (4 + c / 2) + 4)
    there = np.finfo("f8").eps * (k + 16 + 4 * DEEPEST + c)
    assert (np.abs(found[at] - exact[at]) <= here + there).all()


@pytest.mark.parametrize(("S", "dtype"), CASES, ids=lambda x: getattr(x, "name", x))
def test_every_algebra_and_dtype(S: sr.Semiring, dtype: str | None) -> None:
    for left, right in (((1,), (1,)), ((300,), (40,)), ((40,), (300,)), ((20, 70), (3, 5)), ((3, 4, 5), (4, 2, 9))):
        for mode, zeros in zip(MODES, (0.2, 0, 1), strict=True):
            check(S, elements(S, dtype, left, 1, zeros), elements(S, dtype, right, 2, zeros), mode)


@settings(max_examples=100, deadline=None)
@given(case=st.sampled_from(CASES), left=st.lists(st.integers(1, 40), min_size=1, max_size=3), data=st.data(),
       mode=st.sampled_from(MODES))
def test_random_shapes(case: tuple[sr.Semiring, str | None], left: list[int], data: st.DataObject, mode: str) -> None:
    right = data.draw(st.lists(st.integers(1, 40), min_size=len(left), max_size=len(left)))
    axes = data.draw(st.sampled_from([None, -1] if left[:-1] == right[:-1] else [None]))
    check(case[0], elements(*case, tuple(left), 1), elements(*case, tuple(right), 2), mode, axes)


@pytest.mark.parametrize("S", [sr.min_plus, sr.plus_times], ids=lambda S: S.name)
def test_long_sequences_in_parts(S: sr.Semiring) -> None:
    rng = np.random.default_rng(0)
    for m, n in ((30_000, 20_000), (100_000, 100), (10_000, 10_000)):
        a, b = (rng.integers(0, 99, k).astype("f4" if S is sr.min_plus else "f8") for k in (m, n))
        for mode in MODES:
            check(S, a, b, mode)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("scale", [3.0, 4000.0])
def test_logarithms_by_powers(dtype: str, scale: float) -> None:
    """Of a curve, whose convolution falls below what powers hold, and of noise; zeros are absent."""
    rng, x = np.random.default_rng(0), np.linspace(-1, 1, 12_000)
    for a, b in ((-scale * x**2, -scale * np.abs(x[:9000])), (scale * rng.normal(size=20_000), rng.normal(size=7000)),
                 (rng.normal(size=(300, 100)), scale * rng.normal(size=(70, 80)))):
        a, b = a.astype(dtype), b.astype(dtype)
        a.reshape(-1)[rng.random(a.size) < 0.1], b.reshape(-1)[5] = -np.inf, -np.inf
        plan = sr.plan("convolve", cupy.asarray(a), cupy.asarray(b), sr.log)
        assert plan.method == "powers"
        exact, found = sr.convolve(a.astype("f8"), b.astype("f8"), sr.log), plan.run().get()
        terms = np.rint(sr.convolve((a > -np.inf).astype("f8"), (b > -np.inf).astype("f8"), sr.plus_times))
        by_powers = exact > a.max().astype("f8") + b.max() - 600
        within(found, exact, terms, np.where(by_powers, 0, steps(a, b, exact)))


def steps(a: np.ndarray, b: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """How many terms of each entry are at least a k-th of half a rounding of it; the others are one together."""
    found, eps = np.zeros(exact.shape, int), np.finfo(a.dtype).eps
    c = np.where(exact > -np.inf, exact, 0)
    least = np.log(eps * (1 + np.abs(c)) / 2 / min(a.size, b.size)) + c
    for at, y in np.ndenumerate(b):
        part = tuple(slice(i, i + n) for i, n in zip(at, a.shape, strict=True))
        found[part] += a.astype("f8") + y >= least[part]
    return found


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("offset", [500, -20_000])
def test_logarithms_far_from_zero(dtype: str, offset: float) -> None:
    for left, right in (((300,), (40,)), ((9, 9, 9), (8, 8, 8))):
        check(sr.log, *((x * 0.001 + offset).astype(dtype) for x in (
            elements(sr.log, dtype, left, 1), elements(sr.log, dtype, right, 2))), "full")


def test_stacks_strides_and_axes() -> None:
    a, b = elements(sr.min_plus, "f4", (5, 30, 7), 1), elements(sr.min_plus, "f4", (5, 4, 3), 2)
    check(sr.min_plus, a, b, "full", axes=(1, 2))
    check(sr.min_plus, a[:, :, ::2], b[::-1], "same", axes=(1, -1))
    check(sr.min_plus, a, b[:1, :, :1], "full", axes=1)
    check(sr.min_plus, a.transpose(2, 1, 0), b[0, :, 0][:, None], "valid", axes=1)
    check(sr.min_plus, a[:0], b[:0], "full", axes=(1, 2))


def test_an_operand_of_the_host_moves_to_the_gpu() -> None:
    a, b = elements(sr.min_plus, "f4", (30,), 1), elements(sr.min_plus, "f4", (9,), 2)
    for x, y in ((cupy.asarray(a), b), (a, cupy.asarray(b))):
        found = sr.convolve(x, y, sr.min_plus)
        assert isinstance(found, cupy.ndarray) and (found.get() == sr.convolve(a, b, sr.min_plus)).all()


def test_what_is_refused() -> None:
    a = cupy.asarray(np.array([1, 120], "i1"))
    with pytest.raises(sr.SemiringError, match="int8"):
        sr.convolve(a, a, sr.min_plus)
    x = cupy.asarray(np.array([1.0, np.nan]))
    with pytest.raises(sr.SemiringError, match=r"b\[1\] is NaN"):
        sr.convolve(cupy.ones(3), x, sr.min_plus)
    with pytest.raises(sr.SemiringError, match="is float32 and"):
        sr.convolve(cupy.ones(3, "f4"), cupy.ones(3), sr.min_plus)


def test_the_plan_names_the_gpu() -> None:
    plan = sr.plan("convolve", cupy.ones(9), cupy.ones(4), sr.min_plus)
    assert plan.method == "neighbours in registers" and plan.device == cupy.cuda.runtime.getDeviceProperties(0)[
        "name"].decode()
    assert (plan.run().get() == sr.convolve(np.ones(9), np.ones(4), sr.min_plus)).all()
