"""The short way into small calls: `matmul` and `closure` of small arrays, before options and a task are built.

    matmul(A, B, S)   two small arrays of one dtype, no options but out=    the general way, if not
      → ufunc         compiled for S and the dtype (kernels/cpu/dense/small.py), or NumPy's functions before that repays
      → answer        or None: anything is not usual, and the general way finds out what

A product of CuPy arrays is one launch instead (kernels/cuda/dense/small.py).

A call this way costs what a call of NumPy does. It refuses nothing and explains nothing: what it does not know, and
what it finds strange while it computes, goes the general way, which reads everything anew. So there is one place where
each error is raised, and one text of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from .algebra.catalogue import catalogue
from .algebra.elements import kinds_of
from .algebra.semiring import Semiring
from .algorithms import elimination
from .algorithms.blocks import UndefinedStar
from .errors import SemiringError
from .kernels.build import code_of, kernel
from .kernels.choose import by_element
from .kernels.cpu.dense import small
from .kernels.lowering.base import Lowering
from .kernels.lowering.general import general
from .kernels.lowering.objects import python_objects
from .kernels.numpy.small import SmallArrays, by_blas
from .kernels.numpy.small import fits as numpy_fits
from .operands.examine import computes_with
from .solvers.cycles import may_diverge
from .solvers.dense.rings import cancels, is_exact
from .solvers.dense.schedules import PIVOTS

LARGEST = 4096  # elements of an operand
ASKED = 64  # calls after which it is asked again whether compiling repays
DECLINED = 5e-5  # seconds that a call loses by the general way
ON_GPU = f"{__package__}.solvers.dense.speculation"  # loaded by the first call on a GPU
KEPT = 1024  # algebras and dtypes that are known at once

ndarray, ufunc, truth = np.ndarray, np.ufunc, np.bool_
OBJECT = np.dtype(object)
NOT_PLAIN = (TypeError, AttributeError, ValueError, ArithmeticError)  # of objects


class Before:
    """What computes, or declines, until the ufunc is compiled.

    Parameters
    ----------
    verb : {"product", "closure"}
    low : Lowering
    S : Semiring

    Attributes
    ----------
    answer : callable
        The answer for operands by NumPy, or None.
    left : int
        Calls until `asked` is called instead of `answer`; each caller counts down.
    """

    def __init__(self, verb: str, low: Lowering, S: Semiring):
        self._verb, self._low, self._algebra, self._first = verb, low, S, True
        self._code = code_of(low, f"small {verb}s")
        self.answer = by_numpy(verb, low)
        self.left = 1

    def asked(self, *operands: np.ndarray) -> Any:
        """The answer, by the ufunc once that is compiled: what was computed since it was asked last counts as this."""
        self.left, calls = ASKED, 1 if self._first else ASKED
        self._first = False
        if self._code.repays(0.0):
            ways, verb = (PRODUCTS, product) if self._verb == "product" else (CLOSURES, closure)
            ways[self._algebra, self._low.dtype] = small.ufunc(self._low, self._verb)
            return verb((*operands, self._algebra), {})
        if self.answer is _declined:
            self._code.spent += DECLINED * ASKED
            return None
        began = perf_counter()
        found = self.answer(*operands)
        self._code.spent += (perf_counter() - began) * calls
        return found


def _declined(*_: np.ndarray) -> None:
    """What NumPy does not compute in a few calls."""


def by_numpy(verb: str, low: Lowering) -> Callable[..., Any]:
    """What computes products or closures with a few functions of NumPy, or declines.

    Parameters
    ----------
    verb : {"product", "closure"}
    low : Lowering
    """
    if verb == "product" and low.blas:
        return by_blas(low)
    plain = general(low.algebra, low.dtype) if low.by_element and low.by_element.bits else low
    if not numpy_fits(plain):
        return _declined
    arrays = SmallArrays(plain)
    if verb == "product":
        return arrays.product
    return arrays.closure if arrays.closes else _declined


class OfObjects:
    """What computes small arrays of Python objects, without the steps of a task; otherwise as `Before`.

    Parameters
    ----------
    S : Semiring
        As `takes_objects` says.

    Attributes
    ----------
    left : int
        As for `Before`; nothing is compiled.
    """

    left = -1

    def __init__(self, S: Semiring):
        self._T, low = S.over(object), python_objects(S, OBJECT, "")
        self._kernel, self._cancels = kernel(low), cancels(low)
        self._known: set[type] = {bool, int}  # types of objects for which the operations are defined

    def answer(self, A: np.ndarray, B: np.ndarray | None = None) -> Any:
        """A ⊗ B, or A*; None if an element is not plain."""
        if not (self._is_plain(A) and (B is None or self._is_plain(B))):
            return None
        if B is None:
            return self._closure(A)
        left, right = A if A.ndim == 2 else A[None], B if B.ndim == 2 else B[:, None]
        if left.ndim != 2 or right.ndim != 2 or left.shape[1] != len(right) or (A.ndim == 1 and B.ndim == 1):
            return None
        C = np.empty((len(left), right.shape[1]), object)
        try:
            self._kernel.multiply(C, left, right)
        except NOT_PLAIN:
            return None
        return C if A.ndim == B.ndim else C[0] if A.ndim == 1 else C[:, 0]

    def _closure(self, A: np.ndarray) -> np.ndarray | None:
        if A.ndim != 2 or A.shape[0] != A.shape[1]:
            return None
        D = A.copy()
        try:
            sound = self._kernel.close(D) < 0
        except NOT_PLAIN:
            return None
        sound = sound and not (self._cancels and not is_exact(D))
        return D if sound else None

    def solution(self, A: np.ndarray, B: np.ndarray) -> np.ndarray | None:
        """A* B, or None."""
        if A.ndim != 2 or B.ndim not in (1, 2) or not A.shape[0] == A.shape[1] == len(B):
            return None
        if not (self._is_plain(A) and self._is_plain(B)):
            return None
        D, X = A.copy(), B[:, None].copy() if B.ndim == 1 else B.copy()
        try:
            elimination.factor(D, self._kernel, PIVOTS)
            if self._cancels and not is_exact(D):
                return None
            elimination.solve(D, X, self._kernel, PIVOTS)
        except (UndefinedStar, *NOT_PLAIN):
            return None
        return X[:, 0] if B.ndim == 1 else X

    def _is_plain(self, A: np.ndarray) -> bool:
        """Whether all are elements; numbers only if they are exact."""
        T = self._T
        if T.semiring.traced is None:
            return T.takes_all(A) or bool(T.contains(A).all())
        return T.takes_all(A) and self._computes_with(A)

    def _computes_with(self, A: np.ndarray) -> bool:
        """Whether the operations are defined for all types of objects, also where zero spares one."""
        for kind in kinds_of(A) - self._known:
            if not computes_with(self._T.semiring, next(x for x in A.flat if type(x) is kind)):
                return False
            self._known.add(kind)
        return True


def takes_objects(S: Semiring, verb: str) -> bool:
    """Whether there is a short way for Python objects: to closures if no cycle is searched once pivots have stars."""
    try:
        if S.is_record or S.promoted(OBJECT) != OBJECT:
            return False
    except SemiringError:  # which the general way explains
        return False
    return verb == "product" or not (S.product_only or may_diverge(python_objects(S, OBJECT, "")))


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
    if (type(S) is not Semiring and (S := named(S)) is None) or (dtype := A.dtype) is not B.dtype:
        return None
    way: Any = PRODUCTS.get((S, dtype))
    if way.__class__ is not ufunc:
        if way is None:
            way = _begin(PRODUCTS, "product", S, dtype)
        if not way:
            return None
        way.left -= 1
        found = way.answer(A, B) if way.left else way.asked(A, B)
        return found if found is None or not options else _written(found, options["out"])
    try:
        found, strange = way(A, B)
    except ValueError:  # shapes that do not fit
        return None
    if strange if strange.__class__ is truth else strange.any():
        return None
    return _written(found, options["out"]) if options else found


def product_on_gpu(operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A ⊗ B of small CuPy arrays, or None for the general way, which the first such call takes."""
    if options or len(operands) != 3 or (found := sys.modules.get(ON_GPU)) is None:
        return None
    return found.small_product(*operands)


