"""Rows of packed bits on a GPU, which is the host's memory here, and back."""

from __future__ import annotations

import numpy as np
import pytest
from gpu.host import Host
from gpu.played_bits import Bits

from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.cuda.bits import rows
from semiring.kernels.cuda.dense import rows as dense_rows


@pytest.mark.parametrize("n", [1, 64, 600])
def test_there_and_back(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host()
    Bits(host, monkeypatch)
    for module in (rows, dense_rows):
        monkeypatch.setattr(module, "synchronize", host.finish)
    monkeypatch.setattr(dense_rows, "synchronize_device", lambda device: host.finish())
    A = np.random.default_rng(n).random((n, n)) < 0.3
    packed, half = PackedMatrix.from_dense(A), max(n // 2, 1)
    spans = [slice(half, n), slice(0, half)]
    for matrix in (packed, packed.to_device("gpu")):
        taken = rows.taken(matrix, spans)
        assert taken.shape == (n, n)
        np.testing.assert_array_equal(taken.get().to_dense(), np.concatenate([A[half:], A[:half]]))
        result = type(matrix).zeros(n, n)
        rows.handed_out(taken, spans, result.words)
        assert result == packed
