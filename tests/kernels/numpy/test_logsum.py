"""Products over log-sum-exp by powers, against sums of exponentials in double precision of exact differences."""

from __future__ import annotations

import math
import tracemalloc
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scratch import every_thread_keeps_scratch

import semiring as sr
from semiring.kernels.lowering.logsum import LogSum
from semiring.kernels.numpy.logsum import HOST, Library, LogSumProduct

inf, nan = np.inf, np.nan
NATURAL = LogSum()
FORMS = [LogSum(binary, negated) for binary in (False, True) for negated in (False, True)]
TINY = replace(HOST, side=1 << 20, strip=8, least_depth=1, least_terms=0)  # any size goes by powers


def exact(form: LogSum, terms: list[Fraction]) -> Fraction | None:
    """The ⊕ of finite terms, None where there is none: the error is far below the rounding of a double's 16 digits."""
    if not terms:
        return None
    sign, unit = (-1 if form.negated else 1), (math.log(2) if form.binary else 1.0)
    top = max(sign * t for t in terms)
    return sign * (top + Fraction(math.log(math.fsum(math.exp(float(sign * t - top) * unit) for t in terms)) / unit))


def terms_of(form: LogSum, a: np.ndarray, b: np.ndarray, start: Any = None) -> list[Fraction]:
    zero = inf if form.negated else -inf
    terms = [Fraction(float(x)) + Fraction(float(y)) for x, y in zip(a, b, strict=True) if zero not in (x, y)]
    return terms + ([] if start is None or start == zero else [Fraction(float(start))])


class General:
    """The general way of one form: C is exact to its rounding, and which entries it was asked for is noted."""

    def __init__(self, form: LogSum):
        self.form, self.entries = form, 0

    def __call__(self, C: np.ndarray, A: np.ndarray, B: np.ndarray, accumulate: bool) -> None:
        zero = inf if self.form.negated else -inf
        for s, i, j in np.ndindex(C.shape):
            found = exact(self.form, terms_of(self.form, A[s, i], B[s, :, j], C[s, i, j] if accumulate else None))
            C[s, i, j] = zero if found is None else float(found)
            self.entries += 1


def assert_right(form: LogSum, C: np.ndarray, A: np.ndarray, B: np.ndarray, start: np.ndarray | None) -> None:
    """Every entry within the bound that the module states, for powers in the dtype of the data."""
    sign, unit = (-1 if form.negated else 1), (math.log(2) if form.binary else 1.0)
    eps, k, zero = float(np.finfo(C.dtype).eps), A.shape[1], -sign * inf
    tops = [[max((sign * float(x) for x in line if x != zero), default=0.0) for line in X] for X in (A, B.T)]
    for i, j in np.ndindex(C.shape):
        product = exact(form, terms_of(form, A[i], B[:, j]))
        wanted = exact(form, terms_of(form, A[i], B[:, j], None if start is None else start[i, j]))
        if wanted is None:
            assert C[i, j] == zero
            continue
        assert np.isfinite(C[i, j])
        log_g, rounded = 0.0, abs(float(wanted)) + 2
        if product is not None:
            log_g = abs(float(sign * product - Fraction(tops[0][i]) - Fraction(tops[1][j])))
            rounded += abs(float(product))
        bound = eps * ((k + 16) / unit + 4 * log_g + rounded)
        assert abs(Fraction(float(C[i, j])) - wanted) <= bound, (i, j, C[i, j], float(wanted))


def numbers(scale: float, width: int) -> st.SearchStrategy[float]:
    near, far = st.floats(-scale, scale, width=width), st.floats(-1000, 1000, width=width)
    return st.one_of(near, near, near, far if scale > 1 else near, st.just(-inf))


@st.composite
def problems(draw: st.DrawFn) -> tuple[LogSum, np.ndarray, np.ndarray, np.ndarray | None]:
    """A, B and perhaps C: ranges small, large and mixed, absent entries, rows and columns without any."""
    form, dtype = draw(st.sampled_from(FORMS)), np.dtype(draw(st.sampled_from(["f4", "f8"])))
    m, k, n = draw(st.integers(1, 4)), draw(st.integers(1, 6)), draw(st.integers(1, 4))
    scales = st.sampled_from([0.5, 8.0, 64.0, 512.0, 2.0**20])

    def matrix(rows: int, columns: int) -> np.ndarray:
        line = [draw(st.lists(numbers(draw(scales), 8 * dtype.itemsize), min_size=columns, max_size=columns))
                for _ in range(rows)]
        return np.array(line, dtype).reshape(rows, columns)

    A, B = matrix(m, k), matrix(n, k).T
    C = matrix(m, n) if draw(st.booleans()) else None
    return (form, -A, -B, None if C is None else -C) if form.negated else (form, A, B, C)


