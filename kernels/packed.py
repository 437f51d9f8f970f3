"""Boolean matrices with one bit an entry: the block type of the packed Boolean engines.

Bit ``j % 64`` of ``words[i, j // 64]`` is entry (i, j). Bits past the last column are always zero, so rows can be
compared, counted and multiplied by whole words. The compiled code that fills and reads the words lies in
`semiring.kernels.cpu.packed` and is imported on first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from semiring.errors import SemiringError

WORD = 64  # bits of a word: column bounds of a view are multiples of it
ROW_WORDS = 8  # an owned matrix has a multiple of this many words a row: 64 bytes, one cache line


class PackedMatrix:
    """A Boolean matrix of one bit an entry, rows packed little-endian into 64-bit words.

    Parameters
    ----------
    words : ndarray of uint64, shape (rows, at least ceil(columns / 64))
        The bits; held, not copied. Words of one row must be adjacent in memory. Bits past the last column must be
        zero (`from_dense` and `zeros` see to that).
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
    ``M[a:b, c:d]`` is a view that shares the words; c must be a multiple of 64, and d too unless it is the last
    column. ``M[i, j]`` is one entry.

    Examples
    --------
    >>> import numpy as np
    >>> from semiring.kernels.packed import PackedMatrix
    >>> M = PackedMatrix.from_dense(np.eye(100))
    >>> M
    PackedMatrix(100 × 100, density 0.01, 6.4 kB)
    >>> M[3, 3], M[3, 4], M.count()
    (True, False, 100)
    >>> M[:10, 64:].shape
    (10, 36)
    """

    __slots__ = ("shape", "words")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, words: np.ndarray, columns: int):
        if words.dtype != np.uint64 or words.ndim != 2:
            raise SemiringError(f"packed words must be a 2-D uint64 array, not {words.ndim}-D {words.dtype}")
        rows, width = words.shape
        if not 0 <= columns <= WORD * width:
            raise SemiringError(f"{columns} columns do not fit {width} words of {WORD} bits")
        step = words.strides[0] if rows > 1 and width else 8
        if (width > 1 and words.strides[1] != 8) or step < 8 or step % 8:
            raise SemiringError("the words of a row must be adjacent and rows in ascending order; pass a copy")
        self.words = words
        self.shape = (rows, int(columns))

    @classmethod
    def empty(cls, rows: int, columns: int) -> PackedMatrix:
        """A matrix whose words hold anything: every word, padding included, must be written before it is read."""
        width = row_words(columns)
        storage = np.empty(rows * width + ROW_WORDS, np.uint64)
        skip = -(storage.ctypes.data // 8) % ROW_WORDS  # rows begin on cache lines
        return cls(storage[skip : skip + rows * width].reshape(rows, width), columns)

    @classmethod
    def zeros(cls, rows: int, columns: int) -> PackedMatrix:
        """A matrix of all False."""
        matrix = cls.empty(rows, columns)
        matrix.words[:] = 0
        return matrix

    @classmethod
    def identity(cls, n: int) -> PackedMatrix:
        """The n × n identity."""
        matrix = cls.zeros(n, n)
        index = np.arange(n)
        matrix.words[index, index // WORD] = np.uint64(1) << (index % WORD).astype(np.uint64)
        return matrix

    @classmethod
    def from_dense(cls, array: Any, threads: int | None = None) -> PackedMatrix:
        """Pack a 2-D array; an entry is True where it differs from zero (NaN does).

        Parameters
        ----------
        array : array_like, shape (rows, columns)
            bool or numeric, of any strides and order; may be read-only.
        threads : int, optional
            Threads to use; by default those of the process-wide setting.
        """
        from semiring.kernels.cpu import packed as compiled

        array = np.asarray(array)
        if array.ndim != 2 or array.dtype.kind not in "?biufc":
            raise SemiringError(f"only a 2-D bool or numeric array can be packed, not {array.ndim}-D {array.dtype}")
        if array.flags.f_contiguous and not array.flags.c_contiguous:
            return cls.from_dense(array.T, threads).transpose(threads)
        matrix = cls.empty(*array.shape)
        compiled.pack(matrix, array, threads)
        return matrix

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
        from semiring.kernels.cpu import packed as compiled

        if out is None:
            out = np.empty(self.shape, dtype)
        elif out.shape != self.shape or not out.flags.writeable:
            raise SemiringError(f"out must be a writable array of shape {self.shape}, not {out.shape}")
        compiled.unpack(self, out, threads)
        return out

    def transpose(self, threads: int | None = None) -> PackedMatrix:
        """The transposed matrix, in words of its own."""
        from semiring.kernels.cpu import packed as compiled

        result = PackedMatrix.empty(self.shape[1], self.shape[0])
        compiled.transpose(result, self, threads)
        return result

    def copy(self) -> PackedMatrix:
        """The same matrix in words of its own."""
        matrix = PackedMatrix.empty(*self.shape)
        width = self._used_words
        matrix.words[:, :width] = self.words[:, :width]
        matrix.words[:, width:] = 0
        return matrix

    def count(self) -> int:
        """Number of entries that are True."""
        return int(np.bitwise_count(self.words).sum(dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Bytes of the words, padding included."""
        return self.words.nbytes

    @property
    def _used_words(self) -> int:
        return -(-self.shape[1] // WORD)

    def __getitem__(self, key: Any) -> Any:
        rows, columns = key if isinstance(key, tuple) and len(key) == 2 else (key, slice(None))
        if isinstance(rows, slice) and isinstance(columns, slice):
            top, bottom = _bounds(rows, self.shape[0])
            left, right = _bounds(columns, self.shape[1])
            if left % WORD or (right % WORD and right != self.shape[1]):
                raise SemiringError(
                    f"columns {left}:{right} of a packed matrix are not whole words; "
                    f"slice at multiples of {WORD}, or take to_dense() first"
                )
            words = self.words[top:bottom, left // WORD : -(-right // WORD)]
            return PackedMatrix(words, right - left)
        if isinstance(rows, slice) or isinstance(columns, slice):
            raise SemiringError("a packed matrix is indexed by two slices, M[a:b, c:d], or by two integers, M[i, j]")
        i, j = _index(rows, self.shape[0], "row"), _index(columns, self.shape[1], "column")
        return bool(int(self.words[i, j // WORD]) >> (j % WORD) & 1)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, PackedMatrix):
            return NotImplemented
        width = self._used_words
        return self.shape == other.shape and bool(np.array_equal(self.words[:, :width], other.words[:, :width]))

    def __repr__(self) -> str:
        rows, columns = self.shape
        density = self.count() / max(1, rows * columns)
        return f"PackedMatrix({rows:,} × {columns:,}, density {density:.3g}, {_size(self.nbytes)})"


def row_words(columns: int) -> int:
    """Words of a row of an owned matrix."""
    return -(-columns // (WORD * ROW_WORDS)) * ROW_WORDS


def _bounds(part: slice, length: int) -> tuple[int, int]:
    start, stop, step = part.indices(length)
    if step != 1:
        raise SemiringError(f"a packed matrix is sliced with step 1, not {step}")
    return start, max(start, stop)


def _index(value: Any, length: int, axis: str) -> int:
    index = value.__index__()
    if not -length <= index < length:
        raise IndexError(f"{axis} {index} is out of range for {length} {axis}s")
    return index % length


def _size(count: float) -> str:
    units: Sequence[str] = ("B", "kB", "MB", "GB", "TB")
    for unit in units[:-1]:
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} {units[-1]}"
