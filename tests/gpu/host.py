"""A GPU played by the host, for tests of what is launched: memory at addresses, streams, and CuPy's names for them.

What a launch does is a function of the test's, on NumPy arrays over the same memory. Each stream keeps its order; what
different streams are given is done in any order that events allow, as a seed has it. So a launch that does not wait for
what it needs gives a wrong answer for some seed, and one that reaches outside of allocated memory fails. The same holds
for what CuPy does itself: an array that is made of zeros, or of the host's elements, is filled by the current stream,
in its turn. There may be several GPUs: a thread has a current one, from which a launch reaches its own memory only, and
for each of them a current stream.
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
    "abs add argsort concatenate cumsum exp exp2 flatnonzero flip fmin histogram isfinite isnan log log1p log2 matmul "
    "maximum minimum moveaxis multiply negative stack subtract take_along_axis where zeros_like"
).split()

LATE = (0, 30, 150)  # steps of all streams after which, at most, one that was given something begins with it


class Array(np.ndarray):
    """An array that says where it lies as CuPy's do, and as CuPy's memory does."""

    host: Host | None = None
    number = 0  # of the GPU in whose memory it is

    def __new__(cls, shape: Any, dtype: Any, data: Any, strides: Any = None) -> Any:
        """A view of memory, as `cupy.ndarray` makes it."""
        host = data.host
        array = np.asarray(host.home(data.ptr).view(np.ndarray)).view(np.uint8)
        found = np.ndarray(shape, dtype, array, data.ptr - host.home(data.ptr).ptr, strides).view(cls)
        found.host, found.number = host, host.number
        return found

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
        return SimpleNamespace(ptr=self.ptr, host=self.host)

    def get(self, stream: Any = None, out: Any = None, blocking: bool = True) -> Any:
        if blocking:
            self.catch_up()
            return np.array(self)
        return stream.give(lambda: np.copyto(out, self.view(np.ndarray)))

    def set(self, values: np.ndarray, stream: Any) -> None:
        stream.give(lambda: np.copyto(self.view(np.ndarray), values))

    def tolist(self) -> Any:
        self.catch_up()
        return super().tolist()

    def astype(self, *given: Any, **options: Any) -> Any:
        self.catch_up()
        found = self.view(np.ndarray).astype(*given, **options)
        return found if self.host is None else self.host.array(found)

    def reshape(self, *shape: Any, **options: Any) -> Any:
        found = super().reshape(*shape, **options)
        if np.may_share_memory(found, self):
            return found
        self.catch_up()
        return super().reshape(*shape, **options)

    def catch_up(self) -> None:
        """Do what the current stream was given, as NumPy's operations are done at once."""
        if self.host is not None:
            self.host.current[-1].synchronize()

    def __setitem__(self, place: Any, values: Any) -> None:
        if self.host is None:
            super().__setitem__(place, values)
            return
        plain = self.view(np.ndarray)
        values = values.view(np.ndarray) if isinstance(values, Array) else np.array(values)
        self.host.give(lambda: plain.__setitem__(place, values))

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        if isinstance(found, np.ndarray) and np.may_share_memory(found, self):
            return found
        self.catch_up()
        found = super().__getitem__(place)
        copied = self.host is not None and isinstance(found, np.ndarray)
        return self.host.array(found.view(np.ndarray)) if copied else found  # type: ignore[union-attr]

    def __array_function__(self, function: Any, types: Any, given: Any, options: Any) -> Any:
        self.catch_up()
        found = super().__array_function__(function, types, given, options)
        made = self.host is not None and type(found) is np.ndarray  # NumPy does not keep its subclass everywhere
        return self.host.array(found) if made else found  # type: ignore[union-attr]

    def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, out: Any = None, **options: Any) -> Any:
        self.catch_up()
        given = tuple(x.view(np.ndarray) if isinstance(x, Array) else x for x in given)
        if out is not None:
            options["out"] = tuple(x.view(np.ndarray) if isinstance(x, Array) else x for x in out)
        found = getattr(ufunc, method)(*given, **options)
        if out is not None:
            return out[0]
        return self.host.array(found) if self.host is not None and isinstance(found, np.ndarray) else found


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
        self.host.finish(until=lambda: not any(s.work for s in self.host.streams if s.number == self.id))


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
        self.host, self.ptr, self.number = host, len(host.streams), host.number
        self.begins: Any = None
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
        assert self.host.number == self.number, "a stream of another GPU"
        self.host.current.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.host.current.pop()


