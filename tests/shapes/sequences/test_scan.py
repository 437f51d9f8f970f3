"""Scans are the products from the left, or from the right, whatever is cut into chunks."""

from __future__ import annotations

from typing import Any

import bases
import families
import numpy as np
import oracle
import pytest
import strategies
from bridge import ours, to_library
from engines import slow_but
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import semiring as sr

inf = np.inf
quick = settings(max_examples=5, suppress_health_check=list(HealthCheck))
CASES = [(name, strategies.dtypes(algebra)[0]) for name, algebra in oracle.ALGEBRAS.items()]
GENERATED = (
    "relations on two points", "triangular matrices over plus-times", "min-plus, x + 100", "lukasiewicz, −x",
    "field of 9", "tuples (1, 1, -1) in order, as it is, as it is, as it is, i2 i4 i8",
)


def folded(S: oracle.Algebra, stack: list[Any], reverse: bool, initial: Any) -> list[Any]:
    """The products one after the other, by the oracle."""
    total, found = initial, []
    for A in stack[::-1] if reverse else stack:
        pair = (A, total) if reverse else (total, A)
        total = A if total is None else oracle.matmul(S, *pair)
        found.append(total)
    return found[::-1] if reverse else found


@pytest.mark.parametrize(("name", "dtype"), CASES, ids=str)
def test_scans_are_folds(name: str, dtype: np.dtype) -> None:
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    T = ours(S)

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        steps, n = data.draw(st.integers(0, 4)), data.draw(st.integers(1, 3))
        reverse, m = data.draw(st.booleans()), data.draw(st.sampled_from([None, 1, 2]))
        some = [data.draw(strategies.matrices(S, dtype, (n, n))) for _ in range(steps)]
        before = None
        if m is not None:
            before = data.draw(strategies.matrices(S, dtype, (n, m) if reverse else (m, n)))
        expected = folded(S, [oracle.from_numpy(S, A) for A in some], reverse,
                          None if before is None else oracle.from_numpy(S, before))
        assume(all(oracle.fits(S, each, dtype) for each in expected))
        stack = np.stack([to_library(S, A) for A in some]) if some else np.empty((0, n, n), dtype)
        stack.flags.writeable = False
        found = sr.scan(stack, T, reverse=reverse, initial=None if before is None else to_library(S, before))
        assert len(found) == steps
        for t, each in enumerate(expected):
            oracle.assert_same(S, each, found[t], f"t = {t}")

    check()


@pytest.mark.parametrize("name", slow_but([[name] for name in GENERATED], 0, 1))
def test_scans_of_generated_algebras_are_folds(name: str) -> None:
    g = families.families()[name]
    S, rng = g.declare(sr), np.random.default_rng(3)
    dtype = g.record_dtypes[0] if g.record_dtypes else S.default_dtype
    A = g.draw(rng, 4 * 30, 3, dtype).reshape(30, 4, 3, 3)
    want, wanted = g.from_data(A[:, 0]), []
    with np.errstate(all="ignore"):
        for t in range(4):
            want = bases.matmul(g.base, want, g.from_data(A[:, t])) if t else want
            wanted.append(want)
    fits = g.place(wanted[-1], dtype) & g.place(wanted[-2], dtype) & g.place(wanted[1], dtype)
    assert fits.sum() > 3
    found = sr.scan(A[fits], S, axis=1)
    backwards = sr.scan(A[fits], S, axis=1, reverse=True)
    for t in range(4):
        assert not g.differs(wanted[t][fits], found[:, t], g.scale(A[fits, t])).any()
    assert not g.differs(wanted[-1][fits], backwards[:, 0], g.scale(A[fits, 0])).any()


