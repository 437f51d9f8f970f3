"""Rounds cover all rows in order and are bounded; after an interrupt helpers begin no other."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.kernels.cpu.compile import rounds
from semiring.kernels.cpu.compile.rounds import PIECES, ROUND, Pace, share_by_pace, share_in_rounds
from semiring.machine.pieces import share


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 10), max_size=30), st.floats(1, 100), st.lists(st.floats(0, 1), min_size=30, max_size=30)
)
def test_rounds_cover_the_rows_and_are_short(steps: list[int], rate: float, seconds: list[float]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        clock = iter(np.cumsum(np.repeat(seconds, 2)).tolist())
        patch.setattr(rounds, "perf_counter", lambda: next(clock))
        patch.setattr(rounds, "TELLING", 0)
        pace, before = Pace(), np.concatenate([[0], np.cumsum(steps)]).astype(np.int64)
        pace.learn(rate, 1.0)
        reached = 0
        for first, last in pace.rounds(before):
            assert first == reached < last
            assert before[last] - before[first] <= pace.most or last == first + 1
            assert last == len(steps) or before[last + 1] - before[first] > pace.most  # no shorter than need be
            reached = last
        assert reached == len(steps)


def test_few_steps_tell_nothing() -> None:
    pace = Pace()
    before = pace.most
    pace.learn(10, 1.0)
    assert pace.most == before
    pace.learn(5e6, 1.0)
    assert pace.most == 5e6 * ROUND


@settings(max_examples=60)
@given(st.floats(1e2, 1e10), st.floats(1e2, 1e10))
def test_a_pace_once_learned_is_learned_again(before: float, now: float) -> None:
    """However slow a round was: else all later ones have too few steps to tell."""
    with pytest.MonkeyPatch.context() as patch:
        pace, clock = Pace(), 0.0
        pace.learn(before * 100, 100.0)
        patch.setattr(rounds, "perf_counter", lambda: clock)
        row = int(max(now / 1000, 1000))  # steps of each of 10,000 rows, which tell
        for first, last in pace.rounds(np.arange(10_001), row):
            clock += (last - first) * row / now
        assert pace.most == pytest.approx(now * ROUND, rel=1e-3)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_all_pieces_are_done(threads: int) -> None:
    done, lock = [], threading.Lock()

    def work(a: int, b: int) -> None:
        with lock:
            done.append((a, b))

    pieces = [(i, i + 1) for i in range(57)]
    share_in_rounds(work, pieces, threads)
    assert sorted(done) == pieces


@settings(max_examples=60)
@given(st.integers(0, 300), st.floats(0, 1e7), st.sampled_from([1, 2, 5]), st.floats(1e3, 1e9))
def test_ranges_by_pace_cover_all_and_are_short(count: int, each: float, threads: int, rate: float) -> None:
    done: list[tuple[int, int]] = []
    pace = Pace()
    pace.learn(rate * 1000, 1000.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pace, "learn", lambda steps, seconds: None)
        share_by_pace(lambda first, last: done.append((first, last)), count, each, pace, threads)
    assert [i for first, last in sorted(done) for i in range(first, last)] == list(range(count))
    assert all((last - first) * each <= max(pace.most, rounds.LEAST_STEPS, each) for first, last in done)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_after_an_error_nobody_begins_another_range(threads: int) -> None:
    done: list[int] = []
    pace = Pace()
    pace.learn = lambda steps, seconds: None  # type: ignore[method-assign]

    def work(first: int, last: int) -> None:
        done.append(first)
        if len(done) >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        share_by_pace(work, 10_000, 1e8, pace, threads)
    assert len(done) <= 3 + threads
    done.clear()
    with pytest.raises(KeyboardInterrupt):
        share(work, [(i, i + 1) for i in range(10_000)], threads)
    assert len(done) <= 3 + threads


@settings(max_examples=30)
@given(st.integers(0, 40), st.integers(1, 9))
def test_a_round_has_work_for_every_thread(rows: int, least: int) -> None:
    pace = Pace()
    pace.learn = lambda steps, seconds: None  # type: ignore[method-assign]
    found = list(pace.rounds(np.arange(rows + 1), 1 << 40, least))
    assert [last - first for first, last in found] == [min(least, rows - i) for i in range(0, rows, least)]


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_ends_the_rounds(threads: int) -> None:
    done: list[int] = []

    def work(i: int) -> None:
        done.append(i)
        if i == 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        share_in_rounds(work, [(i,) for i in range(1000)], threads)
    assert len(done) <= PIECES * threads
