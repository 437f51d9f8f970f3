"""What the verbs of sequences share: how they read arrays, and what they ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from semiring.errors import SemiringError
from semiring.graphs.dataarrays import is_dataarray, labels_of
from semiring.graphs.frames import elements_of, is_frame, is_pandas
from semiring.graphs.matrix import Matrix
from semiring.graphs.names import alignment
from semiring.graphs.operators import refuse_other_algebra
from semiring.operands.align import by_label
from semiring.operands.dense import Dense
from semiring.operands.read import elements
from semiring.solvers.plan import Plan


@dataclass(frozen=True, eq=False)
class Asked:
    """What a call asks for.

    Attributes
    ----------
    offer : callable
        Reads facts about the operands and makes the plan.
    """

    offer: Callable[[], Plan]

    def plan(self) -> Plan:
        """Return the plan; nothing large is allocated before it runs."""
        return self.offer()


def read_array(A: Any, S: Any, what: str, verb: str) -> Dense:
    """Read an array, on the host or on a GPU.

    Raises
    ------
    SemiringError
        For a sparse or packed matrix that is not a `Matrix`, and a graph.
    """
    if isinstance(A, Matrix) and A.holder != "dense":
        A = A.hold("dense")
    found = elements(A, S, what)
    if not isinstance(found, Dense):
        raise SemiringError(f"{verb} takes arrays, and {what} is a {type(A).__name__}: pass an array of elements")
    return found


def rows_by_state(A: Any, S: Any, first: Dense, what: str, verb: str) -> Dense:
    """Read rows whose elements belong to the vertices of a matrix: those of a data frame by its columns.

    A `Matrix` and a DataArray have such columns as well, and a series has labels. If the matrix has no names, they are
    read by position.

    Raises
    ------
    GraphError
        If the matrix has other names.
    SemiringError
        As `read_array` does.
    """
    columns: list[Any] | None = None
    if isinstance(A, Matrix):
        refuse_other_algebra(A, S, what)
        A, columns = A._held.all(), A.column_names
    elif is_dataarray(A) and A.ndim > 1:
        A, columns = A.to_numpy(), labels_of(A)[-1]
    elif is_frame(A) and getattr(A, "ndim", 2) == 2 and hasattr(A, "columns"):
        A, columns = (elements_of(A) if is_pandas(A) else A.to_numpy()), list(A.columns)
    found = read_array(A, S, what, verb)
    if not first.of_graph:
        return found
    if found.labels is not None:
        made = by_label(found, first, what)
        assert isinstance(made, Dense)
        return made
    if columns is None or first.names is None or found.on_gpu:
        return found
    order = alignment(list(first.names), columns, f"the vertices of {first.what}", f"the columns of {what}")
    return found if order is None else found.changed(array=found.array[..., order])


def same_memory(*operands: Dense | None) -> bool:
    """Return whether the operands are on a GPU; some may be left out.

    Raises
    ------
    SemiringError
        If some are, and others are in the host's memory.
    """
    there = [A for A in operands if A is not None]
    on_gpu = [A for A in there if A.on_gpu]
    if on_gpu and len(on_gpu) < len(there):
        (other, *_) = (A for A in there if not A.on_gpu)
        raise SemiringError(f"{on_gpu[0].what} is on a GPU and {other.what} in the host's memory: pass "
                            f"cupy.asarray({other.what})")
    return bool(on_gpu)


def answered(given: Dense, result: Any) -> Any:
    """An answer of another shape than the operand: in the caller's kind of array, dtype and byte order."""
    result = given.in_callers_dtype(result)
    return result if given.answers is None else given.answers(result)
