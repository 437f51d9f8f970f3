"""The effect of rounding on weights: a float is known to a unit or so in its last place, and no better.

A cycle of weight one among rounded weights (p_i / p_j, or p_i − p_j) comes out slightly better than one as often as
not. So a cycle counts as improving only if it still improves after each weight is worsened by its rounding error. Whole
numbers are treated as exact, and so is everything that is not a float. In records, the components in which the weight
of the cycle equals one are exact ties: only the others are worsened, and the first of them decides by the algebra's own
order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .elements import choose, full
from .evaluate import tuple_function
from .expression import Expression, postorder

if TYPE_CHECKING:
    from .arithmetic import Arithmetic
    from .semiring import Semiring

KNOWN = 2  # machine epsilons of uncertainty in a weight: one rounding is half of one, and few weights had only one
SUMS, PRODUCTS = ("add", "saturating_add"), ("multiply", "saturating_multiply")  # equal on floats
FEW_ELEMENTS = 8  # the most elements that are multiplied one by one
CHUNK = 1 << 14  # elements per pass, which stay in the cache
WHOLE = 1 / 64  # whole numbers are exact up to this over the machine epsilon; beyond it, rounded ones may be whole
# Operations with the same value on fractions as in mathematics.
EXACT = frozenset(
    "add subtract multiply divide negative absolute minimum maximum where cast less less_equal greater greater_equal "
    "equal not_equal logical_and logical_or logical_xor logical_not isnan isinf isfinite saturating_add "
    "saturating_multiply".split()
)


def rounds(values: np.ndarray) -> bool:
    """Whether there are floats among the elements."""
    dtype = values.dtype
    if dtype.names:
        return any(dtype[f].kind == "f" for f in dtype.names)
    return dtype.kind == "f" or (dtype.kind == "O" and any(isinstance(v, (float, np.floating)) for v in values.flat))


def precision(values: np.ndarray) -> float:
    """The machine epsilon of the floats in the elements, the largest of several."""
    dtype = values.dtype
    parts = [dtype[f] for f in dtype.names] if dtype.names else [dtype]
    return max((float(np.finfo(d).eps) for d in parts if d.kind == "f"), default=float(np.finfo(float).eps))


def worse(
    S: Arithmetic, values: np.ndarray, epsilons: float = KNOWN, *, whole: bool = True,
    among: Collection[str] | None = None,
) -> np.ndarray:
    """Worsen each element by its rounding error.

    Parameters
    ----------
    S : Arithmetic
        In the elements' dtype, with a selective ⊕.
    values : ndarray
    epsilons : float
        The error in machine epsilons of each number's size.
    whole : bool
        Treat whole numbers as exact.
    among : collection of str, optional
        The fields of records that are worsened. Default: all.

    Examples
    --------
    >>> import semiring as sr
    >>> loss = worse(sr.min_plus.over("f8"), np.array([-0.1, 3.0, np.inf]))
    >>> bool(loss[0] > -0.1), loss[1:].tolist()
    (True, [3.0, inf])
    """
    result = np.array(values)
    for field in values.dtype.names or (None,):
        if among is not None and field is not None and field not in among:
            continue
        for sign in (1, -1):
            moved = result.copy()
            if field is None:
                moved = _moved(result, sign * epsilons, whole)
            else:
                moved[field] = _moved(result[field], sign * epsilons, whole)
            result = choose((S.add(result, moved) == result) & S.contains(moved), moved, result)
    return result


def knows_tolerance(S: Semiring) -> bool:
    """Whether ⊕ selects and ⊗ is + or × of numbers, so that one can say by how much a cycle is better than one."""
    return S.traced is not None and not S.fields and S.selective and S.traced.raw_mul.is_plain(*SUMS, *PRODUCTS)


def is_relative(S: Semiring) -> bool:
    """Whether a tolerance is relative to a weight: if ⊗ is ×."""
    return S.traced is not None and S.traced.raw_mul.is_plain(*PRODUCTS)


def worse_by(S: Arithmetic, values: np.ndarray, tol: float, relative: bool) -> np.ndarray:
    """Worsen each float by a tolerance; infinite numbers stay, and so do those that would leave the carrier.

    Parameters
    ----------
    S : Arithmetic
        In the elements' dtype, which has floats, with a selective ⊕.
    values : ndarray
    tol : float
        The amount to add or subtract, or the factor (minus 1) by which a number grows or shrinks.
    relative : bool
        Whether `tol` is a factor.

    Examples
    --------
    >>> import semiring as sr
    >>> worse_by(sr.min_plus.over("f8"), np.array([-0.5, np.inf]), 0.25, False)
    array([-0.25,   inf])
    >>> worse_by(sr.max_times.over("f8"), np.array([3.0, 0.0]), 0.5, True)
    array([2., 0.])
    """
    amount = values.dtype.type(tol)
    with np.errstate(all="ignore"):
        ways = (values * (1 + amount), values / (1 + amount)) if relative else (values + amount, values - amount)
    result = np.array(values)
    for moved in ways:
        fits = (S.add(values, moved) == values) & S.contains(moved) & np.isfinite(moved)
        result = choose(fits, moved, result)
    return result


def _moved(values: np.ndarray, epsilons: float, whole: bool) -> np.ndarray:
    """Move floats up, or down; infinite and exact numbers stay."""
    if values.dtype.kind == "O":
        return np.asarray(np.frompyfunc(lambda v: _moved_number(v, epsilons, whole), 1, 1)(values), object)
    if values.dtype.kind != "f":
        return values
    eps, size = np.finfo(values.dtype).eps, np.abs(values)
    with np.errstate(all="ignore"):
        step = np.maximum((abs(epsilons) * eps) * size, np.spacing(size))
        moved = values + np.sign(epsilons).astype(values.dtype) * step
        stays = ~np.isfinite(moved)
        if whole:
            stays |= (np.rint(values) == values) & (size <= WHOLE / eps)
    return np.where(stays, values, moved)


def _moved_number(value: Any, epsilons: float, whole: bool) -> Any:
    if not isinstance(value, (float, np.floating)):
        return value
    return type(value)(_moved(np.array([value]), epsilons, whole)[0])


@dataclass(frozen=True)
class OverFractions:
    """An algebra on fractions, on which its operations are exact; records are tuples of fractions."""

    zero: Any
    one: Any
    add: Callable[[Any, Any], Any]
    mul: Callable[[Any, Any], Any]

    def elements(self, T: Arithmetic, values: np.ndarray) -> np.ndarray | None:
        """Elements as fractions; None if there is something that is not a number."""
        if not values.dtype.names:
            return fractions(values)
        parts = zip(T.split(values), self.zero, self.one, strict=True)
        columns = [_fractions_of_part(part, (zero, one)) for part, zero, one in parts]
        if any(c is None for c in columns):
            return None
        return np.asarray(np.frompyfunc(lambda *c: c, len(columns), 1)(*columns), object)


def over_fractions(S: Semiring) -> OverFractions | None:
    """The algebra on fractions, or None if its operations on fractions do not give fractions."""
    traced = S.traced
    if traced is None or not all(map(_is_exact, postorder((*traced.add.outputs, *traced.raw_mul.outputs)))):
        return None
    if not S.fields:
        on_objects = S.over(object)
        return OverFractions(_fraction(S.zero), _fraction(S.one), on_objects.add, on_objects.mul)
    zero, one = (tuple(map(_fraction, S.components_of(e))) for e in (S.zero, S.one))
    add, mul = tuple_function(traced.add), tuple_function(traced.raw_mul)

    def absorbing(a: Any, b: Any) -> Any:
        return zero if a == zero or b == zero else mul(a, b)

    return OverFractions(zero, one, np.frompyfunc(add, 2, 1), np.frompyfunc(absorbing, 2, 1))


def _is_exact(e: Expression) -> bool:
    if e.op == "constant":
        return not (isinstance(e.value, complex) or (isinstance(e.value, float) and np.isfinite(e.value)))
    return e.op == "input" or e.op in EXACT


def fractions(values: np.ndarray) -> np.ndarray | None:
    """Finite numbers as fractions; None if there is something that is not a number."""
    try:
        return np.asarray(np.frompyfunc(_fraction, 1, 1)(values.astype(object)), object)
    except TypeError:
        return None


def _fractions_of_part(part: np.ndarray, neutral: tuple[Any, Any]) -> np.ndarray | None:
    """A component of records as fractions; limits of integers are infinities if zero or one is infinite."""
    found = fractions(part)
    if found is not None and part.dtype.kind in "iu":
        limits = np.iinfo(part.dtype)
        for infinity, limit in ((np.inf, limits.max), (-np.inf, limits.min)):
            if infinity in neutral:
                found[part == limit] = infinity
    return found


def in_longer_floats(values: np.ndarray) -> np.ndarray:
    """Floats in double or higher precision; their rounding does not matter here."""
    names = values.dtype.names
    if names:
        return values.astype(np.dtype([(f, _longer(values.dtype[f])) for f in names], align=True))
    return values.astype(_longer(values.dtype))


def _longer(dtype: np.dtype) -> np.dtype:
    if dtype.kind != "f":
        return dtype
    return np.dtype(np.longdouble if dtype.itemsize == 8 else np.float64)


def _fraction(value: Any) -> Any:
    if isinstance(value, (float, np.floating)):
        return Fraction(*value.as_integer_ratio()) if np.isfinite(value) else float(value)
    return Fraction(value)


def is_plain_sum(S: Any, dtype: np.dtype) -> bool:
    """Whether ⊗ of floats is their sum, rounded to the same dtype."""
    traced = getattr(getattr(S, "semiring", None), "traced", None)
    return traced is not None and dtype in (np.float32, np.float64) and bool(traced.raw_mul.is_plain("add"))


def along(S: Any, weights: np.ndarray, epsilons: float = 0) -> Any:
    """The ⊗ of some elements; with `epsilons`, each element and each product is worsened by as much.

    Parameters
    ----------
    S : Arithmetic or OverFractions
    weights : ndarray, shape (k,)
    epsilons : float
    """
    total = weights[:1]
    if not epsilons and len(weights) > FEW_ELEMENTS and is_plain_sum(S, weights.dtype):
        with np.errstate(all="ignore"):
            found = np.add.accumulate(weights)[-1]  # in order, as below
        if found == found:  # otherwise zero absorbs an infinity
            return found
    if epsilons:
        total = worse(S, total, epsilons, whole=False)
    for i in range(1, len(weights)):
        a = weights[i : i + 1]
        if epsilons:
            a = worse(S, a, epsilons, whole=False)
        total = np.asarray(S.mul(total, a))
        if epsilons:
            total = worse(S, total, epsilons, whole=False)
    return total[0]


def improves_beyond_rounding(S: Semiring, weights: np.ndarray, epsilons: float) -> bool:
    """Whether the ⊗ along a cycle is better than one, whatever the rounding errors of its edges' weights.

    Fractions decide if ⊗ is exact on them. Otherwise each edge and each product is worsened by so many machine
    epsilons. Components of records that equal those of one are ties, and stay ties.
    """
    T, exact = S.over(weights.dtype), over_fractions(S)
    numbers = None if exact is None else exact.elements(T, weights)
    if exact is None or numbers is None:
        weight = along(T, weights)
        if not rounds(weights) or not is_better_than_one(T, weight):
            return is_better_than_one(T, weight)
        return is_better_than_one(T, with_ties_of(weight, T.one, along(T, weights, epsilons)))
    weight = along(exact, numbers)
    if not rounds(weights) or not is_better_than_one(exact, weight):
        return is_better_than_one(exact, weight)
    names = weights.dtype.names
    among = None if not names else {f for f, w, one in zip(names, weight, exact.one, strict=True) if w != one}
    least = exact.elements(T, worse(T, weights, among=among))
    return least is not None and is_better_than_one(exact, along(exact, least))


def with_ties_of(x: Any, y: Any, moved: Any) -> Any:
    """Moved records, but with the fields of x where x and y are equal."""
    if not isinstance(moved, np.void):  # a number, perhaps a Python number
        return moved
    result = moved.copy()
    for f in result.dtype.names or ():
        result[f] = np.where(x[f] == y[f], x[f], result[f])
    return result


def is_better_than_one(S: Any, weight: Any) -> bool:
    """Whether 1 ⊕ a ≠ 1."""
    return bool(np.any(_with_one(S, weight) != S.one))


def _with_one(S: Any, weight: Any) -> Any:
    pair = np.empty(2, getattr(S, "dtype", object))
    pair[0], pair[1] = S.one, weight
    return np.asarray(S.add(pair[:1], pair[1:]))[0]


@lru_cache(1024)
def least_or_greatest(S: Semiring) -> int:
    """−1 where ⊕ is the lesser of two numbers, 1 where it is the greater, else 0."""
    add = S.traced.add if S.traced is not None and not S.fields else None
    if add is None:
        return 0
    return -1 if add.is_plain("minimum") else 1 if add.is_plain("maximum") else 0


def nothing_improves(S: Arithmetic, values: np.ndarray) -> bool:
    """Whether no element is better than one, so that no walk is better than a part of it."""
    direction = least_or_greatest(S.semiring)
    if direction and values.size and values.dtype.kind in "biuf":
        if direction < 0:
            return bool(np.minimum.reduce(values, axis=None) >= S.one)
        return bool(np.maximum.reduce(values, axis=None) <= S.one)
    values = values.reshape(-1)
    one = full(values[:CHUNK], S.one)
    parts = (values[i : i + CHUNK] for i in range(0, len(values), CHUNK))
    return all(bool(np.all(S.add(one[: len(part)], part) == one[: len(part)])) for part in parts)
