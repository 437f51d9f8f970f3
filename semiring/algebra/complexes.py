"""Complex expressions rewritten over real and imaginary parts, which every target can compute."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from semiring.errors import TraceError

from .expression import Expression, apply, constant, operand, postorder, rebuild, truth
from .operations import COMPLEX

Parts = tuple[Expression, Expression | None]  # no imaginary part: a real number, or a condition

_ZERO = constant(0)
_MOST_FACTORS = 64  # the largest constant exponent


def split_complex(outputs: Sequence[Expression]) -> tuple[Expression, ...]:
    """Rewrite expressions over complex operands into real ones over twice the components.

    Component c of an operand becomes component 2 c, its real part, and 2 c + 1, its imaginary part. Each output becomes
    two outputs; a condition stays one.

    Raises
    ------
    TraceError
        If an operation has no meaning for complex numbers, such as a comparison.

    Examples
    --------
    >>> from semiring.algebra.expression import show
    >>> from semiring.algebra.tracing import trace
    >>> print(*map(show, split_complex(trace(lambda a, b: a * b, 2).outputs)), sep="; ")
    (a · b) - (a.1 · b.1); (a · b.1) + (a.1 · b)
    """
    made: dict[Expression, Parts] = {}
    constants_only: set[Expression] = set()
    for e in postorder(outputs):
        if e.op == "constant" or (e.args and constants_only.issuperset(e.args)):
            constants_only.add(e)
        made[e] = _split(e, [made[a] for a in e.args], e in constants_only)
    result: list[Expression] = []
    for e in outputs:
        real, imaginary = made[e]
        result += [real] if e.is_condition else [real, _ZERO if imaginary is None else imaginary]
    return tuple(result)


def _split(e: Expression, args: list[Parts], constants_only: bool) -> Parts:
    if e.op == "input":
        number, component = e.value
        return operand(number, 2 * component), operand(number, 2 * component + 1)
    if e.op == "constant":
        value = e.value
        return (constant(value.real), constant(value.imag)) if isinstance(value, complex) else (e, None)
    if e.op == "where":
        (condition, _), x, y = (_truth(args[0]), None), args[1], args[2]
        return _where(condition, x, y)
    # The root of a real number is real or NaN; but a constant counts as complex among complex numbers.
    complex_root = e.op in ("sqrt", "log") and constants_only
    if all(imaginary is None for _, imaginary in args) and not complex_root:
        if e.op in ("real", "conjugate"):
            return args[0]
        return (_ZERO, None) if e.op == "imag" else (rebuild(e, [real for real, _ in args]), None)
    if e.op not in COMPLEX:
        raise TraceError(
            f"{e.op} has no meaning for complex numbers; apply it to np.abs(a), a.real or a.imag"
        )
    if e.op == "cast":
        return _cast(e, args[0])
    if e.op == "power":
        return _power(e, args[0])
    if e.op.startswith("logical"):
        return apply(e.op, *map(_truth, args)), None
    return _RULES[e.op](*args)


def _imaginary(x: Parts) -> Expression:
    return _ZERO if x[1] is None else x[1]


def _both(x: Expression, y: Expression) -> Expression:
    return apply("logical_and", x, y)


def _either(x: Expression, y: Expression) -> Expression:
    return apply("logical_or", x, y)


def _where(condition: Expression, x: Parts, y: Parts) -> Parts:
    real = apply("where", condition, x[0], y[0])
    if x[1] is None and y[1] is None:
        return real, None
    return real, apply("where", condition, _imaginary(x), _imaginary(y))


def _truth(x: Parts) -> Expression:
    return truth(x[0]) if x[1] is None else _not_equal(x, (_ZERO, None))[0]


def _sum(op: str) -> Callable[[Parts, Parts], Parts]:
    """The sum or the difference."""

    def rule(x: Parts, y: Parts) -> Parts:
        real = apply(op, x[0], y[0])
        if y[1] is None:
            return real, x[1]
        if x[1] is None:
            return real, y[1] if op == "add" else apply("negative", y[1])
        return real, apply(op, x[1], y[1])

    return rule


def _product(x: Parts, y: Parts) -> Parts:
    (a, b), (c, d) = x, y
    ac = apply("multiply", a, c)
    if b is None or d is None:
        if b is None and d is None:
            return ac, None
        return ac, apply("multiply", a, d) if d is not None else apply("multiply", b, c)  # type: ignore[arg-type]
    imaginary = apply("add", apply("multiply", a, d), apply("multiply", b, c))
    return apply("subtract", ac, apply("multiply", b, d)), imaginary


def _quotient(x: Parts, y: Parts) -> Parts:
    """Divide by the larger part of the divisor first: R. L. Smith, Algorithm 116: complex division (1962)."""
    (a, _), (c, d) = x, y
    b = _imaginary(x)
    if d is None:
        return apply("divide", a, c), apply("divide", b, c)
    wide = apply("greater_equal", apply("absolute", c), apply("absolute", d))

    def choose(p: Expression, q: Expression) -> Expression:
        return apply("where", wide, p, q)

    large, small = choose(c, d), choose(d, c)
    nothing = apply("equal", large, _ZERO)  # then x / 0 is infinite or NaN, part by part
    ratio = apply("where", nothing, _ZERO, apply("divide", small, large))
    divisor = apply("add", large, apply("multiply", small, ratio))
    ar, br = apply("multiply", a, ratio), apply("multiply", b, ratio)
    real = choose(apply("add", a, br), apply("add", ar, b))
    imaginary = choose(apply("subtract", b, ar), apply("subtract", br, a))
    return apply("divide", real, divisor), apply("divide", imaginary, divisor)


def _negative(x: Parts) -> Parts:
    return apply("negative", x[0]), None if x[1] is None else apply("negative", x[1])


def _conjugate(x: Parts) -> Parts:
    return x[0], None if x[1] is None else apply("negative", x[1])


def _absolute(x: Parts) -> Parts:
    return apply("hypot", x[0], _imaginary(x)), None


def _equal(x: Parts, y: Parts) -> Parts:
    return _both(apply("equal", x[0], y[0]), apply("equal", _imaginary(x), _imaginary(y))), None


def _not_equal(x: Parts, y: Parts) -> Parts:
    return _either(apply("not_equal", x[0], y[0]), apply("not_equal", _imaginary(x), _imaginary(y))), None


def _of_parts(op: str, join: Callable[[Expression, Expression], Expression]) -> Callable[[Parts], Parts]:
    return lambda x: (join(apply(op, x[0]), apply(op, _imaginary(x))), None)


def _exp(x: Parts) -> Parts:
    """exp(a) (cos b + i sin b); real for real numbers even if exp(a) is infinite."""
    b = _imaginary(x)
    size = apply("exp", x[0])
    real = apply("equal", b, _ZERO)
    return (
        apply("where", real, size, apply("multiply", size, apply("cos", b))),
        apply("where", real, b, apply("multiply", size, apply("sin", b))),
    )


def _sqrt(x: Parts) -> Parts:
    """The root with a positive real part: with t² = (|a| + |x|) / 2 its parts are t and b / (2 t)."""
    a, b = x[0], _imaginary(x)
    half = constant(0.5)
    size = apply("add", apply("multiply", half, apply("absolute", a)), apply("multiply", half, _absolute(x)[0]))
    t = apply("sqrt", size)
    other = apply("where", apply("equal", t, _ZERO), _ZERO, apply("multiply", half, apply("divide", b, t)))
    right = apply("greater_equal", a, _ZERO)
    real = apply("where", right, t, apply("absolute", other))
    imaginary = apply("where", right, other, apply("copysign", t, b))
    endless = apply("isinf", b)
    return apply("where", endless, constant(math.inf), real), apply("where", endless, b, imaginary)


def _log(x: Parts) -> Parts:
    return apply("log", _absolute(x)[0]), apply("arctan2", _imaginary(x), x[0])


def _power(e: Expression, x: Parts) -> Parts:
    """A constant power of a complex number, by repeated squaring."""
    exponent = e.args[1].value if e.args[1].op == "constant" else None
    if not isinstance(exponent, int) or abs(exponent) > _MOST_FACTORS:
        raise TraceError(
            f"a complex number can only have whole constant powers up to {_MOST_FACTORS}; write np.exp(b * np.log(a))"
        )
    result: Parts = (constant(1), None)
    factor, left = x, abs(exponent)
    while left:
        if left & 1:
            result = factor if result == (constant(1), None) else _product(result, factor)
        left >>= 1
        factor = _product(factor, factor) if left else factor
    return _quotient((constant(1), None), result) if exponent < 0 else result


def _cast(e: Expression, x: Parts) -> Parts:
    target = np.dtype(e.value)
    if target.kind != "c":
        raise TraceError(f"a complex number cannot be converted to {target.name}; use a.real, a.imag or np.abs(a)")
    part = f"f{target.itemsize // 2}"
    return Expression("cast", (x[0],), part), Expression("cast", (_imaginary(x),), part)


_RULES: dict[str, Callable[..., Parts]] = {
    "add": _sum("add"),
    "subtract": _sum("subtract"),
    "saturating_add": _sum("add"),
    "multiply": _product,
    "saturating_multiply": _product,
    "divide": _quotient,
    "negative": _negative,
    "conjugate": _conjugate,
    "absolute": _absolute,
    "real": lambda x: (x[0], None),
    "imag": lambda x: (_imaginary(x), None),
    "equal": _equal,
    "not_equal": _not_equal,
    "isfinite": _of_parts("isfinite", _both),
    "isnan": _of_parts("isnan", _either),
    "isinf": _of_parts("isinf", _either),
    "exp": _exp,
    "sqrt": _sqrt,
    "log": _log,
}
