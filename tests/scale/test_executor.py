"""Programs carried out by threads: what is counted is what was planned, and an error of any thread ends all."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.algorithms.blocks import UndefinedStar
from semiring.algorithms.r_kleene import r_kleene
from semiring.kernels.build import kernel as build_kernel
from semiring.operands.read import operand
from semiring.scale.arena import HostArena
from semiring.scale.eviction import traffic
from semiring.scale.executor import AHEAD, Ends, Executor
from semiring.scale.program import program
from semiring.scale.scratch import Scratch


def executor(A: np.ndarray, S: sr.Semiring, folder: Path, side: int = 4, room: int = 5, **ends: Any) -> Any:
    """An executor on arrays, and where its closure goes."""
    _, low = operand(A, S).form(len(A))
    made = program(r_kleene, len(A), side, room)
    given, found = low.encode(A, True), np.empty(A.shape, low.storage)

    def read(tile: Any, out: np.ndarray) -> None:
        out[...] = given[made.block(tile)]

    def write(tile: Any, elements: np.ndarray) -> None:
        found[made.block(tile)] = elements

    arena = HostArena(room + AHEAD, side, low.storage)
    scratch = Scratch(folder, side * side * low.storage.itemsize)
    made_ends = Ends(ends.pop("read", read), ends.pop("write", write), **ends)
    return Executor(made, traffic(made, room), room, build_kernel(low), arena, scratch, made_ends), found


def matrix(n: int) -> np.ndarray:
    return np.random.default_rng(n).random((n, n)) / (2 * n)


@pytest.mark.parametrize("n", [1, 4, 5, 17, 30])
def test_what_is_moved_is_what_was_planned(tmp_path: Path, n: int) -> None:
    run, found = executor(matrix(n), sr.plus_times, tmp_path)
    run.run()
    assert run.moved == run.plan.moved
    assert np.allclose(found, np.linalg.inv(np.eye(n) - matrix(n)))


def test_slow_ends_change_nothing(tmp_path: Path) -> None:
    A, random = matrix(20), np.random.default_rng(0)
    quick, expected = executor(A, sr.plus_times, tmp_path)
    quick.run()
    run, found = executor(A, sr.plus_times, tmp_path)
    read, write = run.ends.read, run.ends.write
    delays = iter(random.random(10_000) * 0.004)
    lock = threading.Lock()

    def later(function: Any) -> Any:
        def call(*arguments: Any) -> None:
            with lock:
                delay = next(delays)
            time.sleep(delay)
            function(*arguments)
        return call

    run.ends = run.ends._replace(read=later(read), write=later(write))
    run.scratch.read, run.scratch.write = later(run.scratch.read), later(run.scratch.write)
    run.run()
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("which", ["read", "write", "scratch"])
def test_an_error_of_any_thread_ends_the_run(tmp_path: Path, which: str) -> None:
    calls = iter(range(1000))

    def fails(*_: Any) -> None:
        if next(calls) > 3:
            raise OSError(f"{which} failed")

    run, _ = executor(matrix(20), sr.plus_times, tmp_path)
    if which == "scratch":
        put = run.scratch.write
        run.scratch.write = lambda cell, x: (fails(), put(cell, x))
    else:
        real = getattr(run.ends, which)
        run.ends = run.ends._replace(**{which: lambda tile, x: (fails(), real(tile, x))})
    before = {*threading.enumerate()}
    with pytest.raises(OSError, match=f"{which} failed"):
        run.run()
    left = [thread.name for thread in {*threading.enumerate()} - before if not thread.name.startswith("semiring-")]
    assert not left, "the pool's threads stay for all work"


def test_a_pivot_without_a_star(tmp_path: Path) -> None:
    A = np.zeros((9, 9))
    A[6, 6] = 1.0
    run, _ = executor(A, sr.plus_times, tmp_path)
    with pytest.raises(UndefinedStar) as error:
        run.run()
    assert error.value.pivot == 6


def test_commits_come_between_operations(tmp_path: Path) -> None:
    seen: list[int] = []
    run, found = executor(matrix(20), sr.plus_times, tmp_path, commit=lambda at: seen.append(at), interval=0.0)
    run.run()
    assert seen == list(range(1, len(run.made.operations) + 1))
    assert run.commits == len(seen)
    assert run.moved["write", "output"] == run.plan.moved["write", "output"]
    assert np.allclose(found, np.linalg.inv(np.eye(20) - matrix(20)))
