"""What is predicted: terms, counted again by hand, and times that grow with the work."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sparse_patterns import ORDERS, analysed, analyses, patterns, rows

from semiring.algorithms.sparse.analysis import Analysis, analyse
from semiring.algorithms.sparse.costs import (
    DENSE_ORDER,
    LANES,
    SETUP,
    analysis_seconds,
    dense_seconds,
    level_seconds,
    rates,
    settle_seconds,
    sweep_seconds,
    work_between,
    work_of,
)
from semiring.algorithms.sparse.ordering import Spread

quick = settings(max_examples=80)


@quick
@given(patterns(), analyses)
def test_work_counts_the_terms(pattern: tuple, how: tuple) -> None:
    a, _ = analysed(pattern, how)
    found = work_of(a)
    s, u = a.pivots.tolist(), a.reach.tolist()
    assert found.small + found.large == sum(x * (x + y) ** 2 for x, y in zip(s, u, strict=True))
    assert found.down == sum(x * y for x, y in zip(s, u, strict=True))
    up = 0
    for begin in range(0, a.n, 64):
        chunk = range(begin, min(begin + 64, a.n))
        path = set()
        for v in chunk:
            k = a.owner[v]
            while k >= 0:
                path.add(int(k))
                k = a.parent[k]
        up += len(chunk) * sum(s[k] * (s[k] + u[k]) for k in path)
    assert found.up == up


@quick
@given(patterns(), analyses, st.data())
def test_work_between_vertices_is_what_lies_above_them(pattern: tuple, how: tuple, data: st.DataObject) -> None:
    a, _ = analysed(pattern, how)
    some = st.lists(st.integers(0, a.n - 1), max_size=5) if a.n else st.just([])
    starts, ends = (np.array(data.draw(some), np.int64) for _ in range(2))

    def above(v: int) -> set[int]:
        k, found = int(a.owner[a.place[v]]), set()
        while k >= 0:
            found.add(k)
            k = int(a.parent[k])
        return found

    s, u = a.pivots.tolist(), a.reach.tolist()
    up = sum(s[k] * (s[k] + u[k]) for v in starts.tolist() for k in above(v))
    climbed, wanted = (set().union(*map(above, some.tolist())) for some in (starts, ends))
    down = sum(s[k] * u[k] for k in wanted)
    steps = sum(2 * s[k] for k in climbed) + sum(u[k] for k in wanted)
    assert work_between(a, starts, ends) == (up + len(starts) * down, steps)
    assert down <= work_of(a).down


@quick
@given(patterns(), st.sampled_from(ORDERS))
def test_supernodes_without_zeros_join_what_elimination_joins(pattern: tuple, method: str) -> None:
    a, later = analysed(pattern, (method, 0, False))
    found = work_of(a)
    assert found.fill == sum(map(len, later))
    assert found.stored == a.n + 2 * found.fill, "of each pair both directions"
    merged = work_of(analysed(pattern, (method, 32, True))[0])
    assert merged.fill >= found.fill, "larger supernodes hold zeros"
    assert found.stack == a.stack_layout(LANES, 1)[2]


def clique(n: int) -> Analysis:
    edges = [(u, v) for u in range(n) for v in range(n) if u != v]
    return analyse(*rows(n, edges), method="natural", leaf=0, merge=False)


def test_terms_of_one_front() -> None:
    small, large = work_of(clique(DENSE_ORDER - 1)), work_of(clique(DENSE_ORDER))
    assert (small.small, small.large) == ((DENSE_ORDER - 1) ** 3, 0)
    assert (large.small, large.large) == (0, DENSE_ORDER**3)
    assert small.terms(7, answer=False) == (DENSE_ORDER - 1) ** 3
    assert small.terms(7, answer=True) == (DENSE_ORDER - 1) ** 3 + 7 * small.down + small.up
    assert small.down == 0, "there is no further vertex"
    nothing = work_of(analyse(np.zeros(1, int), np.array([], int)))
    assert nothing.terms(0, answer=True) == nothing.stored == nothing.fill == 0


def test_rates_go_by_bytes_and_instructions() -> None:
    base = rates(4, 2, 1)
    for name in ("front", "product", "solve"):
        rate = getattr(base, name)
        assert getattr(rates(8, 2, 1), name) == rate / 2 == getattr(rates(4, 4, 1), name)
        assert getattr(rates(2, 2, 1), name) == 2 * rate == getattr(rates(1, 2, 1), name), "no faster than halves"
        assert getattr(rates(4, 0, 1), name) == getattr(rates(4, 1, 1), name), "an operation is one at least"
        threads = 1 if name == "front" else 8
        assert getattr(rates(4, 2, 8), name) == threads * rate
    assert rates(16, 90, 8).write == 8 * base.write, "bytes are bytes"


def test_times_add_up_and_grow() -> None:
    load, rate = work_of(clique(100)), rates(8, 2, 2)
    whole = [load.seconds(count, rate, 0) for count in (0, 1, 100)]
    assert load.factor_seconds(rate) < whole[0] < whole[1] < whole[2]
    assert load.seconds(100, rate, 8 * 10**9) - whole[2] == pytest.approx(8 * 10**9 / rate.write)
    for seconds in (
        lambda n: analysis_seconds(n, 5 * n), lambda n: dense_seconds(n, rate),
        lambda n: settle_seconds(n, 5 * n, n, rate),
    ):
        found = [seconds(n) for n in (0, 1, 10, 1000, 10**5)]
        assert all(t >= 0 for t in found) and found == sorted(found) and found[-1] > found[0]


def test_what_the_methods_promise_of_their_times() -> None:
    rate = rates(4, 2, 2)
    assert dense_seconds(20_000, rate) / dense_seconds(10_000, rate) == pytest.approx(8, rel=0.05)
    assert settle_seconds(1000, 5000, 30, rate) == pytest.approx(15 * settle_seconds(1000, 5000, 1, rate)), "two cores"
    edges_alone = settle_seconds(1000, 10**7, 1, rate) - settle_seconds(1000, 0, 1, rate)
    half = settle_seconds(1000, 5 * 10**6, 1, rate) - settle_seconds(1000, 0, 1, rate)
    assert edges_alone == pytest.approx(2 * half)
    by_size = settle_seconds(4096, 0, 1, rate) / settle_seconds(64, 0, 1, rate)
    assert by_size == pytest.approx(64 * log2(4096) / log2(64))
    assert settle_seconds(1000, 5000, 0, rate) == level_seconds(5000, 0, rate) == 0
    assert level_seconds(5000, 30, rate) == pytest.approx(15 * level_seconds(5000, 1, rate))
    assert level_seconds(5000, 1, rate) < settle_seconds(1000, 5000, 1, rate)


def test_searches_at_once_repay_where_levels_are_few_and_sources_many() -> None:
    n, edges, rate = 10_000, 80_000, rates(8, 2, 2)

    def sweep(levels: int, count: int) -> float:
        return sweep_seconds(n, Spread(1, levels, edges), count, 32, rate, 8)

    assert sweep(6, n) < settle_seconds(n, edges, n, rate) / 3, "a graph of low diameter"
    assert sweep(200, n) > settle_seconds(n, edges, n, rate) / 2, "a grid"
    assert sweep(6, 1) > settle_seconds(n, edges, 1, rate), "a lane alone"
    assert sweep(6, 64) / sweep(6, 1) < 16, "edges are read for many"
    found = [sweep(levels, 100) for levels in (0, 1, 5, 10, 11, 100)]
    assert found == sorted(found) and found[1] < found[3] < found[4] and sweep(6, 0) == SETUP
