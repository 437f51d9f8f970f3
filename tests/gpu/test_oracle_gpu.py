"""Products and closures on the device against the oracle: every algebra and dtype, small matrices of every kind."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
import strategies
from gpu import device
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from methods import SCHEDULES

import semiring as sr

LIBRARY = {
    "mod_p(7)": sr.mod_p(7),
    "saturating_min_plus(100)": sr.saturating_min_plus(100),
    "k_best(3)": sr.k_best(3),
}
CASES = [
    (name, dtype) for name, S in oracle.ALGEBRAS.items() if not S.objects for dtype in strategies.dtypes(S)
]
METHODS = tuple(SCHEDULES)
quick = settings(max_examples=20, suppress_health_check=list(HealthCheck))


def ours(S: oracle.Algebra) -> sr.Semiring:
    """The library's algebra for an oracle's."""
    return LIBRARY[S.name] if S.name in LIBRARY else sr.catalogue[S.base]


def cannot(error: sr.SemiringError) -> bool:
    """Whether the GPU rightly refuses: what only Python's integers hold is the CPU's."""
    return "CPU" in str(error) or "'cpu'" in str(error)


@pytest.mark.parametrize(("name", "dtype"), CASES, ids=str)
def test_product_is_the_oracles(name: str, dtype: np.dtype) -> None:
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    T = ours(S)

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        m, k, n = (data.draw(st.integers(0, 9)) for _ in range(3))
        A = data.draw(strategies.matrices(S, dtype, (m, k), safe=False))
        B = data.draw(strategies.matrices(S, dtype, (k, n), safe=False))
        expected = oracle.matmul(S, oracle.from_numpy(S, A), oracle.from_numpy(S, B), n)
        assume(oracle.fits(S, expected, A.dtype))
        fast = data.draw(st.booleans())
        try:
            got = device.product(T, A, B, fast=fast)
        except sr.SemiringError as e:
            assert cannot(e)
            assume(False)
        call = oracle.matmul_call(S, A, B, lambda A, B: device.product(T, A, B, fast=fast))
        oracle.assert_same(S, expected, got, call)

    check()


@pytest.mark.parametrize(("name", "dtype"), CASES, ids=str)
def test_closure_is_the_oracles(name: str, dtype: np.dtype) -> None:
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    T = ours(S)

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        A = data.draw(strategies.matrices(S, dtype))
        rows = oracle.from_numpy(S, A)
        if S.selective and oracle.has_improving_cycle(S, rows):
            assume(False)
        try:
            expected = oracle.closure_by_elimination(S, rows)
        except (oracle.Undefined, OverflowError):
            assume(False)
        assume(oracle.fits(S, expected, A.dtype))
        method = data.draw(st.sampled_from(METHODS if T.idempotent else [m for m in METHODS if m != "squaring"]))
        tile, fast = data.draw(st.sampled_from([1, 2, 3, 64])), data.draw(st.booleans())
        try:
            got = device.closure(T, A, method, tile, fast)
        except sr.SemiringError as e:
            assert cannot(e)
            assume(False)
        call = oracle.closure_call(S, A, lambda A: device.closure(T, A, method, tile, fast), f"{method}, tile {tile}")
        oracle.assert_same(S, expected, got, call)

    check()
