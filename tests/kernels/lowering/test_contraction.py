"""Products and sums in one instruction: where that may be, what is spelt so, and that the values are the same."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algebra.evaluate import numpy_function
from semiring.algebra.expression import apply, constant, operand
from semiring.algebra.proofs import EVERYTHING, Range
from semiring.kernels.build import kernel
from semiring.kernels.cpu.compile.program import has_fma
from semiring.kernels.cpu.dense.engine import DenseKernel
from semiring.kernels.lowering.contraction import (
    fuses_in_step,
    hides_no_infinity,
    operand_ranges,
    sums_products,
    whole_step,
)
from semiring.kernels.lowering.general import general

a, b, c = (operand(i) for i in range(3))
product, POSITIVE = apply("multiply", a, b), Range(0.0, np.inf)


def algebra(add: Callable, mul: Callable, zero: float, carrier: Callable | None = None) -> sr.Semiring:
    return sr.Semiring("users", add=add, mul=mul, zero=zero, product_only=True, carrier=carrier)


SUMS = {
    "distances": algebra(np.add, lambda a, b: np.abs(a - b), 0),
    "squares": algebra(np.add, lambda a, b: (a - b) ** 2, 0),
    "negative squares": algebra(np.add, lambda a, b: (a - b) * (b - a), 0),
    "common": algebra(np.add, np.minimum, 0),
    "roots": algebra(np.add, lambda a, b: np.abs(a - b) ** 1.5, 0),
    "halves": algebra(np.add, lambda a, b: a * b / 2, 0),
    "halves of no sign": algebra(np.add, lambda a, b: a * b / 2, 0, lambda a: a >= 0),
    "eighths": algebra(np.minimum, lambda a, b: a + b + a * b / 8, np.inf, lambda a: a >= 0),
    "eighths of any sign": algebra(np.minimum, lambda a, b: a + b + a * b / 8, np.inf),
    "longest": algebra(np.maximum, lambda a, b: a + b, -np.inf),
    "three": algebra(np.minimum, lambda a, b: a + b + np.maximum(a - b, 1), np.inf),
    "pairs": algebra(np.add, lambda a, b: (a + 1) * (b - 2) - np.abs(a - b), 0),
}


@pytest.mark.parametrize(
    ("op", "left", "right", "may"),
    [
        ("add", Range(0, 9), POSITIVE, True), ("add", Range(-9, 0), POSITIVE, False),
        ("add", Range(-9, 0), Range(-np.inf, 0), True), ("subtract", Range(-9, 0), POSITIVE, True),
        ("subtract", Range(0, 9), POSITIVE, False), ("add", EVERYTHING, EVERYTHING, False),
    ],
)
def test_a_product_that_has_the_sign_of_what_it_joins(op: str, left: Range, right: Range, may: bool) -> None:
    total = apply(op, c, apply("multiply", a, constant(1)))
    assert hides_no_infinity((right, EVERYTHING, left), total, total.args[1]) is may


@pytest.mark.parametrize(
    ("name", "joins"),
    [
        ("squares", True), ("negative squares", False), ("halves", False), ("halves of no sign", True),
        ("distances", False), ("eighths", False), ("roots", True),
    ],
)
def test_sums_of_products(name: str, joins: bool) -> None:
    low = general(SUMS[name], np.dtype("f4"))
    mul = low.mul.outputs[0]
    if mul.op == "where":
        mul = mul.args[2]
    assert sums_products(low, mul) is joins
    assert fuses_in_step(low, mul)(apply("add", operand(0), product), product) is joins


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("distances", "a + abs(b - (c · d))"), ("squares", "a + ((b - c) · (b - c))"),
        ("common", "a + (min(b, c) · d)"),
        ("eighths", "min(a, (b + c) + ((b · c) · 0.125))"), ("longest", "max(a, b + (c · d))"),
        ("three", "min(a, (b + (c · d)) + max(b - (c · d), 1))"),
    ],
)
def test_spellings(name: str, text: str) -> None:
    """x, a, b and the unit are a, b, c and d here."""
    low = general(SUMS[name], np.dtype("f4"))
    assert str(whole_step(low, low.mul.outputs[0])) == text


@pytest.mark.parametrize(
    ("S", "dtype"), [(sr.min_plus, "i4"), (sr.boolean, "?"), (sr.shortest_hops, sr.shortest_hops.default_dtype)]
)
def test_other_elements_have_no_such_form(S: sr.Semiring, dtype: Any) -> None:
    low = general(S, np.dtype(dtype))
    assert whole_step(low, low.mul.outputs[0]) is None


def test_what_has_another_dtype_has_no_such_form() -> None:
    low = general(algebra(np.add, lambda a, b: a.astype("f8") * b, 0), np.dtype("f4"))
    assert whole_step(low, low.mul.outputs[0]) is None


NUMBERS = st.floats(width=32, allow_nan=False) | st.sampled_from([0.0, -0.0, 1e-45, -1e-45, 3e38, np.inf, -np.inf])


@given(st.sampled_from(sorted(SUMS)), st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=9))
def test_spellings_have_the_same_values(name: str, rows: list) -> None:
    """To the bit, each operation rounded: a product with 1 is exact."""
    low = general(SUMS[name], np.dtype("f4"))
    x, p, q = (np.array(column, "f4") for column in zip(*rows, strict=True))
    kind, one = (x.dtype,), np.ones_like(x)
    step = whole_step(low, low.mul.outputs[0])
    assert step and low.add.width == 1
    (found,) = numpy_function((step,), 4, kind, kind)((x,), (p,), (q,), (one,))
    (term,) = numpy_function(low.mul.outputs, 2, kind, kind)((p,), (q,))
    (wanted,) = numpy_function(low.add.outputs, 2, kind, kind)((x,), (np.broadcast_to(term, x.shape),))
    np.testing.assert_array_equal(found, wanted)
    assert (np.signbit(found) == np.signbit(wanted))[~np.isnan(wanted)].all()


FRACTIONS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "distances": lambda a, b: abs(a - b), "squares": lambda a, b: (a - b) ** 2, "common": min,
    "negative squares": lambda a, b: -((a - b) ** 2), "halves": lambda a, b: a * b / 2,
    "eighths": lambda a, b: a + b + a * b / 8, "eighths of any sign": lambda a, b: a + b + a * b / 8,
    "longest": lambda a, b: a + b,
}
SIZED = st.integers(-(2**20), 2**20).map(lambda i: i / 2**10)


@settings(max_examples=60)
@given(
    st.sampled_from(sorted(FRACTIONS)), st.sampled_from(["f4", "f8"]),
    st.lists(st.tuples(SIZED, SIZED), min_size=1, max_size=40),
)
def test_results_are_near_those_of_fractions(name: str, dtype: str, pairs: list) -> None:
    """A row times a column, compiled, is off by three roundings of each term at most, and one of each sum."""
    S, positive = SUMS[name], name == "eighths"
    row, column = (np.array([[abs(x) if positive else x for x in side]], dtype) for side in zip(*pairs, strict=True))
    C = np.empty((1, 1), dtype)
    DenseKernel(general(S, np.dtype(dtype))).multiply(C, row, column.T)
    values = [(Fraction(float(p)), Fraction(float(q))) for p, q in zip(row[0], column[0], strict=True)]
    terms = [FRACTIONS[name](p, q) for p, q in values]
    wanted = sum(terms) if S.traced.add.is_plain("add") else (min if "eighths" in name else max)(terms)
    size = sum(abs(p) + abs(q) + abs(p * q) + (p - q) ** 2 for p, q in values)
    assert abs(Fraction(float(C[0, 0])) - wanted) <= (len(terms) + 3) * Fraction(float(np.finfo(dtype).eps)) * size


@pytest.mark.skipif(not has_fma(), reason="this processor rounds products first")
def test_squares_join_their_sum_unrounded() -> None:
    """(1 + 2⁻¹²)² has 25 bits: rounded to 24 before 1 is taken away, 2⁻²⁴ of it were lost."""
    C = np.array([[-1]], "f4")
    A, B = np.array([[1 + 2.0**-12]], "f4"), np.zeros((1, 1), "f4")
    DenseKernel(general(SUMS["squares"], np.dtype("f4"))).multiply_add(C, A, B)
    assert C[0, 0] == 2.0**-11 + 2.0**-24


@pytest.mark.parametrize("name", ["squares", "eighths", "halves of no sign", "negative squares", "distances"])
def test_infinities_that_meet_are_no_number(name: str) -> None:
    """As NumPy has it: where a term is NaN, or is dropped, fused instructions change nothing."""
    S = SUMS[name]
    values = np.array([0, 1, 3e38, np.inf, 1e-45], "f4") * (1 if S.traced.carrier.op != "constant" else -1)
    values = np.append(values, np.array([0, 3e38, np.inf], "f4"))
    A, B = np.meshgrid(values, values)
    A, B = A.reshape(-1, 1), B.reshape(1, -1)
    low = general(S, np.dtype("f4"))
    compiled, plain = np.empty((len(A), B.shape[1]), "f4"), np.empty((len(A), B.shape[1]), "f4")
    DenseKernel(low).multiply(compiled, A, B)
    kernel(low.interpreted).multiply(plain, A, B)
    np.testing.assert_allclose(compiled, plain, rtol=1e-6)


def test_ranges_are_those_of_the_carrier() -> None:
    assert operand_ranges(general(SUMS["eighths"], np.dtype("f4"))) == (Range(0.0, np.inf),) * 2
    assert operand_ranges(general(sr.min_plus, np.dtype("i4"))) == (EVERYTHING, EVERYTHING)
