"""The short way into sums, products and prefixes of small arrays, before an operand is read and an answer is explained.

    S.sum(x, axis)    a small array of a dtype that carries S, no `initial` and no `out`    the general way, if not
      → one function of NumPy        if its result shows that all are elements
      → or one compiled function     once that repays (kernels/cpu/dense/folds.py, prefixes.py)
      → answer                       or None: something is not usual, and the general way finds out what

As in semiring/small.py, nothing is refused or explained here.
"""

from __future__ import annotations

from cmath import isfinite
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.kernels.build import FOLDED, SCANNED, code_of
from semiring.kernels.cpu.dense.folds import SINGLE, FoldKernel
from semiring.kernels.cpu.dense.prefixes import NARROW, PrefixKernel
from semiring.kernels.numpy.folds import TERMS, NotElements, in_blocks

from .folding import PURPOSES_OF, RUNNING_OF, Fold, fold_of
from .operation import Beyond

SLOW = 1 << 8  # halves from which compiled code is faster than NumPy
MANY = 1 << 10  # elements from which compiled prefixes are faster than NumPy's
LARGEST = 1 << 18  # elements: more are worth two threads,
LARGEST_PREFIXES = 1 << 17  # and of prefixes
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
    if not is_usual(S, dtype):
        return _declined
    fold = fold_of(S, op, dtype)
    compiled = None if fold.compiled is None else Compiled(fold, fold.compiled)
    if fold.whole is not None:
        return Integers(fold, compiled)
    if fold.is_widened and not fold.selects:
        return Halves(fold, compiled, way_of(S, op, SINGLE))
    if fold.ordinary is not None:
        return Ordinary(fold.ordinary, op == "add" and fold.takes_all, compiled)
    if fold.selects and fold.takes_all:
        return Selected(fold.ufunc, dtype.kind == "f", compiled if dtype == np.float16 else None)
    return compiled or _declined


def running_way_of(S: Semiring, op: str, dtype: np.dtype) -> Prefixes:
    """What computes prefixes of small arrays of a dtype."""
    if not is_usual(S, dtype):
        return _declined
    fold = fold_of(S, op, dtype)
    if fold.whole is not None:
        return IntegerPrefixes(fold)
    if fold.selects and fold.takes_all:
        return SelectedPrefixes(fold.ufunc, dtype.kind == "f")
    compiled = None if fold.running is None else CompiledPrefixes(fold)
    if fold.ordinary is not None and dtype != np.float16:
        return OrdinaryPrefixes(fold.ordinary, op == "add" and fold.takes_all, compiled)
    return compiled or _declined


