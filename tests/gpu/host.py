"""A GPU played by the host, for tests of what is launched: memory at addresses, streams, and CuPy's names for them.

What a launch does is a function of the test's, on NumPy arrays over the same memory. Each stream keeps its order; what
different streams are given is done in any order that events allow, as a seed has it. So a launch that does not wait for
what it needs gives a wrong answer for some seed, and one that reaches outside of allocated memory fails. There may be
several GPUs: a thread has a current one, from which a launch reaches its own memory only.
"""

from __future__ import annotations

import ctypes
import random
import sys
from bisect import bisect_right
from collections.abc import Callable
from threading import RLock, local
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

# What CuPy has under the same name and with the same meaning.
NUMPYS = (
    "abs arange argsort broadcast_to copyto cumsum exp exp2 flatnonzero fmin histogram isfinite isnan log log1p log2 "
    "matmul maximum multiply negative stack subtract take_along_axis where"
).split()


class Array(np.ndarray):
    """An array that says where it lies as CuPy's do, and as CuPy's memory does."""

    host: Host | None = None
    number = 0  # of the GPU in whose memory it is

    def __array_finalize__(self, origin: Any) -> None:
        self.host, self.number = getattr(origin, "host", None), getattr(origin, "number", 0)

    @property
    def device(self) -> Device:  # type: ignore[override]
        assert self.host is not None
        return Device(self.host, self.number)

    @property
    def ptr(self) -> int:
        return int(self.__array_interface__["data"][0])

    @property
    def data(self) -> Any:
        return SimpleNamespace(ptr=self.ptr)

    def get(self, stream: Any = None, out: Any = None, blocking: bool = True) -> Any:
        if blocking:
            return np.array(self)
        return stream.give(lambda: np.copyto(out, self))

    def set(self, values: np.ndarray, stream: Any) -> None:
        stream.give(lambda: np.copyto(self, values))


class Device:
    """One of the GPUs, the current one inside of a with statement."""

    def __init__(self, host: Host, number: int):
        assert 0 <= number < host.count, "there is no such GPU"
        self.host, self.id = host, number
        self.before: list[int] = []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self) -> int:
        return self.id

    def __enter__(self) -> Device:
        self.before.append(self.host.number)
        self.host.number = self.id
        return self

    def __exit__(self, *_: object) -> None:
        self.host.number = self.before.pop()

    def synchronize(self) -> None:
        self.host.finish()


class Event:
    """The place in a stream where it was recorded last."""

    def __init__(self, host: Host):
        self.host, self.reached = host, [True]

    def record(self, stream: Stream) -> None:
        self.reached = reached = [False]
        stream.give(lambda: reached.__setitem__(0, True))

    def synchronize(self) -> None:
        self.host.finish(until=lambda: self.reached[0])


class Stream:
    """Work in the order in which it was given."""

    def __init__(self, host: Host):
        self.host, self.ptr = host, len(host.streams)
        self.work: list[tuple[Callable[[], None], list[bool]]] = []

    def give(self, work: Callable[[], None], after: list[bool] | None = None) -> None:
        number = self.host.number

        def there() -> None:
            with Device(self.host, number):
                work()

        with self.host.lock:
            self.work.append((there, after or [True]))
            if self.host.order is None:
                self.host.finish()

    def wait_event(self, event: Event) -> None:
        self.give(lambda: None, event.reached)

    def synchronize(self) -> None:
        self.host.finish(until=lambda: not self.work)

    def begin_capture(self) -> None:
        """What is recorded is done at once."""

    def end_capture(self) -> Any:
        return SimpleNamespace(launch=lambda stream: None)

    def __enter__(self) -> Stream:
        self.host.current.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.host.current.pop()


