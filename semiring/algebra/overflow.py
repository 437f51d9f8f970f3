"""Sums and products of integers that leave their dtype: distinguished from ∞, which is its limit, and refused."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np

from semiring.errors import OutOfRangeError

from .expression import Expression, apply, constant, postorder, rebuild, typed

if TYPE_CHECKING:
    from .semiring import Semiring

SHOWN_BITS = 200  # of a number in a message; Python refuses to write much longer ones
_STOPPING = {"add": "saturating_add", "multiply": "saturating_multiply"}
_SUMS = frozenset({*_STOPPING, *_STOPPING.values()})


class Ends(NamedTuple):
    """The meaning of integers near the limits of their dtype.

    A result that leaves the dtype becomes a reserved number: the limit, or the number next to it if the limit stands
    for ∞. It is as large as any finite number, so that further results leave the dtype as well, unless a product with 0
    or a sum with something better drops it, as they would drop the true number.
    """

    infinite: bool  # the limits stand for ±∞
    negative: bool  # there are numbers below zero

    def reserved(self, dtype: np.dtype) -> tuple[int, ...]:
        """The numbers of a dtype that stand for results outside it."""
        limits = np.iinfo(dtype)
        low, high = int(limits.min) + self.infinite, int(limits.max) - self.infinite
        return (high, low) if self.negative else (high,)

    def finite(self, dtype: np.dtype) -> tuple[int, int]:
        """The least and the largest finite number of a dtype."""
        limits = np.iinfo(dtype)
        return int(limits.min) + (self.infinite and self.negative), int(limits.max) - self.infinite


@lru_cache(1024)
def ends(S: Semiring, dtype: np.dtype) -> tuple[Ends | None, ...]:
    """The ends of each component of an element; None if it is not an integer, or never a sum or a product.

    Sums under min or max, and least common multiples, have lowerings of their own.

    Examples
    --------
    >>> import semiring as sr
    >>> ends(sr.counting, np.dtype("i8")), ends(sr.max_min, np.dtype("i8"))
    ((Ends(infinite=True, negative=False),), (None,))
    """
    ops = S.traced
    kinds = tuple(dtype[f] for f in dtype.names) if dtype.names else (dtype,)
    if ops is None or S.is_tropical:
        return (None,) * len(kinds)
    results = [t.outputs for t in (ops.add, ops.raw_mul, ops.star)]
    found: list[Ends | None] = []
    for c, kind in enumerate(kinds):
        sums = {e.op for outputs in results for e in _reached([outputs[c]])}
        if kind.kind not in "iu" or not sums:
            found.append(None)
        elif dtype.names:
            found.append(Ends(True, kind.kind == "i"))
        else:
            negative = kind.kind == "i" and bool(S.over(dtype).contains(np.array([-1], dtype))[0])
            found.append(Ends(not sums <= set(_STOPPING) or _has_infinity(S), negative))
    return tuple(found)


def may_leave(S: Semiring, dtype: np.dtype) -> bool:
    """Whether sums and products of elements that are integers may leave their dtype.

    Examples
    --------
    >>> import semiring as sr
    >>> [may_leave(S, np.dtype("i8")) for S in (sr.min_plus, sr.counting, sr.max_min)]
    [True, True, False]
    """
    return dtype.kind in "iu" and (S.is_tropical or any(ends(S, dtype)))


def _has_infinity(S: Semiring) -> bool:
    """Whether ∞ is an element, among floats or as zero or one."""
    floats = [d for d in S.dtypes if d.kind == "f"][:1]
    among_floats = any(S.over(d).contains(np.array([math.inf], d))[0] for d in floats)
    return among_floats or bool({math.inf, -math.inf} & {S.zero, S.one})


def _reached(outputs: Sequence[Expression]) -> set[Expression]:
    """The sums and products whose values may be the result, directly or in other sums and products.

    In a branch, plain + or × is trusted: its author has made sure that it stays inside, as in
    ``np.where(a > M - b, M, a + b)``.
    """
    found: set[Expression] = set()
    seen: set[tuple[Expression, bool]] = set()
    waiting = [(e, False) for e in outputs]
    while waiting:
        e, chosen = waiting.pop()
        if (e, chosen) in seen:
            continue
        seen.add((e, chosen))
        if e.op == "where":
            waiting += [(a, True) for a in e.args[1:]]
        elif e.op in ("minimum", "maximum"):
            waiting += [(a, chosen) for a in e.args]
        elif e.op in _SUMS and not (chosen and e.op in _STOPPING):
            found.add(e)
            waiting += [(a, chosen) for a in e.args]
    return found


@lru_cache(1024)
def kept_apart(
    outputs: tuple[Expression, ...], kinds: tuple[np.dtype, ...], of: tuple[Ends | None, ...]
) -> tuple[Expression, ...]:
    """Expressions in which a sum or product that leaves its dtype is a reserved number, and never ∞.

    Parameters
    ----------
    outputs : tuple of Expression
    kinds : tuple of dtype
        The dtypes of the components in the computation.
    of : tuple of Ends or None
        The result of `ends`.

    Examples
    --------
    >>> from .evaluate import numpy_function
    >>> from .expression import operand
    >>> byte = (np.dtype("u1"),)
    >>> total = kept_apart((apply("saturating_add", operand(0), operand(1)),), byte, (Ends(True, False),))
    >>> x, y = np.array([200, 255], "u1"), np.array([100, 0], "u1")
    >>> numpy_function(total, 2, byte, byte)((x,), (y,))
    (array([254, 255], dtype=uint8),)
    """
    known = {kind: e for kind, e in zip(kinds, of, strict=True) if e is not None}
    plain = _reached(outputs)
    written = {step.node: step.writes for step in typed(outputs, kinds)}
    made: dict[Expression, Expression] = {}
    for e in postorder(outputs):
        args = [made[a] for a in e.args]
        near = known.get(written.get(e)) if e in plain or e.op in _STOPPING.values() else None  # type: ignore[arg-type]
        made[e] = rebuild(e, args) if near is None else _stopping(e.op, args, written[e], near)
    return tuple(made[e] for e in outputs)


def _stopping(op: str, args: list[Expression], dtype: np.dtype, near: Ends) -> Expression:
    """A sum or a product that saturates at the reserved numbers."""
    a, b = args
    result = apply(_STOPPING.get(op, op), a, b)
    highest, lowest = constant(math.inf), constant(-math.inf)
    if not near.negative:
        if not near.infinite:
            return result
        endless = apply("equal", apply("maximum", a, b), highest)
        return apply("where", endless, result, apply("minimum", result, constant(near.reserved(dtype)[0])))
    far = [apply("equal", x, limit) for x in args for limit in (highest, lowest)]
    at_limit = apply("logical_or", apply("logical_or", *far[:2]), apply("logical_or", *far[2:]))
    if near.infinite:
        high, low = map(constant, near.reserved(dtype))
        return apply("where", at_limit, result, apply("maximum", apply("minimum", result, high), low))
    found = apply("where", at_limit, highest, result)  # with opposite signs they might cancel, and look small again
    if not op.endswith("multiply"):
        return found
    nothing = constant(0)
    return apply("where", apply("logical_or", *(apply("equal", x, nothing) for x in args)), nothing, found)


def refuse(S: Semiring, dtype: np.dtype, value: int | None, at_least: bool = False) -> NoReturn:
    """Refuse a result that a dtype cannot hold, and name dtypes that hold it.

    Parameters
    ----------
    S : Semiring
    dtype : dtype
    value : int or None
        None if it is unknown.
    at_least : bool
        Whether the true value may be even farther from 0.

    Raises
    ------
    OutOfRangeError
        Always.
    """
    carried = {d.name for d in S.dtypes}
    sure = value is not None and not at_least
    wide = [name for name in ("int64", "uint64") if name in carried and name != dtype.name and (
        np.iinfo(name).min < int(value or 0) < np.iinfo(name).max if sure else dtype.itemsize < 8)]
    ways = [f".astype('{wide[0]}')"] if wide else [] if S.fields else [".astype(object), which is exact,"]
    ways += [".astype('float64')"] if "float64" in carried else []
    hint = f", for example with {' or '.join(ways)}" if ways else " to wider components"
    more = "" if value is None or not at_least else " or more" if value > 0 else " or less"
    if value is not None and int(value).bit_length() > SHOWN_BITS:
        value = None
    found = f"outside {dtype.name}" if value is None else f"{int(value)}{more}, which {dtype.name} cannot hold"
    raise OutOfRangeError(f"{S.name}: a result is {found}; convert the data first{hint}")
