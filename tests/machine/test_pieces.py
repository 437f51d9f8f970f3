"""Work cut into pieces: every row in one of them, none empty, and each taken once."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.machine.pieces import ENOUGH_STEPS, equal_shares, parts_worth, ranges, share

quick = settings(max_examples=200)


def rows(pieces: list[tuple[int, int]]) -> list[int]:
    assert all(first < last for first, last in pieces)
    return [i for first, last in pieces for i in range(first, last)]


@quick
@given(st.integers(0, 500), st.integers(-1, 600))
def test_ranges(count: int, parts: int) -> None:
    found = ranges(count, parts)
    assert rows(found) == list(range(count))
    assert len(found) <= max(parts, 1)
    sizes = [last - first for first, last in found]
    assert len(set(sizes[:-1])) <= 1 and sizes[-1:] <= sizes[:1]


@quick
@given(st.lists(st.integers(0, 1000), max_size=40), st.integers(-1, 50), st.sampled_from([np.int32, np.int64]))
def test_equal_shares(work: list[int], parts: int, index: type[np.integer]) -> None:
    before = np.concatenate([[0], np.cumsum(work)]).astype(index)
    found = equal_shares(before, parts)
    assert rows(found) == list(range(len(work)))
    assert len(found) <= max(parts, 1)
    fair = sum(work) / max(parts, 1)
    for first, last in found:  # without its last row it would be too little
        assert before[last - 1] - before[first] <= fair + 1


def test_rows_without_work_are_in_some_share() -> None:
    assert rows(equal_shares(np.zeros(6, np.int64), 3)) == [0, 1, 2, 3, 4]
    assert equal_shares(np.zeros(1, np.int64), 3) == []
    assert len(equal_shares(np.arange(0, 1001, 10), 4)) == 4


@quick
@given(st.integers(0, 10**12), st.integers(1, 64))
def test_parts_repay_the_threads(steps: int, threads: int) -> None:
    found = parts_worth(steps, threads)
    assert 1 <= found <= 4 * threads
    assert found == 1 or steps >= found * ENOUGH_STEPS
    assert found == 4 * threads or steps < (found + 1) * ENOUGH_STEPS


@pytest.mark.parametrize("threads", [1, 2, 5, None])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 40])
def test_each_piece_is_taken_once(count: int, threads: int | None) -> None:
    taken, workers = [], set()

    def work(first: int, last: int) -> None:
        taken.append((first, last))
        workers.add(threading.get_ident())

    pieces = [(i, i * i) for i in range(count)]
    share(work, pieces, threads)
    assert sorted(taken) == pieces  # the list that was given stays as it was
    if threads == 1 or count == 1:
        assert taken == pieces and workers <= {threading.get_ident()}


def test_pieces_go_to_several_threads() -> None:
    barrier, workers = threading.Barrier(3), set()

    def work(number: int) -> None:
        barrier.wait(30)  # all at once, or never
        workers.add(threading.get_ident())

    share(work, [(0,), (1,), (2,)], 3)
    assert len(workers) == 3


@pytest.mark.parametrize("threads", [1, 3])
def test_what_a_piece_raises_is_raised(threads: int) -> None:
    taken = []

    def work(number: int) -> None:
        taken.append(number)
        if number == 2:
            raise LookupError(f"piece {number}")

    with pytest.raises(LookupError, match="piece 2"):
        share(work, [(i,) for i in range(6)], threads)
    assert len(set(taken)) == len(taken) and 2 in taken
