"""The elements that are shown where a law fails: the simplest that break it, finite ones where they do."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algebra import laws
from semiring.algebra.elements import equal, sequence
from semiring.algebra.witnesses import Breach, is_finite, ranks, simplest

inf, nan = math.inf, math.nan
PAIR = np.dtype([("cost", "f8"), ("hops", "i4")])


def in_order(elements: Any, dtype: Any = "f8") -> list[Any]:
    """The elements from the simplest to the least simple."""
    array = sequence(elements, np.dtype(dtype))
    return [array[i].item() if array.dtype != object else array[i] for i in np.argsort(ranks(array), kind="stable")]


def alone(element: Any, dtype: np.dtype) -> np.ndarray:
    """An array of one element."""
    result = np.empty(1, dtype)
    result[0] = element
    return result


def test_small_whole_numbers_come_first_and_infinities_last() -> None:
    found = in_order([nan, -inf, inf, 1e12, 0.3, 2.75, 12, -1, 0.5, 2, 1, 0])
    assert found[:-1] == [0, 1, -1, 2, 0.5, 2.75, 12, 0.3, 1e12, inf, -inf] and math.isnan(found[-1])
    assert ranks(np.array([3, 0, 3, 7], "u1")).tolist() == [1, 0, 1, 2]
    assert ranks(np.array([True, False])).tolist() == [1, 0]
    assert in_order([1j, 2 + 1j, 0, complex(inf, 0)], complex) == [0, 1j, 2 + 1j, complex(inf, 0)]
    assert ranks(np.empty(0)).shape == (0,)
    assert in_order([np.finfo("f8").max, inf]) == [np.finfo("f8").max, inf]


def test_records_go_by_their_worst_component() -> None:
    assert in_order([(inf, 0), (0, 5), (5, 0), (3, 4), (0, 0)], PAIR) == [(0, 0), (3, 4), (0, 5), (5, 0), (inf, 0)]


def test_objects_that_are_no_numbers_go_by_the_length_of_their_text() -> None:
    assert in_order([frozenset("abc"), frozenset("a"), frozenset()], object) == [
        frozenset(), frozenset("a"), frozenset("abc")]
    numbers = [10**400, inf, Fraction(1, 3), Fraction(10**400, 3), 2]
    assert in_order(numbers, object)[:2] == [2, Fraction(1, 3)] and in_order(numbers, object)[-1] == inf


def test_what_is_finite() -> None:
    assert is_finite(np.array([(inf, 1), (2, 1), (nan, 0)], PAIR)).tolist() == [False, True, False]
    assert is_finite(np.array([inf, nan, -inf, 1, "x", np.float32("inf")], object)).tolist() == [
        False, False, False, True, True, False]
    assert is_finite(np.array([1, 2], "u1")).all() and is_finite(np.array([True])).all()


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()), min_size=1, max_size=9))
def test_the_simplest_combination_is_the_first_of_the_sorted_ones(rows: list[tuple[int, int, bool]]) -> None:
    first, second, endless = (np.array(column) for column in zip(*rows, strict=True))
    obvious = min(rows, key=lambda row: (row[2], max(row[:2]), sum(row[:2]), row[:2]))
    assert rows[simplest([first, second], endless)] == obvious


@settings(max_examples=40)
@given(st.lists(st.integers(0, 6), min_size=49, max_size=49), st.permutations(range(7)))
def test_a_broken_table_shows_its_least_breach(table: list[int], elements: list[int]) -> None:
    """An operation on 0 … 6 by its table: of all pairs that do not commute the least without 0 and 1 is shown."""
    T = np.array(table).reshape(7, 7)
    law = laws.FLAGS["commutative"]

    class Tabled:
        dtype, zero, one = np.dtype("i8"), 0, 1

        def mul(self, x: Any, y: Any) -> Any:
            return T[x, y]

        add = raw_mul = mul

        def star(self, x: Any) -> Any:
            return x

        defined = contains = star

    verdict = laws.judge(law, Tabled(), np.array(elements), np.array([], "i8"))
    broken = [(a, b) for a, b in product(range(7), repeat=2) if T[a, b] != T[b, a]]
    assert verdict.holds is not bool(broken)
    if broken:
        assert verdict.witness == min(broken, key=lambda w: (sum(x < 2 for x in w), max(w), sum(w), w))
        assert (verdict.left, verdict.right) == (T[verdict.witness], T[verdict.witness[::-1]])


@pytest.mark.parametrize("name", [*sr.catalogue, *sr.counter_examples])
def test_witnesses_break_their_law_and_are_finite_where_they_can_be(name: str) -> None:
    S = {**sr.catalogue, **sr.counter_examples}[name]
    A = S.over(S.default_dtype)
    notable = S.elements_in(S.default_dtype).notable
    finite = notable[is_finite(notable)][:12]
    for verdict in sr.check_laws(S):
        if verdict.holds:
            assert (verdict.witness, verdict.left, verdict.right, verdict.breach) == ((), None, None, None)
            continue
        left, right = verdict.law.sides(A, *(alone(w, A.dtype) for w in verdict.witness))
        assert not equal(left, right)[0]
        assert equal(left, alone(verdict.left, A.dtype))[0]
        # Plain loops over finite elements: if they break the law by more than rounding, so does the witness.
        for w in product(finite, repeat=verdict.law.arity):
            left, right = verdict.law.sides(A, *(alone(x, A.dtype) for x in w))
            if not S.is_object and is_finite(left)[0] and is_finite(right)[0] and not equal(left, right)[0]:
                assert all(is_finite(alone(x, A.dtype))[0] for x in verdict.witness), (str(verdict), w)
                break


def test_witnesses_are_those_of_a_textbook() -> None:
    told = [str(v) for v in sr.check_laws(sr.counter_examples["plus_min"]).failures]
    assert told[0] == ("⊗ does not distribute on the left. With a = 2, b = 3, c = 5, a ⊗ (b ⊕ c) = 2 "
                       "but (a ⊗ b) ⊕ (a ⊗ c) = 4")
    widest = sr.check_laws(sr.counter_examples["shortest_widest"]).failures[0]
    assert "∞" not in str(widest) and [tuple(w) for w in widest.witness] == [(2, 5), (3, 2), (5, 3)]
    with pytest.raises(sr.LawError, match=r"⊗ is not associative\. With a = 2, b = 3, c = 5, .* = 0\.13.* = 3\.3"):
        sr.Semiring("quotients", add=np.add, mul=np.divide, zero=0, one=1, carrier=np.isfinite)


@pytest.mark.parametrize("options", [
    {"add": lambda a, b: (a + b) / 2, "mul": np.multiply, "zero": 0, "one": 1},
    {"add": np.subtract, "mul": np.multiply, "zero": 0, "one": 1},
    {"add": np.maximum, "mul": lambda a, b: a * b / 2, "zero": 0, "one": 1, "carrier": lambda a: (a >= 0) & (a <= 1)},
    {"add": np.minimum, "mul": lambda a, b: 2 * a + b, "zero": inf, "one": 0},
    {"add": np.maximum, "mul": lambda a, b: a + b * b, "zero": 0, "one": 0.5, "carrier": np.isfinite},
    {"fields": {"km": "f8", "m": "f8"}, "zero": (inf, inf), "one": (0, 0), "mul": lambda x, y: (x.km + y.km, x.m + y.m),
     "add": lambda x, y: (np.minimum(x.km, y.km), np.minimum(x.m, 2 * y.m))},
])
def test_witnesses_are_ordinary_and_different(options: dict[str, Any]) -> None:
    """Not 0, 1 or ∞, and no two the same, in every law that such elements break."""
    with pytest.raises(sr.LawError) as caught:
        sr.Semiring("own", **options)
    for verdict in caught.value.failures:
        if "carrier" in verdict.law.name:
            continue
        numbers = [float(x) for w in verdict.witness for x in (w.item() if w.dtype.names else [w])]
        assert not {0.0, 1.0, inf, -inf} & set(numbers), str(verdict)
        assert len({w.item() for w in verdict.witness}) == len(verdict.witness), str(verdict)


def test_objects_other_than_zero_and_one_are_preferred() -> None:
    words = [frozenset(), frozenset({"a"}), frozenset({"b"}), frozenset({"bc"})]
    with pytest.raises(sr.LawError) as caught:
        sr.Semiring("own", dtype=object, add=frozenset.union, zero=words[0], one=words[1], samples=words,
                    mul=lambda a, b: frozenset(x + y for x in a for y in b))
    assert "With a = {b}, 1 ⊗ a = {ab}, not {b}" in str(caught.value), "sets are written as sets"


def test_the_samples_of_the_caller_are_the_only_witnesses() -> None:
    verdict = sr.check_laws(sr.plus_min, [0.0, 1.0, 11.0, inf]).failures[0]
    assert {float(w) for w in verdict.witness} <= {0.0, 1.0, 11.0, inf}


def test_infinities_are_told_where_nothing_else_breaks_the_law() -> None:
    S = sr.counter_examples["plus_min"]
    verdict = sr.check_laws(S, [0.0, inf]).flags["idempotent"]
    assert verdict.holds
    broken = sr.check_laws(sr.plus_times, [0.0, 3.0]).flags["idempotent"]
    assert broken.witness == (3.0,)
    assert isinstance(broken.breach, Breach) and broken.breach.simplest is broken.breach.simplest
