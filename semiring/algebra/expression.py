"""The expression graph of an algebra's operations.

Equal sub-expressions are one node. `typed` resolves an expression for given dtypes into a list of steps, each with the
dtypes that its operation reads and writes (NumPy's own rules); the rule table of a target turns the steps into text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any, ClassVar

import numpy as np

from .constants import fold, nearest_constant
from .operations import BITWISE, COMMUTATIVE, COMPLEX, INFIX, ON_CONDITIONS, PREDICATES, SHORT, UFUNCS


class Expression:
    """A node: an operation and its arguments. Nodes are unique, so equality is identity.

    `op` is a name in `OPERATIONS`, or "input" (value: operand number, component number), or "constant"
    (value: a Python number). For "cast" the value is the dtype. `is_condition` says that the node is a truth value in
    every dtype: a comparison, a Boolean constant, or a combination of these.
    """

    __slots__ = ("args", "is_condition", "op", "value")
    _nodes: ClassVar[dict[tuple[Any, ...], Expression]] = {}

    op: str
    args: tuple[Expression, ...]
    value: Any
    is_condition: bool

    def __new__(cls, op: str, args: Sequence[Expression] = (), value: Any = None) -> Expression:
        key = (op, tuple(map(id, args)), type(value), repr(value))
        node = cls._nodes.get(key)
        if node is None:
            node = object.__new__(cls)
            node.op, node.args, node.value = op, tuple(args), value
            node.is_condition = op in PREDICATES or {
                "constant": isinstance(value, bool), "cast": value == "b1",
                "where": op == "where" and all(a.is_condition for a in node.args[1:]),
            }.get(op, False)
            cls._nodes[key] = node
        return node

    def __copy__(self) -> Expression:
        return self

    def __deepcopy__(self, memo: Any) -> Expression:
        return self

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _rebuilt, (flattened((self,)),)

    def __repr__(self) -> str:
        return show(self)


# Nodes in order, arguments before their users: operation, positions of the arguments, value; and those of the outputs.
Flat = tuple[tuple[tuple[str, tuple[int, ...], Any], ...], tuple[int, ...]]


def flattened(outputs: Sequence[Expression]) -> Flat:
    """Turn expressions into plain data, however deep they are; equal ones have equal data.

    >>> flattened([apply("add", operand(0), constant(2))])
    ((('input', (), (0, 0)), ('constant', (), 2), ('add', (0, 1), None)), (2,))
    """
    order = postorder(outputs)
    place = {e: k for k, e in enumerate(order)}
    nodes = tuple((e.op, tuple(place[a] for a in e.args), e.value) for e in order)
    return nodes, tuple(place[e] for e in outputs)


def unflattened(flat: Flat) -> tuple[Expression, ...]:
    """Turn data from `flattened` back into expressions: the same nodes."""
    made: list[Expression] = []
    for op, args, value in flat[0]:
        made.append(Expression(op, [made[k] for k in args], value))
    return tuple(made[k] for k in flat[1])


def _rebuilt(flat: Flat) -> Expression:
    return unflattened(flat)[0]


def constant(value: Any) -> Expression:
    """A constant node; a NumPy scalar becomes an equal Python number, 2.0 becomes 2, and so does 2 + 0j."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, complex):
        if value != value:
            value = math.nan
        elif value.imag == 0 and math.copysign(1, value.imag) > 0:
            value = value.real
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 and str(value) != "-0.0":
        value = int(value)
    return Expression("constant", value=value)


def operand(number: int, component: int = 0) -> Expression:
    """The node for a component of an operand."""
    return Expression("input", value=(number, component))


def apply(op: str, *args: Expression) -> Expression:
    """The node for an operation in its simplest spelling, folded if its value is the same in every dtype."""
    if op in ON_CONDITIONS and all(a.is_condition for a in args):
        op = ON_CONDITIONS[op]
    if op in UFUNCS and op not in BITWISE and all(a.op == "constant" for a in args):
        value = fold(UFUNCS[op], *(a.value for a in args))
        if value is not None:
            return constant(value)
    if op == "where":
        return _where(*args)
    if op in ("real", "imag") and args[0].op == "constant":
        return constant(getattr(args[0].value, op))
    if op in COMMUTATIVE:
        args = tuple(sorted(args, key=lambda a: a.op == "constant"))
        if op in ("minimum", "maximum") and args[0] is args[1]:
            return args[0]
    if op.startswith("logical"):
        return _logical(op, args)
    return Expression(op, args)


