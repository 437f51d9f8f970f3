"""Einsums as nests: against products of stacks, refusals, winners, and when the code for them is compiled."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from networks import by_nests, networks

import semiring as sr
from semiring.kernels.build import code_of
from semiring.kernels.cpu.dense.nests import LOOPS
from semiring.kernels.facts import together
from semiring.kernels.lowering.general import general
from semiring.shapes.einsum import nested

PAIRS = sr.lexicographic(sr.min_plus, sr.max_min)
CASES = [(sr.min_plus, "f8"), (sr.min_plus, "f4"), (sr.min_plus, "i4"), (sr.max_times, "f4"), (sr.log, "f8"),
         (sr.plus_times, "f8"), (sr.max_min, "i2"), (sr.boolean, "b1"), (PAIRS, None)]
inf = np.inf


@pytest.fixture
def answers() -> Iterator[list[bool]]:
    """All that nests are right for goes by nests; whether each of them found an answer."""
    with by_nests() as found:
        yield found


def elements(S: sr.Semiring, dtype: Any, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    if dtype is None:
        A = np.empty(shape, S.element_dtype)
        for name in A.dtype.names:
            A[name] = rng.integers(0, 9, shape)
    else:
        A = rng.integers(0, 2 if dtype == "b1" else 4 if S is sr.max_times else 9, shape).astype(dtype)
        if dtype == "f8" and S is sr.log:
            A = A * rng.choice([1.0, 1e3], shape)
    return np.where(rng.random(shape) < 0.1, S.zero_in(A.dtype), A).astype(A.dtype)


def by_products(monkeypatch: pytest.MonkeyPatch, *given: Any, **options: Any) -> Any:
    with monkeypatch.context() as patch:
        patch.setattr(nested, "offer", lambda *_: None)
        return sr.einsum(*given, **options)


@pytest.mark.parametrize(("S", "dtype"), CASES, ids=str)
def test_nests_give_what_products_of_stacks_give(
    S: sr.Semiring, dtype: Any, answers: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(networks(), st.integers(0, 1 << 32), st.booleans())
    @example(("ab,bc,cd->ad", {"a": 3, "b": 2, "c": 4, "d": 2}), 0, False)
    def check(network: tuple[str, dict], seed: int, views: bool) -> None:
        rng, (text, sizes) = np.random.default_rng(seed), network
        sizes = sizes | {"a": int(rng.integers(1, 80))}
        terms = text.split("->")[0].split(",")
        arrays = [elements(S, dtype, rng, tuple(sizes[a] for a in term)) for term in terms]
        if views:
            arrays = [np.asfortranarray(A)[::-1].copy()[::-1] if A.ndim else A for A in arrays]
        got, wanted = (f(text, *arrays, S=S) for f in (
            sr.einsum, lambda *a, **o: by_products(monkeypatch, *a, **o)))
        if S is sr.log:
            np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-13)
        else:
            assert np.array_equal(got, wanted) and np.asarray(got).dtype == np.asarray(wanted).dtype
        if S.selective:
            value, places = sr.einsum(text, *arrays, S=S, argmax=True)
            assert np.array_equal(value, wanted)
            output = text.split("->")[1]
            free = dict(zip(output, np.indices(np.shape(value)), strict=True))
            nothing = np.asarray(value == S.zero_in(np.asarray(value).dtype))
            for axis, place in places.items():
                assert place.dtype == np.int32 and ((place == -1) == nothing).all() and (place < sizes[axis]).all()
            factors = [A[tuple((places | free)[a] for a in own)] for own, A in zip(terms, arrays, strict=True)]
            term = S.prod(np.array(np.broadcast_arrays(*factors, subok=False)), axis=0)
            assert np.array_equal(np.where(nothing, value, term), value)

    check()
    assert any(answers)


def test_what_is_not_an_element_is_refused_with_its_place(answers: list[bool]) -> None:
    arrays = [np.ones((3, 4)), np.ones((4, 5)), np.ones((5, 3))]
    arrays[1][2, 3] = np.nan
    with pytest.raises(sr.SemiringError, match=r"operand 1.*\[2, 3\]"):
        sr.einsum("ij,jk,kl->il", *arrays, S=sr.min_plus)
    assert answers == [False]
    sr.einsum("ij,jk,kl->il", *arrays, S=sr.min_plus, check=False)


def test_numbers_that_leave_the_range_on_the_way_are_refused(answers: list[bool]) -> None:
    A = np.array([[1e300, 1e300], [-1e300, -1e300]])
    with pytest.raises(sr.SemiringError, match="on the way to the answer"):
        sr.einsum("ij,ij,ik->", A, np.abs(A), A, S=sr.plus_times)
    assert answers == [False]
    B = np.full((2, 2), 1e300)
    with pytest.raises(sr.SemiringError, match="on the way to the answer"):
        sr.einsum("ij,ij,ij,ik->k", B, B, 1 / B, B, S=sr.plus_times, optimize=False)


def test_sums_of_one_operand_are_looked_at_too(answers: list[bool]) -> None:
    A = np.full((2, 3), 1.5e308)
    with pytest.raises(sr.SemiringError, match="on the way to the answer"):
        sr.einsum("ij,i,ik,k->", A, np.array([0.0, 1.0]), np.ones((2, 2)), np.ones(2), S=sr.plus_times)
    assert sr.einsum("ij,i,ik,k->", np.ones((2, 3)), np.ones(2), np.ones((2, 2)), np.ones(2), S=sr.plus_times) == 12
    assert answers == [False, True]


def test_winners_among_equal_terms_are_places_of_one_term(answers: list[bool]) -> None:
    A = np.zeros((4, 4))
    value, places = sr.einsum("ab,bc,cd->", A, A, A, S=sr.min_plus, argmax=True)
    assert value == 0 and all(0 <= place < 4 for place in places.values()) and answers == [True]
    value, places = sr.einsum("ab,bc,cd->", A + inf, A, A, S=sr.min_plus, argmax=True)
    assert value == inf and all(place == -1 for place in places.values())


def test_an_einsum_rents_its_code_and_then_buys_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """The general way's time counts for the code of nests, and for none of it twice."""
    S = sr.Semiring("rented", add=np.minimum, mul=lambda a, b: a + b + 2, zero=inf, one=-2)
    monkeypatch.setenv("SEMIRING_COMPILE", "auto")
    low = general(S, np.dtype("f8"))
    code = code_of(low, "stacks")
    monkeypatch.setattr(code, "_price", lambda: 5.0)
    monkeypatch.setattr(LOOPS, "bought", True)
    arrays = [np.ones((3, 4)), np.ones((4, 5)), np.ones((5, 3))]
    assert sr.einsum("ij,jk,kl->", *arrays, S=S) == 7
    assert 0 < code.spent < 5 and not code.bought
    monkeypatch.setattr(code, "spent", 6.0)
    assert sr.einsum("ij,jk,kl->", *arrays, S=S) == 7 and code.bought


