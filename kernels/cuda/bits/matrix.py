"""Boolean matrices with one bit an entry in device memory: the block type of the packed Boolean engine of the GPU."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from semiring.errors import SemiringError
from semiring.kernels.blocks.bits import WORD, row_words
from semiring.kernels.cpu.bits.choose import pack
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.cuda.compile.staging import download, upload
from semiring.machine.memory import in_words

from . import words as bits_words
from .words import Bits

DOWN = 1024  # blocks of a grid, one below the other, that go over rows
PIECE = 16 << 20  # bytes of words that are packed on the host before they are sent
PIECES = 3  # of these in use: one is filled, one travels, one is about to
CHUNK = 1 << 28  # elements that are compared with 0 at once, where an array does not hold truth values


class DevicePackedMatrix:
    """A Boolean matrix of one bit an entry on the GPU; laid out as `semiring.kernels.cpu.bits.matrix.PackedMatrix`.

    Parameters
    ----------
    words : cupy.ndarray of uint64, shape (rows, at least ceil(columns / 64))
        The bits; held, not copied. Words of one row are adjacent, and bits past the last column are zero.
    columns : int
        Number of columns.

    Attributes
    ----------
    words : cupy.ndarray of uint64, shape (rows, words of a row)
        The bits, padding included.
    shape : tuple of int
        (rows, columns).

    Raises
    ------
    SemiringError
        If the words are not as above, or too few for the columns; when matrices of different shapes are combined, or
        what is taken is neither an entry nor a block of whole words.
    IndexError
        If a row or a column does not exist.

    Notes
    -----
    ``M[a:b, c:d]`` is a view that shares the words; c must be a multiple of 64, and d too unless it is the last
    column. ``M[i, j]`` is one entry, and waits for the device, as `count`, ``==`` and `get` do. Everything else is
    given to the current stream.
    """

    __slots__ = ("shape", "words")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, words: Any, columns: int):
        if words.dtype != np.uint64 or words.ndim != 2:
            raise SemiringError(f"packed words must be a 2-D uint64 array, not {words.ndim}-D {words.dtype}")
        rows, width = words.shape
        if not 0 <= columns <= WORD * width:
            raise SemiringError(f"{columns} columns do not fit {width} words of {WORD} bits")
        if words.size and ((width > 1 and words.strides[1] != 8) or (rows > 1 and words.strides[0] < 8)):
            raise SemiringError("the words of a row must be adjacent and rows in ascending order; pass a copy")
        self.words = words
        self.shape = (rows, int(columns))

    @classmethod
    def empty(cls, rows: int, columns: int) -> DevicePackedMatrix:
        """A matrix whose words hold anything: every word, padding included, must be written before it is read."""
        import cupy

        return cls(cupy.empty((rows, row_words(columns)), np.uint64), columns)

    @classmethod
    def zeros(cls, rows: int, columns: int) -> DevicePackedMatrix:
        """A matrix of all False."""
        import cupy

        return cls(cupy.zeros((rows, row_words(columns)), np.uint64), columns)

    @classmethod
    def identity(cls, n: int) -> DevicePackedMatrix:
        """The n × n identity."""
        matrix = cls.zeros(n, n)
        bits_words.set_diagonal(matrix.bits)
        return matrix

    @classmethod
    def from_dense(cls, array: Any) -> DevicePackedMatrix:
        """Pack a 2-D array; an entry is True where it differs from zero (NaN does).

        Parameters
        ----------
        array : cupy.ndarray, PackedMatrix or array_like, shape (rows, columns)
            What is not on the device is packed on the host, piece by piece, while pieces before it are sent.

        Returns
        -------
        DevicePackedMatrix, shape (rows, columns)

        Raises
        ------
        SemiringError
            If the array is not 2-D or not numeric.
        """
        import cupy

        if isinstance(array, PackedMatrix):
            return cls._sent(array)
        if not isinstance(array, cupy.ndarray):
            array = np.asarray(array)
        if array.ndim != 2 or array.dtype.kind not in "?biufc":
            raise SemiringError(f"only a 2-D bool or numeric array can be packed, not {array.ndim}-D {array.dtype}")
        if array.flags.f_contiguous and not array.flags.c_contiguous:
            return cls.from_dense(array.T).transpose()
        matrix = cls.empty(*array.shape)
        rows, columns = array.shape
        if isinstance(array, np.ndarray):
            matrix._send(array)
            return matrix
        step = max(CHUNK // max(columns, 1), 1)
        plain = array.dtype == bool and (columns <= 1 or array.strides[1] == 1)
        for top in range(0, rows, max(rows, 1) if plain else step):
            part = array if plain else array[top : top + step] != 0
            cls(matrix.words[top : top + len(part)], columns)._pack(part)
        return matrix

    @classmethod
    def _sent(cls, host: PackedMatrix) -> DevicePackedMatrix:
        width = row_words(host.shape[1])
        if host.words.shape[1] == width:
            return cls(upload(host.words), host.shape[1])
        matrix = cls.zeros(*host.shape)
        used = host.used_words
        matrix.words[:, :used] = upload(host.words[:, :used])
        return matrix

    def _send(self, array: np.ndarray) -> None:
        """The entries of a host array, packed into pinned memory that the device reads."""
        import cupy

        rows, columns = self.shape
        width = self.words.shape[1]
        if not (rows and columns):
            return
        step, stream = max(PIECE // (8 * width), 1), cupy.cuda.get_current_stream()
        pieces = [cupy.cuda.alloc_pinned_memory(8 * width * min(step, rows)) for _ in range(PIECES)]
        free = [cupy.cuda.Event(disable_timing=True) for _ in range(PIECES)]
        for i, top in enumerate(range(0, rows, step)):
            part = array[top : top + step]
            free[i % PIECES].synchronize()
            words = np.frombuffer(pieces[i % PIECES], np.uint64, len(part) * width).reshape(len(part), width)
            pack(PackedMatrix(words, columns), part)
            self.words[top : top + step].set(words, stream)
            free[i % PIECES].record(stream)
        stream.synchronize()  # the pieces go back to CuPy

    def _pack(self, truths: Any) -> None:
        """The entries from truth values that are adjacent in each row."""
        rows, columns = truths.shape
        if rows and columns:
            width = self.words.shape[1]
            place, target = (truths.data.ptr, truths.strides[0]), self.bits[:2]
            bits_words.words_function("pack")(
                -(-width // 64), min(rows, DOWN), *place, *target, rows, columns, width
            )

    def to_dense(self, dtype: Any = bool) -> Any:
        """The matrix as a CuPy array of zeros and ones.

        Parameters
        ----------
        dtype : dtype, optional

        Returns
        -------
        cupy.ndarray, shape (rows, columns)
        """
        import cupy

        rows, columns = self.shape
        truths = cupy.empty(self.shape, bool)
        if truths.size:
            bits_words.words_function("unpack")(
                -(-columns // 4096), min(rows, DOWN), *self.bits[:2], truths.data.ptr, truths.strides[0], rows, columns
            )
        return truths.astype(dtype, copy=False)

    def get(self) -> PackedMatrix:
        """The matrix on the host, as a `PackedMatrix` of the same shape; waits for the device."""
        if not self.words.size:
            return PackedMatrix.zeros(*self.shape)
        return PackedMatrix(download(self.words), self.shape[1])

    def transpose(self) -> DevicePackedMatrix:
        """The transposed matrix, in words of its own."""
        result = self.zeros(self.shape[1], self.shape[0])
        if self.words.size and result.words.size:
            bits_words.transpose(self.bits, result.bits)
        return result

    def copy(self) -> DevicePackedMatrix:
        """The same matrix in words of its own."""
        matrix = self.empty(*self.shape)
        used = self.bits.pairs
        matrix.words[:, :used] = self.words[:, :used]
        matrix.words[:, used:] = 0
        return matrix

    def count(self) -> int:
        """Number of entries that are True."""
        import cupy

        total = cupy.zeros(1, np.uint64)
        if self.shape[0]:
            b, counted = self.bits, bits_words.words_function("count")
            counted(min(b.rows, 1 << 14), 1, b.address, b.ld, b.rows, b.pairs, total.data.ptr)
        return int(total[0])

    def row_degrees(self) -> Any:
        """How many entries of each row are True, as a CuPy array of int64, shape (rows,)."""
        import cupy

        result = cupy.zeros(self.shape[0], np.int64)
        step = max(CHUNK // (8 * max(self.words.shape[1], 1)), 1)
        for top in range(0, self.shape[0] if self.shape[1] else 0, step):
            result[top : top + step] = set_bits(self.words[top : top + step, : -(-self.shape[1] // WORD)])
        return result

    def column_degrees(self) -> Any:
        """How many entries of each column are True, as a CuPy array of int64, shape (columns,); transposes a copy."""
        return self.transpose().row_degrees()

    def __or__(self, other: object) -> Any:
        return self._combined(other, operator.or_)

    def __and__(self, other: object) -> Any:
        return self._combined(other, operator.and_)

    def __xor__(self, other: object) -> Any:
        return self._combined(other, operator.xor)

    def _combined(self, other: object, operation: Callable[[Any, Any], Any]) -> Any:
        if not isinstance(other, DevicePackedMatrix):
            return NotImplemented
        if self.shape != other.shape:
            raise SemiringError(f"matrices of shapes {self.shape} and {other.shape} do not combine entry by entry")
        result, used = self.empty(*self.shape), -(-self.shape[1] // WORD)
        result.words[:, :used] = operation(self.words[:, :used], other.words[:, :used])
        result.words[:, used:] = 0
        return result

    @property
    def bits(self) -> Bits:
        """The address of the matrix; this does not keep its memory alive."""
        rows, columns = self.shape
        width = self.words.shape[1]
        return Bits(self.words.data.ptr, self.words.strides[0] if rows > 1 else 8 * max(width, 1), rows, columns)

    @property
    def nbytes(self) -> int:
        """Bytes of the words, padding included."""
        return int(self.words.nbytes)

    def __getitem__(self, key: Any) -> Any:
        rows, columns = key if isinstance(key, tuple) and len(key) == 2 else (key, slice(None))
        if isinstance(rows, slice) and isinstance(columns, slice):
            (top, bottom, down), (left, right, across) = rows.indices(self.shape[0]), columns.indices(self.shape[1])
            bottom, right = max(top, bottom), max(left, right)
            if down != 1 or across != 1 or left % WORD or (right % WORD and right != self.shape[1]):
                raise SemiringError(
                    f"columns {left}:{right}:{across} and rows in steps of {down} are not a block of whole words; "
                    f"slice at multiples of {WORD} on the device, or take get() first"
                )
            return DevicePackedMatrix(self.words[top:bottom, left // WORD : -(-right // WORD)], right - left)
        if isinstance(rows, slice) or isinstance(columns, slice) or np.ndim(rows) or np.ndim(columns):
            raise SemiringError("on the device take blocks, M[a:b, c:d], or entries, M[i, j]; for others get() first")
        i, j = (_position(*p) for p in zip((rows, columns), self.shape, ("row", "column"), strict=True))
        return bool(int(self.words[i, j // WORD]) >> (j % WORD) & 1)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, DevicePackedMatrix):
            return NotImplemented
        if self.shape != other.shape:
            return False
        import cupy

        differ = cupy.zeros(1, np.int32)
        if self.shape[0] and self.shape[1]:
            b = self.bits
            bits_words.words_function("compare")(b.rows, 1, *b[:2], *other.bits[:2], b.pairs, differ.data.ptr)
        return not int(differ[0])

    def __repr__(self) -> str:
        rows, columns = self.shape
        density = self.count() / max(1, rows * columns)
        return f"DevicePackedMatrix({rows:,} × {columns:,}, density {density:.3g}, {in_words(self.nbytes)})"


def set_bits(words: Any) -> Any:
    """How many bits of each row of words are set: pairs, nibbles, bytes, and the sum of the bytes by a product.

    Examples
    --------
    >>> set_bits(np.array([[0, 2**64 - 1], [5, 1 << 63]], np.uint64))
    array([64,  3])
    """
    pairs = words - ((words >> np.uint64(1)) & np.uint64(0x5555555555555555))
    fours = (pairs & np.uint64(0x3333333333333333)) + ((pairs >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bytes_ = (fours + (fours >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return ((bytes_ * np.uint64(0x0101010101010101)) >> np.uint64(56)).astype(np.int64).sum(axis=1)


def _position(value: Any, length: int, axis: str) -> int:
    index = int(value.__index__())
    if not -length <= index < length:
        raise IndexError(f"{axis} {index} is out of range for {length} {axis}s")
    return index % length
