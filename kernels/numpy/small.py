"""Small products and closures in a few calls of NumPy's functions, before compiling them repays.

    A ⊗ B = ⊕_k a_k b_k, of column k of A and row k of B: all terms at once, k first, so that ⊕ runs along memory

The calls are what people write by hand. What is not usual shows in the result: minima, maxima and sums keep a NaN. Then
there is no answer here, and the general way is asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.algebra.evaluate import numpy_function
from semiring.algebra.expression import Traced
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
        name = _name(low.mul)
        self._times: np.ufunc | None = getattr(np, name) if name in ("add", "multiply", *EXTREMES) else None
        self._general = numpy_function(low.mul.outputs, 2, (dtype,), (dtype,))
        inside = S.carrier_in(low.dtype)
        every = inside.op == "constant"
        self._inside = None if every else numpy_function((inside,), 1, (low.dtype,), (np.dtype(bool),))
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
        with np.errstate(all="ignore"):
            if self._blas:
                C = A @ B
                return C if self._is_usual(C) else None
            if not self._are_elements(A, B):
                return None
            a, b = self._stored(A), self._stored(B)
            if a is None or b is None:
                return None
            C = self._add.reduce(self._terms(a.T if right else a.T[..., None], b if left else b[:, None]))
            return self._usual(C)

    def closure(self, A: np.ndarray) -> Any:
        """A* of a matrix, or None."""
        if A.ndim != 2 or A.shape[0] != A.shape[1]:
            return None
        add, C = self._add, self._stored(A)
        if C is None or not self._are_elements(A):
            return None
        C = np.array(C, order="C", copy=None if self._low else True)
        diagonal = C.reshape(-1)[:: len(A) + 1]
        with np.errstate(all="ignore"):
            add(diagonal, self._one, out=diagonal)
            for column, row in zip(C.T[..., None], C, strict=True):
                add(C, self._terms(column, row), out=C)
            return self._usual(C) if (diagonal == self._one).all() else None

    def _stored(self, A: np.ndarray) -> np.ndarray | None:
        """The elements in storage, or None where one is strange."""
        if self._low is None:
            return A
        assert self._suited
        low, high, absent = self._suited
        if not (low <= A.min() and A.max() <= high) and not ((absent == A) | ((low <= A) & (high >= A))).all():
            return None
        return np.asarray(self._low.encode(A, True))

    def _usual(self, C: Any) -> Any:
        """An answer from storage, or None."""
        if not self._is_usual(C):
            return None
        if self._low is None:
            return C
        try:
            return self._low.decode(C) if isinstance(C, np.ndarray) else self._low.decode(np.array([C]))[0]
        except SemiringError:  # a number leaves its dtype, which the general way explains
            return None

    def _terms(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if self._times is not None:
            return self._times(a, b, order="C")
        return np.asarray(self._general((a,), (b,))[0])

    def _is_usual(self, C: Any) -> bool:
        """Whether there is no NaN in a result; and nothing infinite, where a sum of products would hide what was."""
        if not self._floats:
            return True
        total = np.add.reduce(C, axis=None) if self._blas else np.minimum.reduce(C, axis=None)
        return bool(total - total == 0) if self._blas else bool(total == total)

    def _are_elements(self, *operands: np.ndarray) -> bool:
        """Whether all are in the carrier; finite results of sums of products come of finite numbers."""
        if self._inside is None or self._blas:
            return True
        return all(self._inside((X,))[0].all() for X in operands)


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