def test_an_einsum_of_large_products_rents_no_code_of_nests(monkeypatch: pytest.MonkeyPatch) -> None:
    S = sr.Semiring("not rented", add=np.minimum, mul=lambda a, b: a + b + 3, zero=inf, one=-3)
    monkeypatch.setenv("SEMIRING_COMPILE", "auto")
    code, before = code_of(general(S, np.dtype("f8")), "stacks"), LOOPS.spent
    monkeypatch.setattr(code, "_price", lambda: 1e3)
    sr.einsum("ij,jk,kl->il", *[np.ones((80, 80))] * 3, S=S)
    assert LOOPS.spent == before and not code.bought


def test_elements_that_are_stored_otherwise_are_examined_first(answers: list[bool]) -> None:
    arrays = [np.ones(shape, "f2") for shape in ((3, 4), (4, 5), (5, 3))]
    assert (sr.einsum("ij,jk,kl->il", *arrays, S=sr.max_times) == 1).all() and answers == [True]
    arrays[1][2, 3] = -1
    with pytest.raises(sr.SemiringError, match=r"operand 1.*\[2, 3\]"):
        sr.einsum("ij,jk,kl->il", *arrays, S=sr.max_times)


def test_facts_are_asked_for_only_if_nests_need_them(
    answers: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are a pass over the operands, which a single product makes itself."""
    asked: list[Any] = []
    monkeypatch.setattr(nested, "together", lambda facts: asked.append(facts) or together(facts))
    A = np.ones((4, 4), "i4")
    sr.einsum("ij,jk->ik", A, A, S=sr.min_plus)
    assert not asked
    sr.einsum("ij,jk,kl->il", A, A, A, S=sr.min_plus)
    assert len(asked) == 1 and answers == [True]


@pytest.mark.parametrize("expression", ["bij,bjk,bkl->bil", "bij,bjk,bkl->", "ij,jb,bl->il"])
def test_memory_is_that_of_the_plan(answers: list[bool], expression: str) -> None:
    """Copies of operands whose axes change places, their sums, and the answer are in it."""
    sizes = {"b": 50_000, "i": 4, "j": 4, "k": 4, "l": 4}
    arrays = [np.ones([sizes[a] for a in term]) for term in expression.split("->")[0].split(",")]
    plan = sr.plan("einsum", expression, *arrays, S=sr.min_plus)
    sr.einsum(expression, *arrays, S=sr.min_plus)
    tracemalloc.start()
    sr.einsum(expression, *arrays, S=sr.min_plus)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 1.1 * plan.memory and all(answers) and len(answers) == 2
