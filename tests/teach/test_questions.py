"""Questions in words, and weights made of lengths."""

from __future__ import annotations

import pytest

import semiring as sr
from semiring.teach.elements import Elements
from semiring.teach.explanation import _made
from semiring.teach.questions import OFFERED, QUESTIONS, question

EDGES = [(0, 1), (1, 2), (2, 0), (0, 2)]


@pytest.mark.parametrize("name", OFFERED)
def test_weights_are_elements(name: str) -> None:
    E = Elements(sr.catalogue[name])
    made = _made(E, [3.0, 1.0, 9.0, 2.0], EDGES)
    assert made is not None
    assert len(made) == 4
    assert all(not E.same(x, E.zero) for x in made)


def test_shares_leave_something() -> None:
    made = _made(Elements(sr.plus_times), [1.0] * 4, EDGES)
    assert made == [0.45, 0.9, 0.9, 0.45]


def test_an_algebra_that_lengths_do_not_fit_is_left_out() -> None:
    S = sr.Semiring("few", add=lambda a, b: a | b, mul=lambda a, b: a & b, zero=0, one=3, dtypes="i",
                    carrier=lambda a: (a >= 0) & (a <= 3))
    assert _made(Elements(S), [700.0], [(0, 1)]) == [3]


def test_questions() -> None:
    assert all(text.endswith("?") for text in QUESTIONS.values())
    assert {S.name for S in map(sr.catalogue.__getitem__, OFFERED)} <= set(QUESTIONS)
    assert question(sr.gf2) == "Parity of the number of paths, from each vertex to every other one"
