"""Broken laws as graphs: both orders of elimination are computed, and are shown only if they differ."""

from __future__ import annotations

import pickle
from itertools import permutations
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algebra import laws
from semiring.teach.witness import SHAPES, LawGraph, eliminated

SVG = "{http://www.w3.org/2000/svg}"
SIZE = 4


class Tabled:
    """Two operations on 0 … 3 by their tables, with 0 for zero and 1 for one, whatever these do."""

    dtype, zero, one = np.dtype("i8"), 0, 1

    def __init__(self, plus: list[int], times: list[int]):
        self.plus, self.times = (np.array(t).reshape(SIZE, SIZE) for t in (plus, times))

    def add(self, x: Any, y: Any) -> Any:
        return self.plus[x, y]

    def mul(self, x: Any, y: Any) -> Any:
        return self.times[x, y]

    raw_mul = mul

    def star(self, x: Any) -> Any:
        return x

    def defined(self, x: Any) -> Any:
        return x < 0


def obvious(S: Tabled, edges: list[tuple[str, str, int]], order: tuple[str, ...]) -> int | None:
    """What is left from s to t, by a matrix with None for no edge, and three loops."""
    vertices = "stuv"
    A: dict[tuple[str, str], int | None] = {(i, j): None for i in vertices for j in vertices}
    for i, j, value in edges:
        A[i, j] = int(value)
    for k in order:
        for i in vertices:
            for j in vertices:
                first, second, old = A[i, k], A[k, j], A[i, j]
                if k not in (i, j) and first is not None and second is not None:
                    way = int(S.times[first, second])
                    A[i, j] = way if old is None else int(S.plus[old, way])
        for i in vertices:
            A[i, k] = A[k, i] = None
    return A["s", "t"]


@settings(max_examples=150)
@given(*[st.lists(st.integers(0, SIZE - 1), min_size=SIZE**2, max_size=SIZE**2)] * 2, st.booleans())
def test_what_is_told_is_what_elimination_gives(plus: list[int], times: list[int], neutral: bool) -> None:
    S = Tabled(plus, times)
    if neutral:
        S.times[1, :] = S.times[:, 1] = np.arange(SIZE)
    for law in laws.AXIOMS:
        verdict = laws.judge(law, S, np.arange(SIZE), np.array([], "i8"))
        graph = LawGraph.of(verdict)
        if verdict.holds or law.name not in SHAPES:
            assert graph is None
            continue
        if graph is None:
            assert not neutral, "where 1 is neutral both sides come out"
            continue
        answers = {order: obvious(S, graph.edges, order) for order in permutations("uv")}
        assert len(set(answers.values())) == 2, "the order matters"
        assert {order: int(x) for order, x in zip(graph.orders, graph.answers, strict=True)} == answers
        assert {int(x) for x in graph.answers} == {int(verdict.left), int(verdict.right)}
        told = dict(zip(graph.sides, map(int, graph.answers), strict=True))
        left, right = law.formula.split(" = ")
        assert told == {left: int(verdict.left), right: int(verdict.right)}


@pytest.mark.parametrize("name", sr.counter_examples)
def test_counter_examples_are_drawn(name: str) -> None:
    report = sr.check_laws(sr.counter_examples[name])
    assert len(report.failures) == 2
    for verdict in report.failures:
        graph = verdict.graph()
        assert isinstance(graph, LawGraph) and graph.law is verdict.law
        page = ElementTree.fromstring(graph._repr_svg_())
        assert page.findtext(f"{SVG}title") == f"{verdict.law.broken}: the order of elimination changes the " \
            "answer from s to t"
        shown = [text.text or "" for text in page.iter(f"{SVG}text")]
        assert {"s", "t", "u", "v"} <= set(shown) and sum(text.startswith("eliminating") for text in shown) == 2
        assert len(list(page.iter(f"{SVG}polygon"))) == len(graph.edges)
        view = verdict._repr_html_()
        assert view.startswith(f"<p>{verdict.law.broken}. With ") and graph._repr_svg_() in view


def test_laws_that_hold_or_are_not_about_the_order_have_no_graph() -> None:
    report = sr.check_laws(sr.min_plus)
    assert all(v.graph() is None for v in report.axioms)
    bounded = report.flags["bounded"]
    assert not bounded.holds and bounded.graph() is None and "<svg" not in bounded._repr_html_()
    bare = sr.Semiring("bare", add=lambda a, b: a + b * b, mul=np.multiply, zero=0.0, product_only=True)
    failed = {v.law.name: v for v in sr.check_laws(bare, [0.0, 1.0, 2.0]).failures}
    assert failed["⊕ is commutative"].graph() is None, "without a 1 there is no second vertex on the way"


def test_an_error_brings_the_graphs() -> None:
    with pytest.raises(sr.LawError, match="means is not a semiring: ⊕ is not associative") as caught:
        sr.Semiring("means", add=lambda a, b: (a + b) / 2, mul=np.multiply, zero=0, one=1)
    graph = caught.value.failures[0].graph()
    assert graph is not None and set(map(float, graph.answers)) == {0.5, 0.25}
    assert str(graph).splitlines()[-2:] == ["v, then u: 0.25 = a ⊕ (b ⊕ c)", "u, then v: 0.5 = (a ⊕ b) ⊕ c"]
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is sr.LawError and str(again) == str(caught.value) and again.failures == []
    with pytest.raises(sr.LawError, match="no closure") as refused:
        sr.closure(np.eye(2), sr.plus_min)
    assert refused.value.failures[0].graph() is not None


def test_an_algebra_that_is_a_semiring_forgets_the_order() -> None:
    rng = np.random.default_rng(0)
    for S in (sr.min_plus, sr.max_min, sr.gcd_lcm, sr.bitset_may):
        A = S.over(S.default_dtype)
        edges = {ends: x for ends in [*map(tuple, ("su", "uv", "vt", "ut", "sv", "st"))] for x in
                 [A.dtype.type(rng.integers(1, 9))]}
        assert len({eliminated(A, edges, order)["s", "t"] for order in permutations("uv")}) == 1
