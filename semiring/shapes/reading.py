"""The operands of an einsum: arrays of one dtype, in the host's memory, with vertices in one order."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np

from semiring.algebra.by_name import algebra
from semiring.algebra.constants import cast_constant
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.graphs.names import alignment
from semiring.operands.convert import as_dense
from semiring.operands.dense import Dense
from semiring.operands.examine import examine
from semiring.operands.read import operand
from semiring.solvers.forms import same_dtype
from semiring.solvers.task import own_algebra

from .notation import Axis, Fitted


def algebra_of(given: Sequence[Any], S: Any) -> Semiring:
    """The algebra that was passed, or that of an operand."""
    return own_algebra("einsum", given) if S is None else algebra(S)


class Operands:
    """The operands as arrays.

    Parameters
    ----------
    given : sequence
        As they were passed.
    S : Semiring

    Attributes
    ----------
    arrays : list of ndarray
    """

    def __init__(self, given: Sequence[Any], S: Semiring):
        self.S = S
        weak = [isinstance(A, Number) and not isinstance(A, np.generic) and S.lift is None for A in given]
        weak = [w and not all(weak) for w in weak]
        read = [None if w else self._read(A, f"operand {i}") for i, (A, w) in enumerate(zip(given, weak, strict=True))]
        self.dtype = same_dtype(*(X for X in read if X is not None))
        self.operands = [self._number(A, f"operand {i}") if X is None else X
                         for i, (A, X) in enumerate(zip(given, read, strict=True))]
        self.first = next(X for X in read if X is not None)
        self.names: dict[Axis, Sequence[Any]] = {}  # of the vertices along an axis
        self.shapes = tuple(X.shape for X in self.operands)

    @property
    def arrays(self) -> list[np.ndarray]:
        """The elements."""
        return [X.array for X in self.operands]

    def examine(self) -> None:
        """Refuse anything that is not an element, with its place."""
        for X in self.operands:
            if X.shape:
                _ = X.facts
            else:
                examine(self.S, X.dtype, ((X.what, X.array.reshape(1)),))

    def _read(self, A: Any, what: str) -> Dense:
        if self.S.is_object and not isinstance(A, (np.ndarray, list, tuple)) and not hasattr(A, "shape"):
            one = np.empty((), object)
            one[()] = A
            A = one
        made = operand(A, self.S, what)
        if made.on_gpu:
            raise SemiringError(f"{what} is on a GPU, where einsum does not compute yet: pass {what.replace(' ', '_')}"
                                ".get(), or use matmul")
        return as_dense(made)

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
        """Put the vertices along each axis into the order of the first operand that names them.

        Raises
        ------
        GraphError
            If an axis has different vertices in two operands.
        """
        owner: dict[Axis, str] = {}
        for k, (X, axes) in enumerate(zip(self.operands, fitted.operands, strict=True)):
            if not X.of_graph or X.names is None:
                continue
            array = X.array
            for place, axis in enumerate(axes):
                if axis is None:
                    continue
                if axis not in self.names:
                    self.names[axis], owner[axis] = X.names, X.what
                    continue
                order = alignment(self.names[axis], X.names, owner[axis], X.what)
                if order is not None:
                    array = array.take(order, place)
            if array is not X.array:
                self.operands[k] = X.changed(array=array)

    def wrapped(self, result: np.ndarray, output: tuple[Axis, ...]) -> Any:
        """The answer in the type of the first operand."""
        first = self.first
        if not result.shape:
            return first.in_callers_dtype(result)[()]
        if not first.of_graph:
            return first.wrap(result)
        names = [self.names.get(a) for a in output]
        if len(output) == 2 and result.shape[0] == result.shape[1] and names[0] == names[1]:
            return first.changed(names=names[0]).wrap(result)
        return first.in_callers_dtype(result)
