"""Lowerings whose data and storage are in a GPU's memory: encoding and decoding on the device."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import copysign, inf
from typing import Any, ClassVar, NamedTuple

import numpy as np

from semiring.algebra.expression import postorder
from semiring.algebra.overflow import refuse
from semiring.algebra.proofs import Range, range_of
from semiring.kernels.cuda.compile.launch import copy_of
from semiring.kernels.cuda.dense.exchange import LEAVES, exchange, report
from semiring.kernels.facts import DeviceFacts, Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.cheaper import factors_first
from semiring.kernels.lowering.complements import complemented_step, scale_of


class Codes(NamedTuple):
    """How an element of the data becomes one in storage and back, as C++ of `{0}`."""

    encode: str = "{0}"
    decode: str = "{0}"
    leaves: str = "false"  # whether the data's dtype cannot hold an element of a result


SAME = Codes()
LARGEST = float(np.finfo("f8").max)


@dataclass(frozen=True, eq=False)
class CudaLowering(Lowering):
    """A lowering for the CUDA engine."""

    on_gpu: ClassVar[bool] = True

    non_negative: bool = False  # floats may be compared as integers
    unit_pivots: bool = False  # ⊕ is idempotent, and every star is 1 wherever the closure exists
    absorbs: bool = True  # products with zero, as `mul` computes them, are neutral: tiles may be filled with zeros
    codes: Codes = SAME

    @cached_property
    def components(self) -> tuple[np.dtype, ...]:
        """Storage dtypes of an element's components: of a complex number its real and imaginary part."""
        if self.storage.kind == "c":
            return (np.dtype(f"f{self.storage.itemsize // 2}"),) * 2
        return super().components

    @property
    def key(self) -> tuple[Any, ...]:
        """What the compiled code of products and closures depends on."""
        return (*super().key, self.non_negative, self.unit_pivots, self.absorbs)

    def for_product(self, facts: Facts) -> CudaLowering:
        """The form for C ⊕ A ⊗ B of data of which the facts hold: nothing is tested that cannot occur.

        Where no zero occurs, or no infinity that would make NaN of a product with zero, ⊗ has no test for it. Where no
        float is tiny, a factor of A ⊗ B that is a power of two joins the element of A, once for all that this is
        multiplied with; to the bit the same, since nothing rounds. Where no number is negative, sums take in products
        before they are rounded. Where ⊕ is x + t − x t / h and all elements lie in [0, h], a step has two roundings.
        """
        if not isinstance(facts, DeviceFacts) or self.storage != self.dtype:
            return self
        has_zero, finite = facts.has_zero, not (facts.low_limit or facts.high_limit)
        if self.dtype.kind == "f" and facts.least >= 0 and copysign(1, facts.least) > 0 and not facts.low_limit:
            h = scale_of(self.add)
            if h and finite and facts.largest <= h and complemented_step(self, Range(0.0, h)):
                return _within(self, h)
            low = _non_negative(self)
            return _for_product(low, has_zero, facts.has_tiny, finite and _absorbs_by_itself(low))
        return _for_product(self, has_zero, facts.has_tiny, False)

    @property
    def is_identity(self) -> bool:
        """Whether storage holds the data as they are."""
        return self.codes == SAME

    @property
    def may_leave(self) -> bool:
        """Whether a result may be one that the data's dtype cannot hold."""
        return self.codes.leaves != SAME.leaves

    def empty(self, shape: tuple[int, ...]) -> Any:
        """A matrix in storage that holds anything."""
        import cupy

        return cupy.empty(shape, self.storage)

    def encode(self, array: Any, copy: bool) -> Any:
        """A CuPy array of the data's dtype in storage; its own memory may be used where `copy` is false."""
        if self.is_identity:
            return copy_of(array) if copy else array
        import cupy

        shared = not copy and self.storage.itemsize == self.dtype.itemsize
        target = array.view(self.storage) if shared else cupy.empty(array.shape, self.storage)
        if array.size:
            exchange(self).take_in(_matrices(array), _matrices(target))
        return target

    def decode(self, stored: Any) -> Any:
        """Storage as an array of the data's dtype; waits for the device where a result may not fit in it."""
        if self.is_identity:
            return stored
        import cupy

        shared = self.storage.itemsize == self.dtype.itemsize
        target = stored.view(self.dtype) if shared else cupy.empty(stored.shape, self.dtype)
        if stored.size:
            found = report() if self.may_leave else None
            exchange(self).hand_out(_matrices(stored), _matrices(target), 0, found)
            if found and found.read().flags & LEAVES:
                refuse(self.algebra, self.dtype, None)
        return target


@lru_cache(1024)
def _within(low: CudaLowering, h: float) -> CudaLowering:
    return replace(low, name="complements", within=Range(0.0, h),
                   reason=f"all elements lie in [0, {h:g}], so that a step is two fused multiply-adds")


@lru_cache(1024)
def _non_negative(low: CudaLowering) -> CudaLowering:
    """The form for numbers that are not negative, if they stay so; the same where no sum takes in a product then."""
    inside, test = Range(0.0, inf), low.test_for_zero
    (add, *_), (mul, *_) = low.add.outputs, (test.mul if test else low.mul).outputs
    sums = [e for e in postorder((add, mul)) if e.op in ("add", "subtract")]
    joins = mul.op == "multiply" and low.add.is_plain("add")
    if low.add.width > 1 or low.within or not (joins or any(a.op == "multiply" for e in sums for a in e.args)):
        return low
    stay = all(range_of(e, (inside, inside)).low >= 0 for e in (add, mul))
    return replace(low, within=inside) if stay and low.zero[0] >= 0 else low


@lru_cache(1024)
def _absorbs_by_itself(low: CudaLowering) -> bool:
    """Whether products of zero with finite numbers that are not negative leave a sum as it is without a test."""
    test, zero, finite = low.test_for_zero, Range(float(low.zero[0]), float(low.zero[0])), Range(0.0, LARGEST)
    if test is None or low.add.width > 1 or zero.low < 0 or zero.high > LARGEST:
        return False
    sides, sums = ((zero, finite), (finite, zero)), range_of(low.add.outputs[0], (Range(0.0, inf), zero))
    return not sums.nan and all(range_of(test.mul.outputs[0], pair) == zero for pair in sides)


@lru_cache(1024)
def _for_product(low: CudaLowering, has_zero: bool, has_tiny: bool, absorbs: bool) -> CudaLowering:
    if low.test_for_zero and absorbs:
        low = replace(
            low.without_test, name="finite", reason="no element is infinite, so that products with zero need no test",
        )
    elif not has_zero and low.test_for_zero:
        low = replace(low.without_test, absorbs=False)
    scaled = low.mul if has_tiny or low.dtype.kind != "f" else factors_first(low.mul, low.dtype)
    return low if scaled is low.mul else replace(low, mul=scaled)


def _matrices(array: Any) -> Any:
    """An array of any number of axes as one matrix or a stack; of its own memory where rows lie side by side."""
    if array.ndim in (2, 3):
        return array
    return array.reshape(1, -1) if array.ndim < 2 else array.reshape(-1, *array.shape[-2:])
