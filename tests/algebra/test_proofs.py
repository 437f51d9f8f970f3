"""What follows from expressions: flags, ranges, and products with 0 that ⊕ drops."""

from __future__ import annotations

import math
from copy import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr
from semiring.algebra.evaluate import numpy_function
from semiring.algebra.expression import constant, operand, postorder
from semiring.algebra.proofs import (
    Range,
    carrier_range,
    is_absorbed,
    is_dropped,
    is_field,
    proven_flags,
    range_of,
)
from semiring.algebra.tracing import trace

inf = np.inf
F8 = np.dtype("f8")


def test_flags_follow_from_plain_operations() -> None:
    assert proven_flags(sr.min_plus.traced) == {"idempotent", "selective", "commutative"}
    assert proven_flags(sr.bitset_may.traced) == {"idempotent", "commutative"}
    assert proven_flags(sr.plus_times.traced) == {"commutative"}


STARS = [
    (lambda a: 1 / (1 - a), True), (lambda a: np.reciprocal(1 - a), True),
    (lambda a: np.where(a == 1, np.nan, 1 / (1 - a)), True), (lambda a: np.where(a < 1, 1 / (1 - a), inf), False),
    (lambda a: 1 / (1 + a), False), (lambda a: np.where(a == 2, np.nan, 1 / (1 - a)), False),
]


@pytest.mark.parametrize(("star", "expected"), STARS)
def test_the_field_is_known_by_its_expressions(star: Any, expected: bool) -> None:
    S = sr.Semiring("some", add=lambda a, b: b + a, mul=np.multiply, zero=0, one=1, star=star, product_only=True,
                    carrier=np.isfinite)
    assert S.traced is not None
    assert is_field(S.traced) == expected
    other = copy(S.traced)
    other.add = sr.max_times.traced.add
    assert not is_field(other)


def test_the_field_is_one_of_the_catalogue() -> None:
    assert [name for name, S in sr.catalogue.items() if S.traced and is_field(S.traced)] == ["plus_times"]


@pytest.mark.parametrize(("carrier", "expected"), [
    (lambda a: (a >= 0) & (a <= 1), (0, 1)),
    (lambda a: a > 2, (2, inf)),
    (lambda a: ~(a < 0), (-inf, inf)),
    (lambda a: (a >= 0) | (a <= -3), (-inf, inf)),
    (lambda a: (a > -4) & (a < 9) & (a > -7) & (np.floor(a) == a), (-4, 9)),
    (np.isfinite, (-inf, inf)),
], ids=["closed", "open", "negated", "either", "several", "finite"])
def test_the_range_of_a_carrier(carrier: Any, expected: tuple) -> None:
    assert carrier_range(trace(carrier, 1, predicate=True).outputs[0])[:2] == expected


NUMBERS = st.sampled_from([-inf, -3.0, -1.0, -0.5, 0.0, 0.25, 1.0, 2.0, 7.0, inf])
BINARY = ["add", "subtract", "multiply", "divide", "minimum", "maximum"]


@st.composite
def expressions(draw: Any) -> Any:
    from semiring.algebra.expression import apply

    pool = [operand(0), operand(1), constant(draw(NUMBERS)), constant(draw(NUMBERS))]
    for _ in range(draw(st.integers(1, 5))):
        op = draw(st.sampled_from([*BINARY, "negative", "absolute", "sqrt", "square", "where"]))
        if op == "where":
            condition = apply("less", draw(st.sampled_from(pool)), draw(st.sampled_from(pool)))
            pool.append(apply("where", condition, draw(st.sampled_from(pool)), draw(st.sampled_from(pool))))
        elif op == "square":
            part = draw(st.sampled_from(pool))
            pool.append(apply("multiply", part, part))
        else:
            pool.append(apply(op, *(draw(st.sampled_from(pool)) for _ in range(2 if op in BINARY else 1))))
    return pool[-1]


@given(expressions(), st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS), st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1))
def test_a_range_holds_every_value(e: Any, ends: tuple, values: list) -> None:
    a, b = sorted(ends[:2]), sorted(ends[2:])
    found = range_of(e, (Range(*a), Range(*b)))
    x = np.clip(np.array([v[0] for v in values]), *a)
    y = np.clip(np.array([v[1] for v in values]), *b)
    if any(n.op == "constant" and isinstance(n.value, float) and math.isnan(n.value) for n in postorder([e])):
        return
    result = np.broadcast_to(numpy_function((e,), 2, (F8,), (F8,))((x,), (y,))[0], x.shape)
    numbers = result[~np.isnan(result)]
    assert (numbers >= found.low).all() and (numbers <= found.high).all(), (e, found, numbers)
    assert found.nan or numbers.size == result.size, (e, found)


def algebra(add: Any, mul: Any, zero: float, one: float, carrier: Any = None) -> sr.Semiring:
    return sr.Semiring("mine", add=add, mul=mul, zero=zero, one=one, carrier=carrier)


@pytest.mark.parametrize(("S", "dropped"), [
    (sr.min_plus, True), (sr.max_plus, True), (sr.viterbi, True), (sr.min_times, True), (sr.max_times, True),
    (sr.lukasiewicz, True), (sr.plus_times, False), (sr.log, False),
    (algebra(np.minimum, lambda a, b: a + b + a * b / 8, inf, 0.0, lambda a: a >= 0), True),
    # With zero 0, 1/(1/a + 1/b − 1) is infinite or NaN: at 0 and 0 it is −1 / …, at 0 and 1 NaN.
    (algebra(np.maximum, lambda a, b: 1 / (1 / a + 1 / b - 1), 0.0, 1.0, lambda a: (a >= 0) & (a <= 1)), False),
], ids=lambda x: getattr(x, "name", x))
def test_products_with_0_that_are_dropped(S: sr.Semiring, dropped: bool) -> None:
    assert S.traced
    assert is_dropped(S.traced, S.zero) == dropped


@pytest.mark.parametrize(("mul", "carrier", "absorbed"), [
    (np.minimum, lambda a: a >= 0, True), (np.minimum, None, False), (np.multiply, lambda a: a >= 0, False),
    (lambda a, b: np.abs(a - b), lambda a: a >= 0, False),
    (lambda a, b: np.minimum(a, b) ** 2, lambda a: a >= 0, False),
    (lambda a, b: np.minimum(a, b) * np.minimum(a, b) / 2, lambda a: a >= 0, True),
])
def test_products_with_0_that_are_0(mul: Any, carrier: Any, absorbed: bool) -> None:
    """Of × not, since a sum may become ∞; of a power nothing is known."""
    S = sr.Semiring("mine", add=np.add, mul=mul, zero=0.0, product_only=True, carrier=carrier)
    assert S.traced
    assert is_absorbed(S.traced, 0.0) == absorbed


def test_a_carrier_that_operations_leave_proves_nothing() -> None:
    """b ≤ 1 makes max(0, b − 1) zero, but sums that exceed 1 come up on the way, so that 0 needs its test."""
    S = sr.Semiring("open", add=np.maximum, mul=lambda a, b: np.maximum(0, a + b - 1) * 1.5, zero=0.0, one=1.0,
                    carrier=lambda a: (a >= 0) & (a <= 1), product_only=True)
    assert S.traced
    assert not is_dropped(S.traced, 0.0)
