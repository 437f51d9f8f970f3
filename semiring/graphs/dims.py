"""What the axes of an answer are called if an operand is a DataArray of xarray: the answer is one, too.

    axes_of(operand)   the dimension and the labels of each axis         arrays have neither
      → RULES[verb]    which of them the answer has                      rows of A, columns of B
      → with_axes      the answer as a DataArray                         anything but an array, as a `Matrix`, stays
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from inspect import signature
from itertools import zip_longest
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


def axes_of(A: Any) -> Axes:
    """The axes of an operand; those of anything but a DataArray, a `Matrix` or a series have a length alone.

    Examples
    --------
    >>> axes_of(np.zeros((2, 3)))
    [Axis(length=2, dim=None, labels=None), Axis(length=3, dim=None, labels=None)]
    """
    if is_dataarray(A):
        return [Axis(n, dim, A.indexes.get(dim)) for n, dim in zip(A.shape, A.dims, strict=True)]
    if hasattr(A, "row_names"):
        ends = zip(A.shape, ("from", "to"), (A.row_names, A.column_names), strict=True)
        return [Axis(n, dim, names) for n, dim, names in ends]
    if isinstance(A, (list, tuple)):
        return [*map(Axis, np.shape(A))]
    if not hasattr(A, "shape"):
        return [] if isinstance(A, Number) else [Axis(0), Axis(0)]  # a graph
    labels = [A.index] if hasattr(A, "iloc") and A.ndim == 1 else [None] * len(A.shape)
    return [Axis(n, None, x) for n, x in zip(A.shape, labels, strict=True)]


def labelled(build: Callable[..., Any], operands: tuple[Any, ...], options: dict[str, Any], answer: Any) -> Any:
    """The answer of a verb to its arguments, a DataArray if it is an array and an operand is one; `out` stays itself.

    Parameters
    ----------
    build : callable
        Has the verb's name and parameters.
    operands : tuple
    options : dict
    answer : array, or tuple of arrays, or anything else
    """
    rule = RULES.get(build.__name__)
    if rule is None or options.get("out") is not None or not has_dataarray(operands, {**options, "mask": None}):
        return answer
    axes = rule(**signature(build).bind(*operands, **options).arguments)
    if hasattr(answer, "axes"):  # factors of a stack, whose answers have them
        answer.axes = axes
    if isinstance(answer, tuple):
        made = [with_axes(x, axes[: x.ndim]) if isinstance(x, np.ndarray) else x for x in answer]
        return type(answer)(*made) if hasattr(answer, "_fields") else tuple(made)
    return with_axes(answer, axes)


def by_element(answer: Any, *operands: Any) -> Any:
    """The answer of an operation by element, whose second operand was put into the order of the first."""
    if not has_dataarray(operands, {}):
        return answer
    if all(map(is_dataarray, operands)) and len(operands) == 2:
        operands = of_equal_dims(*operands)
    return with_axes(answer, broadcast(*map(axes_of, operands), aligned=True))


def has_dataarray(operands: Iterable[Any], options: dict[str, Any]) -> bool:
    """Whether an argument of a verb, or one in a list of operands, is a DataArray.

    >>> has_dataarray(([[1.0]], "log"), {"check": False})
    False
    """
    if "xarray" not in sys.modules:
        return False
    given = (*operands, *options.values())
    return any(is_dataarray(y) for x in given for y in (x if isinstance(x, (list, tuple)) else (x,)))


def with_axes(answer: Any, axes: Sequence[Axis]) -> Any:
    """An array as a DataArray with these axes; anything else stays, and so does it if no dimension has a name.

    A dimension without a name gets one from its position, and one whose name another has already gets another.
    """
    if not isinstance(answer, np.ndarray) or len(axes) != answer.ndim or all(axis.dim is None for axis in axes):
        return answer
    dims: list[Any] = []
    coordinates = {}
    for k, (axis, length) in enumerate(zip(axes, answer.shape, strict=True)):
        dim = f"dim_{k}" if axis.dim is None else axis.dim
        while dim in dims:
            dim = f"{dim}_2"
        dims.append(dim)
        if axis.labels is not None and not isinstance(axis.labels, range) and len(axis.labels) == length:
            coordinates[dim] = axis.labels
    return array_of(answer, dims, coordinates)


def broadcast(*operands: Axes, aligned: bool = False) -> Axes:
    """The axes that several have together, the last ones matched: of two the longer, or the first that has a name.

    Raises
    ------
    GraphError
        If two have other labels, unless their elements were `aligned`.
    """
    def one(first: Axis | None, second: Axis | None) -> Axis:
        both = [axis for axis in (first, second) if axis is not None]
        longest = max(axis.length for axis in both)
        both = [axis for axis in both if axis.length == longest]
        named = next((axis for axis in both if axis.dim is not None), both[0])
        labels = [axis.labels for axis in both if axis.labels is not None]
        if not aligned and len(labels) > 1 and [*labels[0]] != [*labels[1]]:
            raise GraphError(f"two operands have other labels, or the same ones in another order, along the dimension "
                             f"{quoted(named.dim)} of a stack, which is matched by position: put them into one order "
                             "with xarray.align")
        return named._replace(labels=labels[0] if labels else None)

    return reduce(lambda x, y: [one(*pair) for pair in zip_longest(x[::-1], y[::-1])][::-1], operands)


def square(A: Axes) -> Axes:
    """The axes of matrices whose columns were put into the order of their rows."""
    return [*A[:-1], A[-1]._replace(labels=A[-1].labels if A[-2].labels is None else A[-2].labels)]


def product(A: Axes, B: Axes) -> Axes:
    """The rows of A and the columns of B; a vector has neither."""
    return [*broadcast(A[:-2], B[:-2]), *A[-2:-1], *(B[-1:] if len(B) > 1 else [])]


def solution(A: Axes, B: Axes, left: bool) -> Axes:
    """The axes of B, whose vertices are in the order of those of square matrices; unknowns on the right, or left."""
    *leading, vertices, _columns = A
    right, at = [*B], -1 if left or len(B) == 1 else -2
    right[at] = broadcast([vertices], [right[at]], aligned=True)[0]._replace(dim=right[at].dim or vertices.dim)
    return [*broadcast(leading, right[:-2]), *right[-2:]]


def _closure(A: Any, **_: Any) -> Axes:
    return square(axes_of(A))


def _product(A: Any, B: Any, **_: Any) -> Axes:
    return product(axes_of(A), axes_of(B))


def _chain(matrices: Any, **_: Any) -> Axes:
    return reduce(product, map(axes_of, matrices))


def _solution(A: Any, B: Any, left: bool = False, **_: Any) -> Axes:
    return solution(square(axes_of(A)), axes_of(B), left)


def _prefixes(stack: Any, initial: Any = None, reverse: bool = False, **_: Any) -> Axes:
    *leading, rows, columns = square(axes_of(stack))
    if initial is None:
        return [*leading, rows, columns]
    X = axes_of(initial)
    return [*leading, rows, X[-1]] if reverse else [*leading, X[-2], columns]


def _rows(x: Any, stack: Any, emissions: Any = None, lengths: Any = None, **_: Any) -> Axes:
    """A row for each step: those of emissions, or one more than there are steps; states in the order of the stack."""
    *steps, states, _columns = square(axes_of(stack))
    *leading, first = axes_of(x)
    if emissions is None:
        time, last = Axis(0, steps[-1].dim if steps else None), first
    else:
        *others, time, last = axes_of(emissions)
        leading = [] if lengths is not None and not others else broadcast(leading, others)
    dim = next((axis.dim for axis in (last, first, states) if axis.dim is not None), None)
    labels = next((axis.labels for axis in (states, last, first) if axis.labels is not None), None)
    return [*broadcast(leading, steps[:-1]), time, Axis(states.length, dim, labels)]


RULES: dict[str, Callable[..., Axes]] = {
    "closure": _closure, "power": _closure, "factor": _closure, "matmul": _product, "chain": _chain,
    "solve": _solution, "scan": _prefixes, "forward": _rows,
}
