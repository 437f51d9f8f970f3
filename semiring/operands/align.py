"""What operands of one task need in common: one dtype, and the same vertices in one order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from semiring.algebra.tables import dtype_text
from semiring.errors import GraphError, SemiringError
from semiring.graphs.names import alignment, as_integer, same_names
from semiring.graphs.order import by_labels
from semiring.graphs.texts import quoted

from .dense import Dense
from .operand import Operand


def same_dtype(*operands: Operand) -> np.dtype:
    """Return the dtype of all operands, which must be the same."""
    first, *others = operands
    for other in others:
        if other.dtype != first.dtype:
            raise SemiringError(
                f"{first.what} is {dtype_text(first.dtype)} and {other.what} is {dtype_text(other.dtype)}; convert one "
                "with .astype(…)"
            )
    return first.dtype


def alike(left: Operand, right: Operand) -> bool:
    """Return whether both operands have the same names, or none; only then the answer has names."""
    return left.of_graph == right.of_graph and same_names(left.names, right.names)


def same_vertices(left: Operand, right: Operand) -> bool:
    """Return whether rows and columns of both are vertices, and the same ones."""
    return left.of_graph and alike(left, right)


def aligned(given: Operand, first: Operand, what: str) -> Operand:
    """Reorder a matrix over vertices to the order of the first operand; return it unchanged if the order is the same.

    `what` is its name in messages: a prepared matrix has the name from another call.

    Raises
    ------
    GraphError
        If both have names, and a vertex is in one of them only. Vertices without names are matched by position.
    """
    if given is first or given.names is None or first.names is None:
        return given
    order = alignment(first.names, given.names, first.what, what)
    if order is None:
        return given
    return given.part(order).changed(names=first.names)


def by_label(given: Operand, first: Operand, what: str) -> Operand:
    """A vector with labels as an array in the order of a matrix's vertices.

    Raises
    ------
    GraphError
        If the labels are not the vertices, each once.
    """
    assert isinstance(given, Dense) and given.labels is not None
    labels, n = list(given.labels), first.shape[-1]
    plain = given.changed(labels=None)
    if first.names is None and sorted(p for x in labels if (p := as_integer(x)) is not None) != list(range(n)):
        raise GraphError(f"{what} has the label {quoted(next(iter(labels), None))} and others, and the vertices of "
                         f"{first.what} are the integers 0 to {n - 1}: give {what}.to_numpy() to take it by position")
    vertices = list(range(n)) if first.names is None else list(first.names)
    if len(set(labels)) < len(labels):
        raise GraphError(f"{what} has a label twice; it needs one entry for each vertex of {first.what}")
    order = alignment(vertices, labels, first.what, what)
    return plain if order is None else plain.changed(array=given.array[order])


def like_vector(given: Operand, first: Operand) -> Operand:
    """A vector in the order of the labels of another one; unchanged unless both have labels.

    Raises
    ------
    GraphError
        If a label is in one of them only, or twice and in another order.
    """
    order = by_labels(first.labels, given.labels, first.what, given.what)
    if order is None:
        return given
    assert isinstance(given, Dense)
    return given.changed(array=given.array[order], labels=first.labels)


def stacks_by_labels(operands: list[Operand], product: bool, left: bool) -> list[Operand]:
    """Operands of a product, or a square one and right-hand sides, some of them stacks whose rows have labels.

    Columns of a square stack are put into the order of its rows, and what a stack meets into its order. Then positions
    say all.

    Raises
    ------
    GraphError
        If a label is in one of them only, or twice and in another order.
    """
    first, *rest = operands
    met = [first]
    ends = _along(first, -2), _along(first, -1)
    if not product and first.ends is not None:
        order = by_labels(*ends, f"the rows of {first.what}", f"the columns of {first.what}")
        met, ends = [_taken(first, order, -1)], (ends[0], ends[0])
    if rest:
        second, *others = rest
        axis = -1 if left or len(second.shape) == 1 else -2
        mine, others_of = ("columns" if product else "vertices"), ("columns" if left else "rows")
        order = by_labels(ends[1], _along(second, axis), f"the {mine} of {first.what}",
                          f"the {others_of} of {second.what}")
        met.append(_taken(second, order, axis))
        for other in others:
            for axis, labels in ((-2, ends[0]), (-1, _along(second, -1))):
                other = _taken(other, by_labels(labels, _along(other, axis), "the answer", other.what), axis)
            met.append(other)
    return [X if X.ends is None else X.changed(ends=None) for X in met]


def _along(given: Operand, axis: int) -> Sequence[Any] | None:
    """The labels along an axis of matrices, or of a vector."""
    if given.ends is not None:
        return given.ends[axis]
    return given.labels if len(given.shape) == 1 else given.names if given.of_graph else None


def _taken(given: Operand, order: np.ndarray | None, axis: int) -> Operand:
    """An operand with an axis in another order."""
    if order is None:
        return given
    if not isinstance(given, Dense) or given.of_graph:
        raise GraphError(f"{given.what} is a matrix whose vertices are in another order than the labels of the stack "
                         f"that it meets: put them into one order, such as {given.what}[labels]")
    return given.changed(array=given.array.take(order, axis))
