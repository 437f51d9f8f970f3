"""Operations as ordinary functions, on NumPy arrays and on Python objects: the reference for all other targets.

`lower` generates code for every target that works on typed steps; a target is a `Rules` table.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import add, mul
from typing import Any

import numpy as np

from . import tracing
from .constants import cast_constant
from .expression import Expression, Step, Traced, postorder, typed
from .operations import UFUNCS


@dataclass(frozen=True)
class Rules:
    """The target's spelling of operations, constants and conversions."""

    table: Mapping[str, str]  # operation → text over {0}, {1}, {2}
    literal: Callable[[np.generic], str]  # a constant of a dtype
    convert: Callable[[str, np.dtype, np.dtype], str]  # text, from, to
    result: Callable[[str, np.dtype], str]  # text of an operation, the dtype it must have
    boolean: Mapping[str, str] = field(default_factory=dict)  # rows that replace others if truth values are read
    floating: Mapping[str, str] = field(default_factory=dict)  # rows that replace others if floats are read or written
    fused: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # {0}·{1} before {2}, and after, rounded once
    fuses: Callable[[Expression, Expression], bool] = lambda total, product: True  # whether they may be fused


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
        The dtypes of the input components, and of the outputs.
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

    def arguments(step: Step) -> list[str]:
        return [read(a, d) for a, d in zip(step.node.args, step.reads, strict=True)]

    steps = typed(outputs, dtypes, wanted)
    products = _joined_products(steps, outputs, rules)
    joined = set(products.values())
    for step in steps:
        op, kind = step.node.op, step.reads[-1].kind
        row = {"f": rules.floating, "b": rules.boolean}.get(kind, {}).get(op, rules.table[op])
        if step.node in joined:
            continue
        if step.node in products:
            product = products[step.node]
            at = step.node.args.index(product)
            operands = [*product.args, step.node.args[1 - at]]
            made = rules.fused[op][at].format(*(read(e, step.writes) for e in operands))
        elif op == "cast":
            (argument,) = arguments(step)
            made = rules.convert(argument, step.reads[0], step.writes)
        else:
            made = row.format(*arguments(step), **_facts(step.reads[-1], rules))
        name = f"t{len(lines)}"
        lines.append(f"{name} = {rules.result(made, step.writes)}")
        text[step.node] = (name, step.writes)
    return lines, [read(e, d) for e, d in zip(outputs, wanted, strict=True)]


def _joined_products(
    steps: Sequence[Step], outputs: Sequence[Expression], rules: Rules
) -> dict[Expression, Expression]:
    """Sums of floats with a product that nothing else uses as one side, and that product."""
    types = {step.node: (*step.reads, step.writes) for step in steps}
    uses = Counter(a for step in steps for a in step.node.args)
    uses.update(outputs)
    found = {}
    for e, (*reads, dtype) in types.items():
        products = [a for a in e.args if a.op == "multiply"]
        is_float = dtype.kind == "f" and dtype.itemsize > 2 and all(d == dtype for d in reads)
        if e.op in rules.fused and len(products) == 1 and is_float:
            (product,) = products
            if uses[product] == 1 and all(d == dtype for d in types[product]) and rules.fuses(e, product):
                found[e] = product
    return found


def _facts(dtype: np.dtype, rules: Rules) -> dict[str, Any]:
    """What a row may use of an integer dtype: its limits, its bits, and the dtypes with which it is computed."""
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
        "bitwise_count": "np.bitwise_count({0}).astype({0}.dtype)",
        "real": "np.real({0})",
        "imag": "np.imag({0})",
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
    if isinstance(plain, complex):
        return f"complex({_number(value.real)}, {_number(value.imag)})"
    if isinstance(plain, float) and not math.isfinite(plain):
        return "np.nan" if math.isnan(plain) else ("np.inf" if plain > 0 else "-np.inf")
    return repr(plain)


@cache
def numpy_function(
    outputs: tuple[Expression, ...], arity: int, dtypes: tuple[np.dtype, ...], wanted: tuple[np.dtype, ...]
) -> Callable[..., tuple[Any, ...]]:
    """A function over `arity` operands, each a tuple of component arrays; it returns a tuple of arrays."""
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


def _exactly(text: str, have: np.dtype, want: np.dtype) -> str:
    """A conversion of a Python number that changes nothing; a KeyError for others."""
    if have == want or (have.kind in "iu" and want.kind in "iu" and np.can_cast(have, want)):
        return text
    if want.kind == "b":
        return f"({text} != 0)"
    if have.kind != "b" or want.kind not in "iu":
        raise KeyError(want)
    return f"int({text})"


