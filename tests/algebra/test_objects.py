"""Antichains against their definition, and regular expressions against Python's own."""

from __future__ import annotations

import copy
import pickle
import re
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algebra.objects import EMPTY, EPSILON, alternative, concatenation, iteration, minimal, non_dominated

quick = settings(max_examples=60)

# Antichains

COSTS = st.frozensets(st.tuples(*[st.integers(0, 4)] * 2), max_size=8)
SETS = st.frozensets(st.frozensets(st.sampled_from("abcd"), max_size=3), max_size=6)


@quick
@given(st.integers(1, 3).flatmap(lambda k: st.lists(st.tuples(*[st.integers(0, 4)] * k), max_size=12)))
def test_vectors_that_no_other_is_at_most(costs: list[tuple]) -> None:
    def dominates(p: tuple, q: tuple) -> bool:
        return p != q and all(x <= y for x, y in zip(p, q, strict=True))

    assert non_dominated(costs) == {c for c in costs if not any(dominates(d, c) for d in costs)}
    assert non_dominated(iter(costs)) == non_dominated(costs[::-1])


@quick
@given(SETS)
def test_sets_that_contain_no_other(sets: frozenset) -> None:
    assert minimal(sets) == {s for s in sets if not any(t < s for t in sets)}


@quick
@given(COSTS, COSTS, SETS, SETS)
def test_sums_and_products_are_those_of_all_pairs(p: frozenset, q: frozenset, x: frozenset, y: frozenset) -> None:
    p, q, x, y = non_dominated(p), non_dominated(q), minimal(x), minimal(y)
    assert sr.pareto.add(p, q) == non_dominated([*p, *q])
    assert sr.pareto.mul(p, q) == non_dominated((a + c, b + d) for (a, b), (c, d) in product(p, q))
    assert sr.why.add(x, y) == minimal([*x, *y]) and sr.why.mul(x, y) == minimal(s | t for s, t in product(x, y))
    assert sr.pareto.mul(p, sr.pareto.zero) == frozenset() and sr.why.mul(sr.why.one, y) == y


def test_trade_offs_and_reasons_of_a_small_graph() -> None:
    """Three ways from 0 to 3: fast and dear, slow and cheap, and one that is neither."""
    costs = {(0, 1): (1, 5), (1, 3): (1, 5), (0, 2): (4, 1), (2, 3): (4, 1), (0, 3): (9, 11)}
    C = sr.closure(sr.adjacency([(a, b, frozenset({c})) for (a, b), c in costs.items()], sr.pareto), sr.pareto)
    assert C[0, 3] == {(2, 10), (8, 2)} and C[3, 0] == frozenset() and C[2, 2] == {(0, 0)}
    edges = [(a, b, frozenset({frozenset([f"{a}{b}"])})) for a, b in [*costs, (3, 0)]]
    D = sr.closure(sr.adjacency(edges, sr.why), sr.why)
    assert D[0, 3] == {frozenset({"01", "13"}), frozenset({"02", "23"}), frozenset({"03"})}
    assert D[1, 2] == {frozenset({"13", "30", "02"})}


@quick
@given(st.integers(1, 4).flatmap(lambda k: st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.tuples(*[st.integers(0, 4)] * k)), max_size=7)))
def test_trade_offs_of_any_number_of_costs(edges: list) -> None:
    """Against walks of up to four vertices, summed one by one; a sum of no costs is (0, 0), however many there are."""
    C = sr.closure(sr.adjacency([(a, b, frozenset({c})) for a, b, c in edges], sr.pareto, names=range(4)), sr.pareto)
    walks: dict = {v: [(v, None)] for v in range(4)}
    for source in range(4):
        found, last = [(source, None)], [(source, None)]
        for _ in range(3):
            last = [(b, c if sums is None else tuple(map(sum, zip(sums, c, strict=True))))
                    for at, sums in last for a, b, c in edges if a == at]
            found += last
        walks[source] = found
        for target in range(4):
            sums = [c for v, c in found if v == target and c is not None]
            assert C[source, target] == (sr.pareto.one if source == target else non_dominated(sums))


