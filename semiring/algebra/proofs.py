"""Proofs from an algebra's expressions alone: flags, and products with 0 that need no test for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import laws
from .elements import choose, equal
from .evaluate import numpy_function
from .expression import Expression, Traced, operand, postorder
from .operations import COMMUTATIVE

if TYPE_CHECKING:
    from .arithmetic import Operations
    from .semiring import Semiring


# Numbers on which a star is tested: on both sides of 1, near 0, and as large as numbers of a matrix may be.
TRIED = np.array([sign * size for size in (1e-9, 0.3, 0.75, 0.999, 1.001, 1.7, 2, 13, 1e4, 1e9) for sign in (-1, 1)])

BOTTLENECK = laws.Law("⊗ takes what ⊕ leaves", "{a ⊕ b, a ⊗ b} = {a, b}", 2, lambda S, a, b: (
    S.mul(a, b), choose(equal(S.add(a, b), a), b, a)), exact=True)


def proven_flags(ops: Operations) -> frozenset[str]:
    """The flags that follow from the expressions."""
    flags = set()
    if ops.add.is_plain("minimum", "maximum", "logical_and", "logical_or", "bitwise_and", "bitwise_or", "gcd"):
        flags.add("idempotent")
    if ops.add.is_plain("minimum", "maximum"):
        flags.add("selective")
    if commutes(ops.raw_mul):
        flags.add("commutative")
    return frozenset(flags)


def commutes(mul: Traced) -> bool:
    """Whether the expression of ⊗ is symmetric in its operands."""
    numbers: dict[tuple[Any, ...], int] = {}

    def read(exchanged: bool) -> list[int]:
        known: dict[Any, int] = {}
        for e in postorder(mul.outputs):
            value = (1 - e.value[0], e.value[1]) if e.op == "input" and exchanged else e.value
            parts = [known[part] for part in e.args]
            parts = sorted(parts) if e.op in COMMUTATIVE else parts
            known[e] = numbers.setdefault((e.op, repr(value), *parts), len(numbers))
        return [known[e] for e in mul.outputs]

    return read(False) == read(True)


def is_bottleneck(S: Semiring) -> bool:
    """Whether ⊕ takes the better and ⊗ the worse of two elements, by the expressions or on random elements."""
    ops = S.traced
    if ops is None or S.product_only or not (S.selective and S.commutative):
        return False
    if ops.add.is_plain("minimum", "maximum") and ops.raw_mul.is_plain("minimum", "maximum"):
        return ops.add.outputs[0].op != ops.raw_mul.outputs[0].op
    notable, random, complete = S.elements_in(S.default_dtype)
    verdict = laws.judge(BOTTLENECK, S.over(S.default_dtype), notable, random)
    return verdict.holds and (complete or len(random) >= laws.TRUSTED_ELEMENTS)


def is_field(ops: Operations) -> bool:
    """Whether ⊕ and ⊗ are sum and product of real or complex numbers, and the star is 1 / (1 − a) for a ≠ 1.

    Then A* is the inverse of 1 − A. The star is tested on numbers, so that any spelling is recognized.
    """
    if not (ops.add.is_plain("add") and ops.raw_mul.is_plain("multiply")):
        return False
    return bool(_alike(ops.star, (TRIED,), (1 / (1 - TRIED),)))


def is_dual(ops: Operations) -> bool:
    """Whether elements are dual numbers, p + r ε with ε² = 0 and perhaps several r: then their first part is a field.

    Then A* has (1 − P)⁻¹ first and (1 − P)⁻¹ R (1 − P)⁻¹ second. The operations are tested on random numbers, where
    rational functions of low degree agree only if they are the same.
    """
    w = ops.add.width
    if w < 2 or len(ops.add.outputs) != w:
        return False
    random = np.random.default_rng(0)
    (p, *r), (q, *s) = (random.uniform(-3, 3, (w, len(TRIED))) for _ in range(2))
    p[:] = TRIED
    if not _alike(ops.add, (p, *r, q, *s), [x + y for x, y in zip((p, *r), (q, *s), strict=True)]):
        return False
    if not _alike(ops.raw_mul, (p, *r, q, *s), [p * q, *(p * y + x * q for x, y in zip(r, s, strict=True))]):
        return False
    return _alike(ops.star, (p, *r), [1 / (1 - p), *(x / (1 - p) ** 2 for x in r)])


def _alike(traced: Traced, values: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> bool:
    """Whether an operation gives the expected results on some numbers, up to rounding."""
    real, w = np.dtype(float), traced.width
    sides = [tuple(values[i : i + w]) for i in range(0, len(values), w)]
    try:
        with np.errstate(all="ignore"):
            found = numpy_function(traced.outputs, traced.arity, (real,) * w, (real,) * w)(*sides)
    except (TypeError, ValueError, ArithmeticError):
        return False
    return all(np.allclose(x, y, rtol=1e-9, atol=1e-12) for x, y in zip(found, expected, strict=True))


class Range(NamedTuple):
    """The interval of the values of an expression, and whether NaN may be among them."""

    low: float
    high: float
    nan: bool = False


EVERYTHING = Range(-math.inf, math.inf, True)


def is_dropped(ops: Operations, zero: Any) -> bool:
    """Whether 0 ⊗ a and a ⊗ 0 of floats never change a sum, even without a test for 0.

    ⊕ is min or max, and drops NaN. The products of 0 with the carrier's numbers, computed as declared, are no better
    than 0. The carrier also holds the rounded results of both operations, because its ends bound them.
    """
    if isinstance(zero, complex):
        return False
    if ops.add.is_plain("minimum"):
        return all(r.low >= zero for r in _products_with(ops, zero))
    return ops.add.is_plain("maximum") and all(r.high <= zero for r in _products_with(ops, zero))


def is_absorbed(ops: Operations, zero: Any) -> bool:
    """Whether 0 ⊗ a and a ⊗ 0 of floats, computed as declared, are 0 for all numbers that occur in the carrier."""
    if isinstance(zero, complex):
        return False
    return all(r == Range(zero, zero) for r in _products_with(ops, zero))


def reached_range(ops: Operations) -> Range:
    """The interval of the carrier's numbers, and of the results of the operations on them."""
    inside = carrier_range(ops.carrier)
    for traced in (ops.add, ops.raw_mul, ops.star):
        result = range_of(traced.outputs[0], (inside, inside))
        if result.low < inside.low or result.high > inside.high:
            inside = Range(-math.inf, math.inf)
    return inside


