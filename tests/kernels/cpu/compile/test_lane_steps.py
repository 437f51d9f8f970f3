"""Chains over log-sum-exp by powers, which underflow, and by NumPy, against rows in extended precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engines import by_both

import semiring as sr

inf = np.inf


def model(n: int, rows: int, seed: int, dtype: Any = "f8", rare: float = 0.0) -> tuple[np.ndarray, ...]:
    """Logarithms of a hidden Markov model, with some steps that are impossible."""
    rng = np.random.default_rng(seed)
    A, start = rng.dirichlet(np.ones(n), n), rng.dirichlet(np.ones(n))
    A[rng.random((n, n)) < rare] = 0
    with np.errstate(divide="ignore"):
        return np.log(start).astype(dtype), np.log(A).astype(dtype), (-8 * rng.random((rows, n))).astype(dtype)


def by_logaddexp(x: np.ndarray, A: np.ndarray, e: np.ndarray, reverse: bool) -> np.ndarray:
    """The rows in extended precision."""
    x, A, e = (each.astype("g") for each in (x, A, e))
    rows, state = [], x
    with np.errstate(invalid="ignore"):
        for t in range(len(e)):
            at = len(e) - 1 - t if reverse else t
            if t:
                state = np.logaddexp.reduce((A if reverse else A.T) + state, axis=1)
            rows.append(state if reverse else state + e[at])
            state = state + e[at]
    return np.array(rows[::-1] if reverse else rows)


@pytest.mark.parametrize(("dtype", "compiles"), by_both([["f8"], ["f4"]], 0))
@pytest.mark.parametrize("n", [1, 3, 16, 37])
def test_hidden_markov_models(n: int, dtype: str, compiles: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Powers that are lost to underflow are noticed; impossible steps stay impossible; posteriors add up to one."""
    monkeypatch.setenv("SEMIRING_COMPILE", compiles)
    x, A, e = model(n, 60, n, dtype, rare=0.4 if n > 3 else 0.0)
    e[7], e[20, 0], e[21:25, -1], e[40, ::2] = -3000, -inf, -800, -90
    eps = float(np.finfo(dtype).eps)
    rows = {}
    for reverse in (False, True):
        end = np.zeros(n, dtype) if reverse else x
        found, want = sr.forward(end, A, sr.log, emissions=e, reverse=reverse), by_logaddexp(end, A, e, reverse)
        there = want > -inf
        assert np.array_equal(there, found > -inf)
        assert (np.abs(found[there] - want[there]) <= 8 * (n + 30) * eps * (60 + np.abs(want[there]))).all()
        rows[reverse] = found.astype("f8")
    joint = rows[False] + rows[True]
    totals = np.logaddexp.reduce(joint, axis=1)
    if totals[0] > -inf:
        np.testing.assert_allclose(totals, totals[0], rtol=3e3 * eps)
        np.testing.assert_allclose(np.exp(joint - totals[:, None]).sum(1), 1, rtol=1e-11)


@pytest.mark.parametrize(("form", "compiles"), by_both([["negated"], ["binary"]]))
def test_other_forms_of_log_sums(form: str, compiles: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", compiles)
    x, A, e = model(5, 20, 3, rare=0.3)
    want = by_logaddexp(x, A, e, False)
    if form == "negated":
        S = sr.Semiring("cost", add=lambda a, b: -np.logaddexp(-a, -b), mul=np.add, zero=inf, one=0)
        found = -sr.forward(-x, -A, S, emissions=-e)
    else:
        S = sr.Semiring("bits", add=np.logaddexp2, mul=np.add, zero=-inf, one=0)
        unit = np.log(2)
        found = sr.forward(x / unit, A / unit, S, emissions=e / unit) * unit
    np.testing.assert_allclose(found, want.astype("f8"), rtol=1e-12)


@pytest.mark.parametrize("compiles", ["never", pytest.param("always", marks=pytest.mark.slow)])
def test_infinite_and_huge_logarithms_go_the_general_way(compiles: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", compiles)
    x, A, e = model(4, 9, 1)
    e[3, 2] = inf
    found = sr.forward(x, A, sr.log, emissions=e)
    assert found[3, 2] == inf and (found[4:] == inf).all() and np.isfinite(found[:3]).all()
    e[3, 2] = 1.7e308
    with np.errstate(over="ignore"):
        assert (sr.forward(x, A, sr.log, emissions=e)[4:] >= 1.7e308).all()
    e[3, 2] = np.nan
    with pytest.raises(sr.SemiringError, match=r"emissions\[3, 2\] is NaN"):
        sr.forward(x, A, sr.log, emissions=e)
