"""Laws as code: what fails is named with a witness, what rounding explains is not a breach, and how a report reads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.algebra import laws
from semiring.algebra.samples import Elements

inf = math.inf


def test_counter_examples_are_refused_with_a_witness() -> None:
    with pytest.raises(
        sr.LawError,
        match=r"plus-min is not a semiring: ⊗ does not distribute on the left\. With a = 2, b = 3, c = 5, .* but"
        r".*product_only=True",
    ):
        sr.Semiring("plus-min", add=np.add, mul=np.minimum, zero=0, one=inf, carrier=lambda a: a >= 0)
    with pytest.raises(sr.LawError, match="shortest-widest is not a semiring: ⊗ does not distribute"):
        sr.Semiring(
            "shortest-widest", fields={"width": "f8", "dist": "f8"}, zero=(-inf, inf), one=(inf, 0),
            add=lambda x, y: np.where((x.width > y.width) | ((x.width == y.width) & (x.dist <= y.dist)), x, y),
            mul=lambda x, y: (np.minimum(x.width, y.width), x.dist + y.dist),
            carrier=lambda a: (a.dist >= 0) & ((a.width > -inf) | (a.dist == inf)),
        )
    for S in sr.counter_examples.values():
        report = sr.check_laws(S)
        assert not report.ok
        failed = {v.law.name for v in report.failures}
        assert {"⊗ distributes on the left", "⊗ distributes on the right"} <= failed
        for verdict in report.failures:
            assert len(verdict.witness) == verdict.law.arity


@pytest.mark.parametrize(("broken", "law"), [
    ({"zero": 0.0, "one": 1.0}, "0 is not neutral for ⊕"),
    ({"one": 3.0}, "1 is not neutral"),
    ({"add": np.subtract, "zero": 0.0, "one": 1.0}, "⊕ is not associative"),
    ({"mul": np.subtract}, "⊗ is not associative|1 is not neutral on the left"),
    ({"star": lambda a: a}, "star does not unfold on the left"),
    ({"zero": 5.0, "carrier": lambda a: a <= 5}, "⊗ is not associative|absorb"),
])
def test_broken_laws_are_named(broken: dict, law: str) -> None:
    options = {"add": np.minimum, "mul": np.add, "zero": inf, "one": 0.0} | broken
    with pytest.raises(sr.LawError, match=rf"mine is not a semiring: .*({law})"):
        sr.Semiring("mine", **options)


def test_samples_of_the_caller() -> None:
    assert sr.check_laws(sr.min_plus, [1.0, 2.0, -inf, inf]).ok
    report = sr.check_laws(sr.shortest_hops, [(1.0, 2), (0.0, 0), (inf, inf)])
    assert report.ok and report.samples == 3
    assert sr.check_laws(sr.plus_min, [0.0, 3.0]).derived["commutative"]
    assert str(sr.check_laws(sr.plus_min, [0.0, 1.0, 3.0, inf])).startswith("plus-min: not a semiring on 4 samples\n")
    assert str(sr.check_laws(sr.min_plus, [1.0, 2.0])).startswith("min-plus: a semiring on 2 samples\n")
    assert [v.law.name for v in sr.check_laws(sr.boolean)][: len(laws.AXIOMS)] == [law.name for law in laws.AXIOMS]


# Arithmetics of a few lines, in which it is known what holds


class Modular:
    """Whole numbers modulo p, a field; what is given replaces an operation."""

    def __init__(self, p: int = 5, dtype: str = "i8", **replaced: Any):
        self.p, self.dtype, self.zero, self.one = p, np.dtype(dtype), 0, 1
        vars(self).update(replaced)

    def add(self, x: Any, y: Any) -> Any:
        return (x + y) % self.p

    def mul(self, x: Any, y: Any) -> Any:
        return x * y % self.p

    def raw_mul(self, x: Any, y: Any) -> Any:
        return self.mul(x, y)

    def star(self, x: Any) -> Any:
        return (1 - x) ** (self.p - 2) % self.p

    def defined(self, x: Any) -> Any:
        return x != 1

    def contains(self, x: Any) -> Any:
        return x == x


def named(report: laws.LawReport) -> set[str]:
    return {verdict.law.name for verdict in report if not verdict.holds}


def test_a_field_obeys_all_laws_but_three_flags() -> None:
    S, all_of_it = Modular(), np.arange(5)
    report = laws.check(S, all_of_it, name="fives")
    assert report.ok and not report.failures and report.samples == 5
    assert report.derived == {"idempotent": False, "selective": False, "bounded": False, "commutative": True}
    assert [len(report.axioms), len(report.star), len(list(report))] == [10, 2, 16]
    assert laws.check(S, all_of_it, star=False).star == ()


@pytest.mark.parametrize(("replaced", "broken"), [
    ({"add": lambda x, y: (x - y) % 5}, {"⊕ is associative", "⊕ is commutative", "0 is neutral for ⊕"}),
    ({"add": lambda x, y: np.maximum(x, y)}, {"⊗ distributes on the left", "⊗ distributes on the right"}),
    ({"zero": 1}, {"0 is neutral for ⊕", "0 absorbs on the left", "0 absorbs on the right"}),
    ({"one": 2}, {"1 is neutral on the left", "1 is neutral on the right"}),
    ({"star": lambda x: x}, {"star unfolds on the left", "star unfolds on the right"}),
    ({"mul": lambda x, y: x}, {"1 is neutral on the left", "0 absorbs on the right", "⊗ is commutative"}),
    ({"raw_mul": lambda x, y: x}, {"0 absorbs on the right"}),
])
def test_what_is_broken_is_named_and_the_witness_breaks_it(replaced: dict, broken: set[str]) -> None:
    S = Modular(**replaced)
    report = laws.check(S, np.arange(5))
    assert broken <= named(report) and not report.ok
    for verdict in report:
        if not verdict.holds:
            a = [np.array([w]) for w in verdict.witness]
            assert len(a) == verdict.law.arity
            (left,), (right,) = verdict.law.sides(S, *a)
            assert (left, right) == (verdict.left, verdict.right) and left != right


def test_a_product_without_one_is_tried_on_the_other_laws() -> None:
    report = laws.check(Modular(one=None), np.arange(5), star=False)
    assert report.ok and len(report.axioms) == 8 and set(report.flags) == {"idempotent", "selective", "commutative"}


@pytest.mark.parametrize(("dtype", "error", "sees"), [
    ("f8", 1e-6, True), ("f8", 1e-12, False), ("f4", 1e-2, True), ("f4", 1e-5, False), ("f2", 0.3, True),
    ("f2", 1e-3, False),
])
def test_rounding_is_no_breach_but_more_than_that_is(dtype: str, error: float, sees: bool) -> None:
    """Sums that are off by a part of the first summand, so that they do not commute."""
    S = Modular(dtype=dtype, add=lambda x, y: x + y + (error * x).astype(dtype))
    assert ("⊕ is commutative" in named(laws.check(S, np.array([1, 3, 7], dtype), star=False))) is sees


def test_what_leaves_the_range_on_the_way_says_nothing() -> None:
    S = Modular(dtype="f8", add=lambda x, y: x + y, mul=lambda x, y: x * y)
    large = np.array([1e308, -1e308, 1.0])
    with np.errstate(over="ignore", invalid="ignore"):
        assert (large[0] + large[0]) + large[1] != large[0] + (large[0] + large[1])
        report = laws.check(S, large, star=False)
    assert report.ok and report.derived["commutative"]


def test_a_choice_is_judged_to_the_last_bit() -> None:
    nearly = Modular(dtype="f8", add=lambda x, y: np.minimum(x, y) * (1 + 2**-52), mul=lambda x, y: x + y)
    report = laws.check(nearly, np.array([1.0, 2.0, 3.5]), star=False)
    assert report.flags["idempotent"].holds and not report.flags["selective"].holds
    assert not laws.check(nearly, np.array([3.5]), star=False).flags["selective"].holds


def test_infinity_times_zero_counts_as_absorbed() -> None:
    S = Modular(dtype="f8", add=np.minimum, mul=lambda x, y: x + y, zero=inf, one=0.0)
    with np.errstate(invalid="ignore"):
        assert np.isnan(S.raw_mul(np.array([inf]), np.array([-inf]))).all()
        report = laws.check(S, np.array([inf, 0.0, -inf, 2.0]), star=False)
    assert not {"0 absorbs on the left", "0 absorbs on the right"} & named(report)


# What is said


def test_a_report_is_a_table_of_marks() -> None:
    S = Modular()
    lines = str(laws.check(S, np.arange(5), name="fives")).splitlines()
    assert lines[:2] == ["fives: a semiring on 5 samples", "  ✓ ⊕ is associative: (a ⊕ b) ⊕ c = a ⊕ (b ⊕ c)"]
    assert lines[-1] == "  + commutative"
    assert lines[-2].startswith("  − bounded  (1 does not bound every element. With a = ")
    few = Elements(np.array([0, 1]), np.array([], int), False)
    unproven = laws.check(S, few, name="fives")
    assert "  ? commutative  (⊗ is commutative is unproven: a ⊗ b = b ⊗ a was tested on too few" in str(unproven)
    assert unproven.flags["commutative"].holds and not unproven.derived["commutative"]
    assert laws.check(S, few, proven=frozenset({"commutative"})).derived["commutative"]
    assert laws.check(S, few._replace(complete=True)).derived["commutative"]
    broken = laws.check(Modular(one=2), np.arange(5), name="odd")
    assert str(broken).startswith("odd: not a semiring on 5 samples\n") and repr(broken) == str(broken)
    assert str(broken.failures[0]) == "1 is not neutral on the left. With a = 3, 1 ⊗ a = 1, not 3"
    signed = laws.check(Modular(dtype="f8", add=np.minimum), np.array([0.0, -1.5]), star=False)
    assert "With a = −1.5, 1 ⊕ a = −1.5, not 1" in str(signed.flags["bounded"]), "with the sign of the pages"


DOUBLE: dict[str, Any] = {"zero": 0.0, "one": 1.0, "mul": np.multiply}


@pytest.mark.parametrize(("options", "refuted", "leaving"), [
    (DOUBLE | {"add": lambda a, b: (a + b) / 2}, {"⊕ is associative", "0 is neutral for ⊕"}, {"⊕"}),
    (DOUBLE | {"add": np.add}, set(), {"⊕"}),
    ({"add": np.minimum, "mul": np.multiply, "zero": inf, "one": 1.0}, {
        "0 absorbs on the left", "0 absorbs on the right", "⊗ distributes on the left", "⊗ distributes on the right"},
     {"⊗"}),
    ({"add": np.maximum, "mul": np.add, "zero": 0.0, "one": 1.0}, {
        "0 is neutral for ⊕", "1 is neutral on the left", "1 is neutral on the right", "0 absorbs on the left",
        "0 absorbs on the right", "star unfolds on the left", "star unfolds on the right"}, {"⊗"}),
    # ⊗ makes −∞, which is not an element, and ⊕ makes NaN of that.
    (DOUBLE | {"add": np.add, "carrier": lambda a: a > -inf}, set(), {"⊗"}),
])
def test_nan_is_no_counterexample_but_the_operation_leaves_the_carrier(
    options: dict[str, Any], refuted: set[str], leaving: set[str]
) -> None:
    with pytest.raises(sr.LawError) as caught:
        sr.Semiring("own", **options)
    found = {v.law.name: v for v in caught.value.failures}
    assert {name for name in found if "carrier" not in name} == refuted
    assert {name[0] for name in found if "carrier" in name} == leaving
    for name, verdict in found.items():
        assert "nan" not in str(verdict), verdict
        if "carrier" in name:
            assert str(verdict).startswith(f"{name[0]} leaves the carrier. With a = ")
            assert verdict.right is None and str(verdict).endswith(", which is not an element")
    if not refuted and "⊕" in leaving:
        assert "a ⊕ b is NaN, which is not an element; exclude infinities, for example by carrier=" in str(caught.value)
        assert sr.Semiring("own", **options, carrier=np.isfinite).commutative


def test_nan_inside_the_carrier_alone_still_breaks_the_law() -> None:
    """Each operation on two elements is one, and yet a side is NaN: nothing is passed over."""
    S = Modular(dtype="f8", add=lambda x, y: np.where(x == 25, np.nan, x * 5 + 0 * y), mul=lambda x, y: x * y)
    with np.errstate(invalid="ignore"):
        report = laws.check(S, np.array([0.0, 1.0, 5.0]), star=False)
    assert "⊕ is associative" in named(report)


def test_what_is_unproven_names_the_flag_that_declares_it() -> None:
    """In the law and in whatever needs it, and with the flag all of that works."""
    few: dict[str, Any] = {
        "dtype": object, "add": max, "mul": lambda a, b: -1 if -1 in (a, b) else min(a + b, 9), "zero": -1, "one": 0,
        "samples": [1, 2, 3]}
    A, T = np.array([[-1, 2], [3, -1]], object), sr.Semiring("few", **few)
    asked = {
        "selective": [lambda S: sr.closure_rows(A, S, [0]), lambda S: sr.path(A, S, 0, 1),
                      lambda S: sr.matmul(A, A, S, argmax=True), lambda S: sr.nearest(A, S, [0])],
        "idempotent": [lambda S: S.hasse()],
    }
    for flag, questions in asked.items():
        for ask in questions:
            with pytest.raises(sr.LawError, match=f"is unproven: .* declare {flag}=True"):
                ask(T)
    sure = sr.Semiring("few", **few, selective=True, idempotent=True)
    assert sr.closure_rows(A, sure, [0]).tolist() == [[9, 9]] and sr.path(A, sure, 0, 1)[0] == 9
    assert all(f"declare {flag}=True" in str(v) for flag, v in T._law_report.flags.items() if v.holds)


def facts(kind: Any, none: Any, full: Any, **more: Any) -> sr.Semiring:
    """Facts that a block of a program makes, and those that it keeps; (none, none) does not absorb."""
    return sr.Semiring(
        "facts", fields={"made": kind, "kept": kind}, zero=(none, none), one=(none, full),
        add=lambda x, y: (x.made | y.made, x.kept | y.kept),
        mul=lambda x, y: (y.made | (x.made & y.kept), x.kept & y.kept), **more,
    )


@pytest.mark.parametrize("declare", [
    lambda: facts("u1", 0, 255), lambda: facts("u8", 0, 2**64 - 1), lambda: facts(("u8", 2), [0, 0], [2**64 - 1] * 2),
    lambda: facts("u2", 0, 65535, idempotent=True),
    lambda: sr.Semiring("halves", add=np.minimum, mul=lambda a, b: np.maximum(a, b) / 2, zero=60, one=1,
                        carrier=lambda a: (a >= 0) & (a <= 60)),
])
def test_a_zero_that_does_not_absorb_is_named_and_the_sides_are_those_of_the_declaration(declare: Any) -> None:
    """Not a law that is broken because the zero was made to absorb: each verdict is on ⊗ as it was declared."""
    with pytest.raises(sr.LawError) as caught:
        declare()
    failed = {v.law.name: v for v in caught.value.failures}
    assert {"0 absorbs on the left", "0 absorbs on the right"} & set(failed)
    S = caught.value.failures[0].breach.arithmetic
    for verdict in failed.values():
        a = [np.array([w], S.dtype) for w in verdict.witness]
        with np.errstate(all="ignore"):
            left, right = verdict.law.sides(S, *a)
        assert S.mul == S.raw_mul and left[0] != right[0]
    if "associative" not in str(caught.value):
        assert "does not absorb" in str(caught.value) and "zero= is the weight of a missing edge" in str(caught.value)
