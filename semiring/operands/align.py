"""What operands of one task need in common: one dtype, and the same vertices in one order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from semiring.algebra.tables import dtype_text
from semiring.errors import GraphError, SemiringError
from semiring.graphs.names import alignment, same_names, span_text
from semiring.graphs.order import between, by_labels
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
        If a vertex is in one of them only. Vertices without names are matched by position, unless the names of the
        others are integers, too.
    """
    if given is first:
        return given
    order = between(axis_labels(first, -1), axis_labels(given, -1), first.what, what)
    return given if order is None else given.part(order).changed(names=first.names)


def axis_labels(given: Operand, axis: int) -> Sequence[Any] | None:
    """The labels along an axis: a range for vertices without names; None if entries are matched by position."""
    if given.labels is not None:
        return given.labels[max(axis, -len(given.labels))]
    return (range(given.shape[-1]) if given.names is None else given.names) if given.of_graph else None


def in_one_order(
    operands: list[Operand], product: bool = True, left: bool = False, keep: bool = False
) -> list[Operand]:
    """Operands of a product and what it is added to, or a square matrix and a right-hand side, by their labels.

    Columns of a square stack are put into the order of its rows, and what an operand meets into its order; but a vector
    into that of a matrix. Then positions say all; `keep` leaves the labels for operands to come, as factors meet them.

    Raises
    ------
    GraphError
        If a label is in one of them only, or twice and in another order.
    """
    first, *rest = operands
    if not product and first.labels is not None:
        rows, columns = axis_labels(first, -2), axis_labels(first, -1)
        order = by_labels(rows, columns, _called(first, -2), _called(first, -1))
        first = _taken(first, order, -1).changed(labels=[columns if rows is None else rows] * 2)
    met = [first]
    if rest:
        met = [*in_order(first, rest[0], -1 if left else -2)]
    for other in rest[1:]:
        axes = [(X, axis) for X, axis in zip((rest[0], first), (-1, -2), strict=True) if len(X.shape) > 1]
        for mine, (X, axis) in zip((-1, -2), axes, strict=False):
            if len(other.shape) >= -mine:
                other = in_order(X, other, mine, axis)[1]
        met.append(other)
    return [X if keep or X.labels is None else X.changed(labels=None) for X in met]


def in_order(first: Operand, second: Operand, other: int = -2, axis: int = -1) -> tuple[Operand, Operand]:
    """Two operands, of which axes meet: the second one, or a vector that meets a matrix, in the order of the first.

    Raises
    ------
    GraphError
        If a label is in one of them only, or twice and in another order. A vector needs a label for each vertex.
    """
    here, there = axis_labels(first, axis), axis_labels(second, other)
    if here is None or there is None:
        return first, second
    if len(first.shape) == 1 and len(second.shape) == 2:
        second, first = in_order(second, first, axis, other)
        return first, second
    names = _called(first, axis), _called(second, other)
    if len(first.shape) == 2 and len(second.shape) == 1:
        order = _places(here, there, *names)
    else:
        of_matrix = 2 in (len(first.shape), len(second.shape))  # its names are never positions
        order = (between if of_matrix else by_labels)(here, there, *names)
    return first, _taken(second, order, other)


def _places(vertices: Sequence[Any], labels: Sequence[Any], first: str, what: str) -> np.ndarray | None:
    """The positions of vertices among the labels of a vector, which must be the vertices, each once."""
    if len(set(labels)) < len(labels):
        raise GraphError(f"{what} has a label twice; it needs one entry for each vertex of {first}")
    if isinstance(vertices, range) and {*labels} != {*vertices}:
        raise GraphError(f"{what} has the label {quoted(next(iter(labels), None))} and others, and the vertices of "
                         f"{first} are the integers {span_text(len(vertices))}: give {what}.to_numpy() to take it by "
                         "position")
    return alignment(list(vertices), labels, first, what)


def _called(given: Operand, axis: int) -> str:
    """An axis of an operand in messages."""
    return f"the {('rows', 'columns')[axis]} of {given.what}" if given.labels and len(given.shape) > 1 else given.what


def _taken(given: Operand, order: np.ndarray | None, axis: int) -> Operand:
    """An operand with an axis in another order."""
    if order is None:
        return given
    if not isinstance(given, Dense) or given.of_graph:
        raise GraphError(f"{given.what} is a matrix whose vertices are in another order than the labels of the stack "
                         f"that it meets: put them into one order, such as {given.what}[labels]")
    return given.changed(array=given.array.take(order, max(axis, -len(given.shape))))
