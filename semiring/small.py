"""The short way into small calls: `matmul` and `closure` of small arrays, before options and a task are built.

    matmul(A, B, S)   two small arrays of one dtype, no options but out=    the general way, if not
      → ufunc         compiled for S and the dtype (kernels/cpu/dense/small.py), or NumPy's functions before that repays
      → answer        or None: anything is not usual, and the general way finds out what

A call this way costs what a call of NumPy does. It refuses nothing and explains nothing: what it does not know, and
what it finds strange while it computes, goes the general way, which reads everything anew. So there is one place where
each error is raised, and one text of it.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from .algebra.semiring import Semiring
from .errors import SemiringError
from .kernels.build import code_of
from .kernels.choose import by_element
from .kernels.cpu.dense import small
from .kernels.lowering.base import Lowering
from .kernels.lowering.general import general
from .kernels.numpy.small import SmallArrays
from .kernels.numpy.small import fits as numpy_fits
from .solvers.dense.rings import cancels

LARGEST = 4096  # elements of an operand
ASKED = 64  # calls after which it is asked again whether compiling repays
DECLINED = 5e-5  # seconds that a call loses by the general way
KEPT = 1024  # algebras and dtypes that are known at once

ndarray, truth = np.ndarray, np.bool_


class Before:
    """What computes, or declines, until the ufunc is compiled.

    Parameters
    ----------
    verb : {"product", "closure"}
    low : Lowering
    """

    def __init__(self, verb: str, low: Lowering):
        self._verb, self._low, self._code, self._calls = verb, low, code_of(low, f"small {verb}s"), 0
        plain = general(low.algebra, low.dtype) if low.by_element and low.by_element.bits else low
        arrays = SmallArrays(plain) if numpy_fits(plain) else None
        self._by_numpy: Callable[..., Any] | None = None
        if arrays is not None and (verb == "product" or arrays.closes):
            self._by_numpy = arrays.product if verb == "product" else arrays.closure

    def bought(self) -> Any:
        """The ufunc, if it is compiled by now or that repays; else None."""
        self._calls += 1
        if self._calls % ASKED == 1 and self._code.repays(0.0):
            return small.ufunc(self._low, self._verb)
        return None

    def answer(self, *operands: np.ndarray) -> Any:
        """The answer by NumPy, or None."""
        if self._by_numpy is None:
            self._code.spent += DECLINED
            return None
        began = perf_counter()
        found = self._by_numpy(*operands)
        self._code.spent += perf_counter() - began
        return found


Ways = dict[tuple[Any, np.dtype], Any]  # a ufunc, what is `Before` it, or False where there is no short way
PRODUCTS: Ways = {}
CLOSURES: Ways = {}


def product(operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A ⊗ B, or None for the general way; A is an array."""
    if len(operands) != 3 or (options and [*options] != ["out"]):
        return None
    A, B, S = operands
    if type(B) is not ndarray or not (0 < A.size <= LARGEST and 0 < B.size <= LARGEST):
        return None
    if type(S) is not Semiring or (dtype := A.dtype) is not B.dtype:
        return None
    way: Any = PRODUCTS.get((S, dtype))
    if way.__class__ is not np.ufunc:
        if way is None:
            way = _begin(PRODUCTS, "product", S, dtype)
        if not way:
            return None
        if (ufunc := way.bought()) is None:
            found = way.answer(A, B)
            return found if found is None or not options else _written(found, options["out"])
        way = PRODUCTS[S, dtype] = ufunc
    try:
        found, strange = way(A, B)
    except ValueError:  # shapes that do not fit
        return None
    if strange if strange.__class__ is truth else strange.any():
        return None
    return _written(found, options["out"]) if options else found


def closure(operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A*, or None for the general way; A is an array."""
    if options or len(operands) != 2:
        return None
    A, S = operands
    if not 0 < A.size <= LARGEST or type(S) is not Semiring:
        return None
    dtype = A.dtype
    way: Any = CLOSURES.get((S, dtype))
    if way.__class__ is not np.ufunc:
        if way is None:
            way = _begin(CLOSURES, "closure", S, dtype)
        if not way:
            return None
        if (ufunc := way.bought()) is None:
            return way.answer(A)
        way = CLOSURES[S, dtype] = ufunc
    try:
        found, strange = way(A)
    except ValueError:
        return None
    return None if (strange if strange.__class__ is truth else strange.any()) else found


def _written(answer: Any, out: Any) -> Any:
    """The answer in `out`, or None where that cannot take it as it is; nothing was written before."""
    if out is None:
        return answer
    if type(out) is not ndarray or type(answer) is not ndarray or out.dtype is not answer.dtype:
        return None
    if out.shape != answer.shape or not out.flags.writeable:
        return None
    out[...] = answer
    return out


def _begin(ways: Ways, verb: str, S: Semiring, dtype: np.dtype) -> Any:
    """What computes at first for an algebra and a dtype; False where there is no short way."""
    low = form(S, dtype)
    fits = low is not None and small.fits(low)
    if fits and low is not None and verb == "closure":
        fits = small.closes(low) and not (low.inverts or low.dual or cancels(low))
    if len(ways) >= KEPT:
        ways.clear()
    found = ways[S, dtype] = Before(verb, low) if fits and low is not None else False
    return found


def form(S: Semiring, dtype: np.dtype) -> Lowering | None:
    """The form of small calls, which is right for all data that are not strange; None where there is none."""
    if S.traced is None or dtype.kind not in "biufc" or not dtype.isnative or (S.lift and S.lift.takes(dtype)):
        return None
    try:
        carried = S.promoted(dtype)
    except SemiringError:  # which the general way explains
        return None
    return by_element(S, dtype) if carried == dtype else None
