"""Packed truth values by NumPy: what `semiring.kernels.cpu.bits` compiles, for when that does not repay."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Self

import numpy as np

from semiring.errors import SemiringError
from semiring.kernels.blocks.bits import BLOCK, WORD, AnyRows, PackedRows, check_writable
from semiring.kernels.cpu.compile.price import Code

CALL = 4e-6  # seconds of a step of the loops below, beside its work
WORDS = 2.5e-9  # seconds a word that is united with another
BYTES = 1e-9  # seconds an entry that is packed or unpacked


def pack(matrix: PackedRows, array: np.ndarray) -> None:
    """Fill an owned matrix from a bool or numeric array of its shape."""
    words = matrix.words
    for rows in _bands(array.shape):
        bits = np.packbits(array[rows] != 0, axis=1, bitorder="little")
        words[rows] = 0
        words[rows].view(np.uint8)[:, : bits.shape[1]] = bits


def unpack(matrix: PackedRows, out: np.ndarray) -> None:
    """Write a matrix to an array of its shape."""
    for rows in _bands(out.shape):
        out[rows] = _unpacked(matrix, rows)


def _unpacked(matrix: PackedRows, rows: slice) -> np.ndarray:
    """Some rows as bytes of 0 and 1."""
    columns = matrix.shape[1]
    words = matrix.words[rows, : -(-columns // WORD)]
    return np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1, count=columns, bitorder="little")


def _bands(shape: tuple[int, ...]) -> list[slice]:
    """Ranges of rows whose bytes take little room."""
    height = max(BLOCK // max(shape[1], 1), 1)
    return [slice(top, top + height) for top in range(0, shape[0], height)]


def transposed(source: AnyRows) -> AnyRows:
    """The transposed matrix, in words of its own."""
    rows, columns = source.shape
    result = type(source).zeros(columns, rows)
    step = max(BLOCK // max(columns, 1) // WORD, 1) * WORD  # rows that become whole words
    for top in range(0, rows, step):
        bits = np.packbits(_unpacked(source, slice(top, top + step)).T, axis=1, bitorder="little")
        begin = top // 8
        result.words.view(np.uint8)[:, begin : begin + bits.shape[1]] = bits
    return result


def set_entries(matrix: PackedRows, rows: np.ndarray, columns: np.ndarray) -> None:
    """Set the bits at pairs of positions."""
    bits = np.uint64(1) << (columns % WORD).astype(np.uint64)
    np.bitwise_or.at(matrix.words, (rows, columns // WORD), bits)


def columns_of(matrix: PackedRows, rows: slice) -> np.ndarray:
    """The columns that are set, row after row."""
    begin, end, _ = rows.indices(matrix.shape[0])
    bands = [slice(begin + band.start, min(begin + band.stop, end)) for band in _bands((end - begin, matrix.shape[1]))]
    return np.concatenate([np.empty(0, np.int64), *(np.nonzero(_unpacked(matrix, band))[1] for band in bands)])


def _column(matrix: PackedRows, k: int) -> np.ndarray:
    """Which rows hold column k."""
    return np.flatnonzero(matrix.words[:, k // WORD] & (np.uint64(1) << np.uint64(k % WORD)))


def check_product(C: PackedRows, A: PackedRows, B: PackedRows) -> None:
    """Refuse blocks that do not fit, and to write to what cannot be written to."""
    if A.shape[0] != C.shape[0] or B.shape != (A.shape[1], C.shape[1]):
        raise SemiringError(f"shapes do not fit: {C.shape} ← {A.shape} ⊗ {B.shape}")
    check_writable(C)


def multiply_add(C: PackedRows, A: PackedRows, B: PackedRows) -> None:
    """C ← C ⊕ A ⊗ B; C overlaps neither A nor B."""
    check_product(C, A, B)
    width = C.used_words
    for k in range(A.shape[1]):
        C.words[_column(A, k), :width] |= B.words[k, :width]


def close_plus(R: PackedRows) -> None:
    """R ← R⁺: Warshall's algorithm, a row of words at a time."""
    n, columns = R.shape
    if n != columns:
        raise SemiringError(f"only a square matrix has a closure, not one of shape {R.shape}")
    check_writable(R)
    width = -(-n // WORD)
    for k in range(n):
        R.words[_column(R, k), :width] |= R.words[k, :width]


def set_diagonal(A: PackedRows, values: np.ndarray) -> None:
    """a_ii ← the values."""
    i = np.arange(A.shape[0])
    bit = np.uint64(1) << (i % WORD).astype(np.uint64)
    word = A.words[i, i // WORD]
    A.words[i, i // WORD] = np.where(values, word | bit, word & ~bit)


def seconds(rounds: float, terms: float) -> float:
    """What products and closures by so many steps of k, with so many terms in all, are predicted to take."""
    return rounds * CALL + terms / WORD * WORDS


class BitsKernel:
    """The kernel interface over packed matrices; see `semiring.kernels.interface`.

    Parameters
    ----------
    code : Code, optional
        Called with the time of each piece of work.
    """

    tile = 1 << 30
    align = WORD

    def __init__(self, code: Code | None = None):
        self.threads, self._renting = 1, nullcontext if code is None else code.renting

    @property
    def place(self) -> str:
        """The place of the computation, in words."""
        return "CPU, 1 thread, NumPy"

    @property
    def unchecked(self) -> Self:
        """Itself: nothing on the host waits."""
        return self

    def multiply_add(self, C: PackedRows, A: PackedRows, B: PackedRows) -> None:
        """C ← C ⊕ A ⊗ B; C overlaps neither A nor B."""
        with self._renting():
            multiply_add(C, A, B)

    def multiply(self, C: PackedRows, A: PackedRows, B: PackedRows) -> None:
        """C ← A ⊗ B; C overlaps neither A nor B."""
        check_product(C, A, B)
        C.words[:, : C.used_words] = 0
        self.multiply_add(C, A, B)

    def left(self, D: PackedRows, R: PackedRows) -> None:
        """R ← D ⊗ R."""
        self.multiply(R, D, R.copy())

    def right(self, C: PackedRows, D: PackedRows) -> None:
        """C ← C ⊗ D."""
        self.multiply(C, C.copy(), D)

    def close(self, D: PackedRows) -> int:
        """D ← D*, the identity included; −1, since every star is defined."""
        self.close_plus(D)
        self.add_one(D)
        return -1

    def close_plus(self, D: PackedRows) -> int:
        """D ← D⁺ = D ⊗ D*: what Warshall's algorithm leaves; −1."""
        with self._renting():
            close_plus(D)
        return -1

    def closes_whole(self, n: int) -> bool:
        """Whether `close` is the best way to close a whole matrix of this order."""
        return True

    def add_one(self, A: PackedRows) -> None:
        """A ← 1 ⊕ A."""
        set_diagonal(A, np.ones(A.shape[0], bool))

    def like(self, A: PackedRows) -> PackedRows:
        """A packed matrix of the same shape."""
        return type(A).zeros(*A.shape)

    def equal(self, A: PackedRows, B: PackedRows) -> bool:
        """Whether both hold the same bits."""
        return bool(A == B)

    def assign(self, A: PackedRows, B: PackedRows) -> None:
        """A ← B."""
        used = A.used_words
        A.words[:, :used] = B.words[:, :used]

    def diagonal(self, A: PackedRows, D: PackedRows) -> np.ndarray:
        """Whether any k has a_ik and d_ki."""
        used = A.used_words
        return np.asarray((A.words[:, :used] & transposed(D).words[:, :used]).any(axis=1))

    def set_diagonal(self, A: PackedRows, values: Any) -> None:
        """a_ii ← the values."""
        set_diagonal(A, values)
