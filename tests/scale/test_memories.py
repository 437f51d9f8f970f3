"""Tiles of several processes in memory beside which messages travel: streams that come late, messages read late."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scale.faked import FakedHost, FakedStream
from scale.played import World, together

import semiring as sr
from semiring.algorithms.blocks import UndefinedStar
from semiring.kernels.build import kernel as build_kernel
from semiring.kernels.lowering.general import general
from semiring.scale import memories
from semiring.scale.grid import Grid
from semiring.scale.memories import DeviceMemory, Memory
from semiring.scale.spread import Spread

NAMES = ["min_plus", "plus_times", "boolean", "shortest_count"]


def matrix(S: sr.Semiring, n: int, seed: int) -> np.ndarray:
    """Elements of an algebra whose closure exists."""
    random = np.random.default_rng(seed)
    A = np.full((n, n), S.zero_in(S.default_dtype), S.default_dtype)
    edges, weights = random.random((n, n)) < 0.4, random.integers(1, 50, (n, n))
    if A.dtype.names:
        A[A.dtype.names[0]][edges], A[A.dtype.names[1]][edges] = weights[edges], 1
    else:
        A[edges] = weights[edges] / (100 * n) if S is sr.plus_times else weights[edges]
    return A


def put_off(storage: np.dtype, low: Any, host: FakedHost, waits: bool = True) -> DeviceMemory:
    """A GPU's memory, which is NumPy's; what is asked of it comes late."""
    def copy(source: np.ndarray, target: np.ndarray) -> None:
        assert source.shape == target.shape and source.dtype == target.dtype
        target[...] = source

    def take_in(rows: np.ndarray, target: np.ndarray) -> None:
        target[...] = low.encode(rows, True)

    streams: list[Any] = [FakedStream(host, waits) for _ in range(2)]
    return DeviceMemory(storage, low.dtype, streams[0], streams[1], np.empty, np.empty, copy, take_in)


def closed(
    S: sr.Semiring, A: np.ndarray, size: int, side: int, make: Any, stops: int = 0, seed: int = 0
) -> tuple[np.ndarray, list[int]]:
    """The closure by so many processes, the first of which has the matrix and the answer; commits after some steps."""
    low, n, seen = general(S, A.dtype).interpreted, len(A), list[int]()

    def one(world: World) -> Any:
        grid = Grid(n, side, size, world.rank)
        memory = make(low, world.rank)
        spread = Spread(grid, world, memory)
        bounds = [0, *[n] * size]
        spread.take_rows(bounds, lambda rows: A[rows] if memory.is_late else low.encode(A[rows], True))
        steps = np.random.default_rng(seed).random(grid.count + 1) < 0.3

        def commit(step: int) -> None:
            kept = memory.stored(spread.local).copy()
            memory.store(kept, spread.local)
            if world.rank == 0:
                seen.append(step)

        asked = iter(steps)
        spread.close(build_kernel(low), due=(lambda: bool(next(asked))) if stops else None, commit=commit)
        diagonal = spread.diagonal()
        found = low.decode(memory.stored(spread.local))
        out = np.empty((n if world.rank == 0 else 0, n), found.dtype)
        spread.give_rows(bounds, found, out)
        if world.rank == 0:
            np.testing.assert_array_equal(low.decode(diagonal), out.diagonal())
        return out

    return together(one, size)[0], seen


@given(name=st.sampled_from(NAMES), n=st.integers(0, 23), side=st.sampled_from([1, 3, 4, 8]),
       size=st.sampled_from([1, 2, 3, 4, 6]), seed=st.integers(0, 99), stops=st.booleans())
@settings(max_examples=60)
def test_closures_by_processes_whose_devices_are_late(
    name: str, n: int, side: int, size: int, seed: int, stops: bool
) -> None:
    S = sr.catalogue[name]
    A = matrix(S, n, seed)

    def make(low: Any, rank: int) -> DeviceMemory:
        return put_off(low.storage, low, FakedHost(seed + rank, 0.3))

    found, _ = closed(S, A, size, side, make, stops, seed)
    expected, _ = closed(S, A, size, side, lambda low, rank: Memory(low.storage), stops, seed)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(*(x if not A.dtype.names else x.tolist() for x in (found, sr.closure(A, S))), rtol=1e-12)


def test_a_process_that_has_no_part_of_two_pivots_in_a_row() -> None:
    """It waits for nothing of its device meanwhile, but before memory for messages is used again."""
    A = matrix(sr.min_plus, 37, 0)
    for seed in range(5):
        def make(low: Any, rank: int, seed: int = seed) -> DeviceMemory:
            return put_off(low.storage, low, FakedHost(seed + rank, 0.3))

        np.testing.assert_array_equal(closed(sr.min_plus, A, 16, 3, make)[0], sr.closure(A, sr.min_plus))


def test_streams_that_do_not_wait_for_each_other_give_wrong_answers() -> None:
    """Which shows that the test above can fail."""
    A, wrong = matrix(sr.min_plus, 20, 0), 0
    expected = sr.closure(A, sr.min_plus)
    for seed in range(10):
        def make(low: Any, rank: int, seed: int = seed) -> DeviceMemory:
            return put_off(low.storage, low, FakedHost(seed + rank, 0.3), waits=False)

        wrong += not np.array_equal(closed(sr.min_plus, A, 2, 4, make)[0], expected)
    assert wrong


def test_a_pivot_without_a_star_is_the_same_on_all() -> None:
    low = general(sr.plus_times, np.dtype("f8")).interpreted
    A = np.diag(np.where(np.arange(12) == 7, 1.0, 0.0))

    def one(world: World) -> int:
        grid = Grid(12, 3, 4, world.rank)
        memory = put_off(low.storage, low, FakedHost(world.rank, 0.3, answers=True))
        spread = Spread(grid, world, memory)
        spread.take_rows([0, 12, 12, 12, 12], lambda rows: A[rows])
        with pytest.raises(UndefinedStar) as refused:
            spread.close(build_kernel(low))
        return refused.value.pivot

    assert together(one, 4) == [7] * 4


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (1, 1), (7, 3)])
def test_tiles_go_to_the_host_and_back_by_strips(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memories, "STRIP_BYTES", 50)
    low = general(sr.min_plus, np.dtype("f8")).interpreted
    memory = put_off(low.storage, low, FakedHost(0, 0.3))
    block, A = memory.empty(shape), np.arange(float(shape[0] * shape[1])).reshape(shape)
    memory.store(A, block)
    np.testing.assert_array_equal(memory.stored(block), A)
