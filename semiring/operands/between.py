"""The factors of a product of matrices whose columns have names of their own: inner names agree, outer names stay."""

from __future__ import annotations

from typing import Any

from semiring.algebra.by_name import algebra
from semiring.algebra.semiring import Semiring
from semiring.errors import GraphError
from semiring.graphs.adjacency import adjacency
from semiring.graphs.dataarrays import is_dataarray
from semiring.graphs.frames import has_columns_of, has_index_of, has_labels
from semiring.graphs.held import Array, Held, arranged
from semiring.graphs.holders import comes_by_entries, converted, held_of
from semiring.graphs.matrix import Matrix
from semiring.graphs.operators import refuse_other_algebra
from semiring.graphs.order import between

from .align import axis_labels, same_vertices
from .dense import Dense, carried_by, dtype_of_answers
from .held import of_held, read_held
from .operand import Operand
from .pack import before_preparing
from .packed import Packed
from .read import is_of_edges

Names = list[Any] | None
NAMES = ("A", "B", "accumulate")


def factors(given: tuple[Any, ...], S: Semiring | str | None) -> tuple[Any, ...]:
    """The operands A, B and perhaps C of C ⊕ A ⊗ B; unchanged unless one is a `Matrix` with columns of its own.

    B is put into the order of A's columns, and C into that of the answer, whose rows are called as those of A and whose
    columns as those of B.

    Raises
    ------
    GraphError
        If the columns of A and the rows of B have different names.
    SemiringError
        For a matrix over a different algebra.
    """
    if any(map(is_dataarray, given)):
        over = next((x.semiring for x in given if isinstance(x, Matrix)), None) if S is None else algebra(S)
        if over is not None:
            given = tuple(Matrix(x, over) if is_dataarray(x) and x.ndim == 2 else x for x in given)
    given = _tables_by_name(*given)
    if any((isinstance(x, Packed) and x.of_graph) or (isinstance(x, Matrix) and x.holder == "packed") for x in given):
        given = tuple(before_preparing(x) if isinstance(x, Operand) and x.of_graph else x for x in given)
    if not any(isinstance(x, Matrix) and (not x.is_over_vertices or x.holder == "packed") for x in given):
        return given
    S = next(x.semiring for x in given if isinstance(x, Matrix)) if S is None else algebra(S)
    A, B, *others = (_as_matrix(x, S, what) for x, what in zip(given, NAMES, strict=False))
    if isinstance(A, Matrix) and isinstance(B, Matrix):
        if "packed" in (A.holder, B.holder):
            A, B = A.hold("packed"), B.hold("packed")
        order = between(A.column_names, B.row_names, "the columns of A", "the rows of B")
        if order is not None and A.is_over_vertices and B.is_over_vertices:  # the answer has one order of vertices
            B, order = B._with(arranged(B._held, order, order), A.names, A.names, False), None
        answer = Answer(A, B)
        C = [_in_order(answer, x, S) if isinstance(x, Matrix) else x for x in others]
        return (of_held(A._held, S, "A", answer), of_held(arranged(B._held, order, None), S, "B"), *C)
    made = [of_held(_for_arrays(x._held), S, what).changed(labels=x._ends) if isinstance(x, Matrix) else x
            for x, what in zip((A, B, *others), NAMES, strict=False)]
    if not isinstance(A, Matrix) and not isinstance(B, Matrix):
        return tuple(made)
    M, inner = (A, 1) if isinstance(A, Matrix) else (B, 0)
    if M.is_over_vertices:
        made[1 - inner] = read_held(M.hold("sparse"), S, NAMES[1 - inner])
    else:  # a mask may name the answer's rows or columns
        made[1 - inner].names = M.row_names if inner else M.column_names
    return tuple(made)


