"""Tracing: call a Python function over NumPy operations with symbols, and get its result as an expression.

Symbols implement NumPy's protocols and Python's operators; errors say how to rewrite what cannot be traced. A function
is called once, or once for each path through its conditions (branches.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from semiring.errors import TraceError

from .branches import TooManyBranches as TooManyBranches
from .branches import decide, explore
from .expression import Expression, Traced, apply, constant, operand, show
from .operations import OPERATIONS, UFUNCS
from .vectors import Vector, each, flat_element, flat_field, is_several


class Symbol:
    """The argument of a traced function in place of a number."""

    __slots__ = ("expression",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expression: Expression):
        self.expression = expression

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Symbol | Vector:
        if method == "__call__" and not options and any(map(is_several, inputs)):
            return each(ufunc, *inputs)
        if method != "__call__" or options:
            raise TraceError(
                f"np.{ufunc.__name__} was called with method {method!r} and options {sorted(options)}; "
                "an algebra's operation is one plain call on its operands, such as np.minimum(a, b)"
            )
        name = ufunc.__name__
        if name in _SPELLED:
            return _SPELLED[name](*inputs)
        if ufunc.nout > 1:
            hint = _PARTS.get(name, "operations with one result")
            raise TraceError(f"np.{name} has {ufunc.nout} results and cannot be traced; write {hint}")
        if name not in UFUNCS:
            raise TraceError(f"np.{name} cannot be traced; the operations are: {', '.join(OPERATIONS)}")
        return Symbol(apply(name, *map(node, inputs)))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in _FUNCTIONS:
            try:
                return _FUNCTIONS[function](*args, **kwargs)
            except TypeError:  # an unknown option
                raise TraceError(
                    f"np.{function.__name__} cannot be traced with {len(args)} arguments and the options "
                    f"{sorted(kwargs)}"
                ) from None
        raise TraceError(
            f"np.{function.__name__} cannot be traced; write the operation with NumPy ufuncs and np.where(c, x, y)"
        )

    def astype(self, dtype: Any) -> Symbol:
        """Convert to another dtype, for intermediate results that need more room."""
        return Symbol(Expression("cast", (self.expression,), np.dtype(dtype).str[1:]))

    @property
    def real(self) -> Symbol:
        """The real part; the operand itself if it is not complex."""
        return Symbol(apply("real", self.expression))

    @property
    def imag(self) -> Symbol:
        """The imaginary part; 0 if the operand is not complex."""
        return Symbol(apply("imag", self.expression))

    def conjugate(self) -> Symbol:
        """The number with the opposite imaginary part."""
        return Symbol(apply("conjugate", self.expression))

    def __pos__(self) -> Symbol:
        return self

    def __bool__(self) -> bool:
        return decide(self.expression)

    def __round__(self, digits: int | None = None) -> Symbol:
        if digits:
            raise TraceError("round(a, n) to decimals cannot be traced; write np.rint(a * 10**n) / 10**n")
        return Symbol(apply("rint", self.expression))

    def __divmod__(self, other: Any) -> Any:
        raise TraceError(f"divmod has 2 results and cannot be traced; write {_PARTS['divmod']}")

    __rdivmod__ = __divmod__

    def _no_number(self) -> Any:
        raise TypeError(
            f"{show(self.expression)} is an expression, not a number, and functions of the math module cannot be "
            "traced; "
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
    }
    compare = {
        "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
    }
    unary = {
        "neg": "negative", "abs": "absolute", "invert": "invert", "floor": "floor", "ceil": "ceil", "trunc": "trunc",
    }

    def called(op: str, x: Any, y: Any) -> Any:
        if is_several(x) or is_several(y):
            return each(lambda p, q: called(op, p, q), x, y)
        return Symbol(apply(op, node(x), node(y)))

    def forward(op: str) -> Callable[[Symbol, Any], Any]:
        return lambda self, other: called(op, self, other)

    def reflected(op: str) -> Callable[[Symbol, Any], Any]:
        return lambda self, other: called(op, other, self)

    for name, op in binary.items():
        setattr(Symbol, f"__{name}__", forward(op))
        setattr(Symbol, f"__r{name}__", reflected(op))
    for name, op in compare.items():
        setattr(Symbol, f"__{name}__", forward(op))
    for name, op in unary.items():
        setattr(Symbol, f"__{name}__", lambda self, op=op: Symbol(apply(op, node(self))))


_install_operators()

MOST_BITS = 1024  # of an integer that a float may hold


def node(value: Any) -> Expression:
    """The expression of a symbol or a number.

    Raises
    ------
    TraceError
        For anything else, and for an integer that no dtype holds, not even rounded.
    """
    if isinstance(value, Symbol):
        return value.expression
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise TraceError(f"the constant is an integer of {value.bit_length()} bits, which no dtype holds: use "
                         "float('inf') for a number that is larger than all others")
    if isinstance(value, (bool, int, float, complex, np.bool_, np.number)):
        return constant(value)
    if value is None:
        raise TraceError("the operation returned None, at least on one path through its conditions")
    if isinstance(value, Vector):
        if value.constants is None:
            raise TraceError(f"a vector of {len(value)} numbers is used as one number; only fields that are vectors "
                             "hold vectors, and v[0] and v.sum() are numbers")
        value = value.constants
    raise TraceError(f"{value!r} ({type(value).__name__}) is used in an operation; use only operands and numbers")


class Record:
    """The argument of a traced function in place of a record: `x.cost`, `x.hops`, or unpacked."""

    def __init__(self, fields: Sequence[str], components: Sequence[Any]):
        self._fields = tuple(fields)
        self._components = tuple(components)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._fields:
            raise AttributeError(f"the record has no field {name!r}; its fields are {', '.join(self._fields)}")
        return self._components[self._fields.index(name)]

    def __getitem__(self, field: str | int) -> Any:
        return self._components[field] if isinstance(field, int) else getattr(self, field)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._components)

    def __len__(self) -> int:
        return len(self._components)

    def __eq__(self, other: object) -> Any:
        same = None
        for x, y in zip(self, other, strict=True):  # type: ignore[call-overload]
            equal = (x == y).all() if isinstance(x, Vector) else x == y
            same = equal if same is None else same & equal
        return same

    def __ne__(self, other: object) -> Any:
        return ~(self == other)

    __hash__ = None  # type: ignore[assignment]

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in (np.where, np.select):
            return _FUNCTIONS[function](*args, **kwargs)
        raise TraceError(f"np.{function.__name__} works on a record's fields, such as x.{self._fields[0]}, not on x")

    def __array_ufunc__(self, ufunc: np.ufunc, *_: Any, **__: Any) -> Any:
        raise TraceError(f"np.{ufunc.__name__} works on a record's fields, such as x.{self._fields[0]}, not on x")


def where(condition: Any, x: Any, y: Any) -> Any:
    """`np.where` for symbols and for records, component by component."""
    if isinstance(x, (Record, tuple)) or isinstance(y, (Record, tuple)):
        record = x if isinstance(x, Record) else y
        fields = record._fields if isinstance(record, Record) else [f"f{i}" for i in range(len(record))]
        return Record(fields, [where(condition, p, q) for p, q in zip(x, y, strict=True)])
    if any(map(is_several, (condition, x, y))):
        return each(where, condition, x, y)
    return Symbol(apply("where", node(condition), node(x), node(y)))


def _clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    a = a if low is None else np.maximum(a, low)
    return a if high is None else np.minimum(a, high)


def _select(conditions: Sequence[Any], choices: Sequence[Any], default: Any = 0) -> Any:
    """The choice of the first condition that holds."""
    if len(conditions) != len(choices):
        raise TraceError(f"np.select has {len(conditions)} conditions and {len(choices)} choices")
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        default = where(condition, choice, default)
    return default


# Functions that are not ufuncs, and ufuncs that equal other operations.
_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: where, np.clip: _clip, np.select: _select, np.round: lambda a, decimals=0: round(a, decimals),
    np.fix: lambda x: np.trunc(x), np.real: lambda val: val.real, np.imag: lambda val: val.imag,
    np.isposinf: lambda x: x == math.inf, np.isneginf: lambda x: x == -math.inf,
}
_SPELLED: dict[str, Callable[..., Any]] = {
    "fmin": np.minimum, "fmax": np.maximum, "positive": lambda a: a,
    "square": lambda a: a * a, "reciprocal": lambda a: 1 / a,
    "deg2rad": lambda a: a * (math.pi / 180), "radians": lambda a: a * (math.pi / 180),
    "rad2deg": lambda a: a * (180 / math.pi), "degrees": lambda a: a * (180 / math.pi),
}
_PARTS = {
    "divmod": "a // b and a % b", "modf": "np.trunc(a) and a - np.trunc(a)",
    "frexp": "np.floor(np.log2(np.abs(a))) and the quotient",
}


def saturating_add(a: Any, b: Any) -> Any:
    """Return a + b; integers saturate at their dtype's limits, which stand for ±∞.

    Parameters
    ----------
    a, b : number, array or symbol
        Of any shapes that broadcast and numeric dtypes; tracing passes symbols.

    Returns
    -------
    number, array or symbol
        Of the dtype and shape of ``a + b``. The sum of floats is the plain sum and rounds once. An algebra refuses a
        result that would saturate, because it is not ∞.

    Raises
    ------
    TraceError
        If a symbol is combined with something that is not a number.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> sr.saturating_add(np.uint8(200), np.uint8(100))
    np.uint8(255)
    >>> sr.saturating_add(np.array([100, -100], np.int8), np.array([100, -100], np.int8))
    array([ 127, -128], dtype=int8)
    """
    if isinstance(a, Vector) or isinstance(b, Vector):
        return each(saturating_add, a, b)
    if isinstance(a, Symbol) or isinstance(b, Symbol):
        return Symbol(apply("saturating_add", node(a), node(b)))
    total = np.add(a, b)
    if total.dtype.kind == "u":
        return np.where(total < a, np.iinfo(total.dtype).max, total)[()]
    if total.dtype.kind != "i":
        return total
    limits = np.iinfo(total.dtype)
    overflow = ((a ^ total) & (b ^ total)) < 0
    return np.where(overflow, np.where(np.less(a, 0), limits.min, limits.max), total).astype(total.dtype)[()]


def saturating_multiply(a: Any, b: Any) -> Any:
    """Return a · b; integers saturate at their dtype's limits, which stand for ±∞.

    Parameters
    ----------
    a, b : number, array or symbol
        Of any shapes that broadcast and numeric dtypes; tracing passes symbols.

    Returns
    -------
    number, array or symbol
        Of the dtype and shape of ``a * b``. The product of floats is the plain product and rounds once. An algebra
        refuses a result that would saturate, because it is not ∞.

    Raises
    ------
    TraceError
        If a symbol is combined with something that is not a number.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> sr.saturating_multiply(np.int16(300), np.int16([300, -300, 2]))
    array([ 32767, -32768,    600], dtype=int16)
    """
    if isinstance(a, Vector) or isinstance(b, Vector):
        return each(saturating_multiply, a, b)
    if isinstance(a, Symbol) or isinstance(b, Symbol):
        return Symbol(apply("saturating_multiply", node(a), node(b)))
    product = np.multiply(a, b)
    if product.dtype.kind not in "iu":
        return product
    limits = np.iinfo(product.dtype)
    # |a·b| > limit, tested by division, which cannot overflow; −2⁶³ has no absolute value in int64, so uint64 holds it.
    size_a, size_b = (np.abs(np.asarray(x, np.int64)).astype(np.uint64) if limits.min else np.asarray(x, np.uint64)
                      for x in (a, b))
    negative = (np.less(a, 0)) ^ (np.less(b, 0))
    limit = np.where(negative, np.uint64(-int(limits.min)), np.uint64(limits.max))
    overflow = size_a > limit // np.maximum(size_b, np.uint64(1))
    overflow &= np.not_equal(b, 0)
    low, high = product.dtype.type(limits.min), product.dtype.type(limits.max)
    return np.where(overflow, np.where(negative, low, high), product)[()]


def trace(
    function: Callable[..., Any] | Traced, arity: int, fields: Mapping[str, np.dtype] | None = None, *,
    predicate: bool = False,
) -> Traced:
    """Call a function with symbols and return what it computes.

    Parameters
    ----------
    function : callable or Traced
        A `Traced` is returned as it is. Otherwise the function takes `arity` operands and returns a number expression,
        or for records a record, tuple or mapping of fields. It is called once for each path through its conditions. If
        it raises an arithmetic error or a ValueError there, its result is NaN, or false for a predicate.
    arity : int
        The number of operands.
    fields : mapping of str to dtype, optional
        The fields of an element, in order, numbers or vectors; ``None`` for scalars.
    predicate : bool
        Whether the function returns one truth value, also for records.

    Raises
    ------
    TraceError
        If the function does something that has no expression.
    TooManyBranches
        If there are too many paths through its conditions for an expression.
    """
    if isinstance(function, Traced):
        return function
    width = sum(len(flat_field(f, d)) for f, d in fields.items()) if fields else 1

    def symbol(number: int) -> Any:
        parts = [Symbol(operand(number, c)) for c in range(width)]
        if not fields:
            return parts[0]
        left = iter(parts)
        values = [Vector(islice(left, d.shape[0])) if d.subdtype else next(left) for d in fields.values()]
        return Record(list(fields), values)

    def run() -> tuple[Expression, ...]:
        result = function(*map(symbol, range(arity)))
        return (node(result),) if not fields or predicate else _components(result, fields)

    undefined = (constant(False),) if predicate else (constant(math.nan),) * width
    return Traced(explore(run, undefined), arity, width)


def _components(result: Any, fields: Mapping[str, np.dtype]) -> tuple[Expression, ...]:
    """The components of a record that an operation returned."""
    if isinstance(result, Mapping):
        if set(result) != set(fields):
            raise TraceError(f"the result has the fields {sorted(result)}, but the element has {sorted(fields)}")
        result = [result[f] for f in fields]
    if not isinstance(result, (Record, tuple, list)) or len(result) != len(fields):
        raise TraceError(
            f"an operation on records must return a record, or its {len(fields)} components: {', '.join(fields)}"
        )
    parts = flat_element(list(result), fields)
    if parts is None:
        given = {f: len(v) if is_several(v) or isinstance(v, tuple) else "one number"
                 for f, v in zip(fields, result, strict=True)}
        vectors = ", ".join(f"{f} of {d.shape[0]}" + (f", not {given[f]}" if given[f] != d.shape[0] else "")
                            for f, d in fields.items() if d.subdtype)
        raise TraceError(f"the result must have vectors as long as the element's: {vectors}")
    return tuple(map(node, parts))
