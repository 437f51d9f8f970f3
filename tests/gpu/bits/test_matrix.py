"""Packed Boolean matrices on the device: to and from them, blocks, entries, degrees, against NumPy."""

from __future__ import annotations

import copy
import operator
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu.truths import entries, on_device, padding

import semiring as sr
from semiring.kernels.cpu.bits.matrix import PackedMatrix


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (1, 1), (3, 64), (65, 63), (300, 1000), (257, 4097)])
@pytest.mark.parametrize("dtype", ["?", "f4", "u1", "i8"])
def test_words(shape: tuple[int, int], dtype: str) -> None:
    import cupy

    A = entries(shape, 0.3)
    given = cupy.asarray(A.astype(dtype))
    for same in (given, A, PackedMatrix.from_dense(A), cupy.asfortranarray(given)):
        M = on_device(same)
        assert M.shape == shape and M.count() == A.sum() and not padding(M)
        np.testing.assert_array_equal(M.to_dense().get(), A)
        np.testing.assert_array_equal(M.get().to_dense(), A)
        np.testing.assert_array_equal(M.transpose().to_dense(dtype).get(), A.T.astype(dtype))
        assert not padding(M.transpose())
    assert on_device(A) == M and M.copy() == M
    if A.size:
        B = A.copy()
        B[-1, -1] ^= True
        assert on_device(B) != M
        assert M[-1, -1] == A[-1, -1] and M[0, 0] == A[0, 0]


def test_unaligned_rows_of_truth_values() -> None:
    import cupy

    A = entries((70, 333), 0.4)
    for view in (cupy.asarray(A)[1:, 3:], cupy.asarray(A)[:, 16:32], cupy.asarray(A)[::2], cupy.asarray(A)[:, ::3]):
        np.testing.assert_array_equal(on_device(view).to_dense().get(), view.get())


def test_blocks_are_views() -> None:
    A = entries((300, 500), 0.3)
    M = on_device(A)
    np.testing.assert_array_equal(M[10:200, 64:].to_dense().get(), A[10:200, 64:])
    np.testing.assert_array_equal(M[:, 128:192].transpose().to_dense().get(), A[:, 128:192].T)
    part = M[100:164, 64:128]
    part.words[...] = 0
    A[100:164, 64:128] = False
    assert on_device(A) == M
    with pytest.raises(IndexError, match="row 300"):
        M[300, 0]


@pytest.mark.parametrize(
    "key", [3, (slice(None), 3), (slice(5, 290), slice(3, 64)), (slice(0, 299, 7), slice(None)), [5, 1, 5],
            (slice(None), slice(None, None, -3)), ([[1], [2]], [0, 499]), (slice(None), [499, 0, 64])], ids=str)
def test_parts_are_those_of_the_host(key: Any) -> None:
    import cupy

    A = entries((300, 500), 0.3)
    M, H = on_device(A), PackedMatrix.from_dense(A)
    got, wanted = M[key], H[key]
    if isinstance(wanted, PackedMatrix):
        assert got == wanted and not padding(got)
    else:
        assert isinstance(got, cupy.ndarray)
        np.testing.assert_array_equal(got.get(), wanted)


@pytest.mark.parametrize("dtype", [*"?bBhHiIlLefdFD"])
def test_elements_of_any_kind_and_stride(dtype: str) -> None:
    import cupy

    rng = np.random.default_rng(ord(dtype))
    A = (rng.integers(-3, 4, (137, 2500)) * (rng.random((137, 2500)) < 0.4)).astype(dtype)
    if dtype in "efdFD":
        A[0, :6] = -0.0, np.nan, np.inf, -np.inf, np.finfo(dtype).smallest_subnormal, 0
    if dtype in "FD":
        A[0, 6:8] = complex(0, 1), complex(0, -0.0)
    room = cupy.asarray(A)
    for view in (room, room[1:, 3:], room[::2], room[:, ::-3], room.T, room[::-1, 5:6]):
        M = on_device(view)
        wanted = view.get() != 0
        np.testing.assert_array_equal(M.get().to_dense(), wanted)
        assert not padding(M)
        out = cupy.full((view.shape[0], 2 * view.shape[1]), 7, dtype)[:, ::2]
        np.testing.assert_array_equal(M.to_dense(out=out).get(), wanted.astype(dtype))
        np.testing.assert_array_equal(M.to_dense(dtype).get(), wanted.astype(dtype))
    if dtype in "efdFD":
        with pytest.raises(sr.SemiringError, match=r"A\[0, 1\] is .*nan|is NaN"):
            sr.pack(room)
        room[0, 1:4] = 0
    if dtype in "bhil":
        room[5, 7] = np.iinfo(dtype).min
        with pytest.raises(sr.SemiringError, match=r"A\[5, 7\] is -"):
            sr.pack(room)
        room[5, 7] = 1
    M = sr.pack(room)
    assert M.device == room.device and sr.pack(room.get()) == M


