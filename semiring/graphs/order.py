"""Rows and columns of two matrices in one order, by their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.errors import GraphError, SemiringError

from .dataarrays import is_dataarray, labels_of, of_equal_dims
from .frames import elements_of
from .held import arranged
from .names import alignment, is_whole, same_names

if TYPE_CHECKING:
    from semiring.algebra.semiring import Semiring

    from .matrix import Matrix
    from .ufuncs import ArrayProtocol

Order = np.ndarray | None


def orders(A: ArrayProtocol, B: ArrayProtocol) -> tuple[Order, Order]:
    """The positions of B's rows and columns in the order of A's; None where the order is the same.

    Raises
    ------
    GraphError
        If a name is in one of them only.
    """
    if A.column_names is A.row_names and B.column_names is B.row_names:
        order = between(A.row_names, B.row_names, "A", "B")
        return order, order
    return (between(A.row_names, B.row_names, "the rows of A", "the rows of B"),
            between(A.column_names, B.column_names, "the columns of A", "the columns of B"))


def between(mine: Sequence[Any] | None, others: Sequence[Any] | None, first: str, second: str) -> Order:
    """The positions of one axis of B in the order of one axis of A; None if the order is the same.

    Vertices without names, None or a range, are matched by position, unless the names are integers, too.

    Raises
    ------
    GraphError
        If a name is on one of them only; a similar name is suggested.

    Examples
    --------
    >>> between(["a", "b"], ["b", "a"], "the columns of A", "the rows of B").tolist()
    [1, 0]
    >>> between(None, ["b", "a"], "A", "B"), between(None, [1, 0], "A", "B").tolist()
    (None, [1, 0])
    """
    mine = range(len(others)) if mine is None and others is not None else mine
    others = range(len(mine)) if others is None and mine is not None else others
    if mine is None or others is None:
        return None
    if isinstance(mine, range) or isinstance(others, range):
        return by_labels(mine, others, first, second)
    return alignment(mine, others, first, second)


def reordered(array: np.ndarray, rows: Order, columns: Order) -> np.ndarray:
    """An array with its rows and its columns at other positions; itself if both orders are None."""
    if rows is not None and columns is not None:
        return array[np.ix_(rows, columns)]
    if rows is not None:
        return array[rows]
    return array if columns is None else array[:, columns]


def paired(S: Semiring, x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands that are combined by element: arrays, the second one in the order of the labels of the first.

    Labels are names of a `Matrix`, the index and the columns of pandas, and coordinates of xarray. The axes of two
    arrays of xarray are those of the first one, and then those that only the second one has, as in xarray. An axis
    without labels, or with numbers from 0 beside names other than integers, is matched by position, and one of length
    1 is repeated.

    Raises
    ------
    GraphError
        If a label is in one of them only, or twice and in another order.
    SemiringError
        For a matrix over a different algebra.

    Examples
    --------
    >>> import semiring as sr
    >>> roads = sr.adjacency([("a", "b", 3.0)], sr.min_plus)
    >>> [x.tolist() for x in paired(sr.min_plus, roads, roads[["b", "a"]])]
    [[[inf, 3.0], [inf, inf]], [[inf, 3.0], [inf, inf]]]
    """
    if is_dataarray(x) and is_dataarray(y):
        x, y = of_equal_dims(x, y)
    (x, mine), (y, others) = (_labels_of(A, S, what) for A, what in ((x, "x"), (y, "y")))
    for axis, (here, there) in enumerate(zip(mine[::-1], others[::-1], strict=False), 1):
        order = by_labels(here, there, "x", "y")
        y = y if order is None else y.take(order, axis=-axis)
    return x, y


def by_labels(here: Sequence[Any] | None, there: Sequence[Any] | None, first: str, second: str) -> Order:
    """The positions of the labels of one axis in the order of another one; None where these are matched by position.

    So are numbers from 0, such as the index that pandas makes, beside names. Beside integers they are labels.

    Raises
    ------
    GraphError
        If a label is in one of them only, or twice and in another order.

    Examples
    --------
    >>> by_labels(["a", "b"], ["b", "a"], "x", "y").tolist(), by_labels(["a", "b"], [0, 1], "x", "y")
    ([1, 0], None)
    """
    if here is None or there is None or (isinstance(here, range) and isinstance(there, range)):
        return None
    here, there = ([*x] if isinstance(x, range) else x for x in (here, there))
    if same_names(here, there) or (len(here) != len(there) and 1 in (len(here), len(there))):
        return None
    for counted, names in ((here, there), (there, here)):
        if counted == [*range(len(counted))] and not any(map(_is_position, names)):
            return None
    if len(set(there)) < len(there) or len(set(here)) < len(here):
        raise GraphError(f"{first} and {second} have labels in different orders, and one comes twice: pass .to_numpy() "
                         "to match them by position")
    return alignment(here, there, first, second)


def _is_position(name: Any) -> bool:
    """Whether a label is an integer, perhaps as a float or a text."""
    return name.isdecimal() if isinstance(name, str) else is_whole(name)


def labels_along(A: Any) -> list[Any] | None:
    """The labels of a series or of a DataArray of one axis; None for anything else.

    >>> import pandas as pd
    >>> labels_along(pd.Series([1.0, 2.0], ["a", "b"])), labels_along([1.0, 2.0])
    (['a', 'b'], None)
    """
    if is_dataarray(A) and A.ndim == 1:
        return labels_of(A)[0]
    labels: list[Any] | None = A.index.tolist() if hasattr(A, "iloc") and A.ndim == 1 else None
    return labels


def _labels_of(A: Any, S: Semiring, what: str) -> tuple[Any, list[list[Any] | None]]:
    """An operand as an array, and the labels of its axes; unchanged, with no labels, if it is of any other type."""
    if hasattr(A, "row_names"):
        if A.semiring is not S.declared:
            raise SemiringError(f"{what} is a matrix over {A.semiring.name}, and not over {S.name}: its elements have "
                                "another meaning")
        return np.asarray(A), [A.row_names, A.column_names]
    if is_dataarray(A):
        return A.to_numpy(), labels_of(A)
    if not hasattr(A, "iloc"):
        return A, []
    if hasattr(A, "columns"):
        return elements_of(A), [A.index.tolist(), A.columns.tolist()]
    return A.to_numpy(), [A.index.tolist()]


def both(A: ArrayProtocol, B: ArrayProtocol) -> tuple[list[Any] | None, list[Any] | None]:
    """The names of the rows and of the columns of A, and those of B where A has none and B was not reordered."""
    rows, columns = (
        theirs if mine is None and between(mine, theirs, "A", "B") is None else mine
        for mine, theirs in ((A.row_names, B.row_names), (A.column_names, B.column_names)))
    return rows, rows if A.column_names is A.row_names and B.column_names is B.row_names else columns


def over_vertices(M: Matrix, what: str, advice: str = "") -> Matrix:
    """A matrix whose rows and columns are the same vertices, its columns put into the order of the rows.

    The message of the error ends with the advice.

    Raises
    ------
    GraphError
        If they are different.
    """
    if M.is_over_vertices:
        return M
    height, width = M.shape
    if height != width or M.row_names is None or M.column_names is None:
        raise GraphError(f"{what} must be a square matrix whose rows and columns are the same vertices, and is "
                         f"{height} × {width}{' with columns of their own' if height == width else ''}{advice}")
    order = alignment(M.row_names, M.column_names, f"the rows of {what}", f"the columns of {what}")
    return M._with(arranged(M._held, None, order), M.row_names, M.row_names, False)
