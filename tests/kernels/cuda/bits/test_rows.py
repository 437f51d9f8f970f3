"""Rows of packed bits on a GPU, which is the host's memory here, and back."""

from __future__ import annotations

import numpy as np
import pytest
from gpu.host import Host
from gpu.played_bits import Bits

from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.cuda.bits import rows
from semiring.kernels.cuda.dense import rows as dense_rows


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    """A GPU that the host plays."""
    host = Host(0)
    Bits(host, monkeypatch)
    for module in (rows, dense_rows):
        monkeypatch.setattr(module, "synchronize", host.finish)
    monkeypatch.setattr(dense_rows, "synchronize_device", lambda device: host.finish())
    return host


@pytest.mark.parametrize("n", [1, 64, 600])
def test_there_and_back(host: Host, n: int) -> None:
    A = np.random.default_rng(n).random((n, n)) < 0.3
    packed, half = PackedMatrix.from_dense(A), max(n // 2, 1)
    spans = [s for s in (slice(half, n), slice(0, half)) if s.start < s.stop]
    for matrix in (packed, packed.to_device("gpu")):
        answer, asked = type(matrix).zeros(n, n), []
        there = rows.Rows(matrix, spans, answer, lambda asked=asked: asked.append(True))
        assert there.held.shape == (n, n) and not asked, "nothing leaves before its time"
        there.finish()
        np.testing.assert_array_equal(there.held.get().to_dense(), np.concatenate([A[half:], A[:half]]))
        assert answer == matrix and len(asked) == len(spans)
        there.end()


def test_what_stops_a_copy_is_raised_where_its_rows_are_needed(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    packed, known = PackedMatrix.zeros(512, 512), rows.upload

    def upload(source: np.ndarray, goal: np.ndarray) -> None:
        if np.shares_memory(source, packed.words[256:]):
            raise MemoryError("no pinned memory")
        known(source, goal)

    monkeypatch.setattr(rows, "upload", upload)
    there = rows.Rows(packed, [slice(0, 256), slice(256, 512)], PackedMatrix.zeros(512, 512), lambda: None)
    first, second = (there.held[rows, :] for rows in (slice(0, 256), slice(256, 512)))
    there.eliminate(first, first, slice(0, 256))
    with pytest.raises(MemoryError, match="pinned"):
        there.eliminate(second, first, slice(0, 256))
    there.end()
