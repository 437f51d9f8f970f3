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

from . import choose, conversions, files, indexing


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
    words : ndarray of uint64, shape (rows, words of a row)
        The bits, padding included.
    shape : tuple of int
        (rows, columns).

    Raises
    ------
    SemiringError
        If the words are not as above, or too few for the columns; when matrices of different shapes are combined, or
        one is written to that is read-only.
    IndexError
        If a row or a column does not exist.

    Notes
    -----
    ``M[i, j]`` is one entry, ``M[i]`` a row and ``M[:, j]`` a column as arrays of bool; with arrays of rows and
    columns ``M[i, j]`` is an array of entries. ``M[a:b, c:d]`` is a view that shares the words where c is a multiple
    of 64 and d too or the last column; elsewhere, as for ``M[array]`` and slices with steps, it is a copy that cannot
    be written to, so that no change is lost unnoticed.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> M = sr.PackedMatrix.from_dense(np.eye(100))
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
            Threads to use, 1 or more; by default those of the process-wide setting.

        Returns
        -------
        PackedMatrix, shape (rows, columns)

        Raises
        ------
        SemiringError
            If the array is not 2-D or not numeric, or the bits do not fit in memory.
        ValueError
            If `threads` is less than 1, or rows differ in length.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> sr.PackedMatrix.from_dense([[0.5, 0.0], [np.nan, -1.0]]).to_dense()
        array([[ True, False],
               [ True,  True]])
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

        Returns
        -------
        PackedMatrix

        Raises
        ------
        SemiringError
            If the positions are not integers, lie outside the shape, or differ in number, or the bits do not fit in
            memory.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.PackedMatrix.from_edges([0, 1], [1, 2], 3).to_dense(int).tolist()
        [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        """
        return conversions.from_edges(cls, rows, columns, shape)

    @classmethod
    def from_sparse(cls, matrix: Any) -> PackedMatrix:
        """Pack a SciPy sparse matrix or array of any format.

        Every stored entry is True, an explicit 0 too, as everywhere in this library; in a matrix of bool, and in
        the formats that store blocks or diagonals, those that differ from zero.

        Parameters
        ----------
        matrix : SciPy or CuPy sparse matrix or array, shape (rows, columns)

        Returns
        -------
        PackedMatrix, shape (rows, columns)

        Raises
        ------
        SemiringError
            If it is not sparse or has not two axes, or the bits do not fit in memory.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> import semiring as sr
        >>> sr.PackedMatrix.from_sparse(sp.csr_array([[0, 2.5], [0, 0]])).to_dense(int).tolist()
        [[0, 1], [0, 0]]
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

        Returns
        -------
        PackedMatrix

        Raises
        ------
        SemiringError
            The file holds something else, or `mmap` is none of these.
        OSError
            The file does not exist or cannot be read.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import semiring as sr
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sr.pack([(0, 1), (1, 2)]).save(Path(folder) / "roads.npy")
        ...     sr.PackedMatrix.load(Path(folder) / "roads.npy")
        PackedMatrix(3 × 3, density 0.222, 192 bytes)
        """
        return files.load(cls, path, mmap)

    @classmethod
    def create(cls, path: str | os.PathLike[str], rows: int, columns: int) -> PackedMatrix:
        """A matrix of all False in a new file, laid out as `save` does, mapped for writing block by block.

        Parameters
        ----------
        path : path
            Taken as it is; a file that is there is overwritten.
        rows, columns : int

        Returns
        -------
        PackedMatrix, shape (rows, columns)
            What is written to it is written to the file, of 64 ceil(columns / 512) bytes a row and a little more.

        Raises
        ------
        SemiringError
            There is no such folder.
        OSError
            The file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import semiring as sr
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     M = sr.PackedMatrix.create(Path(folder) / "large.npy", 1000, 1000)
        ...     M.set([3], [4])
        ...     M.count(), M.nbytes
        ...     del M  # Windows deletes no file that is mapped
        (1, 128000)
        """
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

        Raises
        ------
        SemiringError
            There is no such folder.
        OSError
            The file cannot be written; what was there is as it was.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import numpy as np
        >>> import semiring as sr
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sr.pack([(0, 1), (1, 2)]).save(Path(folder) / "roads.npy")
        ...     np.load(Path(folder) / "roads.npy").shape
        (3, 8)
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
            Threads to use, 1 or more; by default those of the process-wide setting.

        Returns
        -------
        ndarray, shape (rows, columns)

        Raises
        ------
        SemiringError
            If `out` has another shape or cannot be written to.
        ValueError
            If `threads` is less than 1.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.pack([(0, 1), (1, 2)]).to_dense(int)
        array([[0, 1, 0],
               [0, 0, 1],
               [0, 0, 0]])
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
        """The matrix as a SciPy CSR array of bool, built by blocks of rows.

        Returns
        -------
        scipy.sparse.csr_array, shape (rows, columns)
            It takes 5 bytes an entry that is True, 9 where there are 2³¹ or more, and 4 or 8 bytes a row.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.pack([(0, 1), (1, 2)]).to_sparse().indices.tolist()
        [1, 2]
        """
        return conversions.to_sparse(self)

    def neighbours(self, entries: int = 1 << 20) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """The columns that are True in each row, some rows at a time.

        Parameters
        ----------
        entries : int
            About how many columns to give at once, 1 or more; a row is never cut.

        Yields
        ------
        first : int
            The first row of this chunk.
        offsets : int64 array, shape (k + 1,)
            For the k rows of the chunk.
        columns : int64 array, shape (offsets[-1],)
            ``columns[offsets[i]:offsets[i + 1]]`` are those of row ``first + i``, ascending.

        Raises
        ------
        SemiringError
            If `entries` is less than 1, as soon as the first chunk is asked for.

        Examples
        --------
        >>> import semiring as sr
        >>> for first, offsets, columns in sr.pack([(0, 1), (0, 2), (2, 0)]).neighbours():
        ...     print(first, offsets, columns)
        0 [0 2 2 3] [1 2 0]
        """
        return conversions.neighbours(self, entries)

    def set(self, rows: Any, columns: Any) -> None:
        """Make entries True in place, as `from_edges` does.

        Parameters
        ----------
        rows, columns : array_like of int, shape (m,)
            An entry may be given more than once.

        Raises
        ------
        SemiringError
            If the positions are not integers, lie outside the matrix, or differ in number, or the matrix is
            read-only.

        Examples
        --------
        >>> import semiring as sr
        >>> M = sr.PackedMatrix.zeros(2, 3)
        >>> M.set([0, 1], [2, 0])
        >>> M.to_dense(int).tolist()
        [[0, 0, 1], [1, 0, 0]]
        """
        conversions.set_entries(self, rows, columns)

    def transpose(self, threads: int | None = None) -> PackedMatrix:
        """The transposed matrix, in words of its own.

        Parameters
        ----------
        threads : int, optional
            Threads to use, 1 or more; by default those of the process-wide setting.

        Returns
        -------
        PackedMatrix, shape (columns, rows)

        Raises
        ------
        SemiringError
            If the bits do not fit in memory.
        ValueError
            If `threads` is less than 1.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.PackedMatrix.from_edges([0], [2], (2, 3)).transpose().to_dense(int).tolist()
        [[0, 0], [0, 0], [1, 0]]
        """
        return choose.transposed(self, threads)

    def column_degrees(self) -> np.ndarray:
        """How many entries of each column are True: in the matrix of a graph, the in-degrees.

        Returns
        -------
        ndarray of int64, shape (columns,)

        Examples
        --------
        >>> import semiring as sr
        >>> sr.pack([(0, 1), (0, 2), (1, 2)]).column_degrees()
        array([0, 1, 2])
        """
        rows, columns = self.shape
        degrees = np.empty(columns, np.int64)
        step = max(WORD * ROW_WORDS, 8 * BLOCK // max(rows, 1) // WORD * WORD)
        for j in range(0, columns, step):
            part = self[:, j : min(j + step, columns)]
            degrees[j : j + step] = part.transpose().row_degrees()
        return degrees

    def __getitem__(self, key: Any) -> Any:
        return indexing.select(self, key)
