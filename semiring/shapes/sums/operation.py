"""An operation of an algebra in a dtype: the functions of NumPy that do the same, and which numbers are elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from math import prod
from operator import ge, gt, le, lt
from typing import Any

import numpy as np

from semiring.algebra.arithmetic import Arithmetic
from semiring.algebra.constants import cast_constant
from semiring.algebra.elements import is_nan
from semiring.algebra.expression import Expression, operand
from semiring.algebra.proofs import commutes
from semiring.algebra.semiring import Semiring
from semiring.kernels.cpu.dense.folds import SINGLE
from semiring.kernels.lowering.logsum import LogSum, log_sum
from semiring.kernels.lowering.ordinary import alike, ordinary
from semiring.kernels.numpy.folds import NotElements

EXACT = ("minimum", "maximum", "logical_or", "logical_and", "bitwise_or", "bitwise_and", "bitwise_xor")
LARGE = 2.0**62  # a product of integers that floats put below it is below 2⁶³
COMPARED = {"less": lt, "less_equal": le, "greater": gt, "greater_equal": ge}
MIRRORED = {"less": gt, "less_equal": ge, "greater": lt, "greater_equal": le}
Comparison = tuple[Callable[[Any, Any], Any], Any]


class Beyond(Exception):
    """Ordinary sums or products of these integers may be wrong: some are infinite, or a result may leave the range."""


class Operation:
    """⊕ or ⊗ of an algebra in a dtype.

    Parameters
    ----------
    S : Semiring
    op : {"add", "mul"}
    dtype : dtype
    """

    def __init__(self, S: Semiring, op: str, dtype: np.dtype):
        self.algebra, self.op, self.dtype = S, op, dtype
        self.arithmetic: Arithmetic = S.over(dtype)
        self._single = S.over(SINGLE) if dtype == np.float16 and alike(S, dtype, SINGLE) else None

    def operate(self, x: Any, y: Any) -> Any:
        """x ∘ y, element by element."""
        return getattr(self.arithmetic, self.op)(x, y)

    @property
    def neutral(self) -> Any:
        """0 of sums, 1 of products; None if a bare product has no 1."""
        return self.arithmetic.zero if self.op == "add" else self.arithmetic.one

    @property
    def has_neutral(self) -> bool:
        """Whether that is neutral, so that a fold may begin with it; in a bare product it may not be."""
        S = self.algebra
        if self.op == "add" or not S.product_only:
            return S.has_neutral_zero
        return S.one is not None and all(v.holds for v in S._law_report.axioms if "1 is neutral" in v.law.name)

    @cached_property
    def commutes(self) -> bool:
        """Whether operands may be exchanged."""
        S = self.algebra
        if self.op == "mul":
            return S.commutative
        return not S.product_only or (S.traced is not None and commutes(S.traced.add))

    @property
    def takes_all(self) -> bool:
        """Whether each number of the dtype is an element, but for NaN."""
        return _takes_all(self.algebra, self.dtype)

    @property
    def whole(self) -> np.ufunc | None:
        """The ordinary sum or product, if the operation on finite integers is that."""
        return ordinary(self.algebra, self.op, self.dtype)

    def of_whole_numbers(self, x: np.ndarray, axes: Sequence[int], look: bool = True) -> np.ndarray:
        """Ordinary sums or products of integers, in 64 bits.

        Raises
        ------
        Beyond
            If an integer may stand for ∞, or a result may leave 64 bits.
        NotElements
            If something in x is not an element.
        """
        assert self.whole is not None
        low, high = self._bounds(x, look)
        terms = prod(x.shape[axis] for axis in axes)
        found: np.ndarray = self._in_64_bits(
            self.whole.reduce, x, terms, max(high, -low), axis=tuple(axes), keepdims=True)
        return found

    def running_whole_numbers(self, x: np.ndarray, axis: int) -> np.ndarray:
        """Prefixes of ordinary sums or products of integers, in their dtype; raises what `of_whole_numbers` does."""
        assert self.whole is not None
        low, high = self._bounds(x, True)
        size = max(high, -low)
        if size * x.shape[axis] < _limits(self.dtype)[1] if self.whole is np.add else size <= 1:  # so are all prefixes
            return np.ascontiguousarray(self.whole.accumulate(x, axis, self.dtype))
        found = self._in_64_bits(self.whole.accumulate, x, x.shape[axis], size, axis=axis)
        return np.ascontiguousarray(self.fitted(found))

    def _bounds(self, x: np.ndarray, look: bool) -> tuple[int, int]:
        """A lower and an upper bound of some integers; raises what `of_whole_numbers` does."""
        (least, largest), known = _limits(x.dtype), self.comparisons is not None
        low, high = 0, int(np.maximum.reduce(x if x.dtype.kind == "u" else x.view(_unsigned(x.dtype)), axis=None))
        if high > largest or (look and known and not self._fulfilled((low, high))):  # some are negative, or far above 0
            low, high = int(np.minimum.reduce(x, axis=None)), int(np.maximum.reduce(x, axis=None))
        if look and not (self._fulfilled((low, high)) if known else self._are_elements(x)):
            raise NotElements
        if high == largest or (low and low == least):
            raise Beyond
        return low, high

    def _in_64_bits(self, compute: Callable[..., np.ndarray], x: np.ndarray, terms: int, size: int, **how: Any) -> Any:
        """Ordinary sums or products of so many terms of at most this size; may raise `Beyond`."""
        wide: np.dtype = np.dtype(f"{x.dtype.kind}8")
        if self.whole is np.add:
            fits = size * terms <= np.iinfo(wide).max
        else:
            fits = size <= 1 or size.bit_length() * terms < 63
            if not fits:
                with np.errstate(all="ignore"):
                    fits = bool((np.abs(compute(x, dtype=np.float64, **how)) < LARGE).all())
        if not fits:
            raise Beyond
        return compute(x, dtype=wide, **how)

    def fitted(self, found: Any) -> Any:
        """Integers in the dtype of the elements.

        Raises
        ------
        Beyond
            If they do not fit, or would mean ∞.
        """
        least, largest = _limits(self.dtype)
        if not found.ndim:
            low = high = int(found)
        else:
            low, high = 0, int(np.maximum.reduce(found.view(_unsigned(found.dtype)), None))
            if high >= largest and self.dtype.kind == "i":  # unless it is negative
                low, high = int(np.minimum.reduce(found, None)), int(np.maximum.reduce(found, None))
        if high >= largest or (low and low <= least):
            raise Beyond
        if found.dtype == self.dtype:
            return found
        return found.astype(self.dtype, copy=False)

    @property
    def _operate(self) -> Callable[[Any, Any], Any]:
        return getattr(self._single or self.arithmetic, self.op)

    @property
    def is_widened(self) -> bool:
        """Whether halves are computed in single precision."""
        return self._single is not None

    def widened(self, x: np.ndarray) -> np.ndarray:
        """Halves in single precision, if the algebra is the same there."""
        return x if self._single is None else x.astype(np.float32)

    def narrowed(self, x: np.ndarray) -> np.ndarray:
        """The same in the dtype of the elements."""
        with np.errstate(over="ignore"):
            return x if x.dtype == self.dtype else x.astype(self.dtype)

    def _are_elements(self, x: np.ndarray) -> bool:
        if not x.size:
            return True
        if self.takes_all:
            return not (self.dtype.kind == "f" and is_nan(x).any())
        if self.comparisons is not None:  # the carrier is an interval
            ends = np.minimum.reduce(x, axis=None), np.maximum.reduce(x, axis=None)  # NaN if there is one
            return self._fulfilled(ends)
        with np.errstate(all="ignore"):
            return bool(np.all(self.arithmetic.contains(x)))

    def _fulfilled(self, ends: Sequence[Any]) -> bool:
        """Whether the least and the largest number are elements, if the carrier is an interval."""
        return all(holds(end, than) for end in ends for holds, than in self.comparisons or ())

    @cached_property
    def comparisons(self) -> list[Comparison] | None:
        """The comparisons with constants that make a number an element, if these are an interval; NaN fulfils none."""
        S = self.algebra
        if S.traced is None or self.dtype.kind not in "iuf" or (self.dtype.itemsize < 4 and self.dtype.kind == "f"):
            return None
        found = _comparisons(S.carrier_in(self.dtype), self.dtype) if S.working(self.dtype) == self.dtype else None
        return found or None

    @cached_property
    def interval(self) -> tuple[Any, Any] | None:
        """The least and the greatest element, floats up to ∞, if all numbers between them are elements; None else."""
        first, last = _limits(self.dtype) if self.dtype.kind in "iu" else (-np.inf, np.inf)
        if self.takes_all:
            return first, last
        for holds, than in self.comparisons or ():
            number, above = than.item(), holds in (gt, ge)
            if holds in (gt, lt):
                side = 1 if above else -1
                whole = than.dtype.kind in "iu"
                number = number + side if whole else np.nextafter(than, than.dtype.type(side * np.inf)).item()
            first, last = (max(first, number), last) if above else (first, min(last, number))
        return (first, last) if self.comparisons else None

    @cached_property
    def ufunc(self) -> np.ufunc | None:
        """The operation as one function of NumPy, if it is one and needs no test for zero or of results."""
        S = self.algebra
        if S.traced is None or self.dtype.kind not in "biufc" or S.working(self.dtype) != self.dtype:
            return None
        traced = S.traced.add if self.op == "add" else S.traced.raw_mul
        if self.dtype.kind == "c":
            if self.op == "add":
                return np.add if traced.is_plain("add") else None
            return np.multiply if traced.is_plain("multiply") and self.all_finite and S.zero == 0 else None
        if self.op == "mul" and not (traced.is_plain(*EXACT) and S.traced.add.is_plain(*EXACT)):
            return None
        name = next((name for name in EXACT if traced.is_plain(name)), None)
        if self.dtype.kind == "f" and name is None and traced.is_plain("add"):
            return np.add
        if name is None or (self.dtype.kind == "b") != name.startswith("logical") or \
                (self.dtype.kind == "f" and name.startswith("bitwise")):
            return None
        found: np.ufunc = getattr(np, name)
        return found

    @property
    def selects(self) -> bool:
        """Whether a function of NumPy gives one of its operands, or their bits: no result is NaN."""
        return self.ufunc is not None and self.ufunc not in (np.add, np.multiply)

    @cached_property
    def result_tells(self) -> bool:
        """Whether a finite result of floats shows that all operands are elements."""
        S = self.algebra
        if self.dtype.kind not in "fc" or self.ufunc not in (np.add, np.multiply, np.minimum, np.maximum):
            return False
        return _takes_all(S, self.dtype) or (self.all_finite and not self.selects)

    @cached_property
    def ordinary(self) -> np.ufunc | None:
        """The ordinary sum or product of floats, if its result, wherever that is finite, is that of the operation.

        Then it shows that all operands are elements, and that none is infinite, so that no zero absorbs anything.
        """
        S = self.algebra
        if S.traced is None or self.dtype.kind not in "fc" or S.working(self.dtype) != self.dtype:
            return None
        if self.op == "add":
            return self.ufunc if self.ufunc in (np.add, np.multiply) and self.result_tells else None
        traced, zero = S.traced.raw_mul, self.arithmetic.zero
        if self.dtype == np.float16 or not (self.takes_all or self.all_finite or self.contains_all_finite):
            return None  # halves are multiplied in single precision
        if traced.is_plain("add") and np.isinf(zero):
            return np.add
        return np.multiply if traced.is_plain("multiply") and zero == 0 else None

    @property
    def contains_all_finite(self) -> bool:
        """Whether the elements are an interval that contains all finite numbers."""
        return self.comparisons is not None and self._fulfilled((np.finfo(self.dtype).min, np.finfo(self.dtype).max))

    @property
    def needs_one_pass(self) -> bool:
        """Whether a function of NumPy is enough: all numbers of the dtype are elements, or the result tells."""
        return self.ufunc is not None and (self.result_tells or (self.dtype.kind != "f" and self.takes_all))

    @property
    def all_finite(self) -> bool:
        """Whether the elements are the finite numbers."""
        traced = self.algebra.traced
        return traced is not None and traced.carrier.op == "isfinite" and traced.carrier.args[0].op == "input"

    @cached_property
    def _form(self) -> LogSum | None:
        """The kind of log-sum-exp that ⊕ is, or None."""
        S = self.algebra
        if self.op != "add" or S.traced is None or S.working(self.dtype) != self.dtype:
            return None
        return log_sum(S.traced, S.zero, self.dtype)


@lru_cache(64)
def _limits(dtype: np.dtype) -> tuple[int, int]:
    """The least and the largest integer of a dtype."""
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


@lru_cache(64)
def _unsigned(dtype: np.dtype) -> np.dtype:
    """The unsigned integers of the same size, in which negative ones are beyond all others."""
    return np.dtype(dtype.str.replace("i", "u"))


@lru_cache(1024)
def _takes_all(S: Semiring, dtype: np.dtype) -> bool:
    """Whether each number of the dtype is an element, but for NaN."""
    if S.traced is None or dtype.kind not in "biuf":
        return False
    carrier = S.carrier_in(dtype)
    return dtype.kind == "b" or (carrier.op == "constant" and bool(carrier.value))


def _comparisons(carrier: Expression, dtype: np.dtype) -> list[Comparison] | None:
    """The comparisons that a carrier consists of; None if there is anything else."""
    if carrier.op == "logical_and":
        both = [_comparisons(e, dtype) for e in carrier.args]
        return None if None in both else [comparison for some in both for comparison in some or ()]
    x = operand(0)
    if carrier.op == "isfinite" and carrier.args[0] is x:
        return [(gt, dtype.type(-np.inf)), (lt, dtype.type(np.inf))] if dtype.kind == "f" else []
    if carrier.op == "equal" and dtype.kind in "iu" and {e.op for e in carrier.args} == {"floor", "input"}:
        return []
    if carrier.op not in COMPARED:
        return None
    left, right = carrier.args
    if left is x and right.op == "constant":
        return [(COMPARED[carrier.op], cast_constant(right.value, dtype))]
    if right is x and left.op == "constant":
        return [(MIRRORED[carrier.op], cast_constant(left.value, dtype))]
    return None
