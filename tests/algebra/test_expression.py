"""Expressions: conditions, constants that are folded, and the dtype of each step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algebra import expression as ex
from semiring.algebra.constants import cast_constant
from semiring.algebra.evaluate import numpy_function, python_function
from semiring.algebra.operations import ARITY
from semiring.algebra.tracing import trace

inf, nan = math.inf, math.nan
a, b = ex.operand(0), ex.operand(1)
DTYPES = tuple(map(np.dtype, ("f8", "i8", "i1", "u1", "?")))


def numbers(dtype: np.dtype) -> st.SearchStrategy[Any]:
    """Elements of a dtype as the constants that stand for them, more often at its ends."""
    if dtype.kind == "b":
        return st.sampled_from([0, 1])
    if dtype.kind == "f":
        return st.sampled_from([0, 1, 2, -1, 0.5, -2.5, 7, 1e10, 10**10, inf, -inf]) | st.floats(allow_nan=False)
    limits = np.iinfo(dtype)
    return st.sampled_from([0, 1, 2, limits.max, limits.min, inf, -inf]) | st.integers(limits.min, limits.max)


def expressions(dtype: np.dtype) -> st.SearchStrategy[ex.Expression]:
    """Anything over a, b and constants; also what the dtype has no operation for."""
    leaves = st.sampled_from([a, b]) | numbers(dtype).map(ex.constant)

    def grow(parts: st.SearchStrategy[ex.Expression]) -> st.SearchStrategy[ex.Expression]:
        return st.sampled_from(sorted(set(ARITY) - {"cast"})).flatmap(
            lambda op: st.tuples(*[parts] * ARITY[op]).map(lambda args: ex.apply(op, *args))
        )

    return st.recursive(leaves, grow, max_leaves=8)


def evaluated(e: ex.Expression, dtype: np.dtype, out: np.dtype, x: Any, y: Any) -> Any:
    function = numpy_function((e,), 2, (dtype,), (out,))
    return np.asarray(function((np.array([x], dtype),), (np.array([y], dtype),))[0]).ravel()[0]


@settings(max_examples=600)
@given(st.data())
def test_substituted_then_evaluated_is_evaluated_then_substituted(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(DTYPES))
    e = data.draw(expressions(dtype))
    x, y = data.draw(numbers(dtype)), data.draw(numbers(dtype))
    check_substitution(e, dtype, x, y)


def check_substitution(e: ex.Expression, dtype: np.dtype, x: Any, y: Any) -> None:
    try:
        steps = ex.typed([e], [dtype])
        out = steps[-1].writes if steps else dtype
        # ∞ is an integer's limit among integers, and infinite as soon as floats are computed with.
        assume(dtype.kind == "f" or not {inf, -inf} & {x, y} or all(d.kind != "f" for s in steps for d in s.reads))
        assume(not chooses_between_dtypes(steps, dtype))
        plain = evaluated(e, dtype, out, cast_constant(x, dtype), cast_constant(y, dtype))
    except (TypeError, OverflowError, ValueError):
        assume(False)  # no such operation, a constant beyond the dtype, or an integer to a negative power
    for replaced in ({a: x}, {b: y}, {a: x, b: y}):
        (f,) = ex.substitute([e], {k: ex.constant(v) for k, v in replaced.items()})
        try:
            found = evaluated(f, dtype, out, cast_constant(x, dtype), cast_constant(y, dtype))
        except OverflowError:
            continue  # a constant that stood beside a float stands beside a narrow integer now: NumPy refuses it too
        # Functions of narrow integers are taken in single precision, those of a quotient in double.
        coarsest = max(epsilons(steps) + epsilons(ex.typed([f], [dtype], [out])), default=0.0)
        assert same(found, plain, coarsest), f"{e} over {dtype} with {replaced}: {f} is {found!r}, not {plain!r}"


def test_a_constant_beyond_its_neighbours_dtype_is_refused_as_numpy_does() -> None:
    """Of (a + 10¹⁰) + conjugate(a > a) with a number for a: what was a sum of floats joins int8."""
    e = ex.apply("add", ex.apply("add", a, ex.constant(10**10)), ex.apply("conjugate", ex.apply("greater", a, a)))
    assert evaluated(e, np.dtype("f8"), np.dtype("f8"), 0, 0) == 1e10
    (f,) = ex.substitute([e], {a: ex.constant(0)})
    with pytest.raises(OverflowError, match="outside int8"):
        evaluated(f, np.dtype("f8"), np.dtype("f8"), 0, 0)
    with pytest.raises(OverflowError):
        np.int8(0) + 10**10


@pytest.mark.parametrize(("dtype", "expected"), [("i8", False), ("f4", False), ("u1", True)])
def test_infinity_beside_a_condition_is_a_number(dtype: str, expected: bool) -> None:
    """Also where the result is a condition: −∞ ≥ False is false but in unsigned integers, where −∞ is 0."""
    e = ex.apply("greater_equal", ex.constant(-inf), ex.apply("greater", a, a))
    (answer,) = numpy_function((e,), 1, (np.dtype(dtype),), (np.dtype(bool),))((np.zeros(1, dtype),))
    assert answer.tolist() == [expected]


def chooses_between_dtypes(steps: list[ex.Step], dtype: np.dtype) -> bool:
    """Whether a choice converts a branch, which it does not once its condition is known."""
    found = {s.node: s.writes for s in steps} | {a: dtype, b: dtype}
    choices = [s for s in steps if s.node.op == "where"]
    return any(found.get(branch, s.writes) != s.writes for s in choices for branch in s.node.args[1:])


def epsilons(steps: Any) -> list[float]:
    return [float(np.finfo(d).eps) for s in steps for d in (*s.reads, s.writes) if d.kind == "f"]


def same(x: Any, y: Any, epsilon: float = 0.0) -> bool:
    if x.dtype.kind != "f":
        return bool(x == y)
    tolerance = 64 * max(float(np.finfo(x.dtype).eps), epsilon)
    return bool(x == y or (np.isnan(x) and np.isnan(y)) or np.isclose(x, y, rtol=tolerance, atol=1e-300))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (lambda a, b: (a == 0) & (b == 0), lambda a, b: np.logical_and(a == 0, b == 0)),
        (lambda a, b: (a < b) | np.isnan(b), lambda a, b: np.logical_or(a < b, np.isnan(b))),
        (lambda a, b: (a < b) ^ True, lambda a, b: np.logical_not(a < b)),
        (lambda a, b: ~np.logical_or(a, b), lambda a, b: np.logical_not(np.logical_or(a, b))),
        (lambda a, b: ~(np.where(a < b, b == 0, False)), lambda a, b: np.logical_not((a < b) & (b == 0))),
        (lambda a, b: np.where(a < b, True, b == 0), lambda a, b: np.logical_or(a < b, b == 0)),
        (lambda a, b: np.where(a < b, False, b == 0), lambda a, b: np.logical_and(~(a < b), b == 0)),
        (lambda a, b: np.where(a < b, a == 0, True), lambda a, b: np.logical_or(~(a < b), a == 0)),
        (lambda a, b: np.where(~(a == b), a, b), lambda a, b: np.where(a == b, b, a)),
        (lambda a, b: ~~(a < b), lambda a, b: a < b),
        (lambda a, b: (a < b) & True, lambda a, b: a < b),
        (lambda a, b: (a < b) & False, lambda a, b: False),
        (lambda a, b: (a < b) | True, lambda a, b: True),
        (lambda a, b: a.astype("?") & (a < b), lambda a, b: np.logical_and(a.astype("?"), a < b)),
    ],
)
def test_operators_between_conditions_are_logical(written: Any, meant: Any) -> None:
    assert trace(written, 2) == trace(meant, 2)


def test_operators_between_numbers_are_of_their_bits() -> None:
    for f in (lambda a, b: a & b, lambda a, b: a | (a < b), lambda a, b: a ^ 1, lambda a, b: ~a):
        assert trace(f, 2).operations() & {"bitwise_and", "bitwise_or", "bitwise_xor", "invert"}


def test_an_algebra_that_asks_for_two_zeros_lives_in_floats() -> None:
    S = sr.Semiring(
        "either", add=lambda a, b: np.where((a == 0) & (b == 0), 0, 1),
        mul=lambda a, b: np.where((a == 0) | (b == 0), 0, 1), zero=0, one=1, carrier=lambda a: (a == 0) | (a == 1),
    )
    for dtype in S.dtypes:
        chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype)
        assert (sr.closure(chain, S) == np.triu(np.ones((3, 3)))).all()
    assert {d.kind for d in S.dtypes} == set("fiub")


def test_a_limit_is_true_or_false_by_its_dtype() -> None:
    """−∞ is the 0 of an unsigned dtype."""
    e = ex.apply("where", ex.constant(-inf), a, b)
    for dtype, expected in (("u1", 2), ("i1", 1), ("f8", 1)):
        assert evaluated(e, np.dtype(dtype), np.dtype(dtype), 1, 2) == expected


def test_integers_to_a_negative_power_are_floats() -> None:
    f = trace(lambda a, b: a**-2.0, 2)
    assert evaluated(f.outputs[0], np.dtype("i8"), np.dtype("f8"), 4, 0) == 1 / 16
    assert python_function(f)(4, 0) == 1 / 16


def test_an_operation_on_constants_has_the_dtype_of_the_operands() -> None:
    product = ex.apply("multiply", ex.constant(10**10), ex.constant(10**10))
    for dtype, expected in (("f8", 1e20), ("f4", np.float32(1e20)), ("u8", 10**20 % 2**64)):
        kind = np.dtype(dtype)
        assert ex.typed([product], [kind])[-1].writes == kind
        assert evaluated(product, kind, kind, 0, 0) == expected
        assert evaluated(ex.apply("add", a, product), kind, kind, 1, 0) == kind.type(expected) + kind.type(1)


def test_long_expressions_are_shown_in_short() -> None:
    e = a
    for _ in range(200):
        e = ex.apply("multiply", e, ex.apply("add", e, b))
    assert len(ex.show(e)) < 2000
    assert ex.show(ex.operand(30)) == "x30"
    assert ex.show(ex.apply("multiply", ex.apply("add", a, b), ex.apply("negative", a))) == "(a + b) · -(a)"
