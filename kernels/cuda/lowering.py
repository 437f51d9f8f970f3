"""Lowerings whose data and storage are in a GPU's memory: encoding and decoding on the device."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

from semiring.algebra.overflow import refuse
from semiring.algebra.proofs import Range
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


@dataclass(frozen=True, eq=False)
class CudaLowering(Lowering):
    """A lowering for the CUDA engine."""

    on_gpu: ClassVar[bool] = True

    non_negative: bool = False  # floats may be compared as integers
    unit_pivots: bool = False  # ⊕ is idempotent, and every star is 1 wherever the closure exists
    absorbs: bool = True  # products with zero, as `mul` computes them, are neutral: tiles may be filled with zeros
    codes: Codes = SAME
    within: Range | None = None  # where all elements lie, if that is known of the data and more than of the carrier

    @property
    def key(self) -> tuple[Any, ...]:
        """What the compiled code of products and closures depends on."""
        return (*super().key, self.non_negative, self.unit_pivots, self.absorbs, self.within)

    def for_product(self, facts: Facts) -> CudaLowering:
        """The form for C ⊕ A ⊗ B of data of which the facts hold: nothing is tested that cannot occur.

        Where no zero occurs, ⊗ has no test for it. Where no float is tiny, a factor of A ⊗ B that is a power of two
        joins the element of A, once for all that this is multiplied with; to the bit the same, since nothing rounds.
        Where ⊕ is x + t − x t / h and all elements lie in [0, h], the step has two roundings.
        """
        if not isinstance(facts, DeviceFacts) or self.storage != self.dtype:
            return self
        h = scale_of(self.add)
        bounded = h > 0 and not (facts.low_limit or facts.high_limit) and facts.least >= 0 and facts.largest <= h
        if bounded and complemented_step(self, Range(0.0, h)):
            return _within(self, h)
        return _for_product(self, facts.has_zero, facts.has_tiny)

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
            return array.copy() if copy else array
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
def _for_product(low: CudaLowering, has_zero: bool, has_tiny: bool) -> CudaLowering:
    if not has_zero and low.test_for_zero:
        low = replace(low.without_test, absorbs=False)
    scaled = low.mul if has_tiny or low.dtype.kind != "f" else factors_first(low.mul, low.dtype)
    return low if scaled is low.mul else replace(low, mul=scaled)


def _matrices(array: Any) -> Any:
    """An array of any number of axes as one matrix or a stack; of its own memory where rows lie side by side."""
    if array.ndim in (2, 3):
        return array
    return array.reshape(1, -1) if array.ndim < 2 else array.reshape(-1, *array.shape[-2:])
