"""Every operation on ±∞, NaN, 0, −0 and the integer limits, on every target that this machine can run."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from engines import slow_but

from semiring.algebra import evaluate as reference
from semiring.algebra import expression as ex
from semiring.algebra.operations import ARITY, OPERATIONS
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

inline = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)  # as the operations of algebras are
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
    """One module with all operations of a dtype: a loop over the cases of each, in one compiled function.

    The cases of all lie one after the other, in three arrays: three for each operation would be thousands of arguments,
    and most of the time to compile.
    """
    present = [(op, e) for op in OPERATIONS if (e := node(op, dtype)) is not None]
    kinds = list(dict.fromkeys(writes(e, dtype) for _, e in present))
    text, loops = [HEADER], []
    for k, (op, e) in enumerate(present):
        text.append(function(f"try_{op}", "a, b, c", [e], [dtype], [writes(e, dtype)]))
        out = f"out{kinds.index(writes(e, dtype))}"
        loops.append(f"    for i in range(first[{k}], first[{k + 1}]):")
        loops.append(f"        {out}[i] = try_{op}(a[i], b[i], c[i])")
    outputs = ", ".join(f"out{i}" for i in range(len(kinds)))
    text.append(f"@njit(error_model='numpy', cache=True)\ndef run(a, b, c, first, {outputs}):\n" + "\n".join(loops))
    return cache.load(f"operations_{dtype.name}", "\n\n".join(text))


def agree(op: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype.kind != "f":
        return x == y
    with np.errstate(all="ignore"):
        near = np.abs(x - y) <= 8 * np.finfo(x.dtype).eps * np.maximum(np.abs(x), np.abs(y)) + np.finfo(x.dtype).tiny
    return (x == y) | (np.isnan(x) & np.isnan(y)) | (near & (op in ROUNDED))


@pytest.mark.parametrize("dtype", slow_but([[dtype] for dtype in DTYPES], *map(DTYPES.index, ("u8", "f8"))))
def test_compiled_operations_answer_as_numpy_does(dtype: str) -> None:
    kind = np.dtype(dtype)
    present = [op for op in OPERATIONS if node(op, kind) is not None]
    arguments = [cases(op, kind) for op in present]
    a, b, c = (np.concatenate([x[i] for x in arguments]) for i in range(3))
    first = np.cumsum([0, *(len(x[0]) for x in arguments)])
    kinds = [writes(node(op, kind), kind) for op in present]
    outputs = {out: np.empty(len(a), out) for out in kinds}
    numba_module(kind).run(a, b, c, first, *outputs.values())
    results = [outputs[out][i:j] for out, i, j in zip(kinds, first, first[1:], strict=False)]
    wrong = []
    for op, args, got in zip(present, arguments, results, strict=True):
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
