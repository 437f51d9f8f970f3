"""The operands of an einsum: arrays of one dtype, in one memory, with vertices in one order."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from numbers import Number
from typing import Any

import numpy as np

from semiring.algebra.by_name import algebra
from semiring.algebra.constants import cast_constant
from semiring.algebra.dtypes import refuse_sums
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.graphs.dataarrays import is_dataarray
from semiring.graphs.dims import axes_of, broadcast, has_dataarray, with_axes
from semiring.graphs.matrix import Matrix
from semiring.graphs.names import alignment, as_names
from semiring.graphs.operators import refuse_other_algebra
from semiring.graphs.order import between, by_labels
from semiring.machine.memory import require
from semiring.operands.align import same_dtype
from semiring.operands.convert import as_dense, of_floats
from semiring.operands.dense import Dense, carried_by, dtype_of_answers
from semiring.operands.devices import is_on_gpu, module_of, to_host, upload
from semiring.operands.examine import examine
from semiring.operands.operand import Operand
from semiring.operands.read import elements
from semiring.solvers.task import UNCHECKED_BYTES, own_algebra

from .notation import Axis, Fitted

Vertices = Sequence[Any] | None  # names along an axis; None if they are numbered
STORED = ("sparse", "packed")  # kinds of operands without an array


def algebra_of(given: Sequence[Any], S: Any) -> Semiring:
    """The algebra that was passed, or that of an operand."""
    found = own_algebra("einsum", given) if S is None else algebra(S)
    refuse_sums(found, of_any=len(given) == 1)
    return found


class Operands:
    """The operands, of one dtype.

    Parameters
    ----------
    given : sequence
        As they were passed.
    S : Semiring

    Attributes
    ----------
    operands : list of Operand
    shapes : tuple of tuple of int
    vertices : list of tuple
        For each operand what its axes are called if they are those of a `Matrix` or a graph; () for other arrays.
    """

    def __init__(self, given: Sequence[Any], S: Semiring):
        self.S = S
        weak = [isinstance(A, Number) and not isinstance(A, np.generic) and S.lift is None for A in given]
        weak = [w and not all(weak) for w in weak]
        read = [None if w else self._read(A, f"operand {i}") for i, (A, w) in enumerate(zip(given, weak, strict=True))]
        some = [X for X, _ in filter(None, read)]
        if {X.dtype for X in some if not X.of_graph} == {np.dtype(np.float64)}:
            read = [None if X is None else (of_floats(X[0]), X[1]) for X in read]
        self.dtype = same_dtype(*(X for X, _ in filter(None, read)))
        both = [(self._number(A, f"operand {i}"), ()) if X is None else X
                for i, (A, X) in enumerate(zip(given, read, strict=True))]
        self.operands: list[Any] = [X for X, _ in both]
        self.vertices: list[tuple[Vertices, ...]] = [names for _, names in both]
        self.first = weak.index(False)  # the operand whose kind the answer has
        self.axes = [axes_of(A) for A in given] if has_dataarray(given) else []
        self.shapes = tuple(X.shape for X in self.operands)
        self.names: dict[Axis, Vertices] = {}  # along each axis of a `Matrix` or a graph
        self.orders: list[tuple[int, int, np.ndarray]] = []  # of vertices: an operand, its axis, and their places
        self.places: tuple[tuple[Axis | None, ...], ...] = ()  # the axes of each operand, as `align` gets them

    def stored(self, kinds: Sequence[str]) -> bool:
        """Whether an operand is of these kinds, and none is a `Matrix` with columns of its own."""
        own = any(names and not X.of_graph for X, names in zip(self.operands, self.vertices, strict=True))
        return not own and any(X.kind in kinds for X in self.operands)

    def examine(self, some: Sequence[int] | None = None) -> None:
        """Refuse anything in some operands, by default in all, that is not an element, with its place."""
        for X in self.operands if some is None else [self.operands[k] for k in some]:
            if X.shape:
                _ = X.facts
            else:
                examine(self.S, X.dtype, ((X.what, X.array.reshape(1)),))

    def _read(self, A: Any, what: str) -> tuple[Operand, tuple[Vertices, ...]]:
        """An operand, and what its axes are called."""
        S = self.S
        if S.is_object and not isinstance(A, (np.ndarray, list, tuple)) and not hasattr(A, "shape"):
            one = np.empty((), object)
            one[()] = A
            A = one
        if is_dataarray(A) and A.ndim == 2:
            A = Matrix(A, S)
        if isinstance(A, Matrix) and not A.is_over_vertices:
            refuse_other_algebra(A, S, what)
            array = carried_by(A._held.all(), S, what)
            made = Dense(array, S, what, callers_dtype=dtype_of_answers(A._held, array)).of_library(A.library)
            return made, (A.row_names, A.column_names)
        found = elements(A, S, what)
        return found, (found.names, found.names) if found.of_graph else ()

    def _number(self, x: Any, what: str) -> Dense:
        """A Python number in the dtype of the arrays."""
        dtype = self.dtype
        if dtype.names:
            raise SemiringError(f"{what} is {x}, and the elements of {self.S.name} are records: pass "
                                "S.array((…)) for one")
        try:
            exact = x if dtype.kind == "O" else cast_constant(x, dtype)
        except OverflowError as e:
            raise SemiringError(f"{what}: {e}") from None
        array = np.empty((), dtype)
        array[()] = exact
        return Dense(array, self.S, what)

    def align(self, fitted: Fitted) -> None:
        """Find the order of vertices along each axis: that of the first `Matrix` or graph that names them.

        The labels of a vector, or of a stack of xarray, name its entries if its axis is one of a `Matrix` or a graph
        too, or of another array with labels.

        Raises
        ------
        GraphError
            If an axis has different vertices in two operands.
        """
        self.places = fitted.operands
        owner: dict[Axis, str] = {}
        labelled: dict[Axis, tuple[Sequence[Any], str]] = {}  # the first labels along each axis, and whose they are
        for k, axes in enumerate(fitted.operands):
            for place, (axis, names) in enumerate(zip(axes, self.vertices[k], strict=False)):
                if axis is not None and self.names.get(axis) is None:
                    self.names[axis], owner[axis] = names, self._place(k, place)
        for k, axes in enumerate(fitted.operands):
            X = self.operands[k]
            called = self.vertices[k] or X.labels or ()
            for place, (axis, given) in enumerate(zip(axes, called, strict=False)):
                if axis is None or (given is None and not self.vertices[k]):
                    continue
                if axis in self.names:
                    names, both = self.names[axis], (owner[axis], self._place(k, place))
                    if len(X.shape) == 1 and given is not None:  # the labels of a vector are vertices
                        order = alignment([*range(fitted.sizes[axis])] if names is None else names, given, *both)
                    else:
                        order = between(names, given, *both)
                    if order is None and (names is None or isinstance(names, range)) and given is not None:
                        here, owns = labelled.setdefault(axis, (given, X.what))  # positions say nothing of these
                        order = by_labels(here, given, owns, X.what)
                else:
                    here, owns = labelled.setdefault(axis, (given, X.what))
                    order = by_labels(here, given, owns, X.what)
                    if order is None and [*here] == [*range(len(here))]:
                        labelled[axis] = given, X.what
                if order is not None:
                    self.orders.append((k, place, order))

    @property
    def on_gpu(self) -> bool:
        """Whether an operand is on a GPU, so that the einsum is computed there."""
        return any(X.on_gpu for X in self.operands)

    def as_arrays(self) -> list[Any]:
        """The elements as arrays, with vertices in one order; on the GPU if one of them is there.

        Raises
        ------
        SemiringError
            If memory is short for a sparse or packed operand.
        """
        arrays = [_as_array(X) for X in self.operands]
        for k, place, order in self.orders:
            arrays[k] = arrays[k].take(module_of(arrays[k]).asarray(order), place)
        return [A if is_on_gpu(A) else upload(A) for A in arrays] if self.on_gpu else arrays

    def _place(self, k: int, place: int) -> str:
        """An axis of an operand in messages."""
        X = self.operands[k]
        own = self.vertices[k] and not X.of_graph
        return f"the {('rows', 'columns')[place]} of {X.what}" if own else str(X.what)

    def wrapped(self, result: Any, output: tuple[Axis, ...]) -> Any:
        """The answer in the type of the first operand; a `Matrix` is in the host's memory."""
        first = self.operands[self.first]
        if not result.shape:
            return first.in_callers_dtype(result)[()]
        if not self.vertices[self.first]:
            return self._labelled(first.wrap(result), output)
        answer = first.in_callers_dtype(result)
        if len(output) != 2 or not all(axis in self.names for axis in output):
            return self._labelled(answer, output)
        rows, columns = (self.names[axis] for axis in output)
        answer = first.in_callers_dtype(to_host(answer))
        return Matrix(answer, self.S.declared, library=first.library)._renamed(as_names(rows), as_names(columns))

    def _labelled(self, answer: Any, output: tuple[Axis, ...]) -> Any:
        """The answer as a DataArray, if an operand is one, with labels in the order that `align` found."""
        known = [axes for axes in self.axes if axes is not None]
        if not known or len(known) < len(self.axes):
            return answer
        found = {}
        for axis in output:
            same = [of[place] for of, places in zip(known, self.places, strict=True)
                    for place, letter in enumerate(places) if letter == axis]
            (found[axis],) = broadcast(*([x] for x in same))
            if axis in self.names:
                found[axis] = found[axis]._replace(labels=self.names[axis])
        return with_axes(answer, [found[axis] for axis in output])


def _as_array(X: Operand) -> Any:
    """The elements of an operand of any kind, where they are."""
    if X.kind in STORED and (needed := prod(X.shape) * X.dtype.itemsize) > UNCHECKED_BYTES:
        require(needed, f"{X.what} is {X.kind}, and only a product of two matrices leaves it so: this einsum makes it "
                "dense, which", "take a part of it, or multiply matrices with matmul")
    return as_dense(X).array
