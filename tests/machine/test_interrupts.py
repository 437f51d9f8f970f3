"""Interrupts that come while a library works: heard in time, and none is lost."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress

import pytest

from semiring.machine import interrupts


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_an_interrupt_is_heard_while_a_library_works() -> None:
    may_end, ended = threading.Event(), threading.Event()

    def library() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        may_end.wait()
        ended.set()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let what runs behind them ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupts.interruptible(library)
    finally:
        signal.signal(signal.SIGINT, before)
    assert not ended.is_set()
    may_end.set()
    ended.wait()


def test_what_a_library_returns_or_raises() -> None:
    assert interrupts.interruptible(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        interrupts.interruptible(lambda: 1 // 0)


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_an_interrupt_waits_for_the_end() -> None:
    done, before = [], signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), interrupts.interrupts_wait():
            os.kill(os.getpid(), signal.SIGINT)
            done.append(1)
        assert done and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        with interrupts.interrupts_wait():
            pass
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with interrupts.interrupts_wait():
            os.kill(os.getpid(), signal.SIGINT)
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def lose_one() -> None:
    """As Python does for what is raised in a finalizer."""
    with suppress(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(100):  # an interrupt is heard between two steps
            pass
        raise AssertionError("it is raised at once")


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_an_interrupt_that_is_lost_is_raised_at_the_end() -> None:
    done, before = [], signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), interrupts.interrupts_kept():
            with interrupts.interrupts_kept():
                lose_one()
                done.append(1)
            done.append(2)
        assert done == [1] and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        with pytest.raises(KeyboardInterrupt), interrupts.interrupts_kept():
            lose_one()
            raise ImportError("a module failed to import")
        with pytest.raises(LookupError), interrupts.interrupts_kept():
            raise LookupError
        told: list[int] = []
        signal.signal(signal.SIGINT, lambda number, frame: told.append(number))  # a user's, which raises nothing
        with interrupts.interrupts_kept():
            os.kill(os.getpid(), signal.SIGINT)
        assert told == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_hear_no_interrupts() -> None:
    def work() -> None:
        before = signal.getsignal(signal.SIGINT)
        with interrupts.interrupts_wait(), interrupts.interrupts_kept():
            same.append(signal.getsignal(signal.SIGINT) is before)

    same: list[bool] = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert same == [True]
