"""A small pool of threads for compiled kernels that release the GIL, and the scratch memory of each thread.

Numba's own parallel loops are not used: their OpenMP layer ends the process when it is entered after a fork or from two
threads at once. Here the caller works too, and does not wait for helpers that wake up too late; a forked child starts a
pool of its own, and any number of callers may share the pool.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

import numpy as np

from semiring.errors import SemiringError

KEEP_BYTES = 2 << 20  # scratch memory that a thread keeps from one call to the next
ALIGNMENT = 64  # bytes: a cache line, and the widest vector


def thread_count(threads: int | None = None) -> int:
    """The number of threads to use: `threads`, else ``SEMIRING_NUM_THREADS``, else the CPUs of this process.

    Raises
    ------
    SemiringError
        If either is not a whole number ≥ 1.

    Examples
    --------
    >>> thread_count(3)
    3
    """
    if threads is None:
        text = os.environ.get("SEMIRING_NUM_THREADS", "").strip()
        if not text:
            return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        if not (text.isascii() and text.isdecimal() and int(text)):
            raise SemiringError(f"SEMIRING_NUM_THREADS is {text!r}, but must be a whole number from 1 on; leave it "
                                "unset to use all CPUs that this process may run on")
        threads = int(text)
    if threads < 1:
        raise SemiringError(f"the number of threads must be at least 1, not {threads}")
    return threads


def cpu_place(threads: int | None = None) -> str:
    """The processor and so many threads, in words; by default as many as `thread_count` gives.

    Examples
    --------
    >>> cpu_place(1), cpu_place(4)
    ('CPU, 1 thread', 'CPU, 4 threads')
    """
    count = thread_count(threads)
    return "CPU, 1 thread" if count == 1 else f"CPU, {count} threads"


class _Call:
    """A piece of work that the caller and its helpers do together."""

    def __init__(self, work: Callable[[], object]):
        self.work = work
        self.lock = threading.Lock()
        self.idle = threading.Lock()  # held while a thread is still working after the call was closed
        self.active = 0
        self.closed = False
        self.error: BaseException | None = None

    def help(self) -> None:
        with self.lock:
            if self.closed:
                return
            self.active += 1
        try:
            self.work()
        except BaseException as error:  # the caller raises it
            self.error = error
        with self.lock:
            self.active -= 1
            if self.closed and not self.active:
                self.idle.release()

    def close(self) -> None:
        """Let no other thread begin, and wait for those that have begun."""
        with self.lock:
            self.closed = True
            if not self.active:
                return
            self.idle.acquire()
        self.idle.acquire()


class Pool:
    """Threads that start when they are first needed, and then wait for calls."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: SimpleQueue[_Call] = SimpleQueue()
        self._size = 0

    def run(self, work: Callable[[], object], helpers: int) -> None:
        """Call `work` on this thread, and on up to `helpers` others at the same time; return when all have returned.

        `work` takes its share from shared state (an atomic counter), and returns when nothing is left. An error in one
        of the threads is raised here.
        """
        if self._size < helpers:
            self._grow(helpers)
        call = _Call(work)
        for _ in range(helpers):
            self._calls.put(call)
        try:
            work()
        finally:
            call.close()
        if call.error is not None:
            raise call.error

    def _grow(self, size: int) -> None:
        with self._lock:
            while self._size < size:
                name = f"semiring-{self._size}"
                threading.Thread(target=_serve, args=(self._calls,), name=name, daemon=True).start()
                self._size += 1


def _serve(calls: SimpleQueue[_Call]) -> None:
    while True:
        calls.get().help()


pool = Pool()


def _after_fork() -> None:
    pool.__init__()  # type: ignore[misc]  # the threads stayed in the parent, and a lock may have been held there


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class _Scratch(threading.local):
    buffer: np.ndarray = np.empty(0, np.uint8)
    address: int = 0


_scratch = _Scratch()


def scratch(size: int) -> tuple[np.ndarray, int]:
    """Memory of at least `size` bytes for this thread alone: an array to keep alive, and its aligned address.

    The result of an earlier call on the same thread must not be in use any more.
    """
    if size <= _scratch.buffer.size - ALIGNMENT:
        return _scratch.buffer, _scratch.address
    buffer = np.empty(size + ALIGNMENT, np.uint8)
    address = -(-buffer.ctypes.data // ALIGNMENT) * ALIGNMENT
    if size <= KEEP_BYTES:
        _scratch.buffer, _scratch.address = buffer, address
    return buffer, address
