"""The short way into sums and products of small arrays, before an operand is read and an answer is explained.

    S.sum(x, axis)    a small array of a dtype that carries S, no `initial` and no `out`    the general way, if not
      → one function of NumPy        if its result shows that all are elements
      → or one compiled function     once that repays (kernels/cpu/dense/folds.py)
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
from semiring.kernels.build import FOLDED, code_of
from semiring.kernels.cpu.dense.folds import FoldKernel
from semiring.kernels.numpy.folds import TERMS, NotElements

from .folding import PURPOSES_OF, Beyond, Fold, fold_of

LARGEST = 1 << 14  # elements
ASKED = 64  # calls after which it is asked again whether compiling repays
LOST = 4e-5  # seconds that a call loses by the general way
KEPT = 1024  # algebras, operations and dtypes that are known at once

Short = Callable[[np.ndarray, int | None, bool], Any]
_WAYS: dict[tuple[Semiring, str, np.dtype], Short] = {}


def short(S: Semiring, op: str, x: np.ndarray, axis: Any, keepdims: Any) -> Any:
    """The ⊕ or ⊗ of a small array along one axis or all, or None for the general way."""
    if not (axis is None or (type(axis) is int and -x.ndim <= axis < x.ndim)) or type(keepdims) is not bool:
        return None
    way = _WAYS.get((S, op, x.dtype))
    if way is None:
        if len(_WAYS) >= KEPT:
            _WAYS.clear()
        way = _WAYS[S, op, x.dtype] = way_of(S, op, x.dtype)
    return way(x, axis, keepdims)


def way_of(S: Semiring, op: str, dtype: np.dtype) -> Short:
    """What computes small arrays of a dtype."""
    if S.traced is None or dtype.kind not in "biuf" or not dtype.isnative or (S.lift and S.lift.takes(dtype)):
        return _declined
    try:
        if S.promoted(dtype) != dtype:
            return _declined
    except SemiringError:  # which the general way explains
        return _declined
    fold = fold_of(S, op, dtype)
    if fold.whole is not None:
        return Integers(fold)
    if fold.ufunc is np.add and fold.result_tells:
        return Sums(fold.takes_all)
    if fold.ufunc is not None and fold.takes_all and dtype != np.float16:
        return Selected(fold.ufunc, dtype.kind == "f")
    return _declined if fold.compiled is None else Compiled(fold, fold.compiled)


def _declined(x: np.ndarray, axis: int | None, keepdims: bool) -> None:
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

    def __call__(self, x: np.ndarray, axis: int | None, keepdims: bool) -> Any:
        found = self._reduce(x, axis, None, None, keepdims)
        return None if self._floats and _any(found != found) else found


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

    def __call__(self, x: np.ndarray, axis: int | None, keepdims: bool) -> Any:
        adjacent = x.ndim == 1 or (x.flags.c_contiguous and (axis is None or axis in (-1, x.ndim - 1)))
        if not adjacent and (axis is None or x.shape[axis] > TERMS):  # NumPy adds one by one here
            return None
        with np.errstate(all="ignore"):
            found: Any = self._reduce(x, axis, None, None, keepdims)
        fine = found == found if self._all else np.isfinite(found)
        return found if (fine if fine.__class__ is np.bool_ else fine.all()) else None


class Integers:
    """Ordinary sums or products of integers, if these are far from the limits of their dtype.

    Parameters
    ----------
    fold : Fold
    """

    def __init__(self, fold: Fold):
        self._fold = fold

    def __call__(self, x: np.ndarray, axis: int | None, keepdims: bool) -> Any:
        axes = tuple(range(x.ndim)) if axis is None else (axis % x.ndim,)
        try:
            found = self._fold.fitted(self._fold.of_whole_numbers(x, axes))
        except (Beyond, NotElements):
            return None
        return found if keepdims else found.reshape([n for i, n in enumerate(x.shape) if i not in axes])[()]


class Compiled:
    """A compiled fold of an array whose elements lie one after the other.

    Parameters
    ----------
    fold : Fold
    kernel : FoldKernel
    """

    def __init__(self, fold: Fold, kernel: FoldKernel):
        self._kernel, self._code, self._left = kernel, code_of(kernel.lowering, PURPOSES_OF[fold.op]), 1

    def __call__(self, x: np.ndarray, axis: int | None, keepdims: bool) -> Any:
        if not self._code.bought and not self._buys(x.size):
            return None
        if not x.flags.c_contiguous or not x.flags.aligned:
            return None
        if axis is None:
            found, shape = self._kernel.small(x, 1, x.size, 1), (1,) * x.ndim if keepdims else ()
        else:
            axis %= x.ndim
            before, after = x.shape[:axis], x.shape[axis + 1 :]
            found = self._kernel.small(x, prod(before), x.shape[axis], prod(after))
            shape = (*before, 1, *after) if keepdims else before + after
        if found is None:
            return None
        if found.dtype != x.dtype:
            with np.errstate(over="ignore"):
                found = found.astype(x.dtype)
        return found.reshape(shape)[()]

    def _buys(self, size: int) -> bool:
        """Whether the code is compiled now; what the general way takes counts as spent."""
        self._code.spent += LOST + FOLDED * size
        self._left -= 1
        if self._left:
            return False
        self._left = ASKED
        return self._code.repays(0.0)


def _any(found: Any) -> bool:
    return bool(found if found.__class__ is np.bool_ else found.any())