def test_costs_that_differ_in_number_are_refused_in_words() -> None:
    edges = [("a", "b", frozenset({(1, 2)})), ("b", "c", frozenset({(1, 2, 3)}))]
    for ask in (lambda: sr.closure(edges, sr.pareto), lambda: sr.pareto.add(edges[0][2], edges[1][2]),
                lambda: sr.power(sr.adjacency(edges, sr.pareto), sr.pareto, 2)):
        with pytest.raises(sr.SemiringError, match=r"of 2 costs meets one of 3, \(1, 2\) and \(1, 2, 3\)"):
            ask()


@pytest.mark.parametrize(("S", "inside", "outside"), [
    (sr.pareto, [frozenset(), {(0, 0)}, {(1, 2), (2, 1)}, {(0.5, np.inf)}, {(3,)}],
     [{(1, 1), (2, 2)}, {(-1, 2)}, {(1, 2), (1, 2, 3)}, {"ab"}, {(1, "x")}, {(1, float("nan"))}]),
    (sr.why, [frozenset(), {frozenset()}, {frozenset("a"), frozenset("b")}],
     [{frozenset(), frozenset("a")}, {"a"}, {frozenset("a"), frozenset("ab")}, {1}]),
    (sr.regex, [EMPTY, EPSILON, sr.letter("7")], ["a", None, "∅"]),
], ids=lambda x: getattr(x, "name", ""))
def test_what_is_an_element(S: sr.Semiring, inside: list, outside: list) -> None:
    A = S.over(np.dtype(object))
    for elements, expected in ((inside, True), (outside, False)):
        array = np.empty(len(elements), object)
        array[:] = [frozenset(e) if isinstance(e, set) else e for e in elements]
        assert A.contains(array).tolist() == [expected] * len(elements)
    for no_antichain in (3, [(0, 0)], {(0, 0)}, None):
        array = np.empty(1, object)
        array[0] = no_antichain
        assert not A.contains(array).any()


# Regular expressions

WORDS = ["".join(w) for k in range(5) for w in product("ab", repeat=k)]
EXPRESSIONS = st.recursive(
    st.sampled_from([EMPTY, EPSILON, sr.letter("a"), sr.letter("b")]),
    lambda parts: st.builds(alternative, parts, parts) | st.builds(concatenation, parts, parts) | st.builds(
        iteration, parts),
    max_leaves=8,
)


def language(x: sr.Regex) -> list[bool]:
    """Which words the text matches, by Python's own expressions."""
    pattern = re.compile(str(x).replace("ε", "(?:)").replace("∅", "(?!)"))
    return [pattern.fullmatch(word) is not None for word in WORDS]


@quick
@given(EXPRESSIONS)
def test_words_match_as_pythons_expressions_say(x: sr.Regex) -> None:
    expected = language(x)
    assert [x.matches(word) for word in WORDS] == expected
    assert x.nullable is expected[0]
    assert [x.derivative("a").matches(w) for w in WORDS if len(w) < 4] == [
        x.matches("a" + w) for w in WORDS if len(w) < 4]
    assert x.letters() == set(str(x)) & set("ab")


@quick
@given(EXPRESSIONS, EXPRESSIONS)
def test_equal_means_the_same_words(x: sr.Regex, y: sr.Regex) -> None:
    if x == y:
        assert language(x) == language(y) and hash(x) == hash(y)
    assert alternative(x, y) == alternative(y, x) and concatenation(x, alternative(y, x)) == alternative(
        concatenation(x, y), concatenation(x, x))
    assert iteration(alternative(x, y)) == iteration(concatenation(iteration(x), iteration(y)))
    assert iteration(x) == alternative(EPSILON, concatenation(x, iteration(x)))


def test_what_differs_in_long_words_only_is_not_equal() -> None:
    a = sr.letter("a")
    sixes, sevens = EPSILON, EPSILON
    for _ in range(6):
        sixes = concatenation(sixes, a)
    sevens = concatenation(sixes, a)
    assert iteration(sixes) != iteration(sevens) and language(iteration(sixes)) == language(iteration(sevens))
    twelve = iteration(concatenation(sixes, sixes))
    assert alternative(twelve, concatenation(sixes, twelve)) == iteration(sixes)


