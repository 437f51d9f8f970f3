"""Tracing: a Python callable over NumPy operations becomes a small expression graph.

A callable is called once with symbols, which answer NumPy's protocols and Python's operators, and what it returns is
the expression. Equal sub-expressions are one node. `typed` resolves an expression for given dtypes into a list of
steps, each with the dtypes its operation reads and writes (NumPy's own rules); a rule table a target (NumPy, Numba,
Python objects, later CUDA) turns the steps into text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .errors import TraceError

# Everything an algebra may be written with. Each name is a NumPy ufunc except the last four.
UFUNCS: dict[str, np.ufunc] = {
    u.__name__: u
    for u in (
        np.add, np.subtract, np.multiply, np.divide, np.floor_divide, np.remainder, np.power,
        np.negative, np.absolute, np.sqrt, np.exp, np.exp2, np.expm1, np.log, np.log2, np.log1p,
        np.floor, np.ceil, np.rint, np.minimum, np.maximum, np.logaddexp, np.logaddexp2,
        np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
        np.logical_and, np.logical_or, np.logical_xor, np.logical_not,
        np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift,
        np.gcd, np.lcm, np.isnan, np.isinf, np.isfinite,
    )
}  # fmt: skip
OPERATIONS = (*UFUNCS, "where", "cast", "saturating_add", "saturating_multiply")
COMMUTATIVE = frozenset(
    "add multiply minimum maximum logaddexp logaddexp2 equal not_equal logical_and logical_or logical_xor "
    "bitwise_and bitwise_or bitwise_xor gcd lcm saturating_add saturating_multiply".split()
)
COMPARISONS = frozenset("less less_equal greater greater_equal equal not_equal".split())


class Expression:
    """A node: an operation and its arguments. Nodes are unique, so equality is identity.

    `op` is a name of `OPERATIONS`, or "input" (value: operand number, component number), or "constant"
    (value: a Python number). For "cast" the value is the dtype.
    """

    __slots__ = ("args", "op", "value")
    _nodes: ClassVar[dict[tuple, Expression]] = {}

    op: str
    args: tuple[Expression, ...]
    value: Any

    def __new__(cls, op: str, args: Sequence[Expression] = (), value: Any = None) -> Expression:
        key = (op, tuple(map(id, args)), type(value), repr(value))
        node = cls._nodes.get(key)
        if node is None:
            node = object.__new__(cls)
            node.op, node.args, node.value = op, tuple(args), value
            cls._nodes[key] = node
        return node

    def __repr__(self) -> str:
        return show(self)


def constant(value: Any) -> Expression:
    """A constant node; a NumPy scalar becomes the Python number it equals."""
    return Expression("constant", value=value.item() if isinstance(value, np.generic) else value)


def operand(number: int, component: int = 0) -> Expression:
    """The node for a component of an operand."""
    return Expression("input", value=(number, component))


def apply(op: str, *args: Expression) -> Expression:
    """The node for an operation, folded when every argument is a constant, in the simplest of its spellings."""
    if op in UFUNCS and all(a.op == "constant" for a in args):
        with np.errstate(all="ignore"):
            return constant(UFUNCS[op](*(a.value for a in args)))
    if op == "where":
        condition, x, y = args
        if x is y:
            return x
        if condition.op == "constant":
            return x if condition.value else y
        # where(x < y, x, y) is the minimum: so however a user spells it, it gets the minimum's instructions.
        if condition.op in ("less", "less_equal", "greater", "greater_equal") and {x, y} == set(condition.args):
            smaller_first = condition.op.startswith("less") == (condition.args[0] is x)
            return apply("minimum" if smaller_first else "maximum", *condition.args)
    if op in COMMUTATIVE:
        args = tuple(sorted(args, key=lambda a: a.op == "constant"))
        if op in ("minimum", "maximum") and args[0] is args[1]:
            return args[0]
    return Expression(op, args)


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
    return np.where(overflow, np.where(negative, limits.min, limits.max), product).astype(product.dtype)[()]


@dataclass(frozen=True)
class Traced:
    """A callable as expressions: `outputs` (one a component) over `arity` operands of `width` components each."""

    outputs: tuple[Expression, ...]
    arity: int
    width: int

    def operand(self, number: int) -> tuple[Expression, ...]:
        """The input nodes of an operand."""
        return tuple(operand(number, c) for c in range(self.width))

    def is_plain(self, *ops: str) -> bool:
        """Whether this is one of the binary operations, applied to the two operands and nothing else."""
        e = self.outputs[0]
        return len(self.outputs) == 1 and self.arity == 2 and e.op in ops and set(e.args) == {operand(0), operand(1)}

    def operations(self) -> frozenset[str]:
        """Names of all operations that occur."""
        return frozenset(e.op for e in postorder(self.outputs) if e.op not in ("input", "constant"))

    def __str__(self) -> str:
        text = ", ".join(map(show, self.outputs))
        return text if len(self.outputs) == 1 else f"({text})"


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


def postorder(outputs: Sequence[Expression]) -> list[Expression]:
    """All nodes below the outputs, arguments before what uses them, each once."""
    order: list[Expression] = []
    seen: set[int] = set()
    stack = [(e, False) for e in reversed(outputs)]
    while stack:
        e, expanded = stack.pop()
        if id(e) in seen:
            continue
        if expanded:
            seen.add(id(e))
            order.append(e)
        else:
            stack.append((e, True))
            stack.extend((a, False) for a in reversed(e.args))
    return order


def substitute(outputs: Sequence[Expression], replace: Mapping[Expression, Expression]) -> tuple[Expression, ...]:
    """The expressions with some nodes replaced, folded again on the way up."""
    made: dict[Expression, Expression] = {}
    for e in postorder(outputs):
        if e in replace:
            made[e] = replace[e]
        elif e.op == "cast":
            made[e] = Expression("cast", (made[e.args[0]],), e.value)
        else:
            made[e] = apply(e.op, *(made[a] for a in e.args)) if e.args else e
    return tuple(made[e] for e in outputs)


def split_undefined(traced: Traced) -> tuple[Traced, Expression]:
    """Split a partial function, whose undefined values are written NaN, into a total one and its domain.

    In ``np.where(a == 1, np.nan, 1 / (1 - a))`` the domain is ``a != 1``; NaN is replaced by 0, so that the total
    part has a value in every dtype.
    """
    true, false = constant(True), constant(False)
    domain: dict[Expression, Expression] = {}
    for e in postorder(traced.outputs):
        if e.op == "constant":
            domain[e] = false if isinstance(e.value, float) and math.isnan(e.value) else true
        elif e.op == "where":
            condition, x, y = e.args
            branches = _choose(condition, domain[x], domain[y])
            domain[e] = _both(domain[condition], branches)
        else:
            domain[e] = true
            for a in e.args:
                domain[e] = _both(domain[e], domain[a])
    everywhere = true
    for e in traced.outputs:
        everywhere = _both(everywhere, domain[e])
    total = substitute(traced.outputs, {constant(math.nan): constant(0)})
    return Traced(total, traced.arity, traced.width), everywhere


def _both(p: Expression, q: Expression) -> Expression:
    if p.op == "constant":
        return q if p.value else p
    if q.op == "constant":
        return p if q.value else q
    return p if p is q else apply("logical_and", p, q)


def _choose(condition: Expression, x: Expression, y: Expression) -> Expression:
    if x is y:
        return x
    if x.op == y.op == "constant":
        return condition if x.value else apply("logical_not", condition)
    return apply("where", condition, x, y)


_INFIX = {
    "add": "+", "subtract": "-", "multiply": "·", "divide": "/", "floor_divide": "//", "remainder": "mod",
    "less": "<", "less_equal": "≤", "greater": ">", "greater_equal": "≥", "equal": "=", "not_equal": "≠",
    "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "xor", "logical_and": "and", "logical_or": "or",
    "logical_xor": "xor", "left_shift": "<<", "right_shift": ">>", "power": "**",
    "saturating_add": "+", "saturating_multiply": "·",
}  # fmt: skip
_SHORT = {"minimum": "min", "maximum": "max", "absolute": "abs", "negative": "-", "logical_not": "not"}


def show(e: Expression, top: bool = True) -> str:
    """An expression as a person would write it."""
    if e.op == "input":
        letter = "abcdef"[e.value[0]]
        return letter if e.value[1] == 0 else f"{letter}.{e.value[1]}"
    if e.op == "constant":
        return {math.inf: "∞", -math.inf: "−∞"}.get(e.value, str(e.value))
    if e.op in _INFIX:
        text = f" {_INFIX[e.op]} ".join(show(a, False) for a in e.args)
        return text if top else f"({text})"
    return f"{_SHORT.get(e.op, e.op)}({', '.join(map(show, e.args))})"


@dataclass(frozen=True)
class Step:
    """One operation with its types: `reads` are the dtypes its arguments are converted to first."""

    node: Expression
    reads: tuple[np.dtype, ...]
    writes: np.dtype


def typed(
    outputs: Sequence[Expression], dtypes: Sequence[np.dtype], wanted: Sequence[np.dtype] | None = None
) -> list[Step]:
    """Resolve expressions over components of the given dtypes into steps, by NumPy's promotion rules.

    A constant takes the dtype of what it stands beside; an infinity beside integers is their limit. A choice between
    constants takes the dtype that is wanted of the output it belongs to.

    Raises
    ------
    TypeError
        When an operation has no form for these dtypes.
    """
    found: dict[Expression, np.dtype | type] = {}
    steps = []
    homes: dict[Expression, np.dtype] = {}
    for output, dtype in zip(outputs, wanted or [dtypes[0]] * len(outputs), strict=True):
        branches = [output]
        while branches:
            e = branches.pop()
            homes.setdefault(e, dtype)
            branches.extend(e.args[1:] if e.op == "where" else ())
    for e in postorder(outputs):
        if e.op == "input":
            found[e] = dtypes[e.value[1]]
        elif e.op == "constant":
            found[e] = type(e.value)
        else:
            step = _resolve(e, [found[a] for a in e.args], homes.get(e, dtypes[0]))
            found[e] = step.writes
            steps.append(step)
    return steps


def _resolve(e: Expression, kinds: list[np.dtype | type], default: np.dtype) -> Step:
    if e.op == "cast":
        target = np.dtype(e.value)
        return Step(e, (_beside(e.args, kinds, default)[0],), target)
    if e.op == "where":
        x, y = _beside(e.args[1:], kinds[1:], default)
        out = np.result_type(x, y)
        return Step(e, (np.dtype(bool), out, out), out)
    ufunc = {"saturating_add": np.add, "saturating_multiply": np.multiply}.get(e.op) or UFUNCS[e.op]
    *reads, out = ufunc.resolve_dtypes((*_beside(e.args, kinds, default), None))
    return Step(e, tuple(reads), out)


def _beside(args: Sequence[Expression], kinds: list[Any], default: np.dtype) -> list[np.dtype]:
    """The dtype of each argument, where a constant takes that of its neighbours if it has a place in it."""
    strong = [k for k in kinds if isinstance(k, np.dtype)]
    home = np.result_type(*strong) if strong else default
    result = []
    for a, k in zip(args, kinds, strict=True):
        if isinstance(k, np.dtype):
            result.append(k)
        elif k is bool:
            result.append(np.dtype(bool))
        elif home.kind == "f" or ((k is int or math.isinf(a.value) or a.value.is_integer()) and home.kind in "iu"):
            result.append(home)
        else:
            result.append(np.result_type(home, k(0)))
    return result


def cast_constant(value: Any, dtype: np.dtype) -> np.generic:
    """A Python number in a dtype; infinities become the limits of an integer dtype.

    Raises
    ------
    OverflowError
        When the number has no place in the dtype.
    """
    if dtype.kind == "b":
        if value in (0, 1, math.inf, -math.inf):
            return np.bool_(value == 1 or value == math.inf)
        raise OverflowError(f"{value} is not a truth value")
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if isinstance(value, float):
            if math.isinf(value):
                return dtype.type(limits.max if value > 0 else limits.min)
            if not value.is_integer():
                raise OverflowError(f"{value} is not an integer")
        if not limits.min <= int(value) <= limits.max:
            raise OverflowError(f"{value} is outside {dtype.name}, {limits.min} … {limits.max}")
        return dtype.type(int(value))
    return dtype.type(value)