def test_log_sums_are_those_of_products(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", "never")
    A = -np.random.default_rng(1).random((40, 5, 5)) * 9
    A[3, 1] = -inf
    found, total = sr.scan(A, sr.log), A[0]
    for t in range(1, 40):
        terms = total[:, :, None] + A[t][None]
        total = np.logaddexp.reduce(terms, axis=1)
        np.testing.assert_allclose(found[t], total, rtol=1e-12)


def test_products_only_are_taken_from_one_end() -> None:
    """⊗ need not distribute, and then the order matters."""
    A = np.random.default_rng(0).integers(0, 4, (30, 3, 3)).astype("f8")
    total, found = A[0], sr.scan(A, sr.plus_min)
    for t in range(1, 30):
        total = np.minimum(total[:, :, None], A[t][None]).sum(1)
        assert np.array_equal(found[t], total)


def test_axes_views_byte_orders_and_empty_ones() -> None:
    A = np.random.default_rng(0).integers(0, 9, (5, 2, 3, 3)).astype("i4")
    want = sr.scan(A, sr.min_plus)
    assert np.array_equal(sr.scan(np.moveaxis(A, 0, 1), sr.min_plus, axis=1), np.moveaxis(want, 0, 1))
    assert np.array_equal(sr.scan(np.moveaxis(A, 0, 1), sr.min_plus, axis=-3), np.moveaxis(want, 0, 1))
    swapped = sr.scan(A.astype(">i4"), sr.min_plus)
    assert swapped.dtype == np.dtype(">i4") and np.array_equal(swapped, want)
    turned = sr.scan(np.asfortranarray(A)[::-1], sr.min_plus)
    assert np.array_equal(turned, sr.scan(A[::-1].copy(), sr.min_plus))
    for shape in ((0, 3, 3), (4, 0, 0), (4, 0, 3, 3)):
        assert sr.scan(np.zeros(shape), sr.min_plus).shape == shape
    assert sr.scan(np.zeros((0, 3, 3)), sr.min_plus, initial=np.zeros((2, 3))).shape == (0, 2, 3)
    assert np.array_equal(sr.scan(A[:, 0].tolist(), sr.min_plus), want[:, 0])


def test_integers_that_leave_their_dtype_are_infinite_or_refused() -> None:
    A = np.full((5, 1, 1), 50, "i1")
    with pytest.raises(sr.SemiringError, match="int8"):
        sr.scan(A, sr.min_plus)
    assert sr.scan(A.astype("i4"), sr.min_plus)[-1, 0, 0] == 250


def test_the_plan_says_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", "always")
    plan = sr.plan("scan", np.zeros((7, 4, 4)), sr.min_plus)
    assert (plan.operation, plan.method, plan.shape, plan.work) == ("scan", "rows as vectors", (7, 4, 4), 7.0 * 64)
    assert plan.memory == 7 * 16 * 8
    assert sr.plan("scan", np.zeros((7, 99, 99)), sr.min_plus, reverse=True).method == "one product after the other"
    assert np.array_equal(plan.run(), np.zeros((7, 4, 4)))


@pytest.mark.parametrize(("call", "text"), [
    (lambda: sr.scan(np.zeros((3, 3)), sr.min_plus), r"stack must hold square matrices, with shape \(T, …, n, n\)"),
    (lambda: sr.scan(np.zeros((4, 3, 2)), sr.min_plus), r"and has shape \(4, 3, 2\)"),
    (lambda: sr.scan(np.zeros((4, 3, 3)), sr.min_plus, axis=1), "axis 1 of a stack of shape .* one of the first 1"),
    (lambda: sr.scan(np.zeros((4, 3, 3)), sr.min_plus, axis=0.5), "axis must be a whole number, and is 0.5"),
    (lambda: sr.scan(np.zeros((4, 3, 3)), sr.min_plus, initial=np.zeros((3, 2))), r"shape \(m, 3\) .*has shape \(3, "),
    (lambda: sr.scan(np.zeros((4, 3, 3)), sr.min_plus, initial=np.zeros((3, 3), "f4")), "stack is float64 and initial"),
    (lambda: sr.scan(np.zeros((4, 3, 3)), sr.min_plus, initial=np.zeros((2, 3, 3))), "initial has leading axes"),
    (lambda: sr.scan([[[np.nan]]], sr.min_plus), r"stack\[0, 0, 0\] is NaN"),
    (lambda: sr.scan(np.zeros((4, 3, 3))), "scan of ndarray needs an algebra"),
])
def test_what_does_not_fit_is_refused(call: Any, text: str) -> None:
    with pytest.raises(sr.SemiringError, match=text):
        call()
