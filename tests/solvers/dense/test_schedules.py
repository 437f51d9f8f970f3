"""Every method, algebra and dtype against the oracle, over small matrices of every kind and view."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import oracle
import pytest
import strategies
from bridge import CASES, VIEWS, ours, to_library
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from methods import METHODS

import semiring as sr
from semiring.solvers.dense.schedules import close_each

quick = settings(max_examples=25, suppress_health_check=list(HealthCheck))


def expected_closure(S: oracle.Algebra, array: np.ndarray) -> list | None:
    """A* by the oracle, or None where it does not exist or does not fit the dtype."""
    A = oracle.from_numpy(S, array)
    if S.selective and oracle.has_improving_cycle(S, A):
        return None
    try:
        return oracle.closure_by_elimination(S, A)
    except (oracle.Undefined, OverflowError):
        return None


# Every algebra and dtype by one method, and every method with some of them; the others are slow.
PAIRS = [
    pytest.param(*case, method, marks=() if (i + j) % len(METHODS) == 0 else pytest.mark.slow)
    for i, case in enumerate(CASES) for j, method in enumerate(METHODS)
]


@pytest.mark.parametrize(("name", "dtype", "method"), PAIRS)
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


@pytest.mark.parametrize(("on_gpu", "n", "calls"), [
    (False, 128, ["stack"]), (False, 129, ["one"] * 3), (True, 1024, ["stack"]), (True, 1025, ["one"] * 3),
])
def test_which_stacks_are_closed_together(on_gpu: bool, n: int, calls: list[str]) -> None:
    """Small ones, and on a GPU all that its engine closes as one block each."""
    seen: list[str] = []

    def close(D: np.ndarray) -> int:
        seen.append("one")
        return -1

    def close_stack(D: np.ndarray) -> np.ndarray:
        seen.append("stack")
        return np.full(len(D), -1)

    engine: Any = SimpleNamespace(tile=1024, close=close, close_stack=close_stack)
    plan: Any = SimpleNamespace(method="floyd-warshall", tile=n, lowering=SimpleNamespace(on_gpu=on_gpu))
    close_each(np.empty((3, n, n), bool), engine, plan)
    assert seen == calls