def _where(condition: Expression, x: Expression, y: Expression) -> Expression:
    if x is y:
        return x
    condition = truth(condition)
    if condition.op == "constant":
        return x if condition.value else y
    if condition.op in ("logical_not", "not_equal"):
        return _where(negation(condition), y, x)
    # where(x < y, x, y) is the minimum: every spelling gets the minimum's instructions.
    if condition.op in ("less", "less_equal", "greater", "greater_equal") and {x, y} == set(condition.args):
        smaller_first = condition.op.startswith("less") == (condition.args[0] is x)
        return apply("minimum" if smaller_first else "maximum", *condition.args)
    if x.is_condition and y.is_condition:
        if x.op == "constant":
            return apply("logical_or", condition, y) if x.value else apply("logical_and", negation(condition), y)
        if y.op == "constant":
            return apply("logical_or", negation(condition), x) if y.value else apply("logical_and", condition, x)
    return Expression("where", (condition, x, y))


def _logical(op: str, args: tuple[Expression, ...]) -> Expression:
    """A logical operation; a constant, which comes last, is absorbed."""
    first, last = args[0], truth(args[-1]) if args[-1].op == "constant" else args[-1]
    if op == "logical_not":
        if first.op == "logical_not":
            return truth(first.args[0])
        # For other comparisons NaN distinguishes the opposite from the negation.
        opposite = {"equal": "not_equal", "not_equal": "equal"}.get(first.op)
        return Expression(opposite, first.args) if opposite else Expression(op, args)
    if last.op == "constant":
        if op == "logical_xor":
            return negation(first) if last.value else truth(first)
        return truth(first) if bool(last.value) == (op == "logical_and") else constant(bool(last.value))
    if first is last and op != "logical_xor":
        return truth(first)
    return Expression(op, args)


def truth(e: Expression) -> Expression:
    """The truth value of a number, as `if`, `and` and `or` use it: whether it is not 0."""
    return e if e.is_condition else apply("not_equal", e, constant(0))


def negation(e: Expression) -> Expression:
    """The opposite of a condition."""
    return apply("logical_not", e)


@dataclass(frozen=True)
class Traced:
    """A callable as expressions: `outputs` (one a component) over `arity` operands of `width` components each."""

    outputs: tuple[Expression, ...]
    arity: int
    width: int

    def __reduce__(self) -> tuple[Callable[..., Traced], tuple[Any, ...]]:
        return _traced, (flattened(self.outputs), self.arity, self.width)

    def operand(self, number: int) -> tuple[Expression, ...]:
        """The input nodes of an operand."""
        return tuple(operand(number, c) for c in range(self.width))

    def is_plain(self, *ops: str) -> bool:
        """Whether this is one of the binary operations, applied to the two operands and nothing else."""
        e = self.outputs[0]
        return len(self.outputs) == 1 and self.arity == 2 and e.op in ops and set(e.args) == {operand(0), operand(1)}

    def exchanged(self) -> Traced:
        """The binary operation with its operands exchanged."""
        pairs = zip(self.operand(0) + self.operand(1), self.operand(1) + self.operand(0), strict=True)
        return Traced(substitute(self.outputs, dict(pairs)), self.arity, self.width)

    def operations(self) -> frozenset[str]:
        """The names of all operations in it."""
        return frozenset(e.op for e in postorder(self.outputs) if e.op not in ("input", "constant"))

    def __str__(self) -> str:
        return self.text()

    def text(self, names: Sequence[str] = ()) -> str:
        """The expressions as a person would write them, with the names of an element's components."""
        text = ", ".join(show(e, names=names) for e in self.outputs)
        return text if len(self.outputs) == 1 else f"({text})"


def _traced(flat: Flat, arity: int, width: int) -> Traced:
    return Traced(unflattened(flat), arity, width)


def postorder(outputs: Sequence[Expression]) -> list[Expression]:
    """All nodes below the outputs, each once, arguments before their users."""
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
    """The expressions with some nodes replaced, folded again from the leaves up."""
    made: dict[Expression, Expression] = {}
    for e in postorder(outputs):
        made[e] = replace[e] if e in replace else rebuild(e, [made[a] for a in e.args])
    return tuple(made[e] for e in outputs)


def equals(x: Sequence[Expression], y: Sequence[Expression]) -> Expression:
    """The condition that two elements are equal in all components."""
    parts = [apply("equal", p, q) for p, q in zip(x, y, strict=True)]
    return reduce(lambda p, q: apply("logical_and", p, q), parts)


def rebuild(e: Expression, args: Sequence[Expression]) -> Expression:
    """The node with other arguments, in its simplest spelling."""
    if e.op == "cast":
        return Expression("cast", args, e.value)
    return apply(e.op, *args) if args else e


