"""Boolean matrices with one bit per entry: the block type of the packed Boolean engines, and the face of all of them.

The compiled code that fills and reads the words is in `semiring.kernels.cpu` and is imported on first use;
conversions, indexing and files have modules next to this one, storage and entry-by-entry operations are in
`semiring.kernels.blocks.bits`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from semiring.errors import SemiringError
from semiring.kernels.blocks.bits import BLOCK, ROW_WORDS, WORD, PackedRows

from . import choose, conversions, files, indexing, quantifiers


class PackedMatrix(PackedRows):
    """A Boolean matrix with one bit per entry, in rows of little-endian 64-bit words.

    `from_dense`, `from_edges`, `from_sparse`, `load` make one, and `semiring.pack` from anything that can be a graph.
    ``A | B``, ``A & B``, ``A ^ B`` and ``~A`` work entry by entry, ``A == B`` is one truth value, ``A.any(axis=1)`` and
    ``A.all(axis=0)`` are arrays, ``A.T`` is the transposed matrix, and ``numpy.asarray(A)`` unpacks.

    A matrix that is made from CuPy arrays stays on the GPU. Everything below works there, too, and returns CuPy arrays;
    ``A.device`` says where a matrix is, ``A.get()`` copies it to the host, and ``A.to_device("gpu")`` to the GPU.

    Parameters
    ----------
    words : ndarray of uint64, shape (rows, at least ceil(columns / 64))
        The bits; kept, not copied. Words of one row must be adjacent in memory. Bits past the last column must be
        zero (all other ways of making a matrix ensure this).
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
        If the words are not as above, or too few for the columns; if matrices of different shapes are combined, or a
        read-only matrix is written.
    IndexError
        If a row or a column does not exist.

    Notes
    -----
    ``M[i, j]`` is one entry, ``M[i]`` a row and ``M[:, j]`` a column as arrays of bool; with arrays of rows and
    columns ``M[i, j]`` is an array of entries. ``M[a:b, c:d]`` is a view that shares the words if c is a multiple
    of 64, and d is one too or the last column. Otherwise, as for ``M[array]`` and slices with steps, it is a read-only
    copy, so that no change is lost unnoticed (on a GPU copies are not read-only). A matrix on the host meets one on a
    GPU there, except in ``A |= B``, whose result is where A is.

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
        """Pack a 2-D array; an entry is True if it differs from zero (NaN does).

        Parameters
        ----------
        array : array_like, shape (rows, columns)
            bool or numeric, of any strides and order; may be read-only, and may be a CuPy array, whose bits stay on
            the GPU.
        threads : int, optional
            Threads to use, 1 or more. Default: the process-wide setting.

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
        """Make the matrix that is True at given positions.

        Parameters
        ----------
        rows, columns : array_like of int, shape (m,)
            Entries may repeat.
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

        Every stored entry is True, even an explicit 0, as everywhere in this library; in a matrix of bool, and in
        formats that store blocks or diagonals, only entries other than zero.

        Parameters
        ----------
        matrix : SciPy or CuPy sparse matrix or array, shape (rows, columns)

        Returns
        -------
        PackedMatrix, shape (rows, columns)

        Raises
        ------
        SemiringError
            If it is not sparse or does not have two axes, or the bits do not fit in memory.

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
        """Read a file that `save` wrote.

        Parameters
        ----------
        path : path
        mmap : bool or {"r", "r+", "c"}
            Leave the words on disk and map them into memory: True or "r" to read, "r+" to write through to the
            file, "c" to change only the copy in memory. A mapped file is not read, so bits that another program
            set past the last column are not noticed.

        Returns
        -------
        PackedMatrix

        Raises
        ------
        SemiringError
            If the file holds something else, or `mmap` is not one of these values.
        OSError
            If the file does not exist or cannot be read.

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
        """Make a matrix of all False in a new file, mapped for writing block by block.

        Parameters
        ----------
        path : path
            Used as it is; an existing file is overwritten.
        rows, columns : int

        Returns
        -------
        PackedMatrix, shape (rows, columns)
            Changes are written to the file, in the layout of `save`: 64 ceil(columns / 512) bytes per row and a header.

        Raises
        ------
        SemiringError
            If there is no such folder.
        OSError
            If the file cannot be written.

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
            Used as it is; no ending is added.

        Raises
        ------
        SemiringError
            If there is no such folder.
        OSError
            If the file cannot be written; an older file is unchanged.

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
        """Unpack the matrix to an ordinary array of zeros and ones.

        Parameters
        ----------
        dtype : dtype, optional
            The dtype of the new array; ignored if `out` is given.
        out : ndarray or cupy.ndarray, shape (rows, columns), optional
            Written and returned; any dtype and strides.
        threads : int, optional
            Threads to use, 1 or more. Default: the process-wide setting.

        Returns
        -------
        ndarray, shape (rows, columns)

        Raises
        ------
        SemiringError
            If `out` has a different shape or is read-only.
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
        elif conversions.is_on_gpu(out):
            return self.to_device("gpu").to_dense(out=out)
        elif out.shape != self.shape or not out.flags.writeable:
            raise SemiringError(f"out must be a writable array of shape {self.shape}, not {out.shape}")
        return conversions.to_dense(self, out, threads)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("a packed matrix cannot be an array without a copy")
        return self.to_dense(bool if dtype is None else dtype)

    def to_sparse(self) -> Any:
        """Convert the matrix to a SciPy CSR array of bool, by blocks of rows.

        Returns
        -------
        scipy.sparse.csr_array, shape (rows, columns)
            It takes 5 bytes per True entry, 9 if there are 2³¹ or more, and 4 or 8 bytes per row.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.pack([(0, 1), (1, 2)]).to_sparse().indices.tolist()
        [1, 2]
        """
        return conversions.to_sparse(self)

    def to_device(self, device: str) -> PackedMatrix:
        """Return the matrix in the memory of a device: a copy, or itself if it is there.

        Parameters
        ----------
        device : {"cpu", "gpu", "cuda"}
            A GPU is CuPy's current one.

        Returns
        -------
        PackedMatrix, of the same shape

        Raises
        ------
        SemiringError
            For another name.

        Examples
        --------
        >>> import semiring as sr
        >>> M = sr.PackedMatrix.identity(3)
        >>> M.to_device("cpu") is M
        True
        """
        if device == "cpu":
            return self.get()
        if device not in ("gpu", "cuda"):
            raise SemiringError(f"device must be 'cpu' or 'gpu', and is {device!r}")
        found: PackedMatrix = conversions.class_on_gpu().from_dense(self)
        return found

    def get(self) -> PackedMatrix:
        """Return the matrix on the host: a copy of one on a GPU, itself otherwise.

        Returns
        -------
        PackedMatrix, of the same shape

        Examples
        --------
        >>> import semiring as sr
        >>> M = sr.PackedMatrix.identity(3)
        >>> M.get() is M
        True
        """
        return self

    def neighbours(self, entries: int = 1 << 20) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Iterate over the columns that are True in each row, some rows at a time.

        Parameters
        ----------
        entries : int
            The approximate number of columns to return at once, 1 or more; a row is never cut.

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
            If `entries` is less than 1, when the first chunk is requested.

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
            Entries may repeat.

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
        """Return the transposed matrix, in words of its own.

        Parameters
        ----------
        threads : int, optional
            Threads to use, 1 or more. Default: the process-wide setting.

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

    @property
    def T(self) -> PackedMatrix:
        """The transposed matrix, in words of its own (not a view, as of an array)."""
        return self.transpose()

    def any(self, axis: int | tuple[int, int] | None = None, out: Any = None, keepdims: bool = False) -> Any:
        """Tell whether any entry is True: for each column, for each row, or at all.

        Parameters
        ----------
        axis : {None, 0, 1}
            0 for an answer for each column, 1 for each row, None for one answer. Negative axes count from the end.
        out : ndarray, optional
            Written and returned, of the answer's shape.
        keepdims : bool
            Whether the answer keeps the axis, with one entry.

        Returns
        -------
        bool or ndarray of bool, shape (columns,) or (rows,)
            Computed by words, without unpacking the matrix.

        Raises
        ------
        SemiringError
            If there is no such axis, or `out` does not have the shape.

        Examples
        --------
        >>> import semiring as sr
        >>> M = sr.pack([(0, 1), (0, 2), (1, 2)])
        >>> M.any(axis=1), M.any()
        (array([ True,  True, False]), True)
        """
        return quantifiers.reduced(self, axis, out, keepdims, every=False)

    def all(self, axis: int | tuple[int, int] | None = None, out: Any = None, keepdims: bool = False) -> Any:
        """Tell whether all entries are True: for each column, for each row, or at all.

        Parameters
        ----------
        axis : {None, 0, 1}
            0 for an answer for each column, 1 for each row, None for one answer. Negative axes count from the end.
        out : ndarray, optional
            Written and returned, of the answer's shape.
        keepdims : bool
            Whether the answer keeps the axis, with one entry.

        Returns
        -------
        bool or ndarray of bool, shape (columns,) or (rows,)
            Computed by words, without unpacking the matrix. True where there are no entries.

        Raises
        ------
        SemiringError
            If there is no such axis, or `out` does not have the shape.

        Examples
        --------
        >>> import semiring as sr
        >>> (sr.pack([(0, 1), (1, 2)]) | sr.PackedMatrix.from_edges([2, 2], [1, 2], 3)).all(axis=0)
        array([False, False, False])
        >>> (~sr.PackedMatrix.zeros(2, 3)).all()
        True
        """
        return quantifiers.reduced(self, axis, out, keepdims, every=True)

    def column_degrees(self) -> np.ndarray:
        """Count the True entries of each column: the in-degrees of a graph.

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
