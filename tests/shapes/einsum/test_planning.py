"""The plan of an einsum is printed before anything is allocated."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from networks import by_nests

import semiring as sr
from semiring.kernels.build import code_of
from semiring.kernels.cpu.compile.price import always
from semiring.kernels.cpu.dense.nests import LOOPS
from semiring.kernels.facts import Facts
from semiring.shapes.einsum import nested
from semiring.solvers.forms import plain_form

MANY = "abcd,cdef,efgh,ghij,ijab,k->"


def test_the_plan_says_the_steps_and_allocates_nothing() -> None:
    x = np.broadcast_to(np.float64(1), (100_000, 100_000))
    plan = sr.plan("einsum", "ij,jk,k->i", x, x, x[0], S=sr.min_plus)
    assert plan.shape == (100_000,)
    assert plan.work == 2e10
    assert "jk, k → j: (100000 × 100000) ⊗ (100000 × 1), 1e+10 multiply-adds" in str(plan)
    assert "largest    100000 elements, 800000 bytes, of axes j" in str(plan)
    large = sr.plan("einsum", "ij,kl->ijkl", x, x, S=sr.min_plus)
    assert large.memory == 8e20
    with pytest.raises(sr.SemiringError, match="an array of axes ijkl between the operands and the answer"):
        sr.einsum("ij,kl->ijkl", x, x, S=sr.min_plus)
    small = sr.plan("einsum", "ij,jk->ik", np.eye(2), np.eye(2), S=sr.plus_times)
    assert np.array_equal(small.run(), np.eye(2))


def test_the_plan_says_which_way_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    given = "ab,bc,cd->ad", *[np.ones((4, 4))] * 3
    monkeypatch.setenv("SEMIRING_COMPILE", "never")
    monkeypatch.setattr(LOOPS, "bought", False)
    assert sr.plan("einsum", *given, S=sr.min_plus).method == "products of pairs"
    assert sr.plan("einsum", *given, S=sr.min_plus, argmax=True).method == "terms in turn"
    with by_nests() as answers:
        plan = sr.plan("einsum", *given, S=sr.min_plus)
        assert plan.method == "nests of loops" and "no array is transposed" in str(plan) and not answers
        assert (plan.run() == 3).all() and answers == [True]
        whole = [A.astype("i4") for A in given[1:]]
        assert sr.plan("einsum", given[0], *whole, S=sr.min_plus).method == "nests of loops"
        assert sr.plan("einsum", "ab,bc->ac", *whole[:2], S=sr.min_plus).method == "products of pairs"


def test_the_plan_says_which_way_runs_each_step() -> None:
    arrays = [*[np.ones((4,) * 4)] * 5, np.ones(3)]
    with always():
        plan = sr.plan("einsum", MANY, *arrays, S=sr.min_plus)
        assert plan.run() == 6
    assert plan.method == "nests of loops" and plan.contraction is not None
    text = str(plan)
    assert "k → (): ⊕ of 3 elements, one pass" in text
    sizes = "(16 × 16) ⊗ (16 × 16)"
    assert f"efgh, ghab → efab: {sizes}, 4.1e+03 multiply-adds, loops around 1 × {sizes}" in text
    assert plan.work == plan.steps.work and "largest    256 elements" in text
    whole = [plan.steps.size(step.axes) * plan.steps.size(step.summed) for step in plan.contraction.products]
    assert [count * m * k * n for count, m, k, n in plan.contraction.shapes] == whole


def test_a_plan_buys_no_code_of_nests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nests that are not compiled yet are not planned, and no code is bought by a plan."""
    S = sr.Semiring("planned", add=np.minimum, mul=lambda a, b: a + b + 5, zero=np.inf, one=-5)
    monkeypatch.setenv("SEMIRING_COMPILE", "auto")
    code = code_of(plain_form(S, np.dtype("f8"), Facts(), 3), "stacks")
    monkeypatch.setattr(code, "_price", lambda: 1e3)
    monkeypatch.setattr(LOOPS, "bought", True)
    ran: list[str] = []

    class Noted(nested.Nested):
        def answer(self, *arguments: Any) -> Any:
            ran.append("nests of loops")
            return super().answer(*arguments)

    monkeypatch.setattr(nested, "Nested", Noted)
    arrays = [np.ones((4,) * 4)] * 5
    given = MANY.replace(",k", ""), *arrays
    plan = sr.plan("einsum", *given, S=S)
    assert plan.method == "products of pairs" and "nests of loops" in plan.reasons["method"] and not code.bought
    assert "multiply-adds, matmul" in str(plan) and plan.run() == 25 and not ran
    assert sr.plan("einsum", *given, S=S, argmax=True).method == "terms in turn"
    monkeypatch.setattr(code, "bought", True)
    plan = sr.plan("einsum", *given, S=S)
    assert plan.method == "nests of loops" and plan.run() == 25 and ran == ["nests of loops"]


@pytest.mark.parametrize("S", [sr.min_plus, sr.plus_times, sr.counting], ids=str)
@pytest.mark.parametrize("text", ["ij,kl->ijkl", "ij,kl->lkji", "ij,jk->ijk", "ij,ij->ij"])
def test_a_product_by_element_takes_little_more_memory_than_its_answer(S: sr.Semiring, text: str) -> None:
    sizes = {"i": 50, "j": 50, "k": 30, "l": 50} if "l" in text else {"i": 2000, "j": 2000, "k": 1}
    given = [np.ones([sizes[a] for a in term]) for term in text.split("->")[0].split(",")]
    plan = sr.plan("einsum", text, *given, S=S)
    plan.run()
    tracemalloc.start()
    answer = plan.run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert answer.nbytes == plan.memory and peak <= 1.4 * plan.memory


@pytest.mark.parametrize("argmax", [False, True])
@pytest.mark.parametrize(("text", "length"), [
    ("ij,jk->ik", 500), ("ij,jk,kl->il", 500), ("ij,jk,kl,lm->", 500), ("ij,ij->ij", 900), ("ij->i", 1000),
    ("ij->j", 1000), ("abc->b", 90), ("abc,acd->bd", 90), ("abc,cad->db", 90), ("abc,bcd,cde->ae", 60),
])
def test_a_plan_counts_what_is_held(text: str, length: int, argmax: bool) -> None:
    """Copies of factors, winners, and their places; beside them a quarter of a million bytes for what is small."""
    given = [np.ones((length,) * len(term)) for term in text.split("->")[0].split(",")]
    plan = sr.plan("einsum", text, *given, S=sr.min_plus, argmax=argmax)
    plan.run()
    tracemalloc.start()
    plan.run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 1.25 * plan.memory + (1 << 18)


@pytest.mark.parametrize("S", [sr.plus_times, sr.max_min], ids=str)
def test_elements_of_an_outer_product_are_multiplied_one_by_one(S: sr.Semiring) -> None:
    plan = sr.plan("einsum", "i,j->ij", np.ones(3), np.ones(4), S=S)
    assert "i, j → ij: 12 products of elements, by element" in str(plan)
