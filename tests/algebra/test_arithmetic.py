"""An algebra on arrays of one dtype: zero absorbs, integers stop at their limits, halves and records."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from layouts import hops_and_costs, laid_out, layouts, same

import semiring as sr
from semiring.algebra.arithmetic import components

inf = math.inf


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_zero_absorbs_in_integers(dtype: str) -> None:
    for S in (sr.min_plus, sr.max_min, sr.min_max, sr.max_times, sr.min_times, sr.counting, sr.gcd_lcm, sr.max_plus):
        try:
            zero = S.zero_in(dtype)
            S.resolve_dtype(dtype)
        except sr.SemiringError:
            continue
        limits = np.iinfo(dtype)
        values = np.array([limits.min, 0, 1, 2, limits.max - 1, limits.max], dtype)
        A = S.over(np.dtype(dtype))
        values = values[A.contains(values)]
        for product in (A.mul(np.full_like(values, zero), values), A.mul(values, np.full_like(values, zero))):
            assert (product == zero).all(), (S, dtype)
        assert (A.add(np.full_like(values, zero), values) == values).all()


def test_sums_of_integers_never_wrap() -> None:
    low, top = -128, 127
    S = sr.min_plus
    eights = lambda *values: np.array(values, "i1")  # noqa: E731
    assert S.mul(eights(low, low, 5, top), eights(low, 3, low, low)).tolist() == [low, low, low, top]
    for x, y in ((100, 100), (-100, -100), (120, 7), (-120, -8)):
        with pytest.raises(sr.SemiringError, match="min-plus: a sum leaves int8; use a wider dtype"):
            S.mul(eights(x), eights(y))
    assert sr.max_plus.mul(eights(low, top), eights(top, 3)).tolist() == [low, top]
    assert S.mul(np.array([0, 255], "u1"), np.array([7, 0], "u1")).tolist() == [7, 255]
    assert sr.counting.mul([2], [inf]).tolist() == [inf], "of Python's numbers"
    assert sr.counting.mul(np.array([2]), [inf]).tolist() == [np.iinfo("i8").max], "of an array of integers"
    assert sr.min_plus.add([1], [inf]).dtype == np.int64 and sr.counting.star(3) == inf
    with pytest.raises(sr.SemiringError, match=r"0\.5 is not an integer"):
        sr.counting.mul([2], [0.5])


def test_saturation_in_64_bits() -> None:
    for dtype in ("i8", "u8"):
        top = int(np.iinfo(dtype).max)
        large = np.array([top - 1, top // 2, 2**32, top], dtype)
        assert sr.counting.mul(large, np.array([1, 2, 2**31 - 1, 1], dtype)).tolist() == [
            top - 1, top // 2 * 2, 2**32 * (2**31 - 1), top]
        assert sr.counting.mul(large[3:], large[3:]).tolist() == [top]
        for x, op in ((large[:1], sr.counting.mul), (large[2:3], sr.counting.mul), (large[:1], sr.counting.add)):
            with pytest.raises(sr.SemiringError, match="cannot hold"):
                op(x, x)
        product = sr.matmul(large[None], np.array([1, 0, 0, 0], dtype)[:, None], sr.counting)
        assert product.tolist() == [[top - 1]]


def test_components() -> None:
    assert components(np.dtype("f4")) == (np.dtype("f4"),)
    assert components(np.dtype([("a", "u1"), ("b", "f8")])) == (np.dtype("u1"), np.dtype("f8"))


@pytest.mark.parametrize(("S", "zero"), [(sr.min_plus, 127), (sr.max_plus, -128)], ids=["min-plus", "max-plus"])
@given(x=st.integers(-128, 127), y=st.integers(-128, 127))
@example(-128, 127)
@example(-128, -128)
@example(1, 126)
@example(-1, -127)
def test_sums_of_integers_are_exact_or_refused(S: sr.Semiring, zero: int, x: int, y: int) -> None:
    """One limit is the zero and absorbs; the other is the opposite infinity; no sum of numbers is either."""
    A, opposite = S.over(np.dtype("i1")), -1 - zero
    a, b = np.array([x], "i1"), np.array([y], "i1")
    if zero in (x, y):
        assert A.mul(a, b).tolist() == [zero]
    elif opposite in (x, y):
        assert A.mul(a, b).tolist() == [opposite]
    elif -128 < x + y < 127:
        assert A.mul(a, b).tolist() == [x + y]
    else:
        with pytest.raises(sr.SemiringError, match=r"a sum leaves int8; use a wider dtype"):
            A.mul(a, b)


HALVES = st.floats(width=16, allow_nan=False, allow_infinity=False)


@given(HALVES, HALVES)
@example(2.0**-24, 0.5)
@example(65504.0, 15.9921875)
@example(1.0009765625, 1.0009765625)
def test_halves_round_once(x: float, y: float) -> None:
    """The sum and the product of two halves are exact in double precision."""
    A = sr.plus_times.over(np.dtype("f2"))
    a, b = np.array([x], "f2"), np.array([y], "f2")
    with np.errstate(over="ignore"):
        for got, exact in ((A.add(a, b), x + y), (A.mul(a, b), x * y)):
            assert got.dtype == np.float16 and got[0] == np.float16(exact)


@given(st.floats(0, 1, width=16), st.floats(0, 1, width=16))
@example(0.50048828125, 0.99951171875)
@example(1.0, 2.0**-24)
def test_halves_round_at_the_end_only(x: float, y: float) -> None:
    """The sum on the way has more digits than a half: those of single precision, in which 1 + 2⁻²⁴ is 1."""
    product = sr.lukasiewicz.over(np.dtype("f2")).mul(np.array([x], "f2"), np.array([y], "f2"))
    expected = max(np.float32(0), np.float32(x) + np.float32(y) - np.float32(1))
    assert product.dtype == np.float16 and product[0] == np.float16(expected)


@pytest.mark.parametrize("S", [sr.min_plus, sr.viterbi, sr.plus_times, sr.boolean, sr.shortest_hops, sr.why])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0), (2, 3)])
def test_results_have_the_shape_of_the_operands_together(S: sr.Semiring, shape: tuple) -> None:
    """Also where a result is a constant, as is a star that is always 1."""
    A = S.over(S.default_dtype)
    x = np.empty(shape, A.dtype)
    for i in np.ndindex(*shape):
        x[i] = A.one
    column = np.empty((2, 1, 1, 1), A.dtype)
    for i in np.ndindex(column.shape):
        column[i] = A.zero
    for operation, expected in ((A.add, A.one), (A.mul, A.zero)):
        result = np.asarray(operation(x, column))
        assert result.shape == np.broadcast_shapes(shape, column.shape) and result.dtype == A.dtype
        assert all(result[i] == expected for i in np.ndindex(result.shape))
    for predicate in (A.defined, A.contains):
        assert np.shape(predicate(x)) == shape and np.asarray(predicate(x)).dtype == bool
    assert np.shape(A.star(x)) == shape


def test_only_the_declared_product_answers_nan_to_zero() -> None:
    for S, opposite in ((sr.min_plus, -inf), (sr.max_plus, inf), (sr.log, inf)):
        for dtype in ("f8", "f4", "f2"):
            A = S.over(np.dtype(dtype))
            a, b = np.array([A.zero], dtype), np.array([opposite], dtype)
            assert np.isnan(A.raw_mul(a, b)).all() and (A.mul(a, b) == A.zero).all() and (A.mul(b, a) == A.zero).all()
    on_objects = sr.max_times.over(np.dtype(object))
    assert on_objects.mul(np.array([0, Fraction(1, 2)], object), np.array([inf, 4], object)).tolist() == [0, 2]


def test_elements_of_a_dtype() -> None:
    def element(S: sr.Semiring, dtype: Any, value: Any) -> Any:
        return S.over(np.dtype(dtype)).element(value)

    assert element(sr.min_plus, "u1", inf) == 255 and element(sr.min_plus, "i4", -inf) == -(2**31)
    assert element(sr.bitset_may, "u2", inf) == 65535 and type(element(sr.min_plus, "f4", 0.1)) is np.float32
    found = element(sr.shortest_hops, [("cost", "f4"), ("hops", "i2")], (inf, 3))
    assert found.item() == (inf, 3) and found.dtype["hops"] == np.int16
    assert element(sr.why, object, "anything") == "anything"
    with pytest.raises(OverflowError, match="outside uint8"):
        element(sr.min_plus, "u1", 256)


def test_what_an_algebra_contains() -> None:
    def inside(S: sr.Semiring, values: Any, dtype: Any) -> list[bool]:
        return S.over(np.dtype(dtype)).contains(np.array(values, dtype)).tolist()

    assert inside(sr.viterbi, [0, 1, -0.5, 1.5, np.nan, inf], "f8") == [True, True, False, False, False, False]
    assert inside(sr.min_plus, [inf, -inf, np.nan], "f2") == [True, True, False]
    assert inside(sr.min_plus, [inf, np.nan, Fraction(1, 3)], object) == [True, False, True]
    assert inside(sr.gf2, [0, 1, 2, 255], "u1") == [True, True, False, False]
    hops = [("cost", "f8"), ("hops", "f8")]
    assert inside(sr.shortest_hops, [(1, 2), (inf, inf), (inf, 2), (1, np.nan), (-1, 2)], hops) == [
        True, True, False, False, False]


def test_an_arithmetic_splits_records_and_nothing_else() -> None:
    x = np.array([(1.0, 2.0)], sr.shortest_hops.default_dtype)
    assert [part.tolist() for part in sr.shortest_hops.over(x.dtype).split(x)] == [[1.0], [2.0]]
    cost = x["cost"]
    (whole,) = sr.min_plus.over(np.dtype("f8")).split(cost)
    assert whole is cost


def test_what_is_zero() -> None:
    """Tuples are elements as wholes; NumPy would compare their parts."""
    pairs = sr.Semiring("pairs", add=min, mul=lambda a, b: (a[0] + b[0], a[1] + b[1]), zero=(np.inf, 0), one=(0, 0),
                        dtype=object, product_only=True, samples=[(1, 0), (2, 3)])
    found = pairs.over(object).is_zero(pairs.array([(np.inf, 0), (1, 0)]))
    assert found.dtype == bool and found.tolist() == [True, False]
    assert sr.shortest_hops.over(sr.shortest_hops.default_dtype).is_zero(
        sr.shortest_hops.array([(np.inf, np.inf), (1.0, 1)])).tolist() == [True, False]
    assert sr.min_plus.over("i2").is_zero(np.array([32767, 0], "i2")).tolist() == [True, False]


@pytest.mark.parametrize("S", [sr.shortest_count, sr.shortest_hops, hops_and_costs()], ids=lambda S: S.name)
def test_records_in_any_layout(S: sr.Semiring) -> None:
    x = S.samples().view(S.element_dtype)
    own = S.over(S.default_dtype)
    flat = x.view(S.default_dtype)
    table = {op: getattr(own, op)(flat[:, None], flat[None]).view(S.element_dtype) for op in ("add", "mul", "raw_mul")}
    for dtype in layouts(S):
        A, y = S.over(dtype), laid_out(x, dtype)
        for op, expected in table.items():
            found = getattr(A, op)(y[:, None], y[None])
            assert found.dtype == dtype and same(found, expected), (dtype, op)
        assert same(A.star(y), own.star(flat).view(S.element_dtype))
        assert A.contains(y).all() and A.defined(y).tolist() == own.defined(flat).tolist()
        assert A.is_zero(y).tolist() == own.is_zero(flat).tolist() and A.is_zero(y).any()
        assert (y == S.zero_in(dtype)).tolist() == A.is_zero(y).tolist()
        for element, neutral in ((A.zero, S.zero), (A.one, S.one)):
            assert element == A.element(neutral) and element.dtype == dtype


@pytest.mark.parametrize("S", [S for S in sr.catalogue.values() if isinstance(S, sr.Semiring)], ids=lambda S: S.name)
def test_numbers_in_another_byte_order(S: sr.Semiring) -> None:
    for dtype in S.dtypes if not (S.is_record or S.is_object) else ():
        x, turned = S.over(dtype).element(S.one) + np.zeros(3, dtype), dtype.newbyteorder(">")
        x[0] = S.zero_in(dtype)
        A, B = S.over(dtype), S.over(turned)
        for op in ("add", "mul", "star"):
            arguments = [x] if op == "star" else [x, x[::-1]]
            found = getattr(B, op)(*(a.astype(turned) for a in arguments))
            expected = getattr(A, op)(*arguments)
            assert found.dtype == turned and np.array_equal(found, expected, equal_nan=dtype.kind in "fc"), (dtype, op)
        assert B.zero == A.zero and B.one == A.one and B.contains(x.astype(turned)).all()
