"""Boolean matrices with one bit an entry: the block type of the packed Boolean engines.

The compiled code that fills and reads the words lies in `semiring.kernels.cpu` and is imported on first use;
conversions, indexing and files have modules beside this one, storage and entry-by-entry operations are in
`semiring.kernels.blocks.bits`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from semiring.errors import SemiringError
from semiring.kernels.blocks.bits import BLOCK, ROW_WORDS, WORD, PackedRows

from . import conversions, files, indexing


class PackedMatrix(PackedRows):
    """A Boolean matrix of one bit an entry, rows packed little-endian into 64-bit words.

    Made by `from_dense`, `from_edges`, `from_sparse`, `load`, or `semiring.pack` from anything that stands for a graph.
    ``A | B``, ``A & B``, ``A ^ B`` and ``~A`` work entry by entry, ``A == B`` is one truth value, and
    ``numpy.asarray(A)`` unpacks.

    Parameters
    ----------
    words : ndarray of uint64, shape (rows, at least ceil(columns / 64))
        The bits; held, not copied. Words of one row must be adjacent in memory. Bits past the last column must be
        zero (whatever else makes a matrix sees to that).
    columns : int
        Number of columns.

    Attributes
    ----------
    words : ndarray of uint64
        The bits, all words of a row, padding included.
    shape : tuple of int
        (rows, columns).

    Notes
    -----
    ``M[i, j]`` is one entry, ``M[i]`` a row and ``M[:, j]`` a column as arrays of bool; with arrays of rows and
    columns ``M[i, j]`` is an array of entries. ``M[a:b, c:d]`` is a view that shares the words where c is a multiple
    of 64 and d too or the last column; elsewhere, as for ``M[array]`` and slices with steps, it is a copy that cannot
    be written to, so that no change is lost unnoticed.

    Examples
    --------
    >>> import numpy as np
    >>> from semiring.kernels.cpu.bits.matrix import PackedMatrix
    >>> M = PackedMatrix.from_dense(np.eye(100))
    >>> M
    PackedMatrix(100 × 100, density 0.01, 6.2 KiB)
    >>> M[3, 3], M[3, 4], M.count()
    (True, False, 100)
    >>> M[:10, 64:].shape, (M | ~M).density
    ((10, 36), 1.0)
    """

    __slots__ = ()

    @classmethod
    def from_dense(cls, array: Any, threads: int | None = None) -> PackedMatrix:
        """Pack a 2-D array; an entry is True where it differs from zero (NaN does).

        Parameters
        ----------
        array : array_like, shape (rows, columns)
            bool or numeric, of any strides and order; may be read-only, and may be a CuPy array, of which no more
            than the packed words leave the GPU.
        threads : int, optional
            Threads to use; by default those of the process-wide setting.
        """
        return conversions.from_dense(cls, array, threads)

    @classmethod
    def from_edges(cls, rows: Any, columns: Any, shape: int | tuple[int, int]) -> PackedMatrix:
        """The matrix that is True at given positions.

        Parameters
        ----------
        rows, columns : array_like of int, shape (m,)
            An entry may be given more than once.
        shape : int or (int, int)
            Rows and columns; one number for a square matrix.

        Examples
        --------
        >>> PackedMatrix.from_edges([0, 1], [1, 2], 3).to_dense(int).tolist()
        [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        """
        return conversions.from_edges(cls, rows, columns, shape)

    @classmethod
    def from_sparse(cls, matrix: Any) -> PackedMatrix:
        """Pack a SciPy sparse matrix or array of any format.

        Every stored entry is True, an explicit 0 too, as everywhere in this library; in a matrix of bool, and in
        the formats that store blocks or diagonals, those that differ from zero.
        """
        return conversions.from_sparse(cls, matrix)

    @classmethod
    def load(cls, path: str | os.PathLike[str], mmap: bool | str = False) -> PackedMatrix:
        """Read what `save` wrote.

        Parameters
        ----------
        path : path
        mmap : bool or {"r", "r+", "c"}
            Leave the words on disk and map them into memory: True or "r" to read, "r+" to write through to the
            file, "c" to change the copy in memory alone. A file that is mapped is not read, so bits that a stranger
            set past the last column would not be noticed.

        Raises
        ------
        SemiringError
            The file holds something else.
        """
        return files.load(cls, path, mmap)

    @classmethod
    def create(cls, path: str | os.PathLike[str], rows: int, columns: int) -> PackedMatrix:
        """A matrix of all False in a new file, laid out as `save` does, mapped for writing block by block."""
        return files.create(cls, path, rows, columns)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a ``.npy`` file that NumPy alone can read.

        The file holds two arrays, one after the other: the words, shape (rows, 8 ceil(columns / 512)), and the pair
        (rows, columns). ``numpy.load(path)`` gives the words, also with ``mmap_mode``; ``numpy.load`` of the open
        file, called twice, gives both, and ``numpy.unpackbits(words.view("u1"), axis=1, bitorder="little")`` the
        entries. A file that is there already is replaced when the new one is complete.

        Parameters
        ----------
        path : path
            Taken as it is; no ending is added.
        """
        files.save(self, path)

    def to_dense(self, dtype: Any = bool, out: np.ndarray | None = None, threads: int | None = None) -> np.ndarray:
        """The matrix as an ordinary array of zeros and ones.

        Parameters
        ----------
        dtype : dtype, optional
            Of the array that is made; not used where `out` is given.
        out : ndarray, shape (rows, columns), optional
            Written and returned; any dtype and strides.
        threads : int, optional
            Threads to use; by default those of the process-wide setting.
        """
        if out is None:
            out = np.empty(self.shape, dtype)
        elif out.shape != self.shape or not out.flags.writeable:
            raise SemiringError(f"out must be a writable array of shape {self.shape}, not {out.shape}")
        return conversions.to_dense(self, out, threads)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("a packed matrix cannot be an array without a copy")
        return self.to_dense(bool if dtype is None else dtype)

    def to_sparse(self) -> Any:
        """The matrix as a SciPy CSR array of bool, built by blocks of rows."""
        return conversions.to_sparse(self)

    def neighbours(self, entries: int = 1 << 20) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """The columns that are True in each row, some rows at a time.

        Parameters
        ----------
        entries : int
            About how many columns to give at once; a row is never cut.

        Yields
        ------
        first : int
            The first row of this chunk.
        offsets : int64 array
            One more than there are rows in the chunk.
        columns : int64 array
            ``columns[offsets[k]:offsets[k + 1]]`` are those of row ``first + k``, ascending.
        """
        return conversions.neighbours(self, entries)

    def set(self, rows: Any, columns: Any) -> None:
        """Make entries True in place, as `from_edges` does."""
        conversions.set_entries(self, rows, columns)

    def transpose(self, threads: int | None = None) -> PackedMatrix:
        """The transposed matrix, in words of its own."""
        from . import engine  # it loads Numba

        return engine.transposed(self, threads)

    def column_degrees(self) -> np.ndarray:
        """How many entries of each column are True: in the matrix of a graph, the in-degrees."""
        rows, columns = self.shape
        degrees = np.empty(columns, np.int64)
        step = max(WORD * ROW_WORDS, 8 * BLOCK // max(rows, 1) // WORD * WORD)
        for j in range(0, columns, step):
            part = self[:, j : min(j + step, columns)]
            degrees[j : j + step] = part.transpose().row_degrees()
        return degrees

    def __getitem__(self, key: Any) -> Any:
        return indexing.select(self, key)