@cache
def scalar_function(
    outputs: tuple[Expression, ...], arity: int, dtypes: tuple[np.dtype, ...]
) -> Callable[..., tuple[Any, ...]] | None:
    """The same on tuples of Python numbers, much faster; None unless it only compares, selects and joins bits."""
    try:
        lines, results = lower(outputs, dtypes, dtypes, SCALARS, lambda operand, c: f"x{operand}[{c}]")
    except KeyError:
        return None
    namespace = {"inf": math.inf, "nan": math.nan}
    body = "".join(f"    {line}\n" for line in lines)
    exec(f"def f({', '.join(f'x{i}' for i in range(arity))}):\n{body}    return ({', '.join(results)},)\n", namespace)
    return namespace["f"]  # type: ignore[return-value]


# Python objects are evaluated lazily, as a tree: 1 / (1 − a) must not be evaluated if `where` does not choose it.
PYTHON: dict[str, str] = {
    "add": "({0} + {1})", "subtract": "({0} - {1})", "multiply": "({0} * {1})", "divide": "({0} / {1})",
    "floor_divide": "({0} // {1})", "remainder": "({0} % {1})", "power": "power({0}, {1})",
    "float_power": "power(float({0}), float({1}))", "fmod": "fmod({0}, {1})", "negative": "(-{0})",
    "absolute": "abs({0})", "fabs": "abs({0})", "sign": "sign({0})", "signbit": "signbit({0})",
    "copysign": "copysign({0}, {1})", "heaviside": "heaviside({0}, {1})",
    "exp2": "power(2.0, {0})", "hypot": "math.hypot({0}, {1})", "arctan2": "math.atan2({0}, {1})",
    "log2": "(log({0}) / math.log(2))",
    "floor": "whole(math.floor, {0})", "ceil": "whole(math.ceil, {0})", "trunc": "whole(math.trunc, {0})",
    "rint": "whole(round, {0})", "minimum": "min({0}, {1})", "maximum": "max({0}, {1})",
    "logaddexp": "logaddexp({0}, {1})",
    "logaddexp2": "(logaddexp({0} * math.log(2), {1} * math.log(2)) / math.log(2))",
    "less": "({0} < {1})", "less_equal": "({0} <= {1})", "greater": "({0} > {1})", "greater_equal": "({0} >= {1})",
    "equal": "({0} == {1})", "not_equal": "({0} != {1})", "logical_and": "bool({0} and {1})",
    "logical_or": "bool({0} or {1})", "logical_xor": "(bool({0}) != bool({1}))", "logical_not": "(not {0})",
    "bitwise_and": "({0} & {1})", "bitwise_or": "({0} | {1})", "bitwise_xor": "({0} ^ {1})", "invert": "(~{0})",
    "left_shift": "({0} << {1})", "right_shift": "({0} >> {1})", "gcd": "math.gcd({0}, {1})",
    "lcm": "math.lcm({0}, {1})", "bitwise_count": "abs({0}).bit_count()",
    "conjugate": "{0}.conjugate()", "real": "{0}.real", "imag": "{0}.imag",
    "isnan": "({0} != {0})", "isinf": "({0} in (inf, -inf))",
    "isfinite": "({0} == {0} and {0} not in (inf, -inf))", "where": "({1} if {0} else {2})", "cast": "{0}",
    "saturating_add": "total({0}, {1})", "saturating_multiply": "product({0}, {1})",
}


