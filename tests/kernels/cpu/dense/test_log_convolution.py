"""Convolutions over log-sum-exp: within the bound of products in extended precision, whatever the range of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cpu.compile.price import always
from semiring.kernels.cpu.dense import log_convolution
from semiring.kernels.cpu.dense.convolution import Windows
from semiring.kernels.cpu.dense.log_convolution import LOOPS, LogConvolution
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general

inf = np.inf
WIDE = np.longdouble
BINARY = sr.Semiring("binary", add=np.logaddexp2, mul=np.add, zero=-inf, one=0)
SOFTMIN = sr.Semiring("softmin", add=lambda x, y: -np.logaddexp(-x, -y), mul=np.add, zero=inf, one=0)
KINDS = ["narrow", "wide", "far", "slopes", "gaps", "few", "infinite", "nothing", "largest"]


def sequence(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers of one kind, for a ⊕ that is a sum of powers."""
    x = rng.normal(size=n)
    return {
        "narrow": lambda: x, "wide": lambda: 300 * x, "far": lambda: 1e4 * x, "slopes": lambda: rng.normal() * 9 *
        np.arange(n) + x, "gaps": lambda: np.where(rng.random(n) < 0.5, -inf, x), "few": lambda: np.where(
            rng.random(n) < 0.98, -inf, 1e3 * x), "infinite": lambda: np.where(rng.random(n) < 0.02, inf, np.where(
                rng.random(n) < 0.4, -inf, x)), "nothing": lambda: np.full(n, -inf),
        "largest": lambda: np.where(rng.random(n) < 0.1, 1.7e308, x),
    }[kind]()


def defined(a: np.ndarray, b: np.ndarray, binary: bool) -> np.ndarray:
    """The definition in extended precision: all terms of an entry, their largest, and the sum of powers of the rest."""
    exp, log = (np.exp2, np.log2) if binary else (np.exp, np.log)
    a, b = a.astype(WIDE), b.astype(WIDE)
    terms = np.full((len(b), len(a) + len(b) - 1), -inf, WIDE)
    with np.errstate(invalid="ignore", divide="ignore"):
        for t, y in enumerate(b):
            terms[t, t : t + len(a)] = np.where((a == -inf) | (y == -inf), -inf, a + y)
        m = terms.max(0)
        return np.where(np.isinf(m), m, m + log(exp(terms - m).sum(0)))


def check(low: Lowering, a: np.ndarray, b: np.ndarray, found: np.ndarray) -> None:
    """Within the bound for powers in double precision, and the rounding into the dtype of c."""
    form: Any = low.log_sum
    wanted = defined(a, b, form.binary)
    with np.errstate(over="ignore"):
        infinite = np.isinf(wanted.astype(low.storage))
        assert np.array_equal(found[infinite], wanted[infinite].astype(low.storage))
    wanted, found = wanted[~infinite], found[~infinite].astype(WIDE)
    above = sum(x[np.isfinite(x)].max(initial=-inf) for x in (a.astype(WIDE), b.astype(WIDE)))
    unit = np.log(2) if form.binary else 1.0
    gap = (above - wanted) * unit
    below = np.where(gap > 680, 0, 4 * gap)  # beyond that entries are computed by their terms
    bound = np.finfo("f8").eps * (min(len(a), len(b)) + 16 + below + np.abs(wanted) * unit) / unit
    bound += np.finfo(low.storage).eps * np.abs(wanted) if low.storage != np.float64 else 0
    assert (np.abs(found - wanted) <= bound).all()


@pytest.fixture(params=["compiled", "NumPy"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param == "NumPy":
        monkeypatch.setenv("SEMIRING_COMPILE", "never")
        monkeypatch.setattr(LOOPS, "bought", False)
    with always() if request.param == "compiled" else nullcontext():
        yield request.param


@pytest.mark.parametrize(("S", "dtype"), [(sr.log, "f8"), (sr.log, "f4"), (BINARY, "f8"), (SOFTMIN, "f8"),
                                          (SOFTMIN, "f4")], ids=str)
def test_entries_are_within_the_bound_of_products(S: sr.Semiring, dtype: str, engine: str) -> None:
    low = general(S, np.dtype(dtype))
    assert low.log_sum is not None
    sign = -1 if low.log_sum.negated else 1

    @settings(max_examples=60, deadline=None)
    @given(st.integers(1, 150), st.integers(1, 150), st.sampled_from(KINDS), st.sampled_from(KINDS),
           st.integers(0, 1 << 32), st.sampled_from(["full", "same", "valid"]))
    def run(m: int, n: int, first: str, second: str, seed: int, mode: str) -> None:
        rng = np.random.default_rng(seed)
        with np.errstate(over="ignore"):
            a, b = sequence(first, m, rng).astype(dtype), sequence(second, n, rng).astype(dtype)
        begin, count = {"full": (0, m + n - 1), "same": ((min(m, n) - 1) // 2, max(m, n)),
                        "valid": (min(m, n) - 1, abs(m - n) + 1)}[mode]
        found = sign * LogConvolution(low, Windows((), (m,), (n,), (begin,), (count,)), sign * a, sign * b).run()
        whole = sign * LogConvolution(low, Windows((), (m,), (n,), (0,), (m + n - 1,)), sign * a, sign * b).run()
        assert found.dtype == low.storage
        np.testing.assert_allclose(found, whole[begin : begin + count], rtol=1e-12, atol=1e-12)
        check(low, a, b, whole)

    run()


@pytest.mark.parametrize("kind", ["narrow", "far", "infinite"])
def test_stacks_and_several_axes(kind: str, engine: str) -> None:
    rng, low = np.random.default_rng(5), general(sr.log, np.dtype("f8"))
    a, b = (sequence(kind, 2 * 3 * 70, rng).reshape(2, 3, 70), sequence(kind, 2 * 50, rng).reshape(1, 2, 50))
    found = LogConvolution(low, Windows((2,), (3, 70), (2, 50), (0, 0), (4, 119)), a, b).run()
    for s in range(2):
        for r in range(4):
            lines = [defined(a[s, r - j], b[0, j], False) for j in range(2) if 0 <= r - j < 3]
            wanted = lines[0] if len(lines) == 1 else np.logaddexp(*lines)
            np.testing.assert_allclose(found[s, r], wanted.astype(float), rtol=1e-13, atol=1e-13)


def test_results_do_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, low = np.random.default_rng(5), general(sr.log, np.dtype("f8"))
    a, b = 500 * rng.normal(size=3000), rng.normal(size=2500)
    windows = Windows((), (3000,), (2500,), (0,), (5499,))
    with always():
        one = LogConvolution(low, windows, a, b).run()
        monkeypatch.setattr(log_convolution, "share", lambda f, pieces, _: [f(*piece) for piece in reversed(pieces)])
        monkeypatch.setattr(log_convolution, "thread_count", lambda: 7)
        assert one.tobytes() == LogConvolution(low, windows, a, b).run().tobytes()


def test_numpy_rents_until_compiling_repays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", "auto")
    monkeypatch.setattr(LOOPS, "bought", False)
    monkeypatch.setattr(LOOPS, "_price", lambda: 1e3)
    before, a = LOOPS.spent, np.arange(300) * 50.0
    low = general(sr.log, np.dtype("f8"))
    c = LogConvolution(low, Windows((), (300,), (300,), (0,), (599,)), a, a).run()
    assert LOOPS.spent > before and not LOOPS.bought
    check(low, a, a, c)
