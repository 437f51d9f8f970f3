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
from semiring.teach.witness import PICTURES, SHAPES, LawGraph, eliminated

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

    def contains(self, x: Any) -> Any:
        return x >= 0


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
        assert (graph is None) == verdict.holds
        if graph is None:
            continue
        told = dict(zip(graph.sides, map(int, graph.answers), strict=True))
        left, right = law.formula.split(" = ")
        assert told == {left: int(verdict.left), right: int(verdict.right)}
        if not graph.orders:
            assert law.name not in SHAPES or not neutral, "where 1 is neutral both orders come out"
            continue
        answers = {order: obvious(S, graph.edges, order) for order in permutations("uv")}
        assert len(set(answers.values())) == 2, "the order matters"
        assert {order: int(x) for order, x in zip(graph.orders, graph.answers, strict=True)} == answers
        assert {int(x) for x in graph.answers} == {int(verdict.left), int(verdict.right)}


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


def test_every_broken_law_is_drawn() -> None:
    """Axioms, stars, flags and operations that leave the carrier: each law has a picture, and each side a line."""
    assert set(PICTURES) == {law.name for law in (*laws.AXIOMS, *laws.STAYS, *laws.STAR, *laws.FLAGS.values())}
    broken: dict[str, laws.Verdict] = {}
    for options in (
        {"add": np.maximum, "mul": np.add, "zero": 0, "one": 1}, {"add": np.subtract, "mul": np.divide, "zero": 2},
        {"add": lambda a, b: (a + b) / 2, "mul": lambda a, b: a + 2 * b, "zero": 0, "one": 0.5, "star": lambda a: a},
        {"add": np.minimum, "mul": np.add, "zero": np.inf, "one": 0, "star": lambda a: a + 1},
    ):
        S = sr.Semiring("own", **{"one": 1, "product_only": True} | options)
        broken |= {v.law.name: v for v in S._law_report if not v.holds}
        with pytest.raises(sr.LawError) as caught:
            sr.Semiring("own", **{"one": 1} | options)
        broken |= {v.law.name: v for v in caught.value.failures}
    assert set(broken) == set(PICTURES)
    for verdict in broken.values():
        graph = verdict.graph()
        assert graph is not None
        page = ElementTree.fromstring(graph._repr_svg_())
        shown = [text.text or "" for text in page.iter(f"{SVG}text")]
        assert shown[-len(graph.answers) - 1].startswith(f"{verdict.law.broken}: {verdict.law.formula}")
        told = str(graph).splitlines()
        assert [line.split("eliminating ")[-1] for line in shown[-len(graph.answers):]] == told[-len(graph.answers):]
        assert len(told) == 1 + len(graph.edges) + len(graph.answers) and told[0].startswith(verdict.law.broken)
        assert set("".join(graph.vertices)) == {v for edge in graph.edges for v in edge[:2]}
        assert "nan" not in str(graph)


def test_laws_that_hold_have_no_graph() -> None:
    report = sr.check_laws(sr.min_plus)
    assert all(v.graph() is None for v in report.axioms)
    bounded = report.flags["bounded"].graph()
    assert str(bounded).splitlines()[1:] == ["  s → s: a = −1", "no round, or one: 1 ⊕ a = −1", "no round: 0"]
    bare = sr.Semiring("bare", add=lambda a, b: a + b * b, mul=np.multiply, zero=0.0, product_only=True)
    failed = {v.law.name: v for v in sr.check_laws(bare, [0.0, 1.0, 2.0]).failures}
    graph = failed["⊕ is commutative"].graph()
    assert graph is not None and not graph.orders, "without a 1 there is no second vertex on the way"


def test_an_error_brings_the_graphs() -> None:
    with pytest.raises(sr.LawError, match="means is not a semiring: ⊕ is not associative") as caught:
        sr.Semiring("means", add=lambda a, b: (a + b) / 2, mul=np.multiply, zero=0, one=1)
    graph = caught.value.failures[0].graph()
    assert graph is not None and set(map(float, graph.answers)) == {3.75, 3}
    assert str(graph).splitlines()[-2:] == ["v, then u: a ⊕ (b ⊕ c) = 3", "u, then v: (a ⊕ b) ⊕ c = 3.75"]
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
