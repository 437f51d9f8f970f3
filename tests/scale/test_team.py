"""Rows on several devices: the closure of one, whatever the order in which streams get on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scale.faked import FakedHost, deal_out, gathered

import semiring as sr
from semiring.algorithms.block_rows import block_rows
from semiring.algorithms.blocks import UndefinedStar
from semiring.kernels.build import kernel
from semiring.kernels.choose import choose
from semiring.kernels.facts import Facts
from semiring.scale.grid import Deal
from semiring.scale.team import Devices


def weights(S: sr.Semiring, n: int, seed: int) -> np.ndarray:
    """Some matrix over an algebra, a third of it without edges."""
    random = np.random.default_rng(seed)
    absent = random.random((n, n)) < 1 / 3
    if S is sr.shortest_count:
        A = S.array([[(float(random.integers(1, 5)), 1) for _ in range(n)] for _ in range(n)])
    elif S is sr.plus_times:
        A = random.random((n, n)) / (2 * n)
    elif S is sr.boolean:
        return ~absent & (random.random((n, n)) < 2 / n)
    else:
        A = random.integers(1, 20, (n, n)).astype(float)
    A[absent] = S.zero_in(A.dtype)
    return A


def closed(
    A: np.ndarray, S: sr.Semiring, side: int, count: int, host: FakedHost, *, waits: bool = True,
    report: Callable[[float], None] = lambda part: None,
) -> np.ndarray:
    """The closure by devices that are faked."""
    low = choose(S, A.dtype, Facts(), len(A), in_place=False, packed=False).interpreted
    deal = Deal(len(A), side, count)
    workers = deal_out(low.encode(A, True), deal, host, waits)
    engine: Any = kernel(low)
    team = Devices(engine if host.answers else engine.unchecked, deal, workers, report)
    block_rows(team)
    team.wait()
    return low.decode(gathered(workers, deal, low.encode(A, True)))


@pytest.mark.parametrize("S", [sr.min_plus, sr.max_min, sr.plus_times, sr.boolean, sr.shortest_count], ids=str)
@given(n=st.integers(1, 17), side=st.integers(1, 6), count=st.integers(1, 5), seed=st.integers(0, 999),
       patience=st.sampled_from((0.02, 0.5, 1.0)), answers=st.booleans())
@settings(max_examples=25)
def test_it_is_the_closure(
    S: sr.Semiring, n: int, side: int, count: int, seed: int, patience: float, answers: bool
) -> None:
    A = weights(S, n, seed)
    found = closed(A, S, side, count, FakedHost(seed, patience, answers))
    expected = sr.closure(A, S, device="cpu")
    exact = S is not sr.plus_times
    assert np.array_equal(found, expected) if exact else np.allclose(found, expected, rtol=1e-12), (
        f"A = np.array({A.tolist()}); side {side}, {count} devices, seed {seed}")


def test_streams_that_wait_for_nobody_are_found_out() -> None:
    """So that the test above can fail."""
    A, expected = weights(sr.min_plus, 12, 1), None
    expected = sr.closure(A, sr.min_plus, device="cpu")
    found = [closed(A, sr.min_plus, 2, 3, FakedHost(seed), waits=False) for seed in range(5)]
    assert not all(np.array_equal(x, expected) for x in found)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_pivot_without_a_star_is_named(count: int) -> None:
    A = np.zeros((9, 9))
    A[7, 7] = 1.0  # 1 + 1 + 1 + … has no limit
    with pytest.raises(UndefinedStar) as refused:
        closed(A, sr.plus_times, 2, count, FakedHost(0, answers=True))
    assert refused.value.pivot == 7


def test_what_is_told_grows() -> None:
    told: list[float] = []
    closed(weights(sr.min_plus, 20, 3), sr.min_plus, 2, 3, FakedHost(5), report=told.append)
    assert told == sorted(told) and len(told) == 8 and 0 < told[0] < told[-1] < 1


@given(n=st.integers(1, 40), side=st.integers(1, 9), workers=st.integers(1, 7))
def test_every_row_is_dealt_once(n: int, side: int, workers: int) -> None:
    deal = Deal(n, side, workers)
    rows = [range(n)[span] for worker in range(workers) for span in deal.spans(worker)]
    assert sorted(i for part in rows for i in part) == list(range(n))
    assert sum(deal.rows(worker) for worker in range(workers)) == n
    most, least = (f(sum(1 for _ in deal.spans(w)) for w in range(workers)) for f in (max, min))
    assert most - least <= 1


@given(n=st.integers(1, 40), side=st.integers(1, 9), workers=st.integers(1, 5), k=st.integers(0, 40))
def test_runs_leave_out_two_block_rows(n: int, side: int, workers: int, k: int) -> None:
    deal = Deal(n, side, workers)
    for worker in range(workers):
        found = [i for run in deal.others(worker, k, k + 1) for i in range(run.start, run.stop)]
        without = [i for b in (k, k + 1) if b < deal.count and deal.owner(b) == worker
                   for i in range(deal.place(b).start, deal.place(b).stop)]
        assert sorted(found + without) == list(range(deal.rows(worker)))
