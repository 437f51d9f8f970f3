"""Every method, algebra and dtype against the oracle; methods by name, their laws, and which one is chosen."""

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
from semiring.kernels.lowering.general import general
from semiring.solvers.dense import schedules
from semiring.solvers.dense.schedules import (
    ALIASES,
    BLOCKED_TILE,
    SCHEDULES,
    SEARCH,
    SPARSE,
    choose_method,
    close_best,
    close_each,
    resolve_method,
)

quick = settings(max_examples=25, suppress_health_check=list(HealthCheck))


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
        expected = oracle.expected_closure(S, array)
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


LOW = general(sr.min_plus, np.dtype("f8"))


def engine(tile: int = 64, align: int = 1, whole: bool = False) -> Any:
    return SimpleNamespace(tile=tile, align=align, closes_whole=lambda n: whole)


@pytest.mark.parametrize("name", [*SCHEDULES, SPARSE, SEARCH, "auto"])
def test_names_in_any_spelling(name: str) -> None:
    for spelt in (name, name.upper(), name.replace("-", "_")):
        assert resolve_method(spelt, sr.min_plus) == name


def test_short_names_stand_for_methods() -> None:
    assert {resolve_method(short, sr.min_plus) for short in ALIASES} == {"floyd-warshall", "r-kleene", "elimination"}
    assert resolve_method("FW", sr.plus_times) == "floyd-warshall"


@pytest.mark.parametrize(("name", "text"), [
    ("blokked", r"^unknown method 'blokked': did you mean 'blocked'\?$"),
    ("floyd_warshal", r"did you mean 'floyd-warshall'\?$"),
    ("zzz", "^unknown method 'zzz': it is one of floyd-warshall, blocked, r-kleene, squaring, elimination, sparse"),
    ("", "^unknown method '': it is one of "),
])
def test_an_unknown_name_is_told_the_near_one(name: str, text: str) -> None:
    with pytest.raises(sr.SemiringError, match=text):
        resolve_method(name, sr.min_plus)


def test_squaring_needs_laws() -> None:
    for S in (sr.plus_times, sr.log, sr.counting, sr.gf2):
        with pytest.raises(sr.LawError, match=rf"^squaring needs an idempotent ⊕, and in {S.name} ⊕ is not idempotent"):
            resolve_method("squaring", S)
        for name in ("floyd-warshall", "blocked", "r-kleene", "elimination", "sparse", "auto"):
            assert resolve_method(name, S) == name
    best = sr.Semiring(
        "capped", add=np.maximum, mul=lambda a, b: np.where((a < 0) | (b < 0), -1, np.minimum(a + b, 9)), zero=-1,
        one=0, carrier=lambda a: (a >= -1) & (a <= 9) & (np.floor(a) == a), dtypes="fi",
    )
    with pytest.raises(sr.LawError, match="longer and longer walks stop improving, and capped is not bounded: "):
        resolve_method("squaring", best)
    for S in (sr.min_plus, sr.boolean, sr.max_min, sr.viterbi):
        assert resolve_method("squaring", S) == "squaring"


@pytest.mark.parametrize(("n", "tile", "whole", "method"), [
    (0, None, False, "floyd-warshall"), (1, None, False, "floyd-warshall"), (64, None, False, "floyd-warshall"),
    (65, None, False, "r-kleene"), (65, None, True, "floyd-warshall"), (65, 65, False, "floyd-warshall"),
    (65, 16, True, "r-kleene"), (17, 16, False, "r-kleene"), (16, 16, False, "floyd-warshall"),
])
def test_what_is_chosen_unasked(n: int, tile: int | None, whole: bool, method: str) -> None:
    found, block, reasons = choose_method("auto", LOW, n, engine(whole=whole), tile)
    assert found == method and reasons["method"]
    assert block == (n if method == "floyd-warshall" else tile or 64)


def test_what_is_asked_for_is_done() -> None:
    for name in SCHEDULES:
        found, tile, reasons = choose_method(name, LOW, 1000, engine(), None)
        assert found == name and reasons == {"method": "as asked"}
        assert tile == {"floyd-warshall": 1000, "r-kleene": 64}.get(name, BLOCKED_TILE)
        assert choose_method(name, LOW, 1000, engine(tile=999), None)[1] == (1000 if name == "floyd-warshall" else 999)
        assert choose_method(name, LOW, 1000, engine(), 7)[1] == (1000 if name == "floyd-warshall" else 7)


@pytest.mark.parametrize(("tile", "align", "rounded"), [
    (7, 64, 64), (64, 64, 64), (65, 64, 128), (7, 16, 7), (7, 17, 17), (18, 17, 34), (300, 128, 384),
])
def test_tiles_are_rounded_up_to_words(tile: int, align: int, rounded: int) -> None:
    found, block, reasons = choose_method("blocked", LOW, 1000, engine(align=align), tile)
    assert (found, block) == ("blocked", rounded)
    assert reasons.get("tile") == (f"this engine's blocks begin at multiples of {align}" if rounded != tile else None)


@pytest.mark.parametrize("whole", [False, True])
def test_the_best_schedule_is_the_engines_own_or_halves(whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple] = []
    for name in ("floyd_warshall", "r_kleene"):
        monkeypatch.setattr(schedules, name, lambda *given, name=name: ran.append((name, *given)))
    A, kernel = np.zeros((5, 5)), engine(tile=3, whole=whole)
    close_best(A, kernel)
    assert [(name, tile) for name, _, _, tile in ran] == [("floyd_warshall", 5) if whole else ("r_kleene", 3)]
    assert ran[0][1] is A and ran[0][2] is kernel
