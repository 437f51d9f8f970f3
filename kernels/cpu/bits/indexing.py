"""Entries, rows, columns and blocks of a packed matrix: what ``M[…]`` gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.algebra.arguments import array_of
from semiring.errors import SemiringError
from semiring.kernels.blocks.bits import WORD, PackedRows, block, frozen

from .choose import transposed
from .words import unpacked

PAIRS = 1 << 20  # entries that are looked up at once


def select(M: Any, key: Any) -> Any:
    """Entries, a row or a column as bool, or a block as a packed matrix; see `PackedMatrix`, which this is one of."""
    rows, columns = (*key, slice(None))[:2] if isinstance(key, tuple) and len(key) in (1, 2) else (key, slice(None))
    M, rows = _stepped(M, rows)
    M, columns = _stepped(M, columns, transposed=True)
    rows, columns = _part(rows, M.shape[0], "row"), _part(columns, M.shape[1], "column")
    if isinstance(rows, tuple) and isinstance(columns, tuple):
        return block(M, *rows, *columns)
    if isinstance(rows, int) and isinstance(columns, int):
        return bool(int(M.words[rows, columns // WORD]) >> (columns % WORD) & 1)
    if isinstance(rows, int) and isinstance(columns, tuple):
        return row_entries(M, rows)[slice(*columns)]
    if isinstance(rows, tuple) and isinstance(columns, int):
        return (M.words[slice(*rows), columns // WORD] >> np.uint64(columns % WORD) & np.uint64(1)).astype(bool)
    if isinstance(columns, tuple):
        return _rows(M, rows, columns)
    if isinstance(rows, tuple):
        return _columns(block(M, rows[0], rows[1], 0, M.shape[1]), columns)
    return _entries(M, rows, columns)


def row_entries(M: Any, i: int) -> Any:
    """A row as an array of bool."""
    if M.device != "cpu":
        return block(M, i, i + 1, 0, M.shape[1]).to_dense()[0]
    return unpacked(M.words[i], M.shape[1])


def _stepped(M: Any, part: Any, transposed: bool = False) -> tuple[Any, Any]:
    """The rows, or columns, of a slice with a step; a slice of all of them is left to do."""
    if not isinstance(part, slice) or part.step in (None, 1):
        return M, part
    chosen = np.arange(*part.indices(M.shape[transposed]))
    return (_columns(M, chosen) if transposed else _rows(M, chosen, (0, M.shape[1]))), slice(None)


def _part(value: Any, length: int, axis: str) -> Any:
    """A position, a range (start, stop), or an array of positions."""
    if isinstance(value, slice):
        start, stop, _ = value.indices(length)
        return start, max(start, stop)
    if hasattr(value, "__index__") and not isinstance(value, (bool, np.bool_, np.ndarray)):
        position: int = value.__index__()
        if not -length <= position < length:
            raise IndexError(f"{axis} {position} is out of range for {length} {axis}s")
        return position % length
    index = array_of(None if isinstance(value, tuple) else value, f"{axis}s")  # there is no third axis
    if index.dtype.kind == "b" and index.shape == (length,):
        return np.flatnonzero(index)
    if index.dtype.kind not in "iu" and index.size:
        raise SemiringError(f"a packed matrix is indexed by integers, slices and arrays of integers, not {value!r}")
    return _checked(index.astype(np.int64), length, axis)


def _checked(index: np.ndarray, length: int, axis: str) -> np.ndarray:
    outside = (index < -length) | (index >= length)
    if outside.any():
        raise IndexError(f"{axis} {index[outside].flat[0]} is out of range for {length} {axis}s")
    return np.where(index < 0, index + length, index)


def _rows(M: Any, rows: np.ndarray, columns: tuple[int, int]) -> Any:
    """Some rows, in any order."""
    if rows.ndim != 1:
        raise SemiringError(f"rows or columns to take are a 1-D array, not one of shape {rows.shape}")
    part = block(M, 0, M.shape[0], *columns)
    result = type(M).empty(len(rows), part.shape[1])
    width, at = -(-part.shape[1] // WORD), M._positions(rows)
    for a, b in result.bands():
        result.words[a:b, :width] = part.words[at[a:b], :width]
    result.words[:, width:] = 0
    return frozen(result)


def _columns(M: Any, columns: np.ndarray) -> PackedRows:
    """Some columns, in any order."""
    return frozen(_turned(_rows(_turned(M), columns, (0, M.shape[0]))))


def _turned(M: Any) -> Any:
    return transposed(M) if M.device == "cpu" else M.transpose()


def _entries(M: PackedRows, rows: Any, columns: Any) -> Any:
    """Entries at pairs of positions."""
    try:
        rows, columns = np.broadcast_arrays(rows, columns)
    except ValueError:
        raise SemiringError(f"rows {np.shape(rows)} and columns {np.shape(columns)} do not broadcast") from None
    i, j = (M._positions(end.reshape(-1)) for end in (rows, columns))
    found = np.empty_like(i, bool)
    for a in range(0, len(i), PAIRS):
        part = j[a : a + PAIRS]
        words = M.words[i[a : a + PAIRS], part // WORD]
        found[a : a + PAIRS] = words >> (part % WORD).astype(np.uint64) & np.uint64(1)
    return found.reshape(rows.shape)
