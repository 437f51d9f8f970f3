"""Arrays of xarray as matrices and vectors with names, and matrices as arrays of xarray; no other module imports it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
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
        xarray = import_module("xarray")
    except ImportError:
        raise GraphError("to_xarray needs xarray: pip install xarray, or use to_frame") from None
    coordinates = {}
    for dim, labels in zip(names, M._ends, strict=True):
        if not isinstance(labels, range):
            column = np.fromiter(labels, object, len(labels))
            if all(type(x) is type(labels[0]) and not isinstance(x, tuple) for x in labels):
                plain = np.array(labels)
                column = plain if plain.tolist() == column.tolist() else column  # texts lose zeros at their end
            coordinates[dim] = column
    return xarray.DataArray(M.to_numpy(), dims=names, coords=coordinates)
