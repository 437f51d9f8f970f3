"""The NumPy and the Python-object targets: an algebra's operations as ordinary callables, the reference for all others.

`lower` is the one emitter for every target that works on typed steps; a target is a `Rules` table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from . import tracing
from .constants import cast_constant
from .expression import Expression, Traced, typed
from .operations import UFUNCS


@dataclass(frozen=True)
class Rules:
    """How a target spells an operation, a constant and a conversion."""

    table: Mapping[str, str]  # operation → text over {0}, {1}, {2}
    literal: Callable[[np.generic], str]  # a constant of a dtype
    convert: Callable[[str, np.dtype, np.dtype], str]  # text, from, to
    result: Callable[[str, np.dtype], str]  # text of an operation, the dtype it must have
    boolean: Mapping[str, str] = field(default_factory=dict)  # rows that differ where truth values are read
    floating: Mapping[str, str] = field(default_factory=dict)  # rows that differ where floats are read or written


def lower(
    outputs: Sequence[Expression],
    dtypes: Sequence[np.dtype],
    wanted: Sequence[np.dtype],
    rules: Rules,
    names: Callable[[int, int], str],
) -> tuple[list[str], list[str]]:
    """Turn expressions into assignment lines and the texts of their results.

    Parameters
    ----------
    outputs : sequence of Expression
    dtypes, wanted : sequence of dtype
        Of the components that go in, and of the outputs.
    rules : Rules
    names : callable
        Operand number, component number → the text that reads it.
    """
    text: dict[Expression, tuple[str, np.dtype]] = {}
    lines: list[str] = []

    def read(e: Expression, dtype: np.dtype) -> str:
        if e.op == "constant":
            return rules.literal(cast_constant(e.value, dtype))
        if e.op == "input":
            return rules.convert(names(*e.value), dtypes[e.value[1]], dtype)
        return rules.convert(*text[e], dtype)

    for step in typed(outputs, dtypes, wanted):
        op, kind = step.node.op, step.reads[-1].kind
        row = {"f": rules.floating, "b": rules.boolean}.get(kind, {}).get(op, rules.table[op])
        args = [read(a, d) for a, d in zip(step.node.args, step.reads, strict=True)]
        if op == "cast":
            made = rules.convert(args[0], step.reads[0], step.writes)
        else:
            made = row.format(*args, **_facts(step.reads[-1], rules))
        name = f"t{len(lines)}"
        lines.append(f"{name} = {rules.result(made, step.writes)}")
        text[step.node] = (name, step.writes)
    return lines, [read(e, d) for e, d in zip(outputs, wanted, strict=True)]


def _facts(dtype: np.dtype, rules: Rules) -> dict[str, Any]:
    """What a row may say of an integer dtype: its limits, its bits, and the group of dtypes it is computed with."""
    if dtype.kind not in "iu":
        return {}
    limits = np.iinfo(dtype)
    return {
        "low": rules.literal(dtype.type(limits.min)),
        "high": rules.literal(dtype.type(limits.max)),
        "bits": limits.bits,
        "width": dtype.name if dtype.name in ("uint32", "int64", "uint64") else "narrow",
    }


NUMPY = Rules(
    table={name: f"np.{name}({', '.join(f'{{{i}}}' for i in range(u.nin))})" for name, u in UFUNCS.items()}
    | {
        "where": "np.where({0}, {1}, {2})",
        "cast": "{0}",
        "saturating_add": "saturating_add({0}, {1})",
        "saturating_multiply": "saturating_multiply({0}, {1})",
    },
    literal=lambda value: f"np.{value.dtype.name}({_number(value)})",
    convert=lambda text, have, want: text if have == want else f"np.asarray({text}).astype('{want.str}')",
    result=lambda text, dtype: text,
)


def _number(value: np.generic) -> str:
    plain = value.item()
    if isinstance(plain, float) and not math.isfinite(plain):
        return "np.nan" if math.isnan(plain) else ("np.inf" if plain > 0 else "-np.inf")
    return repr(plain)


@cache
def numpy_function(
    outputs: tuple[Expression, ...], arity: int, dtypes: tuple[np.dtype, ...], wanted: tuple[np.dtype, ...]
) -> Callable[..., tuple]:
    """A function over `arity` operands, each a tuple of component arrays, which returns a tuple of arrays."""
    lines, results = lower(outputs, dtypes, wanted, NUMPY, lambda operand, c: f"x{operand}[{c}]")
    parameters = ", ".join(f"x{i}" for i in range(arity))
    body = "".join(f"        {line}\n" for line in lines)
    source = (
        f"def f({parameters}):\n    with np.errstate(all='ignore'):\n{body}        return ({', '.join(results)},)\n"
    )
    namespace = {
        "np": np,
        "saturating_add": tracing.saturating_add,
        "saturating_multiply": tracing.saturating_multiply,
    }
    exec(source, namespace)
    return namespace["f"]  # type: ignore[return-value]


# Python objects are evaluated lazily, as a tree: 1 / (1 − a) must not be tried where `where` does not choose it.
PYTHON: dict[str, str] = {
    "add": "({0} + {1})", "subtract": "({0} - {1})", "multiply": "({0} * {1})", "divide": "({0} / {1})",
    "floor_divide": "({0} // {1})", "remainder": "({0} % {1})", "power": "({0} ** {1})", "negative": "(-{0})",
    "absolute": "abs({0})", "sqrt": "math.sqrt({0})", "exp": "exp({0})", "exp2": "(2.0 ** {0})",
    "expm1": "expm1({0})", "log": "log({0})", "log2": "(log({0}) / math.log(2))", "log1p": "log1p({0})",
    "floor": "whole(math.floor, {0})", "ceil": "whole(math.ceil, {0})", "rint": "whole(round, {0})",
    "minimum": "min({0}, {1})", "maximum": "max({0}, {1})", "logaddexp": "logaddexp({0}, {1})",
    "logaddexp2": "(logaddexp({0} * math.log(2), {1} * math.log(2)) / math.log(2))",
    "less": "({0} < {1})", "less_equal": "({0} <= {1})", "greater": "({0} > {1})", "greater_equal": "({0} >= {1})",
    "equal": "({0} == {1})", "not_equal": "({0} != {1})", "logical_and": "bool({0} and {1})",
    "logical_or": "bool({0} or {1})", "logical_xor": "(bool({0}) != bool({1}))", "logical_not": "(not {0})",
    "bitwise_and": "({0} & {1})", "bitwise_or": "({0} | {1})", "bitwise_xor": "({0} ^ {1})", "invert": "(~{0})",
    "left_shift": "({0} << {1})", "right_shift": "({0} >> {1})", "gcd": "math.gcd({0}, {1})",
    "lcm": "math.lcm({0}, {1})", "isnan": "({0} != {0})", "isinf": "({0} in (inf, -inf))",
    "isfinite": "({0} == {0} and {0} not in (inf, -inf))", "where": "({1} if {0} else {2})", "cast": "{0}",
    "saturating_add": "({0} + {1})", "saturating_multiply": "({0} * {1})",
}  # fmt: skip


def _whole(function: Callable[[Any], Any], x: Any) -> Any:
    return function(x) if math.isfinite(x) else x


def _log(x: Any) -> float:
    return -math.inf if x == 0 else math.log(x)


def _log1p(x: Any) -> float:
    return -math.inf if x == -1 else math.log1p(x)


def _logaddexp(x: Any, y: Any) -> Any:
    high, low = (x, y) if x >= y else (y, x)
    return high if math.isinf(high) or low == -math.inf else high + math.log1p(math.exp(low - high))


@cache
def python_function(traced: Traced) -> Callable[..., Any]:
    """The scalar operation on Python objects: Fraction, int, float, anything with the operators."""

    def text(e: Expression) -> str:
        if e.op == "input":
            return f"x{e.value[0]}"
        if e.op == "constant":
            return repr(e.value)
        return PYTHON[e.op].format(*map(text, e.args))

    parameters = ", ".join(f"x{i}" for i in range(traced.arity))
    namespace = {
        "math": math, "inf": math.inf, "nan": math.nan, "exp": math.exp, "expm1": math.expm1, "log": _log,
        "log1p": _log1p, "logaddexp": _logaddexp, "whole": _whole,
    }  # fmt: skip
    return eval(f"lambda {parameters}: {text(traced.outputs[0])}", namespace)
