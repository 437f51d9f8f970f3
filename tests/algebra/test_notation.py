"""The tuple of an algebra as its author wrote it, and elements as a person writes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.algebra.notation import source, written

inf = np.inf


def merge(a: Any, b: Any) -> Any:
    return a | b


def is_words(a: Any) -> bool:
    return isinstance(a, frozenset)


WORDS = {"zero": frozenset(), "one": frozenset([""]), "dtype": object,
         "samples": [frozenset("a"), frozenset(["b", "ab"])]}


@pytest.mark.parametrize(("declared", "expected"), [
    ({"fields": {"km": "f8", "m": "f8"}, "add": lambda a, b: (np.minimum(a.km, b.km), np.maximum(a.m, b.m)),
      "mul": lambda a, b: (a.km + b.km, np.minimum(a.m, b.m)), "zero": (inf, -inf), "one": (0, inf),
      "carrier": lambda a: a.km >= 0},
     "({a: a.km ≥ 0}, (min(a.km, b.km), max(a.m, b.m)), (a.km + b.km, min(a.m, b.m)), (∞, −∞), (0, ∞))"),
    ({"fields": {"v": ("f8", 2)}, "add": lambda a, b: (np.minimum(a.v, b.v),), "mul": lambda a, b: (a.v + b.v,),
      "zero": ((inf, inf),), "one": ((0, 0),)},
     "((v), (min(a.v[0], b.v[0]), min(a.v[1], b.v[1])), (a.v[0] + b.v[0], a.v[1] + b.v[1]), ((∞, ∞)), ((0, 0)))"),
    ({"add": max, "mul": np.multiply, "zero": 0.0, "one": 1.0, "carrier": lambda a: 0 <= a <= 1},
     "({a: 0 ≤ a ≤ 1}, max(a, b), a · b, 0, 1)"),
    ({"add": np.maximum, "mul": np.add, "zero": -inf, "one": 0, "carrier": lambda a: a < inf},
     "({a: a < ∞}, max(a, b), a + b, −∞, 0)"),
    ({"add": np.logical_or, "mul": np.logical_and, "zero": False, "one": True, "dtypes": "b"},
     "({0, 1}, a or b, a and b, 0, 1)"),
    ({**WORDS, "add": merge, "mul": lambda a, b: frozenset(x + y for x in a for y in b)},
     "(Python objects, merge, frozenset(x + y for x in a for y in b), ∅, {ε})"),
    ({**WORDS, "add": lambda p, q: p | q, "mul": lambda a, b: frozenset(x + y for x in a for y in b),
      "carrier": is_words},
     "({a: is_words(a)}, p | q, frozenset(x + y for x in a for y in b), ∅, {ε})"),
    ({**WORDS, "add": merge, "mul": lambda a, b: frozenset(x + y for x in a for y in b),
      "carrier": lambda s: isinstance(s, frozenset)},
     "({s: isinstance(s, frozenset)}, merge, frozenset(x + y for x in a for y in b), ∅, {ε})"),
], ids=["record", "vector", "bounds", "one bound", "truth values", "objects", "a named carrier", "a lambda as carrier"])
def test_the_tuple_as_it_was_written(declared: dict[str, Any], expected: str) -> None:
    assert sr.Semiring("mine", **declared).notation == expected


def test_a_lambda_of_which_there_is_no_source_has_a_short_name() -> None:
    made = eval("lambda a, b: a | b")
    assert source(made) == "a function"
    both = (lambda a: a + 1), (lambda a: a + 2)
    assert [source(f) for f in both] == ["a + 1", "a + 2"], "two on a line"


def test_written() -> None:
    assert [written(x) for x in (True, 7, -2, 0.25, 1 / 3, inf, -inf, np.float32(2))] == [
        "1", "7", "−2", "0.25", "0.3333", "∞", "−∞", "2"]
    assert written(np.array((0.5, 3), "f8,i4")[()]) == "(0.5, 3)"
    assert written(frozenset({frozenset("b"), frozenset("ac")})) == "{{a, c}, {b}}"
    assert written(frozenset()) == "∅" and written(frozenset([""])) == "{ε}"
    assert written(sr.regex.star(sr.regex.add(sr.letter("a"), sr.letter("b")))) == "(a|b)*"


def test_whole_numbers_are_written_in_full() -> None:
    for x in (12345, 22346, 1000003, 2**53 - 1, -10001):
        assert written(float(x)) == written(x) == str(x).replace("-", "−")
    assert written(12345.5) == "12345.5" and written(0.25) == "0.25" and written(1234.5678) == "1234.57"