def _products_with(ops: Operations, zero: float) -> list[Range]:
    """The intervals of 0 ⊗ a and a ⊗ 0, computed as declared."""
    inside, nothing = reached_range(ops), Range(float(zero), float(zero))
    return [range_of(ops.raw_mul.outputs[0], pair) for pair in ((nothing, inside), (inside, nothing))]


def carrier_range(carrier: Expression) -> Range:
    """The smallest interval that a carrier's comparisons with constants allow; NaN is not an element."""
    low, high = -math.inf, math.inf
    stack = [carrier]
    while stack:
        e = stack.pop()
        if e.op == "logical_and":
            stack += e.args
        if e.op not in ("less", "less_equal", "greater", "greater_equal"):
            continue
        upwards = e.op.startswith("less")  # the larger side is on the right
        small, large = e.args if upwards else e.args[::-1]
        if small is operand(0) and large.op == "constant":
            high = min(high, float(large.value))
        elif large is operand(0) and small.op == "constant":
            low = max(low, float(small.value))
    return Range(low, high)


def range_of(e: Expression, inputs: tuple[Range, ...]) -> Range:
    """The interval of an expression's values if its operands are in given intervals.

    Ends are computed in doubles; rounding is monotone, so that they bound the rounded values too.
    """
    known: dict[Expression, Range] = {}
    for node in postorder([e]):
        if node.op == "input":
            known[node] = inputs[node.value[0]]
        elif node.op == "constant":
            value = node.value
            no_number = isinstance(value, complex) or value != value
            known[node] = EVERYTHING if no_number else Range(float(value), float(value))
        elif node.op == "multiply" and node.args[0] is node.args[1]:
            known[node] = _square(known[node.args[0]])
        else:
            rule = _RULES.get(node.op)
            known[node] = rule(*(known[a] for a in node.args)) if rule else EVERYTHING
    return known[e]


def _hull(*ranges: Range) -> Range:
    return Range(min(r.low for r in ranges), max(r.high for r in ranges), any(r.nan for r in ranges))


def _extreme(choose: Callable[..., Any]) -> Callable[[Range, Range], Range]:
    def rule(a: Range, b: Range) -> Range:
        result = Range(choose(a.low, b.low), choose(a.high, b.high))
        return _hull(result, a, b) if a.nan or b.nan else result

    return rule


def _sum(a: Range, b: Range) -> Range:
    opposite = (a.low == -math.inf and b.high == math.inf) or (a.high == math.inf and b.low == -math.inf)
    # +∞ and −∞ together are NaN: if one operand is always +∞, so is what remains of the sum.
    low = math.inf if math.inf in (a.low, b.low) else a.low + b.low
    high = -math.inf if -math.inf in (a.high, b.high) else a.high + b.high
    return Range(low, high, a.nan or b.nan or opposite)


def _negative(a: Range) -> Range:
    return Range(-a.high, -a.low, a.nan)


def _product(a: Range, b: Range) -> Range:
    def endless(r: Range) -> bool:
        return math.inf in (r.high, -r.low)

    def zero(r: Range) -> bool:
        return r.low <= 0 <= r.high

    corners = [0.0 if 0 in (x, y) else x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Range(min(corners), max(corners), a.nan or b.nan or (zero(a) and endless(b)) or (zero(b) and endless(a)))


def _quotient(a: Range, b: Range) -> Range:
    if b.low <= 0 <= b.high or math.inf in (b.high, -b.low) or b.nan:
        return EVERYTHING
    corners = [x / y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Range(min(corners), max(corners), a.nan)


def _square(a: Range) -> Range:
    size = _absolute(a)
    return Range(size.low * size.low, size.high * size.high, a.nan)


def _root(a: Range) -> Range:
    return Range(math.sqrt(max(a.low, 0.0)), math.sqrt(max(a.high, 0.0)), a.nan or a.low < 0)


def _absolute(a: Range) -> Range:
    low = 0.0 if a.low <= 0 <= a.high else min(abs(a.low), abs(a.high))
    return Range(low, max(abs(a.low), abs(a.high)), a.nan)


_RULES: dict[str, Callable[..., Range]] = {
    "minimum": _extreme(min),
    "maximum": _extreme(max),
    "add": _sum,
    "saturating_add": _sum,
    "subtract": lambda a, b: _sum(a, _negative(b)),
    "multiply": _product,
    "divide": _quotient,
    "sqrt": _root,
    "saturating_multiply": _product,
    "negative": _negative,
    "absolute": _absolute,
    "where": lambda condition, x, y: _hull(x, y),
}