def test_the_face_of_the_host(tmp_path: Path) -> None:
    """Whatever a matrix of the host has, one of the device has: edges, sparse matrices, files, copies, operators."""
    import cupy
    import cupyx.scipy.sparse as sparse
    import scipy.sparse as sp

    A, B = entries((300, 700), 0.3), entries((300, 700), 0.2, 1)
    M, H, N = sr.pack(cupy.asarray(A)), sr.pack(A), sr.pack(B)
    assert isinstance(M, sr.PackedMatrix) and M == H and M.get() == H and H.to_device("gpu") == M
    assert repr(M) == repr(H)[:-1] + f", on GPU {M.device.id})"
    assert M._repr_html_().startswith("<table")
    for copied in (pickle.loads(pickle.dumps(M)), copy.copy(M), copy.deepcopy(M), M.copy()):
        assert type(copied) is type(M) and copied == M
    for operation in (operator.or_, operator.and_, operator.xor):
        for got in (operation(M, N), operation(N, M), operation(M, N.to_device("gpu"))):
            assert type(got) is type(M)
            np.testing.assert_array_equal(got.get().to_dense(), operation(A, B))
    N |= M
    assert type(N) is sr.PackedMatrix
    np.testing.assert_array_equal(N.to_dense(), A | B)
    np.testing.assert_array_equal((~M).to_dense().get(), ~A)
    assert not padding(~M)
    S = M.to_sparse()
    np.testing.assert_array_equal(S.toarray().get(), A)
    assert sr.pack(S) == M and sr.pack(S).device == M.device
    stored = sparse.csr_matrix(sp.csr_matrix(A.astype("f4")))
    stored.data[0] = 0
    assert sr.pack(stored) == M, "an explicit 0 is an edge"
    stored.data[0] = np.inf
    with pytest.raises(sr.SemiringError, match="is inf"):
        sr.pack(stored)
    i, j = (cupy.asarray(end) for end in np.nonzero(A))
    assert sr.PackedMatrix.from_edges(i, j, A.shape) == M
    for (first, offsets, columns), wanted in zip(M.neighbours(5000), H.neighbours(5000), strict=True):
        assert first == wanted[0] and isinstance(columns, cupy.ndarray)
        assert offsets.tolist() == wanted[1].tolist() and columns.tolist() == wanted[2].tolist()
    M.save(tmp_path / "M.npy")
    assert sr.PackedMatrix.load(tmp_path / "M.npy") == M
    with pytest.raises(TypeError, match=r"use \.get\(\)"):
        np.asarray(M)


def test_any_and_all_of_rows_and_columns() -> None:
    for shape, density in (((300, 700), 0.001), ((70, 64), 0.99), ((0, 5), 1.0), ((5, 0), 1.0), ((3, 129), 1.0)):
        a = entries(shape, density)
        A = on_device(a)
        for axis in (0, 1):
            for keepdims in (False, True):
                np.testing.assert_array_equal(A.any(axis, keepdims=keepdims).get(), a.any(axis, keepdims=keepdims))
                np.testing.assert_array_equal(A.all(axis, keepdims=keepdims).get(), a.all(axis, keepdims=keepdims))
        assert A.any() is bool(a.any()) and A.all() is bool(a.all())
        np.testing.assert_array_equal(A.T.get().to_dense(), a.T)


def test_entry_by_entry_and_degrees() -> None:
    a, b = entries((300, 700), 0.3), entries((300, 700), 0.4)
    A, B = on_device(a), on_device(b)
    for got, want in ((A | B, a | b), (A & B, a & b), (A ^ B, a ^ b)):
        np.testing.assert_array_equal(got.get().to_dense(), want)
    np.testing.assert_array_equal(A.row_degrees().get(), a.sum(axis=1))
    np.testing.assert_array_equal(A.column_degrees().get(), a.sum(axis=0))


def test_words_that_are_none_are_refused() -> None:
    import cupy

    from semiring.kernels.cuda.bits.matrix import DevicePackedMatrix

    with pytest.raises(sr.SemiringError, match="2-D uint64"):
        DevicePackedMatrix(cupy.zeros((3, 3), np.int64), 3)
    with pytest.raises(sr.SemiringError, match="columns do not fit"):
        DevicePackedMatrix(cupy.zeros((3, 3), np.uint64), 200)
