"""Stars for algebras that declare none: sums of powers, if they become constant after finitely many steps.

If ⊕ is idempotent, the sum 1 ⊕ a ⊕ … ⊕ aᵏ is a* once another step leaves it unchanged; for any ⊕, once a power is 0.
Doubling takes two products per step: the first 2m powers are s ⊕ aᵐ ⊗ s, where s is the sum of the first m.
"""

from __future__ import annotations

from collections.abc import Callable
from gc import get_referents
from math import log
from time import thread_time
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from .elements import equal, full
from .expression import Expression, Traced, apply, constant, equals, operand, postorder, substitute

if TYPE_CHECKING:
    from .arithmetic import Arithmetic, Operations

DOUBLINGS = 7
POWERS = 2**DOUBLINGS  # the most powers summed in an expression
NODES = 600  # the most operations of an expression that is worth compiling
STEPS = 1000  # the most powers of a Python object that are summed
SUM_PARTS = 1 << 17  # the most parts of such a sum
PARTS = 1 << 18  # the most parts of all intermediate sums
GROWTH = 1.5  # the factor by which a sum may grow between two counts of its parts
SECONDS = 2  # of computing, after which no more powers are summed: parts of some objects cannot be counted
REMEMBERED_STARS = 64  # objects whose stars are remembered


def bounded_star(plus: Traced, one: tuple[Expression, ...]) -> tuple[Traced, Expression]:
    """1, and the condition 1 ⊕ a = 1: then 1 solves x = 1 ⊕ a ⊗ x, and is the least solution."""
    first = {operand(0, c): e for c, e in enumerate(one)}
    second = {operand(1, c): operand(0, c) for c in range(plus.width)}
    return Traced(one, 1, plus.width), equals(substitute(plus.outputs, first | second), one)


def doublings_that_reach(A: Arithmetic, elements: np.ndarray, idempotent: bool, selective: bool) -> int:
    """The doublings after which the sum is constant for all elements for which it ever is; 0 if only for 1.

    If ⊕ selects, the sum must become constant for all: the powers of single elements may also end by rounding.
    """
    one, zero = full(elements, A.one), full(elements, A.zero)
    total, power, reached, best = one, elements, equal(A.add(one, elements), one), 0
    for k in range(1, DOUBLINGS + 1):
        total, power = A.add(total, A.mul(power, total)), A.mul(power, power)
        done = equal(A.add(one, A.mul(elements, total)), total) if idempotent else equal(power, zero)
        done &= A.contains(total)
        if (done & ~reached).any():
            reached, best = reached | done, k
    return 0 if selective and not reached.all() else best


def reached_star(
    ops: Operations, zero: tuple[Any, ...], one: tuple[Any, ...], doublings: int, idempotent: bool
) -> tuple[Traced, Expression] | None:
    """The sum of 2ᵏ powers, and the condition that it is the star; None if the expression would be too long."""
    width = ops.add.width
    a = tuple(operand(0, c) for c in range(width))

    def call(traced: Traced, x: tuple[Any, ...], y: tuple[Any, ...]) -> tuple[Expression, ...]:
        values = {operand(0, c): e for c, e in enumerate(x)} | {operand(1, c): e for c, e in enumerate(y)}
        return substitute(traced.outputs, values)

    total, power = one, a
    for _ in range(doublings):
        total, power = call(ops.add, total, call(ops.mul, power, total)), call(ops.mul, power, power)
    if idempotent:
        defined = equals(call(ops.add, one, call(ops.mul, a, total)), total)
    else:
        at_once = equals(call(ops.add, one, a), one)
        total = tuple(apply("where", at_once, p, q) for p, q in zip(one, total, strict=True))
        defined = apply("logical_or", at_once, equals(power, zero))
    return (Traced(total, 1, width), defined) if len(postorder((*total, defined))) <= NODES else None


def object_star(
    add: Callable[..., Any], mul: Callable[..., Any], one: Any
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The star of a Python object, and whether the sum became constant."""

    def reach(a: Any) -> tuple[Any, bool]:
        total, left, end = one, PARTS, thread_time() + SECONDS
        size, counted, due = 1, 0, 1
        for step in range(1, STEPS + 1):
            following = add(one, mul(a, total))
            if bool(following == total):
                return total, True
            total = following
            if step == due:
                before, size = size, parts_of(total)
                rate = log(max(size / before, 1.001)) / (step - counted)
                left -= size * (step - counted)
                counted, due = step, step + max(int(log(GROWTH) / rate), 1)
            if size > SUM_PARTS or left < 0 or thread_time() > end:
                break
        return one, False

    found = remembered(reach)
    return lambda a: found(a)[0], lambda a: found(a)[1]


def declared_star(star: Callable[[Any], Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The declared star of a Python object, and whether it exists: whether it is neither None nor NaN.

    Examples
    --------
    >>> star, exists = declared_star(lambda a: 1 / (1 - a) if a != 1 else None)
    >>> star(0.5), exists(0.5), exists(1)
    (2.0, True, False)
    """
    found = remembered(star)

    def exists(a: Any) -> bool:
        result = found(a)
        return result is not None and not (isinstance(result, (float, np.floating)) and result != result)

    return found, exists


def parts_of(element: Any) -> int:
    """The number of objects in a Python object, up to `SUM_PARTS` + 1; long texts and numbers count by their length.

    Examples
    --------
    >>> parts_of(frozenset([("ab", 1)])), parts_of("x" * 800)
    (4, 101)
    """
    seen, count, waiting = {id(element)}, 0, [element]
    while waiting and count <= SUM_PARTS:
        x = waiting.pop()
        if isinstance(x, (str, bytes)):
            count += 1 + len(x) // 8
        elif isinstance(x, int):
            count += 1 + x.bit_length() // 64
        elif isinstance(x, np.ndarray):
            count += 1 + x.size
        else:
            count += 1
            if not isinstance(x, (float, type(None))):
                inner = [y for y in get_referents(x) if not isinstance(y, (type, ModuleType, FunctionType))]
                fresh = [y for y in inner if id(y) not in seen]
                seen.update(map(id, fresh))
                waiting += fresh
    return min(count, SUM_PARTS + 1)


def remembered(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Cache the results of a function of one object for the last objects."""
    known: dict[int, tuple[Any, Any]] = {}

    def call(a: Any) -> Any:
        found = known.get(id(a))  # read once: another thread may replace the entry
        if found is None or found[0] is not a:
            found = a, function(a)
            if len(known) >= REMEMBERED_STARS:
                known.clear()
            known[id(a)] = found
        return found[1]

    return call


def as_constants(components: tuple[Any, ...]) -> tuple[Expression, ...]:
    """An element as constants."""
    return tuple(map(constant, components))
