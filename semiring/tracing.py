"""Tracing: a Python callable over NumPy operations is called once with symbols, and what it returns is an expression.

Symbols answer NumPy's protocols and Python's operators; what cannot be traced says how to write it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .errors import TraceError
from .expression import Expression, Traced, apply, constant, operand, show
from .operations import OPERATIONS, UFUNCS


class Symbol:
    """What a traced callable receives in place of a number."""

    __slots__ = ("expression",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expression: Expression):
        self.expression = expression

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Symbol:
        name = {"fmin": "minimum", "fmax": "maximum", "float_power": "power"}.get(ufunc.__name__, ufunc.__name__)
        if ufunc is np.positive:
            return self
        if ufunc is np.square:
            return Symbol(apply("multiply", self.expression, self.expression))
        if ufunc is np.reciprocal:
            return Symbol(apply("divide", constant(1), self.expression))
        if method != "__call__" or options:
            raise TraceError(
                f"np.{ufunc.__name__} was called with method {method!r} and options {sorted(options)}; "
                "an algebra's operation is one plain call on its operands, such as np.minimum(a, b)"
            )
        if name not in UFUNCS:
            raise TraceError(f"np.{ufunc.__name__} cannot be traced; the operations are: {', '.join(OPERATIONS)}")
        return Symbol(apply(name, *map(_node, inputs)))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is np.where and len(args) == 3 and not kwargs:
            return where(*args)
        if function is np.clip and len(args) == 3 and not kwargs:
            return np.minimum(np.maximum(args[0], args[1]), args[2])
        raise TraceError(
            f"np.{function.__name__} cannot be traced; write the operation with NumPy ufuncs and np.where(c, x, y)"
        )

    def astype(self, dtype: Any) -> Symbol:
        """The operand converted to another dtype, for intermediate results that need more room."""
        return Symbol(Expression("cast", (self.expression,), np.dtype(dtype).str[1:]))

    def __bool__(self) -> bool:
        raise TraceError(
            f"the truth value of {show(self.expression)} was asked for, but an operand has no value while it is "
            "traced. Python's min(a, b), max(a, b), `if`, `and`, `or`, `not` and chained comparisons cannot be "
            "traced; write np.minimum(a, b), np.maximum(a, b), np.where(a < b, x, y), (a < b) & (b < c), ~c"
        )

    def _no_number(self) -> Any:
        raise TypeError(
            f"{show(self.expression)} is an expression, not a number: functions of the math module cannot be traced; "
            "use NumPy's (np.exp, np.log1p, np.gcd, …)"
        )

    __float__ = __int__ = __index__ = __complex__ = _no_number

    def __iter__(self) -> Iterator[Any]:
        raise TraceError(f"{show(self.expression)} is one number and cannot be unpacked; records need fields=…")

    def __repr__(self) -> str:
        return f"Symbol({show(self.expression)})"


def _install_operators() -> None:
    binary = {
        "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
        "mod": "remainder", "pow": "power", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
        "lshift": "left_shift", "rshift": "right_shift",
    }  # fmt: skip
    compare = {
        "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
    }  # fmt: skip
    unary = {"neg": "negative", "abs": "absolute", "invert": "invert"}

    def forward(op: str) -> Callable[[Symbol, Any], Any]:
        return lambda self, other: Symbol(apply(op, _node(self), _node(other)))

    def reflected(op: str) -> Callable[[Symbol, Any], Any]:
        return lambda self, other: Symbol(apply(op, _node(other), _node(self)))

    for name, op in binary.items():
        setattr(Symbol, f"__{name}__", forward(op))
        setattr(Symbol, f"__r{name}__", reflected(op))
    for name, op in compare.items():
        setattr(Symbol, f"__{name}__", forward(op))
    for name, op in unary.items():
        setattr(Symbol, f"__{name}__", lambda self, op=op: Symbol(apply(op, _node(self))))


_install_operators()


def _node(value: Any) -> Expression:
    if isinstance(value, Symbol):
        return value.expression
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (bool, int, float, np.bool_, np.integer, np.floating)):
        return constant(value)
    raise TraceError(f"{value!r} ({type(value).__name__}) stands in an operation; only operands and real numbers may")


class Record:
    """What a traced callable receives for an element of several components: `x.cost`, `x.hops`, or unpacked."""

    def __init__(self, fields: Sequence[str], components: Sequence[Symbol]):
        self._fields = tuple(fields)
        self._components = tuple(components)

    def __getattr__(self, name: str) -> Symbol:
        if name.startswith("_") or name not in self._fields:
            raise AttributeError(f"the record has no field {name!r}; its fields are {', '.join(self._fields)}")
        return self._components[self._fields.index(name)]

    def __getitem__(self, field: str | int) -> Symbol:
        return self._components[field] if isinstance(field, int) else getattr(self, field)

    def __iter__(self) -> Iterator[Symbol]:
        return iter(self._components)

    def __len__(self) -> int:
        return len(self._components)

    def __eq__(self, other: object) -> Any:
        same = None
        for x, y in zip(self, other, strict=True):  # type: ignore[call-overload]
            same = (x == y) if same is None else same & (x == y)
        return same

    __hash__ = None  # type: ignore[assignment]

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is np.where and len(args) == 3 and not kwargs:
            return where(*args)
        raise TraceError(f"np.{function.__name__} works on a record's fields, such as x.{self._fields[0]}, not on it")

    def __array_ufunc__(self, ufunc: np.ufunc, *_: Any, **__: Any) -> Any:
        raise TraceError(f"np.{ufunc.__name__} works on a record's fields, such as x.{self._fields[0]}, not on it")


def where(condition: Any, x: Any, y: Any) -> Any:
    """`np.where` for symbols and for records, component by component."""
    if isinstance(x, (Record, tuple)) or isinstance(y, (Record, tuple)):
        record = x if isinstance(x, Record) else y
        fields = record._fields if isinstance(record, Record) else [f"f{i}" for i in range(len(record))]
        return Record(fields, [where(condition, p, q) for p, q in zip(x, y, strict=True)])
    return Symbol(apply("where", _node(condition), _node(x), _node(y)))


def saturating_add(a: Any, b: Any) -> Any:
    """a + b that stops at an integer dtype's limits, which stand for ±∞; the plain sum for floats.

    Examples
    --------
    >>> saturating_add(np.uint8(200), np.uint8(100))
    np.uint8(255)
    """
    if isinstance(a, Symbol) or isinstance(b, Symbol):
        return Symbol(apply("saturating_add", _node(a), _node(b)))
    total = np.add(a, b)
    if total.dtype.kind == "u":
        return np.where(total < a, np.iinfo(total.dtype).max, total)[()]
    if total.dtype.kind != "i":
        return total
    limits = np.iinfo(total.dtype)
    overflow = ((a ^ total) & (b ^ total)) < 0
    return np.where(overflow, np.where(np.less(a, 0), limits.min, limits.max), total).astype(total.dtype)[()]


def saturating_multiply(a: Any, b: Any) -> Any:
    """a · b that stops at an integer dtype's limits, which stand for ±∞; the plain product for floats.

    Examples
    --------
    >>> saturating_multiply(np.int16(300), np.int16(300))
    np.int16(32767)
    """
    if isinstance(a, Symbol) or isinstance(b, Symbol):
        return Symbol(apply("saturating_multiply", _node(a), _node(b)))
    product = np.multiply(a, b)
    if product.dtype.kind not in "iu":
        return product
    limits = np.iinfo(product.dtype)
    # |a·b| > limit, tested by division, which cannot overflow: −2⁶³ has no absolute value, so uint64 holds it.
    size_a, size_b = (np.abs(np.asarray(x, np.int64)).astype(np.uint64) if limits.min else np.asarray(x, np.uint64)
                      for x in (a, b))  # fmt: skip
    negative = (np.less(a, 0)) ^ (np.less(b, 0))
    limit = np.where(negative, np.uint64(-int(limits.min)), np.uint64(limits.max))
    overflow = size_a > limit // np.maximum(size_b, np.uint64(1))
    overflow &= np.not_equal(b, 0)
    low, high = product.dtype.type(limits.min), product.dtype.type(limits.max)
    return np.where(overflow, np.where(negative, low, high), product)[()]


def trace(function: Callable, arity: int, fields: Sequence[str] | None = None, *, predicate: bool = False) -> Traced:
    """Call a function once with symbols and return what it computes.

    Parameters
    ----------
    function : callable
        Takes `arity` operands; returns a number expression, or for records a record, tuple or mapping of fields.
    arity : int
        How many operands it takes.
    fields : sequence of str, optional
        The components of an element, in order; ``None`` for scalars.
    predicate : bool
        The function returns one truth value, also for records.

    Raises
    ------
    TraceError
        When the function does something that has no expression.
    """
    width = len(fields) if fields else 1

    def symbol(number: int) -> Any:
        parts = [Symbol(operand(number, c)) for c in range(width)]
        return Record(fields, parts) if fields else parts[0]

    result = function(*map(symbol, range(arity)))
    if not fields or predicate:
        return Traced((_node(result),), arity, width)
    if isinstance(result, Mapping):
        if set(result) != set(fields):
            raise TraceError(f"the result has the fields {sorted(result)}, the element has {sorted(fields)}")
        result = [result[f] for f in fields]
    if not isinstance(result, (Record, tuple, list)) or len(result) != width:
        raise TraceError(f"an operation on records returns a record, or its {width} components: {', '.join(fields)}")
    return Traced(tuple(map(_node, result)), arity, width)
