"""The short way into small calls: products, closures, solutions and powers, before options and a task are built.

    matmul(A, B, S)   two small arrays of one dtype, few options            the general way, if not
      → ufunc         compiled for S and the dtype (kernels/cpu/dense/small.py), or NumPy's functions before that repays
      → answer        or None: anything is not usual, and the general way finds out what

Solutions are products with a closure. Halves and other byte orders are converted first. A `Matrix` lends its array. A
small product of CuPy arrays is one launch instead (kernels/cuda/dense/small.py), and larger ones and closures of a kind
that was computed before need no plan (solvers/dense/speculation.py).

A call this way costs what a call of NumPy does. It refuses nothing and explains nothing: what it does not know, and
what it finds strange while it computes, goes the general way, which reads everything anew. So there is one place where
each error is raised, and one text of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from time import perf_counter
from typing import Any, Literal

import numpy as np

from .algebra.catalogue import catalogue
from .algebra.elements import kinds_of
from .algebra.semiring import Semiring
from .algorithms import elimination
from .algorithms.blocks import UndefinedStar
from .errors import SemiringError
from .graphs.held import Array
from .graphs.matrix import Matrix
from .graphs.names import same_names
from .kernels.build import code_of, kernel
from .kernels.choose import by_element, only_form
from .kernels.cpu.dense import small
from .kernels.lowering.base import Lowering
from .kernels.lowering.general import general
from .kernels.lowering.objects import python_objects
from .kernels.numpy import library
from .kernels.numpy.small import SmallArrays, by_blas, quiet, shows_infinities
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
OBJECT, HALF, HALF_IN = np.dtype(object), np.dtype("f2"), np.dtype("f4")
FLAGS = ".solvers.dense.derived"  # loaded by the first call that asks for them
NOT_PLAIN = (TypeError, AttributeError, ValueError, ArithmeticError)  # of objects


class Before:
    """What computes, or declines, until the ufunc is compiled.

    Parameters
    ----------
    verb : {"product", "sum", "closure"}
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
            ways, made = WAYS[self._verb], small.ufunc(self._low, self._verb)
            ways[self._algebra, self._low.dtype] = OfRecords(made, self._low.dtype) if self._low.dtype.names else made
            return computed(self._verb, self._algebra, *operands)
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
    verb : {"product", "sum", "closure"}
    low : Lowering
    """
    if verb == "sum":
        return _declined
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


class OfRecords:
    """What computes records by a ufunc of numbers of their size; otherwise as `Before`.

    Parameters
    ----------
    made : ufunc
    dtype : dtype
        Of the records.
    """

    left = -1

    def __init__(self, made: np.ufunc, dtype: np.dtype):
        self._ufunc, self._dtype, self._moved = made, dtype, small.SAME_SIZE[dtype.itemsize]

    def answer(self, *operands: np.ndarray) -> Any:
        """The answer, or None."""
        try:
            found, strange = self._ufunc(*[x.view(self._moved) for x in operands])
        except ValueError:
            return None
        if strange if strange.__class__ is truth else strange.any():
            return None
        return found.view(self._dtype) if found.__class__ is ndarray else np.asarray(found).view(self._dtype)[()]


class OfFields:
    """What closes matrices of real or complex numbers, and solves equations, by LAPACK; otherwise as `Before`.

    Parameters
    ----------
    low : Lowering
        For which `inverts` is true.
    """

    left = -1

    def __init__(self, low: Lowering):
        self._eps = float(np.finfo(low.dtype).eps)

    def answer(self, A: np.ndarray) -> np.ndarray | None:
        """A*, or None."""
        if A.ndim != 2 or A.shape[0] != A.shape[1]:
            return None
        try:
            found = library.decomposed(A)
            return None if found is None else found.closure(self._eps)
        except library.Singular:
            return None

    def solution(self, A: np.ndarray, B: np.ndarray) -> np.ndarray | None:
        """A* B, or None."""
        if A.ndim != 2 or B.ndim not in (1, 2) or not A.shape[0] == A.shape[1] == len(B):
            return None
        X = B[:, None].copy() if B.ndim == 1 else B.copy()
        try:
            found = library.decomposed(A)
            if found is None:
                return None
            found.refuse_singular(self._eps)
            if not found.solve(X):
                return None
        except library.Singular:
            return None
        return X[:, 0] if B.ndim == 1 else X


class Converted:
    """What computes arrays whose elements are converted before and after: halves, other byte orders; as `Before`.

    Parameters
    ----------
    verb : {"product", "sum", "closure"}
    S : Semiring
    dtype, inner : dtype
        Of the data, and in which they are computed.
    """

    left = -1

    def __init__(self, verb: str, S: Semiring, dtype: np.dtype, inner: np.dtype):
        self._verb, self._algebra, self._dtype, self._inner = verb, S, dtype, inner

    def answer(self, *operands: np.ndarray) -> Any:
        """The answer in the dtype of the data, or None; floats that are too large for it are infinite."""
        return self._back(computed(self._verb, self._algebra, *[x.astype(self._inner) for x in operands]))

    def solution(self, A: np.ndarray, B: np.ndarray, left: bool) -> Any:
        """A* B or B A*, or None."""
        return self._back(solve((A.astype(self._inner), B.astype(self._inner), self._algebra), {"left": left}))

    def _back(self, found: Any) -> Any:
        return None if found is None else quiet().run(found.astype, self._dtype)


def takes_objects(S: Semiring, verb: str) -> bool:
    """Whether there is a short way for Python objects: to closures if no cycle is searched once pivots have stars."""
    try:
        if S.is_record or S.promoted(OBJECT) != OBJECT:
            return False
    except SemiringError:  # which the general way explains
        return False
    return verb == "product" or not (S.product_only or may_diverge(python_objects(S, OBJECT, "")))


Short = Callable[[tuple[Any, ...], dict[str, Any]], Any]  # takes operands and options
Ways = dict[tuple[Any, np.dtype], Any]  # a ufunc, what is `Before` it, or False where there is no short way
PRODUCTS: Ways = {}
SUMS: Ways = {}
CLOSURES: Ways = {}
WAYS = {"product": PRODUCTS, "sum": SUMS, "closure": CLOSURES}


def computed(verb: str, S: Semiring, *operands: np.ndarray) -> Any:
    """What the way of a verb gives for arrays of one dtype; `product` and `closure` say the same themselves, faster."""
    ways, dtype = WAYS[verb], operands[0].dtype
    way: Any = ways.get((S, dtype))
    if way is None:
        way = _begin(verb, S, dtype)
    if not way:
        return None
    if way.__class__ is not ufunc:
        way.left -= 1
        return way.answer(*operands) if way.left else way.asked(*operands)
    try:
        found, strange = way(*operands)
    except ValueError:
        return None
    return None if (strange if strange.__class__ is truth else strange.any()) else found


def product(operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A ⊗ B, or None for the general way; A is an array."""
    if len(operands) != 3 or (options and [*options] != ["out"]):
        if len(operands) != 3 or not is_usual(options, "out", "accumulate"):
            return None
        if (C := options.get("accumulate")) is not None:
            return _sum(*operands, C, options.get("out"))
        options = {"out": options.get("out")}
    A, B, S = operands
    if type(B) is not ndarray or not (0 < A.size <= LARGEST and 0 < B.size <= LARGEST):
        return None
    if type(S) is not Semiring and (S := named(S)) is None:
        return None
    if (dtype := A.dtype) is not B.dtype and (dtype.kind not in "fciuV" or dtype != B.dtype):
        return None
    way: Any = PRODUCTS.get((S, dtype))
    if way.__class__ is not ufunc:
        if way is None:
            way = _begin("product", S, dtype)
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


