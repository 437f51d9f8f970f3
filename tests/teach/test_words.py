"""Steps in words, in an algebra's own signs."""

from __future__ import annotations

import pytest

import semiring as sr
from semiring.teach.words import KINDS, joined, signs

EDGES = [("a", "b", 2.0), ("b", "c", 3.0), ("a", "c", 9.0), ("c", "a", 1.0)]


def lines(S: sr.Semiring, method: str, weights: object = None) -> list[str]:
    E = sr.explain(sr.as_graph(EDGES) if weights is None else weights, S, method=method)
    return [" ".join(E.words(step)) for step in E]


def test_floyd_warshall_reads_as_its_equations() -> None:
    found = lines(sr.min_plus, "floyd-warshall")
    assert ("Let walks pass through b X ← X ⊕ C ⊗ R d(a, c) ← d(a, c) ⊕ d(a, b) ⊗ d(b, c) = min(9, 2 + 3) = 5 "
            "a → b → c") in found
    assert "All walks from a back to a D ← D* d(a, a) ← d(a, a)* = (∞)* = 0 staying at a" in found


def test_panels_that_are_overwritten_say_so() -> None:
    assert any("d(a, c) ← d(a, a) ⊗ old d(a, c) ⊕ d(a, b) ⊗ old d(b, c)" in text
               for text in lines(sr.min_plus, "blocked"))
    assert any("← old d(c, a) ⊗ d(a, b) ⊕ old d(c, b) ⊗ d(b, b)" in text for text in lines(sr.min_plus, "blocked"))


def test_squaring_makes_new_entries() -> None:
    found = lines(sr.min_plus, "squaring")
    assert any(text.startswith("Join two walks: twice as many edges B ← A ⊗ A new d(a, c) ← d(a, a) ⊗ d(a, c)")
               for text in found)
    assert "The new entries take the place of the old A ← B all of them at once  " in found


def test_many_terms_have_a_letter_for_the_middle() -> None:
    n = 6
    E = sr.explain([[0.0 if i == j else 1.0 for j in range(n)] for i in range(n)], sr.min_plus, method="squaring")
    assert any(E.words(step).rule.startswith("new d(0, 1) ← ⊕ₖ d(0, k) ⊗ d(k, 1), k = 0, 1, 2") for step in E)


def test_sums_are_over_all_walks() -> None:
    found = lines(sr.plus_times, "floyd-warshall", [[0.0, 0.5], [0.5, 0.0]])
    assert any("over" not in text and "combines: stay at 1; 1 → 0 → 1" in text for text in found)


@pytest.mark.parametrize(("S", "expected"), [
    (sr.min_plus, (("before", "min"), ("between", "+"))), (sr.boolean, (("between", "or"), ("between", "and"))),
    (sr.regex, (("between", "|"), ("between", ""))), (sr.pareto, (("between", "⊕"), ("between", "⊗"))),
    (sr.gcd_lcm, (("before", "gcd"), ("before", "lcm"))), (sr.shortest_count, (("between", "⊕"), ("between", "⊗"))),
])
def test_signs(S: sr.Semiring, expected: object) -> None:
    assert signs(S) == expected


def test_joined() -> None:
    assert joined(("between", ""), ["a", "b*"]) == "ab*"
    assert joined(("before", "min"), ["3"]) == "3"


def test_every_kind_of_step_has_words() -> None:
    kinds = {step.kind for method in ("floyd-warshall", "blocked", "squaring")
             for step in sr.explain(sr.as_graph(EDGES), sr.min_plus, method=method)}
    assert kinds == set(KINDS)
