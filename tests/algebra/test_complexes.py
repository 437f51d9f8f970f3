"""Complex numbers in expressions: NumPy's arithmetic natively, and the same on real and imaginary parts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algebra import expression as ex
from semiring.algebra.complexes import split_complex
from semiring.algebra.constants import cast_constant
from semiring.algebra.evaluate import numpy_function
from semiring.algebra.operations import ARITY, COMPLEX, OPERATIONS
from semiring.algebra.tracing import trace

inf, nan = math.inf, math.nan
C16, F8 = np.dtype("c16"), np.dtype("f8")
NUMBERS = [0, 1, -1, 2, 0.5, 1j, -1j, 1 + 2j, -3 + 0.25j, -2 - 1.5j, 1e-3 - 4j]
# Whole powers and casts have arguments of their own; saturating sums are sums.
FREE = sorted(COMPLEX - {"power", "cast", "saturating_add", "saturating_multiply"})


def natively(e: ex.Expression, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    out = ex.typed([e], [C16])[-1].writes if e.args else C16
    return np.broadcast_to(np.asarray(numpy_function((e,), 2, (C16,), (out,))((x,), (y,))[0], out), x.shape)


def in_parts(e: ex.Expression, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    outputs = split_complex([e])
    wanted = (np.dtype(bool),) if e.is_condition else (F8, F8)
    results = numpy_function(outputs, 2, (F8, F8), wanted)((x.real, x.imag), (y.real, y.imag))
    if e.is_condition:
        return np.broadcast_to(results[0], x.shape)
    found = np.empty(x.shape, complex)
    found.real, found.imag = results
    return found


SMOOTH = ("add", "subtract", "multiply", "divide", "negative", "conjugate", "absolute", "real", "imag", "exp", "where")


def expressions() -> st.SearchStrategy[ex.Expression]:
    """Of operations without jumps, and choices by the parts of an operand."""
    leaves = st.sampled_from([ex.operand(0), ex.operand(1), *map(ex.constant, NUMBERS)])
    asked = st.sampled_from(NUMBERS).map(lambda z: ex.apply("equal", ex.operand(0), ex.constant(z)))

    def grow(parts: st.SearchStrategy[ex.Expression]) -> st.SearchStrategy[ex.Expression]:
        def arguments(op: str) -> st.SearchStrategy[tuple]:
            return st.tuples(asked, parts, parts) if op == "where" else st.tuples(*[parts] * ARITY[op])

        return st.sampled_from(SMOOTH).flatmap(lambda op: arguments(op).map(lambda args: ex.apply(op, *args)))

    return st.recursive(leaves, grow, max_leaves=8)


PAIRS = [np.array(column, complex) for column in zip(*itertools.product(NUMBERS, repeat=2), strict=True)]


@settings(max_examples=300)
@given(expressions())
def test_parts_compute_what_numpy_computes(e: ex.Expression) -> None:
    steps = [s.node for s in ex.typed([e], [C16])] if e.args else []
    moderate = np.ones(PAIRS[0].shape, bool)  # where rounding is not blown up
    for node in steps:
        sizes = [np.abs(natively(a, *PAIRS)) for a in node.args]
        moderate &= np.logical_and.reduce([s < (5 if node.op == "exp" else 1e4) for s in sizes])
        moderate &= (node.op != "divide") | (sizes[-1] > 1e-4)
    wanted, found = natively(e, *PAIRS), in_parts(e, *PAIRS)
    good = np.isclose(found, wanted, rtol=1e-7, atol=1e-7) | (np.isnan(found) & np.isnan(wanted)) | ~moderate
    i = int(np.argmin(good))
    assert good.all(), f"{e} of {PAIRS[0][i]}, {PAIRS[1][i]} is {found[i]}, not {wanted[i]}"


@pytest.mark.parametrize("op", FREE)
def test_each_operation(op: str) -> None:
    x, y = PAIRS
    e = ex.apply(op, *(ex.operand(i) for i in range(min(ARITY[op], 2))), *[ex.operand(0)] * (ARITY[op] - 2))
    wanted, found = natively(e, x, y), in_parts(e, x, y)
    good = np.isclose(found, wanted, rtol=1e-14, atol=0) | ~np.isfinite(wanted)
    assert good.all(), (x[~good], y[~good], found[~good], wanted[~good])
    assert (np.isfinite(in_parts(e, x, y)) >= np.isfinite(wanted)).all()


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: a**2 + b**-3 + a**0, lambda a, b: np.square(a) * np.reciprocal(b - 7), lambda a, b: 1 / (5 - a),
        lambda a, b: np.where(np.abs(a) < np.abs(b), a, b), lambda a, b: a if a.real < b.real else b,
        lambda a, b: (a * np.conj(b)).imag, lambda a, b: np.hypot(np.real(a), np.imag(b)) * 1j,
        lambda a, b: a.astype("c16") + 2 * b - 1j, lambda a, b: sr.saturating_add(a, sr.saturating_multiply(a, b)),
        lambda a, b: a if a else b, lambda a, b: np.sqrt(a * a * 0 + 4j) + b, lambda a, b: max(a.imag, b.imag),
    ],
)
def test_functions(function: Callable) -> None:
    e = trace(function, 2).outputs[0]
    wanted = natively(e, *PAIRS)
    assert np.allclose(in_parts(e, *PAIRS)[np.isfinite(wanted)], wanted[np.isfinite(wanted)], rtol=1e-13)


def test_edges() -> None:
    """Infinite and huge numbers, where the plain formulas would give NaN or overflow."""
    a = ex.operand(0)
    large = np.array([1e300 + 1e300j, 3e300 - 1j, 1e-300 + 1e-300j])
    y = np.array([2e300 + 1e300j, 1e300j, 3e-300j])
    for e in (ex.apply("divide", a, ex.operand(1)), ex.apply("absolute", a), ex.apply("sqrt", a)):
        assert np.allclose(in_parts(e, large, y), natively(e, large, y), rtol=1e-14, atol=0)
    ends = np.array([inf, -inf, 0], complex)
    assert in_parts(ex.apply("exp", a), ends, ends).tolist() == [inf, 0, 1]
    assert np.isinf(in_parts(ex.apply("divide", ex.constant(1), a), np.zeros(3, complex), ends)).all()
    assert in_parts(ex.apply("isnan", a), np.array([complex(1, nan)]), y[:1]).tolist() == [True]


@pytest.mark.parametrize("op", sorted(set(OPERATIONS) - COMPLEX))
def test_what_complex_numbers_lack_is_named(op: str) -> None:
    e = ex.Expression(op, [ex.operand(i) for i in range(ARITY[op])])
    with pytest.raises(sr.TraceError, match=rf"{op} has no meaning for complex numbers"):
        split_complex([e])
    with pytest.raises(TypeError, match=rf"{op} has no meaning for complex numbers"):
        ex.typed([e], [C16])


def test_powers_and_conversions_that_are_refused() -> None:
    for function, message in (
        (lambda a, b: a**b, "whole constant powers"), (lambda a, b: a**0.5, "whole constant powers"),
        (lambda a, b: a.astype("f8"), r"use a\.real"),
    ):
        with pytest.raises(sr.TraceError, match=message):
            split_complex(trace(function, 2).outputs)


def test_constants() -> None:
    assert ex.constant(2 + 0j) is ex.constant(2)
    assert ex.constant(np.complex64(1j)).value == 1j
    assert math.isnan(ex.constant(complex(nan, 1)).value)
    assert ex.apply("multiply", ex.constant(1j), ex.constant(1j)) is ex.constant(-1)
    assert ex.apply("conjugate", ex.constant(1 + 2j)) is ex.constant(1 - 2j)
    assert ex.apply("imag", ex.constant(1 + 2j)) is ex.constant(2)
    assert ex.apply("sqrt", ex.constant(-4)).op != "constant"  # NaN among real numbers, 2i among complex ones
    assert natively(ex.apply("sqrt", ex.constant(-4)), *PAIRS)[0] == 2j
    assert cast_constant(1 + 2j, np.dtype("c8")) == np.complex64(1 + 2j)
    for value, dtype, message in ((1j, "f8", "1j is complex, and float64 is not"), (1e40 + 1j, "c8", "too large")):
        with pytest.raises(OverflowError, match=message):
            cast_constant(value, np.dtype(dtype))


@pytest.mark.parametrize(("dtype", "part"), [("c8", "f4"), ("c16", "f8")])
def test_dtypes(dtype: str, part: str) -> None:
    kind = np.dtype(dtype)
    for function, written in (
        (lambda a: a * 2j + 1, dtype), (lambda a: np.abs(a) + 0.5, part), (lambda a: a.real, part),
        (lambda a: a == 1j, "?"), (lambda a: np.exp(a) / 3, dtype),
    ):
        assert ex.typed(trace(function, 1).outputs, [kind])[-1].writes == np.dtype(written)
    e: Any = trace(lambda a: a.imag + a.real + a.conjugate(), 1).outputs
    real = numpy_function(e, 1, (np.dtype(part),), (np.dtype(part),))((np.array([1.5], part),))[0]
    assert real.dtype == np.dtype(part) and real.tolist() == [3.0]
