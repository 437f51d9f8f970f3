"""The expression graph that an algebra's operations become.

Equal sub-expressions are one node. `typed` resolves an expression for given dtypes into a list of steps, each with the
dtypes its operation reads and writes (NumPy's own rules); a rule table a target turns the steps into text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np

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
    """A constant node; a NumPy scalar becomes the Python number it equals, and 2.0 is 2."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 and str(value) != "-0.0":
        value = int(value)
    return Expression("constant", value=value)


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


def equals(x: Sequence[Expression], y: Sequence[Expression]) -> Expression:
    """The condition that two elements are equal in all components."""
    parts = [apply("equal", p, q) for p, q in zip(x, y, strict=True)]
    return reduce(lambda p, q: apply("logical_and", p, q), parts)


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
    given = _beside(e.args, kinds, default)
    *reads, out = ufunc.resolve_dtypes((*given, None))
    if np.dtype("f2") not in given:
        # NumPy takes narrow integers to half precision, in which not every target computes.
        *reads, out = (np.dtype("f4") if d == np.dtype("f2") else d for d in (*reads, out))
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


def nearest_constant(value: Any, dtype: np.dtype) -> np.generic:
    """`cast_constant` that lets a float lose digits below the dtype's normal numbers, where not all are lost.

    Raises
    ------
    OverflowError
        When the number has no place in the dtype.
    """
    if dtype.kind == "f":
        with np.errstate(all="ignore"):
            number: np.generic = dtype.type(value)
            if np.isfinite(number) and bool(number):
                return number
    return cast_constant(value, dtype)
