"""Pairs of which the first component decides: which exist, a witness for the others, and what they compute."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simple_paths import best

import semiring as sr
from semiring.algebra.lexicographic import cancellable, in_order

inf = np.inf
quick = settings(max_examples=40)
# A number as an edge has it: the key by which less is better, ⊗, one, and edges that are no better than one.
NUMBERS: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any], float, list[float]]] = {
    "min_plus": (lambda a: a, lambda a, b: a + b, 0, [0, 1, 1, 2, 5]),
    "max_plus": (lambda a: -a, lambda a, b: a + b, 0, [0, -1, -1, -2, -5]),
    "max_min": (lambda a: -a, min, inf, [0, 1, 2, 3, 5]),
    "min_max": (lambda a: a, max, -inf, [0, 1, 2, 3, 5]),
    "viterbi": (lambda a: -a, lambda a, b: a * b, 1, [1, 0.5, 0.5, 0.25]),
    "min_times": (lambda a: a, lambda a, b: a * b, 1, [1, 2, 2, 4]),
    "boolean": (lambda a: -a, lambda a, b: a and b, 1, [1]),
}
CANCEL = ("min_plus", "max_plus", "viterbi", "min_times", "boolean")
FIRSTS = {**dict.fromkeys((*CANCEL, "max_times", "lukasiewicz", "saturating_min_plus", "shortest_hops"), True),
          **dict.fromkeys(("max_min", "min_max", "widest_shortest"), False)}


@pytest.mark.parametrize(("first", "cancels"), FIRSTS.items())
@pytest.mark.parametrize("second", ["min_plus", "max_min", "counting", "plus_times"])
def test_pairs_are_a_semiring_exactly_where_the_first_cancels(first: str, cancels: bool, second: str) -> None:
    if cancels:
        S = sr.lexicographic(first, second)
        assert sr.check_laws(S).ok and S.is_record and S is sr.lexicographic(sr.catalogue[first], sr.catalogue[second])
        assert S.selective == sr.catalogue[second].selective
        assert S.bounded == (sr.catalogue[first].bounded and sr.catalogue[second].selective)
        return
    with pytest.raises(sr.LawError, match=r"⊗ does not distribute on the left\. .* ⊗ of .* does not cancel\."):
        sr.lexicographic(first, second)


def test_the_refusal_has_a_witness_and_leads_on() -> None:
    with pytest.raises(sr.LawError) as caught:
        sr.lexicographic(sr.max_min, sr.min_plus)
    message = str(caught.value)
    assert message == (
        "max-min, then min-plus, is not a semiring: ⊗ does not distribute on the left. With a = (2, 5), b = (5, 3), "
        "c = (3, 2), a ⊗ (b ⊕ c) = (2, 8) but (a ⊗ b) ⊕ (a ⊗ c) = (2, 7). The reason: ⊗ of max-min does not cancel. "
        "So a walk that is worse now may be needed later. sr.paths(A, (first, second)) finds best paths in two stages.")
    a, b, c = ((2.0, 5.0), (5.0, 3.0), (3.0, 2.0))  # as the message says, by the operations of the pairs themselves
    S = in_order((sr.max_min, sr.min_plus))
    assert S.mul(a, S.add(b, c)).tolist() == (2, 8) and S.add(S.mul(a, b), S.mul(a, c)).tolist() == (2, 7)
    with pytest.raises(sr.LawError) as caught:
        sr.lexicographic(sr.max_min, sr.counting)
    assert "two stages" not in str(caught.value)


@pytest.mark.parametrize("which", ["left", "right"])
def test_it_has_to_cancel_on_both_sides(which: str) -> None:
    """A length, and at a tie the label of the first edge: what comes before an edge hides its label. Or of the last."""

    def mul(x: Any, y: Any) -> Any:
        known, other = (x, y) if which == "left" else (y, x)
        length = x.length + y.length
        return length, np.where(length == inf, inf, np.where(known.length == 0, other.label, known.label))

    S = sr.Semiring(
        "labels", fields={"length": "f8", "label": "f8"}, mul=mul, zero=(inf, inf), one=(0, 0),
        add=lambda x, y: np.where((x.length < y.length) | ((x.length == y.length) & (x.label <= y.label)), x, y),
        carrier=lambda a: (a.length >= 0) & (a.label >= 0) & ((a.length == 0) == (a.label == 0)) & (
            (a.length == inf) == (a.label == inf)),
    )
    assert S.selective and not S.commutative and sr.check_laws(S).ok
    with pytest.raises(sr.LawError, match=f"⊗ does not distribute on the {which}"):
        sr.lexicographic(S, sr.min_plus)


@pytest.mark.parametrize(("first", "second"), list(product(CANCEL, NUMBERS)))
def test_closures_against_every_path(first: str, second: str) -> None:
    (key, times, one, some), (key2, times2, one2, more) = NUMBERS[first], NUMBERS[second]
    S = sr.lexicographic(first, second)
    zero = S.zero

    @settings(quick, max_examples=12)
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        n = data.draw(st.integers(1, 5))
        places = data.draw(st.lists(st.sampled_from(list(product(range(n), repeat=2))), max_size=12, unique=True))
        pair = st.tuples(st.sampled_from(some), st.sampled_from(more))
        edges = {place: data.draw(pair) for place in places}
        A = S.array([[edges.get((i, j), zero) for j in range(n)] for i in range(n)])
        C = sr.closure(A, S)
        for i, j in product(range(n), repeat=2):
            found = best(edges, i, j, lambda w: (key(w[0]), key2(w[1])),
                         lambda x, y: (times(x[0], y[0]), times2(x[1], y[1])), (one, one2))
            assert C[i, j].tolist() == (zero if found is None else found), (edges, i, j)

    check()


@pytest.mark.parametrize(("name", "pair"), [
    ("widest_shortest", ("min_plus", "max_min")), ("shortest_hops", ("min_plus", "min_plus")),
    ("shortest_count", ("min_plus", "counting")),
])
def test_pairs_of_the_catalogue(name: str, pair: tuple[str, str]) -> None:
    S = sr.catalogue[name]
    T = sr.lexicographic(*pair, fields=list(S.fields or ()))
    assert T.default_dtype == S.default_dtype and T.zero == S.zero and T.one == S.one

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        n = data.draw(st.integers(1, 6))
        element = st.just(S.zero) | st.tuples(st.sampled_from([1.0, 1.0, 2.0, 3.5]), st.sampled_from([1.0, 2.0, 7.0]))
        A = S.array([[data.draw(element) for _ in range(n)] for _ in range(n)])
        for method in ("auto", "floyd-warshall", "elimination"):
            assert (sr.closure(A, T, method=method) == sr.closure(A, S)).all()
        assert (sr.matmul(A, A, T) == sr.matmul(A, A, S)).all()

    check()


def test_lengths_may_be_negative_and_cycles_are_found() -> None:
    S = sr.lexicographic(sr.min_plus, sr.max_min)
    edges = [("a", "b", (5.0, 1)), ("b", "c", (-3.0, 2)), ("a", "c", (2.0, 1)), ("c", "d", (-1.0, 9))]
    R = sr.paths(sr.as_graph(edges), S)
    assert R["a", "d"].vertices == ["a", "b", "c", "d"] or R["a", "d"].vertices == ["a", "c", "d"]
    assert tuple(R["a", "d"].weight) == (1.0, 1.0)
    with pytest.raises(sr.NoClosureError):
        sr.closure(sr.as_graph([*edges, ("c", "a", (-3.0, 1))]), S)
    with pytest.raises(sr.NoClosureError, match=r"weight \(1.5, 1\) is improving"):  # of products too
        sr.closure([("a", "b", (3.0, 1)), ("b", "a", (0.5, 1))], sr.lexicographic(sr.max_times, sr.max_min))
    with pytest.raises(sr.GraphError, match="outside the carrier"):  # it is no longer to go round, and would be better
        sr.closure(sr.as_graph([("a", "b", (0, 1)), ("b", "a", (0, -2))]), ("min_plus", "min_plus"))


def test_integers_stop_at_their_limits() -> None:
    S = sr.lexicographic(sr.min_plus, sr.min_plus, fields=["cost", "hops"])
    most = np.iinfo("i1").max
    A = np.array([[(most, most), (100, 1)], [(most, most), (most, most)]], [("cost", "i1"), ("hops", "i1")])
    with pytest.raises(sr.SemiringError, match=r"a result is 126 or more, which int8 cannot hold; .* wider components"):
        sr.matmul(A, A.T, S)
    assert sr.matmul(A, A, S).tolist() == [[(most, most)] * 2] * 2  # nor is what is added to ∞ less
    long = np.array([[(100, 1)]], [("cost", "i2"), ("hops", "i1")])
    assert sr.matmul(long, long, S)[0, 0].tolist() == (200, 2)
    B = np.array([[(30, 1), (2, 3)], [(4, 5), (most, most)]], A.dtype)
    assert sr.closure(B, S).tolist() == [[(0, 0), (2, 3)], [(4, 5), (0, 0)]]


def test_three_criteria_and_names() -> None:
    S = sr.lexicographic(sr.lexicographic(sr.min_plus, sr.min_plus), sr.max_min)
    assert list(S.fields or ()) == ["min_plus", "min_plus_2", "max_min"]
    roads = [("a", "b", (1, 1, 5)), ("b", "c", (1, 1, 5)), ("a", "d", (1, 1, 3)), ("d", "c", (1, 1, 9)),
             ("a", "c", (2, 3, 8))]
    assert sr.closure(sr.as_graph(roads), S)["a", "c"].tolist() == (2, 2, 5)
    assert list(sr.lexicographic("min_plus", "max_min", fields=("cost", "width")).fields or ()) == ["cost", "width"]
    saturating = sr.lexicographic(sr.saturating_min_plus(9), sr.max_min)
    assert list(saturating.fields or ()) == ["saturating_min_plus_9", "max_min"]
    for fields in (["cost"], ["cost", "cost"], "ab", 3, [1, 2]):
        with pytest.raises(sr.SemiringError, match="fields"):
            sr.lexicographic("min_plus", "max_min", fields=fields)  # type: ignore[arg-type]


def test_infinities_cannot_be_cancelled() -> None:
    S = sr.lexicographic(sr.min_plus, sr.max_min)
    assert cancellable(sr.min_plus, np.array([-inf, 0.0, 3.0, inf])).tolist() == [False, True, True, True]
    assert S.over(S.default_dtype).contains(S.array([(-inf, 1.0), (inf, 1.0), S.zero, (3.0, -inf)])).tolist() == [
        False, False, True, True
    ]


@pytest.mark.parametrize(("pair", "message"), [
    (("gf2", "min_plus"), "the first component cannot decide, because in gf2 ⊕ is not selective"),
    (("min_plus", "regex"), "regex works on Python objects"), (("plus_min", "min_plus"), "plus-min is not a semiring"),
    (("min_plus", "min_pus"), "did you mean 'min_plus'"),
])
def test_refusals(pair: tuple[str, str], message: str) -> None:
    with pytest.raises(sr.SemiringError, match=message):
        sr.lexicographic(*pair)


def test_in_order() -> None:
    assert in_order(sr.min_plus) is in_order("min-plus") is sr.min_plus
    assert in_order(("min_plus", "max_min")) is in_order([sr.min_plus, sr.max_min])
    assert in_order((sr.min_plus, sr.max_min)) is sr.lexicographic(sr.min_plus, sr.max_min)
    S = in_order((sr.max_min, sr.min_plus))
    assert S.stages == (sr.max_min, sr.min_plus) and S.product_only and S is in_order((sr.max_min, sr.min_plus))
    assert S.over(S.default_dtype).contains(S.array([(3.0, inf), S.zero, (3.0, 2.0)])).tolist() == [False, True, True]
    for pair, message in (
        ((sr.max_min, sr.counting), "cannot be found in two stages, because in counting ⊕ is not selective"),
        ((sr.widest_shortest, sr.min_plus), "in two stages, because in widest-shortest ⊗ does not select"),
        ((sr.max_min,), r"\(max-min\) holds 1 algebras"), ([0], r"\[0\] is not a semiring"),
        ((sr.min_plus, 3), "is not a semiring"), ((sr.max_min, sr.min_plus, sr.min_plus), "holds 3 algebras"),
        ((sr.gf2, sr.min_plus), "in gf2 ⊕ is not selective"),
    ):
        with pytest.raises(sr.SemiringError, match=message):
            in_order(pair)
