"""Expressions as NumPy's functions, as Python's on any objects, and as lines of a target."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from algebra.test_operations import ROUNDED, TRANSCENDENTAL, by_numpy, node

from semiring.algebra import evaluate as reference
from semiring.algebra import expression as ex
from semiring.algebra.operations import ARITY, OPERATIONS, UFUNCS
from semiring.algebra.tracing import trace

inf, nan = math.inf, math.nan
F8 = np.dtype("f8")
EXACT = [op for op in OPERATIONS if op not in ROUNDED and op != "cast"]
WHOLE = [0, 1, 2, 3, 7, -1, -2, -7, 12]


@pytest.mark.parametrize("op", [*EXACT, "floor_divide", "remainder"])
def test_python_objects_answer_as_numpy_does(op: str) -> None:
    """On integers and fractions, and on infinities where arithmetic has them."""
    e = node(op, np.dtype("i8")) or node(op, np.dtype("f8"))
    assert e is not None
    on_objects = reference.python_function(ex.Traced((e,), 3, 1))
    for dtype in ("i8", "f8"):
        kind = np.dtype(dtype)
        e = node(op, kind)
        if e is None:
            continue
        pool = WHOLE if dtype == "i8" else [*WHOLE, 0.5, -2.25, inf, -inf]
        for args in itertools.product(pool, repeat=ARITY[op]):
            args = (*args, 0, 0)[:3]
            if (op in ("floor_divide", "remainder", "fmod") and (args[1] == 0 or inf in map(abs, args))) or (
                "shift" in op and args[1] < 0
            ):
                continue
            expected = by_numpy(e, kind, [np.array([x], kind) for x in args])[0]
            if expected != expected:
                continue
            exact = [Fraction(x) if dtype == "f8" and math.isfinite(x) else x for x in args]
            assert on_objects(*exact) == expected, (op, args)


@pytest.mark.parametrize("op", sorted(TRANSCENDENTAL | {"power", "float_power"}))
def test_smooth_functions_of_objects(op: str) -> None:
    """Poles, overflow and points outside the domain answer as in NumPy, and raise nothing."""
    e = node(op, np.dtype("f8"))
    f = reference.python_function(ex.Traced((e,), 2, 1))
    pool = [0.0, -0.0, 1.0, -1.0, 0.5, -0.75, 3.0, 4.0, -2.0, 800.0, -800.0, inf, -inf]
    for x, y in itertools.product(pool, pool if ARITY[op] == 2 else [0.0]):
        expected = float(by_numpy(e, np.dtype("f8"), [np.array([v]) for v in (x, y, 0)])[0])
        got = f(x, y)
        assert got == pytest.approx(expected, rel=1e-13, abs=1e-300, nan_ok=True), (op, x, y)


def test_logarithms_of_objects() -> None:
    for op, cases in {
        "log": [0, 1, 2.5, inf], "log1p": [-1, 0, 3], "exp": [0, 1, -inf, inf], "expm1": [0, 1, -inf],
        "exp2": [0, 3, -inf], "log2": [0, 8], "sqrt": [0, 4, inf],
    }.items():
        f = reference.python_function(ex.Traced((node(op, np.dtype("f8")),), 1, 1))
        for x in cases:
            with np.errstate(all="ignore"):
                assert f(x) == pytest.approx(float(UFUNCS[op](float(x))), rel=1e-14), (op, x)
    for op in ("logaddexp", "logaddexp2"):
        f = reference.python_function(ex.Traced((node(op, np.dtype("f8")),), 2, 1))
        for x, y in itertools.product([0.0, 1.5, -700.0, 800.0, inf, -inf], repeat=2):
            assert f(x, y) == pytest.approx(float(UFUNCS[op](x, y)), rel=1e-14), (op, x, y)


def test_objects_are_asked_only_for_the_branch_that_is_taken() -> None:
    f = reference.python_function(trace(lambda a, b: np.where(b == 0, -1, a / b), 2))
    assert f(Fraction(1), Fraction(3)) == Fraction(1, 3) and f(1, 0) == -1
    star = reference.python_function(trace(lambda a: np.where(a == 1, np.nan, 1 / (1 - a)), 1))
    assert star(Fraction(1, 3)) == Fraction(3, 2) and math.isnan(star(Fraction(1)))


def test_on_arrays_nothing_warns_and_the_outer_settings_stay() -> None:
    f = reference.numpy_function(trace(lambda a, b: a / b + np.log(a), 2).outputs, 2, (F8,), (F8,))
    with np.errstate(all="raise"):
        result = f((np.array([0.0, 1.0, -1.0]),), (np.array([0.0, 0.0, 2.0]),))[0]
        assert np.geterr()["divide"] == "raise"
    assert np.isnan(result[[0, 2]]).all() and result[1] == inf


def test_one_expression_is_one_function() -> None:
    f, g = (reference.numpy_function(trace(lambda a, b: a * b + 1, 2).outputs, 2, (F8,), (F8,)) for _ in range(2))
    assert f is g
    assert reference.python_function(trace(np.minimum, 2)) is reference.python_function(trace(np.fmin, 2))


@pytest.mark.parametrize("value", [inf, -inf, nan, 0.1, 5e-324, -0.0, 2.0**53 + 2, 7, -3, True])
def test_constants_are_written_exactly(value: float) -> None:
    (found,) = reference.numpy_function((ex.constant(value),), 1, (F8,), (F8,))((np.zeros(1),))
    assert np.float64(found).tobytes() == np.float64(value).tobytes() or (found != found and value != value)


def test_complex_constants_are_written_exactly() -> None:
    for value in (1 - 2j, complex(inf, -inf), 0.1 + 1e-300j):
        kind = np.dtype("c16")
        assert reference.numpy_function((ex.constant(value),), 1, (kind,), (kind,))((np.zeros(1),))[0] == value


@pytest.mark.parametrize(
    ("dtype", "expected"), [("i1", [126, 127, 127]), ("u1", [126, 127, 128]), ("f4", [126, 127, 128])]
)
def test_sums_stop_where_the_dtype_says(dtype: str, expected: list) -> None:
    e = ex.apply("saturating_add", ex.operand(0), ex.operand(1))
    f = reference.numpy_function((e,), 2, (np.dtype(dtype),), (np.dtype(dtype),))
    assert f((np.array([125, 126, 127], dtype),), (np.array([1, 1, 1], dtype),))[0].tolist() == expected


# A target made up here: prefix notation, with a row of its own for truth values and for floats.
POLISH = reference.Rules(
    table={"add": "+ {0} {1}", "multiply": "* {0} {1}", "maximum": "max {0} {1}", "less": "< {0} {1}",
           "where": "if {0} {1} {2}", "left_shift": "shift{bits}{width} {0} {1}", "invert": "flip {0} {low} {high}"},
    literal=lambda value: f"{value.dtype.name}:{value.item():g}",
    convert=lambda text, have, want: text if have == want else f"({want.name} {text})",
    result=lambda text, dtype: f"{text} ; {dtype.name}",
    boolean={"invert": "not {0}"},
    floating={"maximum": "fmax {0} {1}"},
)
FUSED = replace(POLISH, fused={"add": ("fma {0} {1} {2}", "amf {0} {1} {2}")})


def lowered(
    function: Any, dtypes: list[str], wanted: list[str], arity: int = 2, rules: reference.Rules = POLISH
) -> tuple[list[str], list[str]]:
    outputs = trace(function, arity).outputs
    kinds = [[np.dtype(d) for d in some] for some in (dtypes, wanted)]
    return reference.lower(outputs, *kinds, rules, lambda operand, c: "ab"[operand] + str(c))


def test_a_target_is_a_table() -> None:
    assert lowered(lambda a, b: a * b + 3, ["i4"], ["i4"]) == (
        ["t0 = * a0 b0 ; int32", "t1 = + t0 int32:3 ; int32"], ["t1"])
    assert lowered(np.maximum, ["f8"], ["f8"])[0] == ["t0 = fmax a0 b0 ; float64"]
    assert lowered(np.maximum, ["u2"], ["u2"])[0] == ["t0 = max a0 b0 ; uint16"]
    assert lowered(lambda a, b: a, ["f4"], ["f4"]) == ([], ["a0"])
    assert lowered(lambda a, b: a, ["f4"], ["f8"]) == ([], ["(float64 a0)"])
    assert lowered(lambda a, b: inf, ["u1"], ["u1"]) == ([], ["uint8:255"])


@pytest.mark.parametrize(
    ("function", "dtype", "lines"),
    [
        (lambda a, b: a * b + a, "f4", ["fma a0 b0 a0 ; float32"]),
        (lambda a, b: b + a * b, "f8", ["amf a0 b0 b0 ; float64"]),
        (lambda a, b: a * b + a, "f2", ["* a0 b0 ; float16", "+ t0 a0 ; float16"]),  # rounds after every operation
        (lambda a, b: a * b + a, "i4", ["* a0 b0 ; int32", "+ t0 a0 ; int32"]),
        (lambda a, b: a * a + b * b, "f4", ["* a0 a0 ; float32", "* b0 b0 ; float32", "+ t0 t1 ; float32"]),
        (lambda a, b: np.maximum(a * b + a, a * b), "f4",
         ["* a0 b0 ; float32", "+ t0 a0 ; float32", "fmax t1 t0 ; float32"]),
    ],
)
def test_a_sum_takes_in_a_product_that_nothing_else_uses(function: Any, dtype: str, lines: list[str]) -> None:
    """Only of floats that are rounded no further, and only one of two, lest a ⊗ b and b ⊗ a differ."""
    assert [line.partition(" = ")[2] for line in lowered(function, [dtype], [dtype], rules=FUSED)[0]] == lines


def test_rows_may_name_limits_and_widths_of_integers() -> None:
    shift = lambda a, b: a << b  # noqa: E731
    assert lowered(shift, ["i2"], ["i2"])[0] == ["t0 = shift16narrow a0 b0 ; int16"]
    assert lowered(shift, ["u8"], ["u8"])[0] == ["t0 = shift64uint64 a0 b0 ; uint64"]
    assert lowered(lambda a, b: ~a, ["i1"], ["i1"])[0] == ["t0 = flip a0 int8:-128 int8:127 ; int8"]
    assert lowered(lambda a, b: np.invert(a), ["?"], ["?"])[0] == ["t0 = not a0 ; bool"]


def test_what_occurs_twice_is_computed_once_and_before_it_is_used() -> None:
    def grown(a: Any, b: Any) -> Any:
        for _ in range(20):
            a = a * a + b
        return a

    lines, results = lowered(grown, ["f8"], ["f8"])
    assert len(lines) == 40 and results == ["t39"]
    for k, line in enumerate(lines):
        name, _, text = line.partition(" = ")
        assert name == f"t{k}" and all(int(t) < k for t in re.findall(r"\bt(\d+)", text))


def test_a_record_is_one_program_with_several_results() -> None:
    fields = {"p": np.dtype("f8"), "q": np.dtype("i4")}
    traced = trace(lambda x, y: (x.p + y.p, x.q + y.q), 2, fields)
    f = reference.numpy_function(traced.outputs, 2, tuple(fields.values()), tuple(fields.values()))
    p, q = f((np.array([0.5]), np.array([2], "i4")), (np.array([1.0]), np.array([40], "i4")))
    assert (p.tolist(), q.tolist(), q.dtype) == ([1.5], [42], np.int32)
