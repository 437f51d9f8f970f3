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


def _by_lane(row: str) -> str:
    """A row of `NUMBA` for each lane of vectors."""
    operands = [f"{{{i}}}" for i in range(2) if f"{{{i}}}" in row]
    for operand, name in zip(("{0}", "{1}", "{low}", "{high}"), ("a", "b", "LOW", "HIGH"), strict=True):
        row = row.replace(operand, name)
    return f'v.each("{row}", {", ".join(operands)})'


# Vectors: methods of `lanes.Lanes`, called v, where the processor has an instruction, and scalars lane by lane.
_VECTORS = {
    op: f"v.{op}({{0}}, {{1}})"
    for op in "add subtract multiply divide minimum maximum saturating_add less less_equal equal not_equal".split()
} | {
    "negative": "v.negative({0})", "absolute": "v.absolute({0})", "fabs": "v.absolute({0})", "sqrt": "v.root({0})",
    "greater": "v.less({1}, {0})", "greater_equal": "v.less_equal({1}, {0})",
    "logical_and": "v.both(v.truth({0}), v.truth({1}))", "logical_or": "v.either(v.truth({0}), v.truth({1}))",
    "logical_xor": "v.differing(v.truth({0}), v.truth({1}))", "logical_not": "v.inverse(v.truth({0}))",
    "bitwise_and": "v.both({0}, {1})", "bitwise_or": "v.either({0}, {1})", "bitwise_xor": "v.differing({0}, {1})",
    "invert": "v.inverse({0})", "isnan": "v.not_equal({0}, {0})", "where": "v.where({0}, {1}, {2})",
    "isinf": "v.infinite({0})", "isfinite": "v.finite({0})",
    "conjugate": "{0}", "real": "{0}", "imag": "v.zero({0})", "cast": "{0}",
} | {op: f'v.whole("{op}", {{0}})' for op in ("floor", "ceil", "trunc", "rint")}
LANES = replace(
    NUMBA,
    table={op: _VECTORS.get(op) or _by_lane(row) for op, row in NUMBA.table.items()},
    floating={op: _by_lane(row) for op, row in NUMBA.floating.items() if op not in _VECTORS} | {
        "saturating_multiply": "v.multiply({0}, {1})",
    },
    boolean={
        "minimum": "v.both({0}, {1})", "maximum": "v.either({0}, {1})", "saturating_add": "v.either({0}, {1})",
        "saturating_multiply": "v.both({0}, {1})",
    },
    literal=lambda value: f"v.constant(np.{value.dtype.type.__name__}({_plain(value)}))",
    convert=lambda text, have, want: text if have == want else f'v.convert({text}, "{want.name}")',
    result=lambda text, dtype: f'v.convert({text}, "{dtype.name}")' if "v.each(" in text else text,
    fused={
        "add": ("v.fma({0}, {1}, {2})",) * 2,
        "subtract": ("v.fma({0}, {1}, v.negative({2}))", "v.fma(v.negative({0}), {1}, {2})"),
    },
)

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
    return f"{value.dtype.name}({_plain(value)})"


def _plain(value: np.generic) -> str:
    """The text of a number, without its dtype."""
    plain = value.item()
    text = repr(plain)
    if plain != plain or plain in (np.inf, -np.inf):
        text = {"inf": "np.inf", "-inf": "-np.inf"}.get(text, "np.nan")
    return text


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


def vectors(
    name: str, parameters: str, outputs: Sequence[Expression], components: Sequence[np.dtype],
    wanted: Sequence[np.dtype] | None = None, rules: Rules = LANES,
) -> str:
    """The text of the same function over vectors and the object v that has their operations (see `lanes.Lanes`)."""
    text = function(name, parameters, outputs, components, wanted, rules)
    return text.removeprefix("@inline\n").replace(f"def {name}(", f"def {name}(v, ")
