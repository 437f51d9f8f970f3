"""Buffers on a GPU, which the host plays: each thread has a stream, and waits for marks of others."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from gpu.host import Host

from semiring.kernels.cuda.dense import arena
from semiring.kernels.cuda.dense.arena import GpuArena


class Device:
    def __init__(self, number: int):
        assert number == 5

    def synchronize(self) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    host = Host(1)
    host.stand_in(monkeypatch).cuda.Device = Device
    monkeypatch.setattr(arena, "current_device", lambda: 5)
    return host


def test_tiles_are_parts_of_their_buffers(host: Host) -> None:
    made = GpuArena(2, 4, np.dtype("f4"))
    assert len(made) == 2 and made.whole(1).shape == (16,)
    made.whole(1)[...] = np.arange(16)
    assert made.tile(1, 2, 3).tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("seed", range(6))
def test_a_lane_waits_for_the_mark_of_another(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host(seed)
    host.stand_in(monkeypatch).cuda.Device = Device
    monkeypatch.setattr(arena, "current_device", lambda: 5)
    made, done = GpuArena(1, 1, np.dtype("f4")), SimpleNamespace(order=[])
    with made.lane() as first:
        host.give(lambda: done.order.append("first"))
        mark = first.mark()
        host.give(lambda: done.order.append("later"))
    with made.lane() as second:
        second.after(None)
        second.after(mark)
        host.give(lambda: done.order.append("second"))
        second.wait()
        assert done.order.index("first") < done.order.index("second")
        first.wait()
    assert sorted(done.order) == ["first", "later", "second"]
