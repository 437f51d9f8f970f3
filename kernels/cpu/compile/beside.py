"""Compile in several processes: this one from the first function to the last, others from the last to the first.

Numba compiles one function at a time in a process. No process waits for another: each looks on disk before it
compiles, and the others pass over what this one tells them that it has begun with.
"""

from __future__ import annotations

import atexit
import gc
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from threading import Thread
from typing import Any, BinaryIO, cast

from semiring.machine.threads import thread_count

from .cache import cache_directory
from .collecting import collect_again
from .price import always

Steps = Sequence[Callable[[], object]]
Work = tuple[Callable[..., Steps], tuple[Any, ...]]

MOST_HELPERS = 3  # other processes: they share what takes ten seconds, and each takes half a second to start
OTHER = (
    "import os, pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    f"from {__name__} import help_along; help_along(sys.stdin.buffer); "
    "os._exit(0)"  # a thread still listens, which Python would not leave
)

_ahead: ContextVar[Work | None] = ContextVar("ahead", default=None)
_others: list[BinaryIO] = []  # to which this process tells with what it begins
_begun: set[str] = set()  # of which this process has been told


class Begun(Exception):
    """Another process compiles this already."""


@contextmanager
def if_missing(steps_of: Callable[..., Steps], *arguments: Any, surely: bool = False) -> Iterator[None]:
    """Within this context the first function that is not on disk has other processes compile too: see `begin`.

    They begin at once where one is `surely` missing. From then on the garbage collector waits for the end of the
    context: between functions it would look again and again at what compiling leaves.
    """
    token, collecting = _ahead.set((steps_of, arguments)), gc.isenabled()
    try:
        if surely:
            _begin_if_asked()
        yield
    finally:
        _ahead.reset(token)
        collect_again(collecting)


def is_missing(name: str) -> None:
    """A function has to be compiled: have other processes begin, if there is more to compile, and tell them which.

    Raises
    ------
    Begun
        In one of these others, if it was told so.
    """
    if name in _begun:
        raise Begun(name)
    _begin_if_asked()
    for pipe in tuple(_others):
        with suppress(OSError, ValueError):  # the other has ended
            pipe.write(f"{name}\n".encode())
            pipe.flush()


def _begin_if_asked() -> None:
    if (work := _ahead.get()) is not None:
        _ahead.set(None)
        gc.disable()
        steps_of, arguments = work
        begin(steps_of, *arguments)


def begin(steps_of: Callable[..., Steps], *arguments: Any) -> list[subprocess.Popen[bytes]]:
    """Have other processes do some steps from the last to the first, in turn, while this one does them all.

    Nothing is lost where there is no second processor, no directory that all see, no Python to start, or an algebra
    that cannot be sent: this process compiles alone.

    Parameters
    ----------
    steps_of : callable
        Gives what compiles, in the order in which this process will ask for it. A function at the top of a module.
    *arguments
        Of `steps_of`, which the other processes call with them.
    """
    number = min(MOST_HELPERS, thread_count() - 1)
    if number < 1 or cache_directory() is None or not _is_python(sys.executable):
        return []
    try:
        work = pickle.dumps((steps_of, arguments))
    except pickle.PicklingError:
        return []
    return [other for turn in range(number) if (other := _start(turn, number, work)) is not None]


def _start(turn: int, number: int, work: bytes) -> subprocess.Popen[bytes] | None:
    try:
        other = subprocess.Popen(
            [sys.executable, "-c", OTHER], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except OSError:  # no more processes are allowed, or there is no memory for them
        return None
    assert other.stdin is not None
    with suppress(BrokenPipeError):
        other.stdin.write(pickle.dumps(sys.path) + pickle.dumps((turn, number, work)))
        other.stdin.flush()
    _others.append(cast(BinaryIO, other.stdin))
    atexit.register(other.kill)
    Thread(target=_reap, args=(other,), daemon=True).start()
    return other


def _reap(other: subprocess.Popen[bytes]) -> None:
    other.wait()
    atexit.unregister(other.kill)
    assert other.stdin is not None
    _others.remove(cast(BinaryIO, other.stdin))
    with suppress(OSError):  # what could not be written any more
        other.stdin.close()


def help_along(told: BinaryIO) -> None:
    """The main function of the helper process; it reads its work, and then what this process compiles already."""
    work = pickle.load(told)
    Thread(target=_listen, args=(told,), daemon=True).start()
    do_backwards(*work)


def _listen(told: BinaryIO) -> None:
    for line in told:
        _begun.add(line.decode().strip())


def do_backwards(turn: int, number: int, work: bytes) -> None:
    """What another process does: one of so many steps, beginning with the last or one of those before it."""
    gc.disable()
    steps_of, arguments = pickle.loads(work)
    with always():
        for step in list(reversed(steps_of(*arguments)))[turn::number]:
            with suppress(Begun):
                step()


def _is_python(file: str | None) -> bool:
    """Whether a program is Python, and not one that Python was built into, which would start itself anew."""
    name = Path(file or "").name.lower()
    return name.startswith(("python", "pypy")) and not getattr(sys, "frozen", False)
