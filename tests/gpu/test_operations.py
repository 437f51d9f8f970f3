"""Every operation of the rule table on the edges of every dtype, on the device and in NumPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from semiring.algebra.evaluate import numpy_function
from semiring.algebra.expression import Expression, operand, typed
from semiring.algebra.operations import ARITY, OPERATIONS
from semiring.kernels.cuda.compile import rules

DTYPES = tuple(np.dtype(d) for d in ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"))
DROPS_NAN = ("minimum", "maximum")
# CUDA's functions and those that NumPy calls may be a few units in the last place apart.
APPROXIMATE = frozenset(
    "power float_power divide remainder floor_divide exp exp2 expm1 log log2 log10 log1p logaddexp logaddexp2 cbrt "
    "hypot sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh".split()
)


def values(dtype: np.dtype) -> np.ndarray:
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind == "f":
        tiny = np.finfo(dtype).smallest_subnormal
        some = [0.0, -0.0, 1, -1, 0.5, 2.5, -2.5, 3, 7, -7, 100, np.inf, -np.inf, np.nan, np.finfo(dtype).max, tiny]
        return np.array(some, dtype)
    limits = np.iinfo(dtype)
    some = [0, 1, 2, 3, 5, 7, 8, 31, limits.max, limits.max - 1, limits.min, limits.min + 1]
    return np.array(some + ([-1, -2, -7] if limits.min else []), dtype)


def expression(op: str) -> Expression:
    arity = ARITY[op]
    if op == "where":
        return Expression("where", (Expression("less", (operand(0), operand(1))), operand(0), operand(1)))
    if op == "cast":
        return Expression("cast", (operand(0),), "i4")
    return Expression(op, tuple(operand(i) for i in range(arity)))


def cases(dtype: np.dtype) -> dict[str, tuple[Expression, np.dtype]]:
    """Operations that exist for the dtype, with the dtype of their results."""
    found = {}
    for op in OPERATIONS:
        e = expression(op)
        try:
            steps = typed([e], [dtype])
        except TypeError:
            continue
        found[op] = (e, steps[-1].writes)
    return found


def text_of(dtype: np.dtype, found: dict[str, tuple[Expression, np.dtype]]) -> str:
    """A kernel for each operation."""
    text = [prelude(dtype)]
    for op, (e, out) in found.items():
        text.append(rules.function(f"apply_{op}", "a, b", [e], [dtype], [out]))
        text.append(
            f'extern "C" __global__ void test_{op}(const Value* a, const Value* b, {rules.value_type(out)}* out,'
            f" long long n) {{\n    int i = threadIdx.x;\n    if (i < n) out[i] = apply_{op}(a[i], b[i]);\n}}\n"
        )
    return "".join(text)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_operation_is_numpys(dtype: np.dtype) -> None:
    import cupy

    from semiring.kernels.cuda.compile.launch import Module

    pairs = list(itertools.product(values(dtype), repeat=2))
    x, right = (np.array(column, dtype) for column in zip(*pairs, strict=True))
    found = cases(dtype)
    module = Module(text_of(dtype, found))
    wrong = []
    for op, (e, out) in found.items():
        # NumPy has no answer for a negative exponent of an integer.
        y = np.abs(right) if op == "power" and dtype.kind == "i" else right
        keep = y >= 0 if op == "power" and dtype.kind == "i" else np.ones(len(x), bool)
        with np.errstate(all="ignore"):
            wanted = numpy_function((e,), 2, (dtype,), (out,))((x,), (np.where(keep, y, 1).astype(dtype),))[0]
        skip = ~keep
        store = np.dtype("f4") if out == np.float16 else out
        got = cupy.empty(len(x), store)
        a, b = cupy.asarray(x), cupy.asarray(y)
        module.function(f"test_{op}", 1024)(1, 1, a.data.ptr, b.data.ptr, got.data.ptr, len(x))
        result, wanted = cupy.asnumpy(got).astype(out), np.asarray(wanted, out)
        if op in DROPS_NAN and dtype.kind == "f":
            skip = np.isnan(x) | np.isnan(y)
        if op == "cast":
            skip = ~(np.abs(x.astype("f8")) < 2**31)
        same = (result == wanted) | ((result != result) & (wanted != wanted)) | skip
        if op in APPROXIMATE and out.kind == "f":
            same |= np.isclose(result, wanted, rtol=8 * float(np.finfo(out).eps), atol=0)
        if not same.all():
            i = int(np.flatnonzero(~same)[0])
            wrong.append(f"{op}({x[i]!r}, {y[i]!r}) is {result[i]!r}, not {wanted[i]!r}; {int((~same).sum())} differ")
    assert not wrong, "\n".join(wrong)


def prelude(dtype: np.dtype) -> str:
    from semiring.kernels.cuda.compile.program import file_text

    return file_text("compile/ops.cuh") + f"using Value = {rules.memory_type(dtype)};\n"
