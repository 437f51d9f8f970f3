"""Rows and columns of bits, a word at a time: *or* and *and* along them, and entries that are written."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semiring.kernels.blocks.bits import BLOCK, WORD, PackedRows


def along(M: PackedRows, axis: int | None, every: bool = False) -> Any:
    """Whether any entry is True, or every one: of each column (0), of each row (1), or of all (None).

    Examples
    --------
    >>> import semiring as sr
    >>> M = sr.pack([(0, 1), (2, 1)])
    >>> along(M, 0).tolist(), along(M, 1).tolist(), along(M, None)
    ([False, True, False], [True, False, True], np.True_)
    """
    rows, columns = M.shape
    if axis is None:
        return np.bool_(M.count() == rows * columns if every else M.count() > 0)
    if axis:
        degrees = M.row_degrees()
        return degrees == columns if every else degrees > 0
    operation = np.bitwise_and if every else np.bitwise_or
    return unpacked(operation.reduce(M.words[:, : M.used_words], axis=0), columns)


def unpacked(words: np.ndarray, columns: int) -> NDArray[np.bool_]:
    """The entries of rows of words on the host."""
    bits = np.ascontiguousarray(words, "<u8").view(np.uint8)
    return np.unpackbits(bits, axis=-1, count=columns, bitorder="little").view(bool)


def write(M: PackedRows, rows: np.ndarray, columns: np.ndarray, entries: np.ndarray) -> None:
    """Set the entries of some rows and columns, in place; of several for one place the last one stays.

    Parameters
    ----------
    M : PackedMatrix
        On the host.
    rows, columns : ndarray of int, shape (m,) and (n,)
        Not negative.
    entries : ndarray of bool, shape (m, n)

    Examples
    --------
    >>> import semiring as sr
    >>> M = sr.PackedMatrix.identity(3)
    >>> write(M, np.array([0, 2]), np.array([2]), np.array([[True], [False]]))
    >>> M.to_dense(int).tolist()
    [[1, 0, 1], [0, 1, 0], [0, 0, 0]]
    """
    used, of = np.unique(columns // WORD, return_inverse=True)  # the words of a row that are written
    places = of * WORD + columns % WORD
    step = max(1, BLOCK // max(1, WORD * len(used)))
    for a in range(0, len(rows) if len(used) else 0, step):
        part = np.ix_(rows[a : a + step], used)
        bits = unpacked(M.words[part], WORD * len(used))
        bits[:, places] = entries[a : a + step]
        M.words[part] = np.packbits(bits, axis=1, bitorder="little").view("<u8")
