"""Packed Boolean matrices in device memory, which is the host's here: blocks, entries, counts, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from gpu.host import Array, Host
from gpu.played_bits import Bits
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import semiring as sr
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.cuda.bits import matrix
from semiring.kernels.cuda.bits.matrix import DevicePackedMatrix, set_bits


@pytest.fixture(autouse=True)
def played(monkeypatch: pytest.MonkeyPatch) -> Bits:
    return Bits(Host(), monkeypatch)


def truths(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((rows, columns)) < 0.3


@given(words=hnp.arrays(np.uint64, st.tuples(st.integers(0, 4), st.integers(0, 4))))
def test_bits_that_are_set(words: np.ndarray) -> None:
    assert set_bits(words).tolist() == [sum(x.bit_count() for x in row) for row in words.tolist()]


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (1, 1), (3, 64), (65, 63), (70, 1000)])
def test_to_the_device_and_back(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Piece by piece, from arrays in either order and from packed matrices with more words than they need."""
    monkeypatch.setattr(matrix, "PIECE", 1000)
    A = truths(*shape)
    width = -(-shape[1] // 64)
    wide = PackedMatrix(np.zeros((max(shape[0], 1), width + 3), np.uint64), shape[1])[: shape[0]]
    wide.words[:, :width] = PackedMatrix.from_dense(A).words[:, :width]
    for given_ in (A, np.asfortranarray(A), A * 2.5, A.tolist() if A.size else A, PackedMatrix.from_dense(A), wide):
        M = DevicePackedMatrix.from_dense(given_)
        assert M.shape == shape and M.count() == A.sum()
        np.testing.assert_array_equal(M.get().to_dense(), A)
        np.testing.assert_array_equal(M.to_dense("i4"), A.astype("i4"))
        np.testing.assert_array_equal(M.transpose().get().to_dense(), A.T)


def test_a_piece_is_not_packed_again_before_it_was_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the stream is given is done when somebody waits for it, and not before."""
    monkeypatch.setattr(matrix, "PIECE", 200)
    played, A = Bits(Host(0), monkeypatch), truths(100, 130)
    M = DevicePackedMatrix.from_dense(A)
    np.testing.assert_array_equal(played.truths(*M.bits), A)


def test_blocks_are_views() -> None:
    A = truths(100, 300)
    M = DevicePackedMatrix.from_dense(A)
    part = M[10:50, 64:]
    assert part.shape == (40, 236) and np.shares_memory(part.words, M.words)
    np.testing.assert_array_equal(part.to_dense(), A[10:50, 64:])
    np.testing.assert_array_equal(M[:, 128:192].transpose().to_dense(), A[:, 128:192].T)
    assert M[50:10].shape == (0, 300) and M[-3:, 256:].shape == (3, 44)
    M[20:30, 128:192].words[...] = 0
    A[20:30, 128:192] = False
    assert DevicePackedMatrix.from_dense(A) == M


def test_entries() -> None:
    A = truths(20, 130)
    M = DevicePackedMatrix.from_dense(A)
    assert [[M[i, j] for j in range(130)] for i in range(20)] == A.tolist()
    assert (M[-1, -1], M[np.int8(3), 64]) == (A[-1, -1], A[3, 64])
    for place, message in (((20, 0), "row 20 is out of range for 20 rows"), ((0, -131), "column -131 .+ 130 columns")):
        with pytest.raises(IndexError, match=message):
            M[place]


@pytest.mark.parametrize(
    "key", [(slice(None), slice(3, 64)), (slice(None), slice(0, 65)), (slice(0, 9, 2), slice(None))]
)
def test_blocks_of_no_whole_words_are_refused(key: tuple[slice, slice]) -> None:
    with pytest.raises(sr.SemiringError, match=r"not a block of whole words; slice at multiples of 64 .+ get\(\)"):
        DevicePackedMatrix.zeros(20, 130)[key]


@pytest.mark.parametrize("key", [3, (3, slice(None)), (slice(None), 3), ([1, 2], 0)])
def test_rows_and_lists_are_refused(key: object) -> None:
    with pytest.raises(sr.SemiringError, match=r"take blocks, M\[a:b, c:d\], or entries"):
        DevicePackedMatrix.zeros(20, 130)[key]


def test_words_that_are_none_are_refused() -> None:
    words = np.zeros((4, 6), np.uint64)
    for wrong in (np.zeros((3, 3), np.int64), np.zeros(3, np.uint64)):
        with pytest.raises(sr.SemiringError, match="must be a 2-D uint64 array, not"):
            DevicePackedMatrix(wrong, 3)
    for columns in (-1, 385):
        with pytest.raises(sr.SemiringError, match=f"{columns} columns do not fit 6 words of 64 bits"):
            DevicePackedMatrix(words, columns)
    for scattered in (words.T, words[:, ::2], words[::-1]):
        with pytest.raises(sr.SemiringError, match="words of a row must be adjacent and rows in ascending order"):
            DevicePackedMatrix(scattered, 3)
    assert DevicePackedMatrix(words, 384).shape == (4, 384)
    for wrong in (np.zeros(3), np.zeros((2, 2, 2)), [["a"]]):
        with pytest.raises(sr.SemiringError, match="only a 2-D bool or numeric array can be packed"):
            DevicePackedMatrix.from_dense(wrong)


def test_entry_by_entry() -> None:
    a, b = truths(30, 70), truths(30, 70, 1)
    A, B = DevicePackedMatrix.from_dense(a), DevicePackedMatrix.from_dense(b)
    for got, wanted in ((A | B, a | b), (A & B, a & b), (A ^ B, a ^ b), (A.copy(), a)):
        np.testing.assert_array_equal(got.get().to_dense(), wanted)
        assert got.words[:, 2:].sum() == 0, "beyond the last column is nothing"
    with pytest.raises(sr.SemiringError, match=r"shapes \(30, 70\) and \(70, 30\) do not combine"):
        A | B.transpose()
    with pytest.raises(TypeError):
        A | a  # it is not unpacked for that
    assert A.copy() == A and A != B and A.transpose() != A and A != 3


def test_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Row by row in parts, where no more words fit at once."""
    monkeypatch.setattr(matrix, "CHUNK", 1)
    A = truths(30, 70)
    M = DevicePackedMatrix.from_dense(A)
    assert M.row_degrees().tolist() == A.sum(axis=1).tolist()
    assert M.column_degrees().tolist() == A.sum(axis=0).tolist()
    assert M.count() == A.sum() and DevicePackedMatrix.zeros(5, 0).row_degrees().tolist() == [0] * 5
    n = DevicePackedMatrix.identity(65)
    assert n.count() == 65 and n[64, 64] and not n[64, 63]
    assert repr(n) == "DevicePackedMatrix(65 × 65, density 0.0154, 4.1 KiB)"


def test_where_it_lies() -> None:
    M = DevicePackedMatrix.zeros(10, 200)
    assert isinstance(M.words, Array) and M.nbytes == M.words.nbytes
    assert M.bits == (M.words.ptr, 64, 10, 200)
    assert M[3:4, 64:].bits == (M.words.ptr + 3 * 64 + 8, 8 * M[:, 64:].words.shape[1], 1, 136)