class Host:
    """Memory and streams of some GPUs; without a seed, what is given is done at once, and by any thread."""

    def __init__(self, seed: int | None = None, count: int = 1):
        self.order = None if seed is None else random.Random(seed)
        self.count, self.lock, self.thread, self.steps = count, RLock(), local(), 0
        self.streams: list[Stream] = []
        self.taken: list[Array] = []  # by where they begin
        self.begins: list[int] = []
        for number in range(count):
            self.stream(number)  # which each GPU has from the beginning

    @property
    def number(self) -> int:
        """The current GPU of a thread."""
        return getattr(self.thread, "number", 0)

    @number.setter
    def number(self, number: int) -> None:
        self.thread.number = number

    @property
    def current(self) -> list[Stream]:
        """A thread's current stream of its current GPU, the last one, and those before it."""
        if not hasattr(self.thread, "streams"):
            self.thread.streams = [[stream] for stream in self.streams[: self.count]]
        found: list[Stream] = self.thread.streams[self.number]
        return found

    def stream(self, number: int | None = None) -> Stream:
        """A new one, of a GPU by number or of the current one."""
        with self.lock, Device(self, self.number if number is None else number):
            self.streams.append(stream := Stream(self))
        return stream

    def give(self, work: Callable[[], None]) -> None:
        """Work for the current stream."""
        self.current[-1].give(work)

    def finish(self, until: Callable[[], bool] = lambda: False) -> None:
        """Do all that was given, or enough of it."""
        with self.lock:
            while not until() and (waiting := [s for s in self.streams if s.work]):
                able = [s for s in waiting if s.work[0][1][0]]
                assert able, "streams wait for each other"
                self.next_of(able).work.pop(0)[0]()

    def next_of(self, able: list[Stream]) -> Stream:
        """Any that has begun; a stream that was empty may begin much later than others with what it is given."""
        if self.order is None:
            return able[0]
        self.steps += 1
        for stream in self.streams:
            if not stream.work:
                stream.begins = None
            elif stream.begins is None:
                stream.begins = self.steps + self.order.random() * self.order.choice(LATE)
        ready = [stream for stream in able if stream.begins <= self.steps]
        return self.order.choice(ready) if ready else min(able, key=lambda stream: stream.begins)

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
        if isinstance(values, Array):
            values, dtype = values.view(np.ndarray), dtype or values.dtype
        else:
            values = np.array(values, dtype)
        array = self.empty(values.shape, dtype or values.dtype)
        array[...] = values
        return array

    def copied(self, target: Any, source: Any) -> None:
        """target ← source, by the current stream where one of them is on a GPU."""
        if isinstance(target, Array) or isinstance(source, Array):
            goal, origin = (x.view(np.ndarray) if isinstance(x, Array) else x for x in (target, source))
            self.give(lambda: np.copyto(goal, origin))
        else:
            np.copyto(target, source)

    def peer(self, to: int, there: int, of: int, here: int, count: int, stream: int) -> None:
        """A copy from one GPU to another, by a stream of the current one."""
        def copy() -> None:
            with Device(self, there):
                target = self.at(to, count, 1, count, "u1")
            with Device(self, here):
                target[...] = self.at(of, count, 1, count, "u1")

        self.streams[stream].give(copy)

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
            memcpyAsync=lambda to, of, count, *_: self.give(
                lambda: np.copyto(self.at(to, count, 1, count, "u1"), self.at(of, count, 1, count, "u1"))
            ),
            memsetAsync=lambda to, value, width, _: self.give(lambda: self.at(to, width, 1, width, "u1").fill(value)),
            getDevice=lambda: self.number, getDeviceCount=lambda: self.count, deviceCanAccessPeer=lambda *_: 0,
            memcpyPeerAsync=self.peer,
        )
        cuda = SimpleNamespace(
            Event=lambda **_: Event(self), Stream=lambda **_: self.stream(), runtime=runtime,
            Device=lambda number=None: Device(self, self.number if number is None else number),
            get_current_stream=lambda: self.current[-1], alloc=self.memory, alloc_pinned_memory=self.memory,
        )
        cupy = SimpleNamespace(
            cuda=cuda, ndarray=Array, empty=self.empty, asarray=self.array, ascontiguousarray=self.array,
            full=lambda shape, value, dtype: self.array(np.full(shape, value, dtype)),
            arange=lambda *given, **options: self.array(np.arange(*given, **options)),
            ones=lambda shape, dtype=float: self.array(np.ones(shape, dtype)),
            searchsorted=lambda *given, **options: self.array(np.searchsorted(*map(np.array, given), **options)),
            zeros=lambda shape, dtype=float: self.array(np.zeros(shape, dtype)),
            broadcast_to=lambda array, shape: np.broadcast_to(array, shape, subok=True),
            copyto=self.copied, **{name: getattr(np, name) for name in NUMPYS},
        )
        monkeypatch.setattr("semiring.kernels.cuda.compile.staging._streams", {})
        monkeypatch.setitem(sys.modules, "cupy", cupy)
        monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)
        return cupy
