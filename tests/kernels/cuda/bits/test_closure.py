"""How a packed Boolean matrix is cut for its closure, and what is launched, in any order that events allow."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from gpu.host import Host
from gpu.played_bits import Bits

from semiring.kernels.cuda.bits import closure, words
from semiring.kernels.cuda.bits.closure import Schedule, close, schedule


@pytest.mark.parametrize("n", [1, 513, 3000, 3073, 8192, 16_384, 40_000, 65_536, 100_000, 262_144, 1_000_000])
def test_blocks_of_a_schedule_divide_each_other(n: int) -> None:
    """Pivots begin on whole 16 bytes, and flags of a level fit the next."""
    blocks = schedule(n).blocks
    assert all(b % 128 == 0 for b in blocks)
    assert all(outer % inner == 0 and outer > inner for outer, inner in pairwise(blocks))


def test_the_largest_cut_there_is_for_an_order() -> None:
    """No pivot blocks where squaring is as fast; tiles are looked for, to pass them over, where there are many."""
    assert schedule(3072) == Schedule() and schedule(3073).blocks
    skips = [schedule(n).skip for n in (1000, 49_152, 49_153, 10**6)]
    assert skips == [False, False, True, True]
    assert all(schedule(n).blocks[0] < n for n in range(3073, 300_000, 1013))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """One block of threads closes 128 rows, so that small matrices take the ways of large ones."""
    monkeypatch.setattr(closure, "SMALLEST", 128)


def close_on_host(played: Bits, A: np.ndarray, how: Schedule | None) -> np.ndarray:
    M, _memory = words.scratch(len(A), len(A))
    played.write(M.address, M.ld, A)
    close(M, how)
    played.host.finish()
    return played.truths(M.address, M.ld, len(A), len(A))


def graph(n: int, degree: float, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((n, n)) * n < degree


def path(n: int) -> np.ndarray:
    """Through all vertices in shuffled order."""
    order = np.random.default_rng(0).permutation(n)
    return np.eye(n, k=1, dtype=bool)[np.ix_(order, order)]


def reached(A: np.ndarray) -> np.ndarray:
    """A⁺, one pivot after the other."""
    A = A.copy()
    for k in range(len(A)):
        A |= A[:, k, None] & A[k]
    return A


@pytest.mark.parametrize("n", [0, 1, 65, 128, 129, 300])
def test_orders(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By one block of threads, and by squaring as often as the longest path needs."""
    for A in (path(n), graph(n, 2, n)):
        np.testing.assert_array_equal(close_on_host(Bits(Host(0), monkeypatch), A, None), reached(A))


@pytest.mark.parametrize("blocks", [(128,), (256, 128), (1024, 384)])
@pytest.mark.parametrize("spare", [0, 8])
def test_every_schedule_gives_the_same(blocks: tuple[int, ...], spare: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the next pivot is closed on a second stream while the rest is computed."""
    for seed, A in enumerate((path(390), graph(390, 1.2, 1))):
        got = close_on_host(Bits(Host(seed), monkeypatch), A, Schedule(blocks, spare))
        np.testing.assert_array_equal(got, reached(A))


@pytest.mark.parametrize("spare", [0, 8])
def test_tiles_that_are_full_or_empty_are_passed_over(spare: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all is reached soon, and where some rows and some columns stay empty."""
    for rows, columns in ((slice(0), slice(0)), (slice(100, 400), slice(0)), (slice(0), slice(100, 400))):
        played, A = Bits(Host(1), monkeypatch, (9, 0)), graph(500, 4, 1) | np.eye(500, k=1, dtype=bool)
        A[-1, 0] = True
        A[rows], A[:, columns] = False, False
        np.testing.assert_array_equal(close_on_host(played, A, Schedule((128,), spare, True)), reached(A))
        assert {"settle", "some", "multiply_wgmma"} <= set(played.launched) and played.passed


def test_a_launch_that_does_not_wait_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check can fail: without the events between streams some order gives a wrong answer."""
    monkeypatch.setattr("gpu.host.Stream.wait_event", lambda *_: None)
    A = path(390)
    wanted = reached(A)

    def is_right(seed: int) -> bool:
        return np.array_equal(close_on_host(Bits(Host(seed), monkeypatch), A, Schedule((128,), 8)), wanted)

    assert not all(is_right(seed) for seed in range(20))
