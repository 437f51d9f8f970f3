"""Which products and sums of floats are one instruction, x · y + z rounded once, and where that may be."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from semiring.algebra.expression import Expression, apply, operand, postorder, rebuild, substitute, typed
from semiring.algebra.proofs import EVERYTHING, Range, range_of, reached_range

from .base import Lowering
from .complements import bounded_range

Fuses = Callable[[Expression, Expression], bool]  # a sum, and a product in it: whether they are rounded together
SMALL = 2.0**15  # numbers up to here, rounded or not, are in the range of every float dtype
UNIT = operand(3)  # a 1 that the compiler does not know, beside the operands x, a and b of x ⊕ a ⊗ b
ADDED = frozenset("add subtract minimum maximum less less_equal greater greater_equal equal not_equal".split())


def operand_ranges(low: Lowering) -> tuple[Range, Range]:
    """The intervals of both operands of a ⊕ or a ⊗, as far as they are proven, or known of the data."""
    if low.within is not None:
        return low.within, low.within
    traced = low.algebra.traced
    if traced is None or low.dtype.kind != "f" or len(low.components) > 1:
        return EVERYTHING, EVERYTHING
    inside = bounded_range(low) or reached_range(traced)
    return inside, inside


def hides_no_infinity(inputs: tuple[Range, ...], total: Expression, product: Expression) -> bool:
    """Whether a product may be added before it is rounded: it is never an infinity opposite to what it is added to.

    Rounded first it would make NaN of that, which tells that there is no result; unrounded it leaves the other one.
    A small product is finite in any case.
    """
    other = total.args[0] if total.args[1] is product else total.args[1]
    left, right = range_of(other, inputs), range_of(product, inputs)
    if not right.nan and max(abs(right.low), abs(right.high)) <= SMALL:
        return True
    if total.op == "subtract":  # whichever of them is taken away
        return (left.low >= 0 and right.high <= 0) or (left.high <= 0 and right.low >= 0)
    return (left.low >= 0 and right.low >= 0) or (left.high <= 0 and right.high <= 0)


def sums_products(low: Lowering, mul: Expression) -> bool:
    """Whether ⊕ is the sum and ⊗ ends in a product that has one sign, so that the sum may take it in unrounded."""
    if len(low.components) > 1 or not low.add.is_plain("add") or mul.op != "multiply":
        return False
    if low.components[0].kind != "f":
        return True
    found = range_of(mul, operand_ranges(low))
    return found.low >= 0 or found.high <= 0


def fuses_in_step(low: Lowering, mul: Expression) -> Fuses:
    """Which sums in x ⊕ a ⊗ b, over the operands x, a, b and `UNIT`, take in which products before they are rounded."""
    inputs = (EVERYTHING, *operand_ranges(low), Range(1, 1))
    sums = sums_products(low, mul)

    def fuses(total: Expression, product: Expression) -> bool:
        if UNIT in product.args or (sums and total.args[0] is operand(0)):
            return True
        return hides_no_infinity(inputs, total, product)

    return fuses


def whole_step(low: Lowering, mul: Expression) -> Expression | None:
    """x ⊕ a ⊗ b over the operands x, a, b and `UNIT`, where `mul` is ⊗ over a and b.

    Minima and sums compete for the same units of many CPUs, which multiply and add in others: so many sums are spelt as
    products with 1, to the bit the same, that there are as many of the ones as of the others. None where elements are
    not floats, or where what lies between ⊗ and ⊕ has another dtype.

    Examples
    --------
    >>> import semiring as sr
    >>> from semiring.kernels.lowering.general import general
    >>> squares = sr.Semiring("squares", add=np.add, mul=lambda a, b: (a - b) ** 2, zero=0, product_only=True)
    >>> for S in squares, sr.min_plus:
    ...     low = general(S, np.dtype("f4"))
    ...     print(whole_step(low, low.mul.outputs[0]))  # x, a, b and 1 are a, b, c and d
    a + ((b - c) · (b - c))
    min(a, b + (c · d))
    """
    dtype = low.components[0]
    if len(low.components) > 1 or dtype not in (np.float32, np.float64):
        return None
    steps = [step for outputs in (low.add.outputs, [mul]) for step in typed(outputs, (dtype,))]
    if any(step.writes not in (dtype, np.bool_) for step in steps):
        return None
    (term,) = substitute([mul], {operand(i): operand(i + 1) for i in range(2)})
    (total,) = substitute(low.add.outputs, {operand(1): term})
    return _balanced(total, fuses_in_step(low, mul))


def _balanced(total: Expression, fuses: Fuses) -> Expression:
    """Turn some sums into products with `UNIT`, if fewer units multiply than add or compare."""
    nodes, reads = postorder([total]), dict[Expression, frozenset[int]]()
    for e in nodes:
        own = frozenset([e.value[0]]) if e.op == "input" else frozenset[int]()
        reads[e] = own.union(*(reads[a] for a in e.args))
    inner = [e for e in nodes if len(reads[e]) > 1]  # what one operand decides is computed once for many others
    products = {e: [a for a in e.args if a.op == "multiply"] for e in inner if e.op in ("add", "subtract")}
    joined = {e for e, factors in products.items() if len(factors) == 1 and fuses(e, factors[0])}
    added = sum(e.op in ADDED and e not in joined for e in inner)
    multiplied = sum(e.op == "multiply" for e in inner)
    chosen = [e for e, factors in products.items() if not factors][: max(added - multiplied, 0) // 2]
    made: dict[Expression, Expression] = {}
    for e in nodes:
        args = [made[a] for a in e.args]
        if e in chosen:
            args[1] = apply("multiply", args[1], UNIT)
        made[e] = rebuild(e, args)
    return made[total]
