"""Read a `Matrix`, in whichever way it holds its elements; answers that are held in that way keep its names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.graphs.held import Held
from semiring.graphs.held_bits import Bits
from semiring.graphs.holders import held_of
from semiring.graphs.matrix import Matrix
from semiring.graphs.operators import refuse_other_algebra
from semiring.graphs.order import over_vertices
from semiring.kernels.blocks.rows import Rows

from .dense import Dense, carried_by, dtype_of_answers, read_matrix
from .operand import Operand
from .packed import Packed, check_boolean
from .sparse import Sparse


class Like:
    """Makes a `Matrix` of an answer and names, over the algebra of another one.

    Parameters
    ----------
    M : Matrix
    """

    def __init__(self, M: Matrix):
        self.M = M

    def named(self, found: Any, names: Any) -> Any:
        """A matrix over vertices of these names; anything else unchanged."""
        held = held_of(found, self.M.semiring)
        return found if held is None else self.M._with(held, names, names, False)


def read_held(A: Matrix, S: Semiring, what: str) -> Operand:
    """Read a `Matrix` over vertices, whose names answers keep.

    Raises
    ------
    SemiringError
        For a matrix over a different algebra, in which other elements mean "no edge".
    """
    if A.holder == "dense":
        return read_matrix(A, S, what)
    refuse_other_algebra(A, S, what)
    A = over_vertices(A, what)
    given, like = of_held(A._held, S, what), Like(A)
    given.names, given.of_graph = A.names, True
    if isinstance(given, Sparse):
        given.by_rows = like.named
    elif isinstance(given, Packed):
        given.named = like.named
    return given.of_library(A.library)


def of_held(held: Held, S: Semiring, what: str, answers: Callable[[Any], Any] | None = None) -> Operand:
    """The elements of a `Matrix` as an operand, without names.

    Parameters
    ----------
    held : Held
    S : Semiring
    what : str
    answers : callable, optional
        Makes a `Matrix` of an answer: an array, compressed rows or packed bits.
    """
    if isinstance(held, Bits):
        check_boolean(S)
        return Packed(held.matrix, S, what, answers=answers)
    if held.kind == "dense":
        array = carried_by(held.array, S, what)
        return Dense(array, S, what, answers, callers_dtype=dtype_of_answers(held.array, array))
    rows = held.rows()
    values = carried_by(rows.values, S, what)
    given = Sparse(Rows(rows.offsets, rows.columns, values, rows.width), S, what, examined=False)
    given.callers_dtype, given.answers = dtype_of_answers(rows.values, values), answers
    given.by_rows = None if answers is None else lambda rows, names: answers(rows)
    return given


def of_rows(rows: Rows, S: Semiring, names: Any, library: str | None) -> Matrix:
    """A sparse `Matrix` over vertices of these names.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> of_rows(Rows(np.array([0, 1, 1]), np.array([1], np.int32), np.array([3.0]), 2), sr.min_plus, ["a", "b"], None)
    Matrix 2 × 2 over min-plus, float64, sparse, 1 entry
       a  b
    a  ·  3
    b  ·  ·
    """
    held = held_of(rows, S)
    assert held is not None
    return Matrix(np.empty((0, 0), rows.values.dtype), S, library=library)._with(held, names, names, False)