def _sum(A: np.ndarray, B: Any, S: Any, C: Any, out: Any) -> Any:
    """C ⊕ A ⊗ B of single matrices or vectors, or None."""
    if type(B) is not ndarray or type(C) is not ndarray or (type(S) is not Semiring and (S := named(S)) is None):
        return None
    if not 0 < A.ndim < 3 > B.ndim > 0 or C.ndim != A.ndim + B.ndim - 2 or not A.dtype == B.dtype == C.dtype:
        return None
    if S.product_only or not (0 < A.size <= LARGEST and 0 < B.size <= LARGEST):  # which may have no sums
        return None
    found = computed("sum", S, A, B, C)
    return None if found is None else _written(found, out)


def product_on_gpu(operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A ⊗ B of CuPy arrays, or None for the general way, which the first such call takes."""
    return _on_gpu("product_at_once", 3, operands, options)


def closure_on_gpu(operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A* of a CuPy array, or None likewise."""
    return _on_gpu("closure_at_once", 2, operands, options)


def _on_gpu(name: str, count: int, operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    if options or len(operands) != count or (found := sys.modules.get(ON_GPU)) is None:
        return None
    *arrays, S = operands
    if type(S) is not Semiring and (S := named(S)) is None:
        return None
    return getattr(found, name)(*arrays, S)


def closure(operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A*, or None for the general way; A is an array."""
    if options:
        return _closure_with(operands, options)
    if len(operands) != 2:
        return None
    A, S = operands
    if not 0 < A.size <= LARGEST or (type(S) is not Semiring and (S := named(S)) is None):
        return None
    dtype = A.dtype
    way: Any = CLOSURES.get((S, dtype))
    if way.__class__ is not ufunc:
        if way is None:
            way = _begin("closure", S, dtype)
        if not way:
            return None
        way.left -= 1
        return way.answer(A) if way.left else way.asked(A)
    try:
        found, strange = way(A)
    except ValueError:
        return None
    return None if (strange if strange.__class__ is truth else strange.any()) else found


def _closure_with(operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """`closure`, perhaps with the flags that say that all matrices have one."""
    flags = options.get("on_divergence", "raise")
    if not is_usual(options, "on_divergence") or type(flags) is not str or flags not in ("raise", "mask"):
        return None
    found = closure(operands, {})
    if found is None or flags == "raise":
        return found
    exists = np.ones(found.shape[:-2], bool) if found.ndim > 2 else np.True_
    return import_module(FLAGS, __package__).Closures(found, exists)


def solve(operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A* B, or with `left` B A*, or None for the general way; A is an array."""
    if len(operands) != 3 or (options and not is_usual(options, "left")):
        return None
    A, B, S = operands
    if type(B) is not ndarray or (type(S) is not Semiring and (S := named(S)) is None):
        return None
    left = options.get("left", False)
    if (left is not False and left is not True) or A.ndim != 2 or not 0 < B.ndim < 3:
        return None
    if (dtype := A.dtype) != B.dtype or not (0 < A.size <= LARGEST and 0 < B.size <= LARGEST):
        return None
    way: Any = CLOSURES.get((S, dtype))
    if way is None:
        way = _begin("closure", S, dtype)
    if not way:
        return None
    if isinstance(way, OfFields):
        X = way.solution(A.T, B.T) if left else way.solution(A, B)
        return X if X is None or not left else X.T
    if isinstance(way, OfObjects):
        return None if left else way.solution(A, B)
    if isinstance(way, Converted):
        return way.solution(A, B, left)
    D = closure((A, S), {})
    return None if D is None else product((B, D, S) if left else (D, B, S), {})


def power(operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The product of k ≥ 2 factors A in the order of the general way, or None for that; A is an array."""
    if len(operands) != 3 or (options and not is_usual(options)):
        return None
    square, S, k = operands
    if type(k) is not int or k < 2 or square.ndim < 2 or (type(S) is not Semiring and (S := named(S)) is None):
        return None
    if S.product_only:  # its powers may depend on the parentheses
        return None
    found = None
    while True:
        if k & 1 and (found := square if found is None else product((found, square, S), {})) is None:
            return None
        k >>= 1
        if not k:
            return found
        if (square := product((square, square, S), {})) is None:
            return None


def of_matrix(short: Short, operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What a short way gives for a `Matrix`, perhaps beside an array or another one over the same vertices; or None."""
    A, *others = operands
    S, held, among = A.semiring, A._held, A  # whose kind the answer has
    if options or type(held) is not Array or not A.is_over_vertices:
        return None
    arrays, B = [held.array], others[0] if others else None
    if type(B) is Matrix:
        if B.semiring is not S or type(B._held) is not Array or not B.is_over_vertices:
            return None
        if B.names is not A.names and not same_names(B.names, A.names):
            return None
        arrays.append(B._held.array)
        among = B if short is solve else A
    elif type(B) is ndarray:
        arrays.append(B)
        among = None
    others = others[len(arrays) - 1 :]
    if others and others[0] is not None and others[0] is not S:
        return None
    found = short((*arrays, S, *others[1:]), options)
    return found if found is None or among is None else among._holding(Array(found, S))


def is_usual(options: dict[str, Any], *own: str) -> bool:
    """Whether all options but a verb's own ones ask for what small calls do: checks, on the host.

    What checks refuse goes the general way, also where they are not wanted.
    """
    for name, x in options.items():
        if name in own:
            continue
        if name == "check":
            if x is not True and x is not False:
                return False
        elif name != "device" or not (x is None or (type(x) is str and x == "cpu")):
            return False
    return True


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


def _begin(verb: str, S: Semiring, dtype: np.dtype) -> Any:
    """What computes at first for an algebra and a dtype; False where there is no short way."""
    ways = WAYS[verb]
    if len(ways) >= KEPT:
        ways.clear()
    if not S.has_zero_for_products:  # the general way refuses it
        ways[S, dtype] = False
        return False
    if dtype is OBJECT:
        ways[S, dtype] = OfObjects(S) if verb != "sum" and takes_objects(S, verb) else False
        return ways[S, dtype]
    found: Any
    if (inner := converted(S, dtype)) is not None:
        low = form(S, HALF_IN) if inner is HALF_IN else None
        fits = not (verb == "closure" and low is not None and low.inverts) and (
            ways.get((S, inner)) or _begin(verb, S, inner))
        found = Converted(verb, S, dtype, inner) if fits else False
    else:
        found = _native(verb, S, dtype)
    ways[S, dtype] = found
    return found


def _native(verb: str, S: Semiring, dtype: np.dtype) -> Before | OfFields | Literal[False]:
    """What computes numbers as they are."""
    low = form(S, dtype)
    if low is None or (verb == "closure" and not small.closes(low)):
        return False
    if verb == "closure" and low.inverts and shows_infinities(low):
        return OfFields(low)
    fits = small.fits(low)
    if fits and verb == "closure":
        fits = not (low.inverts or low.dual or cancels(low))
    return Before(verb, low, S) if fits else False


def converted(S: Semiring, dtype: np.dtype) -> np.dtype | None:
    """The dtype in which data of another are computed as the general way does; None where they are as they are.

    Halves are, where single precision has the same expressions, constants and carrier.
    """
    if not dtype.isnative and dtype.kind in "iufc":
        return dtype.newbyteorder("=")
    if dtype != HALF or S.traced is None:
        return None
    try:
        same = S.promoted(dtype) == dtype and S.carrier_in(dtype) == S.carrier_in(HALF_IN)
    except SemiringError:  # which the general way explains
        return None
    low, single = only_form(S, dtype, False), form(S, HALF_IN)
    return HALF_IN if same and low is not None and single is not None and low.key == single.key else None


def form(S: Semiring, dtype: np.dtype) -> Lowering | None:
    """The form of small calls, which is right for all data that are not strange; None where there is none."""
    if S.traced is None or dtype.kind not in ("V" if S.is_record else "biufc") or not dtype.isnative:
        return None
    if S.lift and S.lift.takes(dtype):
        return None
    try:
        carried = S.promoted(dtype)
    except SemiringError:  # which the general way explains
        return None
    return by_element(S, dtype) if carried == dtype else None
