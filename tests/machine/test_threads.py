"""The pool of threads, how many there are, and the memory of each."""

from __future__ import annotations

import os
import re
import threading

import pytest

from semiring.errors import SemiringError
from semiring.machine import threads


def test_everybody_works_and_nobody_is_left() -> None:
    pool, barrier, names = threads.Pool(), threading.Barrier(3), []

    def work() -> None:
        barrier.wait(30)
        names.append(threading.get_ident())

    pool.run(work, 2)
    assert len(set(names)) == 3


@pytest.mark.parametrize("culprit", ["caller", "helper"])
def test_exceptions_arrive_at_the_caller(culprit: str) -> None:
    pool, barrier, caller = threads.Pool(), threading.Barrier(2), threading.get_ident()

    def work() -> None:
        barrier.wait(30)
        if (threading.get_ident() == caller) == (culprit == "caller"):
            raise LookupError(culprit)

    with pytest.raises(LookupError, match=culprit):
        pool.run(work, 1)
    pool.run(lambda: None, 1)


def test_helpers_that_come_late_are_not_waited_for() -> None:
    pool, release, done = threads.Pool(), threading.Event(), threading.Event()
    other = threading.Thread(target=lambda: (pool.run(lambda: release.wait(30), 1), done.set()))
    other.start()  # the only helper is busy now, or will be
    calls: list[int] = []
    pool.run(lambda: calls.append(1), 1)
    assert calls
    assert not done.is_set()
    release.set()
    other.join(30)
    assert done.is_set()


def test_a_caller_that_fails_waits_for_those_who_work() -> None:
    pool, barrier, caller, ended = threads.Pool(), threading.Barrier(2), threading.get_ident(), []

    def work() -> None:
        barrier.wait(30)
        if threading.get_ident() == caller:
            raise LookupError("the caller's")
        other = threading.Event()
        other.wait(0.05)
        ended.append(True)
        raise KeyError("the helper's, which comes second")

    with pytest.raises(LookupError, match="the caller's"):
        pool.run(work, 1)
    assert ended == [True]


def test_threads_start_when_they_are_needed_and_stay() -> None:
    pool = threads.Pool()
    alone: list[int] = []
    pool.run(lambda: alone.append(threading.get_ident()), 0)
    assert alone == [threading.get_ident()] and pool._size == 0
    for helpers, size in ((2, 2), (1, 2), (3, 3), (2, 3)):
        pool.run(lambda: None, helpers)
        assert pool._size == size


def test_a_call_within_a_call() -> None:
    """A thread at work may hand out work in turn, although all helpers are busy with the first."""
    pool, done = threads.Pool(), []
    pool.run(lambda: pool.run(lambda: done.append(True), 2), 1)
    assert done


def test_many_callers_share_a_pool() -> None:
    pool, lock, total = threads.Pool(), threading.Lock(), [0]

    def call() -> None:
        for _ in range(50):
            left = list(range(20))

            def work(left: list[int] = left) -> None:
                while True:
                    with lock:
                        if not left:
                            return
                        total[0] += left.pop()

            pool.run(work, 3)
            assert not left

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(60)
        assert not caller.is_alive()
    assert total == [4 * 50 * sum(range(20))]


def test_a_setting_of_white_space_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEMIRING_NUM_THREADS", raising=False)
    plain = threads.thread_count()
    assert plain >= 1
    monkeypatch.setenv("SEMIRING_NUM_THREADS", "  ")
    assert threads.thread_count() == plain
    monkeypatch.setenv("SEMIRING_NUM_THREADS", f" {plain + 1} ")
    assert threads.thread_count() == plain + 1
    with pytest.raises(ValueError, match="must be at least 1, not 0"):
        threads.thread_count(0)


def test_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_NUM_THREADS", "7")
    assert threads.thread_count() == 7
    assert threads.thread_count(2) == 2
    for wrong in ("0", "-1", "two", "1.5"):
        monkeypatch.setenv("SEMIRING_NUM_THREADS", wrong)
        message = f"^SEMIRING_NUM_THREADS is '{re.escape(wrong)}', but must be .* leave it unset"
        with pytest.raises(SemiringError, match=message):
            threads.thread_count()
    monkeypatch.delenv("SEMIRING_NUM_THREADS")
    if hasattr(os, "sched_getaffinity"):
        assert threads.thread_count() == len(os.sched_getaffinity(0))


def test_scratch_memory_is_aligned_and_one_for_each_thread() -> None:
    here, address = threads.scratch(1000)
    assert address % 64 == 0
    assert here.ctypes.data <= address <= here.ctypes.data + here.size - 1000
    assert threads.scratch(10)[1] == address
    found: list[int] = []
    other = threading.Thread(target=lambda: found.append(threads.scratch(1000)[1]))
    other.start()
    other.join()
    assert found != [address]
    threads.scratch(threads.KEEP_BYTES + 1)
    assert threads.scratch(10)[0].size <= threads.KEEP_BYTES + threads.ALIGNMENT
