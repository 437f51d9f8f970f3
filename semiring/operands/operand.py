"""What came in: elements of an algebra in some representation, and how an answer is given back in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering


class Operand:
    """A matrix, a stack of matrices or a vector over an algebra.

    A new representation is a class, a reader, and a row of `semiring.operands.read.READERS`.

    Attributes
    ----------
    kind : {"dense", "device", "sparse", "packed"}
        Which solvers are asked first.
    S : Semiring
    what : str
        Its name in messages.
    names : sequence or None
        Of the vertices.
    """

    kind: ClassVar[str]
    on_gpu: bool = False

    def __init__(self, S: Semiring, what: str, names: Sequence[Any] | None = None):
        self.S, self.what, self.names = S, what, names

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the matrix, behind the axes of a stack."""
        raise NotImplementedError

    @property
    def dtype(self) -> np.dtype:
        """Of the elements, as computed with."""
        raise NotImplementedError

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        raise NotImplementedError

    @property
    def facts(self) -> Facts:
        """What is known of the elements; refuses what is not one, with its place."""
        raise NotImplementedError

    def wrap(self, answer: Any) -> Any:
        """An answer as the caller's own type, with the names of the vertices."""
        return answer

    def stored(self, low: Lowering, copy: bool) -> Any:
        """The elements in a lowering's storage; their own memory may be used where `copy` is false."""
        raise NotImplementedError

    def unstored(self, low: Lowering, work: Any) -> Any:
        """What `stored` made, or an answer like it, as the caller's own type."""
        return self.wrap(low.decode(work))

    def position(self, vertex: int) -> Any:
        """What a vertex is called."""
        return vertex if self.names is None else self.names[vertex]


def order_of(shape: Sequence[int], what: str = "A") -> int:
    """The order of a square matrix, or of each matrix of a stack."""
    if len(shape) < 2 or shape[-1] != shape[-2]:
        text = " × ".join(map(str, shape)) or "one number"
        raise SemiringError(f"{what} must be a square matrix or a stack of them (…, n, n), and is {text}")
    return int(shape[-1])


def order_of_one(shape: Sequence[int], what: str = "A") -> int:
    """The order of one square matrix."""
    if len(shape) != 2:
        raise SemiringError(f"{what} must be one square matrix, and has shape {tuple(shape)}")
    return order_of(shape, what)
