"""The short way into x ⊕ y and x ⊗ y of arrays: one function of NumPy, and a look at operands or results.

    S.add(x, y)       arrays of one dtype that carries S, or x and a Python float     the general way, if not
      → ufunc         what ⊕ or ⊗ is on ordinary elements
      → answer        or None: something is not ordinary, and the general way finds out what

As in semiring/small.py, nothing is refused or explained here. The least and the greatest number are found by `argmin`
and `argmax`, which stop at NaN, and cost a quarter of what `min` and `max` do.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from semiring.algebra.given import MOST_AXES
from semiring.algebra.semiring import Semiring

from .folding import fold_of
from .operation import Operation
from .short import is_usual

KEPT = 1024  # algebras, operations and dtypes that are known at once
FLOAT = np.dtype(float)
Bounds = tuple[Any, Any]  # both inclusive
Way = Callable[[Any, Any], Any]
_WAYS: dict[tuple[Semiring, str, np.dtype], Way] = {}
ndarray = np.ndarray


def pairwise(S: Semiring, op: str, x: np.ndarray, y: Any) -> Any:
    """x ⊕ y or x ⊗ y, or None for the general way."""
    dtype = x.dtype
    if type(y) is ndarray:
        if y.dtype != dtype or not y.size or y.ndim > MOST_AXES:
            return None
    elif type(y) is not float or dtype != FLOAT:
        return None
    way = _WAYS.get((S, op, dtype))
    if way is None:
        if len(_WAYS) >= KEPT:
            _WAYS.clear()
        way = _WAYS[S, op, dtype] = way_of(S, op, dtype)
    if not x.size or x.ndim > MOST_AXES:
        return None
    try:
        return way(x, y)
    except ValueError:  # shapes that do not fit
        return None


def way_of(S: Semiring, op: str, dtype: np.dtype) -> Way:
    """What computes arrays of a dtype."""
    if not is_usual(S, dtype) or dtype.kind == "c":
        return _declined
    about = fold_of(S, op, dtype)
    ufunc = _ufunc(about)
    if ufunc is None:
        return _declined
    compute: Way = ufunc if about.selects or dtype.kind != "f" else _silent(ufunc)
    if op == "mul" and dtype.kind == "f" and ufunc is np.multiply and about.arithmetic.zero == 0:
        compute = _absorbing(compute, dtype)
    if about.takes_all and about.selects:
        return Told(compute, False) if dtype.kind == "f" else compute
    if dtype.kind == "f" and (about.takes_all or about.all_finite) and _absorbs(about, ufunc):
        return Told(compute, not about.takes_all)
    within = _bounds(about, ufunc)
    return _declined if within is None else Within(compute, *within)


def _declined(x: Any, y: Any) -> None:
    """What has no short way."""


def _ufunc(about: Operation) -> np.ufunc | None:
    """What ⊕ or ⊗ is on finite elements, as a function of NumPy; None if it is not one."""
    found, S, dtype = about.whole or about.ufunc, about.algebra, about.dtype
    if about.selects or dtype.kind != "f":
        return found
    if S.traced is None or S.working(dtype) != dtype:
        return None
    traced = S.traced.add if about.op == "add" else S.traced.raw_mul
    names = {np.add: ("add",), np.multiply: ("multiply", "saturating_multiply"), np.logaddexp: ("logaddexp",)}
    return next((ufunc for ufunc, own in names.items() if traced.is_plain(*own)), None)


def _silent(ufunc: np.ufunc) -> Way:
    """A function of NumPy that may overflow."""

    def compute(x: Any, y: Any) -> Any:
        with np.errstate(all="ignore"):
            return ufunc(x, y)

    return compute


def _absorbing(compute: Way, dtype: np.dtype) -> Way:
    """Ordinary products, where those with zero are 0 and not −0, whose bits are those of the least integer."""
    bits = np.dtype(f"i{dtype.itemsize}")
    negative_zero = int(np.iinfo(bits).min)

    def product(x: Any, y: Any) -> Any:
        found = compute(x, y)
        numbers = found.view(bits)
        if numbers.item(numbers.argmin()) != negative_zero:
            return found
        return np.where((x == 0) | (y == 0), dtype.type(0), found)[()]  # a scalar of scalars, as `found` is

    return product


def _absorbs(about: Operation, ufunc: np.ufunc) -> bool:
    """Whether an ordinary product with zero is zero, or NaN."""
    zero = about.arithmetic.zero
    return bool(about.op == "add" or (zero == 0 if ufunc is np.multiply else ufunc is np.add and np.isinf(zero)))


def _bounds(about: Operation, ufunc: np.ufunc) -> Bounds | None:
    """Between which numbers the function is the operation, and all are elements; None if that is not known."""
    dtype, zero = about.dtype, about.arithmetic.zero
    if about.interval is None:
        return None
    first, last = about.interval
    if about.selects:
        return first, last
    if dtype.kind != "f":
        bits = 8 * dtype.itemsize
        room = (1 << bits - 2 if ufunc is np.add else 1 << bits // 2 - 1) - 1  # so that no limit is reached
        return max(first, -room), min(last, room)
    if _absorbs(about, ufunc):
        if about.op == "mul":  # zero may not meet what makes it NaN
            most = float(np.finfo(dtype).max)
            first, last = max(first, -most) if zero >= 0 else first, min(last, most) if zero <= 0 else last
        return first, last
    return (first, last) if ufunc is np.multiply and zero == inf and first > 0 else None


class Told:
    """A function of NumPy on floats whose result tells whether they are elements, and it is right.

    Parameters
    ----------
    compute : callable
        Its result is NaN if an operand is, or if infinities meet.
    finite : bool
        Whether only finite numbers are elements.
    """

    def __init__(self, compute: Way, finite: bool):
        self._compute, self._finite = compute, finite

    def __call__(self, x: Any, y: Any) -> Any:
        found = self._compute(x, y)
        low = found.item(found.argmin())
        if self._finite and not (low > -inf and found.item(found.argmax()) < inf):
            return None
        return found if low == low else None


class Within:
    """A function of NumPy on numbers within bounds.

    Parameters
    ----------
    compute : callable
    least, most : number
        Inclusive.
    """

    def __init__(self, compute: Way, least: Any, most: Any):
        self._compute, self._least, self._most = compute, least, most

    def __call__(self, x: Any, y: Any) -> Any:
        low, high = np.minimum(x, y), np.maximum(x, y)  # NaN if there is one
        if not (low.item(low.argmin()) >= self._least and high.item(high.argmax()) <= self._most):
            return None
        return self._compute(x, y)