@lru_cache(1024)
def rounded(outputs: tuple[Expression, ...], dtype: np.dtype) -> tuple[Expression, ...]:
    """Expressions whose constants are rounded to a narrower float, to be computed in a wider one."""
    constants = [e for e in postorder(outputs) if e.op == "constant" and not isinstance(e.value, bool)]
    return substitute(outputs, {e: constant(nearest_constant(e.value, dtype).item()) for e in constants})


# Comparisons of −∞, which is less than all other numbers, with a number.
_BELOW_ALL = {
    "less": True, "less_equal": True, "greater": False, "greater_equal": False, "equal": False, "not_equal": True,
}


@lru_cache(256)
def without_minus_infinity(condition: Expression) -> Expression:
    """A condition in a dtype in which no number stands for −∞, such as unsigned integers."""
    lowest, known = constant(-math.inf), {}
    for e in postorder([condition]):
        if e.op in _BELOW_ALL and (e.args[0] is lowest) != (e.args[1] is lowest):
            turned = e.args[1] is lowest and e.op not in ("equal", "not_equal")
            known[e] = constant(_BELOW_ALL[e.op] != turned)
    return substitute([condition], known)[0]


def split_undefined(traced: Traced) -> tuple[Traced, Expression]:
    """Split a partial function, with NaN where it is undefined, into a total one and its domain.

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


_SHOWN_CHARACTERS = 400  # of a part of an expression; one node may occur in it a million times


def show(e: Expression, top: bool = True, names: Sequence[str] = ()) -> str:
    """Write an expression as a person would; very long parts become …"""
    texts: dict[Expression, str] = {}
    for node in postorder([e]):
        parts = [f"({texts[a]})" if a.op in INFIX and node.op in INFIX else texts[a] for a in node.args]
        text = _text(node, parts, names)
        texts[node] = text if len(text) <= _SHOWN_CHARACTERS or node is e else "…"
    return texts[e] if top or e.op not in INFIX else f"({texts[e]})"


def _text(e: Expression, parts: list[str], names: Sequence[str]) -> str:
    if e.op == "input":
        number, component = e.value
        name = "abcdefghijklmnopqrstuvwxyz"[number] if number < 26 else f"x{number}"
        if names:
            return f"{name}.{names[component]}"
        return name if component == 0 else f"{name}.{component}"
    if e.op == "constant":
        return {math.inf: "∞", -math.inf: "−∞"}.get(e.value, str(e.value))
    if e.op in INFIX:
        return f" {INFIX[e.op]} ".join(parts)
    if e.op in ("minimum", "maximum") and all(a.op == "input" for a in e.args):
        parts = sorted(parts)  # Python's min(a, b) is b if b < a
    name = np.dtype(e.value).name if e.op == "cast" else SHORT.get(e.op, e.op)
    return f"{name}({', '.join(parts)})"


@dataclass(frozen=True)
class Step:
    """One operation with its types: its arguments are converted to the dtypes in `reads` first."""

    node: Expression
    reads: tuple[np.dtype, ...]
    writes: np.dtype


def typed(
    outputs: Sequence[Expression], dtypes: Sequence[np.dtype], wanted: Sequence[np.dtype] | None = None
) -> list[Step]:
    """Resolve expressions over components of the given dtypes into steps, by NumPy's promotion rules.

    A constant takes the dtype of the other operand; an infinity among integers is their limit. A choice between
    constants takes the dtype wanted for its output, and so does an operation on constants alone.

    Raises
    ------
    TypeError
        If an operation has no form for these dtypes.
    """
    return _Resolution(dtypes).steps_of(outputs, wanted or [dtypes[0]] * len(outputs))


class _Resolution:
    """The work of `typed`. A node of constants alone stays a kind until the dtype of its use is known."""

    def __init__(self, dtypes: Sequence[np.dtype]):
        self.dtypes = dtypes
        self.default = np.result_type(*dtypes)
        self.found: dict[Expression, np.dtype | type] = {}
        self.steps: list[Step] = []

    def steps_of(self, outputs: Sequence[Expression], wanted: Sequence[np.dtype]) -> list[Step]:
        homes: dict[Expression, np.dtype] = {}
        for output, dtype in zip(outputs, wanted, strict=True):
            branches = [output]
            while branches:
                e = branches.pop()
                homes.setdefault(e, dtype)
                branches.extend(e.args[1:] if e.op == "where" else ())
        for e in postorder(outputs):
            if e.op == "input":
                self.found[e] = self.dtypes[e.value[1]]
            elif e.op == "constant":
                self.found[e] = _kind_of(e.value)
            elif e.op != "cast" and all(isinstance(self.found[a], type) for a in e.args):
                self.found[e] = _kind(e, [self.found[a] for a in e.args])
            else:
                self.resolve(e, homes.get(e, self.default))
        for e in outputs:
            self.settle(e, homes[e])
        return self.steps

    def settle(self, e: Expression, home: np.dtype) -> None:
        """Resolve open nodes, as if their constants were operands; in records, by their use."""
        if e.op != "constant" and isinstance(self.found[e], type):
            self.resolve(e, self.default if e.is_condition or len(self.dtypes) == 1 else home)

    def resolve(self, e: Expression, home: np.dtype) -> None:
        values = e.args[1:] if e.op == "where" else e.args
        for a, dtype in zip(values, self.beside(values, home), strict=True):
            self.settle(a, dtype)
        if e.op == "where":
            self.settle(e.args[0], self.default)
        given = self.beside(values, home)
        if e.op == "cast":
            step = Step(e, (given[0],), np.dtype(e.value))
        elif e.op == "where":
            out = np.result_type(*given)
            step = Step(e, (np.dtype(bool), out, out), out)
        else:
            step = Step(e, *_signature(e, given))
        self.found[e] = step.writes
        self.steps.append(step)

    def beside(self, args: Sequence[Expression], default: np.dtype) -> list[np.dtype]:
        """The dtype of each argument; a constant takes that of the other arguments if it has a place in it."""
        kinds = [self.found[a] for a in args]
        strong = [k for k in kinds if isinstance(k, np.dtype)]
        home = np.result_type(*strong) if strong else default
        if home.kind == "b":  # 1 with a condition is a number, of the dtype that the numbers have here
            home = default if default.kind != "b" else self.default
        return [k if isinstance(k, np.dtype) else _place(a, k, home) for a, k in zip(args, kinds, strict=True)]


def _kind_of(value: Any) -> type:
    """The Python type that a constant counts as: among integers ∞ and 2.0 are integers."""
    return int if isinstance(value, float) and (math.isinf(value) or value.is_integer()) else type(value)


def _place(e: Expression, kind: type, home: np.dtype) -> np.dtype:
    """The dtype in which a constant, or an operation on constants, of a Python type combines with dtype `home`."""
    if kind is bool:
        return np.dtype(bool)
    if home.kind == "c" or (home.kind == "f" and kind is not complex) or (kind is int and home.kind in "iu"):
        return home
    if kind is int and home.kind == "b" and (e.op != "constant" or e.value in (0, 1, math.inf, -math.inf)):
        return home
    return np.result_type(home, kind(0))


def _kind(e: Expression, kinds: list[Any]) -> type:
    """The Python type that an operation on Python numbers has."""
    values = kinds[1:] if e.op == "where" else kinds
    if e.is_condition or e.op == "where":
        return bool if e.is_condition else next((k for k in (complex, float) if k in values), int)
    if e.op in BITWISE:
        return int  # also for ∞: the limit of an integer dtype has bits
    if e.op in ("real", "imag"):
        return float if values[0] is complex else values[0]
    out = _ufunc(e.op).resolve_dtypes((*(np.dtype(bool) if k is bool else k for k in values), None))[-1]
    return {"f": float, "c": complex}.get(out.kind, int)


def _ufunc(op: str) -> np.ufunc:
    return UFUNCS[op.replace("saturating_", "")]


def _signature(e: Expression, given: list[np.dtype]) -> tuple[tuple[np.dtype, ...], np.dtype]:
    """The dtypes that an operation reads, given those of its arguments, and the dtype that it writes."""
    if e.op not in COMPLEX and any(d.kind == "c" for d in given):
        raise TypeError(f"{e.op} has no meaning for complex numbers; apply it to np.abs(a), a.real or a.imag")
    if e.op in ("real", "imag"):
        (whole,) = given
        return (whole,), np.dtype(f"f{whole.itemsize // 2}") if whole.kind == "c" else whole
    if e.op == "power" and all(d.kind in "iub" for d in given) and e.args[1].op == "constant" and e.args[1].value < 0:
        given = [np.result_type(d, 0.0) for d in given]  # integers have no reciprocals
    *reads, out = _ufunc(e.op).resolve_dtypes((*given, None))
    if e.op == "bitwise_count":
        out = reads[0]  # NumPy would take uint8, in which a sum of counts would wrap
    if np.dtype("f2") not in given:
        # NumPy converts narrow integers to half precision, in which not every target computes.
        *reads, out = (np.dtype("f4") if d == np.dtype("f2") else d for d in (*reads, out))
    return tuple(reads), out
