"""What the verbs of sequences share: how they read arrays, and what they ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from semiring.errors import SemiringError
from semiring.graphs.dataarrays import is_dataarray, labels_of
from semiring.graphs.frames import elements_of, is_frame, is_pandas
from semiring.graphs.matrix import Matrix
from semiring.graphs.operators import refuse_other_algebra
from semiring.graphs.order import between
from semiring.operands.align import axis_labels, in_one_order, in_order
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


def read_stack(A: Any, S: Any, verb: str) -> Dense:
    """Read matrices of steps; the columns of a DataArray are put into the order of its rows, whose labels are names.

    Raises
    ------
    GraphError
        If rows and columns of a DataArray have different labels.
    SemiringError
        As `read_array` does.
    """
    found = read_array(A, S, "stack", verb)
    if found.labels is None or len(found.shape) < 3:
        return found
    rows, columns = found.labels[-2:]
    (made,) = in_one_order([found], product=False)
    assert isinstance(made, Dense)
    return made if rows is columns is None else made.changed(names=columns if rows is None else rows, of_graph=True)


def rows_by_state(A: Any, S: Any, first: Dense, what: str, verb: str, *, axis: int = -1) -> Dense:
    """Read rows whose elements belong to the vertices of a matrix: those of a data frame by its columns.

    A `Matrix` and a DataArray have such columns as well, and a series has labels. If the matrix has no names, they are
    read by position. With `axis` −2 elements of columns belong to the vertices, and are read by the names of rows.

    Raises
    ------
    GraphError
        If the matrix has other names.
    SemiringError
        As `read_array` does.
    """
    labels: list[Any] | None = None
    if isinstance(A, Matrix):
        refuse_other_algebra(A, S, what)
        A, labels = A._held.all(), list(A.column_names if axis == -1 else A.row_names)
    elif is_dataarray(A) and A.ndim > 1:
        A, labels = A.to_numpy(), labels_of(A)[axis]
    elif is_frame(A) and getattr(A, "ndim", 2) == 2 and hasattr(A, "columns"):
        rows = list(A.index) if is_pandas(A) else None
        A, labels = (elements_of(A) if is_pandas(A) else A.to_numpy()), list(A.columns) if axis == -1 else rows
    found = read_array(A, S, what, verb)
    if not first.of_graph:
        return found
    if found.labels is not None:
        made = in_order(first.changed(shape=first.shape[-2:]), found)[1]
        assert isinstance(made, Dense)
        return made.changed(labels=None)
    if labels is None or found.on_gpu:
        return found
    ends = "columns" if axis == -1 else "rows"
    order = between(axis_labels(first, -1), labels, f"the vertices of {first.what}", f"the {ends} of {what}")
    return found if order is None else found.changed(array=found.array.take(order, axis))


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
