"""Programs as tasks: every product once and in an order that gives the closure, whatever tasks run first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from together import CASES, is_the_closure, matrix

import semiring as sr
from semiring.algorithms.blocks import UndefinedStar
from semiring.kernels.build import kernel
from semiring.kernels.lowering.general import general
from semiring.scale.program import program
from semiring.scale.tasks import Work, carry_out, done, works
from semiring.solvers.dense.schedules import SCHEDULES


@pytest.mark.parametrize("method", ["r-kleene", "blocked", "elimination"])
@pytest.mark.parametrize("room", [8, 1 << 40])
@pytest.mark.parametrize("n", [1, 5, 32, 33, 100])
def test_every_operation_is_in_one_task(method: str, room: int, n: int) -> None:
    made = program(SCHEDULES[method], n, 16, room)
    found = works(made)
    products = sorted((w.target, *pair) for w in found for pair in w.factors)
    assert products == sorted((o.target, o.first, o.second) for o in made.operations if o.kind != "close")
    assert len(found) <= len(made.operations)
    if n == 100 and room > 8:
        assert len(found) < len(made.operations) or method == "blocked"


@pytest.mark.parametrize("method", ["r-kleene", "blocked", "elimination"])
@pytest.mark.parametrize(("name", "S", "dtype"), CASES[:1] + CASES[2:3] + CASES[5:7])
def test_tasks_that_run_as_late_as_can_be_give_the_closure(method: str, name: str, S: sr.Semiring, dtype: Any) -> None:
    """Each is computed when its result is asked for, from results alone: nothing else orders them."""
    A = matrix(S, 75, dtype)
    low = general(S, A.dtype)
    made, engine = program(SCHEDULES[method], 75, 16, 1 << 40), kernel(low)
    computed: dict[int, np.ndarray] = {}
    steps: dict[int, Any] = {}

    def start(work: Work, target: Any, factors: list[Any]) -> int:
        steps[len(steps)] = (work, target, factors)
        return len(steps) - 1

    def value(of: Any) -> np.ndarray:
        if isinstance(of, np.ndarray):
            return of
        if of not in computed:
            work, target, factors = steps[of]
            given = value(target)
            given.flags.writeable = False  # as in a store of objects
            computed[of] = done(work, 16, engine, given, [value(f) for f in factors])
        return computed[of]

    tiles = {(i, j): np.ascontiguousarray(A[made.block((i, j))]) for i in range(made.count) for j in range(made.count)}
    found = np.empty_like(A)
    for tile, held in reversed(carry_out(made, tiles, start).items()):
        found[made.block(tile)] = value(held)
    assert is_the_closure(found, A, S), name


def test_a_pivot_without_a_star_is_named_by_its_place() -> None:
    low = general(sr.plus_times, np.dtype("f8"))
    with pytest.raises(UndefinedStar) as caught:
        done(Work("close", 0, [], (3, 3)), 4, kernel(low), np.eye(4), [])
    assert caught.value.pivot == 12