def run(form: LogSum, A: np.ndarray, B: np.ndarray, C: np.ndarray | None, by: Library = TINY) -> tuple[np.ndarray, int]:
    result = np.full((1, len(A), B.shape[1]), nan, A.dtype) if C is None else C[None].copy()
    general = General(form)
    LogSumProduct(form, by)(result, A[None], B[None], C is not None, general)
    return result[0], general.entries


@settings(max_examples=400)
@given(problems())
def test_every_entry_is_within_the_bound(problem: tuple[LogSum, np.ndarray, np.ndarray, np.ndarray | None]) -> None:
    form, A, B, C = problem
    found, _ = run(form, A, B, C)
    assert_right(form, found, A, B, C)


@settings(max_examples=100)
@given(problems(), st.integers(1, 3))
def test_products_that_are_cut(
    problem: tuple[LogSum, np.ndarray, np.ndarray, np.ndarray | None], side: int
) -> None:
    """Sums of runs of k, each with maxima of its own: |log G| is that of a run, which the certificate bounds."""
    form, A, B, C = problem
    found, _ = run(form, A, B, C, replace(TINY, side=side, strip=3))
    limits, unit = np.finfo(A.dtype), math.log(2) if form.binary else 1.0
    for i, j in np.ndindex(found.shape):
        wanted = exact(form, terms_of(form, A[i], B[:, j], None if C is None else C[i, j]))
        if wanted is None:
            assert found[i, j] == (inf if form.negated else -inf)
        else:
            size = abs(float(wanted)) + 4 * abs(math.log(limits.tiny)) / unit
            assert abs(Fraction(float(found[i, j])) - wanted) <= float(limits.eps) * 16 * (16 / unit + size)


@settings(max_examples=60)
@given(st.lists(problems(), min_size=1, max_size=3), st.sampled_from(["c", "fortran", "sliced", "reversed"]))
def test_stacks_and_views_are_decided_as_single_matrices(
    several: list[tuple[LogSum, np.ndarray, np.ndarray, np.ndarray | None]], layout: str
) -> None:
    """The same entries go the general way, and all are within the bound."""
    form, dtype = several[0][0], several[0][1].dtype
    zero = inf if form.negated else -inf

    def padded(X: np.ndarray) -> np.ndarray:
        out = np.full((6, 6), zero, dtype)
        out[: X.shape[0], : X.shape[1]] = np.where(np.isfinite(X), X, zero).astype(dtype)
        return out

    def laid(X: np.ndarray) -> np.ndarray:
        if layout == "fortran":
            return X.transpose(2, 1, 0).copy().transpose(2, 1, 0)
        if layout == "sliced":
            return np.repeat(np.repeat(X, 2, axis=1), 3, axis=2)[:, ::2, ::3]
        return X[::-1, ::-1].copy()[::-1, ::-1] if layout == "reversed" else X

    A, B = (np.stack([padded(p[i]) for p in several]) for i in (1, 2))
    C, general = laid(np.zeros((len(A), 6, 6), dtype)), General(form)
    LogSumProduct(form, TINY)(C, laid(A), laid(B), False, general)
    alone = 0
    for c, a, b in zip(C, A, B, strict=True):
        assert_right(form, c, a, b, None)
        alone += run(form, a, b, None)[1]
    assert general.entries == alone


def test_a_repeated_matrix() -> None:
    random = np.random.default_rng(0)
    A, B = random.normal(size=(3, 5, 7)), random.normal(size=(7, 4))
    for left, right in ((A, np.broadcast_to(B, (3, 7, 4))), (np.broadcast_to(A[1], (3, 5, 7)), np.stack([B] * 3))):
        C, general = np.empty((3, 5, 4)), General(NATURAL)
        LogSumProduct(NATURAL, TINY)(C, left, right, False, general)
        assert general.entries == 0
        for c, a, b in zip(C, left, right, strict=True):
            assert_right(NATURAL, c, a, b, None)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("dtype", "far"), [("f4", 400.0), ("f4", 3000.0), ("f8", 3000.0)])
def test_where_all_powers_underflow(form: LogSum, dtype: str, far: float) -> None:
    """The maxima of row and column meet in no term: G is 0, and yet there is a sum."""
    A, B = np.array([[0, -far], [-far, 0.0]], dtype), np.array([[-far, 0.0], [0, -far]], dtype)
    if form.negated:
        A, B = -A, -B
    found, entries = run(form, A, B, None)
    assert_right(form, found, A, B, None)
    assert entries == (0 if far < 1000 else 4), "doubles hold what single precision loses, up to a point"


@pytest.mark.parametrize("form", FORMS)
def test_disjoint_supports_have_no_term(form: LogSum) -> None:
    A, B = np.full((3, 6), -inf), np.full((6, 3), -inf)
    A[:2, :3], B[3:, :2] = np.arange(6).reshape(2, 3), 5
    found, entries = run(form, -A if form.negated else A, -B if form.negated else B, None)
    assert entries == 0
    assert (found == (inf if form.negated else -inf)).all()


