"""Single elements: where they live, how they are read and written."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.teach.elements import Elements


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
