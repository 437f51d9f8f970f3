"""Streams of several GPUs, which are the host's here: on which GPU what is asked for is asked."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu.host import Host

from semiring.kernels.cuda.compile.streams import ENABLED, GpuStream, connect, on_each


class Refused(Exception):
    def __init__(self, status: int):
        super().__init__(status)
        self.status = status


class Runtime:
    """What CUDA's runtime is asked, and on which GPU."""

    CUDARuntimeError = Refused

    def __init__(self) -> None:
        self.device, self.asked, self.enabled = 0, [], set()  # type: ignore[var-annotated]

    def deviceCanAccessPeer(self, one: int, other: int) -> bool:
        return {one, other} != {0, 2}

    def deviceEnablePeerAccess(self, other: int) -> None:
        if (self.device, other) in self.enabled:
            raise Refused(ENABLED)
        self.enabled.add((self.device, other))

    def memcpyPeerAsync(self, to: int, there: int, of: int, here: int, count: int, stream: int) -> None:
        self.asked.append(("copy", self.device, to, there, of, here, count, stream))


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Runtime:
    runtime = Runtime()

    class Device:
        def __init__(self, number: int):
            self.id, self.before = number, 0

        def __enter__(self) -> None:
            self.before, runtime.device = runtime.device, self.id

        def __exit__(self, *_: object) -> None:
            runtime.device = self.before

    class Stream:
        def __init__(self, **options: Any):
            self.ptr, self.made = 70 + runtime.device, (runtime.device, options)

        def __enter__(self) -> None:
            runtime.asked.append(("stream", self.ptr))

        def __exit__(self, *_: object) -> None:
            pass

        def wait_event(self, event: Any) -> None:
            runtime.asked.append(("after", self.ptr, event.at))

        def synchronize(self) -> None:
            runtime.asked.append(("wait", self.ptr))

    class Event:
        def __init__(self, **_: Any):
            self.at = 0

        def record(self, stream: Stream) -> None:
            self.at = stream.ptr

    current = SimpleNamespace(synchronize=lambda: None)
    cuda = SimpleNamespace(
        Device=Device, Stream=Stream, Event=Event, runtime=runtime, get_current_stream=lambda: current
    )
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))
    monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)
    return runtime


def test_peers_are_enabled_both_ways_and_where_there_are_links(runtime: Runtime) -> None:
    for _ in range(2):  # the second time changes nothing
        connect((0, 1, 2))
    assert runtime.enabled == {(0, 1), (1, 0), (1, 2), (2, 1)}


def test_another_refusal_is_told(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(other: int) -> None:
        raise Refused(2)

    monkeypatch.setattr(runtime, "deviceEnablePeerAccess", refuse)
    with pytest.raises(Refused):
        connect((0, 1))


def test_each_has_its_gpu(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sorted(on_each((3, 5), lambda number: number)) == [0, 1]

    def fail(number: int) -> None:
        raise ValueError(number)

    with pytest.raises(ValueError):
        on_each((3, 5), fail)


@pytest.mark.parametrize("seed", range(4))
def test_memory_passes_to_any_stream(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the caller filled before, and what each GPU was asked to fill, is there when other streams go on with it."""
    host = Host(seed, 2)
    cupy = host.stand_in(monkeypatch)
    given = cupy.full(3, 7.0, float)
    filled = on_each((1, 0), lambda number: (cupy.zeros(3), cupy.asarray(given.view(np.ndarray))))
    for device, (zeros, sevens) in zip((1, 0), filled, strict=True):
        assert zeros.number == sevens.number == device
        with cupy.cuda.Device(device), cupy.cuda.Stream(non_blocking=True) as stream:
            zeros[...] = 1
            sevens[...] = sevens + zeros
            stream.synchronize()
    host.finish()
    assert all((zeros == 1).all() and (sevens == 8).all() for zeros, sevens in filled)


def test_work_goes_to_the_stream_of_its_gpu(runtime: Runtime) -> None:
    stream = GpuStream(2, urgent=True)
    assert stream._stream.made == (2, {"non_blocking": True, "priority": -5})
    assert GpuStream(1, urgent=False)._stream.made[1]["priority"] == 0
    seen = []
    stream.do(lambda *given: seen.append((runtime.device, given)), 3, "x")
    assert seen == [(2, (3, "x"))] and runtime.device == 0
    mark = stream.mark()
    GpuStream(1, urgent=False).after(mark)
    stream.wait()
    assert runtime.asked == [("stream", 72), ("after", 71, 72), ("wait", 72)]


def rows(device: int, address: int, array: np.ndarray) -> Any:
    class There(np.ndarray):
        device, data = SimpleNamespace(id=0), SimpleNamespace(ptr=0)

    there = array.view(There)
    there.device, there.data = SimpleNamespace(id=device), SimpleNamespace(ptr=address)
    return there


def test_whole_rows_are_sent(runtime: Runtime) -> None:
    source, target = rows(1, 100, np.zeros((2, 3))), rows(0, 200, np.zeros((2, 3)))
    stream = GpuStream(1, urgent=True)
    stream.send(source, target)
    stream.send(SimpleNamespace(words=source), SimpleNamespace(words=target))
    assert runtime.asked == 2 * [("copy", 1, 200, 0, 100, 1, 48, 71)]
    with pytest.raises(AssertionError):
        stream.send(rows(1, 100, np.zeros((2, 6))[:, :3]), target)


def test_rows_that_have_room_behind_them_are_sent_with_it(runtime: Runtime) -> None:
    """As rows of packed bits have, whose words fill whole cache lines."""
    source, target = rows(1, 100, np.zeros((4, 8))[:, :5]), rows(0, 200, np.zeros((4, 8))[:, :5])
    GpuStream(1, urgent=True).send(source, target)
    assert runtime.asked == [("copy", 1, 200, 0, 100, 1, 3 * 64 + 5 * 8, 71)]
