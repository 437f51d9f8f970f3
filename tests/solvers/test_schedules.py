"""Every method, algebra and dtype against the oracle, over small matrices of every kind and view."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
import strategies
from bridge import CASES, VIEWS, ours, to_library
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from methods import METHODS

import semiring as sr

quick = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def expected_closure(S: oracle.Algebra, array: np.ndarray) -> list | None:
    """A* by the oracle, or None where it does not exist or does not fit the dtype."""
    A = oracle.from_numpy(S, array)
    if S.selective and oracle.has_improving_cycle(S, A):
        return None
    try:
        return oracle.closure_by_elimination(S, A)
    except (oracle.Undefined, OverflowError):
        return None


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("name", "dtype"), CASES, ids=str)
def test_closure_is_the_oracles(name: str, dtype: str, method: str) -> None:
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    T = ours(S)
    if method == "squaring" and not (T.idempotent and (T.bounded or T.selective)):
        with pytest.raises(sr.LawError, match=r"idempotent|bounded"):
            sr.closure(T.eye(2, dtype), T, method=method)
        return

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        array = data.draw(strategies.matrices(S, dtype))
        tile = data.draw(st.sampled_from([None, 1, 2, 3, 64]))
        expected = expected_closure(S, array)
        assume(expected is not None and oracle.fits(S, expected, array.dtype))
        make_view = data.draw(st.sampled_from(VIEWS))

        def run(A: np.ndarray) -> np.ndarray:
            return sr.closure(make_view(to_library(S, A)), T, method=method, tile=tile)

        text = f"sr.closure(A, sr.{S.name}, method={method!r}, tile={tile})"
        oracle.check(S, oracle.closure_call(S, array, run, text))

    check()
