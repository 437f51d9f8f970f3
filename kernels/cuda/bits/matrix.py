"""Boolean matrices with one bit an entry in device memory: the block type of the packed Boolean engine of the GPU."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from semiring.errors import SemiringError
from semiring.kernels.blocks.bits import PackedRows, row_words
from semiring.kernels.cpu.bits import conversions
from semiring.kernels.cpu.bits.choose import pack
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.cuda.compile.staging import download, upload
from semiring.machine.memory import in_words
from semiring.machine.threads import thread_count

from . import entries
from . import words as bits_words
from .words import Bits

PIECE = 16 << 20  # bytes of words that are packed on the host before they are sent
PIECES = 3  # of these in use: one is filled, one travels, one is about to
CHUNK = 1 << 28  # elements that are unpacked at once where edges are listed, and bytes where bits are counted
MOST_EDGES = 2**31  # that CuPy's compressed rows can number


class DevicePackedMatrix(PackedMatrix):
    """A `PackedMatrix` on a GPU: its words are a CuPy array, and so are the arrays that it returns.

    Entries, `count`, ``==`` and `get` wait for the device. Everything else is given to the current stream. Blocks
    ``M[a:b, c:d]`` of whole words are views, as on the host; other parts are copies.
    """

    __slots__ = ()

    words: Any

    @classmethod
    def empty(cls, rows: int, columns: int) -> DevicePackedMatrix:
        """A matrix whose words hold anything: every word, padding included, must be written before it is read."""
        import cupy

        rows, columns = conversions.sides((rows, columns))
        return cls(cupy.empty((rows, row_words(columns)), np.uint64), columns)

    @classmethod
    def zeros(cls, rows: int, columns: int) -> DevicePackedMatrix:
        """A matrix of all False."""
        import cupy

        rows, columns = conversions.sides((rows, columns))
        return cls(cupy.zeros((rows, row_words(columns)), np.uint64), columns)

    @classmethod
    def identity(cls, n: int) -> DevicePackedMatrix:
        """The n × n identity."""
        matrix = cls.zeros(n, n)
        bits_words.set_diagonal(matrix.bits)
        return matrix

    @classmethod
    def from_dense(cls, array: Any, threads: int | None = None) -> DevicePackedMatrix:
        """Pack a 2-D array; an entry is True where it differs from zero (NaN does).

        Parameters
        ----------
        array : cupy.ndarray, PackedMatrix or array_like, shape (rows, columns)
            What is not on the device is packed on the host, piece by piece, while pieces before it are sent.
        threads : int, optional
            Of the host.

        Returns
        -------
        DevicePackedMatrix, shape (rows, columns)

        Raises
        ------
        SemiringError
            If the array is not 2-D or not numeric.
        """
        import cupy

        if isinstance(array, PackedRows):
            return array if isinstance(array, cls) else cls._sent(array)
        if isinstance(array, cupy.ndarray):
            return cls._packed(array, cupy.empty(1, np.uint32))
        array = np.asarray(array)
        conversions.check_kind(array)
        if array.flags.f_contiguous and not array.flags.c_contiguous:
            return cls.from_dense(array.T, threads).transpose()
        matrix = cls.empty(*array.shape)
        matrix._send(array, threads)
        return matrix

    @classmethod
    def examined(cls, array: Any) -> tuple[DevicePackedMatrix, Any]:
        """Pack a CuPy array, and look for unclear entries: NaN, infinities, and the limits of signed integers.

        Returns
        -------
        DevicePackedMatrix
        cupy.ndarray of uint32, shape (1,)
            Other than 0 if there are unclear entries.
        """
        import cupy

        unclear = cupy.zeros(1, np.uint32)
        return cls._packed(array, unclear), unclear

    @classmethod
    def _packed(cls, array: Any, unclear: Any) -> DevicePackedMatrix:
        """Pack a CuPy array; `unclear` becomes 1 if an entry is, and stays what it is otherwise."""
        conversions.check_kind(array)
        if array.flags.f_contiguous and not array.flags.c_contiguous:
            return cls._packed(array.T, unclear).transpose()
        matrix = cls.empty(*array.shape)
        entries.pack(array, matrix.bits, matrix.words.shape[1], unclear)
        return matrix

    @classmethod
    def from_edges(cls, rows: Any, columns: Any, shape: int | tuple[int, int]) -> DevicePackedMatrix:
        """The matrix that is True at given positions, in arrays of the host or of the GPU."""
        height, width = conversions.sides(shape)
        rows, columns = conversions.checked(rows, columns, (height, width))
        matrix = cls.zeros(height, width)
        entries.set_entries(matrix.bits, rows, columns)
        return matrix

    @classmethod
    def from_sparse(cls, matrix: Any) -> DevicePackedMatrix:
        """Pack a sparse matrix of CuPy, or one of SciPy."""
        edges = matrix.tocoo() if hasattr(matrix, "tocoo") else matrix.tocsc().tocoo()
        return cls.from_edges(*conversions.stored_places(matrix.format, edges), matrix.shape)

    @classmethod
    def load(cls, path: str | os.PathLike[str], mmap: bool | str = False) -> DevicePackedMatrix:
        """Read a file that `save` wrote, and copy it to the GPU."""
        return cls.from_dense(PackedMatrix.load(path, mmap))

    @classmethod
    def create(cls, path: str | os.PathLike[str], rows: int, columns: int) -> PackedMatrix:
        """Make a matrix of all False in a new file, which is on the host."""
        return PackedMatrix.create(path, rows, columns)

    @classmethod
    def _sent(cls, host: PackedRows) -> DevicePackedMatrix:
        width = row_words(host.shape[1])
        if host.words.shape[1] == width:
            return cls(upload(host.words), host.shape[1])
        matrix = cls.zeros(*host.shape)
        used = host.used_words
        matrix.words[:, :used] = upload(host.words[:, :used])
        return matrix

    def _send(self, array: np.ndarray, threads: int | None) -> None:
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
            pack(PackedMatrix(words, columns), part, threads)
            self.words[top : top + step].set(words, stream)
            free[i % PIECES].record(stream)
        stream.synchronize()  # the pieces go back to CuPy

    @property
    def device(self) -> Any:
        """The GPU, a device of CuPy."""
        return self.words.device

    def get(self) -> PackedMatrix:
        """The matrix on the host; waits for the device."""
        if not self.words.size:
            return PackedMatrix.zeros(*self.shape)
        return PackedMatrix(download(self.words), self.shape[1])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a ``.npy`` file, as a matrix of the host does."""
        self.get().save(path)

    def to_dense(self, dtype: Any = bool, out: Any = None, threads: int | None = None) -> Any:
        """The matrix as a CuPy array of zeros and ones.

        Parameters
        ----------
        dtype : dtype, optional
            Of the new array; ignored if `out` is given.
        out : cupy.ndarray or ndarray, shape (rows, columns), optional
            Written and returned; any dtype and strides.
        threads : int, optional
            Of the host, if `out` is there.

        Returns
        -------
        cupy.ndarray, shape (rows, columns)
            Or `out`.
        """
        import cupy

        thread_count(threads)  # refuses what is not a number of threads
        if out is not None and not isinstance(out, cupy.ndarray):
            return self.get().to_dense(out=out, threads=threads)
        if out is None:
            out = cupy.empty(self.shape, dtype)
        elif out.shape != self.shape:
            raise SemiringError(f"out must be a writable array of shape {self.shape}, not {out.shape}")
        entries.unpack(self.bits, out)
        return out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TypeError("a packed matrix on a GPU becomes no NumPy array unasked: use .get() for the packed matrix on "
                        "the host, or .to_dense() for a CuPy array")

    def to_sparse(self) -> Any:
        """Convert the matrix to a CuPy CSR matrix of bool, by blocks of rows.

        Raises
        ------
        SemiringError
            If there are 2³¹ True entries or more.
        """
        import cupy
        from cupyx.scipy.sparse import csr_matrix

        degrees = self.row_degrees().get()
        count = int(degrees.sum())
        if count >= MOST_EDGES:
            raise SemiringError(f"CuPy's sparse matrices have fewer than 2³¹ entries; {count:,} are True: use get()")
        pointers = np.zeros(self.shape[0] + 1, np.int32)
        np.cumsum(degrees, out=pointers[1:])
        columns = cupy.empty(count, np.int32)
        for first, _, part in self.neighbours():
            columns[int(pointers[first]) : int(pointers[first]) + len(part)] = part
        return csr_matrix((cupy.ones(count, bool), columns, cupy.asarray(pointers)), shape=self.shape)

    def neighbours(self, entries: int = 1 << 20) -> Iterator[tuple[int, Any, Any]]:
        """Iterate over the columns that are True in each row, some rows at a time; CuPy arrays."""
        import cupy

        degrees = self.row_degrees().get()
        for first, offsets, columns in conversions.neighbours(self, entries, degrees, _columns_of):
            yield first, cupy.asarray(offsets), columns

    def set(self, rows: Any, columns: Any) -> None:
        """Make entries True in place, at positions in arrays of the host or of the GPU."""
        entries.set_entries(self.bits, *conversions.checked(rows, columns, self.shape))

    def transpose(self, threads: int | None = None) -> DevicePackedMatrix:
        """The transposed matrix, in words of its own."""
        result = self.zeros(self.shape[1], self.shape[0])
        if self.words.size and result.words.size:
            bits_words.transpose(self.bits, result.bits)
        return result

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
            result[top : top + step] = set_bits(self.words[top : top + step, : self.used_words])
        return result

    def column_degrees(self) -> Any:
        """How many entries of each column are True, as a CuPy array of int64, shape (columns,); transposes a copy."""
        return self.transpose().row_degrees()

    # Either may be on the host: the other one is copied to the GPU of this one.
    __ror__, __rand__, __rxor__ = PackedMatrix.__or__, PackedMatrix.__and__, PackedMatrix.__xor__

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, PackedRows):
            return NotImplemented
        if self.shape != other.shape:
            return False
        import cupy

        differ, there = cupy.zeros(1, np.int32), self._beside(other)
        if self.shape[0] and self.shape[1]:
            b = self.bits
            bits_words.words_function("compare")(b.rows, 1, *b[:2], *there.bits[:2], b.pairs, differ.data.ptr)
        return not int(differ[0])

    __hash__ = None  # type: ignore[assignment]

    def _beside(self, other: Any) -> DevicePackedMatrix:
        return other if isinstance(other, DevicePackedMatrix) else self._sent(other)

    def _positions(self, positions: np.ndarray) -> Any:
        import cupy

        return cupy.asarray(positions)

    @property
    def bits(self) -> Bits:
        """The address of the matrix; this does not keep its memory alive."""
        rows, columns = self.shape
        width = self.words.shape[1]
        return Bits(self.words.data.ptr, self.words.strides[0] if rows > 1 else 8 * max(width, 1), rows, columns)

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        parts = tuple(part.get() if hasattr(part, "get") else part for part in parts)  # positions are read on the host
        return super().__getitem__(parts)

    def __repr__(self) -> str:
        rows, columns = self.shape
        return (f"PackedMatrix({rows:,} × {columns:,}, density {self.density:.3g}, {in_words(self.nbytes)}, on GPU "
                f"{self.device.id})")


def _columns_of(matrix: DevicePackedMatrix, first: int, last: int, count: int) -> Any:
    """The columns that are set in some rows, row after row; there are so many."""
    import cupy

    step = max(CHUNK // max(matrix.shape[1], 1), 1)
    found = [matrix[a : min(a + step, last)].to_dense().nonzero()[1] for a in range(first, last, step)]
    return found[0].astype(np.int64, copy=False) if len(found) == 1 else cupy.concatenate(found)


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
