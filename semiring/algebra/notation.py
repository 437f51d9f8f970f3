"""The tuple (S, ⊕, ⊗, 0, 1) of an algebra as its author wrote it, and elements as a person writes them."""

from __future__ import annotations

import ast
import decimal
import linecache
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from .expression import Expression, Traced, show
from .vectors import flat_field

if TYPE_CHECKING:
    from .semiring import Semiring

LONG = 60  # characters of an expression; instead of a longer one its source is shown
TURNED = {"greater": "<", "greater_equal": "≤"}  # with the sides exchanged


def notation_of(S: Semiring, add: Any, mul: Any, carrier: Any) -> str:
    """The tuple of an algebra, from the functions that declare it and their expressions.

    >>> import semiring as sr
    >>> sr.Semiring("x", add=np.minimum, mul=np.add, zero=np.inf, one=0, carrier=lambda a: (a >= 0)).notation
    '({a: a ≥ 0}, min(a, b), a + b, ∞, 0)'
    """
    traced = S.traced
    parts = [part for f, dtype in (S.fields or {}).items() for part, _ in flat_field(f, dtype)]
    names = [f"{part.replace('.', '[')}]" if "." in part else part for part in parts]
    elements = _carrier(S, carrier, names)
    plus = _operation(add, traced.add if traced else None, names)
    times = _operation(mul, traced.raw_mul if traced else None, names)
    ends = [written(x, str) for x in (S.zero, S.one) if x is not None]
    return f"({', '.join([elements, plus, times, *ends])})"


def _carrier(S: Semiring, carrier: Any, names: list[str]) -> str:
    if S.traced is None:
        if carrier is None:
            return "Python objects"
        if getattr(carrier, "__name__", "") != "<lambda>":
            return f"{{a: {source(carrier)}(a)}}"
        return f"{{{carrier.__code__.co_varnames[0]}: {source(carrier)}}}"
    if carrier is not None:
        return f"{{a: {_conditions(S.traced.carrier, names)}}}"
    if S.fields:
        return f"({', '.join(S.fields)})"
    sets = {"f": "R ∪ {±∞}", "i": "Z", "u": "N", "b": "{0, 1}", "c": "C"}
    return next((text for kind, text in sets.items() if kind in S.kinds), "S")


def _conditions(e: Expression, names: list[str]) -> str:
    """A condition; bounds of one number from both sides are joined, as in 0 ≤ a ≤ 1."""
    if e.op in ("logical_and", "bitwise_and"):
        low, high = e.args if e.args[0].op in TURNED else e.args[::-1]
        if low.op in TURNED and high.op in ("less", "less_equal") and low.args[0] is high.args[0]:
            return f"{show(low.args[1], False, names)} {TURNED[low.op]} {show(high, True, names)}"
        return " and ".join(f"({text})" if " or " in text else text for text in (_conditions(a, names) for a in e.args))
    return show(e, True, names)


def _operation(function: Any, traced: Traced | None, names: list[str]) -> str:
    text = "" if traced is None else traced.text(names)
    if text and len(text) <= LONG:
        return text
    return (source(function) if callable(function) else "") or text


def source(function: Callable[..., Any]) -> str:
    """A lambda as it was written, if its file or cell can be read; otherwise the name of the function.

    >>> source(np.hypot)
    'hypot'
    """
    named: str = getattr(function, "__name__", type(function).__name__)
    if not isinstance(function, FunctionType) or named != "<lambda>":
        return named
    code = function.__code__
    try:
        tree = ast.parse(text := "".join(linecache.getlines(code.co_filename, function.__globals__)))
    except SyntaxError:
        return "a function"
    places = {(line, column) for line, _, column, _ in code.co_positions() if line and column}
    for node in (node for node in ast.walk(tree) if isinstance(node, ast.Lambda)):
        first, last = (node.body.lineno, node.body.col_offset), (node.body.end_lineno, node.body.end_col_offset)
        if node.lineno == code.co_firstlineno and any(first <= place < last for place in places):
            return " ".join((ast.get_source_segment(text, node.body) or ast.unparse(node.body)).split())
    return "a function"


def written(x: Any, rounded: Callable[[float], str] | None = None) -> str:
    """An element as a person writes it: whole numbers in full, others by 4 to 6 digits, sets in order.

    >>> written(np.inf), written((0.25, 3)), written(frozenset({(3, 1), (1, 2)})), written(12345.0), written(1234.56)
    ('∞', '(0.25, 3)', '{(1, 2), (3, 1)}', '12345', '1234.56')
    >>> written({10, 2}), written({("b", 2), (1, "a")}), written({frozenset({2, 1}), frozenset({3})})
    ('{2, 10}', '{(1, a), (b, 2)}', '{{1, 2}, {3}}')
    """
    if isinstance(x, np.generic):
        x = x.item()
    if isinstance(x, (tuple, list, np.ndarray)):
        return f"({', '.join(written(part, rounded) for part in x)})"
    if isinstance(x, (frozenset, set)):
        whole = {part: part if isinstance(part, tuple) else (part,) for part in x}
        numbers = all(isinstance(n, (int, float)) for parts in whole.values() for n in parts)
        in_order = sorted(x, key=whole.__getitem__ if numbers else written)
        return f"{{{', '.join(written(part, rounded) for part in in_order)}}}" if x else "∅"
    if isinstance(x, bool):
        return str(int(x))
    if isinstance(x, float):
        if np.isinf(x):
            return "∞" if x > 0 else "−∞"
        if x.is_integer():
            return (str(int(x)) if abs(x) < 1e21 else repr(x)).replace("-", "−")
        return (rounded or _rounded)(x).replace("-", "−")
    if isinstance(x, int):
        return str(x).replace("-", "−")
    text = getattr(x, "text", None)  # of a regular expression
    return text.replace("(?:", "(") if isinstance(text, str) else str(x) or "ε"


def _rounded(x: float) -> str:
    """A number by 4 to 6 digits, as pages write it.

    >>> _rounded(1 / 3), _rounded(22350.25), _rounded(2e-9), _rounded(1 / 64)
    ('0.3333', '22350.3', '2e-9', '0.01563')
    """
    digits = decimal.Context(4 if abs(x) < 100 else 6, decimal.ROUND_HALF_UP)  # as JavaScript's toPrecision
    value = float(digits.create_decimal_from_float(x))
    if abs(value) >= 1e-6 or x != x:
        return np.format_float_positional(value, trim="-")
    front, power = np.format_float_scientific(value, trim="-").split("e")
    return f"{front}e{int(power):+d}"
