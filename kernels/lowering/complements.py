"""⊕ that is x + t − x t / h, such as noisy-or: a step with two roundings and two instructions.

Such a ⊕ multiplies complements: with x̄ = 1 − x / h, the complement of x ⊕ t is x̄ t̄. If ⊗ is a product p q, then

    x ⊕ p q  =  x + p (q − x q / h)

is two fused multiply-adds. Storing complements would need as many, and round what is far below h to nothing. Here the
factor q − x q / h is rounded once, relative to its own size, and so is the sum. The bound of the declared expression,
which rounds x t / h, x + t and their difference, holds all the more.

Every number has to lie in [0, h]: then so do all results, rounded or not, nothing overflows and nothing cancels.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, reduce
from math import inf, isfinite, prod

import numpy as np

from semiring.algebra.expression import Expression, Traced, apply, constant, operand, postorder, substitute
from semiring.algebra.proofs import EVERYTHING, Range, carrier_range, range_of

from .base import Lowering

Polynomial = dict[tuple[int, ...], Fraction]  # a coefficient for each product of different operands


@lru_cache(1024)
def scale_of(add: Traced) -> float:
    """The h of a ⊕ that is x + t − x t / h, however it is spelt; 0 for any other ⊕.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> noisy = sr.Semiring("noisy", add=lambda a, b: 1 - (1 - a) * (1 - b), mul=np.multiply, zero=0, product_only=True)
    >>> scale_of(noisy.traced.add)
    1.0
    """
    found = multilinear(add.outputs[0]) if add.width == len(add.outputs) == 1 else None
    if not found or {k: c for k, c in found.items() if k != (0, 1)} != {(0,): 1, (1,): 1} or found.get((0, 1), 0) >= 0:
        return 0.0
    scale = _nearest(-1 / found[0, 1])
    return scale if isfinite(scale) else 0.0


def multilinear(e: Expression) -> Polynomial | None:
    """An expression as a polynomial in which no operand has a power above 1, computed exactly; None for any other."""
    known: dict[Expression, Polynomial] = {}
    for node in postorder([e]):
        parts = [known[a] for a in node.args]
        if node.op == "input":
            found: Polynomial | None = {(node.value[0],): Fraction(1)}
        elif node.op == "constant":
            real = isinstance(node.value, (int, float)) and not isinstance(node.value, bool) and isfinite(node.value)
            found = {(): Fraction(node.value)} if real else None
        elif node.op in ("add", "subtract"):
            found = _sum(parts[0], parts[1], 1 if node.op == "add" else -1)
        elif node.op == "negative":
            found = _sum({}, parts[0], -1)
        elif node.op == "divide":
            by = parts[1].get((), 0) if len(parts[1]) == 1 else 0  # a constant, or else nothing to divide by
            found = {k: c / by for k, c in parts[0].items()} if by else None
        else:
            found = _product(*parts) if node.op == "multiply" else None
        if found is None:
            return None
        known[node] = found
    return known[e]


def _nearest(x: Fraction) -> float:
    """The nearest float, infinite beyond all of them."""
    try:
        return float(x)
    except OverflowError:
        return inf if x > 0 else -inf


def _sum(p: Polynomial, q: Polynomial, sign: int) -> Polynomial:
    total = {k: p.get(k, Fraction(0)) + sign * q.get(k, Fraction(0)) for k in p.keys() | q.keys()}
    return {k: c for k, c in total.items() if c}


def _product(p: Polynomial, q: Polynomial) -> Polynomial | None:
    if any(set(j) & set(k) for j in p for k in q):
        return None
    terms = [{tuple(sorted(j + k)): c * d} for j, c in p.items() for k, d in q.items()]
    nothing: Polynomial = {}
    return reduce(lambda x, y: _sum(x, y, 1), terms, nothing)


def bounded_range(low: Lowering) -> Range | None:
    """The carrier's interval, if it is finite and ⊕, ⊗ and star lead out of it by rounding only; else None.

    A polynomial in which no operand has a power above 1 is greatest and least at ends of the interval. `range_of` looks
    at one operation after the other, and finds only that a + b − ab of numbers in [0, 1] lies in [−1, 2].
    """
    traced, mul = low.algebra.traced, low.test_for_zero.mul if low.test_for_zero else low.mul
    inside = carrier_range(traced.carrier) if traced else EVERYTHING
    if not (isfinite(inside.low) and isfinite(inside.high)):
        return None
    outputs = [low.add.outputs[0], mul.outputs[0], *([] if low.algebra.product_only else low.star.outputs)]
    for e in outputs:
        found, terms = range_of(e, (inside, inside)), multilinear(e)
        if terms is not None:
            ends = [Fraction(inside.low), Fraction(inside.high)]
            values = [
                sum((c * prod(((p, q)[i] for i in k), start=Fraction(1)) for k, c in terms.items()), Fraction(0))
                for p in ends for q in ends
            ]
            found = Range(_nearest(min(values)), _nearest(max(values)))
        if found.nan or found.low < inside.low or found.high > inside.high:
            return None
    return inside


def complemented_step(low: Lowering, inside: Range | None = None) -> Expression | None:
    """x ⊕ a ⊗ b over the operands x, a and b in two roundings, if all numbers lie in [0, h]; else None.

    Parameters
    ----------
    low : Lowering
    inside : Range, optional
        Where the data lie; by default the carrier is asked. Every product in the result may join its sum unrounded.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> from semiring.kernels.lowering.general import general
    >>> noisy = sr.Semiring("noisy", add=lambda a, b: a + b - a * b, mul=np.multiply, zero=0, product_only=True)
    >>> print(complemented_step(general(noisy, np.dtype("f4")), Range(0, 1)))  # x, a and b are a, b and c
    a + (b · (c - (a · c)))
    """
    traced, dtype = low.algebra.traced, low.components[0]
    if traced is None or dtype not in (np.float32, np.float64) or not low.algebra.product_only:
        return None
    inside = carrier_range(traced.carrier) if inside is None else inside
    h, (term, *_) = scale_of(low.add), (low.test_for_zero.mul if low.test_for_zero else low.mul).outputs
    term = _as_product(term)
    if not h or term.op != "multiply" or inside.low < 0 or inside.high > h or "cast" in low.mul.operations():
        return None
    return _step(term, h, inside, dtype)


@lru_cache(1024)
def _step(term: Expression, h: float, inside: Range, dtype: np.dtype) -> Expression | None:
    """The step, if ⊗, the product `term`, stays in [0, h] and is 0 where an operand is."""
    zero, limits = Range(0.0, 0.0), np.finfo(dtype)
    results = [range_of(term, sides) for sides in ((inside, inside), (zero, inside), (inside, zero))]
    if not results[0].low >= 0 or results[0].high > h or any((r.low, r.high) != (0, 0) for r in results[1:]):
        return None
    p, q = _halves(term)
    sides = [range_of(e, (inside, inside)) for e in (p, q)]
    if any(r.nan or r.low < 0 or r.high >= limits.max for r in (*results, *sides)) or not limits.tiny <= 1 / h < inf:
        return None
    shifted = {operand(i): operand(i + 1) for i in range(2)}
    p, q = substitute([p, q], shifted)
    part = q if h == 1 else apply("multiply", q, constant(1 / h))
    rest = apply("subtract", q, apply("multiply", operand(0), part))
    return apply("add", operand(0), Expression("multiply", (p, rest)))


def _as_product(term: Expression) -> Expression:
    """A product that is divided by a constant as a product of which a factor is."""
    if term.op != "divide" or term.args[1].op != "constant" or (whole := _as_product(term.args[0])).op != "multiply":
        return term
    return Expression("multiply", (whole.args[0], apply("divide", whole.args[1], term.args[1])))


def _halves(term: Expression) -> tuple[Expression, Expression]:
    """The product as two factors: what depends on one operand only is one of them, and no product if that can be."""
    factors, stack = list[Expression](), [term]
    while stack:
        e = stack.pop()
        if e.op == "multiply" and len(_reads(e)) > 1:
            stack += e.args[::-1]
        else:
            factors.append(e)
    first = [e for e in factors if _reads(e) <= {0}]
    rest = [e for e in factors if not _reads(e) <= {0}]
    if not first or not rest:
        return term.args[0], term.args[1]
    p, q = (reduce(lambda x, y: apply("multiply", x, y), side) for side in (first, rest))
    return (q, p) if q.op == "multiply" else (p, q)


def _reads(e: Expression) -> set[int]:
    """The numbers of the operands in an expression."""
    return {node.value[0] for node in postorder([e]) if node.op == "input"}
