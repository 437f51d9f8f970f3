"""Rows of a matrix on a GPU, which is the host's memory here: there and back, with zeros beyond the matrix."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu.host import Host

from semiring.kernels.cuda.compile import launch, staging
from semiring.kernels.cuda.dense import rows


class Exchange:
    """Data into storage: half of it, in another order of bytes, and −1 beyond."""

    def take_in(self, A: np.ndarray, target: np.ndarray) -> None:
        inside = (A * 2).astype(target.dtype)
        target[...] = -1
        target[: len(A), : A.shape[1]] = inside


LOW = SimpleNamespace(storage=np.dtype("f8"), dtype=np.dtype("f8"), decode=lambda stored: stored / 2)


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    host = Host(3)  # which works late
    cupy = host.stand_in(monkeypatch)
    cupy.isnan, cupy.copyto = np.isnan, np.copyto
    monkeypatch.setattr(rows, "synchronize", host.finish)
    monkeypatch.setattr(rows, "exchange", lambda low: Exchange())
    monkeypatch.setattr(staging, "LEAST_BYTES", 1)
    return host


def test_there_and_back(host: Host) -> None:
    A = np.arange(42.0).reshape(6, 7)
    spans = [slice(4, 6), slice(0, 1)]
    raw = rows.taken(A, spans, 5, 8)
    assert np.array_equal(raw[:3, :7], A[[4, 5, 0]])
    low: Any = LOW
    stored = rows.into_storage(low, raw, 3, 7)
    assert stored.ctypes.data == raw.ctypes.data, "in its own memory"
    assert np.array_equal(stored[:3, :7], 2 * A[[4, 5, 0]]) and (stored[3:] == -1).all() and (stored[:, 7] == -1).all()
    result = np.zeros((6, 7))
    assert not rows.handed_out(low, stored, spans, result, True)
    assert np.array_equal(result[[4, 5, 0]], A[[4, 5, 0]]) and not result[1:4].any()


def test_storage_of_another_size_is_other_memory(host: Host) -> None:
    def empty(shape: tuple[int, ...]) -> np.ndarray:
        return host.empty(shape, "f4")

    low: Any = SimpleNamespace(storage=np.dtype("f4"), dtype=np.dtype("f8"), empty=empty)
    raw = rows.taken(np.ones((2, 2)), [slice(0, 2)], 2, 2)
    stored = rows.into_storage(low, raw, 2, 2)
    assert stored.dtype == np.float32 and (stored == 2).all() and (raw == 1).all()


def test_nan_is_found(host: Host) -> None:
    low: Any = LOW
    raw = rows.taken(np.array([[1.0, np.nan]]), [slice(0, 1)], 1, 2)
    assert rows.handed_out(low, raw, [slice(0, 1)], np.zeros((1, 2)), True)
    assert not rows.handed_out(low, raw, [slice(0, 1)], np.zeros((1, 2)), False)


def test_a_device_is_not_waited_for_while_a_graph_is_recorded() -> None:
    """What is recorded on it by another thread would be invalid."""
    alone: list[bool] = []
    launch.synchronize_device(SimpleNamespace(synchronize=lambda: alone.append(launch.RECORDING.locked())))
    assert alone == [True] and not launch.RECORDING.locked()
