"""Truth values in, one bit each, here or on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.boolean import is_boolean

from .operand import Operand


class Packed(Operand):
    """A `PackedMatrix`, or its twin on a GPU.

    Attributes
    ----------
    matrix : PackedMatrix or DevicePackedMatrix
    mine : bool
        Whether nobody else holds it, so that it may be overwritten.
    """

    kind = "packed"

    def __init__(self, matrix: Any, S: Semiring, what: str = "A", *, mine: bool = False, on_gpu: bool = False):
        super().__init__(S, what)
        self.matrix, self.mine, self.on_gpu = matrix, mine, on_gpu

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        rows, columns = self.matrix.shape
        return rows, columns

    @property
    def dtype(self) -> np.dtype:
        """Of the elements."""
        return np.dtype(bool)

    @property
    def nbytes(self) -> int:
        """Bytes of the words."""
        return int(self.matrix.nbytes)

    @property
    def facts(self) -> Facts:
        """Every element is 0 or 1."""
        return Facts(two_valued=True)

    def stored(self, low: Lowering, copy: bool) -> Any:
        """The packed words; their own memory may be used where `copy` is false."""
        if copy:
            return self.matrix.copy()
        return self.matrix if self.on_gpu or self.matrix.words.flags.writeable else self.matrix.copy()

    def unstored(self, low: Lowering, work: Any) -> Any:
        """The packed matrix."""
        return work


def read_packed(A: Any, S: Semiring, what: str) -> Packed:
    """A packed matrix on the host."""
    check_boolean(S)
    return Packed(A, S, what)


def read_packed_on_gpu(A: Any, S: Semiring, what: str) -> Packed:
    """A packed matrix on a GPU."""
    check_boolean(S)
    return Packed(A, S, what, on_gpu=True)


def check_boolean(S: Semiring) -> None:
    """Refuse algebras for which a bit an element is not enough."""
    if S.default_dtype.kind != "b" or S.zero_in(bool) or not S.one_in(bool):
        raise SemiringError(
            f"a bit for each pair is enough for algebras of False and True, such as sr.boolean, not for {S.name}"
        )
    if not is_boolean(S, np.dtype(bool)):
        raise SemiringError(f"{S.name} is not the algebra of or and and; packed matrices are for that alone")
