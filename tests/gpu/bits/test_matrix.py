"""Packed Boolean matrices on the device: to and from them, blocks, entries, degrees, against NumPy."""

from __future__ import annotations

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
    for wrong in ((slice(None), slice(3, 64)), (slice(0, 10, 2), slice(None)), (3, slice(None))):
        with pytest.raises(sr.SemiringError, match="get"):
            M[wrong]
    with pytest.raises(IndexError, match="row 300"):
        M[300, 0]


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
