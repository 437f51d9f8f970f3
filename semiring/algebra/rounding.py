"""What rounding can explain: weights in floats are known to a unit or so in their last place, and no better.

A cycle of weight one among rounded weights (p_i / p_j, or p_i − p_j) comes out a little better than one as often as
not. So a cycle improves only if it still does when each of its edges is made worse by what is unknown of it. Whole
numbers are treated as exact, as is everything that is not a float.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from .expression import postorder
from .laws import choose, full

if TYPE_CHECKING:
    from .arithmetic import Arithmetic
    from .semiring import Semiring

KNOWN = 2  # machine epsilons up to which a weight is known: one rounding is half of one, and few weights had only one
FEW = 8  # elements that are multiplied one by one
CHUNK = 1 << 14  # elements that are looked at together: they stay in the cache
WHOLE = 1 / 64  # whole numbers are exact up to this over the machine epsilon; beyond, roundings too are often whole
# What has the same value on fractions as in mathematics.
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
    """The machine epsilon of the floats among the elements, the largest of several."""
    dtype = values.dtype
    parts = [dtype[f] for f in dtype.names] if dtype.names else [dtype]
    return max((float(np.finfo(d).eps) for d in parts if d.kind == "f"), default=float(np.finfo(float).eps))


def worse(S: Arithmetic, values: np.ndarray, epsilons: float = KNOWN, *, whole: bool = True) -> np.ndarray:
    """Each element made worse by what is unknown of it.

    Parameters
    ----------
    S : Arithmetic
        Of the elements' dtype, with a selective ⊕.
    values : ndarray
    epsilons : float
        How much that is, in machine epsilons of each number's size.
    whole : bool
        Whether whole numbers are exact.

    Examples
    --------
    >>> import semiring as sr
    >>> loss = worse(sr.min_plus.over("f8"), np.array([-0.1, 3.0, np.inf]))
    >>> bool(loss[0] > -0.1), loss[1:].tolist()
    (True, [3.0, inf])
    """
    result = np.array(values)
    for field in values.dtype.names or (None,):
        for sign in (1, -1):
            moved = result.copy()
            if field is None:
                moved = _moved(result, sign * epsilons, whole)
            else:
                moved[field] = _moved(result[field], sign * epsilons, whole)
            result = choose((S.add(result, moved) == result) & S.contains(moved), moved, result)
    return result


def worse_by(S: Arithmetic, values: np.ndarray, tol: float, relative: bool) -> np.ndarray:
    """Each float made worse by a tolerance; what is infinite, or would leave the carrier, stays.

    Parameters
    ----------
    S : Arithmetic
        Of the elements' dtype, one of floats, with a selective ⊕.
    values : ndarray
    tol : float
        What is added or taken away, or the part by which a number grows or shrinks.
    relative : bool
        Whether it is a part.

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
    """Floats moved up, or down; what is infinite, or exact, stays."""
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
    """An algebra on fractions, where its operations are exact."""

    zero: Any
    one: Any
    add: Callable[[Any, Any], Any]
    mul: Callable[[Any, Any], Any]


def over_fractions(S: Semiring) -> OverFractions | None:
    """The algebra on fractions, or None where a fraction is not what its operations make of fractions."""
    if S.traced is None or S.fields:
        return None
    for e in postorder((*S.traced.add.outputs, *S.traced.raw_mul.outputs)):
        if e.op == "constant":
            if isinstance(e.value, float) and np.isfinite(e.value):
                return None
        elif e.op != "input" and e.op not in EXACT:
            return None
    on_objects = S.over(object)
    return OverFractions(_fraction(S.zero), _fraction(S.one), on_objects.add, on_objects.mul)


def fractions(values: np.ndarray) -> np.ndarray | None:
    """Finite numbers as the fractions that they are; None where there is something that is not a number."""
    try:
        return np.asarray(np.frompyfunc(_fraction, 1, 1)(values.astype(object)), object)
    except TypeError:
        return None


def in_longer_floats(values: np.ndarray) -> np.ndarray:
    """Floats in twice the digits, or as many more as the machine has: what rounds there is no matter here."""
    if values.dtype.kind != "f":
        return values
    return values.astype(np.longdouble if values.dtype.itemsize == 8 else np.float64)


def _fraction(value: Any) -> Any:
    if isinstance(value, (float, np.floating)):
        return Fraction(*value.as_integer_ratio()) if np.isfinite(value) else float(value)
    return Fraction(value)


def is_plain_sum(S: Any, dtype: np.dtype) -> bool:
    """Whether ⊗ of floats is their sum, rounded to the same dtype."""
    traced = getattr(getattr(S, "semiring", None), "traced", None)
    return traced is not None and dtype in (np.float32, np.float64) and bool(traced.raw_mul.is_plain("add"))


def along(S: Any, weights: np.ndarray, epsilons: float = 0) -> Any:
    """The ⊗ of some elements; where `epsilons` are given each of them, and each product, is made worse by so much.

    Parameters
    ----------
    S : Arithmetic or OverFractions
    weights : ndarray, shape (k,)
    epsilons : float
    """
    total = weights[:1]
    if not epsilons and len(weights) > FEW and is_plain_sum(S, weights.dtype):
        with np.errstate(all="ignore"):
            found = np.add.accumulate(weights)[-1]  # one after the other, as below
        if found == found:  # else zero absorbs an infinity
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


def is_better_than_one(S: Any, weight: Any) -> bool:
    """Whether 1 ⊕ a ≠ 1."""
    return bool(np.any(_with_one(S, weight) != S.one))


def _with_one(S: Any, weight: Any) -> Any:
    pair = np.empty(2, getattr(S, "dtype", object))
    pair[0], pair[1] = S.one, weight
    return np.asarray(S.add(pair[:1], pair[1:]))[0]


def nothing_improves(S: Arithmetic, values: np.ndarray) -> bool:
    """Whether no element is better than one, so that no walk is better than a part of it."""
    values = values.reshape(-1)
    one = full(values[:CHUNK], S.one)
    parts = (values[i : i + CHUNK] for i in range(0, len(values), CHUNK))
    return all(bool(np.all(S.add(one[: len(part)], part) == one[: len(part)])) for part in parts)
