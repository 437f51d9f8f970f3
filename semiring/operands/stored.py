"""A matrix in a file, or in an array library's own kind of file: read when it is needed, or a tile at a time."""

from __future__ import annotations

import os
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.graphs.texts import quoted, shown
from semiring.machine.memory import require
from semiring.scale.stores import ArraySource, Source, opened

from .dense import Dense, as_is, carried_by, dtype_of_answers


class Stored(Dense):
    """A matrix that is not in memory, or not all of it.

    Attributes
    ----------
    source : Source
        Where tiles are read from.
    """

    source: Source

    def __init__(self, source: ArraySource, S: Semiring, what: str):
        self.S, self.what, self.shape, self.names = S, what, source.shape, None
        carried = carried_by(np.empty(0, source.dtype), S)
        self.dtype, self.callers_dtype = carried.dtype, dtype_of_answers(source, carried)
        self.source, self._wrap = source, as_is

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return int(np.prod(self.shape)) * self.dtype.itemsize

    @cached_property
    def array(self) -> np.ndarray:
        """All of it, in memory."""
        require(self.nbytes, f"{self.what}, read as a whole,", "closure(…, out=…, memory=…) takes it a tile at a time")
        if isinstance(self.source, ArraySource):
            return carried_by(np.ascontiguousarray(self.source.array[...]), self.S)
        elements = np.empty(self.shape, self.source.dtype)
        rows, columns = (slice(0, k) for k in self.shape)
        self.source.read(rows, columns, elements)
        return carried_by(elements, self.S)

    def through(self, source: Source) -> Stored:
        """The matrix as another source gives it."""
        made = copy(self)
        made.source = source
        for known in ("array", "facts"):  # of other elements
            vars(made).pop(known, None)
        return made


def read_path(A: Any, S: Semiring, what: str) -> Stored:
    """The path of a .npy file or a zarr array.

    Raises
    ------
    SemiringError
        If there is no such file, or it holds no matrix.
    """
    path = Path(os.fsdecode(A))
    if not path.exists():
        raise SemiringError(f"{what} is {quoted(os.fsdecode(A))}, and there is no such file; graphs in files are read "
                            "by sr.read_graph")
    found = opened(path)
    if len(found.shape) != 2:
        raise SemiringError(f"{shown(path)} holds an array of {len(found.shape)} axes, and no matrix")
    return Stored(found, S, what)


def read_chunked(A: Any, S: Semiring, what: str) -> Stored:
    """An array of zarr, or a data set of HDF5.

    Raises
    ------
    SemiringError
        If the file of a data set has been closed.
    """
    if not getattr(A, "id", True):  # h5py's word for a data set without a file
        raise SemiringError(f"{what} is a data set of HDF5 whose file has been closed: open it again")
    return Stored(ArraySource(A), S, what)
