"""`explain`: what it takes, what it refuses, and what comes out."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import semiring as sr
from semiring.teach.page import page

EDGES = [("a", "b", 2.0), ("b", "c", 3.0), ("a", "c", 9.0), ("c", "a", 1.0)]


def data(E: sr.Explanation) -> Any:
    return json.loads(re.search(r'id="data">(.*?)</script>', page(E), re.DOTALL)[1])


def test_it_iterates_over_steps_that_lead_to_the_closure() -> None:
    E = sr.explain(sr.as_graph(EDGES), sr.min_plus)
    assert len(E) == len(list(E)) == len(E.steps) == 27
    assert E[0] is E.steps[0]
    assert np.array_equal(np.array(E.closure, float), np.asarray(sr.closure(sr.adjacency(EDGES, sr.min_plus))))
    assert E.failure is None
    assert repr(E) == "<Explanation: min-plus, Floyd–Warshall: 3 vertices, 27 operations, 8 of them changes>"


@pytest.mark.parametrize("A", [
    sr.adjacency(EDGES, sr.min_plus), sr.as_graph(EDGES), np.asarray(sr.adjacency(EDGES, sr.min_plus)),
    scipy.sparse.csr_array(([2.0, 9.0, 3.0, 1.0], [1, 2, 2, 0], [0, 2, 3, 4]), shape=(3, 3)),
    np.array([[127, 2, 9], [127, 127, 3], [1, 127, 127]], np.int8),
], ids=["matrix", "graph", "array", "sparse", "int8"])
def test_whatever_a_verb_takes(A: Any) -> None:
    E = sr.explain(A, sr.min_plus)
    assert E.closure == [[0, 2, 5], [4, 0, 3], [1, 3, 0]]
    assert E.edges == [(0, 1), (0, 2), (1, 2), (2, 0)]


def test_the_algebra_of_a_matrix() -> None:
    assert sr.explain(sr.adjacency(EDGES, sr.max_min)).semiring is sr.max_min
    with pytest.raises(sr.SemiringError, match="needs an algebra"):
        sr.explain([[1.0]])


def test_too_many_vertices_or_none() -> None:
    with pytest.raises(sr.SemiringError, match="1 to 12 vertices, but this one has 13"):
        sr.explain(np.zeros((13, 13)), sr.min_plus)
    with pytest.raises(sr.SemiringError, match="has 0"):
        sr.explain(np.zeros((0, 0)), sr.min_plus)


def test_methods() -> None:
    with pytest.raises(sr.LawError, match="squaring needs an idempotent"):
        sr.explain([[0.5]], sr.plus_times, method="squaring")
    with pytest.raises(sr.SemiringError, match="explain can step through floyd-warshall, "):
        sr.explain([[0.5]], sr.min_plus, method="search")
    with pytest.raises(sr.SemiringError, match="did you mean"):
        sr.explain([[0.5]], sr.min_plus, method="block")
    with pytest.raises(sr.SemiringError, match="tile must be"):
        sr.explain([[0.5]], sr.min_plus, tile=0)
    with pytest.raises(sr.LawError, match="plus-min is not a semiring"):
        sr.explain([[0.5]], sr.plus_min)


def test_an_element_outside_the_carrier_is_refused_by_its_place() -> None:
    with pytest.raises(sr.SemiringError, match=r"\[0, 0\]"):
        sr.explain([[2.0]], sr.viterbi)


def test_no_closure_is_told_not_raised() -> None:
    E = sr.explain(sr.as_graph([("a", "b", 1.0), ("b", "a", -2.0)]), sr.min_plus)
    assert E.closure is None
    assert str(E).splitlines()[-1] == "No closure: the cycle b → a → b has the weight −1, and each round is better."
    E = sr.explain([[1.0]], sr.plus_times)
    assert str(E).splitlines()[-1] == "No closure: the star of 1, the loops at 0, does not exist."


def test_weights_for_other_algebras() -> None:
    safe = {("a", "b"): 0.5, ("b", "c"): 0.25, ("a", "c"): 0.125, ("c", "a"): 1.0}
    weights = {"viterbi": safe, sr.max_min: [1, 2, 3, 4], sr.boolean: None}
    E = sr.explain(sr.as_graph(EDGES), sr.min_plus, weights=weights)
    assert [S.name for S in E.weights] == ["min-plus", "viterbi", "max-min", "boolean"]
    assert E.edges == [(0, 1), (0, 2), (1, 2), (2, 0)]
    assert E.weights[sr.viterbi] == [0.5, 0.125, 0.25, 1]
    assert E.weights[sr.max_min] == [1, 3, 2, 4]  # as the graph has its edges, by rows here
    assert all(E.weights[sr.boolean])


def test_weights_that_do_not_fit() -> None:
    graph = sr.as_graph(EDGES)
    for weights, why in (
        ({sr.max_plus: [1, 2]}, "2 weights for 4 edges"), ({sr.max_plus: {("a", "z"): 1}}, "is not an edge"),
        ({sr.viterbi: [7, 1, 1, 1]}, "outside"), ({sr.viterbi: {("a", "b"): 0.5}}, "has no weight"),
    ):
        with pytest.raises(sr.GraphError, match=why):
            sr.explain(graph, sr.min_plus, weights=weights)
    with pytest.raises(sr.SemiringError, match="weights is a mapping"):
        sr.explain(graph, sr.min_plus, weights=[1])
    with pytest.raises(sr.LawError, match="plus-min"):
        sr.explain(graph, sr.min_plus, weights={sr.plus_min: [1, 2, 3, 4]})


def test_positions() -> None:
    E = sr.explain(sr.as_graph(EDGES), sr.min_plus, positions={"a": (0, 0), "b": (2, 0), "c": (1, 2)})
    assert E.positions == [(0.0, 1.0), (1.0, 1.0), (0.5, 0.0)]
    with pytest.raises(sr.SemiringError, match="positions lacks the vertex 'c'"):
        sr.explain(sr.as_graph(EDGES), sr.min_plus, positions={"a": (0, 0), "b": (2, 0)})
    for bad in ([(0, 0)], [(0, 0), (1, 1), (2, np.nan)], [(0,), (1,), (2,)]):
        with pytest.raises(sr.SemiringError, match="3 pairs of finite numbers"):
            sr.explain(sr.as_graph(EDGES), sr.min_plus, positions=bad)


def test_objects_travel_as_recorded_steps() -> None:
    a, b = frozenset({(1, 4)}), frozenset({(2, 1)})
    E = sr.explain(sr.adjacency([("a", "b", a), ("b", "c", b), ("a", "c", frozenset({(9, 0)}))], sr.pareto))
    records = data(E)["algebras"][0]["records"]
    assert set(records["methods"]) == {"floyd-warshall", "blocked", "r-kleene", "squaring", "elimination"}
    steps = records["methods"]["floyd-warshall"]
    assert len(steps["entries"]) == len(E)
    assert records["texts"][steps["entries"][-1]] == "{(0, 0)}"
    assert "{(3, 5), (9, 0)}" in records["texts"]


def test_a_user_s_algebra_travels_under_a_key_of_its_own() -> None:
    S = sr.Semiring("reliability", add=np.maximum, mul=np.multiply, zero=0.0, one=1.0,
                    carrier=lambda a: (a >= 0) & (a <= 1))
    found = data(sr.explain([[0.0, 0.5], [0.25, 0.0]], S))
    assert found["start"] == ["algebra-0", "floyd-warshall"]
    assert [a["key"] for a in found["algebras"]][:2] == ["algebra-0", "boolean"]
    assert found["algebras"][0]["question"] == "reliability: what is the value of the best walk?"


def test_records_and_objects_of_a_user_read_as_they_were_written() -> None:
    roads = sr.Semiring("roads", fields={"km": "f8", "m": "f8"}, zero=(np.inf, -np.inf), one=(0, np.inf),
                        add=lambda a, b: (np.minimum(a.km, b.km), np.maximum(a.m, b.m)),
                        mul=lambda a, b: (a.km + b.km, np.minimum(a.m, b.m)), carrier=lambda a: a.km >= 0)
    E = sr.explain(sr.adjacency([("a", "b", (3, 5)), ("b", "c", (4, 2))], roads))
    found = data(E)["algebras"][0]
    assert found["fields"] == ["km", "m"] and found["notation"].startswith("({a: a.km ≥ 0}, (min(a.km, b.km), max(")
    assert found["question"] == "roads: what do the values of all walks combine to?"
    assert "= (∞, −∞) ⊕ ((3, 5) ⊗ (4, 2)) = (7, 2)" in str(E) and "= (∞, −∞)* = (0, ∞)" in str(E)
    words = sr.Semiring("words", add=lambda a, b: a | b, mul=lambda a, b: frozenset(x + y for x in a for y in b),
                        zero=frozenset(), one=frozenset([""]), dtype=object,
                        samples=[frozenset("a"), frozenset(["b", "ab"])])
    E = sr.explain(sr.adjacency([("a", "b", frozenset("x")), ("b", "c", frozenset("y"))], words))
    assert "= ∅ ⊕ ({x} ⊗ {y}) = {xy}" in str(E) and "= ∅* = {ε}" in str(E)
    notation = data(E)["algebras"][0]["notation"]
    assert notation == "(Python objects, a | b, frozenset(x + y for x in a for y in b), ∅, {ε})"


def test_saved_and_shown(tmp_path: Path) -> None:
    E = sr.explain(sr.as_graph(EDGES), sr.min_plus, title="Roads & rivers")
    E.save(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    shown = E._repr_html_()
    assert html.unescape(re.search('srcdoc="(.*?)"', shown, re.DOTALL)[1]) == text
    assert 'title="Roads &amp; rivers"' in shown


@pytest.mark.parametrize("S", [sr.shortest_hops, sr.widest_shortest], ids=lambda S: S.name)
def test_limits_of_integers_in_a_component_are_infinite(S: sr.Semiring) -> None:
    dtype = np.dtype([(f, "i4") for f in S.default_dtype.names or ()], align=True)
    A = np.full((2, 2), S.zero_in(dtype), dtype)
    A[0, 1] = (3, np.iinfo("i4").max)
    found = sr.explain(A, S).closure
    assert found is not None and found[0][1].item() == (3.0, np.inf), A


def test_a_star_that_was_declared_sums_an_improving_cycle_step_by_step() -> None:
    S = sr.Semiring("complete", add=np.maximum, mul=np.add, zero=-np.inf, one=0,
                    star=lambda a: np.where(a > 0, np.inf, 0))
    A = np.array([[-np.inf, 1.0, -np.inf], [2.0, -np.inf, -3.0], [-np.inf] * 3])
    for method in ("floyd-warshall", "elimination"):
        explained = sr.explain(A, S, method=method)
        assert explained.failure is None and np.array_equal(explained.closure, sr.closure(A, S))
    assert sr.explain(A, sr.max_plus).failure is not None


def test_sets_are_written_as_sets() -> None:
    text = str(sr.explain(sr.adjacency([("a", "b", 5), ("b", "c", 6)], sr.bitset_may)))
    assert "= ∅ | ({0, 2} & {1, 2}) = {2}" in text and "= ∅* = all" in text


def test_integers_of_64_bits_are_not_rounded() -> None:
    """Where doubles would round them, the page computes with what the library computes with."""
    A = sr.adjacency([("a", "b", 3**20), ("b", "c", 3**19), ("a", "c", 1)], sr.counting)
    E = sr.explain(A, sr.counting)
    assert E.closure == np.asarray(sr.closure(A, sr.counting)).tolist() and E.closure[0][2] == 3**39 + 1
    assert f"= {3**39 + 1}  combines" in str(E)
    A = sr.adjacency([("a", "b", 2**53 + 1), ("b", "c", 2**60), ("a", "c", 2**61)], sr.min_plus)
    E = sr.explain(A)
    assert E.closure[0][2] == 2**60 + 2**53 + 1 and E.closure[2][0] == np.inf and "= (∞)* = 0" in str(E)
    assert data(E)["algebras"][0]["limits"] == {str(2**63 - 1): "∞", str(-(2**63)): "−∞"}
    long = sr.adjacency([("a", "b", 2**50), ("b", "c", 2**50), ("a", "c", 7)], sr.min_times)
    assert sr.explain(long).elements.dtype == np.float64, "a product leaves 64 bits"
    assert sr.explain(sr.adjacency([("a", "b", 7), ("b", "c", 2)], sr.min_plus)).closure[0][2].dtype == np.float64
