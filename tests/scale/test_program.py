"""Schedules as operations on tiles: carried out one by one they close a matrix, at any size and with ragged edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algorithms.blocked import blocked
from semiring.algorithms.elimination import elimination
from semiring.algorithms.floyd_warshall import floyd_warshall
from semiring.algorithms.r_kleene import r_kleene
from semiring.algorithms.squaring import squaring
from semiring.scale.program import program

SCHEDULES = (r_kleene, blocked, elimination)


def carried_out(made: Any, A: np.ndarray, S: sr.Semiring) -> np.ndarray:
    """The program on a dictionary of tiles, by the verbs themselves."""
    side, count = made.side, made.count
    tiles = {i * count + j: A[i * side : (i + 1) * side, j * side : (j + 1) * side]
             for i in range(count) for j in range(count)}
    for o in made.operations:
        if o.kind == "close":
            tiles[o.target] = sr.closure(tiles[o.target], S)
        elif o.kind == "multiply":
            tiles[o.target] = sr.matmul(tiles[o.first], tiles[o.second], S)
        else:
            tiles[o.target] = sr.matmul(tiles[o.first], tiles[o.second], S, accumulate=tiles[o.target])
        assert tiles[o.target].shape == made.shape(o.tile)
    return np.block([[tiles[made.cells[i, j]] for j in range(count)] for i in range(count)])


@pytest.mark.parametrize("schedule", SCHEDULES)
@given(n=st.integers(1, 13), side=st.integers(1, 5), room=st.integers(3, 12), seed=st.integers(0, 9))
@settings(max_examples=15)
def test_it_closes_what_is_not_idempotent(schedule: Any, n: int, side: int, room: int, seed: int) -> None:
    A = np.random.default_rng(seed).random((n, n)) / (2 * n)
    found = carried_out(program(schedule, n, side, room), A, sr.plus_times)
    assert np.allclose(found, np.linalg.inv(np.eye(n) - A)), f"A = np.array({A.tolist()})"


def test_every_cell_has_a_place() -> None:
    made = program(r_kleene, 10, 3, 4)
    assert set(made.cells) == {(i, j) for i in range(4) for j in range(4)}
    assert len(set(made.cells.values())) == 16
    assert {o.target for o in made.operations} <= set(range(made.used))
    assert all(o.first < 0 or o.kind != "close" for o in made.operations)


def test_floyd_warshall_is_one_tile_and_squaring_none() -> None:
    assert [o.kind for o in program(floyd_warshall, 3, 3, 3).operations] == ["close"]
    with pytest.raises(AssertionError, match="single tiles"):
        program(floyd_warshall, 4, 2, 3)
    with pytest.raises(NotImplementedError):
        program(squaring, 4, 2, 3)