@pytest.mark.parametrize("unruly", [inf, nan, 1.5e308, -1.5e308])
def test_what_has_no_power_is_left_with_its_row_or_column(unruly: float) -> None:
    random = np.random.default_rng(1)
    A, B, C = (random.normal(size=shape) for shape in ((9, 5), (5, 9), (9, 9)))
    A[2, 1], B[0, 7] = unruly, unruly
    asked = np.zeros((9, 9), bool)

    def general(c: np.ndarray, a: np.ndarray, b: np.ndarray, accumulate: bool) -> None:
        assert accumulate
        rows = [int(np.flatnonzero((row == A).all(axis=1) | (np.isnan(row).any() & np.isnan(A).any(axis=1)))[0])
                for row in a[0]]
        columns = [int(np.flatnonzero((col == B.T).all(axis=1) | (np.isnan(col).any() & np.isnan(B.T).any(axis=1)))[0])
                   for col in b[0].T]
        assert np.array_equal(c[0], C[np.ix_(rows, columns)]), "C as it was"
        asked[np.ix_(rows, columns)] = True
        c[...] = 77

    found = C[None].copy()
    LogSumProduct(NATURAL, TINY)(found, A[None], B[None], True, general)
    wanted = np.zeros((9, 9), bool)
    wanted[2] = wanted[:, 7] = True
    if unruly == -1.5e308:  # beside greater numbers: it never comes up, and row and column are believed
        wanted[...] = False
    assert np.array_equal(asked, wanted)
    assert (found[0][wanted] == 77).all()
    rest = ~wanted
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.logaddexp(C, np.logaddexp.reduce(A[:, :, None] + B[None], axis=1))
    np.testing.assert_allclose(found[0][rest], total[rest], rtol=1e-12, atol=1e-12)


def test_many_doubtful_rows_take_all_with_them() -> None:
    A, B = np.zeros((8, 5)), np.zeros((5, 8))
    A[:4, 2] = nan
    C, calls = np.empty((1, 8, 8)), []
    LogSumProduct(NATURAL, TINY)(C, A[None], B[None], False, lambda c, a, b, accumulate: calls.append(c.shape))
    assert calls == [(1, 8, 8)]


def test_small_products_stay_as_they_are() -> None:
    by = LogSumProduct(NATURAL, HOST)
    assert not by.repays(1, 16, 16, 16) and not by.repays(1, 1000, 3, 1000)
    assert by.repays(1, 32, 32, 32) and by.repays(100, 8, 16, 8) and by.repays(1, 500, 500, 1)
    C, calls = np.empty((1, 3, 3)), []
    by(C, C, C, True, lambda *given: calls.append(given))
    assert len(calls) == 1 and calls[0][0] is C


def test_shapes_that_do_not_fit() -> None:
    A = np.zeros((1, 3, 4))
    with pytest.raises(ValueError, match=r"shapes \(1, 3, 4\), \(1, 3, 4\) and \(1, 3, 4\) do not fit"):
        LogSumProduct(NATURAL, TINY)(A, A, A, False, General(NATURAL))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_large_products(dtype: str) -> None:
    """Of many strips and pieces, against sums over all terms at once."""
    random = np.random.default_rng(3)
    A, B = (random.normal(size=shape, scale=3).astype(dtype) for shape in ((150, 200), (200, 170)))
    A[random.random(A.shape) < 0.3] = -inf
    wanted = np.logaddexp.reduce(A[:, :, None].astype("f8") + B[None], axis=1)
    for by in (HOST, replace(TINY, side=64, strip=100)):
        C = np.empty((1, 150, 170), dtype)
        LogSumProduct(NATURAL, by)(C, A[None], B[None], False, General(NATURAL))
        np.testing.assert_allclose(C[0], wanted, rtol=1e-5 if dtype == "f4" else 1e-13)


def test_the_bound_would_be_broken_without_the_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LogSumProduct, "_doubtful", lambda *_: None)
    A, B = np.array([[0, -2000.0]]), np.array([[-2000.0], [0]])
    found, _ = run(NATURAL, A, B, None)
    with pytest.raises(AssertionError):
        assert_right(NATURAL, found, A, B, None)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("scale", [1, 30])
@pytest.mark.parametrize("verb", ["matmul", "closure", "factor"])
@pytest.mark.usefixtures("by_numpy")  # to compile takes memory, too
def test_plans_state_the_memory_of_the_powers(verb: str, scale: int, dtype: str) -> None:
    """Of both precisions, where the first is doubted."""
    n = 400
    A = (np.random.default_rng(0).normal(size=(n, n)) * scale - 3 * scale - 8).astype(dtype)
    if verb != "matmul":
        A[np.tril_indices(n)] = -np.inf
    given = (A, A) if verb == "matmul" else (A,)

    def call() -> object:
        return sr.matmul(A, A, sr.log) if verb == "matmul" else getattr(sr, verb)(A, sr.log)

    call()
    every_thread_keeps_scratch()
    tracemalloc.start()
    try:
        call()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= sr.plan(verb, *given, sr.log).memory + (1 << 20), "a MiB for Python"