def _tables_by_name(A: Any, B: Any, *others: Any) -> tuple[Any, ...]:
    """The operands; a data frame whose index or columns are the inner names of a `Matrix` is a matrix, not edges."""
    if isinstance(A, (Matrix, Operand)) and has_index_of(B, _names_along(A, 1)):
        B = Matrix(B, A.semiring if isinstance(A, Matrix) else A.S)
    elif isinstance(B, (Matrix, Operand)) and has_columns_of(A, _names_along(B, 0)):
        A = Matrix(A, B.semiring if isinstance(B, Matrix) else B.S)
    return (A, B, *others)


def _names_along(x: Matrix | Operand, axis: int) -> Any:
    """The names of the rows or of the columns."""
    return x.names if isinstance(x, Operand) else x.column_names if axis else x.row_names


def _for_arrays(held: Held) -> Held:
    """A matrix as it is multiplied by arrays: bits by the entries that are True."""
    return converted(held, "sparse") if held.kind == "packed" else held


def right_side(B: Matrix, A: Operand, left: bool) -> Dense:
    """The right-hand side B of equations with the matrix A, its rows (or columns, if `left`) in the order of A's.

    Raises
    ------
    GraphError
        If these have different names than A's vertices.
    SemiringError
        For a matrix over a different algebra.
    """
    refuse_other_algebra(B, A.S, "B")
    names, rows = [B.row_names, B.column_names], axis_labels(A, -2)
    vertices = axis_labels(A, -1) if rows is None else rows  # the columns of a stack come into the order of its rows
    order = None
    if vertices is not None:
        order = between(vertices, names[left], f"the vertices of {A.what}", f"the {'columns' if left else 'rows'} of B")
        names[left] = names[left] if isinstance(vertices, range) and order is None else [*vertices]
    array = converted(arranged(B._held, *((None, order) if left else (order, None))), "dense").array
    carried = carried_by(array, A.S)

    def answer(found: Any) -> Any:
        if found.ndim > 2:  # of a stack of equations
            return found
        rows, columns = names
        return B._with(Array(found, B.semiring), rows, columns, True)

    return Dense(carried, A.S, "B", answer, callers_dtype=dtype_of_answers(array, carried))


class Answer:
    """Makes a `Matrix` of a product, with the rows of A and the columns of B."""

    def __init__(self, A: Matrix, B: Matrix):
        self.A, self.B = A, B

    @property
    def ends(self) -> tuple[Names, Names]:
        """The names of the answer's rows, and of its columns."""
        return self.A.row_names, self.B.column_names

    def __call__(self, found: Any) -> Any:
        held = held_of(found, self.A.semiring)
        if held is None:
            return found
        own = not (self.A.is_over_vertices and self.B.is_over_vertices)
        made = self.A._with(held, *self.ends, own)
        made.library = self.A.library or self.B.library
        return made


def keeps_any(A: Operand, B: Operand) -> bool:
    """Whether their sparse product becomes a `Matrix` or a `Graph`, which keep elements that no SciPy matrix holds.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> from .read import read
    >>> given = [read(sr.Matrix(np.eye(2), sr.min_plus), sr.min_plus, what) for what in "AB"]
    >>> keeps_any(*given)
    True
    """
    return same_vertices(A, B) or isinstance(A.answers, Answer)


def _in_order(answer: Answer, C: Matrix, S: Semiring) -> Any:
    rows, columns = answer.ends
    down = between(rows, C.row_names, "the rows of the answer", "the rows of accumulate")
    across = between(columns, C.column_names, "the columns of the answer", "the columns of accumulate")
    return of_held(arranged(C._held, down, across), S, "accumulate")


def _as_matrix(x: Any, S: Semiring, what: str) -> Any:
    """A graph, a sparse or packed matrix, or a data frame with labels, as a `Matrix`; anything else unchanged."""
    if isinstance(x, Operand):
        raise GraphError(f"{what} was prepared, and the other operand is a Matrix with columns of its own: pass the "
                         "matrix itself")
    if not isinstance(x, Matrix):
        x = Matrix(x, S) if has_labels(x) or comes_by_entries(x) else adjacency(x, S) if is_of_edges(x) else x
    if isinstance(x, Matrix):
        refuse_other_algebra(x, S, what)
    return x