def is_usual(S: Semiring, dtype: np.dtype) -> bool:
    """Whether an answer is of the dtype of the elements, and these are read as they are."""
    if S.traced is None or dtype.kind not in "biufc" or not dtype.isnative or (S.lift and S.lift.takes(dtype)):
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
    compiled : Compiled, optional
        What is faster for more than a few elements.
    """

    def __init__(self, ufunc: Any, floats: bool, compiled: Compiled | None):
        self._floats, self._compiled = floats, compiled
        self._reduce: Any = ufunc.reduce

    def __call__(self, x: np.ndarray, axis: Axes, keepdims: bool) -> Any:
        if self._compiled is not None and x.size >= SLOW:
            return self._compiled(x, axis, keepdims)
        found = self._reduce(x, axis, None, None, keepdims)
        one = self._reduce(found, None) if self._floats and found.ndim else found
        return None if self._floats and one != one else found


class SelectedPrefixes:
    """The prefixes of such a function; parameters as for `Selected`."""

    def __init__(self, ufunc: Any, floats: bool):
        self._floats = floats
        self._accumulate: Any = ufunc.accumulate

    def __call__(self, x: np.ndarray, axis: int) -> Any:
        found = self._accumulate(x, axis)
        if self._floats:
            last = found[(slice(None),) * axis + (-1,)]  # NaN stays to the end
            one = np.minimum.reduce(last, None) if last.ndim else last
            if one != one:
                return None
        return np.ascontiguousarray(found)


class Ordinary:
    """The sum or product of floats, if it is finite, or for sums over all numbers not NaN: then all are elements.

    Parameters
    ----------
    ufunc : numpy.ufunc
    takes_all : bool
        Whether infinities are elements, and are added as numbers are.
    compiled : Compiled, optional
        What serves the rest.
    """

    def __init__(self, ufunc: Any, takes_all: bool, compiled: Compiled | None):
        self._all, self._compiled, self._adds = takes_all, compiled, ufunc is np.add
        self._ufunc: Any = ufunc
        self._reduce: Callable[..., Any] = ufunc.reduce

    def __call__(self, x: np.ndarray, axis: Axes, keepdims: bool) -> Any:
        last = x.ndim - 1
        if isinstance(axis, tuple) and axis == tuple(range(axis[0], x.ndim)) and x.flags.c_contiguous:
            total = self(x.reshape(*x.shape[: axis[0]], -1), -1, keepdims)
            return total.reshape(*x.shape[: axis[0]], *(1,) * len(axis)) if keepdims and total is not None else total
        pairs = self._adds and (x.ndim == 1 or (x.flags.c_contiguous and (axis is None or axis in (-1, last))))
        way = self._reduce
        if not pairs and self._terms(x, axis) > TERMS:  # NumPy takes one by one here
            if self._compiled is not None or not isinstance(axis, int):
                return None if self._compiled is None else self._compiled(x, axis, keepdims)
            way = self._by_blocks
        with np.errstate(all="ignore"):
            found = way(x, axis, None, None, keepdims)
            one = found if not found.ndim else np.add.reduce(found, None)  # not finite if one of them is not
        if one == one if self._all else isfinite(one):
            return found
        return None if self._compiled is None else self._compiled(x, axis, keepdims)

    def _by_blocks(self, x: np.ndarray, axis: int, _dtype: None, _out: None, keepdims: bool) -> Any:
        found = in_blocks(self._ufunc, x, (axis % x.ndim,))
        return found if keepdims else found.squeeze(axis)[()]

    @staticmethod
    def _terms(x: np.ndarray, axis: Axes) -> int:
        return x.size if axis is None else prod(x.shape[a] for a in (axis if isinstance(axis, tuple) else (axis,)))


class Halves:
    """Halves, in single precision.

    Parameters
    ----------
    fold : Fold
    compiled : Compiled, optional
        What is faster for more than a few elements.
    single : callable
        What computes these in single precision.
    """

    def __init__(self, fold: Fold, compiled: Compiled | None, single: Short):
        self._fold, self._compiled, self._single = fold, compiled or _declined, single
        self._is_there: Callable[[], bool] = (lambda: False) if compiled is None else compiled.is_there

    def __call__(self, x: np.ndarray, axis: Axes, keepdims: bool) -> Any:
        if x.size >= SLOW and (found := self._compiled(x, axis, keepdims)) is not None:
            return found
        if x.size > FEW and self._is_there():  # the general way converts each half once
            return None
        found = self._single(x.astype(SINGLE), axis, keepdims)
        return self._compiled(x, axis, keepdims) if found is None else self._fold.narrowed(found)


class OrdinaryPrefixes:
    """The prefixes of a few terms; parameters as for `Ordinary`."""

    def __init__(self, ufunc: Any, takes_all: bool, compiled: CompiledPrefixes | None):
        self._all, self._compiled = takes_all, compiled
        self._accumulate: Any = ufunc.accumulate

    def __call__(self, x: np.ndarray, axis: int) -> Any:
        if self._compiled is not None and x.size > MANY:
            found = self._compiled(x, axis)
            if found is not None or x.size > FEW:  # the general way has two threads
                return found
        if x.shape[axis] <= TERMS:
            with np.errstate(all="ignore"):
                found = self._accumulate(x, axis)
                last = found[(slice(None),) * axis + (-1,)]  # what is not finite stays so to the end
                one = np.add.reduce(last, None) if last.ndim else last
            if one == one if self._all else isfinite(one):
                return np.ascontiguousarray(found)
        return None if self._compiled is None or x.size > MANY else self._compiled(x, axis)


class Integers:
    """Ordinary sums or products of integers, if these are far from the limits of their dtype.

    Parameters
    ----------
    fold : Fold
    compiled : Compiled, optional
        What is faster.
    """

    def __init__(self, fold: Fold, compiled: Compiled | None):
        self._fold, self._compiled = fold, compiled
        first, last = fold.interval or (0, -1)
        self._most = min(last, int(np.iinfo(fold.dtype).max) - 1) if first <= 0 and fold.whole is np.add else -1
        self._unsigned = np.dtype(f"u{fold.dtype.itemsize}")

    def __call__(self, x: np.ndarray, axis: Axes, keepdims: bool) -> Any:
        if axis is None and x.size <= FEW and x.flags.c_contiguous:
            bits = x.view(self._unsigned)
            largest = bits.item(bits.argmax())  # of negative numbers it is beyond all others
            if largest <= self._most and largest * x.size <= self._most:  # so are all sums
                return np.add.reduce(x, None, x.dtype, None, keepdims)  # type: ignore[call-overload]
        try:
            if self._compiled is not None and (found := self._compiled(x, axis, keepdims, True)) is not None:
                return found if found.dtype == x.dtype else self._fold.fitted(found)  # 64 bits have room: see EXACT
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
        self._most = LARGEST if kernel.powers is None else FEW
        self._rounds = fold.dtype.kind == "f" and not fold.selects

    def is_there(self) -> bool:
        """Whether it is compiled."""
        return self._code.bought

    def __call__(self, x: np.ndarray, axis: Axes, keepdims: bool, wide: bool = False) -> Any:
        """The fold, in the dtype of x unless `wide`."""
        flags = x.flags
        if x.size > self._most or not flags.c_contiguous or not flags.aligned or not self._code.is_there(x.size):
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
        found = found.reshape(shape)[()]
        if self._rounds:  # after an overflow infinities of both signs may meet
            one = np.maximum.reduce(found, None) if found.ndim else found
            return None if one != one else found
        return found


class CompiledPrefixes:
    """Compiled prefixes of an array whose elements lie one after the other; parameters as for `Compiled`."""

    def __init__(self, fold: Fold):
        assert fold.running is not None
        self._fold, self._code = fold, _Code(fold.running.lowering, RUNNING_OF[fold.op], SCANNED)
        kernel = fold.running
        self._kernel = kernel if isinstance(kernel, PrefixKernel) and kernel.lowering.is_identity else None
        self._converts = kernel.lowering.dtype != fold.dtype  # halves are widened

    def __call__(self, x: np.ndarray, axis: int) -> Any:
        flags = x.flags
        if x.size > FEW or not self._code.is_there(x.size):
            return None
        try:
            lines, length, inner = prod(x.shape[:axis]), x.shape[axis], prod(x.shape[axis + 1 :])
            if self._kernel is not None and flags.c_contiguous and flags.aligned and (
                    inner == 1 or (lines == 1 and inner < NARROW)):
                found = self._kernel.small(self._fold.widened(x) if self._converts else x, lines, length, inner)
                found = self._fold.narrowed(found) if self._converts and found is not None else found
            else:
                found = self._fold.compiled_prefixes(x, axis)
        except NotElements:
            return None
        if found is None or found.dtype.kind not in "fc":
            return found
        one = np.maximum.reduce(found, None)  # NaN if there is one
        return None if one != one else found


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

    @property
    def bought(self) -> bool:
        """Whether it is, without asking for it."""
        return bool(self._code.bought)

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
