"""Small products and closures in a few calls of NumPy's functions, before compiling them repays.

    A ⊗ B = ⊕_k a_k b_k, of column k of A and row k of B: all terms at once, k first, so that ⊕ runs along memory

The calls are what people write by hand. What is not usual shows in the result: minima, maxima and sums keep a NaN, and
operands are looked at where ⊗ may not. Then there is no answer here, and the general way is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from typing import Any

import numpy as np

from semiring.algebra.evaluate import numpy_function
from semiring.algebra.expression import Expression, Traced
from semiring.errors import SemiringError
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.sums import suited

MOST_TERMS = 1 << 18  # that are in memory at once
EXTREMES = {"minimum": np.minimum, "maximum": np.maximum}
QUIET = Context()  # what runs in a copy of it gives no warning, in a tenth of the time of `np.errstate`
QUIET.run(np.seterr, all="ignore")
quiet, vdot, inf = QUIET.copy, np.vdot, np.inf  # found sooner; `vdot` itself never warns
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
        self._add = np.add if low.log_sum else SUMS[_name(low.add)]
        self._floats, self._logs = dtype.kind == "f", low.log_sum
        self._one = dtype.type(low.one[0])
        self._product = "add" if low.log_sum else _name(low.mul, saturates=not self._floats)
        plain = self._product in ("add", "multiply", *EXTREMES)
        self._times: np.ufunc | None = getattr(np, self._product) if plain else None
        self._general = numpy_function(low.mul.outputs, 2, (dtype,), (dtype,))
        self._most = np.finfo(dtype).max if self._floats else dtype.type(0)
        self._hands_on = bool(plain or low.log_sum or not self._floats)  # NaN of either operand to every term of it
        self._least = 8 * float(np.finfo(dtype).tiny / np.finfo(dtype).eps) if self._logs else 0.0
        self._is_quiet = self._product in EXTREMES and self._add is not np.add
        self._inside = _inside(S.carrier_in(low.dtype), low.dtype)
        self._suited = suited(S, low.dtype) if self._low else None
        self.closes = not S.product_only and S.has_unit_stars and takes_extremes(low)

    def product(self, A: np.ndarray, B: np.ndarray) -> Any:
        """A ⊗ B of matrices or vectors, or None."""
        if not 0 < A.ndim < 3 > B.ndim > 0:
            return None
        depth = A.shape[-1]
        if depth != len(B) or A.size * B.size > MOST_TERMS * depth:
            return None
        if self._inside is not None and not (self._inside(A) and self._inside(B)):
            return None
        if self._low and not self._has_room(A, B):
            a, b = self._stored(A), self._stored(B)
            return None if a is None or b is None else self._decoded(self._sums(a, b))
        if not self._floats:
            return self._sums(A, B)
        if not self._hands_on and (_has_nan(A) or _has_nan(B)):
            return None
        if self._is_quiet:
            C = self._sums(A, B)
        else:
            C = quiet().run(self._sums_of_powers if self._logs else self._sums, A, B)
        return None if _has_nan(C) else C

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
            usual = (diagonal == self._one).all() and not (self._floats and _has_nan(C))
        return self._decoded(C) if usual else None

    def _sums(self, A: np.ndarray, B: np.ndarray) -> Any:
        """⊕ over k of all terms."""
        if B.ndim == 1 and self._times is not None:
            return self._add.reduce(self._times(A, B), -1)
        return self._add.reduce(self._terms(A, B), -1 if B.ndim == 1 else 0)

    def _terms(self, A: np.ndarray, B: np.ndarray) -> Any:
        """All terms; k is the last axis before a vector, and the first before a matrix, where NumPy adds fastest."""
        a, b = (A, B) if B.ndim == 1 else (A[:, None], B) if A.ndim == 1 else (A.T[..., None], B[:, None])
        if self._times is not None:
            return self._times(a, b, order="C")
        terms, shape = self._general((a,), (b,))[0], np.broadcast(a, b).shape
        return terms if np.shape(terms) == shape else np.broadcast_to(terms, shape)  # of ⊗ that takes one of them only

    def _sums_of_powers(self, A: np.ndarray, B: np.ndarray) -> Any:
        """log_r Σ r^t of the terms t, or −log_r Σ r^−t, by powers of their distances from the best one.

        Infinities that meet become NaN; a sum with only zeros is zero.
        """
        C = self._product_of_powers(A, B)
        if C is not None:
            return C
        assert self._logs
        binary, negated = self._logs.binary, self._logs.negated
        terms, axis = self._terms(A, B), -1 if B.ndim == 1 else 0
        if negated:
            np.negative(terms, out=terms)
        top = np.maximum(np.maximum.reduce(terms, axis, keepdims=True), -self._most)
        np.subtract(terms, top, out=terms)
        powers = np.exp2(terms, out=terms) if binary else np.exp(terms, out=terms)
        sums = np.add.reduce(powers, axis)
        C = np.squeeze(top, axis) + (np.log2(sums) if binary else np.log(sums))
        return -C if negated else C

    def _product_of_powers(self, A: np.ndarray, B: np.ndarray) -> Any:
        """The same by a product of powers, as in logsum.py, or None if an entry may have lost what underflowed."""
        assert self._logs
        power, logarithm = (np.exp2, np.log2) if self._logs.binary else (np.exp, np.log)
        a, b = (-A, -B) if self._logs.negated else (A, B)
        row, column = np.maximum.reduce(a, -1, keepdims=True), np.maximum.reduce(b, 0, keepdims=True)
        powers = power(a - row).dot(power(b - column))
        if not powers.item(powers.argmin()) >= self._least * A.shape[-1]:  # or NaN, of infinities
            return None
        tops = row + column if A.ndim == B.ndim == 2 else row[..., 0] + column[0]
        C = tops + logarithm(powers)
        if not vdot(C, C) < inf:  # the sum of two tops may overflow where no term does
            return None
        return -C if self._logs.negated else C

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


def _has_nan(A: Any) -> bool:
    """Whether floats have NaN among them: nothing else makes it of a sum of squares."""
    total = vdot(A, A)
    return bool(total != total)


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
    by_sums = low.log_sum is None and _name(low.add) in SUMS and low.dtype.kind in kinds
    return numbers and (by_sums or (low.log_sum is not None and low.dtype.kind == "f"))


def by_blas(low: Lowering) -> Callable[[np.ndarray, np.ndarray], Any]:
    """What multiplies matrices or vectors of elements by BLAS, or gives None."""
    if shows_infinities(low):
        return product_by_blas
    inside = _inside(low.algebra.carrier_in(low.dtype), low.dtype)
    if inside is None:
        return product_by_blas
    return lambda A, B: product_by_blas(A, B) if inside(A) and inside(B) else None


def shows_infinities(low: Lowering) -> bool:
    """Whether all finite numbers are elements, so that a sum of products tells whether its operands are."""
    carrier = low.algebra.carrier_in(low.dtype)
    return carrier.op == "isfinite" and carrier.args[0].op == "input"


def product_by_blas(A: np.ndarray, B: np.ndarray) -> Any:
    """A B of matrices or vectors of reals, or None: what is not finite spreads to sums that are not finite.

    Not if there is one term only: BLAS does not read what it would multiply by a single 0.
    """
    if not 0 < A.ndim < 3 > B.ndim > 0 or A.shape[-1] == 1:
        return None
    try:
        C = quiet().run(A.dot, B)
    except ValueError:  # shapes that do not fit
        return None
    return C if vdot(C, C) < inf else None


def takes_extremes(low: Lowering) -> bool:
    """Whether ⊕ is a minimum or a maximum."""
    return _name(low.add) in EXTREMES


def _name(operation: Traced, *, saturates: bool = True) -> str:
    """The operation that is all of an expression, or nothing; numbers that do not saturate have plain sums."""
    if not saturates:
        for op in ("add", "multiply"):
            if operation.is_plain(f"saturating_{op}"):
                return op
    return next((op for op in {*SUMS, "multiply"} if operation.is_plain(op)), "")
