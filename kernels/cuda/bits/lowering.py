"""Truth values as bits on the device."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from semiring.kernels.blocks.bits import row_words
from semiring.kernels.cuda.lowering import CudaLowering

from .matrix import DevicePackedMatrix


class PackedCudaLowering(CudaLowering):
    """Two-valued data of an algebra in which {0, 1} is the Boolean one, as bits on the device.

    Its `kind` is "packed", as on the host: what is true of bits does not depend on where they are.
    """

    @property
    def key(self) -> tuple[Any, ...]:
        """Algebras whose zeros and ones are Boolean share one kernel."""
        return ("packed bits",)

    @property
    def is_identity(self) -> bool:
        """Whether storage holds the data as they are: bits never do."""
        return False

    @cached_property
    def _is_literal(self) -> bool:
        return bool(self.zero[0] == 0 and self.one[0] == 1)

    def encode(self, array: Any, copy: bool) -> DevicePackedMatrix:
        """A CuPy or NumPy array of zeros and ones of the algebra as bits."""
        return DevicePackedMatrix.from_dense(array if self._is_literal else array == self.one[0])

    def decode(self, stored: DevicePackedMatrix) -> Any:
        """Bits as a CuPy array of zeros and ones of the algebra."""
        if self._is_literal:
            return stored.to_dense(self.dtype)
        import cupy

        ends = (cupy.asarray(np.asarray(x[0], self.dtype)) for x in (self.one, self.zero))
        return cupy.where(stored.to_dense(), *ends)

    def empty(self, shape: tuple[int, ...]) -> DevicePackedMatrix:
        """A matrix of zeros."""
        return DevicePackedMatrix.zeros(*shape)

    def matrix_bytes(self, n: int) -> int:
        """Bytes of a matrix of n × n in storage."""
        return 8 * n * row_words(n)
