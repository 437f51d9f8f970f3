"""The Numba target: a rule table from operations to scalar Python text that LLVM turns into vector instructions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from semiring.algebra.evaluate import Rules, lower
from semiring.algebra.expression import Expression
from semiring.algebra.operations import UFUNCS

ONE_ARGUMENT = (
    "sqrt cbrt exp exp2 expm1 log log2 log10 log1p floor ceil rint signbit "
    "sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh"
)

NUMBA = Rules(
    table={
        "add": "({0} + {1})", "subtract": "({0} - {1})", "multiply": "({0} * {1})", "divide": "({0} / {1})",
        "floor_divide": "floor_divide({0}, {1})", "remainder": "remainder({0}, {1})", "power": "power({0}, {1})",
        "float_power": "({0} ** {1})", "fmod": "fmod({0}, {1})", "negative": "(-{0})", "absolute": "abs({0})",
        "fabs": "abs({0})", "sign": "(({0} > 0) * 1 - ({0} < 0) * 1)", "trunc": "{0}",
        "heaviside": "heaviside({0}, {1})", "bitwise_count": "bitwise_count({0})",
        # A comparison with NaN is false: the second operand wins, so a NaN candidate is dropped.
        "minimum": "select({1} < {0}, {1}, {0})", "maximum": "select({1} > {0}, {1}, {0})",
        "logaddexp": "logaddexp({0}, {1})", "logaddexp2": "logaddexp2({0}, {1})",
        "less": "({0} < {1})", "less_equal": "({0} <= {1})", "greater": "({0} > {1})",
        "greater_equal": "({0} >= {1})", "equal": "({0} == {1})", "not_equal": "({0} != {1})",
        "logical_and": "(({0} != 0) & ({1} != 0))", "logical_or": "(({0} != 0) | ({1} != 0))",
        "logical_xor": "(({0} != 0) != ({1} != 0))", "logical_not": "({0} == 0)",
        "bitwise_and": "({0} & {1})", "bitwise_or": "({0} | {1})", "bitwise_xor": "({0} ^ {1})", "invert": "(~{0})",
        "left_shift": "left_shift({0}, {1}, {bits})", "right_shift": "right_shift({0}, {1}, {bits})",
        "gcd": "gcd({0}, {1})", "lcm": "lcm({0}, {1})",
        "isnan": "({0} != {0})", "isinf": "(({0} == np.inf) | ({0} == -np.inf))", "isfinite": "(({0} - {0}) == 0)",
        "conjugate": "{0}", "real": "{0}", "imag": "0", "where": "select({0}, {1}, {2})", "cast": "{0}",
        "saturating_add": "saturating_add_{width}({0}, {1}, {low}, {high})",
        "saturating_multiply": "saturating_multiply_{width}({0}, {1}, {low}, {high})",
    }
    | {op: f"np.{op}({{0}})" for op in ONE_ARGUMENT.split()}
    | {op: f"np.{op}({{0}}, {{1}})" for op in ("hypot", "arctan2", "copysign")},
    floating={
        "saturating_add": "({0} + {1})", "saturating_multiply": "({0} * {1})",
        "floor_divide": "floor_divide_floating({0}, {1})", "remainder": "np.remainder({0}, {1})",
        "fmod": "np.fmod({0}, {1})", "sign": "sign_floating({0})", "trunc": "np.trunc({0})",
        "power": "({0} ** {1})",
    },
    # On truth values NumPy's + and × are or and and; Numba would count.
    boolean={
        "add": "({0} | {1})", "multiply": "({0} & {1})", "minimum": "({0} & {1})", "maximum": "({0} | {1})",
        "invert": "(not {0})", "imag": "False", "saturating_add": "({0} | {1})", "saturating_multiply": "({0} & {1})",
    },
    literal=lambda value: _literal(value),
    convert=lambda text, have, want: text if have == want else _cast(text, want),
    result=lambda text, dtype: text if dtype.kind == "b" else _cast(text, dtype),
)

# Where the processor has the instruction: a product that joins a sum is not rounded before.
CONTRACTED = replace(
    NUMBA, fused={"add": ("fma({0}, {1}, {2})",) * 2, "subtract": ("fma({0}, {1}, -{2})", "fma(-{0}, {1}, {2})")}
)

assert set(UFUNCS) <= set(NUMBA.table)

# What the rows call beside the intrinsics: functions of scalar.py.
HELPERS = sorted(
    {"logaddexp", "logaddexp2", "floor_divide", "remainder", "power", "left_shift", "right_shift", "gcd", "lcm",
       "fmod", "floor_divide_floating", "sign_floating", "heaviside", "bitwise_count"}
    | {f"saturating_{op}_{width}" for op in ("add", "multiply") for width in ("narrow", "uint32", "int64", "uint64")}
)


def _cast(text: str, dtype: np.dtype) -> str:
    return f"({text} != 0)" if dtype.kind == "b" else f"{dtype.name}({text})"


def _literal(value: np.generic) -> str:
    if value.dtype.kind == "b":
        return str(bool(value))
    plain = value.item()
    text = repr(plain)
    if plain != plain or plain in (np.inf, -np.inf):
        text = {"inf": "np.inf", "-inf": "-np.inf"}.get(text, "np.nan")
    return f"{value.dtype.name}({text})"


def function(
    name: str,
    parameters: str,
    outputs: Sequence[Expression],
    components: Sequence[np.dtype],
    wanted: Sequence[np.dtype] | None = None,
    rules: Rules = NUMBA,
) -> str:
    """The text of a Numba function over elements, which are scalars, or tuples where there are several components."""
    wanted = components if wanted is None else wanted
    names = [p.strip() for p in parameters.split(",")]

    def read(operand: int, component: int) -> str:
        return names[operand] if len(components) == 1 else f"{names[operand]}[{component}]"

    lines, results = lower(outputs, components, wanted, rules, read)
    value = results[0] if len(results) == 1 else f"({', '.join(results)})"
    body = "".join(f"    {line}\n" for line in lines)
    return f"@inline\ndef {name}({parameters}):\n{body}    return {value}\n"
