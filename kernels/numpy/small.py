"""Small products and closures in a few calls of NumPy's functions, before compiling them repays.

    A ⊗ B = ⊕_k a_k b_k, of column k of A and row k of B: all terms at once, k first, so that ⊕ runs along memory

The calls are what people write by hand. What is not usual shows in the result: minima, maxima and sums keep a NaN. Then
there is no answer here, and the general way is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semiring.algebra.evaluate import numpy_function
from semiring.algebra.expression import Expression, Traced
from semiring.errors import SemiringError
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.sums import suited

MOST_TERMS = 1 << 18  # that are in memory at once
EXTREMES = {"minimum": np.minimum, "maximum": np.maximum}
SUMS: dict[str, np.ufunc] = {**EXTREMES, "add": np.add, "logical_or": np.logical_or, "bitwise_or": np.bitwise_or}


class SmallArrays:
    """The operations of a lowering whose ⊕ is one of NumPy's functions.

    Parameters
    ----------
    low : Lowering
        For which `fits` is true.
    """

    def __init__(self, low: Lowering):
        S, dtype = low.algebra, low.storage
        self._low = None if low.is_identity else low
        self._add = SUMS[_name(low.add)]
        self._blas, self._floats = low.blas, dtype.kind == "f"
        self._one = dtype.type(low.one[0])
        self._product = _name(low.mul)
        plain = self._product in ("add", "multiply", *EXTREMES)
        self._times: np.ufunc | None = getattr(np, self._product) if plain else None
        self._general = numpy_function(low.mul.outputs, 2, (dtype,), (dtype,))
        self._calm = float(np.sqrt(np.finfo(dtype).max)) if self._floats else 0.0
        self._inside = _inside(S.carrier_in(low.dtype), low.dtype)
        self._suited = suited(S, low.dtype) if self._low else None
        self.closes = not S.product_only and S.has_unit_stars and takes_extremes(low)

    def product(self, A: np.ndarray, B: np.ndarray) -> Any:
        """A ⊗ B of matrices or vectors, or None."""
        left, right = A.ndim == 1, B.ndim == 1
        if not (left or A.ndim == 2) or not (right or B.ndim == 2):
            return None
        depth = A.shape[-1]
        if depth != len(B) or A.size * B.size > MOST_TERMS * depth:
            return None
        if self._blas:  # what is not finite spreads to sums that are not finite
            with np.errstate(all="ignore"):
                C = np.dot(A, B)
            return C if np.vdot(C, C) < np.inf else None
        if self._inside is not None and not (self._inside(A) and self._inside(B)):
            return None
        if self._low and not self._has_room(A, B):
            a, b = self._stored(A), self._stored(B)
            if a is None or b is None:
                return None
            return self._decoded(self._sums(a, b, left, right))
        calm = self._calm
        if not self._floats or (self._product == "add" and np.vdot(A, A) < calm and np.vdot(B, B) < calm):
            return self._sums(A, B, left, right)  # no NaN, no infinity, and none comes up
        if self._product in EXTREMES:
            C = self._sums(A, B, left, right)
        else:
            with np.errstate(all="ignore"):
                C = self._sums(A, B, left, right)
        total = np.vdot(C, C)  # of squares: only a NaN makes one
        return C if total == total else None

    def closure(self, A: np.ndarray) -> Any:
        """A* of a matrix, or None."""
        if A.ndim != 2 or A.shape[0] != A.shape[1] or (self._inside is not None and not self._inside(A)):
            return None
        stored = self._stored(A) if self._low else np.array(A, order="C")
        if stored is None:
            return None
        C, add = np.ascontiguousarray(stored), self._add
        diagonal, terms = C.reshape(-1)[:: len(A) + 1], np.empty_like(C)
        with np.errstate(all="ignore"):
            add(diagonal, self._one, out=diagonal)
            for column, row in zip(C.T[..., None], C, strict=True):
                if self._times is not None:
                    self._times(column, row, out=terms)
                else:
                    terms = self._general((column,), (row,))[0]
                add(C, terms, out=C)
            usual = (diagonal == self._one).all() and (not self._floats or np.vdot(C, C) >= 0)
        return self._decoded(C) if usual else None

    def _sums(self, a: np.ndarray, b: np.ndarray, left: bool, right: bool) -> Any:
        """⊕ over k of all terms; `left` and `right` say which is a vector."""
        a, b = a.T if right else a.T[..., None], b if left else b[:, None]
        terms = self._general((a,), (b,))[0] if self._times is None else self._times(a, b, order="C")
        return self._add.reduce(terms)

    def _has_room(self, A: np.ndarray, B: np.ndarray) -> bool:
        """Whether no element is infinite, and no sum of two leaves the dtype."""
        assert self._suited
        low, high, _ = self._suited
        least, most = (int(A.min()), int(B.min())), (int(A.max()), int(B.max()))
        return low <= min(*least, sum(least)) and max(*most, sum(most)) <= high

    def _stored(self, A: np.ndarray) -> np.ndarray | None:
        """Integers in storage, or None where one is strange."""
        assert self._suited and self._low
        low, high, absent = self._suited
        if not (low <= A.min() and A.max() <= high) and not ((absent == A) | ((low <= A) & (high >= A))).all():
            return None
        return np.asarray(self._low.encode(A, True))

    def _decoded(self, C: Any) -> Any:
        """An answer from storage, or None."""
        if self._low is None:
            return C
        try:
            return self._low.decode(C) if isinstance(C, np.ndarray) else self._low.decode(np.array([C]))[0]
        except SemiringError:  # a number leaves its dtype, which the general way explains
            return None


def _inside(carrier: Expression, dtype: np.dtype) -> Callable[[np.ndarray], Any] | None:
    """A test whether all numbers of an array are in a carrier; None where all numbers are."""
    if carrier.op == "constant":
        return None
    ends = _ends(carrier)
    if ends is not None:
        low, high = ends
        if high == np.inf:
            return lambda A: low <= A.min()
        return lambda A: low <= A.min() and A.max() <= high
    test = numpy_function((carrier,), 1, (dtype,), (np.dtype(bool),))
    return lambda A: test((A,))[0].all()


def _ends(carrier: Expression) -> tuple[float, float] | None:
    """The ends of a carrier whose expression says that it is an interval with a lower end; None for others."""
    if carrier.op == "logical_and":
        first, second = map(_ends, carrier.args)
        if first and second:
            return max(first[0], second[0]), min(first[1], second[1])
    elif carrier.op in ("greater_equal", "less_equal"):
        x, end = carrier.args
        if x.op == "input" and end.op == "constant":
            return (end.value, np.inf) if carrier.op == "greater_equal" else (-np.inf, end.value)
    return None


def fits(low: Lowering) -> bool:
    """Whether `SmallArrays` can compute a lowering."""
    numbers = low.kind == "numba" and low.dtype.char in "?bBhHiIlLqQfd"
    numbers &= low.is_identity or (low.dtype.kind in "iu" and low.algebra.is_tropical)
    kinds = {"add": "f", "logical_or": "b"}.get(_name(low.add), "biuf")  # whose sums NumPy gives in their own dtype
    return numbers and low.log_sum is None and _name(low.add) in SUMS and low.dtype.kind in kinds


def takes_extremes(low: Lowering) -> bool:
    """Whether ⊕ is a minimum or a maximum."""
    return _name(low.add) in EXTREMES


def _name(operation: Traced) -> str:
    """The operation that is all of an expression, or nothing."""
    return next((op for op in {*SUMS, "multiply"} if operation.is_plain(op)), "")
