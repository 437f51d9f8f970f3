"""Read packed matrices: truth values, one bit each, on the host or on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.algorithms.sparse.relaxation import CompressedRows
from semiring.errors import SemiringError
from semiring.kernels.cpu.bits.lowering import packed_bits
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.boolean import is_boolean

from .operand import Operand

TRAVELS = 128 << 20  # bytes from which copies take longer than to begin them piece by piece
TRUTH, TWO_VALUED = np.dtype(bool), Facts(two_valued=True)


class Packed(Operand):
    """A `PackedMatrix`, on the host or on a GPU.

    Attributes
    ----------
    matrix : PackedMatrix
    mine : bool
        Whether the library owns it, so that it may be overwritten.
    named : callable or None
        Makes a `Matrix` of an answer and the names of the vertices; None for a matrix without names.
    """

    kind = "packed"
    named: Callable[[Any, Sequence[Any] | None], Any] | None = None

    def __init__(
        self, matrix: PackedMatrix, S: Semiring, what: str = "A", *, mine: bool = False,
        answers: Callable[[Any], Any] | None = None,
    ):
        rows, columns = matrix.shape
        self.S, self.what, self.shape, self.dtype, self.names = S, what, (rows, columns), TRUTH, None
        self.callers_dtype = TRUTH
        self.matrix, self.mine, self.on_gpu, self.answers = matrix, mine, matrix.device != "cpu", answers

    @property
    def nbytes(self) -> int:
        """Bytes of the words."""
        return int(self.matrix.nbytes)

    @property
    def facts(self) -> Facts:
        """The fact that every element is 0 or 1."""
        return TWO_VALUED

    def form(
        self, length: int, *, beside: Sequence[Operand] = (), check: bool = True, in_place: bool = False,
        packed: bool | None = None,
    ) -> tuple[Facts, Lowering]:
        """The fact that every element is 0 or 1, and the form in bits."""
        return TWO_VALUED, self.lowering(TWO_VALUED, length)

    def lowering(self, facts: Facts, length: int, *, in_place: bool = False, packed: bool = False) -> Lowering:
        """The form in bits."""
        if not self.on_gpu:
            return packed_bits(self.S, self.dtype)
        from semiring.kernels.cuda.choose import packed_on_device

        return packed_on_device(self.S, self.dtype)

    def stored(self, low: Lowering, copy: bool) -> Any:
        """The packed words; their own memory may be used unless `copy`."""
        if copy:
            return self.matrix.copy()
        return self.matrix if self.on_gpu or self.matrix.words.flags.writeable else self.matrix.copy()

    def unstored(self, low: Lowering, work: Any) -> Any:
        """The packed matrix, where the operand came from."""
        return self.wrap(work)

    @property
    def bounded(self) -> bool:
        """Whether no edge is better than one: True, because True is one."""
        return True

    @property
    def T(self) -> Packed:
        """The transposed matrix; answers stay where it is."""
        return Packed(self.matrix.transpose(), self.S, self.what, mine=True)

    def graph(self, matrix: tuple[int, ...] | None = None) -> CompressedRows:
        """The matrix as a graph to search on the host."""
        rows = self.here().to_sparse()
        return CompressedRows(rows.indptr, rows.indices, np.full(rows.nnz, self.S.one_in(bool)))

    def here(self) -> PackedMatrix:
        """The matrix on the host."""
        return self.matrix.get()

    def wrap(self, answer: Any) -> Any:
        """An answer where the operand came from, with the names of the vertices."""
        if self.of_graph and self.named is not None:
            return self.named(answer, self.names)
        return answer if self.answers is None else self.answers(answer)

    def part(self, vertices: np.ndarray) -> Packed:
        """The rows and columns of some vertices, in the order of these."""
        return self._like(self.matrix[vertices][:, vertices], self._names_of(vertices))

    def eye(self) -> Packed:
        """The identity of the same shape, where the matrix is."""
        return self._like(type(self.matrix).identity(self.shape[0]), self.names)

    def _like(self, matrix: PackedMatrix, names: Sequence[Any] | None) -> Packed:
        """Other bits, with answers of the caller's own type."""
        made = Packed(matrix, self.S, self.what, mine=True, answers=self.answers)
        made.names, made.of_graph, made.named = names, self.of_graph, self.named
        return made


class Sent(Packed):
    """A packed matrix of the host that a GPU computes with: it goes there when it is needed, and answers come back."""

    on_gpu = True

    def __init__(self, given: Packed):
        vars(self).update({name: value for name, value in vars(given).items() if name not in ("matrix", "on_gpu")})
        self.host, self.hosts_own, self.mine = given.matrix, given.mine, True
        self.named, self.answers = None, lambda work: given.wrap(work.get())

    @cached_property
    def matrix(self) -> PackedMatrix:  # type: ignore[override]
        """The matrix on the GPU."""
        return self.host.to_device("gpu")

    @property
    def nbytes(self) -> int:
        """Bytes of the words."""
        return int(self.host.nbytes)

    def here(self) -> PackedMatrix:
        """The matrix on the host."""
        return self.host

    def closure(self, reflexive: bool, overwrite: bool) -> PackedMatrix | None:
        """The closure on the host, whose rows travel while others are computed; None if they are too few for that."""
        if self.nbytes < TRAVELS:
            return None
        from semiring.kernels.cuda.bits.carried import closed

        return closed(self.host, reflexive, overwrite or self.hosts_own)


def read_packed(A: Any, S: Semiring, what: str) -> Packed:
    """Read a packed matrix, on the host or on a GPU."""
    check_boolean(S)
    return Packed(A, S, what)


@lru_cache(256)
def check_boolean(S: Semiring, asked: str = "") -> None:
    """Refuse algebras whose elements do not fit in one bit."""
    if S.default_dtype.kind != "b" or S.zero_in(bool) or not S.one_in(bool):
        raise SemiringError(
            f"{asked}one bit per pair is only enough for algebras of False and True, such as sr.boolean, not {S.name}"
        )
    if not is_boolean(S, np.dtype(bool)):
        raise SemiringError(f"packed matrices need the algebra of or and and, sr.boolean, not {S.name}")
