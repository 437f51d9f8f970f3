"""Log-sum-exp on the GPU: its kernels run on the host, and NumPy plays the vendor's product."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from weakref import ref

import numpy as np
import pytest
from gpu.compiled import Report, host_of, is_available
from gpu.host import Host
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.kernels.cuda.dense import logsum
from semiring.kernels.lowering.logsum import LogSum
from semiring.kernels.numpy.logsum import HOST, LogSumProduct

FORMS = [LogSum(), LogSum(True), LogSum(False, True), LogSum(True, True)]
pytestmark = pytest.mark.skipif(not is_available(), reason="there is no compiler for the host")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("powers")


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Host:
    return stand_in(monkeypatch, folder)


def stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Host:
    """A host that runs the kernels; maxima of columns are found in parts."""
    host = host_of(monkeypatch, folder, logsum)
    monkeypatch.setattr(logsum, "LEAST_TERMS", 0)
    monkeypatch.setattr(logsum, "LEAST_ROWS", 3)
    monkeypatch.setattr(logsum, "report", lambda: Report(host))
    monkeypatch.setattr(logsum, "_made", {})
    return host


def exact(form: LogSum, C: np.ndarray, A: np.ndarray, B: np.ndarray, accumulate: bool) -> np.ndarray:
    """The sum of the terms, in long double."""
    sign, add = (-1 if form.negated else 1), (np.logaddexp2 if form.binary else np.logaddexp)
    A, B, C = (np.asarray(X).astype(np.longdouble) * sign for X in (A, B, C))
    with np.errstate(invalid="ignore"):
        terms = A[..., None] + B[:, None]
        terms[np.isneginf(A)[..., None] | np.isneginf(B)[:, None]] = -np.inf  # also beside +∞
        found = add.reduce(terms, axis=2)
        return sign * (add(found, C) if accumulate else found)


def laid_out(host: Host, X: np.ndarray, layout: str) -> Any:
    if layout == "columns":
        return host.array(np.ascontiguousarray(X.swapaxes(1, 2))).swapaxes(1, 2)
    if layout == "gaps":
        wide = host.array(np.zeros((len(X), X.shape[1] + 1, 2 * X.shape[2] + 3), X.dtype))
        wide[:, 1:, 3::2] = X
        return wide[:, 1:, 3::2]
    if layout == "wide":
        wide = host.array(np.zeros((len(X), X.shape[1] + 1, X.shape[2] + 3), X.dtype))
        wide[:, 1:, 3:] = X
        return wide[:, 1:, 3:]
    return host.array(X)


def numbers(form: LogSum, shape: tuple[int, ...], dtype: str, apart: float, zeros: float, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    X = random.normal(size=shape, scale=apart).astype(dtype)
    X[random.random(shape) < zeros] = np.inf if form.negated else -np.inf
    return X


LAYOUTS = st.sampled_from(["rows", "columns", "gaps", "wide"])
SIDES = st.sampled_from([1, 2, 5, 31, 32, 33, 70, 300])


@settings(max_examples=60, deadline=None)
@given(
    form=st.sampled_from(FORMS), dtype=st.sampled_from(["f4", "f8"]), batch=st.sampled_from([1, 3]), m=SIDES,
    k=st.sampled_from([4, 5, 33, 260]), n=SIDES, layouts=st.tuples(LAYOUTS, LAYOUTS, LAYOUTS),
    accumulate=st.booleans(), apart=st.sampled_from([0, 1, 30, 400]), zeros=st.sampled_from([0, 0.3, 1]),
    seed=st.integers(0, 99),
)
def test_products_are_those_of_the_host_and_as_near_as_is_said(
    folder: Path, form: LogSum, dtype: str, batch: int, m: int, k: int, n: int, layouts: tuple[str, str, str],
    accumulate: bool, apart: float, zeros: float, seed: int,
) -> None:
    A, B, C = (numbers(form, (batch, *s), dtype, apart, zeros, seed + i)
               for i, s in enumerate(((m, k), (k, n), (m, n))))
    wanted = exact(form, C, A, B, accumulate)
    asked: list[list[tuple[int, ...]]] = []

    def general(c: Any, a: Any, b: Any, add_to_c: bool) -> None:
        asked[-1].append((*c.shape, a.shape[2]))
        c[...] = exact(form, c, a, b, add_to_c).astype(dtype)

    answers = []
    with pytest.MonkeyPatch.context() as monkeypatch:
        host = stand_in(monkeypatch, folder)
        for product in (logsum.log_sum_product(form), LogSumProduct(form, replace(HOST, least_terms=0))):
            asked.append([])
            c, a, b = (laid_out(host, X, layout) for X, layout in zip((C, A, B), layouts, strict=True))
            product(c, a, b, accumulate, general)
            answers.append(np.array(c).astype(np.longdouble))
    assert asked[0] == asked[1], "the same entries are believed"
    largest = np.abs(np.where(np.isfinite(wanted), wanted, 0)).max() + 2 * 4 * apart
    for answer in answers:
        np.testing.assert_allclose(answer, wanted, rtol=0, atol=np.finfo(dtype).eps * 4 * (k + 16 + largest))


@pytest.mark.parametrize("value", [np.nan, np.inf, 3e38])
def test_rows_and_columns_with_what_powers_do_not_hold_are_left(host: Host, value: float) -> None:
    random = np.random.default_rng(0)
    A, B = (host.array(random.normal(size=s).astype("f4")) for s in ((2, 9, 8), (2, 8, 9)))
    A[0, 3, 4] = B[1, 2, 5] = value
    asked: list[tuple[int, ...]] = []

    def general(c: Any, *_: Any) -> None:
        asked.append(c.shape)
        c[...] = 77

    C = host.empty((2, 9, 9), "f4")
    logsum.log_sum_product(LogSum())(C, A, B, False, general)
    assert asked == [(1, 1, 9), (1, 9, 1)] and (C[0, 3] == 77).all() and (C[1, :, 5] == 77).all()
    C[0, 3] = C[1, :, 5] = 0
    assert (np.array(C) != 77).all() and np.isfinite(C).all()


def test_a_matrix_that_all_share_becomes_powers_once(host: Host) -> None:
    random = np.random.default_rng(1)
    A, B = random.normal(size=(1, 9, 8)), random.normal(size=(3, 8, 7))
    shared, C = np.broadcast_to(host.array(A), (3, 9, 8)), host.empty((3, 9, 7), "f8")
    logsum.log_sum_product(LogSum())(C, shared, host.array(B), False, lambda *_: pytest.fail("asked"))
    np.testing.assert_allclose(C, exact(LogSum(), C, np.broadcast_to(A, (3, 9, 8)), B, False).astype("f8"), rtol=1e-13,
                               atol=1e-14)


def test_copies_of_maxima_stay_until_the_launch(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next copy would get their memory otherwise: those of a matrix that all share are copied for each."""
    copies, launched, made = list[Any](), list[tuple[str, int]](), logsum.functions

    def copied(x: Any) -> Any:
        found = host.array(np.array(x))
        copies.append(ref(found))
        return found

    def functions(*given: Any) -> dict[str, Any]:
        def launch(name: str, *arguments: int) -> None:
            host.finish()  # what was given holds arrays, too
            assert all(copy() is not None for copy in copies), name
            launched.append((name, len(copies)))
            copies.clear()
            made(*given)[name](*arguments)

        return {name: partial(launch, name) for name in made(*given)}

    monkeypatch.setattr(logsum, "in_c_order", copied)
    monkeypatch.setattr(logsum, "functions", functions)
    random = np.random.default_rng(1)
    A, B, C = random.normal(size=(9, 8)), random.normal(size=(3, 8, 7)), host.empty((3, 9, 7), "f8")
    product = logsum.log_sum_product(LogSum())
    product(C, np.broadcast_to(host.array(A), (3, 9, 8), subok=True), host.array(B), False, lambda *_: None)
    assert launched[-2:] == [("look", 4), ("take_logarithms", 2)]


def test_small_products_are_for_the_kernels(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    host_of(monkeypatch, folder, logsum)
    product = logsum.log_sum_product(LogSum())
    assert not product.repays(1, 256, 256, 256) and product.repays(1, 1024, 1024, 1024)
