"""Lowerings whose data and storage are in a GPU's memory: encoding and decoding on the device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from semiring.errors import SemiringError
from semiring.kernels.cuda.dense.exchange import LEAVES, exchange, report
from semiring.kernels.lowering.base import Lowering


class Codes(NamedTuple):
    """How an element of the data becomes one in storage and back, as C++ of `{0}`."""

    encode: str = "{0}"
    decode: str = "{0}"
    leaves: str = "false"  # whether an element of a result is none that the data's dtype holds


SAME = Codes()


@dataclass(frozen=True, eq=False)
class CudaLowering(Lowering):
    """A lowering for the CUDA engine."""

    on_gpu: ClassVar[bool] = True

    non_negative: bool = False  # floats may be compared as integers
    unit_pivots: bool = False  # ⊕ is idempotent, and every star is 1 wherever the closure exists
    codes: Codes = SAME

    @property
    def key(self) -> tuple[Any, ...]:
        """What the compiled code of products and closures depends on."""
        return (*super().key, self.non_negative, self.unit_pivots)

    @property
    def is_identity(self) -> bool:
        """Whether storage holds the data as they are."""
        return self.codes == SAME

    @property
    def may_leave(self) -> bool:
        """Whether a result may be none that the data's dtype holds."""
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
                raise SemiringError(
                    f"{self.algebra.name}: a result is outside {self.dtype.name}; convert the data first, for example "
                    "with .astype('int64')"
                )
        return target


def _matrices(array: Any) -> Any:
    """An array of any number of axes as one matrix or a stack; of its own memory where rows lie side by side."""
    if array.ndim in (2, 3):
        return array
    return array.reshape(1, -1) if array.ndim < 2 else array.reshape(-1, *array.shape[-2:])
