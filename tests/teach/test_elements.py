"""Single elements: where they live, how they are read and written."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.teach.elements import Elements, written


def test_pages_compute_in_doubles_where_an_algebra_has_them() -> None:
    assert Elements(sr.min_plus).dtype == np.float64
    assert Elements(sr.boolean).dtype == bool
    assert Elements(sr.bitset_may).dtype == np.uint64, "all of the library's 64 facts"
    assert Elements(sr.shortest_count).dtype.names == ("dist", "count")
    assert [Elements(S).live for S in (sr.min_plus, sr.regex, sr.pareto, sr.why)] == [True, True, False, False]


def test_elements_of_other_dtypes() -> None:
    E = Elements(sr.min_plus)
    assert E.element(np.int8(3)) == 3.0
    assert E.element(2**53) == 2.0**53
    with pytest.raises(sr.SemiringError, match="too many digits"):
        E.element(2**53 + 1)
    with pytest.raises(sr.SemiringError, match="not an element"):
        Elements(sr.viterbi).element(7)
    with pytest.raises(sr.SemiringError, match="does not fit"):
        Elements(sr.gcd_lcm).element(2**70)
    assert Elements(sr.gcd_lcm).element(2**40) == 2**40
    assert tuple(Elements(sr.shortest_count).element(5)) == (5, 1)


def test_equality() -> None:
    E = Elements(sr.min_plus)
    assert E.same(np.float64(np.nan), np.float64(np.nan))
    assert not E.same(np.float64(1), np.float64(2))
    a, b = sr.letter("a"), sr.letter("b")
    R = Elements(sr.regex)
    assert R.same(R.add(a, b), R.add(b, a))
    assert not R.same(R.star(R.add(a, b)), R.star(R.mul(R.star(a), R.star(b))))  # the same words, written otherwise


def test_written() -> None:
    assert [written(x) for x in (True, 7, -2, 0.25, 1 / 3, np.inf, -np.inf, np.float32(2))] == [
        "1", "7", "−2", "0.25", "0.3333", "∞", "−∞", "2"]
    assert written(np.array((0.5, 3), "f8,i4")[()]) == "(0.5, 3)"
    assert written(frozenset({frozenset("b"), frozenset("ac")})) == "{{a, c}, {b}}"
    assert written(frozenset()) == "∅"
    assert written(sr.regex.star(sr.regex.add(sr.letter("a"), sr.letter("b")))) == "(a|b)*"


def test_whole_numbers_are_written_in_full() -> None:
    for x in (12345, 22346, 1000003, 2**53 - 1, -10001):
        assert written(float(x)) == written(x) == str(x).replace("-", "−")
    assert written(12345.5) == "12345.5" and written(0.25) == "0.25" and written(1234.5678) == "1234.57"