class Host:
    """Memory and streams of some GPUs; without a seed, what is given is done at once, and by any thread."""

    def __init__(self, seed: int | None = None, count: int = 1):
        self.order = None if seed is None else random.Random(seed)
        self.count, self.lock, self.thread = count, RLock(), local()
        self.streams: list[Stream] = []
        self.taken: list[Array] = []  # by where they begin
        self.begins: list[int] = []
        self.stream()

    @property
    def number(self) -> int:
        """The current GPU of a thread."""
        return getattr(self.thread, "number", 0)

    @number.setter
    def number(self, number: int) -> None:
        self.thread.number = number

    @property
    def current(self) -> list[Stream]:
        """A thread's current stream, the last one, and those before it."""
        if not hasattr(self.thread, "streams"):
            self.thread.streams = [self.streams[0]]
        found: list[Stream] = self.thread.streams
        return found

    def stream(self) -> Stream:
        self.streams.append(Stream(self))
        return self.streams[-1]

    def give(self, work: Callable[[], None]) -> None:
        """Work for the current stream."""
        self.current[-1].give(work)

    def finish(self, until: Callable[[], bool] = lambda: False) -> None:
        """Do all that was given, or enough of it."""
        with self.lock:
            while not until() and (waiting := [s for s in self.streams if s.work]):
                able = [s for s in waiting if s.work[0][1][0]]
                assert able, "streams wait for each other"
                (self.order.choice(able) if self.order else able[0]).work.pop(0)[0]()

    def empty(self, shape: Any, dtype: Any = float) -> Array:
        """An array in memory that begins on a multiple of 256 bytes and holds anything."""
        dtype, shape = np.dtype(dtype), (shape,) if isinstance(shape, int) else tuple(shape)
        size = dtype.itemsize * int(np.prod(shape))
        room = np.full(size + 256, 0xA5, np.uint8)
        first = -room.__array_interface__["data"][0] % 256
        whole = room[first : first + size].view(Array)
        whole.host, whole.number = self, self.number
        with self.lock:
            place = bisect_right(self.begins, whole.ptr)
            self.begins.insert(place, whole.ptr)
            self.taken.insert(place, whole)
        return whole.view(dtype).reshape(shape)

    def array(self, values: Any, dtype: Any = None, order: str = "C") -> Array:
        """A copy in C order; itself where it lies in the memory of the current GPU already."""
        assert order == "C"
        here = isinstance(values, Array) and values.number == self.number
        if here and dtype in (None, values.dtype) and values.flags.c_contiguous:
            return values
        values = np.asarray(values, dtype)
        array = self.empty(values.shape, values.dtype)
        array[...] = values
        return array

    def memory(self, count: int) -> Any:
        """What an allocation answers."""
        return self.empty(count, np.uint8)

    def at(self, address: int, ld: int, rows: int, columns: int, dtype: Any) -> np.ndarray:
        """The matrix at an address, its rows `ld` bytes apart."""
        dtype = np.dtype(dtype)
        if not rows * columns:
            return np.empty((rows, columns), dtype)
        assert ld >= 0 and not address % dtype.itemsize, "elements lie on multiples of their size"
        end = address + (rows - 1) * ld + columns * dtype.itemsize
        home = self.home(address)
        assert end <= home.ptr + home.size, "outside of memory"
        assert home.number == self.number, "in another GPU's memory"
        buffer = (ctypes.c_char * (end - address)).from_address(address)
        return np.ndarray((rows, columns), dtype, buffer, strides=(ld, dtype.itemsize))

    def home(self, address: int) -> Array:
        """The array that an address is in, or at the end of."""
        with self.lock:
            place = bisect_right(self.begins, address) - 1
            assert place >= 0, "outside of memory"
            return self.taken[place]

    def stand_in(self, monkeypatch: pytest.MonkeyPatch) -> Any:
        """From now on `import cupy` gives this host."""
        runtime = SimpleNamespace(
            memcpyHostToDevice=1, memcpyDeviceToHost=2, memcpyDeviceToDevice=3,
            memcpy2DAsync=lambda to, ld, of, ld_of, width, rows, *_: self.give(
                lambda: np.copyto(self.at(to, ld, rows, width, "u1"), self.at(of, ld_of, rows, width, "u1"))
            ),
            getDevice=lambda: self.number, getDeviceCount=lambda: self.count, deviceCanAccessPeer=lambda *_: 0,
            memset2DAsync=lambda to, ld, value, width, rows, _: self.give(
                lambda: self.at(to, ld, rows, width, "u1").fill(value)
            ),
        )
        cuda = SimpleNamespace(
            Event=lambda **_: Event(self), Stream=lambda **_: self.stream(), runtime=runtime,
            Device=lambda number=None: Device(self, self.number if number is None else number),
            get_current_stream=lambda: self.current[-1], alloc=self.memory, alloc_pinned_memory=self.memory,
        )
        cupy = SimpleNamespace(
            cuda=cuda, ndarray=Array, empty=self.empty, asarray=self.array, ascontiguousarray=self.array,
            full=lambda shape, value, dtype: self.array(np.full(shape, value, dtype)),
            zeros=lambda shape, dtype=float: self.array(np.zeros(shape, dtype)),
            **{name: getattr(np, name) for name in NUMPYS},
        )
        monkeypatch.setitem(sys.modules, "cupy", cupy)
        monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)
        return cupy
