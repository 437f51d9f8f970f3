"""The short way into sums, products and prefixes of small arrays, before an operand is read and an answer is explained.

    S.sum(x, axis)    a small array of a dtype that carries S, no `initial` and no `out`    the general way, if not
      → one function of NumPy        if its result shows that all are elements
      → or one compiled function     once that repays (kernels/cpu/dense/folds.py, prefixes.py)
      → answer                       or None: something is not usual, and the general way finds out what

As in semiring/small.py, nothing is refused or explained here.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.kernels.build import FOLDED, SCANNED, code_of
from semiring.kernels.cpu.dense.folds import FoldKernel
from semiring.kernels.numpy.folds import TERMS, NotElements

from .folding import PURPOSES_OF, RUNNING_OF, Beyond, Fold, fold_of

LARGEST = 1 << 17  # elements: more are worth two threads
FEW = 1 << 14  # elements up to which one thread of compiled code is as fast as two
ASKED = 64  # calls after which it is asked again whether compiling repays
LOST = 4e-5  # seconds that a call loses by the general way
KEPT = 1024  # algebras, operations and dtypes that are known at once

Axes = int | tuple[int, ...] | None
Short = Callable[[np.ndarray, Axes, bool], Any]
Prefixes = Callable[[np.ndarray, int], Any]
_WAYS: dict[tuple[Semiring, str, np.dtype], Short] = {}
_RUNNING: dict[tuple[Semiring, str, np.dtype], Prefixes] = {}


def short(S: Semiring, op: str, x: np.ndarray, axis: Any, keepdims: Any) -> Any:
    """The ⊕ or ⊗ of a small array along some axes or all, or None for the general way."""
    if type(keepdims) is not bool:
        return None
    if type(axis) is tuple:
        if not all(type(a) is int and -x.ndim <= a < x.ndim for a in axis):
            return None
        axis = tuple(sorted(a % x.ndim for a in axis))
        if len(set(axis)) < len(axis) or not axis:
            return None
        axis = None if len(axis) == x.ndim else axis[0] if len(axis) == 1 else axis
    elif not (axis is None or (type(axis) is int and -x.ndim <= axis < x.ndim)):
        return None
    return _known(_WAYS, way_of, S, op, x.dtype)(x, axis, keepdims)


def short_prefixes(S: Semiring, op: str, x: np.ndarray, axis: Any) -> Any:
    """The prefixes of a small array along an axis, or of all elements; None for the general way."""
    if axis is None:
        x, axis = x.reshape(-1), 0
    elif not (type(axis) is int and -x.ndim <= axis < x.ndim):
        return None
    return _known(_RUNNING, running_way_of, S, op, x.dtype)(x, axis % x.ndim)


def _known(ways: dict[Any, Any], make: Callable[..., Any], S: Semiring, op: str, dtype: np.dtype) -> Any:
    way = ways.get((S, op, dtype))
    if way is None:
        if len(ways) >= KEPT:
            ways.clear()
        way = ways[S, op, dtype] = make(S, op, dtype)
    return way


def way_of(S: Semiring, op: str, dtype: np.dtype) -> Short:
    """What computes small arrays of a dtype."""
    if not _is_usual(S, dtype):
        return _declined
    fold = fold_of(S, op, dtype)
    if fold.whole is not None:
        return Integers(fold)
    if fold.ufunc is np.add and fold.result_tells:
        return Sums(fold.takes_all)
    if fold.ufunc is not None and fold.takes_all and dtype != np.float16:
        return Selected(fold.ufunc, dtype.kind == "f")
    return _declined if fold.compiled is None else Compiled(fold, fold.compiled)


def running_way_of(S: Semiring, op: str, dtype: np.dtype) -> Prefixes:
    """What computes prefixes of small arrays of a dtype."""
    if not _is_usual(S, dtype):
        return _declined
    fold = fold_of(S, op, dtype)
    if fold.whole is not None:
        return IntegerPrefixes(fold)
    if fold.selects and fold.takes_all and dtype != np.float16:
        return SelectedPrefixes(fold.ufunc, dtype.kind == "f")
    return _declined if fold.running is None else CompiledPrefixes(fold)


def _is_usual(S: Semiring, dtype: np.dtype) -> bool:
    """Whether an answer is of the dtype of the elements, and these are read as they are."""
    if S.traced is None or dtype.kind not in "biuf" or not dtype.isnative or (S.lift and S.lift.takes(dtype)):
        return False
    try:
        return bool(S.promoted(dtype) == dtype)
    except SemiringError:  # which the general way explains
        return False


def _declined(x: np.ndarray, axis: Axes, keepdims: bool = False) -> None:
    """What has no short way."""


class Selected:
    """A function of NumPy that selects, or combines bits; its result is NaN if an element is.

    Parameters
    ----------
    ufunc : numpy.ufunc
    floats : bool
    """

    def __init__(self, ufunc: np.ufunc, floats: bool):
        self._floats = floats
        self._reduce: Any = ufunc.reduce

    def __call__(self, x: np.ndarray, axis: Axes, keepdims: bool) -> Any:
        found = self._reduce(x, axis, None, None, keepdims)
        return None if self._floats and _any(found != found) else found


class SelectedPrefixes:
    """The prefixes of such a function; parameters as for `Selected`."""

    def __init__(self, ufunc: Any, floats: bool):
        self._floats = floats
        self._accumulate: Any = ufunc.accumulate

    def __call__(self, x: np.ndarray, axis: int) -> Any:
        found = self._accumulate(x, axis)
        return None if self._floats and (found != found).any() else np.ascontiguousarray(found)


class Sums:
    """The sum of floats; it is finite, or not NaN, if all are elements.

    Parameters
    ----------
    takes_all : bool
        Whether infinities are elements.
    """

    def __init__(self, takes_all: bool):
        self._all = takes_all
        self._reduce: Any = np.add.reduce

    def __call__(self, x: np.ndarray, axis: Axes, keepdims: bool) -> Any:
        last = x.ndim - 1
        if isinstance(axis, tuple) and axis == tuple(range(axis[0], x.ndim)) and x.flags.c_contiguous:
            total = self(x.reshape(*x.shape[: axis[0]], -1), -1, keepdims)
            return total.reshape(*x.shape[: axis[0]], *(1,) * len(axis)) if keepdims and total is not None else total
        adjacent = x.ndim == 1 or (x.flags.c_contiguous and (axis is None or axis in (-1, last)))
        if not adjacent and self._terms(x, axis) > TERMS:  # NumPy adds one by one here
            return None
        with np.errstate(all="ignore"):
            found: Any = self._reduce(x, axis, None, None, keepdims)
        fine = found == found if self._all else np.isfinite(found)
        return found if (fine if fine.__class__ is np.bool_ else fine.all()) else None


    @staticmethod
    def _terms(x: np.ndarray, axis: Axes) -> int:
        return x.size if axis is None else prod(x.shape[a] for a in (axis if isinstance(axis, tuple) else (axis,)))


class Integers:
    """Ordinary sums or products of integers, if these are far from the limits of their dtype.

    Parameters
    ----------
    fold : Fold
    """

    def __init__(self, fold: Fold):
        self._fold = fold
        self._compiled = None if fold.compiled is None else Compiled(fold, fold.compiled)

    def __call__(self, x: np.ndarray, axis: Axes, keepdims: bool) -> Any:
        try:
            if self._compiled is not None and (found := self._compiled(x, axis, keepdims, True)) is not None:
                return self._fold.fitted(found)
            axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis % x.ndim,)
            found = self._fold.fitted(self._fold.of_whole_numbers(x, axes))
        except (Beyond, NotElements):
            return None
        return found if keepdims else found.reshape([n for i, n in enumerate(x.shape) if i not in axes])[()]


class IntegerPrefixes:
    """Their prefixes; parameters as for `Integers`."""

    def __init__(self, fold: Fold):
        self._fold = fold

    def __call__(self, x: np.ndarray, axis: int) -> Any:
        try:
            return self._fold.running_whole_numbers(x, axis)
        except (Beyond, NotElements):
            return None


class Compiled:
    """A compiled fold of an array whose elements lie one after the other.

    Parameters
    ----------
    fold : Fold
    kernel : FoldKernel
    """

    def __init__(self, fold: Fold, kernel: FoldKernel):
        self._kernel, self._code = kernel, _Code(kernel.lowering, PURPOSES_OF[fold.op], FOLDED)

    def __call__(self, x: np.ndarray, axis: Axes, keepdims: bool, wide: bool = False) -> Any:
        """The fold, in the dtype of x unless `wide`."""
        if x.size > FEW and not self._kernel.whole:
            return None
        if not x.flags.c_contiguous or not x.flags.aligned or not self._code.is_there(x.size):
            return None
        if axis is None:
            found, shape = self._kernel.small(x, 1, x.size, 1), (1,) * x.ndim if keepdims else ()
        else:
            first, last = (axis[0], axis[-1]) if isinstance(axis, tuple) else (axis % x.ndim,) * 2
            if isinstance(axis, tuple) and last - first >= len(axis):
                return None
            before, within, after = x.shape[:first], x.shape[first : last + 1], x.shape[last + 1 :]
            found = self._kernel.small(x, prod(before), prod(within), prod(after))
            shape = (*before, *(1,) * len(within), *after) if keepdims else before + after
        if found is None:
            return None
        if found.dtype != x.dtype and not wide:
            with np.errstate(over="ignore"):
                found = found.astype(x.dtype)
        return found.reshape(shape)[()]


class CompiledPrefixes:
    """Compiled prefixes of an array whose elements lie one after the other; parameters as for `Compiled`."""

    def __init__(self, fold: Fold):
        assert fold.running is not None
        self._fold, self._code = fold, _Code(fold.running.lowering, RUNNING_OF[fold.op], SCANNED)

    def __call__(self, x: np.ndarray, axis: int) -> Any:
        if x.size > FEW or not self._code.is_there(x.size):
            return None
        try:
            found = self._fold.compiled_prefixes(x, axis)
        except NotElements:
            return None
        return None if found.dtype.kind == "f" and (found != found).any() else found


class _Code:
    """Whether compiled code is there; what the general way takes counts as spent.

    Parameters
    ----------
    lowering : Lowering
    purpose : str
    each : float
        Seconds that NumPy takes for an element.
    """

    def __init__(self, lowering: Any, purpose: str, each: float):
        self._code, self._each, self._left = code_of(lowering, purpose), each, 1

    def is_there(self, size: int) -> bool:
        """Whether it is, or is compiled now."""
        if self._code.bought:
            return True
        self._code.spent += LOST + self._each * size
        self._left -= 1
        if self._left:
            return False
        self._left = ASKED
        return self._code.repays(0.0)


def _any(found: Any) -> bool:
    return bool(found if found.__class__ is np.bool_ else found.any())
