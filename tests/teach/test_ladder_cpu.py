"""Each rung on a CPU against the oracle, over every algebra, and what each refuses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import oracle
import pytest
import strategies
from bridge import ours, to_library
from engines import slow_but
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algorithms.blocks import UndefinedStar
from semiring.teach import rung as module
from semiring.teach.ladder_cpu import CPU_RUNGS
from semiring.teach.rung import Rung

quick = settings(max_examples=20, suppress_health_check=list(HealthCheck))
BY_NAME = {rung.name: rung for rung in CPU_RUNGS}
# One dtype of each algebra, and those in which integers saturate, floats are narrow, or storage is another.
CASES = [(name, strategies.dtypes(S)[-1 if S.objects else 0]) for name, S in oracle.ALGEBRAS.items()]
CASES += [("min_plus", np.dtype("int8")), ("min_plus", np.dtype("float64")), ("max_min", np.dtype("uint8"))]


@pytest.mark.parametrize(("name", "dtype"), slow_but(CASES, *range(0, len(CASES), 6)))
def test_every_rung_gives_the_oracles_closure(name: str, dtype: np.dtype) -> None:
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    T = ours(S)
    rungs = [rung for rung in CPU_RUNGS if rung.refuses(T, dtype, 9) is None]
    assert {rung.name for rung in rungs} >= {"floyd", "carre", "venkataraman", "r-kleene", "closure"}

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        array = data.draw(strategies.matrices(S, dtype))
        expected = oracle.expected_closure(S, array)
        assume(expected is not None and oracle.fits(S, expected, array.dtype))
        matrix = to_library(S, array)
        before = matrix.copy()
        for rung in rungs:
            text = f"ladder.close(A, sr.{S.name}, {rung.name!r})"
            oracle.check(S, oracle.closure_call(S, array, lambda A, r=rung: r.close(to_library(S, A), T), text))
        assert (matrix == before).all()

    check()


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 130, 257])
@pytest.mark.parametrize("rung", CPU_RUNGS, ids=lambda rung: rung.name)
def test_orders_around_the_tiles_give_the_same_bits(rung: Rung, n: int) -> None:
    random = np.random.default_rng(n)
    if rung.name == "warshall":
        S, A = sr.boolean, random.random((n, n)) < 2 / (n + 1)
    else:
        S, A = sr.min_plus, random.integers(0, 1000, (n, n)).astype("f4")
        A[random.random((n, n)) < 0.8] = np.inf
    for matrix in (A, np.asfortranarray(A), A[::-1, ::-1]):
        kept = matrix.copy()
        answer = rung.close(matrix, S)
        assert answer.dtype == A.dtype and not np.shares_memory(answer, matrix)
        assert (answer == sr.closure(kept, S)).all()
        assert (matrix == kept).all()


@pytest.mark.parametrize("name", ["floyd", "carre", "venkataraman", "r-kleene", "buluc-gilbert-budak", "all-cores"])
def test_a_field_needs_no_idempotence(name: str) -> None:
    A = np.random.default_rng(0).random((150, 150)) / 200
    answer = BY_NAME[name].close(A, sr.plus_times)
    assert np.allclose(answer, np.linalg.inv(np.eye(150) - A), rtol=1e-9)


@pytest.mark.parametrize("name", ["floyd", "carre", "venkataraman", "r-kleene", "iterative"])
def test_a_pivot_without_a_star_is_named(name: str) -> None:
    A = np.diag([0.5, 0.25, 1.0, 0.5])
    with pytest.raises(UndefinedStar) as caught:
        BY_NAME[name].close(A, sr.plus_times)
    assert caught.value.pivot == 2


@pytest.mark.parametrize("rung", [rung for rung in CPU_RUNGS if rung.name != "warshall"], ids=lambda rung: rung.name)
def test_improving_cycles_are_found(rung: Rung) -> None:
    A = np.full((70, 70), np.inf)
    A[np.arange(70), (np.arange(70) + 1) % 70] = 1
    A[3, 2] = -2
    with pytest.raises(sr.NoClosureError) as caught:
        rung.close(A, sr.min_plus)
    assert set(caught.value.cycle or ()) == {2, 3}


def test_what_is_refused_and_why() -> None:
    f8 = np.dtype("f8")
    for name in ("squaring", "tiled-squaring"):
        assert "twice" in str(BY_NAME[name].refuses(sr.plus_times, f8, 4))
        assert BY_NAME[name].refuses(sr.min_plus, f8, 4) is None
    bits = BY_NAME["warshall"]
    assert "single bits" in str(bits.refuses(sr.min_plus, f8, 4))
    assert bits.refuses(sr.boolean, np.dtype(bool), 4) is None


def test_without_a_compiler_the_reason_is_said(by_numpy: None) -> None:
    for rung in CPU_RUNGS:
        reason = rung.refuses(sr.boolean, np.dtype(bool), 4)
        assert (reason is None) == (rung.name == "closure")
        assert reason is None or "SEMIRING_COMPILE" in reason
    assert BY_NAME["floyd"].refuses(sr.regex, np.dtype(object), 4) is None


def test_errors_that_grow_are_not_passed_off_as_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    unstable: Any = SimpleNamespace(unstable=True, error=None)
    monkeypatch.setattr(module, "look_for_cycles", lambda *_: unstable)
    with pytest.raises(sr.SemiringError, match="rounding errors grow"):
        BY_NAME["floyd"].close(np.zeros((2, 2)), sr.min_plus)