def test_how_expressions_are_written() -> None:
    a, b = sr.letter("a"), sr.letter("b")
    ab = concatenation(a, b)
    written: list[tuple[Any, str]] = [
        (alternative(b, a), "a|b"), (concatenation(alternative(a, b), a), "(?:a|b)a"), (iteration(ab), "(?:ab)*"),
        (iteration(a), "a*"), (concatenation(iteration(a), b), "a*b"), (alternative(ab, a), "a|ab"),
        (alternative(a, a), "a"), (concatenation(a, EMPTY), "∅"), (concatenation(EPSILON, a), "a"),
        (alternative(EMPTY, a), "a"), (iteration(iteration(a)), "a*"), (iteration(EMPTY), "ε"), (EMPTY, "∅"),
        (concatenation(concatenation(a, b), concatenation(b, a)), "abba"),
    ]
    assert [str(x) for x, _ in written] == [text for _, text in written]
    assert repr(ab) == "Regex('ab')" and ab != "ab" and (ab == 3) is False


@pytest.mark.parametrize("text", ["", "ab", "|", "*", " ", "ε" * 2, "\n", None, 3, b"a", ["a"]])
def test_what_is_no_letter(text: Any) -> None:
    with pytest.raises(sr.SemiringError, match=r"^letter\(.*\) takes a single letter or digit$"):
        sr.letter(text)


@pytest.mark.parametrize("text", ["a", "Z", "0", "é", "木", "ß"])
def test_letters_of_any_script(text: str) -> None:
    assert sr.letter(text).matches(text) and not sr.letter(text).matches("") and str(sr.letter(text)) == text


def test_the_sign_of_the_empty_word_is_not_a_letter() -> None:
    with pytest.raises(sr.SemiringError, match="empty word"):
        sr.letter("ε")


@pytest.mark.parametrize("again", [copy.deepcopy, copy.copy, lambda x: pickle.loads(pickle.dumps(x)),
                                   lambda x: pickle.loads(pickle.dumps(x, 0))], ids=["deep", "copy", "pickle", "old"])
def test_a_copy_spells_what_the_original_spells(again: Any) -> None:
    """Every operation on copies, also of copies and originals, is written as that on the originals."""
    a, b = sr.letter("a"), sr.letter("b")
    some = [EMPTY, EPSILON, a, alternative(a, EPSILON), concatenation(a, b), iteration(a), iteration(alternative(a, b))]
    for x, y in product(some, some):
        for operation in (alternative, concatenation):
            texts = {operation(p, q).text for p in (x, again(x)) for q in (y, again(y))}
            assert texts == {operation(x, y).text}
        assert iteration(again(x)).text == iteration(x).text
        assert again(x) == x and again(x).text == x.text and again(x).nullable == x.nullable


@pytest.mark.parametrize("S", [sr.why, sr.pareto, sr.regex], ids=lambda S: S.name)
@pytest.mark.parametrize("wrong", ["f1", {"f1"}, (1, 2), 3.0])
def test_a_refusal_of_what_is_no_element_says_how_one_is_written(S: sr.Semiring, wrong: Any) -> None:
    A = np.empty((1, 1), object)
    A[0, 0] = wrong
    for ask in (lambda: sr.closure([("a", "b", wrong)], S), lambda: sr.closure(A, S),
                lambda: sr.adjacency([("a", "b", wrong)], S), lambda: sr.check_laws(S, [wrong])):
        with pytest.raises(sr.SemiringError, match="an element is written as") as caught:
            ask()
        element = eval(str(caught.value).rpartition(" is written as ")[2], {"sr": sr, "frozenset": frozenset})
        assert S.over(object).contains(np.array([element], object)).all()


@pytest.mark.parametrize("given", [("a|b",), ("",), ("a",), ("letter",), ("iteration",), ("concatenation", (EMPTY,))])
def test_a_text_is_no_expression(given: tuple) -> None:
    with pytest.raises(sr.SemiringError, match=r"texts are not parsed: combine letters, such as sr\.letter"):
        sr.Regex(*given)
