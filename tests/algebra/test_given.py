"""Operands of ⊕ and ⊗ that are not elements, or do not go together: what is refused, and how it is said."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import semiring as sr

inf, nan = np.inf, np.nan


@pytest.mark.parametrize(("S", "x", "y", "said"), [
    (sr.min_plus, [1.0, 2.0], [1.0, 2.0, 3.0], r"x has shape \(2,\) and y \(3,\), which do not broadcast"),
    (sr.min_plus, np.ones((2, 3)), np.ones((3, 2)), "which do not broadcast"),
    (sr.regex, [sr.letter("a")] * 2, [sr.letter("a")] * 3, "which do not broadcast"),
    (sr.min_plus, Decimal(1), 0.0, "x has Decimal and y has float"),
    (sr.min_plus, np.array([1.0, 2], object), [Decimal(0)] * 2, "Decimal and float together"),
    (sr.log, 10**400, 1.0, "x is 10+…, an integer too large"),
    (sr.log, 1.0, [1, 10**400], r"y\[1\] is 10+…, an integer too large"),
    (sr.counting, 1, 10**400, "y does not fit the dtype int64"),
    (sr.min_plus, "a", 1.0, "cannot live in str32"), (sr.min_plus, 1.0, "a", "cannot live in str32"),
    (sr.min_plus, [1.0, "a"], 1.0, "cannot live in str"), (sr.min_plus, 1.0, b"a", "cannot live in bytes8"),
    (sr.min_plus, 1.0, np.datetime64("2020-01-01"), "cannot live in datetime64"),
    (sr.min_plus, None, 1.0, "x is None, which is not a number; zero is ∞"),
    (sr.min_plus, 1.0, [[1.0, None]], r"y\[0, 1\] is None"), (sr.min_plus, 1.0, {}, "y is {}, which is not a number"),
    (sr.min_plus, np.array([1.0, "x"], object), 1.0, r"x\[1\] is 'x'"),
    (sr.min_plus, [[1.0], [1.0, 2.0]], 1.0, "in lists of equal length"),
    (sr.min_plus, scipy.sparse.eye(3).tocsr(), 1.0, "not defined for objects of type csr_matrix"),
    (sr.min_plus, object(), 1.0, "not defined for objects of type object"),
    (sr.shortest_hops, (1.0, 2, 3), (1.0, 2), "x is .* must be tuples of cost, hops"),
    (sr.shortest_hops, (1.0, 2), "a", "y is 'a', and must be tuples of cost, hops"),
    (sr.shortest_hops, (1.0, 2), [(1.0, None)], "y has None"),
    (sr.shortest_hops, (1.0, 2), (1.0, 10**400), "must be tuples of cost, hops"),
    (sr.shortest_hops, np.zeros(2, complex), (1.0, 2), "x has numbers, and the elements are records"),
    (sr.regex, sr.letter("a"), 3, "y has 3, which is not an element"), (sr.regex, None, sr.letter("a"), "x has None"),
    (sr.min_plus, 1.0, 1j, "y does not fit the dtype float64 .*complex"), (sr.min_plus, [1], [1j], "complex"),
    (sr.min_plus, [1], 0.5, "0.5 is not an integer"), (sr.min_plus, [1], nan, "nan is not an integer"),
    (sr.min_plus, [1], Fraction(1, 2), "0.5 is not an integer"),
    (sr.min_plus, np.array([1], "i1"), 300, r"y is 300, which the dtype int8 .* for example with .astype\('int64'\)"),
    (sr.min_plus, np.array([1], "i1"), np.array([[300]]), r"y\[0, 0\] is 300"),
    (sr.min_plus, np.array([1], "u8"), -1, "y is -1, which the dtype uint64"),
    (sr.counting, 1, 10**19, "y is 10000000000000000000, which the dtype int64"),
    (sr.min_plus, np.ones(1, "f4"), 1e300, r"y is 1e\+300, which the dtype float32"),
    (sr.boolean, np.array([True]), 2, "y is 2, which the dtype bool"),
    (sr.min_plus, nan, 1.0, "x is NaN, which is not an element of any algebra; zero is ∞"),
    (sr.min_plus, 1.0, [[0.0], [nan]], r"y\[1, 0\] is NaN"), (sr.plus_times, [nan + 1j], 1.0, r"x\[0\] is NaN"),
    (sr.shortest_hops, (1.0, 2), [(1.0, nan)], r"y\[0\] is NaN"),
    (sr.viterbi, [0.5, 3.0], 0.5, r"x\[1\] is 3: it is outside the carrier of viterbi, \(\[0, 1\]"),
    (sr.counting, -1, 3, "x is -1: it is outside the carrier"),
    (sr.boolean, object(), True, "outside the carrier of boolean"), (sr.boolean, len, True, "outside the carrier"),
    (sr.boolean, True, object(), "outside the carrier of boolean"),
    (sr.boolean, 2.5, True, "x is 2.5: it is outside the carrier"), (sr.gf2, 10**30, 1, "outside the carrier"),
    (sr.min_plus, float, 1.0, "x is <class 'float'>, which is not a number"),
    (sr.min_plus, 1.0, np.zeros(2, [("a", "f8")]), "min-plus cannot live in void64"),
    (sr.shortest_hops, (1.0, 2), np.zeros(2, [("cost", "U3"), ("hops", "f8")]), "the field 'cost' cannot be"),
    (sr.shortest_hops, (1.0, 2), np.zeros(2, [("cost", "f8", 2), ("hops", "f8")]), "works on records .* not on"),
    (sr.min_plus, np.array(["a"], np.dtypes.StringDType()), 1.0, "min-plus cannot live in StringDType"),
    (sr.plus_times, 1.0, np.array([1j], np.clongdouble), "plus-times cannot live in c"),
    (sr.min_plus, 1.0, np.array([1], np.longdouble), "min-plus cannot live in"),
    (sr.plus_times, scipy.sparse.eye(3).tocsr(), 1.0, r"x is of type csr_matrix and shape \(3, 3\)"),
    (sr.regex, sr.letter("a"), np.array(["a"], np.dtypes.StringDType()), "y has .*a.*, which is not an element"),
    (sr.min_plus, np.zeros([1] * 40), 1.0, "x has 40 axes"),
])
@pytest.mark.parametrize("op", ["add", "mul"])
def test_refused(S: sr.Semiring, x: Any, y: Any, said: str, op: str) -> None:
    with pytest.raises(sr.SemiringError, match=said):
        getattr(S, op)(x, y)


def test_objects_that_python_does_not_combine() -> None:
    S = sr.Semiring("prices", add=min, mul=lambda a, b: a + b, zero=Decimal("Infinity"), one=Decimal(0),
                    samples=[Decimal(1), Decimal(2)])
    assert S.mul(Decimal(1), Decimal(2)) == 3
    with pytest.raises(sr.SemiringError, match="x has Decimal and y has float"):
        S.mul(Decimal(1), 0.0)
    with pytest.raises(sr.SemiringError, match=r"x has None, which is not an element|⊗ is not defined for"):
        S.mul(None, Decimal(1))
    with pytest.raises(sr.SemiringError, match="not defined for all these objects together"):
        sr.log.sum([10**400, 1])


def test_masked_elements_are_zero() -> None:
    """Whatever lies below the mask."""
    x = np.ma.array([1.0, nan, 3.0], mask=[False, True, False])
    assert sr.min_plus.add(x, 2.0).tolist() == [1, 2, 2] and sr.min_plus.mul(2.0, x).tolist() == [3, inf, 5]
    assert sr.min_plus.mul(np.array([1, 2], "i1"), np.ma.array([3, 4], "i1", mask=[True, False])).tolist() == [127, 6]
    assert sr.max_min.star(x).tolist() == [inf] * 3
    assert sr.why.add(np.ma.array([frozenset(), None], mask=[False, True]), [frozenset()] * 2).tolist() == [
        frozenset()] * 2
    assert sr.min_plus.prod([1.0, 2.0], initial=np.ma.array(5.0, mask=True)) == inf
    pairs = np.ma.array([(1.0, 1.0), (2.0, 2.0)], sr.shortest_hops.element_dtype, mask=[True, False])
    assert sr.shortest_hops.add(pairs, (3.0, 3.0)).tolist() == [(3.0, 3.0), (2.0, 2.0)]


def test_numbers_keep_their_meaning_in_the_dtype_of_x() -> None:
    one = np.array([1], "i1")
    assert sr.min_plus.add(one, 7).dtype == "i1" and sr.min_plus.add(one, inf)[0] == 1
    assert sr.min_plus.mul(one, np.array([127], "i1"))[0] == 127
    wide = sr.min_plus.mul(np.array([1, 5]), np.array([127, 3], "i1"))  # 127 stands for ∞ there
    assert wide.tolist() == [np.iinfo("i8").max, 8]
    assert sr.min_plus.add(one, np.array([np.iinfo("i8").max]))[0] == 1
    assert sr.plus_times.add(np.ones(1), np.array([2 + 0j])).tolist() == [3.0]
    assert sr.min_plus.add(Fraction(1, 3), 0.5) == Fraction(1, 3) and sr.min_plus.add([1.0], [Decimal("0.5")])[0] == 0.5
    assert sr.shortest_hops.mul((1.0, 2), 3.0).tolist() == sr.shortest_hops.mul((1.0, 2), (3.0, 1)).tolist()
    assert sr.shortest_hops.mul([(1.0, 2)], np.array([3.0])).tolist() == [(4.0, 3.0)]


def test_initial_is_named() -> None:
    for initial, said in [("a", "cannot live in str32"), (1j, "initial does not fit"), (None, "")]:
        if initial is not None:
            with pytest.raises(sr.SemiringError, match=said):
                sr.min_plus.sum([1.0], initial=initial)
    with pytest.raises(sr.SemiringError, match="initial does not fit the dtype int64"):
        sr.counting.sum(np.array([1]), initial=10**30)
