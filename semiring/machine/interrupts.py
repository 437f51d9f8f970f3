"""Interrupts (Ctrl-C): noticed while a library call ignores them, and raised again if a library loses one."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any

HEARD_SECONDS = 0.1  # the longest time until an interrupt is noticed


def interruptible(function: Callable[[], Any]) -> Any:
    """Call a library function that ignores interrupts, in another thread, so that this thread can notice them.

    After an interrupt the other thread runs to the end, and this thread does not wait for it.
    """
    answers: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def call() -> None:
        try:
            answers.put((function(), None))
        except BaseException as error:  # the caller raises it
            answers.put((None, error))

    threading.Thread(target=call, name="semiring-library", daemon=True).start()
    while True:
        try:
            answer, error = answers.get(timeout=HEARD_SECONDS)
            break
        except Empty:  # an interrupt just before the wait is noticed before the next one
            continue
    if error is not None:
        raise error
    return answer


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """Within this context an interrupt waits for the end: libraries may lose one while they are imported.

    Only the main thread gets interrupts, so this does nothing in any other thread.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    heard: list[Any] = []
    signal.signal(signal.SIGINT, lambda number, frame: heard.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if heard:
            before(*heard[-1])


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """Within this context an interrupt is raised as usual, and again at the end if it was lost.

    Python only prints an exception that is raised in a finalizer or in a callback from C, and goes on. Compilers have
    many of both.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    raised: list[BaseException] = []

    def hear(number: int, frame: Any) -> None:
        try:
            before(number, frame)
        except BaseException as error:
            raised.append(error)
            raise

    signal.signal(signal.SIGINT, hear)
    try:
        yield
    except BaseException as error:
        if raised and not isinstance(error, type(raised[-1])):
            raise raised[-1] from None
        raise
    else:
        if raised:
            raise raised[-1]
    finally:
        signal.signal(signal.SIGINT, before)
