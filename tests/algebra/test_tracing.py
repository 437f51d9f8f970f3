"""What a traced callable may do, and the errors that say what to write instead; saturating sums and products."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from algebra.test_operations import values
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

import semiring as sr
from semiring.algebra.evaluate import numpy_function
from semiring.algebra.tracing import trace

inf = math.inf


def test_spellings_of_one_operation_are_one_expression() -> None:
    declared = [
        sr.Semiring("a", add=add, mul=mul, zero=inf, one=0)
        for add, mul in (
            (np.minimum, np.add),
            (lambda a, b: np.minimum(b, a), lambda a, b: a + b),
            (lambda a, b: np.where(a < b, a, b), lambda a, b: np.add(b, a)),
            (lambda a, b: np.where(a > b, b, a), lambda a, b: b + a),
            (lambda a, b: np.fmin(a, b), lambda a, b: a + b),
        )
    ]
    for S in declared[1:]:
        assert S.traced.add.is_plain("minimum"), S
        assert S.traced.raw_mul.is_plain("add"), S
    assert declared[0].traced.add == declared[1].traced.add or declared[1].traced.add.is_plain("minimum")
    assert declared[0].is_tropical


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"add": lambda a, b: np.sort(a)}, r"np\.sort cannot be traced; write the operation with NumPy ufuncs"),
        ({"add": np.nextafter}, r"np\.nextafter cannot be traced; the operations are: add, "),
        ({"add": lambda a, b: divmod(a, b)[0]}, r"divmod has 2 results and cannot be traced; write a // b and a % b"),
        ({"add": lambda a, b: np.modf(a)[0] + b}, r"np\.modf has 2 results .* write np\.trunc\(a\)"),
        ({"add": lambda a, b: round(a, 2)}, r"write np\.rint\(a \* 10\*\*n\)"),
        ({"add": lambda a, b: np.clip(a, 0, 1, out=b)}, r"np\.clip cannot be traced with .* \['out'\]"),
        ({"add": lambda a, b: None if a < b else a}, r"returned None, at least on one path through its conditions"),
        (
            {"add": lambda a, b: np.minimum(a, b, dtype="f4")},
            r"one plain call on its operands, such as np\.minimum\(a, b\)",
        ),
        ({"add": lambda a, b: np.minimum(a, "b")}, r"'b' \(str\) is used in an operation"),
    ],
    ids=lambda x: None,
)
def test_untraceable_operations_show_the_spelling(options: dict, message: str) -> None:
    options = {"mul": np.add} | options
    refused(lambda: sr.Semiring("mine", zero=inf, one=0, **options), r"mine: .*" + message, sr.TraceError)


def test_untraceable_records() -> None:
    options: dict[str, Any] = {"fields": {"a": "f8", "b": "f8"}, "zero": (inf, 0), "one": (0, 1)}
    good = lambda x, y: (np.minimum(x.a, y.a), x.b + y.b)  # noqa: E731
    for add, message in (
        (np.minimum, r"np\.minimum works on a record's fields, such as x\.a, not on x"),
        (lambda x, y: x.c, "the record has no field 'c'; its fields are a, b"),
        (lambda x, y: (x.a,), "2"),
        (lambda x, y: min(x, y), "'<' not supported between instances of 'Record'"),
        (lambda x, y: {"a": x.a}, r"the result has the fields \['a'\]"),
    ):
        refused(lambda add=add: sr.Semiring("mine", add=add, mul=good, **options), message, sr.TraceError)


def test_saturation_is_that_of_exact_integers() -> None:
    for dtype in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
        pool = values(np.dtype(dtype))
        limits = np.iinfo(dtype)
        a, b = (x.ravel() for x in np.meshgrid(pool, pool))
        for ours, exact in ((sr.saturating_add, int.__add__), (sr.saturating_multiply, int.__mul__)):
            expected = [
                min(max(exact(x, y), limits.min), limits.max) for x, y in zip(a.tolist(), b.tolist(), strict=True)
            ]
            with np.errstate(over="ignore"):
                assert ours(a, b).tolist() == expected, (dtype, exact)


F8 = np.dtype("f8")
PLAIN = np.array([-inf, -2.5, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.5, inf])


@pytest.mark.parametrize("function", [
    lambda a, b: np.clip(a, -1, b), lambda a, b: np.clip(a, 0, None), lambda a, b: np.clip(b, None, 2),
    lambda a, b: np.select([a < 0, a < b], [a, b], 7), lambda a, b: np.select([a > b], [1]),
    lambda a, b: np.fix(a), lambda a, b: np.round(a), lambda a, b: np.isposinf(a) | np.isneginf(b),
    lambda a, b: np.square(a) - np.positive(b), lambda a, b: np.reciprocal(b), lambda a, b: np.deg2rad(a),
    lambda a, b: np.degrees(b), lambda a, b: np.fmin(a, b) + np.fmax(a, 1), lambda a, b: np.real(a) + np.imag(b),
    lambda a, b: 2 - a, lambda a, b: 2 ** np.minimum(b, 3), lambda a, b: (3 // np.where(b == 0, 1, b)) % 2,
    lambda a, b: +a - -b, lambda a, b: np.floor(a) + np.ceil(b) + np.trunc(a), lambda a, b: np.abs(a) * abs(b),
    lambda a, b: (a <= b) & (a != 0), lambda a, b: ~(a == b), lambda a, b: np.where(a < b, np.float32(0.5), np.int8(3)),
    lambda a, b: np.array(2.0) * a, lambda a, b: a * np.True_, lambda a, b: (a < b) ^ (b > 1),
])
def test_what_is_traced_computes_what_numpy_does(function: Callable) -> None:
    f = numpy_function(trace(function, 2).outputs, 2, (F8,), (F8,))
    a, b = (x.ravel() for x in np.meshgrid(PLAIN, PLAIN))
    with np.errstate(all="ignore"):
        expected = np.broadcast_to(np.asarray(function(a, b), float), a.shape)
    np.testing.assert_array_equal(np.broadcast_to(f((a,), (b,))[0], a.shape), expected)


@pytest.mark.parametrize(("function", "message"), [
    (lambda a, b: float(a), "a is an expression, not a number, and functions of the math module"),
    (lambda a, b: math.exp(a + b), "a \\+ b is an expression, not a number"),
    (lambda a, b: [0, 1][a], "is an expression, not a number"),
])
def test_what_needs_a_number_is_a_type_error(function: Callable, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        trace(function, 2)


@pytest.mark.parametrize(("function", "message"), [
    (lambda a, b: a if next(iter(a)) else b, "a is one number and cannot be unpacked; records need fields="),
    (lambda a, b: np.select([a < b], [a, b]), "np.select has 1 conditions and 2 choices"),
    (lambda a, b: np.add.reduce(a), r"np\.add was called with method 'reduce'"),
    (lambda a, b: np.frexp(a)[0], r"np\.frexp has 2 results .* write np\.floor\(np\.log2"),
    (lambda a, b: np.where(a < b, a, None), "returned None"),
    (lambda a, b: a + np.array([1, 2]), r"array\(\[1, 2\]\) \(ndarray\) is used in an operation"),
    (lambda a, b: a * {1}, r"\{1\} \(set\) is used in an operation; use only operands and numbers"),
    (lambda a, b: np.where(a), r"np\.where cannot be traced with 1 arguments"),
])
def test_what_cannot_be_traced_says_what_to_write(function: Callable, message: str) -> None:
    with pytest.raises(sr.TraceError, match=message):
        trace(function, 2)


RECORD = {"cost": np.dtype("f8"), "hops": np.dtype("i4")}
PATHS = {"cost": np.dtype("f8"), "d": np.dtype(("f8", 3))}


def test_a_record_is_read_by_name_by_place_and_in_order() -> None:
    seen: list[Any] = []

    def look(x: Any, y: Any) -> Any:
        cost, hops = x
        seen.append((len(x), x["hops"] is hops, x[0] is cost, x.cost is cost, x[1] is hops))
        return x

    assert trace(look, 2, RECORD).width == 2 and seen == [(2, True, True, True, True)]
    same, other = (trace(f, 2, RECORD, predicate=True) for f in (lambda x, y: x == y, lambda x, y: x != y))
    f = numpy_function(same.outputs, 2, tuple(RECORD.values()), (np.dtype(bool),))
    g = numpy_function(other.outputs, 2, tuple(RECORD.values()), (np.dtype(bool),))
    x = np.array([1.0, 1.0, 2.0]), np.array([3, 4, 3], "i4")
    y = np.array([1.0, 1.0, 1.0]), np.array([3, 3, 3], "i4")
    assert f(x, y)[0].tolist() == [True, False, False] and g(x, y)[0].tolist() == [False, True, True]


def test_a_field_that_there_is_not() -> None:
    for function in (lambda x, y: x.lanes, lambda x, y: y["lanes"]):
        with pytest.raises(AttributeError, match="the record has no field 'lanes'; its fields are cost, hops"):
            trace(function, 2, RECORD)


@pytest.mark.parametrize(("fields", "function", "message"), [
    (RECORD, lambda x, y: x.cost, "must return a record, or its 2 components: cost, hops"),
    (RECORD, lambda x, y: (x.cost, x.hops, 1), "must return a record, or its 2 components"),
    (RECORD, lambda x, y: {"cost": x.cost, "lanes": 1}, r"the result has the fields \['cost', 'lanes'\], but the"),
    (RECORD, lambda x, y: (x.cost, None), "returned None"),
    (RECORD, lambda x, y: np.add(x, y), r"np\.add works on a record's fields, such as x\.cost"),
    (RECORD, lambda x, y: np.sort(x), r"np\.sort works on a record's fields"),
    (PATHS, lambda x, y: (x.cost, x.d[:2]), "vectors as long as the element's: d of 3"),
    (PATHS, lambda x, y: (x.cost, x.cost + y.cost), "vectors as long as the element's: d of 3"),
])
def test_results_of_records_that_are_none(fields: dict, function: Callable, message: str) -> None:
    with pytest.raises(sr.TraceError, match=message):
        trace(function, 2, fields)


def test_vectors_in_records_are_so_many_components() -> None:
    traced = trace(lambda x, y: {"d": x.d + y.d, "cost": np.minimum(x.cost, y.d.max())}, 2, PATHS)
    assert traced.width == 4 and len(traced.outputs) == 4
    kinds = (F8,) * 4
    x, y = ([np.array([v]) for v in values] for values in ((9.0, 1.0, 2.0, 3.0), (0.0, 4.0, 7.0, 6.0)))
    found = numpy_function(traced.outputs, 2, kinds, kinds)(x, y)
    assert [part.tolist() for part in found] == [[7.0], [5.0], [9.0], [9.0]]


def test_a_cast_makes_room_on_the_way() -> None:
    mean = trace(lambda a, b: ((a.astype("i8") + b.astype("i8")) // 2).astype("i1"), 2)
    kind = np.dtype("i1")
    f = numpy_function(mean.outputs, 2, (kind,), (kind,))
    assert f((np.array([127, -128], kind),), (np.array([125, -126], kind),))[0].tolist() == [126, -127]


@pytest.mark.parametrize(("add", "exact"), [(sr.saturating_add, int.__add__), (sr.saturating_multiply, int.__mul__)])
@pytest.mark.parametrize("dtype", ["i1", "u1", "i8", "u8"])
@settings(max_examples=60)
@given(data=st.data())
def test_scalars_and_arrays_stop_at_the_same_limits(add: Callable, exact: Callable, dtype: str, data: Any) -> None:
    limits = np.iinfo(dtype)
    numbers = st.integers(limits.min, limits.max) | st.sampled_from([limits.min, limits.max, 0, 1])
    a, b = data.draw(numbers), data.draw(numbers)
    expected = min(max(exact(a, b), limits.min), limits.max)
    kind = np.dtype(dtype).type
    with np.errstate(over="ignore"):
        one, many = add(kind(a), kind(b)), add(np.array([[a], [0]], dtype), np.array([b], dtype))
    assert one == expected and type(one) is kind
    assert many.dtype == dtype and many.shape == (2, 1) and many[0, 0] == expected


def test_saturation_is_plain_arithmetic_for_floats() -> None:
    with np.errstate(over="ignore"):
        assert sr.saturating_add(1e308, 1e308) == inf and sr.saturating_multiply(np.float32(1e38), 10) == inf
    assert sr.saturating_add(np.array([0.5]), 0.25).tolist() == [0.75]
    assert sr.saturating_multiply(np.float16(3), np.float16(0.5)) == 1.5
    for function, op in ((sr.saturating_add, "saturating_add"), (sr.saturating_multiply, "saturating_multiply")):
        assert trace(lambda a, b, f=function: f(a, f(2, b)), 2).operations() == {op}
        with pytest.raises(sr.TraceError, match=r"'x' \(str\) is used in an operation"):
            trace(lambda a, b, f=function: f(a, "x"), 2)


@pytest.mark.parametrize("mul", [
    lambda x, y: x + y + 10**400, lambda x, y: np.minimum(x + y, -(10**400)), lambda x, y: x + y if x < 2**1024 else y,
])
def test_integers_that_no_dtype_holds_are_refused(mul: Any) -> None:
    with pytest.raises(sr.SemiringError, match=r"the constant is an integer of \d+ bits, which no dtype holds: use "):
        sr.Semiring(add=np.minimum, mul=mul, zero=math.inf, one=0.0, name="huge")
