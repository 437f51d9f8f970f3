"""The text that the Numba target writes: every name in it is one that kernels have, and Python reads it alike."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

from semiring.algebra import expression as ex
from semiring.algebra.operations import ARITY, OPERATIONS
from semiring.kernels.cpu.compile import scalar
from semiring.kernels.cpu.compile.rules import HELPERS, NUMBA, function

DTYPES = [np.dtype(d) for d in ("?", "i1", "u4", "i8", "u8", "f4", "f8")]
# What the header of a generated module brings, and Python.
KNOWN = {"np", "abs", "select", "min", "max", *(d.name for d in DTYPES), "int16", "int32", "uint8", "uint16"}
F8, I4, BOOL = np.dtype("f8"), np.dtype("i4"), np.dtype("?")
a, b, c = (ex.operand(i) for i in range(3))


def meaning(text: str) -> Any:
    """The function as Python runs it."""
    types = {d.name: d.type for d in (*DTYPES, I4, np.dtype("u1"))}
    scope = {"np": np, "inline": lambda f: f, "select": lambda p, x, y: x if p else y, **types}
    exec(text, scope)
    return scope["f"]


def node(op: str, dtype: np.dtype) -> ex.Expression | None:
    """An operation on elements; None where a dtype has none such."""
    arguments = [ex.operand(i) for i in range(ARITY[op])]
    if op == "where":
        arguments[0] = ex.Expression("less", (a, b))
    found = ex.Expression(op, arguments, "f8" if op == "cast" else None)
    try:
        ex.typed([found], [dtype])
    except TypeError:
        return None
    return found


def test_every_name_is_known() -> None:
    called = set()
    for op in OPERATIONS:
        for dtype in DTYPES:
            e = node(op, dtype)
            if e is None:
                continue
            writes = ex.typed([e], [dtype])[-1].writes
            text = function("f", "a, b, c", [e], [dtype], [writes])
            tree = ast.parse(text)
            names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
            made = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            called |= names & set(HELPERS)
            assert names - made - {"a", "b", "c", "inline"} <= KNOWN | set(HELPERS), (op, dtype, text)
            numpys = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
            assert all(hasattr(np, name) for name in numpys), (op, dtype, text)
    assert called == set(HELPERS)  # none is there for nothing
    assert all(callable(getattr(scalar, name)) for name in HELPERS)


@pytest.mark.parametrize("value", [
    np.bool_(True), np.bool_(False), np.int64(-(2**63)), np.uint64(2**64 - 1), np.float64(0.1), np.float64(-0.0),
    np.float32(0.1), np.float64(np.inf), np.float64(-np.inf), np.float64(np.nan), np.float64(5e-324), np.int8(-128),
], ids=repr)
def test_constants_come_back_to_the_bit(value: np.generic) -> None:
    found = eval(NUMBA.literal(value), {"np": np, **{d.name: d.type for d in DTYPES}})
    assert np.asarray(found, value.dtype).tobytes() == value.tobytes()
    assert isinstance(found, (bool, type(value)))


class TestFunctions:
    def test_scalars(self) -> None:
        text = function("f", "x, y", [ex.apply("add", a, ex.apply("multiply", b, ex.constant(2)))], [F8])
        assert text.startswith("@inline\ndef f(x, y):\n    t0 = ") and meaning(text)(1.0, 3.0) == 7

    def test_records_are_tuples_both_ways(self) -> None:
        first, second = ex.operand(0, 1), ex.operand(1, 0)
        text = function("f", "x, y", [ex.apply("add", first, second), first], [F8, F8])
        assert meaning(text)((1.0, 2.0), (10.0, 20.0)) == (12, 2)

    def test_what_is_used_twice_is_computed_once(self) -> None:
        square = ex.apply("multiply", a, a)
        text = function("f", "x", [ex.apply("add", square, ex.apply("sqrt", square))], [F8])
        assert text.count("x * x") == 1 and meaning(text)(3.0) == 12

    def test_nothing_to_do(self) -> None:
        assert function("f", "x", [a], [F8]) == "@inline\ndef f(x):\n    return x\n"
        assert meaning(function("f", "x", [ex.constant(True)], [F8], [BOOL]))(4.0) is True

    def test_results_have_the_wanted_type(self) -> None:
        both = ex.apply("add", a, b)
        assert type(meaning(function("f", "x, y", [both], [I4]))(np.int32(1), np.int32(2))) is np.int32
        less = ex.apply("less", a, b)
        assert meaning(function("f", "x, y", [less], [I4], [BOOL]))(1, 2)
        found = meaning(function("f", "x, y", [less], [F8]))(1.0, 2.0)
        assert found == 1 and isinstance(found, np.float64)

    def test_a_minimum_drops_a_nan_that_stands_second(self) -> None:
        for op, worse in (("minimum", 5.0), ("maximum", -5.0)):
            run = meaning(function("f", "x, t", [ex.Expression(op, (a, b))], [F8]))
            assert run(2.0, np.nan) == 2 and run(2.0, worse) == 2 and np.isnan(run(np.nan, 2.0))

    @pytest.mark.parametrize(("op", "meant"), [
        ("add", "or"), ("maximum", "or"), ("saturating_add", "or"), ("bitwise_or", "or"), ("logical_or", "or"),
        ("multiply", "and"), ("minimum", "and"), ("saturating_multiply", "and"), ("bitwise_and", "and"),
        ("bitwise_xor", "xor"), ("logical_xor", "xor"), ("not_equal", "xor"),
    ])
    def test_truth_values(self, op: str, meant: str) -> None:
        """Sums of truth values are not counts."""
        run = meaning(function("f", "x, y", [ex.Expression(op, (a, b))], [BOOL]))
        table = [bool(run(x, y)) for x in (False, True) for y in (False, True)]
        assert table == {"or": [0, 1, 1, 1], "and": [0, 0, 0, 1], "xor": [0, 1, 1, 0]}[meant]
        assert all(isinstance(run(x, y), (bool, np.bool_)) for x in (False, True) for y in (False, True))

    def test_limits_and_widths_are_those_of_the_dtype(self) -> None:
        for dtype, helper, ends in (
            ("i1", "saturating_add_narrow", "int8(-128), int8(127)"),
            ("u4", "saturating_add_uint32", "uint32(0), uint32(4294967295)"),
            ("i8", "saturating_add_int64", "int64(-9223372036854775808), int64(9223372036854775807)"),
        ):
            text = function("f", "x, y", [ex.Expression("saturating_add", (a, b))], [np.dtype(dtype)])
            assert f"{helper}(x, y, {ends})" in text
        assert "left_shift(x, y, 32)" in function("f", "x, y", [ex.Expression("left_shift", (a, b))], [I4])
