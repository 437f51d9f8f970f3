"""The packed matrix itself: views, what it cannot be made of, equality and how it is shown."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from reachable import same

from semiring.errors import SemiringError
from semiring.kernels.cpu.bits.matrix import PackedMatrix

EDGES = (0, 1, 2, 3, 16, 63, 64, 65, 127, 128, 129, 200, 511, 512, 513)  # around words and vectors


def random_matrix(rng: np.random.Generator, rows: int, columns: int, density: float) -> np.ndarray:
    return rng.random((rows, columns)) < density


def test_views_share_words():
    rng = np.random.default_rng(3)
    dense = random_matrix(rng, 150, 300, 0.4)
    matrix = PackedMatrix.from_dense(dense)
    for rows, columns in (
        (slice(0, 150), slice(0, 300)), (slice(3, 70), slice(64, 192)), (slice(-9, None), slice(256, None)),
        (slice(20, 10), slice(128, 128)), (slice(5, 6), slice(None, 64)),
    ):
        view = matrix[rows, columns]
        same(view, dense[rows, columns])
        assert view.count() == dense[rows, columns].sum()
        assert np.array_equal(view.to_dense(), dense[rows, columns])
        same(view.copy(), dense[rows, columns])
        same(view.transpose(), dense[rows, columns].T)
    matrix[10:20, 64:128].words[:] = 0
    dense[10:20, 64:128] = False
    same(matrix, dense)
    assert all(matrix[i, j] == dense[i, j] for i, j in ((0, 0), (149, 299), (-1, -300), (15, 64), (77, 191)))
    assert isinstance(matrix[0, 0], bool)


def test_what_cannot_be_packed_is_refused():
    matrix = PackedMatrix.zeros(10, 100)
    for array in (np.zeros(3), np.zeros((2, 2), object), np.array([["a"]])):
        with pytest.raises(SemiringError):
            PackedMatrix.from_dense(array)
    for words, columns in (
        (np.zeros((2, 2)), 3), (np.zeros(8, np.uint64), 3), (np.zeros((2, 1), np.uint64), 65),
        (np.zeros((4, 4), np.uint64)[:, ::2], 3), (np.zeros((4, 4), np.uint64)[::-1], 3),
    ):
        with pytest.raises(SemiringError):
            PackedMatrix(words, columns)
    with pytest.raises(SemiringError):
        matrix.to_dense(out=np.empty((10, 99), bool))


def test_equality_identity_and_repr():
    rng = np.random.default_rng(4)
    dense = random_matrix(rng, 70, 130, 0.5)
    matrix = PackedMatrix.from_dense(dense)
    other = matrix.copy()
    assert matrix == other
    assert matrix == PackedMatrix(matrix.words[:, :3], 130)
    other.words[69, 2] ^= np.uint64(2)
    assert matrix != other
    assert matrix != PackedMatrix.zeros(70, 129)
    assert matrix != dense.tolist()
    for n in EDGES:
        same(PackedMatrix.identity(n), np.eye(n, dtype=bool))
    assert repr(PackedMatrix.identity(1000)) == "PackedMatrix(1,000 × 1,000, density 0.001, 125.0 KiB)"
    assert repr(PackedMatrix.zeros(0, 0)) == "PackedMatrix(0 × 0, density 0, 0 bytes)"


def test_the_block_type_loads_no_compiler():
    code = "import sys, semiring.kernels.cpu.bits.matrix as p; p.PackedMatrix.zeros(3, 3)"
    code += "; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
