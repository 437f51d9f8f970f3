"""What rounding can explain: elements made a little worse, whole numbers left alone, and fractions that are exact."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algebra.rounding import (
    KNOWN,
    along,
    fractions,
    in_longer_floats,
    is_better_than_one,
    nothing_improves,
    over_fractions,
    precision,
    rounds,
    worse,
)

inf = math.inf
HOPS = sr.shortest_hops.default_dtype
ORDERED = {S.name: S for S in (sr.min_plus, sr.max_plus, sr.max_min, sr.viterbi, sr.max_times)}


@pytest.mark.parametrize(("values", "expected", "epsilon"), [
    (np.zeros(2, "f4"), True, 2.0**-23), (np.zeros(2, "f2"), True, 2.0**-10), (np.zeros(0), True, 2.0**-52),
    (np.zeros(2, "i8"), False, 2.0**-52), (np.zeros(2, bool), False, 2.0**-52), (np.zeros(2, HOPS), True, 2.0**-52),
    (np.zeros(2, [("a", "i4"), ("b", "f4")]), True, 2.0**-23), (np.zeros(2, [("a", "i4")]), False, 2.0**-52),
    (np.zeros(2, [("a", "f2"), ("b", "f8")]), True, 2.0**-10), (np.array([1, Fraction(1, 3)], object), False, 2.0**-52),
    (np.array([1, 0.5], object), True, 2.0**-52), (np.array([np.float32(0.5)], object), True, 2.0**-52),
])
def test_which_elements_round(values: np.ndarray, expected: bool, epsilon: float) -> None:
    assert rounds(values) is expected and precision(values) == epsilon


@pytest.mark.parametrize("name", ORDERED)
@settings(max_examples=60)
@given(st.floats(0, 1) | st.floats(allow_nan=False), st.sampled_from(["f8", "f4", "f2"]), st.sampled_from([1, 2, 8]))
@example(0.1, "f8", 2)
@example(5e-324, "f8", 2)
@example(2.0**60, "f8", 2)
@example(3.0, "f4", 2)
@example(inf, "f2", 2)
@example(0.0, "f8", 2)
def test_worse_is_never_better_and_never_far(name: str, value: float, dtype: str, epsilons: float) -> None:
    A = ORDERED[name].over(np.dtype(dtype))
    with np.errstate(over="ignore", under="ignore"):
        x = np.array([value], dtype)
    if not A.contains(x).all():
        return
    y = worse(A, x, epsilons)
    assert y.dtype == x.dtype and A.contains(y).all() and A.add(x, y) == x
    if not np.isfinite(x).all():
        assert y == x
        return
    assert A.contains(worse(A, x, epsilons, whole=False)).all()
    eps, least = (float(getattr(np.finfo(dtype), what)) for what in ("eps", "smallest_subnormal"))
    size = abs(float(x[0]))
    assert abs(float(y[0]) - float(x[0])) <= (epsilons + 1) * eps * size + 2 * least
    if x == np.rint(x) and size <= 1 / (64 * eps):
        assert y == x and (worse(A, x, epsilons, whole=False) != x or size == 0)
    elif 1e-3 < size < 1e3:
        assert y != x


def test_worse_is_seen_from_each_algebra() -> None:
    x = np.array([-0.1, 0.1, 3.0, inf, -inf])
    shorter, longer = (worse(S.over(np.dtype("f8")), x) for S in (sr.min_plus, sr.max_plus))
    assert (shorter[:2] > x[:2]).all() and (longer[:2] < x[:2]).all()
    assert shorter[2:].tolist() == longer[2:].tolist() == [3, inf, -inf]
    assert worse(sr.boolean.over(np.dtype(bool)), np.array([True, False])).tolist() == [True, False]
    assert worse(sr.min_plus.over(np.dtype("i4")), np.array([7], "i4")).tolist() == [7]
    large = np.array([2.0**50])  # so large that roundings are whole numbers too
    assert worse(sr.min_plus.over(np.dtype("f8")), large) == large + 2 * 2.0**-52 * large
    assert x.tolist() == [-0.1, 0.1, 3.0, inf, -inf]


def test_worse_records_and_objects() -> None:
    x = np.array([(0.1, 2.0), (inf, inf), (3.0, 0.5)], HOPS)
    y = worse(sr.shortest_hops.over(HOPS), x)
    assert (y["cost"] > x["cost"]).tolist() == [True, False, False]
    assert (y["hops"] > x["hops"]).tolist() == [False, False, True]
    given_ = np.array([0.1, 1, Fraction(1, 3), np.float32(0.1), inf], object)
    found = worse(sr.min_plus.over(np.dtype(object)), given_)
    assert [a > b for a, b in zip(found, given_, strict=True)] == [True, False, False, True, False]
    assert [type(v) for v in found] == [type(v) for v in given_]


@pytest.mark.parametrize(("S", "exact"), [
    (sr.min_plus, True), (sr.max_min, True), (sr.viterbi, True), (sr.max_times, True), (sr.lukasiewicz, True),
    (sr.plus_times, True), (sr.boolean, True), (sr.log, False), (sr.shortest_hops, True), (sr.gcd_lcm, False),
    (sr.mod_p(7), False), (sr.why, False), (sr.bitset_may, False),
    (sr.lexicographic(sr.min_plus, sr.max_min), True),
], ids=lambda x: getattr(x, "name", None))
def test_where_fractions_are_exact(S: sr.Semiring, exact: bool) -> None:
    assert (over_fractions(S) is not None) is exact


def test_a_constant_that_may_have_been_rounded_is_not_exact() -> None:
    S = sr.Semiring("scaled", add=np.maximum, mul=lambda a, b: a * b * 2.5, zero=0, one=0.4,
                    carrier=lambda a: (a >= 0) & (a <= 0.4))
    assert over_fractions(S) is None


def test_sums_of_fractions_are_those_of_python() -> None:
    F = over_fractions(sr.min_plus)
    assert F is not None and F.zero == inf and F.one == 0 and type(F.one) is Fraction
    values = fractions(np.array([0.1, 0.2, -0.3]))
    assert values is not None and values.tolist() == [Fraction(0.1), Fraction(0.2), Fraction(-0.3)]
    assert along(F, values) == Fraction(0.1) + Fraction(0.2) + Fraction(-0.3) == Fraction(1, 2**55)
    assert not is_better_than_one(F, along(F, values)) and is_better_than_one(F, Fraction(-1, 10**30))


def test_numbers_as_fractions() -> None:
    found = fractions(np.array([0.5, -0.0, 1e300, inf, 7, Fraction(1, 3), True], object))
    assert found is not None
    assert found.tolist() == [Fraction(1, 2), 0, int(1e300), inf, 7, Fraction(1, 3), 1]
    assert [type(v) for v in found[[0, 1, 2, 4]]] == [Fraction] * 4 and type(found[3]) is float
    assert fractions(np.array([2**63 + 1], "u8")).tolist() == [2**63 + 1]
    assert fractions(np.array([0.1], "f4")).tolist() == [Fraction(13421773, 2**27)]
    for no_number in (None, frozenset({1}), 1j):
        assert fractions(np.array([1, no_number], object)) is None


@pytest.mark.parametrize(("dtype", "longer"), [
    ("f2", "f8"), ("f4", "f8"), ("f8", np.longdouble), ("i4", "i4"), ("?", "?"), ("O", "O"),
])
def test_longer_floats(dtype: str, longer: Any) -> None:
    assert in_longer_floats(np.ones(3, dtype)).dtype == np.dtype(longer)


def test_products_along_a_walk() -> None:
    A = sr.min_plus.over(np.dtype("f8"))
    weights = np.array([0.1, 0.2, 0.3])
    assert along(A, weights) == (0.1 + 0.2) + 0.3 and along(A, weights[:1]) == 0.1
    loss = along(A, weights, 4)
    assert 0 < loss - along(A, weights) < 100 * np.finfo("f8").eps
    reliable = sr.viterbi.over(np.dtype("f4"))
    assert along(reliable, np.full(3, 0.5, "f4"), KNOWN) < along(reliable, np.full(3, 0.5, "f4")) == 0.125
    records = np.array([(0.5, 1), (0.25, 2)], HOPS)
    assert along(sr.shortest_hops.over(HOPS), records).item() == (0.75, 3)


def test_a_cycle_that_rounding_makes_does_not_improve_for_certain() -> None:
    """0.1 + 0.2 − 0.3 is above 0 in doubles, and its negative below."""
    A = sr.min_plus.over(np.dtype("f8"))
    cycle = np.array([0.3, -0.1, -0.2])
    assert is_better_than_one(A, along(A, cycle)) and not is_better_than_one(A, along(A, cycle, KNOWN))
    assert is_better_than_one(A, along(A, np.array([0.3, -0.1, -0.3]), KNOWN))


def test_where_no_element_is_better_than_one() -> None:
    A = sr.min_plus.over(np.dtype("f8"))
    assert nothing_improves(A, np.array([0.0, 2.0, inf])) and not nothing_improves(A, np.array([[3.0], [-1e-300]]))
    assert nothing_improves(A, np.empty((0, 0)))
    assert is_better_than_one(sr.max_times.over(np.dtype("f8")), 1.5)
    assert not is_better_than_one(sr.max_times.over(np.dtype("f8")), 1.0)
    record = np.array([(0.0, -1.0)], HOPS)
    assert is_better_than_one(sr.shortest_hops.over(HOPS), record[0])


@settings(max_examples=100)
@given(st.sampled_from(["f4", "f8"]), st.lists(st.one_of(st.floats(-1e6, 1e6, width=32), st.sampled_from(
    [np.inf, -np.inf, 0.1, 1e30])), min_size=1, max_size=40))
def test_sums_along_a_walk_are_added_one_after_the_other(dtype: str, weights: list[float]) -> None:
    values, S = np.array(weights, dtype), sr.min_plus.over(dtype)
    total = values[:1]
    for i in range(1, len(values)):
        total = np.asarray(S.mul(total, values[i : i + 1]))
    assert along(S, values) == total[0] and np.asarray(along(S, values)).dtype == dtype
