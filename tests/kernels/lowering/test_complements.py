"""⊕ that is x + t − x t / h: how it is recognized, and that a step of two roundings is right to its bound."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algebra.evaluate import numpy_function
from semiring.algebra.proofs import Range
from semiring.algebra.tracing import trace
from semiring.kernels.build import kernel
from semiring.kernels.cpu.dense.engine import DenseKernel
from semiring.kernels.cuda.choose import choose, general_on_device
from semiring.kernels.cuda.compile.program import program
from semiring.kernels.facts import DeviceFacts
from semiring.kernels.lowering.complements import bounded_range, complemented_step, multilinear, scale_of
from semiring.kernels.lowering.contraction import operand_ranges
from semiring.kernels.lowering.general import general


def algebra(add: Callable, mul: Callable, high: float | None) -> sr.Semiring:
    inside = None if high is None else lambda a: (a >= 0) & (a <= high)
    return sr.Semiring("users", add=add, mul=mul, zero=0, product_only=True, carrier=inside)


ADD = [  # spellings of x + t − x t / h
    lambda h: lambda a, b: a + b - a * b / h,
    lambda h: lambda a, b: h - (1 - a / h) * (h - b),
    lambda h: lambda a, b: b + a * (1 - b / h),
    lambda h: lambda a, b: a - (a * b) * (1 / h) + b,
]
MUL = [  # products that stay in [0, h] if their operands do
    lambda h: lambda a, b: a * b / h, lambda h: lambda a, b: a * (b / h), lambda h: lambda a, b: (0.5 / h) * a * b,
    lambda h: lambda a, b: a / h * b * 0.75, lambda h: lambda a, b: np.minimum(a, 0.5 * h) * b / h,
    lambda h: lambda a, b: (a / h) * np.sqrt(b / h) * (0.5 * h),
]
EXACT = [
    lambda h, a, b: a * b / h, lambda h, a, b: a * b / h, lambda h, a, b: a * b / (2 * h),
    lambda h, a, b: a * b * 3 / (4 * h), lambda h, a, b: min(a, h / 2) * b / h, None,
]


@pytest.mark.parametrize("h", [1e-320, 1e308, 5e-324])
@pytest.mark.parametrize("high", [1.0, 1e300, None])
@pytest.mark.parametrize("spelt", [lambda h: lambda a, b: a + b - a * b / h, lambda h: lambda a, b: a + b - a * b * h])
def test_scales_beyond_all_floats_are_no_error(spelt: Callable, high: float | None, h: float) -> None:
    S = algebra(spelt(h), np.multiply, high)
    assert S.traced is not None and np.isfinite(scale_of(S.traced.add))
    A = np.array([[0.5, 0.0], [1.0, 0.25]])
    C = np.zeros((2, 2))
    with np.errstate(all="ignore"):
        for k in range(2):
            C = np.asarray(spelt(h)(C, A[:, k : k + 1] * A[k]))
    try:
        found = sr.matmul(A, A, S)
    except sr.SemiringError as e:
        assert "leave the range" in str(e) and not np.isfinite(C).all()
    else:
        np.testing.assert_allclose(found, C, rtol=1e-14)


@pytest.mark.parametrize("h", [1, 2, 0.25, 8, 3, 0.1])
@pytest.mark.parametrize("spelling", range(len(ADD)))
def test_every_spelling_is_recognized(h: float, spelling: int) -> None:
    S = algebra(ADD[spelling](h), np.minimum, None)
    assert S.traced is not None
    assert scale_of(S.traced.add) == h
    assert scale_of(general(S, np.dtype("f4")).add) == h


@pytest.mark.parametrize(
    "add",
    [
        lambda a, b: a + b, lambda a, b: a + b + a * b, lambda a, b: a + 2 * b - a * b, lambda a, b: a + b - a * a * b,
        lambda a, b: a + b - a * b + 0.5, lambda a, b: a + b - a * b / (a - a), lambda a, b: a + b - a / b, np.maximum,
        lambda a, b: a + b - np.minimum(a, b), lambda a, b: a * b,
    ],
)
def test_other_sums_are_not(add: Callable) -> None:
    assert scale_of(trace(add, 2)) == 0


def test_terms_of_a_polynomial() -> None:
    S = algebra(lambda a, b: 1 - (1 - a) * (1 - b), np.multiply, 1)
    assert S.traced is not None
    assert multilinear(S.traced.add.outputs[0]) == {(0,): 1, (1,): 1, (0, 1): -1}


def step_of(S: sr.Semiring, inside: Range | None = None) -> str:
    return str(complemented_step(general(S, np.dtype("f4")), inside))


def test_conditions() -> None:
    """All numbers lie in [0, h], ⊗ is a product that stays there, and is 0 where an operand is."""
    noisy, times = ADD[0](1), np.multiply
    assert step_of(algebra(noisy, times, 1)) == "a + (b · (c - (a · c)))"
    assert step_of(algebra(noisy, times, None)) == "None"
    assert step_of(algebra(noisy, times, None), Range(0, 1)) == "a + (b · (c - (a · c)))"
    assert step_of(algebra(noisy, times, 2)) == "None"
    assert step_of(algebra(noisy, lambda a, b: a * (1 - b), 1)) == "None"
    assert step_of(algebra(noisy, np.minimum, 1)) == "None"
    assert step_of(algebra(noisy, lambda a, b: 2 * a * b, 1)) == "None"
    assert step_of(algebra(noisy, lambda a, b: a * b * 0.5, 1)) == "a + ((b · 0.5) · (c - (a · c)))"
    third = "a + (b · ((c / 3) - (a · ((c / 3) · 0.3333333333333333))))"
    assert step_of(algebra(ADD[0](3), lambda a, b: a * b / 3, 3)) == third
    assert step_of(algebra(ADD[0](3), lambda a, b: a / (b + 1), 3)) == "None"
    assert complemented_step(general(algebra(noisy, times, 1), np.dtype("f8"))) is not None
    assert complemented_step(general(sr.plus_times, np.dtype("f8"))) is None


def test_data_stand_for_a_carrier_on_a_gpu() -> None:
    """A form for [0, 1] runs only on data that are there; zeros need no test then."""
    S = algebra(ADD[0](1), np.multiply, None)
    low = choose(S, np.dtype("f4"), DeviceFacts(), 3, in_place=False)
    inside = DeviceFacts(largest=1, least=0.0)
    found = low.for_product(inside)
    assert found.within == Range(0, 1) and "absorbed(a, b)" not in program(found).prelude.split("relax")[1]
    assert program(found).weight == 2 < program(low).weight
    assert low.for_product(DeviceFacts(largest=0.5, least=0.25, has_zero=False)) is found
    for facts in (
        DeviceFacts(largest=1.5, least=0.0), DeviceFacts(largest=1, least=-1e-9),
        DeviceFacts(largest=1, least=0, low_limit=True), DeviceFacts(largest=1, least=0, high_limit=True),
    ):
        assert low.for_product(facts).within is None
    assert program(general_on_device(algebra(ADD[0](1), np.multiply, 1), np.dtype("f4"))).weight == 2


UNIT = st.floats(0, 1, width=32) | st.sampled_from([0.0, 1.0, 1e-45, 1e-38, 1 - 2**-24, 2**-24, 0.5])


@settings(max_examples=60)
@given(
    st.sampled_from([1, 0.25, 8, 3]), st.sampled_from(range(len(ADD))), st.sampled_from(range(len(MUL) - 1)),
    st.sampled_from(["f4", "f8"]), st.lists(st.tuples(UNIT, UNIT), min_size=1, max_size=40), UNIT,
)
@example(3, 1, 0, "f4", [(0.0, 0.0)], 5e-08)
@example(3, 0, 1, "f4", [(0.5, 0.25)], 5e-08)
def test_compiled_products_are_near_those_of_fractions(
    h: float, add: int, mul: int, dtype: str, pairs: list, old: float
) -> None:
    """Off by 3 ε of the result and of each term at most: a small result is as exact as a large one."""
    S = algebra(ADD[add](h), MUL[mul](h), h)
    low = general(S, np.dtype(dtype))
    scaled = np.array([*pairs, (old, old)], dtype) * np.array(h, dtype)
    row, column, C = scaled[:-1, :1].T, scaled[:-1, 1:], scaled[-1:, :1].copy()
    exact = Fraction(float(C[0, 0]))
    DenseKernel(low).multiply_add(C, row, column)
    size = exact
    for p, q in zip(row[0].tolist(), column[:, 0].tolist(), strict=True):
        term = EXACT[mul](Fraction(h), Fraction(p), Fraction(q))
        exact, size = exact + term - exact * term / Fraction(h), size + term
    bound = 3 * (len(pairs) + 1) * Fraction(float(np.finfo(dtype).eps)) * size
    tiny = 8 * len(pairs) * Fraction(float(np.finfo(dtype).smallest_subnormal)) * max(Fraction(h), 1)
    assert abs(Fraction(float(C[0, 0])) - exact) <= bound + tiny
    assert 0 <= C[0, 0] <= h * (1 + 4 * np.finfo(dtype).eps)
    if h == 1:
        assert C[0, 0] <= 1


@given(
    st.sampled_from([1, 0.25, 8]), st.sampled_from(range(len(MUL))),
    st.lists(st.tuples(UNIT, UNIT, UNIT), min_size=1),
)
def test_a_step_is_near_the_declared_operations(h: float, mul: int, rows: list) -> None:
    low = general(algebra(ADD[0](h), MUL[mul](h), h), np.dtype("f8"))
    x, a, b = (np.array(column) * h for column in zip(*rows, strict=True))
    kind, step = (x.dtype,), complemented_step(low)
    assert step is not None
    (found,) = numpy_function((step,), 3, kind, kind)((x,), (a,), (b,))
    (term,) = numpy_function(low.mul.outputs, 2, kind, kind)((a,), (b,))
    (wanted,) = numpy_function(low.add.outputs, 2, kind, kind)((x,), (term,))
    np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-15 * h)


@pytest.mark.parametrize("shape", [(0, 0, 0), (3, 0, 2), (1, 1, 1), (33, 70, 40)])
def test_numpy_and_compiled_code_agree(shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    rng = np.random.default_rng(0)
    A, B = rng.random((m, k)) ** 8, rng.random((k, n)) ** 8
    A[A < 1e-3] = 0
    low = general(algebra(ADD[0](1), np.multiply, 1), np.dtype("f8"))
    found, wanted = np.empty((m, n)), np.empty((m, n))
    DenseKernel(low).multiply(found, A, B)
    kernel(low.interpreted).multiply(wanted, A, B)
    np.testing.assert_allclose(found, wanted, rtol=1e-13)
    np.testing.assert_allclose(found, 1 - np.prod(1 - A[:, :, None] * B[None], axis=1), rtol=1e-12, atol=1e-15)


def test_bounds_of_polynomials() -> None:
    """a + b − ab of numbers in [0, 1] lies there, however it is spelt; a product that joins it is never infinite."""
    def bounds(add: Callable, mul: Callable, high: float | None) -> Range | None:
        return bounded_range(general(algebra(add, mul, high), np.dtype("f4")))

    for add in (ADD[0](1), ADD[1](1), np.maximum):
        assert bounds(add, np.multiply, 1) == Range(0, 1) and bounds(add, np.multiply, None) is None
    assert bounds(np.maximum, ADD[0](1), 1) == Range(0, 1)
    assert bounds(np.maximum, lambda a, b: a + b, 1) is None
    assert operand_ranges(general(algebra(ADD[0](1), np.multiply, 1), np.dtype("f4"))) == (Range(0, 1),) * 2
    low = general_on_device(algebra(np.maximum, lambda a, b: a + b - a * b, 1), np.dtype("f4"))
    assert "multiply_add(-a, b, t0)" in program(low).prelude and program(low).weight == 3


RATES = sr.Semiring("rates", add=lambda a, b: a + b + a * b, mul=np.multiply, zero=0, product_only=True)
HALVES = sr.Semiring("halves", add=np.add, mul=lambda a, b: a * b / 2, zero=0, product_only=True)
GREATEST = sr.Semiring("greatest", add=np.maximum, mul=lambda a, b: a * b + a + b, zero=0, product_only=True)


@pytest.mark.parametrize(("S", "before", "after"), [(RATES, 6, 5), (HALVES, 3, 2), (GREATEST, 3, 3)])
def test_numbers_that_are_not_negative(S: sr.Semiring, before: float, after: float) -> None:
    """Sums take in products, and finite numbers times zero need no test; other data keep the general form."""
    low = choose(S, np.dtype("f4"), DeviceFacts(), 3, in_place=False)
    found = low.for_product(DeviceFacts(largest=9, least=0.0))
    assert found.within == Range(0, np.inf) and "multiply_add" in program(found).prelude.split("relax")[0]
    assert program(found).weight == after and program(low).weight >= before
    # An infinite sum would make NaN of a term 0 over RATES, where it is multiplied with it.
    assert ("absorbed" in program(found).prelude) == (S is RATES)
    for facts in (
        DeviceFacts(largest=9, least=-1), DeviceFacts(largest=9, least=-0.0),
        DeviceFacts(largest=9, least=0, low_limit=True),
    ):
        assert low.for_product(facts).within is None
    endless = low.for_product(DeviceFacts(largest=9, least=0, high_limit=True))
    assert endless.within == Range(0, np.inf) and endless.test_for_zero == low.test_for_zero