def closure(operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A*, or None for the general way; A is an array."""
    if options or len(operands) != 2:
        return None
    A, S = operands
    if not 0 < A.size <= LARGEST or (type(S) is not Semiring and (S := named(S)) is None):
        return None
    dtype = A.dtype
    way: Any = CLOSURES.get((S, dtype))
    if way.__class__ is not ufunc:
        if way is None:
            way = _begin(CLOSURES, "closure", S, dtype)
        if not way:
            return None
        way.left -= 1
        return way.answer(A) if way.left else way.asked(A)
    try:
        found, strange = way(A)
    except ValueError:
        return None
    return None if (strange if strange.__class__ is truth else strange.any()) else found


def solve(operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A* B of Python objects, or None for the general way; A is an array."""
    if options or len(operands) != 3:
        return None
    A, B, S = operands
    if type(B) is not ndarray or (type(S) is not Semiring and (S := named(S)) is None):
        return None
    if A.dtype is not OBJECT or B.dtype is not OBJECT or not (0 < A.size <= LARGEST and 0 < B.size <= LARGEST):
        return None
    way: Any = CLOSURES.get((S, OBJECT))
    if way is None:
        way = _begin(CLOSURES, "closure", S, OBJECT)
    return way.solution(A, B) if way else None


def named(S: Any) -> Semiring | None:
    """The algebra of the catalogue with a name, or None for the general way, which knows other spellings."""
    return catalogue.get(S.replace("-", "_")) if type(S) is str else None


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
    if len(ways) >= KEPT:
        ways.clear()
    if not S.has_zero_for_products:  # the general way refuses it
        ways[S, dtype] = False
        return False
    if dtype is OBJECT:
        ways[S, dtype] = OfObjects(S) if takes_objects(S, verb) else False
        return ways[S, dtype]
    low = form(S, dtype)
    fits = low is not None and small.fits(low)
    if fits and low is not None and verb == "closure":
        fits = small.closes(low) and not (low.inverts or low.dual or cancels(low))
    found = ways[S, dtype] = Before(verb, low, S) if fits and low is not None else False
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
