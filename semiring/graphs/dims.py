"""What the axes of an answer are called if an operand is a DataArray of xarray: the answer is one, too.

    axes_of(operand)   the dimension and the labels of each axis         arrays have neither
      → RULES[verb]    which of them the answer has                      rows of A, columns of B
      → with_axes      the answer as a DataArray                         anything but an array, as a `Matrix`, stays
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import reduce
from inspect import signature
from itertools import combinations, zip_longest
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

from semiring.errors import GraphError

from .dataarrays import array_of, is_dataarray, of_equal_dims
from .texts import quoted


class Axis(NamedTuple):
    """An axis of an operand or of an answer.

    Attributes
    ----------
    length : int
    dim : str or None
        The name of the dimension.
    labels : sequence or None
        The coordinates.
    """

    length: int
    dim: Any = None
    labels: Any = None


Axes = list[Axis]


def axes_of(A: Any) -> Axes | None:
    """The axes of an operand as verbs read it; None for one whose labels are not known here, as a graph or a table.

    The columns of a square DataArray over the same labels are put into the order of its rows, as in a `Matrix`, where
    an axis without names has the numbers of its positions. Arrays and sparse matrices have no labels.

    Examples
    --------
    >>> axes_of(np.zeros((2, 3)))
    [Axis(length=2, dim=None, labels=None), Axis(length=3, dim=None, labels=None)]
    """
    if is_dataarray(A):
        found = own_axes(A)
        if len(found) != 2:
            return found
        rows, columns = (_numbered(axis) for axis in found)
        over_vertices = rows.length == columns.length and not {*rows.labels}.isdisjoint(columns.labels)
        return [rows, columns._replace(labels=rows.labels) if over_vertices else columns]
    if hasattr(A, "row_names"):
        ends = zip(A.shape, ("from", "to"), (A.row_names, A.column_names), strict=True)
        return [_numbered(Axis(n, dim, names)) for n, dim, names in ends]
    if isinstance(A, Number):
        return []
    if hasattr(A, "iloc"):
        return [Axis(len(A), None, _own(A.index))] if A.ndim == 1 else None
    if isinstance(A, (list, tuple)):
        with suppress(ValueError):  # elements that are sequences
            return [*map(Axis, np.shape(A))]
        return None
    known = isinstance(A, np.ndarray) or hasattr(A, "tocsr")
    return [*map(Axis, A.shape)] if known else None


def _numbered(axis: Axis) -> Axis:
    return axis if axis.labels is not None else axis._replace(labels=range(axis.length))


def own_axes(A: Any) -> Axes:
    """The axes of a DataArray as it is; labels that are texts of one kind stay so."""
    made = []
    for n, dim in zip(A.shape, A.dims, strict=True):
        index = A.indexes.get(dim)
        made.append(Axis(n, dim, A[dim].values if index is not None and A[dim].dtype.kind in "US" else index))
    return made


def labelled(build: Callable[..., Any], operands: tuple[Any, ...], options: dict[str, Any], answer: Any) -> Any:
    """The answer of a verb to its arguments, a DataArray if it is an array and an operand is one; `out` stays itself.

    Parameters
    ----------
    build : callable
        Has the verb's name and parameters.
    operands : tuple
    options : dict
    answer : array, or tuple of arrays, or anything else

    Raises
    ------
    GraphError
        If axes of stacks that were matched by position have other names or other labels.
    """
    names, rule = RULES.get(build.__name__, ((), None))
    if rule is None or "xarray" not in sys.modules:
        return answer
    given = signature(build).bind(*operands, **options).arguments
    found = {name: given[name] for name in names if given.get(name) is not None}
    if not has_dataarray(given["matrices"] if "matrices" in given else found.values()):
        return answer
    axes: dict[str, Any] = {}
    for name, x in found.items():
        as_rows = name in ROWS and is_dataarray(x)
        axes[name] = [*map(axes_of, x)] if name == "matrices" else own_axes(x) if as_rows else axes_of(x)
    if any(x is None or None in x for x in axes.values()):
        return answer
    made = rule(**axes, **{name: given[name] for name in ("left", "reverse", "axis", "lengths") if name in given})
    if (mask := given.get("mask")) is not None and any(len(x) > 2 for x in axes.values()):
        stacked(made, [axis._replace(dim=None) for axis in _of_elements(mask) or []])
    if given.get("out") is not None:
        return answer
    if hasattr(answer, "axes"):  # factors of a stack, whose answers have them
        answer.axes = made
    if isinstance(answer, tuple):
        parts = [with_axes(x, made[: x.ndim]) if isinstance(x, np.ndarray) else x for x in answer]
        return type(answer)(*parts) if hasattr(answer, "_fields") else tuple(parts)
    return with_axes(answer, made)


def by_element(answer: Any, *operands: Any) -> Any:
    """The answer of an operation by element, whose second operand was put into the order of the first."""
    if not has_dataarray(operands):
        return answer
    if all(map(is_dataarray, operands)) and len(operands) == 2:
        operands = of_equal_dims(*operands)
    axes = [_of_elements(A) for A in operands]
    return answer if None in axes else with_axes(answer, broadcast(*filter(None, axes)) if any(axes) else [])


def _of_elements(A: Any) -> Axes | None:
    if is_dataarray(A):
        return own_axes(A)
    if hasattr(A, "iloc") and A.ndim == 2:
        return [Axis(n, None, _own(labels)) for n, labels in zip(A.shape, (A.index, A.columns), strict=True)]
    return axes_of(A)


def _own(index: Any) -> Any:
    """The labels of an index of pandas; numbers from 0 that pandas made are positions."""
    return range(len(index)) if type(index).__name__ == "RangeIndex" and [*index[:1]] in ([], [0]) else index


def has_dataarray(operands: Iterable[Any]) -> bool:
    """Whether an operand is a DataArray.

    >>> has_dataarray(([[1.0]], "log"))
    False
    """
    return "xarray" in sys.modules and any(map(is_dataarray, operands))


def with_axes(answer: Any, axes: Sequence[Axis]) -> Any:
    """An array as a DataArray with these axes; anything else stays, and so does it if no dimension has a name.

    A dimension without a name gets one from its position, and one whose name another has already gets another.
    """
    if not isinstance(answer, np.ndarray) or len(axes) != answer.ndim or all(axis.dim is None for axis in axes):
        return answer
    dims: list[Any] = []
    coordinates = {}
    own = {axis.dim for axis in axes}
    for k, (axis, length) in enumerate(zip(axes, answer.shape, strict=True)):
        dim = f"dim_{k}" if axis.dim is None else axis.dim
        while dim in dims or (axis.dim is None and dim in own):
            dim = f"{dim}_2"
        dims.append(dim)
        if axis.labels is not None and not isinstance(axis.labels, range) and len(axis.labels) == length:
            coordinates[dim] = axis.labels
    return array_of(answer, dims, coordinates)


def broadcast(*operands: Axes) -> Axes:
    """The axes that several have together, the last ones matched: of two the longer, or the first that has a name.

    Labels are those of the first operand that has any: others were put into their order.
    """
    def one(first: Axis | None, second: Axis | None) -> Axis:
        both = [axis for axis in (first, second) if axis is not None]
        longest = max(axis.length for axis in both)
        both = [axis for axis in both if axis.length == longest]
        named = next((axis for axis in both if axis.dim is not None), both[0])
        return named._replace(labels=next((axis.labels for axis in both if axis.labels is not None), None))

    return reduce(lambda x, y: [one(*pair) for pair in zip_longest(x[::-1], y[::-1])][::-1], operands)


def stacked(*operands: Axes) -> Axes:
    """The leading axes of several stacks, which were matched by position.

    Raises
    ------
    GraphError
        If two that meet have other names, or other labels.
    """
    for x, y in combinations(operands, 2):
        for first, second in zip(x[::-1], y[::-1], strict=False):
            if first.length != second.length:  # one of them is repeated
                continue
            if None not in (first.dim, second.dim) and first.dim != second.dim:
                raise GraphError(f"the axes {quoted(first.dim)} and {quoted(second.dim)} of two stacks are matched by "
                                 "position: put axes into one order with transpose, and rename what is the same")
            positions = any(axis.labels is None or isinstance(axis.labels, range) for axis in (first, second))
            if not positions and not _same(first.labels, second.labels):
                raise GraphError("two operands have other labels, or the same ones in another order, along the axis "
                                 f"{quoted(first.dim or second.dim)} of a stack, which is matched by position: put "
                                 "them into one order with xarray.align")
    return broadcast(*operands)


def _same(first: Any, second: Any) -> bool:
    if hasattr(first, "equals") and hasattr(second, "equals"):
        return bool(first.equals(second))
    return bool([*first] == [*second])


def square(A: Axes) -> Axes:
    """The axes of matrices whose columns were put into the order of their rows; labels of one serve both."""
    labels = A[-1].labels if A[-2].labels is None else A[-2].labels
    return [*A[:-2], *(axis._replace(labels=labels) for axis in A[-2:])]


def product(A: Axes, B: Axes, accumulate: Axes | None = None) -> Axes:
    """The rows of A and the columns of B; a vector has neither."""
    ends = [*A[-2:-1], *(B[-1:] if len(B) > 1 else [])]
    C = [] if accumulate is None else accumulate[: max(len(accumulate) - len(ends), 0)]
    return [*stacked(A[:-2], B[:-2], C), *ends]


def solution(A: Axes, B: Axes, left: bool = False) -> Axes:
    """The axes of B, whose vertices are in the order of those of square matrices; unknowns on the right, or left."""
    *leading, vertices, _columns = square(A)
    right, at = [*B], -1 if left or len(B) == 1 else -2
    right[at] = broadcast([vertices], [right[at]])[0]._replace(dim=right[at].dim or vertices.dim)
    return [*stacked(leading, right[:-2]), *right[-2:]]


def _chain(matrices: list[Axes]) -> Axes:
    """Those of the ends; none if two matrices have other vertices, of which one was put into the other's order."""
    vertices = [[*axis.labels] for A in matrices if len(A) == 2 for axis in A if axis.labels is not None]
    if any(labels != vertices[0] for labels in vertices):
        return []
    if len(matrices) == 1:
        return matrices[0]
    first, *others, last = matrices
    single = Axis(1)
    rows, columns = [single, *first] if len(first) == 1 else first, [*last, single] if len(last) == 1 else last
    return [axis for axis in reduce(product, [rows, *others, columns]) if axis is not single]


