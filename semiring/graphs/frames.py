"""Data frames whose index and columns are vertices, and matrices as data frames of pandas or Polars."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.errors import GraphError

from .exports import entries_of
from .names import alignment

if TYPE_CHECKING:
    from .matrix import Matrix
    from .tables import Table


def has_labels(data: Any) -> bool:
    """Whether this is a data frame with an index, as those of pandas are."""
    return hasattr(data, "columns") and hasattr(data, "index") and hasattr(data, "to_numpy")


def is_square(frame: Any) -> bool:
    """Whether a data frame is a matrix over vertices: its index and its columns name some vertices alike.

    Raises
    ------
    GraphError
        When it has two or three rows and columns that are numbered only, and could be edges as well.
    """
    if not has_labels(frame) or frame.shape[0] != frame.shape[1] or not frame.shape[0]:
        return False
    index, columns = list(frame.index), list(frame.columns)
    if index == columns == list(range(len(index))) and len(index) in (2, 3):
        side = len(index)
        raise GraphError(
            f"a data frame of shape ({side}, {side}) could be {side} edges or a matrix of {side} vertices: name the "
            "columns of edges from, to and weight, and give a matrix to from_dense or Matrix"
        )
    return bool(set(index) & set(columns))


def matrix_of(frame: Any, names: Sequence[Any] | None) -> tuple[np.ndarray, list[Any] | None]:
    """The elements of a square data frame, rows and columns in one order, and the names of its vertices.

    Parameters
    ----------
    frame : pandas.DataFrame
    names : sequence of hashable, optional
        The order of the vertices; of rows and columns that are only numbered, their names. Default: that of the index.

    Raises
    ------
    GraphError
        When index, columns and names are not the same vertices.
    """
    index, columns, array = list(frame.index), list(frame.columns), frame.to_numpy()
    if index == columns == list(range(len(index))):
        return array, None if names is None else list(names)
    order = alignment(index, columns, "the index", "the columns of the data frame")
    array = array if order is None else array[:, order]
    if names is None:
        return array, index
    order = alignment(names, index, "names", "the index of the data frame")
    return array if order is None else array[np.ix_(order, order)], list(names)


def frame_of(M: Matrix | Table, down: Sequence[Any], across: Sequence[Any], long: bool, library: str) -> Any:
    """A matrix or a table, whose rows and columns are some vertices, as a data frame; see `Matrix.to_frame`."""
    if library not in ("pandas", "polars"):
        raise GraphError(f"library must be 'pandas' or 'polars', and is {library!r}")
    module = import_module(library)
    if long:
        rows, columns, values = entries_of(M)
        ends = {"from": [down[i] for i in rows], "to": [across[j] for j in columns]}
        return module.DataFrame({**ends, "weight": plain(values)})
    if library == "polars":
        cells = {str(name): plain(M.array[:, j]) for j, name in enumerate(across)}
        if len({"from", *cells}) <= len(across):
            raise GraphError("columns of Polars are called by texts, all different and none of them 'from'; the names "
                             "of these vertices are not so: use long=True")
        return module.DataFrame({"from": list(down), **cells})
    index, columns = (module.Index(list(names), tupleize_cols=False) for names in (down, across))
    return module.DataFrame(plain(M.array.reshape(-1)).reshape(M.shape), index=index, columns=columns)


def plain(values: np.ndarray) -> np.ndarray:
    """A column as a data frame holds it: records as tuples."""
    if not values.dtype.names:
        return values
    return np.fromiter(values.tolist(), dtype=object, count=len(values))
