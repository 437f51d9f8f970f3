"""Cells that are evicted to their place in the matrix: closures within little memory, and how much of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algorithms.blocked import blocked
from semiring.algorithms.elimination import elimination
from semiring.algorithms.r_kleene import r_kleene
from semiring.kernels.build import kernel as build_kernel
from semiring.operands.read import operand
from semiring.scale.arena import HostArena
from semiring.scale.eviction import traffic
from semiring.scale.executor import AHEAD, Ends, Executor
from semiring.scale.program import program
from semiring.scale.shelves import InPlace


def carry(source: np.ndarray, target: np.ndarray) -> None:
    assert source.shape == target.shape
    target[...] = source


def closed(A: np.ndarray, S: sr.Semiring, side: int, room: int, schedule: Any, kind: str) -> tuple[Any, InPlace]:
    """The closure by an executor whose cells are evicted to their place."""
    _, low = operand(A, S).form(len(A))
    made = program(schedule, len(A), side, room)
    answer = A.copy() if kind == "overwritten" else np.full(A.shape, np.nan, low.storage)
    stored = np.full(A.shape, np.nan, low.storage) if kind == "apart" else answer
    homes = InPlace(made, stored, answer, carry, inhabited=kind == "overwritten")
    source = answer if kind == "overwritten" else A

    def read(tile: Any, out: np.ndarray) -> None:
        out[...] = low.encode(source[made.block(tile)], True)

    arena = HostArena(room + AHEAD, side, low.storage)
    Executor(made, traffic(made, room), room, build_kernel(low), arena, homes, Ends(read, homes.finish)).run()
    return low.decode(answer), homes


@pytest.mark.parametrize("schedule", [pytest.param(r_kleene, marks=pytest.mark.slow), blocked, elimination])
@given(n=st.integers(1, 24), side=st.integers(1, 5), room=st.integers(3, 12), seed=st.integers(0, 9),
       kind=st.sampled_from(["apart", "shared", "overwritten"]))
@settings(max_examples=25)
def test_it_is_the_closure(schedule: Any, n: int, side: int, room: int, seed: int, kind: str) -> None:
    A = np.random.default_rng(seed).random((n, n)) / (2 * n)
    found, _ = closed(A, sr.plus_times, side, room, schedule, kind)
    assert np.allclose(found, np.linalg.inv(np.eye(n) - A)), f"A = np.array({A.tolist()})"


def test_little_is_beside_the_matrix() -> None:
    A = np.random.default_rng(0).random((96, 96))
    found, homes = closed(A, sr.min_plus, 4, 12, r_kleene, "overwritten")
    assert np.allclose(found, sr.closure(A, sr.min_plus))
    assert 0 < homes.beside <= 24 * 24 / 10


def test_a_tile_of_the_closure_waits_until_its_home_is_free() -> None:
    made = program(r_kleene, 4, 2, 4)
    answer = np.zeros((4, 4))
    homes = InPlace(made, answer, answer, carry)
    homes.write(1, np.full(4, 7.0))  # cell 1 is tile (0, 1)
    homes.finish((0, 1), np.full((2, 2), 9.0))
    assert (answer[:2, 2:] == 7).all()
    out = np.zeros(4)
    homes.read(1, out)
    assert (out == 7).all()
    homes.drop(1)
    assert (answer[:2, 2:] == 9).all() and homes.beside == 1
