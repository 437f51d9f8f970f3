"""Read a matrix in a file, or in the file format of an array library: when needed, or a tile at a time."""

from __future__ import annotations

import os
from copy import copy
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from semiring.algebra.rounding import in_longer_floats, is_relative, worse, worse_by
from semiring.algebra.semiring import Semiring
from semiring.algorithms.labels import Graph
from semiring.errors import SemiringError
from semiring.graphs.texts import quoted, shown
from semiring.kernels.facts import Facts, together
from semiring.kernels.lowering.sums import widen
from semiring.machine.memory import require
from semiring.scale.stores import ArraySource, Source, opened, slabs

from .dense import Dense, carried_by, dtype_of_answers
from .examine import examine
from .operand import Operand

ROWS = 64  # of a graph that stay in memory


class Stored(Dense):
    """A matrix that is at least partly not in memory.

    Attributes
    ----------
    source : Source
        Reads tiles.
    """

    source: Source

    def __init__(self, source: ArraySource, S: Semiring, what: str):
        self.S, self.what, self.shape, self.names = S, what, source.shape, None
        carried = carried_by(np.empty(0, source.dtype), S, what)
        self.dtype, self.callers_dtype = carried.dtype, dtype_of_answers(source, carried)
        self.source = source

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return int(np.prod(self.shape)) * self.dtype.itemsize

    @cached_property
    def array(self) -> np.ndarray:
        """The whole matrix, in memory."""
        require(self.nbytes, f"{self.what}, read as a whole,", "closure(…, out=…, memory=…) takes it a tile at a time")
        if isinstance(self.source, ArraySource):
            return carried_by(np.ascontiguousarray(self.source.array[...]), self.S)
        elements = np.empty(self.shape, self.source.dtype)
        rows, columns = (slice(0, k) for k in self.shape)
        self.source.read(rows, columns, elements)
        return carried_by(elements, self.S)

    def with_elements(self, elements: Any) -> Dense:
        """Other elements in the same places, in memory."""
        return Dense(elements, self.S, self.what)

    def graph(self, matrix: tuple[int, ...] | None = None) -> Graph:
        """The matrix as a graph to search; its rows are read when they are needed."""
        return super().graph() if "array" in vars(self) else StoredGraph(self.source, self.S)

    def through(self, source: Source) -> Stored:
        """The matrix as read from another source."""
        made = copy(self)
        made.source = source
        for known in ("array", "facts"):  # of other elements
            vars(made).pop(known, None)
        return made


def read_path(A: Any, S: Semiring, what: str) -> Stored:
    """Read the path of a .npy file or a zarr array.

    Raises
    ------
    SemiringError
        If there is no such file, or it does not hold a matrix.
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
    """Read an array of zarr, or a data set of HDF5.

    Raises
    ------
    SemiringError
        If the file of a data set has been closed.
    """
    if not getattr(A, "id", True):  # in h5py the sign of a closed file
        raise SemiringError(f"{what} is a data set of HDF5 whose file has been closed: open it again")
    return Stored(ArraySource(A), S, what)


def look_through(given: Operand, source: Source, begin: int = 0, end: int | None = None) -> Facts | None:
    """Facts about the elements of a source, or of some of its rows, which are read once, a block at a time.

    Parameters
    ----------
    given : Operand
        Its algebra, its dtype and its name in messages are used.
    source : Source
    begin, end : int, optional
        The first row, and that after the last one.

    Returns
    -------
    Facts or None
        None if there are no rows.

    Raises
    ------
    SemiringError
        For anything that is not an element, with its place.
    """
    found = []
    for rows, columns in slabs(source, begin, end):
        elements = np.empty((rows.stop - rows.start, columns.stop - columns.start), source.dtype)
        source.read(rows, columns, elements)
        place = rows.start, columns.start
        found.append(examine(given.S, given.dtype, ((given.what, carried_by(elements, given.S)),), place))
    return together(found) if found else None


class Loosened:
    """A matrix that is read a tile at a time, with each edge worsened by a tolerance.

    Parameters
    ----------
    source : Source
    S : Semiring
    dtype : dtype
        The dtype of the elements in the computation.
    tol : float
    """

    def __init__(self, source: Source, S: Semiring, dtype: np.dtype, tol: float):
        self._source, self._S, self._tol, self._relative = source, S, tol, is_relative(S)
        self.shape, self.dtype, self.path = source.shape, dtype, source.path
        self.chunks: tuple[int, int] | None = getattr(source, "chunks", None)

    def read(self, rows: slice, columns: slice, out: np.ndarray) -> None:
        """Write a block of it into an array."""
        elements = np.empty(out.shape, self._source.dtype)
        self._source.read(rows, columns, elements)
        out[...] = worse_by(self._S.over(self.dtype), carried_by(elements, self._S), self._tol, self._relative)

    def identity(self) -> dict[str, Any]:
        """The identity of the matrix; the tolerance is recorded separately."""
        return self._source.identity()


class StoredGraph:
    """The graph of a matrix that is not in memory, by its rows: a `semiring.algorithms.labels.Graph`.

    Parameters
    ----------
    source : Source
    S : Semiring
    facts : Facts, optional
        If given, weights are in longer floats, so that sums cannot overflow, and worsened by their rounding errors.
    """

    def __init__(self, source: Source, S: Semiring, facts: Facts | None = None):
        self.n, self._source, self._S, self._facts = source.shape[0], source, S, facts
        self._everything = np.arange(self.n)
        self.values = self._made(np.empty((0, self.n), source.dtype))  # only its dtype is used
        self._row = lru_cache(ROWS)(self._read)

    def edges(self, u: int) -> tuple[np.ndarray, np.ndarray]:
        return self._everything, self._row(u)

    def along(self, tails: Any, heads: Any) -> np.ndarray:
        return np.array([self._row(int(u))[v] for u, v in zip(tails, heads, strict=True)], self.values.dtype)

    def with_values(self, values: np.ndarray) -> Graph:
        raise NotImplementedError("the weights are in a file")

    def _read(self, u: int) -> np.ndarray:
        row = np.empty((1, self.n), self._source.dtype)
        self._source.read(slice(u, u + 1), slice(0, self.n), row)
        return self._made(row)[0]

    def _made(self, rows: np.ndarray) -> np.ndarray:
        rows = carried_by(rows, self._S)
        if self._facts is None:
            return rows
        wide = widen(self._S, rows, self._facts)
        return in_longer_floats(worse(self._S.over(wide.dtype), wide))
