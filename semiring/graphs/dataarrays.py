"""Arrays of xarray as matrices and vectors with names, and matrices as arrays of xarray; no other module imports it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.errors import GraphError

from .names import as_names
from .texts import clip_repr

if TYPE_CHECKING:
    from .tables import Elements


def is_dataarray(data: Any) -> bool:
    """Whether this is a DataArray of xarray; there is none before xarray is loaded.

    >>> is_dataarray([[0.0]])
    False
    """
    return "xarray" in sys.modules and isinstance(data, sys.modules["xarray"].DataArray)


def labels_of(data: Any) -> list[list[Any] | None]:
    """The labels of each axis of a DataArray; None for an axis without coordinates.

    Raises
    ------
    GraphError
        For an axis whose labels have several levels.
    """
    found: list[list[Any] | None] = []
    for dim in data.dims:
        index = data.indexes.get(dim)
        if index is not None and index.nlevels > 1:
            raise GraphError(f"the coordinates {clip_repr(dim)} have {index.nlevels} levels: a name is one value, so "
                             f"reset the index, or pass names= of your own with the elements, A.to_numpy()")
        found.append(None if index is None else index.tolist())
    return found


def of_equal_dims(x: Any, y: Any) -> tuple[Any, Any]:
    """Two arrays with the dimensions of both, first those of x, of length 1 where one of them lacks them."""
    dims = [*x.dims, *(dim for dim in y.dims if dim not in x.dims)]
    x, y = (A.expand_dims([dim for dim in dims if dim not in A.dims]).transpose(*dims) for A in (x, y))
    return x, y


def dataarray_of(M: Elements, dims: Sequence[str]) -> Any:
    """See `Matrix.to_xarray`.

    Raises
    ------
    GraphError
        If xarray is not installed, or `dims` are not two different names.
    """
    names = as_names(dims) or []
    if isinstance(dims, str) or len(set(names)) != 2 or len(names) != 2:
        raise GraphError(f"dims must be two different names, of the rows and of the columns, and is {clip_repr(dims)}")
    try:
        import_module("xarray")
    except ImportError:
        raise GraphError("to_xarray needs xarray: pip install xarray, or use to_frame") from None
    return array_of(M.to_numpy(), names, {dim: labels for dim, labels in zip(names, M._ends, strict=True)
                                          if not isinstance(labels, range)})


def array_of(elements: np.ndarray, dims: Sequence[Any], coordinates: Mapping[Any, Sequence[Any]]) -> Any:
    """A DataArray of these elements, with lists of names or indexes as coordinates of some dimensions."""
    columns = {dim: _column(labels) if isinstance(labels, (list, tuple)) else labels
               for dim, labels in coordinates.items()}
    return import_module("xarray").DataArray(elements, dims=dims, coords={d: (d, x) for d, x in columns.items()})


def _column(labels: Sequence[Any]) -> np.ndarray:
    """Names as an array: of Python objects, unless they are of one plain type."""
    column = np.fromiter(labels, object, len(labels))
    if all(type(x) is type(labels[0]) and not isinstance(x, tuple) for x in labels):
        plain = np.array(labels)
        column = plain if plain.tolist() == column.tolist() else column  # texts lose zeros at their end
    return column
