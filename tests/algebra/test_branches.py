"""Python's control flow in operations: what is traced computes what the function does on plain numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.algebra.branches import LIMIT, explore
from semiring.algebra.evaluate import numpy_function
from semiring.algebra.expression import apply, constant, operand
from semiring.algebra.tracing import Symbol, TooManyBranches, trace

inf = math.inf
F8 = np.dtype("f8")
VALUES = [-inf, -2.5, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0, inf]


def by_tests(a: Any, b: Any) -> Any:
    if a < b:
        return a
    elif a > b:
        return b
    elif a == b:
        return a * 2
    return 7


def with_early_returns(a: Any, b: Any) -> Any:
    if a == inf:
        return b
    if b == inf:
        return a
    if not a:
        b = b + 1
    return a + b


def in_a_loop(a: Any, b: Any) -> Any:
    total = 0
    for limit in (-1, 0, 1):
        if a > limit:
            total = total + b
    return total


def by_exclusive_or(a: Any, b: Any) -> Any:
    return 1 if (a > 0) != (b > 0) else 0


FUNCTIONS: list[Callable] = [
    min, max, by_tests, with_early_returns, in_a_loop, by_exclusive_or,
    lambda a, b: b if b < a else a,
    lambda a, b: max(a, b, 0, 1),
    lambda a, b: min(a, b, key=lambda x: -x),
    lambda a, b: 0 <= a <= 1,
    lambda a, b: -1 < a < b <= 2,
    lambda a, b: a and b,
    lambda a, b: a or b,
    lambda a, b: not a,
    lambda a, b: not a or (b and a < b),
    lambda a, b: sorted([a, b, 1])[1],
    lambda a, b: a in (0, 1, inf),
    lambda a, b: a if a in (b, 0) else b,
    lambda a, b: 1 if (a, b) < (b, 1) else 0,
    lambda a, b: any(x > 1 for x in (a, b)),
    lambda a, b: all([a > 1, b > 1]),
    lambda a, b: abs(a - b) if a != b else 0,
    lambda a, b: (a + 1 if b > 0 else a - 1) if a > 0 else a + 1,
    lambda a, b: (a + 1 if b > 0 else a - 1) if a > 0 else a - 1,
    lambda a, b: a + 1 if a > 0 else (a + 1 if b > 0 else a - 1),
    lambda a, b: a - 1 if a > 0 else (a + 1 if b > 0 else a - 1),
    lambda a, b: (a + 1 if b > 0 else a - 1) if a > 0 else (a + 1 if b > 1 else a - 1),
    lambda a, b: (a if a < 1 else 1) if a < b else (b if a > b else a),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_traced_function_computes_what_the_function_does(function: Callable) -> None:
    traced = trace(function, 2)
    f = numpy_function(traced.outputs, 2, (F8,), (F8,))
    a, b = (np.array(x) for x in zip(*itertools.product(VALUES, repeat=2), strict=True))
    found = np.broadcast_to(f((a,), (b,))[0], a.shape)
    for x, y, got in zip(a.tolist(), b.tolist(), found, strict=True):
        expected = float(function(x, y))
        assert got == expected or (math.isnan(got) and math.isnan(expected)), (x, y)


@pytest.mark.parametrize(
    ("function", "spelled"),
    [
        (min, np.minimum),
        (max, np.maximum),
        (lambda a, b: a if a < b else b, np.minimum),
        (lambda a, b: max(a, b, 3), lambda a, b: np.maximum(np.maximum(b, a), 3)),
        (lambda a, b: 0 <= a <= b, lambda a, b: (a >= 0) & (a <= b)),
        (lambda a, b: a > 0 or b > 0, lambda a, b: (a > 0) | (b > 0)),
        (lambda a, b: not a < b, lambda a, b: ~(a < b)),
        (lambda a, b: 1 if a < b and a < 3 else 0, lambda a, b: np.where((a < b) & (a < 3), 1, 0)),
    ],
)
def test_the_result_is_as_short_as_by_hand(function: Callable, spelled: Callable) -> None:
    def sorted_arguments(f: Callable) -> str:
        return str(trace(f, 2)).replace("(b, a)", "(a, b)")

    assert sorted_arguments(function) == sorted_arguments(spelled)


def test_what_is_decided_is_not_asked_twice() -> None:
    calls = 0

    def f(a: Any, b: Any) -> Any:
        nonlocal calls
        calls += 1
        for _ in range(10):
            if a < b and not b > a:
                raise NameError("this path does not exist")
            if a < b and (a == b or b <= a or not a <= b):
                raise NameError("nor does this")
        return a if a < b else b

    assert str(trace(f, 2)) == "min(a, b)"
    assert calls == 2


def test_a_number_that_is_not_a_number_is_not_reasoned_away() -> None:
    """Neither a < b nor a ≥ b holds of NaN."""
    f = trace(lambda a, b: 1 if a < b else 2 if a >= b else 3, 2)
    on_arrays = numpy_function(f.outputs, 2, (F8,), (F8,))
    assert on_arrays((np.array([np.nan, 1]),), (np.array([1.0, 2]),))[0].tolist() == [3, 1]


def test_records() -> None:
    fields = ("cost", "hops")

    def better(x: Any, y: Any) -> Any:
        if (x.cost, x.hops) <= (y.cost, y.hops):
            return x
        return y

    options: dict[str, Any] = {
        "fields": {"cost": "f8", "hops": "f8"}, "zero": (inf, inf), "one": (0, 0),
        "mul": lambda x, y: (x.cost + y.cost, x.hops + y.hops),
        "carrier": lambda x: x.cost >= 0 and x.hops >= 0 and (x.cost < inf or x.hops == inf),
    }
    S = sr.Semiring("fewest hops", add=better, **options)
    T = sr.Semiring("by a key", add=lambda x, y: min(x, y, key=lambda r: (r.cost, r.hops)), **options)
    edges = [("a", "b", (1.0, 1)), ("b", "c", (1.0, 1)), ("a", "c", (2.0, 1))]
    for algebra in (S, T):
        assert sr.closure(sr.adjacency(edges, algebra), algebra)["a", "c"].item() == (2.0, 1.0)
    assert trace(lambda x, y: x if x != y else y, 2, dict.fromkeys(fields, np.dtype("f8"))).width == 2


def test_an_algebra_in_plain_python() -> None:
    S = sr.Semiring(
        "in plain Python", add=min, mul=lambda a, b: a + b, zero=inf, one=0, star=lambda a: 0 if a >= 0 else -inf,
        carrier=lambda a: 0 <= a <= inf,
    )
    A = np.array([[inf, 2, 9], [inf, inf, 3], [inf, inf, inf]])
    assert (sr.closure(A, S) == sr.closure(A, sr.min_plus)).all()
    assert S.is_tropical and S.selective


def test_errors_on_a_path_mean_undefined() -> None:
    def star(a: Any) -> Any:
        if a == 1:
            raise ZeroDivisionError("1 / 0")
        return 1 / (1 - a)

    S = sr.Semiring("sums", add=np.add, mul=np.multiply, zero=0, one=1, star=star, carrier=np.isfinite)
    assert float(S.star(0.5)) == 2
    with pytest.raises(sr.SemiringError, match="the star of 1 does not exist"):
        S.star(1.0)

    def carrier(a: Any) -> Any:
        assert a >= 0
        return a <= 1

    assert str(trace(carrier, 1, predicate=True)) == "(a ≥ 0) and (a ≤ 1)"


def test_errors_that_are_no_answer_are_raised() -> None:
    def misspelt(a: Any, b: Any) -> Any:
        return a if a < b else bb  # noqa: F821

    def always(a: Any, b: Any) -> Any:
        raise ValueError("first" if a < b else "second")

    with pytest.raises(NameError, match="bb"):
        trace(misspelt, 2)
    with pytest.raises(ValueError, match="first"):
        trace(always, 2)
    with pytest.raises(sr.TraceError, match="None"):
        trace(lambda a, b: a if a < b else None, 2)


def test_too_many_branches_end_soon_and_run_on_objects() -> None:
    calls = 0

    def gcd(a: Any, b: Any) -> Any:
        nonlocal calls
        calls += 1
        while b:
            a, b = b, a % b
        return a

    with pytest.raises(TooManyBranches, match=rf"more than {LIMIT} paths .* b ≠ 0; write it with np\.where"):
        trace(gcd, 2)
    assert calls == 1
    with pytest.warns(sr.SemiringWarning, match="paths through its conditions"):
        S = sr.Semiring("divisors", add=gcd, mul=math.lcm, zero=0, one=1, samples=[2, 3, 12])
    assert S.is_object
    assert S.add(12, 18) == 6


def test_the_limit_is_reached_and_not_passed() -> None:
    def steps(n: int) -> Callable:
        return lambda a, b: sum(1 for k in range(n) if a == k)

    assert trace(steps(6), 2).outputs  # a == 0 and a == 1 are not known to exclude each other
    with pytest.raises(TooManyBranches):
        trace(steps(7), 2)


def test_functions_of_the_math_module_run_on_objects() -> None:
    with pytest.warns(sr.SemiringWarning, match="functions of the math module"):
        S = sr.Semiring(
            "logs", add=lambda a, b: max(a, b), mul=lambda a, b: math.fsum([a, b]), zero=-inf, one=0.0, samples=[1.5],
        )
    assert S.is_object
    with pytest.warns(sr.SemiringWarning, match="functions of the math module"):
        T = sr.Semiring("star", add=max, mul=np.add, zero=-inf, one=0, star=lambda a: 0.0 if math.isinf(a) else 0.0 * a)
    assert T.is_object


def test_truth_outside_of_tracing_is_refused() -> None:
    with pytest.raises(sr.TraceError, match=r"a < b is an expression while the operation is traced"):
        bool(Symbol(apply("less", operand(0), operand(1))))
    assert explore(lambda: (constant(1),), (constant(0),)) == (constant(1),)
