"""Packed Boolean matrices in device memory, which is the host's here: blocks, entries, counts, and what is refused."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu.host import Array, Host
from gpu.played_bits import Bits
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import semiring as sr
from semiring.kernels.blocks import bits
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


KEYS = [
    3, -1, (3, slice(None)), (slice(None), 3), (slice(None), slice(3, 64)), (slice(5, 9), slice(1, 130)),
    (slice(0, 19, 2), slice(None)), (slice(None), slice(None, None, -3)), [5, 1, 5], ([1, 2], 0),
    ([[1], [2]], [0, 129]),
    (slice(None), [129, 0, 64]), (np.arange(20) % 3 == 0, slice(2, 99)), (slice(9, 3), slice(None)),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_parts_are_those_of_the_host(key: Any) -> None:
    A = truths(20, 130)
    M, H = DevicePackedMatrix.from_dense(A), PackedMatrix.from_dense(A)
    got, wanted = M[key], H[key]
    if isinstance(wanted, PackedMatrix):
        assert type(got) is DevicePackedMatrix and got.words[:, got.used_words :].sum() == 0
        np.testing.assert_array_equal(got.get().to_dense(), wanted.to_dense())
    else:
        assert isinstance(got, Array) == isinstance(wanted, np.ndarray)
        np.testing.assert_array_equal(got, wanted)


def test_positions_may_be_on_the_device(played: Bits) -> None:
    A = truths(20, 130)
    M, at = DevicePackedMatrix.from_dense(A), played.host.array(np.array([3, 1]))
    np.testing.assert_array_equal(M[at].to_dense(), A[[3, 1]])
    np.testing.assert_array_equal(M[at, at], A[[3, 1], [3, 1]])


def test_the_face_of_the_host(played: Bits, tmp_path: Path) -> None:
    """Whatever a matrix of the host has, one of the device has: lists of edges, files, copies, notebooks."""
    A = truths(70, 200)
    M, H = DevicePackedMatrix.from_dense(A), PackedMatrix.from_dense(A)
    assert isinstance(M, PackedMatrix) and (H.device, M.device.id) == ("cpu", 0)
    assert M.get() == H and H.get() is H and H.to_device("cpu") is H and M.to_device("cuda") is M
    assert type(H.to_device("gpu")) is DevicePackedMatrix and M.to_device("cpu") == H
    with pytest.raises(sr.SemiringError, match="device must be 'cpu' or 'gpu', and is 'tpu'"):
        H.to_device("tpu")
    with pytest.raises(TypeError, match=r"use \.get\(\)"):
        np.asarray(M)
    assert repr(M) == repr(H)[:-1] + ", on GPU 0)"
    assert M._repr_html_() == H._repr_html_().replace(repr(H), repr(M))
    for (first, offsets, columns), wanted in zip(M.neighbours(300), H.neighbours(300), strict=True):
        assert first == wanted[0]
        assert offsets.tolist() == wanted[1].tolist() and columns.tolist() == wanted[2].tolist()
    for X in (M, H):
        for out in (np.empty(A.shape, "f4"), played.host.array(np.empty(A.shape, "f4"))):
            assert X.to_dense(out=out) is out
            np.testing.assert_array_equal(out, A)
    M.save(tmp_path / "M.npy")
    assert PackedMatrix.load(tmp_path / "M.npy") == H and DevicePackedMatrix.load(tmp_path / "M.npy") == M
    i, j = np.nonzero(A)
    for made in (PackedMatrix.from_edges(played.host.array(i), j, (70, 200)), DevicePackedMatrix.zeros(70, 200)):
        made.set(played.host.array(i), played.host.array(j))
        assert made == M and type(made) is DevicePackedMatrix
    with pytest.raises(sr.SemiringError, match=r"columns\[1\] is 200, outside 0 … 199"):
        M.set([0, 0], [0, 200])
    H.set(played.host.array(i[:1]), j[:1])
    assert (~M).count() == (~A).sum() and M.density == H.density
    again = M.copy()
    again |= H
    again &= ~H
    assert again.count() == 0 and M == H


def test_matrices_of_both_memories_meet_on_the_device() -> None:
    a, b = truths(30, 70), truths(30, 70, 1)
    for operation in (operator.or_, operator.and_, operator.xor):
        wanted = operation(a, b)
        for A, B in ((DevicePackedMatrix.from_dense(a), PackedMatrix.from_dense(b)),
                     (PackedMatrix.from_dense(a), DevicePackedMatrix.from_dense(b))):
            assert type(operation(A, B)) is DevicePackedMatrix
            np.testing.assert_array_equal(operation(A, B).get().to_dense(), wanted)
            assert (A == B) is False and PackedMatrix.from_dense(a) == A
    A, B = PackedMatrix.from_dense(a), DevicePackedMatrix.from_dense(b)
    A ^= B
    assert type(A) is PackedMatrix
    np.testing.assert_array_equal(A.to_dense(), a ^ b)


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
    with pytest.raises(sr.SemiringError, match=r"shapes \(30, 70\) and \(70, 30\) do not fit entry by entry"):
        A | B.transpose()
    with pytest.raises(TypeError):
        A | a  # it is not unpacked for that
    assert A.copy() == A and A != B and A.transpose() != A and A != 3


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (1, 1), (3, 64), (65, 63), (70, 1000)])
def test_any_and_all(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bits, "BLOCK", 256)
    for density in (0.0, 0.01, 0.99, 1.0):
        A = np.random.default_rng(0).random(shape) < density
        M = DevicePackedMatrix.from_dense(A)
        for axis in (None, 0, 1, (0, 1)):
            for keepdims in (False, True):
                for verb in ("any", "all"):
                    got = getattr(M, verb)(axis, keepdims=keepdims)
                    assert isinstance(got, bool if axis in (None, (0, 1)) and not keepdims else Array)
                    np.testing.assert_array_equal(got, getattr(A, verb)(axis, keepdims=keepdims))
        assert isinstance(M.T, DevicePackedMatrix) and M.transpose() == M.T


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
    assert repr(n) == "PackedMatrix(65 × 65, density 0.0154, 4.1 KiB, on GPU 0)"


def test_where_it_lies() -> None:
    M = DevicePackedMatrix.zeros(10, 200)
    assert isinstance(M.words, Array) and M.nbytes == M.words.nbytes
    assert M.bits == (M.words.ptr, 64, 10, 200)
    assert M[3:4, 64:].bits == (M.words.ptr + 3 * 64 + 8, 8 * M[:, 64:].words.shape[1], 1, 136)
