"""Every operation on ±∞, NaN, 0, −0 and the integer limits, on every target that this machine can run."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.algebra import evaluate as reference
from semiring.algebra import expression as ex
from semiring.algebra.operations import ARITY, OPERATIONS, UFUNCS
from semiring.kernels.cpu.compile import cache
from semiring.kernels.cpu.compile.rules import NUMBA, function

inf, nan = math.inf, math.nan
DTYPES = ("?", "i1", "i8", "u4", "u8", "f4", "f8")
# Libraries round these differently: they may be a few units in the last place apart, on any target.
TRANSCENDENTAL = frozenset(
    "exp exp2 expm1 log log2 log10 log1p logaddexp logaddexp2 sqrt cbrt hypot sin cos tan arcsin arccos arctan arctan2 "
    "sinh cosh tanh arcsinh arccosh arctanh".split()
)
ROUNDED = TRANSCENDENTAL | {"power", "float_power", "divide", "remainder", "floor_divide"}

HEADER = '''"""All operations of one dtype, to be tried."""

import math

import numpy as np
from math import inf, nan
from numba import boolean, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64

from semiring.kernels.cpu.compile.jit import njit
from semiring.kernels.cpu.compile.raw import select
from semiring.kernels.cpu.compile.scalar import *
'''


def node(op: str, dtype: np.dtype) -> ex.Expression | None:
    """The operation on the operands a, b and perhaps c; None where a dtype has no such operation."""
    if op == "cast":
        return ex.Expression("cast", (ex.operand(0),), "f8" if dtype.kind != "f" else "i4")
    arguments = [ex.operand(i) for i in range(ARITY[op])]
    if op == "where":
        arguments[0] = ex.Expression("less", (arguments[2], arguments[1]))
    found = ex.Expression(op, arguments)
    try:
        ex.typed([found], [dtype])
    except TypeError:
        return None
    return found


def values(dtype: np.dtype) -> np.ndarray:
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind == "f":
        some = np.finfo(dtype)
        sized = [float(some.max), float(some.tiny), float(some.smallest_subnormal)]
        return np.array([inf, -inf, nan, 0.0, -0.0, 1, -1, 0.5, -2.5, 3, 7.75, *sized, -sized[0], -sized[2]], dtype)
    limits = np.iinfo(dtype)
    low = {limits.min, limits.min + 1, -1, -2, -7} if limits.min else set()
    return np.array(sorted({0, 1, 2, 3, 7, 12, limits.bits - 1, limits.bits, limits.max, limits.max - 1} | low), dtype)


def cases(op: str, dtype: np.dtype) -> list[np.ndarray]:
    """All combinations of values for which the operation means something."""
    pool = values(dtype)
    rows = np.array(list(itertools.product(range(len(pool)), repeat=3)))
    a, b, c = (pool[r] for r in rows.T)
    keep = np.ones(len(a), bool)
    if op == "power" and dtype.kind in "iu":
        keep &= b >= 0
    if op in ("left_shift", "right_shift") and dtype.kind == "i":
        keep &= b >= 0
    if op == "cast" and dtype.kind == "f":
        keep &= np.abs(a) < 2.0**31
    if ARITY[op] < 3:
        keep &= rows[:, 2] == 0
    if ARITY[op] < 2:
        keep &= rows[:, 1] == 0
    return [x[keep] for x in (a, b, c)]


def writes(e: ex.Expression, dtype: np.dtype) -> np.dtype:
    return ex.typed([e], [dtype])[-1].writes


def by_numpy(e: ex.Expression, dtype: np.dtype, arrays: list[np.ndarray]) -> np.ndarray:
    out = writes(e, dtype)
    result = reference.numpy_function((e,), 3, (dtype,), (out,))(*[(x,) for x in arrays])[0]
    return np.broadcast_to(np.asarray(result, out), arrays[0].shape)


def numba_module(dtype: np.dtype) -> Any:
    """One module with all operations of a dtype: a loop over each, in one compiled function."""
    text = [HEADER]
    calls = []
    for op in OPERATIONS:
        e, k = node(op, dtype), len(calls)
        if e is not None:
            text.append(function(f"try_{op}", "a, b, c", [e], [dtype], [writes(e, dtype)]))
            loop = (
                f"    for i in range(len(A[{k}])):\n        out[{k}][i] = try_{op}(A[{k}][i], B[{k}][i], C[{k}][i])\n"
            )
            calls.append(loop)
    text.append("@njit(error_model='numpy', cache=True)\ndef run(A, B, C, out):\n" + "".join(calls))
    return cache.load(f"operations_{dtype.name}", "\n\n".join(text))


def agree(op: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype.kind != "f":
        return x == y
    with np.errstate(all="ignore"):
        near = np.abs(x - y) <= 8 * np.finfo(x.dtype).eps * np.maximum(np.abs(x), np.abs(y)) + np.finfo(x.dtype).tiny
    return (x == y) | (np.isnan(x) & np.isnan(y)) | (near & (op in ROUNDED))


@pytest.mark.parametrize("dtype", DTYPES)
def test_compiled_operations_answer_as_numpy_does(dtype: str) -> None:
    kind = np.dtype(dtype)
    present = [op for op in OPERATIONS if node(op, kind) is not None]
    arguments = [cases(op, kind) for op in present]
    A, B, C = (tuple(a[i] for a in arguments) for i in range(3))
    out = tuple(np.empty(len(a), writes(node(op, kind), kind)) for op, a in zip(present, A, strict=True))
    numba_module(kind).run(A, B, C, out)
    wrong = []
    for op, args, got in zip(present, arguments, out, strict=True):
        expected = by_numpy(node(op, kind), kind, args)
        good = agree(op, got, expected)
        if op in ("minimum", "maximum") and kind.kind == "f":
            # A NaN candidate is dropped: that is how zero absorbs for free. Nothing else may come of a NaN.
            odd = np.isnan(args[0]) | np.isnan(args[1])
            good = np.where(odd, (got == args[0]) | np.isnan(args[0]), good)
        for i in np.flatnonzero(~good)[:2]:
            shown = ", ".join(repr(x[i]) for x in args[: ARITY[op]])
            wrong.append(f"{op}({shown}) is {got[i]!r}, and {expected[i]!r} in NumPy ({(~good).sum()} of {len(good)})")
    assert not wrong, f"{dtype}:\n" + "\n".join(wrong)


def test_no_table_misses_an_operation() -> None:
    for table in (NUMBA.table, reference.NUMPY.table, reference.PYTHON):
        assert set(OPERATIONS) <= set(table)


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
