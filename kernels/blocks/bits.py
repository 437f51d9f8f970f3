"""Rows of bits in words of 64: storage, counts, equality and entry-by-entry operations of packed matrices.

Bit ``j % 64`` of ``words[i, j // 64]`` is entry (i, j). Bits past the last column are always zero, so rows can be
compared, counted and multiplied by whole words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeVar

import numpy as np

from semiring.algebra.tables import html_table
from semiring.errors import SemiringError
from semiring.machine.memory import in_words, require

WORD = 64  # bits of a word: column bounds of a view are multiples of it
ROW_WORDS = 8  # rows of a new matrix have a multiple of this many words: 64 bytes, one cache line
BLOCK = 1 << 25  # bytes of rows that are processed at once if NumPy needs room for intermediate results
SHOWN = 10  # rows and columns that a notebook shows in full
LARGE_BYTES = 1 << 26  # larger allocations are checked against free memory


class PackedRows:
    """Rows of bits, little-endian in 64-bit words; the input of engines, and the parent of `PackedMatrix`."""

    __slots__ = ("shape", "words")
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # an array in the same expression does not unpack it

    def __init__(self, words: np.ndarray, columns: int):
        if words.dtype != np.uint64 or words.ndim != 2:
            raise SemiringError(f"packed words must be a 2-D uint64 array, not {words.ndim}-D {words.dtype}")
        rows, width = words.shape
        if not 0 <= columns <= WORD * width:
            raise SemiringError(f"{columns} columns do not fit {width} words of {WORD} bits")
        step = words.strides[0] if rows > 1 and width else 8
        if words.size and ((width > 1 and words.strides[1] != 8) or step < 8 or step % 8):
            raise SemiringError("the words of a row must be adjacent and rows in ascending order; pass a copy")
        self.words = words
        self.shape = (rows, int(columns))

    def __getitem__(self, key: Any) -> Any:
        """A block, from two slices without steps; a view if its columns are whole words."""
        (top, bottom, _), (left, right, _) = (part.indices(n) for part, n in zip(key, self.shape, strict=True))
        return block(self, top, max(top, bottom), left, max(left, right))

    @classmethod
    def empty(cls, rows: int, columns: int) -> Self:
        """Make a matrix with uninitialized words.

        Every word, padding included, must be written before it is read.

        Parameters
        ----------
        rows, columns : int

        Returns
        -------
        matrix of this class, shape (rows, columns)
            Of 64 ceil(columns / 512) bytes a row, which begins on a cache line.

        Raises
        ------
        SemiringError
            If the bits do not fit in memory.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.PackedMatrix.empty(2, 600).nbytes
        256
        """
        return cls._allocated(rows, columns, np.empty)

    @classmethod
    def zeros(cls, rows: int, columns: int) -> Self:
        """Make a matrix of all False.

        Parameters
        ----------
        rows, columns : int

        Returns
        -------
        matrix of this class, shape (rows, columns)

        Raises
        ------
        SemiringError
            If the bits do not fit in memory.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.PackedMatrix.zeros(2, 3).count()
        0
        """
        return cls._allocated(rows, columns, np.zeros)

    @classmethod
    def _allocated(cls, rows: int, columns: int, allocate: Callable[..., np.ndarray]) -> Self:
        if rows < 0 or columns < 0:
            raise SemiringError(f"a packed matrix cannot have {rows} rows and {columns} columns")
        width = row_words(columns)
        if 8 * rows * width > LARGE_BYTES:
            require(8 * rows * width, f"a packed {rows} × {columns} matrix", "use fewer vertices")
        storage = allocate(rows * width + ROW_WORDS, np.uint64)
        skip = -(storage.ctypes.data // 8) % ROW_WORDS  # align rows to cache lines
        return cls(storage[skip : skip + rows * width].reshape(rows, width), columns)

    @classmethod
    def identity(cls, n: int) -> Self:
        """Make the n × n identity matrix.

        Parameters
        ----------
        n : int
            Rows and columns.

        Returns
        -------
        matrix of this class, shape (n, n)

        Raises
        ------
        SemiringError
            If the bits do not fit in memory.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.PackedMatrix.identity(2).to_dense(int).tolist()
        [[1, 0], [0, 1]]
        """
        matrix = cls.zeros(n, n)
        index = np.arange(n)
        matrix.words[index, index // WORD] = np.uint64(1) << (index % WORD).astype(np.uint64)
        return matrix

    def copy(self) -> Self:
        """Return a copy in words of its own.

        Returns
        -------
        matrix of this class, shape (rows, columns)

        Raises
        ------
        SemiringError
            If the bits do not fit in memory.

        Examples
        --------
        >>> import semiring as sr
        >>> M = sr.PackedMatrix.identity(3)
        >>> M.copy() == M
        True
        """
        matrix = type(self).empty(*self.shape)
        width = self.used_words
        matrix.words[:, :width] = self.words[:, :width]
        matrix.words[:, width:] = 0
        return matrix

    @property
    def nbytes(self) -> int:
        """Bytes of the words, padding included."""
        return int(self.words.nbytes)

    @property
    def device(self) -> Any:
        """The place of the words: "cpu", or a device of CuPy."""
        return "cpu"

    def get(self) -> PackedRows:
        """The matrix on the host: a copy of one on a GPU, itself otherwise."""
        return self

    @property
    def density(self) -> float:
        """The share of entries that are True; 0 for a matrix without entries."""
        return self.count() / max(1, self.shape[0] * self.shape[1])

    def count(self) -> int:
        """Count the True entries.

        Returns
        -------
        int

        Examples
        --------
        >>> import semiring as sr
        >>> sr.pack([(0, 1), (0, 2), (1, 2)]).count()
        3
        """
        return int(self.row_degrees().sum())

    def row_degrees(self) -> np.ndarray:
        """Count the True entries of each row: the out-degrees of a graph.

        Returns
        -------
        ndarray of int64, shape (rows,)

        Examples
        --------
        >>> import semiring as sr
        >>> sr.pack([(0, 1), (0, 2), (1, 2)]).row_degrees()
        array([2, 1, 0])
        """
        degrees = np.empty(self.shape[0], np.int64)
        for a, b in self.bands():
            degrees[a:b] = np.bitwise_count(self.words[a:b, : self.used_words]).sum(axis=1, dtype=np.int64)
        return degrees

    @property
    def used_words(self) -> int:
        """The words of a row that hold entries."""
        return -(-self.shape[1] // WORD)

    def bands(self) -> list[tuple[int, int]]:
        """Return ranges of rows of at most ``BLOCK`` bytes each, or of one row.

        Returns
        -------
        list of (int, int)
            First row, and the one after the last.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.PackedMatrix.zeros(100, 100).bands()
        [(0, 100)]
        """
        rows = self.shape[0]
        step = max(1, BLOCK // max(8, 8 * self.used_words))
        return [(a, min(a + step, rows)) for a in range(0, rows, step)]

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, PackedRows):
            return NotImplemented
        width = self.used_words
        return self.shape == other.shape and all(
            np.array_equal(self.words[a:b, :width], other.words[a:b, :width]) for a, b in self.bands()
        )

    def __or__(self, other: object) -> Any:
        return self._combined(other, np.bitwise_or)

    def __and__(self, other: object) -> Any:
        return self._combined(other, np.bitwise_and)

    def __xor__(self, other: object) -> Any:
        return self._combined(other, np.bitwise_xor)

    def __ior__(self, other: object) -> Any:
        return self._combined(other, np.bitwise_or, self)

    def __iand__(self, other: object) -> Any:
        return self._combined(other, np.bitwise_and, self)

    def __ixor__(self, other: object) -> Any:
        return self._combined(other, np.bitwise_xor, self)

    def __invert__(self) -> Self:
        result = type(self).empty(*self.shape)
        width, rest = self.used_words, self.shape[1] % WORD
        np.invert(self.words[:, :width], out=result.words[:, :width])
        if rest:
            result.words[:, width - 1] &= np.uint64((1 << rest) - 1)
        result.words[:, width:] = 0
        return result

    def _combined(self, other: object, operation: Callable[..., Any], result: Self | None = None) -> Any:
        if not isinstance(other, PackedRows):
            return NotImplemented
        if self.shape != other.shape:
            raise SemiringError(f"packed matrices of shapes {self.shape} and {other.shape} do not fit entry by entry")
        other = self._beside(other)
        if result is None:
            result = type(self).empty(*self.shape)
            result.words[:, self.used_words :] = 0
        check_writable(result)
        width = self.used_words
        operation(self.words[:, :width], other.words[:, :width], out=result.words[:, :width])
        return result

    def _beside(self, other: PackedRows) -> PackedRows:
        """A matrix in the same memory as this one: itself, or a copy."""
        return other.get()

    def _positions(self, positions: np.ndarray) -> Any:
        """Positions as an array that indexes the words."""
        return positions

    def __repr__(self) -> str:
        rows, columns = self.shape
        bands = self.bands()
        sample = self
        if len(bands) > 4:  # printing must not read a whole matrix, which may be on disk
            chosen = np.random.default_rng(0).integers(0, rows, bands[0][1])
            sample = type(self)(self.words[np.sort(chosen)], columns)
        about = "" if sample is self else "about "
        name = type(self).__name__
        return f"{name}({rows:,} × {columns:,}, density {about}{sample.density:.3g}, {in_words(self.nbytes)})"

    def _repr_html_(self) -> str:
        down, across = ([*range(n)] if n <= SHOWN else [*range(SHOWN // 2), None, *range(n - SHOWN // 2, n)]
                        for n in self.shape)

        def entry(i: int | None, j: int | None) -> str:
            return "…" if i is None or j is None else "1" if int(self.words[i, j // WORD]) >> j % WORD & 1 else "·"

        rows = [["…" if i is None else str(i), *(entry(i, j) for j in across)] for i in down]
        return html_table(repr(self), rows, ["", *("…" if j is None else str(j) for j in across)], "right")


AnyRows = TypeVar("AnyRows", bound=PackedRows)


def block(M: AnyRows, top: int, bottom: int, left: int, right: int) -> AnyRows:
    """A block as a view if its columns are whole words, else as a copy with shifted bits."""
    first, shift = divmod(left, WORD)
    count, width = right - left, -(-(right - left) // WORD)
    if not count or (not shift and (right % WORD == 0 or right == M.shape[1])):
        return type(M)(M.words[top:bottom, first : first + width], count)
    result = type(M).empty(bottom - top, count)
    for a, b in result.bands():
        source, target = M.words[top + a : top + b, first : first + width + 1], result.words[a:b]
        np.right_shift(source[:, :width], np.uint64(shift), out=target[:, :width])
        if shift:
            following = source[:, 1:]
            target[:, : following.shape[1]] |= following << np.uint64(WORD - shift)
        if count % WORD:
            target[:, width - 1] &= np.uint64((1 << count % WORD) - 1)
        target[:, width:] = 0
    return frozen(result)


def frozen(matrix: AnyRows) -> AnyRows:
    """The same matrix as read-only, on the host: a change to a copy would be lost unnoticed."""
    if matrix.device == "cpu":
        matrix.words.flags.writeable = False
    return matrix


def row_words(columns: int) -> int:
    """The words per row of a new matrix."""
    return -(-columns // (WORD * ROW_WORDS)) * ROW_WORDS


def check_writable(matrix: PackedRows) -> None:
    """Refuse to change a read-only matrix."""
    if not getattr(matrix.words.flags, "writeable", True):  # CuPy's arrays are
        raise SemiringError("the packed matrix to write to is read-only; pass a copy()")
