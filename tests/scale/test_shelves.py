"""Cells of a GPU in the host's memory, and on their way to a file and back."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu.host import Host

import semiring as sr
from semiring.algorithms.r_kleene import r_kleene
from semiring.kernels.build import kernel as build_kernel
from semiring.kernels.cuda.dense import arena
from semiring.kernels.cuda.dense import carry as carrying
from semiring.operands.read import operand
from semiring.scale.eviction import through_memory, traffic
from semiring.scale.executor import AHEAD, Ends, Executor
from semiring.scale.program import program
from semiring.scale.scratch import Scratch
from semiring.scale.shelves import Held, Passing


def carry(source: Any, target: Any) -> None:
    assert source.shape == target.shape == (3, 3)
    target[...] = source


@pytest.fixture
def scratch(tmp_path: Path) -> Any:
    made = Scratch(tmp_path, 72)
    yield made
    made.close()


def brought(shelf: Any, cell: int) -> np.ndarray:
    out = np.empty(9)
    shelf.read(cell, out)
    return out


def test_cells_stay_until_they_are_dropped(scratch: Scratch) -> None:
    held = Held(np.empty((2, 3, 3)), carry, scratch)
    for cell in (7, 5):
        held.write(cell, np.full(9, float(cell)))
    held.write(7, np.full(9, 8.0))
    assert (brought(held, 7) == 8).all() and (brought(held, 5) == 5).all()
    held.drop(5)
    held.drop(5)
    held.write(6, np.full(9, 6.0))
    assert (brought(held, 6) == 6).all() and (brought(held, 7) == 8).all()
    held.save(6)
    held.write(6, np.full(9, 9.0))
    assert (brought(scratch, 6) == 6).all(), "a copy"


def test_more_threads_than_buffers_wait_for_each_other(scratch: Scratch) -> None:
    passing = Passing(np.empty((2, 3, 3)), carry, scratch)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda cell: passing.write(cell, np.full(9, float(cell))), range(40)))
        for cell, found in enumerate(pool.map(lambda cell: brought(passing, cell), range(40))):
            assert (found == cell).all()
    passing.drop(3)
    with pytest.raises(KeyError):
        brought(passing, 3)
    assert (brought(passing, 4) == 4).all(), "a failure keeps no buffer"
    with pytest.raises(KeyError):
        brought(passing, 3)
    assert (brought(passing, 5) == 5).all()


class Later:
    """A kernel whose products are done when their stream's turn comes; closing a tile is waited for."""

    def __init__(self, host: Host, kernel: Any):
        self._host, self._kernel = host, kernel

    def multiply(self, *blocks: Any) -> None:
        self._host.give(lambda: self._kernel.multiply(*blocks))

    def multiply_add(self, *blocks: Any) -> None:
        self._host.give(lambda: self._kernel.multiply_add(*blocks))

    def close(self, block: Any) -> int:
        pivots: list[int] = []
        self._host.give(lambda: pivots.append(self._kernel.close(block)))
        self._host.current[-1].synchronize()
        return pivots[0]

    def closes_whole(self, n: int) -> bool:
        return True


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
@pytest.mark.parametrize("beside", [0, 3, 60])
def test_streams_wait_for_what_they_need(
    seed: int, beside: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a device whose streams go on in any order that events allow, with commits at every operation."""
    n, side, room = 30, 3, 9
    host = Host(seed)
    host.stand_in(monkeypatch)
    monkeypatch.setattr(arena, "current_device", lambda: 0)
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(os, "fdatasync", lambda _: None, raising=False)
    monkeypatch.setattr(carrying, "synchronize", lambda: host.current[-1].synchronize())
    A = np.random.default_rng(seed).random((n, n))
    _, low = operand(A, sr.min_plus).form(n)
    made = program(r_kleene, n, side, room + beside)
    plan = through_memory(traffic(made, room), beside)
    answer = np.full((n, n), np.nan)

    def read(tile: Any, out: Any) -> None:
        host.give(lambda: np.copyto(out, A[made.block(tile)]))
        host.current[-1].synchronize()

    def write(tile: Any, elements: Any) -> None:
        host.current[-1].synchronize()
        answer[made.block(tile)] = elements

    scratch = Scratch(tmp_path, side * side * 8)
    buffers = host.empty((4 + plan.held, side, side), "f8").view(np.ndarray)
    commits: list[int] = []

    def commit(at: int) -> None:
        scratch.commit({"operation": at})
        commits.append(at)

    run = Executor(made, plan, room, Later(host, build_kernel(low)), arena.GpuArena(room + AHEAD, side, low.storage),
                   Passing(buffers[:4], carrying.carry, scratch), Ends(read, write, commit, 0.0),
                   memory=Held(buffers[4:], carrying.carry, scratch))
    run.run()
    scratch.close()
    assert run.moved == plan.moved and (plan.held > 0) == (beside > 0)
    assert len(commits) == len(made.operations)
    np.testing.assert_array_equal(answer, sr.closure(A, sr.min_plus))
