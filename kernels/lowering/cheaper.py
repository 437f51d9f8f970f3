"""Expressions over floats with the same values and fewer instructions: powers, roots and quotients as products."""

from __future__ import annotations

from functools import lru_cache, reduce
from math import frexp, isfinite

import numpy as np

from semiring.algebra.expression import Expression, Traced, apply, constant, operand, postorder, rebuild, substitute
from semiring.algebra.proofs import Range, range_of

LARGEST_POWER = 4  # whole powers up to here are products of at most two roundings more than a correctly rounded power


def cheaper(traced: Traced, dtype: np.dtype, inside: Range) -> Traced:
    """The same function of floats of a dtype, where its operands lie in a range.

    Division by a power of two is multiplication by its reciprocal, to the bit, where both are normal numbers. A power
    with a constant exponent of at most 4 that is whole, or of numbers that are not negative a half more, is a product
    of the number with itself and with its root: the square and the root to the bit, others within two units in the last
    place.

    Parameters
    ----------
    traced : Traced
    dtype : dtype
        Of all components; of another kind than floats nothing changes, nor where an operation converts.
    inside : Range
        Of the operands.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> from semiring.algebra.proofs import EVERYTHING
    >>> distances = sr.Semiring("distances", add=np.add, mul=lambda a, b: (a - b) ** 2 / 4, zero=0, product_only=True)
    >>> cheaper(distances.traced.raw_mul, np.dtype("f4"), EVERYTHING)
    Traced(outputs=(((a - b) · (a - b)) · 0.25,), arity=2, width=1)
    """
    if dtype.kind != "f" or traced.width != 1 or "cast" in traced.operations():
        return traced
    return _cheaper(traced, dtype, inside)


@lru_cache(1024)
def _cheaper(traced: Traced, dtype: np.dtype, inside: Range) -> Traced:
    made: dict[Expression, Expression] = {}
    for node in postorder(traced.outputs):
        e = rebuild(node, [made[a] for a in node.args])
        args = e.args
        if e.op in ("divide", "power") and args[1].op == "constant" and not args[0].is_condition:
            base, number = args[0], args[1].value
            inputs = (inside,) * traced.arity
            e = (_quotient(base, number, dtype) if e.op == "divide" else _power(base, number, inputs)) or e
        made[node] = e
    return Traced(tuple(made[e] for e in traced.outputs), traced.arity, traced.width)


def factors_first(mul: Traced, dtype: np.dtype) -> Traced:
    """⊗ in which (a · b) · c is (a · c) · b, where c is a power of two: a · c is one product for many b.

    The same numbers to the bit if a is 0, infinite, or no smaller than the root of the least normal number of a dtype,
    which c is not either, nor larger than 1: then a · c is exact. Only a · b could leave the range of the dtype, where
    (a · c) · b might not.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> S = sr.Semiring("products", add=np.add, mul=lambda a, b: a * b * 0.25, zero=0, product_only=True)
    >>> str(factors_first(S.traced.raw_mul, np.dtype("f4")))
    '(a · 0.25) · b'
    """
    root, a, b = np.sqrt(np.finfo(dtype).smallest_normal), operand(0), operand(1)
    product = apply("multiply", a, b)
    moved = {
        e: apply("multiply", apply("multiply", a, e.args[1]), b) for e in postorder(mul.outputs)
        if e.op == "multiply" and e.args[0] in (product, apply("multiply", b, a))
        and e.args[1].op == "constant" and _is_power_of_two(e.args[1].value) and root <= e.args[1].value <= 1
    }
    return Traced(substitute(mul.outputs, moved), mul.arity, mul.width) if moved and mul.width == 1 else mul


def _quotient(x: Expression, divisor: float, dtype: np.dtype) -> Expression | None:
    """x / divisor as a product, where the divisor is a power of two that has a reciprocal among the normal numbers."""
    if not _is_power_of_two(divisor):
        return None
    limits = np.finfo(dtype)
    is_normal = all(limits.smallest_normal <= abs(c) <= limits.max for c in (divisor, 1 / divisor))
    return apply("multiply", x, constant(1 / divisor)) if is_normal else None


def _is_power_of_two(number: float) -> bool:
    """Whether a number is a power of two, of either sign."""
    return not isinstance(number, (bool, complex)) and isfinite(number) and abs(frexp(number)[0]) == 0.5


def _power(x: Expression, exponent: float, inputs: tuple[Range, ...]) -> Expression | None:
    """x ** exponent as products of x and its root."""
    if isinstance(exponent, (bool, complex)) or not 0 < exponent <= LARGEST_POWER or 2 * exponent != int(2 * exponent):
        return None
    whole, rest = int(exponent), exponent != int(exponent)
    if rest and range_of(x, inputs).low < 0:  # of −∞ a power is +∞ or NaN, as the exponent has it
        return None
    square = apply("multiply", x, x)
    factors = [square] * (whole // 2) + [x] * (whole % 2) + [apply("sqrt", x)] * rest
    return reduce(lambda p, q: apply("multiply", p, q), factors)
