"""Arrays, edges and sparse matrices to packed matrices and back, never by way of the unpacked matrix."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np

from semiring.algebra.arguments import array_of
from semiring.errors import SemiringError
from semiring.kernels.blocks.bits import ROW_WORDS, AnyRows, PackedRows, check_writable

from . import choose

ENTRIES = 1 << 20  # positions converted at once


def from_dense(kind: type[AnyRows], array: Any, threads: int | None) -> AnyRows:
    """An entry is True where it differs from zero."""
    if is_on_gpu(array):
        return class_on_gpu().from_dense(array)
    array = np.asarray(array)
    check_kind(array)
    if array.flags.f_contiguous and not array.flags.c_contiguous:
        return choose.transposed(from_dense(kind, array.T, threads), threads)
    matrix = kind.empty(*array.shape)
    choose.pack(matrix, array, threads)
    return matrix


def _is_of(module: str, name: str, thing: Any) -> bool:
    """Whether this is an object of a class of a module that may be absent, or not loaded yet."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(thing, kind)


def is_on_gpu(array: Any) -> bool:
    """Whether this is a CuPy array."""
    return _is_of("cupy", "ndarray", array)


def class_on_gpu() -> Any:
    """The class of packed matrices on a GPU; by name, because its layer is above this one."""
    return import_module("semiring.kernels.cuda.bits.matrix").DevicePackedMatrix


def check_kind(array: Any) -> None:
    """Refuse what is not a matrix of truth values or numbers."""
    if array.ndim != 2 or array.dtype.kind not in "?biufc":
        raise SemiringError(f"only a 2-D bool or numeric array can be packed, not {array.ndim}-D {array.dtype}")


def to_dense(matrix: PackedRows, out: np.ndarray, threads: int | None) -> np.ndarray:
    """The entries as zeros and ones of an array, which is returned."""
    choose.unpack(matrix, out, threads)
    return out


def from_edges(kind: type[AnyRows], rows: Any, columns: Any, shape: int | tuple[int, int]) -> AnyRows:
    """True at given positions."""
    if is_on_gpu(rows) or is_on_gpu(columns):
        return class_on_gpu().from_edges(rows, columns, shape)
    height, width = sides(shape)
    rows, columns = checked(rows, columns, (height, width))  # before room is made for the matrix
    matrix = kind.zeros(height, width)
    _set(matrix, rows, columns)
    return matrix


def sides(shape: int | tuple[int, int]) -> tuple[int, int]:
    """Rows and columns of a matrix; refuses negative ones."""
    height, width = (shape, shape) if isinstance(shape, (int, np.integer)) else shape
    if height < 0 or width < 0:
        raise SemiringError(f"a matrix of {height} rows and {width} columns cannot be made")
    return int(height), int(width)


def set_entries(matrix: PackedRows, rows: Any, columns: Any) -> None:
    """Make entries at given positions True."""
    check_writable(matrix)
    _set(matrix, *checked(rows, columns, matrix.shape))


def _set(matrix: PackedRows, rows: Any, columns: Any) -> None:
    rows, columns = (end.get() if is_on_gpu(end) else end for end in (rows, columns))
    for a in range(0, len(rows), ENTRIES):
        choose.set_entries(matrix, *(np.ascontiguousarray(end[a : a + ENTRIES], np.int64) for end in (rows, columns)))


def checked(rows: Any, columns: Any, shape: tuple[int, int]) -> tuple[Any, Any]:
    """Positions as arrays, each inside the matrix; a column for each row."""
    rows, columns = _positions("rows", rows, shape[0]), _positions("columns", columns, shape[1])
    if len(rows) != len(columns):
        raise SemiringError(f"{len(rows)} rows and {len(columns)} columns: an entry needs one of each")
    return rows, columns


def _positions(what: str, end: Any, length: int) -> Any:
    array = end if is_on_gpu(end) else array_of(end, what)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and len(array)):
        raise SemiringError(f"{what} of entries are a 1-D array of integers, not {array.ndim}-D {array.dtype}")
    if len(array) and not (array.min() >= 0 and array.max() < length):
        k = int(((array < 0) | (array >= length)).argmax())
        raise SemiringError(f"{what}[{k}] is {array[k]}, outside 0 … {length - 1}")
    return array


def from_sparse(kind: type[AnyRows], matrix: Any) -> AnyRows:
    """The stored entries of any sparse format."""
    if not hasattr(matrix, "tocoo") or len(matrix.shape) != 2:
        raise SemiringError(f"a sparse matrix of two axes can be packed so, not {type(matrix).__name__}")
    if _is_of("cupyx.scipy.sparse", "spmatrix", matrix):
        return class_on_gpu().from_sparse(matrix)
    entries = matrix.tocoo()
    return from_edges(kind, *stored_places(matrix.format, entries), matrix.shape)


def stored_places(format: str, entries: Any) -> tuple[Any, Any]:
    """The rows and columns of the entries that count, of a matrix in coordinates that had another format."""
    rows, columns = entries.row, entries.col
    if format in ("bsr", "dia") or entries.data.dtype == bool:
        stored = entries.data != 0
        rows, columns = rows[stored], columns[stored]
    return rows, columns


def to_sparse(M: PackedRows) -> Any:
    """CSR: row pointers from the degrees, then the columns block by block."""
    from scipy.sparse import csr_array

    degrees = M.row_degrees()
    count = int(degrees.sum())
    index = np.int32 if max(count, *M.shape) < 2**31 else np.int64
    pointers = np.zeros(M.shape[0] + 1, index)
    np.cumsum(degrees, out=pointers[1:])
    columns = np.empty(count, index)
    for first, offsets, part in neighbours(M, ENTRIES, degrees):
        begin = int(pointers[first])
        columns[begin : begin + int(offsets[-1])] = part
    return csr_array((np.ones(count, bool), columns, pointers), shape=M.shape)


def neighbours(
    M: PackedRows, entries: int, degrees: np.ndarray | None = None,
    columns_of: Callable[[Any, int, int, int], Any] = choose.columns_of,
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """The columns of each row, some rows at a time."""
    if entries < 1:
        raise SemiringError(f"chunks of {entries} entries: give 1 or more")
    ends = np.cumsum(M.row_degrees() if degrees is None else degrees)
    rows, first, done = M.shape[0], 0, 0
    while first < rows:
        last = max(first + 1, int(np.searchsorted(ends, done + entries, "right")))
        last = min(last, first + max(1, ENTRIES // ROW_WORDS))  # rows without entries are entries of `offsets`
        offsets = np.concatenate([[0], ends[first:last] - done])
        yield first, offsets, columns_of(M, first, last, int(offsets[-1]))
        first, done = last, int(ends[last - 1])