SCALARS = Rules(
    table={name: PYTHON[name] for name in (
        "minimum", "maximum", "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical_and",
        "logical_or", "logical_xor", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor", "where", "cast")}
    | {"invert": "({low} ^ {high} ^ {0})"},
    boolean={"invert": "(not {0})"},
    literal=lambda value: repr(value.item()),
    convert=_exactly,
    result=lambda text, dtype: text,
)


def _endless(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A sum or a product, also of ∞ and an integer that is too large for a float."""

    def f(x: Any, y: Any) -> Any:
        try:
            return function(x, y)
        except OverflowError:
            if not any(isinstance(z, float) and math.isinf(z) for z in (x, y)):
                raise
            return function(*(z if isinstance(z, float) else (z > 0) - (z < 0) for z in (x, y)))

    return f


def _as_numpy(function: Callable[[Any], float], poles: Mapping[float, float] | None = None) -> Callable[[Any], float]:
    """A function of the math module that returns NaN and ∞ as NumPy does, instead of raising an error."""

    def f(x: Any) -> float:
        if poles and x in poles:
            return poles[x]
        try:
            return function(x)
        except ValueError:
            return math.nan
        except OverflowError:  # sinh is the only one of these that goes to −∞
            return -math.inf if function is math.sinh and x < 0 else math.inf

    return f


_SMOOTH: dict[str, Callable[[Any], float]] = {
    name: _as_numpy(function)
    for name, function in {
        "sqrt": math.sqrt, "cbrt": math.cbrt, "exp": math.exp, "expm1": math.expm1, "sin": math.sin, "cos": math.cos,
        "tan": math.tan, "arcsin": math.asin, "arccos": math.acos, "arctan": math.atan, "sinh": math.sinh,
        "cosh": math.cosh, "tanh": math.tanh, "arcsinh": math.asinh, "arccosh": math.acosh,
    }.items()
} | {
    "log": _as_numpy(math.log, {0: -math.inf}), "log10": _as_numpy(math.log10, {0: -math.inf}),
    "log1p": _as_numpy(math.log1p, {-1: -math.inf}),
    "arctanh": _as_numpy(math.atanh, {1: math.inf, -1: -math.inf}),
}
PYTHON |= {name: f"{name}({{0}})" for name in _SMOOTH}


def _whole(function: Callable[[Any], Any], x: Any) -> Any:
    return x if isinstance(x, int) or not math.isfinite(x) else function(x)


def _power(x: Any, y: Any) -> Any:
    try:
        result = x**y
    except ZeroDivisionError:  # 1 / ±0: the sign counts if the power is odd
        return math.copysign(math.inf, x) if y % 2 == 1 else math.inf
    except OverflowError:
        return -math.inf if x < 0 and y % 2 == 1 else math.inf
    return math.nan if isinstance(result, complex) and not isinstance(x, complex) else result


def _fmod(x: Any, y: Any) -> Any:
    """The remainder with the sign of x, exact for integers and fractions."""
    if isinstance(x, float) or isinstance(y, float):
        try:
            return math.fmod(x, y)
        except ValueError:
            return math.nan
    rest = abs(x) % abs(y)
    return -rest if x < 0 else rest


def _sign(x: Any) -> Any:
    return x if x != x else (x > 0) - (x < 0)


def _signbit(x: Any) -> bool:
    return math.copysign(1, x) < 0 if isinstance(x, float) else x < 0


def _copysign(x: Any, y: Any) -> Any:
    return -abs(x) if _signbit(y) else abs(x)


def _heaviside(x: Any, middle: Any) -> Any:
    return middle if x == 0 else x if x != x else int(x > 0)


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
    namespace = _SMOOTH | {
        "math": math, "inf": math.inf, "nan": math.nan, "logaddexp": _logaddexp, "whole": _whole, "power": _power,
        "fmod": _fmod, "sign": _sign, "signbit": _signbit, "copysign": _copysign, "heaviside": _heaviside,
        "total": _endless(add), "product": _endless(mul),
    }
    return eval(f"lambda {parameters}: {text(traced.outputs[0])}", namespace)


def _divided(x: Any, y: Any) -> Any:
    try:
        return x / y
    except ZeroDivisionError:
        return math.nan if x == 0 or x != x else math.copysign(math.inf, x)


@cache
def tuple_function(traced: Traced) -> Callable[..., tuple[Any, ...]]:
    """The operation on records as tuples of Python numbers; all branches of `where` are computed."""
    texts: dict[Expression, str] = {}
    lines: list[str] = []
    for e in postorder(traced.outputs):
        if e.op == "input":
            texts[e] = "x{}[{}]".format(*e.value)
        elif e.op == "constant":
            texts[e] = repr(e.value)
        else:
            row = "divided({0}, {1})" if e.op == "divide" else PYTHON[e.op]
            lines.append(f"t{len(lines)} = {row.format(*(texts[a] for a in e.args))}")
            texts[e] = f"t{len(lines) - 1}"
    parameters = ", ".join(f"x{i}" for i in range(traced.arity))
    body = "".join(f"    {line}\n" for line in lines)
    namespace = {
        "inf": math.inf, "nan": math.nan, "divided": _divided, "total": _endless(add), "product": _endless(mul),
    }
    exec(f"def f({parameters}):\n{body}    return ({', '.join(texts[e] for e in traced.outputs)},)\n", namespace)
    return namespace["f"]  # type: ignore[return-value]
