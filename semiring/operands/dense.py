"""Read dense arrays: NumPy arrays of any strides, stacks, masked arrays, a `Matrix`, nested lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import isqrt, prod
from numbers import Number
from typing import Any

import numpy as np

from semiring.algebra.carried import arithmetic_of
from semiring.algebra.elements import full
from semiring.algebra.given import carrying
from semiring.algebra.masks import is_masked, unmasked
from semiring.algebra.rounding import nothing_improves
from semiring.algebra.semiring import Semiring
from semiring.algebra.vectors import convert
from semiring.algorithms import labels
from semiring.errors import SemiringError
from semiring.graphs.matrix import Matrix
from semiring.graphs.operators import refuse_other_algebra
from semiring.graphs.order import over_vertices
from semiring.graphs.texts import quoted
from semiring.kernels.choose import only_form
from semiring.kernels.facts import Facts, together
from semiring.kernels.lowering.base import Lowering

from .devices import to_host
from .examine import examine
from .operand import Operand

Wrap = Callable[[np.ndarray], Any]

STARTS, MORE_STEPS = 4, 32  # vertices from which walks begin that are to come back, and steps in small graphs
SAMPLED = 16  # pairs of opposite elements by which a matrix is looked at before it is as a whole


class Dense(Operand):
    """An array in the host's memory."""

    kind = "dense"

    def __init__(
        self, array: Any, S: Semiring, what: str = "A", answers: Wrap | None = None,
        names: Sequence[Any] | None = None, of_graph: bool = False, callers_dtype: np.dtype | None = None,
    ):
        self.S, self.what, self.shape, self.dtype, self.names = S, what, array.shape, array.dtype, names
        self.array, self.answers, self.of_graph = array, answers, of_graph
        self.callers_dtype = self.dtype if callers_dtype is None else callers_dtype

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return int(self.array.nbytes)

    @property
    def elements(self) -> Any:
        """The array itself."""
        return self.array

    @cached_property
    def facts(self) -> Facts:
        """Facts about the elements; raises an error for anything that is not an element, with its place."""
        return examine(self.S, self.dtype, ((self.what, self.array),))

    @cached_property
    def bounded(self) -> bool:
        """Whether no edge is better than one."""
        return nothing_improves(arithmetic_of(self.S, self.dtype), self.array)

    def opposite(self) -> tuple[np.ndarray, np.ndarray]:
        """A few elements of a matrix, and those opposite of them: whether there are edges both ways, and alike."""
        n = self.shape[-1]
        i = np.arange(SAMPLED) * n // SAMPLED
        j = (i * 7 + 1) % n
        return self.array[i, j], self.array[j, i]

    def may_be_acyclic(self) -> bool:
        """Whether no walk along first edges, from a few vertices, was seen to come back to where it was."""
        n, is_zero = self.shape[-1], self.S.over(self.dtype).is_zero
        steps = 2 * isqrt(n) + MORE_STEPS  # in a random graph, walks of 1.25 √n come back
        for start in range(0, n, max(n // STARTS, 1)):
            u, met = start, {start}
            while steps:
                steps -= 1
                edges = ~is_zero(self.array[u])
                edges[u] = False
                v = int(edges.argmax())
                if not edges[v]:
                    break
                if v in met:
                    return False
                met.add(v)
                u = v
        return True

    @property
    def T(self) -> Dense:
        """The transposed matrix, or stack of matrices; a vector is unchanged. Answers are arrays."""
        array = self.array
        return self.with_elements(array if array.ndim == 1 else array.swapaxes(-1, -2)).plain

    def eye(self) -> Dense:
        """The identity of the same shape; answers have the caller's own type."""
        array = full(np.empty(self.shape, self.dtype), self.S.zero_in(self.dtype))
        at = np.arange(self.shape[-1])
        array[..., at, at] = full(array[..., at, at], self.S.one_in(self.dtype))
        return self.with_elements(array)

    def part(self, vertices: np.ndarray) -> Dense:
        """The rows and columns of some vertices, in the order of these."""
        found = self.with_elements(self.array[np.ix_(vertices, vertices)])
        found.names = self._names_of(vertices)
        return found

    def with_elements(self, elements: Any) -> Dense:
        """Other elements in the same places; answers have the caller's own type."""
        callers = self.callers_dtype if elements.dtype == self.dtype else None
        made = type(self)(elements, self.S, self.what, self.answers, self.names, self.of_graph, callers)
        return made.of_library(self.library)

    def graph(self, matrix: tuple[int, ...] | None = None) -> labels.Graph:
        """The matrix, or one of a stack, as a graph to search on the host."""
        return labels.Dense(to_host(self.array if matrix is None else self.array[matrix]))

    def form(
        self, length: int, *, beside: Sequence[Operand] = (), check: bool = True, in_place: bool = False,
        packed: bool | None = None,
    ) -> tuple[Facts, Lowering]:
        """Facts about the elements, and the form in which to compute; see `Operand.form`."""
        facts, packed = self._facts_with(beside), len(self.shape) == 2 if packed is None else packed
        low = only_form(self.S, self.dtype, facts.two_valued)
        return facts, low or self.lowering(facts, length, in_place=in_place, packed=packed)

    def _facts_with(self, beside: Sequence[Operand]) -> Facts:
        """Facts about all elements together; those of prepared operands are not checked again."""
        if not beside:
            return self.facts
        known = [x.facts for x in (self, *beside) if "facts" in vars(x)]
        new = [(x.what, x.array) for x in (self, *beside) if "facts" not in vars(x)]  # type: ignore[attr-defined]
        found = [examine(self.S, self.dtype, new)] if new else []
        return together([*known, *found]) if known else found[0]

    def wrap(self, answer: Any) -> Any:
        """An answer in the caller's own type, with the names of the vertices."""
        if self.callers_dtype is not self.dtype:
            answer = self.in_callers_dtype(answer)
        if self.answers is not None:
            return self.answers(answer)
        return Matrix(answer, self.S.declared, self.names, self.library) if self.of_graph else answer

    def matrix(self, place: tuple[int, ...]) -> Dense:
        """One matrix of a stack; facts about all elements also hold for its own."""
        array = self.array[place]
        return self.changed(array=array, shape=array.shape)

    def stored(self, low: Lowering, copy: bool) -> Any:
        """The elements in a lowering's storage; their own memory may be used unless `copy`."""
        return low.encode(self.array, copy)


class Lifted(Dense):
    """Plain numbers as records of an algebra, which are made when something reads them.

    Attributes
    ----------
    weights : ndarray
        The numbers; a GPU gets them instead of the records, and makes the records itself.
    """

    def __init__(self, weights: np.ndarray, S: Semiring, what: str):
        assert S.lift is not None
        made = S.lift(np.empty(0, weights.dtype))
        carried = carried_by(made, S)
        self.weights, self.S, self.what, self.shape, self.names = weights, S, what, weights.shape, None
        self.dtype, self.callers_dtype = carried.dtype, dtype_of_answers(made, carried)
        self.answers, self.of_graph = None, False

    @cached_property
    def array(self) -> np.ndarray:
        """The records."""
        assert self.S.lift is not None
        return np.asarray(carried_by(self.S.lift(self.weights), self.S))

    @property
    def nbytes(self) -> int:
        """Bytes of the records."""
        return prod(self.shape) * self.dtype.itemsize

    def with_elements(self, elements: Any) -> Dense:
        """Other elements in the same places; answers have the caller's own type."""
        callers = self.callers_dtype if elements.dtype == self.dtype else None
        return Dense(elements, self.S, self.what, self.answers, self.names, self.of_graph, callers)


def read_array(A: np.ndarray, S: Semiring, what: str) -> Dense:
    """Read a NumPy array, or a subclass."""
    if A.dtype.kind not in "biufcO":
        refuse_dtype(A.dtype, S, what)
    if type(A) is not np.ndarray and is_masked(A):
        array = unmasked(A, S, what)
        lifted = array.dtype.names and not A.dtype.names
        return Dense(array, S, what, callers_dtype=S.element_dtype if lifted else dtype_of_answers(A, array))
    A = np.asarray(A)  # answers are plain arrays, not views of a file or matrices of NumPy
    if S.lift is not None and S.lift.takes(A.dtype):
        return Lifted(A, S, what)
    array = carried_by(A, S, what)
    return Dense(array, S, what, callers_dtype=dtype_of_answers(A, array))


def read_matrix(A: Matrix, S: Semiring, what: str) -> Dense:
    """Read a `Matrix`, whose names answers keep.

    Raises
    ------
    SemiringError
        For a matrix over a different algebra, in which other elements mean "no edge".
    """
    refuse_other_algebra(A, S, what)
    if not A.is_over_vertices:
        A = over_vertices(A, what)
    array = carried_by(A.array, S, what)
    return Dense(array, S, what, None, A.names, True, dtype_of_answers(A, array)).of_library(A.library)


def read_nested(A: Any, S: Semiring, what: str) -> Dense:
    """Read nested lists, and whatever else NumPy can turn into an array."""
    if isinstance(A, np.generic) and not S.is_object:
        return read_array(np.asarray(A), S, what)
    try:
        array = S.array(A) if (S.is_record and not _of_numbers(A)) or S.is_object else np.asarray(A)
    except (ValueError, TypeError, OverflowError) as e:
        raise SemiringError(f"{what} is not a matrix: {e}; pass a NumPy array, a sparse matrix or a graph") from None
    if array.dtype.kind in "US":
        parts = np.asarray(A, object)
        at = next(i for i in np.ndindex(parts.shape) if isinstance(parts[i], (str, bytes)))
        place = f"{what}[{', '.join(map(str, at))}]" if at else what
        raise SemiringError(f"{place} is {quoted(parts[at])}, which is not a number")
    if array.dtype == object and not array.ndim and not S.is_object:
        raise SemiringError(
            f"{what} is of type {type(A).__name__}, and not a matrix; pass a NumPy array, a sparse matrix or a graph"
        )
    if array.dtype.kind not in "biufcO":
        refuse_dtype(array.dtype, S, what)
    if S.is_record:
        return read_array(array, S, what)
    return Dense(carried_by(array, S, what, literal=True), S, what)


def _of_numbers(A: Any) -> bool:
    """Whether nested lists hold plain numbers, which NumPy would repeat to make records."""
    while isinstance(A, list) and A:
        A = A[0]
    return isinstance(A, Number) or (isinstance(A, np.ndarray) and A.dtype.kind in "biufc")


def refuse_dtype(dtype: np.dtype, S: Semiring, what: str) -> None:
    """Refuse elements that are not numbers, and records with such fields; the dtype is checked later."""
    parts = [dtype[f] for f in dtype.names] if dtype.names and S.fields else [dtype]
    for part in parts:
        if part.kind in "biufc" or (S.fields and part.base.kind in "biufc"):
            continue  # whether vectors are as long as the algebra's is checked later
        if part is dtype and part.kind in "USVmM":
            continue  # refused later, with the dtypes that the algebra lives in
        raise SemiringError(f"{what} has elements of dtype {part}, which are not numbers; {S.name} lives in "
                            f"{', '.join(str(d) for d in S.dtypes)}")


def carried_by(array: Any, S: Semiring, what: str = "", literal: bool = False) -> Any:
    """Convert an array to a dtype that can carry the algebra, unless its own can.

    Raises
    ------
    SemiringError
        If there is none; it says what `what` is.
    """
    dtype = array.dtype
    # Nested lists of Python numbers have no dtype of their own, so take the algebra's.
    wanted = None if literal else S._promoted.get(dtype)
    if wanted is None:
        wanted = carrying(dtype, S, what, literal)
    return array if dtype is wanted or (dtype == wanted and dtype.isnative) else convert(array, wanted)


def dtype_of_answers(given: Any, carried: Any) -> np.dtype:
    """The data's dtype, in their byte order; that of the floats for whole numbers that became floats."""
    became_floats = given.dtype.kind in "iub" and given.dtype.kind != carried.dtype.kind
    return carried.dtype if became_floats else given.dtype