def _prefixes(stack: Axes, initial: Axes | None = None, axis: int = 0, reverse: bool = False) -> Axes:
    *leading, rows, columns = square(stack)
    if initial is None:
        return [*leading, rows, columns]
    steps = axis % len(stack)
    stacked([*leading[:steps], *leading[steps + 1 :]], initial[:-2])
    return [*leading, rows, initial[-1]] if reverse else [*leading, initial[-2], columns]


def _rows(
    x: Axes, stack: Axes, emissions: Axes | None = None, lengths: Any = None, reverse: bool = False
) -> Axes:
    """A row for each step: those of emissions, or one more than there are steps; states in the order of the stack."""
    *steps, states, _columns = square(stack)
    *leading, first = x
    if emissions is None:
        time, last = Axis(0, steps[-1].dim if steps else None), first
    else:
        *others, time, last = emissions
        leading = [] if lengths is not None and not others else stacked(leading, others)
    if states.labels is None:
        stacked([last._replace(dim=None)], [first])
    dim = next((axis.dim for axis in (last, first, states) if axis.dim is not None), None)
    labels = next((axis.labels for axis in (states, last, first) if axis.labels is not None), None)
    return [*stacked(leading, steps[:-1]), time, Axis(states.length, dim, labels)]


ROWS = "initial", "x", "emissions"  # which are read as arrays even if they have two axes
RULES: dict[str, tuple[tuple[str, ...], Callable[..., Axes]]] = {
    "closure": (("A",), square), "power": (("A",), square), "factor": (("A",), square),
    "matmul": (("A", "B", "accumulate"), product), "chain": (("matrices",), _chain), "solve": (("A", "B"), solution),
    "scan": (("stack", "initial"), _prefixes), "forward": (("x", "stack", "emissions"), _rows),
}
