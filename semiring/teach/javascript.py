"""The JavaScript target: a rule table from operations to code that pages run.

Floats are Numbers, 32-bit floats rounded by ``Math.fround`` after each operation; truth values are Booleans;
integers of at most 32 bits are Numbers that wrap after each operation, 64-bit integers BigInts that do. Records are
arrays of their components. An operation that needs more than an operator is a function of runtime.js, ``R.name``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from semiring.algebra.evaluate import Rules, lower
from semiring.algebra.expression import Expression, Traced
from semiring.algebra.operations import OPERATIONS
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError

NAMES = "abcdef"  # of parameters
BOOL = np.dtype(bool)
# Dtypes of components in a page: doubles if an algebra lives in them, else its default, else the first of these.
DTYPES = tuple(map(np.dtype, ("f8", "i4", "u4", "i8", "u8", "?", "f4", "i2", "u2", "i1", "u1")))
_MATH = {
    "sqrt": "sqrt", "cbrt": "cbrt", "exp": "exp", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10",
    "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "fabs": "abs",
}
_COMPARED = {
    "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "===", "not_equal": "!==",
}


def function(traced: Traced, dtypes: Sequence[np.dtype], wanted: Sequence[np.dtype] | None = None) -> str:
    """The text of an arrow function over elements.

    Parameters
    ----------
    traced : Traced
    dtypes : sequence of dtype
        The dtypes of an element's components; if there are several, an element is an array of them.
    wanted : sequence of dtype, optional
        The dtypes of the result's components. Default: those of an element.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> function(sr.min_plus.traced.add, [np.dtype("f8")])
    '(a, b) => { const t0 = Math.min(a, b); return t0; }'
    """
    record = len(dtypes) > 1

    def name(number: int, component: int) -> str:
        return f"{NAMES[number]}[{component}]" if record else NAMES[number]

    lines, results = lower(traced.outputs, dtypes, dtypes if wanted is None else wanted, JAVASCRIPT, name)
    value = results[0] if len(results) == 1 else f"[{', '.join(results)}]"
    head = f"({', '.join(NAMES[: traced.arity])}) =>"
    if not lines:
        return f"{head} {value}"
    return f"{head} {{ {' '.join(f'const {line};' for line in lines)} return {value}; }}"


def components_in_page(S: Semiring) -> tuple[np.dtype, ...]:
    """The dtypes of an element's components in a page: truth values, else doubles if it has them, else its default.

    Raises
    ------
    SemiringError
        If its elements are Python objects, complex numbers, or vectors.
    """
    if S.traced is None:
        raise SemiringError(f"{S.name}: its elements are Python objects, which a page can show but not compute with")
    home = S.default_dtype
    order = (home,) if home == BOOL else (DTYPES[0], home, *DTYPES[1:])
    found = tuple(home[f] for f in home.names) if home.names else next(((d,) for d in order if d in S.dtypes), (home,))
    if any(d not in DTYPES for d in found):
        raise SemiringError(f"{S.name} works on {home}, which a page cannot compute with")
    return found


def algebra(S: Semiring, dtypes: tuple[np.dtype, ...] | None = None) -> str:
    """The text of an object with the functions of an algebra: add, mul, star, defined, carrier.

    Examples
    --------
    >>> import semiring as sr
    >>> for line in algebra(sr.min_max).splitlines()[1:4]:
    ...     print(line[:40])
      add: (a, b) => { const t0 = Math.min(a
      mul: (a, b) => { const t0 = (a === Inf
      star: (a) => (-Infinity),
    """
    dtypes, ops = dtypes or components_in_page(S), S.traced
    assert ops is not None
    parts = {
        "add": function(ops.add, dtypes), "mul": function(ops.mul, dtypes), "star": function(ops.star, dtypes),
        "defined": function(_question(ops.defined, len(dtypes)), dtypes, [BOOL]),
        "carrier": function(_question(ops.carrier, len(dtypes)), dtypes, [BOOL]),
    }
    return "{\n" + ",\n".join(f"  {name}: {text}" for name, text in parts.items()) + "\n}"


def runtime() -> str:
    """The text of ``R``, the functions that the rows of the table call."""
    return Path(__file__).with_name("runtime.js").read_text(encoding="utf-8")


def _question(answer: Expression, width: int) -> Traced:
    return Traced((answer,), 1, width)


def _is_big(dtype: np.dtype) -> bool:
    return dtype.kind in "iu" and dtype.itemsize == 8


def _literal(value: np.generic) -> str:
    if value.dtype.kind == "b":
        return "true" if value else "false"
    if value.dtype.kind in "iu":
        text = f"{value}n" if _is_big(value.dtype) else f"{value}"
        return f"({text})" if text.startswith("-") else text
    number = float(value)
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "(-Infinity)"
    text = repr(number).removesuffix(".0")
    return f"({text})" if math.copysign(1, number) < 0 else text


def _wrapped(text: str, dtype: np.dtype) -> str:
    """The result of an operation, converted to its dtype."""
    bits = 8 * dtype.itemsize
    if dtype.kind == "b":
        return text
    if dtype.kind == "f":
        return text if bits == 64 else f"Math.fround({text})"
    if bits == 64:
        return f"BigInt.as{'Uint' if dtype.kind == 'u' else 'Int'}N(64, {text})"
    if bits == 32:
        return f"({text} >>> 0)" if dtype.kind == "u" else f"({text} | 0)"
    return f"({text} & {(1 << bits) - 1})" if dtype.kind == "u" else f"({text} << {32 - bits} >> {32 - bits})"


def _converted(text: str, have: np.dtype, want: np.dtype) -> str:
    if have == want:
        return text
    if want.kind == "b":
        return f"({text} != 0)"  # loosely: 0n is 0
    if have.kind == "b":
        return f"({text} ? {_literal(want.type(1))} : {_literal(want.type(0))})"
    if _is_big(want):
        return _wrapped(text if _is_big(have) else f"R.big({text})", want)
    if _is_big(have):
        text = f"Number({text})" if want.kind == "f" else f"Number(BigInt.asIntN(32, {text}))"
    elif have.kind == "f" and want.kind in "iu":
        text = f"R.whole({text})"
    return _wrapped(text, want)


JAVASCRIPT = Rules(
    table={
        "add": "({0} + {1})", "subtract": "({0} - {1})", "multiply": "R.multiply({0}, {1})", "divide": "({0} / {1})",
        "floor_divide": "R.floor_divide({0}, {1})", "remainder": "R.remainder({0}, {1})", "fmod": "R.fmod({0}, {1})",
        "power": "R.power({0}, {1}, {bits})", "float_power": "R.float_power({0}, {1})", "negative": "(-{0})",
        "absolute": "R.absolute({0})", "sign": "R.sign({0})", "signbit": "R.signbit({0})",
        "copysign": "R.copysign({0}, {1})", "heaviside": "R.heaviside({0}, {1})", "hypot": "Math.hypot({0}, {1})",
        "exp2": "R.exp2({0})", "arctan2": "Math.atan2({0}, {1})", "floor": "{0}", "ceil": "{0}", "trunc": "{0}",
        "rint": "{0}", "minimum": "({1} < {0} ? {1} : {0})", "maximum": "({1} > {0} ? {1} : {0})",
        "logaddexp": "R.logaddexp({0}, {1})", "logaddexp2": "R.logaddexp2({0}, {1})",
        "logical_and": "({0} != 0 && {1} != 0)", "logical_or": "({0} != 0 || {1} != 0)",
        "logical_xor": "(({0} != 0) !== ({1} != 0))", "logical_not": "({0} == 0)",
        "bitwise_and": "({0} & {1})", "bitwise_or": "({0} | {1})", "bitwise_xor": "({0} ^ {1})", "invert": "(~{0})",
        "left_shift": "R.left_shift({0}, {1}, {bits})", "right_shift": "R.right_shift({0}, {1}, {bits})",
        "gcd": "R.gcd({0}, {1})", "lcm": "R.lcm({0}, {1})", "bitwise_count": "R.bitwise_count({0})",
        "conjugate": "{0}", "real": "{0}", "imag": "R.zero({0})", "isnan": "({0} !== {0})",
        "isinf": "R.isinf({0})", "isfinite": "R.isfinite({0})", "where": "({0} ? {1} : {2})", "cast": "{0}",
        "saturating_add": "R.clamp({0} + {1}, {low}, {high})",
        "saturating_multiply": "R.clamp({0} * {1}, {low}, {high})",
    }
    | {name: f"Math.{js}({{0}})" for name, js in _MATH.items()}
    | {name: f"({{0}} {sign} {{1}})" for name, sign in _COMPARED.items()},
    floating={
        "multiply": "({0} * {1})", "floor_divide": "R.floor_divide_floats({0}, {1})",
        "remainder": "R.remainder_of_floats({0}, {1})", "fmod": "({0} % {1})", "power": "R.float_power({0}, {1})",
        "absolute": "Math.abs({0})", "sign": "R.sign_of_float({0})", "floor": "Math.floor({0})",
        "ceil": "Math.ceil({0})", "trunc": "Math.trunc({0})", "rint": "R.rint({0})", "minimum": "Math.min({0}, {1})",
        "maximum": "Math.max({0}, {1})", "saturating_add": "({0} + {1})", "saturating_multiply": "({0} * {1})",
    },
    # On truth values NumPy's + and × are "or" and "and".
    boolean={
        "add": "({0} || {1})", "multiply": "({0} && {1})", "minimum": "({0} && {1})", "maximum": "({0} || {1})",
        "bitwise_and": "({0} && {1})", "bitwise_or": "({0} || {1})", "bitwise_xor": "({0} !== {1})", "invert": "(!{0})",
        "absolute": "{0}", "logical_and": "({0} && {1})", "logical_or": "({0} || {1})", "logical_xor": "({0} !== {1})",
        "logical_not": "(!{0})", "saturating_add": "({0} || {1})", "saturating_multiply": "({0} && {1})",
        "imag": "false",
    },
    literal=_literal,
    convert=_converted,
    result=_wrapped,
)

assert set(OPERATIONS) <= set(JAVASCRIPT.table)
